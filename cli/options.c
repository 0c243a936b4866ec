/* One table says which options there are, what follows them and which commands take them. */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nearest.h"

typedef enum { FLAG, SETTING, PATH, COUNT, SECONDS, OBJECTIVE } kind;
typedef enum { SET, JSON, CSV, SVG, DOT, QUIET, HELP, OTHER } target;

typedef struct {
  const char *name, *value; /* value: as the help shows it, NULL: none follows */
  kind kind;
  target target;
  unsigned commands; /* that take it */
  const char *help;  /* NULL: accepted everywhere, and no command here is changed by it */
} row;

static const row rows[] = {
    {"--set", "NAME=VALUE", SETTING, SET, CLI_ALL,
     "give a param another value; may be repeated"},
    {"--json", "FILE|-", PATH, JSON, CLI_EVAL | CLI_TREE | CLI_BOUND,
     "write the exact figures as JSON; -: to stdout, and nothing else there"},
    {"--csv", "FILE|-", PATH, CSV, CLI_EVAL | CLI_TREE, "the same as comma-separated values"},
    {"--svg", "FILE|-", PATH, SVG, CLI_TREE, "draw the tree as SVG, not as text"},
    {"--dot", "FILE|-", PATH, DOT, CLI_TREE, "draw it for Graphviz"},
    {"--quiet", NULL, FLAG, QUIET, CLI_ALL, "print no report; errors still go to stderr"},
    {"--help", NULL, FLAG, HELP, CLI_ALL, "print this"},
    {"--objective", "latency|energy|edp|traffic", OBJECTIVE, OTHER, CLI_ALL, NULL},
    {"--seed", "N", COUNT, OTHER, CLI_ALL, NULL},
    {"--threads", "N", COUNT, OTHER, CLI_ALL, NULL},
    {"--time-limit", "S", SECONDS, OTHER, CLI_ALL, NULL},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
  cli_options *out;
  const cli_command *command;
  tf_diags *diags;
  unsigned seen; /* bits of rows, to refuse what is given twice */
} reader;

static const tf_loc nowhere = {0};

void cli_options_help(unsigned command, FILE *out) {
  for (size_t i = 0; i < N_ROWS; i++)
    if (rows[i].help && (rows[i].commands & command))
      fprintf(out, "  %-7s %-12s %s\n", rows[i].name, rows[i].value ? rows[i].value : "",
              rows[i].help);
  fputs("taken by every command, for those that search; without effect here:\n ", out);
  for (size_t i = 0; i < N_ROWS; i++)
    if (!rows[i].help) fprintf(out, " %s %s", rows[i].name, rows[i].value);
  fputs("\n", out);
}

/* ---- values ------------------------------------------------------------------------- */
static bool read_setting(reader *r, char *value) {
  char *eq = strchr(value, '=');
  if (!eq || eq == value)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "--set needs NAME=VALUE, not '%.60s'", value);
  *eq = '\0';
  r->out->set[r->out->n_set++] = (tf_setting){value, eq + 1};
  return true;
}

static bool check_count(reader *r, const row *o, const char *value) {
  char *end;
  errno = 0;
  long long n = strtoll(value, &end, 10);
  if (end != value && !*end && !errno && n >= (o->name[2] == 't')) return true;
  return tf_fail(r->diags, nowhere, TF_E_USAGE,
                 "%s needs a whole number of %d or more, not '%.60s'", o->name,
                 o->name[2] == 't', value);
}

static bool check_seconds(reader *r, const row *o, const char *value) {
  char *end;
  double s = strtod(value, &end);
  if (end != value && !*end && s > 0 && s < 1e9) return true;
  return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs seconds above 0, not '%.60s'",
                 o->name, value);
}

static bool check_objective(reader *r, const char *value) {
  static const char *const known[] = {"latency", "energy", "edp", "traffic"};
  cli_nearest near = cli_nearest_to(value);
  for (size_t i = 0; i < 4; i++) {
    if (!strcmp(known[i], value)) return true;
    cli_nearest_offer(&near, known[i]);
  }
  if (near.best)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "no objective '%.60s', did you mean '%s'?",
                   value, near.best);
  return tf_fail(r->diags, nowhere, TF_E_USAGE,
                 "no objective '%.60s'; known: latency, energy, edp, traffic", value);
}

