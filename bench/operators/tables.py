#!/usr/bin/env python3
"""Spaces of schedules, whole or a sample, measured once; and what each strategy of `tune` finds of them after so many measurements.

    bench/operators/tables.py record TUNE_WAYS TABLE.csv [--isa NAME] [--core N] [--lock FILE] [--jobs N] [CASE...]
    bench/operators/tables.py replay TUNE_WAYS TABLE.csv OUT.csv [--isa NAME] [--seeds N] [--strategy NAME,...] [--jobs N] [CASE...]

TUNE_WAYS: build/tests/tune_ways.  --isa: of the kernels, avx512; bench/operators/machines/ISA.yaml is the computer, or the template.
CASE (all of them): constraints in bench/operators/tables, the part of their name before a point being one of workloads/operators/cases.csv, or a case of
tables/sampled.txt.  Of the former every schedule that the constraints leave is emitted, of the latter SAMPLE schedules drawn from the whole space.
record: kernels are compiled (those of the same text once); the first is held against the workload evaluated plainly in double (its own test), the others against the
first on drawn numbers; and they are timed on one core (--core: that one) in turns: the median of ROUNDS, of those that take more than twice the least of 2.
TABLE.csv: case, schedule (digest of its text), kernel (number), microseconds, machine.  A case that is there is left out, so a run that was ended goes on.
--lock: held while kernels are timed (flock).
replay: OUT.csv is case, strategy, k, best, near, seeds (tests/unit/tune_ways.c says what) and own: the strategy's processor seconds for each kernel measured.
Nothing is measured but this, so the same command writes the same file but for its last column.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from common import HERE, ROOT, alone, cases, what_of

sys.path.insert(0, str(HERE.parent / "kernels"))
ROUNDS = int(os.environ.get("ROUNDS", "7"))
LIMIT = 1e-5
SAMPLE = 60
MACHINES = {"avx512": "zen5-avx512", "avx2": "zen3-avx2", "sse2": "zen3-sse2"}


def tables():
    """Table: kind and params of its case."""
    known = {case: (kind, params) for kind, case, params in cases()}
    for case, of in known.items():
        for path in sorted((HERE / "tables").glob("*.csp")):
            if path.stem.split(".")[0] == case:
                yield path.stem, of
    for case in (HERE / "tables/sampled.txt").read_text(encoding="ascii").split():
        yield case, known[case]


def command(tool, name, of, scratch, isa="avx512"):
    """tune_ways of a case, on the machine, or on the template of a computer with one core."""
    arch = HERE / "machines" / f"{isa}.yaml"
    if not arch.exists():
        text = (ROOT / "arch-specs/host-template.yaml").read_text(encoding="utf-8")
        arch = scratch / "one-core.yaml"
        arch.write_text(re.sub(r"mesh: \[\d+, 1\]", "mesh: [1, 1]", text, count=1), encoding="utf-8")
    whole = HERE / "tables" / f"{name}.csp"
    return [tool, name, *what_of(arch, *of), *(["--constraints", whole] if whole.exists() else ["--sample", str(SAMPLE)]), "--isa", isa]


# ---- record -----------------------------------------------------------------------------------------------------
def compiled(folder):
    from peer import library

    os.nice(0 if os.getpriority(os.PRIO_PROCESS, 0) else 15)
    return library(folder)


def built(scratch, n, jobs):
    """Of each kernel its shared library and the names of its arguments."""
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(compiled, [scratch / str(k) for k in range(n)]))


def array(shape):
    """Numbers drawn, at an address that vectors like."""
    import numpy

    class Tensor(numpy.ndarray):
        def data_ptr(self):
            return self.ctypes.data

    n = 4 * math.prod(shape)
    room = numpy.zeros(n + 64, numpy.uint8)
    begin = -room.ctypes.data % 64
    out = room[begin : begin + n].view(numpy.float32).reshape(shape).view(Tensor)
    out[:] = numpy.random.default_rng(1).standard_normal(shape, numpy.float32)
    return out


def contestants(scratch, libraries):
    """The kernels on tensors; the first passes its own test, the others give what it gives."""
    import numpy
    from peer import Ours

    tested = subprocess.run(["make", "-C", scratch / "0", "test"], check=False, capture_output=True, text=True)
    if tested.returncode:
        sys.exit(f"kernel 0: {tested.stdout[-200:]}{tested.stderr[-200:]}")
    manifest = json.loads((scratch / "0/manifest.json").read_text(encoding="utf-8"))
    shapes = {x["name"]: x["shape"] for x in manifest["tensors"]}
    names = [n if n in shapes else n.removeprefix("tensor_") for n in libraries[0][1]]
    t = {n: array(shapes[n]) for n in names}
    want = None
    for k, (path, _) in enumerate(libraries):
        t["O"][:] = 0
        kernel = Ours(path, list(t.values()))
        got = kernel().astype(numpy.float64)
        want = got if want is None else want
        off = numpy.linalg.norm(got - want) / numpy.linalg.norm(want)
        if not off < LIMIT:
            sys.exit(f"kernel {k} is wrong by {off:g}")
        yield kernel


def times(kernels):
    """Microseconds of each."""
    from peer import time_of

    calls, took = [], []
    for run in kernels:
        once = time_of(run, 1)
        calls.append(max(1, math.ceil(2e-3 / once)))
        took.append([time_of(run, calls[-1])])
    for r in range(1, ROUNDS):
        least = min(statistics.median(t) for t in took)
        for k in range(len(kernels)):
            if r < 2 or statistics.median(took[k]) <= 2 * least:
                took[k].append(time_of(kernels[k], calls[k]))
    return [statistics.median(t) * 1e6 for t in took]


def record(o, name, of):
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        said = subprocess.run(["nice", "-n", "15", *command(o.tool, name, of, scratch, o.isa), "--list", folder], check=True, capture_output=True, text=True)
        rows = [line.split(",") for line in said.stdout.split()]
        libraries = built(scratch, 1 + max(int(k) for _, _, k in rows), o.jobs)
        if o.core is not None:
            os.sched_setaffinity(0, {o.core})
        kernels = list(contestants(scratch, libraries))
        with alone(o.lock):
            us = times(kernels)
        os.sched_setaffinity(0, o.cores)
        new = not o.table.exists()
        with open(o.table, "a", encoding="utf-8") as f:
            f.write("case,schedule,kernel,us,machine\n" * new)
            f.write("".join(f"{name},{schedule},{k},{us[int(k)]:.5g},{MACHINES.get(o.isa, o.isa)}\n" for _, schedule, k in rows))
    near = sum(u <= 1.05 * min(us) for u in us)
    print(f"{name}: {len(rows)} schedules, {len(us)} kernels, {near} within 5 % of {min(us):.4g} us, the slowest {max(us) / min(us):.1f} times", flush=True)


# ---- replay -----------------------------------------------------------------------------------------------------
STRATEGIES = ["sa-q", "p", "sa", "cga", "random", "model"]


def replayed(o, name, of, strategy):
    """Rows of OUT.csv."""
    with tempfile.TemporaryDirectory() as folder:
        args = [*command(o.tool, name, of, pathlib.Path(folder), o.isa), "--table", o.table, "--strategy", strategy, "--seeds", str(o.seeds)]
        with subprocess.Popen(["nice", "-n", "15", *args], stdout=subprocess.PIPE, text=True) as run:
            rows = run.stdout.read().split()
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit(f"{name}, {strategy}: exit status {run.returncode}")
    own = (used.ru_utime + used.ru_stime) / sum(kernels_of(rows))
    return "".join(f"{row},{own:.2g}\n" for row in rows)


def kernels_of(rows):
    """How many kernels each run measured."""
    before = 0
    for row in rows:
        k, _, near, seeds = row.split(",")[2:]
        yield from [int(k)] * (int(near) - before)
        before = int(near)
    yield from [int(k)] * (int(seeds) - before)


# ---- the whole --------------------------------------------------------------------------------------------------
def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["record", "replay"]), p.add_argument("tool", type=pathlib.Path), p.add_argument("table", type=pathlib.Path)
    p.add_argument("cases", nargs="*"), p.add_argument("--lock"), p.add_argument("--jobs", type=int, default=2), p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--isa", default="avx512"), p.add_argument("--core", type=int), p.add_argument("--strategy", default=",".join(STRATEGIES))
    o = p.parse_intermixed_args()
    o.cores = os.sched_getaffinity(0)
    o.tool, o.table = o.tool.resolve(), o.table.resolve()
    out = pathlib.Path(o.cases.pop(0)) if o.what == "replay" else None
    there = {line.split(",")[0] for line in o.table.read_text(encoding="utf-8").splitlines()} if o.table.exists() else set()
    chosen = {n: of for n, of in tables() if not o.cases or n in o.cases}
    if o.what == "record":
        for name, of in chosen.items():
            if name not in there:
                record(o, name, of)
        return
    todo = [(o, name, of, strategy) for name, of in chosen.items() if name in there for strategy in o.strategy.split(",")]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        rows = list(pool.map(lambda x: replayed(*x), todo))
    out.write_text("case,strategy,k,best,near,seeds,own\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
