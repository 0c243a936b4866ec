#!/usr/bin/env python3
"""Timeloop's published runs beside ours: every counter, the cycles, and the energy of every component.

    bench/validate-exercises.py TILEFLOW FOLDER >docs/results/timeloop-exercises.csv

FOLDER holds a folder for each run of github.com/Accelergy-Project/timeloop-accelergy-exercises: what Timeloop's front end wrote
(parsed-processed-input.yaml), the mapper's mapping, the energies and areas (ERT, ART) and what Timeloop printed (*.stats.txt).
All are read as they are.  A row is one figure of one component (and data space); `why` says what the difference is:

  equal
  windows        an input's window moves in two ranks at once, or in steps that overlap: Timeloop counts whole tiles
  partial sums   fills of an output below a network that reduces: every instance there, one here
  counts         of an energy: what the counters that differ take
  whole cycles   Timeloop rounds up
  other          anything else: none is expected

Of the runs on sparse data the counters are those that Timeloop calls algorithmic; cycles and energies have `sparse`.
"""
import csv
import glob
import json
import os
import re
import subprocess
import sys

COUNTERS = {"reads": "read", "fills": "fill", "updates": "update"}


def number(text):
    return float(re.match(r"[-+.0-9e]+", text).group())


def stats_of(path):
    """Levels by name with the figures of each data space; cycles, points; pJ of each component."""
    levels, level, space = {}, None, None
    text = open(path).read()
    head, _, summary = text.partition("Operational Intensity Stats")
    for line in head.split("\nNetworks\n")[0].splitlines():
        name = re.match(r"=== (\S+) ===", line)
        if name:
            level = levels.setdefault(name.group(1), {"spaces": {}})
            space = None
            continue
        if level is None:
            continue
        start = re.match(r"    (\w+):\s*$", line)
        if start:
            space = level["spaces"].setdefault(start.group(1), {})
            continue
        item = re.match(r"\s+(.+?)\s*:\s+(\S+)", line)
        if item:
            (space if space is not None else level)[item.group(1).strip()] = item.group(2)
    cycles = int(re.search(r"^Cycles: (\d+)", summary, re.M).group(1))
    per_point = dict(re.findall(r"^    (\S+)\s+= ([-+.0-9e]+)$", summary.split("fJ/", 1)[1], re.M))
    points = int(re.search(r"^(?:Computes|Algorithmic Computes|Actual Computes) = (\d+)", summary, re.M).group(1))
    return levels, cycles, points, {k: float(v) * points / 1000 for k, v in per_point.items()}


def counters_of(space):
    """Words over all instances, of the two forms in which Timeloop prints them."""
    used = float(space.get("Utilized instances (average)", space["Utilized instances (max)"]))
    out = {}
    for theirs, ours in COUNTERS.items():
        each = space.get(f"Algorithmic scalar {theirs} (per-instance)", space.get(f"Scalar {theirs} (per-instance)"))
        out[ours] = round(float(each) * used)
    return out


def tables_of(path):
    """pJ of the actions of every component."""
    out, name, action = {}, None, None
    for line in open(path):
        item = re.match(r"\s+(?:- )?(name|energy): (\S+)", line)
        if not item:
            continue
        if item.group(1) == "energy":
            out[name][action] = float(item.group(2))
        elif re.match(r"      - name", line):
            name = re.sub(r"\[.*", "", item.group(2)).split(".")[-1]
            out[name] = {}
        else:
            action = item.group(2)
    return out


def is_sparse(said):
    return "of dense data" in said


def compare_counts(run, levels, ours, output, rows):
    """Adds a row for each counter."""
    for name, level in levels.items():
        for space, figures in level["spaces"].items():
            mine = ours.get(name, {}).get(space, {})
            for counter, theirs in counters_of(figures).items():
                here = mine.get(counter, 0)
                why = "equal" if here == theirs else "other"
                if why == "other" and here < theirs:
                    why = "windows" if space not in output else "partial sums" if counter == "fill" else "other"
                rows.append([run, name, space, counter, theirs, here, why])


