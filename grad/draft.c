/* Dims, tensors and ops of a draft. */
#include "grad/draft.h"

#include <stdio.h>
#include <string.h>

/* The array with room for one more than n. */
static void *grow(gr_draft *d, void *old, int n, int *room, size_t size) {
  if (n < *room) return old;
  int more = *room ? *room * 2 : 64;
  void *p = tf_arena_array(d->arena, (size_t)more, size);
  if (!p && !gr_fail_memory(d)) return NULL;
  if (n) memcpy(p, old, (size_t)n * size);
  *room = more;
  return p;
}

bool gr_draft_begin(gr_draft *d, const tf_workload *wl) {
  d->wl = wl;
  d->n_dims = d->room_dims = wl->n_dims;
  d->dims = wl->dims;
  d->room_tensors = wl->n_tensors + 64;
  d->tensors = TF_ARRAY(d->arena, gr_tensor, (size_t)d->room_tensors);
  if (!d->tensors) return gr_fail_memory(d);
  for (int t = 0; t < wl->n_tensors; t++) {
    const tf_tensor *z = &wl->tensors[t];
    gr_tensor *g = &d->tensors[d->n_tensors++];
    *g = (gr_tensor){.name = z->name, .rank = z->rank, .word_bits = z->word_bits, .producer = -1};
    memcpy(g->extent, z->extent, (size_t)z->rank * sizeof *z->extent);
  }
  return true;
}

/* ---- names ---------------------------------------------------------------------------- */
static bool dim_there(const gr_draft *d, const char *name) {
  for (int i = 0; i < d->n_dims; i++)
    if (!strcmp(d->dims[i].name, name)) return true;
  return false;
}

static bool tensor_there(const gr_draft *d, const char *name) {
  for (int i = 0; i < d->n_tensors; i++)
    if (!strcmp(d->tensors[i].name, name)) return true;
  for (int i = 0; i < d->wl->n_ops; i++)
    if (!strcmp(d->wl->ops[i].name, name)) return true;
  return false;
}

static const char *new_name(gr_draft *d, const char *like,
                            bool (*there)(const gr_draft *, const char *)) {
  char name[300];
  snprintf(name, sizeof name, "%.250s", like);
  for (int k = 2; there(d, name); k++)
    snprintf(name, sizeof name, "%.250s_%d", like, k);
  const char *copy = tf_arena_strndup(d->arena, name, strlen(name));
  if (!copy) gr_fail_memory(d);
  return copy;
}

static bool among(const int *list, int n, int x) {
  for (int i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

static int add_dim(gr_draft *d, const char *name, int64_t extent) {
  tf_dim *dims = grow(d, d->dims, d->n_dims, &d->room_dims, sizeof *dims);
  if (!dims || !name) return 0;
  d->dims = dims;
  d->dims[d->n_dims] = (tf_dim){name, d->at, extent};
  return d->n_dims++;
}

int gr_fresh_dim(gr_draft *d, int64_t extent, const int *avoid, int n, const char *like) {
  for (int i = d->wl->n_dims; i < d->n_dims; i++)
    if (d->dims[i].extent == extent && !among(avoid, n, i) && !gr_is_quotient(d, i)) return i;
  return add_dim(d, new_name(d, like, dim_there), extent);
}

int gr_quotient(gr_draft *d, int home, int64_t weight, int64_t extent, bool top) {
  char name[400];
  int n = snprintf(name, sizeof name, "%.250s", d->dims[home].name);
  if (weight > 1) n += snprintf(name + n, sizeof name - (size_t)n, " / %lld", (long long)weight);
  if (!top) snprintf(name + n, sizeof name - (size_t)n, " %% %lld", (long long)extent);
  for (int i = d->wl->n_dims; i < d->n_dims; i++)
    if (!strcmp(d->dims[i].name, name)) return i;
  const char *copy = tf_arena_strndup(d->arena, name, strlen(name));
  if (!copy) gr_fail_memory(d);
  d->divides = true;
  return add_dim(d, copy, extent);
}

int gr_add_tensor(gr_draft *d, const char *name, int rank, const int64_t *extent, int word_bits) {
  const char *own = new_name(d, name, tensor_there);
  gr_tensor *tensors = grow(d, d->tensors, d->n_tensors, &d->room_tensors, sizeof *tensors);
  if (!tensors || !own) return 0;
  d->tensors = tensors;
  gr_tensor *t = &d->tensors[d->n_tensors];
  *t = (gr_tensor){.name = own, .rank = rank, .word_bits = word_bits, .producer = -1};
  memcpy(t->extent, extent, (size_t)rank * sizeof *extent);
  return d->n_tensors++;
}

void gr_add_op(gr_draft *d, int out, const int *left, tf_reduce reduce, const gr_expr *e) {
  gr_op *ops = grow(d, d->ops, d->n_ops, &d->room_ops, sizeof *ops);
  if (!ops || !e) {
    gr_fail_memory(d);
    return;
  }
  d->ops = ops;
  gr_op *op = &d->ops[d->n_ops];
  *op = (gr_op){.out = out, .reduce = reduce, .e = e, .at = d->at};
  memcpy(op->left, left, (size_t)d->tensors[out].rank * sizeof *left);
  d->tensors[out].producer = d->n_ops++;
}

void gr_add_reduced(gr_draft *d, const tf_op *op, int out, tf_reduce reduce, const gr_expr *e) {
  tf_index map[TF_MAX_OP_DIMS];
  bool loops[GR_ALL_DIMS] = {false};
  for (int s = 0; s < op->n_dims; s++) {
    map[s] = gr_form(d, op->dims[s]);
    loops[op->dims[s]] = true;
  }
  e = gr_map_expr(d, e, map);
  gr_add_op(d, out, op->dims, reduce,
            gr_with_loops(d, e, loops, op->dims, d->tensors[out].rank, reduce));
}

int gr_inside(gr_draft *d, int64_t extent) {
  char name[40];
  snprintf(name, sizeof name, "in_%lld", (long long)extent);
  for (int t = d->wl->n_tensors; t < d->n_tensors; t++) {
    const gr_tensor *z = &d->tensors[t];
    bool one = z->producer >= 0 && d->ops[z->producer].e->node.what == TF_X_NUMBER && z->rank == 1;
    if (one && z->extent[0] == extent && d->ops[z->producer].e->node.number == 1) return t;
  }
  int t = gr_add_tensor(d, name, 1, &extent, 0), dim = -1;
  for (int i = 0; i < d->n_dims && dim < 0; i++)
    if (d->dims[i].extent == extent && !gr_is_quotient(d, i)) dim = i;
  if (dim < 0) dim = gr_fresh_dim(d, extent, NULL, 0, "one");
  gr_add_op(d, t, &dim, TF_ASSIGN, gr_number(d, 1));
  return t;
}
