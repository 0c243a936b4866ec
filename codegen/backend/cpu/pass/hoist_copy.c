/* Hoists the copy of an intermediate's rows into a product's layout out of surrounding loops that
 * do not change the intermediate: a block of rows is copied once for all panels of columns. */
#include "codegen/backend/cpu/pass/loops.h"
#include "codegen/ir/machine.h"

/* The buffer that the statement writes; -1: none. */
static int written_by(const lowering *w, const ir_stmt *s) {
  switch (s->kind) {
  case IR_NEST:
  case IR_CORRECT:
  case IR_DIVIDE: return w->p->buffer_of[w->plan->wl->ops[s->op].out];
  case IR_KEEP: return s->keep.buffer;
  case IR_STAGE: return s->stage.buffer;
  case IR_COPY: return s->copy.to;
  case IR_SAVE: return s->save.to;
  case IR_CARRY: return s->carry.from >= 0 && s->carry.clears ? s->carry.from : s->carry.to;
  case IR_MERGE: return s->merge.to;
  case IR_FORGET:
  case IR_WAIT:
  case IR_BARRIER:
  case IR_LET:
  case IR_FOR:
  case IR_IF:
  case IR_TOGETHER: return -1;
  }
  return -1;
}

static bool writes(const lowering *w, const ir_body *b, int place) {
  for (int i = 0; i < b->n; i++) {
    const int to = written_by(w, b->s[i]);
    if ((to >= 0 && ir_place_of(w->p, to) == place) || writes(w, &b->s[i]->body, place))
      return true;
  }
  return false;
}

static void hoist_from_product(lower_loops_around *at, ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  lowering *w = at->w;
  if (p->kind != CPU_PAIRS || p->pairs.copy < 0 || p->pairs.keep_copy || cpu_of(s)->copied ||
      cpu_of(s)->producer || s->nest.from)
    return;
  const int place = ir_place_of(w->p, w->p->buffer_of[w->plan->wl->ops[s->op].reads[p->a].tensor]);
  int i = at->depth;
  while (i > 0 && !ir_is_parallel(at->loop[i - 1]) && !writes(w, &at->loop[i - 1]->body, place))
    i--;
  if (i == at->depth) return;
  cpu_product *once = TF_NEW(w->p->arena, cpu_product);
  cpu_note *note = cpu_edit(w->p, s);
  if (!once || !note) return;
  *once = *p;
  once->pairs.copy_in = at->loop[i];
  note->product = once;
}

void lower_hoist_copies(lowering *w) {
  lower_walk_loops(&(lower_loops_around){.w = w, .product = hoist_from_product});
}
