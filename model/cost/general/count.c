/* Counts of every slice, op and node as sums over classes of settings. */
#include <string.h>

#include "model/cost/general/comps.h"
#include "model/cost/general/general.h"
#include "model/cost/general/most.h"
#include "model/flow/layout.h"
#include "model/flow/skip.h"
#include "model/tree/cover.h"

/* Created when first needed: most trees never need it. */
bool tf_general_ready(struct tf_model *m) {
  tf_arena *a = m->arena;
  size_t loops = (size_t)m->plan->n_loops + 1;
  if (m->scratch.boxes) return true;
  m->scratch.cur = TF_ARRAY(a, int64_t, loops);
  m->scratch.prv = TF_ARRAY(a, int64_t, loops);
  m->scratch.zero = TF_ARRAY(a, int64_t, loops);
  m->scratch.pair = TF_ARRAY(a, int64_t, loops);
  m->scratch.fixed = TF_ARRAY(a, int64_t, loops);
  m->scratch.made = TF_ARRAY(a, tf_ival *, (size_t)m->plan->wl->n_ops);
  if (!m->scratch.cur || !m->scratch.prv || !m->scratch.zero || !m->scratch.pair || !m->scratch.fixed ||
      !m->scratch.made || !tf_comps_fill(a, m->plan))
    return false;
  if (m->plan->clips && !(m->most = tf_most_new(a, m))) return false;
  m->cover = tf_cover_new(a, m->plan->facts);
  if (!m->cover) return false;
  m->scratch.boxes = TF_NEW(a, tf_boxes);
  if (m->scratch.boxes) m->scratch.boxes->arena = a;
  return m->scratch.boxes != NULL;
}

static bool plus(int64_t *sum, int64_t v) { return !__builtin_add_overflow(*sum, v, sum); }

bool tf_count_shares(const tf_eval *ev, const tf_slice *s) {
  const tf_path *path = &ev->plan->path[s->node];
  for (int k = 0; k < path->n; k++)
    if (s->merge >> k & 1 && ev->trip[path->loops[k]] > 1) return true;
  return false;
}

/* Words that enter slice s in class c for the first time in their production, by sharing group: computed with the
 * loops that only repeat boxes of the production at their first setting. */
static bool first_time(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool keeps, int64_t *words) {
  uint64_t again = s->inside & ~s->moving & m->plan->path[s->node].temporal, frozen = m->ev.frozen;
  tf_sum sum = {0, 0};
  m->ev.frozen |= again;
  uint64_t never =
      again & ~(m->ev.masked_too ? 0 : tf_skip_loops(m->plan, s->node)); /* a mask may skip the steps before */
  bool ok =
      (c->carry >= 0 && never >> c->carry & 1) || tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum);
  m->ev.frozen = frozen;
  *words = sum.box - sum.kept;
  return ok;
}

bool tf_count_class(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool share, tf_entry *e) {
  tf_sum sum;
  *e = (tf_entry){0, 0, 0};
  if (c->carry >= 0 && m->ev.trip[m->plan->path[s->node].loops[c->carry]] <= 1) return true;
  bool keeps = tf_class_survives(&m->ev, &m->scratch, s, c);
  if (!tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_INSTANCES, &sum)) return false;
  e->all = sum.box - sum.kept;
  if (share && !tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum)) return false;
  e->groups = sum.box - sum.kept;
  return !s->makes || first_time(m, s, c, keeps, &e->first);
}

