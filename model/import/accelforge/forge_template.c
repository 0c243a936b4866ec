/* The templates of AccelForge's files: the part of Jinja in which they set, repeat and choose. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/accelforge/forge.h"

enum { MOST_NAMES = 128, MOST_STEPS = 1 << 16, MOST_DEEP = 32 };

typedef struct {
  enum { T_NOTHING, T_NUMBER, T_TEXT, T_TABLE } is;
  double number;
  const char *text;
} value;

typedef struct {
  char name[FG_NAME];
  value is;
} variable;

typedef struct {
  forge *f;
  const char *text, *end, *p;
  const char *tag; /* where the one at hand begins */
  uint16_t file;
  bool live; /* text is written, and values are known */
  int n_names, steps, deep;
  variable names[MOST_NAMES];
  tf_page out;
} reader;

static bool find(const reader *r, const char *sign, const char **at) {
  const size_t n = strlen(sign);
  for (const char *p = r->p; p + n <= r->end; p++)
    if (!memcmp(p, sign, n)) return *at = p, true;
  return false;
}

bool fg_is_template(const tf_text *t) {
  const reader r = {.p = t->text, .end = t->text + t->len};
  const char *at;
  return find(&r, "{%", &at) || find(&r, "{{", &at);
}

static tf_loc place(const reader *r, const char *at) {
  tf_loc loc = {r->file, 1, 1, 1};
  for (const char *p = r->text; p < at; p++) {
    loc.col = *p == '\n' ? 1 : loc.col + 1;
    loc.line += *p == '\n';
  }
  return loc;
}

static bool refuse(const reader *r, const char *at, const char *what) {
  return tf_fail(
      r->f->diags, place(r, at), TF_E_SYNTAX,
      "%s: of templates set, for over a range, if, default and arithmetic are read; give "
      "the file that AccelForge's front end renders",
      what);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool expression(reader *r, value *out);

static void blanks(reader *r) {
  while (r->p < r->end && isspace((unsigned char)*r->p))
    r->p++;
}

static bool take(reader *r, const char *sign) {
  const size_t n = strlen(sign);
  blanks(r);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, sign, n) != 0) return false;
  if (isalpha((unsigned char)*sign) && r->p + n < r->end &&
      (isalnum((unsigned char)r->p[n]) || r->p[n] == '_'))
    return false;
  r->p += n;
  return true;
}

static bool take_word(reader *r, char *name) {
  size_t n = 0;
  blanks(r);
  while (r->p + n < r->end && (isalnum((unsigned char)r->p[n]) || r->p[n] == '_') && n < FG_NAME)
    n++;
  if (!n || n == FG_NAME || isdigit((unsigned char)*r->p)) return false;
  memcpy(name, r->p, n);
  name[n] = 0;
  r->p += n;
  return true;
}

static value of_text(const char *text) {
  char *end;
  const double x = strtod(text, &end);
  return *text && !*end && isfinite(x) ? (value){.is = T_NUMBER, .number = x}
                                       : (value){.is = T_TEXT, .text = text};
}

static value look_up(reader *r, const char *name) {
  for (size_t i = 0; i < r->f->n_set; i++)
    if (!strcmp(r->f->set[i].name, name)) {
      if (i < 64) r->f->set_used |= UINT64_C(1) << i;
      return of_text(r->f->set[i].value);
    }
  for (int i = r->n_names - 1; i >= 0; i--)
    if (!strcmp(r->names[i].name, name)) return r->names[i].is;
  return (value){.is = T_NOTHING, .text = tf_arena_strndup(r->f->arena, name, strlen(name))};
}

static bool quoted(reader *r, value *out) {
  const char quote = *r->p++, *from = r->p;
  while (r->p < r->end && *r->p != quote)
    r->p++;
  if (r->p == r->end) return refuse(r, from, "a quote is not closed");
  *out = (value){.is = T_TEXT, .text = tf_arena_strndup(r->f->arena, from, (size_t)(r->p - from))};
  r->p++;
  return out->text != NULL;
}

