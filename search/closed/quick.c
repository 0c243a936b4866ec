#include "search/closed/quick.h"

#include <string.h>

#include "model/input/dims.h"

static bool widen(tf_arena *a, tf_tensor *z) {
  int64_t *lo = TF_ARRAY(a, int64_t, (size_t)z->rank);
  int64_t *extent = TF_ARRAY(a, int64_t, (size_t)z->rank);
  int64_t *pad = TF_ARRAY(a, int64_t, (size_t)z->rank);
  if (!lo || !extent || !pad) return false;
  for (int r = 0; r < z->rank; r++) {
    lo[r] = z->lo[r] - z->pad[r];
    extent[r] = z->extent[r] + 2 * z->pad[r];
  }
  z->lo = lo;
  z->extent = extent;
  z->pad = pad;
  return true;
}

const tf_workload *tf_quick_workload(tf_arena *a, const tf_workload *wl) {
  int n = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    n += tf_is_padded(&wl->tensors[z]);
    if (tf_is_padded(&wl->tensors[z]) && wl->tensors[z].producer >= 0) return wl;
  }
  if (n == 0) return wl;
  tf_workload *quick = TF_NEW(a, tf_workload);
  tf_tensor *tensors = TF_ARRAY(a, tf_tensor, (size_t)wl->n_tensors);
  if (!quick || !tensors) return NULL;
  memcpy(tensors, wl->tensors, (size_t)wl->n_tensors * sizeof *tensors);
  for (int z = 0; z < wl->n_tensors; z++)
    if (!widen(a, &tensors[z])) return NULL;
  *quick = *wl;
  quick->tensors = tensors;
  return quick;
}
