/* The result as JSON: its keys are stable and in the order of docs/FORMATS.md.
 * Counts are integers; times and energies are reals with 15 digits. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"
#include "tileflow/version.h"

static json_t *names(const cli_session *s) {
  return json_pack("{s:s, s:s, s:s}", "tileflow", TILEFLOW_VERSION, "architecture",
                   s->spec->arch->name, "workload", s->spec->workload->name);
}

static const char *energy_source(bool from_table) { return from_table ? "table" : "given"; }

/* ---- mapping ------------------------------------------------------------------------ */
static json_t *violation(const cli_session *s, const tf_violation *v) {
  const tf_arch *a = s->spec->arch;
  const tf_loc at = s->tree->nodes[v->node].at;
  cli_text line = {0}, node = {0};
  cli_violation_line(s, v, &line);
  cli_node_line(s->tree, v->node, &node);
  json_t *out = json_pack("{s:s, s:s, s:s*, s:s*, s:i, s:I, s:I}", "code", tf_code_key(v->code),
                          "level", a->memories[v->level].name, "unit",
                          v->unit < 0 ? NULL : a->units[v->unit].name, "node", node.text, "line",
                          (int)at.line, "need", (json_int_t)v->need, "have", (json_int_t)v->have);
  if (v->part) json_object_set_new(out, "part", json_string(v->part->name));
  json_object_set_new(out, "file", json_string(tf_diags_file_name(s->diags, at.file)));
  json_object_set_new(out, "message", json_string(line.text ? line.text : ""));
  cli_text_free(&line);
  cli_text_free(&node);
  return out;
}

/* A rank of a layout, as the section `layout` has it: 1, "1/4" or "1%4". */
static json_t *laid_part(const tf_laid_part *p) {
  if (p->part == TF_LAYOUT_WHOLE) return json_integer(p->rank);
  return json_sprintf("%d%c%lld", p->rank, p->part == TF_LAYOUT_DIV ? '/' : '%', (long long)p->by);
}

static json_t *laid_tensors(const tf_laids *laid) {
  json_t *out = json_object();
  for (int i = 0; i < laid->n; i++) {
    const tf_laid *l = &laid->list[i];
    json_t *ranks = json_array();
    for (int k = 0; k < l->n; k++)
      json_array_append_new(ranks, laid_part(&l->parts[k]));
    json_object_set_new(out, l->tensor.name, ranks);
  }
  return out;
}

/* The section `layout` that was chosen with the mapping. */
static json_t *layout(const tf_arch *a) {
  json_t *out = json_object();
  for (int m = 0; m < a->n_memories; m++)
    if (a->memories[m].laid.n)
      json_object_set_new(out, a->memories[m].name, laid_tensors(&a->memories[m].laid));
  return out;
}

static json_t *mapping(const cli_session *s) {
  char *text = tf_tree_text(s->tree);
  json_t *violations = json_array();
  for (int i = 0; i < s->result.n_violations; i++)
    json_array_append_new(violations, violation(s, &s->result.violations[i]));
  json_t *out = json_pack("{s:s, s:s, s:b, s:o}", "text", text ? text : "", "origin", s->origin,
                          "feasible", s->result.feasible, "violations", violations);
  if (s->layouts) json_object_set_new(out, "layout", layout(s->spec->arch));
  free(text);
  return out;
}

/* ---- memories ----------------------------------------------------------------------- */
static void set_counts(json_t *out, const tf_counts *c) {
  json_object_set_new(out, "fill", json_integer(c->fill));
  json_object_set_new(out, "read", json_integer(c->read));
  json_object_set_new(out, "update", json_integer(c->update));
  json_object_set_new(out, "drain", json_integer(c->drain));
}

/* What a memory moves and holds, in bits, as words of different sizes cannot be added. */
static json_t *bits_moved(const cli_session *s, int l) {
  const double word = s->spec->arch->memories[l].word_bits;
  const cli_words w = cli_level_words(s, l);
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "fill", cli_json_real(w.fill * word), "read",
                   cli_json_real(w.read * word), "update", cli_json_real(w.update * word), "drain",
                   cli_json_real(w.drain * word), "peak", cli_json_real(w.peak * word));
}

/* A memory of the machine: number of instances, words a cycle of each; null: no limit. */
static json_t *machine_memory(const tf_arch *a, int l) {
  const tf_memory *m = &a->memories[l];
  double instances = 1;
  for (int k = 0; k <= l; k++)
    instances *= (double)a->memories[k].mesh[0] * (double)a->memories[k].mesh[1];
  return json_pack("{s:o, s:o, s:o, s:b}", "instances", cli_json_real(instances), "read_bandwidth",
                   cli_json_real(m->read_bw), "write_bandwidth", cli_json_real(m->write_bw),
                   "one_port", m->one_port);
}

