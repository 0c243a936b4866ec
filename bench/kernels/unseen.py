#!/usr/bin/env python3
"""Kernels of workloads drawn at random, tested and put beside PyTorch, in one process: for bench/kernels/unseen.sh, which says how.

usage: unseen.py TILEFLOW ARCH FOLDER CSV f32|bf16|int8 SEED NUMBER [KIND...]

Case i of a seed is the same whatever is drawn besides.  What stands in the CSV already is not measured again.
"""
import csv
import json
import logging
import math
import os
import random
import re
import statistics
import subprocess
import sys
import warnings

import torch
import torch._dynamo

from peer import Ours, library, right, turns

F = torch.nn.functional
LIMIT = {"f32": 1e-5, "bf16": 1e-2, "int8": 1e-5}
TYPE = {"f32": torch.float32, "bf16": torch.bfloat16, "int8": torch.int8}
COLUMNS = ["case", "kind", "dtype", "params", "ms", "packed_ms", "best", "best_ms", "ratio", "compiled_ratio"]
ROUNDS = 7


# ---- what is drawn: params, the workload's text, and how PyTorch does it ----------------------------------------------
class Attention:
    """Grouped heads, odd lengths and widths, masks."""

    @staticmethod
    def draw(r):
        mask = r.choice(["", "", "causal", "window"])
        m, l = r.choice([1, 8, 33, 77, 196, 256, 512, 1024]), r.choice([77, 197, 333, 512, 1000, 1024, 1500, 2048, 4096, 8192])
        m = l = min(l, 2048) if mask else l
        m = m if mask else r.choice([1, 8, 33, 77, 196, 256, 512, 1024])
        p = {"g": r.choice([1, 2, 4, 8]), "r": r.choice([1, 1, 2, 4]), "m": m, "l": l, "a": r.choice([32, 40, 64, 72, 80, 96, 112, 128, 160, 192, 256])}
        while p["g"] * p["r"] * p["m"] * p["l"] * p["a"] > 1.5e9 and p["g"] * p["r"] > 1:
            p["r" if p["r"] > 1 else "g"] //= 2
        return {**p, "mask": mask, "w": r.choice([64, 100, 256])}

    @staticmethod
    def text(p):
        seen = {"": "", "causal": "l <= m", "window": "l <= m and m - l < w"}[p["mask"]]
        scaled = f"S[g,r,m,l] / sqrt({p['a']})"
        return ["g", "r", "m", "l", "a", ("n", p["a"])], [
            "S[g,r,m,l] += Q[g,r,m,a] * K[g,l,a]",
            "T[g,r,m,l] = " + (f"select({seen}, {scaled}, -inf)" if seen else scaled),
            "X[g,r,m] max= T[g,r,m,l]", "D[g,r,m,l] = T[g,r,m,l] - X[g,r,m]", "E[g,r,m,l] = exp(D[g,r,m,l])", "Z[g,r,m] += E[g,r,m,l]",
            "P[g,r,m,l] = E[g,r,m,l] / Z[g,r,m]", "O[g,r,m,n] += P[g,r,m,l] * V[g,l,n]"]

    @staticmethod
    def mask_of(p):
        if not p["mask"]:
            return None
        far = torch.arange(p["m"])[:, None] - torch.arange(p["l"])[None]
        return far >= 0 if p["mask"] == "causal" else (far >= 0) & (far < p["w"])

    @staticmethod
    def flop(p):
        if p["mask"]:
            pairs = sum(min(i + 1, p["w"] if p["mask"] == "window" else p["l"]) for i in range(p["m"]))
        else:
            pairs = p["m"] * p["l"]
        return 4.0 * p["g"] * p["r"] * pairs * p["a"]

    @classmethod
    def want(cls, t, p):
        scores = torch.einsum("grma,gla->grml", t["Q"], t["K"]) / math.sqrt(p["a"])
        mask = cls.mask_of(p)
        return torch.einsum("grml,gln->grmn", torch.softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf), -1), t["V"])

    @classmethod
    def ways(cls, t, p):
        mask = cls.mask_of(p)
        q = t["Q"].reshape(1, p["g"] * p["r"], p["m"], p["a"])
        k, v = (t[n][None] for n in "KV")
        wide = [x.repeat_interleave(p["r"], 1).contiguous() for x in (k, v)]
        how = {"is_causal": True} if p["mask"] == "causal" else {"attn_mask": mask} if p["mask"] else {}
        out = {"SDPA": lambda: F.scaled_dot_product_attention(q, *wide, **how), "eager": lambda: cls.want(t, p)}
        if p["r"] > 1:
            out["SDPA gqa"] = lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True, **how)
        return out


