/* Products of matrices on the cube. */
#include "codegen/backend/npu/pass/pass.h"

static bool is_plain(const tf_index *ix) {
  return ix->n_terms == 0 || (ix->n_terms == 1 && ix->terms[0].coef == 1);
}

/* Whether each index of its reads is one of its dims, or a constant. */
static bool all_plain(const tf_op *op, const tf_workload *wl) {
  bool plain = true;
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++)
      plain &= is_plain(&op->reads[i].index[r]);
  return plain;
}

static npu_instr *add_mad(npu_build *b, int op) {
  if (b->dry || !b->ok) return NULL;
  npu_instr *i = b->steps-- > 0 ? npu_add(b->out, NPU_MAD) : NULL;
  if (!i) {
    npu_too_long(b);
    return NULL;
  }
  i->queue = b->t.machine.cube.queue;
  i->tag = b->p->wl->ops[op].name;
  return i;
}

/* A product with all operands in blocks. */
static void by_blocks(npu_build *b, int op, bool on, npu_bank *const bank[3]) {
  const npu_tile sums = npu_tile_of(b, bank[0], bank[0]->box),
                 left = npu_tile_of(b, bank[1], bank[1]->box);
  const npu_tile right = npu_tile_of(b, bank[2], bank[2]->box);
  const npu_tile *const tile[3] = {&sums, &left, &right};
  for (int64_t x = 0; x < sums.batch; x++) {
    npu_instr *i = add_mad(b, op);
    if (!i) return;
    for (int k = 0; k < 3; k++)
      *(k ? &i->from[k - 1] : &i->to) = npu_operand_at(
          b, bank[k], npu_slot_at(bank[k]) + x * tile[k]->words * npu_type_bytes(bank[k]->type));
    i->mad.m = sums.rows;
    i->mad.n = sums.columns;
    i->mad.k = left.columns;
    i->mad.add = on;
  }
}

/* ---- rows ----------------------------------------------------------------------------------- */
/* Position of the op's dim of rank r of the operand; -1: a constant. */
static int dim_of(const tf_op *op, const npu_bank *k, int r) {
  if (!k->role) return r;
  const tf_index *ix = &op->reads[k->role - 1].index[r];
  int at = -1;
  for (int i = 0; i < op->n_dims && ix->n_terms; i++)
    if (op->dims[i] == ix->terms[0].dim) at = i;
  return at;
}

/* Position of the operand's innermost dim on that side; -1: none with more than one element. */
static int side_dim(const npu_build *b, const tf_op *op, const npu_bank *k, npu_side side,
                    const tf_ival *range) {
  int found = -1;
  for (int r = 0; r < k->rank; r++) {
    const int i = dim_of(op, k, r);
    if (i >= 0 && range[i].len > 1 && npu_side_of(b->p->wl, op, k->role, i) == side) found = i;
  }
  return found;
}

/* The stride of the op's dim (a position; -1: none), in elements. */
static int64_t stride_of(const tf_op *op, const npu_bank *k, int dim) {
  int64_t step = 0;
  for (int r = 0; r < k->rank && dim >= 0; r++)
    if (dim_of(op, k, r) == dim) step += k->stride[r];
  return step;
}

static int64_t place_of(const tf_op *op, const npu_bank *k, const int64_t *point) {
  int64_t x[TF_MAX_RANK];
  for (int r = 0; r < k->rank; r++) {
    const int i = dim_of(op, k, r);
    x[r] = (k->role ? op->reads[k->role - 1].index[r].c : 0) + (i >= 0 ? point[i] : 0);
  }
  return npu_bank_at(k, x);
}

static bool step(const tf_op *op, const tf_ival *range, const int side[3], int64_t *point) {
  for (int i = op->n_dims - 1; i >= 0; i--) {
    if (i == side[0] || i == side[1] || i == side[2]) continue;
    if (++point[i] < range[i].lo + range[i].len) return true;
    point[i] = range[i].lo;
  }
  return false;
}

/* Operands in rows: a product for each setting of the dims other than one each of rows, columns and
 * reduced ones. */
static void by_rows(npu_build *b, int o, const tf_ival *range, npu_bank *const bank[3]) {
  const tf_op *op = &b->p->wl->ops[o];
  const int side[3] = {side_dim(b, op, bank[0], NPU_ROW, range),
                       side_dim(b, op, bank[0], NPU_COLUMN, range),
                       side_dim(b, op, bank[1], NPU_COLUMN, range)};
  const int64_t unit[3] = {stride_of(op, bank[0], side[1]), stride_of(op, bank[1], side[2]),
                           stride_of(op, bank[2], side[1])};
  const int64_t ld[3] = {stride_of(op, bank[0], side[0]), stride_of(op, bank[1], side[0]),
                         stride_of(op, bank[2], side[2])};
  int64_t point[TF_MAX_RANK];
  if (!all_plain(op, b->p->wl))
    npu_stop(b, op->at, "windows (convolutions), which this array cannot read");
  for (int k = 0; k < 3; k++)
    if (unit[k] > 1 ||
        npu_side_of(b->p->wl, op, k, dim_of(op, bank[k], bank[k]->rank - 1)) == NPU_BATCH) {
      npu_stop(b, op->at,
               "'%.40s' does not lie as this cube reads it: rows of sums and of the right operand "
               "along the output's last dim, of the left one along what is summed",
               b->p->wl->tensors[bank[k]->tensor].name);
      return;
    }
  for (int i = 0; i < op->n_dims; i++)
    point[i] = range[i].lo;
  do {
    npu_instr *i = add_mad(b, o);
    if (!i) return;
    for (int k = 0; k < 3; k++) {
      *(k ? &i->from[k - 1] : &i->to) = npu_operand_at(b, bank[k], place_of(op, bank[k], point));
      i->mad.ld[k] = ld[k] ? ld[k] : 1;
    }
    i->mad.m = side[0] >= 0 ? range[side[0]].len : 1;
    i->mad.n = side[1] >= 0 ? range[side[1]].len : 1;
    i->mad.k = side[2] >= 0 ? range[side[2]].len : 1;
    for (int k = op->n_out_dims; k < op->n_dims; k++)
      i->mad.add |= point[k] != 0;
  } while (step(op, range, side, point));
}

void npu_product(npu_build *b, int o, const tf_ival *range, npu_bank *const bank[3]) {
  if (b->dry || !b->ok) return;
  if (b->t.flat)
    by_rows(b, o, range, bank);
  else
    by_blocks(b, o, npu_goes_on(b, o, range), bank);
}
