/* The search as a whole: the same result whatever the threads, whether stopped and resumed or not;
 * every strategy on every kind of workload; MCTS finds the exhaustive optimum of small spaces; the
 * genetic operators stay within legal trees. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "search/common/archive.h"
#include "search/common/factors.h"
#include "search/common/objective.h"
#include "search/run/driver.h"
#include "search/run/retained.h"
#include "search/run/tree_local_search.h"
#include "search/space/shape.h"
#include "search/strategy/strategy.h"
#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

typedef struct {
  tf_diags *d;
  tf_spec *s;
  tf_tree *given;
} problem;

static problem from_files(const char *arch, const char *work) {
  const char *paths[] = {arch, work};
  problem p = {.d = tf_diags_new()};
  p.s = tf_spec_read(paths, 2, NULL, 0, p.d);
  CHECK(p.s != NULL);
  return p;
}

static problem from_text(const char *text) {
  tf_text t = {"test", text, strlen(text)};
  problem p = {.d = tf_diags_new()};
  p.s = tf_spec_read_texts(&t, 1, NULL, 0, p.d);
  CHECK(p.s != NULL);
  if (p.s && p.s->mapping_text)
    p.given = tf_tree_parse(p.s->mapping_text, p.s->mapping_at, p.s->arch, p.s->workload, p.d);
  if (tf_diags_errors(p.d)) {
    char *said = tf_diags_text(p.d);
    printf("%s", said);
    free(said);
  }
  return p;
}

static void drop(problem *p) {
  tf_tree_free(p->given);
  tf_spec_free(p->s);
  tf_diags_free(p->d);
}

static tf_search_result *run(const problem *p, const tf_search_opts *o) {
  tf_search_result *r = tf_search_run(p->s->arch, p->s->workload, p->given, o, p->d);
  CHECK(r != NULL);
  if (!r) {
    char *said = tf_diags_text(p->d);
    printf("%s", said);
    free(said);
  }
  return r;
}

/* ---- the same twice ----------------------------------------------------------------------- */
static void check_same_list(const tf_found *a, int n, const tf_found *b, int m) {
  CHECK_I64(n, m);
  for (int i = 0; i < n && i < m; i++) {
    CHECK(a[i].value == b[i].value);
    CHECK(!memcmp(&a[i].figures, &b[i].figures, sizeof a[i].figures));
    CHECK_TEXT(a[i].text, b[i].text);
  }
}

static void check_same(const tf_search_result *a, const tf_search_result *b) {
  if (!a || !b) return;
  CHECK_I64(a->evals, b->evals);
  CHECK_I64(a->shapes, b->shapes);
  CHECK_I64(a->stopped_by, b->stopped_by);
  check_same_list(a->best, a->n_best, b->best, b->n_best);
  check_same_list(a->pareto, a->n_pareto, b->pareto, b->n_pareto);
}

static void test_threads(void) {
  problem p = from_files("arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml");
  for (int k = 0; k < 2; k++) {
    tf_search_opts o = {.budget.seed = 3,
                        .budget.threads = 1,
                        .budget.max_evals = k ? 3000 : 12000,
                        .objective = k ? TF_EDP : TF_LATENCY,
                        .strategy = k ? "random" : NULL};
    tf_search_result *one = run(&p, &o);
    for (o.budget.threads = 2; o.budget.threads <= 4; o.budget.threads *= 2) {
      tf_search_result *more = run(&p, &o);
      check_same(one, more);
      tf_search_free(more);
    }
    CHECK_I64(one ? one->evals : -1, o.budget.max_evals);
    tf_search_free(one);
  }
  drop(&p);
}

/* A padded workload on a small machine. */
static const char padded[] =
    "architecture:\n  name: a\n  clock: 700 MHz\n  memories:\n"
    "  - {name: M0, word-bits: 5}\n"
    "  - {name: M1, bandwidth: 16, mesh: [5, 1], capacity: 163, double-buffered: true, energy: 0 "
    "pJ, issue: 12}\n"
    "  compute:\n"
    "  - {name: u0, ops: [add, mac], below: M1, mesh: [2, 3], rate: 2}\n"
    "  - {name: u1, ops: [mac, max, mul, exp], below: M0, mesh: [7, 1], rate: 3.25, energy: 0.5 "
    "pJ}\n"
    "  - {name: u2, ops: [mac, mul, max, exp], below: M1, mesh: [4, 1], rate: 3.25, energy: 0 pJ}\n"
    "workload:\n  name: w\n  dims: {d1: 4, d2: 1, d4: 5}\n"
    "  tensors: {I0: {pad: [1, 2]}, T1: {pad: [2]}, T2: {word-bits: 8}}\n  ops:\n"
    "  - \"T0[d4] max= exp(I0[-d1 + 2*d4 + 3, d4])\"\n"
    "  - \"T1[d4] = T0[3] * I1[-d4 + 4, -d4 + 4, 0]\"\n"
    "  - \"T2[d2] = T1[d2 + 3] * 2\"\n";