static bool count_tile_slice(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  tf_entry sum = {0, 0, 0}, e;
  tf_sum first = {0, 0};
  bool share = tf_count_shares(&m->ev, s), ok = true;
  for (int c = 0; c < s->n_class; c++) {
    if (!tf_count_class(m, s, &s->classes[c], share, &e)) return false;
    tf_move v = tf_move_of(s, mem, e);
    tf_cells_add(m, i, c, &v);
    ok &= plus(&sum.all, e.all) && plus(&sum.groups, e.groups);
  }
  if (s->makes && !tf_sum_over(&m->ev, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first)) return false;
  sum.first = first.box;
  m->moves[i] = tf_move_of(s, mem, sum);
  return ok;
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const tf_slice *s = &m->plan->slices[i];
  bool join = s->makes ? unit->reduce : unit->multicast;
  tf_sum sum, first;
  if (!tf_sum_over(&m->ev, &m->scratch, s, NULL, false, join ? TF_OVER_GROUPS : TF_OVER_INSTANCES, &sum)) return false;
  m->moves[i] = (tf_move){.read = sum.box};
  if (!s->makes) return true;
  if (!tf_sum_over(&m->ev, &m->scratch, s, NULL, false, TF_OVER_FIRST, &first)) return false;
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
  if (!tf_sum_over(&m->ev, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum)) return false;
  r->points = sum.box;
  m->ev.masked_too = true;
  bool ok =
      !m->plan->skips || m->all_points || tf_sum_over(&m->ev, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum);
  m->ev.masked_too = m->all_points;
  if (!ok) return false;
  r->skipped = sum.box - r->points;
  r->recomputed = sum.box > m->plan->space[o] ? sum.box - m->plan->space[o] : 0;
  r->units = m->width[out->node];
  return true;
}

static bool count_nodes(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    tf_sum steps, width;
    if (!tf_sum_over(&m->ev, &m->scratch, &m->plan->at[n], NULL, false, TF_OVER_STEPS, &steps) ||
        !tf_sum_over(&m->ev, &m->scratch, &m->plan->at[n], NULL, false, TF_OVER_WIDTH, &width))
      return false;
    m->steps[n] = steps.box;
    m->width[n] = m->plan->cuts ? tf_border_width(m, n) : width.box;
  }
  return true;
}

/* Steps of Tile n in which the loop of `row` carries, where some settings are idle. */
static bool busy_steps(struct tf_model *m, int n, int row, double *out) {
  const tf_plan *p = m->plan;
  const tf_slice *at = &p->at[n];
  int loop = m->views->node[n].row_loop[row], carry = 0;
  tf_sum sum = {0, 0};
  while (p->path[n].loops[carry] != loop)
    carry++;
  tf_pclass class = {
      .carry = carry, .zero_from = carry + 1, .prev = -1, .common = -1, .n_comp = at->n_comp, .comp = at->comp};
  if (m->ev.trip[loop] > 1 && !tf_sum_over(&m->ev, &m->scratch, at, &class, false, TF_OVER_STEPS, &sum)) return false;
  *out = (double)sum.box;
  return true;
}

/* The steps of each class.  tf_class_steps has them where nothing is idle; Tiles with idle steps are summed here. */
static bool class_steps(struct tf_model *m) {
  tf_class_steps(m);
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    double all = 1;
    for (int j = v->n_rows - 2; v->n_slices && j >= 0; j--)
      all *= (double)m->ev.trip[v->row_loop[j]];
    for (int j = 0; v->n_slices && (double)m->steps[n] < all && j < v->n_rows - 1; j++)
      if (!busy_steps(m, n, j, &m->class_steps[v->row + j])) return false;
  }
  return true;
}

bool tf_count_treated(struct tf_model *m) {
  tf_sum each, once;
  for (int o = 0; o < m->plan->wl->n_ops; o++) {
    const tf_slice *s = &m->plan->stream[o];
    if (s->node < 0) continue;
    if (!tf_sum_over(&m->ev, &m->scratch, s, NULL, false, TF_OVER_INSTANCES, &each) ||
        !tf_sum_over(&m->ev, &m->scratch, s, NULL, false, TF_OVER_FIRST, &once))
      return false;
    m->treated[2 * o] = each.box;
    m->treated[2 * o + 1] = once.box;
  }
  return true;
}

bool tf_count_all(struct tf_model *m) {
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  if (!count_nodes(m) || (m->by_steps && !class_steps(m))) return false;
  for (int i = 0; i < m->plan->n_tile_slices && !m->ev.irregular; i++)
    if (!count_tile_slice(m, i)) return false;
  for (int o = 0; o < m->plan->wl->n_ops && !m->ev.irregular; o++)
    if (!count_op(m, o)) return false;
  return true;
}
