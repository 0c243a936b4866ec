/* Counts where loops leave a remainder: see uneven.h. */
#include "model/cost/quick/uneven.h"

#include <string.h>

#include "model/cost/quick/uneven_sum.h"

/* A slice, and what is known of it once a tree. */
typedef struct {
  const tf_slice *s;
  const tf_even_slice *v;
  const tf_uneven_slice *u;
} piece;

static piece piece_of(const struct tf_model *m, int i) {
  return (piece){&m->plan->slices[i], &m->even->slices[i], &m->uneven->slice[i]};
}

/* Over all settings, with those in `zero` at their first. */
static bool sum_all(struct tf_model *m, const piece *x, uint64_t zero, tf_uneven_total *out) {
  const tf_uneven_sum w = {.v = x->v, .groups = &x->u->self, .node = x->s->node, .zero = zero, .carry = -1};
  return tf_uneven_sum_up(m, &w, out);
}

/* The same over the entries in a class.  keeps: what was before is there. */
static bool sum_class(struct tf_model *m, const piece *x, int class, bool keeps, uint64_t zero, tf_uneven_total *out) {
  const tf_plan *p = m->plan;
  const tf_pclass *c = &x->s->classes[class];
  const tf_path *path = &p->path[x->s->node];
  tf_uneven_sum w = {.v = x->v, .groups = &x->u->self, .node = x->s->node, .zero = zero, .carry = c->carry};
  if (c->zero_from < path->n) w.zero |= path->temporal & ~UINT64_C(0) << c->zero_from;
  if (keeps) {
    w.q = &m->even->slices[c->prev];
    w.from = p->slices[c->prev].node;
    w.sibling = c->common >= 0;
  }
  if (w.sibling) w.groups = &x->u->sibling[class], w.n_common = p->path[c->common].n;
  return tf_uneven_sum_up(m, &w, out);
}

/* Moments at node n, all instances together once (width: instances of the first moment).  carry: only those at which
 * the loop at that position steps; -1: all. */
static bool count_steps(struct tf_model *m, int n, bool width, int carry, int64_t *out) {
  static const tf_even_slice none;
  const tf_path *path = &m->plan->path[n];
  tf_uneven_sum w = {.v = &none, .groups = &m->uneven->node[n].steps, .node = n, .carry = carry};
  tf_uneven_total sum;
  w.zero = width ? path->temporal : ~path->temporal;
  if (carry >= 0) w.zero |= ~UINT64_C(0) << carry << 1;
  if (!tf_uneven_sum_up(m, &w, &sum)) return false;
  *out = sum.box;
  return true;
}

/* Whether no count of the slice exceeds 2^57. */
static bool small(const struct tf_model *m, const piece *x) {
  const tf_path *path = &m->plan->path[x->s->node];
  double most = 1;
  for (int k = 0; k < path->n; k++)
    most *= (double)m->ev.trip[path->loops[k]];
  for (int r = 0; r < x->v->n_rank; r++)
    most *= (double)m->len[x->v->range[r]];
  return most < 0x1p57;
}

/* What enters a slice in class c of its entries. */
static bool count_class(struct tf_model *m, const piece *x, int c, bool shares, tf_entry *e) {
  const tf_pclass *k = &x->s->classes[c];
  const uint64_t same = x->u->same, again = x->u->again;
  tf_uneven_total sum;
  *e = (tf_entry){0, 0, 0};
  if (k->carry >= 0 && m->ev.trip[m->plan->path[x->s->node].loops[k->carry]] <= 1) return true;
  const bool keeps = tf_even_survives(m, x->v, k);
  if (!sum_class(m, x, c, keeps, 0, &sum)) return false;
  e->all = sum.box - sum.kept;
  if (shares && !sum_class(m, x, c, keeps, same, &sum)) return false;
  e->groups = sum.box - sum.kept;
  if (!x->s->makes || (k->carry >= 0 && again >> k->carry & 1)) return true;
  if (again && !sum_class(m, x, c, keeps, same | again, &sum)) return false;
  e->first = sum.box - sum.kept;
  return true;
}

static bool shares(const struct tf_model *m, const piece *x) {
  const tf_path *path = &m->plan->path[x->s->node];
  for (uint64_t left = x->u->same; left; left &= left - 1)
    if (m->ev.trip[path->loops[__builtin_ctzll(left)]] > 1) return true;
  return false;
}

/* Words met for the first time in their production. */
static bool count_first(struct tf_model *m, const piece *x, int64_t *words) {
  tf_uneven_total sum = {0, 0};
  const bool ok = !x->s->makes || sum_all(m, x, x->u->same | x->u->again, &sum);
  *words = sum.box;
  return ok;
}

