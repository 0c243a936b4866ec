/* The strategies of `tune` on a whole space of schedules whose kernels were timed beforehand.
 *
 *     tune_ways CASE FILE... [--set NAME=VALUE]... [--constraints FILE] --list FOLDER
 *     tune_ways CASE FILE... [--set NAME=VALUE]... [--constraints FILE] --table FILE [--strategy
 * NAME] [--seeds N] tune_ways CASE FILE... [--set NAME=VALUE]... [--constraints FILE] --table FILE
 * --teach yes
 *
 * FILE, --set and --constraints as tune has them; CASE: the first column of what is written to
 * stdout as CSV.
 * --isa NAME: the instruction set, avx512 if it is not given.
 * --sample N: in place of the whole space N of its schedules, drawn one by one, the same ones each
 * time; the strategies have these alone.  A step leads to that of them which has most of what the
 * step changes, and of those to the nearest (by how many decisions differ); a child becomes the
 * nearest that is neither parent.
 *
 * --list FOLDER: every schedule of the space that fits: case, digest of its text, number of its
 * kernel.  Schedules of the same kernel have one number; its files are put into FOLDER/NUMBER.
 * --table FILE: the same rows with microseconds as fourth column (bench/operators/tables.py
 * measures them).  Rows are case, strategy, k, best, near, seeds: after k different kernels the
 * geometric mean over the seeds of the best found over the table's best, and how many seeds are
 * within 5 % of that, where their runs end.  Of a schedule that the table lacks nothing is known,
 * and the run ends with status 1.
 * --lessons FILE: what --teach wrote of other cases; for the strategy `taught`, which without it
 * begins untaught.
 * --teach yes: of each kernel of the table, by the schedule of which least is predicted: case,
 * digest, microseconds, predicted cycles, and its features (tune/learn/lesson.h). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "search/strategy/strategy.h"
#include "tileflow/tileflow.h"
#include "tune/run/confirm.h"
#include "tune/strategy/tune_strategy.h"

enum {
  WAYS = 7,
  SEEDS_MOST = 50,
  KERNELS = 100,
  BATCH = 4,
  FILES = 8,
  SETTINGS = 16,
  DIGEST = 8,
  SCHEDULES = 1 << 16
};
static const char *const names[WAYS] = {"sa-q", "p", "sa", "cga", "random", "model", "taught"};
static const char *isas[] = {"avx512"};
static const double NEAR = 1.05; /* of the best */

typedef struct {
  char schedule[DIGEST + 1];
  int kernel;
  double us;
} entry;

/* Schedules drawn from a space. */
typedef struct {
  int n, at;
  int32_t *row;            /* [n][space.n] */
  double *cycles, *kernel; /* [n] what is predicted, 0: not asked for yet */
} sample;

/* What is asked for, and what is known of it. */
typedef struct {
  const char *what, *folder, *table, *strategy; /* strategy: this one alone; NULL: all */
  const char *teach, *lessons;
  int n_before;
  lesson_measured *before; /* [n_before] what the file of lessons has */
  tf_text constraints;
  tf_spec *spec;
  tf_diags *d;
  int seeds;
  int sample; /* 0: the whole space */
  sample only;
  int n;
  entry *at;    /* [n] of the table, or of the list */
  double least; /* of the table */
  bool lacking;
} job;

/* ---- the model's predictions ----------------------------------------------------------------- */
static double model(void *ctx, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(ctx, row);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r;
  const double cycles = m && tf_model_eval(m, NULL, &r) && r.feasible ? r.cycles : INFINITY;
  tf_model_free(m);
  tf_tree_free(t);
  tf_diags_free(d);
  return cycles;
}

static double kernel(void *ctx, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(ctx, row);
  const tf_emit_options o = {.isa = isas[0], .choices = tune_choices(ctx, row)};
  const double inner = t ? tf_emit_cycles(t, NULL, &o, d) : -1;
  tf_tree_free(t);
  tf_diags_free(d);
  return inner < 0 ? INFINITY : model(ctx, row) + inner;
}

static bool lesson_of_row(void *ctx, const int32_t *row, lesson *out) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(ctx, row);
  const tf_emit_options o = {.isa = isas[0], .choices = tune_choices(ctx, row)};
  const bool ok = t && lesson_of(t, &o.choices, tf_emit_cycles(t, NULL, &o, d), out);
  tf_tree_free(t);
  tf_diags_free(d);
  return ok;
}

