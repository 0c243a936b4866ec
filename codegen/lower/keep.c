/* Retention: from one run of a scope to the next, the home keeps what both need of an intermediate,
 * and its producer computes the rest (SEMANTICS D10, D21).  What is held is found at run time:
 * IR_KEEP compares boxes. */
#include <string.h>

#include "codegen/lower/lower.h"
#include "model/input/dims.h"

/* The most instances that may alternate on one home; each has its own slot. */
enum { MOST_SLOTS = 1 << 12 };

/* Whether a stream is active around or at node n.  Then nothing is retained: running values, and
 * values that wait for a division, cannot be reused. */
static bool streams(const tf_plan *p, int n) {
  for (; n >= 0; n = p->tree->nodes[n].parent)
    if (p->tree->nodes[n].kind == TF_SCOPE && p->tree->nodes[n].n_stream) return true;
  return false;
}

bool lower_keep_start(lowering *w) {
  const tf_plan *p = w->plan;
  size_t n = (size_t)p->wl->n_tensors;
  w->keeps = TF_ARRAY(w->p->arena, bool, n);
  w->slots = TF_ARRAY(w->p->arena, int64_t, n);
  w->slot = TF_ARRAY(w->p->arena, ir_atom, n);
  w->slot_step = TF_ARRAY(w->p->arena, int64_t, n * (size_t)p->n_loops + 1);
  w->retained = TF_ARRAY(w->p->arena, ir_stmt *, n);
  if (!w->retained || !w->keeps || !w->slots || !w->slot || !w->slot_step) return false;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    w->slots[z] = 1;
    w->slot[z] = ir_number(0);
    if (!p->retained[z] || p->wl->tensors[z].rank == 0 || streams(p, p->home_scope[z])) continue;
    /* a producer whose range follows from readers in its own branch computes all that these need */
    w->keeps[z] = p->tree->nodes[p->lead[p->wl->tensors[z].producer]].parent == p->home_scope[z];
  }
  return true;
}

static bool over_instances(const lowering *w, int l) {
  return w->plan->loops[l].axis != TF_TEMPORAL && w->run.trip[l] > 1;
}

/* Instances whose loops are inside of temporal ones alternate, and need a slot each; those outside
 * run one after the other. */
void lower_keep_plan(lowering *w) {
  const tf_plan *p = w->plan;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_path *path = w->keeps[z] ? &p->path[p->home_scope[z]] : NULL;
    int first = 0;
    while (path && first < path->n &&
           (over_instances(w, path->loops[first]) || w->run.trip[path->loops[first]] == 1))
      first++;
    for (int k = path ? path->n - 1 : -1; k >= first; k--) {
      int l = path->loops[k];
      if (!over_instances(w, l) || w->hoisted[l] >= 0) continue;
      w->slot_step[z * p->n_loops + l] = w->slots[z];
      w->keeps[z] &= w->run.trip[l] <= MOST_SLOTS && w->slots[z] <= MOST_SLOTS / w->run.trip[l];
      w->slots[z] *= w->keeps[z] ? w->run.trip[l] : 1;
    }
  }
}

static void forget(lowering *w, int z, int64_t n_slots) {
  ir_stmt *s = lower_add(w, IR_FORGET);
  if (!s) return;
  s->forget.tensor = z;
  s->forget.buffer = -1;
  s->forget.slot = w->slot[z];
  s->forget.n_slots = n_slots;
}

void lower_keep_instance(lowering *w, int n, int l) {
  const tf_plan *p = w->plan;
  for (int z = 0; z < p->wl->n_tensors && over_instances(w, l); z++)
    if (w->keeps[z] && tf_plan_above(p, n, p->home_scope[z]) && !w->slot_step[z * p->n_loops + l])
      forget(w, z, 0);
}

void lower_keep_step(lowering *w, int n, int l, ir_atom digit) {
  const tf_plan *p = w->plan;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (w->keeps[z] && tf_plan_above(p, n, p->home_scope[z]))
      w->slot[z] = lower_sum(w, "slot", w->slot[z], w->slot_step[z * p->n_loops + l], digit);
}

/* Number of slots of z that belong to one instance of node n. */
static int64_t slots_below(const lowering *w, int z, int n) {
  const tf_path *path = &w->plan->path[n];
  int64_t slots = w->slots[z];
  for (int k = 0; k < path->n; k++) {
    int64_t step = w->slot_step[z * w->plan->n_loops + path->loops[k]];
    slots = step ? step : slots;
  }
  return slots;
}

