/* Builds ops: dims, the elements they read, and their outputs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

void ox_begin(ox_net *g) { g->used = 0; }

/* A dim of that extent that the op does not use yet. */
static int take_dim(ox_net *g, int64_t extent) {
  int nth = 0;
  for (int d = 0; d < g->n_dims; d++) {
    if (g->dim[d].extent != extent) continue;
    if (!(g->used >> d & 1)) {
      g->used |= UINT64_C(1) << d;
      return d;
    }
    nth++;
  }
  if (g->n_dims == OX_DIMS) {
    ox_fail(g, TF_E_LIMIT, "the graph needs more than %d dims", OX_DIMS);
    return -1;
  }
  g->dim[g->n_dims].extent = extent;
  g->dim[g->n_dims].nth = nth;
  g->used |= UINT64_C(1) << g->n_dims;
  return g->n_dims++;
}

bool ox_open(ox_net *g, ox_axis *axis) {
  axis->n_dims = 0;
  for (int i = axis->n - 1; i > 0; i--) {
    const int d = take_dim(g, axis->cut[i] / axis->cut[i - 1]);
    if (d < 0) return false;
    axis->dim[axis->n_dims++] = d;
  }
  return true;
}

bool ox_open_extent(ox_net *g, ox_axis *axis, int64_t extent) {
  *axis = (ox_axis){0};
  return ox_cut(g, axis, 1) && ox_cut(g, axis, extent) && ox_open(g, axis);
}

/* A dim of one element for an axis without dims, so that the tensor gets a rank for it. */
static bool open_one(ox_net *g, ox_axis *axis) {
  const int d = take_dim(g, 1);
  axis->dim[axis->n_dims++] = d;
  return d >= 0;
}

bool ox_combine(ox_net *g, const ox_axis *outer, const ox_axis *inner, ox_axis *all) {
  const int64_t n = inner->cut[inner->n - 1];
  bool ok = true;
  *all = (ox_axis){0};
  for (int i = 0; i < inner->n; i++)
    ok &= ox_cut(g, all, inner->cut[i]);
  for (int i = 0; i < outer->n; i++)
    ok &= ox_cut(g, all, outer->cut[i] * n);
  memcpy(all->dim, outer->dim, sizeof all->dim);
  if (outer->n_dims + inner->n_dims > OX_FACTORS)
    return ox_fail(g, TF_E_LIMIT, "more than %d factors", OX_FACTORS);
  memcpy(all->dim + outer->n_dims, inner->dim, (size_t)inner->n_dims * sizeof *all->dim);
  all->n_dims = outer->n_dims + inner->n_dims;
  return ok;
}

static void *need(ox_net *g, void *p) {
  g->oom |= !p;
  return p;
}

ox_expr *ox_number(ox_net *g, double number) {
  ox_expr *e = need(g, TF_NEW(g->arena, ox_expr));
  if (e) e->number = number;
  return e;
}

ox_expr *ox_call(ox_net *g, const char *call, ox_expr *a, ox_expr *b, ox_expr *c) {
  ox_expr *e = a ? need(g, TF_NEW(g->arena, ox_expr)) : NULL;
  if (!e) return NULL;
  *e = (ox_expr){
      .kind = OX_CALL, .call = call, .n_args = 1 + (b != NULL) + (c != NULL), .arg = {a, b, c}};
  return e;
}

bool ox_place(ox_net *g, ox_value *v) {
  if (v->tensor >= 0) return true;
  const int t = ox_new_tensor(g, v->name);
  if (t < 0) return false;
  int64_t shape[OX_RANK];
  for (int k = 0; k < v->rank; k++)
    shape[k] = ox_extent(v, k);
  const ox_source source = {.data = v->data, .number = v->data ? NULL : v->number};
  ox_whole(v, t, v->rank, shape);
  g->tensor[t].source = source;
  g->tensor[t].whole = ox_is_integer(v->type);
  if (v->type != OX_T_BOOL && ox_is_integer(v->type) && ox_type_bits(v->type) < 32)
    g->tensor[t].bits = ox_type_bits(v->type),
    g->tensor[t].no_sign = ox_type_kind_of(v->type) == OX_UNSIGNED_KIND;
  g->tensor[t].rank = v->rank;
  memcpy(g->tensor[t].shape, shape, sizeof shape);
  return true;
}