/* ---- resume --------------------------------------------------------------------------------- */
typedef struct {
  atomic_int_fast64_t evals; /* any thread asks */
} countdown;

static bool stop_soon(void *ctx) { return atomic_fetch_sub(&((countdown *)ctx)->evals, 1) <= 0; }

/* A search cut off in the middle of a record, or by stop(), and resumed ends as if it never was. */
static void resume(problem p, int64_t evals, int64_t stop_after) {
  char path[] = "/tmp/tileflow-test-log-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  unlink(path);
  tf_search_opts o = {.budget.seed = 5, .budget.threads = 2, .budget.max_evals = evals};
  tf_search_result *whole = run(&p, &o);
  countdown left = {stop_after};
  o.log = path;
  o.budget.stop = stop_soon;
  o.budget.ctx = &left;
  tf_search_result *part = run(&p, &o);
  CHECK(part && part->evals < evals && part->stopped_by == TF_STOP_INTERRUPT);
  tf_search_free(part);
  FILE *f = fopen(path, "ab");
  fputs("task 99999 0123", f); /* a record that was being written */
  fclose(f);
  o.budget.stop = NULL;
  o.resume = true;
  tf_search_result *again = run(&p, &o);
  check_same(whole, again);
  tf_search_free(again);
  again = run(&p, &o); /* all of it from the log */
  check_same(whole, again);
  tf_search_free(again);
  o.budget.seed = 6;
  CHECK(tf_search_run(p.s->arch, p.s->workload, NULL, &o, p.d) == NULL);
  CHECK(tf_diags_errors(p.d) == 1);
  o.resume = false;
  CHECK(tf_search_run(p.s->arch, p.s->workload, NULL, &o, p.d) == NULL); /* it is there already */
  CHECK(tf_diags_errors(p.d) == 2);
  unlink(path);
  tf_search_free(whole);
  drop(&p);
}

static void test_resume(void) {
  resume(from_files("arch-specs/edge.yaml", "workloads/gemm-chain/g2.yaml"), 12000, 350);
  resume(from_text(padded), 12000,
         100); /* what is offered differs from task to task, and is soon exhausted */
}

/* ---- every strategy, every kind of workload ------------------------------------------------- */
/* What was found is legal, fits, and has the figures that are told of it. */
static void check_found(const problem *p, const tf_found *f) {
  tf_tree *t = tf_tree_parse(f->text, (tf_loc){0}, p->s->arch, p->s->workload, p->d);
  tf_model *m = t ? tf_model_new(t, p->d) : NULL;
  tf_result r;
  CHECK(m != NULL);
  if (m) {
    CHECK(tf_model_eval(m, NULL, &r) && r.feasible);
    CHECK_NEAR(r.cycles, f->figures.cycles, 1e-12);
    CHECK_NEAR(r.energy_pj, f->figures.energy_pj, 1e-12);
  }
  tf_model_free(m);
  tf_tree_free(t);
}

static void test_kinds(void) {
  static const char *const works[] = {"workloads/matmul-exp-matmul.yaml", "workloads/gemm.yaml",
                                      "workloads/attention/g1.yaml", "workloads/conv-chain/c3.yaml",
                                      "workloads/depthwise-separable.yaml"};
  for (size_t w = 0; w < sizeof works / sizeof works[0]; w++) {
    problem p = from_files("arch-specs/edge.yaml", works[w]);
    for (int k = 0; tf_search_strategy(k, NULL); k++) {
      tf_search_opts o = {.strategy = tf_search_strategy(k, NULL),
                          .budget.seed = 1,
                          .budget.threads = 2,
                          .budget.max_evals = 200,
                          .objective = (tf_objective)(k % TF_N_OBJECTIVES)};
      tf_search_result *r = run(&p, &o);
      for (int i = 0; r && i < r->n_best; i++)
        check_found(&p, &r->best[i]);
      for (int i = 0; r && i < r->n_pareto && i < 4; i++)
        check_found(&p, &r->pareto[i]);
      CHECK(r && r->evals == 200);
      CHECK(r && (k > 0 || r->n_best > 0)); /* the rule finds something that fits */
      tf_search_free(r);
    }
    drop(&p);
  }
}

