/* explain --ladder: schedules from plain loops to the model's first choice, the words that each
 * moves, and its time. */
#include "cli/session/ladder.h"
#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/os/interrupt.h"
#include "cli/os/safe_write.h"
#include "cli/session/session.h"
#include "cli/session/trials.h"
#include "cli/table.h"
#include "tileflow/tree.h"
#include "tileflow/tune.h"
#include "tileflow/version.h"

typedef struct {
  const tf_spec *spec;
  tf_diags *d;
  bool measured;
  tf_ladder ladder;
  double cycles[TF_LADDER_MOST];
  int64_t *words[TF_LADDER_MOST]; /* [n_memories] read and written */
  tf_emitted *kernel[TF_LADDER_MOST];
  tf_timing timing[TF_LADDER_MOST];
} job;

/* Evaluates a mapping by the model. */
static bool evaluate(job *j, int k, const tf_tree *t) {
  const int n = j->spec->workload->n_tensors;
  tf_result r;
  int64_t *const words = calloc((size_t)j->spec->arch->n_memories, sizeof *words);
  tf_model *m = words ? tf_model_new(t, j->d) : NULL;
  const bool ok = m && tf_model_eval(m, NULL, &r);
  j->words[k] = words;
  if (!words) return tf_out_of_memory(j->d);
  if (m && !ok) tf_fail(j->d, (tf_loc){0}, TF_E_RANGE, "a step's counts exceed 2^63 - 1");
  if (ok) j->cycles[k] = r.cycles;
  for (int i = 0; ok && i < n * j->spec->arch->n_memories; i++)
    words[i / n] += r.counts[i].read + r.counts[i].update;
  tf_model_free(m);
  return ok;
}

/* Reads back the step's schedule, as emit --schedule does. */
static bool replay(job *j, int k, int n_isas, const char *const *isas) {
  const char *text = j->ladder.step[k].text;
  tf_schedule beside = {0};
  tf_tree *t = tf_tune_mapping(j->spec->arch, j->spec->workload, n_isas, isas,
                               (tf_text){.name = "the ladder", .text = text, .len = strlen(text)},
                               &beside, j->d);
  bool ok = t && evaluate(j, k, t);
  const tf_emit_options o = {
      .isa = beside.isa, .choices = beside.choices, .version = TILEFLOW_VERSION};
  if (ok && j->measured) j->kernel[k] = tf_emit_cpu(t, &o, j->d);
  tf_tree_free(t);
  return ok && (!j->measured || j->kernel[k]);
}

static bool measure(job *j) {
  cli_trials trials;
  if (!cli_trials_begin(&trials, 0)) return false;
  const bool ok =
      cli_trials_measure(&trials, (const tf_emitted *const *)j->kernel, j->ladder.n, j->timing);
  cli_trials_end(&trials);
  return ok;
}

static bool run_steps(job *j, const cli_looking *look) {
  const char *const isas[] = {"portable", tf_emit_isa(NULL)};
  const int n = strcmp(isas[0], isas[1]) ? 2 : 1;
  const tf_planner_opts plan = {.kernel = {.isa = isas[n - 1], .version = TILEFLOW_VERSION},
                                .objective = look->objective,
                                .strategy = look->strategy,
                                .budget = {.seed = look->seed,
                                           .max_evals = look->evals,
                                           .time_limit = look->time_limit,
                                           .threads = look->threads,
                                           .stop = cli_interrupted}};
  bool ok = tf_tune_ladder(j->spec->arch, j->spec->workload, n, isas, &plan, &j->ladder, j->d);
  for (int k = 0; ok && k < j->ladder.n; k++)
    ok = replay(j, k, n, isas);
  return ok && (!j->measured || !j->ladder.n || measure(j));
}

