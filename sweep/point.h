/* One point: its bounds, and its figures by the method of the sweep. */
#ifndef SWEEP_POINT_H
#define SWEEP_POINT_H
#include "sweep/grid/grid.h"

/* What a worker finds of a point, with the memory behind its texts and counts.  Starts as {0}; used again for others.
 */
typedef struct {
  tf_sweep_row row;
  tf_arena *arena;
} sweep_found;
void sweep_found_free(sweep_found *f);

/* Words that were proved before, of one worker: they take a thousand times as long as the rest of a point's bounds.
 * Starts as {0}; NULL does without. */
typedef struct {
  uint64_t workload; /* a number for all that the proof looks at */
  double capacity, words;
} sweep_proved;
enum { SWEEP_MEMO = 4096, SWEEP_MEMO_WORKLOADS = 64 };
typedef struct {
  sweep_proved at[SWEEP_MEMO];
  sweep_proved flat[SWEEP_MEMO_WORKLOADS]; /* with this capacity, or more, nothing but the compulsory words is proved */
} sweep_memo;

typedef struct {
  const char *start; /* a mapping to begin with; NULL: none */
  bool (*stop)(void *ctx);
  void *ctx;
  sweep_memo *memo;
} sweep_how;

/* Fills out->row.  False: stopped, or out of memory; then the row is void. */
bool sweep_point_find(const tf_sweep *s, int64_t point, const sweep_how *how, sweep_found *out);

/* The row of a point that need not be solved. */
void sweep_point_skip(const tf_sweep *s, int64_t point, sweep_memo *memo, sweep_found *out);

/* Bounds of all mappings at the point, and the area.  False: its input is not sound. */
bool sweep_point_bounds(const tf_sweep *s, int64_t point, sweep_memo *memo, double bounds[TF_N_GOALS]);

/* The same of what was read. */
bool sweep_bounds_of(const tf_arch *a, const tf_workload *w, sweep_memo *memo, double bounds[TF_N_GOALS]);

/* What a mapper is to make small: the first objective that a mapping decides. */
tf_objective sweep_objective(const tf_sweep_grid *g);
tf_goal sweep_mapped_goal(const tf_sweep_grid *g);
#endif
