/* The closed form's figures of the mapping that it chose (thesis 3.4), beside the model's. */
#include <math.h>

#include "cli/report/report.h"
#include "cli/table.h"

static void row(cli_table *t, const char *what, double words, const char *note) {
  cli_cell(t, "%s", what);
  cli_cell(t, "%s", cli_real(words).s);
  cli_cell(t, "%s", note);
}

void cli_report_closed(const cli_session *s, cli_text *out) {
  const tf_closed_figures *c = &s->found.closed;
  const tf_arch *a = s->spec->arch;
  cli_table t = {.align = "lrl"};
  if (c->orders == 0) return;
  cli_printf(out, "Closed form: %s orders tried; ", cli_count(c->orders).s);
  if (c->fused)
    cli_printf(out, "intermediates stay in %s", a->memories[c->fused].name);
  else
    cli_printf(out, "%s", s->spec->workload->n_ops > 1 ? "nothing is fused" : "one op");
  cli_printf(out, "; the innermost mesh does %lld x %lld at once (Eq. 3.7)\n\n",
             (long long)c->lanes[0], (long long)c->lanes[1]);
  row(&t, "words", c->real_words, "in real numbers, least for this order (DV* of Eq. 3.18)");
  row(&t, "", c->formula_words, "Algorithm 1, tiles in whole numbers");
  row(&t, "", c->tree_words, "the same for this tree: partial tiles, what its scope keeps");
  row(&t, "", c->model_words, "as the model counts: read by and written from the memories below");
  cli_cell(&t, "rounding");
  cli_cell(&t, "%.3f x", c->rounding);
  cli_cell(&t, "of the least in real numbers; Eq. 3.19 allows %.3f x for tiles rounded down",
           c->limit);
  cli_table_end(&t, out);
  cli_printf(out, "\n");
}
