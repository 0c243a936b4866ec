/* emit runs a kernel's own test once, before the folder gets its name. */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H
#include "cli/cli.h"
#include "tileflow/emit.h"

/* Writes the files into a temporary folder, which is removed afterwards, and runs `make test` in
 * it.  CLI_FAILED, with its output on stderr, if the test fails.  If it cannot run, as there is no
 * make or compiler or the computer lacks `isa`, or if `points` are so many that its evaluation in
 * double would take long, prints a line on stderr and succeeds. */
cli_status cli_selftest(const tf_emitted *e, const char *isa, double points, bool quiet);
#endif
