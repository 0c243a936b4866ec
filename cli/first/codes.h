/* The codes of errors, for people. */
#ifndef CLI_FIRST_CODES_H
#define CLI_FIRST_CODES_H
#include "tileflow/diag.h"

typedef struct {
  const char *brief;    /* in a few words */
  const char *cause;    /* one sentence or a few */
  const char *repair;   /* what to do about it */
  const char *document; /* example.yaml, which provokes it; NULL: the command needs none */
  const char *command;  /* which says it, after "tileflow" */
  const char *message;  /* what it then says on stderr: cli.golden (why-examples) runs it */
} cli_code_row;
extern const cli_code_row cli_codes[TF_N_CODES];
#endif
