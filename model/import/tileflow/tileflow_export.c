/* A fused workload and its tree as TileFlow reads them (meaning: docs/HOWTO-import.md). */
#include <inttypes.h>
#include <string.h>

#include "model/import/tileflow/tileflow.h"
#include "model/input/masked.h"

/* ---- problem ------------------------------------------------------------------------ */
static void write_names(const ex_case *x, bool outs, tf_page *p) {
  const char *sep = outs ? "    outs: " : "    ins: ";
  for (int z = 0; z < x->wl->n_tensors; z++) {
    const tf_tensor *t = &x->wl->tensors[z];
    if (outs ? t->producer < 0 || t->n_consumers : t->producer >= 0) continue;
    tf_page_add(p, "%s%s", sep, t->name);
    sep = " ";
  }
  tf_page_add(p, "\n");
}

static bool write_op(ex_case *x, const tf_op *op, tf_page *p) {
  const tf_workload *wl = x->wl;
  bool ok = true;
  tf_page_add(p, "  - name: %s\n    dimensions: [", op->name);
  for (int d = 0; d < op->n_dims; d++)
    tf_page_add(p, "%s%s", d ? "," : "", wl->dims[op->dims[d]].name);
  tf_page_add(p, "]\n    data-spaces:\n    - name: %s\n      projection:%s\n",
              wl->tensors[op->out].name, op->n_out_dims ? "" : " []");
  for (int r = 0; r < op->n_out_dims; r++)
    tf_page_add(p, "      - [[%s]]\n", wl->dims[op->dims[r]].name);
  tf_page_add(p, "      read-write: True\n");
  for (int i = 0; i < op->n_reads; i++) {
    const tf_tensor *t = &wl->tensors[op->reads[i].tensor];
    for (int k = 0; k < i; k++)
      if (op->reads[k].tensor == op->reads[i].tensor)
        ok = tf_fail(x->diags, op->reads[i].at, TF_E_DUP,
                     "'%.60s' is read twice: a data space of TileFlow is read once", t->name);
    tf_page_add(p, "    - name: %s\n", t->name);
    ok &= ex_projection(x, t, &op->reads[i], "      ", p);
  }
  ex_coefficients(x, op, "    ", p);
  tf_page_add(p, "    ins: ");
  for (int i = 0; i < op->n_reads; i++)
    tf_page_add(p, "%s%s", i ? ", " : "", wl->tensors[op->reads[i].tensor].name);
  tf_page_add(p, "\n    out: %s\n", wl->tensors[op->out].name);
  return ok;
}

static bool write_problem(ex_case *x, tf_page *p) {
  const tf_workload *wl = x->wl;
  bool ok = true;
  tf_page_add(
      p,
      "# Written by tileflow export: workload %s.  TileFlow counts every point of every op alike.\n"
      "problem:\n  io:\n",
      wl->name);
  write_names(x, false, p);
  write_names(x, true, p);
  tf_page_add(p, "  dimensions: [");
  for (int d = 0; d < wl->n_dims; d++)
    tf_page_add(p, "%s%s", d ? "," : "", wl->dims[d].name);
  tf_page_add(p, "]\n  instance:\n");
  for (int d = 0; d < wl->n_dims; d++)
    tf_page_add(p, "    %s: %" PRId64 "\n", wl->dims[d].name, wl->dims[d].extent);
  tf_page_add(p, "  ops:\n");
  for (int i = 0; i < wl->n_ops; i++)
    ok &= write_op(x, &wl->ops[i], p);
  return ok;
}

/* ---- mapping ------------------------------------------------------------------------ */
static bool check_dims(ex_case *x) {
  bool ok = true;
  for (int d = 0; d < x->wl->n_dims; d++)
    if (strlen(x->wl->dims[d].name) != 1)
      ok = tf_fail(x->diags, x->wl->dims[d].at, TF_E_NAME,
                   "dim '%.60s': TileFlow's permutations take names of one letter",
                   x->wl->dims[d].name);
  return ok;
}

