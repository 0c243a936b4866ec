/* Readers outside a nested scope must find what they read, at every step (docs/DECISIONS.md, 9).  Where the ops that
 * split a dim do so by the same steps, and all reads move by these steps or stand still, what is made and what is
 * needed move towards each other or apart, or alike: the first step, the last whole one, the last one, which may be
 * shorter, and those after it, which are empty, tell of all.  Elsewhere, and where boxes are clipped, every step is
 * checked. */
#include <string.h>

#include "model/spec/dims.h"
#include "model/tree/check.h"
#include "model/tree/range.h"

enum { MOST_STEPS = 1 << 16 }; /* most settings checked for one scope */

/* What is iterated over: one loop, or (loop -1) all loops of a dim above the scope as one. */
typedef struct {
  int loop, dim;
  int64_t n, at[4]; /* the number of settings; for a dim, which steps */
} wheel;

typedef struct {
  const tf_facts *f;
  tf_ranges *r;
  int o, scope;          /* the output of op o, at the scope */
  bool *marked;          /* [tensor] that output, and what is computed from it below the scope */
  bool *concerned;       /* [dim] some op that reads marked tensors has it */
  uint64_t steep, apart; /* loops above the scope: see find_moves */
  tf_shift *shift;       /* [as ranges] */
  tf_shift *needed;      /* [rank] */
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

/* Loops above by which an index moves otherwise than by their steps, or that move a clipped one. */
static uint64_t steep_loops(const found *q, int o, const tf_index *ix, bool clipped) {
  uint64_t steep = 0, moved = 0;
  for (int t = 0; t < ix->n_terms; t++) {
    const uint64_t mask = q->shift[q->f->dim_from[o] + tf_dim_slot(q->f, o, ix->terms[t].dim)].mask;
    if (clipped || ix->terms[t].coef != 1) steep |= mask;
    steep |= moved & mask;
    moved |= mask;
  }
  return steep;
}

/* The same for all reads of marked tensors, at the node whose ranges were found last. */
static uint64_t steep_reads(const found *q) {
  const tf_facts *f = q->f;
  uint64_t steep = 0;
  for (int j = f->leaf_from[q->scope]; j < f->leaf_end[q->scope]; j++) {
    const tf_op *op = &f->wl->ops[f->leaf_op[j]];
    for (int i = 0; i < op->n_reads; i++) {
      const tf_tensor *z = &f->wl->tensors[op->reads[i].tensor];
      for (int r = 0; q->marked[op->reads[i].tensor] && r < z->rank; r++)
        steep |= steep_loops(q, f->leaf_op[j], &op->reads[i].index[r], z->pad[r] > 0);
    }
  }
  return steep;
}

static void shifts_at(found *q, int node) {
  tf_ranges r = *q->r;
  r.inferred = NULL;
  r.borderless = true;
  r.shift = q->shift;
  tf_ranges_reset(&r);
  tf_ranges_towards(&r, node);
}

/* Finds which loops above the scope move what its readers need and what is made below its child otherwise than by
 * steps, and which move the two apart. */
static void find_moves(found *q, int child) {
  const int n = q->f->wl->ops[q->o].n_out_dims;
  const tf_shift *now = &q->shift[q->f->dim_from[q->o]];
  shifts_at(q, q->scope);
  memcpy(q->needed, now, (size_t)n * sizeof *now);
  q->steep = steep_reads(q);
  shifts_at(q, child);
  q->steep |= steep_reads(q);
  q->apart = 0;
  for (int r = 0; r < n; r++)
    q->apart |= tf_shifts_part(&q->needed[r], &now[r]);
}

/* Those of the loops above the scope, by their number on the way down, that are on the dim. */
static uint64_t loops_on(const found *q, int dim) {
  const tf_tree *t = q->f->tree;
  uint64_t loops = 0;
  for (int n = 0, depth = 0; n != q->scope; n = tf_child_towards(q->f, n, q->scope))
    for (int k = 0; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_loops; k++, depth++)
      if (t->nodes[n].loops[k].dim == dim) loops |= depth < TF_SHIFT_LOOPS ? UINT64_C(1) << depth : ~UINT64_C(0);
  return loops;
}

/* The step of the dim at the scope, if it is the same for all ops that lead there; 0: it is not, or settings differ
 * otherwise. */
static int64_t common_step(const found *q, int dim) {
  const tf_facts *f = q->f;
  int64_t step = 0;
  if (q->steep & loops_on(q, dim)) return 0;
  for (int j = f->leaf_from[q->scope]; j < f->leaf_end[q->scope]; j++) {
    int o = f->leaf_op[j];
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
  if (full > 1 && q->apart & loops_on(q, dim)) w.at[w.n++] = full - 1;
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

/* ---- gaps ------------------------------------------------------------------------------------------------- */
/* A loop of more than one step between a nested scope and the one around it, by its number on the way down. */
typedef struct {
  int number;
  int64_t trip;
} turn;

/* The loops between nested scope s and the scope around it; returns how many, of at most TF_SHIFT_LOOPS. */
static int turns_above(const found *q, int s, turn *list) {
  const tf_tree *t = q->f->tree;
  int n = 0, above = 0;
  for (int up = t->nodes[s].parent; up >= 0; up = t->nodes[up].parent)
    above += t->nodes[up].n_loops;
  for (int up = t->nodes[s].parent; t->nodes[up].kind == TF_TILE; up = t->nodes[up].parent) {
    above -= t->nodes[up].n_loops;
    for (int k = 0; k < t->nodes[up].n_loops && above + k < TF_SHIFT_LOOPS; k++)
      if (t->nodes[up].loops[k].trip > 1) list[n++] = (turn){above + k, t->nodes[up].loops[k].trip};
  }
  return n;
}

static int64_t size_of(int64_t by) { return by < 0 ? -by : by; }

/* Whether the steps of these loops, each of which brings `len` elements of a rank, leave some between them out. */
static bool leaves_gaps(const tf_shift *s, int64_t len, const turn *loops, int n) {
  uint64_t left = 0;
  for (int i = 0; i < n; i++)
    left |= (uint64_t)(s->mask >> loops[i].number & 1 && s->by[loops[i].number]) << i;
  while (left) { /* the shortest steps first */
    int least = -1;
    for (int i = 0; i < n; i++)
      if (left >> i & 1 && (least < 0 || size_of(s->by[loops[i].number]) < size_of(s->by[loops[least].number])))
        least = i;
    const int64_t by = size_of(s->by[loops[least].number]);
    if (by > len) return true;
    len += by * (loops[least].trip - 1);
    left &= ~(UINT64_C(1) << least);
  }
  return false;
}

/* Whether what op o makes in the runs of nested scope s, for its readers there, is not a whole box: steps lie apart, or
 * one loop moves it along two ranks at once.  Where parts move unlike nothing is said. */
static bool has_gaps(found *q, int s) {
  turn loops[TF_SHIFT_LOOPS];
  const int n = turns_above(q, s, loops), ranks = q->f->wl->ops[q->o].n_out_dims;
  const int at = q->f->dim_from[q->o];
  bool gaps = false, mixed = false;
  shifts_at(q, s);
  for (int i = 0; i < n; i++) {
    int moved = 0;
    for (int r = 0; r < ranks; r++)
      moved += q->shift[at + r].mask >> loops[i].number & 1 && q->shift[at + r].by[loops[i].number];
    gaps |= moved > 1;
  }
  for (int r = 0; r < ranks; r++) {
    mixed |= q->shift[at + r].mixed;
    gaps |= q->r->now[at + r].len > 0 && leaves_gaps(&q->shift[at + r], q->r->now[at + r].len, loops, n);
  }
  return gaps && !mixed;
}

static bool read_outside(const found *q, int s) {
  const tf_tensor *z = &q->f->wl->tensors[q->f->wl->ops[q->o].out];
  bool any = false;
  for (int i = 0; i < z->n_consumers; i++)
    any |= !tf_op_below(q->f, z->consumers[i], s);
  return any;
}

bool tf_check_steps(const tf_checker *c, tf_ranges *r, void (*unknown)(tf_ranges *r, int o),
                    void (*gaps)(tf_ranges *r, int o)) {
  const tf_facts *f = c->f;
  found q = {.f = f, .r = r};
  q.digits = TF_ARRAY(c->arena, int64_t, (size_t)f->n_loops + 1);
  q.wheels = TF_ARRAY(c->arena, wheel, (size_t)(f->n_loops + f->wl->n_dims));
  q.concerned = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_dims);
  q.marked = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_tensors);
  q.shift = TF_ARRAY(c->arena, tf_shift, (size_t)f->n_dims);
  q.needed = TF_ARRAY(c->arena, tf_shift, (size_t)f->wl->n_dims);
  if (!q.digits || !q.wheels || !q.concerned || !q.marked || !q.shift || !q.needed) return false;
  for (q.o = 0; q.o < f->wl->n_ops; q.o++) {
    int home = f->home_scope[f->wl->ops[q.o].out];
    for (int n = f->tree->nodes[f->lead[q.o]].parent; home >= 0 && n > home; n = f->tree->nodes[n].parent) {
      if (f->tree->nodes[n].kind == TF_SCOPE && read_outside(&q, n) && has_gaps(&q, n)) gaps(r, q.o);
      q.scope = f->tree->nodes[n].parent;
      if (f->tree->nodes[q.scope].kind != TF_SCOPE) continue;
      mark(&q);
      find_moves(&q, n);
      int64_t settings = count_settings(&q);
      if (settings == 0) unknown(r, q.o);
      walk_settings(&q, settings);
    }
  }
  return true;
}
