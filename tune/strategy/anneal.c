/* Simulated annealing over measured points (thesis 4.4.1): a walk begins at one of them, faster
 * ones being more likely, and takes one step, in a random direction or the most promising one: by
 * the model, and by a network that learns how much the model is off; or one step in each direction
 * (the thesis's P-method). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/learn/perceptron.h"
#include "tune/strategy/tune_strategy.h"

/* WARM: rows before the first walk; POOL: rows drawn for each of these that the model is asked for;
 * LIKELY: the best of them, whose kernels are asked for; TAUGHT: steps of the memory at a training,
 * for each that it has up to BATCH. */
enum {
  WARM = 4,
  POOL = 64,
  LIKELY = 8,
  TRIES = 384,
  TRAIN_EVERY = 5,
  TAUGHT = 20,
  BATCH = 32,
  MEMORY = 1000,
  KNOWN = 4096
};
static const double gamma_start =
    10; /* a row with 9/10 of the best speed is chosen a third as often */
static double chance(int t) {
  return fmax(0.3 * exp(-0.01 * t), 0.1);
} /* probability of a random direction */

/* A step that was taken, its reward, and that of the step back. */
typedef struct {
  int32_t *from, *to;
  double reward, back;
  bool measured;
} step;

/* The model's cycles of a row. */
typedef struct {
  int32_t *row; /* NULL: of none yet */
  double cycles;
} predicted;

typedef struct {
  tune_context *w;
  tune_points points;
  int n_told, n_directions;
  perceptron *learnt; /* NULL: random directions */
  int n_steps;
  step *steps;   /* [MEMORY] the latest ones, in a ring buffer */
  bool every;    /* each direction of a start, in their order */
  int next;      /* of these */
  int32_t *row;  /* the start */
  double *input; /* [2 * n_features + 1] */
  double *value; /* [n_directions] what steps are said to bring; -INFINITY: there is no step, or it
                    was tried */
  predicted *known; /* [KNOWN] the latest rows of each hash */
} annealer;

static void *make(tune_context *w, bool learns) {
  annealer *a = TF_NEW(w->arena, annealer);
  const size_t n = (size_t)w->s->space.n;
  if (!a) return NULL;
  *a = (annealer){.w = w,
                  .n_directions = tune_directions(w->s),
                  .next = tune_directions(w->s),
                  .row = TF_ARRAY(w->arena, int32_t, n),
                  .input = TF_ARRAY(w->arena, double, 2 * (size_t)w->s->n_features + 1),
                  .value = TF_ARRAY(w->arena, double, (size_t)tune_directions(w->s)),
                  .known = TF_ARRAY(w->arena, predicted, KNOWN),
                  .steps = TF_ARRAY(w->arena, step, MEMORY)};
  if (learns && !(a->learnt = perceptron_new(w->arena, 2 * w->s->n_features + 1, &w->rng)))
    return NULL;
  return a->row && a->input && a->value && a->known && a->steps ? a : NULL;
}

static void *make_plain(tune_context *w) { return make(w, false); }
static void *make_learning(tune_context *w) { return make(w, true); }
static void *make_every(tune_context *w) {
  annealer *a = make(w, false);
  if (a) a->every = true;
  return a;
}

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
  s->measured = false;
}

/* ---- what a step brings --------------------------------------------------------------------- */
static double cycles_of(annealer *a, const int32_t *row) {
  const size_t n = (size_t)a->w->s->space.n;
  uint64_t h = 14695981039346656037u; /* FNV-1a, by numbers */
  for (size_t k = 0; k < n; k++)
    h = (h ^ (uint32_t)row[k]) * 1099511628211u;
  predicted *p = &a->known[(h ^ h >> 32) % KNOWN];
  if (p->row && !memcmp(p->row, row, n * sizeof *row)) return p->cycles;
  if (!p->row) p->row = TF_ARRAY(a->w->arena, int32_t, n);
  const double cycles = a->w->model(a->w->ctx, row);
  if (!p->row) return cycles;
  memcpy(p->row, row, n * sizeof *row);
  return p->cycles = cycles;
}

/* The relative gain in speed, at most one; where there is nothing after, minus one. */
static double gain(double before, double after) {
  return isfinite(after) ? tanh(before / after - 1) : -1;
}

/* What the network is asked: the state, what the step changes of it, and what it brings by the
 * model. */
static const double *question(annealer *a, const int32_t *from, const int32_t *to) {
  const int n = a->w->s->n_features;
  tune_features(a->w->s, from, a->input);
  tune_features(a->w->s, to, a->input + n);
  for (int k = 0; k < n; k++)
    a->input[n + k] -= a->input[k];
  a->input[2 * n] = gain(cycles_of(a, from), cycles_of(a, to));
  return a->input;
}

/* By the model, and what the network adds to it. */
static double value_of(annealer *a, const int32_t *from, const int32_t *to) {
  const double *q = question(a, from, to);
  return q[2 * a->w->s->n_features] + perceptron_ask(a->learnt, q);
}

static void teach(annealer *a, const int32_t *from, const int32_t *to, double reward) {
  const double *q = question(a, from, to);
  perceptron_teach(a->learnt, q, reward - q[2 * a->w->s->n_features]);
}

