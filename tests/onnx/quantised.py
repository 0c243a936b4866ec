#!/usr/bin/env python3
"""Quantised nodes as `tileflow import` writes them, against onnxruntime, element for element.

  quantised.py TILEFLOW [CASES [SEED]]      random cases: shapes, axes, types, zeros, opsets; none may differ
  quantised.py TILEFLOW --network CC [ISA]  networks planned, emitted, compiled and run: how many elements differ, and by how many steps
  quantised.py TILEFLOW --write FOLDER      some of them, and the functions that round, as NAME.onnx and NAME.json for run.py

Needs numpy, onnx, onnxruntime (PyPI).  The workload is evaluated in float32 (bench/onnx/workload.py), as kernels compute.  onnxruntime
runs without rewriting the graph; of networks also as it rewrites them, with sums of integers.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "onnx"))
from workload import Workload, clean, packed  # noqa: E402

TYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "i32": np.int32}


def reals(rng, *shape):
    """Of several sizes; some are ties between two steps, some beyond the ends."""
    x = rng.standard_normal(shape) * rng.choice([0.1, 1, 30, 500])
    return np.where(rng.random(shape) < 0.3, np.round(x * 2) / 2, x).astype(np.float32)


def whole(rng, kind, *shape):
    ends = np.iinfo(TYPES[kind])
    return rng.integers(ends.min, ends.max + 1, shape).astype(TYPES[kind])


def second(rng, a, b, *shape):
    """Of a product: int8 beside uint8 in 7 bits, as onnxruntime's sums of pairs saturate at 16 bits on processors without VNNI
    (its documentation, "Quantize ONNX models", S8S8 and U8S8)."""
    x = whole(rng, b, *shape)
    return (x // 2).astype(np.int8) if (a, b) == ("u8", "i8") else x


def scales(rng, *shape):
    """Powers of two make ties."""
    return (rng.choice([0.5, 0.25, 1, 0.1, 0.0371, 2.6], shape) * rng.uniform(0.5, 2, shape) ** rng.integers(0, 2)).astype(np.float32)


def shape_of(rng, least=1):
    return tuple(int(n) for n in rng.integers(1, 6, rng.integers(least, 5)))


def quantize(rng):
    shape, kind = shape_of(rng), str(rng.choice(["u8", "i8", "u16", "i16"]))
    opset = int(rng.choice([10, 13, 19, 21, 23])) if kind in ("u8", "i8") else 21
    axis = int(rng.integers(0, len(shape)))
    each = (shape[axis],) if opset >= 13 and rng.random() < 0.6 else ()
    named = {"axis": axis - len(shape) * int(rng.integers(0, 2))} if each else {}
    weights, inputs = {"s": scales(rng, *each)}, ["x", "s"]
    if kind != "u8" or rng.random() < 0.7:
        weights["z"] = whole(rng, kind, *each) if rng.random() < 0.8 else np.zeros(each, TYPES[kind])
        inputs.append("z")
    return [helper.make_node("QuantizeLinear", inputs, ["y"], **named)], {"x": reals(rng, *shape)}, weights, opset


def dequantize(rng):
    shape, kind = shape_of(rng), str(rng.choice(["u8", "i8", "i32", "u16", "i16"]))
    opset = int(rng.choice([10, 13, 19, 21, 23])) if kind not in ("u16", "i16") else 21
    axis = int(rng.integers(0, len(shape)))
    each = (shape[axis],) if opset >= 13 and rng.random() < 0.6 else ()
    named = {"axis": axis} if each else {}
    x = whole(rng, kind, *shape) if kind != "i32" else rng.integers(-2 ** 20, 2 ** 20, shape).astype(np.int32)
    weights, inputs = {"s": scales(rng, *each)}, ["x", "s"]
    if kind != "i32" and rng.random() < 0.8:
        weights["z"] = whole(rng, kind, *each)
        inputs.append("z")
    return [helper.make_node("DequantizeLinear", inputs, ["y"], **named)], {"x": x}, weights, opset


def there_and_back(rng):
    """Of a block of an axis each."""
    shape, kind = (int(rng.integers(1, 4)), 2 * int(rng.integers(1, 4)), 3), str(rng.choice(["u8", "i8"]))
    blocks = (shape[0], shape[1] // 2, 3)
    weights = {"s": scales(rng, *blocks), "z": whole(rng, kind, *blocks)}
    named = {"axis": 1, "block_size": 2}
    return [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **named),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **named)], {"x": reals(rng, *shape)}, weights, 21


def dynamic(rng):
    return [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], {"x": reals(rng, *shape_of(rng))}, {}, 11


def qlinear_matmul(rng):
    m, k, n = (int(v) for v in rng.integers(1, 24, 3))
    a = str(rng.choice(["u8", "i8"]))
    b = str(rng.choice(["u8", "i8"])) if a == "u8" else "i8"
    batch = tuple(int(v) for v in rng.integers(1, 3, rng.integers(0, 3)))
    each = (n,) if rng.random() < 0.5 and b == "i8" else ()
    zero = np.zeros(each, np.int8) if each else whole(rng, b)
    weights = {"as": scales(rng) / 9, "az": whole(rng, a), "b": second(rng, a, b, k, n), "bs": scales(rng, *each) / 9, "bz": zero,
               "ys": scales(rng) * 20, "yz": whole(rng, a)}
    node = helper.make_node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])
    return [node], {"a": whole(rng, a, *batch, m, k)}, {k: np.asarray(v, getattr(v, "dtype", None)) for k, v in weights.items()}, 10


def window(rng):
    group = int(rng.choice([1, 1, 2, 3]))
    c, m = group * int(rng.integers(1, 4)), group * int(rng.integers(1, 4))
    kernel = [int(v) for v in rng.integers(1, 4, 2)]
    named = {"group": group, "strides": [int(v) for v in rng.integers(1, 3, 2)], "kernel_shape": kernel}
    if rng.random() < 0.3:
        named["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    else:
        named["pads"] = [int(v) for v in rng.integers(0, 2, 4)]
        named["dilations"] = [int(v) for v in rng.integers(1, 3, 2)]
    x = (int(rng.integers(1, 3)), c, *(int(v) for v in rng.integers(5, 9, 2)))
    return named, x, (m, c // group, *kernel), m


def qlinear_conv(rng):
    named, x, w, m = window(rng)
    a = str(rng.choice(["u8", "i8"]))
    b = str(rng.choice(["u8", "i8"])) if a == "u8" else "i8"
    each = (m,) if rng.random() < 0.5 and b == "i8" else ()
    weights = {"xs": scales(rng) / 9, "xz": whole(rng, a), "w": second(rng, a, b, *w), "ws": scales(rng, *each) / 9,
               "wz": np.zeros(each, np.int8) if each else whole(rng, b), "ys": scales(rng) * 20, "yz": whole(rng, a)}
    inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    if rng.random() < 0.6:
        weights["bias"] = rng.integers(-5000, 5000, m).astype(np.int32)
        inputs.append("bias")
    return [helper.make_node("QLinearConv", inputs, ["y"], **named)], {"x": whole(rng, a, *x)}, weights, 10


def matmul_integer(rng):
    m, k, n = (int(v) for v in rng.integers(1, 24, 3))
    a, b = str(rng.choice(["u8", "i8"])), str(rng.choice(["u8", "i8"]))
    if a == "i8":
        b = "i8"
    weights, inputs = {"b": second(rng, a, b, k, n)}, ["a", "b"]
    if rng.random() < 0.7:
        weights["az"], weights["bz"] = whole(rng, a), whole(rng, b) if b == "u8" or rng.random() < 0.5 else whole(rng, b, n)
        inputs += ["az", "bz"]
    return [helper.make_node("MatMulInteger", inputs, ["y"])], {"a": whole(rng, a, m, k)}, weights, 10


def conv_integer(rng):
    named, x, w, _ = window(rng)
    weights, inputs = {"w": whole(rng, "u8", *w)}, ["x", "w"]
    if rng.random() < 0.7:
        weights["xz"], weights["wz"] = whole(rng, "u8"), whole(rng, "u8")
        inputs += ["xz", "wz"]
    return [helper.make_node("ConvInteger", inputs, ["y"], **named)], {"x": whole(rng, "u8", *x)}, weights, 10


def conv_in_steps(rng):
    """A convolution of numbers of steps, whose zero is any, and whose scales are powers of two: exact in float32.  Some have so many
    channels that a border of zeros is laid around bytes."""
    named, x, w, m = window(rng)
    if rng.random() < 0.4 and "pads" in named:
        named["pads"] = [0, 0, 0, 0]
    elif rng.random() < 0.6:
        m = int(rng.integers(23, 60))
        named["group"], named["kernel_shape"], named["strides"], w = 1, [3, 3], [1, 1], (m, x[1], 3, 3)
    kind = str(rng.choice(["u8", "u8", "i8"]))
    weights = {"xs": np.float32(0.25), "xz": whole(rng, kind), "w": second(rng, "u8", "i8", *w), "ws": np.float32(2) ** rng.integers(-3, 1, m),
               "wz": np.zeros(m, np.int8), "ys": np.float32(64), "yz": whole(rng, "u8")}
    weights["ws"] = weights["ws"].astype(np.float32)
    nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xd"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0)]
    inputs = ["xd", "wd"]
    if rng.random() < 0.6:
        weights["b"], weights["bs"] = rng.integers(-5000, 5000, m).astype(np.int32), (weights["xs"] * weights["ws"]).astype(np.float32)
        nodes.append(helper.make_node("DequantizeLinear", ["b", "bs"], ["bd"], axis=0))
        inputs.append("bd")
    nodes += [helper.make_node("Conv", inputs, ["c"], **named), helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["y"])]
    return nodes, {"x": whole(rng, kind, *x)}, weights, 13


KINDS = [conv_in_steps, quantize, quantize, dequantize, there_and_back, dynamic, qlinear_matmul, qlinear_matmul, qlinear_conv, qlinear_conv,
         matmul_integer, conv_integer]


def element(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def model_of(name, nodes, inputs, weights, opset, outputs=None):
    """None: onnxruntime has no such kernel."""
    made = outputs or [o for o in nodes[-1].output]
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(k, element(v), v.shape) for k, v in inputs.items()],
        [helper.make_empty_tensor_value_info(o) for o in made], [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
    own = [helper.make_opsetid("com.microsoft", 1)] if any(n.domain for n in nodes) else []
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *own], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


def run(model, inputs, rewritten=False):
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if rewritten else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)


def imported(tool, model, inputs, folder):
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    done = subprocess.run([tool, "import", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    work = Workload(done.stdout, np.float32)
    given = {clean(k): v for k, v in inputs.items()}
    missing = work.inputs() - set(given)
    if missing:
        subprocess.run([tool, "pack", str(path), "-o", str(folder / "weights.bin"), "--quiet"], check=True)
        given.update({k: v for k, v in packed((folder / "weights.bin").read_bytes()).items() if k in missing})
    tensors = work.run({k: np.asarray(v, np.float32) for k, v in given.items() if k in work.inputs()})
    return [tensors[clean(o.name)] for o in model.graph.output]


def check(tool, cases, seed):
    bad, unknown, left = 0, 0, cases
    with tempfile.TemporaryDirectory() as folder:
        number = 0
        while left:
            number += 1
            rng = np.random.default_rng([seed, number])
            kind = KINDS[number % len(KINDS)]
            nodes, inputs, weights, opset = kind(rng)
            model = model_of(kind.__name__, nodes, inputs, weights, opset)
            try:
                wanted = run(model, inputs)
            except Exception as why:  # what onnxruntime has no kernel for
                unknown += 1
                if unknown > cases:
                    raise
                if "NOT_IMPLEMENTED" not in str(why) and "INVALID" not in str(why):
                    print(number, kind.__name__, str(why)[:200])
                continue
            left -= 1
            try:
                got = imported(tool, model, inputs, pathlib.Path(folder))
                off = [int(np.sum(g.reshape(w.shape) != w)) for g, w in zip(got, wanted, strict=True)]
                if any(off):
                    bad += 1
                    print(f"case {number}, {kind.__name__}: {off} of {[w.size for w in wanted]} elements differ")
            except (RuntimeError, KeyError, ValueError) as why:
                bad += 1
                print(f"case {number}, {kind.__name__}: {str(why)[:300]}")
    print(f"{cases} cases, {bad} wrong, {unknown} that onnxruntime does not compute")
    return bad


# ---- networks ------------------------------------------------------------------------------------------------------


def networks(tool, cc, isa):
    import pack
    most = 0
    for seed in range(3):
        rng = np.random.default_rng([7, seed])
        nodes, inputs, weights, opset = quantised_network(rng, size=12, wide=8, classes=10)
        model = model_of("network", nodes, inputs, weights, opset)
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            path, code = work / "model.onnx", work / "code"
            onnx.save(model, path)
            pack.run(tool, "plan", pack.ARCH, path, "--evals", "20", "--threads", "1", "-o", work / "plan.yaml", "--quiet")
            pack.run(tool, "emit", pack.ARCH, path, work / "plan.yaml", "--target", "cpu", "--isa", isa, "-o", code, "--quiet")
            pack.run(tool, "pack", path, "-o", work / "weights.bin", "--quiet")
            sources = [f for f in code.glob("*.c") if f.name not in ("test.c", "bench.c")]
            pack.run(cc, "-std=c17", "-O2", "-march=native", "-w", "-I", code, "-shared", "-fPIC", "-o", code / "libnetwork.so", *sources, "-lm")
            off = {False: [], True: []}
            for _ in range(20):
                x = rng.standard_normal(inputs["x"].shape).astype(np.float32)
                got, _ = pack.call(code, (work / "weights.bin").read_bytes(), {"x": x.ravel().tolist()})
                for rewritten in off:
                    off[rewritten].append(np.abs(np.array(got["y"]) - run(model, {"x": x}, rewritten)[0].ravel()))
        for rewritten, steps in off.items():
            steps = np.concatenate(steps)
            most = max(most, steps.max())
            print(f"network {seed}, onnxruntime {'rewritten' if rewritten else 'as it is'}: {np.sum(steps > 0)} of {steps.size} differ, "
                  f"by up to {steps.max():g}")
    return int(most > 1)


# ---- what tests/onnx/run.py reads ------------------------------------------------------------------------------------


def rounding(kind, x, y=None, **named):
    """A graph of one node whose results are float32 in the file's numbers; opset 13."""
    inputs = {"x": x} if y is None else {"x": x, "y2": y}
    return [helper.make_node(kind, list(inputs), ["y"], **named)], inputs, {}, 13


