/* Einsum of one or two operands: a sum of products whose axes are named by letters. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { LETTERS = 52, MOST_OPERANDS = 2, LONGEST = 200 };

typedef struct {
  int n;                               /* operands */
  char of[MOST_OPERANDS + 1][OX_RANK]; /* letters of each operand's axes, then of the result's, as numbers */
  int rank[MOST_OPERANDS + 1];
  ox_value v[MOST_OPERANDS];
  ox_axis axis[LETTERS];
} sum;

static int letter(char c) { return islower((unsigned char)c) ? c - 'a' : 26 + c - 'A'; }

static bool bad_equation(ox_net *g, const char *text, const char *fmt, ...) TF_PRINTF(3, 4);
static bool bad_equation(ox_net *g, const char *text, const char *fmt, ...) {
  char why[120];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return ox_fail(g, TF_E_SYNTAX, "equation '%.60s': %s", text, why);
}

/* Reads the letters of an operand, or of the result (k MOST_OPERANDS), up to what is none. */
static bool read_letters(ox_net *g, sum *s, int k, const char *equation, const char **text) {
  char who[20] = "the result", *out = s->of[k];
  int *n = &s->rank[k];
  if (k < MOST_OPERANDS) snprintf(who, sizeof who, "operand %d", k + 1);
  for (*n = 0; isalpha((unsigned char)**text); ++*text) {
    if (*n == OX_RANK) return bad_equation(g, equation, "%s has more than %d axes", who, OX_RANK);
    if (memchr(out, letter(**text), (size_t)*n))
      return bad_equation(g, equation, "'%c' stands twice in %s, %s", **text, who,
                          k < MOST_OPERANDS ? "which takes a diagonal: not known" : "where it can stand once");
    out[(*n)++] = (char)letter(**text);
  }
  return **text != '.' || bad_equation(g, equation, "'...' in %s: axes without a letter are not known", who);
}

/* Without '->' the result has the letters that stand once, in order of the alphabet, capitals first; false: too many.
 */
static bool implied(sum *s) {
  int many[LETTERS] = {0};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++)
      many[(int)s->of[i][k]]++;
  for (int k = 0; k < LETTERS; k++) {
    const int at = (k + 26) % LETTERS;
    if (many[at] != 1) continue;
    if (s->rank[MOST_OPERANDS] == OX_RANK) return false;
    s->of[MOST_OPERANDS][s->rank[MOST_OPERANDS]++] = (char)at;
  }
  return true;
}

static bool parse(ox_net *g, sum *s) {
  const char *given = ox_text(g, "equation", ""), *at;
  char text[LONGEST] = "";
  size_t n = 0;
  for (at = given; *at && n + 1 < sizeof text; at++)
    if (*at != ' ') text[n++] = *at;
  text[n] = '\0';
  at = text;
  for (s->n = 0; s->n < MOST_OPERANDS;) {
    if (!read_letters(g, s, s->n, given, &at)) return false;
    s->n++;
    if (*at != ',') break;
    if (s->n == MOST_OPERANDS) return bad_equation(g, given, "more than %d operands are not known", MOST_OPERANDS);
    at++;
  }
  if (!*at) return implied(s) || ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  if (strncmp(at, "->", 2) != 0)
    return bad_equation(g, given, "'%c' where ',' or '->' was to be expected", isprint((unsigned char)*at) ? *at : '?');
  at += 2;
  if (!read_letters(g, s, MOST_OPERANDS, given, &at)) return false;
  return !*at || bad_equation(g, given, "'%c' in the result", isprint((unsigned char)*at) ? *at : '?');
}

/* Gives each letter an axis that is cut like those of both operands. */
static bool open_letters(ox_net *g, sum *s) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++) {
      ox_axis *a = &s->axis[(int)s->of[i][k]];
      const int64_t extent = ox_extent(&s->v[i], k), has = a->n ? a->cut[a->n - 1] : 1;
      if (has > 1 && extent > 1 && has != extent)
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements have one letter", (long long)has,
                       (long long)extent);
      if (!ox_cut(g, a, 1) || (extent > 1 && !ox_join(g, a, &s->v[i], k))) return false;
    }
  for (int k = 0; k < LETTERS; k++)
    if (s->axis[k].n && !ox_open(g, &s->axis[k])) return false;
  return true;
}

/* Whether some letter of an operand is not one of the result. */
static bool sums_up(const sum *s) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++)
      if (!memchr(s->of[MOST_OPERANDS], s->of[i][k], (size_t)s->rank[MOST_OPERANDS])) return true;
  return false;
}

static ox_expr *read_operand(ox_net *g, sum *s, int i) {
  const ox_axis *at[OX_RANK];
  for (int k = 0; k < s->rank[i]; k++)
    at[k] = ox_extent(&s->v[i], k) > 1 ? &s->axis[(int)s->of[i][k]] : NULL;
  return ox_read(g, &s->v[i], at);
}

static bool einsum(ox_net *g) {
  sum s = {0};
  ox_value out;
  const ox_axis *made[OX_RANK];
  if (!parse(g, &s)) return false;
  if ((size_t)s.n != g->node->n_input)
    return ox_fail(g, TF_E_SHAPE, "%zu operands for an equation of %d", g->node->n_input, s.n);
  for (int i = 0; i < s.n; i++) {
    if (!ox_placed(g, (size_t)i, &s.v[i])) return false;
    if (s.v[i].rank != s.rank[i]) return ox_fail(g, TF_E_RANK, "%d letters for %d axes", s.rank[i], s.v[i].rank);
  }
  if (s.n > 1 && s.v[0].tensor == s.v[1].tensor && !ox_copy(g, &s.v[1], ox_part(g, "right")))
    return false; /* two parts of one tensor: each gets its own */
  ox_begin(g);
  if (!open_letters(g, &s)) return false;
  for (int k = 0; k < s.rank[MOST_OPERANDS]; k++) {
    made[k] = &s.axis[(int)s.of[MOST_OPERANDS][k]];
    if (!made[k]->n) return ox_fail(g, TF_E_NAME, "a letter of the result that no operand has");
  }
  ox_expr *e = read_operand(g, &s, 0);
  if (e && s.n > 1) {
    ox_expr *b = read_operand(g, &s, 1);
    e = b ? ox_call(g, "*", e, b, NULL) : NULL;
  }
  return ox_make(g, g->node->output[0], sums_up(&s) ? "+=" : "=", e, made, s.rank[MOST_OPERANDS], &out) &&
         ox_give(g, 0, &out);
}

const ox_kind ox_einsums[] = {{"Einsum", einsum, NULL}, {NULL, NULL, NULL}};