static void digest_of(const tune_space *s, const int32_t *row, char out[DIGEST + 1]) {
  char whole[TF_SHA256_TEXT] = "";
  char *text = tune_trace(s, row);
  if (text) tf_sha256_text(text, strlen(text), whole);
  memcpy(out, whole, DIGEST);
  out[DIGEST] = 0;
  free(text);
}

static int by_schedule(const void *a, const void *b) {
  return strcmp(((const entry *)a)->schedule, ((const entry *)b)->schedule);
}

/* The schedule's row of the table; NULL: it has none. */
static const entry *look_up(const job *j, const tune_space *s, const int32_t *row) {
  entry key;
  digest_of(s, row, key.schedule);
  return bsearch(&key, j->at, (size_t)j->n, sizeof key, by_schedule);
}

/* ---- a sample of the space ------------------------------------------------------------------ */
static const int32_t *sampled(const tf_space *s, int k) {
  const sample *x = s->ctx;
  return &x->row[(size_t)k * (size_t)s->n];
}

static bool is_same(const tf_space *s, const int32_t *a, const int32_t *b) {
  return !memcmp(a, b, (size_t)s->n * sizeof *a);
}

/* The sample, of different schedules that fit; fewer than asked for where the space has not so
 * many.  False: out of memory. */
static bool draw_sample(const job *j, tune_space *s, sample *x) {
  enum { TRIES = 20 };
  tf_rng rng = tf_rng_new(1, 0x73616d70);
  const size_t width = (size_t)s->space.n;
  *x = (sample){.row = calloc((size_t)j->sample * width + 1, sizeof *x->row),
                .cycles = calloc((size_t)j->sample, sizeof *x->cycles),
                .kernel = calloc((size_t)j->sample, sizeof *x->kernel)};
  s->space.ctx = x;
  if (!x->row || !x->cycles || !x->kernel) return false;
  for (int tries = 0; x->n < j->sample && tries < TRIES * j->sample; tries++) {
    if (!tf_space_random(&s->space, &rng) || !isfinite(model(s, s->space.chosen))) continue;
    int k = 0;
    while (k < x->n && !is_same(&s->space, sampled(&s->space, k), s->space.chosen))
      k++;
    if (k == x->n) memcpy(&x->row[(size_t)x->n++ * width], s->space.chosen, width * sizeof *x->row);
  }
  return true;
}

static void free_sample(sample *x) {
  free(x->row);
  free(x->cycles);
  free(x->kernel);
}

/* What `ask` predicts for a row of the sample, asked once. */
static double once(tune_space *s, const int32_t *row, double *known,
                   double (*ask)(void *ctx, const int32_t *row)) {
  const sample *x = s->space.ctx;
  int k = 0;
  while (k < x->n && !is_same(&s->space, sampled(&s->space, k), row))
    k++;
  if (k == x->n) return INFINITY;
  if (known[k] == 0) known[k] = ask(s, row);
  return known[k];
}

static double sample_model(void *ctx, const int32_t *row) {
  tune_space *s = ctx;
  return once(s, row, ((sample *)s->space.ctx)->cycles, model);
}

static double sample_kernel(void *ctx, const int32_t *row) {
  tune_space *s = ctx;
  return once(s, row, ((sample *)s->space.ctx)->kernel, kernel);
}

/* A space of the sample's rows. */
static void sample_begin(tf_space *s) { (void)s; }
static void sample_take(tf_space *s, int i, int32_t choice) { s->chosen[i] = choice; }

static int32_t sample_draw(const tf_space *s, int i, tf_rng *rng) {
  sample *x = s->ctx;
  if (i == 0) x->at = (int)tf_rng_below(rng, (uint32_t)x->n);
  return sampled(s, x->at)[i];
}

static int sample_domain(tf_space *s, int i, int32_t out[TF_DOMAIN_MAX]) {
  const sample *x = s->ctx;
  int n = 0;
  for (int k = 0; k < x->n && n < TF_DOMAIN_MAX; k++) {
    const int32_t *row = sampled(s, k);
    if (memcmp(row, s->chosen, (size_t)i * sizeof *row) != 0) continue;
    int at = 0;
    while (at < n && out[at] < row[i])
      at++;
    if (at < n && out[at] == row[i]) continue;
    memmove(&out[at + 1], &out[at], (size_t)(n++ - at) * sizeof *out);
    out[at] = row[i];
  }
  return n;
}

/* How far a row is from what a step or a child would be; what a step changes weighs more than all
 * else. */
