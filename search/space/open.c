/* The completions of a given mapping with open parts.  An open scope has a gene for its kind; n
 * loops in open order have n - 1 genes, each of which selects the next loop from those left. */
#include <stdlib.h>
#include <string.h>

#include "model/tree/build.h"
#include "search/common/complete.h"
#include "search/space/genes.h"

static int genes_of(const tf_node *n) {
  if (n->kind == TF_SCOPE) return n->scope_open;
  return n->kind == TF_TILE && n->order_open && n->n_temporal > 1 ? n->n_temporal - 1 : 0;
}

static bool lay_out(tf_shapes *s) {
  const tf_tree *t = s->given;
  size_t n = 1;
  for (int i = 0; i < t->n_nodes; i++)
    n += (size_t)genes_of(&t->nodes[i]);
  s->size = TF_ARRAY(s->arena, uint8_t, n);
  s->rare = TF_ARRAY(s->arena, uint8_t, n);
  if (!s->size || !s->rare) return false;
  s->size[s->n++] = 1; /* at least one gene, so that the space is not empty */
  for (int i = 0; i < t->n_nodes; i++) {
    const tf_node *node = &t->nodes[i];
    for (int k = 0; k < genes_of(node); k++) {
      int size = node->kind == TF_SCOPE ? TF_N_SCOPES : node->n_temporal - k;
      s->size[s->n++] = (uint8_t)(size > 200 ? 200 : size);
    }
  }
  return true;
}

tf_shapes *tf_shapes_of(const tf_tree *tree, const tf_workload *wl, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_shapes *s = a ? TF_NEW(a, tf_shapes) : NULL;
  if (s) {
    *s = (tf_shapes){.arena = a, .arch = tree->arch, .wl = wl, .given = tree};
    if (lay_out(s)) return s;
  }
  tf_out_of_memory_at(d, tree->nodes[0].at);
  tf_arena_free(a);
  return NULL;
}

/* Puts the temporal loops into the order that the genes encode, into `loops`. */
static void arrange(tf_node *n, const int32_t *genes, tf_loop *loops) {
  memcpy(loops, n->loops, (size_t)n->n_loops * sizeof *loops);
  for (int k = 0; k + 1 < n->n_temporal; k++) {
    int pick = k + genes[k] % (n->n_temporal - k);
    tf_loop chosen = loops[pick];
    memmove(&loops[k + 1], &loops[k], (size_t)(pick - k) * sizeof *loops);
    loops[k] = chosen;
  }
  n->loops = loops;
}

tf_tree *tf_shapes_complete(const tf_shapes *s, const int32_t *genes, tf_reads *reads) {
  int most = 1, g = 1;
  for (int i = 0; i < s->given->n_nodes; i++)
    if (s->given->nodes[i].n_loops > most) most = s->given->nodes[i].n_loops;
  tf_loop *loops = malloc((size_t)most * sizeof *loops);
  tf_build *b = loops ? tf_build_new(s->arch, s->wl, NULL) : NULL;
  tf_reads_note(reads, 0);
  for (int i = 0; b && i < s->given->n_nodes; i++) {
    tf_node n = s->given->nodes[i];
    int own = genes_of(&n);
    for (int k = 0; k < own; k++)
      tf_reads_note(reads, g + k);
    if (own && n.kind == TF_SCOPE) n.scope = (tf_scope)(genes[g] % TF_N_SCOPES);
    if (own && n.kind == TF_TILE) arrange(&n, &genes[g], loops);
    n.scope_open = n.order_open = false;
    tf_build_node(b, &n);
    for (int k = 0; k < n.n_loops; k++)
      tf_build_loop(b, n.loops[k]);
    g += own;
  }
  free(loops);
  return tf_build_tree(b);
}
