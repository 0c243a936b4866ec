/* Evaluation of a tile tree: exact counts, latency, energy, feasibility (docs/MODEL.md). */
#ifndef TILEFLOW_MODEL_H
#define TILEFLOW_MODEL_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mapping: tree.h, for who looks inside it. */
typedef struct tf_tree tf_tree;

/* Words, summed over instances and over the whole run. */
typedef struct {
  int64_t fill;   /* written into the level from further out */
  int64_t read;   /* read to serve what is further in */
  int64_t update; /* written into it from further in */
  int64_t drain;  /* read to be written further out */
  int64_t peak;   /* most words of the tensor that one instance holds */
} tf_counts;

typedef struct {
  int64_t points;      /* executed, recomputation included */
  int64_t recomputed;  /* of these, beyond one production of the whole output */
  int64_t corrections; /* in addition: points by which streaming rescales or divides running
                          results, on the unit that runs exp, mul and div (SEMANTICS D11) */
  int64_t units;       /* most units in use at once */
  int unit;            /* index into arch->units */
  double cycles;
  int64_t
      skipped; /* points not executed, in steps that a mask skips (docs/SEMANTICS.md section 1) */
} tf_op_result;

/* A part of a memory. */
typedef struct {
  int64_t peak; /* most words that it holds in one instance, in words of the memory */
  int64_t fill, read, update, drain; /* as of tf_counts, of all tensors while they are in it */
  struct {
    double fill, read, update, drain;
  } own; /* the same in words of the memory */
} tf_part_result;

typedef struct {
  int64_t peak;          /* most words that one instance holds, in words of the memory */
  tf_part_result *parts; /* of its parts; NULL: it has none */
  int64_t instances;     /* most instances in use at once */
  double cycles;         /* busy time of its busier port: words / bandwidth per instance */
  double energy_pj;      /* of its words; what it leaks is apart */
  double leakage_pj;     /* of all instances, over the whole run */
  /* Of the network that feeds it, if it has a topology (docs/SEMANTICS.md section 5): what it is
   * called, "Buffer network" (else NULL; owned by the model); links that its words take, each word
   * on each link counted, in words of the memory; busy time of its busiest link. */
  const char *network;
  double hops, link_cycles;
} tf_level_result;

typedef struct {
  int64_t points;
  int64_t units; /* most in use at once, over all its ops */
  double cycles;
  double energy_pj;  /* of its points */
  double leakage_pj; /* of all units of its kind, over the whole run */
} tf_unit_result;

/* What does not fit. */
typedef struct {
  tf_code code; /* TF_E_CAPACITY or TF_E_FANOUT */
  int node;     /* the tree node that causes it */
  int level;    /* memory; for units: the memory that they are below */
  int unit;     /* -1: a memory's instances or capacity */
  int axis;     /* FANOUT: 0 X, 1 Y, 2 both together; CAPACITY: -1 */
  int64_t need, have;
  const tf_mem_part
      *part; /* CAPACITY: the part of the memory that is too small; NULL: the memory is */
} tf_violation;

/* What one tree node moves, and its time in cycles, over all its executions (for `tree`). */
typedef struct {
  int64_t runs; /* moments: executions, all instances at once counted once */
  int64_t held; /* words of its memory that it holds at its largest moment; 0 if it is no m-tile */
  int64_t loads, stores; /* words of the tensors filled / drained by it */
  double cycles;
} tf_node_result;

/* Lines where memories have them (docs/SEMANTICS.md section 9). */
typedef struct {
  tf_counts *counts; /* [level * n_tensors + tensor] lines that accesses touch; no peak */
  double *cycles;    /* [n_memories] of the banks of one instance, over the whole run */
} tf_lines_result;

/* What is left of the counts where zeros save accesses and points (docs/SEMANTICS.md section 8):
 * expectations over all ways in which the zeros may fall. */
