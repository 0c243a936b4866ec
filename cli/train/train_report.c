/* Fusions and points of a training step as text and as JSON: keys are stable, in the order of
 * docs/FORMATS.md. */
#include "cli/train/train_report.h"
#include "cli/json.h"

#include <jansson.h>
#include <math.h>

#include "cli/table.h"
#include "tileflow/version.h"

static const char *kind(bool many) { return many ? "Many" : "One"; }

static cli_figure signed_real(double v) {
  cli_figure f = cli_real(fabs(v));
  if (v >= 0) return f;
  cli_figure out = {"-"};
  for (size_t i = 0; i + 2 < sizeof out.s; i++)
    out.s[i + 1] = f.s[i];
  return out;
}

static void put_fusions(const cli_train *t, cli_text *out) {
  cli_table table = {.align = "llrrrrl"};
  static const char *const heads[] = {"fusion",  "kind", "words saved", "points saved", "kernels",
                                      "benefit", ""};
  cli_printf(out,
             "\n"
             "Fusions of two forward ops: what they save forward and backward, and the benefit in "
             "cycles at %.4g words a cycle, the units' peak and %.4g cycles a kernel.\n"
             "\n",
             t->found->rate, t->launch);
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    cli_cell(&table, "%s", heads[i]);
  for (int i = 0; i < t->found->n_fusions; i++) {
    const tf_train_fusion *f = &t->found->fusions[i];
    cli_cell(&table, "%s + %s", f->first, f->second);
    cli_cell(&table, "%s+%s", kind(f->many_first), kind(f->many_second));
    cli_cell(&table, "%s", signed_real(f->words).s);
    cli_cell(&table, "%s", signed_real(f->points).s);
    cli_cell(&table, "%d", f->kernels);
    cli_cell(&table, "%s", signed_real(f->benefit).s);
    cli_cell(&table, "%s", f->chosen ? "taken" : f->benefit < 0 ? "rejected" : "");
  }
  cli_table_end(&table, out);
}

static void put_points(const cli_train *t, cli_text *out) {
  cli_table table = {.align = "rrrrll"};
  const tf_train *x = t->found;
  cli_printf(out,
             "\n"
             "Kept for the backward pass or made again: %d tensors, %s choices estimated%s, the "
             "best of them planned.\n"
             "\n",
             x->n_kept, cli_count(x->weighed).s, x->all ? " (all)" : "");
  static const char *const heads[] = {
      "bytes between groups", "cycles", "words", "energy", "", "made again"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    cli_cell(&table, "%s", heads[i]);
  for (int i = 0; i < x->n_points; i++) {
    const tf_train_point *p = &x->points[i];
    cli_cell(&table, "%s", cli_count(p->bytes).s);
    cli_cell(&table, "%s", cli_real(p->figures.cycles).s);
    cli_cell(&table, "%s", cli_real(p->figures.traffic_words).s);
    cli_cell(&table, "%s", cli_si(p->figures.energy_pj * 1e-12, "J").s);
    cli_cell(&table, "%s", t->chosen == i ? "*" : "");
    cli_cell(&table, "%.900s", p->n_again ? p->again : "nothing");
  }
  cli_table_end(&table, out);
}

void cli_train_text(const cli_train *t, cli_text *out) {
  const tf_train *x = t->found;
  cli_printf(out, "%s on %s, a step of %s: %d ops forward, %d backward, %d of updates\n",
             t->spec->workload->name, t->spec->arch->name, t->step, x->n_forward, x->n_backward,
             x->n_update);
  put_fusions(t, out);
  put_points(t, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */
static json_t *fusions_of(const tf_train *x) {
  json_t *all = json_array();
  for (int i = 0; i < x->n_fusions; i++) {
    const tf_train_fusion *f = &x->fusions[i];
    json_array_append_new(
        all, json_pack("{s:[s,s], s:s, s:[s,s], s:o, s:o, s:i, s:o, s:b}", "ops", f->first,
                       f->second, "through", f->through, "inputs", kind(f->many_first),
                       kind(f->many_second), "words_saved", cli_json_real(f->words), "points_saved",
                       cli_json_real(f->points), "kernels_saved", f->kernels, "benefit_cycles",
                       cli_json_real(f->benefit), "taken", f->chosen));
  }
  return all;
}

static json_t *points_of(const cli_train *t) {
  json_t *all = json_array();
  for (int i = 0; i < t->found->n_points; i++) {
    const tf_train_point *p = &t->found->points[i];
    json_array_append_new(
        all, json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:b}", "again", p->again, "bytes",
                       (json_int_t)p->bytes, "cycles", cli_json_real(p->figures.cycles), "seconds",
                       cli_json_real(p->figures.cycles / t->spec->arch->clock_hz), "energy_pj",
                       cli_json_real(p->figures.energy_pj), "traffic_words",
                       cli_json_real(p->figures.traffic_words), "taken", t->chosen == i));
  }
  return all;
}

void cli_train_json(const cli_train *t, cli_text *out) {
  const tf_train *x = t->found;
  json_t *root = json_pack(
      "{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:i, s:I, s:b, s:o}", "tileflow",
      TILEFLOW_VERSION, "architecture", t->spec->arch->name, "workload", t->spec->workload->name,
      "step", t->step, "forward_ops", x->n_forward, "backward_ops", x->n_backward, "update_ops",
      x->n_update, "words_per_cycle", cli_json_real(x->rate), "launch_cycles",
      cli_json_real(t->launch), "fusions", fusions_of(x), "kept", x->n_kept, "estimated",
      (json_int_t)x->weighed, "all", x->all, "front", points_of(t));
  cli_put_json(root, JSON_INDENT(2), out);
}
