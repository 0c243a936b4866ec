/* Instructions begun: transfers, and the dims that they go over. */
#include "codegen/backend/npu/pass/pass.h"

void npu_too_long(npu_build *b) {
  npu_stop(b, (tf_loc){0},
           "the program would be too long: more than %d instructions; larger tiles nearest to the "
           "units make fewer",
           NPU_LONGEST);
}

static bool joins(const npu_dim *outer, const npu_dim *inner) {
  bool same =
      outer->high == inner->count * inner->high && outer->wide == inner->count * inner->wide;
  for (int k = 0; k < 4; k++)
    same = same && outer->step[k] == inner->count * inner->step[k];
  return same;
}

void npu_dim_add(npu_build *b, npu_instr *i, npu_dim d) {
  npu_dim *last = i->n_dims ? &i->dim[i->n_dims - 1] : NULL;
  if (d.count == 1) return;
  if (last && joins(last, &d)) {
    d.count *= last->count;
    *last = d;
    return;
  }
  if (i->n_dims == NPU_DIMS) {
    npu_stop(b, (tf_loc){0}, "a transfer or operation of more than %d dims", NPU_DIMS);
    return;
  }
  i->dim[i->n_dims++] = d;
}

bool npu_aligned(const npu_build *b, const npu_operand *o) {
  return o->memory == 0 || o->at % b->t.machine.memory[o->memory].align == 0;
}

npu_instr *npu_copy(npu_build *b, npu_operand to, npu_operand from, int tensor) {
  if (b->dry || !b->ok) return NULL;
  const int via = npu_path_of(&b->t.machine, from.memory, to.memory);
  npu_instr *i = b->steps-- > 0 ? npu_add(b->out, NPU_COPY) : NULL;
  if (via < 0)
    npu_stop(b, (tf_loc){0}, "no path from '%s' to '%s', which '%.40s' would take",
             b->t.machine.memory[from.memory].name, b->t.machine.memory[to.memory].name,
             b->p->wl->tensors[tensor].name);
  else if (!i)
    npu_too_long(b);
  if (via < 0 || !i) return NULL;
  i->to = to;
  i->from[0] = from;
  if (!npu_aligned(b, &to) || !npu_aligned(b, &from)) {
    i->op = NPU_LOAD;
    i->window.in[0] = i->window.in[1] = 1;
  }
  i->via = via;
  i->queue = b->t.machine.path[via].queue;
  i->tag = b->p->wl->tensors[tensor].name;
  return i;
}
