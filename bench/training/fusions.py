#!/usr/bin/env python3
"""What fusing two forward ops brings in a training step (thesis figure 4.5, Eq. 4.10), of networks of workloads/training.

    fusions.py TILEFLOW OUT.csv [NETWORK...]

NETWORK: all of workloads/training if none is given (minutes each: every choice of what is kept is planned, too).
OUT.csv: network, pair (the inputs of both ops), through (the tensor between them), words_saved, points_saved, kernels_saved, benefit_cycles (of Eq. 4.10, at the rates
of arch-specs/host-template.yaml, 0 cycles a kernel), verdict: taken, rejected (its benefit is below 0), or open (another fusion was taken in its place).
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(tool, path):
    by = re.search(r"^# Parameters: ([\w,]+)\.", path.read_text(encoding="utf-8"), re.M)
    args = [tool, "train", ROOT / "arch-specs/host-template.yaml", path, "--of", "L", "--by", by[1], "--evals", "1", "--threads", "1", "--json", "-"]
    for f in json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)["fusions"]:
        verdict = "taken" if f["taken"] else "rejected" if f["benefit_cycles"] < 0 else "open"
        yield (path.stem, " + ".join(f["inputs"]), f["through"], f"{f['words_saved']:.0f}", f"{f['points_saved']:.0f}", f["kernels_saved"], f"{f['benefit_cycles']:.0f}", verdict)


def main():
    tool, out, *only = sys.argv[1:]
    lines = ["network,pair,through,words_saved,points_saved,kernels_saved,benefit_cycles,verdict"]
    for path in sorted((ROOT / "workloads/training").glob("*.yaml")):
        if only and path.stem not in only:
            continue
        lines += [",".join(map(str, row)) for row in rows(tool, path)]
        print(path.stem, flush=True)
    pathlib.Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
