/* Facts of the kinds of statements. */
#include "codegen/ir/ir.h"

const ir_facts *ir_facts_of(const ir_stmt *s) {
#define X(id, name, body, points, over) [IR_##id] = {name, body, points, IR_OVER_##over},
  static const ir_facts facts[] = {IR_KINDS(X)};
#undef X
  return &facts[s->kind];
}

int ir_n_ranges(const ir_program *p, const ir_stmt *s) {
  const tf_workload *wl = p->tree->workload;
  switch (ir_facts_of(s)->over) {
  case IR_OVER_NOTHING: return 0;
  case IR_OVER_BUFFER: return p->buffers[s->stage.buffer].rank;
  case IR_OVER_OUTPUT: return wl->ops[s->op].n_out_dims;
  case IR_OVER_DIMS: return wl->ops[s->op].n_dims;
  }
  return 0;
}

/* A row of the table of what loops are mapped to. */
typedef struct {
  const char *name;
  bool aside;
} map_row;

static const map_row *row_of(ir_map map) {
#define X(id, name, aside) [IR_##id] = {name, aside},
  static const map_row rows[] = {IR_MAPS(X)};
#undef X
  return &rows[map];
}

const char *ir_map_name(ir_map map) { return row_of(map)->name; }
bool ir_is_aside(const ir_stmt *s) { return s->kind == IR_FOR && row_of(s->loop.map)->aside; }

bool ir_names(const ir_stmt *s, int buffer) {
  switch (s->kind) {
  case IR_KEEP: return s->keep.buffer == buffer;
  case IR_FORGET: return s->forget.buffer == buffer;
  case IR_STAGE: return s->stage.buffer == buffer || s->stage.from == buffer;
  case IR_SAVE: return s->save.from == buffer || s->save.to == buffer;
  case IR_CORRECT: return s->correct.before == buffer || s->correct.after == buffer;
  case IR_DIVIDE: return s->divide.by == buffer;
  case IR_LET:
  case IR_FOR:
  case IR_IF:
  case IR_TOGETHER:
  case IR_NEST: break;
  }
  return false;
}