class Mlp:
    weights = ("W1", "W2", "W3", "B1", "B2")

    @staticmethod
    def draw(r):
        return {"m": r.choice([1, 4, 16, 27, 40, 64, 100, 197, 512]), "k": r.choice([320, 512, 768, 1000, 1024, 2048]), "l": r.choice([1024, 1365, 2048, 3072, 4096, 5504]),
                "act": r.choice(["gelu", "relu", "silu"]), "gated": r.choice([0, 1]), "bias": r.choice([0, 1])}

    @staticmethod
    def text(p):
        ops = ["U[m,l] += X[m,k] * W1[k,l]"] + ["V[m,l] += X[m,k] * W3[k,l]"] * p["gated"]
        ops += [f"G[m,l] = {p['act']}(U[m,l]{' + B1[l]' * p['bias']}){' * V[m,l]' * p['gated']}"]
        ops += ["R[m,n] += G[m,l] * W2[l,n]", "Y[m,n] = R[m,n] + B2[n]"] if p["bias"] else ["Y[m,n] += G[m,l] * W2[l,n]"]
        return ["m", "k", "l", ("n", p["k"])], ops

    @staticmethod
    def flop(p):
        return (4.0 + 2 * p["gated"]) * p["m"] * p["k"] * p["l"]

    @staticmethod
    def want(t, p, product=lambda x, t, w, b: x @ t[w] + (t[b] if b else 0)):
        b = p["bias"]
        g = getattr(F, p["act"])(product(t["X"], t, "W1", "B1" * b))
        return product(g * product(t["X"], t, "W3", "") if p["gated"] else g, t, "W2", "B2" * b)

    @classmethod
    def ways(cls, t, p):
        turned = {**t, **{n: t[n].t().contiguous() for n in ("W1", "W2", "W3") if n in t}}
        linear = lambda x, t, w, b: F.linear(x, t[w], t[b] if b else None)
        return {"eager": lambda: cls.want(t, p), "linear": lambda: cls.want(turned, p, linear)}


class Norm:
    """Layer norm or the root of the mean square, then a product."""
    weights = ("W", "Gamma", "Beta")

    @staticmethod
    def draw(r):
        return {"m": r.choice([1, 17, 64, 100, 256, 512]), "k": r.choice([257, 384, 512, 768, 1024]), "n": r.choice([384, 1000, 1536, 2304, 3072]), "mean": r.choice([0, 1])}

    @staticmethod
    def text(p):
        ops = ["S[m] += X[m,k]", "U[m] = S[m] / k", "D[m,k] = X[m,k] - U[m]"] if p["mean"] else []
        d = "D" if p["mean"] else "X"
        ops += [f"Q[m] += {d}[m,k] * {d}[m,k]", "R[m] = 1 / sqrt(Q[m] / k + 0.00001)",
                f"L[m,k] = {d}[m,k] * R[m] * Gamma[k]" + " + Beta[k]" * p["mean"], "Y[m,n] += L[m,k] * W[k,n]"]
        return ["m", "k", "n"], ops

    @staticmethod
    def flop(p):
        return 2.0 * p["m"] * p["k"] * p["n"]

    @staticmethod
    def of(t, p):
        k = [p["k"]]
        return F.layer_norm(t["X"], k, t["Gamma"], t["Beta"], 1e-5) if p["mean"] else F.rms_norm(t["X"], k, t["Gamma"], 1e-5)

    @classmethod
    def want(cls, t, p):
        return cls.of(t, p) @ t["W"]

    @classmethod
    def ways(cls, t, p):
        turned = t["W"].t().contiguous()
        return {"eager": lambda: cls.want(t, p), "linear": lambda: F.linear(cls.of(t, p), turned)}


class Chain:
    """Element by element, with rows and columns broadcast."""

    @staticmethod
    def draw(r):
        return {"b": r.choice([1, 3, 8]), "m": r.choice([64, 197, 512, 1000]), "n": r.choice([77, 256, 768, 1001]), "act": r.choice(["gelu", "relu", "silu", "tanh", "sigmoid"]), "row": r.choice([0, 1])}

    @staticmethod
    def text(p):
        return ["b", "m", "n"], [f"H[b,m,n] = {p['act']}(X[b,m,n] * A[{'n' if p['row'] else 'm'}] + C[n])", "Y[b,m,n] = H[b,m,n] * G[b,m,n] + X[b,m,n]"]

    @staticmethod
    def flop(p):
        return 4.0 * p["b"] * p["m"] * p["n"]

    @staticmethod
    def want(t, p):
        return getattr(torch if p["act"] in ("tanh", "sigmoid") else F, p["act"])(t["X"] * (t["A"] if p["row"] else t["A"][:, None]) + t["C"]) * t["G"] + t["X"]

    @classmethod
    def ways(cls, t, p):
        return {"eager": lambda: cls.want(t, p)}