/* The parts of a memory. */
static json_t *parts_of(const tf_memory *m, const tf_level_result *r) {
  json_t *out = json_array();
  for (int i = 0; i < m->parts.n; i++) {
    const tf_mem_part *p = &m->parts.list[i];
    const tf_part_result *k = &r->parts[i];
    const tf_counts c = {.fill = k->fill, .read = k->read, .update = k->update, .drain = k->drain};
    json_t *one = json_pack("{s:s, s:I, s:I}", "name", p->name, "capacity_words",
                            (json_int_t)p->capacity_words, "peak_words", (json_int_t)k->peak);
    set_counts(one, &c);
    json_array_append_new(out, one);
  }
  return out;
}

/* What published sources make of it, if tables give some of it. */
static void put_range(json_t *o, const char *key, bool any, const tf_margin *r) {
  if (any)
    json_object_set_new(o, key, json_pack("[o, o]", cli_json_real(r->low), cli_json_real(r->high)));
}

static json_t *lines_of(const tf_counts *c) {
  json_t *out = json_object();
  set_counts(out, c);
  return out;
}

static json_t *level(const cli_session *s, int l) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const tf_level_result *r = &s->result.levels[l];
  const tf_workload *wl = s->spec->workload;
  const tf_counts sum = cli_level_counts(s, l);
  json_t *tensors = json_object();
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_counts *c = &s->result.counts[l * wl->n_tensors + z];
    json_t *one = json_object();
    set_counts(one, c);
    json_object_set_new(one, "peak_words", json_integer(c->peak));
    json_object_set_new(one, "word_bits", json_integer(wl->tensors[z].word_bits));
    if (m->line)
      json_object_set_new(one, "lines", lines_of(&s->result.lines->counts[l * wl->n_tensors + z]));
    if (wl->tensors[z].ranged)
      json_object_set_new(
          one, "range",
          json_pack("[I, I]", (json_int_t)wl->tensors[z].least, (json_int_t)wl->tensors[z].most));
    json_object_set_new(tensors, wl->tensors[z].name, one);
  }
  json_t *capacity = m->capacity_words < 0 ? json_null() : json_integer(m->capacity_words);
  json_t *out =
      json_pack("{s:s, s:I, s:o, s:I}", "name", m->name, "instances", (json_int_t)r->instances,
                "capacity_words", capacity, "peak_words", (json_int_t)r->peak);
  set_counts(out, &sum);
  json_object_set_new(out, "cycles", cli_json_real(r->cycles));
  json_object_set_new(out, "energy_pj", cli_json_real(r->energy_pj));
  if (m->leak_pj > 0) json_object_set_new(out, "leakage_pj", cli_json_real(r->leakage_pj));
  json_object_set_new(out, "energy_source", json_string(energy_source(m->energy_from_table)));
  tf_margin range;
  const bool any = tf_level_energy_range(s->model, l, &range);
  put_range(out, "energy_range_pj", any, &range);
  if (r->network)
    json_object_set_new(out, "network",
                        json_pack("{s:s, s:o, s:o}", "topology", tf_topology_key(m->topology),
                                  "word_hops", cli_json_real(r->hops), "link_cycles",
                                  cli_json_real(r->link_cycles)));
  json_object_set_new(out, "word_bits", json_integer(m->word_bits));
  json_object_set_new(out, "bits", bits_moved(s, l));
  json_object_set_new(out, "tensors", tensors);
  if (m->line) json_object_set_new(out, "bank_cycles", cli_json_real(s->result.lines->cycles[l]));
  if (m->parts.n) json_object_set_new(out, "parts", parts_of(m, r));
  json_object_set_new(out, "machine", machine_memory(s->spec->arch, l));
  return out;
}

static json_t *levels(const cli_session *s) {
  json_t *out = json_array();
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    json_array_append_new(out, level(s, l));
  return out;
}

/* ---- work --------------------------------------------------------------------------- */
static json_t *units(const cli_session *s) {
  json_t *out = json_array();
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    const tf_unit *unit = &s->spec->arch->units[u];
    const tf_unit_result *r = &s->result.units[u];
    json_t *one = json_pack(
        "{s:s, s:I, s:I, s:o, s:o, s:s, s:{s:o, s:o}}", "name", unit->name, "points",
        (json_int_t)r->points, "units_used", (json_int_t)r->units, "cycles",
        cli_json_real(r->cycles), "energy_pj", cli_json_real(r->energy_pj), "energy_source",
        energy_source(unit->energy_from_table), "machine", "units",
        cli_json_real(tf_bounds_units(s->spec->arch, u)), "rate", cli_json_real(unit->rate));
    if (unit->leak_pj > 0) json_object_set_new(one, "leakage_pj", cli_json_real(r->leakage_pj));
    tf_margin range;
    const bool any = tf_unit_energy_range(s->model, u, &range);
    put_range(one, "energy_range_pj", any, &range);
    json_array_append_new(out, one);
  }
  return out;
}

