/* Mappings as programs: what they take, and those of several as one. */
#ifndef CODEGEN_BACKEND_NPU_PASS_CHAIN_H
#define CODEGEN_BACKEND_NPU_PASS_CHAIN_H
#include <math.h>

#include "codegen/backend/npu/sim/program.h"
#include "tileflow/tree.h"

/* Sums and what is between them are float32 inside the cube; tensors are as wide as their words. */
static inline npu_type npu_type_of(const tf_tensor *z) {
  return z->word_bits == 32 ? NPU_F32 : NPU_F16;
}

/* Of a program that is only timed: how long it may take, and how many instructions it may have. */
typedef struct {
  double cycles, length;
} npu_limits;
#define NPU_UNLIMITED ((npu_limits){INFINITY, INFINITY})

/* What a program's cycles are made of: its busiest queue does nothing before the first fill, works,
 * waits for others in between, and has ended before the last drain. */
typedef struct {
  double cycles;
  int queue;
  double fill, busy, stall, drain;
  int64_t counted, work; /* instructions that were counted, and timed, to find them */
  double length;         /* about how many the program has */
} npu_terms;

/* program.c: about the cycles after which the program that npu_compile would make will have ended,
 * without making it: of long loops some steps are looked at.  No more than what is found by then
 * when they pass those of `most`.  False: as npu_compile, or it would be about longer than `most`,
 * with the reason in d; `work` holds then, too. */
bool npu_predict(const tf_tree *tree, npu_limits most, npu_terms *terms, tf_diags *d);

/* A mapping of several whose programs run one after the other as one, on tensors that they share;
 * and where those of its workload are: the program's tensor, the element of it that is their first,
 * and how many there are from one to the next along each rank. */
typedef struct {
  int tensor;
  int64_t begin;
  const int64_t *stride;
} npu_place;
typedef struct {
  const tf_tree *tree;
  const npu_place *at; /* [n_tensors] */
} npu_link;

/* A program without tensors and instructions for that machine.  NULL with the reason in d. */
tf_npu *npu_head_of(const tf_arch *a, tf_diags *d);
/* A name that is new in the program; NULL: out of memory. */
const char *npu_name_new(tf_npu *p, const char *name);
/* Name, type and size of a tensor of the program, which is not added yet.  False: too large, which
 * is reported. */
bool npu_tensor_new(tf_npu *p, const tf_tensor *z, npu_tensor *t, tf_diags *d);

/* chain.c: the links' programs as one behind the head's tensors, without loops, with flags;
 * consumes the head.  NULL with the reason in d. */
tf_npu *npu_chain_compile(tf_npu *head, const npu_link *link, int n, tf_diags *d);
/* About when each of them will have ended, and of what the cycles of all are made.  False: as
 * npu_chain_compile. */
bool npu_chain_predict(const tf_npu *head, const npu_link *link, int n, double *end,
                       npu_terms *terms, tf_diags *d);
#endif
