/* The exact solver against its slow twin, on random small problems; the same result with any number
 * of threads; what it says where nothing fits or it is stopped. */
#include "base/rng.h"
#include "search/exact/exact.h"
#include "tests/unit/case.h"
#include "tests/unit/exact_twin.h"

/* ---- random problems ------------------------------------------------------------------------- */
static const char *const workloads[] = {
    "C[m,l] += A[m,k] * B[k,l]",
    "C[b,m,l] += A[b,m,k] * B[b,k,l]",
    "y[m] += A[m,k] * x[k]",
    "C[m,l] = exp(A[m,l])",
    "O[p] += I[p + r] * W[r]",
    "O[f,p] += I[c, 2*p + r] * W[f,c,r]",
    "C[m,l] += A[m,k] * B[k,l];E[m,n] += C[m,l] * D[l,n]",
    "C[m,l] += A[m,k] * B[k,l];E[m,l] = exp(C[m,l])",
    "X[m] max= A[m,l];D[m,l] = A[m,l] - X[m]",
    "M[p] += I[p + r] * W[r];O[x] += M[x + u] * V[u]",
    "C[m,l] += A[m,k] * B[k,l];E[m,l] = C[m,l] * A2[m,l]",
    "S[m,l] = exp(A[m,l]);O[m] += S[m,l] * A[m,l]",
    "C[m,l] += A[m,k] * B[k,l];E[m,l] = exp(C[m,l]);O[m,n] += E[m,l] * D[l,n]",
    "C[m,l] += A[m,k] * B[k,l];E[m,l] = exp(C[m,l]);F[m,l] = E[m,l] * G[m,l];O[m,n] += F[m,l] * "
    "D[l,n]",
    "O[p] += I[p + r - 1] * W[r]",
    "O[f,p] += I[2*p + r - 1] * W[f,r]",
    "M[p] += I[p + r - 1] * W[r];O[x] += M[x + u] * V[u]",
    "M[p] += I[p] * W[p];O[x] += M[x + u - 1] * V[u]",
    "S[m,l] += A[m,k] * B[k,l];X[m] max= S[m,l];D[m,l] = S[m,l] - X[m];E[m,l] = exp(D[m,l]);Z[m] "
    "+= E[m,l]",
};
enum { N_WORKLOADS = sizeof workloads / sizeof workloads[0] };
enum {
  N_PLAIN = 4
}; /* of these a single op that indexes by single dims: all trip counts are looked through */

static unsigned pick(tf_rng *r, const unsigned *list, unsigned n) {
  return list[tf_rng_below(r, n)];
}

/* plain: one of the first workloads, of lengths that mostly nothing divides. */
static char *put_workload(tf_rng *r, bool plain, char *p) {
  static const unsigned even[] = {1, 2, 2, 3, 4, 4, 6, 8}, odd[] = {2, 3, 5, 5, 7, 7, 9, 13},
                        windows[] = {1, 2, 3};
  const unsigned *lengths = plain ? odd : even;
  const char *ops = workloads[tf_rng_below(r, plain ? N_PLAIN : N_WORKLOADS)];
  bool many = strchr(ops, ';') && strchr(strchr(ops, ';') + 1, ';'); /* more than two: short dims */
  bool named[128] = {false};
  p += sprintf(p, "workload:\n  name: w\n  dims: {");
  int n = 0;
  unsigned x = pick(r, lengths, 8), u = pick(r, windows, 3);
  bool chain = strstr(ops, "M[x + u]") != NULL; /* makes as much as is read */
  bool padded = strstr(ops, "M[x + u - 1]") != NULL, input = strstr(ops, "r - 1]") != NULL;
  for (const char *s = ops, *open = NULL; *s; s++) {
    if (*s == '[') open = s;
    if (*s == ']') open = NULL;
    if (!open || *s < 'a' || *s > 'z' || named[(int)*s]) continue;
    named[(int)*s] = true;
    unsigned any = strchr("ru", *s) ? pick(r, windows, 3) : pick(r, lengths, many ? 4 : 8);
    if (chain && strchr("xup", *s)) any = *s == 'x' ? x : *s == 'u' ? u : x + u - 1;
    if (padded && strchr("xup", *s))
      any = *s == 'u' ? 3 : x; /* as many as are made: same padding */
    if (input && *s == 'r') any = 3;
    p += sprintf(p, "%s%c: %u", n++ ? ", " : "", *s, any);
  }
  p += sprintf(p, "}\n");
  if (padded || input) p += sprintf(p, "  tensors: {%s: {pad: [1]}}\n", padded ? "M" : "I");
  p += sprintf(p, "  ops:\n");
  for (const char *s = ops; s; s = strchr(s, ';') ? strchr(s, ';') + 1 : NULL)
    p += sprintf(p, "  - %.*s\n", (int)strcspn(s, ";"), s);
  return p;
}

