#!/usr/bin/env python3
"""Whether the front of a sweep that skips machines stands for that of one that solved them all.

  bench/sweep_fronts.py PRUNED.csv FULL.csv WITHIN      CSV of `tileflow results STORE --machines --csv FILE`

Each machine of the full front must have one of the pruned front beside it: with no more area, and at most WITHIN (0.01: a
hundredth) above it in every other objective.  Exit status 1 where one has none.
"""
import csv
import sys


def front(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    goals = [name[len("bound_"):] for name in rows[0] if name.startswith("bound_")]
    return [{g: float(r[g]) for g in goals} | {"machine": r["machine"]} for r in rows if r["front"] == "1"], goals, len(rows)


def main(pruned, full, within):
    ours, goals, n = front(pruned)
    theirs, _, _ = front(full)
    worst, alone = 1.0, []
    for t in theirs:
        beside = [o for o in ours if "area_um2" not in goals or o["area_um2"] <= t["area_um2"]]
        over = min((max(o[g] / t[g] for g in goals if g != "area_um2") for o in beside), default=float("inf"))
        worst = max(worst, over)
        if over > 1 + within:
            alone.append(t["machine"])
    same = {o["machine"] for o in ours} & {t["machine"] for t in theirs}
    print(f"{n} machines; fronts of {len(ours)} and {len(theirs)}, {len(same)} machines on both; "
          f"at most {100 * (worst - 1):.3f} % above the full front")
    for machine in alone:
        print(f"machine {machine} of the full front has none beside it")
    return 1 if alone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