/* The Tile above a node, and its level; -1: none. */
static int tile_above(const tf_tree *t, int node) {
  int up = t->nodes[node].parent;
  while (up >= 0 && t->nodes[up].kind != TF_TILE)
    up = t->nodes[up].parent;
  return up;
}

static int level_above(const tf_tree *t, int node) {
  int up = tile_above(t, node);
  return up < 0 ? -1 : t->nodes[up].level;
}

static int n_spatial(const tf_node *n) { return n->n_loops - n->n_temporal; }

/* An intermediate lives in the first Tile below its scope that does not bypass it. */
static bool passes(const ex_case *x, const tf_node *n, int i, int z) {
  int scope = tf_tree_home_scope(x->tree, z);
  if (scope < 0 || i <= scope || i >= x->tree->nodes[scope].end) return false;
  const tf_workload *wl = x->wl;
  bool touches = false;
  for (int o = 0; o < wl->n_ops; o++) {
    int leaf = x->tree->op_node[o];
    bool below = leaf > i && leaf < n->end, reads = wl->ops[o].out == z;
    for (int r = 0; r < wl->ops[o].n_reads; r++)
      reads |= wl->ops[o].reads[r].tensor == z;
    touches |= below && reads;
  }
  return touches && n->level < tf_tree_home(x->tree, z);
}

/* A memory where an intermediate lives, and which an op passes by. */
static bool check_passed(ex_case *x, int z, int scope, int home) {
  bool ok = true;
  for (int i = scope + 1; i < x->tree->nodes[scope].end; i++)
    for (int k = 0; k < x->tree->nodes[i].n_bypass; k++)
      if (x->tree->nodes[i].level == home && x->tree->nodes[i].bypass[k].tensor == z)
        ok = tf_fail(x->diags, x->tree->nodes[i].bypass[k].at, TF_E_BYPASS,
                     "'%.60s' lives in '%.60s': TileFlow keeps it in the first Tile that does not "
                     "bypass it; leave the bypass out",
                     x->wl->tensors[z].name, x->arch->memories[home].name);
  return ok;
}

static bool check_home(ex_case *x, int z) {
  int scope = tf_tree_home_scope(x->tree, z), home = tf_tree_home(x->tree, z);
  if (scope < 0) return true;
  if (!check_passed(x, z, scope, home)) return false;
  for (int i = scope + 1; i < x->tree->nodes[scope].end; i++) {
    const tf_node *n = &x->tree->nodes[i];
    bool first = n->kind != TF_SCOPE && tile_above(x->tree, i) < scope;
    int level = n->kind == TF_TILE ? n->level : ex_n_memories(x);
    if (!first || level <= home) continue;
    return tf_fail(x->diags, n->at, TF_E_KEEP,
                   "'%.60s' lives in '%.60s', above this Tile: TileFlow keeps it below its scope",
                   x->wl->tensors[z].name, x->arch->memories[home].name);
  }
  return true;
}

/* A nest of TileFlow has each dim once. */
static bool check_dup(ex_case *x, const tf_node *n, int k) {
  for (int i = k < n->n_temporal ? 0 : n->n_temporal; i < k; i++)
    if (n->loops[i].dim == n->loops[k].dim)
      return tf_fail(x->diags, n->loops[k].at, TF_E_DUP,
                     "a second %s loop of '%s' in one Tile: TileFlow has one",
                     k < n->n_temporal ? "temporal" : "spatial", x->wl->dims[n->loops[k].dim].name);
  return true;
}

/* An open trip count has no bounds, and each dim stands once. */
static bool check_loops(ex_case *x, const tf_node *n) {
  bool ok = true;
  for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++) {
    ok &= check_dup(x, n, k);
    if (n->loops[k].trip == 0 && (n->loops[k].max || n->loops[k].n_choices))
      ok = tf_fail(x->diags, n->loops[k].at, TF_E_OPEN,
                   "a bounded open trip count: TileFlow's have no bounds");
  }
  return ok;
}

