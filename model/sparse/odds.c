#include "model/sparse/odds.h"

#include <math.h>

/* Of `all` elements `nonzero` are drawn: the probability that `count` others are zero. */
static double none_of_draw(double all, double nonzero, double count) {
  double log_p = 0;
  if (count + nonzero > all) return nonzero > 0 && count > 0 ? 0 : 1;
  if (count > TF_ODDS_MOST)
    return exp(lgamma(all - count + 1) + lgamma(all - nonzero + 1) - lgamma(all - count - nonzero + 1) -
               lgamma(all + 1));
  for (int64_t i = 0; i < (int64_t)count && log_p > -800; i++)
    log_p += log1p(-nonzero / (all - (double)i));
  return exp(log_p);
}

/* Where share * all is no whole number, the draw has as many as the whole number below or above it, so that the mean is
 * right. */
double tf_odds_none(const tf_odds *o, double count) {
  if (count <= 0) return 1;
  if (o->kind == TF_ODDS_FIXED) return o->share > 0 ? 0 : 1;
  if (o->kind == TF_ODDS_LOOSE) return fmax(0, 1 - o->share * count);
  if (o->kind == TF_ODDS_EACH) return pow(1 - o->share, count);
  const double mean = o->share * o->all, low = floor(mean + 1e-9), above = mean - low;
  const double p = none_of_draw(o->all, low, count);
  return above < 1e-9 ? p : (1 - above) * p + above * none_of_draw(o->all, low + 1, count);
}

/* Terms beyond so many deviations are left out: together they are below 1e-30. */
enum { DEVIATIONS = 12 };

/* The sum over j of weigh(j), the probability that j of `count` elements are not zero, times that of j elements of b
 * all being zero. */
static double all_void(double mean, double deviation, double least, double most, double (*weigh)(const void *, double),
                       const void *of, const tf_odds *b) {
  double sum = 0;
  least = fmax(least, floor(mean - DEVIATIONS * deviation - 1));
  most = fmin(most, ceil(mean + DEVIATIONS * deviation + 1));
  for (int64_t j = (int64_t)least; j <= (int64_t)most; j++) {
    const double none = tf_odds_none(b, (double)j);
    if (none < 1e-30) break;
    sum += none * weigh(of, (double)j);
  }
  return sum;
}

typedef struct {
  double all, nonzero, count, fixed;
} draw;

static double weigh_draw(const void *of, double j) {
  const draw *d = of;
  return exp(d->fixed - lgamma(j + 1) - lgamma(d->nonzero - j + 1) - lgamma(d->count - j + 1) -
             lgamma(d->all - d->nonzero - d->count + j + 1));
}

static double void_of_draw(double all, double nonzero, double count, const tf_odds *b) {
  const draw d = {all, nonzero, count,
                  lgamma(nonzero + 1) + lgamma(all - nonzero + 1) - lgamma(all + 1) + lgamma(count + 1) +
                      lgamma(all - count + 1)};
  const double share = nonzero / all;
  return all_void(count * share, sqrt(count * share * (1 - share)), fmax(0, count - (all - nonzero)),
                  fmin(count, nonzero), weigh_draw, &d, b);
}

static double weigh_each(const void *of, double j) {
  const draw *d = of; /* nonzero: the share */
  return exp(lgamma(d->count + 1) - lgamma(j + 1) - lgamma(d->count - j + 1) + j * log(d->nonzero) +
             (d->count - j) * log1p(-d->nonzero));
}

static double void_of_each(double share, double count, const tf_odds *b) {
  const draw d = {0, share, count, 0};
  if (share >= 1) return tf_odds_none(b, count);
  return all_void(count * share, sqrt(count * share * (1 - share)), 0, count, weigh_each, &d, b);
}

double tf_odds_pair(const tf_odds *a, const tf_odds *b, int count) {
  if (a->kind == TF_ODDS_FIXED && b->kind != TF_ODDS_FIXED) return 1 - tf_odds_none(b, a->share * count);
  if (b->kind == TF_ODDS_FIXED && a->kind != TF_ODDS_FIXED) return 1 - tf_odds_none(a, b->share * count);
  if (a->kind == TF_ODDS_EACH) return 1 - void_of_each(a->share, count, b);
  if (b->kind == TF_ODDS_EACH) return 1 - void_of_each(b->share, count, a);
  const double mean = a->share * a->all, low = floor(mean + 1e-9), above = mean - low;
  const double p = void_of_draw(a->all, low, count, b);
  return 1 - (above < 1e-9 ? p : (1 - above) * p + above * void_of_draw(a->all, low + 1, count, b));
}
