/* The progress line on a terminal. */
#ifndef CLI_METER_H
#define CLI_METER_H
#include "cli/cli.h"

typedef struct {
  bool enabled;      /* stderr is a terminal, and the user did not ask for quiet */
  double bound;      /* proved lower bound */
  double limit;      /* seconds; 0: no limit */
  int64_t max_evals; /* 0: no limit */
  double last;       /* seconds at which the line was last updated */
  bool shown;
} cli_meter;

cli_meter cli_meter_new(bool quiet);
/* Updates the line, at most ten times a second: number and rate of evaluations, `more` (NULL:
 * nothing), the time left. */
void cli_meter_show(cli_meter *m, int64_t evals, double seconds, const char *more);
/* The same with the best so far (INFINITY: nothing fits yet) after `more`. */
void cli_meter_show_best(cli_meter *m, int64_t evals, double seconds, double best,
                         const char *more);
/* Updates the line with a text of the caller's. */
void cli_meter_line(cli_meter *m, const char *fmt, ...) TF_PRINTF(2, 3);
/* Removes the line. */
void cli_meter_end(cli_meter *m);
#endif
