/* Rows by predicted time, which is corrected by how far predictions were off: those of kernels of
 * other workloads that the store has, and those of this run.  The correction is a line over the
 * features of lessons, by ridge regression; what is off by as much for all kernels of a workload
 * says nothing of their order and is left out. */
#include <math.h>
#include <string.h>

#include "tune/learn/ridge.h"
#include "tune/strategy/tune_strategy.h"

enum { F = LESSON_FEATURES, KEPT = 96, FILLS = 3 };
static const double penalty = 100,
                    own = 3; /* own: what a time of this run weighs, of one measured before */

typedef struct {
  const int32_t *row; /* NULL: it was proposed */
  double log;         /* log2 of what is predicted */
  double x[F];
} candidate;

typedef struct {
  double log; /* log2 of seconds over what was predicted */
  double x[F];
} measured;

typedef struct {
  tune_context *w;
  int n, n_samples, room;
  candidate *pool;   /* [n] */
  measured *samples; /* [n_samples] */
  ridge *prior;      /* the penalties, and the lessons */
  ridge *posterior;  /* and the samples */
  bool stale;        /* `line` lacks something */
} learner;

static void *make(tune_context *w) {
  learner *p = TF_NEW(w->arena, learner);
  if (!p) return NULL;
  *p = (learner){.w = w,
                 .pool = TF_ARRAY(w->arena, candidate, KEPT),
                 .prior = ridge_new(w->arena, F),
                 .posterior = ridge_new(w->arena, F)};
  return p->pool && p->prior && p->posterior ? p : NULL;
}

/* ---- lessons -------------------------------------------------------------------------------- */
/* Rows less their means: those [from, to) of the lessons. */
static void means(const lesson_measured *l, int from, int to, double *off, double *x) {
  *off = 0;
  memset(x, 0, F * sizeof *x);
  for (int k = from; k < to; k++) {
    *off += l[k].log2_error / (to - from);
    for (int i = 0; i < F; i++)
      x[i] += l[k].x[i] / (to - from);
  }
}

static int end_of(const tune_context *w, int from) {
  int to = from;
  while (to < w->n_prior && w->prior[to].workload == w->prior[from].workload)
    to++;
  return to;
}

/* Adds to `square` those of the features less their means over the pool. */
static void spread_of_pool(const learner *p, double *square) {
  for (int i = 0; i < F; i++) {
    double mean = 0;
    for (int k = 0; k < p->n; k++)
      mean += p->pool[k].x[i] / p->n;
    for (int k = 0; k < p->n; k++)
      square[i] += (p->pool[k].x[i] - mean) * (p->pool[k].x[i] - mean);
  }
}

/* A feature's penalty is like its variance within workloads, so that its unit does not matter. */
static void study(learner *p) {
  const tune_context *w = p->w;
  double square[F] = {0}, mean[F], x[F], off;
  spread_of_pool(p, square);
  for (int from = 0, to; from < w->n_prior; from = to) {
    to = end_of(w, from);
    means(w->prior, from, to, &off, mean);
    for (int k = from; k < to; k++)
      for (int i = 0; i < F; i++)
        square[i] += (w->prior[k].x[i] - mean[i]) * (w->prior[k].x[i] - mean[i]);
  }
  for (int i = 0; i < F; i++) {
    const double variance = square[i] / (p->n + w->n_prior);
    x[i] = penalty * (variance < 1e-12 ? 1 : variance);
  }
  ridge_begin(p->prior, x);
  for (int from = 0, to; from < w->n_prior; from = to) {
    to = end_of(w, from);
    means(w->prior, from, to, &off, mean);
    for (int k = from; k < to; k++) {
      for (int i = 0; i < F; i++)
        x[i] = w->prior[k].x[i] - mean[i];
      ridge_add(p->prior, x, w->prior[k].log2_error - off, 1);
    }
  }
  p->stale = true;
}

/* Adds this run's times, less their means. */
static void learn(learner *p) {
  double x[F], mean[F] = {0}, log = 0;
  for (int k = 0; k < p->n_samples; k++) {
    log += p->samples[k].log / p->n_samples;
    for (int i = 0; i < F; i++)
      mean[i] += p->samples[k].x[i] / p->n_samples;
  }
  ridge_copy(p->posterior, p->prior);
  for (int k = 0; k < p->n_samples; k++) {
    for (int i = 0; i < F; i++)
      x[i] = p->samples[k].x[i] - mean[i];
    ridge_add(p->posterior, x, p->samples[k].log - log, own);
  }
  ridge_solve(p->posterior);
  p->stale = false;
}

/* ---- proposals ------------------------------------------------------------------------------ */
/* Takes the best by the model's cycles of rows that are new. */
static bool fill(learner *p) {
  static const tune_points none = {0};
  tune_points all = {0};
  if (!tune_gather(p->w, &none, &all)) return false;
  p->n = 0;
  for (int k = 0; k < all.n && p->n < KEPT; k++) {
    lesson l;
    if (!p->w->lesson(p->w->ctx, tune_point(&all, k), &l)) continue;
    candidate *c = &p->pool[p->n++];
    c->row = tune_point(&all, k);
    c->log = log2(l.cycles);
    memcpy(c->x, l.x, sizeof c->x);
  }
  if (p->n) study(p);
  return p->n > 0;
}

/* The one for which least is predicted; NULL: all were proposed. */
static candidate *best_of(learner *p) {
  candidate *best = NULL;
  double least = 0;
  for (int k = 0; k < p->n; k++) {
    candidate *c = &p->pool[k];
    const double value = c->row ? c->log + ridge_ask(p->posterior, c->x) : 0;
    if (!c->row || (best && value >= least)) continue;
    best = c;
    least = value;
  }
  return best;
}

static bool ask(void *state, int32_t *row) {
  learner *p = state;
  for (int fills = 0; fills < FILLS; fills++) {
    if (p->stale && p->n) learn(p);
    for (candidate *c = best_of(p); c; c = best_of(p)) {
      memcpy(row, c->row, (size_t)p->w->s->space.n * sizeof *row);
      c->row = NULL;
      if (tune_take(p->w, row)) return true;
    }
    if (!fill(p)) break;
  }
  return tune_draw(p->w, row);
}

static void tell(void *state, const int32_t *row, double seconds) {
  learner *p = state;
  lesson l;
  tune_note(p->w, row);
  if (!isfinite(seconds) || !p->w->lesson(p->w->ctx, row, &l)) return;
  if (p->n_samples == p->room) {
    const int to = p->room ? 2 * p->room : 64;
    measured *more = TF_ARRAY(p->w->arena, measured, (size_t)to);
    if (!more) return;
    if (p->n_samples) memcpy(more, p->samples, (size_t)p->n_samples * sizeof *more);
    p->samples = more;
    p->room = to;
  }
  measured *m = &p->samples[p->n_samples++];
  m->log = log2(seconds / l.cycles);
  memcpy(m->x, l.x, sizeof m->x);
  p->stale = true;
}

const tune_strategy tune_strategy_taught = {
    "taught",
    "rows by predicted time, corrected by what other workloads of the store and this one taught",
    make, ask, tell};
