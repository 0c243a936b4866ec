/* The machines of a sweep as CSV: scores over their workloads, and proved bounds. */
#include <inttypes.h>
#include <math.h>

#include "cli/report/report.h"
#include "cli/report/sweep_report.h"

void cli_csv_real(cli_text *out, double v) {
  if (isfinite(v))
    cli_printf(out, ",%.17g", v);
  else
    cli_printf(out, ",");
}

static void head(const tf_sweep_grid *g, cli_text *out) {
  cli_printf(out, "machine,architecture");
  for (int a = 0; a < g->n_axes; a++)
    for (int p = 0; p < g->axes[a].n_params && !g->axes[a].of_workload; p++) {
      cli_printf(out, ",");
      cli_csv_cell(out, g->axes[a].params[p]);
    }
  for (int k = 0; k < g->n_goals; k++)
    cli_printf(out, ",%s", tf_goal_column((int)g->goals[k]));
  for (int k = 0; k < g->n_goals; k++)
    cli_printf(out, ",bound_%s", tf_goal_column((int)g->goals[k]));
  cli_printf(out, ",front,proved,gap\n");
}

static void put_machine(const tf_sweep_grid *g, const tf_sweep_machine *m, cli_text *out) {
  tf_sweep_place p = tf_sweep_place_of(g, m->machine * g->n_cases);
  double gap = 0;
  cli_printf(out, "%" PRId64 ",", m->machine);
  cli_csv_cell(out, g->archs[p.arch].name);
  for (int a = 0; a < g->n_axes; a++)
    for (int k = 0; k < g->axes[a].n_params && !g->axes[a].of_workload; k++)
      cli_csv_real(out, g->axes[a].values[(int64_t)p.at[a] * g->axes[a].n_params + k]);
  for (int k = 0; k < g->n_goals; k++)
    cli_csv_real(out, m->score[g->goals[k]]);
  for (int k = 0; k < g->n_goals; k++) {
    cli_csv_real(out, m->bound[g->goals[k]]);
    gap = fmax(gap, m->gap[g->goals[k]]);
  }
  cli_printf(out, ",%d,%d", m->front, m->proved);
  cli_csv_real(out, m->front ? gap : NAN);
  cli_printf(out, "\n");
}

void cli_machines_csv(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out) {
  head(g, out);
  for (int64_t i = 0; i < s->n; i++)
    put_machine(g, &s->machines[i], out);
}
