/* Mappings as programs: their cycles, and several of them as one program. */
#ifndef CODEGEN_BACKEND_NPU_PASS_CHAIN_H
#define CODEGEN_BACKEND_NPU_PASS_CHAIN_H
#include <math.h>

#include "codegen/backend/npu/sim/program.h"
#include "tileflow/tree.h"

/* Sums and intermediates inside the cube are float32; tensors are as wide as their words. */
static inline npu_type npu_type_of(const tf_tensor *z) {
  return z->word_bits == 32 ? NPU_F32 : NPU_F16;
}

/* Limits of a program that is only timed: cycles and instructions. */
typedef struct {
  double cycles, length;
} npu_limits;
#define NPU_UNLIMITED ((npu_limits){INFINITY, INFINITY})

/* The parts of a program's cycles: before its busiest queue's first instruction (fill), that
 * queue's work, its waits in between, and after its end (drain). */
typedef struct {
  double cycles;
  int queue;
  double fill, busy, stall, drain;
  int64_t counted, work; /* instructions that were counted, and timed, to find them */
  double length;         /* approximate number of the program's instructions */
} npu_terms;

/* program.c: the approximate cycles of the program that npu_compile would make, found without
 * making it: of long loops some steps are evaluated. Stops when the cycles exceed those of `most`.
 * False: as npu_compile, or its length would exceed `most`, with the reason in d; `work` is set in
 * either case. */
bool npu_predict(const tf_tree *tree, npu_limits most, npu_terms *terms, tf_diags *d);

/* One of several mappings whose programs run in sequence as one, on tensors that they share; and
 * where the tensors of its workload are: the program's tensor, the element that is their first, and
 * the stride of each rank. */
typedef struct {
  int tensor;
  int64_t begin;
  const int64_t *stride;
} npu_place;
typedef struct {
  const tf_tree *tree;
  const npu_place *place; /* [n_tensors] */
} npu_link;

/* A program for that machine, without tensors and instructions. NULL with the reason in d. */
tf_npu *npu_head_of(const tf_arch *a, tf_diags *d);
/* A name that is unused in the program; NULL: out of memory. */
const char *npu_name_new(tf_npu *p, const char *name);
/* Fills in name, type and size of a tensor for the program, without adding it. False: it is too
 * large, which is reported. */
bool npu_tensor_new(tf_npu *p, const tf_tensor *z, npu_tensor *t, tf_diags *d);

/* chain.c: the links' programs as one, after the head's tensors, without loops, with flags;
 * consumes the head. NULL with the reason in d. */
tf_npu *npu_chain_compile(tf_npu *head, const npu_link *link, int n, tf_diags *d);
/* The approximate end of each link, and the parts of the total cycles. False: as
 * npu_chain_compile. */
bool npu_chain_predict(const tf_npu *head, const npu_link *link, int n, double *end,
                       npu_terms *terms, tf_diags *d);
#endif
