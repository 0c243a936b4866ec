#!/usr/bin/env python3
"""Emitted kernels beside PyTorch, in one process, one thread: CSV rows as bench/kernels/run.sh prints them.

usage: torch_peer.py f32|bf16 CASES     a case a line: name library softmax|chain batch M N K L

PyTorch: its fused attention, the same as products and softmax (eager), and that through torch.compile; a chain as products, eager and compiled.
Everyone's result is compared with a float64 evaluation first.  Contestants take turns in each of 21 rounds; processor time of the thread.
"""
import ctypes
import logging
import math
import statistics
import sys
import time
import warnings

ROUNDS, TURN = 21, 3e-3
KIND = {"f32": 0, "bf16": 1}
LIMIT = {"f32": 1e-5, "bf16": 1e-2}


class Ours:
    """The emitted kernel of one case, on tensors."""

    def __init__(self, path, inputs, out):
        self.library = ctypes.CDLL(path)
        self.library.shim_workspace.restype = ctypes.c_int64
        self.library.shim_peak.restype = ctypes.c_double
        self.library.shim_run.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self.tensors = [*inputs, out]
        self.library.shim_bind((ctypes.c_void_p * 4)(*[t.data_ptr() for t in self.tensors]))
        self.bytes = self.library.shim_workspace()
        self.workspace = ctypes.create_string_buffer(max(self.bytes, 1))

    def __call__(self):
        if self.library.shim_run(self.workspace, self.bytes, 1):
            raise RuntimeError("the kernel refuses to run")
        return self.tensors[-1]

    def ideal(self, kind, flop):
        """Seconds where nothing but registers limits it; None where that is not known."""
        began = time.thread_time()
        done = self.library.shim_peak(kind)
        return flop * (time.thread_time() - began) / done if done else None


def drawn(torch, shape, dtype):
    n = math.prod(shape)
    values = (torch.arange(n, dtype=torch.int64) * 37 % 101 - 50).to(torch.float32) / 256
    return values.reshape(shape).to(dtype).contiguous()


def ways(torch, softmax):
    """Names and functions of three inputs."""
    functional = torch.nn.functional
    if not softmax:
        products = lambda a, b, d: torch.bmm(torch.bmm(a, b), d)
        return [("torch", products), ("torch compiled", torch.compile(products, dynamic=False))]
    apart = lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2), -1) @ v
    fused = lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, scale=1.0)
    return [("torch fused attention", fused), ("torch", apart), ("torch compiled", torch.compile(apart, dynamic=False))]


def wanted(torch, inputs, softmax):
    a, b, d = (t.double() for t in inputs)
    return torch.softmax(a @ b.transpose(-1, -2), -1) @ d if softmax else a @ b @ d


def right(name, who, got, want, limit):
    off = ((got.double().reshape(want.shape) - want).norm() / want.norm()).item()
    if not off < limit:
        print(f"{name}: {who} is wrong by {off:g}", file=sys.stderr)
    return off < limit


def time_of(run, calls):
    began = time.thread_time()
    for _ in range(calls):
        run()
    return (time.thread_time() - began) / calls


def rounds(name, dtype, contestants, ours, flop):
    calls = []
    for _, run in contestants:
        time_of(run, 2)
        calls.append(max(1, math.ceil(TURN / time_of(run, 2))))
    took = [[] for _ in contestants]
    least = []
    for r in range(ROUNDS):
        least.append(ours.ideal(KIND[dtype], flop))
        for i in range(len(contestants)):
            k = (i + r) % len(contestants)
            took[k].append(time_of(contestants[k][1], calls[k]))
    for (who, _), seconds in zip(contestants, took):
        middle = statistics.median(seconds)
        share = statistics.median(p / s for p, s in zip(least, seconds)) if least[0] else 0
        slower = statistics.median(s / o for s, o in zip(seconds, took[0]))
        print(f"{name},{who},{middle:.6g},{flop / middle / 1e9:.4g},{share:.3f},{slower:.3f},tileflow", flush=True)


def case(torch, dtype, line):
    name, library, kind, *sizes = line.split()
    batch, m, n, k, l = map(int, sizes)
    softmax = kind == "softmax"
    torch_type = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    lead = (1, batch) if softmax else (batch,)
    inputs = [drawn(torch, (*lead, *s), torch_type) for s in ((m, k), (l, k) if softmax else (k, l), (l, n))]
    ours = Ours(library, inputs, torch.zeros((*lead, m, n), dtype=torch_type))
    torch._dynamo.reset()  # else it counts all cases as one function
    contestants = [("tileflow", ours)]
    for who, function in ways(torch, softmax):
        contestants.append((who, lambda f=function: f(*inputs)))
    want = wanted(torch, inputs, softmax)
    if not all([right(name, who, run(), want, LIMIT[dtype]) for who, run in contestants]):
        return False
    rounds(name, dtype, contestants, ours, 2.0 * batch * m * l * (k + n))
    return True


def main():
    dtype, cases = sys.argv[1:]
    warnings.filterwarnings("ignore")
    import torch
    import torch._dynamo

    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    with torch.inference_mode(), open(cases, encoding="ascii") as lines:
        return 0 if all([case(torch, dtype, line) for line in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
