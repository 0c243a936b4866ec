"""What run.py starts: takes jobs, a line of JSON each, checks and times the case's contestants, and prints a row for each, then an empty line."""
import ctypes
import json
import math
import statistics
import sys
import time

import torch

from peers import KINDS

TYPES = {"float32": torch.float32, "int32": torch.int32, "bfloat16": torch.bfloat16, "float16": torch.float16, "int8": torch.int8, "float8": torch.float8_e4m3fn}
LIMITS = {"float32": 1e-5, "bfloat16": 1e-2, "float16": 2e-3, "int8": 0.0, "float8": 1e-2}  # of the norm, by the inputs' type
ROUNDS, LONG = 31, 0.05  # rounds, and of a call that takes so many seconds a quarter of them
OURS = ("tileflow", "again")  # again: beside those whose turn comes later
FLUSH = 256 << 20  # bytes, more than any L2 holds


class Device:
    """The GPU, or (emulated) the CPU in its place."""

    def __init__(self, emulated):
        self.name = "cpu" if emulated else "cuda"
        self.emulated = emulated
        self.rounds = 3 if emulated else ROUNDS
        self.other = None if emulated else torch.empty(FLUSH, dtype=torch.uint8, device="cuda")

    def stream(self):
        return None if self.emulated else ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def wait(self):
        if not self.emulated:
            torch.cuda.synchronize()

    def recorded(self, run):
        """The call as a CUDA graph, so that no contestant's time has the host's in it; as it is where it cannot be recorded."""
        if self.emulated:
            return run
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                run()
        except RuntimeError:
            torch.cuda.synchronize()
            return run
        return graph.replay

    def time(self, run):
        """Seconds of a call; what was written before it has driven its data out of L2, and hides that it takes time to start."""
        if self.emulated:
            began = time.perf_counter()
            run()
            return time.perf_counter() - began
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.other.zero_()
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3


class Ours:
    """The emitted kernel on tensors in the manifest's order."""

    def __init__(self, folder, manifest, tensors, device):
        self.library = ctypes.CDLL(str(folder / "kernel.so"))
        self.library.tileflow_room.restype = ctypes.c_size_t
        self.library.tileflow_call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        self.bytes = self.library.tileflow_room()
        self.room = torch.empty(max(self.bytes, 16), dtype=torch.uint8, device=device.name)
        self.at = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors.values()])
        self.out = next(tensors[t["name"]] for t in manifest["tensors"] if t["role"] == "output")
        self.device = device

    def __call__(self, _=None):
        status = self.library.tileflow_call(self.at, self.room.data_ptr(), self.bytes, self.device.stream())
        if status:
            raise RuntimeError(f"the kernel does not start: {status} (kernel.h says why)")
        return self.out


def drawn(manifest, device):
    """Random tensors, of variance one; outputs full of what nobody may leave there."""
    torch.manual_seed(1)
    tensors = {}
    for t in manifest["tensors"]:
        kind = TYPES[t["type"]]
        x = torch.randn(t["shape"], device=device.name)
        if t["role"] == "output":
            tensors[t["name"]] = torch.full_like(x, 77 if kind == torch.int32 else math.nan, dtype=kind)
        else:
            tensors[t["name"]] = (x * 32).round().clamp(-127, 127).to(kind) if kind == torch.int8 else x.to(kind)
    return tensors


def off(got, want):
    """How far, of the norm of what is right; float32 holds the difference of large results."""
    got = got.reshape(want.shape)
    return ((got.double() - want).norm() / want.norm()).item()


def brief(why):
    return "does not run: " + (str(why).strip().splitlines() or [type(why).__name__])[0].replace(",", ";")[:100]


def turns(device, runs):
    """Seconds of each one's calls, all in turn."""
    took = {who: [device.time(run)] for who, run in runs.items()}
    rounds = max(3, device.rounds // 4 if max(t[0] for t in took.values()) > LONG else device.rounds)
    for r in range(rounds):
        for who in sorted(runs, key=lambda w, r=r: (list(runs).index(w) + r) % len(runs)):
            took[who].append(device.time(runs[who]))
    return {who: statistics.median(seconds[1:]) for who, seconds in took.items()}


def contestant(who, kind, folder, manifest, tensors, device):
    if who in OURS:
        return Ours(folder, manifest, tensors, device)
    way = KINDS[kind].ways[who]
    if who == "triton":
        way = torch.compile(way, mode="max-autotune-no-cudagraphs")
    return lambda: way(tensors)


def limit(manifest, name):
    """tf32 is float32 to whoever keeps it."""
    kinds = {t["type"] for t in manifest["tensors"] if t["role"] == "input"}
    return 2e-3 if "-tf32" in name else max(LIMITS[k] for k in kinds)


def race(job, folder, device):
    name, kind = job["name"], job["kind"]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "-tf32" in name
    torch.backends.cudnn.benchmark = True  # it takes the fastest of its algorithms
    manifest = json.loads((folder / "manifest.json").read_text())
    tensors = drawn(manifest, device)
    KINDS[kind].draw(tensors)
    runs, errors = {}, {}
    inputs = {t["name"]: tensors[t["name"]] for t in manifest["tensors"] if t["role"] == "input"}
    want = KINDS[kind].want({n: x.double() for n, x in inputs.items()})
    for who in job["who"]:
        try:
            run = contestant(who, kind, folder, manifest, tensors, device)
            run()
            errors[who] = off(run(), want)
            device.wait()
            if who in OURS and not errors[who] <= limit(manifest, name):
                yield {"contestant": who, "state": "wrong", "error": errors[who]}
                continue
            runs[who] = device.recorded(run)
        except (RuntimeError, NotImplementedError, AttributeError, ValueError) as why:
            device.wait()  # an error that stays with the device ends this worker
            yield {"contestant": who, "state": brief(why)}
    del want
    if runs:
        for who, seconds in turns(device, runs).items():
            yield {"contestant": who, "state": "ok", "seconds": seconds, "gflops": job["gflop"] / seconds, "error": errors[who]}


def copy(device):
    """What the memory copies: bytes read and written, in GB/s (in the column of GFLOP/s)."""
    n = 1 << (20 if device.emulated else 31)
    here, there = (torch.empty(n, dtype=torch.uint8, device=device.name) for _ in range(2))
    seconds = turns(device, {"torch": lambda: there.copy_(here)})["torch"]
    yield {"contestant": "torch", "state": "ok", "seconds": seconds, "gflops": 2 * n / seconds / 1e9}


def main(work, emulated):
    device = Device(emulated)
    for line in sys.stdin:
        job = json.loads(line)
        for row in [] if job["kind"] == "start" else copy(device) if job["kind"] == "copy" else race(job, work / job["name"], device):
            print(json.dumps(row), flush=True)
        print(flush=True)
