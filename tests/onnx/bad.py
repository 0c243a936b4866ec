#!/usr/bin/env python3
"""Writes tests/bad/import-onnx: malformed and unsuitable ONNX files, each with the command that reads it (bad.py FOLDER).

Needs onnx (PyPI); tests/bad/run.sh reads what it wrote without.
"""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def const(name, data):
    return numpy_helper.from_array(np.asarray(data), name)


def node(kind, inputs, output="y", name="", **attributes):
    return helper.make_node(kind, inputs, output if isinstance(output, list) else [output], name=name, **attributes)


def model(nodes, inputs=None, weights=(), outputs=None, opset=17):
    graph = helper.make_graph(nodes, "g", inputs or [value("x", [1, 4, 6, 6])], outputs or [value("y", None)], list(weights))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


def case(name, what, arguments="", command="import"):
    data = what if isinstance(what, bytes) else what.SerializeToString()
    (folder / f"{name}.onnx").write_bytes(data)
    (folder / f"{name}.yaml").write_text(f"# tileflow {command} {name}.onnx{arguments}\n")


def outside(name, shape, **data):
    """A tensor whose numbers lie in another file."""
    t = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, text in data.items():
        t.external_data.add(key=key, value=str(text))
    return t


def packed(name, *weights):
    """Weights that `pack` cannot read, as factors of the one input."""
    nodes = [node("Mul", [f"v{i}" if i else "x", w.name], f"v{i + 1}" if i + 1 < len(weights) else "y") for i, w in enumerate(weights)]
    case(f"pack_{name}", model(nodes, weights=weights), " -o /dev/null", "pack")


