/* Analyses a shape's tree: which loop implements which choice, and at which stage each node is
 * closed. */
#include <stdlib.h>
#include <string.h>

#include "search/exact/exact.h"
#include "search/space/build.h"

/* ---- Tiles ----------------------------------------------------------------------------------- */
static int slot_of(const tf_facts *f, int op, int dim) {
  int o = op < 0 ? f->wl->topo[f->wl->n_ops - 1] : op;
  return f->dim_from[o] + tf_dim_slot(f, o, dim);
}

static int dim_at(const tf_x_tile *t, int dim) {
  for (int i = 0; i < t->n_dims; i++)
    if (t->dims[i] == dim) return i;
  return -1;
}

/* Finds the loops where tf_x_tree put them: dims outside the order, places of the sequence, spatial
 * loops. */
static void place_loops(const tf_x_template *t, tf_x_tile *x) {
  const tf_node *node = &t->tree->nodes[x->node];
  int next = 0, loop = x->first_loop;
  for (int i = 0; i < x->n_dims; i++)
    x->outer[i] = x->last || x->group[i] < 0 ? loop + next++ : -1;
  for (int p = 0; p < x->n_places; p++)
    for (int i = 0; i < x->n_dims; i++)
      x->temporal[p][i] = x->group[i] == x->place[p] ? loop + next++ : -1;
  for (; next < node->n_loops; next++) {
    const tf_loop *l = &node->loops[next];
    x->spatial[l->axis == TF_SPATIAL_Y][dim_at(x, l->dim)] = loop + next;
    x->mesh[l->axis == TF_SPATIAL_Y] = tf_space_mesh(t->facts, x->node, l->axis);
  }
}

/* The op that Tile node n belongs to; -1 if several ops are below it. */
static int only_op(const tf_facts *f, int n) {
  return f->leaf_end[n] - f->leaf_from[n] == 1 ? f->leaf_op[f->leaf_from[n]] : -1;
}

static void add_tile(tf_x_template *t, int n) {
  tf_x_tile *x = &t->tiles[t->n_tiles++];
  const tf_workload *wl = t->facts->wl;
  *x = (tf_x_tile){.node = n,
                   .level = t->tree->nodes[n].level,
                   .op = only_op(t->facts, n),
                   .first_loop = t->facts->loop_from[n],
                   .n_loops = t->tree->nodes[n].n_loops,
                   .mesh = {1, 1}};
  x->last = x->op >= 0 && t->tree->nodes[t->tree->nodes[n].children[0]].kind == TF_OP;
  x->n_dims =
      tf_x_dims(wl, x->op, tf_x_skips(t->facts->arch, wl, &t->shape, x->op, x->level), x->dims);
  memset(x->spatial, -1, sizeof x->spatial);
  x->n_groups = tf_x_groups(wl, x->op, x->dims, x->n_dims, x->group);
  x->n_places = x->last ? 0 : tf_x_sequence(x->n_groups, x->place);
  for (int i = 0; i < x->n_dims; i++)
    x->slot[i] = slot_of(t->facts, x->op, x->dims[i]);
  place_loops(t, x);
}

static void find_rest(tf_x_template *t, const tf_x_tile *x) {
  const tf_op *op = &t->facts->wl->ops[x->op];
  for (int i = 0; i < op->n_dims; i++) {
    int k = dim_at(x, op->dims[i]);
    t->rest[x->op][i] = k < 0 ? -1 : x->outer[k];
  }
}

/* Whether the Tile has a choice: the last Tile of a path takes all that is left, so it can only be
 * spread. */
static bool has_choice(const tf_x_tile *x) { return !x->last || x->mesh[0] > 1 || x->mesh[1] > 1; }

/* Whether an op has memories of its own further in than that of its first own Tile. */
static bool has_inner_memories(const tf_x_template *t, int o) {
  for (int i = t->n_shared; i < t->n_tiles; i++)
    if (t->tiles[i].op == o) {
      int n = t->tree->nodes[t->tiles[i].node].children[0];
      return t->tree->nodes[n].kind == TF_TILE;
    }
  return false;
}

/* Chooses ops first that have memories of their own further in, in their order: the other ops
 * cannot find what these leave in such memories.  The choices of the other ops are equivalent where
 * they do not limit the time, so that the first one is enough. */
static void order_ops(tf_x_template *t) {
  tf_x_tile sorted[TF_X_TILES + 2];
  bool deep[TF_X_OPS];
  int n = t->n_shared;
  for (int o = 0; o < t->facts->wl->n_ops; o++)
    deep[o] = has_inner_memories(t, o);
  for (int round = 1; round >= 0; round--)
    for (int i = t->n_shared; i < t->n_tiles; i++)
      if (deep[t->tiles[i].op] == (bool)round) sorted[n++] = t->tiles[i];
  for (int i = t->n_shared; i < t->n_tiles; i++)
    t->tiles[i] = sorted[i];
}

/* Shared Tiles first, in preorder, then those of the ops. */
static void add_tiles(tf_x_template *t) {
  for (int n = 0; n < t->tree->n_nodes; n++) {
    if (t->tree->nodes[n].kind != TF_TILE) continue;
    add_tile(t, n);
    tf_x_tile *x = &t->tiles[t->n_tiles - 1];
    if (x->last) find_rest(t, x);
    if (x->op < 0) t->n_shared = t->n_tiles;
    if (!has_choice(x)) t->n_tiles--;
  }
  order_ops(t);
  for (int o = 0; o < t->facts->wl->n_ops; o++)
    for (int i = 0; i < t->n_tiles; i++)
      if (t->tiles[i].op == o || t->tiles[i].op < 0) t->path[o][t->n_paths[o]++] = i;
}

