#!/usr/bin/env python3
"""Writes tests/data/onnx: small graphs with weights, and beside each (NAME.json) the inputs and the outputs of onnxruntime.

  make.py FOLDER SEED NUMBER     random graphs
  make.py FOLDER FILE.onnx..     graphs that stand somewhere else

Needs onnx and onnxruntime (PyPI); the tests that read what it wrote need neither.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

DEPTH = 6


class Graph:
    """A graph that grows at its end: the value x of shape s."""

    def __init__(self, rng, shape, anywhere=False):
        self.rng, self.s, self.x, self.n = rng, list(shape), "x", 0
        self.anywhere = anywhere  # constants stand in any place of an operand, and data where weights usually do
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        self.nodes, self.weights = [], []

    def const(self, array):
        self.n += 1
        if self.anywhere and self.coin():
            self.nodes.append(helper.make_node("Constant", [], [f"w{self.n}"], value=numpy_helper.from_array(np.asarray(array))))
            return f"w{self.n}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{self.n}"))
        return f"w{self.n}"

    def made(self, kind, *inputs, **attributes):
        """A node beside the graph's end; its result."""
        self.n += 1
        self.nodes.append(helper.make_node(kind, inputs, [f"m{self.n}"], **attributes))
        return f"m{self.n}"

    def made_weights(self, array):
        """The array, in some way that is not an initializer; or data of its shape."""
        how, small = int(self.rng.integers(8)), array.astype(np.float32)
        if how == 0:
            return self.made("Cast", self.const(array.astype(np.float64)), to=TensorProto.FLOAT)
        if how == 1:
            return self.made("Add", self.const(small), self.const(np.float32(0.25)))
        if how == 2:
            perm = [int(q) for q in self.rng.permutation(array.ndim)]
            return self.made("Transpose", self.const(small.transpose(np.argsort(perm))), perm=perm)
        if how == 3:
            more = np.concatenate([small, small[:1]])
            return self.made("Slice", self.const(more), self.ints(0), self.ints(len(array)), self.ints(0))
        if how == 4:
            return self.made("Reshape", self.const(small.ravel()), self.ints(*array.shape))
        if how == 5:
            size = self.made("Sigmoid", self.made("ReduceMean", "x", keepdims=0))
            return self.made("Mul", *self.turned(self.const(small), size))
        return self.const(small)

    def turned(self, a, b):
        return (a, b) if self.coin() else (b, a)

    def random(self, *shape):
        if self.anywhere:
            return self.made_weights(self.rng.standard_normal(shape).round(3))
        return self.const(self.rng.standard_normal(shape).round(3).astype(np.float32))

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def op(self, kind, *more, results=1, **attributes):
        self.n += 1
        if self.anywhere and kind in ("Add", "Sub", "Mul", "Max", "Min") and len(more) == 1 and self.coin():
            self.x, more = more[0], (self.x,)
        out = [f"{kind.lower()}{self.n}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, [self.x, *more], out, name=f"n{self.n}", **attributes))
        self.x = out[int(self.rng.integers(results))]
        return out

    def axis(self):
        return int(self.rng.integers(len(self.s)))

    def pick(self, *of):
        return of[int(self.rng.integers(len(of)))]

    def coin(self):
        return bool(self.rng.integers(2))


def is_image(g):
    return len(g.s) == 4


def slid(g, kernel, stride, dilation, pads):
    return [(g.s[2 + i] + pads[i] + pads[2 + i] - dilation * (kernel - 1) - 1) // stride + 1 for i in range(2)]


def conv(g):
    if not is_image(g):
        return
    group = g.pick(*[q for q in (1, 2, g.s[1]) if g.s[1] % q == 0])
    out, kernel, stride, dilation = group * g.pick(1, 2, 3), g.pick(1, 2, 3), g.pick(1, 2), g.pick(1, 2)
    pads = [int(q) for q in g.rng.integers(0, 2, 4)]
    places = slid(g, kernel, stride, dilation, pads)
    if min(places) < 1:
        return
    bias = [g.random(out)] if g.coin() else []
    g.op("Conv", g.random(out, g.s[1] // group, kernel, kernel), *bias, group=group, strides=[stride] * 2,
         dilations=[dilation] * 2, pads=pads)
    g.s = [g.s[0], out, *places]


def conv_transpose(g):
    if not is_image(g):
        return
    out, k = g.pick(1, 2, 3), g.pick(1, 2)
    g.op("ConvTranspose", g.random(g.s[1], out, k, k), g.random(out), strides=[k, k])
    g.s = [g.s[0], out, g.s[2] * k, g.s[3] * k]


def max_pool(g):
    if not is_image(g):
        return
    g.op("Relu")
    g.op("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=int(g.coin()))
    last = g.nodes[-1].attribute
    up = next(a.i for a in last if a.name == "ceil_mode")
    g.s = g.s[:2] + [(q - 1 + (up and q % 2 == 0)) // 2 + 1 for q in g.s[2:]]


def average_pool(g):
    if not is_image(g) or min(g.s[2:]) < 2:
        return
    pads = [g.pick(0, 1)] * 4
    g.op("AveragePool", kernel_shape=[2, 2], strides=[1, 1], pads=pads, count_include_pad=1)
    g.s = g.s[:2] + [q - 1 + 2 * pads[0] for q in g.s[2:]]


def global_pool(g):
    if is_image(g):
        g.op(g.pick("GlobalAveragePool", "GlobalMaxPool"))
        g.s = g.s[:2] + [1, 1]


def resize(g):
    if is_image(g) and max(g.s) < 12:
        by = [1, 1, g.pick(1, 2), g.pick(2, 3)]
        g.op("Resize", "", g.const(np.array(by, np.float32)), mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
        g.s = [a * b for a, b in zip(g.s, by)]


def batch_norm(g):
    if len(g.s) > 1:
        c = g.s[1]
        variance = (g.rng.random(c) + 0.5).round(3).astype(np.float32)
        variance = g.made("Abs", g.made_weights(variance)) if g.anywhere and g.coin() else g.const(variance)
        g.op("BatchNormalization", g.random(c), g.random(c), g.random(c), variance)


def instance_norm(g):
    if is_image(g) and g.s[2] * g.s[3] > 3:
        g.op("InstanceNormalization", g.random(g.s[1]), g.random(g.s[1]))


def layer_norm(g):
    if g.s[-1] > 1:
        g.op("LayerNormalization", g.random(g.s[-1]), g.random(g.s[-1]), axis=-1)


def softmax(g):
    g.op(g.pick("Softmax", "LogSoftmax"), axis=g.axis() - g.pick(0, len(g.s)))


def reduce(g):
    if len(g.s) < 2:
        return
    axis, keep = g.axis(), int(g.coin())
    g.op(g.pick("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"), axes=[axis], keepdims=keep)
    g.s = g.s[:axis] + [1] * keep + g.s[axis + 1:]


def matmul(g):
    n = g.pick(1, 3, 5)
    g.op("MatMul", g.random(*g.s[:-2], g.s[-1], n) if g.coin() else g.random(g.s[-1], n))
    g.s = g.s[:-1] + [n]


def gemm(g):
    if len(g.s) != 2:
        return
    n, turn = g.pick(2, 4), g.coin()
    g.op("Gemm", g.random(n, g.s[1]) if turn else g.random(g.s[1], n), g.random(n), transB=int(turn), alpha=0.5, beta=2.0)
    g.s = [g.s[0], n]


def transpose(g):
    perm = [int(q) for q in g.rng.permutation(len(g.s))]
    g.op("Transpose", perm=perm)
    g.s = [g.s[q] for q in perm]


def regroup(g):
    axis = g.axis()
    if g.s[axis] % 2 == 0 and len(g.s) < 6:
        shape = g.s[:axis] + [2, g.s[axis] // 2] + g.s[axis + 1:]
    elif len(g.s) > 2:
        shape = [g.s[0] * g.s[1]] + g.s[2:]
    else:
        return
    asked = list(shape)
    if g.coin():
        asked[int(g.rng.integers(len(asked)))] = -1
    g.op("Reshape", g.ints(*asked))
    g.s = shape


def squeeze(g):
    if 1 in g.s and len(g.s) > 1:
        at = g.s.index(1)
        g.op("Squeeze", g.ints(at))
        del g.s[at]
    elif len(g.s) < 5:
        g.op("Unsqueeze", g.ints(1))
        g.s.insert(1, 1)


def cut(g):
    axis = g.axis()
    if g.s[axis] < 3:
        return
    first, step = int(g.rng.integers(g.s[axis] - 1)), g.pick(1, 2)
    last = int(g.rng.integers(first + 1, g.s[axis] + 1))
    g.op("Slice", g.ints(first), g.ints(last), g.ints(axis), g.ints(step))
    g.s[axis] = (last - first + step - 1) // step


def split(g):
    axis = g.axis()
    if g.s[axis] % 2 == 0:
        g.op("Split", axis=axis, results=2)
        g.s[axis] //= 2


def gather(g):
    axis = g.axis()
    if g.s[axis] > 1 and len(g.s) > 1:
        g.op("Gather", g.const(np.int64(1)), axis=axis)
        del g.s[axis]


def concat(g):
    axis, before = g.axis(), g.x
    if g.s[axis] > 12:
        return
    g.op("Sigmoid")
    g.op("Concat", before, axis=axis)
    g.s[axis] *= 2


def pad(g):
    if is_image(g) and max(g.s) < 16:
        n = [0, 0] + [int(q) for q in g.rng.integers(0, 2, 2)] + [0, 0] + [int(q) for q in g.rng.integers(0, 3, 2)]
        g.op("Pad", g.ints(*n))
        g.s = [a + b + c for a, b, c in zip(g.s, n[:4], n[4:])]


def expand(g):
    if 1 in g.s and np.prod(g.s) < 300:
        shape = [3 if q == 1 else q for q in g.s]
        g.op("Expand", g.ints(*shape))
        g.s = shape


def to_space(g):
    if is_image(g) and g.s[1] % 4 == 0:
        g.op("DepthToSpace", blocksize=2, mode=g.pick("DCR", "CRD"))
        g.s = [g.s[0], g.s[1] // 4, g.s[2] * 2, g.s[3] * 2]


def between(g):
    shape = [q if g.coin() else 1 for q in g.s][g.axis():]
    g.op(g.pick("Add", "Sub", "Mul", "Max", "Min"), g.random(*shape))


def transposed(g):
    """Windows that overlap: strides, pads, groups, dilation."""
    if not is_image(g) or max(g.s[2:]) > 8:
        return
    group = g.pick(*[q for q in (1, 2) if g.s[1] % q == 0])
    out, kernel, stride = g.pick(1, 2), [g.pick(1, 2, 3, 4) for _ in range(2)], g.pick(1, 2, 3)
    dilation = g.pick(1, 2) if stride == 1 else 1
    more, pads = g.pick(0, stride - 1), [int(q) for q in g.rng.integers(0, 2, 4)]
    shape = [stride * (g.s[2 + i] - 1) + more + dilation * (kernel[i] - 1) + 1 - pads[i] - pads[2 + i] for i in range(2)]
    if min(shape) < 1:
        return
    bias = [g.random(out * group)] if g.coin() else []
    g.op("ConvTranspose", g.random(g.s[1], out, *kernel), *bias, group=group, strides=[stride] * 2, dilations=[dilation] * 2,
         pads=pads, output_padding=[more] * 2)
    g.s = [g.s[0], out * group, *shape]


def blend(g):
    """Resizing by any ratio, by scales or sizes."""
    if not is_image(g) or max(g.s[2:]) > 12:
        return
    by = [g.pick(0.5, 0.75, 1.5, 2.0, 2.5, 3.0) for _ in range(2)]
    shape = [max(1, int(a * b)) for a, b in zip(g.s[2:], by)]
    mode, where = g.pick("nearest", "linear", "cubic"), g.pick("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
    if g.coin() or min(int(a * b) for a, b in zip(g.s[2:], by)) < 1:
        given = ["", "", g.ints(*g.s[:2], *shape)]
    else:
        given = ["", g.const(np.array([1, 1, *by], np.float32))]
    g.op("Resize", *given, mode=mode, coordinate_transformation_mode=where, nearest_mode=g.pick("floor", "ceil", "round_prefer_floor"))
    g.s = g.s[:2] + shape


def inner_mean(g):
    """Means of windows that leave out what lies outside."""
    if is_image(g) and min(g.s[2:]) > 2:
        up = int(g.coin())
        g.op("AveragePool", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], ceil_mode=up, count_include_pad=0)
        g.s = g.s[:2] + [(g.s[2] - 1 + (up and g.s[2] % 2 == 0)) // 2 + 1, g.s[3]]


def borders(g):
    axis, n = g.axis(), [0] * (2 * len(g.s))
    if np.prod(g.s) > 1000 or g.s[axis] < 4:
        return
    n[axis], n[len(g.s) + axis] = g.pick(0, 1, 2), g.pick(-1, 1, 2)
    g.op("Pad", g.ints(*n), mode=g.pick("reflect", "edge", "constant"))
    g.s[axis] += n[axis] + n[len(g.s) + axis]


def backwards(g):
    axis, step = g.axis(), g.pick(-1, -2)
    if g.s[axis] > 1:
        g.op("Slice", g.ints(-1), g.ints(-(2 ** 31)), g.ints(axis), g.ints(step))
        g.s[axis] = (g.s[axis] - 1) // -step + 1


def choose(g):
    axis = g.axis()
    if g.s[axis] > 1 and len(g.s) < 5:
        n = g.pick(1, 2, 3)
        which = g.rng.integers(-g.s[axis], g.s[axis], (2, n))
        g.op("Gather", g.const(which.astype(np.int64)), axis=axis)
        g.s[axis:axis + 1] = [2, n]


def einsum(g):
    if len(g.s) == 3:
        a, b, c = g.s
        kind = g.pick(0, 1, 2)
        if kind == 0:
            g.op("Einsum", g.random(b, 3, c), equation="abc,bdc->adb")
            g.s = [a, 3, b]
        elif kind == 1:
            g.op("Einsum", g.random(c, 2), equation="abc, cd")
            g.s = [a, b, 2]
        else:
            g.op("Einsum", equation="abc->ca")
            g.s = [c, a]


def tile(g):
    if np.prod(g.s) < 300:
        times = [g.pick(1, 1, 2) for _ in g.s]
        g.op("Tile", g.ints(*times))
        g.s = [a * b for a, b in zip(g.s, times)]


def triangle(g):
    if len(g.s) > 1:
        g.op("Trilu", g.const(np.int64(g.pick(-1, 0, 1))), upper=int(g.coin()))


def group_norm(g):
    """As exporters of opset 17 spell it out."""
    if is_image(g) and g.s[1] % 2 == 0 and g.s[2] * g.s[3] > 2:
        s = list(g.s)
        g.op("Reshape", g.ints(0, 2, -1))
        g.op("InstanceNormalization", g.const(np.ones(2, np.float32)), g.const(np.zeros(2, np.float32)))
        g.op("Reshape", g.ints(*s))
        g.op("Mul", g.random(s[1], 1, 1))


def chosen(g):
    """A condition, joined with another, between two values."""
    x = g.x
    g.op(g.pick("Less", "LessOrEqual", "Greater", "GreaterOrEqual"), g.random(g.s[-1]))
    one = g.x
    g.x = x
    g.op("Greater", g.const(np.float32(0.2)))
    g.op(g.pick("And", "Or", "Xor"), one)
    if g.coin():
        g.op("Not")
    g.op("Where", x, g.random(g.s[-1]))


def mask(g):
    """Numbers computed of numbers, as masks and tables of positions are."""
    if len(g.s) < 2 or g.s[-1] * g.s[-2] > 60:
        return
    x, (m, n) = g.x, g.s[-2:]
    g.x = g.ints(m, n)
    g.op("ConstantOfShape", value=numpy_helper.from_array(np.array([1.5], np.float32)))
    g.op("Trilu", g.const(np.int64(1)), upper=int(g.coin()))
    g.op("CumSum", g.const(np.int64(g.pick(0, 1))), reverse=int(g.coin()), exclusive=int(g.coin()))
    g.op("ScatterND", g.ints(0), g.const(g.rng.standard_normal([n]).round(3).astype(np.float32)))
    g.op("Transpose", perm=[1, 0])
    g.op("Slice", g.ints(-1), g.ints(-100), g.ints(0), g.ints(-1))
    g.op("Transpose", perm=[1, 0])
    g.op("ReduceSum", g.ints(0), keepdims=1)
    g.op(g.pick("Cos", "Sin", "Exp", "Tan"))
    g.op("Tile", g.ints(m, 1))
    g.op(g.pick("Add", "Mul"), x)


def sums(g):
    if len(g.s) > 1:
        axis, keep = g.axis(), int(g.coin())
        g.op(g.pick("ReduceLogSumExp", "ReduceL1", "ReduceSumSquare"), axes=[axis], keepdims=keep)
        g.s = g.s[:axis] + [1] * keep + g.s[axis + 1:]


def curve(g):
    kind = g.pick("Selu", "Celu", "ThresholdedRelu", "Softsign", "Sign", "LpNormalization", "Pow")
    if kind == "Pow":
        g.op("Abs")
        g.op("Pow", g.const(np.float32(g.pick(1.5, 4, 0, -2, 5))))
    else:
        g.op(kind)


def gelu(g):
    x = g.x
    g.op("Mul", g.const(np.float32(0.70710678)))
    g.op("Erf")
    g.op("Add", g.const(np.float32(1)))
    g.op("Mul", x)
    g.op("Mul", g.const(np.float32(0.5)))


def one(g):
    kind = g.pick("Relu", "Tanh", "Erf", "Neg", "Abs", "HardSwish", "LeakyRelu", "Elu", "Softplus", "HardSigmoid", "Clip")
    if kind == "Clip":
        g.op("Clip", g.const(np.float32(-0.5)), g.const(np.float32(1.5)))
    else:
        g.op(kind)


STEPS = [conv, conv, conv, conv_transpose, max_pool, average_pool, global_pool, resize, batch_norm, instance_norm, layer_norm,
         softmax, reduce, matmul, matmul, gemm, transpose, transpose, regroup, regroup, squeeze, cut, split, gather, concat,
         pad, expand, to_space, between, between, gelu, one, one]


NEWER = [transposed, transposed, blend, blend, inner_mean, borders, borders, backwards, choose, einsum, tile, triangle, group_norm,
         chosen, mask, sums, curve, curve]  # drawn for seeds from 3000 on, so that older ones stay what they are


def recurrent(g):
    """A sequence of rows, in one of the directions; its states, or the last ones."""
    if len(g.s) != 3:
        return
    kind, way = g.pick("LSTM", "GRU", "RNN"), g.pick("forward", "reverse", "bidirectional")
    (_, batch, wide), hidden, gates = g.s, int(g.rng.integers(1, 5)), {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    both = 1 + (way == "bidirectional")
    more = [g.random(both, gates * hidden, wide), g.random(both, gates * hidden, hidden)]
    more += [g.random(both, 2 * gates * hidden) if g.coin() else "", "", g.random(both, batch, hidden) if g.coin() else ""]
    if kind == "LSTM":
        more.append(g.random(both, batch, hidden) if g.coin() else "")
    own = {"linear_before_reset": int(g.coin())} if kind == "GRU" else {}
    out = g.op(kind, *more, results=2 + (kind == "LSTM"), hidden_size=hidden, direction=way, **own)
    every = g.x == out[0]
    if every:
        g.op("Reshape", g.ints(g.s[0], -1, hidden))
    g.s = [g.s[0] if every else both, batch * (both if every else 1), hidden]


def wrapped(g):
    """Known numbers that a narrow type cuts, or a division leaves, as factors of the last axis."""
    x, n = g.x, g.s[-1]
    g.x = g.const(g.rng.integers(-700, 700, n).astype(np.int32))
    if g.coin():
        g.op("Cast", to=g.pick(TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16))
        g.op("Cast", to=TensorProto.FLOAT)
    else:
        g.op("Cast", to=TensorProto.FLOAT)
        g.op("Mod", g.const(np.float32(g.pick(-37.5, 12.25))), fmod=1)
    g.op("Mul", g.const(np.float32(0.01)))
    g.op("Mul", x)


def nothing(g):
    """A part without elements before others."""
    axis, x = g.axis(), g.x
    empty = g.const(np.zeros([0 if k == axis else n for k, n in enumerate(g.s)], np.float32))
    g.x = empty
    g.op("Concat", x, axis=axis)


NEWEST = [recurrent, recurrent, wrapped, nothing]  # for seeds from 4000 on


def beside(g):
    """Parts that are constants, data, or both, beside each other along any axis."""
    axis, parts = g.axis(), [g.x]
    if np.prod(g.s) > 500:
        return
    for _ in range(g.pick(1, 2)):
        shape = list(g.s)
        shape[axis] = g.pick(0, 1, 2, 3)
        if g.coin():
            part = g.const(g.rng.standard_normal(shape).round(3).astype(np.float32))
        else:
            zero = numpy_helper.from_array(np.array([g.pick(0, 1.5)], np.float32))
            part = g.made("ConstantOfShape", g.ints(*shape), value=zero)
        parts.insert(int(g.rng.integers(len(parts) + 1)), part)
        g.s[axis] += shape[axis]
    g.x = parts[0]
    g.op("Concat", *parts[1:], axis=axis)


def known(g):
    """A constant takes the place of the graph's end for some steps; then what was there is added, as one number."""
    if g.x == "":
        return
    x, g.x = g.x, g.const(g.rng.standard_normal(g.s).round(3).astype(np.float32))
    for _ in range(g.pick(1, 2, 3)):
        g.pick(*STEPS, *NEWER, beside)(g)
    g.op("Add", g.made("ReduceMean", x, keepdims=0))


def truth(g):
    """Casts that change no number here: to truth and back, of truth and whole numbers to integers, between floats."""
    kind = g.pick(0, 1, 2, 3)
    if kind == 0:
        g.op("Greater", g.const(np.float32(0.1)))
        g.op("Cast", to=g.pick(TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.FLOAT))
        g.op("Cast", to=TensorProto.INT32)
        g.op("Mul", g.const(np.array(g.rng.integers(-3, 4, g.s[-1]), np.int32)))
        g.op("Cast", to=TensorProto.FLOAT)
    elif kind == 1:
        g.op("Relu")
        g.op("Cast", to=TensorProto.BOOL)
        g.op("Cast", to=TensorProto.FLOAT)
    elif kind == 2:
        g.op("CastLike", g.const(np.zeros(1, np.float64)))
        g.op("CastLike", "x")
    else:
        g.op("Sign")
        g.op("Cast", to=TensorProto.INT64)
        g.op("Cast", to=TensorProto.FLOAT)


def quotient(g):
    """Integers that are divided and cut, where they are known."""
    x, n = g.x, g.s[-1]
    a, b = g.rng.integers(-50, 50, n), g.rng.integers(1, 9, n) * g.pick(-1, 1)
    kind = g.pick(np.int32, np.int64)
    g.x = g.made("Div", g.const(a.astype(kind)), g.const(b.astype(kind)))
    g.op(g.pick("Add", "Mul"), g.const(np.array(g.pick(2, -3), kind)))
    if g.coin():
        g.op("Cast", to=g.pick(TensorProto.FLOAT16, TensorProto.BFLOAT16))
    g.op("Cast", to=TensorProto.FLOAT)
    g.op("Mul", x)


ANYWHERE = [beside, beside, known, known, truth, quotient]  # for seeds from 6000 on


def graph(seed):
    rng = np.random.default_rng(seed)
    anywhere = seed >= 6000
    if anywhere:
        shapes = [1, 1, 5, 6], [1, 1, 7], [1, 6], [6], [1], [1, 1, 1, 1], [2, 1, 4, 4], [1, 4, 1, 6], [3, 1, 4], [2, 4, 6, 7], [4, 6]
        shape = shapes[int(rng.integers(len(shapes)))]
        return drawn(Graph(rng, shape, True), 2 * STEPS + 2 * NEWER + 4 * NEWEST + 8 * ANYWHERE, seed)
    shape = [g for g in ([2, 4, 6, 7], [1, 8, 5, 5], [2, 6, 8], [4, 6], [3, 2, 4, 4])][int(rng.integers(5))]
    steps = STEPS + (2 * NEWER if seed >= 3000 else []) + (6 * NEWEST if seed >= 4000 else [])
    return drawn(Graph(rng, shape), steps, seed)


def drawn(g, steps, seed):
    rng = g.rng
    while len(g.nodes) < (3 if g.anywhere else 1) * DEPTH:
        steps[int(rng.integers(len(steps)))](g)
        if np.prod(g.s) > 4000:
            break
    out = [helper.make_tensor_value_info(g.x, TensorProto.FLOAT, g.s)]
    model = helper.make_model(helper.make_graph(g.nodes, f"random {seed}", g.inputs, out, g.weights),
                              opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def numbers(array, digits=7):
    return {"shape": list(array.shape), "data": [float(f"{v:.{digits}g}") for v in np.asarray(array, np.float64).ravel()]}


def write(model, folder, name, rng, weights=True):
    """The model, and what onnxruntime makes of it; weights: with them as inputs, too, else `pack` gives them."""
    given = {}
    for i in model.graph.input:
        given[i.name] = rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).round(3).astype(np.float32)
    try:
        made = onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        return  # not every graph that the checker takes runs
    if not all(np.isfinite(m).all() for m in made):
        return  # Python's own arithmetic, which the test evaluates with, ends there
    values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "BatchNormalization" and all(k in values for k in node.input[1:]):
            scale, shift, mean, variance = (values[k].astype(np.float64) for k in node.input[1:])
            epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
            given[node.output[0] + ".scale"] = factor = scale / np.sqrt(variance + epsilon)
            given[node.output[0] + ".shift"] = shift - mean * factor
    if weights:
        given.update({k: v for k, v in values.items() if v.dtype == np.float32})
    else:
        given = {i.name: given[i.name] for i in model.graph.input}
    document = {"inputs": {k: numbers(v, 7 if weights else 17) for k, v in given.items()}, "outputs": [numbers(v) for v in made]}
    for i, out in zip(model.graph.output, [] if weights else document["outputs"]):
        out["name"] = i.name
    onnx.save(model, folder / f"{name}.onnx")
    (folder / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[2].endswith(".onnx"):
        for k, file in enumerate(sys.argv[2:]):
            write(onnx.load(file), folder, pathlib.Path(file).stem, np.random.default_rng(k))
        return
    for seed in range(int(sys.argv[2]) * 1000, int(sys.argv[2]) * 1000 + int(sys.argv[3])):
        write(graph(seed), folder, f"random-{seed}", np.random.default_rng(seed), seed < 6000)


if __name__ == "__main__":
    main()
