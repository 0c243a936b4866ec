#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/cmd/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  const char *option, *path;
} output;

enum { N_OUTPUTS = 8 };

/* Those that are asked for and are files of their own, --out last. */
static int list(const cli_options *o, output *out) {
  const output all[N_OUTPUTS] = {{"--json", o->json}, {"--csv", o->csv},         {"--svg", o->svg},
                                 {"--dot", o->dot},   {"--mapping", o->mapping}, {"--pareto", o->pareto},
                                 {"--log", o->log},   {"--out", o->out}};
  int n = 0;
  for (int i = 0; i < N_OUTPUTS; i++)
    if (all[i].path && strcmp(all[i].path, "-") != 0) out[n++] = all[i];
  return n;
}

/* The folder of a path, malloc'd; its name in it.  NULL: out of memory. */
static char *folder_of(const char *path, const char **name) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  while (n > 0 && path[n - 1] != '/')
    n--;
  *name = path + n;
  char *folder = malloc(n + 2);
  if (!folder) return NULL;
  memcpy(folder, n ? path : ".", n ? n : 1);
  folder[n ? n : 1] = '\0';
  return folder;
}

static bool same_folder(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether both name one file, by whatever way; what is no regular file may be written to twice. */
static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  bool there = stat(a, &x) == 0, other = stat(b, &y) == 0;
  if (there && !S_ISREG(x.st_mode)) return false;
  if (there && other) return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (there != other) return false;
  const char *p, *q;
  char *f = folder_of(a, &p), *g = folder_of(b, &q);
  bool same = !strcmp(a, b) || (f && g && !strcmp(p, q) && same_folder(f, g));
  free(f);
  free(g);
  return same;
}

static void check_input(const output *to, const char *path, tf_diags *d) {
  if (same_file(to->path, path))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "%s would overwrite '%.80s', which is read", to->option, path);
}

/* A log holds what a search took hours for. */
static void check_log(const cli_options *o, tf_diags *d) {
  struct stat old;
  if (!o->log || o->resume || stat(o->log, &old) != 0 || !S_ISREG(old.st_mode)) return;
  tf_fail(d, (tf_loc){0}, TF_E_USAGE, "the log '%.120s' is there already", o->log);
  tf_note(d, (tf_loc){0}, "--resume goes on from it; remove it to start anew");
}

void cli_check_outputs(const cli_options *o, tf_diags *d) {
  output all[N_OUTPUTS];
  int n = list(o, all);
  check_log(o, d);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      if (same_file(all[k].path, all[i].path))
        tf_fail(d, (tf_loc){0}, TF_E_USAGE, "%s and %s name the same file, '%.80s': only one would be kept",
                all[k].option, all[i].option, all[i].path);
    for (size_t k = 0; k < o->n_files; k++)
      check_input(&all[i], o->files[k], d);
    for (size_t k = 0; k < o->n_start; k++)
      if (all[i].path != o->mapping) /* --start and --mapping of one file make it better: it is read first */
        check_input(&all[i], o->start[k], d);
  }
}

static bool ready(const output *to) {
  struct stat old;
  const char *name, *why = NULL;
  char *folder = folder_of(to->path, &name);
  if (!folder)
    why = "out of memory";
  else if (stat(to->path, &old) == 0 && S_ISDIR(old.st_mode) && strcmp(to->option, "--out") != 0)
    why = strerror(EISDIR);
  else if (stat(to->path, &old) == 0 && !S_ISREG(old.st_mode))
    why = NULL; /* a device, a pipe: it is written to as it is */
  else if (access(folder, W_OK | X_OK) != 0)
    why = strerror(errno);
  free(folder);
  if (why) fprintf(stderr, "%s: error[E_IO]: cannot write: %s\n", to->path, why);
  return !why;
}

bool cli_outputs_ready(const cli_options *o) {
  output all[N_OUTPUTS];
  bool ok = true;
  int n = list(o, all);
  for (int i = 0; i < n && strcmp(all[i].option, "--out") != 0;
       i++) /* what goes there is told with what else is wrong */
    ok = ready(&all[i]) && ok;
  return ok;
}
