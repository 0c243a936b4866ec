/* A barrier method: Newton's method with line search on weight * y0 - sum log(-log(sum)) - sum
 * log(distance to a bound). */
#include "search/closed/gp.h"

#include <math.h>
#include <string.h>

void tf_gp_init(tf_gp *g, int n_vars) {
  g->n_vars = n_vars;
  g->n_sums = g->n_terms = 0;
  g->first[0] = 0;
}

bool tf_gp_sum(tf_gp *g) {
  if (g->n_sums == TF_GP_SUMS) return false;
  g->n_sums++;
  g->first[g->n_sums] = g->n_terms;
  return true;
}

bool tf_gp_add(tf_gp *g, const tf_gp_term *t) {
  if (g->n_terms == TF_GP_TERMS) return false;
  g->terms[g->n_terms++] = *t;
  g->first[g->n_sums] = g->n_terms;
  return true;
}

void tf_gp_times(tf_gp_term *t, int var, double power) {
  for (int i = 0; i < t->n; i++)
    if (t->var[i] == var) {
      t->power[i] += power;
      return;
    }
  t->var[t->n] = var;
  t->power[t->n++] = power;
}

typedef struct {
  const tf_gp *g;
  double weight;
  double gradient[TF_GP_VARS], hessian[TF_GP_VARS][TF_GP_VARS];
} newton;

static double exponent(const tf_gp_term *t, const double *y) {
  double e = t->log_coef;
  for (int i = 0; i < t->n; i++)
    e += t->power[i] * y[t->var[i]];
  return e;
}

/* The log of sum i. */
static double log_sum(const tf_gp *g, int i, const double *y, double *share) {
  double most = -INFINITY, all = 0;
  int n = g->first[i + 1] - g->first[i];
  for (int k = 0; k < n; k++) {
    share[k] = exponent(&g->terms[g->first[i] + k], y);
    most = fmax(most, share[k]);
  }
  for (int k = 0; k < n; k++) {
    share[k] = exp(share[k] - most);
    all += share[k];
  }
  for (int k = 0; k < n; k++)
    share[k] /= all;
  return most + log(all);
}

/* The barrier's value; INFINITY outside the feasible region. */
static double barrier(const newton *w, const double *y) {
  double share[TF_GP_TERMS], f = w->weight * y[0];
  for (int v = 1; v < w->g->n_vars; v++) {
    double below = y[v] - w->g->lo[v], above = w->g->hi[v] - y[v];
    if (below <= 0 || above <= 0) return INFINITY;
    f -= log(below) + log(above);
  }
  for (int i = 0; i < w->g->n_sums; i++) {
    double p = log_sum(w->g, i, y, share);
    if (!(p < 0)) return INFINITY;
    f -= log(-p);
  }
  return f;
}

static void add_bounds(newton *w, const double *y) {
  for (int v = 1; v < w->g->n_vars; v++) {
    double below = y[v] - w->g->lo[v], above = w->g->hi[v] - y[v];
    w->gradient[v] += 1 / above - 1 / below;
    w->hessian[v][v] += 1 / (above * above) + 1 / (below * below);
  }
}

/* Adds -log(-P), P the log of a sum: gradient P' / -P, Hessian P'' / -P + P' P'^T / P^2. */
static void add_sum(newton *w, int i, const double *y) {
  const tf_gp *g = w->g;
  double share[TF_GP_TERMS], slope[TF_GP_VARS] = {0}, p = log_sum(g, i, y, share);
  int used[TF_GP_VARS], n_used = 0;
  bool seen[TF_GP_VARS] = {false};
  for (int k = g->first[i]; k < g->first[i + 1]; k++) {
    const tf_gp_term *t = &g->terms[k];
    double q = share[k - g->first[i]];
    for (int a = 0; a < t->n; a++) {
      if (!seen[t->var[a]]) used[n_used++] = t->var[a];
      seen[t->var[a]] = true;
      slope[t->var[a]] += q * t->power[a];
      for (int b = 0; b < t->n; b++)
        w->hessian[t->var[a]][t->var[b]] += q * t->power[a] * t->power[b] / -p;
    }
  }
  for (int a = 0; a < n_used; a++) {
    w->gradient[used[a]] += slope[used[a]] / -p;
    for (int b = 0; b < n_used; b++)
      w->hessian[used[a]][used[b]] += slope[used[a]] * slope[used[b]] * (1 / (p * p) + 1 / p);
  }
}

/* Solves hessian * step = -gradient; false if the Hessian is not positive definite. */
static bool solve(newton *w, double *step) {
  int n = w->g->n_vars;
  double(*h)[TF_GP_VARS] = w->hessian;
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++)
      h[j][j] -= h[j][k] * h[j][k];
    if (!(h[j][j] > 0)) return false;
    h[j][j] = sqrt(h[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++)
        h[i][j] -= h[i][k] * h[j][k];
      h[i][j] /= h[j][j];
    }
  }
  for (int i = 0; i < n; i++) {
    step[i] = -w->gradient[i];
    for (int k = 0; k < i; k++)
      step[i] -= h[i][k] * step[k];
    step[i] /= h[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      step[i] -= h[k][i] * step[k];
    step[i] /= h[i][i];
  }
  return true;
}

/* One Newton step with backtracking; false when it has converged. */
static bool descend(newton *w, double *y) {
  int n = w->g->n_vars;
  double step[TF_GP_VARS], slope = 0, at = barrier(w, y), next[TF_GP_VARS];
  memset(w->gradient, 0, sizeof w->gradient);
  for (int i = 0; i < n; i++)
    memset(w->hessian[i], 0, (size_t)n * sizeof w->hessian[i][0]);
  w->gradient[0] = w->weight;
  add_bounds(w, y);
  for (int i = 0; i < w->g->n_sums; i++)
    add_sum(w, i, y);
  for (int i = 0; i < n; i++)
    w->hessian[i][i] += 1e-12;
  if (!solve(w, step)) return false;
  for (int i = 0; i < n; i++)
    slope += w->gradient[i] * step[i];
  if (slope > -1e-6) return false;
  double t = 1;
  for (int halved = 0; halved < 34; halved++, t /= 2) {
    for (int i = 0; i < n; i++)
      next[i] = y[i] + t * step[i];
    if (barrier(w, next) > at + 0.1 * t * slope) continue;
    memcpy(y, next, (size_t)n * sizeof *y);
    return true;
  }
  return false;
}

/* Makes x[0] feasible: slightly above the least value that the other start values allow. */
static void lift(const tf_gp *g, double *y) {
  double share[TF_GP_TERMS];
  y[0] = 0;
  double most = -INFINITY;
  for (int i = 0; i < g->n_sums; i++) {
    const tf_gp_term *t = &g->terms[g->first[i]];
    for (int k = 0; k < t->n; k++)
      if (t->var[k] == 0) most = fmax(most, log_sum(g, i, y, share) / -t->power[k]);
  }
  y[0] = most + 1;
}

bool tf_gp_solve(const tf_gp *g, const double *start, double gap, double *y) {
  newton w = {.g = g};
  double n = g->n_sums + 2.0 * (g->n_vars - 1), last = n / log1p(gap);
  memcpy(y, start, (size_t)g->n_vars * sizeof *y);
  lift(g, y);
  w.weight = fmin(n, last);
  if (!isfinite(y[0]) || isinf(barrier(&w, y))) return false;
  for (;; w.weight = fmin(w.weight * 30, last)) {
    for (int i = 0; i < 60 && descend(&w, y); i++) {
    }
    if (w.weight >= last) return true;
  }
}
