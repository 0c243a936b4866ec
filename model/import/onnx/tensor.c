/* Tensors in the file. */
#include "model/import/onnx/onnx.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

typedef struct {
  const char *name;
  size_t bytes;
  ox_type_kind kind;
  int bits;
} type_row;

static const type_row *row_of(int type) {
  static const type_row rows[] = {[0] = {"an unknown type", 0, OX_OTHER_KIND, 0},
#define X(name, number, text, bytes, kind, bits) [number] = {text, bytes, OX_##kind##_KIND, bits},
                                  OX_TYPES(X)
#undef X
  };
  return &rows[type > 0 && type < (int)(sizeof rows / sizeof *rows) ? type : 0];
}

const char *ox_type_name(int type) { return row_of(type)->name; }
ox_type_kind ox_type_kind_of(int type) { return row_of(type)->kind; }
int ox_type_bits(int type) { return row_of(type)->bits; }
size_t ox_bytes_of(int type) { return row_of(type)->bytes; }

bool ox_is_integer(int type) {
  const ox_type_kind kind = ox_type_kind_of(type);
  return kind == OX_SIGNED_KIND || kind == OX_UNSIGNED_KIND || kind == OX_BOOL_KIND;
}

static double half(unsigned bits) {
  const int sign = bits >> 15 ? -1 : 1, exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
  return (double)sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* ---- numbers as a type has them ------------------------------------------------------------------------------- */

/* To `bits` significant ones, ties to even; none below 2^least. */
static double to_bits(double x, int bits, int least) {
  int exponent;
  if (x == 0 || !isfinite(x)) return x;
  frexp(x, &exponent);
  const int last = exponent - bits < least ? least : exponent - bits;
  return ldexp(nearbyint(ldexp(x, -last)), last);
}

static double to_half(double x) {
  const double y = to_bits(x, 11, -24);
  return fabs(y) > 65504 ? copysign((double)INFINITY, x) : y;
}

/* What a type of so many bits keeps of a whole number: the rest is lost. */
static double wrapped(double x, int bits, bool sign) {
  const double span = ldexp(1, bits), kept = x - span * floor(x / span);
  return sign && kept >= span / 2 ? kept - span : kept;
}

double ox_as_type(double x, int type, bool *ok) {
  enum { EXACT = 53 };
  const int bits = ox_type_bits(type);
  *ok = true;
  if (type == OX_T_FLOAT) return (double)(float)x;
  if (type == OX_T_DOUBLE) return x;
  if (type == OX_T_FLOAT16) return to_half(x);
  if (type == OX_T_BFLOAT16) return (double)(float)to_bits(x, 8, -133);
  if (type == OX_T_BOOL) return x != 0;
  *ok = ox_is_integer(type) && isfinite(x);
  if (!*ok) return x;
  const bool sign = ox_type_kind_of(type) == OX_SIGNED_KIND;
  if (bits < EXACT) return wrapped(trunc(x), bits, sign);
  *ok = sign || x > -1; /* ends of slices are beyond what a double holds exactly, and no more than that */
  return trunc(x);
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

double ox_element(int type, const uint8_t *p) {
  uint64_t bits = 0;
  for (size_t i = ox_bytes_of(type); i-- > 0;)
    bits = bits << 8 | p[i];
  float f;
  double d;
  const uint32_t low = (uint32_t)bits, high = (uint32_t)bits << 16;
  switch (type) {
  case OX_T_FLOAT: return memcpy(&f, &low, sizeof f), (double)f;
  case OX_T_BFLOAT16: return memcpy(&f, &high, sizeof f), (double)f;
  case OX_T_DOUBLE: return memcpy(&d, &bits, sizeof d), d;
  case OX_T_FLOAT16: return half((unsigned)bits);
  case OX_T_INT8: return (double)(int8_t)bits;
  case OX_T_INT16: return (double)(int16_t)bits;
  case OX_T_INT32: return (double)(int32_t)low;
  case OX_T_INT64: return (double)(int64_t)bits;
  default: return (double)bits;
  }
}

/* Stands in uint64_data. */
static bool is_long(int type) { return type == OX_T_UINT32 || type == OX_T_UINT64; }

bool ox_is_listed(const Onnx__TensorProto *t, int64_t n) {
  const int type = t->data_type;
  const size_t have = type == OX_T_FLOAT    ? t->n_float_data
                      : type == OX_T_INT64  ? t->n_int64_data
                      : type == OX_T_DOUBLE ? t->n_double_data
                      : is_long(type)       ? t->n_uint64_data
                                            : t->n_int32_data;
  return have == (uint64_t)n;
}

double ox_listed(const Onnx__TensorProto *t, int64_t i) {
  const int type = t->data_type;
  if (type == OX_T_FLOAT) return (double)t->float_data[i];
  if (type == OX_T_INT64) return (double)t->int64_data[i];
  if (type == OX_T_DOUBLE) return t->double_data[i];
  if (is_long(type)) return (double)t->uint64_data[i];
  const int32_t x = t->int32_data[i];
  const uint8_t bits[] = {(uint8_t)((uint32_t)x & 255), (uint8_t)((uint32_t)x >> 8 & 255)};
  return type == OX_T_FLOAT16 || type == OX_T_BFLOAT16 ? ox_element(type, bits) : (double)x;
}

static bool has_numbers(const ox_net *g, const Onnx__TensorProto *t) {
  size_t n;
  return ox_raw(g, t, &n) || t->n_float_data || t->n_int64_data || t->n_int32_data || t->n_double_data ||
         t->n_uint64_data;
}

const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n) {
  const size_t each = ox_bytes_of(t->data_type);
  size_t len;
  const uint8_t *raw = ox_raw(g, t, &len);
  if (!each || t->data_location == 1 || !has_numbers(g, t))
    return NULL; /* weights may have been removed from the file */
  if (raw ? len != each * (size_t)n : !ox_is_listed(t, n)) {
    ox_fail(g, TF_E_SHAPE, "tensor '%.60s' has not the numbers that its shape asks for", t->name ? t->name : "");
    return NULL;
  }
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  for (int64_t i = 0; i < n && x; i++)
    x[i] = raw ? ox_element(t->data_type, raw + (size_t)i * each) : ox_listed(t, i);
  return x;
}

bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out) {
  int64_t n = 1;
  *out = (ox_value){.tensor = -1, .name = name, .type = t->data_type, .data = t};
  if (t->n_dims > OX_RANK) return ox_fail(g, TF_E_LIMIT, "tensor '%.60s' has more than %d axes", name, OX_RANK);
  for (size_t k = 0; k < t->n_dims; k++) {
    if (t->dims[k] < 0 || t->dims[k] > OX_MOST_EXTENT || !tf_mul(n, t->dims[k], &n))
      return ox_fail(g, TF_E_RANGE, "tensor '%.60s': an axis of %lld elements", name, (long long)t->dims[k]);
  }
  ox_whole(out, -1, (int)t->n_dims, t->dims);
  if (!ox_fits(g, out)) return false;
  out->empty = n == 0;
  if (n == 0 || n > OX_NUMBERS || t->data_location == 1 || !ox_bytes_of(t->data_type) || !has_numbers(g, t))
    return true; /* its shape is enough */
  out->number = ox_tensor_numbers(g, t, n);
  return out->number != NULL;
}

