/* Tensors that ops make zero outside of a band of two dims (docs/SEMANTICS.md section 8): where a
 * condition by position selects 0, or -inf whose exponential is 0, and in what follows from these
 * element by element.  Asked op by op, in topological order. */
#ifndef MODEL_SPARSE_BANDS_H
#define MODEL_SPARSE_BANDS_H
#include "base/arena.h"
#include "tileflow/spec.h"

typedef struct tf_bands tf_bands;
/* NULL without memory. */
tf_bands *tf_bands_new(tf_arena *a, const tf_workload *wl);

/* Whether steps of which a mask leaves nothing are left out: then only part of what bands leave
 * out is left to be left out. */
bool tf_bands_masked(const tf_bands *b);

/* Op o, of operands with these shares of elements that are not zero (its own operands' at least):
 * whether it makes a band, which has no other zeros; fills *d.  point: the share of its points that
 * are not zero inside of it.  false, too, without memory (the arena tells). */
bool tf_bands_made(tf_bands *b, int o, const double *share, double point, tf_density *d);

/* Whether each result of op o has an operand inside of the band along which it sums, so that none
 * is zero. */
bool tf_bands_met(const tf_bands *b, int o, const double *share);
#endif