/* ---- stages at which nodes are closed ------------------------------------------------------- */
/* The topmost node on op o's path that is open once Tiles 0 .. s, and Tile `too`, are chosen; -1:
 * none. */
static int first_open(const tf_x_template *t, int o, int s, int too) {
  const tf_node *nodes = t->tree->nodes;
  for (int k = 0; k < t->n_paths[o]; k++)
    if (t->path[o][k] > s && t->path[o][k] != too) {
      const tf_x_tile *x = &t->tiles[t->path[o][k]];
      /* the moments at which words enter it are decided already */
      bool enters = x->op < 0 || k > t->n_shared || t->shape.keep;
      return enters ? nodes[x->node].children[0] : x->node;
    }
  return -1;
}

static void mark_open(const tf_x_template *t, int s, int too, bool *open) {
  for (int o = 0; o < t->facts->wl->n_ops; o++) {
    int from = first_open(t, o, s, too);
    for (int n = from; n >= 0 && n < t->tree->nodes[from].end; n++)
      open[n] = true;
  }
}

/* Whether no Tile of the memory is open, nor a scope that keeps a tensor there: then its peak is
 * known. */
static bool nothing_open_at(const tf_x_template *t, const bool *open, int level) {
  for (int n = 0; n < t->tree->n_nodes; n++)
    if (open[n] && t->tree->nodes[n].kind == TF_TILE && t->tree->nodes[n].level == level)
      return false;
  for (int z = 0; z < t->facts->wl->n_tensors; z++) {
    int scope = tf_tree_home_scope(t->tree, z);
    if (scope >= 0 && tf_tree_home(t->tree, z) == level && open[scope]) return false;
  }
  return true;
}

/* Whether two ops that share Tiles read the same input.  One may reuse what the other left, if both
 * lay it out alike, so that its counts depend on the choices of the other. */
static bool share_inputs(const tf_x_template *t) {
  for (int z = 0; z < t->facts->wl->n_tensors; z++)
    if (t->facts->wl->tensors[z].producer < 0 && t->facts->wl->tensors[z].n_consumers > 1)
      return true;
  return false;
}

static bool set_stages(tf_x_template *t) {
  size_t nodes = (size_t)t->tree->n_nodes, levels = (size_t)t->facts->arch->n_memories;
  t->open_below_shared = TF_ARRAY(t->arena, bool, nodes);
  if (!t->open_below_shared) return false;
  mark_open(t, t->n_shared - 1, -1, t->open_below_shared);
  t->masked = tf_workload_masked(t->facts->wl);
  t->separable = !share_inputs(t);
  for (int s = 0; s < t->n_tiles; s++) {
    tf_x_tile *x = &t->tiles[s];
    x->open = TF_ARRAY(t->arena, bool, nodes);
    x->settled = TF_ARRAY(t->arena, bool, levels);
    bool first = x->op >= 0 && t->path[x->op][t->n_shared] == s;
    x->open_alone = first ? TF_ARRAY(t->arena, bool, nodes) : NULL;
    if (!x->open || !x->settled || (first && !x->open_alone)) return false;
    if (first) mark_open(t, t->n_shared - 1, s, x->open_alone);
    mark_open(t, s, -1, x->open);
    for (size_t l = 0; l < levels; l++)
      x->settled[l] = nothing_open_at(t, x->open, (int)l);
    x->complete = s == t->n_tiles - 1;
    x->bounds = x->op < 0 || t->separable || x->complete;
  }
  return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */
static bool within_limits(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  int dims[TF_X_DIMS];
  bool ok = wl->n_ops <= TF_X_OPS && wl->n_tensors <= 64 && wl->n_dims <= 256 &&
            wl->n_ops * arch->n_memories < TF_X_TILES && arch->n_memories <= 16 &&
            arch->n_units <= 64;
  for (int o = 0; o < wl->n_ops && ok; o++)
    ok = tf_x_dims(wl, o, 0, dims) >= 0;
  for (int i = 0; i < wl->n_dims && ok; i++)
    ok = wl->dims[i].extent <= TF_X_EXTENT;
  return ok || tf_fail(d, wl->at, TF_E_LIMIT,
                       "too large to solve: more than %d ops, %d dims of an op, 16 memories or an "
                       "extent past %d",
                       TF_X_OPS, TF_X_DIMS, TF_X_EXTENT);
}

tf_x_template *tf_x_template_new(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s,
                                 tf_diags *d) {
  if (!within_limits(arch, wl, d)) return NULL;
  tf_tree *tree = tf_x_tree(arch, wl, s);
  if (!tree) return NULL;
  tf_arena *a = tf_arena_new();
  tf_x_template *t = a ? TF_NEW(a, tf_x_template) : NULL;
  if (t) {
    t->arena = a;
    t->shape = *s;
    t->tree = tree;
    t->facts = tf_facts_new(a, tree);
    t->tiles = TF_ARRAY(a, tf_x_tile, TF_X_TILES + 2);
    memset(t->rest, -1, sizeof t->rest);
  }
  if (t && t->facts && t->tiles) {
    t->n_loops = t->facts->n_loops;
    add_tiles(t);
    if (set_stages(t)) return t;
  }
  tf_tree_free(tree);
  tf_arena_free(a);
  tf_out_of_memory_at(d, wl->at);
  return NULL;
}

void tf_x_template_free(tf_x_template *t) {
  if (!t) return;
  tf_tree_free(t->tree);
  tf_arena_free(t->arena);
}
