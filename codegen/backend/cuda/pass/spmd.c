/* Makes a region a loop over warps: ranges of rows become those of a warp, and tiles are copied to
 * shared memory before the product that reads them, each warp copying a part. */
#include <stdio.h>
#include <string.h>

#include "codegen/backend/cuda/pass/region.h"

typedef struct {
  lowering *w;
  cu_region *g;
  ir_atom warp;
  ir_range m, n;          /* of the warp; with stacked rows m numbers them */
  const ir_stmt *loop;    /* the surrounding loop of the region, as it was; NULL: none */
  const ir_body *body;    /* its body, with the lets of values */
  const ir_body *outside; /* the body around the region */
  bool skips;             /* some steps of the loop are skipped ... */
  cu_ends ends;           /* ... and those between these ends run */
  ir_range keys;          /* of the warp in a step, if warps share keys */
} spmd;

/* A piece of a product's sum: its start, its number, and the slots of its tiles. */
typedef struct {
  ir_range k;
  ir_atom step, slot;
} piece;

static const tf_op *op_of(const spmd *p, const ir_stmt *s) { return &p->w->plan->wl->ops[s->op]; }

static void barrier(lowering *w) {
  ir_stmt *s = lower_add(w, IR_BARRIER);
  if (s) s->barrier.map = IR_WARP;
}

static void wait_for(lowering *w, int queue, int left) {
  ir_stmt *s = lower_add(w, IR_WAIT);
  if (s) s->wait.queue = queue, s->wait.left = left;
  barrier(w);
}

static void wait(lowering *w, int left) { wait_for(w, CU_PIECES, left); }

/* What follows, until lower_close, is for warps that have rows, or keys; others only copy tiles. */
static lower_mark open_rows(const spmd *p) {
  lowering *w = p->w;
  const lower_mark all = {w->into, w->n_lets};
  const int warps = p->g->keys ? p->g->sharers : p->g->warps_m * p->g->warps_n;
  ir_stmt *s = warps < p->g->warps ? lower_add(w, IR_IF) : NULL;
  ir_range *r = TF_ARRAY(w->p->arena, ir_range, 1);
  if (!s || !r) return all;
  *r = p->g->keys ? (ir_range){.lo = p->warp, .hi = ir_number(warps), .most = warps} : p->m;
  s->guard.n = 1, s->guard.range = r;
  cu_note *note = cu_edit(p->w->p, s);
  if (note) note->warps = p->g->keys ? warps : p->g->warps_m;
  return lower_open(w, &s->body);
}

/* ---- values in other steps of the loop ------------------------------------------------------ */

/* The value of an expression of numbers, a product, sum or quotient; false: it is none. */
static bool is_number(const ir_expr *e, int64_t *of) {
  bool is = e->fn == IR_SUM || e->fn == IR_DIV || e->fn == IR_MOD;
  *of = 0;
  for (int i = 0; i < e->n && is; i++) {
    is = e->arg[i].var < 0;
    *of += e->fn == IR_SUM ? e->coef[i] * e->arg[i].off : 0;
  }
  if (is && e->fn != IR_SUM)
    *of = e->fn == IR_DIV ? e->arg[0].off / e->arg[1].off : e->arg[0].off % e->arg[1].off;
  return is;
}

