#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

static void headline(const cli_session *s, cli_text *out) {
  const tf_result *r = &s->result;
  char a[16];
  cli_printf(out, "%s on %s, mapping given%s\n\n", s->spec->workload->name, s->spec->arch->name,
             r->feasible ? "" : " (INFEASIBLE: it does not fit, see below)");
  cli_printf(out, "  cycles       %-12.0f %.4g ms at %.4g GHz\n", r->cycles, r->seconds * 1e3,
             s->spec->arch->clock_hz / 1e9);
  cli_printf(out, "  energy       %-12s ", cli_count(a, r->energy_pj * 1e-6));
  cli_printf(out, "uJ; energy x delay %.4g pJ s\n", r->energy_pj * r->seconds);
  cli_printf(out, "  utilisation  %.1f %%       of the units used, %s points\n",
             100 * r->compute_utilization, cli_count(a, (double)r->points));
}

/* The busiest resource, in a sentence, and how much slack the others have. */
static void bottleneck(const cli_session *s, cli_text *out) {
  const tf_result *r = &s->result;
  cli_printf(out, "  bottleneck   %s is busiest.  Busy, of all cycles:", r->bottleneck);
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    cli_printf(out, " %s %.0f %%,", s->spec->arch->memories[l].name,
               r->cycles > 0 ? 100 * r->levels[l].cycles / r->cycles : 0);
  for (int u = 0; u < s->spec->arch->n_units; u++)
    cli_printf(out, " %s %.0f %%%s", s->spec->arch->units[u].name,
               r->cycles > 0 ? 100 * r->units[u].cycles / r->cycles : 0,
               u + 1 < s->spec->arch->n_units ? "," : "\n");
  if (s->bounds.cycles > 0)
    cli_printf(out, "  bound        %.2f x the fewest cycles provable", r->cycles / s->bounds.cycles);
  int64_t moved = 0;
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    moved += r->counts[z].read + r->counts[z].update;
  if (s->bounds.traffic_words > 0)
    cli_printf(out, ", %.2f x the compulsory traffic of %s",
               (double)moved / (double)s->bounds.traffic_words, s->spec->arch->memories[0].name);
  cli_printf(out, "\n");
}

static bool silent(const tf_counts *c) {
  return !c->fill && !c->read && !c->update && !c->drain && !c->peak;
}

static void levels(const cli_session *s, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  char b[5][16];
  cli_printf(out, "\n  %-10s %-8s %9s %9s %9s %9s %9s   words\n", "level", "tensor", "fill", "read",
             "update", "drain", "peak");
  for (int l = 0; l < s->spec->arch->n_memories; l++) {
    const tf_memory *m = &s->spec->arch->memories[l];
    const tf_level_result *r = &s->result.levels[l];
    cli_printf(out, "  %-10s %" PRId64 " in use, holds %" PRId64 " words", m->name, r->instances,
               r->peak);
    if (m->capacity_words >= 0)
      cli_printf(out, " of %" PRId64 " (%.0f %%)", m->capacity_words,
                 100.0 * (double)r->peak / (double)(m->capacity_words ? m->capacity_words : 1));
    cli_printf(out, ", %s uJ%s\n", cli_count(b[0], r->energy_pj * 1e-6),
               m->energy_from_table ? " (energy from the default table)" : "");
    for (int z = 0; z < wl->n_tensors; z++) {
      const tf_counts *c = &s->result.counts[l * wl->n_tensors + z];
      if (silent(c))
        continue;
      cli_printf(out, "  %-10s %-8s %9s %9s %9s %9s %9s\n", "", wl->tensors[z].name,
                 cli_count(b[0], (double)c->fill), cli_count(b[1], (double)c->read),
                 cli_count(b[2], (double)c->update), cli_count(b[3], (double)c->drain),
                 cli_count(b[4], (double)c->peak));
    }
  }
}

static void work(const cli_session *s, cli_text *out) {
  char b[3][16];
  cli_printf(out, "\n  %-10s %9s %10s %-10s %6s %10s\n", "op", "points", "recomputed", "unit", "used",
             "cycles");
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_op_result *r = &s->result.ops[o];
    cli_printf(out, "  %-10s %9s %10s %-10s %6" PRId64 " %10s\n", s->spec->workload->ops[o].name,
               cli_count(b[0], (double)r->points), cli_count(b[1], (double)r->recomputed),
               s->spec->arch->units[r->unit].name, r->units, cli_count(b[2], r->cycles));
  }
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    const tf_unit_result *r = &s->result.units[u];
    cli_printf(out, "  %-10s %9s points, %" PRId64 " in use, %s cycles, %s uJ%s\n",
               s->spec->arch->units[u].name, cli_count(b[0], (double)r->points), r->units,
               cli_count(b[1], r->cycles), cli_count(b[2], r->energy_pj * 1e-6),
               s->spec->arch->units[u].energy_from_table ? " (energy from the default table)" : "");
  }
}

void report_text(const cli_session *s, cli_text *out) {
  headline(s, out);
  bottleneck(s, out);
  levels(s, out);
  work(s, out);
}

void violation_text(const cli_session *s, const tf_violation *v, char *buf, size_t size) {
  const tf_arch *a = s->spec->arch;
  cli_text node = {0};
  node_label(s, v->node, &node);
  if (v->code == TF_E_CAPACITY)
    snprintf(buf, size,
             "level '%s' needs %" PRId64 " words and holds %" PRId64 ", %" PRId64
             " too many, at '%s'",
             a->memories[v->level].name, v->need, v->have, v->need - v->have,
             node.text ? node.text : "");
  else
    snprintf(buf, size,
             "%s '%s' are asked for %" PRId64 " along %s and there are %" PRId64 ", at '%s'",
             v->unit >= 0 ? "units" : "instances of",
             v->unit >= 0 ? a->units[v->unit].name : a->memories[v->level].name, v->need,
             v->axis == 1 ? "y" : "x", v->have, node.text ? node.text : "");
  free(node.text);
}

void report_violations(const cli_session *s, const tf_result *r, FILE *out) {
  char line[400];
  for (int i = 0; i < r->n_violations; i++) {
    const tf_loc at = s->tree->nodes[r->violations[i].node].at;
    violation_text(s, &r->violations[i], line, sizeof line);
    fprintf(out, "%s:%u:%u: infeasible[%s]: %s\n", tf_diags_file_name(s->diags, at.file), at.line,
            at.col, tf_code_key(r->violations[i].code), line);
  }
}
