/* Programs without loops as programs with loops. */
#ifndef CODEGEN_BACKEND_NPU_TEXT_ROLL_H
#define CODEGEN_BACKEND_NPU_TEXT_ROLL_H
#include "codegen/backend/npu/sim/program.h"

/* roll.c: the program with loops, which does the same; of its own.  NULL: out of memory. */
tf_npu *npu_roll(const tf_npu *flat);

/* flagged.c: a program whose flags stand as npu_flags_add puts them: waits before the instruction
 * that waits, sets behind the one that sets, each in the order of queues. */
typedef struct {
  size_t n;
  size_t *at;            /* [n] its instructions but for flags */
  uint8_t *waits, *sets; /* [n] bit for each queue that they wait for, or set a flag for */
} npu_flagged;
/* False: flags stand otherwise, or out of memory. */
bool npu_flagged_of(const tf_npu *flat, npu_flagged *f);
void npu_flagged_free(npu_flagged *f);
/* Adds them to a program with loops over the same instructions without flags: `looped` becomes it.
 * Where some steps alone have a flag, the flag says which.  False: that takes too many lines, or
 * out of memory; `looped` is as it was. */
bool npu_flagged_put(const npu_flagged *f, tf_npu *looped);

/* when.c: of the steps of `depth` loops, in the order in which they run, those that are marked, as
 * ranges of places: each marked step is in all ranges of one of `to`.  -1: that takes more than
 * `most` of them, or ranges; or out of memory. */
typedef struct {
  int n;
  npu_when when[NPU_WHEN];
} npu_steps;
int npu_steps_of(const bool *marked, int depth, const int64_t *trip, npu_steps *to, int most);
#endif
