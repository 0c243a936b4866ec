/* Readers outside a nested scope must find what they read, at every step (docs/DECISIONS.md, 9).  Where the ops that
 * split a dim do so by the same steps, all steps are alike except for the last, which may be shorter, and those after
 * it, which are empty.  Where they do not, or boxes are clipped, every step is checked. */
#include <string.h>

#include "model/spec/dims.h"
#include "model/tree/check.h"
#include "model/tree/range.h"

enum { MOST_STEPS = 1 << 16 }; /* most settings checked for one scope */

/* What is iterated over: one loop, or (loop -1) all loops of a dim above the scope as one. */
typedef struct {
  int loop, dim;
  int64_t n, at[3]; /* the number of settings; for a dim, which steps */
} wheel;

typedef struct {
  const tf_facts *f;
  tf_ranges *r;
  int o, scope;    /* the output of op o, at the scope */
  bool *marked;    /* [tensor] that output, and what is computed from it below the scope */
  bool *concerned; /* [dim] some op that reads marked tensors has it */
  int n_wheels;
  wheel *wheels;
  int64_t *digits; /* [loop] */
} found;

/* ---- what matters ----------------------------------------------------------------------------- */
static bool reads_marked(const found *q, const tf_op *op) {
  for (int i = 0; i < op->n_reads; i++)
    if (q->marked[op->reads[i].tensor]) return true;
  return false;
}

/* Leaves are in the order of execution: a reader comes after its producers. */
static void mark(found *q) {
  const tf_facts *f = q->f;
  memset(q->concerned, 0, (size_t)f->wl->n_dims * sizeof *q->concerned);
  memset(q->marked, 0, (size_t)f->wl->n_tensors * sizeof *q->marked);
  q->marked[f->wl->ops[q->o].out] = true;
  for (int j = f->leaf_from[q->scope]; j < f->leaf_end[q->scope]; j++) {
    const tf_op *op = &f->wl->ops[f->leaf_op[j]];
    if (!reads_marked(q, op)) continue;
    q->marked[op->out] = true;
    for (int d = 0; d < op->n_dims; d++)
      q->concerned[op->dims[d]] = true;
  }
}

/* ---- steps -------------------------------------------------------------------------------------- */
/* The product of the trip counts on the dim on the way down from node n to op o; overflow of 2^63 was refused
 * before. */
static int64_t trips_below(const tf_facts *f, int n, int o, int dim) {
  int64_t all = 1;
  for (int m = f->tree->op_node[o]; m > n; m = f->tree->nodes[m].parent)
    for (int k = 0; k < f->tree->nodes[m].n_loops; k++)
      if (f->tree->nodes[m].loops[k].dim == dim) all *= f->tree->nodes[m].loops[k].trip;
  return all;
}

/* Whether a step of the dim moves the read by something other than a step, or the read is clipped. */
static bool moves_unlike(const found *q, const tf_ref *ref, int dim) {
  const tf_tensor *z = &q->f->wl->tensors[ref->tensor];
  for (int r = 0; q->marked[ref->tensor] && r < z->rank; r++) {
    int64_t coef = tf_index_coef(&ref->index[r], dim);
    if (coef && (z->pad[r] || coef != 1)) return true;
  }
  return false;
}

static bool is_constant(const tf_index *ix) { return ix->n_terms == 0; }

/* Whether some read of the output names an element along a rank outright, while another moves along it. */
static bool stands_beside(const found *q) {
  const tf_tensor *z = &q->f->wl->tensors[q->f->wl->ops[q->o].out];
  for (int r = 0; r < z->rank; r++) {
    bool stands = false, moves = false;
    TF_EACH_READ (q->f, q->o, q->scope, at) {
      const bool still = is_constant(&q->f->wl->ops[at.op].reads[at.ref].index[r]);
      stands |= still;
      moves |= !still;
    }
    if (stands && moves) return true;
  }
  return false;
}

/* The step of the dim at the scope, if it is the same for all ops that lead there; 0: it is not, or settings differ
 * otherwise. */
static int64_t common_step(const found *q, int dim) {
  const tf_facts *f = q->f;
  int64_t step = 0;
  if (stands_beside(q)) return 0;
  for (int j = f->leaf_from[q->scope]; j < f->leaf_end[q->scope]; j++) {
    int o = f->leaf_op[j];
    for (int i = 0; i < f->wl->ops[o].n_reads; i++)
      if (moves_unlike(q, &f->wl->ops[o].reads[i], dim)) return 0;
    if (tf_dim_slot(f, o, dim) < 0 || !tf_leads(f, o, q->scope)) continue;
    int64_t one = trips_below(f, q->scope, o, dim);
    if (f->lead[o] != 0 || (step && one != step)) return 0;
    step = one;
  }
  return step;
}

