/* Contributions to gradients: the adjoint, summed over the points that read an element. */
#include "grad/spread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grad/invert.h"

/* ---- home dims ------------------------------------------------------------------------ */
/* Whether the reference is by distinct dims that cover the tensor, which become its home dims. */
static bool plain_read(const tf_workload *wl, const tf_ref *ref, int *home) {
  const tf_tensor *t = &wl->tensors[ref->tensor];
  for (int r = 0; r < t->rank; r++) {
    const tf_index *x = &ref->index[r];
    if (x->n_terms != 1 || x->terms[0].coef != 1 ||
        wl->dims[x->terms[0].dim].extent != t->extent[r])
      return false;
    for (int k = 0; k < r; k++)
      if (home[k] == x->terms[0].dim) return false;
    home[r] = x->terms[0].dim;
  }
  return true;
}

static bool find_plain_read(const tf_workload *wl, int tensor, int *home) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++)
      if (wl->ops[o].reads[i].tensor == tensor && plain_read(wl, &wl->ops[o].reads[i], home))
        return true;
  return false;
}

bool gr_home_dims(gr_draft *d, int tensor, int *home) {
  const tf_tensor *t = &d->wl->tensors[tensor];
  char name[300];
  if (t->producer >= 0) memcpy(home, d->wl->ops[t->producer].dims, (size_t)t->rank * sizeof *home);
  if (t->producer >= 0 || find_plain_read(d->wl, tensor, home)) return true;
  for (int r = 0; r < t->rank; r++) {
    snprintf(name, sizeof name, "%.250s_%d", t->name, r + 1);
    home[r] = gr_fresh_dim(d, t->extent[r], home, r, name);
  }
  return !d->failed;
}

/* ---- guards --------------------------------------------------------------------------- */
/* Whether a factor 0 makes it 0: nothing in it is infinite or NaN where its reads are 0. */
static bool stays_finite(const gr_expr *e) {
  if (e->node.what == TF_X_NUMBER) return isfinite(e->node.number);
  if (e->node.what != TF_X_CALL) return true;
  if (e->node.call == TF_K_DIV || e->node.call == TF_K_LOG) return false;
  for (int i = 0; i < e->node.n_args; i++)
    if (!stays_finite(e->arg[i])) return false;
  return true;
}

/* Whether a factor of e reads a tensor of that extent at the form, and so is 0 outside of it. */
static bool factor_ends(const gr_draft *d, const gr_expr *e, tf_index form, int64_t extent) {
  if (e->node.what == TF_X_NUMBER || e->node.what == TF_X_DIM) return false;
  if (e->node.what == TF_X_CALL && e->node.call == TF_K_NEG)
    return factor_ends(d, e->arg[0], form, extent);
  if (e->node.what == TF_X_CALL)
    return e->node.call == TF_K_MUL &&
           (factor_ends(d, e->arg[0], form, extent) || factor_ends(d, e->arg[1], form, extent));
  for (int r = 0; r < d->tensors[e->tensor].rank; r++)
    if (d->tensors[e->tensor].extent[r] == extent && gr_same_form(e->index[r], form)) return true;
  return false;
}

/* condition times "0 <= form < extent". */
static const gr_expr *and_inside(gr_draft *d, const gr_expr *condition, tf_index form,
                                 int64_t extent) {
  tf_index *index = TF_NEW(d->arena, tf_index);
  if (!index) return NULL;
  *index = form;
  const gr_expr *in = gr_read(d, gr_inside(d, extent), index);
  return condition ? gr_call(d, TF_K_MUL, condition, in, NULL) : in;
}

/* e at the op's points, 0 at other points that the loops visit. */
static const gr_expr *guarded(gr_draft *d, const tf_op *op, const gr_inverse *v, const gr_expr *e) {
  bool finite = stays_finite(e);
  const gr_expr *condition = NULL;
  for (int i = 0; i < v->n_zero; i++)
    condition = and_inside(d, condition, v->zero[i], 1);
  for (int s = 0; s < op->n_dims; s++) {
    int64_t lo, hi, extent = d->wl->dims[op->dims[s]].extent;
    gr_form_range(d, v->x[s], &lo, &hi);
    if (lo >= 0 && hi < extent) continue;
    if (!finite || !factor_ends(d, e, v->x[s], extent))
      condition = and_inside(d, condition, v->x[s], extent);
  }
  if (!condition) return e;
  if (finite) return gr_call(d, TF_K_MUL, e, condition, NULL);
  return gr_call(d, TF_K_SELECT, condition, e, gr_number(d, 0));
}

/* ---- contributions ---------------------------------------------------------------------- */
/* The tensor `from` with the split rank joined again: its dims are then the home dims. */
static int join_rank(gr_draft *d, gr_inverse *v, int rank, int n_ranks, int from,
                     const char *name) {
  int index[2 * TF_MAX_RANK], left[2 * TF_MAX_RANK], n = 0;
  int64_t extent[TF_MAX_RANK] = {0};
  int at = v->first[rank];
  memcpy(index, v->left, sizeof index);
  for (int i = 0; i < v->n_left; i++)
    if (i != at + 1) left[n++] = i == at ? v->home[rank] : v->left[i];
  for (int i = 0; i < n; i++)
    extent[i] = d->dims[left[i]].extent;
  int out = gr_add_tensor(d, name, n, extent, d->tensors[from].word_bits);
  tf_index form = gr_add_form(d, gr_form(d, v->home[rank]), -1, v->place[rank], 0);
  const gr_expr *here = and_inside(d, NULL, form, 1);
  const gr_expr *e = gr_call(d, TF_K_MUL, gr_read_at(d, from, index), here, NULL);
  gr_add_op(d, out, left, TF_REDUCE_ADD, e);
  memcpy(v->left, left, sizeof left);
  v->n_left = n;
  v->split[rank] = false;
  for (int r = rank + 1; r < n_ranks; r++)
    v->first[r]--;
  return out;
}

