/* What tune measures: kernels compiled beside each other, held against their tests, and timed one by one on a core of
 * their own. */
#ifndef CLI_TRIALS_H
#define CLI_TRIALS_H
#include "cli/cli.h"
#include "cli/text.h"

typedef struct {
  int jobs;       /* compilers at once */
  int core;       /* that kernels are timed on; -1: not known, they run on any */
  char *compiler; /* what `$CC --version` says first; malloc'd */
  char *machine;  /* cli_machine's; malloc'd */
} cli_trials;

/* The name of the processor, "unknown" where the system does not say; malloc'd, NULL: out of memory. */
char *cli_machine(void);
/* Looks at the computer.  jobs 0: one for each processor.  False after a message on stderr. */
bool cli_trials_begin(cli_trials *t, int jobs);
void cli_trials_end(cli_trials *t);
/* For tf_tune_opts.  False: Ctrl-C, or nothing can be compiled here. */
bool cli_trials_measure(cli_trials *t, const tf_emitted *const *kernels, int n, tf_timing *out);
#endif
