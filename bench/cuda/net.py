"""An emitted network beside PyTorch: checked against float32, timed kernel by kernel and as a CUDA graph.

    python3 net.py FOLDER...  [--seconds 60] [--compile] [--csv FILE] [--groups FILE]

FOLDER: of `tileflow emit PLAN --target cuda`, with libnetwork.so (make ARCH=sm_90a libnetwork.so) and graph.json (net_case.py).  Weights
are drawn on the device, by a seed.  PyTorch runs the same graph, a call a node, in the same type: eager, its calls as a CUDA graph, and
(--compile) by torch.compile as a graph.  Contestants take turns.  A row for each: contestant, state, milliseconds, error of the norm.
"""
import argparse
import ctypes
import json
import pathlib
import re
import statistics
import sys
import time

import torch

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "networks")]
from torch_node import torch_node

ROUNDS, CALLS = 15, 20
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
KINDS = {"INT64": torch.int64, "FLOAT": torch.float32, "BOOL": torch.bool, "int64": torch.int64, "float32": torch.float32, "bool": torch.bool}


def clean(name):
    """The importer's rule for names (bench/networks/run.py)."""
    name = re.sub(r"^[^A-Za-z0-9]*", "", name)
    name = name if name[:1].isalpha() else "v" + name
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).rstrip("_")[:79]
    name = name[:-9] if name.endswith("_output_0") else name
    return "v" + name if re.fullmatch("d[0-9_]*", name) else name


# ---- the graph ------------------------------------------------------------------------------------------------------------------
class Graph:
    """The case's graph; values are float32 that the network's type can hold."""

    def __init__(self, case, kind, device):
        self.case, self.kind, self.device = case, kind, device
        torch.manual_seed(1)
        self.values, self.shapes = {}, {}
        for name, d in case["drawn"].items():
            if "lower" in d:
                self.values[name] = torch.ones(d["shape"], device=device, dtype=torch.bool).tril()
            else:
                self.values[name] = self.round(torch.randn(d["shape"], device=device) * d["scale"] + d["around"])
        for name, c in case["const"].items():
            x = torch.tensor(c["values"], dtype=KINDS[c["type"]], device=device).reshape(c["shape"])
            self.values[name] = self.round(x) if x.is_floating_point() else x
            if x.dtype == torch.int64:
                self.shapes[name] = [int(n) for n in c["values"]]
        self.inputs = {}
        for name, i in case["inputs"].items():
            whole = KINDS[i["type"]] == torch.int64
            x = torch.randint(0, 2, i["shape"], device=device) if whole else self.round(torch.randn(i["shape"], device=device))
            self.inputs[name] = torch.ones_like(x) if "mask" in name else x

    def round(self, x):
        return x.to(self.kind).float()

    def runner(self, kind, keep=None):
        """A call of the graph in that type; keep: a dict for all values."""
        cast = lambda x: x.to(kind) if x.is_floating_point() else x
        values = {k: cast(v) for k, v in self.values.items()}
        nodes, shapes, outputs = self.case["nodes"], self.shapes, self.case["outputs"]

        def run(inputs):
            v = {**values, **inputs}
            for op, inp, out, at in nodes:
                x = [v[n] if n else None for n in inp]
                made = x[0].to(kind) if op == "Cast" else torch_node(torch, op, x, [shapes.get(n) for n in inp], at)
                for name, y in zip(out, made if isinstance(made, (tuple, list)) else [made]):
                    v[name] = y
            if keep is not None:
                keep.update(v)
            return [v[o] for o in outputs]

        given = {k: cast(x) for k, x in self.inputs.items()}
        return run, given


# ---- the emitted network -----------------------------------------------------------------------------------------------------------
class Ours:
    """libnetwork.so on tensors of the device; its arguments as network.h lists them."""

    def __init__(self, folder):
        header = (folder / "network.h").read_text()
        body = re.search(r"typedef struct \{(.*?)\} network_args;", header, re.S).group(1)
        fields, self.shape, self.out, self.kind = [], {}, [], torch.float32
        for line in body.splitlines():
            if m := re.match(r"\s*(const )?(float|uint16_t) \*(\w+); /\* ([\dx ]+)(?:, (\w+))?", line):
                fields.append((m[3], ctypes.c_void_p))
                self.shape[m[3]] = [int(n) for n in m[4].split("x")]
                self.kind = TYPES.get(m[5] or "", self.kind)
                self.out += [] if m[1] else [m[3]]
            elif m := re.match(r"\s*int64_t (\w+)\[(\d+)\]", line):
                fields.append((m[1], ctypes.c_int64 * int(m[2])))
        self.args = type("Args", (ctypes.Structure,), {"_fields_": fields})()
        self.lib = ctypes.CDLL(str(folder / "libnetwork.so"))
        self.lib.network_device_workspace.restype = ctypes.c_size_t
        self.kept = {}

    def set(self, name, x):
        x = x.reshape(self.shape[name]).to(self.kind).contiguous()
        self.kept[name] = x
        setattr(self.args, name, x.data_ptr())
        for r in range(x.dim() - 1):
            getattr(self.args, name + "_stride")[r] = x.stride(r)

    def give(self, graph, made):
        """Arguments by name: weights, inputs, scale and shift of a BatchNormalization, and what data choose."""
        names = {clean(n): x for n, x in {**graph.values, **graph.inputs}.items()}
        for op, inp, out, at in graph.case["nodes"]:
            names.setdefault(clean(out[0]), made[out[0]])
            if op == "BatchNormalization":
                g, b, mean, var = (graph.values[n] for n in inp[1:])
                scale = g / torch.sqrt(var + at["epsilon"])
                names[clean(out[0]) + "_scale"], names[clean(out[0]) + "_shift"] = scale, b - mean * scale
        for name, shape in self.shape.items():
            if name in self.out:
                self.set(name, torch.full(shape, float("nan"), device=graph.device))
            else:
                self.set(name, names[name].float())
        self.bytes = self.lib.network_device_workspace()
        self.room = torch.empty(self.bytes, dtype=torch.uint8, device=graph.device)

    def __call__(self):
        if not torch.cuda.is_available():  # the emulated library, and arrays of the host
            self.lib.network(ctypes.byref(self.args), None, ctypes.c_size_t(0))
            return
        stream = torch.cuda.current_stream().cuda_stream
        status = self.lib.network_device(ctypes.byref(self.args), ctypes.c_void_p(self.room.data_ptr()), ctypes.c_size_t(self.bytes), ctypes.c_void_p(stream))
        if status:
            raise RuntimeError(f"the network does not start: {status} (network.h says why)")

    def as_graph(self):
        """The network's own graph, in branches."""
        graph = ctypes.c_void_p()
        status = self.lib.network_graph(ctypes.byref(self.args), ctypes.c_void_p(self.room.data_ptr()), ctypes.c_size_t(self.bytes), ctypes.byref(graph))
        if status:
            raise RuntimeError(f"no graph: {status} (network.h says why)")
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        return lambda: self.lib.network_graph_start(graph, stream)

    def outputs(self):
        return [self.kept[n] for n in self.out]


