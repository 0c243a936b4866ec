"""The operators of workloads/operators in PyTorch's own words: what they compute, and the ways PyTorch and oneDNN have of it.

A function here takes tensors of the workload's names and shapes, and the params of its line in cases.csv.  Nothing knows how tileflow does it.
"""
import torch

F = torch.nn.functional
CONV = (F.conv1d, F.conv2d, F.conv3d)
TURNED = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
RANK = {"c1d": 1, "c2d": 2, "c3d": 3, "dil": 2, "t1d": 1, "t2d": 2, "t3d": 3}


# ---- what they compute ------------------------------------------------------------------------------------------
def conv(rank, stride=1, dilation=1):
    def of(t):
        pad = dilation * (t["W"].shape[-1] // 2)
        return CONV[rank - 1](t["I"], t["W"], stride=stride, padding=pad, dilation=dilation)

    return of


def begin_of(window, stride):
    """The first element of the transposed convolution that the workload's output has."""
    return window // 2 // stride * stride - -window % stride


def in_phases(y, rank, sizes, window, stride, begin):
    """y, whose element 0 is that numbered begin, as the workload has it: element stride i + f is [i, f]."""
    first = begin_of(window, stride) - begin
    y = F.pad(y, [max(0, -first), stride] * rank)
    for d, n in enumerate(sizes):
        y = y.narrow(2 + d, max(0, first), n)
    return y.reshape(*y.shape[:2], *(x for n in sizes for x in (n // stride, stride)))


def transposed(rank, stride):
    def of(t):
        sizes = [stride * n for n in t["I"].shape[2:]]
        return in_phases(TURNED[rank - 1](t["I"], t["W"], stride=stride), rank, sizes, t["W"].shape[-1], stride, 0)

    return of


def grouped(stride):
    def of(t):
        groups = t["W"].shape[0]
        y = F.conv2d(t["I"].flatten(1, 2), t["W"].flatten(0, 1), stride=stride, padding=t["W"].shape[-1] // 2, groups=groups)
        return y.unflatten(1, (groups, -1))

    return of


def depthwise(stride):
    def of(t):
        c, m, *window = t["W"].shape
        y = F.conv2d(t["I"], t["W"].reshape(c * m, 1, *window), stride=stride, padding=window[0] // 2, groups=c)
        return y.unflatten(1, (c, m))

    return of


def each_its_own(t):
    n, c, *image = t["I"].shape
    y = F.conv2d(t["I"].reshape(1, n * c, *image), t["W"].flatten(0, 1), padding=t["W"].shape[-1] // 2, groups=n)
    return y.reshape(n, -1, *image)


def capsule(stride):
    """4 x 4 matrices for numbers: rows of the input's beside the batch, what is summed over beside the channels."""

    def of(t):
        images = t["I"].permute(0, 4, 1, 5, 2, 3)
        (n, i), (k, _, r, _, _, j) = images.shape[:2], t["W"].shape
        weights = t["W"].permute(0, 5, 1, 4, 2, 3)
        weights = weights.reshape(k * j, -1, *weights.shape[4:])
        y = F.conv2d(images.flatten(2, 3).flatten(0, 1), weights, stride=stride, padding=r // 2)
        return y.unflatten(0, (n, i)).unflatten(2, (k, j)).permute(0, 2, 4, 5, 1, 3)

    return of


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


def forward(kind, params):
    """The function of one kind; params: stride and dilation of a window, as cases.csv names them."""
    kind = kind.removesuffix("-strided")
    stride, dilation = params.get("st", 1), params.get("dil", 1)
    windows = {**{k: conv(r, stride, dilation) for k, r in RANK.items() if k[0] != "t"},
               **{k: transposed(r, stride) for k, r in RANK.items() if k[0] == "t"}}
    return {
        "gmm": lambda t: t["A"] @ t["B"],
        "gmv": lambda t: t["A"] @ t["B"],
        "bil": lambda t: torch.einsum("nk,mkl,nl->nm", t["A"], t["B"], t["C"]),
        "grp": grouped(stride),
        "dep": depthwise(stride),
        "bcm": circulant,
        "sho": shifted,
        "gfc": lambda t: torch.einsum("ngc,gkc->ngk", t["I"], t["W"]),
        "men": lambda t: t["A"].mean(1),
        "var": lambda t: t["A"].var(1, unbiased=False),
        "scn": lambda t: t["A"].flatten(1).cumsum(1),
        "bcv": each_its_own,
        "cap": capsule(stride),
        **windows,
    }[kind]


# ---- other ways, some with arrays laid out beforehand --------------------------------------------------------------
def same(y):
    return y


def nhwc(rank):
    return {2: torch.channels_last, 3: torch.channels_last_3d}.get(rank)


def as_images(rank, x, w):
    """A convolution along one axis as one of images one row high; and arrays channels last."""
    if rank == 1:
        x, w = x.unsqueeze(2), w.unsqueeze(2)
    return x.contiguous(memory_format=nhwc(max(rank, 2))), w.contiguous(memory_format=nhwc(max(rank, 2)))


def laid_out(rank, x, w, stride, dilation, groups):
    """A convolution by oneDNN with weights in the layout that it wants and images channels last, both beforehand: a function of nothing."""
    x, w = as_images(rank, x, w)
    pad = [dilation * (n // 2) for n in w.shape[2:]]
    args = [pad, [1] * (rank == 1) + [stride] * rank, [1] * (rank == 1) + [dilation] * rank, groups]
    weights = torch.ops.mkldnn._reorder_convolution_weight(w, *args, list(x.shape))
    return lambda: torch.ops.mkldnn._convolution_pointwise(x, weights, None, *args, "none", [], "")


def turned_laid_out(rank, x, w, pad, more, stride):
    """The same of a transposed convolution."""
    x, w = as_images(rank, x, w)
    thin = [0] * (rank == 1)
    args = [thin + [pad] * rank, thin + [more] * rank, [1] * (rank == 1) + [stride] * rank, [1] * max(rank, 2), 1]
    weights = torch.ops.mkldnn._reorder_convolution_transpose_weight(w, *args, list(x.shape))
    return lambda: torch.ops.mkldnn._convolution_transpose_pointwise(x, weights, None, *args, "none", [], "")


def windows(rank, x, w, shape, stride, dilation, groups):
    """Ways of a convolution: name, function, and how its result becomes one of the given shape."""
    pad = dilation * (w.shape[-1] // 2)
    args = {"stride": stride, "padding": pad, "dilation": dilation, "groups": groups}
    of = CONV[rank - 1]
    out = [("torch", lambda: of(x, w, **args), lambda y: y.reshape(shape))]
    if nhwc(rank):
        xl, wl = x.contiguous(memory_format=nhwc(rank)), w.contiguous(memory_format=nhwc(rank))
        out.append(("torch channels_last", lambda: of(xl, wl, **args), lambda y: y.reshape(shape)))
    return out + [("oneDNN laid out", laid_out(rank, x, w, stride, dilation, groups), lambda y: y.reshape(shape))]


def turned(rank, t, stride):
    """Ways of a transposed convolution that make no more of the borders than the padding of one call can leave out."""
    x, w, of, window = t["I"], t["W"], TURNED[rank - 1], t["W"].shape[-1]
    sizes = [stride * n for n in x.shape[2:]]
    pad = max(0, begin_of(window, stride))
    more = min(stride - 1, max(0, stride - window + 2 * pad))
    args = {"stride": stride, "padding": pad, "output_padding": more}
    view = lambda y: in_phases(y, rank, sizes, window, stride, pad)
    out = [("torch", lambda: of(x, w, **args), view)]
    if nhwc(rank):
        xl, wl = x.contiguous(memory_format=nhwc(rank)), w.contiguous(memory_format=nhwc(rank))
        out.append(("torch channels_last", lambda: of(xl, wl, **args), view))
    if stride == 1:  # a convolution with the window turned round
        run = laid_out(rank, x, w.flip(*range(2, 2 + rank)).transpose(0, 1), 1, 1, 1)
    else:
        run = turned_laid_out(rank, x, w, pad, more, stride)
    return out + [("oneDNN laid out", run, (lambda y: view(y.squeeze(2))) if rank == 1 else view)]


def blocks_at_once(t):
    """bcm with one gather a way, indices made beforehand."""
    f = t["A"].shape[1]
    i = torch.arange(f)
    columns, places = (i[:, None] + i[None, :]) % f, (i[None, :] - i[:, None]) % f

    def of(a):
        d = a[:, i[:, None], :, columns].mean(0)  # [d, a, b] of [i, d, a, b]
        return d[places].permute(2, 0, 3, 1)

    return of


def ways(kind, params, t):
    """(name, function of nothing, what makes its result the workload's) of every way of one case."""
    stride, dilation, shape = params.get("st", 1), params.get("dil", 1), t["O"].shape
    whole, kind = forward(kind, params), kind.removesuffix("-strided")
    if kind in ("c1d", "c2d", "c3d", "dil"):
        return windows(RANK[kind], t["I"], t["W"], shape, stride, dilation, 1)
    if kind in ("t1d", "t2d", "t3d"):
        return turned(RANK[kind], t, stride)
    if kind == "grp":
        return windows(2, t["I"].flatten(1, 2), t["W"].flatten(0, 1), shape, stride, 1, t["W"].shape[0])
    if kind == "dep":
        return windows(2, t["I"], t["W"].flatten(0, 1).unsqueeze(1), shape, stride, 1, t["W"].shape[0])
    if kind == "bcv":
        return windows(2, t["I"].flatten(0, 1).unsqueeze(0), t["W"].flatten(0, 1), shape, 1, 1, t["W"].shape[0])
    out = [("torch", lambda: whole(t), same)]
    if kind == "gmm":
        turned_b = t["B"].t().contiguous()
        out.append(("torch linear", lambda: F.linear(t["A"], turned_b), same))
        panels = torch.ops.mkldnn._reorder_linear_weight(turned_b, t["A"].shape[0])
        out.append(("oneDNN laid out", lambda: torch.ops.mkldnn._linear_pointwise(t["A"], panels, None, "none", [], ""), same))
    if kind == "bil":
        out.append(("torch products", lambda: (torch.matmul(t["A"], t["B"]) * t["C"]).sum(-1).t(), same))
    if kind == "bcm":
        gather = blocks_at_once(t)
        out.append(("torch gathers", lambda: gather(t["A"]), same))
    return out


def compiled(kind, params, t):
    """Ways through torch.compile, where there is no one call for an operator: [] where it fails."""
    if kind not in ("bil", "bcm", "sho", "men", "var", "scn", "cap"):
        return []
    torch._dynamo.reset()
    of = {"bcm": blocks_at_once(t)}.get(kind) if kind == "bcm" else forward(kind, params)
    run = torch.compile(of, dynamic=False)
    given = t["A"] if kind == "bcm" else t
    try:
        run(given)
    except Exception:  # pylint: disable=broad-except # whatever a compiler of PyTorch's fails with
        return []
    return [("torch compiled", lambda: run(given), same)]
