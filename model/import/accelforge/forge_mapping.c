/* AccelForge's mappings: a tree of loops, tensors that memories hold, splits and Einsums. */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "model/import/accelforge/forge.h"

typedef struct {
  forge *f;
  int64_t *left; /* by dim: its extent in the step at hand */
  fg_node *path[FG_PATH];
  int n, segment, room;
} walk;

static bool no_name(forge *f, const tf_ynode *node, const char *what, tf_near *near) {
  char text[160];
  return tf_fail(f->diags, node->at, TF_E_NAME, "there is no %s '%.40s'%s", what, node->text,
                 tf_near_text(near, text, sizeof text));
}

static int find_part(forge *f, const tf_ynode *node, unsigned kinds, const char *what) {
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < f->n_parts; i++) {
    if (!(kinds >> f->part[i].kind & 1)) continue;
    if (tf_ynode_is(node, f->part[i].name)) return i;
    tf_near_offer(&near, f->part[i].name);
  }
  no_name(f, node, what, &near);
  return -1;
}

static bool read_hold(forge *f, const tf_ynode *node, fg_node *to) {
  static const tf_yrow rows[] = {
      {"tensors", TF_Y_LIST, true}, {"component", TF_Y_SCALAR, true}, {"persistent", 0, false}};
  const tf_ynode *v[3];
  if (!tf_yschema_check(node, rows, 3, "a storage node", v, f->diags)) return false;
  to->what = FG_HOLD;
  to->part = find_part(f, v[1], 1u << FG_MEMORY | 1u << FG_TOLL, "memory");
  to->tensor = TF_ARRAY(f->arena, int, v[0]->n + 1);
  to->tensor_at = TF_ARRAY(f->arena, tf_loc, v[0]->n + 1);
  if (to->part < 0 || !to->tensor || !to->tensor_at) return false;
  for (size_t i = 0; i < v[0]->n; i++) {
    const tf_ynode *name = v[0]->items[i];
    int z = 0;
    if (!tf_yschema_kind(name, TF_Y_SCALAR, "a tensor", f->diags)) return false;
    tf_near near = tf_near_start(name->text, name->len);
    for (; z < f->n_tensors && !tf_ynode_is(name, f->tensor[z]); z++)
      tf_near_offer(&near, f->tensor[z]);
    if (z == f->n_tensors) return no_name(f, name, "tensor", &near);
    to->tensor_at[to->n_tensors] = name->at;
    to->tensor[to->n_tensors++] = z;
  }
  return true;
}

static bool read_loop(forge *f, const tf_ynode *node, bool spatial, fg_node *to) {
  enum { L_DIM, L_TILE, L_NAME, L_PART, L_FIRST, N_L };
  static const tf_yrow rows[N_L] = {[L_DIM] = {"rank_variable", TF_Y_SCALAR, true},
                                    [L_TILE] = {"tile_shape", TF_Y_SCALAR, true},
                                    [L_NAME] = {"name", TF_Y_SCALAR, false},
                                    [L_PART] = {"component", TF_Y_SCALAR, false},
                                    [L_FIRST] = {"initial_tile_shape", TF_Y_SCALAR, false}};
  const tf_ynode *v[N_L];
  double tile = 0;
  if (!tf_yschema_check(node, rows, N_L, "a loop", v, f->diags)) return false;
  if (v[L_FIRST])
    return tf_fail(f->diags, v[L_FIRST]->at, TF_E_KEY,
                   "here the first step is as long as the others: leave it out");
  tf_near near = tf_near_start(v[L_DIM]->text, v[L_DIM]->len);
  for (to->dim = 0; to->dim < f->n_dims; to->dim++) {
    if (tf_ynode_is(v[L_DIM], f->dims[to->dim].name)) break;
    tf_near_offer(&near, f->dims[to->dim].name);
  }
  if (to->dim == f->n_dims) return no_name(f, v[L_DIM], "rank variable", &near);
  if (!fg_number(f, v[L_TILE], "tile_shape", -1, &tile)) return false;
  if (!(tile >= 1) || tile != floor(tile) || tile > 9e15)
    return tf_fail(f->diags, v[L_TILE]->at, TF_E_RANGE, "a tile_shape is a whole number above 0");
  to->tile = (int64_t)tile;
  to->what = spatial ? FG_SPREAD : FG_FOR;
  if (!spatial) return true;
  if (!v[L_NAME] || !v[L_PART])
    return tf_fail(f->diags, node->at, TF_E_MISSING,
                   "a spatial loop needs the 'component' that it spreads over, and the 'name' of "
                   "its fanout");
  to->part = find_part(f, v[L_PART], ~0u, "component");
  if (to->part < 0) return false;
  const fg_part *c = &f->part[to->part];
  near = tf_near_start(v[L_NAME]->text, v[L_NAME]->len);
  for (to->fan = 0; to->fan < c->n_fans; to->fan++) {
    if (tf_ynode_is(v[L_NAME], c->fan[to->fan].name)) return true;
    tf_near_offer(&near, c->fan[to->fan].name);
  }
  return no_name(f, v[L_NAME], "fanout", &near);
}

