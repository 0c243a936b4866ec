/* What several files of lowering make: buffers, statements over outputs, names. */
#include <stdio.h>
#include <string.h>

#include "codegen/lower/lower.h"
#include "model/flow/online.h"

int lower_buffer(lowering *w, int z, const char *name, bool argument, int level) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  ir_program *p = w->p;
  size_t rank = (size_t)t->rank + 1;
  ir_buffer b = {.role = argument ? IR_ARGUMENT : IR_BOX,
                 .tensor = z,
                 .rank = t->rank,
                 .words = 1,
                 .level = level,
                 .name = name,
                 .id = p->tensor_id[z],
                 .shares = -1,
                 .slots = 1,
                 .slot = ir_number(0),
                 .type = lower_type(w, z, argument)};
  b.extent = TF_ARRAY(p->arena, int64_t, rank);
  b.base = TF_ARRAY(p->arena, ir_atom, rank);
  if (lower_failed(w) || !p->buffers) return 0;
  const ir_buffer *of = p->buffer_of[z] >= 0 ? &p->buffers[p->buffer_of[z]] : NULL;
  for (int r = 0; r < t->rank; r++) {
    b.extent[r] = of ? of->extent[r] : t->extent[r];
    b.base[r] = of ? of->base[r] : ir_number(t->lo[r]);
    b.words *= b.extent[r];
  }
  b.space = argument ? 0 : of ? of->space : 0;
  if (of && of->role == IR_LASTING) b.role = IR_LASTING;
  p->buffers[p->n_buffers] = b;
  return p->n_buffers++;
}

char *lower_derived(lowering *w, const char *name, const char *what) {
  const size_t size = strlen(name) + strlen(what) + 2;
  char *text = TF_ARRAY(w->p->arena, char, size);
  if (text) snprintf(text, size, "%s_%s", name, what);
  return text;
}

ir_stmt *lower_over_output(lowering *w, ir_kind kind, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  ir_stmt *s = lower_add(w, kind);
  if (!s) return NULL;
  s->op = o;
  s->range = TF_ARRAY(w->p->arena, ir_range, (size_t)op->n_out_dims + 1);
  if (lower_failed(w)) return NULL;
  for (int r = 0; r < op->n_out_dims; r++)
    s->range[r] = *lower_range(w, o, op->dims[r]);
  return s;
}

int lower_late_divisor(const lowering *w, int o) {
  const tf_online *s = w->plan->online;
  const tf_op *op = &w->plan->facts->wl->ops[o];
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (!s || !s->step[o].hands_on || s->step[o].number || root->what != TF_X_CALL ||
      root->call != TF_K_DIV)
    return -1;
  const tf_expr *of = &op->expr[root->arg[0]], *by = &op->expr[root->arg[1]];
  return of->what == TF_X_READ && by->what == TF_X_READ && s->step[o].read[by->ref] < 0 ? by->ref
                                                                                        : -1;
}
