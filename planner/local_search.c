/* Local search from the best mapping found. The search uses the model alone, which does not see
 * differences between kernels. Here a few factors at a time move between loops, and changes that
 * improve the kernel's estimate are kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/eval/hooks.h"
#include "planner/planner.h"
#include "search/common/complete.h"
#include "tileflow/tree.h"

/* Limits: settings drawn, kernels estimated, factors moved at once, and kernels estimated for an op
 * like another. */
enum { DRAWN = 4000, COSTED = 240, MOVES = 3, TWINS = 32 };
/* Kernels estimated if the caller does not limit evaluations. */
enum { COSTED_UNASKED = 60 };
/* The greatest factor that a move takes out of a count that it does not divide. */
enum { SMALL = 16 };
/* Moves tried when the own loops of ops with shared ones are improved: for the first setting, and
 * for each later one. */
enum { SETTLE_FIRST = 1000, SETTLE_EACH = 30 };
/* Steps that the exact walk of a setting may take; it might need millions, which take seconds. */
enum { WALKED = 20000 };
/* Evaluations of the search for each kernel that is estimated, if there are few; and the effort
 * (tf_model_effort) of evaluations for each: windows at borders take hundreds of times as long. */
enum { EVALS_EACH = 4, EFFORT_EACH = 256 };

typedef struct {
  tf_loop loop;
  int node, op;  /* op: the only one below it; -1: several */
  bool is_fixed; /* by the template */
} place;

typedef struct {
  planner *p;
  const tf_tree *open;
  tf_model *model;
  tf_rng rng;
  int n;
  place *loop;                 /* [n] loops of the template, in the model's order */
  int64_t *best, *next, *kept; /* [n] each: `kept` is the setting to return to */
  int64_t *estimated;          /* [COSTED + TWINS][n]: settings whose kernel was estimated */
  int n_seen;
  bool shares;    /* whether ops share loops that the template leaves open */
  int64_t effort; /* effort that is left for evaluations */
  double value;
} polish;

static int only_op(const tf_tree *t, int node) {
  int op = -1;
  for (int i = node; i < t->nodes[node].end; i++) {
    if (t->nodes[i].kind != TF_OP) continue;
    if (op >= 0) return -1;
    op = t->nodes[i].op;
  }
  return op;
}

static void find_places(polish *q) {
  int n = 0;
  for (int i = 0; i < q->open->n_nodes; i++)
    for (int k = 0; k < q->open->nodes[i].n_loops; k++) {
      const tf_loop l = q->open->nodes[i].loops[k];
      q->loop[n] = (place){l, i, only_op(q->open, i), l.trip != 0 || l.max};
      q->shares |= q->loop[n].op < 0 && !q->loop[n].is_fixed;
      n++;
    }
}

/* Trip counts of one of the template's completions, which omits loops of one step. */
static void trips_of(const polish *q, const tf_tree *done, int64_t *trips) {
  int n = 0;
  for (int i = 0; i < q->open->n_nodes; i++)
    for (int k = 0, next = 0; k < q->open->nodes[i].n_loops; k++, n++) {
      const tf_loop *l = &q->open->nodes[i].loops[k],
                    *d = next < done->nodes[i].n_loops ? &done->nodes[i].loops[next] : NULL;
      const bool there = d && d->dim == l->dim && d->axis == l->axis;
      trips[n] = there ? d->trip : 1;
      next += there;
    }
}

/* The factor that a move takes out of a count of n: a power of its least prime, or n; for a large
 * prime usually a small number that leaves a remainder. */
static int64_t factor(polish *q, int64_t n) {
  int64_t f = 2;
  while (f * f <= n && n % f)
    f++;
  if (f * f > n && n > SMALL && tf_rng_below(&q->rng, 4))
    return 2 + tf_rng_below(&q->rng, SMALL - 1);
  if (f * f > n || !tf_rng_below(&q->rng, 4)) return n;
  for (int64_t power = f; n % (power * f) == 0 && tf_rng_below(&q->rng, 2); power *= f)
    if (!tf_rng_below(&q->rng, 2)) return power;
  return f;
}

/* What remains of a count of n. */
static int64_t remainder_of(int64_t n, int64_t f) { return n / f + (n % f > 0); }

/* A random own loop of op o over the dim, other than `except`, whose trip count f divides; or the
 * outermost; -1: none. */
