/* Charts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

plot_series *plot_add_series(plot_chart *c, const char *name, plot_style style, int colour) {
  c->bad |= !CLI_GROW(c->series, c->n);
  if (c->bad) return NULL;
  plot_series *s = &c->series[c->n++];
  *s = (plot_series){.style = style, .colour = colour, .mark = c->n - 1};
  snprintf(s->name, sizeof s->name, "%s", name);
  return s;
}

plot_series *plot_series_named(plot_chart *c, const char *name, plot_style style) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->series[i].name, name)) return &c->series[i];
  return plot_add_series(c, name, style, c->n);
}

static char *copy(plot_chart *c, const char *text) {
  char *t = text ? strdup(text) : NULL;
  c->bad |= text && !t;
  return t;
}

void plot_add_point(plot_chart *c, plot_series *s, double x, double y, const char *label,
                    const char *note) {
  c->bad |= s && !CLI_GROW(s->points, s->n);
  if (!s || c->bad) return;
  s->points[s->n++] = (plot_point){.x = x, .y = y, .label = copy(c, label), .note = copy(c, note)};
}

void plot_chart_free(plot_chart *c) {
  for (int i = 0; i < c->n; i++) {
    for (int k = 0; k < c->series[i].n; k++) {
      free(c->series[i].points[k].label);
      free(c->series[i].points[k].note);
    }
    free(c->series[i].points);
  }
  free(c->series);
  *c = (plot_chart){0};
}

/* Appends to the title as much as it has room for. */
static void add_title(plot_chart *c, const char *fmt, ...) TF_PRINTF(2, 3);
static void add_title(plot_chart *c, const char *fmt, ...) {
  const size_t at = strlen(c->title);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(c->title + at, sizeof c->title - at, fmt, ap);
  va_end(ap);
}

void plot_title_of(plot_chart *c, const char *what, const plot_input *in, size_t n) {
  *c->title = '\0';
  add_title(c, "%s of", what);
  for (size_t i = 0; i < n && i < 3; i++) {
    char name[60];
    plot_base_name(in[i].path, name, sizeof name);
    add_title(c, "%s %s", i ? "," : "", name);
  }
  if (n > 3) add_title(c, " and %zu more", n - 3);
}
