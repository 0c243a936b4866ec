/* Spaces and strategies know each other by search/common/space.h alone: a space of the test's own
 * is walked by every strategy, a strategy of the test's own walks every space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/run/repeat.h"
#include "search/space/shape.h"
#include "search/space/trips.h"
#include "search/strategy/strategy.h"
#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

/* ---- a toy space: a number as a product of so many factors, in order ------------------------- */
enum { FACTORS = 4, SEEN = 512 };

typedef struct {
  tf_space space;
  int32_t of, least; /* no factor is below `least`: some choices then lead to dead ends */
  int32_t left[FACTORS + 1], chosen[FACTORS];
  int32_t goal[FACTORS];
  int32_t seen[SEEN][FACTORS];
  int n_seen, twice, wrong, asked, most;
  double best;
} splits;

static void begin(tf_space *s) { ((splits *)s)->left[0] = ((splits *)s)->of; }

static int domain(tf_space *s, int i, int32_t *out) {
  splits *p = (splits *)s;
  int n = 0;
  for (int32_t f = 1; f <= p->left[i]; f++)
    if (p->left[i] % f == 0 && f >= p->least && (i < FACTORS - 1 || f == p->left[i])) out[n++] = f;
  return n;
}

static void take(tf_space *s, int i, int32_t f) {
  splits *p = (splits *)s;
  p->left[i + 1] = p->left[i] / f;
  p->chosen[i] = f;
}

/* Evaluates: how far it is from the goal, in factors. */
static double cost(void *ctx) {
  splits *p = ctx;
  int64_t product = 1;
  double sum = 1;
  bool before = false;
  for (int i = 0; i < FACTORS; i++) {
    product *= p->chosen[i];
    sum += fabs(log2((double)p->chosen[i] / p->goal[i]));
  }
  p->wrong += product != p->of;
  for (int k = 0; k < p->n_seen && !before; k++)
    before = !memcmp(p->seen[k], p->chosen, sizeof p->chosen);
  p->twice += before;
  if (!before && p->n_seen < SEEN) memcpy(p->seen[p->n_seen++], p->chosen, sizeof p->chosen);
  p->asked++;
  if (sum < p->best) p->best = sum;
  return sum;
}

static bool more(void *ctx) { return ((splits *)ctx)->asked < ((splits *)ctx)->most; }

static const tf_space_kind kind = {.begin = begin, .domain = domain, .take = take};

static splits *new_splits(int32_t of, int32_t least, int most) {
  splits *p = calloc(1, sizeof *p);
  if (!p) abort();
  p->space = (tf_space){.kind = &kind, .n = FACTORS, .chosen = p->chosen, .cost = cost, .ctx = p};
  p->of = of;
  p->least = least;
  p->most = most;
  p->best = INFINITY;
  memcpy(p->goal, (int32_t[]){8, 2, 16, 4}, sizeof p->goal);
  return p;
}

/* ---- a toy strategy: from the best so far to a neighbour, or anywhere ----------------------- */
typedef struct {
  tf_space *space;
  tf_rng rng;
  int32_t *best, *row;
  double cost;
} climber;

static void *climb_from(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng) {
  (void)hint, (void)n_asks;
  climber *c = TF_NEW(a, climber);
  if (!c) return NULL;
  *c = (climber){s, rng, TF_ARRAY(a, int32_t, (size_t)s->n + 1),
                 TF_ARRAY(a, int32_t, (size_t)s->n + 1), INFINITY};
  return c->best && c->row ? c : NULL;
}

static bool step(void *state, uint64_t *like) {
  climber *c = state;
  *like = 0;
  if (isinf(c->cost) || !tf_rng_below(&c->rng, 2)) return tf_space_random(c->space, &c->rng);
  memcpy(c->row, c->best, (size_t)c->space->n * sizeof *c->row);
  tf_space_vary(c->space, &c->rng, NULL, c->row);
  return tf_space_follow(c->space, c->row) || tf_space_random(c->space, &c->rng);
}

static void learn(void *state, const tf_feedback *t) {
  climber *c = state;
  if (t->cost >= c->cost) return;
  c->cost = t->cost;
  memcpy(c->best, t->row, (size_t)c->space->n * sizeof *c->best);
}

static const tf_strategy_ops climb = {climb_from, step, learn, .batches = false};
static const tf_strategy toy = {"toy", "random genes, trip counts by climbing", &tf_strategy_random,
                                &climb, 48};

