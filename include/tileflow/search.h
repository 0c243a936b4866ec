/* Search for a mapping (docs/HOWTO-search.md): a strategy proposes shapes and trip counts, the
 * driver evaluates them within a budget, keeps the best, and can be resumed from its log. */
#ifndef TILEFLOW_SEARCH_H
#define TILEFLOW_SEARCH_H
#include "tileflow/budget.h"
#include "tileflow/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The objective, to be minimised.  Latency in cycles, energy in pJ, EDP in pJ * seconds, traffic in
 * words through the outermost memory. */
#define TF_OBJECTIVES(X)                                                                           \
  X(LATENCY, "latency") X(ENERGY, "energy") X(EDP, "edp") X(TRAFFIC, "traffic")
typedef enum {
#define X(id, key) TF_##id,
  TF_OBJECTIVES(X)
#undef X
      TF_N_OBJECTIVES
} tf_objective;
/* NULL past the last. */
TF_API const char *tf_objective_key(int objective);

typedef struct {
  double cycles, energy_pj, edp;
  double traffic_words; /* read from and written to the outermost memory */
  double held_words;    /* peaks of all inner memories, summed over the instances used */
} tf_figures;

TF_API double tf_objective_value(tf_objective o, const tf_figures *f);
/* The value of the objective for the lower bounds of all mappings (tf_bounds_of). */
TF_API double tf_bounds_value(tf_objective o, const tf_bounds *b, const tf_arch *arch);

/* A mapping that fits. */
typedef struct {
  char *text;    /* as tf_tree_parse reads it */
  tf_tree *tree; /* the same as a tree of the architecture and workload searched */
  double value;  /* of the objective */
  tf_figures figures;
} tf_found;

typedef struct {
  const char *strategy; /* NULL: the first of tf_search_strategy */
  tf_objective objective;
  tf_budget budget; /* without max_evals, set a time limit */
  int keep;         /* how many shapes to keep, best first; 0: 8 */
  int variants; /* how many mappings to keep irrespective of shape, best first (not from a log); 0:
                   none */
  const tf_tree *const
      *starts; /* [n_starts] borrowed: mappings of the same architecture and workload.  They are
                  tried first, and the space of each is searched from its trip counts.  A start that
                  fits counts as found, even outside the space; one that does not fit is repaired */
  int n_starts;
  bool whole_tiles; /* mappings are ranked, and variants reported, as if every step had a whole
                       tile: several times as fast where ranges leave a remainder, and near enough
                       to choose among many */
  bool all_points;  /* masked workloads are ranked, and reported, with all points counted
                       (tf_model_all_points): several times as fast.  Else as `eval` counts them */
  /* A lower bound of all mappings, or what is near enough to it.  Once one meets it, the search
   * goes on for its ties alone, for as long as it has taken and no less than some thousand
   * evaluations, and stops.  0: not known */
  double goal;
  const char *exportable; /* a name of tf_export_format: only mappings that tf_export_write takes;
                             NULL: any */
  const char *log;        /* file written during the search; NULL: none */
  bool resume;            /* use the results that the log already holds, and append to it */
} tf_search_opts;

typedef struct {
  int n_best;     /* 0: nothing that fits was found */
  tf_found *best; /* best first, of different shapes; ties by energy, then by words through the
                     outermost memory */
  int n_variants;
  /* By ascending value, all different; figures as the search counts them (padding counted as data).
   */
  tf_found *variants;
  int n_pareto;
  tf_found *pareto; /* the Pareto front of cycles, energy, traffic and words held at once.  Of
                       masked workloads, here and in `variants`, what would take long to count has
                       the figures of all points: never less */
  int64_t evals, shapes;
  double seconds;
  tf_stop stopped_by;
  const char *strategy;
  int threads;
  uint64_t seed;
} tf_search_result; /* tf_search_free frees texts and trees that have not been taken out of it (and
                       set to NULL) */

/* What passes through memory M, in which an op's blocks stay: the first memory with several
 * instances; if each has one, the memory close to a core (tf_arch_near_cache). */
typedef enum {
  TF_TEMPLATE_WHOLE,  /* M holds all that an op reads from further out, and the intermediates */
  TF_TEMPLATE_STREAM, /* the same, with a softmax's keys a block at a time: its maximum and sums are
                         streamed */
  TF_TEMPLATE_PARTS,  /* what is read passes through M in parts; M holds the intermediates */
  TF_TEMPLATE_OUTSIDE, /* intermediates pass in parts, too; their home is one memory further out */
  TF_TEMPLATE_FAR, /* the same, and all that an op reads passes through that memory in parts, too */
  TF_N_TEMPLATES
} tf_template;

/* An open mapping in which all ops are fused: one Seq below the loops that all can share, each op's
 * own loops below. Completed by a search it suits machines that run blocks of one op efficiently
 * (CPUs).  NULL if the ops share no loop, the machine has no such memory, nothing can be streamed,
 * the tree would break a rule, or memory ran out. */
TF_API tf_tree *tf_search_template(const tf_arch *arch, const tf_workload *wl, tf_template form);

/* Searches all mappings of the workload, or the completions of `given` (a tree with open parts).
 * The same seed and max_evals give the same result with any number of threads.  NULL with errors in
 * d. */
TF_API tf_search_result *tf_search_run(const tf_arch *arch, const tf_workload *wl,
                                       const tf_tree *given, const tf_search_opts *o, tf_diags *d);
TF_API void tf_search_free(tf_search_result *r);

/* Name and description of the k-th strategy; NULL past the last. */
TF_API const char *tf_search_strategy(int k, const char **about);

#ifdef __cplusplus
}
#endif
#endif
