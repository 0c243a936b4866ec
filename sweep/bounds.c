/* What no mapping on a machine can beat: tf_bounds_of, and with it the words that must pass because the chip holds no
 * more at once (tf_slope_bound). */
#include <math.h>

#include "sweep/point.h"
#include "tileflow/slope.h"

/* Words as narrow as the workload's narrowest that all memories within, and all units, have at once. */
static double on_chip(const tf_arch *a, const tf_workload *w, int narrowest) {
  double bits = 0, instances = 1;
  for (int l = 1; l < a->n_memories; l++) {
    instances *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
    if (a->memories[l].capacity_words < 0) return INFINITY;
    bits += instances * (double)a->memories[l].capacity_words * a->memories[l].word_bits;
  }
  return ceil(bits / narrowest) + tf_slope_hand(a, w);
}

/* Each word beyond the compulsory ones is one of the narrowest, read or written, whichever is cheaper. */
static void raise_by_capacity(const tf_arch *a, const tf_workload *w, tf_bounds *b, double *traffic) {
  const tf_memory *dram = &a->memories[0];
  int narrowest = dram->word_bits;
  for (int z = 0; z < w->n_tensors; z++)
    narrowest = w->tensors[z].word_bits < narrowest ? w->tensors[z].word_bits : narrowest;
  double words = tf_slope_bound(w, on_chip(a, w, narrowest)), share = (double)narrowest / dram->word_bits;
  if (!(words > *traffic)) return;
  double bandwidth = dram->one_port ? dram->read_bw : dram->read_bw + dram->write_bw;
  double cycles = isinf(bandwidth) ? 0 : words * share / bandwidth;
  b->energy_pj += (words - *traffic) * share * fmin(dram->read_pj, dram->write_pj);
  b->cycles = fmax(b->cycles, cycles * (1 - 1e-12));
  *traffic = words;
}

bool sweep_bounds_of(const tf_arch *a, const tf_workload *w, double bounds[TF_N_GOALS]) {
  tf_bounds b;
  if (!tf_bounds_of(a, w, &b)) return false;
  double traffic = (double)b.traffic_words;
  raise_by_capacity(a, w, &b, &traffic);
  bounds[TF_GOAL_CYCLES] = b.cycles;
  bounds[TF_GOAL_SECONDS] = b.cycles / a->clock_hz;
  bounds[TF_GOAL_ENERGY] = b.energy_pj;
  bounds[TF_GOAL_EDP] = b.energy_pj * bounds[TF_GOAL_SECONDS];
  bounds[TF_GOAL_TRAFFIC] = traffic;
  bounds[TF_GOAL_AREA] = tf_arch_area(a, NULL);
  return true;
}

bool sweep_point_bounds(const tf_sweep *s, int64_t point, double bounds[TF_N_GOALS]) {
  tf_diags *d = tf_diags_new();
  tf_spec *p = d ? sweep_point_spec(s, point, d) : NULL;
  bool ok = p && sweep_bounds_of(p->arch, p->workload, bounds);
  tf_spec_free(p);
  tf_diags_free(d);
  return ok;
}
