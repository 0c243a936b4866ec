/* Readers outside a nested scope must find what they read, at every step (docs/SEMANTICS.md, D9).
 * Where the ops that split a dim do so by the same steps, and all reads move by these steps or
 * stand still, what is made and what is needed move towards each other or apart, or alike: the
 * first step, the last whole one, the last one, which may be shorter, and those after it, which are
 * empty, tell of all.  Elsewhere, and where boxes are clipped, every step is checked. */
#include <stdlib.h>
#include <string.h>

#include "model/input/dims.h"
#include "model/tree/check.h"
#include "model/tree/range.h"

enum { MOST_STEPS = 1 << 16 }; /* most settings checked for one scope */

/* What is iterated over: one loop, or (loop -1) all loops of a dim above the scope as one. */
typedef struct {
  int loop, dim;
  int64_t n, step[4]; /* the number of settings; for a dim, which steps */
} wheel;

/* How a range depends on the settings of the loops, where its op has work: what the loop leaves of
 * the range `base` by its step. */
typedef struct {
  int base, loop; /* -1: the whole extent */
  int64_t step, extent;
  int64_t steps; /* product of the trip counts since the extent */
} form;

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
  int *form_of;    /* [node * dims of all ops] number of the form, + 1; NO_FORM; 0: not looked for.
                      NULL: too many */
  form *forms;
  size_t n_forms;
  int looks; /* at readers, of one op */
} found;

/* ---- what matters ---------------------------------------------------------------------------- */
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

/* ---- steps ----------------------------------------------------------------------------------- */
/* The product of the trip counts on the dim on the way down from node n to op o; overflow of 2^63
 * was refused before. */
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

/* Finds which loops above the scope move what its readers need and what is made below its child
 * otherwise than by steps, and which move the two apart. */
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
      if (t->nodes[n].loops[k].dim == dim)
        loops |= depth < TF_SHIFT_LOOPS ? UINT64_C(1) << depth : ~UINT64_C(0);
  return loops;
}

/* The step of the dim at the scope, if it is the same for all ops that lead there; 0: it is not, or
 * settings differ otherwise. */
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
  if (full > 1 && q->apart & loops_on(q, dim)) w.step[w.n++] = full - 1;
  if (full && full < used && full < all) w.step[w.n++] = full;
  if (used < all) w.step[w.n++] = used;
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
        q->wheels[q->n_wheels++] =
            (wheel){.loop = q->f->loop_from[n] + k, .n = useful_steps(q->f, n, k)};
}

/* The number of settings to be checked; 0: too many.  A dim that no op here has may move what they
 * make by way of readers outside of the scope. */
