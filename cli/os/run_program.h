/* Other programs, run to their end or to a time limit. */
#ifndef CLI_RUN_PROGRAM_H
#define CLI_RUN_PROGRAM_H
#include <stdbool.h>

typedef enum {
  CLI_RAN,       /* exit status 0 */
  CLI_NOT_THERE, /* no such program */
  CLI_BROKE,     /* another exit status, or a signal */
  CLI_TOO_LONG,  /* killed at the limit */
  CLI_STOPPED    /* killed because of Ctrl-C */
} cli_ran;

/* Runs args[0] (found as a shell finds it), stdout and stderr into the file `said`, stdin empty.  Its children end with
 * it, and it ends with Ctrl-C where that is held (interrupt.h). */
cli_ran cli_run_program(const char *const *args, const char *said, double seconds);
#endif
