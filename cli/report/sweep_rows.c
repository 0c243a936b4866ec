/* Rows of a store: gathered, ranked, as a table and as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/report/sweep_report.h"
#include "cli/table.h"

enum { MOST_PARAMS = 12 }; /* columns for params in the printed table */

/* ---- gathering ------------------------------------------------------------------------------ */
typedef struct {
  cli_rows *rows;
  const tf_condition *condition;
  const tf_sweep_grid *g;
} gatherer;

static const char *copy(cli_rows *r, const char *text) {
  char *out = text ? malloc(strlen(text) + 1) : NULL;
  r->bad |= text && !out;
  return out ? strcpy(out, text) : NULL;
}

static bool gather(void *ctx, const tf_sweep_row *row) {
  gatherer *t = ctx;
  cli_rows *r = t->rows;
  if (t->condition && !tf_condition_holds(t->condition, t->g, row)) return true;
  r->bad |= !CLI_GROW(r->row, r->n);
  if (r->bad) return false;
  tf_sweep_row *to = &r->row[r->n++];
  *to = *row;
  to->bottleneck = copy(r, row->bottleneck);
  to->message = copy(r, row->message);
  return !r->bad;
}

/* Ascending order; rows without a figure come last, ties by number. */
static int compare(double a, double b, int64_t p, int64_t q) {
  if (isnan(a) != isnan(b)) return isnan(a) ? 1 : -1;
  if (a != b && !isnan(a)) return a < b ? -1 : 1;
  return p < q ? -1 : p > q;
}

