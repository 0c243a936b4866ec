/* Values of nodes. */
#include <stdlib.h>

#include "model/import/timeloop/timeloop.h"

bool tl_int(tl_case *c, const tf_ynode *node, const char *what, int64_t least, int64_t *out) {
  char *end;
  long long value = strtoll(node->text, &end, 10);
  if (end != node->text && !*end && value >= least && value <= INT64_C(1) << 40) {
    *out = value;
    return true;
  }
  return tf_fail(c->diags, node->at, TF_E_RANGE, "%s '%.40s' is no whole number from %lld to 2^40",
                 what, node->text, (long long)least);
}

bool tl_bool(tl_case *c, const tf_ynode *node, bool *out) {
  static const char *const yes[] = {"true", "True", "yes", "on", "1"}, *const no[] = {"false",
                                                                                      "False", "no",
                                                                                      "off", "0"};
  for (int i = 0; i < 5; i++) {
    if (!tf_ynode_is(node, yes[i]) && !tf_ynode_is(node, no[i])) continue;
    *out = tf_ynode_is(node, yes[i]);
    return true;
  }
  return tf_fail(c->diags, node->at, TF_E_TYPE, "'%.40s' is neither true nor false", node->text);
}

bool tl_real(tl_case *c, const tf_ynode *node, double *out) {
  char *end;
  double value = node->kind == TF_Y_SCALAR ? strtod(node->text, &end) : -1;
  if (node->kind != TF_Y_SCALAR || end == node->text || *end || !(value > 0) || !(value < 1e15))
    return tf_fail(c->diags, node->at, TF_E_RANGE, "'%.40s' is no number above 0",
                   node->kind == TF_Y_SCALAR ? node->text : tf_ynode_what(node));
  *out = value;
  return true;
}

bool tl_amount(tl_case *c, const tf_ynode *node, const char *what, double *out) {
  if (tf_ynode_is(node, "0") || tf_ynode_is(node, "0.0")) {
    *out = 0;
    return true;
  }
  return tf_yschema_kind(node, TF_Y_SCALAR, what, c->diags) && tl_real(c, node, out);
}
