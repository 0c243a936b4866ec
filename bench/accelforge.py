"""AccelForge's mapper (PyPI: accelforge 1.0.467, Python 3.12 or newer) beside `best`: eight problems that both can state, one after the
other in one run, on one memory of 16,384 words in front of 16 x 16 units.

  python3.12 -m venv VENV && VENV/bin/pip install accelforge==1.0.467
  VENV/bin/python bench/accelforge.py TILEFLOW [EVALS [LIMIT [PROBLEM...]]] >docs/results/accelforge.csv
  VENV/bin/python bench/accelforge.py --files TILEFLOW FILE... [NAME=VALUE...]

AccelForge may cut temporal and spatial loops unevenly; where it does not end in LIMIT seconds (300), the row has what it finds without
that.  `theirs` is by its own model; `theirs_here` is its mapping written as ours and counted by `eval`; empty: so it does not fit, or
moves other words.  Each runs in a process of its own, with one thread: seconds are the processor's, with what Python takes to import
AccelForge (1.3 s); memory is the most that was resident.  EVALS: of ours (200000).

--files: a workload, an architecture and a mapping in AccelForge's own format, by its model and, imported, by `eval`: bits read and written of
each tensor in each memory, energy with leakage, and seconds; what differs is printed, below what `import` says of it."""
import json, os, resource, subprocess, sys, tempfile

ARCH = """architecture:
  name: peer
  clock: 1 GHz
  word-bits: 16
  overlap: perfect
  memories:
  - {name: DRAM, bandwidth: 8, energy: 16 pJ}
  - {name: Buffer, capacity: 16384, energy: 0 pJ}
  compute:
  - {name: mac, ops: [mac], below: Buffer, mesh: [16, 16], energy: 0 pJ}
"""
# Energy is counted in bits from DRAM; a word has 16.
ARCH_THERE = """arch:
  nodes:
  - !Memory
    name: DRAM
    size: inf
    leak_power: 0
    area: 0
    tensors: {keep: ~Intermediates, may_keep: All}
    actions:
    - {name: read, energy: 1, throughput: 8 * 16}
    - {name: write, energy: 1, throughput: 8 * 16}
  - !Memory
    name: Buffer
    size: 16384 * 16
    leak_power: 0
    area: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 0, throughput: inf}
    - {name: write, energy: 0, throughput: inf}
  - !Container
    name: Array
    spatial:
    - {name: X, fanout: 16}
    - {name: Y, fanout: 16}
  - !Compute
    name: MAC
    leak_power: 0
    area: 0
    actions:
    - {name: compute, energy: 0, throughput: 1}
"""


def product(m, n, k):
    return dict(m=m, n=n, k=k), ["C[m,n] += A[m,k] * B[k,n]"]


