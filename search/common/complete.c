#include "search/common/complete.h"

#include "model/tree/build.h"

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

/* FNV-1a hash. */
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * UINT64_C(1099511628211);
  return h;
}
