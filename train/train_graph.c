/* Words, points and memory of the kernels of a graph. */
#include "train/train_graph.h"

#include <math.h>
#include <string.h>

#include "tileflow/model.h"

int tr_find(const tf_workload *wl, const char *before, const char *name) {
  const size_t n = strlen(before);
  for (int t = 0; t < wl->n_tensors; t++)
    if (!strncmp(wl->tensors[t].name, before, n) && !strcmp(wl->tensors[t].name + n, name))
      return t;
  return -1;
}

/* Points a cycle of the units that can run the op. */
static double rate_of(const tf_arch *arch, const tf_op *op) {
  double best = 0;
  for (int u = 0; u < arch->n_units; u++)
    if (!(op->kinds & ~arch->units[u].kinds))
      best = fmax(best, tf_bounds_units(arch, u) * arch->units[u].rate);
  return best;
}

bool tr_graph_of(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tr_graph *out) {
  const size_t n = (size_t)wl->n_tensors, m = (size_t)wl->n_ops;
  *out = (tr_graph){.wl = wl,
                    .words = TF_ARRAY(a, double, n),
                    .bytes = TF_ARRAY(a, double, n),
                    .points = TF_ARRAY(a, double, m),
                    .cycles = TF_ARRAY(a, double, m),
                    .rate = arch->memories[0].read_bw,
                    .seen = TF_ARRAY(a, int, n),
                    .first = TF_ARRAY(a, int, n),
                    .last = TF_ARRAY(a, int, n)};
  if (tf_arena_failed(a)) return false;
  for (int t = 0; t < wl->n_tensors; t++) {
    out->words[t] = (double)tf_tensor_words(&wl->tensors[t]);
    out->bytes[t] = out->words[t] * wl->tensors[t].word_bits / 8;
  }
  for (int o = 0; o < wl->n_ops; o++) {
    out->points[o] = 1;
    for (int s = 0; s < wl->ops[o].n_dims; s++)
      out->points[o] *= (double)wl->dims[wl->ops[o].dims[s]].extent;
    const double rate = rate_of(arch, &wl->ops[o]);
    out->cycles[o] = rate > 0 ? out->points[o] / rate : INFINITY;
  }
  return true;
}

typedef struct {
  const tr_graph *g;
  const bool *gone;
  int kernel; /* its number, from 1 */
  double words, points, cycles;
} making;

/* What the kernel needs for that op. */
static void count_op(making *k, int o) {
  const tf_op *op = &k->g->wl->ops[o];
  k->points += k->g->points[o];
  k->cycles += k->g->cycles[o];
  for (int i = 0; i < op->n_reads; i++) {
    const int t = op->reads[i].tensor;
    if (k->g->seen[t] == k->kernel) continue;
    k->g->seen[t] = k->kernel;
    k->g->last[t] = k->kernel;
    if (k->gone[t])
      count_op(k, k->g->wl->tensors[t].producer);
    else
      k->words += k->g->words[t];
  }
}

/* Bytes at the worst of n kernels. */
static double peak_of(const tr_graph *g, const bool *gone, int n) {
  double peak = 0;
  for (int k = 1; k <= n; k++) {
    double alive = 0;
    for (int t = 0; t < g->wl->n_tensors; t++) {
      const bool passes =
          g->wl->tensors[t].producer >= 0 && g->wl->tensors[t].n_consumers && !gone[t];
      if (passes && g->first[t] <= k && g->last[t] >= k) alive += g->bytes[t];
    }
    peak = fmax(peak, alive);
  }
  return peak;
}

tr_cost tr_cost_of(const tr_graph *g, const bool *gone) {
  tr_cost c = {0};
  for (int t = 0; t < g->wl->n_tensors; t++)
    g->seen[t] = g->first[t] = g->last[t] = 0;
  for (int i = 0; i < g->wl->n_ops; i++) {
    const int o = g->wl->topo[i], out = g->wl->ops[o].out;
    if (gone[out]) continue;
    making k = {.g = g, .gone = gone, .kernel = ++c.kernels, .words = g->words[out]};
    g->first[out] = g->last[out] = c.kernels;
    count_op(&k, o);
    c.words += k.words;
    c.points += k.points;
    c.cycles += k.cycles;
    c.time += fmax(k.words / g->rate, k.cycles);
  }
  c.peak = peak_of(g, gone, c.kernels);
  return c;
}
