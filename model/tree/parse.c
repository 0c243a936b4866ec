/* Lines -> nodes: heads, indentation, shape. */
#include "model/tree/parse.h"

#include <stdio.h>
#include <string.h>

/* What is known of a line beside its node, while the text is read. */
typedef struct {
  uint32_t indent;
  int depth;
  bool broken; /* the head is unknown: what stands below says nothing about it */
} line_note;

typedef struct {
  tf_tree_reader *r;
  line_note *notes; /* [node] */
  int last;         /* the node before, -1 at the start */
  int room;
} builder;

bool tf_tree_no_memory(tf_tree_reader *r) {
  r->whole = false;
  return tf_fail(r->diags, (tf_loc){0, 0, 0, 0}, TF_E_LIMIT, "out of memory");
}

bool tf_mapping_expected(tf_tree_reader *r, const tf_mlex *x, const char *what) {
  if (x->tok.kind == TF_M_END)
    return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "expected %s at the end of the line", what);
  int len = x->tok.at.len == x->tok.len ? (int)(x->tok.len < 60 ? x->tok.len : 60) : 0;
  if (len == 0) return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "expected %s", what);
  return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "expected %s, not '%.*s'", what, len, x->tok.text);
}

/* ---- indentation -------------------------------------------------------------------- */
/* The parent of a line with this indentation: the nearest line above that is indented less.
 * Reports a line that stands beside none of its siblings. */
static int find_parent(builder *b, uint32_t indent, tf_loc at) {
  const tf_node *nodes = b->r->tree->nodes;
  int i = b->last, sibling = -1;
  while (i >= 0 && b->notes[i].indent >= indent) {
    sibling = i;
    i = nodes[i].parent;
  }
  if (sibling >= 0 && b->notes[sibling].indent != indent) {
    b->r->lines_ok = b->r->heads_ok = false;
    tf_fail(b->r->diags, at, TF_E_SYNTAX, "indented by %u, which no line above is: its neighbours stand at %u",
            (unsigned)indent, (unsigned)b->notes[sibling].indent);
  }
  return i;
}

/* A new node, linked to its parent; -1 when a limit is passed. */
static int add_node(builder *b, uint32_t indent, tf_loc at) {
  tf_tree *t = b->r->tree;
  int parent = find_parent(b, indent, at);
  int depth = parent < 0 ? 1 : b->notes[parent].depth + 1, i = t->n_nodes;
  bool deep = depth > TF_TREE_MAX_DEPTH;
  if (deep || i == b->room) {
    b->r->whole = false;
    tf_fail(b->r->diags, at, TF_E_LIMIT, deep ? "more than %d nodes deep" : "more than %d nodes",
            deep ? TF_TREE_MAX_DEPTH : TF_TREE_MAX_NODES);
    return -1;
  }
  t->n_nodes++;
  b->last = i;
  b->notes[i] = (line_note){.indent = indent, .depth = depth};
  t->nodes[i] = (tf_node){.at = at, .parent = parent, .op = -1, .level = -1};
  if (parent < 0 && i > 0) {
    b->r->heads_ok = false;
    tf_fail(b->r->diags, at, TF_E_SHAPE,
            "a second root: a mapping has one; indent this line, or put a scope above both");
  }
  return i;
}

/* ---- heads -------------------------------------------------------------------------- */
static void read_op(tf_tree_reader *r, tf_node *n, tf_mlex *x, bool *broken) {
  n->kind = TF_OP;
  tf_mlex_next(x);
  if (x->tok.kind != TF_M_WORD) {
    tf_mapping_expected(r, x, "the name of an op");
    *broken = true;
    return;
  }
  n->at.len = x->tok.at.col + x->tok.at.len - n->at.col;
  n->op = tf_mapping_op(r, &x->tok);
  *broken = n->op < 0;
  tf_mlex_next(x);
  if (x->tok.kind != TF_M_END) tf_mapping_expected(r, x, "the end of the line");
}

