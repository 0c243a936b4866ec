"""Where the executable and the shared library are."""
import ctypes.util
import functools
import os
import pathlib
import shutil

LIBRARIES = ("libtileflow.so", "libtileflow.so.0", "libtileflow.dylib")


class NotFound(ImportError):
    """The executable or the library is nowhere; the message says where it was looked for."""


def _folders():
    """Folders of a build or of an installed tree, each with its reason; what TILEFLOW names is the only one."""
    named = os.environ.get("TILEFLOW")
    if named:
        path = pathlib.Path(named).expanduser()
        return [("TILEFLOW", path.parent if path.is_file() else path)]
    found = [("the package", pathlib.Path(__file__).resolve().parent)]
    on_path = shutil.which("tileflow")
    return found + ([("PATH", pathlib.Path(on_path).resolve().parent)] if on_path else [])


def _first(what, candidates, end):
    looked = []
    for reason, path in candidates:
        if path.is_file():
            return str(path)
        looked.append(f"  {path} ({reason})")
    raise NotFound(f"tileflow: no {what} found; looked for\n" + "\n".join(looked + [f"  {line}" for line in end]))


def _set_name(then):
    return [] if os.environ.get("TILEFLOW") else [
        then, "set TILEFLOW to the executable, a build folder or an installation's prefix"]


def executable():
    named = pathlib.Path(os.environ.get("TILEFLOW") or "").expanduser()
    here = [("TILEFLOW", named)] if named.is_file() else []
    inside = [(reason, folder / name) for reason, folder in _folders() for name in ("tileflow", "bin/tileflow")]
    return _first("executable", here + inside, _set_name("tileflow in PATH"))


def library():
    inside = [(reason, folder / below / name) for reason, folder in _folders() for below in _library_folders(folder)
              for name in LIBRARIES]
    system = None if os.environ.get("TILEFLOW") else ctypes.util.find_library("tileflow")
    if system and not any(path.is_file() for _, path in inside):
        return system
    return _first("library", inside, _set_name("libtileflow among the system's libraries"))


def _library_folders(folder):
    """Relative to a build folder, a prefix, or a prefix's bin."""
    for lib in ("", "lib", "lib64", "../lib", "../lib64"):
        yield lib
        if lib:
            yield from sorted(f"{lib}/{p.name}" for p in (folder / lib).glob("*-linux-gnu"))


@functools.lru_cache(maxsize=None)
def load(path):
    return ctypes.CDLL(path)