lower_mark lower_guard_nonempty(lowering *w, int child, int z) {
  const tf_plan *p = w->plan;
  const lower_mark mark = {w->into, w->n_lets};
  ir_range *guard = TF_ARRAY(w->p->arena, ir_range, (size_t)p->wl->n_ops);
  int n = 0;
  bool always = false;
  for (int o = 0; o < p->wl->n_ops && !lower_failed(w); o++) {
    const tf_op *op = &p->wl->ops[o];
    if (!tf_plan_above(p, child, p->tree->op_node[o]) || (z >= 0 && !tf_op_reads(op, z))) continue;
    ir_range one = {.lo = ir_number(0), .hi = ir_number(1), .never_empty = true};
    guard[n] = lower_unless_idle(w, o, op->n_dims ? *lower_range(w, o, op->dims[0]) : one,
                                 op->n_dims ? op->dims[0] : -1);
    always |= guard[n++].never_empty;
  }
  ir_stmt *s = always ? NULL : lower_add(w, IR_IF);
  if (!s) return mark;
  s->guard.n = n;
  s->guard.range = guard;
  lower_open(w, &s->body);
  return mark;
}

void lower_keep_pass(lowering *w, int n, int child) {
  const tf_plan *p = w->plan;
  if (!tf_plan_drops(&p->tree->nodes[n])) return;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    int home = p->home_scope[z];
    if (!w->keeps[z] || home == n || !tf_plan_above(p, n, home) || tf_plan_above(p, child, home))
      continue;
    lower_mark mark = lower_guard_nonempty(w, child, -1);
    forget(w, z, slots_below(w, z, n));
    lower_close(w, mark);
  }
}

/* ---- lengths of the part left to compute ---------------------------------------------------- */

/* Adds `times` the distance that one step of the loop variable moves the value, ignoring clipping
 * and partial tiles; false: unknown.  The part left of a range ends where the range ends. */
static bool moved_by(const lowering *w, ir_atom a, int var, int64_t times, int64_t *by) {
  if (a.var == var) *by += times;
  if (a.var < 0 || a.var == var) return true;
  for (int i = 0; i < w->n_lets; i++) {
    const ir_expr *e = &w->lets[i].expr;
    if (w->lets[i].var != a.var) continue;
    if (e->fn == IR_PICK) return moved_by(w, e->arg[2], var, times, by);
    for (int k = 0; k < e->n && e->fn == IR_SUM; k++)
      if (!moved_by(w, e->arg[k], var, times * e->coef[k], by)) return false;
    return e->fn == IR_SUM;
  }
  for (int z = 0; z < w->plan->wl->n_tensors; z++)
    for (int r = 0; w->retained[z] && r < w->plan->wl->tensors[z].rank; r++)
      if (w->retained[z]->keep.missing[r].lo.var == a.var ||
          w->retained[z]->keep.missing[r].hi.var == a.var)
        return moved_by(w, w->retained[z]->range[r].hi, var, times, by);
  return true; /* the variable of another loop */
}

static bool range_moved_by(const lowering *w, const ir_range *r, int var, int64_t *by) {
  *by = 0;
  if (moved_by(w, r->lo, var, 1, by)) return true;
  *by = 0;
  return moved_by(w, r->hi, var, 1, by);
}

/* Loops over one dim, innermost first: by how much the range moves back when they all start over.
 */
typedef struct {
  int64_t step, shift, back; /* of the innermost loop; 0: none yet */
} start_over;

/* Adds loop l, whose step moves the range by `by`; extents that are no multiple of tiles end early.
 */
static void add_loop(const lowering *w, int l, int64_t by, start_over *s) {
  const tf_ploop *pl = &w->plan->loops[l];
  int64_t step = pl->op < 0 ? 1 : w->run.step[pl->op * w->plan->n_loops + l],
          extent = w->plan->wl->dims[pl->dim].extent;
  int64_t all = step > extent / w->run.trip[l] ? extent : step * w->run.trip[l];
  if (!s->step) *s = (start_over){step, by, 0};
  s->back = s->shift * ((all - 1) / s->step);
}

/* Possible lengths of the part left to compute, after the innermost loop that is not at its start
 * has stepped: two runs differ by its step, less those of the loops inside it that start over.
 * IR_KEEP leaves no other lengths. */