typedef struct {
  double fill, read, update, drain; /* accesses that take energy, in words of the tensor */
  double metadata;                  /* bits that they move beside them */
} tf_kept_counts;
typedef struct {
  double points, gated, skipped; /* of an op: computed; left out but for their time; left out */
} tf_kept_points;
typedef struct {
  tf_kept_counts *counts; /* [level * n_tensors + tensor] */
  tf_kept_points *ops;    /* [n_ops] */
  int64_t *held, *most;   /* [n_memories] words that one instance is expected to hold, and where no
                             element is zero */
  double *share; /* [tensor] of its elements that are not zero; derived where it is not given */
  bool upper;    /* some accesses that units share may be fewer than told */
} tf_kept;

typedef struct {
  double cycles, seconds;
  double energy_pj;  /* all of it */
  double leakage_pj; /* the part of it that the machine leaks, in all cycles */
  int64_t points;
  int64_t skipped;            /* of all ops: points in steps that a mask skips */
  double compute_utilization; /* points / (cycles * peak points per cycle of the units used) */
  char bottleneck[64];        /* "DRAM read", "matrix compute" */
  bool feasible, overflow;    /* overflow: a count exceeded 2^63 - 1; all figures are invalid */
  bool estimated;             /* every step was taken to have a whole tile (tf_model_estimate) */
  bool mean_ports; /* ports are as busy as in the mean instance, not the busiest: borders, retained
                      parts, or reads or ops that a spatial loop moves unlike (docs/SEMANTICS.md
                      section 5) */
  int n_violations;
  tf_violation violations[16];
  /* Arrays owned by the tf_model, valid until its next evaluation. */
  tf_counts *counts;       /* [level * n_tensors + tensor] */
  tf_level_result *levels; /* [n_memories] */
  tf_unit_result *units;   /* [n_units] */
  tf_op_result *ops;       /* [n_ops] */
  tf_node_result *nodes;   /* [n_nodes] */
  const tf_kept *kept;     /* NULL: zeros save nothing; the counts are what is moved and done */
  const tf_lines_result *lines; /* NULL: no memory has lines */
} tf_result;

/* Of one instance of a memory at any one moment, over all ways in which the zeros may fall. */
typedef struct {
  int64_t words; /* it holds no more with the confidence asked for, at least */
  double fits; /* with this probability at least it holds no more than it has room for; 1: always */
} tf_fit;

typedef struct tf_model tf_model;

/* Prepares a tree for evaluation: one model, many evaluations.  Borrows tree, arch and workload.
 * NULL with an error in d if memory ran out or a limit is exceeded. */
TF_API tf_model *tf_model_new(const tf_tree *tree, tf_diags *d);
TF_API void tf_model_free(tf_model *m);

/* From now on, counts steps that a mask would skip like any others: an upper bound of the masked
 * counts, as fast as without a mask. */
TF_API void tf_model_all_points(tf_model *m);

/* Sets the most steps that an evaluation may walk before it gives up (which is reported like an
 * overflow); initially 20 million.  Mappings whose instances do not run in step are counted by
 * walking the execution.  Below 2^20 steps, as in a search, the sums over instances whose
 * neighbours hand words on give up where there are thousands of them, too. */
TF_API void tf_model_walk_limit(tf_model *m, int64_t steps);

/* From now on, where that limit ends the walk, every step is taken to have a whole tile, also where
 * the last ones reach beyond a range, and r->estimated says so: words held and instances used are
 * upper bounds, counts, cycles and energy as a rule (not where an idle step would have brought what
 * the next one finds).  With a limit of 0, whether a mapping fits is asked without walking.  Of
 * some trees (retained tensors, ops that share a loop and advance by different steps) nothing is
 * known even so: the evaluation gives up. */
TF_API void tf_model_estimate(tf_model *m);

/* Whether the last evaluation failed because of that limit, and not because of an overflow: nothing
 * is known about the mapping. */
TF_API bool tf_model_gave_up(const tf_model *m);

/* How well what is held fits in the last evaluation, where zeros save something: out[n_memories].
 * False: nothing is saved, or memory ran out. */
TF_API bool tf_model_fits(tf_model *m, double confidence, tf_fit *out);
/* The points that the busiest unit is expected to take time for, over those of the mean one, if
 * units wait for each other only at the end: times[n_ops]; NAN: it is not told (docs/SEMANTICS.md
 * section 8).  False: as above. */
