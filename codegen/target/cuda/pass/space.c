/* Placement of buffers: one that only a single loop over blocks touches is private to each block, in shared memory as
 * far as there is room, smallest first. */
#include "codegen/target/cuda/pass/pass.h"

static bool is_blocks_own(const ir_program *p, int buffer) {
  int n = 0;
  for (int i = 0; i < p->body.n; i++)
    n += cu_touches(p, &p->body.s[i], 1, buffer) > 0;
  return n == 1 && p->buffers[buffer].role != IR_ARGUMENT && p->buffers[buffer].role != IR_LASTING;
}

void low_cuda_spaces(lowering *w) {
  ir_program *p = w->p;
  int64_t room = cu_shared_bytes(p);
  for (int i = 0; i < p->n_buffers; i++) {
    if (p->buffers[i].role == IR_COPIED)
      room -= cu_bytes(&p->buffers[i]);
    else if (p->buffers[i].space != CU_FRAGMENT && is_blocks_own(p, i))
      p->buffers[i].space = CU_SCRATCH;
  }
  for (;;) {
    int least = -1;
    for (int i = 0; i < p->n_buffers; i++)
      if (p->buffers[i].space == CU_SCRATCH && (least < 0 || cu_bytes(&p->buffers[i]) < cu_bytes(&p->buffers[least])))
        least = i;
    if (least < 0 || cu_bytes(&p->buffers[least]) > room) return;
    p->buffers[least].space = CU_SHARED;
    room -= cu_bytes(&p->buffers[least]);
  }
}
