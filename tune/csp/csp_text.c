/* Systems as text, one line per variable or rule (see csp.h). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "tune/csp/csp.h"

/* What lines begin with: a rule's kind, or one of the others. */
static const char *const words[] = {CSP_KINDS(TF_NAME_ROW) "knob", "var", "IN"};
enum { N_WORDS = sizeof words / sizeof *words };

typedef struct {
  csp *s;
  tf_diags *d;
  uint16_t file;
  uint32_t line;
  const char *start, *at, *end; /* of the line */
  bool ok, no_memory;
} reader;

/* A word, number or sign of the line; len 0: the line has ended. */
typedef struct {
  const char *text;
  size_t len;
} token;

static bool part_of_name(char c) { return c && (isalnum((unsigned char)c) || strchr("_.-@':", c)); }

static token peek(reader *r) {
  while (r->at < r->end && isspace((unsigned char)*r->at))
    r->at++;
  if (r->at == r->end || *r->at == '#') return (token){r->at, 0};
  const char *p = r->at;
  if (p[0] == '.' && p + 1 < r->end && p[1] == '.') return (token){p, 2};
  if (p[0] == '<' && p + 1 < r->end && p[1] == '=') return (token){p, 2};
  const bool number = isdigit((unsigned char)*p);
  while (p < r->end && *p &&
         (number ? isdigit((unsigned char)*p) : part_of_name(*p) && !(p[0] == ':' && p == r->at)))
    p++;
  return (token){r->at, p > r->at ? (size_t)(p - r->at) : 1};
}

static token next(reader *r) {
  token t = peek(r);
  r->at = t.text + t.len;
  return t;
}

static tf_loc loc_of(const reader *r, token t) {
  return (tf_loc){r->file, r->line, (uint32_t)(t.text - r->start) + 1, t.len ? (uint32_t)t.len : 1};
}

#define FAIL(r, t, code, ...) ((r)->ok = tf_fail((r)->d, loc_of(r, t), code, __VA_ARGS__))
static bool token_is(token t, const char *word) {
  return t.len == strlen(word) && !memcmp(t.text, word, t.len);
}

/* The token for messages. */
static const char *shown(token t, char out[48]) {
  if (t.len == 0) return "the line's end";
  snprintf(out, 48, "'%.*s'", t.len > 40 ? 40 : (int)t.len, t.text);
  return out;
}

static bool want(reader *r, const char *sign) {
  char was[48];
  token t = peek(r);
  if (token_is(t, sign)) return next(r), true;
  return FAIL(r, t, TF_E_SYNTAX, "expected '%s', not %s", sign, shown(t, was));
}

static bool number(reader *r, int64_t *out) {
  char was[48];
  token t = next(r);
  if (t.len == 0 || !isdigit((unsigned char)*t.text))
    return FAIL(r, t, TF_E_SYNTAX, "expected a number, not %s", shown(t, was));
  *out = 0;
  for (size_t i = 0; i < t.len; i++) {
    *out = *out * 10 + (t.text[i] - '0');
    if (*out > CSP_MOST / 16) return FAIL(r, t, TF_E_RANGE, "numbers end at 2^58");
  }
  return true;
}

static bool out_of_memory(reader *r, bool had) {
  r->no_memory |= !had;
  if (!had) r->ok = false;
  return had;
}

/* ---- variables ------------------------------------------------------------------------------- */
/* {1,2,4}: values, ascending; how many, 0 after an error. */
static int set_of(reader *r, int64_t value[CSP_SET_MAX]) {
  int n = 0;
  if (!want(r, "{")) return 0;
  for (;;) {
    token t = peek(r);
    int64_t v;
    if (!number(r, &v)) return 0;
    if (n == CSP_SET_MAX)
      return FAIL(r, t, TF_E_LIMIT, "a set has at most %d values", CSP_SET_MAX), 0;
    if (n && v <= value[n - 1])
      return FAIL(r, t, TF_E_RANGE, "the values of a set ascend: %lld does not follow %lld",
                  (long long)v, (long long)value[n - 1]),
             0;
    value[n++] = v;
    if (token_is(peek(r), "}")) return next(r), n;
    if (!want(r, ",")) return 0;
  }
}

