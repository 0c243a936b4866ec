/* The table of op kinds as functions of element expressions. */
#ifndef MODEL_INPUT_KINDS_H
#define MODEL_INPUT_KINDS_H
#include "tileflow/spec.h"

const char *tf_kind_key(tf_kind kind);
int tf_kind_find(const char *text, size_t len); /* -1: none; comparisons have no name */

/* How many arguments it takes when written as a function; 0: it is no function. */
int tf_kind_arity(tf_kind kind);

/* Its value in double; select(c, a, b) is a where c is not 0, else b. */
double tf_kind_apply(tf_kind kind, const double *arg);
#endif
