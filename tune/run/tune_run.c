/* The tuning loop: rows are proposed, emitted, measured by the caller, stored, and reported to the
 * strategy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "base/sha256.h"
#include "tileflow/tree.h"
#include "tune/run/confirm.h"
#include "tune/strategy/tune_strategy.h"

enum { BATCH = 4, BATCH_MOST = 64 };

/* A candidate of the current batch. */
typedef struct {
  int32_t *row; /* NULL: the first choice, which is not in the space */
  tf_trial trial;
  tf_emitted *files; /* NULL: not to be measured */
  char kernel[65];   /* digest of its kernel's source */
  bool teaches;      /* it has a lesson */
  lesson lesson;
} candidate;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tune_opts *o;
  tf_diags *d;
  tf_arena *arena; /* of the result */
  tune_space *space;
  tune_context world;
  const tune_strategy *strategy;
  void *state;
  tune_store *store;
  char problem[65];
  int64_t run;
  int batch, n_old, next_old;
  tf_trial *old; /* [n_old] trials of the store, replayed before anything is measured */
  tf_tuned *out;
  char (*kernel)[65]; /* [out->n] digests, of its trials */
  double until;
  bool no_memory, gave_up, mismatch;
} tuner;

const char *tf_tune_strategy(int k, const char **about) {
  const tune_strategy *w = tune_strategy_at(k);
  if (w && about) *about = w->about;
  return w ? w->name : NULL;
}

/* ---- the model's figures -------------------------------------------------------------------- */
/* traffic: words through the outermost memory; NULL: not asked for. */
static double cycles_of(const tf_tree *t, double *traffic) {
  tf_diags *d = tf_diags_new();
  tf_model *m = t && d ? tf_model_new(t, d) : NULL;
  tf_result r;
  const double cycles = m && tf_model_eval(m, NULL, &r) && r.feasible ? r.cycles : INFINITY;
  if (traffic) *traffic = isfinite(cycles) ? tf_result_traffic(t->workload, &r) : 0;
  tf_model_free(m);
  tf_diags_free(d);
  return cycles;
}

static double model(void *ctx, const int32_t *row) {
  const tuner *t = ctx;
  tf_tree *tree = tune_decode(t->space, row);
  const double cycles = cycles_of(tree, NULL);
  tf_tree_free(tree);
  return cycles;
}

/* row: NULL: the generator's own choices. */
static tf_emit_options options_of(const tuner *t, const char *isa, const int32_t *row) {
  tf_emit_options e = t->o->plan.kernel;
  e.isa = isa;
  if (row) e.choices = tune_choices(t->space, row);
  return e;
}

static double kernel(void *ctx, const int32_t *row) {
  const tuner *t = ctx;
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tune_decode(t->space, row);
  const tf_emit_options e = options_of(t, t->space->isa[row[TUNE_ISA]], row);
  double traffic;
  const double cycles = cycles_of(tree, &traffic),
               inner = tree && d ? tf_emit_cycles(tree, NULL, &e, d) : -1,
               value = inner < 0 ? INFINITY
                                 : tf_emit_value(NULL, e.dtype, tree, cycles, traffic, inner);
  tf_tree_free(tree);
  tf_diags_free(d);
  return value;
}

/* What predicts the time of the tree's kernel; false: there is none. */
static bool lesson_with(const tf_tree *tree, const tf_emit_options *e, lesson *out) {
  tf_diags *d = tf_diags_new();
  const double inner = tree && d ? tf_emit_cycles(tree, NULL, e, d) : -1;
  const bool ok = inner >= 0 && lesson_of(tree, &e->choices, inner, out);
  tf_diags_free(d);
  return ok;
}

static bool lesson_of_row(void *ctx, const int32_t *row, lesson *out) {
  const tuner *t = ctx;
  tf_tree *tree = tune_decode(t->space, row);
  const tf_emit_options e = options_of(t, t->space->isa[row[TUNE_ISA]], row);
  const bool ok = lesson_with(tree, &e, out);
  tf_tree_free(tree);
  return ok;
}