/* The index of the word among those that begin lines; N_WORDS: none. */
static int word_of(token t) {
  int k = 0;
  while (k < N_WORDS && !token_is(t, words[k]))
    k++;
  return k;
}

static void declare(reader *r, bool knob) {
  int64_t value[CSP_SET_MAX], lo, hi;
  char was[48], name[96];
  token t = next(r);
  if (t.len == 0 || t.len >= sizeof name || isdigit((unsigned char)*t.text) ||
      !part_of_name(*t.text) || word_of(t) < N_WORDS) {
    FAIL(r, t, TF_E_NAME,
         "%s cannot name a variable: letters, digits and _ . - @ ' :, fewer than 96",
         shown(t, was));
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)t.len, t.text);
  if (csp_find(r->s, name, t.len) >= 0) {
    FAIL(r, t, TF_E_DUP, "'%s' is a variable already", name);
    return;
  }
  if (!want(r, "in")) return;
  token dom = peek(r);
  if (token_is(dom, "{")) {
    int n = set_of(r, value);
    if (n) out_of_memory(r, csp_set(r->s, name, knob, n, value) >= 0);
    return;
  }
  if (!number(r, &lo) || !want(r, "..") || !number(r, &hi)) return;
  if (lo > hi)
    FAIL(r, dom, TF_E_RANGE, "nothing lies between %lld and %lld", (long long)lo, (long long)hi);
  else
    out_of_memory(r, csp_range(r->s, name, knob, lo, hi) >= 0);
}

/* A known variable, or a number; -1 after an error. */
static int operand(reader *r) {
  char was[48], near_text[160], name[96];
  token t = peek(r);
  int64_t v;
  if (t.len && isdigit((unsigned char)*t.text)) {
    if (!number(r, &v)) return -1;
    int n = csp_number(r->s, v);
    return out_of_memory(r, n >= 0) ? n : -1;
  }
  next(r);
  if (t.len == 0 || !part_of_name(*t.text))
    return FAIL(r, t, TF_E_SYNTAX, "expected a variable or a number, not %s", shown(t, was)), -1;
  int n = csp_find(r->s, t.text, t.len);
  if (n >= 0) return n;
  tf_near near = tf_near_start(t.text, t.len);
  for (int i = 0; i < r->s->n_vars; i++)
    if (!r->s->var[i].constant) tf_near_offer(&near, r->s->var[i].name);
  snprintf(name, sizeof name, "%.*s", t.len > 60 ? 60 : (int)t.len, t.text);
  FAIL(r, t, TF_E_NAME, "no variable '%s'%s", name,
       tf_near_text(&near, near_text, sizeof near_text));
  return -1;
}

/* ---- rules ----------------------------------------------------------------------------------- */
static void read_in_rule(reader *r) {
  int64_t value[CSP_SET_MAX];
  token t = peek(r);
  int v = operand(r), n = v >= 0 ? set_of(r, value) : 0;
  if (n && !csp_in(r->s, v, n, value) && out_of_memory(r, !tf_arena_failed(r->s->arena)))
    FAIL(r, t, TF_E_RANGE, "none of these is left for '%s'", r->s->var[v].name);
}

static void rule(reader *r, csp_kind kind) {
  int list[CSP_LIST_MAX], n = 0;
  token first = peek(r);
  int v = operand(r);
  if (v < 0 || !want(r, kind == CSP_LE ? "<=" : "=")) return;
  while (peek(r).len) {
    token t = peek(r);
    if (n == CSP_LIST_MAX) {
      FAIL(r, t, TF_E_LIMIT, "a rule names at most %d variables", CSP_LIST_MAX);
      return;
    }
    if (kind == CSP_SELECT && n == 1 && !want(r, ":")) return;
    list[n] = operand(r);
    if (list[n++] < 0) return;
  }
  const int least = kind == CSP_SELECT ? 2 : 1,
            most = kind == CSP_EQ || kind == CSP_LE ? 1 : CSP_LIST_MAX;
  if (n < least || n > most)
    FAIL(r, first, TF_E_SYNTAX, "a rule of this kind has %s%d on its right, this one %d",
         most == 1 ? "" : "at least ", least, n);
  else
    out_of_memory(r, csp_add(r->s, kind, v, n, list));
}