static void left_lengths(lowering *w, const ir_range *need, int n, ir_range *left) {
  const tf_path *path = &w->plan->path[n];
  const ir_range all = *need;
  start_over *over = TF_ARRAY(w->p->arena, start_over, (size_t)w->plan->wl->n_dims);
  bool known = over && (need->exact || need->other);
  for (int i = 0; known && !need->exact && i < 3; i++)
    known = lower_add_length(left, i ? need->more[i - 1] : need->other);
  for (int k = path->n - 1; known && k >= 0; k--) {
    int l = path->loops[k];
    if (!(path->temporal >> k & 1) || w->run.trip[l] == 1 || w->var_of[l] < 0) continue;
    int64_t by, apart;
    known = range_moved_by(w, need, w->var_of[l], &by);
    apart = by;
    for (int d = 0; d < w->plan->wl->n_dims; d++)
      apart -= over[d].back;
    add_loop(w, l, by, &over[w->plan->loops[l].dim]);
    if (apart < 0) apart = -apart;
    if (apart < need->most) known &= lower_add_length(left, apart);
    if (apart < need->most && !need->exact && need->other)
      known &= lower_add_length(left, need->other - (need->most - apart));
  }
  if (known && !left->other) left->other = left->most;
  if (known) return;
  left->other = all.exact ? all.most : all.other;
  memcpy(left->more, all.more, sizeof left->more);
}

/* ---- the scope ------------------------------------------------------------------------------ */

static bool moves(const ir_range *r) { return r->lo.var >= 0 || r->hi.var >= 0; }

static bool reads_dim(const lowering *w, const tf_ref *ref, int dim) {
  for (int r = 0; r < w->plan->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

/* Whether the length of the op's k-th dim must be known, as it may be a side of a block product. */
static bool side_of_product(const lowering *w, const tf_op *op, int k) {
  if (!ir_is_product(op)) return false;
  int n = op->n_out_dims - 1;
  bool n_in[2], any = false;
  for (int i = 0; i < 2; i++)
    n_in[i] = reads_dim(w, &op->reads[i], op->dims[n]);
  for (int m = 0; m < n; m++)
    any |= (k == m || k == n) && reads_dim(w, &op->reads[n_in[0]], op->dims[m]) &&
           !reads_dim(w, &op->reads[!n_in[0]], op->dims[m]);
  return n_in[0] != n_in[1] && any;
}

static ir_range left_of(lowering *w, const ir_range *need, const char *dim, bool product, int n) {
  ir_range v = {.most = need->most};
  v.lo = (ir_atom){lower_var(w, "new_%s_", dim), 0};
  v.hi = (ir_atom){lower_var(w, "end_%s_", dim), 0};
  if (product) left_lengths(w, need, n, &v);
  return v;
}

/* Opens the buffer: the box that one run needs. */
static int open_buffer(lowering *w, int z, const ir_range *need) {
  int i = lower_buffer(w, z, w->plan->wl->tensors[z].name, false, w->plan->home_level[z]);
  if (lower_failed(w)) return -1;
  ir_buffer *b = &w->p->buffers[i];
  /* threads over instances that alternate already have slots of their own */
  b->space = w->slot_step[z * w->plan->n_loops + w->parallel] ? 0 : lower_space(w);
  b->role = IR_KEPT;
  b->slots = w->slots[z];
  b->slot = w->slot[z];
  b->words = 1;
  for (int r = 0; r < b->rank; r++) {
    b->extent[r] = need[r].most;
    b->base[r] = need[r].lo;
    b->words *= need[r].most;
  }
  return w->p->buffer_of[z] = i;
}

void lower_keep(lowering *w, int n, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  size_t rank = (size_t)op->n_out_dims;
  ir_range *need = TF_ARRAY(w->p->arena, ir_range, rank),
           *made = TF_ARRAY(w->p->arena, ir_range, rank);
  bool any = false;
  if (lower_failed(w)) return;
  for (int r = 0; r < op->n_out_dims; r++) {
    need[r] = made[r] = lower_demand(w, op->out, r, n, LOWER_ASKED);
    any |= moves(&need[r]);
  }
  int buffer = open_buffer(w, op->out, need);
  ir_stmt *s = lower_add(w, IR_KEEP);
  if (!s) return;
  s->op = o;
  s->range = need;
  s->keep.buffer = buffer;
  s->keep.missing = made;
  for (int r = 0; r < op->n_out_dims; r++) {
    if (moves(&need[r]) || (r == 0 && !any))
      made[r] = left_of(w, &need[r], w->p->dim_id[op->dims[r]], side_of_product(w, op, r), n);
    *lower_range(w, o, op->dims[r]) = made[r];
  }
  w->retained[op->out] = s;
}
