/* Inputs and outputs that live in an inner memory (docs/SEMANTICS.md section 2): the examples of
 * chips against the figures that Megatron-LM's paper gives, rows of trip counts in one go, bounds,
 * searches, and that another home is another machine.  Counts in general are the oracle's
 * (oracle_test --homes). */
#include <math.h>

#include "tests/unit/case.h"
#include "tests/unit/differ.h"
#include "tileflow/best.h"
#include "tileflow/search.h"

static const char CHIPS[] = "arch-specs/tpu-v5e-8.yaml";
enum { N_CHIPS = 8, HBM = 1 };

/* The figures of a workload with its mapping on the chips; ends the program where there are none.
 */
static test_case on_chips(const char *name, const char *workload) {
  test_case e = {.d = tf_diags_new()};
  size_t n;
  char *arch = case_file(CHIPS, &n);
  const tf_text texts[2] = {{CHIPS, arch, n}, {name, workload, strlen(workload)}};
  e.spec = tf_spec_read_texts(texts, 2, NULL, 0, e.d);
  case_prepare(&e);
  free(arch);
  if (e.spec && case_evaluate(&e)) return e;
  case_complain(e.d);
  exit(2);
}

static test_case read_file(const char *path) {
  size_t n;
  char *text = case_file(path, &n);
  test_case e = on_chips(path, text);
  free(text);
  return e;
}

static const tf_counts *counts_of(const test_case *e, int level, const char *tensor) {
  for (int z = 0; z < e->spec->workload->n_tensors; z++)
    if (!strcmp(e->spec->workload->tensors[z].name, tensor))
      return &e->r.counts[level * e->spec->workload->n_tensors + z];
  exit(2);
}

/* A weight is there, an eighth of it in each chip, and crosses no link. */
static void is_there(const test_case *e, const char *weight, int64_t words) {
  const tf_counts *outside = counts_of(e, 0, weight), *chip = counts_of(e, HBM, weight);
  CHECK_I64(outside->read, 0);
  CHECK_I64(outside->peak, 0);
  CHECK_I64(chip->fill, 0);
  CHECK_I64(chip->peak, words / N_CHIPS);
  CHECK(chip->read >= words);
}

/* Megatron-LM: in the forward pass one all-reduce of the activations, of tokens x width words.  A
 * ring of n chips sends 2 (n - 1) / n words a word from each of its n chips: so do the links of a
 * tree, n - 1 each way. */
static void one_all_reduce(const test_case *e, int64_t words) {
  CHECK_I64(counts_of(e, 0, "X")->read, words);
  CHECK_I64(counts_of(e, 0, "Y")->update, words);
  CHECK_I64(counts_of(e, HBM, "X")->fill, N_CHIPS * words);
  CHECK_I64(counts_of(e, HBM, "Y")->drain, N_CHIPS * words);
  CHECK_NEAR(e->r.levels[HBM].hops, 2.0 * (N_CHIPS - 1) * (double)words, 1e-12);
  CHECK_NEAR(e->r.levels[HBM].link_cycles, (double)words / e->spec->arch->memories[HBM].link_bw,
             1e-12);
}

static void check_examples(void) {
  enum { TOKENS = 2048, WIDTH = 4096, INNER = 16384 };
  test_case mlp = read_file("workloads/chips/mlp.yaml");
  is_there(&mlp, "W1", (int64_t)WIDTH * INNER);
  is_there(&mlp, "W2", (int64_t)WIDTH * INNER);
  one_all_reduce(&mlp, (int64_t)TOKENS * WIDTH);
  case_drop(&mlp);
  test_case attention = read_file("workloads/chips/attention.yaml");
  is_there(&attention, "WQ", (int64_t)WIDTH * WIDTH);
  is_there(&attention, "WO", (int64_t)WIDTH * WIDTH);
  one_all_reduce(&attention, (int64_t)TOKENS * WIDTH);
  case_drop(&attention);
  test_case pipe =
      read_file("workloads/chips/pipeline.yaml"); /* four chips have the one, four the other */
  const int64_t quarter = (int64_t)WIDTH * INNER / 4;
  CHECK_I64(counts_of(&pipe, HBM, "W1")->peak, quarter);
  CHECK_I64(counts_of(&pipe, HBM, "W2")->peak, quarter);
  CHECK(pipe.r.levels[HBM].peak < 2 * quarter);
  CHECK_I64(counts_of(&pipe, 0, "W1")->read + counts_of(&pipe, 0, "W2")->read, 0);
  case_drop(&pipe);
}

/* Collectives whose tensor alone has no home: 8 words on 8 chips, of which each is 2 hops away on
 * average. */
static void check_collective(const char *workload) {
  enum { WORDS = 8, MEAN_HOPS = 2 };
  test_case e = on_chips("workload", workload);
  CHECK_NEAR(e.r.levels[HBM].hops, WORDS * (N_CHIPS - 1) + WORDS * MEAN_HOPS, 1e-12);
  CHECK_I64(counts_of(&e, 0, "P")->update, WORDS);
  case_drop(&e);
}

