/* tileflow bound: lower bounds for any mapping. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"
#include "cli/table.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  int threads;
  int64_t evals;     /* for each capacity; 0: EVALS */
  double time_limit; /* 0: none */
} bound_options;
static const cli_slot slots[] = {
    CLI_FIGURES_AT(bound_options, figures), CLI_AT(bound_options, THREADS, threads),
    CLI_AT_SAYS(bound_options, TIME_LIMIT, time_limit, "seconds for each capacity"),
    CLI_AT_SAYS(bound_options, EVALS, evals,
                "mappings that may be evaluated for each capacity; 20000 if not given")};

enum { EVALS = 20000 }; /* for each capacity */

static void describe(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  const tf_bounds *b = &s->bounds;
  cli_table t = {.align = "lrl"};
  cli_printf(out, "Lower bounds of %s on %s\n\n", s->spec->workload->name, a->name);
  cli_cell(&t, "traffic");
  cli_cell(&t, "%s", cli_count(b->traffic_words).s);
  cli_cell(&t, "words through %s: what is read and written, and what has no room again",
           a->memories[0].name);
  cli_cell(&t, "cycles");
  cli_cell(&t, "%s", cli_real(b->cycles).s);
  cli_cell(&t, "%s: that traffic at full bandwidth, or all units busy, in whole steps",
           cli_si(b->cycles / a->clock_hz, "s").s);
  cli_cell(&t, "energy");
  cli_cell(&t, "%s", cli_si(b->energy_pj * 1e-12, "J").s);
  cli_cell(&t, "that traffic, and every point once%s",
           tf_arch_leakage(s->spec->arch) > 0 ? ", and what leaks in these cycles" : "");
  cli_table_end(&t, out);
  const char *masked = cli_masked_line(s->spec->workload);
  if (masked) cli_printf(out, "\n%s\n", masked);
  const char *zeros = cli_zeros_line(s->spec);
  if (zeros) cli_printf(out, "\n%s  A format holds more of them than a capacity tells.\n", zeros);
}

/* Words of all inner memories, all instances together; -1: some memory has no limit; 0: there is
 * none, or too many. */
static int64_t on_chip(const tf_arch *a) {
  double words = 0, instances = 1;
  for (int l = 1; l < a->n_memories; l++) {
    instances *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
    if (a->memories[l].capacity_words < 0) return -1;
    words +=
        instances * (double)a->memories[l].capacity_words * a->memories[l].word_bits / a->word_bits;
  }
  return words < 0x1p50 ? (int64_t)words : 0;
}

static const char *words_text(double words, char *buf, size_t size) {
  snprintf(buf, size, "%s", words < 9e18 ? cli_count((int64_t)words).s : "-");
  return buf;
}

/* Explains the columns, and what they leave out. */
static void explain(const cli_session *s, const tf_slope *p, double units, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  cli_printf(
      out,
      "\nproved: with one unit and so much memory, on however many levels, nothing moves less.\n");
  if (units > 1)
    cli_printf(out,
               "all units: nothing moves less where the machine's %s units work on it, which have "
               "up to %s words in hand.\n",
               cli_real(units).s, cli_real(tf_slope_hand(s->spec->arch, wl)).s);
  cli_printf(out, "found: a mapping with one unit, on one memory of that size.\n");
  if (tf_arch_homes(s->spec->arch, wl))
    cli_printf(out, "The table is of a chip that finds all inputs outside and leaves all outputs "
                    "there, whatever 'home' says.\n");
  if (p->op_left_out >= 0)
    cli_printf(out,
               "Left out: the proof by nested loops of op '%s', which has too many dims; the words "
               "of its tensors count once.\n",
               wl->ops[p->op_left_out].name);
}

