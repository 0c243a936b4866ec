#include "search/common/complete.h"

#include <stdlib.h>
#include <string.h>

#include "model/tree/build.h"

char *tf_complete_text(const tf_tree *open, const int64_t *trips) {
  int n_loops = 0;
  for (int i = 0; i < open->n_nodes; i++)
    n_loops += open->nodes[i].kind == TF_TILE ? open->nodes[i].n_loops : 0;
  tf_node *nodes = malloc((size_t)open->n_nodes * sizeof *nodes);
  tf_loop *loops = malloc(((size_t)n_loops + 1) * sizeof *loops), *at = loops;
  char *text = NULL;
  if (nodes && loops) {
    memcpy(nodes, open->nodes, (size_t)open->n_nodes * sizeof *nodes);
    for (int i = 0; i < open->n_nodes; i++) {
      const tf_node *from = &open->nodes[i];
      tf_node *n = &nodes[i];
      if (from->kind != TF_TILE) continue;
      n->loops = at;
      n->n_loops = n->n_temporal = 0;
      for (int k = 0; k < from->n_loops; k++) {
        int64_t trip = *trips++;
        if (trip == 1 && from->loops[k].trip == 0) continue;
        *at = from->loops[k];
        at->trip = trip;
        at++;
        n->n_loops++;
        n->n_temporal += from->loops[k].axis == TF_TEMPORAL;
      }
    }
    tf_tree whole = *open;
    whole.nodes = nodes;
    whole.open = false;
    text = tf_tree_text(&whole);
  }
  free(nodes);
  free(loops);
  return text;
}

bool tf_complete_legal(const tf_tree *open, const char *text) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = d && text ? tf_tree_parse(text, (tf_loc){0}, open->arch, open->workload, d) : NULL;
  bool legal = t != NULL;
  tf_tree_free(t);
  tf_diags_free(d);
  return legal;
}

tf_tree *tf_complete(const tf_tree *open, const int64_t *trips, bool *failed) {
  tf_build *b = tf_build_new(open->arch, open->workload, NULL);
  for (int i = 0; b && i < open->n_nodes; i++) {
    const tf_node *n = &open->nodes[i];
    tf_build_node(b, n);
    for (int k = 0; k < n->n_loops; k++) {
      tf_loop l = n->loops[k];
      bool spare = *trips == 1 && l.trip == 0;
      l.trip = *trips++;
      if (!spare) tf_build_loop(b, l);
    }
  }
  *failed |= !b || !tf_build_whole(b);
  return tf_build_tree(b);
}

/* FNV-1a. */
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * UINT64_C(1099511628211);
  return h;
}
