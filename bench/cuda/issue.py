#!/usr/bin/env python3
"""Instructions that a warp issues in the busiest loop of a kernel, counted in machine code, beside those that the target's cost expects: without a GPU.

    bench/cuda/issue.py TILEFLOW OUT.csv [--isa sm_80|sm_90a] [--folder DIR] [--again] [CASE...]     CASE: patterns, 'attention-*'
    bench/cuda/issue.py TILEFLOW OUT.csv --drawn N [--seed S] ...                          N random kernels instead, those of seeds S, S + 1, ..
    bench/cuda/issue.py --table OUT.csv                                                    what it comes to, as a table

Cases: products of 2048, 4096 and 8192, bf16 and float8, and of 4096 in int8, tf32 and float8 whose operands stand across the sum, gated MLP, attention of widths 64 and 128, causal or not, decoding; and sass.py's convolutions.
A row for each kernel (part) with products: `expected` and `expected_tensor` are what a warp issues in a step of its innermost loop with most products, by
manifest.json; `counted` and `tensor` the same of machine code.  Its loop is the smallest natural loop that has as many products; a loop within it is
gone through as often as its products ask for.  Of branches in it that way is counted which has most products, loads of matrices and copies, and of these the
shortest: tiles that are whole, arrays on 16 bytes, no maximum that rises.  nvcc may unroll a loop: counts are for as many products as are expected.
Exit 1: a case is not written or not compiled.
"""
import argparse
import csv
import fnmatch
import json
import os
import pathlib
import random
import re
import sys
import tempfile

import sass

FIELDS = ["case", "isa", "part", "expected", "expected_tensor", "counted", "tensor", "ratio"]
MARKED = re.compile(r"[HIQ]G?MMA\b|LDSM|LDGSTS\S*128|UTMA")  # what a way must not miss; then what reads and writes elements
READS = re.compile(r"LDG(?!.*U8)|LDS\b|LDS\.|STS")
STORES = re.compile(r"STG(?!.*[US](8|16)\b)")  # the widest way out: words and more
GEMM = 'workload:\n  name: gemm\n  dims: {{m: {0}, n: {0}, k: {0}}}\n  ops:\n  - "C[m,n] += A[m,k] * {1}"\n'


def attention(width, keys, causal):
    scores = "T" if causal else "S"
    mask = '  - "T[h,m,l] = select(l <= m, S[h,m,l], -inf)"\n' if causal else ""
    return f"""workload:
  name: attention
  dims: {{h: {16 * 16384 // keys}, m: {keys}, l: {keys}, a: {width}, n: {width}}}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
{mask}  - "X[h,m] max= {scores}[h,m,l]"
  - "E[h,m,l] = exp({scores}[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
"""


def cases(folder):
    """Name and what `emit` is to be given, of each case: those with goals first."""
    texts = {f"gemm-{size}": GEMM.format(size, "B[k,n]") for size in (2048, 4096, 8192)}
    texts["gemm-8192-f8"] = GEMM.format(8192, "B[n,k]")
    for dtype in ("int8", "tf32", "f8"):
        across = GEMM.format(4096, "B[k,n]")
        texts |= {f"gemm-4096-b-across-{dtype}": across, f"gemm-4096-both-across-{dtype}": across.replace("A[m,k]", "A[k,m]")}
    for keys in (4096, 16384):
        for width in (64, 128):
            for causal in (False, True):
                texts[f"attention-d{width}-{keys}" + "-causal" * causal] = attention(width, keys, causal)
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
        yield name, [str(folder / f"{name}.yaml")] + ["--dtype", name.split("-")[-1]] * name.endswith(("f8", "int8", "tf32"))
    for name in ("gated-mlp", "attention-decode"):
        yield name, [f"workloads/models/{name}.yaml"]
    yield from ((name, what) for name, what in sass.cases(folder) if name.startswith("resnet"))
    yield from ((name, what) for name, what in sass.cases(folder) if not name.startswith(tuple(sass.NETWORKS)))


def chain(r, extent):
    m, (k, l, n) = extent(64, 4096), (8 * extent(least, most) for least, most in ((4, 128), (8, 256), (4, 64)))
    between = r.choice(["", "relu(C[m,l])", "gelu(C[m,l] + V[l])"])
    ops = ["C[m,l] += A[m,k] * B[k,l]"] + [f"R[m,l] = {between}"] * bool(between) + [f"E[m,n] += {'R' if between else 'C'}[m,l] * D[l,n]"]
    return {"m": m, "k": k, "l": l, "n": n}, ops


