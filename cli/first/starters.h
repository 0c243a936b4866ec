/* What a folder of one's own begins with. */
#ifndef CLI_FIRST_STARTERS_H
#define CLI_FIRST_STARTERS_H

typedef struct {
  const char *name, *about;
  const char *workload, *mapping; /* texts of files */
} cli_starter;
enum { CLI_N_STARTERS = 3 };
extern const cli_starter cli_starters[CLI_N_STARTERS]; /* the first if none is named */
/* The machine of all of them. */
extern const char cli_starter_machine[];
#endif
