#include "tests/kernels/whole.h"

#include <math.h>
#include <stdlib.h>

#include "codegen/ir/ir.h"
#include "model/input/masked.h"

int64_t whole_words(const tf_tensor *z) {
  int64_t n = 1;
  for (int r = 0; r < z->rank; r++)
    n *= z->extent[r];
  return n;
}

/* Masks that are added have rows that end in -inf, some from their first element on, and holes. */
static void mask(const tf_workload *wl, double **data) {
  tf_arena *a = tf_arena_new();
  tf_mask m;
  for (int o = 0; a && o < wl->n_ops; o++) {
    if (!tf_mask_added(wl, o, a, &m)) continue;
    const int z = wl->ops[o].reads[m.mask_read].tensor;
    const int64_t row = wl->tensors[z].extent[wl->tensors[z].rank - 1];
    for (int64_t i = 0; i < whole_words(&wl->tensors[z]); i++)
      if (i % row >= (i / row * 7 + 3) % (row + 1) || i % 5 == 2) data[z][i] = -INFINITY;
  }
  tf_arena_free(a);
}

double **whole_new(const tf_workload *wl) {
  double **data = calloc((size_t)wl->n_tensors, sizeof *data);
  for (int z = 0; data && z < wl->n_tensors; z++) {
    int64_t n = whole_words(&wl->tensors[z]);
    if (wl->tensors[z].view_of) continue;
    data[z] = malloc((size_t)n * sizeof **data);
    if (!data[z]) {
      whole_free(wl, data);
      return NULL;
    }
    for (int64_t i = 0; i < n; i++) /* positive: random workloads divide by sums of them */
      data[z][i] = wl->tensors[z].producer < 0 ? (double)((i * 37 + z * 11) % 101 + 1) / 64 : NAN;
  }
  if (data) mask(wl, data);
  for (int z = 0; data && z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of) data[z] = data[wl->tensors[z].view_of - 1];
  return data;
}

void whole_free(const tf_workload *wl, double **data) {
  for (int z = 0; data && z < wl->n_tensors; z++)
    if (!wl->tensors[z].view_of) free(data[z]);
  free(data);
}

int64_t whole_at(const tf_workload *wl, const tf_ref *ref, const int64_t *point) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  int64_t i = 0;
  for (int r = 0; r < z->rank; r++) {
    int64_t at = ref->index[r].c - z->lo[r];
    for (int t = 0; t < ref->index[r].n_terms; t++)
      at += ref->index[r].terms[t].coef * point[ref->index[r].terms[t].dim];
    if (at < 0 || at >= z->extent[r]) return -1;
    i = i * z->extent[r] + at;
  }
  return i;
}

static double fetch(const tf_workload *wl, double **data, const tf_ref *ref, const int64_t *point) {
  int64_t i = whole_at(wl, ref, point);
  return i < 0 ? 0 : data[ref->tensor][i];
}

static bool next_point(const tf_workload *wl, const tf_op *op, int64_t *point) {
  for (int k = op->n_dims - 1; k >= 0; k--) {
    if (++point[op->dims[k]] < wl->dims[op->dims[k]].extent) return true;
    point[op->dims[k]] = 0;
  }
  return false;
}

static void run_op(const tf_workload *wl, const tf_op *op, double **data) {
  const tf_tensor *z = &wl->tensors[op->out];
  int64_t point[256] = {0}, n = whole_words(z);
  for (int64_t i = 0; i < n; i++)
    data[op->out][i] = ir_identity(op->reduce);
  do {
    double read[64]; /* the most that an op has */
    int64_t at = 0;
    for (int i = 0; i < op->n_reads; i++)
      read[i] = fetch(wl, data, &op->reads[i], point);
    for (int r = 0; r < z->rank; r++)
      at = at * z->extent[r] + point[op->dims[r]] - z->lo[r];
    data[op->out][at] = ir_combine(op->reduce, data[op->out][at], ir_value(op, read, point, -1));
  } while (next_point(wl, op, point));
}

void whole_run(const tf_workload *wl, double **data) {
  for (int i = 0; i < wl->n_ops; i++)
    run_op(wl, &wl->ops[wl->topo[i]], data);
}

static bool same(double want, double got) {
  return isnan(want) ? isnan(got) : want == got || fabs(got - want) <= 1e-9 * (1 + fabs(want));
}

bool whole_equal(const tf_workload *wl, double **want, double **got) {
  bool equal = true;
  for (int z = 0; z < wl->n_tensors; z++)
    for (int64_t i = 0; wl->tensors[z].producer >= 0 && !wl->tensors[z].n_consumers &&
                        i < whole_words(&wl->tensors[z]);
         i++)
      equal &= same(want[z][i], got[z][i]);
  return equal;
}
