/* The tile tree as text and as Graphviz. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

static const char *scope_key(tf_scope k) {
  static const char *const row[] = {
#define X(id, key, words, time, content) key,
      TF_SCOPES(X)
#undef X
  };
  return row[k];
}

static void loops(const cli_session *s, const tf_node *n, cli_text *out) {
  for (int k = 0; k < n->n_loops; k++) {
    bool spatial = n->loops[k].axis != TF_TEMPORAL;
    if (k == 0 && !spatial)
      cli_printf(out, " for");
    if (spatial && (k == 0 || n->loops[k - 1].axis == TF_TEMPORAL))
      cli_printf(out, " spatial");
    cli_printf(out, " %s=%" PRId64, s->spec->workload->dims[n->loops[k].dim].name, n->loops[k].trip);
    if (spatial)
      cli_printf(out, "@%c", n->loops[k].axis == TF_SPATIAL_X ? 'x' : 'y');
  }
}

void node_label(const cli_session *s, int node, cli_text *out) {
  const tf_node *n = &s->tree->nodes[node];
  const tf_workload *wl = s->spec->workload;
  if (n->kind == TF_OP) {
    cli_printf(out, "op %s", wl->ops[n->op].name);
    return;
  }
  cli_printf(out, "%s", n->kind == TF_TILE ? s->spec->arch->memories[n->level].name
                                           : scope_key(n->scope));
  if (n->kind == TF_TILE)
    loops(s, n, out);
  for (int i = 0; n->kind == TF_TILE && i < n->n_bypass; i++)
    cli_printf(out, "%s %s", i ? "" : " bypass", wl->tensors[n->bypass[i].tensor].name);
  for (int i = 0; n->kind == TF_SCOPE && i < n->n_keep; i++)
    cli_printf(out, "%s %s@%s", i ? "" : " keep", wl->tensors[n->keep[i].tensor].name,
               s->spec->arch->memories[n->keep[i].level].name);
  for (int i = 0; n->kind == TF_SCOPE && i < n->n_retain; i++)
    cli_printf(out, "%s %s", i ? "" : " retain", wl->tensors[n->retain[i].tensor].name);
  for (int i = 0; n->kind == TF_SCOPE && i < n->n_stream; i++)
    cli_printf(out, "%s %s", i ? "" : " stream", wl->tensors[n->stream[i].tensor].name);
}

/* What a node holds and moves, in words; the intermediates that live at a scope. */
static void facts(const cli_session *s, int node, cli_text *out) {
  const tf_node_result *r = &s->result.nodes[node];
  const tf_workload *wl = s->spec->workload;
  char b[4][16];
  if (r->held || r->loads || r->stores)
    cli_printf(out, "holds %s, loads %s, stores %s; ", cli_count(b[0], (double)r->held),
               cli_count(b[1], (double)r->loads), cli_count(b[2], (double)r->stores));
  for (int z = 0; z < wl->n_tensors; z++)
    if (tf_tree_home_scope(s->tree, z) == node) {
      int l = tf_tree_home(s->tree, z);
      cli_printf(out, "%s lives in %s (%s words); ", wl->tensors[z].name,
                 s->spec->arch->memories[l].name,
                 cli_count(b[0], (double)s->result.counts[l * wl->n_tensors + z].peak));
    }
  cli_printf(out, "%s runs, %s cycles", cli_count(b[2], (double)r->runs), cli_count(b[3], r->cycles));
}

static void branch(const cli_session *s, int node, const char *lead, bool last, cli_text *out) {
  const tf_node *n = &s->tree->nodes[node];
  cli_text deeper = {0}, label = {0};
  node_label(s, node, &label);
  cli_printf(out, "%s%s%s", lead, n->parent < 0 ? "" : last ? "`- " : "|- ",
             label.text ? label.text : "");
  size_t used = label.len + 3;
  cli_printf(&deeper, "%s%s", lead, n->parent < 0 ? "" : last ? "   " : "|  ");
  cli_printf(out, "%*s ", used < 44 ? (int)(44 - used) : 1, "");
  facts(s, node, out);
  cli_printf(out, "\n");
  for (int c = 0; c < n->n_children; c++)
    branch(s, n->children[c], deeper.text ? deeper.text : "", c + 1 == n->n_children, out);
  free(deeper.text);
  free(label.text);
}

void draw_text(const cli_session *s, cli_text *out) {
  branch(s, 0, "", true, out);
}

void draw_dot(const cli_session *s, cli_text *out) {
  cli_printf(out, "digraph tree {\n  node [shape=box, fontname=\"monospace\"];\n");
  for (int i = 0; i < s->tree->n_nodes; i++) {
    cli_printf(out, "  n%d [label=\"", i);
    node_label(s, i, out);
    cli_printf(out, "\\n");
    facts(s, i, out);
    cli_printf(out, "\"];\n");
    if (s->tree->nodes[i].parent >= 0)
      cli_printf(out, "  n%d -> n%d;\n", s->tree->nodes[i].parent, i);
  }
  cli_printf(out, "}\n");
}
