/* The branches of a certificate: boxes of mappings, split until each costs enough, holds no
 * mapping, or is one mapping. They are the solver's own boxes, in depth first order: which boxes
 * must be examined does not depend on the order. */
#include <math.h>
#include <stdlib.h>

#include "search/proof/proof.h"

enum { LOOK_EVERY = 1024 };
#define ROUNDING 1e-12

double tf_p_value(tf_objective objective, double cycles, double pj, double words) {
  switch (objective) {
  case TF_LATENCY: return cycles;
  case TF_ENERGY: return pj;
  case TF_EDP: return cycles * pj;
  default: return words;
  }
}

/* The name of a variable: s, the steps of a Tile, l, the length that enters, x or y, its instances
 * on an axis; then which Tile, and which dim. */
static void put_variable(const tf_single_space *s, const tf_single_var *v, tf_p_text *out) {
  tf_p_say(out, "%c%d.%s",
           v->axis == TF_SINGLE_BLOCK ? 'l'
           : v->axis < 0              ? 's'
                                      : "xy"[v->axis],
           v -> tile, s -> t -> facts -> wl -> dims[s->t->tiles[0].dims[v->dim]].name);
}

static void lower_least(tf_p_branches *b, double value) {
  if (value < b->least) b->least = value;
  b->failed |= value < b->target * (1 - ROUNDING);
}

static void count_with(tf_p_branches *b, const tf_single_part *p, tf_model *model, int64_t *trips) {
  tf_result r;
  tf_single_trips(b->space, p, trips);
  const bool ok = tf_model_eval(model, trips, &r) && r.feasible;
  const tf_figures f =
      ok ? tf_figures_of(b->space->op.arch, b->space->t->facts->wl, &r) : (tf_figures){0};
  const double value = tf_p_value(b->objective, f.cycles, f.energy_pj, f.traffic_words);
  b->failed |= !ok;
  lower_least(b, value);
  tf_p_say(b->out, "v %.9g\n", value);
}

/* Counts the box's only mapping by the model. */
static void count_one(tf_p_branches *b, const tf_single_part *p) {
  int64_t *trips = calloc((size_t)b->space->t->n_loops + 1, sizeof *trips);
  tf_diags *d = tf_diags_new();
  tf_tree *tree = trips && d ? tf_single_tree(b->space, p) : NULL;
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  b->out->bad |= !model;
  if (model) count_with(b, p, model, trips);
  tf_model_free(model);
  tf_tree_free(tree);
  tf_diags_free(d);
  free(trips);
}

static bool over(tf_p_branches *b) {
  const tf_budget *of = b->budget;
  if (b->boxes >= b->most) return true;
  return b->boxes % LOOK_EVERY == 0 && of->stop && of->stop(of->ctx);
}

static void branch(tf_p_branches *b, tf_single_part *p);

static void split(tf_p_branches *b, tf_single_part *p) {
  const tf_single_split cut = tf_single_split_of(b->space, p);
  if (cut.n == 0) {
    count_one(b, p);
    return;
  }
  if (cut.tensor >= 0) {
    tf_p_say(b->out, "b %d %s\n", cut.tile, tf_p_tensor(b->space, cut.tensor)->name);
  } else if (cut.tile >= 0) {
    tf_p_say(b->out, "o %d\n", cut.tile);
  } else {
    tf_p_say(b->out, "h ");
    put_variable(b->space, &b->space->var[cut.var], b->out);
    tf_p_say(b->out, "\n");
  }
  for (int k = 0; k < cut.n && !b->failed && !b->out->bad; k++) {
    tf_single_part piece = *p;
    const tf_single_kept kept = tf_single_piece(b->space, &cut, k, &piece);
    if (kept == TF_SINGLE_OFF_MESH)
      tf_p_say(b->out, "m\n");
    else if (kept == TF_SINGLE_EQUIVALENT)
      tf_p_say(b->out, "l\n");
    else
      branch(b, &piece);
  }
}

static void branch(tf_p_branches *b, tf_single_part *p) {
  b->boxes++;
  b->failed |= over(b);
  const int twin = tf_single_symmetric_tile(b->space, p);
  if (b->failed) return;
  if (twin >= 0) {
    tf_p_say(b->out, "t %d\n", twin);
    return;
  }
  const tf_single_cost least = tf_single_bound(&b->space->op, &p->b);
  if (least.empty && least.full) {
    tf_p_say(b->out, "f %d\n", least.full);
    return;
  }
  if (least.empty) {
    tf_p_say(b->out, "e\n");
    return;
  }
  const double value = tf_p_value(b->objective, least.cycles, least.energy_pj, least.traffic_words);
  if (value < b->target) {
    split(b, p);
    return;
  }
  lower_least(b, value);
  tf_p_say(b->out, "c %.9g\n", value);
}

void tf_p_branch(tf_p_branches *b) {
  tf_single_part all;
  tf_single_all(b->space, &all);
  b->least = INFINITY;
  branch(b, &all);
}
