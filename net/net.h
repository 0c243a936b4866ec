/* Internal to the room for networks: groups of ops, their order, their costs. */
#ifndef NET_NET_H
#define NET_NET_H
#include "base/arena.h"
#include "model/input/reader.h"
#include "tileflow/net.h"

enum {
  NET_MAX_GROUP = 32,
  NET_GROUP_DIMS = 64,
  NET_MOST_AT_ONCE = 64,
  NET_MOST_AGAIN = 4
}; /* the most ops of a group, and its dims; groups planned at once; ops of a group that others
      compute again */

/* dims.c: finds the dims of the group's ops that are the same. dim[slot of op i] is a number 0 ..
 * *n_dims - 1, in the order of first use; first[i] is the first slot of op i. Ops are in
 * topological order. False: out of memory. */
bool net_join_dims(tf_arena *a, const tf_workload *wl, const int *ops, int n, const int *first,
                   int *dim, int *n_dims);

/* cut.c: tf_group_cut, with options: splits: reads may become tensors with other coordinates
 * (split.c). last: of the network's tensors (channels.c), or NULL. */
typedef struct {
  const char *name;
  tf_loc loc;
  bool splits;
  const int *last;
  bool recompute; /* other groups make again what is read inside and outside */
} net_cutting;
tf_group *net_group_cut(const tf_workload *wl, const int *ops, int n, const net_cutting *how,
                        tf_diags *d);
/* Whether groups of a plan for that target are cut with `splits`: its kernels address operands by
 * any strides. */
bool net_splits(const char *target);

/* split.c: makes tensors of their own of inputs that are read at `64 * head + row`, or with an
 * offset. fixed[t]: its strides are the caller's. The arrays of wl's tensors, tensor and place have
 * room for one for each read; place[t] is set for the new ones. False: out of memory. */
bool net_split(tf_arena *a, tf_workload *wl, const bool *fixed, int *tensor, tf_group_place *place);

/* split.c: if only vectors pass through the group and one is multiplied by a matrix, they become
 * rows, with a dim of extent 1, so that the product is one of matrices. outside[t]: the network's
 * tensor. False: out of memory. */
bool net_add_row(tf_arena *a, tf_workload *wl, const tf_tensor *const *outside,
                 tf_group_place *place);

/* channels.c: (*last)[t] is the rank of the network's tensor that groups have innermost: the
 * channels of convolutions, which the network has before pixels; -1: the network's layout. NULL:
 * all tensors keep it, for that target and type. False: out of memory. */
bool net_channels_last(tf_arena *a, const tf_workload *wl, const char *target, const char *dtype,
                       const int **last);
/* Moves that rank of the tensor to the end, unless it is negative; next: of all of a group's
 * tensors (rank: of each), and in its ops. False: out of memory. */
bool net_move_rank(tf_arena *a, tf_tensor *z, int rank);
bool net_move_ranks(tf_arena *a, tf_workload *wl, const int *rank);

/* flatten.c: whether a dim or a tensor has the name. */
bool net_is_taken(const tf_workload *wl, const char *name);
/* flatten.c: merges two dims into one if they are adjacent ranks, with their full extents, wherever
 * the workload has either, so that these ranks are one; as often as there are such dims. fixed[t]:
 * tensor t keeps its ranks. The workload's arrays are changed; those of its tensors (lo, extent,
 * pad), and of their places, are replaced. False: out of memory. */
bool net_flatten(tf_arena *a, tf_workload *wl, const bool *fixed, tf_group_place *place);

/* key.c: *size bytes that are equal for workloads that differ only in names. NULL: out of
 * memory. */
const char *net_key(tf_arena *a, const tf_workload *wl, size_t *size);

