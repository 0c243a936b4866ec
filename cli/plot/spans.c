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
  return out->kind >= 0 && out->resource >= 0 && out->what >= 0 && out->begin >= 0 &&
         out->end >= 0 && out->words >= 0;
}

enum { HOLD = 3, ROOM };

/* A row's kind, an index into load, work, store, hold, capacity; -1 with an error in d. */
static int kind_of(const trace *t, int row, tf_diags *d) {
  static const char *const known[] = {"load", "work", "store", "hold", "capacity"};
  const plot_cell *c = plot_cell_at(t->t, row, t->kind);
  for (int k = 0; k <= ROOM; k++)
    if (!strcmp(c->text, known[k])) return k;
  tf_fail(d, c->at, TF_E_NAME, "no kind '%.60s'; known: load, work, store, hold, capacity",
          c->text);
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
  return tf_fail(d, (tf_loc){t->file, 1, 1, 1}, TF_E_MISSING,
                 "there are no intervals of kind %s to draw", what);
}

/* ---- timeline -------------------------------------------------------------------------------- */

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
    if (at < 0)
      return tf_fail(d, cell->at, TF_E_LIMIT, "more than %d resources in one chart",
                     RESOURCES_MOST);
    if (kind >= 0 && kind < WAYS) l->has[at][kind] = true;
  }
  return ok;
}

/* ---- what is busy at the same time stands side by side in its row ---- */
typedef struct {
  int n;        /* series */
  bool *meets;  /* [n * n] whether two of them overlap in this row */
  double *till; /* [n] so far, while the row is walked; -1: not in it */
  int *lane, *lanes;
} row_lanes;

typedef struct {
  plot_point *p;
  int series;
} row_span;

static int by_begin(const void *a, const void *b) {
  const row_span *p = a, *q = b;
  if (p->p->x > q->p->x || p->p->x < q->p->x) return p->p->x > q->p->x ? 1 : -1;
  return p->series - q->series;
}

static void mark_meetings(row_lanes *r, const row_span *at, size_t n, double near) {
  memset(r->meets, 0, (size_t)r->n * (size_t)r->n * sizeof *r->meets);
  for (int s = 0; s < r->n; s++)
    r->till[s] = -1, r->lane[s] = 0, r->lanes[s] = 1;
  for (size_t i = 0; i < n; i++) {
    const int mine = at[i].series;
    for (int s = 0; s < r->n; s++)
      if (s != mine && r->till[s] > at[i].p->x + near)
        r->meets[mine * r->n + s] = r->meets[s * r->n + mine] = true;
    r->till[mine] = fmax(r->till[mine], at[i].p->z);
  }
}

/* Each series has the first lane that none before it has which it meets; those that meet share the
 * height alike. */
static void deal_lanes(row_lanes *r) {
  for (int s = 0; s < r->n; s++) {
    for (int k = 0; k < s; k++)
      if (r->meets[s * r->n + k] && r->lane[k] == r->lane[s]) r->lane[s]++, k = -1;
    r->lanes[s] = r->lane[s] + 1;
  }
  for (bool more = true; more;) {
    more = false;
    for (int s = 0; s < r->n; s++)
      for (int k = 0; k < r->n; k++)
        if (r->meets[s * r->n + k] && r->lanes[k] > r->lanes[s])
          r->lanes[s] = r->lanes[k], more = true;
  }
}

static void split_row(row_lanes *r, row_span *at, size_t n, double near) {
  qsort(at, n, sizeof *at, by_begin);
  mark_meetings(r, at, n, near);
  deal_lanes(r);
  for (size_t i = 0; i < n; i++) {
    at[i].p->low = (double)r->lane[at[i].series] / r->lanes[at[i].series];
    at[i].p->high = (double)(r->lane[at[i].series] + 1) / r->lanes[at[i].series];
  }
}

static void split_rows(plot_chart *c, int rows) {
  const size_t n = (size_t)c->n;
  size_t all = 0;
  double most = 0;
  for (int i = 0; i < c->n; i++)
    all += (size_t)c->series[i].n;
  row_lanes r = {c->n, calloc(n * n + 1, sizeof *r.meets), calloc(n + 1, sizeof *r.till),
                 calloc(n + 1, sizeof *r.lane), calloc(n + 1, sizeof *r.lanes)};
  row_span *at = calloc(all + 1, sizeof *at);
  c->bad |= !r.meets || !r.till || !r.lane || !r.lanes || !at;
  for (int line = 0; line < rows && !c->bad; line++) {
    size_t k = 0;
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->series[i].n; j++) {
        most = fmax(most, c->series[i].points[j].z);
        if ((int)c->series[i].points[j].y == line) at[k++] = (row_span){&c->series[i].points[j], i};
      }
    split_row(&r, at, k, most * 1e-9);
  }
  free(at);
  free(r.lanes);
  free(r.lane);
  free(r.till);
  free(r.meets);
}

