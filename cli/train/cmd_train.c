/* tileflow train: a training step weighed. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/safe_write.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/train/train_report.h"

typedef struct {
  cli_input in;
  tf_grad_options ask;
  cli_looking look;
  const char *step, *json, *out;
  int64_t memory, launch;
} train_options;
static const cli_slot slots[] = {
    CLI_AT(train_options, OF, ask.of),
    CLI_AT_SAYS(train_options, BY, ask.by, "the parameters, which the step changes"),
    CLI_AT_SAYS(train_options, STEP, step, "the update rule; sgd if not given"),
    CLI_AT(train_options, MEMORY, memory),
    CLI_AT(train_options, LAUNCH, launch),
    CLI_AT(train_options, JSON, json),
    CLI_AT_SAYS(train_options, OUT, out, "write the step there (-o, too): of the choice marked *"),
    CLI_OBJECTIVE_OF_GROUPS(train_options, look.objective),
    CLI_AT(train_options, SEED, look.seed),
    CLI_AT(train_options, THREADS, look.threads),
    CLI_AT_SAYS(train_options, EVALS, look.evals,
                "mappings evaluated for each group of a plan; 200 if not given")};

static const char *step_of(const train_options *o) { return o->step ? o->step : "sgd"; }

/* The fastest point that fits; -1: none. */
static int taken_of(const train_options *o, const tf_train *t) {
  int best = -1;
  for (int i = 0; i < t->n_points; i++)
    if ((!o->memory || t->points[i].bytes <= o->memory) &&
        (best < 0 || t->points[i].figures.cycles < t->points[best].figures.cycles))
      best = i;
  return best;
}

/* The command that makes the step as a comment, then the step. */
static bool write_step(const train_options *o, const tf_spec *s, const char *again, tf_diags *d) {
  tf_grad_options ask = o->ask;
  ask.step = tf_update_of(step_of(o));
  ask.again = *again ? again : NULL;
  char *yaml = tf_grad(s->workload, &ask, d);
  cli_text t = {0};
  cli_printf(&t, "# tileflow grad");
  for (size_t i = 0; i < o->in.n_files; i++)
    cli_printf(&t, " %s", o->in.files[i]);
  if (ask.of) cli_printf(&t, " --of %s", ask.of);
  cli_printf(&t, " --by %s --step %s", ask.by, step_of(o));
  if (ask.again) cli_printf(&t, " --again %s", ask.again);
  for (size_t i = 0; i < o->in.n_set; i++)
    cli_printf(&t, " --set %s=%s", o->in.set[i].name, o->in.set[i].value);
  cli_printf(&t, "\n%s", yaml ? yaml : "");
  t.bad = t.bad || !yaml;
  free(yaml);
  return cli_put_text(o->out, &t);
}

static cli_status report(const train_options *o, const tf_spec *s, const tf_train *found,
                         tf_diags *d) {
  const cli_train t = {s, found, step_of(o), (double)o->launch, o->memory, taken_of(o, found)};
  cli_text text = {0}, json = {0};
  bool ok = true;
  if (o->json) {
    cli_train_json(&t, &json);
    ok = cli_put_text(o->json, &json);
  }
  if (!o->in.quiet && !o->in.stdout_taken) {
    cli_train_text(&t, &text);
    ok = cli_put_text("-", &text) && ok;
  }
  if (t.chosen >= 0 && o->out) ok = write_step(o, s, found->points[t.chosen].again, d) && ok;
  if (t.chosen >= 0 || !ok) return ok ? CLI_DONE : CLI_FAILED;
  int64_t least = INT64_MAX;
  for (int i = 0; i < found->n_points; i++)
    if (found->points[i].bytes < least) least = found->points[i].bytes;
  fprintf(stderr,
          "tileflow: no choice found needs %lld bytes or less between groups: the least has %lld\n",
          (long long)o->memory, (long long)least);
  return CLI_INFEASIBLE;
}

static cli_status weigh(const train_options *o, tf_diags *d) {
  tf_spec *s = cli_read_spec(&o->in, d);
  tf_train_opts opts = {.step = o->ask,
                        .launch = (double)o->launch,
                        .front = true,
                        .plan = {.objective = o->look.objective,
                                 .budget = {.max_evals = o->look.evals ? o->look.evals : 200,
                                            .threads = o->look.threads,
                                            .seed = o->look.seed,
                                            .stop = cli_interrupted}}};
  opts.step.step = tf_update_of(step_of(o));
  tf_train *found = NULL;
  cli_status status = CLI_BAD_INPUT;
  if (s && cli_has_sections(s, d)) {
    cli_hold_interrupt(CLI_GRACE);
    found = tf_train_of(s->arch, s->workload, &opts, d);
    cli_release_interrupt();
  }
  if (found)
    status = report(o, s, found, d);
  else if (s && tf_diags_errors(d) == 0)
    status = CLI_INTERRUPTED;
  tf_train_free(found);
  tf_spec_free(s);
  return status;
}

static void check_train(void *options, tf_diags *d) {
  const train_options *o = options;
  if (o->step && tf_update_of(o->step) == TF_UPDATE_NONE)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--step is sgd or adam, not '%.40s'", o->step);
  if (!o->ask.by)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "a step changes what --by names: --by W,.., too");
}

static cli_status run_train(const void *options) {
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  const cli_status status = weigh(options, d);
  if (status == CLI_BAD_INPUT) cli_complain(d);
  if (status == CLI_INTERRUPTED) fputs("tileflow: interrupted; nothing is written\n", stderr);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_train = {
    .name = "train",
    .summary = "weigh a training step: fusions, and memory against time",
    .about =
        "Reads an architecture and a forward workload that ends in a loss.  Prints what each "
        "fusion of two ops saves in the training step (words, points, kernels, and the benefit of "
        "thesis Eq. 4.10), and what the forward pass may keep or the backward pass make again: "
        "bytes between groups against cycles, each choice planned (docs/HOWTO-train.md).  -o "
        "writes the fastest step, with --memory the fastest that fits, for plan and emit.\n"
        "Exit status: 0, 2 for bad input, 3 if nothing fits --memory, 130 if interrupted.\n",
    .example = "arch-specs/edge.yaml workloads/training/mlp.yaml --by W1,W2",
    .size = sizeof(train_options),
    CLI_SLOTS(slots),
    .check = check_train,
    .run = run_train,
};