TOKENS = 197
PROBLEMS = {
    "product 1021^3": product(1021, 1021, 1021),
    "product 1024^3": product(1024, 1024, 1024),
    "product 197 x 768 x 768": product(197, 768, 768),
    "product 208 x 768 x 768": product(208, 768, 768),
    "two products": (dict(m=113, k=211, l=97, n=101), ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"]),
    "three products": (dict(m=113, k=211, l=97, n=101, o=89),
                       ["C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]", "G[m,o] += E[m,n] * F[n,o]"]),
    "attention": (dict(h=12, m=TOKENS, l=TOKENS, a=64, n=64),
                  ["S[h,m,l] += Q[h,m,a] * K[h,l,a]", "O[h,m,n] += S[h,m,l] * V[h,l,n]"]),
    "GPT block": (dict(m=1024, l=1024, h=12, a=64, c=768, d=768, f=3072, e=768),
                  ["Q[h,m,a] += I[m,c] * X[h,c,a]", "K[h,l,a] += I[l,c] * Y[h,c,a]", "V[h,l,a] += I[l,c] * W[h,c,a]",
                   "S[h,m,l] += Q[h,m,a] * K[h,l,a]", "O[h,m,a] += S[h,m,l] * V[h,l,a]", "Z[m,d] += O[h,m,a] * U[h,a,d]",
                   "F[m,f] += Z[m,d] * G[d,f]", "H[m,e] += F[m,f] * L[f,e]"]),
}


def parts(op):
    """The result and the operands, each a name and its dims."""
    out, operands = op.split(" += ")
    return [(t[:t.index("[")], t[t.index("[") + 1:-1].split(",")) for t in [out, *operands.split(" * ")]]


def workload(dims, ops):
    return ("workload:\n  name: w\n  dims: {" + ", ".join(f"{k}: {v}" for k, v in dims.items()) + "}\n  ops:\n"
            + "".join(f'  - "{op}"\n' for op in ops))


def workload_there(dims, ops):
    lines = ["workload:", "  iteration_space_shape: {" + ", ".join(f'{d}: "0 <= {d} < {n}"' for d, n in dims.items()) + "}",
             "  bits_per_value: {All: 16}", "  einsums:"]
    for op in ops:
        result, *operands = parts(op)
        lines += [f"  - name: P{result[0]}", "    tensor_accesses:"]
        for name, ranks in [*operands, result]:
            at = ", ".join(f"{name}{i}: {d}" for i, d in enumerate(ranks))
            lines.append(f"    - {{name: {name}, projection: {{{at}}}{', output: True' if name == result[0] else ''}}}")
    return "\n".join(lines) + "\n"


# ---- AccelForge's side: a process of its own ----

def tree(node):
    kind = type(node).__name__
    if kind == "Storage":
        return {"at": node.component, "tensors": list(node.tensors)}
    if kind in ("Temporal", "Spatial"):
        return {"dim": str(node.rank_variable), "tile": int(node.tile_shape), "axis": str(node.name) if kind == "Spatial" else None}
    if kind == "Compute":
        return {"op": str(node.einsum)[1:]}
    return {"kind": kind, "nodes": [tree(n) for n in node.nodes if type(n).__name__ != "Reservation"]}


def theirs(problem, objective, uneven):
    sys.path.pop(0)  # this file has the same name
    import accelforge as af
    af.set_n_parallel_jobs(1)
    with open("arch.af.yaml", "w") as f:
        f.write(ARCH_THERE)
    with open("work.af.yaml", "w") as f:
        f.write(workload_there(*PROBLEMS[problem]))
    spec = af.Spec.from_yaml("arch.af.yaml", "work.af.yaml")
    spec.mapper.metrics = af.Metrics.ENERGY if objective == "traffic" else af.Metrics.LATENCY
    spec.mapper.explore_imperfect_temporal_loops = spec.mapper.explore_imperfect_spatial_loops = uneven
    found = spec.map_workload_to_arch(print_progress=False)
    value = found.data["Total<SEP>energy"].iloc[0] / 16 if objective == "traffic" else found.data["Total<SEP>latency"].iloc[0]
    mapping = found.data["Total<SEP>mapping"].iloc[0]
    with open("found.json", "w") as f:
        json.dump({"value": float(value), "words": float(found.data["Total<SEP>energy"].iloc[0]) / 16, "tree": tree(mapping())}, f)


# ---- its mapping, written as ours ----

def leaves(node):
    """The ops below."""
    return [node["op"]] if "op" in node else [op for n in node.get("nodes", []) for op in leaves(n)]


class Writer:
    """Loops above the innermost tensor that the buffer holds are DRAM's; what is below is the buffer's.  AccelForge may hold a tensor
    further out than that.  `wide`: loops that index such a tensor are the buffer's, too, as the buffer holds all of a Tile's tensors at
    one place here: as few words move, and more are held.  Else they stay DRAM's: more words move.  `scopes`: the outermost one's kind, and
    that of the others."""

    def __init__(self, problem, scopes, wide):
        dims, ops = PROBLEMS[problem]
        self.dims, self.scopes, self.wide = dims, scopes, wide
        self.ops = {parts(op)[0][0]: parts(op) for op in ops}
        self.lines = []

    def inner(self, tensor):
        """The ops that touch an intermediate; none: not one."""
        return {o for o, p in self.ops.items() if tensor in [t for t, _ in p]} if tensor in self.ops and any(
            tensor in [t for t, _ in p[1:]] for p in self.ops.values()) else set()

    def tile(self, memory, loops, depth):
        text = lambda wanted: " ".join(f"{d}={n}" + (f"@{a.lower()}" if a else "") for d, n, a in loops if bool(a) == wanted)
        self.lines.append("  " * depth + memory + (f" for {text(False)}" if text(False) else "") +
                          (f" spatial {text(True)}" if text(True) else ""))

    def no_homes(self, storage):
        return {"at": storage["at"], "tensors": [t for t in storage["tensors"] if t not in self.homes]}

    def leaf(self, op, above, depth):
        """`above`: loops and what the buffer holds, outermost first, without what a scope keeps."""
        dram, buffer, held = [], [], []
        last = max((i for i, n in enumerate(above) if "at" in n), default=-1)
        of = {t: set(d) for t, d in self.ops[op]}
        for i, n in enumerate(above):
            if "at" in n:
                held += [t for t in n["tensors"] if t in of]
            elif n["axis"] or i > last or self.wide and any(n["dim"] in of[t] for t in held):
                buffer.append((n["dim"], n["trips"], n["axis"]))
            else:
                dram.append((n["dim"], n["trips"], None))
        if dram:
            self.tile("DRAM", dram, depth)
        self.tile("Buffer", buffer, depth + bool(dram))
        self.lines.append("  " * (depth + 1 + bool(dram)) + f"op {op}")

    def walk(self, nodes, sizes, held, depth, nested=False):
        """`held`: what stands above in the buffer and is no home; loops above a scope are DRAM's."""
        sizes, above, kept = dict(sizes), [], []
        for n in nodes:
            if "dim" in n:
                n["trips"] = -(-sizes[n["dim"]] // n["tile"])
                sizes[n["dim"]] = n["tile"]
                above.append(n)
            elif "at" in n and n["at"] == "Buffer":
                above.append(n)
            elif "op" in n:
                stands = [{"at": "Buffer", "tensors": held}] * bool(held) + above
                self.leaf(n["op"], [a if "dim" in a else self.no_homes(a) for a in stands], depth)
            elif n.get("kind") == "Nested":
                self.walk(n["nodes"], sizes, held, depth, nested)
                return
            elif "nodes" in n:
                stored = [t for a in above if "at" in a for t in a["tensors"]]
                kept = [t for t in held + stored if self.inner(t) and self.inner(t) <= set(leaves(n))
                        and not any(self.inner(t) <= set(leaves(c)) for c in n["nodes"])]
                self.homes |= set(kept)
                loops = [(a["dim"], a["trips"], None) for a in above if "dim" in a]
                if loops:
                    self.tile("DRAM", loops, depth)
                    depth += 1
                self.lines.append("  " * depth + self.scopes[nested] + (" keep " + " ".join(f"{t}@Buffer" for t in kept) if kept else ""))
                for c in n["nodes"]:
                    self.walk(c["nodes"], sizes, held + stored, depth + 1, True)

    def text(self, root):
        self.homes = set()  # what scopes keep
        self.walk(root["nodes"], self.dims, [], 0)
        return "mapping: |\n" + "".join(f"  {line}\n" for line in self.lines)


# ---- one after the other ----

def timed(command, limit):
    """Exit status, processor seconds, most MB resident; None: not ended."""
    with open("out.txt", "w") as out:
        run = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
        _, status, use = os.wait4(run.pid, 0)
        run.returncode = status
    return status, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def counted(tool, problem, objective, found):
    """The least that `eval` says of the ways to write AccelForge's mapping: children in turn have the memory to themselves, or what is
    in it stays.  A way in which a thousandth more words move than AccelForge says is not its mapping, but for latency
    where units are what limits."""
    best = None
    scopes = ("Seq", "Seq"), ("Shar", "Shar"), ("Seq", "Shar")
    for kinds, wide in ((k, w) for k in scopes for w in (True, False)):
        with open("theirs.yaml", "w") as f:
            f.write(Writer(problem, kinds, wide).text(found["tree"]))
        run = subprocess.run([tool, "eval", "arch.yaml", "work.yaml", "theirs.yaml", "--quiet", "--json", "-"], capture_output=True,
                             text=True)
        report = json.loads(run.stdout) if run.returncode == 0 else None
        limited = report and objective == "latency" and report["bottleneck"].endswith("compute")
        if report and (limited or figure(report, "traffic") <= 1.001 * found["words"]):
            value = figure(report, objective)
            best = value if best is None else min(best, value)
    return best


def figure(report, objective):
    if objective == "latency":
        return report["cycles"]
    outer = report["levels"][0]
    return outer["read"] + outer["update"]


def row(tool, problem, objective, evals, limit):
    with open("arch.yaml", "w") as f:
        f.write(ARCH)
    with open("work.yaml", "w") as f:
        f.write(workload(*PROBLEMS[problem]))
    for uneven in ("uneven", "even"):
        status, there, there_mb = timed([sys.executable, os.path.realpath(__file__), "--theirs", problem, objective, uneven],
                                        limit if uneven == "uneven" else 10 * limit)
        if status == 0:
            break
    if status:
        sys.exit(open("out.txt").read())
    with open("found.json") as f:
        found = json.load(f)
    command = [tool, "best", "arch.yaml", "work.yaml", "--objective", objective, "--threads", "1", "--evals", evals, "--quiet", "--force",
               "--json", "best.json"]
    status, here, here_mb = timed(command, 10 * limit)
    if status:
        sys.exit(open("out.txt").read())
    with open("best.json") as f:
        best = json.load(f)
    return {"problem": problem, "objective": objective, "their_loops": uneven, "theirs": found["value"],
            "theirs_here": counted(tool, problem, objective, found), "ours": figure(best, objective), "bound": best["search"]["bound"],
            "proved": best["search"]["proved"], "their_seconds": round(there, 2), "our_seconds": round(here, 2),
            "their_mb": round(there_mb), "our_mb": round(here_mb)}


# ---- files of its own format ----

def bits_of_action(component, name):
    """What is no number is its text for: as the component says."""
    for said in [getattr(a, "bits_per_action", None) for a in component.actions if a.name == name] + [
            getattr(component, "bits_per_action", None)]:
        if str(said).replace(".", "").isdigit():
            return float(said)
    return 1


def actions_there(files, settings):
    """Bits by memory, tensor and action; energy; seconds."""
    sys.path.pop(0)  # this file has the same name
    import accelforge as af
    af.set_n_parallel_jobs(1)
    spec = af.Spec.from_yaml(*files, jinja_parse_data={k: int(v) if v.isdigit() else v for k, v in settings})
    data = spec.evaluate_mapping().data
    bits, energy = {}, 0
    for column in data.columns:
        part = column.split("<SEP>")
        if len(part) == 5 and part[1] == "action":
            per = bits_of_action(spec.arch.find(part[2]), part[4])
            bits[tuple(part[2:])] = bits.get(tuple(part[2:]), 0) + float(data[column].iloc[0]) * per
        elif len(part) in (4, 5) and part[1] == "energy":
            energy += float(data[column].iloc[0])
    return bits, energy, float(data["Total<SEP>latency"].iloc[0])


def beside(tool, arguments):
    files = [os.path.realpath(a) for a in arguments if "=" not in a]
    settings = [a.split("=", 1) for a in arguments if "=" in a]
    sets = [word for k, v in settings for word in ("--set", f"{k}={v}")]
    print(subprocess.run([tool, "import", *files, *sets], capture_output=True, text=True).stderr, end="")
    run = subprocess.run([tool, "eval", *files, *sets, "--quiet", "--json", "-"], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(1)
    here = json.loads(run.stdout)
    bits, energy, seconds = actions_there(files, settings)
    rows = [("energy", "J", energy, here["energy_pj"] * 1e-12), ("time", "s", seconds, here["seconds"])]
    for level in here["levels"]:
        for tensor, counts in level["tensors"].items():
            for action, one, other in ("read", "read", "drain"), ("write", "fill", "update"):
                rows.append((f"{level['name']} {tensor} {action}", "bits", bits.get((level["name"], tensor, action), 0),
                             (counts[one] + counts[other]) * counts["word_bits"]))
    different = [r for r in rows if abs(r[2] - r[3]) > 1e-6 * max(r[2], r[3])]  # AccelForge counts energy and time in 32 bits
    for what, unit, there, ours in different:
        print(f"{what}: AccelForge {there:.9g} {unit}, tileflow {ours:.9g}")
    print(f"{len(rows) - len(different)} of {len(rows)} figures are equal")


def main():
    if sys.argv[1] == "--theirs":
        theirs(sys.argv[2], sys.argv[3], sys.argv[4] == "uneven")
        return
    if sys.argv[1] == "--files":
        beside(os.path.realpath(sys.argv[2]), sys.argv[3:])
        return
    tool, evals, limit = os.path.realpath(sys.argv[1]), *(sys.argv[2:] + ["200000", "300"][len(sys.argv) - 2:])[:2]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        with open("dot", "w") as f:  # AccelForge draws each mapping by graphviz, and dies without
            f.write("#!/bin/sh\nexec cat >/dev/null\n")
        os.chmod("dot", 0o755)
        os.environ["PATH"] = scratch + ":" + os.environ["PATH"]
        first = True
        for problem in sys.argv[4:] or PROBLEMS:
            for objective in ("traffic", "latency"):
                r = row(tool, problem, objective, evals, int(limit))
                if first:
                    print(",".join(r))
                first = False
                print(",".join("" if v is None else format(v, ".12g") if isinstance(v, float) else str(v) for v in r.values()), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
