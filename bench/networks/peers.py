"""What networks are timed beside: onnxruntime, PyTorch (eager and compiled, over the same ONNX graph), OpenVINO."""
import statistics
import time

import numpy as np
import onnx
from onnx import numpy_helper

REST = 0.05  # seconds: onnxruntime's threads spin for some ms after a call, on the cores of the next


def calls(ours, model, path, session, names, feeds, peers, threads):
    """What to call for one evaluation by each of the contestants; each has been called once."""
    made = {"tileflow": ours}
    if "ort" in peers:
        made["ort"] = lambda: session.run(names, feeds)
    if "openvino" in peers:
        made["openvino"] = openvino_call(path, feeds, threads)
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


def openvino_call(path, feeds, threads):
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
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


def torch_node(t, kind, x, shape, at):
    f = t.nn.functional
    pairs = {"Add": t.add, "Sub": t.sub, "Mul": t.mul, "Div": t.div, "Pow": t.pow, "MatMul": t.matmul}
    single = {"Relu": t.relu, "Sigmoid": t.sigmoid, "Tanh": t.tanh, "Erf": t.erf, "Sqrt": t.sqrt, "Neg": t.neg}
    if kind in pairs:
        return pairs[kind](x[0], x[1])
    if kind in single:
        return single[kind](x[0])
    if kind == "Conv":
        pads = at.get("pads", [0, 0, 0, 0])
        return f.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, at.get("strides", [1, 1]), pads[:2], at.get("dilations", [1, 1]), at.get("group", 1))
    if kind == "ConvTranspose":
        return f.conv_transpose2d(x[0], x[1], x[2], at["strides"])
    if kind == "BatchNormalization":
        return f.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0, at["epsilon"])
    if kind == "LayerNormalization":
        return f.layer_norm(x[0], x[1].shape, x[1], x[2], at["epsilon"])
    if kind == "Gemm":
        return f.linear(x[0], x[1] if at.get("transB") else x[1].t(), x[2])
    if kind == "MaxPool":
        return f.max_pool2d(x[0], at["kernel_shape"], at["strides"], at.get("pads", [0])[0])
    if kind == "GlobalAveragePool":
        return x[0].mean((2, 3), keepdim=True)
    if kind == "ReduceMean":
        return x[0].mean(at["axes"], keepdim=bool(at.get("keepdims", 1)))
    if kind == "Softmax":
        return t.softmax(x[0], at["axis"])
    if kind == "Clip":
        return t.clamp(x[0], 0, 6)
    if kind == "Transpose":
        return x[0].permute(at["perm"])
    if kind == "Reshape":
        return x[0].reshape([x[0].shape[i] if n == 0 else n for i, n in enumerate(shape[1])])
    if kind == "Flatten":
        return x[0].flatten(1)
    if kind == "Unsqueeze":
        for a in sorted(shape[1]):
            x[0] = x[0].unsqueeze(a)
        return x[0]
    if kind == "Expand":
        return x[0].expand([max(a, b) for a, b in zip(shape[1], [1] * (len(shape[1]) - x[0].dim()) + list(x[0].shape))])
    if kind == "Concat":
        return t.cat(x, at["axis"])
    if kind == "Split":
        return t.split(x[0], shape[1], at.get("axis", 0))
    if kind == "Slice":
        axis, first = shape[3][0], shape[1][0]
        return x[0].narrow(axis, first, min(shape[2][0], x[0].shape[axis]) - first)
    if kind == "Gather":
        axis = at.get("axis", 0)
        return x[0].select(axis, shape[1][0]) if shape[1] else f.embedding(x[1], x[0])
    if kind == "Where":
        return t.where(x[0], x[1], x[2])
    if kind == "Cast":
        return x[0].float()
    if kind == "Resize":
        return f.interpolate(x[0], scale_factor=2, mode="nearest")
    raise KeyError(kind)