static int own_loop(polish *q, int o, int dim, int64_t f, int except, bool outmost) {
  int found = -1;
  uint32_t n = 0;
  for (int i = 0; i < q->n && !(outmost && found >= 0); i++)
    if (i != except && !q->loop[i].is_fixed && q->loop[i].op == o && q->loop[i].loop.dim == dim &&
        q->next[i] % f == 0 && (outmost || !tf_rng_below(&q->rng, ++n)))
      found = i;
  return found;
}

/* Whether the template leaves that trip count open. */
static bool may_take(const tf_loop *l, int64_t trip) {
  bool can = l->n_choices == 0;
  for (int i = 0; i < l->n_choices; i++)
    can |= l->choices[i] == trip;
  return can;
}

/* Moves a factor from a loop that several ops share to an own loop of each, or back: every other
 * time to the outermost ones, so that their tiles in inner memories stay as they are. */
static bool move_shared(polish *q, int s) {
  const tf_node *node = &q->open->nodes[q->loop[s].node];
  const int dim = q->loop[s].loop.dim;
  const bool out = q->next[s] > 1 && tf_rng_below(&q->rng, 2);
  const bool outmost = tf_rng_below(&q->rng, 2);
  const int64_t f = out ? factor(q, q->next[s]) : 2 + tf_rng_below(&q->rng, 2);
  if (!may_take(&q->loop[s].loop, out ? remainder_of(q->next[s], f) : q->next[s] * f)) return false;
  for (int i = q->loop[s].node; i < node->end; i++) {
    if (q->open->nodes[i].kind != TF_OP) continue;
    const int own = own_loop(q, q->open->nodes[i].op, dim, out ? 1 : f, s, outmost);
    if (own < 0) return false;
    q->next[own] = out ? q->next[own] * f : q->next[own] / f;
  }
  q->next[s] = out ? remainder_of(q->next[s], f) : q->next[s] * f;
  return true;
}

/* Moves a factor of a shared loop to another one over the same dim, which may be spatial. */
static bool move_across(polish *q, int from) {
  int to = -1;
  uint32_t n = 0;
  if (q->next[from] < 2) return false;
  for (int i = 0; i < q->n; i++)
    if (i != from && q->loop[i].op < 0 && !q->loop[i].is_fixed &&
        q->loop[i].loop.dim == q->loop[from].loop.dim && !tf_rng_below(&q->rng, ++n))
      to = i;
  if (to < 0) return false;
  const int64_t f = factor(q, q->next[from]);
  const int64_t rest = remainder_of(q->next[from], f);
  if (!may_take(&q->loop[from].loop, rest) || !may_take(&q->loop[to].loop, q->next[to] * f))
    return false;
  q->next[from] = rest;
  q->next[to] *= f;
  return true;
}

/* A random loop; in one of four cases a shared one: there are few of these, and most depends on
 * them. */
static int any_loop(polish *q) {
  int found = (int)tf_rng_below(&q->rng, (uint32_t)q->n);
  uint32_t n = 0;
  if (tf_rng_below(&q->rng, 4)) return found;
  for (int i = 0; i < q->n; i++)
    if (q->loop[i].op < 0 && !q->loop[i].is_fixed && !tf_rng_below(&q->rng, ++n)) found = i;
  return found;
}

/* Moves a factor of an op's own loop to another own loop. */
static bool move_own(polish *q, int from) {
  if (q->next[from] < 2) return false;
  const int to = own_loop(q, q->loop[from].op, q->loop[from].loop.dim, 1, from, false);
  if (to < 0) return false;
  const int64_t f = factor(q, q->next[from]);
  q->next[from] = remainder_of(q->next[from], f);
  q->next[to] *= f;
  return true;
}

static bool move(polish *q) {
  const int from = any_loop(q);
  if (q->loop[from].is_fixed) return false;
  if (q->loop[from].op < 0)
    return tf_rng_below(&q->rng, 4) ? move_shared(q, from) : move_across(q, from);
  return move_own(q, from);
}

/* The figures of a count that are kept: a result's arrays are the model's, valid until its next
 * evaluation. */
typedef struct {
  double cycles, traffic;
} counted;

