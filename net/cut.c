/* Extracts some ops of a workload as a workload of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/ir.h"
#include "net/net.h"

#include "base/locale.h"

typedef struct {
  tf_group group; /* must be first: a tf_group * is converted to this type */
  tf_arena *arena;
} owned_group;

/* A group that is being extracted from a network. */
typedef struct {
  tf_arena *a;
  const tf_workload *network;
  tf_workload *wl;
  int *op, *tensor; /* as in tf_group */
  bool splits;      /* inputs may be split into tensors with other coordinates */
  const int *last;  /* as in net_cutting */
  bool recompute;
  int *first, *dim;   /* slots of op i start at first[i]; dim: the group's dim of each slot */
  int most;           /* upper bound on tensors: each read has one of its own */
  int *tensor_inside; /* [tensors of the network] its number in the group; -1: none */
  tf_loc loc;
  tf_diags *d;
} cutter;

static bool no_memory(const cutter *c) { return tf_out_of_memory_at(c->d, c->loc); }

/* ---- ops in order, tensors as they first appear --------------------------------------------- */
static bool take_ops(cutter *c, const int *ops, int n) {
  const int all = c->network->n_ops;
  bool *in = TF_ARRAY(c->a, bool, (size_t)all);
  c->op = TF_ARRAY(c->a, int, (size_t)n);
  if (!in || !c->op) return no_memory(c);
  for (int i = 0; i < n; i++)
    in[ops[i]] = true;
  c->wl->n_ops = 0;
  for (int k = 0; k < all; k++)
    if (in[c->network->topo[k]]) c->op[c->wl->n_ops++] = c->network->topo[k];
  return true;
}

static void take_tensor(cutter *c, int z) {
  if (c->tensor_inside[z] >= 0) return;
  c->tensor_inside[z] = c->wl->n_tensors;
  c->tensor[c->wl->n_tensors++] = z;
}

static bool take_tensors(cutter *c) {
  c->most = 0;
  c->tensor_inside = TF_ARRAY(c->a, int, (size_t)c->network->n_tensors);
  for (int i = 0; i < c->wl->n_ops; i++)
    c->most += 1 + 2 * c->network->ops[c->op[i]].n_reads;
  c->tensor = TF_ARRAY(c->a, int, (size_t)c->most);
  if (!c->tensor_inside || !c->tensor) return no_memory(c);
  for (int z = 0; z < c->network->n_tensors; z++)
    c->tensor_inside[z] = -1;
  for (int i = 0; i < c->wl->n_ops; i++) {
    const tf_op *op = &c->network->ops[c->op[i]];
    take_tensor(c, op->out);
    for (int k = 0; k < op->n_reads; k++)
      take_tensor(c, op->reads[k].tensor);
  }
  return true;
}

/* ---- dims ----------------------------------------------------------------------------------- */
static bool name_taken(const cutter *c, const char *name, int n_dims) {
  for (int i = 0; i < n_dims; i++)
    if (!strcmp(c->wl->dims[i].name, name)) return true;
  for (int t = 0; t < c->wl->n_tensors; t++)
    if (!strcmp(c->network->tensors[c->tensor[t]].name, name)) return true;
  return false;
}

/* Names the dim as in the network, with a number appended if a dim of the network became
 * several. */
static bool name_dim(cutter *c, int n, const tf_dim *like) {
  char name[160];
  snprintf(name, sizeof name, "%.120s", like->name);
  for (int k = 2; name_taken(c, name, n); k++)
    snprintf(name, sizeof name, "%.120s_%d", like->name, k);
  c->wl->dims[n] = (tf_dim){
      .name = tf_arena_strndup(c->a, name, strlen(name)), .at = like->at, .extent = like->extent};
  return c->wl->dims[n].name || no_memory(c);
}

