/* The row of a mapping that is in the space: for the model's first choice, so that strategies begin
 * with it. */
#include <string.h>

#include "tileflow/tree.h"
#include "tune/space/schedules.h"

static bool same_node(const tf_node *a, const tf_node *b) {
  return a->kind == b->kind && a->parent == b->parent &&
         (a->kind != TF_TILE || a->level == b->level) && (a->kind != TF_OP || a->op == b->op);
}

static int64_t trip_of(const tf_node *n, const tf_loop *l) {
  for (int k = 0; k < n->n_loops; k++)
    if (n->loops[k].dim == l->dim && n->loops[k].axis == l->axis) return n->loops[k].trip;
  return 1;
}

/* Whether the node's temporal loops are in that order of the form's, without those of one trip. */
static bool is_in_order(const tf_node *form, const tf_node *n, const int *order) {
  int at = 0;
  for (int i = 0; i < form->n_temporal; i++)
    if (at < n->n_temporal && n->loops[at].dim == form->loops[order[i]].dim) at++;
  return at == n->n_temporal;
}

static bool choose(const tune_form *f, int k, const tf_tree *t, int32_t *choice) {
  if (tune_is_choice(&f->knob[k])) { /* the generator's own */
    *choice = 0;
    return true;
  }
  const tf_node *form = &f->tree->nodes[f->knob[k].node], *n = &t->nodes[f->knob[k].node];
  int order[TUNE_ORDER_LOOPS];
  if (f->knob[k].loop >= 0) {
    const int64_t trip = trip_of(n, &form->loops[f->knob[k].loop]);
    *choice = (int32_t)trip;
    return trip <= INT32_MAX;
  }
  for (*choice = 0; *choice < tune_orders(form->n_temporal); ++*choice) {
    tune_order(form->n_temporal, *choice, order);
    if (is_in_order(form, n, order)) return true;
  }
  return false;
}

bool tune_encode(tune_space *s, const tf_tree *t, int isa, int32_t *row) {
  for (int f = 0; f < s->n_forms; f++) {
    const tune_form *form = &s->form[f];
    bool same = t->n_nodes == form->tree->n_nodes;
    memset(row, 0, (size_t)s->space.n * sizeof *row);
    row[TUNE_FORM] = f;
    row[TUNE_ISA] = isa;
    for (int i = 0; same && i < t->n_nodes; i++)
      same = same_node(&t->nodes[i], &form->tree->nodes[i]);
    for (int k = 0; same && k < form->s->n_knobs; k++)
      same = choose(form, k, t, &row[form->first + k]);
    if (same && tf_space_follow(&s->space, row) && !s->dead &&
        !memcmp(row, s->space.chosen, (size_t)s->space.n * sizeof *row))
      return true;
  }
  return false;
}
