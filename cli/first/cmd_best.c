/* tileflow best: the best mapping that can be found, what is proved of it, what limits it, and what
 * to do next. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/page/page.h"
#include "cli/report/report.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/session/slopes.h"
#include "cli/table.h"
#include "tileflow/best.h"
#include "tileflow/export.h"

typedef struct {
  cli_input in;
  const char *json;
  cli_looking look;
  const char *out;
  cli_page page; /* its `force` is that of `out`, too */
} best_options;
static const char evals_help[] = "mappings that may be evaluated, half of them by the solver; "
                                 "without a limit: 100000, fewer for more than three ops";
static const cli_slot slots[] = {CLI_AT(best_options, JSON, json),
                                 CLI_AT(best_options, OBJECTIVE, look.objective),
                                 CLI_AT(best_options, SEED, look.seed),
                                 CLI_AT(best_options, THREADS, look.threads),
                                 CLI_AT(best_options, TIME_LIMIT, look.time_limit),
                                 CLI_AT_SAYS(best_options, EVALS, look.evals, evals_help),
                                 CLI_AT(best_options, EXPORTABLE, look.exportable),
                                 CLI_AT(best_options, WRITE, out),
                                 CLI_PAGE_AT(best_options, page)};

/* ---- what was found -------------------------------------------------------------------------- */
/* A value of the objective, with what it is a value of. */
static cli_figure value_of(const cli_session *s, double v) {
  const char *key = s->found.objective;
  cli_figure f;
  if (!strcmp(key, "energy")) return cli_si(v * 1e-12, "J");
  if (!strcmp(key, "edp")) return cli_si(v * 1e-12, "J s");
  snprintf(f.s, sizeof f.s, "%.20s %s", cli_real(v).s,
           !strcmp(key, "latency") ? "cycles" : "words");
  return f;
}

static const char *verb(const cli_session *s) {
  return !strcmp(s->found.objective, "latency")   ? "takes"
         : !strcmp(s->found.objective, "traffic") ? "moves"
                                                  : "costs";
}

/* How much less than another value, as a share of that. */
static cli_figure less(double value, double than) { return cli_percent(than - value, than); }

static void put_proof(const cli_session *s, cli_text *out) {
  const cli_found *f = &s->found;
  const char *trips = cli_space_of(f), *lie = f->laid ? ", however tensors lie," : "";
  if (f->proved) {
    cli_printf(out, "Proved: no mapping at all%s is better.\n", lie);
    return;
  }
  cli_printf(out,
             "No mapping at all%s %s less than %s: the gap is %s, and what lies in it is not "
             "known.\n",
             lie, verb(s), value_of(s, f->bound).s, cli_percent(f->value - f->bound, f->bound).s);
  if (f->space && f->space_proved)
    cli_printf(
        out,
        "Proved in the solver's space (%s) alone: no mapping of it is better, others may be.\n",
        trips);
  else if (f->space && f->space_bound >= f->value)
    cli_printf(out, "It lies outside of the solver's space (%s), which has none below %s.\n", trips,
               value_of(s, f->space_bound).s);
  else if (f->space && f->space_bound > f->bound)
    cli_printf(out, "Not proved in any space; the solver's (%s) has none below %s.\n", trips,
               value_of(s, f->space_bound).s);
  else
    cli_printf(out, "Not proved in any space%s.\n",
               f->laid ? ": the solver knows no lines, and layouts were searched with mappings"
                       : "");
}

/* What layouts bring to the mapping that they begin with. */
static void put_laid(const cli_session *s, cli_text *out) {
  const cli_found *f = &s->found;
  if (!f->laid) return;
  if (f->value < f->before_layouts)
    cli_printf(out, "The best with tensors as they lay before %s %s.\n", verb(s),
               value_of(s, f->before_layouts).s);
  else
    cli_printf(out, "No other layout that was tried is better.\n");
}

