/* Solves by the options: progress on a terminal, Ctrl-C, and adoption of the result. */
#include <stdio.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/session/session.h"
#include "cli/session/starts.h"
#include "cli/text.h"

/* ---- methods --------------------------------------------------------------------------------- */
typedef struct {
  const char *name;
  tf_solve_result *(*run)(const tf_arch *a, const tf_workload *w, const tf_solve_opts *o,
                          tf_diags *d);
} method;

enum { EXACT, CLOSED };
static const method methods[] = {
    [EXACT] = {"exact", tf_solve_exact},
    [CLOSED] = {"closed", tf_solve_closed},
};

const char *cli_method(int k) {
  return k >= 0 && k < (int)(sizeof methods / sizeof methods[0]) ? methods[k].name : NULL;
}

static void show(void *ctx, const tf_progress *p) {
  cli_meter *m = ctx;
  m->bound = p->bound;
  cli_meter_show_best(m, p->evals, p->seconds, p->best, NULL);
}

/* ---- the result ----------------------------------------------------------------------------- */
void cli_print_left_out(const cli_session *s, const tf_solve_result *r, FILE *out) {
  const tf_arch *a = s->spec->arch;
  for (int l = 0; l < r->n_levels; l++)
    if (r->levels[l].pruned && r->levels[l].least < INT64_MAX)
      fprintf(out,
              "  capacity of %s: %s subproblems left out; it holds %s words, the least that any of "
              "these needs is %s\n",
              a->memories[l].name, cli_count(r->levels[l].pruned).s,
              cli_count(a->memories[l].capacity_words).s, cli_count(r->levels[l].least).s);
    else if (r->levels[l].pruned)
      fprintf(out, "  parts of %s: %s subproblems left out\n", a->memories[l].name,
              cli_count(r->levels[l].pruned).s);
  if (r->by_mesh)
    fprintf(out, "  more instances than there are: %s left out\n", cli_count(r->by_mesh).s);
  if (r->by_rules) fprintf(out, "  no legal mapping: %s left out\n", cli_count(r->by_rules).s);
  if (r->by_bound)
    fprintf(out, "  no better than what was known: %s left out\n", cli_count(r->by_bound).s);
}

static cli_status none(const cli_session *s, const tf_solve_result *r) {
  if (!r) return CLI_INFEASIBLE;
  fprintf(stderr, "tileflow: %s (%s mappings or heads of mappings tried)\n",
          r->space_proved ? "no mapping of the solver's space fits the machine"
          : r->stopped_by == TF_STOP_EXHAUSTED
              ? "none of the mappings that the formulas give fits the machine"
              : "stopped before a mapping was found that fits",
          cli_count(r->evals).s);
  cli_print_left_out(s, r, stderr);
  return CLI_INFEASIBLE;
}

static void keep_found(cli_session *s, const cli_looking *l, const method *by,
                       const tf_solve_result *r) {
  const bool exact = by == &methods[EXACT], space = exact && r->templates;
  s->found = (cli_found){.method = exact && !space ? "search" : by->name,
                         .objective = tf_objective_key((int)l->objective),
                         .value = r->value,
                         .bound = r->bound,
                         .proved = r->proved,
                         .space = space,
                         .space_bound = r->space_bound,
                         .space_proved = r->space_proved,
                         .all_trips = r->all_trips || !space,
                         .bypasses = r->bypasses || !space,
                         .trips_bound = r->trips_bound,
                         .evaluations = r->evals,
                         .seconds = r->seconds,
                         .threads = r->threads,
                         .seed = l->seed,
                         .stopped_by = r->proved ? "proved" : tf_stop_key(r->stopped_by),
                         .closed = r->closed};
}

typedef struct {
  const method *by;
  tf_objective objective;
  double time_limit;
  int64_t evals, after; /* as of tf_solve_opts */
} solving;

static tf_solve_result *run_solve(cli_session *s, const cli_looking *l, const solving *how,
                                  tf_diags *d) {
  cli_meter m = cli_meter_new(s->in->quiet);
  m.limit = how->time_limit;
  m.max_evals = how->evals;
  tf_solve_opts opts = {.objective = how->objective,
                        .after = how->after,
                        .exportable = l->exportable,
                        .budget.threads = l->threads,
                        .budget.time_limit = how->time_limit,
                        .budget.max_evals = how->evals,
                        .budget.stop = cli_interrupted,
                        .budget.progress = m.enabled ? show : NULL,
                        .budget.ctx = &m};
  cli_hold_interrupt(CLI_GRACE);
  tf_solve_result *r = how->by->run(s->spec->arch, s->spec->workload, &opts, d);
  cli_release_interrupt();
  cli_meter_end(&m);
  return r;
}

static cli_status adopt(cli_session *s, tf_solve_result *r) {
  tf_tree *tree = r->tree;
  r->tree = NULL;
  return cli_adopt(s, tree, "solve");
}

