#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define EXAMPLE_FILES \
  "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n      workloads/dataflows/edge/attention-flat-rgran.yaml"

const cli_command cli_commands[] = {
    {"eval", "evaluate the mapping: counts, latency, energy",
     "usage: tileflow eval FILE... [--set NAME=VALUE] [--json FILE|-] [--csv FILE|-] [--quiet]\n\n"
     "Reads architecture, workload and mapping from the files, in any order, and prints what the\n"
     "mapping moves, takes and costs.  Exit 3 if it does not fit the machine.\n\n"
     "example:\n  tileflow eval " EXAMPLE_FILES "\n",
     cmd_eval},
    {"check", "read and check only",
     "usage: tileflow check FILE... [--set NAME=VALUE] [--quiet]\n\n"
     "Reads the files and reports every error in them.\n\n"
     "example:\n  tileflow check arch-specs/edge.yaml\n",
     cmd_check},
    {"tree", "draw the tile tree with what each node holds and moves",
     "usage: tileflow tree FILE... [--svg FILE|-] [--dot FILE|-] [--set NAME=VALUE]\n\n"
     "example:\n  tileflow tree " EXAMPLE_FILES "\n",
     cmd_tree},
    {"bound", "what no mapping can beat",
     "usage: tileflow bound FILE... [--set NAME=VALUE]\n\n"
     "Compulsory traffic of the outermost memory, and compute at full occupancy.\n\n"
     "example:\n  tileflow bound arch-specs/edge.yaml workloads/attention/g1.yaml\n",
     cmd_bound},
};
const int cli_n_commands = (int)(sizeof cli_commands / sizeof cli_commands[0]);

static void usage(FILE *out) {
  fputs("usage: tileflow COMMAND FILE... [options]\n\n", out);
  for (int i = 0; i < cli_n_commands; i++)
    fprintf(out, "  %-8s %s\n", cli_commands[i].name, cli_commands[i].summary);
  fputs("\ntileflow COMMAND --help says more; tileflow --version prints the version.\n", out);
}

/* Letters in common at the front, as a cheap likeness for commands and options. */
static size_t likeness(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n])
    n++;
  return n;
}

static int bad_usage(const char *what, const char *word, const char *nearest) {
  fprintf(stderr, "tileflow: error[E_USAGE]: %s '%s'", what, word);
  if (nearest)
    fprintf(stderr, "; did you mean '%s'?", nearest);
  fputs("\n", stderr);
  return CLI_BAD_INPUT;
}

static const cli_command *find_command(const char *name) {
  const char *nearest = NULL;
  size_t best = 0;
  for (int i = 0; i < cli_n_commands; i++) {
    if (!strcmp(cli_commands[i].name, name))
      return &cli_commands[i];
    if (likeness(cli_commands[i].name, name) > best) {
      best = likeness(cli_commands[i].name, name);
      nearest = cli_commands[i].name;
    }
  }
  bad_usage("this version has no command", name, nearest);
  return NULL;
}

/* Options that take a value: where it goes. */
static const char **value_slot(cli_options *o, const char *name) {
  struct {
    const char *name;
    const char **slot;
  } row[] = {{"--json", &o->json}, {"--csv", &o->csv}, {"--svg", &o->svg}, {"--dot", &o->dot}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
    if (!strcmp(row[i].name, name))
      return row[i].slot;
  return NULL;
}

static bool takes_ignored_value(const char *name) {
  static const char *const row[] = {"--seed", "--threads", "--objective", "--time-limit"};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
    if (!strcmp(row[i], name))
      return true;
  return false;
}

static bool add_setting(cli_options *o, char *text) {
  char *eq = strchr(text, '=');
  if (!eq || eq == text) {
    bad_usage("--set wants NAME=VALUE, not", text, NULL);
    return false;
  }
  *eq = 0;
  o->set[o->n_set++] = (tf_setting){text, eq + 1};
  return true;
}

/* Sorts the arguments into options and files; false after a message. */
static bool parse(cli_options *o, const char **files, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    const char **slot = value_slot(o, argv[i]);
    bool value = slot || !strcmp(argv[i], "--set") || takes_ignored_value(argv[i]);
    if (value && i + 1 == argc)
      return bad_usage("a value is missing after", argv[i], NULL) == CLI_DONE;
    if (slot)
      *slot = argv[++i];
    else if (!strcmp(argv[i], "--set")) {
      if (!add_setting(o, argv[++i]))
        return false;
    } else if (value)
      i++;
    else if (!strcmp(argv[i], "--quiet"))
      o->quiet = true;
    else if (argv[i][0] == '-' && argv[i][1])
      return bad_usage("unknown option", argv[i], NULL) == CLI_DONE;
    else
      files[o->n_files++] = argv[i];
  }
  o->files = files;
  return true;
}

static bool asks(int argc, char **argv, const char *option) {
  for (int i = 0; i < argc; i++)
    if (!strcmp(argv[i], option))
      return true;
  return false;
}

static int run_command(const cli_command *c, int argc, char **argv) {
  const char **files = calloc((size_t)argc + 1, sizeof *files);
  cli_options o = {.set = calloc((size_t)argc + 1, sizeof(tf_setting))};
  int status = CLI_FAILED;
  if (files && o.set) {
    if (!parse(&o, files, argc, argv))
      status = CLI_BAD_INPUT;
    else if (!o.n_files) {
      fprintf(stderr, "tileflow: error[E_USAGE]: no files given\n%s", c->help);
      status = CLI_BAD_INPUT;
    } else
      status = c->run(&o);
  }
  free(files);
  free(o.set);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
    usage(argc < 2 ? stderr : stdout);
    return argc < 2 ? CLI_BAD_INPUT : CLI_DONE;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("tileflow " TILEFLOW_VERSION);
    return CLI_DONE;
  }
  const cli_command *c = find_command(argv[1]);
  if (!c)
    return CLI_BAD_INPUT;
  if (asks(argc - 2, argv + 2, "--help")) {
    fputs(c->help, stdout);
    return CLI_DONE;
  }
  return run_command(c, argc - 2, argv + 2);
}
