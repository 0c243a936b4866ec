/* Lower bounds for any mapping on a machine: tf_bounds_of, and the words that must pass because of
 * the chip's capacity (tf_slope_bound). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/identity/print.h"
#include "search/bound/raise.h"
#include "search/common/complete.h"
#include "sweep/point.h"
#include "tileflow/slope.h"

/* ---- memo of proofs ------------------------------------------------------------------------- */
/* A hash of a workload. */
static uint64_t number_of(const tf_workload *w) {
  uint64_t h = TF_HASH_START;
  char *text = NULL;
  size_t len;
  FILE *f = open_memstream(&text, &len);
  if (!f) return 0;
  tf_workload_print(f, w);
  if (fclose(f) == 0 && text) h = tf_hash(h, text, len);
  free(text);
  return h;
}

/* tf_slope_bound, which decreases with the capacity down to the compulsory words. */
static double proved(sweep_memo *m, const tf_workload *w, double capacity, double compulsory) {
  uint64_t h = m ? number_of(w) : 0;
  if (!h) return tf_slope_bound(w, capacity);
  int64_t room = (int64_t)fmin(capacity, 0x1p62);
  uint64_t where = tf_hash(h, &room, sizeof room);
  sweep_proved *at = &m->entry[where % SWEEP_MEMO], *flat = &m->flat[h % SWEEP_MEMO_WORKLOADS];
  if (flat->workload == h && flat->capacity > 0 && capacity >= flat->capacity) return compulsory;
  if (at->workload == h && at->capacity == capacity) return at->words;
  *at = (sweep_proved){h, capacity, tf_slope_bound(w, capacity)};
  bool lower = flat->workload != h || flat->capacity <= 0 || capacity < flat->capacity;
  if (at->words <= compulsory && lower) *flat = *at;
  return at->words;
}

/* ---- bounds --------------------------------------------------------------------------------- */
static void raise_by_capacity(const tf_arch *a, const tf_workload *w, sweep_memo *m, tf_bounds *b,
                              double *traffic) {
  const double words = proved(m, w, tf_bound_on_chip(a, w), *traffic);
  tf_bound_raise(a, w, words, *traffic, b);
  *traffic = fmax(*traffic, words);
}

bool sweep_bounds_of(const tf_arch *a, const tf_workload *w, sweep_memo *memo,
                     double bounds[TF_N_GOALS]) {
  tf_bounds b;
  if (!tf_bounds_of(a, w, &b)) return false;
  double traffic = (double)b.traffic_words;
  if (!tf_arch_homes(a, w)) raise_by_capacity(a, w, memo, &b, &traffic);
  bounds[TF_GOAL_CYCLES] = b.cycles;
  bounds[TF_GOAL_SECONDS] = b.cycles / a->clock_hz;
  bounds[TF_GOAL_ENERGY] = b.energy_pj;
  bounds[TF_GOAL_EDP] = b.energy_pj * bounds[TF_GOAL_SECONDS];
  bounds[TF_GOAL_TRAFFIC] = traffic;
  bounds[TF_GOAL_AREA] = tf_arch_area(a, NULL);
  return true;
}

bool sweep_point_bounds(const tf_sweep *s, int64_t point, sweep_memo *memo,
                        double bounds[TF_N_GOALS]) {
  tf_diags *d = tf_diags_new();
  tf_spec *p = d ? sweep_point_spec(s, point, d) : NULL;
  bool ok = p && sweep_bounds_of(p->arch, p->workload, memo, bounds);
  tf_spec_free(p);
  tf_diags_free(d);
  return ok;
}
