/* Rules on where nodes and lists may be: order, levels, units, bypass, retain, homes. */
#include "model/input/dims.h"
#include "model/tree/check.h"

/* ---- order -------------------------------------------------------------------------- */
/* Op o produces what op reader reads; both have leaves. */
static bool check_pair(const tf_checker *c, int o, int reader) {
  const tf_tree *t = c->f->tree;
  int scope = tf_tree_common(t, t->op_node[o], t->op_node[reader]);
  if (scope < 0 || t->nodes[scope].kind != TF_SCOPE) return true;
  const tf_node *s = &t->nodes[scope];
  int from = t->nodes[tf_child_towards(c->f, scope, t->op_node[o])].child_no;
  int to = t->nodes[tf_child_towards(c->f, scope, t->op_node[reader])].child_no;
  bool beside = !tf_scope_at(s->scope)->feeds;
  if (!beside && from < to) return true;
  const char *z = tf_tensor_name(c, c->f->wl->ops[o].out);
  if (beside)
    tf_fail(c->diags, tf_leaf(c, reader)->at, TF_E_ORDER,
            "op '%.50s' reads '%.50s', which another child of the same Para makes: use Pipe (or "
            "Seq, Shar) there",
            tf_op_name(c, reader), z);
  else
    tf_fail(c->diags, tf_leaf(c, reader)->at, TF_E_ORDER,
            "op '%.50s' reads '%.50s' before it is made: move the branch that makes it in front",
            tf_op_name(c, reader), z);
  tf_note(c->diags, tf_leaf(c, o)->at, "'%.60s' is made here", z);
  tf_note(c->diags, s->at, "the scope that runs both");
  return false;
}

bool tf_check_order(const tf_checker *c) {
  const tf_workload *wl = c->f->wl;
  bool ok = true;
  for (int z = 0; z < wl->n_tensors; z++) {
    int o = wl->tensors[z].producer;
    if (o < 0 || c->f->tree->op_node[o] < 0) continue;
    for (int i = 0; i < wl->tensors[z].n_consumers; i++) {
      int reader = wl->tensors[z].consumers[i];
      if (c->f->tree->op_node[reader] >= 0) ok &= check_pair(c, o, reader);
    }
  }
  return ok;
}

/* ---- levels ------------------------------------------------------------------------- */
static int tile_above(const tf_tree *t, int n) {
  do
    n = t->nodes[n].parent;
  while (n >= 0 && (t->nodes[n].kind != TF_TILE || t->nodes[n].level < 0));
  return n;
}

static void check_level(const tf_checker *c, int i) {
  const tf_tree *t = c->f->tree;
  int up = tile_above(t, i);
  if (up < 0 || t->nodes[up].level <= t->nodes[i].level) return;
  tf_fail(c->diags, t->nodes[i].at, TF_E_LEVEL,
          "'%.60s' below '%.60s': levels never rise on the way down",
          tf_level_name(c, t->nodes[i].level), tf_level_name(c, t->nodes[up].level));
  tf_note(c->diags, t->nodes[up].at, "the Tile above");
}

/* The Tile of the innermost level above node n, the first of several; -1 if there is none. */
static int deepest_tile(const tf_tree *t, int n) {
  int found = -1;
  for (n = tile_above(t, n); n >= 0; n = tile_above(t, n))
    if (found < 0 || t->nodes[n].level >= t->nodes[found].level) found = n;
  return found;
}

/* Some unit must list what the op needs, and stand at or below every Tile of its path. */
static void check_unit(const tf_checker *c, int o) {
  const tf_arch *a = c->f->arch;
  const tf_tree *t = c->f->tree;
  int tile = deepest_tile(t, t->op_node[o]), best = -1;
  for (int u = 0; u < a->n_units; u++) {
    if (c->f->wl->ops[o].kinds & ~a->units[u].kinds) continue;
    if (tile < 0 || a->units[u].below >= t->nodes[tile].level) return;
    if (best < 0 || a->units[u].below > a->units[best].below) best = u;
  }
  if (best < 0) {
    tf_fail(c->diags, tf_leaf(c, o)->at, TF_E_UNITKIND, "no compute unit runs op '%.60s'",
            tf_op_name(c, o));
    return;
  }
  tf_fail(c->diags, tf_leaf(c, o)->at, TF_E_LEVEL,
          "op '%.50s' runs on '%.50s', which stands below '%.50s': no Tile of '%.50s' may stand "
          "above it",
          tf_op_name(c, o), a->units[best].name, tf_level_name(c, a->units[best].below),
          tf_level_name(c, t->nodes[tile].level));
  tf_note(c->diags, t->nodes[tile].at, "the Tile that is too far in");
}

void tf_check_levels(const tf_checker *c) {
  const tf_tree *t = c->f->tree;
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].kind == TF_TILE && t->nodes[i].level >= 0) check_level(c, i);
  for (int o = 0; o < c->f->wl->n_ops; o++)
    if (t->op_node[o] >= 0) check_unit(c, o);
}