TF_API bool tf_model_busiest(const tf_model *m, double *times);
/* Where the workload routes tokens: the parts into which spatial loops divide the experts of op o;
 * 0: it has none, its dim has not all of them, or the parts are uneven. */
TF_API int64_t tf_model_routed(const tf_model *m, int o);

/* Whether memory ran out in the last evaluation or in tf_why_of: its results are invalid, and so
 * are all later ones. */
TF_API bool tf_model_starved(const tf_model *m);

/* Whether the last evaluation was a quick one: no part of a production is retained, borders clip
 * only what is read, and siblings use the same instances.  Where tiles are partial it takes about
 * ten times as long as where none is; others take a hundred times as long and more. */
TF_API bool tf_model_quick(const tf_model *m);

/* The number of loops of the tree, in preorder: the order of trip counts in a search. */
TF_API int tf_model_n_loops(const tf_model *m);

/* Evaluates the tree with its own trip counts (trips == NULL) or with trips[n_loops].  Allocates
 * nothing, but for lines. False, and out->overflow set, if a count exceeds 2^63 - 1; false with
 * overflow unset if the trip counts do not cover the ranges. An infeasible mapping is no failure:
 * see out->feasible. */
TF_API bool tf_model_eval(tf_model *m, const int64_t *trips, tf_result *out);

/* Words read and written at the outermost memory. */
TF_API double tf_result_traffic(const tf_workload *wl, const tf_result *r);
/* Words held at once in all inner memories, over all their instances. */
TF_API double tf_result_held(const tf_arch *arch, const tf_result *r);

/* The figures by which a search compares. */
typedef struct {
  bool counted; /* the return value of tf_model_eval; if false, the others are invalid */
  bool feasible;
  double cycles, energy_pj;
  double traffic_words, held_words; /* tf_result_traffic, tf_result_held */
} tf_brief;
/* Evaluates n rows of trip counts, row k at trips[k * n_loops]: bit for bit as tf_model_eval does
 * one by one, but many at once in the lanes of vectors where the quick count applies.  The first
 * call for a model prepares it, and allocates; trees with padded tensors, streamed reductions, Para
 * or Pipe are evaluated row by row. */
TF_API void tf_model_eval_batch(tf_model *m, const int64_t *trips, int64_t n, tf_brief *out);

/* Lower bounds for every mapping (docs/SEMANTICS.md section 7). */
typedef struct {
  double cycles, energy_pj;
  int64_t traffic_words; /* compulsory words in and out of the outermost memory */
} tf_bounds;
/* Words of input z that every mapping reads: elements inside the tensor that some needed point
 * touches, each once. False if they exceed 2^63 - 1, or memory ran out. */
TF_API bool tf_bounds_input(const tf_workload *wl, int z, int64_t *words);
/* Whether some op is masked (docs/SEMANTICS.md section 1), so that a mapping may skip steps.  Also
 * true if memory ran out. */
TF_API bool tf_workload_masked(const tf_workload *wl);
/* Whether the machine has formats or rules for zeros that the workload has (docs/SEMANTICS.md
 * section 8): then results have `kept`, and no mapping is proved to be the best. */
TF_API bool tf_zeros_matter(const tf_arch *arch, const tf_workload *wl);
/* How many units of a kind the machine has; a double, as it may exceed 2^63. */
TF_API double tf_bounds_units(const tf_arch *arch, int unit);
/* [op] Whether it reads a sum of exponentials by which something is divided, or what is made of
 * such sums alone: a mapping that streams may divide at the end instead, and then the op reads
 * less, or has no points of its own.  To be freed; NULL: memory ran out. */
TF_API bool *tf_bounds_may_wait(const tf_workload *wl);
/* False if the words exceed 2^63 - 1, or memory ran out. */
TF_API bool tf_bounds_of(const tf_arch *arch, const tf_workload *wl, tf_bounds *out);
/* The same, with the reason in d. */
TF_API bool tf_bounds_find(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
