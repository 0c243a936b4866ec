/* A folder for what a program that is run reads and writes. */
#ifndef CLI_TEMP_DIR_H
#define CLI_TEMP_DIR_H

/* A new one below TMPDIR, or /tmp; malloc'd.  NULL after a message on stderr. */
char *cli_temp_dir(void);
/* Removes the folder with all that is in it, and frees its name; NULL is fine. */
void cli_temp_dir_drop(char *dir);
#endif
