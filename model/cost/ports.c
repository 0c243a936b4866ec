/* The words that each node and those below it move through the ports of the busiest instance of
 * every memory, and the instances in use (SEMANTICS D15); and from these, how busy each level is
 * over the run. */
#include <math.h>
#include <string.h>

#include "model/cost/state.h"

/* Adds the words of every slice to the node that causes them. */
static void add_slices(struct tf_model *m) {
  const tf_plan *p = m->plan;
  const tf_views *w = m->views;
  for (int i = 0; i < p->n_slices; i++) {
    const tf_flow *k = &m->flows[i];
    tf_ports *up = &m->below[w->up_pass[i]];
    up->read += k->read * w->up[i];
    up->write += k->update * w->up[i];
    if (w->own_pass[i] < 0) continue;
    tf_ports *own = &m->below[w->own_pass[i]];
    own->read += k->drain * w->own[i];
    own->write += k->fill * w->own[i];
  }
}

/* The instances in use at once: those of the m-tile, or of the children. */
static void count_instances(struct tf_model *m) {
  const tf_views *w = m->views;
  memset(m->in_use, 0, (size_t)w->n_passes * sizeof *m->in_use);
  for (int i = 0; i < w->n_passes; i++) {
    const tf_pass *k = &w->passes[i];
    if (k->from >= 0) m->in_use[i] = m->width[k->from];
    if (k->up < 0) continue;
    if (k->own_instances)
      m->in_use[k->up] += m->in_use[i];
    else if (m->in_use[i] > m->in_use[k->up])
      m->in_use[k->up] = m->in_use[i];
  }
}

/* The busier of two instances at once: of each port, or of the shared port. */
static tf_ports busier(const tf_memory *mem, tf_ports a, tf_ports b) {
  if (mem->one_port) return a.read + a.write > b.read + b.write ? a : b;
  return (tf_ports){a.read > b.read ? a.read : b.read, a.write > b.write ? a.write : b.write};
}

/* If each instance counts by itself: the share of the busiest of an m-tile's instances in all words
 * below a node. */
static void fill_most(struct tf_model *m) {
  const tf_views *w = m->views;
  memset(m->each->most, 0, (size_t)w->n_passes * sizeof *m->each->most);
  for (int k = 0; k < m->each->n; k++) {
    struct tf_model one = tf_each_model(m, k);
    memset(one.below, 0, (size_t)w->n_passes * sizeof *one.below);
    add_slices(&one);
    tf_stream_ports(&one);
    for (int i = 0; i < w->n_passes; i++) {
      const tf_pass *p = &w->passes[i];
      if (p->from < 0) continue;
      m->each->most[i] = busier(&m->plan->arch->memories[p->level], m->each->most[i], one.below[i]);
      if (p->up < 0) continue;
      one.below[p->up].read += one.below[i].read;
      one.below[p->up].write += one.below[i].write;
    }
  }
}

void tf_ports_fill(struct tf_model *m) {
  const tf_views *w = m->views;
  memset(m->below, 0, (size_t)w->n_passes * sizeof *m->below);
  memset(m->concurrent, 0, (size_t)w->n_passes * sizeof *m->concurrent);
  count_instances(m);
  add_slices(m);
  tf_stream_ports(m);
  if (m->each) fill_most(m);
  for (int i = 0; i < w->n_passes; i++) {
    const tf_pass *k = &w->passes[i];
    m->below[i].read += m->concurrent[i].read;
    m->below[i].write += m->concurrent[i].write;
    if (m->each && k->from >= 0) m->below[i] = m->each->most[i];
    if (k->up < 0) continue;
    if (k->own_instances) {
      m->concurrent[k->up] =
          busier(&m->plan->arch->memories[k->level], m->concurrent[k->up], m->below[i]);
    } else {
      m->below[k->up].read += m->below[i].read;
      m->below[k->up].write += m->below[i].write;
    }
  }
}

/* Words of a pass, less those that have passed before the m-tile `first` begins. */
static tf_ports left_of(const struct tf_model *m, int pass, int first) {
  tf_ports w = m->below[pass];
  if (first < 0) return w;
  const tf_view *v = &m->views->node[first];
  for (int l = 0; l < v->n_legs; l++) {
    if (v->legs[l].level != m->views->passes[pass].level) continue;
    w.read -= m->hidden[v->leg + l].read;
    w.write -= m->hidden[v->leg + l].write;
  }
  return w;
}

double tf_busiest_port(const struct tf_model *m, int n, bool all, int first) {
  const tf_view *v = &m->views->node[n];
  double t = 0;
  for (int i = v->first_pass; i < v->first_pass + v->n_passes; i++) {
    const tf_pass *k = &m->views->passes[i];
    if (m->lines) t = fmax(t, tf_lines_time(m, i));
    /* in a partial mapping only decided instances are the same in every completion */
    if ((!k->binds && !all) || (m->open && (k->from < 0 && k->level > 0))) continue;
    double time = tf_port_time(tf_port_rate_at(m, i), left_of(m, i, first));
    t = time > t ? time : t;
  }
  return t;
}

void tf_level_ports(struct tf_model *m, int l, bool *writes) {
  const tf_memory *mem = &m->plan->arch->memories[l];
  int pass = tf_pass_of(m->views, 0, l);
  *writes = false;
  m->res.levels[l].instances = 1;
  m->res.levels[l].cycles = 0;
  if (pass < 0) return;
  tf_ports w = m->below[pass];
  if (m->in_use[pass] > 1) m->res.levels[l].instances = m->in_use[pass];
  m->res.levels[l].cycles = tf_port_time(tf_port_rate_at(m, pass), w);
  *writes = mem->one_port ? w.read < w.write : w.read / mem->read_bw < w.write / mem->write_bw;
  if (!m->lines || tf_lines_time(m, pass) <= m->res.levels[l].cycles) return;
  m->res.levels[l].cycles = tf_lines_time(m, pass);
  *writes = m->lines->below[pass].read < m->lines->below[pass].write;
}
