"""Random odd shapes, and the processor time that `emit` takes to plan a kernel of each for the CPU, CUDA and the NPU.
usage: python3 bench/plan_odd.py TILEFLOW [SHAPES [FIRST]] >plan-odd.csv
The shape of a seed is the same wherever it stands in the list: `plan_odd.py TILEFLOW 1 SEED` repeats one.  Planning
alone is what emit takes, less what it takes to emit the mapping that it found.  The summary goes to stderr."""
import json, os, random, resource, statistics, subprocess, sys, tempfile

TARGETS = [("avx2", "xeon-gold-6240", ["--isa", "avx2"]), ("cuda", "a100", ["--target", "cuda"]), ("npu", "npu", ["--target", "npu"])]
LONGEST = 120  # seconds of one emit


def workload(dims, ops):
    lines = ["workload:", "  name: w", "  dims: {" + ", ".join(f"{k}: {v}" for k, v in dims.items()) + "}", "  ops:"]
    return "\n".join(lines + [f'  - "{op}"' for op in ops]) + "\n"


def extent(r, least, most):
    """As many of each number of digits; odd, or two times odd."""
    n = int(least * (most / least) ** r.random()) | 1
    return 2 * n if r.random() < 0.2 and 2 * n <= most else n


def product(r):
    m, n, k = (extent(r, 1, 2048) for _ in range(3))
    return f"product {m} x {n} x {k}", workload({"m": m, "n": n, "k": k}, ["C[m,n] += A[m,k] * B[k,n]"])


def chain(r):
    m, k, l, n = (extent(r, 5, 1024) for _ in range(4))
    ops = ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"]
    return f"chain {m} x {k} x {l} x {n}", workload({"m": m, "k": k, "l": l, "n": n}, ops)


def mlp(r):
    m, k, l = extent(r, 1, 600), extent(r, 31, 1024), extent(r, 31, 2048)
    ops = ["H[m,l] += X[m,k] * W[k,l]", "G[m,l] = gelu(H[m,l])", "R[m,n] += G[m,l] * U[l,n]"]
    return f"MLP {m} x {k} x {l}", workload({"m": m, "k": k, "l": l, "n": k}, ops)


def attention(r):
    heads, m, a = r.choice([1, 3, 6, 8, 12, 16]), extent(r, 5, 1600), r.choice([32, 40, 64, 80, 128, 61])
    l = m if r.random() < 0.7 else extent(r, 5, 1600)
    ops = ["S[h,m,l] += Q[h,m,a] * K[h,l,a]", "X[h,m] max= S[h,m,l]", "E[h,m,l] = exp(S[h,m,l] - X[h,m])", "Z[h,m] += E[h,m,l]",
           "O[h,m,n] += E[h,m,l] / Z[h,m] * V[h,l,n]"]
    return f"attention {heads} heads {m} x {l}, {a}", workload({"h": heads, "m": m, "l": l, "a": a, "n": a}, ops)


def convolution(r):
    p, c, k, w = extent(r, 5, 113), extent(r, 3, 512), extent(r, 3, 512), r.choice([1, 3, 3, 5, 7])
    return (f"convolution {p} x {p}, {c} to {k}, {w} x {w}",
            workload({"k": k, "c": c, "p": p, "q": p, "r": w, "s": w}, ["O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]"]))


def shape(seed):
    r = random.Random(seed)
    return r.choice([product, chain, mlp, attention, convolution])(r)


def emit(tool, files, options, out):
    """Processor seconds, and the manifest; None: no kernel, or too long."""
    run = subprocess.Popen([tool, "emit", *files, *options, "--threads", "1", "--no-test", "--quiet", "-o", out],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST)))
    _, status, use = os.wait4(run.pid, 0)
    run.returncode = status
    seconds = use.ru_utime + use.ru_stime
    if status:
        return seconds, None
    with open(out + "/manifest.json") as f:
        return seconds, json.load(f)


def planning(tool, machine, options, text):
    """Processor seconds of planning alone, and the cycles predicted; cycles None: no plan."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/w.yaml", "w") as f:
            f.write(text)
        files = [f"arch-specs/{machine}.yaml", d + "/w.yaml"]
        seconds, manifest = emit(tool, files, options, d + "/found")
        if not manifest:
            return seconds, None
        with open(d + "/m.yaml", "w") as f:
            f.write("mapping: |\n" + "".join(f"  {line}\n" for line in manifest["mapping"].splitlines()))
        given, same = emit(tool, files + [d + "/m.yaml"], options, d + "/given")
        return max(0.0, seconds - given) if same else seconds, manifest["predicted"]["cycles"]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    n, first = (int(a) for a in (sys.argv[2:] + ["200", "1"][len(sys.argv) - 2:])[:2])
    rows = []
    print("seed,target,shape,seconds,cycles")
    for seed in range(first, first + n):
        name, text = shape(seed)
        for target, machine, options in TARGETS:
            seconds, cycles = planning(sys.argv[1], machine, options, text)
            rows.append((seconds, seed, target, name))
            print(f'{seed},{target},"{name}",{seconds:.3f},{"" if cycles is None else format(cycles, ".17g")}', flush=True)
    for target in [t for t, _, _ in TARGETS] + ["all"]:
        of = [r[0] for r in rows if target in (r[2], "all")]
        print(f"{target}: median {statistics.median(of):.3f} s, worst {max(of):.3f} s", file=sys.stderr)
    for seconds, seed, target, name in sorted(rows, reverse=True)[:10]:
        print(f"{seconds:7.3f} s  seed {seed} on {target}: {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
