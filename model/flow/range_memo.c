/* A direct-mapped cache by depth, op and dim; a new query invalidates all results. */
#include "model/flow/range_memo.h"

enum { FEW_WAYS = 32, MOST_FOUND = 1 << 20, MOST_KEPT = 512, MOST_PLACES = 1 << 16 };

/* Whether there are many paths from some op to the outputs. */
static bool has_many_ways(const tf_workload *wl, int *ways) {
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    const tf_tensor *z = &wl->tensors[wl->ops[wl->topo[i]].out];
    int n = 1;
    for (int c = 0; c < z->n_consumers; c++)
      for (int k = 0; k < wl->ops[z->consumers[c]].n_reads; k++)
        if (wl->ops[z->consumers[c]].reads[k].tensor == wl->ops[wl->topo[i]].out)
          n += ways[z->consumers[c]];
    if (n > FEW_WAYS) return true;
    ways[wl->topo[i]] = n;
  }
  return false;
}

/* The nodes of one query are on one path from the root, so each depth gets entries of its own, as
 * far as memory allows. */
static bool allocate(tf_arena *a, tf_plan *p) {
  int deep = 0;
  for (int n = 0; n < p->tree->n_nodes; n++)
    deep = p->depth[n] > deep ? p->depth[n] : deep;
  p->memo = TF_NEW(a, tf_range_memo);
  if (!p->memo) return false;
  p->memo->query = 1;
  p->memo->deep = deep + 1;
  p->memo->since = TF_ARRAY(a, uint64_t, (size_t)deep + 1);
  const size_t all = ((size_t)deep + 1) * (size_t)p->wl->n_ops * ((size_t)p->wl->n_dims + 1);
  p->memo->n = all < MOST_FOUND ? all : MOST_FOUND;
  p->memo->found = TF_ARRAY(a, tf_range_found, p->memo->n);
  return p->memo->found && p->memo->since;
}

/* The range of a dim at a node depends on the loops of nodes above it. */
static void renew(tf_range_memo *m, int depth) {
  m->query++;
  for (int k = depth; k < m->deep; k++)
    m->since[k] = m->query;
}

void tf_memo_hold(const tf_plan *p) {
  if (!p->memo) return;
  p->memo->held = true;
  renew(p->memo, 0);
}

void tf_memo_release(const tf_plan *p) {
  if (!p->memo) return;
  p->memo->held = false;
  p->memo->last_held = p->memo->query;
}

void tf_memo_resume(const tf_plan *p) {
  if (!p->memo) return;
  if (p->memo->last_held != p->memo->query) renew(p->memo, 0);
  p->memo->held = true;
}

void tf_memo_step(const tf_plan *p, int node) {
  if (!p->memo) return;
  const bool alone = p->memo->last_held == p->memo->query;
  renew(p->memo, p->depth[node]);
  if (alone) p->memo->last_held = p->memo->query;
}

bool tf_range_memo_new(tf_arena *a, tf_plan *p) {
  int *ways = TF_ARRAY(a, int, (size_t)p->wl->n_ops);
  return ways && (!has_many_ways(p->wl, ways) || allocate(a, p));
}

bool tf_range_memo_exact(tf_arena *a, tf_plan *p) {
  return p->memo || p->wl->n_ops == 1 || allocate(a, p);
}

tf_range_found *tf_memo_find(const tf_plan *p, int op, int dim, int node, bool *known) {
  const size_t dims = (size_t)p->wl->n_dims + 1, op_dim = (size_t)op * dims + (size_t)dim,
               ops = (size_t)p->wl->n_ops * dims;
  tf_range_found *f = &p->memo->found[((size_t)p->depth[node] * ops + op_dim) % p->memo->n];
  const uint64_t since = p->memo->held ? p->memo->since[p->depth[node]] : p->memo->query;
  *known = f->query >= since && f->op_dim == (int)op_dim && f->node == node;
  return f;
}

tf_range_keep *tf_keep_new(tf_arena *a, const tf_plan *p) {
  const size_t places = (size_t)p->tree->n_nodes * (size_t)p->wl->n_ops * (size_t)p->wl->n_dims;
  tf_range_keep *k = TF_NEW(a, tf_range_keep);
  if (!k) return NULL;
  k->room = places > MOST_PLACES ? 0 : places < MOST_KEPT ? (int)places : MOST_KEPT;
  k->evaluation = 1;
  k->entry_of = TF_ARRAY(a, int, k->room ? places : 1);
  k->kept = TF_ARRAY(a, tf_range_kept, (size_t)k->room + 1);
  return k->entry_of && k->kept ? k : NULL;
}
