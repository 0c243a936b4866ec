/* Ranges of ops and boxes of tensors as expressions over loop variables: bounds inference
 * (docs/SEMANTICS.md section 1) in symbolic form. */
#include <string.h>

#include "codegen/lower/lower.h"

enum { N_ALSO = sizeof((ir_range *)0)->more / sizeof(int64_t) };

bool lower_add_length(ir_range *r, int64_t length) {
  if (length <= 0 || length == r->most || length == r->other) return true;
  if (!r->other) {
    r->other = length;
    return true;
  }
  for (int i = 0; i < N_ALSO; i++) {
    if (!r->more[i]) r->more[i] = length;
    if (r->more[i] == length) return true;
  }
  r->other = 0;
  memset(r->more, 0, sizeof r->more);
  return false;
}

/* The i-th possible length of a range; 0: no more. */
static int64_t length_of(const ir_range *r, int i) {
  if (i == 0) return r->most;
  if (r->exact || !r->other || i > 1 + N_ALSO) return 0;
  return i == 1 ? r->other : r->more[i - 2];
}

/* The possible lengths of the pieces of r. */
static void split_lengths(ir_range *piece, const ir_range *r, int64_t step) {
  bool known = r->exact || r->other;
  for (int i = 0; known && length_of(r, i); i++) {
    int64_t all = length_of(r, i);
    known = lower_add_length(piece, all % step) && lower_add_length(piece, all < step ? all : step);
  }
  if (known && !piece->other) piece->other = piece->most;
}

ir_range lower_split(lowering *w, const char *name, ir_range r, ir_atom digit, int64_t step,
                     int64_t trip) {
  ir_atom lo = lower_sum(w, name, r.lo, step, digit), end = {lo.var, lo.off + step};
  if (r.exact && step * trip == r.most)
    return (ir_range){.lo = lo, .hi = end, .most = step, .never_empty = true, .exact = true};
  ir_range piece = {
      .lo = lo, .hi = lower_min(w, name, r.hi, end), .most = step < r.most ? step : r.most};
  piece.never_empty = r.exact && step * (trip - 1) < r.most;
  split_lengths(&piece, &r, step);
  return piece;
}

/* The possible lengths of an index range that is moved by a single uneven dim; otherwise they are
 * unknown. */
static void index_lengths(lowering *w, int op, const tf_index *ix, ir_range *v) {
  const ir_range *uneven = NULL;
  int64_t by = 0;
  for (int i = 0; i < ix->n_terms; i++) {
    const ir_range *d = lower_range(w, op, ix->terms[i].dim);
    if (d->exact) continue;
    if (uneven) return;
    uneven = d;
    by = ix->terms[i].coef > 0 ? ix->terms[i].coef : -ix->terms[i].coef;
  }
  if (!uneven || !uneven->other) return;
  v->other = v->most - by * (uneven->most - uneven->other);
  for (int i = 0; i < N_ALSO && uneven->more[i]; i++)
    lower_add_length(v, v->most - by * (uneven->most - uneven->more[i]));
}

ir_range lower_index(lowering *w, int op, const tf_index *ix) {
  ir_range v = {.lo = ir_number(ix->c),
                .hi = ir_number(ix->c + 1),
                .most = 1,
                .never_empty = true,
                .exact = true};
  for (int i = 0; i < ix->n_terms; i++) {
    const ir_range *d = lower_range(w, op, ix->terms[i].dim);
    int64_t c = ix->terms[i].coef;
    ir_atom last = {d->hi.var, d->hi.off - 1};
    v.lo = lower_sum(w, "lo", v.lo, c, c > 0 ? d->lo : last);
    v.hi = lower_sum(w, "hi", v.hi, c, c > 0 ? last : d->lo);
    v.most += (c > 0 ? c : -c) * (d->most - 1);
    v.exact &= d->exact;
    v.never_empty &= d->never_empty;
  }
  if (v.exact) v.hi = (ir_atom){v.lo.var, v.lo.off + v.most};
  index_lengths(w, op, ix, &v);
  return v;
}

/* The part of v inside the tensor.  It is known to be non-empty where the bounds of its ends prove
 * so: a window at the border of an image always reads some rows of it. */
static ir_range clip(lowering *w, const tf_tensor *z, int r, ir_range v) {
  if (z->pad[r] == 0) return v;
  int64_t lo = z->lo[r], end = lo + z->extent[r];
  const lower_span first = lower_span_of(w, v.lo), last = lower_span_of(w, v.hi);
  if (first.first >= lo && last.last <= end) return v;
  const bool some = v.never_empty && first.last < end && last.first > lo;
  v.lo = lower_max(w, "lo", v.lo, ir_number(lo));
  v.hi = lower_min(w, "hi", v.hi, ir_number(end));
  v.never_empty = some;
  v.exact = false;
  v.other = 0;
  memset(v.more, 0, sizeof v.more);
  v.most = v.most < z->extent[r] ? v.most : z->extent[r];
  if (v.lo.var < 0 && v.hi.var < 0 && v.lo.off < v.hi.off) { /* both ends are constants */
    v.most = v.hi.off - v.lo.off;
    v.never_empty = v.exact = true;
  }
  return v;
}

