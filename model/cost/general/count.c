/* Counts every slice, op and node by sums over classes of settings. */
#include <string.h>

#include "model/cost/general/comps.h"
#include "model/cost/general/general.h"
#include "model/cost/general/most.h"
#include "model/cost/peers.h"
#include "model/flow/apart.h"
#include "model/flow/layout.h"
#include "model/flow/range_memo.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"
#include "model/tree/cover.h"

/* Created when first needed: most trees never need it. */
bool tf_general_ready(struct tf_model *m) {
  tf_arena *a = m->arena;
  size_t loops = (size_t)m->plan->n_loops + 1;
  if (m->scratch.boxes) return true;
  if (!(m->ev.keep = tf_keep_new(a, m->plan))) return false;
  m->scratch.cur = TF_ARRAY(a, int64_t, loops);
  m->scratch.prv = TF_ARRAY(a, int64_t, loops);
  m->scratch.zero = TF_ARRAY(a, int64_t, loops);
  m->scratch.pair = TF_ARRAY(a, int64_t, loops);
  m->scratch.fixed = TF_ARRAY(a, int64_t, loops);
  m->scratch.made = TF_ARRAY(a, tf_ival *, (size_t)m->plan->wl->n_ops);
  if (!m->scratch.cur || !m->scratch.prv || !m->scratch.zero || !m->scratch.pair ||
      !m->scratch.fixed || !m->scratch.made || !tf_comps_fill(a, m->plan))
    return false;
  if (!(m->most = tf_most_new(a, m))) return false;
  m->cover = tf_cover_new(a, m->plan->facts);
  if (!m->cover) return false;
  m->scratch.boxes = TF_NEW(a, tf_boxes);
  if (m->scratch.boxes) m->scratch.boxes->arena = a;
  return m->scratch.boxes != NULL;
}

/* Whether closed sums have counted slice i. */
static bool is_counted(const struct tf_model *m, int i) {
  return m->partly_counted && m->counted[i];
}

static bool plus(int64_t *sum, int64_t v) { return !__builtin_add_overflow(*sum, v, sum); }

bool tf_count_shares(const tf_eval *ev, const tf_slice *s) {
  const tf_path *path = &ev->plan->path[s->node];
  for (int k = 0; k < path->n; k++)
    if (s->merge >> k & 1 && ev->trip[path->loops[k]] > 1) return true;
  return false;
}

/* Words that enter slice s in class c for the first time in their production, by sharing group:
 * computed with the loops that only repeat boxes of the production at their first setting. */
static bool first_time(struct tf_model *m, const tf_slice *s, const tf_reuse_case *c, bool keeps,
                       int64_t *words) {
  uint64_t again = s->inside & ~s->moving & m->plan->path[s->node].temporal, frozen = m->ev.frozen;
  tf_sum sum = {0, 0};
  m->ev.frozen |= again;
  uint64_t never =
      again &
      ~(m->ev.masked_too ? 0
                         : tf_skip_loops(m->plan, s->node)); /* a mask may skip the steps before */
  bool ok = (c->stepping >= 0 && never >> c->stepping & 1) ||
            tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum);
  m->ev.frozen = frozen;
  *words = sum.box - sum.kept;
  return ok;
}

/* Whether the previous entry, which has another layout, may not occur in a run of the scope that
 * retains its tensor: then nothing is dropped, and older content is found. */
static bool drops_in_some_runs(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c,
                               bool keeps) {
  if (keeps || c->prev < 0 || !p->n_retains) return false;
  const tf_slice *q = &p->slices[c->prev];
  const int at = p->retain_at[q->node];
  bool may =
      at >= 0 && at == p->retain_at[s->node] && p->home_scope[s->tensor] != p->retains[at].scope;
  for (int i = 0; i < q->n_touch && may; i++)
    may = p->made_in[q->touch[i].op] >= 0;
  return may;
}

bool tf_count_class(struct tf_model *m, const tf_slice *s, const tf_reuse_case *c, bool share,
                    tf_entry *e) {
  tf_sum sum;
  *e = (tf_entry){0, 0, 0};
  if (c->stepping >= 0 && m->ev.trip[m->plan->path[s->node].loops[c->stepping]] <= 1) return true;
  bool keeps = tf_class_survives(&m->ev, &m->scratch, s, c);
  m->ev.irregular |= drops_in_some_runs(m->plan, s, c, keeps);
  if (!tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_INSTANCES, &sum)) return false;
  e->all = sum.box - sum.kept;
  if (share && !tf_sum_over(&m->ev, &m->scratch, s, c, keeps, TF_OVER_GROUPS, &sum)) return false;
  e->groups = sum.box - sum.kept;
  return !s->makes || first_time(m, s, c, keeps, &e->first);
}

/* The loops of more than one step that are at their first setting for the first instance of a side;
 * none: there is only one instance. */
