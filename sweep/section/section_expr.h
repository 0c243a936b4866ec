/* Conditions: arithmetic, comparisons and `and or not` over named values, numbers or texts. */
#ifndef SWEEP_SECTION_SECTION_EXPR_H
#define SWEEP_SECTION_SECTION_EXPR_H
#include "model/input/number.h"

/* A number, or a text if text is not NULL.  NAN: no value, for which only the comparison != holds.
 */
typedef struct {
  double number;
  const char *text;
} sweep_value;

/* The names that may occur; their values are given at evaluation, by index. */
typedef struct {
  int n;
  const char *const *names;
  const bool *texts; /* NULL: all are numbers */
} sweep_names;

typedef struct sweep_expr sweep_expr;

/* Reads the whole text of a scalar.  A name that `names` lacks may be a param of r (r->params NULL:
 * none).  NULL with located errors in r->diags.  Lives in r->arena. */
sweep_expr *sweep_expr_read(tf_reader *r, const tf_ynode *node, const sweep_names *names);
bool sweep_expr_holds(const sweep_expr *x, const sweep_value *values);
bool sweep_expr_uses(const sweep_expr *x, int name);
#endif
