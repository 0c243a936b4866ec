"""The tutorials, followed to the letter: what a reader types is run, and what the page shows must come.

  python3 tests/tutorials.py TILEFLOW [PAGE...]      TF_UPDATE_GOLDEN=1 writes what comes into the pages

Of each page of docs/tutorials, in an empty folder of its own with `tileflow` on PATH, ROOT the sources, from top to bottom:

  ```yaml title="NAME"   is saved as NAME (so is every other language with a title);
  ```sh                  runs; what it prints on stdout and stderr is
  ```text                the block that follows, if there is one.  A line `...` stands for any lines;
  ```text title="..."    depends on the computer: numbers, and what blanks align them, may differ;
  ```sh title="needs X"  is run where python3 can import X.

A command that fails fails the page: where a page shows a failure, `echo "exit status $?"` follows it.
"""
import difflib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r'^```(\w+)(?: title="([^"]*)")?$')


def blocks(lines):
    """(language, title, first line of the text, one past its last) of each fenced block."""
    at = 0
    while at < len(lines):
        if not lines[at].startswith("```"):
            at += 1
            continue
        fence = FENCE.match(lines[at])
        if not fence:
            raise SystemExit(f"line {at + 1}: a fence that this test cannot read: {lines[at]}")
        end = lines.index("```", at + 1)
        yield fence[1], fence[2], at + 1, end
        at = end + 1


def masked(line):
    """Without what a computer decides: numbers with their SI prefix, and blanks."""
    return re.sub(r"\s+", " ", re.sub(r"[0-9][0-9.,e+-]*( ?[kMGmunp](?=[A-Za-z]?\b))?", "N", line)).strip()


def fits(shown, came, mask):
    """Whether `came` is what is shown, where a line `...` stands for any lines."""
    if mask:
        shown, came = [masked(x) for x in shown], [masked(x) for x in came]
    if not shown:
        return not came
    if shown[0] == "...":
        return any(fits(shown[1:], came[n:], False) for n in range(len(came) + 1))
    return bool(came) and shown[0] == came[0] and fits(shown[1:], came[1:], False)


def missing(title):
    """The module that a block needs and python3 does not have."""
    names = title.split()[1:] if title and title.startswith("needs ") else []
    return next((n for n in names if importlib.util.find_spec(n) is None), None)


class Page:
    def __init__(self, path, tool, folder):
        self.path, self.folder = path, folder
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.failed = self.commands = self.compared = self.skipped = 0
        tools = folder.parent / "bin"
        tools.mkdir(exist_ok=True)
        if not (tools / "tileflow").exists():
            (tools / "tileflow").symlink_to(tool)
        self.environment = {**os.environ, "PATH": f"{tools}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
                            "ROOT": str(ROOT), "LC_ALL": "C.UTF-8",
                            "PYTHONPATH": str(ROOT / "python"), "TILEFLOW": str(tool), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment.pop("MAKEFLAGS", None)

    def run(self, text, line):
        done = subprocess.run(["sh", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", timeout=600)
        self.commands += 1
        came = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
        if done.returncode:
            self.failed += 1
            print(f"{self.path}:{line}: exit status {done.returncode}", text, done.stdout, sep="\n")
        return [line.rstrip() for line in came]

    def follow(self, update):
        """Runs the page.  What came goes into self.lines where `update`, from the bottom up."""
        came, edits = None, []
        for language, title, first, end in list(blocks(self.lines)):
            text = self.lines[first:end]
            if language == "text" and came is not None:
                self.compared += 1
                mask = title is not None
                if not fits(text, came, mask):
                    if update and "..." not in text:
                        edits.append((first, end, came))
                    else:
                        self.failed += 1
                        print(f"{self.path}:{first}: what comes is not what the page shows:")
                        print("\n".join(difflib.unified_diff(text, came, "shown", "came", lineterm="", n=1)))
            came = None
            if language == "sh" and missing(title):
                self.skipped += 1
                print(f"SKIP: {self.path}:{first}: python3 has no {missing(title)}")
            elif language == "sh":
                came = self.run("\n".join(text), first)
            elif title and language != "text":
                (self.folder / title).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / title).write_text("\n".join(text) + "\n", encoding="utf-8")
        for first, end, text in reversed(edits):
            self.lines[first:end] = text
        if edits:
            self.path.write_text("\n".join(self.lines), encoding="utf-8")


def main(tool, *pages):
    update = os.environ.get("TF_UPDATE_GOLDEN", "") != ""
    pages = [pathlib.Path(p).resolve() for p in pages] or sorted((ROOT / "docs/tutorials").glob("*.md"))
    failed = not pages
    for path in pages:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as top:
            folder = pathlib.Path(top) / path.stem
            folder.mkdir()
            page = Page(path, pathlib.Path(tool).resolve(), folder)
            page.follow(update)
        print(f"{path.name}: {page.commands} blocks run, {page.compared} outputs compared, {page.skipped} skipped, {page.failed} failed, "
              f"{time.monotonic() - begun:.0f} s")
        failed = failed or page.failed or not page.compared
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
