/* Tensors in the file. */
#include "model/import/onnx/tensor.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

/* Supported data types of onnx.proto, and their sizes in bytes. */
enum {
  T_FLOAT = 1,
  T_UINT8,
  T_INT8,
  T_UINT16,
  T_INT16,
  T_INT32,
  T_INT64,
  T_STRING,
  T_BOOL,
  T_HALF,
  T_DOUBLE,
  T_BFLOAT16 = 16
};
size_t ox_bytes_of(int type) {
  switch (type) {
  case T_UINT8:
  case T_INT8:
  case T_BOOL: return 1;
  case T_UINT16:
  case T_INT16:
  case T_HALF:
  case T_BFLOAT16: return 2;
  case T_FLOAT:
  case T_INT32: return 4;
  case T_INT64:
  case T_DOUBLE: return 8;
  default: return 0;
  }
}

static bool is_whole(int type) { return type != T_FLOAT && type != T_HALF && type != T_DOUBLE && type != T_BFLOAT16; }

static double half(unsigned bits) {
  const int sign = bits >> 15 ? -1 : 1, exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
  return (double)sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

double ox_element(int type, const uint8_t *p) {
  uint64_t bits = 0;
  for (size_t i = ox_bytes_of(type); i-- > 0;)
    bits = bits << 8 | p[i];
  float f;
  double d;
  const uint32_t low = (uint32_t)bits, high = (uint32_t)bits << 16;
  switch (type) {
  case T_FLOAT: return memcpy(&f, &low, sizeof f), (double)f;
  case T_BFLOAT16: return memcpy(&f, &high, sizeof f), (double)f;
  case T_DOUBLE: return memcpy(&d, &bits, sizeof d), d;
  case T_HALF: return half((unsigned)bits);
  case T_INT8: return (double)(int8_t)bits;
  case T_INT16: return (double)(int16_t)bits;
  case T_INT32: return (double)(int32_t)low;
  case T_INT64: return (double)(int64_t)bits;
  default: return (double)bits;
  }
}

bool ox_is_listed(const Onnx__TensorProto *t, int64_t n) {
  const int type = t->data_type;
  const size_t have = type == T_FLOAT    ? t->n_float_data
                      : type == T_INT64  ? t->n_int64_data
                      : type == T_DOUBLE ? t->n_double_data
                                         : t->n_int32_data;
  return have == (uint64_t)n;
}

double ox_listed(const Onnx__TensorProto *t, int64_t i) {
  const int type = t->data_type;
  return type == T_FLOAT    ? (double)t->float_data[i]
         : type == T_INT64  ? (double)t->int64_data[i]
         : type == T_DOUBLE ? t->double_data[i]
         : type == T_HALF   ? half((unsigned)t->int32_data[i] & 0xffff)
                            : (double)t->int32_data[i];
}

static bool has_numbers(const Onnx__TensorProto *t) {
  return (t->has_raw_data && t->raw_data.len) || t->n_float_data || t->n_int64_data || t->n_int32_data ||
         t->n_double_data;
}

const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n) {
  const size_t each = ox_bytes_of(t->data_type);
  const bool raw = t->has_raw_data && t->raw_data.len > 0;
  if (!each || t->data_location == 1 || !has_numbers(t)) return NULL; /* weights may have been removed from the file */
  if (raw ? t->raw_data.len != each * (size_t)n : !ox_is_listed(t, n)) {
    ox_fail(g, TF_E_SHAPE, "tensor '%.60s' has not the numbers that its shape asks for", t->name ? t->name : "");
    return NULL;
  }
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  for (int64_t i = 0; i < n && x; i++)
    x[i] = raw ? ox_element(t->data_type, t->raw_data.data + (size_t)i * each) : ox_listed(t, i);
  return x;
}

bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out) {
  int64_t n = 1;
  *out = (ox_value){.tensor = -1, .name = name, .whole = is_whole(t->data_type), .data = t};
  if (t->n_dims > OX_RANK) return ox_fail(g, TF_E_LIMIT, "tensor '%.60s' has more than %d axes", name, OX_RANK);
  for (size_t k = 0; k < t->n_dims; k++) {
    if (t->dims[k] < 0 || t->dims[k] > OX_MOST_EXTENT || !tf_mul(n, t->dims[k], &n))
      return ox_fail(g, TF_E_RANGE, "tensor '%.60s': an axis of %lld elements", name, (long long)t->dims[k]);
  }
  ox_whole(out, -1, (int)t->n_dims, t->dims);
  if (!ox_fits(g, out)) return false;
  out->empty = n == 0;
  if (n == 0 || n > OX_NUMBERS || t->data_location == 1 || !ox_bytes_of(t->data_type) || !has_numbers(t))
    return true; /* its shape is enough */
  out->number = ox_tensor_numbers(g, t, n);
  return out->number != NULL;
}