/* The atom with the loop's variable replaced by `to`: the lets of the body are repeated. */
static ir_atom moved(const spmd *p, ir_atom a, ir_atom to) {
  if (a.var < 0) return a;
  if (a.var == p->loop->loop.var) return (ir_atom){to.var, to.off + a.off};
  for (int i = 0; i < p->body->n; i++) {
    const ir_stmt *s = p->body->s[i];
    if (s->kind != IR_LET || s->let.var != a.var) continue;
    ir_expr e = s->let.expr;
    ir_atom *arg = TF_ARRAY(p->w->p->arena, ir_atom, (size_t)e.n + 1);
    for (int k = 0; k < e.n && !lower_failed(p->w); k++)
      arg[k] = moved(p, e.arg[k], to);
    e.arg = arg;
    int64_t number = 0;
    if (p->g->stacked && !lower_failed(p->w) && is_number(&e, &number))
      return ir_number(number + a.off);
    ir_stmt *new = lower_add(p->w, IR_LET);
    const int var = lower_var(p->w, "next_");
    if (lower_failed(p->w)) return a;
    new->let.var = var;
    new->let.expr = e;
    return (ir_atom){var, a.off};
  }
  return a;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Ranges of the block in the piece, with the loop's variable replaced by `to` (NULL: as it is).
 * Ranges are shifted, rather than the indices computed from them: a sum of two dims is a value of
 * its own, let where it is used. */
static void set_ranges(const spmd *p, const cu_work *t, const piece *at, const ir_atom *to) {
  const tf_op *op = op_of(p, t->s);
  for (int i = 0; i < op->n_dims && !lower_failed(p->w); i++) {
    ir_range r = i == t->roles.k ? at->k : t->s->range[i];
    if (to) r.lo = moved(p, r.lo, *to), r.hi = moved(p, r.hi, *to);
    *lower_range(p->w, t->s->op, op->dims[i]) = r;
  }
}

static const tf_ref *ref_of(const spmd *p, const cu_work *t, int i) {
  return &op_of(p, t->s)->reads[i ? t->roles.b : t->roles.a];
}

static int64_t side_length(const spmd *p, const cu_work *t, int dim) {
  const cu_region *g = p->g;
  const tf_op *op = op_of(p, t->s);
  if (dim == op->dims[t->roles.k]) return cu_padded_sum(p->w->p, t->step);
  if (dim == g->dim_m) return g->rows * g->warps_m;
  return g->dim_n >= 0 ? g->columns * g->warps_n : cu_sides_up(t->s->range[t->roles.n].most);
}

/* Extends the box by the stack's rows (or columns). */
static void extend_by_stack(const ir_buffer *b, const ir_stack *t) {
  for (int j = 0; t && j < t->n; j++)
    b->extent[t->axis[j]] += (t->length[j] - 1) * (t->step[j] < 0 ? -t->step[j] : t->step[j]);
}

static void open_tile(const spmd *p, const cu_work *t, int i, cu_operand *side) {
  lowering *w = p->w;
  const tf_ref *ref = ref_of(p, t, i);
  char what[32];
  if (!cu_has_own_tile(t, i)) {
    side->buffer = t[-1].side[i].buffer;
    return;
  }
  const int at = side->buffer =
      lower_buffer(w, ref->tensor, w->plan->wl->tensors[ref->tensor].name, false, 0);
  if (lower_failed(w)) return;
  ir_buffer *b = &w->p->buffers[at];
  snprintf(what, sizeof what, "tile%d", at);
  b->id = lower_derived(w, w->p->tensor_id[ref->tensor], what);
  b->role = IR_COPIED;
  b->type = cu_mma_for(w->p, op_of(p, t->s))->kernel.a;
  b->space = CU_SHARED;
  b->slots = side->lasting ? 1 : t->slots;
  const cu_layout layout = {.rows = side->rows,
                            .columns = side->columns,
                            .stack = side->stack,
                            .across = side->across,
                            .plain = cu_is_wmma(w->p)};
  cu_set_layout(w->p, b, layout);
  b->words = 1;
  for (int r = 0; r < b->rank; r++)
    b->extent[r] = 1;
  extend_by_stack(b, layout.stack), extend_by_stack(b, layout.across);
  for (int r = 0; r < b->rank; r++) {
    const bool is = (!layout.stack && r == layout.rows) || (!layout.across && r == layout.columns);
    const int64_t panel = p->g->groups && r == layout.columns ? CU_PANEL / ir_bytes(b->type) : 1;
    if (is)
      b->extent[r] = (side_length(p, t, ref->index[r].terms[0].dim) + panel - 1) / panel * panel;
    b->words *= b->extent[r];
  }
}

/* Copies the operand's box in the piece, with the loop's variable replaced by `to` (NULL: as it
 * is), only under the condition `some`. */
static void copy_one(const spmd *p, const cu_work *t, int i, const piece *at, const ir_atom *to,
                     const ir_range *some) {
  lowering *w = p->w;
  const tf_ref *ref = ref_of(p, t, i);
  const int rank = w->plan->wl->tensors[ref->tensor].rank;
  ir_range *box = TF_ARRAY(w->p->arena, ir_range, (size_t)rank + 1);
  set_ranges(p, t, at, to);
  for (int r = 0; r < rank && !lower_failed(w); r++)
    box[r] = lower_index(w, t->s->op, &ref->index[r]);
  if (lower_failed(w)) return;
  if (some) box[0].hi = lower_select(w, "to", *some, box[0].hi, box[0].lo);
  if (some && box[0].exact) box[0].other = box[0].most; /* or nothing */
  if (some) box[0].exact = box[0].never_empty = false;
  ir_stmt *s = lower_add(w, IR_COPY);
  if (!s) return;
  s->range = box;
  s->copy.to = t->side[i].buffer;
  s->copy.from = cu_source_of(w->p, t->s, i ? t->roles.b : t->roles.a);
  s->copy.slot = t->side[i].lasting ? ir_number(0) : at->slot;
  s->copy.queue = p->g->groups ? CU_BOXES : CU_PIECES;
  s->copy.parts = p->g->warps;
  s->copy.part = p->warp;
}

static void copy_moving(const spmd *p, const cu_work *t, const piece *at, const ir_atom *to,
                        const ir_range *some) {
  for (int i = 0; i < 2; i++)
    if (cu_has_own_tile(t, i) && !t->side[i].lasting) copy_one(p, t, i, at, to, some);
}

static void end_copies(const spmd *p) {
  const ir_body *b = p->w->into;
  if (!lower_failed(p->w)) b->s[b->n - 1]->copy.ends = true;
}

/* Copies the lasting tiles, or the others; the last copy ends a group, and there is always one. */
static void copy_all(const spmd *p, const cu_work *t, const piece *at, const ir_atom *to,
                     const ir_range *some) {
  copy_moving(p, t, at, to, some);
  end_copies(p);
}

static void copy_lasting(const spmd *p, const cu_work *t) {
  for (int i = 0; i < 2; i++)
    if (t->side[i].tile && t->side[i].lasting)
      copy_one(p, t, i, &(piece){.k = t->s->range[t->roles.k]}, NULL, NULL);
}

static bool has_moving(const cu_work *t) {
  return (t->side[0].tile && !t->side[0].lasting) || (t->side[1].tile && !t->side[1].lasting);
}

/* ---- products ------------------------------------------------------------------------------- */

/* Of stacked rows a warp has a part in the middle of the block's ranges. */
static const ir_stack *warp_stack(const spmd *p, const ir_stmt *s) {
  int at[IR_MOST_STACKED] = {0};
  if (!p->g->stacked) return NULL;
  for (int i = 0; i < p->g->n_stack; i++)
    at[i] = lower_find_dim(op_of(p, s), p->g->stack_dim[i]);
  return cu_stack_of(p->g, at, p->g->rows, p->m.lo);
}

static ir_range *warp_ranges(const spmd *p, const ir_stmt *s) {
  const tf_op *op = op_of(p, s);
  ir_range *r = cu_ranges(p->w, s);
  for (int k = 0; r && k < ir_n_ranges(p->w->p, s); k++) {
    if (op->dims[k] == p->g->dim_m && !p->g->stacked) r[k] = p->m;
    if (op->dims[k] == p->g->dim_n) r[k] = p->n;
    if (p->g->keys && p->loop == p->g->keys && op->dims[k] == p->loop->loop.dim) r[k] = p->keys;
  }
  return r;
}

/* Lets the first of the warp's keys in a step. */
static void set_keys(const spmd *p) {
  lowering *w = p->w;
  ir_stmt *s = lower_add(w, IR_LET);
  ir_atom *arg = TF_ARRAY(w->p->arena, ir_atom, 2);
  int64_t *coef = TF_ARRAY(w->p->arena, int64_t, 2);
  if (lower_failed(w)) return;
  arg[0] = cu_keys_of(p->g)->lo, arg[1] = p->warp;
  coef[0] = 1, coef[1] = p->g->keys_each;
  s->let.var = p->keys.lo.var;
  s->let.expr = (ir_expr){IR_SUM, 2, arg, coef};
}

/* Each warp's sums are a separate part: the buffers of parts get that many times the slots, and the
 * merge combines all of these. */
static void share_slots(const spmd *p, const ir_body *b, const ir_stmt *save, int slot) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_MERGE && s->merge.from == save->save.to)
      s->merge.part = slot, s->merge.parts *= p->g->sharers;
    share_slots(p, &s->body, save, slot);
  }
}

