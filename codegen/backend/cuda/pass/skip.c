/* Skips steps of a loop over keys in which a mask leaves nothing. The program keeps all steps: the
 * printer for warpgroups finds out which run; loops of other regions have variables for the first
 * step and the end of those that run, on which the step's tiles and the tests for the first and the
 * last step depend. */
#include "codegen/backend/cuda/pass/region.h"

static const tf_op *op_of(const ir_program *p, const ir_stmt *s) {
  return &p->tree->workload->ops[s->op];
}

/* Whether the rows of the statement's dim q are the warps' rows, equally many for each. */
static bool has_rows(const ir_program *p, const ir_stmt *warps, const ir_stmt *s, int q) {
  const ir_range *rows = &s->range[lower_find_dim(op_of(p, s), q)];
  bool has = false;
  for (int i = 0; i < warps->body.n; i++) {
    const ir_stmt *let = warps->body.s[i];
    if (let->kind != IR_LET || let->let.var != rows->lo.var || rows->lo.off != 0) continue;
    const ir_expr *e = &let->let.expr;
    for (int k = 0; e->fn == IR_SUM && k < e->n; k++)
      has |= e->arg[k].var == warps->loop.var && e->coef[k] == rows->most;
  }
  return has;
}

/* The statement that masks a loop's scores, if steps in which it leaves none have no other effect;
 * else NULL. */
static const ir_stmt *mask_in(const ir_program *p, const ir_stmt *loop, tf_mask *m) {
  if (!tf_mask_find(p->tree->workload, p->arena, m) || m->l != loop->loop.dim) return NULL;
  const ir_stmt *mask = NULL;
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (s->kind == IR_NEST && !m->constant_outside[s->op] && !m->fully_masked[s->op]) return NULL;
    if (s->kind == IR_NEST && s->op == m->op) mask = s;
  }
  const bool has = mask && lower_find_dim(op_of(p, mask), m->q) >= 0 &&
                   lower_find_dim(op_of(p, mask), m->l) >= 0;
  return has ? mask : NULL;
}

const ir_stmt *cu_mask_of(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop,
                          tf_mask *m) {
  const ir_stmt *mask = mask_in(p, loop, m);
  return mask && has_rows(p, warps, mask, m->q) ? mask : NULL;
}

cu_left cu_steps_left(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop) {
  tf_mask m;
  const ir_stmt *mask = cu_mask_of(p, warps, loop, &m);
  if (!mask) return (cu_left){1, 1, 1};
  const int64_t keys = mask->range[lower_find_dim(op_of(p, mask), m.l)].most,
                q = p->tree->workload->dims[m.q].extent;
  const int64_t each = warps->loop.trip * mask->range[lower_find_dim(op_of(p, mask), m.q)].most;
  int64_t left = 0, most = 1, cut = 0, blocks = 0;
  for (int64_t row = 0; row < q; row += each) {
    const int64_t rows = q - row < each ? q - row : each;
    int64_t steps = 0;
    for (int64_t step = 0; step < loop->loop.trip; step++) {
      const int64_t pairs = tf_mask_pairs(&m, row, rows, step * keys, keys);
      steps += pairs != 0;
      cut += pairs != 0 && pairs != rows * keys;
    }
    left += steps ? steps : 1;
    most = steps > most ? steps : most;
    blocks++;
  }
  const double trip = (double)loop->loop.trip;
  return (cu_left){(double)left / (double)blocks / trip, (double)most / trip,
                   left ? (double)cut / (double)left : 0};
}

/* ---- regions with mma.sync ------------------------------------------------------------------ */

/* How much a value changes in a step of the loop: it is the step's number, or a multiple of it; 0:
 * it is neither. */
static int64_t stride_of(const ir_stmt *loop, int var) {
  if (var == loop->loop.var) return 1;
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    const ir_expr *e = &s->let.expr;
    if (s->kind == IR_LET && s->let.var == var)
      return e->fn == IR_SUM && e->n == 1 && e->coef[0] > 0 && e->arg[0].var == loop->loop.var &&
                     e->arg[0].off == 0
                 ? e->coef[0]
                 : 0;
  }
  return 0;
}

static bool is_first(const ir_stmt *loop, ir_atom a) {
  return a.off == 0 && stride_of(loop, a.var) > 0;
}

/* Whether the value depends on the loop's step only. */
static bool is_of_step(const ir_stmt *loop, ir_atom a) {
  if (a.var < 0 || a.var == loop->loop.var) return true;
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (s->kind != IR_LET || s->let.var != a.var) continue;
    bool ok = s->let.expr.fn != IR_PICK && s->let.expr.fn != IR_SEEN;
    for (int k = 0; k < s->let.expr.n && ok; k++)
      ok = is_of_step(loop, s->let.expr.arg[k]);
    return ok;
  }
  return false;
}

/* Whether the values that are zero together in the loop's first step, or (`last`) its last, are so
 * in no other: steps are counted, as a value may be the end of a ragged range, or of several
 * loops. */
static bool are_zero_in(const ir_stmt *loop, const ir_atom *a, int n, bool last) {
  enum { MOST = 512 };
  bool ok = loop->loop.trip <= MOST;
  for (int i = 0; i < n && ok; i++)
    ok = is_of_step(loop, a[i]);
  for (int64_t step = 0; step < loop->loop.trip && ok; step++) {
    cu_values v = {.n = 0};
    bool zero = true;
    ok = cu_set(&v, loop->loop.var, step);
    for (int i = 0; i < loop->body.n && ok; i++)
      if (loop->body.s[i]->kind == IR_LET &&
          is_of_step(loop, (ir_atom){loop->body.s[i]->let.var, 0}))
        ok = cu_let(&v, loop->body.s[i]);
    for (int i = 0; i < n; i++)
      zero &= cu_value(&v, a[i]) == 0;
    ok = ok && zero == (step == (last ? loop->loop.trip - 1 : 0));
  }
  return ok;
}