static int64_t distance(const tf_space *s, const int32_t *from, const int32_t *to,
                        const int32_t *row) {
  int64_t far = 0;
  for (int i = 0; i < s->n; i++)
    if (row[i] != to[i]) far += from && from[i] != to[i] ? s->n : 1;
  return far;
}

static bool sample_settle(tf_space *s, const int32_t *a, const int32_t *b, int32_t *to) {
  const sample *x = s->ctx;
  const int64_t still = distance(s, a, to, a); /* where nothing changes */
  int64_t least = INT64_MAX;
  int best = -1;
  for (int k = 0; k < x->n; k++) {
    const int32_t *row = sampled(s, k);
    const int64_t far = distance(s, b ? NULL : a, to, row);
    if (far >= least || is_same(s, row, a) || (b && is_same(s, row, b))) continue;
    if (row[TUNE_FORM] != to[TUNE_FORM] || (!b && far >= still)) continue;
    least = far;
    best = k;
  }
  if (best < 0) return false;
  memcpy(to, sampled(s, best), (size_t)s->n * sizeof *to);
  return true;
}

/* The sample's rows of which the table knows the time. */
static bool known_rows(const job *j, tune_space *s, sample *x) {
  if (!draw_sample(j, s, x)) return false;
  int n = 0;
  for (int k = 0; k < x->n; k++)
    if (look_up(j, s, sampled(&s->space, k)))
      memmove(&x->row[(size_t)n++ * (size_t)s->space.n], sampled(&s->space, k),
              (size_t)s->space.n * sizeof *x->row);
  x->n = n;
  return n > 0;
}

/* Leaves of the space these rows. */
static bool restrict_to(job *j, tune_space *s, tf_space_kind *kind) {
  if (!j->only.row && !known_rows(j, s, &j->only)) return false;
  s->space.ctx = &j->only;
  *kind = *s->space.kind;
  kind->begin = sample_begin;
  kind->take = sample_take;
  kind->draw = sample_draw;
  kind->domain = sample_domain;
  s->space.kind = kind;
  s->settle = sample_settle;
  return true;
}

/* ---- a run of one strategy ------------------------------------------------------------------ */
typedef struct {
  job *j;
  tune_space *s;
  int n; /* different kernels so far */
  bool *seen;
  double least, *best;
} run;

/* What the schedule takes; notes the best so far if its kernel is a new one. */
static double try(run *r, const int32_t *row) {
  const entry *e = look_up(r->j, r->s, row);
  r->j->lacking |= !e;
  if (!e) return INFINITY;
  if (r->seen[e->kernel] || r->n == KERNELS) return e->us;
  r->seen[e->kernel] = true;
  r->least = fmin(r->least, e->us);
  r->best[r->n++] = r->least;
  return e->us;
}

static bool goes_on(const run *r, int asked) {
  return r->n < KERNELS && asked < 4 * KERNELS && r->least > NEAR * r->j->least && !r->j->lacking;
}

/* The best after each kernel; when the run has ended, the last. */
static void walk(job *j, const tune_strategy *way, int seed, double best[KERNELS]) {
  tune_space *s = tune_space_new(j->spec->arch, j->spec->workload, 1, isas,
                                 j->constraints.text ? &j->constraints : NULL, j->d);
  run r = {
      .j = j, .s = s, .least = INFINITY, .best = best, .seen = calloc((size_t)j->n, sizeof(bool))};
  tf_space_kind kind;
  if (s && j->sample && !restrict_to(j, s, &kind)) j->lacking = true;
  tune_context w = {.s = s,
                    .arena = tf_arena_new(),
                    .rng = tf_rng_new((uint64_t)seed, 0x74756e65),
                    .model = j->sample ? sample_model : model,
                    .kernel = j->sample ? sample_kernel : kernel,
                    .lesson = lesson_of_row,
                    .ctx = s,
                    .n_prior = j->n_before,
                    .prior = j->before};
  void *state = s && r.seen && !j->lacking ? way->make(&w) : NULL;
  const size_t width = s ? (size_t)s->space.n : 0;
  int32_t *rows = calloc(BATCH * width + 1, sizeof *rows);
  int n = state && rows ? BATCH : 0;
  for (int asked = 0; n == BATCH && goes_on(&r, asked); asked += n) {
    for (n = 0; n < BATCH && way->ask(state, &rows[(size_t)n * width]); n++)
      ;
    for (int i = 0; i < n; i++)
      way->tell(state, &rows[(size_t)i * width], try(&r, &rows[(size_t)i * width]));
  }
  for (int k = r.n; k < KERNELS; k++)
    best[k] = r.least;
  free(rows);
  free(r.seen);
  tf_arena_free(w.arena);
  tune_space_free(s);
}

