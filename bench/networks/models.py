"""The networks of the table, as exporters write them: ONNX graphs of random weights, made with onnx alone.

`build(name, size)` gives a model and the names of its data inputs.  size "full" has the published widths and depths, "small" the
same widths with fewer layers or smaller pictures (SIZES says which), "tiny" is for looking at what fails.
"""
import math
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
FEW = 1024  # numbers of a constant that may say shapes: they stay where weights are taken out

# name: {size: keyword arguments}
SIZES = {
    "bert-base": {"full": {}, "small": {"layers": 2}, "tiny": {"layers": 1, "width": 32, "heads": 2, "tokens": 8}},
    "vit-b16": {"full": {}, "small": {"layers": 2}, "tiny": {"layers": 1, "width": 32, "heads": 2, "side": 32}},
    "gpt-2": {"full": {}, "small": {"layers": 2}, "tiny": {"layers": 1, "width": 32, "heads": 2, "tokens": 8}},
    "llama-prefill": {"full": {"layers": 16}, "small": {"layers": 2, "tokens": 64},
                      "tiny": {"layers": 1, "width": 32, "heads": 4, "kv": 2, "inner": 48, "tokens": 8}},
    "llama-decode": {"full": {"layers": 16}, "small": {"layers": 2},
                     "tiny": {"layers": 1, "width": 32, "heads": 4, "kv": 2, "inner": 48, "past": 7}},
    "resnet-18": {"full": {}, "small": {}, "tiny": {"side": 32, "width": 8}},
    "resnet-50": {"full": {}, "small": {}, "tiny": {"side": 32, "width": 8}},
    "mobilenet-v2": {"full": {}, "small": {}, "tiny": {"side": 32}},
    "shufflenet-v2": {"full": {}, "small": {}, "tiny": {"side": 32}},
    "efficientnet-b0": {"full": {}, "small": {}, "tiny": {"side": 32}},
    "yolo-v5s": {"full": {"side": 640}, "small": {"side": 160}, "tiny": {"side": 64, "width": 8}},
    "u-net": {"full": {"side": 256}, "small": {"side": 64}, "tiny": {"side": 16, "width": 4}},
    "mlp-mixer": {"full": {}, "small": {"layers": 2}, "tiny": {"layers": 1, "side": 32, "width": 16}},
    "mi-lstm": {"full": {"steps": 32}, "small": {"steps": 8}, "tiny": {"steps": 2, "width": 16}},
}