static bool in_order(const gr_inverse *v, int rank) {
  for (int r = 0; r < rank; r++)
    if (v->split[r] && !v->in_order[r]) return false;
  return true;
}

static bool fits_rank(gr_draft *d, const gr_inverse *v) {
  if (v->n_left <= TF_MAX_RANK) return true;
  d->failed = true;
  return tf_fail(d->diags, d->at, TF_E_LIMIT, "its gradient needs a tensor of rank %d, at most %d",
                 v->n_left, TF_MAX_RANK);
}

/* Adds the op that sums e over the loops, and those that join split ranks. */
static int sum_up(gr_draft *d, gr_inverse *v, int tensor, const gr_expr *e, const gr_target *to) {
  const gr_tensor t = d->tensors[tensor];
  char name[300];
  int64_t extent[TF_MAX_RANK] = {0};
  int n_splits = 0;
  snprintf(name, sizeof name, "part_%.250s", t.name);
  for (int i = 0; i < v->n_left; i++)
    extent[i] = d->dims[v->left[i]].extent;
  for (int r = 0; r < t.rank; r++)
    n_splits += v->split[r];
  bool last = n_splits == 0 || (to->only && to->leaf && in_order(v, t.rank));
  int at = gr_add_tensor(d, last && to->only ? to->name : name, v->n_left, extent, t.word_bits);
  gr_add_op(d, at, v->left, TF_REDUCE_ADD, e);
  for (int r = 0; r < t.rank && !last; r++)
    if (v->split[r])
      at = join_rank(d, v, r, t.rank, at, to->only && --n_splits == 0 ? to->name : name);
  return at;
}

/* e times the number of steps of loops on which it does not depend: the text of an op would lose
 * these loops. */
static const gr_expr *times_idle_loops(gr_draft *d, const tf_op *op, const gr_inverse *v,
                                       const gr_expr *e) {
  bool loops[GR_ALL_DIMS] = {false};
  for (int s = 0; s < op->n_dims; s++)
    gr_mark_form(v->x[s], loops);
  return gr_with_loops(d, e, loops, v->left, v->n_left, TF_REDUCE_ADD);
}

static bool too_many_dims(gr_draft *d) {
  if (d->n_dims <= GR_ALL_DIMS - 64) return false;
  d->failed = true;
  tf_fail(d->diags, d->at, TF_E_LIMIT, "its gradient needs more dims than the %d of a workload",
          TF_MAX_DIMS);
  return true;
}

/* Whether all dims of the form are dims of the gradient. */
static bool at_home(const gr_inverse *v, tf_index form, int rank) {
  for (int i = 0; i < form.n_terms; i++) {
    bool found = false;
    for (int r = 0; r < rank; r++)
      found = found || v->home[r] == form.terms[i].dim;
    if (!found) return false;
  }
  return true;
}

/* Where each element of the tensor is read at one point or at none, by what its own coordinates are
 * (a read of T[m,2,n]): e at those points, 0 at others; NULL elsewhere. */
static const gr_expr *chosen(gr_draft *d, const tf_op *op, const gr_inverse *v, const tf_ref *ref,
                             const gr_expr *e) {
  const int rank = d->wl->tensors[ref->tensor].rank;
  for (int r = 0; r < rank; r++)
    if (v->split[r]) return NULL;
  for (int s = 0; s < op->n_dims; s++) {
    int64_t lo, hi;
    gr_form_range(d, v->x[s], &lo, &hi);
    if (lo < 0 || hi >= d->wl->dims[op->dims[s]].extent || !at_home(v, v->x[s], rank)) return NULL;
  }
  const gr_expr *condition = NULL;
  for (int i = 0; i < v->n_zero; i++) {
    if (!at_home(v, v->zero[i], rank)) return NULL;
    const gr_expr *here = gr_call(d, TF_K_EQ, gr_place(d, v->zero[i]), gr_number(d, 0), NULL);
    condition = condition ? gr_call(d, TF_K_MUL, condition, here, NULL) : here;
  }
  if (!condition) return NULL;
  return stays_finite(e) ? gr_call(d, TF_K_MUL, e, condition, NULL)
                         : gr_call(d, TF_K_SELECT, condition, e, gr_number(d, 0));
}

bool gr_spread(gr_draft *d, const tf_op *op, const tf_ref *ref, const gr_expr *adjoint,
               const gr_target *to, const gr_expr **part) {
  gr_inverse v;
  if (too_many_dims(d) || !gr_invert(d, op, ref, to->home, to->only && to->leaf, &v) ||
      !fits_rank(d, &v))
    return false;
  const gr_expr *e = gr_map_expr(d, adjoint, v.x);
  *part = e;
  if (!e) return gr_fail_memory(d);
  if (v.pointwise) return true;
  const gr_expr *choice = chosen(d, op, &v, ref, e);
  if (choice) *part = choice;
  if (choice) return true;
  e = guarded(d, op, &v, e);
  if (e) e = times_idle_loops(d, op, &v, e);
  if (!e) return gr_fail_memory(d);
  int at = sum_up(d, &v, ref->tensor, e, to);
  *part = to->only ? NULL : gr_read_at(d, at, to->home);
  return !d->failed;
}
