#include "model/input/masked.h"

#include <math.h>

#include "model/input/dims.h"
#include "model/input/table/coordinates.h"

enum { DIMS = 64, EXPRS = 512 };

/* ---- the condition -------------------------------------------------------------------------- */

/* An expression as c + sum coef[i] * dims[i] of the op; false: it is none, or of large numbers. */
typedef struct {
  int64_t c, coef[DIMS];
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

/* f >= 0 as a bound of the band: more - less + c >= 0 for two dims.  False: it is none. */
static bool add_end(const tf_op *op, const form *f, tf_mask *m) {
  int less = -1, more = -1;
  for (int k = 0; k < op->n_dims; k++) {
    if (f->coef[k] == 0) continue;
    int *at = f->coef[k] == -1 ? &less : f->coef[k] == 1 ? &more : NULL;
    if (!at || *at >= 0) return false;
    *at = op->dims[k];
  }
  if (less < 0 || more < 0) return false;
  if (m->l < 0) m->l = less, m->q = more;
  if (m->l == less && m->q == more && f->c < m->hi) m->hi = f->c;
  if (m->l == more && m->q == less && -f->c > m->lo) m->lo = -f->c;
  return (m->l == less && m->q == more) || (m->l == more && m->q == less);
}

/* Whether the expression is 1 or 0. */
static bool is_truth(const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what != TF_X_CALL) return false;
  if (e->call == TF_K_MIN || e->call == TF_K_MAX)
    return is_truth(op, e->arg[0]) && is_truth(op, e->arg[1]);
  return e->call >= TF_K_LT;
}

/* The condition that is compared with 0; -1: none. */
static int against_zero(const tf_op *op, const tf_expr *e) {
  for (int i = 0; (e->call == TF_K_EQ || e->call == TF_K_NE) && i < 2; i++) {
    const tf_expr *zero = &op->expr[e->arg[i]];
    if (zero->what == TF_X_NUMBER && zero->number == 0 && is_truth(op, e->arg[1 - i]))
      return e->arg[1 - i];
  }
  return -1;
}

/* a <= b (a < b), or with `no` its negation. */
static bool add_order(const tf_op *op, int a, int b, bool strict, bool no, tf_mask *m) {
  form f = {.c = -(strict != no)};
  return form_of(op, a, no ? 1 : -1, &f) && form_of(op, b, no ? -1 : 1, &f) && add_end(op, &f, m);
}

/* All bounds that the condition (no: its negation) puts on the distance of two dims: those of each
 * part joined by `and`.  Returns whether it says no more than they. */
static bool find_band(const tf_op *op, int i, bool no, tf_mask *m) {
  const tf_expr *e = &op->expr[i];
  if (!is_truth(op, i)) return false;
  const int inside = against_zero(op, e);
  if (inside >= 0) return find_band(op, inside, (e->call == TF_K_EQ) != no, m);
  if (e->call == TF_K_LT || e->call == TF_K_LE)
    return add_order(op, e->arg[0], e->arg[1], e->call == TF_K_LT, no, m);
  bool one = false, other = false;
  if (e->call == (no ? TF_K_MAX : TF_K_MIN)) {
    one = find_band(op, e->arg[0], no, m);
    other = find_band(op, e->arg[1], no, m);
  } else if (e->call == (no ? TF_K_NE : TF_K_EQ)) {
    one = add_order(op, e->arg[0], e->arg[1], false, false, m);
    other = add_order(op, e->arg[1], e->arg[0], false, false, m);
  }
  return one && other;
}

/* ---- which outputs the condition makes void ------------------------------------------------- */

/* Whether a point counts by its coordinate along that dim, among others. */
static bool is_of(const tf_workload *wl, const tf_mask *m, int dim) {
  if (m->mask_read < 0) return dim == m->l || dim == m->q;
  const tf_ref *ref = &wl->ops[m->op].reads[m->mask_read];
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    any |= tf_index_coef(&ref->index[r], dim) != 0;
  return any;
}

