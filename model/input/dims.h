/* The relation of a dim to an op, an index or a reference. */
#ifndef MODEL_INPUT_DIMS_H
#define MODEL_INPUT_DIMS_H
#include "tileflow/spec.h"

/* Position of the dim among the op's dims (output dims first); -1: not among them. */
static inline int tf_op_slot(const tf_op *op, int dim) {
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim) return i;
  return -1;
}

/* The rank of the op's output that the dim indexes; -1: it reduces the dim, or does not have it. */
static inline int tf_out_rank(const tf_op *op, int dim) {
  for (int r = 0; r < op->n_out_dims; r++)
    if (op->dims[r] == dim) return r;
  return -1;
}

static inline bool tf_op_reads(const tf_op *op, int tensor) {
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == tensor) return true;
  return false;
}

static inline int tf_op_times_read(const tf_op *op, int tensor) {
  int n = 0;
  for (int i = 0; i < op->n_reads; i++)
    n += op->reads[i].tensor == tensor;
  return n;
}

static inline bool tf_op_touches(const tf_op *op, int tensor) {
  return op->out == tensor || tf_op_reads(op, tensor);
}

static inline bool tf_is_padded(const tf_tensor *t) {
  for (int r = 0; r < t->rank; r++)
    if (t->pad[r] > 0) return true;
  return false;
}

/* Whether some view shows the tensor: all of it is needed then, whatever its other readers leave
 * out. */
static inline bool tf_is_viewed(const tf_workload *wl, int tensor) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of == tensor + 1) return true;
  return false;
}

/* By how many elements a step of the dim moves the index; 0: the dim is not in it. */
static inline int64_t tf_index_coef(const tf_index *ix, int dim) {
  for (int t = 0; t < ix->n_terms; t++)
    if (ix->terms[t].dim == dim) return ix->terms[t].coef;
  return 0;
}

/* Whether the index is the dim itself. */
static inline bool tf_index_is_dim(const tf_index *ix, int dim) {
  return ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 && ix->terms[0].dim == dim;
}

/* Whether both move alike; the constants may differ. */
static inline bool tf_index_moves_as(const tf_index *a, const tf_index *b) {
  bool same = a->n_terms == b->n_terms;
  for (int t = 0; same && t < a->n_terms; t++)
    same = tf_index_coef(b, a->terms[t].dim) == a->terms[t].coef;
  return same;
}

static inline bool tf_index_same(const tf_index *a, const tf_index *b) {
  return a->c == b->c && tf_index_moves_as(a, b);
}

/* Whether a step of the dim moves what the reference (to a tensor of `rank` ranks) touches. */
static inline bool tf_ref_moves(const tf_ref *ref, int rank, int dim) {
  for (int r = 0; r < rank; r++)
    if (tf_index_coef(&ref->index[r], dim) != 0) return true;
  return false;
}

/* The innermost rank with more than one element, along which neighbours are contiguous (weights
 * of 1 x 1 have two ranks of one element inside of it); the last one where all have one, -1 where
 * there is none. */
static inline int tf_inner_rank(const tf_tensor *z) {
  for (int r = z->rank - 1; r >= 0; r--)
    if (z->extent[r] > 1) return r;
  return z->rank - 1;
}
#endif
