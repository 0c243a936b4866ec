/* Sides of products: which dims are rows, columns, or number the matrices. */
#include "codegen/backend/npu/pass/pass.h"

bool npu_read_has(const tf_workload *wl, const tf_op *op, int read, int dim) {
  const tf_ref *ref = &op->reads[read];
  bool has = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      has |= ref->index[r].terms[t].dim == dim;
  return has;
}

npu_side npu_side_of(const tf_workload *wl, const tf_op *op, int role, int i) {
  if (i < 0) return NPU_BATCH;
  const bool left = npu_read_has(wl, op, 0, op->dims[i]),
             right = npu_read_has(wl, op, 1, op->dims[i]);
  const bool reduced = i >= op->n_out_dims;
  if (left && right && !reduced) return NPU_BATCH;
  return reduced || (!role && right) ? NPU_COLUMN : NPU_ROW;
}

bool npu_is_product(const tf_op *op, const tf_workload *wl) {
  if (op->kinds != 1u << TF_K_MAC || op->n_reads != 2 || op->reduce != TF_REDUCE_ADD ||
      op->n_expr != 3)
    return false;
  bool is = op->reads[0].tensor != op->reads[1].tensor;
  for (int k = 0; k < op->n_dims; k++) {
    const bool left = npu_read_has(wl, op, 0, op->dims[k]),
               right = npu_read_has(wl, op, 1, op->dims[k]);
    is = is && (k < op->n_out_dims ? left || right : left && right);
  }
  return is;
}

bool npu_is_shared(const tf_workload *wl, int dim) {
  bool all = true;
  for (int o = 0; o < wl->n_ops; o++) {
    bool has = false;
    for (int k = 0; k < wl->ops[o].n_out_dims; k++)
      has |= wl->ops[o].dims[k] == dim;
    all = all && has;
  }
  return all;
}

npu_tile npu_tile_of(const npu_build *b, const npu_bank *k, const tf_ival *box) {
  const npu_cube *c = &b->t.machine.cube;
  npu_tile t = {1, 1, 1, k->role == 2 ? c->n : c->m, k->role ? c->k : c->n, 0, 0};
  for (int i = 0; i < k->rank; i++) {
    const npu_side side = npu_side_of(b->p->wl, &b->p->wl->ops[k->op], k->role, k->dims[i]);
    *(side == NPU_BATCH ? &t.batch : side == NPU_ROW ? &t.rows : &t.columns) *= box[i].len;
  }
  t.line = (t.columns + t.wide - 1) / t.wide * t.high * t.wide;
  t.words = (t.rows + t.high - 1) / t.high * t.line;
  return t;
}
