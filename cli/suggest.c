#include "cli/suggest.h"

#include <inttypes.h>

void cli_suggest_mapping(const tf_spec *spec, FILE *out) {
  const tf_workload *wl = spec->workload;
  int indent = wl->n_ops > 1 ? 4 : 2;
  fputs("One to start from, every op by itself:\n\n", out);
  fputs("mapping: |\n", out);
  if (wl->n_ops > 1) fputs("  Seq\n", out);
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    fprintf(out, "%*s%s", indent, "", spec->arch->memories[0].name);
    bool first = true;
    for (int d = 0; d < op->n_dims; d++) {
      const tf_dim *dim = &wl->dims[op->dims[d]];
      if (dim->extent > 1)
        fprintf(out, "%s %s=%" PRId64, first ? " for" : "", dim->name, dim->extent);
      first = first && dim->extent == 1;
    }
    fprintf(out, "\n%*sop %s\n", indent + 2, "", op->name);
  }
}
