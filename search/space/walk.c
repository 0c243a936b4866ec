/* A walk through the decisions: the domain of each, and the lengths left after each choice. */
#include <string.h>

#include "search/common/factors.h"
#include "search/space/build.h"

static int32_t rank_len(const tf_srank *r, const int32_t *len) {
  int64_t n = 1;
  for (int j = 0; j < r->n_terms; j++)
    n += (int64_t)r->terms[j].coef * (len[r->terms[j].slot] - 1);
  n = n > r->less ? n - r->less : 1;
  return n < r->clip ? (int32_t)n : r->clip;
}

static void infer(tf_trips *t, const tf_decision *d) {
  for (int k = 0; k < d->n_infer; k++) {
    const tf_sinfer *s = &d->infer[k];
    int32_t len = s->n_ranks ? 1 : s->clip;
    for (int r = 0; r < s->n_ranks; r++) {
      int32_t wanted = rank_len(&s->ranks[r], t->len);
      if (wanted > len) len = wanted;
    }
    t->len[s->slot] = s->copy >= 0 ? t->len[s->copy] : len;
  }
}

/* A length that no loop divides must be 1. */
static bool is_dead_end(const tf_trips *t, int slot) {
  return t->undivided[slot] && t->len[slot] > 1;
}

/* Makes the inferences of decision i, once per walk. */
static void enter(tf_trips *t, int i) {
  if (i < t->ready) return;
  const tf_decision *d = &t->decision[i];
  infer(t, d);
  if (t->by_rule && d->n_infer) tf_trips_measure(t, i);
  for (int k = 0; k < d->n_infer; k++)
    t->dead_end |= is_dead_end(t, d->infer[k].slot);
  t->ready = i + 1;
}

void tf_trips_enter(tf_trips *t, int i) { enter(t, i); }

void tf_trips_begin(tf_trips *t) {
  memcpy(t->len, t->begin, (size_t)t->n_slots * sizeof *t->len);
  t->ready = 0;
  t->dead_end = false;
  for (int o = 0; o < t->facts->wl->n_ops; o++)
    for (int k = 0; t->known[o] < 0 && k < t->facts->wl->ops[o].n_dims; k++)
      t->dead_end |= is_dead_end(t, t->facts->dim_from[o] + k);
}

/* ---- capacity --------------------------------------------------------------------------- */
static double least_bits(const tf_scheck *c, const int32_t *len) {
  double sum = 0;
  for (int i = 0; i < c->n_boxes; i++) {
    double box = c->boxes[i].bits;
    for (int r = 0; r < c->boxes[i].n_ranks; r++)
      box *= rank_len(&c->boxes[i].ranks[r], len);
    sum += box;
  }
  return sum;
}

/* Whether the boxes of a check still fit if the decision takes this trip count. */
static bool fits_with(tf_trips *t, const tf_sfit *fit, int32_t trip) {
  const tf_scheck *c = fit->check;
  for (int e = 0; e < c->n_slots; e++) {
    const int32_t left = fit->divide[e];
    const int32_t len = left ? t->len[c->slots[e]] : 1;
    t->scratch[e] = tf_space_parts(fit->own[e] ? tf_space_parts(len, trip) : len, left);
  }
  return least_bits(c, t->scratch) <= c->capacity_bits;
}

/* The first of n ascending trip counts for which no capacity is exceeded; n if there is none.
 * Larger counts give smaller boxes. */
static int first_fit(tf_trips *t, const tf_decision *d, const int32_t *domain, int n) {
  int first = 0;
  for (int k = 0; k < d->n_fits && first < n; k++) {
    if (fits_with(t, &d->fits[k], domain[first])) continue;
    int lo = first + 1, hi = n;
    while (lo < hi) {
      int mid = (lo + hi) / 2;
      if (fits_with(t, &d->fits[k], domain[mid]))
        hi = mid;
      else
        lo = mid + 1;
    }
    first = lo;
  }
  return first;
}

/* ---- coverage and fan-out ------------------------------------------------------------------ */
typedef struct {
  int32_t lo, hi, all; /* least and most allowed; the count that leaves nothing to split */
} bounds;

