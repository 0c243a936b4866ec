#include "codegen/backend/cuda/note/note.h"

#include "codegen/ir/check.h"

const cu_note cu_no_note = {.note = {&cu_no_note}};

void cu_check(ir_checker *c, const ir_stmt *s) {
  if (cu_of(s)->boxed) ir_must_be_set(c, "save", cu_of(s)->row);
  if (cu_of(s)->skips) ir_must_be_set(c, "loop", cu_of(s)->row);
}

cu_note *cu_edit(const ir_program *p, ir_stmt *s) {
  cu_note *n = TF_NEW(p->arena, cu_note);
  if (!n) return NULL;
  *n = *cu_of(s);
  s->note = &n->note;
  return n;
}