static int64_t count_settings(found *q) {
  int64_t all = 1;
  q->n_wheels = 0;
  for (int d = 0; d < q->f->wl->n_dims; d++) {
    if (!q->concerned[d] && !(q->apart & loops_on(q, d))) continue;
    int64_t step = q->concerned[d] ? common_step(q, d) : 0;
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

/* ---- forms ---------------------------------------------------------------------------------- */
/* Where what is needed and what is made are the same function of the settings, no setting but the
 * first tells more. */
enum { NO_FORM = -1, MOST_FORMS = 1 << 18, MOST_READERS = 1 << 10 };

static int form_at(found *q, int o, int i, int n);

/* The number of a form, which has one place in the list. */
static int number_of(found *q, form x) {
  for (size_t i = 0; i < q->n_forms; i++) {
    const form *y = &q->forms[i];
    if (y->base == x.base && y->loop == x.loop && y->step == x.step && y->extent == x.extent)
      return (int)i;
  }
  q->forms[q->n_forms] = x;
  return (int)q->n_forms++;
}

static int whole_form(found *q, int dim) {
  const int64_t extent = q->f->wl->dims[dim].extent;
  return number_of(q, (form){-1, -1, extent, extent, 1});
}

/* Of the i-th dim of op o, which leads at node n or above: split by the loops since. */
static int led_form(found *q, int o, int i, int n) {
  const tf_facts *f = q->f;
  const int dim = f->wl->ops[o].dims[i], up = f->tree->nodes[f->lead[o]].parent;
  int now = up < 0 ? whole_form(q, dim) : form_at(q, o, i, up);
  for (int m = f->lead[o]; m != n && now != NO_FORM; m = tf_child_towards(f, m, n)) {
    int64_t step = trips_below(f, m, o, dim);
    const tf_node *t = &f->tree->nodes[m];
    for (int k = t->n_loops - 1; k >= 0; k--)
      if (t->loops[k].dim == dim) step *= t->loops[k].trip;
    for (int k = 0; k < t->n_loops; k++) {
      if (t->loops[k].dim != dim || t->loops[k].trip < 2) continue;
      step /= t->loops[k].trip;
      const form *base = &q->forms[now];
      now = number_of(
          q, (form){now, f->loop_from[m] + k, step, base->extent, base->steps * t->loops[k].trip});
    }
  }
  return now;
}

/* Of rank k of op o's output, as the ops below node n read it: each of them a dim itself, and none
 * in the padding. */
static int read_form(found *q, int o, int k, int n) {
  const tf_workload *wl = q->f->wl;
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  int all = NO_FORM;
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r] || z->lo[r]) return NO_FORM;
  TF_EACH_READ (q->f, o, n, at) {
    const tf_index *x = &wl->ops[at.op].reads[at.ref].index[k];
    if (x->c || x->n_terms != 1 || x->terms[0].coef != 1) return NO_FORM;
    const int one = form_at(q, at.op, tf_dim_slot(q->f, at.op, x->terms[0].dim), n);
    if (one == NO_FORM || (all != NO_FORM && one != all)) return NO_FORM;
    all = one;
  }
  return all;
}

static int find_form(found *q, int o, int i, int n) {
  const tf_facts *f = q->f;
  const tf_range_from from = tf_range_source(f, o, f->wl->ops[o].dims[i], n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led_form(q, o, i, n);
  case TF_BY_READERS: return read_form(q, o, i, n);
  case TF_BY_LEADER: {
    const int slot = tf_dim_slot(f, from.source, f->wl->ops[o].dims[i]);
    return slot < 0 ? NO_FORM : form_at(q, from.source, slot, n);
  }
  case TF_BY_EXTENT: break;
  }
  return whole_form(q, f->wl->ops[o].dims[i]);
}

/* The form of the i-th dim of op o on entry to node n. */
static int form_at(found *q, int o, int i, int n) {
  int *known = &q->form_of[n * q->f->n_dims + q->f->dim_from[o] + i];
  if (*known) return *known == NO_FORM ? NO_FORM : *known - 1;
  const int x = find_form(q, o, i, n);
  *known = x == NO_FORM ? NO_FORM : x + 1;
  return x;
}

/* Whether the range is not empty where op o at the scope has work: it never is, or o's are what
 * loops leave of it. */
static bool is_left_to(found *q, int x, int o) {
  const form *r = &q->forms[x];
  bool left = r->steps <= (r->extent - 1) / r->step + 1;
  for (int i = 0; i < q->f->wl->ops[o].n_dims && !left; i++)
    for (int y = form_at(q, o, i, q->scope); y != NO_FORM && !left; y = q->forms[y].base)
      left = y == x;
  return left;
}

/* Whether op `in` at node n has work whenever op `out` at the scope has: none of its ranges is
 * empty then, and of those that they are got from, one reader has work. */
static bool works_with(found *q, int in, int n, int out) {
  const tf_facts *f = q->f;
  const int above = tf_leads(f, in, n) ? f->tree->nodes[f->lead[in]].parent : n;
  bool works = above < 0;
  if (++q->looks > MOST_READERS) return false;
  for (int i = 0; i < f->wl->ops[in].n_dims; i++) {
    const int x = form_at(q, in, i, n);
    if (x == NO_FORM || !is_left_to(q, x, out)) return false;
  }
  if (works) return true;
  TF_EACH_READ (f, in, above, at)
    works = works || works_with(q, at.op, above, out);
  return works;
}

/* Whether the child of the scope makes, at any settings, all of op o's output that is needed, as it
 * does at the first.
 */
