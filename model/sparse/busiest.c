#include "model/sparse/busiest.h"

#include <math.h>
#include <string.h>

/* Parts of binomial draws, given that all of them have `nonzero` together, are parts of a draw
 * without replacement. */
enum { TERMS = 512, DEVIATIONS = 12 };

typedef struct {
  double each, share;
} part;

static double binomial(double count, double share, double j) {
  if (j < 0 || j > count) return 0;
  return exp(lgamma(count + 1) - lgamma(j + 1) - lgamma(count - j + 1) +
             (j > 0 ? j * log(share) : 0) + (count > j ? (count - j) * log1p(-share) : 0));
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
    base[j] = binomial(p->each, p->share, j);
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

/* The same with the parts' sum as a normal one: of binomials without their terms above x. */
static double none_above_normally(const part *p, double parts, double rest, double nonzero,
                                  double x) {
  const double mean = p->each * p->share, deviation = sqrt(mean * (1 - p->share));
  double all = 0, first = 0, second = 0;
  const int64_t last = (int64_t)fmin(x, p->each);
  for (int64_t j = (int64_t)fmax(0, floor(mean - DEVIATIONS * deviation)); j <= last; j++) {
    const double of = binomial(p->each, p->share, (double)j), off = (double)j - mean;
    all += of, first += of * off, second += of * off * off;
  }
  if (!(all > 0)) return 0;
  first /= all;
  const double variance = parts * (second / all - first * first) + rest * p->share * (1 - p->share),
               off = nonzero - parts * (mean + first) - rest * p->share;
  return variance > 0 ? pow(all, parts) * exp(-off * off / (2 * variance)) / sqrt(variance) : 0;
}

static double most_of_drawn(double all, double nonzero, double parts, double each) {
  const part p = {each, nonzero / all};
  const double mean = each * p.share, deviation = sqrt(mean * (1 - p.share)),
               rest = all - parts * each;
  double (*none_above)(const part *, double, double, double, double) =
      nonzero < TERMS ? none_above_exactly : none_above_normally;
  if (nonzero >= all || nonzero <= 0) return mean;
  const double whole = none_above(&p, parts, rest, nonzero, each);
  double most = floor(mean); /* some part has as many */
  for (double x = most; x < fmin(each, nonzero) && x < mean + DEVIATIONS * (deviation + 1); x++) {
    const double above = 1 - none_above(&p, parts, rest, nonzero, x) / whole;
    if (above < 1e-9) break;
    most += above;
  }
  return most;
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
