#include "cli/session/trials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/os/interrupt.h"
#include "cli/os/run_program.h"
#include "cli/os/safe_dir.h"
#include "cli/os/safe_write.h"
#include "cli/os/temp_dir.h"
#include "cli/session/measure.h"

enum {
  COMPILE_SECONDS = 240,
  TEST_SECONDS = 120,
  BENCH_SECONDS = 60,
  ROUNDS_MOST = 31,
  ROUNDS_FIRST = 3,
  TURNS = 8,        /* most turns of a kernel timed by itself */
  TURNS_BESIDE = 9, /* turns of each kernel, if several alternate */
};
static const double turn_seconds = 0.2; /* target duration of a turn */
static const double steady = 0.02;      /* medians with a smaller relative difference agree */

/* ---- the computer ---------------------------------------------------------------------------- */
/* The value of "KEY<blanks>:" in a file of /proc, malloc'd; NULL: it is not there. */
static char *value_of(const char *path, const char *key) {
  char line[1024];
  char *out = NULL;
  FILE *f = fopen(path, "r");
  while (f && !out && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
    line[strcspn(line, "\n")] = '\0';
    for (colon++; *colon == ' ' || *colon == '\t'; colon++) {
    }
    out = strdup(colon);
  }
  if (f) fclose(f);
  return out;
}

/* The last core that this process may use, as most other load runs on the first; -1: not known. */
static int last_core(void) {
  char *list = value_of("/proc/self/status", "Cpus_allowed_list");
  int core = -1;
  const char *p = list ? strrchr(list, ',') : NULL;
  const char *q = list ? strrchr(p ? p : list, '-') : NULL;
  if (list) core = atoi(q ? q + 1 : p ? p + 1 : list);
  free(list);
  return core;
}

static char *first_line(const char *path) {
  char line[256] = "";
  FILE *f = fopen(path, "r");
  if (f && !fgets(line, sizeof line, f)) line[0] = '\0';
  if (f) fclose(f);
  line[strcspn(line, "\n")] = '\0';
  return strdup(line);
}

/* *reported: a message says why there is none. */
static char *compiler_of(bool *reported) {
  const char *cc = getenv("CC");
  const char *const args[] = {cc && *cc ? cc : "cc", "--version", NULL};
  cli_temp dir = cli_temp_dir();
  char *line = NULL;
  cli_text said = {0};
  *reported = !dir.path;
  if (!dir.path) return NULL;
  cli_printf(&said, "%s/said", dir.path);
  if (!said.bad && cli_run_program(args, said.text, BENCH_SECONDS) == CLI_RAN)
    line = first_line(said.text);
  cli_text_free(&said);
  cli_temp_dir_drop(&dir);
  return line ? line : strdup("cc");
}

char *cli_machine(void) {
  char *model = value_of("/proc/cpuinfo", "model name");
  return model ? model : strdup("unknown");
}

bool cli_trials_begin(cli_trials *t, int jobs) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  *t = (cli_trials){.jobs = jobs ? jobs : n > 0 ? (int)n : 1, .core = last_core()};
  t->machine = cli_machine();
  bool reported = false;
  t->compiler = compiler_of(&reported);
  if (t->machine && t->compiler) return true;
  cli_trials_end(t);
  if (!reported) fputs("tileflow: error[E_LIMIT]: out of memory\n", stderr);
  return false;
}

void cli_trials_end(cli_trials *t) {
  free(t->machine);
  free(t->compiler);
}

/* ---- compiling ------------------------------------------------------------------------------- */
/* Compiles and tests each kernel in its folder.  The file rc gets the outcome: 0, 1 (wrong
 * results), 128 or more (a signal; killed at the time limit); if it is missing, the program was not
 * built.  --foreground: otherwise timeout would leave the process group that cli_run_program ends
 * on Ctrl-C. */
static const char recipe[] =
    "%%.done:\n"
    "\t@$(MAKE) -s -C $* bench >$*/said 2>&1 && $(MAKE) -s -C $* RUN=: test >>$*/said 2>&1 && { "
    "(cd $* && timeout --foreground -s KILL %d ./test) >>$*/said 2>&1; echo $$? >$*/rc; }; true\n";