/* ---- candidates ------------------------------------------------------------------------------ */
/* A copy of the text in the result's memory; frees the text. */
static const char *own_text(tuner *t, char *text) {
  const char *own = text ? tf_arena_strndup(t->arena, text, strlen(text)) : NULL;
  free(text);
  t->no_memory |= !own;
  return own ? own : "";
}

/* Fills in the mapping and kernel of a tree; takes it over. */
static void fill_candidate(tuner *t, candidate *c, tf_tree *tree, const char *isa) {
  tf_diags *d = tf_diags_new();
  const tf_emit_options e = options_of(t, isa, c->row);
  c->trial.mapping = own_text(t, tree ? tf_tree_text(tree) : NULL);
  c->trial.isa = isa;
  c->trial.choices = e.choices;
  c->trial.cycles = cycles_of(tree, NULL);
  c->trial.timing = (tf_timing){.verdict = TF_TUNE_NOT_EMITTED};
  c->files = tree && d ? tf_emit(tree, "cpu", &e, d) : NULL;
  if (c->files)
    tf_sha256_text(tune_kernel_text(c->files), strlen(tune_kernel_text(c->files)), c->kernel);
  c->teaches = c->files && lesson_with(tree, &e, &c->lesson);
  tf_tree_free(tree);
  tf_diags_free(d);
}

/* The trial with the same kernel; NULL: none. */
static const tf_trial *seen(const tuner *t, const candidate *c) {
  for (int k = 0; k < t->out->n; k++)
    if (c->files && !t->out->trials[k].same && !strcmp(t->kernel[k], c->kernel))
      return &t->out->trials[k];
  return NULL;
}

/* ---- trials ---------------------------------------------------------------------------------- */
static bool add_trial(tuner *t, const candidate *c) {
  tf_tuned *out = t->out;
  t->no_memory |= !TF_GROW(out->trials, out->n) || !TF_GROW(t->kernel, out->n);
  if (t->no_memory) return false;
  memcpy(t->kernel[out->n], c->kernel, sizeof *t->kernel);
  const tf_timing *m = &c->trial.timing;
  if (m->verdict == TF_TUNE_RAN &&
      (out->best < 0 || m->seconds < out->trials[out->best].timing.seconds))
    out->best = out->n;
  out->trials[out->n++] = c->trial;
  return true;
}

static void report_trial(tuner *t, const candidate *c) {
  const tf_timing *m = &c->trial.timing;
  if (c->row)
    t->strategy->tell(t->state, c->row, m->verdict == TF_TUNE_RAN ? m->seconds : INFINITY);
  if (t->o->progress)
    t->o->progress(t->o->ctx,
                   &(tf_tune_progress){
                       t->out->n, t->o->trials + 1,
                       t->out->best < 0 ? INFINITY : t->out->trials[t->out->best].timing.seconds});
}

/* Tells of the fastest of all, if it is one of these. */
static void tell_better(const tuner *t, const candidate *c, int n) {
  for (int k = 0; k < n && t->o->better; k++)
    if (c[k].trial.no == t->out->best && c[k].files)
      t->o->better(t->o->ctx, c[k].files, &c[k].trial);
}

/* Uses the store's measurement of this trial.  False: that trial had another schedule. */
static bool replay(tuner *t, candidate *c) {
  const tf_trial *old = &t->old[t->next_old++];
  c->trial.timing = old->timing;
  c->trial.same = old->same;
  t->out->resumed++;
  if (!strcmp(old->text, c->trial.text) && !strcmp(old->mapping, c->trial.mapping) &&
      !strcmp(old->isa, c->trial.isa))
    return true;
  t->mismatch = true;
  return tf_fail(t->d, (tf_loc){0}, TF_E_STORE,
                 "trial %d of this run in the store is not what the strategy asks for: it was made "
                 "by another version; give another --seed, or another store",
                 old->no);
}

static tune_kernel kernel_of(const tuner *t, const candidate *c) {
  return (tune_kernel){t->o->machine ? t->o->machine : "", t->o->compiler ? t->o->compiler : "",
                       c->kernel};
}