class Reduction:
    @staticmethod
    def draw(r):
        return {"b": r.choice([1, 5, 16]), "m": r.choice([33, 128, 500, 1024]), "n": r.choice([50, 257, 512, 2000]), "how": r.choice(["sum", "max", "square"]), "over": r.choice("bmn")}

    @staticmethod
    def text(p):
        kept = ",".join(d for d in "bmn" if d != p["over"])
        x = "X[b,m,n]"
        return ["b", "m", "n"], [{"sum": f"Y[{kept}] += {x}", "max": f"Y[{kept}] max= {x}", "square": f"Y[{kept}] += {x} * {x}"}[p["how"]]]

    @staticmethod
    def flop(p):
        return 2.0 * p["b"] * p["m"] * p["n"]

    @staticmethod
    def want(t, p):
        at, x = "bmn".index(p["over"]), t["X"]
        return x.amax(at) if p["how"] == "max" else (x if p["how"] == "sum" else x * x).sum(at)

    @classmethod
    def ways(cls, t, p):
        return {"eager": lambda: cls.want(t, p)}


class Turned:
    """A transposition, with a map."""

    @staticmethod
    def draw(r):
        return {"b": r.choice([1, 4, 12]), "m": r.choice([33, 128, 500, 1024]), "n": r.choice([50, 64, 257, 768]), "order": r.choice(["nbm", "bnm", "mbn", "nmb"]), "map": r.choice([0, 1])}

    @staticmethod
    def text(p):
        return ["b", "m", "n"], [f"Y[{','.join(p['order'])}] = X[b,m,n]" + " * A[n]" * p["map"]]

    @staticmethod
    def flop(p):
        return 2.0 * p["b"] * p["m"] * p["n"]

    @staticmethod
    def want(t, p):
        return (t["X"] * t["A"] if p["map"] else t["X"]).permute(["bmn".index(c) for c in p["order"]]).contiguous()

    @classmethod
    def ways(cls, t, p):
        return {"eager": lambda: cls.want(t, p)}


class Product:
    weights = ("W",)

    @staticmethod
    def draw(r):
        return {"m": r.choice([1, 3, 16, 25, 32, 40, 64, 127, 300]), "k": r.choice([64, 333, 768, 1000, 2048, 4096]), "n": r.choice([80, 500, 1000, 1536, 4096]), "act": ""}

    @staticmethod
    def text(p):
        return ["m", "k", "n"], ["Y[m,n] += X[m,k] * W[k,n]"]

    @staticmethod
    def flop(p):
        return 2.0 * p["m"] * p["k"] * p["n"]

    @staticmethod
    def want(t, p):
        return t["X"] @ t["W"]

    @classmethod
    def ways(cls, t, p):
        if t["X"].dtype == torch.int8:
            return {"int_mm": lambda: torch._int_mm(t["X"], t["W"])}
        turned = t["W"].t().contiguous()
        return {"eager": lambda: cls.want(t, p), "linear": lambda: F.linear(t["X"], turned)}


KINDS = {"attention": Attention, "mlp": Mlp, "norm": Norm, "chain": Chain, "reduction": Reduction, "turned": Turned, "product": Product}


# ---- one case --------------------------------------------------------------------------------------------------
def run(*command, **more):
    return subprocess.run(command, check=False, capture_output=True, text=True, **more)


def written(kind, p, path):
    dims, ops = kind.text(p)
    named = {d if isinstance(d, str) else d[0]: p[d] if isinstance(d, str) else d[1] for d in dims}
    value = lambda m: str(p[m.group(0)])
    lines = ["workload:", "  name: unseen", "  dims: {" + ", ".join(f"{d}: {n}" for d, n in named.items()) + "}", "  ops:"]
    # extents that stand alone in an expression (a window's width, what a mean is divided by)
    lines += ["  - " + re.sub(r"(?<=/ )k\b|(?<=< )w\b", value, op) for op in ops]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


def drawn(name, shape, kind, dtype, generator):
    if dtype == torch.int8:
        return torch.randint(-8, 9, shape, dtype=torch.int8, generator=generator)
    deviation = 1 / math.sqrt(shape[0]) if name in getattr(kind, "weights", ()) and len(shape) > 1 else 1.0
    return (torch.randn(*shape, generator=generator) * deviation).to(dtype).contiguous()


