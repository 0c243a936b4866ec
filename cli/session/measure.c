#define _XOPEN_SOURCE 700
#include "cli/session/measure.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/run_program.h"
#include "cli/os/safe_dir.h"
#include "cli/text.h"

enum { TURNS = 3, COMPILE_SECONDS = 120, BENCH_SECONDS = 60, ROUNDS_MOST = 31, ROUNDS_FIRST = 3 };
static const double turn_seconds = 0.3; /* that a turn of a kernel should take */
static const tf_loc nowhere = {0};

/* One kernel on the way. */
typedef struct {
  tf_measured m;
  int candidate;
  tf_emitted *files;  /* until they are written */
  const char *source; /* kernel.c among them: mappings that make the same are one */
  int rounds;
} kernel;

typedef struct {
  const cli_session *s;
  const cli_options *o;
  const cli_candidates *c;
  const char *dir;
  cli_meter meter;
  kernel *k;
  int n;
  bool no_tool; /* make is not there */
} bench;

/* ---- the temporary folder ------------------------------------------------------------------- */

static int drop(const char *path, const struct stat *st, int flag, struct FTW *at) {
  (void)st, (void)flag, (void)at;
  return remove(path);
}

static char *fresh_dir(void) {
  const char *under = getenv("TMPDIR");
  cli_text path = {0};
  cli_printf(&path, "%s/tileflow-XXXXXX", under && *under ? under : "/tmp");
  if (!path.bad && mkdtemp(path.text)) return path.text;
  fprintf(stderr, "%s: error[E_IO]: cannot make a temporary folder\n", path.bad ? "" : path.text);
  cli_text_free(&path);
  return NULL;
}

/* ---- emitting --------------------------------------------------------------------------------- */

static bool write_kernel(const bench *b, int i, const tf_emitted *e) {
  cli_dir_file *files = calloc((size_t)e->n, sizeof *files);
  cli_text path = {0};
  bool there = false;
  for (int f = 0; files && f < e->n; f++)
    files[f] = (cli_dir_file){e->file[f].name, e->file[f].text};
  cli_printf(&path, "%s/%d", b->dir, i);
  bool ok = files && !path.bad && cli_safe_dir(path.text, files, (size_t)e->n, &there);
  cli_text_free(&path);
  free(files);
  return ok;
}

static bool is_new(const bench *b, const char *source) {
  for (int i = 0; i < b->n; i++)
    if (!strcmp(b->k[i].source, source)) return false;
  return true;
}

/* Where the kernel differs from all before: keeps it under its number.  Takes its ownership. */
static void keep_new(bench *b, int candidate, tf_emitted *e, double predicted) {
  const char *source = NULL;
  for (int f = e->n; f-- > 0;) /* the first: of several instruction sets, kernel.c only chooses */
    if (!strncmp(e->file[f].name, "kernel", 6) && strstr(e->file[f].name, ".c")) source = e->file[f].text;
  if (!source || !is_new(b, source)) {
    tf_emitted_free(e);
    return;
  }
  b->k[b->n++] = (kernel){.m = {.rank = candidate + 1, .predicted = predicted, .measured = -1},
                          .candidate = candidate,
                          .files = e,
                          .source = source,
                          .rounds = ROUNDS_FIRST};
}

/* A mapping that does not fit, or that the generator refuses, is passed over.  False: out of memory. */
static bool emit_candidate(bench *b, int i) {
  tf_diags *d = tf_diags_new();
  tf_tree *tree = d ? tf_tree_parse(b->c->at[i].text, nowhere, b->s->spec->arch, b->s->spec->workload, d) : NULL;
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  const bool ok = d != NULL;
  if (model && tf_model_eval(model, NULL, &r) && r.feasible) {
    tf_emit_options e = {.isa = b->o->isa ? b->o->isa : tf_emit_isa(b->o->dtype),
                         .dtype = b->o->dtype,
                         .micro = b->o->micro,
                         .name = b->o->name};
    tf_emitted *files = tf_emit_cpu(tree, &e, d);
    if (files) keep_new(b, i, files, r.seconds);
  }
  tf_model_free(model);
  tf_tree_free(tree);
  tf_diags_free(d);
  return ok;
}