W = np.ones((4, 4, 3, 3), np.float32)
case("unknown", model([node("NonMaxSupression", ["x"], "a", "one"), node("NonMaxSupression", ["a"], "b", "two"), node("Convv", ["b"], "y")]))
case("domain", model([node("Conv", ["x", "w"], "y", "mine", domain="com.mine")], weights=[const("w", W)]))
case("many_unknown", model([node("SequenceAt", [f"t{i}" if i else "x"], f"t{i + 1}" if i < 4 else "y", f"n{i}") for i in range(5)]))
case("no_extent", model([node("Relu", ["x"])], [value("x", ["batch", 4, None])]))
case("set_unknown", model([node("Relu", ["x"])], [value("x", ["batch", 4])]), " --set batsh=2")
case("set_wrong", model([node("Relu", ["x"])], [value("x", ["batch", 4])]), " --set batch=two")
case("no_shape", model([node("Relu", ["x"])], [value("x", None)]))
case("negative_extent", model([node("Relu", ["x"])], [value("x", [-3, 4])]))
case("huge_extent", model([node("Relu", ["x"])], [value("x", [1 << 40])]))
case("nothing_makes", model([node("Add", ["x", "z"], name="sum")]))
case("output_nowhere", model([node("Relu", ["x"], "a")], outputs=[value("other", None)]))
case("no_output", model([node("Relu", ["x"])], outputs=[value("", None)]))
case("twice", model([node("Relu", ["x"], "y", "one"), node("Tanh", ["x"], "y", "two")]))
case("unsorted", model([node("Relu", ["a"], "y", "late"), node("Relu", ["x"], "a", "early")]))
case("broadcast", model([node("Add", ["x", "w"], name="sum")], weights=[const("w", np.ones(5, np.float32))]))
case("matmul", model([node("MatMul", ["x", "w"], name="fc")], weights=[const("w", np.ones((5, 2), np.float32))]))
case("gemm_rank", model([node("Gemm", ["x", "w"], name="fc")], weights=[const("w", np.ones((6, 2), np.float32))]))
case("gemm_bias", model([node("Gemm", ["x", "w", "b"], name="fc")], [value("x", [2, 6])], [const("w", np.ones((6, 2), np.float32)), const("b", np.ones(3, np.float32))]))
case("conv_groups", model([node("Conv", ["x", "w"], name="c", group=3)], weights=[const("w", W)]))
case("conv_rank", model([node("Conv", ["x", "w"], name="c")], weights=[const("w", np.ones((4, 4, 3), np.float32))]))
case("conv_large", model([node("Conv", ["x", "w"], name="c")], weights=[const("w", np.ones((4, 4, 9, 9), np.float32))]))
case("conv_strides", model([node("Conv", ["x", "w"], name="c", strides=[0, 1])], weights=[const("w", W)]))
case("conv_pads", model([node("Conv", ["x", "w"], name="c", pads=[1, 1])], weights=[const("w", W)]))
case("conv_bias", model([node("Conv", ["x", "w", "b"], name="c")], weights=[const("w", W), const("b", np.ones(3, np.float32))]))
case("auto_pad", model([node("Conv", ["x", "w"], name="c", auto_pad="SAME")], weights=[const("w", W)]))
case("transposed", model([node("ConvTranspose", ["x", "w"], name="c", strides=[2, 2], dilations=[2, 2])], weights=[const("w", W)]))
case("transposed_pads", model([node("ConvTranspose", ["x", "w"], name="c", pads=[9, 9, 9, 9])], weights=[const("w", W)]))
case("einsum", model([node("Einsum", ["x", "x"], name="e", equation="abcc,abcd->ad")]))
case("pool_kernel", model([node("MaxPool", ["x"], name="p")]))
case("pool_places", model([node("MaxPool", ["x"], ["y", "where"], "p", kernel_shape=[3, 3])], outputs=[value("y", None), value("where", None)]))
case("reshape_sum", model([node("Reshape", ["x", "s"], name="r")], weights=[const("s", np.array([5, 5]))]))
case("reshape_data", model([node("Reshape", ["x", "s"], name="r")], [value("x", [4, 6]), value("s", [2], TensorProto.INT64)]))
case("perm", model([node("Transpose", ["x"], name="t", perm=[0, 1, 1, 2])]))
case("axis", model([node("Softmax", ["x"], name="s", axis=4)]))
case("slice_empty", model([node("Slice", ["x", "a", "b", "k"], name="s")], weights=[const("a", [5]), const("b", [2]), const("k", [1])]))
case("slice_step", model([node("Slice", ["x", "a", "b", "k", "t"], name="s")], weights=[const("a", [3]), const("b", [0]), const("k", [1]), const("t", [0])]))
case("split", model([node("Split", ["x", "s"], ["y", "z"], "s", axis=1)], weights=[const("s", [1, 2])]))
case("gather", model([node("Gather", ["x", "i"], name="g", axis=1)], weights=[const("i", 7)]))
case("concat", model([node("Concat", ["x", "w"], name="c", axis=1)], weights=[const("w", np.ones((1, 4, 5, 6), np.float32))]))
case("pad_mode", model([node("Pad", ["x", "p"], name="p", mode="mirror")], weights=[const("p", [0, 0, 1, 1, 0, 0, 1, 1])]))
case("resize_mode", model([node("Resize", ["x", "", "s"], name="r", mode="area")], weights=[const("s", np.array([1, 1, 2, 2], np.float32))]))
case("resize_scale", model([node("Resize", ["x", "", "s"], name="r", nearest_mode="floor", coordinate_transformation_mode="asymmetric")], weights=[const("s", np.array([1, 1, 0.1, 2], np.float32))]))
case("power", model([node("Pow", ["x", "n"], name="p")], weights=[const("n", np.float32(17))]))
case("batch_shape", model([node("BatchNormalization", ["x", "s", "s", "s", "s"], name="b")], weights=[const("s", np.ones(5, np.float32))]))
case("layer_shape", model([node("LayerNormalization", ["x", "s"], name="l")], weights=[const("s", np.ones(5, np.float32))]))
case("blocks", model([node("DepthToSpace", ["x"], name="d", blocksize=3)]))
case("expand", model([node("Expand", ["x", "s"], name="e")], weights=[const("s", [1, 4, 7, 6])]))
case("squeeze", model([node("Squeeze", ["x", "s"], name="q")], weights=[const("s", [1])]))
case("several", model([node("Softmax", ["x"], "a", "first", axis=9), node("Conv", ["x", "w"], "b", "second", group=3), node("Add", ["a", "b"], name="silent")], weights=[const("w", W)]))
short = model([node("Relu", ["x"])], weights=[const("w", W)])
short.graph.initializer[0].raw_data = b"1234"
short.graph.node.append(node("Add", ["y", "w"], "z"))
case("raw_data", short)
cut = model([node("Relu", ["x"])]).SerializeToString()
case("truncated", cut[: len(cut) // 2])
zero = model([node("Relu", ["x"], "a\0b"), node("Tanh", ["a\0b"])])
case("zero_byte", zero)
case("noise", bytes([8, 8]) + bytes(range(200)))


def wrap(tag, body):
    """A field of that tag that holds a message."""
    n, length = len(body), bytearray()
    while n > 127:
        length.append(n & 127 | 128)
        n >>= 7
    return bytes([tag, *length, n]) + body


deep = b""
while len(deep) < 3000:  # graph.node.attribute.g, again and again
    deep = wrap(0x0A, wrap(0x2A, wrap(0x32, deep)))
case("deep", bytes([8, 8]) + wrap(0x3A, deep))

packed("stripped", TensorProto(name="w", dims=[4, 6, 6], data_type=TensorProto.FLOAT), TensorProto(name="u", dims=[6, 6], data_type=TensorProto.FLOAT))
packed("short", TensorProto(name="w", dims=[6, 6], data_type=TensorProto.FLOAT, raw_data=b"1234567"))
packed("type", TensorProto(name="w", dims=[6, 6], data_type=TensorProto.COMPLEX64, raw_data=b"x" * 288))
packed("outside", outside("w", [6, 6], location="../secret"), outside("u", [6, 6], location="/etc/passwd"), outside("t", [6, 6], location="a/../../b"), outside("s", [6, 6]))
packed("no_file", outside("w", [6, 6], location="there_is_none.bin"))
packed("length", outside("w", [6, 6], location="axis.onnx", length=145), outside("u", [6, 6], location="axis.onnx", offset="x"))
packed("beyond", outside("w", [6, 6], location="axis.onnx", offset=1 << 40))
case("where_one", model([node("Where", ["x"])]))
case("resize_cubic", model([node("Resize", ["x", "", "s"], mode="cubic", cubic_coeff_a=float("nan"))], weights=[const("s", np.array([1, 1, 2.5, 2], np.float32))]))
none = node("Constant", [], "none", value_ints=[1])
del none.attribute[0].ints[:]
case("no_numbers", model([none, node("Reshape", ["x", "none"])]))
case("sub_one", model([node("Sub", ["x"])]))
SEQUENCE, LSTM = [value("x", [5, 2, 3])], [const("w", np.ones((1, 16, 3), np.float32)), const("r", np.ones((1, 16, 4), np.float32))]
case("lstm_layout", model([node("LSTM", ["x", "w", "r"], layout=2, hidden_size=4)], SEQUENCE, LSTM))
case("lstm_activations", model([node("LSTM", ["x", "w", "r"], activations=["Sigmoid", "Relu", "Tanh"], hidden_size=4)], SEQUENCE, LSTM))
case("lstm_direction", model([node("LSTM", ["x", "w", "r"], direction="sideways", hidden_size=4)], SEQUENCE, LSTM))
case("lstm_shape", model([node("LSTM", ["x", "w", "w"], hidden_size=4)], SEQUENCE, LSTM))
case("lstm_peepholes", model([node("LSTM", ["x", "w", "r", "", "", "", "", "p"], hidden_size=4)], SEQUENCE, LSTM + [const("p", np.ones((1, 12), np.float32))]))
case("lstm_long", model([node("LSTM", ["x", "w", "r"], hidden_size=4)], [value("x", [1 << 30, 2, 3])], LSTM))
case("gru_lengths", model([node("GRU", ["x", "w", "r", "", "n"], hidden_size=4)], SEQUENCE, LSTM + [const("n", np.array([5, 3], np.int32))]))
case("gru_rows", model([node("GRU", ["x", "w", "r"], hidden_size=4)], SEQUENCE, LSTM))
case("rnn_flat", model([node("RNN", ["x", "w", "r"], hidden_size=4)], weights=LSTM))
case("rnn_clip", model([node("RNN", ["x", "w", "r"], clip=1.0, hidden_size=4)], SEQUENCE, LSTM))


def cast(to, kind=TensorProto.FLOAT):
    return [node("Cast", ["x"], name="c", to=to)], [value("x", [4, 6], kind)]


case("cast_float8", model(*cast(TensorProto.FLOAT8E4M3FN), opset=19))
case("cast_string", model(*cast(TensorProto.STRING)))
case("cast_nan", model([node("Cast", ["n"], "m", to=TensorProto.INT64), node("Reshape", ["x", "m"])], weights=[const("n", np.array([np.nan], np.float32))]))
case("mean_integers", model([node("ReduceMean", ["x"], name="m")], [value("x", [4], TensorProto.INT32)]))
case("wrap", model([node("Sub", ["x", "x"], name="s")], [value("x", [4], TensorProto.UINT8)]))
case("strings", model([node("Equal", ["x", "x"], name="e")], [value("x", [4], TensorProto.STRING)], outputs=[value("y", None, TensorProto.BOOL)]))
case("power_integers", model([node("Pow", ["x", "n"], name="p")], [value("x", [4], TensorProto.INT32)], [const("n", np.float32(-1))]))
case("dropout", model([node("Dropout", ["x", "r", "t"], name="d")], weights=[const("r", np.float32(0.5)), const("t", np.array(True))]))
case("dropout_data", model([node("Dropout", ["x", "", "t"], name="d")], [value("x", [4]), value("t", [], TensorProto.BOOL)]))
case("dropout_old", model([node("Dropout", ["x"], name="d")], opset=6))
case("batch_results", model([node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "m", "v"], "b")], weights=[const("s", np.ones(4, np.float32))], opset=9))
case("attribute", model([node("LeakyRelu", ["x"], name="l", aplha=0.5)]))
case("attribute_type", model([node("Softmax", ["x"], name="s", axis=1.0)]))
case("opset", model([node("Relu", ["x"])], opset=99))
case("opset_old", model([node("Reshape", ["x"], name="r", shape=[4, 36])], opset=4))
case("broadcast_old", model([node("Add", ["x", "w"], name="a", broadcast=1, axis=1)], weights=[const("w", np.ones(4, np.float32))], opset=6))
case("results", model([node("Relu", ["x"], ["y", "z"], name="r")]))
case("inputs", model([node("Relu", ["x", "x"], name="r")]))
case("empty", model([node("Relu", ["x"], name="r")], [value("x", [0, 5])]))
case("empty_result", model([node("Relu", ["x"], name="r")], [value("x", [4]), value("z", [0])], outputs=[value("y", None), value("z", [0])]))
case("empty_operand", model([node("Max", ["x", "z"], name="m")], [value("x", [1, 4]), value("z", [0, 4])]))
case("unknown_axes", model([node("Relu", ["x"])], [value("x", [-1, 3, "?", "?"])]))
case("einsum_dots", model([node("Einsum", ["x", "x"], name="e", equation="...ab,...bc->...ac")]))
case("einsum_three", model([node("Einsum", ["x", "x", "x"], name="e", equation="abcd,abcd,abcd->a")]))
case("einsum_sign", model([node("Einsum", ["x"], name="e", equation="abcd=>a")]))
case("einsum_twice", model([node("Einsum", ["x"], name="e", equation="abcd->aa")]))
case("kernel_shape", model([node("Conv", ["x", "w"], name="c", kernel_shape=[2, 2])], weights=[const("w", W)]))
case("norm_power", model([node("LpNormalization", ["x"], name="n", p=3)]))
case("split_outputs", model([node("Split", ["x"], ["y", "z"], "s", num_outputs=3, axis=1)], opset=18))
case("block_mode", model([node("SpaceToDepth", ["x"], name="s", blocksize=2, mode="RCD")], opset=28))
case("hidden_size", model([node("LSTM", ["x", "w", "r"], hidden_size=5)], SEQUENCE, LSTM))
case("resize_integers", model([node("Resize", ["x", "", "s"], name="r", mode="linear")], [value("x", [1, 4, 6, 6], TensorProto.UINT8)], [const("s", np.array([1, 1, 2, 2], np.float32))]))
case("transposed_auto_pad", model([node("ConvTranspose", ["x", "w"], name="c", auto_pad="SAME")], weights=[const("w", W)]))
case("gelu", model([node("Gelu", ["x"], name="g", approximate="erf")], opset=20))
case("concat_nothing", model([node("Concat", ["e", "e"], axis=0)], weights=[const("e", np.zeros((0, 4), np.float32))]))

