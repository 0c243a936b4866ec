#!/usr/bin/env python3
"""Networks from ONNX to one library, held against onnxruntime and timed beside it.

  run.py TILEFLOW ARCH FOLDER [--size small|full|tiny] [--only NAME,..] [--peers ort,eager,compile,openvino] [--rounds N] [--csv FILE]
         [--threads N] [--peak] [--reuse] [--lock FILE] [--dtype f32|bf16]

Each network of models.py is written with random weights, planned (`plan --target cpu --threads 1`: plan_s, of processor time), emitted, compiled, given its weights
(`pack`) and run; outputs are compared with onnxruntime's (largest difference over the largest magnitude).  Times are of processor
time, contestants in turns within one run, one thread each: the median of the rounds; with --threads 2 by the clock.  --peak: what each
holds at most, too (peak.py).  --dtype bf16: our library in bfloat16, within 3e-2 of onnxruntime's float32.
NAME@FORM with --dtype int8: the network quantised (quantised.py has the forms), within 5e-2; `steps`: elements by how many steps they are off.  --lock: a file that is locked while they are timed.  A line of JSON a network goes to stdout;
--csv FILE writes the row there, too, in place of the network's old one (docs/results/networks.csv, of which table.sh makes a table;
of bfloat16, beside OpenVINO in bfloat16, docs/results/networks-bf16.csv; of int8 docs/results/networks-int8.csv, with its form and its steps).
Needs numpy, onnx and onnxruntime (PyPI); for the other peers torch and openvino.
"""
import argparse
import contextlib
import csv
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", str(dict(zip(sys.argv, sys.argv[1:])).get("--threads", 1)))  # read as libraries are loaded
import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import models
import peers
import quantised

LIMIT = {"f32": 1e-4, "bf16": 3e-2, "int8": 5e-2}
TYPES = {"float": np.float32, "uint16_t": np.uint16, "int8_t": np.int8, "uint8_t": np.uint8, "int32_t": np.int32}


def narrow(array):
    """float32 as bfloat16, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def wide(array):
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def clean(name):
    """The importer's rule for names."""
    name = re.sub(r"^[^A-Za-z0-9]*", "", name)
    name = name if name[:1].isalpha() else "v" + name
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).rstrip("_")[:79]
    name = name[:-9] if name.endswith("_output_0") else name
    return "v" + name if re.fullmatch("d[0-9_]*", name) else name


def processor_seconds():
    """Of the processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def command(args, log):
    begun = time.time()
    done = subprocess.run(args, capture_output=True, text=True, timeout=580)
    with open(log, "a") as f:
        f.write("$ " + " ".join(map(str, args)) + "\n" + done.stdout + done.stderr)
    if done.returncode:
        raise RuntimeError(f"{args[1]}: {(done.stderr or done.stdout or 'ended by a signal').strip().splitlines()[0][:200]}")
    return time.time() - begun


def session(model, threads=1):
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = threads
    o.log_severity_level = 3
    return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), o, ["CPUExecutionProvider"])


def feeds_of(model, seed=3):
    """Random data for the model's inputs; indices stay within what any table has."""
    rng, feeds = np.random.default_rng(seed), {}
    for i in model.graph.input:
        shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
        ints = i.type.tensor_type.elem_type != onnx.TensorProto.FLOAT
        feeds[i.name] = rng.integers(0, 2, shape) if ints else rng.standard_normal(shape).astype(np.float32)
    return feeds