static void put_given(const cli_session *s, cli_text *out) {
  const cli_found *f = &s->found;
  if (!f->compared) return;
  if (!f->given_fits)
    cli_printf(out, "The mapping given does not fit the machine.\n");
  else if (!strcmp(s->origin, "given"))
    cli_printf(out, "It is the mapping given%s: nothing better was found.\n",
               f->value < f->given ? ", with its tensors laid out anew" : "");
  else if (f->given <= f->value)
    cli_printf(out, "The mapping given %s no more, and more energy times delay.\n", verb(s));
  else
    cli_printf(out, "The mapping given %s %s: the one found %s %s less.\n", verb(s),
               value_of(s, f->given).s, verb(s), less(f->value, f->given).s);
}

static void put_found(const cli_session *s, cli_text *out) {
  const cli_found *f = &s->found;
  cli_printf(out, "%s on %s, for %s\n", s->spec->workload->name, s->spec->arch->name, f->objective);
  cli_printf(out, "The best of %s mappings tried %s %s", cli_count(f->evaluations).s, verb(s),
             value_of(s, f->value).s);
  if (strcmp(s->origin, "given") != 0) cli_printf(out, ", found by %s", f->method);
  cli_printf(out, " (stopped by %s).\n", f->stopped_by);
  put_proof(s, out);
  put_laid(s, out);
  put_given(s, out);
  const char *masked = cli_masked_line(s->spec->workload);
  if (masked) cli_printf(out, "%s\n", masked);
  const char *zeros = cli_zeros_line(s->spec);
  if (zeros) cli_printf(out, "%s\n", zeros);
}

/* The bound of a figure; of the objective the one that the solver proved, where that is the higher.
 */
static double bound_of(const cli_session *s, tf_objective o) {
  const double all = tf_bounds_value(o, &s->bounds, s->spec->arch);
  return strcmp(s->found.objective, tf_objective_key((int)o)) != 0 ? all
                                                                   : fmax(all, s->found.bound);
}