static bool is_always_made(found *q, int child) {
  const tf_facts *f = q->f;
  if (!q->form_of) return false;
  q->looks = 0;
  for (int k = 0; k < f->wl->ops[q->o].n_out_dims; k++) {
    const int needed = form_at(q, q->o, k, q->scope);
    if (needed == NO_FORM || needed != form_at(q, q->o, k, child)) return false;
  }
  TF_EACH_READ (f, q->o, q->scope, at) {
    bool works = false;
    TF_EACH_READ (f, q->o, child, in)
      works = works || works_with(q, in.op, child, at.op);
    if (!works) return false;
  }
  return true;
}

/* ---- each setting ---------------------------------------------------------------------------- */
/* Sets the loops of the dim above the scope to step `at` of all their steps; the innermost counts
 * fastest. */
static void set_digits(const found *q, int dim, int64_t at) {
  const tf_tree *t = q->f->tree;
  for (int n = q->scope; n >= 0; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_loops - 1; k >= 0; k--) {
      if (t->nodes[n].loops[k].dim != dim) continue;
      q->digits[q->f->loop_from[n] + k] = at % t->nodes[n].loops[k].trip;
      at /= t->nodes[n].loops[k].trip;
    }
}

/* Looks at what `child` of the scope makes, at each setting but the first, which has been looked
 * at. */
static void walk_settings(const found *q, int child, int64_t settings) {
  memset(q->digits, 0, (size_t)q->f->n_loops * sizeof *q->digits);
  q->r->digits = q->digits;
  for (int64_t i = 1; i < settings; i++) {
    int64_t rest = i;
    for (int k = 0; k < q->n_wheels; rest /= q->wheels[k++].n) {
      const wheel *w = &q->wheels[k];
      if (w->loop >= 0)
        q->digits[w->loop] = rest % w->n;
      else
        set_digits(q, w->dim, w->step[rest % w->n]);
    }
    tf_ranges_reset(q->r);
    tf_ranges_towards(q->r, child);
  }
  q->r->digits = NULL;
}

/* ---- gaps ----------------------------------------------------------------------------------- */
/* What op o makes in the runs of nested scope s must be all of the box that counts for the scope
 * around it.  Loops that move different ranks are checked separately: a box is a product, and so is
 * the union of the boxes of all settings. */

/* A loop above s that takes more than one step. */
typedef struct {
  int loop;
  int64_t n;
} turn;

typedef struct {
  found *q;
  int s, child;    /* child: of the scope around s, towards s */
  uint64_t inside; /* those of `turns` between the two scopes */
  uint64_t turns;  /* by their number on the way down */
  turn at[TF_SHIFT_LOOPS];
  bool together; /* all loops have to be looked at together, as some read may be idle or in the
                    padding while another is not */
  bool again;    /* found out on the way */
  uint64_t group;
  tf_ival *whole; /* [rank] what is made in all of them */
  tf_ival *box;   /* [setting of the loops inside * rank] */
  int *picked;    /* [rank * settings] */
  tf_ival *row;   /* [settings] */
  int64_t looks;
} gaps_at;

enum { MOST_LOOKS = 1 << 22 };
enum verdict { WHOLE, GAPS, UNKNOWN };

/* The loops above s; false: too many to be tracked. */
static bool list_turns(gaps_at *g) {
  const tf_facts *f = g->q->f;
  int depth = 0;
  for (int n = 0; n != g->s; n = tf_child_towards(f, n, g->s))
    for (int k = 0; f->tree->nodes[n].kind == TF_TILE && k < f->tree->nodes[n].n_loops;
         k++, depth++) {
      if (f->tree->nodes[n].loops[k].trip < 2) continue;
      if (depth >= TF_SHIFT_LOOPS) return false;
      const uint64_t bit = UINT64_C(1) << depth;
      g->turns |= bit;
      g->inside |= tf_is_above(f, g->child, n) ? bit : 0;
      g->at[depth] = (turn){f->loop_from[n] + k, useful_steps(f, n, k)};
    }
  return true;
}

/* Whether op j takes part: it makes the tensor, or reads it, or what is made of it below s. */
static bool takes_part(const found *q, int j) {
  return j == q->o || reads_marked(q, &q->f->wl->ops[j]);
}

