/* Index inversion: Hermite elimination rank by rank.  A rank is solved for a dim whose coefficient
 * divides the rest of the equation, once the rank and at most one other dim are split into residue
 * classes; what cannot be solved in this way becomes a condition.  Of several ways to solve a rank
 * the one with the fewest points is used. */
#include "grad/invert.h"

#include <math.h>
#include <stdio.h>

#include "base/checked.h"

typedef struct {
  gr_draft *d;
  const tf_op *op;
  gr_inverse *out;
  int n_taken, taken[4 * TF_MAX_OP_DIMS]; /* dims already in use */
  bool sole;
} inverter;

/* A way to solve z = a * pivot + rest, rest being 0 modulo |a| once `split` is. */
typedef struct {
  int pivot, split; /* slots; -1: none */
  int64_t a, b;     /* coefficients */
  double points;
} way;

static int64_t size_of(int64_t a) { return a < 0 ? -a : a; }
static int64_t modulo(int64_t x, int64_t m) { return x % m < 0 ? x % m + m : x % m; }
static int64_t ceil_div(int64_t x, int64_t m) { return x / m + (x % m > 0); }
static bool open_slot(const inverter *v, int s) { return v->out->x[s].c == GR_OPEN; }
static int64_t extent_of(const inverter *v, int s) { return v->d->wl->dims[v->op->dims[s]].extent; }

static int mark_taken(inverter *v, int dim) { return v->taken[v->n_taken++] = dim; }

static int fresh_dim(inverter *v, int64_t extent, int home, const char *suffix) {
  char name[300];
  snprintf(name, sizeof name, "%.250s%s", v->d->dims[home].name, suffix);
  return mark_taken(v, gr_fresh_dim(v->d, extent, v->taken, v->n_taken, name));
}

/* Points of the loops over the open slots, minus one. */
static double open_points(const inverter *v, int but) {
  double n = 1;
  for (int s = 0; s < v->op->n_dims; s++)
    if (s != but && open_slot(v, s)) n *= (double)extent_of(v, s);
  return n;
}

/* ---- ways ----------------------------------------------------------------------------- */
/* The form of residues of `split` modulo |a|: those of the rank from `shift` on (+1), down from it
 * (-1), or its own. */
static int order_of(const way *w) {
  int64_t m = size_of(w->a), b = modulo(w->b, m);
  return w->split < 0 || b == 1 % m ? 1 : b == m - 1 ? -1 : 0;
}

/* Whether the pivot can be solved for; fills split, b, points. */
static bool can_solve(const inverter *v, tf_index f, int64_t extent, way *w) {
  int64_t m = size_of(w->a);
  w->split = -1;
  w->b = 0;
  for (int i = 0; i < f.n_terms; i++) {
    int var = f.terms[i].dim;
    if (var == GR_SLOT + w->pivot || f.terms[i].coef % m == 0) continue;
    if (var < GR_SLOT || w->split >= 0 || tf_gcd(m, f.terms[i].coef) != 1) return false;
    w->split = var - GR_SLOT;
    w->b = f.terms[i].coef;
  }
  double points = open_points(v, w->pivot) * (double)(m > 1 ? ceil_div(extent, m) * m : extent);
  if (w->split >= 0)
    points *= (double)(extent_of(v, w->split) / m + 1) / (double)extent_of(v, w->split);
  bool merged = m > 1 && !(v->sole && extent % m == 0 && order_of(w));
  w->points = points + (merged ? (double)extent * (double)extent : 0);
  return true;
}

static way best_way(const inverter *v, tf_index f, int64_t extent) {
  way best = {.pivot = -1, .points = INFINITY};
  for (int i = 0; i < f.n_terms; i++) {
    if (f.terms[i].dim < GR_SLOT) continue;
    way w = {.pivot = f.terms[i].dim - GR_SLOT, .a = f.terms[i].coef};
    if (w.a != INT64_MIN && can_solve(v, f, extent, &w) && w.points < best.points) best = w;
  }
  return best;
}

/* ---- solving -------------------------------------------------------------------------- */
static void set_slot(inverter *v, int slot, tf_index form) {
  tf_index map[TF_MAX_OP_DIMS];
  for (int s = 0; s < v->op->n_dims; s++)
    map[s] = (tf_index){.c = GR_OPEN};
  map[slot] = form;
  v->out->x[slot] = form;
  for (int s = 0; s < v->op->n_dims; s++)
    if (s != slot && !open_slot(v, s)) v->out->x[s] = gr_map_form(v->d, v->out->x[s], map);
  for (int i = 0; i < v->out->n_zero; i++)
    v->out->zero[i] = gr_map_form(v->d, v->out->zero[i], map);
  for (int r = 0; r < TF_MAX_RANK; r++)
    if (v->out->split[r]) v->out->place[r] = gr_map_form(v->d, v->out->place[r], map);
}