/* Whether the reference reads what its producer computes at the same point, as far as the mask's
 * dims are concerned. */
static bool at_point(const tf_workload *wl, const tf_ref *ref, const tf_mask *m) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  if (z->producer < 0 || z->view_of) return false;
  const tf_op *maker = &wl->ops[z->producer];
  for (int r = 0; r < z->rank; r++) {
    const tf_index *ix = &ref->index[r];
    if (!is_of(wl, m, maker->dims[r])) continue;
    if (ix->n_terms != 1 || ix->c != 0 || ix->terms[0].coef != 1 ||
        ix->terms[0].dim != maker->dims[r])
      return false;
  }
  return true;
}

/* The value of a call if it is known; NAN: not known. */
static double known_call(tf_kind call, double a, double b) {
  switch (call) {
  case TF_K_ADD: return isinf(a) ? a : isinf(b) ? b : a + b;
  case TF_K_SUB: return isinf(a) ? a : isinf(b) ? -b : a - b;
  case TF_K_MUL: return a == 0 || b == 0 ? 0 : a * b;
  case TF_K_DIV: return a == 0 ? 0 : a / b;
  case TF_K_EXP: return exp(a);
  default: return NAN;
  }
}

double tf_mask_outside(const tf_workload *wl, const tf_op *op, const tf_mask *m,
                       const double *value) {
  double v[EXPRS];
  if (op->n_expr > EXPRS) return NAN;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    const double a = e->n_args ? v[e->arg[0]] : NAN, b = e->n_args > 1 ? v[e->arg[1]] : NAN;
    v[i] = e->what == TF_X_NUMBER ? e->number : NAN;
    if (e->what == TF_X_READ && at_point(wl, &op->reads[e->ref], m))
      v[i] = value[op->reads[e->ref].tensor];
    if (e->what == TF_X_READ && op == &wl->ops[m->op] && e->ref == m->mask_read) v[i] = -INFINITY;
    if (e->what == TF_X_CALL) v[i] = known_call(e->call, a, b);
  }
  return v[op->n_expr - 1];
}

static bool reads_known(const tf_op *op, const double *value) {
  for (int i = 0; i < op->n_reads; i++)
    if (!isnan(value[op->reads[i].tensor])) return true;
  return false;
}

static double identity(tf_reduce r) {
  return r == TF_REDUCE_ADD   ? 0
         : r == TF_REDUCE_MUL ? 1
         : r == TF_REDUCE_MAX ? -INFINITY
                              : INFINITY;
}

/* Whether l is among the op's dims, and what else the mask is of in its output. */
static bool has_rows(const tf_workload *wl, const tf_op *op, const tf_mask *m) {
  bool all = tf_op_slot(op, m->l) >= 0;
  for (int d = 0; d < wl->n_dims; d++)
    all &= d == m->l || !is_of(wl, m, d) || tf_out_rank(op, d) >= 0;
  return all;
}

/* Whether all values computed from the mask are constant, or add nothing, where it is false.  Fills
 * m->constant_outside. */
