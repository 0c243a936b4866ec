/* A folder for the files of a program that is run. */
#ifndef CLI_TEMP_DIR_H
#define CLI_TEMP_DIR_H

typedef struct {
  char *path; /* NULL: none */
  int lock;   /* an open file in it, locked as long as this process or a program that it runs lives;
                 -1: none */
} cli_temp;
/* A new folder below TMPDIR, or /tmp; without a path after a message on stderr.  First removes
 * those there that processes of this user left that were killed. */
cli_temp cli_temp_dir(void);
/* Removes the folder with all its contents. */
void cli_temp_dir_drop(cli_temp *t);
#endif
