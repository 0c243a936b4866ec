/* Words that pass the ports of the busiest instance of a memory (docs/SEMANTICS.md section 5, D15).
 *
 * That is the first instance, at which all spatial loops are at 0, if no border clips, nothing is
 * retained, and spatial loops move all reads of a tensor, and all ops below them, equally: a later
 * instance has a part of its boxes, shifted, and ends earlier; and the overlap of a box with the
 * previous one can only grow with both.  So no instance exceeds what enters the first.  If a
 * sibling was idle that is not idle now, a later instance reuses less: the walk detects that, and
 * counts each instance by itself.  Otherwise the mean over the instances is used instead of the
 * busiest. */
#include "model/cost/state.h"

static double instances(const struct tf_model *m, int node) {
  return node >= 0 && m->width[node] > 1 ? (double)m->width[node] : 1;
}

tf_flow tf_mean_flow(const struct tf_model *m, int i, const tf_move *v) {
  const double own = instances(m, m->plan->slices[i].node), up = instances(m, m->views->server[i]);
  return (tf_flow){(double)v->fill / own, (double)v->drain / own, (double)v->read / up,
                   (double)v->update / up};
}

void tf_rescaled_share(struct tf_model *m, int o) {
  const double up = instances(m, m->views->server[m->plan->n_slices + o]);
  for (int k = 2 * o; k < 2 * o + 2; k++)
    m->rescaled_flow[k] = (double)m->rescaled[k] / up;
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
