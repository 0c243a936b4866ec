/* Tensors in the file. */
#ifndef MODEL_IMPORT_ONNX_TENSOR_H
#define MODEL_IMPORT_ONNX_TENSOR_H
#include "model/import/onnx/onnx.h"

/* The value of a tensor of the file: its shape, and its values if they are few and inside the file. */
bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out);

/* ONNX's data types: number, name, bytes of an element in a file (0: not read), kind, bits that a number has (of the
 * significand where it is a float). */
typedef enum {
  OX_FLOAT_KIND,
  OX_COARSE_KIND,
  OX_SIGNED_KIND,
  OX_UNSIGNED_KIND,
  OX_BOOL_KIND,
  OX_OTHER_KIND
} ox_type_kind;
/* clang-format off */
#define OX_TYPES(X)                                                                                     \
  X(FLOAT, 1, "float32", 4, FLOAT, 24)         X(UINT8, 2, "uint8", 1, UNSIGNED, 8)                     \
  X(INT8, 3, "int8", 1, SIGNED, 8)             X(UINT16, 4, "uint16", 2, UNSIGNED, 16)                  \
  X(INT16, 5, "int16", 2, SIGNED, 16)          X(INT32, 6, "int32", 4, SIGNED, 32)                      \
  X(INT64, 7, "int64", 8, SIGNED, 64)          X(STRING, 8, "string", 0, OTHER, 0)                      \
  X(BOOL, 9, "bool", 1, BOOL, 1)               X(FLOAT16, 10, "float16", 2, FLOAT, 11)                  \
  X(DOUBLE, 11, "float64", 8, FLOAT, 53)       X(UINT32, 12, "uint32", 4, UNSIGNED, 32)                 \
  X(UINT64, 13, "uint64", 8, UNSIGNED, 64)     X(COMPLEX64, 14, "complex64", 0, OTHER, 0)               \
  X(COMPLEX128, 15, "complex128", 0, OTHER, 0) X(BFLOAT16, 16, "bfloat16", 2, FLOAT, 8)                 \
  X(FLOAT8E4M3FN, 17, "float8e4m3fn", 0, COARSE, 4) X(FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 0, COARSE, 4) \
  X(FLOAT8E5M2, 19, "float8e5m2", 0, COARSE, 3) X(FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 0, COARSE, 3)   \
  X(UINT4, 21, "uint4", 0, UNSIGNED, 4)        X(INT4, 22, "int4", 0, SIGNED, 4)                        \
  X(FLOAT4E2M1, 23, "float4e2m1", 0, COARSE, 2) X(FLOAT8E8M0, 24, "float8e8m0", 0, COARSE, 1)           \
  X(UINT2, 25, "uint2", 0, UNSIGNED, 2)        X(INT2, 26, "int2", 0, SIGNED, 2)
/* clang-format on */
enum {
#define X(name, number, text, bytes, kind, bits) OX_T_##name = number,
  OX_TYPES(X)
#undef X
};

const char *ox_type_name(int type);
ox_type_kind ox_type_kind_of(int type); /* of no known type: OX_OTHER_KIND */
int ox_type_bits(int type);
/* Bytes of an element; 0: an unsupported type. */
size_t ox_bytes_of(int type);
/* The number nearest to x that the type has, or what it keeps of a whole one; *ok: whether that is known here. */
double ox_as_type(double x, int type, bool *ok);
/* The element at p, in little-endian bytes. */
double ox_element(int type, const uint8_t *p);
/* Whether its n values are in typed fields; and the i-th of them. */
bool ox_is_listed(const Onnx__TensorProto *t, int64_t n);
double ox_listed(const Onnx__TensorProto *t, int64_t i);

/* Its n numbers, in the arena; NULL: it has none in this file, or an error was reported. */
const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n);
#endif
