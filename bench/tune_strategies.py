#!/usr/bin/env python3
"""How many measurements each strategy of `tileflow tune` needs: every strategy tunes each case with each seed.

    bench/tune_strategies.py TILEFLOW OUT.csv [--trials N] [--seeds N] [--arch FILE] [--store FILE] [--constraints FILE] [--recorded]
                             [--only STRATEGY,...] [--kernel SECONDS] CASE...

CASE is a name of workloads/operators/cases.csv; the store is OUT.csv.db, and with it a run that was ended goes on.  OUT.csv has a row a trial: case, strategy, seed, trial, measured (kernels
measured up to then: the same text is measured once), seconds, best, clock (processor seconds of the run, in equal shares).  Prints, for each case and strategy, the best found, and after how
many measurements a kernel was within 5 % of the best that any of them found; `-`: never.
--recorded: nothing is measured: kernels that the store does not have are taken to be slower than all that it has.  Then clock has
the --kernel SECONDS of compiling and measuring for each kernel besides.
"""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRATEGIES = ["sa-q", "sa", "cga", "model", "random"]


def settings(case):
    with open(os.path.join(ROOT, "workloads/operators/cases.csv"), encoding="utf-8") as f:
        for line in f:
            kind, name, params = (line.rstrip("\n").split(",") + ["", ""])[:3]
            if name == case:
                return kind, [x for p in params.split() for x in ("--set", p)]
    sys.exit(f"no case {case} in workloads/operators/cases.csv")


def tune(o, case, strategy, seed, store):
    kind, options = settings(case)
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        workload = os.path.join(ROOT, "workloads/operators", kind + ".yaml")
        more = ["--constraints", o.constraints] if o.constraints else []
        before = os.times()
        subprocess.run([o.tool, "tune", o.arch, workload, *options, "--strategy", strategy, "--seed", str(seed), "--trials",
                        str(o.trials), "--store", store, "--csv", out.name, "--quiet", *more], check=True,
                       env={**os.environ, "CC": o.compiler} if o.recorded else None)
        after = os.times()
        with open(out.name, encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f)), after.children_user + after.children_system - before.children_user - before.children_system


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("out")
    ap.add_argument("cases", nargs="+")
    ap.add_argument("--trials", type=int, default=30)
    ap.add_argument("--seeds", type=int, default=1)
    ap.add_argument("--arch", default=os.path.join(ROOT, "arch-specs/host-template.yaml"))
    ap.add_argument("--store", default=None)
    ap.add_argument("--constraints", default=None)
    ap.add_argument("--recorded", action="store_true")
    ap.add_argument("--kernel", type=float, default=0)
    ap.add_argument("--only", default=",".join(STRATEGIES))
    a = ap.parse_args()
    STRATEGIES[:] = a.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        a.compiler = pretender(folder)
        run(a)


def pretender(folder):
    """A program that says that it is the compiler of the store, and compiles nothing."""
    path = os.path.join(folder, "cc")
    with open(path, "w", encoding="utf-8") as f:
        f.write('#!/bin/sh\n[ "$1" = --version ] && exec cc --version\nexit 1\n')
    os.chmod(path, 0o755)
    return path


def run(a):
    store = a.store or a.out + ".db"
    rows = []
    for case in a.cases:
        for seed in range(1, a.seeds + 1):
            for strategy in STRATEGIES:
                measured = 0
                trials, took = tune(a, case, strategy, seed, store)
                for k, t in enumerate(trials):
                    measured += t["same"] == "0"
                    clock = took * (k + 1) / len(trials) + measured * a.kernel
                    rows.append({"case": case, "strategy": strategy, "seed": seed, "trial": t["trial"],
                                 "measured": measured, "seconds": t["seconds"], "best": t["best"], "clock": f"{clock:.4g}"})
        with open(a.out, "w", encoding="utf-8", newline="") as f:
            w = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
            w.writeheader()
            w.writerows(rows)
        report(case, rows, a.seeds)


def report(case, rows, seeds):
    mine = [r for r in rows if r["case"] == case and r["best"]]
    best = min(float(r["best"]) for r in mine)
    print(f"{case}: best {best:.4g} s, first choice " +
          ", ".join(sorted({f'{float(r["best"]):.4g} s' for r in mine if r["trial"] == "0"})))
    for s in STRATEGIES:
        own = [r for r in mine if r["strategy"] == s]
        need = []
        for seed in range(1, seeds + 1):
            near = [r["measured"] for r in own if r["seed"] == seed and float(r["best"]) <= 1.05 * best]
            need.append(min(near) if near else math.inf)
        last = min(float(r["best"]) for r in own)
        print(f"  {s:7} {last:.4g} s, within 5 % after " +
              ", ".join("-" if math.isinf(n) else str(n) for n in need), flush=True)


if __name__ == "__main__":
    main()
