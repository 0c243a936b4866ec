#!/usr/bin/env python3
"""Whole networks, without their weights, become workloads that multiply as often as their shapes say.

  networks.py TILEFLOW FOLDER

FOLDER (bench/networks/models.py writes it) has NAME.onnx and products.txt, the multiply-adds of each from ONNX's own shapes.
"""
import re
import subprocess
import sys


def multiply_adds(text):
    """Points of the ops that sum products of two elements; dims of one op are those it names."""
    dims = {k: int(v) for k, v in re.findall(r"(\w+): (\d+)", re.search(r"^  dims: \{(.*)\}$", text, re.M).group(1))}
    total = 0
    for out, value in re.findall(r"^  - \w+\[([^\]]*)\] \+= (\w+\[[^\]]*\] \* \w+\[[^\]]*\])$", text, re.M):
        left, right = re.findall(r"(\w+)\[", value)
        points = 1
        for d in set(re.findall(r"\bd\d+(?:_\d+)?\b", out + value)):
            points *= dims[d]
        total += points if left != right else 0
    return total


def reads_apart(text):
    """Ops that read two parts of one tensor, which lie a whole row or more apart: no small memory holds both."""
    found = []
    for name, value in re.findall(r"^  - (\w+)\[[^\]]*\] \S?= (.*)$", text, re.M):
        places = {}
        for tensor, index in re.findall(r"(\w+)\[([^\]]*)\]", value):
            places.setdefault((tensor, re.sub(r" [+-] \d+$", "", index)), set()).add(index)
        found += [name] if any(len(p) > 1 for p in places.values()) else []
    return found


def main():
    tool, folder, bad = sys.argv[1], sys.argv[2], 0
    for line in open(f"{folder}/products.txt"):
        name, want = line.split()
        said = subprocess.run([tool, "import", f"{folder}/{name}.onnx", "--quiet"], capture_output=True, text=True)
        got = multiply_adds(said.stdout) if said.returncode == 0 else said.stderr[:200]
        ok, what = got == int(want), f"{got} multiply-adds, {want} expected"
        if name in ("gpt-2", "mi-lstm") and (apart := reads_apart(said.stdout)):
            ok, what = False, f"two parts of a tensor are read by {apart[:5]}"
        bad += not ok
        print(f"{'ok ' if ok else 'BAD'} {name}: {what}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
