/* Finds the best mapping by the options: progress on a terminal, Ctrl-C, and adoption of the
 * result. */
#include <stdio.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/session/session.h"
#include "cli/session/starts.h"
#include "cli/text.h"
#include "tileflow/best.h"
#include "tileflow/tree.h"

static void show(void *ctx, const tf_progress *p) {
  cli_meter *m = ctx;
  m->bound = p->bound;
  cli_meter_show_best(m, p->evals, p->seconds, p->best, NULL);
}

/* *spent: the budget that was used. */
static tf_best_result *run_best(cli_session *s, const cli_looking *l, tf_budget *spent) {
  cli_meter m = cli_meter_new(s->in->quiet);
  m.limit = cli_seconds_before_layouts(s, l->time_limit);
  m.max_evals = l->evals ? l->evals : l->time_limit > 0 ? 0 : cli_for_ops(s, TF_BEST_EVALS);
  m.max_evals = cli_before_layouts(s, m.max_evals);
  const tf_best_opts opts = {.objective = l->objective,
                             .exportable = l->exportable,
                             .starts = (const tf_tree *const *)s->starts.tree,
                             .n_starts = s->starts.n,
                             .budget.seed = l->seed,
                             .budget.threads = l->threads,
                             .budget.max_evals = m.max_evals,
                             .budget.time_limit = m.limit,
                             .budget.stop = cli_interrupted,
                             .budget.progress = m.enabled ? show : NULL,
                             .budget.ctx = &m};
  *spent = opts.budget;
  cli_hold_interrupt(CLI_GRACE);
  tf_best_result *r = tf_best_find(s->spec->arch, s->spec->workload, &opts, s->diags);
  cli_release_interrupt();
  cli_meter_end(&m);
  return r;
}

/* Makes the given mapping a start.  One with open trip counts cannot be compared with. */
static cli_status begin_with_given(cli_session *s) {
  tf_tree *given = s->tree;
  if (!given) return CLI_DONE;
  if (given->open) {
    tf_fail(s->diags, given->nodes[0].at, TF_E_OPEN,
            "best begins with whole mappings, and this one has open parts");
    tf_note(
        s->diags, (tf_loc){0},
        "'tileflow search' completes it; '--mapping FILE' there writes what best can begin with");
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  s->tree = NULL;
  return cli_starts_add(&s->starts, given) ? CLI_DONE : CLI_FAILED;
}

/* Evaluates the given mapping, for the comparison. */
static cli_status compare(cli_session *s, const cli_looking *l, cli_found *f) {
  if (!s->starts.n) return CLI_DONE;
  tf_model *m = tf_model_new(s->starts.tree[0], s->diags);
  tf_result r;
  if (!m) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  f->compared = true;
  f->given_fits = tf_model_eval(m, NULL, &r) && r.feasible;
  if (f->given_fits) {
    const tf_figures of = {.cycles = r.cycles,
                           .energy_pj = r.energy_pj,
                           .edp = r.energy_pj * r.seconds,
                           .traffic_words = tf_result_traffic(s->spec->workload, &r)};
    f->given = tf_objective_value(l->objective, &of);
  }
  tf_model_free(m);
  return CLI_DONE;
}

static cli_found found(const cli_looking *l, const tf_best_result *r) {
  return (cli_found){.method = r->method ? r->method : "exact",
                     .objective = tf_objective_key((int)l->objective),
                     .value = r->value,
                     .bound = r->bound,
                     .proved = r->proved,
                     .space = r->space,
                     .space_bound = r->space_bound,
                     .space_proved = r->space_proved,
                     .all_trips = r->all_trips,
                     .bypasses = r->bypasses,
                     .trips_bound = r->trips_bound,
                     .evaluations = r->evals,
                     .solver_evals = r->solver_evals,
                     .seconds = r->seconds,
                     .threads = r->threads,
                     .seed = l->seed,
                     .stopped_by = tf_stop_key(r->stopped_by)};
}

static const char *origin(const tf_best_result *r) {
  const bool solved = r->method && (!strcmp(r->method, "exact") || !strcmp(r->method, "closed"));
  return r->start >= 0 ? "given" : solved ? "solve" : "search";
}

cli_status cli_best(cli_session *s, const cli_looking *l) {
  cli_status status = begin_with_given(s);
  if (status != CLI_DONE) return status;
  tf_budget spent;
  tf_best_result *r = run_best(s, l, &spent);
  if (!r) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  s->found = found(l, r);
  tf_tree *tree = r->tree;
  r->tree = NULL;
  status = compare(s, l, &s->found);
  if (status == CLI_DONE) status = cli_search_layouts(s, l, &spent, tree, NULL);
  if (status == CLI_DONE)
    status = tree ? cli_adopt(s, tree, origin(r)) : cli_none_found(s, r->evals, r->stopped_by);
  else
    tf_tree_free(tree);
  tf_best_free(r);
  return status;
}

/* Reads or finds a mapping, then evaluates it. */
cli_status cli_evaluate(cli_session *s, const cli_input *in, const cli_looking *l) {
  cli_status status = cli_open(s, in);
  if (status == CLI_DONE) status = cli_check_sections(s);
  if (status != CLI_DONE) return status;
  if (!s->tree || s->tree->open) status = s->tree ? cli_search(s, l) : cli_find(s, l);
  return status == CLI_DONE ? cli_count_words(s) : status;
}
