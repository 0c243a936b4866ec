/* Charts from tables: convergence, pareto, lines, points, heat. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

static bool need_table(const plot_input *in, const char *kind, tf_diags *d) {
  if (in->table.n_columns) return true;
  return tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_TYPE, "--as %s needs CSV, and this is JSON",
                 kind);
}

/* The name of a row's series: the cells of columns [n], separated by commas; without columns, the
 * file's name if there are several. */
static void name_of(const plot_input *in, bool several, const int *columns, int n, int row,
                    char out[120]) {
  size_t at = 0;
  out[0] = '\0';
  if (several && !n) plot_base_name(in->path, out, 120);
  for (int i = 0; i < n && at < 119; i++) {
    int more = snprintf(out + at, 120 - at, "%s%s", i ? ", " : "",
                        plot_cell_at(&in->table, row, columns[i])->text);
    at += more > 0 ? (size_t)more : 0;
  }
}

enum { BY_MOST = 8 };

/* The columns that --by names, separated by commas. */
static int by_columns(const plot_input *in, const char *by, int columns[BY_MOST], tf_diags *d) {
  int n = 0;
  while (by && *by && n < BY_MOST) {
    char name[120];
    size_t len = strcspn(by, ",");
    snprintf(name, sizeof name, "%.*s", (int)len, by);
    columns[n] = plot_column(&in->table, name, d);
    if (columns[n++] < 0) return -1;
    by += len + (by[len] == ',');
  }
  return n;
}

/* Columns of text: without --by, their values distinguish series. */
static int word_columns(const plot_table *t, int columns[BY_MOST]) {
  int n = 0;
  for (int i = 0; i < t->n_columns && n < BY_MOST; i++) {
    char *end;
    if (t->n_rows == 0) continue;
    const char *text = plot_cell_at(t, 0, i)->text;
    strtod(text, &end);
    if (*text && *end) columns[n++] = i;
  }
  return n;
}

static int by_x(const void *a, const void *b) {
  const plot_point *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

static bool add_rows(const plot_input *in, bool several, const plot_choice *w, plot_style style,
                     plot_chart *c, tf_diags *d) {
  int columns[BY_MOST],
      n = w->by ? by_columns(in, w->by, columns, d) : word_columns(&in->table, columns);
  int x = plot_column(&in->table, w->x, d), y = plot_column(&in->table, w->y, d);
  bool ok = x >= 0 && y >= 0 && n >= 0;
  if (!ok) return false;
  for (int row = 0; row < in->table.n_rows; row++) {
    char name[120];
    double at, value;
    bool read = plot_number(&in->table, row, x, &at, d);
    read = plot_number(&in->table, row, y, &value, d) && read;
    ok = ok && read;
    if (!read || isnan(at) || isnan(value)) continue;
    name_of(in, several, columns, n, row, name);
    plot_add_point(c, plot_series_named(c, name, style), at, value, NULL, NULL);
  }
  return ok;
}

/* Whether a logarithmic axis is better: the values span a factor of 30 and are all positive. */
static bool wide(const plot_chart *c, bool y) {
  double lo = INFINITY, hi = 0;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      double v = y ? c->series[i].points[k].y : c->series[i].points[k].x;
      lo = fmin(lo, v);
      hi = fmax(hi, v);
    }
  return lo > 0 && hi > 30 * lo;
}

void plot_column_label(const char *column, char out[120]) {
  snprintf(out, 120, "%.100s", column);
  for (char *p = out; *p; p++)
    if (*p == '_') *p = ' ';
  char *pj = strstr(out, " pj"), *um2 = strstr(out, " um2");
  if (pj && !pj[3]) memcpy(pj, ", pJ", 5);
  if (um2 && !um2[4]) memcpy(um2, ", um2", 6);
}

static void multiply(plot_chart *c, char axis, double by) {
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      plot_point *p = &c->series[i].points[k];
      *(axis == 'x' ? &p->x : axis == 'y' ? &p->y : &p->z) *= by;
    }
}

void plot_use_units(plot_chart *c, char axis) {
  char *name = axis == 'x' ? c->x_name : axis == 'y' ? c->y_name : c->z_name;
  char *pj = strstr(name, ", pJ"), *um2 = strstr(name, ", um2");
  if (pj) {
    *pj = '\0';
    strcpy(axis == 'x' ? c->x_unit : c->unit, "J");
    multiply(c, axis, 1e-12);
  } else if (um2) {
    strcpy(um2, ", mm²");
    multiply(c, axis, 1e-6);
  }
}

