/* Affine forms while they are read and cut. */
#ifndef MODEL_INPUT_CUT_FORM_H
#define MODEL_INPUT_CUT_FORM_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* Terms name dims, or TF_FLOOR + the number of a quotient (cut.h). */
enum { TF_FLOOR = 1 << 20, TF_FORM_TERMS = 96 };
typedef struct {
  int n;
  tf_term term[TF_FORM_TERMS]; /* in order of appearance, coefs may be 0 */
  int64_t c;
} tf_affine;

/* a += coef * var; a += factor * b; a *= factor.  False where a number passes 2^63 - 1 or there is
 * no room: then a->n is TF_FORM_TERMS. */
bool tf_form_add_term(tf_affine *a, int var, int64_t coef);
bool tf_form_add(tf_affine *a, const tf_affine *b, int64_t factor);
bool tf_form_scale(tf_affine *a, int64_t factor);
bool tf_form_constant(const tf_affine *a);
/* On the arena, without terms that are 0; false without memory. */
bool tf_form_keep(const tf_affine *a, tf_arena *arena, tf_index *out);

/* Rounded down; m is 1 or more. */
static inline int64_t tf_floor_div(int64_t x, int64_t m) { return x / m - (x % m < 0); }
#endif
