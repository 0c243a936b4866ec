/* Ctrl-C while something runs that can stop by itself. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H
#include <stdbool.h>

/* Between these two Ctrl-C is only noted; a pair stands in no other. */
void cli_hold_interrupt(void);
void cli_release_interrupt(void);
/* Whether it was, since the last cli_hold_interrupt.  ctx is not looked at: this is the `stop` of searches and solvers. */
bool cli_interrupted(void *ctx);
#endif
