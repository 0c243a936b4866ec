#!/usr/bin/env python3
"""What nvcc makes of convolutions, without a GPU: every one of the thesis's table 4.2 but the depthwise ones, every layer of ResNet-50 and YOLOv5s,
and MobileNet-V2's of 1 x 1, in bfloat16 for sm_80 (planned for an A100) and sm_90a (an H100).

    bench/cuda/sass.py TILEFLOW OUT.csv [--isa sm_80|sm_90a] [--again] [--folder DIR] [CASE...]     CASE: patterns, 'c2d-*'
    bench/cuda/sass.py --table OUT.csv                                              what it comes to, as a table

Each case has a row: the expected time and the unit that bounds it; registers and spilled bytes, from ptxas; instructions of tensor cores, loads of matrices
and copies in machine code, beside those that kernel.cu predicts; barriers of memory in loops; and the instructions of its busiest loop, for each
of tensor cores.  Rows come as they are made, and a case that has one is left out, so a run that was ended goes on (--again: made anew; with --folder, where texts and machine code stay, nvcc takes those alone that have changed).
Layers of networks have channels last, batches of 32 (YOLOv5s: 8) and nothing behind them; those of the table are as workloads/operators has them, channels first.
nvcc and cuobjdump by NVCC and CUOBJDUMP, else on the PATH.  Exit 1: one is not written, not compiled, spills, has a barrier of memory in a loop,
no instruction of tensor cores, or (of these, of loads or of copies) more than a tenth more or fewer than predicted.
"""
import argparse
import collections
import csv
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATORS = "c1d t1d t1d-strided c2d t2d t2d-strided c3d t3d t3d-strided grp dil".split()
SPEC = {"sm_80": "arch-specs/a100.yaml", "sm_90a": "arch-specs/h100.yaml"}
CODE = {"sm_80": ["-arch=sm_80"], "sm_90a": ["-gencode", "arch=compute_90a,code=sm_90a"]}
FIELDS = ["case", "isa", "kernels", "predicted_us", "bound_by", "registers", "registers_expected", "spilled", "tensor", "tensor_expected", "loads",
          "loads_expected", "copies", "copies_expected", "membar_in_loops", "loop", "loop_tensor"]
# C, image of the output, K, window, stride: the distinct layers (He et al. 2016, table 1, the stride in the 3 x 3; YOLOv5 6.0, s, 640 x 640, as
# bench/networks/models.py builds it; Sandler et al. 2018, table 2).
NETWORKS = {
    "resnet-50": (32, """3 112 64 7 2, 64 56 64 1 1, 64 56 64 3 1, 64 56 256 1 1, 256 56 64 1 1, 256 56 128 1 1, 128 28 128 3 2, 128 28 512 1 1,
        256 28 512 1 2, 512 28 128 1 1, 128 28 128 3 1, 512 28 256 1 1, 256 14 256 3 2, 256 14 1024 1 1, 512 14 1024 1 2, 1024 14 256 1 1,
        256 14 256 3 1, 1024 14 512 1 1, 512 7 512 3 2, 512 7 2048 1 1, 1024 7 2048 1 2, 2048 7 512 1 1, 512 7 512 3 1"""),
    "yolo-v5s": (8, """3 320 32 6 2, 32 160 64 3 2, 64 160 32 1 1, 32 160 32 1 1, 32 160 32 3 1, 64 160 64 1 1, 64 80 128 3 2, 128 80 64 1 1,
        64 80 64 1 1, 64 80 64 3 1, 128 80 128 1 1, 256 80 64 1 1, 128 40 256 3 2, 256 40 128 1 1, 128 40 128 1 1, 128 40 128 3 1, 256 40 256 1 1,
        512 40 128 1 1, 128 40 128 3 2, 256 20 512 3 2, 512 20 256 1 1, 256 20 256 1 1, 256 20 256 3 1, 512 20 512 1 1, 1024 20 512 1 1,
        256 20 256 3 2, 128 80 255 1 1, 256 40 255 1 1, 512 20 255 1 1"""),
    "mobilenet-v2": (32, """32 112 16 1 1, 16 112 96 1 1, 96 56 24 1 1, 24 56 144 1 1, 144 56 24 1 1, 144 28 32 1 1, 32 28 192 1 1, 192 28 32 1 1,
        192 14 64 1 1, 64 14 384 1 1, 384 14 64 1 1, 384 14 96 1 1, 96 14 576 1 1, 576 14 96 1 1, 576 7 160 1 1, 160 7 960 1 1, 960 7 160 1 1,
        960 7 320 1 1, 320 7 1280 1 1"""),
}


