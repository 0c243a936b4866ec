/* Mappings from a store of measurements. */
#include <stdlib.h>
#include <string.h>

#include "cli/session/trials.h"
#include "tileflow/tree.h"

/* The text of the table; NULL: there is none. */
static const char *isa_named(const char *name) {
#define X(key, what)                                                                               \
  if (!strcmp(name, key)) return key;
  TF_ISAS(X)
#undef X
  return NULL;
}

tf_tree *cli_measured_tree(const char *from, const char *mapping, const tf_spec *what,
                           tf_diags *d) {
  const tf_loc at = {tf_diags_add_file(d, from, mapping, strlen(mapping)), 1, 1, 1};
  return tf_tree_parse(mapping, at, what->arch, what->workload, d);
}

tf_tree *cli_measured_mapping(const char *store, const tf_spec *what, const char *dtype,
                              const char **isa, tf_choices *choices, tf_diags *d) {
  tf_tune_best best = {0};
  tf_tree *t = NULL;
  char *here = cli_machine();
  if (!here) tf_out_of_memory(d);
  if (here &&
      tf_tune_find(store, &(tf_tune_asked){here, dtype}, what->arch, what->workload, &best, d)) {
    t = cli_measured_tree(store, best.mapping, what, d);
    *isa = isa_named(best.isa);
    *choices = best.choices;
  }
  free(best.mapping);
  free(best.isa);
  free(here);
  return t;
}