/* Counts the next setting; false: it does not fit. */
static bool count_next(polish *q, counted *c) {
  tf_result r;
  const bool fits = tf_model_eval(q->model, q->next, &r) && r.feasible;
  q->effort -= tf_model_effort(q->model);
  q->p->plan->walked += tf_model_walked(q->model);
  if (fits) *c = (counted){r.cycles, tf_result_traffic(q->p->wl, &r)};
  return fits;
}

/* Improves the own loops of ops by the model alone, with the shared ones fixed: a kernel whose
 * blocks stay close to the core depends on shared loops, the model's cycles of each op on its own.
 * Without shared loops, kernels depend on the own ones. */
static void settle(polish *q, int tries, counted *best) {
  for (int i = 0; i < tries && q->shares && q->effort > 0; i++) {
    counted now;
    const int from = (int)tf_rng_below(&q->rng, (uint32_t)q->n);
    memcpy(q->kept, q->next, (size_t)q->n * sizeof *q->kept);
    if (q->loop[from].is_fixed || q->loop[from].op < 0 || !move_own(q, from)) continue;
    if (tf_rng_below(&q->rng, 2)) move_own(q, from);
    if (count_next(q, &now) && now.cycles < best->cycles)
      *best = now;
    else
      memcpy(q->next, q->kept, (size_t)q->n * sizeof *q->kept);
  }
}

static bool was_costed(const polish *q) {
  for (int i = 0; i < q->n_seen; i++)
    if (!memcmp(q->estimated + (size_t)i * (size_t)q->n, q->next, (size_t)q->n * sizeof *q->next))
      return true;
  return false;
}

/* Adds the next setting as a candidate if it is better than the best; false: out of memory. */
static bool try_next(polish *q, counted now) {
  bool failed = false;
  memcpy(q->estimated + (size_t)q->n_seen++ * (size_t)q->n, q->next,
         (size_t)q->n * sizeof *q->next);
  plan_candidate c = {
      .cycles = now.cycles, .traffic = now.traffic, .tree = tf_complete(q->open, q->next, &failed)};
  c.text = c.tree ? tf_tree_text(c.tree) : NULL;
  c.value = c.text ? plan_score(q->p, &c) : INFINITY;
  c.is_scored = true;
  if (!(c.value < q->value)) {
    plan_candidate_clear(&c);
    return !failed;
  }
  if (!plan_add(q->p, c)) return false;
  q->value = c.value;
  memcpy(q->best, q->next, (size_t)q->n * sizeof *q->next);
  return true;
}

/* How many kernels may be estimated. */
static int costed_most(const polish *q) {
  const int64_t evals = q->p->o->budget.max_evals;
  if (!evals && !(q->p->o->budget.time_limit > 0)) return COSTED_UNASKED;
  return evals > 0 && evals / EVALS_EACH < COSTED ? (int)(evals / EVALS_EACH) : COSTED;
}

/* Improves the own loops of the next setting, and adds it if its kernel is better than the best;
 * false: out of memory. */
static bool settle_and_try(polish *q, int tries) {
  counted now;
  if (!count_next(q, &now)) return true;
  settle(q, tries, &now);
  return plan_cannot_win(q->p, now.cycles, q->value) || was_costed(q) || try_next(q, now);
}

static bool walk(polish *q) {
  const int most = costed_most(q);
  q->effort = (int64_t)EFFORT_EACH * most;
  memcpy(q->next, q->best, (size_t)q->n * sizeof *q->next);
  bool ok = settle_and_try(q, SETTLE_FIRST);
  for (int i = 0; ok && i < DRAWN && q->n_seen < most && q->effort > 0 && !plan_over(q->p); i++) {
    memcpy(q->next, q->best, (size_t)q->n * sizeof *q->next);
    bool moved = false;
    for (int k = 1 + (int)tf_rng_below(&q->rng, MOVES); k > 0; k--)
      moved |= move(q);
    if (moved && !was_costed(q)) ok = settle_and_try(q, SETTLE_EACH);
  }
  return ok;
}

/* The next own loop of op o from place `at` on; q->n: none. */
static int next_own(const polish *q, int o, int at) {
  while (at < q->n && (q->loop[at].is_fixed || q->loop[at].op != o))
    at++;
  return at;
}

/* Gives op `to` the trip counts of op `from`, if both have own loops over the same dims in the same
 * order, with equal products. */