/* ---- bypass, retain ----------------------------------------------------------------- */
static void check_bypass(const tf_checker *c, int i) {
  const tf_tree *t = c->f->tree;
  const tf_node *n = &t->nodes[i];
  int up = tile_above(t, i);
  bool second = up >= 0 && t->nodes[up].level == n->level;
  for (int k = 0; k < n->n_bypass; k++) {
    const char *name = tf_tensor_name(c, n->bypass[k].tensor);
    if (second) {
      tf_fail(c->diags, n->bypass[k].at, TF_E_BYPASS,
              "bypass of '%.60s' stands on the first Tile of '%.60s' on the path: move it there",
              name, tf_level_name(c, n->level));
      tf_note(c->diags, t->nodes[up].at, "a Tile of that level further out");
    } else if (n->level == 0) {
      tf_fail(c->diags, n->bypass[k].at, TF_E_BYPASS,
              c->f->home_scope[n->bypass[k].tensor] < 0
                  ? "'%.60s' cannot bypass '%.60s': inputs and outputs live in the outermost "
                    "memory, and nothing lies further out"
                  : "'%.60s' cannot bypass '%.60s', the outermost memory: 'keep' on its scope "
                    "names a memory further in to live in",
              name, tf_level_name(c, 0));
    } else if (!tf_node_touches(c->f, i, n->bypass[k].tensor)) {
      tf_fail(c->diags, n->bypass[k].at, TF_E_BYPASS,
              "no op below touches '%.60s': leave it out of the bypass", name);
    }
  }
}

static void check_retain(const tf_checker *c, int i) {
  const tf_node *n = &c->f->tree->nodes[i];
  for (int k = 0; k < n->n_retain; k++) {
    int z = n->retain[k].tensor, home = c->f->home_scope[z];
    if (home == i) continue;
    tf_fail(
        c->diags, n->retain[k].at, TF_E_RETAIN,
        home < 0
            ? "'%.60s' is no intermediate: only what one op makes and another reads can be retained"
            : "this scope is not the home of '%.60s': retain it there",
        tf_tensor_name(c, z));
    if (home >= 0) tf_note(c->diags, c->f->tree->nodes[home].at, "its home scope");
  }
}

void tf_check_lists(const tf_checker *c) {
  const tf_tree *t = c->f->tree;
  for (int i = 0; i < t->n_nodes; i++) {
    if (t->nodes[i].kind == TF_TILE) check_bypass(c, i);
    if (t->nodes[i].kind == TF_SCOPE) check_retain(c, i);
  }
}

/* ---- homes -------------------------------------------------------------------------- */
/* Each op that touches an input or output which lives further in must find an instance of that
 * memory that holds it, and no instance may be left with a part of a sum (docs/SEMANTICS.md section
 * 2). */

/* The first Tile of the level on the path to op o's leaf; -1 if there is none. */
static int first_tile(const tf_tree *t, int o, int level) {
  int found = -1;
  for (int n = t->op_node[o]; n >= 0; n = t->nodes[n].parent)
    if (t->nodes[n].kind == TF_TILE && t->nodes[n].level == level) found = n;
  return found;
}

static void check_passes(const tf_checker *c, int tile, int z) {
  const tf_node *n = &c->f->tree->nodes[tile];
  for (int k = 0; k < n->n_bypass; k++)
    if (n->bypass[k].tensor == z)
      tf_fail(c->diags, n->bypass[k].at, TF_E_BYPASS,
              "'%.60s' cannot bypass '%.60s': it lives there, as 'home' says", tf_tensor_name(c, z),
              tf_level_name(c, n->level));
}

/* Spatial loops above the Tile give parts of what the op reduces to different instances. */
static void check_sums(const tf_checker *c, int tile, int o) {
  const tf_facts *f = c->f;
  for (int n = f->tree->nodes[tile].parent; n >= 0; n = f->tree->nodes[n].parent) {
    const tf_node *t = &f->tree->nodes[n];
    for (int k = 0; t->kind == TF_TILE && k < t->n_loops; k++) {
      const tf_loop *l = &t->loops[k];
      const int slot = tf_dim_slot(f, o, l->dim);
      if (l->axis == TF_TEMPORAL || tf_loop_trivial(l) || slot < 0 || !tf_slot_reduced(f, o, slot))
        continue;
      tf_fail(c->diags, l->at, TF_E_LOOP,
              "'%.50s' spreads sums of '%.50s' over instances of '%.50s', where it lives: none "
              "would hold the whole; take it out of 'home', or spread a dim of it",
              tf_dim_name(c, l->dim), tf_tensor_name(c, f->wl->ops[o].out),
              tf_level_name(c, f->tree->nodes[tile].level));
      c->loop_reported[f->loop_from[n] + k] = true;
    }
  }
}

static void check_op(const tf_checker *c, int o, int z, int level) {
  const int tile = first_tile(c->f->tree, o, level);
  if (tile < 0) {
    tf_fail(c->diags, tf_leaf(c, o)->at, TF_E_LEVEL,
            "op '%.50s' needs a Tile of '%.50s' above it: '%.50s' lives there, as 'home' says",
            tf_op_name(c, o), tf_level_name(c, level), tf_tensor_name(c, z));
    return;
  }
  check_passes(c, tile, z);
  if (c->f->wl->ops[o].out == z) check_sums(c, tile, o);
}

void tf_check_homes(const tf_checker *c) {
  const tf_workload *wl = c->f->wl;
  for (int z = 0; z < wl->n_tensors; z++) {
    const bool outer = wl->tensors[z].producer < 0 || wl->tensors[z].n_consumers == 0;
    const int level = outer ? tf_arch_home(c->f->arch, &wl->tensors[z]) : 0;
    for (int o = 0; o < wl->n_ops && level > 0; o++)
      if (tf_op_touches(&wl->ops[o], z) && c->f->tree->op_node[o] >= 0) check_op(c, o, z, level);
  }
}
