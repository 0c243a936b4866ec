#include "search/bound/raise.h"

#include <math.h>

#include "base/locale.h"
#include "model/demand/ends.h"
#include "search/bound/fused.h"
#include "tileflow/bound.h"
#include "tileflow/slope.h"

static int narrowest(const tf_arch *a, const tf_workload *wl) {
  int bits = a->memories[0].word_bits;
  for (int z = 0; z < wl->n_tensors; z++)
    bits = wl->tensors[z].word_bits < bits ? wl->tensors[z].word_bits : bits;
  return bits;
}

double tf_bound_on_chip(const tf_arch *a, const tf_workload *wl) {
  double bits = 0, instances = 1;
  for (int l = 1; l < a->n_memories; l++) {
    instances *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
    if (a->memories[l].capacity_words < 0) return INFINITY;
    bits += instances * (double)a->memories[l].capacity_words * a->memories[l].word_bits;
  }
  return ceil(bits / narrowest(a, wl)) + tf_slope_hand(a, wl);
}

void tf_bound_raise(const tf_arch *a, const tf_workload *wl, double words, double compulsory,
                    tf_bounds *b) {
  const tf_memory *dram = &a->memories[0];
  const double share = (double)narrowest(a, wl) / dram->word_bits;
  if (!(words > compulsory)) return;
  const double bandwidth = dram->one_port ? dram->read_bw : dram->read_bw + dram->write_bw;
  const double cycles = isinf(bandwidth) ? 0 : words * share / bandwidth;
  b->energy_pj += (words - compulsory) * share * fmin(dram->read_pj, dram->write_pj);
  const double longer = fmax(b->cycles, cycles * (1 - 1e-12));
  b->energy_pj += (longer - b->cycles) * tf_arch_leakage(a);
  b->cycles = longer;
}

/* Words of all tensors: with so many on chip, no word passes twice. */
static double words_of_all(const tf_workload *wl) {
  double words = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    double n = 1;
    for (int r = 0; r < wl->tensors[z].rank; r++)
      n *= (double)wl->tensors[z].extent[r];
    words += n;
  }
  return words;
}

bool tf_bounds_on_chip(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!tf_bounds_with_ends(arch, wl, out, d)) return false;
  const double capacity = tf_bound_on_chip(arch, wl), compulsory = (double)out->traffic_words;
  if (tf_arch_homes(arch, wl) || tf_zeros_matter(arch, wl) || capacity >= words_of_all(wl))
    return true;
  const double words =
      fmax(tf_slope_bound(wl, capacity), ceil(compulsory + tf_f_more_words(arch, wl)));
  tf_bound_raise(arch, wl, words, compulsory, out);
  if (words > compulsory && words < 0x1p53) out->traffic_words = (int64_t)words;
  return true;
}
