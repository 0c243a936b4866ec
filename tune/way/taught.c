/* Rows by predicted time, which is corrected by how far predictions were off: those of kernels of
 * other workloads that the store has, and those of this run.  The correction is a line over the
 * features of lessons, by ridge regression; what is off by as much for all kernels of a workload
 * says nothing of their order and is left out. */
#include <math.h>
#include <string.h>

#include "tune/learn/ridge.h"
#include "tune/way/way.h"

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
  tune_world *w;
  int n, n_told, room;
  candidate *pool; /* [n] */
  measured *told;  /* [n_told] */
  ridge *before;   /* the penalties, and the lessons */
  ridge *line;     /* and what was told */
  bool stale;      /* `line` lacks something */
} pupil;

static void *make(tune_world *w) {
  pupil *p = TF_NEW(w->arena, pupil);
  if (!p) return NULL;
  *p = (pupil){.w = w,
               .pool = TF_ARRAY(w->arena, candidate, KEPT),
               .before = ridge_new(w->arena, F),
               .line = ridge_new(w->arena, F)};
  return p->pool && p->before && p->line ? p : NULL;
}

/* ---- lessons -------------------------------------------------------------------------------- */
/* Rows less their means: those [from, to) of the lessons. */
static void means(const lesson_told *l, int from, int to, double *off, double *x) {
  *off = 0;
  memset(x, 0, F * sizeof *x);
  for (int k = from; k < to; k++) {
    *off += l[k].off / (to - from);
    for (int i = 0; i < F; i++)
      x[i] += l[k].x[i] / (to - from);
  }
}

static int end_of(const tune_world *w, int from) {
  int to = from;
  while (to < w->n_before && w->before[to].of == w->before[from].of)
    to++;
  return to;
}

/* Adds to `square` those of the features less their means over the pool. */
static void spread_of_pool(const pupil *p, double *square) {
  for (int i = 0; i < F; i++) {
    double mean = 0;
    for (int k = 0; k < p->n; k++)
      mean += p->pool[k].x[i] / p->n;
    for (int k = 0; k < p->n; k++)
      square[i] += (p->pool[k].x[i] - mean) * (p->pool[k].x[i] - mean);
  }
}

/* A feature's penalty is like its variance within workloads, so that its unit does not matter. */
static void study(pupil *p) {
  const tune_world *w = p->w;
  double square[F] = {0}, mean[F], x[F], off;
  spread_of_pool(p, square);
  for (int from = 0, to; from < w->n_before; from = to) {
    to = end_of(w, from);
    means(w->before, from, to, &off, mean);
    for (int k = from; k < to; k++)
      for (int i = 0; i < F; i++)
        square[i] += (w->before[k].x[i] - mean[i]) * (w->before[k].x[i] - mean[i]);
  }
  for (int i = 0; i < F; i++) {
    const double variance = square[i] / (p->n + w->n_before);
    x[i] = penalty * (variance < 1e-12 ? 1 : variance);
  }
  ridge_begin(p->before, x);
  for (int from = 0, to; from < w->n_before; from = to) {
    to = end_of(w, from);
    means(w->before, from, to, &off, mean);
    for (int k = from; k < to; k++) {
      for (int i = 0; i < F; i++)
        x[i] = w->before[k].x[i] - mean[i];
      ridge_add(p->before, x, w->before[k].off - off, 1);
    }
  }
  p->stale = true;
}

/* Adds this run's times, less their means. */
static void learn(pupil *p) {
  double x[F], mean[F] = {0}, log = 0;
  for (int k = 0; k < p->n_told; k++) {
    log += p->told[k].log / p->n_told;
    for (int i = 0; i < F; i++)
      mean[i] += p->told[k].x[i] / p->n_told;
  }
  ridge_copy(p->line, p->before);
  for (int k = 0; k < p->n_told; k++) {
    for (int i = 0; i < F; i++)
      x[i] = p->told[k].x[i] - mean[i];
    ridge_add(p->line, x, p->told[k].log - log, own);
  }
  ridge_solve(p->line);
  p->stale = false;
}

/* ---- proposals ------------------------------------------------------------------------------ */
/* Takes the best by the model's cycles of rows that are new. */
static bool fill(pupil *p) {
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
static candidate *best_of(pupil *p) {
  candidate *best = NULL;
  double least = 0;
  for (int k = 0; k < p->n; k++) {
    candidate *c = &p->pool[k];
    const double value = c->row ? c->log + ridge_ask(p->line, c->x) : 0;
    if (!c->row || (best && value >= least)) continue;
    best = c;
    least = value;
  }
  return best;
}

static bool ask(void *state, int32_t *row) {
  pupil *p = state;
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
  pupil *p = state;
  lesson l;
  tune_note(p->w, row);
  if (!isfinite(seconds) || !p->w->lesson(p->w->ctx, row, &l)) return;
  if (p->n_told == p->room) {
    const int to = p->room ? 2 * p->room : 64;
    measured *more = TF_ARRAY(p->w->arena, measured, (size_t)to);
    if (!more) return;
    if (p->n_told) memcpy(more, p->told, (size_t)p->n_told * sizeof *more);
    p->told = more;
    p->room = to;
  }
  measured *m = &p->told[p->n_told++];
  m->log = log2(seconds / l.cycles);
  memcpy(m->x, l.x, sizeof m->x);
  p->stale = true;
}

const tune_strategy tune_way_taught = {
    "taught",
    "rows by predicted time, corrected by what other workloads of the store and this one taught",
    make, ask, tell};