/* Rows in which something is new. */
static void print(const job *j, const char *way, double (*best)[KERNELS]) {
  int last = -1;
  double said = INFINITY;
  for (int k = 0; k < KERNELS; k++) {
    double sum = 0;
    int near = 0;
    for (int s = 0; s < j->seeds; s++) {
      sum += log(best[s][k] / j->least);
      near += best[s][k] <= NEAR * j->least;
    }
    const double mean = exp(sum / j->seeds);
    if (near == last && mean > 0.99 * said && k < KERNELS - 1) continue;
    printf("%s,%s,%d,%.4f,%d,%d\n", j->what, way, k + 1, mean, near, j->seeds);
    last = near;
    said = mean;
  }
}

static void compare(job *j) {
  static double best[SEEDS_MOST][KERNELS];
  for (int w = 0; w < WAYS && !j->lacking; w++) {
    if (j->strategy && strcmp(j->strategy, names[w]) != 0) continue;
    for (int s = 0; s < j->seeds; s++)
      walk(j, tune_strategy_named(names[w]), s + 1, best[s]);
    if (!j->lacking) print(j, names[w], best);
  }
}

/* ---- the list of all schedules -------------------------------------------------------------- */
typedef struct {
  job *j;
  tune_space *s;
  int kernels;
  char (*digest)[TF_SHA256_TEXT]; /* [kernels] */
  lesson *least;      /* of the table's kernels, by the schedule for which least is predicted */
  const entry **from; /* that schedule */
  bool failed;
} lister;

static bool write_files(const tf_emitted *e, const char *folder, int number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, number);
  bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
  for (int f = 0; ok && f < e->n; f++) {
    snprintf(path, sizeof path, "%s/%d/%s", folder, number, e->file[f].name);
    FILE *to = fopen(path, "w");
    ok = to && fputs(e->file[f].text, to) >= 0;
    if (to) ok = fclose(to) == 0 && ok;
  }
  return ok;
}

/* The number of the row's kernel, whose files are written if it is a new one.  -1: it has none. */
static int kernel_of(lister *l, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(l->s, row);
  const tf_emit_options o = {.isa = isas[0], .choices = tune_choices(l->s, row)};
  tf_emitted *e = t ? tf_emit(t, "cpu", &o, d) : NULL;
  int k = -1;
  if (e) {
    char digest[TF_SHA256_TEXT];
    tf_sha256_text(tune_kernel_text(e), strlen(tune_kernel_text(e)), digest);
    for (k = 0; k < l->kernels && strcmp(l->digest[k], digest) != 0; k++)
      ;
    if (k == l->kernels) {
      memcpy(l->digest[l->kernels++], digest, sizeof digest);
      l->failed |= !write_files(e, l->j->folder, k);
    }
  }
  tf_emitted_free(e);
  tf_tree_free(t);
  tf_diags_free(d);
  return k;
}

static double note(void *ctx) {
  lister *l = ctx;
  const int32_t *row = l->s->space.chosen;
  const int k = isfinite(model(l->s, row)) ? kernel_of(l, row) : -1;
  if (k < 0) return 1;
  entry *e = &l->j->at[l->j->n++];
  digest_of(l->s, row, e->schedule);
  e->kernel = k;
  return 1;
}

static bool more(void *ctx) {
  const lister *l = ctx;
  return !l->failed && l->j->n < SCHEDULES;
}

/* Visits the sample. */
static bool visit_sample(lister *l, double (*visit)(void *ctx)) {
  sample x;
  const bool ok = draw_sample(l->j, l->s, &x);
  for (int k = 0; ok && k < x.n && !l->failed; k++) {
    memcpy(l->s->space.chosen, sampled(&l->s->space, k), (size_t)l->s->space.n * sizeof *x.row);
    visit(l);
  }
  free_sample(&x);
  return ok && !l->failed;
}

