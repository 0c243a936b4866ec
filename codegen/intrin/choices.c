/* What can be chosen for the generator, and which workloads a choice concerns. */
#include "tileflow/emit.h"

static const tf_choice_row rows[] = {
#define X(id, name, values, what) {name, what, {values}},
    TF_CHOICES(X)
#undef X
};

const tf_choice_row *tf_choice_at(tf_choice c) { return &rows[c]; }

/* Whether an op sums products of two operands. */
static bool has_products(const tf_workload *wl) {
  for (int o = 0; o < wl->n_ops; o++)
    if (wl->ops[o].reduce == TF_REDUCE_ADD && wl->ops[o].n_reads == 2 &&
        wl->ops[o].n_dims > wl->ops[o].n_out_dims)
      return true;
  return false;
}

bool tf_choice_matters(tf_choice c, const tf_workload *wl) {
  if (c == TF_CHOICE_CLOSE) return true;
  return c == TF_CHOICE_AT ? wl->n_ops > 1 : has_products(wl);
}