/* ---- small spaces --------------------------------------------------------------------------- */
static const char *const machine = "architecture:\n"
                                   "  name: small\n"
                                   "  clock: 1 GHz\n"
                                   "  memories:\n"
                                   "  - {name: DRAM, bandwidth: 4}\n"
                                   "  - {name: Buf, mesh: [2, 1], capacity: 200, bandwidth: 16}\n"
                                   "  - {name: Reg, mesh: [4, 4], capacity: 8, bandwidth: 4}\n"
                                   "  compute:\n"
                                   "  - {name: pe, ops: [mac], below: Reg}\n";

static const char *const small_maps[] = {
    "workload:\n  name: one\n  dims: {m: 24, k: 8, n: 12}\n"
    "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n"
    "mapping: |\n"
    "  DRAM for m=? n=? spatial m=?@x\n"
    "    Buf for k=? m=?<=6 spatial m=?@x n=?@y\n"
    "      Reg for k=?{1,2,4}\n"
    "        op C\n",
    "workload:\n  name: two\n  dims: {m: 16, k: 8, l: 8, n: 4}\n"
    "  ops: ['C[m,l] += A[m,k] * B[k,l]', 'E[m,n] += C[m,l] * D[l,n]']\n"
    "mapping: |\n"
    "  DRAM for m=? l=?\n"
    "    Buf for m=?\n"
    "      Seq\n"
    "        Buf for l=? k=? spatial m=?@x l=?@y\n"
    "          Reg\n            op C\n"
    "        Buf for n=? l=? spatial m=?@x n=?@y\n"
    "          Reg\n            op E\n",
    /* a scope and loop orders left open, trip counts given or not */
    "workload:\n  name: order\n  dims: {m: 16, k: 8, l: 8, n: 4}\n"
    "  ops: ['C[m,l] += A[m,k] * B[k,l]', 'E[m,n] += C[m,l] * D[l,n]']\n"
    "mapping: |\n"
    "  DRAM for {m=4 l=?}\n"
    "    Buf\n"
    "      ? keep C@Buf\n"
    "        Buf for {m=4 l=? k=8}\n"
    "          Reg\n            op C\n"
    "        Buf for {m=4 n=4 l=?} \n"
    "          Reg\n            op E\n",
};

static void test_optimum(void) {
  for (size_t i = 0; i < sizeof small_maps / sizeof small_maps[0]; i++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s", machine, small_maps[i]);
    problem p = from_text(text);
    for (int k = 0; k < TF_N_OBJECTIVES;
         k += i ? TF_N_OBJECTIVES - 1 : 1) { /* all, then the first and the last */
      tf_search_opts o = {
          .strategy = "exhaustive", .budget.threads = 1, .objective = (tf_objective)k};
      tf_search_result *all = run(&p, &o);
      o.strategy = "ga-mcts";
      o.budget.seed = 1;
      tf_search_result *mcts = run(&p, &o);
      bool both = all && mcts && all->n_best > 0 && mcts->n_best > 0;
      CHECK(both);
      if (both) {
        CHECK_I64(all->stopped_by, TF_STOP_EXHAUSTED);
        CHECK_I64(mcts->stopped_by, TF_STOP_EXHAUSTED);
        CHECK(all->evals > 100);
        CHECK(all->best[0].value == mcts->best[0].value);
        check_found(&p, &all->best[0]);
      }
      tf_search_free(all);
      tf_search_free(mcts);
    }
    drop(&p);
  }
}

/* What is left may be mappings that random rows alone reach (the elements that T1 and T2 name
 * outright): "exhausted" without the best of them was said for seed 1. */
static void test_left_over(void) {
  problem p = from_text(padded);
  tf_search_opts o = {.strategy = "exhaustive",
                      .budget = {.threads = 1, .max_evals = 2000},
                      .objective = TF_ENERGY};
  tf_search_result *all = run(&p, &o);
  o.strategy = "ga-mcts";
  o.budget = (tf_budget){.threads = 1, .max_evals = 30000, .seed = 1};
  tf_search_result *bred = run(&p, &o);
  const bool both = all && bred && all->n_best > 0 && bred->n_best > 0;
  CHECK(both);
  if (both)
    CHECK(all->stopped_by == TF_STOP_EXHAUSTED && bred->best[0].value <= all->best[0].value);
  tf_search_free(all);
  tf_search_free(bred);
  drop(&p);
}

