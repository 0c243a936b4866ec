#!/usr/bin/env python3
"""Random ONNX graphs from file to numbers: planned, emitted, compiled, given their weights by `pack`, run, and held against onnxruntime.

  drawn.py TILEFLOW ARCH FOLDER FIRST NUMBER [--plan "OPTIONS"] [--make CFLAGS] [--dtype f32|bf16] [--keep]

The operators are those of tests/onnx/make.py.  Here they form a graph, not a chain: earlier values are joined again, by broadcasts,
sums and concatenations; inputs have one to four axes of odd, prime or single extents; and in half of the graphs an axis of the input
has a name, whose extent comes by `--set`.  A line of JSON a graph goes to stdout; what failed keeps its folder.  Exit 1: one differs
by more than 1e-4 of its largest element (in bfloat16 3e-2 of onnxruntime's float32), or was refused.  Graphs that onnxruntime does not run, or whose outputs are not finite, are
drawn again.  Needs numpy, onnx and onnxruntime (PyPI).
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests/onnx")]
import make
import run

EXTENTS = [1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23]
LARGEST, STEPS = 20000, (6, 14)


def join(g, kept):
    """The value and an earlier one: a broadcast, a concatenation, a product."""
    for x, s in [kept[i] for i in g.rng.permutation(len(kept))]:
        if len(s) == len(g.s) and all(a == b or 1 in (a, b) for a, b in zip(s, g.s)):
            g.op(g.pick("Add", "Mul", "Sub", "Max"), x)
            g.s = [max(a, b) for a, b in zip(s, g.s)]
            return
        differ = [i for i, (a, b) in enumerate(zip(s, g.s)) if a != b]
        if len(s) == len(g.s) and len(differ) == 1:
            g.op("Concat", x, axis=differ[0])
            g.s[differ[0]] += s[differ[0]]
            return
        if len(s) == len(g.s) >= 2 and s[:-2] == g.s[:-2] and s[-2] == g.s[-1]:
            g.op("MatMul", x)
            g.s = g.s[:-1] + s[-1:]
            return


def graph(seed):
    """A model and the value of its named axis (None: all extents are numbers)."""
    rng = np.random.default_rng(seed)
    rank = int(rng.choice([1, 2, 3, 4, 4, 4]))
    g = make.Graph(rng, [int(n) for n in rng.choice(EXTENTS, rank)])
    kept, steps = [(g.x, list(g.s))], make.STEPS + 2 * make.NEWER + make.NEWEST
    for _ in range(int(rng.integers(*STEPS))):
        before = g.x, list(g.s), len(g.nodes)
        join(g, kept) if rng.integers(4) == 0 else steps[int(rng.integers(len(steps)))](g)
        if np.prod(g.s) > LARGEST or 0 in g.s:
            g.x, g.s = before[:2]
            del g.nodes[before[2]:]
        kept.append((g.x, list(g.s)))
    if not g.nodes:
        return graph(seed + 10**6)
    shape, n = [d.dim_value for d in g.inputs[0].type.tensor_type.shape.dim], None
    if rng.integers(2):
        axis = int(rng.integers(rank))
        n, shape[axis] = shape[axis], "N"
    outs = {g.x: g.s}
    if rng.integers(3) == 0 and kept[len(kept) // 2][0] != "x":
        outs.update([kept[len(kept) // 2]])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    out = [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in outs.items()]
    model = helper.make_model(helper.make_graph(g.nodes, f"drawn {seed}", [x], out, g.weights), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model, n


def runs(model, n):
    """Inputs and onnxruntime's outputs; None if it does not run, or a value passes what floats hold."""
    try:
        onnx.checker.check_model(model)
        s = run.session(model)
    except Exception:  # onnxruntime's own classes, of no common base but this
        return None
    rng, x = np.random.default_rng(5), model.graph.input[0]
    shape = [d.dim_value or n for d in x.type.tensor_type.shape.dim]
    feeds, names = {"x": rng.standard_normal(shape).astype(np.float32)}, [o.name for o in s.get_outputs()]
    try:
        made = s.run(names, feeds)
    except Exception:
        return None
    return (feeds, dict(zip(names, made))) if all(m.size and np.isfinite(m).all() and np.abs(m).max() < 1e20 for m in made) else None


def one(model, n, feeds, want, o, folder):
    log, code, weights, plan = folder / "log", folder / "code", folder / "weights.bin", folder / "plan.yaml"
    path = folder / "model.onnx"
    onnx.save(model, path)
    given = ["--set", f"N={n}"] if n else []
    run.command([o.tileflow, "plan", o.arch, str(path), *given, "--target", "cpu", "--dtype", o.dtype, "--threads", "1", "-o", str(plan), "--quiet", *o.plan.split()], log)
    run.command([o.tileflow, "emit", o.arch, str(path), str(plan), *given, "--target", "cpu", "--dtype", o.dtype, "-o", str(code), "--quiet"], log)
    run.command(["make", "-C", str(code), "-j2", "libnetwork.a", f"CFLAGS={o.make}"], log)
    run.command(["cc", "-shared", "-fopenmp", "-o", str(code / "libnetwork.so"), "-Wl,--whole-archive", str(code / "libnetwork.a"), "-Wl,--no-whole-archive", "-lm"], log)
    run.command([o.tileflow, "pack", str(path), *given, "--dtype", o.dtype, "-o", str(weights), "--quiet"], log)
    lib = run.Library(code, weights)
    run.give_inputs(lib, model, feeds)
    lib.ready()
    lib.run()
    return run.compare(lib, want)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow"), p.add_argument("arch"), p.add_argument("folder", type=pathlib.Path)
    p.add_argument("first", type=int), p.add_argument("number", type=int), p.add_argument("--keep", action="store_true")
    p.add_argument("--plan", default="--evals 200", help="more for `tileflow plan`"), p.add_argument("--make", default="-O1 -fPIC", help="CFLAGS")
    p.add_argument("--dtype", default="f32")
    o = p.parse_args()
    seed, done, bad = o.first, 0, 0
    while done < o.number:
        model, n = graph(seed)
        ran = runs(model, n)
        seed += 1
        if not ran:
            continue
        done += 1
        folder = o.folder / str(seed - 1)
        folder.mkdir(parents=True, exist_ok=True)
        row = {"seed": seed - 1, "ops": [x.op_type for x in model.graph.node], "named": n}
        try:
            row["error"] = one(model, n, *ran, o, folder)
            row["equal"] = bool(row["error"] <= run.LIMIT[o.dtype])
        except (RuntimeError, subprocess.TimeoutExpired, KeyError, ValueError, OSError) as e:
            row["failed"] = f"{type(e).__name__}: {e}"[:300]
        bad += not row.get("equal")
        if row.get("equal") and not o.keep:
            shutil.rmtree(folder)
        print(json.dumps(row), flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
