/* Weighted sums and geometric means over workloads; the Pareto front. */
#include "sweep/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sweep/point.h"

/* ---- exact sums, rounded once --------------------------------------------------------------- */
/* A value and its rounding error; 0 where the value is not finite (T. J. Dekker 1971; D. E. Knuth,
 * TAOCP 2, 4.2.2). */
typedef struct {
  double high, low;
} pair;

static pair plus(pair a, double b) {
  double sum = a.high + b, back = sum - a.high;
  if (!isfinite(sum)) return (pair){sum, 0};
  double lost = (a.high - (sum - back)) + (b - back);
  return (pair){sum, a.low + lost};
}

static pair plus_product(pair a, double x, double y) {
  double product = x * y;
  a = plus(a, product);
  return isfinite(product) ? plus(a, fma(x, y, -product)) : a;
}

/* ---- scores --------------------------------------------------------------------------------- */
/* The mapping of one workload with the best objective; -1: none is legal. */
static int64_t best_of(const tf_sweep_grid *g, const sweep_jobs *w, int64_t from, int64_t to) {
  int goal = (int)sweep_mapped_goal(g);
  int64_t best = -1;
  for (int64_t i = from; i < to; i++)
    if (w->state[i] == 1 + TF_POINT_FOUND &&
        (best < 0 || w->figures[i][goal] < w->figures[best][goal]))
      best = i;
  return best;
}

typedef struct {
  pair sum[TF_N_GOALS];
  double weight;
} total;

static void add_weighted(const tf_sweep_grid *g, total *t, const double *v, double weight) {
  for (int k = 0; k < TF_GOAL_AREA; k++) {
    double x = v ? (g->geometric ? log(v[k]) : v[k]) : NAN;
    t->sum[k] = plus_product(t->sum[k], weight, x);
  }
  t->weight += weight;
}

static void finish(const tf_sweep_grid *g, const total *t, double *out) {
  for (int k = 0; k < TF_GOAL_AREA; k++) {
    double sum = t->sum[k].high + t->sum[k].low;
    out[k] = g->geometric ? exp(sum / t->weight) : sum;
  }
}

void sweep_score(const tf_sweep_grid *g, const sweep_jobs *w, double score[TF_N_GOALS],
                 double bound[TF_N_GOALS]) {
  int64_t m = g->n_mappings ? g->n_mappings : 1;
  total found = {0}, least = {0};
  double area = 0;
  for (int64_t from = 0, to; from < g->n_jobs; from = to) {
    for (to = from + 1; to < g->n_jobs && g->jobs[to] / m == g->jobs[from] / m;)
      to++;
    double weight = sweep_case_weight(g, g->jobs[from]);
    int64_t best = best_of(g, w, from, to);
    add_weighted(g, &found, best < 0 ? NULL : w->figures[best], weight);
    add_weighted(g, &least, w->bounds[from], weight);
    double here = w->figures[from][TF_GOAL_AREA];
    area = isnan(here) || here > area ? here : area;
    if (isnan(area)) break;
  }
  finish(g, &found, score);
  finish(g, &least, bound);
  score[TF_GOAL_AREA] = bound[TF_GOAL_AREA] = area;
}

/* ---- the front ------------------------------------------------------------------------------ */
bool sweep_beats(const tf_sweep_grid *g, const double *a, int64_t a_no, const double *b,
                 int64_t b_no) {
  bool less = false;
  for (int i = 0; i < g->n_goals; i++) {
    double x = a[g->goals[i]], y = b[g->goals[i]];
    if (!(x <= y)) return false;
    less |= x < y;
  }
  return less || a_no <= b_no;
}

bool sweep_front_beats(const tf_sweep_grid *g, const sweep_front *f, const double *score,
                       int64_t no) {
  for (int i = 0; i < f->n; i++)
    if (sweep_beats(g, f->score[i], f->no[i], score, no)) return true;
  return false;
}

double sweep_slack(const tf_sweep_grid *g, tf_goal goal) {
  return goal == TF_GOAL_AREA ? 1 : 1 + g->within;
}

bool sweep_front_covers(const tf_sweep_grid *g, const sweep_front *f, const double *bound) {
  for (int i = 0; g->within > 0 && i < f->n; i++) {
    bool covers = true;
    for (int k = 0; covers && k < g->n_goals; k++)
      covers = f->score[i][g->goals[k]] <= bound[g->goals[k]] * sweep_slack(g, g->goals[k]);
    if (covers) return true;
  }
  return false;
}

static bool grow(sweep_front *f) {
  f->bad |= !TF_GROW(f->score, f->n) || !TF_GROW(f->no, f->n);
  return !f->bad;
}

void sweep_front_add(const tf_sweep_grid *g, sweep_front *f, const double *score, int64_t no) {
  int n = 0;
  for (int i = 0; i < g->n_goals; i++)
    if (isnan(score[g->goals[i]])) return;
  if (f->bad || sweep_front_beats(g, f, score, no)) return;
  for (int i = 0; i < f->n; i++) {
    if (sweep_beats(g, score, no, f->score[i], f->no[i])) continue;
    if (n != i) memcpy(f->score[n], f->score[i], sizeof f->score[n]);
    f->no[n++] = f->no[i];
  }
  f->n = n;
  if (f->most && f->n >= f->most) f->bad = true;
  if (!grow(f)) return;
  memcpy(f->score[f->n], score, sizeof f->score[0]);
  f->no[f->n++] = no;
}

void sweep_front_free(sweep_front *f) {
  free(f->score);
  free(f->no);
  *f = (sweep_front){0};
}
