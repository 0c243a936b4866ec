/* Monte Carlo tree search over trip counts (thesis 3.5.2): a node is a table of choices so far; the
 * child with the highest upper confidence bound is followed, from a new node the walk goes on by
 * lot, near the best choices known.  Every other walk leaves the tree alone and moves a factor of the best
 * mapping from one loop to another of the same dim.  Subtrees that are fully known are left out, so that a small
 * space is searched to its end. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "search/run/strategy.h"

enum { MOST_NODES = 1 << 17, RESTARTS = 64, KNOWN = 138 /* a logarithm below that of TF_COST_BAD */ };

typedef struct {
  int32_t first; /* child; the rest follow.  0: not expanded */
  int32_t trip;  /* choice that leads here */
  uint32_t visits;
  int16_t n;  /* children */
  bool done;  /* nothing below is left to learn */
  float best; /* lowest cost seen below, as a logarithm */
} node;

typedef struct {
  tf_trips *t;
  tf_rng rng;
  node *nodes;
  int n_nodes, room;
  int *path, n_path;    /* nodes of the walk that waits to be told */
  bool whole;           /* the walk ended inside the tree: its last node is a leaf of the space */
  int32_t *best_choice; /* [n] of the best walk, at first the hint; 0: none */
  int32_t *want;        /* [n] of a walk beside the best */
  uint32_t asked;
  float best; /* its cost, as a logarithm */
} mcts;

static void complete_hint(mcts *s);

static void *make(tf_arena *a, tf_trips *t, const int32_t *hint, int n_evals, tf_rng rng) {
  mcts *s = TF_NEW(a, mcts);
  if (!s) return NULL;
  s->t = t;
  s->rng = rng;
  s->room = n_evals > 0 && n_evals < MOST_NODES / 8 ? 8 * n_evals + TF_DOMAIN_MAX : MOST_NODES;
  s->nodes = TF_ARRAY(a, node, (size_t)s->room);
  s->path = TF_ARRAY(a, int, (size_t)t->n + 1);
  s->best_choice = TF_ARRAY(a, int32_t, (size_t)t->n + 1);
  s->want = TF_ARRAY(a, int32_t, (size_t)t->n + 1);
  if (!s->nodes || !s->path || !s->best_choice || !s->want) return NULL;
  if (hint) memcpy(s->best_choice, hint, (size_t)t->n * sizeof *hint);
  complete_hint(s);
  s->best = FLT_MAX;
  s->nodes[0].best = FLT_MAX;
  s->n_nodes = 1;
  return s;
}

/* ---- selection ---------------------------------------------------------------------------- */
/* The natural logarithm to within 1 %: it only steers. */
static float quick_log(uint32_t n) {
  union {
    float f;
    uint32_t u;
  } x = {.f = (float)n};
  float e = (float)((int)(x.u >> 23) - 127);
  x.u = (x.u & 0x7fffffu) | 0x3f800000u;
  return 0.6931472f * (e + (x.f - 1) * (1.3465f - 0.3465f * (x.f - 1)));
}

/* Upper confidence bound of a child visited before: how near its best comes to the best of all (both
 * are logarithms of costs: exp(best - child) is the ratio, here to first order), and how little it
 * is known. */
static float bound_of(const mcts *s, const node *c, float log_visits) {
  float behind = c->best - s->best;
  float near = behind < 50 ? 1 / (1 + 4 * behind) : 0;
  return near + 0.35f * sqrtf(log_visits / (float)c->visits);
}

/* The child to follow; -1: all are done.  Children never visited come first, the best choice known
 * before the others. */
static int select_child(mcts *s, const node *p, int32_t wish) {
  int best = -1, unseen = 0;
  float bound = -1, log_visits = quick_log(p->visits + 1);
  for (int k = 0; k < p->n; k++) {
    const node *c = &s->nodes[p->first + k];
    if (c->done) continue;
    if (c->visits == 0) {
      unseen++;
      if (c->trip == wish) return p->first + k;
      if (unseen == 1 || tf_rng_u32(&s->rng) % (uint32_t)unseen == 0) best = p->first + k;
      bound = FLT_MAX;
    } else if (unseen == 0) {
      float b = bound_of(s, c, log_visits);
      if (b > bound) {
        bound = b;
        best = p->first + k;
      }
    }
  }
  return best;
}

