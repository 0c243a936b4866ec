/* The line on a terminal that says how far something is. */
#ifndef CLI_METER_H
#define CLI_METER_H
#include "cli/cli.h"

typedef struct {
  bool on;           /* stderr is a terminal, and the user did not ask for quiet */
  double bound;      /* nothing is better */
  double limit;      /* seconds; 0: none */
  int64_t max_evals; /* 0: none */
  double last;       /* seconds at which it was shown */
  bool shown;
} cli_meter;

cli_meter cli_meter_new(bool quiet);
/* Shows, at most ten times a second: how many evaluations, how fast, what `more` says (NULL: nothing), the time left.
 */
void cli_meter_show(cli_meter *m, int64_t evals, double seconds, const char *more);
/* The same with the best so far (INFINITY: nothing fits yet) behind `more`. */
void cli_meter_show_best(cli_meter *m, int64_t evals, double seconds, double best, const char *more);
/* A line of its own words. */
void cli_meter_line(cli_meter *m, const char *fmt, ...) TF_PRINTF(2, 3);
/* Takes the line away. */
void cli_meter_end(cli_meter *m);
#endif
