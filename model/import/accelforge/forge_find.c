/* What the parts of the AccelForge importer look up. */
#include "model/import/accelforge/forge.h"

const tf_ynode *fg_member(const tf_ynode *map, const char *key) {
  return map && map->kind == TF_Y_MAP ? tf_ymap_get(map, key) : NULL;
}

int fg_access_of(const forge *f, const fg_leaf *l, int tensor) {
  const fg_einsum *e = &f->einsum[l->einsum];
  for (int a = 0; a < e->n; a++)
    if (e->tensor[a] == tensor) return a;
  return -1;
}

int fg_held(const forge *f, const fg_leaf *l, int m, int tensor) {
  const int a = fg_access_of(f, l, tensor);
  return a < 0 ? -1 : l->held[m][a];
}
