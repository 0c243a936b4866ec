/* A plan for people: a row for each distinct group, totals beside their lower bounds, memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/plan_report.h"
#include "cli/table.h"

enum { OPS_SHOWN = 60 };

static int runs_of(const tf_net_plan *p, int i) {
  int n = 0;
  for (int k = 0; k < p->n; k++)
    n += p->groups[k].like == i;
  return n;
}

/* The mean of the group's runs, of which later ones may find more in the cache. */
static double expected_of(const tf_net_plan *p, int i) {
  double sum = 0;
  for (int k = 0; k < p->n; k++)
    if (p->groups[k].like == i) sum += p->groups[k].expected_cycles;
  return sum / runs_of(p, i);
}

static bool is_unsure(const tf_net_plan *p) {
  bool any = false;
  for (int i = 0; i < p->n; i++)
    any |= p->groups[i].expected.unsure != NULL;
  return any;
}

static void put_title(const cli_plan *p, cli_text *out) {
  const tf_net_plan *q = p->plan;
  const char *objective = tf_objective_key((int)q->objective);
  cli_printf(out, "%s on %s, plan %s for %s: %d ops in %d groups, %d of them different\n",
             p->spec->workload->name, p->spec->arch->name, p->given ? "given" : "found", objective,
             p->spec->workload->n_ops, q->n, q->n_distinct);
  if (p->given) return;
  cli_printf(out, "%s groups met, %s mapped, %s mappings evaluated; ", cli_count(q->candidates).s,
             cli_count(q->evaluated).s, cli_count(q->evals).s);
  if (q->exact)
    cli_printf(out, "by their costs no other cut is better");
  else
    cli_printf(out, "cuts that run at most %d ops ahead of the first one left", q->window);
  cli_printf(out, "%s\n", q->stopped_by == TF_STOP_TIME ? "; stopped by time" : "");
  if (p->tuned)
    cli_printf(out, "%d of the different groups have the mapping that was measured\n", q->n_known);
}

/* The first op's name, and as many others as fit. */
static void put_ops(const tf_workload *wl, cli_text *out) {
  size_t room = OPS_SHOWN;
  for (int o = 0; o < wl->n_ops; o++) {
    const size_t n = strlen(wl->ops[o].name) + 1;
    if (o && n > room) {
      cli_printf(out, " + %d", wl->n_ops - o);
      return;
    }
    cli_printf(out, "%s%s", o ? " " : "", wl->ops[o].name);
    room = n > room ? 0 : room - n;
  }
}

static void put_group(const cli_plan *p, int i, cli_table *t) {
  const tf_net_group *g = &p->plan->groups[i];
  const int runs = runs_of(p->plan, i);
  cli_text ops = {0};
  cli_cell(t, "%d", i + 1);
  cli_cell(t, "%d", runs);
  cli_cell(t, "%s", cli_real(g->figures.cycles).s);
  cli_cell(t, "%s", cli_times(g->figures.cycles, g->bounds.cycles).s);
  cli_cell(t, "%s", cli_percent(runs * g->figures.cycles, p->plan->total.cycles).s);
  if (p->plan->expected_cycles > 0)
    cli_cell(t, "%s%s", g->expected.unsure ? "? " : "",
             cli_si(expected_of(p->plan, i) / p->spec->arch->clock_hz, "s").s);
  cli_cell(t, "%s", cli_real(g->figures.traffic_words).s);
  cli_cell(t, "%s", cli_times(g->figures.traffic_words, (double)g->bounds.traffic_words).s);
  cli_cell(t, "%s", cli_si(g->figures.energy_pj * 1e-12, "J").s);
  cli_cell(t, "%s", g->bottleneck);
  put_ops(g->group->workload, &ops);
  cli_cell(t, "%s", cli_part(&ops, &t->cells));
  cli_text_free(&ops);
}

