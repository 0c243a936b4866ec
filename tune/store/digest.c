/* A digest of a problem: equal for files with the same meaning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "model/identity/print.h"
#include "model/input/table/keys.h"
#include "tune/store/tune_store.h"

/* What of the machine decides which mappings there are.  Kernels are measured: bandwidths, rates
 * and energies do not set problems apart. */
static void arch_of(FILE *f, const tf_arch *a) {
  for (int l = 0; l < a->n_memories; l++) {
    fprintf(f, "memory %s %lld %lld %lld %d %d\n", a->memories[l].name,
            (long long)a->memories[l].mesh[0], (long long)a->memories[l].mesh[1],
            (long long)a->memories[l].capacity_words, a->memories[l].word_bits,
            a->memories[l].double_buffered);
    for (int i = 0; i < a->memories[l].parts.n; i++) {
      tf_keys_print(f, &tf_part_table, &a->memories[l].parts.list[i]);
      fprintf(f, "\n");
    }
  }
  for (int u = 0; u < a->n_units; u++)
    fprintf(f, "unit %d %lld %lld %x\n", a->units[u].below, (long long)a->units[u].mesh[0],
            (long long)a->units[u].mesh[1], (unsigned)a->units[u].kinds);
}

bool tune_digest(const tf_arch *arch, const tf_workload *wl, const char *dtype, char hex[65]) {
  char *text = NULL;
  size_t len;
  FILE *f = open_memstream(&text, &len);
  if (!f) return false;
  tf_workload_print(f, wl);
  arch_of(f, arch);
  fprintf(f, "%s\n", dtype ? dtype : "f32");
  const bool ok = fclose(f) == 0;
  if (ok) tf_sha256_text(text, len, hex);
  free(text);
  return ok;
}
