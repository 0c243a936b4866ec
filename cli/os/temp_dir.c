#define _XOPEN_SOURCE 700
#include "cli/os/temp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

enum { FILES_OPEN = 16, TRIES = 8 };

static const char name[] = "tileflow-XXXXXX", marker[] = "in-use";

static int drop(const char *path, const struct stat *st, int flag, struct FTW *at) {
  (void)st, (void)flag, (void)at;
  return remove(path);
}

static void drop_all(const char *path) { nftw(path, drop, FILES_OPEN, FTW_DEPTH | FTW_PHYS); }

/* Opens the marker of a folder and locks it; -1: it is not there, not this user's, or locked by
 * another (only without LOCK_NB it is waited for). */
static int lock(const char *folder, int flags, int how) {
  cli_text path = {0};
  struct stat st;
  cli_printf(&path, "%s/%s", folder, marker);
  int at = path.bad ? -1 : open(path.text, flags | O_NOFOLLOW, 0600);
  cli_text_free(&path);
  if (at < 0) return -1;
  if (flock(at, how) == 0 && fstat(at, &st) == 0 && st.st_uid == geteuid() && st.st_nlink > 0)
    return at;
  close(at);
  return -1;
}

/* Removes folders whose marker nobody holds. */
static void drop_left(const char *under) {
  const size_t fixed = strlen(name) - strspn(strchr(name, 'X'), "X");
  DIR *all = opendir(under);
  for (struct dirent *e; all && (e = readdir(all));) {
    cli_text path = {0};
    if (strlen(e->d_name) != strlen(name) || strncmp(e->d_name, name, fixed) != 0) continue;
    cli_printf(&path, "%s/%s", under, e->d_name);
    int at = path.bad ? -1 : lock(path.text, O_RDONLY, LOCK_EX | LOCK_NB);
    if (at >= 0) {
      drop_all(path.text);
      close(at);
    }
    cli_text_free(&path);
  }
  if (all) closedir(all);
}

cli_temp cli_temp_dir(void) {
  const char *tmp = getenv("TMPDIR"), *under = tmp && *tmp ? tmp : "/tmp";
  cli_text path = {0};
  drop_left(under);
  for (int i = 0; i < TRIES;
       i++) { /* another process may take a new folder for one that was left */
    cli_text_free(&path);
    path = (cli_text){0};
    cli_printf(&path, "%s/%s", under, name);
    if (path.bad || !mkdtemp(path.text)) break;
    int at = lock(path.text, O_RDWR | O_CREAT | O_EXCL, LOCK_EX);
    if (at >= 0 || access(path.text, F_OK) == 0) return (cli_temp){path.text, at};
  }
  cli_complain_of(path.bad ? "" : path.text, TF_E_IO, "cannot make a temporary folder");
  cli_text_free(&path);
  return (cli_temp){NULL, -1};
}

void cli_temp_dir_drop(cli_temp *t) {
  if (t->path) drop_all(t->path);
  if (t->lock >= 0) close(t->lock);
  free(t->path);
  *t = (cli_temp){NULL, -1};
}
