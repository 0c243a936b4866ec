/* The constrained genetic algorithm (Heron): crossover by the constraint system itself, so that no
 * child leaves the space, with boosted trees as the cost model; until they are trained, what is
 * predicted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/learn/trees.h"
#include "tune/strategy/tune_strategy.h"

enum { FIRST = 8, POPULATION = 64, GENERATIONS = 4, TOP = 16, SELECT = 8 };
static const double epsilon = 0.25; /* share of the rows proposed at random */

typedef struct {
  tune_context *w;
  tune_points measured; /* with their seconds */
  trees *model;
  bool stale;
  int n_queue, next;
  int32_t *queue;              /* [SELECT][n] */
  int32_t *pop, *young;        /* [POPULATION][n] */
  double *worth, *young_worth; /* [POPULATION] */
  double *x;                   /* [n_features + 1] */
} cga;

static void *make(tune_context *w) {
  cga *g = TF_NEW(w->arena, cga);
  const size_t n = (size_t)w->s->space.n;
  if (!g) return NULL;
  *g = (cga){.w = w,
             .model = trees_new(w->arena, w->s->n_features + 1),
             .queue = TF_ARRAY(w->arena, int32_t, SELECT * n),
             .pop = TF_ARRAY(w->arena, int32_t, POPULATION * n),
             .young = TF_ARRAY(w->arena, int32_t, POPULATION * n),
             .worth = TF_ARRAY(w->arena, double, POPULATION),
             .young_worth = TF_ARRAY(w->arena, double, POPULATION),
             .x = TF_ARRAY(w->arena, double, (size_t)w->s->n_features + 1)};
  return g->model && g->queue && g->pop && g->young && g->worth && g->young_worth && g->x ? g
                                                                                          : NULL;
}

static int32_t *member(int32_t *rows, const cga *g, int k) {
  return &rows[(size_t)k * (size_t)g->w->s->space.n];
}
static size_t bytes(const cga *g) { return (size_t)g->w->s->space.n * sizeof(int32_t); }

/* The row's features, among them the model's prediction. */
static void features(const cga *g, const int32_t *row, double *x) {
  tune_features(g->w->s, row, x);
  x[g->w->s->n_features] = log2(g->w->model(g->w->ctx, row));
}

/* Fitness: more is better.  -INFINITY: it does not fit. */
static double worth(const cga *g, const int32_t *row) {
  features(g, row, g->x);
  const double cycles = g->x[g->w->s->n_features];
  if (!isfinite(cycles)) return -INFINITY;
  return g->measured.n >= FIRST ? -trees_ask(g->model, g->x) : -cycles;
}

static void learn(cga *g) {
  const int width = g->w->s->n_features + 1, n = g->measured.n;
  double *x = malloc((size_t)n * (size_t)width * sizeof *x), *y = malloc((size_t)n * sizeof *y);
  for (int k = 0; x && y && k < n; k++) {
    features(g, tune_point(&g->measured, k), &x[(size_t)k * (size_t)width]);
    y[k] = log2(g->measured.seconds[k]);
  }
  if (x && y) trees_learn(g->model, n, x, y);
  free(x);
  free(y);
  g->stale = false;
}

/* Selects a parent by roulette over ranks. */
static int roulette(cga *g, int n) {
  const uint32_t all = (uint32_t)(n * (n + 1) / 2);
  uint32_t lot = tf_rng_below(&g->w->rng, all);
  for (int k = 0; k < n; k++) {
    if (lot < (uint32_t)(n - k)) return k;
    lot -= (uint32_t)(n - k);
  }
  return n - 1;
}

/* Sorts by fitness, best first; stable. */
static void sort(cga *g, int32_t *rows, double *value, int n) {
  int32_t *keep = malloc(bytes(g));
  for (int i = 1; keep && i < n; i++) {
    const double v = value[i];
    int k = i;
    memcpy(keep, member(rows, g, i), bytes(g));
    for (; k > 0 && value[k - 1] < v; k--) {
      value[k] = value[k - 1];
      memcpy(member(rows, g, k), member(rows, g, k - 1), bytes(g));
    }
    value[k] = v;
    memcpy(member(rows, g, k), keep, bytes(g));
  }
  free(keep);
}

static int first_population(cga *g) {
  int n = 0;
  for (; n < TOP && n < g->measured.n; n++)
    memcpy(member(g->pop, g, n), tune_point(&g->measured, n), bytes(g));
  for (; n < POPULATION && tf_space_random(&g->w->s->space, &g->w->rng); n++)
    memcpy(member(g->pop, g, n), g->w->s->space.chosen, bytes(g));
  for (int k = 0; k < n; k++)
    g->worth[k] = worth(g, member(g->pop, g, k));
  sort(g, g->pop, g->worth, n);
  return n;
}

/* Children replace the worse half. */
static void generation(cga *g, int n) {
  const int half = n / 2;
  int made = 0;
  for (int k = half; k < n; k++) {
    const int32_t *a = member(g->pop, g, roulette(g, half)),
                  *b = member(g->pop, g, roulette(g, half));
    int32_t *child = member(g->young, g, made);
    if (!tune_breed(g->w->s, &g->w->rng, a, b, tf_rng_below(&g->w->rng, 2), child)) continue;
    g->young_worth[made] = worth(g, child);
    made++;
  }
  for (int k = 0; k < made; k++) {
    memcpy(member(g->pop, g, half + k), member(g->young, g, k), bytes(g));
    g->worth[half + k] = g->young_worth[k];
  }
  sort(g, g->pop, g->worth, half + made);
}

/* Until times are learned from, the order is that of what is predicted for kernels. */
static void look_closer(cga *g, int n) {
  for (int k = 0; k < n; k++)
    g->worth[k] = -g->w->kernel(g->w->ctx, member(g->pop, g, k));
  sort(g, g->pop, g->worth, n);
}

static void select_rows(cga *g, int n) {
  g->n_queue = g->next = 0;
  for (int k = 0; k < n && g->n_queue < SELECT; k++) {
    const bool lot = tf_rng_unit(&g->w->rng) < epsilon;
    const int32_t *row = member(g->pop, g, lot ? (int)tf_rng_below(&g->w->rng, (uint32_t)n) : k);
    if (!tune_take(g->w, row)) continue;
    memcpy(member(g->queue, g, g->n_queue++), row, bytes(g));
  }
}

static bool ask(void *state, int32_t *row) {
  cga *g = state;
  if (g->next == g->n_queue) {
    if (g->stale && g->measured.n >= FIRST) learn(g);
    const int n = first_population(g);
    for (int k = 0; k < GENERATIONS && n >= 4; k++)
      generation(g, n);
    if (g->measured.n < FIRST) look_closer(g, n);
    select_rows(g, n);
  }
  if (g->next == g->n_queue) return tune_draw(g->w, row);
  memcpy(row, member(g->queue, g, g->next++), bytes(g));
  return true;
}

static void tell(void *state, const int32_t *row, double seconds) {
  cga *g = state;
  tune_note(g->w, row);
  if (!isfinite(seconds)) return;
  tune_points_add(&g->measured, g->w->arena, g->w->s->space.n, row, seconds);
  g->stale = true;
}

const tune_strategy tune_strategy_cga = {
    "cga", "children of constrained rows, chosen by boosted trees that learn", make, ask, tell};
