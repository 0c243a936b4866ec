/* Parts of memories (docs/SEMANTICS.md section 4): what each holds and what passes it, what is too
 * large for one part alone, and that searches and the solver keep to them.  Counts in general are
 * the oracle's (oracle_test --parts). */
#include "tests/unit/case.h"
#include "tests/unit/differ.h"
#include "tileflow/best.h"
#include "tileflow/search.h"
#include "tileflow/solve.h"

enum { INNER = 1 };

#define MACHINE(parts)                                                                             \
  "architecture:\n  memories:\n  - {name: DRAM, bandwidth: 2}\n  - {name: L0, bandwidth: 16" parts \
  "}\n  compute: [{name: u, ops: [mac, max], mesh: [4, 1]}]\n"
#define APART(a, b, c)                                                                             \
  ", parts: [{name: A0, holds: [left], capacity: " #a                                              \
  "}, {name: B0, holds: [right], capacity: " #b "}, {name: C0, holds: [result], capacity: " #c     \
  "}]"
#define PRODUCT "workload:\n  dims: {m: 8, n: 8, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
#define TILES "mapping: |\n  DRAM for m=2\n    L0 for m=4 n=8 k=4\n      op C\n"

static test_case case_text_of(const char *text) {
  test_case e = {0};
  case_read(&e, text);
  if (!e.model || !case_evaluate(&e)) {
    case_complain(e.d);
    exit(2);
  }
  return e;
}

/* A 4 x 4, B 4 x 8 and C 4 x 8 words at a time. */
static void check_held(void) {
  test_case e = case_text_of(MACHINE(APART(16, 32, 32)) PRODUCT TILES);
  const tf_part_result *p = e.r.levels[INNER].parts;
  CHECK(e.r.feasible);
  CHECK_I64(e.spec->arch->memories[INNER].capacity_words, 80);
  CHECK_I64(p[0].peak, 16);
  CHECK_I64(p[1].peak, 32);
  CHECK_I64(p[2].peak, 32);
  CHECK_I64(p[0].fill, 32);
  CHECK_I64(p[1].fill, 32);
  CHECK_I64(p[2].fill, 0);
  CHECK_I64(p[2].drain, 64);
  CHECK_I64(p[0].read + p[0].update, 8 * 8 * 4);
  int64_t read = 0, update = 0;
  for (int z = 0; z < 3; z++) {
    read += e.r.counts[INNER * 3 + z].read;
    update += e.r.counts[INNER * 3 + z].update;
  }
  CHECK_I64(p[0].read + p[1].read + p[2].read, read);
  CHECK_I64(p[0].update + p[1].update + p[2].update, update);
  case_drop(&e);
}

/* All of it would have room: one part has not. */
static void check_too_small(const char *text, int part, int64_t need, int64_t have) {
  test_case e = case_text_of(text);
  CHECK(!e.r.feasible);
  if (CHECK_I64(e.r.n_violations, 1)) {
    CHECK(e.r.violations[0].code == TF_E_CAPACITY && e.r.violations[0].level == INNER);
    CHECK(e.r.violations[0].part == &e.spec->arch->memories[INNER].parts.list[part]);
    CHECK_I64(e.r.violations[0].need, need);
    CHECK_I64(e.r.violations[0].have, have);
  }
  case_drop(&e);
}

/* A tensor that one op makes and the next reads is a result in the Tile of the one, a left operand
 * in that of the other; in a scope that keeps it there it is a result. */
static void check_roles(void) {
  static const char chain[] =
      "workload:\n  dims: {m: 4, n: 4, k: 2, l: 3}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
      "  - E[m,l] += C[m,n] * D[n,l]\n";
  char text[2000];
  snprintf(text, sizeof text,
           "%s%smapping: |\n  DRAM\n    Seq\n      L0 for m=4 n=4 k=2\n        op C\n"
           "      L0 for m=4 l=3 n=4\n        op E\n",
           MACHINE(APART(16, 12, 16)), chain);
  test_case e = case_text_of(text);
  CHECK(e.r.feasible);
  CHECK_I64(e.r.levels[INNER].parts[0].peak, 16); /* C, beside 8 words of A */
  CHECK_I64(e.r.levels[INNER].parts[2].peak, 16); /* C, beside 12 words of E */
  case_drop(&e);
  snprintf(text, sizeof text,
           "%s%smapping: |\n  DRAM\n    Seq keep C@L0\n      L0 for m=4 n=4 k=2\n"
           "        op C\n      L0 for m=4 l=3 n=4\n        op E\n",
           MACHINE(APART(16, 12, 28)), chain);
  e = case_text_of(text);
  CHECK_I64(e.r.levels[INNER].parts[0].peak, 8);
  CHECK_I64(e.r.levels[INNER].parts[2].peak, 16 + 12);
  CHECK(e.r.feasible);
  case_drop(&e);
}

