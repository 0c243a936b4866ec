/* Random workloads with mappings onto an NPU core, as text. */
#ifndef TESTS_NPU_DRAW_H
#define TESTS_NPU_DRAW_H
#include <stddef.h>
#include <stdint.h>

/* Architecture, workload and mapping; the same for the same seed. */
void draw_npu(uint64_t seed, char *text, size_t size);
/* A workload of the vector unit alone. */
void draw_npu_vectors(uint64_t seed, char *text, size_t size);
#endif
