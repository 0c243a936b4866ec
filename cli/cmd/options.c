/* Reads options: the table says what follows each, the command where its value is stored. */
#include "cli/cmd/commands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nearest.h"
#include "cli/session/session.h"
#include "cli/wrap.h"
#include "tileflow/export.h"
#include "tileflow/tune.h"

/* What follows an option.  WORD: any text; RESULT: a path, or "-" for stdout; LOG, OUT: what else
 * is written. */
typedef enum {
  FLAG,
  SETTING,
  PATHS,
  WORD,
  RESULT,
  LOG,
  OUT,
  SEED,
  EVALS,
  THREADS,
  KERNELS,
  SECONDS,
  OBJECTIVE,
  FORMAT,
  STRATEGY,
  TUNER,
  METHOD,
  SHARD,
  POINT
} kind;

/* Ranges of integer options; those that fit an int are stored in one, the others in 64 bits. */
static const struct {
  int64_t least, most;
} limits[] = {[SEED] = {0, INT64_MAX},
              [EVALS] = {1, INT64_MAX},
              [THREADS] = {1, 256},
              [KERNELS] = {1, 1000},
              [POINT] = {0, INT64_MAX}};

typedef struct {
  const char *name, *value; /* value: as shown in the help; NULL: none follows */
  kind kind;
  const char *help;
} row;
static const row rows[CLI_N_OPTIONS] = {
#define X(id, name, value, kind, help) {name, value, kind, help},
    CLI_OPTIONS(X)
#undef X
};

typedef struct {
  cli_arguments *out;
  cli_input *in; /* the front of out->options */
  const cli_command *command;
  tf_diags *diags;
  bool seen[CLI_N_OPTIONS]; /* to report options given twice */
  union {
    int64_t whole;
    double seconds;
    const char *text;
    cli_paths paths;
    int shard[2];
  } spare; /* target for the value of an option that the command does not have: it is checked all
              the same */
} reader;

static const tf_loc nowhere = {0};
enum { VALUE_MOST = 12 }; /* columns of a value beside which its help fits */

static const cli_slot *slot_of(const cli_command *c, cli_option o) {
  for (size_t i = 0; i < c->n_slots; i++)
    if (c->slots[i].option == o) return &c->slots[i];
  return NULL;
}

static bool takes(const cli_command *c, cli_option o) {
  return o == CLI_SET || o == CLI_QUIET || o == CLI_HELP || slot_of(c, o);
}

/* Where the value of an option is stored. */
static void *slot_for(reader *r, const row *o) {
  const cli_option k = (cli_option)(o - rows);
  if (k == CLI_QUIET) return &r->in->quiet;
  if (k == CLI_HELP) return &r->out->help;
  const cli_slot *slot = slot_of(r->command, k);
  memset(&r->spare, 0, sizeof r->spare);
  return slot ? (void *)((char *)r->out->options + slot->offset) : &r->spare;
}

static const char *strategy_name(int k) { return tf_search_strategy(k, NULL); }
static const char *tuner_name(int k) { return tf_tune_strategy(k, NULL); }

/* The list of names that may follow an option; NULL: what follows has none. */
static const char *(*names_of(kind of))(int k) {
  return of == OBJECTIVE  ? tf_objective_key
         : of == FORMAT   ? tf_export_format
         : of == STRATEGY ? strategy_name
         : of == TUNER    ? tuner_name
         : of == METHOD   ? cli_method
                          : NULL;
}

/* What follows an option, as the help shows it. */
static const char *value_of(const cli_command *c, cli_option o) {
  const cli_slot *slot = slot_of(c, o);
  return slot && slot->value ? slot->value : rows[o].value;
}

static void help_of(const cli_command *c, cli_option o, char *out, size_t size) {
  const cli_slot *slot = slot_of(c, o);
  const char *said = slot && slot->help ? slot->help : rows[o].help, *end = strstr(said, CLI_NAMES);
  const char *(*name)(int k) = end ? names_of(rows[o].kind) : NULL;
  const int plain = end ? (int)(end - said) : (int)strlen(said);
  size_t n = (size_t)snprintf(out, size, "%.*s", plain, said);
  for (int k = 0; name && name(k) && n < size; k++)
    n += (size_t)snprintf(out + n, size - n, "%s%s%s", k ? ", " : "", name(k),
                          k ? "" : " (default)");
}

static int longer(int n, const char *text) { return (int)strlen(text) > n ? (int)strlen(text) : n; }

