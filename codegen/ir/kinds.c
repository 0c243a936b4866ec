/* Facts of the kinds of statements. */
#include "codegen/ir/ir.h"

const ir_facts *ir_facts_of(const ir_stmt *s) {
#define X(id, name, body, points, over) [IR_##id] = {name, body, points, IR_OVER_##over},
  static const ir_facts facts[] = {IR_KINDS(X)};
#undef X
  return &facts[s->kind];
}

int ir_n_ranges(const tf_workload *wl, const ir_stmt *s) {
  switch (ir_facts_of(s)->over) {
  case IR_OVER_NOTHING: return 0;
  case IR_OVER_BUFFER: return wl->tensors[s->tensor].rank;
  case IR_OVER_OUTPUT: return wl->ops[s->op].n_out_dims;
  case IR_OVER_DIMS: return wl->ops[s->op].n_dims;
  }
  return 0;
}
