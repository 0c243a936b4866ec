/* Depthwise convolutions: a block's box of the input comes to shared memory, and threads sum from
 * there. */
#ifndef CODEGEN_BACKEND_CUDA_WINDOW_WINDOW_H
#define CODEGEN_BACKEND_CUDA_WINDOW_WINDOW_H
#include "codegen/lower/lower.h"

void lower_cuda_window(lowering *w);
#endif
