/* Decodes genes to a legal tree. */
#include <stdlib.h>
#include <string.h>

#include "search/common/complete.h"
#include "search/space/genes.h"

/* Drops what the algebra or the rules forbid, first streaming, then keeping, then bypasses, until
 * the tree is legal. */
tf_tree *tf_shapes_tree(const tf_shapes *s, const int32_t *genes, tf_reads *reads) {
  static const unsigned strips[] = {0, TF_STRIP_STREAM, TF_STRIP_STREAM | TF_STRIP_KEEP,
                                    TF_STRIP_STREAM | TF_STRIP_KEEP | TF_STRIP_BYPASS,
                                    TF_STRIP_STREAM | TF_STRIP_KEEP | TF_STRIP_BYPASS |
                                        TF_STRIP_RUNS};
  memset(reads->order, 0, (size_t)s->n * sizeof *reads->order);
  reads->n = 0;
  if (s->given) return tf_shapes_complete(s, genes, reads);
  tf_tree *t = NULL;
  for (size_t i = 0; !t && i < sizeof strips / sizeof strips[0]; i++)
    t = tf_shapes_decode(s, genes, reads, strips[i]);
  return t;
}

/* Hashes those of the read genes that decide how scopes run. */
static uint64_t style_hash(const tf_shapes *s, const int32_t *genes, const uint32_t *order,
                           uint64_t h) {
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_column *c = &s->columns[o];
    for (int l = 0; l <= s->arch->n_memories; l++) {
      const int at[] = {c->kind + l, c->stream + l, c->run + l};
      for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        uint8_t gene = (uint8_t)genes[at[i]];
        if (tf_was_read(order, at[i])) h = tf_hash(h, &gene, 1);
      }
    }
  }
  return h;
}

uint64_t tf_shapes_niche(const tf_shapes *s, const int32_t *genes, const uint32_t *order) {
  tf_fusion f;
  uint64_t h = TF_HASH_START;
  tf_arena *a = s->given ? NULL : tf_arena_new();
  bool ok = a && tf_shapes_fuse(s, genes, NULL, a, &f);
  for (int l = 0; ok && l < s->arch->n_memories; l++) {
    for (int o = 0; o < s->wl->n_ops; o++) { /* a group is named by its first op */
      int first = 0;
      while (f.group[l][first] != f.group[l][o])
        first++;
      h = tf_hash(h, &first, sizeof first);
    }
  }
  tf_arena_free(a);
  return ok ? style_hash(s, genes, order, h) : h;
}
