"""Lays out what Sphinx reads: the documents as they stand, what they link to beside them, headers and commands as pages.

  python3 site/stage.py TILEFLOW FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
HEADERS = ROOT / "include/tileflow"


def pages():
    return [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")]


def outside_code(text):
    """Lines with whether they stand in a fenced block."""
    inside = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        yield line, inside or fence
        inside ^= fence


def titled(line):
    """A fence with a title as MyST has it: the name of the file stands above."""
    found = re.match(r'^```(\w+) title="([^"]+\.\w+)"$', line)
    return f"```{{code-block}} {found[1]}\n:caption: {found[2]}\n" if found else line


class Stage:
    def __init__(self, folder):
        self.folder, self.lists, self.done = folder, set(), set(pages())

    def link(self, page, target):
        """A link of `page` as it leads within the site; what it leads to is copied."""
        path, hash, anchor = target.partition("#")
        if re.match(r"^[a-z]+:", target) or not path:
            return target
        there = (page.parent / path).resolve()
        if there.suffix == ".md" and there not in self.done:
            self.done.add(there)
            self.page(there, "---\norphan: true\n---\n\n")
        if there.suffix == ".md" or not there.is_relative_to(ROOT):
            return target
        up = "../" * len(page.relative_to(ROOT).parts[:-1])
        if there.parent == HEADERS:
            return f"{up}c/{there.stem}.md"
        if there.is_dir():
            self.lists.add(there)
            return f"{up}folders/{str(there.relative_to(ROOT)).replace('/', '-')}.md"
        self.copy(there)
        return target

    def copy(self, file):
        to = self.folder / file.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)

    def write(self, name, text):
        to = self.folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def page(self, page, before=""):
        lines = [titled(line) if code else LINK.sub(lambda m: self.link(page, m[1]), line)
                 for line, code in outside_code(page.read_text(encoding="utf-8"))]
        self.write(page.relative_to(ROOT), before + "\n".join(lines))

    def folders(self):
        """A page for each folder that is linked to: its files."""
        for folder in sorted(self.lists):
            files = sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))
            for file in files:
                self.link(folder / "index.md", file.name) if file.suffix == ".md" else self.copy(file)
            name = str(folder.relative_to(ROOT))
            listed = "\n".join(f"- [{f.name}](../{f.relative_to(ROOT)})" for f in files)
            self.write(f"folders/{name.replace('/', '-')}.md", f"---\norphan: true\n---\n\n# {name}\n\n{listed}\n")

    def headers(self):
        files = sorted(HEADERS.glob("*.h"))
        for header in files:
            self.copy(header)
            self.write(f"c/{header.stem}.md", f"# tileflow/{header.name}\n\n```{{literalinclude}} ../include/tileflow/{header.name}\n:language: c\n```\n")
        first = "\n".join(f"- [{h.name}]({h.stem}.md): {about(h)}" for h in files)
        tree = "\n".join(h.stem for h in files)
        self.write("c/index.md", "# C interface\n\nThe public headers, with meaning, units, errors and ownership in their comments. "
                   "[Use from C](../README.md#use-from-c) has a whole program. Each type and function by itself, with search: "
                   "<a href=\"../api/index.html\">by Doxygen</a>.\n\n"
                   f"{first}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n")

    def commands(self, tool):
        def help(*words):
            return subprocess.run([tool, *words, "--help"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        names = re.findall(r"^  tileflow ([a-z]+) ", help(), re.MULTILINE)
        parts = [f"## {name}\n\n```text\n{help(name)}```\n" for name in names]
        self.write("commands.md", "# Commands\n\nWhat `tileflow COMMAND --help` says of each.\n\n"
                   f"```text\n{help()}```\n\n" + "\n".join(parts))


def about(header):
    """The first sentence of a header's first comment."""
    text = re.search(r"/\*(.*?)\*/", header.read_text(encoding="utf-8"), re.DOTALL)
    words = re.sub(r"\s*\n \*?", " ", text[1]).strip() if text else ""
    return re.split(r"(?<=[.:])\s", words)[0].rstrip(":").replace("<", "&lt;")


def main(tool, folder):
    stage = Stage(pathlib.Path(folder))
    for page in pages():
        stage.page(page)
    for picture in (ROOT / "docs/img").rglob("*.svg"):
        stage.copy(picture)
    stage.folders()
    stage.headers()
    stage.commands(tool)
    shutil.copyfile(ROOT / "site/index.md", pathlib.Path(folder) / "index.md")


if __name__ == "__main__":
    main(*sys.argv[1:])