/* Visits every schedule, or the sample. */
static bool explore(lister *l, double (*visit)(void *ctx)) {
  const job *j = l->j;
  tf_arena *a = tf_arena_new();
  l->s = tune_space_new(j->spec->arch, j->spec->workload, 1, isas,
                        j->constraints.text ? &j->constraints : NULL, j->d);
  bool ok = l->s != NULL;
  if (ok && j->sample) {
    ok = visit_sample(l, visit);
  } else if (ok) {
    tf_space *space = &l->s->space;
    space->cost = visit;
    space->ctx = l;
    ok =
        tf_explore(&tf_strategy_exhaustive,
                   tf_strategy_exhaustive.make(a, space, NULL, 0, tf_rng_new(1, 1)), space, more) &&
        !l->failed;
  }
  tune_space_free(l->s);
  tf_arena_free(a);
  return ok;
}

static bool list(job *j) {
  lister l = {.j = j, .digest = malloc(SCHEDULES * sizeof *l.digest)};
  j->at = malloc((SCHEDULES + 1) * sizeof *j->at);
  bool ok = l.digest && j->at && explore(&l, note) && j->n < SCHEDULES;
  if (ok) qsort(j->at, (size_t)j->n, sizeof *j->at, by_schedule);
  for (int i = 0; ok && i < j->n; i++) {
    ok = i == 0 || strcmp(j->at[i - 1].schedule, j->at[i].schedule) !=
                       0; /* digests tell them from each other */
    printf("%s,%s,%d\n", j->what, j->at[i].schedule, j->at[i].kernel);
  }
  free(l.digest);
  return ok;
}

/* ---- what a table teaches ------------------------------------------------------------------- */
static double teach_one(void *ctx) {
  lister *l = ctx;
  const int32_t *row = l->s->space.chosen;
  const entry *e = look_up(l->j, l->s, row);
  if (!e) return 1;
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(l->s, row);
  const tf_emit_options o = {.isa = isas[0], .choices = tune_choices(l->s, row)};
  lesson k, *least = &l->least[e->kernel];
  if (t && lesson_of(t, &o.choices, tf_emit_cycles(t, NULL, &o, d), &k) &&
      (!l->from[e->kernel] || k.cycles < least->cycles)) {
    l->from[e->kernel] = e;
    *least = k;
  }
  tf_tree_free(t);
  tf_diags_free(d);
  return 1;
}

static bool teach(job *j) {
  const size_t n = (size_t)j->n;
  lister l = {.j = j, .least = calloc(n, sizeof *l.least), .from = calloc(n, sizeof *l.from)};
  const bool ok = l.least && l.from && explore(&l, teach_one);
  for (int k = 0; ok && k < j->n; k++) {
    if (!l.from[k]) continue;
    printf("%s,%s,%.5g,%.17g", j->what, l.from[k]->schedule, l.from[k]->us, l.least[k].cycles);
    for (int i = 0; i < LESSON_FEATURES; i++)
      printf(",%.9g", l.least[k].x[i]);
    puts("");
  }
  free(l.least);
  free(l.from);
  return ok;
}

/* ---- what is asked for ----------------------------------------------------------------------- */
static char *text_of(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = NULL;
  long n = -1;
  if (f && fseek(f, 0, SEEK_END) == 0) n = ftell(f);
  if (n >= 0 && (text = calloc((size_t)n + 1, 1)) != NULL) {
    rewind(f);
    text[fread(text, 1, (size_t)n, f)] = 0;
  }
  if (f) fclose(f);
  return text;
}

/* The rows of the case in the table. */
static bool read_table(job *j) {
  char *text = text_of(j->table), *next = NULL, *line = text ? strtok_r(text, "\n", &next) : NULL;
  const size_t len = strlen(j->what);
  int room = 0;
  for (; line; line = strtok_r(NULL, "\n", &next)) {
    entry e;
    if (strncmp(line, j->what, len) != 0 || line[len] != ',') continue;
    if (sscanf(line + len, ",%8[0-9a-f],%d,%lf", e.schedule, &e.kernel, &e.us) != 3 || e.kernel < 0)
      break;
    if (j->n == room) {
      entry *to = realloc(j->at, (size_t)(room = 2 * room + 64) * sizeof *to);
      if (!to) break;
      j->at = to;
    }
    j->at[j->n++] = e;
    j->least = j->n == 1 ? e.us : fmin(j->least, e.us);
  }
  free(text);
  for (int i = 0; i < j->n; i++)
    if (j->at[i].kernel >= j->n) return false;
  if (j->n) qsort(j->at, (size_t)j->n, sizeof *j->at, by_schedule);
  return !line && j->n > 0;
}

