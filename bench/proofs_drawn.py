"""What `solve` proves of drawn problems: prime extents on machines with tight memories.  A row of CSV each (stdout), the summary to stderr.
usage: python3 bench/proofs_drawn.py TILEFLOW [--draw SEED] [--cases N] [--evals N] [--only I,J..] [--seeds N] [--show I] [--longer N]
--evals 0: as many as take some 10 s, fewer the more ops.
The same seed draws the same problems.  Bounded by evaluations, so that the load of the machine changes the seconds (of the processor) alone.
Where the gap is above 1 %, `search` has --seeds tries of 100,000 evaluations: does one find better?  --longer N: each strategy has N evaluations against
the first proofs of each kind of workload; `beaten` says how often one found less.  --show prints problem I alone."""
import argparse, json, os, random, resource, subprocess, sys, tempfile

SMALL, MIDDLE, LARGE = [7, 11, 13, 17, 19, 23, 29, 31], [37, 43, 53, 61, 67, 79, 97], [101, 127, 151, 197, 257, 331, 509, 769, 1021]


def any_of(r):
    return r.choice(r.choice([SMALL, MIDDLE, LARGE]))


def product(r):
    return dict(m=any_of(r), n=any_of(r), k=any_of(r)), {}, ["C[m,n] += A[m,k] * B[k,n]"]


def batched(r):
    return dict(b=r.choice(SMALL), m=any_of(r), n=any_of(r), k=any_of(r)), {}, ["C[b,m,n] += A[b,m,k] * B[b,k,n]"]


def chain(r):
    return dict(m=any_of(r), k=any_of(r), l=any_of(r), n=any_of(r)), {}, ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"]


def chain3(r):
    return (dict(m=any_of(r), k=any_of(r), l=any_of(r), n=any_of(r), o=any_of(r)), {},
            ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]", "G[m,o] += E[m,n] * F[n,o]"])


def attention(r):
    dims = dict(h=r.choice([1, 3, 5, 12]), m=any_of(r), l=any_of(r), a=r.choice(SMALL + MIDDLE), n=r.choice(SMALL + MIDDLE))
    return dims, {}, ["S[h,m,l] += Q[h,m,a] * K[h,l,a]", "X[h,m] max= S[h,m,l]", "E[h,m,l] = exp(S[h,m,l] - X[h,m])", "Z[h,m] += E[h,m,l]",
                      "P[h,m,l] = E[h,m,l] / Z[h,m]", "O[h,m,n] += P[h,m,l] * V[h,l,n]"]


def mlp(r):
    return (dict(m=any_of(r), k=any_of(r), l=any_of(r), n=any_of(r)), {},
            ["H[m,l] += X[m,k] * W[k,l]", "G[m,l] = gelu(H[m,l])", "R[m,n] += G[m,l] * U[l,n]"])


def convolution(r):
    p = r.choice(SMALL + MIDDLE)
    return (dict(k=r.choice(SMALL + MIDDLE), c=r.choice(SMALL + MIDDLE), p=p, q=p, r=3, s=3), {"I": "{pad: [0, 1, 1]}"},
            ["O[k,p,q] += I[c,p+r-1,q+s-1] * W[k,c,r,s]"])


def convolutions(r):
    p = r.choice(SMALL + MIDDLE)
    dims = dict(c=r.choice(SMALL), k=r.choice(SMALL + MIDDLE), p=p, q=p, r=3, s=3, f=r.choice(SMALL + MIDDLE), x=p, y=p)
    return dims, {"I": "{pad: [0, 1, 1]}"}, ["M[k,p,q] += I[c,p+r-1,q+s-1] * W1[k,c,r,s]", "O[f,x,y] += M[k,x,y] * W2[f,k]"]


TEN_SECONDS = {1: 700000, 2: 400000, 3: 250000}  # evaluations, by ops
KINDS = [product, batched, chain, chain3, attention, mlp, convolution, convolutions]


def words_of(dims, ops):
    """Words of what the workload reads and writes, by dims without offsets."""
    words, made = {}, set()
    for op in ops:
        made.add(op.split("[")[0])
        for part in op.replace("(", " ").replace(")", " ").split():
            if "[" in part:
                name, index = part.split("[")
                words[name] = 1
                for i in index.split("]")[0].split(","):
                    words[name] *= dims[i[0]]
    return sum(words.values())


