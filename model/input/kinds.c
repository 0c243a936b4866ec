/* Op kinds: names, arities, values. */
#include "model/input/kinds.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *key;
  int arity;
} kinds[TF_N_KINDS] = {
#define X(id, key) [TF_K_##id] = {key, 1},
    TF_KINDS(X)
#undef X
};

const char *tf_kind_key(tf_kind kind) { return kinds[kind].key; }

int tf_kind_find(const char *text, size_t len) {
  for (int i = 0; i < TF_K_LT; i++)
    if (strlen(kinds[i].key) == len && memcmp(kinds[i].key, text, len) == 0) return i;
  return -1;
}

int tf_kind_arity(tf_kind kind) {
  switch (kind) {
  case TF_K_MAC:
  case TF_K_ADD:
  case TF_K_SUB:
  case TF_K_MUL:
  case TF_K_DIV:
  case TF_K_NEG:
  case TF_K_LT:
  case TF_K_LE:
  case TF_K_EQ:
  case TF_K_NE:
  case TF_K_COPY: return 0;
  case TF_K_MAX:
  case TF_K_MIN:
  case TF_K_FMOD: return 2;
  case TF_K_SELECT: return 3;
  default: return kinds[kind].arity;
  }
}

double tf_kind_apply(tf_kind kind, const double *a) {
  switch (kind) {
  case TF_K_ADD: return a[0] + a[1];
  case TF_K_SUB: return a[0] - a[1];
  case TF_K_MUL: return a[0] * a[1];
  case TF_K_DIV: return a[0] / a[1];
  case TF_K_MAX: return fmax(a[0], a[1]);
  case TF_K_MIN: return fmin(a[0], a[1]);
  case TF_K_NEG: return -a[0];
  case TF_K_EXP: return exp(a[0]);
  case TF_K_LOG: return log(a[0]);
  case TF_K_SQRT: return sqrt(a[0]);
  case TF_K_TANH: return tanh(a[0]);
  case TF_K_ERF: return erf(a[0]);
  case TF_K_SIGMOID: return 1 / (1 + exp(-a[0]));
  case TF_K_RELU: return a[0] > 0 ? a[0] : 0;
  case TF_K_GELU:
    return 0.5 * a[0] * (1 + erf(a[0] * 0.70710678118654752440)); /* the root of a half */
  case TF_K_SILU: return a[0] / (1 + exp(-a[0]));
  case TF_K_ABS: return fabs(a[0]);
  case TF_K_FLOOR: return floor(a[0]);
  case TF_K_CEIL: return ceil(a[0]);
  case TF_K_ROUND: return rint(a[0]); /* of two alike the even */
  case TF_K_TRUNC: return trunc(a[0]);
  case TF_K_SIN: return sin(a[0]);
  case TF_K_COS: return cos(a[0]);
  case TF_K_FMOD: return fmod(a[0], a[1]);
  case TF_K_SELECT: return a[0] != 0 ? a[1] : a[2];
  case TF_K_LT: return a[0] < a[1];
  case TF_K_LE: return a[0] <= a[1];
  case TF_K_EQ: return a[0] == a[1];
  case TF_K_NE: return a[0] != a[1];
  case TF_K_COPY: /* runs on units, evaluates nothing */
  case TF_K_MAC:
  case TF_N_KINDS: break;
  }
  return a[0];
}
