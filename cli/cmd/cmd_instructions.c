/* tileflow instructions: every way to map the ops onto the machine's instructions. */
#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/instructions.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  const char *json;
  bool paper;
} instructions_options;
static const cli_slot slots[] = {CLI_AT(instructions_options, JSON, json),
                                 CLI_AT(instructions_options, PAPER, paper)};

static cli_status need_sections(cli_session *s) {
  const tf_loc nowhere = {0};
  if (!s->spec->n_instrs)
    tf_fail(s->diags, nowhere, TF_E_MISSING, "no file has a section 'instructions'");
  if (!s->spec->workload)
    tf_fail(s->diags, nowhere, TF_E_MISSING, "no file has a section 'workload'");
  if (s->spec->n_instrs && s->spec->workload) return CLI_DONE;
  cli_complain(s->diags);
  return CLI_BAD_INPUT;
}

static bool print(const instr_table *t, const instructions_options *o) {
  cli_text json = {0}, text = {0};
  bool ok = true;
  if (o->json) {
    instr_json(t, &json);
    ok = cli_safe_write(o->json, &json);
  }
  if (!o->in.quiet && !o->in.stdout_taken) {
    instr_text(t, &text);
    ok = cli_safe_write("-", &text) && ok;
  }
  cli_text_free(&json);
  cli_text_free(&text);
  return ok;
}

static cli_status run_instructions(const void *options) {
  const instructions_options *o = options;
  cli_session s;
  instr_table t = {.paper = o->paper};
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = need_sections(&s);
  if (status == CLI_DONE && !instr_make(&t, s.spec, s.diags)) {
    cli_complain(s.diags);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE && !print(&t, o)) status = CLI_FAILED;
  instr_free(&t);
  cli_close(&s);
  return status;
}

const cli_command cmd_instructions = {
    .name = "instructions",
    .summary = "every way to map the ops onto the machine's instructions",
    .about = "Lists, for each instruction of the section 'instructions' and each op, every way to "
             "give the op's loops to the instruction's, with the calls that takes, the part of "
             "their work that is the op's, the words that are packed, and the time predicted "
             "(docs/HOWTO-instruction.md).\n"
             "Exit status: 0, or 2 for bad input.\n",
    .example = "arch-specs/v100.yaml workloads/gemm.yaml",
    .size = sizeof(instructions_options),
    CLI_SLOTS(slots),
    .run = run_instructions,
};
