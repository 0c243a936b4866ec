/* Fuzzes the reader of mappings: any text either gives a tree that prints and reads back
 * alike, or located errors.  The first byte picks the workload, the rest is the text.
 * Without libFuzzer: standalone.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tileflow/tree.h"

#define ARCH                                                                                       \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L1, mesh: [2, 2]}\n"                   \
  "  - {name: L0, mesh: [4, 4]}\n  compute:\n  - {name: matrix, ops: [mac], below: L0}\n"          \
  "  - {name: vector, ops: [add, sub, mul, div, max, exp], below: L1}\nworkload:\n"
static const char *const specs[] = {
    ARCH "  dims: {m: 8, l: 16, a: 4, n: 2}\n  ops:\n  - S[m,l] += Q[m,a] * K[l,a]\n"
         "  - X[m] max= S[m,l]\n  - D[m,l] = S[m,l] - X[m]\n  - E[m,l] = exp(D[m,l])\n"
         "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n  - O[m,n] += P[m,l] * V[l,n]\n",
    ARCH "  dims: {p: 8, q: 8, r: 3, s: 3}\n  tensors: {T: {pad: [1]}, I: {pad: [1]}}\n"
         "  ops:\n  - T[q] += I[q + r - 1] * W[r]\n  - O[p] += T[p + s - 1] * V[s]\n"
         "  - R[p] = O[p] + T[p]\n",
    ARCH "  dims: {m: 8, f: 4}\n  ops:\n  - T[m] = I[m] + J[m]\n  - U[m,f] = T[m] + F[f]\n"
         "  - O[m] += U[m,f] * T[m]\n",
};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* What every tree that was read must keep to. */
static void check(const tf_tree *t) {
  for (int i = 0; i < t->n_nodes; i++) {
    const tf_node *n = &t->nodes[i];
    if (n->end <= i || n->end > t->n_nodes || n->parent >= i) abort();
    if (n->kind == TF_OP ? n->n_children != 0 || t->op_node[n->op] != i : n->n_children < 1)
      abort();
    for (int k = 0; k < n->n_children; k++)
      if (t->nodes[n->children[k]].parent != i || t->nodes[n->children[k]].child_no != k) abort();
    for (int k = 0; k < n->n_loops; k++)
      if ((n->loops[k].axis == TF_TEMPORAL) != (k < n->n_temporal) || n->loops[k].trip < 0) abort();
  }
  for (int z = 0; z < t->workload->n_tensors; z++) {
    int home = tf_tree_home(t, z), scope = tf_tree_home_scope(t, z);
    if (home < 0 || home >= t->arch->n_memories || scope >= t->n_nodes) abort();
    if (scope >= 0 && t->nodes[scope].kind != TF_SCOPE) abort();
  }
}

static void round_trip(const tf_tree *t, tf_loc at, const tf_spec *s, tf_diags *d) {
  char *text = tf_tree_text(t);
  tf_tree *again = text ? tf_tree_parse(text, at, s->arch, s->workload, d) : NULL;
  char *twice = again ? tf_tree_text(again) : NULL;
  if (!twice || strcmp(text, twice) != 0) abort();
  free(twice);
  free(text);
  tf_tree_free(again);
}

/* Read once, for speed; lives as long as the process. */
static const tf_spec *spec_no(size_t i) {
  static tf_spec *read[N_SPECS];
  tf_diags *d = read[i] ? NULL : tf_diags_new();
  tf_text source = {"spec.yaml", specs[i], strlen(specs[i])};
  if (!read[i]) read[i] = tf_spec_read_texts(&source, 1, NULL, 0, d);
  tf_diags_free(d);
  return read[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const tf_spec *s = spec_no(data[0] % N_SPECS);
  tf_diags *d = tf_diags_new();
  char *text = malloc(size);
  if (!s || !text) abort();
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  tf_loc at = {tf_diags_add_file(d, "map", text, size - 1), 1, 1, 1};
  tf_tree *t = tf_tree_parse(text, at, s->arch, s->workload, d);
  if ((t == NULL) != (tf_diags_errors(d) > 0)) abort();
  if (t) {
    check(t);
    round_trip(t, at, s, d);
  }
  free(tf_diags_text(d));
  free(text);
  tf_tree_free(t);
  tf_diags_free(d);
  return 0;
}