def functions(rng):
    x = np.concatenate([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0, 1e9, -1e9], rng.standard_normal(15) * 9]).astype(np.float32).reshape(4, 6)
    y = rng.uniform(0.5, 4, (4, 6)).astype(np.float32)
    n, m = rng.integers(-40, 40, (4, 6)).astype(np.int32), np.where(rng.random((4, 6)) < 0.5, -7, 3).astype(np.int32)
    small = np.clip(x, -100, 100)
    yield from ((k.lower(), rounding(k, x)) for k in ("Floor", "Ceil", "Round", "Sign"))
    yield from ((k.lower(), rounding(k, small)) for k in ("Sin", "Cos", "Tan"))
    yield "mod-float", rounding("Mod", small, y, fmod=1)
    yield "mod-sign", rounding("Mod", n, m, fmod=1)
    yield "mod-whole", rounding("Mod", n, m)
    yield "div-whole", rounding("Div", n, m)
    yield "cast-cut", rounding("Cast", small, to=int(TensorProto.INT32))
    yield "cast-byte", rounding("Cast", n * 9, to=int(TensorProto.INT8))


def quantised_network(rng, c=3, size=8, wide=4, classes=5):
    """Convolutions with ReLU, a pooling, a residual sum, a product of matrices: each between what makes numbers of steps and
    steps of numbers, as quantisers write it; uint8 values, int8 weights with a scale for each channel, int32 biases."""
    nodes, weights = [], {}

    def name(what):
        return f"{what}{len(nodes)}"

    def stepped(of, scale, zero):
        q, y = name("q"), name("d")
        weights[q + "_s"], weights[q + "_z"] = np.float32(scale), np.uint8(zero)
        nodes.append(helper.make_node("QuantizeLinear", [of, q + "_s", q + "_z"], [q]))
        nodes.append(helper.make_node("DequantizeLinear", [q, q + "_s", q + "_z"], [y]))
        return y, np.float32(scale)

    def of_weights(shape, at, before):
        w, y, b, z = name("w"), name("wd"), name("b"), name("bd")
        weights[w] = rng.integers(-63, 64, shape).astype(np.int8)
        scale = (rng.uniform(0.5, 2, shape[at]) / np.sqrt(np.prod(shape) / shape[at]) / 40).astype(np.float32)
        weights[w + "_s"], weights[w + "_z"] = scale, np.zeros(shape[at], np.int8)
        weights[b], weights[b + "_s"] = rng.integers(-500, 500, shape[at]).astype(np.int32), (before * scale).astype(np.float32)
        nodes.append(helper.make_node("DequantizeLinear", [w, w + "_s", w + "_z"], [y], axis=at))
        nodes.append(helper.make_node("DequantizeLinear", [b, b + "_s"], [z], axis=0))
        return y, z

    def conv(x, before, out, into, after, zero, relu=True, stride=1):
        w, b = of_weights((out, into, 3, 3), 0, before)
        y = name("c")
        nodes.append(helper.make_node("Conv", [x, w, b], [y], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[stride, stride]))
        if relu:
            nodes.append(helper.make_node("Relu", [y], [y + "_r"]))
        return stepped(y + "_r" if relu else y, after, zero)

    x, s = stepped("x", 0.02, 119)
    a, s = conv(x, s, wide, c, 0.03, 0)
    b, t = conv(a, s, wide, wide, 0.03, 121, relu=False)
    total = name("sum")
    nodes.append(helper.make_node("Add", [a, b], [total]))
    nodes.append(helper.make_node("Relu", [total], [total + "_r"]))
    x, s = stepped(total + "_r", 0.04, 0)
    pool = name("pool")
    nodes.append(helper.make_node("MaxPool", [x], [pool], kernel_shape=[2, 2], strides=[2, 2]))
    x, s = stepped(pool, 0.04, 0)
    x, s = conv(x, s, 2 * wide, wide, 0.05, 0, stride=2)
    mean, flat, y = name("mean"), name("flat"), name("fc")
    nodes.append(helper.make_node("GlobalAveragePool", [x], [mean]))
    x, s = stepped(mean, 0.02, 0)
    nodes.append(helper.make_node("Flatten", [x], [flat]))
    w, b = of_weights((2 * wide, classes), 1, s)
    nodes.append(helper.make_node("Gemm", [flat, w, b], [y]))
    weights["y_s"], weights["y_z"] = np.float32(0.03), np.uint8(128)
    nodes.append(helper.make_node("QuantizeLinear", [y, "y_s", "y_z"], ["y"]))
    return nodes, {"x": rng.standard_normal((1, c, size, size)).astype(np.float32)}, weights, 13


