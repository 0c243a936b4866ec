/* Arithmetic of the input, and the scalars that hold a number. */
#include "model/input/number.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"

/* ---- values ------------------------------------------------------------------------- */
static const char *real_result(double f, tf_value *out) {
  if (!isfinite(f)) return "the result is no finite number";
  *out = tf_real(f);
  return NULL;
}

/* Integers divide to an integer where that is exact. */
static const char *divide(tf_value a, tf_value b, tf_value *out) {
  if (b.f == 0) return "division by zero";
  bool exact = a.whole && b.whole && !(a.i == INT64_MIN && b.i == -1) && a.i % b.i == 0;
  if (!exact) return real_result(a.f / b.f, out);
  *out = tf_whole(a.i / b.i);
  return NULL;
}

const char *tf_value_op(char op, tf_value a, tf_value b, tf_value *out) {
  int64_t i = 0;
  if (op == '/') return divide(a, b, out);
  if (!a.whole || !b.whole) return real_result(op == '+' ? a.f + b.f : op == '-' ? a.f - b.f : a.f * b.f, out);
  bool fits = op == '+' ? tf_add(a.i, b.i, &i) : op == '-' ? tf_sub(a.i, b.i, &i) : tf_mul(a.i, b.i, &i);
  if (!fits) return "the result passes 2^63 - 1";
  *out = tf_whole(i);
  return NULL;
}

/* ---- expressions -------------------------------------------------------------------- */
static bool parse_sum(tf_reader *r, tf_lex *x, tf_value *out);

static bool too_deep(tf_lex *x) {
  return tf_fail(x->diags, tf_lex_at(x), TF_E_LIMIT, "nested deeper than %d", TF_MAX_DEPTH);
}

/* Applies an operator; errors are located at it. */
static bool apply(tf_reader *r, const tf_lex *op, tf_value a, tf_value b, tf_value *out) {
  const char *wrong = tf_value_op(op->tok.punct, a, b, out);
  return !wrong || tf_fail(r->diags, tf_lex_at(op), TF_E_RANGE, "%s", wrong);
}

static tf_value round_to(tf_value v, double f) { return v.whole ? v : tf_real(f); }

/* ceil floor min max: what a number may call. */
static bool parse_call(tf_reader *r, tf_lex *x, const char *name, tf_value *out) {
  tf_value b;
  bool two = name[0] == 'm';
  tf_lex_next(x);
  if (!parse_sum(r, x, out)) return false;
  if (two && x->tok.kind == TF_T_END) /* in braces YAML ends it at the comma */
    return tf_lex_fail(x, "',' and a second argument (inside of { } or [ ] a text with a comma needs quotes)");
  if (two && !tf_lex_need(x, ',', "between two arguments")) return false;
  if (two && !parse_sum(r, x, &b)) return false;
  if (!tf_lex_need(x, ')', "after the arguments")) return false;
  if (name[0] == 'c') *out = round_to(*out, ceil(out->f));
  if (name[0] == 'f') *out = round_to(*out, floor(out->f));
  if (two && (name[1] == 'i' ? b.f < out->f : b.f > out->f)) *out = b;
  return true;
}

static bool parse_name(tf_reader *r, tf_lex *x, tf_value *out) {
  static const char *const calls[] = {"ceil", "floor", "min", "max"};
  tf_lex here = *x;
  tf_lex_next(x);
  for (size_t i = 0; i < 4 && tf_lex_is(x, '('); i++)
    if (tf_lex_word(&here, calls[i])) return parse_call(r, x, calls[i], out);
  tf_param_state s = tf_param_value(r, tf_lex_text(&here), here.tok.len, &here, out);
  if (s != TF_PARAM_UNKNOWN) return s == TF_PARAM_KNOWN;
  tf_near near = tf_near_start(tf_lex_text(&here), here.tok.len);
  char hint[80];
  for (size_t i = 0; tf_param_name(r->params, i); i++)
    tf_near_offer(&near, tf_param_name(r->params, i));
  return tf_fail(r->diags, tf_lex_at(&here), TF_E_NAME, "no param '%.*s'%s",
                 (int)(here.tok.len < 60 ? here.tok.len : 60), tf_lex_text(&here),
                 tf_near_text(&near, hint, sizeof hint));
}

static bool parse_atom(tf_reader *r, tf_lex *x, tf_value *out) {
  if (x->tok.kind == TF_T_NUMBER) {
    if (!isfinite(x->tok.value.f)) return tf_fail(r->diags, tf_lex_at(x), TF_E_RANGE, "number too large");
    *out = x->tok.value;
    tf_lex_next(x);
    return true;
  }
  if (x->tok.kind == TF_T_NAME) return parse_name(r, x, out);
  if (!tf_lex_take(x, '(')) return tf_lex_fail(x, "a number");
  return parse_sum(r, x, out) && tf_lex_need(x, ')', "to close '('");
}

