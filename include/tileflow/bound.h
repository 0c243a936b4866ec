/* What no mapping can beat, for each on-chip capacity (docs/HOWTO-bound.md). */
#ifndef TILEFLOW_BOUND_H
#define TILEFLOW_BOUND_H
#include "tileflow/model.h"

typedef struct {
  double capacity; /* words of `word_bits` that all memories but the outermost hold together */
  double words;    /* with less than the next step's capacity no mapping moves fewer through the outermost memory */
} tf_bound_step;

typedef struct {
  int n;
  tf_bound_step *steps; /* capacity ascending from 0, words falling; never NULL */
  int left_out;         /* an op that has more than 16 dims, of whose tensors each word counts once; -1: none */
} tf_bound_slope;

/* Least words through the outermost memory that can be proved of nested loops, for every capacity: of all mappings for
 * machines with one unit and any number of memories, one instance of each.  (Where instances idle they keep what others
 * give up, which boxes on one nest do not bound: for more units tf_slope_bound holds.)  NULL with an error in d (a
 * count passes 2^63 - 1, no memory). */
tf_bound_slope *tf_bound_slope_of(const tf_workload *wl, int word_bits, tf_diags *d);
void tf_bound_slope_free(tf_bound_slope *s);
/* Words at a capacity. */
double tf_bound_at(const tf_bound_slope *s, double capacity);
#endif