static bool keep_path(reader *r, const row *o, const char *value) {
  const char **slot = o->target == JSON  ? &r->out->json
                      : o->target == CSV ? &r->out->csv
                      : o->target == SVG ? &r->out->svg
                                         : &r->out->dot;
  if (!value || !*value)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs a file name", o->name);
  *slot = value;
  return true;
}

static bool take(reader *r, const row *o, char *value) {
  switch (o->kind) {
  case SETTING:
    return read_setting(r, value);
  case PATH:
    return keep_path(r, o, value);
  case COUNT:
    return check_count(r, o, value);
  case SECONDS:
    return check_seconds(r, o, value);
  case OBJECTIVE:
    return check_objective(r, value);
  case FLAG:
    break;
  }
  *(o->target == QUIET ? &r->out->quiet : &r->out->help) = true;
  return true;
}

/* ---- arguments ---------------------------------------------------------------------- */
/* The row of the first len letters of arg; NULL if there is none.  An option that the command
 * does not take is an error, too, but its value is known to be no file. */
static const row *find(reader *r, const char *arg, size_t len) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)len, arg);
  if (!strcmp(name, "-h")) strcpy(name, "--help");
  cli_nearest near = cli_nearest_to(name);
  for (size_t i = 0; i < N_ROWS; i++) {
    bool takes = (rows[i].commands & r->command->id) != 0;
    if (takes) cli_nearest_offer(&near, rows[i].name);
    if (strcmp(rows[i].name, name) != 0) continue;
    if (!takes)
      tf_fail(r->diags, nowhere, TF_E_USAGE, "%s has no option %s", r->command->name, name);
    return &rows[i];
  }
  if (near.best)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no option '%s', did you mean '%s'?", name,
            near.best);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no option '%s'", name);
  return NULL;
}

/* Reads the option at args[i], and its value there (--name=value) or behind it.  Returns the
 * index of the last argument used. */
static int read_option(reader *r, int i, int n, char **args) {
  char *eq = strchr(args[i], '=');
  const row *o = find(r, args[i], eq ? (size_t)(eq - args[i]) : strlen(args[i]));
  if (!o) return i;
  unsigned bit = 1u << (o - rows);
  if ((r->seen & bit) && o->kind != SETTING && o->kind != FLAG)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s given twice", o->name);
  r->seen |= bit;
  if (eq && !o->value)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s takes no value", o->name);
  else if (eq || !o->value)
    take(r, o, eq ? eq + 1 : NULL);
  else if (i + 1 < n)
    take(r, o, args[++i]);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs %s", o->name, o->value);
  return i;
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

static void check_whole(reader *r) {
  const cli_options *o = r->out;
  if (is_stdout(o->json) + is_stdout(o->csv) + is_stdout(o->svg) + is_stdout(o->dot) > 1)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "only one result can go to stdout ('-')");
  if (o->n_files == 0 && tf_diags_errors(r->diags) == 0) {
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs at least one file", r->command->name);
    tf_note(r->diags, nowhere, "tileflow %s --help shows an example", r->command->name);
  }
}

bool cli_options_read(cli_options *out, const cli_command *c, int n, char **args, tf_diags *d) {
  *out = (cli_options){.files = calloc((size_t)n + 1, sizeof *out->files),
                       .set = calloc((size_t)n + 1, sizeof *out->set)};
  if (!out->files || !out->set) return tf_fail(d, nowhere, TF_E_LIMIT, "out of memory");
  reader r = {.out = out, .command = c, .diags = d};
  bool options = true;
  for (int i = 0; i < n; i++) {
    if (options && !strcmp(args[i], "--"))
      options = false;
    else if (options && args[i][0] == '-' && args[i][1])
      i = read_option(&r, i, n, args);
    else
      out->files[out->n_files++] = args[i];
  }
  if (!out->help) check_whole(&r);
  return tf_diags_errors(d) == 0;
}

void cli_options_free(cli_options *o) {
  free(o->files);
  free(o->set);
}
