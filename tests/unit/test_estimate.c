/* What is estimated where nothing may be walked, against the walk: what fits by whole tiles fits, and what does not
 * fit by them and does, holds parts of tiles alone; figures are near those of the walk.  And a plan walks a bounded
 * number of steps, whatever the lengths are: primes, and dims of two. */
#include "model/eval/hooks.h"
#include "tests/kernels/draw.h"
#include "tests/unit/case.h"
#include "tileflow/planner.h"

enum { CASES = 1000 };

typedef struct {
  long walked, estimated, gave_up, wrong_fit, refused, less, odd;
  double most, least; /* cycles, of the walk's */
} tally;

/* Everything that a memory holds or moves. */
static long less_of(const tf_spec *s, const tf_result *exact, const tf_result *est) {
  long less = 0;
  for (int i = 0; i < s->arch->n_memories * s->workload->n_tensors; i++) {
    const tf_counts *a = &exact->counts[i], *b = &est->counts[i];
    less += b->fill < a->fill || b->read < a->read || b->update < a->update || b->drain < a->drain || b->peak < a->peak;
  }
  return less;
}

static void compare(tally *t, const test_case *e, tf_model *other) {
  tf_result est;
  if (!tf_model_walked(e->model) || e->r.overflow) return;
  t->walked++;
  const bool ok = tf_model_eval(other, NULL, &est);
  t->gave_up += !ok;
  if (!ok) return;
  if (!est.estimated) {
    t->odd++;
    return;
  }
  t->estimated++;
  t->wrong_fit += est.feasible && !e->r.feasible;
  t->refused += !est.feasible && e->r.feasible;
  t->less += less_of(e->spec, &e->r, &est);
  const double ratio = est.cycles / e->r.cycles;
  t->most = ratio > t->most ? ratio : t->most;
  t->least = ratio < t->least ? ratio : t->least;
}

static void one(tally *t, uint64_t seed) {
  static page p;
  static const unsigned kinds[] = {0, 1U << GEN_PAD, 1U << GEN_MASK, 1U << GEN_FREE};
  unsigned features = kinds[draw_lot(seed, "kind", 4)];
  const char *kind;
  test_case e = {0};
  p.len = 0;
  if (!gen_case(seed, &p, &features, &kind)) return;
  case_read(&e, p.text);
  tf_model *other = e.model ? tf_model_new(e.tree, e.d) : NULL;
  if (other && case_evaluate(&e)) {
    tf_model_walk_limit(other, 0), tf_model_estimate(other);
    const long before = t->wrong_fit + t->odd + t->less;
    compare(t, &e, other);
    if (t->wrong_fit + t->odd + t->less > before && before < 3)
      printf("seed %llu\n%s\n", (unsigned long long)seed, p.text);
  }
  tf_model_free(other);
  case_drop(&e);
}

static void test_counts(void) {
  tally t = {.least = 1e9};
  for (uint64_t seed = 1; seed <= CASES; seed++)
    one(&t, seed);
  printf("%ld walked, %ld estimated, %ld gave up; %ld that do not fit and are said to, %ld that fit and are not; %ld "
         "counters below the walk's; cycles %.3g to %.3g of its\n",
         t.walked, t.estimated, t.gave_up, t.wrong_fit, t.refused, t.less, t.least, t.most);
  CHECK_I64(t.odd, 0);
  CHECK_I64(t.wrong_fit, 0);
  CHECK_I64(t.refused, 0);
  CHECK(t.estimated > 30 && t.less * 20 < t.estimated && t.least > 0.9);
}

/* ---- plans --------------------------------------------------------------------------------------------------- */
static const char cpu[] =
    "architecture:\n  name: cpu\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: L2, capacity: 256 KiB, bandwidth: 16}\n"
    "  - {name: L1, capacity: 8 KiB, bandwidth: 64}\n  - {name: REG, capacity: 256, bandwidth: 64}\n"
    "  compute:\n  - {name: u, ops: [mac, add, sub, mul, exp, silu, select], below: REG, mesh: [8, 1]}\n";
static const char gpu[] = "architecture:\n  name: gpu\n  clock: 1 GHz\n  memories:\n  - {name: HBM, bandwidth: 64}\n"
                          "  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}\n  compute:\n"
                          "  - {name: u, ops: [mac, add, sub, mul, exp, silu, select], below: SMEM, mesh: [16, 16]}\n";

/* Rows of a prime number; dims of two. */
static const char *const odd[] = {
    "workload:\n  name: gated\n  dims: {m: 89, d: 88, f: 56, e: 96}\n  ops:\n  - G[m,f] += X[m,d] * A[d,f]\n"
    "  - U[m,f] += X[m,d] * B[d,f]\n  - H[m,f] = silu(G[m,f]) * U[m,f]\n  - Y[m,e] += H[m,f] * C[f,e]\n",
    "workload:\n  name: heads\n  dims: {h: 2, t: 127, a: 16, d: 40}\n  ops:\n  - Y[t,d] += O[h,t,a] * W[h,a,d]\n"
    "  - Z[t,d] = Y[t,d] + X[t,d]\n",
    "workload:\n  name: tiny\n  dims: {m: 2, l: 2, k: 16, n: 12}\n  ops:\n  - S[m,l] += C[m,k] * B[l,k]\n"
    "  - T[m,l] = S[m,l] * exp(A[m] - A[l])\n  - O[m,n] += T[m,l] * X[l,n]\n",
    "workload:\n  name: scan\n  dims: {h: 2, m: 2, l: 2, k: 16, n: 12}\n  ops:\n  - S[h,m,l] += C[h,m,k] * B[h,l,k]\n"
    "  - T[h,m,l] = select(l <= m, S[h,m,l] * exp(A[h,m] - A[h,l]), 0)\n  - O[h,m,n] += T[h,m,l] * X[h,l,n]\n"};

/* Of each of the forms polished a share of the effort and a walk more than it; then the mapping chosen. */
static void test_plan(const char *arch, const char *target, const char *workload) {
  enum { EVALS = 400, FORMS = 4, POLISHED = 256 * EVALS / 4 + 20000, FINAL = 200000, HALOS = 2 * 20000 };
  const tf_planner_opts o = {.target = target,
                             .kernel = {.isa = strcmp(target, "cpu") ? "sm_80" : "portable"},
                             .budget = {.seed = 1, .threads = 1, .max_evals = EVALS}};
  test_case e = case_of(arch, workload);
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  if (CHECK(p && p->tree && p->result.feasible && !p->result.overflow)) {
    printf("%s: %lld steps walked%s\n", target, (long long)p->walked,
           p->result.estimated ? ", the last estimated" : "");
    CHECK(p->walked <= FORMS * POLISHED + FINAL + HALOS);
  }
  tf_planned_free(p);
  case_drop(&e);
}

int main(void) {
  test_counts();
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    test_plan(cpu, "cpu", odd[i]);
    test_plan(gpu, "cuda", odd[i]);
  }
  return check_report();
}
