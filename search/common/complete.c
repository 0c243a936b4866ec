#include "search/common/complete.h"

#include "model/tree/build.h"
#include "model/tree/cover.h"

tf_tree *tf_complete(const tf_tree *open, const int64_t *trips, bool *failed) {
  tf_build *b = tf_build_new(open->arch, open->workload, NULL);
  for (int i = 0; b && i < open->n_nodes; i++) {
    const tf_node *n = &open->nodes[i];
    tf_build_node(b, n);
    for (int k = 0; k < n->n_loops; k++) {
      tf_loop l = n->loops[k];
      bool spare = *trips == 1 && l.trip == 0;
      l.trip = *trips++;
      l.max = l.n_choices = 0;
      if (!spare) tf_build_loop(b, l);
    }
  }
  *failed |= !b || !tf_build_whole(b);
  return tf_build_tree(b);
}

bool tf_trim(const tf_tree *open, int64_t *trips, bool *changed) {
  tf_arena *a = tf_arena_new();
  const tf_facts *f = a ? tf_facts_new(a, open) : NULL;
  tf_cover *c = f ? tf_cover_new(a, f) : NULL;
  int64_t *longest = f ? TF_ARRAY(a, int64_t, (size_t)f->n_dims + 1) : NULL;
  const bool ok = c && longest;
  *changed = false;
  if (ok) tf_cover_begin(c, trips, NULL);
  for (int i = 0; ok && i < f->n_dims; i++)
    longest[i] = c->reach[i].bound;
  for (int n = 0; ok && n < open->n_nodes; n++)
    for (int k = 0; k < open->nodes[n].n_loops; k++) {
      int op;
      int64_t *trip = &trips[f->loop_from[n] + k];
      const int64_t needs = tf_cover_needs(f, trips, longest, (tf_loop_at){n, k}, &op);
      if (open->nodes[n].loops[k].trip != 0 || needs < 1 || needs >= *trip) continue;
      *trip = needs;
      *changed = true;
    }
  tf_arena_free(a);
  return ok;
}

/* FNV-1a hash. */
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * UINT64_C(1099511628211);
  return h;
}
