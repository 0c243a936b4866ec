/* The page of a sweep: its machines, its points, and mappings as far as there is room for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"

/* Machines, points, and bytes of mappings, at the most: those of the front before others. */
enum { MACHINES_MOST = 5000, POINTS_MOST = 5000, MAPPINGS_MOST = 1000000 };

/* What is shown of a store. */
typedef struct {
  tf_sweep_summary sum; /* its machines are `machines` */
  tf_sweep_machine *machines;
  cli_rows rows; /* texts are borrowed */
  int64_t n_machines;
  size_t n_rows; /* that there are */
} shown;

static int by_number(const void *a, const void *b) {
  const int64_t x = ((const tf_sweep_machine *)a)->machine, y = ((const tf_sweep_machine *)b)->machine;
  return (x > y) - (x < y);
}

static bool on_front(const tf_sweep_summary *sum, int64_t machine) {
  const tf_sweep_machine key = {.machine = machine};
  const tf_sweep_machine *m = bsearch(&key, sum->machines, (size_t)sum->n, sizeof key, by_number);
  return m && m->front;
}

/* False: no memory. */
static bool choose(const tf_sweep_grid *g, const cli_rows *rows, const tf_sweep_summary *sum, shown *out) {
  *out = (shown){.sum = *sum, .n_machines = sum->n, .n_rows = rows->n};
  out->machines = out->sum.machines = calloc(MACHINES_MOST, sizeof *out->machines);
  out->rows.row = calloc(POINTS_MOST, sizeof *out->rows.row);
  out->sum.n = 0;
  if (!out->machines || !out->rows.row) return false;
  for (int front = 1; front >= 0; front--) {
    for (int64_t i = 0; i < sum->n && out->sum.n < MACHINES_MOST; i++)
      if (sum->machines[i].front == (front == 1)) out->machines[out->sum.n++] = sum->machines[i];
    for (size_t i = 0; i < rows->n && out->rows.n < POINTS_MOST; i++)
      if (on_front(sum, rows->row[i].point / g->n_cases) == (front == 1)) out->rows.row[out->rows.n++] = rows->row[i];
  }
  return true;
}

/* Mappings by their point, until there is no more room.  NULL with an error in d: the store cannot be read. */
static json_t *mappings_of(tf_store *s, const cli_rows *rows, tf_diags *d) {
  json_t *out = json_object();
  size_t used = 0;
  for (size_t i = 0; i < rows->n && used < MAPPINGS_MOST; i++) {
    char key[24], *text = tf_store_mapping(s, rows->row[i].point, d);
    if (!text && tf_diags_errors(d)) {
      json_decref(out);
      return NULL;
    }
    if (!text) continue;
    used += strlen(text);
    snprintf(key, sizeof key, "%lld", (long long)rows->row[i].point);
    json_object_set_new(out, key, json_string(text));
    free(text);
  }
  return out;
}

static bool write_shown(const char *path, tf_store *s, const shown *all, json_t *mappings) {
  const tf_sweep_grid *g = tf_store_grid(s);
  page_data p = {json_object(), false, false};
  const cli_rows none = {0};
  cli_text sweep = {0}, machines = {0}, points = {0};
  cli_sweep_json(g, &all->sum, &none, &sweep);
  cli_machines_csv(g, &all->sum, &machines);
  cli_rows_csv(g, &all->rows, &points);
  page_set(&p, "kind", json_string("results"));
  page_set_report(&p, "sweep", &sweep);
  page_set_text(&p, "machines", &machines);
  page_set_text(&p, "points", &points);
  page_set(&p, "machines_all", json_integer((json_int_t)all->n_machines));
  page_set(&p, "points_all", json_integer((json_int_t)all->n_rows));
  page_set(&p, "mappings", mappings);
  cli_text_free(&machines);
  cli_text_free(&points);
  return page_write(path, g->name, &p);
}

bool cli_page_results(const char *path, tf_store *s, const cli_rows *rows, const tf_sweep_summary *sum, tf_diags *d) {
  shown all;
  const bool room = choose(tf_store_grid(s), rows, sum, &all) || tf_out_of_memory(d);
  json_t *mappings = room ? mappings_of(s, &all.rows, d) : NULL;
  const bool ok = mappings && write_shown(path, s, &all, mappings);
  free(all.machines);
  free(all.rows.row);
  return ok;
}
