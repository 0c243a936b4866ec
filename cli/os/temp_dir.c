#define _XOPEN_SOURCE 700
#include "cli/os/temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

enum { FILES_OPEN = 16 };

char *cli_temp_dir(void) {
  const char *under = getenv("TMPDIR");
  cli_text path = {0};
  cli_printf(&path, "%s/tileflow-XXXXXX", under && *under ? under : "/tmp");
  if (!path.bad && mkdtemp(path.text)) return path.text;
  cli_complain_of(path.bad ? "" : path.text, TF_E_IO, "cannot make a temporary folder");
  cli_text_free(&path);
  return NULL;
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *at) {
  (void)st, (void)flag, (void)at;
  return remove(path);
}

void cli_temp_dir_drop(char *dir) {
  if (dir) nftw(dir, drop, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
  free(dir);
}
