"""Pairs of problems of which one contains the other, drawn at random: what `search` or `best` finds of both, and their bounds.
usage: python3 bench/contained.py TILEFLOW [PAIRS [EVALS [SEED [COMMAND]]]] >docs/results/contained.csv
A larger problem is never cheaper: a bound of the smaller above that of the larger is a fault, as bounds are not found by luck; a mapping
found is to be no more than 1.02 times the larger one's.  Where it is no more than 1.02 times the larger one's bound, that is so whatever
would be found: the larger one is not searched, and its cycles and the ratio are left empty.  The summary goes to stderr."""
import json, math, os, random, sys, tempfile, subprocess
from concurrent.futures import ThreadPoolExecutor

import odd_shapes

MACHINES = ["edge", "cloud", "a100", "xeon-gold-6240"]


def length(draw, most):
    return round(math.exp(draw.uniform(0, math.log(most))))


def shape(draw):
    """A kind, the dims of the smaller, and the text of dims."""
    kind = draw.choice(["product", "chain", "attention", "MLP", "convolution", "pair of convolutions"])
    if kind == "product":
        dims, ops = dict.fromkeys("mnk", 2048), ["C[m,n] += A[m,k] * B[k,n]"]
    elif kind == "chain":
        dims, ops = dict.fromkeys("mkln", 1024), ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"]
    elif kind == "attention":
        dims, ops = {"h": 16, "m": 1024, "l": 1024, "a": 128, "n": 128}, [
            "S[h,m,l] += Q[h,m,a] * K[h,l,a]", "X[h,m] max= S[h,m,l]", "E[h,m,l] = exp(S[h,m,l] - X[h,m])", "Z[h,m] += E[h,m,l]",
            "O[h,m,n] += E[h,m,l] / Z[h,m] * V[h,l,n]"]
    elif kind == "MLP":
        dims, ops = {"m": 1024, "k": 1024, "l": 4096, "n": 1024}, [
            "H[m,l] += X[m,k] * W[k,l]", "G[m,l] = gelu(H[m,l])", "R[m,n] += G[m,l] * U[l,n]"]
    elif kind == "convolution":
        dims, ops = {"k": 512, "c": 512, "p": 112, "q": 112, "r": 7, "s": 7}, ["O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]"]
    else:
        dims, ops = {"k": 128, "c": 128, "e": 128, "x": 56, "y": 56, "r": 3, "s": 3, "u": 3, "v": 3}, [
            "T[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]", "O[e,x,y] += T[k,x+u,y+v] * Y[e,k,u,v]"]
    return kind, {d: length(draw, most) for d, most in dims.items()}, ops


def text(dims, ops):
    """Between two convolutions lie the pixels that the second one reads."""
    between = {"p": dims["x"] + dims["u"] - 1, "q": dims["y"] + dims["v"] - 1} if "u" in dims else {}
    return odd_shapes.workload(dims | between, ops)


def larger(draw, dims):
    """One dim or two are longer: by one, by a tenth, or up to the next multiple of 4 or 16."""
    out = dict(dims)
    for d in draw.sample(list(dims), draw.randint(1, 2)):
        n = out[d]
        out[d] = draw.choice([n + 1, n + 1 + n // 10, n + 4 - n % 4, n + 16 - n % 16 if n > 8 else n + 1])
    return out


def run(tool, *arguments):
    done = subprocess.run([tool, *arguments, "--quiet", "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def pair(tool, evals, seed, command="search"):
    draw = random.Random(seed)
    kind, dims, ops = shape(draw)
    machine, found, bounds, texts = draw.choice(MACHINES), [], [], []
    for d in (dims, larger(draw, dims)):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(text(d, ops))
            f.flush()
            files = f"arch-specs/{machine}.yaml", f.name
            bound = run(tool, "search", *files, "--evals", "1")["bounds"]["cycles"]
            surely = found and found[0] <= 1.02 * bound
            best = None if surely else run(tool, command, *files, "--evals", evals, "--seed", "1", "--threads", "1")
        found.append(best["cycles"] if best else "" if surely else math.nan)
        bounds.append(bound)
        texts.append(" ".join(f"{k}={v}" for k, v in d.items()))
    return seed, kind, machine, *texts, *found, "" if found[1] == "" else found[0] / found[1], *bounds, bounds[0] / bounds[1]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tool, pairs, evals, seed, command = sys.argv[1], *(sys.argv[2:] + ["1000", "10000", "1", "search"][len(sys.argv) - 2:])
    print("seed,kind,machine,smaller,larger,cycles_smaller,cycles_larger,ratio,bound_smaller,bound_larger,bound_ratio")
    first, rows = int(seed) * 1000000, []
    with ThreadPoolExecutor(int(os.environ.get("TF_JOBS", "1"))) as pool:
        for r in pool.map(lambda s: pair(tool, evals, s, command), range(first, first + int(pairs))):
            rows.append(r)
            print(",".join(f"{x:.10g}" if isinstance(x, float) else str(x) for x in r), flush=True)
    told = [r[7] for r in rows if r[7] != "" and not math.isnan(r[7])]
    under, surely = [r[10] for r in rows], sum(r[7] == "" for r in rows)
    print(f"found: {sum(r > 1.02 for r in told)} of {len(told) + surely} above 1.02, worst {max(told):.3f}; {surely} at most 1.02 times the larger "
          f"one's bound; bounds: {sum(r > 1 + 1e-9 for r in under)} of {len(under)} above 1, worst {max(under):.6f}; "
          f"{len(rows) - len(told) - surely} not found", file=sys.stderr)


if __name__ == "__main__":
    main()
