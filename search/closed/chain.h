/* A workload as a chain (thesis 3.4.1): ops one after another below shared loops, with box lengths
 * as linear functions of tile sizes, and Algorithm 1 of the thesis. */
#ifndef SEARCH_CLOSED_CHAIN_H
#define SEARCH_CLOSED_CHAIN_H
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/solve.h"
#include "tileflow/tree.h"

enum { TF_C_LOOPS = 32, TF_C_USES = 64, TF_C_RANKS = 8, TF_C_OPS = TF_CLOSED_OPS, TF_C_DIMS = 64 };

/* A length: one + sum of per[l] * (tile size of loop l). */
typedef struct {
  double one, per[TF_C_LOOPS];
  uint32_t loops; /* those of which per is not 0, as bits; filled once the chain is known */
} tf_c_length;

/* A loop: a shared one (op -1: over a dim of the last op), or an own loop of one op. */
typedef struct {
  int dim, op;
  int64_t extent;
  uint32_t ops; /* the ops whose boxes it moves, as bits */
} tf_c_loop;

/* One op's use of one tensor. */
typedef struct {
  int op, tensor, rank;
  bool io;        /* input or output of the chain: it moves through the memory above */
  bool out;       /* the op produces it */
  bool all;       /* every op of the chain touches it */
  bool is_repeat; /* an earlier use has the same tensor */
  double bits;    /* of an element */
  tf_c_length len[TF_C_RANKS];
  uint32_t moves; /* loops that move it, as bits */
} tf_c_use;

typedef struct {
  const tf_workload *wl;
  int n_ops, ops[TF_C_OPS]; /* producers first */
  int n_loops, n_shared;    /* shared loops come first */
  tf_c_loop loops[TF_C_LOOPS];
  int n_uses;
  tf_c_use uses[TF_C_USES];               /* in the order of ops */
  tf_c_length range[TF_C_OPS][TF_C_DIMS]; /* [k][i]: length of the i-th dim of ops[k] below the
                                             shared loops */
} tf_chain;

/* The chain of all ops of a workload (op < 0), or of one op alone, with all its dims shared.
 * shared[dim]: the dims of the last op whose loops are above all ops.  False where a limit
 * (TF_C_...) is exceeded. */
bool tf_chain_of(const tf_workload *wl, int op, const bool *shared, tf_chain *out);

/* The length when loop l has tiles of s[l]. */
double tf_chain_length(const tf_c_length *len, const double *s);

/* Words of a use when loop l has tiles of s[l]: getFootprint of Algorithm 1. */
double tf_chain_footprint(const tf_c_use *u, const double *s);

/* Algorithm 1 as in the thesis: data volume DV and memory use MU, in words.  order[0 .. n - 1] are
 * loops, outermost first; s[l] is the tile of loop l, the whole extent for loops outside the order.
 * DV counts every transfer as a full tile; MU is the largest sum of footprints over an op's
 * tensors. */
void tf_chain_algorithm1(const tf_chain *c, const int *order, int n, const double *s,
                         double *volume, double *use);

/* Words that the tree with that loop order moves: a Tile of the order's shared loops, a scope, and
 * below it for each op a Tile of its own loops.  It differs from Algorithm 1 in three points:
 * partial tiles count their true size, a loop of one step breaks no reuse, and Seq drops what the
 * next op does not touch.  Each word of an output counts once each time it is drained; `reloads`:
 * partial sums that are loaded again count, too.  Exact where no two boxes overlap. */
double tf_chain_words(const tf_chain *c, tf_scope kind, const int *order, int n, const double *s,
                      bool reloads);
/* The same where loop l splits extent[l] instead of its dim. */
double tf_chain_words_in(const tf_chain *c, const double *extent, tf_scope kind, const int *order,
                         int n, const double *s, bool reloads);
#endif
