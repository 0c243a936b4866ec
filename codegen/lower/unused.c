/* Dead code elimination: removes values that are never used. */
#include "codegen/lower/lower.h"

typedef struct {
  const ir_stmt **let; /* [var] the let that sets it; NULL: set by a loop, IR_KEEP or IR_STAGE */
  bool *used;          /* [var] */
} usage;

static void use(usage *u, ir_atom a) {
  if (a.var < 0 || u->used[a.var]) return;
  u->used[a.var] = true;
  const ir_stmt *let = u->let[a.var];
  for (int i = 0; let && i < let->let.expr.n; i++)
    use(u, let->let.expr.arg[i]);
}

static void use_ranges(usage *u, const ir_range *r, int n) {
  for (int i = 0; r && i < n; i++)
    use(u, r[i].lo), use(u, r[i].hi);
}

static void find_lets(usage *u, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind == IR_LET) u->let[b->s[i]->let.var] = b->s[i];
    find_lets(u, &b->s[i]->body);
  }
}

static void use_noted(void *ctx, ir_atom a) { use(ctx, a); }

static void use_nest(usage *u, const ir_stmt *s) {
  for (int i = 0; i < s->nest.n_resets; i++)
    use(u, s->nest.resets[i]);
}

static void use_body(usage *u, const ir_program *p, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    use_ranges(u, s->range, ir_n_ranges(p, s));
    if (s->stack) use(u, s->stack->first);
    if (s->note && p->platform->notes && p->platform->notes->uses)
      p->platform->notes->uses(p, s, use_noted, u);
    switch (s->kind) {
    case IR_IF: use_ranges(u, s->guard.range, s->guard.n); break;
    case IR_NEST: use_nest(u, s); break;
    case IR_FORGET: use(u, s->forget.slot); break;
    case IR_CORRECT: use(u, s->correct.resets); break;
    case IR_DIVIDE: use(u, s->divide.last); break;
    case IR_STAGE:
      use(u, s->stage.last);
      use_ranges(u, s->stage.ahead, ir_n_ranges(p, s));
      break;
    case IR_COPY:
      use(u, s->copy.slot);
      if (s->copy.parts > 1) use(u, s->copy.part);
      break;
    case IR_WAIT:
    case IR_BARRIER:
    case IR_LET:
    case IR_KEEP:
    case IR_FOR:
    case IR_TOGETHER:
    case IR_MERGE:
    case IR_CARRY:
    case IR_SAVE: break;
    }
    use_body(u, p, &s->body);
  }
}

static void drop(const usage *u, ir_body *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++) {
    drop(u, &b->s[i]->body);
    if (b->s[i]->kind != IR_LET || u->used[b->s[i]->let.var]) b->s[n++] = b->s[i];
  }
  b->n = n;
}

void lower_drop_unused(lowering *w) {
  ir_program *p = w->p;
  usage u = {TF_ARRAY(p->arena, const ir_stmt *, (size_t)p->n_vars + 1),
             TF_ARRAY(p->arena, bool, (size_t)p->n_vars + 1)};
  if (lower_failed(w)) return;
  find_lets(&u, &p->body);
  for (int i = 0; i < p->n_buffers; i++) {
    for (int r = 0; r < p->buffers[i].rank; r++)
      use(&u, p->buffers[i].base[r]);
    if (p->buffers[i].slots > 1) use(&u, p->buffers[i].slot);
  }
  use_body(&u, p, &p->body);
  drop(&u, &p->body);
}
