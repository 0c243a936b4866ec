#!/usr/bin/env python3
"""Compiles, checks and times the kernels that bench/cuda.sh wrote, one case after the other.

usage: run.py [--compile | --emulate] DIR [PATTERN[|PATTERN..]]     --worker DIR: what this starts for itself
Cases are run in the order of the patterns that they match, and of the list.

Rows go to DIR/results.csv (RESULTS) as they are known, and cases that stand there are left out.  A worker, a process of its own with
PyTorch in it, has the kernels as shared libraries; if it hangs or crashes, it is killed, the row says so, PyTorch's part of the case goes on in
a new one, and then the next case.  --emulate: kernels are compiled as C++, and PyTorch runs on the CPU.
"""
import collections
import concurrent.futures
import csv
import fnmatch
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import time

PYTHON = os.environ.get("PYTHON", sys.executable)
HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = (
    "case,contestant,state,seconds,gflops,error,registers,registers_expected,spilled,code,code_expected,dram,l2,dram_expected,l2_expected,predicted".split(",")
)
COMPILE, TEST, RACE, TRITON, PROFILE, SANITIZE = 240, 10, 20, 60, 20, 30  # seconds at most of each
WATCHDOG = 2_000_000_000  # cycles after which a wait of a small kernel says where it stands, and ends it
FIRST = "gemm-8192-sm90a gemm-8192-bf16 gemm-4096-sm90a attention-d128-16384-sm90a attention-d64-16384-sm90a attention-d128-1024-sm90a layer-attention-decode-bf16 chain-g1-sm90a".split()
PROFILED = ("gemm-8192-*", "gemm-4096*", "chain-g*", "attention-g*", "layer-*", "attention-d*-16384-*")
Case = collections.namedtuple("Case", "step name kind gflop")


def note(text):
    print(f"# {text}", file=sys.stderr, flush=True)


def of_groups(folder):
    """Of warpgroups: for the H100 and H200 alone."""
    return "sm_90a" in (folder / "Makefile").read_text()


def architecture(folder):
    return "sm_90a" if of_groups(folder) else os.environ.get("ARCH", "sm_90")


def command(words, seconds, folder, log):
    """Whether it ended well in its time; what it said goes to the folder's file."""
    with open(folder / log, "w") as out:
        try:
            return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=seconds).returncode == 0
        except subprocess.TimeoutExpired:
            print("it did not end in its time", file=out)
            return False
        except OSError as why:
            print(why, file=out)
            return False


def last_line(path):
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.strip()] if path.exists() else []
    return (lines[-1] if lines else "nothing was said").replace(",", ";")[:120]


# ---- kernels ----

SHIM = """#include <stdint.h>
#include <stddef.h>
#include "kernel_device.h"
extern "C" size_t tileflow_room(void) {{ return kernel{device}_workspace(); }}
extern "C" int tileflow_call(void **at, void *room, size_t bytes, void *stream) {{
  kernel_args args = {{}};
  kernel_dense(&args);
{fields}  return kernel{device}(&args, room, bytes{stream});
}}
"""


def shim(folder, emulated):
    """A call that takes all pointers in the manifest's order; the emulator knows no other arrays on its device than its own, so it takes the host's."""
    names = [t["name"] for t in json.loads((folder / "manifest.json").read_text())["tensors"]]
    fields = "".join(f"  args.{n} = (decltype(args.{n}))at[{i}];\n" for i, n in enumerate(names))
    where = {"device": "", "stream": ""} if emulated else {"device": "_device", "stream": ", stream"}
    (folder / "call.cu").write_text(SHIM.format(fields=fields, **where))


