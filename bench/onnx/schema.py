#!/usr/bin/env python3
"""Holds model/import/onnx/schema.c against the definitions that onnx has.

  schema.py [ROOT]

Every operator of the table: the opset of its newest definition, the most inputs and results, and its attributes with their
types, but for those that only definitions before the first known one have, and those that are refused.  Operators whose
definitions are newer than the table says are told: what changed has to be read, and the table follows.
"""
import pathlib
import re
import sys

from onnx import defs

LETTERS = {"INT": "i", "FLOAT": "f", "STRING": "s", "TENSOR": "t", "INTS": "I", "FLOATS": "F", "STRINGS": "S",
           "GRAPH": "g"}
REFUSED = {"Constant": {"sparse_value", "value_string", "value_strings"}, "GRU": {"output_sequence"}, "LSTM": {"output_sequence"},
           "RNN": {"output_sequence"}}


def table(text):
    text = re.sub(r"\\\n", "", text)
    rows = re.findall(r'X\((\w+), (\d+), (\d+), (-?\d+), (-?\d+), (\w+), (\w+),\s*((?:"[^"]*"\s*)+)\)', text)
    for name, least, newest, inputs, outputs, _, _, words in rows:
        words = "".join(re.findall(r'"([^"]*)"', words)).split()
        yield name, int(least), int(newest), int(inputs), int(outputs), dict(w.lstrip("-").split(":") for w in words)


def history():
    found = {}
    for s in defs.get_all_schemas_with_history():
        if s.domain == "":
            found.setdefault(s.name, []).append(s)
    return {k: sorted(v, key=lambda s: s.since_version) for k, v in found.items()}


def faults(row, versions):
    name, least, newest, inputs, outputs, attributes = row
    last = versions[-1]
    first = max((s.since_version for s in versions if s.since_version <= least), default=0)
    versions = [s for s in versions if s.since_version >= first]
    known = {a.name: LETTERS.get(a.type.name, "?") for s in versions for a in s.attributes.values()}
    if last.since_version != newest:
        yield f"its newest definition is of opset {last.since_version}, not {newest}"
    for what, mine, theirs in (("inputs", inputs, max(s.max_input for s in versions)), ("results", outputs, max(s.max_output for s in versions))):
        if mine != (-1 if theirs > 1 << 20 else theirs):
            yield f"{mine} {what}, not {theirs}"
    for a in set(known) - set(attributes) - REFUSED.get(name, set()):
        yield f"attribute {a} is not in the table"
    for a, letter in attributes.items():
        if known.get(a) != letter:
            yield f"attribute {a} is {letter} in the table, {known.get(a)} in onnx"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    rows, all_of, wrong = list(table((root / "model/import/onnx/schema.c").read_text())), history(), 0
    for row in rows:
        if row[2] == 0:
            continue
        for fault in faults(row, all_of[row[0]]):
            wrong += 1
            print(f"{row[0]}: {fault}")
    print(f"schema: {len(rows)} operators beside onnx of opset {defs.onnx_opset_version()}, {wrong} differences")
    return bool(wrong) or not rows


if __name__ == "__main__":
    sys.exit(main())
