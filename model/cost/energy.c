/* Energy: accesses times energy per access, points times energy per point (docs/SEMANTICS.md section 6). */
#include "model/cost/state.h"

/* Hops of one word on the mesh that feeds a memory: the mean Manhattan distance from a corner. */
static double mean_hops(const tf_memory *mem) { return (double)(mem->mesh[0] - 1 + mem->mesh[1] - 1) / 2; }

static double level_energy(const struct tf_model *m, int level) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[level];
  double pj = 0, hops = mean_hops(mem) * mem->hop_pj;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_counts *c = &m->res.counts[level * p->wl->n_tensors + z];
    double k = (double)p->wl->tensors[z].word_bits / mem->word_bits;
    const double read = (double)c->read, fill = (double)c->fill, update = (double)c->update, drain = (double)c->drain;
    pj += k * ((read + drain) * mem->read_pj + (fill + update) * mem->write_pj + (fill + drain) * hops);
  }
  return pj;
}

/* What leaks in all cycles, whatever is in use. */
static void leak(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  for (int l = 0; l < a->n_memories; l++)
    m->res.levels[l].leakage_pj = tf_memory_leakage(a, l) * out->cycles;
  for (int u = 0; u < a->n_units; u++)
    m->res.units[u].leakage_pj = tf_unit_leakage(a, u) * out->cycles;
  out->leakage_pj = tf_arch_leakage(a) * out->cycles;
  out->energy_pj += out->leakage_pj;
}

void tf_energy(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  out->energy_pj = 0;
  for (int l = 0; l < a->n_memories; l++)
    out->energy_pj += m->res.levels[l].energy_pj = level_energy(m, l);
  for (int u = 0; u < a->n_units; u++)
    out->energy_pj += m->res.units[u].energy_pj = (double)m->res.units[u].points * a->units[u].pj;
  leak(m, out);
}