def own(kind, inputs, out, **named):
    return helper.make_node(kind, inputs, [out], domain="com.microsoft", **named)


def operators_network(rng):
    """A network as onnxruntime's quantiser writes it in its operator format: each of its own operators once."""
    weights, nodes = {}, []

    def steps(name, scale, zero):
        weights[name + "_s"], weights[name + "_z"] = np.float32(scale), np.uint8(zero)
        return [name + "_s", name + "_z"]

    def conv(x, of, out, into, scale, zero):
        weights[out + "_w"] = rng.integers(-63, 64, (into, of, 3, 3)).astype(np.int8)
        weights[out + "_b"] = rng.integers(-500, 500, into).astype(np.int32)
        weights[out + "_ws"], weights[out + "_wz"] = (rng.uniform(0.5, 2, into) / 400).astype(np.float32), np.zeros(into, np.int8)
        nodes.append(helper.make_node("QLinearConv", [x, x + "_s", x + "_z", out + "_w", out + "_ws", out + "_wz", *steps(out, scale, zero), out + "_b"],
                                      [out], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))

    nodes.append(helper.make_node("QuantizeLinear", ["x", *steps("q", 0.02, 119)], ["q"]))
    conv("q", 3, "a", 4, 0.031, 0)
    conv("a", 4, "b", 4, 0.033, 121)
    named = [x + e for x in "ab" for e in ("", "_s", "_z")]
    nodes.append(own("QLinearAdd", [*named, *steps("sum", 0.047, 90)], "sum"))
    nodes.append(own("QLinearMul", [*named, *steps("product", 0.09, 100)], "product"))
    nodes.append(own("QLinearLeakyRelu", ["sum", "sum_s", "sum_z", *steps("leaky", 0.043, 31)], "leaky", alpha=0.1))
    nodes.append(own("QLinearSigmoid", ["product", "product_s", "product_z", *steps("gate", 0.00391, 0)], "gate"))
    nodes.append(own("QLinearConcat", [*steps("all", 0.041, 33), "leaky", "leaky_s", "leaky_z", "gate", "gate_s", "gate_z"], "all", axis=1))
    nodes.append(helper.make_node("MaxPool", ["all"], ["most"], kernel_shape=[2, 2], strides=[2, 2]))
    nodes.append(own("QLinearAveragePool", ["most", "all_s", "all_z", *steps("pool", 0.037, 20)], "pool", kernel_shape=[2, 2]))
    nodes.append(own("QLinearGlobalAveragePool", ["pool", "pool_s", "pool_z", *steps("mean", 0.031, 15)], "mean", channels_last=0))
    nodes.append(helper.make_node("Flatten", ["mean"], ["flat"]))
    weights["w"], weights["w_s"], weights["w_z"] = rng.integers(-63, 64, (5, 8)).astype(np.int8), np.float32(0.01), np.int8(0)
    weights["c"] = rng.integers(-500, 500, 5).astype(np.int32)
    nodes.append(own("QGemm", ["flat", "mean_s", "mean_z", "w", "w_s", "w_z", "c", *steps("out", 0.021, 128)], "out", transB=1))
    nodes.append(helper.make_node("DequantizeLinear", ["out", "out_s", "out_z"], ["y"]))
    return nodes, {"x": rng.standard_normal((1, 3, 8, 8)).astype(np.float32)}, weights, 13


