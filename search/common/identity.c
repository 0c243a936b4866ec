#include "search/common/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/identity/print.h"
#include "search/common/complete.h"
#include "tileflow/search.h"
#include "tileflow/tree.h"

static void mix(uint64_t *h, const char *text) {
  if (text) *h = tf_hash(*h, text, strlen(text));
}

static void mix_spec(uint64_t *h, const tf_arch *arch, const tf_workload *wl) {
  char *text = NULL;
  size_t len;
  FILE *f = open_memstream(&text, &len);
  if (!f) return;
  tf_arch_print(f, arch);
  tf_workload_print(f, wl);
  if (fclose(f) == 0) mix(h, text);
  free(text);
}

static void mix_tree(uint64_t *h, const tf_tree *t) {
  char *text = tf_tree_text(t);
  mix(h, text);
  free(text);
}

uint64_t tf_identity(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                     const tf_tree *const *starts, int n_starts) {
  uint64_t h = TF_HASH_START;
  mix_spec(&h, arch, wl);
  if (given) mix_tree(&h, given);
  for (int i = 0; i < n_starts; i++)
    mix_tree(&h, starts[i]);
  return h;
}