# compositions, and subgraphs
X = [value("x", [1, 2, 3, 4])]
I = value("i", [1, 2, 3, 4], TensorProto.INT64)


def graph(nodes, inputs=(), outputs=("t",)):
    return helper.make_graph(nodes, "inner", [value(k, None) for k in inputs], [value(k, None) for k in outputs])


RELU, TWO = graph([node("Relu", ["x"], "t")]), graph([node("Relu", ["x"], "t"), node("Tanh", ["x"], "u")], outputs=("t", "u"))
TRUE = const("c", np.bool_(True))
case("if_data", model([node("If", ["c"], name="if", then_branch=RELU, else_branch=RELU)], [*X, value("c", [], TensorProto.BOOL)]))
case("if_results", model([node("If", ["c"], name="if", then_branch=TWO, else_branch=RELU)], X, [TRUE]))
case("if_unknown", model([node("If", ["c"], name="if", then_branch=graph([node("Unknown", ["x"], "t")]), else_branch=RELU)], X, [TRUE]))
case("if_none", model([node("If", ["c"], name="if", then_branch=RELU)], X, [const("c", np.bool_(False))]))
STEP = graph([node("Identity", ["go"], "again"), node("Relu", ["s"], "t")], ("i", "go", "s"), ("again", "t"))
case("loop_data", model([node("Loop", ["n", "", "x"], name="loop", body=STEP)], [*X, value("n", [], TensorProto.INT64)]))
case("loop_long", model([node("Loop", ["", "", "x"], name="loop", body=STEP)], X))
case("loop_shape", model([node("Loop", ["n", "", "x", "x"], name="loop", body=STEP)], X, [const("n", np.int64(2))]))
case("scan_lengths", model([node("Scan", ["x", "w"], ["y"], name="scan", num_scan_inputs=2, body=graph([node("Add", ["a", "b"], "t")], ("a", "b")))], X,
                           [const("w", np.ones((2, 2, 3, 4), np.float32))]))
