#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* A handler can reach nothing but a global. */
static volatile sig_atomic_t interrupted;

static void note(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

void cli_hold_interrupt(void) {
  struct sigaction now = {.sa_handler = note};
  interrupted = 0;
  sigaction(SIGINT, &now, NULL);
}

void cli_release_interrupt(void) {
  struct sigaction now = {.sa_handler = SIG_DFL};
  sigaction(SIGINT, &now, NULL);
}

bool cli_interrupted(void *ctx) {
  (void)ctx;
  return interrupted != 0;
}