/* ---- every strategy over the toy space ------------------------------------------------------ */
static bool explore(const tf_strategy_ops *way, splits *p) {
  tf_arena *a = tf_arena_new();
  void *state = way->make(a, &p->space, NULL, p->most, tf_rng_new(3, 1));
  CHECK(state != NULL);
  bool all = tf_explore(way, state, &p->space, more);
  CHECK_I64(p->wrong, 0);
  tf_arena_free(a);
  return all;
}

/* 1024 has C(13, 3) = 286 ordered products of four factors; from 4 on, C(5, 3) = 10. */
static void test_all_of_it(void) {
  const int counts[][2] = {{1, 286}, {4, 10}};
  for (int k = 0; k < 2; k++) {
    splits *p = new_splits(1024, counts[k][0], 10000);
    CHECK(explore(&tf_strategy_exhaustive, p));
    CHECK_I64(p->n_seen, counts[k][1]);
    CHECK_I64(p->asked, counts[k][1]);
    free(p);
    p = new_splits(1024, counts[k][0], 10000);
    CHECK(explore(&tf_strategy_mcts, p)); /* a small space is searched to its end */
    CHECK_I64(p->n_seen, counts[k][1]);
    free(p);
  }
}

static void test_nothing(void) {
  const tf_strategy_ops *ways[] = {&tf_strategy_random, &tf_strategy_exhaustive, &tf_strategy_ga,
                                   &tf_strategy_mcts, &climb};
  for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
    splits *p = new_splits(1024, 8, 100); /* 8^4 is more than 1024 */
    CHECK(explore(ways[k], p));
    CHECK_I64(p->asked, 0);
    free(p);
  }
}

static void test_the_best(void) {
  const tf_strategy_ops *ways[] = {&tf_strategy_random, &tf_strategy_exhaustive, &tf_strategy_ga,
                                   &tf_strategy_mcts, toy.inner};
  for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
    for (int32_t least = 1; least <= 2; least++) {
      splits *p = new_splits(1024, least, 4000);
      explore(ways[k], p);
      CHECK_NEAR(p->best, 1, 1e-12);
      free(p);
    }
}

/* Undoing some decisions leaves those before, and the domains as they were. */
static void test_undo(void) {
  splits *p = new_splits(720, 2, 1);
  tf_rng rng = tf_rng_new(5, 1);
  for (int k = 0; k < 200; k++) {
    int32_t was[FACTORS], first[TF_DOMAIN_MAX], again[TF_DOMAIN_MAX];
    CHECK(tf_space_random(&p->space, &rng));
    memcpy(was, p->chosen, sizeof was);
    int to = k % FACTORS, n = domain(&p->space, to, first);
    tf_space_back(&p->space, to);
    CHECK_I64(domain(&p->space, to, again), n);
    CHECK(!memcmp(first, again, (size_t)n * sizeof *first));
    CHECK(!memcmp(was, p->chosen, (size_t)to * sizeof *was));
    CHECK(tf_space_follow(&p->space, was));
    CHECK(!memcmp(was, p->chosen, sizeof was));
  }
  free(p);
}

/* ---- the toy strategy over shapes and trip counts ------------------------------------------- */
typedef struct {
  tf_trips *trips;
  tf_model *model;
  int asked;
  double best;
} counts;

static double cycles(void *ctx) {
  counts *c = ctx;
  tf_result r;
  c->asked++;
  bool ok = tf_model_eval(c->model, c->trips->trips, &r) && r.feasible;
  if (ok && r.cycles < c->best) c->best = r.cycles;
  return ok ? r.cycles : TF_COST_BAD;
}

static bool fewer(void *ctx) { return ((counts *)ctx)->asked < toy.evals_per_shape; }

static double climb_shape(const tf_shapes *shapes, const int32_t *genes, tf_reads *reads, int no) {
  tf_diags *d = tf_diags_new();
  tf_arena *a = tf_arena_new();
  tf_tree *tree = tf_shapes_tree(shapes, genes, reads);
  counts c = {.trips = tree ? tf_trips_new(tree, d) : NULL,
              .model = tree ? tf_model_new(tree, d) : NULL,
              .best = TF_COST_BAD};
  CHECK(c.trips && c.model);
  if (c.trips && c.model) {
    tf_space *s = &c.trips->space;
    tf_model_walk_limit(c.model, 0);
    s->cost = cycles;
    s->ctx = &c;
    tf_explore(toy.inner,
               toy.inner->make(a, s, NULL, toy.evals_per_shape, tf_rng_new(7, (uint64_t)no)), s,
               fewer);
  }
  tf_model_free(c.model);
  tf_trips_free(c.trips);
  tf_tree_free(tree);
  tf_arena_free(a);
  tf_diags_free(d);
  return c.best;
}

