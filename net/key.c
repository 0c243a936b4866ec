/* A key that is equal for groups which differ only in names. */
#include <string.h>

#include "net/net.h"

/* A row of numbers; while `at` is NULL they are only counted. */
typedef struct {
  int64_t *at;
  size_t n;
} row;

static void put(row *r, int64_t x) {
  if (r->at) r->at[r->n] = x;
  r->n++;
}

static void put_all(row *r, const int64_t *x, int n) {
  for (int i = 0; i < n; i++)
    put(r, x[i]);
}

static void put_tensor(row *r, const tf_tensor *z) {
  put(r, z->rank);
  put_all(r, z->lo, z->rank);
  put_all(r, z->extent, z->rank);
  put_all(r, z->pad, z->rank);
  put(r, z->word_bits);
}

static void put_ref(row *r, const tf_workload *wl, const tf_ref *ref) {
  put(r, ref->tensor);
  for (int k = 0; k < wl->tensors[ref->tensor].rank; k++) {
    const tf_index *x = &ref->index[k];
    put(r, x->c);
    put(r, x->n_terms);
    for (int i = 0; i < x->n_terms; i++) {
      put(r, x->terms[i].dim);
      put(r, x->terms[i].coef);
    }
  }
}

static void put_expr(row *r, const tf_expr *e) {
  int64_t bits = 0;
  put(r, (int64_t)e->what);
  if (e->what == TF_X_NUMBER) memcpy(&bits, &e->number, sizeof bits);
  if (e->what == TF_X_READ) bits = e->ref;
  if (e->what == TF_X_DIM) bits = e->dim;
  if (e->what == TF_X_CALL) bits = (int64_t)e->call;
  put(r, bits);
  for (int i = 0; e->what == TF_X_CALL && i < e->n_args; i++)
    put(r, e->arg[i]);
}

static void put_op(row *r, const tf_workload *wl, const tf_op *op) {
  put(r, op->n_dims);
  for (int i = 0; i < op->n_dims; i++)
    put(r, op->dims[i]);
  put(r, op->out);
  put(r, op->n_out_dims);
  put(r, (int64_t)op->reduce);
  put(r, op->n_reads);
  for (int i = 0; i < op->n_reads; i++)
    put_ref(r, wl, &op->reads[i]);
  put(r, op->n_expr);
  for (int i = 0; i < op->n_expr; i++)
    put_expr(r, &op->expr[i]);
}

static void put_workload(row *r, const tf_workload *wl) {
  put(r, wl->n_dims);
  for (int i = 0; i < wl->n_dims; i++)
    put(r, wl->dims[i].extent);
  put(r, wl->n_tensors);
  for (int i = 0; i < wl->n_tensors; i++)
    put_tensor(r, &wl->tensors[i]);
  put(r, wl->n_ops);
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
