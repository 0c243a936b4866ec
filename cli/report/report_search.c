/* How a mapping was found: for people, and as YAML to read back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "tileflow/tree.h"

static void put_indented(const char *text, cli_text *out) {
  while (text && *text) {
    size_t n = strcspn(text, "\n");
    cli_printf(out, "  %.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void put_layout(const tf_laid *l, cli_text *out) {
  static const char how[] = {[TF_LAYOUT_DIV] = '/', [TF_LAYOUT_MOD] = '%'};
  cli_printf(out, "    %s: [", l->tensor.name);
  for (int i = 0; i < l->n; i++) {
    const tf_laid_part *p = &l->parts[i];
    cli_printf(out, "%s%d", i ? ", " : "", p->rank);
    if (p->part != TF_LAYOUT_WHOLE) cli_printf(out, "%c%lld", how[p->part], (long long)p->by);
  }
  cli_printf(out, "]\n");
}

/* The section `layout` of what was found: ranks by their numbers. */
static void put_layouts(const cli_session *s, cli_text *out) {
  bool any = false;
  for (int l = 0; s->layouts && l < s->spec->arch->n_memories; l++) {
    const tf_memory *m = &s->spec->arch->memories[l];
    if (!m->laid.n) continue;
    cli_printf(out, "%s  %s:\n", any ? "" : "layout:\n", m->name);
    any = true;
    for (int i = 0; i < m->laid.n; i++)
      put_layout(&m->laid.list[i], out);
  }
}

void cli_mapping_yaml(const cli_session *s, cli_text *out) {
  put_layouts(s, out);
  char *text = tf_tree_text(s->tree);
  cli_printf(out, "mapping: |\n");
  put_indented(text, out);
  out->bad |= !text;
  free(text);
}

/* Within which set the mapping is proved to be the best; docs/HOWTO-solve.md defines the solver's
 * space. */
static const char *rank_of(const cli_found *f) {
  if (f->proved)
    return f->laid ? "the best of all mappings and layouts, proved; found"
                   : "the best of all mappings, proved; found";
  return f->space && f->space_proved ? "the best mapping of the solver's space, proved; found"
                                     : "mapping found";
}

const char *cli_space_of(const cli_found *f) {
  if (f->bypasses) return "all trip counts and bypasses";
  return f->all_trips ? "all trip counts" : "trip counts that divide";
}

/* What is known of the solver's space, which has not all mappings; and of the same with all trip
 * counts, where it has but those that divide. */
static void report_space(const cli_found *f, cli_text *out) {
  const char *trips = cli_space_of(f);
  if (f->proved || !f->space) return;
  if (f->space_proved)
    cli_printf(
        out,
        "; no mapping of the solver's space (%s) is better, others may be (docs/HOWTO-solve.md)",
        trips);
  else if (f->space_bound >= f->value)
    cli_printf(out,
               "; it lies outside of the solver's space (%s), which has none below %s "
               "(docs/HOWTO-solve.md)",
               trips, cli_real(f->space_bound).s);
  else if (f->space_bound > f->bound)
    cli_printf(
        out,
        ", %s the one that none of the solver's space (%s) can (others may: docs/HOWTO-solve.md)",
        cli_times(f->value, f->space_bound).s, trips);
  if (!f->all_trips && f->trips_bound > f->bound)
    cli_printf(out, "; with all trip counts it has none below %s", cli_real(f->trips_bound).s);
}

/* Seconds are only in the JSON, so that the same search prints the same text. */
void cli_report_found(const cli_session *s, cli_text *out) {
  const cli_found *f = &s->found;
  cli_printf(out, "%s on %s, %s by %s for %s, %s mappings tried (seed %" PRIu64 ")\n",
             s->spec->workload->name, s->spec->arch->name, rank_of(f), f->method, f->objective,
             cli_count(f->evaluations).s, f->seed);
  cli_printf(out, "%s %s the lower bound%s", f->objective, cli_times(f->value, f->bound).s,
             f->laid ? " of all mappings and layouts" : "");
  report_space(f, out);
  cli_printf(out, "; stopped by %s\n\n", f->stopped_by);
  const char *masked = cli_masked_line(s->spec->workload);
  if (masked) cli_printf(out, "%s\n\n", masked);
  const char *zeros = cli_zeros_line(s->spec);
  if (zeros) cli_printf(out, "%s\n\n", zeros);
  cli_report_closed(s, out);
  cli_mapping_yaml(s, out);
}
