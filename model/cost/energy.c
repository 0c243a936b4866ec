/* Energy: accesses times energy per access, points times energy per point (docs/SEMANTICS.md
 * sections 6 and 8). */
#include "model/cost/access.h"
#include "model/cost/zeros.h"

/* Hops of one word on the mesh that feeds a memory: the mean Manhattan distance from a corner. */
static double mean_hops(const tf_memory *mem) {
  return (double)(mem->mesh[0] - 1 + mem->mesh[1] - 1) / 2;
}

/* Energy of the words of tensor z at a level, by whole accesses. */
static double accesses_pj(const struct tf_model *m, int level, int z) {
  const tf_memory *mem = &m->plan->arch->memories[level];
  const tf_counts *c = &m->res.counts[level * m->plan->wl->n_tensors + z];
  const int bits = m->plan->wl->tensors[z].word_bits;
  const int64_t used = m->res.levels[level].instances;
  const double read = tf_accessed(mem, used, c->read, bits),
               drain = tf_accessed(mem, used, c->drain, bits);
  const double fill = tf_accessed(mem, used, c->fill, bits),
               update = tf_accessed(mem, used, c->update, bits);
  return read * mem->read_pj + drain * tf_drain_pj(mem) + (fill + update) * mem->write_pj;
}

/* Words of the memory for so many lines, at least the words that are accessed. */
static double line_words(const tf_memory *mem, int64_t lines, double words) {
  const double whole = (double)lines * (double)mem->line;
  return whole > words ? whole : words;
}

/* Their energy by whole lines. */
static double lines_pj(const struct tf_model *m, int level, int z) {
  const tf_memory *mem = &m->plan->arch->memories[level];
  const int at = level * m->plan->wl->n_tensors + z;
  const tf_counts *c = &m->res.counts[at], *n = &m->lines->res.counts[at];
  const double k = (double)m->plan->wl->tensors[z].word_bits / mem->word_bits;
  return line_words(mem, n->read, k * (double)c->read) * mem->read_pj +
         line_words(mem, n->drain, k * (double)c->drain) * tf_drain_pj(mem) +
         (line_words(mem, n->fill, k * (double)c->fill) +
          line_words(mem, n->update, k * (double)c->update)) *
             mem->write_pj;
}

/* Their energy word by word: at most that of whole accesses; so for partial mappings, whose
 * instances may grow. */
static double words_pj(const tf_memory *mem, const tf_counts *c) {
  const double read = (double)c->read, fill = (double)c->fill, update = (double)c->update,
               drain = (double)c->drain;
  if (!mem->drain_given) return (read + drain) * mem->read_pj + (fill + update) * mem->write_pj;
  return read * mem->read_pj + drain * mem->drain_pj + (fill + update) * mem->write_pj;
}

static double level_energy(const struct tf_model *m, int level) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[level];
  const double hops = mem->topology == TF_NO_TOPOLOGY ? mean_hops(mem) * mem->hop_pj : 0;
  double pj = m->res.levels[level].hops * mem->hop_pj;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_counts *c = &m->res.counts[level * p->wl->n_tensors + z];
    const double k = (double)p->wl->tensors[z].word_bits / mem->word_bits;
    const double crossing = ((double)c->fill + (double)c->drain) * hops;
    if (mem->line && !m->open)
      pj += lines_pj(m, level, z) + k * crossing;
    else
      pj += mem->access > 1 && !m->open ? accesses_pj(m, level, z) + k * crossing
                                        : k * (words_pj(mem, c) + crossing);
  }
  return pj;
}

/* The same for words that zeros do not save, word by word; also reduces the counts to these
 * words. */
static double level_energy_left(struct tf_model *m, int level) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[level];
  const double hops = mem->topology == TF_NO_TOPOLOGY ? mean_hops(mem) * mem->hop_pj : 0;
  double pj = m->res.levels[level].hops * mem->hop_pj;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_packed *k = &p->sparse->packed[level * p->wl->n_tensors + z];
    tf_kept_counts *c = &m->zeros->res.counts[level * p->wl->n_tensors + z];
    const double words = (k->stored * p->wl->tensors[z].word_bits + k->bits) / mem->word_bits;
    pj += c->read * k->read_pj + c->drain * k->drain_pj;
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
    if (m->plan->unit[o] == u)
      points -= (double)m->res.ops[o].points * (1 - tf_zeros_work(m, o, TF_LEFT_ENERGY));
  return points;
}

/* Leakage in all cycles; for a partial mapping the least of any completion. */
static void leak(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  double all = 0;
  for (int l = 0; l < a->n_memories; l++) {
    const double pj = tf_memory_leakage(a, l, m->open ? 1 : m->res.levels[l].instances);
    m->res.levels[l].leakage_pj = pj * out->cycles;
    all += pj;
  }
  for (int u = 0; u < a->n_units; u++) {
    const double pj = tf_unit_leakage(a, u, m->open ? 0 : m->res.units[u].units);
    m->res.units[u].leakage_pj = pj * out->cycles;
    all += pj;
  }
  out->leakage_pj = all * out->cycles;
  out->energy_pj += out->leakage_pj;
}

void tf_energy(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  out->energy_pj = 0;
  if (m->zeros) tf_zeros_count(m);
  for (int l = 0; l < a->n_memories; l++)
    out->energy_pj += m->res.levels[l].energy_pj =
        m->zeros ? level_energy_left(m, l) : level_energy(m, l);
  for (int u = 0; u < a->n_units; u++) {
    const double points = m->zeros ? points_left(m, u) : (double)m->res.units[u].points;
    out->energy_pj += m->res.units[u].energy_pj = points * a->units[u].pj;
  }
  leak(m, out);
}