def layer(batch, c, size, k, window, stride):
    """A layer's workload, channels last."""
    if window == 1:
        at, over, weights, pad = "", "", "k,c", 0
    else:
        pad = (window - 1) // 2
        at, over, weights = [f"+{x}-{pad}" for x in "rs"], f", r: {window}, s: {window}", "k,r,s,c"
    pixels = ",".join((f"{stride}*" if stride > 1 else "") + x + (at[i] if at else "") for i, x in enumerate("pq"))
    image = size * stride
    return f"""workload:
  name: layer
  dims: {{n: {batch}, p: {size}, q: {size}, k: {k}, c: {c}{over}}}
  tensors: {{I: {{pad: [0, {pad}, {pad}, 0], shape: [{batch}, {image}, {image}, {c}]}}}}
  ops:
  - "O[n,p,q,k] += I[n,{pixels},c] * W[{weights}]"
"""


def cases(folder):
    """Name and what `emit` is to be given, of each case."""
    for row in (ROOT / "workloads/operators/cases.csv").read_text().splitlines():
        if row.startswith("#"):
            continue
        kind, name, params = row.split(",")
        if kind in OPERATORS and name != "small":
            yield name, [f"workloads/operators/{kind}.yaml", *(w for p in params.split() for w in ("--set", p))]
    for net, (batch, layers) in NETWORKS.items():
        for text in layers.split(","):
            c, size, k, window, stride = (int(x) for x in text.split())
            name = f"{net}-{c}-{size}-{k}-{window}x{window}" + (f"-s{stride}" if stride > 1 else "")
            (folder / f"{name}.yaml").write_text(layer(batch, c, size, k, window, stride))
            yield name, [str(folder / f"{name}.yaml")]


def functions(text):
    """Instructions of each function of cuobjdump's text: address, name, where a branch goes (None: elsewhere), and whether what is behind it may follow."""
    all_of = []
    for line in text.splitlines():
        if "Function :" in line:
            all_of.append([])
        found = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+ )?([A-Z][\w.]*)([^;]*)", line)
        if found and all_of:
            # a call on a condition is a branch out of a loop; another one comes back
            jumps = found[3].startswith("BRA") or (found[2] and found[3].startswith("CALL.REL.NOINC"))
            to = re.search(r"\b0x([0-9a-f]+)\s*$", found[4].strip()) if jumps else None
            # a predicate, of a lane (@P0) or in the branch itself (BRA P0, ..; BRA.U.ANY; BRA.DIV): both ways
            some = found[2] or re.search("P[0-9]|ANY|DIV|CONV", found[3] + found[4])
            ends = found[3].startswith(("BRA", "EXIT", "RET", "BRX", "JMP")) and not some
            all_of[-1].append((int(found[1], 16), found[3], int(to[1], 16) if to else None, not ends))
    return all_of


