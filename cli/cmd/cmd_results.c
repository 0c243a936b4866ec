/* tileflow results: what a store of a sweep holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/page/page.h"
#include "cli/report/report.h"
#include "cli/report/sweep_report.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_page page;
  const char *where, *mapping; /* where NULL: every row */
  int64_t top;                 /* 0: not given */
  int64_t point;               /* -1: not given */
  bool merge, machines;
} results_options;
static const cli_slot slots[] = {
    CLI_FIGURES_AT(results_options, figures), CLI_PAGE_AT(results_options, page),
    CLI_AT(results_options, WHERE, where),    CLI_AT(results_options, TOP, top),
    CLI_AT(results_options, POINT, point),    CLI_AT(results_options, MAPPING, mapping),
    CLI_AT(results_options, MERGE, merge),    CLI_AT(results_options, MACHINES, machines)};

static const tf_loc nowhere = {0};
enum { TOP_UNLESS_SAID = 20 };

/* Prints the mapping as a section that eval reads, below a comment that says what it is of.  False:
 * as in show. */
static bool print_mapping(tf_store *s, const results_options *o, bool *failed, tf_diags *d) {
  const tf_sweep_grid *g = tf_store_grid(s);
  cli_text t = {0};
  if (o->point >= g->n_machines * g->n_cases)
    return tf_fail(d, nowhere, TF_E_USAGE,
                   "the sweep has no point %" PRId64 ": they go up to %" PRId64, o->point,
                   g->n_machines * g->n_cases - 1);
  char *text = tf_store_mapping(s, o->point, d);
  if (!text)
    return tf_diags_errors(d) == 0 &&
           tf_fail(d, nowhere, TF_E_USAGE, "point %" PRId64 " has no mapping in the store",
                   o->point);
  tf_sweep_place p = tf_sweep_place_of(g, o->point);
  cli_printf(&t, "# point %" PRId64 " of %s: %s %s", o->point, g->name, g->archs[p.arch].file,
             g->workloads[p.workload].file);
  for (int a = 0; a < g->n_axes; a++)
    for (int k = 0; k < g->axes[a].n_params; k++)
      cli_printf(&t, " --set %s=%.17g", g->axes[a].params[k],
                 g->axes[a].values[(int64_t)p.at[a] * g->axes[a].n_params + k]);
  cli_printf(&t, "\nmapping: |\n");
  for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
    cli_printf(&t, "  %.*s\n", (int)strcspn(line, "\n"), line);
  free(text);
  *failed = !cli_put_text(o->mapping ? o->mapping : "-", &t);
  return !*failed;
}

/* *failed: the first store cannot be written; that one of the others cannot be read is a fault of
 * the input. */
static bool merge(tf_store *s, const results_options *o, bool *failed, tf_diags *d) {
  bool ok = true;
  for (size_t i = 1; o->merge && i < o->in.n_files; i++) {
    int64_t taken = 0;
    bool here = tf_store_merge(s, o->in.files[i], &taken, d);
    if (here && !o->in.quiet)
      fprintf(stderr, "%s: %" PRId64 " rows taken\n", o->in.files[i], taken);
    *failed |= !here && access(o->in.files[i], R_OK) == 0 && cli_status_of(d) == CLI_FAILED;
    ok = here && ok;
  }
  return ok;
}

static bool write_files(tf_store *s, const results_options *o, const cli_rows *rows,
                        const tf_sweep_summary *sum, tf_diags *d) {
  cli_text csv = {0}, json = {0};
  bool ok = true;
  if (o->figures.csv) {
    if (o->machines)
      cli_machines_csv(tf_store_grid(s), sum, &csv);
    else
      cli_rows_csv(tf_store_grid(s), rows, &csv);
    ok = cli_put_text(o->figures.csv, &csv);
  }
  if (o->figures.json) {
    cli_sweep_json(tf_store_grid(s), sum, rows, &json);
    ok = cli_put_text(o->figures.json, &json) && ok;
  }
  if (o->page.html) ok = cli_page_results(o->page.html, s, rows, sum, d) && ok;
  return ok;
}

