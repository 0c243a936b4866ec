/* A workload as the thesis's chain (3.4.1): ops one after another below shared loops, the lengths of their boxes as
 * sums of tile sizes, and Algorithm 1 on them. */
#ifndef SEARCH_CLOSED_CHAIN_H
#define SEARCH_CLOSED_CHAIN_H
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/solve.h"

enum { TF_C_LOOPS = 32, TF_C_USES = 64, TF_C_RANKS = 8, TF_C_OPS = 16, TF_C_DIMS = 64 };

/* A length: one + sum per[l] * (tile size of loop l). */
typedef struct {
  double one, per[TF_C_LOOPS];
} tf_c_length;

/* A loop that splits the iteration spaces: a shared one (op -1: a dim of the last op), or one of a single op. */
typedef struct {
  int dim, op;
  int64_t extent;
  uint32_t ops; /* whose boxes it moves */
} tf_c_loop;

/* What an op touches of a tensor. */
typedef struct {
  int op, tensor, rank;
  bool io;     /* input or output of the chain: it moves through the memory above */
  bool out;    /* the op makes it */
  bool all;    /* every op of the chain touches it */
  bool again;  /* an earlier use of the chain has the same tensor */
  double bits; /* of an element */
  tf_c_length len[TF_C_RANKS];
  uint32_t moves; /* loops that move it */
} tf_c_use;

typedef struct {
  const tf_workload *wl;
  int n_ops, ops[TF_C_OPS]; /* producers first */
  int n_loops, n_shared;    /* shared loops stand first */
  tf_c_loop loops[TF_C_LOOPS];
  int n_uses;
  tf_c_use uses[TF_C_USES];               /* op by op */
  tf_c_length range[TF_C_OPS][TF_C_DIMS]; /* [k][i]: length of the i-th dim of ops[k], below the shared loops */
} tf_chain;

/* The chain of all ops of a workload (op < 0), or one op alone, all of whose dims are shared.  shared[dim]: the dims of
 * the last op whose loops stand above all ops.  False where it passes a limit. */
bool tf_chain_of(const tf_workload *wl, int op, const bool *shared, tf_chain *out);

/* The length where loop l has tiles of s[l]. */
double tf_chain_length(const tf_c_length *len, int n_loops, const double *s);

/* Words of a use where loop l has tiles of s[l].  (getFootprint of Algorithm 1.) */
double tf_chain_footprint(const tf_c_use *u, int n_loops, const double *s);

/* Algorithm 1 as it stands in the thesis: order[0 .. n - 1] are loops, outer first; s[l] is the tile of loop l, the
 * whole extent where it is not in the order.  DV counts every move of a tile as a full one; MU is the largest sum over
 * an op's tensors. */
void tf_chain_algorithm1(const tf_chain *c, const int *order, int n, const double *s, double *volume, double *use);

/* What the tree of that order moves: a Tile of the shared loops of the order, a scope, and below it per op a Tile of
 * its own loops of the order.  It differs from Algorithm 1 in three points: partial tiles count as what they are, a
 * loop of one step breaks no reuse, and Seq gives up what the next op does not touch.  Each word of an output counts
 * once per time it leaves; `reloads`: what comes back to be added to counts, too.  Exact where no two boxes overlap. */
double tf_chain_words(const tf_chain *c, tf_scope kind, const int *order, int n, const double *s, bool reloads);

/* Words of what memory `home` holds: Seq the largest op, Shar all ops together.  Intermediates count by what one
 * iteration of the scope makes; `twice`: tiles of inputs and outputs are double-buffered. */
double tf_chain_held(const tf_chain *c, tf_scope kind, const double *s, bool twice);
#endif