/* ---- results --------------------------------------------------------------------------------- */
static void write_text(const job *j, cli_text *out) {
  const tf_arch *a = j->spec->arch;
  const size_t columns = 3 + (size_t)a->n_memories + j->measured;
  char *align = malloc(columns + 1);
  if (!align) {
    out->bad = true;
    return;
  }
  memset(align, 'r', columns);
  align[1] = 'l', align[columns] = '\0';
  cli_table t = {.align = align};
  cli_cell(&t, "step"), cli_cell(&t, "takes over"), cli_cell(&t, "cycles");
  for (int l = 0; l < a->n_memories; l++)
    cli_cell(&t, "%s", a->memories[l].name);
  if (j->measured) cli_cell(&t, "measured");
  for (int k = 0; k < j->ladder.n; k++) {
    cli_cell(&t, "%d", k + 1), cli_cell(&t, "%s", j->ladder.step[k].what),
        cli_cell(&t, "%s", cli_real(j->cycles[k]).s);
    for (int l = 0; l < a->n_memories; l++)
      cli_cell(&t, "%s", cli_count(j->words[k][l]).s);
    const tf_timing *ran = &j->timing[k];
    if (j->measured)
      cli_cell(&t, "%s",
               ran->verdict == TF_TUNE_RAN ? cli_si(ran->seconds, "s").s
                                           : tf_verdict_name(ran->verdict));
  }
  cli_printf(out,
             "From plain loops to what emit chooses for %s on %s: words read and written of each "
             "memory, by the model.\n"
             "\n",
             j->spec->workload->name, a->name);
  cli_table_end(&t, out);
  free(align);
  for (int k = 0; k < j->ladder.n; k++)
    cli_printf(out, "\n# step %d: %s\n%s", k + 1, j->ladder.step[k].what, j->ladder.step[k].text);
}

static void write_json(const job *j, cli_text *out) {
  json_t *steps = json_array();
  for (int k = 0; k < j->ladder.n; k++) {
    json_t *words = json_object();
    for (int l = 0; l < j->spec->arch->n_memories; l++)
      json_object_set_new(words, j->spec->arch->memories[l].name, json_integer(j->words[k][l]));
    json_t *o = json_pack("{s:s, s:f, s:o, s:s}", "what", j->ladder.step[k].what, "cycles",
                          j->cycles[k], "words", words, "schedule", j->ladder.step[k].text);
    if (o && j->measured)
      json_object_set_new(o, "verdict", json_string(tf_verdict_name(j->timing[k].verdict)));
    if (o && j->measured && j->timing[k].verdict == TF_TUNE_RAN)
      json_object_set_new(o, "seconds", json_real(j->timing[k].seconds));
    json_array_append_new(steps, o);
  }
  json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "tileflow", TILEFLOW_VERSION, "architecture",
                        j->spec->arch->name, "workload", j->spec->workload->name, "ladder", steps);
  cli_put_json(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

static bool write_ladder(const job *j, const cli_input *in, const char *json) {
  cli_text text = {0}, page = {0};
  if (json) write_json(j, &page);
  bool ok = !json || cli_put_text(json, &page);
  if (in->quiet || in->stdout_taken) return ok;
  write_text(j, &text);
  return cli_put_text("-", &text) && ok;
}

cli_status cli_ladder(const cli_input *in, const cli_looking *look, const char *json,
                      bool measured) {
  cli_session s;
  cli_status status = cli_open(&s, in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  job j = {.spec = s.spec, .d = s.diags, .measured = measured};
  if (status == CLI_DONE && s.tree) {
    fputs("tileflow: error[E_USAGE]: a mapping is given, and a ladder goes to the one that emit "
          "chooses\n",
          stderr);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) {
    const bool ok = run_steps(&j, look);
    if (!ok && tf_diags_errors(s.diags)) cli_complain(s.diags);
    status = ok && !j.ladder.n          ? cli_none_found(&s, j.ladder.evals, j.ladder.stopped_by)
             : ok                       ? CLI_DONE
             : tf_diags_errors(s.diags) ? CLI_BAD_INPUT
             : cli_interrupted(NULL)    ? CLI_INTERRUPTED
                                        : CLI_FAILED;
  }
  if (status == CLI_DONE && !write_ladder(&j, in, json)) status = CLI_FAILED;
  for (int k = 0; k < TF_LADDER_MOST; k++) {
    tf_emitted_free(j.kernel[k]);
    free(j.words[k]);
  }
  tf_ladder_free(&j.ladder);
  cli_close(&s);
  return status;
}
