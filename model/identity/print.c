#include "model/identity/print.h"

/* ---- architectures -------------------------------------------------------------------- */

static void field(FILE *out, const char *name, const void *at, size_t size) {
  const unsigned char *byte = at;
  fprintf(out, " %s ", name);
  for (size_t i = 0; i < size; i++)
    fprintf(out, "%02x", byte[i]);
}

void tf_arch_print(FILE *out, const tf_arch *a) {
#define X(type, id, size) field(out, #id, &a->id, sizeof a->id);
  TF_ARCH_FIELDS(X)
#undef X
  for (int l = 0; l < a->n_memories; l++) {
    const tf_memory *m = &a->memories[l];
    fprintf(out, "\nmemory %s", m->name);
#define X(type, id, size) field(out, #id, &m->id, sizeof m->id);
    TF_MEMORY_FIELDS(X)
#undef X
  }
  for (int i = 0; i < a->n_units; i++) {
    const tf_unit *u = &a->units[i];
    fprintf(out, "\nunit %s", u->name);
#define X(type, id, size) field(out, #id, &u->id, sizeof u->id);
    TF_UNIT_FIELDS(X)
#undef X
  }
  fputc('\n', out);
}

/* ---- workloads ------------------------------------------------------------------------ */

static void index_of(FILE *out, const tf_index *x) {
  fprintf(out, "[%lld", (long long)x->c);
  for (int k = 0; k < x->n_terms; k++)
    fprintf(out, " %lld*%d", (long long)x->terms[k].coef, x->terms[k].dim);
  fputc(']', out);
}

static void op_of(FILE *out, const tf_workload *wl, const tf_op *op) {
  fprintf(out, "op %s %d %d:", op->name, op->out, (int)op->reduce);
  for (int k = 0; k < op->n_dims; k++)
    fprintf(out, " %d", op->dims[k]);
  for (int k = 0; k < op->n_reads; k++) {
    fprintf(out, " read %d", op->reads[k].tensor);
    for (int r = 0; r < wl->tensors[op->reads[k].tensor].rank; r++)
      index_of(out, &op->reads[k].index[r]);
  }
  for (int k = 0; k < op->n_expr; k++) {
    const tf_expr *e = &op->expr[k];
    fprintf(out, " x%d", (int)e->what);
    if (e->what == TF_X_NUMBER) fprintf(out, " %.17g", e->number);
    if (e->what == TF_X_READ) fprintf(out, " %d", e->ref);
    if (e->what == TF_X_DIM) fprintf(out, " %d", e->dim);
    if (e->what == TF_X_CALL) fprintf(out, " %d", (int)e->call);
    for (int i = 0; e->what == TF_X_CALL && i < e->n_args; i++)
      fprintf(out, ",%d", e->arg[i]);
  }
  fputc('\n', out);
}

void tf_workload_print(FILE *out, const tf_workload *wl) {
  for (int d = 0; d < wl->n_dims; d++)
    fprintf(out, "dim %s %lld\n", wl->dims[d].name, (long long)wl->dims[d].extent);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    fprintf(out, "tensor %s %d", t->name, t->word_bits);
    for (int r = 0; r < t->rank; r++)
      fprintf(out, " %lld+%lld/%lld", (long long)t->lo[r], (long long)t->extent[r], (long long)t->pad[r]);
    if (t->view_of) fprintf(out, " view %d", t->view_of);
    fputc('\n', out);
  }
  for (int o = 0; o < wl->n_ops; o++)
    op_of(out, wl, &wl->ops[o]);
}
