/* A plan as JSON and as CSV: its keys are stable and in the order of docs/FORMATS.md. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/report/plan_report.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"
#include "tileflow/version.h"

static json_t *bounds_of(const tf_bounds *b) {
  return json_pack("{s:o, s:o, s:I}", "cycles", cli_json_real(b->cycles), "energy_pj",
                   cli_json_real(b->energy_pj), "traffic_words", (json_int_t)b->traffic_words);
}

static void set_figures(json_t *out, const tf_figures *f, double clock_hz) {
  json_object_set_new(out, "cycles", cli_json_real(f->cycles));
  json_object_set_new(out, "seconds", cli_json_real(f->cycles / clock_hz));
  json_object_set_new(out, "energy_pj", cli_json_real(f->energy_pj));
  json_object_set_new(out, "edp", cli_json_real(f->edp));
  json_object_set_new(out, "traffic_words", cli_json_real(f->traffic_words));
}

/* What is chosen for the generator; no member where that is nothing. */
static void set_choices(json_t *out, const tf_choices *all) {
  json_t *chosen = json_object();
  for (int c = 0; c < TF_N_CHOICES; c++) {
    const tf_choice_row *row = tf_choice_at((tf_choice)c);
    if (all->at[c]) json_object_set_new(chosen, row->name, json_string(row->value[all->at[c]]));
  }
  if (json_object_size(chosen))
    json_object_set_new(out, "choose", chosen);
  else
    json_decref(chosen);
}

/* The longer of what memories and what the kernel take, where kernels were planned. */
static void set_kernel(json_t *out, double cycles, double clock_hz) {
  if (cycles > 0) json_object_set_new(out, "kernel_seconds", cli_json_real(cycles / clock_hz));
}

static void set_expected(json_t *out, double cycles, double clock_hz) {
  if (cycles > 0) json_object_set_new(out, "expected_seconds", cli_json_real(cycles / clock_hz));
}

/* Ops that other groups make, too. */
static void set_again(json_t *out, const cli_plan *p, const tf_net_group *g) {
  json_t *again = json_array();
  for (int o = 0; o < g->group->workload->n_ops; o++)
    if (cli_plan_makers(p->plan, g->group->op[o]) > 1)
      json_array_append_new(again, json_string(g->group->workload->ops[o].name));
  if (json_array_size(again))
    json_object_set_new(out, "again", again);
  else
    json_decref(again);
}

static json_t *group_of(const cli_plan *p, int i) {
  const tf_net_group *g = &p->plan->groups[i];
  const tf_workload *wl = g->group->workload;
  json_t *out = json_object(), *ops = json_array();
  for (int o = 0; o < wl->n_ops; o++)
    json_array_append_new(ops, json_string(wl->ops[o].name));
  json_object_set_new(out, "name", json_string(wl->name));
  json_object_set_new(out, "ops", ops);
  json_object_set_new(out, "like", json_integer(g->like));
  set_figures(out, &g->figures, p->spec->arch->clock_hz);
  set_kernel(out, g->kernel_cycles > 0 ? fmax(g->kernel_cycles, g->memory_cycles) : 0,
             p->spec->arch->clock_hz);
  set_expected(out, g->expected_cycles, p->spec->arch->clock_hz);
  if (g->expected.unsure) json_object_set_new(out, "unsure", json_string(g->expected.unsure));
  json_object_set_new(out, "bottleneck", json_string(g->bottleneck));
  json_object_set_new(out, "bounds", bounds_of(&g->bounds));
  json_object_set_new(out, "points", cli_json_real(g->points));
  json_object_set_new(out, "recomputed", cli_json_real(g->recomputed));
  set_again(out, p, g);
  set_choices(out, &g->choices);
  char *mapping = tf_tree_text(g->tree);
  json_object_set_new(out, "mapping", json_string(mapping));
  free(mapping);
  return out;
}

