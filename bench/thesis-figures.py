#!/usr/bin/env python3
"""The figures 3.14 to 3.17 of the thesis (3.6.5) from runs of our own.

    bench/thesis-figures.py TILEFLOW [measure] [report]        both if none is named

ARCHS="edge cloud" names the architectures whose dataflows are measured anew (part dataflows: these alone).
measure writes docs/results/thesis-convergence.csv and thesis-dataflows.csv: the named dataflows of
workloads/dataflows with every trip count open, completed for each shape of tables 3.5 and 3.6, and what the
search finds without a template.  Searches are limited by mappings evaluated, not by the clock: the same on every machine.
report writes docs/results/thesis-means.csv and prints the section of docs/RESULTS-search.md; plots/figures.sh draws.
"""
import csv, json, math, os, re, subprocess, sys, tempfile

ARCHS = os.environ.get("ARCHS", "edge cloud").split()
# mappings: of a template's trip counts, and without a template (Cloud has a memory more: each takes longer)
EVALS = {"edge": {"attention": 40000, "conv-chain": 6000}, "cloud": {"attention": 15000, "conv-chain": 3000}}
FREE = {"edge": {"attention": 300000, "conv-chain": 60000}, "cloud": {"attention": 100000, "conv-chain": 20000}}
SHAPES = {"attention": [f"g{i}" for i in range(1, 13)], "conv-chain": [f"c{i}" for i in range(1, 9)]}
FLOWS = {"attention": ["layerwise", "uni-pipe", "flat-hgran", "flat-rgran", "chimera", "tileflow", "flash-attention"],
         "conv-chain": ["layerwise", "fused-layer", "isos", "tileflow"]}
DIMS = {"attention": {"S": "hmla", "X": "hml", "D": "hml", "E": "hml", "Z": "hml", "P": "hml", "O": "hmnl"},
        "conv-chain": {"M": "kpqcrs", "O": "fxykuv"}}
OUT = "docs/results/"


