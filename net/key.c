/* A key that is equal for groups that differ only in names. */
#include <string.h>

#include "net/net.h"

/* An array of numbers; while `at` is NULL they are only counted. */
typedef struct {
  int64_t *at;
  size_t n;
} row;

static void append(row *r, int64_t x) {
  if (r->at) r->at[r->n] = x;
  r->n++;
}

static void append_all(row *r, const int64_t *x, int n) {
  for (int i = 0; i < n; i++)
    append(r, x[i]);
}

static void put_tensor(row *r, const tf_tensor *z) {
  append(r, z->rank);
  append_all(r, z->lo, z->rank);
  append_all(r, z->extent, z->rank);
  append_all(r, z->pad, z->rank);
  append(r, z->word_bits);
  append(r, (int64_t)z->held);
  append(r, z->ranged ? z->least : INT64_MIN);
  append(r, z->ranged ? z->most : INT64_MAX);
}

static void put_ref(row *r, const tf_workload *wl, const tf_ref *ref) {
  append(r, ref->tensor);
  for (int k = 0; k < wl->tensors[ref->tensor].rank; k++) {
    const tf_index *x = &ref->index[k];
    append(r, x->c);
    append(r, x->n_terms);
    for (int i = 0; i < x->n_terms; i++) {
      append(r, x->terms[i].dim);
      append(r, x->terms[i].coef);
    }
  }
}

static void put_expr(row *r, const tf_expr *e) {
  int64_t bits = 0;
  append(r, (int64_t)e->what);
  if (e->what == TF_X_NUMBER) memcpy(&bits, &e->number, sizeof bits);
  if (e->what == TF_X_READ) bits = e->ref;
  if (e->what == TF_X_DIM) bits = e->dim;
  if (e->what == TF_X_CALL) bits = (int64_t)e->call;
  append(r, bits);
  for (int i = 0; e->what == TF_X_CALL && i < e->n_args; i++)
    append(r, e->arg[i]);
}

static void put_op(row *r, const tf_workload *wl, const tf_op *op) {
  append(r, op->n_dims);
  for (int i = 0; i < op->n_dims; i++)
    append(r, op->dims[i]);
  append(r, op->out);
  append(r, op->n_out_dims);
  append(r, (int64_t)op->reduce);
  append(r, op->n_reads);
  for (int i = 0; i < op->n_reads; i++)
    put_ref(r, wl, &op->reads[i]);
  append(r, op->n_expr);
  for (int i = 0; i < op->n_expr; i++)
    put_expr(r, &op->expr[i]);
}

static void put_workload(row *r, const tf_workload *wl) {
  append(r, wl->n_dims);
  for (int i = 0; i < wl->n_dims; i++)
    append(r, wl->dims[i].extent);
  append(r, wl->n_tensors);
  for (int i = 0; i < wl->n_tensors; i++)
    put_tensor(r, &wl->tensors[i]);
  append(r, wl->n_ops);
  for (int i = 0; i < wl->n_ops; i++)
    put_op(r, wl, &wl->ops[i]);
}

const char *net_key(tf_arena *a, const tf_workload *wl, size_t *size) {
  row r = {0};
  put_workload(&r, wl);
  r.at = TF_ARRAY(a, int64_t, r.n);
  if (!r.at) return NULL;
  r.n = 0;
  put_workload(&r, wl);
  *size = r.n * sizeof *r.at;
  return (const char *)r.at;
}
