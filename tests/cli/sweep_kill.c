/* A sweep that is killed by SIGKILL again and again, and goes on: in the end its rows are those of
 * one that was left alone.
 *
 * - sweep_kill TOOL [KILLS [MPIRUN]]: in the root of the sources; 8 kills where none are given;
 * with mpirun's path three ranks, of which one is killed
 *
 * The moments are spread over the time that the whole sweep takes, in an order that is always the
 * same. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 64, STEP = 37 }; /* odd, so that every part comes */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* mpirun NULL: one process of so many threads; else three of them. */
static pid_t start(const char *tool, const char *store, int threads, const char *mpirun) {
  char count[12];
  snprintf(count, sizeof count, "%d", threads);
  pid_t child = fork();
  if (child != 0) return child;
  int null = open("/dev/null", O_WRONLY);
  dup2(null, 1);
  if (mpirun) {
    dup2(null, 2); /* it says at length that a rank was killed */
    execl(mpirun, mpirun, "--oversubscribe", "--allow-run-as-root", "-n", "3", tool, "sweep",
          "examples/sweep.yaml", "--store", store, "--set", "evals=100", (char *)NULL);
    _exit(127);
  }
  execl(tool, tool, "sweep", "examples/sweep.yaml", "--store", store, "--threads", count, "--set",
        "evals=100", (char *)NULL);
  _exit(127);
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int rows_of(const char *tool, const char *store, const char *csv) {
  pid_t child = fork();
  if (child == 0) {
    execl(tool, tool, "results", store, "--csv", csv, "--quiet", (char *)NULL);
    _exit(127);
  }
  return wait_for(child);
}

static char *text_of(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  *n = f && text ? fread(text, 1, (1 << 20) - 1, f) : 0;
  if (f) fclose(f);
  return text;
}

/* Whether each line of a begins with the number of a point that b has, too.  Figures may differ:
 * the mappings of other machines are tried once all points are found. */
static int is_part(const char *a, const char *b) {
  char number[40];
  for (; *a; a += strcspn(a, "\n"), a += *a == '\n') {
    snprintf(number, sizeof number, "\n%.*s,", (int)strcspn(a, ","), a);
    if (strncmp(b, number + 1, strlen(number) - 1) != 0 && !strstr(b, number)) return 0;
  }
  return 1;
}

/* The k-th child of a process; itself while it has none. */
static pid_t child_of(pid_t parent, int k) {
  char path[64];
  long child = 0;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
  FILE *f = fopen(path, "r");
  for (int i = 0; f && i <= k; i++)
    if (fscanf(f, "%ld", &child) != 1) break;
  if (f) fclose(f);
  return child ? (pid_t)child : parent;
}

typedef struct {
  const char *tool, *mpirun;
  char store[120], csv[120], whole[120];
  char *want;
  double takes;
  int kills, landed, finished;
} test;

/* What a killed sweep leaves is a store with some of the rows, or none yet. */
static int check_left(const test *t) {
  struct stat st;
  size_t n;
  if (stat(t->store, &st) != 0 || st.st_size == 0) return 1;
  if (rows_of(t->tool, t->store, t->csv) !=
      0) /* killed while it was made: that is taken back, and it is empty */
    return stat(t->store, &st) == 0 && st.st_size == 0;
  char *got = text_of(t->csv, &n);
  int ok = is_part(got, t->want);
  free(got);
  return ok;
}

static int kill_one(test *t, int k) {
  pid_t child = start(t->tool, t->store, 1 + k % 3, t->mpirun);
  double part = (double)(k * STEP % PARTS) / PARTS * t->takes;
  struct timespec pause = {(time_t)part, (long)(1e9 * (part - (double)(time_t)part))};
  nanosleep(&pause, NULL);
  kill(t->mpirun ? child_of(child, k % 3) : child, SIGKILL);
  int status = wait_for(child);
  if (t->mpirun && status > 0) status = -1; /* it says so where a rank was killed */
  t->landed += status < 0;
  t->finished += status == 0;
  int ok = (status <= 0) && check_left(t);
  if (!ok) printf("kill %d: status %d, or rows that an undisturbed sweep has not\n", k, status);
  if (status == 0) unlink(t->store); /* all was done: the next one begins anew */
  return ok;
}

static int same(const test *t) {
  size_t n;
  if (rows_of(t->tool, t->store, t->csv) != 0) return 0;
  char *got = text_of(t->csv, &n);
  int ok = !strcmp(got, t->want);
  if (!ok) printf("rows differ from those of an undisturbed sweep\n%s", got);
  free(got);
  return ok;
}

int main(int argc, char **argv) {
  char dir[] = "/tmp/sweep-kill-XXXXXX", journal[140];
  test t = {.tool = argc > 1 ? argv[1] : "",
            .kills = argc > 2 ? atoi(argv[2]) : 8,
            .mpirun = argc > 3 ? argv[3] : NULL};
  size_t n;
  if (argc < 2 || !mkdtemp(dir)) return 2;
  snprintf(t.store, sizeof t.store, "%s/killed.tfdb", dir);
  snprintf(t.csv, sizeof t.csv, "%s/rows.csv", dir);
  snprintf(t.whole, sizeof t.whole, "%s/whole.tfdb", dir);
  double began = now();
  int ok =
      wait_for(start(t.tool, t.whole, 2, t.mpirun)) == 0 && rows_of(t.tool, t.whole, t.csv) == 0;
  t.takes = now() - began;
  t.want = text_of(t.csv, &n);
  ok = ok && n > 0;
  for (int k = 0; ok && k < t.kills; k++)
    ok = kill_one(&t, k);
  ok = ok && wait_for(start(t.tool, t.store, 2, NULL)) == 0 && same(&t);
  printf("%d kills, %d landed, %d sweeps had ended: %s\n", t.kills, t.landed, t.finished,
         ok ? "same rows" : "FAILED");
  snprintf(journal, sizeof journal, "%s-journal", t.store);
  unlink(journal);
  unlink(t.store);
  unlink(t.csv);
  unlink(t.whole);
  rmdir(dir);
  free(t.want);
  return !ok;
}
