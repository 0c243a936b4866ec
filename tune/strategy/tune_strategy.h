/* Strategies over a space of schedules whose costs are measurements, with the ask-and-tell
 * interface.  They know the space and the model's predictions, and use only their own random
 * numbers, so that a log replays them. */
#ifndef TUNE_STRATEGY_TUNE_STRATEGY_H
#define TUNE_STRATEGY_TUNE_STRATEGY_H
#include "tune/learn/lesson.h"
#include "tune/space/schedules.h"

/* What all strategies share. */
typedef struct {
  tune_space *s;
  tf_arena *arena;
  tf_rng rng;
  /* Cycles of the row's mapping by the model; infinite: it does not fit, or breaks a rule.  Next:
   * plus the kernel's overheads. */
  double (*model)(void *ctx, const int32_t *row);
  double (*kernel)(void *ctx, const int32_t *row);
  bool (*lesson)(void *ctx, const int32_t *row,
                 lesson *out); /* what predicts its kernel's time; false: there is none */
  void *ctx;
  int n_prior;
  const lesson_measured
      *prior; /* [n_prior] kernels measured before, of any workload; for `taught` */
  int n_asked, room;
  int32_t *asked;       /* [n_asked][n] rows that were proposed or measured */
  int64_t drawn, unfit; /* rows that a strategy has drawn; those of them that did not fit */
} tune_context;

typedef struct {
  const char *name, *about;
  void *(*make)(tune_context *w);         /* NULL: out of memory */
  bool (*ask)(void *state, int32_t *row); /* a row that fits and is new; false: none was found */
  /* seconds: infinite if there is no kernel.  Also called for rows that were not proposed: what is
   * known beforehand. */
  void (*tell)(void *state, const int32_t *row, double seconds);
} tune_strategy;

extern const tune_strategy tune_strategy_random, tune_strategy_model, tune_strategy_anneal,
    tune_strategy_every, tune_strategy_q, tune_strategy_cga, tune_strategy_taught;
/* The k-th; NULL past the last. */
const tune_strategy *tune_strategy_at(int k);
const tune_strategy *tune_strategy_named(const char *name);

/* ---- for the strategies: common.c (their table: tune_strategies.c) ---- */
/* Whether the row is new and fits; then it counts as asked for. */
bool tune_take(tune_context *w, const int32_t *row);
bool tune_new(const tune_context *w, const int32_t *row);
void tune_note(tune_context *w, const int32_t *row); /* it is no longer new */
/* A new random row that fits, into `row`. */
bool tune_draw(tune_context *w, int32_t *row);
/* The row as [s->n_features] numbers for what learns: log2 of factors, shares of other domains; 0
 * for what another form decides. */
void tune_features(const tune_space *s, const int32_t *row, double *x);

/* Rows with their times, ascending. */
typedef struct {
  int n, room, width;
  int32_t *row; /* [n][width] */
  double *seconds;
} tune_points;
bool tune_points_add(tune_points *p, tf_arena *a, int width, const int32_t *row, double seconds);
static inline const int32_t *tune_point(const tune_points *p, int k) {
  return &p->row[(size_t)k * (size_t)p->width];
}
/* Where a walk begins: the k-th with probability like exp(-gamma (E* - E) / E*), E = 1 / seconds
 * (thesis 4.4.1). */
int tune_points_start(const tune_points *p, tf_rng *rng, double gamma);
/* plain.c: new rows that fit and `pool` lacks, random ones and neighbours of the best, by the
 * model's cycles.  False: out of memory. */
bool tune_gather(tune_context *w, const tune_points *pool, tune_points *all);
#endif