static void share_parts(const spmd *p) {
  const cu_region *g = p->g;
  ir_atom slot = ir_number(0);
  for (int i = 0; i < g->n && !lower_failed(p->w); i++) {
    if (g->s[i]->kind != IR_SAVE) continue;
    ir_buffer *to = &p->w->p->buffers[g->s[i]->save.to];
    if (slot.var < 0) slot = lower_sum(p->w, "slot", p->warp, g->sharers, to->slot);
    to->slots *= g->sharers, to->slot = slot;
    share_slots(p, &p->w->p->body, g->s[i], slot.var);
  }
}

/* Sets the origin and slot of the tile for the current piece. */
static void set_tile(const spmd *p, const cu_work *t, int i, const piece *at) {
  set_ranges(p, t, at, NULL);
  ir_buffer *b = &p->w->p->buffers[t->side[i].buffer];
  if (!t->side[i].lasting) b->slot = at->slot;
  for (int r = 0; r < b->rank; r++)
    b->base[r] = lower_index(p->w, t->s->op, &ref_of(p, t, i)->index[r]).lo;
  /* a product finds its columns in the tile by their own dim, which a window's index shifts */
  if (i && t->side[i].stack) b->base[t->side[i].rows] = t->s->range[t->roles.n].lo;
}

static void multiply(const spmd *p, const cu_work *t, const piece *at) {
  lowering *w = p->w;
  const tf_op *op = op_of(p, t->s);
  ir_range *r = warp_ranges(p, t->s);
  int *from = TF_ARRAY(w->p->arena, int, (size_t)op->n_reads + 1);
  cu_matrices *roles = TF_ARRAY(w->p->arena, cu_matrices, 1);
  if (lower_failed(w)) return;
  r[t->roles.k] = p->g->keys && p->loop == p->g->keys && op->dims[t->roles.k] == p->loop->loop.dim
                      ? p->keys
                      : at->k;
  *roles = t->roles;
  for (int i = 0; i < op->n_reads; i++)
    from[i] = t->s->nest.from ? t->s->nest.from[i] : w->p->buffer_of[op->reads[i].tensor];
  for (int i = 0; i < 2; i++) {
    if (!t->side[i].tile) continue;
    from[i ? t->roles.b : t->roles.a] = t->side[i].buffer;
    if (cu_has_own_tile(t, i)) set_tile(p, t, i, at);
  }
  const lower_mark all = open_rows(p);
  ir_stmt *s = cu_copy_with_ranges(w, t->s, r);
  cu_note *note = s ? cu_edit(w->p, s) : NULL;
  if (note) {
    s->nest.from = from;
    s->stack = warp_stack(p, s);
    note->fragments = roles;
    cu_set_resets(w, t->s, s, at->step);
  }
  lower_close(w, all);
}