static bounds bounds_of(const tf_trips *t, const tf_decision *d) {
  bounds b = {1, 1, 1};
  for (int k = 0; k < d->n_slots; k++) {
    int32_t open = tf_space_parts(t->len[d->slots[k]], d->fixed_after[k]);
    int32_t need = tf_space_parts(open, d->room_after[k]);
    if (need > b.lo) b.lo = need;
    if (open > b.all) b.all = open;
  }
  b.hi = b.all;
  if (d->axis != TF_TEMPORAL) {
    const int64_t left = d->mesh / tf_space_used(d, t->space.chosen);
    if (left < b.hi) b.hi = (int32_t)left;
  }
  if (d->max && d->max < b.hi) b.hi = d->max;
  return b;
}

static int from_choices(const tf_decision *d, bounds b, int32_t *domain) {
  int n = 0;
  for (int i = 0; i < d->n_choices && n < TF_DOMAIN_MAX; i++) {
    int32_t c = d->choices[i];
    bool fits = c >= b.lo && (c <= b.hi || (d->axis == TF_TEMPORAL && (!d->max || c <= d->max)));
    if (!fits || (n && domain[n - 1] >= b.all)) continue;
    domain[n++] = c;
  }
  return n;
}

/* For loops that affect a producer, offers only counts that divide and tiles of a power of two:
 * every other count costs an evaluation of the rule of cover. */
static tf_factors_kind kind_of(const tf_trips *t, const tf_decision *d) {
  if (t->even) return TF_DIVISORS;
  if (t->rounded) return TF_ROUNDED;
  return d->affects_producer ? TF_WITH_TILES : TF_WITH_ALL;
}

static int from_factors(tf_trips *t, const tf_decision *d, bounds b, int32_t *domain) {
  const int32_t *list;
  int n = 0;
  if (b.lo > b.hi) return 0;
  if (b.lo == b.hi) {
    domain[0] = b.lo;
    return 1;
  }
  const tf_factors_kind kind = kind_of(t, d);
  int count = tf_factors_of(t->factors, b.all, kind, &list);
  int from = 0, end = count;
  while (from < end && list[from] < b.lo)
    from++;
  while (end > from && list[end - 1] > b.hi)
    end--;
  n = end - from;
  if (n) memcpy(domain, &list[from], (size_t)n * sizeof *domain);
  /* the least count with tiles as short as on all remaining instances */
  if (d->axis != TF_TEMPORAL && kind != TF_DIVISORS) {
    const int32_t fill = tf_space_parts(b.all, tf_space_parts(b.all, b.hi));
    if (fill >= b.lo && (!n || fill > domain[n - 1])) domain[n++] = fill;
  }
  if (n == 0) domain[n++] = b.lo;
  return n;
}

/* Whether a written count and those after it cover what is left, if no open loop follows. */
static bool reaches(const tf_trips *t, const tf_decision *d) {
  bool ok = true;
  for (int k = 0; k < d->n_slots; k++)
    ok &= d->room_after[k] > 1 || tf_space_parts(t->len[d->slots[k]], d->trip) <= d->fixed_after[k];
  return ok;
}

int tf_trips_domain(tf_trips *t, int i, int32_t domain[TF_DOMAIN_MAX]) {
  const tf_decision *d = &t->decision[i];
  const bool last = i + 1 == t->space.n;
  if (!tf_trips_covers(t, i - 1)) return 0;
  enter(t, i);
  if (t->dead_end) return 0;
  if (d->trip) {
    domain[0] = d->trip;
    return !reaches(t, d) ? 0 : last ? tf_trips_covering(t, i, domain, 1) : 1;
  }
  bounds b = bounds_of(t, d);
  int n = d->n_choices ? from_choices(d, b, domain) : from_factors(t, d, b, domain);
  int first = first_fit(t, d, domain, n);
  if (first) memmove(domain, domain + first, (size_t)(n - first) * sizeof *domain);
  return last ? tf_trips_covering(t, i, domain, n - first) : n - first;
}

void tf_trips_take(tf_trips *t, int i, int32_t trip) {
  enter(t, i);
  tf_trips_choose(t, i, trip);
}

/* ---- as a space --------------------------------------------------------------------------- */
static void begin(tf_space *s) { tf_trips_begin((tf_trips *)s); }
static int domain_of(tf_space *s, int i, int32_t *domain) {
  return tf_trips_domain((tf_trips *)s, i, domain);
}
static void take(tf_space *s, int i, int32_t trip) { tf_trips_take((tf_trips *)s, i, trip); }

const tf_space_kind tf_trips_kind = {.begin = begin,
                                     .domain = domain_of,
                                     .take = take,
                                     .guess = tf_trips_guess,
                                     .complete = tf_trips_complete,
                                     .vary = tf_trips_vary,
                                     .instead = tf_trips_instead};
