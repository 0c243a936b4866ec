/* Gradient-boosted regression trees (Friedman, 2001): each tree fits the residuals of those before
 * it, by exact greedy splits.  For some hundred rows; deterministic. */
#ifndef TUNE_LEARN_TREES_H
#define TUNE_LEARN_TREES_H
#include "base/arena.h"

enum { TREES_MOST = 40, TREES_DEPTH = 4, TREES_NODES = 1 << (TREES_DEPTH + 1) };

typedef struct {
  int feature;      /* -1: a leaf */
  double threshold; /* rows with values <= threshold go left: node 2 k + 1, the others to 2 k + 2 */
  double value;     /* of a leaf */
} trees_node;

typedef struct {
  int n_features, n_trees;
  double mean;
  trees_node (*tree)[TREES_NODES]; /* [TREES_MOST] */
} trees;

trees *trees_new(tf_arena *a, int n_features); /* NULL: out of memory */
/* Fits n rows from scratch: x[k * n_features ..] has the value y[k].  False: out of memory. */
bool trees_learn(trees *t, int n, const double *x, const double *y);
double trees_ask(const trees *t, const double *x);
#endif