static void put_memory(tf_rng *r, int l, char **p) {
  static const unsigned meshes[] = {1, 1, 2, 2, 3, 4}, words[] = {3, 4, 6, 8, 12, 16, 24, 48};
  static const char *const speeds[] = {"1", "2", "3.5", "{read: 2, write: 1}",
                                       "{read: 4, write: 3}"};
  *p += sprintf(*p, "  - name: L%d\n    bandwidth: %s\n", l, speeds[tf_rng_below(r, 5)]);
  if (tf_rng_below(r, 2))
    *p += sprintf(*p, "    energy: {read: %u pJ, write: %u pJ}\n", 1 + tf_rng_below(r, 9),
                  1 + tf_rng_below(r, 9));
  if (tf_rng_below(r, 4) == 0) *p += sprintf(*p, "    leakage: %u pJ\n", 1 + tf_rng_below(r, 20));
  if (l == 0) return;
  *p += sprintf(*p, "    mesh: [%u, %u]\n", pick(r, meshes, 6), pick(r, meshes, 6));
  if (tf_rng_below(r, 4))
    *p += sprintf(*p, "    capacity: %u\n", pick(r, words, 8) * (l == 1 ? 2 : 1));
  if (tf_rng_below(r, 3) == 0)
    *p += sprintf(*p, "    network: {multicast: %s, reduce: %s}\n",
                  tf_rng_below(r, 2) ? "true" : "false", tf_rng_below(r, 2) ? "true" : "false");
}

static void put_problem(tf_rng *r, bool plain, char *p) {
  static const char *const overlaps[] = {"double-buffer", "perfect", "none", "double-buffer"};
  int n = 2 + (int)tf_rng_below(r, 2);
  p += sprintf(p,
               "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  technology: 16 nm\n");
  p += sprintf(p, "  overlap: %s\n  memories:\n", overlaps[tf_rng_below(r, 4)]);
  for (int l = 0; l < n; l++)
    put_memory(r, l, &p);
  p += sprintf(p, "  compute:\n  - {name: matrix, ops: [mac], below: L%d, mesh: [%u, %u]}\n", n - 1,
               1 + tf_rng_below(r, 3), 1 + tf_rng_below(r, 2));
  p += sprintf(p, "  - {name: vector, below: L%d, mesh: [2, 1], ops: [add, sub, mul, exp, max]}\n",
               n - 1 - (int)tf_rng_below(r, 2));
  put_workload(r, plain, p);
}

/* ---- against the twin ----------------------------------------------------------------------- */
static bool near(double a, double b) { return a == b || fabs(a - b) <= 1e-12 * fabs(b); }

static void print_case(const char *text, tf_objective goal, const tf_solve_result *r,
                       const twin *t) {
  char *mapping = r->tree ? tf_tree_text(r->tree) : NULL;
  printf(
      "%s\n"
      "%s: solved %.17g, twin %.17g, proved %d, at least %.17g, with all trip counts (%d) %.17g\n"
      "%s\n%s\n",
      text, tf_objective_key((int)goal), r->value, t->best, r->space_proved, r->space_bound,
      r->all_trips, r->trips_bound, mapping ? mapping : "(none)", t->text);
  free(mapping);
}