def whole_words(words, used, block):
    """Words that accesses of `block` words move, each instance's share of them rounded up to whole ones."""
    return used * -(-(words / used) // block) * block if used else 0


def counts_pj(level, ours, block, read, write):
    """pJ of the counters that differ, by whole accesses."""
    pj = 0
    for space, figures in level["spaces"].items():
        used = float(figures.get("Utilized instances (average)", figures["Utilized instances (max)"]))
        for counter, words in counters_of(figures).items():
            more = whole_words(ours.get(space, {}).get(counter, 0), used, block) - whole_words(words, used, block)
            pj += more * (read if counter == "read" else write)
    return pj


def parts_of(level, ours, table):
    """What a memory's energy differs by."""
    block = float(level.get("Block size", level.get("Data block size", 1)))
    return {"counts": counts_pj(level, ours, block, table.get("read", 0) / block, table.get("write", 0) / block)}


def sign(parts, theirs):
    """The parts that matter, the largest first."""
    seen = [(abs(v), f"{k} {v:+.6g}") for k, v in parts.items() if abs(v) >= 0.0005 * max(theirs, 1e-9)]
    return "; ".join(text for _, text in sorted(seen, reverse=True))


def taken(component):
    """pJ of what it does, and of what it leaks."""
    return component["energy_pj"] + component.get("leakage_pj", 0)


def compare_energy(run, levels, energies, points, reply, tables, sparse, rows):
    ours = {lvl["name"]: lvl for lvl in reply["levels"]}
    for unit in reply["compute"]:
        theirs = energies.get(unit["name"], 0)
        more = taken(unit) - theirs
        why = "equal" if abs(more) <= 0.00001 * points + 0.01 else f"other {more:+.6g}"
        rows.append([run, unit["name"], "", "energy", f"{theirs:.6g}", f"{taken(unit):.6g}", "sparse" if sparse else why])
    for name, level in levels.items():
        if name not in energies or name not in tables or "Block size" not in level and "Data block size" not in level:
            continue
        theirs, mine = energies[name], ours.get(name, {"energy_pj": 0, "tensors": {}})
        parts = parts_of(level, mine["tensors"], tables[name])
        rest = taken(mine) - theirs - sum(parts.values())
        printed = 0.00001 * points + 0.02 * (1 + len(level["spaces"]))  # Timeloop prints 0.01 fJ a point, 0.01 pJ of leakage
        why = "sparse" if sparse else f"other {rest:+.6g}" if abs(rest) > printed else sign(parts, theirs) or "equal"
        rows.append([run, name, "", "energy", f"{theirs:.6g}", f"{taken(mine):.6g}", why])
    total = sum(v for k, v in energies.items() if k != "Total")
    rows.append([run, "all", "", "energy", f"{total:.6g}", f"{reply['energy_pj']:.6g}",
                 "sparse" if sparse else "equal" if abs(reply["energy_pj"] - total) <= 0.0005 * total else "parts above"])


def compare(tool, folder, run, rows):
    files = [os.path.join(folder, "parsed-processed-input.yaml")]
    for part in ("map", "ERT", "ART"):
        files += glob.glob(os.path.join(glob.escape(folder), f"*.{part}.yaml"))
    done = subprocess.run([tool, "eval", *files, "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        rows.append([run, "", "", "refused", "", "", done.stderr.splitlines()[0]])
        return
    reply = json.loads(done.stdout)
    levels, cycles, points, energies = stats_of(glob.glob(os.path.join(glob.escape(folder), "*.stats.txt"))[0])
    tables = tables_of(glob.glob(os.path.join(glob.escape(folder), "*.ERT.yaml"))[0])
    sparse = is_sparse(done.stderr)
    here = reply["cycles"]
    why = "sparse" if sparse else "equal" if here == cycles else "whole cycles" if -(-here // 1) == cycles else "other"
    rows.append([run, "all", "", "cycles", cycles, f"{here:.10g}", why])
    counts = {lvl["name"]: lvl["tensors"] for lvl in reply["levels"]}
    output = {op["name"] for op in reply["ops"]}
    compare_counts(run, levels, counts, output, rows)
    compare_energy(run, levels, energies, points, reply, tables, sparse, rows)


def short(name):
    """The run's name without what all of its kind share."""
    name = name.replace("01_accelergy_timeloop_2020_ispass-", "tutorial-").replace("timeloop-", "", 1)
    return name.replace("-ref-output", "").replace("timeloop+accelergy", "eyeriss")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, root = sys.argv[1:]
    rows = []
    for folder in sorted(glob.glob(os.path.join(glob.escape(root), "*", ""))):
        compare(tool, folder.rstrip("/"), short(os.path.basename(folder.rstrip("/"))), rows)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["run", "component", "data space", "what", "timeloop", "ours", "why"])
    out.writerows(rows)


main()
