/* The table of the kinds of statements. */
#include "codegen/ir/ir.h"

#include <assert.h>

#include "tileflow/tree.h"

const ir_facts *ir_facts_of(const ir_stmt *s) {
#define X(id, name, body, points, over) [IR_##id] = {name, body, points, IR_OVER_##over},
  static const ir_facts facts[] = {IR_KINDS(X)};
#undef X
  assert((size_t)s->kind < sizeof facts / sizeof *facts);
  return &facts[s->kind];
}

int ir_n_ranges(const ir_program *p, const ir_stmt *s) {
  const tf_workload *wl = p->tree->workload;
  switch (ir_facts_of(s)->over) {
  case IR_OVER_NOTHING: return 0;
  case IR_OVER_BUFFER: return p->buffers[s->kind == IR_COPY ? s->copy.to : s->stage.buffer].rank;
  case IR_OVER_OUTPUT: return wl->ops[s->op].n_out_dims;
  case IR_OVER_DIMS: return wl->ops[s->op].n_dims;
  }
  return 0;
}

int64_t ir_stack_rows(const ir_stack *t) {
  int64_t rows = 1;
  for (int i = 0; i < t->n; i++)
    rows *= t->length[i];
  return rows;
}

bool ir_is_stacked(const ir_stmt *s, int k) {
  bool is = false;
  for (int i = 0; s->stack && i < s->stack->n; i++)
    is |= s->stack->axis[i] == k;
  return is;
}

const ir_map_facts *ir_map_of(ir_map map) {
#define X(id, name, aside, meets, depth) [IR_##id] = {name, aside, meets, depth},
  static const ir_map_facts rows[] = {IR_MAPS(X)};
#undef X
  assert((size_t)map < sizeof rows / sizeof *rows);
  return &rows[map];
}

bool ir_is_parallel(const ir_stmt *s) {
  return s->kind == IR_FOR && ir_map_of(s->loop.map)->parallel;
}

bool ir_has_parallel(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = ir_is_parallel(b->s[i]) || ir_has_parallel(&b->s[i]->body);
  return any;
}

bool ir_has(const ir_body *b, ir_kind kind) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = b->s[i]->kind == kind || ir_has(&b->s[i]->body, kind);
  return any;
}

int ir_space_of(const ir_platform *p, ir_map of) {
  int i = 0;
  while (i < p->n_spaces && p->spaces[i].map != of)
    i++;
  return i < p->n_spaces ? i : -1;
}

static bool is_carried(const ir_stmt *s, int buffer) {
  bool any = false;
  for (int i = 0; i < s->correct.n_carries; i++)
    any |= s->correct.carries[i] == buffer;
  return any;
}

bool ir_names(const ir_stmt *s, int buffer) {
  switch (s->kind) {
  case IR_KEEP: return s->keep.buffer == buffer;
  case IR_FORGET: return s->forget.buffer == buffer;
  case IR_STAGE: return s->stage.buffer == buffer || s->stage.from == buffer;
  case IR_COPY: return s->copy.to == buffer || s->copy.from == buffer;
  case IR_SAVE: return s->save.from == buffer || s->save.to == buffer;
  case IR_CARRY: return s->carry.from == buffer || s->carry.to == buffer;
  case IR_CORRECT:
    return s->correct.before == buffer || s->correct.after == buffer || is_carried(s, buffer);
  case IR_DIVIDE: return s->divide.divisor == buffer;
  case IR_MERGE:
    return s->merge.from == buffer || s->merge.to == buffer || s->merge.before == buffer ||
           s->merge.after == buffer || s->merge.divisor == buffer;
  case IR_LET:
  case IR_WAIT:
  case IR_BARRIER:
  case IR_FOR:
  case IR_IF:
  case IR_TOGETHER:
  case IR_NEST: break;
  }
  return false;
}
