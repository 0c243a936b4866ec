/* Ctrl-C, and the signals that a write may cause. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H
#include <stdbool.h>

/* To be called once, first of all.  From here on Ctrl-C, and SIGTERM like it (a batch system's, of
 * `timeout`), end the process with status 130, at once unless it is held by a part that can stop by
 * itself.  Where one is ignored (Ctrl-C in a background job of a script) it stays ignored.  A file
 * that exceeds the size limit makes the write fail, and does not end the process. */
void cli_catch_signals(void);

/* Between these two calls Ctrl-C is only noted, for code that stops when cli_interrupted says so;
 * they do not nest. If that code has not stopped after `grace` seconds, the process ends with
 * status 130 (0: no limit). */
void cli_hold_interrupt(double grace);
void cli_release_interrupt(void);
/* Seconds that a search or a solver gets to print its best: far more than one evaluation takes. */
#define CLI_GRACE 0.25

/* Whether Ctrl-C was noted.  Stays true, so that everything that follows ends, too.  ctx is
 * ignored: this is the `stop` of searches and solvers. */
bool cli_interrupted(void *ctx);

/* Between these two calls signals that a user sends are blocked: for writes of regular files, which
 * would leave a temporary file behind. */
void cli_begin_write(void);
void cli_end_write(void);
/* Whether any thread is between them. */
bool cli_writing(void);

/* For a child process before exec: restores the default handlers. */
void cli_default_signals(void);
#endif