bool ox_placed(ox_net *g, size_t k, ox_value *v) {
  if (!ox_input(g, k)) return false;
  ox_value *named = ox_find(g, g->node->input[k]);
  if (!ox_place(g, named)) return false;
  *v = *named;
  return true;
}

static void add_term(ox_index *x, int dim, int64_t coef) {
  if (!coef) return;
  x->dim[x->n] = dim;
  x->coef[x->n++] = coef;
}

/* The coordinate along the one axis that has several. */
static ox_expr *read_place(ox_net *g, const ox_value *v, const ox_axis *const *axis) {
  ox_index x = {.c = (int64_t)v->number[0]};
  for (int k = 0; k < v->rank; k++)
    for (int i = 0; v->n[k] && axis[k] && i < axis[k]->n_dims; i++)
      add_term(&x, axis[k]->dim[i], axis[k]->cut[axis[k]->n_dims - 1 - i]);
  return ox_index_value(g, &x);
}

ox_expr *ox_read(ox_net *g, const ox_value *from, const ox_axis *const *axis) {
  ox_value v = *from;
  if (v.number && ox_size(&v) == 1) return ox_number(g, v.number[0]);
  if (v.place && v.number && v.n_factors == 1) return read_place(g, &v, axis);
  if (v.tensor < 0) { /* the tensor belongs to the value of that name */
    ox_value *named = ox_find(g, v.name);
    if (!named || !ox_place(g, named)) return NULL;
    v = *named;
  }
  ox_expr *e = need(g, TF_NEW(g->arena, ox_expr));
  const int rank = g->tensor[v.tensor].rank;
  if (e) e->index = need(g, TF_ARRAY(g->arena, ox_index, (size_t)rank + 1));
  if (!e || !e->index) return NULL;
  e->kind = OX_READ;
  e->tensor = v.tensor;
  for (int r = 0; r < rank; r++)
    e->index[r].c = v.origin[r];
  for (int k = 0; k < v.rank; k++) {
    if (!axis[k]) continue;
    if (!ox_split(g, &v, k, axis[k])) return NULL;
    const ox_factor *f = ox_factors(&v, k);
    for (int i = 0; i < v.n[k]; i++)
      for (int r = 0; r < rank; r++)
        add_term(&e->index[r], axis[k]->dim[i], f[i].step[r]);
  }
  g->tensor[v.tensor].reads++;
  return e;
}

/* Whether it is never negative, whatever the inputs are. */
static bool is_positive(const ox_net *g, const ox_expr *e) {
  static const char *const always[] = {"relu", "exp", "sigmoid", "abs", "sqrt"}, *const kept[] = {
                                                                                     "+", "*", "/",
                                                                                     "max", "min"};
  if (e->kind == OX_NUMBER) return e->number >= 0;
  if (e->kind == OX_READ) return g->tensor[e->tensor].positive;
  if (e->kind == OX_PLACE) return false;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (!strcmp(e->call, always[i])) return true;
  bool all = false;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    all |= !strcmp(e->call, kept[i]);
  for (int i = 0; i < e->n_args && !strcmp(e->call, "max"); i++) /* one is enough */
    if (is_positive(g, e->arg[i])) return true;
  for (int i = 0; i < e->n_args && all; i++)
    all = is_positive(g, e->arg[i]);
  return all;
}

/* Whether it is always a whole number. */
static bool is_whole(const ox_net *g, const ox_expr *e) {
  static const char *const always[] = {"floor", "ceil", "round", "trunc"}, *const kept[] = {
                                                                               "+",    "-",
                                                                               "*",    "max",
                                                                               "min",  "abs",
                                                                               "relu", "select",
                                                                               "fmod"};
  if (e->kind == OX_NUMBER) return e->number == floor(e->number);
  if (e->kind == OX_READ) return g->tensor[e->tensor].whole;
  if (e->kind == OX_PLACE) return true;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (!strcmp(e->call, always[i])) return true;
  bool all = false;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    all |= !strcmp(e->call, kept[i]);
  for (int i = !strcmp(e->call, "select"); i < e->n_args && all; i++)
    all = is_whole(g, e->arg[i]);
  return all;
}

