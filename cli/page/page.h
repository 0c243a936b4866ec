/* Pages of HTML to explore: one file each, with its data, its style, its script and D3 inside, that loads nothing
 * (docs/HOWTO-page.md).  The script lays out and links; every figure is in the data. */
#ifndef CLI_PAGE_PAGE_H
#define CLI_PAGE_PAGE_H
#include <jansson.h>

#include "cli/json.h"
#include "cli/report/diff.h"
#include "cli/report/plan_report.h"
#include "cli/report/sweep_report.h"

/* Whether this program was built with the model that pages can hold (live/build.sh). */
bool cli_page_has_model(void);
/* Each writes the file (or stdout, "-"): false after a message on stderr.  terminal: what the command prints; live:
 * with the model inside, so that the files can be edited there. */
bool cli_page_mapping(const char *path, const char *command, const cli_session *s, const cli_text *terminal, bool live);
bool cli_page_diff(const char *path, const diff *d);
bool cli_page_plan(const char *path, const cli_plan *p);
bool cli_page_results(const char *path, tf_store *s, const cli_rows *rows, const tf_sweep_summary *sum, tf_diags *d);

/* ---- within the room ------------------------------------------------------------------------ */
/* Adds the member; a value that could not be made, or that has no room, marks `bad`. */
typedef struct {
  json_t *object;
  bool bad;
  bool live; /* with the model */
} page_data;
void page_set(page_data *p, const char *key, json_t *value);
/* A text that is JSON already, as reports write it; freed. */
void page_set_report(page_data *p, const char *key, cli_text *json);
/* A text, or null where it has none; one that is no UTF-8 is left out. */
void page_set_text(page_data *p, const char *key, const cli_text *text);
/* All that pages show of one evaluated mapping. */
json_t *page_mapping(const cli_session *s);
/* Writes the page and frees the data.  title: shown by the browser, from the user's names. */
bool page_write(const char *path, const char *title, page_data *p);
#endif