def ragged(r, extent):
    keys, width, causal = extent(100, 3000), r.choice([32, 64, 80, 128]), r.random() < 0.3
    ops = ["S[h,m,l] += Q[h,m,a] * K[h,l,a]", "T[h,m,l] = " + ("select(l <= m, S[h,m,l], -inf)" if causal else "S[h,m,l] * 0.125"),
           "X[h,m] max= T[h,m,l]", "E[h,m,l] = exp(T[h,m,l] - X[h,m])", "Z[h,m] += E[h,m,l]", "P[h,m,l] = E[h,m,l] / Z[h,m]", "O[h,m,n] += P[h,m,l] * V[h,l,n]"]
    return {"h": r.choice([8, 16, 32]), "m": keys if causal or r.random() < 0.8 else extent(1, 600), "l": keys, "a": width, "n": width}, ops


def product(r, extent):
    m, n, k = extent(16, 4096), 8 * extent(2, 512), 8 * extent(2, 512)
    return {"m": m, "n": n, "k": k}, [f"C[m,n] += A[m,k] * {r.choice(['B[k,n]', 'B[n,k]'])}"]


def gated(r, extent):
    m, l, k = extent(64, 4096), 8 * extent(8, 512), 8 * extent(8, 512)
    return {"m": m, "l": l, "k": k}, ["F[m,l] += X[m,k] * U[k,l]", "H[m,l] += X[m,k] * W[k,l]", "G[m,l] = F[m,l] * sigmoid(F[m,l]) * H[m,l]"]


def drawn(folder, n, first):
    """Random chains, attention of any number of keys, products and gated MLPs, each seed by itself; rows stand on 16 bytes."""
    for seed in range(first, first + n):
        r = random.Random(seed)
        by = r.choice([1, 1, 2, 8, 64])
        extent = lambda least, most: max(1, round(least * (most / least) ** r.random() / by)) * by
        make = r.choice([chain, chain, ragged, ragged, product, gated])
        dims, ops = make(r, extent)
        name = f"{make.__name__}-drawn-{seed}"
        text = "".join(f'  - "{op}"\n' for op in ops)
        (folder / f"{name}.yaml").write_text(f"workload:\n  name: drawn\n  dims: {{{', '.join(f'{d}: {x}' for d, x in dims.items())}}}\n  ops:\n{text}")
        yield name, [str(folder / f"{name}.yaml"), "--dtype", r.choice(["bf16", "f16"])]


def weight(name, rises):
    """By which a way through branches is chosen: 1 less for each instruction."""
    if MARKED.match(name):
        return 9999
    return (100 if rises and name.startswith("MUFU.EX2") else 60 if STORES.match(name) else 30 if READS.match(name) else 0) - 1


def way(code, loop, rises):
    """The instructions, by number, that a turn of a loop takes; loops within are gone through once."""
    at = {address: i for i, (address, *_) in enumerate(code)}
    head, best, then = min(loop), {}, {}
    for i in sorted(loop, reverse=True):
        _, _, to, goes_on = code[i]
        after = [j for j in (i + 1 if goes_on else None, at.get(to)) if j in loop]
        ways = [(0, None) if j == head else (best[j], j) for j in after if j == head or (j > i and j in best)]
        if ways:
            most, then[i] = max(ways, key=lambda w: w[0])
            best[i] = weight(code[i][1], rises) + most
    taken, i = [], head if head in best else None
    while i is not None:
        taken.append(i)
        i = then[i]
    return taken


def one_share(code, taken, text):
    """Without the pieces of tiles that other warps gather: the text has a run of reads for each share of a row, of which a warp has one, the longest here."""
    runs, run = [], []
    for i in taken:
        run.append(i)
        if code[i][1].startswith("BRA"):
            runs, run = runs + [run], []
    reads = [r for r in runs + [run] if sum(code[i][1].startswith("LDG.") for i in r) >= 8]
    others = set()
    for shares in reversed([int(n) for n in re.findall(r"for \(int g = 0; g < (\d+); g\+\+\)", text)]):
        here, reads = reads[-shares:], reads[:-shares]
        if len(here) == shares:
            others |= {i for r in here if r is not max(here, key=len) for i in r}
    return [i for i in taken if i not in others]


def turn(code, loop, around, products, rises, puts, text):
    """Instructions and products of a turn of a loop that has about so many; loops within that have products as often as these ask for, and
    those that put tiles together as often as the text says."""
    inner = [o for o in around if o < loop and any(sass.is_tensor(code[i][1]) for i in o) and not any(o < p < loop for p in around)]
    count = lambda taken: (len(taken), sum(sass.is_tensor(code[i][1]) for i in taken))
    taken = one_share(code, way(code, loop, rises), text)
    all_of, tensor = count(taken)
    all_of += sum((turns - 1) * count([i for i in taken if i in o])[0] for o, turns in puts.items() if o < loop)
    within = [count([i for i in taken if i in o]) for o in inner]
    each = sum(p for _, p in within)
    more = max(0, round((products - tensor) / each)) if each else 0
    return all_of + more * sum(n for n, _ in within), tensor + more * each


