/* Networks: a workload of many ops cut into groups that are fused separately (docs/HOWTO-plan.md).
 */
#ifndef TILEFLOW_NET_H
#define TILEFLOW_NET_H
#include "tileflow/emit.h"
#include "tileflow/grad.h"
#include "tileflow/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- groups ----------------------------------------------------------------------- */
/* Some ops of a workload as a workload of their own.  Tensors that other ops produce are its
 * inputs, and so are views of these; tensors that only other ops read are its outputs; extents,
 * pads and widths are kept.  Ops are in topological order.  Two ops share a dim if one reads the
 * other's output, or both read a tensor, at exactly that dim; otherwise each has its own, whatever
 * the names in the network. */
/* Where the elements of an input stand in the network's tensor: rank q goes along[q]'s rank of that
 * in steps of step[q] elements, from begin[r] of each rank r of that on.  along NULL: as they stand
 * there. */
typedef struct {
  const int *along;
  const int64_t *step, *begin;
} tf_group_place;

typedef struct {
  const tf_workload *workload;
  const int *op, *tensor;      /* [n_ops], [n_tensors] numbers in the network */
  const tf_group_place *place; /* [n_tensors] */
  const char *key;             /* [key_size] bytes; equal for groups that differ only in names */
  size_t key_size;
} tf_group;

/* The group of these n ops, each listed once, in any order; borrows from wl.  `name` of the
 * workload, copied; at: the location for errors.  NULL with an error in d: a tensor is read both
 * inside and outside of the group, an op reads a view of what the group produces, or there are too
 * many dims. */
TF_API tf_group *tf_group_cut(const tf_workload *wl, const int *ops, int n, const char *name,
                              tf_loc at, tf_diags *d);
TF_API void tf_group_free(tf_group *g);

/* ---- plans ------------------------------------------------------------------------ */
enum {
  TF_NET_MAX_OPS = 8, /* most ops of a group, by default */
  TF_NET_EVALS = 4000 /* of each distinct group of the plan, by default */
};

typedef struct {
  tf_objective objective; /* must be a sum over groups: not EDP */
  int max_ops;            /* of a group; 0: TF_NET_MAX_OPS, at most 32 */
  bool recompute;  /* an op may be made in several groups, which read it, instead of being stored */
  const char *isa; /* instruction set of the kernels that the plan is for: each group gets the
                      mapping whose kernel is estimated fastest, as in tf_planner_run; NULL, and
                      no target: the mapping of least cost by the model */
  const char *target; /* of these kernels, one that can TF_EMIT_NETWORKS; NULL: cpu */
  const char *dtype;  /* of these kernels' data (emit.h); NULL: f32 */
  /* The mapping that a group of the plan gets in the place of one that is searched for (of its
   * fastest kernel, where that has been measured), and the choices that were made for its kernel;
   * the plan owns it.  NULL: none is known, or, with an error in d, the plan fails.  Asked for each
   * distinct group once the network is cut.  NULL: nothing is known of any. */
  struct tf_tree *(*known)(void *ctx, const tf_workload *group, tf_choices *choices, tf_diags *d);
  void *known_ctx;
  tf_budget budget; /* max_evals: for the search of each distinct group in the plan; time_limit: for
                       the whole; after it, groups for which the closed form finds a mapping are not
                       searched any more */
} tf_net_opts;

/* A group of a plan.  Groups run in this order. */
typedef struct {
  tf_group *group;
  int like; /* the first group of the plan with equal key, mapping and choices; its own number if
               none is */
  tf_tree *tree;       /* the mapping, of the group's workload */
  tf_choices choices;  /* made for the generator of its kernel */
  tf_figures figures;  /* of that mapping, `held_words` included */
  tf_bounds bounds;    /* lower bounds for any mapping of the group */
  char bottleneck[64]; /* as in tf_result */
  double points; /* computed, and how many of these beyond one production of what its ops make,
                    as windows overlap */
  double recomputed;
  double kernel_cycles; /* of its kernel, with calls, packing and layouts, without memories; 0: no
                           kernel was planned */
  /* With a kernel: the mapping's by the model, but words that earlier groups of the same call read
   * or made come from the memory below the outermost, where that is one and they and all that was
   * used since fit (a cache that keeps what was used last).  Words of which no group of the call
   * had use before come from the outermost. */
  double memory_cycles;
  /* With a kernel of a target that says (cpu): what its call is expected to take, and the cycles of
   * that where the cache has what it has; 0: not said. */
  tf_expected expected;
  double expected_cycles;
} tf_net_group;