/* ---- cutting a network into groups (partition.c) -------------------------------------------- */
/* The cost interface, implemented elsewhere. `meet` numbers a group of ops (equal ones may share a
 * number) and gives the least that it may cost, INFINITY if it is not allowed; `cost` gives its
 * cost, which may take long: it is called only if that least may matter. If `least` is a lower
 * bound the cut is optimal; if it is an expectation (cost/costs.c), groups that cost less than
 * expected may be missed. A group of one op must cost less than INFINITY. False: abort. */
typedef struct {
  bool (*meet)(void *ctx, const int *ops, int n, int *id, double *least);
  bool (*cost)(void *ctx, int id, double *cost);
  /* Whether its cost is known already; if not, *cost is a lower bound from what was asked since.
   * NULL: never known. */
  bool (*known)(void *ctx, int id, double *cost);
  /* The costs of these groups, possibly with repetitions, may be asked for next, so that several
   * can be computed concurrently: at most `at_once` of them, and at most NET_MOST_AT_ONCE. */
  void (*ahead)(void *ctx, const int *id, int n);
  int at_once; /* at most 1: `ahead` is not called */
  /* From now on groups are asked for that end when n ops have run. NULL: not called. */
  void (*reach)(void *ctx, int n);
  void *ctx;
  bool recompute; /* ops may be in several groups: see net_partition */
} net_cost_source;

/* A cut: groups in execution order; the i-th has ops op[first[i] .. first[i + 1] - 1], in
 * topological order. */
typedef struct {
  int n;
  int *first, *op, *id; /* [n + 1], [n_ops or, with `again`, more], [n] */
  double cost;
  int window;
  bool exact; /* the window covered all ops: the cut is optimal, if `least` is a lower bound */
} net_cuts;

/* The cheapest cut into groups of up to max_ops ops. The ops of a group are connected by
 * intermediates; each tensor is read only inside its producer's group or only outside; so groups
 * can run in sequence. No group has ops more than `window` positions after the first op that has
 * not run. The window is as large as the work allows, less than max_ops if necessary. With `again`
 * an op may be computed in several groups, each of which reads it, and none of which stores it: an
 * op that is read inside its group has not run for its readers elsewhere, and neither has one that
 * such an op of the group reads. A group has at most NET_MOST_AGAIN of these. Arrays are in the
 * arena. False: out of memory (in d), or the costs aborted. */
bool net_partition(tf_arena *a, const tf_workload *wl, int max_ops, const net_cost_source *p,
                   net_cuts *out, tf_diags *d);
/* Whether the ops, ascending by topological position, may be a group; recompute: other groups may
 * make again what is read inside and outside. */
bool net_may_group(const tf_workload *wl, const int *ops, int n, bool recompute);

/* ---- what groups cost (cost/costs.c) -------------------------------------------------------- */
/* A distinct group: a class of groups that differ only in names. */
typedef struct net_cost {
  tf_group *group; /* owned */
  tf_bounds bounds;
  double least;       /* lower bound on the objective; with kernels, for groups of several ops, an
                         expectation above it */
  double kernel;      /* cycles of the kernel without memories, if kernels are planned */
  double unit_cycles; /* then, of one op: the maximum of these and its unit's */
  double baseline; /* then: cycles of its ops apart; at a multiple of them the first search ends */
  double alone;    /* then: cycles of the kernels of its ops, each alone */
  bool expected;   /* least has been raised to that expectation */
  bool known;      /* its cost is known, with or without a mapping */
  bool planned; /* the planner's mapping for the cut has been searched for, with so many evaluations
                 */
  int64_t spent;
  bool slabs;             /* its mapping is a completion of the fused template */
  tf_tree *tree;          /* the best so far; NULL: none */
  double value;           /* INFINITY without a mapping */
  double cycles;          /* of that mapping, by the model */
  struct net_cost *fewer; /* [n_fewer] the same on fewer chips; NULL: not asked for */
  uint64_t hash;
  int next;     /* in the same bucket */
  uint64_t ops; /* cost/parts.c: its first place: bit k for the op at position `first` + k of the
                   order */
  int first;
} net_cost;