static bool count_tile(struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  const tf_memory *mem = &m->plan->arch->memories[x.s->level];
  const bool share = shares(m, &x);
  tf_entry all = {0, 0, 0}, e;
  if (!small(m, &x) || !count_first(m, &x, &all.first)) return false;
  for (int c = 0; c < x.s->n_class; c++) {
    if (!count_class(m, &x, c, share, &e)) return false;
    const tf_move move = tf_move_of(x.s, mem, e);
    tf_cells_add(m, i, c, &move);
    all.all += e.all;
    all.groups += e.groups;
  }
  m->moves[i] = tf_move_of(x.s, mem, all);
  m->box[i] = 1;
  for (int r = 0; r < x.v->n_rank; r++)
    m->box[i] *= m->rank_len[m->views->rank_at[i] + r] = m->len[x.v->range[r]];
  return true;
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const piece x = piece_of(m, i);
  const bool joins = x.s->makes ? unit->reduce : unit->multicast;
  tf_uneven_total sum;
  int64_t first;
  if (!small(m, &x) || !sum_all(m, &x, joins ? x.u->same : 0, &sum) || !count_first(m, &x, &first)) return false;
  m->moves[i] = (tf_move){.read = sum.box - first, .update = x.s->makes ? sum.box : 0};
  return true;
}

static bool count_op(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const int n_reads = p->wl->ops[o].n_reads;
  const piece out = piece_of(m, p->op_slice[o] + n_reads);
  tf_op_result *r = &m->res.ops[o];
  tf_uneven_total sum;
  for (int i = 0; i <= n_reads; i++)
    if (!count_leaf(m, p->op_slice[o] + i, &p->arch->units[p->unit[o]])) return false;
  if (!sum_all(m, &out, 0, &sum)) return false;
  *r = (tf_op_result){.unit = p->unit[o], .units = m->width[p->tree->op_node[o]], .points = sum.box};
  r->recomputed = r->points > p->space[o] ? r->points - p->space[o] : 0;
  return true;
}

static bool count_treated(struct tf_model *m, int o) {
  const piece x = {&m->plan->stream[o], &m->even->stream[o], &m->uneven->slice[m->plan->n_slices + o]};
  tf_uneven_total each, once;
  if (!small(m, &x) || !sum_all(m, &x, 0, &each) || !sum_all(m, &x, x.u->same | x.u->again, &once)) return false;
  m->treated[2 * o] = each.box;
  m->treated[2 * o + 1] = once.box;
  return true;
}

static bool count_nodes(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++)
    if (!count_steps(m, n, false, -1, &m->steps[n]) || !count_steps(m, n, true, -1, &m->width[n])) return false;
  return true;
}

/* The steps in which each row of a Tile with entries carries. */
static bool count_rows(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    const tf_path *path = &m->plan->path[n];
    if (!v->n_slices) continue;
    for (int k = path->n - 1, j = 0; k >= 0; k--) {
      int64_t steps = 0;
      if (!(path->temporal >> k & 1)) continue;
      if (m->ev.trip[path->loops[k]] > 1 && !count_steps(m, n, false, k, &steps)) return false;
      m->class_steps[v->row + j++] = (double)steps;
    }
    m->class_steps[v->row + v->n_rows - 1] = 1;
  }
  return true;
}

/* Whether ops that share a loop split the same range. */
static bool together(const struct tf_model *m) {
  const tf_even *e = m->even;
  for (int l = 0; l < m->plan->n_loops; l++)
    if (m->ev.trip[l] > 1 && e->chains[m->uneven->chain[l]].apart) return false;
  return true;
}

/* Begins an evaluation: earlier sums no longer hold. */
static void begin(struct tf_model *m) {
  m->uneven->evaluation++;
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    const tf_path *path = &m->plan->path[n];
    m->uneven->node[n].turning = 0;
    for (int k = 0; k < path->n; k++)
      m->uneven->node[n].turning |= (uint64_t)(m->ev.trip[path->loops[k]] > 1) << k;
  }
}

bool tf_uneven_count(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (!m->uneven) m->uneven = tf_uneven_new(m->arena, p, m->even);
  bool ok = m->uneven && m->uneven->applies && tf_even_values(m, true) && together(m);
  if (!ok) return false;
  m->clipped = -1;
  m->partial = true;
  begin(m);
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  ok = count_nodes(m) && (!m->by_steps || count_rows(m));
  for (int i = 0; i < p->n_tile_slices && ok; i++)
    ok = count_tile(m, i);
  for (int o = 0; o < p->wl->n_ops && ok; o++)
    ok = count_op(m, o) && (p->stream[o].node < 0 || count_treated(m, o));
  for (int z = 0; z < p->wl->n_tensors && ok; z++)
    ok = p->home_scope[z] < 0 || tf_even_home_uneven(m, z);
  return ok;
}