class Nvcc:
    """What is made in folders of cases, unless it is there: for the device."""

    def __init__(self):
        self.nvcc = os.environ.get("NVCC", "nvcc")

    def kernel(self, folder):
        """By the emitted Makefile; for a library, too."""
        flags = "NVCCFLAGS=-O3 -Xcompiler -fPIC -Xptxas -v" + f" -DTILEFLOW_WATCHDOG={WATCHDOG}LL" * folder.name.startswith("smoke-")
        return command(["make", "-s", f"NVCC={self.nvcc}", f"ARCH={architecture(folder)}", flags, "kernel.o"], COMPILE, folder, "said")

    def library(self, folder):
        """The runtime is PyTorch's."""
        flags = ["-shared", "-cudart", "shared", "-Xcompiler", "-fPIC", "-Xlinker", "-Bsymbolic,-s"]
        return command([self.nvcc, *flags, "-o", "kernel.so", "call.cu", "kernel.o"], COMPILE, folder, "said-library")

    def test(self, folder):
        return command(["sh", "-c", f"cc -O2 -std=c17 -c -o test.o test.c && {self.nvcc} -o test test.o kernel.o -lm"], COMPILE, folder, "said-test")

    def bench(self, folder):
        return command([self.nvcc, "-std=c++17", "-O3", "-o", "bench", "bench.cu", "kernel.o"], COMPILE, folder, "said-bench")


class Emulator:
    """And without one: as C++."""

    FLAGS = ["-std=c++17", "-O1", "-DTILEFLOW_EMULATE", "-Wno-unknown-pragmas", "-I..", "-fPIC"]

    def kernel(self, folder):
        return command(["g++", *self.FLAGS, "-c", "-x", "c++", "-o", "kernel.o", "kernel.cu"], COMPILE, folder, "said")

    def library(self, folder):
        return command(["g++", *self.FLAGS, "-shared", "-Wl,-Bsymbolic", "-o", "kernel.so", "-x", "c++", "call.cu", "-x", "none", "kernel.o"], COMPILE, folder, "said-library")

    def test(self, folder):
        return command(["sh", "-c", "cc -O2 -std=c17 -c -o test.o test.c && g++ -o test test.o kernel.o -lm"], COMPILE, folder, "said-test")


MADE = {"kernel": "kernel.o", "library": "kernel.so", "test": "test", "bench": "bench"}


def make(tools, folder, what):
    if what == "library":
        shim(folder, isinstance(tools, Emulator))
    return (folder / MADE[what]).exists() or getattr(tools, what)(folder)


def make_all(work, cases, tools, *steps):
    """Side by side; steps: what is made of it, in turn.  The cases that all is made of; of the others it is told why."""

    def of_case(case):
        return next((what for what in steps if not make(tools, work / case.name, what)), None)

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        failed = dict(zip(cases, pool.map(of_case, cases)))
    for case, what in failed.items():
        if what:
            note(f"{case.name}: no {what}: {last_line(work / case.name / ('said' if what == 'kernel' else 'said-' + what))}")
    return [case for case in cases if not failed[case]]


def count(tool, folder, what):
    said = subprocess.run([tool, "-sass", folder / "kernel.o"], capture_output=True, text=True).stdout
    return len(re.findall(what, said))


def seen(folder):
    """What the compiler and the machine code say of a kernel, beside what was expected."""
    said = (folder / "said").read_text(errors="replace") if (folder / "said").exists() else ""
    text = (folder / "kernel.cu").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    row = {"predicted": manifest["kernel_seconds"]}
    for column, pattern, where in (
        ("registers", r"Used (\d+) registers", said),
        ("spilled", r"(\d+) bytes spill stores", said),
        ("registers_expected", r"Some (\d+) registers are expected", text),
    ):
        found = [int(n) for n in re.findall(pattern, where)]
        if found:
            row[column] = max(found)
    expected = re.findall(r"machine code (\d+) MMA, (\d+) LDSM, (\d+) LDGSTS", text)
    tool = os.environ.get("CUOBJDUMP", "cuobjdump")
    if expected and shutil.which(tool):
        row["code_expected"] = " ".join(str(sum(map(int, column))) for column in zip(*expected))
        row["code"] = " ".join(str(count(tool, folder, what)) for what in (r"[HIQ]G?MMA", "LDSM", "LDGSTS"))
    return row | moved(manifest)


