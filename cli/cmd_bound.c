#include <inttypes.h>

#include "cli.h"

int cmd_bound(const cli_options *o) {
  cli_session s;
  int status = cli_open(&s, o);
  if (status == CLI_DONE && (!s.spec->arch || !s.spec->workload)) {
    fputs("tileflow: error[E_MISSING]: bound needs an architecture and a workload\n", stderr);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE && !tf_bounds_of(s.spec->arch, s.spec->workload, &s.bounds)) {
    fputs("tileflow: error[E_OVERFLOW]: a count passes 2^63 - 1\n", stderr);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) {
    printf("No mapping of %s on %s can beat:\n", s.spec->workload->name, s.spec->arch->name);
    printf("  traffic  %" PRId64 " words through %s: every input read, every output written, once\n",
           s.bounds.traffic_words, s.spec->arch->memories[0].name);
    printf("  cycles   %.0f: that traffic, or every unit busy all the time\n", s.bounds.cycles);
    printf("  energy   %.0f pJ: that traffic and every point once\n", s.bounds.energy_pj);
  }
  cli_close(&s);
  return status;
}
