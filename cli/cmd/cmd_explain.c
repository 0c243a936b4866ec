/* tileflow explain: what bounds a mapping and what would have to change, in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cmd/commands.h"
#include "cli/json.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/ladder.h"
#include "cli/session/session.h"
#include "cli/session/slopes.h"
#include "tileflow/version.h"

typedef struct {
  cli_input in;
  const char *json;
  cli_looking look;
  bool ladder, measure;
} explain_options;
static const cli_slot slots[] = {
    CLI_AT(explain_options, JSON, json), CLI_LOOKING_AT(explain_options, look),
    CLI_AT(explain_options, LADDER, ladder), CLI_AT(explain_options, MEASURE_ALL, measure)};

/* ---- text --------------------------------------------------------------------------------- */
static void print_parts(const tf_memory *m, const tf_level_result *r, cli_text *out) {
  for (int i = 0; i < m->parts.n; i++) {
    const int64_t have = m->parts.list[i].capacity_words, peak = r->parts[i].peak;
    cli_printf(out, "  its part %s holds %s of %s words (%s)%s.\n", m->parts.list[i].name,
               cli_count(peak).s, cli_count(have).s, cli_percent((double)peak, (double)have).s,
               peak > have ? ": the mapping does not fit" : "");
  }
}

/* Prints resources with spare instances: changing their number does not change the cycles, as the
 * mapping's loops determine how many it uses. */
static void print_room(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  cli_printf(out, "\n");
  for (int l = 0; l < a->n_memories; l++) {
    const int64_t have = a->memories[l].capacity_words,
                  peak = s->result.kept ? s->result.kept->held[l] : s->result.levels[l].peak;
    if (have > 0 && peak > have)
      cli_printf(out, "%s needs %s words and holds %s (%s): the mapping does not fit.\n",
                 a->memories[l].name, cli_count(peak).s, cli_count(have).s,
                 cli_percent((double)peak, (double)have).s);
    else if (have > 0)
      cli_printf(out,
                 "%s holds %s of %s words (%s): more of it changes nothing for this mapping, less "
                 "than %s does not fit.\n",
                 a->memories[l].name, cli_count(peak).s, cli_count(have).s,
                 cli_percent((double)peak, (double)have).s, cli_count(peak).s);
    print_parts(&a->memories[l], &s->result.levels[l], out);
  }
  for (int u = 0; u < a->n_units; u++)
    if (s->result.units[u].points > 0)
      cli_printf(
          out, "Of %s %s units it uses %s: its loops say how many, more of them change nothing.\n",
          cli_real(tf_bounds_units(a, u)).s, a->units[u].name,
          cli_count(s->result.units[u].units).s);
}

/* What the workload promises of its numbers: no figure hangs on it, but kernels of bytes rely on
 * it. */
/* What is left of the words that inner memories fetch. */
static void print_left(const cli_session *s, cli_text *out) {
  const int n = s->spec->workload->n_tensors;
  const char *begin = "\n";
  for (int at = n; s->result.kept && at < s->spec->arch->n_memories * n; at++) {
    const double words = (double)s->result.counts[at].fill, left = s->result.kept->counts[at].fill;
    if (left >= words * (1 - 1e-9)) continue;
    cli_printf(out, "%sZeros leave %s of the %s words of %s that %s fetches (%s).\n", begin,
               cli_real(left).s, cli_real(words).s, s->spec->workload->tensors[at % n].name,
               s->spec->arch->memories[at / n].name, cli_percent(left, words).s);
    begin = "";
  }
}

static void print_ranges(const cli_session *s, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].ranged)
      cli_printf(out,
                 "Tensor %s is promised to stay within %lld .. %lld (range): no figure here hangs "
                 "on it, kernels of bytes rely on it.\n",
                 wl->tensors[z].name, (long long)wl->tensors[z].least,
                 (long long)wl->tensors[z].most);
}

/* Energies of the tables, as far as published sources differ: the whole, and the components that
 * make the difference.
 */
