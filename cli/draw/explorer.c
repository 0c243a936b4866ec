/* A plan as Google's Model Explorer reads it: graphs of its groups and of their ops as JSON, and
 * figures to colour their nodes by as node data (docs/HOWTO-plan.md). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/draw_network.h"
#include "cli/json.h"
#include "tileflow/tree.h"

/* The ids of the two graphs, as node data names them. */
static const char *const groups_id = "groups", *const ops_id = "ops";

static json_t *number_text(int i) {
  char text[16];
  snprintf(text, sizeof text, "%d", i);
  return json_string(text);
}

static void set_attribute(json_t *all, const char *key, const cli_text *value) {
  json_array_append_new(
      all, json_pack("{s:s, s:s}", "key", key, "value", value->text ? value->text : ""));
}

/* "12: conv relu", as a group's node is called, and the layer of its ops. */
static cli_text group_name(const cli_plan *p, int g) {
  const tf_workload *wl = p->plan->groups[g].group->workload;
  cli_text t = {0};
  cli_printf(&t, "%d: %s", g + 1, wl->ops[0].name);
  if (wl->n_ops > 1) cli_printf(&t, " + %d", wl->n_ops - 1);
  for (char *c = t.text; c && *c; c++)
    if (*c == '/') *c = '_'; /* parts layers */
  return t;
}

/* What a click on a group shows, by name: its figures beside their bounds, its mapping. */
static json_t *facts_of(const cli_plan *p, int g) {
  const tf_net_group *x = &p->plan->groups[g];
  cli_text cycles = {0}, energy = {0}, words = {0}, mapping = {0}, bottleneck = {0};
  json_t *all = json_array();
  cli_printf(&cycles, "%.15g (bound %.15g)", x->figures.cycles, x->bounds.cycles);
  cli_printf(&energy, "%.15g (bound %.15g)", x->figures.energy_pj, x->bounds.energy_pj);
  cli_printf(&words, "%.15g (bound %lld)", x->figures.traffic_words,
             (long long)x->bounds.traffic_words);
  cli_printf(&bottleneck, "%s", x->bottleneck);
  char *text = tf_tree_text(x->tree);
  cli_printf(&mapping, "%s", text ? text : "");
  free(text);
  set_attribute(all, "cycles", &cycles);
  set_attribute(all, "energy, pJ", &energy);
  set_attribute(all, "words of the outermost memory", &words);
  set_attribute(all, "bottleneck", &bottleneck);
  set_attribute(all, "mapping", &mapping);
  cli_text_free(&cycles);
  cli_text_free(&energy);
  cli_text_free(&words);
  cli_text_free(&mapping);
  cli_text_free(&bottleneck);
  return all;
}

/* The group of each op of the network. */
static int *groups_of_ops(const cli_plan *p) {
  int *out = calloc((size_t)p->spec->workload->n_ops + 1, sizeof *out);
  for (int g = 0; out && g < p->plan->n; g++)
    for (int o = 0; o < p->plan->groups[g].group->workload->n_ops; o++)
      out[p->plan->groups[g].group->op[o]] = g;
  return out;
}

static bool has_edge(const json_t *edges, const char *from) {
  size_t i;
  json_t *e;
  json_array_foreach(edges, i, e) {
    if (!strcmp(json_string_value(json_object_get(e, "sourceNodeId")), from)) return true;
  }
  return false;
}

static void add_edge(json_t *edges, const char *from) {
  if (!has_edge(edges, from))
    json_array_append_new(edges, json_pack("{s:s}", "sourceNodeId", from));
}

/* ---- groups --------------------------------------------------------------------------------- */
static json_t *group_node(const cli_plan *p, const int *group, int g) {
  const tf_workload *wl = p->spec->workload;
  const tf_group *own = p->plan->groups[g].group;
  json_t *edges = json_array();
  for (int k = 0; k < own->workload->n_ops; k++) {
    const tf_op *op = &wl->ops[own->op[k]];
    for (int r = 0; r < op->n_reads; r++) {
      const int from = wl->tensors[op->reads[r].tensor].producer;
      char id[16];
      if (from < 0 || group[from] == g) continue;
      snprintf(id, sizeof id, "%d", group[from] + 1);
      add_edge(edges, id);
    }
  }
  cli_text name = group_name(p, g);
  json_t *node = json_pack("{s:o, s:s, s:s, s:o, s:o}", "id", number_text(g + 1), "label",
                           name.text ? name.text : "", "namespace", "", "attrs", facts_of(p, g),
                           "incomingEdges", edges);
  cli_text_free(&name);
  return node;
}

static json_t *groups_graph(const cli_plan *p, const int *group) {
  json_t *nodes = json_array();
  for (int g = 0; g < p->plan->n; g++)
    json_array_append_new(nodes, group_node(p, group, g));
  return json_pack("{s:s, s:o}", "id", groups_id, "nodes", nodes);
}