/* Ops that share a Tile, for the legend: of many the first and the last. */
static void legend_of(const char *what, char *out, size_t size) {
  const char *first = strchr(what, '+'), *last = strrchr(what, '+');
  int more = 0;
  for (const char *p = what; *p; p++)
    more += *p == '+';
  if (more < 3)
    snprintf(out, size, "%s", what);
  else
    snprintf(out, size, "%.*s+…%s", (int)(first - what), what, last);
}

bool plot_timeline(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                   tf_diags *d) {
  trace t = {0};
  resources l = {.n = 0};
  (void)w;
  if (!open_trace(in, n, "timeline", &t, d) || !gather(&t, &l, d)) return false;
  begin_chart(c, "Timeline", in);
  c->shape = PLOT_SPANS;
  int rows = 0;
  for (int row = 0; row < t.t->n_rows; row++) {
    interval x;
    char name[80], legend[120];
    const int kind = kind_of(&t, row, d);
    if (kind >= WAYS || !interval_of(&t, row, &x, d)) continue;
    const int line =
        line_of(&l, resource_named(&l, plot_cell_at(t.t, row, t.resource)->text), kind, name);
    legend_of(plot_cell_at(t.t, row, t.what)->text, legend, sizeof legend);
    plot_series *s = series_named(c, legend, PLOT_LINE);
    plot_add_point(c, s, x.begin, line, name, NULL);
    if (s && s->n) s->points[s->n - 1].z = x.end;
    rows = line + 1 > rows ? line + 1 : rows;
  }
  split_rows(c, rows);
  return not_empty(c, &t, "load, work or store", d);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
  const plot_point *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Draws the running sum of changes of one memory as a line, with gaps where nothing is held.
 * Moments that differ only by rounding are merged; a sum that is only rounding error counts as
 * nothing. */
static bool draw_sum(plot_chart *c, plot_point *change, int n, const char *name, double whole) {
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
    if (was > 0) plot_add_point(c, s, x, was / whole, NULL, NULL);
    plot_add_point(c, s, x, now > 0 ? now / whole : NAN, NULL, NULL);
    was = now;
  }
  return s != NULL;
}

/* Of what the trace says of a memory's capacity: words of a hundredth; 0: nothing, as of one
 * without a limit. */
static double percent_of(const trace *t, const char *memory, tf_diags *d) {
  interval x;
  for (int row = 0; row < t->t->n_rows; row++)
    if (kind_of(t, row, d) == ROOM && !strcmp(plot_cell_at(t->t, row, t->resource)->text, memory) &&
        interval_of(t, row, &x, d))
      return x.words / 100;
  return 0;
}

static bool draw_memory(const trace *t, const char *memory, double whole, plot_chart *c,
                        tf_diags *d) {
  plot_point *change = calloc(2 * (size_t)t->t->n_rows + 1, sizeof *change);
  int k = 0;
  c->bad |= !change;
  for (int row = 0; change && row < t->t->n_rows; row++) {
    interval x;
    if (kind_of(t, row, d) != HOLD ||
        strcmp(plot_cell_at(t->t, row, t->resource)->text, memory) != 0)
      continue;
    if (!interval_of(t, row, &x, d) || x.words <= 0) continue;
    change[k++] = (plot_point){.x = x.begin, .y = x.words};
    change[k++] = (plot_point){.x = x.end, .y = -x.words};
  }
  const bool ok = change && (!k || draw_sum(c, change, k, memory, whole));
  free(change);
  return ok;
}

/* Shares of the capacities, below a line at all of it; where the trace knows none, words. */
bool plot_occupancy(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                    tf_diags *d) {
  trace t = {0};
  resources l = {.n = 0};
  (void)w;
  if (!open_trace(in, n, "occupancy", &t, d) || !gather(&t, &l, d)) return false;
  bool shares = false;
  for (int r = 0; r < l.n; r++)
    shares |= percent_of(&t, l.name[r], d) > 0;
  begin_chart(c, shares ? "What memories hold" : "Words held", in);
  strcpy(c->y_name, shares ? "% of the capacity" : "words held in one instance");
  c->log_y = !shares; /* registers hold a millionth of what DRAM holds */
  bool ok = true;
  for (int r = 0; r < l.n && ok; r++) {
    const double whole = shares ? percent_of(&t, l.name[r], d) : 1;
    if (whole > 0) ok = draw_memory(&t, l.name[r], whole, c, d);
  }
  double end = 0;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      end = fmax(end, c->series[i].points[k].x);
  plot_series *full = ok && shares && c->n ? plot_add_series(c, "capacity", PLOT_DASHED, 7) : NULL;
  plot_add_point(c, full, 0, 100, NULL, NULL);
  plot_add_point(c, full, end, 100, NULL, NULL);
  return not_empty(c, &t, "hold", d);
}
