"""Networks of odd lengths beside the same with these rounded up: what `plan` gives, over its own bound, on four machines.
usage: python3 bench/odd_networks.py TILEFLOW [EVALS] >docs/results/odd-networks.csv
A layer of each network: what it costs over what no execution can beat should not depend on whether its length has divisors.  The
last column is the odd one's multiple over the rounded one's.  The summary goes to stderr.
Sizes: Dosovitskiy et al. 2021 (ViT-B/16), Radford et al. 2023 (Whisper base: encoder), Radford et al. 2021 (CLIP's text model),
Liu et al. 2021 (Swin-T, first stage: 64 windows of 7 x 7)."""
import json, math, os, subprocess, sys, tempfile

MACHINES = ["edge", "cloud", "xeon-gold-6240", "a100"]
# name: length, rounded, batch (windows), heads, width of a head, width of the MLP
NETWORKS = {"ViT-B/16": (197, 208, 1, 12, 64, 3072), "Whisper encoder": (1500, 1504, 1, 8, 64, 2048),
            "CLIP text": (77, 80, 1, 8, 64, 2048), "Swin windows": (49, 64, 64, 3, 32, 384)}


def norm(out, x, c, width):
    mean, var = f"{out}mean", f"{out}var"
    return [f"{mean}[b,m] += {x}[b,m,{c}]", f"{var}[b,m] += ({x}[b,m,{c}] - {mean}[b,m] / {width}) * ({x}[b,m,{c}] - {mean}[b,m] / {width})",
            f"{out}[b,m,{c}] = ({x}[b,m,{c}] - {mean}[b,m] / {width}) / sqrt({var}[b,m] / {width} + 1e-5)"]


def layer(tokens, batch, heads, head, inner):
    """Attention and MLP with their norms, as one graph."""
    width = heads * head
    ops = [*norm("N", "I", "c", width),
           "Q[b,h,m,a] += N[b,m,c] * Wq[c,h,a]", "K[b,h,m,a] += N[b,m,c] * Wk[c,h,a]",
           "V[b,h,m,a] += N[b,m,c] * Wv[c,h,a]", "S[b,h,m,l] += Q[b,h,m,a] * K[b,h,l,a]",
           "X[b,h,m] max= S[b,h,m,l]", "E[b,h,m,l] = exp((S[b,h,m,l] - X[b,h,m]) / 8)", "Z[b,h,m] += E[b,h,m,l]",
           "O[b,h,m,a] += E[b,h,m,l] / Z[b,h,m] * V[b,h,l,a]", "P[b,m,d] += O[b,h,m,a] * Wo[h,a,d]", "R[b,m,d] = P[b,m,d] + I[b,m,d]",
           *norm("N2", "R", "d", width),
           "H[b,m,f] += N2[b,m,d] * W1[d,f]", "G[b,m,f] = gelu(H[b,m,f])", "U[b,m,e] += G[b,m,f] * W2[f,e]", "Y[b,m,e] = U[b,m,e] + R[b,m,e]"]
    dims = dict(b=batch, m=tokens, l=tokens, h=heads, a=head, c=width, d=width, e=width, f=inner)
    return ("workload:\n  name: layer\n  dims: {" + ", ".join(f"{k}: {v}" for k, v in dims.items()) + "}\n  ops:\n"
            + "".join(f'  - "{op}"\n' for op in ops))


def planned(tool, machine, text, evals):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([tool, "plan", f"arch-specs/{machine}.yaml", f.name, "--evals", evals, "--threads", "1", "--quiet", "--json", "-"],
                             capture_output=True, text=True)
    if run.returncode:
        print(run.stderr, file=sys.stderr)
        return None
    return json.loads(run.stdout)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tool, evals = sys.argv[1], (sys.argv[2:] + ["20000"])[0]
    print("network,machine,cycles,over bound,cycles rounded,over bound rounded,ratio")
    ratios = []
    for name, (odd, even, *rest) in NETWORKS.items():
        for machine in MACHINES:
            mine, twin = (planned(tool, machine, layer(n, *rest), evals) for n in (odd, even))
            if not mine or not twin:
                sys.exit(1)
            if not ratios:
                print(json.dumps(mine)[:600], file=sys.stderr)
            over = [p["cycles"] / p["bounds"]["cycles"] for p in (mine, twin)]
            ratios.append(over[0] / over[1])
            print(f"{name},{machine},{mine['cycles']},{over[0]:.4f},{twin['cycles']},{over[1]:.4f},{ratios[-1]:.4f}", flush=True)
    print(f"{len(ratios)} pairs: mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.4f}, worst {max(ratios):.4f}", file=sys.stderr)


main()
