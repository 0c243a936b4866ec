/* emit --measure N: the model's best mappings, timed on this computer. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H
#include "cli/cli.h"

typedef struct {
  double value;  /* what they are ranked by; the list ascends */
  double cycles; /* as the search counts them */
  char *text;
} cli_candidate;

/* Mappings to choose from.  Starts as {0}. */
typedef struct {
  int n, room;
  cli_candidate *at;
} cli_candidates;

/* cli/choose.c: ranks the mappings by what the model predicts and what their kernels cost besides, in cycles, and sorts
 * them; those that cannot be emitted are left out. */
void cli_choose(const cli_session *s, const cli_options *o, cli_candidates *c);

/* Takes copies of what a search found.  False: out of memory. */
bool cli_candidates_add(cli_candidates *c, const tf_found *found, int n);
void cli_candidates_sort(cli_candidates *c);
void cli_candidates_free(cli_candidates *c);

/* What was measured.  Starts as {0}. */
typedef struct {
  int n, chosen;
  tf_measured *of; /* in the model's order */
  char *text;      /* the mapping chosen */
} cli_measured;

/* Emits, compiles and times up to o->measure different kernels of the candidates, best first, in a temporary folder
 * that is gone afterwards.  Says on stderr what could not be compiled or run; fails if nothing could. */
cli_status cli_measure(const cli_session *s, const cli_options *o, const cli_candidates *c, cli_measured *m);
void cli_measured_free(cli_measured *m);
/* A table of it on stdout. */
void cli_measured_print(const cli_measured *m);
#endif
