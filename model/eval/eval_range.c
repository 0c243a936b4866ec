/* Uncertainty of energies and areas from the tables, as published sources differ
 * (model/input/table/spread.h). */
#include "model/cost/access.h"
#include "model/cost/state.h"
#include "model/cost/zeros.h"
#include "model/input/table/area.h"
#include "model/input/table/energy.h"
#include "model/input/table/spread.h"
#include "tileflow/why.h"

/* A memory's accesses in words of its table price: the energy of its accesses is that price times
 * this number. */
static double priced_words(const tf_model *m, int level) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[level];
  double words = 0;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const int at = level * p->wl->n_tensors + z, bits = p->wl->tensors[z].word_bits;
    const tf_counts *c = &m->res.counts[at];
    if (m->zeros) {
      const tf_packed *k = &p->sparse->packed[at];
      const tf_kept_counts *left = &m->zeros->res.counts[at];
      const double metadata = k->format && k->format->priced ? 0 : left->metadata;
      words += ((left->read + left->drain + left->fill + left->update) * bits + metadata) /
               mem->word_bits;
    } else if (mem->access > 1) {
      const int64_t used = m->res.levels[level].instances;
      words += tf_accessed(mem, used, c->read, bits) + tf_accessed(mem, used, c->drain, bits) +
               tf_accessed(mem, used, c->fill, bits) + tf_accessed(mem, used, c->update, bits);
    } else {
      words += ((double)c->read + (double)c->drain + (double)c->fill + (double)c->update) * bits /
               mem->word_bits;
    }
  }
  return words;
}

static void widen(tf_margin *r, double value, tf_spread s) {
  r->low -= value * (1 - s.low);
  r->high += value * (s.high - 1);
}

bool tf_level_energy_range(const tf_model *model, int l, tf_margin *out) {
  const tf_model *m = tf_evaluated(model);
  const tf_arch *a = m->plan->arch;
  const tf_memory *mem = &a->memories[l];
  *out = (tf_margin){m->res.levels[l].energy_pj, m->res.levels[l].energy_pj};
  const double priced = mem->energy_from_table ? priced_words(m, l) * mem->read_pj : 0;
  widen(out, priced,
        tf_spread_word(tf_table_bytes(mem), a->technology_nm, tf_table_off_chip(a, l)));
  return priced > 0;
}

bool tf_unit_energy_range(const tf_model *model, int u, tf_margin *out) {
  const tf_model *m = tf_evaluated(model);
  const tf_arch *a = m->plan->arch;
  const double pj = m->res.units[u].energy_pj;
  *out = (tf_margin){pj, pj};
  if (!a->units[u].energy_from_table) return false;
  widen(out, pj, tf_spread_point(a->units[u].kinds, a->word_bits, a->technology_nm));
  return pj > 0;
}

bool tf_energy_range(const tf_model *model, tf_margin *out) {
  const tf_model *m = tf_evaluated(model);
  const tf_arch *a = m->plan->arch;
  bool any = false;
  tf_margin part;
  out->low = out->high = 0;
  for (int l = 0; l < a->n_memories; l++) {
    any |= tf_level_energy_range(m, l, &part);
    out->low += part.low + m->res.levels[l].leakage_pj,
        out->high += part.high + m->res.levels[l].leakage_pj;
  }
  for (int u = 0; u < a->n_units; u++) {
    any |= tf_unit_energy_range(m, u, &part);
    out->low += part.low + m->res.units[u].leakage_pj,
        out->high += part.high + m->res.units[u].leakage_pj;
  }
  return any;
}

bool tf_area_range(const tf_arch *a, tf_margin *out) {
  double instances = 1;
  bool any = false;
  out->low = out->high = tf_arch_area(a, NULL);
  for (int l = 0; l < a->n_memories; l++) {
    const tf_memory *m = &a->memories[l];
    instances *= (double)(m->mesh[0] * m->mesh[1]);
    if (!m->area_given) {
      any |= tf_table_memory_um2(a, l) > 0;
      widen(out, instances * tf_table_memory_um2(a, l), tf_spread_memory_area(a, l));
    }
    for (int k = 0; k < a->n_units; k++) {
      const tf_unit *u = &a->units[k];
      if (u->below != l || u->area_given) continue;
      const double units = instances * (double)(u->mesh[0] * u->mesh[1]);
      any |= tf_table_unit_um2(a, u) > 0;
      widen(out, units * tf_table_unit_um2(a, u), tf_spread_unit_area(a, u));
    }
  }
  return any;
}