/* ---- genetic operators ---------------------------------------------------------------------- */
/* Rows bred over many generations, with random costs, are within their sizes and legal trees. */
static void test_breeding(void) {
  problem p = from_files("arch-specs/cloud.yaml", "workloads/attention/g1.yaml");
  tf_shapes *s = tf_shapes_new(p.s->arch, p.s->workload, p.d);
  tf_arena *a = tf_arena_new();
  tf_rng rng = tf_rng_new(1, 1);
  tf_space *space = tf_shapes_space(a, s);
  void *ga = tf_strategy_ga.make(a, space, NULL, 0, rng);
  size_t n = (size_t)tf_shapes_genes(s);
  const int32_t *genes = space->chosen;
  tf_reads reads = {TF_ARRAY(a, uint32_t, n), 0};
  int outside = 0, illegal = 0;
  for (int k = 0; k < 400; k++) {
    uint64_t like;
    CHECK(tf_strategy_ga.ask(ga, &like));
    for (size_t i = 0; i < n; i++) {
      int32_t domain[TF_DOMAIN_MAX];
      const int size = space->kind->domain(space, (int)i, domain); /* 0, 1, ... */
      outside += genes[i] < 0 || genes[i] >= size;
    }
    tf_tree *t = tf_shapes_tree(s, genes, &reads);
    illegal += t == NULL;
    tf_tree_free(t);
    tf_strategy_ga.tell(ga, &(tf_feedback){genes, reads.order, (uint64_t)k + 1, tf_rng_unit(&rng)});
  }
  CHECK_I64(outside, 0);
  CHECK_I64(illegal, 0);
  tf_arena_free(a);
  tf_shapes_free(s);
  drop(&p);
}

/* ---- variants -------------------------------------------------------------------------------- */
static const char small_open[] =
    "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
    "  - {name: D, bandwidth: 4}\n"
    "  - {name: B, capacity: 300, bandwidth: 8}\n  compute:\n"
    "  - {name: u, ops: [mac], below: B, mesh: [2, 1]}\n"
    "workload:\n  name: w\n  dims: {m: 12, n: 8, k: 6}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
    "mapping: |\n  D for m=? n=? k=?\n    B for m=? n=? k=? spatial n=?@x\n      op C\n";

/* The value of a mapping, by itself. */
static double value_alone(const problem *p, const char *text, tf_objective o) {
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, p->s->arch, p->s->workload, p->d);
  tf_model *m = t ? tf_model_new(t, p->d) : NULL;
  tf_result r;
  double v = -1;
  if (m && tf_model_eval(m, NULL, &r) && r.feasible) v = o == TF_LATENCY ? r.cycles : r.energy_pj;
  tf_model_free(m);
  tf_tree_free(t);
  return v;
}

/* Of mappings of small_open whose trip counts divide: the least value, of these the least and the
 * most energy. */
typedef struct {
  double value, least_pj, most_pj;
} ties;

static void tie(ties *t, double value, double pj) {
  if (value < t->value) *t = (ties){value, pj, pj};
  if (value > t->value) return;
  t->least_pj = fmin(t->least_pj, pj);
  t->most_pj = fmax(t->most_pj, pj);
}

static ties all_of_small(const problem *p, tf_objective o) {
  static const char text[] = "D for m=12 n=8 k=6\n  B for m=1 n=1 k=1 spatial n=1@x\n    op C\n";
  ties t = {INFINITY, 0, 0};
  tf_tree *tree = tf_tree_parse(text, (tf_loc){0}, p->s->arch, p->s->workload, p->d);
  tf_model *m = tree ? tf_model_new(tree, p->d) : NULL;
  for (int64_t i = 0; m && i < 12 * 8 * 6 * 2; i++) {
    const int64_t a = 1 + i % 12, b = 1 + i / 12 % 8, c = 1 + i / 96 % 6, x = 1 + i / 576;
    const int64_t trips[] = {a, b, c, 12 / a, 8 / (b * x), 6 / c, x};
    tf_result r;
    if (12 % a || 8 % (b * x) || 6 % c || !tf_model_eval(m, trips, &r) || !r.feasible) continue;
    tie(&t, o == TF_LATENCY ? r.cycles : r.energy_pj * r.seconds, r.energy_pj);
  }
  CHECK(m != NULL);
  tf_model_free(m);
  tf_tree_free(tree);
  return t;
}

/* Of mappings with the same value the one with least energy is told: of a given mapping's space,
 * and of all there is. */
static void test_ties(void) {
  problem p = from_text(small_open);
  const ties t = all_of_small(&p, TF_LATENCY);
  CHECK(t.least_pj < t.most_pj);
  for (int k = 0; k < 3; k++) {
    tf_search_opts o = {.strategy = k ? NULL : "exhaustive",
                        .budget.threads = k == 1 ? 1 : 3,
                        .budget.max_evals = k ? 20000 : 0};
    tf_search_result *r = run(&p, &o);
    const bool there = r && r->n_best;
    CHECK(there && r->best[0].value <= t.value);
    CHECK(!there || r->best[0].value < t.value ||
          r->best[0].figures.energy_pj <= t.least_pj * (1 + 1e-12));
    for (int i = 0; there && i < r->n_pareto; i++)
      CHECK(r->pareto[i].figures.cycles > r->best[0].value ||
            r->pareto[i].figures.energy_pj >= r->best[0].figures.energy_pj);
    tf_search_free(r);
  }
  drop(&p);
}