static bool write_trials(const char *dir, const tf_emitted *const *kernels, int n) {
  cli_text make = {0}, path = {0};
  bool ok = true, there;
  cli_printf(&make, "all:");
  for (int k = 0; k < n; k++)
    cli_printf(&make, " %d.done", k);
  cli_printf(&make, "\n");
  cli_printf(&make, recipe, TEST_SECONDS);
  for (int k = 0; ok && k < n; k++) {
    cli_text folder = {0};
    cli_printf(&folder, "%s/%d", dir, k);
    ok = !folder.bad && cli_safe_dir(folder.text, kernels[k]->file, (size_t)kernels[k]->n, &there);
    cli_text_free(&folder);
  }
  cli_printf(&path, "%s/all.mk", dir);
  ok = ok && !make.bad && !path.bad && cli_safe_write(path.text, &make);
  cli_text_free(&path);
  cli_text_free(&make);
  return ok;
}

static cli_ran compile_all(const cli_trials *t, const char *dir, int n) {
  cli_text jobs = {0}, said = {0};
  cli_printf(&jobs, "-j%d", t->jobs);
  cli_printf(&said, "%s/said", dir);
  const char *const args[] = {"make", "-s", "-k", jobs.text, "-C", dir, "-f", "all.mk", NULL};
  const cli_ran how =
      jobs.bad || said.bad
          ? CLI_BROKE
          : cli_run_program(args, said.text, (double)n * (COMPILE_SECONDS + TEST_SECONDS));
  cli_text_free(&jobs);
  cli_text_free(&said);
  return how;
}

static tf_verdict tested(const char *dir, int k) {
  cli_text path = {0};
  int rc = -1;
  cli_printf(&path, "%s/%d/rc", dir, k);
  FILE *f = path.bad ? NULL : fopen(path.text, "r");
  if (f && fscanf(f, "%d", &rc) != 1) rc = -1;
  if (f) fclose(f);
  cli_text_free(&path);
  return rc == 0               ? TF_TUNE_RAN
         : rc < 0              ? TF_TUNE_NOT_COMPILED
         : rc == 137           ? TF_TUNE_TOO_LONG
         : rc > 128 || rc == 2 ? TF_TUNE_CRASHED
                               : TF_TUNE_WRONG;
}

/* Prints the compiler's message for the first kernel that it refused, once per run. */
static void report_refusal(cli_trials *t, const char *dir, const tf_timing *out, int n) {
  cli_text path = {0};
  int k = 0;
  while (k < n && out[k].verdict != TF_TUNE_NOT_COMPILED)
    k++;
  if (k == n || t->refusal_reported) return;
  t->refusal_reported = true;
  cli_printf(&path, "%s/%d/said", dir, k);
  fputs("note: a kernel could not be compiled\n", stderr);
  if (!path.bad) cli_quote(path.text);
  cli_text_free(&path);
}

/* ---- timing ---------------------------------------------------------------------------------- */
/* Runs a bench once; *seconds: the median of its rounds. */
static cli_ran run_once(const cli_trials *t, const char *dir, int k, int rounds, double *seconds) {
  cli_text program = {0}, said = {0}, count = {0}, core = {0};
  cli_printf(&program, "%s/%d/bench", dir, k);
  cli_printf(&said, "%s/said", dir);
  cli_printf(&count, "%d", rounds);
  cli_printf(&core, "%d", t->core);
  const bool bad = program.bad || said.bad || count.bad || core.bad;
  const char *const pinned[] = {"taskset", "-c", core.text, program.text, count.text, NULL};
  const char *const free_to_move[] = {program.text, count.text, NULL};
  cli_ran how =
      bad ? CLI_BROKE
          : cli_run_program(t->core >= 0 ? pinned : free_to_move, said.text, BENCH_SECONDS);
  if (how == CLI_NOT_THERE) how = cli_run_program(free_to_move, said.text, BENCH_SECONDS);
  *seconds = how == CLI_RAN ? cli_bench_seconds(said.text) : -1;
  if (how == CLI_RAN && *seconds <= 0) how = CLI_BROKE;
  cli_text_free(&program);
  cli_text_free(&said);
  cli_text_free(&count);
  cli_text_free(&core);
  return how;
}

/* Rounds that fill a turn, if one takes so many seconds. */
static int rounds_of(double each) {
  const double most = turn_seconds / each;
  return most > ROUNDS_MOST ? ROUNDS_MOST : most < ROUNDS_FIRST ? ROUNDS_FIRST : (int)most;
}

static void note(cli_ran how, tf_timing *out) {
  if (how == CLI_TOO_LONG) out->verdict = TF_TUNE_TOO_LONG;
  if (how == CLI_BROKE) out->verdict = TF_TUNE_CRASHED;
}

/* Runs turns until two consecutive medians agree, or the limit is reached; takes the lower of the
 * last two. */
