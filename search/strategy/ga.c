/* A genetic algorithm (thesis 3.5.2): the K best rows breed; groups of decisions are inherited
 * whole, decisions that were read mutate.  The number of rows of one niche is limited: a row's cost
 * depends on how long its trip counts have been searched, so a shape that was searched early would
 * otherwise crowd out better ones. */
#include <math.h>
#include <string.h>

#include "search/strategy/strategy.h"

enum {
  KEPT = 64,           /* K */
  KIND = 8,            /* most of them of one niche */
  FIRST = 48,          /* rows asked for before breeding begins, beyond the seeds */
  REVISIT_ONE_IN = 10, /* one in so many: asks for a kept row again, so that its trip counts are
                          searched further */
  NEW_ONE_IN = 8,      /* one in so many: a fresh row without parents */
  CROSS_ONE_IN = 3,
  TOP_ONE_IN = 3, /* one in so many: a parent from the three best */
  ASIDE = 8,
  STALL =
      700, /* rows without improvement after which a new population begins, or the two are merged */
  KINDS = 8, /* niches that breed whatever the costs of others */
};

#define ENOUGH 0.999 /* a cost below this share of the best counts as an improvement */

typedef struct {
  int32_t *genes;
  uint32_t *order;
  uint64_t niche, shape;
  double cost;
} row;

typedef struct {
  tf_space *space;
  tf_rng rng;
  int seeds, asked, n_kept, n_genes;
  row kept[KEPT + 1]; /* ascending cost; the last is room for one more */
  row aside[ASIDE];   /* the best of the previous population */
  row latest;
  int n_aside, stall; /* stall: rows since the last improvement */
  double best;
  uint8_t *from;  /* [n_groups] which parent */
  int32_t *genes; /* [n_genes] the child being built */
} ga;

/* Without groups each decision is its own group. */
static int groups_of(const tf_space *s) { return s->kind->group ? s->n_groups : s->n; }

static bool give_room(const ga *g, row *r, tf_arena *a) {
  r->genes = TF_ARRAY(a, int32_t, (size_t)g->n_genes);
  r->order = TF_ARRAY(a, uint32_t, (size_t)g->n_genes);
  return r->genes && r->order;
}

static void *make(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng) {
  (void)hint, (void)n_asks;
  ga *g = TF_NEW(a, ga);
  if (!g) return NULL;
  g->space = s;
  g->rng = rng;
  g->n_genes = s->n;
  g->from = TF_ARRAY(a, uint8_t, (size_t)groups_of(s));
  g->genes = TF_ARRAY(a, int32_t, (size_t)s->n + 1);
  g->best = INFINITY;
  bool ok = g->from && g->genes;
  for (int k = 0; ok && k <= KEPT; k++)
    ok = give_room(g, &g->kept[k], a);
  for (int k = 0; ok && k < ASIDE; k++)
    ok = give_room(g, &g->aside[k], a);
  return ok && give_room(g, &g->latest, a) ? g : NULL;
}

/* Tournament selection: the best of three random rows (kept is sorted). */
static const row *tournament(ga *g) {
  uint32_t n = (uint32_t)g->n_kept, best = tf_rng_below(&g->rng, n);
  for (int k = 0; k < 2; k++) {
    uint32_t other = tf_rng_below(&g->rng, n);
    if (other < best) best = other;
  }
  return &g->kept[best];
}

/* The better of two random rows of a random niche: so a niche whose trip counts are not well
 * searched yet breeds, too. */
static const row *of_random_niche(ga *g) {
  int first[KINDS], n = 0;
  for (int k = 0; k < g->n_kept && n < KINDS; k++) {
    bool there = false;
    for (int i = 0; i < n; i++)
      there |= g->kept[first[i]].niche == g->kept[k].niche;
    if (!there) first[n++] = k;
  }
  uint64_t niche = g->kept[first[tf_rng_below(&g->rng, (uint32_t)n)]].niche;
  int rows = 0, pick = -1;
  for (int k = 0; k < g->n_kept; k++)
    rows += g->kept[k].niche == niche;
  uint32_t a = tf_rng_below(&g->rng, (uint32_t)rows), b = tf_rng_below(&g->rng, (uint32_t)rows);
  for (int k = 0, left = (int)(a < b ? a : b); pick < 0 && k < g->n_kept; k++)
    if (g->kept[k].niche == niche && left-- == 0) pick = k;
  return &g->kept[pick];
}

static const row *parent(ga *g) {
  return tf_rng_below(&g->rng, 2) ? tournament(g) : of_random_niche(g);
}

static void cross(ga *g, const row *a, const row *b) {
  const tf_space *s = g->space;
  for (int c = 0; c < groups_of(s); c++)
    g->from[c] = (uint8_t)tf_rng_below(&g->rng, 2);
  for (int i = 0; i < g->n_genes; i++)
    g->genes[i] = g->from[s->kind->group ? s->kind->group(s, i) : i] ? a->genes[i] : b->genes[i];
}