/* The smallest range that contains both; an empty one is ignored. */
static ir_range hull(lowering *w, const tf_tensor *z, int r, ir_range a, ir_range b) {
  const ir_atom low = ir_number(INT64_MIN / 4), high = ir_number(INT64_MAX / 4);
  if (ir_same(a.lo, b.lo) && ir_same(a.hi, b.hi)) return a;
  ir_range v = {.exact = a.exact && b.exact,
                .never_empty = a.never_empty || b.never_empty,
                .most = z->extent[r]};
  if (v.exact && a.lo.var == b.lo.var) { /* they differ by a constant */
    v.lo = lower_min(w, "lo", a.lo, b.lo);
    v.hi = lower_max(w, "hi", (ir_atom){a.lo.var, a.lo.off + a.most},
                     (ir_atom){b.lo.var, b.lo.off + b.most});
    v.most = v.hi.off - v.lo.off;
    return v;
  }
  v.exact = false;
  v.lo = lower_min(w, "lo", lower_select(w, "lo", a, a.lo, high),
                   lower_select(w, "lo", b, b.lo, high));
  v.hi =
      lower_max(w, "hi", lower_select(w, "hi", a, a.hi, low), lower_select(w, "hi", b, b.hi, low));
  return v;
}

/* A reference counts only while none of the op's ranges is empty. */
ir_range lower_unless_idle(lowering *w, int op, ir_range v, int but) {
  for (int d = 0; d < w->plan->wl->ops[op].n_dims; d++) {
    const ir_range *r = lower_range(w, op, w->plan->wl->ops[op].dims[d]);
    if (r->never_empty || w->plan->wl->ops[op].dims[d] == but) continue;
    v.hi = lower_select(w, "hi", *r, v.hi, v.lo);
    v.never_empty = v.exact = false;
  }
  return v;
}

/* What op's read v asks of rank r of what another op makes. */
static ir_range ask(lowering *w, const tf_tensor *z, int r, int op, ir_range v) {
  const bool runs = v.never_empty;
  const int64_t lo = z->lo[r], end = lo + z->extent[r];
  v = clip(w, z, r, v);
  if (z->producer < 0 || z->pad[r] == 0 || v.never_empty) return v;
  if (lower_span_of(w, v.lo).last >= end) v.lo = lower_min(w, "lo", v.lo, ir_number(end - 1));
  if (lower_span_of(w, v.hi).first <= lo) v.hi = lower_max(w, "hi", v.hi, ir_number(lo + 1));
  v.never_empty = runs;
  return runs ? v : lower_unless_idle(w, op, v, -1);
}

ir_range lower_demand(lowering *w, int z, int r, int n, lower_need need) {
  const tf_plan *p = w->plan;
  const tf_tensor *t = &p->wl->tensors[z];
  ir_range v = {.most = 0, .lo = ir_number(0), .hi = ir_number(0)};
  bool any = false;
  if (need == LOWER_HELD && t->producer >= 0) {
    v = *lower_range(w, t->producer, p->wl->ops[t->producer].dims[r]);
    if (t->pad[r] && !p->n_retains) return v; /* it makes all that is read */
    any = true;
  }
  for (int i = 0; i < t->n_consumers; i++) {
    const tf_op *op =
        &p->facts->wl->ops[t->consumers[i]]; /* what its steps leave out is read at their end */
    if (!tf_plan_above(p, n, p->tree->op_node[t->consumers[i]])) continue;
    for (int k = 0; k < op->n_reads; k++) {
      if (op->reads[k].tensor != z) continue;
      ir_range one = lower_index(w, t->consumers[i], &op->reads[k].index[r]);
      one = need == LOWER_ASKED ? ask(w, t, r, t->consumers[i], one) : clip(w, t, r, one);
      const tf_index *ix = &op->reads[k].index[r];
      if (t->n_consumers > 1 || op->n_reads > 1 || ix->n_terms > 1)
        one = lower_unless_idle(w, t->consumers[i], one, -1);
      else if (p->n_retains || w->target->copies) /* possibly nothing is left to compute */
        one = lower_unless_idle(w, t->consumers[i], one,
                                ix->n_terms && ix->terms[0].coef > 0 ? ix->terms[0].dim : -1);
      v = any ? hull(w, t, r, v, one) : one;
      any = true;
    }
  }
  v.most = v.most < t->extent[r] ? v.most : t->extent[r];
  return v;
}

bool lower_same_range(const ir_range *a, const ir_range *b) {
  return ir_same(a->lo, b->lo) && ir_same(a->hi, b->hi);
}

int lower_find_dim(const tf_op *op, int dim) {
  for (int k = 0; k < op->n_dims; k++)
    if (op->dims[k] == dim) return k;
  return -1;
}

bool lower_is_dim(const tf_index *ix, int dim) {
  return ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 && ix->terms[0].dim == dim;
}
