#!/usr/bin/env python3
"""Which kernels of an emitted network take the time: each called alone on random data (groups.py CODE [PLAN.json], with libnetwork.so in CODE).

Milliseconds of processor time (the least of four calls, times the groups that are that kernel), with the plan's JSON what it predicts and
measured over predicted, how many these are, the ops.  The last line has the sums.
"""
import ctypes
import glob
import json
import os
import re
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np


def arguments(header):
    """The struct of a kernel's arguments, filled with random arrays, and these arrays."""
    fields, arrays = [], {}
    for line in re.search(r"typedef struct \{(.*?)\} \w+_args;", header, re.S)[1].splitlines():
        if m := re.match(r"\s*(const )?float \*(\w+); /\* ([\dx ]+)", line):
            fields.append((m[2], ctypes.c_void_p))
            arrays[m[2]] = np.random.default_rng(1).random([int(x) for x in m[3].split("x")], np.float32)
        elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
            fields.append((m[1], ctypes.c_int64 * int(m[2])))
        elif "*packed" in line:
            fields.append(("packed", ctypes.c_void_p))
    args = type("Args", (ctypes.Structure,), {"_fields_": fields})()
    for name, a in arrays.items():
        setattr(args, name, a.ctypes.data)
        for r in range(a.ndim - 1):
            getattr(args, name + "_stride")[r] = a.strides[r] // 4
    return args, arrays


def room(lib, name):
    """Zeros as long as the function says, and where in them a cache line begins."""
    f = getattr(lib, name)
    f.restype = ctypes.c_size_t
    n = f()
    zeros = np.zeros(n + 64, np.uint8)
    return zeros, (zeros.ctypes.data + 63) // 64 * 64, n


def time_of(lib, name, header):
    args, arrays = arguments(header)
    if hasattr(lib, name + "_packed"):
        panels, at, n = room(lib, name + "_packed")
        getattr(lib, name + "_pack")(ctypes.byref(args), ctypes.c_void_p(at), ctypes.c_size_t(n))
        args.packed = at
    scratch, at, n = room(lib, name + "_workspace")
    best = float("inf")
    for _ in range(4):
        begun = time.process_time()
        getattr(lib, name)(ctypes.byref(args), ctypes.c_void_p(at), ctypes.c_size_t(n))
        best = min(best, time.process_time() - begun)
    return best * 1e3


def against(ms, said):
    return f"{said:8.3f} {ms / said:5.2f}  " if said else ""


def main():
    folder, rows = sys.argv[1], []
    plan = json.load(open(sys.argv[2]))["groups"] if len(sys.argv) > 2 else None
    lib, text = ctypes.CDLL(folder + "/libnetwork.so"), open(folder + "/network.c").read()
    calls = re.findall(r"/\* \d+: (.*?) \*/\nstatic int run_\d+.*?return (network_g\d+)\(", text, re.S)
    for path in glob.glob(folder + "/g*.h"):
        if not (k := re.search(r"/g(\d+)\.h$", path)):
            continue
        name = f"network_g{k[1]}"
        alike = [ops for ops, kernel in calls if kernel == name]
        group = plan[int(k[1]) - 1] if plan else {"seconds": 0}
        said = 1e3 * group.get("kernel_seconds", group["seconds"]) * len(alike)
        rows.append((time_of(lib, name, open(path).read()) * len(alike), said, len(alike), name, alike[0]))
    for ms, said, n, name, ops in sorted(rows, reverse=True):
        print(f"{ms:8.3f} ms  {against(ms, said)}{n:3d} x {name}: {ops[:100]}")
    ms, said = (sum(row[i] for row in rows) for i in (0, 1))
    print(f"{ms:8.3f} ms  {against(ms, said)}all")


main()