WORD = {"float32": 4, "int32": 4, "bfloat16": 2, "float16": 2, "int8": 1, "float8": 1}


def moved(manifest):
    """Bytes that the two outer memories hand down and take, by the model; what is written has the outputs' type."""
    word = {role: max(WORD[t["type"]] for t in manifest["tensors"] if t["role"] == role) for role in ("input", "output")}
    levels = manifest["predicted"]["levels"]
    by_level = [level["read"] * word["input"] + level["update"] * word["output"] for level in levels]
    names = [level["name"] for level in levels]
    return {"dram_expected": by_level[0]} | ({"l2_expected": by_level[1]} if "L2" in names[1:2] else {})


# ---- what is known already ----


class Results:
    def __init__(self, path):
        self.path = path
        self.rows = list(csv.DictReader(open(path))) if path.exists() else []
        if not self.rows:
            with open(path, "w") as out:
                print(",".join(COLUMNS), file=out)

    def has(self, case, contestant):
        return any(r["case"] == case and r["contestant"] == contestant for r in self.rows)

    def add(self, **row):
        row = {column: "" for column in COLUMNS} | {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in row.items()}
        self.rows.append(row)
        with open(self.path, "a", newline="") as out:
            csv.DictWriter(out, COLUMNS, lineterminator="\n").writerow(row)
        note(f"{row['case']} {row['contestant']}: {row['state']} {row['seconds'] and row['seconds'] + ' s, ' + row['gflops'] + ' GFLOP/s'} {row['error']}")


# ---- workers ----