def search(tool, files, evals, log=None):
    """The JSON report, None where no mapping was found that fits (exit status 3)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [tool, "search", *files, "--evals", str(evals), "--seed", "1", "--threads", "2", "--quiet",
                   "--json", out.name] + (["--log", log] if log else [])
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
        return json.load(open(out.name)) if done.returncode == 0 else None


def opened(kind, path):
    """The template with every trip count open; an op's innermost Tile of several loops gets those of its dims that
    the path has no temporal loop of (the shape for which it was written by hand needed none)."""
    lines = open(path).read().split("\n")
    start = next(i for i, l in enumerate(lines) if l.startswith("mapping"))
    body = [re.sub(r"=\d+", "=?", l) for l in lines[start:]]
    for i, l in enumerate(body):
        if not (m := re.match(r"( *)op (\w+)", l)):
            continue
        have, own, depth = "", None, len(m[1])
        for j in range(i - 1, 0, -1):
            indent = len(body[j]) - len(body[j].lstrip())
            if indent >= depth:
                continue
            depth = indent
            if re.match(r" *(DRAM|L\d)", body[j]):
                temporal = body[j].split(" spatial")[0]
                have += "".join(re.findall(r"(\w)=\?", temporal))
                own = j if own is None and not re.match(r" *L0", body[j]) else own
        missing = [d for d in DIMS[kind][m[2]] if d not in have]
        if own is not None and missing:
            head, *tail = body[own].split(" spatial", 1)
            loops = " ".join(d + "=?" for d in missing)
            head = head.replace(" for ", f" for {loops} ", 1) if " for " in head else f"{head} for {loops}"
            body[own] = " spatial".join([head, *tail])
    return "\n".join(body)


def words(report):
    levels = report["levels"]
    total = [sum(l[k] for k in ("fill", "read", "update", "drain")) for l in levels]
    inner = [l for l in levels[1:] if l["name"] == "L1"][0]
    return [total[0], sum(total[1:-1]), inner["fill"], inner["read"], inner["update"]]


def dataflows(tool):
    path = OUT + "thesis-dataflows.csv"
    kept = [r for r in csv.reader(open(path)) if r[0] not in ARCHS + ["architecture"]] if os.path.exists(path) else []
    with open(path, "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow("architecture kind shape dataflow cycles energy_pj dram_words onchip_words l1_fill l1_read l1_update".split())
        rows.writerows(kept)
        for arch in ARCHS:
            for kind in SHAPES:
                for flow in FLOWS[kind] + ["found"]:
                    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as mapping:
                        if flow != "found":
                            mapping.write(opened(kind, f"workloads/dataflows/{arch}/{kind}-{flow}.yaml"))
                            mapping.flush()
                        for shape in SHAPES[kind]:
                            files = [f"arch-specs/{arch}.yaml", f"workloads/{kind}/{shape}.yaml"]
                            r = search(tool, files + ([mapping.name] if flow != "found" else []),
                                       EVALS[arch][kind] if flow != "found" else FREE[arch][kind])
                            rows.writerow([arch, kind, shape, flow] +
                                          ([r["search"]["value"], r["energy_pj"], *words(r)] if r else ["-"] * 7))
                            f.flush()


def curve(log):
    """Mappings evaluated, best so far."""
    n, best = 0, None
    for line in open(log):
        word = line.split()
        if word[0] == "task":
            n += int(word[3])
        if word[0] == "best" and word[1] == "0" and (best is None or float.fromhex(word[2]) < best):
            best = float.fromhex(word[2])
            yield n, best
    if best is not None:
        yield n, best


def convergence(tool):
    """a: trip counts alone, each dataflow; b, c: the whole space, on Edge and Cloud.  Bert-Small's attention."""
    work = "workloads/attention/g1.yaml"
    with open(OUT + "thesis-convergence.csv", "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow("part curve evaluations best".split())

        def draw(part, name, files, evals):
            with tempfile.TemporaryDirectory() as d:
                search(tool, files, evals, d + "/log")
                if os.path.exists(d + "/log"):
                    for n, best in curve(d + "/log"):
                        rows.writerow([part, name, n, best])
            f.flush()

        for flow in FLOWS["attention"]:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as mapping:
                mapping.write(opened("attention", f"workloads/dataflows/edge/attention-{flow}.yaml"))
                mapping.flush()
                draw("a", flow, ["arch-specs/edge.yaml", work, mapping.name], 40000)
        for part, arch in (("b", "edge"), ("c", "cloud")):
            draw(part, arch, [f"arch-specs/{arch}.yaml", work], 300000)


# ---- report ----------------------------------------------------------------------------------------------
THESIS = {("edge", "attention"): {"uni-pipe": (1.62, 90.4), "flat-hgran": (3.59, 90.4), "flat-rgran": (2.89, 81.5),
                                  "chimera": (2.91, 75.1), "tileflow": (6.65, 87.1)},
          ("cloud", "attention"): {"uni-pipe": (1.37, None), "flat-hgran": (12.63, None), "flat-rgran": (12.63, None),
                                   "chimera": (12.63, None), "tileflow": (12.63, None)},
          ("cloud", "conv-chain"): {"fused-layer": (1.01, 73.0), "tileflow": (1.59, None)}}


def means():
    rows = [r for r in csv.DictReader(open(OUT + "thesis-dataflows.csv"))]
    base = {(r["architecture"], r["kind"], r["shape"]): r for r in rows if r["dataflow"] == "layerwise"}
    out = {}
    for r in rows:
        b = base[r["architecture"], r["kind"], r["shape"]]
        m = out.setdefault((r["architecture"], r["kind"], r["dataflow"]), [])
        if r["cycles"] != "-" and b["cycles"] != "-":
            m.append([float(b["cycles"]) / float(r["cycles"])] +
                     [float(r[k]) / float(b[k]) for k in ("dram_words", "onchip_words", "energy_pj")])
    gm = lambda v: math.exp(sum(map(math.log, v)) / len(v))
    return {k: [gm([x[0] for x in m])] + [sum(x[i] for x in m) / len(m) for i in (1, 2, 3)] + [len(m)]
            for k, m in out.items() if m}


def stamped(what):
    """Where it was measured, as lib.sh's stamped says it; lib.sh's stamp writes the row."""
    for r in csv.reader(open(OUT + "runs.csv")):
        if r[0] == what:
            return f"*{r[3]}, {r[4]} cores, {r[5]} ([runs.csv](results/runs.csv)).*"
    return "*Not said where.*"


def stamp(what, load):
    subprocess.run(["sh", "-c", '. bench/lib.sh; stamp "$1" "$2"', "sh", what, "%.2f" % load], check=True)


TEXT = """
## The thesis's figures, from our runs

The search completes the dataflows of [workloads/dataflows](../workloads/dataflows), all trip counts open, for each shape of tables 3.5 and 3.6. It takes
{edge[attention]} mappings on Edge and {cloud[attention]} on Cloud (convolution chains {edge[conv-chain]} and {cloud[conv-chain]}), seed 1. `found` has no template. A
dataflow is missing where no mapping among these fits. `bench/thesis-figures.py` writes this section from
[results/thesis-dataflows.csv](results/thesis-dataflows.csv) and [results/thesis-convergence.csv](results/thesis-convergence.csv).

{stamped}

![3.14 a: convergence, trip counts](img/search/thesis-3-14-a.svg)

![3.14 b: convergence, the whole space, Edge](img/search/thesis-3-14-b.svg)

![3.14 c: convergence, the whole space, Cloud](img/search/thesis-3-14-c.svg)

![3.15: attention on Edge, cycles](img/search/thesis-3-15-cycles.svg)

![3.15: attention on Edge, DRAM words](img/search/thesis-3-15-DRAM-words.svg)

![3.15: attention on Edge, on-chip words](img/search/thesis-3-15-on-chip-words.svg)

![3.15 d: words of L1](img/search/thesis-3-15-d.svg)

![3.16: attention on Cloud, cycles](img/search/thesis-3-16-cycles.svg)

![3.16: attention on Cloud, DRAM words](img/search/thesis-3-16-DRAM-words.svg)

![3.16: attention on Cloud, on-chip words](img/search/thesis-3-16-on-chip-words.svg)

![3.17: convolution chains on Cloud, cycles](img/search/thesis-3-17-cycles.svg)

![3.17: convolution chains on Cloud, DRAM words](img/search/thesis-3-17-DRAM-words.svg)

![3.17: convolution chains on Cloud, on-chip words](img/search/thesis-3-17-on-chip-words.svg)

*Speed* is layerwise's cycles over theirs (geometric mean), *words* are theirs over layerwise's (mean), over the shapes for which both were
found. *Thesis*: what 3.6.5.2 and 3.6.5.3 report.
"""

WHY = """
Why ours differ:

- *DRAM words*: K and V stay in a core while rows pass; TileFlow fetches them again for each tile.
- *Cloud*: FLAT-HGran tiles by heads alone, so nothing hides the first load and the last store. Uni-pipe uses one core of four.
- *On-chip words* rise with fusion in the thesis (2.01 to 6.45 times for TileFlow). Here layerwise, too, passes every intermediate through the chip.
- *Convolution chains on Cloud*: ours are bound by DRAM; in the thesis Fused-Layer gains nothing.
- *Found* is one search, and may be slower than a template.
"""


def report():
    table = means()
    with open(OUT + "thesis-means.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow("architecture kind dataflow speed dram onchip energy shapes thesis_speed".split())
        for (arch, kind, flow), m in table.items():
            t = THESIS.get((arch, kind), {}).get(flow, (None, None))[0]
            w.writerow([arch, kind, flow] + ["%.4f" % x for x in m[:4]] + [m[4], t if t else "nan"])
    print(TEXT.format(**EVALS, stamped=stamped("thesis")))
    print("| architecture | kind | dataflow | speed over layerwise | thesis | DRAM words saved | thesis | on-chip words, layerwise = 1 | energy saved | shapes |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for (arch, kind, flow), m in table.items():
        if flow == "layerwise":  # what the others are compared with
            continue
        speed, saved = THESIS.get((arch, kind), {}).get(flow, (None, None))
        print(f"| {arch} | {kind} | {flow} | {m[0]:.2f} | {speed or '-'} | {100 * (1 - m[1]):.1f} % | "
              f"{f'{saved} %' if saved else '-'} | {m[2]:.2f} | {100 * (1 - m[3]):.1f} % | {m[4]} |")
    print(WHY, end="")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool, parts = os.path.realpath(sys.argv[1]), sys.argv[2:] or ["measure", "report"]
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
    for part in parts:
        if part == "measure":
            load = os.getloadavg()[0]
            convergence(tool)
            dataflows(tool)
            stamp("thesis", load)
        elif part == "dataflows":
            dataflows(tool)
        elif part == "report":
            report()
        else:
            sys.exit(f"no part '{part}'")


main()
