/* Lower bounds on traffic for each on-chip capacity, for any mapping (docs/HOWTO-bound.md). */
#ifndef TILEFLOW_BOUND_H
#define TILEFLOW_BOUND_H
#include "tileflow/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double capacity; /* words of `word_bits`, summed over all memories but the outermost */
  double words; /* below the next step's capacity every mapping moves at least so many through the
                   outermost memory */
} tf_bound_step;

typedef struct {
  int n;
  tf_bound_step *steps; /* by ascending capacity, from 0; words descend; never NULL */
  int left_out; /* an op with more than 16 dims: each word of its tensors counts once only; -1: none
                 */
} tf_bound_slope;

/* The largest lower bound on words through the outermost memory that can be proved for nested
 * loops, for every capacity: for all mappings on machines with one unit and any number of memories,
 * one instance of each.  (Idle instances can keep what others drop, which nested boxes do not
 * cover: for more units tf_slope_bound holds.)  NULL with an error in d (a count exceeds 2^63 - 1,
 * or no memory).  To be freed by the caller. */
TF_API tf_bound_slope *tf_bound_slope_of(const tf_workload *wl, int word_bits, tf_diags *d);
TF_API void tf_bound_slope_free(tf_bound_slope *s);
/* tf_bounds_find (tileflow/model.h), and what takes milliseconds: the first load and the last store
 * of several ops, and what the capacity on chip adds (tf_slope_bound): words that pass more than
 * once, and the time and energy that they take. */
TF_API bool tf_bounds_on_chip(const tf_arch *arch, const tf_workload *wl, tf_bounds *out,
                              tf_diags *d);
/* The bound in words at a capacity. */
TF_API double tf_bound_at(const tf_bound_slope *s, double capacity);

#ifdef __cplusplus
}
#endif
#endif