class Worker:
    """A process that answers a job, a line of JSON, by rows, and then by an empty line; `gone`: why it answers no more."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.said, self.gone = b"", None

    def line(self, end):
        """The next one; None where it does not come until then."""
        pipe = self.process.stdout.fileno()
        while b"\n" not in self.said:
            left = end - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                self.stop("no answer")
                return None
            more = os.read(pipe, 1 << 16)
            if not more:
                self.stop(f"crashed ({self.process.wait()})")
                return None
            self.said += more
        line, self.said = self.said.split(b"\n", 1)
        return line.decode()

    def ask(self, job, seconds):
        """Rows, as they come; ends with `gone` set where the worker did not outlive the job."""
        end = time.monotonic() + seconds
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.stop("crashed")
        while not self.gone:
            line = self.line(end)
            if not line:
                return
            yield json.loads(line)

    def stop(self, why="stopped"):
        self.gone = self.gone or why
        self.process.kill()
        self.process.wait()


class Race:
    """Cases, each asked of a worker that is replaced if it is gone; patience: seconds for what a new one has to load."""

    patience = 60

    def __init__(self, work, words, results):
        self.work, self.words, self.results, self.worker = work, words, results, None

    def ask(self, case, who, seconds):
        if not self.worker or self.worker.gone:
            self.worker = Worker(self.words)
            list(self.worker.ask({"name": "", "kind": "start", "gflop": 0, "who": []}, self.patience))  # answered when all is loaded
        open_ones = list(who)
        for row in self.worker.ask({"name": case.name, "kind": case.kind, "gflop": float(case.gflop), "who": who}, seconds):
            if row["contestant"] in open_ones:
                open_ones.remove(row["contestant"])
                self.results.add(case=case.name, **row, **self.known(case, row["contestant"]))
        return open_ones

    def known(self, case, who):
        return seen(self.work / case.name) if who == "tileflow" else {}

    def case(self, case, who, seconds):
        """Each of `who` gets a row.  Who is under way when a worker goes is not known: ours is asked alone, then the others without it."""
        who = [w for w in who if not self.results.has(case.name, w)]
        left = self.ask(case, who, seconds) if who else []
        if left and len(who) > 1:
            for some in ([w for w in left if w == "tileflow"], [w for w in left if w != "tileflow"]):
                if some:
                    self.tell(case, self.ask(case, some, seconds))
        else:
            self.tell(case, left)

    def tell(self, case, left):
        for w in left:
            self.results.add(case=case.name, contestant=w, state=self.worker.gone or "no answer", **self.known(case, w))

    def stop(self):
        if self.worker:
            self.worker.stop()


# ---- steps ----


def smoke(work, cases, results):
    """A class (kind and type) of which two failed ends; what fails first is run again under compute-sanitizer."""
    failed, sanitizer = collections.Counter(), shutil.which("compute-sanitizer")
    for case in cases:
        folder, of = work / case.name, re.sub("-?[0-9]+-", "-", case.name, count=1)
        if results.has(case.name, "tileflow"):
            continue
        if failed[of] >= 2:
            results.add(case=case.name, contestant="tileflow", state="not run: two of its kind failed")
            continue
        right = command(["./test"], TEST, folder, "said-run")
        results.add(case=case.name, contestant="tileflow", state="ok" if right else "wrong: " + last_line(folder / "said-run"), **seen(folder))
        failed[of] += not right
        if not right and sanitizer:
            command([sanitizer, "./test"], SANITIZE, folder, "said-sanitizer")
            note(f"{folder}/said-sanitizer has what compute-sanitizer says")
            sanitizer = None
        yield


def races(cases, race, ways, seconds):
    """ways(case): the contestants."""
    for case in cases:
        if not all(race.results.has(case.name, w) for w in ways(case)):
            race.case(case, ways(case), seconds)
            yield


def alone(work, cases, results, tools):
    """Without PyTorch: small ones checked by their test.c, all timed by their bench.cu."""
    for case in cases:
        folder = work / case.name
        if results.has(case.name, "tileflow"):
            continue
        state, row = "not timed", {}
        if float(case.gflop) < 5 and not (make(tools, folder, "test") and command(["./test"], TEST, folder, "said-run")):
            state = "wrong: " + last_line(folder / "said-run")
        elif make(tools, folder, "bench") and command(["./bench"], TEST, folder, "took"):
            words = (folder / "took").read_text().split()
            state, row = "ok", {"seconds": float(words[1]), "gflops": float(case.gflop) / float(words[1])}
        results.add(case=case.name, contestant="tileflow", state=state, **row, **seen(folder))
        yield


def profile(work, cases, results, tools, patterns):
    """Bytes of DRAM and L2 in the first call of a folder's bench, by ncu; and, of what has goals, which unit is how busy (units.csv)."""
    wanted = [c for c in cases if any(fnmatch.fnmatch(c.name, p) for p in patterns) and not results.has(c.name, "ncu")]
    for case in make_all(work, wanted, tools, "bench"):
        folder = work / case.name
        kernels = len(re.findall(r"^static __global__", (folder / "kernel.cu").read_text(), re.M))
        base = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--launch-count", str(kernels)]
        command([*base, "--metrics", "dram__bytes.sum,lts__t_bytes.sum", "./bench"], PROFILE, folder, "bytes.csv")
        row = bytes_of((folder / "bytes.csv").read_text(errors="replace"))
        results.add(case=case.name, contestant="ncu", state="ok" if row else "failed: " + last_line(folder / "bytes.csv"), **row)
        if case.name in FIRST:
            command([*base, "--section", "SpeedOfLight", "--section", "ComputeWorkloadAnalysis", "--print-details", "all", "./bench"], PROFILE, folder, "units.csv")
            with open(results.path.parent / "units.csv", "a") as out:
                print(f"# {case.name}\n{(folder / 'units.csv').read_text(errors='replace')}", file=out)
        yield


def bytes_of(text):
    """Sums over kernels of the two metrics in ncu's CSV."""
    sums = {}
    for line in csv.reader(line for line in text.splitlines() if line.startswith('"')):
        for column, metric in (("dram", "dram__bytes.sum"), ("l2", "lts__t_bytes.sum")):
            if metric in line:
                sums[column] = sums.get(column, 0) + float(line[-1].replace(",", ""))
    return sums


def contestants(kinds):
    """Of a case: all that need no compiler of theirs; of rank cases ours alone."""
    return lambda case: ["tileflow"] + ([] if case.step == "ranks" else [w for w in kinds[case.kind] if w != "triton"])


