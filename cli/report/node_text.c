#include "cli/report/node_text.h"

#include <inttypes.h>

#include "tileflow/tree.h"

void cli_node_head(const tf_tree *t, int node, cli_text *out) {
  const tf_node *n = &t->nodes[node];
  if (n->kind == TF_TILE) cli_printf(out, "%s", t->arch->memories[n->level].name);
  if (n->kind == TF_SCOPE) cli_printf(out, "%s", tf_scope_at(n->scope)->key);
  if (n->kind == TF_OP) cli_printf(out, "op %s", t->workload->ops[n->op].name);
}

void cli_node_temporal(const tf_tree *t, int node, cli_text *out) {
  const tf_node *n = &t->nodes[node];
  if (n->kind != TF_TILE || n->n_temporal == 0) return;
  cli_printf(out, "for");
  for (int k = 0; k < n->n_temporal; k++)
    cli_printf(out, " %s=%" PRId64, t->workload->dims[n->loops[k].dim].name, n->loops[k].trip);
}

void cli_node_spatial(const tf_tree *t, int node, cli_text *out) {
  const tf_node *n = &t->nodes[node];
  if (n->kind != TF_TILE || n->n_temporal == n->n_loops) return;
  cli_printf(out, "spatial");
  for (int k = n->n_temporal; k < n->n_loops; k++)
    cli_printf(out, " %s=%" PRId64 "@%c", t->workload->dims[n->loops[k].dim].name, n->loops[k].trip,
               n->loops[k].axis == TF_SPATIAL_X ? 'x' : 'y');
}

static void put_names(const tf_tree *t, const char *key, const tf_named *z, int n, cli_text *out) {
  for (int i = 0; i < n; i++)
    cli_printf(out, "%s %s", i ? "" : key, t->workload->tensors[z[i].tensor].name);
}

void cli_node_rest(const tf_tree *t, int node, cli_text *out) {
  const tf_node *n = &t->nodes[node];
  if (n->kind == TF_TILE) put_names(t, "bypass", n->bypass, n->n_bypass, out);
  if (n->kind != TF_SCOPE) return;
  for (int i = 0; i < n->n_keep; i++)
    cli_printf(out, "%s %s@%s", i ? "" : "keep", t->workload->tensors[n->keep[i].tensor].name,
               t->arch->memories[n->keep[i].level].name);
  put_names(t, n->n_keep ? " retain" : "retain", n->retain, n->n_retain, out);
  put_names(t, n->n_keep + n->n_retain ? " stream" : "stream", n->stream, n->n_stream, out);
}

void cli_node_line(const tf_tree *t, int node, cli_text *out) {
  static void (*const parts[])(const tf_tree *, int,
                               cli_text *) = {cli_node_temporal, cli_node_spatial, cli_node_rest};
  cli_node_head(t, node, out);
  for (int i = 0; i < 3; i++) {
    cli_text part = {0};
    parts[i](t, node, &part);
    if (part.len) cli_printf(out, " %s", part.text);
    out->bad |= part.bad;
    cli_text_free(&part);
  }
}
