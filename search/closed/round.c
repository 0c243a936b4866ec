/* Integer tiles: near real ones, what they move, and Eq. 3.19. */
#include <math.h>
#include <string.h>

#include "search/closed/closed.h"

static double extent(const tf_c_problem *p, int l) { return (double)p->chain->loops[l].extent; }

/* The tiles of level d of all instances together. */
static void all_of(const tf_c_problem *p, const tf_c_tiles *t, int d, double *s) {
  for (int l = 0; l < p->chain->n_loops; l++) {
    double whole = t->tile[d][l] * p->spread[d][l];
    s[l] = whole < extent(p, l) ? whole : extent(p, l);
  }
}

/* Words into level d.  Tiles of the levels down to d are consecutive and act as one nest.  Below the first level the
 * order of the innermost Tile counts, and the steps of the others multiply. */
double tf_c_level_words(const tf_c_problem *p, const tf_c_tiles *t, int d) {
  double s[TF_C_LOOPS], outer[TF_C_LOOPS], words;
  int order[TF_C_LOOPS], n = 0;
  all_of(p, t, d, s);
  for (int i = 0; i < p->n_order; i++)
    if (tf_c_has(p, d, p->order[i])) order[n++] = p->order[i];
  words = tf_chain_words(p->chain, d == p->n - 1 ? p->kind : TF_SHAR, order, n, s, p->reloads);
  if (d == 0) return words;
  /* words of one outer tile, times the number of outer tiles */
  tf_chain inner = *p->chain;
  all_of(p, t, d - 1, outer);
  double times = 1;
  for (int l = 0; l < inner.n_loops; l++) {
    inner.loops[l].extent = (int64_t)outer[l];
    if (p->chain->loops[l].op < 0) times *= ceil(extent(p, l) / outer[l] - 1e-9);
  }
  return times * tf_chain_words(&inner, d == p->n - 1 ? p->kind : TF_SHAR, order, n, s, p->reloads);
}

double tf_c_cost(const tf_c_problem *p, const tf_c_tiles *t) {
  double worst = 0;
  for (int d = 0; d < p->n; d++)
    worst = fmax(worst, tf_c_level_words(p, t, d) / p->rate[d]);
  return worst;
}

double tf_c_held(const tf_c_problem *p, const tf_c_tiles *t, int d) {
  const tf_chain *c = p->chain;
  bool inner = d == p->n - 1;
  double largest = 0, sum = 0, home = 0;
  for (int k = 0; k < c->n_ops; k++) {
    double held = 0;
    for (int i = 0; i < c->n_uses; i++) {
      const tf_c_use *u = &c->uses[i];
      if (u->op != c->ops[k]) continue;
      double words = tf_chain_footprint(u, c->n_loops, t->tile[d]) * u->bits / p->word_bits[d];
      if (!u->io && u->out && inner) home += words;
      if (u->io && !(u->again && (!inner || p->kind != TF_SEQ))) held += words * (p->twice[d] ? 2 : 1);
    }
    largest = fmax(largest, held);
    sum += held;
  }
  return home + (inner && p->kind == TF_SEQ ? largest : sum);
}

bool tf_c_fits(const tf_c_problem *p, const tf_c_tiles *t, int d) {
  return tf_c_held(p, t, d) <= p->capacity[d] * (1 + 1e-12);
}

/* ---- rounding ------------------------------------------------------------------------------------ */
enum { MOST_DIVISOR = 1 << 20 }; /* largest length whose divisors are searched for */

/* The divisors of n nearest to x: at most x, and above x (0 where there is none). */
static void next_divisors(int64_t n, double x, int64_t *below, int64_t *above) {
  *below = 1;
  *above = 0;
  for (int64_t k = 1; k <= MOST_DIVISOR && k * k <= n; k++) {
    if (n % k) continue;
    for (int side = 0; side < 2; side++) {
      int64_t v = side ? n / k : k;
      if ((double)v <= x * (1 + 1e-9)) {
        if (v > *below) *below = v;
      } else if (!*above || v < *above) {
        *above = v;
      }
    }
  }
}

