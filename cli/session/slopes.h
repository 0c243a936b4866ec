/* Sensitivity of a mapping's cycles to the machine: finite differences, each by an evaluation. */
#ifndef CLI_SESSION_SLOPES_H
#define CLI_SESSION_SLOPES_H
#include "cli/cli.h"
#include "cli/text.h"

typedef enum {
  KNOB_BANDWIDTH,
  KNOB_RATE,
  KNOB_LATENCY,
  KNOB_PIPELINE,
  KNOB_LINKS,
  KNOB_HOPS
} cli_knob_kind;

/* A property of the machine that can be improved while the rest is unchanged.  A latency or a
 * pipeline is divided by the factor, a bandwidth or a rate multiplied. */
typedef struct {
  cli_knob_kind kind;
  int index;      /* index of the memory or unit */
  double tenth;   /* cycles if it is 10 % faster */
  double without; /* cycles if it takes no time */
  double factor;  /* the least factor for which `reached` cycles are at most the goal; 0: no factor
                     suffices */
  double reached;
} cli_knob;

typedef struct {
  const char *name; /* borrowed from the spec */
  double value, next;
  double cycles; /* cycles with `next`; NAN: the machine or the mapping is invalid, or a count
                    overflows */
  bool fits;
} cli_param_slope;

typedef struct {
  double cycles, goal; /* goal: 0.9 of cycles */
  int n, n_params;
  cli_knob *knobs; /* [n] */
  cli_param_slope *params;
  int n_together; /* how many knobs reach the goal together, if none does alone; 0: not even all */
  int *together;  /* [n_together] indices of knobs */
  double together_factor, together_cycles;
} cli_slopes;

/* For an evaluated session.  False: out of memory; free it in either case. */
bool cli_slopes_of(const cli_session *s, cli_slopes *out);
void cli_slopes_free(cli_slopes *p);

/* ---- as text (slopes_text.c) ----------------------------------------------------------------- */
const char *cli_knob_what(const cli_knob *k); /* bandwidth, rate, latency, pipeline */
const char *cli_knob_name(const cli_session *s, const cli_knob *k);
/* "-4.2 %": a change relative to the cycles before. */
cli_figure cli_change(double cycles, double before);
/* The share of the cycles for which each resource is busy. */
void cli_put_busy(const cli_session *s, cli_text *out);
/* The changes that give 10 % fewer cycles. */
void cli_put_goal(const cli_session *s, const cli_slopes *p, cli_text *out);
/* The resource to which the cycles are most sensitive. */
void cli_put_steepest(const cli_session *s, const cli_slopes *p, cli_text *out);
#endif
