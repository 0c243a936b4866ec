/* Steps that a mask leaves nothing of: T = select(c, .., -inf), where all that comes of the -inf is
 * nothing (docs/SEMANTICS.md section 1).  The condition is asked at every point. */
#include <math.h>
#include <stdlib.h>

#include "tests/oracle/oracle.h"

enum { FAR = 6 }; /* from -FAR to FAR comparisons are tried */

/* What is known of a value where the condition is false. */
typedef enum { ANYTHING, NOTHING, ZERO } known; /* NOTHING: -inf */

/* ---- the condition -------------------------------------------------------------------------- */

static double value_at(const tf_op *op, int i, const int64_t *at) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_NUMBER) return e->number;
  if (e->what == TF_X_DIM) return (double)at[e->dim];
  if (e->what != TF_X_CALL) return NAN;
  const double a = value_at(op, e->arg[0], at), b = e->n_args > 1 ? value_at(op, e->arg[1], at) : 0;
  switch (e->call) {
  case TF_K_NEG: return -a;
  case TF_K_ADD: return a + b;
  case TF_K_SUB: return a - b;
  case TF_K_MIN: return a < b ? a : b;
  case TF_K_MAX: return a > b ? a : b;
  case TF_K_LT: return a < b;
  case TF_K_LE: return a <= b;
  case TF_K_EQ: return a == b;
  case TF_K_NE: return a != b;
  default: return NAN;
  }
}

/* ---- what comes of it ----------------------------------------------------------------------- */

/* Whether the reference reads, along the mask's dims, what is made for the reader's own point. */
static bool same_point(const oracle *o, const tf_ref *ref) {
  for (int k = 0; k < o->wl->n_ops; k++)
    for (int r = 0; o->wl->ops[k].out == ref->tensor && r < o->wl->ops[k].n_out_dims; r++) {
      const tf_index *ix = &ref->index[r];
      const int dim = o->wl->ops[k].dims[r];
      if ((dim == o->mask_l || dim == o->mask_q) &&
          (ix->c != 0 || ix->n_terms != 1 || ix->terms[0].coef != 1 || ix->terms[0].dim != dim))
        return false;
    }
  return true;
}

static bool is_positive(const tf_op *op, int i) {
  return op->expr[i].what == TF_X_NUMBER && op->expr[i].number > 0;
}

static known known_of(const oracle *o, const tf_op *op, int i, const known *of) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_NUMBER) return e->number == 0 ? ZERO : ANYTHING;
  if (e->what == TF_X_READ)
    return same_point(o, &op->reads[e->ref]) ? of[op->reads[e->ref].tensor] : ANYTHING;
  if (e->what != TF_X_CALL) return ANYTHING;
  const known a = known_of(o, op, e->arg[0], of),
              b = e->n_args > 1 ? known_of(o, op, e->arg[1], of) : ANYTHING;
  if (e->call == TF_K_EXP) return a == NOTHING ? ZERO : ANYTHING;
  if (e->call == TF_K_SUB || e->call == TF_K_ADD)
    return a == NOTHING || (b == NOTHING && e->call == TF_K_ADD) ? NOTHING : ANYTHING;
  if (a == NOTHING && (e->call == TF_K_MUL || e->call == TF_K_DIV) && is_positive(op, e->arg[1]))
    return NOTHING;
  if (b == NOTHING && e->call == TF_K_MUL && is_positive(op, e->arg[0])) return NOTHING;
  if (e->call == TF_K_MUL) return a == ZERO || b == ZERO ? ZERO : ANYTHING;
  return e->call == TF_K_DIV && a == ZERO ? ZERO : ANYTHING;
}

static bool has_dim(const tf_op *op, int dim, int from) {
  for (int i = from; i < op->n_dims; i++)
    if (op->dims[i] == dim) return true;
  return false;
}

static bool reads_known(const tf_op *op, const known *of) {
  for (int r = 0; r < op->n_reads; r++)
    if (of[op->reads[r].tensor] != ANYTHING) return true;
  return false;
}

/* Whether all that the masked op's -inf comes to is nothing, row by row, and is read by another op;
 * marks the ops that make it. */
