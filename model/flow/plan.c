/* Builds the plan of a tree: paths, loops and the ops that they split, slices and their
 * references. */
#include "model/flow/range_memo.h"

#include "model/flow/online.h"
#include "model/flow/out_of_bounds.h"
#include "model/flow/plan_class.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"
#include "model/input/dims.h"

int tf_plan_mtile(const tf_plan *p, int n, int level) {
  int found = -1;
  for (; n >= 0; n = p->tree->nodes[n].parent)
    if (p->tree->nodes[n].kind == TF_TILE && p->tree->nodes[n].level == level) found = n;
  return found;
}

bool tf_plan_selects(const tf_plan *p, int z, int l) {
  int tile = tf_plan_mtile(p, p->tree->op_node[p->wl->tensors[z].producer], p->home_level[z]);
  return tile >= 0 && p->loops[l].axis != TF_TEMPORAL &&
         tf_plan_above(p, p->home_scope[z], p->loops[l].node) &&
         !tf_plan_above(p, tile, p->loops[l].node);
}

bool tf_plan_brings(const tf_plan *p, int z, int l) {
  int scope = p->home_scope[z], level = p->home_level[z], node = p->loops[l].node;
  int tile = tf_plan_mtile(p, scope, level);
  if (p->loops[l].axis == TF_TEMPORAL || !tf_plan_above(p, node, scope)) return false;
  if (tile < 0) /* kept below the scope, or at home outside all Tiles */
    return tf_plan_mtile(p, p->tree->op_node[p->wl->tensors[z].producer], level) < 0;
  return tf_plan_above(p, tile, node);
}

bool tf_plan_tile_holds(const tf_plan *p, int t, int z) {
  const tf_node *n = &p->tree->nodes[t];
  return n->level > p->home_level[z] && !tf_node_bypasses(n, z) && tf_node_touches(p->facts, t, z);
}

/* The loops above every node.  False: out of memory or path too long. */
static bool find_paths(tf_arena *a, tf_plan *p) {
  const tf_tree *t = p->tree;
  const int n_dims = p->wl->n_dims;
  p->path = TF_ARRAY(a, tf_path, (size_t)t->n_nodes);
  p->over = TF_ARRAY(a, uint64_t, (size_t)t->n_nodes * (size_t)n_dims + 1);
  if (!p->path || !p->over) return false;
  for (int i = 0; i < t->n_nodes; i++) {
    const tf_node *n = &t->nodes[i];
    if (n->parent < 0) continue;
    const tf_node *up = &t->nodes[n->parent];
    const tf_path *above = &p->path[n->parent];
    int own = up->kind == TF_TILE ? up->n_loops : 0;
    p->path[i].n = above->n + own;
    p->path[i].loops = TF_ARRAY(a, int, (size_t)p->path[i].n + 1);
    if (p->path[i].n > TF_MAX_PATH || !p->path[i].loops) return false;
    for (int k = 0; k < above->n; k++)
      p->path[i].loops[k] = above->loops[k];
    p->path[i].temporal = above->temporal;
    for (int d = 0; d < n_dims; d++)
      p->over[i * n_dims + d] = p->over[n->parent * n_dims + d];
    for (int k = 0; k < own; k++) {
      p->path[i].loops[above->n + k] = p->first_loop[n->parent] + k;
      const uint64_t at = UINT64_C(1) << (above->n + k);
      if (up->loops[k].axis == TF_TEMPORAL) p->path[i].temporal |= at;
      p->over[i * n_dims + up->loops[k].dim] |= at;
    }
  }
  return true;
}

