/* Many rows of trip counts of one tree: in lanes where the quick way counts them, one by one where it does not. */
#include "model/cost/quick/lanes.h"
#include "tileflow/model.h"

static void one(tf_model *m, const int64_t *row, tf_brief *out) {
  tf_result r;
  bool counted = tf_model_eval(m, row, &r);
  *out = (tf_brief){counted, counted && r.feasible, counted ? r.cycles : 0, counted ? r.energy_pj : 0};
}

/* n <= TF_LANES rows; lanes that are left over do the last one again. */
static void some(tf_model *m, const int64_t *rows, int n, tf_brief *out) {
  const tf_tape *t = m->lanes;
  int n_loops = m->plan->n_loops;
  for (int i = 0; i < TF_LANES; i++)
    for (int l = 0; l < n_loops; l++)
      t->slots[l].i[i] = rows[(i < n ? i : n - 1) * n_loops + l];
  tf_tape_run(t);
  for (int i = 0; i < n; i++) {
    if (!t->slots[t->out[TF_LANE_COUNTS]].i[i]) {
      one(m, &rows[i * n_loops], &out[i]);
      continue;
    }
    out[i] = (tf_brief){true, t->slots[t->out[TF_LANE_FITS]].i[i] != 0, t->slots[t->out[TF_LANE_CYCLES]].d[i],
                        t->slots[t->out[TF_LANE_ENERGY]].d[i]};
  }
}

void tf_model_eval_batch(tf_model *m, const int64_t *trips, int64_t n, tf_brief *out) {
  if (!m->lanes_made) m->lanes = tf_lanes_new(m);
  m->lanes_made = true;
  for (int64_t i = 0; i < n; i += TF_LANES) {
    int64_t left = n - i < TF_LANES ? n - i : TF_LANES;
    const int64_t *rows = &trips[i * m->plan->n_loops];
    if (m->lanes) some(m, rows, (int)left, &out[i]);
    for (int64_t k = 0; k < left && !m->lanes; k++)
      one(m, &rows[k * m->plan->n_loops], &out[i + k]);
  }
}