void cli_options_help(const cli_command *c, FILE *out) {
  int name = 0, value = 0;
  for (int i = 0; i < CLI_N_OPTIONS; i++) {
    if (!takes(c, (cli_option)i)) continue;
    name = longer(name, rows[i].name);
    const char *v = value_of(c, (cli_option)i);
    if (v && strlen(v) <= VALUE_MOST) value = longer(value, v);
  }
  for (int i = 0; i < CLI_N_OPTIONS; i++) {
    if (!takes(c, (cli_option)i)) continue;
    const char *given = value_of(c, (cli_option)i), *v = given ? given : "";
    int left = name + value + 5;
    if ((int)strlen(v) > value) /* a longer value gets a line of its own */
      fprintf(out, "  %-*s %s\n%*s", name, rows[i].name, v, left, "");
    else
      fprintf(out, "  %-*s %-*s  ", name, rows[i].name, value, v);
    char help[sizeof((cli_option_facts){0}).help];
    help_of(c, (cli_option)i, help, sizeof help);
    cli_wrap(out, help, left);
  }
}

/* ---- what others are told ------------------------------------------------------------ */
static bool is_path(const row *o) {
  const bool word = o->kind == WORD && o->value;
  return o->kind == RESULT || o->kind == LOG || o->kind == OUT || o->kind == PATHS ||
         (word &&
          (!strcmp(o->value, "FILE") || !strcmp(o->value, "DIR") || !strcmp(o->value, "STORE")));
}

static void describe_option(const cli_command *c, cli_option i, cli_option_facts *out) {
  const row *o = &rows[i];
  const char *value = value_of(c, i);
  const bool own = value != o->value; /* the command takes some of the names alone */
  const char *(*name)(int k) = own ? NULL : names_of(o->kind);
  *out = (cli_option_facts){.name = o->name, .value = value, .path = is_path(o)};
  help_of(c, i, out->help, sizeof out->help);
  if ((own || o->kind == WORD) && value && strchr(value, '|'))
    snprintf(out->words, sizeof out->words, "%s", value);
  for (char *bar = out->words; (bar = strchr(bar, '|'));)
    *bar = ' ';
  for (int k = 0; name && name(k); k++)
    snprintf(out->words + strlen(out->words), sizeof out->words - strlen(out->words), "%s%s",
             k ? " " : "", name(k));
}

bool cli_option_at(const cli_command *c, int k, cli_option_facts *out) {
  for (int i = 0; i < CLI_N_OPTIONS; i++)
    if (takes(c, (cli_option)i) && k-- == 0) {
      describe_option(c, (cli_option)i, out);
      return true;
    }
  return false;
}

/* ---- values ------------------------------------------------------------------------- */
static bool read_setting(reader *r, char *value) {
  char *eq = strchr(value, '=');
  if (!eq || eq == value)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "--set needs NAME=VALUE, not '%.60s'", value);
  *eq = '\0';
  r->in->set[r->in->n_set++] = (tf_setting){value, eq + 1};
  return true;
}

/* An integer up to 2^63 - 1 such as 1000000, 1e6 or 2.5e6, exactly; *past: it is larger. */
static bool read_whole(const char *text, int64_t *out, bool *past) {
  int64_t n = 0;
  int behind = 0, digits = 0; /* behind: digits after the point */
  bool point = false;
  for (; text && ((*text >= '0' && *text <= '9') || (*text == '.' && !point)); text++) {
    if (*text == '.') {
      point = true;
      continue;
    }
    *past = __builtin_mul_overflow(n, (int64_t)10, &n) ||
            __builtin_add_overflow(n, (int64_t)(*text - '0'), &n);
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
  if (ok && most <= INT_MAX) *(int *)slot_for(r, o) = (int)n;
  if (ok && most > INT_MAX) memcpy(slot_for(r, o), &n, sizeof n);
  if (ok) return true;
  char limit[40] = "";
  if (past || most < INT64_MAX) snprintf(limit, sizeof limit, ", at most %" PRId64, most);
  return tf_fail(r->diags, nowhere, TF_E_USAGE,
                 "%s needs a whole number of %d or more%s, not '%.60s'", o->name, (int)least, limit,
                 value);
}

static bool read_seconds(reader *r, const row *o, const char *value) {
  char *end;
  double s = strtod(value, &end);
  *(double *)slot_for(r, o) = s;
  if (end != value && !*end && s > 0 && s < 1e9) return true;
  return tf_fail(r->diags, nowhere, TF_E_USAGE,
                 "%s needs seconds above 0 and below 1e9, not '%.60s'", o->name, value);
}

/* The index of a word in the list that name(k) gives; -1 with an error. */
static int read_word(reader *r, const char *value, const char *what, const char *(*name)(int k)) {
  cli_nearest near = cli_nearest_to(value);
  char known[120] = "";
  for (int k = 0; name(k); k++) {
    if (!strcmp(name(k), value)) return k;
    cli_nearest_offer(&near, name(k));
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", k ? ", " : "", name(k));
  }
  if (near.best)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no %s '%.60s', did you mean '%s'?", what, value,
            near.best);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no %s '%.60s'; known: %s", what, value, known);
  return -1;
}

