#!/usr/bin/env python3
"""What `tileflow import` makes of ONNX graphs computes what onnxruntime computes.

  run.py TILEFLOW FOLDER

Each NAME.onnx of FOLDER is imported, and the workload is evaluated point by point, as its text says, with the weights that
`pack` writes; NAME.json (make.py) has the inputs, maybe weights that `pack` has to write, the outputs to compare with, and maybe how many points
the ops may run.  None is refused.  Plain Python.
"""
import itertools
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

def exp(x):
    return math.exp(x) if x < 709 else math.inf


FUNCTIONS = {
    "exp": exp, "log": math.log, "sqrt": math.sqrt, "tanh": math.tanh, "erf": math.erf, "abs": abs, "max": max, "min": min,
    "floor": math.floor, "ceil": math.ceil, "round": round, "trunc": math.trunc, "sin": math.sin, "cos": math.cos, "fmod": math.fmod,
    "sigmoid": lambda x: 1 / (1 + exp(-x)), "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), "select": lambda c, a, b: a if c else b, "inf": math.inf,
}
REDUCE = {"+=": (0.0, lambda a, b: a + b), "*=": (1.0, lambda a, b: a * b), "max=": (-math.inf, max), "min=": (math.inf, min)}


def clean(name):
    """The importer's rule for names."""
    name = re.sub(r"^[^A-Za-z0-9]*", "", name)
    name = name if name[:1].isalpha() else "v" + name
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).rstrip("_")[:79]
    name = name[:-9] if name.endswith("_output_0") else name
    return "v" + name if re.fullmatch("d[0-9_]*", name) else name


class Tensor:
    """Elements at coordinates; 0 outside, where the workload pads it, and an error beyond."""

    def __init__(self, shape, data, pad):
        self.shape, self.data, self.pad = shape, data, pad or [0] * len(shape)

    def __getitem__(self, at):
        at = at if isinstance(at, tuple) else (at,)
        place, inside = 0, True
        for i, n, pad in zip(at, self.shape, self.pad, strict=True):
            if not -pad <= i < n + pad:
                raise IndexError(f"{at} of {self.shape} padded {self.pad}")
            inside = inside and 0 <= i < n
            place = place * n + i
        return self.data[place] if inside else 0.0


def ints(text):
    return [int(v) for v in text.split(",")]


def parse(text):
    """Dims, pads, views and ops of what the importer writes."""
    dims = {k: int(v) for k, v in re.findall(r"(\w+): (\d+)", re.search(r"^  dims: \{(.*)\}$", text, re.M).group(1))}
    pads = {m[0]: ints(m[1]) for m in re.findall(r"^    (\w+): \{(?:view: \w+, )?pad: \[([^\]]*)\]", text, re.M)}
    views = {m[0]: (m[1], ints(m[2])) for m in re.findall(r"^    (\w+): \{view: (\w+), .*shape: \[([^\]]*)\]\}$", text, re.M)}
    ops = re.findall(r"^  - (\w+)\[([^\]]*)\] (=|\+=|\*=|max=|min=) (.*)$", text, re.M)
    return dims, pads, views, ops


def run_op(op, dims, tensors, pads):
    out, index, reduce, expression = op
    outer = index.split(",")
    inner = [d for d in dims if d not in outer and re.search(rf"\b{d}\b", expression)]
    code = eval("lambda " + ", ".join(outer + inner) + ": " + expression, {**FUNCTIONS, **tensors})
    start, join = REDUCE.get(reduce, (0.0, lambda a, b: b))
    data = []
    for at in itertools.product(*(range(dims[d]) for d in outer)):
        value = start
        for k in itertools.product(*(range(dims[d]) for d in inner)):
            value = join(value, code(*at, *k))
        data.append(value)
    tensors[out] = Tensor([dims[d] for d in outer], data, pads.get(out))


