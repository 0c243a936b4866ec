/* Masks of places, T = select(l <= q + c, .., -inf), and the points that they leave nothing of: what a softmax, a
 * maximum or a sum of products makes of -inf there is a constant that adds nothing (docs/SEMANTICS.md section 1). */
#ifndef MODEL_SPEC_MASKED_H
#define MODEL_SPEC_MASKED_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* Two dims, and how far l lies from q where a point counts: lo <= l - q <= hi.  An end that is TF_MASK_FAR or further
 * from 0 is none. */
#define TF_MASK_FAR (INT64_MAX / 4)
typedef struct {
  int op; /* whose value is -inf elsewhere */
  int l, q;
  int64_t lo, hi;
  bool *in;   /* [op] what it makes elsewhere is a constant that nobody needs: no such point need be run */
  bool *vain; /* [op] the same, or it makes elsewhere what only such ops read, at the very point: nor need those be */
} tf_mask;

/* The mask that op o puts on, if it does, with all that comes of it: every op behind it that reads the constant has l,
 * and q in its output.  False: it puts on none, or the arena has failed. */
bool tf_mask_of(const tf_workload *wl, int o, tf_arena *arena, tf_mask *m);

/* The mask that counts: the first op's that puts one on and leaves something of it. */
bool tf_mask_find(const tf_workload *wl, tf_arena *arena, tf_mask *m);

/* Whether every l has a q that counts, and every q an l. */
bool tf_mask_meets_all(const tf_workload *wl, const tf_mask *m);

/* How many pairs of q in q0 .. q0 + nq - 1 and l in l0 .. l0 + nl - 1 count; -1: they pass 2^63 - 1. */
int64_t tf_mask_pairs(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl);
#endif
