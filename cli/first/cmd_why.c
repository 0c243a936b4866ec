/* tileflow why: what an error's code means, an example that provokes it, the repair. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/first/codes.h"
#include "cli/nearest.h"
#include "cli/os/safe_write.h"
#include "cli/wrap.h"

typedef struct {
  cli_input in; /* whose files are codes */
  const char *out;
} why_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(why_options, WRITE, out, "write the example's document there (-o, too)")};

/* Whether a word means a code: E_KEEP, e_keep and KEEP do. */
static bool means(const char *word, const char *key) {
  if (toupper((unsigned char)word[0]) != 'E' || word[1] != '_') key += 2;
  for (; *word && *key; word++, key++)
    if (toupper((unsigned char)*word) != *key) return false;
  return !*word && !*key;
}

/* TF_N_CODES with an error in d: there is none. */
static tf_code find_code(const char *word, tf_diags *d) {
  char upper[32];
  snprintf(upper, sizeof upper, "%s%s",
           toupper((unsigned char)word[0]) == 'E' && word[1] == '_' ? "" : "E_", word);
  for (char *c = upper; *c; c++)
    *c = (char)toupper((unsigned char)*c);
  cli_nearest near = cli_nearest_to(upper);
  for (int k = 0; k < TF_N_CODES; k++) {
    if (means(word, tf_code_key((tf_code)k))) return (tf_code)k;
    cli_nearest_offer(&near, tf_code_key((tf_code)k));
  }
  if (near.best)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no code '%.40s', did you mean '%s'?", word, near.best);
  else
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no code '%.40s': 'tileflow why' lists all", word);
  return TF_N_CODES;
}

static void put_indented(const char *text) {
  while (*text) {
    const size_t n = strcspn(text, "\n");
    printf("%s%.*s\n", n ? "  " : "", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void put_row(tf_code code) {
  const cli_code_row *r = &cli_codes[code];
  printf("%s: %s\n\n", tf_code_key(code), r->brief);
  cli_wrap(stdout, r->cause, 0);
  printf("\nExample%s\n\n", r->document ? ", example.yaml:" : ":");
  if (r->document) {
    put_indented(r->document);
    printf("\n");
  }
  printf("  $ tileflow %s\n", r->command);
  put_indented(r->message);
  printf("\nRepair: ");
  cli_wrap(stdout, r->repair, 8);
}

static void put_list(void) {
  for (int k = 0; k < TF_N_CODES; k++)
    printf("%-11s  %s\n", tf_code_key((tf_code)k), cli_codes[k].brief);
  printf("\ntileflow why E_CODE says what a code means, with an example and the repair.\n");
}

static bool write_document(tf_code code, const char *path) {
  cli_text t = {0};
  cli_printf(&t, "%s", cli_codes[code].document);
  return cli_put_text(path, &t);
}

static void check_why(void *options, tf_diags *d) {
  why_options *o = options;
  tf_code code = TF_N_CODES;
  o->in.fileless = true;
  for (size_t i = 0; i < o->in.n_files; i++)
    code = find_code(o->in.files[i], d);
  if (o->out && o->in.n_files != 1)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--out writes the document of one code, not of %zu",
            o->in.n_files);
  else if (o->out && code < TF_N_CODES && !cli_codes[code].document)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "the example of %s has no document", tf_code_key(code));
}

static cli_status run_why(const void *options) {
  const why_options *o = options;
  bool ok = true;
  if (o->in.n_files == 0 && !o->in.quiet) put_list();
  for (size_t i = 0; i < o->in.n_files; i++) {
    const tf_code code = find_code(o->in.files[i], NULL);
    if (o->out) ok = write_document(code, o->out) && ok;
    if (o->in.quiet || o->in.stdout_taken) continue;
    if (i) printf("\n");
    put_row(code);
  }
  return ok ? CLI_DONE : CLI_FAILED;
}

const cli_command cmd_why = {
    .name = "why",
    .summary = "what an error's code means, an example of it, the repair",
    .arguments = "[E_CODE]",
    .about = "Prints the cause, an example with the message that it provokes, and the repair; "
             "without a code, a line for each.  E_KEEP, e_keep and keep are the same code.\n"
             "Exit status: 0, 2 for a code that does not exist.\n",
    .example = "E_COVER",
    .size = sizeof(why_options),
    CLI_SLOTS(slots),
    .check = check_why,
    .run = run_why,
};
