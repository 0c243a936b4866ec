#!/usr/bin/env python3
"""What one run of a network holds at most: the peak of the resident memory of a process that loads it and calls it three times, less
what the process held before (peak.py tileflow|ort|openvino FOLDER [THREADS], after run.py; bytes on stdout).

run.py calls it, a process for each; FOLDER has model.onnx and feeds.npz, and for ours code/libnetwork.so, weights.bin and given.npz.
"""
import os
import pathlib
import re
import sys

import numpy as np


def memory(key):
    with open("/proc/self/status") as f:
        return int(re.search(rf"^{key}:\s+(\d+) kB$", f.read(), re.M)[1]) * 1024


def main():
    kind, folder, threads = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import peers
    import run
    if kind == "openvino":
        import openvino  # noqa: F401
    feeds = dict(np.load(folder / ("given.npz" if kind == "tileflow" else "feeds.npz")))
    before = memory("VmRSS")
    if kind == "tileflow":
        lib = run.Library(folder / "code", folder / "weights.bin")
        for name in lib.missing():
            if name not in lib.out:
                lib.set(name, feeds[name])
        lib.ready()
        call = lib.run
    elif kind == "ort":
        s = run.session(str(folder / "model.onnx"), threads)
        call = lambda: s.run(None, feeds)
    else:
        call = peers.openvino_call(str(folder / "model.onnx"), feeds, threads)
    for _ in range(3):
        call()
    print(memory("VmHWM") - before)


main()