static void line(reader *r) {
  char was[48], near_text[160];
  token t = next(r);
  const bool was_ok = r->ok;
  r->ok = true;
  if (t.len == 0) {
    r->ok = was_ok;
    return;
  }
  tf_near near = tf_near_start(t.text, t.len);
  if (token_is(t, "knob") || token_is(t, "var"))
    declare(r, token_is(t, "knob"));
  else if (token_is(t, "IN"))
    read_in_rule(r);
  else if (word_of(t) < CSP_N_KINDS)
    rule(r, (csp_kind)word_of(t));
  else {
    for (int i = 0; i < N_WORDS; i++)
      tf_near_offer(&near, words[i]);
    FAIL(r, t, TF_E_KEY, "no kind of line begins with %s%s", shown(t, was),
         tf_near_text(&near, near_text, sizeof near_text));
  }
  token rest = peek(r);
  if (r->ok && rest.len)
    FAIL(r, rest, TF_E_SYNTAX, "expected the line's end, not %s", shown(rest, was));
  r->ok &= was_ok;
}

csp *csp_read(tf_arena *a, csp *s, uint16_t file, const char *text, size_t len, tf_diags *d) {
  reader r = {.s = s ? s : csp_new(a), .d = d, .file = file, .ok = true};
  const char *end = text + len;
  while (r.s && text < end && !r.no_memory) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    r.start = r.at = text;
    r.end = stop ? stop : end;
    r.line++;
    line(&r);
    text = stop ? stop + 1 : end;
  }
  if (!r.s || r.no_memory)
    tf_fail(d, (tf_loc){file, r.line, 1, 1}, TF_E_LIMIT, "too many variables, or out of memory");
  if (!r.s || !r.ok || r.no_memory) return NULL;
  if (csp_ready(r.s)) return r.s;
  tf_out_of_memory(d);
  return NULL;
}

/* ---- printing -------------------------------------------------------------------------------- */
static void print_var(FILE *f, const csp_var *x) {
  fprintf(f, "%s %s in ", x->knob ? "knob" : "var", x->name);
  const bool gapless = x->n == 0 || (x->n > 2 && x->hi - x->lo == x->n - 1);
  if (gapless) fprintf(f, "%lld..%lld", (long long)x->lo, (long long)x->hi);
  for (int i = 0; !gapless && i < x->n; i++)
    fprintf(f, "%s%lld%s", i ? "," : "{", (long long)x->set[i], i + 1 < x->n ? "" : "}");
  fputc('\n', f);
}

static void print_rule(FILE *f, const csp *s, const csp_rule *r) {
  fprintf(f, "%s %s %s", words[r->kind], s->var[r->v].name, r->kind == CSP_LE ? "<=" : "=");
  for (int k = 0; k < r->n; k++)
    fprintf(f, "%s %s", r->kind == CSP_SELECT && k == 1 ? " :" : "", s->var[r->list[k]].name);
  fputc('\n', f);
}

char *csp_text(const csp *s) {
  char *out = NULL;
  size_t len;
  FILE *f = open_memstream(&out, &len);
  if (!f) return NULL;
  for (int v = 0; v < s->n_vars; v++)
    if (!s->var[v].constant) print_var(f, &s->var[v]);
  for (int r = 0; r < s->n_rules; r++)
    print_rule(f, s, &s->rule[r]);
  if (fclose(f) == 0) return out;
  free(out);
  return NULL;
}
