#include <string.h>

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

/* Words that enter: by instance, by sharing group, and (where ops below make them) for the first time. */
typedef struct {
  int64_t all, groups, first;
} entry;

/* Whether class c carries into a loop that only brings the same boxes again, in the same production. */
static bool comes_again(const tf_slice *s, const tf_pclass *c) {
  for (int i = 0; c->carry >= 0 && i < c->n_comp; i++)
    if (c->comp[i].loops >> c->carry & 1)
      return c->comp[i].n_rank == 0 && s->inside >> c->carry & 1;
  return false;
}

static bool enter_class(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool share,
                        entry *e) {
  tf_sum sum;
  *e = (entry){0, 0, 0};
  if (c->carry >= 0 && m->run.trip[m->plan->path[s->node].loops[c->carry]] <= 1)
    return true;
  bool keeps = tf_class_survives(&m->run, &m->scratch, s, c);
  if (!tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_INSTANCES, &sum))
    return false;
  e->all = sum.box - sum.kept;
  if (share && !tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum))
    return false;
  e->groups = sum.box - sum.kept;
  if (!s->makes || comes_again(s, c))
    return true;
  if (!tf_sum_over(&m->run, &m->scratch, s, c, keeps, TF_OVER_FIRST, &sum))
    return false;
  e->first = sum.box - sum.kept;
  return true;
}

static tf_move moved(const tf_slice *s, const tf_memory *mem, entry e) {
  if (!s->makes)
    return (tf_move){.fill = e.all, .read = mem->multicast ? e.groups : e.all};
  int64_t partial = e.groups - e.first;
  return (tf_move){.fill = partial, .drain = e.all, .read = partial,
                   .update = mem->reduce ? e.groups : e.all};
}

static bool count_tile_slice(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  entry sum = {0, 0, 0}, e;
  tf_sum first = {0, 0};
  bool share = shares(&m->run, s), ok = true;
  for (int c = 0; c < s->n_class; c++) {
    if (!enter_class(m, s, &s->classes[c], share, &e))
      return false;
    tf_move v = moved(s, mem, e);
    tf_cells_add(m, i, c, &v);
    ok &= plus(&sum.all, e.all) && plus(&sum.groups, e.groups);
  }
  if (s->makes && !tf_sum_over(&m->run, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first))
    return false;
  sum.first = first.box;
  m->moves[i] = moved(s, mem, sum);
  return ok;
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
  *r = (tf_op_result){.unit = m->plan->unit[o]};
  for (int i = 0; i <= op->n_reads; i++)
    if (!count_leaf(m, m->plan->op_slice[o] + i, &m->plan->arch->units[r->unit]))
      return false;
  const tf_slice *out = &m->plan->slices[m->plan->op_slice[o] + op->n_reads];
  if (!tf_sum_over(&m->run, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum))
    return false;
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
    if (s->node < 0)
      continue;
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
