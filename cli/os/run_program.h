/* Runs other programs, to their end or a time limit. */
#ifndef CLI_RUN_PROGRAM_H
#define CLI_RUN_PROGRAM_H
#include <stdbool.h>

typedef enum {
  CLI_RAN,       /* exit status 0 */
  CLI_NOT_THERE, /* no such program */
  CLI_BROKE,     /* non-zero exit status, or a signal */
  CLI_TOO_LONG,  /* killed at the limit */
  CLI_STOPPED    /* killed because of Ctrl-C */
} cli_ran;

/* Runs args[0] (searched as a shell does) with stdout and stderr in the file `said` and empty
 * stdin.  Its children end with it, all of them if this process is killed, and Ctrl-C ends it where
 * that is held (interrupt.h).  Its TMPDIR is the folder of `said`, which is to be one that the
 * caller removes: a program that is killed cannot remove its own files. */
cli_ran cli_run_program(const char *const *args, const char *said, double seconds);
#endif
