#!/usr/bin/env python3
"""Training steps emitted for the CPU, held against PyTorch's autograd and raced with its eager mode and torch.compile.

  run.py TILEFLOW ARCH FOLDER [--only NAME,..] [--rounds N] [--step sgd|adam] [--again T,..] [--no-compile] [--csv FILE] [--reuse]

Each network of models.py becomes a step (`tileflow grad --step`), is planned (`plan --target cpu`), emitted and compiled.  The loss and every
parameter after a step are compared with those of PyTorch in double (largest difference over the largest change of that parameter).  Then one
thread each, processor time, in turns within one process: forward, backward and update.  A line of JSON a network; --csv keeps the rows.
Needs torch and numpy (PyPI)."""
import argparse
import csv
import ctypes
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import torch

import models

RATE = 0.001
COLUMNS = ["network", "step", "ops", "groups", "plan_s", "ours_ms", "eager_ms", "compile_ms", "over_eager", "over_compile", "error", "arena_bytes", "load", "date"]


def command(args):
    begun = os.times()
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=580)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, args[:3]))}: {(done.stderr or done.stdout).strip()[:400]}")
    ended = os.times()
    return ended.children_user + ended.children_system - begun.children_user - begun.children_system


class Library:
    """The emitted step: its arguments by name, as network.h lists them."""

    def __init__(self, folder):
        header = (folder / "network.h").read_text()
        body = re.search(r"typedef struct \{(.*?)\} network_args;", header, re.S).group(1)
        fields, self.shape, self.out = [], {}, []
        for line in body.splitlines():
            line = re.sub(r"\btensor_(\w+);", r"\1;", re.sub(r"\bstride_(\w+)\[", r"\1_stride[", line))  # names that C files keep for themselves
            if m := re.match(r"\s*(const )?float \*(\w+); /\* ([\dx ]+)", line):
                fields.append((m[2], ctypes.c_void_p))
                self.shape[m[2]] = [int(n) for n in m[3].split("x")]
                self.out += [] if m[1] else [m[2]]
            elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
                fields.append((m[1], ctypes.c_int64 * int(m[2])))
            elif "*packed" in line:
                fields.append(("packed", ctypes.c_void_p))
        self.args = type("Args", (ctypes.Structure,), {"_fields_": fields})()
        self.lib, self.arrays = ctypes.CDLL(str(folder / "libnetwork.so")), {}
        self.lib.network_workspace.restype = ctypes.c_size_t
        self.workspace = np.zeros(self.lib.network_workspace() + 64, np.uint8)
        for name in self.shape:
            self.set(name, np.zeros(self.shape[name], np.float32))

    def set(self, name, array):
        array = self.arrays[name] = np.ascontiguousarray(array, np.float32).reshape(self.shape[name])
        setattr(self.args, name, array.ctypes.data)
        for r in range(array.ndim - 1):
            getattr(self.args, name + "_stride")[r] = array.strides[r] // 4

    def run(self):
        at = (self.workspace.ctypes.data + 63) // 64 * 64
        if self.lib.network(ctypes.byref(self.args), ctypes.c_void_p(at), ctypes.c_size_t(self.workspace.size - 64)):
            raise RuntimeError("network refused its arguments")

    def swap(self, by):
        """What was made becomes what the next step begins with."""
        for p in by:
            for old, new in ((p, p + "_next"), ("mean_" + p, "mean_" + p + "_next"), ("square_" + p, "square_" + p + "_next")):
                if old in self.arrays:
                    a, b = self.arrays[new], self.arrays[old]
                    self.set(old, a), self.set(new, b)


def values_of(lib, net):
    rng, values = np.random.default_rng(7), {}
    for name, shape in lib.shape.items():
        if name in lib.out or name in ("rate", "unbias") or name.startswith(("mean_", "square_")):
            continue
        scale, add = net.spread.get(name, (0.1, 0))
        values[name] = (rng.standard_normal(shape) * scale + add).astype(np.float32)
    if net.loss.__qualname__.startswith("capsules"):
        values["T"] = (values["T"] > 0.1).astype(np.float32)
    return values


class Peer:
    """PyTorch's step, in eager mode or compiled."""

    def __init__(self, net, values, step, compiled=False, dtype=torch.float32):
        self.v = {k: torch.tensor(v, dtype=dtype) for k, v in values.items()}
        for p in net.by:
            self.v[p].requires_grad_()
        params = [self.v[p] for p in net.by]
        self.optimizer = torch.optim.SGD(params, lr=RATE) if step == "sgd" else torch.optim.Adam(params, lr=RATE)
        self.forward = lambda v: net.loss(torch, v)
        if compiled:
            self.forward = torch.compile(self.forward)
            self.optimizer.step = torch.compile(self.optimizer.step)

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward(self.v)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def give(lib, values, step, t):
    for name, value in values.items():
        lib.set(name, value.copy())
    lib.set("rate", np.array([RATE if step == "sgd" else RATE / (1 - 0.9**t)]))
    if step == "adam":
        lib.set("unbias", np.array([1 / np.sqrt(1 - 0.999**t)]))


