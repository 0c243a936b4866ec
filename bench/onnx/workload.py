"""Evaluates the workload text that `tileflow import` writes, with numpy in float64, or in float32 as kernels do: by what docs/FORMATS.md and
docs/SEMANTICS.md say of it, and none of the program's own code."""
import ast
import math
import re
import struct

import numpy as np

ERF = np.vectorize(math.erf, otypes=[float])


def erf(x):
    return ERF(x) if np.size(x) else np.asarray(x, float)


FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "erf": erf, "abs": np.abs, "max": np.fmax, "min": np.fmin,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)), "relu": lambda x: np.fmax(x, 0.0),
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "sin": np.sin, "cos": np.cos, "fmod": np.fmod,
    "gelu": lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2.0))), "inf": math.inf,
    "select": lambda c, a, b: np.where(np.asarray(c) != 0, a, b), "both": lambda a, b: np.logical_and(a, b),
}
JOIN = {"+=": np.sum, "*=": np.prod, "max=": np.fmax.reduce, "min=": np.fmin.reduce}


WORDS = {"exp", "log", "sqrt", "tanh", "erf", "sigmoid", "silu", "relu", "gelu", "abs", "max", "min", "select", "inf", "ceil",
         "floor", "round", "trunc", "sin", "cos", "fmod", "and", "or", "not"}


def clean(name):
    """The importer's rule for names that no other takes."""
    name = re.sub(r"^[^A-Za-z0-9]*", "", name)
    name = name if name[:1].isalpha() else "v" + name
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).rstrip("_")[:79]
    name = name[:-9] if name.endswith("_output_0") else name
    return name + "_2" if name in WORDS else "v" + name if re.fullmatch("d[0-9_]*", name) else name


class Tensor:
    """Elements at coordinates, whole grids of them: 0 in the padding, an error beyond it."""

    def __init__(self, data, pad, dtype=np.float64):
        self.data, self.pad = np.asarray(data, dtype), pad or [0] * np.ndim(data)

    def __getitem__(self, at):
        at = [np.asarray(i) for i in (at if isinstance(at, tuple) else (at,))]
        inside, place = True, []
        if len(at) != self.data.ndim:
            raise IndexError(f"{len(at)} coordinates of {self.data.shape}")
        for i, n, pad in zip(at, self.data.shape, self.pad):
            if i.min() < -pad or i.max() >= n + pad:
                raise IndexError(f"{i.min()} .. {i.max()} of {self.data.shape} padded {self.pad}")
            inside = inside & (i >= 0) & (i < n)
            place.append(np.clip(i, 0, n - 1))
        return np.where(inside, self.data[tuple(np.broadcast_arrays(*place))], 0.0)


def ints(text):
    return [int(v) for v in text.split(",")]


class Workload:
    def __init__(self, text, dtype=np.float64):
        self.dtype = dtype
        dims = re.search(r"^  dims: \{(.*)\}$", text, re.M)
        self.dims = {k: int(v) for k, v in re.findall(r"(\w+): (\d+)", dims.group(1))}
        rows = re.findall(r"^    (\w+): \{(.*)\}$", text, re.M)
        self.pads = {name: ints(m[1]) for name, row in rows if (m := re.search(r"pad: \[([^\]]*)\]", row))}
        self.shapes = {name: ints(m[1]) for name, row in rows if (m := re.search(r"shape: \[([^\]]*)\]", row))}
        self.views = {name: m[1] for name, row in rows if (m := re.search(r"view: (\w+)", row))}
        self.ops = [(o[0], o[1].split(","), o[2], o[3]) for o in
                    re.findall(r"^  - (\w+)\[([^\]]*)\] (=|\+=|\*=|max=|min=) (.*)$", text.replace("[]", "[()]"), re.M)]

    def inputs(self):
        """Names of what is read and no op makes."""
        read = set(re.findall(r"(\w+)\[", " ".join(op[3] for op in self.ops))) | set(self.views.values())
        return read - {op[0] for op in self.ops} - set(self.views)

    def run_op(self, op, tensors):
        out, outer, reduce, expression = op
        inner = [d for d in self.dims if d not in outer and re.search(rf"\b{d}\b", expression)]
        axes = outer + inner
        grid = dict(zip(axes, np.ogrid[tuple(slice(0, self.dims[d]) for d in axes)]))
        with np.errstate(all="ignore"):
            value = evaluate(expression, {**tensors, **grid})
            value = np.broadcast_to(np.asarray(value, self.dtype), [self.dims[d] for d in axes])
            over = tuple(range(len(outer), len(axes)))
            if over:
                value = JOIN[reduce](value, axis=over)
        tensors[out] = Tensor(np.array(value), self.pads.get(out), self.dtype)

    def run(self, given):
        """given: name -> array; the tensors of all names."""
        tensors = {k: Tensor(v, self.pads.get(k), self.dtype) for k, v in given.items()}
        todo = list(self.ops)
        while True:
            for name, of in self.views.items():
                if of in tensors and name not in tensors:
                    tensors[name] = Tensor(tensors[of].data.reshape(self.shapes[name]), self.pads.get(name), self.dtype)
            ready = [op for op in todo if set(re.findall(r"(\w+)\[", op[3])) <= set(tensors)]
            if not ready:
                break
            for op in ready:
                self.run_op(op, tensors)
            todo = [op for op in todo if op not in ready]
        if todo:
            raise KeyError("nothing makes what is read by " + todo[0][0])
        return {name: t.data for name, t in tensors.items()}


def evaluate(text, names):
    """Python's `and` takes no arrays: it is turned into a call."""

    class Both(ast.NodeTransformer):
        def visit_BoolOp(self, node):
            self.generic_visit(node)
            made = node.values[0]
            for value in node.values[1:]:
                made = ast.Call(ast.Name("both", ast.Load()), [made, value], [])
            return made

    tree = ast.fix_missing_locations(Both().visit(ast.parse(text, mode="eval")))
    return eval(compile(tree, "op", "eval"), {**FUNCTIONS, "__builtins__": {}}, names)


def packed(data):
    """Tensors of a file of weights (docs/FORMATS.md)."""
    tensors, at = {}, 40
    for _ in range(struct.unpack_from("<I", data, 12)[0]):
        length, _, rank, offset = struct.unpack_from("<IIQQ", data, at)
        shape = struct.unpack_from(f"<{rank}Q", data, at + 24)
        name = data[at + 24 + 8 * rank:][:length].decode()
        tensors[name] = np.frombuffer(data, "<f4", math.prod(shape), offset).reshape(shape)
        at += 24 + 8 * rank + (length + 7) // 8 * 8
    return tensors