class Library:
    """An emitted network: its arguments by name, as network.h lists them."""

    def __init__(self, folder, weights, name="libnetwork.so"):
        header = (folder / "network.h").read_text()
        body = re.search(r"typedef struct \{(.*?)\} network_args;", header, re.S).group(1)
        fields, self.shape, self.out, self.type = [], {}, [], {}
        for line in body.splitlines():
            if m := re.match(r"\s*(const )?(\w+) \*(\w+); /\* ([\dx ]+)", line):
                fields.append((m[3], ctypes.c_void_p))
                self.shape[m[3]], self.type[m[3]] = [int(n) for n in m[4].split("x")], TYPES[m[2]]
                self.out += [] if m[1] else [m[3]]
            elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
                fields.append((m[1], ctypes.c_int64 * int(m[2])))
            elif "*packed" in line:
                fields.append(("packed", ctypes.c_void_p))
        self.Args = type("Args", (ctypes.Structure,), {"_fields_": fields})
        self.args, self.kept, self.given, self.lib = self.Args(), [], {}, ctypes.CDLL(str(folder / name))
        self.lib.network_workspace.restype = ctypes.c_size_t
        with open(weights, "rb") as f:
            self.map = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        self.file = np.frombuffer(self.map, np.uint8)
        why = ctypes.create_string_buffer(200)
        status = self.lib.network_weights(ctypes.byref(self.args), self.file.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.file.size), why, ctypes.c_size_t(200))
        if status:
            raise RuntimeError(f"network_weights: {why.value.decode()}")

    def missing(self):
        return [n for n in self.shape if not getattr(self.args, n)]

    def set(self, name, array):
        if self.type[name] == np.uint16 and array.dtype != np.uint16:
            array = narrow(array)
        array = np.ascontiguousarray(array, self.type[name]).reshape(self.shape[name])
        self.kept.append(array)
        if name not in self.out:
            self.given[name] = array
        setattr(self.args, name, array.ctypes.data)
        for r in range(array.ndim - 1):
            getattr(self.args, name + "_stride")[r] = array.strides[r] // array.itemsize
        return array

    def ready(self):
        self.outputs = {n: self.set(n, np.zeros(self.shape[n], self.type[n])) for n in self.out}
        if hasattr(self.lib, "network_pack"):
            self.lib.network_packed.restype = ctypes.c_size_t
            n = self.lib.network_packed()
            self.panels = np.zeros(n + 64, np.uint8)
            at = (self.panels.ctypes.data + 63) // 64 * 64
            if self.lib.network_pack(ctypes.byref(self.args), ctypes.c_void_p(at), ctypes.c_size_t(n)):
                raise RuntimeError("network_pack failed")
            self.args.packed = at
            self.map.madvise(mmap.MADV_DONTNEED)  # what is read in panels alone is never read again
        self.bytes = self.lib.network_workspace()
        self.workspace = np.zeros(self.bytes, np.uint8)
        self.call = lambda: self.lib.network(ctypes.byref(self.args), ctypes.c_void_p(self.workspace.ctypes.data), ctypes.c_size_t(self.bytes))

    def run(self):
        if self.call():
            raise RuntimeError("network refused its arguments")


@contextlib.contextmanager
def locked(path):
    with open(path or os.devnull, "w") as f:
        if path:
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def peak_of(kind, folder, threads):
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "peak.py"), kind, str(folder), str(threads)], capture_output=True, text=True, timeout=580)
    if done.returncode:
        raise RuntimeError(f"peak.py {kind}: {done.stderr.strip().splitlines()[-1][:200]}")
    return round(int(done.stdout) / 2**20, 1)


def give_inputs(lib, model, feeds):
    """Data inputs, and what data choose (a Gather's result), which onnxruntime makes."""
    names = {clean(n): n for n in feeds}
    made = {clean(o): o for node in model.graph.node for o in node.output}
    for n in lib.missing():
        if n in lib.out:
            continue
        if n in names:
            lib.set(n, feeds[names[n]])
            continue
        wide = onnx.ModelProto()
        wide.CopyFrom(model)
        wide.graph.output.append(onnx.helper.make_tensor_value_info(made[n], onnx.TensorProto.FLOAT, None))
        lib.set(n, session(wide).run([made[n]], feeds)[0])


def compare(lib, outputs):
    worst = 0.0
    for name, want in outputs.items():
        n = clean(name)
        got = wide(lib.outputs[n if n in lib.outputs else n + "_2"]).reshape(want.shape)
        worst = max(worst, float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)))
    return worst


def steps(lib, outputs, model):
    """By how many steps of its last scale outputs differ: how many elements by each."""
    last = {n.output[0]: n for n in model.graph.node}
    numbers = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    counts = {}
    for name, want in outputs.items():
        node = last[name]
        scale = float(numbers[node.input[1]]) if node.op_type == "DequantizeLinear" else 1.0
        off = np.rint(np.abs(lib.outputs[clean(name) if clean(name) in lib.outputs else clean(name) + "_2"].reshape(want.shape) - want) / scale)
        for k, n in zip(*np.unique(off, return_counts=True)):
            counts[int(k)] = counts.get(int(k), 0) + int(n)
    return counts


