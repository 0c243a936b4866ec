#include "model/cost/state.h"

static bool plus(int64_t *sum, int64_t v) {
  return !__builtin_add_overflow(*sum, v, sum);
}

/* Whether several instances may share what a slice moves. */
static bool shares(const tf_run *run, const tf_slice *s) {
  const tf_path *path = &run->plan->path[s->node];
  for (int k = 0; k < path->n; k++)
    if (s->merge >> k & 1 && run->trip[path->loops[k]] > 1)
      return true;
  return false;
}

/* Words entering m-tile slice s, over all classes: by instance and by sharing group. */
static bool entered(struct tf_model *m, int i, int64_t *all, int64_t *groups) {
  const tf_slice *s = &m->plan->slices[i];
  bool share = shares(&m->run, s);
  *all = *groups = 0;
  for (int c = 0; c < s->n_class; c++) {
    const tf_pclass *k = &s->classes[c];
    tf_sum sum;
    int64_t *words = &m->class_words[m->class_first[i] + c];
    *words = 0;
    if (k->carry >= 0 && m->run.trip[m->plan->path[s->node].loops[k->carry]] <= 1)
      continue;
    bool keeps = tf_class_survives(&m->run, &m->scratch, s, k);
    if (!tf_sum_over(&m->run, &m->scratch, s, k, keeps, TF_OVER_INSTANCES, &sum))
      return false;
    *words = sum.box - sum.kept;
    if (!plus(all, *words))
      return false;
    if (share && !tf_sum_over(&m->run, &m->scratch, s, k, keeps, TF_OVER_GROUPS, &sum))
      return false;
    if (!plus(groups, sum.box - sum.kept))
      return false;
  }
  return true;
}

static bool count_tile_slice(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  tf_move *v = &m->moves[i];
  int64_t all, groups;
  tf_sum first = {0, 0};
  if (!entered(m, i, &all, &groups))
    return false;
  if (!s->makes) {
    *v = (tf_move){.fill = all, .read = mem->multicast ? groups : all};
    return true;
  }
  if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first))
    return false;
  int64_t partial = groups - first.box;
  *v = (tf_move){.fill = partial, .drain = all, .read = partial, .update = mem->reduce ? groups : all};
  return true;
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const tf_slice *s = &m->plan->slices[i];
  bool join = s->makes ? unit->reduce : unit->multicast;
  tf_sum sum, first;
  if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false,
                   join ? TF_OVER_GROUPS : TF_OVER_INSTANCES, &sum))
    return false;
  m->moves[i] = (tf_move){.read = sum.box};
  if (!s->makes)
    return true;
  if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first))
    return false;
  m->moves[i] = (tf_move){.read = sum.box - first.box, .update = sum.box};
  return true;
}

static bool count_op(struct tf_model *m, int o) {
  const tf_op *op = &m->plan->wl->ops[o];
  tf_op_result *r = &m->res.ops[o];
  tf_sum sum;
  int64_t space = 1;
  *r = (tf_op_result){.unit = m->plan->unit[o]};
  for (int i = 0; i <= op->n_reads; i++)
    if (!count_leaf(m, m->plan->op_slice[o] + i, &m->plan->arch->units[r->unit]))
      return false;
  const tf_slice *out = &m->plan->slices[m->plan->op_slice[o] + op->n_reads];
  if (!tf_sum_over(&m->run, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum))
    return false;
  r->points = sum.box;
  for (int d = 0; d < op->n_dims; d++)
    if (__builtin_mul_overflow(space, m->plan->wl->dims[op->dims[d]].extent, &space))
      return false;
  r->recomputed = r->points > space ? r->points - space : 0;
  r->units = m->width[out->node];
  return true;
}

static bool count_nodes(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    tf_sum steps, width;
    if (!tf_sum_over(&m->run, &m->scratch, &m->plan->at[n], NULL, false, TF_OVER_STEPS, &steps) ||
        !tf_sum_over(&m->run, &m->scratch, &m->plan->at[n], NULL, false, TF_OVER_WIDTH, &width))
      return false;
    m->steps[n] = steps.box;
    m->width[n] = width.box;
  }
  return true;
}

bool tf_count_all(struct tf_model *m) {
  for (int i = 0; i < m->plan->n_tile_slices && !m->run.irregular; i++)
    if (!count_tile_slice(m, i))
      return false;
  if (!count_nodes(m))
    return false;
  for (int o = 0; o < m->plan->wl->n_ops && !m->run.irregular; o++)
    if (!count_op(m, o))
      return false;
  return true;
}