/* What fusing gains: `apart` - `fused`, in the plan's objective, as the search for the cut found
 * them (of groups of the plan, the longer search).  Of two groups, of which the second reads what
 * the first makes; or, where both are one, of the ops of this group, each alone. */
typedef struct {
  int first, second;
  double words;        /* between them, written and read in the outermost memory */
  double cycles;       /* these take there */
  double apart, fused; /* fused INFINITY: see why */
  bool at_least;       /* no mapping of one group was looked for, and fused is what it may cost at
                          least, or is expected to */
  bool apart_at_least; /* some op alone was not mapped, and apart is what all cost at least */
  int64_t slices;      /* trips of the loops around all its ops; 0: no mapping */
  char why[160];       /* what forbids one group; "": nothing */
} tf_net_benefit;

/* A plan: groups run one after the other; tensors that pass between them lie in the outermost
 * memory. */
typedef struct {
  tf_objective objective;
  /* Of the kernels that it is for, where these are not for this computer's processors; "": of none,
   * or not said. */
  char target[16], isa[16], dtype[8];
  int n, n_distinct;
  int n_known;          /* distinct groups whose mapping was known */
  tf_net_group *groups; /* [n] */
  tf_figures total;     /* sums over the groups; edp: of the sums; held_words: the maximum */
  double kernel_cycles; /* sum over the groups of the longer of memory_cycles and kernel_cycles; 0:
                           none were planned */
  tf_bounds bounds;     /* lower bounds for any execution of the network, with any groups */
  tf_bounds parts;      /* sums of the groups' bounds: lower bounds with these groups */
  int window; /* groups were enumerated among so many ops from the first that is in no group yet */
  /* The window covered all ops: by the costs found no cut into groups of max_ops is better; for
   * kernels (isa, latency) by what groups are expected to cost (docs/HOWTO-plan.md). */
  bool exact;
  int64_t evals;          /* mappings evaluated */
  int64_t candidates;     /* distinct groups enumerated */
  int64_t evaluated;      /* those of them that were mapped */
  tf_stop stopped_by;     /* EXHAUSTED; TIME: some search was skipped or cut short */
  double expected_cycles; /* sum over the groups; 0: not said */
  int n_benefits;         /* none of a plan that was read */
  tf_net_benefit *benefits;
} tf_net_plan;

/* Cuts the network into groups and maps each.  NULL with errors in d; NULL without errors if the
 * budget's stop ended it. */
TF_API tf_net_plan *tf_net_plan_of(const tf_arch *arch, const tf_workload *wl, const tf_net_opts *o,
                                   tf_diags *d);
TF_API void tf_net_plan_free(tf_net_plan *p);

/* The section `plan` of a file (docs/FORMATS.md) that tf_net_plan_read reads back.  Malloc'd, the
 * caller frees; NULL: no memory. */
TF_API char *tf_net_plan_text(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl);
/* The plan of a file, with its groups evaluated; members that only a search knows (window, evals,
 * ...) are 0.  NULL with every error in d: unknown ops, ops in two groups or in none, groups before
 * those that produce what they read, invalid mappings. */
TF_API tf_net_plan *tf_net_plan_read(const tf_arch *arch, const tf_workload *wl,
                                     const tf_text *text, tf_diags *d);
/* The files from which a plan was made, recorded in it, so that they can be found again. */
typedef struct tf_net_inputs tf_net_inputs;
/* Lines for the end of the section: name and SHA-256 of each text that holds no plan, and settings.
 * Malloc'd, the caller frees; NULL: no memory. */
TF_API char *tf_net_inputs_text(const tf_text *texts, size_t n, const tf_setting *set,
                                size_t n_set);
/* Reads these lines from a plan.  NULL with every error in d: no plan, a plan that names no files,
 * or malformed lists. */
TF_API tf_net_inputs *tf_net_inputs_read(const tf_text *plan, tf_diags *d);
TF_API void tf_net_inputs_free(tf_net_inputs *in);
TF_API const char *tf_net_inputs_path(const tf_net_inputs *in, size_t i); /* NULL past the last */
TF_API const tf_setting *tf_net_inputs_set(const tf_net_inputs *in, size_t *n); /* borrowed */
/* Whether these texts, one for each path, are unchanged; if not, an error in d for each that is
 * not. */
TF_API bool tf_net_inputs_same(const tf_net_inputs *in, const tf_text *texts, tf_diags *d);

/* Whether a native file has a section `plan`, by a scan of its lines. */
TF_API bool tf_net_has_plan(const tf_text *text);

