/* Measurements for tune: kernels are compiled in parallel, tested, and timed one by one on a core
 * of their own. */
#ifndef CLI_TRIALS_H
#define CLI_TRIALS_H
#include "cli/cli.h"
#include "cli/text.h"
#include "tileflow/emit.h"
#include "tileflow/tune.h"

typedef struct {
  int jobs;              /* compilers at once */
  int core;              /* on which kernels are timed; -1: any */
  char *compiler;        /* first line of `$CC --version`; malloc'd */
  char *machine;         /* cli_machine's; malloc'd */
  bool refusal_reported; /* the compiler's message for a refused kernel was printed */
} cli_trials;

/* The name of the processor; "unknown" where the system does not tell it; malloc'd, NULL: out of
 * memory. */
char *cli_machine(void);
/* Examines the computer.  jobs 0: one for each processor.  False after a message on stderr. */
bool cli_trials_begin(cli_trials *t, int jobs);
void cli_trials_end(cli_trials *t);
/* Implements tf_tune_opts.measure.  False: Ctrl-C, or nothing can be compiled here. */
bool cli_trials_measure(cli_trials *t, const tf_emitted *const *kernels, int n, tf_timing *out);
/* Implements tf_tune_opts.confirm. */
bool cli_trials_confirm(cli_trials *t, const tf_emitted *const *kernels, int n, tf_timing *out);
/* Times dir/0/bench to dir/(n - 1)/bench in `turns` alternating turns; gives medians of those that
 * ran.  False: Ctrl-C. */
bool cli_trials_beside(const cli_trials *t, const char *dir, int n, int turns, tf_timing *out);
/* The tree of a mapping that was measured, as text; `from` names its origin in errors.  NULL with
 * them in d. */
tf_tree *cli_measured_tree(const char *from, const char *mapping, const tf_spec *what, tf_diags *d);
/* The mapping of the fastest kernel that the store has for the workload and this computer, with the
 * choices of its schedule.  NULL: there is none, or, with an error in d, it cannot be used. */
tf_tree *cli_measured_mapping(const char *store, const tf_spec *what, const char *dtype,
                              const char **isa, tf_choices *choices, tf_diags *d);
#endif