case("heads", model([node("Attention", ["x", "x", "x"], name="att", kv_num_heads=2, q_num_heads=3)], X, opset=24))
case("heads_flat", model([node("Attention", ["x", "x", "x"], name="att")], [value("x", [1, 2, 6])], opset=24))
case("attention_mask", model([node("Attention", ["x", "x", "x", "m"], name="att")], X, [const("m", np.zeros((3, 5), np.float32))], opset=24))
case("attention_past", model([node("Attention", ["x", "x", "x", "", "x"], name="att")], X, opset=24))
case("attention_cap", model([node("Attention", ["x", "x", "x"], ["y", "", "", "p"], name="att", softcap=2.0)], X, outputs=[value("y", None), value("p", None)], opset=24))
case("rotary_pairs", model([node("RotaryEmbedding", ["x", "c", "c"], name="rope", rotary_embedding_dim=3)], X, [const("c", np.ones((1, 3, 1), np.float32))], opset=23))
case("rotary_angles", model([node("RotaryEmbedding", ["x", "c", "c"], name="rope")], X, [const("c", np.ones((1, 3, 3), np.float32))], opset=23))
case("linear_rule", model([node("LinearAttention", ["x", "x", "x"], name="lin", q_num_heads=2, kv_num_heads=2)], [value("x", [1, 2, 6])], opset=27))
case("topk_data", model([node("TopK", ["x", "k"], ["y"], name="top")], [*X, value("k", [1], TensorProto.INT64)]))
case("topk_many", model([node("TopK", ["x", "k"], ["y"], name="top")], X, [const("k", np.array([5], np.int64))]))
case("gather_elements", model([node("GatherElements", ["x", "i"], name="gather")], X, [const("i", np.zeros((1, 2, 3, 5), np.int64))]))
case("scatter_how", model([node("ScatterElements", ["x", "i", "x"], name="scatter", reduction="mean")], [*X, I], opset=18))
case("gather_nd_batch", model([node("GatherND", ["x", "i"], name="gather", batch_dims=1)], [*X, I]))
case("loss_targets", model([node("NegativeLogLikelihoodLoss", ["x", "i"], name="loss")], [*X, I]))
case("loss_how", model([node("NegativeLogLikelihoodLoss", ["x", "i"], name="loss", reduction="max")], [*X, value("i", [1, 3, 4], TensorProto.INT64)]))
case("power_data", model([node("Pow", ["x", "x"], name="power")], X))
case("power_part", model([node("Pow", ["x", "p"], name="power")], X, [const("p", np.array([1, 2, 0.5, 3], np.float32))]))
case("grid_cubic", model([node("GridSample", ["x", "g"], name="grid", mode="bicubic")], [*X, value("g", [1, 2, 2, 2])], opset=16))
case("compress_data", model([node("Compress", ["x", "c"], name="some", axis=3)], [*X, value("c", [4], TensorProto.BOOL)]))
case("lrn_bias", model([node("LRN", ["x"], name="lrn", size=3, bias=0.0)], X))
case("scale_shape", model([node("DequantizeLinear", ["i", "s"], name="scale", axis=1)], [value("i", [1, 2, 3], TensorProto.INT8)], [const("s", np.ones(3, np.float32))]))
B = [const("s", np.float32(0.5)), const("z", np.int8(3)), const("w", np.zeros((6, 2), np.int8)), const("two", np.ones(2, np.float32)),
     const("c", np.zeros((4, 4), np.int8))]