static bool read_name(reader *r, const row *o, const char *value, const char *what,
                      const char *(*name)(int k)) {
  int k = read_word(r, value, what, name);
  if (k >= 0) *(const char **)slot_for(r, o) = name(k);
  return k >= 0;
}

static bool read_objective(reader *r, const row *o, const char *value) {
  int k = read_word(r, value, "objective", tf_objective_key);
  if (k >= 0) *(tf_objective *)slot_for(r, o) = (tf_objective)k;
  return k >= 0;
}

static bool keep_start(reader *r, const row *o, const char *value) {
  cli_paths *p = slot_for(r, o);
  if (p->items) p->items[p->n++] = value;
  return true;
}

static bool keep_path(reader *r, const row *o, const char *value) {
  if (!value || !*value)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs %s", o->name, o->value);
  *(const char **)slot_for(r, o) = value;
  return true;
}

/* I/N, 1 <= I <= N, into two ints. */
static bool read_shard(reader *r, const row *o, const char *value) {
  char *end;
  long i = strtol(value, &end, 10), n = *end == '/' ? strtol(end + 1, &end, 10) : 0;
  int *to = slot_for(r, o);
  if (*value < '0' || *value > '9' || *end || i < 1 || i > n || n > INT_MAX)
    return tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs I/N, like 1/4, not '%.40s'", o->name,
                   value);
  to[0] = (int)i;
  to[1] = (int)n;
  return true;
}

static bool read_value(reader *r, const row *o, char *value) {
  switch (o->kind) {
  case FLAG: *(bool *)slot_for(r, o) = true; return true;
  case PATHS: return keep_start(r, o, value);
  case SETTING: return read_setting(r, value);
  case WORD:
  case RESULT:
  case LOG:
  case OUT: return keep_path(r, o, value);
  case SEED:
  case EVALS:
  case THREADS:
  case KERNELS:
  case POINT: return read_count(r, o, value);
  case SECONDS: return read_seconds(r, o, value);
  case OBJECTIVE: return read_objective(r, o, value);
  case FORMAT: return read_name(r, o, value, "format", tf_export_format);
  case STRATEGY: return read_name(r, o, value, "strategy", strategy_name);
  case TUNER: return read_name(r, o, value, "strategy", tuner_name);
  case METHOD: return read_name(r, o, value, "method", cli_method);
  case SHARD: return read_shard(r, o, value);
  }
  return false;
}

/* ---- arguments ---------------------------------------------------------------------- */
/* Whether the command has another option of the same name. */
static bool has_namesake(const cli_command *c, int i) {
  for (int k = 0; k < CLI_N_OPTIONS; k++)
    if (k != i && !strcmp(rows[k].name, rows[i].name) && takes(c, (cli_option)k)) return true;
  return false;
}

/* The row of the first len letters of arg; NULL if there is none.  An option that the command does
 * not have is an error, too, but its value is recognised as such and not taken for a file. */
static const row *find_option(reader *r, const char *arg, size_t len) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)len, arg);
  if (!strcmp(name, "-h")) strcpy(name, "--help");
  if (!strcmp(name, "-o")) strcpy(name, "--out");
  cli_nearest near = cli_nearest_to(name);
  for (int i = 0; i < CLI_N_OPTIONS; i++) {
    const bool known = takes(r->command, (cli_option)i);
    if (known) cli_nearest_offer(&near, rows[i].name);
    if (strcmp(rows[i].name, name) != 0) continue;
    if (!known && has_namesake(r->command, i))
      continue; /* the command has another row of that name */
    if (!known)
      tf_fail(r->diags, nowhere, TF_E_USAGE, "%s has no option %s", r->command->name, name);
    return &rows[i];
  }
  if (near.best)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no option '%s', did you mean '%s'?", name, near.best);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "no option '%s'", name);
  return NULL;
}

/* Reads the option at args[i], and its value in the same argument (--name=value) or the next.
 * Returns the index of the last argument used. */