static bool atom(reader *r, value *out) {
  char name[FG_NAME];
  blanks(r);
  if (r->p < r->end && (*r->p == '"' || *r->p == '\'')) return quoted(r, out);
  if (take(r, "("))
    return expression(r, out) && (take(r, ")") || refuse(r, r->p, "a ')' is missing"));
  if (take(r, "-")) {
    if (!atom(r, out)) return false;
    out->number = -out->number;
    return true;
  }
  if (r->p < r->end && isdigit((unsigned char)*r->p)) {
    size_t n = 0;
    char digits[FG_NAME];
    while (r->p + n < r->end && n < sizeof digits - 1 &&
           (isalnum((unsigned char)r->p[n]) || r->p[n] == '.'))
      n++;
    memcpy(digits, r->p, n);
    digits[n] = 0;
    *out = of_text(digits);
    if (out->is != T_NUMBER) return refuse(r, r->p, "this is no number");
    r->p += n;
    return true;
  }
  const char *from = r->p;
  if (!take_word(r, name)) return refuse(r, from, "a value is missing here");
  if (!strcmp(name, "dict") && take(r, "(")) {
    *out = (value){.is = T_TABLE};
    return take(r, ")") || refuse(r, r->p, "a dict with entries");
  }
  *out = look_up(r, name);
  return true;
}

/* `X | default(V)`. */
static bool filtered(reader *r, value *out) {
  if (!atom(r, out)) return false;
  while (take(r, "|")) {
    value other;
    if (!take(r, "default") || !take(r, "(")) return refuse(r, r->p, "this filter is not read");
    if (!expression(r, &other)) return false;
    if (!take(r, ")")) return refuse(r, r->p, "a ')' is missing");
    if (out->is == T_NOTHING) *out = other;
  }
  return true;
}

static bool open_value(const reader *r, const char *at, const char *name) {
  return tf_fail(r->f->diags, place(r, at), TF_E_OPEN,
                 "nothing gives '%s' a value: --set %s=VALUE does", name, name);
}

static bool known(const reader *r, const char *at, const value *v) {
  if (!r->live || v->is == T_NUMBER) return true;
  return v->is == T_NOTHING && v->text ? open_value(r, at, v->text)
                                       : refuse(r, at, "a number is missing here");
}

static bool product(reader *r, value *out) {
  if (!filtered(r, out)) return false;
  for (;;) {
    const char *at = r->p;
    const bool whole = take(r, "//");
    const bool times = !whole && take(r, "*"), over = !whole && !times && take(r, "/");
    value by = {.is = T_NOTHING};
    if (!whole && !times && !over) return true;
    if (!filtered(r, &by) || !known(r, at, out) || !known(r, at, &by)) return false;
    out->number = times ? out->number * by.number : out->number / by.number;
    if (whole) out->number = floor(out->number);
  }
}

static bool sum(reader *r, value *out) {
  if (!product(r, out)) return false;
  for (;;) {
    const char *at = r->p;
    const bool plus = take(r, "+");
    value by = {.is = T_NOTHING};
    blanks(r);
    if (!plus && (r->p + 1 >= r->end || *r->p != '-' || r->p[1] == '%' || r->p[1] == '}'))
      return true;
    if (!plus) r->p++;
    if (!product(r, &by) || !known(r, at, out) || !known(r, at, &by)) return false;
    out->number = plus ? out->number + by.number : out->number - by.number;
  }
}

static bool equal(const value *a, const value *b) {
  if (a->is != b->is) return false;
  return a->is == T_NUMBER ? a->number == b->number : a->is != T_TEXT || !strcmp(a->text, b->text);
}

static bool comparison(reader *r, value *out) {
  static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">", "not in", "in"};
  value by;
  if (!sum(r, out)) return false;
  const char *at = r->p;
  for (int i = 0; i < 8; i++) {
    if (!take(r, signs[i])) continue;
    if (!sum(r, &by)) return false;
    if (i > 1 && i < 6 && (!known(r, at, out) || !known(r, at, &by))) return false;
    if (i > 5 && r->live && by.is != T_TABLE)
      return refuse(r, at, "what is no dict has no entries");
    const double x = out->number, y = by.number;
    const bool yes[] = {equal(out, &by), !equal(out, &by), x <= y, x >= y, x<y, x> y, true, false};
    *out = (value){.is = T_NUMBER, .number = yes[i]};
    return true;
  }
  return true;
}

