/* Figures of components that no other table has: wires, and converters of analog sums
 * (docs/FORMATS.md, expressions). */
#ifndef MODEL_INPUT_TABLE_CONVERTERS_H
#define MODEL_INPUT_TABLE_CONVERTERS_H
#include "tileflow/spec.h"

/* What an expression calls by name with `n` arguments, each from `least` to `most`. */
typedef struct {
  const char *name;
  int n;
  struct {
    const char *what;
    double least, most;
  } of[3];
  double (*value)(const double *x);
} tf_component;
enum { TF_N_COMPONENTS = 3 };
extern const tf_component tf_components[TF_N_COMPONENTS];
#endif
