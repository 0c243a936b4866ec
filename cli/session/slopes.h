/* What a mapping's cycles do when the machine changes a little: finite differences, each by an evaluation. */
#ifndef CLI_SESSION_SLOPES_H
#define CLI_SESSION_SLOPES_H
#include "cli/cli.h"

typedef enum { KNOB_BANDWIDTH, KNOB_RATE, KNOB_LATENCY, KNOB_PIPELINE } cli_knob_kind;

/* Something of the machine that can be made faster, all else as it is.  A latency or a pipeline is divided by the
 * factor, a bandwidth or a rate multiplied. */
typedef struct {
  cli_knob_kind kind;
  int at;         /* memory, or unit */
  double tenth;   /* cycles where it is 10 % faster */
  double without; /* cycles where it takes no time at all */
  double factor;  /* so much faster gives `reached` cycles, at most the goal; 0: it alone never does */
  double reached;
} cli_knob;

typedef struct {
  const char *name; /* borrowed from the spec */
  double value, next;
  double cycles; /* with `next`; NAN: the machine or the mapping is not valid so, or a count overflows */
  bool fits;
} cli_param_slope;

typedef struct {
  double cycles, goal; /* goal: 0.9 of cycles */
  int n, n_params;
  cli_knob *knobs; /* [n] */
  cli_param_slope *params;
  int n_together; /* of the fewest knobs that reach the goal where none does alone; 0: not even all of them */
  int *together;  /* [n_together] indices of knobs */
  double together_factor, together_cycles;
} cli_slopes;

/* Of an evaluated session.  False: out of memory; to be freed all the same. */
bool cli_slopes_of(const cli_session *s, cli_slopes *out);
void cli_slopes_free(cli_slopes *p);
#endif
