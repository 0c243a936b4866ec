/* Blocks that a mask leaves nothing of: T = select(l <= q + c, .., -inf) below a softmax.
 *
 * Where the condition is false T is -inf, what is made of it a constant, and what that adds to a maximum or a sum
 * nothing.  So for rows q .. of a block no element from the block's last q + c + 1 on need be made by any op of the
 * group.  All of them get that end at the scope below which they meet, for its range of q: what one of them reads
 * another has made. */
#include <math.h>
#include <string.h>

#include "codegen/lower/lower.h"
#include "model/spec/dims.h"

/* ---- the condition -------------------------------------------------------------------------------------- */

/* An expression as c + sum coef[i] * dims[i] of the op; false: it is none, or of large numbers. */
typedef struct {
  int64_t c, coef[64];
} form;

static bool form_of(const tf_op *op, int i, int64_t by, form *f) {
  const tf_expr *e = &op->expr[i];
  if (by > INT32_MAX || by < -INT32_MAX) return false;
  if (e->what == TF_X_NUMBER) {
    if (!(fabs(e->number) < INT32_MAX) || floor(e->number) != e->number) return false;
    f->c += by * (int64_t)e->number;
    return true;
  }
  if (e->what == TF_X_DIM) {
    f->coef[tf_op_slot(op, e->dim)] += by;
    return true;
  }
  if (e->what != TF_X_CALL) return false;
  switch (e->call) {
  case TF_K_NEG: return form_of(op, e->arg[0], -by, f);
  case TF_K_ADD: return form_of(op, e->arg[0], by, f) && form_of(op, e->arg[1], by, f);
  case TF_K_SUB: return form_of(op, e->arg[0], by, f) && form_of(op, e->arg[1], -by, f);
  default: return false;
  }
}

/* Whether the condition, or one of those that it joins by `and`, is l <= q + c of two of the op's dims, c >= 0. */
static bool find_bound(const tf_op *op, int i, low_mask *m) {
  const tf_expr *e = &op->expr[i];
  form f = {0};
  if (e->what != TF_X_CALL || op->n_dims > 64) return false;
  if (e->call == TF_K_MIN) return find_bound(op, e->arg[0], m) || find_bound(op, e->arg[1], m);
  if (e->call != TF_K_LT && e->call != TF_K_LE) return false;
  if (!form_of(op, e->arg[0], -1, &f) || !form_of(op, e->arg[1], 1, &f)) return false;
  m->l = m->q = -1;
  m->c = f.c - (e->call == TF_K_LT);
  for (int k = 0; k < op->n_dims; k++) {
    if (f.coef[k] == 0) continue;
    int *at = f.coef[k] == -1 ? &m->l : f.coef[k] == 1 ? &m->q : NULL;
    if (!at || *at >= 0) return false;
    *at = op->dims[k];
  }
  return m->l >= 0 && m->q >= 0 && m->c >= 0;
}

/* ---- what the condition makes void ----------------------------------------------------------------------- */

/* The value of the op where the condition is false; NAN: nobody knows it, a number.  value[tensor] as well. */
static double known(const tf_op *op, const low_mask *m, const double *value, const tf_workload *wl) {
  double v[512];
  if (op->n_expr > 512) return NAN;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    const double a = e->n_args ? v[e->arg[0]] : NAN, b = e->n_args > 1 ? v[e->arg[1]] : NAN;
    v[i] = e->what == TF_X_NUMBER ? e->number : NAN;
    if (e->what == TF_X_READ) {
      const tf_ref *ref = &op->reads[e->ref];
      const tf_op *maker = wl->tensors[ref->tensor].producer < 0 ? NULL : &wl->ops[wl->tensors[ref->tensor].producer];
      bool same = maker && !isnan(value[ref->tensor]);
      for (int r = 0; same && r < wl->tensors[ref->tensor].rank; r++)
        same = (maker->dims[r] != m->l && maker->dims[r] != m->q) || low_is_dim(&ref->index[r], maker->dims[r]);
      if (same) v[i] = value[ref->tensor];
    }
    if (e->what != TF_X_CALL) continue;
    switch (e->call) {
    case TF_K_ADD: v[i] = isinf(a) ? a : isinf(b) ? b : a + b; break;
    case TF_K_SUB: v[i] = isinf(a) ? a : isinf(b) ? -b : a - b; break;
    case TF_K_MUL: v[i] = a == 0 || b == 0 ? 0 : a * b; break;
    case TF_K_DIV: v[i] = a == 0 ? 0 : a / b; break;
    case TF_K_EXP: v[i] = exp(a); break;
    default: break;
    }
  }
  return v[op->n_expr - 1];
}

static bool reads_known(const tf_op *op, const double *value) {
  for (int i = 0; i < op->n_reads; i++)
    if (!isnan(value[op->reads[i].tensor])) return true;
  return false;
}

/* Whether all that comes of op t, which the mask makes -inf, is constant or adds nothing where the condition is false.
 * Fills m->in. */