/* The piece of the sum that begins at a step. */
static piece piece_at(const spmd *p, const cu_work *t, ir_atom step, ir_atom slot) {
  const ir_range *k = &t->s->range[t->roles.k];
  const ir_atom lo = lower_sum(p->w, "from", k->lo, t->step, step);
  return (piece){.k = {.lo = lo,
                       .hi = lower_min(p->w, "to", k->hi, (ir_atom){lo.var, lo.off + t->step}),
                       .most = t->step},
                 .slot = slot};
}

/* Copies the piece's tiles of n products beside each other. */
static void copy_pieces(const spmd *p, const cu_work *t, int n, const piece *at,
                        const ir_range *some) {
  for (int i = 0; i < n && !lower_failed(p->w); i++)
    copy_moving(p, &t[i], at, NULL, some);
  end_copies(p);
}

/* Piece after piece, with `slots` - 1 in flight; n products beside each other use each. */
static void multiply_pieces(const spmd *p, const cu_work *t, int n) {
  lowering *w = p->w;
  const lower_mark outside = {w->into, w->n_lets};
  const bool moving = has_moving(t);
  lower_mark mark;
  for (int i = 0; i < t->slots - 1 && moving && !lower_failed(w); i++) {
    const piece first = piece_at(p, t, ir_number(i), ir_number(i));
    copy_pieces(p, t, n, &first, NULL);
  }
  const ir_atom step = cu_open_for(w, IR_SERIAL, op_of(p, t->s)->dims[t->roles.k], t->trip, &mark);
  if (moving) {
    const ir_atom ahead = {step.var, step.off + t->slots - 1};
    if (t->slots > 1) wait(w, t->slots - 2);
    const piece next = piece_at(p, t, ahead, lower_divmod(w, "into", IR_MOD, ahead, t->slots));
    copy_pieces(p, t, n, &next,
                &(ir_range){.lo = ahead, .hi = ir_number(t->trip), .most = t->trip});
    if (t->slots == 1) wait(w, 0);
  }
  const ir_range *k = &t->s->range[t->roles.k];
  piece now = {.k = lower_split(w, w->p->dim_id[op_of(p, t->s)->dims[t->roles.k]], *k, step,
                                t->step, t->trip),
               .step = step,
               .slot =
                   t->slots > 1 ? lower_divmod(w, "now", IR_MOD, step, t->slots) : ir_number(0)};
  now.k.never_empty = k->exact;
  for (int i = 0; i < n && !lower_failed(w); i++)
    multiply(p, &t[i], &now);
  if (moving && t->slots == 1) barrier(w);
  lower_close(w, outside);
  if (moving && p->loop) barrier(w);
}

