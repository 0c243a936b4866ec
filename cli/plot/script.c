/* A chart as CSV and as a gnuplot script that draws it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"
#include "cli/report/report.h"

/* The palette of Okabe and Ito, which people with any colour vision can tell apart; the last is for
 * roofs and fronts. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#7f7f7f", "#222222"};
enum { COLOURS = 7, MARKS = 7 };
static const int marks[MARKS] = {7, 5, 9, 11, 13, 6, 4};

static const char *colour_of(const plot_series *s) {
  return palette[s->colour == COLOURS ? COLOURS : s->colour % COLOURS];
}

/* A text in single quotes, inside which only quotes are special. */
static void put_quoted(const char *text, cli_text *out) {
  cli_printf(out, "'");
  for (; *text; text++)
    cli_printf(out, *text == '\'' ? "''" : "%c", (unsigned char)*text < ' ' ? ' ' : *text);
  cli_printf(out, "'");
}

const char *plot_format(const char *path) {
  static const char *const known[] = {"svg", "png", "pdf"};
  const char *point = strrchr(path, '.');
  for (int i = 0; point && i < 3; i++)
    if (!strcmp(point + 1, known[i])) return known[i];
  return NULL;
}

/* ---- data ------------------------------------------------------------------------------------ */
static void put_real(double v, cli_text *out) {
  if (isfinite(v)) cli_printf(out, "%.15g", v);
}

static void bars_csv(const plot_chart *c, cli_text *out) {
  cli_printf(out, "resource");
  for (int i = 0; i < c->n; i++) {
    cli_printf(out, ",");
    cli_csv_cell(out, c->series[i].name);
  }
  for (int k = 0; k < c->series[0].n; k++) {
    cli_printf(out, "\n");
    cli_csv_cell(out, c->series[0].points[k].label);
    for (int i = 0; i < c->n; i++) {
      cli_printf(out, ",");
      put_real(c->series[i].points[k].y, out);
    }
  }
  cli_printf(out, "\n");
}

static void terms_csv(const plot_chart *c, cli_text *out) {
  cli_printf(out, "row,ratio,term,values\n");
  for (int k = 0; k < c->series[0].n; k++) {
    const plot_point *p = &c->series[0].points[k];
    cli_printf(out, "%d,", k);
    put_real(p->x, out);
    cli_printf(out, ",");
    cli_csv_cell(out, p->label);
    cli_printf(out, ",");
    cli_csv_cell(out, p->note);
    cli_printf(out, "\n");
  }
}

typedef struct {
  double *value; /* [n] the distinct values along an axis, in order; NULL: memory ran out */
  int n;
} values;

static int by_value(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static values values_of(const plot_series *s, bool y) {
  values v = {malloc(((size_t)s->n + 1) * sizeof *v.value), 0};
  for (int i = 0; v.value && i < s->n; i++)
    v.value[i] = y ? s->points[i].y : s->points[i].x;
  if (v.value) qsort(v.value, (size_t)s->n, sizeof *v.value, by_value);
  for (int i = 0; v.value && i < s->n; i++)
    if (!v.n || v.value[v.n - 1] < v.value[i]) v.value[v.n++] = v.value[i];
  return v;
}

static int count_values(const plot_series *s, bool y) {
  const values v = values_of(s, y);
  free(v.value);
  return v.n;
}

static int index_of(const values *v, double x) {
  const double *found = bsearch(&x, v->value, (size_t)v->n, sizeof x, by_value);
  return found ? (int)(found - v->value) : 0;
}

static void heat_csv(const plot_chart *c, cli_text *out) {
  const plot_series *s = &c->series[0];
  const values x = values_of(s, false), y = values_of(s, true);
  cli_printf(out, "column,row,x,y,z\n");
  for (int k = 0; x.value && y.value && k < s->n; k++)
    cli_printf(out, "%d,%d,%.15g,%.15g,%.15g\n", index_of(&x, s->points[k].x),
               index_of(&y, s->points[k].y), s->points[k].x, s->points[k].y, s->points[k].z);
  out->bad |= !x.value || !y.value;
  free(x.value);
  free(y.value);
}

static void xy_csv(const plot_chart *c, cli_text *out) {
  cli_printf(out, "series,name,x,y\n");
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      cli_printf(out, "%d,", i);
      cli_csv_cell(out, c->series[i].name);
      cli_printf(out, ",%.15g,", c->series[i].points[k].x);
      put_real(c->series[i].points[k].y, out);
      cli_printf(out, "\n");
    }
}