static void print_energy(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  tf_margin whole, part;
  if (!tf_energy_range(s->model, &whole)) return;
  cli_printf(out, "\nEnergy is %s; as published sources differ, %s:\n",
             cli_si(s->result.energy_pj * 1e-12, "J").s, cli_energy_range(s).s);
  for (int l = 0; l < a->n_memories; l++)
    if (tf_level_energy_range(s->model, l, &part) && part.low < part.high)
      cli_printf(out, "  %s %s, %s to %s\n", a->memories[l].name,
                 cli_si(s->result.levels[l].energy_pj * 1e-12, "J").s,
                 cli_si(part.low * 1e-12, "J").s, cli_si(part.high * 1e-12, "J").s);
  for (int u = 0; u < a->n_units; u++)
    if (tf_unit_energy_range(s->model, u, &part) && part.low < part.high)
      cli_printf(out, "  %s %s, %s to %s\n", a->units[u].name,
                 cli_si(s->result.units[u].energy_pj * 1e-12, "J").s,
                 cli_si(part.low * 1e-12, "J").s, cli_si(part.high * 1e-12, "J").s);
}

static void print_slopes(const cli_session *s, const cli_slopes *p, cli_text *out) {
  cli_printf(out, "\nEach 10 %% faster, and taking no time at all, changes the cycles by:\n");
  for (int i = 0; i < p->n; i++) {
    const cli_knob *k = &p->knobs[i];
    cli_printf(out, "  %s %s %s, %s\n", cli_knob_name(s, k), cli_knob_what(k),
               cli_change(k->tenth, p->cycles).s, cli_change(k->without, p->cycles).s);
  }
  if (p->n_params) cli_printf(out, "\nParams of the machine, one step up each, change them by:\n");
  for (int i = 0; i < p->n_params; i++) {
    const cli_param_slope *q = &p->params[i];
    cli_printf(out, "  %s %.6g to %.6g: ", q->name, q->value, q->next);
    if (isnan(q->cycles))
      cli_printf(out, "not valid\n");
    else
      cli_printf(out, "%s%s\n", cli_change(q->cycles, p->cycles).s,
                 q->fits ? "" : ", and it does not fit");
  }
}

static void explain_text(const cli_session *s, const cli_slopes *p, cli_text *out) {
  if (!s->result.feasible)
    cli_printf(out, "INFEASIBLE, it does not fit; what follows is as if it did:\n");
  cli_put_busy(s, out);
  cli_put_steepest(s, p, out);
  print_room(s, out);
  print_ranges(s, out);
  print_left(s, out);
  cli_put_goal(s, p, out);
  print_slopes(s, p, out);
  print_energy(s, out);
  cli_report_why(s, out);
}

/* ---- JSON --------------------------------------------------------------------------------- */
static json_t *knobs_json(const cli_session *s, const cli_slopes *p) {
  json_t *out = json_array();
  for (int i = 0; i < p->n; i++) {
    const cli_knob *k = &p->knobs[i];
    json_array_append_new(
        out, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", cli_knob_name(s, k), "what",
                       cli_knob_what(k), "cycles_10_percent_faster", cli_json_real(k->tenth),
                       "cycles_without", cli_json_real(k->without), "factor_for_goal",
                       k->factor > 0 ? cli_json_real(k->factor) : json_null(), "cycles_at_factor",
                       k->factor > 0 ? cli_json_real(k->reached) : json_null()));
  }
  return out;
}

static json_t *params_json(const cli_slopes *p) {
  json_t *out = json_array();
  for (int i = 0; i < p->n_params; i++) {
    const cli_param_slope *q = &p->params[i];
    const double slope =
        q->value != 0 ? (q->cycles / p->cycles - 1) / (q->next / q->value - 1) : NAN;
    json_array_append_new(out, json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", q->name, "value",
                                         cli_json_real(q->value), "next", cli_json_real(q->next),
                                         "cycles", cli_json_real(q->cycles), "fits", (int)q->fits,
                                         "relative_slope", cli_json_real(slope)));
  }
  return out;
}

static json_t *busy_json(const cli_session *s) {
  json_t *out = json_array();
  int n;
  cli_resource *all = cli_resources(s, &n);
  for (int i = 0; all && i < n; i++)
    json_array_append_new(out, json_pack("{s:s, s:b, s:o, s:o}", "name", all[i].name, "unit",
                                         (int)all[i].unit, "cycles", cli_json_real(all[i].cycles),
                                         "slack", cli_json_real(s->result.cycles - all[i].cycles)));
  free(all);
  return out;
}

static json_t *together_json(const cli_session *s, const cli_slopes *p) {
  json_t *of = json_array();
  for (int i = 0; i < p->n_together; i++) {
    const cli_knob *k = &p->knobs[p->together[i]];
    json_array_append_new(
        of, json_pack("{s:s, s:s}", "name", cli_knob_name(s, k), "what", cli_knob_what(k)));
  }
  return json_pack("{s:o, s:o, s:o}", "of", of, "factor", cli_json_real(p->together_factor),
                   "cycles", cli_json_real(p->together_cycles));
}