# ---- the race -------------------------------------------------------------------------------------------------------------------
def error(got, want):
    return max(((g.reshape(w.shape).double() - w.double()).norm() / w.double().norm()).item() for g, w in zip(got, want))


def as_graph(call):
    """The call's kernels as one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def seconds(call):
    """Of one of several calls that follow each other."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / CALLS


def contestants(graph, ours, want, o):
    """Name, what is called, error or what kept it from running; in the order in which they are made."""
    run, given = graph.runner(ours.kind)
    eager = lambda: run(given)
    ways = [("tileflow", lambda: ours), ("tileflow-row", lambda: as_graph(ours)), ("tileflow-graph", ours.as_graph), ("eager", lambda: eager), ("eager-graph", lambda: as_graph(eager))]
    if o.compile:
        compiled = torch.compile(run)
        ways.append(("compile-graph", lambda: as_graph(lambda: compiled(given))))
    for name, make in ways:
        try:
            if name == "compile-graph":
                compiled(given)
            call = make()
            call()
            got = ours.outputs() if name.startswith("tileflow") else eager() if name != "compile-graph" else compiled(given)
            torch.cuda.synchronize()
            yield name, call, error(sorted_like(got, want, ours, graph, name), want)
        except Exception as why:  # a contestant that cannot run is a row
            yield name, None, str(why).strip().splitlines()[0][:100] if str(why).strip() else type(why).__name__


def sorted_like(got, want, ours, graph, name):
    """Ours, in the order of the graph's outputs."""
    if not name.startswith("tileflow"):
        return got
    by = dict(zip(ours.out, got))
    names = [clean(n) for n in graph.case["outputs"]]
    return [by.get(n, by.get(n + "_2")) for n in names]


def groups(folder, ours, path):
    """Where time goes: each kernel of the network by the profiler, and what its plan expected of the group (graph.json's `expected`, microseconds)."""
    expected = json.loads((folder / "graph.json").read_text()).get("expected", {})
    ours()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
        for _ in range(CALLS):
            ours()
        torch.cuda.synchronize()
    with open(path, "a") as out:
        for e in sorted(p.key_averages(), key=lambda e: -e.device_time_total):
            if m := re.search(r"(part\d+)\(\w*?_g(\d+)_args", e.key):
                who = expected.get(m[2], ["", ""])
                print(f"{folder.name},g{m[2]},{m[1]},{e.count / CALLS:g},{e.device_time_total / e.count:.2f},{who[0]},{who[1]}", file=out)


def one(folder, o):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    ours = Ours(folder)
    graph, made = Graph(json.loads((folder / "graph.json").read_text()), ours.kind, device), {}
    with torch.inference_mode():
        run, given = graph.runner(torch.float32, made)
        want = run(given)
        ours.give(graph, made)
        made.clear()
        if device == "cpu":  # the emulated library
            ours()
            yield "tileflow", "ok", 0.0, error(sorted_like(ours.outputs(), want, ours, graph, "tileflow"), want)
            return
        try:
            if o.groups:
                groups(folder, ours, o.groups)
        except (RuntimeError, AttributeError) as why:  # no profiler: the race goes on
            print(f"{folder.name}: no times of groups: {why}", file=sys.stderr)
        runs, errors, until = {}, {}, time.monotonic() + o.seconds
        for name, call, off in contestants(graph, ours, want, o):
            if call is None:
                yield name, off.replace(",", ";"), 0.0, 0.0
            else:
                runs[name], errors[name] = call, off
        took = {name: [] for name in runs}
        for r in range(ROUNDS):
            for name in runs:
                took[name].append(seconds(runs[name]))
            if time.monotonic() > until and r >= 3:
                break
        for name in runs:
            yield name, "ok", statistics.median(took[name][1:]) * 1e3, errors[name]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folders", nargs="+", type=pathlib.Path)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--compile", action="store_true")
    p.add_argument("--csv")
    p.add_argument("--groups", help="a file for rows: network, group, part, times a call, microseconds each, expected of the group, its ops")
    o = p.parse_args()
    for folder in o.folders:
        for name, state, ms, off in one(folder, o):
            row = f"{folder.name},{name},{state},{ms:.4f},{off:.3g}"
            print(row, flush=True)
            if o.csv:
                with open(o.csv, "a") as f:
                    print(row, file=f)


main()
