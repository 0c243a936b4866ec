#!/usr/bin/env python3
"""All node tests of onnx, imported and evaluated: a table of what each comes to.

  nodes.py TILEFLOW OUT.csv [WORDS]     WORDS: only the tests whose names have one of them

Needs onnx, numpy, onnxruntime (PyPI), in a virtual environment; bench/onnx/run.sh makes one.  onnx generates the tests: models
of one node, most of them, or of an operator's own expansion, with inputs and results.  Each is imported as it is; if it is
refused, again with its inputs of integers as numbers of the model, as exporters write them, and then with all inputs but the
first.  What was written is evaluated in float64, where it quantises in float32 (workload.py), and held against the results that the test has, with its
tolerance, at least 1e-4; where a float type of the graph is narrower than float32, with its own.

  equal     as it is, or `constants`: with numbers of the model
  refused   with the reason
  disputed  a result is another one than the test's, and onnxruntime's is ours
  differs   a result is another one: a fault
  crash     the program ended otherwise than with 0 or 2: a fault
"""
import csv
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from workload import Workload, clean, packed

warnings.filterwarnings("ignore")
ROUNDING = {TensorProto.FLOAT16: 2.0 ** -9, TensorProto.BFLOAT16: 2.0 ** -7}


class Refused(Exception):
    pass


class Crash(Exception):
    pass


def call(tool, command, model, *more):
    done = subprocess.run([tool, command, str(model), *more], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 2):
        raise Crash(f"status {done.returncode}")
    if done.returncode:
        line = next((k for k in done.stderr.splitlines() if "error[" in k), done.stderr)
        raise Refused(line.split(": ", 1)[-1].replace("error[", "").replace("]", "", 1))
    return done.stdout


def types_of(model):
    graph = model.graph
    found = {i.type.tensor_type.elem_type for i in [*graph.input, *graph.output, *graph.value_info]}
    return found | {a.i for n in graph.node for a in n.attribute if a.name == "to"}


def constants(case, which):
    """The model with some of its inputs as initializers; None: none of them is such."""
    model = type(case.model)()
    model.CopyFrom(case.model)
    inputs = list(model.graph.input)
    chosen = [k for k, (i, x) in enumerate(zip(inputs, case.data_sets[0][0])) if isinstance(x, np.ndarray) and which(k, x)]
    if not chosen:
        return None
    for k in chosen:
        model.graph.initializer.append(numpy_helper.from_array(case.data_sets[0][0][k], inputs[k].name))
    del model.graph.input[:]
    model.graph.input.extend(i for k, i in enumerate(inputs) if k not in chosen)
    return model


def compare(outputs, wanted, loose, narrow, least):
    """None: equal; else what differs."""
    for (name, got), want in zip(outputs, wanted):
        want = np.asarray(want, np.float64)
        least = max(least, 1e-5, narrow * np.max(np.abs(want[np.isfinite(want)]), initial=0))
        if got.size != want.size:
            return f"{name}: {got.size} elements for {want.size}"
        if not np.allclose(got.reshape(want.shape), want, rtol=loose, atol=least, equal_nan=True):
            with np.errstate(all="ignore"):
                return f"{name}: off by {np.nanmax(np.abs(got.reshape(want.shape) - want)):.3g}"
    return None


def judge(tool, case, model, folder):
    """Verdict, and what differs."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    # what lies between two steps of a quantised type is rounded as it is in float32
    steps = any("Quantize" in n.op_type for n in model.graph.node)
    work = Workload(call(tool, "import", path), np.float32 if steps else np.float64)
    values = {i.name: x for i, x in zip(case.model.graph.input, case.data_sets[0][0])}
    given = {clean(i.name): values[i.name] for i in model.graph.input}
    missing = work.inputs() - set(given)
    if missing:
        call(tool, "pack", path, "-o", str(folder / "weights.bin"), "--quiet")
        given.update({k: v for k, v in packed((folder / "weights.bin").read_bytes()).items() if k in missing})
    if work.inputs() - set(given):
        raise Refused("data choose what is read")
    tensors = work.run({k: np.asarray(v, np.float64) for k, v in given.items() if k in work.inputs()})
    narrow = max([0] + [ROUNDING.get(t, 0) for t in types_of(model)])
    loose = max(case.rtol, 1e-4, narrow)
    outputs = [(i.name, tensors[clean(i.name)]) for i in model.graph.output]
    wrong = compare(outputs, case.data_sets[0][1], loose, narrow, case.atol)
    if not wrong:
        return "equal", ""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    other = session.run(None, {i.name: values[i.name] for i in model.graph.input})
    return "differs" if compare(outputs, other, loose, narrow, case.atol) else "disputed", wrong


def verdict(tool, case, folder):
    """(how it was tried, verdict, reason)"""
    ways = [("as is", lambda k, x: None), ("constants", lambda k, x: k > 0 and x.dtype.kind in "iub"),
            ("constants", lambda k, x: k > 0), ("constants", lambda k, x: x.dtype.kind in "iub")]
    why = ""
    for how, which in ways:
        model = case.model if how == "as is" else constants(case, which)
        if model is None:
            continue
        try:
            return how, *judge(tool, case, model, folder)
        except Refused as e:
            why = why or str(e)
        except Crash as e:
            return how, "crash", str(e)
        except Exception as e:  # pylint: disable=broad-except
            return how, "differs", f"{type(e).__name__}: {e}"
    return "as is", "refused", why


def main():
    from onnx.backend.test.case.node import collect_testcases
    tool, words = sys.argv[1], sys.argv[3:]
    cases = sorted(collect_testcases(None), key=lambda c: c.name)
    for case in cases:
        for part in case.data_sets[0]:
            part[:] = [numpy_helper.to_array(x) if isinstance(x, TensorProto) else x for x in part]
            part[:] = [np.asarray(x) if isinstance(x, np.generic) else x for x in part]  # a number is an array of no axis
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if words and not any(w in case.name for w in words):
                continue
            opset = next((i.version for i in case.model.opset_import if i.domain in ("", "ai.onnx")), 0)
            kinds = [n.op_type for n in case.model.graph.node]
            floats = any(isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in case.data_sets[0][0])
            how, what, why = verdict(tool, case, pathlib.Path(folder))
            rows.append([kinds[0] if len(kinds) == 1 else "expanded", case.name, opset, "yes" if floats else "no", how, what,
                         why.replace(",", ";").replace('"', "'")])
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([["operator", "test", "opset", "float input", "tried", "verdict", "reason"], *rows])
    count = {v: sum(r[5] == v for r in rows) for v in ("equal", "disputed", "refused", "differs", "crash")}
    print(f"{len(rows)} tests:", ", ".join(f"{n} {v}" for v, n in count.items()))
    return bool(count["differs"] or count["crash"])


if __name__ == "__main__":
    sys.exit(main())
