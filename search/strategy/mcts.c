/* Monte Carlo tree search (thesis 3.5.2).  A node is a prefix of choices; selection follows the
 * child with the highest upper confidence bound, and from a new node a rollout takes random choices
 * near the best ones known.  Every other walk is local search instead: it goes to a neighbour of
 * the best candidate (of trip counts: a factor moves from one loop to another of the same dim).
 * Subtrees that are explored completely are not entered again, so that a small space is searched
 * exhaustively. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "search/strategy/strategy.h"

enum {
  MOST_NODES = 1 << 17,
  FIRST_NODES = 192,
  RESTARTS = 64,
  KNOWN = 138 /* log of a cost: below that of TF_COST_BAD */
};

/* A candidate asked for whose cost is not known yet. */
typedef struct {
  int *path, n_path; /* nodes of its walk */
} pending;

typedef struct {
  int32_t first;  /* first child; the others follow it.  0: not expanded */
  int32_t choice; /* the choice that leads here */
  uint32_t visits;
  int16_t n;  /* children */
  bool done;  /* explored completely */
  float best; /* log of the lowest cost seen below */
} node;

typedef struct {
  tf_space *space;
  tf_rng rng;
  node *nodes;
  int n_nodes, room;
  pending asks[TF_ASKS_MOST]; /* a ring that begins at `first` */
  int first, n_asks;
  int *path, n_path;    /* nodes of the current walk */
  int32_t *best_choice; /* [n] of the best candidate, at first the hint; targets */
  int32_t *want;        /* [n] targets: a neighbour of the best */
  uint32_t asked;
  float best; /* log of the lowest cost */
} mcts;

static void *make(tf_arena *a, tf_space *t, const int32_t *hint, int n_asks, tf_rng rng) {
  mcts *s = TF_NEW(a, mcts);
  if (!s) return NULL;
  s->space = t;
  s->rng = rng;
  s->room = n_asks > 0 && n_asks < MOST_NODES / 8 ? 8 * n_asks + FIRST_NODES : MOST_NODES;
  s->nodes = TF_ARRAY(a, node, (size_t)s->room);
  const size_t depth = (size_t)t->n + 1;
  int *paths = TF_ARRAY(a, int, TF_ASKS_MOST *depth);
  for (int k = 0; paths && k < TF_ASKS_MOST; k++)
    s->asks[k].path = &paths[(size_t)k * depth];
  s->best_choice = TF_ARRAY(a, int32_t, (size_t)t->n + 1);
  s->want = TF_ARRAY(a, int32_t, (size_t)t->n + 1);
  if (!s->nodes || !paths || !s->best_choice || !s->want) return NULL;
  for (int i = 0; i < t->n; i++)
    s->best_choice[i] = hint ? hint[i] : TF_ANY;
  if (t->kind->complete) t->kind->complete(t, s->best_choice);
  s->best = FLT_MAX;
  s->nodes[0].best = FLT_MAX;
  s->n_nodes = 1;
  return s;
}

/* ---- selection ---------------------------------------------------------------------------- */
/* The natural logarithm to within 1 %: enough for the selection rule. */
static float quick_log(uint32_t n) {
  union {
    float f;
    uint32_t u;
  } x = {.f = (float)n};
  float e = (float)((int)(x.u >> 23) - 127);
  x.u = (x.u & 0x7fffffu) | 0x3f800000u;
  return 0.6931472f * (e + (x.f - 1) * (1.3465f - 0.3465f * (x.f - 1)));
}

/* Upper confidence bound of a visited child: how near its best cost is to the best of all (both are
 * logarithms, so exp(best - child) is their ratio, here to first order), plus the exploration
 * term. */
static float bound_of(const mcts *s, const node *c, float log_visits) {
  float behind = c->best - s->best;
  float near = behind < 50 ? 1 / (1 + 4 * behind) : 0;
  return near + 0.35f * sqrtf(log_visits / (float)c->visits);
}

/* The child to follow; -1: all are explored completely.  Unvisited children come first, among them
 * the best choice known. */
