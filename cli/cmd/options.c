/* One table says which options there are, what follows them and which commands take them. */
#include "cli/cmd/options.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/outputs.h"
#include "cli/nearest.h"
#include "cli/session/session.h"
#include "cli/wrap.h"

/* What follows an option. */
typedef enum { FLAG, SETTING, PATHS, PATH, SEED, EVALS, THREADS, KERNELS, SECONDS, OBJECTIVE, STRATEGY, METHOD } kind;

/* Of whole numbers; what fits an int is held in one, the others in 64 bits. */
static const struct {
  int64_t least, most;
} limits[] = {[SEED] = {0, INT64_MAX}, [EVALS] = {1, INT64_MAX}, [THREADS] = {1, 256}, [KERNELS] = {1, 1000}};

typedef struct {
  const char *name, *value; /* value: as the help shows it, NULL: none follows */
  size_t at;                /* where cli_options holds it: AT */
  kind kind;
  unsigned commands; /* that take it */
  const char *help;
} row;
#define AT(field) offsetof(cli_options, field)

static const row rows[] = {
    {"--set", "NAME=VALUE", AT(set), SETTING, CLI_READING | CLI_IMPORT,
     "give a param (import: a macro) another value; may be repeated"},
    {"--json", "FILE|-", AT(json), PATH, CLI_EVAL | CLI_DIFF | CLI_TREE | CLI_BOUND | CLI_SOLVE | CLI_SEARCH,
     "write the exact figures as JSON; -: to stdout, and nothing else there"},
    {"--csv", "FILE|-", AT(csv), PATH, CLI_EVAL | CLI_DIFF | CLI_TREE | CLI_BOUND | CLI_SOLVE | CLI_SEARCH,
     "the same as comma-separated values"},
    {"--svg", "FILE|-", AT(svg), PATH, CLI_TREE, "draw the tree as SVG, not as text"},
    {"--dot", "FILE|-", AT(dot), PATH, CLI_TREE, "draw it for Graphviz"},
    {"--quiet", NULL, AT(quiet), FLAG, CLI_ALL, "print no report; errors still go to stderr"},
    {"--host", NULL, AT(host), FLAG, CLI_IMPORT, "describe the computer this runs on"},
    {"--root", "DIR", AT(root), PATH, CLI_IMPORT, "read DIR/sys and DIR/proc instead of /sys and /proc"},
    {"--out", "FILE|-", AT(out), PATH, CLI_IMPORT | CLI_EXPORT | CLI_EMIT,
     "write there (-o, too); import: stdout if not given; export and emit: a new folder"},
    {"--to", "NAME", AT(format), PATH, CLI_EXPORT, "the tool it is for: timeloop or tileflow"},
    {"--target", "cpu|staged", AT(target), PATH, CLI_EMIT,
     "what the kernel is for, cpu if not given; staged: loops alone"},
    {"--isa", "NAME", AT(isa), PATH, CLI_EMIT,
     "portable, sse2, avx2, avxvnni, avx512, avx512_vnni, avx512_bf16, amx, neon, multi; this computer's best if not "
     "given"},
    {"--dtype", "NAME", AT(dtype), PATH, CLI_EMIT, "type of the data: f32, bf16, int8; f32 if not given"},
    {"--micro", "NAME", AT(micro), PATH, CLI_EMIT,
     "where products of float32 come from: own, libxsmm; own if not given"},
    {"--name", "NAME", AT(name), PATH, CLI_EMIT, "of the function, and prefix of all it exports; kernel if not given"},
    {"--measure", "N", AT(measure), KERNELS, CLI_EMIT,
     "time the kernels of the model's N best mappings here, and keep the fastest"},
    {"--dump-ir", NULL, AT(dump_ir), FLAG, CLI_EMIT, "print the loop IR, too"},
    {"--help", NULL, AT(help), FLAG, CLI_ALL, "print this"},
    {"--objective", "latency|energy|edp|traffic", AT(objective), OBJECTIVE, CLI_SEARCHING,
     "what a search makes small; latency if not given"},
    {"--seed", "N", AT(seed), SEED, CLI_SEARCHING & ~CLI_SOLVE, "of the search's random numbers; 1 if not given"},
    {"--threads", "N", AT(threads), THREADS, CLI_SEARCHING | CLI_BOUND, "one for each processor if not given"},
    {"--time-limit", "S", AT(time_limit), SECONDS, CLI_SEARCHING | CLI_BOUND,
     "seconds a search may take; bound: for each capacity, 1 if not given"},
    {"--evals", "N", AT(evals), EVALS, CLI_SEARCHING | CLI_BOUND,
     "mappings a search may evaluate; without either: 500000, or 10 s; bound: 20000 for each capacity"},
    {"--strategy", "NAME", AT(strategy), STRATEGY, CLI_SEARCHING & ~CLI_SOLVE,
     "ga-mcts (the rule), mcts, ga, random, exhaustive"},
    {"--method", "NAME", AT(method), METHOD, CLI_SOLVE, "how to solve: exact (the rule), closed"},
    {"--start", "FILE", AT(start), PATHS, CLI_SEARCH,
     "a mapping to begin with (YAML, JSON of eval, or what search printed); may be repeated"},
    {"--log", "FILE", AT(log), PATH, CLI_SEARCH, "write what each step of the search found"},
    {"--resume", NULL, AT(resume), FLAG, CLI_SEARCH, "go on from the log of a search that was stopped"},
    {"--mapping", "FILE|-", AT(mapping), PATH, CLI_SOLVE | CLI_SEARCH, "write the mapping as YAML"},
    {"--pareto", "FILE|-", AT(pareto), PATH, CLI_SEARCH,
     "write the mappings that none beats in cycles, energy, traffic and words held, as CSV"},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
  cli_options *out;
  const cli_command *command;
  tf_diags *diags;
  bool seen[N_ROWS]; /* to refuse what is given twice */
} reader;

