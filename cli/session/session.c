/* From files to spec, tree and result, with messages if a step fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/session/starts.h"
#include "tileflow/bound.h"
#include "tileflow/tree.h"

static const tf_loc nowhere = {0};

static cli_status fail(const cli_session *s) {
  cli_complain(s->diags);
  return CLI_BAD_INPUT;
}

cli_status cli_open(cli_session *s, const cli_input *in) {
  *s = (cli_session){.in = in, .diags = cli_diags(), .origin = "given"};
  if (!s->diags) return CLI_FAILED;
  s->spec = cli_read_spec(in, s->diags);
  if (!s->spec) return fail(s);
  const tf_spec *p = s->spec;
  if (p->mapping_text && p->arch && p->workload) {
    s->tree = tf_tree_parse(p->mapping_text, p->mapping_at, p->arch, p->workload, s->diags);
    if (!s->tree) return fail(s);
  }
  if (tf_diags_count(s->diags) && !in->quiet) cli_complain(s->diags); /* warnings */
  return CLI_DONE;
}

bool cli_has_sections(const tf_spec *s, tf_diags *d) {
  if (!s->arch)
    tf_fail(d, nowhere, TF_E_MISSING,
            "no file has a section 'architecture': name one of arch-specs ('tileflow example' "
            "lists them), your own, or what 'tileflow import --host' or 'tileflow init' writes");
  if (!s->workload)
    tf_fail(d, nowhere, TF_E_MISSING,
            "no file has a section 'workload': name one of workloads ('tileflow example' lists "
            "them), or your own");
  return s->arch && s->workload;
}

cli_status cli_check_sections(cli_session *s) {
  return cli_has_sections(s->spec, s->diags) ? CLI_DONE : fail(s);
}

cli_status cli_find_bounds(cli_session *s) {
  return tf_bounds_on_chip(s->spec->arch, s->spec->workload, &s->bounds, s->diags) ? CLI_DONE
                                                                                   : fail(s);
}

static cli_status without_memory(cli_session *s) {
  tf_out_of_memory(s->diags);
  cli_complain(s->diags);
  return CLI_FAILED;
}

/* Checks that counts are exact, and so are the sums that reports print; else it is an error. */
cli_status cli_check_result(cli_session *s) {
  tf_counts sum;
  bool overflow = s->result.overflow;
  for (int l = 0; !overflow && l < s->spec->arch->n_memories; l++)
    overflow = !cli_sum_counts(s, l, &sum);
  if (s->model && tf_model_starved(s->model)) return without_memory(s);
  if (s->model && tf_model_gave_up(s->model)) {
    tf_fail(s->diags, s->tree->nodes[0].at, TF_E_LIMIT,
            "only a walk of its steps could count this mapping, and they are more than 20 million");
    return fail(s);
  }
  if (overflow) {
    tf_fail(s->diags, s->tree->nodes[0].at, TF_E_OVERFLOW,
            "a count of this mapping passes 2^63 - 1");
    return fail(s);
  }
  cli_status status = cli_find_bounds(s);
  return status == CLI_DONE ? cli_check_bounds(s) : status;
}

/* Takes the mapping's own value: of a masked workload, a mapping that takes too long to count in a
 * search has the value of all points there. */
static void set_own_value(cli_session *s) {
  const tf_result *r = &s->result;
  const tf_figures f = {.cycles = r->cycles,
                        .energy_pj = r->energy_pj,
                        .edp = r->energy_pj * r->seconds,
                        .traffic_words = tf_result_traffic(s->spec->workload, r)};
  for (int o = 0; tf_objective_key(o); o++)
    if (!strcmp(tf_objective_key(o), s->found.objective))
      s->found.value = tf_objective_value((tf_objective)o, &f);
  s->found.proved |= s->found.value <= s->found.bound * (1 + 1e-12);
  s->found.space_proved |= s->found.proved;
}

/* Why both searches ended: reasons that a user can change, or that another run may not repeat, come
 * first. */
