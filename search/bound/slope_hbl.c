/* Discrete Brascamp-Lieb bound for coordinate projections (Finner; Christ et al. 2013): |V| <= prod
 * over tensors |proj V|^s * prod over dims extent^t, wherever for each dim the s of the tensors
 * that have it and its t add up to one or more.  Every choice of s bounds V; the least bound
 * counts. */
#include "search/bound/slope_hbl.h"

#include <math.h>

/* The largest product of (f / fiber)^s with sum f <= budget, f <= most: sets below their `most`
 * share the budget in proportion to s. */
static double most_product(const hbl_set *set, const double *s, int n, double budget) {
  bool full[HBL_MAX_SETS] = {false};
  double left = budget, share = 0, product = 0;
  for (int i = 0; i < n; i++)
    share += s[i];
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < n; i++) {
      if (full[i] || s[i] <= 0 || left * s[i] / share < set[i].most) continue;
      full[i] = more = true;
      left -= set[i].most;
      share -= s[i];
      if (share < 1e-9) share = 0;
    }
    if (share <= 0) break;
  }
  for (int i = 0; i < n; i++) {
    if (s[i] <= 0) continue;
    double f = full[i] ? set[i].most : left * s[i] / share;
    product += s[i] * log(f / set[i].fiber);
  }
  return product;
}

static double bound_of(const hbl_set *set, const double *s, int n, const int64_t *extents,
                       int n_dims, double budget) {
  double points = most_product(set, s, n, budget);
  for (int d = 0; d < n_dims; d++) {
    double covered = 0;
    for (int i = 0; i < n; i++)
      if (set[i].dims >> d & 1) covered += s[i];
    if (covered < 1) points += (1 - covered) * log((double)extents[d]);
  }
  return points;
}

double hbl_points(const hbl_set *set, int n, const int64_t *extents, int n_dims, double budget) {
  static const double values[] = {0, 1.0 / 3, 0.5, 2.0 / 3, 1};
  enum { N_VALUES = sizeof values / sizeof values[0] };
  int choice[HBL_MAX_SETS] = {0};
  double best = INFINITY;
  for (;;) {
    double s[HBL_MAX_SETS] = {0}, points;
    for (int i = 0; i < n; i++)
      s[i] = values[choice[i]];
    points = bound_of(set, s, n, extents, n_dims, budget);
    best = points < best ? points : best;
    int i = 0;
    while (i < n && ++choice[i] == N_VALUES)
      choice[i++] = 0;
    if (i == n) return exp(best) * (1 + 1e-9); /* covers the rounding of logarithms */
  }
}
