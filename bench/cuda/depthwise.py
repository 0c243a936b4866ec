#!/usr/bin/env python3
"""Depthwise convolutions on the target cuda, without a GPU: those of MobileNet-V2 and EfficientNet-B0, channels last and first, and
some with two and four outputs a channel; 32 images, bfloat16.

    bench/cuda/depthwise.py TILEFLOW OUT.csv [--before OTHER] [--folder DIR] [CASE...]     CASE: patterns, 'a100-first-*-5x5*'
    bench/cuda/depthwise.py --table OUT.csv                                    what it comes to

Each layer has a row for an H100 (sm_90a) and an A100 (sm_80): the expected time, the unit that bounds it and the cycles of all; the same time by another program (--before;
without it what OUT.csv has stays); registers and spilled bytes, from ptxas; copies that machine code has beside those that kernel.cu predicts; barriers of memory in loops;
and what a warp issues in a step of the loop that sums, expected by manifest.json and counted in machine code, as issue.py counts it.
Rows come as they are made, all of them anew.  nvcc and cuobjdump by NVCC and CUOBJDUMP, else on the PATH.
Exit 1: one is not written, not compiled, spills, has a barrier of memory in a loop, does not sum from a tile, or copies or issues more than a tenth more or less than expected.
"""
import argparse
import csv
import fnmatch
import json
import os
import pathlib
import re
import sys
import tempfile

import issue
import sass

UNITS = ["issue", "shared", "l2", "memory", "waits", "start"]
FIELDS = ["architecture", "network", "pixels in", "pixels out", "channels", "window", "stride", "images", "layout", "outputs", "before us", "us", "bound by", *UNITS,
          "registers", "registers expected", "spilled", "copies", "copies expected", "membar in loops", "issued", "issued expected", "ratio"]
KEY = FIELDS[:10]
# Pixels in and out along a side, channels, window, stride (Sandler et al. 2018, table 2; Tan and Le 2019, table 1).
NETWORKS = {
    "MobileNetV2": """112 112 32 3 1, 112 56 96 3 2, 56 56 144 3 1, 56 28 144 3 2, 28 28 192 3 1, 28 14 192 3 2, 14 14 384 3 1, 14 14 576 3 1,
        14 7 576 3 2, 7 7 960 3 1""",
    "EfficientNet-B0": "28 14 144 5 2, 56 28 144 5 2, 28 28 240 5 1, 14 14 480 5 1, 14 14 672 5 1, 14 7 672 5 2, 7 7 1152 5 1",
}
MORE = "28 28 64 3 1 2, 56 56 32 3 1 4, 14 14 144 5 1 2"  # and outputs of a channel
IMAGES = 32
MACHINES = {"h100": "sm_90a", "a100": "sm_80"}


def layer(into, out, channels, window, stride, layout, outputs):
    """A layer's workload, its channels last or first."""
    pad = (window - 1) // 2
    rows, columns = (f"{stride}*{x}+{w}-{pad}" for x, w in ("pr", "qs"))
    last, more = layout == "last", ",m" if outputs > 1 else ""
    order = lambda pixels, channel: ",".join([pixels, channel] if last else [channel, pixels])
    dims = f", m: {outputs}" if more else ""
    out_at, in_at, of = order("p,q", "c" + more), order(f"{rows},{columns}", "c"), order("r,s", "c" + more)
    return f"""workload:
  name: layer
  dims: {{n: {IMAGES}, p: {out}, q: {out}, c: {channels}{dims}, r: {window}, s: {window}}}
  tensors: {{I: {{pad: [0,{order(f"{pad},{pad}", "0")}], shape: [{IMAGES},{order(f"{into},{into}", str(channels))}]}}}}
  ops:
  - "O[n,{out_at}] += I[n,{in_at}] * W[{of}]"
"""


def cases():
    """Row without what is measured, name and text of each."""
    for machine in MACHINES:
        for layout, net, layers in [(layout, *net) for layout in ("last", "first") for net in NETWORKS.items()] + [("last", "", MORE)]:
            for text in layers.split(","):
                into, out, channels, window, stride, outputs = (*map(int, text.split()), 1)[:6]
                row = dict(zip(KEY, (machine, net, into, out, channels, window, stride, IMAGES, layout, outputs)))
                name = f"{layout}-{net or outputs}-{into}-{out}-{channels}-{window}x{window}-s{stride}"
                yield row, name, layer(into, out, channels, window, stride, layout, outputs)


def step(code, summed):
    """Of a function: what is issued in the smallest loop that has all its sums and copies, for as many sums."""
    of = lambda loop, word: sum(code[i][1].startswith(word) for i in loop)
    everywhere = range(len(code))
    sums, copies = of(everywhere, "FFMA"), of(everywhere, ("LDGSTS", "STS"))
    around = [loop for loop in sass.loops(code) if of(loop, "FFMA") * 10 >= sums * 9 and of(loop, ("LDGSTS", "STS")) == copies]
    if not around:
        return 0
    taken = issue.way(code, min(around, key=len), False)
    # pieces of eight elements that a loop puts together
    puts = [loop for loop in sass.loops(code) if of(loop, "STS") and not of(loop, "FFMA")]
    all_of = len(taken) + sum(7 * len(loop & set(taken)) for loop in puts)
    return all_of * summed / of(taken, "FFMA") if of(taken, "FFMA") else 0


