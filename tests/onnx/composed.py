#!/usr/bin/env python3
"""Writes graphs of operators that are composed of others, and subgraphs, into tests/data/onnx (composed.py FOLDER): beside each
(NAME.json) inputs and what onnx's reference evaluator makes of them; of subgraphs, which it does not do in full, onnxruntime.

Needs onnx and onnxruntime (PyPI); tests/onnx/run.py reads what it wrote without.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(7)


def data(*shape):
    return rng.standard_normal(shape).round(3).astype(np.float32)


def whole(most, *shape):
    return rng.integers(0, most, shape).astype(np.int64)


def const(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def info(name, array=None):
    if array is None:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def node(kind, inputs, outputs="y", **attributes):
    return helper.make_node(kind, inputs.split(" "), outputs.split(" "), **attributes)


def numbers(array):
    return {"shape": list(array.shape), "data": [float(f"{v:.17g}") for v in np.asarray(array, np.float64).ravel()]}


def case(name, nodes, inputs, outputs="y", weights=(), opset=24, domain=(), runtime=False, points=None):
    """points: the most that all ops may run."""
    graph = helper.make_graph(nodes if isinstance(nodes, list) else [nodes], name, [info(k, v) for k, v in inputs.items()],
                              [info(k) for k in outputs.split(" ")], [const(k, v) for k, v in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *domain])
    model.ir_version = 10
    made = onnxruntime.InferenceSession(model.SerializeToString()) if runtime else ReferenceEvaluator(model)
    made = made.run(None, inputs)
    for out, array in zip(graph.output, made):
        out.CopyFrom(info(out.name, np.asarray(array)))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *domain])
    model.ir_version = 10
    results = [{**numbers(np.asarray(array)), "name": k} for k, array in zip(outputs.split(" "), made)]
    onnx.save(model, folder / f"{name}.onnx")
    (folder / f"{name}.json").write_text(
        json.dumps({"inputs": {k: numbers(v) for k, v in inputs.items()}, "outputs": results, **({"points": points} if points else {})},
                   separators=(",", ":")) + "\n")


def body(nodes, inputs, outputs, weights=()):
    return helper.make_graph(nodes, "body", [helper.make_tensor_value_info(k, t, *(shape or [None])) for k, t, *shape in inputs],
                             [helper.make_tensor_value_info(k, TensorProto.FLOAT, None) for k in outputs], list(weights))


def attention():
    q, k, v = data(2, 4, 3, 4), data(2, 2, 5, 4), data(2, 2, 5, 6)
    case("attention-grouped", node("Attention", "q k v", is_causal=1, scale=0.7), {"q": q, "k": k, "v": v})
    mask = rng.integers(0, 2, (3, 5)).astype(np.bool_)
    mask[1] = False  # a row that sees nothing
    case("attention-mask", node("Attention", "q k v m", softcap=2.0), {"q": q, "k": k, "v": v, "m": mask})
    past = {"q": data(1, 2, 8), "k": data(1, 2, 8), "v": data(1, 2, 8), "m": data(2, 3), "pk": data(1, 2, 3, 4), "pv": data(1, 2, 3, 4)}
    case("attention-past", node("Attention", "q k v m pk pv", "y key value p", is_causal=1, q_num_heads=2, kv_num_heads=2,
                                qk_matmul_output_mode=3), past, "y key value p")
    lengths = {"q": q, "k": k, "v": v, "n": np.array([3, 5], np.int64)}
    case("attention-lengths", node("Attention", "q k v    n", "y", is_causal=1), {**lengths, "q": data(2, 4, 2, 4)})
    for kind in ("score_mod", "prob_mod"):
        change = body([node("Mul", "s two", "t")], [("s", TensorProto.FLOAT)], ["t"], [const("two", np.float32(2))])
        case(f"attention-{kind[:5]}", helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], domain="ai.onnx.preview", **{kind: change}),
             {"q": q, "k": k, "v": v}, domain=[helper.make_opsetid("ai.onnx.preview", 1)], opset=26)


def sequences():
    cos, sin = data(2, 3, 3), data(2, 3, 3)
    case("rotary-4d", node("RotaryEmbedding", "x c s"), {"x": data(2, 2, 3, 6), "c": cos, "s": sin})
    case("rotary-3d", node("RotaryEmbedding", "x c s", num_heads=2, rotary_embedding_dim=4, interleaved=1),
         {"x": data(2, 3, 12), "c": data(2, 3, 2), "s": data(2, 3, 2)})
    case("causal-conv", node("CausalConvWithState", "x w b past", "y present", activation="silu"),
         {"x": data(2, 3, 4), "w": data(3, 1, 3), "b": data(3), "past": data(2, 3, 2)}, "y present", opset=27)
    case("linear-attention", node("LinearAttention", "q k v s g b", "y present", q_num_heads=4, kv_num_heads=2),
         {"q": data(1, 3, 8), "k": data(1, 3, 4), "v": data(1, 3, 6), "s": data(1, 2, 2, 3), "g": -abs(data(1, 3, 2)), "b": abs(data(1, 3, 2))},
         "y present", opset=27)


def choices():
    x = data(3, 4, 5)
    x[1, 2] = x[1, 1]  # ties
    for kind, more in (("ArgMax", {"select_last_index": 1}), ("ArgMin", {})):
        case(kind.lower(), node(kind, "x", axis=1, **more), {"x": x}, opset=13)
    case("hardmax", node("Hardmax", "x", axis=1), {"x": x}, opset=13)
    case("topk", node("TopK", "x k", "y i", axis=1, largest=0), {"x": x}, "y i", [("k", np.array([3], np.int64))])
    case("gather-elements", node("GatherElements", "x i", axis=1), {"x": x, "i": rng.integers(-4, 4, (3, 6, 5)).astype(np.int64)}, opset=13)
    for how in ("none", "add", "mul", "max", "min"):
        case(f"scatter-{how}", node("ScatterElements", "x i u", axis=2, reduction=how), {"x": x, "i": whole(5, 3, 2, 3), "u": data(3, 2, 3)}, opset=18)
    case("gather-nd", node("GatherND", "x i"), {"x": x, "i": np.array([[[0, 1], [2, -1]]], np.int64)}, opset=13)
    case("scatter-nd", node("ScatterND", "x i u", reduction="add"), {"x": x, "i": np.array([[1, 2], [0, -1], [1, 2]], np.int64), "u": data(3, 5)}, opset=18)
    case("one-hot", node("OneHot", "i n v", axis=1), {"i": np.array([[0, -1, 7], [2, 1, 3]], np.int64), "v": data(2)}, "y",
         [("n", np.int64(4))], opset=11)
    for way in (0, 3):
        case(f"cumsum-{way}", node("CumSum", "x a", reverse=way & 1, exclusive=way >> 1), {"x": x}, "y", [("a", np.int64(1))], opset=14)
    case("cumprod", node("CumProd", "x a"), {"x": data(3, 4)}, "y", [("a", np.int64(-1))], opset=26)
    target = whole(4, 3, 5)
    target[0, 0] = 7
    case("loss-nll", node("NegativeLogLikelihoodLoss", "x t w", ignore_index=7), {"x": x, "t": target, "w": abs(data(4))}, opset=13)
    case("loss-sce", node("SoftmaxCrossEntropyLoss", "x t", "y z", reduction="none"), {"x": x, "t": whole(4, 3, 5)}, "y z", opset=13)


def layers():
    x = data(2, 3, 4, 5)
    case("layer-norm-parts", node("LayerNormalization", "x s b", "y mean inv", axis=2), {"x": x, "s": data(4, 5), "b": data(4, 5)}, "y mean inv", opset=17)
    case("mvn", node("MeanVarianceNormalization", "x"), {"x": x}, opset=13)
    case("lrn", node("LRN", "x", size=2, alpha=0.5), {"x": data(3, 3, 2, 2)}, opset=13)  # as many images as channels: the evaluator takes one for the other
    case("lp-pool", node("LpPool", "x", kernel_shape=[2, 3], strides=[1, 2], pads=[1, 0, 0, 1], p=3), {"x": x}, opset=18)
    case("dequantize", node("DequantizeLinear", "x s z", axis=1), {"x": whole(200, 2, 3, 2).astype(np.uint8), "s": abs(data(3)), "z": whole(200, 3).astype(np.uint8)}, opset=21)
    case("matmul-integer", node("MatMulInteger", "a b z"), {"a": whole(200, 2, 3).astype(np.uint8), "b": whole(100, 3, 2).astype(np.int8), "z": np.array([7], np.uint8)}, opset=10)
    case("crop-pad", node("CenterCropPad", "x n", axes=[-1, 1]), {"x": data(1, 5, 2, 4)}, "y", [("n", np.array([7, 2], np.int64))], opset=18)
    case("pad-number", node("Pad", "x p v"), {"x": data(2, 3)}, "y", [("p", np.array([1, 0, 0, 2], np.int64)), ("v", np.float32(-1.5))], opset=18)
    case("reverse", node("ReverseSequence", "x n", time_axis=0, batch_axis=1), {"x": data(4, 3, 2), "n": np.array([4, 1, 3], np.int64)}, opset=10)
    case("tensor-scatter", node("TensorScatter", "c u i", mode="circular", axis=1), {"c": data(2, 5, 2), "u": data(2, 3, 2), "i": np.array([1, 3], np.int64)}, opset=24)
    for kind in ("Sinh", "Cosh", "Asinh", "Atanh"):
        case(kind.lower(), node(kind, "x"), {"x": (data(3, 4) / 4).astype(np.float32)}, opset=22)
    case("acosh", node("Acosh", "x"), {"x": 1 + abs(data(5))}, opset=22)
    case("shrink", node("Shrink", "x", lambd=0.4, bias=0.3), {"x": data(3, 4)}, opset=9)
    case("pow-data", [node("Abs", "x", "a"), node("Pow", "a e")], {"x": data(3, 4), "e": data(4)}, opset=15)
    case("pow-known", node("Pow", "x e"), {"x": data(3, 4)}, "y", [("e", np.array([3, 0, 2, -1], np.float32))], opset=15)


def places():
    grid = (data(1, 2, 3, 2) / 2).astype(np.float32)
    for mode, pads in (("linear", "zeros"), ("cubic", "border"), ("nearest", "reflection")):
        case(f"grid-{mode}", node("GridSample", "x g", mode=mode, padding_mode=pads), {"x": data(1, 2, 3, 4)}, "y", [("g", 2 * grid)], opset=20)
    case("grid-data", node("GridSample", "x g", mode="linear", padding_mode="border", align_corners=1), {"x": data(1, 2, 3, 4), "g": 2 * grid}, opset=20)
    case("affine-grid", node("AffineGrid", "t n", align_corners=1), {"t": data(2, 2, 3)}, "y", [("n", np.array([2, 1, 3, 2], np.int64))], opset=20)
    case("col2im", node("Col2Im", "x n k", strides=[2, 1], pads=[1, 0, 0, 1]), {"x": data(1, 8, 8)}, "y",
         [("n", np.array([3, 4], np.int64)), ("k", np.array([2, 2], np.int64))], opset=18)
    case("dft", node("DFT", "x", onesided=1), {"x": data(2, 5, 3, 1)}, opset=20)
    case("idft", node("DFT", "x  a", inverse=1), {"x": data(2, 3, 2)}, "y", [("a", np.int64(1))], opset=20)


def resized():
    x = data(1, 2, 4, 5)
    more = {"weights": [("r", np.array([0.4, -0.3, 0.6, 1.2], np.float32)), ("n", np.array([3, 4], np.int64))], "opset": 19}
    case("resize-part", node("Resize", "x r  n", coordinate_transformation_mode="tf_crop_and_resize", mode="linear", axes=[2, 3],
                             extrapolation_value=7.5), {"x": x}, **more)
    for mode in ("linear", "cubic"):
        case(f"resize-wide-{mode}", node("Resize", "x  s", mode=mode, antialias=1), {"x": x}, "y", [("s", np.array([1, 1, 0.6, 0.5], np.float32))], opset=19)
    case("resize-ratio", node("Resize", "x   n", mode="linear", keep_aspect_ratio_policy="not_larger", axes=[3, 2]), {"x": x}, "y",
         [("n", np.array([9, 6], np.int64))], opset=19)
    case("dropout-mask", node("Dropout", "x", "y m"), {"x": x}, "y m", opset=13)
    weights = [("w", data(1, 12, 3)), ("v", data(1, 12, 4))]
    case("lstm-batch", node("LSTM", "x w v   h", "y", layout=1, hidden_size=4), {"x": data(2, 1, 3), "h": data(2, 1, 4)}, "y",
         [("w", data(1, 16, 3)), ("v", data(1, 16, 4)), ("h0", data(1))][:2], opset=14)
    case("gru-batch", node("GRU", "x w v", "y h", layout=1, hidden_size=4), {"x": data(2, 3, 3)}, "y h", weights, opset=14)


def training():
    case("batch-training", node("BatchNormalization", "x s b m v", "y mean var", training_mode=1, momentum=0.8),
         {"x": data(3, 4, 2), "s": data(4), "b": data(4), "m": data(4), "v": abs(data(4))}, "y mean var", opset=15)
    for n in (2, 3):
        case(f"det-{n}", node("Det", "x"), {"x": data(2, n, n)}, opset=22)


def subgraphs():
    branches = [body([node(kind, "x", "t")], [], ["t"]) for kind in ("Relu", "Tanh")]
    case("if-known", [node("Shape", "x", "n"), node("Gather", "n zero", "d"), node("Greater", "d three", "c"),
                      node("If", "c", then_branch=branches[0], else_branch=branches[1])], {"x": data(2, 3)}, "y",
         [("zero", np.int64(0)), ("three", np.int64(3))], opset=16, runtime=True)
    step = body([node("Cast", "i", "f", to=TensorProto.FLOAT), node("Mul", "s w", "a"), node("Add", "a f", "t"), node("Identity", "go", "again"),
                 node("ReduceSum", "t", "sum", keepdims=0)], [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("s", TensorProto.FLOAT)],
                ["again", "t", "sum"])
    step.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    case("loop-known", node("Loop", "n  x", "y sums", body=step), {"x": data(3), "w": data(3)}, "y sums", [("n", np.int64(4))], opset=16, runtime=True)
    scanned = body([node("Mul", "s w", "a"), node("Add", "a e", "t"), node("Tanh", "t", "out")], [("s", TensorProto.FLOAT), ("e", TensorProto.FLOAT)], ["t", "out"])
    case("scan", node("Scan", "s0 x", "y all", body=scanned, num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1]),
         {"s0": data(3), "x": data(3, 4), "w": data(3)}, "y all", opset=16, runtime=True)


def lines():
    """What takes time linear in an axis: running sums in blocks of blocks, and borders."""
    for name, kind, shape, axis, more in (("blocks", "CumSum", (1040, 1), 0, {}), ("before", "CumSum", (2, 85), -1, {"reverse": 1, "exclusive": 1}),
                                          ("uneven", "CumSum", (2053,), 0, {"reverse": 1}), ("few", "CumSum", (1, 3), 0, {"exclusive": 1}),
                                          ("products", "CumProd", (96, 2), -2, {"exclusive": 1})):
        x = rng.integers(-9, 9, shape).astype(np.float32) if kind == "CumSum" else (rng.integers(1, 3, shape) - 1.5).astype(np.float32) * 2
        case(f"running-{name}", node(kind, "x a", **more), {"x": x}, "y", [("a", np.int64(axis))], opset=14 if kind == "CumSum" else 26, points=None if name == "uneven" else 8 * x.size)
    case("running-prime", node("CumSum", "x a", exclusive=1), {"x": rng.integers(-9, 9, (2, 67)).astype(np.float32)}, "y", [("a", np.int64(1))], opset=14)
    for mode in ("reflect", "edge", "wrap"):
        x = rng.integers(-9, 9, (2, 20, 30)).astype(np.float32)
        case(f"border-{mode}", node("Pad", "x p", mode=mode), {"x": x}, "y", [("p", np.array([0, 5, 12, 0, 7, 9], np.int64))], opset=19, points=4 * 2 * 32 * 51)


for make in (attention, sequences, choices, layers, places, resized, training, subgraphs, lines):
    make()
