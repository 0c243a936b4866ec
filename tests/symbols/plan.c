/* A user's program over public headers, to be linked with functions of its own that have the
 * library's private names (tests/symbols.sh): plans a chain, and says what it found. */
#include <stdio.h>
#include <stdlib.h>

#include <tileflow/tileflow.h>

int main(void) {
  const char *paths[] = {"arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml"};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(paths, 2, NULL, 0, d);
  if (!s) return 1;
  tf_planner_opts o = {.budget = {.max_evals = 200}, .kernel = {.isa = "avx2"}};
  tf_planned *p = tf_planner_run(s->arch, s->workload, NULL, &o, d);
  char *text = p && p->tree ? tf_tree_text(p->tree) : NULL;
  puts(text ? text : "no tree");
  free(text);
  tf_planned_free(p);
  tf_spec_free(s);
  tf_diags_free(d);
  return text ? 0 : 1;
}
