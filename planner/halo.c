/* Retains halos: what a product produces and a window reads may be kept from one step to the next.
 * Searches recompute the rows that two steps share, as such mappings can be counted by products of
 * trip counts; the best of these are tried again with such tensors retained. */
#include "model/eval/hooks.h"
#include "model/tree/build.h"
#include "planner/planner.h"

/* How many mappings are tried, and the steps that the exact walk of one may take. */
enum { TRIED = 2, WALKED = 20000 };

static bool is_window(const tf_workload *wl, const tf_index *ix) {
  int moving = 0;
  for (int t = 0; t < ix->n_terms; t++)
    moving += wl->dims[ix->terms[t].dim].extent > 1;
  return moving > 1;
}

/* Whether a window reads the tensor, or a map of it. */
static bool in_windows(const tf_workload *wl, int z) {
  for (int i = 0; i < wl->tensors[z].n_consumers; i++) {
    const tf_op *op = &wl->ops[wl->tensors[z].consumers[i]];
    if (op->reduce == TF_ASSIGN && in_windows(wl, op->out)) return true;
    for (int k = 0; k < op->n_reads; k++)
      for (int r = 0; op->reads[k].tensor == z && r < wl->tensors[z].rank; r++)
        if (is_window(wl, &op->reads[k].index[r])) return true;
  }
  return false;
}

/* Whether the tensor is the result of a sum, so that recomputing it costs more than moving it. */
static bool is_dear(const tf_workload *wl, int z) {
  const int maker = wl->tensors[z].producer;
  return maker >= 0 && wl->ops[maker].n_dims > wl->ops[maker].n_out_dims &&
         wl->tensors[z].n_consumers > 0;
}

static bool is_below(const tf_tree *t, int node, int op) {
  for (int i = node; i < t->nodes[node].end; i++)
    if (t->nodes[i].kind == TF_OP && t->nodes[i].op == op) return true;
  return false;
}

/* The innermost scope that contains the tensor's producer and all its readers; -1: none. */
static int scope_of(const tf_tree *t, int z) {
  const tf_tensor *tensor = &t->workload->tensors[z];
  int lowest = -1;
  for (int i = 0; i < t->n_nodes; i++) {
    bool all = t->nodes[i].kind == TF_SCOPE && is_below(t, i, tensor->producer);
    for (int k = 0; all && k < tensor->n_consumers; k++)
      all = is_below(t, i, tensor->consumers[k]);
    if (all) lowest = i;
  }
  return lowest;
}

static bool has(const tf_node *scope, int z) {
  for (int i = 0; i < scope->n_retain; i++)
    if (scope->retain[i].tensor == z) return true;
  for (int i = 0; i < scope->n_stream; i++)
    if (scope->stream[i].tensor == z) return true;
  return false;
}

/* The mapping with all such tensors retained; NULL: there are none, a rule forbids it, or out of
 * memory. */
static tf_tree *retaining(const planner *p, const tf_tree *t) {
  tf_build *b = tf_build_new(p->arch, p->wl, NULL);
  bool any = false;
  for (int i = 0; b && i < t->n_nodes; i++) {
    tf_build_node(b, &t->nodes[i]);
    for (int k = 0; k < t->nodes[i].n_loops; k++)
      tf_build_loop(b, t->nodes[i].loops[k]);
    for (int z = 0; t->nodes[i].kind == TF_SCOPE && z < p->wl->n_tensors; z++)
      if (is_dear(p->wl, z) && in_windows(p->wl, z) && scope_of(t, z) == i &&
          !has(&t->nodes[i], z)) {
        tf_build_retain(b, (tf_named){.tensor = z});
        any = true;
      }
  }
  if (b && any) return tf_build_tree(b);
  tf_build_free(b);
  return NULL;
}

/* Adds the mapping if it takes fewer cycles than the one that recomputes. False: out of memory,
 * which is reported. */
static bool try_retaining(planner *p, const tf_tree *t, double cycles) {
  tf_result r;
  tf_model *m = tf_model_new(t, p->d);
  if (!m) return false;
  tf_model_walk_limit(m, WALKED);
  tf_model_all_points(m); /* as the search counted the mapping it is compared with */
  const bool better = tf_model_eval(m, NULL, &r) && r.feasible && r.cycles < cycles;
  plan_candidate c = {.cycles = better ? r.cycles : 0,
                      .traffic = better ? tf_result_traffic(p->wl, &r) : 0};
  p->plan->walked += tf_model_walked(m);
  tf_model_free(m);
  p->plan->evals++;
  if (!better) return true;
  c.tree = tf_tree_copy(t, p->arch, p->wl, p->d);
  c.text = c.tree ? tf_tree_text(t) : NULL;
  if (!c.text) {
    plan_candidate_clear(&c);
    return plan_no_memory(p);
  }
  c.value = plan_score(p, &c);
  c.is_scored = true;
  return plan_add(p, c);
}

bool plan_halos(planner *p) {
  const int n = p->n < TRIED ? p->n : TRIED;
  bool ok = true;
  for (int i = 0; ok && i < n && !plan_over(p); i++) {
    tf_tree *t = retaining(p, p->candidate[i].tree);
    ok = !t || try_retaining(p, t, p->candidate[i].cycles);
    tf_tree_free(t);
  }
  return ok;
}
