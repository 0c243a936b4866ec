/* Operations on any space, for strategies. */
#include "search/common/space.h"

enum { TRIES = 200 };

void tf_space_back(tf_space *s, int i) {
  s->kind->begin(s);
  for (int k = 0; k < i; k++)
    s->kind->take(s, k, s->chosen[k]);
}

int32_t tf_space_nearest(const int32_t *domain, int n, int32_t target) {
  for (int k = 0; k < n; k++)
    if (domain[k] >= target) return domain[k];
  return domain[n - 1];
}

int tf_space_domain(tf_space *s, int i, int32_t domain[TF_DOMAIN_MAX]) {
  int n = s->kind->domain(s, i, domain);
  if (n || i == 0 || !s->kind->instead) return n;
  const int32_t dead = s->chosen[i - 1];
  tf_space_back(s, i - 1);
  n = s->kind->domain(s, i - 1, domain);
  const int32_t other = n ? s->kind->instead(s, i - 1, domain, n, dead) : TF_ANY;
  if (other == TF_ANY) return 0;
  s->kind->take(s, i - 1, other);
  return s->kind->domain(s, i, domain);
}

/* Takes decisions 0 .. end - 1 from the row. */
static bool follow(tf_space *s, const int32_t *row, int end) {
  int32_t domain[TF_DOMAIN_MAX];
  s->kind->begin(s);
  for (int i = 0; i < end; i++) {
    int n = s->fixed ? 1 : tf_space_domain(s, i, domain);
    if (n == 0) return false;
    s->kind->take(s, i, s->fixed ? row[i] : tf_space_nearest(domain, n, row[i]));
  }
  return true;
}

bool tf_space_follow(tf_space *s, const int32_t *row) { return follow(s, row, s->n); }

bool tf_space_random(tf_space *s, tf_rng *rng) {
  int32_t domain[TF_DOMAIN_MAX];
  for (int k = 0; k < TRIES; k++) {
    int n = 1;
    s->kind->begin(s);
    for (int i = 0; i < s->n && n > 0; i++) {
      if (s->kind->draw) {
        s->kind->take(s, i, s->kind->draw(s, i, rng));
      } else if ((n = tf_space_domain(s, i, domain)) > 0) {
        s->kind->take(s, i, domain[n == 1 ? 0 : (int)tf_rng_below(rng, (uint32_t)n)]);
      }
    }
    if (n > 0) return true;
  }
  return false;
}

/* Gives one decision another choice, of those that earlier choices allow. */
static void change_one(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row) {
  int32_t domain[TF_DOMAIN_MAX];
  for (int k = 0; k < TRIES && s->n > 0; k++) {
    int i = (int)tf_rng_below(rng, (uint32_t)s->n);
    if ((order && !order[i]) || !follow(s, row, i)) continue;
    int n = tf_space_domain(s, i, domain);
    if (n < 2) continue;
    int32_t to = domain[tf_rng_below(rng, (uint32_t)n)];
    if (to == row[i]) continue;
    row[i] = to;
    return;
  }
}

void tf_space_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row) {
  if (s->kind->vary)
    s->kind->vary(s, rng, order, row);
  else
    change_one(s, rng, order, row);
}
