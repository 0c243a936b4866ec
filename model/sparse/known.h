/* Tensors of which it is known which elements are zero: bands, and those that a file lists
 * (docs/SEMANTICS.md section 8).  Figures are exact. */
#ifndef MODEL_SPARSE_KNOWN_H
#define MODEL_SPARSE_KNOWN_H
#include "tileflow/spec.h"

/* Of all children of `size` elements, one behind the other, those that have an element that is not
 * zero. */
double tf_known_children(const tf_tensor *t, double size);
/* Fibers of `length` children of `size` elements: the zeros that stand for runs of children without
 * elements, one for each `reach` in a row, in all fibers of the tensor. */
double tf_known_fillers(const tf_tensor *t, double length, double size, double reach);
/* Adds up the elements that are not zero in out[the sum of stride[r] * coordinate of rank r]. */
void tf_known_counts(const tf_tensor *t, const int64_t *stride, int64_t *out);
#endif
