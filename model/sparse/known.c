#include "model/sparse/known.h"

#include <math.h>

double tf_known_children(const tf_tensor *t, double size) {
  const int64_t each = (int64_t)size;
  int64_t n = 0, next = 0; /* next: the first child that is not counted yet */
  for (int i = 0; i < t->density.n_runs; i++) {
    const int64_t first = t->density.runs[i].from / each,
                  end = (t->density.runs[i].to - 1) / each + 1;
    n += end - (first > next ? first : next);
    next = end;
  }
  return (double)n;
}

/* Of the children from `from` to before `to`, which have no elements. */
static double in_gap(int64_t from, int64_t to, int64_t length, int64_t reach) {
  const int64_t behind = from - from % length + length; /* where the fiber of `from` ends */
  if (from >= to) return 0;
  if (to <= behind) return (double)((to - from) / reach);
  const int64_t whole = to / length - behind / length;
  return (double)((behind - from) / reach + whole * (length / reach) + to % length / reach);
}

double tf_known_fillers(const tf_tensor *t, double length, double size, double reach) {
  const int64_t each = (int64_t)size, fiber = (int64_t)length, all = tf_tensor_words(t) / each;
  const int64_t far = reach < 9e18 ? (int64_t)reach : INT64_MAX;
  double sum = 0;
  int64_t next = 0;
  for (int i = 0; i < t->density.n_runs; i++) {
    sum += in_gap(next, t->density.runs[i].from / each, fiber, far);
    next = (t->density.runs[i].to - 1) / each + 1;
  }
  return sum + in_gap(next, all, fiber, far);
}

void tf_known_counts(const tf_tensor *t, const int64_t *stride, int64_t *out) {
  const int64_t row = t->rank ? t->extent[t->rank - 1] : 1,
                step = t->rank ? stride[t->rank - 1] : 0;
  for (int i = 0; i < t->density.n_runs; i++)
    for (int64_t e = t->density.runs[i].from, to = t->density.runs[i].to; e < to;) {
      int64_t end = e - e % row + row, at = e % row * step, rest = e / row;
      if (end > to) end = to;
      for (int r = t->rank - 2; r >= 0; r--) {
        at += rest % t->extent[r] * stride[r];
        rest /= t->extent[r];
      }
      if (!step)
        out[at] += end - e;
      else
        for (int64_t k = e; k < end; k++, at += step)
          out[at]++;
      e = end;
    }
}
