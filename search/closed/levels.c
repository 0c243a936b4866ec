/* Real-valued tiles of one loop order: Eq. 3.14, 3.18 and 3.21. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/closed/closed.h"
#include "search/closed/gp.h"

/* ---- Eq. 3.18 ------------------------------------------------------------------------------- */
/* Eq. 3.18: tiles of m and l for C[m,l] = A[m,k] B[k,l], E[m,n] = C D, with k and n tiled by alpha.
 * Where an extent is shorter than its tile, it becomes the tile, and the other dim takes the
 * remaining capacity. */
static void gemm_tiles(double m, double l, double capacity, double alpha, double *tile_m,
                       double *tile_l) {
  double t = sqrt(alpha * alpha + capacity) - alpha;
  *tile_m = *tile_l = t;
  if (t > m && m <= l) {
    *tile_m = m;
    *tile_l = fmin(l, (capacity - alpha * m) / (m + alpha));
  } else if (t > l) {
    *tile_l = l;
    *tile_m = fmin(m, (capacity - alpha * l) / (l + alpha));
  }
}

/* ---- the geometric program ------------------------------------------------------------------ */
/* The variables: the tile of each loop of the order in each level, of own loops in the last level
 * only; -1: fixed. */
typedef struct {
  const tf_c_problem *p;
  tf_gp gp;
  int var[TF_C_LEVELS][TF_C_LOOPS];
  double fixed[TF_C_LEVELS][TF_C_LOOPS];
} program;

/* Loops of the order that Tile d has. */
static bool is_tiled(const tf_c_problem *p, int d, int l) {
  for (int i = 0; i < p->n_order; i++)
    if (p->order[i] == l) return tf_c_has(p, d, l);
  return false;
}

static bool name_vars(program *g) {
  const tf_c_problem *p = g->p;
  int n = 1;
  for (int d = 0; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++) {
      double hi = tf_c_extent(p, l) / p->spread[d][l], lo = fmin(p->low[l], hi);
      g->fixed[d][l] = hi;
      g->var[d][l] = -1;
      if (!is_tiled(p, d, l)) continue;
      if (p->pin[l]) g->fixed[d][l] = lo;
      if (p->pin[l] || hi / lo < 1 + 1e-9) continue;
      if (n == TF_GP_VARS) return false;
      g->gp.lo[n] = log(lo);
      g->gp.hi[n] = log(hi);
      g->var[d][l] = n++;
    }
  tf_gp_init(&g->gp, n);
  return true;
}

/* Multiplies by the tile of loop l in level d (-1: the whole extent), times its instances, to a
 * power. */
static void times(const program *g, tf_gp_term *t, int d, int l, bool all, double power) {
  if (d < 0) {
    t->log_coef += power * log(tf_c_extent(g->p, l));
    return;
  }
  if (all) t->log_coef += power * log(g->p->spread[d][l]);
  if (g->var[d][l] < 0)
    t->log_coef += power * log(g->fixed[d][l]);
  else
    tf_gp_times(t, g->var[d][l], power);
}

/* Adds the terms of base * product of lengths from rank r on.  all: over all instances.  Negative
 * constants are dropped, which makes a length slightly longer. */
static bool expand(program *g, const tf_c_use *u, int r, int d, bool all, const tf_gp_term *base) {
  if (r == u->rank) return tf_gp_add(&g->gp, base);
  const tf_c_length *len = &u->len[r];
  double one = len->one;
  for (int l = 0; l < g->p->chain->n_loops; l++)
    if (len->per[l] != 0 && g->var[d][l] < 0)
      one += len->per[l] * g->fixed[d][l] * (all ? g->p->spread[d][l] : 1);
  if (one > 0) {
    tf_gp_term t = *base;
    t.log_coef += log(one);
    if (!expand(g, u, r + 1, d, all, &t)) return false;
  }
  for (int l = 0; l < g->p->chain->n_loops; l++)
    if (len->per[l] != 0 && g->var[d][l] >= 0) {
      tf_gp_term t = *base;
      t.log_coef += log(len->per[l]);
      times(g, &t, d, l, all, 1);
      if (t.n > TF_GP_FACTORS - 4 || !expand(g, u, r + 1, d, all, &t)) return false;
    }
  return true;
}

static int index_of(const tf_chain *c, int op) {
  int k = 0;
  while (c->ops[k] != op)
    k++;
  return k;
}

