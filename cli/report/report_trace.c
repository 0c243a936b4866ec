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

/* Of memories that hold words one by one. */
static void put_capacities(const cli_session *s, const tf_trace *t, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  double end = 0;
  for (int i = 0; i < t->n; i++)
    end = t->at[i].end > end ? t->at[i].end : end;
  for (int l = 0; l < a->n_memories; l++) {
    if (a->memories[l].capacity_words < 0 || a->memories[l].formats.n) continue;
    cli_printf(out, "capacity,");
    cli_csv_cell(out, a->memories[l].name);
    cli_printf(out, ",,0,%.15g,%.15g\n", end, (double)a->memories[l].capacity_words);
  }
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
  put_capacities(s, t, out);
}

/* ---- for Perfetto and chrome://tracing ------------------------------------------------ */
/* An interval and its thread.  "Complete" events of one thread may not overlap, so each port and
 * each kind of units has a thread for what happens there at the same time. */
typedef struct {
  const tf_interval *x;
  int lane, row;
} event;

enum { ROWS_MOST = 1000 };

/* A memory's loads and its stores, or a kind of units. */
static int lane_of(const cli_session *s, const tf_interval *x) {
  if (x->unit >= 0) return 2 * s->spec->arch->n_memories + x->unit;
  return 2 * x->level + (x->kind == TF_TRACE_STORE);
}

static int by_lane_and_time(const void *pa, const void *pb) {
  const event *a = pa, *b = pb;
  if (a->lane != b->lane) return a->lane - b->lane;
  if (a->x->begin != b->x->begin) return a->x->begin < b->x->begin ? -1 : 1;
  return a->x->node - b->x->node;
}

/* Puts each event of one lane into the first row that is free when it begins; times that differ by
 * rounding do not overlap. */
static void set_rows(event *e, int n) {
  double end[ROWS_MOST];
  int rows = 0;
  for (int i = 0; i < n; i++) {
    const double slack = 1e-9 * e[i].x->end;
    int k = 0;
    while (k < rows && end[k] > e[i].x->begin + slack && k < ROWS_MOST - 1)
      k++;
    rows = k < rows ? rows : k + 1;
    end[k] = e[i].x->end;
    e[i].row = k;
  }
}

/* All but what is held, by lane; [*n], to be freed.  NULL: no memory. */
static event *events_of(const cli_session *s, const tf_trace *t, int *n) {
  event *all = calloc((size_t)t->n + 1, sizeof *all);
  *n = 0;
  for (int i = 0; all && i < t->n; i++)
    if (t->at[i].kind != TF_TRACE_HOLD) all[(*n)++] = (event){&t->at[i], lane_of(s, &t->at[i]), 0};
  if (all) qsort(all, (size_t)*n, sizeof *all, by_lane_and_time);
  for (int i = 0, k; i < *n; i = k) {
    for (k = i; k < *n && all[k].lane == all[i].lane;)
      k++;
    set_rows(all + i, k - i);
  }
  return all;
}

static int thread_of(const event *e) { return 1 + e->lane * ROWS_MOST + e->row; }

static void name_thread(const cli_session *s, const event *e, json_t *out) {
  static const char *const ways[] = {
      [TF_TRACE_LOAD] = " load", [TF_TRACE_WORK] = "", [TF_TRACE_STORE] = " store"};
  const tf_arch *a = s->spec->arch;
  cli_text t = {0};
  cli_printf(&t, "%s%s",
             e->x->unit >= 0 ? a->units[e->x->unit].name : a->memories[e->x->level].name,
             ways[e->x->kind]);
  json_array_append_new(out, json_pack("{s:s, s:s, s:i, s:i, s:{s:s*}}", "ph", "M", "name",
                                       "thread_name", "pid", 1, "tid", thread_of(e), "args", "name",
                                       t.text));
  json_array_append_new(out, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name",
                                       "thread_sort_index", "pid", 1, "tid", thread_of(e), "args",
                                       "sort_index", thread_of(e)));
  cli_text_free(&t);
}