/* Keeps what the candidate's time teaches; it has one. */
static bool teach(tuner *t, const candidate *c) {
  const tune_kernel k = kernel_of(t, c);
  char beside[TUNE_BESIDE];
  snprintf(beside, sizeof beside, "%s %s", t->problem, c->trial.isa);
  return !c->teaches || tune_store_teach(t->store, beside, &k, &c->lesson, t->d);
}

/* Takes the candidate's time from another run of the store.  *there: whether one has it.  False: an
 * error is in d. */
static bool recall(tuner *t, candidate *c, bool *there) {
  const tune_kernel k = kernel_of(t, c);
  if (!tune_store_recall(t->store, &k, there, &c->trial.timing, t->d)) return false;
  t->out->known += *there;
  return !*there || teach(t, c);
}

/* Measures the candidates of the batch that the store does not have, and adds all to the result and
 * the store. */
static bool measure(tuner *t, candidate *c, int n) {
  const tf_emitted *files[BATCH_MOST];
  tf_timing timing[BATCH_MOST];
  int of[BATCH_MOST], todo = 0, old = 0;
  for (; old < n && t->next_old < t->n_old; old++)
    if (!replay(t, &c[old])) return false;
  for (int k = old; k < n; k++) {
    const tf_trial *before = seen(t, &c[k]);
    for (int j = 0; j < k && !before; j++) /* in the same batch */
      if (c[j].files && c[k].files && !strcmp(c[j].kernel, c[k].kernel)) before = &c[j].trial;
    c[k].trial.same = before != NULL;
    bool known = before || !c[k].files;
    if (!known && !recall(t, &c[k], &known)) return false;
    if (known) continue;
    of[todo] = k;
    files[todo++] = c[k].files;
  }
  if (todo && !t->o->measure(t->o->ctx, files, todo, timing)) {
    t->gave_up = true;
    return false;
  }
  for (int k = 0; k < todo; k++) {
    const tune_kernel id = kernel_of(t, &c[of[k]]);
    c[of[k]].trial.timing = timing[k];
    if (timing[k].verdict != TF_TUNE_RAN) continue;
    if (!tune_store_remember(t->store, &id, &timing[k], t->d) || !teach(t, &c[of[k]])) return false;
  }
  for (int k = 0; k < n; k++) {
    c[k].trial.no = t->out->n;
    if (k >= old && c[k].trial.same) {
      const tf_trial *before =
          seen(t, &c[k]); /* earlier ones of the batch are in the result by now */
      if (before) c[k].trial.timing = before->timing;
    }
    if (k >= old && !tune_store_add(t->store, t->run, &c[k].trial, t->d)) return false;
    if (!add_trial(t, &c[k])) return false;
  }
  for (int k = 0; k < n; k++)
    report_trial(t, &c[k]);
  tell_better(t, c, n);
  return true;
}

static void drop(candidate *c, int n) {
  for (int k = 0; k < n; k++)
    tf_emitted_free(c[k].files);
}

/* ---- the whole ------------------------------------------------------------------------------- */
/* Its index among the allowed instruction sets; -1: not allowed. */
static int isa_of(const tuner *t, const char *isa) {
  for (int k = 0; k < t->space->n_isas; k++)
    if (!strcmp(t->space->isa[k], isa)) return k;
  return -1;
}

/* The plan's mapping: trial 0. */
static bool first_choice(tuner *t) {
  tf_planner_opts po = t->o->plan;
  po.n_time = 0;
  tf_planned *p = tf_planner_run(t->arch, t->wl, NULL, &po, t->d);
  candidate c = {.row = TF_ARRAY(t->arena, int32_t, (size_t)t->space->space.n)};
  const char *isa = po.kernel.isa ? po.kernel.isa : t->space->isa[0];
  bool ok = p && c.row;
  if (ok && p->tree) {
    if (isa_of(t, isa) < 0 || !tune_encode(t->space, p->tree, isa_of(t, isa), c.row)) c.row = NULL;
    c.trial.text = c.row ? own_text(t, tune_trace(t->space, c.row)) : "";
    tf_tree *own = p->found;
    p->found = NULL;
    tf_model_free(p->model);
    p->model = NULL;
    fill_candidate(t, &c, own, isa);
    ok = measure(t, &c, 1);
    drop(&c, 1);
  }
  tf_planned_free(p);
  return ok;
}

