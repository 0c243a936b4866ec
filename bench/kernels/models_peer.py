#!/usr/bin/env python3
"""Emitted kernels of the shapes of current models beside PyTorch, in one process: CSV rows as bench/kernels/run.sh prints them.

usage: models_peer.py f32|bf16 CASES     a case a line: name kind library manifest.json fields of kernel.h, in its order

PyTorch takes part with each way that it has of a case: eager, its fused functions, channels_last, and those through torch.compile (also
frozen, which lays weights out beforehand).  Everyone's result is compared with a float64 evaluation of the same inputs first.
"""
import json
import logging
import math
import os
import sys
import warnings

import torch
import torch._dynamo
import torch._inductor.config

from peer import THREADS, Ours, right, rounds

ROUNDS = int(os.environ.get("ROUNDS", "11"))
LIMIT = {"f32": 1e-5, "bf16": 1e-2}
F = torch.nn.functional


def gone(t):
    """What may not be looked at: keys behind the query."""
    return torch.ones(t["Q"].shape[-2], t["K"].shape[-2], dtype=torch.bool).tril().logical_not()


def attention(t, scale=1.0, mask=None):
    scores = t["Q"] @ t["K"].transpose(-1, -2) * scale
    return torch.softmax(scores if mask is None else scores + mask.to(scores.dtype), -1) @ t["V"]


def fused(t, **how):
    return F.scaled_dot_product_attention(t["Q"], t["K"], t["V"], **how)


def over_heads(t):
    """(m, n, k) of both products together."""
    *batch, m, a = t["Q"].shape
    return 2.0 * math.prod(batch) * m * t["K"].shape[-2] * (a + t["V"].shape[-1])


class Attention:
    """A kind of case: flop(tensors) of its products, want(tensors), ways of PyTorch's by name; weights: tensors that stay the same from
    call to call; more(tensors): the same once more as a way wants them; draw(tensors): what is not drawn at random."""

    flop = staticmethod(over_heads)
    want = staticmethod(attention)
    ways = {"torch fused attention": lambda t: fused(t, scale=1.0), "torch": attention}


class Causal(Attention):
    """With a tensor Mask, if the workload has one; else the kernel knows by itself."""

    @staticmethod
    def flop(t):  # of the half that is looked at
        return over_heads(t) / 2

    @staticmethod
    def want(t):
        masked = torch.zeros(gone(t).shape, dtype=t["Q"].dtype).masked_fill(gone(t), -math.inf)
        return attention(t, 1 / math.sqrt(t["Q"].shape[-1]), masked)

    ways = {"torch is_causal": lambda t: fused(t, is_causal=True), "torch": want}

    @staticmethod
    def draw(t):
        if "Mask" in t:
            t["Mask"].zero_().masked_fill_(gone(t), -math.inf)


class CausalMask(Causal):
    ways = {"torch attn_mask": lambda t: fused(t, attn_mask=t["Mask"]), **Causal.ways}


class Gated:
    weights = ("W1", "W2", "W3")

    @staticmethod
    def flop(t):
        return 6.0 * t["X"].shape[0] * t["W1"].numel()

    @staticmethod
    def want(t):
        return (F.silu(t["X"] @ t["W1"]) * (t["X"] @ t["W3"])) @ t["W2"]

    @staticmethod
    def one_product(t):
        gate, up = (t["X"] @ t["both"]).chunk(2, -1)
        return (F.silu(gate) * up) @ t["W2"]

    @staticmethod
    def linear(t):
        return F.linear(F.silu(F.linear(t["X"], t["W1T"])) * F.linear(t["X"], t["W3T"]), t["W2T"])

    @staticmethod
    def more(t):
        return {"both": torch.cat([t["W1"], t["W3"]], 1), **{n + "T": t[n].t().contiguous() for n in ("W1", "W2", "W3")}}

    ways = {"torch": want, "torch one product": one_product, "torch linear": linear}


class Mlp:
    weights = ("W1", "W2", "B1", "B2")

    @staticmethod
    def flop(t):
        return 4.0 * t["X"].shape[0] * t["W1"].numel()

    @staticmethod
    def want(t):
        return F.gelu(t["X"] @ t["W1"] + t["B1"]) @ t["W2"] + t["B2"]

    @staticmethod
    def linear(t):
        return F.linear(F.gelu(F.linear(t["X"], t["W1T"], t["B1"])), t["W2T"], t["B2"])

    @staticmethod
    def more(t):
        return {n + "T": t[n].t().contiguous() for n in ("W1", "W2")}

    ways = {"torch": want, "torch linear": linear}


class Norm:
    weights = ("W", "Gamma", "Beta")

    @staticmethod
    def flop(t):
        return 2.0 * t["X"].shape[0] * t["W"].numel()

    @staticmethod
    def want(t):
        return F.layer_norm(t["X"], t["X"].shape[1:], t["Gamma"], t["Beta"], 1e-5) @ t["W"]

    @staticmethod
    def linear(t):
        return F.linear(F.layer_norm(t["X"], t["X"].shape[1:], t["Gamma"], t["Beta"], 1e-5), t["WT"])

    @staticmethod
    def more(t):
        return {"WT": t["W"].t().contiguous()}

    ways = {"torch": want, "torch linear": linear}


