/* starve_test [--runs N] [--tool FILE] COMMAND...: the command of the tool, run again and again in
 * a memory that has run out at the nth call of the allocator, for the first of them one by one and
 * then evenly over the rest, N in all: once for that call alone and once for all behind it.
 *
 * Each run must end as the one that had all memory, with the same words, or say that memory has run
 * out and fail.  It may not crash, nor print anything else.
 *
 * --tool: with the end that the tool has (cli/os/os_memory.h).  FILE is what the command writes:
 * afterwards it is whole or not there, and nothing lies beside it under a name that begins with its
 * own. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/memory/starve.h"

enum { RUNS = 200, FAILED = 1, BAD_INPUT = 2 };

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

typedef struct {
  int status; /* as waitpid gives it */
  long calls;
  char *out, *err, *file; /* file: what was written; NULL: none is there */
} ended;

static const char *written; /* --tool */

static char *contents(FILE *f) {
  const long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  char *text = n < 0 ? NULL : calloc((size_t)n + 1, 1);
  rewind(f);
  if (text && fread(text, 1, (size_t)n, f) != (size_t)n) text[0] = '\0';
  fclose(f);
  return text;
}

/* In a process of its own, whose last word is how often it asked for memory. */
static void run(int argc, char **argv, int words[3], long nth, bool all) {
  dup2(words[0], STDOUT_FILENO);
  dup2(words[1], STDERR_FILENO);
  starve_from(nth, all);
  const int status = __real_main(argc, argv);
  const long calls = starve_calls();
  starve_from(0, false);
  if (write(words[2], &calls, sizeof calls) != (ssize_t)sizeof calls) _exit(FAILED);
  exit(status);
}

/* What the command wrote; a store of a sweep holds other bytes each time, and is looked at by tests
 * of its own. */
static char *file_written(void) {
  FILE *f = written && !strstr(written, ".tfdb") ? fopen(written, "r") : NULL;
  return f ? contents(f) : NULL;
}

/* Whether a temporary file was left beside it. */
static bool litter(void) {
  char pattern[4096];
  glob_t found;
  if (!written || strstr(written, ".tfdb")) return false;
  snprintf(pattern, sizeof pattern, "%s.*", written);
  const bool any = glob(pattern, 0, NULL, &found) == 0;
  if (any) globfree(&found);
  return any;
}

static ended run_apart(int argc, char **argv, long nth, bool all) {
  FILE *f[3] = {tmpfile(), tmpfile(), tmpfile()};
  ended e = {.status = -1};
  if (!f[0] || !f[1] || !f[2]) return e;
  if (written) unlink(written);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) run(argc, argv, (int[3]){fileno(f[0]), fileno(f[1]), fileno(f[2])}, nth, all);
  if (child < 0 || waitpid(child, &e.status, 0) != child) e.status = -1;
  if (pread(fileno(f[2]), &e.calls, sizeof e.calls, 0) != (ssize_t)sizeof e.calls) e.calls = 0;
  fclose(f[2]);
  e.out = contents(f[0]);
  e.err = contents(f[1]);
  e.file = file_written();
  return e;
}

static void forget(ended e) {
  free(e.out);
  free(e.err);
  free(e.file);
}

static bool ends_well(const ended *e, const ended *fed) {
  if (!e->out || !e->err || !WIFEXITED(e->status)) return false;
  const int status = WEXITSTATUS(e->status);
  if (litter() || (e->file && strcmp(e->file, fed->file ? fed->file : "") != 0)) return false;
  if (status == WEXITSTATUS(fed->status)) return strcmp(e->out, fed->out) == 0;
  const bool told = strstr(e->err, "out of memory") ||
                    strstr(e->err, "Cannot allocate memory"); /* ours; strerror's */
  return (status == FAILED || status == BAD_INPUT) && told;
}

/* Where its words part from those of the run that had all memory. */
static void show_difference(const ended *e, const ended *fed) {
  const char *got = e->out, *want = fed->out, *line = fed->out;
  for (; got && *got && *got == *want; got++, want++)
    if (*want == '\n') line = want + 1;
  const char *had = e->out + (line - fed->out);
  if (got && *got != *want)
    fprintf(stderr, "%.*s\ninstead of: %.*s\n", (int)strcspn(had, "\n"), had,
            (int)strcspn(line, "\n"), line);
}

static int starve(int argc, char **argv, long nth, bool all, const ended *fed) {
  ended e = run_apart(argc, argv, nth, all);
  const bool well = ends_well(&e, fed);
  if (!well)
    fprintf(stderr, "call %ld%s without memory: status %d, signal %d\n%s", nth,
            all ? " and all behind" : "", WIFEXITED(e.status) ? WEXITSTATUS(e.status) : -1,
            WIFSIGNALED(e.status) ? WTERMSIG(e.status) : 0, e.err ? e.err : "");
  if (!well) show_difference(&e, fed);
  forget(e);
  return !well;
}

int __wrap_main(int argc, char **argv) {
  long runs = RUNS, from = 1, nth = 1, step = 1, done = 0;
  if (argc > 2 && strcmp(argv[1], "--runs") == 0) runs = strtol(argv[2], NULL, 10), from = 3;
  if (argc > from + 1 && strcmp(argv[from], "--tool") == 0) written = argv[from + 1], from += 2;
  if (written) starve_tool();
  char **args = argv + from - 1;
  const int n = argc - (int)from + 1;
  const ended fed = run_apart(n, args, 0, false);
  const bool ran = WIFEXITED(fed.status) && fed.out && fed.calls;
  int bad = 0;
  if (!ran) fprintf(stderr, "the command itself fails: %s", fed.err ? fed.err : "\n");
  for (; ran && nth <= fed.calls; nth += step, done++) {
    bad += starve(n, args, nth, false, &fed);
    if (!written) bad += starve(n, args, nth, true, &fed); /* the tool ends with the first */
    /* half of the runs one by one, the others evenly over the rest */
    if (2 * done >= runs) step = (fed.calls - runs / 2) / (runs / 2) + 1;
  }
  printf("%ld of %ld calls without memory, %d ended badly\n", done, fed.calls, bad);
  forget(fed);
  return !ran || bad != 0;
}
