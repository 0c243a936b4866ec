#include "tests/oracle/gen_spelled.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  tf_rng *g;
  page *p;
  spelled_may may;
  spelled *out;
  const char *b; /* "b," or "" */
  bool data; /* scores hold an input as an addend: -inf may mask a row, which what is not divided
                shows */
} speller;

typedef struct {
  char text[200];
} words;

static words say(const char *fmt, ...) TF_PRINTF(1, 2);
static words say(const char *fmt, ...) {
  words w;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(w.text, sizeof w.text, fmt, ap);
  va_end(ap);
  return w;
}

static const char *number(tf_rng *g) {
  static const char *const of[] = {"0.5", "0.3", "1.7", "0.125", "3"};
  return of[rng_between(g, 0, 4)];
}

/* An op: what it makes, how, from what, and the loops of its own beside the batch. */
static void op(speller *s, char name, const char *rank, const char *how, const words *value,
               const char *dims) {
  page_say(s->p, "  - \"%c[%s%s] %s %s\"\n", name, s->b, rank, how, value->text);
  const int i = s->out->n++;
  s->out->op[i].name = name;
  snprintf(s->out->op[i].dims, sizeof s->out->op[i].dims, "%s%s", *s->b ? "b" : "", dims);
  const bool reduces = strcmp(how, "=") != 0 && strchr(dims, 'l') && !strchr(rank, 'l');
  const size_t at = strlen(s->out->streamed);
  if (reduces) snprintf(s->out->streamed + at, sizeof s->out->streamed - at, " %c", name);
}

/* An element of a tensor at the point of its rows and keys, or of its rows. */
static words at(const speller *s, char name, const char *rank) {
  return say("%c[%s%s]", name, s->b, rank);
}

/* v times a number, spelled in some way; now and then v alone. */
static words scaled(const speller *s, words v) {
  const char *c = number(s->g);
  switch (rng_between(s->g, 0, 5)) {
  case 0: return say("%s * %s", v.text, c);
  case 1: return say("%s * %s", c, v.text);
  case 2: return say("%s / %s", v.text, c);
  default: return v;
  }
}

static const char *condition(const speller *s) {
  static const char *const bands[] = {"l <= m", "l <= m + 2", "m <= l", "m - l < 3 and l - m < 2",
                                      "l == m"};
  static const char *const rows[] = {"l <= m", "l <= m + 2", "l == 0 or l > m",
                                     "not (l > m) or l < 2", "l != 3 * m + 1"};
  return (s->may.masks == SPELLED_BANDS ? bands : rows)[rng_between(s->g, 0, 4)];
}

/* ---- scores and their exponentials ---------------------------------------------------------- */

/* The scores: made, or an input; scaled, masked or shifted, in an op of their own or not.  What the
 * maximum is of. */
static words scores(speller *s, bool makes) {
  const words dot = scaled(s, say("Q[%sm,a] * K[%sl,a]", s->b, s->b)), plain = at(s, 'S', "m,l");
  if (makes) op(s, 'S', "m,l", "+=", &dot, "mla");
  words v = scaled(s, plain);
  const int how = rng_between(s->g, 0, 4);
  if (how == 0) return plain;
  if (how == 1) return v;
  if (how == 2 && s->may.masks) v = say("select(%s, %s, -inf)", condition(s), v.text);
  if (how == 3) v = say("%s + B[m,l]", v.text);
  s->data = how == 3 || !makes;
  op(s, 'T', "m,l", "=", &v, "ml");
  return at(s, 'T', "m,l");
}

/* The exponent: an element less its maximum, perhaps times a number. */
static words exponent(const speller *s, words v) {
  const words x = at(s, 'X', "m");
  const char *c = number(s->g);
  switch (rng_between(s->g, 0, 6)) {
  case 0: return say("%s * (%s - %s)", c, v.text, x.text);
  case 1: return say("(%s - %s) * %s", v.text, x.text, c);
  case 2: return say("(%s - %s) / %s", v.text, x.text, c);
  case 3:
    return s->may.negates ? say("-(%s - (%s))", x.text, v.text) : say("%s - %s", v.text, x.text);
  default: return say("%s - %s", v.text, x.text);
  }
}

static words exponential(speller *s, words v) {
  words e = exponent(s, v);
  if (rng_chance(s->g, 4)) {
    op(s, 'D', "m,l", "=", &e, "ml");
    e = at(s, 'D', "m,l");
  }
  e = say("exp(%s)", e.text);
  if (s->may.masks && rng_chance(s->g, 6)) e = say("select(%s, %s, 0)", condition(s), e.text);
  if (rng_chance(s->g, 5)) return e; /* each reader computes it anew */
  op(s, 'E', "m,l", "=", &e, "ml");
  return at(s, 'E', "m,l");
}

/* ---- the division --------------------------------------------------------------------------- */