/* Whether a step of loop l at level d's Tile moves the use's box, or makes the Tile drop it. */
static bool ends_reuse(const tf_c_problem *p, const tf_c_use *u, int d, int l) {
  bool drops = d == p->n - 1 && p->chain->n_ops > 1 && tf_scope_at(p->kind)->drops && !u->all;
  return (u->moves >> l & 1) || (drops && p->chain->loops[l].op < 0);
}

/* How often level d loads a use: the steps of the loops outside the innermost one that moves it.
 * Loops inside that one reuse the box; for them only the tiling further out counts.  True if it is
 * loaded more than once. */
static bool count(const program *g, const tf_c_use *u, int d, tf_gp_term *t) {
  const tf_c_problem *p = g->p;
  bool keep = true, again = false;
  for (int own = 1; own >= 0; own--)
    for (int i = p->n_order - 1; i >= 0; i--) {
      int l = p->order[i];
      bool mine = p->chain->loops[l].op >= 0;
      if (mine != (own == 1) || (mine && p->chain->loops[l].op != u->op) || !tf_c_has(p, d, l))
        continue;
      keep = keep && !ends_reuse(p, u, d, l);
      again |= !keep && !(u->moves >> l & 1);
      int within = keep ? d - 1 : d; /* own loops have no level further out */
      times(g, t, -1, l, true, 1);
      times(g, t, mine && keep ? -1 : within, l, true, -1);
    }
  return again;
}

static bool moves_here(const tf_c_problem *p, const tf_c_use *u, int d) {
  if (!u->io) return false;
  return !(u->is_repeat && (d < p->n - 1 || (!tf_scope_at(p->kind)->drops && u->all)));
}

static bool add_costs(program *g) {
  const tf_c_problem *p = g->p;
  for (int d = 0; d < p->n; d++) {
    if (isinf(p->rate[d])) continue;
    if (!tf_gp_sum(&g->gp)) return false;
    for (int i = 0; i < p->chain->n_uses; i++) {
      const tf_c_use *u = &p->chain->uses[i];
      if (!moves_here(p, u, d)) continue;
      tf_gp_term t = {.log_coef = log(u->bits / p->word_bits[d] / p->rate[d])};
      tf_gp_times(&t, 0, -1);
      if (count(g, u, d, &t) && u->out && p->reloads) t.log_coef += log(2);
      if (!expand(g, u, 0, d, true, &t)) return false;
    }
  }
  return g->gp.n_sums > 0;
}

/* Uses that level d holds at once under the k-th op (-1: all ops). */
static bool held_here(const tf_c_problem *p, const tf_c_use *u, int d, int k) {
  bool inner = d == p->n - 1;
  if (!u->io) return inner && u->out;
  if (k >= 0 && index_of(p->chain, u->op) != k) return false;
  return !(u->is_repeat && k < 0);
}

static bool add_capacity(program *g, int d, int k) {
  const tf_c_problem *p = g->p;
  int from = g->gp.n_terms;
  if (!tf_gp_sum(&g->gp)) return false;
  for (int i = 0; i < p->chain->n_uses; i++) {
    const tf_c_use *u = &p->chain->uses[i];
    if (!held_here(p, u, d, k)) continue;
    tf_gp_term t = {.log_coef = log(u->bits / p->word_bits[d] * (u->io && p->twice[d] ? 2 : 1) /
                                    p->capacity[d])};
    if (!expand(g, u, 0, d, false, &t)) return false;
  }
  if (g->gp.n_terms == from) g->gp.n_sums--; /* nothing is held */
  return true;
}

static bool add_capacities(program *g) {
  const tf_c_problem *p = g->p;
  for (int d = 0; d < p->n; d++) {
    if (isinf(p->capacity[d])) continue;
    bool apart = d == p->n - 1 && tf_scope_at(p->kind)->drops && p->chain->n_ops > 1;
    for (int k = apart ? 0 : -1; k < (apart ? p->chain->n_ops : 0); k++)
      if (!add_capacity(g, d, k)) return false;
  }
  return true;
}

