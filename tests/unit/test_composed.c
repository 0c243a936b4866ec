/* Mappings of long graphs composed of mappings of their ops (search/run/composed.h): of graphs
 * drawn at random, each obeys the rules, fits, has the figures that the model counts and is no
 * better than the bound; a search finds by them what it does not find without. */
#include "search/run/composed.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "search/common/canon.h"
#include "search/run/driver.h"
#include "tests/unit/case.h"
#include "tileflow/tileflow.h"

static const char machine[] = "architecture:\n"
                              "  name: two-levels\n"
                              "  word-bits: 16\n"
                              "  memories:\n"
                              "  - {name: DRAM, bandwidth: 32}\n"
                              "  - {name: L1, capacity: 256 KiB, mesh: [2, 2], bandwidth: 512,\n"
                              "     network: {multicast: true, reduce: true}}\n"
                              "  - {name: L0, capacity: 8, mesh: [8, 8], bandwidth: 3}\n"
                              "  compute:\n"
                              "  - {name: mac, ops: [mac, add, exp], below: L0}\n";

/* A graph of products, sums and functions, each of one of the last results, some of two. */
static char *draw(int n, uint64_t seed) {
  static const char *const extents[] = {"1", "7", "16", "31", "64", "96", "100", "128"};
  tf_rng rng = tf_rng_new(seed, 0);
  char *text;
  FILE *f = case_text(&text);
  int width[64] = {0}; /* the dim of each result beside m */
  const char *const m = extents[2 + tf_rng_below(&rng, 6)];
  bool used[5] = {false};
  fprintf(f, "workload:\n  ops:\n");
  for (int i = 1; i <= n; i++) {
    const int back = (int)tf_rng_below(&rng, 3), of = back < i ? i - 1 - back : i - 1;
    const int from = width[of], to = (from + 1 + (int)tf_rng_below(&rng, 4)) % 5;
    width[i] = from;
    used[from] = true;
    if (of < i - 1 && width[i - 1] == from && tf_rng_below(&rng, 2)) {
      fprintf(f, "  - T%d[m,d%d] = T%d[m,d%d] + T%d[m,d%d]\n", i, from, of, from, i - 1, from);
    } else if (tf_rng_below(&rng, 4) == 0) {
      fprintf(f, "  - T%d[m,d%d] = exp(T%d[m,d%d])\n", i, from, of, from);
    } else {
      fprintf(f, "  - T%d[m,d%d] += T%d[m,d%d] * W%d[d%d,d%d]\n", i, to, of, from, i, from, to);
      used[width[i] = to] = true;
    }
  }
  fprintf(f, "  dims: {m: %s", m);
  for (int d = 0; d < 5; d++)
    if (used[d]) fprintf(f, ", d%d: %s", d, extents[tf_rng_below(&rng, 8)]);
  fprintf(f, "}\n");
  fclose(f);
  return text;
}

static tf_search_result *search_op(const tf_arch *arch, const tf_workload *wl,
                                   const tf_search_opts *o, tf_diags *d) {
  return tf_search_run(arch, wl, NULL, o, d);
}

static bool composed(const tf_spec *s, int64_t evals, tf_evaluator *q, tf_found *f) {
  const tf_search_opts o = {.budget.max_evals = evals, .budget.threads = 1, .budget.seed = 1};
  tf_budget_clock clock;
  tf_clock_begin(&clock, &o.budget);
  return tf_composed(s->arch, s->workload, &o, search_op, &clock, q, f);
}

static void check_figures(const tf_spec *s, const tf_found *f) {
  tf_bounds b;
  tf_result now;
  tf_diags *d = tf_diags_new();
  tf_model *m = tf_model_new(f->tree, d);
  if (CHECK(m && tf_model_eval(m, NULL, &now) && tf_bounds_of(s->arch, s->workload, &b))) {
    CHECK(now.feasible);
    CHECK(now.cycles == f->value);
    CHECK(f->value >= b.cycles * (1 - 1e-12));
  }
  tf_model_free(m);
  tf_diags_free(d);
}

static int scopes_that_keep(const tf_tree *t) {
  int n = 0;
  for (int i = 0; i < t->n_nodes; i++)
    n += t->nodes[i].kind == TF_SCOPE && t->nodes[i].n_keep > 0;
  return n;
}

static void test_drawn(void) {
  int found = 0, kept = 0;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    char *text = draw(8 + (int)(seed % 9), seed);
    test_case c = case_of(machine, text);
    tf_evaluator q = {.objective = TF_LATENCY};
    tf_found f;
    if (composed(c.spec, 3000, &q, &f)) {
      found++;
      kept += scopes_that_keep(f.tree) > 0;
      check_figures(c.spec, &f);
      CHECK(q.evals > 0 && q.evals < 2 * 3000);
    }
    CHECK(!q.failed);
    tf_tree_free(f.tree);
    case_drop(&c);
    free(text);
  }
  CHECK_I64(found, 24);
  CHECK(kept > 12);
}