static bool finish(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                   tf_diags *d) {
  if (!c->n)
    return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  char x[120], y[120], what[260];
  plot_column_label(w->x, x);
  plot_column_label(w->y, y);
  if (!*c->x_name) memcpy(c->x_name, x, sizeof x);
  if (!*c->y_name) memcpy(c->y_name, y, sizeof y);
  plot_use_units(c, 'x');
  plot_use_units(c, 'y');
  c->log_x = wide(c, false);
  c->log_y = wide(c, true);
  snprintf(what, sizeof what, "%.100s over %.100s", c->y_name, c->x_name);
  if (!*c->title) plot_title_of(c, what, in, n);
  return true;
}

static bool all_rows(const plot_input *in, size_t n, const plot_choice *w, plot_style style,
                     plot_chart *c, tf_diags *d) {
  const char *kind = style == PLOT_CURVE ? "lines" : "points";
  bool ok = true;
  if (!w->x || !w->y)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--as %s needs --x COLUMN and --y COLUMN", kind);
  for (size_t i = 0; i < n; i++)
    ok = need_table(&in[i], kind, d) && add_rows(&in[i], n > 1, w, style, c, d) && ok;
  return ok;
}

bool plot_points(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  return all_rows(in, n, w, PLOT_POINTS, c, d) && finish(in, n, w, c, d);
}

bool plot_lines(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  bool ok = all_rows(in, n, w, PLOT_CURVE, c, d);
  for (int i = 0; i < c->n; i++)
    qsort(c->series[i].points, (size_t)c->series[i].n, sizeof *c->series[i].points, by_x);
  return ok && finish(in, n, w, c, d);
}

bool plot_convergence(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                      tf_diags *d) {
  plot_choice own = *w;
  bool ok = true;
  if (!own.x) own.x = "evaluations";
  if (!own.y) own.y = "best";
  for (size_t i = 0; i < n; i++)
    ok = need_table(&in[i], "convergence", d) && add_rows(&in[i], n > 1, &own, PLOT_STEPS, c, d) &&
         ok;
  if (!w->x) strcpy(c->x_name, "mappings evaluated");
  if (!w->y) strcpy(c->y_name, "best found");
  plot_title_of(c, "Convergence", in, n);
  return ok && finish(in, n, &own, c, d);
}