def loops(code):
    """Natural loops, as sets of the instructions' numbers: of branches that go back to what stands on each way to them."""
    at = {address: i for i, (address, *_) in enumerate(code)}
    after = [[i + 1] * (goes_on and i + 1 < len(code)) + ([at[to]] if to in at else []) for i, (_, _, to, goes_on) in enumerate(code)]
    heads = {0} | {j for i, to in enumerate(after) for j in to if j != i + 1} | {i + 1 for i, to in enumerate(after[:-1]) if to != [i + 1]}
    block, first = [0] * len(code), sorted(heads)
    for b, i in enumerate(first):
        for j in range(i, first[b + 1] if b + 1 < len(first) else len(code)):
            block[j] = b
    ends = [(first[b + 1] if b + 1 < len(first) else len(code)) - 1 for b in range(len(first))]
    next_of = [[block[j] for j in after[e]] for e in ends]
    before = [[b for b, to in enumerate(next_of) if c in to] for c in range(len(first))]
    on_way = [{0}] + [None] * (len(first) - 1)  # blocks on each way to a block; None: no way was found
    changed = True
    while changed:
        changed = False
        for b in range(1, len(first)):
            known = [on_way[c] for c in before[b] if on_way[c] is not None]
            now = set.intersection(*known) | {b} if known else None
            changed, on_way[b] = changed or now != on_way[b], now
    found = collections.defaultdict(set)
    for b, to in enumerate(next_of):
        for head in to:
            if on_way[b] is not None and head in on_way[b] and first[head] <= first[b]:
                inside, left = {head, b}, [b]
                while left and left[0] != head:
                    new = [c for c in before[left.pop()] if c not in inside and on_way[c] is not None]
                    inside.update(new), left.extend(new)
                found[head] |= inside
    return [frozenset(j for b in inside for j in range(first[b], ends[b] + 1)) for inside in found.values()]


def is_tensor(name):
    return re.match(r"[HIQ]G?MMA\b", name) is not None


def looked_at(text):
    """Counts of a kernel's machine code: all of it, what stands in loops, and the loop with most products among the innermost that have any."""
    n = collections.Counter()
    best = (0, 0)
    for code in functions(text):
        around = loops(code)
        for i, (_, name, *_) in enumerate(code):
            n["tensor"] += is_tensor(name)
            for word in ("LDSM", "LDGSTS", "UTMALDG", "UTMASTG"):
                n[word] += name.startswith(word)
            n["membar"] += name.startswith("MEMBAR") and ".CTA" not in name and any(i in loop for loop in around)
        products = {loop: sum(is_tensor(code[i][1]) for i in loop) for loop in around}
        for loop in around:
            if products[loop] > best[1] and not any(other < loop and products[other] for other in around):
                best = (len(loop), products[loop])
    return n, best


def said(pattern, text):
    """Sums of the numbers that the pattern finds, column by column; None: nowhere."""
    rows = re.findall(pattern, text)
    return [sum(map(int, column)) for column in zip(*(r if isinstance(r, tuple) else (r,) for r in rows))] if rows else None


def run(words, what):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=1200, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{what}: {(done.stderr or done.stdout).strip()[:400]}")
    return done.stdout + done.stderr


def compiled(tileflow, name, what, isa, folder):
    """The folder of a case with kernel.cu, what ptxas says and the machine code, which stay as they are where the text is as it was."""
    at, new = folder / f"{name}-{isa}", folder / f"{name}-{isa}.new"
    run(["rm", "-rf", new], "rm")
    run([tileflow, "emit", "--quiet", SPEC[isa], *what, *([] if "--dtype" in what else ["--dtype", "bf16"]), "--target", "cuda", "--isa", isa, "-o", new, "--no-test"], "emit")
    if not (at / "sass").exists() or (at / "kernel.cu").read_text() != (new / "kernel.cu").read_text():
        nvcc, cuobjdump = os.environ.get("NVCC", "nvcc"), os.environ.get("CUOBJDUMP", "cuobjdump")
        said = run([nvcc, "-std=c++17", "-O3", "-cubin", *CODE[isa], "-Xptxas", "-v", "-o", new / "kernel.cubin", new / "kernel.cu"], "nvcc")
        (new / "ptxas").write_text(said)
        (new / "sass").write_text(run([cuobjdump, "-sass", new / "kernel.cubin"], "cuobjdump"))
        run(["rm", "-rf", at], "rm")
        new.rename(at)
    else:
        run(["cp", new / "manifest.json", at], "cp")
        run(["rm", "-rf", new], "rm")
    return at