case("steps_zero", model([node("QuantizeLinear", ["x", "s", "z"], name="steps", output_dtype=TensorProto.UINT8)], X, B, opset=21))
case("steps_axis", model([node("QuantizeLinear", ["x", "two"], name="steps", axis=4)], X, B, opset=21))
case("steps_scales", model([node("QuantizeLinear", ["x", "two"], name="steps", axis=2)], X, B, opset=21))
case("steps_float8", model([node("QuantizeLinear", ["x", "s"], name="steps", output_dtype=TensorProto.FLOAT8E4M3FN)], X, B, opset=21))
case("steps_precision", model([node("QuantizeLinear", ["x", "s"], name="steps", precision=TensorProto.FLOAT16)], X, B, opset=23))
QX = [value("x", [1, 4, 6, 6], TensorProto.INT8)]
case("steps_rows", model([node("QLinearMatMul", ["x", "two", "z", "w", "s", "z", "s", "z"], name="product")], QX, B))
case("steps_inputs", model([node("QLinearMatMul", ["x", "s", "z", "w", "s", "z", "s"], name="product")], QX, B))
case("steps_weights", model([node("QLinearConv", ["x", "s", "z", "c", "s", "z", "s", "z"], name="window")], QX, B))
case("bits_large", model([node("BitwiseAnd", ["a", "a"], "b", name="bits"), node("Cast", ["b"], "f", to=1), node("Add", ["x", "f"])], X, [const("a", np.array([1 << 60], np.int64))], opset=18))
case("cumsum_axes", model([node("CumSum", ["x", "a"], name="sum")], X, [const("a", np.array([1, 2], np.int64))]))