def one(name, o, folder):
    folder.mkdir(parents=True, exist_ok=True)
    base, _, form = name.partition("@")
    log = folder / "log"
    model = quantised.build(base, o.size, form, folder, o.batch) if form else models.build(name, o.size, batch=o.batch)
    path, plan, code, weights = (str(folder / n) for n in ("model.onnx", "plan.yaml", "code", "weights.bin"))
    onnx.save(model, path)
    row = {"network": name, "size": o.size, "dtype": o.dtype, "batch": o.batch, "threads": o.threads, "nodes": len(model.graph.node)}
    if not (o.reuse and os.path.exists(plan)):
        begun = processor_seconds()
        command([o.tileflow, "plan", o.arch, path, "--target", "cpu", "--dtype", o.dtype, "--threads", "1", "-o", plan, "--json", str(folder / "plan.json"), *o.plan.split()], log)
        (folder / "plan_s").write_text(f"{processor_seconds() - begun:.1f}")
    row["plan_s"] = float((folder / "plan_s").read_text())
    planned = json.load(open(folder / "plan.json"))
    groups, row["predicted_ms"] = planned["groups"], round(1e3 * planned.get("kernel_seconds", planned["seconds"]), 4)
    row["groups"], row["kernels"] = len(groups), len({g["like"] for g in groups})
    if not (o.reuse and os.path.exists(code + "/libnetwork.so")):
        subprocess.run(["rm", "-rf", code])
        command([o.tileflow, "emit", o.arch, path, plan, "--target", "cpu", "--dtype", o.dtype, "-o", code, "--quiet"], log)
        row["compile_s"] = round(command(["make", "-C", code, "-j2", "libnetwork.a", f"CFLAGS={o.make}"], log), 1)
        command(["cc", "-shared", "-fopenmp", "-o", code + "/libnetwork.so", "-Wl,--whole-archive", code + "/libnetwork.a", "-Wl,--no-whole-archive", "-lm"], log)
        command([o.tileflow, "pack", path, "--dtype", o.dtype, "-o", weights, "--quiet"], log)
    feeds, s = feeds_of(model), session(model, o.threads)
    names = [x.name for x in s.get_outputs()]
    want = dict(zip(names, s.run(names, feeds)))
    lib = Library(pathlib.Path(code), weights)
    give_inputs(lib, model, feeds)
    lib.ready()
    lib.run()
    row["error"] = compare(lib, want)
    row["bytes"] = {"weights": int(lib.file.size), "panels": int(lib.panels.size) if hasattr(lib, "panels") else 0, "workspace": int(lib.bytes)}
    row["equal"] = row["error"] <= LIMIT[o.dtype]
    if form:
        row["steps"] = steps(lib, want, model)
    if o.rounds:
        contestants = peers.calls(lib.run, model, path, s, names, feeds, o.peers, o.threads, o.dtype)
        with locked(o.lock):
            row["ms"] = peers.race(contestants, o.rounds, o.threads)
    if o.peak:
        np.savez(folder / "feeds.npz", **feeds)
        np.savez(folder / "given.npz", **lib.given)
        row["mib"] = {k: peak_of(k, folder, o.threads) for k in ("tileflow", "ort", "openvino")}
    return row


COLUMNS = ["network", "size", "batch", "threads", "groups", "kernels", "plan_s", "predicted_ms", "tileflow_ms", "ort_ms", "openvino_ms", "eager_ms",
           "compile_ms", "tileflow_mib", "ort_mib", "openvino_mib", "error", "load", "date", "commit"]


INT8 = ["network", "form", "size", "batch", "threads", "groups", "kernels", "plan_s", "predicted_ms", "tileflow_ms", "ort_ms", "openvino_ms", "equal", "one_step",
        "more_steps", "most_steps", "load", "date", "commit"]
KEY = ("network", "form", "size", "batch", "threads")


def keep(path, row, columns):
    """The row in its place of the CSV file; other networks' rows stay."""
    rows = list(csv.DictReader(open(path))) if os.path.exists(path) else []
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent)
    new = {**row, **{k + "_ms": v for k, v in row.get("ms", {}).items()}, **{k + "_mib": v for k, v in row.get("mib", {}).items()}, "error": f"{row['error']:.1e}", "load": round(os.getloadavg()[0], 1),
           "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "commit": commit.stdout.strip()}
    if "steps" in row:
        new["network"], _, new["form"] = row["network"].partition("@")
        new.update(equal=row["steps"].get(0, 0), one_step=row["steps"].get(1, 0), more_steps=sum(n for k, n in row["steps"].items() if k > 1), most_steps=max(row["steps"]))
    same = [i for i, r in enumerate(rows) if all((r.get(k) or ("1" if k == "threads" else "")) == str(new.get(k, "")) for k in KEY)]
    rows[same[0] if same else len(rows):(same[0] if same else len(rows)) + 1] = [new]
    with open(path + ".new", "w", newline="") as f:
        w = csv.DictWriter(f, columns, extrasaction="ignore", lineterminator="\n")
        w.writeheader(), w.writerows(rows)
    os.replace(path + ".new", path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tileflow"), p.add_argument("arch"), p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--size", default="small"), p.add_argument("--batch", type=int, default=1), p.add_argument("--only", default=",".join(models.SIZES))
    p.add_argument("--peers", default="ort"), p.add_argument("--rounds", type=int, default=0)
    p.add_argument("--plan", default="", help="more for `tileflow plan`"), p.add_argument("--make", default="-O3 -fPIC", help="CFLAGS")
    p.add_argument("--csv", help="file to keep the rows in")
    p.add_argument("--reuse", action="store_true", help="take plans and libraries that are there")
    p.add_argument("--threads", type=int, default=1), p.add_argument("--peak", action="store_true"), p.add_argument("--lock", help="file"), p.add_argument("--dtype", default="f32")
    o = p.parse_args()
    o.peers = [x for x in o.peers.split(",") if x]
    bad = 0
    for name in o.only.split(","):
        try:
            row = one(name, o, o.folder.resolve() / name)
            if o.csv:
                keep(o.csv, row, INT8 if o.dtype == "int8" else COLUMNS)
        except (RuntimeError, subprocess.TimeoutExpired, KeyError) as e:
            row = {"network": name, "size": o.size, "failed": str(e)[:300]}
        bad |= not row.get("equal")
        print(json.dumps(row), flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
