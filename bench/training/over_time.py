#!/usr/bin/env python3
"""The thesis's figure 4.13: a training step of MI-LSTM over the seconds of its tuning, by strategy.

  over_time.py TILEFLOW OUT.csv [--arch FILE] [--seconds N] [--workload FILE] [--by T,..] [--strategy NAME,..]

The step (`tileflow grad --step sgd`) is planned; each different group of the plan is a workload of its own (what other groups read of its intermediates, too, it does not write), which `tune` measures, with an empty store for each strategy:
first the first choice of each group, then BATCH schedules of one group at a time, of the one that takes the largest share of the step for each batch it has had, until the
seconds have passed.  All of it, compilers too, runs on the cores that this program may use (taskset).  The store is read a few times a second; a search is ended
when it has the trials that it was begun for.  OUT.csv: strategy, seconds, kernels (measured so far), ms (of a step: the sum over all groups of the fastest kernel
known; until each group has one there is no step, and no row), date.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH = 4


def run(*args):
    subprocess.run([str(a) for a in args], check=True, stdout=subprocess.DEVNULL)


class Group:
    """A different group of the plan."""

    def __init__(self, folder, text, ops, times):
        self.file, self.store, self.times, self.batches = folder / f"{ops[0]}.yaml", None, times, 0
        lines = text.split("\n")
        own = [line for line in lines if any(line.startswith(f"  - {op}[") for op in ops)]
        words = set(re.findall(r"\w+", " ".join(own)))
        sizes = re.search(r"^  dims: \{(.*)\}$", text, re.M)[1].split(", ")
        dims = ", ".join(s for s in sizes if s.split(":")[0] in words)
        self.file.write_text("\n".join(["workload:", f"  name: {ops[0]}", f"  dims: {{{dims}}}", "  ops:", *own, ""]), encoding="utf-8")

    def known(self):
        """Trials so far, the least seconds, and kernels measured."""
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=5) as db:
                return db.execute("SELECT COUNT(*), MIN(CASE verdict WHEN 'ran' THEN seconds END), SUM(same = 0) FROM trial").fetchone()
        except sqlite3.OperationalError:  # not there yet, or being made
            return 0, None, 0


def tuned(o, strategy, folder, groups):
    """Rows of OUT.csv."""
    begun, last = time.monotonic(), None
    for k, g in enumerate(groups):
        g.store, g.batches = folder / f"{strategy}-{k}.db", 0
    while time.monotonic() < begun + o.seconds:
        g = max(groups, key=lambda g: g.times * g.known()[1] / g.batches if g.batches else math.inf)
        want = 1 + BATCH * g.batches
        args = [o.tileflow, "tune", o.arch, g.file, "--store", g.store, "--strategy", strategy, "--trials", 64, "--threads", 1, "--quiet"]
        search = subprocess.Popen([str(a) for a in args], stdout=subprocess.DEVNULL)
        while search.poll() is None and g.known()[0] < want and time.monotonic() < begun + o.seconds:
            time.sleep(0.1)
        if search.poll() is None:
            search.send_signal(signal.SIGINT)
        search.wait()
        g.batches += 1
        if not g.known()[1]:
            sys.exit(f"{g.file.name}: no kernel could be run")
        have = [g.known() for g in groups]
        if all(seconds for _, seconds, _ in have):
            row = [sum(kernels for _, _, kernels in have), f"{1e3 * sum(g.times * h[1] for g, h in zip(groups, have)):.4f}"]
            if row != last:
                yield [strategy, f"{time.monotonic() - begun:.1f}", *row]
            last = row


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow", type=pathlib.Path), p.add_argument("out", type=pathlib.Path)
    p.add_argument("--arch", default=ROOT / "arch-specs/host-template.yaml"), p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--workload", default=ROOT / "workloads/training/mi-lstm.yaml"), p.add_argument("--by", default="W,U,AL,BU,BW,BI")
    p.add_argument("--strategy", default="sa-q,random,model")
    o = p.parse_args()
    o.tileflow = o.tileflow.resolve()
    with tempfile.TemporaryDirectory() as name, open(o.out, "w", encoding="utf-8", newline="") as f:
        folder = pathlib.Path(name)
        run(o.tileflow, "grad", o.workload, "--of", "L", "--by", o.by, "--step", "sgd", "-o", folder / "step.yaml")
        run(o.tileflow, "plan", o.arch, folder / "step.yaml", "--target", "cpu", "--threads", 1, "--max-ops", 5, "--evals", 1000, "-o", folder / "plan.yaml", "--json", folder / "plan.json", "--quiet")
        planned = json.loads((folder / "plan.json").read_text(encoding="utf-8"))["groups"]
        like, text = [g["like"] for g in planned], (folder / "step.yaml").read_text(encoding="utf-8")
        groups = [Group(folder, text, planned[k]["ops"], like.count(k)) for k in sorted(set(like))]
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["strategy", "seconds", "kernels", "ms", "date"])
        for strategy in o.strategy.split(","):
            for row in tuned(o, strategy, folder, groups):
                table.writerow([*row, time.strftime("%Y-%m-%d %H:%M", time.gmtime())])
                f.flush()
            print(f"{strategy}: done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