/* A chain of products, whose widths are dims of their own or names that come back. */
static char *chain(int n, bool own) {
  static const int extents[] = {16, 32, 64, 32};
  char *text;
  FILE *f = case_text(&text);
  fprintf(f, "workload:\n  dims: {m: 512");
  for (int d = 0; d <= (own ? n : 3); d++)
    fprintf(f, ", d%d: %d", d, extents[d % 4]);
  fprintf(f, "}\n  ops:\n");
  for (int i = 0; i < n; i++) {
    const int from = own ? i : i % 4, to = own ? i + 1 : (i + 1) % 4;
    fprintf(f, "  - T%d[m,d%d] += T%d[m,d%d] * W%d[d%d,d%d]\n", i + 1, to, i, from, i, from, to);
  }
  fclose(f);
  return text;
}

/* How many dims there are, and which numbers they have, changes nothing where the extents are the
 * same: a graph of more dims than a word has bits has the figures of the one of five. */
static void test_many_dims(void) {
  enum { OPS = 70 };
  static const char slow[] = "architecture:\n" /* so that what stays on chip counts */
                             "  memories:\n"
                             "  - {name: DRAM, bandwidth: 1}\n"
                             "  - {name: L1, capacity: 256 KiB, mesh: [2, 2], bandwidth: 512,\n"
                             "     network: {multicast: true, reduce: true}}\n"
                             "  - {name: L0, capacity: 64, mesh: [8, 8], bandwidth: 3}\n"
                             "  compute:\n"
                             "  - {name: mac, ops: [mac], below: L0}\n";
  double value[2] = {0};
  int kept[2] = {0};
  for (int own = 0; own < 2; own++) {
    char *text = chain(OPS, own);
    test_case c = case_of(slow, text);
    tf_evaluator q = {.objective = TF_LATENCY};
    tf_found f;
    CHECK_I64(c.spec->workload->n_dims, own ? OPS + 2 : 5);
    if (CHECK(composed(c.spec, 3000, &q, &f))) {
      value[own] = f.value;
      kept[own] = scopes_that_keep(f.tree);
      check_figures(c.spec, &f);
    }
    tf_tree_free(f.tree);
    case_drop(&c);
    free(text);
  }
  CHECK(value[0] == value[1]);
  CHECK(kept[0] > 0 && kept[0] == kept[1]);
}

/* Heads of attention on chips: the last product sums over them, and no other dim of all ops has a
 * step for each chip. */
static void test_linked(void) {
  static const char chips[] = "architecture:\n"
                              "  memories:\n"
                              "  - {name: All, bandwidth: 32}\n"
                              "  - {name: Chip, capacity: 64 KiB, mesh: [4, 4], bandwidth: 32,\n"
                              "     network: {topology: mesh, width: 1}}\n"
                              "  - {name: L0, capacity: 64, mesh: [4, 4], bandwidth: 3}\n"
                              "  compute:\n"
                              "  - {name: mac, ops: [mac], below: L0}\n";
  static const char heads[] = "workload:\n"
                              "  dims: {m: 4, l: 128, h: 8, d: 16, e: 16, n: 16}\n"
                              "  ops:\n"
                              "  - S[h,m,l] += Q[h,m,d] * K[h,l,d]\n"
                              "  - O[h,m,e] += S[h,m,l] * V[h,l,e]\n"
                              "  - Y[m,n] += O[h,m,e] * W[h,e,n]\n"
                              "home: {K: Chip, V: Chip, W: Chip}\n";
  test_case c = case_of(chips, heads);
  tf_evaluator q = {.objective = TF_LATENCY};
  tf_found f;
  int64_t over = 1;
  if (CHECK(composed(c.spec, 3000, &q, &f))) {
    const tf_node *root = &f.tree->nodes[0];
    for (int k = 0; k < root->n_loops; k++)
      if (root->loops[k].axis != TF_TEMPORAL &&
          !strcmp(c.spec->workload->dims[root->loops[k].dim].name, "h"))
        over *= root->loops[k].trip;
    CHECK_I64(over, 8);
    CHECK_I64(scopes_that_keep(f.tree), 1);
    check_figures(c.spec, &f);
  }
  tf_tree_free(f.tree);
  case_drop(&c);
}

/* What is too short of evaluations for one of each op, or has zeros, is left to others. */
static void test_refused(void) {
  char *text = draw(9, 3);
  test_case c = case_of(machine, text);
  tf_evaluator q = {.objective = TF_LATENCY};
  tf_found f;
  CHECK(!composed(c.spec, 12, &q, &f));
  CHECK_I64(q.evals, 0);
  c.spec->workload->tensors[0].density.fall = TF_FALL_UNIFORM;
  CHECK(!composed(c.spec, 3000, &q, &f));
  case_drop(&c);
  free(text);
}

