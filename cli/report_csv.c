#include <inttypes.h>

#include "cli.h"

/* One row per level and tensor, exact counts. */
void report_csv(const cli_session *s, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  cli_printf(out, "architecture,workload,level,tensor,fill,read,update,drain,peak_words,cycles,"
                  "energy_pj,feasible\n");
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    for (int z = 0; z < wl->n_tensors; z++) {
      const tf_counts *c = &s->result.counts[l * wl->n_tensors + z];
      cli_printf(out,
                 "%s,%s,%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                 ",%.15g,%.15g,%s\n",
                 s->spec->arch->name, wl->name, s->spec->arch->memories[l].name,
                 wl->tensors[z].name, c->fill, c->read, c->update, c->drain, c->peak,
                 s->result.cycles, s->result.energy_pj, s->result.feasible ? "true" : "false");
    }
}
