/* tileflow tune: schedules measured on this computer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/serve/serve.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/session/session_network.h"
#include "cli/session/trials.h"
#include "tileflow/net.h"
#include "tileflow/version.h"

/* NO_END: ended by the time limit only; ROUND: as many trials of each group, then so many times as
 * many. */
enum { TRIALS = 64, TRIALS_MOST = 1000000, NO_END = INT32_MAX / 2, ROUND = 4 };

typedef struct {
  cli_input in;
  const char *strategy, *store, *isa, *dtype, *json, *csv, *schedule, *constraints, *serve;
  int64_t trials;
  uint64_t seed;
  int threads;
  double time_limit;
  bool space, rules;
} tune_options;
static const cli_slot slots[] = {
    CLI_AT(tune_options, TUNER, strategy),
    CLI_AT(tune_options, TRIALS, trials),
    CLI_AT_SAYS(tune_options, TIME_LIMIT, time_limit, "seconds until no further trial is begun"),
    CLI_AT_SAYS(tune_options, STORE, store, "keep every measurement in it, and go on from it"),
    CLI_AT(tune_options, SEED, seed),
    CLI_AT(tune_options, THREADS, threads),
    CLI_AT(tune_options, ISA, isa),
    CLI_AT(tune_options, DTYPE, dtype),
    CLI_AT_SAYS(tune_options, JSON, json,
                "write what the model counts of the fastest, as search does"),
    CLI_AT_SAYS(tune_options, CSV, csv, "write the trials as comma-separated values"),
    CLI_AT(tune_options, WRITE_SCHEDULE, schedule),
    CLI_AT(tune_options, CONSTRAINTS, constraints),
    CLI_AT(tune_options, SERVE, serve),
    CLI_AT(tune_options, SPACE, space),
    CLI_AT(tune_options, RULES, rules)};

typedef struct {
  const tune_options *o;
  cli_trials trials;
  cli_meter meter;
  double began;        /* as of `now` */
  tf_text constraints; /* text NULL: none */
  cli_serve serve;     /* folder NULL: no program is served */
  const tf_spec *spec; /* of the network whose group is tuned, and its plan; NULL: none is */
  tf_net_plan *plan;
  int group;
  double *least; /* [plan->n] seconds of the group's kernel that was offered last, as later rounds
                    begin with old trials */
} job;

static bool measure(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  job *j = ctx;
  return cli_trials_measure(&j->trials, kernels, n, out);
}

static bool confirm(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out) {
  job *j = ctx;
  cli_meter_line(&j->meter, "the fastest %d once more, in turns ", n);
  return cli_trials_confirm(&j->trials, kernels, n, out);
}

/* Gives the kernel to the programs that run it. */
static void better(void *ctx, const tf_emitted *kernel, const tf_trial *trial) {
  job *j = ctx;
  if (cli_interrupted(NULL)) return;
  cli_meter_end(&j->meter);
  if (!j->plan) {
    cli_serve_offer(&j->serve, kernel);
  } else if (j->least && !(trial->timing.seconds >= j->least[j->group])) {
    j->least[j->group] = trial->timing.seconds;
    cli_serve_group(&j->serve, j->spec, j->plan, j->group, trial);
  }
}

static void show(void *ctx, const tf_tune_progress *p) {
  job *j = ctx;
  const cli_figure best = isfinite(p->best) ? cli_si(p->best, "s") : (cli_figure){"-"};
  if (p->of > NO_END)
    cli_meter_line(&j->meter, "%d kernels, the best %s ", p->trials, best.s);
  else
    cli_meter_line(&j->meter, "%d of %d kernels, the best %s ", p->trials, p->of, best.s);
}

