/* Simulated annealing over measured points (thesis 4.4.1): a walk begins at one of them, faster ones being more
 * likely, and takes one step, in a random direction or one that a network has learnt to be promising. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/learn/net.h"
#include "tune/way/way.h"

enum { WARM = 4, TRIES = 384, TRAIN_EVERY = 5, BATCH = 32, MEMORY = 1000, COPY_EVERY = 4 };
static const double gamma_start = 10, discount = 0.9; /* a row with 9/10 of the best speed is chosen a third as often */
static double chance(int t) { return fmax(0.8 * exp(-0.01 * t), 0.1); } /* probability of a random direction */

/* A step that was taken: from, direction, to, and its reward. */
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
  net *x, *y; /* NULL: random directions */
  int n_steps;
  step *steps; /* [MEMORY] the latest ones, in a ring buffer */
  int32_t *row;
  double *in, *next;
  bool *tried; /* [n_directions] */
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
                  .tried = TF_ARRAY(w->arena, bool, (size_t)tune_directions(w->s)),
                  .steps = TF_ARRAY(w->arena, step, MEMORY)};
  if (learns) {
    a->x = net_new(w->arena, w->s->space.n, a->n_directions, &w->rng);
    a->y = net_new(w->arena, w->s->space.n, a->n_directions, &w->rng);
    if (!a->x || !a->y) return NULL;
    net_copy(a->y, a->x);
  }
  return a->row && a->in && a->next && a->tried && a->steps ? a : NULL;
}

static void *make_plain(tune_world *w) { return make(w, false); }
static void *make_learning(tune_world *w) { return make(w, true); }

/* Stores the step, without a reward until the row that it led to is measured. */
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

/* The best direction by the network of those not tried from here; by lot among equals, as those that were never taken
 * are.  -1: none is left. */
static int next_direction(annealer *a, const double *q) {
  int best = -1, alike = 0;
  for (int d = 0; d < a->n_directions; d++) {
    if (a->tried[d] || (best >= 0 && q[d] < q[best])) continue;
    alike = best >= 0 && q[d] == q[best] ? alike + 1 : 1;
    if (alike == 1 || tf_rng_below(&a->w->rng, (uint32_t)alike) == 0) best = d;
  }
  if (best >= 0) a->tried[best] = true;
  return best;
}

/* The best direction, by the network, that leads to a new row that fits. */
static bool learned_step(annealer *a, const int32_t *from, int32_t *to) {
  tune_features(a->w->s, from, a->in);
  const double *q = net_ask(a->x, a->in);
  memset(a->tried, 0, (size_t)a->n_directions * sizeof *a->tried);
  for (int tries = 0; tries < TRIES; tries++) { /* the next best each time */
    const int best = next_direction(a, q);
    if (best < 0) return false;
    if (!tune_step(a->w->s, from, best, to) || !tune_take(a->w, to)) continue;
    remember(a, from, best, to);
    return true;
  }
  return false;
}

static bool random_step(annealer *a, const int32_t *from, int32_t *to) {
  for (int tries = 0; tries < TRIES; tries++) {
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

/* ---- learning ---------------------------------------------------------------------------------- */
static double seconds_of(const annealer *a, const int32_t *row) {
  for (int k = 0; k < a->points.n; k++)
    if (!memcmp(tune_point(&a->points, k), row, (size_t)a->points.width * sizeof *row)) return a->points.seconds[k];
  return INFINITY;
}

/* The reward is the relative gain in speed, at most one; without a kernel, minus one. */
static void reward(annealer *a, const int32_t *row, double seconds) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < n; k++) {
    step *s = &a->steps[k];
    if (s->told || memcmp(s->to, row, (size_t)a->w->s->space.n * sizeof *row) != 0) continue;
    s->told = true;
    s->reward = isfinite(seconds) ? tanh(seconds_of(a, s->from) / seconds - 1) : -1;
  }
}

/* Trains on random steps: the reward, plus what can still be gained from there by the frozen network. */
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
