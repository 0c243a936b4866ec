/* Affine forms and element expressions of a draft. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "grad/draft.h"
#include "model/input/dims.h"

static tf_index no_room(gr_draft *d) {
  gr_fail_memory(d);
  return (tf_index){0};
}

static void fail_range(gr_draft *d) {
  if (!d->failed) tf_fail(d->diags, d->at, TF_E_RANGE, "an index of its gradient passes 2^63 - 1");
  d->failed = true;
}

tf_index gr_form(gr_draft *d, int var) {
  tf_term *t = TF_NEW(d->arena, tf_term);
  if (!t) return no_room(d);
  *t = (tf_term){var, 1};
  return (tf_index){1, t, 0};
}

tf_index gr_add_form(gr_draft *d, tf_index x, int64_t k, tf_index y, int64_t c) {
  tf_index out = {0, TF_ARRAY(d->arena, tf_term, (size_t)(x.n_terms + y.n_terms)), 0};
  int64_t add;
  if (!out.terms) return no_room(d);
  if (!tf_mul(y.c, k, &add) || !tf_add(x.c, add, &out.c) || !tf_add(out.c, c, &out.c))
    fail_range(d);
  if (x.n_terms) memcpy(out.terms, x.terms, (size_t)x.n_terms * sizeof *x.terms);
  int n = x.n_terms;
  for (int i = 0; i < y.n_terms; i++) {
    int at = 0;
    while (at < n && out.terms[at].dim != y.terms[i].dim)
      at++;
    if (at == n) out.terms[n++] = (tf_term){y.terms[i].dim, 0};
    if (!tf_mul(y.terms[i].coef, k, &add) || !tf_add(out.terms[at].coef, add, &out.terms[at].coef))
      fail_range(d);
  }
  for (int i = 0; i < n; i++)
    if (out.terms[i].coef) out.terms[out.n_terms++] = out.terms[i];
  return out;
}

tf_index gr_map_form(gr_draft *d, tf_index x, const tf_index *map) {
  tf_index out = {.c = x.c};
  for (int i = 0; i < x.n_terms; i++) {
    int var = x.terms[i].dim;
    bool replaced = var >= GR_SLOT && map[var - GR_SLOT].c != GR_OPEN;
    out = gr_add_form(d, out, x.terms[i].coef, replaced ? map[var - GR_SLOT] : gr_form(d, var), 0);
  }
  return out;
}

bool gr_same_form(tf_index a, tf_index b) { return tf_index_same(&a, &b); }

void gr_form_range(const gr_draft *d, tf_index x, int64_t *lo, int64_t *hi) {
  *lo = *hi = x.c;
  for (int i = 0; i < x.n_terms; i++) {
    int64_t reach, *end = x.terms[i].coef < 0 ? lo : hi;
    bool fits = tf_mul(x.terms[i].coef, d->dims[x.terms[i].dim].extent - 1, &reach) &&
                tf_add(*end, reach, end);
    if (!fits) *end = end == lo ? INT64_MIN / 2 : INT64_MAX / 2;
  }
}

const tf_index *gr_ref_forms(gr_draft *d, const tf_op *op, const tf_ref *ref) {
  const tf_tensor *t = &d->wl->tensors[ref->tensor];
  tf_index *out = TF_ARRAY(d->arena, tf_index, (size_t)t->rank + 1);
  if (!out && !gr_fail_memory(d)) return NULL;
  for (int r = 0; r < t->rank; r++) {
    out[r].c = ref->index[r].c;
    for (int k = 0; k < ref->index[r].n_terms; k++)
      for (int s = 0; s < op->n_dims; s++)
        if (op->dims[s] == ref->index[r].terms[k].dim)
          out[r] = gr_add_form(d, out[r], ref->index[r].terms[k].coef, gr_form(d, GR_SLOT + s), 0);
    if (!tf_sub(out[r].c, t->lo[r], &out[r].c)) fail_range(d);
  }
  return out;
}

/* ---- element expressions ---------------------------------------------------------------- */
static gr_expr *new_expr(gr_draft *d) {
  gr_expr *e = TF_NEW(d->arena, gr_expr);
  if (!e) gr_fail_memory(d);
  return e;
}

const gr_expr *gr_number(gr_draft *d, double v) {
  gr_expr *e = new_expr(d);
  if (e) e->node = (tf_expr){.what = TF_X_NUMBER, .number = v};
  return e;
}

const gr_expr *gr_read(gr_draft *d, int tensor, const tf_index *index) {
  gr_expr *e = index ? new_expr(d) : NULL;
  if (!e) return NULL;
  e->node.what = TF_X_READ;
  e->tensor = tensor;
  e->index = index;
  return e;
}

const gr_expr *gr_read_at(gr_draft *d, int tensor, const int *dims) {
  int rank = d->tensors[tensor].rank;
  tf_index *index = TF_ARRAY(d->arena, tf_index, (size_t)rank + 1);
  for (int r = 0; index && r < rank; r++)
    index[r] = gr_form(d, dims[r]);
  return gr_read(d, tensor, index);
}

const gr_expr *gr_place(gr_draft *d, tf_index form) {
  gr_expr *e = new_expr(d);
  tf_index *index = TF_NEW(d->arena, tf_index);
  if (!e || !index) return NULL;
  *index = form;
  e->node.what = TF_X_DIM;
  e->index = index;
  return e;
}