/* ---- memory ------------------------------------------------------------------------- */
/* Placement of the tensors that pass from one group to a later one: in one arena, so that tensors
 * that are live in the same group do not overlap. */
typedef struct {
  int64_t *offset; /* [n_tensors of the network] in bytes, multiples of 64; -1: inputs, outputs,
                      what stays in a group; of a view: that of its tensor */
  int64_t bytes;   /* size of the arena */
  int64_t least;   /* the most that is live in one group: a lower bound for any arena */
} tf_net_memory;

/* bytes_each: per element; 0: by the tensors' word sizes.  False with an error in d. */
TF_API bool tf_net_memory_of(const tf_net_plan *p, const tf_workload *wl, int bytes_each,
                             tf_net_memory *out, tf_diags *d);
TF_API void tf_net_memory_free(tf_net_memory *m);

/* ---- emission ----------------------------------------------------------------------- */
/* The files of one folder: network.h, network.c, a kernel for each distinct group (g1.c, g1.h,
 * g1_parts.h, ...), test.c, bench.c, Makefile, README.md.  The network is called like a kernel
 * (emit.h): its inputs and outputs are arguments, the rest is in the workspace.  Packed weights can
 * be prepared once: NAME_pack.  o: isa, name (NULL: "network"), version, command; dtype f32 or
 * bf16: of inputs, outputs and all that passes between groups, sums being float32 (others:
 * E_USAGE).  NULL with errors in d. */
TF_API tf_emitted *tf_net_emit_cpu(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl,
                                   const tf_emit_options *o, tf_diags *d);
/* Whether networks are emitted for the target in that type of data (TF_DTYPES; NULL: f32); if not,
 * an error in d. */
TF_API bool tf_net_has_dtype(const char *target, const char *dtype, tf_diags *d);
/* As tf_net_emit_cpu for any target that can TF_EMIT_NETWORKS (NULL: cpu).  cuda: network.cu in the
 * place of network.c, kernels g1.cu, .., network_device.h with entries for arrays on the device,
 * emulate.hpp; dtype f16 and tf32, too. */
TF_API tf_emitted *tf_net_emit(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl,
                               const char *target, const tf_emit_options *o, tf_diags *d);

/* ---- training ------------------------------------------------------------------------ */
/* Steps (tf_grad_options.step) weighed: which pairs of ops are worth fusing, and what the forward
 * pass keeps for the backward pass against what is made again (docs/HOWTO-train.md). */
typedef struct {
  tf_grad_options step; /* its `again` is what is looked for: NULL */
  double launch;        /* cycles to start a kernel */
  bool front;           /* look for the front, too */
  tf_net_opts plan;     /* of each point of the front */
} tf_train_opts;

/* Two forward ops, of which the second alone reads what the first makes.  Fused, nobody stores that
 * tensor or its gradient: whoever reads one of them makes it again from what its maker reads. */
typedef struct {
  const char *first, *second;   /* ops */
  const char *through;          /* the tensor */
  bool many_first, many_second; /* reads several tensors */
  double words;                 /* fewer words moved by all kernels; these three may be negative */
  double points;                /* fewer points computed */
  int kernels;                  /* fewer kernels */
  double benefit; /* in cycles: words and points at the machine's peak rates, kernels by `launch` */
  bool chosen;    /* of the best set, found by taking the best pair given those taken so far */
} tf_train_fusion;

/* What one choice costs, planned. */
typedef struct {
  const char *again; /* tensors that are made again, by commas; "": none */
  int n_again;
  int64_t bytes;      /* of the arena between groups (tf_net_memory_of) */
  tf_figures figures; /* of the plan */
} tf_train_point;

typedef struct {
  double rate; /* words a cycle of the outermost memory */
  int n_forward, n_backward, n_update;
  int n_fusions;
  tf_train_fusion *fusions; /* [n_fusions], in the order of the first op */
  int n_kept;               /* tensors that the backward pass reads of the forward pass */
  int64_t weighed;          /* choices among these that were estimated */
  bool all;                 /* all there are */
  int n_points;
  tf_train_point
      *points; /* [n_points] by descending bytes and ascending cycles: none is beaten in both */
} tf_train;

/* NULL with errors in d; NULL without errors if the budget's stop ended it. */
TF_API tf_train *tf_train_of(const tf_arch *arch, const tf_workload *wl, const tf_train_opts *o,
                             tf_diags *d);
TF_API void tf_train_free(tf_train *t);

#ifdef __cplusplus
}
#endif
#endif