static int select_child(mcts *s, const node *p, int32_t target) {
  int best = -1, unseen = 0;
  float bound = -1, log_visits = quick_log(p->visits + 1);
  for (int k = 0; k < p->n; k++) {
    const node *c = &s->nodes[p->first + k];
    if (c->done) continue;
    if (c->visits == 0) {
      unseen++;
      if (c->choice == target) return p->first + k;
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

/* Adds the children of node p: the domain of decision i.  False: it is empty, or no room is left.
 */
static bool expand(mcts *s, int p, int i) {
  int32_t domain[TF_DOMAIN_MAX];
  int n = s->space->kind->domain(s->space, i, domain);
  node *parent = &s->nodes[p];
  if (n == 0) parent->done = true;
  if (n == 0 || s->n_nodes + n > s->room) return false;
  parent->first = s->n_nodes;
  parent->n = (int16_t)n;
  for (int k = 0; k < n; k++)
    s->nodes[s->n_nodes++] = (node){.choice = domain[k], .best = FLT_MAX};
  return true;
}

/* ---- rollout --------------------------------------------------------------------------------- */
/* A uniform choice of the domain, by 32 random bits. */
static int32_t uniform_choice(const int32_t *domain, int n, uint32_t lot) {
  return domain[(uint32_t)(((uint64_t)(lot >> 10) * (uint32_t)n) >> 22)];
}

static int32_t pick(mcts *s, int i, const int32_t *domain, int n, int32_t target,
                    uint32_t deviate) {
  if (n == 1) return domain[0];
  uint32_t lot = tf_rng_u32(&s->rng);
  const tf_space_kind *kind = s->space->kind;
  if (target == TF_ANY)
    return kind->guess ? kind->guess(s->space, i, domain, n, lot) : uniform_choice(domain, n, lot);
  return (lot & 1023) < deviate ? uniform_choice(domain, n, lot)
                                : tf_space_nearest(domain, n, target);
}

/* Rollout from decision i to the end.  The probability of deviating from the best choices known is
 * drawn for each rollout. */
static bool walk_to_end(mcts *s, int i) {
  static const uint32_t strays[8] = {20, 50, 100, 100, 200, 300, 500, 1024};
  int32_t domain[TF_DOMAIN_MAX];
  uint32_t deviate = strays[tf_rng_u32(&s->rng) >> 29];
  for (const int first = i; i < s->space->n; i++) { /* a dead end in the tree stays one */
    int n = i == first ? s->space->kind->domain(s->space, i, domain)
                       : tf_space_domain(s->space, i, domain);
    if (n == 0) return false;
    s->space->kind->take(s->space, i, pick(s, i, domain, n, s->best_choice[i], deviate));
  }
  return true;
}

/* ---- local search --------------------------------------------------------------------------- */
/* Takes the best choices known (at first the hint), changed by `steps` moves. */
static bool local_search(mcts *s, int steps) {
  int32_t domain[TF_DOMAIN_MAX];
  memcpy(s->want, s->best_choice, (size_t)s->space->n * sizeof *s->want);
  while (steps-- > 0)
    tf_space_vary(s->space, &s->rng, NULL, s->want);
  s->space->kind->begin(s->space);
  s->n_path = 0;
  for (int i = 0; i < s->space->n; i++) {
    int n = tf_space_domain(s->space, i, domain);
    if (n == 0) return false;
    s->space->kind->take(s->space, i, pick(s, i, domain, n, s->want[i], 0));
  }
  return true;
}

/* ---- backpropagation ------------------------------------------------------------------------- */
/* Marks nodes whose children are all explored completely, up the path. */
static void mark_done(mcts *s) {
  for (int k = s->n_path - 1; k >= 0; k--) {
    node *p = &s->nodes[s->path[k]];
    for (int c = 0; p->first && !p->done && c < p->n; c++)
      if (!s->nodes[p->first + c].done) return;
    if (!p->first && !p->done) return;
    p->done = true;
  }
}

/* A walk counts as a visit as soon as it is asked for, before its cost is told (a virtual loss), so
 * that other asks until then take other paths. */
static void visit(mcts *s) {
  for (int k = 0; k < s->n_path; k++)
    s->nodes[s->path[k]].visits++;
}

static void learn(mcts *s, const pending *of, float cost) {
  for (int k = 0; k < of->n_path; k++) {
    node *p = &s->nodes[of->path[k]];
    if (cost < p->best) p->best = cost;
  }
}

/* One descent: selection, expansion, rollout.  False: a dead end, which is marked. */
static bool descend(mcts *s) {
  int at = 0, i = 0;
  s->space->kind->begin(s->space);
  s->path[0] = 0;
  s->n_path = 1;
  for (; i < s->space->n; i++) {
    if (!s->nodes[at].first && !expand(s, at, i)) break;
    int next = select_child(s, &s->nodes[at], s->best_choice[i]);
    if (next < 0) {
      s->nodes[at].done = true;
      break;
    }
    bool fresh = s->nodes[next].visits == 0 && s->nodes[at].n > 1;
    at = next;
    s->path[s->n_path++] = at;
    s->space->kind->take(s->space, i, s->nodes[at].choice);
    if (fresh) {
      i++;
      break;
    }
  }
  if (s->nodes[at].done) return false;
  if (i < s->space->n) return walk_to_end(s, i);
  s->nodes[at].done = true; /* a complete candidate */
  mark_done(s);
  return true;
}

/* Takes a candidate; its walk is in `path`. */
static bool choose(mcts *s) {
  bool beside = s->space->n > 0 && !s->nodes[0].done &&
                (s->asked++ == 0 || (s->best < KNOWN && s->asked % 2));
  if (beside && local_search(s, s->asked == 1 ? 0 : 1 + (int)(tf_rng_u32(&s->rng) % 3 / 2)))
    return true;
  for (int k = 0; k < RESTARTS && !s->nodes[0].done; k++) {
    if (descend(s)) return true;
    mark_done(s);
    visit(s);
  }
  return false;
}

static bool ask(void *state, uint64_t *parent_id) {
  mcts *s = state;
  pending *next = &s->asks[(s->first + s->n_asks) % TF_ASKS_MOST];
  *parent_id = 0;
  s->path = next->path;
  if (!choose(s)) return false;
  visit(s);
  next->n_path = s->n_path;
  s->n_asks++;
  return true;
}

static void tell(void *state, const tf_feedback *t) {
  mcts *s = state;
  const pending *of = &s->asks[s->first];
  float c = t->cost > 0 ? (float)log(t->cost) : 0;
  if (c <= s->best) { /* an equal cost is accepted, so that the search can drift where another part
                         of the tree dominates the time */
    s->best = c;
    memcpy(s->best_choice, t->row, (size_t)s->space->n * sizeof *s->best_choice);
  }
  learn(s, of, c);
  s->first = (s->first + 1) % TF_ASKS_MOST;
  s->n_asks--;
}

const tf_strategy_ops tf_strategy_mcts = {make, ask, tell, .batches = true};
