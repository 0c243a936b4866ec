/* Einsum of one or two operands: a sum of products whose axes are named by letters. */
#include <ctype.h>
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

static bool bad_equation(ox_net *g, const char *text) {
  return ox_fail(g, TF_E_SYNTAX,
                 "'%.60s': letters of one or two operands, each once in each, and '->' before those of the result",
                 text);
}

/* Reads letters up to one that is none; false: one stands there twice. */
static bool read_letters(const char **text, char *out, int *n) {
  for (*n = 0; isalpha((unsigned char)**text); ++*text) {
    if (*n == OX_RANK || memchr(out, letter(**text), (size_t)*n)) return false;
    out[(*n)++] = (char)letter(**text);
  }
  return true;
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
    if (!read_letters(&at, s->of[s->n], &s->rank[s->n])) return bad_equation(g, given);
    s->n++;
    if (*at != ',') break;
    at++;
  }
  if (!*at) return implied(s) || ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  if (strncmp(at, "->", 2) != 0) return bad_equation(g, given);
  at += 2;
  return (read_letters(&at, s->of[MOST_OPERANDS], &s->rank[MOST_OPERANDS]) && !*at) || bad_equation(g, given);
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
