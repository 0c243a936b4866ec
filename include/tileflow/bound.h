/* What no mapping can beat, for each on-chip capacity (docs/HOWTO-bound.md). */
#ifndef TILEFLOW_BOUND_H
#define TILEFLOW_BOUND_H
#include "tileflow/model.h"

typedef struct {
  double capacity; /* words of the architecture's word-bits that all memories but the outermost hold together */
  double words;    /* with less than the next step's capacity no mapping moves fewer through the outermost memory */
} tf_bound_step;

typedef struct {
  int n;
  tf_bound_step *steps; /* capacity ascending from 0, words falling; never NULL */
  bool attained;        /* each step is the traffic of some mapping that needs no more than its capacity */
  double least;         /* the last step's words: enough memory for everything */
  double here;          /* capacity of the architecture; INFINITY where a memory has no limit */
} tf_bound_slope;

/* Least words through the outermost memory that can be proved, for every capacity.  apart: of mappings that fuse nothing, so
 * that intermediates pass through the outermost memory, too.  NULL with an error in d (a count passes 2^53, no memory). */
tf_bound_slope *tf_bound_slope_of(const tf_arch *arch, const tf_workload *wl, bool apart, tf_diags *d);
void tf_bound_slope_free(tf_bound_slope *s);
/* Words at a capacity. */
double tf_bound_at(const tf_bound_slope *s, double capacity);
#endif
