/* What no mapping can beat (model.md section 7): compulsory traffic, and compute at full occupancy. */
#include <math.h>
#include <stdlib.h>

#include "model/cost/demand.h"
#include "tileflow/model.h"

/* All units of one kind that the machine has. */
static double n_units(const tf_arch *a, const tf_unit *u) {
  double n = (double)u->mesh[0] * (double)u->mesh[1];
  for (int l = 1; l <= u->below; l++)
    n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
  return n;
}

/* Fastest rate, in points per cycle, at which some unit runs the kinds; 0: none does. */
static double best_rate(const tf_arch *a, uint32_t kinds, double *pj) {
  double best = 0;
  *pj = INFINITY;
  for (int u = 0; u < a->n_units; u++) {
    if (kinds & ~a->units[u].kinds)
      continue;
    double r = n_units(a, &a->units[u]) * a->units[u].rate;
    best = r > best ? r : best;
    *pj = a->units[u].pj < *pj ? a->units[u].pj : *pj;
  }
  return best;
}

static bool points_of(const tf_demand *d, int o, int64_t *points) {
  const tf_op *op = &d->wl->ops[o];
  *points = 1;
  for (int k = 0; k < op->n_dims; k++)
    if (__builtin_mul_overflow(*points, tf_demanded(d, o, op->dims[k]), points)) return false;
  return true;
}

/* Whether op o divides by a sum: streaming may put the division off and save its points. */
static bool may_wait(const tf_workload *wl, const tf_op *op) {
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *x = &op->expr[i];
    if (x->what != TF_X_CALL || x->call != TF_K_DIV || op->expr[x->arg[1]].what != TF_X_READ)
      continue;
    int maker = wl->tensors[op->reads[op->expr[x->arg[1]].ref].tensor].producer;
    if (maker >= 0 && wl->ops[maker].reduce == TF_REDUCE_ADD)
      return true;
  }
  return false;
}

/* Coordinates along one rank of tensor t that a read of op o surely touches: all it spans if a unit step of some dim
 * fills the gaps between the steps of the others, else the steps of its longest dim. */
static int64_t touched(const tf_demand *d, int o, const tf_tensor *t, int rank, const tf_index *ix) {
  int64_t longest = 1, unit = 1, step = 1, lo = ix->c, hi = ix->c;
  for (int k = 0; k < ix->n_terms; k++) {
    int64_t n = tf_demanded(d, o, ix->terms[k].dim), c = ix->terms[k].coef, from = d->of[o * d->wl->n_dims + ix->terms[k].dim].lo;
    if (n == 0) return 0;
    lo += c > 0 ? c * from : c * (from + n - 1);
    hi += c > 0 ? c * (from + n - 1) : c * from;
    c = c < 0 ? -c : c;
    longest = n > longest ? n : longest;
    if (c == 1)
      unit = n > unit ? n : unit;
    step = n > 1 && c > step ? c : step;
  }
  if (lo < t->lo[rank]) lo = t->lo[rank];
  if (hi > t->lo[rank] + t->extent[rank] - 1) hi = t->lo[rank] + t->extent[rank] - 1;
  int64_t span = hi < lo ? 0 : hi - lo + 1, n = step <= unit || step == 1 ? span : longest;
  return n < span ? n : span;
}

/* Words of input z that every mapping reads. */
static bool compulsory(const tf_demand *d, int z, int64_t *words) {
  const tf_workload *wl = d->wl;
  const tf_tensor *t = &wl->tensors[z];
  int64_t best = 0;
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < wl->ops[o].n_reads; k++) {
      int64_t n = 1, points;
      if (wl->ops[o].reads[k].tensor != z)
        continue;
      if (!points_of(d, o, &points))
        return false;
      for (int r = 0; r < t->rank; r++)
        if (__builtin_mul_overflow(n, touched(d, o, t, r, &wl->ops[o].reads[k].index[r]), &n))
          return false;
      best = points > 0 && n > best ? n : best;
    }
  *words = best;
  return true;
}

/* Busy time of the machine's units: ops that share their only unit add up, so the sum over ops
 * divided by the rate of all units that could run anything is a bound, and so is any one op. */
static bool compute_bound(const tf_arch *a, const tf_demand *d, tf_bounds *out) {
  const tf_workload *wl = d->wl;
  double all_rate = 0, all_points = 0;
  for (int u = 0; u < a->n_units; u++)
    all_rate += n_units(a, &a->units[u]) * a->units[u].rate;
  for (int o = 0; o < wl->n_ops; o++) {
    int64_t points;
    double pj, rate = best_rate(a, wl->ops[o].kinds, &pj);
    if (!points_of(d, o, &points))
      return false;
    if (may_wait(wl, &wl->ops[o]))
      continue;
    all_points += (double)points;
    if (rate > 0 && (double)points / rate > out->cycles)
      out->cycles = (double)points / rate;
    out->energy_pj += isinf(pj) ? 0 : (double)points * pj;
  }
  if (all_rate > 0 && all_points / all_rate > out->cycles)
    out->cycles = all_points / all_rate;
  return true;
}

static bool find_bounds(const tf_arch *arch, const tf_demand *d, tf_bounds *out) {
  const tf_workload *wl = d->wl;
  const tf_memory *dram = &arch->memories[0];
  double in = 0, back = 0;
  *out = (tf_bounds){0, 0, 0};
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    int64_t words = 1;
    if (t->producer >= 0 && t->n_consumers > 0)
      continue;
    if (t->producer < 0) {
      if (!compulsory(d, z, &words))
        return false;
    } else {
      for (int r = 0; r < t->rank; r++)
        if (__builtin_mul_overflow(words, t->extent[r], &words))
          return false;
    }
    if (__builtin_add_overflow(out->traffic_words, words, &out->traffic_words))
      return false;
    double scaled = (double)words * t->word_bits / dram->word_bits;
    *(t->producer < 0 ? &in : &back) += scaled;
  }
  if (!compute_bound(arch, d, out))
    return false;
  double load = isinf(dram->read_bw) ? 0 : in / dram->read_bw;
  double store = isinf(dram->write_bw) ? 0 : back / dram->write_bw;
  double port = dram->one_port ? load + store : load > store ? load : store;
  out->cycles = port > out->cycles ? port : out->cycles;
  out->energy_pj += in * dram->read_pj + back * dram->write_pj;
  return true;
}

bool tf_bounds_of(const tf_arch *arch, const tf_workload *wl, tf_bounds *out) {
  tf_demand d;
  bool ok = tf_demand_of(wl, &d) && find_bounds(arch, &d, out);
  free(d.of);
  return ok;
}

bool tf_bounds_input(const tf_workload *wl, int z, int64_t *words) {
  tf_demand d;
  bool ok = tf_demand_of(wl, &d) && compulsory(&d, z, words);
  free(d.of);
  return ok;
}
