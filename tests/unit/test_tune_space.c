/* The space of schedules (tune/space): every row is a mapping that the model takes and that fits;
 * splits are counted exactly; neighbours, children and traces stay inside. */
#include <stdlib.h>

#include "search/strategy/strategy.h"
#include "tests/unit/case.h"
#include "tests/unit/check.h"
#include "tune/space/schedules.h"

#define MACHINE                                                                                    \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L2, capacity: %d, mesh: [%d, 1]}\n  "  \
  "- {name: L1, "                                                                                  \
  "capacity: %d}\n"                                                                                \
  "  compute:\n  - {name: fma, ops: [mac, add, mul, sub, div, max, exp, relu, select], below: "    \
  "L1, mesh: [8, 2]}\n"                                                                            \
  "workload:\n"
static const char *const isas[] = {"avx2", "portable"};

static tf_spec *spec_of(const char *workload, int cores, int l2, int l1, tf_diags *d) {
  static char text[4096];
  int n = snprintf(text, sizeof text, MACHINE, l2, cores, l1);
  snprintf(text + n, sizeof text - (size_t)n, "%s", workload);
  tf_text t = {"case.yaml", text, strlen(text)};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

#define GEMM "  dims: {m: 16, n: 8, k: 12}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
static const struct {
  const char *workload;
  int line, l2, l1, cores;
} cases[] = {
    {GEMM, __LINE__, 300, 40, 1},
    {GEMM, __LINE__, 300, 40, 4},
    {"  dims: {n: 2, k: 8, p: 6, q: 6, c: 4, r: 3, s: 3}\n"
     "  tensors: {I: {pad: [0, 0, 1, 1]}}\n  ops:\n"
     "  - O[n,k,p,q] += I[n, c, p + r - 1, q + s - 1] * W[k,c,r,s]\n",
     __LINE__, 900, 200, 1},
    {"  dims: {b: 2, m: 8, k: 4, l: 8, n: 4}\n  ops:\n  - C[b,m,l] += A[b,m,k] * B[b,k,l]\n"
     "  - E[b,m,n] += C[b,m,l] * D[b,l,n]\n",
     __LINE__, 400, 100, 1},
    {"  dims: {m: 8, k: 16}\n  ops:\n  - S[m] += A[m,k]\n"
     "  - V[m] += (A[m,k] - S[m] / 16) * (A[m,k] - S[m] / 16)\n"
     "  - O[m] = V[m] / 16\n",
     __LINE__, 400, 100, 1},
    {"  dims: {p: 8, q: 8, r: 3, s: 3}\n  tensors: {T: {pad: [1]}, I: {pad: [1]}}\n"
     "  ops:\n  - T[q] += I[q + r - 1] * W[r]\n  - O[p] += T[p + s - 1] * V[s]\n",
     __LINE__, 400, 100, 1},
    /* a row too long for the templates: the plain form */
    {"  dims: {k: 64, p: 64, c: 4, r: 3}\n  tensors: {I: {pad: [0, 1]}}\n  ops:\n"
     "  - O[k,p] += I[c, p + r - 1] * W[k,c,r]\n",
     __LINE__, 400, 60, 1},
    /* kept intermediates and boxes of several ops fill the memories; two cores read what they share
     */
    {"  dims: {h: 2, m: 16, l: 16, a: 8, n: 8}\n  ops:\n"
     "  - S[h,m,l] += Q[h,m,a] * K[h,l,a]\n  - X[h,m] max= S[h,m,l]\n"
     "  - E[h,m,l] = exp(S[h,m,l] - X[h,m])\n  - O[h,m,n] += E[h,m,l] * V[h,l,n]\n",
     __LINE__, 700, 100, 2},
    {"  dims: {p: 8, q: 8, f: 4, k: 4, c: 4, r: 3, s: 3}\n"
     "  tensors: {I: {pad: [0, 1, 1]}}\n  ops:\n"
     "  - M[k,p,q] += I[c, p + r - 1, q + s - 1] * W[k,c,r,s]\n  - A[k,p,q] = relu(M[k,p,q])\n"
     "  - O[f,p,q] += A[k,p,q] * U[f,k]\n",
     __LINE__, 600, 120, 2},
    /* ops that share no loop: the plain form, one after the other */
    {"  dims: {a: 8, b: 6, c: 12, e: 4}\n  ops:\n  - T[a,b] += X[a,e] * Y[e,b]\n"
     "  - U[c] max= T[0,0] + Z[c]\n",
     __LINE__, 400, 60, 1},
    /* reads apart from each other: what lies between is held, too, but no more than the whole row
     */
    {"  dims: {a: 16, i: 16, d: 16}\n"
     "  tensors: {A: {pad: [0, 0, 16], shape: [16, 16, 16]}}\n  ops:\n"
     "  - S[a,d] += A[a, i, i + d] + A[a, i, i + d - 16]\n",
     __LINE__, 300, 40, 1},
    {"  dims: {a: 16, j: 32}\n  tensors: {B: {pad: [0, 12]}}\n  ops:\n"
     "  - T[a,j] = B[a, j - 12] * B[a,j] + B[a, j - 5]\n",
     __LINE__, 300, 40, 1},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* Whether the row's mapping is one that fits. */
static bool fits(const tune_space *s, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(s, row);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r;
  const bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible;
  tf_model_free(m);
  tf_tree_free(t);
  tf_diags_free(d);
  return ok;
}

static bool same(const tune_space *s, const int32_t *a, const int32_t *b) {
  return !memcmp(a, b, (size_t)s->space.n * sizeof *a);
}

static void trace_back(tune_space *s, const int32_t *row, int32_t *to, int line) {
  tf_diags *d = tf_diags_new();
  char *text = tune_trace(s, row);
  const bool read = text && tune_trace_read(s, tf_diags_add_file(d, "s", text, strlen(text)), text,
                                            strlen(text), to, d);
  check_at(read && same(s, row, to), __FILE__, line, "a trace reads back to its row");
  free(text);
  tf_diags_free(d);
}

/* Every neighbour is another row of the space. */
static void test_moves(tune_space *s, const int32_t *row, int32_t *to, int *moved) {
  for (int k = 0; k < tune_directions(s); k++) {
    if (!tune_step(s, row, k, to)) continue;
    CHECK(!same(s, row, to));
    CHECK(tf_space_follow(&s->space, to) && same(s, to, s->space.chosen));
    ++*moved;
  }
}

static void test_rows(void) {
  for (int c = 0; c < N_CASES; c++) {
    tf_diags *d = tf_diags_new();
    tf_spec *spec = spec_of(cases[c].workload, cases[c].cores, cases[c].l2, cases[c].l1, d);
    tune_space *s = spec ? tune_space_new(spec->arch, spec->workload, 2, isas, NULL, d) : NULL;
    if (!CHECK_ROW(&cases[c], s != NULL)) {
      puts(tf_diags_text(d));
      continue;
    }
    const size_t n = (size_t)s->space.n;
    int32_t *row = calloc(4 * n, sizeof *row), *to = row + n, *was = row + 2 * n,
            *child = row + 3 * n;
    tf_rng rng = tf_rng_new(3, (uint64_t)c);
    int good = 0, moved = 0, all = 60;
    for (int k = 0; k < all; k++) {
      CHECK_ROW(&cases[c], tf_space_random(&s->space, &rng));
      memcpy(row, s->space.chosen, n * sizeof *row);
      good += fits(s, row);
      trace_back(s, row, to, cases[c].line);
      const tf_choices chosen = tune_choices(s, row);
      char *text = tune_trace(s, row);
      const tf_choices said = tune_trace_choices(text);
      CHECK_ROW(&cases[c], !memcmp(&chosen, &said, sizeof chosen));
      free(text);
      if (k < 6) test_moves(s, row, to, &moved);
      if (k) CHECK_ROW(&cases[c], tune_breed(s, &rng, row, was, k % 2, child));
      if (k)
        CHECK_ROW(&cases[c], tf_space_follow(&s->space, child) && same(s, child, s->space.chosen));
      memcpy(was, row, n * sizeof *row);
    }
    CHECK_ROW(&cases[c], moved > 6);
    CHECK_ROW_I64(&cases[c], good, all); /* the constraints say all */
    free(row);
    tune_space_free(s);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

/* More boxes below a Tile than a rule has variables: the forms are those of few ops, and draws fit.
 */
static void test_many_ops(void) {
  char text[2048];
  int at =
      snprintf(text, sizeof text, "  dims: {i: 8, j: 4}\n  ops:\n  - T0[i,j] = A[i,j] + B[i,j]\n");
  for (int k = 1; k < 24; k++)
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  - T%d[i,j] = T%d[i,j] * A[i,j] + B[i,j]\n", k, k - 1);
  tf_diags *d = tf_diags_new();
  tf_spec *spec = spec_of(text, 1, 400, 200, d);
  tune_space *s = tune_space_new(spec->arch, spec->workload, 1, isas, NULL, d);
  bool whole = false;
  for (int f = 0; s && f < s->n_forms; f++)
    whole |= !strcmp(s->form[f].name, "whole");
  CHECK(whole);
  tf_rng rng = tf_rng_new(3, 24);
  for (int k = 0; s && k < 8; k++)
    CHECK(tf_space_random(&s->space, &rng) && fits(s, s->space.chosen));
  tune_space_free(s);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* ---- the whole of a small space -------------------------------------------------------------- */
typedef struct {
  tune_space *s;
  int64_t rows, bad;
} tally;

static double cost(void *ctx) {
  tally *t = ctx;
  t->rows++;
  t->bad += !fits(t->s, t->s->space.chosen);
  return 1;
}

static bool more(void *ctx) { return ((tally *)ctx)->rows < 200000; }

/* Its rows, each decided in turn. */
static int64_t by_rows(tune_space *s, int64_t *bad) {
  tally t = {.s = s};
  tf_arena *a = tf_arena_new();
  s->space.cost = cost;
  s->space.ctx = &t;
  CHECK(tf_explore(&tf_strategy_exhaustive,
                   tf_strategy_exhaustive.make(a, &s->space, NULL, 0, tf_rng_new(1, 1)), &s->space,
                   more));
  tf_arena_free(a);
  *bad = t.bad;
  return t.rows;
}

static const char own[] =
    "IN kernel.tile {0}\nIN kernel.unroll {0}\nIN kernel.close {0}\nIN kernel.lanes {0}\n"
    "IN kernel.pack {0}\nIN kernel.rows {0}\nIN kernel.prefetch {0}\n"; /* mappings alone */

/* What a space says of its size is how many rows it has, however few words the memories hold. */
static void test_size(void) {
  static const struct {
    int line, cores, l2, l1;
    const char *workload;
  } row[] = {
      {__LINE__, 1, 1000, 1000, "  dims: {m: 4, k: 2}\n  ops:\n  - C[m] += A[m,k] * B[k]\n"},
      {__LINE__, 2, 16, 8, "  dims: {m: 4, k: 4}\n  ops:\n  - C[m] += A[m,k] * B[k]\n"},
      {__LINE__, 2, 24, 14, "  dims: {m: 6, k: 3}\n  ops:\n  - C[m] += A[m + k] * B[k]\n"},
      {__LINE__, 1, 40, 24,
       "  dims: {m: 2, k: 2}\n  ops:\n  - S[m] += A[m,k] * A[m,k]\n  - O[m] = S[m] * 2\n"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *spec = spec_of(row[i].workload, row[i].cores, row[i].l2, row[i].l1, d);
    const tf_text text = {"own", own, sizeof own - 1};
    tune_space *s = spec ? tune_space_new(spec->arch, spec->workload, 1, isas, &text, d) : NULL;
    tf_space_size size = {0};
    int64_t bad, said = 0, all = 0;
    if (CHECK_ROW(&row[i], s && tf_tune_size(spec->arch, spec->workload, &text, &size, d))) {
      for (int f = 0; f < size.n; f++) {
        said += strtoll(size.form[f].fit, NULL, 10);
        all += strtoll(size.form[f].all, NULL, 10);
      }
      CHECK_ROW_I64(&row[i], said, by_rows(s, &bad));
      CHECK_ROW(&row[i], all > said || row[i].l1 > 20);
      if (getenv("SPACE_SAY")) printf("%lld of %lld\n", (long long)said, (long long)all);
    }
    tf_space_size_free(&size);
    tune_space_free(s);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

/* One op, memories without limits: of each form the splits of each dim into its loops, the orders
 * of each Tile. */
static void test_count(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec =
      spec_of("  dims: {m: 4, k: 2}\n  ops:\n  - C[m] += A[m,k] * B[k]\n", 1, 1000, 1000, d);
  tune_space *s = tune_space_new(spec->arch, spec->workload, 1, isas,
                                 &(tf_text){"own", own, sizeof own - 1}, d);
  if (!CHECK(s != NULL)) return;
  int64_t want = 0;
  for (int f = 0; f < s->n_forms; f++) {
    int loops[2] = {0}, units[2] = {0};
    int64_t orders = 1;
    for (int k = 0; k < s->form[f].s->n_knobs; k++) {
      const tune_knob *x = &s->form[f].knob[k];
      if (tune_is_choice(x)) continue;
      const tf_node *n = &s->form[f].tree->nodes[x->node];
      if (x->loop < 0) orders *= tune_orders(n->n_temporal);
      if (x->loop >= 0) loops[n->loops[x->loop].dim]++;
      units[0] += x->loop >= 0 &&
                  n->loops[x->loop].axis == TF_SPATIAL_Y; /* of two: one factor of 4 is too many */
    }
    /* splits of 4 = 2^2 into n parts: n (n + 1) / 2, less those whose part on the axis of two is 4;
     * of 2: n */
    want += orders * (loops[0] * (loops[0] + 1) / 2 - units[0]) * loops[1];
  }
  int64_t bad;
  CHECK_I64(by_rows(s, &bad), want);
  CHECK_I64(want, 592); /* as docs/HOWTO-tune.md says */
  CHECK_I64(bad, 0);
  tune_space_free(s);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* ---- orders ---------------------------------------------------------------------------------- */
static void test_orders(void) {
  int order[TUNE_ORDER_LOOPS], was[64][TUNE_ORDER_LOOPS];
  for (int n = 1; n <= 7; n++)
    for (int k = 0; k < tune_orders(n); k++) {
      int seen = 0;
      tune_order(n, k, order);
      for (int i = 0; i < n; i++)
        seen |= 1 << order[i];
      CHECK_I64(seen, (1 << n) - 1);
      for (int i = 0; k == 0 && i < n; i++)
        CHECK_I64(order[i], i);
      for (int j = 0; j < k; j++)
        CHECK(memcmp(was[j], order, (size_t)n * sizeof *order) != 0);
      memcpy(was[k], order, sizeof order);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */
static void test_messages(void) {
  static const struct {
    int line;
    const char *text, *want;
  } row[] = {
      {__LINE__, "form hole\n",
       "s:1:6: error[E_NAME]: no form that suits the workload is called 'hole', did you mean "
       "'whole'?"},
      {__LINE__, "split L2.m 2\n", "s:1:1: error[E_MISSING]: a schedule begins with 'form NAME'"},
      {__LINE__, "# nothing\n", "error[E_MISSING]"},
      {__LINE__, "form whole\nsplit L2.mm 2\n",
       "s:2:7: error[E_NAME]: no loop of this form is called 'L2.mm'"},
      {__LINE__, "form whole\nsplit DRAM.m 3\n",
       "s:2:14: error[E_RANGE]: '3' is no factor that 'DRAM.m' may have"},
      {__LINE__, "form whole\nsplit DRAM.m 16\nsplit DRAM.m 16\n",
       "s:3:7: error[E_DUP]: 'DRAM.m' is said already"},
      {__LINE__, "form whole\nspilt DRAM.m 16\n",
       "s:2:1: error[E_KEY]: no line of a schedule begins with 'spilt', did you mean 'split'?"},
      {__LINE__, "form whole\nisa avx9\n",
       "s:2:5: error[E_NAME]: no instruction set of this computer is called 'avx9'"},
      {__LINE__, "form whole\nsplit DRAM.m 2\n", "error[E_COVER]: no line says 'split"},
      {__LINE__, "form whole\nchoose kernel.tlie 3\n",
       "s:2:8: error[E_NAME]: no choice for a kernel of this workload is called 'kernel.tlie', did "
       "you mean 'kernel.tile'?"},
      {__LINE__, "form whole\nchoose kernel.at rows\n",
       "no choice for a kernel of this workload is called 'kernel.at'"},
      {__LINE__, "form whole\nchoose kernel.pack allways\n",
       "s:2:20: error[E_NAME]: no value of 'kernel.pack' is 'allways', did you mean 'always'?"},
      {__LINE__, "form whole\nchoose kernel.tile\n",
       "s:2:19: error[E_NAME]: no value of 'kernel.tile' is ''"},
      {__LINE__, "form whole\nsplit DRAM.m 16 1\n",
       "s:2:17: error[E_SYNTAX]: expected the line's end, not '1'"},
  };
  tf_diags *d = tf_diags_new();
  tf_spec *spec = spec_of(GEMM, 1, 300, 40, d);
  tune_space *s = tune_space_new(spec->arch, spec->workload, 2, isas, NULL, d);
  if (!CHECK(s != NULL)) return;
  int32_t *to = calloc((size_t)s->space.n, sizeof *to);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_diags *e = tf_diags_new();
    const size_t len = strlen(row[i].text);
    CHECK_ROW(&row[i], !tune_trace_read(s, tf_diags_add_file(e, "s", row[i].text, len), row[i].text,
                                        len, to, e));
    char *said = tf_diags_text(e);
    if (!CHECK_ROW(&row[i], strstr(said, row[i].want) != NULL)) printf("%s", said);
    free(said);
    tf_diags_free(e);
  }
  free(to);
  tune_space_free(s);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* More constraints: every draw keeps them; forms without what they name are left out; what is wrong
 * is told once. */
static void test_more(void) {
  static const struct {
    int line;
    const char *text, *want; /* want NULL: it is taken */
  } row[] = {
      {__LINE__, "IN DRAM.m {4}\nLE L1.k <= 2\nIN kernel.tile {3}\n", NULL},
      {__LINE__, "IN DRAM.m {5}\n", "more:1:4: error[E_RANGE]: none of these is left for 'DRAM.m'"},
      {__LINE__, "LE DRAM.mm <= 2\n", "more:1:4: error[E_NAME]: no variable 'DRAM.mm'"},
      {__LINE__, "EQ DRAM.m = 16\nEQ L1.m = 2\n", "the constraints of 'more' leave no schedule of"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *spec = spec_of(GEMM, 1, 300, 40, d);
    const tf_text more = {"more", row[i].text, strlen(row[i].text)};
    tune_space *s = tune_space_new(spec->arch, spec->workload, 2, isas, &more, d);
    CHECK_ROW(&row[i], (s != NULL) == !row[i].want);
    char *said = tf_diags_text(d);
    if (row[i].want && !CHECK_ROW(&row[i], strstr(said, row[i].want) != NULL)) printf("%s", said);
    tf_rng rng = tf_rng_new(3, 9);
    for (int k = 0; s && k < 20 && CHECK(tf_space_random(&s->space, &rng)); k++) {
      const tune_form *f = tune_form_of(s, s->space.chosen);
      for (int j = 0; j < f->s->n_knobs; j++) {
        const char *name = f->s->var[f->s->knob[j]].name;
        CHECK(strcmp(name, "kernel.tile") != 0 || s->space.chosen[f->first + j] == 3);
        CHECK(strcmp(name, "DRAM.m") != 0 || s->space.chosen[f->first + j] == 4);
        CHECK(strcmp(name, "L1.k") != 0 || s->space.chosen[f->first + j] <= 2);
      }
    }
    free(said);
    tune_space_free(s);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

int main(void) {
  test_more();
  test_orders();
  test_rows();
  test_many_ops();
  test_count();
  test_size();
  test_messages();
  return check_report();
}