/* ---- compiling and timing ---------------------------------------------------------------------- */

/* The first lines of what a program said. */
static void quote(const char *path) {
  enum { LINES = 8 };
  char line[512];
  FILE *f = fopen(path, "r");
  for (int i = 0; f && i < LINES && fgets(line, sizeof line, f); i++)
    fprintf(stderr, "  | %s%s", line, strchr(line, '\n') ? "" : "\n");
  if (f) fclose(f);
}

static void explain(const kernel *k, const char *what, cli_ran how, const char *said) {
  fprintf(stderr, "note: the kernel of the model's mapping %d %s%s\n", k->m.rank, what,
          how == CLI_TOO_LONG ? ": it took too long" : "");
  if (how == CLI_BROKE) quote(said);
}

static cli_ran compile(bench *b, int i) {
  cli_text dir = {0}, said = {0};
  cli_printf(&dir, "%s/%d", b->dir, i);
  cli_printf(&said, "%s/said", b->dir);
  const char *const args[] = {"make", "-s", "-C", dir.text, "bench", NULL};
  cli_ran how = dir.bad || said.bad ? CLI_BROKE : cli_run_program(args, said.text, COMPILE_SECONDS);
  if (how == CLI_BROKE || how == CLI_TOO_LONG) explain(&b->k[i], "could not be compiled", how, said.text);
  b->no_tool |= how == CLI_NOT_THERE;
  cli_text_free(&dir);
  cli_text_free(&said);
  return how;
}

/* The seconds that a bench's line names; negative: it names none. */
static double seconds_of(const char *path) {
  double v = -1;
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%*s %lf s", &v) != 1) v = -1;
  if (f) fclose(f);
  return v;
}

/* One turn of kernel i: the least of its medians counts.  The first finds how many rounds fill a turn. */
static cli_ran take_turn(bench *b, int i, bool counts) {
  kernel *k = &b->k[i];
  cli_text program = {0}, said = {0}, rounds = {0};
  cli_printf(&program, "%s/%d/bench", b->dir, i);
  cli_printf(&said, "%s/said", b->dir);
  cli_printf(&rounds, "%d", k->rounds);
  const char *const args[] = {program.text, rounds.text, NULL};
  bool bad = program.bad || said.bad || rounds.bad;
  cli_ran how = bad ? CLI_BROKE : cli_run_program(args, said.text, BENCH_SECONDS);
  double t = how == CLI_RAN ? seconds_of(said.text) : -1;
  if (how == CLI_RAN && t < 0) how = CLI_BROKE;
  if (how == CLI_RAN && !counts) {
    double most = t > 0 ? turn_seconds / t : ROUNDS_MOST;
    k->rounds = most > ROUNDS_MOST ? ROUNDS_MOST : most < ROUNDS_FIRST ? ROUNDS_FIRST : (int)most;
  }
  if (how == CLI_RAN && (!counts || k->m.measured < 0 || t < k->m.measured)) k->m.measured = t;
  if (how == CLI_BROKE || how == CLI_TOO_LONG) {
    explain(k, "could not be run", how, said.text);
    k->m.measured = -1;
  }
  cli_text_free(&program);
  cli_text_free(&said);
  cli_text_free(&rounds);
  return how;
}