/* Sets the variables of nested loops from the step of the single loop over all of them and the
 * pieces of the sum. */
static piece set_steps(const spmd *p, const cu_work *t, ir_atom step, int64_t trip) {
  lowering *w = p->w;
  for (const ir_stmt *in = t->steps; in && !lower_failed(w); in = cu_only_loop(&in->body)) {
    trip /= in->loop.trip;
    ir_atom digit = trip > 1 ? lower_divmod(w, "step", IR_DIV, step, trip) : step;
    if (in != t->steps) digit = lower_divmod(w, "step", IR_MOD, digit, in->loop.trip);
    cu_set_var(w, in->loop.var, digit);
    for (int i = 0; i < in->body.n; i++)
      if (in->body.s[i]->kind == IR_LET) cu_copy_with_ranges(w, in->body.s[i], NULL);
  }
  piece now = {.k = t->s->range[t->roles.k],
               .step = step,
               .slot = lower_divmod(w, "now", IR_MOD, step, t->slots)};
  if (t->trip == 1) return now;
  const bool full = now.k.exact;
  now.k = lower_split(w, w->p->dim_id[op_of(p, t->s)->dims[t->roles.k]], now.k,
                      lower_divmod(w, "step", IR_MOD, step, t->trip), t->step, t->trip);
  now.k.never_empty = full;
  return now;
}

/* Steps of a sum and their pieces in one loop, with `slots` - 1 in flight throughout. */
static void multiply_steps(spmd *p, const cu_work *t) {
  lowering *w = p->w;
  const spmd outside = *p;
  ir_body values = {0, NULL};
  ir_stmt around = {.kind = IR_FOR,
                    .loop = {.trip = t->trip, .dim = t->steps->loop.dim, .map = IR_SERIAL}};
  for (const ir_stmt *in = t->steps; in; in = cu_only_loop(&in->body))
    around.loop.trip *= in->loop.trip;
  around.loop.var = lower_var(w, "step_");
  if (lower_failed(w)) return;
  lower_span_loop(w, around.loop.var, around.loop.trip);
  const ir_atom step = {around.loop.var, 0}, ahead = {step.var, t->slots - 1},
                end = ir_number(around.loop.trip);
  lower_mark mark = lower_open(w, &values);
  const piece now = set_steps(p, t, step, around.loop.trip);
  lower_close(w, mark);
  p->loop = &around, p->body = &values;
  for (int i = 0; i < t->slots - 1 && !lower_failed(w); i++) {
    const ir_atom at = ir_number(i);
    copy_all(p, t, &(piece){.k = now.k, .slot = at}, &at, NULL);
  }
  around.body = values;
  ir_stmt *again = cu_copy_with_ranges(w, &around, NULL);
  if (lower_failed(w)) return;
  mark = lower_open(w, &again->body);
  wait(w, t->slots - 2);
  copy_all(p, t, &(piece){.k = now.k, .slot = lower_divmod(w, "into", IR_MOD, ahead, t->slots)},
           &ahead, &(ir_range){.lo = ahead, .hi = end, .most = end.off});
  multiply(p, t, &now);
  lower_close(w, mark);
  *p = outside;
}