static bool fits(const tf_workload *wl, const tf_mask *m, double *value) {
  for (int z = 0; z < wl->n_tensors; z++)
    value[z] = NAN;
  for (int o = 0; o < wl->n_ops; o++)
    m->constant_outside[o] = o == m->op;
  value[wl->ops[m->op].out] = -INFINITY;
  for (int i = 0; i < wl->n_ops; i++) {
    const int o = wl->topo[i];
    const tf_op *op = &wl->ops[o];
    if (o == m->op || !reads_known(op, value)) continue;
    const double v = tf_mask_outside(wl, op, m, value);
    if (isnan(v) || !has_rows(wl, op, m)) return false;
    m->constant_outside[o] = true;
    if (op->reduce == TF_ASSIGN)
      value[op->out] = v;
    else if (tf_out_rank(op, m->l) >= 0 || v != identity(op->reduce))
      return false;
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (!isnan(value[z]) && (wl->tensors[z].n_consumers == 0 || tf_is_viewed(wl, z))) return false;
  return true;
}

/* Whether all that op o computes is read at the same point, by ops that are void there. */
static bool feeds(const tf_workload *wl, const tf_mask *m, int o) {
  const tf_op *op = &wl->ops[o];
  const tf_tensor *z = &wl->tensors[op->out];
  if (tf_out_rank(op, m->l) < 0 || tf_out_rank(op, m->q) < 0 || z->n_consumers == 0 ||
      tf_is_viewed(wl, op->out))
    return false;
  for (int c = 0; c < z->n_consumers; c++) {
    const tf_op *reader = &wl->ops[z->consumers[c]];
    if (!m->fully_masked[z->consumers[c]]) return false;
    for (int r = 0; r < reader->n_reads; r++)
      if (reader->reads[r].tensor == op->out && !at_point(wl, &reader->reads[r], m)) return false;
  }
  return true;
}

/* Adds the ops whose outputs, at these points, are only read by such ops. */
static void find_vain(const tf_workload *wl, tf_mask *m) {
  for (int i = wl->n_ops - 1; i >= 0; i--)
    m->fully_masked[wl->topo[i]] = m->constant_outside[wl->topo[i]] || feeds(wl, m, wl->topo[i]);
}

/* Whether every index from `one` on has one of those from `other` on in the band. */
static bool meets(int64_t one, int64_t n, int64_t other, int64_t others, int64_t least,
                  int64_t most) {
  return least <= most && one + most >= other && one + n - 1 + least <= other + others - 1;
}

bool tf_mask_q_meets(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl) {
  return meets(q0, nq, l0, nl, m->lo, m->hi);
}

bool tf_mask_l_meets(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl) {
  return meets(l0, nl, q0, nq, -m->hi, -m->lo);
}

/* The number that op o selects where a condition is false, of which *condition is the expression;
 * NAN: it is no such op. *m has no band yet. */
static double selected(const tf_workload *wl, int o, tf_mask *m, int *condition) {
  const tf_op *op = &wl->ops[o];
  const tf_expr *root = &op->expr[op->n_expr - 1];
  *m = (tf_mask){.op = o, .mask_read = -1, .l = -1, .q = -1, .lo = -TF_MASK_FAR, .hi = TF_MASK_FAR};
  if (op->reduce != TF_ASSIGN || op->n_dims > DIMS || root->what != TF_X_CALL ||
      root->call != TF_K_SELECT)
    return NAN;
  const tf_expr *no = &op->expr[root->arg[2]];
  *condition = root->arg[0];
  return no->what == TF_X_NUMBER ? no->number : NAN;
}

bool tf_mask_of(const tf_workload *wl, int o, tf_arena *arena, tf_mask *m) {
  int condition;
  if (selected(wl, o, m, &condition) != -INFINITY) return false;
  find_band(&wl->ops[o], condition, false, m);
  if (m->l < 0) return false;
  double *value = TF_ARRAY(arena, double, (size_t)wl->n_tensors + 1);
  m->constant_outside = TF_ARRAY(arena, bool, (size_t)wl->n_ops + 1);
  m->fully_masked = TF_ARRAY(arena, bool, (size_t)wl->n_ops + 1);
  if (tf_arena_failed(arena)) return false;
  bool fit = fits(wl, m, value);
  if (!fit) {
    *m = (tf_mask){.op = o,
                   .mask_read = -1,
                   .l = m->q,
                   .q = m->l,
                   .lo = -m->hi,
                   .hi = -m->lo,
                   .constant_outside = m->constant_outside,
                   .fully_masked = m->fully_masked};
    fit = fits(wl, m, value);
  }
  if (fit) find_vain(wl, m);
  return fit;
}

bool tf_mask_band(const tf_workload *wl, int o, tf_mask *m, double *outside) {
  int condition;
  *outside = selected(wl, o, m, &condition);
  return (*outside == -INFINITY || *outside == 0) && find_band(&wl->ops[o], condition, false, m) &&
         m->l >= 0;
}

/* ---- masks by data -------------------------------------------------------------------------- */

/* Whether each rank of the input is indexed by a dim of its own, or a number, the last by one of
 * several elements, which becomes l. */
static bool is_by_dims(const tf_workload *wl, const tf_ref *ref, tf_mask *m) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  bool plain = z->producer < 0 && z->rank > 0;
  for (int r = 0; plain && r < z->rank; r++) {
    const tf_index *ix = &ref->index[r];
    plain = z->pad[r] == 0 &&
            (ix->n_terms == 0 || (ix->n_terms == 1 && ix->terms[0].coef == 1 && ix->c == 0));
    for (int other = 0; plain && ix->n_terms && other < r; other++)
      plain = !tf_index_coef(&ref->index[other], ix->terms[0].dim);
    m->l = plain && ix->n_terms ? ix->terms[0].dim : -1;
  }
  return plain && m->l >= 0 && wl->dims[m->l].extent > 1;
}