static bool take_dims(cutter *c) {
  const int n = c->wl->n_ops;
  c->first = TF_ARRAY(c->a, int, (size_t)n + 1);
  if (!c->first) return no_memory(c);
  for (int i = 0; i < n; i++)
    c->first[i + 1] = c->first[i] + c->network->ops[c->op[i]].n_dims;
  c->dim = TF_ARRAY(c->a, int, (size_t)c->first[n]);
  if (!c->dim || !net_join_dims(c->a, c->network, c->op, n, c->first, c->dim, &c->wl->n_dims))
    return no_memory(c);
  if (c->wl->n_dims > NET_GROUP_DIMS)
    return tf_fail(c->d, c->loc, TF_E_LIMIT, "the ops of a group have more than %d dims",
                   NET_GROUP_DIMS);
  c->wl->dims = TF_ARRAY(c->a, tf_dim, (size_t)c->wl->n_dims);
  if (!c->wl->dims) return no_memory(c);
  int seen = 0;
  for (int i = 0; i < n; i++)
    for (int s = c->first[i]; s < c->first[i + 1]; s++)
      if (c->dim[s] == seen &&
          !name_dim(c, seen++, &c->network->dims[c->network->ops[c->op[i]].dims[s - c->first[i]]]))
        return false;
  return true;
}

/* The group's number of op i's dim. */
static int dim_of(const cutter *c, int i, int dim) {
  const tf_op *op = &c->network->ops[c->op[i]];
  int k = 0;
  while (op->dims[k] != dim)
    k++;
  return c->dim[c->first[i] + k];
}

/* ---- copies with the group's numbers -------------------------------------------------------- */
static bool copy_index(cutter *c, int i, tf_index *x) {
  tf_term *terms = TF_ARRAY(c->a, tf_term, (size_t)x->n_terms);
  if (!terms) return no_memory(c);
  for (int k = 0; k < x->n_terms; k++)
    terms[k] = (tf_term){dim_of(c, i, x->terms[k].dim), x->terms[k].coef};
  x->terms = terms;
  return true;
}

static bool copy_ref(cutter *c, int i, tf_ref *ref) {
  const int rank = c->network->tensors[ref->tensor].rank;
  tf_index *index = TF_ARRAY(c->a, tf_index, (size_t)rank);
  if (!index) return no_memory(c);
  for (int r = 0; r < rank; r++) {
    index[r] = ref->index[r];
    if (!copy_index(c, i, &index[r])) return false;
  }
  ref->index = index;
  ref->tensor = c->tensor_inside[ref->tensor];
  return true;
}

static bool copy_op(cutter *c, int i) {
  const tf_op *from = &c->network->ops[c->op[i]];
  tf_op *op = &c->wl->ops[i];
  *op = *from;
  op->dims = TF_ARRAY(c->a, int, (size_t)from->n_dims);
  op->reads = TF_ARRAY(c->a, tf_ref, (size_t)from->n_reads);
  op->expr = TF_ARRAY(c->a, tf_expr, (size_t)from->n_expr);
  if (!op->dims || !op->reads || !op->expr) return no_memory(c);
  for (int k = 0; k < from->n_dims; k++)
    op->dims[k] = c->dim[c->first[i] + k];
  for (int k = 0; k < from->n_expr; k++) {
    op->expr[k] = from->expr[k];
    if (from->expr[k].what == TF_X_DIM) op->expr[k].dim = dim_of(c, i, from->expr[k].dim);
  }
  op->out = c->tensor_inside[from->out];
  for (int k = 0; k < from->n_reads; k++) {
    op->reads[k] = from->reads[k];
    if (!copy_ref(c, i, &op->reads[k])) return false;
  }
  return true;
}

static int op_inside(const cutter *c, int op) {
  for (int i = 0; i < c->wl->n_ops; i++)
    if (c->op[i] == op) return i;
  return -1;
}

/* How far the group's ops read the tensor beyond its borders along rank r; reads of other groups do
 * not count. */
