#include "search/run/retained.h"

#include <stdlib.h>

#include "model/input/dims.h"
#include "model/tree/build.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"

enum { SINGLES = 8 }; /* intermediates that are tried one by one */

/* Whether the home scope may retain z.  Not if it streams z, which stays anyway; nor if z is
 * padded: the sums that count mappings cannot count most of those. */
static bool may_retain(const tf_tree *t, int z) {
  const int home = tf_tree_home_scope(t, z);
  if (home < 0 || tf_is_padded(&t->workload->tensors[z])) return false;
  const tf_node *scope = &t->nodes[home];
  for (int k = 0; k < scope->n_retain; k++)
    if (scope->retain[k].tensor == z) return false;
  for (int k = 0; k < scope->n_stream; k++)
    if (scope->stream[k].tensor == z) return false;
  return true;
}

/* Marks tensors that may be retained and are made more than once; returns how many. */
static int mark_retainable(const tf_tree *t, tf_evaluator *q, bool *at) {
  int n = 0, left = 0;
  tf_figures f;
  for (int z = 0; z < t->workload->n_tensors; z++)
    n += may_retain(t, z);
  if (!n || !tf_evaluate_tree(t, q, &f, at)) return 0;
  for (int z = 0; z < t->workload->n_tensors; z++)
    left += at[z] = at[z] && may_retain(t, z);
  return left;
}

/* The tree with these intermediates retained (only >= 0: this one alone).  NULL: a rule refuses
 * it. */
static tf_tree *retain(const tf_tree *t, const bool *at, int only, tf_evaluator *q) {
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  for (int n = 0; b && n < t->n_nodes; n++) {
    tf_build_node(b, &t->nodes[n]);
    for (int k = 0; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_loops; k++)
      tf_build_loop(b, t->nodes[n].loops[k]);
    for (int z = 0; t->nodes[n].kind == TF_SCOPE && z < t->workload->n_tensors; z++)
      if (at[z] && (only < 0 || only == z) && tf_tree_home_scope(t, z) == n)
        tf_build_retain(b, (tf_named){.tensor = z});
  }
  q->failed |= !b || !tf_build_whole(b);
  return tf_build_tree(b);
}

/* Takes the tree if it is better. */
static void offer(tf_tree *t, double *value, tf_evaluator *q, tf_found *best) {
  tf_figures f;
  if (t && tf_can_export(q->exportable, t) && tf_evaluate_tree(t, q, &f, NULL) &&
      tf_objective_value(q->objective, &f) < *value) {
    tf_tree_free(best->tree);
    *best =
        (tf_found){.tree = t, .value = *value = tf_objective_value(q->objective, &f), .figures = f};
  } else {
    tf_tree_free(t);
  }
}

bool tf_retained(const tf_tree *tree, double value, tf_evaluator *q, tf_found *out) {
  const tf_workload *wl = tree->workload;
  bool *at = calloc((size_t)wl->n_tensors + 1, sizeof *at);
  double least = value * (1 - 1e-12);
  *out = (tf_found){0};
  q->failed |= !at;
  const int n = at ? mark_retainable(tree, q, at) : 0;
  if (n) offer(retain(tree, at, -1, q), &least, q, out);
  for (int z = 0, left = SINGLES; n > 1 && z < wl->n_tensors && left > 0; z++)
    if (at[z]) offer(retain(tree, at, z, q), &least, q, out), left--;
  free(at);
  return out->tree;
}