static const tf_loc nowhere = {0};
enum { VALUE_MOST = 12 }; /* columns of a value beside which its help stands */

static void *slot(reader *r, const row *o) { return (char *)r->out + o->at; }

static int longer(int n, const char *text) { return (int)strlen(text) > n ? (int)strlen(text) : n; }

void cli_options_help(unsigned command, FILE *out) {
  int name = 0, value = 0;
  for (size_t i = 0; i < N_ROWS; i++) {
    if (!(rows[i].commands & command)) continue;
    name = longer(name, rows[i].name);
    if (rows[i].value && strlen(rows[i].value) <= VALUE_MOST) value = longer(value, rows[i].value);
  }
  for (size_t i = 0; i < N_ROWS; i++) {
    if (!(rows[i].commands & command)) continue;
    const char *v = rows[i].value ? rows[i].value : "";
    int left = name + value + 5;
    if ((int)strlen(v) > value) /* a long value has its line */
      fprintf(out, "  %-*s %s\n%*s", name, rows[i].name, v, left, "");
    else
      fprintf(out, "  %-*s %-*s  ", name, rows[i].name, value, v);
    cli_wrap(out, rows[i].help, left);
  }
}

/* ---- values ------------------------------------------------------------------------- */
static bool read_setting(reader *r, char *value) {
  char *eq = strchr(value, '=');
  if (!eq || eq == value) return tf_fail(r->diags, nowhere, TF_E_USAGE, "--set needs NAME=VALUE, not '%.60s'", value);
  *eq = '\0';
  r->out->set[r->out->n_set++] = (tf_setting){value, eq + 1};
  return true;
}

/* 1000000 or 1e6 or 2.5e6: whole numbers up to 2^63 - 1, exactly; *past: it is larger. */
static bool read_whole(const char *text, int64_t *out, bool *past) {
  int64_t n = 0;
  int behind = 0, digits = 0; /* behind: digits behind the point */
  bool point = false;
  for (; text && ((*text >= '0' && *text <= '9') || (*text == '.' && !point)); text++) {
    if (*text == '.') {
      point = true;
      continue;
    }
    *past = __builtin_mul_overflow(n, (int64_t)10, &n) || __builtin_add_overflow(n, (int64_t)(*text - '0'), &n);
    if (*past) return false;
    behind += point;
    digits++;
  }
  long power = 0;
  if (!digits) return false;
  if (*text == 'e' || *text == 'E') {
    text += text[1] == '+' ? 2 : 1;
    if (*text < '0' || *text > '9') return false;
    for (; *text >= '0' && *text <= '9'; text++)
      power = power < 1000 ? 10 * power + (*text - '0') : power;
  }
  for (power -= behind; power < 0 && n % 10 == 0; power++)
    n /= 10;
  for (; power > 0 && n; power--)
    if ((*past = __builtin_mul_overflow(n, (int64_t)10, &n))) return false;
  *out = n;
  return !*text && (power >= 0 || n == 0);
}