#define BY(goal)                                                                                   \
  static int by_##goal(const void *a, const void *b) {                                             \
    const tf_sweep_row *x = a, *y = b;                                                             \
    return compare(x->figures[TF_GOAL_##goal], y->figures[TF_GOAL_##goal], x->point, y->point);    \
  }
BY(CYCLES)
BY(SECONDS)
BY(ENERGY)
BY(EDP)
BY(TRAFFIC)
BY(AREA)

static void free_row(tf_sweep_row *r) {
  free((void *)(uintptr_t)r->bottleneck);
  free((void *)(uintptr_t)r->message);
}

static void keep_best(cli_rows *r, tf_goal goal, int64_t top) {
  int (*const by[TF_N_GOALS])(const void *, const void *) = {by_CYCLES, by_SECONDS, by_ENERGY,
                                                             by_EDP,    by_TRAFFIC, by_AREA};
  if (r->n) qsort(r->row, r->n, sizeof *r->row, by[goal]);
  for (; r->n > (uint64_t)top; r->n--)
    free_row(&r->row[r->n - 1]);
}

bool cli_rows_take(cli_rows *r, tf_store *s, const tf_condition *c, int64_t top, tf_diags *d) {
  gatherer t = {r, c, tf_store_grid(s)};
  if (!tf_store_rows(s, gather, &t, d)) return false;
  if (r->bad) return tf_out_of_memory(d);
  if (top > 0) keep_best(r, t.g->goals[0], top);
  return true;
}

void cli_rows_free(cli_rows *r) {
  for (size_t i = 0; i < r->n; i++)
    free_row(&r->row[i]);
  free(r->row);
  *r = (cli_rows){0};
}

/* ---- a table -------------------------------------------------------------------------------- */
static int n_params(const tf_sweep_grid *g, int most) {
  int n = 0;
  for (int i = 0; i < g->n_axes; i++)
    n += g->axes[i].n_params;
  return n < most ? n : most;
}

static void head(const tf_sweep_grid *g, cli_table *t) {
  int n = 0;
  cli_cell(t, "point");
  cli_cell(t, "architecture");
  cli_cell(t, "workload");
  cli_cell(t, "mapping");
  for (int i = 0; i < g->n_axes; i++)
    for (int p = 0; p < g->axes[i].n_params; p++)
      if (n++ < MOST_PARAMS) cli_cell(t, "%s", g->axes[i].params[p]);
  for (int i = 0; i < g->n_goals; i++)
    cli_cell(t, "%s", tf_goal_key((int)g->goals[i]));
  cli_cell(t, "state");
}

void cli_rows_text(const tf_sweep_grid *g, const cli_rows *r, cli_text *out) {
  char align[4 + MOST_PARAMS + TF_N_GOALS + 2] = "rlll";
  int params = n_params(g, MOST_PARAMS);
  for (int i = 0; i < params + g->n_goals; i++)
    strcat(align, "r");
  strcat(align, "l");
  cli_table t = {.align = align};
  head(g, &t);
  for (size_t i = 0; i < r->n; i++) {
    const tf_sweep_row *row = &r->row[i];
    tf_sweep_place p = tf_sweep_place_of(g, row->point);
    int n = 0;
    cli_cell(&t, "%" PRId64, row->point);
    cli_cell(&t, "%s", g->archs[p.arch].name);
    cli_cell(&t, "%s", g->workloads[p.workload].name);
    cli_cell(&t, "%s", p.mapping < 0 ? "" : g->mappings[p.mapping].name);
    for (int a = 0; a < g->n_axes; a++)
      for (int k = 0; k < g->axes[a].n_params; k++)
        if (n++ < MOST_PARAMS)
          cli_cell(&t, "%.6g", g->axes[a].values[(int64_t)p.at[a] * g->axes[a].n_params + k]);
    for (int k = 0; k < g->n_goals; k++)
      cli_goal_cell(&t, g->goals[k], row->figures[g->goals[k]]);
    cli_cell(&t, "%s", tf_point_state_key((int)row->state));
  }
  cli_table_end(&t, out);
}

/* ---- CSV ------------------------------------------------------------------------------------ */
static void csv_head(const tf_sweep_grid *g, cli_text *out) {
  cli_printf(out, "point,machine,architecture,workload");
  if (g->n_mappings) cli_printf(out, ",mapping");
  for (int i = 0; i < g->n_axes; i++)
    for (int p = 0; p < g->axes[i].n_params; p++) {
      cli_printf(out, ",");
      cli_csv_cell(out, g->axes[i].params[p]);
    }
  cli_printf(out, ",state");
  for (int k = 0; k < TF_N_GOALS; k++)
    cli_printf(out, ",%s", tf_goal_column(k));
  for (int k = 0; k < TF_GOAL_AREA; k++)
    cli_printf(out, ",bound_%s", tf_goal_column(k));
  cli_printf(out, ",held_words,proved,evals,bottleneck,message,mapping_of\n");
}

static void csv_text(cli_text *out, const char *text) {
  cli_printf(out, ",");
  cli_csv_cell(out, text ? text : "");
}

static void csv_row(const tf_sweep_grid *g, const tf_sweep_row *r, cli_text *out) {
  tf_sweep_place p = tf_sweep_place_of(g, r->point);
  cli_printf(out, "%" PRId64 ",%" PRId64, r->point, r->point / g->n_cases);
  csv_text(out, g->archs[p.arch].name);
  csv_text(out, g->workloads[p.workload].name);
  if (g->n_mappings) csv_text(out, g->mappings[p.mapping].name);
  for (int i = 0; i < g->n_axes; i++)
    for (int k = 0; k < g->axes[i].n_params; k++)
      cli_csv_real(out, g->axes[i].values[(int64_t)p.at[i] * g->axes[i].n_params + k]);
  csv_text(out, tf_point_state_key((int)r->state));
  for (int k = 0; k < TF_N_GOALS; k++)
    cli_csv_real(out, r->figures[k]);
  for (int k = 0; k < TF_GOAL_AREA; k++)
    cli_csv_real(out, r->bounds[k]);
  cli_csv_real(out, r->held_words);
  cli_printf(out, ",%d,%" PRId64, r->proved, r->evals);
  csv_text(out, r->bottleneck);
  csv_text(out, r->message);
  cli_printf(out, ",");
  if (r->mapping_of >= 0) cli_printf(out, "%" PRId64, r->mapping_of);
  cli_printf(out, "\n");
}

void cli_rows_csv(const tf_sweep_grid *g, const cli_rows *r, cli_text *out) {
  csv_head(g, out);
  for (size_t i = 0; i < r->n; i++)
    csv_row(g, &r->row[i], out);
}