/* Whether loop `dim` above the lead node of o still splits o: a streamed reduction. */
static bool fill_loop(tf_arena *a, tf_plan *p, int node, int slot) {
  const tf_node *n = &p->tree->nodes[node];
  tf_ploop *l = &p->loops[p->first_loop[node] + slot];
  *l = (tf_ploop){.node = node,
                  .slot = slot,
                  .dim = n->loops[slot].dim,
                  .axis = n->loops[slot].axis,
                  .chain_node = -1,
                  .op = -1};
  l->leaders = TF_ARRAY(a, int, (size_t)p->wl->n_ops);
  if (!l->leaders) return false;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!tf_plan_above(p, node, p->tree->op_node[o]) || !tf_plan_leads(p, o, node) ||
        tf_op_slot(&p->wl->ops[o], l->dim) < 0)
      continue;
    if (l->op < 0) {
      l->op = o;
      l->chain_node = p->lead[o];
    }
    l->clash |= p->lead[o] != l->chain_node;
    l->leaders[l->n_leader++] = o;
  }
  return true;
}

static int find_unit(const tf_plan *p, int o) {
  int deepest = 0;
  for (int n = p->tree->op_node[o]; n >= 0; n = p->tree->nodes[n].parent)
    if (p->tree->nodes[n].kind == TF_TILE && p->tree->nodes[n].level > deepest)
      deepest = p->tree->nodes[n].level;
  for (int u = 0; u < p->arch->n_units; u++)
    if (!(p->wl->ops[o].kinds & ~p->arch->units[u].kinds) && p->arch->units[u].below >= deepest)
      return u;
  return p->arch->n_units ? 0 : -1;
}

static int64_t space_of(const tf_plan *p, int o) {
  int64_t n = 1;
  for (int d = 0; d < p->wl->ops[o].n_dims; d++)
    if (__builtin_mul_overflow(n, p->wl->dims[p->wl->ops[o].dims[d]].extent, &n)) return INT64_MAX;
  return n;
}

static void find_homes(tf_plan *p) {
  for (int z = 0; z < p->wl->n_tensors; z++) {
    p->home_level[z] = tf_tree_home(p->tree, z);
    int h = p->home_scope[z];
    for (int k = 0; h >= 0 && k < p->tree->nodes[h].n_retain; k++)
      p->retained[z] |= p->tree->nodes[h].retain[k].tensor == z;
  }
}

/* The innermost memory that holds z on the path to n, further out than `level`. */
static int holder(const tf_plan *p, int n, int z, int level) {
  for (int l = level - 1; l > p->home_level[z]; l--) {
    int t = tf_plan_mtile(p, n, l);
    if (t >= 0 && tf_plan_tile_holds(p, t, z)) return l;
  }
  return p->home_level[z];
}

static void fill_masks(const tf_plan *p, tf_slice *s) {
  int serving = tf_plan_mtile(p, s->node, s->above), home = p->home_scope[s->tensor];
  int maker = p->wl->tensors[s->tensor].producer;
  const tf_path *path = &p->path[s->node];
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    bool below_home = home < 0 || (l->node != home && tf_plan_above(p, home, l->node));
    bool between = serving < 0 || tf_plan_above(p, serving, l->node);
    bool streamed = !below_home && maker >= 0 && p->stream_scope[maker] >= 0 &&
                    l->axis == TF_TEMPORAL &&
                    tf_op_slot(&p->wl->ops[maker], l->dim) >= p->wl->ops[maker].n_out_dims;
    if (l->axis != TF_TEMPORAL && between && below_home) s->merge |= UINT64_C(1) << k;
    if (below_home || streamed) s->inside |= UINT64_C(1) << k;
  }
}

static bool add_touches(tf_arena *a, const tf_plan *p, tf_slice *s) {
  int n = 0;
  for (int i = s->node; i < p->tree->nodes[s->node].end; i++)
    if (p->tree->nodes[i].kind == TF_OP) n += p->wl->ops[p->tree->nodes[i].op].n_reads + 1;
  s->touch = TF_ARRAY(a, tf_touch, (size_t)n + 1);
  if (!s->touch) return false;
  for (int i = s->node; i < p->tree->nodes[s->node].end; i++) {
    if (p->tree->nodes[i].kind != TF_OP) continue;
    int o = p->tree->nodes[i].op;
    for (int r = 0; r < p->wl->ops[o].n_reads; r++)
      if (p->wl->ops[o].reads[r].tensor == s->tensor) s->touch[s->n_touch++] = (tf_touch){o, r};
    if (p->wl->ops[o].out == s->tensor) {
      s->touch[s->n_touch++] = (tf_touch){o, -1};
      s->makes = true;
    }
  }
  return true;
}

