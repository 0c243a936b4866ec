/* What programs may use of a CUDA device.  Scratch is global memory of which each block has a part of its own. */
#include "codegen/target/cuda/pass/pass.h"

static const ir_space spaces[] = {
    [CU_GLOBAL] = {"global", IR_SERIAL, false},
    [CU_SHARED] = {"shared", IR_BLOCK, true},
    [CU_SCRATCH] = {"scratch", IR_BLOCK, false},
    [CU_FRAGMENT] = {"fragments", IR_WARP, false},
};
static const char *const queues[] = {[CU_PIECES] = "cp.async", [CU_BOXES] = "tma"};

const ir_platform low_cuda_platform = {.maps = 1u << IR_SERIAL | 1u << IR_BLOCK | 1u << IR_WARP | 1u << IR_LANE,
                                       .n_spaces = 4,
                                       .spaces = spaces,
                                       .n_queues = 2,
                                       .queues = queues,
                                       .depth = 16};
