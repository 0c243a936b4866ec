/* Sums whose rounding does not grow with their length.  What a nest adds to its sums, it adds one
 * after the other; after so many additions, what has been summed moves on to a buffer that carries
 * it, and the sums restart at 0.  A carry moves on to the next one in the same way, and in the end
 * all are added up.  Nests and readers of the sums are not affected.  Where a nest alone
 * would sum more, a loop around it takes its terms in parts. */
#include <string.h>

#include "codegen/lower/lower.h"

enum { LEVELS = 3 }; /* of carries, the most */

static const tf_op *op_at(const lowering *w, int o) { return &w->plan->wl->ops[o]; }

/* Whether op o sums floats for a target that has limits. */
static bool is_summed(const lowering *w, int o) {
  return w->target->terms && op_at(w, o)->reduce == TF_REDUCE_ADD && !w->keeps[op_at(w, o)->out];
}

/* Whether sums of op o are corrected and divided in a scope that streams them. */
static bool is_streamed(const lowering *w, int o) {
  return w->plan->stream_scope[o] >= 0 && op_at(w, o)->n_dims > op_at(w, o)->n_out_dims;
}

/* Whether steps of loop l, around op o, add to the same sums: it splits what the op
 * reduces, or what the scope streams past it. */
static bool adds_on(const lowering *w, int o, int l) {
  const tf_op *op = op_at(w, o);
  if (lower_reduces(w, o, l)) return true;
  return is_streamed(w, o) && w->run.trip[l] > 1 &&
         w->plan->loops[l].dim == op->dims[op->n_out_dims] &&
         tf_plan_above(w->plan, w->plan->loops[l].node, w->plan->stream_scope[o]);
}

/* ---- where sums begin ----------------------------------------------------------------------- */

static void mark(lowering *w, int n, int o) {
  lower_carry *c = &w->carry[o];
  const tf_op *op = op_at(w, o);
  *c = (lower_carry){.marked = true,
                     .streams =
                         is_streamed(w, o) && tf_plan_above(w->plan, n, w->plan->stream_scope[o]),
                     .space = lower_space(w),
                     .into = w->into,
                     .position = w->into->n};
  c->range = TF_ARRAY(w->p->arena, ir_range, (size_t)op->n_out_dims + 1);
  for (int r = 0; r < op->n_out_dims && !lower_failed(w); r++)
    c->range[r] = *lower_range(w, o, op->dims[r]);
}

lower_sums lower_open_carries(lowering *w, int n, int k, int alone) {
  lower_sums s = {0, NULL};
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!is_summed(w, o) || w->carry[o].marked || !tf_plan_above(p, n, p->tree->op_node[o]))
      continue;
    if (alone >= 0 ? alone != o : !adds_on(w, o, p->first_loop[n] + k)) continue;
    if (!s.ops) s.ops = TF_ARRAY(w->p->arena, int, (size_t)p->wl->n_ops);
    if (lower_failed(w)) return s;
    s.ops[s.n++] = o;
    mark(w, n, o);
  }
  return s;
}

/* ---- what moves on -------------------------------------------------------------------------- */

/* `to` takes in `from`, which is 0 then if it is cleared; from -1: `to` is 0. */
static ir_stmt *take_in(lowering *w, int o, int from, int to, bool clears) {
  ir_stmt *s = lower_over_output(w, IR_CARRY, o);
  if (s) s->carry.from = from, s->carry.to = to, s->carry.clears = clears;
  return s;
}

/* The next one: op o has no more than LEVELS. */
static int carrier(lowering *w, int o) {
  static const char *const names[LEVELS] = {"carry", "carry2", "carry3"};
  const tf_op *op = op_at(w, o);
  const lower_carry *c = &w->carry[o];
  const tf_tensor *t = &w->plan->wl->tensors[op->out];
  const int i = lower_buffer(w, op->out, lower_derived(w, t->name, names[c->n]), false,
                             w->plan->arch->n_memories - 1);
  if (lower_failed(w)) return i;
  ir_buffer *b = &w->p->buffers[i];
  b->id = lower_derived(w, w->p->tensor_id[op->out], names[c->n]);
  b->role = IR_BOX, b->type = IR_F32, b->space = c->space, b->words = 1;
  for (int r = 0; r < b->rank; r++) {
    b->extent[r] = c->range[r].most;
    b->base[r] = c->range[r].lo;
    b->words *= b->extent[r];
  }
  return i;
}

static int64_t times(int64_t a, int64_t b) {
  return __builtin_mul_overflow(a, b, &a) ? INT64_MAX / 4 : a;
}