static void spans_csv(const plot_chart *c, cli_text *out) {
  cli_printf(out, "series,name,row,line,begin,end,low,high\n");
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      const plot_point *p = &c->series[i].points[k];
      cli_printf(out, "%d,", i);
      cli_csv_cell(out, c->series[i].name);
      cli_printf(out, ",%g,", p->y);
      cli_csv_cell(out, p->label);
      cli_printf(out, ",%.15g,%.15g,%.4g,%.4g\n", p->x, p->z, p->low, p->high);
    }
}

void plot_csv(const plot_chart *c, cli_text *out) {
  switch (c->shape) {
  case PLOT_XY: xy_csv(c, out); break;
  case PLOT_BARS: bars_csv(c, out); break;
  case PLOT_HEAT: heat_csv(c, out); break;
  case PLOT_TERMS: terms_csv(c, out); break;
  case PLOT_SPANS: spans_csv(c, out); break;
  }
  out->bad |= c->bad;
}

/* ---- the script ------------------------------------------------------------------------------ */
/* Rows of SPANS. */
static int rows_of(const plot_chart *c) {
  double last = 0;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      last = fmax(last, c->series[i].points[k].y);
  return (int)last + 1;
}

/* As gnuplot lays out a legend: columns as wide as the widest name. */
static int legend_rows(const plot_chart *c, int width) {
  size_t longest = 1;
  for (int i = 0; i < c->n; i++)
    longest = strlen(c->series[i].name) > longest ? strlen(c->series[i].name) : longest;
  const int fit = width / (int)(9 * longest + 45), columns = fit > 1 ? fit : 1;
  return (c->n + columns - 1) / columns;
}

/* Widths of a one-column and a two-column figure: 85 mm and 178 mm, in units of 1/96 inch. */
static void put_terminal(const plot_chart *c, const plot_choice *w, const char *figure,
                         cli_text *out) {
  const char *format = plot_format(figure);
  int width = w->two_columns ? 673 : 322, height = w->two_columns ? 290 : 240;
  if (c->shape == PLOT_SPANS) height = 80 + 17 * rows_of(c) + 15 * legend_rows(c, width);
  if (c->shape == PLOT_TERMS) height = 90 + 15 * c->series[0].n;
  if (c->shape == PLOT_XY && c->n > 2) height += 12 * (c->n - 2) / (w->two_columns ? 4 : 2);
  if (!strcmp(format, "svg"))
    cli_printf(
        out,
        "set terminal svg size %d,%d background '#ffffff' font 'Helvetica,Arial,sans-serif,10'\n",
        width, height);
  else if (!strcmp(format, "png"))
    cli_printf(out,
               "set terminal pngcairo size %d,%d font 'Helvetica,7' fontscale 3 linewidth 3 "
               "pointscale 3\n",
               3 * width, 3 * height);
  else
    cli_printf(out, "set terminal pdfcairo size %.3fin,%.3fin font 'Helvetica,7'\n", width / 96.0,
               height / 96.0);
  cli_printf(out, "set output ");
  put_quoted(figure, out);
  cli_printf(out, "\n");
}

static void put_text(const char *what, const char *text, const char *more, cli_text *out) {
  cli_printf(out, "set %s ", what);
  put_quoted(text, out);
  cli_printf(out, " noenhanced%s\n", more);
}

static void put_frame(const plot_chart *c, const plot_choice *w, const char *csv,
                      const char *figure, cli_text *out) {
  cli_printf(out, "# Drawn by: gnuplot THIS_FILE\n");
  put_terminal(c, w, figure, out);
  cli_printf(out, "data = ");
  put_quoted(csv, out);
  cli_printf(out, "\nset datafile separator ','\nset encoding utf8\nset border 3 lc rgb '#444444'\n"
                  "set tics nomirror tc rgb '#222222'\nset grid lc rgb '#dddddd' lw 0.5\n");
}

