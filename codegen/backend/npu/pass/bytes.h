/* Runs of bytes that instructions access; and memories divided into pieces, all bytes of which have
 * been accessed alike. */
#ifndef CODEGEN_BACKEND_NPU_PASS_BYTES_H
#define CODEGEN_BACKEND_NPU_PASS_BYTES_H
#include "codegen/backend/npu/sim/program.h"

/* Units of two bytes: no element is smaller. */
enum { NPU_UNIT = 2 };

/* Calls `each` for the runs of the instruction's operands, in units (operand 0 is written, 1 .. are
 * read), from `at` up to `end` of their memory; not for data that is given before the program
 * begins, which needs no wait. loose: runs may include gaps that are smaller than the memory's
 * alignment of operands; taps of weights, which the cube reads one by one, gaps of some dozen
 * elements. */
typedef void (*npu_run_do)(void *ctx, int operand, int memory, int64_t at, int64_t end);
void npu_runs(const tf_npu *p, const npu_instr *i, int operand, bool loose, npu_run_do each,
              void *ctx);

/* A memory in pieces: bit k of `begins` is set if a piece begins at unit k, and value k then
 * belongs to it. */
typedef struct {
  int64_t units;
  size_t size;
  uint64_t *begins;
  unsigned char *value;
} npu_pieces;
/* One piece for each memory of the program, with values of `size` zero bytes. False: out of
 * memory. */
bool npu_pieces_new(npu_pieces *of, const tf_npu *p, size_t size);
void npu_pieces_free(npu_pieces *of);
static inline void *npu_pieces_value(const npu_pieces *p, int64_t at) {
  return p->value + (size_t)at * p->size;
}
/* Divides a piece so that one begins at the unit. */
void npu_pieces_divide(npu_pieces *p, int64_t at);
/* Makes pieces begin at `at` and at `end`. */
static inline void npu_pieces_cut(npu_pieces *p, int64_t at, int64_t end) {
  if (!(p->begins[at / 64] >> at % 64 & 1)) npu_pieces_divide(p, at);
  if (!(p->begins[end / 64] >> end % 64 & 1)) npu_pieces_divide(p, end);
}
/* Merges the units from `at` up to `end` into one piece, and returns its value. */
void *npu_pieces_join(npu_pieces *p, int64_t at, int64_t end);
/* The begin of the piece after the one at unit `at`; `units` if there is none. */
int64_t npu_pieces_far(const npu_pieces *p, int64_t at);
static inline int64_t npu_pieces_next(const npu_pieces *p, int64_t at) {
  const uint64_t bits = p->begins[at / 64] & ~UINT64_C(1) << at % 64;
  return bits ? at / 64 * 64 + __builtin_ctzll(bits) : npu_pieces_far(p, at);
}
#endif
