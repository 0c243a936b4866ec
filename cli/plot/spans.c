/* Charts of a trace (docs/FORMATS.md): what is busy when, and how many words each memory holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

typedef struct {
  const plot_table *t;
  uint16_t file;
  int kind, resource, what, begin, end, words;
} trace;

typedef struct {
  double begin, end, words;
} interval;

/* One trace, in cycles. */
static bool open_trace(const plot_input *in, size_t n, const char *kind, trace *out, tf_diags *d) {
  if (n != 1) {
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--as %s draws one trace, not %zu files", kind, n);
    return false;
  }
  if (!in->table.n_columns) {
    tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_TYPE,
            "--as %s needs CSV, as 'eval --trace' writes it, and this is JSON", kind);
    return false;
  }
  const plot_table *t = &in->table;
  *out = (trace){t,
                 in->file,
                 plot_column(t, "kind", d),
                 plot_column(t, "resource", d),
                 plot_column(t, "what", d),
                 plot_column(t, "begin", d),
                 plot_column(t, "end", d),
                 plot_column(t, "words", d)};
  return out->kind >= 0 && out->resource >= 0 && out->what >= 0 && out->begin >= 0 && out->end >= 0 && out->words >= 0;
}

/* A row's kind, an index into load, work, store, hold; -1 with an error in d. */
static int kind_of(const trace *t, int row, tf_diags *d) {
  static const char *const known[] = {"load", "work", "store", "hold"};
  const plot_cell *c = plot_cell_at(t->t, row, t->kind);
  for (int k = 0; k < 4; k++)
    if (!strcmp(c->text, known[k])) return k;
  tf_fail(d, c->at, TF_E_NAME, "no kind '%.60s'; known: load, work, store, hold", c->text);
  return -1;
}

static bool interval_of(const trace *t, int row, interval *x, tf_diags *d) {
  bool ok = plot_number(t->t, row, t->begin, &x->begin, d);
  ok = plot_number(t->t, row, t->end, &x->end, d) && ok;
  ok = plot_number(t->t, row, t->words, &x->words, d) && ok;
  if (!ok) return false;
  if (x->begin >= 0 && x->end >= x->begin) return true;
  return tf_fail(d, plot_cell_at(t->t, row, t->end)->at, TF_E_RANGE,
                 "an interval begins at 0 or later and ends no earlier");
}

static plot_series *series_named(plot_chart *c, const char *name, plot_style style) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->series[i].name, name)) return &c->series[i];
  return plot_add_series(c, name, style, c->n);
}

static void begin_chart(plot_chart *c, const char *what, const plot_input *in) {
  char name[120];
  plot_base_name(in->path, name, sizeof name);
  snprintf(c->title, sizeof c->title, "%s of %s", what, name);
  strcpy(c->x_name, "cycles");
}

static bool not_empty(const plot_chart *c, const trace *t, const char *what, tf_diags *d) {
  if (c->n || c->bad) return !c->bad;
  return tf_fail(d, (tf_loc){t->file, 1, 1, 1}, TF_E_MISSING, "there are no intervals of kind %s to draw", what);
}

/* ---- timeline --------------------------------------------------------------------------------- */

enum { RESOURCES_MOST = 32, WAYS = 3 };

/* Resources in order of appearance, and whether each has load, work and store. */
typedef struct {
  char name[RESOURCES_MOST][60];
  bool has[RESOURCES_MOST][WAYS];
  int n;
} resources;

/* Index of a resource, added if new; -1: too many. */
static int resource_named(resources *l, const char *text) {
  char name[60];
  snprintf(name, sizeof name, "%s", text);
  for (int i = 0; i < l->n; i++)
    if (!strcmp(l->name[i], name)) return i;
  if (l->n == RESOURCES_MOST) return -1;
  memcpy(l->name[l->n], name, sizeof name);
  return l->n++;
}

/* The line number in the chart, from the top, and its name. */
static int line_of(const resources *l, int resource, int kind, char name[80]) {
  static const char *const ways[WAYS] = {" load", "", " store"};
  int line = 0;
  for (int i = 0; i <= resource; i++)
    for (int k = 0; k < (i < resource ? WAYS : kind); k++)
      line += l->has[i][k];
  snprintf(name, 80, "%s%s", l->name[resource], ways[kind]);
  return line;
}