static void put_figures(const cli_session *s, cli_text *out) {
  const tf_result *r = &s->result;
  const double traffic = cli_outer_traffic(s), cycles = bound_of(s, TF_LATENCY),
               pj = bound_of(s, TF_ENERGY), words = bound_of(s, TF_TRAFFIC);
  cli_table t = {.align = "lrrrl"};
  cli_cell(&t, " ");
  cli_cell(&t, "found");
  cli_cell(&t, "bound");
  cli_skip(&t, 2);
  cli_cell(&t, "cycles");
  cli_cell(&t, "%s", cli_real(r->cycles).s);
  cli_cell(&t, "%s", cli_real(cycles).s);
  cli_cell(&t, "%s", cli_times(r->cycles, cycles).s);
  cli_cell(&t, "%s at %.4g GHz; units in use at %s of their peak", cli_si(r->seconds, "s").s,
           s->spec->arch->clock_hz * 1e-9, cli_percent(r->compute_utilization, 1).s);
  cli_cell(&t, "energy");
  cli_cell(&t, "%s", cli_si(r->energy_pj * 1e-12, "J").s);
  cli_cell(&t, "%s", cli_si(pj * 1e-12, "J").s);
  cli_cell(&t, "%s", cli_times(r->energy_pj, pj).s);
  const cli_span range = cli_energy_range(s);
  cli_cell(&t, "%s%s", *range.s ? "as sources differ " : "", range.s);
  cli_cell(&t, "%s words", s->spec->arch->memories[0].name);
  cli_cell(&t, "%s", cli_real(traffic).s);
  cli_cell(&t, "%s", cli_real(words).s);
  cli_cell(&t, "%s", cli_times(traffic, words).s);
  cli_skip(&t, 1);
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

/* ---- what limits it ------------------------------------------------------------------------- */
/* Parts of the energy, the largest first, with what each would have to cost for a tenth less of the
 * whole. */
typedef struct {
  const char *name, *each;
  double pj;
} part;

static int larger_first(const void *pa, const void *pb) {
  const part *a = pa, *b = pb;
  if (a->pj != b->pj) return a->pj < b->pj ? 1 : -1;
  return strcmp(a->name, b->name);
}

static void put_energy(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  const double all = s->result.energy_pj;
  int n = 0;
  part *parts = calloc((size_t)(a->n_memories + a->n_units + 1), sizeof *parts);
  out->bad |= !parts;
  if (!parts) return;
  for (int l = 0; l < a->n_memories; l++)
    parts[n++] = (part){a->memories[l].name, "a word", s->result.levels[l].energy_pj};
  for (int u = 0; u < a->n_units; u++)
    parts[n++] = (part){a->units[u].name, "a point", s->result.units[u].energy_pj};
  parts[n++] = (part){"leakage", "a cycle", s->result.leakage_pj};
  qsort(parts, (size_t)n, sizeof *parts, larger_first);
  cli_printf(out, "Of the energy");
  for (int i = 0; i < n && parts[i].pj > 0; i++)
    cli_printf(out, "%s %s takes %s", i ? "," : "", parts[i].name, cli_percent(parts[i].pj, all).s);
  cli_printf(out, ".\nFor 10 %% less energy:\n");
  for (int i = 0; i < n && parts[i].pj > 0.1 * all; i++)
    cli_printf(out, "  %s costs %s less %s\n", parts[i].name, cli_percent(0.1 * all, parts[i].pj).s,
               parts[i].each);
  if (parts[0].pj <= 0.1 * all) cli_printf(out, "  nothing alone\n");
  free(parts);
}

static bool put_cycles(const cli_session *s, cli_text *out) {
  cli_slopes p = {0};
  const bool ok = cli_slopes_of(s, &p);
  if (ok) {
    cli_report_bottleneck(s, out);
    cli_put_goal(s, &p, out);
  }
  cli_slopes_free(&p);
  return ok;
}

/* By the objective: what the cycles wait for, what takes the energy, what passes more than once. */
static bool put_limits(const cli_session *s, cli_text *out) {
  const char *key = s->found.objective;
  bool ok = true;
  cli_printf(out, "\n");
  if (!strcmp(key, "latency") || !strcmp(key, "edp")) ok = put_cycles(s, out);
  if (!strcmp(key, "edp")) cli_printf(out, "\n");
  if (!strcmp(key, "energy") || !strcmp(key, "edp")) put_energy(s, out);
  if (!strcmp(key, "traffic")) {
    if (cli_outer_traffic(s) <= (double)s->bounds.traffic_words)
      cli_printf(out,
                 "Each word that must pass %s passes it once: only another workload moves less.\n",
                 s->spec->arch->memories[0].name);
    else
      cli_report_why(s, out);
  }
  return ok;
}

/* ---- what to do next ------------------------------------------------------------------------ */
/* Whether file i is that of the mapping given. */
static bool holds_mapping(const cli_session *s, size_t i) {
  return s->found.compared &&
         !strcmp(s->in->files[i], tf_diags_file_name(s->diags, s->spec->mapping_at.file));
}

/* Whether the other files have architecture and workload, so that the mapping's can be left out. */
static bool without_mapping(const cli_session *s) {
  const char **files = calloc(s->in->n_files + 1, sizeof *files);
  tf_diags *d = tf_diags_new();
  cli_input in = *s->in;
  in.files = files;
  in.n_files = 0;
  in.quiet = true;
  bool stdin_read = false;
  for (size_t i = 0; files && i < s->in->n_files; i++) {
    stdin_read |= !strcmp(s->in->files[i], "-");
    if (!holds_mapping(s, i)) files[in.n_files++] = s->in->files[i];
  }
  tf_spec *p = files && d && !stdin_read && in.n_files ? cli_read_spec(&in, d) : NULL;
  const bool ok = p && p->arch && p->workload;
  tf_spec_free(p);
  tf_diags_free(d);
  free(files);
  return ok;
}

/* The files, without that of the mapping given, and the settings. */
static void put_inputs(const cli_session *s, bool all, cli_text *out) {
  for (size_t i = 0; i < s->in->n_files; i++)
    if (all || !holds_mapping(s, i)) cli_put_word(out, s->in->files[i]);
  cli_put_settings(out, s->in);
}

/* Whether the files that are named next have layouts of their own, beside those written. */
static bool layouts_stay(const cli_session *s, bool mapping_stays) {
  const cli_found *f = &s->found;
  if (!f->layouts_in || mapping_stays || !f->compared) return f->layouts_in != NULL;
  return strcmp(f->layouts_in, tf_diags_file_name(s->diags, s->spec->mapping_at.file)) != 0;
}

/* The next power of ten past five times what was asked for: 1e6. */
static cli_figure more_evals(const cli_session *s, const best_options *o) {
  const double now = (double)(o->look.evals ? o->look.evals : cli_for_ops(s, TF_BEST_EVALS));
  cli_figure f;
  snprintf(f.s, sizeof f.s, "1e%d", (int)ceil(log10(5 * now)));
  return f;
}

static void put_next(const cli_session *s, const best_options *o, cli_text *out) {
  const bool kept = o->out && strcmp(o->out, "-") != 0;
  const char *mapping = kept ? o->out : "best.yaml";
  const bool stays = s->found.compared && !without_mapping(s), laid = layouts_stay(s, stays);
  cli_text files = {0};
  put_inputs(s, stays, &files);
  const char *inputs = cli_part(&files, out);
  cli_printf(out, "\nNext%s:\n",
             stays && laid ? ", once the files' own sections 'layout' and 'mapping' are taken out"
             : stays       ? ", once the files' own section 'mapping' is taken out"
             : laid        ? ", once the files' own section 'layout' is taken out"
                           : "");
  if (!kept) cli_printf(out, "  tileflow best%s -o best.yaml\n", inputs);
  static const struct {
    const char *command, *rest;
  } after[] = {{"eval", ""}, {"explain", ""}, {"emit", " -o kernel"}};
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    cli_printf(out, "  tileflow %s%s", after[i].command, inputs);
    cli_put_word(out, mapping);
    cli_printf(out, "%s\n", after[i].rest);
  }
  if (!s->found.proved) {
    cli_printf(out, "  tileflow best%s", inputs);
    cli_put_word(out, mapping);
    cli_printf(out, " --evals %s\n", more_evals(s, o).s);
  }
  cli_text_free(&files);
}