static bool add_tile_slices(tf_arena *a, tf_plan *p, int node) {
  const tf_node *n = &p->tree->nodes[node];
  if (n->kind != TF_TILE || n->level == 0 || tf_plan_mtile(p, node, n->level) != node) return true;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    if (!tf_plan_tile_holds(p, node, z)) continue;
    tf_slice *s = &p->slices[p->n_slices++];
    *s = (tf_slice){.node = node, .level = n->level, .tensor = z};
    s->above = holder(p, node, z, n->level);
    if (!add_touches(a, p, s)) return false;
    fill_masks(p, s);
  }
  return true;
}

static bool add_op_slices(tf_arena *a, tf_plan *p, int o) {
  const tf_op *op = &p->wl->ops[o];
  p->op_slice[o] = p->n_slices;
  for (int r = 0; r <= op->n_reads; r++) {
    tf_slice *s = &p->slices[p->n_slices++];
    int z = r < op->n_reads ? op->reads[r].tensor : op->out;
    *s = (tf_slice){.node = p->tree->op_node[o],
                    .level = -1,
                    .tensor = z,
                    .leaf = true,
                    .makes = r == op->n_reads,
                    .n_touch = 1};
    s->above = holder(p, s->node, z, p->arch->n_memories);
    s->touch = TF_NEW(a, tf_touch);
    if (!s->touch) return false;
    s->touch[0] = (tf_touch){o, r < op->n_reads ? r : -1};
    fill_masks(p, s);
  }
  return true;
}

/* Whether an entry outside a retaining scope finds what an m-tile inside it left, or vice versa. */
static bool links_out(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  return c->prev >= 0 && p->retain_at[p->slices[c->prev].node] != p->retain_at[s->node];
}

/* The most slices: a node has as many as there are references below it, or tensors. */
static size_t most_slices(const tf_plan *p, int *below) {
  size_t most = 0;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int n = p->tree->op_node[o]; n >= 0; n = p->tree->nodes[n].parent)
      below[n] += p->wl->ops[o].n_reads + 1;
  for (int n = 0; n < p->tree->n_nodes; n++)
    most +=
        (size_t)(p->tree->nodes[n].kind == TF_OP || below[n] < p->wl->n_tensors ? below[n]
                                                                                : p->wl->n_tensors);
  return most;
}

static int held_key(const tf_plan *p, const tf_slice *s) {
  return s->level * p->wl->n_tensors + s->tensor;
}

/* Lists slices by level and tensor, and tensors by the scope that is their home. */
static bool list_held(tf_arena *a, tf_plan *p) {
  const int keys = p->arch->n_memories * p->wl->n_tensors, nodes = p->tree->n_nodes;
  int *from = p->held_from = TF_ARRAY(a, int, (size_t)keys + 2);
  int *home = p->kept_from = TF_ARRAY(a, int, (size_t)nodes + 2);
  p->held = TF_ARRAY(a, int, (size_t)p->n_tile_slices + 1);
  p->kept = TF_ARRAY(a, int, (size_t)p->wl->n_tensors + 1);
  if (!from || !home || !p->held || !p->kept) return false;
  for (int i = 0; i < p->n_tile_slices; i++)
    from[held_key(p, &p->slices[i]) + 2]++;
  for (int i = 0; i < keys; i++)
    from[i + 1] += from[i];
  for (int i = 0; i < p->n_tile_slices; i++)
    p->held[from[held_key(p, &p->slices[i]) + 1]++] = i;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0) home[p->home_scope[z] + 2]++;
  for (int n = 0; n < nodes; n++)
    home[n + 1] += home[n];
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0) p->kept[home[p->home_scope[z] + 1]++] = z;
  return true;
}