/* Gives node p its children, the domain of decision i.  False: none, or no room. */
static bool expand(mcts *s, int p, int i) {
  int32_t domain[TF_DOMAIN_MAX];
  int n = tf_trips_domain(s->t, i, domain);
  node *parent = &s->nodes[p];
  if (n == 0) parent->done = true;
  if (n == 0 || s->n_nodes + n > s->room) return false;
  parent->first = s->n_nodes;
  parent->n = (int16_t)n;
  for (int k = 0; k < n; k++)
    s->nodes[s->n_nodes++] = (node){.trip = domain[k], .best = FLT_MAX};
  return true;
}

/* ---- the walk on ---------------------------------------------------------------------------- */
/* Where nothing better is known: most of a mesh is used, and tiles are as large as still fits (the domain begins
 * with the least count whose tiles do). */
static int32_t guess(const tf_decision *d, const int32_t *domain, int n, uint32_t lot) {
  if (d->axis != TF_TEMPORAL && lot & 3) return domain[n - 1];
  if (d->axis == TF_TEMPORAL && lot & 1) return domain[0];
  return domain[(uint32_t)(((uint64_t)(lot >> 10) * (uint32_t)n) >> 22)];
}

static int32_t pick(mcts *s, int i, const int32_t *domain, int n, int32_t wish, uint32_t stray) {
  if (n == 1) return domain[0];
  uint32_t lot = tf_rng_u32(&s->rng);
  if (!wish) return guess(&s->t->at[i], domain, n, lot);
  if ((lot & 1023) < stray) return domain[(uint32_t)(((uint64_t)(lot >> 10) * (uint32_t)n) >> 22)];
  for (int k = 0; k < n; k++)
    if (domain[k] >= wish) return domain[k];
  return domain[n - 1];
}

/* From decision i to the end.  How often it strays from the best choices known is itself by lot. */
static bool walk_on(mcts *s, int i) {
  static const uint32_t strays[8] = {20, 50, 100, 100, 200, 300, 500, 1024};
  int32_t domain[TF_DOMAIN_MAX];
  uint32_t stray = strays[tf_rng_u32(&s->rng) >> 29];
  for (; i < s->t->n; i++) {
    int n = tf_trips_domain(s->t, i, domain);
    if (n == 0) return false;
    tf_trips_take(s->t, i, pick(s, i, domain, n, s->best_choice[i], stray));
  }
  return true;
}

/* ---- beside the best ------------------------------------------------------------------------ */
static bool one_tile(const tf_decision *a, const tf_decision *b) {
  const uint64_t axis = UINT64_C(3) << 17;
  return a->op == b->op && ((a->key ^ b->key) & ~axis) == 0;
}

/* A loop that is spread and that the hint does not know takes what it can from the loop over the same dim in its
 * Tile: the parts below stay what they were. */
static void complete_hint(mcts *s) {
  const tf_decision *at = s->t->at;
  for (int i = 0; i < s->t->n; i++) {
    if (s->best_choice[i] || at[i].axis == TF_TEMPORAL) continue;
    for (int j = 0; j < s->t->n; j++) {
      if (j == i || at[j].axis != TF_TEMPORAL || s->best_choice[j] < 2 || !one_tile(&at[i], &at[j])) continue;
      int32_t f = at[i].mesh < s->best_choice[j] ? at[i].mesh : s->best_choice[j];
      while (s->best_choice[j] % f)
        f--;
      s->best_choice[i] = f;
      s->best_choice[j] /= f;
    }
  }
}

/* Some loop that divides a length that loop i divides, too; -1: none was met. */
static int partner_of(mcts *s, int i) {
  const tf_decision *at = s->t->at;
  for (int tries = 0; tries < 16; tries++) {
    int j = (int)tf_rng_below(&s->rng, (uint32_t)s->t->n);
    if (tries < 4 && !one_tile(&at[i], &at[j])) continue;
    if (j == i || at[j].dim != at[i].dim) continue;
    for (int a = 0; a < at[i].n_slots; a++)
      for (int b = 0; b < at[j].n_slots; b++)
        if (at[i].slots[a] == at[j].slots[b]) return j;
  }
  return -1;
}

static int32_t some_factor(mcts *s, int32_t n) {
  int32_t primes[32] = {1};
  int k = 0;
  for (int32_t p = 2; p * p <= n && k < 30; p++)
    for (; n % p == 0 && k < 30; n /= p)
      primes[k++] = p;
  if (n > 1) primes[k++] = n;
  if (k == 0) return 1;
  int32_t f = primes[tf_rng_below(&s->rng, (uint32_t)k)];
  if (k > 1 && !tf_rng_below(&s->rng, 4)) f *= primes[tf_rng_below(&s->rng, (uint32_t)k)];
  return f;
}