static bool is_one(const gr_expr *e) { return e->node.what == TF_X_NUMBER && e->node.number == 1; }

const gr_expr *gr_call(gr_draft *d, tf_kind kind, const gr_expr *a, const gr_expr *b,
                       const gr_expr *c) {
  if (kind == TF_K_ADD && !a) return b;
  if (kind == TF_K_ADD && !b) return a;
  if (kind == TF_K_MUL && a && b && is_one(a)) return b;
  if (kind == TF_K_MUL && a && b && is_one(b)) return a;
  gr_expr *e = a ? new_expr(d) : NULL;
  if (!e) return NULL;
  e->node = (tf_expr){.what = TF_X_CALL, .call = kind, .n_args = c ? 3 : b ? 2 : 1};
  e->arg[0] = a;
  e->arg[1] = b;
  e->arg[2] = c;
  return e;
}

const gr_expr *gr_map_expr(gr_draft *d, const gr_expr *e, const tf_index *map) {
  if (!e || e->node.what == TF_X_NUMBER) return e;
  gr_expr *out = new_expr(d);
  if (!out) return NULL;
  *out = *e;
  for (int i = 0; e->node.what == TF_X_CALL && i < e->node.n_args; i++)
    if (!(out->arg[i] = gr_map_expr(d, e->arg[i], map))) return NULL;
  if (e->node.what == TF_X_CALL) return out;
  int rank = e->node.what == TF_X_DIM ? 1 : d->tensors[e->tensor].rank;
  tf_index *index = TF_ARRAY(d->arena, tf_index, (size_t)rank + 1);
  for (int r = 0; index && r < rank; r++)
    index[r] = gr_map_form(d, e->index[r], map);
  out->index = index;
  return index ? out : NULL;
}

const gr_expr *gr_swap_reads(gr_draft *d, const gr_expr *e, const int *to) {
  const gr_expr *arg[3] = {NULL, NULL, NULL};
  if (e->node.what == TF_X_READ) {
    if (to[e->tensor] == e->tensor) return e;
    return to[e->tensor] == GR_ONE ? gr_number(d, 1) : gr_read(d, to[e->tensor], e->index);
  }
  if (e->node.what != TF_X_CALL) return e;
  for (int i = 0; i < e->node.n_args; i++)
    if (!(arg[i] = gr_swap_reads(d, e->arg[i], to))) return NULL;
  return gr_call(d, e->node.call, arg[0], arg[1], arg[2]);
}

int gr_nodes(const gr_expr *e) {
  int64_t n = 1;
  for (int i = 0; e->node.what == TF_X_CALL && i < e->node.n_args; i++)
    n += gr_nodes(e->arg[i]);
  return n > TF_MAX_EXPR ? TF_MAX_EXPR + 1 : (int)n;
}

void gr_each_read(const gr_expr *e, void (*f)(void *ctx, const gr_expr *read), void *ctx) {
  if (e->node.what == TF_X_READ) f(ctx, e);
  for (int i = 0; e->node.what == TF_X_CALL && i < e->node.n_args; i++)
    gr_each_read(e->arg[i], f, ctx);
}

void gr_mark_form(tf_index x, bool dim[GR_ALL_DIMS]) {
  for (int i = 0; i < x.n_terms; i++)
    if (x.terms[i].dim < GR_ALL_DIMS) dim[x.terms[i].dim] = true;
}

void gr_mark_dims(const gr_draft *d, const gr_expr *e, bool dim[GR_ALL_DIMS]) {
  const bool reads = e->node.what == TF_X_READ;
  const int rank = reads ? d->tensors[e->tensor].rank : e->node.what == TF_X_DIM;
  for (int r = 0; r < rank; r++)
    gr_mark_form(e->index[r], dim);
  for (int i = 0; e->node.what == TF_X_CALL && i < e->node.n_args; i++)
    gr_mark_dims(d, e->arg[i], dim);
}

const gr_expr *gr_with_loops(gr_draft *d, const gr_expr *e, const bool loops[GR_ALL_DIMS],
                             const int *left, int n_left, tf_reduce reduce) {
  bool there[GR_ALL_DIMS] = {false};
  double steps = 1;
  if (!e || (reduce != TF_REDUCE_ADD && reduce != TF_REDUCE_MUL)) return e;
  gr_mark_dims(d, e, there);
  for (int i = 0; i < n_left; i++)
    if (left[i] < GR_ALL_DIMS) there[left[i]] = true;
  for (int i = 0; i < d->n_dims && i < GR_ALL_DIMS; i++) {
    if (!loops[i] || there[i] || gr_is_quotient(d, i)) continue;
    const gr_expr *none = gr_call(d, TF_K_MUL, gr_number(d, 0), gr_place(d, gr_form(d, i)), NULL);
    if (reduce == TF_REDUCE_MUL) e = none ? gr_call(d, TF_K_ADD, e, none, NULL) : NULL;
    steps *= (double)d->dims[i].extent;
  }
  if (reduce == TF_REDUCE_MUL) return e;
  return gr_call(d, TF_K_MUL, gr_number(d, steps), e, NULL);
}

bool gr_fail_memory(gr_draft *d) {
  if (!d->failed) tf_out_of_memory(d->diags);
  d->failed = true;
  return false;
}