/* Whether the division's end is reached in the last step alone. */
static bool is_last(const ir_stmt *loop, const ir_stmt *s) {
  const int64_t by = stride_of(loop, s->divide.last.var);
  const ir_atom left = {s->divide.last.var, s->divide.last.off - s->divide.end};
  return by > 0 ? by * (loop->loop.trip - 1) + left.off == 0 : are_zero_in(loop, &left, 1, true);
}

/* Whether all that a statement knows of other steps is which is the first and which the last. */
static bool tests_ends_only(const ir_stmt *loop, const ir_stmt *s) {
  bool ok = s->kind != IR_FOR && s->kind != IR_IF && (s->kind != IR_NEST || s->nest.n_resets <= 1);
  for (int i = 0; s->kind == IR_NEST && i < s->nest.n_resets; i++)
    ok = ok && is_first(loop, s->nest.resets[i]);
  if (s->kind == IR_CORRECT) ok = is_first(loop, s->correct.resets);
  if (s->kind == IR_DIVIDE) ok = s->divide.last.var < 0 || is_last(loop, s);
  return ok;
}

bool cu_may_skip(const cu_region *g, const ir_stmt *loop) {
  tf_mask m;
  if (g->groups || g->warps_m != g->warps || loop->loop.trip < 2) return false;
  const ir_stmt *mask = mask_in(g->p, loop, &m);
  bool ok = mask && m.q == g->dim_m;
  if (!ok) return false;
  const ir_range *rows = &mask->range[lower_find_dim(op_of(g->p, mask), m.q)];
  ok = ir_same(rows->lo, g->m.lo) && ir_same(rows->hi, g->m.hi) &&
       is_first(loop, mask->range[lower_find_dim(op_of(g->p, mask), m.l)].lo);
  for (int i = 0; i < loop->body.n && ok; i++)
    ok = tests_ends_only(loop, loop->body.s[i]);
  return ok;
}

/* A variable with this value, as far as the program knows. */
static ir_atom variable(lowering *w, const char *name, int64_t value) {
  const int var = lower_var(w, "%s", name);
  if (!lower_failed(w)) cu_set_var(w, var, ir_number(value));
  return (ir_atom){var, 0};
}

void cu_skip_begin(lowering *w, const ir_stmt *loop, cu_ends *ends) {
  ends->first = variable(w, "first_", 0);
  ends->end = variable(w, "end_", loop->loop.trip);
}

void cu_skip_step(const cu_region *g, lowering *w, const ir_stmt *loop, cu_ends *ends) {
  tf_mask m;
  const ir_stmt *mask = mask_in(g->p, loop, &m);
  if (!mask) return;
  const ir_atom keys = mask->range[lower_find_dim(op_of(g->p, mask), m.l)].lo;
  const ir_atom from = lower_sum(w, "from", ir_number(0), stride_of(loop, keys.var), ends->first);
  ends->since = lower_sum(w, "since", keys, -1, from);
  ends->left = lower_sum(w, "left", ends->end, -1, (ir_atom){loop->loop.var, 0});
}

/* Makes the loop's statements test the first step (0: keys since) and the last one (1: steps left)
 * by these variables instead of keys. */
static void test_ends(lowering *w, const ir_stmt *loop, ir_body *b, ir_atom since, ir_atom left) {
  for (int i = 0; i < b->n && !lower_failed(w); i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_NEST && s->nest.n_resets == 1 && is_first(loop, s->nest.resets[0])) {
      ir_atom *fresh = TF_ARRAY(w->p->arena, ir_atom, 1);
      if (fresh) *fresh = since, s->nest.resets = fresh;
    }
    if (s->kind == IR_CORRECT) s->correct.resets = since;
    if (s->kind == IR_DIVIDE && s->divide.last.var >= 0) s->divide.last = left, s->divide.end = 1;
    test_ends(w, loop, &s->body, since, left);
  }
}

void cu_skip_steps(const cu_region *g, lowering *w, const ir_stmt *loop, ir_stmt *again,
                   const cu_ends *ends) {
  cu_note *note = lower_failed(w) ? NULL : cu_edit(w->p, again);
  if (!note) return;
  note->skips_steps = true, note->row = g->m.lo, note->rows = g->m.most;
  note->first = ends->first.var, note->end = ends->end.var, note->since = ends->since.var;
  test_ends(w, loop, &again->body, ends->since, ends->left);
}

bool cu_begins_before(const ir_program *p, const ir_stmt *loop, const ir_stmt *s) {
  if (!loop || loop->loop.map != IR_SERIAL || loop->loop.trip < 2 || s->kind != IR_NEST ||
      !cu_of(s)->fragments || cu_is_wmma(p) || !s->nest.n_resets)
    return false;
  const ir_atom fresh = s->nest.resets[0];
  if (s->nest.n_resets == 1 && is_first(loop, fresh)) return true;
  if (cu_of(loop)->skips_steps)
    return s->nest.n_resets == 1 && fresh.off == 0 && fresh.var == cu_of(loop)->since;
  return are_zero_in(loop, s->nest.resets, s->nest.n_resets, false);
}
