/* Energy: accesses times energy per access, points times energy per point (docs/SEMANTICS.md sections 6 and 8). */
#include "model/cost/zeros.h"

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

/* The same of what zeros leave; also turns the counts into what is stored of these words. */
static double level_energy_left(struct tf_model *m, int level) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[level];
  double pj = 0, hops = mean_hops(mem) * mem->hop_pj;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_packed *k = &p->sparse->packed[level * p->wl->n_tensors + z];
    tf_kept_counts *c = &m->zeros->res.counts[level * p->wl->n_tensors + z];
    const double words = (k->stored * p->wl->tensors[z].word_bits + k->bits) / mem->word_bits;
    pj += (c->read + c->drain) * k->read_pj;
    pj += (c->fill + c->update) * k->write_pj;
    pj += (c->fill + c->drain) * (hops * words);
    c->metadata = (c->read + c->drain + c->fill + c->update) * k->bits;
    c->read *= k->stored, c->fill *= k->stored, c->update *= k->stored, c->drain *= k->stored;
  }
  return pj;
}

/* Points that the unit computes. */
static double points_left(const struct tf_model *m, int u) {
  double points = (double)m->res.units[u].points;
  for (int o = 0; o < m->plan->wl->n_ops; o++)
    if (m->plan->unit[o] == u) points -= (double)m->res.ops[o].points * (1 - tf_zeros_work(m, o, TF_LEFT_ENERGY));
  return points;
}

void tf_energy(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  out->energy_pj = 0;
  if (m->zeros) tf_zeros_count(m);
  for (int l = 0; l < a->n_memories; l++)
    out->energy_pj += m->res.levels[l].energy_pj = m->zeros ? level_energy_left(m, l) : level_energy(m, l);
  for (int u = 0; u < a->n_units; u++) {
    const double points = m->zeros ? points_left(m, u) : (double)m->res.units[u].points;
    out->energy_pj += m->res.units[u].energy_pj = points * a->units[u].pj;
  }
}