def together(code, around, text):
    """Loops in which a thread puts tiles together an element at a time, and how often it goes through each, as they stand in the text."""
    turns = [-(-int(n) // 256) for n in re.findall(r"for \(int i = thread_here\(\); i < (\d+); i \+= THREADS\)", text)]
    reads = lambda o, word: sum(code[i][1].startswith(word) for i in o)
    found = sorted((o for o in around if reads(o, "LDG") and reads(o, "LDG") == reads(o, "STS") and not any(p < o for p in around)), key=min)
    return dict(zip(found, turns)) if len(found) == len(turns) else {}


def busiest(code, products, rises, text):
    """Of a function: instructions and products of a turn of the smallest loop around most products that has as many."""
    around = sass.loops(code)
    puts = together(code, around, text)
    having = {loop: sum(sass.is_tensor(code[i][1]) for i in loop) for loop in around}
    innermost = [o for o in around if having[o] and not any(p < o and having[p] for p in around)]
    if not innermost:
        return 0, 0
    first = max(innermost, key=lambda o: having[o])
    for loop in sorted((o for o in around if first <= o), key=len):
        n, tensor = turn(code, loop, around, products, rises, puts, text)
        if tensor >= products:
            return n, tensor
    return turn(code, first, around, having[first], rises, puts, text)


def looked(at, name, isa):
    """The rows of a case."""
    manifest, text = json.loads((at / "manifest.json").read_text()), (at / "sass").read_text()
    names = [rest[:int(n)].removeprefix("part") for n, rest in re.findall(r"Function : _Z(\d+)(\S+)", text)]
    of = dict(zip(names, sass.functions(text)))
    for step in manifest.get("steps", []):
        n, tensor = busiest(of[str(step["part"])], step["multiplied"], isa == "sm_80", (at / "kernel.cu").read_text())
        if not tensor:
            continue
        n *= step["multiplied"] / tensor
        yield {"case": name, "isa": isa, "part": step["part"], "expected": f"{step['issued']:.0f}", "expected_tensor": f"{step['multiplied']:.0f}",
               "counted": f"{n:.0f}", "tensor": tensor, "ratio": f"{step['issued'] / n:.3f}"}


def family(name):
    return next((net for net in sass.NETWORKS if name.startswith(net)), "table 4.2" if re.match(r"(c|t)\dd|grp|dil", name) else name.split("-")[0])


def table(rows):
    """A line for each family and instruction set; and the ten that are farthest."""
    print("| Cases | | Kernels | within 10 % | within 20 % | median of expected over counted |\n|---|---|--:|--:|--:|--:|")
    of = {}
    for row in rows:
        of.setdefault((family(row["case"]), row["isa"]), []).append(float(row["ratio"]))
    for (name, isa), ratios in sorted(of.items(), key=lambda x: x[0][1]):
        near = lambda d: sum(1 / (1 + d) <= r <= 1 + d for r in ratios)
        print(f"| {name} | `{isa}` | {len(ratios)} | {near(0.1)} | {near(0.2)} | {sorted(ratios)[len(ratios) // 2]:.2f} |")
    print("\n| Farthest | | expected | counted |\n|---|---|--:|--:|")
    for row in sorted(rows, key=lambda r: -abs(float(r["ratio"]) - 1) / min(1, float(r["ratio"])))[:10]:
        print(f"| {row['case']} | `{row['isa']}` | {row['expected']} | {row['counted']} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tileflow"), p.add_argument("out", nargs="?", type=pathlib.Path), p.add_argument("only", nargs="*")
    p.add_argument("--isa", choices=list(sass.SPEC)), p.add_argument("--again", action="store_true"), p.add_argument("--table", action="store_true")
    p.add_argument("--drawn", type=int), p.add_argument("--seed", type=int, default=1)
    p.add_argument("--folder", type=lambda path: pathlib.Path(path).absolute())
    o = p.parse_intermixed_args()
    if o.table:
        table(list(csv.DictReader(open(o.tileflow))))
        return 0
    rows, failed = list(csv.DictReader(open(o.out))) if o.out.exists() else [], 0
    with tempfile.TemporaryDirectory() as work:
        folder = o.folder or pathlib.Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        for name, what in list(drawn(folder, o.drawn, o.seed) if o.drawn else cases(folder)):
            for isa in [o.isa] if o.isa else sass.SPEC:
                had = [r for r in rows if (r["case"], r["isa"]) == (name, isa)]
                if not any(fnmatch.fnmatch(name, word) for word in o.only or ["*"]) or (had and not o.again):
                    continue
                if isa == "sm_80" and name.endswith("f8"):
                    continue  # from sm_89 on
                try:
                    new = list(looked(sass.compiled(os.path.abspath(o.tileflow), name, what, isa, folder), name, isa))
                except RuntimeError as e:
                    print(f"FAIL: {name} {isa}: {e}", flush=True)
                    failed += 1
                    continue
                rows = [r for r in rows if r not in had] + new
                print(name, isa, *(r["ratio"] for r in new), flush=True)
                with open(o.out, "w", newline="") as f:
                    w = csv.DictWriter(f, FIELDS, lineterminator="\n")
                    w.writeheader(), w.writerows(rows)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
