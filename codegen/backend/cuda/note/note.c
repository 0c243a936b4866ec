#include "codegen/backend/cuda/note/note.h"

#include "codegen/ir/check.h"

const cu_note cu_no_note = {.note = {&cu_no_note}};

void cu_check(ir_checker *c, const ir_stmt *s) {
  if (cu_of(s)->by_boxes) ir_must_be_set(c, "save", cu_of(s)->row);
  if (cu_of(s)->skips_steps) ir_must_be_set(c, "loop", cu_of(s)->row);
}

const cu_layout cu_no_layout = {.note = {&cu_no_layout}};

void cu_set_layout(const ir_program *p, ir_buffer *b, cu_layout layout) {
  cu_layout *l = TF_NEW(p->arena, cu_layout);
  if (!l) return;
  *l = layout;
  l->note.owner = &cu_no_layout;
  b->note = &l->note;
}

cu_note *cu_edit(const ir_program *p, ir_stmt *s) {
  cu_note *n = TF_NEW(p->arena, cu_note);
  if (!n) return NULL;
  *n = *cu_of(s);
  s->note = &n->note;
  return n;
}
