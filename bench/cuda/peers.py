"""What the kinds of cases compute, in PyTorch's words, and who else computes them; workers of run.py alone read it.

A kind has `want`, its result, of tensors in float64; `ways`: contestants by name, of tensors in the case's type; `draw`: changes drawn
tensors in place.  Tensors go by the names that the workload gives them.
"""
import itertools
import math

import torch
import torch.nn.functional as F


def heads(t):
    """Q, K, V of four ranks."""
    return [t[name].reshape(-1, *t[name].shape[-3:]) for name in "QKV"]


def attention(t, scale=1.0, mask=None):
    """By one head at a time: all heads' scores in float64 might fill the memory."""
    q, k, v = heads(t)
    k, v = (x.expand(q.shape[0], -1, *x.shape[2:]) for x in (k, v))
    group = q.shape[1] // k.shape[1]
    out = torch.empty(*q.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h] @ k[b, h // group].mT * scale
            out[b, h] = torch.softmax(scores if mask is None else scores + mask, -1) @ v[b, h // group]
    return out


def gone(q):
    """What may not be looked at: keys behind the query."""
    n = q.shape[-2]
    return torch.full((n, n), -math.inf, dtype=q.dtype, device=q.device).triu(1)


def fused(back_end=None, **how):
    def run(t):
        q, k, v = heads(t)
        if back_end is None:
            return F.scaled_dot_product_attention(q, k, v, **how)
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, back_end)):
            return F.scaled_dot_product_attention(q, k, v, **how)

    return run


def every_back_end(**how):
    return {f"torch-{name}": fused(f"{name.upper()}_ATTENTION", **how) for name in ("flash", "cudnn", "efficient")}


def product(t):
    return t["A"] @ t["B"]


def float8_product(t):
    one = torch.ones((), device=t["A"].device)
    return torch._scaled_mm(t["A"], t["B"].mT, one, one, out_dtype=torch.bfloat16)


def gelu_product(bias, x, w):
    """cuBLASLt's epilogue (its GELU is that of tanh)."""
    return torch._addmm_activation(bias, x, w, use_gelu=True)


def small_queries(t):
    """Scores of variance one, as trained models have them; drawn plainly a softmax would look at one key alone."""
    t["Q"] *= t["Q"].shape[-1] ** -0.5


def eager(want):
    return {"torch": want, "triton": want}


class Kind:
    def __init__(self, want, ways, draw=lambda t: None):
        self.want, self.ways, self.draw = want, ways, draw


def chain(t):
    return (t["A"] @ t["B"]) @ t["D"]


def gated(t):
    return (F.silu(t["X"] @ t["W1"]) * (t["X"] @ t["W3"])) @ t["W2"]


def norm(t):
    return F.layer_norm(t["X"], t["X"].shape[-1:], t["Gamma"], t["Beta"], 1e-5) @ t["W"]


def linear(t):
    return F.gelu(t["X"] @ t["W"] + t["B"])


def two_products(t):
    return F.gelu(t["X"] @ t["W1"]) @ t["W2"]


def two_products_lt(t):
    return gelu_product(torch.zeros_like(t["W1"][0]), t["X"], t["W1"]) @ t["W2"]