static bool take_seed(ga *g, int k) {
  g->space->kind->seed(g->space, k, &g->rng, g->genes);
  return tf_space_follow(g->space, g->genes);
}

/* A row without parents: random, or one of the good starts. */
static bool fresh_row(ga *g) {
  int seeds = g->space->n_seeds;
  if (!seeds || !tf_rng_below(&g->rng, 4)) return tf_space_random(g->space, &g->rng);
  return take_seed(g, (int)tf_rng_below(&g->rng, (uint32_t)seeds));
}

/* Whether both rows agree in every decision that was read in the first: then they are the same
 * candidate. */
static bool alike(const ga *g, const row *a, const int32_t *genes) {
  for (int i = 0; i < g->n_genes; i++)
    if (a->order[i] && a->genes[i] != genes[i]) return false;
  return true;
}

/* The row to drop when one too many is kept: the worst of a niche that exceeds its limit, else the
 * worst of all. */
static int row_to_drop(const ga *g) {
  for (int k = g->n_kept - 1; k >= 0; k--) {
    int better = 0;
    for (int i = 0; i < k; i++)
      better += g->kept[i].niche == g->kept[k].niche;
    if (better >= KIND) return k;
  }
  return g->n_kept - 1;
}

/* Removes row k; its memory is reused for the next row. */
static void remove_row(ga *g, int k) {
  row r = g->kept[k];
  for (g->n_kept--; k < g->n_kept; k++)
    g->kept[k] = g->kept[k + 1];
  g->kept[k] = r;
}

static void copy_row(const ga *g, row *to, const row *from) {
  memcpy(to->genes, from->genes, (size_t)g->n_genes * sizeof *to->genes);
  memcpy(to->order, from->order, (size_t)g->n_genes * sizeof *to->order);
  to->niche = from->niche;
  to->shape = from->shape;
  to->cost = from->cost;
}

static void insert(ga *g, const row *r) {
  for (int k = 0; k < g->n_kept; k++)
    if (alike(g, &g->kept[k], r->genes)) {
      if (r->cost >= g->kept[k].cost) return;
      remove_row(g, k);
      break;
    }
  int k = g->n_kept++;
  copy_row(g, &g->kept[k], r);
  row held = g->kept[k];
  for (; k > 0 && g->kept[k - 1].cost > held.cost; k--)
    g->kept[k] = g->kept[k - 1];
  g->kept[k] = held;
  if (g->n_kept > KEPT) remove_row(g, row_to_drop(g));
}

/* Restart: a population that stagnates is set aside and a new one begun; when that stagnates, too,
 * the two are merged. */
static void restart(ga *g) {
  bool join = g->n_aside > 0;
  for (int k = 0; k < g->n_aside; k++)
    insert(g, &g->aside[k]);
  g->n_aside = g->stall = 0;
  g->best = INFINITY;
  if (join) return;
  for (; g->n_aside < ASIDE && g->n_aside < g->n_kept; g->n_aside++)
    copy_row(g, &g->aside[g->n_aside], &g->kept[g->n_aside]);
  g->n_kept = g->seeds = g->asked = 0;
}

static void tell(void *state, const tf_feedback *t) {
  ga *g = state;
  const tf_space *s = g->space;
  row *r = &g->latest;
  memcpy(r->genes, t->row, (size_t)s->n * sizeof *r->genes);
  for (int i = 0; i < s->n; i++)
    r->order[i] = t->order ? t->order[i] : (uint32_t)i + 1;
  r->niche = s->kind->niche ? s->kind->niche(s, r->genes, r->order) : 0;
  r->shape = t->id;
  r->cost = t->cost;
  insert(g, r);
  g->stall++;
  if (t->cost < g->best * ENOUGH) {
    g->best = t->cost;
    g->stall = 0;
  }
}

static bool ask(void *state, uint64_t *parent_id) {
  ga *g = state;
  *parent_id = 0;
  if (g->stall >= STALL) restart(g);
  if (g->seeds < g->space->n_seeds) return take_seed(g, g->seeds++);
  bool fresh = g->asked++ < FIRST || g->n_kept == 0 || !tf_rng_below(&g->rng, NEW_ONE_IN);
  if (fresh) return fresh_row(g);
  bool top = !tf_rng_below(&g->rng, TOP_ONE_IN);
  const row *a = top ? &g->kept[tf_rng_below(&g->rng, g->n_kept < 3 ? 1 : 3)] : parent(g),
            *b = parent(g);
  memcpy(g->genes, a->genes, (size_t)g->n_genes * sizeof *g->genes);
  *parent_id = a->shape;
  if (tf_rng_below(&g->rng, REVISIT_ONE_IN)) {
    if (!tf_rng_below(&g->rng, CROSS_ONE_IN)) cross(g, a, b);
    tf_space_vary(g->space, &g->rng, a->order, g->genes);
  }
  return tf_space_follow(g->space, g->genes) || tf_space_random(g->space, &g->rng);
}

const tf_strategy_ops tf_strategy_ga = {make, ask, tell, .batches = true};
