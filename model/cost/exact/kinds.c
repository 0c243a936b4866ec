/* Finds the settings of spatial loops that are equivalent. */
#include "model/flow/kinds.h"

#include "model/cost/exact/store.h"

#include "model/flow/plan_class.h"
#include "model/input/dims.h"

enum { MOST_LENGTHS = 8 };

/* The lengths that the range of a dim may have; the first is that at the first setting of all
 * loops. */
typedef struct {
  int n;
  int64_t len[MOST_LENGTHS];
} lengths;

/* ---- dims whose ranges are tiles ------------------------------------------------------------ */

/* Whether an index that has the dim is the dim. */
static bool alone(const tf_index *ix, int d) {
  return tf_index_coef(ix, d) == 0 || (ix->n_terms == 1 && ix->terms[0].coef == 1 && ix->c == 0);
}

/* Whether rank r of the tensor, wherever it is touched, is indexed by the dim alone, or never by
 * it. */
static bool rank_plain(const tf_workload *wl, int z, int r, int d) {
  int with = 0, without = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_op *op = &wl->ops[o];
    if (op->out == z) *(op->dims[r] == d ? &with : &without) = 1;
    for (int k = 0; k < op->n_reads; k++) {
      if (op->reads[k].tensor != z) continue;
      if (!alone(&op->reads[k].index[r], d)) return false;
      *(tf_index_coef(&op->reads[k].index[r], d) ? &with : &without) = 1;
    }
  }
  return !(with && without);
}

static bool indices_plain(const tf_workload *wl, int d) {
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      if (!rank_plain(wl, z, r, d)) return false;
  return true;
}

/* How far loop l moves the ops that it splits; 0: by different distances, or it splits none. */
static int64_t step_of(const tf_eval *ev, int l) {
  const tf_ploop *pl = &ev->plan->loops[l];
  const int n = ev->plan->n_loops;
  for (int k = 1; k < pl->n_leader; k++)
    if (ev->step[pl->leaders[k] * n + l] != ev->step[pl->leaders[0] * n + l]) return 0;
  return pl->n_leader ? ev->step[pl->leaders[0] * n + l] : 0;
}

static bool add_length(lengths *s, int64_t len) {
  for (int i = 0; i < s->n; i++)
    if (s->len[i] == len) return true;
  if (len <= 0) return true;
  if (s->n == MOST_LENGTHS) return false;
  s->len[s->n++] = len;
  return true;
}

/* The lengths after a loop: of its tiles, whole or not. */
static bool split(lengths *s, int64_t step, int64_t trip) {
  const lengths before = *s;
  bool ok = true;
  s->n = 0;
  for (int i = 0; i < before.n; i++) {
    const int64_t len = before.len[i];
    ok &= add_length(s, len < step ? len : step);
    ok &= len <= step || len / step >= trip || add_length(s, len % step);
  }
  return ok;
}

static bool add_cut(tf_kinds *k, int64_t trip, int64_t at) {
  int i = 0;
  if (k->each || at <= 0 || at >= trip) return true;
  while (k->first[i] < at)
    i++;
  if (k->first[i] == at) return true;
  if (k->n == TF_MOST_KINDS) return false;
  for (int j = k->n++; j >= i; j--)
    k->first[j + 1] = k->first[j];
  k->first[i] = at;
  return true;
}

/* Cuts a spatial loop that such ranges enter into kinds: where whole tiles end, and after the
 * partial one. */
static bool cut_by(tf_kinds *k, const lengths *s, int64_t step, int64_t trip) {
  bool ok = true;
  for (int i = 0; i < s->n; i++)
    ok &= add_cut(k, trip, s->len[i] / step) && add_cut(k, trip, (s->len[i] - 1) / step + 1);
  return ok;
}

/* Whether the ranges of all ops below node n are what the loops leave of the extent. */
static bool ranges_agree(const tf_eval *ev, int d, int n, int64_t len, const int64_t *zero) {
  const tf_plan *p = ev->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (tf_op_slot(&p->wl->ops[o], d) < 0 || !tf_plan_above(p, n, p->tree->op_node[o])) continue;
    const tf_ival v = tf_dim_range(ev, o, d, n, zero);
    if (v.lo != 0 || v.len != len) return false;
  }
  return true;
}

/* Updates the lengths s by the loops of node n, cutting those that are spatial; false: the dim's
 * ranges are not tiles. */
static bool pass_node(const struct tf_model *m, tf_kinds *all, int d, int n, lengths *s) {
  const tf_plan *p = m->plan;
  bool any = false;
  for (int l = p->first_loop[n]; l < p->n_loops && p->loops[l].node == n; l++) {
    const int64_t step = step_of(&m->ev, l), trip = m->ev.trip[l];
    if (p->loops[l].dim != d || trip <= 1) continue;
    if (step <= 0 || (p->loops[l].axis != TF_TEMPORAL && !cut_by(&all[l], s, step, trip)) ||
        !split(s, step, trip))
      return false;
    any = true;
  }
  return !any || ranges_agree(&m->ev, d, p->tree->nodes[n].children[0], s->len[0], m->scratch.zero);
}

