/* Splits an op of the vector unit: as many points at a time as its expression's values have room
 * for. */
#include "codegen/backend/npu/pass/pass.h"

/* Whether the op's dim (a position) is contiguous in an operand or the output. */
static bool is_line(const npu_build *b, const tf_op *op, int dim) {
  bool is = dim == op->n_out_dims - 1;
  for (int i = 0; i < op->n_reads; i++) {
    const int rank = b->p->wl->tensors[op->reads[i].tensor].rank;
    const tf_index *last = rank ? &op->reads[i].index[rank - 1] : NULL;
    for (int t = 0; last && t < last->n_terms; t++)
      is |= last->terms[t].dim == op->dims[dim];
  }
  return is;
}

/* Parts have a multiple of so many points along the dim, as they begin where operands of the
 * narrowest type may. */
static int64_t part_multiple(const npu_build *b, const npu_bank *k, const tf_op *op, int dim) {
  const int64_t align = b->t.machine.memory[k->memory].align,
                line = align / npu_type_bytes(NPU_F16);
  return line > 1 && is_line(b, op, dim) ? line : 1;
}

static const tf_op *op_of_values(const npu_build *b, const npu_bank *k) {
  return &b->p->wl->ops[k->values_of - 1];
}

static int64_t bytes_of(const npu_build *b, const npu_bank *k, const int64_t *ext) {
  npu_bank part = *k;
  for (int r = 0; r < k->rank; r++)
    part.ext[r] = ext[r];
  npu_bank_lay_out(b, &part);
  return part.bytes;
}

int64_t npu_least_part(const npu_build *b, const npu_bank *k) {
  int64_t ext[TF_MAX_RANK];
  for (int r = 0; r < k->rank; r++) {
    const int64_t least = part_multiple(b, k, op_of_values(b, k), r);
    ext[r] = k->ext[r] < least ? k->ext[r] : least;
  }
  return bytes_of(b, k, ext);
}

void npu_lay_out_part(const npu_build *b, npu_bank *k, const tf_ival *range) {
  const int64_t room = k->bytes;
  for (int r = 0; r < k->rank; r++)
    k->ext[r] = range[r].len;
  npu_bank_lay_out(b, k);
  k->bytes = room;
}

/* Reduced dims are split last: a part of a sum adds to what the part before left. */
int npu_part_dim(const npu_build *b, const npu_bank *k, const tf_ival *range, int64_t *first) {
  const tf_op *op = op_of_values(b, k);
  int64_t ext[TF_MAX_RANK], most = 1;
  int found = -1;
  for (int r = 0; r < k->rank; r++)
    ext[r] = range[r].len;
  if (!k->in_parts || bytes_of(b, k, ext) <= k->bytes) return -1;
  for (int r = 0; r < k->rank; r++) {
    const int64_t least = part_multiple(b, k, op, r), parts = (ext[r] + least - 1) / least;
    if (parts <= most || (found >= 0 && found < op->n_out_dims && r >= op->n_out_dims)) continue;
    found = r;
    most = parts;
    *first = (parts + 1) / 2 * least;
  }
  return found;
}
