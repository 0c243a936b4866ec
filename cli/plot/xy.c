/* Charts of tables: slope, convergence, pareto, lines, heat. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

static bool need_table(const plot_input *in, const char *kind, tf_diags *d) {
  if (in->table.n_columns) return true;
  return tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_TYPE, "--as %s needs CSV, and this is JSON", kind);
}

/* The titles name the first inputs. */
static void title_of(plot_chart *c, const char *what, const plot_input *in, size_t n) {
  int at = snprintf(c->title, sizeof c->title, "%s of", what);
  for (size_t i = 0; i < n && i < 3; i++) {
    char name[60];
    plot_base_name(in[i].path, name, sizeof name);
    at += snprintf(c->title + at, sizeof c->title - (size_t)at, "%s %s", i ? "," : "", name);
  }
  if (n > 3) snprintf(c->title + at, sizeof c->title - (size_t)at, " and %zu more", n - 3);
}

static plot_series *series_named(plot_chart *c, const char *name, plot_style style) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->series[i].name, name)) return &c->series[i];
  return plot_add_series(c, name, style, c->n);
}

/* A row's series: the cells of columns [n], apart by commas; without columns, the file's name if there are several. */
static void name_of(const plot_input *in, bool several, const int *columns, int n, int row, char out[120]) {
  size_t at = 0;
  out[0] = '\0';
  if (several && !n) plot_base_name(in->path, out, 120);
  for (int i = 0; i < n && at < 119; i++) {
    int more = snprintf(out + at, 120 - at, "%s%s", i ? ", " : "", plot_cell_at(&in->table, row, columns[i])->text);
    at += more > 0 ? (size_t)more : 0;
  }
}

enum { BY_MOST = 8 };

/* Columns that --by names, apart by commas. */
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

/* Columns of words, whose rows belong to different series where no --by says so. */
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

static bool add_rows(const plot_input *in, bool several, const plot_choice *w, plot_style style, plot_chart *c,
                     tf_diags *d) {
  int columns[BY_MOST], n = w->by ? by_columns(in, w->by, columns, d) : word_columns(&in->table, columns);
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
    plot_add_point(c, series_named(c, name, style), at, value, NULL, NULL);
  }
  return ok;
}

/* Over a span of 30 a logarithm shows more; it needs what is above 0. */
static bool wide(const plot_chart *c, bool y) {
  double lo = INFINITY, hi = 0;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      double v = y ? c->series[i].at[k].y : c->series[i].at[k].x;
      lo = fmin(lo, v);
      hi = fmax(hi, v);
    }
  return lo > 0 && hi > 30 * lo;
}

/* cycles, energy_pj: as a reader would say it. */
static void say_column(const char *column, char out[120]) {
  snprintf(out, 120, "%.100s", column);
  for (char *p = out; *p; p++)
    if (*p == '_') *p = ' ';
  char *pj = strstr(out, " pj");
  if (pj && !pj[3]) memcpy(pj, ", pJ", 5);
}

/* Energy stands in pJ in tables, and in J in figures. */
static void use_joules(plot_chart *c, char axis) {
  char *name = axis == 'x' ? c->x_name : axis == 'y' ? c->y_name : c->z_name, *pj = strstr(name, ", pJ");
  if (!pj) return;
  *pj = '\0';
  strcpy(axis == 'x' ? c->x_unit : c->unit, "J");
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      plot_point *p = &c->series[i].at[k];
      *(axis == 'x' ? &p->x : axis == 'y' ? &p->y : &p->z) *= 1e-12;
    }
}

static bool finish(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  if (!c->n) return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  char x[120], y[120], what[260];
  say_column(w->x, x);
  say_column(w->y, y);
  if (!*c->x_name) memcpy(c->x_name, x, sizeof x);
  if (!*c->y_name) memcpy(c->y_name, y, sizeof y);
  use_joules(c, 'x');
  use_joules(c, 'y');
  c->log_x = wide(c, false);
  c->log_y = wide(c, true);
  snprintf(what, sizeof what, "%.100s over %.100s", c->y_name, c->x_name);
  if (!*c->title) title_of(c, what, in, n);
  return true;
}