static bool parse_signed(tf_reader *r, tf_lex *x, tf_value *out) {
  if (r->depth >= TF_MAX_DEPTH) return too_deep(x);
  r->depth++;
  tf_lex here = *x;
  bool minus = tf_lex_take(x, '-');
  bool ok = minus ? parse_signed(r, x, out) : parse_atom(r, x, out);
  r->depth--;
  if (!ok || !minus) return ok;
  return apply(r, &here, tf_whole(0), *out, out);
}

/* Operands joined by one of two operators of the same precedence, left-associative. */
static bool parse_chain(tf_reader *r, tf_lex *x, const char *ops, tf_value *out) {
  bool sum = ops[0] == '+';
  if (!(sum ? parse_chain(r, x, "*/", out) : parse_signed(r, x, out))) return false;
  while (tf_lex_is(x, ops[0]) || tf_lex_is(x, ops[1])) {
    tf_lex here = *x;
    tf_value b;
    tf_lex_next(x);
    if (!(sum ? parse_chain(r, x, "*/", &b) : parse_signed(r, x, &b))) return false;
    if (!apply(r, &here, *out, b, out)) return false;
  }
  return true;
}

static bool parse_sum(tf_reader *r, tf_lex *x, tf_value *out) { return parse_chain(r, x, "+-", out); }

bool tf_parse_number(tf_reader *r, tf_lex *x, tf_value *out) { return parse_sum(r, x, out); }

/* ---- scalars ------------------------------------------------------------------------ */
/* Reads the number at the start of a scalar; leaves x after it. */
static bool start_number(tf_reader *r, const tf_ynode *node, const char *what, tf_lex *x, tf_value *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->diags)) return false;
  if (node->len > TF_MAX_TEXT)
    return tf_fail(r->diags, node->at, TF_E_LIMIT, "'%s' is longer than %d bytes", what, TF_MAX_TEXT);
  *x = tf_lex_start(node, 0, r->diags);
  return parse_sum(r, x, out);
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
    return tf_fail(r->diags, tf_ynode_place(node, x.tok.at, len), TF_E_UNIT, "'%s' is a plain number, without a unit",
                   what);
  return tf_lex_fail(&x, "an operator or the end");
}

bool tf_read_int(tf_reader *r, const tf_ynode *node, const char *what, int64_t lo, int64_t hi, int64_t *out) {
  tf_value v;
  if (!tf_read_value(r, node, what, &v)) return false;
  if (!v.whole && fabs(v.f) < 9007199254740992.0)
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' must be a whole number, not %g", what, v.f);
  if (!v.whole || v.i < lo || v.i > hi) {
    if (hi == INT64_MAX && v.f < 0x1p62)
      return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %.17g, must be %lld or more", what, v.f, (long long)lo);
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %.17g, must be %lld to %lld", what, v.f, (long long)lo,
                   (long long)hi);
  }
  *out = v.i;
  return true;
}

bool tf_read_bool(tf_reader *r, const tf_ynode *node, const char *what, bool *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->diags)) return false;
  *out = tf_ynode_is(node, "true");
  if (*out || tf_ynode_is(node, "false")) return true;
  return tf_fail(r->diags, node->at, TF_E_TYPE, "'%s' must be true or false, not '%.40s'", what, node->text);
}

/* The text behind the number must be a unit of one of the measures. */
static bool find_unit(tf_reader *r, const tf_lex *x, const char *what, unsigned measures, const tf_unit_row **unit) {
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
  if (*unit) return tf_fail(r->diags, at, TF_E_UNIT, "'%.*s' is no unit for '%s'; known: %s", shown, rest, what, list);
  const char *near = tf_unit_nearest(rest, len, measures);
  if (near) return tf_fail(r->diags, at, TF_E_UNIT, "unknown unit '%.*s', did you mean '%s'?", shown, rest, near);
  return tf_fail(r->diags, at, TF_E_UNIT, "unknown unit '%.*s' for '%s'; known: %s", shown, rest, what, list);
}

bool tf_read_quantity(tf_reader *r, const tf_ynode *node, const char *what, unsigned measures, bool plain_ok,
                      tf_quantity *out) {
  tf_lex x;
  char list[96];
  if (!start_number(r, node, what, &x, &out->value)) return false;
  out->unit = NULL;
  if (x.tok.kind != TF_T_END && !find_unit(r, &x, what, measures, &out->unit)) return false;
  if (!out->unit && !plain_ok)
    return tf_fail(r->diags, node->at, TF_E_UNIT, "'%s' needs a unit: %s", what,
                   tf_unit_list(measures, list, sizeof list));
  if (out->value.f < 0)
    return tf_fail(r->diags, node->at, TF_E_RANGE, "'%s' is %g, must not be negative", what, out->value.f);
  if (!out->unit) return true;
  const char *wrong = tf_value_op('*', out->value, tf_real(out->unit->factor), &out->value);
  return !wrong || tf_fail(r->diags, node->at, TF_E_RANGE, "%s", wrong);
}