/* cost/parts.c: places of groups in the network. */
typedef struct net_met net_met;
typedef struct {
  int *head, *place; /* [n_ops]: number of the last group that begins at a position, + 1; position
                        of an op */
  int n;
  net_met *met;
} net_parts;

enum { NET_BUCKETS = 1 << 12 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const int *last; /* as in net_cutting */
  const tf_net_opts *o;
  tf_diags *d;
  int n;
  net_cost *entry;
  int bucket[NET_BUCKETS]; /* number of the first + 1 */
  int64_t evals, evaluated;
  double begun, deadline; /* deadline INFINITY: none */
  double until; /* the deadline of the current step, at most the overall one; INFINITY: none */
  bool skipped; /* some search was skipped for lack of time */
  int n_fewer;
  tf_arch *fewer; /* [n_fewer] the machine with half of its chips, and half of these, down to one */
  int *new_kinds; /* cost/time_shares.c: [n_ops + 1] kinds of single ops among the first of the
                 order; NULL: no deadline */
  int *alone;     /* [n_ops] number of each op as a group of its own; negative: not known yet */
  net_parts parts;
} net_costs;

bool net_meet(void *costs, const int *ops, int n, int *id, double *least);
bool net_cost_of(void *costs, int id, double *cost);
bool net_cost_known(void *costs, int id, double *cost);
/* cost/parts.c: records a place of the group; raises its expected cost by groups inside it whose
 * costs are known. */
bool net_note_place(net_costs *c, int id, const int *ops, int n);
void net_raise_least(const net_costs *c, net_cost *x);
void net_parts_free(net_parts *p);
/* A mapping nearer to its bound needs no search yet, nor one on fewer chips. */
#define NET_NEAR 1.02
/* cost/fewer.c: does the same work for the group on the machines with fewer chips, and keeps what
 * is better on all chips, as long as that gains. False: out of memory, or stopped. */
typedef bool net_work(net_costs *c, net_cost *x, int64_t evals);
bool net_on_fewer(net_costs *c, net_cost *x, net_work *work, int64_t evals);
/* Searches for a better mapping of that group. */
bool net_improve(net_costs *c, int id, int64_t evals);
/* cost/kinds_met.c: as `meet`, without the expectation from kernels. */
bool net_meet_kind(net_costs *c, const int *ops, int n, int *id, double *least);
bool net_stopped(const net_costs *c);
bool net_is_late(net_costs *c); /* `until` has passed, and a search is skipped */
tf_budget net_part_of(const net_costs *c, int64_t evals);
/* Keeps the tree as the group's mapping if its value is better, or equal with fewer cycles; *tree
 * is NULL then. */
void net_keep(net_cost *x, tf_tree **tree, double value, double cycles);
void net_tell(const net_costs *c, double best);
/* cost/time_shares.c: with a deadline, divides the time, so that the end of a network is planned as
 * well as its beginning. */
/* Finds the ops of a new kind. False: out of memory, or stopped. */
bool net_time_begin(net_costs *c);
/* While the network is cut: groups that end after n_run ops may take until their share of the time
 * for cutting is over. */
void net_time_reach(void *costs, int n_run);
/* While the chosen groups are searched for: each of n_left groups may take until its share of the
 * rest is over. */
void net_time_improve(net_costs *c, int n_left);
void net_costs_free(net_costs *c);

/* ---- planning (plan.c) ---------------------------------------------------------------------- */
/* The state of planning. A pass is a function of it, in the table of plan.c; false with an error in
 * costs.d: no plan. */
typedef struct {
  net_costs costs; /* of the architecture with the rates of a narrower type */
  const tf_arch *arch;
  net_cuts cuts;
  tf_arena *a;
  tf_net_plan *plan;
  int *same_entry; /* [costs.n] 1 + the first group of the plan with that cost entry */
  bool unknown;    /* `known` has failed: no other group is asked */
} net_planning;