static void check_collectives(void) {
  check_collective(
      "workload:\n  name: reduce-scatter\n  dims: {m: 8, k: 8}\n  ops:\n  - P[m] += A[m,k] * B[k]\n"
      "  - Q[m] = P[m] * 2\nhome: {A: HBM, B: HBM, Q: HBM}\nmapping: |\n  Slice\n    Seq\n"
      "      Slice spatial k=4@x k=2@y\n        HBM\n          VMEM for m=8\n            op P\n"
      "      Slice spatial m=4@x m=2@y\n        HBM\n          VMEM\n            op Q\n");
  check_collective(
      "workload:\n  name: all-gather\n  dims: {m: 8, n: 8}\n  ops:\n  - P[m] = A[m] * 2\n"
      "  - Q[n] += P[m] * B[m,n]\nhome: {A: HBM, B: HBM, Q: HBM}\nmapping: |\n  Slice\n    Seq\n"
      "      Slice spatial m=4@x m=2@y\n        HBM\n          VMEM\n            op P\n"
      "      Slice spatial n=4@x n=2@y\n        HBM\n          VMEM for m=8\n            op Q\n");
}

/* ---- small machines ------------------------------------------------------------------------- */

#define SMALL                                                                                      \
  "architecture:\n  memories:\n  - {name: Out, bandwidth: 4}\n  - {name: Chip, mesh: [4, 1], "     \
  "capacity: %d, "                                                                                 \
  "bandwidth: 2}\n"                                                                                \
  "  - {name: Core, capacity: 40, bandwidth: 8}\n  compute: [{name: u, ops: [mac], mesh: [2, "     \
  "1]}]\n"                                                                                         \
  "workload:\n  dims: {m: 8, n: 8, k: 6, l: 4}\n  ops:\n  - H[m,n] += A[m,k] * U[k,n]\n  - "       \
  "O[m,l] += H[m,n] * "                                                                            \
  "V[n,l]\n"
#define MAPPING                                                                                    \
  "mapping: |\n  Out for m=? spatial n=?@x\n    Seq keep H@Chip\n      Chip for m=?\n        "     \
  "Core for m=? n=? k=?\n"                                                                         \
  "          op H\n      Chip for m=?\n        Core for m=? n=? l=?\n          op O\n"

static test_case small(int capacity, const char *rest) {
  char text[2000];
  snprintf(text, sizeof text, SMALL "%s", capacity, rest);
  test_case e = {0};
  case_read(&e, text);
  if (!CHECK(e.spec != NULL)) case_complain(e.d);
  return e;
}

/* Rows in one go are rows one by one. */
static void check_batch(void) {
  enum { ROWS = 4, LOOPS = 10 };
  static const int64_t rows[ROWS][LOOPS] = {{1, 4, 1, 8, 2, 6, 1, 8, 2, 4},
                                            {2, 2, 2, 2, 4, 6, 4, 1, 4, 4},
                                            {8, 1, 1, 1, 8, 6, 1, 1, 8, 4},
                                            {4, 4, 2, 1, 2, 6, 2, 1, 2, 4}};
  test_case e = small(200, "home: {U: Chip, V: Chip}\n" MAPPING);
  tf_model *m = e.tree ? tf_model_new(e.tree, e.d) : NULL;
  tf_brief all[ROWS];
  tf_result r;
  if (CHECK(m && tf_model_n_loops(m) == LOOPS)) {
    tf_model_eval_batch(m, rows[0], ROWS, all);
    for (int k = 0; k < ROWS; k++) {
      CHECK(tf_model_eval(m, rows[k], &r) && all[k].counted);
      CHECK(all[k].feasible == r.feasible && !(fabs(all[k].cycles - r.cycles) > 0));
      CHECK(!(fabs(all[k].energy_pj - r.energy_pj) > 0));
      for (int z = 0; z < e.spec->workload->n_tensors; z++) /* A comes, and O goes */
        CHECK((r.counts[z].read + r.counts[z].update > 0) ==
              (strchr("AO", *e.spec->workload->tensors[z].name) != NULL));
    }
  } else {
    case_complain(e.d);
  }
  tf_model_free(m);
  case_drop(&e);
}

/* What is not there must come: the bound is lower by the words of U and V, and searches find
 * mappings above it. */
static void check_bounds(void) {
  test_case with = small(200, "home: {U: Chip, V: Chip}\n"), without = small(200, "");
  tf_bounds b, c;
  CHECK(tf_bounds_of(with.spec->arch, with.spec->workload, &b));
  CHECK(tf_bounds_of(without.spec->arch, without.spec->workload, &c));
  CHECK_I64(c.traffic_words - b.traffic_words, 6 * 8 + 8 * 4);
  for (int o = TF_LATENCY; o <= TF_TRAFFIC; o++) {
    const tf_best_opts opts = {.objective = (tf_objective)o,
                               .budget = {.max_evals = 3000, .threads = 1, .seed = 1}};
    tf_best_result *best = tf_best_find(with.spec->arch, with.spec->workload, &opts, with.d);
    if (!CHECK(best && best->tree)) case_complain(with.d);
    if (best) CHECK(best->value >= best->bound * (1 - 1e-12));
    tf_best_free(best);
  }
  case_drop(&with);
  case_drop(&without);
}

/* Another home is another machine, to those who compare and to those who write down. */
static void check_identity(void) {
  static const char *const homes[] = {"", "home: {U: Out}\n", "home: {U: Chip}\n",
                                      "home: {V: Chip}\n", "home: {U: Core}\n"};
  enum { N = sizeof homes / sizeof *homes };
  test_case e[N];
  for (int i = 0; i < N; i++)
    e[i] = small(200, homes[i]);
  check_differ(N, e);
}

int main(void) {
  check_examples();
  check_collectives();
  check_batch();
  check_bounds();
  check_identity();
  return check_report();
}
