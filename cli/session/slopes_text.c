/* Prints sensitivities as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/session/slopes.h"

const char *cli_knob_what(const cli_knob *k) {
  static const char *const what[] = {
      [KNOB_BANDWIDTH] = "bandwidth", [KNOB_RATE] = "rate",        [KNOB_LATENCY] = "latency",
      [KNOB_PIPELINE] = "pipeline",   [KNOB_LINKS] = "link width", [KNOB_HOPS] = "hop latency"};
  return what[k->kind];
}

const char *cli_knob_name(const cli_session *s, const cli_knob *k) {
  const tf_arch *a = s->spec->arch;
  return k->kind == KNOB_RATE || k->kind == KNOB_PIPELINE ? a->units[k->index].name
                                                          : a->memories[k->index].name;
}

/* "-4.2 %": a change relative to the cycles before. */
cli_figure cli_change(double cycles, double before) {
  cli_figure f;
  double percent = 100 * (cycles / before - 1);
  if (fabs(percent) < 0.005)
    snprintf(f.s, sizeof f.s, "0 %%");
  else
    snprintf(f.s, sizeof f.s, "%+.2g %%", percent);
  return f;
}

void cli_put_busy(const cli_session *s, cli_text *out) {
  int n;
  cli_resource *all = cli_resources(s, &n);
  const double cycles = s->result.cycles;
  out->bad |= !all;
  if (!all) return;
  cli_printf(out, "%s on %s takes %s cycles (%s).  The busiest is %s: %s of them (%s).\n",
             s->spec->workload->name, s->spec->arch->name, cli_real(cycles).s,
             cli_si(s->result.seconds, "s").s, s->result.bottleneck, cli_real(all[0].cycles).s,
             cli_percent(all[0].cycles, cycles).s);
  if (cycles > all[0].cycles)
    cli_printf(out,
               "The other %s cycles (%s) it waits: for loads and stores that nothing hides, or for "
               "steps that something else bounds.\n",
               cli_real(cycles - all[0].cycles).s, cli_percent(cycles - all[0].cycles, cycles).s);
  for (int i = 0; i < n; i++)
    if (all[i].cycles > 0 && !cli_is_bottleneck(s, all[i].name, all[i].unit))
      cli_printf(out, "%s %s busy for %s, %s less than the busiest.\n", all[i].name,
                 all[i].unit ? "compute is" : "is", cli_real(all[i].cycles).s,
                 cli_percent(all[0].cycles - all[i].cycles, all[0].cycles).s);
  free(all);
  if (s->result.skipped)
    cli_printf(
        out, "%s points are skipped, in steps that the mask leaves nothing of; %s are computed.\n",
        cli_count(s->result.skipped).s, cli_count(s->result.points).s);
}

enum { COLUMNS = 96, FAR = 4 }; /* FAR: a larger factor is no useful advice */

/* Prints lines no wider than COLUMNS. */
static void put_together(const cli_session *s, const cli_slopes *p, cli_text *out) {
  size_t start = out->len;
  cli_printf(out,
             "  nothing alone; together, each %.4g times faster, to %s cycles:", p->together_factor,
             cli_real(p->together_cycles).s);
  for (int i = 0; i < p->n_together; i++) {
    const cli_knob *k = &p->knobs[p->together[i]];
    const size_t width =
        out->len - start + strlen(cli_knob_name(s, k)) + strlen(cli_knob_what(k)) + 3;
    cli_printf(out, "%s", i ? "," : "");
    if (width > COLUMNS) {
      cli_printf(out, "\n   ");
      start = out->len - 3;
    }
    cli_printf(out, " %s %s", cli_knob_name(s, k), cli_knob_what(k));
  }
  cli_printf(out, "\n");
  if (p->together_factor > FAR)
    cli_printf(out, "  Another mapping, or more units, would do more.\n");
}

void cli_put_goal(const cli_session *s, const cli_slopes *p, cli_text *out) {
  bool alone = false;
  cli_printf(out, "\nFor 10 %% fewer cycles (%s):\n", cli_real(p->goal).s);
  for (int i = 0; i < p->n; i++) {
    const cli_knob *k = &p->knobs[i];
    if (k->factor <= 0) continue;
    alone = true;
    cli_printf(out, "  %s %s %.4g times %s, to %s cycles\n", cli_knob_name(s, k), cli_knob_what(k),
               k->factor,
               k->kind == KNOB_LATENCY || k->kind == KNOB_PIPELINE || k->kind == KNOB_HOPS
                   ? "shorter"
                   : "higher",
               cli_real(k->reached).s);
  }
  if (!alone && p->n_together) {
    put_together(s, p, out);
  } else if (!alone) {
    cli_printf(out, "  no bandwidth, rate or latency gives it\n");
  }
}

/* The resource to which the cycles are most sensitive need not be the busiest one. */
void cli_put_steepest(const cli_session *s, const cli_slopes *p, cli_text *out) {
  const cli_knob *best = NULL;
  for (int i = 0; i < p->n; i++)
    if (!best || p->knobs[i].tenth < best->tenth) best = &p->knobs[i];
  if (best && best->tenth < p->cycles * (1 - 5e-5))
    cli_printf(out, "The cycles follow %s %s most: 10 %% faster, they change by %s.\n",
               cli_knob_name(s, best), cli_knob_what(best), cli_change(best->tenth, p->cycles).s);
  else
    cli_printf(out, "No bandwidth, rate or latency alone changes the cycles.\n");
}