static bool copy_twin(polish *q, int from, int to) {
  bool differs = false;
  int i = next_own(q, from, 0), k = next_own(q, to, 0);
  for (; i < q->n && k < q->n; i = next_own(q, from, i + 1), k = next_own(q, to, k + 1)) {
    if (q->loop[i].loop.dim != q->loop[k].loop.dim || q->loop[i].loop.axis != q->loop[k].loop.axis)
      return false;
    differs |= q->best[i] != q->best[k];
    q->next[k] = q->best[i];
  }
  for (int d = 0; differs && d < q->p->wl->n_dims; d++) {
    double ratio = 1;
    for (int l = 0; l < q->n; l++)
      if (q->loop[l].loop.dim == d) ratio *= (double)q->next[l] / (double)q->best[l];
    if (fabs(ratio - 1) > 1e-9) return false;
  }
  return differs && i == q->n && k == q->n;
}

/* Trip counts found for one op may suit another like it: the first two products of a gated MLP. */
static bool twins(polish *q) {
  const int most = costed_most(q);
  int left = most < TWINS ? most : TWINS;
  q->effort = (int64_t)EFFORT_EACH * TWINS; /* their own budget, as they are few */
  for (int from = 0; from < q->p->wl->n_ops; from++)
    for (int to = 0; to < q->p->wl->n_ops && left > 0 && !plan_over(q->p); to++) {
      memcpy(q->next, q->best, (size_t)q->n * sizeof *q->next);
      counted now;
      if (from == to || !copy_twin(q, from, to) || was_costed(q) || q->effort <= 0) continue;
      if (!count_next(q, &now) || plan_cannot_win(q->p, now.cycles, q->value)) continue;
      left--;
      if (!try_next(q, now)) return false;
    }
  return true;
}

/* If even the fewest cycles by the model are too many, only that mapping's kernel is estimated. */
static void estimate_first_only(planner *p, int from) {
  int least = from;
  for (int i = from; i < p->n; i++)
    if (p->candidate[i].cycles < p->candidate[least].cycles) least = i;
  if (least >= p->n || p->n_time > 0 ||
      !plan_is_lost(p, &(plan_candidate){.cycles = p->candidate[least].cycles}))
    return;
  for (int i = from; i < p->n; i++)
    if (i != least) p->candidate[i].value = INFINITY, p->candidate[i].is_scored = true;
}

bool plan_local_search(planner *p, const tf_tree *open, int from) {
  int best = from;
  estimate_first_only(p, from);
  for (int i = from; i < p->n && !plan_over(p); i++) {
    if (p->candidate[i].is_scored) continue;
    const bool behind = i > from && p->n_time == 0 &&
                        plan_cannot_win(p, p->candidate[i].cycles, p->candidate[best].value);
    p->candidate[i].value = behind ? INFINITY : plan_score(p, &p->candidate[i]);
    p->candidate[i].is_scored = true;
    if (p->candidate[i].value < p->candidate[best].value) best = i;
  }
  if (best >= p->n || !p->candidate[best].is_scored || !isfinite(p->candidate[best].value))
    return true;
  if (plan_is_lost(p, &p->candidate[best])) return true;
  polish q = {.p = p,
              .open = open,
              .rng = tf_rng_new(p->o->budget.seed, 1),
              .value = p->candidate[best].value};
  q.model = tf_model_new(open, p->d);
  q.n = q.model ? tf_model_n_loops(q.model) : 0;
  q.loop = calloc((size_t)q.n + 1, sizeof *q.loop);
  q.best = calloc((size_t)(q.n + 1) * (COSTED + TWINS + 3), sizeof *q.best);
  bool ok = q.model && q.loop && q.best;
  if (ok && q.n > 0) {
    tf_model_walk_limit(q.model, WALKED);
    tf_model_all_points(q.model); /* both as the search counted the mappings to compare with */
    tf_model_whole_tiles(q.model);
    q.next = q.best + q.n;
    q.kept = q.next + q.n;
    q.estimated = q.kept + q.n;
    find_places(&q);
    trips_of(&q, p->candidate[best].tree, q.best);
    ok = walk(&q) && twins(&q);
  }
  tf_model_free(q.model);
  free(q.loop);
  free(q.best);
  return ok || (tf_diags_errors(p->d) == 0 && plan_no_memory(p));
}