/* Steps that a mask leaves nothing of move no words here. */
static bool check_mask(ex_case *x) {
  tf_arena *arena = tf_arena_new();
  tf_mask m;
  const bool any = arena && tf_mask_find(x->wl, arena, &m);
  const bool starved = !arena || tf_arena_failed(arena);
  tf_arena_free(arena);
  if (starved) return tf_out_of_memory(x->diags);
  return !any || tf_fail(x->diags, x->wl->ops[m.op].at, TF_E_UNITKIND,
                         "op '%.60s' is a mask, and what it leaves nothing of is left out: "
                         "TileFlow counts every point",
                         x->wl->ops[m.op].name);
}

static bool check_tree(ex_case *x) {
  bool ok = check_dims(x);
  ok &= check_mask(x);
  for (int i = 0; i < x->tree->n_nodes; i++) {
    const tf_node *n = &x->tree->nodes[i];
    if (n->kind == TF_SCOPE && n->scope_open)
      ok = tf_fail(x->diags, n->at, TF_E_OPEN, "an open scope: search completes the mapping");
    if (n->kind == TF_TILE && n->order_open && n->n_temporal > 1)
      ok = tf_fail(x->diags, n->at, TF_E_OPEN, "an open loop order: search completes the mapping");
    for (int k = 0; n->kind == TF_SCOPE && k < n->n_retain; k++)
      ok = tf_fail(x->diags, n->retain[k].at, TF_E_RETAIN,
                   "TileFlow retains nothing between iterations");
    for (int k = 0; n->kind == TF_SCOPE && k < n->n_stream; k++)
      ok = tf_fail(x->diags, n->stream[k].at, TF_E_STREAM, "TileFlow streams no reduction");
    ok &= check_loops(x, n);
  }
  for (int z = 0; z < x->wl->n_tensors && ok; z++)
    ok &= check_home(x, z);
  return ok;
}

static void put_factors(const ex_case *x, const tf_loop *l, int n, int in, tf_page *p) {
  tf_page_add(p, "%*sfactors:", in, "");
  for (int i = 0; i < n; i++) {
    tf_page_add(p, " %s=", x->wl->dims[l[i].dim].name);
    if (l[i].trip)
      tf_page_add(p, "%" PRId64, l[i].trip);
    else
      tf_page_add(p, "?");
  }
  if (n == 0) tf_page_add(p, " %s=1", x->wl->dims[0].name);
  tf_page_add(p, "\n%*spermutation: ", in, "");
  if (n == 0) tf_page_add(p, "%s", x->wl->dims[0].name);
  ex_permutation(x, l, n, NULL, 0, p);
  tf_page_add(p, "\n");
}

static void put_bypass(const ex_case *x, const tf_node *n, int i, int in, tf_page *p) {
  const char *sep = "bypass: [";
  for (int z = 0; z < x->wl->n_tensors; z++) {
    bool by = passes(x, n, i, z);
    for (int k = 0; k < n->n_bypass; k++)
      by |= n->bypass[k].tensor == z;
    if (!by) continue;
    if (sep[0] == 'b') tf_page_add(p, "%*s", in, "");
    tf_page_add(p, "%s%s", sep, x->wl->tensors[z].name);
    sep = ", ";
  }
  if (sep[0] == ',') tf_page_add(p, "]\n");
}

static void open_node(const char *what, int in, bool first, tf_page *p) {
  tf_page_add(p, "%*s%snode-type: %s\n", in - (first ? 0 : 2), "", first ? "" : "- ", what);
}

static void put_tree(ex_case *x, int i, int in, bool first, tf_page *p);

static void put_children(ex_case *x, const tf_node *n, int in, tf_page *p) {
  if (!n->n_children) return;
  tf_page_add(p, "%*ssubtree:\n", in, "");
  for (int c = 0; c < n->n_children; c++)
    put_tree(x, n->children[c], in, false, p);
}

