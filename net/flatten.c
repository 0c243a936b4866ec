/* Merges dims that are adjacent everywhere: rows of an image of 7 x 7 that are only mapped, summed
 * or multiplied by a matrix become one row of 49. Mappings then have fewer choices, and vectors are
 * full where a row would not fill one. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/input/dims.h"
#include "net/net.h"

typedef struct {
  tf_arena *a;
  tf_workload *wl;
  const bool *fixed; /* [n_tensors] its ranks are those of an argument of the network */
  tf_group_place *place;
  int d, e;     /* dims to be merged, e the inner one */
  int *rank_of; /* [n_tensors] the rank that d moves, where e moves the next one; -1: neither moves
                   any */
} pair;

static bool has(const tf_index *x, int dim) {
  for (int t = 0; t < x->n_terms; t++)
    if (x->terms[t].dim == dim) return true;
  return false;
}

/* Whether ranks r and r + 1 of the tensor are one contiguous row, over the full extents of both
 * dims. As only the two move these ranks, no read goes beyond borders. */
static bool is_row(const pair *p, int tensor, int r) {
  const tf_tensor *z = &p->wl->tensors[tensor];
  const tf_group_place *at = &p->place[tensor];
  if (at->along && r + 1 < z->rank &&
      (at->along[r] != at->along[r + 1] || at->step[r] != at->step[r + 1] * z->extent[r + 1]))
    return false;
  return !p->fixed[tensor] && r + 1 < z->rank && z->extent[r] == p->wl->dims[p->d].extent &&
         z->extent[r + 1] == p->wl->dims[p->e].extent && !z->lo[r] && !z->lo[r + 1];
}

/* Records that d moves rank r of the tensor; false if the rank cannot be merged with the next, or d
 * moves another rank elsewhere. */
static bool note(const pair *p, int tensor, int r) {
  int *rank = &p->rank_of[tensor];
  if (!is_row(p, tensor, r) || (*rank >= 0 && *rank != r)) return false;
  *rank = r;
  return true;
}

/* Whether the read has the two dims as adjacent ranks and nowhere else, or not at all. */
static bool read_allows(const pair *p, const tf_ref *ref) {
  const int rank = p->wl->tensors[ref->tensor].rank;
  for (int r = 0; r < rank; r++) {
    if (!has(&ref->index[r], p->d) && !has(&ref->index[r], p->e)) continue;
    if (!tf_index_is_dim(&ref->index[r], p->d) || !note(p, ref->tensor, r) ||
        !tf_index_is_dim(&ref->index[r + 1], p->e))
      return false;
    r++;
  }
  return true;
}

static bool op_allows(const pair *p, const tf_op *op) {
  const int d = tf_op_slot(op, p->d), e = tf_op_slot(op, p->e);
  if (d < 0 && e < 0) return true;
  if (d < 0 || e < 0 || (d < op->n_out_dims) != (e < op->n_out_dims)) return false;
  if (d < op->n_out_dims && (e != d + 1 || !note(p, op->out, d))) return false;
  for (int k = 0; k < op->n_expr; k++)
    if (op->expr[k].what == TF_X_DIM && (op->expr[k].dim == p->d || op->expr[k].dim == p->e))
      return false;
  for (int k = 0; k < op->n_reads; k++)
    if (!read_allows(p, &op->reads[k])) return false;
  return true;
}

/* Whether the op has the dims in every tensor that loses a rank. */
static bool op_agrees(const pair *p, const tf_op *op) {
  const int out = p->rank_of[op->out];
  if (out >= 0 && (op->dims[out] != p->d || op->dims[out + 1] != p->e)) return false;
  for (int k = 0; k < op->n_reads; k++) {
    const int r = p->rank_of[op->reads[k].tensor];
    if (r >= 0 && !tf_index_is_dim(&op->reads[k].index[r], p->d)) return false;
  }
  return true;
}

static bool may_join(const pair *p) {
  int64_t product;
  bool ok = p->d != p->e && tf_mul(p->wl->dims[p->d].extent, p->wl->dims[p->e].extent, &product);
  for (int t = 0; t < p->wl->n_tensors; t++)
    p->rank_of[t] = -1;
  for (int i = 0; ok && i < p->wl->n_ops; i++)
    ok = op_allows(p, &p->wl->ops[i]);
  for (int i = 0; ok && i < p->wl->n_ops; i++)
    ok = op_agrees(p, &p->wl->ops[i]);
  return ok;
}

/* ---- merging -------------------------------------------------------------------------------- */
/* Removes element `at` from the array. */
static void remove_element(void *array, size_t each, int at, int n) {
  char *bytes = array;
  memmove(bytes + (size_t)at * each, bytes + (size_t)(at + 1) * each, (size_t)(n - at - 1) * each);
}