/* Loops that move a dim of an op that takes part. */
static uint64_t moving(const gaps_at *g, int at) { return g->q->shift[at].mask & g->turns; }

/* Merges into g->group all loops that some dim ties to one of it; of the maker the ranks alone. */
static void tie_group(gaps_at *g) {
  const tf_facts *f = g->q->f;
  for (uint64_t before = 0; before != g->group;) {
    before = g->group;
    for (int j = f->leaf_from[g->s]; j < f->leaf_end[g->s]; j++) {
      const int o = f->leaf_op[j],
                n = o == g->q->o ? f->wl->ops[o].n_out_dims : f->wl->ops[o].n_dims;
      for (int i = 0; i < n && takes_part(g->q, o); i++)
        if (moving(g, f->dim_from[o] + i) & g->group) g->group |= moving(g, f->dim_from[o] + i);
    }
  }
}

/* Loops that move anything of what is made, of its readers and their readers. */
static uint64_t all_moving(const gaps_at *g) {
  const tf_facts *f = g->q->f;
  uint64_t all = 0;
  for (int j = f->leaf_from[g->s]; j < f->leaf_end[g->s]; j++)
    for (int o = f->leaf_op[j], i = 0; i < f->wl->ops[o].n_dims && takes_part(g->q, o); i++)
      all |= moving(g, f->dim_from[o] + i);
  return all;
}

/* Whether one read of a tensor that takes part may lie in its padding while another does not. */
static bool pads_unlike(const gaps_at *g) {
  const tf_facts *f = g->q->f;
  for (int j = f->leaf_from[g->s]; j < f->leaf_end[g->s]; j++) {
    const tf_tensor *z = &f->wl->tensors[f->wl->ops[f->leaf_op[j]].out];
    int reads = 0;
    bool padded = false;
    if (!g->q->marked[f->wl->ops[f->leaf_op[j]].out]) continue;
    TF_EACH_READ (f, f->leaf_op[j], g->s, at)
      reads++;
    for (int r = 0; r < z->rank; r++)
      padded |= z->pad[r] > 0;
    if (padded && reads > 1) return true;
  }
  return false;
}

/* Whether nothing can lie between the steps, by how loops move what is made. */
static bool is_plain(const gaps_at *g) {
  const found *q = g->q;
  const int at = q->f->dim_from[q->o], ranks = q->f->wl->ops[q->o].n_out_dims;
  uint64_t moved = 0, twice = 0;
  for (int r = 0; r < ranks; r++) {
    if (q->shift[at + r].mixed) return false;
    twice |= moved & q->shift[at + r].mask;
    moved |= q->shift[at + r].mask;
  }
  return !((twice | steep_reads(q)) & g->inside);
}

/* Whether op j does not run in a setting of the group, or, as far as the group's loops tell, never
 * does. */
static bool is_out(const gaps_at *g, int j) {
  const tf_facts *f = g->q->f;
  bool out = false;
  for (int i = 0; i < f->wl->ops[j].n_dims; i++)
    out |= moving(g, f->dim_from[j] + i) & g->group && g->q->r->range[f->dim_from[j] + i].len <= 0;
  return out;
}

/* What is made at node n of the ranks of the group at the present setting; other ranks are left at
 * one element. False: nothing. */
static bool made_at(gaps_at *g, int n, tf_ival *box) {
  const found *q = g->q;
  const tf_facts *f = q->f;
  const int at = f->dim_from[q->o];
  bool out = false, in = false, made = true;
  tf_ranges_reset(q->r);
  q->r->per_dim = !g->together;
  tf_ranges_towards(q->r, n);
  q->r->per_dim = false;
  for (int r = 0; r < f->wl->ops[q->o].n_out_dims; r++) {
    const bool ours = g->together || moving(g, at + r) & g->group;
    box[r] = ours ? q->r->range[at + r] : (tf_ival){0, 1};
    made &= box[r].len > 0;
  }
  if (g->together || !made) return made;
  for (int j = f->leaf_from[g->s]; j < f->leaf_end[g->s]; j++)
    if (f->leaf_op[j] != q->o && takes_part(q, f->leaf_op[j]))
      *(is_out(g, f->leaf_op[j]) ? &out : &in) = true;
  g->again |= out && in;
  return !out;
}

