/* A kernel in numbers that mean the same in every problem: what is predicted for it, and why (tune_ways --teach). */
#ifndef TESTS_UNIT_LESSON_H
#define TESTS_UNIT_LESSON_H
#include <math.h>

#include "tileflow/emit.h"
#include "tileflow/model.h"
#include "tileflow/tree.h"

enum { LESSON_MEMORIES = 5, LESSON_EACH = 4, LESSON_FEATURES = 5 + TF_N_CHOICES + LESSON_EACH * LESSON_MEMORIES };

typedef struct {
  double cycles; /* by the model, and of the kernel's inner parts */
  double x[LESSON_FEATURES];
} lesson;

/* What each memory has to do: words moved for each point, share of its capacity, share of the time that it is busy; and
 * the steps of its Tiles. */
static void lesson_memories(const tf_tree *t, const tf_result *r, double *x) {
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
      for (int i = 0; t->nodes[k].kind == TF_TILE && t->nodes[k].level == l && i < t->nodes[k].n_loops; i++)
        steps += log2((double)t->nodes[k].loops[i].trip);
    x[LESSON_EACH * l] = log2(words / (double)r->points + tiny);
    x[LESSON_EACH * l + 1] = room > 0 ? log2((double)r->levels[l].peak / room + tiny) : 0;
    x[LESSON_EACH * l + 2] = r->levels[l].cycles / r->cycles;
    x[LESSON_EACH * l + 3] = steps;
  }
}

/* inner: tf_emit_cycles.  False: the mapping does not fit, or memory ran out. */
static bool lesson_of(const tf_tree *t, const tf_choices *c, double inner, lesson *out) {
  tf_diags *d = tf_diags_new();
  tf_model *m = tf_model_new(t, d);
  tf_result r;
  tf_bounds b;
  const bool ok = m && inner >= 0 && tf_model_eval(m, NULL, &r) && r.feasible && r.cycles > 0 &&
                  tf_bounds_of(t->arch, t->workload, &b);
  if (ok) {
    *out = (lesson){.cycles = r.cycles + inner,
                    .x = {log2(r.cycles / fmax(b.cycles, 1)), log2(1 + inner / r.cycles), log2((double)r.points),
                          log2((double)r.points / fmax((double)b.traffic_words, 1)), r.compute_utilization}};
    for (int k = 0; k < TF_N_CHOICES; k++)
      out->x[5 + k] = c->at[k];
    lesson_memories(t, &r, &out->x[5 + TF_N_CHOICES]);
  }
  tf_model_free(m);
  tf_diags_free(d);
  return ok;
}
#endif
