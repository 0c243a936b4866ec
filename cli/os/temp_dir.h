/* A folder for the files of a program that is run. */
#ifndef CLI_TEMP_DIR_H
#define CLI_TEMP_DIR_H

/* A new one below TMPDIR, or /tmp; malloc'd.  NULL after a message on stderr. */
char *cli_temp_dir(void);
/* Removes the folder with all its contents, and frees its name; NULL is allowed. */
void cli_temp_dir_drop(char *dir);
#endif
