/* Complete mappings: whether they are legal, fit, and are the best so far. */
#include <assert.h>
#include <stdlib.h>

#include "model/eval/hooks.h"
#include "search/common/complete.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"
#include "search/exact/state.h"

/* ---- leaves ---------------------------------------------------------------------------------- */
/* Cached by the set of loops with more than one step. */
bool tf_x_is_legal(tf_x_worker *w, const int64_t *trips) {
  uint64_t h = TF_HASH_START;
  for (int l = 0; l < w->t->n_loops; l++) {
    unsigned char turns = trips[l] > 1;
    h = tf_hash(h, &turns, 1);
  }
  tf_x_rule *r = &w->rules[h % TF_X_RULES];
  if (r->hash != h || !r->legal) {
    tf_tree *t = tf_complete(w->t->tree, trips, &w->task->failed);
    *r = (tf_x_rule){h, t ? 1 : 2};
    tf_tree_free(t);
  }
  return r->legal == 1;
}

static void offer(tf_x_worker *w, const int64_t *trips, const tf_result *r) {
  tf_x_task *k = w->task;
  tf_figures f = tf_figures_of(w->t->facts->arch, w->t->facts->wl, r);
  assert(f.cycles >= k->floor->cycles * (1 - 1e-9) &&
         f.energy_pj >= k->floor->energy_pj * (1 - 1e-9));
  double value = tf_objective_value(k->opts->objective, &f);
  if (!tf_x_below_limit(w, value) || !tf_x_meets_tie(w, &f)) {
    k->counts.by_bound++;
    return;
  }
  tf_tree *tree = tf_complete(w->tree, trips, &k->failed);
  if (!tree || !tf_can_export(k->opts->exportable, tree)) {
    tf_tree_free(tree);
    k->counts.by_rules++;
    return;
  }
  tf_tree_free(k->best.tree);
  k->best = (tf_x_best){value, f, tree};
  k->limit = value;
}

static void note_violations(tf_x_worker *w, const tf_result *r) {
  const tf_violation *v = &r->violations[0];
  if (v->code == TF_E_CAPACITY)
    tf_x_note_capacity(w, v->level, v->part ? INT64_MAX : v->need);
  else
    w->task->counts.by_mesh++;
}

/* The most steps of an exact walk, for mappings that nothing else can count. */
enum { WALK_MOST = 20000 };

static bool counted(tf_x_worker *w, const int64_t *trips, tf_result *r) {
  tf_model_walk_limit(w->model, WALK_MOST);
  const bool ok = tf_model_eval(w->model, trips, r);
  tf_model_walk_limit(w->model, 0);
  tf_x_charge(w);
  return ok;
}

void tf_x_leaf(tf_x_worker *w, const int64_t *trips) {
  tf_result r;
  if (!counted(w, trips, &r)) {
    w->task->counts.by_rules++; /* a count exceeds 2^63, or the trip counts do not cover a range */
    w->task->unknown |= tf_model_gave_up(w->model);
    return;
  }
  if (r.feasible)
    offer(w, trips, &r);
  else
    note_violations(w, &r);
}
