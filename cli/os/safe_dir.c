#include "cli/os/safe_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/os/interrupt.h"

static bool write_file(const char *dir, const tf_emitted_file *f) {
  size_t size = strlen(dir) + strlen(f->name) + 2, n = strlen(f->text);
  char *path = malloc(size);
  if (!path) return false;
  snprintf(path, size, "%s/%s", dir, f->name);
  FILE *out = fopen(path, "wx");
  bool ok = out && fwrite(f->text, 1, n, out) == n;
  ok = out && fclose(out) == 0 && ok;
  free(path);
  return ok;
}

static void discard(const char *dir, const tf_emitted_file *files, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t size = strlen(dir) + strlen(files[i].name) + 2;
    char *path = malloc(size);
    if (!path) continue;
    snprintf(path, size, "%s/%s", dir, files[i].name);
    unlink(path);
    free(path);
  }
  rmdir(dir);
}

/* `path` without trailing slashes, with room for `more`. */
static char *trimmed(const char *path, size_t more) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  char *copy = calloc(n + more + 1, 1);
  if (copy) memcpy(copy, path, n);
  return copy;
}

bool cli_is_there(const char *path) {
  struct stat old;
  char *to = trimmed(path, 0);
  const bool is = to && lstat(to, &old) == 0;
  free(to);
  return is;
}

bool cli_safe_dir(const char *path, const tf_emitted_file *files, size_t n, bool *there) {
  char *to = trimmed(path, 0), *temp = trimmed(path, 32);
  *there = cli_is_there(path);
  if (*there)
    cli_complain_of(path, TF_E_IO, "is there already, and nothing is overwritten; give another -o");
  bool made = false, ok = to && temp && !*there;
  cli_begin_write();
  if (ok) {
    sprintf(temp + strlen(to), ".tmp-%ld", (long)getpid());
    ok = made = mkdir(temp, 0777) == 0;
  }
  for (size_t i = 0; ok && i < n; i++)
    ok = write_file(temp, &files[i]);
  ok = ok && rename(temp, to) == 0;
  if (!ok && !*there) cli_complain_of(path, TF_E_IO, "cannot write: %s", strerror(errno));
  if (!ok && made) discard(temp, files, n);
  cli_end_write();
  free(to);
  free(temp);
  return ok;
}
