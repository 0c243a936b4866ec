#include "model/sparse/odds.h"

#include <math.h>

/* Of `all` elements `nonzero` are drawn: the probability that `count` others are zero. */
static double none_of_draw(double all, double nonzero, double count) {
  double log_p = 0;
  if (count + nonzero > all) return nonzero > 0 && count > 0 ? 0 : 1;
  if (count > TF_ODDS_MOST)
    return exp(lgamma(all - count + 1) + lgamma(all - nonzero + 1) -
               lgamma(all - count - nonzero + 1) - lgamma(all + 1));
  for (int64_t i = 0; i < (int64_t)count && log_p > -800; i++)
    log_p += log1p(-nonzero / (all - (double)i));
  return exp(log_p);
}

/* Where share * all is no whole number, the draw has as many as the whole number below or above it,
 * so that the mean is right. */
double tf_odds_none(const tf_odds *o, double count) {
  if (count <= 0) return 1;
  if (o->kind == TF_ODDS_TOLD) return o->of[0];
  if (o->per > 1) count = ceil(count / o->per);
  if (o->kind == TF_ODDS_FIXED) return o->share > 0 ? 0 : 1;
  if (o->kind == TF_ODDS_LOOSE) return fmax(0, 1 - o->share * count);
  if (o->kind == TF_ODDS_EACH) return pow(1 - o->share, count);
  const double mean = o->share * o->all, low = floor(mean + 1e-9), above = mean - low;
  const double p = none_of_draw(o->all, low, count);
  return above < 1e-9 ? p : (1 - above) * p + above * none_of_draw(o->all, low + 1, count);
}

typedef struct {
  double all, nonzero, count, fixed, per;
} draw;

/* Terms beyond so many deviations are left out: together they are below 1e-30. */
enum { DEVIATIONS = 12 };

/* The sum over j of weigh(j), the probability that j of `count` groups of elements are not zero,
 * times that of `per` j elements of b all being zero. */
static double all_void(double mean, double deviation, double least, double most,
                       double (*weigh)(const void *, double), const draw *of, const tf_odds *b) {
  double sum = 0;
  least = fmax(least, floor(mean - DEVIATIONS * deviation - 1));
  most = fmin(most, ceil(mean + DEVIATIONS * deviation + 1));
  for (int64_t j = (int64_t)least; j <= (int64_t)most; j++) {
    const double none = tf_odds_none(b, of->per * (double)j);
    if (none < 1e-30) break;
    sum += none * weigh(of, (double)j);
  }
  return sum;
}

static double weigh_draw(const void *of, double j) {
  const draw *d = of;
  return exp(d->fixed - lgamma(j + 1) - lgamma(d->nonzero - j + 1) - lgamma(d->count - j + 1) -
             lgamma(d->all - d->nonzero - d->count + j + 1));
}

static double void_of_draw(const tf_odds *a, double nonzero, double count, const tf_odds *b) {
  const double all = a->all, per = a->per > 1 ? a->per : 1;
  count = floor(count / per);
  const draw d = {all, nonzero, count,
                  lgamma(nonzero + 1) + lgamma(all - nonzero + 1) - lgamma(all + 1) +
                      lgamma(count + 1) + lgamma(all - count + 1),
                  per};
  const double share = nonzero / all;
  return all_void(count * share, sqrt(count * share * (1 - share)),
                  fmax(0, count - (all - nonzero)), fmin(count, nonzero), weigh_draw, &d, b);
}

static double weigh_each(const void *of, double j) {
  const draw *d = of; /* nonzero: the share */
  return exp(lgamma(d->count + 1) - lgamma(j + 1) - lgamma(d->count - j + 1) + j * log(d->nonzero) +
             (d->count - j) * log1p(-d->nonzero));
}

static double void_of_each(double share, double count, const tf_odds *b) {
  const draw d = {0, share, count, 0, 1};
  if (share >= 1) return tf_odds_none(b, count);
  return all_void(count * share, sqrt(count * share * (1 - share)), 0, count, weigh_each, &d, b);
}