/* So many mappings as asked for, none twice, ascending, each worth what it says, the same with any
 * number of threads; and of a space seen whole, a longer list starts with a shorter one's values.
 */
static void test_variants(void) {
  problem p = from_text(small_open);
  for (int k = 0; k < 2; k++) {
    tf_search_opts o = {.strategy = "exhaustive",
                        .budget.threads = 1,
                        .variants = 7,
                        .objective = k ? TF_ENERGY : TF_LATENCY,
                        .budget.max_evals = 50000};
    tf_search_result *few = run(&p, &o);
    o.variants = 40, o.budget.threads = 3;
    tf_search_result *many = run(&p, &o);
    o.strategy = NULL, o.budget.max_evals = 3000, o.budget.threads = 1;
    tf_search_result *one = run(&p, &o);
    o.budget.threads = 4;
    tf_search_result *four = run(&p, &o);
    if (few && many && one && four) {
      CHECK_I64(few->n_variants, 7);
      CHECK_I64(many->n_variants, 40);
      CHECK(few->variants[0].value == few->best[0].value);
      for (int i = 0; i < many->n_variants; i++) {
        CHECK(i >= few->n_variants || few->variants[i].value == many->variants[i].value);
        CHECK(i == 0 || many->variants[i - 1].value <= many->variants[i].value);
        CHECK(value_alone(&p, many->variants[i].text, o.objective) == many->variants[i].value);
        for (int j = 0; j < i; j++)
          CHECK(strcmp(many->variants[i].text, many->variants[j].text) != 0);
      }
      check_same_list(one->variants, one->n_variants, four->variants, four->n_variants);
    }
    tf_search_free(few);
    tf_search_free(many);
    tf_search_free(one);
    tf_search_free(four);
  }
  drop(&p);
}

/* ---- the fused template ---------------------------------------------------------------------- */
static char *text_of(tf_tree *t) {
  char *text = t ? tf_tree_text(t) : NULL;
  tf_tree_free(t);
  return text;
}

/* Loops that all ops can share are found through ops with dims of their own in between. */
static void test_template(void) {
  static const char *const file[] = {"workloads/conv-chain/c1.yaml",
                                     "workloads/conv-chain-relu/c1.yaml",
                                     "workloads/gemm-chain/g1.yaml", "workloads/attention/g1.yaml"};
  static const char *const first[] = {"DRAM for b=? x=?\n", "DRAM for b=? x=?\n",
                                      "DRAM for b=? m=?\n", "DRAM for b=? h=? m=?\n"};
  for (int i = 0; i < 4; i++) {
    problem p = from_files("arch-specs/host-template.yaml", file[i]);
    char *text =
        p.s ? text_of(tf_search_template(p.s->arch, p.s->workload, TF_TEMPLATE_WHOLE)) : NULL;
    CHECK(text && !strncmp(text, first[i], strlen(first[i])));
    if (text && strncmp(text, first[i], strlen(first[i])) != 0)
      printf("%s: %.60s\n", file[i], text);
    free(text);
    drop(&p);
  }
}

/* Keys are streamed where there is a softmax over many of them, and nowhere else; each number of
 * blocks is above one. */
static void test_stream_template(void) {
  static const char *const file[] = {"workloads/gemm-chain/g1.yaml",
                                     "workloads/conv-chain-relu/c1.yaml",
                                     "workloads/attention/g1.yaml"};
  for (int i = 0; i < 3; i++) {
    problem p = from_files("arch-specs/host-template.yaml", file[i]);
    char *text =
        p.s ? text_of(tf_search_template(p.s->arch, p.s->workload, TF_TEMPLATE_STREAM)) : NULL;
    CHECK(i == 2 ? text && strstr(text, " stream X Z O\n") && strstr(text, " for l=?{2,") : !text);
    free(text);
    drop(&p);
  }
}

/* Keys of rows that a number of blocks leaves idle: blocks are whole rows of 16, the last one as
 * long as the others. */
static int64_t idle_keys(int64_t extent, int64_t blocks) {
  const int64_t keys = (extent + blocks - 1) / blocks;
  return blocks * ((keys + 15) / 16 * 16) - extent;
}