static bool read_run(forge *f, const tf_ynode *node, fg_node *to) {
  static const tf_yrow rows[] = {{"einsum", TF_Y_SCALAR, true}, {"component", TF_Y_SCALAR, true}};
  const tf_ynode *v[2];
  if (!tf_yschema_check(node, rows, 2, "a compute node", v, f->diags)) return false;
  to->what = FG_RUN;
  to->part = find_part(f, v[1], 1u << FG_COMPUTE, "compute unit");
  tf_near near = tf_near_start(v[0]->text, v[0]->len);
  for (to->einsum = 0; to->einsum < f->n_einsums; to->einsum++) {
    if (tf_ynode_is(v[0], f->einsum[to->einsum].name)) break;
    tf_near_offer(&near, f->einsum[to->einsum].name);
  }
  if (to->einsum == f->n_einsums) return no_name(f, v[0], "Einsum", &near);
  if (to->part < 0) return false;
  f->part[to->part].kinds |= f->einsum[to->einsum].kinds;
  f->part[to->part].runs = true;
  return true;
}

static bool read_nodes(forge *f, const tf_ynode *list, fg_node ***tail);

static bool read_split(forge *f, const tf_ynode *node, bool pipe, fg_node *to) {
  const tf_ynode *list = fg_member(node, "nodes");
  fg_node **branch = &to->child;
  bool ok = true;
  to->what = FG_SPLIT;
  to->pipe = pipe;
  if (!list || list->kind != TF_Y_LIST || list->n < 2)
    return tf_fail(f->diags, node->at, TF_E_SHAPE, "a split has 'nodes', two or more branches");
  for (size_t i = 0; i < list->n; i++) {
    const tf_ynode *one = list->items[i], *nodes = fg_member(one, "nodes");
    const bool nested = one->tag && !strcmp(one->tag, "!Nested") && nodes;
    const tf_ynode alone = {.kind = TF_Y_LIST, .at = one->at, .n = 1, .items = &list->items[i]};
    fg_node **tail = branch;
    ok &= read_nodes(f, nested ? nodes : &alone, &tail);
    if (!*branch) return tf_fail(f->diags, one->at, TF_E_SHAPE, "this branch has no nodes");
    branch = &(*branch)->beside;
  }
  return ok;
}

