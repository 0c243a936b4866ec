#include "tune/learn/trees.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_LEAST = 2 };
static const double rate = 0.3; /* learning rate */

trees *trees_new(tf_arena *a, int n_features) {
  trees *t = TF_NEW(a, trees);
  if (!t) return NULL;
  *t = (trees){.n_features = n_features, .tree = tf_arena_array(a, TREES_MOST, sizeof *t->tree)};
  return t->tree ? t : NULL;
}

static double ask_one(const trees_node *tree, const double *x) {
  int k = 0;
  while (tree[k].feature >= 0)
    k = 2 * k + (x[tree[k].feature] <= tree[k].threshold ? 1 : 2);
  return tree[k].value;
}

double trees_ask(const trees *t, const double *x) {
  double sum = t->mean;
  for (int k = 0; k < t->n_trees; k++)
    sum += rate * ask_one(t->tree[k], x);
  return sum;
}

/* One tree being grown.  Rows are in `row`; those of a node are contiguous. */
typedef struct {
  const trees *t;
  const double *x;
  const double *left_over; /* [n] the residuals */
  int *row, *scratch;
  trees_node *tree;
} grower;

typedef struct {
  int feature;
  double threshold, gain;
} cut;

static double x_of(const grower *g, int row, int f) {
  return g->x[(size_t)row * (size_t)g->t->n_features + (size_t)f];
}

/* Sorts by feature f of x, by insertion: rows are few, and equal ones keep their order. */
static void sort_by(const grower *g, int *row, int n, int f) {
  for (int i = 1; i < n; i++) {
    const int r = row[i];
    int k = i;
    for (; k > 0 && x_of(g, row[k - 1], f) > x_of(g, r, f); k--)
      row[k] = row[k - 1];
    row[k] = r;
  }
}

static double sum_of(const grower *g, const int *row, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += g->left_over[row[i]];
  return sum;
}

static cut best_cut(const grower *g, const int *row, int n) {
  const double all = sum_of(g, row, n), whole = all * all / n;
  cut best = {-1, 0, 1e-12};
  for (int f = 0; f < g->t->n_features; f++) {
    memcpy(g->scratch, row, (size_t)n * sizeof *row);
    sort_by(g, g->scratch, n, f);
    double left = 0;
    for (int i = 1; i < n; i++) {
      left += g->left_over[g->scratch[i - 1]];
      const double a = x_of(g, g->scratch[i - 1], f), b = x_of(g, g->scratch[i], f);
      if (a >= b || i < LEAF_LEAST || n - i < LEAF_LEAST) continue;
      const double gain = left * left / i + (all - left) * (all - left) / (n - i) - whole;
      if (gain > best.gain) best = (cut){f, a, gain};
    }
  }
  return best;
}

static void grow(const grower *g, int node, int *row, int n, int depth) {
  const cut c = depth < TREES_DEPTH && n >= 2 * LEAF_LEAST ? best_cut(g, row, n) : (cut){-1, 0, 0};
  g->tree[node] = (trees_node){c.feature, c.threshold, c.feature < 0 ? sum_of(g, row, n) / n : 0};
  if (c.feature < 0) return;
  sort_by(g, row, n, c.feature);
  int left = 0;
  while (left < n && x_of(g, row[left], c.feature) <= c.threshold)
    left++;
  grow(g, 2 * node + 1, row, left, depth + 1);
  grow(g, 2 * node + 2, row + left, n - left, depth + 1);
}

bool trees_learn(trees *t, int n, const double *x, const double *y) {
  t->n_trees = 0;
  t->mean = 0;
  if (n == 0) return true;
  int *row = malloc(2 * (size_t)n * sizeof *row);
  double *rest = malloc((size_t)n * sizeof *rest);
  for (int k = 0; row && rest && k < n; k++)
    t->mean += y[k] / n;
  while (row && rest && t->n_trees < TREES_MOST) {
    for (int k = 0; k < n; k++) {
      row[k] = k;
      rest[k] = y[k] - trees_ask(t, &x[(size_t)k * (size_t)t->n_features]);
    }
    const grower g = {t, x, rest, row, row + n, t->tree[t->n_trees]};
    grow(&g, 0, row, n, 0);
    t->n_trees++;
  }
  const bool ok = row && rest;
  free(row);
  free(rest);
  return ok;
}