/* gnuplot assumes that all letters are as wide as small ones: by how many letters the widest name
 * is wider. */
static int wider(const plot_chart *c) {
  double most = 0;
  for (int i = 0; i < c->n; i++) {
    double more = 0;
    for (const char *p = c->series[i].name; *p; p++)
      more += (*p >= 'A' && *p <= 'Z') || *p == '+' ? 0.35 : -0.1;
    most = fmax(most, more);
  }
  return (int)ceil(most);
}

/* The title, above the legend if there is one: its samples are as long as that many letters; 0: no
 * legend. */
static void put_title(const plot_chart *c, const plot_choice *w, double samples, cli_text *out) {
  const char *title = w->title ? w->title : c->title;
  if (samples <= 0) {
    put_text("title", title, "", out);
    cli_printf(out, "set key off\n");
    return;
  }
  cli_printf(out, "set key tmargin center horizontal Left reverse samplen %g width %d title ",
             samples, wider(c) + (c->shape == PLOT_SPANS));
  put_quoted(title, out);
  cli_printf(out, " noenhanced\n");
}

/* Scaling of an axis: ticks of 0.5, 1.0, 1.5, with the power of ten or the unit's prefix in the
 * axis's name. */
typedef struct {
  double factor;
  char name[200]; /* of the axis */
} scale;

static scale scale_of(const char *name, const char *unit, double most) {
  static const struct {
    double by;
    const char *count, *prefix;
  } steps[] = {{1e12, "10¹²", "T"}, {1e9, "10⁹", "G"}, {1e6, "10⁶", "M"},
               {1e3, "10³", "k"},   {1, "", ""},       {1e-3, "", "m"},
               {1e-6, "", "µ"},     {1e-9, "", "n"},   {1e-12, "", "p"}};
  scale s = {.factor = 1};
  const char *word = unit;
  for (size_t i = 0; i < sizeof steps / sizeof *steps && most < INFINITY; i++)
    if (most >= steps[i].by && (*unit || steps[i].by >= 1)) {
      s.factor = steps[i].by;
      word = *unit ? steps[i].prefix : steps[i].count;
      break;
    }
  if (*unit)
    snprintf(s.name, sizeof s.name, "%s, %s%s", name, s.factor == 1 ? "" : word, unit);
  else
    snprintf(s.name, sizeof s.name, "%s%s%s", name, *word ? ", " : "", word);
  return s;
}

typedef struct {
  double least, most;
} span;

static span span_of(const plot_chart *c, char axis) {
  const bool log = axis == 'x' ? c->log_x : axis == 'y' && c->log_y;
  span s = {INFINITY, -INFINITY};
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      const plot_point *p = &c->series[i].points[k];
      double v = axis == 'x' ? p->x : axis == 'y' ? p->y : p->z;
      if (v > 0 || !log) s.least = fmin(s.least, v);
      s.most = fmax(s.most, v);
    }
  if (log && s.least > s.most) s = (span){1, 1}; /* there is nothing to be shown */
  return log && s.most <= s.least ? (span){s.least / 2, s.most * 2} : s;
}

/* Rotates the names of groups, unless they fit: 55 letters in a one-column figure, 120 in a
 * two-column one. */
static const char *turn_names(const plot_chart *c, const plot_choice *w) {
  const plot_series *s = &c->series[0];
  size_t longest = 0;
  for (int k = 0; k < s->n; k++)
    longest = strlen(s->points[k].label) > longest ? strlen(s->points[k].label) : longest;
  const size_t room = (w->two_columns ? 120 : 55) / (size_t)(s->n ? s->n : 1);
  return longest < room ? "" : room < 6 ? " rotate by 90 right" : " rotate by -40 left";
}

