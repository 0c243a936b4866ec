/* A sweep for people: its progress, the front, and what is proved of it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/sweep_report.h"
#include "cli/table.h"

enum { FRONT_SHOWN = 30, MOST_PARAMS = 12 };

static void print_sweep(const tf_sweep_grid *g, cli_text *out) {
  cli_printf(out, "%s: %s machines, %s workloads", g->name, cli_count(g->n_machines).s,
             cli_count(g->n_jobs).s);
  if (g->n_mappings) cli_printf(out, " with their mappings");
  cli_printf(out, "; method %s, objectives", tf_sweep_method_key((int)g->method));
  for (int i = 0; i < g->n_goals; i++)
    cli_printf(out, "%s %s", i ? "," : "", tf_goal_key((int)g->goals[i]));
  if (g->within > 0) cli_printf(out, "; proofs within %s", cli_percent(g->within, 1).s);
  if (g->n_jobs > 1)
    cli_printf(out, " (%s over the workloads)", g->geometric ? "geometric mean" : "weighted sum");
  cli_printf(out, "\n");
}

static void print_points(const tf_sweep_summary *s, cli_text *out) {
  cli_printf(out, "%s points: %s found", cli_count(s->points).s,
             cli_count(s->by_state[TF_POINT_FOUND]).s);
  if (s->improved)
    cli_printf(out, " (%s improved by the mapping of another machine)", cli_count(s->improved).s);
  if (s->by_state[TF_POINT_SKIPPED])
    cli_printf(out, ", %s skipped", cli_count(s->by_state[TF_POINT_SKIPPED]).s);
  if (s->by_state[TF_POINT_NONE])
    cli_printf(out, ", %s without a mapping that fits", cli_count(s->by_state[TF_POINT_NONE]).s);
  if (s->by_state[TF_POINT_INVALID])
    cli_printf(out, ", %s invalid (--where \"state == 'invalid'\" --csv - says why)",
               cli_count(s->by_state[TF_POINT_INVALID]).s);
  cli_printf(out, "\n\n");
}

void cli_goal_cell(cli_table *t, tf_goal goal, double v) {
  if (isnan(v))
    cli_cell(t, "-");
  else if (goal == TF_GOAL_SECONDS)
    cli_cell(t, "%s", cli_si(v, "s").s);
  else if (goal == TF_GOAL_ENERGY)
    cli_cell(t, "%s", cli_si(v * 1e-12, "J").s);
  else if (goal == TF_GOAL_AREA)
    cli_cell(t, "%.4g mm2", v * 1e-6);
  else
    cli_cell(t, "%s", cli_real(v).s);
}

/* "proved", or its largest gap and the bound that it is measured by; "proved of these" where the
 * store lacks machines.
 */
static void put_gap(const tf_sweep_grid *g, const tf_sweep_machine *m, cli_table *t) {
  tf_goal worst = g->goals[0];
  for (int i = 1; i < g->n_goals; i++)
    if (m->gap[g->goals[i]] > m->gap[worst]) worst = g->goals[i];
  if (m->gap[worst] == 0)
    cli_cell(t, m->proved ? "proved" : "proved of these");
  else if (m->gap[worst] < 5e-4)
    cli_cell(t, "under 0.1 %% less %s not excluded", tf_goal_key((int)worst));
  else
    cli_cell(t, "%s less %s not excluded", cli_percent(1 - 1 / (1 + m->gap[worst]), 1).s,
             tf_goal_key((int)worst));
}

static void put_machine(const tf_sweep_grid *g, const tf_sweep_machine *m, cli_table *t) {
  tf_sweep_place p = tf_sweep_place_of(g, m->machine * g->n_cases);
  int n = 0;
  cli_cell(t, "%" PRId64, m->machine);
  cli_cell(t, "%s", g->archs[p.arch].name);
  for (int a = 0; a < g->n_axes; a++)
    for (int k = 0; k < g->axes[a].n_params && !g->axes[a].of_workload; k++)
      if (n++ < MOST_PARAMS)
        cli_cell(t, "%.6g", g->axes[a].values[(int64_t)p.at[a] * g->axes[a].n_params + k]);
  for (int i = 0; i < g->n_goals; i++)
    cli_goal_cell(t, g->goals[i], m->score[g->goals[i]]);
  put_gap(g, m, t);
}

