/* Sanity checks: no figure may be below its lower bound. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/report/report.h"
#include "cli/session/session.h"
#include "tileflow/version.h"

/* With tolerance for rounding, as both are sums. */
static bool below(double value, double bound) { return value < bound * (1 - 1e-9); }

static cli_status bug(const char *what, double value, double bound) {
  fprintf(stderr,
          "tileflow: a bug of tileflow: %s %.15g, below the bound of %.15g that no mapping can "
          "beat: one of the two is wrong.\n"
          "Please send the command, its input files and this line (tileflow " TILEFLOW_VERSION
          ").\n",
          what, value, bound);
  return CLI_FAILED;
}

/* A mapping that does not fit may be below its bound: it exceeds the resources. */
cli_status cli_check_bounds(const cli_session *s) {
  const tf_bounds *b = &s->bounds;
  double traffic = cli_outer_traffic(s);
  if (s->result.feasible && below(s->result.cycles, b->cycles))
    return bug("the mapping's cycles are", s->result.cycles, b->cycles);
  if (s->result.feasible && below(s->result.energy_pj, b->energy_pj))
    return bug("the mapping's energy in pJ is", s->result.energy_pj, b->energy_pj);
  if (s->result.feasible && below(traffic, (double)b->traffic_words))
    return bug("the mapping's words through the outermost memory are", traffic,
               (double)b->traffic_words);
  if (s->found.method && below(s->found.value, s->found.bound))
    return bug("the value found is", s->found.value, s->found.bound);
  return CLI_DONE;
}

cli_status cli_check_slope(const tf_slope *p) {
  for (int i = 0; i < p->n; i++) {
    const tf_slope_point *at = &p->at[i];
    if (below(at->attained, fmax(at->bound, at->all_units))) {
      char what[80];
      snprintf(what, sizeof what, "the words found with %" PRId64 " words on chip are",
               at->capacity);
      return bug(what, at->attained, fmax(at->bound, at->all_units));
    }
    if (below(at->bound, p->compulsory))
      return bug("the words proved are", at->bound, p->compulsory);
  }
  return CLI_DONE;
}