static void bars_script(const plot_chart *c, const plot_choice *w, cli_text *out) {
  const char *rotated = turn_names(c, w);
  const span y = span_of(c, 'y');
  put_title(c, w, c->n > 1 || *c->series[0].name ? 1 : 0, out);
  const scale s = c->log_y ? (scale){.factor = 1} : scale_of(c->y_name, c->unit, y.most);
  put_text("ylabel", c->log_y ? c->y_name : s.name, "", out);
  if (c->log_y)
    cli_printf(out, "set logscale y\nset format y '%%.0s%%c'\nset yrange [%.6g:%.6g]\n",
               pow(10, floor(log10(y.least / 1.2))), y.most * 2);
  else
    cli_printf(out, "set yrange [0:*]\n");
  cli_printf(out,
             "set style data histogram\nset style histogram %s\n"
             "set style fill solid border lc rgb 'white'\nset boxwidth %s\nunset grid\n"
             "set grid ytics lc rgb '#dddddd' lw 0.5\n"
             "set xtics noenhanced scale 0%s\n%splot \\\n",
             c->stacked ? "rowstacked" : "clustered gap 1", c->stacked ? "0.6" : "0.95", rotated,
             c->log_y ? "set xrange [-0.6:*]\n" : "");
  for (int i = 0; i < c->n; i++) {
    const char *colour = colour_of(&c->series[i]);
    if (c->log_y) /* a bar's length would mean nothing */
      cli_printf(out,
                 "  data using ($0%+.3g):%d%s skip 1 with points pt %d ps 0.7 lc rgb '%s' title ",
                 0.5 * (i + 0.5) / c->n - 0.25, i + 2, i == c->n / 2 ? ":xtic(1)" : "",
                 marks[i % MARKS], colour);
    else
      cli_printf(out, "  data using ($%d/%g):xtic(1) skip 1 lc rgb '%s' title ", i + 2, s.factor,
                 colour);
    put_quoted(c->series[i].name, out);
    cli_printf(out, " noenhanced%s\n", i + 1 < c->n ? ", \\" : "");
  }
}

/* Returns the divisor of its values. */
static double put_axis(const plot_chart *c, char axis, cli_text *out) {
  char what[8] = {axis, 'l', 'a', 'b', 'e', 'l', '\0'};
  const char *name = axis == 'x' ? c->x_name : c->y_name, *unit = axis == 'x' ? c->x_unit : c->unit;
  const bool log = axis == 'x' ? c->log_x : c->log_y;
  const span its = span_of(c, axis);
  if (!log) {
    const scale s = scale_of(name, unit, its.most);
    put_text(what, s.name, "", out);
    cli_printf(out, "set format %c '%%g'\n", axis);
    return s.factor;
  }
  put_text(what, name, "", out);
  const double room = c->powers_of_two ? 1.2 : pow(its.most / its.least, 0.04);
  cli_printf(out, "set logscale %c%s\nset %crange [%.6g:%.6g]\n", axis,
             c->powers_of_two ? " 2" : "", axis, its.least / room, its.most * room);
  if (c->powers_of_two)
    cli_printf(out, "set format %c '2^{%%L}'\n", axis);
  else if (*unit || its.least >= 1)
    cli_printf(out, "set format %c '%%.0s %%c%s'\n", axis, unit);
  else /* a prefix below one would be read as a unit */
    cli_printf(out, "set format %c '%%g'\n", axis);
  return 1;
}

/* Later lines are thinner, so that lines that coincide are all visible. */
static double width_of(const plot_chart *c, int line) {
  int before = 0, lines = 0;
  for (int i = 0; i < c->n; i++) {
    lines += c->series[i].style == PLOT_LINE;
    before += i < line && c->series[i].style == PLOT_LINE;
  }
  return lines > 1 && c->powers_of_two ? 2.4 - 1.6 * before / (lines - 1) : 1.5;
}

/* The line whose right end comes next above (y, line `after`), -1: none. */
static int next_end(const plot_chart *c, double y, int after) {
  int next = -1;
  for (int i = 0; i < c->n; i++) {
    const plot_series *s = &c->series[i];
    if (s->style != PLOT_LINE || !s->n) continue;
    const double end = s->points[s->n - 1].y;
    if (end < y || (end == y && i <= after)) continue;
    if (next < 0 || end < c->series[next].points[c->series[next].n - 1].y) next = i;
  }
  return next;
}

