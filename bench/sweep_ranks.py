#!/usr/bin/env python3
"""Where rank 0 of `mpirun tileflow sweep` saturates: a simulation with points of measured durations.

  bench/sweep_ranks.py [ROW_US [MESSAGE_US]]

Ranks ask rank 0 for work whenever they have none.  Rank 0 serves one message at a time: MESSAGE_US for a message there
and back, and ROW_US for each row that it takes into the plan and the store (docs/RESULTS-sweep.md says how these were
measured).  Points take what they are measured to, evenly spread by a half; a message has points for 20 ms, or one
where machines decide about others (sweep/crew.c).
"""
import heapq
import random
import sys

ROW, MESSAGE = (float(sys.argv[i]) * 1e-6 if len(sys.argv) > i else d for i, d in ((1, 8e-6), (2, 10e-6)))
METHODS = [("bound", 0.11e-3, False), ("eval", 0.16e-3, False), ("search", 3.1e-3, True), ("solve", 7e-3, True),
           ("search, 1 s a point", 1.0, True)]
RANKS = [1, 2, 10, 30, 100, 300, 1000]


def efficiency(ranks, point, one_each):
    """Of the time of all ranks, how much they work."""
    rng = random.Random(1)
    size = 1 if one_each else min(512, int(0.02 / point))
    free, done, worked = 0.0, 0, 0.0
    asks = [(0.0, r) for r in range(ranks)]
    end = 0.0
    while done < 30 * ranks:
        at, rank = heapq.heappop(asks)
        free = max(free, at) + MESSAGE + size * ROW
        took = size * point * rng.uniform(0.5, 1.5)
        worked += took
        done += 1
        end = max(end, free + took)
        heapq.heappush(asks, (free + took, rank))
    return worked / (end * ranks)


print("method,point_ms," + ",".join(f"ranks_{n}" for n in RANKS) + ",rank_0_busy_from")
for name, point, one_each in METHODS:
    size = 1 if one_each else min(512, int(0.02 / point))
    row = ",".join(f"{efficiency(n, point, one_each):.2f}" for n in RANKS)
    full = 1 + size * point / (MESSAGE + size * ROW)
    print(f'"{name}",{point * 1e3:g},{row},{full:.0f}')