static void put_groups(const cli_plan *p, cli_text *out) {
  static const char *const heads[] = {"group", "runs",  "cycles", "bound",      "share", "expected",
                                      "words", "bound", "energy", "bottleneck", "ops"};
  const bool expected = p->plan->expected_cycles > 0;
  cli_table t = {.align = expected ? "rrrrrrrrrll" : "rrrrrrrrll"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (expected || strcmp(heads[i], "expected") != 0) cli_cell(&t, "%s", heads[i]);
  for (int i = 0; i < p->plan->n; i++)
    if (p->plan->groups[i].like == i) put_group(p, i, &t);
  cli_table_end(&t, out);
}

static void put_total(cli_table *t, const char *what, const char *value, double v, double parts,
                      double bound) {
  cli_cell(t, "%s", what);
  cli_cell(t, "%s", value);
  cli_cell(t, "%s the groups' bounds", cli_times(v, parts).s);
  cli_cell(t, "%s the network's", cli_times(v, bound).s);
}

static void put_totals(const cli_plan *p, cli_text *out) {
  const tf_net_plan *q = p->plan;
  const double seconds = q->total.cycles / p->spec->arch->clock_hz;
  cli_table t = {.align = "llll"};
  put_total(&t, "cycles", cli_real(q->total.cycles).s, q->total.cycles, q->parts.cycles,
            q->bounds.cycles);
  put_total(&t, "energy", cli_si(q->total.energy_pj * 1e-12, "J").s, q->total.energy_pj,
            q->parts.energy_pj, q->bounds.energy_pj);
  put_total(&t, "words", cli_real(q->total.traffic_words).s, q->total.traffic_words,
            (double)q->parts.traffic_words, (double)q->bounds.traffic_words);
  cli_table_end(&t, out);
  cli_printf(out, "\n%s at %.4g GHz.  Words are those of %s, read and written.\n",
             cli_si(seconds, "s").s, p->spec->arch->clock_hz * 1e-9,
             p->spec->arch->memories[0].name);
  if (*q->target && q->kernel_cycles > 0)
    cli_printf(
        out,
        "As kernels of %s: %s, memories and starts included; what stands above is the model's.\n",
        q->target, cli_si(q->kernel_cycles / p->spec->arch->clock_hz, "s").s);
  if (q->expected_cycles > 0)
    cli_printf(out, "Expected of these kernels, by what they do and the bytes they move: %s.\n",
               cli_si(q->expected_cycles / p->spec->arch->clock_hz, "s").s);
  if (is_unsure(q))
    cli_printf(out, "?: with an op of a kind (scan, transposed, turned) of which few kernels take "
                    "what is expected.\n");
  cli_printf(out, "Between groups: an arena of %s bytes", cli_count(p->memory->bytes).s);
  if (p->memory->least)
    cli_printf(out, ", %s the largest live set",
               cli_times((double)p->memory->bytes, (double)p->memory->least).s);
  cli_printf(out, ".\n");
}

/* ---- what is computed more than once -------------------------------------------------------- */
static bool makes(const tf_net_plan *p, int i, int op) {
  for (int o = 0; o < p->groups[i].group->workload->n_ops; o++)
    if (p->groups[i].group->op[o] == op) return true;
  return false;
}

int cli_plan_makers(const tf_net_plan *p, int op) {
  int n = 0;
  for (int i = 0; i < p->n; i++)
    n += makes(p, i, op);
  return n;
}

static void put_several(const cli_plan *p, cli_text *out) {
  const tf_net_plan *q = p->plan;
  const tf_workload *wl = p->spec->workload;
  for (int o = 0; o < wl->n_ops; o++) {
    int said = 0;
    if (cli_plan_makers(q, o) < 2) continue;
    cli_printf(out, "Op %s is computed more than once, by groups", wl->ops[o].name);
    for (int i = 0; i < q->n; i++)
      if (makes(q, i, o)) cli_printf(out, "%s %d", said++ ? "," : "", i + 1);
    cli_printf(out, ".\n");
  }
}

/* Windows that overlap within a group: the first AGAIN_SHOWN groups. */
static void put_overlaps(const cli_plan *p, cli_text *out) {
  enum { AGAIN_SHOWN = 10 };
  const tf_net_plan *q = p->plan;
  int n = 0;
  for (int i = 0; i < q->n; i++) {
    const tf_net_group *g = &q->groups[i];
    if (g->like != i || g->recomputed <= 0 || n++ >= AGAIN_SHOWN) continue;
    cli_printf(out, "%s %d (%s", n > 1 ? "," : "Computed again, as windows overlap: of group",
               i + 1, cli_percent(g->recomputed, g->points).s);
    cli_printf(out, n > 1 ? ")" : " of its points)");
  }
  if (n > AGAIN_SHOWN) cli_printf(out, " and %d more", n - AGAIN_SHOWN);
  if (n) cli_printf(out, ".\n");
}

/* ---- what fusing gains ---------------------------------------------------------------------- */
enum { BENEFITS_SHOWN = 12 };

static cli_figure value_of(const cli_plan *p, double v) {
  if (isinf(v)) return (cli_figure){"-"};
  return p->plan->objective == TF_ENERGY ? cli_si(v * 1e-12, "J") : cli_real(v);
}

/* Whether they are of groups like those of one before, with the same that passes. */
static bool same_benefit(const tf_net_plan *p, const tf_net_benefit *a, const tf_net_benefit *b) {
  return p->groups[a->first].like == p->groups[b->first].like &&
         p->groups[a->second].like == p->groups[b->second].like &&
         (a->first == a->second) == (b->first == b->second) && a->words == b->words &&
         a->fused == b->fused && strcmp(a->why, b->why) == 0;
}

static void put_benefit(const cli_plan *p, const tf_net_benefit *b, int runs, cli_table *t) {
  const double gain = b->apart - b->fused;
  if (b->first == b->second)
    cli_cell(t, "in %d", b->first + 1);
  else
    cli_cell(t, "%d + %d", b->first + 1, b->second + 1);
  cli_cell(t, "%d", runs);
  cli_cell(t, "%s", cli_real(b->words).s);
  cli_cell(t, "%s", cli_real(b->cycles).s);
  cli_cell(t, "%s%s", b->apart_at_least ? ">= " : "", value_of(p, b->apart).s);
  cli_cell(t, "%s%s", b->at_least && isfinite(b->fused) ? ">= " : "", value_of(p, b->fused).s);
  if (b->slices)
    cli_cell(t, "%s", cli_count(b->slices).s);
  else
    cli_cell(t, "-");
  cli_cell(t, "%s%s%s",
           !isfinite(gain)     ? ""
           : b->at_least       ? "<= "
           : b->apart_at_least ? ">= "
                               : "",
           isfinite(gain) && gain < 0 ? "-" : "", value_of(p, fabs(gain)).s);
  cli_cell(t, "%s", b->why);
}

/* How many are like i, itself included; 0: one before is. */
static int runs_of_benefit(const tf_net_plan *p, int i) {
  int runs = 1;
  for (int k = 0; k < p->n_benefits; k++) {
    if (k == i || !same_benefit(p, &p->benefits[i], &p->benefits[k])) continue;
    if (k < i) return 0;
    runs++;
  }
  return runs;
}

/* What all runs of row i gain, or may gain at most; below all others, what cannot be one group. */
static double weight_of(const tf_net_plan *p, int i, int runs) {
  const double gain = p->benefits[i].apart - p->benefits[i].fused;
  return isfinite(gain) ? runs * gain : -INFINITY;
}

/* Clears the runs of the rows that gain least, until no more than `most` have any; returns how many
 * it left out. */
static int leave_out(const tf_net_plan *p, int *runs, int most) {
  int rows = 0, out = 0;
  for (int i = 0; i < p->n_benefits; i++)
    rows += runs[i] > 0;
  for (; rows - out > most; out++) {
    int least = -1;
    for (int i = 0; i < p->n_benefits; i++)
      if (runs[i] && (least < 0 || weight_of(p, i, runs[i]) <= weight_of(p, least, runs[least])))
        least = i;
    runs[least] = 0;
  }
  return out;
}

static void put_benefits(const cli_plan *p, cli_text *out) {
  static const char *const heads[] = {"fused",  "runs",   "words",   "cycles", "apart",
                                      "in one", "slices", "benefit", ""};
  const tf_net_plan *q = p->plan;
  cli_table t = {.align = "lrrrrrrrl"};
  int *runs = q->n_benefits ? calloc((size_t)q->n_benefits, sizeof *runs) : NULL;
  if (!runs) return;
  for (int i = 0; i < q->n_benefits; i++)
    runs[i] = runs_of_benefit(q, i);
  const int left = leave_out(q, runs, BENEFITS_SHOWN);
  cli_printf(out, "\nWhat fusing gains (benefit: %s apart less those in one group%s):\n\n",
             q->objective == TF_ENERGY    ? "joules"
             : q->objective == TF_TRAFFIC ? "words"
                                          : "cycles",
             left ? "; the rows that gain most" : "");
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    cli_cell(&t, "%s", heads[i]);
  for (int i = 0; i < q->n_benefits; i++)
    if (runs[i]) put_benefit(p, &q->benefits[i], runs[i], &t);
  cli_table_end(&t, out);
  if (left) cli_printf(out, "and %d more (--json)\n", left);
  free(runs);
}

void cli_plan_text(const cli_plan *p, cli_text *out) {
  put_title(p, out);
  cli_printf(out, "\n");
  put_groups(p, out);
  cli_printf(out, "\n");
  put_totals(p, out);
  put_several(p, out);
  put_overlaps(p, out);
  put_benefits(p, out);
}