static bool follow(oracle *o, int masked) {
  known of[256] = {ANYTHING};
  for (int i = 0; i < o->wl->n_ops; i++) {
    const int k = o->wl->topo[i];
    const tf_op *op = &o->wl->ops[k];
    o->fully_masked[k] = k == masked || reads_known(op, of);
    if (k == masked) of[op->out] = NOTHING;
    if (!o->fully_masked[k] || k == masked) continue;
    const known v = known_of(o, op, op->n_expr - 1, of);
    if (v == ANYTHING || !has_dim(op, o->mask_l, 0) || !has_dim(op, o->mask_q, 0) ||
        has_dim(op, o->mask_q, op->n_out_dims))
      return false;
    if (op->reduce == TF_ASSIGN) {
      of[op->out] = v;
    } else if (!has_dim(op, o->mask_l, op->n_out_dims) ||
               v != (op->reduce == TF_REDUCE_MAX   ? NOTHING
                     : op->reduce == TF_REDUCE_ADD ? ZERO
                                                   : ANYTHING)) {
      return false;
    }
  }
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (of[z] != ANYTHING && o->wl->tensors[z].n_consumers == 0) return false;
  return true;
}

/* Whether all that reads what op makes does so at the very point and in vain. */
static bool feeds(const oracle *o, int op) {
  const tf_op *p = &o->wl->ops[op];
  bool any = false;
  if (has_dim(p, o->mask_l, p->n_out_dims) || has_dim(p, o->mask_q, p->n_out_dims) ||
      !has_dim(p, o->mask_l, 0) || !has_dim(p, o->mask_q, 0))
    return false;
  for (int c = 0; c < o->wl->n_ops; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads; r++) {
      if (o->wl->ops[c].reads[r].tensor != p->out) continue;
      any = true;
      if (!o->fully_masked[c] || !same_point(o, &o->wl->ops[c].reads[r])) return false;
    }
  return any;
}

/* ---- the band ------------------------------------------------------------------------------- */

static bool is_truth(const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what != TF_X_CALL) return false;
  if (e->call == TF_K_MIN || e->call == TF_K_MAX)
    return is_truth(op, e->arg[0]) && is_truth(op, e->arg[1]);
  return e->call == TF_K_LT || e->call == TF_K_LE || e->call == TF_K_EQ || e->call == TF_K_NE;
}

/* The dims that the expression names: how many, the first two in dim. */
static int names(const tf_op *op, int i, int n, int *dim) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_DIM && (n < 1 || e->dim != dim[0]) && (n < 2 || e->dim != dim[1])) {
    if (n < 2) dim[n] = e->dim;
    return n + 1;
  }
  for (int k = 0; e->what == TF_X_CALL && k < e->n_args; k++)
    n = names(op, e->arg[k], n, dim);
  return n;
}

/* Whether the comparison tells by how far two dims are apart, and by nothing else. */
static bool tells_apart(const tf_op *op, int i, bool holds, int dim[2]) {
  const tf_expr *e = &op->expr[i];
  int64_t at[64] = {0};
  if (e->call == (holds ? TF_K_NE : TF_K_EQ) || names(op, i, 0, dim) != 2) return false;
  for (int x = -FAR; x <= FAR; x++)
    for (int y = -FAR; y <= FAR; y++) {
      at[dim[0]] = x, at[dim[1]] = y;
      const double now = value_at(op, i, at);
      if (isnan(value_at(op, e->arg[0], at)) || isnan(value_at(op, e->arg[1], at))) return false;
      at[dim[0]]++, at[dim[1]]++;
      if (value_at(op, i, at) != now) return false;
    }
  return true;
}

/* Collects the comparisons, joined by `and`, that bound the distance of two dims, those of the
 * first such; holds: where they are true, else where they are false. */
static void find_bounds(oracle *o, const tf_op *op, int i, bool holds) {
  const tf_expr *e = &op->expr[i];
  int dim[2];
  if (!is_truth(op, i)) return;
  if (e->call == TF_K_MIN || e->call == TF_K_MAX) {
    for (int k = 0; k < 2 && (e->call == TF_K_MIN) == holds; k++)
      find_bounds(o, op, e->arg[k], holds);
    return;
  }
  for (int k = 0; k < 2 && (e->call == TF_K_EQ || e->call == TF_K_NE); k++)
    if (op->expr[e->arg[k]].what == TF_X_NUMBER && op->expr[e->arg[k]].number == 0 &&
        is_truth(op, e->arg[1 - k])) {
      find_bounds(o, op, e->arg[1 - k], (e->call == TF_K_NE) == holds);
      return;
    }
  if (o->n_bounds == MOST_BOUNDS || !tells_apart(op, i, holds, dim)) return;
  if (!o->n_bounds) o->mask_l = dim[0], o->mask_q = dim[1];
  const bool same =
      (dim[0] == o->mask_l && dim[1] == o->mask_q) || (dim[1] == o->mask_l && dim[0] == o->mask_q);
  if (same) o->bound[o->n_bounds++] = (mask_bound){i, holds};
}

/* Whether the point is within all bounds. */
static bool in_band(const oracle *o, const tf_op *op, const int64_t *at) {
  for (int b = 0; b < o->n_bounds; b++)
    if ((value_at(op, o->bound[b].expr, at) != 0) != o->bound[b].holds) return false;
  return true;
}

