/* Simulated annealing over points that were measured (thesis 4.4.1): a walk begins at one of them, the likelier the
 * faster it is, and takes one step.  Which way: by lot, or where a network that learns what directions bring says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/learn/net.h"
#include "tune/way/way.h"

enum { WARM = 4, TRIES = 96, TRAIN_EVERY = 5, BATCH = 32, MEMORY = 1000, COPY_EVERY = 4 };
static const double gamma_start = 10, discount = 0.9; /* a row of 9/10 of the best speed begins a third as often */
static double chance(int t) { return fmax(0.8 * exp(-0.01 * t), 0.1); } /* of a direction by lot */

/* A step that was taken: from, in which direction, to, and what it brought. */
typedef struct {
  int32_t *from, *to;
  int direction;
  double reward;
  bool told;
} step;

typedef struct {
  tune_world *w;
  tune_points points;
  int n_told, n_directions;
  net *x, *y; /* NULL: directions by lot */
  int n_steps;
  step *steps; /* [MEMORY] the latest, in a ring */
  int32_t *row;
  double *in, *next;
  int trained;
} annealer;

static void *make(tune_world *w, bool learns) {
  annealer *a = TF_NEW(w->arena, annealer);
  const size_t n = (size_t)w->s->space.n;
  if (!a) return NULL;
  *a = (annealer){.w = w,
                  .n_directions = tune_directions(w->s),
                  .row = TF_ARRAY(w->arena, int32_t, n),
                  .in = TF_ARRAY(w->arena, double, n),
                  .next = TF_ARRAY(w->arena, double, n),
                  .steps = TF_ARRAY(w->arena, step, MEMORY)};
  if (learns) {
    a->x = net_new(w->arena, w->s->space.n, a->n_directions, &w->rng);
    a->y = net_new(w->arena, w->s->space.n, a->n_directions, &w->rng);
    if (!a->x || !a->y) return NULL;
    net_copy(a->y, a->x);
  }
  return a->row && a->in && a->next && a->steps ? a : NULL;
}

static void *make_plain(tune_world *w) { return make(w, false); }
static void *make_learning(tune_world *w) { return make(w, true); }

/* Keeps the step, untold until the row that it led to has been measured. */
static void remember(annealer *a, const int32_t *from, int direction, const int32_t *to) {
  const size_t n = (size_t)a->w->s->space.n;
  step *s = &a->steps[a->n_steps++ % MEMORY];
  if (!s->from) s->from = TF_ARRAY(a->w->arena, int32_t, n);
  if (!s->to) s->to = TF_ARRAY(a->w->arena, int32_t, n);
  if (!s->from || !s->to) {
    a->n_steps--;
    return;
  }
  memcpy(s->from, from, n * sizeof *from);
  memcpy(s->to, to, n * sizeof *to);
  s->direction = direction;
  s->told = false;
}

/* One step in the best direction of those that lead to a new row that fits. */
static bool learned_step(annealer *a, const int32_t *from, int32_t *to) {
  tune_features(a->w->s, from, a->in);
  const double *q = net_ask(a->x, a->in);
  double bar = INFINITY;
  for (int tries = 0; tries < TRIES; tries++) { /* the next best each time */
    int best = -1;
    for (int d = 0; d < a->n_directions; d++)
      if (q[d] < bar && (best < 0 || q[d] > q[best])) best = d;
    if (best < 0) return false;
    bar = q[best];
    if (!tune_step(a->w->s, from, best, to) || !tune_take(a->w, to)) continue;
    remember(a, from, best, to);
    return true;
  }
  return false;
}

static bool random_step(annealer *a, const int32_t *from, int32_t *to) {
  for (int tries = 0; tries < 4 * TRIES; tries++) {
    const int d = (int)tf_rng_below(&a->w->rng, (uint32_t)a->n_directions);
    if (!tune_step(a->w->s, from, d, to) || !tune_take(a->w, to)) continue;
    remember(a, from, d, to);
    return true;
  }
  return false;
}

static bool ask(void *state, int32_t *row) {
  enum { STARTS = 4 };
  annealer *a = state;
  const size_t n = (size_t)a->w->s->space.n;
  if (a->w->n_asked < WARM || a->points.n == 0) return tune_draw(a->w, row);
  for (int k = 0; k < STARTS; k++) {
    memcpy(a->row, tune_point(&a->points, tune_points_start(&a->points, &a->w->rng, gamma_start)), n * sizeof *row);
    const bool by_lot = !a->x || tf_rng_unit(&a->w->rng) < chance(a->n_told);
    if (by_lot ? random_step(a, a->row, row) : learned_step(a, a->row, row)) return true;
  }
  return tune_draw(a->w, row);
}

/* ---- what is learned --------------------------------------------------------------------------- */
static double seconds_of(const annealer *a, const int32_t *row) {
  for (int k = 0; k < a->points.n; k++)
    if (!memcmp(tune_point(&a->points, k), row, (size_t)a->points.width * sizeof *row)) return a->points.seconds[k];
  return INFINITY;
}

/* Rewards are shares: by how much faster, at most one; what has no kernel costs one. */
static void reward(annealer *a, const int32_t *row, double seconds) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < n; k++) {
    step *s = &a->steps[k];
    if (s->told || memcmp(s->to, row, (size_t)a->w->s->space.n * sizeof *row) != 0) continue;
    s->told = true;
    s->reward = isfinite(seconds) ? tanh(seconds_of(a, s->from) / seconds - 1) : -1;
  }
}

/* Some steps by lot: what the direction brought, and what can still be had from there, by the network as it was. */
static void train(annealer *a) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < BATCH && n > 0; k++) {
    const step *s = &a->steps[tf_rng_below(&a->w->rng, (uint32_t)n)];
    if (!s->told) continue;
    tune_features(a->w->s, s->to, a->next);
    const double *q = net_ask(a->y, a->next);
    double most = q[0];
    for (int d = 1; d < a->n_directions; d++)
      if (q[d] > most) most = q[d];
    tune_features(a->w->s, s->from, a->in);
    net_teach(a->x, a->in, s->direction, s->reward + discount * (most > 0 ? fmin(most, 1) : 0));
  }
  if (++a->trained % COPY_EVERY == 0) net_copy(a->y, a->x);
}

static void tell(void *state, const int32_t *row, double seconds) {
  annealer *a = state;
  tune_note(a->w, row);
  if (a->x) reward(a, row, seconds);
  if (isfinite(seconds)) tune_points_add(&a->points, a->w->arena, a->w->s->space.n, row, seconds);
  if (a->x && ++a->n_told % TRAIN_EVERY == 0) train(a);
}

const tune_way tune_way_anneal = {"sa", "simulated annealing over what was measured, directions by lot", make_plain,
                                  ask, tell};
const tune_way tune_way_q = {"sa-q", "simulated annealing, directions by a network that learns what they bring",
                             make_learning, ask, tell};