/* Where the solver was stopped, or only bounds what an op makes padded: little is proved, and
 * nothing that is wrong. A mapping with other trip counts may be better than all that divide. */
static bool holds_at_least(const tf_solve_result *r, const twin *t, bool wider) {
  const double bound = t->bypass ? r->bypass_bound : t->any ? r->trips_bound : r->space_bound;
  return (t->any || !r->space_proved) && bound <= t->best * (1 + 1e-12) &&
         (!r->tree || wider || r->value >= t->best * (1 - 1e-12));
}

static void check_solved(const char *text, const tf_solve_result *r, const twin *t, bool plain) {
  const bool padded = strstr(text, "M: {pad: [1]}") != NULL,
             stopped = plain && !(t->bypass ? r->bypasses : r->all_trips);
  bool same = r->space_proved && (isinf(t->best) ? !r->tree : r->tree && near(r->value, t->best));
  const bool least = !same || padded || plain || t->any || !r->tree ||
                     r->figures.energy_pj <= t->tie_pj * (1 + 1e-9);
  CHECK(least); /* of equally good ones the one of least energy */
  if (!least)
    printf("of equal ones %.17g pJ, the twin %.17g pJ\n", r->figures.energy_pj, t->tie_pj);
  if ((padded || stopped) && !same) same = holds_at_least(r, t, stopped && !t->any);
  same &= r->trips_bound <= r->value * (1 + 1e-12) &&
          (!r->all_trips || r->trips_bound == r->space_bound);
  same &= r->bypass_bound <= r->trips_bound && (!r->bypasses || r->bypass_bound == r->space_bound);
  CHECK(same);
  if (!same || !least) print_case(text, t->goal, r, t);
}

/* What was asked for, and what came of it. */
typedef struct {
  tf_objective goal;
  bool plain;
  bool homes; /* inputs and outputs live in inner memories */
  long most;
  int64_t evals; /* of the solver; 0: no limit.  With one, the twin always has all trip counts */
  int compared, whole, past; /* not too large; with all trip counts; and with bypasses */
  int found;                 /* those with a mapping */
} comparing;

enum { FEWEST = 33 }; /* evaluations: the integer program takes a node, whatever the budget */

/* Gives one input or output in two a home in an inner memory.  NULL: none; frees s. */
static tf_spec *put_homes(tf_rng *rng, char *text, tf_spec *s, tf_diags *d) {
  const char *any = "home: {";
  char *p = text + strlen(text);
  for (int z = 0; s && z < s->workload->n_tensors; z++) {
    const tf_tensor *t = &s->workload->tensors[z];
    if ((t->producer >= 0 && t->n_consumers > 0) || tf_rng_below(rng, 2)) continue;
    p += sprintf(p, "%s%s: L%u", any, t->name,
                 1 + tf_rng_below(rng, (uint32_t)s->arch->n_memories - 1));
    any = ", ";
  }
  tf_spec_free(s);
  if (*any == 'h') return NULL;
  sprintf(p, "}\n");
  s = case_spec(text, d);
  CHECK(s != NULL);
  return s;
}

