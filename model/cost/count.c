#include <string.h>

#include "model/cost/state.h"

static bool plus(int64_t *sum, int64_t v) { return !__builtin_add_overflow(*sum, v, sum); }

bool tf_count_shares(const tf_run *run, const tf_slice *s) {
  const tf_path *path = &run->plan->path[s->node];
  for (int k = 0; k < path->n; k++)
    if (s->merge >> k & 1 && run->trip[path->loops[k]] > 1) return true;
  return false;
}

/* What enters slice s in class c, by sharing group, for the first time in its production: with the loops of the
 * production that only bring the same boxes again at their first setting. */
static bool first_time(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool keeps, int64_t *words) {
  uint64_t again = s->inside & ~s->moving & m->plan->path[s->node].temporal, still = m->run.still;
  tf_sum sum = {0, 0};
  m->run.still |= again;
  bool ok =
      (c->carry >= 0 && again >> c->carry & 1) || tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum);
  m->run.still = still;
  *words = sum.box - sum.kept;
  return ok;
}

bool tf_count_class(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool share, tf_entry *e) {
  tf_sum sum;
  *e = (tf_entry){0, 0, 0};
  if (c->carry >= 0 && m->run.trip[m->plan->path[s->node].loops[c->carry]] <= 1) return true;
  bool keeps = tf_class_survives(&m->run, &m->scratch, s, c);
  if (!tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_INSTANCES, &sum)) return false;
  e->all = sum.box - sum.kept;
  if (share && !tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum)) return false;
  e->groups = sum.box - sum.kept;
  return !s->makes || first_time(m, s, c, keeps, &e->first);
}

tf_move tf_count_move(const tf_slice *s, const tf_memory *mem, tf_entry e) {
  if (!s->makes) return (tf_move){.fill = e.all, .read = mem->multicast ? e.groups : e.all};
  int64_t partial = e.groups - e.first;
  return (tf_move){.fill = partial, .drain = e.all, .read = partial, .update = mem->reduce ? e.groups : e.all};
}

static bool count_tile_slice(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  tf_entry sum = {0, 0, 0}, e;
  tf_sum first = {0, 0};
  bool share = tf_count_shares(&m->run, s), ok = true;
  for (int c = 0; c < s->n_class; c++) {
    if (!tf_count_class(m, s, &s->classes[c], share, &e)) return false;
    tf_move v = tf_count_move(s, mem, e);
    tf_cells_add(m, i, c, &v);
    ok &= plus(&sum.all, e.all) && plus(&sum.groups, e.groups);
  }
  if (s->makes && !tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first)) return false;
  sum.first = first.box;
  m->moves[i] = tf_count_move(s, mem, sum);
  return ok;
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const tf_slice *s = &m->plan->slices[i];
  bool join = s->makes ? unit->reduce : unit->multicast;
  tf_sum sum, first;
  if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false, join ? TF_OVER_GROUPS : TF_OVER_INSTANCES, &sum)) return false;
  m->moves[i] = (tf_move){.read = sum.box};
  if (!s->makes) return true;
  if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first)) return false;
  m->moves[i] = (tf_move){.read = sum.box - first.box, .update = sum.box};
  return true;
}

static bool count_op(struct tf_model *m, int o) {
  const tf_op *op = &m->plan->wl->ops[o];
  tf_op_result *r = &m->res.ops[o];
  tf_sum sum;
  *r = (tf_op_result){.unit = m->plan->unit[o]};
  for (int i = 0; i <= op->n_reads; i++)
    if (!count_leaf(m, m->plan->op_slice[o] + i, &m->plan->arch->units[r->unit])) return false;
  const tf_slice *out = &m->plan->slices[m->plan->op_slice[o] + op->n_reads];
  if (!tf_sum_over(&m->run, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum)) return false;
  r->points = sum.box;
  r->recomputed = r->points > m->plan->space[o] ? r->points - m->plan->space[o] : 0;
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
    m->width[n] = m->plan->cuts ? tf_border_width(m, n) : width.box;
  }
  return true;
}

bool tf_count_treated(struct tf_model *m) {
  tf_sum each, once;
  for (int o = 0; o < m->plan->wl->n_ops; o++) {
    const tf_slice *s = &m->plan->stream[o];
    if (s->node < 0) continue;
    if (!tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_INSTANCES, &each) ||
        !tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &once))
      return false;
    m->treated[2 * o] = each.box;
    m->treated[2 * o + 1] = once.box;
  }
  return true;
}

bool tf_count_all(struct tf_model *m) {
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  if (!count_nodes(m) || (m->by_steps && !tf_class_steps(m))) return false;
  for (int i = 0; i < m->plan->n_tile_slices && !m->run.irregular; i++)
    if (!count_tile_slice(m, i)) return false;
  for (int o = 0; o < m->plan->wl->n_ops && !m->run.irregular; o++)
    if (!count_op(m, o)) return false;
  return true;
}
