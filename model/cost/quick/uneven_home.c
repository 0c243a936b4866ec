/* The hull of an intermediate at home if loops put several slices of it, of which the last may be
 * shorter, into one instance: the result of general/sizes.c, by the ranges of even.h. */
#include "base/checked.h"
#include "model/cost/quick/uneven_plan.h"
#include "model/flow/range.h"
#include "model/tree/infer.h"

typedef struct {
  const struct tf_model *m;
  const tf_even *e;
  const tf_even_home *home;   /* [n_rank] */
  const tf_path *path;        /* of the home scope */
  const tf_uneven_node *n;    /* of the home scope, if m->mixed_steps */
  int64_t digit[TF_MAX_PATH]; /* 0 for all loops but those that put slices there */
  int n_rank;
  tf_ival all[TF_MAX_RANK]; /* hull so far */
} home_hull;

static int64_t step_at(const home_hull *g, int pos) {
  return g->n ? g->n->step[pos] : g->m->value[g->e->step[g->path->loops[pos]]];
}

/* Range v after the loops of a chain at these positions have split it. */
static tf_ival split(const home_hull *g, tf_ival v, int chain, uint64_t positions) {
  for (; positions; positions &= positions - 1) {
    const int pos = __builtin_ctzll(positions);
    if (g->e->chain_of[g->path->loops[pos]] != chain) continue;
    const int64_t step = step_at(g, pos), off = g->digit[pos] * step, rest = v.len - off;
    v = (tf_ival){v.lo + off, rest > step ? step : rest > 0 ? rest : 0};
  }
  return v;
}

static tf_ival range_at(const home_hull *g, int range) {
  const tf_even_range *r = &g->e->ranges[range];
  if (r->what == TF_WHOLE) return (tf_ival){0, r->len};
  if (r->what == TF_PART) return split(g, range_at(g, r->base), r->chain, r->moves);
  tf_ival all = {0, 0};
  for (int i = r->first; i < r->first + r->n; i++) {
    tf_ival one = {g->e->reads[i].c, 1};
    for (int t = g->e->reads[i].first; t < g->e->reads[i].first + g->e->reads[i].n && one.len > 0;
         t++) {
      const tf_ival term = range_at(g, g->e->terms[t].range);
      one = term.len > 0 ? tf_index_plus(one, g->e->terms[t].coef, term) : (tf_ival){one.lo, 0};
    }
    all = tf_hull(all, one);
  }
  return all;
}

/* Steps that the loop at a position takes, given the digits of those outside it. */
static int64_t turns(const home_hull *g, int pos) {
  const int chain = g->e->chain_of[g->path->loops[pos]];
  const int64_t trip = g->m->ev.trip[g->path->loops[pos]], step = step_at(g, pos);
  const tf_ival v =
      split(g, range_at(g, g->e->chains[chain].base), chain, (UINT64_C(1) << pos) - 1);
  const int64_t n = (v.len + step - 1) / step;
  return n < 1 ? 1 : n < trip ? n : trip;
}

static void add_left(home_hull *g) {
  tf_ival box[TF_MAX_RANK];
  for (int r = 0; r < g->n_rank; r++) {
    box[r] = range_at(g, g->home[r].range);
    if (box[r].len <= 0) return;
  }
  for (int r = 0; r < g->n_rank; r++)
    g->all[r] = tf_hull(g->all[r], box[r]);
}

/* Joins what the first and the last instance of each of the loops at these positions leave. */
static void add_slices(home_hull *g, uint64_t left) {
  if (!left) {
    add_left(g);
    return;
  }
  const int pos = __builtin_ctzll(left);
  const int64_t last = turns(g, pos) - 1;
  add_slices(g, left & (left - 1));
  g->digit[pos] = last;
  if (last > 0) add_slices(g, left & (left - 1));
  g->digit[pos] = 0;
}

int64_t tf_even_cut_step(const struct tf_model *m, int z, int l) {
  const int leaf = m->plan->tree->op_node[m->plan->wl->tensors[z].producer];
  return m->mixed_steps ? tf_step(&m->ev, leaf, l) : m->value[m->even->step[l]];
}

void tf_uneven_home(struct tf_model *m, int z) {
  const tf_plan *p = m->plan;
  const tf_tensor *t = &p->wl->tensors[z];
  home_hull g = {.m = m,
                 .e = m->even,
                 .home = &m->even->home[m->even->home_at[z]],
                 .path = &p->path[p->home_scope[z]],
                 .n = m->mixed_steps ? &m->uneven->node[p->home_scope[z]] : NULL,
                 .n_rank = t->rank};
  uint64_t brings = 0;
  for (int pos = 0; pos < g.path->n; pos++)
    if (m->ev.trip[g.path->loops[pos]] > 1 && tf_plan_brings(p, z, g.path->loops[pos]))
      brings |= UINT64_C(1) << pos;
  add_slices(&g, brings);
  m->home_words[z] = 1;
  for (int r = 0; r < t->rank; r++) {
    int64_t len = g.all[r].len;
    for (int i = 0; i < g.home[r].n; i++)
      len = tf_instance_part(len, m->ev.trip[g.home[r].cut[i]],
                             tf_even_cut_step(m, z, g.home[r].cut[i]));
    m->home_words[z] = tf_sat_mul(m->home_words[z], len < t->extent[r] ? len : t->extent[r]);
  }
}