static bool is_over(const tuner *t) {
  if (t->o->stop && t->o->stop(t->o->ctx)) return true;
  return t->o->time_limit > 0 && t->o->now && t->next_old >= t->n_old &&
         t->o->now(t->o->ctx) > t->until;
}

static bool go_on(tuner *t) {
  candidate c[BATCH_MOST];
  const size_t width = (size_t)t->space->space.n;
  int n = 1;
  while (n > 0 && t->out->n <= t->o->trials && !is_over(t)) {
    const int left = t->o->trials + 1 - t->out->n;
    for (n = 0; n < t->batch && n < left; n++) {
      c[n] = (candidate){.row = TF_ARRAY(t->arena, int32_t, width)};
      if (!c[n].row || !t->strategy->ask(t->state, c[n].row)) break;
      c[n].trial.text = own_text(t, tune_trace(t->space, c[n].row));
      fill_candidate(t, &c[n], tune_decode(t->space, c[n].row), t->space->isa[c[n].row[TUNE_ISA]]);
    }
    const bool ok = !t->no_memory && (n == 0 || measure(t, c, n));
    drop(c, n);
    if (!ok) return false;
  }
  return true;
}

static bool confirm(tuner *t) {
  tune_end e = {.arch = t->arch,
                .wl = t->wl,
                .o = t->o,
                .store = t->store,
                .what = {t->problem, t->o->machine ? t->o->machine : ""},
                .run = t->run,
                .out = t->out,
                .d = t->d};
  const bool ok = (t->o->stop && t->o->stop(t->o->ctx)) || tune_confirm(&e);
  t->gave_up |= e.gave_up;
  return ok;
}

static bool open_store(tuner *t) {
  char options[400];
  const tf_tune_opts *o = t->o;
  int n = snprintf(options, sizeof options, "batch %d", t->batch);
  for (int k = 0; k < t->space->n_isas && n < (int)sizeof options; k++)
    n += snprintf(options + n, sizeof options - (size_t)n, " %s", t->space->isa[k]);
  if (o->constraints && n < (int)sizeof options - TF_SHA256_TEXT - 16) {
    char digest[TF_SHA256_TEXT];
    tf_sha256_text(o->constraints->text, o->constraints->len, digest);
    snprintf(options + n, sizeof options - (size_t)n, " constraints %s", digest);
  }
  if (!tune_digest(t->arch, t->wl, o->plan.kernel.dtype, t->problem)) return false;
  t->store = tune_store_open(o->store, true, t->d);
  const tune_run_key key = {.problem = t->problem,
                            .workload = t->wl->name ? t->wl->name : "",
                            .machine = o->machine ? o->machine : "",
                            .compiler = o->compiler ? o->compiler : "",
                            .strategy = t->strategy->name,
                            .options = options,
                            .seed = o->seed};
  t->run = t->store ? tune_store_run(t->store, &key, t->d) : -1;
  return t->run >= 0 && tune_store_trials(t->store, t->run, t->arena, &t->n_old, &t->old, t->d);
}

/* What the store had of other runs when this one was begun. */
static bool study(tuner *t) {
  const tune_kernel where = {t->o->machine ? t->o->machine : "",
                             t->o->compiler ? t->o->compiler : "", ""};
  lesson_measured *lessons;
  const bool ok =
      tune_store_lessons(t->store, t->run, &where, t->arena, &t->world.n_prior, &lessons, t->d);
  t->world.prior = lessons;
  return ok;
}

