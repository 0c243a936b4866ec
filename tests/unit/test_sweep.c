/* Sweeps: conditions, scores, fronts, numbers of points, and that what is not solved changes no
 * front. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sha256.h"
#include "sweep/score.h"
#include "sweep/store/sweep_store.h"
#include "sweep/sweep_plan.h"
#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

/* ---- SHA-256: examples of FIPS 180-4 and NIST's, and lengths about a block ------------------ */
static void check_sha256(void) {
  static const struct {
    int line;
    const char *text, *want;
  } row[] = {
      {__LINE__, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {__LINE__, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {__LINE__, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {__LINE__,
       "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "opqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
  };
  char got[TF_SHA256_TEXT];
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    tf_sha256_text(row[i].text, strlen(row[i].text), got);
    check_text_at(got, row[i].want, __FILE__, row[i].line, "sha256");
  }
}

/* A million of 'a' (NIST). */
static void check_sha256_long(void) {
  enum { MANY = 1000000 };
  char *text = malloc(MANY), got[TF_SHA256_TEXT];
  if (!text) return;
  memset(text, 'a', MANY);
  tf_sha256_text(text, MANY, got);
  CHECK_TEXT(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(text);
}

/* ---- conditions ----------------------------------------------------------------------------- */
enum { A, B, NAME, NONE, N_NAMES };

/* 1 or 0: what it says with a = 3, b = 8, name = 'edge', none = NAN; -1: it is refused. */
static int holds(const char *text) {
  static const char *const names[N_NAMES] = {"a", "b", "name", "arch.none"};
  static const bool texts[N_NAMES] = {[NAME] = true};
  const sweep_value values[N_NAMES] = {{3, NULL}, {8, NULL}, {0, "edge"}, {NAN, NULL}};
  tf_diags *d = tf_diags_new();
  tf_arena *a = tf_arena_new();
  tf_reader r = {.arena = a, .diags = d};
  tf_ynode n = {.kind = TF_Y_SCALAR,
                .text = text,
                .len = strlen(text),
                .src = text,
                .src_end = text + strlen(text)};
  n.at = n.text_at = (tf_loc){tf_diags_add_file(d, "where", text, n.len), 1, 1, 1};
  sweep_expr *x = sweep_expr_read(&r, &n, &(sweep_names){N_NAMES, names, texts});
  int out = x ? sweep_expr_holds(x, values) : -1;
  if ((x == NULL) != (tf_diags_errors(d) > 0)) out = -2;
  tf_arena_free(a);
  tf_diags_free(d);
  return out;
}

static void check_conditions(void) {
  static const struct {
    int line;
    const char *text;
    int want;
  } row[] = {
      {__LINE__, "a < b", 1},
      {__LINE__, "a*a<=b", 0},
      {__LINE__, "a * a <= b + 1", 1},
      {__LINE__, "b / a == 8/3", 1},
      {__LINE__, "-a > -b and not a > b", 1},
      {__LINE__, "not (a > b or a == 3)", 0},
      {__LINE__, "a > b or a == 3 and b != 8", 0},
      {__LINE__, "(a > b or a == 3) and b != 8", 0},
      {__LINE__, "min(a, b) == 3 and max(a, b) == 8 and ceil(b / a) == 3 and floor(b / a) == 2", 1},
      {__LINE__, "name == 'edge' and name != \"cloud\"", 1},
      {__LINE__, "'edge' == name", 1},
      {__LINE__, "name == ''", 0},
      {__LINE__, "arch.none < 1 or arch.none >= 1 or arch.none == arch.none", 0},
      {__LINE__, "- - a == 3", 1},
      {__LINE__, "not not a == 3", 1},
      {__LINE__, "", -1},
      {__LINE__, "a", -1},
      {__LINE__, "a <", -1},
      {__LINE__, "a = 3", -1},
      {__LINE__, "a < b < 3", -1},
      {__LINE__, "name < 'a'", -1},
      {__LINE__, "name + 1 < 3", -1},
      {__LINE__, "name == 3", -1},
      {__LINE__, "c == 3", -1},
      {__LINE__, "arch == 3", -1},
      {__LINE__, "((a == 3)", -1},
      {__LINE__, "a == 3)", -1},
      {__LINE__, "min(a) == 3", -1},
      {__LINE__, "a == 'x", -1},
      {__LINE__, "a == 3 and b", -1},
      {__LINE__, "a == 3 nor b == 2", -1},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
    check_i64_at(holds(row[i].text), row[i].want, __FILE__, row[i].line, row[i].text);
  char deep[4000];
  memset(deep, '(', 2000);
  strcpy(deep + 2000, "a");
  CHECK(holds(deep) == -1);
  memset(deep, '-', 2000);
  CHECK(holds(deep) == -1);
}

/* ---- scores --------------------------------------------------------------------------------- */
enum { WORKS = 6 };

typedef struct {
  tf_sweep_file workloads[WORKS];
  int64_t numbers[WORKS];
  double figures[WORKS][TF_N_GOALS], bounds[WORKS][TF_N_GOALS];
  uint8_t state[WORKS];
  tf_sweep_grid grid;
  sweep_jobs jobs;
} scored;

static void draw_scored(tf_rng *rng, scored *s) {
  memset(s, 0, sizeof *s);
  for (int i = 0; i < WORKS; i++) {
    s->numbers[i] = i;
    s->workloads[i].weight = 1 + tf_rng_below(rng, 5);
    s->state[i] = 1 + TF_POINT_FOUND;
    for (int k = 0; k < TF_N_GOALS; k++) {
      s->figures[i][k] = ldexp(1 + tf_rng_unit(rng), (int)tf_rng_below(rng, 60));
      s->bounds[i][k] =
          tf_rng_below(rng, 3) ? s->figures[i][k] : s->figures[i][k] * tf_rng_unit(rng);
    }
  }
  s->grid = (tf_sweep_grid){.n_goals = 2,
                            .goals = {TF_GOAL_CYCLES, TF_GOAL_ENERGY},
                            .geometric = tf_rng_below(rng, 2),
                            .n_workloads = WORKS,
                            .workloads = s->workloads,
                            .n_machines = 1,
                            .n_archs = 1,
                            .n_cases = WORKS,
                            .n_jobs = WORKS,
                            .jobs = s->numbers};
  s->jobs = (sweep_jobs){s->figures, s->bounds, s->state};
}

static void check_scores(void) {
  tf_rng rng = tf_rng_new(1, 0);
  for (int round = 0; round < 300; round++) {
    scored s;
    double score[TF_N_GOALS], bound[TF_N_GOALS];
    long double sum = 0, weights = 0;
    draw_scored(&rng, &s);
    sweep_score(&s.grid, &s.jobs, score, bound);
    for (int i = 0; i < WORKS; i++) {
      double x = s.figures[i][TF_GOAL_ENERGY], w = s.workloads[i].weight;
      sum += (long double)w * (s.grid.geometric ? logl((long double)x) : (long double)x);
      weights += (long double)w;
    }
    if (s.grid.geometric)
      CHECK(fabs(score[TF_GOAL_ENERGY] / (double)expl(sum / weights) - 1) < 1e-12);
    else
      CHECK(score[TF_GOAL_ENERGY] == (double)sum);
    for (int k = 0; k < TF_N_GOALS; k++)
      CHECK(bound[k] <= score[k]);
    s.figures[round % WORKS][TF_GOAL_ENERGY] = s.bounds[round % WORKS][TF_GOAL_ENERGY] = 0;
    sweep_score(&s.grid, &s.jobs, score, bound);
    CHECK(s.grid.geometric ? score[TF_GOAL_ENERGY] == 0 && bound[TF_GOAL_ENERGY] == 0
                           : score[TF_GOAL_ENERGY] > 0);
    s.state[round % WORKS] = 1 + TF_POINT_NONE;
    sweep_score(&s.grid, &s.jobs, score, bound);
    CHECK(isnan(score[TF_GOAL_CYCLES]) && bound[TF_GOAL_CYCLES] > 0);
  }
}

/* The same numbers as pairs of all: who is not beaten by another. */
static void check_fronts(void) {
  enum { N = 60 };
  tf_rng rng = tf_rng_new(2, 0);
  tf_sweep_grid g = {.n_goals = 3, .goals = {TF_GOAL_CYCLES, TF_GOAL_ENERGY, TF_GOAL_AREA}};
  for (int round = 0; round < 50; round++) {
    double v[N][TF_N_GOALS] = {{0}};
    sweep_front f = {0};
    bool in[N] = {false};
    for (int i = 0; i < N; i++) {
      for (int k = 0; k < g.n_goals; k++)
        v[i][g.goals[k]] = 1 + tf_rng_below(&rng, 6);
      if (i % 20 == 0) v[i][TF_GOAL_AREA] = NAN;
    }
    for (int i = N - 1; i >= 0; i--) /* in any order */
      sweep_front_add(&g, &f, v[(i * 7) % N], (i * 7) % N);
    for (int i = 0; i < f.n; i++)
      in[f.no[i]] = true;
    for (int i = 0; i < N; i++) {
      bool beaten = isnan(v[i][TF_GOAL_AREA]);
      for (int k = 0; k < N; k++)
        beaten |= k != i && sweep_beats(&g, v[k], k, v[i], i);
      CHECK(in[i] == !beaten);
    }
    sweep_front_free(&f);
  }
}

/* Whether one of all machines is near enough to these bounds: the front knows. */
static void check_covers(void) {
  enum { N = 40 };
  tf_rng rng = tf_rng_new(5, 0);
  int yes = 0, no = 0;
  for (int round = 0; round < 200; round++) {
    tf_sweep_grid g = {
        .n_goals = 3, .goals = {TF_GOAL_CYCLES, TF_GOAL_ENERGY, TF_GOAL_AREA}, .within = 0.1};
    double v[N][TF_N_GOALS] = {{0}}, bound[TF_N_GOALS] = {0};
    sweep_front f = {0};
    bool covered = false;
    for (int k = 0; k < g.n_goals; k++)
      bound[g.goals[k]] = 10 + tf_rng_below(&rng, 20);
    for (int i = 0; i < N; i++) {
      for (int k = 0; k < g.n_goals; k++)
        v[i][g.goals[k]] = 10 + tf_rng_below(&rng, 40);
      covered |= v[i][TF_GOAL_CYCLES] <= 1.1 * bound[TF_GOAL_CYCLES] &&
                 v[i][TF_GOAL_ENERGY] <= 1.1 * bound[TF_GOAL_ENERGY] &&
                 v[i][TF_GOAL_AREA] <= bound[TF_GOAL_AREA];
      sweep_front_add(&g, &f, v[i], i);
    }
    CHECK(sweep_front_covers(&g, &f, bound) == covered);
    *(covered ? &yes : &no) += 1;
    g.within = 0;
    CHECK(!sweep_front_covers(&g, &f, bound));
    sweep_front_free(&f);
  }
  CHECK(yes > 20 && no > 20);
}

/* ---- whole sweeps --------------------------------------------------------------------------- */
static const char arch_text[] =
    "params: {side: 4, kib: 8, dram: 2}\n"
    "architecture:\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: dram}\n"
    "  - {name: L1, capacity: kib KiB, bandwidth: {read: 64, write: 64}}\n"
    "  compute:\n"
    "  - {name: mac, ops: [mac], mesh: [side, side]}\n";
static const char work_text[] = "params: {rows: 16}\n"
                                "workload:\n"
                                "  dims: {m: rows, n: 16, k: 16}\n"
                                "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n";

typedef struct {
  char dir[32], paths[3][64], store[64];
  tf_diags *d;
  tf_sweep *s;
} folder;

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  fputs(text, f);
  fclose(f);
}

/* A folder with the two files, and the sweep of this text. */
static bool begin(folder *f, const char *text) {
  static const char *const names[] = {"sweep.yaml", "arch.yaml", "work.yaml"};
  const char *const texts[] = {text, arch_text, work_text};
  strcpy(f->dir, "/tmp/test-sweep-XXXXXX");
  if (!mkdtemp(f->dir)) exit(2);
  for (int i = 0; i < 3; i++) {
    snprintf(f->paths[i], sizeof f->paths[i], "%s/%s", f->dir, names[i]);
    write_file(f->paths[i], texts[i]);
  }
  snprintf(f->store, sizeof f->store, "%s/store.tfdb", f->dir);
  const char *path = f->paths[0];
  f->d = tf_diags_new();
  f->s = tf_sweep_read(&path, 1, NULL, 0, f->d);
  char *said = tf_diags_text(f->d);
  if (!f->s) printf("%s", said ? said : "");
  free(said);
  return CHECK(f->s != NULL);
}

static void end(folder *f) {
  for (int i = 0; i < 3; i++)
    unlink(f->paths[i]);
  unlink(f->store);
  rmdir(f->dir);
  tf_sweep_free(f->s);
  tf_diags_free(f->d);
}

/* Runs it into a new store, or on in an old one, and scores all machines. */
static tf_sweep_summary *run(folder *f, bool anew, const tf_sweep_opts *o) {
  if (anew) unlink(f->store);
  tf_store *st = tf_store_of(f->store, f->s, f->d);
  bool ok = st && tf_sweep_run(f->s, st, o, NULL, f->d);
  tf_sweep_summary *out = ok ? tf_sweep_summary_of(st, f->d) : NULL;
  char *said = tf_diags_text(f->d);
  if (!CHECK(out != NULL)) printf("%s", said ? said : "");
  free(said);
  tf_store_close(st);
  return out;
}

/* Whether a machine of the front has no more area and at most that factor more of the rest. */
static bool stands_for(const tf_sweep_summary *front, const tf_sweep_grid *g, const double *score,
                       double factor) {
  for (int64_t i = 0; i < front->n; i++) {
    const tf_sweep_machine *m = &front->machines[i];
    bool near = m->front;
    for (int k = 0; near && k < g->n_goals; k++)
      near =
          m->score[g->goals[k]] <= score[g->goals[k]] * (g->goals[k] == TF_GOAL_AREA ? 1 : factor);
    if (near) return true;
  }
  return false;
}

/* What is skipped is not on the front of all, and that front is no worse: mappings found on more
 * machines can only be better. */
static void no_worse_front(const tf_sweep_summary *few, const tf_sweep_summary *all,
                           const tf_sweep_grid *g) {
  CHECK_I64(few->n, all->n);
  for (int64_t i = 0; i < few->n && i < all->n; i++) {
    const tf_sweep_machine *m = &few->machines[i];
    CHECK(m->machine == all->machines[i].machine);
    if (isnan(m->score[g->goals[0]])) CHECK(!all->machines[i].front);
    if (m->front) CHECK(stands_for(all, g, m->score, 1));
  }
}

/* No machine has less than its bounds say, and the skipped ones have bounds that a result beats. */
static void check_bounds(const tf_sweep_summary *s, const tf_sweep_grid *g) {
  for (int64_t i = 0; i < s->n; i++)
    for (int k = 0; k < g->n_goals; k++) {
      double score = s->machines[i].score[g->goals[k]];
      CHECK(isnan(score) || s->machines[i].bound[g->goals[k]] <= score);
    }
}

/* The rows of two stores of one sweep are the same. */
static void same_machines(const tf_sweep_summary *a, const tf_sweep_summary *b,
                          const tf_sweep_grid *g) {
  CHECK_I64(a->n, b->n);
  CHECK_I64(a->improved, b->improved);
  for (int64_t i = 0; i < a->n && i < b->n; i++)
    for (int k = 0; k < g->n_goals; k++)
      CHECK(a->machines[i].score[g->goals[k]] == b->machines[i].score[g->goals[k]]);
}

/* Where bounds are met, most machines need not be solved; a full run finds the same on in that
 * store and in a new one.
 */
static void check_skipping(const char *method, const char *more) {
  folder f;
  char text[600];
  snprintf(text, sizeof text,
           "sweep:\n  method: %s\n  architectures: arch.yaml\n  workloads: work.yaml\n"
           "  objectives: [cycles, area]\n"
           "  over:\n    side: [1, 2, 4, 8]\n    kib: [1, 4]\n    dram: [1, 2, 4]\n"
           "    rows: [8, 16]\n%s",
           method, more);
  if (!begin(&f, text)) return;
  const tf_sweep_grid *g = tf_sweep_grid_of(f.s);
  tf_sweep_summary *few = run(&f, true, &(tf_sweep_opts){.threads = 2});
  tf_sweep_summary *on = run(&f, false, &(tf_sweep_opts){.threads = 1, .full = true});
  tf_sweep_summary *all = run(&f, true, &(tf_sweep_opts){.threads = 3, .full = true});
  if (few && on && all) {
    CHECK_I64(g->n_machines, 24);
    CHECK_I64(few->points, 48);
    CHECK(few->by_state[TF_POINT_SKIPPED] > 0 && few->skipped > 0);
    CHECK_I64(all->by_state[TF_POINT_SKIPPED], 0);
    CHECK_I64(on->by_state[TF_POINT_SKIPPED], 0);
    no_worse_front(few, all, g);
    same_machines(on, all, g);
    check_bounds(all, g);
    CHECK_I64(few->skipped + few->beaten + few->open + few->n_front, few->n);
  }
  tf_sweep_summary_free(few);
  tf_sweep_summary_free(on);
  tf_sweep_summary_free(all);
  end(&f);
}

/* What the view says of a point is what tf_sweep_place_of says. */
static void check_view(void) {
  folder f;
  if (!begin(&f, "sweep:\n  method: bound\n  architectures: arch.yaml\n"
                 "  workloads: [{files: work.yaml, weight: 2}]\n"
                 "  over:\n    side: [1, 2, 3]\n    rows: [4, 8]\n    kib: [1, 2, 3]\n"
                 "    dram: {from: 1, to: 4, times: 2}\n"
                 "  zip: [side, kib]\n  where: [side * dram < 8, rows > 4]\n"))
    return;
  tf_sweep_summary *s = run(&f, true, &(tf_sweep_opts){.threads = 1});
  tf_store *st = tf_store_open(f.store, f.d);
  const tf_sweep_grid *g = st ? tf_store_grid(st) : NULL;
  bool failed = false;
  int64_t rows = 0;
  sqlite3_stmt *q =
      st ? tf_db_prepare(&st->db, "SELECT point, side, kib, dram, rows FROM points", f.d) : NULL;
  while (q && tf_db_step(&st->db, q, &failed, f.d)) {
    tf_sweep_place p = tf_sweep_place_of(g, sqlite3_column_int64(q, 0));
    double side = sqlite3_column_double(q, 1), dram = sqlite3_column_double(q, 3);
    CHECK(side == g->axes[0].values[2 * p.at[0]] && sqlite3_column_double(q, 2) == side);
    CHECK(dram == g->axes[2].values[p.at[2]] && side * dram < 8);
    CHECK(sqlite3_column_double(q, 4) == 8 && p.at[1] == 1);
    rows++;
  }
  sqlite3_finalize(q);
  CHECK(!failed && s);
  CHECK_I64(rows, 7);
  if (s) CHECK_I64(s->points, rows);
  tf_store_close(st);
  tf_sweep_summary_free(s);
  end(&f);
}

/* With `within` fewer machines are solved, and the front stands for all that a full run finds. */
static void check_within(void) {
  folder f;
  int64_t skipped[2] = {0};
  for (int near = 0; near < 2; near++) {
    char text[500];
    snprintf(text, sizeof text,
             "sweep:\n  method: closed\n  within: %s\n  architectures: arch.yaml\n"
             "  workloads: work.yaml\n"
             "  objectives: [cycles, area]\n"
             "  over: {side: [1, 2, 4, 8], kib: {from: 1, to: 16, step: 1}, dram: [2, 4]}\n",
             near ? "0.1" : "0");
    if (!begin(&f, text)) return;
    const tf_sweep_grid *g = tf_sweep_grid_of(f.s);
    tf_sweep_summary *few = run(&f, true, &(tf_sweep_opts){.threads = 2});
    tf_sweep_summary *all = run(&f, true, &(tf_sweep_opts){.threads = 1, .full = true});
    if (few && all) {
      skipped[near] = few->skipped;
      CHECK_I64(all->skipped, 0);
      for (int64_t i = 0; i < all->n; i++)
        if (!isnan(all->machines[i].score[TF_GOAL_CYCLES]))
          CHECK(stands_for(few, g, all->machines[i].score, 1 + g->within));
    }
    tf_sweep_summary_free(few);
    tf_sweep_summary_free(all);
    end(&f);
  }
  CHECK(skipped[1] > skipped[0]);
}

/* ---- exchange ------------------------------------------------------------------------------- */
/* A machine whose params all are at least those of another is no slower. */
static int64_t check_law(const tf_sweep_summary *s, const tf_sweep_grid *g) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < s->n; i++)
    for (int64_t k = 0; k < s->n; k++) {
      const tf_sweep_place a = tf_sweep_place_of(g, s->machines[i].machine * g->n_cases);
      const tf_sweep_place b = tf_sweep_place_of(g, s->machines[k].machine * g->n_cases);
      bool larger = i != k;
      for (int x = 0; x < g->n_axes; x++)
        larger &= b.at[x] >= a.at[x];
      if (!larger || isnan(s->machines[i].score[TF_GOAL_CYCLES])) continue;
      pairs++;
      CHECK(s->machines[k].score[TF_GOAL_CYCLES] <= s->machines[i].score[TF_GOAL_CYCLES]);
    }
  return pairs;
}

/* Searches of few mappings miss much; what one machine found serves the others. */
static void check_exchange(void) {
  folder f;
  if (!begin(&f, "sweep:\n  method: search\n  architectures: arch.yaml\n  workloads: work.yaml\n"
                 "  objectives: [cycles, energy]\n  budget: {evals: 12}\n"
                 "  over: {rows: [96], side: [2, 3, 4], kib: [1, 2, 3, 5, 8], dram: [1, 2, 3]}\n"))
    return;
  const tf_sweep_grid *g = tf_sweep_grid_of(f.s);
  tf_sweep_summary *s = run(&f, true, &(tf_sweep_opts){.threads = 2, .full = true});
  tf_sweep_summary *again = run(&f, false, &(tf_sweep_opts){.threads = 1, .full = true});
  if (s && again) {
    CHECK(s->improved > 0);
    CHECK(check_law(s, g) > 100);
    same_machines(s, again, g);
  }
  tf_sweep_summary_free(s);
  tf_sweep_summary_free(again);
  end(&f);
}

/* ---- damage --------------------------------------------------------------------------------- */
typedef struct {
  char *at;
  size_t n;
} bytes;

static bytes read_bytes(const char *path) {
  bytes b = {NULL, 0};
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) exit(2);
  b.n = (size_t)ftell(f);
  b.at = malloc(b.n);
  rewind(f);
  if (!b.at || fread(b.at, 1, b.n, f) != b.n) exit(2);
  fclose(f);
  return b;
}

/* A text of all that results gives of a store; "" if it is refused.  The caller frees it. */
static bool print_row(void *ctx, const tf_sweep_row *r) {
  FILE *out = ctx;
  fprintf(out, "%lld %d %d %lld %s %s %lld", (long long)r->point, (int)r->state, r->proved,
          (long long)r->evals, r->bottleneck ? r->bottleneck : "-", r->message ? r->message : "-",
          (long long)r->mapping_of);
  for (int k = 0; k < TF_N_GOALS; k++)
    fprintf(out, " %a %a", r->figures[k], r->bounds[k]);
  return true;
}

static char *all_of(const char *path) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  tf_diags *d = tf_diags_new();
  tf_store *s = out && d ? tf_store_open(path, d) : NULL;
  if (s) tf_store_rows(s, print_row, out, d);
  for (int64_t p = 0; s && p < tf_store_grid(s)->n_machines * tf_store_grid(s)->n_cases; p++) {
    char *mapping = tf_store_mapping(s, p, d);
    fprintf(out, "%s", mapping ? mapping : "-");
    free(mapping);
  }
  const bool refused = !s || tf_diags_errors(d) > 0;
  tf_store_close(s);
  tf_diags_free(d);
  fclose(out);
  if (refused) text[0] = '\0';
  return text;
}

