/* Search for a mapping (docs/HOWTO-search.md): a strategy proposes shapes and trip counts, the
 * driver evaluates them within a budget, keeps the best and can be resumed from its log. */
#ifndef TILEFLOW_SEARCH_H
#define TILEFLOW_SEARCH_H
#include "tileflow/budget.h"
#include "tileflow/model.h"

/* What is to be small.  Latency in cycles, energy in pJ, EDP in pJ * seconds, traffic in words through
 * the outermost memory. */
#define TF_OBJECTIVES(X) X(LATENCY, "latency") X(ENERGY, "energy") X(EDP, "edp") X(TRAFFIC, "traffic")
typedef enum {
#define X(id, key) TF_##id,
  TF_OBJECTIVES(X)
#undef X
      TF_N_OBJECTIVES
} tf_objective;
/* NULL past the last. */
const char *tf_objective_key(int objective);

typedef struct {
  double cycles, energy_pj, edp;
  double traffic_words; /* read from and written to the outermost memory */
  double held_words;    /* peaks of all inner memories, summed over the instances used */
} tf_figures;

double tf_objective_value(tf_objective o, const tf_figures *f);
/* What the bounds of all mappings (tf_bounds_of) come to. */
double tf_bounds_value(tf_objective o, const tf_bounds *b, const tf_arch *arch);

/* A mapping that fits. */
typedef struct {
  char *text;    /* that tf_tree_parse reads */
  tf_tree *tree; /* the same, for the architecture and workload searched; NULL in `pareto` */
  double value;  /* of the objective */
  tf_figures figures;
} tf_found;

typedef struct {
  const char *strategy; /* NULL: the first of tf_search_strategy */
  tf_objective objective;
  tf_budget budget; /* without max_evals give a time limit */
  int keep;         /* how many different shapes to keep, best first; 0: 8 */
  int variants;     /* how many mappings to keep whatever their shapes, best first (not from a log); 0: none */
  const tf_tree *const *starts; /* [n_starts] mappings of the same architecture and workload: the first to be tried,
                                   and the space around each is searched from its trip counts.  One that fits counts as
                                   found, whatever the space; one that does not is mended */
  int n_starts;
  const char *log; /* file that is written as the search goes; NULL: none */
  bool resume;     /* take what the log already holds as found, and write on */
} tf_search_opts;

typedef struct {
  int n_best;     /* 0: nothing that fits was found */
  tf_found *best; /* best first, different shapes: of equal value the one with less energy, then fewer words through the
                     outermost memory */
  int n_variants;
  tf_found *variants; /* ascending value, different texts; figures as the search counts them (padding as if it were
                         read; of masked workloads all points, in `best` and `pareto` too: tf_model_all_points) */
  int n_pareto;
  tf_found *pareto; /* none is beaten in cycles, energy, traffic and words held at once */
  int64_t evals, shapes;
  double seconds;
  tf_stop stopped_by;
  const char *strategy;
  int threads;
  uint64_t seed;
} tf_search_result; /* tf_search_free frees texts and trees that nobody has taken out of it */

/* What passes through the memory M where an op's blocks stand: the first of which there are several; where there is one
 * of each, the memory that is close to a core (tf_arch_close). */
typedef enum {
  TF_TEMPLATE_WHOLE,   /* M holds all that an op reads from further out, at once, and the intermediates */
  TF_TEMPLATE_STREAM,  /* so, but of a softmax's keys a block at a time: its maximum and its sums are streamed */
  TF_TEMPLATE_PARTS,   /* what is read passes through M in parts; it holds the intermediates */
  TF_TEMPLATE_OUTSIDE, /* so do the intermediates, which stand one memory further out */
  TF_TEMPLATE_FAR,     /* so do they, and all that an op reads passes through that memory in parts, too */
  TF_N_TEMPLATES
} tf_template;

/* An open mapping in which all ops are fused: one Seq below the loops that all can share, each op's own loops below.
 * What the search makes of it suits machines that run blocks of one op fast (CPUs).  NULL if the ops share no loop, the
 * machine has no such memory, nothing is to be streamed, the tree would break a rule, or memory ran out. */
tf_tree *tf_search_template(const tf_arch *arch, const tf_workload *wl, tf_template form);

/* Searches all mappings of the workload, or the completions of `given` (a tree with open trip
 * counts).  The same seed and max_evals give the same result with any number of threads.
 * NULL with errors in d. */
tf_search_result *tf_search_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                const tf_search_opts *o, tf_diags *d);
void tf_search_free(tf_search_result *r);

/* Name of the k-th strategy and what it does; NULL past the last. */
const char *tf_search_strategy(int k, const char **about);
#endif