def evaluate(text, inputs, names=()):
    """What the tensors of those names hold; of none: those that nothing reads."""
    dims, pads, views, ops = parse(text)
    tensors = {k: Tensor(v["shape"], v["data"], pads.get(k)) for k, v in inputs.items()}
    reads = set(re.findall(r"(\w+)\[", " ".join(op[3] for op in ops))) | {of for of, _ in views.values()}
    results = [clean(k) for k in names] or [op[0] for op in ops if op[0] not in reads]
    while ops:
        ready = [op for op in ops if set(re.findall(r"(\w+)\[", op[3])) <= set(tensors)]
        if not ready:
            raise ValueError("nothing makes what is read by " + ops[0][0])
        for op in ready:
            run_op(op, dims, tensors, pads)
            for name, (of, shape) in views.items():
                if of == op[0]:
                    tensors[name] = Tensor(shape, tensors[of].data, pads.get(name))
        ops = [op for op in ops if op not in ready]
    return [tensors[name].data for name in results]


def packed(tool, model):
    """The model's numbers, and those computed of them, by name: the file of `tileflow pack` (docs/FORMATS.md)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "weights.bin"
        if subprocess.run([tool, "pack", model, "-o", path, "--quiet"], capture_output=True, check=False).returncode:
            return {}
        data = path.read_bytes()
    tensors, at = {}, 40
    for _ in range(struct.unpack_from("<I", data, 12)[0]):
        length, _, rank, offset = struct.unpack_from("<IIQQ", data, at)
        shape = struct.unpack_from(f"<{rank}Q", data, at + 24)
        name = data[at + 24 + 8 * rank:][:length].decode()
        tensors[name] = {"shape": list(shape), "data": list(struct.unpack_from(f"<{math.prod(shape)}f", data, offset))}
        at += 24 + 8 * rank + (length + 7) // 8 * 8
    return tensors


def differs(got, want):
    if len(got) != len(want):
        return "other outputs"
    for a, b in zip(got, want):
        most = max(map(abs, b["data"]), default=0) or 1.0
        if len(a) != len(b["data"]):
            return "another shape"
        error = max(abs(x - y) for x, y in zip(a, b["data"])) / most
        if not error < 2e-5:
            return f"error {error:.2g}"
    return None


def points_of(text):
    """How many points all ops run."""
    dims, _, _, ops = parse(text)
    return sum(math.prod(n for d, n in dims.items() if re.search(rf"\b{d}\b", index + " " + expression)) for _, index, _, expression in ops)


def fault_of(tool, case):
    """None: equal; else what is wrong."""
    said = subprocess.run([tool, "import", str(case.with_suffix(".onnx"))], capture_output=True, text=True, check=False)
    if said.returncode:
        return said.stderr or f"status {said.returncode}"
    document = json.loads(case.read_text())
    try:
        given, own = {clean(k): v for k, v in document["inputs"].items()}, packed(tool, case.with_suffix(".onnx"))
        if points_of(said.stdout) > document.get("points", math.inf):
            return f"{points_of(said.stdout)} points, {document['points']} would do"
        names = [out["name"] for out in document["outputs"] if "name" in out]
        for name in set(given) & set(own):
            if fault := differs([own[name]["data"]], [given[name]]):
                return f"packed {name}: {fault}"
        return differs(evaluate(said.stdout, {**given, **own}, names), document["outputs"])
    except (IndexError, KeyError, ValueError, NameError, AttributeError, ArithmeticError) as e:
        return f"{type(e).__name__}: {e}"


def main():
    faults = {case.stem: fault_of(sys.argv[1], case) for case in sorted(pathlib.Path(sys.argv[2]).glob("*.json"))}
    wrong = {name: fault for name, fault in faults.items() if fault}
    for name, fault in wrong.items():
        print(f"{name}: {fault}")
    print(f"onnx: {len(faults) - len(wrong)} graphs equal, {len(wrong)} wrong")
    return bool(wrong) or not faults


if __name__ == "__main__":
    sys.exit(main())
