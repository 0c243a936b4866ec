/* tileflow completion: what a shell must know to complete commands and options, from their tables.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/nearest.h"
#include "cli/os/safe_write.h"

typedef struct {
  cli_input in; /* whose one file is the name of a shell */
  const char *out;
} completion_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(completion_options, WRITE, out, "write it there (-o, too)")};

/* Words that a command takes besides files: codes of why, shells of completion, commands of help.
 */
static void put_codes(cli_text *out) {
  for (int k = 0; k < TF_N_CODES; k++)
    cli_printf(out, "%s%s", k ? " " : "", tf_code_key((tf_code)k));
}
static void put_shells(cli_text *out);
static void put_commands(cli_text *out) {
  const cli_command *c;
  for (size_t k = 0; (c = cli_command_at(k)); k++)
    cli_printf(out, "%s%s", k ? " " : "", c->name);
}
static void put_sections(cli_text *out) { cli_printf(out, "file arch workload mapping"); }
static void put_none(cli_text *out) { (void)out; }

static const struct {
  const char *command;
  void (*put)(cli_text *out);
} words[] = {{"why", put_codes},
             {"completion", put_shells},
             {"schema", put_sections},
             {"help", put_commands},
             {"example", put_none}};
enum { N_WORDS = sizeof words / sizeof *words };

/* Whether the arguments of a command are files. */
static bool takes_files(const char *command) {
  for (int i = 0; i < N_WORDS; i++)
    if (!strcmp(words[i].command, command)) return false;
  return true;
}

/* ---- bash --------------------------------------------------------------------------------- */
/* A case for each option with words of its own or without files, then one for each command's
 * options. */
static void put_bash_values(const cli_command *c, cli_text *out) {
  cli_option_facts o;
  for (int k = 0; cli_option_at(c, k, &o); k++) {
    if (!o.value || o.path) continue;
    cli_printf(out, "  %s:%s)", c->name, o.name);
    if (*o.words) cli_printf(out, " COMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))", o.words);
    cli_printf(out, "%s return ;;\n", *o.words ? ";" : "");
  }
}

static void put_bash_options(const cli_command *c, cli_text *out) {
  cli_option_facts o;
  cli_printf(out, "  %s) options=\"", c->name);
  for (int k = 0; cli_option_at(c, k, &o); k++)
    cli_printf(out, "%s%s", k ? " " : "", o.name);
  cli_printf(out, "\" ;;\n");
}

