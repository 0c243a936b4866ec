/* Programs rolled into loops, beside the same without. */
#ifndef TESTS_NPU_ROLL_H
#define TESTS_NPU_ROLL_H
#include "codegen/backend/npu/pass/pass.h"

/* The program's instructions one by one, as loops issue them: the slow twin. */
tf_npu *roll_unrolled(const tf_npu *looped);
/* Whether it does the same, instruction by instruction, as the flat program. */
bool roll_is_same(const tf_npu *looped, const tf_npu *flat);
/* Nests that are known, and random ones. */
bool roll_check(int cases);
/* Whether transfers that differ in their places alone are of one kind, and their windows of one
 * image; of the first 2000 instructions. */
bool roll_is_even(const tf_npu *p);
#endif
