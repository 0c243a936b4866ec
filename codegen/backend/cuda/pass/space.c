/* The memory spaces of a CUDA device: scratch is global memory of which each block has a part. And
 * the placement of buffers: one that only one loop over blocks accesses is private to each block,
 * in shared memory as far as there is room, smallest first. */
#include "codegen/backend/cuda/pass/pass.h"

static const ir_space spaces[] = {
    [CU_GLOBAL] = {"global", IR_SERIAL, false},
    [CU_SHARED] = {"shared", IR_BLOCK, true},
    [CU_SCRATCH] = {"scratch", IR_BLOCK, false},
    [CU_FRAGMENT] = {"fragments", IR_WARP, false},
};
static const char *const queues[] = {[CU_PIECES] = "cp.async", [CU_BOXES] = "tma"};

static const ir_notes notes = {.check = cu_check};

const ir_platform lower_cuda_platform = {.notes = &notes,
                                         .maps = 1u << IR_SERIAL | 1u << IR_BLOCK | 1u << IR_WARP |
                                                 1u << IR_LANE,
                                         .n_spaces = 4,
                                         .spaces = spaces,
                                         .n_queues = 2,
                                         .queues = queues,
                                         .depth = 16};

static bool is_blocks_own(const ir_program *p, int buffer) {
  int n = 0;
  for (int i = 0; i < p->body.n; i++)
    n += cu_touches(p, &p->body.s[i], 1, buffer) > 0;
  return n == 1 && p->buffers[buffer].role != IR_ARGUMENT && p->buffers[buffer].role != IR_LASTING;
}

/* Whether every part's shared memory fits in a block. */
static bool fits(const ir_program *p) {
  bool fit = true;
  for (int i = 0; i < p->body.n && fit; i++)
    fit = cu_share(p, p->body.s[i], NULL) <= cu_shared_bytes(p);
  return fit;
}

void lower_cuda_spaces(lowering *w) {
  ir_program *p = w->p;
  for (int i = 0; i < p->n_buffers; i++)
    if (p->buffers[i].role != IR_COPIED && p->buffers[i].space != CU_FRAGMENT &&
        is_blocks_own(p, i))
      p->buffers[i].space = CU_SCRATCH;
  for (;;) {
    ir_buffer *least = NULL;
    for (int i = 0; i < p->n_buffers; i++)
      if (p->buffers[i].space == CU_SCRATCH &&
          (!least || cu_bytes(&p->buffers[i]) < cu_bytes(least)))
        least = &p->buffers[i];
    if (!least) return;
    least->space = CU_SHARED;
    if (fits(p)) continue;
    least->space = CU_SCRATCH;
    return;
  }
}
