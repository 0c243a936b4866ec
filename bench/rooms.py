#!/usr/bin/env python3
"""Writes how large each room of the product was in two commits, as CSV: lines, and tokens without comments.

bench/rooms.py BEFORE AFTER > docs/results/rooms.csv

Rooms that were renamed stand under today's name.  Tokens compare what the width of a line does not change.
"""
import collections
import re
import subprocess
import sys

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\w+|[^\s\w]", re.S)
RENAMED = {"model/spec": "model/input", "codegen/target": "codegen/backend", "tune/way": "tune/strategy"}
APART = ("tests", "bench", "examples")


def git(*words):
    return subprocess.check_output(("git",) + words).decode()


def room_of(path):
    """The first folder; of the rooms that have sub-rooms the first two; a target's own folder."""
    parts = path.split("/")[:-1]
    room = "/".join(parts[:2]) if parts[0] in ("model", "search", "codegen", "tune") else parts[0]
    room = RENAMED.get(room, room)
    return f"{room}/{parts[2]}" if room == "codegen/backend" and len(parts) > 2 else room


def sizes(commit):
    rooms = collections.defaultdict(lambda: (0, 0))
    for path in git("ls-tree", "-r", "--name-only", commit).split("\n"):
        if not path.endswith((".c", ".h")) or path.startswith(APART):
            continue
        text = git("show", f"{commit}:{path}")
        tokens = sum(not t.startswith(("/*", "//")) for t in TOKEN.findall(text))
        lines, all_tokens = rooms[room_of(path)]
        rooms[room_of(path)] = (lines + text.count("\n"), all_tokens + tokens)
    return rooms


def main(before, after):
    old, new = sizes(before), sizes(after)
    print(f"room,lines {before},lines {after},tokens {before},tokens {after}")
    for room in sorted(set(old) | set(new)):
        print(room, old[room][0], new[room][0], old[room][1], new[room][1], sep=",")
    print("all", *(sum(r[k] for r in rooms.values()) for k in (0, 1) for rooms in (old, new)), sep=",")


if __name__ == "__main__":
    main(*sys.argv[1:])
