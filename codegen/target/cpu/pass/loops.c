/* Visits the statements with the loops around them. */
#include "codegen/target/cpu/pass/loops.h"

uint64_t low_hangs_on(const low_loops_around *at, ir_atom a) { return a.var < 0 ? 0 : at->moves[a.var]; }

uint64_t low_range_hangs_on(const low_loops_around *at, const ir_range *r) {
  return low_hangs_on(at, r->lo) | low_hangs_on(at, r->hi);
}

static void body(low_loops_around *at, const ir_body *b);

static void loop(low_loops_around *at, const ir_stmt *s) {
  if (at->depth == AROUND_MOST) return;
  at->moves[s->loop.var] = UINT64_C(1) << at->depth;
  at->loop[at->depth++] = s;
  body(at, &s->body);
  at->depth--;
}

static void let(low_loops_around *at, const ir_stmt *s) {
  at->moves[s->let.var] = 0;
  for (int i = 0; i < s->let.expr.n; i++)
    at->moves[s->let.var] |= low_hangs_on(at, s->let.expr.arg[i]);
}

static void body(low_loops_around *at, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      let(at, s);
    else if (s->kind == IR_FOR)
      loop(at, s);
    else if (s->kind == IR_IF || (s->kind == IR_TOGETHER && at->together))
      body(at, &s->body);
    else if (ir_product_of(s))
      at->product(at, s);
  }
}

void low_walk_loops(low_loops_around *at) {
  at->moves = TF_ARRAY(at->w->p->arena, uint64_t, (size_t)at->w->p->n_vars + 1);
  if (!low_failed(at->w)) body(at, &at->w->p->body);
}
