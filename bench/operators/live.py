#!/usr/bin/env python3
"""The three ways of the thesis (4.6.3, figure 4.6) in which a kernel is searched for and run, for real: a program calls the kernel of `emit --live` all
the time, `tune --serve` gives it faster ones.

    bench/operators/live.py TILEFLOW OUT.csv [--seconds N] [--trials N] [--isa NAME] CASE...

    static        the search for half of the time, then the program
    turns         the search and the program in turns, of two seconds each: the other one is stopped
    overlapped    both at once

Each has so many seconds (60) in all.  The program runs on the first core that there is and begins with a kernel for --isa (sse2, which any x86-64
has).  A row of OUT.csv: case, mode, seconds until the first call; us of a call with the slowest and the fastest version (processor time: medians of
half seconds); seconds until the first half second with a version within 5 % of the fastest that this mode called; calls, versions; the longest call
of half seconds before a new version and of others (by the clock: medians, us).
"""
import argparse
import csv
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from common import HERE, ROOT, cases, what_of

MODES, TURN = ["static", "turns", "overlapped"], 2.0


def below(pid):
    """The process and all that it started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        children = f.read().split()
    return [pid] + [p for c in children for p in below(int(c))]


def signal_all(process, what):
    for _ in range(3):  # what is started meanwhile, too
        try:
            for pid in below(process.pid):
                os.kill(pid, what)
        except (OSError, ValueError):
            pass


def take_turns(search, program, end):
    """The program begins stopped."""
    turn = 0
    while time.monotonic() < end and search.poll() is None:
        signal_all(program, signal.SIGSTOP if turn % 2 == 0 else signal.SIGCONT)
        signal_all(search, signal.SIGCONT if turn % 2 == 0 else signal.SIGSTOP)
        time.sleep(max(0.0, min(TURN, end - time.monotonic())))
        turn += 1
    signal_all(program, signal.SIGCONT)
    signal_all(search, signal.SIGCONT)


def run(o, mode, what, folder):
    """Rows of the program, seconds counted from the beginning of the mode."""
    (folder / "next.so").unlink(missing_ok=True)
    begin = time.monotonic()
    search = subprocess.Popen([str(a) for a in [o.tileflow, "tune", *what, "--trials", o.trials, "--serve", folder, "--threads", 1]], cwd=ROOT, stdout=subprocess.DEVNULL)
    if mode == "static":
        try:
            search.wait(o.seconds / 2)
        except subprocess.TimeoutExpired:
            search.kill()
    late = time.monotonic() - begin
    left = o.seconds - late
    rows = []
    if left > 1:
        program = subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))), folder / "program", folder, f"{left:.3f}"], stdout=subprocess.PIPE, text=True)
        if mode == "turns":
            take_turns(search, program, begin + o.seconds)
        for line in program.stdout:
            at, version, calls, worked, longest = line.split(",")
            rows.append((float(at) + late, int(version), int(calls), float(worked), float(longest)))
        program.wait()
    if search.poll() is None:
        search.kill()
    search.wait()
    return rows


def figures(rows):
    """us of a call by version; when its first row ended."""
    each, first = {}, {}
    for at, version, calls, worked, _ in rows:
        each.setdefault(version, []).append(1e6 * worked / calls)
        first.setdefault(version, at)
    return {v: statistics.median(x) for v, x in each.items()}, first


def longest_of(rows):
    """us of the longest call, by the clock, of rows in which a version was taken over (those before a new one), and of others: medians."""
    swaps = [a[4] for a, b in zip(rows, rows[1:]) if a[1] != b[1]]
    others = [a[4] for a, b in zip(rows, rows[1:]) if a[1] == b[1]]
    return [f"{1e6 * statistics.median(x):.0f}" if x else "" for x in (swaps, others)]


def measured(o, case):
    for kind, name, params in cases():
        if name == case:
            what = what_of(o.arch, kind, params)
            break
    else:
        sys.exit(f"no case {case} in workloads/operators/cases.csv")
    of = {}
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp) / "kernel"
        subprocess.run([str(a) for a in [o.tileflow, "emit", *what, "--isa", o.isa, "--live", "--no-test", "--quiet", "-o", folder]], check=True, cwd=ROOT)
        subprocess.run(["make", "-s", "-C", folder, "-f", "live.mk", "OPENMP="], check=True)
        subprocess.run(["cc", "-std=gnu17", "-O2", f"-I{folder}", "-o", folder / "program", HERE / "live.c", folder / "liblive.a", "-lm", "-ldl", "-pthread"], check=True)
        for mode in MODES:
            of[mode] = run(o, mode, what, folder)
    for mode in MODES:
        each, first = figures(of[mode])
        near = [first[v] for v in each if each[v] <= min(each.values()) / 0.95]
        calls = sum(r[2] for r in of[mode])
        us = [f"{f(each.values()):.4g}" if each else "" for f in (max, min)]
        yield [case, mode, f"{of[mode][0][0]:.1f}" if each else "", *us, f"{min(near):.1f}" if near else "", calls, max(each, default=0), *longest_of(of[mode])]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow", type=pathlib.Path), p.add_argument("out", type=pathlib.Path), p.add_argument("cases", nargs="+")
    p.add_argument("--seconds", type=float, default=60), p.add_argument("--trials", type=int, default=64), p.add_argument("--isa", default="sse2")
    p.add_argument("--arch", default="arch-specs/host-template.yaml")
    o = p.parse_args()
    o.tileflow = o.tileflow.resolve()
    with open(o.out, "w", encoding="utf-8", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["case", "mode", "begin_s", "slowest_us", "fastest_us", "near_s", "calls", "versions", "swap_us", "other_us"])
        for case in o.cases:
            for row in measured(o, case):
                table.writerow(row)
                f.flush()
                print(*row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
