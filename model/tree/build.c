#include "model/tree/build.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/locale.h"
#include "model/tree/check.h"

/* A tf_tree with the memory behind it. */
typedef struct {
  tf_tree tree; /* first, so that a tf_tree * is a pointer to the whole */
  tf_arena *arena;
  tf_build build;
} owned_tree;

/* The position in the printed text, for a node without a place in a file. */
static tf_loc printed_at(int node, int depth) {
  return (tf_loc){.line = (uint32_t)node + 1, .col = 2 * (uint32_t)depth + 1, .len = 1};
}

tf_build *tf_build_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  if (d && !tf_no_views(wl, d)) return NULL;
  tf_diags *own = d ? NULL : tf_diags_new();
  tf_arena *arena = d || own ? tf_arena_new() : NULL;
  owned_tree *t = arena ? TF_NEW(arena, owned_tree) : NULL;
  if (!t) {
    if (d) tf_out_of_memory(d);
    tf_diags_free(own);
    tf_arena_free(arena);
    return NULL;
  }
  d = d ? d : own;
  t->arena = arena;
  t->tree.arch = arch;
  t->tree.workload = wl;
  t->build = (tf_build){.arena = arena,
                        .tree = &t->tree,
                        .diags = d,
                        .own = own,
                        .at = printed_at(0, 0),
                        .errors = tf_diags_errors(d)};
  t->build.lines_ok = t->build.heads_ok = t->build.loops_ok = t->build.streams_ok = t->build.whole =
      true;
  return &t->build;
}

static void drop_own(tf_build *b) {
  tf_diags_free(b->own);
  b->own = NULL;
}

void tf_build_free(tf_build *b) {
  if (!b) return;
  drop_own(b);
  tf_arena_free(b->arena);
}

void tf_tree_free(tf_tree *t) {
  if (t) tf_arena_free(((owned_tree *)t)->arena);
}

static bool no_memory(tf_build *b) {
  b->whole = false;
  return tf_out_of_memory(b->diags);
}

void *tf_build_room(tf_build *b, void *list, int n, size_t size) {
  if (n % 4 || (n & (n - 1))) return list;
  void *wider = tf_arena_array(b->arena, n ? 2 * (size_t)n : 4, size);
  if (!wider) no_memory(b);
  if (wider && n) memcpy(wider, list, (size_t)n * size);
  return wider;
}

/* ---- nodes -------------------------------------------------------------------------- */
static bool make_room(tf_build *b) {
  tf_tree *t = b->tree;
  if (t->n_nodes < b->room) return true;
  size_t room = b->room ? 2 * (size_t)b->room : 16;
  tf_node *wider = TF_ARRAY(b->arena, tf_node, room);
  if (!wider) return no_memory(b);
  if (b->room) memcpy(wider, t->nodes, (size_t)b->room * sizeof *wider);
  t->nodes = wider;
  b->room = (int)room;
  return true;
}

static void copy_lists(tf_build *b, const tf_node *like) {
  for (int i = 0; i < like->n_bypass; i++)
    tf_build_bypass(b, like->bypass[i]);
  for (int i = 0; i < like->n_keep; i++)
    tf_build_keep(b, like->keep[i]);
  for (int i = 0; i < like->n_retain; i++)
    tf_build_retain(b, like->retain[i]);
  for (int i = 0; i < like->n_stream; i++)
    tf_build_stream(b, like->stream[i]);
}

int tf_build_node(tf_build *b, const tf_node *like) {
  tf_tree *t = b->tree;
  if (!b->whole) return -1; /* the parent may be missing */
  int i = t->n_nodes, depth = like->parent < 0 ? 0 : tf_tree_depth(t, like->parent) + 1;
  tf_loc at = like->at.len ? like->at : printed_at(i, depth);
  assert(like->parent < i);
  if (depth >= TF_TREE_MAX_DEPTH || i == TF_TREE_MAX_NODES) {
    b->whole = false;
    bool deep = depth >= TF_TREE_MAX_DEPTH;
    tf_fail(b->diags, at, TF_E_LIMIT, deep ? "more than %d nodes deep" : "more than %d nodes",
            deep ? TF_TREE_MAX_DEPTH : TF_TREE_MAX_NODES);
    return -1;
  }
  if (!make_room(b)) return -1;
  t->nodes[t->n_nodes++] = (tf_node){.kind = like->kind,
                                     .at = at,
                                     .parent = like->parent,
                                     .level = like->level,
                                     .order_open = like->order_open,
                                     .scope = like->scope,
                                     .scope_open = like->scope_open,
                                     .op = like->op};
  t->open |= like->order_open || like->scope_open;
  if (like->parent < 0 && i > 0) {
    b->heads_ok = false;
    tf_fail(b->diags, at, TF_E_SHAPE,
            "a second root: a mapping has one; indent this line, or put a scope above both");
  }
  copy_lists(b, like);
  return i;
}

/* ---- what stands on a node's line ---------------------------------------------------- */
static tf_node *last(const tf_build *b) { return &b->tree->nodes[b->tree->n_nodes - 1]; }

