/* Several mappings side by side: a group of bars for each resource, a bar for each mapping. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

typedef enum { CYCLES, ENERGY, WORDS } figure;

static const char *text_of(json_t *object, const char *key) {
  const char *t = json_string_value(json_object_get(object, key));
  return t ? t : "?";
}

/* The whole, then each memory and each unit. */
static bool add_resources(const plot_input *in, const char *key, double scale, plot_chart *c,
                          tf_diags *d) {
  static const char *const lists[] = {"levels", "compute"};
  plot_series *s = &c->series[c->n - 1];
  double v;
  bool ok = plot_member_number(in, in->json, key, &v, d);
  plot_add_point(c, s, 0, v * scale, scale < 1 ? "total" : "latency", NULL);
  for (int k = 0; k < 2; k++) {
    json_t *list = plot_member(in, in->json, lists[k], JSON_ARRAY, d), *one;
    size_t i;
    ok = ok && list;
    json_array_foreach(list, i, one) {
      if (!plot_member_number(in, one, key, &v, d)) return false;
      plot_add_point(c, s, s->n, v * scale, text_of(one, "name"), NULL);
    }
  }
  return ok;
}

/* Of a total, which comes first, what its parts do not have: leakage, as reports have it by
 * itself. */
static double rest_of(const plot_series *s) {
  double rest = s->points[0].y;
  for (int k = 1; k < s->n; k++)
    rest -= s->points[k].y;
  return rest;
}

/* One bar a mapping, of its memories and units one on the other.  Before: a series a mapping, its
 * total first. */
static bool stack(plot_chart *c) {
  plot_chart by_part = *c;
  by_part.series = NULL, by_part.n = 0;
  by_part.stacked = true;
  for (int k = 1; k < c->series[0].n; k++) {
    plot_series *s = plot_add_series(&by_part, c->series[0].points[k].label, PLOT_LINE, k - 1);
    for (int i = 0; i < c->n; i++)
      plot_add_point(&by_part, s, i, c->series[i].points[k].y, c->series[i].name, NULL);
  }
  bool more = false;
  for (int i = 0; i < c->n; i++)
    more |= rest_of(&c->series[i]) > 1e-6 * c->series[i].points[0].y;
  plot_series *other = more ? plot_add_series(&by_part, "other", PLOT_LINE, by_part.n) : NULL;
  for (int i = 0; i < c->n && more; i++)
    plot_add_point(&by_part, other, i, fmax(0, rest_of(&c->series[i])), c->series[i].name, NULL);
  plot_chart_free(c);
  *c = by_part;
  return !c->bad;
}

/* Words of each tensor at each memory that moves some in any mapping: all words through its ports.
 */
static bool add_words(const plot_input *in, plot_chart *c, tf_diags *d) {
  static const char *const ports[] = {"fill", "read", "update", "drain"};
  plot_series *s = &c->series[c->n - 1];
  json_t *levels = plot_member(in, in->json, "levels", JSON_ARRAY, d), *level, *one;
  size_t i;
  const char *tensor;
  json_array_foreach(levels, i, level) {
    json_t *tensors = plot_member(in, level, "tensors", JSON_OBJECT, d);
    if (!tensors) return false;
    json_object_foreach(tensors, tensor, one) {
      char name[120];
      double sum = 0, v;
      for (int k = 0; k < 4; k++) {
        if (!plot_member_number(in, one, ports[k], &v, d)) return false;
        sum += v;
      }
      snprintf(name, sizeof name, "%s %s", text_of(level, "name"), tensor);
      plot_add_point(c, s, s->n, sum, name, NULL);
    }
  }
  return levels != NULL;
}

/* Removes the groups in which no mapping has a bar. */
static void drop_empty(plot_chart *c) {
  for (int k = c->series[0].n - 1; k >= 0; k--) {
    bool any = false;
    for (int i = 0; i < c->n; i++)
      any |= c->series[i].points[k].y > 0;
    for (int i = 0; i < c->n && !any; i++) {
      plot_series *s = &c->series[i];
      free(s->points[k].label);
      memmove(&s->points[k], &s->points[k + 1], (size_t)(--s->n - k) * sizeof *s->points);
    }
  }
}

static bool same_groups(const plot_series *a, const plot_series *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = !strcmp(a->points[i].label, b->points[i].label);
  return same;
}

/* Bars may be compared only if the groups are of one machine and workload. */
static bool check_groups(const plot_input *in, const plot_chart *c, tf_diags *d) {
  const int k = c->n - 1;
  if (same_groups(&c->series[0], &c->series[k])) return true;
  return tf_fail(d, (tf_loc){in[k].file, 1, 1, 1}, TF_E_SHAPE,
                 "its memories, units or tensors are others than those of '%.80s': they cannot "
                 "stand side by side",
                 in[0].path);
}

/* ---- of a table ------------------------------------------------------------------------------ */
/* Index among the first n labels of a series; n: not there. */
static int label_at(const plot_series *s, const char *label) {
  int k = 0;
  while (k < s->n && strcmp(s->points[k].label, label) != 0)
    k++;
  return k;
}