/* Whether the box of the mask's dims has a point in the band. */
static bool meets_band(const oracle *o, const tf_op *op, span l, span q) {
  int64_t at[64] = {0};
  for (at[o->mask_l] = l.lo; at[o->mask_l] < l.lo + l.len; at[o->mask_l]++)
    for (at[o->mask_q] = q.lo; at[o->mask_q] < q.lo + q.len; at[o->mask_q]++)
      if (in_band(o, op, at)) return true;
  return false;
}

/* Whether the op selects -inf outside of a band that leaves something; finds it. */
static bool find_band(oracle *o, const tf_op *op) {
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (root->what != TF_X_CALL || root->call != TF_K_SELECT || op->reduce != TF_ASSIGN) return false;
  const tf_expr *no = &op->expr[root->arg[2]];
  o->n_bounds = 0;
  if (no->what != TF_X_NUMBER || no->number != -INFINITY) return false;
  find_bounds(o, op, root->arg[0], true);
  return o->n_bounds && meets_band(o, op, (span){0, o->wl->dims[o->mask_l].extent},
                                   (span){0, o->wl->dims[o->mask_q].extent});
}

static bool void_below(const oracle *o, int op, int n);

/* Whether all below each node is in vain where the condition is false. */
static void find_nodes(oracle *o) {
  for (int n = 0; n < o->tree->n_nodes; n++) {
    o->may_skip[n] = o->tree->nodes[n].kind != TF_OP;
    for (int op = 0; op < o->wl->n_ops; op++)
      if (op_below(o, op, n) && !void_below(o, op, n)) o->may_skip[n] = false;
  }
}

/* What is made of op's dim in the whole run.  False: its readers ask unlike, or by more than a dim
 * of theirs. */
static bool made_of(const oracle *o, int op, int dim, span *all) {
  const tf_op *p = &o->wl->ops[op];
  int rank = 0, n = 0;
  *all = (span){0, o->wl->dims[dim].extent};
  while (rank < p->n_out_dims && p->dims[rank] != dim)
    rank++;
  for (int c = 0; c < o->wl->n_ops && rank < p->n_out_dims; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads; r++) {
      const tf_ref *ref = &o->wl->ops[c].reads[r];
      span one;
      if (ref->tensor != p->out) continue;
      if (ref->index[rank].n_terms != 1 || ref->index[rank].terms[0].coef != 1 ||
          !made_of(o, c, ref->index[rank].terms[0].dim, &one))
        return false;
      one.lo += ref->index[rank].c;
      if (n++ && (one.lo != all->lo || one.len != all->len)) return false;
      *all = one;
    }
  return true;
}

/* Whether all masked ops make one part of either dim. */
static bool made_alike(const oracle *o) {
  const int dims[] = {o->mask_l, o->mask_q};
  for (int d = 0; d < 2; d++) {
    span first = {0, -1}, one;
    for (int op = 0; op < o->wl->n_ops; op++) {
      if (!o->fully_masked[op]) continue;
      if (!made_of(o, op, dims[d], &one) ||
          (first.len >= 0 && (first.lo != one.lo || first.len != one.len)))
        return false;
      first = one;
    }
  }
  return true;
}

bool oracle_all_points;

void find_mask(oracle *o) {
  o->masked = -1;
  if (oracle_all_points) return;
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (o->kept[z]) return;
  for (int k = 0; k < o->wl->n_ops; k++) {
    if (!find_band(o, &o->wl->ops[k])) continue;
    for (int turned = 0; turned < 2; turned++) {
      if (follow(o, k)) {
        o->masked = k;
        for (int i = o->wl->n_ops - 1; i >= 0; i--)
          if (feeds(o, o->wl->topo[i])) o->fully_masked[o->wl->topo[i]] = true;
        find_nodes(o);
        if (!made_alike(o)) o->masked = -1;
        return;
      }
      const int l = o->mask_l;
      o->mask_l = o->mask_q, o->mask_q = l;
    }
  }
}

/* ---- a step --------------------------------------------------------------------------------- */

static bool void_below(const oracle *o, int op, int n) {
  bool any = false;
  if (o->fully_masked[op]) return true;
  for (int c = 0; c < o->wl->n_ops; c++) {
    if (c == op || !touches(o, c, o->wl->ops[op].out)) continue;
    any = true;
    if (!op_below(o, c, n) || !void_below(o, c, n)) return false;
  }
  return any;
}

/* What the first instance takes of a dim, how far the last one's begins from it, and where the
 * whole ends. */
typedef struct {
  span first;
  int64_t apart, end;
} reach;

