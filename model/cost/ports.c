/* What passes the ports of every memory because of each node and those below it, and the instances that share the
 * work (DECISIONS 15).  From the same figures: how busy each level is over the run. */
#include <string.h>

#include "model/cost/state.h"

/* Words of every slice, at the node that causes them. */
static void add_slices(struct tf_model *m) {
  const tf_plan *p = m->plan;
  const tf_views *w = m->views;
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    const tf_move *k = &m->moves[i];
    tf_ports *at = &m->below[s->node * w->n_memories];
    at[s->above].read += (double)k->read * w->up[i];
    at[s->above].write += (double)k->update * w->up[i];
    if (s->leaf)
      continue;
    at[s->level].read += (double)k->drain * w->own[i];
    at[s->level].write += (double)k->fill * w->own[i];
  }
}

static bool at_once(const tf_node *t) {
  return t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE);
}

/* Instances of memory l in use at once at node n, from those of its children. */
static void add_instances(struct tf_model *m, int n, int l) {
  int levels = m->views->n_memories, up = m->plan->tree->nodes[n].parent;
  int from = m->views->instances_of[n * levels + l];
  int64_t *here = &m->in_use[n * levels + l];
  if (from >= 0)
    *here = m->width[from];
  if (up < 0)
    return;
  int64_t *above = &m->in_use[up * levels + l];
  if (at_once(&m->plan->tree->nodes[up]) && !tf_shared_instance(m->views, up, l))
    *above += *here;
  else if (*here > *above)
    *above = *here;
}

void tf_ports_fill(struct tf_model *m) {
  const tf_tree *t = m->plan->tree;
  int levels = m->views->n_memories;
  memset(m->below, 0, (size_t)(t->n_nodes * levels) * sizeof *m->below);
  memset(m->in_use, 0, (size_t)(t->n_nodes * levels) * sizeof *m->in_use);
  add_slices(m);
  tf_stream_ports(m);
  for (int n = t->n_nodes - 1; n >= 0; n--)
    for (int l = 0; l < levels; l++) {
      const tf_ports *here = &m->below[n * levels + l];
      add_instances(m, n, l);
      if (t->nodes[n].parent < 0)
        continue;
      tf_ports *up = &m->below[t->nodes[n].parent * levels + l];
      up->read += here->read;
      up->write += here->write;
    }
}

tf_pace tf_pace_at(const struct tf_model *m, int n, int l) {
  const tf_memory *mem = &m->plan->arch->memories[l];
  int64_t instances = m->in_use[n * m->views->n_memories + l];
  double k = instances > 1 ? 1 / (double)instances : 1;
  return (tf_pace){k / mem->read_bw, k / mem->write_bw, mem->one_port};
}

/* Whether the instances in use of memory l below n are those of every completion of a mapping that is part open. */
static bool settled(const struct tf_model *m, int n, int l) {
  int from = m->views->instances_of[n * m->views->n_memories + l];
  return !m->open || (from >= 0 && tf_plan_above(m->plan, from, n));
}

double tf_busiest_port(const struct tf_model *m, int n) {
  double t = 0;
  for (int l = 0; l < m->views->n_memories; l++) {
    tf_ports w = m->below[n * m->views->n_memories + l];
    if (w.read + w.write <= 0 || !settled(m, n, l))
      continue;
    double k = tf_port_time(tf_pace_at(m, n, l), w);
    t = k > t ? k : t;
  }
  return t;
}

void tf_level_ports(struct tf_model *m, int l, bool *writes) {
  const tf_memory *mem = &m->plan->arch->memories[l];
  tf_ports w = m->below[l];
  m->res.levels[l].instances = m->in_use[l] > 1 ? m->in_use[l] : 1;
  m->res.levels[l].cycles = tf_port_time(tf_pace_at(m, 0, l), w);
  *writes = mem->one_port ? w.read < w.write : w.read / mem->read_bw < w.write / mem->write_bw;
}
