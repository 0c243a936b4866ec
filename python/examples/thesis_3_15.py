#!/usr/bin/env python3
"""Redraws a part of the thesis's figure 3.15 a) and b): cycles and DRAM words of seven dataflows of self-attention on
the Edge accelerator, over those of the one that fuses nothing.  The trip counts of each dataflow, as written in
workloads/dataflows for one shape, are left open and completed for each shape by a search.

    TILEFLOW=build PYTHONPATH=python python3 python/examples/thesis_3_15.py [OUT.svg] [EVALS]

In the folder of the sources.  EVALS: mappings tried for each bar (2000; bench/thesis-figures.py has 40000, and
docs/results/thesis-dataflows.csv what that gives).  Draws with gnuplot where it is there; prints the figures anyway."""
import pathlib
import re
import shutil
import subprocess
import sys

import tileflow

FLOWS = ("layerwise", "uni-pipe", "flat-hgran", "flat-rgran", "chimera", "tileflow", "flash-attention")
SHAPES = ("g1", "g4", "g7", "g10")
FIGURES = (("cycles", "cycles"), ("traffic_words", "DRAM words"))


def opened(flow):
    """The dataflow with every trip count open."""
    text = pathlib.Path(f"workloads/dataflows/edge/attention-{flow}.yaml").read_text()
    return re.sub(r"=\d+", "=?", text)


def find(flow, shape, evals):
    """Figures of the best completion; None where none of those tried fits."""
    try:
        return tileflow.search("arch-specs/edge.yaml", f"workloads/attention/{shape}.yaml", opened(flow),
                               evals=evals, seed=1).summary()
    except tileflow.Error as e:
        if e.status != 3:
            raise
        return None


def ratio(found, least, key):
    return found[key] / least[key] if found and least else float("nan")


def draw(path, table):
    """table: (title, rows) for each part; a row is a shape and its ratios."""
    script = [f"set terminal svg size 900,{300 * len(table)} font 'sans,11' background 'white'", f"set output '{path}'",
              "set style data histograms", "set style histogram clustered gap 1", "set style fill solid 0.8",
              "set boxwidth 0.9", "set grid ytics", "set key outside right", "set yrange [0:*]",
              f"set multiplot layout {len(table)},1"]
    for n, (title, rows) in enumerate(table):
        script += [f"$part{n} << end", *(" ".join(map(str, row)) for row in rows), "end",
                   f"set title 'self-attention on Edge: {title}, layerwise = 1'",
                   "plot " + ", ".join(f"$part{n} using {i + 2}:xtic(1) title '{f}'" for i, f in enumerate(FLOWS))]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main(path="thesis-3-15.svg", evals="2000"):
    found = {(f, s): find(f, s, int(evals)) for s in SHAPES for f in FLOWS}
    table = [(title, [[s, *(ratio(found[f, s], found["layerwise", s], key) for f in FLOWS)] for s in SHAPES])
             for key, title in FIGURES]
    for title, rows in table:
        print(f"{title}, layerwise = 1\n{'':5}" + "".join(f"{f:>16}" for f in FLOWS))
        for shape, *ratios in rows:
            print(f"{shape:5}" + "".join(f"{r:16.3f}" for r in ratios))
    if shutil.which("gnuplot"):
        draw(path, table)
        print(f"{path} drawn")
    else:
        print("no gnuplot: no drawing")


if __name__ == "__main__":
    main(*sys.argv[1:])
