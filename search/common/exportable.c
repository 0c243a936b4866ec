#include "search/common/exportable.h"

#include "tileflow/tree.h"

static bool writes(const char *format, const tf_arch *arch, const tf_workload *wl,
                   const tf_tree *tree, tf_diags *d) {
  tf_export *e = tf_export_write(format, arch, wl, tree, d);
  const bool ok = e != NULL;
  tf_export_free(e);
  return ok;
}

/* Checks without reporting warnings: these say which times and energies the format cannot express,
 * and concern the exporting user only. */
static bool writes_quietly(const char *format, const tf_arch *arch, const tf_workload *wl,
                           const tf_tree *tree) {
  tf_diags *d = tf_diags_new();
  const bool ok = d && writes(format, arch, wl, tree, d);
  tf_diags_free(d);
  return ok;
}

bool tf_can_export(const char *format, const tf_tree *tree) {
  return !format || (tree && writes_quietly(format, tree->arch, tree->workload, tree));
}

bool tf_may_export(const char *format, const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  return !format || writes_quietly(format, arch, wl, NULL) || writes(format, arch, wl, NULL, d);
}
