/* The tile tree as a self-contained SVG: one row a node, indented, coloured by memory level. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { ROW = 40, INDENT = 26, LEFT = 16, TOP = 52, WIDTH = 980 };

static const char *fill_of(const tf_node *n) {
  static const char *const level[] = {"#d8e3f0", "#d9ead3", "#fff2cc", "#f9dccf", "#e8daef", "#d5f0ee"};
  if (n->kind == TF_TILE)
    return level[n->level % 6];
  return n->kind == TF_SCOPE ? "#ececec" : "#ffffff";
}

static int depth_of(const tf_tree *t, int n) {
  int d = 0;
  for (; t->nodes[n].parent >= 0; n = t->nodes[n].parent)
    d++;
  return d;
}

static void lives(const cli_session *s, int node, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  char b[16];
  for (int z = 0; z < wl->n_tensors; z++) {
    if (tf_tree_home_scope(s->tree, z) != node)
      continue;
    int l = tf_tree_home(s->tree, z);
    cli_printf(out, "%s in %s (%s)  ", wl->tensors[z].name, s->spec->arch->memories[l].name,
               cli_count(b, (double)s->result.counts[l * wl->n_tensors + z].peak));
  }
}

static void row(const cli_session *s, int node, cli_text *out) {
  const tf_node *n = &s->tree->nodes[node];
  const tf_node_result *r = &s->result.nodes[node];
  int x = LEFT + INDENT * depth_of(s->tree, node), y = TOP + ROW * node;
  char b[4][16];
  if (n->parent >= 0) {
    int px = LEFT + INDENT * depth_of(s->tree, n->parent) + 10, py = TOP + ROW * n->parent + 30;
    cli_printf(out, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"#888\"/>\n", px, py, y + 15, x);
  }
  cli_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"30\" rx=\"4\" fill=\"%s\" "
                  "stroke=\"#888\"/>\n<text x=\"%d\" y=\"%d\" class=\"n\">",
             x, y, WIDTH - LEFT - x, fill_of(n), x + 9, y + 20);
  node_label(s, node, out);
  cli_printf(out, "</text>\n<text x=\"%d\" y=\"%d\" class=\"f\" text-anchor=\"end\">",
             WIDTH - LEFT - 9, y + 20);
  if (n->kind == TF_TILE && (r->held || r->loads || r->stores))
    cli_printf(out, "holds %s  loads %s  stores %s", cli_count(b[0], (double)r->held),
               cli_count(b[1], (double)r->loads), cli_count(b[2], (double)r->stores));
  else if (n->kind == TF_OP)
    cli_printf(out, "%s points on %s %s", cli_count(b[0], (double)s->result.ops[n->op].points),
               cli_count(b[1], (double)s->result.ops[n->op].units),
               s->spec->arch->units[s->result.ops[n->op].unit].name);
  else if (n->kind == TF_SCOPE)
    lives(s, node, out);
  cli_printf(out, "</text>\n");
}

void draw_svg(const cli_session *s, cli_text *out) {
  char b[16];
  cli_printf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\">\n"
             "<style>text{font-family:Helvetica,Arial,sans-serif;fill:#222}.t{font-size:16px;"
             "font-weight:bold}.n{font-size:14px}.f{font-size:12px;fill:#555}</style>\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
             "<text x=\"%d\" y=\"30\" class=\"t\">%s on %s: ",
             WIDTH, TOP + ROW * s->tree->n_nodes + 8, WIDTH, LEFT, s->spec->workload->name,
             s->spec->arch->name);
  cli_printf(out, "%s cycles</text>\n", cli_count(b, s->result.cycles));
  cli_printf(out, "<text x=\"%d\" y=\"30\" class=\"f\" text-anchor=\"end\">words, whole run</text>\n",
             WIDTH - LEFT - 9);
  for (int i = 0; i < s->tree->n_nodes; i++)
    row(s, i, out);
  cli_printf(out, "</svg>\n");
}
