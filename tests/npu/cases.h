/* What the cases of the NPU's tests have in common. */
#ifndef TESTS_NPU_CASES_H
#define TESTS_NPU_CASES_H
#include "codegen/backend/npu/pass/pass.h"
#include "tests/unit/case.h"

/* Cycles of programs that ran, beside those predicted: how far off, as a part of these. */
enum { MOST_CASES = 4096 };
typedef struct {
  int n;
  double off[MOST_CASES];
} errors;

typedef struct {
  int cases, refused, planted, found, settled;
  size_t flat, rolled; /* instructions without loops, and lines with */
  /* of those in which the busiest queue stalls, and of those in which it never does once it has
   * begun: beside the model's cycles, and beside those that the target expects from pieces of
   * memories and some steps of long loops */
  errors model[2], expected[2];
} tally;

/* Runs the program on random data; whether its outputs are the workload's own, within `most` of
 * the largest element. */
bool run_values(const test_case *e, const tf_npu *p, tf_npu_result *r, double most);
/* Leaves out each of up to a few flags, which then has to be found. */
void plant(const test_case *e, const tf_npu *p, uint64_t seed, tally *t);

/* Workloads without a mapping, the first `most`: what the planner finds is emitted and right. */
int plans(size_t most);
/* Drawn workloads of the vector unit alone. */
void vectors(int cases);
#endif
