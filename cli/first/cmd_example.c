/* tileflow example: a file that comes with the program, printed or copied. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/nearest.h"
#include "cli/os/safe_write.h"
#include "cli/os/shipped.h"

typedef struct {
  cli_input in; /* whose files are names */
  const char *out;
  bool force;
} example_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(example_options, WRITE, out, "copy it there (-o, too)"),
    CLI_AT(example_options, FORCE, force)};

/* Whether name means the path: all of it or its last parts, with its ending or without. */
static bool means(const char *name, const char *path) {
  const size_t n = strlen(name), all = strlen(path), bare = (size_t)(strrchr(path, '.') - path);
  for (size_t end = bare;; end = all) {
    if (n <= end && !strncmp(path + end - n, name, n) && (n == end || path[end - n - 1] == '/'))
      return true;
    if (end == all) return false;
  }
}

/* Offers the last part of a path without its ending; what is kept is the path. */
static void offer(cli_nearest *near, const char *path) {
  char stem[64];
  const char *last = strrchr(path, '/') + 1;
  snprintf(stem, sizeof stem, "%.*s", (int)strcspn(last, "."), last);
  cli_nearest_offer(near, stem);
  if (near->best == stem) near->best = path;
}

/* The index of the file; -1 with an error that names what it may have been. */
static int find_example(const cli_shipped_list *l, const char *name, tf_diags *d) {
  int at = -1, n = 0;
  cli_nearest near = cli_nearest_to(name);
  char list[160] = "";
  for (int i = 0; i < l->n; i++) {
    offer(&near, l->file[i].path);
    if (!means(name, l->file[i].path)) continue;
    if (!strcmp(name, l->file[i].path)) return i;
    const size_t len = strlen(list);
    snprintf(list + len, sizeof list - len, "%s%s", n ? ", " : "", l->file[i].path);
    at = i;
    n++;
  }
  if (n == 1) return at;
  if (n)
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "'%.60s' is the name of %d files: %s", name, n, list);
  else if (near.best)
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "no example '%.60s', did you mean '%s'?", name, near.best);
  else
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "no example '%.60s': 'tileflow example' lists all", name);
  return -1;
}

enum { LINE = 100, NAMES = 36 };

static void put_list(const cli_shipped_list *l, const char *root) {
  for (int i = 0; i < l->n; i++) {
    const int room =
        LINE - 2 - (int)(strlen(l->file[i].path) > NAMES ? strlen(l->file[i].path) : NAMES);
    const bool whole = (int)strlen(l->file[i].says) <= room;
    if (*l->file[i].says)
      printf("%-*s  %.*s%s\n", NAMES, l->file[i].path, whole ? room : room - 2, l->file[i].says,
             whole ? "" : "..");
    else
      printf("%s\n", l->file[i].path);
  }
  printf(
      "\nThey lie in %s.\n"
      "tileflow example NAME prints one, -o FILE copies it; the last part of a name is enough.\n",
      root);
}

static cli_status put_one(const example_options *o, const char *root, const char *path) {
  cli_text whole = {0};
  cli_printf(&whole, "%s/%s", root, path);
  cli_text empty = {0};
  FILE *f = fopen(cli_part(&whole, &empty), "rb");
  cli_status status = CLI_FAILED;
  if (!f)
    cli_complain_of(whole.text, TF_E_IO, "cannot read: %s", strerror(errno));
  else if ((o->in.quiet && !o->out) || cli_safe_copy(o->out ? o->out : "-", f))
    status = CLI_DONE;
  if (f) fclose(f);
  cli_text_free(&whole);
  return status;
}

static void check_example(void *options, tf_diags *d) {
  example_options *o = options;
  o->in.fileless = true;
  if (o->out && o->in.n_files != 1)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--out copies one file, not %zu", o->in.n_files);
  cli_refuse_over(o->out, o->force, d);
}

static cli_status put_all(const example_options *o, const cli_shipped_list *l, const char *root) {
  cli_status status = CLI_DONE;
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  for (size_t i = 0; i < o->in.n_files; i++)
    find_example(l, o->in.files[i], d);
  if (tf_diags_errors(d)) {
    cli_complain(d);
    status = CLI_BAD_INPUT;
  }
  for (size_t i = 0; status == CLI_DONE && i < o->in.n_files; i++)
    status = put_one(o, root, l->file[find_example(l, o->in.files[i], d)].path);
  tf_diags_free(d);
  return status;
}

static cli_status run_example(const void *options) {
  const example_options *o = options;
  cli_text root = {0};
  cli_shipped_list l = {0};
  cli_status status = CLI_FAILED;
  if (!cli_shipped_root(&root))
    fputs("tileflow: error[E_IO]: the files that come with tileflow are not there: neither beside "
          "the program nor in /usr/share/tileflow\n",
          stderr);
  else if (!cli_shipped_files(root.text, &l))
    cli_complain_of(root.text, TF_E_IO, "cannot read: %s", strerror(errno));
  else if (o->in.n_files)
    status = put_all(o, &l, root.text);
  else {
    if (!o->in.quiet) put_list(&l, root.text);
    status = CLI_DONE;
  }
  cli_shipped_free(&l);
  cli_text_free(&root);
  return status;
}

const cli_command cmd_example = {
    .name = "example",
    .summary = "a machine, workload or mapping that comes with tileflow",
    .arguments = "[NAME]",
    .about = "Prints the file of that name, or copies it; without a name, lists all: machines "
             "(arch-specs), workloads, their mappings (workloads/dataflows), examples.  The last "
             "part of a path is enough where one file has it: edge, attention/g1.\n"
             "Exit status: 0, 2 for a name that no file or that several have.\n",
    .example = "edge",
    .size = sizeof(example_options),
    CLI_SLOTS(slots),
    .check = check_example,
    .run = run_example,
};