ox_expr *ox_index_value(ox_net *g, const ox_index *x) {
  ox_expr *e = need(g, TF_NEW(g->arena, ox_expr));
  if (e) e->index = need(g, TF_NEW(g->arena, ox_index));
  if (!e || !e->index) return NULL;
  e->kind = OX_PLACE;
  *e->index = *x;
  return e;
}

bool ox_reads_dim(const ox_net *g, const ox_expr *e, int d) {
  for (int i = 0; e->kind == OX_PLACE && i < e->index->n; i++)
    if (e->index->dim[i] == d && e->index->coef[i]) return true;
  for (int r = 0; e->kind == OX_READ && r < g->tensor[e->tensor].rank; r++)
    for (int i = 0; i < e->index[r].n; i++)
      if (e->index[r].dim[i] == d && e->index[r].coef[i]) return true;
  for (int i = 0; i < e->n_args; i++)
    if (ox_reads_dim(g, e->arg[i], d)) return true;
  return false;
}

/* A sum over a dim that repeats elements takes each of them as often as there are steps:
 * multiplies, and drops the dim, which nothing reads. */
static ox_expr *repeated(ox_net *g, const ox_op *op, ox_expr *value) {
  double times = 1;
  for (int d = 0; d < g->n_dims; d++) {
    bool made = !(g->used >> d & 1) || g->dim[d].extent == 1;
    for (int k = 0; k < op->n_out; k++)
      made |= op->dim[k] == d;
    if (!made && !ox_reads_dim(g, value, d)) times *= (double)g->dim[d].extent;
  }
  if (times == 1 || !strcmp(op->reduce, "max=") || !strcmp(op->reduce, "min=")) return value;
  if (strcmp(op->reduce, "+=") != 0)
    return (void)ox_fail(g, TF_E_SHAPE, "a product over repeated elements"), NULL;
  return ox_call(g, "*", value, ox_number(g, times), NULL);
}

const char *ox_part(ox_net *g, const char *what) {
  const char *of = "";
  for (size_t k = 0; k < g->node->n_output && !*of; k++)
    of = g->node->output[k];
  const size_t n = strlen(of) + strlen(what) + 2;
  char *own = need(g, TF_ARRAY(g->arena, char, n));
  if (own) snprintf(own, n, "%s.%s", of, what);
  return own ? own : "";
}

bool ox_make(ox_net *g, const char *name, const char *reduce, ox_expr *value,
             const ox_axis *const *axis, int n, ox_value *out) {
  if (!value) return false;
  const int t = ox_new_tensor(g, name);
  if (t < 0) return false;
  if (g->n_ops == g->room_ops) return ox_fail(g, TF_E_LIMIT, "more than %d ops", g->room_ops);
  ox_tensor *made = &g->tensor[t];
  ox_op *op = &g->op[g->n_ops];
  *op = (ox_op){.node = g->node ? g->node->name : NULL, .out = t, .reduce = reduce, .value = value};
  *out = (ox_value){.tensor = t, .rank = n, .name = name};
  for (int k = 0; k < n; k++) {
    out->n[k] = axis[k] ? axis[k]->n_dims : 0;
    for (int i = 0; i < out->n[k]; i++) {
      if (op->n_out == OX_RANK || out->n_factors == OX_FACTORS)
        return ox_fail(g, TF_E_LIMIT, "a result of more than %d axes", OX_RANK);
      ox_factor *f = &out->f[out->n_factors++];
      *f = (ox_factor){.extent = g->dim[axis[k]->dim[i]].extent};
      f->step[op->n_out] = 1;
      made->shape[op->n_out] = f->extent;
      op->dim[op->n_out++] = axis[k]->dim[i];
    }
  }
  if (!ox_fits(g, out)) return false;
  if (op->n_out == 0) { /* a tensor has at least one rank */
    const int d = take_dim(g, 1);
    if (d < 0) return false;
    made->shape[0] = 1;
    op->dim[op->n_out++] = d;
  }
  if (strcmp(reduce, "=") != 0 && !(value = op->value = repeated(g, op, value))) return false;
  made->rank = op->n_out;
  made->positive = is_positive(g, value);
  made->whole = is_whole(g, value);
  made->op = g->n_ops++;
  return true;
}

