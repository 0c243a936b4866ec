/* A sweep as one JSON object. */
#include <jansson.h>

#include "cli/json.h"
#include "cli/report/sweep_report.h"
#include "tileflow/version.h"

static json_t *goals(const tf_sweep_grid *g) {
  json_t *out = json_array();
  for (int i = 0; i < g->n_goals; i++)
    json_array_append_new(out, json_string(tf_goal_key((int)g->goals[i])));
  return out;
}

static json_t *params(const tf_sweep_grid *g, int64_t point, bool machine) {
  json_t *out = json_object();
  tf_sweep_place p = tf_sweep_place_of(g, point);
  for (int a = 0; a < g->n_axes; a++)
    for (int k = 0; k < g->axes[a].n_params; k++)
      if (!machine || !g->axes[a].of_workload)
        json_object_set_new(
            out, g->axes[a].params[k],
            cli_json_real(g->axes[a].values[(int64_t)p.at[a] * g->axes[a].n_params + k]));
  return out;
}

static json_t *of_goals(const tf_sweep_grid *g, const double *v) {
  json_t *out = json_object();
  for (int i = 0; i < g->n_goals; i++)
    json_object_set_new(out, tf_goal_column((int)g->goals[i]), cli_json_real(v[g->goals[i]]));
  return out;
}

static json_t *machine(const tf_sweep_grid *g, const tf_sweep_machine *m) {
  json_t *o = json_object();
  json_object_set_new(o, "machine", json_integer(m->machine));
  json_object_set_new(
      o, "architecture",
      json_string(g->archs[tf_sweep_place_of(g, m->machine * g->n_cases).arch].name));
  json_object_set_new(o, "params", params(g, m->machine * g->n_cases, true));
  json_object_set_new(o, "score", of_goals(g, m->score));
  json_object_set_new(o, "bound", of_goals(g, m->bound));
  json_object_set_new(o, "gap", of_goals(g, m->gap));
  json_object_set_new(o, "proved", json_boolean(m->proved));
  return o;
}

static json_t *row(const tf_sweep_grid *g, const tf_sweep_row *r) {
  json_t *o = json_object();
  tf_sweep_place p = tf_sweep_place_of(g, r->point);
  json_object_set_new(o, "point", json_integer(r->point));
  json_object_set_new(o, "machine", json_integer(r->point / g->n_cases));
  json_object_set_new(o, "architecture", json_string(g->archs[p.arch].name));
  json_object_set_new(o, "workload", json_string(g->workloads[p.workload].name));
  if (p.mapping >= 0) json_object_set_new(o, "mapping", json_string(g->mappings[p.mapping].name));
  json_object_set_new(o, "params", params(g, r->point, false));
  json_object_set_new(o, "state", json_string(tf_point_state_key((int)r->state)));
  for (int k = 0; k < TF_N_GOALS; k++)
    json_object_set_new(o, tf_goal_column(k), cli_json_real(r->figures[k]));
  json_t *bounds = json_object();
  for (int k = 0; k < TF_GOAL_AREA; k++)
    json_object_set_new(bounds, tf_goal_column(k), cli_json_real(r->bounds[k]));
  json_object_set_new(o, "bounds", bounds);
  json_object_set_new(o, "held_words", cli_json_real(r->held_words));
  json_object_set_new(o, "proved", json_boolean(r->proved));
  json_object_set_new(o, "evaluations", json_integer(r->evals));
  if (r->bottleneck) json_object_set_new(o, "bottleneck", json_string(r->bottleneck));
  if (r->message) json_object_set_new(o, "message", json_string(r->message));
  if (r->mapping_of >= 0) json_object_set_new(o, "mapping_of", json_integer(r->mapping_of));
  return o;
}

static json_t *points(const tf_sweep_summary *s) {
  json_t *o = json_object();
  for (int k = 0; k < TF_N_POINT_STATES; k++)
    json_object_set_new(o, tf_point_state_key(k), json_integer(s->by_state[k]));
  return o;
}

static json_t *whole(const tf_sweep_grid *g, const tf_sweep_summary *s, const cli_rows *r) {
  json_t *o = json_object(), *front = json_array(), *rows = json_array();
  for (int64_t i = 0; i < s->n; i++)
    if (s->machines[i].front) json_array_append_new(front, machine(g, &s->machines[i]));
  for (size_t i = 0; i < r->n; i++)
    json_array_append_new(rows, row(g, &r->row[i]));
  json_object_set_new(o, "tileflow", json_string(TILEFLOW_VERSION));
  json_object_set_new(o, "sweep", json_string(g->name));
  json_object_set_new(o, "method", json_string(tf_sweep_method_key((int)g->method)));
  json_object_set_new(o, "objectives", goals(g));
  json_object_set_new(o, "score", json_string(g->geometric ? "geometric-mean" : "sum"));
  json_object_set_new(o, "total", json_integer(g->n_machines * g->n_jobs));
  json_object_set_new(o, "points", points(s));
  json_object_set_new(o, "improved", json_integer(s->improved));
  json_object_set_new(o, "machines",
                      json_pack("{sI sI sI sI sI sI sI sI}", "all", (json_int_t)s->n, "whole",
                                (json_int_t)s->n_whole, "grid", (json_int_t)g->n_passing, "front",
                                (json_int_t)s->n_front, "proved", (json_int_t)s->proved, "skipped",
                                (json_int_t)s->skipped, "beaten", (json_int_t)s->beaten, "open",
                                (json_int_t)s->open));
  json_object_set_new(o, "front", front);
  json_object_set_new(o, "rows", rows);
  return o;
}

void cli_sweep_json(const tf_sweep_grid *g, const tf_sweep_summary *s, const cli_rows *r,
                    cli_text *out) {
  json_t *o = whole(g, s, r);
  cli_put_json(o, JSON_INDENT(2) | JSON_REAL_PRECISION(17), out);
}