static void read_tile(tf_tree_reader *r, tf_node *n, tf_mlex *x, bool *broken) {
  n->kind = TF_TILE;
  n->level = tf_mapping_head(r, &x->tok);
  *broken = n->level < 0;
  tf_mlex_next(x);
  if (!*broken) tf_read_tile_rest(r, n, x);
}

static void read_line(builder *b, tf_mlex *x, uint32_t indent) {
  tf_tree_reader *r = b->r;
  int i = add_node(b, indent, x->tok.at);
  if (i < 0) return;
  tf_node *n = &r->tree->nodes[i];
  bool *broken = &b->notes[i].broken;
  tf_scope scope = tf_scope_find(x->tok.text, x->tok.len);
  if (tf_mlex_take(x, '?')) {
    n->kind = TF_SCOPE;
    n->scope = TF_SEQ;
    n->scope_open = r->tree->open = true;
    tf_read_scope_rest(r, n, x);
  } else if (x->tok.kind != TF_M_WORD) {
    *broken = !tf_mapping_expected(r, x, "a memory, a scope or op");
  } else if (tf_mlex_word(x, "op")) {
    read_op(r, n, x, broken);
  } else if (scope < TF_N_SCOPES) {
    n->kind = TF_SCOPE;
    n->scope = scope;
    tf_mlex_next(x);
    tf_read_scope_rest(r, n, x);
  } else {
    read_tile(r, n, x, broken);
  }
  r->heads_ok &= !*broken;
}

/* ---- links -------------------------------------------------------------------------- */
/* children, child_no and end from the parents. */
static bool link_nodes(tf_tree_reader *r) {
  tf_tree *t = r->tree;
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].parent >= 0) t->nodes[i].child_no = t->nodes[t->nodes[i].parent].n_children++;
  for (int i = t->n_nodes - 1; i >= 0; i--) {
    tf_node *n = &t->nodes[i];
    if (n->end == 0) n->end = i + 1;
    n->children = TF_ARRAY(r->arena, int, (size_t)n->n_children);
    if (!n->children) return tf_tree_no_memory(r);
    if (n->parent >= 0 && t->nodes[n->parent].end == 0) t->nodes[n->parent].end = n->end;
  }
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].parent >= 0) t->nodes[t->nodes[i].parent].children[t->nodes[i].child_no] = i;
  return true;
}

static bool find_leaves(tf_tree_reader *r) {
  tf_tree *t = r->tree;
  size_t n_ops = (size_t)t->workload->n_ops;
  t->op_node = TF_ARRAY(r->arena, int, n_ops);
  if (!t->op_node) return tf_tree_no_memory(r);
  for (size_t o = 0; o < n_ops; o++)
    t->op_node[o] = -1;
  for (int i = 0; i < t->n_nodes; i++)
    if (t->nodes[i].op >= 0 && t->op_node[t->nodes[i].op] < 0) t->op_node[t->nodes[i].op] = i;
  return true;
}

/* ---- shape -------------------------------------------------------------------------- */
static void fail_children(tf_tree_reader *r, const tf_node *n) {
  bool tile = n->kind == TF_TILE;
  if (n->n_children == 0)
    tf_fail(r->diags, n->at, TF_E_SHAPE, "nothing stands below: %s",
            tile ? "a Tile has one child" : "a scope has two or more children");
  else if (tile)
    tf_fail(r->diags, n->at, TF_E_SHAPE,
            "%d children below a Tile, which has one: put a scope (Seq, Shar, Para, Pipe) between", n->n_children);
  else
    tf_fail(r->diags, n->at, TF_E_SHAPE, "one child below '%s', a scope has two or more: leave the scope out",
            tf_scope_key(n->scope));
}

static bool check_children(tf_tree_reader *r, int i) {
  const tf_node *n = &r->tree->nodes[i];
  if (n->kind == TF_OP) {
    if (n->n_children == 0) return true;
    return tf_fail(r->diags, r->tree->nodes[n->children[0]].at, TF_E_SHAPE, "below 'op', which is a leaf");
  }
  if (n->kind == TF_TILE ? n->n_children == 1 : n->n_children >= 2) return true;
  fail_children(r, n);
  return false;
}

