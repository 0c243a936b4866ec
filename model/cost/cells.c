/* What passes a Tile's legs, step class by step class: a double buffer hides a step's transfer behind the
 * step beside it, so the largest of the two counts class by class (model.md section 5). */
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

/* Steps in which a loop of rows from .. n_rows - 2 carries, and the first, in proportion. */
static void put_outer(struct tf_model *m, int i, int from, const tf_move *v) {
  const tf_view *view = &m->views->node[m->plan->slices[i].node];
  double all = 1, outer = 1;
  for (int j = from; j < view->n_rows - 1; j++)
    all *= (double)m->run.trip[view->row_loop[j]];
  put(m, i, view->n_rows - 1, v, 1 / all);
  for (int j = view->n_rows - 2; j >= from; j--) {
    double trip = (double)m->run.trip[view->row_loop[j]];
    if (trip > 1)
      put(m, i, j, v, (trip - 1) * outer / all);
    outer *= trip;
  }
}

void tf_cells_add(struct tf_model *m, int i, int c, const tf_move *v) {
  const tf_pclass *k = &m->plan->slices[i].classes[c];
  if (k->carry >= 0)
    put(m, i, c, v, 1);
  else if (k->zero_from == 0)
    put(m, i, m->views->node[m->plan->slices[i].node].n_rows - 1, v, 1);
  else
    put_outer(m, i, c, v);
}

void tf_cells_spread(struct tf_model *m, int i, const tf_move *v) {
  put_outer(m, i, 0, v);
}