/* e over z, as one expression that may stand between others as a factor. */
static words quotient(const speller *s, words e, words z) {
  const char *c = number(s->g);
  switch (rng_between(s->g, 0, 8)) {
  case 0: return say("(%s * (1 / %s))", e.text, z.text);
  case 1: return say("(1 / %s) * %s", z.text, e.text);
  case 2: return say("(%s * %s / %s)", e.text, c, z.text);
  case 3: return say("(%s * %s / %s)", c, e.text, z.text);
  case 4: return say("(%s / %s * %s)", e.text, z.text, c);
  case 5: return say("(%s / (%s * %s))", e.text, z.text, c);
  case 6:
    return s->may.negates ? say("(-(%s / %s))", e.text, z.text) : say("(%s / %s)", e.text, z.text);
  default: return say("(%s / %s)", e.text, z.text);
  }
}

/* An inverse as an op, then a product with it. */
static words by_inverse(speller *s, words e, words z) {
  const words inverse =
      rng_chance(s->g, 3) ? say("%s / %s", number(s->g), z.text) : say("1 / %s", z.text);
  op(s, 'R', "m", "=", &inverse, "m");
  const words r = at(s, 'R', "m");
  return rng_chance(s->g, 2) ? say("%s * %s", e.text, r.text) : say("%s * %s", r.text, e.text);
}

/* The shares, or what becomes them later: in an op of their own, in two, or in none. */
static words shares(speller *s, words e, words z) {
  words v = rng_chance(s->g, 4) ? by_inverse(s, e, z) : quotient(s, e, z);
  if (rng_chance(s->g, 2)) return v;
  op(s, 'P', "m,l", "=", &v, "ml");
  v = at(s, 'P', "m,l");
  if (!rng_chance(s->g, 4)) return v;
  v = s->may.negates && rng_chance(s->g, 2) ? say("-%s", v.text) : scaled(s, v);
  op(s, 'W', "m,l", "=", &v, "ml");
  return at(s, 'W', "m,l");
}

/* The product with the values, whose division may stand behind any of its factors. */
static words product(const speller *s, words e, words values, const words *z) {
  const bool turned = rng_chance(s->g, 2);
  const words one = turned ? values : e, two = turned ? e : values;
  if (z && rng_chance(s->g, 3)) return say("1 / %s * %s * %s", z->text, one.text, two.text);
  if (z && rng_chance(s->g, 2)) return say("%s / %s * %s", one.text, z->text, two.text);
  if (z) return say("%s * %s / %s", one.text, two.text, z->text);
  return rng_chance(s->g, 5) ? say("%s * %s * %s", one.text, number(s->g), two.text)
                             : say("%s * %s", one.text, two.text);
}

static void sums(speller *s, words e, words z) {
  typedef enum { NOWHERE, BEFORE, WITHIN, BEHIND } place;
  const bool shows = s->data;
  const place where = (place)rng_between(s->g, rng_chance(s->g, 6) && !shows ? NOWHERE : BEFORE,
                                         s->may.behind ? BEHIND : WITHIN);
  const words v = where == BEFORE ? shares(s, e, z) : e, values = say("V[%sl,n]", s->b),
              o = product(s, v, values, where == WITHIN ? &z : NULL);
  if (rng_chance(s->g, 6) && (!shows || where == BEFORE || where == WITHIN)) {
    const words other = product(s, v, say("G[l]"), where == WITHIN ? &z : NULL);
    op(s, 'F', "m", "+=", &other, "ml");
  }
  op(s, where == BEHIND ? 'U' : 'O', "m,n", "+=", &o, "mnl");
  if (where != BEHIND) return;
  const words last = quotient(s, at(s, 'U', "m,n"), z);
  op(s, 'O', "m,n", "=", &last, "mn");
  s->out->op[s->out->n - 1].behind = true;
}

void spell(tf_rng *g, page *p, spelled_may may, spelled *out) {
  *out = (spelled){.m = gen_extent(g, may.most),
                   .l = gen_extent(g, may.most),
                   .a = rng_between(g, 1, may.most / 3 + 1),
                   .n_dim = rng_between(g, 1, may.most / 3 + 1),
                   .b = rng_chance(g, 4) ? 2 : 0};
  speller s = {g, p, may, out, out->b ? "b," : "", false};
  const bool makes = !rng_chance(g, 4);
  page_say(p, "workload:\n  name: w\n  dims: {m: %d, l: %d, n: %d", out->m, out->l, out->n_dim);
  if (makes) page_say(p, ", a: %d", out->a);
  page_say(p, "%s}\n  ops:\n", out->b ? ", b: 2" : "");
  const words v = scores(&s, makes), again = rng_chance(g, 6) ? scaled(&s, v) : v;
  op(&s, 'X', "m", "max=", &again, "ml");
  const words e = exponential(&s, again), z = at(&s, 'Z', "m"),
              sum = rng_chance(g, 8) ? scaled(&s, e) : e;
  op(&s, 'Z', "m", "+=", &sum, "ml");
  sums(&s, e, z);
}
