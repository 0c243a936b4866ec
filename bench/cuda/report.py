#!/usr/bin/env python3
"""What the rows of bench/cuda.sh answer: each figure that issues 15, 19 and 38 ask for, beside its goal.

usage: report.py DIR     reads DIR/results.csv (RESULTS); what has no rows yet is said to be missing
"""
import csv
import fnmatch
import os
import pathlib
import statistics
import sys

PEERS_OF_SDPA = ("torch-flash", "torch-cudnn", "torch-efficient")


class Table:
    def __init__(self, rows):
        self.rows = {(r["case"], r["contestant"]): r for r in rows}
        self.cases = list(dict.fromkeys(r["case"] for r in rows))

    def number(self, case, who, column):
        row = self.rows.get((case, who), {})
        return float(row[column]) if row.get("state") == "ok" and row.get(column) else None

    def matching(self, pattern, who="tileflow"):
        return [c for c in self.cases if fnmatch.fnmatch(c, pattern) and (c, who) in self.rows]

    def best(self, case, peers=None):
        """Seconds of the fastest of others, over ours of the same turns."""
        ratios = []
        for (c, who), row in self.rows.items():
            if c != case or who in ("tileflow", "again", "ncu") or (peers and who not in peers) or row["state"] != "ok":
                continue
            ours = self.number(case, "again" if who == "triton" else "tileflow", "seconds")
            if ours:
                ratios.append(float(row["seconds"]) / ours)
        return min(ratios, default=None)


answers = []


def answer(issue, question, goal, got, least=True):
    """One line: `got` (None: not measured) is to be `goal` at least, or at most."""
    if got is None:
        state, got = "missing", ""
    else:
        state = "met" if goal is None or (got >= goal if least else got <= goal) else "NOT MET"
        got = f"{got:.4g}"
    answers.append((issue, question, "" if goal is None else f"{'>=' if least else '<='} {goal:g}", got, state))


def rate(t, issue, case, goal, peer=None):
    """TFLOP/s, and (peer) the share of the best of those: its seconds over ours."""
    got = t.number(case, "tileflow", "gflops")
    answer(issue, f"{case}: TFLOP/s", goal, got and got / 1e3)
    if peer:
        answer(issue, f"{case}: share of {'/'.join(peer[1])}", peer[0], t.best(case, peer[1]))


def products(t):
    rate(t, 15, "gemm-8192-bf16", 450, (None, ["torch"]))
    for kind in ("wmma", "f16", "tf32", "int8"):
        rate(t, 15, f"gemm-8192-{kind}", None, (None, ["torch"]))
    rate(t, 19, "gemm-8192-sm90a", 720, (0.9, ["torch"]))
    for case in ("gemm-4096-sm90a", "gemm-2048-sm90a", "gemm-8192-f8"):
        rate(t, 19, case, None, (0.9, ["torch"]))


def attentions(t):
    for width, goals in ((128, ((330, 290), (585, 550))), (64, ((290, None), (450, None)))):
        for issue, kind, both in ((15, "bf16", goals[0]), (19, "sm90a", goals[1])):
            for mask, goal in zip(("", "-causal"), both):
                rate(t, issue, f"attention-d{width}-16384{mask}-{kind}", goal, (0.9 if issue == 19 else None, PEERS_OF_SDPA))
    for length in (512, 1024, 2048, 4096):
        for width in (64, 128):
            for mask in ("", "-causal"):
                case = f"attention-d{width}-{length}{mask}-sm90a"
                answer(19, f"{case}: share of the best of SDPA", 0.9, t.best(case, PEERS_OF_SDPA))


def layers(t):
    copied = t.number("copy", "torch", "gflops")
    for kind in ("bf16", "sm90a"):
        seconds = t.number(f"layer-attention-decode-{kind}", "tileflow", "seconds")
        read = 2 * 32 * 4096 * 128 * 2 / 1e9  # GB of keys and values
        answer(19, f"layer-attention-decode-{kind}: its rate of reading over that of a copy", 0.85, read / seconds / copied if seconds and copied else None)
    for name in ("linear-gelu", "two-products", "narrow-products"):
        answer(19, f"layer-{name}-sm90a: times cuBLAS with its fused epilogue", 1.2, t.best(f"layer-{name}-sm90a", ["torch-lt"]))
    for case in t.matching("layer-*"):
        answer("", f"{case}: times the best of the others", None, t.best(case))


