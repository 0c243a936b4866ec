/* Scalars of the input that hold a number, or a quantity. */
#include "model/input/number.h"

#include <math.h>
#include <string.h>

/* Reads the number at the start of a scalar; leaves x after it. */
static bool start_number(tf_reader *r, const tf_ynode *node, const char *what, tf_lex *x,
                         tf_value *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->diags)) return false;
  if (node->len > TF_MAX_TEXT)
    return tf_fail(r->diags, node->at, TF_E_LIMIT, "'%s' is longer than %d bytes", what,
                   TF_MAX_TEXT);
  *x = tf_lex_start(node, 0, r->diags);
  return tf_parse_number(r, x, out);
}

bool tf_read_value(tf_reader *r, const tf_ynode *node, const char *what, tf_value *out) {
  tf_lex x;
  if (!start_number(r, node, what, &x, out)) return false;
  if (x.tok.kind == TF_T_END) return true;
  const char *rest = tf_lex_text(&x);
  size_t len = strlen(rest);
  while (len > 0 && (rest[len - 1] == ' ' || rest[len - 1] == '\n'))
    len--;
  if (tf_unit_find(rest, len))
    return tf_fail(r->diags, tf_ynode_place(node, x.tok.at, len), TF_E_UNIT,
                   "'%s' is a plain number, without a unit", what);
  return tf_lex_fail(&x, "an operator or the end");
}

bool tf_read_int(tf_reader *r, const tf_ynode *node, const char *what, int64_t lo, int64_t hi,
                 int64_t *out) {
  tf_value v;
  if (!tf_read_value(r, node, what, &v)) return false;
  if (!v.whole && fabs(v.f) < 9007199254740992.0) {
    const bool near = fabs(v.f - round(v.f)) < 1e-4 * fabs(v.f); /* a few digits may look whole */
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' must be a whole number, not %.*g", what,
                   near ? 17 : 6, v.f);
  }
  if (!v.whole && v.f >= (double)lo && v.f < 0x1p62)
    return tf_fail(r->diags, node->at, TF_E_RANGE,
                   "'%s' is about %.17g: what comes of fractions is no exact whole number from "
                   "2^53 on",
                   what, v.f);
  if (!v.whole || v.i < lo || v.i > hi) {
    if (hi == INT64_MAX && v.f < 0x1p62)
      return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %.17g, must be %lld or more", what,
                     v.f, (long long)lo);
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %.17g, must be %lld to %lld", what, v.f,
                   (long long)lo, (long long)hi);
  }
  *out = v.i;
  return true;
}

bool tf_read_bool(tf_reader *r, const tf_ynode *node, const char *what, bool *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->diags)) return false;
  *out = tf_ynode_is(node, "true");
  if (*out || tf_ynode_is(node, "false")) return true;
  return tf_fail(r->diags, node->at, TF_E_TYPE, "'%s' must be true or false, not '%.40s'", what,
                 node->text);
}

/* What a number without a unit says, for a message. */
static const char *alone(unsigned measures) {
  return measures & TF_Q_NS     ? "; without one it says cycles"
         : measures & TF_Q_RATE ? "; without one it says words a cycle"
                                : "";
}

/* The text behind the number must be a unit of one of the measures. */
static bool find_unit(tf_reader *r, const tf_lex *x, const char *what, unsigned measures,
                      bool plain_ok, const tf_unit_row **unit) {
  const char *rest = tf_lex_text(x);
  size_t len = x->node->len - x->tok.at;
  while (len > 0 && (rest[len - 1] == ' ' || rest[len - 1] == '\n'))
    len--;
  tf_loc at = tf_ynode_place(x->node, x->tok.at, len);
  int shown = (int)(len < 40 ? len : 40);
  char list[96];
  *unit = tf_unit_find(rest, len);
  if (*unit && ((*unit)->measure & measures)) return true;
  tf_unit_list(measures, list, sizeof list);
  if (*unit)
    return tf_fail(r->diags, at, TF_E_UNIT, "'%.*s' is no unit for '%s'; known: %s", shown, rest,
                   what, list);
  const char *near = tf_unit_nearest(rest, len, measures);
  if (near)
    return tf_fail(r->diags, at, TF_E_UNIT, "unknown unit '%.*s', did you mean '%s'?", shown, rest,
                   near);
  return tf_fail(r->diags, at, TF_E_UNIT, "unknown unit '%.*s' for '%s'; known: %s%s", shown, rest,
                 what, list, plain_ok ? alone(measures) : "");
}

bool tf_read_quantity(tf_reader *r, const tf_ynode *node, const char *what, unsigned measures,
                      bool plain_ok, tf_quantity *out) {
  tf_lex x;
  char list[96];
  if (!start_number(r, node, what, &x, &out->value)) return false;
  out->unit = NULL;
  if (x.tok.kind != TF_T_END && !find_unit(r, &x, what, measures, plain_ok, &out->unit))
    return false;
  if (!out->unit && !plain_ok)
    return tf_fail(r->diags, node->at, TF_E_UNIT, "'%s' needs a unit: %s", what,
                   tf_unit_list(measures, list, sizeof list));
  if (out->value.f < 0)
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %g, must not be negative", what,
                   out->value.f);
  if (!out->unit) return true;
  const char *wrong = tf_value_op('*', out->value, tf_real(out->unit->factor), &out->value);
  return !wrong || tf_fail(r->diags, node->at, TF_E_RANGE, "%s", wrong);
}
