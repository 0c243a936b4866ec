/* emit --measure N: kernels of the model's best mappings, timed on this computer. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H
#include "cli/cli.h"

/* Compiles and times the kernels in a temporary folder that is gone afterwards; m[i].measured: the least of the medians
 * of kernels[i].  Says on stderr what could not be compiled or run; fails if nothing could. */
cli_status cli_measure(const tf_emitted *const *kernels, int n, tf_measured *m, bool quiet);
/* The seconds of processor time that the first line of a kernel's bench names, so that a busy computer favours none;
 * negative: it names none. */
double cli_bench_seconds(const char *path);
/* A table of the kernels that were timed, on stdout. */
void cli_measured_print(const tf_planned *p);
#endif