typedef struct {
  int n, loop[TF_C_LOOPS];
  int64_t below[TF_C_LOOPS], above[TF_C_LOOPS];
} choices;

/* The candidates of level d for each loop: divisors of what one instance has of it. */
static void list(const tf_c_problem *p, const tf_c_tiles *real, const tf_c_tiles *whole, int d, choices *c) {
  c->n = 0;
  for (int i = 0; i < p->n_order; i++) {
    int l = p->order[i];
    if (!tf_c_has(p, d, l)) continue;
    double share = p->spread[d][l] / (d ? p->spread[d - 1][l] : 1);
    int64_t len = (int64_t)((d && p->chain->loops[l].op < 0 ? whole->tile[d - 1][l] : extent(p, l)) / share + 1e-9);
    int64_t need = p->need[d][l] > 1 ? (int64_t)p->need[d][l] : 1;
    if (len % need) need = 1;
    c->loop[c->n] = l;
    next_divisors(len < need ? 1 : len / need, real->tile[d][l] / (double)need, &c->below[c->n], &c->above[c->n]);
    c->below[c->n] *= need;
    c->above[c->n] *= need;
    if (p->pin[l]) {
      c->below[c->n] = need;
      c->above[c->n] = 0;
    }
    c->n++;
  }
}

enum { MOST_LOOPS = 9 }; /* loops of which both neighbouring divisors are tried */

static bool round_level(const tf_c_problem *p, const tf_c_tiles *real, int d, tf_c_tiles *whole) {
  choices c;
  tf_c_tiles best = *whole;
  double least = INFINITY;
  list(p, real, whole, d, &c);
  int n = c.n < MOST_LOOPS ? c.n : MOST_LOOPS;
  for (unsigned pick = 0; pick < 1u << n; pick++) {
    tf_c_tiles t = *whole;
    bool ok = true;
    for (int i = 0; i < c.n; i++) {
      bool up = i < n && (pick >> i & 1);
      ok &= !up || c.above[i];
      t.tile[d][c.loop[i]] = (double)(up ? c.above[i] : c.below[i]);
    }
    if (!ok || !tf_c_fits(p, &t, d)) continue;
    double words = tf_c_level_words(p, &t, d);
    if (words < least * (1 - 1e-12)) {
      least = words;
      best = t;
    }
  }
  *whole = best;
  return isfinite(least);
}

bool tf_c_round(const tf_c_problem *p, const tf_c_tiles *real, tf_c_tiles *whole) {
  *whole = *real;
  for (int d = 0; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++)
      whole->tile[d][l] = d && p->chain->loops[l].op < 0 ? whole->tile[d - 1][l] * p->spread[d - 1][l] / p->spread[d][l]
                                                         : extent(p, l) / p->spread[d][l];
  for (int d = 0; d < p->n; d++)
    if (!round_level(p, real, d, whole)) return false;
  return true;
}

/* ---- intra-tile parameters ---------------------------------------------------------------------- */
tf_c_micro tf_c_micro_cpu(int registers) {
  tf_c_micro best = {1, 1, 1};
  double density = 0;
  for (int mi = 1; mi < registers; mi++)
    for (int ni = 1; mi * ni + ni < registers; ni++)
      for (int mii = mi < 2 ? mi : 2; mii <= mi; mii++) {
        if (mi % mii || mi * ni + ni + mii > registers) continue;
        double here = (double)mi * ni / (mi + ni);
        bool same = fabs(here - density) < 1e-12, fewer = mi * ni + ni + mii < best.mi * best.ni + best.ni + best.mii;
        if (here > density + 1e-12 || (same && fewer)) {
          density = here;
          best = (tf_c_micro){mi, ni, mii};
        }
      }
  return best;
}

int tf_c_micro_npu(int lanes, int64_t words) {
  int64_t n = 1, lane = lanes;
  while ((n + 1) * (n + 1) * lane * lane + 2 * (n + 1) * lane * lane <= words)
    n++;
  return (int)n;
}
