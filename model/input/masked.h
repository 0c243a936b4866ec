/* Masks, and the points that they make unnecessary: where a softmax, a maximum or a sum of products
 * gets -inf, its result is a constant that adds nothing (docs/SEMANTICS.md section 1).  By
 * position: T = select(l <= q + c, .., -inf); by data: T = .. + Mask[q,l], where the input holds
 * -inf. */
#ifndef MODEL_INPUT_MASKED_H
#define MODEL_INPUT_MASKED_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* Two dims, and the band of distances in which a point counts: lo <= l - q <= hi.  A bound of
 * absolute value TF_MASK_FAR or more means none. */
#define TF_MASK_FAR (INT64_MAX / 4)
typedef struct {
  int op;        /* the op whose value is -inf elsewhere */
  int mask_read; /* its read of the input that holds -inf there; -1: positions decide */
  int l, q;      /* by data: l is along the input's last rank, q -1, as rows may be along any of its
                    others */
  int64_t lo, hi;
  bool *constant_outside; /* [op] its values elsewhere are constants that are not needed: no such
               point has to be run */
  bool *fully_masked; /* [op] the same, or its values elsewhere are only read, at the same point, by
                 such ops: these points need not be run either */
} tf_mask;

/* The mask that op o applies, if it does, with its consequences: every later op that reads the
 * constant has l, and q in its output.  False: it applies none, or the arena has failed. */
bool tf_mask_of(const tf_workload *wl, int o, tf_arena *arena, tf_mask *m);

/* The mask by data that op o applies, if it does, with its consequences (`constant_outside` alone):
 * every later op that reads the constant has l, and the input's other dims in its output.  The
 * input's indices are single dims, and numbers.  False: as above. */
bool tf_mask_added(const tf_workload *wl, int o, tf_arena *arena, tf_mask *m);

/* The mask by position in use: that of the first op that applies one which leaves anything out. */
bool tf_mask_find(const tf_workload *wl, tf_arena *arena, tf_mask *m);

/* Whether op o is -inf, or 0, where a condition by position is false, and this says no more than a
 * band of the distance l - q; which of both, and of which dims. */
bool tf_mask_band(const tf_workload *wl, int o, tf_mask *m, double *outside);

/* The value of the op where the condition is false, given value[tensor]; NAN: not known, or not a
 * number. */
double tf_mask_outside(const tf_workload *wl, const tf_op *op, const tf_mask *m,
                       const double *value);

/* Whether every q in q0 .. q0 + nq - 1 has an l in l0 .. l0 + nl - 1 that counts; and every such l
 * a q. */
bool tf_mask_q_meets(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl);
bool tf_mask_l_meets(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl);

/* How many pairs of q in q0 .. q0 + nq - 1 and l in l0 .. l0 + nl - 1 count; -1: they pass 2^63
 * - 1. */
int64_t tf_mask_pairs(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl);

/* Whether each rank of the reference is one dim, which moves over all of it, and no other rank has:
 * then each element is read equally often. */
bool tf_is_plain(const tf_workload *wl, const tf_tensor *t, const tf_ref *ref);
/* even[op]: whether it computes each point equally often, and reads for each. */
void tf_even_ops(const tf_workload *wl, bool *even);

/* The band of the coordinates x and y of ranks p < q: x - left <= y <= x + right. */
typedef struct {
  int p, q;
  int64_t left, right;
} tf_band;
/* How many rows the tensor has, of elements that lie in such a band one behind the other; 0: more
 * than TF_COORDINATES_MOST. */
int64_t tf_band_rows(const tf_band *b, const tf_tensor *t);
/* Fills runs and share of a tensor of so many; without runs if the band has no element.  False
 * without memory. */
bool tf_band_fill(const tf_band *b, const tf_tensor *t, tf_arena *a, tf_density *out);
#endif