static json_t *ops(const cli_session *s) {
  const bool masked = tf_workload_masked(s->spec->workload);
  json_t *out = json_array();
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_op_result *r = &s->result.ops[o];
    json_array_append_new(
        out, json_pack("{s:s, s:I, s:I, s:I, s:s, s:I, s:o}", "name",
                       s->spec->workload->ops[o].name, "points", (json_int_t)r->points,
                       "recomputed", (json_int_t)r->recomputed, "rescaling",
                       (json_int_t)r->corrections, "unit", s->spec->arch->units[r->unit].name,
                       "units_used", (json_int_t)r->units, "cycles", cli_json_real(r->cycles)));
    if (masked)
      json_object_set_new(json_array_get(out, (size_t)o), "skipped", json_integer(r->skipped));
  }
  return out;
}

/* ---- what zeros leave --------------------------------------------------------------- */
static json_t *left_of(const cli_session *s, int l, int z) {
  const tf_kept_counts *c = &s->result.kept->counts[l * s->spec->workload->n_tensors + z];
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "density", s->result.kept->share[z], "fill",
                   c->fill, "read", c->read, "update", c->update, "drain", c->drain,
                   "metadata_bits", c->metadata);
}

static json_t *left_at(const cli_session *s, int l, const tf_fit *fit) {
  json_t *tensors = json_object();
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    json_object_set_new(tensors, s->spec->workload->tensors[z].name, left_of(s, l, z));
  json_t *out = json_pack("{s:s, s:I, s:I}", "name", s->spec->arch->memories[l].name, "held_words",
                          (json_int_t)s->result.kept->held[l], "most_words",
                          (json_int_t)s->result.kept->most[l]);
  if (fit) json_object_set_new(out, "likely_words", json_integer(fit->words));
  if (fit) json_object_set_new(out, "fits", json_real(fit->fits));
  json_object_set_new(out, "tensors", tensors);
  return out;
}

static json_t *zeros(const cli_session *s) {
  json_t *levels = json_array(), *ops = json_array();
  tf_fit *fit = calloc((size_t)s->spec->arch->n_memories, sizeof *fit);
  double *busiest = calloc((size_t)s->spec->workload->n_ops, sizeof *busiest);
  const bool known = busiest && tf_model_busiest(s->model, busiest);
  if (fit && !tf_model_fits(s->model, CLI_CONFIDENCE, fit)) free(fit), fit = NULL;
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    json_array_append_new(levels, left_at(s, l, fit ? &fit[l] : NULL));
  free(fit);
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_kept_points *p = &s->result.kept->ops[o];
    json_array_append_new(
        ops, json_pack("{s:s, s:f, s:f, s:f, s:o}", "name", s->spec->workload->ops[o].name,
                       "computed", p->points, "gated", p->gated, "skipped", p->skipped, "busiest",
                       busiest && known ? cli_json_real(busiest[o]) : json_null()));
  }
  free(busiest);
  return json_pack("{s:s, s:f, s:b, s:o, s:o}", "figures", "expectations", "confidence",
                   CLI_CONFIDENCE, "upper_bounds", (int)s->result.kept->upper, "levels", levels,
                   "ops", ops);
}

/* ---- experts ------------------------------------------------------------------------ */
static json_t *routing(const cli_session *s) {
  const tf_routing *r = &s->spec->workload->routing;
  json_t *ops = json_array();
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const int64_t parts = tf_model_routed(s->model, o);
    json_array_append_new(
        ops, json_pack("{s:s, s:o, s:o}", "name", s->spec->workload->ops[o].name, "parts",
                       parts ? json_integer(parts) : json_null(), "busiest",
                       parts ? cli_json_real(tf_routing_busiest(r, parts)) : json_null()));
  }
  return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:o}", "dim",
                   s->spec->workload->dims[r->dim].name, "tokens", (json_int_t)r->tokens, "top",
                   (json_int_t)r->top, "experts", (json_int_t)r->experts, "mean",
                   (double)r->tokens * (double)r->top / (double)r->experts, "busiest",
                   tf_routing_busiest(r, r->experts), "ops", ops);
}