static int64_t read_beyond(const cutter *c, int t, int r) {
  const tf_tensor *z = &c->network->tensors[c->tensor[t]];
  int64_t far = 0;
  for (int i = 0; i < c->wl->n_ops; i++)
    for (int k = 0; k < c->wl->ops[i].n_reads; k++) {
      const tf_ref *ref = &c->wl->ops[i].reads[k];
      if (ref->tensor != t) continue;
      int64_t low = ref->index[r].c, high = low;
      for (int m = 0; m < ref->index[r].n_terms; m++) {
        const tf_term *x = &ref->index[r].terms[m];
        *(x->coef < 0 ? &low : &high) += x->coef * (c->wl->dims[x->dim].extent - 1);
      }
      const int64_t before = z->lo[r] - low, behind = high - (z->lo[r] + z->extent[r] - 1);
      far = before > far ? before : far;
      far = behind > far ? behind : far;
    }
  return far < z->pad[r] ? far : z->pad[r];
}

/* Copies a tensor with its readers in the group; of a tensor that the group produces all readers
 * are inside, or none, or others make it again. */
static bool copy_tensor(cutter *c, int t) {
  const tf_tensor *from = &c->network->tensors[c->tensor[t]];
  tf_tensor *z = &c->wl->tensors[t];
  *z = *from;
  z->producer = from->producer < 0 || from->view_of ? -1 : op_inside(c, from->producer);
  z->view_of = 0;
  z->held = ir_held_as(c->network, c->tensor[t]);
  ir_say_range(c->network, c->tensor[t], z);
  z->consumers = TF_ARRAY(c->a, int, (size_t)from->n_consumers);
  if (!z->consumers) return no_memory(c);
  z->n_consumers = 0;
  int outside = -1;
  for (int k = 0; k < from->n_consumers; k++) {
    const int i = op_inside(c, from->consumers[k]);
    if (i >= 0) z->consumers[z->n_consumers++] = i;
    if (i < 0) outside = from->consumers[k];
  }
  for (int k = 1; k < z->n_consumers;
       k++) /* sorted by op of the group, whose order differs from the network's */
    for (int m = k; m > 0 && z->consumers[m - 1] > z->consumers[m]; m--) {
      const int swap = z->consumers[m];
      z->consumers[m] = z->consumers[m - 1];
      z->consumers[m - 1] = swap;
    }
  z->pad = TF_ARRAY(c->a, int64_t, (size_t)from->rank);
  if (from->rank > 0 && !z->pad) return no_memory(c);
  for (int r = 0; r < from->rank; r++)
    z->pad[r] = read_beyond(c, t, r);
  if (z->producer < 0 || z->n_consumers == 0 || outside < 0 || c->recompute) return true;
  tf_fail(c->d, c->loc, TF_E_OUTPUT,
          "'%.60s' is made in this group and read both inside and outside of it", z->name);
  tf_note(c->d, c->network->ops[outside].at, "read by op '%.60s' outside",
          c->network->ops[outside].name);
  return false;
}

static bool copy_all(cutter *c) {
  tf_workload *wl = c->wl;
  wl->ops = TF_ARRAY(c->a, tf_op, (size_t)wl->n_ops);
  wl->tensors = TF_ARRAY(c->a, tf_tensor, (size_t)c->most);
  wl->topo = TF_ARRAY(c->a, int, (size_t)wl->n_ops);
  if (!wl->ops || !wl->tensors || !wl->topo) return no_memory(c);
  for (int i = 0; i < wl->n_ops; i++) {
    wl->topo[i] = i;
    if (!copy_op(c, i)) return false;
  }
  for (int t = 0; t < wl->n_tensors; t++)
    if (!copy_tensor(c, t)) return false;
  return true;
}

/* ---- the whole group ------------------------------------------------------------------------ */
/* A view must be of a tensor that an earlier group has produced. */
static bool check_views(const cutter *c, const int *ops, int n) {
  for (int i = 0; i < n; i++)
    for (int r = 0; r < c->network->ops[ops[i]].n_reads; r++) {
      const tf_tensor *z = &c->network->tensors[c->network->ops[ops[i]].reads[r].tensor];
      bool inside = false;
      for (int k = 0; k < n && z->view_of; k++)
        inside |= ops[k] == z->producer;
      if (inside)
        return tf_fail(c->d, c->loc, TF_E_ORDER,
                       "op '%.60s' reads '%.60s', a view of what this group makes: it has to be "
                       "made by a group before",
                       c->network->ops[ops[i]].name, z->name);
    }
  return true;
}

