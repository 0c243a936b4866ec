/* The data of one evaluated mapping: the report's JSON, and what the pictures need besides: the tree's loops and
 * lines, words by edge, intervals of time, the roofline, the files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"
#include "cli/plot/plot.h"
#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

/* What a page shows at the most, so that it stays small. */
enum { INTERVALS_MOST = 8000, FILE_MOST = 100000 };

/* ---- the tree ----------------------------------------------------------------------- */
static json_t *loop_of(const cli_session *s, const tf_loop *l) {
  static const char *const axis[] = {[TF_TEMPORAL] = "", [TF_SPATIAL_X] = "@x", [TF_SPATIAL_Y] = "@y"};
  char text[120];
  snprintf(text, sizeof text, "%.80s=%lld%s", s->spec->workload->dims[l->dim].name, (long long)l->trip, axis[l->axis]);
  return json_pack("{s:s, s:i, s:b}", "text", text, "line", (int)l->at.line, "spatial", l->axis != TF_TEMPORAL);
}

static json_t *node_of(const cli_session *s, int i) {
  static const char *const kinds[] = {[TF_TILE] = "tile", [TF_SCOPE] = "scope", [TF_OP] = "op"};
  const tf_node *n = &s->tree->nodes[i];
  cli_text head = {0}, rest = {0};
  json_t *loops = json_array();
  for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++)
    json_array_append_new(loops, loop_of(s, &n->loops[k]));
  cli_node_head(s->tree, i, &head);
  cli_node_rest(s->tree, i, &rest);
  json_t *o = json_pack("{s:s, s:s?, s:s?, s:i, s:i, s:i, s:i, s:i, s:o}", "kind", kinds[n->kind], "head", head.text,
                        "rest", rest.text, "parent", n->parent, "end", n->end, "file", (int)n->at.file, "line",
                        (int)n->at.line, "level", n->kind == TF_TILE ? n->level : -1, "loops", loops);
  if (n->kind == TF_OP) json_object_set_new(o, "op", json_string(s->spec->workload->ops[n->op].name));
  cli_text_free(&head);
  cli_text_free(&rest);
  return o;
}

static json_t *tree_of(const cli_session *s) {
  json_t *out = json_array();
  for (int i = 0; i < s->tree->n_nodes; i++)
    json_array_append_new(out, node_of(s, i));
  return out;
}

/* ---- words by edge ------------------------------------------------------------------- */
/* Words of one tensor between two memories (into null: units), in words of the one above; the entries of the report's
 * "why" that they consist of. */
static json_t *edge_of(const cli_session *s, int first) {
  const tf_why_row *r = &s->why.rows[first];
  const tf_memory *m = s->spec->arch->memories;
  const double k = (double)s->spec->workload->tensors[r->tensor].word_bits / m[r->above].word_bits;
  double down = 0, up = 0;
  json_t *causes = json_array();
  for (int i = first; i < s->why.n; i++) {
    const tf_why_row *x = &s->why.rows[i];
    if (x->tensor != r->tensor || x->above != r->above || x->level != r->level) continue;
    down += k * (double)x->words.read;
    up += k * (double)x->words.update;
    json_array_append_new(causes, json_integer(i));
  }
  return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "tensor", s->spec->workload->tensors[r->tensor].name, "from",
                   r->above, "into", r->level, "down", cli_json_real(down), "up", cli_json_real(up), "size",
                   cli_json_real(k * (double)r->size), "causes", causes);
}

static bool first_of_edge(const tf_why *w, int i) {
  for (int k = 0; k < i; k++)
    if (w->rows[k].tensor == w->rows[i].tensor && w->rows[k].above == w->rows[i].above &&
        w->rows[k].level == w->rows[i].level)
      return false;
  return true;
}

static json_t *edges_of(const cli_session *s) {
  json_t *out = json_array();
  for (int i = 0; i < s->why.n; i++)
    if (first_of_edge(&s->why, i)) json_array_append_new(out, edge_of(s, i));
  return out;
}

/* For each entry of the report's "why": the node it is of, and the loop that repeats it (node, number; -1: none). */
static json_t *links_of(const cli_session *s) {
  json_t *out = json_array();
  for (int i = 0; i < s->why.n; i++) {
    const tf_why_row *r = &s->why.rows[i];
    json_array_append_new(out, json_pack("[i,i,i]", r->node, r->at, r->slot));
  }
  return out;
}

/* ---- time ------------------------------------------------------------------------------ */
/* kind (0 load, 1 work, 2 store, 3 hold), memory or -1, unit or -1, node, tensor or -1, begin, end, words */
static json_t *interval_of(const tf_interval *x) {
  return json_pack("[i,i,i,i,i,o,o,o]", (int)x->kind, x->level, x->unit, x->node, x->tensor, cli_json_real(x->begin),
                   cli_json_real(x->end), cli_json_real(x->words));
}

/* The longest trace that is short enough: fewer runs are shown one by one until it is. */
static tf_trace *trace_of(const cli_session *s) {
  tf_trace *t = NULL;
  for (int64_t most = 500; most >= 1; most /= 4) {
    tf_trace_free(t);
    t = tf_trace_of(s->model, most, s->diags);
    if (!t || t->n <= INTERVALS_MOST) return t;
  }
  return t;
}

