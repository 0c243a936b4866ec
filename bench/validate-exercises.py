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

Of runs on sparse data `read`, `fill` and `update` are those that Timeloop calls algorithmic, as if all were dense, and `actual ..` what zeros
leave of them.  There are more reasons then:

  rounded        Timeloop rounds what it expects of each counter to a whole number
  begun          reads of a result: as many updates as begin one read nothing; Timeloop takes the share of all updates
  long runs      a run of zeros that is too long for an entry of its run lengths takes a word, which Timeloop leaves out
  lines          of an energy: Timeloop takes whole lines of several words, also of compressed ones; here words take their share of a line
  packing        of an energy: words that are compressed or decompressed, which are not charged here
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
        item = re.match(r"\s+(.+?)\s*:\s+(\S+(?: \S+)*)", line)
        if item:
            (space if space is not None else level)[item.group(1).strip()] = item.group(2).split(" pJ")[0]
    cycles = int(re.search(r"^Cycles: (\d+)", summary, re.M).group(1))
    points = int(re.search(r"^(?:Computes|Algorithmic Computes|Actual Computes) = (\d+)", summary, re.M).group(1))
    done = re.search(r"^Actual Computes = (\d+)", summary, re.M)
    per_point = dict(re.findall(r"^    (\S+)\s+= ([-+.0-9e]+)$", summary.split("fJ/", 2)[1], re.M))
    return levels, cycles, points, {k: float(v) * points / 1000 for k, v in per_point.items()}, int(done.group(1)) if done else points


def counters_of(space, kind="Algorithmic"):
    """Words over all instances, of the two forms in which Timeloop prints them."""
    used = float(space.get("Utilized instances (average)", space["Utilized instances (max)"]))
    out = {}
    for theirs, ours in COUNTERS.items():
        each = space.get(f"{kind} scalar {theirs} (per-instance)", space.get(f"Scalar {theirs} (per-instance)"))
        out[ours] = round(float(each) * used)
    return out


def used_of(space):
    return float(space.get("Utilized instances (average)", space["Utilized instances (max)"]))


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


def is_packed(space):
    """Held in a format that drops zeros."""
    return space.get("Representation format", "none") != "none"


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


def why_left(figures, space, counter, mine, output):
    """Why a counter of what zeros leave differs; mine: ours, theirs and the dense ones, by counter."""
    here, theirs, dense = (mine[k][counter] for k in ("ours", "theirs", "dense"))
    if abs(here - theirs) <= 1e-9 * theirs:
        return "equal"
    if dense["ours"] != dense["theirs"]:
        return "windows" if space not in output else "partial sums"
    share = mine["theirs"]["update"] / max(mine["dense"]["update"]["theirs"], 1)
    if space in output and counter == "read" and here < theirs and abs(theirs - share * dense["theirs"]) <= used_of(figures):
        return "begun"
    if abs(here - theirs) <= used_of(figures):
        return "rounded"
    if "rle" in figures["Representation format"] and theirs < here < 1.001 * theirs:
        return "long runs"
    return "other"


def compare_left(run, levels, zeros, dense, output, rows):
    """Adds a row for each counter of what zeros leave."""
    ours = {lvl["name"]: lvl["tensors"] for lvl in zeros["levels"]}
    for name, level in levels.items():
        for space, figures in level["spaces"].items():
            full, left = counters_of(figures), counters_of(figures, "Actual")
            here = ours.get(name, {}).get(space, dict.fromkeys(left, 0))
            both = {c: {"ours": dense.get(name, {}).get(space, {}).get(c, 0), "theirs": full[c]} for c in full}
            for counter, theirs in left.items():
                why = why_left(figures, space, counter, {"ours": here, "theirs": left, "dense": both}, output)
                rows.append([run, name, space, f"actual {counter}", theirs, f"{here[counter]:.10g}", why])


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


def left_parts(level, ours, table):
    """What a memory's energy differs by where zeros are left out: words and entries, parts of lines, (de)compression."""
    block = float(level["Data block size"])
    parts = {"counts": 0.0, "lines": 0.0, "packing": 0.0}
    for space, figures in level["spaces"].items():
        used = used_of(figures)
        for counter, words in counters_of(figures, "Actual").items():
            what = "read" if counter == "read" else "write"
            entry = table.get(f"metadata_{what}", 0) if is_packed(figures) else 0
            parts["counts"] += (ours[space][counter] - words) * (table[what] / block + entry)
            parts["lines"] -= (whole_words(words, used, block) - words) * table[what] / block
        if level.get("(De)compression energy", "0.00") != "0.00":
            kept = counters_of(figures, "Actual")
            parts["packing"] -= kept["fill"] * table["decompression_count"] + level["packed"].get(space, 0) * table["compression_count"]
    return parts


