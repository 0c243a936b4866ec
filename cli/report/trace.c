/* The intervals of a trace as CSV (docs/FORMATS.md). */
#include "tileflow/trace.h"

#include "cli/report/report.h"
#include "tileflow/tree.h"

/* The ops at and below a node, joined. */
static void put_ops(const tf_tree *tree, int node, cli_text *out) {
  cli_text name = {0};
  for (int n = node; n < tree->nodes[node].end; n++)
    if (tree->nodes[n].kind == TF_OP)
      cli_printf(&name, "%s%s", name.len ? "+" : "", tree->workload->ops[tree->nodes[n].op].name);
  cli_csv_cell(out, cli_part(&name, out));
  out->bad |= name.bad;
  cli_text_free(&name);
}

void cli_trace_csv(const cli_session *s, const tf_trace *t, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  cli_printf(out, "kind,resource,what,begin,end,words\n");
  for (int i = 0; i < t->n; i++) {
    const tf_interval *x = &t->at[i];
    cli_printf(out, "%s,", tf_trace_key(x->kind));
    cli_csv_cell(out, x->level >= 0 ? a->memories[x->level].name : a->units[x->unit].name);
    cli_printf(out, ",");
    if (x->tensor >= 0)
      cli_csv_cell(out, s->spec->workload->tensors[x->tensor].name);
    else
      put_ops(s->tree, x->node, out);
    cli_printf(out, ",%.15g,%.15g,%.15g\n", x->begin, x->end, x->words);
  }
}
