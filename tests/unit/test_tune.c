/* Tuning with a measurer that is a function of the kernel's text: strategies, verdicts, the store, runs that are ended
 * and gone on with; and what learns. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/db/db.h"
#include "tests/unit/check.h"
#include "tileflow/tileflow.h"
#include "tune/learn/net.h"
#include "tune/learn/trees.h"
#include "tune/way/way.h"

static const char spec_text[] =
    "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L2, capacity: 600}\n  - {name: L1, capacity: 120}\n"
    "  compute:\n  - {name: fma, ops: [mac, add, mul, sub, div, max, exp, relu, select], below: L1, mesh: [8, 2]}\n"
    "workload:\n  name: gemm\n  dims: {m: 16, n: 16, k: 12}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n";

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
  return (tf_tune_opts){.strategy = strategy,
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
  return a->no == b->no && !strcmp(a->text, b->text) && !strcmp(a->mapping, b->mapping) && !strcmp(a->isa, b->isa) &&
         a->timing.verdict == b->timing.verdict && a->timing.seconds == b->timing.seconds && a->same == b->same &&
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
    CHECK(x->timing.verdict != TF_TUNE_RAN || x->timing.seconds >= t->trials[t->best].timing.seconds);
    for (int j = 0; j < k; j++)
      CHECK(strcmp(x->text, t->trials[j].text) != 0);
  }
}

/* A run without an end, the same again, and one in a store that ends in the middle of it and is gone on with. */
static void test_strategy(const tf_spec *s, const char *name, const char *store) {
  enum { TRIALS = 24 };
  tf_diags *d = tf_diags_new();
  fake once = {0}, again = {0}, cut = {0}, rest = {0};
  const tf_tune_opts o = options(name, TRIALS, NULL, &once), o2 = options(name, TRIALS, NULL, &again);
  tf_tuned *a = tf_tune_run(s->arch, s->workload, &o, d), *b = tf_tune_run(s->arch, s->workload, &o2, d);
  if (!CHECK(a && b)) puts(tf_diags_text(d));
  if (a) check_trials(a, TRIALS + 1);
  check_same(a, b, __LINE__);
  CHECK_I64(once.measured, again.measured);

  cut.most = once.measured / 2;
  const tf_tune_opts first = options(name, TRIALS, store, &cut), second = options(name, TRIALS, store, &rest);
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

/* A second strategy measures none of the kernels that the first one did; on another machine, or built by another
 * compiler, it measures them all. */
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

/* ---- the end of a run: a clock that misleads ------------------------------------------------------ */
static double true_seconds(const tf_emitted *e) { return 1e-3 * (1 + (double)(hash(e) % 1000) / 1000); }

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

/* The best is the one with the least true time of the four, three of them the fastest by the clock, the other the
 * first choice; returns that time. */
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
    faster += !t->trials[k].same && !(t->trials[k].confirmed > 0) && t->trials[k].timing.seconds < slowest;
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

/* A run that is ended while it confirms, goes on, and is begun once more; then other strategies in the same store. */
static void test_confirmed(const tf_spec *s, const char *store) {
  tf_diags *d = tf_diags_new();
  fake cut = {.most = 1}, rest = {0}, again = {0}, none = {0};
  const tf_tune_opts first = misled("random", store, &cut), second = misled("random", store, &rest),
                     third = misled("random", store, &again);
  CHECK(!tf_tune_run(s->arch, s->workload, &first, d) && tf_diags_errors(d) == 0);
  tf_tuned *a = tf_tune_run(s->arch, s->workload, &second, d), *b = tf_tune_run(s->arch, s->workload, &third, d);
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
  static const tf_db_kind any = {"store", 0x5446544e, 2, 1000};
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
  change(store, "UPDATE trial SET verdict = 'ran', seconds = 1e-9, schedule = 'form whole\nchoose kernel.tile 3\n'"
                " WHERE no = 0 AND run = (SELECT id FROM run WHERE strategy = 'sa')");
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
  CHECK(!tf_tune_find(store, &(tf_tune_asked){"another", NULL}, s->arch, s->workload, &best, d) && !best.mapping);
  CHECK(!tf_tune_find(store, &(tf_tune_asked){"test", "bf16"}, s->arch, s->workload, &best, d) && !best.mapping);
  CHECK(tf_diags_errors(d) == 0);
  tf_diags_free(d);
}

/* ---- stores that cannot be used ---------------------------------------------------------------- */
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
  change(store, "UPDATE trial SET schedule = 'form whole' WHERE no = 3");
  check_refused(s, store, "is not what the strategy asks for", __LINE__);
  change(store, "UPDATE trial SET verdict = 'perhaps' WHERE no = 2");
  check_refused(s, store, "is damaged: a trial", __LINE__);
  change(store, "DELETE FROM trial WHERE no = 2");
  check_refused(s, store, "one is missing before it", __LINE__);
  mark(store, "PRAGMA user_version = 9");
  check_refused(s, store, "a newer version: format 9, this one reads up to 2", __LINE__);
  mark(store, "PRAGMA application_id = 7");
  check_refused(s, store, "is a database, but no store of a tuning", __LINE__);
  FILE *f = fopen(text, "w");
  if (f) fputs("no database, only some text that is long enough to be read as one, and longer still than that\n", f);
  if (f) fclose(f);
  check_refused(s, text, "is no store of a tuning, or is damaged", __LINE__);
}

