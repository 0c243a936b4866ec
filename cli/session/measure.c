#include "cli/session/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/run_program.h"
#include "cli/os/safe_dir.h"
#include "cli/os/temp_dir.h"
#include "cli/text.h"

enum { TURNS = 3, COMPILE_SECONDS = 120, BENCH_SECONDS = 60, ROUNDS_MOST = 31, ROUNDS_FIRST = 3 };
static const double turn_seconds = 0.3; /* target duration of a kernel's turn */
/* A kernel slower than the fastest first turn by this factor gets no more turns. */
static const double behind = 1.3;

typedef struct {
  const char *dir;
  const tf_emitted *const *kernels; /* [n] */
  tf_measured *m;                   /* [n] */
  int *rounds;                      /* [n] */
  int n;
  cli_meter meter;
  bool no_tool; /* make is not installed */
} bench;

static bool write_kernel(const bench *b, int i) {
  const tf_emitted *e = b->kernels[i];
  cli_text path = {0};
  bool there;
  cli_printf(&path, "%s/%d", b->dir, i);
  bool ok = !path.bad && cli_safe_dir(path.text, e->file, (size_t)e->n, &there);
  cli_text_free(&path);
  return ok;
}

/* ---- compiling and timing -------------------------------------------------------------------- */

void cli_quote(const char *path) {
  enum { LINES = 8 };
  char line[512];
  FILE *f = fopen(path, "r");
  for (int i = 0; f && i < LINES && fgets(line, sizeof line, f); i++)
    fprintf(stderr, "  | %s%s", line, strchr(line, '\n') ? "" : "\n");
  if (f) fclose(f);
}

static void explain(const tf_measured *m, const char *what, cli_ran how, const char *said) {
  fprintf(stderr, "note: the kernel of the model's mapping %d %s%s\n", m->rank, what,
          how == CLI_TOO_LONG ? ": it took too long" : "");
  if (how == CLI_BROKE) cli_quote(said);
}

static cli_ran compile(bench *b, int i) {
  cli_text dir = {0}, said = {0};
  cli_printf(&dir, "%s/%d", b->dir, i);
  cli_printf(&said, "%s/said", b->dir);
  const char *const args[] = {"make", "-s", "-C", dir.text, "bench", NULL};
  cli_ran how = dir.bad || said.bad ? CLI_BROKE : cli_run_program(args, said.text, COMPILE_SECONDS);
  if (how == CLI_BROKE || how == CLI_TOO_LONG)
    explain(&b->m[i], "could not be compiled", how, said.text);
  b->no_tool |= how == CLI_NOT_THERE;
  cli_text_free(&dir);
  cli_text_free(&said);
  return how;
}

double cli_bench_seconds(const char *path) {
  double took, worked;
  int threads;
  FILE *f = fopen(path, "r");
  const bool said = f && fscanf(f, "%*s %lf s, %*f GFLOP/s, %d thread%*[s,] %lf s of", &took,
                                &threads, &worked) == 3;
  if (f) fclose(f);
  return !said ? -1 : threads == 1 ? worked : took;
}

/* Runs one turn of kernel i; its time is the least of its medians.  The first turn determines how
 * many rounds fill a turn. */
static cli_ran time_turn(bench *b, int i, bool counts) {
  tf_measured *m = &b->m[i];
  cli_text program = {0}, said = {0}, rounds = {0};
  cli_printf(&program, "%s/%d/bench", b->dir, i);
  cli_printf(&said, "%s/said", b->dir);
  cli_printf(&rounds, "%d", b->rounds[i]);
  const char *const args[] = {program.text, rounds.text, NULL};
  bool bad = program.bad || said.bad || rounds.bad;
  cli_ran how = bad ? CLI_BROKE : cli_run_program(args, said.text, BENCH_SECONDS);
  double t = how == CLI_RAN ? cli_bench_seconds(said.text) : -1;
  if (how == CLI_RAN && t < 0) how = CLI_BROKE;
  if (how == CLI_RAN && !counts) {
    double most = t > 0 ? turn_seconds / t : ROUNDS_MOST;
    b->rounds[i] = most > ROUNDS_MOST    ? ROUNDS_MOST
                   : most < ROUNDS_FIRST ? ROUNDS_FIRST
                                         : (int)most;
  }
  if (how == CLI_RAN && (!counts || m->measured < 0 || t < m->measured)) m->measured = t;
  if (how == CLI_BROKE || how == CLI_TOO_LONG) {
    explain(m, "could not be run", how, said.text);
    m->measured = -1;
  }
  cli_text_free(&program);
  cli_text_free(&said);
  cli_text_free(&rounds);
  return how;
}