/* Blocks of keys fill whole rows of units, whatever number of them the cache has room for. */
static void test_stream_blocks(void) {
  static const char *const keys[] = {"8192", "4096", "6000", "4100", "8191"}, *const width[] = {
                                                                                  "80", "128",
                                                                                  "40"};
  const char *paths[] = {"arch-specs/host-template.yaml", "workloads/models/attention-long.yaml"};
  for (int i = 0; i < 15; i++) {
    const tf_setting set[] = {{"kv_seq", keys[i / 3]}, {"qk_dim", width[i % 3]}};
    problem p = {.d = tf_diags_new()};
    p.s = tf_spec_read(paths, 2, set, 2, p.d);
    char *text =
        p.s ? text_of(tf_search_template(p.s->arch, p.s->workload, TF_TEMPLATE_STREAM)) : NULL;
    char *at = text ? strstr(text, " for l=?{") : NULL;
    const int64_t extent = atoll(keys[i / 3]);
    CHECK(at != NULL);
    for (at = at ? at + 8 : NULL; at && *at != '}';) {
      const int64_t blocks = strtoll(at + 1, &at, 10), idle = idle_keys(extent, blocks);
      CHECK(blocks >= 2 && (extent % 4096 == 0 ? idle == 0 : 12 * idle < extent));
    }
    free(text);
    drop(&p);
  }
}

/* Weights that the last cache cannot hold: all that is read passes through it in parts, op after
 * op. */
static void test_far_template(void) {
  problem p = from_files("arch-specs/host-template.yaml", "workloads/models/gated-mlp.yaml");
  char *text = p.s ? text_of(tf_search_template(p.s->arch, p.s->workload, TF_TEMPLATE_FAR)) : NULL;
  CHECK(text && !strncmp(text, "DRAM for m=?\n", 13) &&
        strstr(text, "  Seq\n    DRAM for l=? m=? k=?\n      L3 for"));
  free(text);
  drop(&p);
}

/* ---- odd shapes ----------------------------------------------------------------------------- */
/* The best of a product on a machine, in cycles. */
static double best_of_product(const char *arch, const int *dim) {
  char text[300];
  tf_text t = {"product", text, 0};
  problem p = {.d = tf_diags_new()};
  snprintf(text, sizeof text,
           "workload:\n  name: g\n  dims: {m: %d, n: %d, k: %d}\n"
           "  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\n",
           dim[0], dim[1], dim[2]);
  t.len = strlen(text);
  tf_text both[2] = {tf_text_read(arch, p.d), t};
  p.s = tf_spec_read_texts(both, 2, NULL, 0, p.d);
  tf_search_opts o = {.budget.seed = 1, .budget.threads = 2, .budget.max_evals = 6000};
  tf_search_result *r = p.s ? run(&p, &o) : NULL;
  const double cycles = r && r->n_best ? r->best[0].figures.cycles : INFINITY;
  tf_search_free(r);
  free((char *)both[0].text);
  drop(&p);
  return cycles;
}

/* A larger problem is not cheaper: lengths that nothing divides, beside the same rounded up to 16.
 * A tenth is left to chance, as so few evaluations do not find the best of either. */
static void test_odd(void) {
  static const int odd[][3] = {
      {1021, 1021, 1021}, {197, 768, 768}, {577, 1021, 257}, {113, 211, 97}};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    int up[3];
    for (int d = 0; d < 3; d++)
      up[d] = (odd[i][d] + 15) / 16 * 16;
    for (int a = 0; a < 2; a++) {
      const char *arch = a ? "arch-specs/cloud.yaml" : "arch-specs/edge.yaml";
      const double of_odd = best_of_product(arch, odd[i]), of_up = best_of_product(arch, up);
      if (!CHECK(of_odd <= 1.1 * of_up))
        printf("%d x %d x %d on %s: %g, rounded up %g\n", odd[i][0], odd[i][1], odd[i][2], arch,
               of_odd, of_up);
    }
  }
}

/* ---- what scopes retain --------------------------------------------------------------------- */
/* A chain whose second op reads windows of what the first makes. */
static const char windows[] =
    "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
    "  - {name: D, bandwidth: 16, energy: 200 pJ}\n"
    "  - {name: B, capacity: %d, bandwidth: 64, energy: 1 pJ}\n"
    "  compute:\n  - {name: u, ops: [mac], below: B, energy: 10 pJ}\n"
    "workload:\n  name: w\n  dims: {c: 4, k: 4, p: 18, f: 4, x: 16, u: 3}\n  ops:\n"
    "  - M[k,p] += I[c,p] * V[k,c]\n  - O[f,x] += M[k,x + u] * W[f,k,u]\n";

static problem windows_within(int capacity) {
  char text[sizeof windows + 16];
  snprintf(text, sizeof text, windows, capacity);
  return from_text(text);
}

/* What a mapping costs as `eval` counts it. */
static double cost_of_text(const problem *p, const char *text, tf_objective by) {
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, p->s->arch, p->s->workload, p->d);
  tf_model *m = t ? tf_model_new(t, p->d) : NULL;
  tf_result r;
  const bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible;
  const tf_figures f = ok ? tf_figures_of(p->s->arch, p->s->workload, &r) : (tf_figures){0};
  tf_model_free(m);
  tf_tree_free(t);
  return ok ? tf_objective_value(by, &f) : INFINITY;
}