static bool print(tf_store *s, const results_options *o, const cli_rows *rows,
                  const tf_sweep_summary *sum) {
  cli_text t = {0};
  if (o->in.quiet || o->in.stdout_taken) return true;
  if (o->where || o->top)
    cli_rows_text(tf_store_grid(s), rows, &t);
  else
    cli_sweep_text(tf_store_grid(s), sum, &t);
  return cli_put_text("-", &t);
}

/* False: reported in d, or on stderr where a file cannot be written (*failed). */
static bool show(tf_store *s, const results_options *o, bool *failed, tf_diags *d) {
  cli_rows rows = {0};
  bool listed = o->where || o->top, exported = o->figures.csv || o->figures.json || o->page.html;
  tf_condition *c = o->where ? tf_condition_read(o->where, s, d) : NULL;
  if (o->where && !c) return false;
  int64_t top = o->top || exported ? o->top : TOP_UNLESS_SAID;
  bool ok = !(listed || exported) || cli_rows_take(&rows, s, c, top, d);
  tf_sweep_summary *sum = ok ? tf_sweep_summary_of(s, d) : NULL;
  if (sum) {
    ok = write_files(s, o, &rows, sum, d) && print(s, o, &rows, sum);
    *failed = !ok;
  }
  tf_sweep_summary_free(sum);
  cli_rows_free(&rows);
  tf_condition_free(c);
  return ok && sum;
}

static void check_results(void *options, tf_diags *d) {
  const results_options *o = options;
  cli_refuse_over(o->page.html, o->page.force, d);
  if (o->in.n_files > 1 && !o->merge)
    tf_fail(d, nowhere, TF_E_USAGE,
            "results takes one store; --merge takes the rows of others into it");
  if (o->machines && !o->figures.csv)
    tf_fail(d, nowhere, TF_E_USAGE, "--machines says what --csv writes: give both");
  if (o->machines && (o->where || o->top))
    tf_fail(d, nowhere, TF_E_USAGE, "--machines has all machines: --where and --top are of points");
  if (o->in.n_set) tf_fail(d, nowhere, TF_E_USAGE, "results reads no params that --set could give");
  if (o->mapping && o->point < 0)
    tf_fail(d, nowhere, TF_E_USAGE, "--mapping needs --point N, whose mapping it writes");
}

static cli_status results(const void *options) {
  const results_options *o = options;
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  tf_store *s = tf_store_open(o->in.files[0], d);
  bool failed = false, ok = s && merge(s, o, &failed, d);
  if (ok) ok = o->point >= 0 ? print_mapping(s, o, &failed, d) : show(s, o, &failed, d);
  if (tf_diags_errors(d)) cli_complain(d);
  tf_store_close(s);
  tf_diags_free(d);
  return failed ? CLI_FAILED : ok ? CLI_DONE : CLI_BAD_INPUT;
}

const cli_command cmd_results = {
    .name = "results",
    .summary = "list, rank, filter, merge and export what a store holds",
    .arguments = "FILE",
    .about =
        "Prints the front of a sweep's store: machines that none beats in the sweep's objectives, "
        "and how much better another could still be.  --where and --top list points instead, the "
        "best first; --csv has one row a point, by its number, with --machines a row a machine; "
        "--point prints the mapping of one as eval reads it; --merge takes the rows of other "
        "stores of the same sweep (of shards) into the first.\n"
        "Exit status: 0, or 2 for a store that cannot be read.\n",
    .example = "edge-family.tfdb \\\n    --where \"side >= 16 and state == 'found'\" --top 5",
    .size = sizeof(results_options),
    CLI_SLOTS(slots),
    .check = check_results,
    .run = results,
};
