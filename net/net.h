/* Internal to the room for networks: groups of ops, their order, their costs. */
#ifndef NET_NET_H
#define NET_NET_H
#include "base/arena.h"
#include "model/input/reader.h"
#include "tileflow/net.h"

enum {
  NET_MAX_GROUP = 32,
  NET_MOST_AT_ONCE = 64,
  NET_MOST_AGAIN = 4
}; /* ops of a group; groups in a queue to be planned; ops of a group that others make again */

/* dims.c: which dims of the group's ops are the same.  dim[slot of op i] is a number 0 .. *n_dims -
 * 1, in the order of first use; first[i] is the first slot of op i.  Ops are in topological order.
 * False: no memory. */
bool net_join_dims(tf_arena *a, const tf_workload *wl, const int *ops, int n, const int *first,
                   int *dim, int *n_dims);

/* cut.c: tf_group_cut, and how: splits: what it reads may become tensors under other coordinates
 * (split.c).  last: of the network's tensors (channels.c), or NULL. */
typedef struct {
  const char *name;
  tf_loc at;
  bool splits;
  const int *last;
  bool again; /* other groups make again what is read inside and outside */
} net_cutting;
tf_group *net_group_cut(const tf_workload *wl, const int *ops, int n, const net_cutting *how,
                        tf_diags *d);
/* Whether the groups of a plan for that target are cut so: kernels that find operands by strides,
 * whatever these are.
 */
bool net_splits(const char *target);

/* split.c: makes tensors of their own of inputs that are read at `64 * head + row`, or from some
 * place on.  fixed[t]: its strides are the caller's.  Arrays of wl's tensors, tensor and place have
 * room for one for each read; place[t] is filled for those made.  False: no memory. */
bool net_split(tf_arena *a, tf_workload *wl, const bool *fixed, int *tensor, tf_group_place *place);

/* split.c: where vectors alone pass through the group and one is multiplied by a matrix, they
 * become rows: a dim of extent 1, so that the product is one of matrices.  outside[t]: the
 * network's tensor.  False: no memory. */
bool net_add_row(tf_arena *a, tf_workload *wl, const tf_tensor *const *outside,
                 tf_group_place *place);

/* channels.c: (*last)[t] is the rank of the network's tensor that is innermost where groups have
 * it: the channels of convolutions, which the network has before pixels; -1: it stands as the
 * network has it.  NULL: so does all, for that target and type.  False: no memory. */
bool net_channels_last(tf_arena *a, const tf_workload *wl, const char *target, const char *dtype,
                       const int **last);
/* Makes that rank of the tensor its last, if it is no negative number; of all of a group's tensors
 * (rank: of each), and in its ops.  False: no memory. */
bool net_move_rank(tf_arena *a, tf_tensor *z, int rank);
bool net_move_ranks(tf_arena *a, tf_workload *wl, const int *rank);

/* flatten.c: whether a dim or a tensor has the name. */
bool net_is_taken(const tf_workload *wl, const char *name);
/* flatten.c: makes one dim of two that stand side by side wherever the workload has one of them, as
 * all of two adjacent ranks, so that these are one rank; as often as there are such.  fixed[t]:
 * tensor t keeps its ranks.  The workload's arrays are changed; those of its tensors (lo, extent,
 * pad), and of their places, are replaced.  False: no memory. */
bool net_flatten(tf_arena *a, tf_workload *wl, const bool *fixed, tf_group_place *place);

/* key.c: *size bytes that are equal for workloads which differ only in names.  NULL: no memory. */
const char *net_key(tf_arena *a, const tf_workload *wl, size_t *size);

/* ---- cutting a network into groups (partition.c) -------------------------------------------- */
/* The cost interface, implemented elsewhere.  `meet` numbers a group of ops (equal ones may share a
 * number) and gives the least that it may cost, INFINITY if it is not allowed; `cost` gives its
 * cost, which may take long: it is called only where that least may matter.  Where `least` is a
 * lower bound, the cut is the best by the costs; where it is an expectation (cost/costs.c), groups
 * that cost less than expected may be missed.  A group of one op must cost less than INFINITY.
 * False: abort. */
typedef struct {
  bool (*meet)(void *ctx, const int *ops, int n, int *id, double *least);
  bool (*cost)(void *ctx, int id, double *cost);
  /* Whether its cost is known already; else *cost is the least that it may be by what was asked for
   * since.  NULL: never known. */
  bool (*known)(void *ctx, int id, double *cost);
  /* The costs of these groups, some perhaps more than once, may be asked for next, so that several
   * can be found at once: no more than `at_once` of them, nor NET_MOST_AT_ONCE. */
  void (*ahead)(void *ctx, const int *id, int n);
  int at_once; /* 1 or less: not told */
  /* Groups are asked for by where they end: once n ops have run, from now on.  NULL: not told. */
  void (*reach)(void *ctx, int n);
  void *ctx;
  bool again; /* ops may be in several groups: see net_partition */
} net_prices;

/* A cut: groups in execution order; ops of the i-th are op[first[i] .. first[i + 1] - 1], in
 * topological order. */