static bool truth(const value *v) {
  return v->is == T_NUMBER ? v->number != 0
                           : v->is == T_TEXT && *v->text && strcmp(v->text, "False") != 0;
}

static bool expression(reader *r, value *out) {
  if (++r->deep > MOST_DEEP) return refuse(r, r->p, "this is too deep");
  bool yes;
  if (take(r, "not")) {
    if (!expression(r, out)) return false;
    yes = !truth(out);
    *out = (value){.is = T_NUMBER, .number = yes};
  } else if (!comparison(r, out)) {
    return false;
  }
  while (take(r, "and") || (r->p < r->end && take(r, "or"))) {
    const bool both = r->p[-1] == 'd';
    value by;
    if (!comparison(r, &by)) return false;
    yes = both ? truth(out) && truth(&by) : truth(out) || truth(&by);
    *out = (value){.is = T_NUMBER, .number = yes};
  }
  r->deep--;
  return true;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static bool close_tag(reader *r, const char *sign) {
  const bool strip = take(r, "-");
  if (!take(r, sign)) return refuse(r, r->p, "this is not read");
  if (strip) blanks(r);
  return true;
}

static bool set_name(reader *r, const char *name, value v) {
  if (r->n_names == MOST_NAMES) return refuse(r, r->p, "more than 128 names");
  variable *to = &r->names[r->n_names++];
  memcpy(to->name, name, strlen(name) + 1);
  to->is = v;
  return true;
}

static bool write_value(reader *r, const value *v) {
  if (!r->live) return true;
  if (v->is == T_NUMBER && v->number == floor(v->number) && fabs(v->number) < 9e15)
    tf_page_add(&r->out, "%.0f", v->number);
  else if (v->is == T_NUMBER)
    tf_page_add(&r->out, "%.17g", v->number);
  else if (v->is == T_TEXT)
    tf_page_add(&r->out, "%s", v->text);
  else if (v->is == T_NOTHING && v->text)
    return open_value(r, r->tag, v->text);
  else
    return refuse(r, r->tag, "this is no text");
  return true;
}

static bool block(reader *r, const char **ended);

/* `for NAME in range(A, B)`, or over the entries of a dict, which has none. */
static bool read_for(reader *r) {
  char name[FG_NAME], other[FG_NAME];
  value from = {.is = T_NUMBER}, to;
  const int names = r->n_names;
  const bool live = r->live;
  const char *at = r->p, *ended = NULL;
  if (!take_word(r, name)) return refuse(r, at, "this loop is not read");
  const bool pairs = take(r, ",") && take_word(r, other);
  if (!take(r, "in")) return refuse(r, r->p, "this loop is not read");
  if (pairs) {
    if (!atom(r, &to) || !take(r, ".items()")) return refuse(r, at, "this loop is not read");
    to = from;
  } else {
    if (!take(r, "range") || !take(r, "(")) return refuse(r, at, "this loop is not read");
    if (!sum(r, &to)) return false;
    if (take(r, ",")) {
      from = to;
      if (!sum(r, &to)) return false;
    }
    if (!take(r, ")")) return refuse(r, r->p, "this loop is not read");
    if (!known(r, at, &from) || !known(r, at, &to)) return false;
  }
  if (!close_tag(r, "%}")) return false;
  const char *body = r->p;
  double i = from.number;
  r->live = live && i < to.number;
  do {
    if (++r->steps > MOST_STEPS) return refuse(r, at, "more than 65536 steps of loops");
    r->p = body;
    r->n_names = names;
    if (!set_name(r, name, (value){.is = T_NUMBER, .number = i}) || !block(r, &ended)) return false;
    if (!ended || strcmp(ended, "endfor") != 0) return refuse(r, at, "this loop has no end");
  } while (r->live && ++i < to.number);
  r->live = live;
  r->n_names = names;
  return true;
}

static bool read_if(reader *r) {
  const bool live = r->live;
  const char *at = r->p, *ended = NULL;
  bool done = false, last = false;
  value v = {.is = T_NUMBER, .number = 1};
  if (!expression(r, &v) || !close_tag(r, "%}")) return false;
  for (;;) {
    r->live = live && !done && truth(&v);
    done |= truth(&v);
    if (!block(r, &ended)) return false;
    if (!ended || last > (strcmp(ended, "endif") == 0))
      return refuse(r, at, "this choice has no end");
    if (!strcmp(ended, "endif")) break;
    r->live = live && !done;
    v = (value){.is = T_NUMBER, .number = 1};
    if (!strcmp(ended, "elif") && (!expression(r, &v) || !close_tag(r, "%}"))) return false;
    last = !strcmp(ended, "else");
    if (strcmp(ended, "elif") != 0 && !last) return refuse(r, at, "this choice has no end");
  }
  r->live = live;
  return true;
}

static bool read_set(reader *r) {
  char name[FG_NAME];
  value v;
  const char *at = r->p;
  if (!take_word(r, name) || !take(r, "=")) return refuse(r, at, "this setting is not read");
  if (!expression(r, &v) || !close_tag(r, "%}")) return false;
  return !r->live || set_name(r, name, v);
}

/* One tag; *ended: the word of one that ends a block, which the caller closes where it goes on. */
static bool read_tag(reader *r, const char **ended) {
  static const char *const ends[] = {"endfor", "endif", "else", "elif"};
  const char *at = r->p;
  if (take(r, "-"))
    while (r->out.len && isspace((unsigned char)r->out.text[r->out.len - 1]))
      r->out.len--;
  if (take(r, "for")) return read_for(r);
  if (take(r, "if")) return read_if(r);
  if (take(r, "set")) return read_set(r);
  for (int i = 0; i < 4; i++)
    if (take(r, ends[i])) {
      *ended = ends[i];
      return i == 3 || close_tag(r, "%}");
    }
  return refuse(r, at, "this is not read");
}

/* Text up to the tag that ends it. */
static bool block(reader *r, const char **ended) {
  *ended = NULL;
  if (++r->deep > MOST_DEEP) return refuse(r, r->p, "this is too deep");
  while (r->p < r->end && !*ended) {
    const char *from = r->p;
    while (r->p < r->end &&
           !(r->p + 1 < r->end && *r->p == '{' && strchr("{%#", r->p[1]) && r->p[1]))
      r->p++;
    if (r->live) tf_page_add(&r->out, "%.*s", (int)(r->p - from), from);
    if (r->out.len > TF_YAML_MAX_BYTES) return refuse(r, from, "more than 16 MiB of text");
    if (r->p == r->end) break;
    const char kind = r->p[1];
    r->tag = r->p;
    r->p += 2;
    if (kind == '#') {
      if (!find(r, "#}", &r->p)) return refuse(r, r->tag, "this comment has no end");
      r->p += 2;
    } else if (kind == '%') {
      if (!read_tag(r, ended)) return false;
    } else {
      value v;
      if (!expression(r, &v) || !close_tag(r, "}}") || !write_value(r, &v)) return false;
    }
  }
  r->deep--;
  return true;
}

char *fg_render(forge *f, const tf_text *t, uint16_t file, size_t *len) {
  reader r = {
      .f = f, .text = t->text, .p = t->text, .end = t->text + t->len, .file = file, .live = true};
  const char *ended;
  bool ok = block(&r, &ended);
  if (ok && ended) ok = refuse(&r, r.tag, "this ends nothing");
  tf_page_add(&r.out, "%s", "");
  char *text = ok && !r.out.bad ? tf_arena_strndup(f->arena, r.out.text, r.out.len) : NULL;
  *len = r.out.len;
  free(r.out.text);
  return text;
}