/* All in turn, so that what else the machine does falls on all alike. */
static cli_status time_all(bench *b) {
  for (int i = 0; i < b->n; i++) {
    cli_meter_say(&b->meter, "compiling kernel %d of %d", i + 1, b->n);
    cli_ran how = compile(b, i);
    if (how == CLI_STOPPED) return CLI_INTERRUPTED;
    if (how == CLI_NOT_THERE) return CLI_FAILED;
    if (how == CLI_RAN && take_turn(b, i, false) == CLI_STOPPED) return CLI_INTERRUPTED;
  }
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < b->n; i++) {
      cli_meter_say(&b->meter, "timing kernel %d of %d, turn %d of %d", i + 1, b->n, turn + 1, TURNS);
      if (b->k[i].m.measured >= 0 && take_turn(b, i, true) == CLI_STOPPED) return CLI_INTERRUPTED;
    }
  return CLI_DONE;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static int fastest(const bench *b) {
  int best = -1;
  for (int i = 0; i < b->n; i++)
    if (b->k[i].m.measured >= 0 && (best < 0 || b->k[i].m.measured < b->k[best].m.measured)) best = i;
  return best;
}

static bool report(const bench *b, int best, cli_measured *m) {
  m->of = calloc((size_t)b->n, sizeof *m->of);
  size_t bytes = strlen(b->c->at[b->k[best].candidate].text) + 1;
  m->text = malloc(bytes);
  if (!m->of || !m->text) return false;
  memcpy(m->text, b->c->at[b->k[best].candidate].text, bytes);
  for (int i = 0; i < b->n; i++)
    m->of[i] = b->k[i].m;
  m->n = b->n;
  m->chosen = best;
  return true;
}

/* In a temporary folder, from which Ctrl-C has a way out: it is gone afterwards. */
static cli_status time_in_folder(bench *b) {
  cli_hold_interrupt(0);
  char *dir = fresh_dir();
  cli_status status = dir ? CLI_DONE : CLI_FAILED;
  b->dir = dir;
  for (int i = 0; status == CLI_DONE && i < b->n; i++)
    status = cli_interrupted(NULL) ? CLI_INTERRUPTED : write_kernel(b, i, b->k[i].files) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_DONE) status = time_all(b);
  cli_meter_end(&b->meter);
  if (dir) nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
  free(dir);
  cli_release_interrupt();
  return status == CLI_DONE && cli_interrupted(NULL) ? CLI_INTERRUPTED : status;
}

static cli_status measure(bench *b, cli_measured *m) {
  for (int i = 0; i < b->c->n && b->n < b->o->measure; i++)
    if (!emit_candidate(b, i)) return CLI_FAILED;
  if (b->n == 0) return CLI_DONE; /* the caller's own attempt says why nothing can be emitted */
  cli_status status = time_in_folder(b);
  if (status != CLI_DONE && !b->no_tool) return status;
  int best = fastest(b);
  if (best >= 0) return report(b, best, m) ? CLI_DONE : CLI_FAILED;
  fputs(b->no_tool ? "tileflow: error[E_IO]: --measure needs make and a C compiler (cc, or $CC), and there is no make\n"
                   : "tileflow: error[E_IO]: --measure: none of the kernels could be compiled and run here; without "
                     "it, they are emitted unmeasured\n",
        stderr);
  return CLI_FAILED;
}

cli_status cli_measure(const cli_session *s, const cli_options *o, const cli_candidates *c, cli_measured *m) {
  bench b = {.s = s, .o = o, .c = c, .meter = cli_meter_new(o)};
  b.k = calloc((size_t)o->measure, sizeof *b.k);
  cli_status status = b.k ? measure(&b, m) : CLI_FAILED;
  for (int i = 0; i < b.n; i++)
    tf_emitted_free(b.k[i].files);
  free(b.k);
  return status;
}

void cli_measured_free(cli_measured *m) {
  free(m->of);
  free(m->text);
  *m = (cli_measured){0};
}

void cli_measured_print(const cli_measured *m) {
  puts("kernel  model's rank  predicted  measured");
  for (int i = 0; i < m->n; i++) {
    const tf_measured *x = &m->of[i];
    printf("%6d  %12d  %9s  %8s%s\n", i + 1, x->rank, cli_si(x->predicted, "s").s,
           x->measured < 0 ? "-" : cli_si(x->measured, "s").s, i == m->chosen ? "  kept" : "");
  }
}
