/* tileflow init: a machine, a workload and a mapping to start from. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/first/starters.h"
#include "cli/nearest.h"
#include "cli/os/safe_dir.h"
#include "cli/os/safe_write.h"

typedef struct {
  cli_input in; /* whose one file is the folder */
  const char *work;
  bool list;
} init_options;
static const cli_slot slots[] = {CLI_AT(init_options, WORK, work),
                                 CLI_AT(init_options, LIST, list)};

enum { N_FILES = 3 };
static const char *const names[N_FILES] = {"machine.yaml", "workload.yaml", "mapping.yaml"};

static const char *text_of(const cli_starter *s, int i) {
  return i == 0 ? cli_starter_machine : i == 1 ? s->workload : s->mapping;
}

static const char *folder_of(const init_options *o) { return o->in.n_files ? o->in.files[0] : "."; }

/* The path of file i: without "./". */
static void put_path(const init_options *o, int i, cli_text *out) {
  const char *folder = folder_of(o);
  const size_t n = strlen(folder);
  if (!strcmp(folder, "."))
    cli_printf(out, "%s", names[i]);
  else
    cli_printf(out, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", names[i]);
}

static const cli_starter *find(const char *name) {
  for (int i = 0; name && i < CLI_N_STARTERS; i++)
    if (!strcmp(cli_starters[i].name, name)) return &cli_starters[i];
  return name ? NULL : &cli_starters[0];
}

/* ---- before anything is written ----------------------------------------------------------- */
static void check_name(const char *name, tf_diags *d) {
  cli_nearest near = cli_nearest_to(name);
  char known[80] = "";
  for (int i = 0; i < CLI_N_STARTERS; i++) {
    cli_nearest_offer(&near, cli_starters[i].name);
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
             cli_starters[i].name);
  }
  if (near.best)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no workload '%.40s', did you mean '%s'?", name, near.best);
  else
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no workload '%.40s'; known: %s", name, known);
}

static void check_init(void *options, tf_diags *d) {
  init_options *o = options;
  o->in.fileless = true;
  if (!find(o->work)) check_name(o->work, d);
  if (o->in.n_files > 1)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "init takes one folder, not %zu", o->in.n_files);
  if (o->in.n_files && o->list)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--list writes nothing, and takes no folder");
  for (int i = 0; !o->list && o->in.n_files < 2 && i < N_FILES; i++) {
    cli_text path = {0};
    put_path(o, i, &path);
    if (path.text && cli_is_there(path.text))
      tf_fail(d, (tf_loc){0}, TF_E_USAGE, "'%.120s' is there already: init writes over nothing",
              path.text);
    cli_text_free(&path);
  }
}

/* ---- writing ------------------------------------------------------------------------------- */
/* made: whether it was not there before. */
static bool make_folder(const char *path, bool *made) {
  struct stat s;
  if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return true;
  *made = mkdir(path, 0777) == 0;
  if (*made) return true;
  cli_complain_of(path, TF_E_IO, "cannot make the folder: %s", strerror(errno));
  return false;
}

static bool write_one(const init_options *o, const cli_starter *s, int i) {
  cli_text path = {0}, text = {0};
  put_path(o, i, &path);
  cli_printf(&text, "%s", text_of(s, i));
  const bool ok = cli_put_text(cli_part(&path, &text), &text);
  cli_text_free(&path);
  return ok;
}

/* Removes the first n files, and the folder where init made it: one file of three is of no use, and
 * in its way when the disk has room again. */
static void take_back(const init_options *o, int n, bool folder) {
  for (int i = 0; i < n; i++) {
    cli_text path = {0};
    put_path(o, i, &path);
    if (path.text) unlink(path.text);
    cli_text_free(&path);
  }
  if (folder) rmdir(folder_of(o));
}

static bool put_next(const init_options *o, const cli_starter *s) {
  cli_text t = {0}, all[N_FILES] = {{0}};
  for (int i = 0; i < N_FILES; i++)
    put_path(o, i, &all[i]);
  const char *machine = cli_part(&all[0], &t), *work = cli_part(&all[1], &t),
             *mapping = cli_part(&all[2], &t);
  cli_printf(&t, "%s: %s, %s and %s\n\nTry:\n", s->name, machine, work, mapping);
  cli_printf(&t, "  tileflow eval %s %s %s\n", machine, work, mapping);
  cli_printf(&t, "  tileflow best %s %s %s\n", machine, work, mapping);
  cli_printf(&t, "  tileflow tree %s %s %s\n", machine, work, mapping);
  cli_printf(&t, "  tileflow best %s %s --set buffer=32\n", machine, work);
  cli_printf(&t, "  tileflow emit %s %s %s -o kernel\n", machine, work, mapping);
  for (int i = 0; i < N_FILES; i++)
    cli_text_free(&all[i]);
  return cli_put_text("-", &t);
}

static cli_status run_init(const void *options) {
  const init_options *o = options;
  const cli_starter *s = find(o->work);
  for (int i = 0; o->list && i < CLI_N_STARTERS; i++)
    printf("%-12s  %s\n", cli_starters[i].name, cli_starters[i].about);
  if (o->list) return CLI_DONE;
  bool made = false, ok = make_folder(folder_of(o), &made);
  int n = 0;
  while (ok && n < N_FILES && (ok = write_one(o, s, n)))
    n++;
  if (!ok) take_back(o, n, made);
  if (ok && !o->in.quiet) ok = put_next(o, s);
  return ok ? CLI_DONE : CLI_FAILED;
}

const cli_command cmd_init = {
    .name = "init",
    .summary = "write a machine, a workload and a mapping to start from",
    .arguments = "[DIR]",
    .about = "Writes machine.yaml, workload.yaml and mapping.yaml, small and with comments, into "
             "the folder (the current one if none is given), and prints the commands to try.  "
             "Writes over nothing.\n"
             "Exit status: 0, 1 if the folder cannot be written, 2 if one of the files is there "
             "already.\n",
    .example = "my-first",
    .size = sizeof(init_options),
    CLI_SLOTS(slots),
    .check = check_init,
    .run = run_init,
};
