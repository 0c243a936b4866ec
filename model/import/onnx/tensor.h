/* Tensors in the file. */
#ifndef MODEL_IMPORT_ONNX_TENSOR_H
#define MODEL_IMPORT_ONNX_TENSOR_H
#include "model/import/onnx/onnx.h"

/* The value of a tensor of the file: its shape, and its values if they are few and inside the file. */
bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out);

/* Bytes of an element; 0: an unsupported type. */
size_t ox_bytes_of(int type);
/* The element at p, in little-endian bytes. */
double ox_element(int type, const uint8_t *p);
/* Whether its n values are in typed fields; and the i-th of them. */
bool ox_is_listed(const Onnx__TensorProto *t, int64_t n);
double ox_listed(const Onnx__TensorProto *t, int64_t i);

/* Its n numbers, in the arena; NULL: it has none in this file, or an error was reported. */
const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n);
#endif
