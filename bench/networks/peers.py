"""What networks are timed beside: onnxruntime, PyTorch (eager and compiled, over the same ONNX graph), OpenVINO."""
import statistics
import time

import numpy as np
import onnx
from onnx import numpy_helper

from torch_node import torch_node

REST = 0.05  # seconds: onnxruntime's threads spin for some ms after a call, on the cores of the next


def calls(ours, model, path, session, names, feeds, peers, threads, dtype="f32"):
    """What to call for one evaluation by each of the contestants; each has been called once.  dtype: what OpenVINO may compute in."""
    made = {"tileflow": ours}
    if "ort" in peers:
        made["ort"] = lambda: session.run(names, feeds)
    if "openvino" in peers:
        made["openvino"] = openvino_call(path, feeds, threads, "bf16" if dtype == "bf16" else "f32")
    if "eager" in peers or "compile" in peers:
        eager, compiled = torch_calls(model, feeds, "compile" in peers, threads)
        if "eager" in peers:
            made["eager"] = eager
        if compiled:
            made["compile"] = compiled
    for call in made.values():
        call()
    return made


def race(contestants, rounds, threads):
    """Milliseconds of one call of each, of processor time with one thread, else by the clock: the median over rounds in which each
    is called in turn, the first round left out.  With several threads each waits until those of the one before no longer spin, and is called
    once before it is timed."""
    now = time.process_time if threads == 1 else time.perf_counter
    times = {k: [] for k in contestants}
    for r in range(rounds + 1):
        for k, call in contestants.items():
            if threads > 1:
                time.sleep(REST)
                call()
            begun = now()
            call()
            if r:
                times[k].append(now() - begun)
    return {k: round(statistics.median(v) * 1e3, 4) for k, v in times.items()}


def openvino_call(path, feeds, threads, precision="f32"):
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision})
    request = compiled.create_infer_request()
    return lambda: request.infer(feeds)


# ---- the graph in PyTorch: a call a node, as a user who writes the model writes it ------------------------------------------
def torch_calls(model, feeds, compiles, threads):
    import torch

    torch.set_num_threads(threads)
    values = {i.name: torch.from_numpy(np.array(numpy_helper.to_array(i))) for i in model.graph.initializer}
    given = {k: torch.from_numpy(v) for k, v in feeds.items()}
    steps = [(n.op_type, list(n.input), list(n.output), {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}) for n in model.graph.node]
    shapes = {k: [int(x) for x in v.flatten()] for k, v in values.items() if v.dtype == torch.int64}
    outputs = [o.name for o in model.graph.output]

    def forward(inputs):
        v = {**values, **inputs}
        for kind, inp, out, at in steps:
            made = torch_node(torch, kind, [v[x] if x else None for x in inp], [shapes.get(x) for x in inp], at)
            for name, x in zip(out, made if isinstance(made, (tuple, list)) else [made]):
                v[name] = x
        return [v[o] for o in outputs]

    def calling(f):
        def call():
            with torch.inference_mode():
                return f(given)
        return call

    compiled = calling(torch.compile(forward)) if compiles else None
    return calling(forward), compiled
