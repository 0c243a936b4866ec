/* Inside the room for networks: groups of ops, their order, their costs. */
#ifndef NET_NET_H
#define NET_NET_H
#include "base/arena.h"
#include "model/spec/reader.h"
#include "tileflow/net.h"

enum { NET_MAX_GROUP = 32 }; /* ops of a group */

/* dims.c: which dims of the group's ops are one.  dim[slot of op i] is a number 0 .. *n_dims - 1, in the order of their
 * first use; first[i] is the first slot of op i.  Ops are in topological order.  False: no memory. */
bool net_join_dims(tf_arena *a, const tf_workload *wl, const int *ops, int n, const int *first, int *dim, int *n_dims);

/* key.c: what two workloads have in common that differ in names alone, as bytes; *size of them.  NULL: no memory. */
const char *net_key(tf_arena *a, const tf_workload *wl, size_t *size);

/* ---- cutting a network into groups (partition.c) -------------------------------------------------------- */
/* What groups cost is for others to say.  `meet` numbers a group of ops (alike ones may have one number) and says what
 * it costs at least, INFINITY if it may not be one; `cost` what it costs, at least that, which may take long: it is
 * asked only where the answer may matter.  A group of one op has to cost less than INFINITY.  False: give up. */
typedef struct {
  bool (*meet)(void *ctx, const int *ops, int n, int *id, double *least);
  bool (*cost)(void *ctx, int id, double *cost);
  void *ctx;
} net_prices;

/* Groups one after the other: ops of the i-th are op[first[i] .. first[i + 1] - 1], in topological order. */
typedef struct {
  int n;
  int *first, *op, *id; /* [n + 1], [n_ops], [n] */
  double cost;
  int window;
  bool exact;
} net_cuts;

/* The cut of least cost of those into groups of up to max_ops ops that are connected by what they make, each tensor
 * read by ops of its own group alone or of others alone, so that groups can run one after the other and none begins
 * more than `window` ops ahead of the first op not run.  The window is as large as the work allows.  Arrays in the
 * arena.  False: no memory (told), or the prices gave up. */
bool net_partition(tf_arena *a, const tf_workload *wl, int max_ops, const net_prices *p, net_cuts *out, tf_diags *d);
/* Whether the ops, ascending by their place in the order, may be a group. */
bool net_may_group(const tf_workload *wl, const int *ops, int n);

/* ---- what groups cost (costs.c) -------------------------------------------------------------------------- */
/* A distinct group: one of those that are equal up to names. */
typedef struct {
  tf_group *group; /* owned */
  tf_bounds bounds;
  double least;  /* of the objective */
  bool known;    /* mapped, as far as this goes */
  tf_tree *tree; /* the best so far; NULL: none */
  double value;  /* INFINITY without mapping */
  uint64_t hash;
  int next; /* of the same bucket */
} net_cost;

enum { NET_BUCKETS = 1 << 12 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_net_opts *o;
  tf_diags *d;
  int n, room;
  net_cost *at;
  int bucket[NET_BUCKETS]; /* number of the first, + 1 */
  int64_t evals, evaluated;
  double deadline; /* INFINITY: none */
  bool late;       /* it has passed, and some search was not made */
} net_costs;

bool net_meet(void *costs, const int *ops, int n, int *id, double *least);
bool net_cost_of(void *costs, int id, double *cost);
/* A search for a better mapping of that group. */
bool net_improve(net_costs *c, int id, int64_t evals);
bool net_stopped(const net_costs *c);
void net_costs_free(net_costs *c);

/* ---- memory (place.c) -------------------------------------------------------------------------------------- */
/* Alive in the steps from .. to. */
typedef struct {
  int64_t size;
  int from, to;
} net_block;

/* Offsets so that blocks alive in one step do not overlap, and where the last ends.  False: no memory. */
bool net_place(tf_arena *a, const net_block *b, int n, int64_t *offset, int64_t *peak);
/* The most that is alive in one step: no peak is less. */
int64_t net_most_alive(const net_block *b, int n);

/* ---- plans (plan.c) --------------------------------------------------------------------------------------- */
/* Fills figures and bounds of a group that has a mapping.  at: for what is told of it. */
bool net_evaluate(const tf_arch *arch, tf_net_group *g, tf_loc at, tf_diags *d);
/* Fills the plan's sums and bounds from those of its groups. */
bool net_sum(const tf_arch *arch, const tf_workload *wl, tf_net_plan *p, tf_diags *d);
#endif
