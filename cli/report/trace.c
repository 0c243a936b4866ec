/* The intervals of a trace as CSV, and as the Trace Event Format (docs/FORMATS.md). */
#include "tileflow/trace.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

/* The ops at and below a node, joined. */
static void put_ops(const tf_tree *tree, int node, cli_text *out) {
  cli_text name = {0};
  for (int n = node; n < tree->nodes[node].end; n++)
    if (tree->nodes[n].kind == TF_OP)
      cli_printf(&name, "%s%s", name.len ? "+" : "", tree->workload->ops[tree->nodes[n].op].name);
  cli_csv_cell(out, cli_part(&name, out));
  out->bad |= name.bad;
  cli_text_free(&name);
}

void cli_trace_csv(const cli_session *s, const tf_trace *t, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  cli_printf(out, "kind,resource,what,begin,end,words\n");
  for (int i = 0; i < t->n; i++) {
    const tf_interval *x = &t->at[i];
    cli_printf(out, "%s,", tf_trace_key(x->kind));
    cli_csv_cell(out, x->level >= 0 ? a->memories[x->level].name : a->units[x->unit].name);
    cli_printf(out, ",");
    if (x->tensor >= 0)
      cli_csv_cell(out, s->spec->workload->tensors[x->tensor].name);
    else
      put_ops(s->tree, x->node, out);
    cli_printf(out, ",%.15g,%.15g,%.15g\n", x->begin, x->end, x->words);
  }
}

/* ---- for Perfetto and chrome://tracing ------------------------------------------------ */
/* A thread for each port and each kind of units, with "complete" events; a counter for what each memory holds. */

/* Numbers of threads: a memory's loads and stores, a kind of units. */
static int thread_of(const cli_session *s, const tf_interval *x) {
  if (x->unit >= 0) return 1 + 2 * s->spec->arch->n_memories + x->unit;
  return 1 + 2 * x->level + (x->kind == TF_TRACE_STORE);
}

static void name_thread(json_t *events, int thread, const char *name, const char *what) {
  cli_text t = {0};
  cli_printf(&t, "%s%s", name, what);
  json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:s*}}", "ph", "M", "name", "thread_name", "pid", 1,
                                          "tid", thread, "args", "name", t.text));
  json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name", "thread_sort_index",
                                          "pid", 1, "tid", thread, "args", "sort_index", thread));
  cli_text_free(&t);
}

static void name_threads(const cli_session *s, json_t *events) {
  const tf_arch *a = s->spec->arch;
  for (int l = 0; l < a->n_memories; l++) {
    name_thread(events, 1 + 2 * l, a->memories[l].name, " load");
    name_thread(events, 2 + 2 * l, a->memories[l].name, " store");
  }
  for (int u = 0; u < a->n_units; u++)
    name_thread(events, 1 + 2 * a->n_memories + u, a->units[u].name, "");
}

static void put_span(const cli_session *s, const tf_interval *x, json_t *events) {
  cli_text name = {0};
  cli_node_line(s->tree, x->node, &name);
  json_array_append_new(events,
                        json_pack("{s:s, s:s*, s:s, s:i, s:i, s:f, s:f, s:{s:f, s:i}}", "ph", "X", "name", name.text,
                                  "cat", tf_trace_key(x->kind), "pid", 1, "tid", thread_of(s, x), "ts", x->begin, "dur",
                                  x->end - x->begin, "args", x->kind == TF_TRACE_WORK ? "points" : "words", x->words,
                                  "line", (int)s->tree->nodes[x->node].at.line));
  cli_text_free(&name);
}

/* A change of what a memory holds of a tensor: a point of its counter. */
static void put_held(const cli_session *s, const tf_interval *x, bool begins, json_t *events) {
  const char *tensor = s->spec->workload->tensors[x->tensor].name;
  cli_text name = {0};
  cli_printf(&name, "%s holds, words of", s->spec->arch->memories[x->level].name);
  json_array_append_new(events, json_pack("{s:s, s:s*, s:i, s:f, s:{s:f}}", "ph", "C", "name", name.text, "pid", 1,
                                          "ts", begins ? x->begin : x->end, "args", tensor, begins ? x->words : 0.0));
  cli_text_free(&name);
}

void cli_trace_json(const cli_session *s, const tf_trace *t, cli_text *out) {
  json_t *events = json_array();
  json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name", "process_name", "pid", 1,
                                          "args", "name", s->spec->workload->name));
  name_threads(s, events);
  for (int i = 0; i < t->n; i++) {
    const tf_interval *x = &t->at[i];
    if (x->kind != TF_TRACE_HOLD) {
      put_span(s, x, events);
      continue;
    }
    put_held(s, x, true, events);
    put_held(s, x, false, events);
  }
  json_t *all = json_pack("{s:s, s:o}", "displayTimeUnit", "ns", "traceEvents", events);
  char *text = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  if (text) cli_printf(out, "%s\n", text);
  out->bad |= !text;
  free(text);
  json_decref(all);
}
