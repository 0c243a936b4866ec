/* The page of a sweep: its machines, its points, and mappings as far as there is room for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"

/* Points with their figures, and bytes of mappings, at the most. */
enum { POINTS_MOST = 5000, MAPPINGS_MOST = 1000000 };

static bool on_front(const tf_sweep_summary *sum, int64_t machine) {
  for (int64_t i = 0; i < sum->n; i++)
    if (sum->machines[i].machine == machine) return sum->machines[i].front;
  return false;
}

/* Mappings by their point: those of the front first, then others, until there is no more room.  False: the store
 * cannot be read. */
static bool add_mappings(json_t *out, tf_store *s, const cli_rows *rows, const tf_sweep_summary *sum, tf_diags *d) {
  const int64_t cases = tf_store_grid(s)->n_cases;
  size_t used = 0;
  for (int front = 1; front >= 0; front--)
    for (size_t i = 0; i < rows->n && used < MAPPINGS_MOST; i++) {
      char key[24];
      if (on_front(sum, rows->at[i].point / cases) != (front == 1)) continue;
      char *text = tf_store_mapping(s, rows->at[i].point, d);
      if (!text && tf_diags_errors(d)) return false;
      if (!text) continue;
      used += strlen(text);
      snprintf(key, sizeof key, "%lld", (long long)rows->at[i].point);
      json_object_set_new(out, key, json_string(text));
      free(text);
    }
  return true;
}

bool cli_page_results(const char *path, tf_store *s, const cli_rows *rows, const tf_sweep_summary *sum, tf_diags *d) {
  const tf_sweep_grid *g = tf_store_grid(s);
  page_data p = {json_object(), false};
  const cli_rows shown = {.n = rows->n < POINTS_MOST ? rows->n : POINTS_MOST, .at = rows->at}, none = {0};
  cli_text sweep = {0}, machines = {0}, points = {0};
  json_t *mappings = json_object();
  cli_sweep_json(g, sum, &none, &sweep);
  cli_machines_csv(g, sum, &machines);
  cli_rows_csv(g, &shown, &points);
  page_set(&p, "kind", json_string("results"));
  page_set_report(&p, "sweep", &sweep);
  page_set_text(&p, "machines", &machines);
  page_set_text(&p, "points", &points);
  page_set(&p, "points_all", json_integer((json_int_t)rows->n));
  cli_text_free(&machines);
  cli_text_free(&points);
  const bool read = add_mappings(mappings, s, &shown, sum, d);
  page_set(&p, "mappings", mappings);
  if (read) return page_write(path, g->name, &p);
  json_decref(p.object);
  return false;
}