/* ---- numbers of a node's inputs and results --------------------------------------------------------------------- */

double *ox_numbers_room(ox_net *g, int64_t n) {
  if (n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded) return NULL;
  g->folded += n;
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  return x;
}

int64_t *ox_places_room(ox_net *g, int64_t n) {
  if (n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded)
    return (void)ox_fail(g, TF_E_LIMIT, "a table of more than %d numbers, or more than %d in all", OX_FOLDED,
                         OX_FOLDED_IN_ALL),
           NULL;
  int64_t *x = TF_ARRAY(g->arena, int64_t, (size_t)n + 1);
  g->folded += n;
  g->oom |= !x;
  return x;
}

const ox_value *ox_known_at(ox_net *g, size_t k) {
  const ox_value *v = ox_has(g, k) ? ox_find(g, g->node->input[k]) : NULL;
  return v && v->number && !v->bad ? v : NULL;
}

const ox_value *ox_read_at(ox_net *g, size_t k) {
  ox_value *v = ox_has(g, k) ? ox_find(g, g->node->input[k]) : NULL;
  if (!v || v->bad || v->number) return v && !v->bad ? v : NULL;
  const Onnx__TensorProto *t = v->tensor < 0 ? v->data : ox_is_whole(g, v) ? g->tensor[v->tensor].source.data : NULL;
  const int64_t n = ox_size(v);
  if (!t || n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded) return NULL;
  v->number = ox_tensor_numbers(g, t, n);
  if (v->number) g->folded += n;
  return v->number ? v : NULL;
}