/* The longest first turn after which a kernel gets more. */
static double most_seconds(const bench *b) {
  double least = INFINITY;
  for (int i = 0; i < b->n; i++)
    if (b->m[i].measured >= 0 && b->m[i].measured < least) least = b->m[i].measured;
  return behind * least;
}

/* Times kernels in turn, so that other load on the computer affects all equally. */
static cli_status time_all(bench *b) {
  for (int i = 0; i < b->n; i++) {
    cli_meter_line(&b->meter, "compiling kernel %d of %d", i + 1, b->n);
    cli_ran how = compile(b, i);
    if (how == CLI_STOPPED) return CLI_INTERRUPTED;
    if (how == CLI_NOT_THERE) return CLI_FAILED;
    if (how == CLI_RAN && time_turn(b, i, false) == CLI_STOPPED) return CLI_INTERRUPTED;
  }
  const double most = most_seconds(b);
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < b->n; i++) {
      cli_meter_line(&b->meter, "timing kernel %d of %d, turn %d of %d", i + 1, b->n, turn + 1,
                     TURNS);
      if (b->m[i].measured >= 0 && b->m[i].measured <= most && time_turn(b, i, true) == CLI_STOPPED)
        return CLI_INTERRUPTED;
    }
  return CLI_DONE;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Works in a temporary folder, which is removed also on Ctrl-C. */
static cli_status time_in_folder(bench *b) {
  cli_hold_interrupt(0);
  cli_temp dir = cli_temp_dir();
  cli_status status = dir.path ? CLI_DONE : CLI_FAILED;
  b->dir = dir.path;
  for (int i = 0; status == CLI_DONE && i < b->n; i++) {
    b->rounds[i] = ROUNDS_FIRST;
    status = cli_interrupted(NULL) ? CLI_INTERRUPTED : write_kernel(b, i) ? CLI_DONE : CLI_FAILED;
  }
  if (status == CLI_DONE) status = time_all(b);
  cli_meter_end(&b->meter);
  cli_temp_dir_drop(&dir);
  cli_release_interrupt();
  return status == CLI_DONE && cli_interrupted(NULL) ? CLI_INTERRUPTED : status;
}

static bool any_ran(const bench *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++)
    any |= b->m[i].measured >= 0;
  return any;
}

cli_status cli_measure(const tf_emitted *const *kernels, int n, tf_measured *m, bool quiet) {
  bench b = {.kernels = kernels, .m = m, .n = n, .meter = cli_meter_new(quiet)};
  b.rounds = calloc((size_t)n, sizeof *b.rounds);
  cli_status status = b.rounds ? time_in_folder(&b) : CLI_FAILED;
  free(b.rounds);
  if (status != CLI_DONE && !b.no_tool) return status;
  if (any_ran(&b)) return CLI_DONE;
  fputs(b.no_tool ? "tileflow: error[E_IO]: --measure needs make and a C compiler (cc, or $CC), "
                    "and there is no make\n"
                  : "tileflow: error[E_IO]: --measure: none of the kernels could be compiled and "
                    "run here; without it, they are emitted unmeasured\n",
        stderr);
  return CLI_FAILED;
}

void cli_measured_print(const tf_planned *p) {
  puts("kernel  model's rank  predicted  measured");
  for (int i = 0; i < p->n_measured; i++) {
    const tf_measured *x = &p->measured[i];
    printf("%6d  %12d  %9s  %8s%s\n", i + 1, x->rank, cli_si(x->predicted, "s").s,
           x->measured < 0 ? "-" : cli_si(x->measured, "s").s, i == p->chosen ? "  kept" : "");
  }
}
