#!/usr/bin/env python3
"""The cases of workloads/operators on one core: the model's first choice and what `tileflow tune` makes of it, beside PyTorch and oneDNN.

    bench/operators/run.py TILEFLOW OUT.csv [--tune N] [--strategy S,...] [--by FILE] [--arch FILE] [--folder DIR] [--again] [--every N]
                           [--lock FILE] [CASE or KIND...]

Each case is emitted, compiled, and held against PyTorch in float64; then all contestants take turns in ROUNDS rounds, processor time of the
thread, medians.  --tune N: first, N trials of each strategy (the store of all is DIR/tuned.db: a run that was ended goes on), and the fastest of the store
is a contestant; --by FILE gets a row a case and strategy: the best that it found, by the times of the store.  OUT.csv gets a row a case as soon
as it is measured, in the place of its old one; a case that has one is left out, unless --again, or --tune where the row has no tuned time.
--every N: the first of each N cases of a kind.  --again leaves out rows of the commit at hand, so a run that was ended goes on.
--lock FILE: for a computer that others measure on: locked (flock) while contestants take turns; what compiles or tunes runs with `nice -n 15`.
Exit status 1 where a case cannot be emitted or compiled, or is wrong.  Needs PyTorch; without it, status 3.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from common import HERE, ROOT, alone, cases, what_of

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(HERE.parent / "kernels"))
try:
    import torch
except ImportError:
    sys.exit(3)
import operators
from peer import Ours, library, turns

ROUNDS = int(os.environ.get("ROUNDS", "7"))
LIMIT = 1e-5
TOGETHER = 8  # cases measured while a lock is held
FIELDS = ["kind", "case", "operations", "products", "error", "first_us", "first_packed_us", "trials", "tuned_us", "tuned_packed_us", "torch_us",
          "channels_last_us", "onednn_us", "other_us", "compiled_us", "least_us", "date", "load", "commit"]
BY = ["case", "strategy", "trials", "kernels", "first_us", "best_us", "drawn", "unfit", "date", "commit"]
COLUMN = {"torch": "torch_us", "torch channels_last": "channels_last_us", "oneDNN laid out": "onednn_us", "torch compiled": "compiled_us"}


class Failed(Exception):
    """Why a case has no row."""


def command(args, what):
    done = subprocess.run(["nice", "-n", "15", *(str(a) for a in args)], capture_output=True, text=True, timeout=900, cwd=ROOT)
    if done.returncode:
        raise Failed(f"{what}: {(done.stderr or done.stdout or 'ended by a signal').strip()[:300]}")
    return done.stdout


def built(tileflow, what, folder):
    """The emitted kernel as a shared library beside its sources, in a folder of its own; the names of its arguments; and its manifest."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    command([tileflow, "emit", *what, "--seed", "1", "--target", "cpu", "--threads", "1", "-o", folder, "--quiet", "--no-test"], "emit")
    return *library(folder), json.loads((folder / "manifest.json").read_text())


