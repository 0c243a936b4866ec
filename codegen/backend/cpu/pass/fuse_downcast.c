/* Sums that leave the registers rounded: if a product's output is next copied, as another type,
 * into the rows that another product reads, or into an output, its tiles store it there directly,
 * and it is never stored unrounded. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"

static const tf_op *op_of(const lowering *w, const ir_stmt *s) { return &w->plan->wl->ops[s->op]; }

/* Whether a tile goes over all that the nest sums. */
static bool in_one(const lowering *w, const ir_stmt *s, const cpu_product *p) {
  const tf_op *op = op_of(w, s);
  if (p->way == CPU_PAIRS) return !p->pairs.steps && op->n_dims == op->n_out_dims + 1;
  int64_t steps = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int64_t group = k == p->channels.groups ? p->kernel->group : 1;
    if (__builtin_mul_overflow(steps, (s->range[k].most + group - 1) / group, &steps)) return false;
  }
  return p->way == CPU_CHANNELS && steps <= TF_MICRO_PART;
}

/* A product whose sums are complete when a tile ends. */
static bool is_whole(const lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (!p || p->kernel->leaves == p->kernel->c || s->nest.n_resets > 0 || !in_one(w, s, p))
    return false;
  const ir_buffer *b = &w->p->buffers[w->p->buffer_of[op_of(w, s)->out]];
  return b->role == IR_BOX && b->type == p->kernel->c;
}

static bool saves(const lowering *w, const ir_stmt *s, const ir_stmt *next) {
  if (next->kind != IR_SAVE || next->op != s->op ||
      next->save.from != w->p->buffer_of[op_of(w, s)->out])
    return false;
  bool all = w->p->buffers[next->save.to].type == cpu_of(s)->product->kernel->leaves;
  for (int k = 0; k < op_of(w, s)->n_out_dims; k++)
    all &= lower_same_range(&s->range[k], &next->range[k]);
  return all;
}

/* Whether `next` copies rows of a that are exactly the rows of s, in the layout that its kernel
 * wants. */
static bool copies(const lowering *w, const ir_stmt *s, const ir_stmt *next) {
  const tf_op *op = op_of(w, s);
  const cpu_product *p = cpu_of(s)->product, *q = cpu_product_of(next);
  if (p->way != CPU_PAIRS || !q || q->way != CPU_PAIRS || q->pairs.copy < 0 || q->pairs.keep_copy ||
      q->kernel->a != p->kernel->leaves || next->nest.from)
    return false;
  const tf_op *reader = op_of(w, next);
  const tf_ref *a = &reader->reads[q->a];
  const tf_tensor *z = &w->plan->wl->tensors[op->out];
  if (a->tensor != op->out || z->n_consumers != 1 || reader->reads[q->b].tensor == op->out)
    return false;
  bool all = reader->dims[q->m] == op->dims[p->m] && reader->dims[q->k] == op->dims[p->n];
  for (int r = 0; all && r < z->rank; r++) {
    const tf_index *ix = &a->index[r];
    const int k = lower_find_dim(reader, op->dims[r]);
    const bool matrix = r == p->m || r == p->n;
    all = lower_is_dim(ix, op->dims[r]) && k >= 0 &&
          lower_same_range(&s->range[r], &next->range[k]) &&
          (matrix ? s->range[r].exact : s->range[r].most == 1);
  }
  /* padding of rows: a kernel of whole tiles stores zeros; rows after the last may hold anything,
   * as their sums are not used */
  return all && (p->kernel->m_round > 1 || s->range[p->n].most % q->kernel->k_round == 0);
}

static void round_in(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    ir_stmt *s = body->s[i], *next = NULL;
    round_in(w, &s->body);
    for (int k = i + 1; k < body->n && !next; k++)
      if (body->s[k]->kind != IR_LET) next = body->s[k];
    if (!next || !is_whole(w, s) || !(saves(w, s, next) || copies(w, s, next))) continue;
    cpu_note *n = cpu_edit(w->p, s), *done = cpu_edit(w->p, next);
    if (lower_failed(w)) return;
    n->rounds_for = next;
    *(next->kind == IR_NEST ? &done->copied : &done->done) = true;
  }
}

void lower_round_early(lowering *w) { round_in(w, &w->p->body); }