static uint64_t still_at(const struct tf_model *m, int i, int side) {
  const tf_path *path = &m->plan->path[tf_slice_at(m->plan, i)->node];
  uint64_t turning = 0;
  for (uint64_t left = tf_still_of(m->plan, m->views, i, side); left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    if (m->ev.trip[path->loops[k]] > 1) turning |= UINT64_C(1) << k;
  }
  return turning;
}

/* The same with the spatial loops at positions `still` at their first setting. */
static bool count_class_at(struct tf_model *m, const tf_slice *s, const tf_reuse_case *c,
                           uint64_t still, tf_entry *e) {
  const uint64_t frozen = m->ev.frozen;
  m->ev.frozen |= still;
  const bool ok = tf_count_class(m, s, c, tf_count_shares(&m->ev, s), e);
  m->ev.frozen = frozen;
  return ok;
}

static bool sum_at(struct tf_model *m, const tf_slice *s, enum tf_over over, uint64_t still,
                   int64_t *words) {
  const uint64_t frozen = m->ev.frozen;
  tf_sum sum;
  m->ev.frozen |= still;
  const bool ok = tf_sum_over(&m->ev, &m->scratch, s, NULL, false, over, &sum);
  m->ev.frozen = frozen;
  *words = sum.box;
  return ok;
}

static bool sum_tile_slice(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  const int n_sides = m->first_busiest ? TF_N_SIDES : 1;
  tf_entry sum[TF_N_SIDES] = {{0, 0, 0}}, e[TF_N_SIDES] = {{0, 0, 0}};
  bool ok = true;
  for (int c = 0; c < s->n_class && ok; c++) {
    for (int k = 0; k < n_sides && ok; k++) {
      const uint64_t still = still_at(m, i, k);
      e[k] = e[TF_ALL];
      ok = (k != TF_ALL && !still) || count_class_at(m, s, &s->classes[c], still, &e[k]);
      ok = ok && plus(&sum[k].all, e[k].all) && plus(&sum[k].groups, e[k].groups);
    }
    const tf_flow flow = tf_flow_of(m, i, e);
    if (ok) tf_cells_add(m, i, c, &flow);
  }
  for (int k = 0; k < n_sides && ok && s->makes; k++) {
    const uint64_t still = still_at(m, i, k);
    sum[k].first = sum[TF_ALL].first;
    if (k == TF_ALL || still) ok = sum_at(m, s, TF_OVER_FIRST, still, &sum[k].first);
  }
  if (!ok) return false;
  m->moves[i] = tf_move_of(s, mem, sum[TF_ALL]);
  m->flows[i] = tf_flow_of(m, i, sum);
  return true;
}

static bool count_tile_slice(struct tf_model *m, int i) {
  tf_sum_memo memo = {.n = 0};
  m->scratch.memo = &memo;
  const bool ok = sum_tile_slice(m, i);
  m->scratch.memo = NULL;
  return ok;
}

/* Words that a leaf moves, with the spatial loops at `still` at their first setting. */
static bool count_leaf_at(struct tf_model *m, const tf_slice *s, const tf_unit *unit,
                          uint64_t still, tf_move *out) {
  const bool join = s->makes ? unit->reduce : unit->multicast;
  int64_t all, first = 0;
  if (!sum_at(m, s, join ? TF_OVER_GROUPS : TF_OVER_INSTANCES, still, &all)) return false;
  if (s->makes && !sum_at(m, s, TF_OVER_FIRST, still, &first)) return false;
  *out = (tf_move){.read = all - first, .update = s->makes ? all : 0};
  return true;
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const tf_slice *s = &m->plan->slices[i];
  tf_move one;
  if (!count_leaf_at(m, s, unit, 0, &m->moves[i])) return false;
  const uint64_t still = still_at(m, i, TF_SERVING);
  m->flows[i] = tf_mean_flow(m, i, &m->moves[i]);
  if (!m->first_busiest || !still) return true;
  if (!count_leaf_at(m, s, unit, still, &one)) return false;
  m->flows[i] = (tf_flow){.read = (double)one.read, .update = (double)one.update};
  return true;
}

static bool count_op(struct tf_model *m, int o) {
  const tf_op *op = &m->plan->wl->ops[o];
  tf_op_result *r = &m->res.ops[o];
  tf_sum sum;
  const int of_out = m->plan->op_slice[o] + op->n_reads;
  if (!is_counted(m, of_out)) *r = (tf_op_result){.unit = m->plan->unit[o]};
  for (int i = 0; i <= op->n_reads; i++)
    if (!is_counted(m, m->plan->op_slice[o] + i) &&
        !count_leaf(m, m->plan->op_slice[o] + i, &m->plan->arch->units[r->unit]))
      return false;
  if (is_counted(m, of_out)) return true;
  const tf_slice *out = &m->plan->slices[of_out];
  if (!tf_sum_over(&m->ev, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum)) return false;
  r->points = sum.box;
  m->ev.masked_too = true;
  bool ok = !m->plan->skips ||
            tf_sum_over(&m->ev, &m->scratch, out, NULL, false, TF_OVER_INSTANCES, &sum);
  m->ev.masked_too = false;
  if (!ok) return false;
  r->skipped = sum.box - r->points;
  r->recomputed = sum.box > m->plan->space[o] ? sum.box - m->plan->space[o] : 0;
  r->units = m->width[out->node];
  return true;
}

