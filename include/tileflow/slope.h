/* The ski-slope: lower bounds on the words through the outermost memory, and attained words, for
 * each capacity on chip (docs/HOWTO-bound.md). */
#ifndef TILEFLOW_SLOPE_H
#define TILEFLOW_SLOPE_H
#include "tileflow/budget.h"
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A lower bound on the words that any mapping of the workload reads from and writes to the
 * outermost memory, if at most `capacity` words are on chip at any time: in all inner memories, all
 * instances together, and in the units, which hold up to tf_slope_operands words each.  It holds
 * for every execution, tiled or not, on any number of levels and instances, with or without
 * recomputation.  Never below the compulsory words, which INFINITY capacity gives. Source: Hong and
 * Kung's argument with Hoelder-Brascamp-Lieb inequalities over single dims (Irony, Toledo and
 * Tiskin 2004; Christ et al. 2013; the constants of one matrix product: Smith and van de Geijn
 * 2017), extended to intermediates that never leave the chip.  -1: a count exceeds 2^63 - 1. */
TF_API double tf_slope_bound(const tf_workload *wl, double capacity);

/* The most words that one point works on: those that it reads, and the one that it writes. */
TF_API int tf_slope_operands(const tf_workload *wl);

/* The most words that all units of the machine hold at once. */
TF_API double tf_slope_hand(const tf_arch *arch, const tf_workload *wl);

typedef struct {
  int64_t capacity; /* words of memory on chip, of the size in the options */
  double bound; /* with one unit: the larger of tf_slope_bound of capacity plus what the unit holds,
                   and tf_bound_at (tileflow/bound.h) */
  double all_units; /* for units that hold opts.hand words: tf_slope_bound; if opts.hand is 0:
                       bound.  At most bound */
  double attained;  /* words of the best mapping found with one memory of that capacity; INFINITY:
                       none found */
  char *text; /* that mapping (memories "DRAM" and "Chip", which is all others together); NULL: none
               */
} tf_slope_point;

typedef struct {
  int n;
  tf_slope_point
      *at; /* [n], by ascending capacity; words do not increase; n is 0 only if it was stopped */
  int64_t evals;     /* mappings tried, of all capacities */
  double compulsory; /* each input and output once */
  int op_left_out;   /* an op with too many dims for the proof by nested loops: its words count once
                        each; -1: none */
} tf_slope;

typedef struct {
  int word_bits; /* of a word of capacity */
  int64_t own;   /* a capacity to be included; 0 or less: none */
  double hand;   /* words that the machine's units hold: tf_slope_hand; 0: a single unit */
  /* max_evals: for each capacity; time_limit: for each of the two ways (solver, search) to attain a
   * capacity.  When stop returns true, only points already complete are returned. */
  tf_budget budget;
} tf_slope_opts;

/* Capacities are powers of two from 16 to the first at which the compulsory words are attained, or
 * which holds all tensors.  NULL with an error in d. */
TF_API tf_slope *tf_slope_of(const tf_workload *wl, const tf_slope_opts *o, tf_diags *d);
TF_API void tf_slope_free(tf_slope *s);

#ifdef __cplusplus
}
#endif
#endif