/* The solver against the twin over the space that it says it has searched. */
static void compare(tf_rng *rng, comparing *c) {
  char text[4096];
  static twin t; /* large */
  put_problem(rng, c->plain, text);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  tf_solve_opts o = {
      .objective = c->goal, .budget = {.threads = 1, .max_evals = c->evals}, .alone = true};
  CHECK(s != NULL);
  if (c->homes && !(s = put_homes(rng, text, s, d))) {
    tf_diags_free(d);
    return;
  }
  if (s) t = (twin){.a = s->arch, .w = s->workload, .goal = c->goal, .most = c->most};
  tf_solve_result *r =
      s && (c->plain || tw_best(&t)) ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
  if (r && (r->all_trips || c->plain)) {
    /* what is proved of all mappings may be one of those that divide, or only of the wider spaces
     * of one op */
    const bool wider =
        c->plain || !r->proved || (s->workload->n_ops == 1 && t.best > r->value * (1 + 1e-12));
    t.any = c->evals || (r->all_trips && wider);
    t.bypass = c->evals || (r->bypasses && wider);
    if (!tw_best(&t)) {
      tf_solve_free(r);
      r = NULL;
    }
  }
  if (r) {
    check_solved(text, r, &t, c->plain);
    CHECK(!c->evals || r->evals <= (c->evals > FEWEST ? c->evals : FEWEST));
    c->compared++;
    c->found += r->tree != NULL;
    c->whole += r->all_trips;
    c->past += r->bypasses;
  }
  if (!s) printf("%s\n%s", text, tf_diags_text(d));
  tf_solve_free(r);
  tf_spec_free(s);
  tf_diags_free(d);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 300, MOST = 2500, PLAIN = 24, MOST_PLAIN = 4000 };
#else
enum { CASES = 60, MOST = 600, PLAIN = 10, MOST_PLAIN = 2500 };
#endif

static void compare_all(tf_rng *rng, int cases, comparing *c) {
  for (int i = 0; c->compared < cases && i < 50 * cases; i++) {
    c->goal = (tf_objective)(i % TF_N_OBJECTIVES);
    compare(rng, c);
  }
  CHECK_I64(c->compared, cases);
}

static void test_twin(void) {
  tf_rng rng = tf_rng_new(1, 77);
  comparing c = {.most = MOST};
  compare_all(&rng, CASES, &c);
}

/* What lives further in need not come, and takes room there. */
static void test_homes(void) {
  tf_rng rng = tf_rng_new(1, 41);
  comparing c = {.homes = true, .most = MOST};
  compare_all(&rng, CASES / 3, &c);
  CHECK(c.found > CASES / 10);
}

/* All trip counts, of lengths that nothing divides. */
static void test_all_trips(void) {
  tf_rng rng = tf_rng_new(1, 35);
  comparing c = {.plain = true, .most = MOST_PLAIN};
  compare_all(&rng, PLAIN, &c);
  CHECK(c.whole > PLAIN / 3 && c.past > PLAIN / 3);
}

/* The same with few evaluations: what is said of the space still holds. */
static void test_all_trips_stopped(void) {
  static const int64_t evals[] = {1, 20, 100, 400, 2000, 10000};
  tf_rng rng = tf_rng_new(2, 35);
  int stopped = 0;
  for (size_t i = 0; i < sizeof evals / sizeof *evals; i++) {
    comparing c = {.plain = true, .most = MOST_PLAIN, .evals = evals[i]};
    compare_all(&rng, PLAIN / 8, &c);
    stopped += c.compared - c.whole;
  }
  CHECK(stopped > PLAIN / 4);
}

/* ---- the same with any number of threads ---------------------------------------------------- */
static tf_solve_result *solve_files(const char *arch, const char *work, const tf_solve_opts *o,
                                    tf_spec **s, tf_diags *d) {
  const char *paths[] = {arch, work};
  *s = tf_spec_read(paths, 2, NULL, 0, d);
  CHECK(*s != NULL);
  tf_solve_result *r = *s ? tf_solve_exact((*s)->arch, (*s)->workload, o, d) : NULL;
  CHECK(r != NULL);
  return r;
}