/* The Pareto front of the points, by x. */
static void add_front(plot_chart *c) {
  plot_series all = {.n = 0};
  double best = INFINITY;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      all.n++;
  all.points = calloc((size_t)all.n + 1, sizeof *all.points);
  c->bad |= !all.points;
  if (!all.points) return;
  for (int i = 0, m = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      all.points[m++] = c->series[i].points[k];
  qsort(all.points, (size_t)all.n, sizeof *all.points, by_x);
  plot_series *front = plot_add_series(c, "none better in both", PLOT_STEPS, 7);
  for (int i = 0; i < all.n;) {
    int stop = i;
    double least = all.points[i].y;
    for (; stop < all.n && all.points[stop].x == all.points[i].x; stop++)
      least = fmin(least, all.points[stop].y);
    if (least < best) plot_add_point(c, front, all.points[i].x, best = least, NULL, NULL);
    i = stop;
  }
  free(all.points);
  for (int k = c->n - 1; k > 0 && c->series[k - 1].style == PLOT_POINTS;
       k--) { /* marks are drawn above the line */
    plot_series below = c->series[k];
    c->series[k] = c->series[k - 1];
    c->series[k - 1] = below;
  }
}

/* Points of different workloads do not dominate each other.  False with an error in d. */
static bool same_work(const plot_table *t, tf_diags *d) {
  int column = plot_column(t, "workload", NULL);
  for (int row = 1; column >= 0 && row < t->n_rows; row++) {
    const plot_cell *first = plot_cell_at(t, 0, column), *cell = plot_cell_at(t, row, column);
    if (strcmp(first->text, cell->text) != 0)
      return tf_fail(d, cell->at, TF_E_DUP,
                     "points of '%.60s' and of '%.60s' have no front in common: keep the rows of "
                     "one (results --where)",
                     first->text, cell->text);
  }
  return true;
}

/* Adds the machines of a sweep: dominated ones, the front, and those of it that are proved. */
static bool add_machines(const plot_input *in, const plot_choice *w, plot_chart *c, tf_diags *d) {
  static const char *const names[] = {"beside the front", "on the front", "on the front, proved"};
  static const int colours[] = {6, 1, 0}; /* grey, drawn first */
  const plot_table *t = &in->table;
  int x = plot_column(t, w->x, d), y = plot_column(t, w->y, d);
  const int front = plot_column(t, "front", NULL), proved = plot_column(t, "proved", NULL);
  bool ok = x >= 0 && y >= 0;
  for (int k = 0; ok && k < 3; k++) {
    plot_series *s = plot_add_series(c, names[k], k ? PLOT_POINTS : PLOT_FAINT, colours[k]);
    for (int row = 0; s && row < t->n_rows; row++) {
      double at, value, on, sure;
      bool read = plot_number(t, row, x, &at, d) && plot_number(t, row, y, &value, d);
      read = read && plot_number(t, row, front, &on, d) && plot_number(t, row, proved, &sure, d);
      if (!read) return false;
      if (isnan(at) || isnan(value) || (on > 0) + (on > 0 && sure > 0) != k) continue;
      plot_add_point(c, s, at, value, NULL, NULL);
    }
  }
  int kept = 0;
  for (int k = 0; k < c->n; k++) /* no legend entry without points */
    if (c->series[k].n)
      c->series[kept++] = c->series[k];
    else
      free(c->series[k].points);
  c->n = kept;
  return ok;
}

static const char *default_y(const plot_table *t) {
  return plot_column(t, "energy_pj", NULL) < 0 && plot_column(t, "area_um2", NULL) >= 0
             ? "area_um2"
             : "energy_pj";
}

bool plot_pareto(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  plot_choice own = *w;
  bool ok = true;
  if (!own.x) own.x = "cycles";
  for (size_t i = 0; i < n; i++) {
    if (!need_table(&in[i], "pareto", d) || !same_work(&in[i].table, d)) return false;
    if (!own.y) own.y = default_y(&in[i].table);
    if (n == 1 && !own.by && plot_column(&in[i].table, "front", NULL) >= 0 &&
        plot_column(&in[i].table, "proved", NULL) >= 0) {
      ok = add_machines(&in[i], &own, c, d);
      break;
    }
    plot_choice of = own;
    /* proved rows are distinguished; otherwise all rows of a file are alike */
    if (!of.by) of.by = plot_column(&in[i].table, "proved", NULL) >= 0 ? "proved" : "";
    ok = add_rows(&in[i], n > 1, &of, PLOT_POINTS, c, d) && ok;
    if (strcmp(of.by, "proved") != 0) continue;
    for (int k = 0; k < c->n; k++) {
      const char *name = c->series[k].name;
      bool yes = !strcmp(name, "true") || !strcmp(name, "1"),
           no = !strcmp(name, "false") || !strcmp(name, "0");
      if (yes || no) strcpy(c->series[k].name, yes ? "proved" : "not proved");
    }
  }
  plot_title_of(c, "Pareto front", in, n);
  ok = ok && finish(in, n, &own, c, d);
  if (ok) add_front(c);
  return ok;
}

bool plot_heat(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  const plot_table *t = &in[0].table;
  if (!w->x || !w->y || !w->z || n != 1)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                   "--as heat needs one CSV, --x, --y (params) and --z (the figure)");
  if (!need_table(&in[0], "heat", d)) return false;
  int x = plot_column(t, w->x, d), y = plot_column(t, w->y, d), z = plot_column(t, w->z, d);
  plot_series *s = plot_add_series(c, "", PLOT_POINTS, 0);
  bool ok = x >= 0 && y >= 0 && z >= 0 && s;
  for (int row = 0; ok && row < t->n_rows; row++) {
    plot_point p;
    bool read = plot_number(t, row, x, &p.x, d) && plot_number(t, row, y, &p.y, d) &&
                plot_number(t, row, z, &p.z, d);
    ok = ok && read;
    if (!read || isnan(p.x) || isnan(p.y) || isnan(p.z)) continue;
    for (int k = 0; k < s->n; k++)
      if (s->points[k].x == p.x && s->points[k].y == p.y)
        return tf_fail(d, plot_cell_at(t, row, x)->at, TF_E_DUP,
                       "a second row for %s %g and %s %g: --where chooses rows", w->x, p.x, w->y,
                       p.y);
    plot_add_point(c, s, p.x, p.y, NULL, NULL);
    if (!c->bad) s->points[s->n - 1].z = p.z;
  }
  if (!ok || !s->n)
    return ok &&
           tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  char z_name[120];
  plot_column_label(w->z, z_name);
  plot_column_label(w->x, c->x_name);
  plot_column_label(w->y, c->y_name);
  memcpy(c->z_name, z_name, sizeof z_name);
  plot_use_units(c, 'z');
  c->shape = PLOT_HEAT;
  plot_title_of(c, c->z_name, in, n);
  return true;
}