typedef struct {
  int n;
  int *first, *op, *id; /* [n + 1], [n_ops or, with `again`, more], [n] */
  double cost;
  int window;
  bool exact; /* the window covered all ops: no cut is better by the costs, where `least` bounds
                 these */
} net_cuts;

/* The cheapest cut into groups of up to max_ops ops.  The ops of a group are connected by
 * intermediates; each tensor is read only inside its producer's group or only outside; so groups
 * can run one after the other.  No group has ops more than `window` behind the first op not run
 * yet.  The window is as large as the work allows: less than max_ops, if need be.  With `again` an
 * op may be made in several groups, in each of which it is read, and is stored by none of them: one
 * that is read inside its group is not over, for who reads it and has not run, and neither is one
 * that such an op of the group reads.  A group has NET_MOST_AGAIN of these at most.  Arrays in the
 * arena.  False: no memory (in d), or the prices aborted. */
bool net_partition(tf_arena *a, const tf_workload *wl, int max_ops, const net_prices *p,
                   net_cuts *out, tf_diags *d);
/* Whether the ops, ascending by topological position, may be a group; again: other groups may make
 * again what is read inside and outside. */
bool net_may_group(const tf_workload *wl, const int *ops, int n, bool again);

/* ---- what groups cost (cost/costs.c) -------------------------------------------------------- */
/* A distinct group: a class of groups that differ only in names. */
typedef struct {
  tf_group *group; /* owned */
  tf_bounds bounds;
  double least;    /* lower bound on the objective; with kernels, of groups of several ops, an
                      expectation above it */
  double kernel;   /* cycles of the kernel without memories, where kernels are planned */
  double busy;     /* then, of one op: the longer of these and of its unit's */
  double baseline; /* then: cycles of its ops apart, of which a multiple is too many for more than a
                   first search */
  double alone;    /* then: cycles of the kernels of its ops, each alone */
  bool expected;   /* least has been raised to that expectation */
  bool known;      /* mapped, as far as this goes */
  bool planned; /* the planner's mapping for the cut has been looked for, in so many evaluations */
  int64_t spent;
  bool slabs;    /* its mapping is a completion of the fused template */
  tf_tree *tree; /* the best so far; NULL: none */
  double value;  /* INFINITY without a mapping */
  double cycles; /* of that mapping, by the model */
  uint64_t hash;
  int next;     /* in the same bucket */
  uint64_t ops; /* cost/parts.c: where it was met first, bit k for the op at position `first` + k of
                   the order */
  int first;
} net_cost;

/* cost/parts.c: places of groups. */
typedef struct net_met net_met;
typedef struct {
  int *head,
      *place; /* [n_ops]: number of the last that begins at a position, + 1; position of an op */
  int n;
  net_met *at;
} net_parts;

enum { NET_BUCKETS = 1 << 12 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const int *last; /* as in net_cutting */
  const tf_net_opts *o;
  tf_diags *d;
  int n;
  net_cost *at;
  int bucket[NET_BUCKETS]; /* number of the first + 1 */
  int64_t evals, evaluated;
  double begun, deadline; /* deadline INFINITY: none */
  double
      until;  /* what is done now may last until then, at most to the deadline; INFINITY as that */
  bool late;  /* a time was over, and some search was not made */
  int *fresh; /* cost/time_shares.c: [n_ops + 1] kinds of single ops among the first of the order;
                 NULL: no deadline */
  int *alone; /* [n_ops] number of each op as a group of its own; negative: not known yet */
  net_parts parts;
} net_costs;

bool net_meet(void *costs, const int *ops, int n, int *id, double *least);
bool net_cost_of(void *costs, int id, double *cost);
bool net_cost_known(void *costs, int id, double *cost);
/* cost/parts.c: the group was met there; raises what it is expected to cost by those in it whose
 * costs are known. */
bool net_note_place(net_costs *c, int id, const int *ops, int n);
void net_raise_least(const net_costs *c, net_cost *x);
void net_parts_free(net_parts *p);
/* Searches for a better mapping of that group. */
bool net_improve(net_costs *c, int id, int64_t evals);
/* cost/kinds_met.c: as `meet`, of one op, or of several without what their kernels let expect. */
bool net_meet_kind(net_costs *c, const int *ops, int n, int *id, double *least);
bool net_stopped(const net_costs *c);
bool net_is_late(
    net_costs *c); /* `until` has passed, and a search that could have been made is left out */
tf_budget net_part_of(const net_costs *c, int64_t evals);
/* Keeps the tree as the group's mapping if its value is better, or as good in fewer cycles; *tree
 * is NULL then. */
void net_keep(net_cost *x, tf_tree **tree, double value, double cycles);
void net_tell(const net_costs *c, double best);
/* cost/time_shares.c: with a deadline, how the time is shared out, so that a network's end is
 * planned as well as its beginning. */
/* Counts which ops are of a new kind.  False: no memory, stopped. */
bool net_pace_begin(net_costs *c);
/* While the network is cut: what ends there may last until its share of the time for cutting is
 * over. */
