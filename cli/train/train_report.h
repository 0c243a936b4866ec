/* A training step weighed, for people and for programs. */
#ifndef CLI_TRAIN_TRAIN_REPORT_H
#define CLI_TRAIN_TRAIN_REPORT_H
#include "cli/text.h"
#include "tileflow/net.h"

typedef struct {
  const tf_spec *spec;
  const tf_train *found;
  const char *step;
  double launch;
  int64_t memory; /* bytes that are there; 0: not given */
  int chosen;     /* point that is written; -1: none fits */
} cli_train;

void cli_train_text(const cli_train *t, cli_text *out);
void cli_train_json(const cli_train *t, cli_text *out);
#endif
