#include "search/common/canon.h"

#include <stdio.h>
#include <string.h>

#include "model/tree/build.h"
#include "search/common/order.h"

struct tf_canon {
  tf_arena *arena;
  const tf_arch *arch; /* the caller's */
  const tf_workload *wl;
  tf_arch own_arch; /* the canonical ones */
  tf_workload own;
  tf_order from;          /* [canonical number] the caller's number */
  int *op, *tensor, *dim; /* [the caller's number] the canonical one; -1: it is not there */
  bool exchanged;         /* the axes of meshes are exchanged */
};

const tf_arch *tf_canon_arch(const tf_canon *c) { return &c->own_arch; }
const tf_workload *tf_canon_workload(const tf_canon *c) { return &c->own; }
int tf_canon_dim(const tf_canon *c, int dim) { return c->from.dims[dim]; }

static const char *name_of(tf_arena *a, char kind, int no) {
  char name[16];
  snprintf(name, sizeof name, "%c%d", kind, no);
  return tf_arena_strndup(a, name, strlen(name));
}

/* ---- the machine ---------------------------------------------------------------------------- */
/* Whether the first mesh that is not square is longer on Y.  False where a network routes along X
 * first: there the axes are not interchangeable. */
static bool is_taller(const tf_arch *a) {
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].topology != TF_NO_TOPOLOGY) return false;
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].mesh[0] != a->memories[l].mesh[1])
      return a->memories[l].mesh[0] < a->memories[l].mesh[1];
  for (int u = 0; u < a->n_units; u++)
    if (a->units[u].mesh[0] != a->units[u].mesh[1])
      return a->units[u].mesh[0] < a->units[u].mesh[1];
  return false;
}

static void exchange_axes(int64_t mesh[2]) {
  const int64_t x = mesh[0];
  mesh[0] = mesh[1];
  mesh[1] = x;
}

static bool make_arch(tf_canon *c) {
  const tf_arch *a = c->arch;
  c->own_arch = *a;
  c->own_arch.memories = TF_ARRAY(c->arena, tf_memory, (size_t)a->n_memories + 1);
  c->own_arch.units = TF_ARRAY(c->arena, tf_unit, (size_t)a->n_units + 1);
  if (!c->own_arch.memories || !c->own_arch.units) return false;
  c->exchanged = is_taller(a);
  for (int l = 0; l < a->n_memories; l++) {
    c->own_arch.memories[l] = a->memories[l];
    c->own_arch.memories[l].name = name_of(c->arena, 'M', l);
    if (c->exchanged) exchange_axes(c->own_arch.memories[l].mesh);
  }
  for (int u = 0; u < a->n_units; u++) {
    c->own_arch.units[u] = a->units[u];
    if (c->exchanged) exchange_axes(c->own_arch.units[u].mesh);
  }
  return true;
}

/* ---- the workload --------------------------------------------------------------------------- */
/* `from`: [n] of `all` numbers. */
static int *inverse(tf_arena *a, const int *from, int n, int all) {
  int *to = TF_ARRAY(a, int, (size_t)all + 1);
  for (int i = 0; to && i < all; i++)
    to[i] = -1;
  for (int i = 0; to && i < n; i++)
    to[from[i]] = i;
  return to;
}

static bool make_index(tf_canon *c, const tf_index *from, tf_index *to) {
  *to = *from;
  to->terms = TF_ARRAY(c->arena, tf_term, (size_t)from->n_terms + 1);
  for (int t = 0; to->terms && t < from->n_terms; t++)
    to->terms[t] = (tf_term){c->dim[from->terms[t].dim], from->terms[t].coef};
  return to->terms;
}

static bool make_ref(tf_canon *c, const tf_ref *from, tf_ref *to) {
  const int rank = c->wl->tensors[from->tensor].rank;
  *to = (tf_ref){c->tensor[from->tensor], TF_ARRAY(c->arena, tf_index, (size_t)rank + 1), from->at};
  for (int r = 0; to->index && r < rank; r++)
    if (!make_index(c, &from->index[r], &to->index[r])) return false;
  return to->index;
}

/* Reduced dims in canonical order. */
static void sort_reduced(tf_op *op) {
  for (int i = op->n_out_dims + 1; i < op->n_dims; i++)
    for (int k = i; k > op->n_out_dims && op->dims[k - 1] > op->dims[k]; k--) {
      const int dim = op->dims[k];
      op->dims[k] = op->dims[k - 1];
      op->dims[k - 1] = dim;
    }
}

