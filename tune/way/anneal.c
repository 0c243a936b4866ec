/* Simulated annealing over measured points (thesis 4.4.1): a walk begins at one of them, faster ones being more
 * likely, and takes one step, in a random direction or one that a network has learnt to be promising. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/learn/net.h"
#include "tune/way/way.h"

/* TAUGHT: steps of the memory at a training. */
enum { WARM = 4, TRIES = 384, TRAIN_EVERY = 5, TAUGHT = 20 * 32, MEMORY = 1000 };
static const double gamma_start = 10; /* a row with 9/10 of the best speed is chosen a third as often */
static double chance(int t) { return fmax(0.8 * exp(-0.01 * t), 0.1); } /* probability of a random direction */

/* A step that was taken, its reward, and that of the step back. */
typedef struct {
  int32_t *from, *to;
  double reward, back;
  bool told;
} step;

typedef struct {
  tune_world *w;
  tune_points points;
  int n_told, n_directions;
  net *learnt; /* NULL: random directions */
  int n_steps;
  step *steps; /* [MEMORY] the latest ones, in a ring buffer */
  int32_t *row;
  double *in;    /* [2 * n_features] */
  double *value; /* [n_directions] what the network says of them; -INFINITY: there is no step, or it was tried */
} annealer;

static void *make(tune_world *w, bool learns) {
  annealer *a = TF_NEW(w->arena, annealer);
  const size_t n = (size_t)w->s->space.n;
  if (!a) return NULL;
  *a = (annealer){.w = w,
                  .n_directions = tune_directions(w->s),
                  .row = TF_ARRAY(w->arena, int32_t, n),
                  .in = TF_ARRAY(w->arena, double, 2 * (size_t)w->s->n_features),
                  .value = TF_ARRAY(w->arena, double, (size_t)tune_directions(w->s)),
                  .steps = TF_ARRAY(w->arena, step, MEMORY)};
  if (learns && !(a->learnt = net_new(w->arena, 2 * w->s->n_features, &w->rng))) return NULL;
  return a->row && a->in && a->value && a->steps ? a : NULL;
}

static void *make_plain(tune_world *w) { return make(w, false); }
static void *make_learning(tune_world *w) { return make(w, true); }

/* Stores the step, without a reward until the row that it led to is measured. */
static void remember(annealer *a, const int32_t *from, const int32_t *to) {
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
  s->told = false;
}

/* What the network is asked: the state, and what the step changes of it. */
static const double *question(annealer *a, const int32_t *from, const int32_t *to) {
  const int n = a->w->s->n_features;
  tune_features(a->w->s, from, a->in);
  tune_features(a->w->s, to, a->in + n);
  for (int k = 0; k < n; k++)
    a->in[n + k] -= a->in[k];
  return a->in;
}

/* Fills in what the network says of each direction from here; to: room for a row. */
static void judge(annealer *a, const int32_t *from, int32_t *to) {
  for (int d = 0; d < a->n_directions; d++)
    a->value[d] = tune_step(a->w->s, from, d, to) ? net_ask(a->learnt, question(a, from, to)) : -INFINITY;
}

/* The best direction; at random among equals.  -1: none is left. */
static int next_direction(annealer *a) {
  int best = -1, alike = 0;
  for (int d = 0; d < a->n_directions; d++) {
    if (a->value[d] == -INFINITY || (best >= 0 && a->value[d] < a->value[best])) continue;
    alike = best >= 0 && a->value[d] == a->value[best] ? alike + 1 : 1;
    if (alike == 1 || tf_rng_below(&a->w->rng, (uint32_t)alike) == 0) best = d;
  }
  return best;
}

/* The best direction, by the network, that leads to a new row that fits. */
static bool learned_step(annealer *a, const int32_t *from, int32_t *to) {
  judge(a, from, to);
  for (int best = next_direction(a); best >= 0; best = next_direction(a)) {
    a->value[best] = -INFINITY;
    if (!tune_step(a->w->s, from, best, to) || !tune_take(a->w, to)) continue;
    remember(a, from, to);
    return true;
  }
  return false;
}

static bool random_step(annealer *a, const int32_t *from, int32_t *to) {
  for (int tries = 0; tries < TRIES; tries++) {
    const int d = (int)tf_rng_below(&a->w->rng, (uint32_t)a->n_directions);
    if (!tune_step(a->w->s, from, d, to) || !tune_take(a->w, to)) continue;
    remember(a, from, to);
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
    const bool by_lot = !a->learnt || tf_rng_unit(&a->w->rng) < chance(a->n_told);
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

/* The relative gain in speed, at most one; without a kernel, minus one. */
static double gain(double before, double after) { return isfinite(after) ? tanh(before / after - 1) : -1; }

static void reward(annealer *a, const int32_t *row, double seconds) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < n; k++) {
    step *s = &a->steps[k];
    if (s->told || memcmp(s->to, row, (size_t)a->w->s->space.n * sizeof *row) != 0) continue;
    const double before = seconds_of(a, s->from);
    s->told = true;
    s->reward = gain(before, seconds);
    s->back = isfinite(seconds) ? gain(seconds, before) : 1;
  }
}

/* Trains on random steps, and on the same steps back.  A walk is one step, from wherever it seems best, so what could
 * be gained from there on is no part of a reward (thesis 4.4.1 adds 0.9 of it, by a copy of the network). */
static void train(annealer *a) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < TAUGHT && n > 0; k++) {
    const step *s = &a->steps[tf_rng_below(&a->w->rng, (uint32_t)n)];
    if (!s->told) continue;
    net_teach(a->learnt, question(a, s->from, s->to), s->reward);
    net_teach(a->learnt, question(a, s->to, s->from), s->back);
  }
}

static void tell(void *state, const int32_t *row, double seconds) {
  annealer *a = state;
  tune_note(a->w, row);
  if (a->learnt) reward(a, row, seconds);
  if (isfinite(seconds)) tune_points_add(&a->points, a->w->arena, a->w->s->space.n, row, seconds);
  if (a->learnt && ++a->n_told % TRAIN_EVERY == 0) train(a);
}

const tune_way tune_way_anneal = {"sa", "simulated annealing over what was measured, random directions", make_plain,
                                  ask, tell};
const tune_way tune_way_q = {"sa-q", "simulated annealing, directions by a network that learns what they bring",
                             make_learning, ask, tell};
