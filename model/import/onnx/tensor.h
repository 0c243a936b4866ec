/* Tensors that stand in the file. */
#ifndef MODEL_IMPORT_ONNX_TENSOR_H
#define MODEL_IMPORT_ONNX_TENSOR_H
#include "model/import/onnx/onnx.h"

/* The value of a tensor of the file: its shape, and its numbers where they are few and stand in the file itself. */
bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out);
#endif