/* Names instead of a legend: a line's at its right end, one above the other where ends meet, up to
 * its last word (which all lines share); those of lone marks are a list. */
static void put_names(const plot_chart *c, cli_text *out) {
  const double gap = 0.08, room = 1.2; /* of the axis; as put_axis has it */
  const span y = span_of(c, 'y');
  double end = -INFINITY, above = 0;
  int longest = 0;
  for (int i = next_end(c, end, -1); i >= 0; i = next_end(c, end, i)) {
    const plot_series *s = &c->series[i];
    const char *last = strrchr(s->name, ' ');
    char name[sizeof s->name];
    snprintf(name, sizeof name, "%.*s", last ? (int)(last - s->name) : (int)strlen(s->name),
             s->name);
    longest = (int)strlen(name) > longest ? (int)strlen(name) : longest;
    end = s->points[s->n - 1].y;
    above = fmax(above, log(end * room / y.least) / log(y.most * room * room / y.least));
    cli_printf(out, "set label ");
    put_quoted(name, out);
    cli_printf(out, " at graph 1.03, graph %.3f left noenhanced tc rgb '%s'\n", above,
               colour_of(s));
    above += gap;
  }
  double below = 1;
  for (int i = 0; i < c->n; i++) { /* top right, where no slope is */
    const plot_series *s = &c->series[i];
    if (s->style != PLOT_POINTS || s->n != 1 || !s->direct_label) continue;
    below -= gap;
    cli_printf(out, "set label ");
    put_quoted(s->name, out);
    cli_printf(out,
               " at graph 0.93, graph %.3f right noenhanced tc rgb '%s'\n"
               "set label '' at graph 0.96, graph %.3f point pt %d ps 0.6 lc rgb '%s'\n",
               below, colour_of(s), below, marks[s->mark % MARKS], colour_of(s));
  }
  cli_printf(out, "set rmargin %d\n", longest + 2);
}

/* What is noted at points, above them: the ridges of a roofline. */
static void put_notes(const plot_chart *c, double by_x, double by_y, cli_text *out) {
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      const plot_point *p = &c->series[i].points[k];
      if (!p->note) continue;
      cli_printf(out, "set label ");
      put_quoted(p->note, out);
      cli_printf(out, " at %.6g, %.6g center offset 0,0.6 noenhanced tc rgb '%s'\n", p->x / by_x,
                 p->y / by_y, colour_of(&c->series[i]));
    }
}

static void xy_script(const plot_chart *c, const plot_choice *w, cli_text *out) {
  static const char *const with[] = {[PLOT_LINE] = "lines",
                                     [PLOT_DASHED] = "lines lw 1.5 dt 2",
                                     [PLOT_STEPS] = "steps lw 1.5",
                                     [PLOT_POINTS] = "points",
                                     [PLOT_CURVE] = "linespoints lw 1.2",
                                     [PLOT_FAINT] = "points pt 7 ps 0.25"};
  const double by_x = put_axis(c, 'x', out), by_y = put_axis(c, 'y', out);
  put_title(c, w, c->n > 1 && !c->direct ? 1.5 : 0, out);
  if (c->direct) put_names(c, out);
  put_notes(c, by_x, by_y, out);
  cli_printf(out, "set xtics autofreq\nplot \\\n");
  for (int i = 0; i < c->n; i++) {
    const plot_series *s = &c->series[i];
    const bool marked = s->style == PLOT_POINTS || s->style == PLOT_CURVE;
    if (!s->n && *s->name) /* only in the legend */
      cli_printf(out, "  NaN with points");
    else
      cli_printf(out, "  data using ($1 == %d ? $3/%g : NaN):($4/%g) skip 1 with %s", i, by_x, by_y,
                 with[s->style]);
    if (s->style == PLOT_LINE && s->n) cli_printf(out, " lw %.2g", width_of(c, i));
    if (marked)
      cli_printf(out, " pt %d ps 0.6", marks[s->mark % MARKS]);
    else if (s->colour > COLOURS) /* colours repeat with other dashes */
      cli_printf(out, " dt %d", 1 + s->colour / COLOURS);
    const bool titled = *s->name && !c->direct;
    cli_printf(out, " lc rgb '%s' %s", colour_of(s), titled ? "title " : "notitle");
    if (titled) put_quoted(s->name, out);
    cli_printf(out, "%s%s\n", titled ? " noenhanced" : "", i + 1 < c->n ? ", \\" : "");
  }
}

