/* A plan of a network, for people and for programs. */
#ifndef CLI_PLAN_REPORT_H
#define CLI_PLAN_REPORT_H
#include "cli/cli.h"
#include "cli/text.h"
#include "tileflow/net.h"

typedef struct {
  const tf_spec *spec;
  const tf_net_plan *plan;
  const tf_net_memory *memory;
  const tf_text *texts; /* of the command's files, in their order */
  bool given;           /* the plan was read from a file */
  bool tuned;           /* mappings come from a store of measurements, where it has them */
} cli_plan;

/* Groups that compute the op. */
int cli_plan_makers(const tf_net_plan *p, int op);
void cli_plan_text(const cli_plan *p, cli_text *out);
void cli_plan_json(const cli_plan *p, cli_text *out);
void cli_plan_csv(const cli_plan *p, cli_text *out);
#endif
