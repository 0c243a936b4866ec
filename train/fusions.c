/* Pairs of forward ops: what fusing them saves forward and backward. */
#include "train/fusions.h"

typedef struct {
  int value, gradient; /* tensors of the step; gradient -1: none of its own */
} pair;

/* The gradient of the forward tensor, stored by an op that others read; -1: none. */
static int gradient_of(const tf_workload *step, const char *name) {
  int t = tr_find(step, "total_", name);
  if (t < 0) t = tr_find(step, "d_", name);
  return t >= 0 && step->tensors[t].producer >= 0 && step->tensors[t].n_consumers ? t : -1;
}

static int inputs_of(const tf_op *op) {
  int n = 0;
  for (int i = 0; i < op->n_reads; i++) {
    bool again = false;
    for (int k = 0; k < i; k++)
      again = again || op->reads[k].tensor == op->reads[i].tensor;
    n += !again;
  }
  return n;
}

static void mark(bool *gone, const pair *p, bool to) {
  gone[p->value] = to;
  if (p->gradient >= 0) gone[p->gradient] = to;
}

static double benefit(const tr_graph *g, const tr_cost *before, const tr_cost *after,
                      double launch) {
  return (before->words - after->words) / g->rate + (before->cycles - after->cycles) +
         (before->kernels - after->kernels) * launch;
}

/* Takes the pair of the greatest benefit beside those taken, as long as there is one above 0. */
static void choose(const tr_graph *g, const pair *p, bool *gone, double launch, tf_train *out) {
  for (int best = 0; best >= 0;) {
    double most = 0;
    const tr_cost before = tr_cost_of(g, gone);
    best = -1;
    for (int i = 0; i < out->n_fusions; i++) {
      if (out->fusions[i].chosen) continue;
      mark(gone, &p[i], true);
      const tr_cost after = tr_cost_of(g, gone);
      mark(gone, &p[i], false);
      const double saved = benefit(g, &before, &after, launch);
      if (saved <= most) continue;
      most = saved;
      best = i;
    }
    if (best < 0) break;
    out->fusions[best].chosen = true;
    mark(gone, &p[best], true);
  }
}

bool tr_fusions(tf_arena *a, const tf_workload *fore, const tr_graph *g, double launch,
                tf_train *out) {
  bool *gone = TF_ARRAY(a, bool, (size_t)g->wl->n_tensors);
  pair *p = TF_ARRAY(a, pair, (size_t)fore->n_tensors);
  out->fusions = TF_ARRAY(a, tf_train_fusion, (size_t)fore->n_tensors);
  if (tf_arena_failed(a)) return false;
  const tr_cost before = tr_cost_of(g, gone);
  for (int i = 0; i < fore->n_ops; i++) {
    const tf_op *first = &fore->ops[fore->topo[i]];
    const tf_tensor *z = &fore->tensors[first->out];
    const int t = tr_find(g->wl, "", z->name);
    if (z->n_consumers != 1 || t < 0 || !g->wl->tensors[t].n_consumers) continue;
    const tf_op *second = &fore->ops[z->consumers[0]];
    pair *x = &p[out->n_fusions];
    *x = (pair){t, gradient_of(g->wl, z->name)};
    mark(gone, x, true);
    const tr_cost after = tr_cost_of(g, gone);
    mark(gone, x, false);
    out->fusions[out->n_fusions++] =
        (tf_train_fusion){.first = first->name,
                          .second = second->name,
                          .through = z->name,
                          .many_first = inputs_of(first) > 1,
                          .many_second = inputs_of(second) > 1,
                          .words = before.words - after.words,
                          .points = before.points - after.points,
                          .kernels = before.kernels - after.kernels,
                          .benefit = benefit(g, &before, &after, launch)};
  }
  choose(g, p, gone, launch, out);
  return true;
}
