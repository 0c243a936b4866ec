#include "model/sparse/busiest.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Parts of binomial draws, given that all of them have `nonzero` together, are parts of a draw
 * without replacement. */
enum { TERMS = 512, DEVIATIONS = 12 };

/* A draw of `each` elements; share 0: of so many that it is a Poisson one of that mean. */
typedef struct {
  double each, share, mean;
} part;

static double binomial(double count, double share, double j) {
  if (j < 0 || j > count) return 0;
  return exp(lgamma(count + 1) - lgamma(j + 1) - lgamma(count - j + 1) +
             (j > 0 ? j * log(share) : 0) + (count > j ? (count - j) * log1p(-share) : 0));
}

static double chance(const part *p, double j) {
  if (p->share > 0) return binomial(p->each, p->share, j);
  return j < 0 ? 0 : exp(j * log(p->mean) - p->mean - lgamma(j + 1));
}

/* to = a * b, as polynomials of `n` terms. */
static void multiply(const double *a, const double *b, double *to, int n) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k <= i; k++)
      sum += a[k] * b[i - k];
    to[i] = sum;
  }
}

/* The probability that no part has more than x, and all of them `nonzero` together: term by term.
 */
static double none_above_exactly(const part *p, double parts, double rest, double nonzero,
                                 double x) {
  double power[TERMS] = {1}, base[TERMS] = {0}, next[TERMS];
  const int n = (int)nonzero + 1;
  for (int j = 0; j < n && j <= x; j++)
    base[j] = chance(p, j);
  for (int64_t left = (int64_t)parts; left; left >>= 1) {
    if (left & 1) {
      multiply(power, base, next, n);
      memcpy(power, next, sizeof next);
    }
    multiply(base, base, next, n);
    memcpy(base, next, sizeof next);
  }
  double sum = 0;
  for (int j = 0; j < n; j++)
    sum += power[j] * binomial(rest, p->share, nonzero - j);
  return sum;
}

/* Sums over one part's elements that are not zero, of the terms below `next`: their probability,
 * and the first two moments about the mean. */
typedef struct {
  double next, all, first, second;
} terms;

static void add_terms(terms *t, const part *p, double last) {
  for (; t->next <= last; t->next++) {
    const double of = chance(p, t->next), off = t->next - p->mean;
    t->all += of, t->first += of * off, t->second += of * off * off;
  }
}

/* The same with the parts' sum as a normal one: of draws without their terms above x. */
static double none_above_normally(const terms *t, const part *p, double parts, double rest,
                                  double nonzero) {
  if (!(t->all > 0)) return 0;
  const double first = t->first / t->all;
  const double variance =
                   parts * (t->second / t->all - first * first) + rest * p->share * (1 - p->share),
               off = nonzero - parts * (p->mean + first) - rest * p->share;
  return variance > 0 ? pow(t->all, parts) * exp(-off * off / (2 * variance)) / sqrt(variance) : 0;
}

/* The expectation of the most in any of the parts, which have `nonzero` together with the rest. */
static double most_of(const part *p, double parts, double rest, double nonzero) {
  const double deviation = sqrt(p->mean * (1 - p->share)), end = fmin(p->each, nonzero);
  const bool exactly = nonzero < TERMS;
  terms t = {.next = fmax(0, floor(p->mean - DEVIATIONS * deviation))}, all = t;
  if (!exactly) add_terms(&all, p, fmin(end, p->mean + DEVIATIONS * (deviation + 1)));
  const double whole = exactly ? none_above_exactly(p, parts, rest, nonzero, p->each)
                               : none_above_normally(&all, p, parts, rest, nonzero);
  double most = floor(p->mean); /* some part has as many */
  for (double x = most; x < end && x < p->mean + DEVIATIONS * (deviation + 1); x++) {
    if (!exactly) add_terms(&t, p, x);
    const double none = exactly ? none_above_exactly(p, parts, rest, nonzero, x)
                                : none_above_normally(&t, p, parts, rest, nonzero),
                 above = 1 - none / whole;
    if (above < 1e-9) break;
    most += above;
  }
  return most;
}

static double most_of_drawn(double all, double nonzero, double parts, double each) {
  const part p = {each, nonzero / all, each * nonzero / all};
  if (nonzero >= all || nonzero <= 0) return p.mean;
  return most_of(&p, parts, all - parts * each, nonzero);
}

static double most_of_each(double share, double parts, double each) {
  const double mean = each * share, deviation = sqrt(mean * (1 - share));
  double below = 0, most = 0;
  if (share >= 1) return each;
  double j = fmax(0, floor(mean - DEVIATIONS * deviation));
  for (most = j; j < each && below < 1 - 1e-12; j++) {
    below += binomial(each, share, j);
    most += 1 - pow(fmin(below, 1), parts);
  }
  return most;
}

double tf_odds_busiest(const tf_odds *o, double parts, double each) {
  if (parts <= 1 || o->share >= 1) return o->share * each;
  if (o->kind == TF_ODDS_EACH) return most_of_each(o->share, parts, each);
  const double mean = o->share * o->all, low = floor(mean + 1e-9), above = mean - low,
               most = most_of_drawn(o->all, low, parts, each);
  return above < 1e-9 ? most
                      : (1 - above) * most + above * most_of_drawn(o->all, low + 1, parts, each);
}

/* Draws without replacement, out of so many that a part's load has the variance that it has here:
 * that is what is drawn for one token, and without end for one choice. */
double tf_routed_busiest(double tokens, double top, double experts, double parts) {
  const double chosen = tokens * top, mean = chosen / parts;
  if (parts <= 1 || top >= experts) return mean;
  const double all = (chosen * (experts - 1) - (experts - top)) / (top - 1);
  const part p = top > 1 ? (part){all / parts, chosen / all, mean} : (part){INFINITY, 0, mean};
  return most_of(&p, parts, 0, chosen);
}
