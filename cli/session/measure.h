/* emit --measure N: kernels of the model's best mappings, timed on this computer. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H
#include "cli/cli.h"
#include "tileflow/emit.h"
#include "tileflow/planner.h"

/* Compiles and times the kernels in a temporary folder, which is removed afterwards; m[i].measured:
 * the least of the medians of kernels[i], in seconds.  Reports on stderr what could not be compiled
 * or run; fails if nothing could. */
cli_status cli_measure(const tf_emitted *const *kernels, int n, tf_measured *m, bool quiet);
/* What a caller waits for, in seconds, by the first line of a bench's output: the time by the
 * clock; of a kernel of one thread the processor time of that, which is the same where nothing else
 * runs, and which other programs do not lengthen.  Negative: there is none. */
double cli_bench_seconds(const char *path);
/* Prints the first lines of what a program said, which are in the file, on stderr. */
void cli_quote(const char *path);
/* Prints a table of the timed kernels on stdout. */
void cli_measured_print(const tf_planned *p);
#endif
