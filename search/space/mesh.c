/* The mesh of memories or units that a Tile's loops spread over. */
#include "search/space/build.h"

int tf_space_unit(const tf_facts *f, int o) {
  int deepest = 0;
  for (int n = f->tree->op_node[o]; n >= 0; n = f->tree->nodes[n].parent)
    if (f->tree->nodes[n].kind == TF_TILE && f->tree->nodes[n].level > deepest)
      deepest = f->tree->nodes[n].level;
  for (int u = 0; u < f->arch->n_units; u++) {
    const tf_unit *unit = &f->arch->units[u];
    if (!(f->wl->ops[o].kinds & ~unit->kinds) && unit->below >= deepest) return u;
  }
  return -1;
}

int32_t tf_space_mesh(const tf_facts *f, int n, tf_axis axis) {
  int level = f->tree->nodes[n].level, a = axis == TF_SPATIAL_Y;
  int64_t least = INT32_MAX;
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++) {
    int u = tf_space_unit(f, f->leaf_op[i]);
    if (u < 0) continue;
    const tf_unit *unit = &f->arch->units[u];
    int64_t m = unit->below <= level || level + 1 >= f->arch->n_memories
                    ? unit->mesh[a]
                    : f->arch->memories[level + 1].mesh[a];
    if (m < least) least = m;
  }
  return (int32_t)least;
}