static bool read_count(reader *r, const row *o, const char *value) {
  int64_t n = 0, least = limits[o->kind].least, most = limits[o->kind].most;
  bool past = false, ok = read_whole(value, &n, &past) && n >= least && n <= most;
  if (ok && most <= INT_MAX) *(int *)slot(r, o) = (int)n;
  if (ok && most > INT_MAX) memcpy(slot(r, o), &n, sizeof n);
  if (ok) return true;
  char limit[40] = "";
  if (past || most < INT64_MAX) snprintf(limit, sizeof limit, ", at most %" PRId64, most);
  return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs a whole number of %d or more%s, not '%.60s'", o->name,
                 (int)least, limit, value);
}

static bool read_seconds(reader *r, const row *o, const char *value) {
  char *end;
  double s = strtod(value, &end);
  *(double *)slot(r, o) = s;
  if (end != value && !*end && s > 0 && s < 1e9) return true;
  return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs seconds above 0, not '%.60s'", o->name, value);
}

/* The index of a word in what name(k) lists, -1 with an error. */
static int read_word(reader *r, const char *value, const char *what, const char *(*name)(int k)) {
  cli_nearest near = cli_nearest_to(value);
  char known[120] = "";
  for (int k = 0; name(k); k++) {
    if (!strcmp(name(k), value)) return k;
    cli_nearest_offer(&near, name(k));
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", k ? ", " : "", name(k));
  }
  if (near.best)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no %s '%.60s', did you mean '%s'?", what, value, near.best);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no %s '%.60s'; known: %s", what, value, known);
  return -1;
}

static const char *strategy_name(int k) { return tf_search_strategy(k, NULL); }

static bool read_objective(reader *r, const char *value) {
  int k = read_word(r, value, "objective", tf_objective_key);
  if (k >= 0) r->out->objective = (tf_objective)k;
  return k >= 0;
}

static bool read_strategy(reader *r, const char *value) {
  int k = read_word(r, value, "strategy", strategy_name);
  if (k >= 0) r->out->strategy = strategy_name(k);
  return k >= 0;
}

static bool read_method(reader *r, const char *value) {
  int k = read_word(r, value, "method", cli_method);
  if (k >= 0) r->out->method = cli_method(k);
  return k >= 0;
}

static bool keep_path(reader *r, const row *o, const char *value) {
  if (!value || !*value) return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs %s", o->name, o->value);
  *(const char **)slot(r, o) = value;
  return true;
}

static bool take(reader *r, const row *o, char *value) {
  switch (o->kind) {
  case FLAG: *(bool *)slot(r, o) = true; return true;
  case PATHS: r->out->start[r->out->n_start++] = value; return true;
  case SETTING: return read_setting(r, value);
  case PATH: return keep_path(r, o, value);
  case SEED:
  case EVALS:
  case THREADS:
  case KERNELS: return read_count(r, o, value);
  case SECONDS: return read_seconds(r, o, value);
  case OBJECTIVE: return read_objective(r, value);
  case STRATEGY: return read_strategy(r, value);
  case METHOD: return read_method(r, value);
  }
  return false;
}

/* ---- arguments ---------------------------------------------------------------------- */
/* The row of the first len letters of arg; NULL if there is none.  An option that the command
 * does not take is an error, too, but its value is known to be no file. */
static const row *find(reader *r, const char *arg, size_t len) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)len, arg);
  if (!strcmp(name, "-h")) strcpy(name, "--help");
  if (!strcmp(name, "-o")) strcpy(name, "--out");
  cli_nearest near = cli_nearest_to(name);
  for (size_t i = 0; i < N_ROWS; i++) {
    bool takes = (rows[i].commands & r->command->id) != 0;
    if (takes) cli_nearest_offer(&near, rows[i].name);
    if (strcmp(rows[i].name, name) != 0) continue;
    if (!takes) tf_fail(r->diags, nowhere, TF_E_USAGE, "%s has no option %s", r->command->name, name);
    return &rows[i];
  }
  if (near.best)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no option '%s', did you mean '%s'?", name, near.best);
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
  if (r->seen[o - rows] && o->kind != SETTING && o->kind != PATHS && o->kind != FLAG)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s given twice", o->name);
  r->seen[o - rows] = true;
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