def steps(work, cases, results, tools, kinds):
    emulated = isinstance(tools, Emulator)
    race = Race(work, [PYTHON, __file__, "--worker", str(work)] + ["--emulate"] * emulated, results)
    yield from smoke(work, [c for c in cases if c.step == "smoke"], results)
    large = [c for c in cases if c.step != "smoke"]
    if kinds and large:
        race.case(Case("copy", "copy", "copy", 0), ["torch"], RACE)
        yield from races(large, race, contestants(kinds), RACE)
        race.stop()
    elif large:
        yield from alone(work, large, results, tools)
    ncu = shutil.which("ncu") and not emulated
    if ncu:
        yield from profile(work, large, results, tools, FIRST)
    if kinds and not emulated:
        compiled = [c for c in large if "triton" in kinds[c.kind] and c.step != "ranks"]
        yield from races(compiled, race, lambda case: ["again", "triton"], TRITON)
        race.stop()
    if ncu:
        yield from profile(work, large, results, tools, PROFILED)


def contestants_of_kinds():
    """Of PyTorch, where it is: the names of each kind's."""
    code = "import json, peers; print(json.dumps({k: list(v.ways) for k, v in peers.KINDS.items()}))"
    said = subprocess.run([PYTHON, "-c", code], cwd=HERE, capture_output=True, text=True)
    if said.returncode:
        note("no PyTorch: no figures beside ours, and large results are not checked")
    return json.loads(said.stdout) if said.returncode == 0 else None


def runs_here(work, emulated):
    """A test of the cases that the device can run."""
    if emulated:
        return lambda case: True
    said = subprocess.run(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"], capture_output=True, text=True) if shutil.which("nvidia-smi") else None
    if not said or said.returncode:
        note("no GPU: nothing is run")
        return None
    note(said.stdout.strip())
    return lambda case: said.stdout.strip().endswith(" 9.0") or not of_groups(work / case.name)


def compile_all(work, cases, tools):
    """The cases that are ready to run."""
    made = make_all(work, cases, tools, "kernel")
    small = [c for c in made if c.step == "smoke"]
    return make_all(work, small, tools, "test") + make_all(work, [c for c in made if c not in small], tools, "library")


def asked(cases, patterns):
    """Those that match, in the order of the patterns."""
    place = {c: next((i for i, p in enumerate(patterns) if fnmatch.fnmatch(c.name, p)), None) for c in cases}
    return sorted((c for c in cases if place[c] is not None), key=place.get)


def main(words):
    flags = [w for w in words if w.startswith("--")]
    work, pattern = ([w for w in words if w not in flags] + ["*"])[:2]
    work, end = pathlib.Path(work).resolve(), time.monotonic() + float(os.environ.get("FOR", "inf"))
    cases = [Case(*line.rstrip("\n").split("\t")) for line in open(work / "cases.tsv")]
    cases = asked(cases, pattern.split("|"))
    tools = Emulator() if "--emulate" in flags else Nvcc()
    ready = compile_all(work, cases, tools)
    if "--compile" in flags:
        return 0 if len(ready) == len(cases) else 1
    runs = runs_here(work, "--emulate" in flags)
    if not runs:
        return 0
    results = Results(pathlib.Path(os.environ.get("RESULTS", work / "results.csv")))
    for case in cases:
        if case not in ready and not results.has(case.name, "tileflow"):
            results.add(case=case.name, contestant="tileflow", state="not compiled: " + last_line(work / case.name / "said"))
    for _ in steps(work, [c for c in ready if runs(c)], results, tools, contestants_of_kinds()):
        if time.monotonic() > end:
            note("the time is over; the same command goes on from here")
            break
    return 1 if any(r["contestant"] == "tileflow" and r["state"] != "ok" for r in results.rows) else 0


if __name__ == "__main__":
    if "--worker" in sys.argv:
        import worker

        worker.main(pathlib.Path(sys.argv[2]), "--emulate" in sys.argv)
    else:
        sys.exit(main(sys.argv[1:]))
