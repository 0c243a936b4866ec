"""Networks of models.py as onnxruntime's own static quantiser writes them, from random data: uint8 between ops, int8 weights of 7 bits
(`reduce_range`, so that its sums of pairs do not saturate on processors without VNNI, as its documentation asks).

FORMS: QDQ (floats between QuantizeLinear and DequantizeLinear) or QOperator (QLinearConv and its like), a scale for each tensor (t) or
for each channel of the weights (c)."""
import pathlib

import numpy as np
import onnx

import models

FORMS = ("qdq-t", "qdq-c", "qop-t", "qop-c")


def build(name, size, form, folder, batch=1):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = models.build(name, size, batch=batch)
    folder = pathlib.Path(folder)
    plain, folded, done = (str(folder / f"{part}.onnx") for part in ("plain", "folded", "quantised"))
    onnx.save(model, plain)
    quant_pre_process(plain, folded, skip_symbolic_shape=True)

    class Reader(CalibrationDataReader):
        def __init__(self):
            rng = np.random.default_rng(1)
            self.left = iter([{i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
                               for i in model.graph.input} for _ in range(2)])

        def get_next(self):
            return next(self.left, None)

    quantize_static(folded, done, Reader(), quant_format=QuantFormat.QDQ if form[:3] == "qdq" else QuantFormat.QOperator, per_channel=form[-1] == "c",
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, reduce_range=True)
    return onnx.load(done)
