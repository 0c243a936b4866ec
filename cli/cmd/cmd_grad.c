/* tileflow grad: the backward workload. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/session/input.h"
#include "tileflow/grad.h"

typedef struct {
  cli_input in;
  tf_grad_options ask;
  const char *step, *out;
} grad_options;
static const cli_slot slots[] = {
    CLI_AT(grad_options, OF, ask.of),
    CLI_AT_SAYS(grad_options, BY, ask.by, "what by; all inputs that it hangs on if not given"),
    CLI_AT(grad_options, GIVEN, ask.given),
    CLI_AT(grad_options, STEP, step),
    CLI_AT(grad_options, AGAIN, ask.again),
    CLI_AT(grad_options, OUT, out)};

/* The command as a comment, then the workload. */
static void write_workload(cli_text *text, const grad_options *o, const char *yaml) {
  cli_printf(text, "# tileflow grad");
  for (size_t i = 0; i < o->in.n_files; i++)
    cli_printf(text, " %s", o->in.files[i]);
  if (o->ask.of) cli_printf(text, " --of %s", o->ask.of);
  if (o->ask.by) cli_printf(text, " --by %s", o->ask.by);
  if (o->ask.given) cli_printf(text, " --given %s", o->ask.given);
  if (o->step) cli_printf(text, " --step %s", o->step);
  if (o->ask.again) cli_printf(text, " --again %s", o->ask.again);
  for (size_t i = 0; i < o->in.n_set; i++)
    cli_printf(text, " --set %s=%s", o->in.set[i].name, o->in.set[i].value);
  cli_printf(text, "\n%s", yaml);
}

static bool differentiate(const grad_options *o, cli_text *text, tf_diags *d) {
  tf_spec *spec = cli_read_spec(&o->in, d);
  char *yaml = NULL;
  if (spec && !spec->workload)
    tf_fail(d, (tf_loc){0}, TF_E_MISSING, "no 'workload' section in these files");
  tf_grad_options ask = o->ask;
  ask.step = o->step ? tf_update_of(o->step) : TF_UPDATE_NONE;
  if (spec && spec->workload) yaml = tf_grad(spec->workload, &ask, d);
  if (yaml) write_workload(text, o, yaml);
  free(yaml);
  tf_spec_free(spec);
  return yaml != NULL;
}

static void check_grad(void *options, tf_diags *d) {
  const grad_options *o = options;
  const tf_loc nowhere = {0};
  if (o->step && tf_update_of(o->step) == TF_UPDATE_NONE)
    tf_fail(d, nowhere, TF_E_USAGE, "--step is sgd or adam, not '%.40s'", o->step);
}

static cli_status run_grad(const void *options) {
  const grad_options *o = options;
  tf_diags *d = cli_diags();
  cli_text text = {0};
  cli_status status = CLI_BAD_INPUT;
  if (!d) return CLI_FAILED;
  if (differentiate(o, &text, d))
    status = cli_safe_write(o->out ? o->out : "-", &text) ? CLI_DONE : CLI_FAILED;
  else
    cli_complain(d);
  cli_text_free(&text);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_grad = {
    .name = "grad",
    .summary = "the backward workload, as YAML",
    .about =
        "Writes the workload that makes d_T, the gradient by T, for each T of --by, from the "
        "inputs and d_O for each O of --of: reverse mode.  What it needs of the forward ops is "
        "among its ops.  With --step it is a training step instead: from the inputs, T_next for "
        "each T of --by, by the gradient of the sum of all O (docs/HOWTO-train.md).\n"
        "Exit status: 0, or 2 for bad input.\n",
    .example = "workloads/attention/g1.yaml --of O --by Q,K,V",
    .size = sizeof(grad_options),
    CLI_SLOTS(slots),
    .check = check_grad,
    .run = run_grad,
};
