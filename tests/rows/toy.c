/* The command of the row that is added to cli/cmd/commands.h, `toy FILE... [--threads N]`: how many
 * values the ops of a workload compute, all together. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  int threads;
} toy_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(toy_options, THREADS, threads, "how many share the work; 1 if not given")};

static cli_status run(const void *options) {
  const toy_options *o = options;
  cli_session s;
  const cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE && s.spec->workload) {
    const tf_workload *wl = s.spec->workload;
    int64_t points = 0;
    for (int i = 0; i < wl->n_ops; i++) {
      int64_t of_op = 1;
      for (int k = 0; k < wl->ops[i].n_dims; k++)
        of_op *= wl->dims[wl->ops[i].dims[k]].extent;
      points += of_op;
    }
    printf("toy: %" PRId64 " points for each of %d\n", points / (o->threads > 0 ? o->threads : 1),
           o->threads > 0 ? o->threads : 1);
  }
  cli_close(&s);
  return status;
}

const cli_command cmd_toy = {
    .name = "toy",
    .summary = "a command of a test",
    .about = "Counts the points of all ops.\n",
    .example = "examples/matmul-small.yaml",
    .size = sizeof(toy_options),
    CLI_SLOTS(slots),
    .run = run,
};
