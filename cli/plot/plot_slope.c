/* The ski-slope: proved and attained words by the words on chip, with machines on it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot.h"

/* One row of a slope; found: NAN if no mapping was found. */
static void add_capacity(plot_chart *c, const char *name, double words, double proved,
                         double found) {
  char with[120];
  snprintf(with, sizeof with, "%.100s proved", name);
  plot_series *line = plot_series_named(c, with, PLOT_LINE);
  const int colour = line ? line->colour : 0; /* attained and proved words have the same colour */
  plot_add_point(c, line, words, proved, NULL, NULL);
  if (isnan(found)) return;
  snprintf(with, sizeof with, "%.100s found", name);
  plot_series *marks = plot_series_named(c, with, PLOT_POINTS);
  if (marks) marks->colour = colour;
  plot_add_point(c, marks, words, found, NULL, NULL);
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
    add_capacity(c, json_string_value(name), words, proved,
                 json_is_number(found) ? json_number_value(found) : NAN);
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
    for (int i = 1; ok && i < 3; i++)
      if (isnan(v[i]))
        ok = tf_fail(d, plot_cell_at(t, row, at[i])->at, TF_E_MISSING, "'%s' has no number",
                     names[i]);
    if (ok) add_capacity(c, plot_cell_at(t, row, at[0])->text, v[1], v[2], v[3]);
  }
  return ok;
}

/* Capacity of all inner memories, in words of the outermost one.  False with an error in d. */
static bool words_on_chip(const plot_input *in, json_t *levels, double *out, tf_diags *d) {
  json_t *level;
  size_t i;
  double width = 1, bits, words, instances;
  *out = 0;
  json_array_foreach(levels, i, level) {
    json_t *machine = plot_member(in, level, "machine", JSON_OBJECT, d);
    if (!machine || !plot_member_number(in, level, "word_bits", &bits, d)) return false;
    if (i == 0) {
      width = bits;
      continue;
    }
    if (!plot_member_number(in, level, "capacity_words", &words, d) ||
        !plot_member_number(in, machine, "instances", &instances, d))
      return false;
    *out += words * instances * bits / width;
  }
  return true;
}

/* A mapping on a machine: x is the capacity of its memories, y the words through the outermost. */
static bool add_machine(const plot_input *in, plot_chart *c, tf_diags *d) {
  json_t *levels = plot_member(in, in->json, "levels", JSON_ARRAY, d);
  double held, read, update;
  char name[120], mapping[60];
  if (!levels || !words_on_chip(in, levels, &held, d)) return false;
  json_t *outermost = json_array_get(levels, 0);
  if (!plot_member_number(in, outermost, "read", &read, d) ||
      !plot_member_number(in, outermost, "update", &update, d))
    return false;
  const char *machine = json_string_value(json_object_get(in->json, "architecture"));
  plot_base_name(in->path, mapping, sizeof mapping);
  snprintf(name, sizeof name, "%s on %.50s", mapping, machine ? machine : "?");
  plot_series *mark = plot_add_series(c, name, PLOT_POINTS, 7);
  if (mark) mark->direct_label = true;
  plot_add_point(c, mark, held, read + update, NULL, NULL);
  return true;
}

static bool add_input(const plot_input *in, plot_chart *c, tf_diags *d) {
  if (!in->json) return slope_of_csv(&in->table, c, d);
  return (json_object_get(in->json, "levels") ? add_machine : slope_of_json)(in, c, d);
}

bool plot_slope(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  (void)w;
  bool ok = true;
  for (size_t i = 0; i < n; i++)
    ok = add_input(&in[i], c, d) && ok;
  if (!ok) return false;
  if (!c->n)
    return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "there are no rows to draw");
  c->log_x = c->log_y = c->powers_of_two = c->direct = true;
  strcpy(c->x_name, "words on chip (lines: proved, marks: found)");
  strcpy(c->y_name, "words in and out of the chip");
  plot_title_of(c, "Ski-slope", in, n);
  return true;
}