/* Where share * all is no whole number, as in tf_odds_none. */
static double void_of_drawn(const tf_odds *a, double count, const tf_odds *b) {
  const double mean = a->share * a->all, low = floor(mean + 1e-9), above = mean - low;
  const double p = void_of_draw(a, low, count, b);
  return above < 1e-9 ? p : (1 - above) * p + above * void_of_draw(a, low + 1, count, b);
}

/* Of fibers that are told. */
static double void_of_told(const tf_odds *a, const tf_odds *b) {
  double sum = 0;
  for (int64_t j = 0; j < a->n_of; j++) {
    const double none = tf_odds_none(b, (double)j);
    if (none < 1e-30) break;
    sum += none * a->of[j];
  }
  return sum;
}

bool tf_odds_grouped(const tf_odds *o) {
  return o->kind == TF_ODDS_FIXED || o->kind == TF_ODDS_TOLD || o->per > 1;
}

double tf_odds_pair(const tf_odds *a, const tf_odds *b, int count) {
  if (a->kind == TF_ODDS_FIXED && b->kind != TF_ODDS_FIXED)
    return 1 - tf_odds_none(b, a->share * count);
  if (b->kind == TF_ODDS_FIXED && a->kind != TF_ODDS_FIXED)
    return 1 - tf_odds_none(a, b->share * count);
  if (a->kind == TF_ODDS_TOLD) return 1 - void_of_told(a, b);
  if (b->kind == TF_ODDS_TOLD) return 1 - void_of_told(b, a);
  if (b->per > 1) return 1 - void_of_drawn(b, count, a);
  if (a->kind == TF_ODDS_EACH) return 1 - void_of_each(a->share, count, b);
  if (b->kind == TF_ODDS_EACH && !(a->per > 1)) return 1 - void_of_each(b->share, count, a);
  return 1 - void_of_drawn(a, count, b);
}

/* ---- how many, at most ---------------------------------------------------------------------- */

/* From how many deviations above the mean on terms are added up: those beyond are below any doubt.
 */
enum { ABOVE = 40 };

/* The least number from which on the terms add up to `doubt` at most, less one. */
static double quantile(double mean, double deviation, double most,
                       double (*weigh)(const void *, double), const draw *of, double doubt) {
  double sum = 0;
  int64_t j = (int64_t)fmin(most, ceil(mean + ABOVE * deviation + ABOVE));
  for (; j > 0; j--) {
    sum += weigh(of, (double)j);
    if (sum > doubt) break;
  }
  return (double)j;
}

static double most_drawn(const tf_odds *o, double count, double doubt) {
  const double nonzero = ceil(o->share * o->all - 1e-9), share = nonzero / o->all;
  const draw d = {o->all, nonzero, count,
                  lgamma(nonzero + 1) + lgamma(o->all - nonzero + 1) - lgamma(o->all + 1) +
                      lgamma(count + 1) + lgamma(o->all - count + 1),
                  1};
  const double least = fmax(0, count - (o->all - nonzero));
  return fmax(least, quantile(count * share, sqrt(count * share * (1 - share)),
                              fmin(count, nonzero), weigh_draw, &d, doubt));
}

static double most_each(double share, double count, double doubt) {
  const draw d = {0, share, count, 0, 1};
  if (share >= 1) return count;
  return quantile(count * share, sqrt(count * share * (1 - share)), count, weigh_each, &d, doubt);
}

/* exp(-count * D) is the bound, D the divergence of the share x from the mean p. */
static double most_bounded(double p, double count, double doubt) {
  double low = p, high = 1;
  for (int i = 0; i < 60; i++) {
    const double x = (low + high) / 2, rest = x < 1 ? (1 - x) * log((1 - x) / (1 - p)) : 0;
    *(exp(-count * (x * log(x / p) + rest)) > doubt ? &low : &high) = x;
  }
  return fmin(count, ceil(high * count));
}

double tf_odds_most(const tf_odds *o, double count, double doubt) {
  const double per = o->per > 1 ? o->per : 1;
  if (o->share >= 1 || count <= 0) return count;
  if (o->kind == TF_ODDS_FIXED) return ceil(o->share * count);
  if (o->kind == TF_ODDS_EACH) return most_each(o->share, count, doubt);
  if (o->kind == TF_ODDS_DRAWN) return fmin(count, per * most_drawn(o, ceil(count / per), doubt));
  return most_bounded(o->share, count, doubt);
}
