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

/* Where a compiler that is killed leaves its temporary files: beside `said`, with which they are
 * removed. */
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
  if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
    _exit(NO_SUCH_PROGRAM - 1);
  execvp(args[0], (char *const *)(uintptr_t)args);
  _exit(errno == ENOENT ? NO_SUCH_PROGRAM : NO_SUCH_PROGRAM - 1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(pid_t one) {
  int status;
  while (one > 0 && waitpid(one, &status, 0) < 0 && errno == EINTR) {
  }
}

/* A process that ends the group when this one has been killed, which closes the pipe from which it
 * reads; 0: none. Nobody else writes to it, or holds it open. */
static pid_t guard(pid_t group, int *pipe_end) {
  int end[2];
  char any;
  if (pipe(end) != 0) return 0;
  const pid_t it = fork();
  if (it != 0) {
    close(end[0]);
    *pipe_end = end[1];
    if (it > 0) return it;
    close(end[1]);
    *pipe_end = -1;
    return 0;
  }
  close(end[1]);
  setpgid(0, group);
  cli_default_signals();
  while (read(end[0], &any, 1) < 0 && errno == EINTR) {
  }
  kill(-group, SIGKILL);
  _exit(0);
}

static void dismiss(pid_t guarding, int pipe_end) {
  if (guarding > 0) kill(guarding, SIGKILL);
  wait_for(guarding);
  if (pipe_end >= 0) close(pipe_end);
}

static cli_ran kill_all(pid_t child, cli_ran why) {
  kill(-child, SIGKILL);
  wait_for(child);
  return why;
}

/* To its end, to the time limit, or to Ctrl-C. */
static cli_ran watch(pid_t child, double end) {
  const struct timespec nap = {.tv_nsec = 5000000};
  pid_t ended;
  int status = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (cli_interrupted(NULL)) return kill_all(child, CLI_STOPPED);
    if (now() > end) return kill_all(child, CLI_TOO_LONG);
    nanosleep(&nap, NULL);
  }
  if (cli_interrupted(NULL)) return CLI_STOPPED;
  if (ended != child || !WIFEXITED(status)) return CLI_BROKE;
  return WEXITSTATUS(status) == 0                 ? CLI_RAN
         : WEXITSTATUS(status) == NO_SUCH_PROGRAM ? CLI_NOT_THERE
                                                  : CLI_BROKE;
}

cli_ran cli_run_program(const char *const *args, const char *said, double seconds) {
  const double end = now() + seconds;
  int pipe_end = -1;
  const pid_t child = fork();
  if (child < 0) return CLI_BROKE;
  if (child == 0) become(args, said);
  setpgid(child, child); /* in parent and child, as either may run first */
  const pid_t guarding = guard(child, &pipe_end);
  const cli_ran how = watch(child, end);
  dismiss(guarding, pipe_end);
  return how;
}