/* ---- ops ------------------------------------------------------------------------------------ */
static json_t *shape_of(const tf_tensor *t) {
  cli_text shape = {0};
  json_t *all = json_array();
  for (int r = 0; r < t->rank; r++)
    cli_printf(&shape, "%s%lld", r ? " x " : "", (long long)t->extent[r]);
  set_attribute(all, "shape", &shape);
  cli_text_free(&shape);
  return all;
}

static json_t *op_node(const cli_plan *p, const int *group, int o) {
  const tf_workload *wl = p->spec->workload;
  const tf_op *op = &wl->ops[o];
  json_t *edges = json_array();
  for (int r = 0; r < op->n_reads; r++) {
    const tf_tensor *t = &wl->tensors[op->reads[r].tensor];
    add_edge(edges, t->producer < 0 ? t->name : wl->ops[t->producer].name);
  }
  cli_text layer = group_name(p, group[o]);
  json_t *outputs = json_pack("[{s:s, s:o}]", "id", "0", "attrs", shape_of(&wl->tensors[op->out]));
  json_t *node =
      json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", op->name, "label", op->name, "namespace",
                layer.text ? layer.text : "", "incomingEdges", edges, "outputsMetadata", outputs);
  cli_text_free(&layer);
  return node;
}

static json_t *input_node(const tf_tensor *t) {
  return json_pack("{s:s, s:s, s:s, s:[{s:s, s:o}]}", "id", t->name, "label", t->name, "namespace",
                   "inputs", "outputsMetadata", "id", "0", "attrs", shape_of(t));
}

/* The figures of groups, as those of layers: an object of texts for each. */
static json_t *layers_of(const cli_plan *p) {
  json_t *all = json_object();
  for (int g = 0; g < p->plan->n; g++) {
    cli_text name = group_name(p, g);
    json_t *facts = facts_of(p, g), *layer = json_object(), *f;
    size_t i;
    json_array_foreach(facts, i, f) {
      json_object_set(layer, json_string_value(json_object_get(f, "key")),
                      json_object_get(f, "value"));
    }
    json_decref(facts);
    json_object_set_new(all, name.text ? name.text : "", layer);
    cli_text_free(&name);
  }
  return all;
}

static json_t *ops_graph(const cli_plan *p, const int *group) {
  const tf_workload *wl = p->spec->workload;
  json_t *nodes = json_array();
  for (int o = 0; o < wl->n_ops; o++)
    json_array_append_new(nodes, op_node(p, group, o));
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].producer < 0) json_array_append_new(nodes, input_node(&wl->tensors[z]));
  return json_pack("{s:s, s:o, s:o}", "id", ops_id, "nodes", nodes, "groupNodeAttributes",
                   layers_of(p));
}

static void put(json_t *root, cli_text *out) {
  cli_put_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out);
}

void cli_explorer_graphs(const cli_plan *p, cli_text *out) {
  int *group = groups_of_ops(p);
  if (group)
    put(json_pack("{s:s, s:[o, o]}", "label", p->spec->workload->name, "graphs",
                  groups_graph(p, group), ops_graph(p, group)),
        out);
  else
    out->bad = true;
  free(group);
}

/* ---- node data ------------------------------------------------------------------------------ */
/* Light where a value is the least of the graph, dark where it is the largest, and text can be read
 * on either. */
static json_t *data_of(const char *name, json_t *results) {
  return json_pack("{s:s, s:o, s:[{s:i, s:s}, {s:i, s:s}]}", "name", name, "results", results,
                   "gradient", "stop", 0, "bgColor", "#fff7e6", "stop", 1, "bgColor", "#fb923c");
}

static void set_value(json_t *results, const char *id, double v) {
  if (isfinite(v)) json_object_set_new(results, id, json_pack("{s:f}", "value", v));
}

void cli_explorer_data(const cli_plan *p, cli_text *out) {
  const tf_net_plan *q = p->plan;
  json_t *values = json_object(), *gaps = json_object();
  for (int g = 0; g < q->n; g++) {
    const tf_net_group *x = &q->groups[g];
    const double value = tf_objective_value(q->objective, &x->figures);
    const double bound = tf_bounds_value(q->objective, &x->bounds, p->spec->arch);
    char id[16];
    snprintf(id, sizeof id, "%d", g + 1);
    set_value(values, id, value);
    for (int o = 0; o < x->group->workload->n_ops; o++)
      set_value(gaps, p->spec->workload->ops[x->group->op[o]].name,
                bound > 0 ? value / bound : NAN);
  }
  cli_text gap = {0};
  const char *const what = tf_objective_key((int)q->objective);
  cli_printf(&gap, "%s of the op's group over its bound", what);
  json_t *of_ops = data_of(gap.text ? gap.text : "", gaps);
  json_object_set_new(of_ops, "hideAggregatedStats", json_pack("[s]", "sum")); /* ratios */
  put(json_pack("{s:o, s:o}", groups_id, data_of(what, values), ops_id, of_ops), out);
  cli_text_free(&gap);
}