/* All of the sum at once; in a loop the next step's tiles are copied meanwhile, after those of the
 * loop's other products. */
static void multiply_whole(const spmd *p, const cu_work *t, int in_loop) {
  lowering *w = p->w;
  piece now = {.k = t->s->range[t->roles.k], .step = ir_number(0), .slot = ir_number(0)};
  if (t->prefetches && p->loop) {
    const ir_atom step = {p->loop->loop.var, 0}, next = {step.var, t->slots - 1};
    wait(w, in_loop * (t->slots - 1) - 1);
    const piece then = {.k = now.k, .slot = lower_divmod(w, "into", IR_MOD, next, t->slots)};
    copy_all(p, t, &then, &next,
             &(ir_range){.lo = next, .hi = p->ends.end, .most = p->loop->loop.trip});
    now.slot = lower_divmod(w, "now", IR_MOD, step, t->slots);
  } else if (has_moving(t)) {
    copy_all(p, t, &now, NULL, NULL);
    wait(w, 0);
  }
  multiply(p, t, &now);
  if (!t->prefetches && has_moving(t) && p->loop) barrier(w);
}

/* A product from a ring: its tiles are copied, waited for, multiplied, and released. The program
 * states this in sequence; the printer lets one warp copy as far ahead as there are stages, and
 * others do the rest. n products beside each other use each tile. */
static void multiply_from_ring(const spmd *p, const cu_work *t, int n) {
  lowering *w = p->w;
  const lower_mark outside = {w->into, w->n_lets};
  const ir_range *k = &t->s->range[t->roles.k];
  piece now = {.k = *k, .step = ir_number(0), .slot = ir_number(0)};
  lower_mark mark;
  if (t->trip > 1) {
    now.step = cu_open_for(w, IR_SERIAL, op_of(p, t->s)->dims[t->roles.k], t->trip, &mark);
    now.k = lower_split(w, w->p->dim_id[op_of(p, t->s)->dims[t->roles.k]], *k, now.step, t->step,
                        t->trip);
    now.k.never_empty = k->exact;
  }
  const bool moving = has_moving(t);
  if (moving) copy_pieces(p, t, n, &now, NULL), wait_for(w, CU_BOXES, 0);
  for (int i = 0; i < n && !lower_failed(w); i++)
    multiply(p, &t[i], &now);
  if (moving) barrier(w);
  lower_close(w, outside);
}

/* ---- statements ----------------------------------------------------------------------------- */

static void statements(spmd *p, ir_stmt *const *s, int n);

static cu_work *work_of(const spmd *p, const ir_stmt *s) {
  for (int i = 0; i < p->g->n_work; i++)
    if (p->g->work[i].s == s) return &p->g->work[i];
  return NULL;
}

/* Products of the loop whose next tiles are copied meanwhile. */
static int count_next(const spmd *p, const ir_stmt *loop) {
  int n = 0;
  for (int i = 0; i < p->g->n_work; i++)
    n += p->g->work[i].loop == loop && p->g->work[i].prefetches;
  return n;
}

/* Steps of the loop whose tiles are in flight when it begins: the same number for all of its
 * products. */
static int steps_ahead(const spmd *p, const ir_stmt *loop) {
  int ahead = 0;
  for (int i = 0; i < p->g->n_work; i++)
    if (p->g->work[i].loop == loop && p->g->work[i].prefetches) ahead = p->g->work[i].slots - 1;
  return ahead;
}

