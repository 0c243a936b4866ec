/* Searches by the options: progress on a terminal, Ctrl-C, and adoption of the best mapping. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/session/session.h"
#include "cli/text.h"
#include "tileflow/tree.h"

/* Default limits: evaluations for up to OPS_FOR_THESE ops, and their average effort in units of a
 * quick evaluation.  There is no time limit, so that the same inputs give the same bytes. */
enum { EVALS_DEFAULT = 500000, EFFORT_EACH = 4, OPS_FOR_THESE = 3 };

int64_t cli_for_ops(const cli_session *s, int64_t evals) {
  const int n = s->spec->workload->n_ops;
  return n > OPS_FOR_THESE ? evals * OPS_FOR_THESE / n : evals;
}

void cli_show_search(cli_meter *m, const tf_progress *p) {
  char shapes[48];
  snprintf(shapes, sizeof shapes, "%s shapes", cli_count(p->shapes).s);
  cli_meter_show_best(m, p->evals, p->seconds, p->best, shapes);
}

static void show(void *ctx, const tf_progress *p) { cli_show_search(ctx, p); }

/* ---- the search --------------------------------------------------------------------------- */
static cli_status print_and_fail(cli_session *s, cli_status status) {
  cli_complain(s->diags);
  return status;
}

/* *spent: the budget that was used. */
static tf_search_result *run_search(cli_session *s, const cli_looking *l, tf_budget *spent) {
  bool said = l->time_limit > 0 || l->evals > 0;
  cli_meter m = cli_meter_new(s->in->quiet);
  m.bound = tf_bounds_value(l->objective, &s->bounds, s->spec->arch);
  m.max_evals = said ? l->evals : cli_for_ops(s, EVALS_DEFAULT);
  const int64_t effort = said ? 0 : EFFORT_EACH * m.max_evals;
  if (said && m.max_evals > 0 && s->spent > 0)
    m.max_evals = m.max_evals > s->spent ? m.max_evals - s->spent : 1;
  m.max_evals = cli_before_layouts(s, m.max_evals);
  m.limit = cli_seconds_before_layouts(s, l->time_limit);
  tf_search_opts opts = {.strategy = l->strategy,
                         .objective = l->objective,
                         .goal = l->front ? 0 : m.bound,
                         .budget.seed = l->seed,
                         .budget.threads = l->threads,
                         .budget.max_evals = m.max_evals,
                         .budget.max_effort = cli_before_layouts(s, effort),
                         .budget.time_limit = m.limit,
                         .exportable = l->exportable,
                         .log = l->log,
                         .resume = l->resume,
                         .starts = (const tf_tree *const *)s->starts.tree,
                         .n_starts = s->starts.n,
                         .budget.stop = cli_interrupted,
                         .budget.progress = m.enabled ? show : NULL,
                         .budget.ctx = &m};
  *spent = opts.budget;
  cli_hold_interrupt(CLI_GRACE);
  const tf_tree *given = s->tree;
  tf_search_result *r = tf_search_run(s->spec->arch, s->spec->workload, given, &opts, s->diags);
  cli_release_interrupt();
  cli_meter_end(&m);
  return r;
}

static void keep_found(cli_session *s, const cli_looking *l) {
  const tf_search_result *r = s->search;
  s->found = (cli_found){.method = r->strategy,
                         .objective = tf_objective_key((int)l->objective),
                         .value = r->n_best ? r->best[0].value : INFINITY,
                         .bound = tf_bounds_value(l->objective, &s->bounds, s->spec->arch),
                         .evaluations = r->evals + s->spent,
                         .seconds = r->seconds,
                         .threads = r->threads,
                         .seed = r->seed,
                         .stopped_by = tf_stop_key(r->stopped_by)};
  s->found.proved = s->found.space_proved = s->found.value <= s->found.bound * (1 + 1e-12);
  s->found.space_bound = s->found.trips_bound = s->found.bound;
  s->found.all_trips = s->found.bypasses = true;
}

/* Reports that no candidate could be evaluated: no choice covers the extents within the meshes and
 * memories. */
static cli_status report_impossible(cli_session *s) {
  const tf_tree *t = s->tree;
  for (int i = 0; i < t->n_nodes; i++)
    for (int k = 0; t->nodes[i].kind == TF_TILE && k < t->nodes[i].n_loops; k++)
      if (t->nodes[i].loops[k].trip == 0)
        tf_fail(s->diags, t->nodes[i].loops[k].at, TF_E_OPEN,
                "no choice of the open trip counts covers every extent and fits the machine; this "
                "one on '%.60s' is open",
                s->spec->workload->dims[t->nodes[i].loops[k].dim].name);
  return print_and_fail(s, CLI_BAD_INPUT);
}

const tf_dim *cli_beyond_search(const cli_session *s) {
  const tf_workload *wl = s->spec->workload;
  for (int d = 0; d < wl->n_dims; d++)
    if (wl->dims[d].extent > INT32_MAX) return &wl->dims[d];
  return NULL;
}

cli_status cli_none_found(cli_session *s, int64_t evals, tf_stop stopped_by) {
  if (s->tree && evals == 0 && stopped_by == TF_STOP_EXHAUSTED) return report_impossible(s);
  const tf_dim *beyond = evals == 0 ? cli_beyond_search(s) : NULL;
  if (beyond) {
    tf_fail(s->diags, beyond->at, TF_E_LIMIT,
            "no search goes past extents of 2147483647, and '%.60s' has %lld: 'solve --method "
            "closed' may find a mapping",
            beyond->name, (long long)beyond->extent);
    return print_and_fail(s, CLI_BAD_INPUT);
  }
  fprintf(stderr,
          "tileflow: none of %s mappings tried fits the machine (stopped by %s): give the search "
          "longer, or the memories more\n",
          cli_count(evals).s, tf_stop_key(stopped_by));
  return CLI_INFEASIBLE;
}

cli_status cli_search(cli_session *s, const cli_looking *l) {
  cli_status status = cli_find_bounds(s);
  if (status != CLI_DONE) return status;
  tf_budget spent;
  s->search = run_search(s, l, &spent);
  if (!s->search) return print_and_fail(s, l->log && !l->resume ? CLI_FAILED : CLI_BAD_INPUT);
  keep_found(s, l);
  if (s->search->n_best == 0) return cli_none_found(s, s->search->evals, s->search->stopped_by);
  tf_tree *found = s->search->best[0].tree;
  status = cli_search_layouts(s, l, &spent, found, s->tree);
  if (status != CLI_DONE) return status;
  s->search->best[0].tree = NULL;
  return cli_adopt(s, found, "search");
}