def compiled(way):
    torch._dynamo.reset()
    try:
        made = torch.compile(way, dynamic=False)
        made()
        return made
    except Exception:  # pylint: disable=broad-except # whatever a compiler of PyTorch's fails with
        return None


def measured(name, kind, p, dtype, folder):
    """The row of one case; raises where its result is wrong."""
    path, fields = library(folder)
    with open(f"{folder}/manifest.json", encoding="utf-8") as f:
        manifest = {z["name"]: z for z in json.load(f)["tensors"]}
    shapes = {n: z["shape"] for n, z in manifest.items()}
    generator = torch.Generator().manual_seed(1)
    names = [f if f in shapes else f.removeprefix("tensor_") for f in fields]
    t = {n: drawn(n, shapes[n], kind, TYPE[dtype], generator) for n in names}
    want = kind.want({n: v.double() for n, v in t.items()}, p)
    if dtype == "int8":  # what comes out of int8 is wider
        t[names[-1]] = torch.zeros(shapes[names[-1]], dtype=getattr(torch, manifest[names[-1]]["type"]))
    tensors = [t[n] for n in names]
    ours = Ours(path, tensors)
    contestants = {"tileflow": ours}
    if ours.packs():
        contestants["packed"] = Ours(path, tensors, True)
    if dtype != "int8" or kind is Product:
        ways = kind.ways(t, p)
        contestants.update(ways)
        if os.environ.get("COMPILED"):
            made = {f"compiled {n}": compiled(w) for n, w in ways.items() if not n.startswith(("SDPA", "int_mm"))}
            contestants.update({n: w for n, w in made.items() if w})
    for n, f in list(contestants.items()):
        if not right(name, n, f(), want, LIMIT[dtype]):
            if n in ("tileflow", "packed"):
                raise RuntimeError("wrong result")
            del contestants[n]
    took = dict(zip(contestants, turns(list(contestants.values()), ROUNDS)))
    ms = {n: statistics.median(s) * 1e3 for n, s in took.items()}
    ratio = {n: statistics.median(a / b for a, b in zip(s, took["tileflow"])) for n, s in took.items()}
    others = [n for n in ms if n not in ("tileflow", "packed")]
    best = min(others, key=lambda n: ratio[n]) if others else ""
    made = [ratio[n] for n in others if n.startswith("compiled")]
    figures = [f"{ms['tileflow']:.4g}", f"{ms['packed']:.4g}" if "packed" in ms else "", best, f"{ms[best]:.4g}" if best else "",
               f"{ratio[best]:.3f}" if best else "", f"{min(made):.3f}" if made else ""]
    return figures


def case(tool, arch, root, dtype, name, kind, p):
    folder = f"{root}/{name}"
    if not os.path.isdir(folder):
        written(KINDS[kind], p, f"{folder}.yaml")
        made = run(tool, "emit", arch, f"{folder}.yaml", "--dtype", dtype, "--seed", "1", "--target", "cpu", "-o", folder, "--quiet", "--no-test", timeout=240)
        if made.returncode:
            raise RuntimeError(f"emit: {made.stderr[:400]}")
    if not os.environ.get("UNTESTED"):
        tested = run("make", "-s", "-C", folder, "test", timeout=500)
        if tested.returncode:
            raise RuntimeError(f"make test: {tested.stdout[-300:]} {tested.stderr[-300:]}")
    return measured(name, KINDS[kind], p, dtype, folder)


def main():
    tool, arch, root, path, dtype, seed, number, *kinds = sys.argv[1:]
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    done, failed = set(), 0
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            done = {row["case"] for row in csv.DictReader(f)}
    with torch.inference_mode(), open(path, "a", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        if f.tell() == 0:
            out.writerow(COLUMNS)
        for i in range(int(number)):
            for kind in kinds or KINDS:
                name = f"{kind}-{dtype}-{seed}-{i}"
                p = KINDS[kind].draw(random.Random(f"{seed} {kind} {i}"))
                if name in done:
                    continue
                said = " ".join(f"{k}={v}" for k, v in p.items())
                try:
                    row = [name, kind, dtype, said, *case(tool, arch, root, dtype, name, kind, p)]
                except (RuntimeError, subprocess.TimeoutExpired) as why:
                    failed += 1
                    print(f"{name}: {said}: {why}", file=sys.stderr)
                    continue
                out.writerow(row)
                f.flush()
                print(",".join(map(str, row)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
