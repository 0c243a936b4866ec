/* The tree for Graphviz: one box a node, with the same figures as the text. */
#include "cli/draw/draw.h"
#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

static void put_escaped(const char *text, cli_text *out) {
  for (; text && *text; text++)
    cli_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void put_figures(const cli_session *s, int node, cli_text *out) {
  const tf_node_result *r = &s->result.nodes[node];
  const cli_words words = cli_node_words(s, node);
  if (r->held || r->loads || r->stores)
    cli_printf(out, "\\nholds %s, loads %s, stores %s words", cli_real(words.peak).s,
               cli_real(words.fill).s, cli_real(words.drain).s);
  cli_printf(out, "\\n%s runs, %s cycles", cli_count(r->runs).s, cli_real(r->cycles).s);
}

/* The intermediates that live at a scope: "S in L1". */
static void put_homes(const cli_session *s, int node, cli_text *out) {
  for (int z = 0; z < s->spec->workload->n_tensors; z++) {
    if (tf_tree_home_scope(s->tree, z) != node) continue;
    int home = tf_tree_home(s->tree, z);
    cli_printf(out, "\\n%s in %s", s->spec->workload->tensors[z].name,
               s->spec->arch->memories[home].name);
  }
}

static void put_node(const cli_session *s, int node, cli_text *out) {
  static const char *const shape[] = {[TF_TILE] = "box", [TF_SCOPE] = "ellipse", [TF_OP] = "box"};
  const tf_node *n = &s->tree->nodes[node];
  cli_text line = {0};
  cli_node_line(s->tree, node, &line);
  cli_printf(out, "  n%d [shape=%s, label=\"", node, shape[n->kind]);
  put_escaped(line.text, out);
  put_figures(s, node, out);
  put_homes(s, node, out);
  cli_printf(out, "\"];\n");
  if (n->parent >= 0) cli_printf(out, "  n%d -> n%d;\n", n->parent, node);
  cli_text_free(&line);
}

void cli_draw_dot(const cli_session *s, cli_text *out) {
  cli_printf(out, "digraph tileflow {\n  node [fontname=\"Helvetica\", fontsize=11];\n"
                  "  edge [arrowhead=none];\n  label=\"");
  put_escaped(s->spec->workload->name, out);
  cli_printf(out, " on ");
  put_escaped(s->spec->arch->name, out);
  cli_printf(out, "; words are those of the memory that holds them\";\n");
  for (int i = 0; i < s->tree->n_nodes; i++)
    put_node(s, i, out);
  cli_printf(out, "}\n");
}