/* Tiles do not grow inwards. */
static bool add_nesting(program *g) {
  const tf_c_problem *p = g->p;
  for (int d = 1; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++) {
      if (g->var[d][l] < 0 ||
          (g->var[d - 1][l] < 0 &&
           g->fixed[d - 1][l] >= tf_c_extent(p, l) / p->spread[d - 1][l] - 1e-9))
        continue;
      tf_gp_term t = {0};
      times(g, &t, d, l, true, 1);
      times(g, &t, d - 1, l, true, -1);
      if (!tf_gp_sum(&g->gp) || !tf_gp_add(&g->gp, &t)) return false;
    }
  return true;
}

/* A strictly feasible start: just above the least tiles, outer levels a little larger. */
static void start(const program *g, double step, double *y) {
  for (int d = 0; d < g->p->n; d++)
    for (int l = 0; l < g->p->chain->n_loops; l++) {
      int v = g->var[d][l];
      if (v > 0)
        y[v] = g->gp.lo[v] + fmin(step * (g->p->n - d),
                                  (g->gp.hi[v] - g->gp.lo[v]) * 0.3 * (g->p->n - d) / g->p->n);
    }
}

static bool build(program *g) {
  return name_vars(g) && add_costs(g) && add_capacities(g) && add_nesting(g);
}

static void read_tiles(const program *g, const double *y, tf_c_tiles *t) {
  for (int d = 0; d < g->p->n; d++)
    for (int l = 0; l < g->p->chain->n_loops; l++)
      t->tile[d][l] = g->var[d][l] < 0 ? g->fixed[d][l] : exp(y[g->var[d][l]]);
}

/* Rounds tiles that almost reach the extent up to it, where that fits: the barrier method stays
 * strictly inside its bounds. */
static void round_up_to_extent(const program *g, tf_c_tiles *t) {
  tf_c_tiles near = *t;
  for (int d = 0; d < g->p->n; d++)
    for (int l = 0; l < g->p->chain->n_loops; l++)
      if (g->var[d][l] >= 0 && near.tile[d][l] > g->fixed[d][l] * (1 - 1e-3))
        near.tile[d][l] = g->fixed[d][l];
  for (int d = 0; d < g->p->n; d++)
    if (!tf_c_fits(g->p, &near, d)) return;
  *t = near;
}

/* Takes the least tiles, if they fit, where no point is strictly feasible. */
static bool take_least(const program *g, tf_c_tiles *t, double *cost) {
  for (int d = 0; d < g->p->n; d++)
    for (int l = 0; l < g->p->chain->n_loops; l++)
      t->tile[d][l] = g->var[d][l] < 0 ? g->fixed[d][l] : exp(g->gp.lo[g->var[d][l]]);
  for (int d = 0; d < g->p->n; d++)
    if (!tf_c_fits(g->p, t, d)) return false;
  *cost = tf_c_cost(g->p, t);
  return true;
}

bool tf_c_solve(const tf_c_problem *p, tf_c_tiles *t, double *cost) {
  program *g = malloc(sizeof *g); /* some hundred KiB: too large for the stack */
  double from[TF_GP_VARS] = {0}, y[TF_GP_VARS];
  bool ok = false;
  if (!g) return false;
  g->p = p;
  if (!build(g)) { /* exceeds the program's limits */
    free(g);
    return false;
  }
  for (double step = 0.1; step > 1e-9 && !ok; step /= 10) {
    start(g, step, from);
    ok = tf_gp_solve(&g->gp, from, 1e-4, y);
  }
  if (ok) {
    read_tiles(g, y, t);
    round_up_to_extent(g, t);
    *cost = exp(y[0]);
  } else {
    ok = take_least(g, t, cost);
  }
  free(g);
  return ok;
}

/* ---- the cost of rounding ------------------------------------------------------------------- */
/* Multiplies a factor over the loops whose steps multiply the words that a use moves at the first
 * level. */
static double over_steps(const tf_c_problem *p, const tf_c_use *u,
                         double (*factor)(const tf_c_problem *, const tf_c_tiles *, int),
                         const tf_c_tiles *t, bool halo_only) {
  double all = 1;
  bool keep = true;
  for (int own = 1; own >= 0; own--)
    for (int i = p->n_order - 1; i >= 0; i--) {
      int l = p->order[i];
      bool mine = p->chain->loops[l].op >= 0, halo = false;
      if (mine != (own == 1) || (mine && p->chain->loops[l].op != u->op) || !tf_c_has(p, 0, l))
        continue;
      keep = keep && !ends_reuse(p, u, 0, l);
      for (int r = 0; r < u->rank; r++)
        halo |= u->len[r].per[l] != 0 &&
                tf_chain_length(&u->len[r], t->tile[0]) > u->len[r].per[l] * t->tile[0][l] + 1e-9;
      bool counts = halo_only ? !(u->moves >> l & 1) || halo : true;
      if (!keep && counts) all *= factor(p, t, l);
    }
  return all;
}

