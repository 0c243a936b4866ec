/* The facts of a tile tree that do not depend on trip counts.  Built once; read by every
 * evaluation.
 *
 * Terms used here and in model/cost:
 * - m-tile: the first Tile of its memory on the way down; what is below it works on what this
 * memory holds
 * - path: the loops above a node, outer to inner; masks have a bit for each position on it
 * - to lead: op o leads at node n if no op below n reads what o makes; its range is then split by
 * the loops, while that of an op that does not lead follows from its readers
 * - chain: the loops of one dim that split a range one after the other, from the node where it
 * enters
 * - slice: what an m-tile, or the leaf of an op, uses of one tensor; a box, whose place depends on
 * the path
 * - entry: a moment at which control reaches an m-tile and its slices are loaded
 * - class: entries that find their memory in the same state, namely those at which the same loop
 * has stepped
 * - home: the scope and the memory in which an intermediate lives from its first write to its last
 * use
 * - production: the time between; what is made again later is another production */
#ifndef MODEL_FLOW_PLAN_H
#define MODEL_FLOW_PLAN_H
#include "model/sparse/sparse.h"
#include "model/tree/facts.h"
#include "tileflow/model.h"

enum { TF_MAX_PATH = 64 }; /* loops above one node; a mask of them fits 64 bits */

/* A loop of the tree. */
typedef struct {
  int node, slot, dim;
  tf_axis axis;
  int chain_node; /* where its chain begins: the node from which the ops that it splits lead */
  int op;         /* one of the ops it splits; -1: none */
  bool clash;     /* these ops lead from different nodes, so that there is no single chain */
  int n_leader;
  int *leaders; /* all ops it splits */
} tf_ploop;

/* A reference to a tensor by an op: read `ref`, or its output (ref = -1). */
typedef struct {
  int op, ref;
} tf_touch;

/* A component: loops whose settings must be summed over together, because they share a chain, one
 * affects the range of the other, or they move the same rank; and the ranks of the tensor that they
 * move (none: they only repeat the box).  The counts of different components of a slice
 * multiply. */
typedef struct tf_comp {
  uint64_t loops;      /* path positions */
  uint64_t prev_loops; /* path positions of the previous m-tile, below the common scope */
  int n_rank;
  unsigned char rank[16];
  int retain; /* retaining scope (plan->retains) whose runs these loops enumerate; -1: none, and the
                 rest is unused */
  uint64_t moving; /* loops that move a rank */
  int n_part;      /* the components without retention and skipping */
  struct tf_comp *part;
} tf_comp;

/* A slice of a tensor: of an m-tile, which holds it at `level`, or of an op leaf (level -1). */
typedef struct {
  int node, level, tensor;
  int above;  /* the memory that serves it */
  bool makes; /* the producer is below the node */
  bool leaf;  /* an op leaf, with one reference */
  int n_touch;
  tf_touch *touch; /* references below node */
  uint64_t merge; /* spatial loops whose instances may share one transfer: those between the serving
                     memory and the node, in one production */
  uint64_t inside; /* loops within one production of the tensor */
  uint64_t moving; /* loops that move the box; filled with the components */
  int n_class;
  struct tf_reuse_case
      *classes; /* m-tiles only: the states in which an entry may find the memory */
  int n_comp;
  tf_comp *comp;
  uint64_t tied; /* of a node, if borders clip ranges or reads move differently: spatial loops that
                    move those of two chains above it */
  bool plain;    /* one reference: distinct settings of moving loops give distinct boxes */
} tf_slice;

/* One way in which control reaches an m-tile.  `stepping` is the path position of the loop that
 * steps, -1 if none does; loops outside it are free, temporal ones inside it start over. */
typedef struct tf_reuse_case {
  int stepping;
  int zero_from;       /* path positions >= zero_from hold loops that start over */
  int top;             /* the node from which control comes: the loop's Tile, or the scope */
  int prev;            /* the slice whose content the entry finds; -1: none */
  int seq;             /* the Seq that dropped it; -1: none */
  int common;          /* lowest scope above both m-tiles; -1 if they are the same */
  uint64_t if_idle[2]; /* bit sets of children of the retaining scope above that drop prev's content
                          if they have points: [0] in this run, [1] in the run before */
  int n_spread; /* loops that, with a trip count > 1, spread prev's reduction, so that its copies
                   are dropped */
  int *spread;
  int n_comp;
  tf_comp *comp;
} tf_reuse_case;

/* Whether the class has entries after a sibling's at steps of loops further out. */
static inline bool tf_after_sibling(const tf_reuse_case *c) {
  return c->stepping < 0 && c->zero_from > 0;
}

typedef struct {
  int n;
  int *loops;        /* loop numbers above the node, outermost first */
  uint64_t temporal; /* positions of temporal loops */
} tf_path;

