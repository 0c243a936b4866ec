#!/usr/bin/env python3
"""bench/cuda.sh's hour without a GPU: three planted hangs and a wrong kernel, and whether all cases with goals have their rows in the time.

    bench/cuda/dry.py TILEFLOW OUT.csv [--for SECONDS] [--folder DIR]      a row for each contestant of each case, and when it came
    bench/cuda/dry.py --table OUT.csv                                      what it comes to

Small kernels are compiled as C++ and run by the emulator; in the text of one a sum is doubled, and the test of another never ends.  Cases with goals
go through run.py's race, its limits of time and its workers, which it kills.  In place of the device a worker waits: a second to draw inputs and check,
and 32 calls of the time expected, each behind a write of 256 MiB (0.2 ms); in two cases it waits for ever.  So this is a run of the bench's machinery, in real time; times of
kernels it has none.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

import run

GOALS = "gemm-*|attention-d*|layer-*|conv-*-sm90a|chain-g*-*|attention-g*-*"
SMALL = "smoke-31-*|smoke-32-*|smoke-product-1-*"
HANGS, NEVER_ENDS, WRONG = ("gemm-8192-sm90a", "attention-d64-16384-sm90a"), "smoke-product-1-sm90a", "smoke-31-bf16"
CALLS, FLUSH, DRAW = 32, 2e-4, 1.0  # calls of each, with one to begin with; seconds of a write of 256 MiB; of inputs and checks
FIELDS = ["case", "contestant", "state", "at"]


def worker(work):
    """As worker.py answers, by waiting."""
    for line in sys.stdin:
        job = json.loads(line)
        if job["who"] and job["kind"] != "copy":
            seconds = json.loads((work / job["name"] / "manifest.json").read_text())["kernel_seconds"]
            if job["name"] in HANGS and "tileflow" in job["who"]:
                time.sleep(10000)
            time.sleep(DRAW + len(job["who"]) * CALLS * (seconds + FLUSH))
            for who in job["who"]:
                print(json.dumps({"contestant": who, "state": "ok"}), flush=True)
        print(flush=True)


def others(case):
    """As many beside ours as peers.py has for such a case."""
    sdpa = ["torch-flash", "torch-cudnn", "torch-efficient"] if case.kind.startswith("attention") else ["torch"]
    return ["tileflow"] + ([] if case.step == "ranks" else sdpa)


def plant(work):
    """A wrong kernel, and a test that never ends."""
    text = work / WRONG / "kernel.cu"
    changed, n = re.subn(r"(put_pair\([^;]*?, )(\w+_sums\[)", r"\g<1>2 * \g<2>", text.read_text(), count=1)
    assert n == 1, f"{WRONG} has no place for a fault"
    text.write_text(changed)
    (work / NEVER_ENDS / "test").write_text("#!/bin/sh\nexec sleep 10000\n")
    (work / NEVER_ENDS / "test").chmod(0o755)


def dry(work, seconds):
    """Rows of FIELDS; cases that were not reached have none."""
    cases = [run.Case(*line.rstrip("\n").split("\t")) for line in open(work / "cases.tsv")]
    plant(work)
    small = run.make_all(work, run.asked(cases, SMALL.split("|")), run.Emulator(), "kernel", "test")
    large = run.asked(cases, GOALS.split("|"))
    run.seen = lambda folder: {}
    begun, came = time.monotonic(), []  # what is compiled is compiled before the hour
    add = run.Results.add
    run.Results.add = lambda self, **row: (came.append({f: row.get(f, "") for f in FIELDS} | {"at": f"{time.monotonic() - begun:.1f}"}), add(self, **row))
    results = run.Results(work / "results.csv")
    race = run.Race(work, [sys.executable, __file__, "--worker", str(work)], results)
    for part in (run.smoke(work, small, results), run.races(large, race, others, run.RACE)):
        for _ in part:
            if time.monotonic() - begun > seconds:
                break
    race.stop()
    print(f"{len(small)} small and {len(large)} cases with goals, {len(came)} rows in {time.monotonic() - begun:.0f} s of {seconds:.0f}")
    had = {(r["case"], r["contestant"]) for r in came}
    return came, [c.name for c in small + large if (c.name, "tileflow") not in had]


def table(rows):
    cases = list(dict.fromkeys(r["case"] for r in rows))
    small = sum(c.startswith("smoke") for c in cases)
    states = collections.Counter(r["state"].split(":")[0] for r in rows)
    print(f"{small} small kernels and {len(cases) - small} cases with goals, {len(rows)} rows in {float(rows[-1]['at']):.0f} s: "
          + ", ".join(f"{n} {state}" for state, n in states.most_common()) + ".\n")
    print("| Planted | What its row says | after |\n|---|---|--:|")
    for r in rows:
        if r["state"] != "ok":
            print(f"| {r['case']} | {r['contestant']}: {r['state'].split(':')[0]} | {float(r['at']):.0f} s |")


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(pathlib.Path(sys.argv[2]))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tileflow"), p.add_argument("out", nargs="?", type=pathlib.Path), p.add_argument("--table", action="store_true")
    p.add_argument("--for", dest="seconds", type=float, default=540), p.add_argument("--folder", type=pathlib.Path)
    o = p.parse_args()
    if o.table:
        return table(list(csv.DictReader(open(o.tileflow))))
    with tempfile.TemporaryDirectory() as at:
        work = (o.folder or pathlib.Path(at)).resolve()
        if not (work / "cases.tsv").exists():
            run.subprocess.run(["sh", str(run.HERE.parent / "cuda.sh"), "--emit", str(work), o.tileflow, f"{SMALL}|{GOALS}"], check=True)
        shutil.rmtree(work / "results.csv", ignore_errors=True), (work / "results.csv").unlink(missing_ok=True)
        rows, missed = dry(work, o.seconds)
    with open(o.out, "w", newline="") as f:
        w = csv.DictWriter(f, FIELDS, lineterminator="\n")
        w.writeheader(), w.writerows(rows)
    if missed:
        print("not reached:", *missed)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