/* null: there are too many intervals even where only sums over runs are shown */
static json_t *time_of(const cli_session *s, bool *bad) {
  tf_trace *t = trace_of(s);
  *bad |= !t;
  json_t *out = json_null();
  if (t && t->n <= INTERVALS_MOST) {
    json_t *all = json_array();
    for (int i = 0; i < t->n; i++)
      json_array_append_new(all, interval_of(&t->at[i]));
    out = json_pack("{s:o, s:b, s:I, s:o}", "cycles", cli_json_real(t->cycles), "whole", t->whole, "most",
                    (json_int_t)t->most, "intervals", all);
  }
  tf_trace_free(t);
  return out;
}

/* ---- the roofline ------------------------------------------------------------------------- */
static json_t *series_of(const plot_series *p) {
  json_t *at = json_array();
  for (int i = 0; i < p->n; i++)
    json_array_append_new(at, json_pack("[o,o]", cli_json_real(p->points[i].x), cli_json_real(p->points[i].y)));
  return json_pack("{s:s, s:i, s:b, s:o}", "name", p->name, "memory", p->colour, "roof",
                   p->style == PLOT_LINE || p->style == PLOT_DASHED, "at", at);
}

/* As `plot --as roofline` draws it; null: no memory has a limited bandwidth. */
static json_t *roofline_of(json_t *report) {
  const plot_input in = {.path = "this mapping", .json = report};
  const plot_choice choice = {0};
  plot_chart chart = {0};
  tf_diags *d = tf_diags_new();
  json_t *out = json_null();
  if (d && plot_roofline(&in, 1, &choice, &chart, d) && !chart.bad) {
    out = json_array();
    for (int i = 0; i < chart.n; i++)
      if (chart.series[i].n) json_array_append_new(out, series_of(&chart.series[i]));
  }
  plot_chart_free(&chart);
  tf_diags_free(d);
  return out;
}

/* ---- the files ---------------------------------------------------------------------------- */
static json_t *file_of(const tf_diags *d, uint16_t file, const char *text) {
  size_t n = strlen(text), all = n;
  if (n > FILE_MOST) /* at the end of a line */
    for (n = FILE_MOST; n > 0 && text[n - 1] != '\n';)
      n--;
  json_t *shown = json_stringn(text, n);
  return json_pack("{s:s, s:i, s:o, s:I}", "name", tf_diags_file_name(d, file), "file", (int)file, "text",
                   shown ? shown : json_string(""), "left_out", (json_int_t)(shown ? all - n : all));
}

static json_t *files_of(const tf_diags *d) {
  json_t *out = json_array();
  const char *text;
  for (uint16_t i = 1; (text = tf_diags_file_text(d, i)); i++)
    json_array_append_new(out, file_of(d, i, text));
  return out;
}

/* ---- all of it -------------------------------------------------------------------------------- */
static json_t *tensors_of(const cli_session *s) {
  const tf_workload *wl = s->spec->workload;
  json_t *out = json_array();
  for (int z = 0; z < wl->n_tensors; z++)
    json_array_append_new(out, json_pack("{s:s, s:i}", "name", wl->tensors[z].name, "home", tf_tree_home(s->tree, z)));
  return out;
}

json_t *page_mapping(const cli_session *s) {
  page_data p = {json_object(), false, false};
  cli_text report = {0};
  cli_report_json(s, true, &report);
  page_set_report(&p, "report", &report);
  page_set(&p, "traffic_words", cli_json_real(cli_outer_traffic(s)));
  page_set(&p, "tensors", tensors_of(s));
  page_set(&p, "tree", tree_of(s));
  page_set(&p, "edges", edges_of(s));
  page_set(&p, "links", links_of(s));
  page_set(&p, "time", time_of(s, &p.bad));
  page_set(&p, "roofline", p.bad ? json_null() : roofline_of(json_object_get(p.object, "report")));
  page_set(&p, "files", files_of(s->diags));
  if (!p.bad) return p.object;
  json_decref(p.object);
  return NULL;
}

/* The settings of --set, for the model in the page. */
static json_t *settings_of(const cli_input *in) {
  json_t *out = json_object();
  for (size_t i = 0; i < in->n_set; i++)
    json_object_set_new(out, in->set[i].name, json_string(in->set[i].value));
  return out;
}

bool cli_page_mapping(const char *path, const char *command, const cli_session *s, const cli_text *terminal,
                      bool live) {
  page_data p = {json_object(), false, live};
  cli_text title = {0};
  page_set(&p, "kind", json_string(command));
  page_set(&p, "mapping", page_mapping(s));
  if (live) page_set(&p, "set", settings_of(s->in));
  page_set_text(&p, "terminal", terminal);
  cli_printf(&title, "%s on %s", s->spec->workload->name, s->spec->arch->name);
  p.bad |= title.bad;
  const bool ok = page_write(path, title.text ? title.text : "", &p);
  cli_text_free(&title);
  return ok;
}
