/* One point: its bounds, and its figures by the method of the sweep. */
#ifndef SWEEP_POINT_H
#define SWEEP_POINT_H
#include "sweep/grid/grid.h"

/* The results of a worker for a point, with the memory of its texts and counts.  Initialised as
 * {0}; reused for further points. */
typedef struct {
  tf_sweep_row row;
  tf_arena *arena;
} sweep_found;
void sweep_found_free(sweep_found *f);

/* A worker's memo of proved words, which take a thousand times as long as the rest of a point's
 * bounds.  Initialised as {0}; NULL: no memo. */
typedef struct {
  uint64_t workload; /* a hash of all that the proof depends on */
  double capacity, words;
} sweep_proved;
enum { SWEEP_MEMO = 4096, SWEEP_MEMO_WORKLOADS = 64 };
typedef struct {
  sweep_proved entry[SWEEP_MEMO];
  sweep_proved
      flat[SWEEP_MEMO_WORKLOADS]; /* from this capacity on, only the compulsory words are proved */
} sweep_memo;

typedef struct {
  const char *start; /* a mapping to begin with; NULL: none */
  bool (*stop)(void *ctx);
  void *ctx;
  sweep_memo *memo;
} sweep_point_opts;

/* Fills out->row.  False: stopped, or out of memory; then the row is invalid. */
bool sweep_point_find(const tf_sweep *s, int64_t point, const sweep_point_opts *opts,
                      sweep_found *out);

/* The row of a point that is not solved. */
void sweep_point_skip(const tf_sweep *s, int64_t point, sweep_memo *memo, sweep_found *out);

/* Another mapping at a point: fills out->row as r, but for the figures, which are that mapping's.
 * False: it is not valid there or does not fit, or memory ran out. */
bool sweep_point_other(const tf_sweep *s, const tf_spec *spec, const tf_sweep_row *r,
                       const char *mapping, sweep_found *out);

/* Lower bounds for all mappings at the point, and the area.  False: its input is not valid. */
bool sweep_point_bounds(const tf_sweep *s, int64_t point, sweep_memo *memo,
                        double bounds[TF_N_GOALS]);

/* The same for what has been read. */
bool sweep_bounds_of(const tf_arch *a, const tf_workload *w, sweep_memo *memo,
                     double bounds[TF_N_GOALS]);

/* The goal of a search or solver: the first one that depends on the mapping. */
tf_goal sweep_mapped_goal(const tf_sweep_grid *g);
#endif
