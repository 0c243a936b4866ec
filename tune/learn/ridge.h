/* Ridge regression: weights w that make sum over features of penalty w^2 + sum over rows of weight
 * (x w - y)^2 least. Deterministic. */
#ifndef TUNE_LEARN_RIDGE_H
#define TUNE_LEARN_RIDGE_H
#include "base/arena.h"

typedef struct {
  int n;        /* features */
  double *a;    /* [n][n] the penalties, and the sum of weight x x' */
  double *b;    /* [n] the sum of weight x y */
  double *root; /* [n][n] a = root root', as of the last solution */
  double *w;    /* [n] the weights, as of the last solution */
} ridge;

ridge *ridge_new(tf_arena *a, int n); /* w is 0.  NULL: out of memory */
/* Forgets all rows; penalty: [n], each positive. */
void ridge_begin(ridge *r, const double *penalty);
/* As `from`, which has as many features. */
void ridge_copy(ridge *r, const ridge *from);
void ridge_add(ridge *r, const double *x, double y, double weight);
/* Finds w.  False, and w stays: the sums have no solution (one of them is not finite). */
bool ridge_solve(ridge *r);
double ridge_ask(const ridge *r, const double *x);
#endif