static int read_option(reader *r, int i, int n, char **args) {
  char *eq = strchr(args[i], '=');
  const row *o = find_option(r, args[i], eq ? (size_t)(eq - args[i]) : strlen(args[i]));
  if (!o) return i;
  if (r->seen[o - rows] && o->kind != SETTING && o->kind != PATHS && o->kind != FLAG)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s given twice", o->name);
  r->seen[o - rows] = true;
  if (eq && !o->value)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s takes no value", o->name);
  else if (eq || !o->value)
    read_value(r, o, eq ? eq + 1 : NULL);
  else if (i + 1 < n)
    read_value(r, o, args[++i]);
  else
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs %s", o->name, o->value);
  return i;
}

/* ---- the whole ---------------------------------------------------------------------------- */
/* Lists what is written, and whether stdout is used; only one result can go there. */
static void list_outputs(reader *r) {
  static const kind order[] = {RESULT, LOG, OUT};
  cli_arguments *a = r->out;
  int n_stdout = 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < CLI_N_OPTIONS; i++) {
      if (rows[i].kind != order[k] || !slot_of(r->command, (cli_option)i)) continue;
      const char *path = *(const char **)slot_for(r, &rows[i]);
      if (path && strcmp(path, "-") != 0)
        a->outputs[a->n_outputs++] = (cli_output){(cli_option)i, rows[i].name, path};
      else
        n_stdout += path && order[k] == RESULT;
    }
  r->in->stdout_taken = n_stdout > 0;
  if (n_stdout > 1)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "only one result can go to stdout ('-')");
}

static void check_whole(reader *r) {
  const cli_slot *start = slot_of(r->command, CLI_START);
  list_outputs(r);
  cli_check_outputs(r->out, start ? slot_for(r, &rows[CLI_START]) : NULL, r->diags);
  if (r->command->check) r->command->check(r->out->options, r->diags);
  if (r->in->n_files == 0 && !r->in->fileless && tf_diags_errors(r->diags) == 0) {
    tf_fail(r->diags, nowhere, TF_E_USAGE, "%s needs at least one file", r->command->name);
    tf_note(r->diags, nowhere, "tileflow %s --help shows an example", r->command->name);
  }
}

/* "--": what follows are files; for diff, those of the second side, after which options may follow:
 * returns that. */
static bool part_files(reader *r) {
  if (!r->command->two_sides) return false;
  if (r->in->n_first || r->in->n_files == 0)
    tf_fail(r->diags, nowhere, TF_E_USAGE, "diff needs files before '--', and '--' once");
  r->in->n_first = r->in->n_files;
  return true;
}

/* Allocates the command's struct, with room for n values of each option that may be repeated. */
static bool make_room(reader *r, size_t n) {
  r->in = r->out->options = calloc(1, r->command->size);
  if (!r->in) return false;
  r->in->files = calloc(n + 1, sizeof *r->in->files);
  r->in->set = calloc(n + 1, sizeof *r->in->set);
  bool ok = r->in->files && r->in->set;
  for (size_t i = 0; i < r->command->n_slots; i++) {
    const row *o = &rows[r->command->slots[i].option];
    const uint64_t seed = 1;
    const int64_t none = -1;
    if (o->kind == SEED) memcpy(slot_for(r, o), &seed, sizeof seed);
    if (o->kind == POINT) memcpy(slot_for(r, o), &none, sizeof none);
    if (o->kind == PATHS)
      ok = (((cli_paths *)slot_for(r, o))->items = calloc(n + 1, sizeof(char *))) && ok;
  }
  return ok;
}

bool cli_arguments_read(cli_arguments *out, const cli_command *c, int n, char **args, tf_diags *d) {
  *out = (cli_arguments){0};
  reader r = {.out = out, .command = c, .diags = d};
  if (!make_room(&r, (size_t)n)) return tf_out_of_memory(d);
  bool options = true;
  for (int i = 0; i < n; i++) {
    if (options && !strcmp(args[i], "--"))
      options = part_files(&r);
    else if (options && args[i][0] == '-' && args[i][1])
      i = read_option(&r, i, n, args);
    else
      r.in->files[r.in->n_files++] = args[i];
  }
  if (!out->help) check_whole(&r);
  return tf_diags_errors(d) == 0;
}

void cli_arguments_free(cli_arguments *a, const cli_command *c) {
  cli_input *in = a->options;
  if (!in) return;
  for (size_t i = 0; i < c->n_slots; i++)
    if (rows[c->slots[i].option].kind == PATHS)
      free(((cli_paths *)((char *)a->options + c->slots[i].offset))->items);
  free(in->files);
  free(in->set);
  free(in);
}