class Depthwise:
    weights = ("F", "G")

    @staticmethod
    def flop(t):
        return 2.0 * t["Y"].shape[-1] * t["Y"].shape[-2] * t["Y"].shape[0] * (t["F"].numel() + t["G"].numel())

    @staticmethod
    def of(t, x):
        return F.relu(F.conv2d(F.relu(F.conv2d(t[x], t["F"].unsqueeze(1), padding=1, groups=t["F"].shape[0])), t["G"][:, :, None, None]))

    @classmethod
    def want(cls, t):
        return cls.of(t, "I")

    @staticmethod
    def more(t):
        return {"IC": t["I"].contiguous(memory_format=torch.channels_last)}

    ways = {"torch": lambda t: Depthwise.of(t, "I"), "torch channels_last": lambda t: Depthwise.of(t, "IC")}


class Bottleneck:
    weights = ("W1", "W2", "W3")

    @staticmethod
    def flop(t):
        n, _, p, q = t["Y"].shape
        return 2.0 * n * p * q * sum(t[w].numel() for w in ("W1", "W2", "W3"))

    @staticmethod
    def of(t, x):
        a = F.relu(F.conv2d(t[x], t["W1"][:, :, None, None]))
        b = F.relu(F.conv2d(a, t["W2"], padding=1))
        return F.relu(F.conv2d(b, t["W3"][:, :, None, None]) + t[x])

    @classmethod
    def want(cls, t):
        return cls.of(t, "I")

    more = Depthwise.more
    ways = {"torch": lambda t: Bottleneck.of(t, "I"), "torch channels_last": lambda t: Bottleneck.of(t, "IC")}


KINDS = {"attention": Attention, "causal": Causal, "gated": Gated, "mlp": Mlp, "norm": Norm, "depthwise": Depthwise, "bottleneck": Bottleneck}


def drawn(name, shape, weights, torch_type):
    """Normal numbers; weights so small that a product of them has the deviation of what it multiplies."""
    deviation = 1.0
    if name in weights and len(shape) > 1:
        deviation = 1 / math.sqrt(math.prod(shape[1:]) if len(shape) == 4 else shape[0])
    elif name == "K" and not weights:
        deviation = 1 / math.sqrt(shape[-1])
    return (torch.randn(*shape) * deviation).to(torch_type).contiguous()


class Frozen(torch.nn.Module):
    """A way of computing a case whose weights are parameters: torch.compile may lay them out beforehand."""

    def __init__(self, way, tensors, data):
        super().__init__()
        self.way, self.data = way, data
        self.weights = torch.nn.ParameterDict({n: torch.nn.Parameter(v, requires_grad=False) for n, v in tensors.items() if n not in data})

    def forward(self, *given):
        return self.way({**dict(self.weights.items()), **dict(zip(self.data, given))})


def compiled(name, who, way, t, freeze):
    """The way through torch.compile; None, with a line that says why, where that fails."""
    torch._dynamo.reset()
    torch._inductor.config.freezing = freeze
    try:
        if not freeze:
            run = torch.compile(way, dynamic=False)
            run(t)
            return lambda: run(t)
        data = [n for n in t if n in ("X", "I", "IC")]
        module = torch.compile(Frozen(way, t, data).eval(), dynamic=False)
        given = [t[n] for n in data]
        module(*given)
        return lambda: module(*given)
    except Exception as why:  # pylint: disable=broad-except # whatever a compiler of PyTorch's fails with
        print(f"{name}: {who}: torch.compile fails: {str(why).splitlines()[0]}", file=sys.stderr)
        return None
    finally:
        torch._inductor.config.freezing = False


def contestants_of(name, kind, t, ours, packed):
    """Ours first; then each way of PyTorch's, eager, compiled and, where there are weights, frozen."""
    joined = [("tileflow", ours, 0)]
    if packed:
        joined.append(("tileflow packed", packed, 1))
    for who, way in kind.ways.items():
        way = getattr(way, "__func__", way)
        joined.append((who, lambda w=way: w(t), 0))
        if who.startswith("torch fused") or who in ("torch is_causal", "torch attn_mask"):
            continue  # one call: there is nothing to compile
        for freeze in (False, True) if getattr(kind, "weights", ()) else (False,):
            label = f"{who} {'frozen' if freeze else 'compiled'}"
            run = compiled(name, label, way, t, freeze)
            if run:
                joined.append((label, run, 1 if packed and freeze else 0))
    return joined


def case(dtype, line):
    name, kind, library, manifest, *fields = line.split()
    kind = KINDS[kind]
    torch_type = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    torch.manual_seed(1)
    with open(manifest, encoding="utf-8") as f:
        shapes = {tensor["name"]: tensor["shape"] for tensor in json.load(f)["tensors"]}
    names = [field if field in shapes else field.removeprefix("tensor_") for field in fields]
    t = {n: drawn(n, shapes[n], getattr(kind, "weights", ()), torch_type) for n in names}
    if "Mask" in t:
        kind = CausalMask
    if hasattr(kind, "draw"):
        kind.draw(t)
    tensors = [t[n] for n in names]
    want = kind.want({n: v.double() for n, v in t.items()})
    flop = kind.flop(t)
    if hasattr(kind, "more"):
        t.update(kind.more(t))
    ours = Ours(library, tensors)
    packed = Ours(library, tensors, True) if ours.packs() else None
    joined = contestants_of(name, kind, t, ours, packed)
    good = [right(name, who, run(), want, LIMIT[dtype]) for who, run, _ in joined]
    if not all(good[:2 if packed else 1]):
        return False
    rounds(name, dtype, [c for c, g in zip(joined, good) if g], ours, flop, ROUNDS)
    return all(good)


def main():
    dtype, cases = sys.argv[1:]
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(THREADS)
    with torch.inference_mode(), open(cases, encoding="ascii") as lines:
        return 0 if all([case(dtype, line) for line in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
