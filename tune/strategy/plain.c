/* Random rows; and rows by the model's prediction, unaffected by measurements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/strategy/tune_strategy.h"

/* ---- random ---------------------------------------------------------------------------------- */
static void *make_random(tune_context *w) { return w; }
static bool ask_random(void *state, int32_t *row) { return tune_draw(state, row); }
/* All that is remembered is that the row is known, also the first choice's. */
static void tell_random(void *state, const int32_t *row, double seconds) {
  (void)seconds;
  tune_note(state, row);
}

const tune_strategy tune_strategy_random = {"random", "random rows", make_random, ask_random,
                                            tell_random};

/* ---- model ----------------------------------------------------------------------------------- */
enum { DRAWN = 300, STEPS = 600, BEST = 48, KEPT = 48 };

typedef struct {
  tune_context *w;
  tune_points pool; /* by cycles of the model and the kernel */
  int next;
} ranked;

static void *make_ranked(tune_context *w) {
  ranked *r = TF_NEW(w->arena, ranked);
  if (!r) return NULL;
  *r = (ranked){.w = w};
  return r;
}

static bool has(const tune_points *p, const int32_t *row) {
  for (int k = 0; k < p->n; k++)
    if (!memcmp(tune_point(p, k), row, (size_t)p->width * sizeof *row)) return true;
  return false;
}

bool tune_gather(tune_context *w, const tune_points *pool, tune_points *all) {
  const int n = w->s->space.n;
  int32_t *row = TF_ARRAY(w->arena, int32_t, (size_t)n);
  bool ok = row != NULL;
  for (int k = 0; ok && k < DRAWN + STEPS; k++) {
    if (k < DRAWN || all->n == 0) {
      if (!tf_space_random(&w->s->space, &w->rng)) break;
      memcpy(row, w->s->space.chosen, (size_t)n * sizeof *row);
    } else {
      const int of = all->n < BEST ? all->n : BEST;
      memcpy(row, tune_point(all, (int)tf_rng_below(&w->rng, (uint32_t)of)),
             (size_t)n * sizeof *row);
      tf_space_vary(&w->s->space, &w->rng, NULL, row);
    }
    if (!tune_new(w, row) || has(all, row) || has(pool, row)) continue;
    const double cycles = w->model(w->ctx, row);
    if (isfinite(cycles)) ok = tune_points_add(all, w->arena, n, row, cycles);
  }
  return ok;
}

/* Ranks the best by the model's cycles with their kernels. */
static bool fill(ranked *r) {
  tune_context *w = r->w;
  tune_points all = {0};
  bool ok = tune_gather(w, &r->pool, &all);
  r->pool.n = r->next = 0;
  for (int k = 0; ok && k < all.n && k < KEPT; k++) {
    const double cycles = w->kernel(w->ctx, tune_point(&all, k));
    if (isfinite(cycles))
      ok = tune_points_add(&r->pool, w->arena, w->s->space.n, tune_point(&all, k), cycles);
  }
  return ok && r->pool.n > 0;
}

static bool ask_ranked(void *state, int32_t *row) {
  ranked *r = state;
  for (int fills = 0; fills < 3; fills++) {
    while (r->next < r->pool.n) {
      const int32_t *at = tune_point(&r->pool, r->next++);
      if (!tune_take(r->w, at)) continue;
      memcpy(row, at, (size_t)r->pool.width * sizeof *row);
      return true;
    }
    if (!fill(r)) break;
  }
  return tune_draw(r->w, row);
}

static void tell_ranked(void *state, const int32_t *row, double seconds) {
  const ranked *r = state;
  tell_random(r->w, row, seconds);
}

const tune_strategy tune_strategy_model = {"model", "rows by predicted time, whatever is measured",
                                           make_ranked, ask_ranked, tell_ranked};