static bool make_op(tf_canon *c, int no, const tf_op *from, tf_op *to) {
  *to = *from;
  to->name = name_of(c->arena, 'o', no);
  to->out = c->tensor[from->out];
  to->dims = TF_ARRAY(c->arena, int, (size_t)from->n_dims + 1);
  to->reads = TF_ARRAY(c->arena, tf_ref, (size_t)from->n_reads + 1);
  to->expr = TF_ARRAY(c->arena, tf_expr, (size_t)from->n_expr + 1);
  if (!to->dims || !to->reads || !to->expr) return false;
  for (int i = 0; i < from->n_dims; i++)
    to->dims[i] = c->dim[from->dims[i]];
  sort_reduced(to);
  for (int k = 0; k < from->n_reads; k++)
    if (!make_ref(c, &from->reads[k], &to->reads[k])) return false;
  for (int i = 0; i < from->n_expr; i++) {
    to->expr[i] = from->expr[i];
    if (from->expr[i].what == TF_X_DIM) to->expr[i].dim = c->dim[from->expr[i].dim];
  }
  return true;
}

static bool make_tensor(tf_canon *c, int no, const tf_tensor *from, tf_tensor *to) {
  *to = *from;
  if (!from->known_as) to->known_as = from->name;
  to->name = name_of(c->arena, 't', no);
  if (from->producer >= 0) to->producer = c->op[from->producer];
  if (from->view_of) to->view_of = c->tensor[from->view_of - 1] + 1;
  to->consumers = TF_ARRAY(c->arena, int, (size_t)from->n_consumers + 1);
  to->n_consumers = 0;
  for (int i = 0; to->consumers && i < c->own.n_ops; i++) /* in op order */
    for (int k = 0; k < from->n_consumers; k++)
      if (c->op[from->consumers[k]] == i) to->consumers[to->n_consumers++] = i;
  return to->consumers;
}

static bool make_workload(tf_canon *c) {
  const tf_workload *wl = c->wl;
  tf_workload *w = &c->own;
  w->dims = TF_ARRAY(c->arena, tf_dim, (size_t)w->n_dims + 1);
  w->tensors = TF_ARRAY(c->arena, tf_tensor, (size_t)w->n_tensors + 1);
  w->ops = TF_ARRAY(c->arena, tf_op, (size_t)w->n_ops + 1);
  w->topo = TF_ARRAY(c->arena, int, (size_t)w->n_ops + 1);
  if (!w->dims || !w->tensors || !w->ops || !w->topo) return false;
  for (int d = 0; d < w->n_dims; d++) {
    w->dims[d] = wl->dims[c->from.dims[d]];
    w->dims[d].name = name_of(c->arena, 'd', d);
  }
  bool ok = true;
  for (int z = 0; z < w->n_tensors; z++)
    ok = ok && make_tensor(c, z, &wl->tensors[c->from.tensors[z]], &w->tensors[z]);
  for (int o = 0; o < w->n_ops; o++) {
    ok = ok && make_op(c, o, &wl->ops[c->from.ops[o]], &w->ops[o]);
    w->topo[o] = o;
  }
  return ok;
}

/* The problem of what `from` lists, of which c->own has the numbers. */
static bool make_problem(tf_canon *c) {
  const tf_workload *wl = c->wl;
  c->op = inverse(c->arena, c->from.ops, c->own.n_ops, wl->n_ops);
  c->tensor = inverse(c->arena, c->from.tensors, c->own.n_tensors, wl->n_tensors);
  c->dim = inverse(c->arena, c->from.dims, c->own.n_dims, wl->n_dims);
  if (!c->op || !c->tensor || !c->dim) return false;
  return make_arch(c) && make_workload(c) && !tf_arena_failed(c->arena);
}

/* Nothing is listed yet.  NULL: memory ran out. */
static tf_canon *begin(const tf_arch *arch, const tf_workload *wl) {
  tf_arena *a = tf_arena_new();
  tf_canon *c = a ? TF_NEW(a, tf_canon) : NULL;
  if (c) *c = (tf_canon){.arena = a, .arch = arch, .wl = wl, .own = *wl};
  if (!c) tf_arena_free(a);
  return c;
}

tf_canon *tf_canon_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  tf_canon *c = begin(arch, wl);
  if (c && tf_order_of(c->arena, wl, &c->from) && make_problem(c)) return c;
  tf_canon_free(c);
  tf_out_of_memory(d);
  return NULL;
}