class Conv:
    """A convolution with channels last, stride, padding and dilation alike along all its dims; grouped: channels are (group, channel)."""

    def __init__(self, stride=1, pad=0, dilation=1, grouped=False):
        self.stride, self.pad, self.dilation, self.grouped = stride, pad, dilation, grouped

    def tensors(self, t):
        """Inputs, and weights with all dims of the window; how many dims channels have."""
        x, w, around = t["I"], t["W"], 2 if self.grouped else 1
        return x, w if w.dim() == x.dim() else w.reshape(*w.shape[:-1], *(1,) * (x.dim() - w.dim()), w.shape[-1]), around

    def want(self, t):
        """From the definition: of each place in the window a product."""
        x, w, around = self.tensors(t)
        x = F.pad(x, (0, 0) * around + (self.pad, self.pad) * (x.dim() - 1 - around))
        window = w.shape[around:-1]
        if not self.grouped:
            x, w = x.unsqueeze(-2), w.unsqueeze(0)
        sizes = [(n - self.dilation * (r - 1) - 1) // self.stride + 1 for n, r in zip(x.shape[1:-2], window)]
        out = 0
        for at in itertools.product(*map(range, window)):
            places = tuple(slice(self.dilation * a, self.dilation * a + self.stride * (n - 1) + 1, self.stride) for a, n in zip(at, sizes))
            out = out + torch.einsum("...gc,gkc->...gk", x[(slice(None), *places)], w[(slice(None), slice(None), *at)])
        return out if self.grouped else out.squeeze(-2)

    def torch(self, t):
        """cuDNN, on views of the same memory (channels_last, which conv1d does not have)."""
        x, w, groups = *self.tensors(t)[:2], 1
        if self.grouped:
            groups, x, w = x.shape[-2], x.flatten(-2), w.flatten(0, 1)
        dims = x.dim() - 2
        if dims == 1:
            x, w = x.unsqueeze(1), w.unsqueeze(1)
        first = (lambda n, one: [one, n]) if dims == 1 else (lambda n, one: n)
        conv = F.conv3d if dims == 3 else F.conv2d
        out = conv(x.movedim(-1, 1), w.movedim(-1, 1), None, first(self.stride, 1), first(self.pad, 0), first(self.dilation, 1), groups)
        return out.movedim(1, -1)


def residual(conv):
    return lambda t: F.relu(conv(t) * t["S"] + t["T"] + t["R"])


def convs():
    for stride, pad, dilation, grouped in itertools.product((1, 2), range(4), (1, 2), (False, True)):
        conv = Conv(stride, pad, dilation, grouped)
        yield f"conv{'-grouped' * grouped}-s{stride}-p{pad}-d{dilation}", Kind(conv.want, {"torch": conv.torch})


def naive(t):
    q, k, v = heads(t)
    return torch.softmax(q @ k.mT, -1) @ v


def by_width(t):
    return 1 / math.sqrt(t["Q"].shape[-1])


same = Conv(pad=1)


KINDS = {
    "gemm": Kind(product, eager(product)),
    "gemm-int8": Kind(product, {"torch": lambda t: torch._int_mm(t["A"], t["B"])}),
    "gemm-f8": Kind(lambda t: t["A"] @ t["B"].mT, {"torch": float8_product}),  # both operands stand along the sum
    "chain": Kind(chain, eager(chain)),
    "attention": Kind(attention, {**every_back_end(scale=1.0), "triton": naive}, small_queries),
    "attention-causal": Kind(lambda t: attention(t, 1.0, gone(t["Q"])), every_back_end(scale=1.0, is_causal=True), small_queries),
    "attention-decode": Kind(attention, {**every_back_end(scale=1.0), "triton": naive}, small_queries),
    "attention-long": Kind(attention, every_back_end(scale=1.0), small_queries),
    "attention-mask": Kind(
        lambda t: attention(t, by_width(t), t["Mask"]),
        {"torch-efficient": lambda t: fused("EFFICIENT_ATTENTION", attn_mask=t["Mask"])(t), "torch-cudnn": lambda t: fused("CUDNN_ATTENTION", attn_mask=t["Mask"])(t)},
    ),
    "causal": Kind(lambda t: attention(t, by_width(t), gone(t["Q"])), every_back_end(is_causal=True)),
    "causal-grouped": Kind(
        lambda t: attention({n: t[n][None] if n != "Q" else t[n].flatten(0, 1)[None] for n in "QKV"}, by_width(t), gone(t["Q"])),
        {"torch-flash": lambda t: F.scaled_dot_product_attention(t["Q"].flatten(0, 1)[None], t["K"][None], t["V"][None], is_causal=True, enable_gqa=True)},
    ),
    "gated-mlp": Kind(gated, eager(gated)),
    "norm-product": Kind(norm, eager(norm)),
    "linear-gelu": Kind(linear, {"torch-lt": lambda t: gelu_product(t["B"], t["X"], t["W"]), **eager(linear)}),
    "two-products": Kind(two_products, {"torch-lt": two_products_lt, **eager(two_products)}),
    "narrow-products": Kind(two_products, {"torch-lt": two_products_lt, **eager(two_products)}),
    "conv-residual": Kind(residual(same.want), eager(residual(same.torch))),
    **dict(convs()),
}