static void describe_slope(const cli_session *s, const tf_slope *p, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  double units = cli_all_units(a);
  cli_table t = {.align = units > 1 ? "rrrrrrl" : "rrrrrl"};
  int64_t own = on_chip(a);
  char text[32];
  cli_printf(
      out, "\nWords through %s, by the words on chip (memories within, all instances together)\n\n",
      a->memories[0].name);
  static const char *const head[] = {"on chip",  "proved",    "x least", "found",
                                     "x proved", "all units", ""};
  for (int i = 0; i < 7; i++)
    if (i != 5 || units > 1) cli_cell(&t, "%s", head[i]);
  for (int i = 0; i < p->n; i++) {
    const tf_slope_point *at = &p->at[i];
    bool found = at->attained < INFINITY;
    cli_cell(&t, "%" PRId64, at->capacity);
    cli_cell(&t, "%s", words_text(at->bound, text, sizeof text));
    cli_cell(&t, "%.2f", p->compulsory > 0 ? at->bound / p->compulsory : 1);
    cli_cell(&t, "%s", words_text(at->attained, text, sizeof text));
    if (found && at->bound > 0)
      cli_cell(&t, "%.2f", at->attained / at->bound);
    else
      cli_skip(&t, 1);
    if (units > 1) cli_cell(&t, "%s", words_text(at->all_units, text, sizeof text));
    cli_cell(&t, "%s", at->capacity == own ? "all that this machine has" : "");
  }
  cli_table_end(&t, out);
  explain(s, p, units, out);
  if (cli_interrupted(NULL))
    cli_printf(out, "Interrupted: the table ends early.\n");
  else if (own > p->at[p->n - 1].capacity)
    cli_printf(out,
               "This machine has %s words on chip: more than is needed to move each word once.\n",
               cli_count(own).s);
}

static bool print(const cli_session *s, const bound_options *o, const tf_slope *p) {
  cli_text json = {0}, csv = {0}, text = {0};
  bool ok = true;
  if (o->figures.json) {
    cli_bounds_json(s, p, &json);
    ok = cli_safe_write(o->figures.json, &json);
  }
  if (o->figures.csv) {
    cli_slope_csv(s, p, &csv);
    ok = cli_safe_write(o->figures.csv, &csv) && ok;
  }
  if (!o->in.quiet && !o->in.stdout_taken) {
    describe(s, &text);
    describe_slope(s, p, &text);
    ok = cli_safe_write("-", &text) && ok;
  }
  cli_text_free(&json);
  cli_text_free(&csv);
  cli_text_free(&text);
  return ok;
}

/* ---- the slope ------------------------------------------------------------------------------ */
static void show(void *ctx, const tf_progress *p) {
  char words[48];
  snprintf(words, sizeof words, "%s words on chip", cli_count(p->capacity).s);
  cli_meter_show(ctx, p->evals, p->seconds, words);
}

static tf_slope *find_slope(cli_session *s, const bound_options *o) {
  cli_meter m = cli_meter_new(o->in.quiet);
  tf_slope_opts so = {.word_bits = s->spec->arch->word_bits,
                      .own = on_chip(s->spec->arch),
                      .hand = tf_slope_hand(s->spec->arch, s->spec->workload),
                      .budget.max_evals = o->evals ? o->evals : EVALS,
                      .budget.time_limit = o->time_limit,
                      .budget.threads = o->threads,
                      .budget.stop = cli_interrupted,
                      .budget.progress = m.enabled ? show : NULL,
                      .budget.ctx = &m};
  cli_hold_interrupt(CLI_GRACE);
  tf_slope *p = tf_slope_of(s->spec->workload, &so, s->diags);
  cli_release_interrupt();
  cli_meter_end(&m);
  return p;
}

static cli_status run_bound(const void *options) {
  const bound_options *o = options;
  cli_session s;
  cli_status status = cli_open(&s, &o->in);
  tf_slope *p = NULL;
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) status = cli_find_bounds(&s);
  if (status == CLI_DONE && !(p = find_slope(&s, o))) {
    cli_complain(s.diags);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) status = cli_check_slope(p);
  if (status == CLI_DONE && !print(&s, o, p)) status = CLI_FAILED;
  tf_slope_free(p);
  cli_close(&s);
  return status;
}

const cli_command cmd_bound = {
    .name = "bound",
    .summary = "lower bounds of any mapping",
    .about = "Prints the words that must pass through the outermost memory, the cycles and the "
             "energy below which no mapping of the workload on the architecture can get; then, for "
             "each capacity on chip, the words that are proved to pass through the outermost "
             "memory, with one unit and with all that the machine has, and those of a mapping "
             "(docs/HOWTO-bound.md).\n"
             "Exit status: 0, or 2 for bad input.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml",
    .size = sizeof(bound_options),
    CLI_SLOTS(slots),
    .run = run_bound,
};
