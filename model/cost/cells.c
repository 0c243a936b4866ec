/* What passes a Tile's legs, step class by step class: a double buffer hides a step's transfer behind the
 * step beside it, so the largest of the two counts class by class (model.md section 5; DECISIONS 18). */
#include "model/cost/state.h"

static void put(struct tf_model *m, int i, int row, const tf_move *v, double share) {
  const tf_views *w = m->views;
  const tf_view *view = &w->node[m->plan->slices[i].node];
  tf_ports *cell = &m->cells[view->cell + row * view->n_legs];
  cell[0].write += share * w->own[i] * (double)v->fill;
  cell[0].read += share * w->own[i] * (double)v->drain;
  cell[w->leg[i]].read += share * w->up[i] * (double)v->read;
  cell[w->leg[i]].write += share * w->up[i] * (double)v->update;
}

/* Entries that follow a sibling's: shared out over the steps in which a loop of rows from .. n_rows - 2 carries, and
 * the first. */
static void put_outer(struct tf_model *m, int i, int from, const tf_move *v) {
  const tf_view *view = &m->views->node[m->plan->slices[i].node];
  const double *steps = &m->class_steps[view->row];
  double all = 0;
  for (int j = from; j < view->n_rows; j++)
    all += steps[j];
  for (int j = from; j < view->n_rows; j++)
    if (steps[j] > 0) put(m, i, j, v, steps[j] / all);
}

void tf_cells_add_row(struct tf_model *m, int i, int row, const tf_move *v) { put(m, i, row, v, 1); }

void tf_cells_add(struct tf_model *m, int i, int c, const tf_move *v) {
  const tf_pclass *k = &m->plan->slices[i].classes[c];
  if (!m->by_steps) return;
  if (k->carry >= 0)
    put(m, i, c, v, 1);
  else if (k->zero_from == 0)
    put(m, i, m->views->node[m->plan->slices[i].node].n_rows - 1, v, 1);
  else
    put_outer(m, i, c, v);
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
  if (m->run.trip[loop] > 1 && !tf_sum_over(&m->run, &m->scratch, at, &class, false, TF_OVER_STEPS, &sum)) return false;
  *out = (double)sum.box;
  return true;
}

bool tf_class_steps(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    double *steps = &m->class_steps[v->row], all = 1;
    if (!v->n_slices) continue;
    for (int j = v->n_rows - 2; j >= 0; j--) {
      double trip = (double)m->run.trip[v->row_loop[j]];
      steps[j] = (trip - 1) * all;
      all *= trip;
    }
    steps[v->n_rows - 1] = 1;
    for (int j = 0; (double)m->steps[n] < all && j < v->n_rows - 1; j++)
      if (!busy_steps(m, n, j, &steps[j])) return false;
  }
  return true;
}
