/* What does not fit, where, and by how much. */
#include <inttypes.h>

#include "cli/report/report.h"
#include "tileflow/tree.h"

static const char *const along[] = {" along x", " along y", ""};

void cli_violation_line(const cli_session *s, const tf_violation *v, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  bool unit = v->unit >= 0, capacity = v->code == TF_E_CAPACITY;
  cli_printf(out, "%s needs %" PRId64 " %s%s, has %" PRId64 ": %" PRId64 " too many",
             v->part ? v->part->name
             : unit  ? a->units[v->unit].name
                     : a->memories[v->level].name,
             v->need,
             capacity ? "words"
             : unit   ? "units"
                      : "instances",
             capacity ? "" : along[v->axis], v->have, v->need - v->have);
}

static void note_limit(cli_session *s, const tf_violation *v) {
  const tf_arch *a = s->spec->arch;
  if (v->code == TF_E_CAPACITY)
    tf_note(s->diags, v->part ? v->part->capacity_at : a->memories[v->level].capacity_at,
            "its capacity");
  else if (v->unit < 0)
    tf_note(s->diags, a->memories[v->level].mesh_at, "its mesh");
  else
    tf_note(s->diags, a->units[v->unit].at, "these units");
}

cli_status cli_report_violations(cli_session *s, cli_status status) {
  const tf_result *r = &s->result;
  if (r->feasible) return status;
  for (int i = 0; i < r->n_violations; i++) {
    const tf_violation *v = &r->violations[i];
    cli_text line = {0};
    cli_violation_line(s, v, &line);
    tf_fail(s->diags, s->tree->nodes[v->node].at, v->code, "%s", line.text ? line.text : "");
    note_limit(s, v);
    cli_text_free(&line);
  }
  cli_complain(s->diags);
  return status == CLI_DONE ? CLI_INFEASIBLE : status;
}
