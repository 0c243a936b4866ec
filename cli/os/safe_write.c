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

/* What is written: a text, or what another file holds. */
typedef struct {
  const cli_text *text;
  FILE *from;
} content;

static bool write_all(FILE *f, const content *what) {
  char piece[1 << 16];
  if (what->text) return fwrite(what->text->text, 1, what->text->len, f) == what->text->len;
  rewind(what->from);
  for (size_t n; (n = fread(piece, 1, sizeof piece, what->from)) > 0;)
    if (fwrite(piece, 1, n, f) != n) return false;
  return !ferror(what->from);
}

/* Writes all of it and closes f; errno is set if that fails. */
static bool write_content(FILE *f, const content *what) {
  bool ok = write_all(f, what);
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

static bool replace(const char *path, const struct stat *old, const content *what) {
  size_t size = strlen(path) + 48;
  char *temp = malloc(size);
  if (!temp) return fail(path, "out of memory");
  cli_begin_write();
  FILE *f = open_beside(path, old, temp, size);
  bool ok = f && write_content(f, what) && rename(temp, path) == 0;
  if (!ok) fail(path, strerror(errno));
  if (f && !ok) unlink(temp);
  cli_end_write();
  free(temp);
  return ok;
}

static bool write_as_it_is(const char *path, const content *what) {
  FILE *f = fopen(path, "w");
  return (f && write_content(f, what)) || fail(path, strerror(errno));
}

static bool write_to(const char *path, const content *what) {
  struct stat old;
  if (!strcmp(path, "-")) return write_all(stdout, what);
  if (stat(path, &old) != 0) return replace(path, NULL, what);
  if (!S_ISREG(old.st_mode)) return write_as_it_is(path, what);
  char *target = realpath(path, NULL); /* a symbolic link stays one */
  bool ok = target ? replace(target, &old, what) : fail(path, strerror(errno));
  free(target);
  return ok;
}

bool cli_safe_write(const char *path, const cli_text *text) {
  if (text->bad) return fail(path, "out of memory");
  return write_to(path, &(content){.text = text});
}

bool cli_safe_copy(const char *path, FILE *from) {
  return write_to(path, &(content){.from = from});
}

FILE *cli_scratch(const char *path) {
  struct stat old;
  char temp[4096];
  if (!strcmp(path, "-") || (stat(path, &old) == 0 && !S_ISREG(old.st_mode))) return tmpfile();
  if (snprintf(temp, sizeof temp, "%s.tmp-XXXXXX", path) >= (int)sizeof temp)
    return errno = ENAMETOOLONG, NULL;
  cli_begin_write(); /* nobody interrupts while it has a name */
  const int fd = mkstemp(temp);
  if (fd >= 0) unlink(temp);
  cli_end_write();
  FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;
  if (!f && fd >= 0) close(fd);
  return f;
}

void cli_refuse_over(const char *path, bool force, tf_diags *d) {
  struct stat old;
  if (!path || force || stat(path, &old) != 0 || !S_ISREG(old.st_mode)) return;
  tf_fail(d, (tf_loc){0}, TF_E_USAGE, "'%.120s' is there already", path);
  tf_note(d, (tf_loc){0}, "--force writes over it");
}

bool cli_put_text(const char *path, cli_text *text) {
  bool ok = cli_safe_write(path, text);
  cli_text_free(text);
  return ok;
}