/* The loop's choices, where the tree has them. */
static const int64_t *own_choices(tf_build *b, const tf_loop *l) {
  if (l->n_choices == 0) return NULL;
  int64_t *own = TF_ARRAY(b->arena, int64_t, (size_t)l->n_choices);
  if (own)
    memcpy(own, l->choices, (size_t)l->n_choices * sizeof *own);
  else
    no_memory(b);
  return own;
}

void tf_build_loop(tf_build *b, tf_loop l) {
  if (!b->whole) return;
  tf_node *n = last(b);
  l.choices = own_choices(b, &l);
  n->loops = tf_build_room(b, n->loops, n->n_loops, sizeof *n->loops);
  if (!b->whole) return;
  int at = l.axis == TF_TEMPORAL ? n->n_temporal++ : n->n_loops;
  memmove(&n->loops[at + 1], &n->loops[at], (size_t)(n->n_loops++ - at) * sizeof *n->loops);
  if (!l.at.len) l.at = n->at;
  n->loops[at] = l;
  b->tree->open |= l.trip == 0;
}

static void report_twice(tf_build *b, tf_loc at, tf_loc first, int tensor) {
  tf_fail(b->diags, at, TF_E_DUP, "'%.60s' is listed twice",
          b->tree->workload->tensors[tensor].name);
  tf_note(b->diags, first, "first listed here");
}

static void add_named(tf_build *b, tf_named **list, int *n, tf_named z) {
  if (!z.at.len) z.at = last(b)->at;
  for (int i = 0; i < *n; i++)
    if ((*list)[i].tensor == z.tensor) {
      report_twice(b, z.at, (*list)[i].at, z.tensor);
      return;
    }
  *list = tf_build_room(b, *list, *n, sizeof **list);
  if (b->whole) (*list)[(*n)++] = z;
}

void tf_build_bypass(tf_build *b, tf_named z) {
  if (b->whole) add_named(b, &last(b)->bypass, &last(b)->n_bypass, z);
}
void tf_build_retain(tf_build *b, tf_named z) {
  if (b->whole) add_named(b, &last(b)->retain, &last(b)->n_retain, z);
}
void tf_build_stream(tf_build *b, tf_named z) {
  if (b->whole) add_named(b, &last(b)->stream, &last(b)->n_stream, z);
}

void tf_build_keep(tf_build *b, tf_keep k) {
  if (!b->whole) return;
  tf_node *n = last(b);
  if (!k.at.len) k.at = n->at;
  for (int i = 0; i < n->n_keep; i++)
    if (n->keep[i].tensor == k.tensor) {
      report_twice(b, k.at, n->keep[i].at, k.tensor);
      return;
    }
  n->keep = tf_build_room(b, n->keep, n->n_keep, sizeof *n->keep);
  if (b->whole) n->keep[n->n_keep++] = k;
}

/* ---- links -------------------------------------------------------------------------- */
/* children, child_no and end from the parents. */
static bool link_nodes(tf_build *b) {
  tf_tree *t = b->tree;
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].parent >= 0) t->nodes[i].child_no = t->nodes[t->nodes[i].parent].n_children++;
  for (int i = t->n_nodes - 1; i >= 0; i--) {
    tf_node *n = &t->nodes[i];
    if (n->end == 0) n->end = i + 1;
    n->children = TF_ARRAY(b->arena, int, (size_t)n->n_children);
    if (!n->children) return no_memory(b);
    if (n->parent >= 0 && t->nodes[n->parent].end == 0) t->nodes[n->parent].end = n->end;
  }
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].parent >= 0) t->nodes[t->nodes[i].parent].children[t->nodes[i].child_no] = i;
  return true;
}

static bool find_leaves(tf_build *b) {
  tf_tree *t = b->tree;
  size_t n_ops = (size_t)t->workload->n_ops;
  t->op_node = TF_ARRAY(b->arena, int, n_ops);
  if (!t->op_node) return no_memory(b);
  for (size_t o = 0; o < n_ops; o++)
    t->op_node[o] = -1;
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].op >= 0 && t->op_node[t->nodes[i].op] < 0) t->op_node[t->nodes[i].op] = i;
  return true;
}

/* ---- shape -------------------------------------------------------------------------- */
static void fail_children(tf_build *b, const tf_node *n) {
  bool tile = n->kind == TF_TILE;
  if (n->n_children == 0)
    tf_fail(b->diags, n->at, TF_E_SHAPE, "nothing stands below: %s",
            tile ? "a Tile has one child" : "a scope has two or more children");
  else if (tile)
    tf_fail(b->diags, n->at, TF_E_SHAPE,
            "%d children below a Tile, which has one: put a scope (Seq, Shar, Para, Pipe) between",
            n->n_children);
  else
    tf_fail(b->diags, n->at, TF_E_SHAPE,
            "one child below '%s', a scope has two or more: leave the scope out",
            tf_scope_at(n->scope)->key);
}