/* Mappings that make rows twice, or not: a scope retains where that costs less by the objective,
 * and the mapping is as it was but for that. */
static void test_retain_one(void) {
  static const char *const form =
      "D for x=%d\n  B for k=%d\n    Seq%s\n      B for p=%d c=4 k=%d\n        op M\n"
      "      B for f=4 x=%d u=3 k=%d\n        op O\n";
  problem p = windows_within(200);
  int better = 0;
  for (int i = 0; i < 10; i++) {
    const int steps = 1 << i / 2, own = 16 / steps,
              k = i % 2 ? 4 : 1; /* k=4 outside of the scope: runs share no row */
    char plain[256], with[256];
    snprintf(plain, sizeof plain, form, steps, k, "", own + 2, 4 / k, own, 4 / k);
    snprintf(with, sizeof with, form, steps, k, " retain M", own + 2, 4 / k, own, 4 / k);
    for (int o = 0; o < TF_N_OBJECTIVES; o++) {
      const tf_objective by = (tf_objective)o;
      const double value = cost_of_text(&p, plain, by), retained = cost_of_text(&p, with, by);
      tf_evaluator q = {.objective = by}, other = {.objective = by, .exportable = "tileflow"};
      tf_tree *t = tf_tree_parse(plain, (tf_loc){0}, p.s->arch, p.s->workload, p.d);
      tf_found f = {0}, none = {0};
      CHECK(t && tf_retained(t, value, &q, &f) == (retained < value));
      CHECK(t && !tf_retained(t, value, &other, &none));
      CHECK_I64(q.evals, steps > 1 && !isinf(value) ? 2 : 1);
      better += f.tree != NULL;
      char *text = f.tree ? tf_tree_text(f.tree) : NULL;
      if (f.tree)
        CHECK(f.value == retained && text && cost_of_text(&p, text, by) == retained &&
              strstr(text, "retain M"));
      free(text);
      tf_found_clear(&f);
      tf_tree_free(t);
    }
  }
  CHECK(better > 4 && better < 20);
  drop(&p);
}

/* The search asks that of its best, whatever the threads, and charges for it. */
static void test_retained(void) {
  problem p = windows_within(60);
  tf_search_opts o = {.objective = TF_ENERGY,
                      .budget = {.seed = 1, .threads = 1, .max_evals = 20000}};
  tf_search_result *one = run(&p, &o);
  o.budget.threads = 3;
  tf_search_result *three = run(&p, &o);
  check_same(one, three);
  CHECK(one && one->evals <= o.budget.max_evals);
  const bool retains = one && one->n_best && strstr(one->best[0].text, " retain M");
  if (!CHECK(retains)) printf("%s", one && one->n_best ? one->best[0].text : "none\n");
  if (retains) CHECK(cost_of_text(&p, one->best[0].text, TF_ENERGY) == one->best[0].value);
  tf_bounds b;
  CHECK(tf_bounds_of(p.s->arch, p.s->workload, &b) && one &&
        one->best[0].value >= tf_bounds_value(TF_ENERGY, &b, p.s->arch));
  tf_search_free(one);
  tf_search_free(three);
  drop(&p);
}

/* ---- lengths rounded up --------------------------------------------------------------------- */
/* Counts of a length rounded up ascend from 1 to the length, and divide the larger one, which is no
 * more than 15 longer and the length itself where that has many divisors. */
static void test_rounded(void) {
  tf_arena *arena = tf_arena_new();
  tf_factors *f = arena ? tf_factors_new(arena) : NULL;
  for (int32_t n = 1; CHECK(f != NULL) && n <= 3000; n++) {
    const int32_t *list, up = tf_rounded(n);
    const int count = tf_factors_of(f, n, TF_ROUNDED, &list);
    int divisors = 0;
    for (int32_t k = 1; k <= n; k++)
      divisors += n % k == 0;
    bool ok = up >= n && up < n + 16 && (up == n) == (n <= 16 || divisors > 8 || n % 16 == 0);
    ok = ok && count > 0 && list[0] == 1 && list[count - 1] == n;
    for (int i = 0; ok && i + 1 < count; i++)
      ok = list[i] < list[i + 1] && up % list[i] == 0;
    if (!CHECK(ok)) printf("%d, rounded up %d: %d counts\n", n, up, count);
  }
  tf_arena_free(arena);
}

/* ---- moves ----------------------------------------------------------------------------------- */
/* The last quarter of the evaluations goes to moves from the best: the result is that of a search
 * with the others, and of moves from what it found. */
