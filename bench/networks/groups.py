#!/usr/bin/env python3
"""Which groups of an emitted network take the time (groups.py FOLDER [--calls N] [--threads N], after run.py: FOLDER has plan.json, code/libnetwork.so and weights.bin).

A line a kernel: milliseconds (of processor time; of several threads by the clock) in the network (each of its groups timed where it runs, the median of N calls of the whole, 40 unless
said, added up), alone (called again and again for 20 ms and more with its data in cache, the least of five, times its groups), what the plan predicts,
in the network over that, how many groups it is, their ops.  The last line has the sums.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import time

THREADS = int(dict(zip(sys.argv, sys.argv[1:])).get("--threads", 1))
os.environ["OMP_NUM_THREADS"] = str(THREADS)  # read as libraries are loaded
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))

LONG = 0.02  # seconds that a measurement takes at least
now = time.process_time if THREADS == 1 else time.perf_counter
CLOCK = """
#include <time.h>
double network_spent[%d];
static double spent_at(void) { struct timespec t; clock_gettime(%s, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
#define SPENT(n, call) do { const double begun = spent_at(); call; network_spent[n] = spent_at() - begun; } while (0)
"""


def arguments(header):
    """The struct of a kernel's arguments, filled with random arrays, and these arrays.  Of 16 bits: bfloat16."""
    fields, arrays = [], {}
    for line in re.search(r"typedef struct \{(.*?)\} \w+_args;", header, re.S)[1].splitlines():
        if m := re.match(r"\s*(?:const )?(float|u?int(?:8|16|32)_t) \*(\w+); /\* ([\dx ]+)", line):
            fields.append((m[2], ctypes.c_void_p))
            made = np.random.default_rng(1).random([int(x) for x in m[3].split("x")], np.float32)
            wide = np.dtype("float32" if m[1] == "float" else m[1].removesuffix("_t"))
            arrays[m[2]] = (made.view(np.uint32) >> 16).astype(wide) if wide == np.uint16 else (made * (1 if m[1] == "float" else 100)).astype(wide)
        elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
            fields.append((m[1], ctypes.c_int64 * int(m[2])))
        elif "*packed" in line:
            fields.append(("packed", ctypes.c_void_p))
    args = type("Args", (ctypes.Structure,), {"_fields_": fields})()
    for name, a in arrays.items():
        setattr(args, name, a.ctypes.data)
        for r in range(a.ndim - 1):
            getattr(args, name + "_stride")[r] = a.strides[r] // a.itemsize
    return args, arrays


def room(lib, name):
    """Zeros as long as the function says, and where in them a cache line begins."""
    f = getattr(lib, name)
    f.restype = ctypes.c_size_t
    n = f()
    zeros = np.zeros(n + 64, np.uint8)
    return zeros, (zeros.ctypes.data + 63) // 64 * 64, n


def time_alone(lib, name, header):
    """Seconds of a call."""
    args, arrays = arguments(header)
    if hasattr(lib, name + "_packed"):
        panels, at, n = room(lib, name + "_packed")
        getattr(lib, name + "_pack")(ctypes.byref(args), ctypes.c_void_p(at), ctypes.c_size_t(n))
        args.packed = at
    scratch, at, n = room(lib, name + "_workspace")
    call = lambda: getattr(lib, name)(ctypes.byref(args), ctypes.c_void_p(at), ctypes.c_size_t(n))

    def spent(times):
        begun = now()
        for _ in range(times):
            call()
        return now() - begun

    times = 1
    while spent(times) < LONG:
        times *= 2
    return min(spent(times) for _ in range(5)) / times


def times_inside(folder, n, calls):
    """Seconds of each of the n groups where it runs: those of a library like FOLDER's, with a clock around each."""
    import run

    code = folder / "code"
    text = re.sub(r"if \(!status\) (status = run_(\d+)\(.*\));", r"if (!status) SPENT(\2 - 1, \1);", (code / "network.c").read_text())
    (code / "spent.c").write_text(CLOCK % (n, "CLOCK_THREAD_CPUTIME_ID" if THREADS == 1 else "CLOCK_MONOTONIC") + text)
    subprocess.run(["cc", "-O3", "-fPIC", "-fopenmp", "-shared", "-o", "libspent.so", "spent.c", "-Wl,--whole-archive", "-l:libnetwork.a", "-Wl,--no-whole-archive", "-L.", "-lm",
                    "-Wl,--allow-multiple-definition"], cwd=code, check=True)
    lib = run.Library(code, folder / "weights.bin", "libspent.so")
    for name in lib.missing():
        if name not in lib.out:
            lib.set(name, np.random.default_rng(1).random(lib.shape[name], np.float32))
    lib.ready()
    spent, seen = (ctypes.c_double * n).in_dll(lib.lib, "network_spent"), []
    for _ in range(calls + 1):
        lib.run()
        seen.append(list(spent))
    return np.median(np.array(seen[1:]), axis=0)


def line(inside, alone, said, what):
    print(f"{inside:8.3f} ms  {alone:8.3f}  {said:8.3f}  {inside / said if said else 0:5.2f}  {what}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path), p.add_argument("--calls", type=int, default=40), p.add_argument("--threads", type=int, default=1)
    o = p.parse_args()
    code, plan = o.folder / "code", json.load(open(o.folder / "plan.json"))["groups"]
    inside = times_inside(o.folder, len(plan), o.calls)
    calls = re.findall(r"/\* (\d+): (.*?) \*/\nstatic int run_\d+.*?return (network_g\d+)\(", (code / "network.c").read_text(), re.S)
    lib, rows = ctypes.CDLL(str(code / "libnetwork.so")), []
    for name in sorted({kernel for _, _, kernel in calls}):
        mine = [(int(i) - 1, ops) for i, ops, kernel in calls if kernel == name]
        alone = time_alone(lib, name, (code / f"{name[8:]}.h").read_text())
        said = sum(plan[i].get("kernel_seconds", plan[i]["seconds"]) for i, _ in mine)
        rows.append((1e3 * sum(inside[i] for i, _ in mine), 1e3 * alone * len(mine), 1e3 * said, f"{len(mine):3d} x {name}: {mine[0][1][:100]}"))
    for row in sorted(rows, reverse=True):
        line(*row)
    line(*(sum(row[i] for row in rows) for i in range(3)), "all")


main()