static void heat_script(const plot_chart *c, const plot_choice *w, cli_text *out) {
  put_title(c, w, 0, out);
  const plot_series *s = &c->series[0];
  const int columns = count_values(s, false), rows = count_values(s, true);
  const span z = span_of(c, 'z');
  const bool log = z.least > 0 && z.most > 30 * z.least;
  const scale by = scale_of(c->z_name, c->unit, z.most);
  put_text("xlabel", c->x_name, "", out);
  put_text("ylabel", c->y_name, "", out);
  put_text("cblabel", by.name, " offset 1.5,0", out);
  cli_printf(out, "%sunset grid\nset tics scale 0\nset format cb '%%g'\n",
             log ? "set logscale cb\n" : "");
  if (z.most > z.least)
    cli_printf(out, "set cbrange [%.6g:%.6g]\n", z.least / by.factor, z.most / by.factor);
  cli_printf(
      out,
      "# viridis\n"
      "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"
      "set xrange [-0.5:%d.5]\nset yrange [-0.5:%d.5]\nset style fill solid\n",
      columns - 1, rows - 1);
  cli_printf(out,
             "plot data using 1:2:(0.5):(0.5):($5/%g):xtic(sprintf('%%g', $3)):ytic(sprintf('%%g', "
             "$4)) skip 1 \\\n"
             "    with boxxyerror lc palette",
             by.factor);
  if (columns <= (w->two_columns ? 12 : 5) && rows <= 12)
    cli_printf(
        out,
        ", \\\n  data using 1:2:(sprintf('%%.3g', $5/%g)):($5 > %.15g ? 0 : 0xffffff) skip 1 \\\n"
        "    with labels tc rgb variable",
        by.factor, log ? sqrt(z.least * z.most) : (z.least + z.most) / 2);
  cli_printf(out, "\n");
}

/* Ticks of a logarithmic axis of ratios, at powers of two (of four, of eight, ...), so that there
 * are no more than fit.
 */
static void put_ratios(double least, double most, int fit, cli_text *out) {
  const int from = (int)floor(log2(least)) + 1, to = (int)ceil(log2(most)) - 1,
            step = (to - from) / fit + 1;
  const char *sep = "";
  cli_printf(out, "set xtics (");
  for (int e = -(-from / step) * step; e <= to; e += step) {
    if (e < from) continue;
    cli_printf(out, e < 0 ? "%s'1/%.0f' %.6g" : "%s'%.0f' %.6g", sep, ldexp(1, e < 0 ? -e : e),
               ldexp(1, e));
    sep = ", ";
  }
  cli_printf(out, ")\n");
}