static void put_head(const tf_sweep_grid *g, cli_table *t, char *align) {
  int n = 0;
  strcpy(align, "rl");
  cli_cell(t, "machine");
  cli_cell(t, "architecture");
  for (int a = 0; a < g->n_axes; a++)
    for (int k = 0; k < g->axes[a].n_params && !g->axes[a].of_workload; k++) {
      if (n++ >= MOST_PARAMS) continue;
      cli_cell(t, "%s", g->axes[a].params[k]);
      strcat(align, "r");
    }
  for (int i = 0; i < g->n_goals; i++) {
    cli_cell(t, "%s", tf_goal_key((int)g->goals[i]));
    strcat(align, "r");
  }
  strcat(align, "l");
  cli_cell(t, "%s", "");
}

typedef struct {
  double first;
  const tf_sweep_machine *m;
} ranked;

static int by_first(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->m->machine < y->m->machine ? -1 : x->m->machine > y->m->machine;
}

static void print_front(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out) {
  char align[2 + MOST_PARAMS + TF_N_GOALS + 2];
  ranked *front = calloc((size_t)s->n_front + 1, sizeof *front);
  cli_table t = {.align = align};
  int64_t n = 0;
  out->bad |= !front;
  for (int64_t i = 0; front && i < s->n; i++)
    if (s->machines[i].front)
      front[n++] = (ranked){s->machines[i].score[g->goals[0]], &s->machines[i]};
  if (n) qsort(front, (size_t)n, sizeof *front, by_first);
  put_head(g, &t, align);
  for (int64_t i = 0; i < n && i < FRONT_SHOWN; i++)
    put_machine(g, front[i].m, &t);
  cli_table_end(&t, out);
  if (n > FRONT_SHOWN)
    cli_printf(out, "... and %s more (--json has all)\n", cli_count(n - FRONT_SHOWN).s);
  free(front);
}

/* What is not on the front, and what may still join it. */
static void print_rest(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out) {
  bool found = g->method != TF_SWEEP_BOUND;
  cli_printf(out, "\n%s of %s machines are on the front", cli_count(s->n_front).s,
             cli_count(s->n).s);
  if (found && s->n_whole == g->n_passing)
    cli_printf(out, ", %s of these proved", cli_count(s->proved).s);
  if (s->skipped + s->beaten)
    cli_printf(
        out, "; %s can never be%s, as a result beats their bounds%s (%s were not solved for that)",
        cli_count(s->skipped + s->beaten).s, g->within > 0 ? " by more than that" : "",
        g->within > 0 ? " or comes so near to them" : "", cli_count(s->skipped).s);
  if (s->open)
    cli_printf(out, "; %s could be, with a better mapping than was found", cli_count(s->open).s);
  cli_printf(out, ".\n");
  if (s->n_whole < g->n_passing)
    cli_printf(out,
               "the store has all points of %s of %s machines: nothing is proved of the others.\n",
               cli_count(s->n_whole).s, cli_count(g->n_passing).s);
  if (found && s->closed < s->n_front)
    cli_printf(out, "not excluded: a machine of the grid with so much less of it, and no more of "
                    "the other objectives.\n");
}

void cli_sweep_text(const tf_sweep_grid *g, const tf_sweep_summary *s, cli_text *out) {
  print_sweep(g, out);
  print_points(s, out);
  if (s->n_front == 0) {
    cli_printf(out, "no machine has a result for all workloads yet\n");
    return;
  }
  print_front(g, s, out);
  print_rest(g, s, out);
}
