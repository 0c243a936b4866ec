/* A given mapping: what of its shape is open. */
#include <stdlib.h>
#include <string.h>

#include "search/space_genes.h"

tf_shapes *tf_shapes_of(const tf_tree *tree, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_shapes *s = a ? TF_NEW(a, tf_shapes) : NULL;
  if (s) {
    *s = (tf_shapes){.arena = a, .arch = tree->arch, .wl = tree->workload, .given = tree};
    s->size = TF_ARRAY(a, uint8_t, 1);
    s->rare = TF_ARRAY(a, uint8_t, 1);
    if (s->size && s->rare) {
      s->size[0] = 1;
      s->n = 1;
      return s;
    }
  }
  tf_fail(d, tree->nodes[0].at, TF_E_LIMIT, "out of memory");
  tf_arena_free(a);
  return NULL;
}

tf_tree *tf_shapes_complete(const tf_shapes *s, const uint8_t *genes, tf_reads *reads) {
  (void)genes;
  tf_reads_note(reads, 0);
  char *text = tf_tree_text(s->given);
  tf_diags *d = tf_diags_new();
  tf_tree *t = text && d ? tf_tree_parse(text, (tf_loc){0}, s->arch, s->wl, d) : NULL;
  tf_diags_free(d);
  free(text);
  return t;
}