class Net:
    """A graph that grows; values are names, weights are drawn so that activations keep their size."""

    def __init__(self, seed, weights=True, batch=1):
        self.rng, self.n, self.nodes, self.inits, self.inputs, self.outputs = np.random.default_rng(seed), 0, [], [], [], []
        self.shape, self.weights, self.batch = {}, weights, batch

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value):
        self.outputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, None))

    def const(self, array, name=None):
        self.n += 1
        name = name or f"c{self.n}"
        array = np.asarray(array)
        if not self.weights and array.size > FEW:
            kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            self.inits.append(TensorProto(name=name, dims=list(array.shape), data_type=kind))
            return name
        self.inits.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def scalar(self, x):
        return self.const(np.float32(x))

    def draw(self, name, shape, scale=1.0, around=0.0):
        self.n += 1
        name = f"{name}_{self.n}"
        if not self.weights:
            self.inits.append(TensorProto(name=name, dims=list(shape), data_type=TensorProto.FLOAT))
            return name
        return self.const((self.rng.standard_normal(shape, np.float32) * np.float32(scale) + np.float32(around)), name)

    def op(self, kind, *inputs, outputs=1, **attributes):
        self.n += 1
        out = [f"{kind.lower()}_{self.n}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), out, name=f"{kind}_{self.n}", **attributes))
        return out[0] if outputs == 1 else out

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.inits)
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="tileflow-bench")
        m.ir_version = 8
        return m

    # ---- layers ---------------------------------------------------------------------------------------------------
    def conv(self, x, cin, cout, k, stride=1, groups=1, bias=False, pad=None):
        w = self.draw("conv_w", (cout, cin // groups, k, k), math.sqrt(1.4 / (cin // groups * k * k)))
        b = [self.draw("conv_b", (cout,), 0.1)] if bias else []
        p = k // 2 if pad is None else pad
        return self.op("Conv", x, w, *b, kernel_shape=[k, k], strides=[stride] * 2, pads=[p] * 4, group=groups, dilations=[1, 1])

    def bn(self, x, c):
        mean, shift = self.draw("bn_m", (c,), 0.1), self.draw("bn_b", (c,), 0.1)
        scale, var = self.draw("bn_g", (c,), 0.1, 1), self.positive("bn_v", c)
        return self.op("BatchNormalization", x, scale, shift, mean, var, epsilon=1e-5)

    def positive(self, name, c):
        name = self.draw(name, (c,))
        if self.weights:
            self.inits[-1] = numpy_helper.from_array((self.rng.random(c) * 0.4 + 0.8).astype(np.float32), name)
        return name

    def cbr(self, x, cin, cout, k, stride=1, groups=1, act="Relu"):
        x = self.bn(self.conv(x, cin, cout, k, stride, groups), cout)
        if act == "Relu6":
            return self.op("Clip", x, self.scalar(0), self.scalar(6))
        if act == "Silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        return self.op(act, x) if act else x

    def linear(self, x, cin, cout, bias=True):
        x = self.op("MatMul", x, self.draw("w", (cin, cout), 1 / math.sqrt(cin)))
        return self.op("Add", self.draw("b", (cout,), 0.1), x) if bias else x

    def gemm(self, x, cin, cout):
        return self.op("Gemm", x, self.draw("w", (cout, cin), 1 / math.sqrt(cin)), self.draw("b", (cout,), 0.1), transB=1)

    def ln(self, x, c):
        return self.op("LayerNormalization", x, self.draw("ln_g", (c,), 0.1, 1), self.draw("ln_b", (c,), 0.1), axis=-1, epsilon=1e-5)

    def gelu(self, x):
        y = self.op("Add", self.op("Erf", self.op("Div", x, self.scalar(math.sqrt(2)))), self.scalar(1))
        return self.op("Mul", self.op("Mul", x, y), self.scalar(0.5))

    def gelu_tanh(self, x):
        y = self.op("Add", x, self.op("Mul", self.op("Pow", x, self.scalar(3)), self.scalar(0.044715)))
        y = self.op("Add", self.op("Tanh", self.op("Mul", y, self.scalar(math.sqrt(2 / math.pi)))), self.scalar(1))
        return self.op("Mul", self.op("Mul", x, self.scalar(0.5)), y)

    def heads(self, x, tokens, heads, each, perm=(0, 2, 1, 3)):
        return self.op("Transpose", self.op("Reshape", x, self.ints(self.batch, tokens, heads, each)), perm=list(perm))

    def merge(self, x, tokens, width):
        return self.op("Reshape", self.op("Transpose", x, perm=[0, 2, 1, 3]), self.ints(self.batch, tokens, width))

    def attend(self, q, k_t, v, each, mask=None):
        s = self.op("Div", self.op("MatMul", q, k_t), self.scalar(math.sqrt(each)))
        s = mask(s) if mask else s
        return self.op("MatMul", self.op("Softmax", s, axis=-1), v)


# ---- transformers -------------------------------------------------------------------------------------------------------
def bert_base(n, layers=12, width=768, heads=12, tokens=128, vocab=1000):
    ids = n.input("input_ids", [n.batch, tokens], TensorProto.INT64)
    kinds = n.input("token_type_ids", [n.batch, tokens], TensorProto.INT64)
    given = n.input("attention_mask", [n.batch, tokens], TensorProto.INT64)
    m = n.op("Cast", n.op("Unsqueeze", given, n.ints(1, 2)), to=1)
    m = n.op("Mul", n.op("Sub", n.scalar(1), m), n.scalar(-10000))
    x = n.op("Add", n.op("Gather", n.draw("words", (vocab, width)), ids), n.op("Gather", n.draw("kinds", (2, width)), kinds))
    x = n.ln(n.op("Add", x, n.op("Slice", n.draw("places", (1, 512, width)), n.ints(0), n.ints(tokens), n.ints(1))), width)
    for _ in range(layers):
        each = width // heads
        q, v = (n.heads(n.linear(x, width, width), tokens, heads, each) for _ in range(2))
        k = n.heads(n.linear(x, width, width), tokens, heads, each, (0, 2, 3, 1))
        a = n.merge(n.attend(q, k, v, each, lambda s: n.op("Add", s, m)), tokens, width)
        x = n.ln(n.op("Add", n.linear(a, width, width), x), width)
        h = n.linear(n.gelu(n.linear(x, width, 4 * width)), 4 * width, width)
        x = n.ln(n.op("Add", h, x), width)
    n.output(x)
    first = n.op("Gather", x, n.const(np.int64(0)), axis=1)
    n.output(n.op("Tanh", n.gemm(first, width, width)))


def vit_b16(n, layers=12, width=768, heads=12, side=224, classes=1000):
    x = n.conv(n.input("pixels", [n.batch, 3, side, side]), 3, width, 16, 16, bias=True, pad=0)
    patches = (side // 16) ** 2
    tokens = patches + 1
    x = n.op("Transpose", n.op("Reshape", x, n.ints(n.batch, width, patches)), perm=[0, 2, 1])
    cls = n.op("Expand", n.draw("cls", (1, 1, width)), n.ints(n.batch, 1, width))
    x = n.op("Add", n.op("Concat", cls, x, axis=1), n.draw("places", (1, tokens, width), 0.1))
    for _ in range(layers):
        each = width // heads
        y = n.ln(x, width)
        q, v = (n.heads(n.linear(y, width, width), tokens, heads, each) for _ in range(2))
        k = n.heads(n.linear(y, width, width), tokens, heads, each, (0, 2, 3, 1))
        x = n.op("Add", n.linear(n.merge(n.attend(q, k, v, each), tokens, width), width, width), x)
        x = n.op("Add", n.linear(n.gelu(n.linear(n.ln(x, width), width, 4 * width)), 4 * width, width), x)
    n.output(n.gemm(n.op("Gather", n.ln(x, width), n.const(np.int64(0)), axis=1), width, classes))


def gpt_2(n, layers=12, width=768, heads=12, tokens=64, vocab=1000):
    ids = n.input("input_ids", [n.batch, tokens], TensorProto.INT64)
    words = n.draw("words", (vocab, width), 0.1)
    x = n.op("Add", n.op("Gather", words, ids), n.op("Slice", n.draw("places", (1024, width), 0.1), n.ints(0), n.ints(tokens), n.ints(0)))
    each = width // heads
    tri = n.const(np.tril(np.ones((1, 1, 1024, 1024), bool)))
    for _ in range(layers):
        y = n.op("Reshape", n.ln(x, width), n.ints(-1, width))
        y = n.op("Gemm", y, n.draw("w", (width, 3 * width), 1 / math.sqrt(width)), n.draw("b", (3 * width,), 0.1))
        q, k, v = n.op("Split", n.op("Reshape", y, n.ints(n.batch, tokens, 3 * width)), n.ints(width, width, width), outputs=3, axis=2)
        q, k, v = n.heads(q, tokens, heads, each), n.heads(k, tokens, heads, each, (0, 2, 3, 1)), n.heads(v, tokens, heads, each)
        seen = n.op("Slice", n.op("Slice", tri, n.ints(0), n.ints(tokens), n.ints(2)), n.ints(0), n.ints(tokens), n.ints(3))
        a = n.attend(q, k, v, each, lambda s: n.op("Where", seen, s, n.scalar(-3.4028235e38)))
        a = n.op("Reshape", n.merge(a, tokens, width), n.ints(-1, width))
        a = n.op("Gemm", a, n.draw("w", (width, width), 1 / math.sqrt(width)), n.draw("b", (width,), 0.1))
        x = n.op("Add", n.op("Reshape", a, n.ints(n.batch, tokens, width)), x)
        x = n.op("Add", x, n.linear(n.gelu_tanh(n.linear(n.ln(x, width), width, 4 * width)), 4 * width, width))
    n.output(n.op("MatMul", n.ln(x, width), n.op("Transpose", words, perm=[1, 0])))


def rms(n, x, width):
    root = n.op("Sqrt", n.op("Add", n.op("ReduceMean", n.op("Pow", x, n.scalar(2)), axes=[-1]), n.scalar(1e-5)))
    return n.op("Mul", n.draw("rms_g", (width,), 0.1, 1), n.op("Mul", x, n.op("Div", n.scalar(1), root)))


def rotate(n, x, each, cos, sin):
    low = n.op("Slice", x, n.ints(0), n.ints(each // 2), n.ints(3))
    high = n.op("Slice", x, n.ints(each // 2), n.ints(2**63 - 1), n.ints(3))
    turned = n.op("Concat", n.op("Neg", high), low, axis=-1)
    return n.op("Add", n.op("Mul", x, cos), n.op("Mul", turned, sin))


def llama(n, layers, width, heads, kv, inner, tokens, past):
    """A decoder of RMSNorm, rotary embeddings, grouped heads and gated SiLU; its input is what the embedding gives."""
    each, all_of = width // heads, tokens + past
    x = n.input("embedded", [n.batch, tokens, width])
    angle = np.outer(np.arange(past, all_of), 1 / 10000 ** (np.arange(0, each, 2) / each))
    cos = n.const(np.tile(np.cos(angle), 2)[None, None].astype(np.float32))
    sin = n.const(np.tile(np.sin(angle), 2)[None, None].astype(np.float32))
    hidden = np.triu(np.full((tokens, tokens), -3.4028235e38, np.float32), 1)[None, None]
    mask = n.const(hidden) if tokens > 1 else None
    for i in range(layers):
        y = rms(n, x, width)
        q = rotate(n, n.heads(n.linear(y, width, width, False), tokens, heads, each), each, cos, sin)
        k = rotate(n, n.heads(n.linear(y, width, kv * each, False), tokens, kv, each), each, cos, sin)
        v = n.heads(n.linear(y, width, kv * each, False), tokens, kv, each)
        if past:
            k = n.op("Concat", n.input(f"past_k_{i}", [n.batch, kv, past, each]), k, axis=2)
            v = n.op("Concat", n.input(f"past_v_{i}", [n.batch, kv, past, each]), v, axis=2)
            n.output(k), n.output(v)
        def wide(z):
            z = n.op("Expand", n.op("Unsqueeze", z, n.ints(2)), n.ints(n.batch, kv, heads // kv, all_of, each))
            return n.op("Reshape", z, n.ints(n.batch, heads, all_of, each))
        k = n.op("Transpose", wide(k), perm=[0, 1, 3, 2])
        a = n.attend(q, k, wide(v), each, (lambda s: n.op("Add", s, mask)) if mask else None)
        x = n.op("Add", x, n.linear(n.merge(a, tokens, width), width, width, False))
        y = rms(n, x, width)
        gate = n.linear(y, width, inner, False)
        y = n.op("Mul", n.op("Mul", gate, n.op("Sigmoid", gate)), n.linear(y, width, inner, False))
        x = n.op("Add", x, n.linear(y, inner, width, False))
    n.output(n.linear(rms(n, x, width), width, 4 * width, False))


def llama_prefill(n, layers=2, width=1024, heads=16, kv=4, inner=2816, tokens=128):
    llama(n, layers, width, heads, kv, inner, tokens, 0)


def llama_decode(n, layers=2, width=1024, heads=16, kv=4, inner=2816, past=255):
    llama(n, layers, width, heads, kv, inner, 1, past)


# ---- pictures -----------------------------------------------------------------------------------------------------------
def resnet(n, blocks, deep, side, width, classes=1000):
    x = n.cbr(n.input("pixels", [n.batch, 3, side, side]), 3, width, 7, 2)
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c, grow = width, 4 if deep else 1
    for stage, many in enumerate(blocks):
        mid = width << stage
        for b in range(many):
            stride = 2 if b == 0 and stage else 1
            skip = x if stride == 1 and c == mid * grow else n.cbr(x, c, mid * grow, 1, stride, act=None)
            if deep:
                y = n.cbr(n.cbr(n.cbr(x, c, mid, 1), mid, mid, 3, stride), mid, mid * grow, 1, act=None)
            else:
                y = n.cbr(n.cbr(x, c, mid, 3, stride), mid, mid, 3, act=None)
            x, c = n.op("Relu", n.op("Add", y, skip)), mid * grow
    n.output(n.gemm(n.op("Flatten", n.op("GlobalAveragePool", x)), c, classes))


def resnet_18(n, side=224, width=64):
    resnet(n, [2, 2, 2, 2], False, side, width)


def resnet_50(n, side=224, width=64):
    resnet(n, [3, 4, 6, 3], True, side, width)


def mobilenet_v2(n, side=224, classes=1000):
    x, c = n.cbr(n.input("pixels", [n.batch, 3, side, side]), 3, 32, 3, 2, act="Relu6"), 32
    for t, out, many, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for b in range(many):
            y = n.cbr(x, c, c * t, 1, act="Relu6") if t > 1 else x
            y = n.cbr(y, c * t, c * t, 3, stride if b == 0 else 1, c * t, "Relu6")
            y = n.cbr(y, c * t, out, 1, act=None)
            x, c = n.op("Add", x, y) if b else y, out
    x = n.cbr(x, c, 1280, 1, act="Relu6")
    n.output(n.gemm(n.op("Flatten", n.op("GlobalAveragePool", x)), 1280, classes))


def shufflenet_v2(n, side=224, classes=1000):
    x = n.cbr(n.input("pixels", [n.batch, 3, side, side]), 3, 24, 3, 2)
    x, c, places = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 24, side // 4
    for out, many in [(116, 4), (232, 8), (464, 4)]:
        half = out // 2
        for b in range(many):
            if b == 0:
                left = n.cbr(n.cbr(x, c, c, 3, 2, c, None), c, half, 1)
                right, cin, stride, places = x, c, 2, places // 2
            else:
                left, right = n.op("Split", x, n.ints(half, half), outputs=2, axis=1)
                cin, stride = half, 1
            y = n.cbr(n.cbr(n.cbr(right, cin, half, 1), half, half, 3, stride, half, None), half, half, 1)
            y = n.op("Reshape", n.op("Concat", left, y, axis=1), n.ints(n.batch, 2, half, places, places))
            x, c = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3, 4]), n.ints(n.batch, out, places, places)), out
    x = n.cbr(x, c, 1024, 1)
    n.output(n.gemm(n.op("ReduceMean", x, axes=[2, 3], keepdims=0), 1024, classes))


def efficientnet_b0(n, side=224, classes=1000):
    x, c = n.cbr(n.input("pixels", [n.batch, 3, side, side]), 3, 32, 3, 2, act="Silu"), 32
    for t, out, many, stride, k in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:
        for b in range(many):
            mid, squeezed = c * t, max(1, c // 4)
            y = n.cbr(x, c, mid, 1, act="Silu") if t > 1 else x
            y = n.cbr(y, mid, mid, k, stride if b == 0 else 1, mid, "Silu")
            s = n.conv(n.op("GlobalAveragePool", y), mid, squeezed, 1, bias=True)
            s = n.conv(n.op("Mul", s, n.op("Sigmoid", s)), squeezed, mid, 1, bias=True)
            y = n.cbr(n.op("Mul", y, n.op("Sigmoid", s)), mid, out, 1, act=None)
            x, c = n.op("Add", x, y) if b else y, out
    x = n.cbr(x, c, 1280, 1, act="Silu")
    n.output(n.gemm(n.op("Flatten", n.op("GlobalAveragePool", x)), 1280, classes))


def c3(n, x, cin, cout, many, skip=True):
    half = cout // 2
    y = n.cbr(x, cin, half, 1, act="Silu")
    for _ in range(many):
        z = n.cbr(n.cbr(y, half, half, 1, act="Silu"), half, half, 3, act="Silu")
        y = n.op("Add", y, z) if skip else z
    return n.cbr(n.op("Concat", y, n.cbr(x, cin, half, 1, act="Silu"), axis=1), 2 * half, cout, 1, act="Silu")


def yolo_v5s(n, side=640, width=32, anchors=255):
    x, w = n.input("images", [n.batch, 3, side, side]), width
    down = lambda x, cin, cout, k=3: n.cbr(x, cin, cout, k, 2, act="Silu")
    up = lambda x: n.op("Resize", x, "", n.const(np.array([1, 1, 2, 2], np.float32)), mode="nearest", nearest_mode="floor",
                        coordinate_transformation_mode="asymmetric")
    x = n.op("Conv", x, n.draw("conv_w", (w, 3, 6, 6), 0.1), kernel_shape=[6, 6], strides=[2, 2], pads=[2, 2, 2, 2])
    x = n.bn(x, w)
    x = n.op("Mul", x, n.op("Sigmoid", x))
    x = c3(n, down(x, w, 2 * w), 2 * w, 2 * w, 1)
    p3 = c3(n, down(x, 2 * w, 4 * w), 4 * w, 4 * w, 2)
    p4 = c3(n, down(p3, 4 * w, 8 * w), 8 * w, 8 * w, 3)
    x = c3(n, down(p4, 8 * w, 16 * w), 16 * w, 16 * w, 1)
    a = n.cbr(x, 16 * w, 8 * w, 1, act="Silu")
    pools = [a]
    for _ in range(3):
        pools.append(n.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    x = n.cbr(n.op("Concat", *pools, axis=1), 32 * w, 16 * w, 1, act="Silu")
    t5 = n.cbr(x, 16 * w, 8 * w, 1, act="Silu")
    x = c3(n, n.op("Concat", up(t5), p4, axis=1), 16 * w, 8 * w, 1, False)
    t4 = n.cbr(x, 8 * w, 4 * w, 1, act="Silu")
    o3 = c3(n, n.op("Concat", up(t4), p3, axis=1), 8 * w, 4 * w, 1, False)
    o4 = c3(n, n.op("Concat", down(o3, 4 * w, 4 * w), t4, axis=1), 8 * w, 8 * w, 1, False)
    o5 = c3(n, n.op("Concat", down(o4, 8 * w, 8 * w), t5, axis=1), 16 * w, 16 * w, 1, False)
    for o, c, by in [(o3, 4 * w, 8), (o4, 8 * w, 16), (o5, 16 * w, 32)]:
        y = n.op("Reshape", n.conv(o, c, anchors, 1, bias=True), n.ints(n.batch, 3, anchors // 3, side // by, side // by))
        n.output(n.op("Sigmoid", n.op("Transpose", y, perm=[0, 1, 3, 4, 2])))


def u_net(n, side=256, width=32):
    x, c, skips = n.input("pixels", [n.batch, 3, side, side]), 3, []
    double = lambda x, cin, cout: n.cbr(n.cbr(x, cin, cout, 3), cout, cout, 3)
    for i in range(4):
        x, c = double(x, c, width << i), width << i
        skips.append(x)
        x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, c = double(x, c, width << 4), width << 4
    for i in reversed(range(4)):
        out = width << i
        x = n.op("ConvTranspose", x, n.draw("up_w", (c, out, 2, 2), 1 / math.sqrt(c)), n.draw("up_b", (out,), 0.1), kernel_shape=[2, 2], strides=[2, 2])
        x, c = double(n.op("Concat", skips[i], x, axis=1), 2 * out, out), out
    n.output(n.conv(x, c, 2, 1, bias=True))


def mlp_mixer(n, layers=12, width=768, side=224, classes=1000):
    x = n.conv(n.input("pixels", [n.batch, 3, side, side]), 3, width, 16, 16, bias=True, pad=0)
    tokens = (side // 16) ** 2
    x = n.op("Transpose", n.op("Reshape", x, n.ints(n.batch, width, tokens)), perm=[0, 2, 1])
    for _ in range(layers):
        y = n.op("Transpose", n.ln(x, width), perm=[0, 2, 1])
        y = n.linear(n.gelu(n.linear(y, tokens, width // 2)), width // 2, tokens)
        x = n.op("Add", n.op("Transpose", y, perm=[0, 2, 1]), x)
        x = n.op("Add", x, n.linear(n.gelu(n.linear(n.ln(x, width), width, 4 * width)), 4 * width, width))
    n.output(n.gemm(n.op("ReduceMean", n.ln(x, width), axes=[1], keepdims=0), width, classes))


def mi_lstm(n, steps=8, width=512):
    """LSTM whose gates multiply: alpha * Wx * Uh + beta1 * Wx + beta2 * Uh + b, a step after the other."""
    xs = n.input("sequence", [steps, n.batch, width])
    h, c = n.input("h0", [n.batch, width]), n.input("c0", [n.batch, width])
    w, u = n.draw("W", (width, 4 * width), 1 / math.sqrt(width)), n.draw("U", (width, 4 * width), 1 / math.sqrt(width))
    alpha, b1, b2, b = (n.draw(s, (4 * width,), 0.2, m) for s, m in [("alpha", 1), ("beta1", 0.5), ("beta2", 0.5), ("bias", 0)])
    for t in range(steps):
        x = n.op("Gather", xs, n.const(np.int64(t)), axis=0)
        wx, uh = n.op("MatMul", x, w), n.op("MatMul", h, u)
        s = n.op("Add", n.op("Mul", n.op("Mul", alpha, wx), uh), n.op("Mul", b1, wx))
        s = n.op("Add", n.op("Add", s, n.op("Mul", b2, uh)), b)
        i, f, g, o = n.op("Split", s, n.ints(*[width] * 4), outputs=4, axis=1)
        c = n.op("Add", n.op("Mul", n.op("Sigmoid", f), c), n.op("Mul", n.op("Sigmoid", i), n.op("Tanh", g)))
        h = n.op("Mul", n.op("Sigmoid", o), n.op("Tanh", c))
    n.output(h), n.output(c)


def build(name, size, weights=True, seed=1, batch=1):
    n = Net(seed, weights, batch)
    globals()[name.replace("-", "_")](n, **SIZES[name][size])
    m = n.model(name)
    if weights:
        m = onnx.shape_inference.infer_shapes(m)
    return m


def products(model):
    """Multiply-adds of its products and convolutions, from shapes alone."""
    m = onnx.shape_inference.infer_shapes(model)
    shape = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*m.graph.value_info, *m.graph.input, *m.graph.output]}
    shape.update({i.name: list(i.dims) for i in m.graph.initializer})
    total = 0
    for n in m.graph.node:
        if n.op_type in ("MatMul", "Gemm"):
            total += math.prod(shape[n.output[0]]) * shape[n.input[0]][-1]
        elif n.op_type == "Conv":
            total += math.prod(shape[n.output[0]]) * math.prod(shape[n.input[1]][1:])
        elif n.op_type == "ConvTranspose":  # of windows that do not overlap
            total += math.prod(shape[n.output[0]]) * shape[n.input[1]][0]
    return total


def write_structures(folder):
    """The full networks without their weights, and what they multiply."""
    rows = []
    for name in SIZES:
        m = build(name, "full", weights=False)
        onnx.save(m, f"{folder}/{name}.onnx")
        rows.append(f"{name} {products(m)}")
    with open(f"{folder}/products.txt", "w") as f:
        f.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    write_structures(sys.argv[1])
