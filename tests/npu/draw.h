/* Random workloads with mappings onto an NPU core, as text. */
#ifndef TESTS_NPU_DRAW_H
#define TESTS_NPU_DRAW_H
#include <stddef.h>
#include <stdint.h>

/* L0 with its parts and the cube below it; a smaller one. */
#define NPU_L0(operand, sums)                                                                      \
  "  - {name: L0, parts: [{name: L0A, holds: [left], capacity: " operand                           \
  "}, {name: L0B, holds: [right], capacity: " operand                                              \
  "}, {name: L0C, holds: [result], capacity: " sums ", word-bits: 32}]}\n  compute:\n"             \
  "  - {name: cube, ops: [mac], below: L0, mesh: [256, 16], rate: 1}\n"
#define NPU_CUBE NPU_L0("32 KiB", "128 KiB")
#define NPU_SMALL_CUBE NPU_L0("8 KiB", "32 KiB")

/* Architecture, workload and mapping; the same for the same seed. */
void draw_npu(uint64_t seed, char *text, size_t size);
/* A workload of the vector unit alone. */
void draw_npu_vectors(uint64_t seed, char *text, size_t size);
#endif