/* Cuts the spatial loops of the dim. */
static bool cut_dim(const struct tf_model *m, tf_kinds *all, int d, lengths *at) {
  const tf_plan *p = m->plan;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_node *t = &p->tree->nodes[n];
    if (t->parent < 0) at[n] = (lengths){1, {p->wl->dims[d].extent}};
    if (t->kind == TF_TILE && !pass_node(m, all, d, n, &at[n])) return false;
    for (int c = 0; c < t->n_children; c++)
      at[t->children[c]] = at[n];
  }
  return true;
}

/* ---- other differences between instances ---------------------------------------------------- */

/* Makes the last instance a kind of its own: the box around what instances leave in one memory ends
 * with it. */
static bool cut_shared(const struct tf_model *m, int l, tf_kinds *k) {
  const tf_plan *p = m->plan;
  bool shares = false;
  for (int z = 0; z < p->wl->n_tensors; z++)
    shares |= p->home_scope[z] >= 0 && tf_plan_brings(p, z, l);
  for (int i = k->n; shares && i > 0; i--)
    if (!add_cut(k, m->ev.trip[l], k->first[i] - 1)) return false;
  return true;
}

static bool below(const tf_plan *p, int l, int n) {
  return p->loops[l].node != n && tf_plan_above(p, p->loops[l].node, n);
}

/* Whether some memory passes from a node below loop a to one below loop b. */
static bool pass_on(const tf_plan *p, int a, int b) {
  if (p->loops[a].axis == TF_TEMPORAL || p->loops[a].axis != p->loops[b].axis) return false;
  for (int i = 0; i < p->n_tile_slices; i++)
    for (int k = 0; k < p->n_tile_slices && below(p, a, p->slices[i].node); k++)
      if (p->slices[i].tensor == p->slices[k].tensor && p->slices[i].level == p->slices[k].level &&
          below(p, b, p->slices[k].node) &&
          tf_plan_same_split(p, p->slices[i].node, p->slices[k].node))
        return true;
  return false;
}

/* Gives equal kinds to loops between which memories pass from child to child: loops of one axis and
 * trip count that split in the same way. */
static bool cut_alike(const struct tf_model *m, tf_kinds *all, int l) {
  bool ok = true;
  for (int x = 0; x < m->plan->n_loops && !all[l].each; x++) {
    if (m->ev.trip[x] != m->ev.trip[l] || x == l || !pass_on(m->plan, l, x)) continue;
    all[l].each |= all[x].each;
    for (int i = 0; i < all[x].n && !all[l].each; i++)
      ok &= add_cut(&all[l], m->ev.trip[l], all[x].first[i]);
  }
  return ok;
}

static bool unlike(const struct tf_model *m) {
  const tf_plan *p = m->plan;
  return p->n_retains || p->clips || p->cuts || (m->note && !m->noted) ||
         (m->lines && m->lines->noting);
}

/* Whether the loop fills a network whose instances hand words on, or selects among such networks:
 * each of these instances has its place, and neighbours of its own.  Loops further in are not
 * affected. */
static bool has_places(const struct tf_model *m, int l) {
  const tf_plan *p = m->plan;
  bool has = false;
  for (int k = p->tree->nodes[p->loops[l].node].level + 1; k < p->arch->n_memories; k++)
    has |= p->arch->memories[k].peers;
  return has;
}

/* Repeats until nothing is cut any more. */
static void settle(const struct tf_model *m, tf_kinds *all) {
  for (bool more = true; more;) {
    more = false;
    for (int l = 0; l < m->plan->n_loops; l++) {
      const int n = all[l].n;
      if (all[l].each) continue;
      if (!cut_alike(m, all, l)) all[l].each = true;
      more |= all[l].each || all[l].n != n;
    }
  }
}

tf_kinds *tf_kinds_new(tf_arena *a, const struct tf_model *m) {
  const tf_plan *p = m->plan;
  tf_kinds *all = TF_ARRAY(a, tf_kinds, (size_t)p->n_loops + 1);
  lengths *at = TF_ARRAY(a, lengths, (size_t)p->tree->n_nodes);
  if (!all || !at) return NULL;
  for (int l = 0; l < p->n_loops; l++)
    all[l] = (tf_kinds){
        p->loops[l].axis == TF_TEMPORAL || unlike(m) || has_places(m, l), 1, {0, m->ev.trip[l]}};
  for (int d = 0; d < p->wl->n_dims && !unlike(m); d++) {
    if (indices_plain(p->wl, d) && cut_dim(m, all, d, at)) continue;
    for (int l = 0; l < p->n_loops; l++)
      all[l].each |= p->loops[l].dim == d;
  }
  for (int l = 0; l < p->n_loops; l++) {
    if (all[l].each) continue;
    if (m->note && !add_cut(&all[l], m->ev.trip[l], 1))
      all[l].each = true; /* causes: the first, and later ones */
    if (!cut_shared(m, l, &all[l])) all[l].each = true;
  }
  settle(m, all);
  return all;
}