/* A series for each value of column `by` (-1: one series), each with a bar for each value of column
 * x; NAN: none. */
static bool group_rows(const plot_table *t, int x, int by, plot_chart *c) {
  for (int row = 0; row < t->n_rows; row++) {
    const char *name = by < 0 ? "" : plot_cell_at(t, row, by)->text;
    int k = 0;
    while (k < c->n && strncmp(c->series[k].name, name, sizeof c->series[k].name - 1) != 0)
      k++;
    if (k == c->n && !plot_add_series(c, name, PLOT_LINE, k)) return false;
  }
  for (int i = 0; i < c->n; i++)
    for (int row = 0; row < t->n_rows; row++) {
      const char *label = plot_cell_at(t, row, x)->text;
      if (label_at(&c->series[i], label) == c->series[i].n)
        plot_add_point(c, &c->series[i], c->series[i].n, NAN, label, NULL);
      if (c->bad) return false;
    }
  return true;
}

static bool put_bar(const plot_table *t, int row, const int at[3], plot_chart *c, tf_diags *d) {
  const char *name = at[2] < 0 ? "" : plot_cell_at(t, row, at[2])->text;
  double v;
  int k = 0;
  if (!plot_number(t, row, at[1], &v, d)) return false;
  while (strncmp(c->series[k].name, name, sizeof c->series[k].name - 1) != 0)
    k++;
  const plot_cell *label = plot_cell_at(t, row, at[0]);
  plot_point *p = &c->series[k].points[label_at(&c->series[k], label->text)];
  if (!isnan(p->y))
    return tf_fail(d, label->at, TF_E_DUP, "a second row for '%.60s'%s%.60s: --where chooses rows",
                   label->text, *name ? " and " : "", name);
  p->y = v;
  return true;
}

/* Whether no group has two bars: then the colour shows the kind of each, and no room is left
 * for others. */
static bool one_a_group(const plot_chart *c) {
  bool one = c->n > 1;
  for (int k = 0; k < c->series[0].n && one; k++) {
    int bars = 0;
    for (int i = 0; i < c->n; i++)
      bars += !isnan(c->series[i].points[k].y);
    one = bars <= 1;
  }
  return one;
}

/* Long-format tables: a bar a row, grouped by x, coloured by `by`. */
static bool bars_of_table(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                          tf_diags *d) {
  const plot_table *t = &in->table;
  if (n != 1 || !w->x || !w->y)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                   "bars of CSV need one file, --x (the groups) and --y (the figure)");
  const int at[3] = {plot_column(t, w->x, d), plot_column(t, w->y, d),
                     w->by ? plot_column(t, w->by, d) : -1};
  bool ok = at[0] >= 0 && at[1] >= 0 && (!w->by || at[2] >= 0) && group_rows(t, at[0], at[2], c);
  for (int row = 0; ok && row < t->n_rows; row++)
    ok = put_bar(t, row, at, c, d);
  if (ok && !c->n)
    ok = tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  c->shape = PLOT_BARS;
  c->stacked = ok && one_a_group(c);
  plot_column_label(w->y, c->y_name);
  plot_use_units(c, 'y');
  plot_title_of(c, c->y_name, in, 1);
  return ok;
}

bool plot_bars(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  if (!in[0].json) return bars_of_table(in, n, w, c, d);
  static const char *const whats[] = {"cycles", "energy", "words"};
  static const char *const y_names[] = {"busy cycles", "energy", "words through the ports"};
  const char *what = w->y ? w->y : whats[0];
  int f = 0;
  while (f < 3 && strcmp(what, whats[f]) != 0)
    f++;
  if (f == 3)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                   "--y of bars is cycles, energy or words, not '%.60s'", what);
  c->shape = PLOT_BARS;
  snprintf(c->y_name, sizeof c->y_name, "%s", y_names[f]);
  if (f == ENERGY) strcpy(c->unit, "J");
  bool ok = true;
  for (size_t i = 0; i < n; i++) {
    char name[120];
    if (!in[i].json) {
      ok = tf_fail(d, (tf_loc){in[i].file, 1, 1, 1}, TF_E_TYPE,
                   "bars are of JSON, as 'eval --json' writes it");
      continue;
    }
    plot_base_name(in[i].path, name, sizeof name);
    if (!plot_add_series(c, name, PLOT_LINE, (int)i)) return false;
    bool read = f == WORDS ? add_words(&in[i], c, d)
                           : add_resources(&in[i], f == ENERGY ? "energy_pj" : "cycles",
                                           f == ENERGY ? 1e-12 : 1, c, d);
    ok = read && ok && check_groups(in, c, d);
    if (i == 0)
      snprintf(c->title, sizeof c->title, "%s of %s on %s",
               f == CYCLES   ? "Cycles"
               : f == ENERGY ? "Energy"
                             : "Words",
               text_of(in[0].json, "workload"), text_of(in[0].json, "architecture"));
  }
  if (ok && f == ENERGY) return stack(c);
  c->log_y = f == WORDS; /* registers move a thousand times as many words as DRAM */
  if (ok && c->log_y) drop_empty(c);
  return ok;
}
