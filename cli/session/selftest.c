#include "cli/session/selftest.h"

#include <stdio.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/run_program.h"
#include "cli/os/safe_dir.h"
#include "cli/os/temp_dir.h"
#include "cli/session/measure.h"
#include "cli/text.h"

enum { TEST_SECONDS = 300, COMPILER_SECONDS = 60 };
/* The test, in double and serial, runs so many points in a few seconds. */
static const double most_points = 2e9;

static cli_status untested(const char *why) {
  fprintf(stderr, "note: the kernel was not tested: %s; make test in its folder does it\n", why);
  return CLI_DONE;
}

static bool runs_here(const char *isa) {
  return tf_emit_runs(strcmp(isa, "multi") != 0 ? isa : "portable");
}

/* The compiler that make uses, without its arguments. */
static cli_ran find_compiler(const char *said) {
  const char *const args[] = {"sh", "-c", "${CC:-cc} --version", NULL};
  return cli_run_program(args, said, COMPILER_SECONDS);
}

static cli_status test_in(const char *dir, const char *said, const tf_emitted *e) {
  const char *const args[] = {"make", "-s", "-C", dir, "test", NULL};
  bool there;
  if (!cli_safe_dir(dir, e->file, (size_t)e->n, &there)) return CLI_FAILED;
  cli_ran how = find_compiler(said);
  if (how == CLI_NOT_THERE) return untested("there is no C compiler (cc, or $CC)");
  if (how != CLI_STOPPED) how = cli_run_program(args, said, TEST_SECONDS);
  switch (how) {
  case CLI_RAN: return CLI_DONE;
  case CLI_STOPPED: return CLI_INTERRUPTED;
  case CLI_NOT_THERE: return untested("there is no make");
  case CLI_TOO_LONG: return untested("its test took too long");
  case CLI_BROKE: break;
  }
  fputs("tileflow: error: the kernel does not pass its own test here; nothing is written "
        "(--no-test writes it untested)\n",
        stderr);
  cli_quote(said);
  return CLI_FAILED;
}

static cli_status test_in_folder(const tf_emitted *e) {
  cli_text dir = {0}, said = {0};
  cli_hold_interrupt(0);
  cli_temp temp = cli_temp_dir();
  cli_status status = CLI_FAILED;
  if (temp.path) {
    cli_printf(&dir, "%s/kernel", temp.path);
    cli_printf(&said, "%s/said", temp.path);
    if (!dir.bad && !said.bad) status = test_in(dir.text, said.text, e);
  }
  cli_text_free(&dir);
  cli_text_free(&said);
  cli_temp_dir_drop(&temp);
  cli_release_interrupt();
  return status == CLI_DONE && cli_interrupted(NULL) ? CLI_INTERRUPTED : status;
}

cli_status cli_selftest(const tf_emitted *e, const char *isa, double points, bool quiet) {
  char why[80];
  snprintf(why, sizeof why, "this computer lacks %.40s", isa);
  if (!runs_here(isa)) return untested(why);
  snprintf(why, sizeof why, "its %.3g points would take long, one by one", points);
  if (points > most_points) return untested(why);
  cli_meter meter = cli_meter_new(quiet);
  cli_meter_line(&meter, "testing the kernel");
  const cli_status status = test_in_folder(e);
  cli_meter_end(&meter);
  return status;
}
