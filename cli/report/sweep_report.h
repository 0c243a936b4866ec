/* What a store of a sweep holds, for people and for programs. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H
#include "cli/cli.h"
#include "cli/table.h"
#include "tileflow/sweep.h"

/* Rows in the order in which they are printed; texts are owned. */
typedef struct {
  size_t n;
  tf_sweep_row *row;
  bool bad; /* memory ran out */
} cli_rows;
/* Selects rows for which the condition holds (NULL: all), by number; `top`: only so many, by the
 * first objective, best first. */
bool cli_rows_take(cli_rows *r, tf_store *s, const tf_condition *c, int64_t top, tf_diags *d);
void cli_rows_free(cli_rows *r);

/* The sweep, its progress, and its front. */
void cli_sweep_text(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out);
/* A figure with its unit; "-": none. */
void cli_goal_cell(cli_table *t, tf_goal goal, double v);
/* A table of points. */
void cli_rows_text(const tf_sweep_grid *g, const cli_rows *r, cli_text *out);
void cli_rows_csv(const tf_sweep_grid *g, const cli_rows *r, cli_text *out);
/* A comma and the number; only the comma if it is none. */
void cli_csv_real(cli_text *out, double v);
/* One row per machine, by number: params, scores and bounds by objective, whether it is on the
 * front, whether that is proved, and its largest gap (tf_sweep_machine). */
void cli_machines_csv(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out);
void cli_sweep_json(const tf_sweep_grid *g, const tf_sweep_summary *s, const cli_rows *r,
                    cli_text *out);
#endif