/* ---- the command ---------------------------------------------------------------------------- */
static void put_screen(const cli_session *s, const best_options *o, cli_text *out) {
  put_found(s, out);
  put_figures(s, out);
  cli_printf(out, "\n");
  cli_mapping_yaml(s, out);
  const bool ok = put_limits(s, out);
  put_next(s, o, out);
  out->bad |= !ok;
}

static bool write_best(const cli_session *s, const best_options *o) {
  const cli_figures f = {o->json, NULL};
  bool ok = cli_write_figures(s, &f, false);
  if (o->out) {
    cli_text t = {0};
    cli_mapping_yaml(s, &t);
    ok = cli_put_text(o->out, &t) && ok;
  }
  const bool prints = !o->in.quiet && !o->in.stdout_taken;
  cli_text screen = {0};
  if (prints || o->page.html) put_screen(s, o, &screen);
  if (o->page.html) ok = cli_page_mapping(o->page.html, "best", s, &screen, false) && ok;
  if (prints) return cli_put_text("-", &screen) && ok;
  cli_text_free(&screen);
  return ok;
}

static void check_best(void *options, tf_diags *d) {
  const best_options *o = options;
  cli_refuse_over(o->out, o->page.force, d);
  cli_refuse_over(o->page.html, o->page.force, d);
}

static cli_status run_best(const void *options) {
  const best_options *o = options;
  cli_session s;
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) status = cli_best(&s, &o->look);
  if (status == CLI_DONE) status = cli_count_words(&s);
  if (status == CLI_DONE && !write_best(&s, o)) status = CLI_FAILED;
  cli_close(&s);
  return status;
}

const cli_command cmd_best = {
    .name = "best",
    .summary = "the best mapping, its bound, what limits it, what next: one screen",
    .about =
        "Asks the solver first, then the search, beginning with what the solver found and with the "
        "mapping of the files, if they hold one.  Prints the value found, the lower bound, what is "
        "proved and in which space (docs/HOWTO-solve.md), the mapping, what limits it and what 10 "
        "% less would take, and the commands to go on with.  Counts evaluations, never the time, "
        "unless --time-limit is given: the same inputs give the same bytes with any number of "
        "threads.\n"
        "Exit status: 0, 2 for bad input, 3 if nothing that fits was found, 130 if interrupted.\n",
    .example = "arch-specs/edge.yaml workloads/gemm-chain/g5.yaml",
    .size = sizeof(best_options),
    CLI_SLOTS(slots),
    .check = check_best,
    .run = run_best,
};
