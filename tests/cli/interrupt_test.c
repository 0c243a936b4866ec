/* Ctrl-C, and SIGTERM, at several moments of every command that takes long: status 130, soon,
 * nothing half-written, and the best so far where one is sought.  interrupt_test TOOL [slow], in
 * the root of the sources; slow: a tool without optimization or with sanitizers may be ended before
 * it has come round to printing what it found. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Times are processor time, so that a loaded machine changes nothing: MS_LATE is too late (without
 * an answer to Ctrl-C these take 20 s and more).  MS_HANGS, by the clock, ends a test that would
 * never end. */
enum { MS_LATE = 10000, MS_HANGS = 300000, INTERRUPTED = 130, ARGS_MOST = 12 };

typedef struct {
  const char *said;                  /* on stdout where it is interrupted late; NULL: nothing is */
  const char *const args[ARGS_MOST]; /* behind the tool; "OUT": a folder that is to stay away */
  bool endless;                      /* its make does not end: the kernel's test is under way */
} command;

#define EDGE "arch-specs/edge.yaml"
#define XEON "arch-specs/xeon-gold-6240.yaml"
#define ATTENTION "workloads/attention/g5.yaml"
#define HOST "arch-specs/host-template.yaml"
#define CHAIN "workloads/gemm-chain/g1.yaml"
#define ROWS "workloads/dataflows/cpu/gemm-chain-rows.yaml"

static const command commands[] = {
    {"mapping found", {"eval", EDGE, ATTENTION, "--evals", "1e9"}, false},
    {"op ", {"tree", EDGE, ATTENTION, "--evals", "1e9"}, false},
    {"Lower bounds", {"bound", EDGE, ATTENTION, "--evals", "1e9", "--time-limit", "1000"}, false},
    {"mapping found", {"solve", EDGE, ATTENTION}, false},
    {"mapping found", {"search", EDGE, ATTENTION, "--evals", "1e9"}, false},
    {"\"interrupt\"", {"search", EDGE, ATTENTION, "--evals", "1e9", "--json", "-"}, false},
    {NULL, {"emit", XEON, ATTENTION, "--isa", "avx2", "-o", "OUT", "--evals", "1e9"}, false},
    {NULL, {"emit", XEON, ATTENTION, "--isa", "portable", "-o", "OUT", "--measure", "64"}, false},
    {NULL, {"emit", HOST, CHAIN, ROWS, "--isa", "portable", "-o", "OUT"}, true},
};
static const int moments[] = {5, 60, 300, 1200}; /* ms of all threads */
enum {
  N_COMMANDS = sizeof commands / sizeof commands[0],
  N_MOMENTS = sizeof moments / sizeof moments[0]
};

static char dir[] = "/tmp/tileflow-interrupt-XXXXXX", out[64], said[64], compiler[4096], path[8192];

static void nap(int ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

static void become(const char *tool, const command *c) {
  const char *args[ARGS_MOST + 2] = {tool};
  int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (int i = 0; i < ARGS_MOST && c->args[i]; i++)
    args[i + 1] = strcmp(c->args[i], "OUT") ? c->args[i] : out;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  setenv("TMPDIR", dir, 1);
  setenv("CC", compiler, 1);
  if (c->endless) setenv("PATH", path, 1);
  if (fd < 0 || dup2(fd, 1) < 0 || !freopen("/dev/null", "w", stderr)) _exit(99);
  execv(tool, (char *const *)args);
  _exit(99);
}

static int ms_of(struct timeval t) { return (int)(t.tv_sec * 1000 + t.tv_usec / 1000); }

/* Processor time of the children that have ended, and of theirs. */
static int used_by_ended(void) {
  struct rusage u;
  getrusage(RUSAGE_CHILDREN, &u);
  return ms_of(u.ru_utime) + ms_of(u.ru_stime);
}

/* Of one that runs, and of those of its children that have ended: proc(5), fields 14 to 17 of stat,
 * in clock ticks. */
static int used_by(pid_t child) {
  char name[64], line[1024];
  long ticks[4] = {0}, all = 0;
  snprintf(name, sizeof name, "/proc/%d/stat", (int)child);
  FILE *f = fopen(name, "r");
  const char *behind = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
  if (f) fclose(f);
  if (behind)
    sscanf(behind, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %ld %ld %ld", &ticks[0],
           &ticks[1], &ticks[2], &ticks[3]);
  for (int i = 0; i < 4; i++)
    all += ticks[i];
  return (int)(all * 1000 / sysconf(_SC_CLK_TCK));
}

/* Until the child and its children that have ended have used so much; one that waits for a program
 * that does not end is given ten times that by the clock.  What they have used. */
static int let_run(pid_t child, int moment) {
  for (int ms = 0; used_by(child) < moment && ms < 10 * moment; ms += 5)
    nap(5);
  return used_by(child);
}

/* Waits for the end; ms that the child used in all, -1: it did not end. */
static int wait_for(pid_t child, int *status) {
  int before = used_by_ended();
  for (int ms = 0; ms < MS_HANGS; ms += 5, nap(5))
    if (waitpid(child, status, WNOHANG) == child) return used_by_ended() - before;
  kill(child, SIGKILL);
  waitpid(child, status, 0);
  return -1;
}

/* Files in the temporary folder, but what was said. */
static int left_over(void) {
  int n = 0;
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    n += e->d_name[0] != '.' && strcmp(e->d_name, "said") != 0;
  if (d) closedir(d);
  return n;
}

static bool says(const char *what) {
  char text[1 << 16];
  FILE *f = fopen(said, "r");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  return strstr(text, what) != NULL;
}

static bool run_one(const char *tool, bool slow, const command *c, int moment, int with) {
  int status;
  pid_t child = fork();
  if (child == 0) become(tool, c);
  int used = let_run(child, moment);
  kill(child, with);
  int all = wait_for(child, &status), later = all - used;
  /* before main begins, the signal ends it; a shell says 130 then */
  bool killed = WIFSIGNALED(status) && WTERMSIG(status) == with && moment < moments[N_MOMENTS - 1];
  bool right = killed || (WIFEXITED(status) && WEXITSTATUS(status) == INTERRUPTED);
  bool clean = left_over() == 0,
       spoke = slow || moment < moments[N_MOMENTS - 1] || !c->said || says(c->said);
  printf("%-7s after %4d ms, %s: %s, %d ms later%s%s\n", c->args[0], moment,
         with == SIGINT ? "Ctrl-C" : "SIGTERM", right ? "130" : "not 130", later,
         clean ? "" : ", files left over", spoke ? "" : ", without the best so far");
  return right && all >= 0 && later < MS_LATE && clean && spoke;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc < 2 || !mkdtemp(dir)) return 2;
  if (!realpath("tests/cli/endless", compiler) || !getenv("PATH")) return 2;
  snprintf(path, sizeof path, "%s:%s", compiler, getenv("PATH"));
  if (!realpath("tests/cli/leaving_cc.sh", compiler)) return 2;
  snprintf(out, sizeof out, "%s/out", dir);
  snprintf(said, sizeof said, "%s/said", dir);
  const bool slow = argc > 2 && !strcmp(argv[2], "slow");
  for (int i = 0; i < N_COMMANDS; i++) {
    for (int k = 0; k < N_MOMENTS; k++)
      failed += !run_one(argv[1], slow, &commands[i], moments[k], SIGINT);
    failed += !run_one(argv[1], slow, &commands[i], moments[N_MOMENTS - 1], SIGTERM);
  }
  unlink(said);
  rmdir(dir);
  printf("%d failed\n", failed);
  return failed != 0;
}