static reach reach_of(const oracle *o, int op, int dim, int n);

/* What the readers below n ask of what op makes, along the dim. */
static reach asked(const oracle *o, int op, int dim, int n) {
  const tf_op *p = &o->wl->ops[op];
  reach all = {.first = {0, 0}};
  int rank = 0;
  while (p->dims[rank] != dim)
    rank++;
  for (int c = 0; c < o->wl->n_ops; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads && op_below(o, c, n) && !idle(o, c, n); r++) {
      const tf_ref *ref = &o->wl->ops[c].reads[r];
      if (ref->tensor != p->out) continue;
      reach one = reach_of(o, c, ref->index[rank].terms[0].dim, n);
      one.first.lo += ref->index[rank].c;
      one.end += ref->index[rank].c;
      if (one.first.len <= 0) continue;
      if (all.first.len <= 0) all = one;
      const int64_t end = all.first.lo + all.first.len, other = one.first.lo + one.first.len;
      all.first.lo = all.first.lo < one.first.lo ? all.first.lo : one.first.lo;
      all.first.len = (end > other ? end : other) - all.first.lo;
      all.apart = all.apart > one.apart ? all.apart : one.apart;
      all.end = all.end > one.end ? all.end : one.end;
    }
  return all;
}

/* The loops of node up split what reaches it. */
static void split_reach(const oracle *o, int op, int dim, int up, reach *a) {
  for (int k = 0; k < o->tree->nodes[up].n_loops; k++) {
    const tf_loop *l = &o->tree->nodes[up].loops[k];
    const int64_t by = step(o, op, (place){up, k}),
                  at = l->axis == TF_TEMPORAL ? o->digit[up][k] : 0;
    if (l->dim != dim) continue;
    a->first.lo += at * by;
    a->first.len = a->first.len - at * by < by ? a->first.len - at * by : by;
    if (l->axis != TF_TEMPORAL) a->apart += (l->trip - 1) * by;
    const int64_t end = a->first.lo + a->first.len + a->apart;
    a->end = a->end < end ? a->end : end;
  }
}

/* On entry to n, with spatial loops at 0. */
static reach reach_of(const oracle *o, int op, int dim, int n) {
  const int up = o->tree->nodes[n].parent;
  const span whole = {0, o->wl->dims[dim].extent};
  if (!leads(o, op, n) && has_dim(&o->wl->ops[op], dim, o->wl->ops[op].n_out_dims)) {
    const span s = dim_range(o, op, dim, n);
    return (reach){s, 0, s.lo + s.len};
  }
  if (!leads(o, op, n)) return asked(o, op, dim, n);
  reach a = up < 0 ? (reach){whole, 0, whole.len} : reach_of(o, op, dim, up);
  if (up >= 0 && o->tree->nodes[up].kind == TF_TILE && leads(o, op, up))
    split_reach(o, op, dim, up, &a);
  return a;
}

static void widen(span *all, const reach *a) {
  const int64_t end = all->len > 0 && all->lo + all->len > a->end ? all->lo + all->len : a->end;
  all->lo = all->len > 0 && all->lo < a->first.lo ? all->lo : a->first.lo;
  all->len = end - all->lo;
}

bool left_out(oracle *o, int n) {
  span l = {0, 0}, q = {0, 0};
  if (o->masked < 0 || !o->may_skip[n]) return false;
  first_instance(o, n);
  for (int op = 0; op < o->wl->n_ops; op++)
    if (o->fully_masked[op] && op_below(o, op, n) && !idle(o, op, n)) {
      const reach by_l = reach_of(o, op, o->mask_l, n), by_q = reach_of(o, op, o->mask_q, n);
      widen(&l, &by_l);
      widen(&q, &by_q);
    }
  return l.len > 0 && !meets_band(o, &o->wl->ops[o->masked], l, q);
}

/* Whether node n has run in an earlier setting of loops i .. of `loops`, those before as they
 * stand, the rest of the path where it stands. */
static bool ran_earlier(oracle *o, int n, const place *loops, int n_loops, int i, bool earlier) {
  if (i == n_loops) return earlier && running(o, n) > 0 && !left_out(o, n);
  int64_t *digit = &o->digit[loops[i].node][loops[i].slot], now = *digit;
  const int64_t last = earlier ? loop_of(o, loops[i])->trip - 1 : now;
  bool any = false;
  for (int64_t t = 0; t <= last && !any; t++) {
    *digit = t;
    any = ran_earlier(o, n, loops, n_loops, i + 1, earlier || t < now);
  }
  *digit = now;
  return any;
}

bool happened_before(oracle *o, int n, const place *loops, int n_loops) {
  return ran_earlier(o, n, loops, n_loops, 0, false);
}