static double real_steps(const tf_c_problem *p, const tf_c_tiles *t, int l) {
  return tf_c_extent(p, l) / p->spread[0][l] / t->tile[0][l];
}

static double rounded(const tf_c_problem *p, const tf_c_tiles *t, int l) {
  double len = tf_c_extent(p, l) / p->spread[0][l], tile = t->tile[0][l];
  return tile >= len * (1 - 1e-9) ? 1 : 1 + tile / len + 1 / fmax(1, floor(tile * (1 + 1e-9)));
}

double tf_c_real_words(const tf_c_problem *p, const tf_c_tiles *t) {
  double s[TF_C_LOOPS], all = 0;
  for (int l = 0; l < p->chain->n_loops; l++)
    s[l] = fmin(t->tile[0][l] * p->spread[0][l], tf_c_extent(p, l));
  for (int i = 0; i < p->chain->n_uses; i++) {
    const tf_c_use *u = &p->chain->uses[i];
    if (moves_here(p, u, 0))
      all += tf_chain_footprint(u, s) * over_steps(p, u, real_steps, t, false);
  }
  return all;
}

double tf_c_round_limit(const tf_c_problem *p, const tf_c_tiles *real) {
  double limit = 1;
  for (int i = 0; i < p->chain->n_uses; i++)
    if (moves_here(p, &p->chain->uses[i], 0))
      limit = fmax(limit, over_steps(p, &p->chain->uses[i], rounded, real, true));
  return limit;
}

/* ---- the closed form of the thesis ---------------------------------------------------------- */
/* Whether the problem is the thesis's: two products with shared m and l (in the order m l or l m),
 * one own loop each, one level, nothing spread or double-buffered. */
static bool is_gemm_chain(const tf_c_problem *p, int *m, int *l) {
  const tf_chain *c = p->chain;
  if (c->n_ops != 2 || p->n != 1 || !tf_scope_at(p->kind)->drops || c->n_shared != 2 ||
      c->n_loops != 4 || c->n_uses != 6 || p->n_order != 4 || p->twice[0])
    return false;
  for (int i = 0; i < 4; i++)
    if (p->spread[0][i] != 1 || p->low[i] != p->low[3]) return false;
  for (int i = 0; i < 6; i++) {
    const tf_c_use *u = &c->uses[i];
    if (u->rank != 2 || u->bits != p->word_bits[0]) return false;
    for (int r = 0; r < 2; r++) {
      double sum = u->len[r].one;
      for (int k = 0; k < 4; k++)
        sum += fabs(u->len[r].per[k]);
      if (sum != 1) return false; /* one loop a rank */
    }
  }
  /* uses: A B C, C D E in the order of reads; A and E have m, B and D have l */
  *m = (c->uses[0].moves & 1) ? 0 : 1;
  *l = 1 - *m;
  unsigned bit_m = 1u << *m, bit_l = 1u << *l;
  for (int i = 0; i < 6; i++)
    if (!(c->uses[i].moves & (bit_m | bit_l))) return false;
  return (c->uses[2].moves & 3) == 3 && c->uses[2].out && !c->uses[2].io;
}

bool tf_c_solve_gemm(const tf_c_problem *p, tf_c_tiles *t, double *cost) {
  int m, l;
  if (!is_gemm_chain(p, &m, &l)) return false;
  double a = p->low[3], tile_m, tile_l;
  for (int i = 0; i < 4; i++) {
    if (a > tf_c_extent(p, i)) return false;
    t->tile[0][i] = a;
  }
  gemm_tiles(tf_c_extent(p, m), tf_c_extent(p, l), p->capacity[0], a, &tile_m, &tile_l);
  if (!(tile_m >= a) || !(tile_l >= a)) return false;
  t->tile[0][m] = tile_m;
  t->tile[0][l] = tile_l;
  *cost = tf_c_extent(p, m) * tf_c_extent(p, l) * (tf_c_extent(p, 2) + tf_c_extent(p, 3)) *
          (1 / tile_m + 1 / tile_l) / p->rate[0];
  return true;
}
