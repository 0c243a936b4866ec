#define _XOPEN_SOURCE 700 /* readlink */
#include "cli/os/shipped.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PATH_ROOM = 4096,
  DEEPEST = 4,
  UP = 4
}; /* UP: folders above the program that are looked at */
static const char *const folders[] = {"arch-specs", "examples", "workloads"};

/* "A/B", malloc'd; NULL: out of memory. */
static char *join_path(const char *a, const char *b) {
  char *out = malloc(strlen(a) + strlen(b) + 2);
  if (out) sprintf(out, "%s/%s", a, b);
  return out;
}

static bool is_folder(const char *path) {
  struct stat s;
  return path && stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- where ----------------------------------------------------------------------------- */
static bool has_all(const char *root) {
  bool all = true;
  for (size_t i = 0; all && i < sizeof folders / sizeof *folders; i++) {
    char *path = join_path(root, folders[i]);
    all = is_folder(path);
    free(path);
  }
  return all;
}

static bool take_root(cli_text *out, const char *root) {
  if (!has_all(root)) return false;
  cli_printf(out, "%s", root);
  return !out->bad;
}

/* The folder above a path, in place. */
static bool go_up(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return false;
  *slash = '\0';
  return true;
}

bool cli_shipped_root(cli_text *out) {
  static const char *const usual[] = {"/usr/local/share/tileflow", "/usr/share/tileflow"};
  char at[PATH_ROOM];
  const ssize_t n = readlink("/proc/self/exe", at, sizeof at - 1);
  at[n > 0 ? n : 0] = '\0';
  for (int i = 0; i < UP && go_up(at); i++) {
    char *share = join_path(at, "share/tileflow");
    const bool found = share && (take_root(out, share) || take_root(out, at));
    free(share);
    if (found) return true;
  }
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (take_root(out, usual[i])) return true;
  return false;
}

/* ---- which ------------------------------------------------------------------------------ */
static char *copy_of(const char *text) {
  char *out = malloc(strlen(text) + 1);
  return out ? strcpy(out, text) : NULL;
}

static char *first_comment(const char *path) {
  char line[256] = "";
  FILE *f = fopen(path, "r");
  if (f && !fgets(line, sizeof line, f)) line[0] = '\0';
  if (f) fclose(f);
  line[strcspn(line, "\n")] = '\0';
  return copy_of(line[0] == '#' && line[1] == ' ' ? line + 2 : "");
}

/* Takes over the path. */
static bool add_file(cli_shipped_list *l, const char *whole, char *path) {
  if (!CLI_GROW(l->file, l->n)) {
    free(path);
    return false;
  }
  cli_shipped_file *f = &l->file[l->n++];
  *f = (cli_shipped_file){path, first_comment(whole)};
  return f->says;
}

static bool is_one(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".npu"));
}

static bool walk(cli_shipped_list *l, const char *root, const char *folder, int deep);

/* An entry of a folder: a folder in turn, one of the files, or neither. */
static bool enter(cli_shipped_list *l, const char *root, const char *folder, const char *name,
                  int deep) {
  char *path = join_path(folder, name), *whole = path ? join_path(root, path) : NULL;
  struct stat s;
  bool ok = whole;
  if (ok && deep < DEEPEST && is_folder(whole)) {
    ok = walk(l, root, path, deep + 1);
  } else if (ok && is_one(name) && stat(whole, &s) == 0 && S_ISREG(s.st_mode)) {
    ok = add_file(l, whole, path);
    path = NULL;
  }
  free(path);
  free(whole);
  return ok;
}

static bool walk(cli_shipped_list *l, const char *root, const char *folder, int deep) {
  char *path = join_path(root, folder);
  DIR *d = path ? opendir(path) : NULL;
  bool ok = d;
  for (const struct dirent *e; ok && (e = readdir(d));)
    if (e->d_name[0] != '.') ok = enter(l, root, folder, e->d_name, deep);
  if (d) closedir(d);
  free(path);
  return ok;
}

/* Numbers by their value: g2 before g10. */
static int by_path(const void *pa, const void *pb) {
  const char *a = ((const cli_shipped_file *)pa)->path, *b = ((const cli_shipped_file *)pb)->path;
  while (*a && *b) {
    const size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
    if (n && m && n != m) return n < m ? -1 : 1;
    if (*a != *b) break;
    a++;
    b++;
  }
  return (unsigned char)*a - (unsigned char)*b;
}

bool cli_shipped_files(const char *root, cli_shipped_list *out) {
  bool ok = true;
  *out = (cli_shipped_list){0};
  for (size_t i = 0; ok && i < sizeof folders / sizeof *folders; i++)
    ok = walk(out, root, folders[i], 0);
  if (ok && out->n) qsort(out->file, (size_t)out->n, sizeof *out->file, by_path);
  return ok;
}

void cli_shipped_free(cli_shipped_list *l) {
  for (int i = 0; i < l->n; i++) {
    free(l->file[i].path);
    free(l->file[i].says);
  }
  free(l->file);
  *l = (cli_shipped_list){0};
}