def error_of(lib, net, values, step):
    torch.set_default_dtype(torch.float64)
    peer = Peer(net, values, step, dtype=torch.float64)
    loss = peer.run()
    torch.set_default_dtype(torch.float32)
    worst = abs(float(lib.arrays["L"][0]) - loss) / abs(loss)
    for p in net.by:
        old, new = values[p].astype(np.float64), peer.v[p].detach().numpy().reshape(values[p].shape)
        change = np.abs(new - old).max()
        rounding = np.abs(new).max() * 2.0**-23
        worst = max(worst, float(max(np.abs(lib.arrays[p + "_next"] - new).max() - rounding, 0) / change))
    return worst


def race(contestants, rounds):
    times = {k: [] for k in contestants}
    for r in range(rounds + 3):
        for k, call in contestants.items():
            begun = time.process_time()
            call()
            if r > 2:
                times[k].append(time.process_time() - begun)
    return {k: 1e3 * statistics.median(v) for k, v in times.items()}


def one(name, o):
    net, folder = models.NETS[name](), o.folder.resolve() / f"{name}-{o.step}"
    folder.mkdir(parents=True, exist_ok=True)
    fore, step, plan, code = (folder / n for n in ("forward.yaml", "step.yaml", "plan.yaml", "code"))
    fore.write_text(net.text)
    row = {"network": name, "step": o.step}
    if not (o.reuse and (code / "libnetwork.so").exists()):
        command([o.tileflow, "grad", fore, "--of", "L", "--by", ",".join(net.by), "--step", o.step, "-o", step, *(["--again", o.again] if o.again else [])])
        spent = command([o.tileflow, "plan", o.arch, step, "--target", "cpu", "--threads", "1", "-o", plan, "--json", folder / "plan.json", "--quiet", *o.plan.split()])
        (folder / "plan_s").write_text(f"{spent:.1f}")
        subprocess.run(["rm", "-rf", str(code)])
        command([o.tileflow, "emit", o.arch, step, plan, "--target", "cpu", "-o", code, "--quiet", "--no-test"])
        command(["make", "-C", code, "-j2", "libnetwork.a", "CFLAGS=-O3 -fPIC"])
        command(["cc", "-shared", "-fopenmp", "-o", code / "libnetwork.so", "-Wl,--whole-archive", code / "libnetwork.a", "-Wl,--no-whole-archive", "-lm"])
    planned = json.loads((folder / "plan.json").read_text())
    row |= {"ops": sum(len(g["ops"]) for g in planned["groups"]), "groups": len(planned["groups"]), "plan_s": float((folder / "plan_s").read_text()),
            "arena_bytes": planned["arena"]["bytes"]}
    lib = Library(code)
    values = values_of(lib, net)
    give(lib, values, o.step, 1)
    lib.run()
    row["error"] = error_of(lib, net, values, o.step)
    if o.rounds:
        eager = Peer(net, values, o.step)

        def ours():
            lib.run()
            lib.swap(net.by)

        contestants = {"ours": ours, "eager": eager.run}
        if not o.no_compile:
            contestants["compile"] = Peer(net, values, o.step, compiled=True).run
        ms = race(contestants, o.rounds)
        row |= {k + "_ms": round(v, 4) for k, v in ms.items()} | {"over_" + k: round(ms[k] / ms["ours"], 3) for k in ms if k != "ours"}
    return row


def keep(path, row):
    rows = list(csv.DictReader(open(path))) if os.path.exists(path) else []
    new = {**row, "error": f"{row['error']:.1e}", "load": round(os.getloadavg()[0], 1), "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime())}
    rows = [r for r in rows if (r["network"], r["step"]) != (row["network"], row["step"])] + [new]
    with open(path, "w", newline="") as f:
        w = csv.DictWriter(f, COLUMNS, extrasaction="ignore", lineterminator="\n")
        w.writeheader(), w.writerows(rows)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow"), p.add_argument("arch"), p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--only", default=",".join(models.NETS)), p.add_argument("--rounds", type=int, default=0), p.add_argument("--step", default="sgd")
    p.add_argument("--again", default=""), p.add_argument("--plan", default="--max-ops 5 --evals 1000", help="more for `tileflow plan`"), p.add_argument("--no-compile", action="store_true"), p.add_argument("--csv"), p.add_argument("--reuse", action="store_true")
    o = p.parse_args()
    torch.set_num_threads(1)
    bad = 0
    for name in o.only.split(","):
        try:
            row = one(name, o)
            bad |= row["error"] > 1e-4
            if o.csv and o.rounds:
                keep(o.csv, row)
        except (RuntimeError, subprocess.TimeoutExpired, KeyError) as e:
            row, bad = {"network": name, "failed": str(e)[:500]}, 1
        print(json.dumps(row), flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