static void check_emit(reader *r) {
  const cli_options *o = r->out;
  if (!o->target) r->out->target = "cpu";
  if (strcmp(o->target, "cpu") != 0 && strcmp(o->target, "staged") != 0)
    tf_fail(r->diags, nowhere, TF_E_USAGE,
            "no target '%.40s'; this version has cpu, and staged, whose loops --dump-ir prints", o->target);
  else if (strcmp(o->target, "cpu") != 0 && (o->out || o->measure))
    tf_fail(r->diags, nowhere, TF_E_USAGE, "--target %s has no kernels, only loops: --dump-ir without -o and --measure",
            o->target);
  if (!o->out && !o->dump_ir)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "emit needs -o DIR, a folder that is not there yet");
  if (is_stdout(o->out))
    tf_fail(r->diags, nowhere, TF_E_USAGE,
            "emit writes a folder, which cannot go to stdout: -o DIR (./- for a folder called -)");
  if (o->name) tf_emit_can_name(o->name, r->diags);
  if (o->measure && !o->out)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "--measure needs -o DIR, where the fastest kernel goes");
}

static void check_export(reader *r) {
  const cli_options *o = r->out;
  bool known = false;
  for (int i = 0; tf_export_format(i); i++)
    known |= o->format && !strcmp(o->format, tf_export_format(i));
  if (!o->format)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "export needs --to timeloop or --to tileflow");
  else if (!known)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no format '%.40s': timeloop or tileflow", o->format);
  if (!o->out) tf_fail(r->diags, nowhere, TF_E_USAGE, "export needs -o DIR, a folder that is not there yet");
}

static void check_whole(reader *r) {
  const cli_options *o = r->out;
  if (r->command->id == CLI_EXPORT) check_export(r);
  if (o->n_first && o->n_first == o->n_files)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "diff needs files after '--', too");
  if (r->command->id == CLI_EMIT) check_emit(r);
  if (is_stdout(o->json) + is_stdout(o->csv) + is_stdout(o->svg) + is_stdout(o->dot) + is_stdout(o->mapping) +
          is_stdout(o->pareto) >
      1)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "only one result can go to stdout ('-')");
  cli_check_outputs(o, r->diags);
  if (o->resume && !o->log) tf_fail(r->diags, nowhere, TF_E_USAGE, "--resume needs --log FILE, the log to go on from");
  if (is_stdout(o->log)) tf_fail(r->diags, nowhere, TF_E_USAGE, "--log needs a file, not stdout");
  if (o->n_files == 0 && !o->host && tf_diags_errors(r->diags) == 0) {
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs at least one file", r->command->name);
    tf_note(r->diags, nowhere, "tileflow %s --help shows an example", r->command->name);
  }
}

/* "--": what follows are files; of diff, those of the second side, and options may still follow.  Returns the latter.
 */
static bool part_files(reader *r) {
  if (r->command->id != CLI_DIFF) return false;
  if (r->out->n_first || r->out->n_files == 0)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "diff needs files before '--', and '--' once");
  r->out->n_first = r->out->n_files;
  return true;
}

bool cli_options_read(cli_options *out, const cli_command *c, int n, char **args, tf_diags *d) {
  *out = (cli_options){.files = calloc((size_t)n + 1, sizeof *out->files),
                       .set = calloc((size_t)n + 1, sizeof *out->set),
                       .start = calloc((size_t)n + 1, sizeof *out->start),
                       .seed = 1};
  if (!out->files || !out->set || !out->start) return tf_fail(d, nowhere, TF_E_LIMIT, "out of memory");
  reader r = {.out = out, .command = c, .diags = d};
  bool options = true;
  for (int i = 0; i < n; i++) {
    if (options && !strcmp(args[i], "--"))
      options = part_files(&r);
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
  free(o->start);
}
