/* Heuristics for trip counts: initial guesses, and moves from a row of counts to a neighbour. */
#include "search/space/build.h"

static const tf_trips *trips_of(const tf_space *s) { return (const tf_trips *)s; }

/* The greatest choice that leaves the branches running at the same time their share of the mesh. */
static int32_t fill_share(const tf_trips *t, const tf_decision *d, const int32_t *domain, int n) {
  const int64_t used = tf_space_used(d, t->space.chosen);
  while (n > 1 && used * domain[n - 1] > d->share)
    n--;
  return domain[n - 1];
}

/* The default guess: fills the mesh, and makes tiles as large as fit (the domain begins with the
 * least count whose tiles fit). */
int32_t tf_trips_guess(const tf_space *s, int i, const int32_t *domain, int n, uint32_t lot) {
  const tf_decision *d = &trips_of(s)->decision[i];
  if (d->axis != TF_TEMPORAL && lot & 15) return fill_share(trips_of(s), d, domain, n);
  if (d->axis == TF_TEMPORAL && lot & 1) return domain[0];
  return domain[(uint32_t)(((uint64_t)(lot >> 10) * (uint32_t)n) >> 22)];
}

/* SMALL: the most that a move takes out of a count without a suitable factor. */
enum { SMALL = 16, FILL_ONE_IN = 3 };

static bool one_tile(const tf_decision *a, const tf_decision *b) {
  const uint64_t axis = UINT64_C(3) << 17;
  return a->op == b->op && ((a->key ^ b->key) & ~axis) == 0;
}

/* Gives a spatial loop that the hint does not have factors of the temporal loop over the same dim
 * in its Tile, so that the steps further in keep their lengths. */
void tf_trips_complete(const tf_space *s, int32_t *row) {
  const tf_decision *at = trips_of(s)->decision;
  for (int i = 0; i < s->n; i++) {
    if (row[i] != TF_ANY || at[i].axis == TF_TEMPORAL) continue;
    for (int j = 0; j < s->n; j++) {
      if (j == i || at[j].axis != TF_TEMPORAL || row[j] < 2 || !one_tile(&at[i], &at[j])) continue;
      int32_t f = at[i].mesh < row[j] ? at[i].mesh : row[j];
      while (row[j] % f)
        f--;
      row[i] = f;
      row[j] /= f;
    }
  }
  tf_trips_make_room(trips_of(s), row);
}

/* A random loop over the same dim that divides one of the lengths of loop i; -1: none was found in
 * a few tries. */
static int partner_of(const tf_trips *t, tf_rng *rng, int i) {
  const tf_decision *at = t->decision;
  for (int tries = 0; tries < 16; tries++) {
    int j = (int)tf_rng_below(rng, (uint32_t)t->space.n);
    if (tries < 4 && !one_tile(&at[i], &at[j])) continue;
    if (j == i || at[j].dim != at[i].dim) continue;
    for (int a = 0; a < at[i].n_slots; a++)
      for (int b = 0; b < at[j].n_slots; b++)
        if (at[i].slots[a] == at[j].slots[b]) return j;
  }
  return -1;
}

static int32_t some_factor(tf_rng *rng, int32_t n) {
  int32_t primes[32] = {1};
  int k = 0;
  for (int32_t p = 2; p * p <= n && k < 30; p++)
    for (; n % p == 0 && k < 30; n /= p)
      primes[k++] = p;
  if (n > 1) primes[k++] = n;
  if (k == 0) return 1;
  int32_t f = primes[tf_rng_below(rng, (uint32_t)k)];
  if (k > 1 && !tf_rng_below(rng, 4)) f *= primes[tf_rng_below(rng, (uint32_t)k)];
  return f;
}

/* The factor that a move takes out of a count of n.  Of a large prime that would be all of it, so
 * usually a small number, which leaves a remainder. */
static int32_t part_of(const tf_trips *t, tf_rng *rng, int32_t n) {
  const int32_t f = some_factor(rng, n);
  if (t->even || f <= SMALL || !tf_rng_below(rng, 4)) return f;
  return 2 + (int32_t)tf_rng_below(rng, SMALL - 1);
}

static void shift(int32_t *row, int i, int j, int32_t f, bool rounds) {
  if (row[i] < f || (row[i] % f && !rounds)) return;
  row[i] = row[i] / f + (row[i] % f > 0);
  if (row[j] > 0 && row[j] < INT32_MAX / f) row[j] *= f;
}

/* The same for the corresponding loops of other ops on the same kind of unit, which usually share
 * the best tile sizes. */
static void shift_alike(const tf_trips *t, int32_t *row, int i, int j, int32_t f, bool rounds) {
  const tf_decision *at = t->decision;
  for (int a = at[i].first_alike; a >= 0; a = at[a].next_alike)
    for (int b = at[j].first_alike; a != i && b >= 0; b = at[b].next_alike)
      if (b != j && at[a].op == at[b].op) shift(row, a, b, f, rounds);
}

/* Further instances of its branch's share that a spatial loop could take. */
static int32_t idle_of(const tf_trips *t, const int32_t *row, int i) {
  const tf_decision *d = &t->decision[i];
  return (int32_t)(d->share / (row[i] * tf_space_used(d, row)));
}

/* Spreads more of a temporal loop over idle instances; false: none was found in a few tries. */
static bool fill_idle(const tf_trips *t, tf_rng *rng, int32_t *row) {
  for (int tries = 0; tries < 24; tries++) {
    const int i = (int)tf_rng_below(rng, (uint32_t)t->space.n);
    const tf_decision *d = &t->decision[i];
    const int32_t idle = d->axis == TF_TEMPORAL || d->trip || row[i] < 1 ? 1 : idle_of(t, row, i);
    const int j = idle > 1 ? partner_of(t, rng, i) : -1;
    if (j < 0 || t->decision[j].axis != TF_TEMPORAL || row[j] < 2) continue;
    int32_t f = idle < row[j] ? idle : row[j];
    while (f > 2 && row[j] % f)
      f--;
    shift(row, j, i, f, true);
    if (tf_rng_below(rng, 2)) shift_alike(t, row, j, i, f, true);
    return true;
  }
  return false;
}

/* Moves a factor from one loop to another of the same dim; the ranges of producers change
 * accordingly. */
void tf_trips_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row) {
  const tf_trips *t = trips_of(s);
  (void)order;
  if (!tf_rng_below(rng, FILL_ONE_IN) && fill_idle(t, rng, row)) return;
  for (int tries = 0; tries < 24; tries++) {
    int i = (int)tf_rng_below(rng, (uint32_t)t->space.n), j;
    if (row[i] < 2 || t->decision[i].trip || (j = partner_of(t, rng, i)) < 0) continue;
    const int32_t f = part_of(t, rng, row[i]);
    const bool rounds = row[i] % f > 0;
    shift(row, i, j, f, rounds);
    if (tf_rng_below(rng, 2)) shift_alike(t, row, i, j, f, rounds);
    return;
  }
}
