/* Lower bounds for every mapping (docs/SEMANTICS.md section 7): compulsory traffic, and compute at full occupancy. */
#include <math.h>
#include <stdlib.h>

#include "base/locale.h"
#include "model/demand/demand.h"
#include "model/spec/masked.h"
#include "tileflow/model.h"

double tf_bounds_units(const tf_arch *a, int unit) {
  const tf_unit *u = &a->units[unit];
  double n = (double)u->mesh[0] * (double)u->mesh[1];
  for (int l = 1; l <= u->below; l++)
    n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
  return n;
}

/* The fastest rate, in points a cycle, at which some unit runs the kinds; 0: none does. */
static double best_rate(const tf_arch *a, uint32_t kinds, double *pj) {
  double best = 0;
  *pj = INFINITY;
  for (int u = 0; u < a->n_units; u++) {
    if (kinds & ~a->units[u].kinds) continue;
    double r = tf_bounds_units(a, u) * a->units[u].rate;
    best = r > best ? r : best;
    *pj = a->units[u].pj < *pj ? a->units[u].pj : *pj;
  }
  return best;
}

/* Whether op o divides by a sum: streaming may defer the division, and so save its points. */
bool tf_bounds_may_wait(const tf_workload *wl, int o) {
  const tf_op *op = &wl->ops[o];
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *x = &op->expr[i];
    if (x->what != TF_X_CALL || x->call != TF_K_DIV || op->expr[x->arg[1]].what != TF_X_READ) continue;
    int maker = wl->tensors[op->reads[op->expr[x->arg[1]].ref].tensor].producer;
    if (maker >= 0 && wl->ops[maker].reduce == TF_REDUCE_ADD) return true;
  }
  return false;
}

/* Busy time of the machine's units.  The times of ops that can only use one unit add up; the sum over all ops divided
 * by the rate of all units that could run any of them is a bound, and so is the time of any single op. */
static void compute_bound(const tf_arch *a, const tf_demand *d, tf_bounds *out) {
  const tf_workload *wl = d->wl;
  double all_rate = 0, all_points = 0;
  for (int u = 0; u < a->n_units; u++)
    all_rate += tf_bounds_units(a, u) * a->units[u].rate;
  for (int o = 0; o < wl->n_ops; o++) {
    double pj, rate = best_rate(a, wl->ops[o].kinds, &pj), points = tf_demanded_points(d, o);
    if (tf_bounds_may_wait(wl, o)) continue;
    all_points += points;
    if (rate > 0 && points / rate > out->cycles) out->cycles = points / rate;
    out->energy_pj += isinf(pj) ? 0 : points * pj;
  }
  if (all_rate > 0 && all_points / all_rate > out->cycles) out->cycles = all_points / all_rate;
}

static bool find_bounds(const tf_arch *arch, const tf_demand *d, tf_bounds *out) {
  const tf_workload *wl = d->wl;
  const tf_memory *dram = &arch->memories[0];
  double in = 0, back = 0;
  *out = (tf_bounds){0, 0, 0};
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    int64_t words = 1;
    if (t->producer >= 0 && t->n_consumers > 0) continue;
    if (t->producer < 0) {
      words = tf_demand_touched(d, z);
      if (words < 0) return false;
    } else {
      words = tf_demand_made(d, z);
      if (words < 0) return false;
    }
    if (__builtin_add_overflow(out->traffic_words, words, &out->traffic_words)) return false;
    double scaled = (double)words * t->word_bits / dram->word_bits;
    *(t->producer < 0 ? &in : &back) += scaled;
  }
  compute_bound(arch, d, out);
  double load = isinf(dram->read_bw) ? 0 : in / dram->read_bw;
  double store = isinf(dram->write_bw) ? 0 : back / dram->write_bw;
  double port = dram->one_port ? load + store : load > store ? load : store;
  out->cycles = port > out->cycles ? port : out->cycles;
  out->energy_pj += in * dram->read_pj + back * dram->write_pj;
  return true;
}

/* where the arena failed, sets of coordinates are subsets of what they should be: then nothing is known */
static bool bounds_of(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, bool *starved) {
  tf_demand d;
  bool ok = tf_demand_of(wl, &d) && find_bounds(arch, &d, out);
  *starved = tf_arena_failed(d.arena);
  tf_demand_free(&d);
  return ok && !*starved;
}

bool tf_bounds_of(const tf_arch *arch, const tf_workload *wl, tf_bounds *out) {
  bool starved;
  return bounds_of(arch, wl, out, &starved);
}

bool tf_bounds_find(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  bool starved;
  if (bounds_of(arch, wl, out, &starved)) return true;
  return starved ? tf_out_of_memory(d) : tf_fail(d, wl->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
}

bool tf_bounds_input(const tf_workload *wl, int z, int64_t *words) {
  tf_demand d;
  bool ok = tf_demand_of(wl, &d) && (*words = tf_demand_touched(&d, z)) >= 0 && !tf_arena_failed(d.arena);
  tf_demand_free(&d);
  return ok;
}

bool tf_workload_masked(const tf_workload *wl) {
  tf_arena *arena = tf_arena_new();
  tf_mask m;
  const bool any = !arena || tf_mask_find(wl, arena, &m) || tf_arena_failed(arena);
  tf_arena_free(arena);
  return any;
}
