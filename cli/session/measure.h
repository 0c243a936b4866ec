/* emit --measure N: kernels of the model's best mappings, timed on this computer. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H
#include "cli/cli.h"
#include "tileflow/emit.h"
#include "tileflow/planner.h"

/* Compiles and times the kernels in a temporary folder, which is removed afterwards; m[i].measured: the least of the
 * medians of kernels[i], in seconds.  Reports on stderr what could not be compiled or run; fails if nothing could. */
cli_status cli_measure(const tf_emitted *const *kernels, int n, tf_measured *m, bool quiet);
/* The seconds of processor time (so that other load matters less) in the first line of a bench's output; negative:
 * none. */
double cli_bench_seconds(const char *path);
/* Prints a table of the timed kernels on stdout. */
void cli_measured_print(const tf_planned *p);
#endif