static void test_threads(void) {
  tf_solve_result *r[2];
  tf_spec *s[2];
  tf_diags *d = tf_diags_new();
  for (int k = 0; k < 2; k++) {
    tf_solve_opts o = {
        .objective = TF_LATENCY, .budget.threads = 1 + 2 * k, .budget.max_evals = 30000};
    r[k] = solve_files("arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml", &o, &s[k], d);
  }
  if (r[0] && r[1]) {
    CHECK(r[0]->value == r[1]->value && r[0]->bound == r[1]->bound &&
          r[0]->space_bound == r[1]->space_bound);
    CHECK_I64(r[0]->evals, r[1]->evals);
    CHECK_I64(r[0]->by_bound, r[1]->by_bound);
    CHECK_I64(r[0]->by_mesh, r[1]->by_mesh);
    CHECK_I64(r[0]->stopped_by, r[1]->stopped_by);
    CHECK(case_same_tree(r[0]->tree, r[1]->tree));
    CHECK(!r[0]->space_proved && r[0]->stopped_by == TF_STOP_BUDGET &&
          r[0]->space_bound <= r[0]->value);
  }
  for (int k = 0; k < 2; k++) {
    tf_solve_free(r[k]);
    tf_spec_free(s[k]);
  }
  tf_diags_free(d);
}

/* ---- what does not fit ---------------------------------------------------------------------- */
#define SMALL(capacity, op)                                                                        \
  "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  technology: 16 nm\n  memories:\n"  \
  "  - {name: M, bandwidth: 4}\n  - {name: B, capacity: " capacity ", bandwidth: 8}\n"             \
  "  compute:\n  - {name: u, ops: [mac], below: B}\n"                                              \
  "workload:\n  name: w\n  dims: {m: 4, k: 4, l: 4}\n  ops:\n  - " op "\n"
#define PRODUCT "C[m,l] += A[m,k] * B[k,l]"
#define WINDOW "C[m,l] += A[m+k,l] * B[k]"

/* Both need a word of each operand and of what they make: three, and no fewer, unless they bypass,
 * as a product may. */
