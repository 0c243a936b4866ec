#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/os/safe_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/os/interrupt.h"

static bool fail(const char *path, const char *why) {
  cli_complain_of(path, TF_E_IO, "cannot write: %s", why);
  return false;
}

/* Writes all of it and closes f; errno is set if that fails. */
static bool put(FILE *f, const cli_text *text) {
  bool ok = fwrite(text->text, 1, text->len, f) == text->len;
  int why = errno;
  if (fclose(f) != 0) return false;
  if (!ok) errno = why;
  return ok;
}

/* Creates a file beside path, named in temp; it gets the mode of an existing file at path. */
static FILE *open_beside(const char *path, const struct stat *old, char *temp, size_t size) {
  for (int i = 0; i < 100; i++) {
    snprintf(temp, size, "%s.tmp-%ld-%d", path, (long)getpid(), i);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return NULL;
    if (old && fchmod(fd, old->st_mode & 07777) != 0) errno = 0; /* the default mode will do */
    FILE *f = fdopen(fd, "w");
    if (!f) close(fd);
    return f;
  }
  return NULL;
}

static bool replace(const char *path, const struct stat *old, const cli_text *text) {
  size_t size = strlen(path) + 48;
  char *temp = malloc(size);
  if (!temp) return fail(path, "out of memory");
  cli_begin_write();
  FILE *f = open_beside(path, old, temp, size);
  bool ok = f && put(f, text) && rename(temp, path) == 0;
  if (!ok) fail(path, strerror(errno));
  if (f && !ok) unlink(temp);
  cli_end_write();
  free(temp);
  return ok;
}

static bool write_as_it_is(const char *path, const cli_text *text) {
  FILE *f = fopen(path, "w");
  return (f && put(f, text)) || fail(path, strerror(errno));
}

bool cli_safe_write(const char *path, const cli_text *text) {
  struct stat old;
  if (text->bad) return fail(path, "out of memory");
  if (!strcmp(path, "-")) return fwrite(text->text, 1, text->len, stdout) == text->len;
  if (stat(path, &old) != 0) return replace(path, NULL, text);
  if (!S_ISREG(old.st_mode)) return write_as_it_is(path, text);
  char *target = realpath(path, NULL); /* a symbolic link stays one */
  bool ok = target ? replace(target, &old, text) : fail(path, strerror(errno));
  free(target);
  return ok;
}

bool cli_put_text(const char *path, cli_text *text) {
  bool ok = cli_safe_write(path, text);
  cli_text_free(text);
  return ok;
}