static bool fits(const lowering *w, int t, low_mask *m) {
  const tf_workload *wl = w->plan->wl;
  double *value = TF_ARRAY(w->p->arena, double, (size_t)wl->n_tensors + 1);
  m->in = TF_ARRAY(w->p->arena, bool, (size_t)wl->n_ops + 1);
  if (!value || !m->in) return false;
  for (int z = 0; z < wl->n_tensors; z++)
    value[z] = NAN;
  value[wl->ops[t].out] = -INFINITY;
  m->in[t] = true;
  for (int i = 0; i < wl->n_ops; i++) {
    const int o = wl->topo[i];
    const tf_op *op = &wl->ops[o];
    if (o == t || !reads_known(op, value)) continue;
    const double v = known(op, m, value, wl);
    const bool row = tf_out_rank(op, m->q) >= 0 && tf_op_slot(op, m->l) >= 0;
    if (!row || isnan(v) || w->plan->stream_scope[o] >= 0) return false;
    m->in[o] = true;
    if (op->reduce == TF_ASSIGN)
      value[op->out] = v;
    else if (tf_out_rank(op, m->l) >= 0 || v != ir_identity(op->reduce))
      return false;
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (!isnan(value[z]) && wl->tensors[z].n_consumers == 0) return false;
  return true;
}

void low_mask_find(lowering *w) {
  const tf_workload *wl = w->plan->wl;
  w->mask = (low_mask){.scope = -1};
  for (int o = 0; w->target->skips && w->plan->n_retains == 0 && o < wl->n_ops && w->mask.scope < 0; o++) {
    const tf_op *op = &wl->ops[o];
    const tf_expr *root = &op->expr[op->n_expr - 1];
    if (op->reduce != TF_ASSIGN || root->what != TF_X_CALL || root->call != TF_K_SELECT) continue;
    const tf_expr *no = &op->expr[root->arg[2]];
    low_mask m = {.scope = -1, .limit = ir_number(0)};
    if (no->what != TF_X_NUMBER || no->number != -INFINITY || !find_bound(op, root->arg[0], &m) || !fits(w, o, &m))
      continue;
    for (int n = 0; n < w->plan->tree->n_nodes; n++) { /* the innermost scope with all of them below */
      bool all = w->plan->tree->nodes[n].kind == TF_SCOPE;
      for (int k = 0; all && k < wl->n_ops; k++)
        all = !m.in[k] || tf_plan_above(w->plan, n, w->plan->tree->op_node[k]);
      if (all) m.scope = n;
    }
    if (m.scope >= 0) w->mask = m;
  }
}

/* ---- ranges ---------------------------------------------------------------------------------------------- */

static bool is_whole(const lowering *w, const ir_range *r) {
  return r->exact && r->lo.var < 0 && r->lo.off == 0 && r->most == w->plan->wl->dims[w->mask.l].extent;
}

/* A range that is not the whole row is that of readers, which end there, or a part of it. */
static void end_at(lowering *w, int o) {
  ir_range *r = low_range(w, o, w->mask.l);
  if (!is_whole(w, r)) return;
  r->hi = w->mask.limit;
  r->exact = false;
}

void low_mask_infer(lowering *w, int o) {
  if (!w->mask.inside || tf_op_slot(&w->plan->wl->ops[o], w->mask.l) < 0) return;
  ir_range *r = low_range(w, o, w->mask.l);
  if (w->mask.in[o])
    end_at(w, o);
  else if (r->lo.var < 0 && ir_same(r->hi, w->mask.limit))
    *r = w->mask.few;
}

/* The least part of a row, a quarter or more, that every loop below scope n over the row divides or is divided by; 0:
 * none. */
static int64_t part_of_row(const lowering *w, int n, int64_t extent, int64_t alike) {
  const tf_plan *p = w->plan;
  for (int64_t part = ((extent + 3) / 4 + alike - 1) / alike * alike; part < extent; part += alike) {
    bool all = true;
    for (int l = 0; l < p->n_loops; l++)
      for (int i = 0; i < p->loops[l].n_leader && p->loops[l].dim == w->mask.l; i++) {
        const int64_t step = w->run.step[p->loops[l].leaders[i] * p->n_loops + l];
        all &= !tf_plan_above(p, n, p->loops[l].node) || step % part == 0 || part % step == 0;
      }
    if (all) return part;
  }
  return 0;
}

/* The first `by` * i, or the extent, from which no row of the block needs anything. */
static ir_atom limit_of(lowering *w, ir_atom end, int64_t extent, int64_t by) {
  end.off += w->mask.c + by - 1;
  const ir_atom times = low_by(w, "seen", IR_DIV, end, by);
  return low_min(w, "seen", ir_number(extent), low_sum(w, "seen", ir_number(0), by, times));
}

/* Products want few lengths, which they know; what they make for the others ends at a part of the row. */
static ir_range few_lengths(lowering *w, int n, ir_atom end, int64_t extent, int64_t alike) {
  const int64_t part = part_of_row(w, n, extent, alike);
  ir_range r = {.lo = ir_number(0), .hi = ir_number(extent), .most = extent, .some = true, .exact = part == 0};
  if (part == 0) return r;
  r.hi = limit_of(w, end, extent, part);
  for (int64_t length = part; length < extent; length += part)
    low_add_length(&r, length);
  return r;
}

void low_mask_open(lowering *w, int n) {
  enum { ALIKE = 64 }; /* rows end at a multiple of it: no vector of a machine is longer */
  const tf_workload *wl = w->plan->wl;
  const ir_range *q = NULL;
  if (n != w->mask.scope) return;
  for (int o = 0; o < wl->n_ops; o++) {
    if (!w->mask.in[o]) continue;
    const ir_range *mine = low_range(w, o, w->mask.q);
    if (!is_whole(w, low_range(w, o, w->mask.l)) || !mine->some || (q && !low_same_range(q, mine))) return;
    q = mine;
  }
  if (!q) return;
  const int64_t extent = wl->dims[w->mask.l].extent;
  const ir_atom end = q->hi;
  w->mask.limit = limit_of(w, end, extent, ALIKE);
  w->mask.few = few_lengths(w, n, end, extent, ALIKE);
  if (w->mask.limit.var < 0 || w->oom) return; /* the block has all rows */
  w->mask.inside = true;
  for (int o = 0; o < wl->n_ops; o++)
    if (w->mask.in[o]) end_at(w, o);
  low_infer(w, n); /* what is made for them */
}

void low_mask_close(lowering *w, int n) {
  if (n == w->mask.scope) w->mask.inside = false;
}
