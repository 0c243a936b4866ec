#!/usr/bin/env python3
"""Convolutions drawn at random, or the layers of ResNet-50, on one core: emitted kernels beside PyTorch and oneDNN in each of its layouts.

    bench/convolutions/run.py TILEFLOW OUT.csv [--random N] [--seed S] [--layers] [--dtype f32|bf16] [--arch FILE] [--folder DIR] [--lock FILE]
                              [--again] [CASE...]

--random N draws N convolutions from a seed (1): batch, channels, groups, image, window, stride, dilation and padding, also one that is not the same on all
sides; --layers takes the distinct layers of ResNet-50 at batch 1.  Each is planned, emitted, compiled, and held against PyTorch in float64; then all
contestants take turns in ROUNDS rounds, processor time of the thread, medians.  OUT.csv gets a row as soon as it is measured: a run that was ended goes on;
--again leaves out rows of the commit at hand alone.  --lock FILE: locked (flock) while kernels are timed; what compiles runs with `nice -n 15`.
Padding that is not symmetric PyTorch's calls do not know: they get an image that was padded outside of the clock.
Exit status 1 where a case cannot be emitted or compiled, or is wrong.  Needs PyTorch; without it, status 3.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kernels"), str(HERE.parent / "operators")]
try:
    import torch
except ImportError:
    sys.exit(3)
from peer import Ours, turns
from run import Failed, alone, built, command, head

F = torch.nn.functional
ROUNDS = int(os.environ.get("ROUNDS", "7"))
TYPE = {"f32": torch.float32, "bf16": torch.bfloat16}
LIMIT = {"f32": 1e-5, "bf16": 1e-2}
SIZES = ["batch", "groups", "C", "K", "H", "W", "R", "S", "stride", "dilation", "top", "bottom", "left", "right"]
PLAIN, LAID = ["torch", "channels_last"], ["channels_last laid out", "blocked"]
FIELDS = ["case", "dtype", *SIZES, "mflop", "error", "ours_us", "packed_us", *(w.replace(" ", "_") + "_us" for w in PLAIN + LAID), "share",
          "date", "load", "commit"]

# C, K, image, window, stride: the distinct ones (He et al., 2016, table 1; the stride is the 3 x 3's, as in torchvision), and the input's.
LAYERS = [(3, 224, 64, 7, 2), (64, 56, 64, 1, 1), (64, 56, 64, 3, 1), (64, 56, 256, 1, 1), (256, 56, 64, 1, 1), (256, 56, 128, 1, 1),
          (128, 56, 128, 3, 2), (128, 28, 512, 1, 1), (256, 56, 512, 1, 2), (512, 28, 128, 1, 1), (128, 28, 128, 3, 1), (512, 28, 256, 1, 1),
          (256, 28, 256, 3, 2), (256, 14, 1024, 1, 1), (512, 28, 1024, 1, 2), (1024, 14, 256, 1, 1), (256, 14, 256, 3, 1), (1024, 14, 512, 1, 1),
          (512, 14, 512, 3, 2), (512, 7, 2048, 1, 1), (1024, 14, 2048, 1, 2), (2048, 7, 512, 1, 1), (512, 7, 512, 3, 1)]


def layers():
    for c, n, k, r, stride in LAYERS:
        p = r // 2
        yield f"resnet-{c}x{n}-{k}-{r}x{r}" + f"-s{stride}" * (stride > 1), dict(zip(SIZES, (1, 1, c, k, n, n, r, r, stride, 1, p, p, p, p)))


def drawn(seed, n):
    """Convolutions of 20 to 500 million operations, half of them with something unusual."""
    draw = random.Random(seed)
    while n:
        groups = draw.choice([1, 1, 1, 1, 2, 4, 7])
        c, k = (groups * draw.choice([1, 3, 8, 13, 16, 24, 32, 50, 64, 96, 128, 200, 256]) for _ in "ck")
        h = draw.randint(5, 60)
        w = draw.choice([h, h, draw.randint(5, 90)])
        r = draw.choice([1, 1, 3, 3, 3, 5, 7])
        s = draw.choice([r, r, r, r, 1, 3])
        stride, dilation = draw.choice([1, 1, 1, 2, 2, 3]), draw.choice([1, 1, 1, 1, 2, 3])
        pad = [dilation * (r // 2), dilation * (r // 2), dilation * (s // 2), dilation * (s // 2)]
        if draw.random() < 0.25:
            pad = [draw.randint(0, p + 1) for p in pad]
        one = dict(zip(SIZES, (draw.choice([1, 1, 1, 2, 5]), groups, c, k, h, w, r, s, stride, dilation, *pad)))
        p, q = made(one)
        if p < 1 or q < 1 or not 2e7 < operations(one) < 5e8:
            continue
        yield "-".join(f"{name[0] if name not in ('dilation', 'stride') else name[:2]}{v}" for name, v in one.items() if name not in SIZES[10:]) + \
            f"-p{'.'.join(map(str, pad))}", one
        n -= 1


def made(x):
    """Rows and columns of the result."""
    return tuple((n + a + b - x["dilation"] * (window - 1) - 1) // x["stride"] + 1
                 for n, a, b, window in ((x["H"], x["top"], x["bottom"], x["R"]), (x["W"], x["left"], x["right"], x["S"])))


def operations(x):
    return 2 * x["batch"] * x["K"] * math.prod(made(x)) * x["C"] // x["groups"] * x["R"] * x["S"]


def workload(x):
    p, q = made(x)
    g, c, k = x["groups"], x["C"] // x["groups"], x["K"] // x["groups"]
    more, images, out, by = ("g: %d, " % g, "n,g,c", "n,g,k", "g,k,c") if g > 1 else ("", "n,c", "n,k", "k,c")
    shape = [x["batch"], *([g] if g > 1 else []), c, x["H"], x["W"]]
    at = lambda dim, window, before: f"{x['stride']}*{dim} + {x['dilation']}*{window} - {before}"
    pad = [0] * (len(shape) - 2) + [max(x["top"], x["bottom"], reach(x, 0)), max(x["left"], x["right"], reach(x, 1))]
    return (f"workload:\n  name: conv\n  dims: {{n: {x['batch']}, {more}k: {k}, p: {p}, q: {q}, c: {c}, r: {x['R']}, s: {x['S']}}}\n"
            f"  tensors:\n    I: {{pad: {pad}, shape: {shape}}}\n  ops:\n"
            f"  - O[{out},p,q] += I[{images}, {at('p', 'r', x['top'])}, {at('q', 's', x['left'])}] * W[{by},r,s]\n")


def reach(x, axis):
    """How far the last window reaches beyond the image."""
    n, before, window = ((x["H"], x["top"], x["R"]), (x["W"], x["left"], x["S"]))[axis]
    return max(0, (made(x)[axis] - 1) * x["stride"] + (window - 1) * x["dilation"] - before - (n - 1))


def ways(x, image, weights):
    """(name, function) of PyTorch's and oneDNN's."""
    even = x["top"] == x["bottom"] and x["left"] == x["right"]
    pad = [x["top"], x["left"]] if even else [0, 0]
    if not even:
        image = F.pad(image, [x["left"], x["right"], x["top"], x["bottom"]])
    args, two = {"stride": x["stride"], "padding": pad, "dilation": x["dilation"], "groups": x["groups"]}, lambda v: [v, v]
    last, by = image.contiguous(memory_format=torch.channels_last), weights.contiguous(memory_format=torch.channels_last)
    laid = torch.ops.mkldnn._reorder_convolution_weight(by, pad, two(x["stride"]), two(x["dilation"]), x["groups"], list(last.shape))
    shape = (pad, two(x["stride"]), two(x["dilation"]), x["groups"])
    own = image.to_mkldnn()
    own_by = torch._C._nn.mkldnn_reorder_conv2d_weight(weights.to_mkldnn(), *shape, list(image.shape))
    return [("torch", lambda: F.conv2d(image, weights, **args)), ("channels_last", lambda: F.conv2d(last, by, **args)),
            ("channels_last laid out", lambda: torch.ops.mkldnn._convolution_pointwise(last, laid, None, *shape, "none", [], "")),
            ("blocked", lambda: torch.mkldnn_convolution(own, own_by, None, *shape))]


def prepared(o, name, x):
    """The row so far, and who takes turns."""
    folder = o.folder / f"{name}-{o.dtype}"
    source = o.folder / f"{name}.yaml"
    source.write_text(workload(x))
    library, fields, manifest = built(o.tileflow, [o.arch, source, "--dtype", o.dtype], folder)
    row = {"case": name, "dtype": o.dtype, **x, "mflop": operations(x) // 10**6, "commit": head()}
    torch.manual_seed(1)
    shapes = {t["name"]: t["shape"] for t in manifest["tensors"]}
    t = {n: torch.randn(*shapes[n]) for n in fields}
    t["W"] /= math.sqrt(math.prod(shapes["W"][-3:]))
    t = {n: v.to(TYPE[o.dtype]).contiguous() for n, v in t.items()}
    image, weights = t["I"].reshape(x["batch"], x["C"], x["H"], x["W"]), t["W"].reshape(x["K"], -1, x["R"], x["S"])
    padded = F.pad(image.double(), [x["left"], x["right"], x["top"], x["bottom"]])
    want = F.conv2d(padded, weights.double(), stride=x["stride"], dilation=x["dilation"], groups=x["groups"])
    plain = Ours(library, list(t.values()))
    contestants = [("ours", plain)] + ([("packed", Ours(library, list(t.values()), True))] if plain.packs() else [])
    mine = len(contestants)
    error = 0
    for k, (who, run) in enumerate([*contestants, *ways(x, image, weights)]):
        t["O"].zero_()
        off = ((dense(run()).double().reshape(want.shape) - want).norm() / want.norm()).item()
        if not off < LIMIT[o.dtype]:
            if k < mine:
                raise Failed(f"{who} is wrong by {off:g}")
            print(f"{name}: {who} is wrong by {off:g}, and left out", file=sys.stderr)
        elif k >= mine:
            contestants.append((who, run))
        error = max(error, off) if k < mine else error
    return {**row, "error": f"{error:.2g}"}, contestants, plain


def dense(y):
    return y.to_dense() if y.is_mkldnn else y


def measured(o, row, contestants, plain):
    row.update(date=time.strftime("%Y-%m-%d %H:%M", time.gmtime()), load=round(os.getloadavg()[0], 1))
    ideal = []
    took = turns([run for _, run in contestants], ROUNDS, lambda: ideal.append(plain.ideal({"f32": 0, "bf16": 1}[o.dtype], 1e6 * row["mflop"])))
    for (who, _), seconds in zip(contestants, took):
        row[who.replace(" ", "_") + "_us"] = f"{statistics.median(seconds) * 1e6:.5g}"
    mine = took[1] if contestants[1][0] == "packed" else took[0]
    if ideal[0]:
        row["share"] = f"{statistics.median(i / s for i, s in zip(ideal, mine)):.2f}"


def write(path, rows):
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8", newline="") as f:
        w = csv.DictWriter(f, FIELDS, lineterminator="\n")
        w.writeheader()
        w.writerows(rows.values())
    os.chmod(f.name, 0o644)
    os.replace(f.name, path)


def ratio(row):
    """Library over ours: the least of both ways to compare, each with the like: (weights as they are, all laid out)."""
    least = lambda names: min((float(row[n.replace(" ", "_") + "_us"]) for n in names if row.get(n.replace(" ", "_") + "_us")), default=math.nan)
    return least(PLAIN) / float(row["ours_us"]), least(LAID + PLAIN) / float(row.get("packed_us") or row["ours_us"])


def summary(rows, dtype):
    for label, k in (("beside PyTorch, weights as they are", 0), ("beside the best of all, weights packed", 1)):
        all_of = sorted((ratio(r)[k], r["case"]) for r in rows.values() if r["dtype"] == dtype)
        if all_of:
            mean = math.exp(statistics.fmean(math.log(v) for v, _ in all_of))
            print(f"{dtype}, {len(all_of)} cases, {label}: {mean:.2f}, least {all_of[0][0]:.2f} ({all_of[0][1]}), "
                  f"{sum(v < 1 for v, _ in all_of)} below 1")


def options():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow", type=pathlib.Path), p.add_argument("out", type=pathlib.Path), p.add_argument("cases", nargs="*")
    p.add_argument("--random", type=int, default=0), p.add_argument("--seed", type=int, default=1), p.add_argument("--layers", action="store_true")
    p.add_argument("--dtype", choices=list(TYPE), default="f32"), p.add_argument("--arch", type=pathlib.Path)
    p.add_argument("--folder", type=pathlib.Path), p.add_argument("--again", action="store_true"), p.add_argument("--lock", type=pathlib.Path)
    o = p.parse_intermixed_args()
    o.tileflow, o.out = o.tileflow.resolve(), o.out.resolve()
    o.folder = (o.folder or pathlib.Path(tempfile.mkdtemp())).resolve()
    o.folder.mkdir(parents=True, exist_ok=True)
    if not o.arch:
        o.arch = o.folder / "host.yaml"
        command([o.tileflow, "import", "--host", "--cores", "1", "-o", o.arch, "--quiet"], "import")
    o.arch = o.arch.resolve()
    return o


def main():
    o, rows, bad = options(), {}, 0
    torch.set_num_threads(1)
    if o.out.exists():
        with open(o.out, encoding="utf-8", newline="") as f:
            rows = {(r["case"], r["dtype"]): r for r in csv.DictReader(f)}
    for name, x in [*(layers() if o.layers else []), *drawn(o.seed, o.random)]:
        old = rows.get((name, o.dtype))
        if (o.cases and name not in o.cases) or (old and not (o.again and old["commit"] != head())):
            continue
        try:
            with torch.inference_mode():
                row, contestants, plain = prepared(o, name, x)
                with alone(o.lock):
                    measured(o, row, contestants, plain)
        except (Failed, subprocess.TimeoutExpired) as e:
            print(f"{name}: {e}", file=sys.stderr, flush=True)
            bad = 1
            continue
        rows[name, o.dtype] = row
        write(o.out, rows)
        print(json.dumps({"case": name, "like_with_like": [round(v, 2) for v in ratio(row)], **{k: v for k, v in row.items() if k.endswith("_us") or k == "share"}}),
              flush=True)
    summary(rows, o.dtype)
    return bad


if __name__ == "__main__":
    sys.exit(main())
