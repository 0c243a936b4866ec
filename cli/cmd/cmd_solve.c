/* tileflow solve: the best mapping of a stated space, with a proof that it is, or a bound of how
 * far it may be from that. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  const char *mapping, *certificate;
  const char *method; /* NULL: the first of cli_method */
} solve_options;
static const char evals_help[] =
    "mappings that may be evaluated; without a limit: 5000000, fewer for more than three ops";
static const cli_slot slots[] = {CLI_FIGURES_AT(solve_options, figures),
                                 CLI_AT(solve_options, OBJECTIVE, look.objective),
                                 CLI_AT(solve_options, THREADS, look.threads),
                                 CLI_AT(solve_options, TIME_LIMIT, look.time_limit),
                                 CLI_AT_SAYS(solve_options, EVALS, look.evals, evals_help),
                                 CLI_AT(solve_options, METHOD, method),
                                 CLI_AT(solve_options, EXPORTABLE, look.exportable),
                                 CLI_AT(solve_options, MAPPING, mapping),
                                 CLI_AT(solve_options, CERTIFICATE, certificate)};

enum { BOXES_AN_EVAL = 8 }; /* about as much work */

/* Writes the proof, and says what it proves. */
static bool certify(const cli_session *s, const solve_options *o, const tf_solve_result *r) {
  const bool product = o->look.objective == TF_EDP;
  const tf_certificate_opts opts = {
      .objective = o->look.objective,
      .known = r->bypass_bound * (product ? s->spec->arch->clock_hz : 1),
      .budget = {.stop = cli_interrupted, .max_evals = BOXES_AN_EVAL * o->look.evals}};
  tf_certificate c;
  cli_hold_interrupt(CLI_GRACE);
  const bool ok = tf_certify(s->tree, &opts, &c, s->diags);
  cli_release_interrupt();
  if (!ok) {
    cli_complain(s->diags);
    return false;
  }
  cli_text text = {.text = c.text, .len = c.len};
  const bool written = cli_safe_write(o->certificate, &text);
  const double gap = c.value - c.bound;
  if (written && !o->in.quiet)
    fprintf(stderr,
            "certificate: value %.9g, no mapping of the space below %.9g (%s %s), none whatever "
            "below %.9g; %s boxes\n",
            c.value, c.bound,
            gap < -1e-9 * c.value ? "the mapping lies outside and is better by" : "gap",
            cli_percent(gap < -1e-9 * c.value ? -gap
                        : gap > 0             ? gap
                                              : 0,
                        c.bound)
                .s,
            c.floor, cli_count(c.boxes).s);
  tf_certificate_free(&c);
  return written;
}

static cli_status solve(cli_session *s, const solve_options *o) {
  tf_solve_result *r = NULL;
  cli_looking look = o->look;
  look.seed = 1; /* reported, though nothing is random */
  if (o->certificate && !tf_certifiable(s->spec->arch, s->spec->workload, s->diags)) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  cli_status status = cli_solve(s, &look, o->method, &r);
  if (status == CLI_DONE) status = cli_count_words(s);
  if (status == CLI_DONE && !cli_write_found(s, &o->in, &o->figures, o->mapping))
    status = CLI_FAILED;
  if (status == CLI_DONE && o->certificate && !certify(s, o, r)) status = CLI_BAD_INPUT;
  if (status == CLI_DONE && !r->proved && !o->in.quiet) cli_print_left_out(s, r, stderr);
  tf_solve_free(r);
  return status;
}

static cli_status run_solve(const void *options) {
  const solve_options *o = options;
  cli_session s;
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE && s.tree) {
    tf_fail(s.diags, s.spec->mapping_at, TF_E_USAGE,
            "the files hold a mapping, which solve does not complete: leave it out, or use search");
    cli_complain(s.diags);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) status = solve(&s, o);
  cli_close(&s);
  return status;
}

const cli_command cmd_solve = {
    .name = "solve",
    .summary = "find the best mapping of the solver's space, and what is proved of it",
    .about = "Enumerates loop orders, scopes, spatial loops and trip counts with bounds, and "
             "prints the best mapping known: of its space (docs/HOWTO-solve.md), or one from "
             "outside that is better. It is proved where no mapping at all is better; else the "
             "report says what is known of all mappings, and of those of the space. What is left "
             "of --evals once the space is exhausted goes to a search. --method closed takes the "
             "tiles that formulas give for each loop order, in milliseconds. The same result with "
             "any number of threads, unless --time-limit or Ctrl-C ends it.\n"
             "--certificate writes a proof of what is said, which tileflow-certify checks "
             "(docs/CERTIFICATE.md): of one op whose inputs differ and have plain indices.\n"
             "Exit status: 0, 2 for bad input, 3 if nothing fits, 130 if interrupted.\n",
    .example = "arch-specs/edge.yaml workloads/gemm-chain/g5.yaml",
    .size = sizeof(solve_options),
    CLI_SLOTS(slots),
    .run = run_solve,
};