static bool check_once(tf_tree_reader *r, int i) {
  const tf_tree *t = r->tree;
  int o = t->nodes[i].op;
  if (o < 0 || t->op_node[o] == i) return true;
  tf_fail(r->diags, t->nodes[i].at, TF_E_SHAPE, "op '%.60s' stands twice: each op has one leaf",
          t->workload->ops[o].name);
  tf_note(r->diags, t->nodes[t->op_node[o]].at, "first here");
  return false;
}

/* One error that names the ops without a leaf. */
static bool check_absent(tf_tree_reader *r, tf_loc at) {
  const tf_workload *wl = r->tree->workload;
  char names[160] = "";
  size_t used = 0, n = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    if (r->tree->op_node[o] >= 0) continue;
    size_t need = strlen(wl->ops[o].name) + 4;
    bool fits = used + need + 5 < sizeof names;
    if (n++ == 0 || used < sizeof names - 1)
      snprintf(names + used, sizeof names - used, "%s%s%.100s%s", n > 1 ? ", " : "", fits ? "'" : "",
               fits ? wl->ops[o].name : "...", fits ? "'" : "");
    used = fits ? strlen(names) : sizeof names - 1;
  }
  if (n == 0) return true;
  return tf_fail(r->diags, at, TF_E_SHAPE, "no leaf for op%s %s: every op of the workload has one", n > 1 ? "s" : "",
                 names);
}

/* The shape of the whole: children, each op once. */
static void check_shape(tf_tree_reader *r, tf_loc at) {
  r->shape_ok = r->heads_ok;
  for (int i = 0; i < r->tree->n_nodes; i++) {
    bool known = r->tree->nodes[i].kind != TF_TILE || r->tree->nodes[i].level >= 0;
    if (known && r->lines_ok) r->shape_ok &= check_children(r, i);
    r->shape_ok &= check_once(r, i);
  }
  if (r->heads_ok) r->shape_ok &= check_absent(r, at);
}

/* ---- the whole text ----------------------------------------------------------------- */
static int count_lines(const char *text) {
  int n = 1;
  for (; *text && n < TF_TREE_MAX_NODES; text++)
    n += *text == '\n' || *text == '\r' || (unsigned char)*text >= 0x80;
  return n;
}

static void read_lines(builder *b, const char *text, tf_loc at) {
  tf_mtext t = {.p = text, .end = text + strlen(text), .at = at};
  tf_mlex x;
  uint32_t indent;
  tf_loc tab;
  while (b->r->whole && tf_diags_errors(b->r->diags) <= TF_DIAGS_MAX && tf_mtext_line(&t, &x, &indent, &tab)) {
    if (tab.line > 0) {
      b->r->lines_ok = b->r->heads_ok = false;
      tf_fail(b->r->diags, tab, TF_E_SYNTAX, "a tab: indent by spaces");
    } else {
      read_line(b, &x, indent);
    }
  }
}

void tf_tree_read(tf_tree_reader *r, const char *text, tf_loc at) {
  r->lines_ok = r->heads_ok = r->loops_ok = r->streams_ok = r->whole = true;
  r->shape_ok = false;
  builder b = {.r = r, .last = -1, .room = count_lines(text)};
  r->tree->nodes = TF_ARRAY(r->arena, tf_node, (size_t)b.room);
  b.notes = TF_ARRAY(r->arena, line_note, (size_t)b.room);
  if (!r->tree->nodes || !b.notes) {
    tf_tree_no_memory(r);
    return;
  }
  read_lines(&b, text, at);
  if (!r->whole || !link_nodes(r) || !find_leaves(r)) return;
  if (r->tree->n_nodes == 0)
    tf_fail(r->diags, at, TF_E_SHAPE, "the mapping is empty");
  else
    check_shape(r, at);
}
