/* Lines and tokens of mapping texts. */
#include <string.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "model/tree/parse.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_char(char c) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || is_digit(c) || c == '-' || c == '.';
}

/* ---- lines -------------------------------------------------------------------------- */
/* Cuts off a line's comment; *tab is set to the first tab before it. */
static const char *line_body(const char *p, const char *end, tf_loc at, tf_loc *tab) {
  for (; p < end && *p != '#'; p++) {
    if (*p == '\t' && tab->line == 0) *tab = (tf_loc){at.file, at.line, at.col, 1};
    at.col += ((unsigned char)*p & 0xc0) != 0x80;
  }
  return p;
}

bool tf_mtext_line(tf_mtext *t, tf_mlex *x, tf_loc *tab) {
  while (t->p < t->end) {
    const char *line = t->p, *stop = t->p;
    tf_loc at = t->at;
    while (stop < t->end && !tf_line_break(stop, t->end))
      stop++;
    t->p = stop + tf_line_break(stop, t->end);
    t->at.line++;
    *tab = (tf_loc){at.file, 0, 0, 0};
    stop = line_body(line, stop, at, tab);
    while (line < stop && *line == ' ')
      line++, at.col++;
    bool blank = true;
    for (const char *p = line; p < stop && blank; p++)
      blank = *p == ' ' || *p == '\t';
    if (blank) continue;
    *x = (tf_mlex){.p = line, .end = stop, .at = at, .last = at};
    tf_mlex_next(x);
    return true;
  }
  return false;
}

/* ---- tokens ------------------------------------------------------------------------- */
static void read_number(tf_mtok *t) {
  t->kind = TF_M_NUMBER;
  for (size_t i = 0; i < t->len; i++) {
    if (!is_digit(t->text[i])) {
      t->kind = TF_M_BAD;
      return;
    }
    int64_t n = t->number;
    t->huge |= !tf_mul(n, 10, &n) || !tf_add(n, t->text[i] - '0', &n);
    t->number = t->huge ? INT64_MAX : n;
  }
}

/* A run of characters that begin no token; at least one. */
static void read_junk(tf_mlex *x) {
  uint32_t code;
  while (x->p < x->end && !is_name_char(*x->p) && !memchr("=@?{},< \t", *x->p, 9)) {
    size_t n = tf_utf8_next(x->p, x->end, &code);
    x->p += n ? n : 1;
    x->tok.at.len++;
  }
  if (x->p == x->tok.text) x->p++, x->tok.at.len = 1;
}

static void read_punct(tf_mlex *x) {
  bool at_most = x->end - x->p >= 2 && memcmp(x->p, "<=", 2) == 0;
  bool known = *x->p && memchr("=@?{},", *x->p, 6);
  if (!at_most && !known) {
    read_junk(x);
    return;
  }
  x->tok.kind = TF_M_PUNCT;
  x->tok.punct = *x->p;
  x->tok.at.len = at_most ? 2 : 1;
  x->p += x->tok.at.len;
}

void tf_mlex_next(tf_mlex *x) {
  if (x->tok.kind != TF_M_END) x->last = (tf_loc){x->at.file, x->at.line, x->at.col, 1};
  while (x->p < x->end && (*x->p == ' ' || *x->p == '\t'))
    x->p++, x->at.col++;
  x->tok = (tf_mtok){.kind = x->p < x->end ? TF_M_BAD : TF_M_END, .text = x->p, .at = x->at};
  x->tok.at.len = 1;
  if (x->p == x->end) {
    x->tok.at = x->last;
    return;
  }
  if (!is_name_char(*x->p)) {
    read_punct(x);
    x->tok.len = (size_t)(x->p - x->tok.text);
  } else {
    while (x->p < x->end && is_name_char(*x->p))
      x->p++;
    x->tok.len = (size_t)(x->p - x->tok.text);
    x->tok.at.len = (uint32_t)x->tok.len;
    if (is_digit(*x->tok.text))
      read_number(&x->tok);
    else if (*x->tok.text != '-' && *x->tok.text != '.')
      x->tok.kind = TF_M_WORD;
  }
  x->at.col += x->tok.at.len;
}

bool tf_mlex_word(const tf_mlex *x, const char *word) {
  return x->tok.kind == TF_M_WORD && x->tok.len == strlen(word) &&
         memcmp(x->tok.text, word, x->tok.len) == 0;
}

bool tf_mlex_take(tf_mlex *x, char punct) {
  if (x->tok.kind != TF_M_PUNCT || x->tok.punct != punct) return false;
  tf_mlex_next(x);
  return true;
}

bool tf_mapping_expected(tf_build *b, const tf_mlex *x, const char *what) {
  if (x->tok.kind == TF_M_END)
    return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX, "expected %s at the end of the line", what);
  int len = x->tok.at.len == x->tok.len ? (int)(x->tok.len < 60 ? x->tok.len : 60) : 0;
  if (len == 0) return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX, "expected %s", what);
  return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX, "expected %s, not '%.*s'", what, len,
                 x->tok.text);
}
