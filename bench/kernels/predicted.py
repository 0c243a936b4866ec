#!/usr/bin/env python3
"""What the CPU target expects of drawn kernels beside what they take, on one thread: 300 kernels of 15 kinds, by independent draws.

usage: predicted.py TILEFLOW ARCH.yaml FOLDER CSV SEED [KIND...]   (taskset -c 1; PyTorch for its tensors)
  MADE=1   only emits and compiles what FOLDER lacks, with JOBS processes (2)
  EACH="10 5 5"  cases of each kind in f32, bf16, int8
  TIMED=CSV  takes the times of this file of an earlier run: the predictions alone are new
Each kernel is called again and again: its tensors stay in the innermost cache that holds them all, so it is planned for ARCH with that
memory's bandwidth for those outside it.  The time is the least of PASSES (3) passes over all, of ROUNDS turns each, with weights packed.
"""
import collections
import concurrent.futures
import csv
import ctypes
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

import torch

import unseen
from peer import Ours, library, turns

WITHIN = 1.25
ROUNDS, PASSES = 5, int(os.environ.get("PASSES", "3"))
EACH = dict(zip(("f32", "bf16", "int8"), map(int, os.environ.get("EACH", "10 5 5").split())))
COLUMNS = ["case", "kind", "dtype", "params", "predicted_ms", "measured_ms", "measured_over_predicted"]
MATH = ["exp", "tanh", "erf", "sigmoid", "relu", "gelu", "silu", "sqrt", "log", "abs", "floor", "sin"]


# ---- kinds besides those of unseen.py ------------------------------------------------------------------------------
class Map:
    @staticmethod
    def draw(r):
        return {"m": r.choice([1, 7, 64, 197, 1000]), "n": r.choice([5, 16, 77, 256, 1001, 4096]), "f": r.choice(MATH), "div": r.choice([0, 0, 1])}

    @staticmethod
    def text(p):
        return ["m", "n"], [f"Y[m,n] = {p['f']}({'abs(X[m,n])' if p['f'] in ('sqrt', 'log') else 'X[m,n]'})" + " / A[m,n]" * p["div"]]


class Softmax:
    @staticmethod
    def draw(r):
        return {"b": r.choice([1, 4, 12]), "m": r.choice([10, 64, 197, 512]), "n": r.choice([17, 64, 197, 1000]), "over": r.choice("bmnn")}

    @staticmethod
    def text(p):
        kept = ",".join(d for d in "bmn" if d != p["over"])
        return ["b", "m", "n"], [f"M[{kept}] max= X[b,m,n]", f"E[b,m,n] = exp(X[b,m,n] - M[{kept}])", f"Z[{kept}] += E[b,m,n]", f"Y[b,m,n] = E[b,m,n] / Z[{kept}]"]


class Pool:
    @staticmethod
    def draw(r):
        w, s = r.choice([(2, 2), (3, 1), (3, 2), (7, 7), (5, 1)])
        return {"c": r.choice([3, 32, 64, 256]), "p": r.choice([7, 14, 28, 56]), "q": r.choice([7, 14, 28, 56]), "r": w, "stride": s, "how": r.choice(["max=", "+="])}

    @staticmethod
    def text(p):
        s = p["stride"]
        return ["c", "p", "q", "r", ("s", p["r"])], [f"Y[c,p,q] {p['how']} X[c,{s}*p + r,{s}*q + s]"]


class Scan:
    """Sums of all that came before, as a mask."""

    @staticmethod
    def draw(r):
        return {"b": r.choice([1, 8, 64]), "t": r.choice([16, 64, 197, 512]), "n": r.choice([0, 16, 80]), "how": r.choice(["+=", "max="])}

    @staticmethod
    def text(p):
        n, none = ",n" * (p["n"] > 0), {"+=": "0", "max=": "-inf"}[p["how"]]
        return ["b", "t", ("u", p["t"])] + ["n"] * (p["n"] > 0), [f"Y[b,t{n}] {p['how']} select(u <= t, X[b,u{n}], {none})"]


class Transposed:
    """A transposed convolution whose windows do not overlap."""
    weights = ("W",)

    @staticmethod
    def draw(r):
        return {"c": r.choice([3, 32, 64, 128]), "k": r.choice([3, 16, 64, 128]), "p": r.choice([7, 14, 28]), "q": r.choice([7, 14, 28]), "r": r.choice([2, 3, 4])}

    @staticmethod
    def text(p):
        r = p["r"]
        return ["c", "k", "p", "q", "r", ("s", r)], [f"Y[k,{r}*p + r,{r}*q + s] += X[c,p,q] * W[c,k,r,s]"]