def machine(r, words):
    cores, units = r.choice([(1, 1), (2, 1), (2, 2), (3, 2), (5, 1)]), r.choice([(4, 4), (7, 5), (8, 8), (11, 3), (16, 16), (13, 12)])
    n = units[0] * units[1]
    tight = max(96, int(words * r.choice([0.01, 0.03, 0.1, 0.3]) / (cores[0] * cores[1])))
    outer, inner = r.choice([2, 4, 8, 16, 32]), max(8, int(n * r.choice([0.5, 1, 2])))
    return f"""architecture:
  name: drawn
  clock: 1 GHz
  word-bits: 16
  memories:
  - {{name: DRAM, bandwidth: {outer}, energy: 200 pJ}}
  - {{name: L1, mesh: [{cores[0]}, {cores[1]}], capacity: {tight}, bandwidth: {inner}, energy: 6 pJ, network: {{multicast: true, reduce: true}}}}
  - {{name: L0, mesh: [{units[0]}, {units[1]}], capacity: {r.choice([3, 4, 6, 11, 23])}, bandwidth: {{read: 3, write: 3}}, energy: 0.1 pJ}}
  compute:
  - {{name: matrix, ops: [mac], below: L0, rate: 1, energy: 0.5 pJ}}
  - {{name: vector, below: L1, mesh: [{r.choice([4, 8, 16, 31])}, 1], rate: 1, energy: 0.5 pJ,
     ops: [add, sub, mul, div, max, exp, gelu]}}
""", f"{cores[0]}x{cores[1]} of {units[0]}x{units[1]}; {outer} words a cycle; {tight} words"


def problem(seed, i):
    r = random.Random(f"{seed}/{i}")
    kind = KINDS[i % len(KINDS)]
    dims, pads, ops = kind(r)
    arch, machine_name = machine(r, words_of(dims, ops))
    lines = ["workload:", "  name: drawn", "  dims: {" + ", ".join(f"{k}: {v}" for k, v in dims.items()) + "}"]
    if pads:
        lines += ["  tensors:"] + [f"    {k}: {v}" for k, v in pads.items()]
    text = arch + "\n".join(lines + ["  ops:"] + [f"  - {op}" for op in ops]) + "\n"
    return kind.__name__ + " " + " ".join(f"{k}={v}" for k, v in dims.items()), machine_name, text


def ran(tool, command, path, *args):
    """The search's part of the JSON, and the seconds of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([tool, command, path, "--threads", "1", "--quiet", "--json", "-", *args], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"{command} {' '.join(args)}: status {run.returncode}: {run.stderr}")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return (json.loads(run.stdout) if run.returncode == 0 else None), seconds


def value_of(found):
    return found["cycles"] if found else float("inf")


def longest(tool, path, evals, value):
    """Whether a search by other strategies finds less."""
    beaten = 0
    for strategy in ("ga-mcts", "ga", "mcts", "random"):
        found, _ = ran(tool, "search", path, "--strategy", strategy, "--seed", "7", "--evals", str(evals))
        beaten += value_of(found) < value * (1 - 1e-9)
    return beaten


def row(o, i, path, longer):
    name, where, text = problem(o.draw, i)
    with open(path, "w") as f:
        f.write(text)
    evals = o.evals or TEN_SECONDS.get(len(text.split("  ops:\n")[1].splitlines()), 150000)
    found, seconds = ran(o.tool, "solve", path, "--evals", str(evals))
    s = found["search"] if found else dict(value=float("inf"), bound=1, proved=False, space_proved=False, evaluations=0)
    value, gap = s["value"], s["value"] / s["bound"] - 1
    best = value
    if gap > 0.01:
        best = min([value] + [value_of(ran(o.tool, "search", path, "--seed", str(k + 1), "--evals", "100000")[0]) for k in range(o.seeds)])
    proved = "all" if s["proved"] else "space" if s["space_proved"] else "open"
    beaten = longest(o.tool, path, o.longer, value) if longer and s["proved"] else ""
    print(f'{i},"{name}","{where}",{value:.10g},{s["bound"]:.10g},{gap:.4f},{proved},{s["evaluations"]},{seconds:.2f},{best:.10g},{beaten}', flush=True)
    return proved == "all" and seconds <= 10, gap <= 0.01, value <= best * 1.01 if o.seeds else gap <= 0.01, beaten


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("tool")
    for name, value in (("draw", 37), ("cases", 50), ("evals", 60000), ("seeds", 10), ("longer", 0)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--only", default="")
    p.add_argument("--show", type=int)
    o = p.parse_args()
    if o.show is not None:
        return print(problem(o.draw, o.show)[2], end="")
    cases = [int(i) for i in o.only.split(",")] if o.only else range(o.cases)
    rows, kinds = [], set()
    print("number,workload,machine,value,bound,gap,proved,evaluations,user_s,best_known,beaten")
    with tempfile.TemporaryDirectory() as d:
        for i in cases:
            tell = row(o, i, os.path.join(d, "p.yaml"), o.longer and len(kinds) < 5 and i % len(KINDS) not in kinds)
            if tell[3] != "":
                kinds.add(i % len(KINDS))
            rows.append(tell)
    print(f"{len(rows)} problems: {sum(r[0] for r in rows)} proved within 10 s; {sum(r[1] for r in rows)} within 1 % of the bound, "
          f"{sum(r[2] for r in rows)} of it or of the best known; {sum(r[3] or 0 for r in rows)} proofs beaten", file=sys.stderr)


if __name__ == "__main__":
    main()