static void terms_script(const plot_chart *c, const plot_choice *w, cli_text *out) {
  put_title(c, w, 0, out);
  const plot_series *s = &c->series[0];
  double least = 0.5, most = 2;
  for (int k = 0; k < s->n; k++)
    if (isfinite(s->points[k].x) && s->points[k].x > 0) {
      least = fmin(least, s->points[k].x);
      most = fmax(most, s->points[k].x);
    }
  least /= 2, most *= 2;
  put_text("xlabel", c->x_name, "", out);
  cli_printf(out, "set logscale x 2\nset xrange [%.6g:%.6g]\nset yrange [%d.6:-0.6]\n", least,
             most * 1.001, s->n - 1);
  put_ratios(least, most, w->two_columns ? 10 : 3, out);
  cli_printf(out,
             "unset grid\nset grid xtics lc rgb '#dddddd' lw 0.5\n"
             "set style fill solid noborder\nset border 1\n"
             "set ytics scale 0 noenhanced\nset rmargin 20\n"
             "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#444444'\n"
             "# a term that one side lacks goes to the edge\n"
             "v(x) = x eq '' ? %.6g : real(x) == 0 ? %.6g : real(x)\n"
             "all(x) = x eq ''\nnone(x) = x ne '' && real(x) == 0\n",
             most, least);
  cli_printf(out,
             "plot data using (v(strcol(2))):1:(v(strcol(2)) < 1 ? v(strcol(2)) : 1):(v(strcol(2)) "
             "< 1 ? 1 : v(strcol(2))):($1-0.35):($1+0.35):(v(strcol(2)) < 1 ? 0x0072b2 : "
             "0xd55e00):ytic(3) skip 1 \\\n    with boxxyerror lc rgb variable, \\\n"
             "  data using (none(strcol(2)) ? %.6g : NaN):1 skip 1 with points pt '◀' lc rgb "
             "'#ffffff', \\\n"
             "  data using (all(strcol(2)) ? %.6g : NaN):1 skip 1 with points pt '▶' lc rgb "
             "'#ffffff', \\\n"
             "  data using (%.6g):1:4 skip 1 with labels left offset 0.5,0 noenhanced\n",
             least * 1.15, most / 1.15, most);
}

/* A line of the chart for each resource, from the top. */
static void put_lines(const plot_chart *c, cli_text *out) {
  int named = -1;
  cli_printf(out, "set ytics scale 0 noenhanced (");
  for (bool more = true; more;) {
    const plot_point *next = NULL;
    for (int i = 0; i < c->n; i++)
      for (int k = 0; k < c->series[i].n && !next; k++)
        if ((int)c->series[i].points[k].y == named + 1) next = &c->series[i].points[k];
    more = next != NULL;
    if (!more) break;
    cli_printf(out, "%s", named < 0 ? "" : ", ");
    put_quoted(next->label, out);
    cli_printf(out, " %d", ++named);
  }
  cli_printf(out, ")\nset yrange [%d.6:-0.6]\n", named);
}

/* What would be thinner than a pixel is that wide. */
static void spans_script(const plot_chart *c, const plot_choice *w, cli_text *out) {
  put_title(c, w, 1, out);
  span ends = {0, 0};
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++)
      ends.most = fmax(ends.most, c->series[i].points[k].z);
  const scale by = scale_of(c->x_name, c->x_unit, ends.most);
  const double pixels = w->two_columns ? 550 : 210; /* of the axis */
  put_text("xlabel", by.name, "", out);
  put_lines(c, out);
  cli_printf(
      out,
      "set xrange [0:%.6g]\nunset grid\nset grid xtics lc rgb '#dddddd' lw 0.5\nset border 1\n"
      "set style fill solid noborder\nend(a, b) = b - a > %.6g ? b : a + %.6g\nplot \\\n",
      ends.most / by.factor, ends.most / pixels, ends.most / pixels);
  for (int i = 0; i < c->n; i++) {
    cli_printf(out,
               "  data using ($1 == %d ? $5/%g : NaN):3:($5/%g):(end($5, "
               "$6)/%g):($3-0.38+0.76*$7):($3-0.38+0.76*$8) skip 1 \\\n    with boxxyerror lc rgb "
               "'%s' title ",
               i, by.factor, by.factor, by.factor, colour_of(&c->series[i]));
    put_quoted(c->series[i].name, out);
    cli_printf(out, " noenhanced%s\n", i + 1 < c->n ? ", \\" : "");
  }
}

void plot_script(const plot_chart *c, const plot_choice *w, const char *csv, const char *figure,
                 cli_text *out) {
  put_frame(c, w, csv, figure, out);
  switch (c->shape) {
  case PLOT_XY: xy_script(c, w, out); break;
  case PLOT_BARS: bars_script(c, w, out); break;
  case PLOT_HEAT: heat_script(c, w, out); break;
  case PLOT_TERMS: terms_script(c, w, out); break;
  case PLOT_SPANS: spans_script(c, w, out); break;
  }
}
