/* Evaluates many rows of trip counts of one tree: in SIMD lanes where the quick count applies, else
 * one by one. */
#include <string.h>

#include "model/cost/quick/lanes.h"
#include "model/cost/quick/uneven.h"
#include "model/eval/hooks.h"

_Static_assert((int)TF_QUICK_ROWS == (int)TF_LANES, "a quick call fills the lanes");

static void one(tf_model *m, const int64_t *row, tf_brief *out) {
  tf_result r;
  *out = (tf_brief){.counted = tf_model_eval(m, row, &r)};
  if (!out->counted) return;
  out->feasible = r.feasible;
  out->cycles = r.cycles;
  out->energy_pj = r.energy_pj;
  out->traffic_words = tf_result_traffic(m->plan->wl, &r);
  out->held_words = tf_result_held(m->plan->arch, &r);
}

/* Runs the program on the rows whose bits are set; unused lanes repeat the last one.  Fills in the
 * results of those that it can count, and returns their bits. */
static uint32_t run(const tf_tape *t, const int64_t *trips, int n_loops, uint32_t rows,
                    int64_t effort, tf_quick_row *out) {
  int at[TF_LANES], n = 0;
  uint32_t counted = 0;
  for (; rows; rows &= rows - 1)
    at[n++] = __builtin_ctz(rows);
  for (int i = 0; i < TF_LANES; i++)
    for (int l = 0; l < n_loops; l++)
      t->slots[l].i[i] = trips[at[i < n ? i : n - 1] * n_loops + l];
  tf_tape_run(t, n);
  const tf_lane *of[TF_LANE_OUT];
  for (int k = 0; k < TF_LANE_OUT; k++)
    of[k] = &t->slots[t->out[k]];
  for (int i = 0; i < n; i++) {
    if (!of[TF_LANE_COUNTS]->i[i]) continue;
    counted |= UINT32_C(1) << at[i];
    out[at[i]] = (tf_quick_row){.brief = {.counted = true,
                                          .feasible = of[TF_LANE_FITS]->i[i] != 0,
                                          .cycles = of[TF_LANE_CYCLES]->d[i],
                                          .energy_pj = of[TF_LANE_ENERGY]->d[i],
                                          .traffic_words = of[TF_LANE_TRAFFIC]->d[i],
                                          .held_words = of[TF_LANE_HELD]->d[i]},
                                .nodes = of[TF_LANE_NODES]->d[i],
                                .effort = effort};
  }
  return counted;
}

/* The program for rows that leave remainders; NULL: there is none. */
static const tf_tape *uneven_lanes(tf_model *m) {
  if (m->uneven_lanes_made || m->fills) return m->fills ? NULL : m->uneven_lanes;
  if (!m->uneven) m->uneven = tf_uneven_new(m->arena, m->plan, m->views, m->even);
  m->uneven_lanes = tf_lanes_uneven_apply(m) ? tf_lanes_new(m, tf_lanes_uneven) : NULL;
  m->uneven_lanes_made = true;
  return m->uneven_lanes;
}

/* Whether branches that run at once fit side by side on every mesh. */
static bool fits_side_by_side(tf_model *m, const int64_t *row) {
  tf_result r = {.feasible = true};
  memcpy(m->ev.trip, row, (size_t)m->plan->n_loops * sizeof *row);
  tf_meshes_check(m, &r);
  return r.feasible;
}

static uint32_t counted(tf_model *m, const int64_t *trips, int n, tf_quick_row *out) {
  const uint32_t all = ~UINT32_C(0) >> (TF_LANES - n);
  const uint32_t even = m->lanes ? run(m->lanes, trips, m->plan->n_loops, all, 1, out) : 0;
  const tf_tape *uneven = m->lanes && even != all ? uneven_lanes(m) : NULL;
  return uneven ? even | run(uneven, trips, m->plan->n_loops, all & ~even, TF_EFFORT_PARTIAL, out)
                : even;
}

uint32_t tf_model_quick_rows(tf_model *m, const int64_t *trips, int n, tf_quick_row *out) {
  if (m->plan->skips) return 0;
  if (!m->lanes_made) m->lanes = tf_lanes_new(m, NULL);
  m->lanes_made = true;
  const uint32_t seen = counted(m, trips, n, out);
  for (uint32_t left = m->views->splits ? seen : 0; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    out[i].brief.feasible =
        out[i].brief.feasible && fits_side_by_side(m, &trips[i * m->plan->n_loops]);
  }
  return seen;
}

void tf_model_eval_batch(tf_model *m, const int64_t *trips, int64_t n, tf_brief *out) {
  tf_quick_row quick[TF_LANES];
  for (int64_t i = 0; i < n; i += TF_LANES) {
    int left = (int)(n - i < TF_LANES ? n - i : TF_LANES);
    const int64_t *rows = &trips[i * m->plan->n_loops];
    uint32_t counted = tf_model_quick_rows(m, rows, left, quick);
    for (int k = 0; k < left; k++)
      if (counted >> k & 1)
        out[i + k] = quick[k].brief;
      else
        one(m, &rows[k * m->plan->n_loops], &out[i + k]);
  }
}