def looked(at):
    """What machine code and the manifest of a kernel say."""
    text, manifest, ptxas = (at / "kernel.cu").read_text(), json.loads((at / "manifest.json").read_text()), (at / "ptxas").read_text()
    machine = (at / "sass").read_text()
    n, _ = sass.looked_at(machine)
    copies = (sass.said(r"machine code \d+ MMA, \d+ LDSM, (\d+) LDGSTS", text) or [0])[0]
    most = lambda pattern, where: max(map(int, re.findall(pattern, where)), default="")
    row = {"us": f"{manifest['kernel_seconds'] * 1e6:.1f}", "bound by": manifest["bound_by"], **{u: f"{manifest['unit_cycles'][u]:.0f}" for u in UNITS},
           "registers": most(r"Used (\d+) registers", ptxas), "registers expected": most(r"Some (\d+) registers", text),
           "spilled": sum(map(int, re.findall(r"(\d+) bytes spill stores", ptxas))), "copies": n["LDGSTS"], "copies expected": copies,
           "membar in loops": n["membar"]}
    steps = [s for s in manifest.get("steps", []) if s.get("summed")]
    if len(steps) == 1:
        counted = max(step(code, steps[0]["summed"]) for code in sass.functions(machine))
        row |= {"issued": f"{counted:.0f}", "issued expected": f"{steps[0]['issued']:.0f}", "ratio": f"{steps[0]['issued'] / counted:.3f}" if counted else ""}
    return row


def near(a, b):
    return bool(a and b) and abs(float(a) - float(b)) * 10 <= float(a)


def faults(row):
    """What is not as it should be."""
    return [w for w, is_so in (("spills", int(row["spilled"]) > 0), ("a barrier of memory in a loop", int(row["membar in loops"]) > 0),
                               ("no tile", not row.get("issued expected")), ("copies", row["layout"] == "last" and not near(row["copies"], row["copies expected"])),
                               ("issued", not near(row.get("issued"), row.get("issued expected")))) if is_so]


def seconds(tileflow, spec, isa, what, folder):
    sass.run(["rm", "-rf", folder / "before"], "rm")
    sass.run([tileflow, "emit", "--quiet", spec, what, "--dtype", "bf16", "--target", "cuda", "--isa", isa, "-o", folder / "before", "--no-test"], "emit")
    return json.loads((folder / "before/manifest.json").read_text())["kernel_seconds"]


def table(rows):
    """A line for each architecture."""
    print("| | Kernels | issued within 10 % | copies as predicted | spilling | `MEMBAR` in loops | time over that before, median |\n|---|--:|--:|--:|--:|--:|--:|")
    for machine, layout, more in [(m, *kind) for m in MACHINES for kind in (("last", False), ("first", False), ("last", True))]:
        of = [r for r in rows if (r["architecture"], r["layout"], int(r["outputs"]) > 1) == (machine, layout, more)]
        having = lambda fault: sum(fault in faults(r) for r in of)
        ratios = sorted(float(r["us"]) / float(r["before us"]) for r in of if r["before us"])
        print(f"| {machine}, channels {layout}{', several outputs' * more} | {len(of)} | {len(of) - having('issued')} | {len(of) - having('copies')} | {having('spills')} | "
              f"{having('a barrier of memory in a loop')} | {ratios[len(ratios) // 2] if ratios else 0:.2f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tileflow"), p.add_argument("out", nargs="?", type=pathlib.Path), p.add_argument("only", nargs="*")
    p.add_argument("--before"), p.add_argument("--table", action="store_true")
    p.add_argument("--folder", type=lambda path: pathlib.Path(path).absolute())
    o = p.parse_intermixed_args()
    if o.table:
        table(list(csv.DictReader(open(o.tileflow))))
        return 0
    key = lambda row: tuple(str(row[k]) for k in KEY)
    rows, failed = {key(r): r for r in csv.DictReader(open(o.out))} if o.out.exists() else {}, 0
    with tempfile.TemporaryDirectory() as work:
        folder = o.folder or pathlib.Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        for row, name, text in cases():
            if not any(fnmatch.fnmatch(f"{row['architecture']}-{name}", word) for word in o.only or ["*"]):
                continue
            what, isa = folder / f"{name}.yaml", MACHINES[row["architecture"]]
            what.write_text(text)
            try:
                row["before us"] = rows.get(key(row), {}).get("before us", "")
                if o.before:
                    row["before us"] = f"{seconds(os.path.abspath(o.before), sass.SPEC[isa], isa, what, folder) * 1e6:.1f}"
                row |= looked(sass.compiled(os.path.abspath(o.tileflow), name, [str(what)], isa, folder))
            except RuntimeError as e:
                print(f"FAIL: {name} {isa}: {e}", flush=True)
                failed += 1
                continue
            rows[key(row)] = row
            with open(o.out, "w", newline="") as f:
                w = csv.DictWriter(f, FIELDS, lineterminator="\n", restval="")
                w.writeheader(), w.writerows(rows.values())
            wrong = faults(row)
            failed += bool(wrong)
            print(name, isa, row.get("ratio"), *(f"FAIL: {w}" for w in wrong), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
