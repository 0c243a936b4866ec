"""The executable, run: every report is the one that it writes."""
import collections.abc
import dataclasses
import os
import signal
import subprocess
import tempfile

from . import _find, _inputs
from ._errors import Error


@dataclasses.dataclass
class Done:
    """How a run of the tool ended, and what it printed."""
    status: int
    stdout: str
    stderr: str
    files: dict  # texts of the results asked for by name


def _flags(options, as_file):
    """seed=7 is --seed=7, set={"a": 1} is --set=a=1, resume=True is --resume; the tool checks them."""
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if key == "set":
            yield from (f"{name}={k}={v}" for k, v in _inputs.settings(value))
        elif value is None or value is False:
            continue
        elif value is True:
            yield name
        elif key == "start":
            several = value if isinstance(value, (list, tuple)) else [value]
            yield from (f"{name}={as_file(s)}" for s in _inputs.sources(several))
        else:
            yield f"{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def _wait(process):
    """Ctrl-C goes to the tool, which ends with the best so far; a second one ends it."""
    try:
        try:
            return (*process.communicate(), False)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)  # again, where the terminal has sent it: no harm
            return (*process.communicate(), True)
    except BaseException:
        process.kill()
        process.wait()
        raise


def run(command, sources, options=None, results=()):
    """Runs `tileflow COMMAND`; results: options, such as "svg", whose files are read into Done.files.
    Status 1 and 2 raise Error."""
    with tempfile.TemporaryDirectory(prefix="tileflow-") as folder:
        names = {}

        def as_file(s):
            if s.path is not None:
                return s.path
            at = os.path.join(folder, str(len(names)))
            os.mkdir(at)
            path = os.path.join(at, "text.yaml")
            with open(path, "w", encoding="utf-8", newline="") as out:
                out.write(s.text)
            for name, there in s.named_files():
                here = os.path.normpath(os.path.join(at, name))
                if here.startswith(at + os.sep) and not os.path.lexists(here):
                    os.makedirs(os.path.dirname(here), exist_ok=True)
                    os.symlink(there, here)
            names[path] = s.name
            return path

        def said(text):
            for path, name in names.items():
                text = text.replace(path, name)
            return text

        files = [as_file(s) for s in sources]
        flags = list(_flags(options or {}, as_file))
        written = {r: os.path.join(folder, r) for r in results}
        flags += [f"--{r}={path}" for r, path in written.items()]
        process = subprocess.Popen([_find.executable(), command, *flags, "--", *files], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        stdout, stderr, interrupted = _wait(process)
        status = 130 if interrupted else process.returncode
        if status not in (0, 3, 130):
            raise Error(said(stderr) or f"tileflow {command}: ended with status {status}", status)
        texts = {}
        for r, path in written.items():
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    texts[r] = said(f.read())
        return Done(status, said(stdout), said(stderr), texts)