/* ---- causes ------------------------------------------------------------------------- */
static json_t *cause(const cli_session *s, const tf_why_row *r) {
  const tf_memory *m = s->spec->arch->memories;
  cli_text node = {0}, text = {0};
  cli_node_line(s->tree, r->node, &node);
  cli_cause(s, r, &text);
  json_t *o = json_pack("{s:s, s:s, s:s?, s:s*, s:i, s:s, s:s*}", "tensor",
                        s->spec->workload->tensors[r->tensor].name, "from", m[r->above].name,
                        "into", r->level < 0 ? NULL : m[r->level].name, "node", node.text, "line",
                        (int)s->tree->nodes[r->node].at.line, "cause", tf_cause_key(r->cause),
                        "text", text.text);
  cli_text_free(&node);
  cli_text_free(&text);
  if (r->at >= 0 && r->slot >= 0) {
    const tf_loop *l = &s->tree->nodes[r->at].loops[r->slot];
    json_object_set_new(o, "loop",
                        json_pack("{s:s, s:I, s:i}", "dim", s->spec->workload->dims[l->dim].name,
                                  "trip", (json_int_t)l->trip, "line", (int)l->at.line));
  }
  set_counts(o, &r->words);
  json_object_set_new(o, "passes", cli_json_real((double)cli_cause_words(r) / (double)r->size));
  return o;
}

static json_t *causes(const cli_session *s) {
  json_t *out = json_array();
  for (int i = 0; i < s->why.n; i++)
    json_array_append_new(out, cause(s, &s->why.rows[i]));
  return out;
}

static json_t *bounds(const cli_session *s) {
  return json_pack("{s:o, s:o, s:I}", "cycles", cli_json_real(s->bounds.cycles), "energy_pj",
                   cli_json_real(s->bounds.energy_pj), "traffic_words",
                   (json_int_t)s->bounds.traffic_words);
}

static json_t *nodes_of(const cli_session *s) {
  json_t *out = json_array();
  for (int i = 0; i < s->tree->n_nodes; i++) {
    const tf_node_result *r = &s->result.nodes[i];
    cli_text line = {0};
    cli_node_line(s->tree, i, &line);
    json_array_append_new(out, json_pack("{s:i, s:s*, s:I, s:I, s:I, s:I, s:o}", "parent",
                                         s->tree->nodes[i].parent, "text", line.text, "runs",
                                         (json_int_t)r->runs, "held", (json_int_t)r->held, "loads",
                                         (json_int_t)r->loads, "stores", (json_int_t)r->stores,
                                         "cycles", cli_json_real(r->cycles)));
    cli_text_free(&line);
  }
  return out;
}

static json_t *closed(const tf_closed_figures *c) {
  return json_pack(
      "{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:[I,I]}", "orders", c->orders, "home_level",
      c->fused, "real_words", cli_json_real(c->real_words), "formula_words",
      cli_json_real(c->formula_words), "tree_words", cli_json_real(c->tree_words), "model_words",
      cli_json_real(c->model_words), "rounding", cli_json_real(c->rounding), "rounding_limit",
      cli_json_real(c->limit), "lanes", (json_int_t)c->lanes[0], (json_int_t)c->lanes[1]);
}

static json_t *found(const cli_session *s) {
  const cli_found *f = &s->found;
  json_t *o = json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:b, s:I, s:o, s:i, s:I, s:s}", "method", f->method, "objective",
      f->objective, "value", cli_json_real(f->value), "bound", cli_json_real(f->bound), "gap",
      cli_json_real(f->bound > 0 ? fmax(0, f->value / f->bound - 1) : NAN), "proved", f->proved,
      "evaluations", (json_int_t)f->evaluations, "seconds", cli_json_real(f->seconds), "threads",
      f->threads, "seed", (json_int_t)f->seed, "stopped_by", f->stopped_by);
  json_object_set_new(o, "space", json_string(f->space ? "solver" : "all"));
  json_object_set_new(o, "space_bound", cli_json_real(f->space_bound));
  json_object_set_new(o, "space_proved", json_boolean(f->space_proved));
  json_object_set_new(o, "space_trips", json_string(f->all_trips ? "all" : "divisors"));
  json_object_set_new(o, "space_bypass", json_boolean(f->bypasses));
  json_object_set_new(o, "trips_bound", cli_json_real(f->trips_bound));
  if (f->laid)
    json_object_set_new(o, "layouts",
                        json_pack("{s:s, s:I, s:o}", "of", "all", "evaluations",
                                  (json_int_t)f->layout_evals, "value_before",
                                  cli_json_real(f->before_layouts)));
  if (f->compared)
    json_object_set_new(o, "given",
                        json_pack("{s:b, s:o}", "feasible", (int)f->given_fits, "value",
                                  f->given_fits ? cli_json_real(f->given) : json_null()));
  if (f->closed.orders) json_object_set_new(o, "closed", closed(&f->closed));
  if (f->measurements) {
    json_object_set_new(o, "measurements", json_integer(f->measurements));
    json_object_set_new(o, "invalid", json_integer(f->invalid));
  }
  return o;
}

