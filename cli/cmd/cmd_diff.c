/* tileflow diff: two mappings (or machines, or workloads), term by term. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/page/page.h"
#include "cli/report/diff.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_page page;
} diff_options;
static const cli_slot slots[] = {CLI_FIGURES_AT(diff_options, figures),
                                 CLI_PAGE_AT(diff_options, page)};

static const tf_loc nowhere = {0};

/* Whether the file has a section 'mapping'.  It is a literal block, so its key starts a line. */
static bool holds_mapping(const char *path) {
  FILE *f = fopen(path, "rb");
  char line[32] = "";
  bool start = true, found = false;
  while (f && !found && fgets(line, sizeof line, f)) {
    const char *key = line + (line[0] == '"' || line[0] == '\'');
    size_t after = strcspn(key, ":");
    found = start && !strncmp(key, "mapping", 7) && key[after] == ':' &&
            strspn(key + 7, "\"' \t") == after - 7;
    start = strchr(line, '\n') != NULL;
  }
  if (f) fclose(f);
  return found;
}

/* The files of the two sides.  both: room for all files twice. */
typedef struct {
  cli_input a, b;
  const char *name_a, *name_b;
  const char **both;
} sides;

/* FILE... -- FILE...: the files before and after "--". */
static void halve(const diff_options *o, sides *s) {
  s->a.n_files = o->in.n_first;
  s->b.files = o->in.files + o->in.n_first;
  s->b.n_files = o->in.n_files - o->in.n_first;
  s->name_a = s->a.files[s->a.n_files - 1];
  s->name_b = s->b.files[s->b.n_files - 1];
}

/* A B [common]: the two files with a mapping, each with all other files. */
static bool pick(const diff_options *o, sides *s, tf_diags *d) {
  const char *with[2] = {NULL, NULL};
  size_t found = 0, common = 0;
  for (size_t i = 0; i < o->in.n_files; i++)
    if (holds_mapping(o->in.files[i])) {
      if (found < 2) with[found] = o->in.files[i];
      found++;
    } else {
      s->both[1 + common++] = o->in.files[i];
    }
  if (found != 2) {
    tf_fail(d, nowhere, TF_E_USAGE, "diff needs two files that hold a mapping; of these %zu %s",
            found, found == 1 ? "does" : "do");
    tf_note(d, nowhere, "other files may differ, too: tileflow diff FILE... -- FILE...");
    return false;
  }
  s->both[0] = s->name_a = with[0];
  s->a.files = s->both;
  s->b.files = s->both + o->in.n_files;
  memcpy(s->b.files, s->both, (1 + common) * sizeof *s->both);
  s->b.files[0] = s->name_b = with[1];
  s->a.n_files = s->b.n_files = 1 + common;
  return true;
}

static bool write_one(const char *path, const diff *d, void (*how)(const diff *, cli_text *)) {
  cli_text t = {.bad = d->bad};
  how(d, &t);
  return cli_put_text(path, &t);
}

static bool print_all(const diff *d, const diff_options *o) {
  bool ok = !o->figures.json || write_one(o->figures.json, d, diff_json);
  if (o->figures.csv) ok = write_one(o->figures.csv, d, diff_csv) && ok;
  if (o->page.html) ok = cli_page_diff(o->page.html, d) && ok;
  if (!o->in.quiet && !o->in.stdout_taken) ok = write_one("-", d, diff_text) && ok;
  fflush(stdout); /* before anything goes to stderr */
  return ok;
}

static cli_status compare(const sides *f, const diff_options *o) {
  cli_session a, b = {0};
  const cli_looking look = {.seed = 1};
  cli_status status = cli_evaluate(&a, &f->a, &look);
  if (status == CLI_DONE) status = cli_evaluate(&b, &f->b, &look);
  if (status == CLI_DONE) {
    diff d = {.a = &a, .b = &b, .name_a = f->name_a, .name_b = f->name_b};
    diff_make(&d);
    status = print_all(&d, o) && !d.bad ? CLI_DONE : CLI_FAILED;
    diff_free(&d);
    status = cli_report_violations(&a, status);
    status = cli_report_violations(&b, status);
  }
  cli_close(&b);
  cli_close(&a);
  return status;
}

static void check_diff(void *options, tf_diags *d) {
  const diff_options *o = options;
  cli_refuse_over(o->page.html, o->page.force, d);
  if (o->in.n_first && o->in.n_first == o->in.n_files)
    tf_fail(d, nowhere, TF_E_USAGE, "diff needs files after '--', too");
}

static cli_status run_diff(const void *options) {
  const diff_options *o = options;
  sides s = {.a = o->in, .b = o->in, .both = calloc(2 * o->in.n_files + 2, sizeof *s.both)};
  tf_diags *d = cli_diags();
  cli_status status = CLI_FAILED;
  if (d && !s.both) cli_complain(NULL);
  if (s.both && d) {
    status = CLI_BAD_INPUT;
    bool ok = o->in.n_first || pick(o, &s, d);
    if (o->in.n_first) halve(o, &s);
    if (ok) status = compare(&s, o);
    if (!ok) cli_complain(d);
  }
  tf_diags_free(d);
  free(s.both);
  return status;
}

const cli_command cmd_diff = {
    .name = "diff",
    .summary = "two mappings, term by term: why one is faster",
    .about = "Evaluates two mappings on the same machine and workload, and prints what differs, "
             "the larger difference first: cycles, energy, words by memory and tensor with what "
             "makes them pass again, units and instances.  The two files that hold a mapping are A "
             "and B; all others are common.\n"
             "FILE... -- FILE... says the files of each side, which may differ in machine and "
             "workload, too.\n"
             "Exit status: 0, 2 for bad input, 3 if one of the mappings does not fit.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
               "    workloads/dataflows/edge/attention-layerwise.yaml \\\n"
               "    workloads/dataflows/edge/attention-flat-rgran.yaml",
    .two_sides = true,
    .size = sizeof(diff_options),
    CLI_SLOTS(slots),
    .check = check_diff,
    .run = run_diff,
};