/* Reads a line of --teach; `last` and `of`: the case of the line before, and its number. */
static bool read_lesson(char *line, char *last, size_t size, int of, lesson_measured *out) {
  double us, cycles;
  int at = 0;
  char *comma = strchr(line, ',');
  if (!comma || sscanf(comma, ",%*8[0-9a-f],%lf,%lf%n", &us, &cycles, &at) != 2) return false;
  *comma = 0;
  *out = (lesson_measured){.workload = of + (strcmp(last, line) != 0),
                           .log2_error = log2(us / cycles)};
  snprintf(last, size, "%s", line);
  char *next = comma + at;
  for (int i = 0; i < LESSON_FEATURES; i++) {
    if (*next != ',') return false;
    out->x[i] = strtod(next + 1, &next);
  }
  return !*next && isfinite(out->log2_error);
}

static bool read_lessons(job *j) {
  char *text = text_of(j->lessons), *next = NULL, last[64] = "";
  int lines = 1;
  for (const char *p = text; p && *p; p++)
    lines += *p == '\n';
  j->before = calloc((size_t)lines, sizeof *j->before);
  bool ok = text && j->before;
  for (char *line = ok ? strtok_r(text, "\n", &next) : NULL; ok && line;
       line = strtok_r(NULL, "\n", &next)) {
    const int of = j->n_before ? j->before[j->n_before - 1].workload : 0;
    ok = read_lesson(line, last, sizeof last, of, &j->before[j->n_before]);
    j->n_before += ok;
  }
  free(text);
  return ok;
}

static bool read_arguments(job *j, int argc, char **argv) {
  const char *files[FILES], *seeds = "20", *some = "0", *constraints = NULL;
  const struct {
    const char *name, **value;
  } option[] = {{"--list", &j->folder},          {"--table", &j->table},
                {"--strategy", &j->strategy},    {"--seeds", &seeds},
                {"--constraints", &constraints}, {"--isa", &isas[0]},
                {"--teach", &j->teach},          {"--sample", &some},
                {"--lessons", &j->lessons}};
  enum { OPTIONS = sizeof option / sizeof *option };
  tf_setting set[SETTINGS];
  size_t n_files = 0, n_set = 0;
  for (int i = 2; i < argc; i++) {
    int o = 0;
    while (o < OPTIONS && strcmp(argv[i], option[o].name) != 0)
      o++;
    char *is = strchr(argv[i], '=');
    if (o < OPTIONS && i + 1 < argc) {
      *option[o].value = argv[++i];
    } else if (is && n_set < SETTINGS) {
      *is = 0;
      set[n_set++] = (tf_setting){.name = argv[i], .value = is + 1};
    } else if (strcmp(argv[i], "--set") != 0 && n_files < FILES) {
      files[n_files++] = argv[i];
    }
  }
  j->what = argc > 1 ? argv[1] : "";
  j->seeds = atoi(seeds);
  j->sample = atoi(some);
  j->constraints =
      (tf_text){.name = constraints, .text = constraints ? text_of(constraints) : NULL};
  j->constraints.len = j->constraints.text ? strlen(j->constraints.text) : 0;
  if (j->seeds < 1 || j->seeds > SEEDS_MOST || j->sample < 0 || j->sample >= SCHEDULES ||
      (constraints && !j->constraints.text))
    return false;
  if ((j->strategy && !tune_strategy_named(j->strategy)) || (j->lessons && !read_lessons(j)))
    return false;
  j->spec = n_files ? tf_spec_read(files, n_files, set, n_set, j->d) : NULL;
  return j->spec && (j->folder || (j->table && read_table(j)));
}

int main(int argc, char **argv) {
  job j = {.d = tf_diags_new()};
  bool ok = read_arguments(&j, argc, argv);
  if (!ok)
    fprintf(
        stderr,
        "usage: tune_ways CASE FILE... [options]: the head of tests/unit/tune_ways.c says which\n");
  if (ok && j.folder)
    ok = list(&j);
  else if (ok && j.teach)
    ok = teach(&j);
  else if (ok)
    compare(&j);
  if (j.lacking) fprintf(stderr, "%s: a schedule is not in %s: measure it anew\n", j.what, j.table);
  char *said = tf_diags_text(j.d);
  if (!ok) fprintf(stderr, "%s", said ? said : "");
  free(said);
  free(j.at);
  free(j.before);
  free_sample(&j.only);
  free((char *)j.constraints.text);
  tf_spec_free(j.spec);
  tf_diags_free(j.d);
  return !ok || j.lacking;
}
