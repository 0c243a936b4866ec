#!/usr/bin/env python3
"""Whether what was measured of other operators, or on other machines, says which kernels of a new one are fast: tables, each held out in turn.

    bench/operators/carried.py TUNE_WAYS OUT.csv ISA=TABLE.csv...

TUNE_WAYS: build/tests/tune_ways.  TABLE.csv: of bench/operators/tables.py with --isa ISA, a machine each.
For each case of a machine kernels are put in an order by what is predicted for them, and their times tell how good it is.  OUT.csv is machine, case, held (what the
lessons lack: `case`: they are of the same machine, without the case; `kind`: without every case of its kind; `machine`: of the other machines, every case),
way, first (place of the first kernel within 5 % of the best), best (the first one's time over the least) and rank
(Spearman's correlation of the order with the times).  Ways: WAYS, below.  Everything is computed anew and nothing is drawn by lot, so the same tables give the same file.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
from tables import MACHINES, command, tables

NEAR, CHOICES = 1.05, 8


class Lessons:
    """Rows of tune_ways --teach, a kernel each: columns are those of features that mean the same in every case (tests/unit/lesson.h)."""

    def __init__(self, tool, of_machines):
        rows = []
        for isa, table in of_machines:
            there = {line.split(",")[0] for line in table.read_text(encoding="utf-8").splitlines()}
            with tempfile.TemporaryDirectory() as folder:
                for name, of in tables():
                    if name in there:
                        args = [*command(tool, name, of, pathlib.Path(folder), isa), "--table", table, "--teach", "yes"]
                        said = subprocess.run(args, check=True, capture_output=True, text=True).stdout.split()
                        rows += [[MACHINES.get(isa, isa), *line.split(",")] for line in said]
        self.machine, self.case = (numpy.array([r[k] for r in rows]) for k in (0, 1))
        self.table = numpy.array([f"{r[0]} {r[1]}" for r in rows])
        self.us, self.cycles = (numpy.array([float(r[k]) for r in rows]) for k in (3, 4))
        self.x = numpy.array([[float(v) for v in r[5:]] for r in rows])

    def centred(self, y):
        """y, less its mean in each table."""
        y = y.copy()
        for c in set(self.table):
            y[self.table == c] -= y[self.table == c].mean(0)
        return y


# ---- what learns ------------------------------------------------------------------------------------------------
def cut(x, rest, leaf):
    """The feature and value that split rows best by what is left over; None: none does."""
    best, n, whole = (1e-12, None), len(rest), rest.sum()
    i = numpy.arange(1, n)
    for f in range(x.shape[1]):
        order = numpy.argsort(x[:, f], kind="stable")
        at, left = x[order, f], numpy.cumsum(rest[order])[:-1]
        gain = left**2 / i + (whole - left) ** 2 / (n - i) - whole**2 / n
        gain[(at[:-1] >= at[1:]) | (i < leaf) | (n - i < leaf)] = -1
        k = gain.argmax()
        if gain[k] > best[0]:
            best = (gain[k], (f, at[k]))
    return best[1]


def boosted(x, y, new, trees, depth, rate, leaf):
    """Boosted trees, as tune/learn/trees.h: of rows x with values y, what they say of the new ones."""
    fit, said = numpy.zeros(len(x)), numpy.zeros(len(new))

    def grow(old, of, rest, left):
        at = cut(x[old], rest[old], leaf) if left and len(old) >= 2 * leaf else None
        if at is None:
            fit[old] += rate * rest[old].mean()
            said[of] += rate * rest[old].mean()
            return
        low, below = x[old, at[0]] <= at[1], new[of, at[0]] <= at[1]
        grow(old[low], of[below], rest, left - 1)
        grow(old[~low], of[~below], rest, left - 1)

    for _ in range(trees):
        grow(numpy.arange(len(x)), numpy.arange(len(new)), y - fit, depth)
    return said


def ridge(x, y, new, weight):
    mean, spread = x.mean(0), x.std(0) + 1e-9
    a, b = (x - mean) / spread, (new - mean) / spread
    return b @ numpy.linalg.solve(a.T @ a + weight * numpy.eye(a.shape[1]), a.T @ y)


# ---- ways: log2 of what is predicted for the held-out kernels, from lessons of which `use` says which ------------------
def off(lessons, use):
    """How far times are off what is predicted, in each case less its mean, of the rows used."""
    return lessons.centred(numpy.log2(lessons.us / lessons.cycles))[use]


def few(x):
    """What is chosen for the generator, and how near the model says that the mapping is to its bound."""
    return x[:, [0, 1, 4, *range(5, 5 + CHOICES)]]


WAYS = {
    "model": lambda l, use, on: numpy.log2(l.cycles[on]),
    "all": lambda l, use, on: numpy.log2(l.cycles[on]) + boosted(l.x[use], off(l, use), l.x[on], 40, 4, 0.3, 2),
    "few": lambda l, use, on: numpy.log2(l.cycles[on]) + boosted(few(l.x[use]), off(l, use), few(l.x[on]), 20, 3, 0.2, 8),
    "line": lambda l, use, on: numpy.log2(l.cycles[on]) + ridge(few(l.centred(l.x)[use]), off(l, use), few(l.centred(l.x)[on]), 30),
}


def said_of(predicted, us):
    order = numpy.argsort(predicted, kind="stable")
    near = us[order] <= NEAR * us.min()
    ranks = [numpy.argsort(numpy.argsort(v, kind="stable")) for v in (predicted, us)]
    return f"{1 + int(near.argmax())},{us[order[0]] / us.min():.4f},{numpy.corrcoef(*ranks)[0, 1]:.3f}"


def held_out(lessons):
    """Rows of OUT.csv.  What has the same lessons is predicted at once."""
    alike = {}
    for table in sorted(set(lessons.table)):
        machine, case = table.split(" ")
        here = lessons.machine == machine
        other_case, other_kind = (numpy.array([c.split(cut_at)[0] != case.split(cut_at)[0] for c in lessons.case]) for cut_at in ".-")
        for held, use in (("case", here & other_case), ("kind", here & other_kind), ("machine", ~here)):
            if use.any():
                alike.setdefault((held, use.tobytes()), (use, []))[1].append(table)
    for (held, _), (use, of) in alike.items():
        on = numpy.isin(lessons.table, of)
        for way, predict in WAYS.items():
            said = predict(lessons, use, on)
            for table in of:
                at = lessons.table[on] == table
                yield f"{table.replace(' ', ',')},{held},{way},{said_of(said[at], lessons.us[on][at])}\n"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tool", type=pathlib.Path), p.add_argument("out", type=pathlib.Path), p.add_argument("tables", nargs="+", metavar="ISA=TABLE.csv")
    o = p.parse_args()
    of_machines = [(isa, pathlib.Path(table).resolve()) for isa, table in (t.split("=", 1) for t in o.tables)]
    rows = held_out(Lessons(o.tool.resolve(), of_machines))
    o.out.write_text("machine,case,held,way,first,best,rank\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