static double now(void *ctx) {
  struct timespec t;
  (void)ctx;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- results --------------------------------------------------------------------------------- */
static const tf_timing *first_of(const tf_tuned *t) {
  return t->n && t->trials[0].timing.verdict == TF_TUNE_RAN ? &t->trials[0].timing : NULL;
}

static void print_verdicts(const tf_tuned *t) {
  int n[TF_N_VERDICTS] = {0}, same = 0;
  for (int k = 0; k < t->n; k++) {
    n[t->trials[k].timing.verdict]++;
    same += t->trials[k].same;
  }
  printf("%d kernels: ", t->n);
  for (int v = 0, any = 0; v < TF_N_VERDICTS; v++)
    if (n[v]) printf("%s%d %s", any++ ? ", " : "", n[v], tf_verdict_name((tf_verdict)v));
  if (same) printf("; %d the same as others, not measured again", same);
  if (t->resumed) printf("; %d from the store", t->resumed);
  if (t->known) printf("; %d that other runs of the store measured", t->known);
  if (same)
    printf("\n(schedules that differ in what the kernel does not depend on write the same kernel)");
  printf("\n%lld schedules drawn, %lld of them did not fit\n", (long long)t->drawn,
         (long long)t->unfit);
}

/* Prints the trials that improved the best, in order. */
static void print_trials(const tf_tuned *t) {
  double best = INFINITY;
  puts("trial  measured  model's cycles  isa");
  for (int k = 0; k < t->n; k++) {
    const tf_trial *x = &t->trials[k];
    if (k && (x->timing.verdict != TF_TUNE_RAN || x->timing.seconds >= best)) continue;
    const bool ran = x->timing.verdict == TF_TUNE_RAN;
    if (ran) best = x->timing.seconds;
    printf("%5d  %8s  %14s  %s%s\n", k,
           ran ? cli_si(best, "s").s : tf_verdict_name(x->timing.verdict), cli_real(x->cycles).s,
           x->isa, k == 0 ? "  the model's first choice" : "");
  }
}

/* Prints the times of those that were timed once more, in order of trials. */
static void print_confirmed(const tf_tuned *t) {
  int n = 0;
  for (int k = 0; k < t->n; k++)
    if (t->trials[k].confirmed > 0)
      printf("%s trial %d %s", n++ ? "," : "beside each other, in turns:", k,
             cli_si(t->trials[k].confirmed, "s").s);
  if (n) puts("");
}

/* How many times as fast as the first choice the best is, where both ran. */
static void print_gain(const tf_tuned *t) {
  const tf_trial *first = &t->trials[0], *best = &t->trials[t->best];
  const bool beside = first->confirmed > 0 && best->confirmed > 0;
  if (beside || first_of(t))
    printf("trial %d is the fastest: %.3f times as fast as the first choice\n", t->best,
           beside ? first->confirmed / best->confirmed
                  : first->timing.seconds / best->timing.seconds);
}

/* The command that emits the fastest: from the store, from the schedule written, or first the one
 * that keeps it. */
static void print_next(const tf_trial *best, const job *j) {
  const tune_options *o = j->o;
  const char *schedule = *best->text ? o->schedule : NULL;
  cli_text t = {0};
  cli_printf(&t, "\nNext:\n  tileflow %s", o->store || schedule ? "emit" : "tune");
  for (size_t i = 0; i < o->in.n_files; i++)
    cli_put_word(&t, o->in.files[i]);
  cli_put_settings(&t, &o->in);
  if (o->dtype) cli_printf(&t, " --dtype %s", o->dtype);
  if (o->isa) cli_printf(&t, " --isa %s", o->isa);
  cli_printf(&t, o->store ? " --tuned" : schedule ? " --schedule" : " --store tuned.tfdb\n");
  if (o->store || schedule) {
    cli_put_word(&t, o->store ? o->store : schedule);
    cli_printf(&t, " -o kernel\n");
  }
  cli_put_text("-", &t);
}

static void report(const tf_tuned *t, const job *j) {
  printf("on %s, compiled by %s\n", j->trials.machine, j->trials.compiler);
  print_verdicts(t);
  print_trials(t);
  if (t->best < 0) return;
  print_confirmed(t);
  print_gain(t);
  const tf_trial *best = &t->trials[t->best];
  printf("\n%s\nmapping: |\n", best->text);
  for (const char *p = best->mapping; *p;) {
    const size_t n = strcspn(p, "\n");
    printf("  %.*s\n", (int)n, p);
    p += n + (p[n] == '\n');
  }
  print_next(best, j);
}

static bool write_csv(const tf_tuned *t, const char *path) {
  cli_text out = {0};
  double best = INFINITY;
  cli_printf(&out, "trial,verdict,seconds,best,cycles,isa,same,confirmed,schedule\n");
  for (int k = 0; k < t->n; k++) {
    const tf_trial *x = &t->trials[k];
    const bool ran = x->timing.verdict == TF_TUNE_RAN;
    if (ran) best = fmin(best, x->timing.seconds);
    cli_printf(&out, "%d,%s,", k, tf_verdict_name(x->timing.verdict));
    if (ran) cli_printf(&out, "%.9g", x->timing.seconds);
    cli_printf(&out, ",");
    if (isfinite(best)) cli_printf(&out, "%.9g", best);
    cli_printf(&out, ",%.9g,%s,%d,", x->cycles, x->isa, x->same);
    if (x->confirmed > 0) cli_printf(&out, "%.9g", x->confirmed);
    cli_printf(&out, ",");
    cli_csv_cell(&out, x->text);
    cli_printf(&out, "\n");
  }
  return cli_put_text(path, &out);
}

static bool write_schedule(const tf_tuned *t, const char *path) {
  cli_text out = {0};
  if (t->best < 0) return true;
  if (!*t->trials[t->best].text) {
    fputs("tileflow: note: the fastest is none of the schedules; emit --tuned has its mapping\n",
          stderr);
    return true;
  }
  cli_printf(&out, "%s", t->trials[t->best].text);
  return cli_put_text(path, &out);
}

/* ---- the run --------------------------------------------------------------------------------- */
static tf_tune_opts options_of(job *j) {
  const tune_options *o = j->o;
  const char *isa = o->isa ? o->isa : tf_emit_isa(o->dtype);
  return (tf_tune_opts){
      .strategy = o->strategy,
      .seed = o->seed,
      .trials = (int)(o->trials           ? o->trials
                      : o->time_limit > 0 ? NO_END
                                          : TRIALS),
      .time_limit = o->time_limit,
      .store = o->store,
      .machine = j->trials.machine,
      .compiler = j->trials.compiler,
      .constraints = j->constraints.text ? &j->constraints : NULL,
      .plan = {.kernel = {.isa = isa,
                          .dtype = o->dtype,
                          .name = j->serve.folder && !j->plan ? j->serve.name : NULL,
                          .live = j->serve.folder && !j->plan,
                          .version = TILEFLOW_VERSION},
               .budget = {.seed = 1, .threads = o->threads, .stop = cli_interrupted}},
      .measure = measure,
      .confirm = confirm,
      .better = j->serve.folder ? better : NULL,
      .stop = cli_interrupted,
      .progress = j->meter.enabled ? show : NULL,
      .now = now,
      .ctx = j};
}

/* Whether any kernel ran; says so if none did. */
static bool has_ran(bool any) {
  if (!any) fputs("tileflow: none of the kernels could be compiled and run here\n", stderr);
  return any;
}

/* Interrupted, with a store: says that nothing is lost. */
static void say_kept(const job *j, cli_status status) {
  if (status == CLI_INTERRUPTED && j->o->store)
    fprintf(stderr,
            "tileflow: interrupted; what was measured is in %s, and the same command goes on\n",
            j->o->store);
}

/* How the fastest was found; value: its seconds, which nothing bounds. */
static cli_found found_of(const tf_tuned *t, const job *j) {
  const tune_options *o = j->o;
  const tf_trial *best = &t->trials[t->best];
  cli_found f = {.method = o->strategy ? o->strategy : tf_tune_strategy(0, NULL),
                 .objective = "seconds",
                 .value = best->confirmed > 0 ? best->confirmed : best->timing.seconds,
                 .bound = NAN,
                 .evaluations = t->drawn,
                 .measurements = t->n,
                 .seconds = now(NULL) - j->began,
                 .threads = o->threads,
                 .seed = o->seed};
  for (int k = 0; k < t->n; k++)
    f.invalid += t->trials[k].timing.verdict != TF_TUNE_RAN;
  const bool late = o->time_limit > 0 && (!o->trials || t->n <= o->trials);
  f.stopped_by = cli_interrupted(NULL) ? "interrupt" : late ? "time" : "budget";
  return f;
}

/* The object that search prints, of the fastest mapping. */
static cli_status write_json(const tf_tuned *t, cli_session *s, const job *j) {
  tf_tree *tree =
      cli_measured_tree("(mapping found)", t->trials[t->best].mapping, s->spec, s->diags);
  cli_text out = {0};
  if (!tree) cli_complain(s->diags);
  cli_status status = tree ? cli_adopt(s, tree, "tune") : CLI_FAILED;
  s->found = found_of(t, j);
  if (status == CLI_DONE) status = cli_count_words(s);
  if (status != CLI_DONE) return status;
  cli_report_json(s, false, &out);
  return cli_put_text(j->o->json, &out) ? CLI_DONE : CLI_FAILED;
}

static cli_status write_tuned(const tf_tuned *t, cli_session *s, const job *j) {
  if (!j->o->in.quiet && !j->o->in.stdout_taken) report(t, j);
  bool ok = !j->o->csv || write_csv(t, j->o->csv);
  ok = ok && (!j->o->schedule || write_schedule(t, j->o->schedule));
  if (!ok || !has_ran(t->best >= 0)) return CLI_FAILED;
  return j->o->json ? write_json(t, s, j) : CLI_DONE;
}

static cli_status tune(cli_session *s, job *j) {
  j->began = now(NULL);
  if (j->o->constraints) j->constraints = tf_text_read(j->o->constraints, s->diags);
  const tf_tune_opts o = options_of(j);
  const bool ready = !j->o->constraints || j->constraints.text;
  tf_tuned *t = ready ? tf_tune_run(s->spec->arch, s->spec->workload, &o, s->diags) : NULL;
  free((void *)(uintptr_t)j->constraints.text);
  cli_meter_end(&j->meter);
  cli_status status = t                       ? write_tuned(t, s, j)
                      : cli_interrupted(NULL) ? CLI_INTERRUPTED
                                              : CLI_FAILED;
  if (!t && tf_diags_errors(s->diags)) {
    cli_complain(s->diags);
    status = cli_status_of(s->diags);
  }
  say_kept(j, status);
  tf_tuned_free(t);
  return status;
}

/* ---- the space ------------------------------------------------------------------------------ */
static void print_form(const tf_space_form *f, bool rules) {
  printf("# %s: %d knobs, %d variables, %d constraints (%s)\n", f->name, f->knobs, f->variables,
         f->constraints, f->kinds);
  if (!rules)
    printf("# schedules whose factors multiply to the extents: %s\n",
           *f->all ? f->all : "not counted");
  printf("# %s: %s\n", rules ? "solutions" : "of them satisfy every constraint",
         *f->fit ? f->fit : "not counted");
  fputs(f->text, stdout);
}

/* Prints the systems of constraints, and how many schedules they leave; measures nothing. */
static cli_status print_space(cli_session *s, const tune_options *o) {
  tf_space_size size = {0};
  const tf_text more = o->constraints ? tf_text_read(o->constraints, s->diags) : (tf_text){0};
  bool ok = !o->constraints || more.text;
  if (ok)
    ok = o->rules ? tf_tune_rules(s->spec, &size, s->diags)
                  : tf_tune_size(s->spec->arch, s->spec->workload, o->constraints ? &more : NULL,
                                 &size, s->diags);
  for (int f = 0; ok && f < size.n && !o->in.quiet; f++)
    print_form(&size.form[f], o->rules);
  if (!ok) cli_complain(s->diags);
  tf_space_size_free(&size);
  free((void *)(uintptr_t)more.text);
  return ok ? CLI_DONE : CLI_BAD_INPUT;
}

/* ---- networks -------------------------------------------------------------------------------- */
static void print_group(const tf_net_plan *p, int i, const tf_tuned *t) {
  const tf_trial *best = t->best < 0 ? NULL : &t->trials[t->best];
  const double seconds = !best ? 0 : best->confirmed > 0 ? best->confirmed : best->timing.seconds;
  const tf_timing *first = first_of(t);
  int runs = 0;
  for (int k = 0; k < p->n; k++)
    runs += p->groups[k].like == i;
  printf("%5d  %4d  %6d  %12s  %8s  %s\n", i + 1, runs, t->n,
         first ? cli_si(first->seconds, "s").s : "-", best ? cli_si(seconds, "s").s : "-",
         p->groups[i].group->workload->ops[0].name);
}

/* Prints why a group has no kernel that can be tuned; false: it is the store, which no other group
 * can use either. */
static bool group_has_none(const tf_net_plan *p, int i, const tf_diags *why, bool quiet) {
  for (size_t k = 0; k < tf_diags_count(why); k++)
    if (tf_diags_at(why, k)->code == TF_E_STORE) return false;
  if (!quiet)
    printf("%5d  %4s  %6s  %12s  %8s  %s\n", i + 1, "-", "none", "-", "-",
           p->groups[i].group->workload->ops[0].name);
  for (size_t k = 0; k < tf_diags_count(why); k++)
    fprintf(stderr, "tileflow: note: group %d is not tuned: %s\n", i + 1, tf_diags_at(why, k)->msg);
  return true;
}

/* Tunes the group, to so many trials (0: to the end); *ran: whether any kernel did. */
static cli_status tune_group(const tf_spec *s, const tf_net_plan *p, int i, int trials, job *j,
                             bool *ran) {
  tf_tune_opts o = options_of(j);
  j->group = i;
  if (trials) o.trials = trials, o.confirm = NULL;
  if (o.time_limit > 0 && j->plan) o.time_limit = fmax(o.time_limit - (now(NULL) - j->began), 1e-3);
  const bool quiet = j->o->in.quiet || j->o->in.stdout_taken;
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  tf_tuned *t = tf_tune_run(s->arch, p->groups[i].group->workload, &o, d);
  cli_meter_end(&j->meter);
  cli_status status = CLI_DONE;
  if (t && !quiet && !trials) print_group(p, i, t);
  *ran |= t && t->best >= 0;
  if (!t && !tf_diags_errors(d)) status = cli_interrupted(NULL) ? CLI_INTERRUPTED : CLI_FAILED;
  if (tf_diags_errors(d) && !group_has_none(p, i, d, quiet)) {
    cli_complain(d);
    status = CLI_BAD_INPUT;
  }
  tf_tuned_free(t);
  tf_diags_free(d);
  return status;
}

static bool is_late(const job *j) {
  return cli_interrupted(NULL) || (j->o->time_limit > 0 && now(NULL) - j->began > j->o->time_limit);
}

/* Tunes each distinct group of the plan; the store has them by the groups' own workloads, for which
 * plan --tuned asks.  A group that cannot be tuned keeps the mapping that it has. */
static cli_status tune_groups(const tf_spec *s, const tf_net_plan *p, job *j) {
  cli_status status = CLI_DONE;
  bool ran = false;
  const int64_t most = options_of(j).trials;
  for (int64_t n = ROUND; j->plan && n < most && !is_late(j);
       n *= ROUND) /* all have something soon */
    for (int i = 0; i < p->n && status == CLI_DONE && !is_late(j); i++)
      if (p->groups[i].like == i) status = tune_group(s, p, i, (int)n, j, &ran);
  if (!j->o->in.quiet && !j->o->in.stdout_taken)
    puts("group  runs  trials  first choice      best  its first op");
  for (int i = 0; i < p->n && status == CLI_DONE; i++)
    if (p->groups[i].like == i) status = tune_group(s, p, i, 0, j, &ran);
  if (cli_interrupted(NULL)) status = CLI_INTERRUPTED;
  if (status == CLI_DONE && !has_ran(ran)) status = CLI_FAILED;
  say_kept(j, status);
  return status;
}

static cli_status run_network(const tune_options *o) {
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  if (!o->store || o->json || o->csv || o->schedule || o->constraints)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "the groups of a plan are tuned into a --store, without --json, --csv, --schedule and "
            "--constraints");
  tf_text *texts = NULL;
  tf_spec *s = tf_diags_errors(d) == 0 && cli_read_texts(&o->in, &texts, d)
                   ? cli_spec_of(&o->in, texts, d)
                   : NULL;
  if (s) cli_has_sections(s, d);
  tf_net_plan *p = s && tf_diags_errors(d) == 0
                       ? tf_net_plan_read(s->arch, s->workload, cli_find_plan(&o->in, texts), d)
                       : NULL;
  job j = {.o = o,
           .serve = {.dtype = o->dtype, .quiet = o->in.quiet},
           .spec = s,
           .plan = o->serve ? p : NULL};
  bool reported = false;
  cli_status status = p ? CLI_FAILED : CLI_BAD_INPUT;
  if (p && cli_trials_begin(&j.trials, o->threads)) {
    j.meter = cli_meter_new(o->in.quiet);
    j.began = now(NULL);
    const bool served = !o->serve || cli_serve_begin(&j.serve, &j.trials, o->serve);
    j.least = calloc((size_t)p->n + 1, sizeof *j.least);
    for (int i = 0; j.least && i < p->n; i++)
      j.least[i] = INFINITY;
    status = served ? tune_groups(s, p, &j) : CLI_BAD_INPUT;
    free(j.least);
    if (status == CLI_BAD_INPUT) reported = true;
    cli_serve_end(&j.serve);
    cli_trials_end(&j.trials);
  }
  if (status == CLI_BAD_INPUT && !reported) cli_complain(d);
  tf_net_plan_free(p);
  tf_spec_free(s);
  if (texts) cli_free_texts(texts, o->in.n_files);
  tf_diags_free(d);
  return status;
}

