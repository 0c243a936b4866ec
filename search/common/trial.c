#include "search/common/trial.h"

#include "model/eval/hooks.h"
#include "search/common/objective.h"
#include "tileflow/tree.h"

/* Limits of one evaluation: steps of a walk, settings of sums. */
enum { WALK_MOST = 4096, SUMS_MOST = 1 << 15 };

bool tf_evaluate_tree(const tf_tree *t, tf_evaluator *q, tf_figures *f, bool *again) {
  tf_diags *d = tf_diags_new(); /* a tree without a model is not an error here */
  tf_model *m = d ? tf_model_new(t, d) : NULL;
  tf_result r;
  if (m) tf_model_walk_limit(m, WALK_MOST);
  if (m) tf_model_sum_limit(m, SUMS_MOST);
  const bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible;
  if (ok) *f = tf_figures_of(t->arch, t->workload, &r);
  for (int o = 0; ok && again && o < t->workload->n_ops; o++)
    again[t->workload->ops[o].out] = r.ops[o].recomputed > 0;
  q->evals += m ? 1 + tf_model_walked_evals(m) : 0;
  q->effort += m ? tf_model_effort(m) : 0;
  q->failed |= !d || (m ? tf_model_starved(m) : again != NULL);
  tf_model_free(m);
  tf_diags_free(d);
  return ok;
}
