/* The lexer of numeric, index and element expressions. */
#include "model/input/lex.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

tf_value tf_integer(int64_t i) { return (tf_value){true, i, (double)i}; }

tf_value tf_real(double f) {
  if (floor(f) == f && fabs(f) < 9007199254740992.0) return tf_integer((int64_t)f);
  return (tf_value){false, 0, f};
}

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t digits(const char *s) {
  size_t n = 0;
  while (digit(s[n]))
    n++;
  return n;
}

/* Bytes of "12", "1.5", ".5", "1e9", "2.5e-3"; an 'e' without digits is not part of it. */
static size_t number_length(const char *s, bool *integer) {
  size_t n = digits(s);
  *integer = true;
  if (s[n] == '.' && (n > 0 || digit(s[n + 1]))) {
    n += 1 + digits(s + n + 1);
    *integer = false;
  }
  if (s[n] != 'e' && s[n] != 'E') return n;
  size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
  size_t exponent = digits(s + n + 1 + sign);
  if (exponent == 0) return n;
  *integer = false;
  return n + 1 + sign + exponent;
}

/* Integers beyond 2^63 become reals; reals beyond the range of a double become infinite. */
static tf_value number_value(const char *s, bool integer) {
  if (!integer) return tf_real(strtod(s, NULL));
  errno = 0;
  long long i = strtoll(s, NULL, 10);
  return errno == ERANGE ? (tf_value){false, 0, strtod(s, NULL)} : tf_integer(i);
}

void tf_lex_next(tf_lex *x) {
  const char *text = x->node->text;
  size_t i = x->tok.at + x->tok.len;
  x->prev_end = i;
  while (text[i] == ' ' || text[i] == '\n' || text[i] == '\t')
    i++;
  const char *s = text + i;
  tf_tok t = {.at = i};
  bool integer;
  if (i >= x->node->len) {
    t.kind = TF_T_END;
  } else if (digit(*s) || (*s == '.' && digit(s[1]))) {
    t.kind = TF_T_NUMBER;
    t.len = number_length(s, &integer);
    t.value = number_value(s, integer);
  } else if (letter(*s)) {
    t.kind = TF_T_NAME;
    while (letter(s[t.len]) || digit(s[t.len]))
      t.len++;
  } else if (*s && strchr("+-*/()[],=%", *s)) {
    t.kind = TF_T_PUNCT;
    t.punct = *s;
    t.len = 1;
  } else {
    uint32_t code;
    t.kind = TF_T_BAD;
    t.len = tf_utf8_next(s, text + x->node->len, &code);
    if (t.len == 0) t.len = 1;
  }
  x->tok = t;
}

tf_lex tf_lex_start(const tf_ynode *node, size_t off, tf_diags *d) {
  tf_lex x = {.node = node, .diags = d, .start = off, .tok = {.at = off}};
  tf_lex_next(&x);
  return x;
}

bool tf_lex_is(const tf_lex *x, char punct) {
  return x->tok.kind == TF_T_PUNCT && x->tok.punct == punct;
}

bool tf_lex_take(tf_lex *x, char punct) {
  if (!tf_lex_is(x, punct)) return false;
  tf_lex_next(x);
  return true;
}

const char *tf_lex_text(const tf_lex *x) { return x->node->text + x->tok.at; }

bool tf_lex_word(const tf_lex *x, const char *word) {
  size_t n = strlen(word);
  return x->tok.kind == TF_T_NAME && x->tok.len == n && memcmp(tf_lex_text(x), word, n) == 0;
}

tf_loc tf_lex_at(const tf_lex *x) {
  if (x->tok.kind == TF_T_END) return tf_ynode_place(x->node, x->prev_end, 1);
  return tf_ynode_place(x->node, x->tok.at, x->tok.len);
}

tf_loc tf_lex_since(const tf_lex *x, size_t from) {
  size_t end = x->prev_end > from ? x->prev_end : from + 1;
  return tf_ynode_place(x->node, from, end - from);
}

bool tf_lex_fail(tf_lex *x, const char *expected) {
  if (x->tok.kind == TF_T_END)
    return tf_fail(x->diags, tf_lex_at(x), TF_E_SYNTAX, "expected %s, but the text ends here",
                   expected);
  return tf_fail(x->diags, tf_lex_at(x), TF_E_SYNTAX, "expected %s, not '%.*s'", expected,
                 (int)(x->tok.len < 40 ? x->tok.len : 40), tf_lex_text(x));
}

bool tf_lex_need(tf_lex *x, char punct, const char *after) {
  if (tf_lex_take(x, punct)) return true;
  char expected[80];
  size_t n = strlen(after) < 60 ? strlen(after) : 60;
  expected[0] = '\'';
  expected[1] = punct;
  memcpy(expected + 2, "' ", 2);
  memcpy(expected + 4, after, n);
  expected[4 + n] = '\0';
  return tf_lex_fail(x, expected);
}