/* cost/fewer.c: finds the machines with fewer chips, for plans by the model alone. False: out of
 * memory. */
bool net_find_fewer(net_planning *s);

/* ---- groups with kernels (cost/kernels.c) --------------------------------------------------- */
/* Gives the costs the architecture with the rates of the kernels' type, in the arena. False: out of
 * memory. */
bool net_scale_rates(net_planning *s);
/* Whether the plan is for kernels; next: whether a group's cost is its kernel's estimate: in a plan
 * for kernels, by latency. */
bool net_for_kernels(const net_costs *c);
bool net_has_kernels(const net_costs *c);
/* A planner's mapping of the group for the cut; its cost is the maximum of the model's cycles,
 * which include memories, and the kernel's. */
bool net_kernel_of(net_costs *c, int id);
/* A planner's mapping with so many evaluations. False: stopped. */
bool net_by_planner(net_costs *c, int id, int64_t evals);
/* Planner's mappings of n distinct groups, on the threads of the budget: for the cut, or with so
 * many evaluations. */
void net_plan_ahead(void *costs, const int *id, int n);
bool net_improve_all(net_costs *c, const int *id, int n, int64_t evals);
/* The same for each op alone, for the cut, as expected costs of groups depend on these. False: out
 * of memory, or stopped. */
bool net_plan_alone(net_costs *c);
/* How many groups are planned concurrently: one, if time is divided among them. */
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

/* Offsets such that blocks live in the same step do not overlap, and the end of the last. False:
 * out of memory. */
bool net_place(tf_arena *a, const net_block *b, int n, int64_t *offset, int64_t *peak);
/* The largest sum of blocks live in one step: a lower bound on the peak. */
int64_t net_most_alive(const net_block *b, int n);

/* memory.c: orders the groups by their first ops, as far as dependences allow, if the largest live
 * set is then smaller than in the order found. False: out of memory. */
bool net_order(tf_arena *a, const tf_workload *wl, net_cuts *c);

/* memory.c: branches of independent groups, for devices that run kernels concurrently. */
enum { NET_MOST_BRANCHES = 4 };
typedef struct {
  const tf_net_memory *memory;
  int bytes_each;
  const bool *scratch; /* [groups] its kernel uses scratch memory that all groups share */
} net_sharing;
typedef struct {
  int groups, n; /* branches */
  int *branch;   /* [groups] the branch of each */
  bool *waits;   /* [groups x groups] groups of other branches that it waits for */
  bool *done;    /* [groups x groups] all that have run when it begins */
} net_branches;
/* In the arena. Groups of a branch run in order, and so do any two of which one writes what the
 * other accesses. False: out of memory. */
bool net_branches_of(tf_arena *a, const tf_net_plan *p, const tf_workload *wl, const net_sharing *s,
                     net_branches *b);

/* ---- plans (plan.c) ------------------------------------------------------------------------- */
/* Sets figures and bounds of a group that has a mapping, and its kernel's expected cycles (o: for
 * kernels; else NULL). at: location for messages. */
bool net_evaluate(const tf_arch *arch, tf_net_group *g, const tf_net_opts *o, tf_loc at,
                  tf_diags *d);
/* cache_residue.c: part[i]: of the words of group i's inputs and outputs, the share that needs no
 * memory beyond a cache of so many words with LRU replacement: inputs that are still there, and
 * outputs that a later group finds there. False: out of memory. */
bool net_residue_shares(tf_arena *a, const tf_workload *wl, const tf_net_plan *p, double room,
                        double *part);
/* Sets memory_cycles of the groups that have a kernel; narrow: the kernels' type is narrower than
 * the one for which the units are given, which are left out. False: out of memory. */
bool net_cache_residue(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_net_plan *p,
                       bool narrow, tf_diags *d);
/* Sets the plan's sums and bounds from those of its groups. */
bool net_sum(const tf_arch *arch, const tf_workload *wl, tf_net_plan *p, tf_diags *d);
#endif