/* A store with one bit changed is refused, or that bit is of no row. */
static void check_flips(void) {
  folder f;
  if (!begin(&f, "sweep:\n  method: closed\n  architectures: arch.yaml\n  workloads: work.yaml\n"
                 "  over: {side: [1, 2, 3, 4], kib: [1, 2]}\n"))
    return;
  tf_sweep_summary_free(run(&f, true, &(tf_sweep_opts){.threads = 1}));
  char *whole = all_of(f.store);
  bytes b = read_bytes(f.store);
  tf_rng rng = tf_rng_new(11, 0);
  int refused = 0;
  CHECK(whole[0] != '\0');
  for (int round = 0; round < 400; round++) {
    const size_t at = tf_rng_below(&rng, (uint32_t)b.n);
    const char bit = (char)(1 << tf_rng_below(&rng, 8));
    FILE *out = fopen(f.store, "wb");
    b.at[at] ^= bit;
    if (!out || fwrite(b.at, 1, b.n, out) != b.n || fclose(out) != 0) exit(2);
    b.at[at] ^= bit;
    char *now = all_of(f.store);
    refused += now[0] == '\0';
    if (!CHECK(now[0] == '\0' || !strcmp(now, whole))) printf("byte %zu, bit %d\n", at, bit);
    free(now);
  }
  CHECK(refused > 0);
  free(b.at);
  free(whole);
  end(&f);
}

/* Decisions look back only, and further the further a sweep is. */
static void check_horizon(void) {
  sweep_plan p = {.prune = true};
  for (int64_t i = 0; i < 5000; i++) {
    int64_t h = sweep_plan_horizon(&p, i);
    CHECK(h >= 0 && (h < i || h == 0) && h <= sweep_plan_horizon(&p, i + 1));
  }
  CHECK_I64(sweep_plan_horizon(&p, 4000), 3000);
}

int main(void) {
  check_sha256();
  check_sha256_long();
  check_conditions();
  check_scores();
  check_fronts();
  check_covers();
  check_horizon();
  check_view();
  check_skipping("solve", "  budget: {evals: 300}\n");
  check_skipping("search", "  budget: {evals: 100}\n  score: geometric-mean\n");
  check_skipping("closed", "");
  check_within();
  check_exchange();
  check_flips();
  return check_report();
}