void net_pace_reach(void *costs, int n_run);
/* While the groups of the cut are searched for: one of n that are left may last until its share of
 * the rest is over. */
void net_pace_improve(net_costs *c, int n_left);
void net_costs_free(net_costs *c);

/* ---- planning (plan.c) ---------------------------------------------------------------------- */
/* What its passes work on.  A pass is a function of it, in the table of plan.c; false with an error
 * in costs.d: no plan. */
typedef struct {
  net_costs costs; /* of the architecture as kernels of a narrower type see it */
  const tf_arch *arch;
  net_cuts cuts;
  tf_arena *a;
  tf_net_plan *plan;
  int *like;    /* [costs.n] 1 + the first group of the plan with that cost entry */
  bool unknown; /* `known` could not say: no other group is asked */
} net_planning;

/* ---- groups with kernels (cost/kernels.c) --------------------------------------------------- */
/* Gives the costs the architecture as the kernels' data see it, in the arena.  False: no memory. */
bool net_see(net_planning *s);
/* Whether the plan is for kernels; whether a group costs what its kernel promises: a plan for
 * kernels, by latency. */
bool net_for_kernels(const net_costs *c);
bool net_has_kernels(const net_costs *c);
/* A planner's mapping of the group for the cut; its cost is the longer of the model's cycles, in
 * which memories are, and the kernel's. */
bool net_kernel_of(net_costs *c, int id);
/* A planner's mapping of so many evaluations.  False: stopped. */
bool net_by_planner(net_costs *c, int id, int64_t evals);
/* Planner's mappings of n groups, on the threads of the budget: for the cut, or of so many
 * evaluations, of different ones. */
void net_plan_ahead(void *costs, const int *id, int n);
bool net_improve_all(net_costs *c, const int *id, int n, int64_t evals);
/* The same for the cut of each op alone, on which it hangs what groups are expected to cost. False:
 * no memory, stopped. */
bool net_plan_alone(net_costs *c);
/* How many groups are planned at once: none beside another where time is shared out among them. */
int net_at_once(const net_costs *c);

/* cost/benefit.c: fills what fusing gains; trips of the loops around all ops of a mapping. */
bool net_benefits(net_planning *s);
int64_t net_slices(const struct tf_tree *t);

/* ---- memory (place.c) ----------------------------------------------------------------------- */
/* Live in the steps from .. to. */
typedef struct {
  int64_t size;
  int from, to;
} net_block;

/* Offsets such that blocks live in the same step do not overlap, and the end of the last.  False:
 * no memory. */
bool net_place(tf_arena *a, const net_block *b, int n, int64_t *offset, int64_t *peak);
/* The most that is live in one step: a lower bound on the peak. */
int64_t net_most_alive(const net_block *b, int n);

/* memory.c: puts the groups in the order of their first ops, as far as they can run so, where less
 * is then live at the worst moment than in the order found.  False: no memory. */
bool net_order(tf_arena *a, const tf_workload *wl, net_cuts *c);

/* memory.c: branches of groups that touch nothing of each other, for devices that run kernels
 * beside each other. */
enum { NET_MOST_BRANCHES = 4 };
typedef struct {
  const tf_net_memory *memory;
  int bytes_each;
  const bool *scratch; /* [groups] its kernel has something in the scratch that all share */
} net_sharing;
typedef struct {
  int groups, n; /* branches */
  int *of;       /* [groups] the branch of each */
  bool *waits;   /* [groups x groups] groups of other branches that it waits for */
  bool *done;    /* [groups x groups] all that have run when it begins */
} net_branches;
/* In the arena.  In a branch groups run in order; every two of which one writes what the other
 * touches do.  False: no memory. */
bool net_branches_of(tf_arena *a, const tf_net_plan *p, const tf_workload *wl, const net_sharing *s,
                     net_branches *b);

/* ---- plans (plan.c) ------------------------------------------------------------------------- */
/* Fills figures and bounds of a group that has a mapping, and what is expected of its kernel (o:
 * for kernels; else NULL).  at: location for messages about it. */
bool net_evaluate(const tf_arch *arch, tf_net_group *g, const tf_net_opts *o, tf_loc at,
                  tf_diags *d);
/* cache_residue.c: part[i], of the words of the inputs and outputs of group i, are those that need
 * no memory outside a cache of that many words, which keeps what was used last: inputs that are
 * still there, and what a later group finds there of the group's outputs.  False: no memory. */
bool net_left_parts(tf_arena *a, const tf_workload *wl, const tf_net_plan *p, double room,
                    double *part);
/* Fills memory_cycles of the groups that have a kernel; narrow: the kernels' type is narrower than
 * what the units are meant for, which are left out.  False: no memory. */
bool net_left(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_net_plan *p, bool narrow,
              tf_diags *d);
/* Fills the plan's sums and bounds from those of its groups. */
bool net_sum(const tf_arch *arch, const tf_workload *wl, tf_net_plan *p, tf_diags *d);
#endif