static bool gather(const trace *t, resources *l, tf_diags *d) {
  bool ok = true;
  for (int row = 0; row < t->t->n_rows; row++) {
    interval x;
    const plot_cell *cell = plot_cell_at(t->t, row, t->resource);
    const int kind = kind_of(t, row, d), at = resource_named(l, cell->text);
    ok = kind >= 0 && interval_of(t, row, &x, d) && ok;
    if (at < 0) return tf_fail(d, cell->at, TF_E_LIMIT, "more than %d resources in one chart", RESOURCES_MOST);
    if (kind >= 0 && kind < WAYS) l->has[at][kind] = true;
  }
  return ok;
}

bool plot_timeline(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  trace t = {0};
  resources l = {.n = 0};
  (void)w;
  if (!open_trace(in, n, "timeline", &t, d) || !gather(&t, &l, d)) return false;
  begin_chart(c, "Timeline", in);
  c->shape = PLOT_SPANS;
  for (int row = 0; row < t.t->n_rows; row++) {
    interval x;
    char name[80];
    const int kind = kind_of(&t, row, d);
    if (kind >= WAYS || !interval_of(&t, row, &x, d)) continue;
    const int line = line_of(&l, resource_named(&l, plot_cell_at(t.t, row, t.resource)->text), kind, name);
    plot_series *s = series_named(c, plot_cell_at(t.t, row, t.what)->text, PLOT_LINE);
    plot_add_point(c, s, x.begin, line, name, NULL);
    if (s && s->n) s->at[s->n - 1].z = x.end;
  }
  return not_empty(c, &t, "load, work or store", d);
}

/* ---- occupancy -------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
  const plot_point *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Draws the running sum of changes of one memory as a line, with gaps where nothing is held.  Moments that differ only
 * by rounding are merged; a sum that is only rounding error counts as nothing. */
static bool draw_sum(plot_chart *c, plot_point *change, int n, const char *name) {
  plot_series *s = plot_add_series(c, name, PLOT_LINE, c->n);
  double sum = 0, most = 0, was = 0;
  qsort(change, (size_t)n, sizeof *change, by_time);
  const double near = n ? change[n - 1].x * 1e-9 : 0;
  for (int i = 0; i < n;) {
    const double x = change[i].x;
    for (; i < n && change[i].x <= x + near; i++)
      sum += change[i].y;
    most = sum > most ? sum : most;
    const double now = sum > most * 1e-9 ? sum : 0;
    if (now <= was && now >= was) continue;
    if (was > 0) plot_add_point(c, s, x, was, NULL, NULL);
    plot_add_point(c, s, x, now > 0 ? now : NAN, NULL, NULL);
    was = now;
  }
  return s != NULL;
}

bool plot_occupancy(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  trace t = {0};
  resources l = {.n = 0};
  (void)w;
  if (!open_trace(in, n, "occupancy", &t, d) || !gather(&t, &l, d)) return false;
  begin_chart(c, "Words held", in);
  strcpy(c->y_name, "words held in one instance");
  c->log_y = true; /* registers hold a millionth of what DRAM holds */
  plot_point *change = calloc(2 * (size_t)t.t->n_rows + 1, sizeof *change);
  c->bad |= !change;
  for (int r = 0; r < l.n && change; r++) {
    int k = 0;
    for (int row = 0; row < t.t->n_rows; row++) {
      interval x;
      if (kind_of(&t, row, d) < WAYS || strcmp(plot_cell_at(t.t, row, t.resource)->text, l.name[r]) != 0) continue;
      if (!interval_of(&t, row, &x, d) || x.words <= 0) continue;
      change[k++] = (plot_point){.x = x.begin, .y = x.words};
      change[k++] = (plot_point){.x = x.end, .y = -x.words};
    }
    if (k && !draw_sum(c, change, k, l.name[r])) break;
  }
  free(change);
  return not_empty(c, &t, "hold", d);
}