static void first_tiles(const spmd *p, const ir_stmt *loop, int step) {
  const ir_atom at = {p->ends.first.var, p->ends.first.off + step};
  const ir_range some = {.lo = at, .hi = p->ends.end, .most = loop->loop.trip};
  for (int i = 0; i < p->g->n_work && !lower_failed(p->w); i++) {
    const cu_work *t = &p->g->work[i];
    if (t->loop != loop || !t->prefetches) continue;
    const piece first = {.k = t->s->range[t->roles.k],
                         .slot = lower_divmod(p->w, "into", IR_MOD, at, t->slots)};
    copy_all(p, t, &first, &at, p->skips && step ? &some : NULL);
  }
}

static void loop(spmd *p, ir_stmt *s) {
  lowering *w = p->w;
  const spmd outside = *p;
  const lower_mark mark = {w->into, w->n_lets};
  const int ahead = steps_ahead(p, s);
  p->skips = !p->loop && cu_may_skip(p->g, s);
  p->loop = s, p->body = &s->body;
  p->ends = (cu_ends){.first = ir_number(0), .end = ir_number(s->loop.trip)};
  if (p->skips) cu_skip_begin(w, s, &p->ends);
  for (int step = 0; step < ahead; step++)
    first_tiles(p, s, step);
  ir_stmt *again = cu_copy_with_ranges(w, s, NULL);
  if (!again) return;
  again->body = (ir_body){0, NULL};
  lower_open(w, &again->body);
  int lets = 0;
  while (lets < s->body.n && s->body.s[lets]->kind == IR_LET)
    cu_copy_with_ranges(w, s->body.s[lets++], NULL);
  if (p->skips) cu_skip_step(p->g, w, s, &p->ends);
  if (p->g->keys == s) set_keys(p);
  statements(p, s->body.s + lets, s->body.n - lets);
  lower_close(w, mark);
  if (p->skips) cu_skip_steps(p->g, w, s, again, &p->ends);
  *p = outside;
  if (ahead && p->loop) barrier(w);
}

static void points(const spmd *p, const ir_stmt *s) {
  const lower_mark all = open_rows(p);
  ir_stmt *again = cu_copy_with_ranges(p->w, s, warp_ranges(p, s));
  if (again) again->stack = warp_stack(p, again);
  if (again && s->kind == IR_SAVE && p->g->groups) {
    cu_note *note = cu_edit(p->w->p, again);
    if (note) note->by_boxes = cu_leaves_by_boxes(p->g, p->outside, s), note->row = p->g->m.lo;
  }
  lower_close(p->w, all);
}

/* The product of which the loops from this one on are steps; NULL: none. */
static const cu_work *stepped_by(const spmd *p, const ir_stmt *loop) {
  const cu_work *t = NULL;
  for (int i = 0; i < p->g->n_work; i++)
    if (p->g->work[i].steps == loop && has_moving(&p->g->work[i])) t = &p->g->work[i];
  return t;
}

/* How many products stand beside each other from this one on. */
static int count_beside(const spmd *p, const cu_work *t) {
  int n = 1;
  while (t + n < p->g->work + p->g->n_work && t[n].shares_rows)
    n++;
  return n;
}

static void statements(spmd *p, ir_stmt *const *s, int n) {
  for (int i = 0; i < n && !lower_failed(p->w); i++) {
    const cu_work *t = work_of(p, s[i]), *steps = s[i]->kind == IR_FOR ? stepped_by(p, s[i]) : NULL;
    const int beside = t ? count_beside(p, t) : 1;
    if (steps)
      multiply_steps(p, steps);
    else if (s[i]->kind == IR_FOR)
      loop(p, s[i]);
    else if (t && p->g->groups)
      multiply_from_ring(p, t, beside), i += beside - 1;
    else if (t && t->trip > 1)
      multiply_pieces(p, t, beside), i += beside - 1;
    else if (t)
      multiply_whole(p, t, count_next(p, p->loop));
    else if (ir_facts_of(s[i])->points)
      points(p, s[i]);
    else
      cu_copy_with_ranges(p->w, s[i], NULL);
  }
}

