/* What is estimated where nothing may be walked, against the walk: what fits by whole tiles fits,
 * and what does not fit by them and does, holds parts of tiles alone; figures are near those of the
 * walk.  What is counted with all tiles whole, against ranges that the last tiles fill.  And a plan
 * walks a bounded number of steps, whatever the lengths are: primes, and dims of two. */
#include <string.h>

#include "base/rng.h"
#include "model/eval/hooks.h"
#include "tests/kernels/draw.h"
#include "tests/unit/case.h"
#include "tileflow/planner.h"

#ifdef NDEBUG
enum { CASES = 18000 };
#else
enum { CASES = 6000 }; /* a debug build takes its time */
#endif

typedef struct {
  long walked, estimated, gave_up, wrong_fit, refused, less, odd;
  double most, least; /* cycles, of the walk's */
} tally;

/* Whether something that a memory holds or moves is less than walked: after a step that a mask
 * leaves out, the next may find less of what was held. */
static bool is_less(const tf_spec *s, const tf_result *exact, const tf_result *est) {
  bool less = false;
  for (int i = 0; i < s->arch->n_memories * s->workload->n_tensors; i++) {
    const tf_counts *a = &exact->counts[i], *b = &est->counts[i];
    less |= b->fill < a->fill || b->read < a->read || b->update < a->update ||
            b->drain < a->drain || b->peak < a->peak;
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
  t->less += is_less(e->spec, &e->r, &est);
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
  printf("%ld walked, %ld estimated, %ld gave up; %ld that do not fit and are said to, %ld that "
         "fit and are not; %ld with counters below the walk's; cycles %.3g to %.3g of its\n",
         t.walked, t.estimated, t.gave_up, t.wrong_fit, t.refused, t.less, t.least, t.most);
  CHECK_I64(t.odd, 0);
  CHECK_I64(t.wrong_fit, 0);
  CHECK_I64(t.refused, 0);
  CHECK(t.estimated > CASES / 2000 && t.less <= 5 &&
        t.least > 0.9); /* less: masked, the same in all draws */
}

/* ---- all tiles whole ------------------------------------------------------------------------ */
/* A chain of two products; its loops, outside and inside, of each dim, are drawn. */
static const char fused[] = "architecture:\n  name: a\n  clock: 1 GHz\n"
                            "  overlap: double-buffer\n  memories:\n"
                            "  - {name: D, bandwidth: 4}\n"
                            "  - {name: B, capacity: 4096, bandwidth: 16, mesh: [4, 1]}\n"
                            "  compute:\n  - {name: u, ops: [mac], below: B, mesh: [8, 8]}\n"
                            "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, n: %d}\n"
                            "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n"
                            "  - E[m,n] += C[m,l] * D[l,n]\n"
                            "mapping: |\n  D for m=%d spatial m=%d@x\n    %s\n"
                            "      B for k=%d l=%d m=%d spatial l=%d@x k=%d@y\n        op C\n"
                            "      B for l=%d n=%d m=%d spatial n=%d@x l=%d@y\n        op E\n";

static test_case fused_case(const char *scope, const int trips[9], const int extent[4]) {
  char text[2048];
  test_case e = {0};
  const int *t = trips;
  snprintf(text, sizeof text, fused, extent[0], extent[1], extent[2], extent[3], t[0], t[1], scope,
           t[3], t[5], t[2], t[6], t[4], t[6], t[7], t[2], t[8], t[5]);
  case_read(&e, text);
  return e;
}

static bool none_above(const test_case *e, const tf_result *a, const tf_result *b) {
  bool ok = a->cycles <= b->cycles && a->energy_pj <= b->energy_pj;
  for (int i = 0; i < e->spec->arch->n_memories * e->spec->workload->n_tensors; i++) {
    const tf_counts *x = &a->counts[i], *y = &b->counts[i];
    ok &=
        x->fill <= y->fill && x->read <= y->read && x->update <= y->update && x->drain <= y->drain;
  }
  return ok;
}

/* With all tiles taken to be whole no figure is below the count's, and none above that of ranges
 * that the last tiles fill. */
static void test_single(void) {
  enum { ROUNDS = 300 };
  tf_rng rng = tf_rng_new(5, 1);
  int partial = 0;
  for (int k = 0; k < ROUNDS; k++) {
    int t[9]; /* m: on D, over instances, on B; k: on B, over units; l: the same; n: the same */
    for (int i = 0; i < 9; i++)
      t[i] = 1 + (int)tf_rng_below(&rng, 4);
    const int full[4] = {t[0] * t[1] * t[2], t[3] * t[4], t[5] * t[6], t[7] * t[8]};
    int less[4];
    for (int i = 0; i < 4; i++)
      less[i] = full[i] - (int)tf_rng_below(&rng, (uint32_t)(full[i] + 3) / 4);
    const char *scope = tf_rng_below(&rng, 2) ? "Seq" : "Shar";
    test_case even = fused_case(scope, t, full), odd = fused_case(scope, t, less),
              fills = fused_case(scope, t, less);
    if (fills.model) tf_model_whole_tiles(fills.model);
    if (CHECK(case_evaluate(&even) && case_evaluate(&odd) && case_evaluate(&fills))) {
      partial += fills.r.estimated;
      CHECK(!odd.r.estimated && (fills.r.estimated || none_above(&odd, &fills.r, &odd.r)));
      CHECK(none_above(&odd, &odd.r, &fills.r) && none_above(&odd, &fills.r, &even.r));
    }
    case_drop(&fills);
    case_drop(&odd);
    case_drop(&even);
  }
  CHECK(partial > ROUNDS / 4);
}

/* ---- plans ---------------------------------------------------------------------------------- */
static const char cpu[] =
    "architecture:\n  name: cpu\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: L2, capacity: 256 KiB, bandwidth: 16}\n"
    "  - {name: L1, capacity: 8 KiB, bandwidth: 64}\n"
    "  - {name: REG, capacity: 256, bandwidth: 64}\n"
    "  compute:\n"
    "  - {name: u, ops: [mac, add, sub, mul, exp, silu, select], below: REG, mesh: [8, 1]}\n";
static const char gpu[] =
    "architecture:\n  name: gpu\n  clock: 1 GHz\n  memories:\n  - {name: HBM, bandwidth: 64}\n"
    "  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}\n  compute:\n"
    "  - {name: u, ops: [mac, add, sub, mul, exp, silu, select], below: SMEM, mesh: [16, 16]}\n";

/* Rows of a prime number; dims of two. */
static const char *const odd[] = {
    "workload:\n  name: gated\n  dims: {m: 89, d: 88, f: 56, e: 96}\n  ops:\n"
    "  - G[m,f] += X[m,d] * A[d,f]\n"
    "  - U[m,f] += X[m,d] * B[d,f]\n  - H[m,f] = silu(G[m,f]) * U[m,f]\n"
    "  - Y[m,e] += H[m,f] * C[f,e]\n",
    "workload:\n  name: heads\n  dims: {h: 2, t: 127, a: 16, d: 40}\n  ops:\n"
    "  - Y[t,d] += O[h,t,a] * W[h,a,d]\n"
    "  - Z[t,d] = Y[t,d] + X[t,d]\n",
    "workload:\n  name: tiny\n  dims: {m: 2, l: 2, k: 16, n: 12}\n  ops:\n"
    "  - S[m,l] += C[m,k] * B[l,k]\n"
    "  - T[m,l] = S[m,l] * exp(A[m] - A[l])\n  - O[m,n] += T[m,l] * X[l,n]\n",
    "workload:\n  name: scan\n  dims: {h: 2, m: 2, l: 2, k: 16, n: 12}\n  ops:\n"
    "  - S[h,m,l] += C[h,m,k] * B[h,l,k]\n"
    "  - T[h,m,l] = select(l <= m, S[h,m,l] * exp(A[h,m] - A[h,l]), 0)\n"
    "  - O[h,m,n] += T[h,m,l] * X[h,l,n]\n"};

/* Of each of the forms polished a share of the effort and a walk more than it; then the mapping
 * chosen. */
static void test_plan(const char *arch, const char *target, const char *workload) {
  enum {
    EVALS = 400,
    FORMS = 4,
    POLISHED = 256 * EVALS / 4 + 20000,
    FINAL = 200000,
    HALOS = 2 * 20000
  };
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
  test_single();
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    test_plan(cpu, "cpu", odd[i]);
    test_plan(gpu, "cuda", odd[i]);
  }
  return check_report();
}
