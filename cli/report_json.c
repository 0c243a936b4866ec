/* The JSON of `eval --json` (docs/FORMATS.md): keys are stable, counts are integers. */
#include <jansson.h>
#include <stdlib.h>

#include "cli.h"

static json_t *counts_of(const tf_counts *c, int64_t peak) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "fill", (json_int_t)c->fill, "read",
                   (json_int_t)c->read, "update", (json_int_t)c->update, "drain",
                   (json_int_t)c->drain, "peak_words", (json_int_t)peak);
}

static json_t *level(const cli_session *s, int l) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const tf_level_result *r = &s->result.levels[l];
  const tf_workload *wl = s->spec->workload;
  tf_counts sum = {0};
  json_t *tensors = json_object();
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_counts *c = &s->result.counts[l * wl->n_tensors + z];
    sum.fill += c->fill;
    sum.read += c->read;
    sum.update += c->update;
    sum.drain += c->drain;
    json_object_set_new(tensors, wl->tensors[z].name, counts_of(c, c->peak));
  }
  json_t *out = json_pack("{s:s, s:I}", "name", m->name, "instances", (json_int_t)r->instances);
  json_object_set_new(out, "capacity_words",
                      m->capacity_words < 0 ? json_null() : json_integer(m->capacity_words));
  json_object_set_new(out, "peak_words", json_integer(r->peak));
  json_object_set_new(out, "fill", json_integer(sum.fill));
  json_object_set_new(out, "read", json_integer(sum.read));
  json_object_set_new(out, "update", json_integer(sum.update));
  json_object_set_new(out, "drain", json_integer(sum.drain));
  json_object_set_new(out, "cycles", json_real(r->cycles));
  json_object_set_new(out, "energy_pj", json_real(r->energy_pj));
  json_object_set_new(out, "energy_source", json_string(m->energy_from_table ? "table" : "given"));
  json_object_set_new(out, "tensors", tensors);
  return out;
}

static json_t *mapping(const cli_session *s) {
  char *text = tf_tree_text(s->tree), line[400];
  json_t *violations = json_array();
  for (int i = 0; i < s->result.n_violations; i++) {
    violation_text(s, &s->result.violations[i], line, sizeof line);
    json_array_append_new(violations, json_string(line));
  }
  json_t *out = json_pack("{s:s, s:s, s:b, s:o}", "text", text ? text : "", "origin", "given",
                          "feasible", s->result.feasible, "violations", violations);
  free(text);
  return out;
}

static json_t *units(const cli_session *s) {
  json_t *out = json_array();
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    const tf_unit_result *r = &s->result.units[u];
    json_array_append_new(out, json_pack("{s:s, s:I, s:I, s:f, s:f}", "name",
                                         s->spec->arch->units[u].name, "points",
                                         (json_int_t)r->points, "units_used", (json_int_t)r->units,
                                         "cycles", r->cycles, "energy_pj", r->energy_pj));
  }
  return out;
}

static json_t *ops(const cli_session *s) {
  json_t *out = json_array();
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_op_result *r = &s->result.ops[o];
    json_array_append_new(
        out, json_pack("{s:s, s:I, s:I, s:s, s:I, s:f}", "name", s->spec->workload->ops[o].name,
                       "points", (json_int_t)r->points, "recomputed", (json_int_t)r->recomputed,
                       "unit", s->spec->arch->units[r->unit].name, "units_used",
                       (json_int_t)r->units, "cycles", r->cycles));
  }
  return out;
}

char *report_json(const cli_session *s) {
  const tf_result *r = &s->result;
  json_t *levels = json_array();
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    json_array_append_new(levels, level(s, l));
  json_t *out = json_pack("{s:s, s:s, s:s, s:o}", "tileflow", TILEFLOW_VERSION, "architecture",
                          s->spec->arch->name, "workload", s->spec->workload->name, "mapping",
                          mapping(s));
  json_object_set_new(out, "cycles", json_real(r->cycles));
  json_object_set_new(out, "seconds", json_real(r->seconds));
  json_object_set_new(out, "energy_pj", json_real(r->energy_pj));
  json_object_set_new(out, "edp", json_real(r->energy_pj * r->seconds));
  json_object_set_new(out, "points", json_integer(r->points));
  json_object_set_new(out, "compute_utilization", json_real(r->compute_utilization));
  json_object_set_new(out, "bottleneck", json_string(r->bottleneck));
  json_object_set_new(out, "levels", levels);
  json_object_set_new(out, "compute", units(s));
  json_object_set_new(out, "ops", ops(s));
  json_object_set_new(out, "bounds",
                      json_pack("{s:f, s:f, s:I}", "cycles", s->bounds.cycles, "energy_pj",
                                s->bounds.energy_pj, "traffic_words",
                                (json_int_t)s->bounds.traffic_words));
  char *text = json_dumps(out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  json_decref(out);
  cli_text t = {0};
  if (text)
    cli_printf(&t, "%s\n", text);
  free(text);
  return t.text;
}