/* Default evaluations for up to three ops; and those of the search after the solver, if evaluations
 * are left. */
enum { EVALS_DEFAULT = 5000000, EVALS_AFTER = 300000 };

cli_status cli_solve(cli_session *s, const cli_looking *l, const char *name,
                     tf_solve_result **out) {
  const method *by = &methods[EXACT];
  for (size_t i = 0; name && i < sizeof methods / sizeof methods[0]; i++)
    if (!strcmp(methods[i].name, name)) by = &methods[i];
  const bool said = l->evals > 0 || l->time_limit > 0;
  const solving how = {by, l->objective, l->time_limit,
                       said ? l->evals : cli_for_ops(s, EVALS_DEFAULT), EVALS_AFTER};
  tf_solve_result *r = *out = run_solve(s, l, &how, s->diags);
  if (!r) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  if (by == &methods[CLOSED] && s->spec->workload->n_ops > TF_CLOSED_OPS && !s->in->quiet)
    fprintf(stderr,
            "note: the formulas fuse up to %d ops: of these %d they give the mapping that fuses "
            "nothing\n",
            TF_CLOSED_OPS, s->spec->workload->n_ops);
  keep_found(s, l, by, r);
  return r->tree ? adopt(s, r) : none(s, r);
}

/* ---- for commands without a mapping --------------------------------------------------------- */
enum {
  EVALS_FIRST = 500000, /* of the solver, before a search */
  EVALS_OF_FORMULAS = 2000,
  PART_OF_SEARCH = 8, /* part of the evaluations for the closed-form solver */
  PART_OF_FIND = 2    /* part of a time limit for the solver before a search */
};

/* Makes a solver's mapping without a proof a start of the search. */
static bool begin_with(cli_session *s, tf_solve_result *r) {
  if (!r) return true;
  tf_tree *tree = r->tree;
  r->tree = NULL;
  return !tree || cli_starts_add(&s->starts, tree);
}

/* The best of the closed-form solver, over all objectives: a mapping for one may be good for
 * another.  NULL: none. */
static tf_solve_result *by_formulas(cli_session *s, const cli_looking *l, int64_t evals,
                                    tf_diags *d) {
  tf_solve_result *best = NULL;
  for (int by = 0; by < TF_N_OBJECTIVES; by++) {
    const solving how = {&methods[CLOSED], (tf_objective)by, 0, evals,
                         0}; /* no time limit: a resumed search has the
                                same start */
    tf_solve_result *r = run_solve(s, l, &how, d);
    s->spent += r ? r->evals : 0;
    const bool better = r && r->tree &&
                        (!best || tf_objective_value(l->objective, &r->figures) <
                                      tf_objective_value(l->objective, &best->figures));
    tf_solve_free(better ? best : r);
    best = better ? r : best;
  }
  return best;
}

cli_status cli_search_after_formulas(cli_session *s, const cli_looking *l) {
  if (s->tree || l->strategy) return cli_search(s, l);
  const int64_t part = PART_OF_SEARCH * TF_N_OBJECTIVES;
  const int64_t evals =
      l->evals && l->evals / part < EVALS_OF_FORMULAS ? 1 + l->evals / part : EVALS_OF_FORMULAS;
  tf_diags *d = tf_diags_new(); /* what cannot be solved can still be searched */
  tf_solve_result *r = d ? by_formulas(s, l, evals, d) : NULL;
  bool ok = begin_with(s, r);
  tf_solve_free(r);
  tf_diags_free(d);
  return ok ? cli_search(s, l) : CLI_FAILED;
}

cli_status cli_find(cli_session *s, const cli_looking *l) {
  const int64_t first = cli_for_ops(s, EVALS_FIRST), half = (l->evals + 1) / PART_OF_FIND;
  const solving how = {&methods[EXACT], l->objective, l->time_limit / PART_OF_FIND,
                       l->evals && half < first ? half : first, 0};
  if (l->strategy) return cli_search(s, l);
  tf_diags *d = tf_diags_new(); /* what cannot be solved can still be searched */
  tf_solve_result *r = d ? run_solve(s, l, &how, d) : NULL;
  cli_status status = CLI_DONE;
  bool done = r && r->tree && (r->proved || cli_interrupted(NULL));
  s->spent = r ? r->evals : 0;
  if (done) {
    keep_found(s, l, &methods[EXACT], r);
    status = adopt(s, r);
  } else if (!begin_with(s, r)) {
    status = CLI_FAILED;
  }
  if (!done && cli_interrupted(NULL)) status = none(s, r);
  tf_solve_free(r);
  tf_diags_free(d);
  if (done || status != CLI_DONE) return status;
  cli_looking then = *l;
  then.time_limit = l->time_limit / PART_OF_FIND;
  return cli_beyond_search(s) ? cli_search_after_formulas(s, &then) : cli_search(s, &then);
}
