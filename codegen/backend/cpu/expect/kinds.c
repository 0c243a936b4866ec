/* Kinds of kernels whose time the estimate often misses. The share of drawn kernels that are within
 * 25 % of it is in the dated arch-specs/cores/fitted.csv, from docs/results/cpu-predicted.csv. */
#include "codegen/backend/cpu/expect/expect.h"

enum { KIND_SCAN, KIND_TRANSPOSED, KIND_TURNED, N_KINDS };

static bool is_reduced(const tf_op *op, int dim) {
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (op->dims[k] == dim) return true;
  return false;
}

/* Prefix sums or maxima: the expression masks a reduced dim by one of the output's. */
static bool is_scan(const tf_workload *wl, const tf_op *op) {
  bool reduced = false, kept = false;
  (void)wl;
  for (int i = 0; i < op->n_expr; i++) {
    if (op->expr[i].what != TF_X_DIM) continue;
    reduced |= is_reduced(op, op->expr[i].dim);
    kept |= !is_reduced(op, op->expr[i].dim);
  }
  return op->n_reads == 1 && reduced && kept;
}

static bool is_moved_by(const tf_index *x, int dim) {
  for (int t = 0; t < x->n_terms; t++)
    if (x->terms[t].dim == dim) return true;
  return false;
}

static bool is_read_by(const tf_workload *wl, const tf_ref *ref, int dim) {
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    if (is_moved_by(&ref->index[r], dim)) return true;
  return false;
}

/* A transposed convolution: dims of one operand stand between those of the other in the output, so
 * that each element of an image contributes to a window of the output. */
static bool is_transposed(const tf_workload *wl, const tf_op *op) {
  int last = -1, changes = 0;
  if (op->n_reads != 2 || op->n_dims == op->n_out_dims) return false;
  for (int k = 0; k < op->n_out_dims; k++) {
    const bool one = is_read_by(wl, &op->reads[0], op->dims[k]),
               two = is_read_by(wl, &op->reads[1], op->dims[k]);
    if (one == two) continue;
    changes += last >= 0 && last != one;
    last = one;
  }
  return changes > 2;
}

/* A map that transposes a read: the output's last dim moves it, but not along its last rank. */
static bool is_turned(const tf_workload *wl, const tf_op *op) {
  if (op->n_dims > op->n_out_dims || op->n_out_dims < 2) return false;
  const int row = op->dims[op->n_out_dims - 1];
  for (int i = 0; i < op->n_reads; i++) {
    const int rank = wl->tensors[op->reads[i].tensor].rank;
    if (rank > 1 && is_read_by(wl, &op->reads[i], row) &&
        !is_moved_by(&op->reads[i].index[rank - 1], row))
      return true;
  }
  return false;
}

static const struct {
  const char *name;
  bool (*is)(const tf_workload *wl, const tf_op *op);
} kinds[N_KINDS] = {
    [KIND_SCAN] = {"scan", is_scan},
    [KIND_TRANSPOSED] = {"transposed", is_transposed},
    [KIND_TURNED] = {"turned", is_turned},
};

/* The share of the kind's drawn kernels whose time was within 25 % of the estimate; a kind with
 * less than LEAST_WITHIN is reported as unsure. */
static const double within[N_KINDS] = {
    [KIND_SCAN] = 0.375, [KIND_TRANSPOSED] = 0.125, [KIND_TURNED] = 0.375};
static const double LEAST_WITHIN = 0.5;

const char *cpu_expect_unsure(const tf_workload *wl) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < N_KINDS; k++)
      if (within[k] < LEAST_WITHIN && kinds[k].is(wl, &wl->ops[o])) return kinds[k].name;
  return NULL;
}