/* The number of the visit to the sums of op o, from the loops around it that reduce, and how many
 * there are; `inner`: of loops that its nest alone has, `n_inner` steps in all. */
static ir_atom visit(lowering *w, int o, ir_atom inner, int64_t n_inner, int64_t *all) {
  ir_atom at = inner;
  *all = n_inner;
  for (int l = w->plan->n_loops - 1; l >= 0; l--) {
    if (!tf_plan_above(w->plan, w->plan->loops[l].node, w->plan->tree->op_node[o]) ||
        !adds_on(w, o, l) || w->var_of[l] < 0)
      continue;
    at = lower_sum(w, "visit", at, *all, (ir_atom){w->var_of[l], 0});
    *all = times(*all, w->run.trip[l]);
  }
  return at;
}

/* After every so many visits, what buffer `from` holds moves on to `to`. */
static void move_after(lowering *w, int o, ir_atom at, int64_t every, int from, int to) {
  if (every == 1) {
    take_in(w, o, from, to, true);
    return;
  }
  const ir_atom left = lower_divmod(w, "visit", IR_MOD, at, every);
  ir_stmt *s = lower_add(w, IR_IF);
  if (!s) return;
  s->guard.n = 1;
  s->guard.range = TF_ARRAY(w->p->arena, ir_range, 1);
  if (lower_failed(w)) return;
  *s->guard.range =
      (ir_range){.lo = ir_number(every - 1), .hi = {left.var, left.off + 1}, .most = 1};
  const lower_mark mark = lower_open(w, &s->body);
  take_in(w, o, from, to, true);
  lower_close(w, mark);
}

static void carry_on(lowering *w, int o, const lower_terms *t, ir_atom inner, int64_t n_inner) {
  lower_carry *c = &w->carry[o];
  int64_t all, every = t->limit / (t->adds > 0 ? t->adds : 1);
  int from = w->p->buffer_of[op_at(w, o)->out];
  if (every < 1) every = 1;
  const ir_atom at = visit(w, o, inner, n_inner, &all);
  for (; all > every && c->n < LEVELS && !lower_failed(w); every = times(every, t->next)) {
    const int to = carrier(w, o);
    c->buffer[c->n++] = to;
    move_after(w, o, at, every, from, to);
    from = to;
  }
}

/* ---- nests in parts ------------------------------------------------------------------------- */

/* The steps that take a range in parts of at most `most`, all of them equal if up to twice as many
 * are. */
static int64_t steps_of(const ir_range *r, int64_t most) {
  const int64_t least = (r->most + most - 1) / most;
  for (int64_t n = least; r->exact && n <= 2 * least; n++)
    if (r->most % n == 0) return n;
  return least;
}

/* Opens a loop that takes dim k of op o in parts of at most `most`; false: it is short, or streamed
 * behind a mask, whose first step does not follow from the lower end of the range. */
static bool open_parts(lowering *w, int o, int k, int64_t most, ir_atom *digit, int64_t *trip) {
  const int dim = op_at(w, o)->dims[k];
  ir_range *r = lower_range(w, o, dim);
  if (r->most <= most || lower_mask_streams(w, o, dim)) return false;
  *trip = steps_of(r, most);
  const int64_t step = (r->most + *trip - 1) / *trip;
  ir_stmt *s = lower_add(w, IR_FOR);
  if (!s) return false;
  s->loop.dim = dim;
  s->loop.var = lower_var(w, "p_%s_", w->p->dim_id[dim]);
  s->loop.trip = *trip;
  s->loop.map = IR_SERIAL;
  lower_span_loop(w, s->loop.var, *trip);
  lower_open(w, &s->body);
  *digit = (ir_atom){s->loop.var, 0};
  *r = lower_split(w, w->p->dim_id[dim], *r, *digit, step, *trip);
  if (r->never_empty) return true;
  ir_stmt *may = lower_add(w, IR_IF);
  if (!may) return false;
  may->guard.n = 1;
  may->guard.range = TF_ARRAY(w->p->arena, ir_range, 1);
  if (!lower_failed(w)) *may->guard.range = *r;
  lower_open(w, &may->body);
  r->never_empty = true;
  return true;
}

static int64_t terms_of(lowering *w, int o) {
  const tf_op *op = op_at(w, o);
  int64_t n = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    n = times(n, lower_range(w, o, op->dims[k])->most);
  return n;
}

/* The state that lowering a nest adds to, to be restored. */
typedef struct {
  lower_mark mark;
  int position, buffers, notes;
} checkpoint;

