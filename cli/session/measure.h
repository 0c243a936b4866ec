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
/* The time that a caller waits, in seconds, from the first line of a bench's output: wall-clock
 * time; for a kernel of one thread its processor time, which is the same on an idle computer and
 * independent of other programs.  Negative: there is none. */
double cli_bench_seconds(const char *path);
/* Prints the first lines of a program's output, which are in the file, on stderr. */
void cli_quote(const char *path);
/* Prints a table of the timed kernels on stdout. */
void cli_measured_print(const tf_planned *p);
#endif
