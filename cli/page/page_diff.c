/* The page of two mappings: their terms, and each mapping with all that its own page shows. */
#include "cli/page/page.h"

bool cli_page_diff(const char *path, const diff *d) {
  page_data p = {json_object(), d->bad, false};
  cli_text terms = {0}, rows = {0}, terminal = {0};
  diff_json(d, &terms);
  diff_csv(d, &rows);
  diff_text(d, &terminal);
  page_set(&p, "kind", json_string("diff"));
  page_set_report(&p, "diff", &terms);
  page_set_text(&p, "rows", &rows); /* of the same terms, each with its reason */
  page_set(&p, "a", page_mapping(d->a));
  page_set(&p, "b", page_mapping(d->b));
  page_set_text(&p, "terminal", &terminal);
  cli_text_free(&rows);
  cli_text_free(&terminal);
  return page_write(path, "Two mappings compared", &p);
}
