/* Workers: set-up, trip counts of the open part, stopping. */
#include "search/exact/state.h"

#include "model/eval/hooks.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 256 };

/* ---- a worker -------------------------------------------------------------------------------- */
static void mark_loops(tf_x_worker *w) {
  const tf_facts *f = w->t->facts;
  for (int n = 0; n < w->t->tree->n_nodes; n++) {
    const tf_node *node = &w->t->tree->nodes[n];
    bool own = f->leaf_end[n] - f->leaf_from[n] == 1;
    for (int k = 0; node->kind == TF_TILE && k < node->n_loops; k++) {
      int l = f->loop_from[n] + k;
      w->loop_op[l] = own ? f->leaf_op[f->leaf_from[n]] : -1;
      w->loop_spread[l] = node->loops[k].axis != TF_TEMPORAL;
      w->loop_rest[l] =
          own && !w->loop_spread[l] && w->t->tree->nodes[node->children[0]].kind == TF_OP;
    }
  }
}

tf_x_worker *tf_x_worker_new(const tf_x_template *t, int number, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_x_worker *w = a ? TF_NEW(a, tf_x_worker) : NULL;
  size_t loops = (size_t)t->n_loops + 1;
  if (w) {
    *w = (tf_x_worker){.t = t,
                       .number = number,
                       .arena = a,
                       .tree = t->tree,
                       .model = tf_model_new(t->tree, d),
                       .trips = tf_trips_new(t->tree, d)};
    w->loop_op = TF_ARRAY(a, int, loops);
    w->loop_rest = TF_ARRAY(a, bool, loops);
    w->loop_spread = TF_ARRAY(a, bool, loops);
    w->memos = TF_ARRAY(a, tf_x_memo, TF_X_MEMO);
    w->rules = TF_ARRAY(a, tf_x_rule, TF_X_RULES);
    if (w->model && w->trips && w->loop_op && w->loop_rest && w->loop_spread && w->memos &&
        w->rules) {
      mark_loops(w);
      if (t->masked) tf_model_all_points(w->model);
      tf_model_walk_limit(w->model, 0); /* incomplete mappings are never walked */
      return w;
    }
    tf_model_free(w->model);
    tf_trips_free(w->trips);
  }
  tf_arena_free(a);
  return NULL;
}

void tf_x_worker_free(tf_x_worker *w) {
  if (!w) return;
  tf_model_free(w->model);
  tf_trips_free(w->trips);
  tf_arena_free(w->arena);
}

bool tf_x_state_new(const tf_x_worker *w, tf_x_state *s) {
  s->trips = malloc(((size_t)w->t->n_loops + 1) * sizeof *s->trips);
  s->left = malloc(((size_t)w->trips->n_slots + 1) * sizeof *s->left);
  return s->trips && s->left;
}

void tf_x_state_free(tf_x_state *s) {
  free(s->trips);
  free(s->left);
}

/* Quick evaluations whose effort is charged as one more evaluation; walks are charged otherwise. */
enum { EFFORT_AN_EVAL = 16 };

/* ---- stopping -------------------------------------------------------------------------------- */
/* Counts one evaluation; false where the task must stop. */
bool tf_x_spend(tf_x_worker *w) {
  tf_x_task *k = w->task;
  if (k->stopped) return false;
  k->counts.evals++;
  if (k->most_evals && k->counts.evals >= k->most_evals) k->stopped = true;
  if (k->counts.evals % LOOK_EVERY && tf_model_quick(w->model)) return !k->stopped;
  if (tf_clock_over(k->clock)) k->stopped = true;
  return !k->stopped;
}

void tf_x_charge(tf_x_worker *w) {
  const int64_t summed = tf_model_effort(w->model) - tf_model_walked(w->model);
  w->task->counts.evals += tf_model_walked_evals(w->model) + summed / EFFORT_AN_EVAL;
}

bool tf_x_partial(tf_x_worker *w, const int64_t *trips, const tf_open *open, tf_result *r) {
  const bool known = tf_model_partial(w->model, trips, open, r);
  tf_x_charge(w);
  return known;
}

/* ---- completing ------------------------------------------------------------------------------ */
/* Gives the ops' own loops one step each, except the last ones, which take all that is left; notes
 * how much that is. */
void tf_x_complete(tf_x_worker *w, tf_x_state *s) {
  tf_trips *t = w->trips;
  const tf_facts *f = w->t->facts;
  bool met[TF_X_OPS] = {false};
  tf_trips_begin(t);
  memcpy(s->left, t->len, (size_t)t->n_slots * sizeof *s->left);
  for (int i = 0; i < t->space.n; i++) {
    const tf_decision *d = &t->decision[i];
    int op = w->loop_op[d->loop];
    if (op >= 0) {
      tf_trips_enter(t, i);
      size_t from = (size_t)f->dim_from[op];
      if (!met[op])
        memcpy(&s->left[from], &t->len[from], (size_t)f->wl->ops[op].n_dims * sizeof *s->left);
      met[op] = true;
      s->trips[d->loop] = w->loop_rest[d->loop] ? t->len[d->slots[0]] : 1;
    }
    tf_trips_take(t, i, (int32_t)s->trips[d->loop]);
  }
}