static void shift(mcts *s, int i, int j, int32_t f) {
  if (s->want[i] < f || s->want[i] % f) return;
  s->want[i] /= f;
  if (s->want[j] > 0 && s->want[j] < INT32_MAX / f) s->want[j] *= f;
}

/* The same for like loops of the other ops on the same kind of unit: next to each other they take the time together. */
static void shift_kin(mcts *s, int i, int j, int32_t f) {
  const tf_decision *at = s->t->at;
  for (int a = 0; a < s->t->n; a++)
    for (int b = 0; a != i && at[a].kin == at[i].kin && b < s->t->n; b++)
      if (b != j && at[b].kin == at[j].kin && at[a].op == at[b].op) shift(s, a, b, f);
}

/* Wishes for a factor less at one loop, and more at another; the ranges of producers follow. */
static void shift_factor(mcts *s) {
  for (int tries = 0; tries < 24; tries++) {
    int i = (int)tf_rng_below(&s->rng, (uint32_t)s->t->n), j;
    if (s->want[i] < 2 || s->t->at[i].trip || (j = partner_of(s, i)) < 0) continue;
    int32_t f = some_factor(s, s->want[i]);
    if (s->want[i] % f) continue;
    shift(s, i, j, f);
    if (tf_rng_below(&s->rng, 2)) shift_kin(s, i, j, f);
    return;
  }
}

/* The best choices, at first the hint, with `shifts` factors moved. */
static bool walk_beside(mcts *s, int shifts) {
  int32_t domain[TF_DOMAIN_MAX];
  memcpy(s->want, s->best_choice, (size_t)s->t->n * sizeof *s->want);
  while (shifts-- > 0)
    shift_factor(s);
  tf_trips_begin(s->t);
  s->n_path = 0;
  s->whole = false;
  for (int i = 0; i < s->t->n; i++) {
    int n = tf_trips_domain(s->t, i, domain);
    if (n == 0) return false;
    tf_trips_take(s->t, i, pick(s, i, domain, n, s->want[i], 0));
  }
  return true;
}

/* ---- marks ------------------------------------------------------------------------------------ */
/* A node whose children are all done is done; so on up the path. */
static void settle(mcts *s) {
  for (int k = s->n_path - 1; k >= 0; k--) {
    node *p = &s->nodes[s->path[k]];
    for (int c = 0; p->first && !p->done && c < p->n; c++)
      if (!s->nodes[p->first + c].done) return;
    if (!p->first && !p->done) return;
    p->done = true;
  }
}

static void count(mcts *s, float cost) {
  for (int k = 0; k < s->n_path; k++) {
    node *p = &s->nodes[s->path[k]];
    p->visits++;
    if (cost < p->best) p->best = cost;
  }
}

/* One descent.  False: a dead end, marked. */
static bool descend(mcts *s) {
  int at = 0, i = 0;
  tf_trips_begin(s->t);
  s->path[0] = 0;
  s->n_path = 1;
  for (; i < s->t->n; i++) {
    if (!s->nodes[at].first && !expand(s, at, i)) break;
    int next = select_child(s, &s->nodes[at], s->best_choice[i]);
    if (next < 0) {
      s->nodes[at].done = true;
      break;
    }
    bool fresh = s->nodes[next].visits == 0 && s->nodes[at].n > 1;
    at = next;
    s->path[s->n_path++] = at;
    tf_trips_take(s->t, i, s->nodes[at].trip);
    if (fresh) {
      i++;
      break;
    }
  }
  if (s->nodes[at].done) return false;
  s->whole = i == s->t->n;
  return s->whole || walk_on(s, i);
}

static bool ask(void *state) {
  mcts *s = state;
  bool beside = s->t->n > 0 && !s->nodes[0].done && (s->asked++ == 0 || (s->best < KNOWN && s->asked % 2));
  if (beside && walk_beside(s, s->asked == 1 ? 0 : 1 + (int)(tf_rng_u32(&s->rng) % 3 / 2))) return true;
  for (int k = 0; k < RESTARTS && !s->nodes[0].done; k++) {
    if (descend(s)) return true;
    settle(s);
    count(s, FLT_MAX);
  }
  return false;
}

static void tell(void *state, double cost) {
  mcts *s = state;
  float c = cost > 0 ? (float)log(cost) : 0;
  if (c <= s->best) { /* where another part takes the time, a step aside costs nothing */
    s->best = c;
    memcpy(s->best_choice, s->t->chosen, (size_t)s->t->n * sizeof *s->best_choice);
  }
  count(s, c);
  if (s->whole) {
    s->nodes[s->path[s->n_path - 1]].done = true;
    settle(s);
  }
}

const tf_inner tf_inner_mcts = {make, ask, tell};