static bool add_slices(tf_arena *a, tf_plan *p) {
  int *below = TF_ARRAY(a, int, (size_t)p->tree->n_nodes + 1);
  p->slices = below ? TF_ARRAY(a, tf_slice, most_slices(p, below) + 1) : NULL;
  p->op_slice = TF_ARRAY(a, int, (size_t)p->wl->n_ops);
  if (!p->slices || !p->op_slice) return false;
  for (int i = 0; i < p->tree->n_nodes; i++)
    if (!add_tile_slices(a, p, i)) return false;
  p->n_tile_slices = p->n_slices;
  for (int o = 0; o < p->wl->n_ops; o++)
    if (!add_op_slices(a, p, o)) return false;
  if (!list_held(a, p)) return false;
  for (int i = 0; i < p->n_tile_slices; i++)
    if (!tf_plan_classes(a, p, &p->slices[i])) return false;
  for (int i = 0; i < p->n_tile_slices && p->n_retains; i++)
    for (int c = 0; c < p->slices[i].n_class; c++)
      p->irregular |= links_out(p, &p->slices[i], &p->slices[i].classes[c]);
  return true;
}

/* The loops above the slice's node that move two terms of one index along rank r. */
static uint64_t pulled(const tf_plan *p, const tf_slice *s, int r) {
  uint64_t twice = 0;
  for (int i = 0; i < s->n_touch; i++) {
    const int o = s->touch[i].op, ref = s->touch[i].ref;
    const tf_index *ix = ref < 0 ? NULL : &p->wl->ops[o].reads[ref].index[r];
    uint64_t moved = 0;
    for (int t = 0; ix && t < ix->n_terms; t++) {
      const uint64_t mask = tf_dim_mask(p, o, ix->terms[t].dim, s->node);
      twice |= moved & mask;
      moved |= mask;
    }
  }
  return twice;
}

static void find_pulled(tf_plan *p) {
  for (int i = 0; i < p->n_at_home; i++)
    for (int r = 0; r < p->wl->tensors[p->at_home[i].tensor].rank; r++) {
      p->pulled[i * TF_MAX_RANK + r] = pulled(p, &p->at_home[i], r);
      p->pulls |= p->pulled[i * TF_MAX_RANK + r] != 0;
    }
}

/* Finds the masks of ranges as if nothing were retained: over the whole run, retained parts are
 * computed, too. */
static bool add_bases(tf_arena *a, tf_plan *p) {
  const int dims = p->wl->n_dims;
  uint64_t *const made = p->made_mask;
  p->pulled = TF_ARRAY(a, uint64_t, (size_t)p->n_at_home * TF_MAX_RANK + 1);
  p->base = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops * (size_t)dims);
  p->made_mask = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  const bool ok = p->base && p->made_mask && p->pulled;
  for (int o = 0; o < p->wl->n_ops && ok; o++)
    for (int i = 0; i < p->wl->ops[o].n_dims; i++)
      p->base[o * dims + p->wl->ops[o].dims[i]] = tf_base_mask(p, o, p->wl->ops[o].dims[i]);
  if (ok) find_pulled(p);
  p->made_mask = made;
  return ok;
}

/* Adds what m-tiles touch of inputs and outputs that live in their memory. */
static bool add_at_home(tf_arena *a, tf_plan *p) {
  int most = 0;
  for (int z = 0; z < p->wl->n_tensors; z++)
    most += p->home_scope[z] < 0 && p->home_level[z] > 0;
  if (most && !(p->at_home = TF_ARRAY(a, tf_slice, (size_t)most * (size_t)p->tree->n_nodes)))
    return false;
  for (int i = 0; i < p->tree->n_nodes && most; i++) {
    const tf_node *n = &p->tree->nodes[i];
    if (n->kind != TF_TILE || tf_plan_mtile(p, i, n->level) != i) continue;
    for (int z = 0; z < p->wl->n_tensors; z++) {
      if (p->home_scope[z] >= 0 || p->home_level[z] != n->level || !n->level ||
          !tf_node_touches(p->facts, i, z))
        continue;
      tf_slice *s = &p->at_home[p->n_at_home++];
      *s = (tf_slice){.node = i, .level = n->level, .tensor = z};
      if (!add_touches(a, p, s)) return false;
    }
  }
  return !most || add_bases(a, p);
}