def convs(t):
    for case in t.matching("conv-*"):
        rate(t, 38, case, None, (0.9 if case.endswith("-sm90a") else None, ["torch"]))


def thesis(t):
    for kind in ("chain", "attention"):
        for n in range(1, 13):
            for type in ("", "-bf16", "-sm90a"):
                case = f"{kind}-g{n}{type}"
                answer(15, f"{case}: times PyTorch's best", 1.5, t.best(case))
                if kind == "chain":
                    answer(15, f"{case}: times two calls of cuBLAS (1.3 where memory bounds)", None, t.best(case, ["torch"]))


def ranked(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    for place, i in enumerate(order):
        ranks[i] = place
    return ranks


def spearman(xs, ys):
    n, a, b = len(xs), ranked(xs), ranked(ys)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (n * (n * n - 1))


def fit(pairs):
    """R2 of a line through the points."""
    xs, ys = zip(*pairs)
    return statistics.correlation(xs, ys) ** 2


def ranks(t):
    for kind in ("bf16", "sm90a"):
        for what in ("gemm", "attention"):
            cases = t.matching(f"ranked-{what}-{kind}-*")
            took = {c: (t.number(c, "tileflow", "predicted"), t.number(c, "tileflow", "seconds")) for c in cases}
            took = {c: v for c, v in took.items() if None not in v}
            planned = took.pop(f"ranked-{what}-{kind}-planned", None)
            enough = len(took) > 2
            answer(15, f"Spearman of {len(took)} mappings, {what} {kind}", 0.8, spearman(*zip(*took.values())) if enough else None)
            best = min((s for _, s in took.values()), default=None)
            first = min(took.values(), default=(0, 0))[1]
            answer(15 if kind == "bf16" else 19, f"first choice of them over the best, {what} {kind}", 1.1 if kind == "bf16" else 1.05, first / best if enough else None, least=False)
            answer("", f"what is planned over the best of them, {what} {kind}", None, planned[1] / best if enough and planned else None)


def model(t):
    for column in ("dram", "l2"):
        pairs = [(t.number(c, "tileflow", column + "_expected"), t.number(c, "ncu", column)) for c in t.matching("*", "ncu")]
        pairs = [p for p in pairs if None not in p]
        answer(15, f"R2 of {column.upper()} bytes, {len(pairs)} kernels", 0.97, fit(pairs) if len(pairs) > 2 else None)
    both = [(t.number(c, "tileflow", "predicted"), t.number(c, "tileflow", "seconds")) for c in t.matching("*")]
    over = sorted(p / s for p, s in (b for b in both if None not in b))
    if over:
        middle = statistics.median(over)
        answer("", "time expected over that measured, median", None, middle)
        answer(19, f"share of {len(over)} kernels within 15 % after that calibration", 1, sum(1 / 1.15 < o / middle < 1.15 for o in over) / len(over))
    spilled = [r["spilled"] for r in t.rows.values() if r.get("spilled") and not r["case"].startswith("smoke-")]  # these have a watchdog
    answer(15, f"kernels of {len(spilled)} that spill", 0, sum(s != "0" for s in spilled) if spilled else None, least=False)
    codes = [r for r in t.rows.values() if r.get("code") and r.get("code_expected")]
    answer(15, f"share of {len(codes)} kernels with as many MMA, LDSM, LDGSTS as expected", 1, sum(r["code"] == r["code_expected"] for r in codes) / len(codes) if codes else None)


def main(folder):
    path = pathlib.Path(os.environ.get("RESULTS", pathlib.Path(folder) / "results.csv"))
    if not path.exists():
        sys.exit(f"{path}: nothing was measured yet")
    t = Table(list(csv.DictReader(open(path))))
    small = [t.rows[c, "tileflow"]["state"] == "ok" for c in t.matching("smoke-*")]
    answer("15, 19", f"share of {len(small)} small random kernels that are right", 1, sum(small) / len(small) if small else None)
    for part in (products, attentions, layers, convs, thesis, ranks, model):
        part(t)
    print("| Issue | What | Goal | Seen | |\n|---|---|--:|--:|---|")
    for line in answers:
        print("| " + " | ".join(str(word) for word in line) + " |")
    failed = [r for r in t.rows.values() if r["state"] != "ok"]
    if failed:
        print("\nRows without a time:\n")
        for r in failed:
            print(f"- {r['case']}, {r['contestant']}: {r['state']}{', by ' + r['error'] if r['error'] else ''}")


if __name__ == "__main__":
    main(sys.argv[1])
