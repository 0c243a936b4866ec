"""tileflow: what a fused dataflow costs on a spatial accelerator (docs/HOWTO-python.md).

Inputs, in any number and order, or by name (architecture=, workload=, mapping=): a path; YAML, which is a str with a
newline; a dict as YAML has it; the bare text of a mapping; what eval, solve or search returned, for its mapping.
Options are those of the command line: seed=7 is --seed 7, set={"cores": 4} is --set cores=4.
"""
import json
import os

from . import _compile, _einsum, _inputs, _results, _run, _torch
from ._compile import Function
from ._errors import Diagnostic, Error, Interrupted
from ._find import NotFound
from ._model import Figures, Loop, Model
from ._results import Kernel, Result, Tree

__version__ = "0.1.0"
__all__ = ["Diagnostic", "Error", "Figures", "Function", "Interrupted", "Kernel", "Loop", "Model", "NotFound", "Result", "Tree",
           "best", "bound", "check", "compile", "emit", "eval", "frame", "from_einsum", "from_torch",
           "results", "run", "search", "solve", "sweep", "tree"]


def _document(command, inputs, options):
    sources, options = _split(inputs, options)
    return _results.read(command, sources, options)[1]


def _split(inputs, options):
    named = {k: options.pop(k, None) for k in ("architecture", "workload", "mapping")}
    return list(_inputs.sources(inputs, **named)), options


def eval(*inputs, **options):
    """The mapping evaluated; where none is given, or some of it is open, the best one found.
    One that does not fit is no error: r.mapping["feasible"], r.mapping["violations"]."""
    return _document("eval", inputs, options)


def best(*inputs, **options):
    """The best mapping that solver and search find in a bounded number of evaluations, with what is proved of it:
    r.search. A mapping among the inputs is where it begins: r.search["given"] (docs/HOWTO-first-hour.md)."""
    return _document("best", inputs, options)


def solve(*inputs, **options):
    """The best mapping of a stated space, and what is proved of it: r.search (docs/HOWTO-solve.md).
    5,000,000 evaluations unless time_limit= or evals= says otherwise."""
    return _document("solve", inputs, options)


def search(*inputs, **options):
    """The best mapping that a search finds; an open one ('?') is completed (docs/HOWTO-search.md)."""
    return _document("search", inputs, options)


def bound(*inputs, **options):
    """What no mapping can beat: r.bounds, and for each capacity on chip r.slope (docs/HOWTO-bound.md)."""
    return _document("bound", inputs, options)


def tree(*inputs, **options):
    """The tile tree: a notebook draws it, print() shows it as text, .svg is the drawing."""
    return _results.draw(*_split(inputs, options))


def check(*inputs, **options):
    """Reads the inputs: a line for each section, or Error with all that is wrong."""
    return _run.run("check", *_split(inputs, options)).stdout.splitlines()


def emit(*inputs, out, **options):
    """Writes the mapping as a fused C kernel into the new folder `out` (docs/HOWTO-emit.md)."""
    sources, options = _split(inputs, options)
    done = _run.run("emit", sources, {**options, "out": out})
    if done.status == 130:
        raise Interrupted()
    manifest = os.path.join(out, "manifest.json")
    if not os.path.exists(manifest):
        raise Error(done.stderr, done.status)
    with open(manifest, encoding="utf-8") as f:
        return Kernel(os.fspath(out), json.load(f), done.stdout + done.stderr)


def compile(*inputs, out=None, cc=None, **options):
    """The workload as a function on arrays of numpy or torch: f = compile("layer.yaml"); R = f(A=A, B=B).  A mapping among
    the inputs is kept, else one is planned; without an architecture it is for this computer.  `out` keeps the C sources;
    dtype="bf16", isa= and evals= are emit's.  Needs make and a C compiler."""
    sources, options = _split(inputs, options)

    def host(sources):
        if any(s.holds("architecture") for s in sources):
            return sources
        return [*sources, _run.run("import", [], {"host": True, "no_measure": True, "quiet": True}).stdout]

    return _compile.function(emit, host, sources, out, cc, options)


def from_torch(module, *example, **named):
    """A module of PyTorch as a workload (YAML), by its graph for these example inputs: tensors, by place or by name.
    eval, best, compile take it; plan, a command for whole networks, by run("plan", machine, workload)."""
    return _torch.workload(module, example, named)


def from_einsum(einsums, *operands, names=None, out="O", then=None, title="einsum"):
    """numpy's einsum as a workload (YAML): from_einsum("mk,kn->mn", X, W), of arrays, tensors or shapes.  Of a list each goes on
    from the result of the one before: ["mk,kn->mn", "mn,np->mp"] of three is two products to fuse. `names` are those of the
    operands (else A, B, ..), `out` is the result's; then="relu" is applied to it."""
    return _einsum.workload(einsums, operands, names, out, then, title)


def sweep(*inputs, store, **options):
    """A grid of machines and workloads into the file `store`, going on from what it holds; then `results` of it.
    Dicts and texts are kept beside the store, as STORE.1.yaml and so on: it knows its inputs by their names, and files
    that they name are found from there."""
    sources, options = _split(inputs, options)
    sources = [_inputs.kept(s, f"{os.fspath(store)}.{n}.yaml") for n, s in enumerate(sources, 1)]
    done = _run.run("sweep", sources, {**options, "store": store})
    if done.status == 130:
        raise Interrupted(results(store) if os.path.exists(store) else None)
    return results(store)


def results(store, *others, **options):
    """What a store holds: r.front, and r.rows() of its points; merge=True takes in those of other stores."""
    return _results.read("results", list(_inputs.sources([store, *others])), options)[1]


def run(command, *inputs, **options):
    """Any command of the tool, also those that have no function here: its status and what it printed."""
    return _run.run(command, *_split(inputs, options))


def frame(results):
    """A pandas frame with a row for each result: Result.summary()."""
    return _results.table([r.summary() for r in results])
