#include "tune/learn/lesson.h"

#include <math.h>

#include "tileflow/model.h"

/* What each memory has to do: words moved for each point, share of its capacity, share of the time
 * that it is busy; and the steps of its Tiles. */
static void memories_of(const tf_tree *t, const tf_result *r, double *x) {
  const double tiny = 1.0 / (1 << 20);
  const int n = t->workload->n_tensors;
  for (int l = 0; l < t->arch->n_memories && l < LESSON_MEMORIES; l++) {
    const double room = (double)t->arch->memories[l].capacity_words;
    double words = 0, steps = 0;
    for (int z = 0; z < n; z++) {
      const tf_counts *c = &r->counts[l * n + z];
      words += (double)c->fill + (double)c->read + (double)c->update + (double)c->drain;
    }
    for (int k = 0; k < t->n_nodes; k++)
      for (int i = 0;
           t->nodes[k].kind == TF_TILE && t->nodes[k].level == l && i < t->nodes[k].n_loops; i++)
        steps += log2((double)t->nodes[k].loops[i].trip);
    x[LESSON_EACH * l] = log2(words / (double)r->points + tiny);
    x[LESSON_EACH * l + 1] = room > 0 ? log2((double)r->levels[l].peak / room + tiny) : 0;
    x[LESSON_EACH * l + 2] = r->levels[l].cycles / r->cycles;
    x[LESSON_EACH * l + 3] = steps;
  }
}

bool lesson_of(const tf_tree *t, const tf_choices *c, double inner, lesson *out) {
  tf_diags *d = tf_diags_new();
  tf_model *m = tf_model_new(t, d);
  tf_result r;
  tf_bounds b;
  const bool ok = m && inner >= 0 && tf_model_eval(m, NULL, &r) && r.feasible && r.cycles > 0 &&
                  tf_bounds_of(t->arch, t->workload, &b);
  if (ok) {
    *out = (lesson){.cycles = r.cycles + inner,
                    .x = {log2(r.cycles / fmax(b.cycles, 1)), log2(1 + inner / r.cycles),
                          log2((double)r.points),
                          log2((double)r.points / fmax((double)b.traffic_words, 1)),
                          r.compute_utilization}};
    for (int k = 0; k < TF_N_CHOICES; k++)
      out->x[5 + k] = c->at[k];
    memories_of(t, &r, &out->x[5 + TF_N_CHOICES]);
  }
  tf_model_free(m);
  tf_diags_free(d);
  return ok;
}
