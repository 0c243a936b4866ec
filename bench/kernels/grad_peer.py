#!/usr/bin/env python3
"""Emitted gradients beside PyTorch's: every d_T held against autograd in float64; of those named `attention...`, times as well.

usage: grad_peer.py CASES     a case a line: name kind library manifest.json fields of kernel.h, in its order

A kind is the forward pass in PyTorch's own words, of tensors of the workload's shapes; nothing here knows how tileflow differentiates.
Prints CSV: case,tensor,relative_error, one line a gradient; then, of attentions, the rows that bench/kernels/run.sh has.
"""
import json
import math
import os
import sys

import torch

import operators
from models_peer import KINDS, attention, gone
from peer import THREADS, Ours, rounds

ROUNDS = int(os.environ.get("ROUNDS", "11"))
LIMIT = 1e-5
F = torch.nn.functional
MASKED = 0.08838834764831845  # workloads/models/attention-mask.yaml
# How PyTorch's own function is told of each kind of attention.
FUSED = {"attention": lambda t: {"scale": 1.0}, "causal": lambda t: {"is_causal": True}, "mask": lambda t: {"attn_mask": t["Mask"], "scale": MASKED}}


# Strides and dilations of the cases named `small` in workloads/operators/cases.csv.
SMALL = {**{kind: {"st": 2} for kind in ("c1d", "t1d-strided", "t2d-strided", "t3d-strided", "grp", "dep", "cap")}, "dil": {"dil": 2}}
PLAIN = ("gmm", "gmv", "bil", "c2d", "c3d", "t1d", "t2d", "t3d", "bcm", "sho", "gfc", "men", "var", "scn", "bcv")
FORWARD = {
    **{kind: operators.forward(kind, SMALL.get(kind, {})) for kind in (*SMALL, *PLAIN)},
    "mask": lambda t: attention(t, MASKED, t["Mask"]),
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


def times(name, kind, t, ours):
    """Our kernel makes what it needs of the forward pass anew; PyTorch's backward has it from the forward pass."""
    q, k, v = (t[n].clone().requires_grad_() for n in "QKV")
    seed, how = t["d_O"], FUSED[kind](t)

    def forward():
        return F.scaled_dot_product_attention(q, k, v, **how)

    out = forward()

    def backward(of=None):
        return torch.autograd.grad(out if of is None else of, (q, k, v), seed, retain_graph=True)

    flop = 10.0 * math.prod(t["Q"].shape) * t["K"].shape[-2] / (2 if kind == "causal" else 1)
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
    if kind == "mask":  # what is added to scores that count, and those that do not
        t["Mask"].masked_fill_(gone(t), -math.inf)
    made = [n for n in names if tensors[n]["role"] == "output"]
    ours = Ours(library, [t[n] for n in names])
    ours()
    good = True
    for n, want in gradients(kind, t, made).items():
        off = ((t[n].double().reshape(want.shape) - want).norm() / want.norm()).item()
        print(f"{name},{n},{off:.3g}", flush=True)
        good = good and off < LIMIT
    if name.startswith("attention"):
        times(name, kind, t, ours)
    return good


def main():
    torch.set_num_threads(THREADS)
    with open(sys.argv[1], encoding="ascii") as lines:
        return 0 if all([case(line) for line in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