def looked(at, name, isa):
    """The row of a case."""
    text, manifest, ptxas = (at / "kernel.cu").read_text(), json.loads((at / "manifest.json").read_text()), (at / "ptxas").read_text()
    n, loop = looked_at((at / "sass").read_text())
    small = said(r"machine code (\d+) MMA, (\d+) LDSM, (\d+) LDGSTS", text) or [0, 0, 0]
    large = said(r"machine code: (\d+) [HQ]GMMA, (\d+) UTMALDG, (\d+) UTMASTG", text) or [0, 0, 0]
    most = lambda pattern, where: max(map(int, re.findall(pattern, where)), default="")
    return {
        "case": name, "isa": isa, "kernels": len(re.findall("Compiling entry", ptxas)),
        "predicted_us": f"{manifest['kernel_seconds'] * 1e6:.2f}", "bound_by": manifest["bound_by"],
        "registers": most(r"Used (\d+) registers", ptxas), "registers_expected": most(r"Some (\d+) registers", text),
        "spilled": sum(map(int, re.findall(r"(\d+) bytes spill stores", ptxas))), "tensor": n["tensor"], "tensor_expected": small[0] + large[0],
        "loads": n["LDSM"] + n["UTMALDG"], "loads_expected": small[1] + large[1], "copies": n["LDGSTS"] + n["UTMASTG"],
        "copies_expected": small[2] + large[2], "membar_in_loops": n["membar"], "loop": loop[0], "loop_tensor": loop[1]}


def faults(row):
    """What is not as it should be."""
    as_expected = all(abs(int(row[w]) - int(row[w + "_expected"])) * 10 <= int(row[w + "_expected"]) for w in ("tensor", "loads", "copies"))
    return [w for w, is_so in (("spills", int(row["spilled"]) > 0), ("a barrier of memory in a loop", int(row["membar_in_loops"]) > 0),
                               ("no tensor cores", int(row["tensor"]) == 0), ("counts", not as_expected)) if is_so]


def table(rows):
    """A line for each family of cases and instruction set."""
    of = collections.defaultdict(list)
    for row in rows:
        name = row["case"]
        of[next((net for net in NETWORKS if name.startswith(net)), "table 4.2"), row["isa"]].append(row)
    print("| Convolutions | | Kernels | with tensor cores | all counts as predicted | spilling | `MEMBAR` in loops | registers over those needed, mean |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|")
    for (name, isa), rows in of.items():
        having = lambda fault: sum(fault in faults(r) for r in rows)
        exact = sum(all(r[w] == r[w + "_expected"] for w in ("tensor", "loads", "copies")) for r in rows)
        known = [int(r["registers"]) / int(r["registers_expected"]) for r in rows if r["registers_expected"]]
        print(f"| {name} | `{isa}` | {len(rows)} | {len(rows) - having('no tensor cores')} | {exact} | {having('spills')} | "
              f"{having('a barrier of memory in a loop')} | {sum(known) / max(1, len(known)):.2f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tileflow"), p.add_argument("out", nargs="?", type=pathlib.Path), p.add_argument("only", nargs="*")
    p.add_argument("--isa", choices=list(SPEC)), p.add_argument("--again", action="store_true"), p.add_argument("--table", action="store_true")
    p.add_argument("--folder", type=lambda path: pathlib.Path(path).absolute())
    o = p.parse_intermixed_args()
    if o.table:
        table(list(csv.DictReader(open(o.tileflow))))
        return 0
    old = list(csv.DictReader(open(o.out))) if o.out.exists() else []
    rows, failed = {(r["case"], r["isa"]): r for r in old}, 0
    with tempfile.TemporaryDirectory() as work:
        folder = o.folder or pathlib.Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        for name, what in list(cases(folder)):
            for isa in [o.isa] if o.isa else SPEC:
                if not any(fnmatch.fnmatch(name, word) for word in o.only or ["*"]):
                    continue
                if o.again or (name, isa) not in rows:
                    try:
                        rows[name, isa] = looked(compiled(os.path.abspath(o.tileflow), name, what, isa, folder), name, isa)
                    except RuntimeError as e:
                        print(f"FAIL: {name} {isa}: {e}", flush=True)
                        failed += 1
                        continue
                    with open(o.out, "w", newline="") as f:
                        w = csv.DictWriter(f, FIELDS, lineterminator="\n")
                        w.writeheader(), w.writerows(rows.values())
                wrong = faults(rows[name, isa])
                failed += bool(wrong)
                print(name, isa, *(f"FAIL: {w}" for w in wrong), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
