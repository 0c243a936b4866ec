/* Integer tiles: candidates near real ones, the words they move, and Eq. 3.19. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "search/closed/closed.h"

bool tf_c_has(const tf_c_problem *p, int d, int l) {
  return d == p->n - 1 || (p->chain->loops[l].op < 0 && !p->late[l]);
}

/* The tiles of level d of all instances together. */
static void all_of(const tf_c_problem *p, const tf_c_tiles *t, int d, double *s) {
  for (int l = 0; l < p->chain->n_loops; l++) {
    double whole = t->tile[d][l] * p->spread[d][l];
    s[l] = whole < tf_c_extent(p, l) ? whole : tf_c_extent(p, l);
  }
}

/* Words into level d.  Tiles of the levels down to d are consecutive and form one nest.  Below the
 * first level only the order of the innermost Tile matters; the steps of the others multiply. */
double tf_c_level_words(const tf_c_problem *p, const tf_c_tiles *t, int d) {
  double s[TF_C_LOOPS], outer[TF_C_LOOPS], words;
  int order[TF_C_LOOPS], n = 0;
  all_of(p, t, d, s);
  for (int i = 0; i < p->n_order; i++)
    if (tf_c_has(p, d, p->order[i])) order[n++] = p->order[i];
  words = tf_chain_words(p->chain, d == p->n - 1 ? p->kind : TF_SHAR, order, n, s, p->reloads);
  if (d == 0) return words;
  /* words of one outer tile, times the number of outer tiles */
  all_of(p, t, d - 1, outer);
  double times = 1;
  for (int l = 0; l < p->chain->n_loops; l++) {
    if (p->chain->loops[l].op < 0) times *= ceil(tf_c_extent(p, l) / outer[l] - 1e-9);
    outer[l] = trunc(outer[l]);
  }
  return times * tf_chain_words_in(p->chain, outer, d == p->n - 1 ? p->kind : TF_SHAR, order, n, s,
                                   p->reloads);
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
      double words = tf_chain_footprint(u, t->tile[d]) * u->bits / p->word_bits[d];
      if (!u->io && u->out && inner) home += words;
      if (u->io && !(u->is_repeat && (!inner || !tf_scope_at(p->kind)->drops)))
        held += words * (p->twice[d] ? 2 : 1);
    }
    largest = fmax(largest, held);
    sum += held;
  }
  return home + (inner && tf_scope_at(p->kind)->drops ? largest : sum);
}

bool tf_c_fits(const tf_c_problem *p, const tf_c_tiles *t, int d) {
  return tf_c_held(p, t, d) <= p->capacity[d] * (1 + 1e-12);
}

/* ---- rounding ------------------------------------------------------------------------------- */
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

#define MOST_LENGTH 0x1p61 /* sums and twice of it are int64_t */

enum { MOST_TILES = 4, MOST_PICKS = 4096 };

/* Tiles that are tried, for each loop. */
typedef struct {
  int n, loop[TF_C_LOOPS], n_tiles[TF_C_LOOPS];
  int64_t tile[TF_C_LOOPS][MOST_TILES];
} choices;

static void add_tile(choices *c, int64_t tile) {
  int *n = &c->n_tiles[c->n];
  bool known = tile < 1;
  for (int i = 0; i < *n; i++)
    known |= c->tile[c->n][i] == tile;
  if (!known) c->tile[c->n][(*n)++] = tile;
}

/* The number in lo .. hi with the highest power of two as a divisor: it leaves most ways to split
 * further. */
static int64_t most_even(int64_t lo, int64_t hi) {
  int64_t by = 1;
  while (hi / (2 * by) * (2 * by) >= lo)
    by *= 2;
  return hi / by * by;
}

/* Adds tiles near x of a range of len, whose last one may be shorter: with as many steps as x
 * rounded down gives, and with one less.  Tiles further in are at most x long, so a longer tile
 * with as many steps is of no use. */
