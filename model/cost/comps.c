#include "model/cost/comps.h"

#include <string.h>

/* Puts `c` into the list, joined with every entry that shares a loop with it. */
static int join(tf_comp *list, int n, tf_comp c) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    if (!(list[i].loops & c.loops)) {
      list[kept++] = list[i];
      continue;
    }
    c.loops |= list[i].loops;
    c.prev_loops |= list[i].prev_loops;
    for (int k = 0; k < list[i].n_rank; k++)
      c.rank[c.n_rank++] = list[i].rank[k];
  }
  list[kept++] = c;
  return kept;
}

/* Loops that share the chain of path position k, and what the range entering it depends on. */
static uint64_t chain_mask(const tf_plan *p, const tf_path *path, int k) {
  const tf_ploop *l = &p->loops[path->loops[k]];
  uint64_t mask = UINT64_C(1) << k;
  for (int j = 0; j < path->n; j++)
    if (p->loops[path->loops[j]].lead == l->lead && p->loops[path->loops[j]].dim == l->dim &&
        p->loops[path->loops[j]].op >= 0)
      mask |= UINT64_C(1) << j;
  for (int i = 0; i < l->n_leader; i++)
    mask |= tf_base_mask(p, l->leaders[i], l->dim);
  return mask;
}

/* What rank r of the m-tile before depends on: loops common to both paths, and (in *own) its own.
 * (Its own spatial loops have twins on s's path, which move the same rank: tf_layouts_agree.) */
static uint64_t prev_mask(const tf_plan *p, const tf_pclass *c, int r,
                          uint64_t *own) {
  if (c->prev < 0 || c->common < 0)
    return 0;
  const tf_slice *q = &p->slices[c->prev];
  uint64_t mask = tf_slice_mask(p, q, r), shared = 0;
  int n_shared = p->path[c->common].n;
  for (int k = 0; k < n_shared; k++)
    shared |= UINT64_C(1) << k;
  *own = mask & ~shared;
  return mask & shared;
}

/* All comps of slice s for class c (NULL: of the box alone). */
static tf_comp *build(tf_arena *a, const tf_plan *p, const tf_slice *s, const tf_pclass *c,
                      int *n) {
  tf_comp list[TF_MAX_PATH + TF_MAX_RANK + 1];
  const tf_path *path = &p->path[s->node];
  *n = 0;
  for (int k = 0; k < path->n; k++)
    if (p->loops[path->loops[k]].op >= 0)
      *n = join(list, *n, (tf_comp){.loops = chain_mask(p, path, k)});
  for (int r = 0; s->tensor >= 0 && r < p->wl->tensors[s->tensor].rank; r++) {
    tf_comp own = {.loops = tf_slice_mask(p, s, r), .n_rank = 1, .rank = {(unsigned char)r}};
    if (c)
      own.loops |= prev_mask(p, c, r, &own.prev_loops);
    *n = join(list, *n, own);
  }
  tf_comp *out = TF_ARRAY(a, tf_comp, (size_t)*n + 1);
  if (out)
    memcpy(out, list, (size_t)*n * sizeof list[0]);
  return out;
}

bool tf_comps_fill(tf_arena *a, tf_plan *p, tf_slice *s) {
  s->comp = build(a, p, s, NULL, &s->n_comp);
  s->plain = s->n_touch == 1 && !p->clips;
  if (!s->comp)
    return false;
  for (int i = 0; i < s->n_class; i++) {
    s->classes[i].comp = build(a, p, s, &s->classes[i], &s->classes[i].n_comp);
    if (!s->classes[i].comp)
      return false;
  }
  return true;
}
