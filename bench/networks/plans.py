#!/usr/bin/env python3
"""Plans of whole networks on several machines, as tables: the time that the model gives, how far from the bound, and what part of it goes where.

  plans.py TILEFLOW FOLDER            networks of tests/data/networks on four architectures: time, bound, processor time of planning
  plans.py TILEFLOW FOLDER --shares   three transformers of 512 tokens (ViT-Huge: 256 patches) on the A100, each op alone and fused: table 3.1 of the thesis

FOLDER keeps NAME.ARCH.json and NAME.ARCH.time; what is there is not planned again.  The first needs plain Python, the second onnx.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHS = ["edge", "cloud", "xeon-gold-6240", "a100"]
THESIS = {"transformer": (19.45, 40.51, 40.04), "bert-base": (30.56, 42.79, 26.65), "vit-huge": (15.63, 50.85, 33.52)}


def plan(o, model, arch, name, more=()):
    """The plan as JSON and the processor seconds it took; None: refused."""
    out, took = o.folder / f"{name}.json", o.folder / f"{name}.time"
    if not out.exists() or not took.exists():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([o.tileflow, "plan", ROOT / f"arch-specs/{arch}.yaml", model, "--quiet", "--threads", "1", "--json", out, *o.plan.split(), *more], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if said.returncode:
            print(f"{name}: {said.stderr[:300]}", file=sys.stderr)
            return None, 0
        took.write_text(f"{after.ru_utime - before.ru_utime} {after.ru_stime - before.ru_stime}\n")
    user, system = took.read_text().split("\n")[-2].split()[:2]
    return json.loads(out.read_text()), float(user) + float(system)


def number(x):
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def machines(o):
    """Time in ms, its ratio to the bound of the whole network, processor seconds of planning."""
    print("| Network | " + " | ".join(ARCHS) + " |\n|---|" + "--:|" * len(ARCHS))
    refused = 0
    for line in (ROOT / "tests/data/networks/products.txt").read_text().splitlines():
        name, cells = line.split()[0], []
        for arch in ARCHS:
            p, seconds = plan(o, ROOT / f"tests/data/networks/{name}.onnx", arch, f"{name}.{arch}")
            refused += p is None
            bound = p["bounds"]["cycles"] if p else 0
            cells.append(f"{number(1e3 * p['seconds'])} ({p['cycles'] / bound:.2f}, {seconds:.1f} s)" if p else "refused")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return refused


def kinds_of(text):
    """What each op of a workload is: a product of two tensors that ops make, another sum of products, or neither."""
    ops = re.findall(r"^  - (\w+)\[[^\]]*\] (\S*=) (.*)$", text, re.M)
    views = dict(re.findall(r"^    (\w+): \{view: (\w+),", text, re.M))
    made, kind = {name for name, _, _ in ops}, {}
    for name, how, value in ops:
        product = re.fullmatch(r"(\w+)\[[^\]]*\] \* (\w+)\[[^\]]*\]", value) if how == "+=" else None
        both = product and product[1] != product[2] and all(views.get(t, t) in made for t in product.groups())
        kind[name] = "batch" if both else "product" if product and product[1] != product[2] else "memory"
    return kind


def shares(o):
    """Parts of the time: groups with a product of two activations, others with a product, the rest."""
    import onnx
    import models

    made = {"transformer": (models.bert_base, {"layers": 6, "width": 512, "heads": 8, "tokens": 512}), "bert-base": (models.bert_base, {"tokens": 512}),
            "vit-huge": (models.bert_base, {"layers": 32, "width": 1280, "heads": 16, "tokens": 256})}  # its patches; 257 with the class is prime
    print("| Network | | Memory-bound, % | Products, % | Batch products, % | Time, ms |\n|---|---|--:|--:|--:|--:|")
    for name, (build, how) in made.items():
        n = models.Net(1, weights=False)
        build(n, **how)
        path = o.folder / f"{name}-512.onnx"
        onnx.save(n.model(name), path)
        text = subprocess.run([o.tileflow, "import", path, "--quiet"], capture_output=True, text=True, check=True).stdout
        kind = kinds_of(text)
        print(f"| {name} | thesis | " + " | ".join(f"{x:.1f}" for x in THESIS[name]) + " | |")
        for way, more in (("each op alone", ["--max-ops", "1"]), ("fused", [])):
            p, _ = plan(o, path, "a100", f"{name}-512.{'alone' if more else 'fused'}", more)
            part = {"memory": 0.0, "product": 0.0, "batch": 0.0}
            for g in p["groups"]:
                of = {kind[op] for op in g["ops"]}
                part["batch" if "batch" in of else "product" if "product" in of else "memory"] += g["cycles"]
            print(f"| | {way} | " + " | ".join(f"{100 * x / sum(part.values()):.1f}" for x in part.values()) + f" | {number(1e3 * p['seconds'])} |", flush=True)
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow"), p.add_argument("folder", type=pathlib.Path), p.add_argument("--shares", action="store_true")
    p.add_argument("--plan", default="--evals 100 --time-limit 8", help="more for `tileflow plan`")
    o = p.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    return shares(o) if o.shares else machines(o)


if __name__ == "__main__":
    sys.exit(main())
