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
  const int sign = bits >> 15 ? -1 : 1, exponent = (int)(bits >> 10 & 31),
            fraction = (int)(bits & 1023);
  if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
  return (double)sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* ---- numbers as a type has them ------------------------------------------------------------- */

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
  *ok = sign ||
        x > -1; /* ends of slices are beyond what a double holds exactly, and no more than that */
  return trunc(x);
}

/* ---- elements ------------------------------------------------------------------------------- */

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

/* The typed field in which numbers of the type stand. */
static unsigned list_of(int type) {
  return type == OX_T_FLOAT                           ? OX_FLOATS
         : type == OX_T_INT64                         ? OX_INT64S
         : type == OX_T_DOUBLE                        ? OX_DOUBLES
         : type == OX_T_UINT32 || type == OX_T_UINT64 ? OX_UINT64S
                                                      : OX_INT32S;
}

/* How many numbers of the list the reader of messages took. */
static size_t listed(const Onnx__TensorProto *t, unsigned list) {
  return list == OX_FLOATS    ? t->n_float_data
         : list == OX_INT64S  ? t->n_int64_data
         : list == OX_DOUBLES ? t->n_double_data
         : list == OX_UINT64S ? t->n_uint64_data
                              : t->n_int32_data;
}

static double listed_at(const Onnx__TensorProto *t, unsigned list, int64_t i) {
  return list == OX_FLOATS    ? (double)t->float_data[i]
         : list == OX_INT64S  ? (double)t->int64_data[i]
         : list == OX_DOUBLES ? t->double_data[i]
         : list == OX_UINT64S ? (double)t->uint64_data[i]
                              : (double)t->int32_data[i];
}

/* Whether the bytes are n numbers, each of 7 bits a byte, the last of which has no eighth bit. */
static bool are_packed(const uint8_t *p, size_t len, int64_t n) {
  enum { LONGEST = 10 };
  int64_t many = 0;
  int run = 0;
  for (size_t i = 0; i < len && run < LONGEST; i++) {
    run = p[i] & 128 ? run + 1 : 0;
    many += !run;
  }
  return run == 0 && many == n;
}

static uint64_t next_packed(ox_reading *x) {
  uint64_t bits = 0;
  for (int shift = 0; x->cursor < x->end; shift += 7) {
    const uint8_t byte = *x->cursor++;
    bits |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) break;
  }
  return bits;
}

bool ox_has_numbers(const ox_net *g, const Onnx__TensorProto *t) {
  static const unsigned fields[] = {OX_RAW,    OX_FLOATS,  OX_INT32S,
                                    OX_INT64S, OX_DOUBLES, OX_UINT64S};
  bool has = false;
  size_t n;
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    has |= ox_piece(g, t, fields[k], &n) || (k && listed(t, fields[k]));
  return has;
}

bool ox_open_numbers(const ox_net *g, const Onnx__TensorProto *t, int64_t n, ox_reading *out) {
  const size_t each = ox_bytes_of(t->data_type);
  const unsigned list = list_of(t->data_type);
  size_t len;
  *out = (ox_reading){.t = t, .raw = ox_piece(g, t, OX_RAW, &len)};
  if (!out->raw && (list == OX_FLOATS || list == OX_DOUBLES)) out->raw = ox_piece(g, t, list, &len);
  if (out->raw) return each && len % each == 0 && len / each == (uint64_t)n;
  out->cursor = ox_piece(g, t, list, &len);
  out->end = out->cursor ? out->cursor + len : NULL;
  return out->cursor ? are_packed(out->cursor, len, n) : listed(t, list) == (uint64_t)n;
}

double ox_next_number(ox_reading *x) {
  const int type = x->t->data_type;
  const unsigned list = list_of(type);
  const int64_t i = x->next++;
  if (x->raw) return ox_element(type, x->raw + (size_t)i * ox_bytes_of(type));
  const uint64_t bits = x->cursor ? next_packed(x) : 0;
  const double number = !x->cursor           ? listed_at(x->t, list, i)
                        : list == OX_INT64S  ? (double)(int64_t)bits
                        : list == OX_UINT64S ? (double)bits
                                             : (double)(int32_t)(uint32_t)bits;
  if (type != OX_T_FLOAT16 && type != OX_T_BFLOAT16) return number;
  const uint32_t half_bits = (uint32_t)(int32_t)number;
  return ox_element(type,
                    (const uint8_t[]){(uint8_t)(half_bits & 255), (uint8_t)(half_bits >> 8 & 255)});
}

const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n) {
  ox_reading from;
  if (!ox_bytes_of(t->data_type) || t->data_location == 1 || !ox_has_numbers(g, t))
    return NULL; /* weights may have been removed from the file */
  if (!ox_open_numbers(g, t, n, &from)) {
    ox_fail(g, TF_E_SHAPE, "tensor '%.60s' has not the numbers that its shape asks for",
            t->name ? t->name : "");
    return NULL;
  }
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  for (int64_t i = 0; i < n && x; i++)
    x[i] = ox_next_number(&from);
  return x;
}

bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out) {
  int64_t n = 1;
  *out = (ox_value){.tensor = -1, .name = name, .type = t->data_type, .data = t};
  if (t->n_dims > OX_RANK)
    return ox_fail(g, TF_E_LIMIT, "tensor '%.60s' has more than %d axes", name, OX_RANK);
  for (size_t k = 0; k < t->n_dims; k++) {
    if (t->dims[k] < 0 || t->dims[k] > OX_MOST_EXTENT || !tf_mul(n, t->dims[k], &n))
      return ox_fail(g, TF_E_RANGE, "tensor '%.60s': an axis of %lld elements", name,
                     (long long)t->dims[k]);
  }
  ox_whole(out, -1, (int)t->n_dims, t->dims);
  if (!ox_fits(g, out)) return false;
  out->empty = n == 0;
  if (n == 0 || n > OX_NUMBERS || t->data_location == 1 || !ox_bytes_of(t->data_type) ||
      !ox_has_numbers(g, t))
    return true; /* its shape is enough */
  out->number = ox_tensor_numbers(g, t, n);
  return out->number != NULL;
}

/* ---- numbers of a node's inputs and results ------------------------------------------------- */

double *ox_numbers_room(ox_net *g, int64_t n) {
  if (n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded) return NULL;
  g->folded += n;
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  return x;
}

int64_t *ox_places_room(ox_net *g, int64_t n) {
  if (n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded)
    return (void)ox_fail(g, TF_E_LIMIT, "a table of more than %d numbers, or more than %d in all",
                         OX_FOLDED, OX_FOLDED_IN_ALL),
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
  const Onnx__TensorProto *t = v->tensor < 0       ? v->data
                               : ox_is_whole(g, v) ? g->tensor[v->tensor].source.data
                                                   : NULL;
  const int64_t n = ox_size(v);
  if (!t || n > OX_FOLDED || n > OX_FOLDED_IN_ALL - g->folded) return NULL;
  v->number = ox_tensor_numbers(g, t, n);
  if (v->number) g->folded += n;
  return v->number ? v : NULL;
}