/* Moments of node n, or its instances at the first. */
static bool count_moments(struct tf_model *m, int n, enum tf_over over, int64_t *out) {
  const bool apart = tf_mixed_at(&m->ev, n) && !tf_one_longest(&m->ev, n);
  int ops[TF_MOST_APART];
  const unsigned all = apart ? 1U << tf_apart_ops(&m->ev, n, ops) : 2;
  bool ok = true;
  *out = 0;
  for (unsigned with = 1; with < all && ok; with++) {
    tf_sum sum;
    if (apart) tf_apart_take(&m->ev, n, ops, with);
    ok = tf_sum_over(&m->ev, &m->scratch, &m->plan->node_slice[n], NULL, false, over, &sum) &&
         plus(out, __builtin_popcount(with) % 2 ? sum.box : -sum.box);
  }
  if (apart) tf_apart_take(&m->ev, n, ops, 0);
  return ok;
}

static bool count_nodes(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    if (m->partly_counted && m->counted_node[n]) continue;
    for (uint64_t left = m->plan->node_slice[n].tied; left; left &= left - 1)
      m->ev.irregular |= m->ev.trip[m->plan->path[n].loops[__builtin_ctzll(left)]] > 1;
    if (!count_moments(m, n, TF_OVER_STEPS, &m->steps[n]) ||
        !count_moments(m, n, TF_OVER_WIDTH, &m->width[n]))
      return false;
    if (m->plan->cuts || m->ev.parts) m->width[n] = tf_border_width(m, n);
  }
  return true;
}

/* Steps of Tile n in which the loop of `row` steps, if some settings are idle. */
static bool busy_steps(struct tf_model *m, int n, int row, double *out) {
  const tf_plan *p = m->plan;
  const tf_slice *at = &p->node_slice[n];
  int loop = m->views->node[n].row_loop[row], stepping = 0;
  tf_sum sum = {0, 0};
  while (p->path[n].loops[stepping] != loop)
    stepping++;
  tf_reuse_case class = {.stepping = stepping,
                         .zero_from = stepping + 1,
                         .prev = -1,
                         .common = -1,
                         .n_comp = at->n_comp,
                         .comp = at->comp};
  if (m->ev.trip[loop] > 1 &&
      !tf_sum_over(&m->ev, &m->scratch, at, &class, false, TF_OVER_STEPS, &sum))
    return false;
  *out = (double)sum.box;
  return true;
}

/* Counts the steps of each class.  tf_node_class_steps counts them if nothing is idle; Tiles with
 * idle steps are summed here. */
static bool class_steps(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    double all = 1;
    if (m->partly_counted && m->counted_node[n]) continue;
    tf_node_class_steps(m, n);
    for (int j = v->n_rows - 2; v->n_slices && j >= 0; j--)
      all *= (double)m->ev.trip[v->row_loop[j]];
    for (int j = 0; v->n_slices && (double)m->steps[n] < all && j < v->n_rows - 1; j++)
      if (!busy_steps(m, n, j, &m->class_steps[v->row + j])) return false;
  }
  return true;
}

bool tf_count_rescaled(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_slice *s = &p->stream[o];
    int64_t each, once;
    if (s->node < 0 || is_counted(m, p->n_slices + o)) continue;
    if (!sum_at(m, s, TF_OVER_INSTANCES, 0, &m->rescaled[2 * o]) ||
        !sum_at(m, s, TF_OVER_FIRST, 0, &m->rescaled[2 * o + 1]))
      return false;
    tf_rescaled_share(m, o);
    const uint64_t still = still_at(m, p->n_slices + o, TF_SERVING);
    if (!m->first_busiest || !still) continue;
    if (!sum_at(m, s, TF_OVER_INSTANCES, still, &each) ||
        !sum_at(m, s, TF_OVER_FIRST, still, &once))
      return false;
    m->rescaled_flow[2 * o] = (double)each;
    m->rescaled_flow[2 * o + 1] = (double)once;
  }
  return true;
}

bool tf_count_nodes(struct tf_model *m) {
  if (!m->partly_counted) memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  return count_nodes(m) && (!m->by_steps || class_steps(m));
}

bool tf_count_slices(struct tf_model *m) {
  for (int i = 0; i < m->plan->n_tile_slices && !m->ev.irregular; i++)
    if (!is_counted(m, i) && !tf_hands(m, i) && !count_tile_slice(m, i)) return false;
  for (int o = 0; o < m->plan->wl->n_ops && !m->ev.irregular; o++)
    if (!count_op(m, o)) return false;
  return true;
}