static checkpoint take_checkpoint(const lowering *w) {
  return (checkpoint){{w->into, w->n_lets}, w->into->n, w->p->n_buffers, w->p->n_notes};
}

/* As if it had not been lowered. */
static void restore(lowering *w, checkpoint b) {
  lower_close(w, b.mark);
  w->into->n = b.position, w->p->n_buffers = b.buffers, w->p->n_notes = b.notes;
}

/* The nest of op o, in parts of no more terms than `most`: outer dims first.  `most` of a nest
 * that, being smaller, is of another kind, and may have no more terms than that; 0: all is well. */
static int64_t in_parts(lowering *w, int n, int o, int64_t most) {
  const tf_op *op = op_at(w, o);
  const checkpoint begin = take_checkpoint(w);
  ir_range *whole = TF_ARRAY(w->p->arena, ir_range, (size_t)op->n_dims + 1);
  ir_atom inner = ir_number(0), digit;
  int64_t all = 1, trip;
  if (lower_failed(w)) return 0;
  for (int k = 0; k < op->n_dims; k++)
    whole[k] = *lower_range(w, o, op->dims[k]);
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int64_t terms = terms_of(w, o), each = terms / lower_range(w, o, op->dims[k])->most;
    if (terms <= most || !open_parts(w, o, k, most > each ? most / each : 1, &digit, &trip))
      continue;
    inner = lower_sum(w, "part", digit, trip, inner), all = times(all, trip);
  }
  lower_terms t = {0};
  const ir_stmt *nest = lower_nest(w, n);
  if (nest) w->target->terms(w, nest, &t);
  const bool more = nest && t.adds && terms_of(w, o) > t.most && t.most < most;
  if (more)
    restore(w, begin);
  else if (t.adds)
    carry_on(w, o, &t, inner, all);
  lower_close(w, begin.mark);
  for (int k = 0; k < op->n_dims; k++)
    *lower_range(w, o, op->dims[k]) = whole[k];
  return more ? t.most : 0;
}

void lower_carried_nest(lowering *w, int n) {
  const int o = w->plan->tree->nodes[n].op;
  const checkpoint begin = take_checkpoint(w);
  lower_terms t = {0};
  const ir_stmt *nest = lower_nest(w, n);
  if (!nest || !is_summed(w, o)) return;
  w->target->terms(w, nest, &t);
  if (!t.adds) return;
  if (terms_of(w, o) <= t.most) {
    carry_on(w, o, &t, ir_number(0), 1);
    return;
  }
  restore(w, begin);
  for (int64_t most = t.most; most > 0 && !lower_failed(w);)
    most = in_parts(w, n, o, most);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void join(lowering *w, int o) {
  const lower_carry *c = &w->carry[o];
  for (int i = 0; i < c->n; i++)
    take_in(w, o, c->buffer[i], w->p->buffer_of[op_at(w, o)->out], false);
}

void lower_join_streamed(lowering *w, int o, ir_atom hi, int64_t end) {
  if (!w->carry[o].n || !w->carry[o].streams) return;
  ir_stmt *s = lower_add(w, IR_IF);
  if (!s) return;
  s->guard.n = 1;
  s->guard.range = TF_ARRAY(w->p->arena, ir_range, 1);
  if (lower_failed(w)) return;
  *s->guard.range = (ir_range){.lo = ir_number(end - 1), .hi = hi, .most = 1};
  const lower_mark mark = lower_open(w, &s->body);
  join(w, o);
  lower_close(w, mark);
}

/* The last statement of the body goes to where the sums of op o begin. */
static void to_begin(lowering *w, int o) {
  ir_body *b = w->carry[o].into;
  ir_stmt *const last = b->s[b->n - 1];
  const int at = w->carry[o].position++;
  memmove(b->s + at + 1, b->s + at, (size_t)(b->n - 1 - at) * sizeof(ir_stmt *));
  b->s[at] = last;
}

void lower_close_carries(lowering *w, lower_sums s) {
  for (int i = 0; i < s.n && !lower_failed(w); i++) {
    const int o = s.ops[i];
    lower_carry *c = &w->carry[o];
    for (int k = 0; k < c->n && !lower_failed(w); k++) {
      ir_stmt *zero = take_in(w, o, -1, c->buffer[k], false);
      if (!zero) return;
      zero->range = c->range;
      to_begin(w, o);
    }
    if (c->correct && c->streams)
      c->correct->correct.n_carries = c->n, c->correct->correct.carries = c->buffer;
    if (!c->streams) join(w, o);
  }
}