/* ---- steps ---------------------------------------------------------------------------------- */
/* Fills in what each direction from here is said to bring; to: room for a row. */
static void judge(annealer *a, const int32_t *from, int32_t *to) {
  for (int d = 0; d < a->n_directions; d++) {
    const bool fits = tune_step(a->w->s, from, d, to) && isfinite(cycles_of(a, to));
    a->value[d] = fits ? value_of(a, from, to) : -INFINITY;
  }
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

/* The best direction that leads to a new row that fits. */
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

/* The next direction of the start that leads to a new row that fits. */
static bool every_step(annealer *a, int32_t *to) {
  while (a->next < a->n_directions)
    if (tune_step(a->w->s, a->row, a->next++, to) && tune_take(a->w, to)) return true;
  return false;
}

/* Of new rows the best by what is predicted for its kernel, among the best by the model's cycles.
 */
static bool likely_draw(annealer *a, int32_t *row) {
  const int n = a->w->s->space.n;
  tune_points likely = {0};
  for (int k = 0; k < POOL && tf_space_random(&a->w->s->space, &a->w->rng); k++) {
    const int32_t *drawn = a->w->s->space.chosen;
    const double cycles = tune_new(a->w, drawn) ? cycles_of(a, drawn) : INFINITY;
    if (isfinite(cycles) && !tune_points_add(&likely, a->w->arena, n, drawn, cycles)) return false;
  }
  double least = INFINITY;
  for (int k = 0; k < likely.n && k < LIKELY; k++) {
    const double cycles = a->w->kernel(a->w->ctx, tune_point(&likely, k));
    if (cycles >= least) continue;
    least = cycles;
    memcpy(row, tune_point(&likely, k), (size_t)n * sizeof *row);
  }
  return isfinite(least) && tune_take(a->w, row);
}

static bool ask(void *state, int32_t *row) {
  enum { STARTS = 4 };
  annealer *a = state;
  const size_t n = (size_t)a->w->s->space.n;
  if (a->w->n_asked < WARM || a->points.n == 0)
    return ((a->learnt || a->every) && likely_draw(a, row)) || tune_draw(a->w, row);
  if (a->every && every_step(a, row)) return true;
  for (int k = 0; k < STARTS; k++) {
    memcpy(a->row, tune_point(&a->points, tune_points_start(&a->points, &a->w->rng, gamma_start)),
           n * sizeof *row);
    a->next = 0;
    if (a->every && every_step(a, row)) return true;
    if (a->every) continue;
    const bool by_lot = !a->learnt || tf_rng_unit(&a->w->rng) < chance(a->n_told);
    if (by_lot ? random_step(a, a->row, row) : learned_step(a, a->row, row)) return true;
  }
  return tune_draw(a->w, row);
}

/* ---- learning -------------------------------------------------------------------------------- */
static double seconds_of(const annealer *a, const int32_t *row) {
  for (int k = 0; k < a->points.n; k++)
    if (!memcmp(tune_point(&a->points, k), row, (size_t)a->points.width * sizeof *row))
      return a->points.seconds[k];
  return INFINITY;
}

static void reward(annealer *a, const int32_t *row, double seconds) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < n; k++) {
    step *s = &a->steps[k];
    if (s->measured || memcmp(s->to, row, (size_t)a->w->s->space.n * sizeof *row) != 0) continue;
    const double before = seconds_of(a, s->from);
    s->measured = true;
    s->reward = gain(before, seconds);
    s->back = isfinite(seconds) ? gain(seconds, before) : 1;
  }
}

/* Trains on random steps, and on the same steps back.  A walk is one step, from wherever it seems
 * best, so what could be gained from there on is no part of a reward (thesis 4.4.1 adds 0.9 of it,
 * by a copy of the network). */
static void train(annealer *a) {
  const int n = a->n_steps < MEMORY ? a->n_steps : MEMORY;
  for (int k = 0; k < TAUGHT * (n < BATCH ? n : BATCH); k++) {
    const step *s = &a->steps[tf_rng_below(&a->w->rng, (uint32_t)n)];
    if (!s->measured) continue;
    teach(a, s->from, s->to, s->reward);
    teach(a, s->to, s->from, s->back);
  }
}

static void tell(void *state, const int32_t *row, double seconds) {
  annealer *a = state;
  tune_note(a->w, row);
  if (a->learnt) reward(a, row, seconds);
  if (isfinite(seconds)) tune_points_add(&a->points, a->w->arena, a->w->s->space.n, row, seconds);
  if (a->learnt && ++a->n_told % TRAIN_EVERY == 0) train(a);
}

const tune_strategy tune_strategy_anneal = {
    "sa", "simulated annealing over what was measured, random directions", make_plain, ask, tell};
const tune_strategy tune_strategy_q = {
    "sa-q",
    "simulated annealing, directions by the model and a network that learns what they bring",
    make_learning, ask, tell};
const tune_strategy tune_strategy_every = {
    "p", "simulated annealing, every direction of each start: begins as sa-q, learns nothing",
    make_every, ask, tell};