def written(rng):
    yield from functions(rng)
    for kind in (quantize, dequantize, there_and_back, dynamic, qlinear_matmul, qlinear_conv):
        for i in range(2):
            yield f"q-{kind.__name__.replace('_', '-')}-{i}", kind(rng)
    yield "q-network", quantised_network(rng, size=4, wide=2, classes=3)
    yield "q-operators", operators_network(np.random.default_rng(5))


def write(tool, folder):
    for name, (nodes, inputs, weights, opset) in written(np.random.default_rng(3)):
        model = model_of(name, nodes, inputs, weights, opset)
        results = run(model, inputs)
        with tempfile.TemporaryDirectory() as work:
            got = imported(tool, model, inputs, pathlib.Path(work))
        print(name, [float(np.max(np.abs(g.reshape(w.shape) - w), initial=0)) for g, w in zip(got, results, strict=True)])
        onnx.save(model, folder / f"{name}.onnx")
        numbers = {k: {"shape": list(v.shape), "data": [float(f"{x:.17g}") for x in v.astype(np.float64).ravel()]}
                   for k, v in [*inputs.items(), *((o.name, w) for o, w in zip(model.graph.output, results))]}
        document = {"inputs": {k: numbers[k] for k in inputs}, "outputs": [{**numbers[o.name], "name": o.name} for o in model.graph.output]}
        (folder / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


def main():
    tool = sys.argv[1]
    if sys.argv[2:3] == ["--write"]:
        write(tool, pathlib.Path(sys.argv[3]))
        return
    if sys.argv[2:3] == ["--network"]:
        sys.exit(networks(tool, sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "avx2"))
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    sys.exit(check(tool, cases, int(sys.argv[3]) if len(sys.argv) > 3 else 1) > 0)


if __name__ == "__main__":
    main()
