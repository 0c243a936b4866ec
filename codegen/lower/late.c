/* Deferred quotients.  Where a map divides the elements of rows by a value per row, and one product
 * reads the result, the product's rows are divided instead, which are shorter: (e / z) v = (e v) /
 * z.
 *
 * This is done only where it cannot overflow: z is the sum of those very e, each from 0 to 1 and
 * one of them 1 (a softmax with its maximum subtracted).  Then 1 <= z <= the row's length, and |sum
 * of e v| <= z max |v|: nothing underflows, and only |v| beyond the largest number / the row's
 * length overflows.  Other quotients have no such bound: 1e20 * 1e20 / 1e20 would become infinite.
 */
#include <string.h>

#include "codegen/lower/lower.h"

/* Whether ref reads its tensor at the point at which the op computes it. */
static bool at_made_point(const lowering *w, const tf_ref *ref) {
  const tf_tensor *z = &w->plan->wl->tensors[ref->tensor];
  const tf_op *maker = z->producer < 0 ? NULL : &w->plan->wl->ops[z->producer];
  bool same = maker != NULL;
  for (int r = 0; same && r < z->rank; r++)
    same = lower_is_dim(&ref->index[r], maker->dims[r]);
  return same;
}

/* The read by which the whole value is divided; -1: none. */
static int divisor(const tf_op *op) {
  const tf_expr *root = op->n_expr ? &op->expr[op->n_expr - 1] : NULL;
  if (!root || op->reduce != TF_ASSIGN || root->what != TF_X_CALL || root->call != TF_K_DIV)
    return -1;
  return op->expr[root->arg[1]].what == TF_X_READ ? op->expr[root->arg[1]].ref : -1;
}

static bool passes(const lowering *w, int z) {
  const int b = w->p->buffer_of[z];
  return b >= 0 && w->p->buffers[b].role == IR_BOX;
}

/* Whether the nest computes the complete sum, from its start. */
static bool sums_all(const lowering *w, const ir_stmt *s) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  bool all = s->nest.n_resets == 0;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    all &= s->range[k].exact && s->range[k].lo.var < 0 &&
           s->range[k].most == w->plan->wl->dims[op->dims[k]].extent;
  return all;
}

/* Whether product s may divide its rows by z instead of reading the map's quotients. */
static bool may_divide_rows(const lowering *w, const ir_stmt *s, const tf_op *map, int z) {
  const tf_op *op = &w->plan->wl->ops[s->op],
              *sum = &w->plan->wl->ops[w->plan->wl->tensors[z].producer];
  int reads = 0;
  if (s->kind != IR_NEST || !s->note || !sums_all(w, s)) return false;
  for (int i = 0; i < op->n_reads; i++) {
    if (op->reads[i].tensor == z) return false;
    if (op->reads[i].tensor == map->out) reads += at_made_point(w, &op->reads[i]) ? 1 : 2;
  }
  for (int r = 0; r < sum->n_out_dims; r++) {
    bool there = false;
    for (int k = 0; k < op->n_out_dims; k++)
      there |= op->dims[k] == sum->dims[r];
    if (!there) return false;
  }
  return reads == 1;
}

/* Whether op divides the very elements that z sums, unchanged, and z is a sum of shares. */
static bool divides_shares(const lowering *w, const tf_op *op, int z) {
  const tf_workload *wl = w->plan->wl;
  const tf_expr *of = &op->expr[op->expr[op->n_expr - 1].arg[0]];
  if (of->what != TF_X_READ || !ir_is_share_sum(wl, z)) return false;
  const tf_op *sum = &wl->ops[wl->tensors[z].producer];
  return op->reads[of->ref].tensor == sum->reads[0].tensor && at_made_point(w, &op->reads[of->ref]);
}

/* The read by which map s divides, if that can be deferred; -1: it cannot. */
static int deferrable_divisor(const lowering *w, const ir_stmt *s) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int read = s->kind == IR_NEST && s->nest.divides < 0 ? divisor(op) : -1;
  if (read < 0 || w->plan->wl->tensors[op->out].n_consumers != 1) return -1;
  const int z = op->reads[read].tensor;
  if (!divides_shares(w, op, z)) return -1;
  for (int i = 0; i < op->n_reads; i++)
    if (i != read && op->reads[i].tensor == z) return -1;
  return at_made_point(w, &op->reads[read]) && passes(w, z) && passes(w, op->out) ? read : -1;
}

static bool insert_after(lowering *w, ir_body *body, int at, ir_stmt *s) {
  ir_stmt **more = TF_ARRAY(w->p->arena, ir_stmt *, (size_t)body->n + 1);
  if (lower_failed(w)) return false;
  memcpy(more, body->s, (size_t)(at + 1) * sizeof *more);
  more[at + 1] = s;
  memcpy(more + at + 2, body->s + at + 1, (size_t)(body->n - at - 1) * sizeof *more);
  body->s = more;
  body->n++;
  return true;
}

static bool divide_rows(lowering *w, ir_body *body, int at, int z) {
  const ir_stmt *nest = body->s[at];
  ir_stmt *s = TF_NEW(w->p->arena, ir_stmt);
  if (lower_failed(w)) return false;
  *s = (ir_stmt){.kind = IR_DIVIDE,
                 .op = nest->op,
                 .range = nest->range,
                 .divide = {.divisor = w->p->buffer_of[z], .last = ir_number(0)}};
  return insert_after(w, body, at, s);
}

static void divide_in(lowering *w, ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    ir_stmt *s = body->s[i];
    divide_in(w, &s->body);
    const int read = deferrable_divisor(w, s);
    if (read < 0) continue;
    const tf_op *map = &w->plan->wl->ops[s->op];
    const int z = map->reads[read].tensor;
    for (int k = i + 1; k < body->n; k++)
      if (may_divide_rows(w, body->s[k], map, z)) {
        if (divide_rows(w, body, k, z)) s->nest.divides = read;
        break;
      }
  }
}

void lower_divide_late(lowering *w) { divide_in(w, &w->p->body); }
