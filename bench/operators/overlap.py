#!/usr/bin/env python3
"""The three ways of the thesis (4.6.3, figure 4.6) to tune operators while a network of them runs: figures of this computer, laid out in time.

    bench/operators/overlap.py TILEFLOW OUT.csv [--stages N] [--trials N] [--arch FILE] [--folder DIR] [--stages-of FILE] CASE...
    bench/operators/overlap.py --check N     laws that hold of any figures, on N random networks

Each CASE (workloads/operators/cases.csv) is tuned in stages of so many trials; processor seconds of each stage, those to emit and compile its best
kernel, and that kernel's time go to the file --stages-of.  An iteration runs each operator once.  Three workers, who tune, compile, and run:

    static        all stages of all operators, then the compiler, then iterations
    compiled      tuning goes on beside iterations, which wait while a new kernel is compiled
    overlapped    nobody waits: an iteration begins with the newest kernels that are compiled

OUT.csv has mode, seconds, iterations: a row where the time of an iteration changes, and one at the end.
"""
import argparse
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from common import ROOT, cases, what_of

MODES = ["static", "compiled", "overlapped"]


# ---- in time ----------------------------------------------------------------------------------------------------
def arrivals(stages, whole):
    """When a kernel comes from tuning: (seconds, operator, stage), stage after stage; whole: all at the end, and only the last ones."""
    clock, out = 0.0, []
    for k in range(len(stages[0])):
        for op, of in enumerate(stages):
            clock += of[k]["tune"]
            out.append((clock, op, k))
    return [(clock, op, len(stages[0]) - 1) for op in range(len(stages))] if whole else out


def timeline(stages, mode, end):
    """(seconds, iterations) where the rate changes, up to `end`."""
    waiting, have = arrivals(stages, mode == "static"), [None] * len(stages)
    clock = compiler = done = 0.0
    points, ready = [(0.0, 0.0)], []
    if mode == "overlapped":  # the compiler's own time: each kernel when it is free
        for at, op, k in waiting:
            compiler = max(compiler, at) + stages[op][k]["compile"]
            ready.append((compiler, op, k))
    else:
        ready = [(at, op, k) for at, op, k in waiting]
    while ready and clock < end:
        at, op, k = ready.pop(0)
        if None not in have and at > clock:  # iterations until then, the last one to its end
            each = sum(stages[o][j]["run"] for o, j in enumerate(have))
            n = max(0, -(-(min(at, end) - clock) // each))
            done, clock = done + n, clock + n * each
            points.append((clock, done))
        clock = max(clock, at)
        if mode != "overlapped":
            clock += stages[op][k]["compile"]
        have[op] = k
        points.append((clock, done))
    if None not in have and clock < end:
        points.append((end, done + (end - clock) / sum(stages[o][j]["run"] for o, j in enumerate(have))))
    return points


def at(points, seconds):
    """Iterations at a time, between two points in proportion."""
    for (t0, n0), (t1, n1) in zip(points, points[1:]):
        if seconds < t1:
            return n0 + (n1 - n0) * (seconds - t0) / (t1 - t0) if t1 > t0 else n0
    return points[-1][1]


def check(how_many):
    """Overlapped is never behind compiled by more than the iteration that it is in, and that never behind static by more than one compilation's worth."""
    for seed in range(how_many):
        lot = random.Random(seed)
        stages = []
        for _ in range(lot.randint(1, 5)):
            run, of = lot.uniform(1e-3, 0.1), []
            for _ in range(4):
                run *= lot.uniform(0.5, 1)
                of.append({"tune": lot.uniform(2, 20), "compile": lot.uniform(0.5, 1), "run": run})
            stages.append(of)
        end = 3 * sum(s["tune"] + s["compile"] for of in stages for s in of)
        static, compiled, overlapped = (timeline(stages, m, end) for m in MODES)
        for points in (static, compiled, overlapped):
            assert all(a[0] <= b[0] + 1e-9 and a[1] <= b[1] for a, b in zip(points, points[1:])), f"seed {seed}: time goes back"
        for k in range(200):
            t = end * k / 200
            assert at(overlapped, t) + 2 >= at(compiled, t), f"seed {seed}: overlapped is behind at {t:g} s"
            assert at(compiled, t) + 2 >= at(static, t), f"seed {seed}: compiled is behind static at {t:g} s"
        last = sum(of[-1]["run"] for of in stages)
        assert abs((static[-1][1] - static[-2][1]) * last - (static[-1][0] - static[-2][0])) < 1e-6, f"seed {seed}: static ends at another rate"
    print(f"{how_many} networks")


# ---- figures of this computer --------------------------------------------------------------------------------------
def seconds_of(args):
    """Processor seconds of a program and of all that it ran."""
    before = os.times()
    subprocess.run([str(a) for a in args], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def arguments_of(case, arch):
    for kind, name, params in cases():
        if name == case:
            return what_of(arch, kind, params)
    sys.exit(f"no case {case} in workloads/operators/cases.csv")


def measured(o, case):
    what, store, table, folder = arguments_of(case, o.arch), o.folder / f"{case}.db", o.folder / "trials.csv", o.folder / f"{case}-kernel"
    out = []
    for k in range(o.stages):
        all_of_it = seconds_of([o.tileflow, "tune", *what, "--trials", (k + 1) * o.trials, "--store", store, "--csv", table, "--quiet"])
        with open(table, encoding="utf-8", newline="") as f:
            best = min(float(r["seconds"]) for r in csv.DictReader(f) if r["verdict"] == "ran")
        subprocess.run(["rm", "-rf", folder], check=True)
        new = not out or best < out[-1]["run"]
        build = new and seconds_of([o.tileflow, "emit", *what, "--tuned", store, "-o", folder, "--quiet", "--no-test"]) + seconds_of(["make", "-s", "-C", folder, "kernel.o"])
        out.append({"tune": all_of_it, "compile": float(build), "run": best})
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow", nargs="?", type=pathlib.Path), p.add_argument("out", nargs="?", type=pathlib.Path), p.add_argument("cases", nargs="*")
    p.add_argument("--stages", type=int, default=4), p.add_argument("--trials", type=int, default=8), p.add_argument("--check", type=int, default=0)
    p.add_argument("--arch", default="arch-specs/host-template.yaml"), p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--stages-of", type=pathlib.Path)
    o = p.parse_intermixed_args()
    if o.check:
        return check(o.check)
    o.tileflow, o.folder = o.tileflow.resolve(), (o.folder or pathlib.Path(tempfile.mkdtemp())).resolve()
    o.folder.mkdir(parents=True, exist_ok=True)
    stages = [measured(o, case) for case in o.cases]
    if o.stages_of:
        with open(o.stages_of, "w", encoding="utf-8", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["case", "stage", "tune_s", "compile_s", "run_s", "date"])
            w.writerows([case, k + 1, *(f"{s[x]:.5g}" for x in ("tune", "compile", "run")), time.strftime("%Y-%m-%d %H:%M", time.gmtime())]
                        for case, of in zip(o.cases, stages) for k, s in enumerate(of))
    end = 1.5 * sum(s["tune"] + s["compile"] for of in stages for s in of)
    with open(o.out, "w", encoding="utf-8", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["mode", "seconds", "iterations"])
        w.writerows([mode, f"{t:.5g}", f"{n:.6g}"] for mode in MODES for t, n in timeline(stages, mode, end))
    return 0


if __name__ == "__main__":
    sys.exit(main())
