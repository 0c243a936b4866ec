/* A kernel in numbers that mean the same in every workload: what is predicted for it, and why.
 * Kernels of one workload that were measured so say something of those of another. */
#ifndef TUNE_LEARN_LESSON_H
#define TUNE_LEARN_LESSON_H
#include "tileflow/emit.h"
#include "tileflow/tree.h"

enum {
  LESSON_MEMORIES = 5,
  LESSON_EACH = 4,
  LESSON_FEATURES = 5 + TF_N_CHOICES + LESSON_EACH * LESSON_MEMORIES
};

typedef struct {
  double cycles; /* by the model, and of the kernel's inner parts */
  double x[LESSON_FEATURES];
} lesson;

/* One that was measured. */
typedef struct {
  int workload;      /* those of one number are of one workload, one after the other */
  double log2_error; /* log2 of its time, in any unit, over what is predicted */
  double x[LESSON_FEATURES];
} lesson_measured;

/* inner: tf_emit_cycles.  False: the mapping does not fit, or memory ran out. */
bool lesson_of(const tf_tree *t, const tf_choices *c, double inner, lesson *out);
#endif