/* ---- one op by itself ----------------------------------------------------------------------- */
static void list_once(int *list, int *n, int what) {
  for (int i = 0; i < *n; i++)
    if (list[i] == what) return;
  list[(*n)++] = what;
}

static bool list_op(tf_canon *c, int o) {
  const tf_op *op = &c->wl->ops[o];
  tf_order *from = &c->from;
  from->ops = TF_ARRAY(c->arena, int, 1);
  from->tensors = TF_ARRAY(c->arena, int, (size_t)op->n_reads + 1);
  from->dims = TF_ARRAY(c->arena, int, (size_t)op->n_dims + 1);
  if (!from->ops || !from->tensors || !from->dims) return false;
  c->own.n_ops = c->own.n_tensors = c->own.n_dims = 0;
  list_once(from->ops, &c->own.n_ops, o);
  for (int i = 0; i < op->n_dims; i++)
    list_once(from->dims, &c->own.n_dims, op->dims[i]);
  for (int r = 0; r < op->n_reads; r++)
    list_once(from->tensors, &c->own.n_tensors, op->reads[r].tensor);
  list_once(from->tensors, &c->own.n_tensors, op->out);
  return true;
}

tf_canon *tf_canon_of_op(const tf_arch *arch, const tf_workload *wl, int op) {
  tf_canon *c = begin(arch, wl);
  if (c && list_op(c, op) && make_problem(c)) return c;
  tf_canon_free(c);
  return NULL;
}

void tf_canon_free(tf_canon *c) {
  if (c) tf_arena_free(c->arena);
}

/* ---- trees ---------------------------------------------------------------------------------- */
static tf_loop loop_as(tf_loop l, const int *dim, bool exchanged) {
  l.dim = dim[l.dim];
  if (exchanged && l.axis != TF_TEMPORAL)
    l.axis = l.axis == TF_SPATIAL_X ? TF_SPATIAL_Y : TF_SPATIAL_X;
  return l;
}

/* Adds the node below `parent`; its lists one by one, as they name tensors. */
static void put_node(tf_build *b, const tf_node *from, int parent, const int *op,
                     const int *tensor) {
  tf_node like = *from;
  like.parent = parent;
  like.n_bypass = like.n_keep = like.n_retain = like.n_stream = 0;
  if (from->kind == TF_OP) like.op = op[from->op];
  tf_build_node(b, &like);
  for (int i = 0; from->kind == TF_TILE && i < from->n_bypass; i++)
    tf_build_bypass(b, (tf_named){tensor[from->bypass[i].tensor], from->bypass[i].at});
  if (from->kind != TF_SCOPE) return;
  for (int i = 0; i < from->n_keep; i++)
    tf_build_keep(b,
                  (tf_keep){tensor[from->keep[i].tensor], from->keep[i].level, from->keep[i].at});
  for (int i = 0; i < from->n_retain; i++)
    tf_build_retain(b, (tf_named){tensor[from->retain[i].tensor], from->retain[i].at});
  for (int i = 0; i < from->n_stream; i++)
    tf_build_stream(b, (tf_named){tensor[from->stream[i].tensor], from->stream[i].at});
}

/* Adds the tree below a node; -1: it is the whole. */
static void put_tree(tf_build *b, const tf_tree *from, int below, const int *op, const int *tensor,
                     const int *dim, bool exchanged) {
  const int before = tf_build_draft(b)->n_nodes;
  for (int i = 0; i < from->n_nodes; i++) {
    const tf_node *n = &from->nodes[i];
    put_node(b, n, n->parent < 0 ? below : n->parent + before, op, tensor);
    for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++)
      tf_build_loop(b, loop_as(n->loops[k], dim, exchanged));
  }
}

void tf_canon_put_back(const tf_canon *c, const tf_tree *found, int parent, tf_build *b) {
  put_tree(b, found, parent, c->from.ops, c->from.tensors, c->from.dims, c->exchanged);
}

tf_tree *tf_canon_tree(const tf_canon *c, const tf_tree *given, tf_diags *d) {
  tf_build *b = tf_build_new(&c->own_arch, &c->own, d);
  if (b) put_tree(b, given, -1, c->op, c->tensor, c->dim, c->exchanged);
  return tf_build_tree(b);
}

tf_tree *tf_canon_back(const tf_canon *c, const tf_tree *found, tf_diags *d) {
  tf_build *b = tf_build_new(c->arch, c->wl, d);
  if (b) put_tree(b, found, -1, c->from.ops, c->from.tensors, c->from.dims, c->exchanged);
  return tf_build_tree(b);
}
