"""Architecture, workload and mapping as a user has them: paths, YAML, dicts, results."""
import collections.abc
import dataclasses
import json
import numbers
import os
import pathlib
import re
import textwrap
import typing

_KEY = re.compile(r"""^(["']?)([\w.-]+)\1 *:""", re.MULTILINE)
_FLOW_KEY = re.compile(r"""(["']?)([\w.-]+)\1\s*:""")
_FILE = re.compile(r"""\bfile["']?\s*:\s*["']?([^\s"',}]+)""")
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_PLAIN = re.compile(r"[A-Za-z_][\w .+*/=(),\[\]-]*(?<! )", re.ASCII)


def _keys(text):
    """The sections of a file, as lines begin with them or as JSON has them (in braces that are no JSON: all keys)."""
    if text.lstrip().startswith("{"):
        try:
            return set(json.loads(text))
        except ValueError:
            return {key for _, key in _FLOW_KEY.findall(text)}
    return {key for _, key in _KEY.findall(text)}


def _lines_without(text, sections):
    """The lines of block YAML, and whether each is outside of those sections."""
    kept = True
    for line in text.splitlines(keepends=True):
        key = _KEY.match(line)
        if key:
            kept = key[2] not in sections
        yield line, kept


@dataclasses.dataclass
class Source:
    name: str  # "<mapping>"; of a file its path
    path: typing.Optional[str]
    text: typing.Optional[str]
    beside: typing.Optional[str] = None  # of a text: the folder where files that it names are

    def _sections(self):
        text = self.text if self.path is None else pathlib.Path(self.path).read_text(errors="replace")
        return _keys(text)

    def holds(self, section):
        """Whether it has a section of that name."""
        return section in self._sections()

    def without(self, sections):
        """It without those sections: their lines are empty, so that messages name the same lines; None if nothing is left."""
        held = self._sections()
        if not held & sections:
            return self
        if held <= sections | {"params"}:
            return None
        text = self.text if self.path is None else pathlib.Path(self.path).read_text(encoding="utf-8")
        if text.lstrip().startswith("{"):
            text = json.dumps({key: value for key, value in json.loads(text).items() if key not in sections}, indent=1)
        else:
            text = "".join(line if kept else "\n" for line, kept in _lines_without(text, sections))
        return dataclasses.replace(self, path=None, text=text, beside=self.beside or self.path and os.path.dirname(os.path.abspath(self.path)))

    def named_files(self):
        """(name, path) of each file beside it that its text names."""
        for name in set(_FILE.findall(self.text)) if self.beside else ():
            path = os.path.join(self.beside, name)
            if not os.path.isabs(name) and os.path.isfile(path):
                yield name, path


def _literal(text, indent):
    deeper = text.lstrip("\n").startswith((" ", "\t"))  # then the first line does not say where all begin
    return ("|2\n" if deeper else "|\n") + "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def _scalar(value):
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return value if _PLAIN.fullmatch(value) else _UNSEEN.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted)
    raise TypeError(f"tileflow: no YAML for {value!r:.60}, of type {type(value).__name__}")


def to_yaml(value, indent=0):
    """YAML one can read, so that a message shows a line of it."""
    pad = " " * indent
    if isinstance(value, collections.abc.Mapping) and value:
        return "".join(f"{pad}{_scalar(str(k))}:{_below(v, indent)}" for k, v in value.items())
    if isinstance(value, (list, tuple)) and value:
        return "".join(f"{pad}-{_below(v, indent)}" for v in value)
    return pad + ("{}" if isinstance(value, collections.abc.Mapping) else "[]") + "\n"


def _below(value, indent):
    if isinstance(value, collections.abc.Mapping) and value or isinstance(value, (list, tuple)) and value:
        return "\n" + to_yaml(value, indent + 2)
    if isinstance(value, (collections.abc.Mapping, list, tuple)):
        return " " + to_yaml(value)
    if isinstance(value, str) and "\n" in value:
        return " " + _literal(value, indent + 2)
    return f" {_scalar(value)}\n"


def _text(value, section):
    value = textwrap.dedent(value)
    if section in (None, "mapping") and not _keys(value):
        section, value = "mapping", "mapping: " + _literal(value.lstrip("\n"), 2)
    return Source(f"<{section or 'text'}>", None, value)


def _found(mapping):
    """A mapping of a result, and the layouts that were chosen with it."""
    found = _text(mapping["text"], "mapping")
    layout = to_yaml({"layout": mapping["layout"]}) if mapping.get("layout") else ""
    return dataclasses.replace(found, text=layout + found.text)


def source(value, section=None):
    """A str is a path, or, where it has a newline, YAML, or the bare text of a mapping."""
    if isinstance(value, Source):
        return value
    if isinstance(value, os.PathLike) or isinstance(value, str) and "\n" not in value:
        path = os.fspath(value)
        return Source(path, "./" + path if path.startswith("-") else path, None)
    if isinstance(value, str):
        return _text(value, section)
    if isinstance(value, collections.abc.Mapping):
        if isinstance(value.get("mapping"), collections.abc.Mapping) and "text" in value["mapping"]:
            return _found(value["mapping"])  # what eval, solve, search returned
        whole = section is None or section in value
        return Source(f"<{section or ' '.join(map(str, value))}>", None, to_yaml(value if whole else {section: value}))
    raise TypeError(f"tileflow: a path, YAML or a dict, not {value!r:.60}, of type {type(value).__name__}")


def sources(inputs, architecture=None, workload=None, mapping=None):
    named = (("architecture", architecture), ("workload", workload), ("mapping", mapping))
    out = [source(i) for i in inputs] + [source(v, k) for k, v in named if v is not None]
    seen = {}
    for s in out:
        if s.path is None:
            seen[s.name] = seen.get(s.name, 0) + 1
            if seen[s.name] > 1:
                s = dataclasses.replace(s, name=f"{s.name[:-1]} {seen[s.name]}>")
        yield s


def settings(set):
    """set={"cores": 4}, as names and values."""
    if not isinstance(set or {}, collections.abc.Mapping):
        raise TypeError(f"tileflow: set= takes a dict, such as {{'cores': 4}}, not {set!r:.60}")
    return [(str(k), str(v)) for k, v in (set or {}).items()]


def kept(s, path):
    """A text as the file of that name; as it is where that holds another."""
    if s.path is not None or os.path.exists(path) and pathlib.Path(path).read_text(encoding="utf-8") != s.text:
        return s
    pathlib.Path(path).write_text(s.text, encoding="utf-8")
    return source(pathlib.Path(path))