bool plot_lines(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  bool ok = true;
  if (!w->x || !w->y) return tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--as lines needs --x COLUMN and --y COLUMN");
  for (size_t i = 0; i < n; i++)
    ok = need_table(&in[i], "lines", d) && add_rows(&in[i], n > 1, w, PLOT_CURVE, c, d) && ok;
  for (int i = 0; i < c->n; i++)
    qsort(c->series[i].at, (size_t)c->series[i].n, sizeof *c->series[i].at, by_x);
  return ok && finish(in, n, w, c, d);
}

bool plot_convergence(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  plot_choice own = *w;
  bool ok = true;
  if (!own.x) own.x = "evaluations";
  if (!own.y) own.y = "best";
  for (size_t i = 0; i < n; i++)
    ok = need_table(&in[i], "convergence", d) && add_rows(&in[i], n > 1, &own, PLOT_STEPS, c, d) && ok;
  if (!w->x) strcpy(c->x_name, "mappings evaluated");
  if (!w->y) strcpy(c->y_name, "best found");
  title_of(c, "Convergence", in, n);
  return ok && finish(in, n, &own, c, d);
}

/* Which points no other beats in both; kept in the order of x. */
static void add_front(plot_chart *c) {
  plot_series all = {.n = 0};
  double best = INFINITY;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      all.n++;
  all.at = calloc((size_t)all.n + 1, sizeof *all.at);
  c->bad |= !all.at;
  if (!all.at) return;
  for (int i = 0, m = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      all.at[m++] = c->series[i].at[k];
  qsort(all.at, (size_t)all.n, sizeof *all.at, by_x);
  plot_series *front = plot_add_series(c, "front", PLOT_STEPS, 7);
  for (int i = 0; i < all.n;) {
    int stop = i;
    double least = all.at[i].y;
    for (; stop < all.n && all.at[stop].x == all.at[i].x; stop++)
      least = fmin(least, all.at[stop].y);
    if (least < best) plot_add_point(c, front, all.at[i].x, best = least, NULL, NULL);
    i = stop;
  }
  free(all.at);
}

/* Points of different work do not beat each other.  False with an error in d. */
static bool same_work(const plot_table *t, tf_diags *d) {
  int column = plot_column(t, "workload", NULL);
  for (int row = 1; column >= 0 && row < t->n_rows; row++) {
    const plot_cell *first = plot_cell_at(t, 0, column), *cell = plot_cell_at(t, row, column);
    if (strcmp(first->text, cell->text) != 0)
      return tf_fail(d, cell->at, TF_E_DUP,
                     "points of '%.60s' and of '%.60s' have no front in common: keep the rows of one (results --where)",
                     first->text, cell->text);
  }
  return true;
}

bool plot_pareto(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  plot_choice own = *w;
  bool ok = true;
  if (!own.x) own.x = "cycles";
  if (!own.y) own.y = "energy_pj";
  for (size_t i = 0; i < n; i++) {
    if (!need_table(&in[i], "pareto", d) || !same_work(&in[i].table, d)) return false;
    plot_choice of = own;
    /* rows proved stand apart; else all of a file are alike */
    if (!of.by) of.by = plot_column(&in[i].table, "proved", NULL) >= 0 ? "proved" : "";
    ok = add_rows(&in[i], n > 1, &of, PLOT_POINTS, c, d) && ok;
    if (strcmp(of.by, "proved") != 0) continue;
    for (int k = 0; k < c->n; k++) {
      const char *name = c->series[k].name;
      bool yes = !strcmp(name, "true") || !strcmp(name, "1"), no = !strcmp(name, "false") || !strcmp(name, "0");
      if (yes || no) strcpy(c->series[k].name, yes ? "proved" : "not proved");
    }
  }
  title_of(c, "Pareto front", in, n);
  ok = ok && finish(in, n, &own, c, d);
  if (ok) add_front(c);
  return ok;
}

bool plot_heat(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  const plot_table *t = &in[0].table;
  if (!w->x || !w->y || !w->z || n != 1)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--as heat needs one CSV, --x, --y (params) and --z (the figure)");
  if (!need_table(&in[0], "heat", d)) return false;
  int x = plot_column(t, w->x, d), y = plot_column(t, w->y, d), z = plot_column(t, w->z, d);
  plot_series *s = plot_add_series(c, "", PLOT_POINTS, 0);
  bool ok = x >= 0 && y >= 0 && z >= 0 && s;
  for (int row = 0; ok && row < t->n_rows; row++) {
    plot_point p;
    bool read = plot_number(t, row, x, &p.x, d) && plot_number(t, row, y, &p.y, d) && plot_number(t, row, z, &p.z, d);
    ok = ok && read;
    if (!read || isnan(p.x) || isnan(p.y) || isnan(p.z)) continue;
    for (int k = 0; k < s->n; k++)
      if (s->at[k].x == p.x && s->at[k].y == p.y)
        return tf_fail(d, plot_cell_at(t, row, x)->at, TF_E_DUP,
                       "a second row for %s %g and %s %g: filter the rows first", w->x, p.x, w->y, p.y);
    plot_add_point(c, s, p.x, p.y, NULL, NULL);
    if (!c->bad) s->at[s->n - 1].z = p.z;
  }
  if (!ok || !s->n) return ok && tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  char z_name[120];
  say_column(w->z, z_name);
  say_column(w->x, c->x_name);
  say_column(w->y, c->y_name);
  memcpy(c->z_name, z_name, sizeof z_name);
  use_joules(c, 'z');
  c->shape = PLOT_HEAT;
  title_of(c, c->z_name, in, n);
  return true;
}

/* One row of a slope; found: NAN where no mapping was. */
static void add_capacity(plot_chart *c, const char *name, double words, double proved, double found) {
  char with[120];
  snprintf(with, sizeof with, "%.100s proved", name);
  plot_add_point(c, series_named(c, with, PLOT_LINE), words, proved, NULL, NULL);
  snprintf(with, sizeof with, "%.100s found", name);
  if (!isnan(found)) plot_add_point(c, series_named(c, with, PLOT_POINTS), words, found, NULL, NULL);
}

static bool slope_of_json(const plot_input *in, plot_chart *c, tf_diags *d) {
  json_t *rows = plot_member(in, in->json, "slope", JSON_ARRAY, d), *row;
  json_t *name = plot_member(in, in->json, "workload", JSON_STRING, d);
  size_t i;
  if (!rows || !name) return false;
  json_array_foreach(rows, i, row) {
    double words, proved;
    if (!plot_member_number(in, row, "on_chip_words", &words, d)) return false;
    if (!plot_member_number(in, row, "proved_words", &proved, d)) return false;
    json_t *found = json_object_get(row, "found_words");
    add_capacity(c, json_string_value(name), words, proved, json_is_number(found) ? json_number_value(found) : NAN);
  }
  return true;
}

static bool slope_of_csv(const plot_table *t, plot_chart *c, tf_diags *d) {
  static const char *const names[] = {"workload", "on_chip_words", "proved_words", "found_words"};
  int at[4];
  bool ok = true;
  for (int i = 0; i < 4; i++)
    ok = (at[i] = plot_column(t, names[i], d)) >= 0 && ok;
  for (int row = 0; ok && row < t->n_rows; row++) {
    double v[4];
    for (int i = 1; i < 4; i++)
      ok = plot_number(t, row, at[i], &v[i], d) && ok;
    if (ok) add_capacity(c, plot_cell_at(t, row, at[0])->text, v[1], v[2], v[3]);
  }
  return ok;
}

bool plot_slope(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  (void)w;
  bool ok = true;
  for (size_t i = 0; i < n; i++)
    ok = (in[i].json ? slope_of_json(&in[i], c, d) : slope_of_csv(&in[i].table, c, d)) && ok;
  if (!ok) return false;
  if (!c->n) return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  for (int i = 1; i < c->n; i++) /* what is found has the colour of what is proved */
    for (int k = 0; k < i; k++)
      if (!strncmp(c->series[i].name, c->series[k].name, strcspn(c->series[k].name, " ") + 1))
        c->series[i].colour = c->series[k].colour;
  c->log_x = c->log_y = c->powers_of_two = true;
  strcpy(c->x_name, "words on chip");
  strcpy(c->y_name, "words in and out of the chip");
  title_of(c, "Ski-slope", in, n);
  return true;
}
