#include "search/closed/canonical.h"

#include <stdlib.h>

#include "search/common/canon.h"
#include "search/common/exportable.h"
#include "search/common/ops.h"

tf_solve_result *tf_solve_as_canon(tf_solving *solve, const tf_arch *arch, const tf_workload *wl,
                                   const tf_solve_opts *o, tf_diags *d) {
  if (!tf_no_views(wl, d) || !tf_ops_can_run(arch, wl, d) ||
      !tf_may_export(o->exportable, arch, wl, d))
    return NULL;
  tf_canon *c = tf_canon_new(arch, wl, d);
  tf_solve_result *r = c ? solve(tf_canon_arch(c), tf_canon_workload(c), o, d) : NULL;
  if (r && r->tree) {
    tf_tree *mine = tf_canon_back(c, r->tree, NULL);
    tf_tree_free(r->tree);
    r->tree = mine;
    if (!mine) {
      tf_out_of_memory(d);
      tf_solve_free(r);
      r = NULL;
    }
  }
  tf_canon_free(c);
  return r;
}

void tf_solve_free(tf_solve_result *r) {
  if (!r) return;
  tf_tree_free(r->tree);
  free(r->levels);
  free(r);
}
