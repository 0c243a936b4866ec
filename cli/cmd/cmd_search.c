/* tileflow search: the best mapping found, its report, and the Pareto front. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"
#include "cli/session/starts.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  cli_paths start; /* files with mappings that the search begins with */
  const char *mapping, *pareto;
} search_options;
static const cli_slot slots[] = {CLI_FIGURES_AT(search_options, figures),
                                 CLI_LOOKING_AT(search_options, look),
                                 CLI_AT(search_options, EXPORTABLE, look.exportable),
                                 CLI_AT(search_options, START, start),
                                 CLI_AT(search_options, LOG, look.log),
                                 CLI_AT(search_options, RESUME, look.resume),
                                 CLI_AT(search_options, MAPPING, mapping),
                                 CLI_AT(search_options, PARETO, pareto)};

/* Prints a mapping's lines as one cell of one line, separated by \n. */
static void put_in_line(const char *text, cli_text *out) {
  for (; *text; text++) {
    if (*text != '\n')
      cli_printf(out, "%c", *text);
    else if (text[1])
      cli_printf(out, "\\n");
  }
}

static bool write_pareto(const cli_session *s, const char *path) {
  cli_text t = {0};
  cli_printf(&t, "cycles,energy_pj,edp,traffic_words,held_words,mapping\n");
  for (int i = 0; i < s->search->n_pareto; i++) {
    const tf_found *f = &s->search->pareto[i];
    cli_printf(&t, "%.15g,%.15g,%.15g,%.15g,%.15g,\"", f->figures.cycles, f->figures.energy_pj,
               f->figures.edp, f->figures.traffic_words, f->figures.held_words);
    put_in_line(f->text, &t);
    cli_printf(&t, "\"\n");
  }
  return cli_put_text(path, &t);
}

static bool print_all(const cli_session *s, const search_options *o) {
  bool ok = !o->pareto || write_pareto(s, o->pareto);
  return cli_write_found(s, &o->in, &o->figures, o->mapping) && ok;
}

static void check_search(void *options, tf_diags *d) {
  const search_options *o = options;
  const tf_loc nowhere = {0};
  struct stat old;
  /* a log may hold the result of hours of search */
  if (o->look.log && !o->look.resume && stat(o->look.log, &old) == 0 && S_ISREG(old.st_mode)) {
    tf_fail(d, nowhere, TF_E_USAGE, "the log '%.120s' is there already", o->look.log);
    tf_note(d, nowhere, "--resume goes on from it; remove it to start anew");
  }
  if (o->look.resume && !o->look.log)
    tf_fail(d, nowhere, TF_E_USAGE, "--resume needs --log FILE, the log to go on from");
  if (o->look.log && !strcmp(o->look.log, "-"))
    tf_fail(d, nowhere, TF_E_USAGE, "--log needs a file, not stdout");
}

static cli_status run_search(const void *options) {
  const search_options *o = options;
  cli_session s;
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) status = cli_read_starts(&s, &o->start);
  cli_looking look = o->look;
  look.front = o->pareto != NULL;
  if (status == CLI_DONE) status = cli_search_after_formulas(&s, &look);
  if (status == CLI_DONE) status = cli_count_words(&s);
  if (status == CLI_DONE && !print_all(&s, o)) status = CLI_FAILED;
  cli_close(&s);
  return status;
}

const cli_command cmd_search = {
    .name = "search",
    .summary = "find a mapping: GA over shapes, MCTS over trip counts",
    .about =
        "Searches shapes (what is fused where, loop orders, what is spread over instances) and "
        "trip counts, and prints the best mapping with its report.  Where the files hold a "
        "mapping, what is open in it ('?') is completed.  The same seed and --evals give the same "
        "result with any number of threads.  --start gives it mappings to begin with: the result "
        "is no worse than the best of them that fits.  Ctrl-C prints the best so far; with --log, "
        "--resume goes on from there.\n"
        "Exit status: 0, 2 for bad input, 3 if nothing that fits was found, 130 if interrupted.\n",
    .example = "arch-specs/edge.yaml workloads/gemm-chain/g1.yaml \\\n    --evals 20000 --seed 1",
    .size = sizeof(search_options),
    CLI_SLOTS(slots),
    .check = check_search,
    .run = run_search,
};