static void add_near(choices *c, int64_t len, double x, int64_t need) {
  const int64_t units = tf_ceil_div(len, need);
  int64_t most = (int64_t)(x / (double)need * (1 + 1e-9));
  most = most < 1 ? 1 : most > units ? units : most;
  const int64_t steps = tf_ceil_div(units, most);
  add_tile(c, need * most_even(tf_ceil_div(units, steps), most));
  if (steps > 1) add_tile(c, need * ((units + steps - 2) / (steps - 1)));
}

/* The candidates of level d for each loop.  The first level splits the loop's range, and its last
 * tile may be shorter; levels further in split tiles, so their tiles are divisors: a longer step
 * would not fit. */
static void list_tiles(const tf_c_problem *p, const tf_c_tiles *real, const tf_c_tiles *whole,
                       int d, choices *c) {
  c->n = 0;
  for (int i = 0; i < p->n_order; i++) {
    int l = p->order[i];
    if (!tf_c_has(p, d, l)) continue;
    double share = p->spread[d][l] / (d ? p->spread[d - 1][l] : 1);
    const bool first = d == 0 || p->chain->loops[l].op >= 0;
    const double range = (first ? tf_c_extent(p, l) : whole->tile[d - 1][l]) / share + 1e-9;
    int64_t len = (int64_t)fmin(range, MOST_LENGTH), below, above;
    int64_t need = p->need[d][l] > 1 ? (int64_t)p->need[d][l] : 1;
    c->loop[c->n] = l;
    c->n_tiles[c->n] = 0;
    const int64_t even = len % need ? 1 : need;
    next_divisors(len < even ? 1 : len / even, real->tile[d][l] / (double)even, &below, &above);
    add_tile(c, p->pin[l] ? even : below * even);
    if (!p->pin[l]) add_tile(c, above * even);
    if (!p->pin[l] && first) add_near(c, len, real->tile[d][l], need);
    c->n++;
  }
}

static bool round_level(const tf_c_problem *p, const tf_c_tiles *real, int d, tf_c_tiles *whole) {
  choices c;
  tf_c_tiles t = *whole;
  double least = INFINITY;
  int picks = 1, pick[TF_C_LOOPS] = {0};
  list_tiles(p, real, whole, d, &c);
  for (int i = 0; i < c.n; i++) { /* of many loops, the last are only rounded down */
    c.n_tiles[i] = picks * c.n_tiles[i] <= MOST_PICKS ? c.n_tiles[i] : 1;
    picks *= c.n_tiles[i];
  }
  for (int k = 0; k < picks; k++) {
    for (int i = 0; i < c.n; i++)
      t.tile[d][c.loop[i]] = (double)c.tile[i][pick[i]];
    for (int i = 0; i < c.n && ++pick[i] == c.n_tiles[i]; i++)
      pick[i] = 0;
    if (!tf_c_fits(p, &t, d)) continue;
    double words = tf_c_level_words(p, &t, d);
    if (words < least * (1 - 1e-12)) {
      least = words;
      memcpy(whole->tile[d], t.tile[d], sizeof t.tile[d]);
    }
  }
  return isfinite(least);
}

bool tf_c_round(const tf_c_problem *p, const tf_c_tiles *real, tf_c_tiles *whole) {
  *whole = *real;
  for (int d = 0; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++)
      whole->tile[d][l] = d && p->chain->loops[l].op < 0
                              ? whole->tile[d - 1][l] * p->spread[d - 1][l] / p->spread[d][l]
                              : tf_c_extent(p, l) / p->spread[d][l];
  for (int d = 0; d < p->n; d++)
    if (!round_level(p, real, d, whole)) return false;
  return true;
}

/* ---- intra-tile parameters ------------------------------------------------------------------- */
tf_c_micro tf_c_micro_cpu(int registers) {
  tf_c_micro best = {1, 1, 1};
  double density = 0;
  for (int mi = 1; mi < registers; mi++)
    for (int ni = 1; mi * ni + ni < registers; ni++)
      for (int mii = mi < 2 ? mi : 2; mii <= mi; mii++) {
        if (mi % mii || mi * ni + ni + mii > registers) continue;
        double here = (double)mi * ni / (mi + ni);
        bool same = fabs(here - density) < 1e-12,
             fewer = mi * ni + ni + mii < best.mi * best.ni + best.ni + best.mii;
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