static void must_be_zero(inverter *v, tf_index f) {
  if (f.n_terms || f.c) v->out->zero[v->out->n_zero++] = f;
}

/* Splits the rank, and the slot on which its residues depend; returns the rank's coordinate as a
 * form of what remains. */
static tf_index split_rank(inverter *v, int rank, tf_index f, int64_t extent, const way *w) {
  gr_draft *d = v->d;
  gr_inverse *out = v->out;
  int64_t m = size_of(w->a), c0 = modulo(f.c, m), lo = 0, hi = extent - 1;
  int home = out->home[rank], order = order_of(w);
  if (!order) { /* places m * q + b * residue + c cover the rank */
    lo = -ceil_div(f.c + (w->b > 0 ? w->b * (m - 1) : 0), m);
    hi = extent - 1 - f.c - (w->b < 0 ? w->b * (m - 1) : 0);
    hi = hi < 0 ? -ceil_div(-hi, m) : hi / m;
  }
  int64_t n = order ? ceil_div(extent, m) : hi - lo + 1;
  int q = fresh_dim(v, n > 1 ? n : 1, home, "_q"), r = fresh_dim(v, m, home, "_r");
  out->split[rank] = true;
  out->in_order[rank] = order && extent % m == 0;
  out->left[out->n_left++] = q;
  out->left[out->n_left++] = r;
  tf_index residue = gr_form(d, r), place = gr_add_form(d, residue, m, gr_form(d, q), 0);
  if (!order) place = gr_add_form(d, (tf_index){.c = f.c + m * lo}, w->b, residue, 0);
  if (!order) place = gr_add_form(d, place, m, gr_form(d, q), 0);
  out->place[rank] = place;
  if (w->split < 0) {
    must_be_zero(v, gr_add_form(d, residue, 0, residue, -c0));
    return place;
  }
  int64_t e = extent_of(v, w->split);
  int64_t steps = order > 0   ? ceil_div(e + c0, m)
                  : order < 0 ? ceil_div(e + m - 1 - c0, m)
                              : ceil_div(e, m);
  tf_index y = gr_add_form(d, (tf_index){.c = order * -c0}, order < 0 ? -1 : 1, residue, 0);
  y = gr_add_form(d, y, m, gr_form(d, fresh_dim(v, steps, home, "_s")), 0);
  set_slot(v, w->split, y);
  return place;
}

/* The pivot of z = f is (z - rest) / a. */
static void solve_rank(inverter *v, int rank, tf_index f, int64_t extent, const way *w) {
  gr_draft *d = v->d;
  gr_inverse *out = v->out;
  int64_t m = size_of(w->a), sign = w->a < 0 ? -1 : 1;
  out->first[rank] = out->n_left;
  tf_index z;
  if (m > 1) {
    z = split_rank(v, rank, f, extent, w);
  } else {
    out->left[out->n_left++] = out->home[rank];
    z = gr_form(d, out->home[rank]);
  }
  f = gr_map_form(d, f, out->x);
  tf_index pivot = gr_add_form(d, z, -1, f, 0);
  pivot = gr_add_form(d, pivot, w->a, gr_form(d, GR_SLOT + w->pivot), 0);
  tf_index whole = {0, pivot.terms, pivot.c};
  bool residue_alone =
      m > 1 && w->split < 0; /* it is c modulo m where the condition holds, so it adds no term */
  for (int i = 0; i < pivot.n_terms; i++)
    if (!residue_alone || pivot.terms[i].coef % m == 0) {
      whole.terms[whole.n_terms] = pivot.terms[i];
      whole.terms[whole.n_terms++].coef *= sign;
    }
  if (residue_alone) whole.c += modulo(f.c, m);
  whole.c *= sign;
  for (int i = 0; i < whole.n_terms; i++)
    whole.terms[i].coef /= m;
  whole.c /= m;
  set_slot(v, w->pivot, whole);
}

/* ---- ranks that dims count through ----------------------------------------------------- */
/* The terms by rising weight, if they are open slots and each coordinate of the rank is met once:
 * 4*c + 2*a + b. */
static bool counts_through(const inverter *v, tf_index f, int64_t extent, tf_term *term) {
  int64_t next = 1;
  if (f.c || f.n_terms < 2) return false;
  for (int i = 0; i < f.n_terms; i++) {
    int at = i;
    if (f.terms[i].dim < GR_SLOT || !open_slot(v, f.terms[i].dim - GR_SLOT)) return false;
    for (; at > 0 && term[at - 1].coef > f.terms[i].coef; at--)
      term[at] = term[at - 1];
    term[at] = f.terms[i];
  }
  for (int i = 0; i < f.n_terms; i++)
    if (term[i].coef != next || !tf_mul(next, extent_of(v, term[i].dim - GR_SLOT), &next))
      return false;
  return next == extent;
}