bool tf_mask_added(const tf_workload *wl, int o, tf_arena *arena, tf_mask *m) {
  const tf_op *op = &wl->ops[o];
  if (op->reduce != TF_ASSIGN) return false;
  double *value = TF_ARRAY(arena, double, (size_t)wl->n_tensors + 1);
  *m = (tf_mask){.op = o, .q = -1, .lo = -TF_MASK_FAR, .hi = TF_MASK_FAR};
  m->constant_outside = TF_ARRAY(arena, bool, (size_t)wl->n_ops + 1);
  m->fully_masked = TF_ARRAY(arena, bool, (size_t)wl->n_ops + 1);
  if (tf_arena_failed(arena)) return false;
  for (m->mask_read = 0; m->mask_read < op->n_reads; m->mask_read++) {
    for (int z = 0; z < wl->n_tensors; z++)
      value[z] = NAN;
    if (is_by_dims(wl, &op->reads[m->mask_read], m) &&
        tf_mask_outside(wl, op, m, value) == -INFINITY && fits(wl, m, value))
      return true;
  }
  return false;
}

/* ---- points --------------------------------------------------------------------------------- */

/* The sum of min(x, n) over x = 1 .. last; -1: it exceeds 2^63 - 1. */
static int64_t ramp(int64_t last, int64_t n) {
  int64_t up, flat = 0;
  if (last <= 0) return 0;
  const int64_t top = last < n ? last : n, half = top % 2 ? top : top / 2,
                other = top % 2 ? (top + 1) / 2 : top + 1;
  if (__builtin_mul_overflow(half, other, &up) || __builtin_mul_overflow(last - top, n, &flat))
    return -1;
  return __builtin_add_overflow(up, flat, &up) ? -1 : up;
}

static int64_t clamp(int64_t x, int64_t least, int64_t most) {
  return x < least ? least : x > most ? most : x;
}

/* Pairs with l - q <= most: for each q, those l in l0 .. q + most, at most nl. */
static int64_t up_to(int64_t most, int64_t q0, int64_t nq, int64_t l0, int64_t nl) {
  const int64_t first = clamp(most, l0 - q0 - nq, l0 - q0 + nl - 1) + q0 - l0 + 1;
  const int64_t all = ramp(first + nq - 1, nl), less = ramp(first - 1, nl);
  return all < 0 || less < 0 ? -1 : all - less;
}

int64_t tf_mask_pairs(const tf_mask *m, int64_t q0, int64_t nq, int64_t l0, int64_t nl) {
  if (nq <= 0 || nl <= 0 || m->lo > m->hi) return 0;
  const int64_t all = up_to(m->hi, q0, nq, l0, nl), less = up_to(m->lo - 1, q0, nq, l0, nl);
  return all < 0 || less < 0 ? -1 : all - less;
}