static const char *why_ended(const char *first, tf_stop second) {
  static const tf_stop order[] = {TF_STOP_INTERRUPT, TF_STOP_TIME, TF_STOP_BUDGET};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (second == order[i] || !strcmp(first, tf_stop_key(order[i]))) return tf_stop_key(order[i]);
  return tf_stop_key(second);
}

static const char *file_of_layouts(const cli_session *s) {
  const tf_arch *a = s->spec->arch;
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].laid.n)
      return tf_diags_file_name(s->diags, a->memories[l].laid.list[0].tensor.at.file);
  return NULL;
}

/* Restates what is proved of the mapping found, with these layouts. */
static void restate_result(cli_session *s) {
  const tf_layouts_result *r = s->layouts;
  cli_found *f = &s->found;
  f->laid = true;
  f->layouts_in = file_of_layouts(s);
  f->before_layouts = r->before > 0 ? r->before : r->value;
  f->layout_evals = r->evals;
  f->evaluations += r->evals;
  f->seconds += r->seconds;
  f->stopped_by = why_ended(f->stopped_by, r->stopped_by);
  f->proved = f->space_proved = false; /* must be proved again for this value */
  if (!r->method) return;
  f->method = r->method;
  f->closed = (tf_closed_figures){0};
  s->origin = "search";
}

/* Chooses layouts, if memories have lines: those found together with the mapping, or the best ones
 * for it. */
static cli_status lay_out(cli_session *s) {
  int o = 0;
  const bool done = s->layouts && s->spec->arch == s->layouts->arch;
  if (!s->found.method || done || !tf_arch_lines(s->spec->arch)) return CLI_DONE;
  while (tf_objective_key(o + 1) && strcmp(tf_objective_key(o), s->found.objective) != 0)
    o++;
  if (!s->layouts) s->layouts = tf_layouts_best(s->tree, (tf_objective)o, s->diags);
  tf_tree *tree =
      s->layouts ? tf_tree_copy(s->layouts->tree, s->layouts->arch, s->spec->workload, s->diags)
                 : NULL;
  if (!tree) return fail(s);
  restate_result(s);
  s->spec->arch = s->layouts->arch;
  return cli_adopt(s, tree, s->origin);
}

cli_status cli_count_words(cli_session *s) {
  const cli_status laid = lay_out(s);
  if (laid != CLI_DONE) return laid;
  s->model = tf_model_new(s->tree, s->diags);
  if (!s->model) return fail(s);
  if (!tf_model_eval(s->model, NULL, &s->result) && !s->result.overflow) {
    tf_fail(s->diags, s->tree->nodes[0].at, TF_E_COVER, "the trip counts do not reach the extents");
    return fail(s);
  }
  if (s->found.method && !s->result.overflow &&
      (s->layouts || tf_workload_masked(s->spec->workload)))
    set_own_value(s);
  if (s->found.laid && s->found.proved) s->found.stopped_by = tf_stop_key(TF_STOP_PROVED);
  cli_status status = cli_check_result(s);
  tf_why_free(&s->why);
  /* causes may be unknown, but not for lack of memory: their lines would be missing */
  if (status == CLI_DONE && !tf_why_of(s->model, &s->why) && tf_model_starved(s->model))
    return without_memory(s);
  return status;
}

cli_status cli_adopt(cli_session *s, tf_tree *tree, const char *origin) {
  s->origin = origin;
  tf_tree_free(s->tree);
  s->tree = tree;
  return tf_tree_place(tree, "(mapping found)", s->diags) ? CLI_DONE : fail(s);
}

void cli_close(cli_session *s) {
  cli_starts_free(&s->starts);
  tf_search_free(s->search);
  tf_why_free(&s->why);
  tf_model_free(s->model);
  tf_tree_free(s->tree);
  tf_layouts_free(s->layouts);
  tf_spec_free(s->spec);
  tf_diags_free(s->diags);
}