static void test_moves(void) {
  static const char *const works[] = {"workloads/gemm-chain/g2.yaml", "workloads/attention/g1.yaml",
                                      "workloads/conv-chain/c3.yaml"};
  enum { EVALS = 4000, OF_TASKS = 3000 };
  int better = 0;
  for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
    problem p = from_files("arch-specs/edge.yaml", works[w]);
    tf_search_opts o = {.objective = (tf_objective)w,
                        .budget = {.seed = 2, .threads = 1, .max_evals = EVALS}};
    tf_search_result *all = tf_search_drive(p.s->arch, p.s->workload, NULL, &o, true, p.d);
    o.budget.max_evals = OF_TASKS;
    tf_search_result *tasks = tf_search_drive(p.s->arch, p.s->workload, NULL, &o, false, p.d);
    if (CHECK(all && all->n_best && tasks && tasks->n_best && all->evals <= EVALS)) {
      const tf_local_search_opts how = {.evals = EVALS - tasks->evals, .seed = o.budget.seed};
      tf_evaluator q = {.objective = o.objective};
      tf_found f;
      better += tf_tree_local_search(tasks->best[0].tree, tasks->best[0].value, &how, NULL, &q, &f);
      CHECK(all->best[0].value <= f.value &&
            all->best[0].value > f.value * 0.99); /* steps beyond a range are left out */
      tf_tree_free(f.tree);
    }
    tf_search_free(all);
    tf_search_free(tasks);
    drop(&p);
  }
  CHECK(better > 0);
}

/* ---- effort ---------------------------------------------------------------------------------- */
/* What evaluations take ends the search, not their number: few where a border inside a chain makes
 * each dear, many where they are quick; the same with any number of threads. */
static void test_effort(void) {
  static const char *const file[] = {"workloads/conv-chain/c6.yaml",
                                     "workloads/conv-chain/c1.yaml"};
  enum { EFFORT = 10000 };
  for (int i = 0; i < 2; i++) {
    problem p = from_files("arch-specs/host-template.yaml", file[i]);
    p.given = p.s ? tf_search_template(p.s->arch, p.s->workload, TF_TEMPLATE_WHOLE) : NULL;
    tf_search_opts o = {.budget.seed = 3,
                        .budget.threads = 1,
                        .budget.max_evals = 12000,
                        .budget.max_effort = EFFORT};
    tf_search_result *one = run(&p, &o);
    o.budget.threads = 3;
    tf_search_result *three = run(&p, &o);
    check_same(one, three);
    CHECK_I64(one ? one->stopped_by : TF_STOP_TIME, TF_STOP_BUDGET);
    CHECK(one && one->n_best > 0);
    CHECK(one && (i ? one->evals > EFFORT / 2 : one->evals < EFFORT / 5));
    tf_search_free(one);
    tf_search_free(three);
    drop(&p);
  }
}

/* ---- a goal --------------------------------------------------------------------------------- */
/* A search that knows that nothing is better than what it has ends, and not before its ties are
 * looked at; one whose goal is out of reach is the same as one without. */
static void test_goal(void) {
  problem p = from_files("arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml");
  tf_bounds b;
  CHECK(tf_bounds_of(p.s->arch, p.s->workload, &b));
  const double least = tf_bounds_value(TF_LATENCY, &b, p.s->arch);
  tf_search_opts o = {.budget.seed = 3, .budget.threads = 2, .budget.max_evals = 5000};
  tf_search_result *without = run(&p, &o);
  o.goal = least / 2;
  tf_search_result *beyond = run(&p, &o);
  check_same(without, beyond);
/* With asserts and sanitizers the evaluations that ties have would take a minute. */
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  o.goal = without ? without->best[0].value : 0;
  o.budget.max_evals = 200000;
  tf_search_result *met = run(&p, &o);
  CHECK(met && met->stopped_by == TF_STOP_PROVED && met->evals < o.budget.max_evals);
  CHECK(met && met->evals > 32768 && met->best[0].value <= o.goal * (1 + 1e-12));
  CHECK(met && without && met->best[0].figures.energy_pj <= without->best[0].figures.energy_pj);
  tf_search_free(met);
#endif
  tf_search_free(without);
  tf_search_free(beyond);
  drop(&p);
}

int main(void) {
  test_goal();
  test_retain_one();
  test_retained();
  test_moves();
  test_rounded();
  test_odd();
  test_effort();
  test_left_over();
  test_template();
  test_stream_template();
  test_stream_blocks();
  test_far_template();
  test_ties();
  test_variants();
  test_threads();
  test_resume();
  test_kinds();
  test_optimum();
  test_breeding();
  return check_report();
}