static json_t *ranges_json(const tf_workload *wl) {
  json_t *out = json_object();
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].ranged)
      json_object_set_new(
          out, wl->tensors[z].name,
          json_pack("[I, I]", (json_int_t)wl->tensors[z].least, (json_int_t)wl->tensors[z].most));
  return out;
}

static void explain_json(const cli_session *s, const cli_slopes *p, cli_text *out) {
  json_t *why = json_array();
  for (int i = 0; i < s->why.n; i++) {
    const tf_why_row *r = &s->why.rows[i];
    cli_text text = {0};
    cli_cause(s, r, &text);
    if (r->cause != TF_WHY_FIRST && r->level >= 0)
      json_array_append_new(why, json_pack("{s:s, s:s, s:s, s:I}", "tensor",
                                           s->spec->workload->tensors[r->tensor].name, "from",
                                           s->spec->arch->memories[r->above].name, "because",
                                           text.text, "words", (json_int_t)cli_cause_words(r)));
    cli_text_free(&text);
  }
  json_t *o = json_pack(
      "{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "tileflow", TILEFLOW_VERSION,
      "architecture", s->spec->arch->name, "workload", s->spec->workload->name, "cycles",
      cli_json_real(p->cycles), "goal", cli_json_real(p->goal), "bottleneck", s->result.bottleneck,
      "busy", busy_json(s), "knobs", knobs_json(s, p), "params", params_json(p), "why", why);
  if (o && tf_workload_masked(s->spec->workload))
    json_object_set_new(o, "skipped", json_integer(s->result.skipped));
  tf_margin range;
  if (o && tf_energy_range(s->model, &range))
    json_object_set_new(o, "energy_range_pj",
                        json_pack("[o, o]", cli_json_real(range.low), cli_json_real(range.high)));
  if (o && p->n_together) json_object_set_new(o, "together", together_json(s, p));
  json_t *ranges = ranges_json(s->spec->workload);
  if (o && json_object_size(ranges)) json_object_set(o, "ranges", ranges);
  json_decref(ranges);
  cli_put_json(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

static bool write_one(const cli_session *s, const cli_slopes *p, const char *path,
                      void (*how)(const cli_session *, const cli_slopes *, cli_text *)) {
  cli_text t = {0};
  how(s, p, &t);
  return cli_put_text(path, &t);
}

static cli_status run_explain(const void *options) {
  const explain_options *o = options;
  if (o->ladder) return cli_ladder(&o->in, &o->look, o->json, o->measure);
  cli_session s;
  cli_slopes p = {0};
  cli_status status = cli_evaluate(&s, &o->in, &o->look);
  if (status == CLI_DONE) {
    bool ok = cli_slopes_of(&s, &p);
    if (!ok) cli_complain(NULL);
    if (ok && o->json) ok = write_one(&s, &p, o->json, explain_json);
    if (ok && !o->in.quiet && !o->in.stdout_taken) ok = write_one(&s, &p, "-", explain_text);
    fflush(stdout); /* before anything goes to stderr */
    status = cli_report_violations(&s, ok ? CLI_DONE : CLI_FAILED);
  }
  cli_slopes_free(&p);
  cli_close(&s);
  return status;
}

static void check_explain(void *options, tf_diags *d) {
  const explain_options *o = options;
  if (o->measure && !o->ladder)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--measure times the kernels of a --ladder");
}

const cli_command cmd_explain = {
    .name = "explain",
    .summary = "in words: what bounds a mapping, and what 10 % less would take",
    .about =
        "Evaluates the mapping, then the same mapping on machines that differ in one thing: each "
        "bandwidth, rate and latency 10 % faster, taking no time, and as much faster as 10 % fewer "
        "cycles need; each param of the files one step (a tenth, at least 1 of a whole number) up, "
        "as the architecture sees it.  Says what of it is busy how long, what is left, and which "
        "tensors pass more than once and why.  With --ladder: no mapping, but schedules from plain "
        "loops to the one that emit would choose, which emit --schedule takes.\n"
        "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
               "    workloads/dataflows/edge/attention-layerwise.yaml",
    .size = sizeof(explain_options),
    CLI_SLOTS(slots),
    .check = check_explain,
    .run = run_explain,
};