class Gather:
    """Elements from elsewhere: repeated rows, shuffled channels, depth to space."""

    @staticmethod
    def draw(r):
        return {"how": r.choice(["repeat", "shuffle", "space"]), "t": r.choice([64, 192, 768]), "a": r.choice([7, 64, 256, 1000]), "d": r.choice([2, 4])}

    @staticmethod
    def text(p):
        t, d = p["t"], p["d"]
        if p["how"] == "space":
            return [("h", 16 * d), ("w", 16 * d), ("c", p["t"] // 16)], [f"Y[h,w,c] = X[h / {d},w / {d},{d * d}*c + h % {d} * {d} + w % {d}]"]
        return ["t", "a"], [f"Y[t,a] = X[{f't / {d}' if p['how'] == 'repeat' else f't % {d} * {t // d} + t / {d}'},a]"]


class Conv:
    weights = ("W",)

    @staticmethod
    def draw(r):
        return {"k": r.choice([16, 64, 128, 256]), "c": r.choice([3, 32, 64, 128]), "p": r.choice([7, 14, 28, 56]), "r": r.choice([1, 3, 3, 5]), "stride": r.choice([1, 1, 2])}

    @staticmethod
    def text(p):
        s = p["stride"]
        return ["k", "c", "p", ("q", p["p"]), "r", ("s", p["r"])], [f"Y[k,p,q] += X[c,{s}*p + r,{s}*q + s] * W[k,c,r,s]"]


class Depthwise:
    weights = ("W",)

    @staticmethod
    def draw(r):
        return {"c": r.choice([16, 96, 192, 576]), "p": r.choice([7, 14, 28, 56]), "r": r.choice([3, 3, 5]), "stride": r.choice([1, 1, 2])}

    @staticmethod
    def text(p):
        s = p["stride"]
        return ["c", "p", ("q", p["p"]), "r", ("s", p["r"])], [f"Y[c,p,q] += X[c,{s}*p + r,{s}*q + s] * W[c,r,s]"]


KINDS = {**unseen.KINDS, "map": Map, "softmax": Softmax, "pool": Pool, "scan": Scan, "transposed": Transposed, "gather": Gather, "conv": Conv, "depthwise": Depthwise}
TYPE = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.int8, "uint8": torch.uint8, "int32": torch.int32}


# ---- one case ----------------------------------------------------------------------------------------------------
def tensors_of(folder):
    with open(f"{folder}/manifest.json", encoding="utf-8") as f:
        return json.load(f)["tensors"]


def bytes_of(tensors):
    return sum(math.prod(z["shape"]) * TYPE[z["type"]].itemsize for z in tensors)


UNIT = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def warm(arch, held):
    """The text of ARCH for tensors of so many bytes that stay: memories outside the one that holds them deliver what that one does."""
    parts = re.split(r"(?m)^(?=  - name: )", arch)
    memories = [i for i, p in enumerate(parts) if "capacity" in p]
    size = lambda p: (lambda m: float(m[1]) * UNIT[m[2]])(re.search(r"capacity: ([\d.]+) (\wiB)", p))
    caches = [i for i in memories if re.match(r"  - name: (DRAM|L\d)", parts[i])]
    inner = [i for i in caches[:-1] if size(parts[i]) / 2 >= held]
    if inner:
        rate = re.search(r"bandwidth: .*", parts[inner[-1]])[0]
        for i in caches[:caches.index(inner[-1])]:
            parts[i] = re.sub(r"bandwidth: .*", lambda m: rate, parts[i])
    return "".join(parts)


def emitted(tool, arch, folder, dtype, out, *more):
    shutil.rmtree(out, ignore_errors=True)
    run = subprocess.run([tool, "emit", arch, f"{folder}.yaml", *more, "--dtype", dtype, "--seed", "1", "--target", "cpu", "-o", out, "--quiet", "--no-test"],
                         check=False, capture_output=True, text=True, timeout=240)
    if run.returncode:
        raise RuntimeError(f"{folder}: emit: {run.stderr[:400]}")


def made(tool, arch, folder, dtype, kind, p, compiled):
    """Emits (twice: the second time for where its tensors stay) and compiles; what it expects, in ms.  Not compiled: of the mapping that was."""
    out = folder if compiled else folder + ".new"
    if compiled:
        unseen.written(KINDS[kind], p, f"{folder}.yaml")
        emitted(tool, arch, folder, dtype, out)
        with open(arch, encoding="utf-8") as f:
            text = f.read()
        with open(f"{folder}.arch.yaml", "w", encoding="utf-8") as f:
            f.write(warm(text, bytes_of(tensors_of(out))))
        emitted(tool, f"{folder}.arch.yaml", folder, dtype, out)
    else:
        with open(f"{folder}/manifest.json", encoding="utf-8") as f, open(f"{folder}.map.yaml", "w", encoding="utf-8") as into:
            into.write("mapping: |\n" + "".join(f"  {line}\n" for line in json.load(f)["mapping"].splitlines()))
        emitted(tool, f"{folder}.arch.yaml", folder, dtype, out, f"{folder}.map.yaml")
    with open(f"{out}/manifest.json", encoding="utf-8") as f:
        expected = json.load(f)["kernel_seconds"] * 1e3
    if compiled:
        library(folder)
    return expected


def timed(folder, dtype, kind):
    """The least ms of a call."""
    fields = re.findall(r"BIND\((\w+)\)", open(f"{folder}/bind.h", encoding="ascii").read())
    known = {z["name"]: z for z in tensors_of(folder)}
    generator = torch.Generator().manual_seed(1)
    tensors = []
    for f in fields:
        z = known[f if f in known else f.removeprefix("tensor_")]
        like = TYPE[z["type"]]
        drawn = unseen.drawn(z["name"], z["shape"], KINDS[kind], torch.int8 if like in (torch.int32, torch.uint8) else like, generator)
        tensors.append(drawn.abs().to(like) if like == torch.uint8 else drawn.to(like))
    call = Ours(f"{folder}/kernel.so", tensors)
    if call.packs():
        call = Ours(f"{folder}/kernel.so", tensors, True)
    none = (ctypes.c_void_p * len(tensors))()  # refused at once: what Python takes of a call
    refused = lambda: call.library.shim_run(none, call.room, call.workspace, call.bytes)
    return max(min(turns([call], ROUNDS)[0]) - min(turns([refused], 2)[0]), 1e-9) * 1e3


def cases(seed, kinds):
    for kind in kinds or KINDS:
        for dtype, n in EACH.items():
            for i in range(n):
                yield f"{kind}-{dtype}-{seed}-{i}", kind, dtype, KINDS[kind].draw(random.Random(f"{seed} {kind} {dtype} {i}"))


# ---- all ---------------------------------------------------------------------------------------------------------
def summary(rows):
    """By kind and type: how many are within 25 %, and the median of measured over predicted."""
    found = collections.defaultdict(list)
    for kind, dtype, ratio in rows:
        for key in ((kind, dtype), (kind, "all"), ("all", dtype), ("all", "all")):
            found[key].append(ratio)
    said = lambda r: f"{sum(1 / WITHIN <= x <= WITHIN for x in r)} of {len(r)}, {sorted(r)[len(r) // 2]:.2f}" if r else ""
    types = [*EACH, "all"]
    print("| Kind | " + " | ".join(types) + " |\n|---|" + "--:|" * len(types), file=sys.stderr)
    for kind in [*dict.fromkeys(k for k, _, _ in rows), "all"]:
        print(f"| {kind} | " + " | ".join(said(found[(kind, d)]) for d in types) + " |", file=sys.stderr)


def main():
    tool, arch, root, path, seed, *kinds = sys.argv[1:]
    os.makedirs(root, exist_ok=True)
    torch.set_num_threads(1)
    earlier = {}
    if os.environ.get("TIMED"):
        with open(os.environ["TIMED"], encoding="utf-8") as f:
            earlier = {row["case"]: float(row["measured_ms"]) for row in csv.DictReader(f)}
    expected, all_cases = {}, list(cases(seed, kinds))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        jobs = {}
        for name, kind, dtype, p in all_cases:
            known = f"{root}/{name}.expected"
            compiled = not earlier and not os.path.exists(f"{root}/{name}/kernel.so")
            if compiled or earlier or not os.path.exists(known):
                jobs[name] = pool.submit(made, tool, arch, f"{root}/{name}", dtype, kind, p, compiled)
            else:
                expected[name] = float(open(known, encoding="ascii").read())
        for name, job in jobs.items():
            try:
                expected[name] = job.result()
            except (RuntimeError, subprocess.TimeoutExpired) as why:
                print(why, file=sys.stderr)
                continue
            with open(f"{root}/{name}.expected", "w", encoding="ascii") as f:
                f.write(f"{expected[name]:.6g}\n")
    if os.environ.get("MADE"):
        return 0
    took = collections.defaultdict(lambda: math.inf, earlier)
    for _ in range(0 if earlier else PASSES):
        for name, kind, dtype, _ in all_cases:
            if name in expected:
                took[name] = min(took[name], timed(f"{root}/{name}", dtype, kind))
    rows = []
    with open(path, "w", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(COLUMNS)
        for name, kind, dtype, p in all_cases:
            if name not in expected or not math.isfinite(took[name]):
                continue
            ratio = took[name] / expected[name]
            out.writerow([name, kind, dtype, " ".join(f"{k}={v}" for k, v in p.items()), f"{expected[name]:.4g}", f"{took[name]:.4g}", f"{ratio:.3f}"])
            rows.append((kind, dtype, ratio))
    summary(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
