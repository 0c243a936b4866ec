/* A digest of a problem: equal for files with the same meaning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "tune/store/store.h"

static void index_of(FILE *f, const tf_index *x) {
  fprintf(f, "[%lld", (long long)x->c);
  for (int k = 0; k < x->n_terms; k++)
    fprintf(f, " %lld*%d", (long long)x->terms[k].coef, x->terms[k].dim);
  fputc(']', f);
}

static void op_of(FILE *f, const tf_workload *wl, const tf_op *op) {
  fprintf(f, "op %s %d %d:", op->name, op->out, (int)op->reduce);
  for (int k = 0; k < op->n_dims; k++)
    fprintf(f, " %d", op->dims[k]);
  for (int k = 0; k < op->n_reads; k++) {
    fprintf(f, " read %d", op->reads[k].tensor);
    for (int r = 0; r < wl->tensors[op->reads[k].tensor].rank; r++)
      index_of(f, &op->reads[k].index[r]);
  }
  for (int k = 0; k < op->n_expr; k++) {
    const tf_expr *e = &op->expr[k];
    fprintf(f, " x%d", (int)e->what);
    if (e->what == TF_X_NUMBER) fprintf(f, " %.17g", e->number);
    if (e->what == TF_X_READ) fprintf(f, " %d", e->ref);
    if (e->what == TF_X_DIM) fprintf(f, " %d", e->dim);
    if (e->what == TF_X_CALL) fprintf(f, " %d", (int)e->call);
    for (int i = 0; e->what == TF_X_CALL && i < e->n_args; i++)
      fprintf(f, ",%d", e->arg[i]);
  }
  fputc('\n', f);
}

static void workload_of(FILE *f, const tf_workload *wl) {
  for (int d = 0; d < wl->n_dims; d++)
    fprintf(f, "dim %s %lld\n", wl->dims[d].name, (long long)wl->dims[d].extent);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    fprintf(f, "tensor %s %d", t->name, t->word_bits);
    for (int r = 0; r < t->rank; r++)
      fprintf(f, " %lld+%lld/%lld", (long long)t->lo[r], (long long)t->extent[r], (long long)t->pad[r]);
    fputc('\n', f);
  }
  for (int o = 0; o < wl->n_ops; o++)
    op_of(f, wl, &wl->ops[o]);
}

static void arch_of(FILE *f, const tf_arch *a) {
  for (int l = 0; l < a->n_memories; l++)
    fprintf(f, "memory %s %lld %lld %lld %d %d\n", a->memories[l].name, (long long)a->memories[l].mesh[0],
            (long long)a->memories[l].mesh[1], (long long)a->memories[l].capacity_words, a->memories[l].word_bits,
            a->memories[l].double_buffered);
  for (int u = 0; u < a->n_units; u++)
    fprintf(f, "unit %d %lld %lld %x\n", a->units[u].below, (long long)a->units[u].mesh[0],
            (long long)a->units[u].mesh[1], (unsigned)a->units[u].kinds);
}

bool tune_digest(const tf_arch *arch, const tf_workload *wl, const char *dtype, char hex[65]) {
  char *text = NULL;
  size_t len;
  FILE *f = open_memstream(&text, &len);
  if (!f) return false;
  workload_of(f, wl);
  arch_of(f, arch);
  fprintf(f, "%s\n", dtype ? dtype : "f32");
  const bool ok = fclose(f) == 0;
  if (ok) tf_sha256_text(text, len, hex);
  free(text);
  return ok;
}