def sign(parts, theirs):
    """The parts that matter, the largest first."""
    seen = [(abs(v), f"{k} {v:+.6g}") for k, v in parts.items() if abs(v) >= 0.0005 * max(theirs, 1e-9)]
    return "; ".join(text for _, text in sorted(seen, reverse=True))


def taken(component):
    """pJ of what it does, and of what it leaks."""
    return component["energy_pj"] + component.get("leakage_pj", 0)


def tell_packed(levels):
    """Words of each data space that a level hands outwards in a format of the level there: the outer one's updates."""
    for outer in levels.values():
        for space, figures in outer["spaces"].items():
            if not is_packed(figures):
                continue
            for inner in levels.values():
                if space in inner["spaces"] and inner is not outer:
                    inner.setdefault("packed", {})[space] = counters_of(figures, "Actual")["update"]


def compare_energy(run, levels, energies, points, done, reply, tables, rows):
    zeros = reply.get("zeros")
    left = {lvl["name"]: lvl["tensors"] for lvl in zeros["levels"]} if zeros else {}
    ours = {lvl["name"]: lvl for lvl in reply["levels"]}
    for unit in reply["compute"]:
        theirs = energies.get(unit["name"], 0)
        computed = sum(op["computed"] for op in zeros["ops"]) if zeros else points
        parts = {"counts": (computed - done) * tables[unit["name"]]["compute"]}
        more = taken(unit) - theirs - parts["counts"]
        why = f"other {more:+.6g}" if abs(more) > 0.00001 * points + 0.01 else sign(parts, theirs) or "equal"
        rows.append([run, unit["name"], "", "energy", f"{theirs:.6g}", f"{taken(unit):.6g}", why])
    for name, level in levels.items():
        if name not in energies or name not in tables or "Block size" not in level and "Data block size" not in level:
            continue
        theirs, mine = energies[name], ours.get(name, {"energy_pj": 0, "tensors": {}})
        level.setdefault("packed", {})
        parts = left_parts(level, left[name], tables[name]) if zeros else parts_of(level, mine["tensors"], tables[name])
        rest = taken(mine) - theirs - sum(parts.values())
        printed = 0.00001 * points + 0.02 * (1 + len(level["spaces"]))  # Timeloop prints 0.01 fJ a point, 0.01 pJ of leakage
        if zeros and float(level["Data block size"]) > 1 and any(is_packed(s) for s in level["spaces"].values()):
            parts["lines"] += rest  # of compressed words: Timeloop's estimate of the lines that they lie in
            rest = 0
        why = f"other {rest:+.6g}" if abs(rest) > printed else sign(parts, theirs) or "equal"
        rows.append([run, name, "", "energy", f"{theirs:.6g}", f"{taken(mine):.6g}", why])
    total = sum(v for k, v in energies.items() if k != "Total")
    rows.append([run, "all", "", "energy", f"{total:.6g}", f"{reply['energy_pj']:.6g}",
                 "equal" if abs(reply["energy_pj"] - total) <= 0.0005 * total else "parts above"])


def compare(tool, folder, run, rows):
    files = [os.path.join(folder, "parsed-processed-input.yaml")]
    for part in ("map", "ERT", "ART"):
        files += glob.glob(os.path.join(glob.escape(folder), f"*.{part}.yaml"))
    done = subprocess.run([tool, "eval", *files, "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        rows.append([run, "", "", "refused", "", "", done.stderr.splitlines()[0]])
        return
    reply = json.loads(done.stdout)
    levels, cycles, points, energies, actual = stats_of(glob.glob(os.path.join(glob.escape(folder), "*.stats.txt"))[0])
    tables = tables_of(glob.glob(os.path.join(glob.escape(folder), "*.ERT.yaml"))[0])
    zeros, here = reply.get("zeros"), reply["cycles"]
    why = "equal" if here == cycles else "whole cycles" if -(-here // 1) == cycles else "other"
    if why == "other" and zeros and abs(here - cycles) <= 1:
        why = "rounded"
    rows.append([run, "all", "", "cycles", cycles, f"{here:.10g}", why])
    counts = {lvl["name"]: lvl["tensors"] for lvl in reply["levels"]}
    output = {op["name"] for op in reply["ops"]}
    compare_counts(run, levels, counts, output, rows)
    if zeros:
        compare_left(run, levels, zeros, counts, output, rows)
        tell_packed(levels)
    compare_energy(run, levels, energies, points, actual, reply, tables, rows)


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
