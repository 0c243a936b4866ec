/* Tuning with a measurer that is a function of the kernel's text: strategies, verdicts, the store,
 * runs that are ended and gone on with; and what learns. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/db/db.h"
#include "tests/unit/case.h"
#include "tileflow/tileflow.h"
#include "tune/learn/perceptron.h"
#include "tune/learn/ridge.h"
#include "tune/learn/trees.h"
#include "tune/store/tune_store.h"
#include "tune/strategy/tune_strategy.h"

static const char spec_text[] = "architecture:\n  memories:\n  - {name: DRAM}\n"
                                "  - {name: L2, capacity: 600}\n  - {name: L1, capacity: 120}\n"
                                "  compute:\n"
                                "  - {name: fma, ops: [mac, add, mul, sub, div, max, exp, relu, "
                                "select], below: L1, mesh: [8, 2]}\n"
                                "workload:\n  name: gemm\n  dims: {m: 16, n: 16, k: 12}\n  ops:\n"
                                "  - C[m,n] += A[m,k] * B[k,n]\n";

typedef struct {
  int measured, calls, most; /* most: after so many kernels it gives up; 0: never */
} fake;

static uint64_t hash(const tf_emitted *e) {
  uint64_t h = 1469598103934665603u;
  for (int f = 0; f < e->n; f++)
    if (!strcmp(e->file[f].name, "kernel.c"))
      for (const char *p = e->file[f].text; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
  return h ^ h >> 29;
}

/* One kernel in eight has no time. */
static bool measure(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  fake *f = ctx;
  f->calls++;
  if (f->most && f->measured + n > f->most) return false;
  f->measured += n;
  for (int k = 0; k < n; k++) {
    const uint64_t h = hash(kernels[k]);
    out[k] = h % 8 ? (tf_timing){TF_TUNE_RAN, 1e-3 * (1 + (double)(h % 1000) / 1000), 2}
                   : (tf_timing){(tf_verdict)(1 + h / 8 % 4), 0, 1};
  }
  return true;
}

static tf_spec *spec_of(tf_diags *d) {
  const tf_text t = {"case.yaml", spec_text, sizeof spec_text - 1};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

static const char *const isas[] = {"avx2", "portable"};

static tf_tune_opts options(const char *strategy, int trials, const char *store, fake *f) {
  return (tf_tune_opts){
      .strategy = strategy,
      .seed = 5,
      .trials = trials,
      .store = store,
      .machine = "test",
      .compiler = "none",
      .n_isas = 2,
      .isas = isas,
      .plan = {.kernel = {.isa = "avx2"}, .budget = {.seed = 1, .max_evals = 400}},
      .measure = measure,
      .ctx = f};
}

static bool alike(const tf_trial *a, const tf_trial *b) {
  return a->no == b->no && !strcmp(a->text, b->text) && !strcmp(a->mapping, b->mapping) &&
         !strcmp(a->isa, b->isa) && a->timing.verdict == b->timing.verdict &&
         a->timing.seconds == b->timing.seconds && a->same == b->same &&
         a->confirmed == b->confirmed;
}

static void check_same(const tf_tuned *a, const tf_tuned *b, int line) {
  bool same = a && b && a->n == b->n && a->best == b->best;
  for (int k = 0; same && k < a->n; k++)
    same = alike(&a->trials[k], &b->trials[k]);
  check_at(same, __FILE__, line, "two runs have the same trials");
}

/* Every schedule is another one, the best is the fastest, and one that ran has a time. */
static void check_trials(const tf_tuned *t, int want) {
  CHECK_I64(t->n, want);
  CHECK(t->best >= 0);
  for (int k = 0; k < t->n; k++) {
    const tf_trial *x = &t->trials[k];
    CHECK_I64(x->no, k);
    CHECK(strlen(x->mapping) > 0);
    CHECK(x->timing.verdict != TF_TUNE_RAN ||
          x->timing.seconds >= t->trials[t->best].timing.seconds);
    for (int j = 0; j < k; j++)
      CHECK(strcmp(x->text, t->trials[j].text) != 0);
  }
}

/* A run without an end, the same again, and one in a store that ends in the middle of it and is
 * gone on with. */
static void test_strategy(const tf_spec *s, const char *name, const char *store) {
  enum { TRIALS = 24 };
  tf_diags *d = tf_diags_new();
  fake once = {0}, again = {0}, cut = {0}, rest = {0};
  const tf_tune_opts o = options(name, TRIALS, NULL, &once),
                     o2 = options(name, TRIALS, NULL, &again);
  tf_tuned *a = tf_tune_run(s->arch, s->workload, &o, d),
           *b = tf_tune_run(s->arch, s->workload, &o2, d);
  if (!CHECK(a && b)) puts(tf_diags_text(d));
  if (a) check_trials(a, TRIALS + 1);
  check_same(a, b, __LINE__);
  CHECK_I64(once.measured, again.measured);

  cut.most = once.measured / 2;
  const tf_tune_opts first = options(name, TRIALS, store, &cut),
                     second = options(name, TRIALS, store, &rest);
  CHECK(!tf_tune_run(s->arch, s->workload, &first, d));
  CHECK(tf_diags_errors(d) == 0);
  tf_tuned *c = tf_tune_run(s->arch, s->workload, &second, d);
  check_same(a, c, __LINE__);
  if (c) CHECK(c->resumed > 0 && c->resumed < TRIALS);
  CHECK_I64(cut.measured + rest.measured, once.measured); /* nothing twice */
  fake none = {0};
  const tf_tune_opts third = options(name, TRIALS, store, &none);
  tf_tuned *e = tf_tune_run(s->arch, s->workload, &third, d);
  check_same(a, e, __LINE__);
  CHECK_I64(none.calls, 0);
  tf_tuned_free(a);
  tf_tuned_free(b);
  tf_tuned_free(c);
  tf_tuned_free(e);
  tf_diags_free(d);
}

/* A second strategy measures none of the kernels that the first one did; on another machine, or
 * built by another compiler, it measures them all. */
static void test_known(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  fake first = {0}, second = {0}, apart = {0}, rebuilt = {0}, elsewhere = {0};
  tf_tune_opts o[] = {options("random", 24, store, &first), options("sa", 24, store, &second),
                      options("sa", 24, NULL, &apart), options("sa", 24, store, &rebuilt),
                      options("sa", 24, store, &elsewhere)};
  enum { RUNS = sizeof o / sizeof *o };
  o[3].compiler = "other";
  o[4].machine = "other";
  tf_tuned *t[RUNS];
  for (int k = 0; k < RUNS; k++) {
    t[k] = tf_tune_run(s->arch, s->workload, &o[k], d);
    if (!CHECK(t[k])) {
      puts(tf_diags_text(d));
      return;
    }
  }
  CHECK_I64(t[0]->known, 0);
  CHECK(t[1]->known > 0);
  CHECK_I64(second.measured + t[1]->known, apart.measured);
  CHECK_I64(rebuilt.measured, apart.measured);
  CHECK_I64(elsewhere.measured, apart.measured);
  check_same(t[1], t[2], __LINE__);
  for (int k = 0; k < RUNS; k++)
    tf_tuned_free(t[k]);
  tf_diags_free(d);
}

/* ---- the end of a run: a clock that misleads ------------------------------------------------ */
static double true_seconds(const tf_emitted *e) {
  return 1e-3 * (1 + (double)(hash(e) % 1000) / 1000);
}

/* The slower a kernel, the faster it seems. */
static bool measure_wrongly(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  fake *f = ctx;
  f->measured += n;
  for (int k = 0; k < n; k++)
    out[k] = (tf_timing){TF_TUNE_RAN, 3e-3 - true_seconds(kernels[k]), 2};
  return true;
}

static bool confirm(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  fake *f = ctx;
  f->calls++;
  CHECK(n > 1);
  for (int k = 0; k < n; k++) {
    out[k] = (tf_timing){TF_TUNE_RAN, true_seconds(kernels[k]), 9};
    for (int j = 0; j < k; j++)
      CHECK(hash(kernels[j]) != hash(kernels[k]));
  }
  return f->calls != f->most;
}

static bool confirm_none(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  (void)kernels;
  ((fake *)ctx)->calls++;
  for (int k = 0; k < n; k++)
    out[k] = (tf_timing){.verdict = TF_TUNE_CRASHED};
  return true;
}

static tf_tune_opts misled(const char *strategy, const char *store, fake *f) {
  tf_tune_opts o = options(strategy, 24, store, f);
  o.measure = measure_wrongly;
  o.confirm = confirm;
  return o;
}

/* The best is the one with the least true time of the four, three of them the fastest by the clock,
 * the other the first choice; returns that time. */
static double check_end(const tf_tuned *t) {
  int n = 0, faster = 0;
  double least = INFINITY, slowest = 0;
  for (int k = 0; k < t->n; k++) {
    const tf_trial *x = &t->trials[k];
    if (!(x->confirmed > 0)) continue;
    n++;
    least = fmin(least, x->confirmed);
    if (k > 0) slowest = fmax(slowest, x->timing.seconds);
  }
  for (int k = 1; k < t->n; k++)
    faster += !t->trials[k].same && !(t->trials[k].confirmed > 0) &&
              t->trials[k].timing.seconds < slowest;
  CHECK_I64(n, 4);
  CHECK_I64(faster, 0);
  CHECK(t->trials[0].confirmed > 0);
  CHECK(t->trials[t->best].confirmed == least);
  return least;
}

static double stored(const tf_spec *s, const char *store, tf_diags *d) {
  tf_tune_best best;
  CHECK(tf_tune_find(store, &(tf_tune_asked){"test", NULL}, s->arch, s->workload, &best, d));
  free(best.mapping);
  free(best.isa);
  return best.seconds;
}

/* A run that is ended while it confirms, goes on, and is begun once more; then other strategies in
 * the same store. */
static void test_confirmed(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  fake cut = {.most = 1}, rest = {0}, again = {0}, none = {0};
  const tf_tune_opts first = misled("random", store, &cut), second = misled("random", store, &rest),
                     third = misled("random", store, &again);
  CHECK(!tf_tune_run(s->arch, s->workload, &first, d) && tf_diags_errors(d) == 0);
  tf_tuned *a = tf_tune_run(s->arch, s->workload, &second, d),
           *b = tf_tune_run(s->arch, s->workload, &third, d);
  if (!CHECK(a && b)) puts(tf_diags_text(d));
  check_same(a, b, __LINE__);
  double least = check_end(a);
  CHECK(check_end(b) == least && stored(s, store, d) == least);
  CHECK(rest.measured == 0 && rest.calls == 1 && again.calls == 0);
  bool other = false; /* by its own time another trial would be the best */
  for (int k = 0; k < a->n; k++)
    other |= a->trials[k].timing.seconds < a->trials[a->best].timing.seconds;
  CHECK(other);
  tf_tuned_free(a);
  tf_tuned_free(b);
  for (int k = 0; tf_tune_strategy(k, NULL); k++) {
    fake f = {0};
    const tf_tune_opts o = misled(tf_tune_strategy(k, NULL), store, &f);
    tf_tuned *t = tf_tune_run(s->arch, s->workload, &o, d);
    if (CHECK(t)) least = fmin(least, check_end(t));
    CHECK(stored(s, store, d) == least);
    tf_tuned_free(t);
  }
  tf_tune_opts fails = misled("random", NULL, &none);
  fails.confirm = confirm_none;
  a = tf_tune_run(s->arch, s->workload, &fails, d);
  if (CHECK(a)) check_trials(a, 25); /* the best by its own time */
  CHECK_I64(none.calls, 1);
  tf_tuned_free(a);
  tf_diags_free(d);
}

/* Changes a store as a program would that knows its sums. */
static void change(const char *store, const char *sql) {
  static const tf_db_kind any = {"store", 0x5446544e, 3, 1000};
  static const char *const tables[] = {"run", "trial", "kernel", "finalist"};
  char unseal[64];
  tf_db db;
  tf_diags *d = tf_diags_new();
  CHECK(tf_db_open(&db, &any, store, NULL, NULL, d));
  CHECK(sqlite3_exec(db.sql, sql, NULL, NULL, NULL) == SQLITE_OK);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    snprintf(unseal, sizeof unseal, "UPDATE %s SET sum = NULL", tables[i]);
    CHECK(tf_db_exec(&db, unseal, d) && tf_db_seal(&db, tables[i], d));
  }
  tf_db_close(&db);
  tf_diags_free(d);
}

/* Changes what a file says of itself. */
static void mark(const char *store, const char *sql) {
  sqlite3 *db;
  CHECK(sqlite3_open(store, &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_close(db);
}

/* The fastest says what it chooses for the generator, too. */
static void check_choices(const tf_spec *s, const char *store, tf_diags *d) {
  const tf_choices want = {{[TF_CHOICE_TILE] = 3}};
  tf_tune_best best;
  change(store, "UPDATE trial SET verdict = 'ran', seconds = 1e-9, schedule = 'form whole\n"
                "choose kernel.tile 3\n"
                "' WHERE no = 0 AND run = (SELECT id FROM run WHERE strategy = 'sa')");
  CHECK(tf_tune_find(store, &(tf_tune_asked){"test", NULL}, s->arch, s->workload, &best, d));
  CHECK(best.seconds == 1e-9 && !memcmp(&best.choices, &want, sizeof want));
  free(best.mapping);
  free(best.isa);
}

/* The best of all runs; nothing for another machine, or another type. */
static void test_find(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  tf_tune_best best;
  fake f = {0};
  double least = INFINITY;
  for (int k = 0; tf_tune_strategy(k, NULL); k++) {
    const tf_tune_opts o = options(tf_tune_strategy(k, NULL), 24, store, &f);
    tf_tuned *t = tf_tune_run(s->arch, s->workload, &o, d);
    if (t && t->trials[t->best].timing.seconds < least) least = t->trials[t->best].timing.seconds;
    tf_tuned_free(t);
  }
  sqlite3 *writer;
  CHECK(sqlite3_open(store, &writer) == SQLITE_OK);
  CHECK(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL) ==
        SQLITE_OK); /* a tuning that runs: reading waits for none */
  CHECK(tf_tune_find(store, &(tf_tune_asked){"test", NULL}, s->arch, s->workload, &best, d));
  CHECK(best.seconds == least);
  sqlite3_close(writer);
  tf_tree *t = tf_tree_parse(best.mapping, (tf_loc){0}, s->arch, s->workload, d);
  CHECK(t != NULL);
  tf_tree_free(t);
  free(best.mapping);
  free(best.isa);
  check_choices(s, store, d);
  CHECK(!tf_tune_find(store, &(tf_tune_asked){"another", NULL}, s->arch, s->workload, &best, d) &&
        !best.mapping);
  CHECK(!tf_tune_find(store, &(tf_tune_asked){"test", "bf16"}, s->arch, s->workload, &best, d) &&
        !best.mapping);
  CHECK(tf_diags_errors(d) == 0);
  tf_diags_free(d);
}

/* ---- stores that cannot be used -------------------------------------------------------------- */
static void check_refused(const tf_spec *s, const char *store, const char *why, int line) {
  tf_diags *d = tf_diags_new();
  fake f = {0};
  const tf_tune_opts o = options("random", 24, store, &f);
  tf_tuned *t = tf_tune_run(s->arch, s->workload, &o, d);
  char *said = tf_diags_text(d);
  const bool ok = !t && strstr(said, "E_STORE") && strstr(said, why);
  check_at(ok, __FILE__, line, why);
  if (!ok) puts(said);
  free(said);
  tf_tuned_free(t);
  tf_diags_free(d);
}

static void run_again(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  fake f = {0};
  const tf_tune_opts o = options("random", 24, store, &f);
  tf_tuned *t = tf_tune_run(s->arch, s->workload, &o, d);
  CHECK(t != NULL);
  tf_tuned_free(t);
  tf_diags_free(d);
}

static void test_refused(const tf_spec *s, const char *store, const char *text) {
  change(store, "UPDATE kernel SET seconds = -1; DELETE FROM trial WHERE no > 1");
  check_refused(s, store, "a kernel without a time", __LINE__);
  change(store, "DELETE FROM kernel");
  run_again(s, store);
  mark(store, "DROP TABLE studied; DROP TABLE lesson; PRAGMA user_version = 2");
  run_again(s, store);
  change(store, "UPDATE trial SET schedule = 'form whole' WHERE no = 3");
  check_refused(s, store, "is not what the strategy asks for", __LINE__);
  change(store, "UPDATE trial SET verdict = 'perhaps' WHERE no = 2");
  check_refused(s, store, "is damaged: a trial", __LINE__);
  change(store, "DELETE FROM trial WHERE no = 2");
  check_refused(s, store, "one is missing before it", __LINE__);
  mark(store, "PRAGMA user_version = 9");
  check_refused(s, store, "a newer version: format 9, this one reads up to 3", __LINE__);
  mark(store, "PRAGMA application_id = 7");
  check_refused(s, store, "is a database, but no store of a tuning", __LINE__);
  FILE *f = fopen(text, "w");
  if (f)
    fputs("no database, only some text that is long enough to be read as one, and longer still "
          "than that\n",
          f);
  if (f) fclose(f);
  check_refused(s, text, "is no store of a tuning, or is damaged", __LINE__);
}

/* A store that an earlier version wrote (tests/data/earlier), read as it stands and after it was
 * raised. */
static void check_earlier(const char *name, double first, const char *copy) {
  size_t n;
  char path[64], *bytes;
  snprintf(path, sizeof path, "tests/data/earlier/%s", name);
  bytes = case_file(path, &n);
  FILE *f = fopen(copy, "wb");
  CHECK(f && n > 0 && fwrite(bytes, 1, n, f) == n);
  if (f) fclose(f);
  free(bytes);
  for (int k = 0; k < 2; k++) {
    tf_diags *d = tf_diags_new();
    tf_arena *a = tf_arena_new();
    int trials = 0;
    tf_trial *trial = NULL;
    tune_store *s = tune_store_open(copy, k, d);
    if (CHECK(s && tune_store_trials(s, 1, a, &trials, &trial, d)) && CHECK_I64(trials, 4))
      CHECK(trial[0].timing.seconds == first && strstr(trial[0].mapping, "L3 spatial m=2@x"));
    CHECK(tf_diags_errors(d) == 0);
    tune_store_close(s);
    tf_arena_free(a);
    tf_diags_free(d);
  }
  unlink(copy);
}

/* ---- what learns ----------------------------------------------------------------------------- */
static void test_perceptron(void) {
  tf_arena *a = tf_arena_new();
  tf_rng rng = tf_rng_new(2, 2);
  perceptron *n = perceptron_new(a, 2, &rng);
  double loss = 0;
  CHECK(perceptron_ask(n, (double[]){1, 1}) == 0);
  for (int k = 0; k < 6000; k++) { /* "one of both" */
    const double in[2] = {tf_rng_below(&rng, 2), tf_rng_below(&rng, 2)};
    loss = perceptron_teach(n, in, in[0] != in[1]);
  }
  CHECK(loss < 0.1);
  for (int k = 0; k < 4; k++) {
    const double in[2] = {k & 1, k >> 1};
    CHECK(fabs(perceptron_ask(n, in) - (in[0] != in[1])) < 0.3);
  }
  tf_arena_free(a);
}

/* A function of two of three features is learned; the third has no say. */
static void test_trees(void) {
  enum { N = 160, F = 3 };
  tf_arena *a = tf_arena_new();
  tf_rng rng = tf_rng_new(7, 2);
  double x[N * F], y[N], off = 0, spread = 0;
  for (int k = 0; k < N; k++) {
    for (int f = 0; f < F; f++)
      x[k * F + f] = tf_rng_unit(&rng);
    y[k] = (x[k * F] > 0.5 ? 3 : 1) * (x[k * F + 1] > 0.3 ? 2 : 1);
  }
  trees *t = trees_new(a, F);
  CHECK(trees_learn(t, N, x, y));
  for (int k = 0; k < N; k++) {
    const double in[F] = {x[k * F], x[k * F + 1], tf_rng_unit(&rng)};
    off += fabs(trees_ask(t, in) - y[k]) / N;
    spread += fabs(t->mean - y[k]) / N;
  }
  CHECK(off < 0.02 * spread);
  CHECK(trees_learn(t, 0, x, y));
  CHECK_NEAR(trees_ask(t, x), 0, 0);
  tf_arena_free(a);
}

/* Its slow twin: the sum of squares is least where its slope is 0, which is found by steps along
 * one weight at a time.
 */
static void test_ridge(void) {
  enum { N = 40, F = 5, ROUNDS = 3000 };
  tf_arena *a = tf_arena_new();
  ridge *r = ridge_new(a, F), *more = ridge_new(a, F);
  tf_rng rng = tf_rng_new(11, 2);
  for (int times = 0; r && more && times < 20; times++) {
    double x[N][F], y[N], weight[N], penalty[F], w[F] = {0};
    for (int i = 0; i < F; i++)
      penalty[i] = 0.1 + 5 * tf_rng_unit(&rng);
    ridge_begin(r, penalty);
    for (int k = 0; k < N; k++) {
      for (int i = 0; i < F; i++)
        x[k][i] = 4 * tf_rng_unit(&rng) - 1;
      y[k] = 10 * tf_rng_unit(&rng);
      weight[k] = 3 * tf_rng_unit(&rng);
      if (k == N / 2) ridge_copy(more, r);
      ridge_add(k < N / 2 ? r : more, x[k], y[k], weight[k]);
    }
    for (int round = 0; round < ROUNDS; round++)
      for (int i = 0; i < F; i++) {
        double slope = -penalty[i] * w[i], bend = penalty[i];
        for (int k = 0; k < N; k++) {
          double off = y[k];
          for (int j = 0; j < F; j++)
            off -= x[k][j] * w[j];
          slope += weight[k] * off * x[k][i];
          bend += weight[k] * x[k][i] * x[k][i];
        }
        w[i] += slope / bend;
      }
    CHECK(ridge_solve(more));
    double want = 0;
    for (int i = 0; i < F; i++) {
      CHECK_NEAR(more->w[i], w[i], 1e-9);
      want += w[i] * x[0][i];
    }
    CHECK_NEAR(ridge_ask(more, x[0]), want, 1e-9);
    const double before = more->w[0];
    ridge_add(more, (double[F]){NAN}, 1, 1);
    CHECK(!ridge_solve(more));
    CHECK(more->w[0] == before);
  }
  CHECK(r && more);
  tf_arena_free(a);
}

/* ---- taught: what other workloads say of a kernel decides the order ------------------------- */
/* Kernels of two workloads, whose time is that predicted times 2^(slope feature); their units
 * differ. */
static int lessons_with(double slope, int feature, lesson_measured *out, int n) {
  tf_rng rng = tf_rng_new(5, 5);
  for (int k = 0; k < n; k++) {
    out[k] = (lesson_measured){.workload = k * 2 / n};
    for (int i = 0; i < LESSON_FEATURES; i++)
      out[k].x[i] = 2 * tf_rng_unit(&rng);
    out[k].log2_error = (out[k].workload ? 7 : -20) + slope * out[k].x[feature];
  }
  return n;
}

static double first_decision(void *ctx, const int32_t *row) {
  (void)ctx;
  return 1000 + row[TUNE_FIRST];
}

/* All is as the model says but for one feature: the entries of the row, added up. */
static bool told_by_row(void *ctx, const int32_t *row, lesson *out) {
  const tune_space *s = ctx;
  *out = (lesson){.cycles = 1000};
  for (int i = 0; i < s->space.n; i++)
    out->x[3] += row[i] / 8.0;
  return true;
}

/* The feature of the rows that are asked for, in `feature`.  slope: of the lessons; here: of this
 * run's times, 0: none is told. */
static void test_taught(const tf_spec *s, double slope, double *feature, double here) {
  enum { N = 200, ASKED = 30 };
  static lesson_measured told[N];
  tf_diags *d = tf_diags_new();
  tune_space *space = tune_space_new(s->arch, s->workload, 2, isas, NULL, d);
  if (!CHECK(space)) return;
  tune_context w = {.s = space,
                    .arena = tf_arena_new(),
                    .rng = tf_rng_new(3, 3),
                    .model = first_decision,
                    .kernel = first_decision,
                    .lesson = told_by_row,
                    .ctx = space,
                    .n_prior = slope != 0 ? lessons_with(slope, 3, told, N) : 0,
                    .prior = told};
  void *state = tune_strategy_taught.make(&w);
  int32_t *row = TF_ARRAY(w.arena, int32_t, (size_t)space->space.n);
  if (!CHECK(state && row)) return;
  double last = 0;
  for (int k = 0; k < ASKED; k++) {
    lesson l;
    if (!CHECK(tune_strategy_taught.ask(state, row)) || !told_by_row(space, row, &l)) break;
    feature[k] = l.x[3];
    if (slope > 0 && here == 0)
      CHECK(k == 0 || l.x[3] >= last); /* the least first, as these take least */
    if (slope < 0 && here == 0) CHECK(k == 0 || l.x[3] <= last);
    last = l.x[3];
    if (here != 0) tune_strategy_taught.tell(state, row, 1e-6 * exp2(here * l.x[3]));
  }
  tf_arena_free(w.arena);
  tune_space_free(space);
  tf_diags_free(d);
}

/* Lessons give the order; without any, times of this run do; and they outweigh lessons that are
 * wrong here. */
static void test_teaching(const tf_spec *s) {
  double up[30], down[30], alone[30], wrong[30];
  test_taught(s, 1, up, 0);
  test_taught(s, -1, down, 0);
  CHECK(up[0] < down[0]);
  test_taught(s, 0, alone, 1);
  double rest = 0;
  for (int k = 20; k < 30; k++)
    rest += (alone[k] - alone[0]) / 10;
  CHECK(rest < 0); /* it has learned to go where the feature is small */
  test_taught(s, -0.2, wrong, 4);
  CHECK(wrong[0] == down[0]);
  CHECK(wrong[29] < wrong[0]);
}

/* Lessons of a store: those of the machine and compiler, and only what there was when a run first
 * asked. */
static void test_lessons(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  tf_arena *a = tf_arena_new();
  fake first = {0}, second = {0}, third = {0}, again = {0};
  const tf_tune_opts o = options("random", 16, store, &first),
                     o2 = options("taught", 16, store, &second);
  tf_tuned *t = tf_tune_run(s->arch, s->workload, &o, d);
  tune_store *db = tune_store_open(store, true, d);
  const tune_kernel here = {"test", "none", ""}, elsewhere = {"other", "none", ""};
  lesson_measured *told = NULL;
  int n = 0, ran = 0, later = 0, none = 1;
  for (int k = 0; t && k < t->n; k++)
    ran += t->trials[k].timing.verdict == TF_TUNE_RAN && !t->trials[k].same;
  const tune_run_key key = {"p", "w", "test", "none", "taught", "", 1};
  const int64_t run = db ? tune_store_run(db, &key, d) : -1;
  if (!CHECK(t && run >= 0)) return;
  CHECK(tune_store_lessons(db, run, &here, a, &n, &told, d));
  CHECK_I64(n, ran);
  for (int k = 0; k < n; k++)
    CHECK(told[k].log2_error < 0 && told[k].log2_error > -60 &&
          fabs(told[k].x[2] - log2(16 * 16 * 12)) < 1e-6 && told[k].workload >= told[0].workload);
  CHECK(n > 2 && told[n - 1].workload == told[0].workload + 1); /* two instruction sets */
  CHECK(tune_store_lessons(db, run, &elsewhere, a, &none, &told, d));
  CHECK_I64(none, 0);

  tf_tuned *u = tf_tune_run(s->arch, s->workload, &o2, d);
  CHECK(tune_store_lessons(db, run, &here, a, &later, &told, d));
  CHECK_I64(later, n);
  const tune_run_key next = {"p", "w", "test", "none", "taught", "", 2};
  CHECK(tune_store_lessons(db, tune_store_run(db, &next, d), &here, a, &later, &told, d));
  CHECK(later > n);
  tune_store_close(db);
  const tf_tune_opts o3 = options("random", 40, store, &third),
                     o4 = options("taught", 16, store, &again);
  tf_tuned_free(tf_tune_run(s->arch, s->workload, &o3, d));
  tf_tuned *v = tf_tune_run(s->arch, s->workload, &o4, d);
  check_same(u, v, __LINE__);
  CHECK_I64(again.calls, 0);
  if (!CHECK(tf_diags_errors(d) == 0)) puts(tf_diags_text(d));
  tf_tuned_free(t);
  tf_tuned_free(u);
  tf_tuned_free(v);
  tf_arena_free(a);
  tf_diags_free(d);
}

/* ---- P: every direction of a start, in order, before there is another start ----------------- */
static double any_cycles(void *ctx, const int32_t *row) {
  (void)ctx, (void)row;
  return 1;
}

static bool is_in(const int32_t *rows, int n, const int32_t *row, size_t width) {
  for (int k = 0; k < n; k++)
    if (!memcmp(&rows[(size_t)k * width], row, width * sizeof *row)) return true;
  return false;
}

/* Of four rows one is so much faster that a walk begins there: then come all of its neighbours that
 * are new. */
static void test_every(const tf_spec *s) {
  tf_diags *d = tf_diags_new();
  tune_space *space = tune_space_new(s->arch, s->workload, 2, isas, NULL, d);
  if (!CHECK(space)) return;
  tune_context w = {.s = space,
                    .arena = tf_arena_new(),
                    .rng = tf_rng_new(3, 3),
                    .model = any_cycles,
                    .ctx = NULL};
  w.kernel = any_cycles;
  const tune_strategy *way = tune_strategy_named("p");
  void *state = way ? way->make(&w) : NULL;
  const size_t width = (size_t)space->space.n;
  const int directions = tune_directions(space);
  int32_t *rows = calloc((size_t)(directions + 5) * width, sizeof *rows),
          *next = calloc(width, sizeof *next);
  int n = 0;
  if (!CHECK(state && rows && next)) return;
  for (; n < 4; n++)
    CHECK(way->ask(state, &rows[(size_t)n * width]));
  for (int k = 0; k < 4; k++)
    way->tell(state, &rows[(size_t)k * width], k == 2 ? 1e-9 : 1);
  for (int k = 0; k < directions; k++) {
    if (!tune_step(space, &rows[2 * width], k, &rows[(size_t)n * width])) continue;
    if (is_in(rows, n, &rows[(size_t)n * width], width)) continue;
    CHECK(way->ask(state, next));
    CHECK(!memcmp(next, &rows[(size_t)n * width], width * sizeof *next));
    way->tell(state, next, 1);
    n++;
  }
  CHECK(n > 4 + directions / 8);
  CHECK(way->ask(state, next)); /* of another start, or of lots */
  CHECK(!is_in(rows, n, next, width));
  free(rows);
  free(next);
  tf_arena_free(w.arena);
  tune_space_free(space);
  tf_diags_free(d);
}

int main(void) {
  char dir[] = "/tmp/test_tune_XXXXXX", store[64], text[64];
  tf_diags *d = tf_diags_new();
  tf_spec *s = spec_of(d);
  test_perceptron();
  test_trees();
  test_ridge();
  if (!CHECK(s && mkdtemp(dir))) return check_report();
  test_every(s);
  test_teaching(s);
  snprintf(store, sizeof store, "%s/a.db", dir);
  snprintf(text, sizeof text, "%s/b.db", dir);
  for (int k = 0; tf_tune_strategy(k, NULL); k++) {
    test_strategy(s, tf_tune_strategy(k, NULL), store);
    unlink(store);
  }
  test_lessons(s, store);
  unlink(store);
  test_known(s, store);
  unlink(store);
  test_confirmed(s, store);
  unlink(store);
  test_find(s, store);
  test_refused(s, store, text);
  unlink(store);
  unlink(text);
  check_earlier("tune-1.db", 8.01e-07, store);
  check_earlier("tune-2.db", 7.91e-07, store);
  rmdir(dir);
  tf_spec_free(s);
  tf_diags_free(d);
  return check_report();
}
