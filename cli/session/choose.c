/* Of mappings that the model finds alike, the one whose kernel has the least to do besides multiply-adds. */
#include <math.h>
#include <stdlib.h>

#include "cli/session/measure.h"

/* The model's cycles, and those of a core in micro-kernels and what they have laid out: in a ranking the multiply-adds,
 * which both hold, cancel.  Infinite: it cannot be emitted. */
static double score(const cli_session *s, const tf_emit_options *e, const cli_candidate *c) {
  tf_diags *d = tf_diags_new();
  tf_tree *tree = d ? tf_tree_parse(c->text, (tf_loc){0}, s->spec->arch, s->spec->workload, d) : NULL;
  const double cycles = tree ? tf_emit_cycles(tree, e, d) : -1;
  tf_tree_free(tree);
  tf_diags_free(d);
  return cycles < 0 ? INFINITY : c->cycles + cycles;
}

void cli_choose(const cli_session *s, const cli_options *o, cli_candidates *c) {
  const tf_emit_options e = {.isa = o->isa ? o->isa : tf_emit_isa(o->dtype), .dtype = o->dtype, .micro = o->micro};
  int n = 0;
  for (int i = 0; i < c->n; i++) {
    c->at[i].value = score(s, &e, &c->at[i]);
    if (isfinite(c->at[i].value))
      c->at[n++] = c->at[i];
    else
      free(c->at[i].text);
  }
  c->n = n;
  cli_candidates_sort(c);
}
