/* New instructions: transfers, and their dims. */
#include <stdlib.h>
#include <string.h>

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
  return o->memory == 0 || npu_begin_of(o) % b->t.machine.memory[o->memory].align == 0;
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
    i->window.size[0] = i->window.size[1] = 1;
  }
  i->via = via;
  i->queue = b->t.machine.path[via].queue;
  i->tag = b->p->wl->tensors[tensor].name;
  return i;
}

static bool is_plain_load(const npu_instr *i) {
  return i->op == NPU_LOAD && i->window.size[0] == 1 && i->window.size[1] == 1;
}

enum { EVEN_BITS = 16 };

/* A hash of all that the steps of a loop have in common. */
static size_t hash_transfer(const npu_instr *i) {
  uint64_t h = (uint64_t)i->via + 1;
  for (const char *s = i->tag; *s; s++)
    h = (h ^ (uint8_t)*s) * UINT64_C(0x9e3779b97f4a7c15);
  for (int k = 0; k < i->n_dims; k++) {
    const int64_t v[3] = {i->dim[k].count, i->dim[k].step[0], i->dim[k].step[1]};
    for (int s = 0; s < 3; s++)
      h = (h ^ (uint64_t)v[s]) * UINT64_C(0x9e3779b97f4a7c15);
  }
  return (size_t)(h >> (64 - EVEN_BITS));
}

bool npu_even(tf_npu *p) {
  bool *loaded = calloc((size_t)1 << EVEN_BITS, sizeof *loaded);
  if (!loaded) return false;
  for (size_t k = 0; k < p->n; k++)
    if (is_plain_load(&p->instr[k])) loaded[hash_transfer(&p->instr[k])] = true;
  for (size_t k = 0; k < p->n; k++) {
    npu_instr *i = &p->instr[k];
    if (i->op != NPU_COPY || !loaded[hash_transfer(i)]) continue;
    i->op = NPU_LOAD;
    memset(&i->window, 0, sizeof i->window);
    i->window.size[0] = i->window.size[1] = 1;
  }
  free(loaded);
  return true;
}
