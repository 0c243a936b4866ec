/* What passes the ports of one instance of a memory, the busiest (docs/SEMANTICS.md section 5; DECISIONS 15).
 *
 * That is the first instance, at which all spatial loops stand at 0, where no border clips, nothing is retained, and
 * spatial loops move all reads of a tensor, and all ops below them, alike: a later one has a part of its boxes,
 * shifted, and ends earlier; and what a box shares with the one before can only grow with both.  So whoever counts what
 * enters the first instance has counted what no other exceeds.  Where a sibling has left idle what is not idle now, a
 * later instance finds less: the walk sees that, and keeps what each instance moves.  Elsewhere the mean over the
 * instances stands for the busiest. */
#include "model/cost/state.h"

static double instances(const struct tf_model *m, int node) {
  return node >= 0 && m->width[node] > 1 ? (double)m->width[node] : 1;
}

tf_flow tf_mean_flow(const struct tf_model *m, int i, const tf_move *v) {
  const double own = instances(m, m->plan->slices[i].node), up = instances(m, m->views->server[i]);
  return (tf_flow){(double)v->fill / own, (double)v->drain / own, (double)v->read / up, (double)v->update / up};
}

void tf_treated_share(struct tf_model *m, int o) {
  const double up = instances(m, m->views->server[m->plan->n_slices + o]);
  for (int k = 2 * o; k < 2 * o + 2; k++)
    m->treated_flow[k] = (double)m->treated[k] / up;
}

tf_flow tf_flow_of(const struct tf_model *m, int i, const tf_entry *e) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  if (!m->first_busiest) {
    const tf_move all = tf_move_of(s, mem, e[TF_ALL]);
    return tf_mean_flow(m, i, &all);
  }
  const tf_move here = tf_move_of(s, mem, e[TF_OWN]), there = tf_move_of(s, mem, e[TF_SERVING]);
  return (tf_flow){(double)here.fill, (double)here.drain, (double)there.read, (double)there.update};
}

void tf_flow_add(tf_flow *sum, const tf_flow *v) {
  sum->fill += v->fill;
  sum->drain += v->drain;
  sum->read += v->read;
  sum->update += v->update;
}

/* ---- instance by instance ------------------------------------------------------------------------- */

tf_each *tf_each_new(const struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  const size_t rows = (size_t)n;
  tf_arena *a = tf_arena_new();
  tf_each *k = a ? TF_NEW(a, tf_each) : NULL;
  if (k)
    *k = (tf_each){.arena = a,
                   .n = n,
                   .flows = TF_ARRAY(a, tf_flow, rows * (size_t)p->n_slices + 1),
                   .behind = TF_ARRAY(a, tf_flow, rows * (size_t)p->n_tile_slices + 1),
                   .cells = TF_ARRAY(a, tf_ports, rows * (size_t)m->views->n_cells + 1),
                   .treated = TF_ARRAY(a, double, rows * 2 * (size_t)p->wl->n_ops),
                   .below = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1),
                   .most = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1)};
  if (k && k->flows && k->behind && k->cells && k->treated && k->below && k->most) return k;
  tf_arena_free(a);
  return NULL;
}

void tf_each_free(tf_each *k) {
  if (k) tf_arena_free(k->arena);
}

struct tf_model tf_each_model(const struct tf_model *m, int k) {
  struct tf_model one = *m;
  one.each = NULL;
  one.flows = m->each->flows + (size_t)k * (size_t)m->plan->n_slices;
  one.cells = m->each->cells + (size_t)k * (size_t)m->views->n_cells;
  one.treated_flow = m->each->treated + (size_t)k * 2 * (size_t)m->plan->wl->n_ops;
  one.below = m->each->below;
  return one;
}
