/* Visits the statements with the loops around them. */
#include "codegen/backend/cpu/pass/loops.h"

uint64_t lower_depends_on(const uint64_t *moves, ir_atom a) { return a.var < 0 ? 0 : moves[a.var]; }

uint64_t lower_range_depends_on(const uint64_t *moves, const ir_range *r) {
  return lower_depends_on(moves, r->lo) | lower_depends_on(moves, r->hi);
}

void lower_let_moves(uint64_t *moves, const ir_stmt *let) {
  moves[let->let.var] = 0;
  for (int i = 0; i < let->let.expr.n; i++)
    moves[let->let.var] |= lower_depends_on(moves, let->let.expr.arg[i]);
}

static void body(lower_loops_around *at, const ir_body *b);

static void loop(lower_loops_around *at, const ir_stmt *s) {
  if (at->depth == AROUND_MOST) return;
  at->moves[s->loop.var] = UINT64_C(1) << at->depth;
  at->loop[at->depth++] = s;
  body(at, &s->body);
  at->depth--;
}

static void body(lower_loops_around *at, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      lower_let_moves(at->moves, s);
    else if (s->kind == IR_FOR)
      loop(at, s);
    else if (s->kind == IR_IF || (s->kind == IR_TOGETHER && at->together))
      body(at, &s->body);
    else if (cpu_product_of(s))
      at->product(at, s);
  }
}

void lower_walk_loops(lower_loops_around *at) {
  at->moves = TF_ARRAY(at->w->p->arena, uint64_t, (size_t)at->w->p->n_vars + 1);
  if (!lower_failed(at->w)) body(at, &at->w->p->body);
}
