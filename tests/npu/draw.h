/* Random workloads with mappings onto an NPU core, as text. */
#ifndef TESTS_NPU_DRAW_H
#define TESTS_NPU_DRAW_H
#include <stddef.h>
#include <stdint.h>

/* L0 with its parts, in KiB: of either operand, of sums. */
#define L0_PARTS(operand, sums)                                                                                        \
  "  - {name: L0, parts: [{name: L0A, holds: [left], capacity: " #operand                                              \
  " KiB}, {name: L0B, holds: [right], capacity: " #operand " KiB}, {name: L0C, holds: [result], capacity: " #sums      \
  " KiB, word-bits: 32}]}\n"

/* Architecture, workload and mapping; the same for the same seed. */
void draw_npu(uint64_t seed, char *text, size_t size);
/* A workload of the vector unit alone. */
void draw_npu_vectors(uint64_t seed, char *text, size_t size);
#endif