/* Appends the nodes; *tail: where the next one hangs. */
static bool read_nodes(forge *f, const tf_ynode *list, fg_node ***tail) {
  static const char *const tags[] = {"!Storage", "!Toll",       "!Temporal", "!Spatial",
                                     "!Compute", "!Sequential", "!Pipeline"};
  enum { N_TAGS = 7 };
  bool ok = tf_yschema_kind(list, TF_Y_LIST, "nodes", f->diags);
  for (size_t i = 0; list->kind == TF_Y_LIST && i < list->n; i++) {
    const tf_ynode *node = list->items[i];
    const char *tag = node->tag ? node->tag : "";
    int k = 0;
    if (!tf_yschema_kind(node, TF_Y_MAP, "a node", f->diags)) return false;
    if (!strcmp(tag, "!Reservation") || !strcmp(tag, "!TextBox")) continue; /* what it prints */
    if (!strcmp(tag, "!Nested") && fg_member(node, "nodes")) {
      ok &= read_nodes(f, fg_member(node, "nodes"), tail);
      continue;
    }
    while (k < N_TAGS && strcmp(tag, tags[k]) != 0)
      k++;
    fg_node *to = TF_NEW(f->arena, fg_node);
    if (!to) return false;
    to->at = node->at;
    if (k < 2) ok &= read_hold(f, node, to);
    if (k == 2 || k == 3) ok &= read_loop(f, node, k == 3, to);
    if (k == 4) ok &= read_run(f, node, to);
    if (k == 5 || k == 6) ok &= read_split(f, node, k == 6, to);
    if (k == N_TAGS) {
      char text[160];
      tf_near near = tf_near_start(tag, strlen(tag));
      for (k = 0; k < N_TAGS; k++)
        tf_near_offer(&near, tags[k]);
      ok = tf_fail(f->diags, node->at, TF_E_KEY, "this model has no node with the tag '%.40s'%s",
                   tag, tf_near_text(&near, text, sizeof text));
    }
    **tail = to;
    *tail = &to->next;
  }
  return ok;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Steps are products of trip counts here: each loop's step is what the loops further in make. */
static bool check_steps(walk *w, const fg_node *run) {
  forge *f = w->f;
  const fg_einsum *e = &f->einsum[run->einsum];
  for (int a = 0; a < e->n; a++)
    for (int v = 0; v < e->n_vars[a]; v++) {
      const int d = e->var[a][v];
      int64_t inner = 1;
      if (w->left[d] != 1)
        return tf_fail(
            f->diags, run->at, TF_E_COVER,
            "steps of '%s' are %lld long at the Einsum '%s': a loop with tile_shape 1 is "
            "missing",
            f->dims[d].name, (long long)w->left[d], e->name);
      for (int i = w->n - 1; i >= 0; i--) {
        const fg_node *n = w->path[i];
        if ((n->what != FG_FOR && n->what != FG_SPREAD) || n->dim != d || n->trips == 1) continue;
        if (n->tile != inner)
          return tf_fail(f->diags, n->at, TF_E_COVER,
                         "steps of %lld of '%s' are cut in %lld: here a step is the product of the "
                         "trip counts further in, so that tile_shapes divide each other",
                         (long long)n->tile, f->dims[d].name, (long long)inner);
        inner *= n->trips;
      }
    }
  return true;
}

static bool add_leaf(walk *w, const fg_node *run) {
  forge *f = w->f;
  for (int i = 0; i < f->n_leaves; i++)
    if (f->leaf[i].einsum == run->einsum)
      return tf_fail(f->diags, run->at, TF_E_SHAPE, "the Einsum '%s' is computed twice",
                     f->einsum[run->einsum].name);
  fg_leaf *l = &f->leaf[f->n_leaves++];
  l->n = w->n;
  l->einsum = run->einsum;
  l->part = run->part;
  l->segment = w->segment;
  l->path = TF_ARRAY(f->arena, fg_node *, (size_t)w->n + 1);
  if (!l->path) return false;
  memcpy(l->path, w->path, (size_t)w->n * sizeof w->path[0]);
  return check_steps(w, run);
}

/* Follows the nodes to the Einsums; the node's extents are left as they were. */
static bool follow(walk *w, fg_node *n) {
  forge *f = w->f;
  if (!n)
    return tf_fail(f->diags, w->n ? w->path[w->n - 1]->at : (tf_loc){0, 0, 0, 0}, TF_E_SHAPE,
                   "a mapping ends in !Compute, or in a split: nothing stands below this node");
  if (w->n == FG_PATH)
    return tf_fail(f->diags, n->at, TF_E_LIMIT, "more than %d nodes above an Einsum", FG_PATH);
  if ((n->what == FG_RUN || n->what == FG_SPLIT) && n->next)
    return tf_fail(f->diags, n->next->at, TF_E_SHAPE, "nothing may follow %s",
                   n->what == FG_RUN ? "an Einsum" : "a split");
  if (n->what == FG_RUN) return add_leaf(w, n);
  const int segment = w->segment;
  bool ok = true;
  w->path[w->n++] = n;
  if (n->what == FG_FOR || n->what == FG_SPREAD) {
    const int64_t left = w->left[n->dim];
    n->trips = (left + n->tile - 1) / n->tile;
    if (n->tile < left) w->left[n->dim] = n->tile;
    ok = follow(w, n->next);
    w->left[n->dim] = left;
  } else if (n->what == FG_SPLIT) {
    w->segment = w->n;
    for (fg_node *b = n->child; b && ok; b = b->beside)
      ok = follow(w, b);
    w->segment = segment;
  } else {
    ok = follow(w, n->next);
  }
  w->n--;
  return ok;
}

/* Which path nodes hold the leaf's tensors, by memory; a memory holds a tensor from one place on.
 */
static bool find_held(forge *f, fg_leaf *l) {
  for (int m = 0; m < f->n_memories; m++)
    for (int a = 0; a < FG_ACCESSES; a++)
      l->held[m][a] = -1;
  for (int i = 0; i < l->n; i++) {
    const fg_node *n = l->path[i];
    const int m = n->what == FG_HOLD ? f->part[n->part].level : 0;
    for (int k = 0; n->what == FG_HOLD && k < n->n_tensors; k++) {
      const int a = fg_access_of(f, l, n->tensor[k]);
      if (a < 0 || f->part[n->part].kind != FG_MEMORY) continue;
      if (l->held[m][a] >= 0) {
        tf_fail(f->diags, n->tensor_at[k], TF_E_DUP, "'%s' holds '%s' from two places on",
                f->part[n->part].name, f->tensor[n->tensor[k]]);
        tf_note(f->diags, l->path[l->held[m][a]]->at, "held from here on");
        return false;
      }
      l->held[m][a] = i;
    }
  }
  return true;
}

/* ---- homes ----------------------------------------------------------------------------------- */

/* The innermost split on the paths of all Einsums that touch the tensor. */
static void find_scope(forge *f, int z) {
  const fg_leaf *first = NULL;
  int same = 0;
  for (int i = 0; i < f->n_leaves; i++) {
    const fg_leaf *l = &f->leaf[i];
    int n = 0;
    if (fg_access_of(f, l, z) < 0) continue;
    while (first && n < same && n < l->n && l->path[n] == first->path[n])
      n++;
    same = first ? n : l->n;
    if (!first) first = l;
  }
  for (int i = 0; first && i < same; i++)
    if (first->path[i]->what == FG_SPLIT) f->scope[z] = first->path[i];
}

static bool find_home(forge *f, int z) {
  bool made = false, read = false;
  int least = FG_MEMORIES;
  const fg_leaf *lacks = NULL, *any = NULL;
  for (int i = 0; i < f->n_leaves; i++) {
    const fg_leaf *l = &f->leaf[i];
    const int a = fg_access_of(f, l, z);
    if (a < 0) continue;
    const bool makes = f->einsum[l->einsum].outputs >> a & 1;
    made |= makes;
    read |= !makes;
    any = l;
    if (fg_held(f, l, 0, z) < 0) lacks = l;
    for (int m = f->n_memories - 1; m >= 0; m--)
      if (fg_held(f, l, m, z) >= 0 && m < least) least = m;
  }
  f->home[z] = made && read ? least : -1;
  if (!any) return true;
  if (f->home[z] < 0 && lacks)
    return tf_fail(f->diags, lacks->path[lacks->n - 1]->at, TF_E_LEVEL,
                   "the outermost memory '%s' does not hold '%s' of the Einsum '%s': inputs and "
                   "outputs live there",
                   f->part[f->memory[0]].name, f->tensor[z], f->einsum[lacks->einsum].name);
  if (f->home[z] == FG_MEMORIES)
    return tf_fail(f->diags, any->path[any->n - 1]->at, TF_E_KEEP, "no memory holds '%s'",
                   f->tensor[z]);
  find_scope(f, z);
  return true;
}

/* Tolls charge all tensors of an Einsum: nodes that leave one out would not. */
static bool check_tolls(forge *f) {
  for (int i = 0; i < f->n_leaves; i++)
    for (int p = 0; p < f->n_parts; p++)
      for (int a = 0; f->part[p].kind == FG_TOLL && a < f->einsum[f->leaf[i].einsum].n; a++) {
        const fg_leaf *l = &f->leaf[i];
        bool paid = false;
        for (int k = 0; k < l->n; k++)
          for (int t = 0; l->path[k]->what == FG_HOLD && t < l->path[k]->n_tensors; t++)
            paid |=
                l->path[k]->part == p && l->path[k]->tensor[t] == f->einsum[l->einsum].tensor[a];
        if (!paid)
          return tf_fail(f->diags, l->path[l->n - 1]->at, TF_E_KEY,
                         "'%s' of the Einsum '%s' passes the toll '%s' by: here all tensors pay it",
                         f->tensor[f->einsum[l->einsum].tensor[a]], f->einsum[l->einsum].name,
                         f->part[p].name);
      }
  return true;
}

bool fg_read_mapping(forge *f, const tf_ynode *node) {
  static const tf_yrow rows[] = {{"nodes", TF_Y_LIST, true}};
  const tf_ynode *v[1];
  if (!f->has_workload || !f->has_arch)
    return tf_fail(f->diags, node->at, TF_E_MISSING,
                   "a mapping is read beside what it maps: give the file of the %s, too",
                   f->has_workload ? "architecture" : "workload");
  if (!tf_yschema_kind(node, TF_Y_MAP, "a mapping of AccelForge", f->diags) ||
      !tf_yschema_check(node, rows, 1, "a mapping of AccelForge", v, f->diags))
    return false;
  fg_node **tail = &f->root;
  walk w = {.f = f, .left = TF_ARRAY(f->arena, int64_t, (size_t)f->n_dims + 1)};
  f->leaf = TF_ARRAY(f->arena, fg_leaf, (size_t)f->n_einsums + 1);
  f->home = TF_ARRAY(f->arena, int, (size_t)f->n_tensors + 1);
  f->scope = TF_ARRAY(f->arena, fg_node *, (size_t)f->n_tensors + 1);
  if (!w.left || !f->leaf || !f->home || !f->scope || !read_nodes(f, v[0], &tail)) return false;
  if (!f->root) return tf_fail(f->diags, v[0]->at, TF_E_SHAPE, "a mapping has nodes");
  for (int d = 0; d < f->n_dims; d++)
    w.left[d] = f->dims[d].extent ? f->dims[d].extent : 1;
  if (!follow(&w, f->root)) return false;
  for (int e = 0; e < f->n_einsums; e++) {
    bool there = false;
    for (int i = 0; i < f->n_leaves; i++)
      there |= f->leaf[i].einsum == e;
    if (!there)
      return tf_fail(f->diags, node->at, TF_E_SHAPE, "the Einsum '%s' is not mapped",
                     f->einsum[e].name);
  }
  for (int i = 0; i < f->n_leaves; i++)
    if (!find_held(f, &f->leaf[i])) return false;
  for (int z = 0; z < f->n_tensors; z++)
    if (!find_home(f, z)) return false;
  return check_tolls(f) && fg_place(f);
}