class Case:
    def __init__(self, o, kind, name, params):
        self.o, self.kind, self.name, self.params = o, kind, name, params
        self.what = what_of(o.arch, kind, params)

    def library(self, label, *more):
        path, self.fields, self.manifest = built(self.o.tileflow, [*self.what, *more], self.o.folder / f"{self.name}-{label}")
        return path

    def tune(self):
        """Rows of BY, one a strategy."""
        return [self.tune_by(strategy) for strategy in self.o.strategy.split(",")]

    def tune_by(self, strategy):
        table = self.o.folder / "trials.csv"
        said = command([self.o.tileflow, "tune", *self.what, "--strategy", strategy, "--trials", self.o.tune, "--store", self.o.folder / "tuned.db",
                        "--csv", table], "tune")
        with open(table, encoding="utf-8", newline="") as f:
            trials = list(csv.DictReader(f))
        ran = [float(r["seconds"]) for r in trials if r["verdict"] == "ran"]
        if not ran or trials[0]["verdict"] != "ran":
            raise Failed("tune: no kernel ran")
        drawn, unfit = re.search(r"^(\d+) schedules drawn, (\d+) of them did not fit$", said, re.M).groups()
        return {"case": self.name, "strategy": strategy, "trials": len(trials) - 1, "kernels": sum(r["same"] == "0" for r in trials),
                "first_us": f"{ran[0] * 1e6:.5g}", "best_us": f"{min(ran) * 1e6:.5g}", "drawn": drawn, "unfit": unfit,
                "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "commit": head()}

    def tensors(self):
        torch.manual_seed(1)
        shapes = {x["name"]: x["shape"] for x in self.manifest["tensors"]}
        names = [n if n in shapes else n.removeprefix("tensor_") for n in self.fields]
        return {n: torch.randn(*shapes[n]) for n in names}


def ours(case, library, label, t):
    """Contestants of one emitted kernel: as the workload has its arrays, and with weights packed beforehand."""
    plain = Ours(library, list(t.values()))
    return [(label, plain, lambda y: y)] + ([(label + " packed", Ours(library, list(t.values()), True), lambda y: y)] if plain.packs() else [])


def error_of(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def contestants_of(case, first, tuned):
    """Who takes turns, each held against PyTorch in float64; the largest error of ours; and multiply-adds."""
    t = case.tensors()
    want = operators.forward(case.kind, case.params)({n: v.double() for n, v in t.items()}).reshape(t["O"].shape)
    contestants = ours(case, first, "first", t) + (ours(case, tuned, "tuned", t) if tuned else [])
    mine = len(contestants)
    contestants += operators.ways(case.kind, case.params, t) + operators.compiled(case.kind, case.params, t)
    error = 0.0
    for k, (who, run, view) in enumerate(contestants):
        t["O"].zero_()
        off = error_of(view(run()).reshape(want.shape), want)
        if not off < LIMIT:
            raise Failed(f"{who} is wrong by {off:g}")
        error = max(error, off) if k < mine else error
    return contestants, f"{error:.2g}", products_of(case, t)


def products_of(case, t):
    """Multiply-adds of a kind of table 4.2 that no border cuts off; None of other kinds."""
    if case.kind[:3] not in ("gmv", "gmm", "bil", "c1d", "c2d", "c3d", "t1d", "t2d", "t3d", "grp", "dep", "dil"):
        return None
    ones = {n: torch.ones_like(v) for n, v in t.items()}
    return round(operators.forward(case.kind, case.params)(ones).double().sum().item())


def race(contestants):
    """The row's times."""
    row, took = {}, turns([run for _, run, _ in contestants], ROUNDS)
    for (who, _, _), seconds in zip(contestants, took):
        column = COLUMN.get(who) or (who.replace(" ", "_") + "_us" if who.split()[0] in ("first", "tuned") else "other_us")
        row[column] = f"{statistics.median(seconds) * 1e6:.5g}"
    return row


def prepared(case):
    """The row so far, and who takes turns."""
    row = {"kind": case.kind, "case": case.name, "commit": head()}
    first, tuned = case.library("first"), None
    if case.o.tune:
        by = case.tune()
        if case.o.by:
            note(case.o.by, by)
        row["trials"] = sum(r["trials"] for r in by)
        if any(float(r["best_us"]) < float(r["first_us"]) for r in by):
            tuned = case.library("tuned", "--tuned", case.o.folder / "tuned.db")
    row["operations"] = case.manifest["predicted"]["points"]
    contestants, row["error"], row["products"] = contestants_of(case, first, tuned)
    return row, contestants


def measured(row, contestants):
    row.update(date=time.strftime("%Y-%m-%d %H:%M", time.gmtime()), load=os.getloadavg()[0])
    row.update(race(contestants))
    if row["products"]:  # where nothing but multiply-adds takes time
        row["least_us"] = f"{min(contestants[0][1].ideal(0, 2 * row['products']) for _ in range(3)) * 1e6:.5g}"
    if row.get("trials") and "tuned_us" not in row:  # nothing that was tried is faster
        row.update({to: row[of] for of, to in (("first_us", "tuned_us"), ("first_packed_us", "tuned_packed_us")) if of in row})


def head():
    return command(["git", "rev-parse", "--short", "HEAD"], "git").strip()


def note(path, by):
    """Puts the rows of a case in the place of its old ones."""
    rows = read(path)
    write(path, BY, [r for r in rows if r["case"] != by[0]["case"]] + by)


def read(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def write(path, fields, rows):
    order = {name: k for k, (_, name, _) in enumerate(cases())}
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8", newline="") as f:
        w = csv.DictWriter(f, fields, lineterminator="\n")
        w.writeheader()
        w.writerows(sorted(rows, key=lambda r: order[r["case"]]))
    os.chmod(f.name, 0o644)
    os.replace(f.name, path)


def mkl_of_all(folder):
    """This script once more, behind a library with which MKL takes its kernels for AVX-512 on processors of other makers, too."""
    about = pathlib.Path("/proc/cpuinfo").read_text()
    if "LD_PRELOAD" in os.environ or " avx512f" not in about or "GenuineIntel" in about:
        return
    command(["gcc", "-O2", "-shared", "-fPIC", ROOT / "bench/kernels/mkl_any.c", "-o", folder / "mkl_any.so"], "compile")
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_PRELOAD": str(folder / "mkl_any.so")})


def chosen(o, rows):
    """The cases to be measured."""
    todo, seen, commit = [], {}, head()
    for kind, name, params in cases():
        if o.cases and kind not in o.cases and name not in o.cases:
            continue
        seen[kind] = seen.get(kind, -1) + 1
        old = rows.get(name)
        untuned = o.tune and old and not old["tuned_us"]
        if seen[kind] % o.every == 0 and (not old or untuned or (o.again and old["commit"] != commit)):
            todo.append((kind, name, params))
    return todo


def together(o, todo, rows):
    """Prepares these cases, then measures one after the other.  1: some failed."""
    ready, bad = [], 0
    for kind, name, params in todo:
        try:
            ready.append(prepared(Case(o, kind, name, params)))
        except (Failed, RuntimeError, subprocess.TimeoutExpired) as e:
            print(f"{name}: {e}", file=sys.stderr, flush=True)
            bad = 1
    with alone(o.lock):
        for row, contestants in ready:
            measured(row, contestants)
            rows[row["case"]] = row
            write(o.out, FIELDS, rows.values())
            print(json.dumps({k: v for k, v in row.items() if k not in ("date", "commit", "operations")}), flush=True)
    return bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow", type=pathlib.Path), p.add_argument("out", type=pathlib.Path), p.add_argument("cases", nargs="*")
    p.add_argument("--tune", type=int, default=0), p.add_argument("--strategy", default="cga"), p.add_argument("--arch", type=pathlib.Path)
    p.add_argument("--by", type=pathlib.Path)
    p.add_argument("--folder", type=pathlib.Path), p.add_argument("--again", action="store_true")
    p.add_argument("--every", type=int, default=1), p.add_argument("--lock", type=pathlib.Path)
    o = p.parse_intermixed_args()
    o.tileflow, o.out = o.tileflow.resolve(), o.out.resolve()
    o.folder = (o.folder or pathlib.Path(tempfile.mkdtemp())).resolve()
    o.folder.mkdir(parents=True, exist_ok=True)
    mkl_of_all(o.folder)
    if not o.arch:
        o.arch = o.folder / "host.yaml"
        command([o.tileflow, "import", "--host", "-o", o.arch, "--quiet"], "import")
        o.arch.write_text(re.sub(r"mesh: \[\d+, 1\]", "mesh: [1, 1]", o.arch.read_text(), count=1))
    o.arch = o.arch.resolve()
    torch.set_num_threads(1)
    rows = {r["case"]: r for r in read(o.out)}
    todo, bad = chosen(o, rows), 0
    for k in range(0, len(todo), TOGETHER if o.lock else 1):
        with torch.inference_mode():
            bad |= together(o, todo[k : k + (TOGETHER if o.lock else 1)], rows)
    return bad


if __name__ == "__main__":
    sys.exit(main())
