#include "tune/learn/ridge.h"

#include <math.h>
#include <string.h>

ridge *ridge_new(tf_arena *a, int n) {
  ridge *r = TF_NEW(a, ridge);
  const size_t one = (size_t)n, all = one * one;
  if (!r) return NULL;
  *r = (ridge){.n = n,
               .a = TF_ARRAY(a, double, all),
               .b = TF_ARRAY(a, double, one),
               .root = TF_ARRAY(a, double, all),
               .w = TF_ARRAY(a, double, one)};
  return r->a && r->b && r->root && r->w ? r : NULL;
}

static double *cell(const ridge *r, double *of, int i, int j) {
  return &of[(size_t)i * (size_t)r->n + (size_t)j];
}

void ridge_begin(ridge *r, const double *penalty) {
  memset(r->a, 0, (size_t)r->n * (size_t)r->n * sizeof *r->a);
  memset(r->b, 0, (size_t)r->n * sizeof *r->b);
  for (int i = 0; i < r->n; i++)
    *cell(r, r->a, i, i) = penalty[i];
}

void ridge_copy(ridge *r, const ridge *from) {
  memcpy(r->a, from->a, (size_t)r->n * (size_t)r->n * sizeof *r->a);
  memcpy(r->b, from->b, (size_t)r->n * sizeof *r->b);
}

void ridge_add(ridge *r, const double *x, double y, double weight) {
  for (int i = 0; i < r->n; i++) {
    r->b[i] += weight * x[i] * y;
    for (int j = 0; j <= i; j++)
      *cell(r, r->a, i, j) += weight * x[i] * x[j];
  }
}

/* Cholesky: the lower triangle of a as root root'. */
static bool take_root(ridge *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = *cell(r, r->a, i, j);
      for (int k = 0; k < j; k++)
        sum -= *cell(r, r->root, i, k) * *cell(r, r->root, j, k);
      if (i == j && !(sum > 0 && isfinite(sum))) return false;
      *cell(r, r->root, i, j) = i == j ? sqrt(sum) : sum / *cell(r, r->root, j, j);
    }
  return true;
}

bool ridge_solve(ridge *r) {
  if (!take_root(r)) return false;
  for (int i = 0; i < r->n; i++) {
    double sum = r->b[i];
    for (int k = 0; k < i; k++)
      sum -= *cell(r, r->root, i, k) * r->w[k];
    r->w[i] = sum / *cell(r, r->root, i, i);
  }
  for (int i = r->n; i-- > 0;) {
    double sum = r->w[i];
    for (int k = i + 1; k < r->n; k++)
      sum -= *cell(r, r->root, k, i) * r->w[k];
    r->w[i] = sum / *cell(r, r->root, i, i);
  }
  return true;
}

double ridge_ask(const ridge *r, const double *x) {
  double sum = 0;
  for (int i = 0; i < r->n; i++)
    sum += r->w[i] * x[i];
  return sum;
}
