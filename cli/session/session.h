/* One run of a command: reads the files, finds a mapping, evaluates it. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H
#include <stdio.h>

#include "cli/cli.h"
#include "cli/os/meter.h"
#include "tileflow/slope.h"

/* Reads the files and, if all three sections are given, the tree.  Errors go to stderr.  Close it
 * in either case; borrows `in` until then. */
cli_status cli_open(cli_session *s, const cli_input *in);
/* cli_open, then evaluates; where no mapping is given, or part of it is open, one is searched for
 * first. */
cli_status cli_evaluate(cli_session *s, const cli_input *in, const cli_looking *l);
void cli_close(cli_session *s);

/* ---- the steps of cli_evaluate after cli_open, for commands that find a mapping themselves --- */
cli_status cli_check_sections(cli_session *s);
/* An architecture and a workload; says which is missing, and what to give. */
bool cli_has_sections(const tf_spec *s, tf_diags *d);
/* Fills s->bounds. */
cli_status cli_find_bounds(cli_session *s);
/* Evaluates s->tree. */
cli_status cli_count_words(cli_session *s);
/* The last step, once s->result is filled: sums that exceed 2^63 - 1, and figures below their lower
 * bounds, are errors. */
cli_status cli_check_result(cli_session *s);
/* Makes `tree`, which no file holds, the mapping of the session; takes it over. */
cli_status cli_adopt(cli_session *s, tf_tree *tree, const char *origin);
/* Checks all figures against lower bounds.  A feasible result, the value found, or a row of the
 * slope below its bound is a bug of the tool: prints that, and what to send, and returns
 * CLI_FAILED. */
cli_status cli_check_bounds(const cli_session *s);
cli_status cli_check_slope(const tf_slope *p);

/* ---- mappings searched for ------------------------------------------------------------------- */
/* Where no mapping is given: solves for a short while; if that proves no mapping optimal, searches,
 * beginning with what the solver found.  If the options name a strategy of the search, nothing is
 * solved. */
cli_status cli_find(cli_session *s, const cli_looking *l);
/* Searches beginning with closed-form mappings, too, so that the result depends less on the seed;
 * not if the options name a strategy. */
cli_status cli_search_after_formulas(cli_session *s, const cli_looking *l);
/* Scales a number of evaluations by the number of ops: an evaluation costs more with more ops. */
int64_t cli_for_ops(const cli_session *s, int64_t evals);
/* Searches by the options, beginning with s->starts, and adopts the result; a progress line on a
 * terminal. */
cli_status cli_search(cli_session *s, const cli_looking *l);
/* Where memories have lines (elsewhere nothing is done): what a search has of the budget before the
 * rest goes to mapping and layouts together; and that rest, of a search that had `before`.  given:
 * as in tf_layouts_opts. */
int64_t cli_before_layouts(const cli_session *s, int64_t all);
double cli_seconds_before_layouts(const cli_session *s, double all);
cli_status cli_search_layouts(cli_session *s, const cli_looking *l, const tf_budget *before,
                              const tf_tree *found, const tf_tree *given);
void cli_show_search(cli_meter *m, const tf_progress *p);
/* A dim whose extent is more than a trip count of a search may be: only the formulas find mappings
 * of it.  NULL: none. */
const tf_dim *cli_beyond_search(const cli_session *s);
/* A search of so many evaluations, ended for this reason, has found no mapping that fits: reports
 * why. */
cli_status cli_none_found(cli_session *s, int64_t evals, tf_stop stopped_by);

/* Solver, then search, beginning with the mapping given if there is one (tileflow/best.h); adopts
 * the result. */
cli_status cli_best(cli_session *s, const cli_looking *l);

/* Solves by the method of that name (NULL: the first of cli_method) and adopts the result.  *out:
 * to be passed to tf_solve_free in either case. */
cli_status cli_solve(cli_session *s, const cli_looking *l, const char *name, tf_solve_result **out);
/* Prints what the solver left out of its space, a line for each reason. */
void cli_print_left_out(const cli_session *s, const tf_solve_result *r, FILE *out);
/* Name of the k-th method of solve; NULL past the last. */
const char *cli_method(int k);
#endif
