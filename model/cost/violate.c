/* Violations: resources of the machine that a mapping exceeds. */
#include "model/cost/state.h"

void tf_violate(tf_result *out, tf_violation v) {
  out->feasible = false;
  if (out->n_violations < (int)(sizeof out->violations / sizeof out->violations[0]))
    out->violations[out->n_violations++] = v;
}