static int by_start(const void *a, const void *b) {
  const tf_ival *x = a, *y = b;
  return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Whether the picked boxes cover the last rank of the whole. */
static bool covers_row(gaps_at *g, int rank, const int *picked, int n) {
  const int ranks = g->q->f->wl->ops[g->q->o].n_out_dims;
  int64_t to = g->whole[rank].lo;
  for (int i = 0; i < n; i++)
    g->row[i] = g->box[picked[i] * ranks + rank];
  qsort(g->row, (size_t)n, sizeof *g->row, by_start);
  for (int i = 0; i < n && g->row[i].lo <= to; i++)
    if (g->row[i].lo + g->row[i].len > to) to = g->row[i].lo + g->row[i].len;
  return to >= g->whole[rank].lo + g->whole[rank].len;
}

/* The same of the ranks from `rank` on: along this rank, of each stretch in which the same boxes
 * are met. */
static bool covers(gaps_at *g, int rank, const int *picked, int n, int most) {
  const int ranks = g->q->f->wl->ops[g->q->o].n_out_dims;
  g->looks += n;
  if (ranks == 0) return n > 0; /* one number: any run that makes it */
  if (rank + 1 == ranks) return covers_row(g, rank, picked, n);
  int *next = &g->picked[(rank + 1) * most];
  for (int64_t from = g->whole[rank].lo, to, end = from + g->whole[rank].len; from < end;
       from = to) {
    int here = 0;
    to = end;
    for (int i = 0; i < n; i++) {
      const tf_ival b = g->box[picked[i] * ranks + rank];
      const int64_t stop = b.lo > from ? b.lo : b.lo + b.len;
      if (stop <= from) continue;
      to = stop < to ? stop : to;
      if (b.lo <= from) next[here++] = picked[i];
    }
    if (g->looks > MOST_LOOKS || !covers(g, rank + 1, next, here, most)) return false;
    g->looks += n;
  }
  return true;
}

static void set_turns(const gaps_at *g, uint64_t loops, int64_t setting) {
  for (; loops; loops &= loops - 1) {
    const turn *t = &g->at[__builtin_ctzll(loops)];
    g->q->digits[t->loop] = setting % t->n;
    setting /= t->n;
  }
}

/* The number of settings of the loops; 0: too many. */
static int64_t settings_of(const gaps_at *g, uint64_t loops) {
  int64_t all = 1;
  for (; loops; loops &= loops - 1) {
    const int64_t n = g->at[__builtin_ctzll(loops)].n;
    if (n > MOST_STEPS / all) return 0;
    all *= n;
  }
  return all;
}

/* Whether the `n` settings of the loops inside leave gaps at the present setting of those above. */
static enum verdict look_here(gaps_at *g, int n) {
  const int ranks = g->q->f->wl->ops[g->q->o].n_out_dims;
  int some = 0;
  if (!made_at(g, g->child, g->whole)) return WHOLE;
  for (int i = 0; i < n; i++) {
    set_turns(g, g->group & g->inside, i);
    g->picked[some] = some;
    some += made_at(g, g->s, &g->box[some * ranks]);
  }
  set_turns(g, g->group & g->inside, 0);
  const bool all = covers(g, 0, g->picked, some, n);
  return g->looks > MOST_LOOKS ? UNKNOWN : all ? WHOLE : GAPS;
}

/* Looks at all settings of the group's loops.  False: out of memory. */
static bool look_through(gaps_at *g, tf_arena *a, enum verdict *v) {
  const int64_t in = settings_of(g, g->group & g->inside),
                out = settings_of(g, g->group & ~g->inside);
  const int ranks = g->q->f->wl->ops[g->q->o].n_out_dims;
  *v = UNKNOWN;
  if (!in || !out || in > MOST_STEPS / out) return true;
  g->whole = TF_ARRAY(a, tf_ival, (size_t)ranks);
  g->box = TF_ARRAY(a, tf_ival, (size_t)(in * ranks));
  g->row = TF_ARRAY(a, tf_ival, (size_t)in);
  g->picked = TF_ARRAY(a, int, (size_t)(in * (ranks ? ranks : 1)));
  if (!g->whole || !g->box || !g->row || !g->picked) return false;
  memset(g->q->digits, 0, (size_t)g->q->f->n_loops * sizeof *g->q->digits);
  g->q->r->digits = g->q->digits;
  *v = WHOLE;
  for (int64_t i = 0; i < out && *v == WHOLE; i++) {
    set_turns(g, g->group & ~g->inside, i);
    *v = look_here(g, (int)in);
  }
  g->q->r->digits = NULL;
  return true;
}

static bool look_at_groups(gaps_at *g, tf_arena *a, enum verdict *v) {
  uint64_t left = all_moving(g) & g->inside;
  *v = WHOLE;
  while (left && *v == WHOLE && !g->again) {
    g->group = left & -left;
    if (g->together)
      g->group = all_moving(g);
    else
      tie_group(g);
    left &= ~g->group;
    if (!look_through(g, a, v)) return false;
  }
  return true;
}

/* Whether what op o makes in the runs of nested scope s leaves gaps.  False: out of memory. */
static bool find_gaps(found *q, int s, tf_arena *a, enum verdict *v) {
  gaps_at g = {.q = q, .s = s, .child = s};
  while (q->f->tree->nodes[q->f->tree->nodes[g.child].parent].kind != TF_SCOPE)
    g.child = q->f->tree->nodes[g.child].parent;
  q->scope = s;
  mark(q);
  shifts_at(q, s);
  *v = UNKNOWN;
  if (!list_turns(&g)) return true;
  *v = WHOLE;
  if (is_plain(&g)) return true;
  g.together = pads_unlike(&g);
  if (!look_at_groups(&g, a, v)) return false;
  if (!g.again) return true;
  g.again = false;
  g.together = true;
  return look_at_groups(&g, a, v);
}

static bool read_outside(const found *q, int s) {
  const tf_tensor *z = &q->f->wl->tensors[q->f->wl->ops[q->o].out];
  bool any = false;
  for (int i = 0; i < z->n_consumers; i++)
    any |= !tf_op_below(q->f, z->consumers[i], s);
  return any;
}

/* A form is a dim's extent, or what a loop leaves to a dim of an op. */
static bool make_forms(found *q, tf_arena *a) {
  const size_t n = (size_t)q->f->tree->n_nodes * (size_t)q->f->n_dims,
               forms =
                   (size_t)(q->f->n_loops + 1) * (size_t)q->f->n_dims + (size_t)q->f->wl->n_dims;
  if (n > MOST_FORMS || forms > MOST_FORMS) return true;
  q->form_of = TF_ARRAY(a, int, n);
  q->forms = TF_ARRAY(a, form, forms);
  return q->form_of && q->forms;
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
  if (!make_forms(&q, c->arena)) return false;
  if (!q.digits || !q.wheels || !q.concerned || !q.marked || !q.shift || !q.needed) return false;
  for (q.o = 0; q.o < f->wl->n_ops; q.o++) {
    int home = f->home_scope[f->wl->ops[q.o].out];
    for (int n = f->tree->nodes[f->lead[q.o]].parent; home >= 0 && n > home;
         n = f->tree->nodes[n].parent) {
      enum verdict v = WHOLE;
      if (f->tree->nodes[n].kind == TF_SCOPE && read_outside(&q, n) &&
          !find_gaps(&q, n, c->arena, &v))
        return false;
      if (v != WHOLE) (v == GAPS ? gaps : unknown)(r, q.o);
      q.scope = f->tree->nodes[n].parent;
      if (f->tree->nodes[q.scope].kind != TF_SCOPE || is_always_made(&q, n)) continue;
      mark(&q);
      find_moves(&q, n);
      int64_t settings = count_settings(&q);
      if (settings == 0) unknown(r, q.o);
      walk_settings(&q, n, settings);
    }
  }
  return true;
}