static bool set_up(tuner *t) {
  const tf_tune_opts *o = t->o;
  t->strategy = o->strategy ? tune_strategy_named(o->strategy) : tune_strategy_at(0);
  if (!t->strategy) {
    tf_fail(t->d, (tf_loc){0}, TF_E_NAME, "no strategy of tune is called '%.60s'", o->strategy);
    return false;
  }
  const char *const one[] = {o->plan.kernel.isa ? o->plan.kernel.isa
                                                : tf_emit_isa(o->plan.kernel.dtype)};
  const char **isas = TF_ARRAY(t->arena, const char *, (size_t)o->n_isas + 1);
  if (!isas) return false;
  for (int k = 0; k < (o->n_isas ? o->n_isas : 1); k++)
    isas[k] = o->n_isas ? o->isas[k] : one[0];
  t->batch = o->batch < 1 ? BATCH : o->batch > BATCH_MOST ? BATCH_MOST : o->batch;
  t->until = o->time_limit > 0 && o->now ? o->now(o->ctx) + o->time_limit : 0;
  t->space = tune_space_new(t->arch, t->wl, o->n_isas ? o->n_isas : 1, isas, o->constraints, t->d);
  if (!t->space || !open_store(t)) return false;
  t->world = (tune_context){.s = t->space,
                            .arena = t->arena,
                            .rng = tf_rng_new(o->seed, 0x74756e65),
                            .model = model,
                            .kernel = kernel,
                            .lesson = lesson_of_row,
                            .ctx = t};
  if (t->strategy == &tune_strategy_taught && !study(t)) return false;
  t->state = t->strategy->make(&t->world);
  return t->state != NULL;
}

tf_tuned *tf_tune_run(const tf_arch *arch, const tf_workload *wl, const tf_tune_opts *o,
                      tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!tf_no_views(wl, d)) return NULL;
  tuner t = {.arch = arch, .wl = wl, .o = o, .d = d, .arena = tf_arena_new()};
  t.out = calloc(1, sizeof *t.out);
  bool ok = t.arena && t.out;
  if (ok) *t.out = (tf_tuned){.best = -1, .arena = t.arena};
  ok = ok && set_up(&t) && first_choice(&t) && go_on(&t) && confirm(&t);
  if (!ok && !t.gave_up && !tf_diags_errors(d)) tf_out_of_memory_at(d, wl->at);
  if (ok) t.out->drawn = t.world.drawn;
  if (ok) t.out->unfit = t.world.unfit;
  for (int k = 0; ok && k < t.out->n; k++) /* the names are lost with the space */
    t.out->trials[k].isa =
        tf_arena_strndup(t.arena, t.out->trials[k].isa, strlen(t.out->trials[k].isa));
  tune_store_close(t.store);
  tune_space_free(t.space);
  free(t.kernel);
  if (ok) return t.out;
  if (!t.out) tf_arena_free(t.arena);
  tf_tuned_free(t.out);
  return NULL;
}

void tf_tuned_free(tf_tuned *t) {
  if (!t) return;
  free(t->trials);
  tf_arena_free(t->arena);
  free(t);
}

bool tf_tune_find(const char *store, const tf_tune_asked *asked, const tf_arch *arch,
                  const tf_workload *wl, tf_tune_best *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  char problem[65], *schedule = NULL;
  bool there = false;
  *out = (tf_tune_best){0};
  if (!tune_digest(arch, wl, asked->dtype, problem)) return tf_out_of_memory_at(d, wl->at);
  tune_store *s = tune_store_open(store, false, d);
  if (s)
    tune_store_best(s, &(tune_store_what){problem, asked->machine}, &there, out, &schedule, NULL,
                    d);
  if (there) out->choices = tune_trace_choices(schedule);
  free(schedule);
  tune_store_close(s);
  return there;
}

tf_tree *tf_tune_mapping(const tf_arch *arch, const tf_workload *wl, int n_isas,
                         const char *const *isas, tf_text text, tf_schedule *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  tune_space *s = tf_no_views(wl, d) ? tune_space_new(arch, wl, n_isas, isas, NULL, d) : NULL;
  int32_t *row = s ? calloc((size_t)s->space.n, sizeof *row) : NULL;
  const uint16_t file = tf_diags_add_file(d, text.name, text.text, text.len);
  tf_tree *t =
      row && tune_trace_read(s, file, text.text, text.len, row, d) ? tune_decode(s, row) : NULL;
  if (t) *out = (tf_schedule){s->isa[row[TUNE_ISA]], tune_choices(s, row)};
  if (!t && !tf_diags_errors(d))
    tf_fail(d, (tf_loc){file, 1, 1, 1}, TF_E_SHAPE,
            "the schedule's tree breaks a rule of mappings, or memory ran out");
  free(row);
  tune_space_free(s);
  return t;
}
