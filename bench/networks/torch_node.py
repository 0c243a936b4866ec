"""A node of an ONNX graph in PyTorch: a call a node, as a user who writes the model writes it."""


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
