#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/cmd/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Whether both names refer to one regular file, by any path. */
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

static void check_input(const cli_output *to, const char *path, tf_diags *d) {
  if (same_file(to->path, path))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "%s would overwrite '%.80s', which is read", to->name,
            path);
}

void cli_check_outputs(const cli_arguments *a, const cli_paths *start, tf_diags *d) {
  const cli_input *in = a->options;
  const cli_output *all = a->outputs;
  for (int i = 0; i < a->n_outputs; i++) {
    for (int k = 0; k < i; k++)
      if (same_file(all[k].path, all[i].path))
        tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                "%s and %s name the same file, '%.80s': only one would be kept", all[k].name,
                all[i].name, all[i].path);
    for (size_t k = 0; k < in->n_files; k++)
      check_input(&all[i], in->files[k], d);
    for (size_t k = 0; start && k < start->n; k++)
      if (all[i].option !=
          CLI_MAPPING) /* which may improve the file of --start: that is read first */
        check_input(&all[i], start->items[k], d);
  }
}

static bool ready(const cli_output *to) {
  struct stat old;
  const char *name, *why = NULL;
  char *folder = folder_of(to->path, &name);
  if (!folder)
    why = "out of memory";
  else if (stat(to->path, &old) == 0 && S_ISDIR(old.st_mode) && to->option != CLI_OUT)
    why = strerror(EISDIR);
  else if (stat(to->path, &old) == 0 && !S_ISREG(old.st_mode))
    why = NULL; /* a device or a pipe: it is written directly */
  else if (access(folder, W_OK | X_OK) != 0)
    why = strerror(errno);
  free(folder);
  if (why) cli_complain_of(to->path, TF_E_IO, "cannot write: %s", why);
  return !why;
}

bool cli_outputs_ready(const cli_arguments *a) {
  bool ok = true;
  for (int i = 0; i < a->n_outputs; i++)
    if (a->outputs[i].option != CLI_OUT) /* problems with --out are reported together with others */
      ok = ready(&a->outputs[i]) && ok;
  return ok;
}