/* Adds the slices that streaming rescales: the box of each named reduction, at the scope. */
static bool add_streams(tf_arena *a, tf_plan *p) {
  p->stream = TF_ARRAY(a, tf_slice, (size_t)p->wl->n_ops);
  if (!p->stream) return false;
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_op *op = &p->wl->ops[o];
    tf_slice *s = &p->stream[o];
    int scope = p->stream_scope[o];
    *s = (tf_slice){.node = scope, .level = -1, .tensor = op->out, .n_touch = 1};
    if (scope < 0) continue;
    s->touch = TF_NEW(a, tf_touch);
    if (!s->touch) return false;
    *s->touch = (tf_touch){o, -1};
    s->above = holder(p, scope, op->out, p->arch->n_memories);
    for (int k = 0; k < p->path[scope].n; k++)
      for (int d = op->n_out_dims; d < op->n_dims; d++)
        if (p->loops[p->path[scope].loops[k]].dim == op->dims[d]) s->inside |= UINT64_C(1) << k;
  }
  return true;
}

static void find_padding(tf_plan *p) {
  for (int z = 0; z < p->wl->n_tensors; z++)
    for (int r = 0; r < p->wl->tensors[z].rank; r++) {
      p->reach += p->wl->tensors[z].pad[r];
      p->cuts |= p->wl->tensors[z].pad[r] > 0 && p->wl->tensors[z].producer >= 0;
    }
  p->clips = p->reach > 0;
}

static bool add_arrays(tf_arena *a, tf_plan *p) {
  size_t ops = (size_t)p->wl->n_ops, tensors = (size_t)p->wl->n_tensors;
  p->unit = TF_ARRAY(a, int, ops);
  p->space = TF_ARRAY(a, int64_t, ops);
  p->home_level = TF_ARRAY(a, int, tensors);
  p->retained = TF_ARRAY(a, bool, tensors);
  p->loops = TF_ARRAY(a, tf_ploop, (size_t)p->n_loops + 1);
  return p->unit && p->space && p->home_level && p->retained && p->loops;
}

static bool copy_facts(tf_arena *a, tf_plan *p) {
  const tf_facts *f = p->facts = tf_facts_new(a, p->tree);
  if (!f) return false;
  p->n_loops = f->n_loops;
  p->first_loop = f->loop_from;
  p->depth = f->depth;
  p->lead = f->lead;
  p->home_scope = f->home_scope;
  p->stream_scope = f->stream_scope;
  return true;
}

tf_plan *tf_plan_new(tf_arena *a, const tf_tree *tree) {
  tf_plan *p = TF_NEW(a, tf_plan);
  if (!p) return NULL;
  p->tree = tree;
  p->arch = tree->arch;
  p->wl = tree->workload;
  if (!copy_facts(a, p) || !find_paths(a, p) || !add_arrays(a, p)) return NULL;
  if (!tf_sparse_new(a, p->arch, p->wl, &p->sparse)) return NULL;
  for (int o = 0; o < p->wl->n_ops; o++) {
    p->unit[o] = find_unit(p, o);
    p->space[o] = space_of(p, o);
  }
  find_homes(p);
  find_padding(p);
  if (!tf_range_memo_new(a, p) || (p->cuts && !tf_find_lost(a, p))) return NULL;
  for (int i = 0; i < tree->n_nodes; i++)
    for (int k = 0; tree->nodes[i].kind == TF_TILE && k < tree->nodes[i].n_loops; k++)
      if (!fill_loop(a, p, i, k)) return NULL;
  return tf_retain_plan(a, p) && tf_skips_new(a, p) && add_slices(a, p) && add_at_home(a, p) &&
                 add_streams(a, p) && tf_online_new(a, p)
             ? p
             : NULL;
}