static bool join_tensor(const pair *p, int tensor, int r) {
  tf_tensor *z = &p->wl->tensors[tensor];
  const size_t n = (size_t)z->rank;
  int64_t *all = TF_ARRAY(p->a, int64_t, 3 * n); /* a copy: the arrays were the network's */
  if (!all) return false;
  memcpy(all, z->lo, n * sizeof *all);
  memcpy(all + n, z->extent, n * sizeof *all);
  memcpy(all + 2 * n, z->pad, n * sizeof *all);
  z->lo = all;
  z->extent = all + n;
  z->pad = all + 2 * n;
  z->extent[r] *= z->extent[r + 1];
  z->pad[r] = 0;
  remove_element(z->lo, sizeof *all, r + 1, z->rank);
  remove_element(z->extent, sizeof *all, r + 1, z->rank);
  remove_element(z->pad, sizeof *all, r + 1, z->rank);
  tf_group_place *at = &p->place[tensor];
  if (at->along) {
    int *along = TF_ARRAY(p->a, int, n);
    int64_t *step = TF_ARRAY(p->a, int64_t, n);
    if (!along || !step) return false;
    memcpy(along, at->along, n * sizeof *along);
    memcpy(step, at->step, n * sizeof *step);
    remove_element(along, sizeof *along, r, z->rank);
    remove_element(step, sizeof *step, r, z->rank);
    at->along = along;
    at->step = step;
  }
  z->rank--;
  return true;
}

/* Merges the ranks of all tensors that the dims move: in reads first, while tensors still have all
 * ranks. */
static bool join_ranks(const pair *p) {
  for (int i = 0; i < p->wl->n_ops; i++)
    for (int k = 0; k < p->wl->ops[i].n_reads; k++) {
      const tf_ref *ref = &p->wl->ops[i].reads[k];
      const int r = p->rank_of[ref->tensor];
      if (r >= 0)
        remove_element(ref->index, sizeof *ref->index, r + 1, p->wl->tensors[ref->tensor].rank);
    }
  for (int t = 0; t < p->wl->n_tensors; t++)
    if (p->rank_of[t] >= 0 && !join_tensor(p, t, p->rank_of[t])) return false;
  return true;
}

static void renumber(int *dim, int gone) { *dim -= *dim > gone; }

/* Removes dim e from ops, reads and the list of dims. */
static void remove_inner_dim(const pair *p) {
  tf_workload *wl = p->wl;
  for (int i = 0; i < wl->n_ops; i++) {
    tf_op *op = &wl->ops[i];
    const int e = tf_op_slot(op, p->e);
    if (e >= 0) {
      remove_element(op->dims, sizeof *op->dims, e, op->n_dims);
      op->n_out_dims -= e < op->n_out_dims;
      op->n_dims--;
    }
    for (int k = 0; k < op->n_dims; k++)
      renumber(&op->dims[k], p->e);
    for (int k = 0; k < op->n_expr; k++)
      if (op->expr[k].what == TF_X_DIM) renumber(&op->expr[k].dim, p->e);
    for (int k = 0; k < op->n_reads; k++)
      for (int r = 0; r < wl->tensors[op->reads[k].tensor].rank; r++)
        for (int t = 0; t < op->reads[k].index[r].n_terms; t++)
          renumber(&op->reads[k].index[r].terms[t].dim, p->e);
  }
  remove_element(wl->dims, sizeof *wl->dims, p->e, wl->n_dims);
  wl->n_dims--;
}

bool net_is_taken(const tf_workload *wl, const char *name) {
  for (int i = 0; i < wl->n_dims; i++)
    if (!strcmp(wl->dims[i].name, name)) return true;
  for (int t = 0; t < wl->n_tensors; t++)
    if (!strcmp(wl->tensors[t].name, name)) return true;
  return false;
}

/* Both names, joined, and a number if the name is taken. */
static bool name_joined(const pair *p) {
  tf_dim *d = &p->wl->dims[p->d];
  char name[160];
  snprintf(name, sizeof name, "%.60s_%.60s", d->name, p->wl->dims[p->e].name);
  for (int k = 2; net_is_taken(p->wl, name); k++)
    snprintf(name, sizeof name, "%.60s_%.60s_%d", d->name, p->wl->dims[p->e].name, k);
  d->name = tf_arena_strndup(p->a, name, strlen(name));
  return d->name != NULL;
}

static bool join(const pair *p) {
  if (!name_joined(p) || !join_ranks(p)) return false;
  p->wl->dims[p->d].extent *= p->wl->dims[p->e].extent;
  remove_inner_dim(p);
  return true;
}

/* Two adjacent dims of an output or a read that may be merged; false: there are none. */
static bool find_pair(pair *p) {
  for (int i = 0; i < p->wl->n_ops; i++) {
    const tf_op *op = &p->wl->ops[i];
    for (int k = 0; k + 1 < op->n_out_dims; k++) {
      p->d = op->dims[k];
      p->e = op->dims[k + 1];
      if (may_join(p)) return true;
    }
    for (int r = 0; r < op->n_reads; r++)
      for (int k = 0; k + 1 < p->wl->tensors[op->reads[r].tensor].rank; k++) {
        const tf_index *x = &op->reads[r].index[k], *y = x + 1;
        if (x->n_terms != 1 || y->n_terms != 1) continue;
        p->d = x->terms[0].dim;
        p->e = y->terms[0].dim;
        if (may_join(p)) return true;
      }
  }
  return false;
}

bool net_flatten(tf_arena *a, tf_workload *wl, const bool *fixed, tf_group_place *place) {
  pair p = {.a = a, .wl = wl, .fixed = fixed, .place = place};
  p.rank_of = TF_ARRAY(a, int, (size_t)wl->n_tensors);
  if (!p.rank_of) return false;
  while (find_pair(&p))
    if (!join(&p)) return false;
  return true;
}