/* One op of a graph by itself: what it reads and makes, in its own numbers. */
static void test_part(void) {
  char *text = draw(9, 5);
  test_case c = case_of(machine, text);
  const tf_workload *wl = c.spec->workload;
  for (int o = 0; o < wl->n_ops; o++) {
    tf_canon *part = tf_canon_of_op(c.spec->arch, wl, o);
    if (!CHECK(part != NULL)) break;
    const tf_workload *own = tf_canon_workload(part);
    const tf_op *op = &own->ops[0];
    CHECK_I64(own->n_ops, 1);
    CHECK_I64(own->n_dims, wl->ops[o].n_dims);
    CHECK_I64(own->tensors[op->out].n_consumers, 0);
    CHECK_I64(own->tensors[op->out].producer, 0);
    for (int d = 0; d < own->n_dims; d++)
      CHECK_I64(own->dims[d].extent, wl->dims[tf_canon_dim(part, d)].extent);
    for (int r = 0; r < op->n_reads; r++)
      CHECK_I64(own->tensors[op->reads[r].tensor].producer, -1);
    tf_canon_free(part);
  }
  case_drop(&c);
  free(text);
}

/* A chain of 24 products, each of other extents, on the edge machine. */
static test_case chain_on_edge(void) {
  static const int extents[] = {64, 96, 128, 192, 256, 320, 512, 768};
  tf_rng rng = tf_rng_new(8, 0);
  size_t len;
  char *text, *edge = case_file("arch-specs/edge.yaml", &len);
  FILE *f = case_text(&text);
  fprintf(f, "workload:\n  dims: {m: 512");
  for (int d = 0; d <= 24; d++)
    fprintf(f, ", d%d: %d", d, extents[tf_rng_below(&rng, 8)]);
  fprintf(f, "}\n  ops:\n");
  for (int i = 0; i < 24; i++)
    fprintf(f, "  - T%d[m,d%d] += T%d[m,d%d] * W%d[d%d,d%d]\n", i + 1, i + 1, i, i, i, i, i + 1);
  fclose(f);
  test_case c = case_of(edge, text);
  free(text);
  free(edge);
  return c;
}

/* Few evaluations find more than tasks alone, and the same with two threads. */
static void test_found(void) {
  test_case c = chain_on_edge();
  tf_search_result *r[3];
  for (int k = 0; k < 3; k++) {
    const tf_search_opts o = {
        .budget.max_evals = 2000, .budget.seed = 1, .budget.threads = 1 + k % 2, .keep = 1};
    r[k] = (k < 2 ? tf_search_run : tf_search_without_moves)(c.spec->arch, c.spec->workload, NULL,
                                                             &o, c.d);
  }
  if (CHECK(r[0] && r[1] && r[2] && r[0]->n_best && r[1]->n_best && r[2]->n_best)) {
    CHECK(r[0]->best[0].value == r[1]->best[0].value);
    CHECK(r[0]->best[0].value < 0.9 * r[2]->best[0].value);
    CHECK(r[0]->evals <= 2000);
  }
  for (int k = 0; k < 3; k++)
    tf_search_free(r[k]);
  case_drop(&c);
}

/* `solve` of more ops than its branch and bound takes is that search, where one may follow it. */
static void test_solved(void) {
  test_case c = chain_on_edge();
  tf_solve_opts o = {.budget.max_evals = 400, .budget.threads = 1};
  CHECK(!tf_solve_exact(c.spec->arch, c.spec->workload, &o, c.d));
  CHECK(tf_diags_errors(c.d) == 1);
  o.after = 400;
  tf_solve_result *r = tf_solve_exact(c.spec->arch, c.spec->workload, &o, c.d);
  if (CHECK(r && r->tree)) {
    CHECK_I64(r->templates, 0);
    CHECK(r->evals <= 400 && r->bound > 0 && r->bound <= r->value && !r->space_proved);
  }
  tf_solve_free(r);
  case_drop(&c);
}

/* `best` searches chips with its own part of the evaluations, whatever the solver took: it ends
 * near what the search finds alone with so many. */
static void test_best_of_chips(void) {
  size_t len;
  char *chips = case_file("arch-specs/tpu-v5e-8.yaml", &len),
       *attention = case_file("workloads/chips/attention.yaml", &len);
  test_case c = case_of(chips, attention);
  const tf_search_opts alone = {.budget = {.max_evals = 300, .seed = 1, .threads = 1}, .keep = 1};
  const tf_best_opts o = {.budget = {.max_evals = 600, .seed = 1, .threads = 1}};
  tf_search_result *s = tf_search_run(c.spec->arch, c.spec->workload, NULL, &alone, c.d);
  tf_best_result *b = tf_best_find(c.spec->arch, c.spec->workload, &o, c.d);
  if (CHECK(s && s->n_best && b && b->tree)) CHECK(b->value < 1.5 * s->best[0].value);
  tf_search_free(s);
  tf_best_free(b);
  case_drop(&c);
  free(attention);
  free(chips);
}

int main(void) {
  test_drawn();
  test_many_dims();
  test_linked();
  test_refused();
  test_part();
  test_found();
  test_solved();
  test_best_of_chips();
  return check_report();
}