bool tf_mask_find(const tf_workload *wl, tf_arena *arena, tf_mask *m) {
  for (int o = 0; o < wl->n_ops && !tf_arena_failed(arena); o++)
    if (tf_mask_of(wl, o, arena, m) &&
        tf_mask_pairs(m, 0, wl->dims[m->q].extent, 0, wl->dims[m->l].extent) > 0)
      return true;
  return false;
}

/* ---- elements that are known --------------------------------------------------------------- */

bool tf_is_plain(const tf_workload *wl, const tf_tensor *t, const tf_ref *ref) {
  bool plain = true;
  for (int r = 0; r < t->rank; r++) {
    const tf_index *x = &ref->index[r];
    plain = plain && x->n_terms == 1 && tf_index_is_dim(x, x->terms[0].dim) && t->lo[r] == 0 &&
            !t->pad[r] && wl->dims[x->terms[0].dim].extent == t->extent[r];
    for (int k = 0; k < r && plain; k++)
      plain = ref->index[k].terms[0].dim != x->terms[0].dim;
  }
  return plain;
}

/* No operand is padded, and what makes part of what others read makes all of it, as often.  `even`:
 * of later ops. */
static bool is_even(const tf_workload *wl, int o, const bool *even) {
  const tf_op *op = &wl->ops[o];
  bool all = true;
  for (int i = 0; i < op->n_reads; i++)
    all = all && !tf_is_padded(&wl->tensors[op->reads[i].tensor]);
  for (int p = 0; p < wl->n_ops; p++)
    for (int i = 0; i < wl->ops[p].n_reads; i++)
      if (wl->ops[p].reads[i].tensor == op->out)
        all = all && even[p] && tf_is_plain(wl, &wl->tensors[op->out], &wl->ops[p].reads[i]);
  return all;
}

void tf_even_ops(const tf_workload *wl, bool *even) {
  for (int k = wl->n_ops - 1; k >= 0; k--)
    even[wl->topo[k]] = is_even(wl, wl->topo[k], even);
}

/* Elements of the ranks outside of both, between them and inside, at most TF_COORDINATES_MOST + 1.
 */
static void around(const tf_band *b, const tf_tensor *t, int64_t *outer, int64_t *mid,
                   int64_t *inner) {
  const int64_t more = TF_COORDINATES_MOST + 1;
  *outer = *mid = *inner = 1;
  for (int r = 0; r < t->rank; r++) {
    int64_t *n = r < b->p ? outer : r > b->q ? inner : mid;
    if (r == b->p || r == b->q) continue;
    *n = n == inner ? *n * t->extent[r] : t->extent[r] > more / *n ? more : *n * t->extent[r];
  }
}

int64_t tf_band_rows(const tf_band *b, const tf_tensor *t) {
  int64_t outer, mid, inner;
  const int64_t rows = t->extent[b->p], most = TF_COORDINATES_MOST;
  around(b, t, &outer, &mid, &inner);
  if (outer > most || mid > most || rows > most || outer * mid > most) return 0;
  return outer * mid * rows > most ? 0 : outer * mid * rows;
}

bool tf_band_fill(const tf_band *b, const tf_tensor *t, tf_arena *a, tf_density *out) {
  int64_t outer, mid, inner, n = 0;
  const int64_t all = tf_band_rows(b, t), rows = t->extent[b->p], row = t->extent[b->q];
  around(b, t, &outer, &mid, &inner);
  out->runs = TF_ARRAY(a, tf_stretch, (size_t)all);
  if (!out->runs) return false;
  for (int64_t i = 0; i < all; i++) {
    const int64_t x = i / mid % rows, from = x - b->left > 0 ? x - b->left : 0,
                  to = x + b->right + 1 < row ? x + b->right + 1 : row;
    if (from < to) out->runs[n++] = (tf_stretch){(i * row + from) * inner, (i * row + to) * inner};
  }
  out->n_runs = (int)n;
  if (n) tf_runs_close(out, tf_tensor_words(t));
  return true;
}
