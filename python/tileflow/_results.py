"""What the functions return: the documents of the tool's --json, which are dicts, and what can be made of them."""
import dataclasses
import html
import json

from . import _inputs, _run
from ._errors import Error, Interrupted

SCALARS = ("architecture", "workload", "cycles", "seconds", "energy_pj", "edp", "points", "compute_utilization",
           "bottleneck", "area_um2")


def table(rows):
    """A pandas frame of a list of dicts."""
    try:
        import pandas
    except ImportError as e:
        raise ImportError("tileflow: frames need pandas; .rows() and .summary() do without it") from e
    return pandas.DataFrame(rows)


class Result(dict):
    """The JSON document (docs/FORMATS.md); its keys are attributes, too: r.cycles is r["cycles"]."""

    def __init__(self, document, inputs=(), set=None, messages=""):
        super().__init__(document)
        self.__dict__.update(_inputs=tuple(inputs), _set=set, messages=messages)  # messages: what was said on stderr

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no '{key}'; keys: {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]

    def rows(self):
        """Dicts.  Of a sweep: a row a point; of bound: a row a capacity; else a row a memory and tensor, with its words."""
        if "rows" in self:
            return [{**{k: v for k, v in row.items() if k != "params"}, **row.get("params", {})} for row in self["rows"]]
        if "slope" in self:
            return [{k: v for k, v in point.items() if k != "mapping"} for point in self["slope"]]
        return [{"level": level["name"], "tensor": tensor, **counts}
                for level in self["levels"] for tensor, counts in level["tensors"].items()]

    def frame(self):
        """rows() as a pandas frame."""
        return table(self.rows())

    def summary(self):
        """One flat dict: what a table of many results has a row of."""
        out = {key: self[key] for key in SCALARS if key in self}
        if "mapping" in self:
            out.update(feasible=self["mapping"]["feasible"], origin=self["mapping"]["origin"])
            out["traffic_words"] = self["levels"][0]["read"] + self["levels"][0]["update"]
        out.update({f"bound_{k}": v for k, v in self.get("bounds", {}).items()})
        found = self.get("search", {})
        keys = ("method", "objective", "value", "bound", "gap", "proved", "space", "space_bound", "space_proved",
                "space_trips", "space_bypass", "trips_bound")
        out.update({key: found[key] for key in keys if key in found})
        return out

    def again(self):
        """Inputs that hold this mapping: those it was made from, and the mapping where it was found."""
        if "mapping" not in self:
            raise Error("tileflow: there is no mapping in this result")
        if self["mapping"]["origin"] == "given":
            return self._inputs
        found = {"mapping", "layout"} if "layout" in self["mapping"] else {"mapping"}
        return [*filter(None, (s.without(found) for s in self._inputs)), _inputs.source(self)]

    def tree(self):
        """The tile tree, drawn."""
        return draw(self.again(), {"set": self._set})

    def html(self):
        """The page to explore that the command's --html writes (docs/HOWTO-page.md): of a mapping, or of a sweep."""
        if "mapping" in self:
            return _run.run("eval", self.again(), {"set": self._set}, ("html",)).files["html"]
        if "front" in self:
            return _run.run("results", self._inputs, {}, ("html",)).files["html"]
        raise Error("tileflow: there is a page of a mapping, and of a sweep; this is neither")

    def _repr_html_(self):
        if "mapping" not in self and "front" not in self:
            return None
        return f'<iframe srcdoc="{html.escape(self.html())}" style="width: 100%; height: 720px; border: 0"></iframe>'

    def _repr_svg_(self):
        return self.tree().svg if "mapping" in self else None


class Tree(Result):
    """A result with its tree: "nodes" has what each node holds and moves, svg the drawing, str() the text."""

    def tree(self):
        return self

    def __str__(self):
        return _run.run("tree", self.again(), {"set": self._set}).stdout

    def _repr_html_(self):
        return None

    def _repr_svg_(self):
        return self.svg


def draw(sources, options):
    done, document = read("tree", sources, options, Tree, ("svg",))
    document.__dict__["svg"] = done.files["svg"]
    return document


def read(command, sources, options, kind=Result, results=()):
    """Runs a command whose result is a JSON document."""
    done = _run.run(command, sources, options, ("json", *results))
    text = done.files.get("json")
    document = text and kind(json.loads(text), sources, options.get("set"), done.stderr)
    if done.status == 130:
        raise Interrupted(document)
    if document is None:
        raise Error(done.stderr, done.status)
    return done, document


@dataclasses.dataclass
class Kernel:
    """An emitted kernel: its folder, manifest.json, and what was printed."""
    path: str
    manifest: dict
    messages: str
