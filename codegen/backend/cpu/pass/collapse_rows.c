/* Merges contiguous rows of an image: if a product covers whole rows of its output and of b without
 * gaps between them, all rows of a nest are treated as one. Panels are then full, where rows of 7,
 * 14 or 28 would each leave lanes idle. */
#include "codegen/backend/cpu/pass/pass.h"

static bool no_gaps(const ir_buffer *b, int rank, int64_t row) {
  return b->block.length == 0 && (b->role == IR_ARGUMENT || b->extent[rank] == row);
}

/* Whether b's last two ranks are the two dims. */
static bool reads_rows(const lowering *w, const tf_op *op, const cpu_product *p, int above) {
  const tf_ref *ref = &op->reads[p->b];
  const int rank = w->plan->wl->tensors[ref->tensor].rank;
  if (rank < 2 || !lower_is_dim(&ref->index[rank - 1], op->dims[p->n]) ||
      !lower_is_dim(&ref->index[rank - 2], op->dims[above]))
    return false;
  return !lower_reads_dim(ref, rank - 2, op->dims[above]) &&
         !lower_reads_dim(ref, rank - 2, op->dims[p->n]) &&
         !lower_padded(&w->plan->wl->tensors[ref->tensor]);
}

static bool can_merge(const lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int above = p->n - 1;
  if (p->kind != CPU_PAIRS || p->pack >= 0 || above < 0 || above == p->m ||
      cpu_of(s)->n_prefetches || cpu_of(s)->prefetched || cpu_of(s)->producer ||
      cpu_of(s)->rounded_for || cpu_of(s)->map || cpu_of(s)->copied)
    return false;
  const tf_tensor *a = &w->plan->wl->tensors[op->reads[p->a].tensor],
                  *b = &w->plan->wl->tensors[op->reads[p->b].tensor];
  const ir_range *n = &s->range[p->n], *rows = &s->range[above];
  return n->exact && rows->exact && rows->most > 1 && rows->most * n->most <= INT32_MAX &&
         reads_rows(w, op, p, above) &&
         !lower_reads_dim(&op->reads[p->a], a->rank, op->dims[above]) &&
         no_gaps(&w->p->buffers[w->p->buffer_of[op->out]], p->n, n->most) &&
         no_gaps(&w->p->buffers[w->p->buffer_of[op->reads[p->b].tensor]], b->rank - 1, n->most);
}

static void merge_in(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    ir_stmt *s = body->s[i];
    merge_in(w, &s->body);
    if (!cpu_product_of(s) || !can_merge(w, s)) continue;
    cpu_product *p = TF_NEW(w->p->arena, cpu_product);
    cpu_note *note = cpu_edit(w->p, s);
    if (lower_failed(w)) return;
    *p = *cpu_of(s)->product;
    p->pairs.merged = true;
    note->product = p;
  }
}

void lower_merge_rows(lowering *w) { merge_in(w, &w->p->body); }
