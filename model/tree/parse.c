/* Lines to nodes: heads and indentation. */
#include "model/tree/parse.h"

#include <string.h>

#include "base/locale.h"

/* ---- indentation -------------------------------------------------------------------- */
/* The parent of a line whose head is at this column: the nearest line above that is indented less.
 * Reports a line that is not aligned with its siblings. */
static int find_parent(tf_build *b, tf_loc at) {
  const tf_node *nodes = b->tree->nodes;
  int i = b->tree->n_nodes - 1, sibling = -1;
  while (i >= 0 && nodes[i].at.col >= at.col) {
    sibling = i;
    i = nodes[i].parent;
  }
  if (sibling >= 0 && nodes[sibling].at.col != at.col) {
    b->lines_ok = b->heads_ok = false;
    tf_fail(b->diags, at, TF_E_SYNTAX,
            "indented by %u, which no line above is: its neighbours stand at %u",
            (unsigned)(at.col - b->at.col), (unsigned)(nodes[sibling].at.col - b->at.col));
  }
  return i;
}

/* ---- heads -------------------------------------------------------------------------- */
static void read_op(tf_build *b, tf_node *n, tf_mlex *x, bool *broken) {
  n->kind = TF_OP;
  tf_mlex_next(x);
  if (x->tok.kind != TF_M_WORD) {
    tf_mapping_expected(b, x, "the name of an op");
    *broken = true;
    return;
  }
  n->at.len = x->tok.at.col + x->tok.at.len - n->at.col;
  n->op = tf_mapping_op(b, &x->tok);
  *broken = n->op < 0;
  tf_mlex_next(x);
  if (x->tok.kind != TF_M_END) tf_mapping_expected(b, x, "the end of the line");
}

static void read_tile(tf_build *b, tf_node *n, tf_mlex *x, bool *broken) {
  n->kind = TF_TILE;
  n->level = tf_mapping_head(b, &x->tok);
  *broken = n->level < 0;
  tf_mlex_next(x);
  if (!*broken) tf_read_clauses(b, x, true);
}

static void read_line(tf_build *b, tf_mlex *x) {
  int i = tf_build_node(
      b, &(tf_node){.at = x->tok.at, .parent = find_parent(b, x->tok.at), .level = -1, .op = -1});
  if (i < 0) return;
  tf_node *n = &b->tree->nodes[i];
  bool broken = false;
  tf_scope scope = tf_scope_find(x->tok.text, x->tok.len);
  if (tf_mlex_take(x, '?')) {
    n->kind = TF_SCOPE;
    n->scope = 0; /* the first of the table */
    n->scope_open = b->tree->open = true;
    tf_read_clauses(b, x, false);
  } else if (x->tok.kind != TF_M_WORD) {
    broken = !tf_mapping_expected(b, x, "a memory, a scope or op");
  } else if (tf_mlex_word(x, "op")) {
    read_op(b, n, x, &broken);
  } else if (scope < TF_N_SCOPES) {
    n->kind = TF_SCOPE;
    n->scope = scope;
    tf_mlex_next(x);
    tf_read_clauses(b, x, false);
  } else {
    read_tile(b, n, x, &broken);
  }
  b->heads_ok &= !broken;
}

/* ---- the whole text ----------------------------------------------------------------- */
void tf_tree_read(tf_build *b, const char *text, tf_loc at) {
  tf_mtext t = {.p = text, .end = text + strlen(text), .at = at};
  tf_mlex x;
  tf_loc tab;
  b->at = at;
  while (b->whole && tf_diags_errors(b->diags) <= TF_DIAGS_MAX && tf_mtext_line(&t, &x, &tab)) {
    if (tab.line > 0) {
      b->lines_ok = b->heads_ok = false;
      tf_fail(b->diags, tab, TF_E_SYNTAX, "a tab: indent by spaces");
    } else {
      read_line(b, &x);
    }
  }
}

tf_tree *tf_tree_parse(const char *text, tf_loc at, const tf_arch *arch, const tf_workload *wl,
                       tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_build *b = tf_build_new(arch, wl, d);
  if (b) tf_tree_read(b, text, at);
  return tf_build_tree(b);
}