static bool has_place(const tf_op *op) {
  for (int i = 0; i < op->n_expr; i++)
    if (op->expr[i].what == TF_X_DIM) return true;
  return false;
}

/* Solves such a rank by quotients of its home dim: c = z / 4, a = z / 2 % 2, b = z % 2.  A
 * coordinate that is a value has none; of two residue classes whose tensor may stay split, that is
 * as good. */
static bool solve_by_quotients(inverter *v, int rank, tf_index f, int64_t extent) {
  gr_inverse *out = v->out;
  tf_term term[TF_MAX_OP_DIMS];
  if (v->d->whole || (v->sole && f.n_terms < 3) || !counts_through(v, f, extent, term) ||
      has_place(v->op))
    return false;
  out->first[rank] = out->n_left;
  out->left[out->n_left++] = out->home[rank];
  for (int i = 0; i < f.n_terms; i++) {
    const int slot = term[i].dim - GR_SLOT;
    const int part =
        gr_quotient(v->d, out->home[rank], term[i].coef, extent_of(v, slot), i + 1 == f.n_terms);
    set_slot(v, slot, gr_form(v->d, part));
  }
  return true;
}

static void invert_rank(inverter *v, int rank, tf_index f, int64_t extent) {
  gr_inverse *out = v->out;
  f = gr_map_form(v->d, f, out->x);
  if (solve_by_quotients(v, rank, f, extent)) return;
  way w = best_way(v, f, extent);
  if (w.pivot >= 0) {
    solve_rank(v, rank, f, extent, &w);
    return;
  }
  out->first[rank] = out->n_left;
  out->left[out->n_left++] = out->home[rank];
  if (extent > 1 || f.n_terms || f.c)
    must_be_zero(v, gr_add_form(v->d, gr_form(v->d, out->home[rank]), -1, f, 0));
}

/* Slots still open run over their own dim, or over another if that one is in use. */
static void free_slots(inverter *v) {
  gr_inverse *out = v->out;
  for (int s = 0; s < v->op->n_dims; s++) {
    if (!open_slot(v, s)) continue;
    int dim = v->op->dims[s];
    bool there = false;
    for (int i = 0; i < v->n_taken; i++)
      there = there || v->taken[i] == dim;
    dim = there ? fresh_dim(v, extent_of(v, s), dim, "_f") : mark_taken(v, dim);
    out->pointwise = false;
    set_slot(v, s, gr_form(v->d, dim));
  }
}

bool gr_invert(gr_draft *d, const tf_op *op, const tf_ref *ref, const int *home, bool sole,
               gr_inverse *out) {
  inverter v = {.d = d, .op = op, .out = out, .sole = sole};
  const gr_tensor *t = &d->tensors[ref->tensor];
  const tf_index *f = gr_ref_forms(d, op, ref);
  if (!f) return false;
  *out = (gr_inverse){.pointwise = true};
  for (int s = 0; s < op->n_dims; s++)
    out->x[s].c = GR_OPEN;
  for (int r = 0; r < t->rank; r++)
    out->home[r] = mark_taken(&v, home[r]);
  int rank_left[TF_MAX_RANK], place_of[TF_MAX_RANK][2];
  for (int pass = 0; pass < 2; pass++) /* plain dims first, as they need no split */
    for (int r = 0; r < t->rank; r++) {
      bool plain = f[r].n_terms == 1 && size_of(f[r].terms[0].coef) == 1;
      if (plain == (pass == 0)) invert_rank(&v, r, f[r], t->extent[r]);
    }
  free_slots(&v);
  for (int r = 0, n = 0; r < t->rank; r++) { /* left in the order of the ranks */
    rank_left[r] = n;
    for (int k = 0; k <= out->split[r]; k++, n++)
      place_of[r][k] = out->left[out->first[r] + k];
  }
  for (int r = 0; r < t->rank; r++) {
    out->first[r] = rank_left[r];
    for (int k = 0; k <= out->split[r]; k++)
      out->left[out->first[r] + k] = place_of[r][k];
    out->pointwise = out->pointwise && !out->split[r];
  }
  if (out->n_zero) out->pointwise = false;
  for (int s = 0; s < op->n_dims; s++) {
    int64_t lo, hi;
    gr_form_range(d, out->x[s], &lo, &hi);
    if (lo < 0 || hi >= extent_of(&v, s)) out->pointwise = false;
  }
  return !d->failed;
}