static cli_status run_tune(const void *options) {
  const tune_options *o = options;
  if (cli_has_plan(&o->in)) return run_network(o);
  cli_session s;
  job j = {.o = o, .serve = {.dtype = o->dtype, .quiet = o->in.quiet || o->in.stdout_taken}};
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE && o->space) {
    status = print_space(&s, o);
    cli_close(&s);
    return status;
  }
  if (status == CLI_DONE) status = cli_trials_begin(&j.trials, o->threads) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_DONE) {
    j.meter = cli_meter_new(o->in.quiet);
    const bool served = !o->serve || cli_serve_begin(&j.serve, &j.trials, o->serve);
    status = served ? tune(&s, &j) : CLI_BAD_INPUT;
    cli_serve_end(&j.serve);
    cli_trials_end(&j.trials);
  }
  cli_close(&s);
  return status;
}

static void check_tune(void *options, tf_diags *d) {
  tune_options *o = options;
  if (o->trials > TRIALS_MOST) tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--trials: a million at most");
  if (o->isa && !strcmp(o->isa, "multi"))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--isa multi is no instruction set that a kernel can be timed for");
  if (o->rules && !o->space)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--rules says which --space is printed; add --space");
  if (o->rules && o->constraints)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--constraints are on the schedules that tune proposes, not on those of --rules");
  if (o->space &&
      (o->serve || o->store || o->json || o->csv || o->schedule || o->trials || o->time_limit > 0))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--space prints the space and measures nothing: without --trials, --time-limit, "
            "--store, --json, --csv, --schedule and --serve");
  if (!o->seed) o->seed = 1;
}

const cli_command cmd_tune = {
    .name = "tune",
    .summary = "measure kernels of many schedules here, and keep what was measured",
    .about =
        "Proposes schedules of the workload's kernel, compiles and tests them side by side, times "
        "them one by one on a core of their own, and says which is the fastest "
        "(docs/HOWTO-tune.md).  With --store every measurement is kept: the same command goes on "
        "where it was ended, and emit --tuned takes the fastest.  Of a network's plan each "
        "different group is tuned into the store, and plan --tuned takes the fastest of each.\n"
        "Exit status: 0, 1 if no kernel could be run, 2 for bad input.\n",
    .example = "arch-specs/host-template.yaml workloads/operators/gmm.yaml \\\n"
               "    --set M=64 --set N=64 --set K=64 --trials 4",
    .size = sizeof(tune_options),
    CLI_SLOTS(slots),
    .check = check_tune,
    .run = run_tune,
};
