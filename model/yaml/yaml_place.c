/* Places inside scalars: the value of a scalar is followed along its source. */
#include <string.h>

#include "base/utf8.h"
#include "model/yaml/node.h"

/* A place in the source that moves forward. */
typedef struct {
  const char *p, *end;
  uint32_t line, col;
} cursor;

static void step(cursor *c) {
  size_t b = tf_line_break(c->p, c->end);
  if (b) {
    c->p += b;
    c->line++;
    c->col = 1;
    return;
  }
  uint32_t code;
  size_t n = tf_utf8_next(c->p, c->end, &code);
  c->p += n ? n : 1;
  c->col++;
}

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* Whether the source is at blanks before a line break. */
static bool at_fold(const cursor *c) {
  const char *p = c->p;
  while (p < c->end && blank(*p))
    p++;
  return tf_line_break(p, c->end) > 0;
}

/* Skips blanks, line breaks and the indentation of the next line of text. */
static void skip_fold(cursor *c) {
  while (c->p < c->end && (blank(*c->p) || tf_line_break(c->p, c->end)))
    step(c);
}

/* Skips "\n", "\x41", "\u00e9", "\U0001f600"; a line break after '\' with its indentation.  Returns
 * whether it stood for a character. */
static bool skip_escape(cursor *c) {
  step(c);
  if (c->p >= c->end) return true;
  if (tf_line_break(c->p, c->end)) {
    skip_fold(c);
    return false;
  }
  char kind = *c->p;
  int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  for (int i = 0; i <= digits && c->p < c->end; i++)
    step(c);
  return true;
}

static size_t value_step(const tf_ynode *s, size_t i) {
  uint32_t code;
  size_t n = tf_utf8_next(s->text + i, s->text + s->len, &code);
  return n ? n : 1;
}

/* Moves c past one character of the value at i, whatever its form in the source.  Returns the
 * number of bytes of the value that this covers. */
static size_t follow(const tf_ynode *s, cursor *c, size_t i) {
  char v = s->text[i];
  bool quoted = s->style == TF_Y_SINGLE || s->style == TF_Y_DOUBLE;
  if (s->style != TF_Y_LITERAL && (v == ' ' || v == '\n') && at_fold(c)) {
    skip_fold(c);
    size_t n = 1;
    while (i + n < s->len && v == '\n' && s->text[i + n] == '\n')
      n++;
    return n;
  }
  if (s->style == TF_Y_DOUBLE && c->p < c->end && *c->p == '\\')
    return skip_escape(c) ? value_step(s, i) : 0;
  if (s->style == TF_Y_SINGLE && v == '\'') step(c);
  bool new_line = c->p < c->end && tf_line_break(c->p, c->end) > 0;
  if (c->p < c->end) step(c);
  if (!quoted && new_line)
    for (uint32_t k = 1; k < s->text_at.col && c->p < c->end && *c->p == ' '; k++)
      step(c);
  return value_step(s, i);
}

/* Whether the source is at a '\\' that hides a line break. */
static bool at_joint(const tf_ynode *s, const cursor *c) {
  return s->style == TF_Y_DOUBLE && c->p < c->end && *c->p == '\\' &&
         tf_line_break(c->p + 1, c->end) > 0;
}

static cursor cursor_at(const tf_ynode *s, size_t off) {
  cursor c = {s->src, s->src_end, s->text_at.line, s->text_at.col};
  for (size_t i = 0; i < off && i < s->len && c.p < c.end;)
    i += follow(s, &c, i);
  if (at_joint(s, &c)) skip_escape(&c);
  return c;
}

tf_loc tf_ynode_place(const tf_ynode *s, size_t off, size_t len) {
  if (off > s->len) off = s->len;
  cursor c = cursor_at(s, off);
  cursor stop = c;
  for (size_t i = off; i < off + len && i < s->len && stop.line == c.line;) {
    if (tf_line_break(stop.p, stop.end) || stop.p >= stop.end) break;
    i += follow(s, &stop, i);
  }
  uint32_t width = stop.line == c.line && stop.col > c.col ? stop.col - c.col : 1;
  return (tf_loc){s->at.file, c.line, c.col, width};
}
