"""The graph of one of our networks, as JSON that net.py reads where there is no onnx: nodes, shapes, how weights are drawn.

    python3 bench/cuda/net_case.py bert-base full FOLDER/graph.json [PLAN.json]

PLAN.json: of `tileflow plan --json`; what it expects of each group goes along.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "networks"))
import models


class Drawn(models.Net):
    """A network without weights, which notes what these would be."""

    noted, large = {}, {}

    def draw(self, name, shape, scale=1.0, around=0.0):
        name = super().draw(name, shape, scale, around)
        Drawn.noted[name] = {"shape": list(shape), "scale": float(scale), "around": float(around)}
        return name

    def positive(self, name, c):
        name = super().positive(name, c)
        Drawn.noted[name].update(scale=0.1, around=1.0)
        return name

    def const(self, array, name=None):
        array, name = np.asarray(array), super().const(array, name)
        if array.size <= models.FEW:
            return name
        if array.dtype == bool and np.array_equal(array, np.tril(np.ones(array.shape, bool))):
            Drawn.noted[name] = {"shape": list(array.shape), "lower": True}
        else:
            Drawn.large[name] = array
        return name


def value_of(a):
    v = onnx.helper.get_attribute_value(a)
    return v.decode() if isinstance(v, bytes) else list(v) if isinstance(v, (list, tuple)) or hasattr(v, "__len__") else v


def main():
    name, size, path = sys.argv[1:4]
    models.Net = Drawn
    graph = models.build(name, size, weights=False).graph
    kinds = onnx.TensorProto.DataType.Name
    case = {
        "name": name,
        "inputs": {i.name: {"shape": [d.dim_value for d in i.type.tensor_type.shape.dim], "type": kinds(i.type.tensor_type.elem_type)} for i in graph.input},
        "outputs": [o.name for o in graph.output],
        "drawn": Drawn.noted,
        "const": {},
        "nodes": [[n.op_type, list(n.input), list(n.output), {a.name: value_of(a) for a in n.attribute}] for n in graph.node],
    }
    for i in graph.initializer:
        if i.name not in Drawn.noted:
            array = Drawn.large[i.name] if i.name in Drawn.large else numpy_helper.to_array(i)
            case["const"][i.name] = {"type": str(array.dtype), "shape": list(array.shape), "values": array.flatten().tolist()}
    if len(sys.argv) > 4:
        plan = json.loads(pathlib.Path(sys.argv[4]).read_text())["groups"]
        case["expected"] = {str(i + 1): [f"{g['kernel_seconds'] * 1e6:.2f}", " ".join(g["ops"])] for i, g in enumerate(plan) if g["like"] == i}
    pathlib.Path(path).write_text(json.dumps(case))


main()