static void turn_dim(found *q, int dim, int64_t step) {
  int64_t all = trips_below(q->f, -1, q->o, dim) / trips_below(q->f, q->scope, q->o, dim),
          extent = q->f->wl->dims[dim].extent;
  int64_t full = extent / step, used = (extent - 1) / step + 1;
  wheel w = {.loop = -1, .dim = dim, .n = 1};
  if (full && full < used && full < all) w.at[w.n++] = full;
  if (used < all) w.at[w.n++] = used;
  q->wheels[q->n_wheels++] = w;
}

/* Steps of the k-th loop of Tile n that are not empty for some op below. */
static int64_t useful_steps(const tf_facts *f, int n, int k) {
  const tf_loop *l = &f->tree->nodes[n].loops[k];
  int64_t most = 1;
  for (int j = f->leaf_from[n]; j < f->leaf_end[n]; j++) {
    if (tf_dim_slot(f, f->leaf_op[j], l->dim) < 0) continue;
    int64_t step = trips_below(f, n, f->leaf_op[j], l->dim);
    for (int i = k + 1; i < f->tree->nodes[n].n_loops; i++)
      if (f->tree->nodes[n].loops[i].dim == l->dim) step *= f->tree->nodes[n].loops[i].trip;
    int64_t steps = (f->wl->dims[l->dim].extent - 1) / step + 1;
    most = steps > most ? steps : most;
  }
  return most < l->trip ? most : l->trip;
}

static void turn_loops(found *q, int dim) {
  const tf_tree *t = q->f->tree;
  for (int n = q->scope; n >= 0; n = t->nodes[n].parent)
    for (int k = 0; k < t->nodes[n].n_loops; k++)
      if (t->nodes[n].loops[k].dim == dim)
        q->wheels[q->n_wheels++] = (wheel){.loop = q->f->loop_from[n] + k, .n = useful_steps(q->f, n, k)};
}

/* The number of settings to be checked; 0: too many. */
static int64_t count_settings(found *q) {
  int64_t all = 1;
  q->n_wheels = 0;
  for (int d = 0; d < q->f->wl->n_dims; d++) {
    if (!q->concerned[d]) continue;
    int64_t step = common_step(q, d);
    if (step)
      turn_dim(q, d, step);
    else
      turn_loops(q, d);
  }
  for (int i = 0; i < q->n_wheels; i++) {
    if (q->wheels[i].n > MOST_STEPS / all) return 0;
    all *= q->wheels[i].n;
  }
  return all;
}

/* ---- each setting ------------------------------------------------------------------------------- */
/* Sets the loops of the dim above the scope to step `at` of all their steps; the innermost counts fastest. */
static void set_digits(const found *q, int dim, int64_t at) {
  const tf_tree *t = q->f->tree;
  for (int n = q->scope; n >= 0; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_loops - 1; k >= 0; k--) {
      if (t->nodes[n].loops[k].dim != dim) continue;
      q->digits[q->f->loop_from[n] + k] = at % t->nodes[n].loops[k].trip;
      at /= t->nodes[n].loops[k].trip;
    }
}

static void walk_settings(const found *q, int64_t settings) {
  memset(q->digits, 0, (size_t)q->f->n_loops * sizeof *q->digits);
  q->r->digits = q->digits;
  for (int64_t i = 0; i < settings; i++) {
    int64_t rest = i;
    for (int k = 0; k < q->n_wheels; rest /= q->wheels[k++].n) {
      const wheel *w = &q->wheels[k];
      if (w->loop >= 0)
        q->digits[w->loop] = rest % w->n;
      else
        set_digits(q, w->dim, w->at[rest % w->n]);
    }
    tf_ranges_reset(q->r);
    tf_ranges_walk(q->r, 0);
  }
  q->r->digits = NULL;
}

bool tf_check_steps(const tf_checker *c, tf_ranges *r, void (*unknown)(tf_ranges *r, int o)) {
  const tf_facts *f = c->f;
  found q = {.f = f, .r = r};
  q.digits = TF_ARRAY(c->arena, int64_t, (size_t)f->n_loops + 1);
  q.wheels = TF_ARRAY(c->arena, wheel, (size_t)(f->n_loops + f->wl->n_dims));
  q.concerned = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_dims);
  q.marked = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_tensors);
  if (!q.digits || !q.wheels || !q.concerned || !q.marked) return false;
  for (q.o = 0; q.o < f->wl->n_ops; q.o++) {
    int home = f->home_scope[f->wl->ops[q.o].out];
    for (int n = f->tree->nodes[f->lead[q.o]].parent; home >= 0 && n > home; n = f->tree->nodes[n].parent) {
      q.scope = f->tree->nodes[n].parent;
      if (f->tree->nodes[q.scope].kind != TF_SCOPE) continue;
      mark(&q);
      int64_t settings = count_settings(&q);
      if (settings == 0) unknown(r, q.o);
      walk_settings(&q, settings);
    }
  }
  return true;
}