static void test_toy_pair(void) {
  const char *paths[] = {"arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml"};
  tf_diags *d = tf_diags_new();
  tf_spec *spec = tf_spec_read(paths, 2, NULL, 0, d);
  tf_arena *a = tf_arena_new();
  tf_shapes *shapes = tf_shapes_new(spec->arch, spec->workload, d);
  tf_space *s = tf_shapes_space(a, shapes);
  void *state = toy.outer->make(a, s, NULL, 0, tf_rng_new(1, 1));
  tf_reads reads = {TF_ARRAY(a, uint32_t, (size_t)s->n), 0};
  double best = TF_COST_BAD;
  for (int k = 0; k < 60; k++) {
    uint64_t like;
    CHECK(toy.outer->ask(state, &like));
    double found = climb_shape(shapes, s->chosen, &reads, k);
    toy.outer->tell(state, &(tf_feedback){s->chosen, reads.order, 0, found});
    best = found < best ? found : best;
  }
  CHECK(best < TF_COST_BAD);
  tf_bounds b;
  CHECK(tf_bounds_of(spec->arch, spec->workload, &b) && best >= b.cycles);
  tf_shapes_free(shapes);
  tf_arena_free(a);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* ---- the table ------------------------------------------------------------------------------ */
static void test_rows(void) {
  CHECK(toy.outer->batches);
  for (int k = 0; tf_strategy_at(k); k++) {
    const tf_strategy *s = tf_strategy_at(k);
    CHECK(tf_strategy_named(s->name) == s && s->about[0]);
    CHECK(s->outer->batches); /* the driver asks for a batch of rows before it tells of the first */
  }
  CHECK(tf_strategy_named("toy") == NULL);
}

/* ---- what has been evaluated ----------------------------------------------------------------- */
/* What is recalled is of these very trip counts, however often others took its place. */
static void test_repeats(void) {
  enum { LOOPS = 3, LONGEST = 7 };
  tf_arena *a = tf_arena_new();
  tf_repeats *r = tf_repeats_new(a, LOOPS, 10);
  tf_rng rng = tf_rng_new(1, 1);
  int again = 0, wrong = 0;
  if (!CHECK(r)) return;
  for (int k = 0; k < 4000; k++) {
    int64_t row[LOOPS], of = 0;
    for (int l = 0; l < LOOPS; l++)
      of = of * LONGEST + (row[l] = tf_rng_below(&rng, LONGEST));
    tf_outcome *o = tf_repeats_find(r, row);
    again += o->filled;
    wrong += o->filled && o->cost != (double)of;
    *o = (tf_outcome){.filled = k % 8 != 0, .cost = (double)of};
  }
  CHECK_I64(wrong, 0);
  CHECK(again > 100 && again < 2000);
  tf_arena_free(a);
}

/* ---- ops of numbers -------------------------------------------------------------------------- */
/* Every strategy on a workload some of whose ops have no dim at all, so that no loop of theirs can
 * be exchanged or spread. */
static void test_numbers(void) {
  static const char text[] =
      "architecture:\n  name: a\n  memories:\n  - {name: M0, bandwidth: 8}\n"
      "  - {name: M1, mesh: [2, 1], capacity: 200, bandwidth: 4}\n"
      "  compute: [{name: u, ops: [max, exp, add, sub, mul, div], mesh: [2, 1]}]\n"
      "workload:\n  name: w\n  dims: {n: 1}\n  ops:\n"
      "  - X[] max= S[n]\n  - D[n] = S[n] - X[]\n  - E[n] = exp(D[n])\n  - Z[] += E[n]\n"
      "  - R[] = 1 / Z[]\n  - P[n] = R[] * E[n]\n";
  tf_text t = {"test", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&t, 1, NULL, 0, d);
  for (int k = 0; CHECK(s) && tf_search_strategy(k, NULL); k++)
    for (uint64_t seed = 1; seed <= 4; seed++) {
      tf_search_opts o = {.strategy = tf_search_strategy(k, NULL),
                          .budget = {.seed = seed, .threads = 1, .max_evals = 500}};
      tf_search_result *r = tf_search_run(s->arch, s->workload, NULL, &o, d);
      CHECK(r && r->n_best > 0);
      tf_search_free(r);
    }
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  test_numbers();
  test_repeats();
  test_all_of_it();
  test_nothing();
  test_the_best();
  test_undo();
  test_toy_pair();
  test_rows();
  return check_report();
}
