/* Words that pass each leg of a Tile in the busiest instance, by class of steps.  With double
 * buffering a transfer overlaps the step beside it, so the maximum of both counts, class by class
 * (docs/SEMANTICS.md section 5, D18). */
#include "model/cost/state.h"

/* Adds a share of what slice i moves to the ports of its class of steps. */
static void add_words(struct tf_model *m, int i, int row, const tf_flow *v, double share) {
  const tf_view *view = &m->views->node[m->plan->slices[i].node];
  tf_cell_add(m->views, i, &m->cells[view->cell + row * view->n_legs], v, share);
}

/* Divides entries after a sibling's among the first step and the steps in which a loop of rows from
 * .. n_rows - 2 steps. */
static void put_outer(struct tf_model *m, int i, int from, const tf_flow *v) {
  const tf_view *view = &m->views->node[m->plan->slices[i].node];
  const double *steps = &m->class_steps[view->row];
  double all = 0;
  for (int j = from; j < view->n_rows; j++)
    all += steps[j];
  for (int j = from; j < view->n_rows; j++)
    if (steps[j] > 0) add_words(m, i, j, v, steps[j] / all);
}

void tf_cells_add(struct tf_model *m, int i, int c, const tf_flow *v) {
  const tf_reuse_case *k = &m->plan->slices[i].classes[c];
  if (!m->by_steps) return;
  if (k->stepping >= 0)
    add_words(m, i, c, v, 1);
  else if (k->zero_from == 0)
    add_words(m, i, m->views->node[m->plan->slices[i].node].n_rows - 1, v, 1);
  else
    put_outer(m, i, c, v);
}

void tf_cells_add_all(struct tf_model *m, const tf_flow *entered) {
  for (int i = 0; i < m->plan->n_tile_slices; i++) {
    const tf_slice *s = &m->plan->slices[i];
    const int rows = m->views->node[s->node].n_rows;
    for (int row = 0; row < rows; row++)
      add_words(m, i, row, entered++, 1);
    for (int c = 0; c < s->n_class; c++)
      if (tf_after_sibling(&s->classes[c])) tf_cells_add(m, i, c, entered);
    entered++;
  }
}

/* Words that Tile v's entries move through a leg, if each instance counts by itself. */
static tf_ports busiest_leg(const struct tf_model *m, const tf_view *v, int leg) {
  tf_ports most = {0, 0};
  for (int k = 0; k < m->each->n; k++) {
    const struct tf_model one = tf_each_model(m, k);
    const tf_ports w = tf_leg_ports(&one, v, leg);
    most.read = w.read > most.read ? w.read : most.read;
    most.write = w.write > most.write ? w.write : most.write;
  }
  return most;
}

tf_ports tf_leg_ports(const struct tf_model *m, const tf_view *v, int leg) {
  const tf_views *w = m->views;
  tf_ports sum = {0, 0};
  if (m->each) return busiest_leg(m, v, leg);
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    const tf_flow *k = &m->flows[i];
    if (leg == 0) {
      sum.read += k->drain * w->own[i];
      sum.write += k->fill * w->own[i];
    } else if (w->leg[i] == leg) {
      sum.read += k->read * w->up[i];
      sum.write += k->update * w->up[i];
    }
  }
  return sum;
}

/* Takes the loads through leg l of Tile v from the instance that is busiest over the run; stores
 * likewise. */
static void leg_cells(struct tf_model *m, const tf_view *v, int l) {
  tf_ports most = {-1, -1};
  for (int k = 0; k < m->each->n; k++) {
    const struct tf_model one = tf_each_model(m, k);
    const tf_ports all = tf_leg_ports(&one, v, l);
    for (int row = 0; row < v->n_rows; row++) {
      const int at = v->cell + row * v->n_legs + l;
      if (all.read > most.read) m->cells[at].read = one.cells[at].read;
      if (all.write > most.write) m->cells[at].write = one.cells[at].write;
    }
    most.read = all.read > most.read ? all.read : most.read;
    most.write = all.write > most.write ? all.write : most.write;
  }
}

void tf_each_cells(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes && m->by_steps; n++)
    for (int l = 0; l < m->views->node[n].n_legs; l++)
      leg_cells(m, &m->views->node[n], l);
}

void tf_node_class_steps(struct tf_model *m, int n) {
  const tf_view *v = &m->views->node[n];
  double *steps = &m->class_steps[v->row], all = 1;
  if (!v->n_slices) return;
  for (int j = v->n_rows - 2; j >= 0; j--) {
    double trip = (double)m->ev.trip[v->row_loop[j]];
    steps[j] = (trip - 1) * all;
    all *= trip;
  }
  steps[v->n_rows - 1] = 1;
}

void tf_class_steps(struct tf_model *m) {
  for (int n = 0; n < m->plan->tree->n_nodes; n++)
    tf_node_class_steps(m, n);
}

tf_move tf_move_of(const tf_slice *s, const tf_memory *mem, tf_entry e) {
  if (!s->makes) return (tf_move){.fill = e.all, .read = mem->multicast ? e.groups : e.all};
  int64_t partial = e.groups - e.first;
  return (tf_move){
      .fill = partial, .drain = e.all, .read = partial, .update = mem->reduce ? e.groups : e.all};
}