/* What search and solver find fits every part, and needs more cycles than without them here; they
 * agree. */
static void check_found(void) {
  test_case e = {0}, one = {0};
  case_read(
      &e,
      MACHINE(APART(
          4, 4,
          2)) "workload:\n  dims: {m: 12, n: 12, k: 6}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n");
  case_read(&one, MACHINE(", capacity: 10") "workload:\n  dims: {m: 12, n: 12, k: 6}\n  ops:\n"
                                            "  - C[m,n] += A[m,k] * B[k,n]\n");
  const tf_solve_opts o = {.objective = TF_TRAFFIC, .budget = {.threads = 1}};
  tf_solve_result *with = tf_solve_exact(e.spec->arch, e.spec->workload, &o, e.d),
                  *without = tf_solve_exact(one.spec->arch, one.spec->workload, &o, one.d);
  const tf_best_opts b = {.objective = TF_TRAFFIC,
                          .budget = {.max_evals = 20000, .threads = 1, .seed = 1}};
  tf_best_result *best = tf_best_find(e.spec->arch, e.spec->workload, &b, e.d);
  if (CHECK(with && with->tree && without && without->tree && best && best->tree)) {
    CHECK(with->value > without->value);
    CHECK_NEAR(best->value, with->value, 1e-12);
    tf_model *m = tf_model_new(with->tree, e.d);
    tf_result r;
    CHECK(m && tf_model_eval(m, NULL, &r) && r.feasible);
    for (int i = 0; i < 3; i++)
      CHECK(r.levels[INNER].parts[i].peak <=
            e.spec->arch->memories[INNER].parts.list[i].capacity_words);
    tf_model_free(m);
  } else {
    case_complain(e.d);
  }
  const tf_certificate_opts proof = {.objective = TF_TRAFFIC, .budget = {.threads = 1}};
  tf_certificate c = {0};
  if (CHECK(with && with->tree && tf_certify(with->tree, &proof, &c, e.d))) {
    CHECK_NEAR(c.value, with->value, 1e-9);
    CHECK(c.bound <= c.value * (1 + 1e-9) && without && c.bound > without->value);
  }
  tf_certificate_free(&c);
  tf_best_free(best);
  tf_solve_free(with);
  tf_solve_free(without);
  case_drop(&e);
  case_drop(&one);
}

/* Other parts are another machine, to those who compare and to those who write down. */
static void check_identity(void) {
  static const char *const texts[] = {
      MACHINE(", capacity: 80") PRODUCT, MACHINE(APART(16, 32, 32)) PRODUCT,
      MACHINE(APART(32, 16, 32)) PRODUCT,
      MACHINE(", parts: [{name: A0, holds: [left, right], capacity: 48}, {name: C0, holds: "
              "[result], capacity: 32}]") PRODUCT};
  enum { N = sizeof texts / sizeof *texts };
  test_case e[N] = {0};
  for (int i = 0; i < N; i++)
    case_read(&e[i], texts[i]);
  check_differ(N, e);
}

int main(void) {
  check_held();
  check_too_small(MACHINE(APART(16, 16, 48)) PRODUCT TILES, 1, 32, 16);
  check_too_small(MACHINE(", capacity: 200, parts: [{name: A0, holds: [left], capacity: 31, "
                          "double-buffered: true}]") PRODUCT TILES,
                  0, 32, 31);
  check_too_small(
      MACHINE(", capacity: 200, parts: [{name: C0, holds: [result], capacity: 63, word-bits: 32}]")
          PRODUCT TILES,
      0, 64, 63);
  check_roles();
  check_found();
  check_identity();
  return check_report();
}
