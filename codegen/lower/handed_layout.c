/* How kernels are handed their inputs and outputs (tileflow/emit.h). */
#include <string.h>

#include "tileflow/emit.h"

static bool is_of(const tf_laid *l, const tf_tensor *z) {
  return !strcmp(l->tensor.name, z->known_as ? z->known_as : z->name);
}

static bool by_rows(const tf_laid *l) {
  bool rows = true;
  for (int i = 0; i < l->n; i++)
    rows &= l->parts[i].rank == i && l->parts[i].part == TF_LAYOUT_WHOLE;
  return rows;
}

/* Known zeros are numbered by rows. */
const tf_laid *tf_layout_of(const tf_arch *a, const tf_tensor *z) {
  const bool argument = (z->producer < 0 || z->n_consumers == 0) && !z->view_of;
  if (!argument || z->density.fall == TF_FALL_KNOWN) return NULL;
  const tf_laids *laid = &a->memories[tf_arch_home(a, z)].laid;
  for (int i = 0; i < laid->n; i++)
    if (is_of(&laid->list[i], z) && !by_rows(&laid->list[i])) return &laid->list[i];
  return NULL;
}

bool tf_layout_followed(const tf_arch *a, const tf_workload *wl, const tf_laid *l) {
  bool followed = by_rows(l);
  for (int z = 0; z < wl->n_tensors; z++)
    followed |= tf_layout_of(a, &wl->tensors[z]) == l;
  return followed;
}
