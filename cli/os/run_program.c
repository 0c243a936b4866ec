#define _POSIX_C_SOURCE 200809L
#include "cli/os/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/os/interrupt.h"

enum { NO_SUCH_PROGRAM = 127 };

/* Where a compiler that is killed leaves its temporary files: beside `said`, with which they are removed. */
static void temp_files_beside(const char *said) {
  const char *end = strrchr(said, '/');
  char *dir = end ? strndup(said, (size_t)(end - said)) : NULL;
  if (dir) setenv("TMPDIR", dir, 1);
  free(dir);
}

static void become(const char *const *args, const char *said) {
  int in = open("/dev/null", O_RDONLY), out = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  setpgid(0, 0);
  cli_default_signals();
  temp_files_beside(said);
  if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(NO_SUCH_PROGRAM - 1);
  execvp(args[0], (char *const *)(uintptr_t)args);
  _exit(errno == ENOENT ? NO_SUCH_PROGRAM : NO_SUCH_PROGRAM - 1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cli_ran kill_all(pid_t child, cli_ran why) {
  int status;
  kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return why;
}

cli_ran cli_run_program(const char *const *args, const char *said, double seconds) {
  const struct timespec nap = {.tv_nsec = 5000000};
  double end = now() + seconds;
  pid_t child = fork(), ended;
  int status = 0;
  if (child < 0) return CLI_BROKE;
  if (child == 0) become(args, said);
  setpgid(child, child); /* in parent and child, as either may run first */
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (cli_interrupted(NULL)) return kill_all(child, CLI_STOPPED);
    if (now() > end) return kill_all(child, CLI_TOO_LONG);
    nanosleep(&nap, NULL);
  }
  if (cli_interrupted(NULL)) return CLI_STOPPED;
  if (ended != child || !WIFEXITED(status)) return CLI_BROKE;
  return WEXITSTATUS(status) == 0 ? CLI_RAN : WEXITSTATUS(status) == NO_SUCH_PROGRAM ? CLI_NOT_THERE : CLI_BROKE;
}
