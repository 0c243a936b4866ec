/* The ski-slope: what must pass through the outermost memory, for each capacity on chip (docs/HOWTO-bound.md). */
#ifndef TILEFLOW_SLOPE_H
#define TILEFLOW_SLOPE_H
#include "tileflow/budget.h"
#include "tileflow/spec.h"

enum { TF_SLOPE_DIMS = 64 }; /* with more dims in the workload: what each tensor costs once */

/* Words that every mapping of the workload reads from and writes to the outermost memory, while `capacity` words at
 * most are on chip at any time: in all memories within, all instances together, and in the units that work on them,
 * which have up to tf_slope_operands words each in hand.  Proved for every execution, tiled or not, on any number of
 * levels and instances, with or without recomputation.  Never below what each tensor costs once; INFINITY capacity
 * gives just that.
 * The argument is Hong and Kung's with Hoelder-Brascamp-Lieb inequalities over single dims (Irony, Toledo and Tiskin
 * 2004; Christ et al. 2013; the constants of one matrix product: Smith and van de Geijn 2017), extended to
 * intermediates that never leave the chip.  -1: a count passes 2^63 - 1. */
double tf_slope_bound(const tf_workload *wl, double capacity);

/* The most words that one point works on: what it reads, and what it makes. */
int tf_slope_operands(const tf_workload *wl);

/* The most words that all units of the machine have in hand at once. */
double tf_slope_hand(const tf_arch *arch, const tf_workload *wl);

typedef struct {
  int64_t capacity; /* words of memory on chip, as wide as the options say */
  double bound;     /* with one unit: the larger of tf_slope_bound, of that and of what it has in hand, and tf_bound_at
                       (tileflow/bound.h) */
  double
      all_units; /* with opts.hand words in hand: tf_slope_bound; bound, where opts.hand is 0.  Never more than bound */
  double attained; /* words of the best mapping found on one memory of that capacity; INFINITY: none found */
  char *text;      /* that mapping (memories "DRAM" and "Chip", which is what the others name); NULL: none */
} tf_slope_point;

typedef struct {
  int n;
  tf_slope_point *at; /* [n], capacities rise, words do not; n is 0 only where it was stopped */
  int64_t evals;      /* mappings tried, of all capacities */
  double compulsory;  /* each input and output once */
  int op_left_out; /* an op with too many dims for the proof by nested loops: of it each word counts once; -1: none */
  bool phases_left_out; /* there are too many dims for the proof by phases */
} tf_slope;

typedef struct {
  int word_bits; /* of a word of capacity */
  int64_t own;   /* a capacity that is one of them, too; 0 or less: none */
  double hand;   /* words that the machine's units have in hand: tf_slope_hand; 0: one unit alone */
  /* max_evals: of each capacity; time_limit: of each of two ways to try a capacity.  Once stop says so, the points that
   * are whole are all there is. */
  tf_budget budget;
} tf_slope_opts;

/* Capacities are powers of two from 16 to the first at which the compulsory words are attained, or that holds all
 * tensors.  NULL with an error in d. */
tf_slope *tf_slope_of(const tf_workload *wl, const tf_slope_opts *o, tf_diags *d);
void tf_slope_free(tf_slope *s);
#endif