/* Prints and frees the object; if it could not be created, marks out as bad. */
static void print_freed(json_t *object, cli_text *out) {
  cli_put_json(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

static void put_area(json_t *o, const tf_arch *a) {
  static const char *const sources[] = {
      [TF_AREA_GIVEN] = "given", [TF_AREA_TABLE] = "table", [TF_AREA_BOTH] = "both"};
  tf_area_source source;
  json_object_set_new(o, "area_um2", cli_json_real(tf_arch_area(a, &source)));
  json_object_set_new(o, "area_source", json_string(sources[source]));
  tf_margin range;
  const bool any = tf_area_range(a, &range);
  put_range(o, "area_range_um2", any, &range);
}

void cli_report_json(const cli_session *s, bool nodes, cli_text *out) {
  const tf_result *r = &s->result;
  json_t *o = names(s);
  json_object_set_new(o, "mapping", mapping(s));
  json_object_set_new(o, "cycles", cli_json_real(r->cycles));
  json_object_set_new(o, "seconds", cli_json_real(r->seconds));
  json_object_set_new(o, "energy_pj", cli_json_real(r->energy_pj));
  if (r->leakage_pj > 0) json_object_set_new(o, "leakage_pj", cli_json_real(r->leakage_pj));
  tf_margin range;
  const bool any = tf_energy_range(s->model, &range);
  put_range(o, "energy_range_pj", any, &range);
  json_object_set_new(o, "edp", cli_json_real(r->energy_pj * r->seconds));
  json_object_set_new(o, "points", json_integer(r->points));
  if (tf_workload_masked(s->spec->workload))
    json_object_set_new(o, "skipped", json_integer(r->skipped));
  json_object_set_new(o, "compute_utilization", cli_json_real(r->compute_utilization));
  json_object_set_new(o, "bottleneck", json_string(r->bottleneck));
  json_object_set_new(o, "levels", levels(s));
  json_object_set_new(o, "compute", units(s));
  json_object_set_new(o, "ops", ops(s));
  if (r->kept) json_object_set_new(o, "zeros", zeros(s));
  if (s->spec->workload->routing.experts) json_object_set_new(o, "routing", routing(s));
  json_object_set_new(o, "why", s->why.n ? causes(s) : json_null());
  json_object_set_new(o, "bounds", bounds(s));
  if (s->expected.target)
    json_object_set_new(o, "expected",
                        json_pack("{s:s, s:o}", "target", s->expected.target, "cycles",
                                  cli_json_real(s->expected.cycles)));
  put_area(o, s->spec->arch);
  if (s->found.method) json_object_set_new(o, "search", found(s));
  if (nodes) json_object_set_new(o, "nodes", nodes_of(s));
  print_freed(o, out);
}

static json_t *slope_of(const tf_slope *p) {
  json_t *out = json_array();
  for (int i = 0; i < p->n; i++) {
    const tf_slope_point *at = &p->at[i];
    bool found = at->text != NULL;
    json_array_append_new(out, json_pack("{s:I, s:o, s:o, s:o, s:o}", "on_chip_words",
                                         (json_int_t)at->capacity, "proved_words",
                                         cli_json_real(at->bound), "proved_all_units_words",
                                         cli_json_real(at->all_units), "found_words",
                                         found ? cli_json_real(at->attained) : json_null(),
                                         "mapping", found ? json_string(at->text) : json_null()));
  }
  return out;
}

/* Proofs that were not attempted. */
static json_t *left_out(const cli_session *s, const tf_slope *p) {
  json_t *out = json_array();
  if (p->op_left_out >= 0)
    json_array_append_new(out, json_pack("{s:s, s:s}", "proof", "nested loops", "op",
                                         s->spec->workload->ops[p->op_left_out].name));
  return out;
}

void cli_bounds_json(const cli_session *s, const tf_slope *slope, cli_text *out) {
  json_t *o = names(s);
  json_object_set_new(o, "bounds", bounds(s));
  json_object_set_new(o, "units", cli_json_real(cli_all_units(s->spec->arch)));
  json_object_set_new(o, "slope", slope_of(slope));
  json_object_set_new(o, "left_out", left_out(s, slope));
  print_freed(o, out);
}