/* Temporal loops, then spatial ones in a tile of their own below. */
static void put_tile(ex_case *x, int i, int in, bool first, tf_page *p) {
  const tf_node *n = &x->tree->nodes[i];
  const char *target = x->arch->memories[n->level].name;
  tf_loop by_side[64];
  int done = 0, n_x = 0;
  open_node("Tile", in, first, p);
  tf_page_add(p, "%*stype: Temporal\n", in, "");
  put_factors(x, n->loops, n->n_temporal, in, p);
  tf_page_add(p, "%*starget: %s\n", in, "", target);
  put_bypass(x, n, i, in, p);
  if (level_above(x->tree, i) == n->level) tf_page_add(p, "%*sprofile: False\n", in, "");
  for (int side = TF_SPATIAL_Y; side >= TF_SPATIAL_X; side--)
    for (int k = n->n_temporal; k < n->n_loops && done < 64; k++)
      if ((int)n->loops[k].axis == side) {
        by_side[done++] = n->loops[k];
        n_x += side == TF_SPATIAL_X;
      }
  if (n_spatial(n)) {
    tf_page_add(p, "%*ssubtree:\n", in, "");
    in += 2;
    open_node("Tile", in, false, p);
    tf_page_add(p, "%*stype: Spatial\n", in, "");
    put_factors(x, by_side, done, in, p);
    tf_page_add(p, "%*ssplit: %d\n%*starget: %s\n", in, "", n_x, in, "", target);
  }
  put_children(x, n, in, p);
}

/* TileFlow wants a temporal tile of every memory on every path; those that the tree does not have
 * are tagged, and import leaves them out again.  What stands below is one step further in. */
static int put_missing(ex_case *x, int i, int in, bool *first, tf_page *p) {
  const tf_node *n = &x->tree->nodes[i];
  int to = n->kind == TF_OP ? ex_n_memories(x) : n->kind == TF_TILE ? n->level : 0;
  for (int l = level_above(x->tree, i) + 1; l < to; l++) {
    in += *first ? 0 : 2;
    open_node("Tile", in, *first, p);
    tf_page_add(p, "%*stype: Temporal\n", in, "");
    put_factors(x, NULL, 0, in, p);
    tf_page_add(p, "%*starget: %s\n%*stag: " EX_NO_TILE "\n%*ssubtree:\n", in, "",
                x->arch->memories[l].name, in, "", in, "");
    *first = false;
  }
  return in;
}

static void put_tree(ex_case *x, int i, int in, bool first, tf_page *p) {
  static const char *const scope[] = {[TF_SEQ] = "Sequential",
                                      [TF_SHAR] = "Sharing",
                                      [TF_PARA] = "Parallel",
                                      [TF_PIPE] = "Pipeline"};
  _Static_assert(sizeof scope / sizeof *scope == TF_N_SCOPES,
                 "each kind of scope has a name in TileFlow's files");
  const tf_node *n = &x->tree->nodes[i];
  in = put_missing(x, i, in, &first, p);
  in += first ? 0 : 2;
  if (n->kind == TF_TILE) {
    put_tile(x, i, in, first, p);
    return;
  }
  open_node(n->kind == TF_OP ? "Op" : "Scope", in, first, p);
  if (n->kind == TF_OP)
    tf_page_add(p, "%*sname: %s\n", in, "", x->wl->ops[n->op].name);
  else
    tf_page_add(p, "%*stype: %s\n", in, "", scope[n->scope]);
  put_children(x, n, in, p);
}

bool ex_tileflow(ex_case *x) {
  tf_page page[3] = {{0}};
  bool ok = !x->tree || check_tree(x);
  ok &= write_problem(x, &page[1]);
  ex_architecture(x, "0.2", &page[0]);
  tf_page_add(&page[2], "# Written by tileflow export.\nmapping:\n");
  if (x->tree && ok) put_tree(x, 0, 2, true, &page[2]);
  ex_file(x, "architecture.yaml", &page[0]);
  ex_file(x, "problem.yaml", &page[1]);
  ex_file(x, "mapping.yaml", &page[2]);
  return ok;
}