static void put_bash(cli_text *out) {
  const cli_command *c;
  cli_printf(out, "# bash completion of tileflow: tileflow completion bash\n_tileflow() {\n"
                  "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
                  "command=${COMP_WORDS[1]} options words\n"
                  "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" = 1 ]; then\n"
                  "    COMPREPLY=($(compgen -W \"");
  put_commands(out);
  cli_printf(
      out, " help --help --version\" -- \"$cur\"))\n    return\n  fi\n  case $command:$prev in\n");
  for (size_t k = 0; (c = cli_command_at(k)); k++)
    put_bash_values(c, out);
  cli_printf(out, "  esac\n  case $command in\n");
  for (size_t k = 0; (c = cli_command_at(k)); k++)
    put_bash_options(c, out);
  cli_printf(out, "  esac\n  case $command in\n");
  for (int i = 0; i < N_WORDS; i++) {
    cli_printf(out, "  %s) words=\"", words[i].command);
    words[i].put(out);
    cli_printf(out, "\" ;;\n");
  }
  cli_printf(out, "  *) words= ;;\n  esac\n  case $cur in\n"
                  "  -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
                  "  *)\n    if [ -n \"$words\" ]; then\n"
                  "      COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "    else\n      mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                  "    fi\n    ;;\n  esac\n}\n"
                  "complete -o filenames -F _tileflow tileflow\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */
/* Within single quotes, and where zsh reads brackets, colons and backslashes. */
static void put_zsh_text(const char *text, cli_text *out) {
  for (; *text; text++) {
    if (*text == '\'')
      cli_printf(out, "'\\''");
    else
      cli_printf(out, strchr("[]:\\", *text) ? "\\%c" : "%c", *text);
  }
}

static void put_zsh_option(const cli_option_facts *o, cli_text *out) {
  cli_printf(out, " \\\n    '%s%s%s[",
             !strcmp(o->name, "--set") || !strcmp(o->name, "--start") ? "*" : "", o->name,
             o->value ? "=" : "");
  put_zsh_text(o->help, out);
  cli_printf(out, "]");
  if (o->value) {
    cli_printf(out, ":");
    put_zsh_text(o->value, out);
    cli_printf(out, ":");
    if (o->path)
      cli_printf(out, "_files");
    else if (*o->words)
      cli_printf(out, "(%s)", o->words);
    else
      cli_printf(out, " ");
  }
  cli_printf(out, "'");
}

static void put_zsh_command(const cli_command *c, cli_text *out) {
  cli_option_facts o;
  cli_printf(out, "  %s) _arguments", c->name);
  for (int k = 0; cli_option_at(c, k, &o); k++)
    put_zsh_option(&o, out);
  cli_printf(out, " \\\n    '*:");
  if (takes_files(c->name)) {
    cli_printf(out, "file:_files");
  } else {
    cli_printf(out, "name:(");
    for (int i = 0; i < N_WORDS; i++)
      if (!strcmp(words[i].command, c->name)) words[i].put(out);
    cli_printf(out, ")");
  }
  cli_printf(out, "' ;;\n");
}

static void put_zsh(cli_text *out) {
  const cli_command *c;
  cli_printf(
      out,
      "#compdef tileflow\n# zsh completion of tileflow: tileflow completion zsh\n_tileflow() {\n"
      "  local -a commands\n  commands=(\n");
  for (size_t k = 0; (c = cli_command_at(k)); k++) {
    cli_printf(out, "    '%s:", c->name);
    put_zsh_text(c->summary, out);
    cli_printf(out, "'\n");
  }
  cli_printf(
      out, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
           "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (size_t k = 0; (c = cli_command_at(k)); k++)
    put_zsh_command(c, out);
  cli_printf(out, "  help) _describe command commands ;;\n  esac\n}\n"
                  "if [ \"$funcstack[1]\" = _tileflow ]; then _tileflow \"$@\"; else compdef "
                  "_tileflow tileflow; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */
static void put_fish_text(const char *text, cli_text *out) {
  for (; *text; text++)
    cli_printf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
}

static void put_fish_command(const cli_command *c, cli_text *out) {
  cli_option_facts o;
  cli_printf(out, "complete -c tileflow -n __fish_use_subcommand -f -a %s -d '", c->name);
  put_fish_text(c->summary, out);
  cli_printf(out, "'\n");
  for (int k = 0; cli_option_at(c, k, &o); k++) {
    cli_printf(out, "complete -c tileflow -n '__fish_seen_subcommand_from %s' -l %s", c->name,
               o.name + 2);
    if (o.value) cli_printf(out, o.path ? " -r -F" : " -x");
    if (*o.words) cli_printf(out, " -a '%s'", o.words);
    cli_printf(out, " -d '");
    put_fish_text(o.help, out);
    cli_printf(out, "'\n");
  }
}

static void put_fish(cli_text *out) {
  const cli_command *c;
  cli_printf(out, "# fish completion of tileflow: tileflow completion fish\n"
                  "complete -c tileflow -n __fish_use_subcommand -f -l help -d 'the commands'\n"
                  "complete -c tileflow -n __fish_use_subcommand -f -l version -d 'the version'\n");
  for (size_t k = 0; (c = cli_command_at(k)); k++)
    put_fish_command(c, out);
  for (int i = 0; i < N_WORDS; i++) {
    cli_printf(out, "complete -c tileflow -n '__fish_seen_subcommand_from %s' -f -a '",
               words[i].command);
    words[i].put(out);
    cli_printf(out, "'\n");
  }
}

/* ---- the command ---------------------------------------------------------------------------- */
static const struct {
  const char *name;
  void (*put)(cli_text *out);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
enum { N_SHELLS = sizeof shells / sizeof *shells };

static void put_shells(cli_text *out) {
  for (int i = 0; i < N_SHELLS; i++)
    cli_printf(out, "%s%s", i ? " " : "", shells[i].name);
}

/* N_SHELLS with an error in d: there is none. */
static int find_shell(const char *name, tf_diags *d) {
  cli_nearest near = cli_nearest_to(name);
  for (int i = 0; i < N_SHELLS; i++) {
    if (!strcmp(shells[i].name, name)) return i;
    cli_nearest_offer(&near, shells[i].name);
  }
  if (near.best)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no completion for '%.40s', did you mean '%s'?", name,
            near.best);
  else
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no completion for '%.40s'", name);
  return N_SHELLS;
}

static void check_completion(void *options, tf_diags *d) {
  completion_options *o = options;
  o->in.fileless = true;
  for (size_t i = 0; i < o->in.n_files; i++)
    find_shell(o->in.files[i], d);
  if (o->in.n_files != 1)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "completion needs one shell: bash, zsh or fish");
}

static cli_status run_completion(const void *options) {
  const completion_options *o = options;
  cli_text t = {0};
  if (o->in.quiet && !o->out) return CLI_DONE;
  shells[find_shell(o->in.files[0], NULL)].put(&t);
  return cli_put_text(o->out ? o->out : "-", &t) ? CLI_DONE : CLI_FAILED;
}

const cli_command cmd_completion = {
    .name = "completion",
    .summary = "commands and options for a shell to complete: bash, zsh, fish",
    .arguments = "SHELL",
    .about = "Prints a script that has the shell complete commands, options and their values, from "
             "the same tables as this help.  For this session: source <(tileflow completion bash); "
             "for all, write it to ~/.local/share/bash-completion/completions/tileflow, a folder "
             "of zsh's fpath as _tileflow, or ~/.config/fish/completions/tileflow.fish.\n"
             "Exit status: 0, 2 for another shell.\n",
    .example = "bash",
    .size = sizeof(completion_options),
    CLI_SLOTS(slots),
    .check = check_completion,
    .run = run_completion,
};
