/* The meaning of a workload in double, each element with how far a kernel in float32 may be off it:
 * numbers that are infinite or no numbers at all, too. */
#ifndef TESTS_KERNELS_BOUNDED_H
#define TESTS_KERNELS_BOUNDED_H
#include "tileflow/spec.h"

/* The value, and the most that a kernel's may be off; e is 0 where v is infinite or not a number
 * and has to be; INFINITY: nobody can say. */
typedef struct {
  double v, e;
} bounded;

/* How a kernel rounds: relative error of a step, of what is kept between ops, and absolute error of
 * what is all but 0. */
typedef struct {
  double step, kept, tiny;
  bool floored; /* maxima that others read start at the lowest finite number, as those that are
                   streamed do */
  bool masked;  /* set by bounded_run: places are asked for, or a mask is added: 0 times what is not
                   finite, and -inf and what is not finite, may be left out */
  bool bordered; /* likewise: tensors are padded, and 0 times what is not finite may be left out */
} bounded_rounding;

/* data[tensor], row-major: inputs as they are (e = 0), all else what the ops make.  Maxima and
 * minima are fmax and fmin. */
void bounded_run(const tf_workload *wl, const bounded_rounding *by, bounded **data);
/* Whether a kernel's number is right. */
bool bounded_holds(bounded of, double v);
#endif
