"""What the benches beside PyTorch share: an emitted kernel on tensors, results compared, contestants in turns; CSV rows as bench/kernels/run.sh.

THREADS threads (1): of one, the processor time of the thread; of several, what passes.
"""
import ctypes
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

TURN = 3e-3
KIND = {"f32": 0, "bf16": 1}
THREADS = int(os.environ.get("THREADS", "1"))
now = time.thread_time if THREADS == 1 else time.perf_counter


def library(folder):
    """The emitted kernel in the folder as a shared library beside its sources; and its arguments' fields, in the order of kernel.h."""
    folder, here = pathlib.Path(folder), pathlib.Path(__file__).parent
    header = (folder / "kernel.h").read_text(encoding="utf-8")
    fields = re.findall(r"^  (?:const )?\w+ \*(\w+); /\* \d", header, re.M)
    (folder / "bind.h").write_text("".join(f"BIND({name})\n" for name in fields), encoding="ascii")
    flags = re.search(r"^ALL = (.*)\$\(ANY\)$", (folder / "Makefile").read_text(encoding="utf-8"), re.M)[1].split()
    packed = ["-DPACKED"] if re.search(r"^int kernel_pack\(", header, re.M) else []
    made = subprocess.run(["gcc", "-std=gnu17", "-O3", *flags, "-fopenmp-simd", *packed, "-shared", "-fPIC", f"-I{folder}", f"-I{here}",
                           here / "torch_shim.c", folder / "kernel.c", "-o", folder / "kernel.so", "-lm"],
                          check=False, capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(f"compile: {made.stderr[:400]}")
    return str(folder / "kernel.so"), fields


class Ours:
    """The emitted kernel of one case, on tensors in the order of kernel.h; `packed`: with its weights packed once, here."""

    def __init__(self, path, tensors, packed=False):
        self.library = ctypes.CDLL(path)
        for name in ("workspace", "packed"):
            getattr(self.library, "shim_" + name).restype = ctypes.c_int64
        self.library.shim_peak.restype = ctypes.c_double
        self.library.shim_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        self.tensors = tensors
        self.at = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])
        self.bytes = self.library.shim_workspace()
        self.workspace = ctypes.create_string_buffer(max(self.bytes, 1))
        self.room = None
        if packed:
            self.room = ctypes.create_string_buffer(self.library.shim_packed())
            self.refused(self.library.shim_pack(self.at, self.room))

    @staticmethod
    def refused(status):
        if status:
            raise RuntimeError(f"the kernel refuses to run: {status} (kernel.h says why)")

    def packs(self):
        return self.library.shim_packed() > 0

    def __call__(self):
        self.refused(self.library.shim_run(self.at, self.room, self.workspace, self.bytes))
        return self.tensors[-1]

    def ideal(self, kind, flop):
        """Seconds where nothing but registers limits it; None where that is not known."""
        began = time.thread_time()
        done = self.library.shim_peak(kind)
        return flop * (time.thread_time() - began) / done / THREADS if done else None


def right(name, who, got, want, limit):
    off = ((got.double().reshape(want.shape) - want).norm() / want.norm()).item()
    if not off < limit:
        print(f"{name}: {who} is wrong by {off:g}", file=sys.stderr)
    return off < limit


def time_of(run, calls):
    began = now()
    for _ in range(calls):
        run()
    return (now() - began) / calls


def turns(functions, how_many, between=lambda: None):
    """Seconds of a call, [function][round]: each function in its turn, as often as fills a turn; `between` begins each round."""
    calls = []
    for run in functions:
        time_of(run, 2)
        calls.append(max(1, math.ceil(TURN / time_of(run, 2))))
    took = [[] for _ in functions]
    for r in range(how_many):
        between()
        for i in range(len(functions)):
            k = (i + r) % len(functions)
            took[k].append(time_of(functions[k], calls[k]))
    return took


def rounds(name, dtype, contestants, ours, flop, how_many):
    """Contestants: name, function, and the place of the one whose time its own is divided by."""
    least = []
    took = turns([run for _, run, _ in contestants], how_many, lambda: least.append(ours.ideal(KIND[dtype], flop)))
    for (who, _, beside), seconds in zip(contestants, took):
        middle = statistics.median(seconds)
        share = statistics.median(p / s for p, s in zip(least, seconds)) if least[0] else 0
        slower = statistics.median(s / o for s, o in zip(seconds, took[beside]))
        print(f"{name},{who},{middle:.6g},{flop / middle / 1e9:.4g},{share:.3f},{slower:.3f},{contestants[beside][0]}", flush=True)
