/* Chooses layouts for the mapping that a search found, if memories have lines. */
#include "cli/os/interrupt.h"
#include "cli/session/session.h"
#include "tileflow/best.h"

enum {
  PART = 4
}; /* the joint choice of mapping and layouts gets one part in so many of the budget */

int64_t cli_before_layouts(const cli_session *s, int64_t all) {
  return tf_arch_lines(s->spec->arch) ? all - all / PART : all;
}

double cli_seconds_before_layouts(const cli_session *s, double all) {
  return tf_arch_lines(s->spec->arch) ? all - all / PART : all;
}

/* The rest after the first search's part; at least one, as 0 means no limit. */
static int64_t rest(int64_t before) {
  return before > 0 && before < PART ? 1 : before / (PART - 1);
}

cli_status cli_search_layouts(cli_session *s, const cli_looking *l, const tf_budget *before,
                              const tf_tree *found, const tf_tree *given) {
  const tf_layouts_opts o = {.objective = l->objective,
                             .exportable = l->exportable,
                             .given = given,
                             .budget = {.max_evals = rest(before->max_evals),
                                        .max_effort = rest(before->max_effort),
                                        .time_limit = before->time_limit / (PART - 1),
                                        .threads = before->threads,
                                        .seed = before->seed,
                                        .stop = cli_interrupted}};
  if (!tf_arch_lines(s->spec->arch) || !found) return CLI_DONE;
  cli_hold_interrupt(CLI_GRACE);
  s->layouts = tf_layouts_search(found, &o, s->diags);
  cli_release_interrupt();
  if (s->layouts) return CLI_DONE;
  cli_complain(s->diags);
  return cli_status_of(s->diags);
}