static void put_event(const cli_session *s, const event *e, json_t *out) {
  const tf_interval *x = e->x;
  cli_text name = {0};
  cli_node_line(s->tree, x->node, &name);
  json_array_append_new(out,
                        json_pack("{s:s, s:s*, s:s, s:i, s:i, s:f, s:f, s:{s:f, s:i}}", "ph", "X",
                                  "name", name.text, "cat", tf_trace_key(x->kind), "pid", 1, "tid",
                                  thread_of(e), "ts", x->begin, "dur", x->end - x->begin, "args",
                                  x->kind == TF_TRACE_WORK ? "points" : "words", x->words, "line",
                                  (int)s->tree->nodes[x->node].at.line));
  cli_text_free(&name);
}

/* A change of what a memory holds of a tensor. */
typedef struct {
  int level, tensor;
  double time, words;
} change;

static int by_tensor_and_time(const void *pa, const void *pb) {
  const change *a = pa, *b = pb;
  if (a->level != b->level) return a->level - b->level;
  if (a->tensor != b->tensor) return a->tensor - b->tensor;
  return (a->time > b->time) - (a->time < b->time);
}

static void put_held(const cli_session *s, const change *c, double held, json_t *out) {
  cli_text name = {0};
  cli_printf(&name, "%s holds, words of", s->spec->arch->memories[c->level].name);
  json_array_append_new(out, json_pack("{s:s, s:s*, s:i, s:f, s:{s:f}}", "ph", "C", "name",
                                       name.text, "pid", 1, "ts", c->time, "args",
                                       s->spec->workload->tensors[c->tensor].name, held));
  cli_text_free(&name);
}

/* A counter for each memory and tensor: a point at each time at which that changes.  False: no
 * memory. */
static bool put_counters(const cli_session *s, const tf_trace *t, json_t *out) {
  change *all = calloc(2 * (size_t)t->n + 1, sizeof *all);
  int n = 0;
  for (int i = 0; all && i < t->n; i++) {
    const tf_interval *x = &t->at[i];
    if (x->kind != TF_TRACE_HOLD) continue;
    all[n++] = (change){x->level, x->tensor, x->begin, x->words};
    all[n++] = (change){x->level, x->tensor, x->end, -x->words};
  }
  if (all) qsort(all, (size_t)n, sizeof *all, by_tensor_and_time);
  double held = 0;
  for (int i = 0; i < n; i++) {
    const bool same =
        i > 0 && all[i - 1].level == all[i].level && all[i - 1].tensor == all[i].tensor;
    held = (same ? held : 0) + all[i].words;
    if (i + 1 == n || by_tensor_and_time(&all[i], &all[i + 1]) != 0)
      put_held(s, &all[i], held, out);
  }
  free(all);
  return all != NULL;
}

/* NULL: no memory. */
static json_t *events_json(const cli_session *s, const tf_trace *t, const event *all, int n) {
  json_t *out = json_array();
  json_array_append_new(out,
                        json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name", "process_name",
                                  "pid", 1, "args", "name", s->spec->workload->name));
  for (int i = 0, rows = 0; i < n; i++) {
    rows = i && all[i].lane == all[i - 1].lane ? rows : 0;
    if (all[i].row == rows) { /* its first event: rows are taken in their order */
      name_thread(s, &all[i], out);
      rows++;
    }
    put_event(s, &all[i], out);
  }
  if (put_counters(s, t, out)) return out;
  json_decref(out);
  return NULL;
}

void cli_trace_json(const cli_session *s, const tf_trace *t, cli_text *out) {
  int n;
  event *all = events_of(s, t, &n);
  json_t *events = all ? events_json(s, t, all, n) : NULL;
  json_t *whole =
      events ? json_pack("{s:s, s:o}", "displayTimeUnit", "ns", "traceEvents", events) : NULL;
  char *text = whole ? json_dumps(whole, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  if (text) cli_printf(out, "%s\n", text);
  out->bad |= !text;
  free(text);
  json_decref(whole);
  free(all);
}
