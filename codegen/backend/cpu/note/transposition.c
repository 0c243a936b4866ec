#include "codegen/backend/cpu/note/transposition.h"

#include "tileflow/tree.h"

/* The position of the dim among the op's. */
static int position_of(const tf_op *op, int dim) {
  int k = 0;
  while (op->dims[k] != dim)
    k++;
  return k;
}

bool cpu_is_transposition(const tf_workload *wl, const tf_op *op, cpu_transposition *t) {
  if (op->reduce != TF_ASSIGN || op->n_reads != 1 || op->n_expr != 1 || op->n_out_dims < 2)
    return false;
  const tf_ref *ref = &op->reads[0];
  const tf_tensor *z = &wl->tensors[ref->tensor];
  const int last = z->rank - 1;
  *t = (cpu_transposition){.row = op->n_out_dims - 1, .word = -1};
  int across = 0; /* ranks that the row moves */
  for (int r = 0; r <= last; r++) {
    const tf_index *index = &ref->index[r];
    if (z->pad[r] || index->n_terms != 1 || index->terms[0].coef != 1) return false;
    for (int before = 0; before < r; before++)
      if (ref->index[before].terms[0].dim == index->terms[0].dim) return false;
    across += r < last && index->terms[0].dim == op->dims[t->row];
  }
  if (across != 1) return false;
  const int64_t row = wl->dims[op->dims[t->row]].extent;
  t->word = position_of(op, ref->index[last].terms[0].dim);
  t->by_line = row < CPU_LINE_WORDS && t->word != t->row - 1;
  return row >= CPU_LINE_WORDS || (t->by_line && row >= CPU_LEAST_ROW);
}

bool cpu_transposes_words(const ir_program *p, const tf_op *op, cpu_transposition *t) {
  const tf_workload *wl = p->tree->workload;
  if (!cpu_is_transposition(wl, op, t)) return false;
  const ir_buffer *from = &p->buffers[p->buffer_of[op->reads[0].tensor]],
                  *to = &p->buffers[p->buffer_of[op->out]];
  return from->type == to->type && ir_bytes(from->type) == 4 && !from->block.length &&
         !to->block.length;
}
