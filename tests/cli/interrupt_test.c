/* Ctrl-C at several moments of every command that takes long: status 130, soon, nothing half-written, and the best so far where one is
 * sought.  interrupt_test TOOL, in the root of the sources. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS_LATE = 5000 /* a loaded machine; without an answer to Ctrl-C these take 10 s and more */, INTERRUPTED = 130, ARGS_MOST = 12 };

typedef struct {
  const char *said;                  /* on stdout where it is interrupted late; NULL: nothing is */
  const char *const args[ARGS_MOST]; /* behind the tool; "OUT": a folder that is to stay away */
} command;

#define EDGE "arch-specs/edge.yaml"
#define XEON "arch-specs/xeon-gold-6240.yaml"
#define ATTENTION "workloads/attention/g5.yaml"

static const command commands[] = {
    {"mapping found", {"eval", EDGE, ATTENTION, "--evals", "1e9"}},
    {"op ", {"tree", EDGE, ATTENTION, "--evals", "1e9"}},
    {"can beat", {"bound", EDGE, ATTENTION, "--evals", "1e9", "--time-limit", "1000"}},
    {"mapping found", {"solve", EDGE, ATTENTION}},
    {"mapping found", {"search", EDGE, ATTENTION, "--evals", "1e9"}},
    {"\"interrupt\"", {"search", EDGE, ATTENTION, "--evals", "1e9", "--json", "-"}},
    {NULL, {"emit", XEON, ATTENTION, "--isa", "avx2", "-o", "OUT"}},
    {NULL, {"emit", XEON, ATTENTION, "--isa", "portable", "-o", "OUT", "--measure", "64"}},
};
static const int moments[] = {5, 60, 300, 1200}; /* ms */
enum { N_COMMANDS = sizeof commands / sizeof commands[0], N_MOMENTS = sizeof moments / sizeof moments[0] };

static char dir[] = "/tmp/tileflow-interrupt-XXXXXX", out[64], said[64];

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
  setenv("TMPDIR", dir, 1);
  if (fd < 0 || dup2(fd, 1) < 0 || !freopen("/dev/null", "w", stderr)) _exit(99);
  execv(tool, (char *const *)args);
  _exit(99);
}

/* Waits for the end; ms that took, -1: it did not. */
static int wait_for(pid_t child, int *status) {
  for (int ms = 0; ms < MS_LATE; ms += 5, nap(5))
    if (waitpid(child, status, WNOHANG) == child) return ms;
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

static bool run_one(const char *tool, const command *c, int moment) {
  int status;
  pid_t child = fork();
  if (child == 0) become(tool, c);
  nap(moment);
  kill(child, SIGINT);
  int ms = wait_for(child, &status);
  /* before main begins, the signal ends it; a shell says 130 then */
  bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
  bool right = killed || (WIFEXITED(status) && WEXITSTATUS(status) == INTERRUPTED);
  bool clean = left_over() == 0, spoke = moment < moments[N_MOMENTS - 1] || !c->said || says(c->said);
  printf("%-7s after %4d ms: %s, %d ms later%s%s\n", c->args[0], moment, right ? "130" : "not 130", ms,
         clean ? "" : ", files left over", spoke ? "" : ", without the best so far");
  return right && ms >= 0 && clean && spoke;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc != 2 || !mkdtemp(dir)) return 2;
  snprintf(out, sizeof out, "%s/out", dir);
  snprintf(said, sizeof said, "%s/said", dir);
  for (int i = 0; i < N_COMMANDS; i++)
    for (int k = 0; k < N_MOMENTS; k++)
      failed += !run_one(argv[1], &commands[i], moments[k]);
  unlink(said);
  rmdir(dir);
  printf("%d failed\n", failed);
  return failed != 0;
}
