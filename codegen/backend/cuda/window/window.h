/* Depthwise convolutions: a block's box of the input is copied to shared memory, from which threads
 * sum. */
#ifndef CODEGEN_BACKEND_CUDA_WINDOW_WINDOW_H
#define CODEGEN_BACKEND_CUDA_WINDOW_WINDOW_H
#include "codegen/lower/lower.h"

void lower_cuda_window(lowering *w);
#endif
