"""Odd lengths beside the same rounded up to 16, which contain them: what `search` finds of both, on four machines.
usage: python3 bench/odd_shapes.py TILEFLOW [EVALS [THREADS]] >docs/results/odd-shapes.csv
A larger problem is never cheaper, so no ratio should pass 1.  The summary goes to stderr."""
import json, math, subprocess, sys, tempfile, os

MACHINES = ["edge", "cloud", "a100", "xeon-gold-6240"]


def up(n):
    return (n + 15) // 16 * 16


def workload(dims, ops):
    lines = ["workload:", "  name: w", "  dims: {" + ", ".join(f"{k}: {v}" for k, v in dims.items()) + "}", "  ops:"]
    return "\n".join(lines + [f'  - "{op}"' for op in ops]) + "\n"


def attention(tokens):
    ops = ["S[h,m,l] += Q[h,m,a] * K[h,l,a]", "X[h,m] max= S[h,m,l]", "E[h,m,l] = exp(S[h,m,l] - X[h,m])", "Z[h,m] += E[h,m,l]",
           "O[h,m,n] += E[h,m,l] / Z[h,m] * V[h,l,n]"]
    return f"attention of {tokens} tokens", lambda f: workload({"h": 12, "m": f(tokens), "l": f(tokens), "a": 64, "n": 64}, ops)


def product(m, n, k):
    return f"product {m} x {n} x {k}", lambda f: workload({"m": f(m), "n": f(n), "k": f(k)}, ["C[m,n] += A[m,k] * B[k,n]"])


def mlp(rows, width, inner):
    ops = ["H[m,l] += X[m,k] * W[k,l]", "G[m,l] = gelu(H[m,l])", "R[m,n] += G[m,l] * U[l,n]"]
    return f"MLP of {rows} rows, {width} x {inner}", lambda f: workload({"m": f(rows), "k": f(width), "l": f(inner), "n": f(width)}, ops)


def chain(m, k, l, n):
    ops = ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"]
    return f"chain {m} x {k} x {l} x {n}", lambda f: workload({"m": f(m), "k": f(k), "l": f(l), "n": f(n)}, ops)


def convolution(pixels, inputs, outputs):
    ops = ["O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]"]
    return (f"convolution of {pixels} x {pixels}, {inputs} to {outputs}",
            lambda f: workload({"k": f(outputs), "c": f(inputs), "p": f(pixels), "q": f(pixels), "r": 3, "s": 3}, ops))


SHAPES = [attention(t) for t in (197, 257, 77, 1500, 49, 1021)] + [
    product(1021, 1021, 1021), product(197, 50257, 768), product(1, 50257, 768), mlp(577, 1024, 4096), mlp(197, 768, 3072),
    chain(113, 211, 97, 101), chain(1009, 61, 503, 67), convolution(7, 512, 512), convolution(13, 192, 384), convolution(57, 61, 67)]


def found(tool, machine, text, evals, threads):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([tool, "search", f"arch-specs/{machine}.yaml", f.name, "--evals", evals, "--seed", "1", "--threads", threads,
                              "--quiet", "--json", "-"], capture_output=True, text=True)
    return json.loads(run.stdout)["cycles"] if run.returncode == 0 else math.nan


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tool, evals, threads = sys.argv[1], *(sys.argv[2:] + ["20000", "2"][len(sys.argv) - 2:])[:2]
    ratios = []
    print("shape,machine,evaluations,cycles,cycles_rounded_up,ratio")
    for name, of in SHAPES:
        for machine in MACHINES:
            odd, even = found(tool, machine, of(lambda n: n), evals, threads), found(tool, machine, of(up), evals, threads)
            ratios.append(odd / even)
            print(f'"{name}",{machine},{evals},{odd:.17g},{even:.17g},{odd / even:.4f}', flush=True)
    told = [r for r in ratios if not math.isnan(r)]
    print(f"{sum(r > 1.02 for r in told)} of {len(told)} above 1.02, worst {max(told):.3f}, geometric mean "
          f"{math.exp(sum(map(math.log, told)) / len(told)):.3f}; {len(ratios) - len(told)} not found", file=sys.stderr)


if __name__ == "__main__":
    main()
