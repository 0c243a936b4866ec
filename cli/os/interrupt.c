#define _POSIX_C_SOURCE 200809L
#include "cli/os/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* A process that got hardly any processor time gets extensions of the grace period, at most so
 * many. */
enum { LOOK_AGAIN_MS = 50, LOOKS_MOST = 40 };
static const double starved =
    0.1; /* seconds of processor time since Ctrl-C: with less, the machine is overloaded */

/* A signal handler has access to globals only. */
static volatile sig_atomic_t interrupted, held, looks;
static struct timespec used_before; /* written before the timer is set, read when it fires */
static timer_t timer;
static volatile sig_atomic_t timer_there;
static double grace;

static void end_process(void) {
  static const char said[] = "tileflow: interrupted\n";
  ssize_t n = write(2, said, sizeof said - 1);
  (void)n;
  _exit(CLI_INTERRUPTED);
}

static void set_timer(double seconds) {
  struct itimerspec t = {
      .it_value = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))},
      .it_interval = {0, seconds > 0 ? LOOK_AGAIN_MS * 1000000L : 0}};
  if (timer_there) timer_settime(timer, 0, &t, NULL);
}

static void note(int signal_number) {
  (void)signal_number;
  if (!held) end_process();
  if (interrupted) return;
  interrupted = 1;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used_before);
  if (grace > 0) set_timer(grace);
}

/* The grace period is over. */
static void end_of_grace(int signal_number) {
  struct timespec now;
  (void)signal_number;
  if (!held || !interrupted) return;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  double used = (double)(now.tv_sec - used_before.tv_sec) +
                1e-9 * (double)(now.tv_nsec - used_before.tv_nsec);
  looks = looks + 1;
  if (used >= starved || looks >= LOOKS_MOST) end_process();
}

static void catch (int signal_number, void (*handler)(int)) {
  struct sigaction now = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(signal_number, &now, NULL);
}

static bool ignored(int signal_number) {
  struct sigaction before;
  return sigaction(signal_number, NULL, &before) != 0 || before.sa_handler == SIG_IGN;
}

void cli_catch_signals(void) {
  const bool deaf = ignored(SIGINT), told = !ignored(SIGTERM);
  struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  catch (SIGXFSZ, SIG_IGN);
  if (deaf && !told) return;
  timer_there = timer_create(CLOCK_MONOTONIC, &how, &timer) == 0;
  catch (SIGALRM, end_of_grace);
  if (!deaf) catch (SIGINT, note);
  if (told) catch (SIGTERM, note);
}

void cli_hold_interrupt(double seconds) {
  grace = seconds;
  held = 1;
}

void cli_release_interrupt(void) {
  set_timer(0);
  held = 0;
}

bool cli_interrupted(void *ctx) {
  (void)ctx;
  return interrupted != 0;
}

static void block(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(how, &set, NULL);
}

static atomic_bool writing;

void cli_begin_write(void) {
  block(SIG_BLOCK);
  atomic_store(&writing, true);
}

void cli_end_write(void) {
  atomic_store(&writing, false);
  block(SIG_UNBLOCK);
}

bool cli_writing(void) { return atomic_load(&writing); }

void cli_default_signals(void) {
  catch (SIGXFSZ, SIG_DFL);
  catch (SIGINT, SIG_DFL);
  catch (SIGTERM, SIG_DFL);
  catch (SIGALRM, SIG_DFL);
}
