#include "codegen/backend/cpu/note/note.h"

#include "model/input/dims.h"
#include "tileflow/tree.h"

const cpu_note cpu_no_note = {.note = {&cpu_no_note}};

void cpu_uses(const ir_program *p, const ir_stmt *s, void (*use)(void *ctx, ir_atom a), void *ctx) {
  const cpu_product *q = cpu_of(s)->product;
  const tf_workload *wl = p->tree->workload;
  for (int r = 0; q && q->slab && r < wl->tensors[wl->ops[s->op].reads[cpu_slab_of(q)].tensor].rank;
       r++)
    use(ctx, q->slab[r].lo), use(ctx, q->slab[r].hi);
}

cpu_note *cpu_edit(const ir_program *p, ir_stmt *s) {
  cpu_note *n = TF_NEW(p->arena, cpu_note);
  if (!n) return NULL;
  *n = *cpu_of(s);
  s->note = &n->note;
  return n;
}

int64_t cpu_output_pitch(const tf_workload *wl, const tf_op *op, int k) {
  int64_t words = wl->tensors[op->out].n_consumers ? 0 : 1;
  for (int i = k + 1; i < op->n_out_dims; i++)
    words *= wl->dims[op->dims[i]].extent;
  return words * (int64_t)sizeof(float);
}

bool cpu_is_group(const tf_workload *wl, const tf_op *op, const cpu_product *p, int k) {
  const tf_ref *b = &op->reads[p->b];
  return k < op->n_out_dims && k != p->n &&
         tf_ref_moves(b, wl->tensors[b->tensor].rank, op->dims[k]);
}

int cpu_box_dim(const tf_op *op, const ir_stmt *s, int read, int r) {
  int found = -1;
  if (read < 0) return cpu_spans_box(s, r) ? r : -1;
  const tf_index *ix = &op->reads[read].index[r];
  for (int t = 0; t < ix->n_terms; t++)
    for (int k = 0; k < op->n_dims; k++)
      if (op->dims[k] == ix->terms[t].dim && cpu_spans_box(s, k))
        found = found == -1 && ix->terms[t].coef == 1 ? k : -2;
  return found;
}

int cpu_box_rows(const tf_op *op, const ir_stmt *s, int read, int rank, int64_t *boxes) {
  int rows = -1;
  *boxes = 1;
  for (int r = 0; r + 1 < rank; r++) {
    const int k = cpu_box_dim(op, s, read, r);
    if (k < 0) continue;
    if (rows >= 0)
      *boxes *= s->range[k].most < s->range[rows].most ? s->range[k].most : s->range[rows].most;
    if (rows < 0 || s->range[k].most > s->range[rows].most) rows = k;
  }
  return rows;
}