static void test_too_small(void) {
  static const struct {
    int line;
    const char *text;
    bool fits, bypasses;
  } rows[] = {{__LINE__, SMALL("2", WINDOW), false, false},
              {__LINE__, SMALL("3", WINDOW), true, false},
              {__LINE__, SMALL("2", PRODUCT), true, true},
              {__LINE__, SMALL("3", PRODUCT), true, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = case_spec(rows[i].text, d);
    tf_solve_opts o = {.objective = TF_ENERGY, .budget.threads = 1, .alone = true};
    tf_solve_result *r = s ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
    CHECK_ROW(&rows[i], r && r->space_proved && (r->tree != NULL) == rows[i].fits);
    if (r && !rows[i].fits)
      CHECK_ROW(&rows[i],
                !r->proved && isinf(r->value) && isinf(r->space_bound) && r->levels[1].pruned > 0);
    if (r && (!rows[i].fits || rows[i].bypasses)) CHECK_ROW_I64(&rows[i], r->levels[1].least, 3);
    if (r && r->tree && rows[i].bypasses)
      CHECK_ROW(&rows[i], r->bypasses && r->tree->nodes[1].n_bypass > 0);
    tf_solve_free(r);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- what only a walk counts ---------------------------------------------------------------- */
/* Two reads of T move apart, so fused mappings are walked.  Those of many steps are given up, and
 * what the others cost is counted: a budget that one walk exceeds ends with it, but for the walks
 * that are under way (without the charge 20 evaluations ended at 20, without the limit a walk cost
 * 300,000).  As of the first nothing is known, the best of the others is not proved. */
static void test_walked(void) {
  static const char text[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  technology: 16 nm\n"
      "  memories:\n"
      "  - {name: M, bandwidth: 4}\n  - {name: B, capacity: 4096, bandwidth: 8}\n"
      "  compute:\n  - {name: u, ops: [mac], below: B}\n"
      "workload:\n  name: w\n  dims: {m: 48, l: 48, a: 32, k: 4}\n"
      "  ops:\n  - T[m,a] += A[m,k] * B[k,a]\n  - S[m,l] += T[m,a] * T[l,a]\n";
  enum { A_WALK = 20000 / 64 };
  static const struct {
    int line, evals, least, most;
  } rows[] = {{__LINE__, 20, A_WALK, 4 * A_WALK}, {__LINE__, 400, 400 + A_WALK, 800 + 2 * A_WALK}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  for (int i = 0; i < 2; i++) {
    tf_solve_opts o = {.objective = TF_ENERGY,
                       .budget = {.threads = 1, .max_evals = rows[i].evals},
                       .alone = true};
    tf_solve_result *r = s ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
    CHECK_ROW(&rows[i],
              r && !r->space_proved && r->evals >= rows[i].least && r->evals <= rows[i].most);
    tf_solve_free(r);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Tasks that share a few evaluations take no more than are left; breaking ties, which takes some at
 * least, may leave them. */
static void test_budget(void) {
  static const char text[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
      "  - {name: M, bandwidth: 4}\n  - {name: B, capacity: 4096, bandwidth: 8, mesh: [2, 2]}\n"
      "  compute:\n  - {name: u, ops: [mac], below: B, mesh: [4, 4]}\n"
      "workload:\n  name: w\n  dims: {m: 64, l: 64, k: 32, n: 16}\n"
      "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n";
  static const int budgets[] = {100, 333, 1000, 3001};
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
    tf_solve_opts o = {.objective = TF_LATENCY, .budget = {.threads = 1, .max_evals = budgets[i]}};
    tf_solve_result *r = s ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
    CHECK(r && r->stopped_by == TF_STOP_BUDGET && !r->space_proved);
    CHECK(r && r->evals <= budgets[i] && r->evals > budgets[i] - 8);
    tf_solve_free(r);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Far from the bound the search after gets half of the budget, and finds what the space does not
 * hold: bypass.  With it the result is better than with all of the budget for the space, and no
 * evaluation more is spent. */
static void test_after(void) {
  static const char text[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
      "  - {name: M, bandwidth: 4}\n  - {name: B, capacity: 600, bandwidth: 8, mesh: [2, 2]}\n"
      "  compute:\n  - {name: u, ops: [mac], below: B, mesh: [4, 4]}\n"
      "workload:\n  name: w\n  dims: {m: 60, l: 64, k: 48, n: 36}\n"
      "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n";
  enum { EVALS = 4000 };
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  double value[2] = {0, 0};
  for (int after = 0; after < 2; after++) {
    tf_solve_opts o = {.objective = TF_LATENCY,
                       .after = after ? EVALS : 0,
                       .budget = {.threads = 1, .max_evals = EVALS}};
    tf_solve_result *r = s ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
    CHECK(r && r->evals <= EVALS && r->stopped_by == TF_STOP_BUDGET && r->value >= r->bound);
    value[after] = r ? r->value : 0;
    tf_solve_free(r);
  }
  if (!CHECK(value[1] < value[0]))
    printf("%g with the search after, %g without\n", value[1], value[0]);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(int argc, char **argv) {
  if (argc > 2) { /* test_exact CASES SEED [plain [EVALS] | homes]: more of them */
    tf_rng rng = tf_rng_new((uint64_t)atoll(argv[2]), 77);
    const bool homes = argc > 3 && !strcmp(argv[3], "homes"), plain = argc > 3 && !homes;
    comparing c = {.plain = plain,
                   .homes = homes,
                   .most = plain ? MOST_PLAIN : MOST,
                   .evals = argc > 4 ? atoi(argv[4]) : 0};
    compare_all(&rng, atoi(argv[1]), &c);
    printf("%d compared, %d with a mapping, %d with all trip counts, %d with bypasses\n",
           c.compared, c.found, c.whole, c.past);
    return check_report();
  }
  test_twin();
  test_homes();
  test_all_trips();
  test_all_trips_stopped();
  test_threads();
  test_too_small();
  test_walked();
  test_budget();
  test_after();
  return check_report();
}