/* Results of the region are fragments: a warp's rows, with all columns or the warp's. */
static void set_fragments(const spmd *p) {
  for (int i = 0; i < p->g->n_buffers; i++) {
    ir_buffer *b = &p->w->p->buffers[i];
    if (!p->g->is_fragment[i]) continue;
    b->space = CU_FRAGMENT;
    cu_layout layout = *cu_layout_of(b);
    const int rows = layout.rows, columns = layout.columns;
    if (layout.stack)
      layout.stack = cu_stack_of(p->g, layout.stack->axis, p->g->rows, ir_number(0));
    else
      b->base[rows] = p->m.lo, b->extent[rows] = p->g->rows;
    cu_set_layout(p->w->p, b, layout);
    if (columns >= 0 && p->g->dim_n >= 0)
      b->base[columns] = p->n.lo, b->extent[columns] = p->g->columns;
    if (p->g->keys && columns >= 0 && ir_same(b->base[columns], cu_keys_of(p->g)->lo))
      b->base[columns] = p->keys.lo, b->extent[columns] = p->g->keys_each;
    if (columns >= 0) b->extent[columns] = cu_sides_up(b->extent[columns]);
    b->words = 1;
    for (int r = 0; r < b->rank; r++)
      b->words *= b->extent[r];
  }
}

/* Lasting tiles are in the first group. */
static void copy_lasting_tiles(const spmd *p) {
  ir_stmt *last = NULL;
  for (int i = 0; i < p->g->n_work && !lower_failed(p->w); i++) {
    const int before = p->w->into->n;
    copy_lasting(p, &p->g->work[i]);
    if (p->w->into->n > before) last = p->w->into->s[p->w->into->n - 1];
  }
  if (!last) return;
  last->copy.ends = true;
  wait_for(p->w, p->g->groups ? CU_BOXES : CU_PIECES, 0);
}

void cu_region_make(lowering *w, cu_region *g) {
  const lower_mark outside = {w->into, w->n_lets};
  lower_mark mark;
  spmd p = {.w = w, .g = g, .outside = w->into};
  p.warp = cu_open_for(w, IR_WARP, g->dim_m, g->warps, &mark);
  const ir_atom of_m = g->keys           ? ir_number(0)
                       : g->warps_n == 1 ? p.warp
                                         : lower_divmod(w, "rows", IR_DIV, p.warp, g->warps_n);
  p.m = lower_split(w, g->stacked ? "row" : w->p->dim_id[g->dim_m], g->m, of_m, g->rows,
                    g->keys ? 1 : g->warps / g->warps_n);
  if (g->keys) {
    const ir_atom first = {lower_var(w, "keys_"), 0};
    p.keys = (ir_range){.lo = first,
                        .hi = {first.var, g->keys_each},
                        .most = g->keys_each,
                        .never_empty = true,
                        .exact = true};
    share_parts(&p);
  }
  if (g->dim_n >= 0) {
    const ir_atom of_n =
        g->warps_n == 1 ? ir_number(0) : lower_divmod(w, "columns", IR_MOD, p.warp, g->warps_n);
    p.n = lower_split(w, w->p->dim_id[g->dim_n], g->n_all, of_n, g->columns, g->warps_n);
  }
  for (int i = 0; i < g->n_work && !lower_failed(w); i++)
    for (int k = 0; k < 2; k++)
      if (g->work[i].side[k].tile) open_tile(&p, &g->work[i], k, &g->work[i].side[k]);
  if (!lower_failed(w)) set_fragments(&p);
  if (!lower_failed(w)) copy_lasting_tiles(&p);
  if (!lower_failed(w))
    for (int i = 0; i < g->n_work; i++)
      for (int k = 0; k < 2; k++)
        if (g->work[i].side[k].lasting)
          set_tile(&p, &g->work[i], k, &(piece){.k = g->work[i].s->range[g->work[i].roles.k]});
  if (!lower_failed(w)) statements(&p, g->s, g->n);
  lower_close(w, outside);
}
