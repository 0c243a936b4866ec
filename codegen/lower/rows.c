/* Fuses neighbouring nests over the same rows, so that a row is still in cache when the next op
 * reads it. */
#include <string.h>

#include "codegen/lower/lower.h"

/* Whether op reads tensor z at the same point in the dims that are fused: rank r of it is dims[r]
 * alone. */
static bool reads_at_point(const tf_op *op, const tf_ref *ref, const tf_op *maker, int common) {
  (void)op;
  for (int r = 0; r < common && r < maker->n_out_dims; r++) {
    const tf_index *ix = &ref->index[r];
    if (ix->n_terms != 1 || ix->c != 0 || ix->terms[0].coef != 1 ||
        ix->terms[0].dim != maker->dims[r])
      return false;
  }
  return true;
}

/* Whether elements adjacent along dim are adjacent in every operand that moves with it. */
static bool runs_along(const tf_workload *wl, const tf_op *op, int dim) {
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    const int rank = wl->tensors[ref->tensor].rank;
    for (int r = 0; r < rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        if (ref->index[r].terms[t].dim == dim && (r < rank - 1 || ref->index[r].terms[t].coef != 1))
          return false;
  }
  return true;
}

/* Whether vectors lie along the output's last dim: of maps, and of sums that go down columns (a
 * vector times a matrix), which would be scalar if each element were summed by itself. */
static bool needs_last(const tf_workload *wl, const tf_op *op) {
  if (op->n_dims == op->n_out_dims) return true;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (runs_along(wl, op, op->dims[k])) return false;
  return op->n_out_dims > 0 && runs_along(wl, op, op->dims[op->n_out_dims - 1]);
}

/* How many leading dims nests a and b can share; at most `common`. */
static int shared_dims(const lowering *w, const ir_stmt *a, const ir_stmt *b, int common) {
  const tf_op *p = &w->plan->wl->ops[a->op], *q = &w->plan->wl->ops[b->op];
  int n = 0;
  while (n < common && n < q->n_out_dims && p->dims[n] == q->dims[n] &&
         ir_same(a->range[n].lo, b->range[n].lo) && ir_same(a->range[n].hi, b->range[n].hi))
    n++;
  const int keeps = needs_last(w->plan->wl, q) ? 1 : 0;
  return n > q->n_out_dims - keeps ? q->n_out_dims - keeps : n;
}

/* Whether b can be fused with nests `from` .. `to` over `common` dims: it reads their outputs at
 * the same point only. */
static bool may_join(const lowering *w, const ir_body *body, int from, int to, const ir_stmt *b,
                     int common) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[b->op];
  for (int i = from; i < to; i++) {
    const tf_op *maker = &wl->ops[body->s[i]->op];
    for (int k = 0; k < op->n_reads; k++)
      if (op->reads[k].tensor == maker->out && !reads_at_point(op, &op->reads[k], maker, common))
        return false;
  }
  return true;
}

static bool plain(const ir_stmt *s) { return s->kind == IR_NEST && !s->note; }

/* The number of nests from `from` on that can be fused; *common: over how many dims. */
static int run_of(const lowering *w, const ir_body *body, int from, int *common) {
  const ir_stmt *first = body->s[from];
  int to = from + 1;
  *common = shared_dims(w, first, first, w->plan->wl->ops[first->op].n_out_dims);
  while (to < body->n && plain(body->s[to])) {
    int n = shared_dims(w, first, body->s[to], *common);
    if (n < 1 || !may_join(w, body, from, to, body->s[to], n)) break;
    *common = n;
    to++;
  }
  return to;
}

static void join_in(lowering *w, ir_body *body) {
  int n = 0;
  for (int i = 0; i < body->n; n++) {
    ir_stmt *s = body->s[i];
    int common = 0, to = plain(s) ? run_of(w, body, i, &common) : i + 1;
    if (s->kind == IR_FOR || s->kind == IR_IF) join_in(w, &s->body);
    if (to > i + 1 && common > 0) {
      ir_stmt *all = TF_NEW(w->p->arena, ir_stmt),
              **rows = TF_ARRAY(w->p->arena, ir_stmt *, (size_t)(to - i));
      if (lower_failed(w)) return;
      memcpy(rows, body->s + i, (size_t)(to - i) * sizeof *rows);
      *all = (ir_stmt){.kind = IR_TOGETHER, .together.n_common = common, .body = {to - i, rows}};
      s = all;
    }
    body->s[n] = s;
    i = to;
  }
  body->n = n;
}

void lower_join_rows(lowering *w) { join_in(w, &w->p->body); }
