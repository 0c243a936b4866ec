/* Figures of a whole mapping that are derived from a result. */
#include "tileflow/model.h"

double tf_result_traffic(const tf_workload *wl, const tf_result *r) {
  double words = 0;
  for (int z = 0; z < wl->n_tensors; z++)
    words += (double)(r->counts[z].read + r->counts[z].update);
  return words;
}

double tf_result_held(const tf_arch *arch, const tf_result *r) {
  double words = 0;
  for (int l = 1; l < arch->n_memories; l++)
    words += (double)r->levels[l].peak * (double)r->levels[l].instances;
  return words;
}
