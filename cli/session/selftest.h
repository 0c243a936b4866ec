/* emit runs a kernel's own test once, before the folder appears under its name. */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H
#include "cli/cli.h"
#include "tileflow/emit.h"

/* Writes the files into a temporary folder, which is removed afterwards, and runs `make test` in
 * it.  CLI_FAILED, with what it said on stderr, if it fails.  Where it cannot be run, since there
 * is no make or compiler or the computer lacks `isa`, or where `points` are so many that its
 * evaluation in double would take long, a line on stderr says so, and all is well. */
cli_status cli_selftest(const tf_emitted *e, const char *isa, double points, bool quiet);
#endif
