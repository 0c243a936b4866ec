/* Ctrl-C, and what a write may meet. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H
#include <stdbool.h>

/* Once, before anything else: from here on Ctrl-C ends the process with status 130, at once unless a part that can stop
 * by itself holds it.  Where it is ignored (a job in the background of a script) it stays so.  A file that grows past
 * the limit of its size is an error of the write, not the end of the process. */
void cli_catch_signals(void);

/* Between these two Ctrl-C is only noted, for what stops when cli_interrupted says so; a pair stands in no other.  What
 * has not stopped within `grace` seconds is ended with status 130 (0: it is always waited for). */
void cli_hold_interrupt(double grace);
void cli_release_interrupt(void);
/* What a search or a solver is given to print its best: far more than one evaluation takes. */
#define CLI_GRACE 0.25

/* Whether it was noted.  It stays so: what follows is the way out.  ctx is not looked at: this is the `stop` of
 * searches and solvers. */
bool cli_interrupted(void *ctx);

/* Between these two no signal that a user sends comes through: for writes of regular files, which a temporary file
 * would be left of. */
void cli_begin_write(void);
void cli_end_write(void);
/* Whether it is between them, in whatever thread. */
bool cli_writing(void);

/* In a child, before it becomes another program: signals are as they were. */
void cli_default_signals(void);
#endif