/* The network's tensors in the layouts that groups use, of each of the group's tensors, whose ranks
 * are permuted likewise. */
static const tf_tensor **move_ranks(cutter *c) {
  const size_t n = (size_t)c->most;
  const tf_tensor **outside = TF_ARRAY(c->a, const tf_tensor *, n);
  tf_tensor *moved = TF_ARRAY(c->a, tf_tensor, n);
  int *rank = TF_ARRAY(c->a, int, n);
  if (!outside || !moved || !rank) return NULL;
  for (int t = 0; t < c->wl->n_tensors; t++) {
    moved[t] = c->network->tensors[c->tensor[t]];
    outside[t] = &moved[t];
    rank[t] = c->last ? c->last[c->tensor[t]] : -1;
    if (!net_move_rank(c->a, &moved[t], rank[t])) return NULL;
  }
  return net_move_ranks(c->a, c->wl, rank) ? outside : NULL;
}

/* Splits ranks of inputs, and joins dims; tensors that are arguments of the network also keep their
 * ranks, as their strides are the caller's. */
static bool reshape(cutter *c, tf_group *g) {
  bool *fixed = TF_ARRAY(c->a, bool, (size_t)c->most);
  tf_group_place *place = TF_ARRAY(c->a, tf_group_place, (size_t)c->most);
  const tf_tensor **outside = move_ranks(c);
  if (!fixed || !place || !outside) return no_memory(c);
  for (int t = 0; t < c->wl->n_tensors; t++)
    fixed[t] = c->network->tensors[c->tensor[t]].producer < 0;
  if (c->splits && !net_split(c->a, c->wl, fixed, c->tensor, place)) return no_memory(c);
  for (int t = 0; t < c->wl->n_tensors; t++) {
    const tf_tensor *z = &c->network->tensors[c->tensor[t]];
    fixed[t] = (z->producer < 0 && !place[t].along) || !z->n_consumers;
  }
  g->place = place;
  if (!net_flatten(c->a, c->wl, fixed, place)) return no_memory(c);
  return !c->splits || net_add_row(c->a, c->wl, outside, place) || no_memory(c);
}

static bool cut(cutter *c, const int *ops, int n, const char *name, tf_group *g) {
  if (!check_views(c, ops, n)) return false;
  c->wl = TF_NEW(c->a, tf_workload);
  if (!c->wl) return no_memory(c);
  c->wl->name = tf_arena_strndup(c->a, name, strlen(name));
  c->wl->at = c->loc;
  if (!c->wl->name) return no_memory(c);
  if (!take_ops(c, ops, n) || !take_tensors(c) || !take_dims(c) || !copy_all(c) || !reshape(c, g))
    return false;
  g->workload = c->wl;
  g->op = c->op;
  g->tensor = c->tensor;
  g->key = net_key(c->a, c->wl, &g->key_size);
  return g->key || no_memory(c);
}

tf_group *net_group_cut(const tf_workload *wl, const int *ops, int n, const net_cutting *how,
                        tf_diags *d) {
  tf_arena *a = tf_arena_new();
  owned_group *g = a ? TF_NEW(a, owned_group) : NULL;
  cutter c = {.a = a,
              .network = wl,
              .loc = how->loc,
              .d = d,
              .splits = how->splits,
              .last = how->last,
              .recompute = how->recompute};
  if (g) {
    g->arena = a;
    if (cut(&c, ops, n, how->name, &g->group)) return &g->group;
  } else {
    no_memory(&c);
  }
  tf_arena_free(a);
  return NULL;
}

tf_group *tf_group_cut(const tf_workload *wl, const int *ops, int n, const char *name, tf_loc at,
                       tf_diags *d) {
  TF_IN_C_LOCALE;
  return net_group_cut(wl, ops, n, &(net_cutting){.name = name, .loc = at}, d);
}

bool net_splits(const char *target) { return target && !tf_emit_able(target, TF_EMIT_HERE); }

void tf_group_free(tf_group *g) {
  if (g) tf_arena_free(((owned_group *)g)->arena);
}