/* ---- what learns ------------------------------------------------------------------------------- */
static void test_net(void) {
  tf_arena *a = tf_arena_new();
  tf_rng rng = tf_rng_new(2, 2);
  net *n = net_new(a, 2, &rng);
  double loss = 0;
  CHECK(net_ask(n, (double[]){1, 1}) == 0);
  for (int k = 0; k < 6000; k++) { /* "one of both" */
    const double in[2] = {tf_rng_below(&rng, 2), tf_rng_below(&rng, 2)};
    loss = net_teach(n, in, in[0] != in[1]);
  }
  CHECK(loss < 0.1);
  for (int k = 0; k < 4; k++) {
    const double in[2] = {k & 1, k >> 1};
    CHECK(fabs(net_ask(n, in) - (in[0] != in[1])) < 0.3);
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

/* ---- P: every direction of a start, in order, before there is another start ------------------------ */
static double any_cycles(void *ctx, const int32_t *row) {
  (void)ctx, (void)row;
  return 1;
}

static bool is_in(const int32_t *rows, int n, const int32_t *row, size_t width) {
  for (int k = 0; k < n; k++)
    if (!memcmp(&rows[(size_t)k * width], row, width * sizeof *row)) return true;
  return false;
}

/* Of four rows one is so much faster that a walk begins there: then come all of its neighbours that are new. */
static void test_every(const tf_spec *s) {
  tf_diags *d = tf_diags_new();
  tune_space *space = tune_space_new(s->arch, s->workload, 2, isas, NULL, d);
  if (!CHECK(space)) return;
  tune_world w = {.s = space, .arena = tf_arena_new(), .rng = tf_rng_new(3, 3), .model = any_cycles, .ctx = NULL};
  w.kernel = any_cycles;
  const tune_way *way = tune_way_named("p");
  void *state = way ? way->make(&w) : NULL;
  const size_t width = (size_t)space->space.n;
  const int directions = tune_directions(space);
  int32_t *rows = calloc((size_t)(directions + 5) * width, sizeof *rows), *next = calloc(width, sizeof *next);
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
  test_net();
  test_trees();
  if (!CHECK(s && mkdtemp(dir))) return check_report();
  test_every(s);
  snprintf(store, sizeof store, "%s/a.db", dir);
  snprintf(text, sizeof text, "%s/b.db", dir);
  for (int k = 0; tf_tune_strategy(k, NULL); k++) {
    test_strategy(s, tf_tune_strategy(k, NULL), store);
    unlink(store);
  }
  test_known(s, store);
  unlink(store);
  test_confirmed(s, store);
  unlink(store);
  test_find(s, store);
  test_refused(s, store, text);
  unlink(store);
  unlink(text);
  rmdir(dir);
  tf_spec_free(s);
  tf_diags_free(d);
  return check_report();
}