static cli_ran time_one(const cli_trials *t, const char *dir, int k, tf_timing *out) {
  double last, now;
  int rounds = ROUNDS_FIRST;
  cli_ran how = run_once(t, dir, k, rounds, &last);
  if (how == CLI_RAN) rounds = rounds_of(last);
  bool agree = false;
  for (out->turns = 1; how == CLI_RAN && !agree && out->turns < TURNS; out->turns++) {
    how = run_once(t, dir, k, rounds, &now);
    if (how != CLI_RAN) break;
    agree = fabs(now - last) <= steady * fmin(now, last);
    out->seconds = fmin(now, last);
    last = now;
  }
  note(how, out);
  return how;
}

/* One after the other.  CLI_STOPPED: Ctrl-C. */
static cli_ran time_each(const cli_trials *t, const char *dir, int n, tf_timing *out) {
  cli_ran how = CLI_RAN;
  for (int k = 0; k < n && how != CLI_STOPPED; k++)
    if (out[k].verdict == TF_TUNE_RAN) how = time_one(t, dir, k, &out[k]);
  return how;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Alternates turns, so that other load on the computer affects all kernels equally; takes each
 * kernel's median. */
static cli_ran time_turns(const cli_trials *t, const char *dir, int n, int turns, tf_timing *out) {
  double *took = malloc(((size_t)n * (size_t)turns + 1) * sizeof *took);
  cli_ran how = took ? CLI_RAN : CLI_STOPPED;
  for (int turn = 0; turn < turns && how != CLI_STOPPED; turn++)
    for (int i = 0; i < n && how != CLI_STOPPED; i++) {
      const int k = turn % 2 ? n - 1 - i : i;
      double *now = &took[k * turns + turn];
      if (out[k].verdict != TF_TUNE_RAN) continue;
      how = run_once(t, dir, k, turn == 0 ? ROUNDS_FIRST : rounds_of(now[-1]), now);
      note(how, &out[k]);
      out[k].turns++;
    }
  for (int k = 0; k < n && how != CLI_STOPPED; k++) {
    if (out[k].verdict != TF_TUNE_RAN) continue;
    qsort(&took[k * turns], (size_t)turns, sizeof *took, ascending);
    out[k].seconds = took[k * turns + turns / 2];
  }
  free(took);
  return how;
}

static cli_ran time_beside(const cli_trials *t, const char *dir, int n, tf_timing *out) {
  return time_turns(t, dir, n, TURNS_BESIDE, out);
}

bool cli_trials_beside(const cli_trials *t, const char *dir, int n, int turns, tf_timing *out) {
  for (int k = 0; k < n; k++)
    out[k] = (tf_timing){.verdict = TF_TUNE_RAN};
  return time_turns(t, dir, n, turns, out) != CLI_STOPPED && !cli_interrupted(NULL);
}

typedef cli_ran how_to_time(const cli_trials *t, const char *dir, int n, tf_timing *out);

static bool measure(cli_trials *t, const tf_emitted *const *kernels, int n, how_to_time *timed,
                    tf_timing *out) {
  cli_hold_interrupt(0);
  cli_temp dir = cli_temp_dir();
  const bool there = dir.path != NULL;
  cli_ran how =
      there && write_trials(dir.path, kernels, n) ? compile_all(t, dir.path, n) : CLI_STOPPED;
  if (how == CLI_NOT_THERE)
    fputs("tileflow: error[E_IO]: tune needs make and a C compiler (cc, or $CC), and there is no "
          "make\n",
          stderr);
  for (int k = 0; k < n && how != CLI_STOPPED && how != CLI_NOT_THERE; k++)
    out[k] = (tf_timing){.verdict = tested(dir.path, k)};
  if (how != CLI_STOPPED && how != CLI_NOT_THERE) report_refusal(t, dir.path, out, n);
  if (how != CLI_STOPPED && how != CLI_NOT_THERE) how = timed(t, dir.path, n, out);
  cli_temp_dir_drop(&dir);
  cli_release_interrupt();
  return there && how != CLI_STOPPED && how != CLI_NOT_THERE && !cli_interrupted(NULL);
}

bool cli_trials_measure(cli_trials *t, const tf_emitted *const *kernels, int n, tf_timing *out) {
  return measure(t, kernels, n, time_each, out);
}

bool cli_trials_confirm(cli_trials *t, const tf_emitted *const *kernels, int n, tf_timing *out) {
  return measure(t, kernels, n, time_beside, out);
}
