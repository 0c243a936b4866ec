#include "search/common/objective.h"

#include "base/names.h"
#include "model/eval/hooks.h"
#include "tileflow/tree.h"

const char *tf_objective_key(int objective) {
  static const char *const keys[] = {TF_OBJECTIVES(TF_NAME_ROW)};
  return objective >= 0 && objective < TF_N_OBJECTIVES ? keys[objective] : NULL;
}

double tf_objective_value(tf_objective o, const tf_figures *f) {
  const double values[] = {[TF_LATENCY] = f->cycles,
                           [TF_ENERGY] = f->energy_pj,
                           [TF_EDP] = f->edp,
                           [TF_TRAFFIC] = f->traffic_words};
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

bool tf_has_peers(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    any |= a->memories[l].peers;
  return any;
}

/* Limits of TF_COUNT_LONG for a masked workload of a few ops: settings and steps, about a second
 * each.  A step takes as long as the workload has ops, and ranges that derive from one another. */
enum { LONG_MOST = 1 << 20, FEW_OPS = 4 };

static int64_t long_most(const tf_workload *wl) {
  const int64_t by = (int64_t)wl->n_ops * wl->n_ops / (FEW_OPS * FEW_OPS);
  return LONG_MOST / (by > 1 ? by : 1);
}

static bool count(tf_model *m, tf_counting how, const tf_tree *tree, tf_figures *out) {
  const bool masked = tf_workload_masked(tree->workload);
  const int64_t most = long_most(tree->workload);
  tf_result r;
  if (how == TF_COUNT_ALL) tf_model_all_points(m);
  if (how != TF_COUNT_LONG || masked) tf_model_walk_limit(m, how == TF_COUNT_LONG ? most : 0);
  if (how != TF_COUNT_ALL && masked)
    tf_model_sum_limit(m, how == TF_COUNT_LONG ? most : TF_COUNT_SETTINGS);
  const bool ok = tf_model_eval(m, NULL, &r) && r.feasible;
  if (ok) *out = tf_figures_of(tree->arch, tree->workload, &r);
  return ok;
}

bool tf_figures_of_tree(const tf_tree *tree, tf_counting how, tf_figures *out) {
  tf_diags *d = tf_diags_new();
  tf_model *m = d && tree && !tree->open ? tf_model_new(tree, d) : NULL;
  bool ok = m && count(m, how, tree, out);
  const bool again =
      m && !ok && how != TF_COUNT_ALL && tf_model_gave_up(m) && tf_workload_masked(tree->workload);
  tf_model_free(m);
  tf_diags_free(d);
  return again ? tf_figures_of_tree(tree, TF_COUNT_ALL, out) : ok;
}
