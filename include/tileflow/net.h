/* Networks: a workload of many ops cut into groups that are fused each by itself (docs/HOWTO-plan.md). */
#ifndef TILEFLOW_NET_H
#define TILEFLOW_NET_H
#include "tileflow/emit.h"
#include "tileflow/search.h"

/* ---- groups ----------------------------------------------------------------------- */
/* Some ops of a workload as a workload of their own.  Tensors that other ops make are its inputs, and so are
 * views of these; tensors that only other ops read are its outputs; extents, pads and widths are kept.  Ops stand in
 * topological order.  A dim is one for two ops where one reads what the other makes, or both read a tensor, at just
 * that dim; else each has its own, whatever they are called in the network. */
typedef struct {
  const tf_workload *workload;
  const int *op, *tensor; /* [n_ops], [n_tensors] their numbers in the network */
  const char *key;        /* [key_size] bytes, equal where two groups differ in names alone */
  size_t key_size;
} tf_group;

/* The group of these n ops, each named once, in any order; borrows from wl.  `name` of the workload, copied; at: where
 * the group was asked for, for errors.  NULL with an error in d: a tensor is read both inside and outside of the group,
 * an op reads a view of what the group makes, dims are too many. */
tf_group *tf_group_cut(const tf_workload *wl, const int *ops, int n, const char *name, tf_loc at, tf_diags *d);
void tf_group_free(tf_group *g);

/* ---- plans ------------------------------------------------------------------------ */
enum {
  TF_NET_MAX_OPS = 8, /* of a group, where the options say nothing */
  TF_NET_EVALS = 4000 /* of each distinct group of the plan, where the budget says nothing */
};

typedef struct {
  tf_objective objective; /* a sum over groups: not EDP */
  int max_ops;            /* of a group; 0: TF_NET_MAX_OPS, at most 32 */
  const char *isa; /* of the CPU's kernels that the plan is for: each group gets the mapping whose kernel promises most,
                      as tf_planner_run has it; NULL: the mapping of least cost by the model */
  tf_budget
      budget; /* max_evals: of the search for each distinct group that the plan has; time_limit: of the whole; behind it
                 groups are mapped by formulas alone where these find a mapping, and no longer searched for */
} tf_net_opts;

/* A group of a plan, as it is run: after those before it. */
typedef struct {
  tf_group *group;
  int like; /* the first group of the plan with an equal key and mapping; its own number where none stands before */
  tf_tree *tree;       /* the mapping, of the group's workload */
  tf_figures figures;  /* of that mapping; `held_words` too */
  tf_bounds bounds;    /* what no mapping of the group can beat */
  char bottleneck[64]; /* as in tf_result */
} tf_net_group;

/* Groups run one after the other; what passes from one to another lies in the outermost memory. */
typedef struct {
  tf_objective objective;
  int n, n_distinct;
  tf_net_group *groups; /* [n] */
  tf_figures total;     /* sums over the groups; edp: of the sums; held_words: the most that one holds */
  tf_bounds bounds;     /* what no execution of the network can beat, whatever its groups */
  tf_bounds parts;      /* the sums of the groups' bounds: what none with these groups can */
  int window;           /* ops ahead of the first that is not in a group yet, among which groups were looked for */
  bool exact;           /* that was all of them: by the costs that were found no cut into groups of max_ops is better */
  int64_t evals, candidates, evaluated; /* mappings; distinct groups that were met; of these, mapped */
  tf_stop stopped_by;                   /* EXHAUSTED, or TIME: some search was left out or cut short */
} tf_net_plan;

/* Cuts the network into groups and maps each.  NULL with errors in d, or without where the budget's stop said so. */
tf_net_plan *tf_net_plan_of(const tf_arch *arch, const tf_workload *wl, const tf_net_opts *o, tf_diags *d);
void tf_net_plan_free(tf_net_plan *p);

/* The section `plan` of a file (docs/FORMATS.md) that tf_net_plan_read reads back.  Malloc'd; NULL: no memory. */
char *tf_net_plan_text(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl);
/* The plan of a file, its groups evaluated; what only a search knows (window, evals, ..) is 0.  NULL with every error
 * in d: ops that are not there, in two groups or in none, groups before what they read is made, mappings. */
tf_net_plan *tf_net_plan_read(const tf_arch *arch, const tf_workload *wl, const tf_text *text, tf_diags *d);
/* The files of a plan: what it was made of, so that the plan alone leads back to them. */
typedef struct tf_net_inputs tf_net_inputs;
/* Lines for the end of the section: name and SHA-256 of each text that holds no plan, and settings.  Malloc'd; NULL:
 * no memory. */
char *tf_net_inputs_text(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set);
/* What a plan says of them.  NULL with every error in d: no plan, one that names no files, lists of another form. */
tf_net_inputs *tf_net_inputs_read(const tf_text *plan, tf_diags *d);
void tf_net_inputs_free(tf_net_inputs *in);
const char *tf_net_inputs_path(const tf_net_inputs *in, size_t i);       /* NULL behind the last */
const tf_setting *tf_net_inputs_set(const tf_net_inputs *in, size_t *n); /* borrowed */
/* Whether these texts, one for each path, hold what they held then; if not, an error in d for each that does not. */
bool tf_net_inputs_same(const tf_net_inputs *in, const tf_text *texts, tf_diags *d);

/* Whether a native file has that section, as far as a look at its lines says. */
bool tf_net_has_plan(const tf_text *text);

/* ---- memory ------------------------------------------------------------------------- */
/* Where the tensors lie that pass from one group to a later one: in one arena, so that no two overlap that are alive in
 * the same group. */
typedef struct {
  int64_t
      *offset;   /* [n_tensors of the network] in bytes, multiples of 64; -1: inputs, outputs, what stays in a group */
  int64_t bytes; /* the arena */
  int64_t least; /* the most that is alive during one group: no arena has less */
} tf_net_memory;

/* bytes_each: of an element; 0: as wide as the tensors' words.  False with an error in d. */
bool tf_net_memory_of(const tf_net_plan *p, const tf_workload *wl, int bytes_each, tf_net_memory *out, tf_diags *d);
void tf_net_memory_free(tf_net_memory *m);

/* ---- emission ----------------------------------------------------------------------- */
/* Files of one folder: network.h, network.c, a kernel for each distinct group (g1.c, g1.h, g1_parts.h, ..), test.c,
 * bench.c, Makefile, README.md.  The network is called as a kernel is (emit.h): its inputs and outputs are arguments,
 * the rest lies in the workspace.  What kernels lay out of inputs (weights) may be laid out once: NAME_pack.  o: isa,
 * name (NULL: "network"), version, command; float32 alone.  NULL with errors in d. */
tf_emitted *tf_net_emit_cpu(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl, const tf_emit_options *o,
                            tf_diags *d);
#endif
