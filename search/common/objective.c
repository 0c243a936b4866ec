#include "search/common/objective.h"

#include "base/names.h"

const char *tf_objective_key(int objective) {
  static const char *const keys[] = {TF_OBJECTIVES(TF_NAME_ROW)};
  return objective >= 0 && objective < TF_N_OBJECTIVES ? keys[objective] : NULL;
}

double tf_objective_value(tf_objective o, const tf_figures *f) {
  const double values[] = {
      [TF_LATENCY] = f->cycles, [TF_ENERGY] = f->energy_pj, [TF_EDP] = f->edp, [TF_TRAFFIC] = f->traffic_words};
  return values[o];
}

double tf_bounds_value(tf_objective o, const tf_bounds *b, const tf_arch *arch) {
  tf_figures f = {.cycles = b->cycles,
                  .energy_pj = b->energy_pj,
                  .edp = b->energy_pj * b->cycles / arch->clock_hz,
                  .traffic_words = (double)b->traffic_words};
  return tf_objective_value(o, &f);
}

tf_figures tf_figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r) {
  return (tf_figures){.cycles = r->cycles,
                      .energy_pj = r->energy_pj,
                      .edp = r->energy_pj * r->seconds,
                      .traffic_words = tf_result_traffic(wl, r),
                      .held_words = tf_result_held(arch, r)};
}

bool tf_figures_of_tree(const tf_tree *tree, bool walk, tf_figures *out) {
  tf_diags *d = tf_diags_new();
  tf_model *m = d && tree && !tree->open ? tf_model_new(tree, d) : NULL;
  tf_result r;
  if (m && !walk) tf_model_walk_limit(m, 0);
  if (m) tf_model_all_points(m);
  bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible;
  if (ok) *out = tf_figures_of(tree->arch, tree->workload, &r);
  tf_model_free(m);
  tf_diags_free(d);
  return ok;
}