bool ox_copy(ox_net *g, ox_value *v, const char *name) {
  ox_axis axis[OX_RANK] = {0};
  const ox_axis *all[OX_RANK] = {NULL};
  ox_begin(g);
  for (int k = 0; k < v->rank; k++) {
    if (!ox_join(g, &axis[k], v, k) || !ox_open(g, &axis[k])) return false;
    if (axis[k].n_dims == 0 && !open_one(g, &axis[k])) return false;
    all[k] = &axis[k];
  }
  return ox_make(g, name, "=", ox_read(g, v, all), all, v->rank, v);
}

/* ---- other ranks ---------------------------------------------------------------------------- */

bool ox_recast(ox_net *g, ox_value *v, int rank, const int64_t *shape) {
  const char *name = v->name;
  const bool there = v->tensor >= 0 && g->tensor[v->tensor].op >= 0 && ox_is_whole(g, v);
  if (!there && (!ox_place(g, v) || !ox_copy(g, v, name))) return false;
  const int base = v->tensor, t = ox_new_tensor(g, name);
  if (t < 0) return false;
  ox_tensor *made = &g->tensor[t];
  made->view_of = base + 1;
  made->rank = rank ? rank : 1;
  made->shape[0] = 1;
  for (int k = 0; k < rank; k++)
    made->shape[k] = shape[k];
  made->positive = g->tensor[base].positive;
  made->whole = g->tensor[base].whole;
  g->tensor[base].reads++;
  ox_whole(v, t, rank, shape);
  v->number = NULL;
  return true;
}

bool ox_reshape(ox_net *g, ox_value *v, int rank, const int64_t *shape) {
  return ox_view_as(v, rank, shape) || ox_recast(g, v, rank, shape);
}

bool ox_repeat_each(ox_net *g, ox_value *v, const int64_t *times) {
  int64_t apart[OX_RANK], wide[OX_RANK], shape[OX_RANK];
  const int rank = v->rank;
  if (2 * rank > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK / 2);
  for (int k = 0; k < rank; k++) {
    apart[2 * k] = wide[2 * k] = ox_extent(v, k);
    apart[2 * k + 1] = 1;
    wide[2 * k + 1] = times[k];
    shape[k] = ox_extent(v, k) * times[k];
  }
  return ox_reshape(g, v, 2 * rank, apart) && ox_repeat(g, v, 2 * rank, wide) &&
         ox_reshape(g, v, rank, shape);
}

bool ox_flatten_inputs(ox_net *g, bool *any) {
  *any = false;
  for (size_t i = 0; i < g->node->n_input; i++) {
    ox_value *v = ox_has(g, i) ? ox_find(g, g->node->input[i]) : NULL;
    int64_t shape[OX_RANK];
    bool several = false;
    for (int k = 0; v && k < v->rank; k++) {
      several |= v->n[k] > 1;
      shape[k] = ox_extent(v, k);
    }
    if (!several || v->tensor < 0) continue;
    const double *number = v->number;
    if (!ox_recast(g, v, v->rank, shape)) return false;
    v->number = number;
    *any = true;
  }
  return true;
}

bool ox_table(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number,
              ox_value *out) {
  const int t = number ? ox_new_tensor(g, ox_part(g, part)) : -1;
  if (t < 0) return false;
  ox_tensor *made = &g->tensor[t];
  *out = (ox_value){.name = made->from};
  ox_whole(out, t, rank, shape);
  made->rank = rank;
  made->source.number = number;
  memcpy(made->shape, shape, (size_t)rank * sizeof *shape);
  return true;
}
