#!/usr/bin/env python3
"""Emitted gradients beside PyTorch's: every d_T held against autograd in float64; of the case named `attention`, times as well.

usage: grad_peer.py CASES     a case a line: name kind library manifest.json fields of kernel.h, in its order

A kind is the forward pass in PyTorch's own words, of tensors of the workload's shapes; nothing here knows how tileflow differentiates.
Prints CSV: case,tensor,relative_error, one line a gradient; then, of attention, the rows that bench/kernels/run.sh has.
"""
import json
import math
import os
import sys

import torch

from models_peer import KINDS
from peer import THREADS, Ours, rounds

ROUNDS = int(os.environ.get("ROUNDS", "11"))
LIMIT = 1e-5
F = torch.nn.functional


def conv(rank, stride=1, dilation=1):
    run = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]

    def of(t):
        pad = dilation * (t["W"].shape[-1] // 2)
        return run(t["I"], t["W"], stride=stride, padding=pad, dilation=dilation)

    return of


def transposed(rank, stride):
    """The workload has the classes of each output index apart, y = stride i + f is [i, f]; its output begins where that says."""
    run = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]

    def of(t):
        window = t["W"].shape[-1]
        begin = window // 2 // stride * stride - -window % stride
        y = F.pad(run(t["I"], t["W"], stride=stride), [max(0, -begin), stride] * rank)
        sizes = [stride * n for n in t["I"].shape[2:]]
        for d, n in enumerate(sizes):
            y = y.narrow(2 + d, max(0, begin), n)
        apart = [x for n in sizes for x in (n // stride, stride)]
        return y.reshape(*y.shape[:2], *apart)

    return of


def grouped(stride):
    def of(t):
        groups = t["W"].shape[0]
        y = F.conv2d(t["I"].flatten(1, 2), t["W"].flatten(0, 1), stride=stride, padding=t["W"].shape[-1] // 2, groups=groups)
        return y.unflatten(1, (groups, -1))

    return of


def depthwise(t):
    c, m, *window = t["W"].shape
    return F.conv2d(t["I"], t["W"].reshape(c * m, 1, *window), stride=2, padding=window[0] // 2, groups=c).unflatten(1, (c, m))


def each_its_own(t):
    n, c, *image = t["I"].shape
    y = F.conv2d(t["I"].reshape(1, n * c, *image), t["W"].flatten(0, 1), padding=t["W"].shape[-1] // 2, groups=n)
    return y.reshape(n, -1, *image)


def capsule(t):
    """4 x 4 matrices for numbers: rows of the input's beside the batch, what is summed over beside the channels."""
    images = t["I"].permute(0, 4, 1, 5, 2, 3)
    (n, i), (k, c, r, s, l, j) = images.shape[:2], t["W"].shape
    weights = t["W"].permute(0, 5, 1, 4, 2, 3).reshape(k * j, c * l, r, s)
    y = F.conv2d(images.flatten(2, 3).flatten(0, 1), weights, stride=2, padding=r // 2)
    return y.unflatten(0, (n, i)).unflatten(2, (k, j)).permute(0, 2, 4, 5, 1, 3)


def circulant(t):
    """The mean of each block's diagonals, which wrap."""
    a = t["A"]
    f = a.shape[1]
    i = torch.arange(f)
    diagonal = torch.stack([a[:, i, :, (i + d) % f].mean(0) for d in range(f)], -1)
    return diagonal[:, :, (i[None, :] - i[:, None]) % f].transpose(1, 2)


def shifted(t):
    *_, p, q, _, r, s = t["I"].shape
    x = F.pad(t["I"], [0, 0, 0, 0, 0, 0, s // 2, s // 2, r // 2, r // 2])
    rows = [torch.stack([x[:, u : u + p, v : v + q, :, u, v] for v in range(s)], -1) for u in range(r)]
    return torch.stack(rows, -2)


FORWARD = {
    "gmm": lambda t: t["A"] @ t["B"],
    "gmv": lambda t: t["A"] @ t["B"],
    "bil": lambda t: torch.einsum("nk,mkl,nl->nm", t["A"], t["B"], t["C"]),
    "c1d": conv(1, stride=2),
    "c2d": conv(2),
    "c3d": conv(3),
    "t1d": transposed(1, 2),
    "t2d": transposed(2, 2),
    "t3d": transposed(3, 2),
    "grp": grouped(2),
    "dep": depthwise,
    "dil": conv(2, dilation=2),
    "bcm": circulant,
    "sho": shifted,
    "gfc": lambda t: torch.einsum("ngc,gkc->ngk", t["I"], t["W"]),
    "men": lambda t: t["A"].mean(1),
    "var": lambda t: t["A"].var(1, unbiased=False),
    "scn": lambda t: t["A"].cumsum(1),
    "bcv": each_its_own,
    "cap": capsule,
    "chain": lambda t: F.conv2d(F.relu(F.conv2d(t["I"], t["W1"], stride=2, padding=1)), t["W2"]),
    **{kind: KINDS[kind].want for kind in ("attention", "causal", "gated", "mlp", "norm", "depthwise", "bottleneck")},
}


def gradients(kind, t, names):
    """By PyTorch, in float64."""
    given = {n: v.double().requires_grad_() for n, v in t.items() if not n.startswith("d_")}
    for n in names:  # what its own gradient need not know
        given.setdefault(n.removeprefix("d_"), torch.zeros_like(t[n]).double().requires_grad_())
    out = FORWARD[kind](given)
    seed = next(v for n, v in t.items() if n.startswith("d_") and n not in names)
    out.backward(seed.double().reshape(out.shape))
    return {n: given[n.removeprefix("d_")].grad for n in names}


def times(name, t, ours):
    """Our kernel makes what it needs of the forward pass anew; PyTorch's backward has it from the forward pass."""
    q, k, v = (t[n].clone().requires_grad_() for n in "QKV")
    seed = t["d_O"]

    def forward():
        return F.scaled_dot_product_attention(q, k, v, scale=1.0)

    out = forward()

    def backward(of=None):
        return torch.autograd.grad(out if of is None else of, (q, k, v), seed, retain_graph=True)

    flop = 10.0 * math.prod(t["Q"].shape) * t["K"].shape[-2]
    rounds(name, "f32", [("tileflow", ours, 0), ("torch fused backward", backward, 0),
                         ("torch fused forward and backward", lambda: backward(forward()), 0)], ours, flop, ROUNDS)


def case(line):
    name, kind, library, manifest, *fields = line.split()
    torch.manual_seed(1)
    with open(manifest, encoding="utf-8") as f:
        tensors = {x["name"]: x for x in json.load(f)["tensors"]}
    names = [field if field in tensors else field.removeprefix("tensor_") for field in fields]
    t = {n: torch.randn(*tensors[n]["shape"]) for n in names}
    if kind == "attention":
        t["K"] /= math.sqrt(t["K"].shape[-1])
    made = [n for n in names if tensors[n]["role"] == "output"]
    ours = Ours(library, [t[n] for n in names])
    ours()
    good = True
    for n, want in gradients(kind, t, made).items():
        off = ((t[n].double().reshape(want.shape) - want).norm() / want.norm()).item()
        print(f"{name},{n},{off:.3g}", flush=True)
        good = good and off < LIMIT
    if name == "attention":
        times(name, t, ours)
    return good


def main():
    torch.set_num_threads(THREADS)
    with open(sys.argv[1], encoding="ascii") as lines:
        return 0 if all([case(line) for line in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