static bool check_children(tf_build *b, int i) {
  const tf_node *n = &b->tree->nodes[i];
  if (n->kind == TF_OP) {
    if (n->n_children == 0) return true;
    return tf_fail(b->diags, b->tree->nodes[n->children[0]].at, TF_E_SHAPE,
                   "below 'op', which is a leaf");
  }
  if (n->kind == TF_TILE ? n->n_children == 1 : n->n_children >= 2) return true;
  fail_children(b, n);
  return false;
}

static bool check_once(tf_build *b, int i) {
  const tf_tree *t = b->tree;
  int o = t->nodes[i].op;
  if (o < 0 || t->op_node[o] == i) return true;
  tf_fail(b->diags, t->nodes[i].at, TF_E_SHAPE, "op '%.60s' stands twice: each op has one leaf",
          t->workload->ops[o].name);
  tf_note(b->diags, t->nodes[t->op_node[o]].at, "first here");
  return false;
}

/* One error that names the ops without a leaf. */
static bool check_absent(tf_build *b) {
  const tf_workload *wl = b->tree->workload;
  char names[160] = "";
  size_t used = 0, n = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    if (b->tree->op_node[o] >= 0) continue;
    size_t need = strlen(wl->ops[o].name) + 4;
    bool fits = used + need + 5 < sizeof names;
    if (n++ == 0 || used < sizeof names - 1)
      snprintf(names + used, sizeof names - used, "%s%s%.100s%s", n > 1 ? ", " : "",
               fits ? "'" : "", fits ? wl->ops[o].name : "...", fits ? "'" : "");
    used = fits ? strlen(names) : sizeof names - 1;
  }
  if (n == 0) return true;
  return tf_fail(b->diags, b->at, TF_E_SHAPE,
                 "no leaf for op%s %s: every op of the workload has one", n > 1 ? "s" : "", names);
}

/* The shape of the whole: children, each op once. */
static void check_shape(tf_build *b) {
  b->shape_ok = b->heads_ok;
  for (int i = 0; i < b->tree->n_nodes; i++) {
    bool known = b->tree->nodes[i].kind != TF_TILE || b->tree->nodes[i].level >= 0;
    if (known && b->lines_ok) b->shape_ok &= check_children(b, i);
    b->shape_ok &= check_once(b, i);
  }
  if (b->heads_ok) b->shape_ok &= check_absent(b);
}

/* Ranges are checked only in a tree whose other rules hold; otherwise the messages would be wrong.
 */
static void check_rules(tf_build *b) {
  tf_facts *f = tf_facts_new(b->arena, b->tree);
  tf_checker c = {.f = f, .arena = b->arena, .diags = b->diags, .quiet = b->own != NULL};
  if (f) c.loop_reported = TF_ARRAY(b->arena, bool, (size_t)f->n_loops);
  if (f) c.dim_reported = TF_ARRAY(b->arena, bool, (size_t)f->wl->n_dims);
  if (!c.loop_reported || !c.dim_reported) {
    no_memory(b);
    return;
  }
  bool ordered = tf_check_order(&c);
  tf_check_levels(&c);
  if (!b->shape_ok) return;
  tf_check_lists(&c);
  tf_check_homes(&c);
  tf_check_keep(&c);
  if (b->streams_ok) {
    tf_check_loops(&c);
    tf_check_stream(&c);
  }
  if (ordered && !tf_check_retained(&c)) no_memory(b);
  bool countable = tf_check_products(&c) && b->loops_ok && ordered && b->streams_ok;
  if (countable && b->tree->open) {
    tf_check_open(&c);
  } else if (countable) {
    if (tf_diags_errors(b->diags) == b->errors && !tf_check_keep_moves(&c)) no_memory(b);
    tf_check_ranges(&c);
  }
}

/* ---- the whole ---------------------------------------------------------------------- */
const tf_tree *tf_build_draft(const tf_build *b) { return b->tree; }
bool tf_build_whole(const tf_build *b) { return b->whole; }

tf_tree *tf_build_tree(tf_build *b) {
  if (!b) return NULL;
  if (b->whole && b->tree->n_nodes == 0)
    tf_fail(b->diags, b->at, TF_E_SHAPE, "the mapping is empty");
  if (b->whole && b->tree->n_nodes > 0 && link_nodes(b) && find_leaves(b)) {
    check_shape(b);
    check_rules(b);
  }
  if (!b->whole || tf_diags_errors(b->diags) != b->errors) {
    tf_build_free(b);
    return NULL;
  }
  drop_own(b);
  return b->tree;
}

tf_tree *tf_tree_copy(const tf_tree *t, const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_build *b = tf_build_new(arch, wl, d);
  for (int i = 0; b && i < t->n_nodes; i++) {
    tf_build_node(b, &t->nodes[i]);
    for (int k = 0; k < t->nodes[i].n_loops; k++)
      tf_build_loop(b, t->nodes[i].loops[k]);
  }
  return tf_build_tree(b);
}