static json_t *search_of(const cli_plan *p) {
  const tf_net_plan *q = p->plan;
  const double value = tf_objective_value(q->objective, &q->total);
  const double bound = tf_bounds_value(q->objective, &q->bounds, p->spec->arch);
  return json_pack("{s:s, s:o, s:o, s:o, s:b, s:i, s:I, s:I, s:I, s:s}", "objective",
                   tf_objective_key((int)q->objective), "value", cli_json_real(value), "bound",
                   cli_json_real(bound), "gap", cli_json_real(bound > 0 ? value / bound - 1 : 0),
                   "exact", q->exact, "window", q->window, "groups_met", (json_int_t)q->candidates,
                   "groups_mapped", (json_int_t)q->evaluated, "evaluations", (json_int_t)q->evals,
                   "stopped_by", tf_stop_key(q->stopped_by));
}

/* Keys that are infinite are left out. */
static json_t *benefit_of(const tf_net_benefit *b) {
  json_t *out = json_pack("{s:i, s:i, s:o, s:o, s:o}", "first", b->first, "second", b->second,
                          "words", cli_json_real(b->words), "cycles", cli_json_real(b->cycles),
                          "apart", cli_json_real(b->apart));
  if (isfinite(b->fused)) {
    json_object_set_new(out, "fused", cli_json_real(b->fused));
    json_object_set_new(out, "benefit", cli_json_real(b->apart - b->fused));
    json_object_set_new(out, "at_least", json_boolean(b->at_least));
  }
  if (b->apart_at_least) json_object_set_new(out, "apart_at_least", json_true());
  if (b->slices) json_object_set_new(out, "slices", json_integer(b->slices));
  if (*b->why) json_object_set_new(out, "why", json_string(b->why));
  return out;
}

static json_t *benefits_of(const tf_net_plan *p) {
  json_t *all = json_array();
  for (int i = 0; i < p->n_benefits; i++)
    json_array_append_new(all, benefit_of(&p->benefits[i]));
  return all;
}

static json_t *arena_of(const cli_plan *p) {
  const tf_workload *wl = p->spec->workload;
  json_t *tensors = json_object();
  for (int z = 0; z < wl->n_tensors; z++)
    if (p->memory->offset[z] >= 0)
      json_object_set_new(tensors, wl->tensors[z].name, json_integer(p->memory->offset[z]));
  return json_pack("{s:I, s:I, s:o}", "bytes", (json_int_t)p->memory->bytes, "least",
                   (json_int_t)p->memory->least, "offsets", tensors);
}

void cli_plan_json(const cli_plan *p, cli_text *out) {
  json_t *root = json_pack("{s:s, s:s, s:s}", "tileflow", TILEFLOW_VERSION, "architecture",
                           p->spec->arch->name, "workload", p->spec->workload->name);
  json_t *groups = json_array();
  set_figures(root, &p->plan->total, p->spec->arch->clock_hz);
  set_kernel(root, p->plan->kernel_cycles, p->spec->arch->clock_hz);
  set_expected(root, p->plan->expected_cycles, p->spec->arch->clock_hz);
  json_object_set_new(root, "bounds", bounds_of(&p->plan->bounds));
  json_object_set_new(root, "parts", bounds_of(&p->plan->parts));
  for (int i = 0; i < p->plan->n; i++)
    json_array_append_new(groups, group_of(p, i));
  json_object_set_new(root, "groups", groups);
  json_object_set_new(root, "arena", arena_of(p));
  if (!p->given) json_object_set_new(root, "benefits", benefits_of(p->plan));
  if (!p->given) json_object_set_new(root, "search", search_of(p));
  cli_put_json(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

void cli_plan_csv(const cli_plan *p, cli_text *out) {
  cli_printf(out, "group,like,ops,first_op,cycles,energy_pj,traffic_words,bound_cycles,bound_"
                  "energy_pj,bound_traffic_words,bottleneck\n");
  for (int i = 0; i < p->plan->n; i++) {
    const tf_net_group *g = &p->plan->groups[i];
    cli_printf(out, "%d,%d,%d,", i + 1, g->like + 1, g->group->workload->n_ops);
    cli_csv_cell(out, g->group->workload->ops[0].name);
    cli_printf(out, ",%.15g,%.15g,%.15g,%.15g,%.15g,%lld,", g->figures.cycles, g->figures.energy_pj,
               g->figures.traffic_words, g->bounds.cycles, g->bounds.energy_pj,
               (long long)g->bounds.traffic_words);
    cli_csv_cell(out, g->bottleneck);
    cli_printf(out, "\n");
  }
}
