#!/usr/bin/env python3
"""Emitted kernels beside PyTorch, in one process, one thread: CSV rows as bench/kernels/run.sh prints them.

usage: torch_peer.py f32|bf16 CASES     a case a line: name library softmax|chain batch M N K L

PyTorch: its fused attention, the same as products and softmax (eager), and that through torch.compile; a chain as products, eager and compiled.
Everyone's result is compared with a float64 evaluation first.  Contestants take turns in each of 21 rounds; processor time of the thread.
"""
import logging
import math
import sys
import warnings

from peer import Ours, right, rounds

ROUNDS = 21
LIMIT = {"f32": 1e-5, "bf16": 1e-2}


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


def case(torch, dtype, line):
    name, library, kind, *sizes = line.split()
    batch, m, n, k, l = map(int, sizes)
    softmax = kind == "softmax"
    torch_type = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    lead = (1, batch) if softmax else (batch,)
    inputs = [drawn(torch, (*lead, *s), torch_type) for s in ((m, k), (l, k) if softmax else (k, l), (l, n))]
    ours = Ours(library, [*inputs, torch.zeros((*lead, m, n), dtype=torch_type)])
    torch._dynamo.reset()  # else it counts all cases as one function
    contestants = [("tileflow", ours, 0)]
    for who, function in ways(torch, softmax):
        contestants.append((who, lambda f=function: f(*inputs), 0))
    want = wanted(torch, inputs, softmax)
    if not all([right(name, who, run(), want, LIMIT[dtype]) for who, run, _ in contestants]):
        return False
    rounds(name, dtype, contestants, ours, 2.0 * batch * m * l * (k + n), ROUNDS)
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