typedef struct tf_plan {
  const tf_tree *tree;
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_facts *facts; /* leads, homes, streams; the most used ones are copied here: */
  int n_loops;
  const int *first_loop, *depth, *lead, *home_scope, *stream_scope;
  tf_ploop *loops;
  tf_path *path; /* [node] loops strictly above it */
  uint64_t
      *over; /* [node * wl->n_dims + dim] positions on the node's path of the loops over the dim */
  int *home_level; /* [tensor] */
  bool *retained;  /* [tensor] */
  int n_retains;
  struct tf_retain *retains; /* scopes that retain (retain.h) */
  int *retain_at;            /* [node] retains[] entry above the node, -1 */
  int *made_in;              /* [op] retains[] entry whose runs determine its range; -1: none */
  uint64_t *made_mask; /* [op] of a retained one: loops above the scope on which its computed range
                          depends; else 0 */
  int *unit;           /* [op] */
  int64_t *space;      /* [op] points of its iteration space; saturating */
  int n_slices;
  tf_slice *slices;  /* m-tile slices first ... */
  int n_tile_slices; /* ... then op leaves: one per reference, reads then output, op by op */
  /* held[held_from[i] .. held_from[i + 1] - 1]: m-tile slices of a tensor at a level, i = level *
   * wl->n_tensors + tensor, by node; kept: of a scope, by its node, the tensors at home there */
  int *held_from, *held, *kept_from, *kept;
  /* inputs and outputs that live in inner memories, one for each m-tile of that memory: what is
   * touched below; nothing moves, but it is held throughout */
  int n_at_home;
  tf_slice *at_home;
  uint64_t *pulled; /* [at_home * TF_MAX_RANK + rank] loops above that move two terms of one index
                       of it, whose shifts may cancel */
  bool pulls;       /* some do */
  uint64_t *base;   /* [op * wl->n_dims + dim] tf_base_mask, if some tensor lives there */
  int *op_slice;    /* [op] its first leaf slice */
  tf_slice *stream; /* [op] a streamed op's output at the scope that streams it; node -1: none */
  struct tf_online *online; /* the ops under streaming (online.h); NULL: nothing is streamed */
  tf_slice *node_slice;     /* [node] a slice without ranks: only the loops above the node */
  bool clips;               /* some tensor is padded: borders may clip boxes */
  bool cuts;                /* some intermediate is padded: borders may clip ranges */
  struct tf_ends *lost;     /* [op * TF_MAX_RANK + output rank] most elements cut off a range
                               (out_of_bounds.h); NULL unless cuts */
  bool unlike_reads;        /* several reads of one op's output have different indices (comps.c) */
  int64_t reach;  /* sum of all paddings: within this distance of a border settings may differ */
  bool irregular; /* needs the exact walk for any trip counts */
  struct tf_skips *skips;     /* steps that a mask skips (skip.h); NULL: none */
  tf_sparse *sparse;          /* savings by zeros; NULL: none */
  struct tf_range_memo *memo; /* cached ranges (range_memo.h); NULL: not needed */
} tf_plan;

tf_plan *tf_plan_new(tf_arena *a, const tf_tree *tree);

/* Whether node a is b or an ancestor of it. */
static inline bool tf_plan_above(const tf_plan *p, int a, int b) {
  return tf_is_above(p->facts, a, b);
}
/* The first Tile of `level` on the path to node n (n included), -1: none. */
int tf_plan_mtile(const tf_plan *p, int n, int level);
/* Slice i, or from n_slices on the output of op i - n_slices as streamed. */
static inline const tf_slice *tf_slice_at(const tf_plan *p, int i) {
  return i < p->n_slices ? &p->slices[i] : &p->stream[i - p->n_slices];
}
/* Positions of the spatial loops above node n. */
static inline uint64_t tf_path_spatial(const tf_plan *p, int n) {
  const int loops = p->path[n].n;
  return loops ? ~p->path[n].temporal & ~UINT64_C(0) >> (TF_MAX_PATH - loops) : 0;
}
/* Whether the m-tile t holds z. */
bool tf_plan_tile_holds(const tf_plan *p, int t, int z);
/* Whether loop l, on the path to intermediate z's producer, selects the instance of z's home. */
bool tf_plan_selects(const tf_plan *p, int z, int l);
/* Whether loop l, above the home scope of z, has several runs of the scope at once in one instance
 * of z's home. */
bool tf_plan_brings(const tf_plan *p, int z, int l);
/* Whether the node is a scope whose children run at once, and split the memory. */
static inline bool tf_plan_at_once(const tf_node *n) {
  return n->kind == TF_SCOPE && tf_scope_at(n->scope)->at_once;
}
static inline bool tf_plan_drops(const tf_node *n) {
  return n->kind == TF_SCOPE && tf_scope_at(n->scope)->drops;
}
/* Whether op o leads below node n (n on its path). */
static inline bool tf_plan_leads(const tf_plan *p, int o, int n) {
  return tf_leads(p->facts, o, n);
}
/* Whether loops a and b split one range in sequence. */
static inline bool tf_plan_same_chain(const tf_plan *p, int a, int b) {
  return p->loops[a].chain_node == p->loops[b].chain_node && p->loops[a].dim == p->loops[b].dim;
}
#endif
