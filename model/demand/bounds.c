/* Lower bounds for every mapping (docs/SEMANTICS.md section 7): compulsory traffic, and all units
 * busy in whole steps.
 */
#include <math.h>
#include <stdlib.h>

#include "base/locale.h"
#include "model/demand/demand.h"
#include "model/demand/ends.h"
#include "model/demand/exposed.h"
#include "model/demand/links.h"
#include "model/demand/steps.h"
#include "model/input/masked.h"
#include "model/sparse/sparse.h"
#include "tileflow/model.h"

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

/* ---- ops that streaming may leave out ------------------------------------------------------- */

enum { HAS_EXP = 1, DIVIDES = 2, LEFT_OUT = 4 };

/* Marks tensors that derive from an exponential, directly or not. */
static void mark_exps(const tf_workload *wl, unsigned char *of) {
  for (int k = 0; k < wl->n_ops; k++) {
    const tf_op *op = &wl->ops[wl->topo[k]];
    for (int i = 0; i < op->n_expr; i++)
      if (op->expr[i].what == TF_X_CALL && op->expr[i].call == TF_K_EXP) of[op->out] |= HAS_EXP;
    for (int i = 0; i < op->n_reads; i++)
      of[op->out] |= of[op->reads[i].tensor] & HAS_EXP;
  }
}

/* Whether part i of the op's expression has the tensor as a factor of a product or quotient. */
static bool has_factor(const tf_op *op, int i, int z) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_READ) return op->reads[e->ref].tensor == z;
  if (e->what != TF_X_CALL) return false;
  const bool two = e->call == TF_K_MUL || e->call == TF_K_DIV;
  if (!two && e->call != TF_K_NEG && e->call != TF_K_COPY) return false;
  return has_factor(op, e->arg[0], z) || (two && has_factor(op, e->arg[1], z));
}

/* Marks the op's operands that are divisors, or factors of divisors. */
static void mark_divisors(const tf_op *op, unsigned char *of) {
  for (int r = 0; r < op->n_reads; r++) {
    const int z = op->reads[r].tensor;
    for (int i = 0; i < op->n_expr; i++)
      if (op->expr[i].what == TF_X_CALL && op->expr[i].call == TF_K_DIV &&
          has_factor(op, op->expr[i].arg[1], z))
        of[z] |= DIVIDES;
    if (op->reduce == TF_ASSIGN && has_factor(op, op->n_expr - 1, z))
      of[z] |= of[op->out] & DIVIDES;
  }
}

/* Marks the op's output if it may be a constant within the steps of a stream: a sum of exponentials
 * that is a divisor, or a tensor that derives from such sums alone. */
static void mark_left_out(const tf_op *op, unsigned char *of) {
  bool all = op->reduce == TF_ASSIGN && op->n_reads > 0;
  for (int i = 0; i < op->n_reads; i++)
    all &= (of[op->reads[i].tensor] & LEFT_OUT) != 0;
  const bool sum = op->reduce == TF_REDUCE_ADD && of[op->out] == (HAS_EXP | DIVIDES);
  if (all || sum) of[op->out] |= LEFT_OUT;
}

bool *tf_bounds_may_wait(const tf_workload *wl) {
  unsigned char *of = calloc((size_t)wl->n_tensors + 1, 1);
  bool *may = calloc((size_t)wl->n_ops + 1, sizeof *may);
  if (of && may) {
    mark_exps(wl, of);
    for (int k = wl->n_ops - 1; k >= 0; k--)
      mark_divisors(&wl->ops[wl->topo[k]], of);
    for (int k = 0; k < wl->n_ops; k++)
      mark_left_out(&wl->ops[wl->topo[k]], of);
    for (int o = 0; o < wl->n_ops; o++)
      for (int i = 0; i < wl->ops[o].n_reads; i++)
        may[o] |= (of[wl->ops[o].reads[i].tensor] & LEFT_OUT) != 0;
  }
  const bool ok = of && may;
  free(of);
  if (ok) return may;
  free(may);
  return NULL;
}

bool tf_needs_unit(const tf_arch *a, const tf_op *op, int u) {
  int able = 0;
  for (int k = 0; k < a->n_units; k++)
    able += !(op->kinds & ~a->units[k].kinds);
  return able == 1 && !(op->kinds & ~a->units[u].kinds) && !(op->kinds & 1u << TF_K_DIV);
}

/* The inputs of the bounds. */
typedef struct {
  const tf_arch *arch;
  const tf_demand *d;
  const bool *may_wait;
  const tf_sparse *sparse; /* NULL: zeros save nothing */
  bool ends;               /* with the exposed ends of several ops, which takes milliseconds */
} bounded;

/* The least share of an op's points that take time, or energy, on any unit that can run it. */
static tf_least least_share(const bounded *b, int o) {
  tf_least least = {1, 1};
  for (int u = 0; b->sparse && u < b->arch->n_units; u++) {
    if (b->d->wl->ops[o].kinds & ~b->arch->units[u].kinds) continue;
    const tf_least at = tf_sparse_least(b->sparse, o, u);
    least = (tf_least){fmin(least.time, at.time), fmin(least.energy, at.energy)};
  }
  return least;
}

/* Cycles of a unit's pipeline until its first result of an op: once per op in any mapping
 * (SEMANTICS D15). */
static double fill_of(const tf_arch *a, int u) {
  return a->overlap == TF_OVERLAP_PERFECT ? 0 : a->units[u].pipeline;
}

/* The least of these over the units that can run the kinds. */
static double least_fill(const tf_arch *a, uint32_t kinds) {
  double fill = INFINITY;
  for (int u = 0; u < a->n_units; u++)
    if (!(kinds & ~a->units[u].kinds)) fill = fmin(fill, fill_of(a, u));
  return isinf(fill) ? 0 : fill;
}

/* The time of the ops that only units u can run: in any mapping they share these units, in whole
 * steps, of which zeros may save a share. */
static bool bound_of_unit(const bounded *b, int u, bool thorough, double *cycles) {
  const tf_arch *a = b->arch;
  const tf_demand *d = b->d;
  const tf_unit *unit = &a->units[u];
  double mesh[2] = {(double)unit->mesh[0], (double)unit->mesh[1]}, share = 1;
  bool *mine = calloc((size_t)d->wl->n_ops + 1, sizeof *mine);
  if (!mine) return false;
  for (int l = 1; l <= unit->below; l++)
    mesh[0] *= (double)a->memories[l].mesh[0], mesh[1] *= (double)a->memories[l].mesh[1];
  for (int o = 0; o < d->wl->n_ops; o++) {
    mine[o] = !b->may_wait[o] && tf_needs_unit(a, &d->wl->ops[o], u);
    if (mine[o]) share = fmin(share, least_share(b, o).time);
  }
  const double fill = share > 0 ? fill_of(a, u) * unit->rate / share : 0;
  const double steps =
      tf_least_steps(d, mine, mesh, fill, thorough ? *cycles * unit->rate / share : INFINITY);
  free(mine);
  *cycles = fmax(*cycles, steps / unit->rate * share);
  return steps >= 0;
}

/* The exposed first load and last store of the ops that only units u can run. */
static bool bound_of_ends(const bounded *b, int u, double *cycles) {
  const tf_workload *wl = b->d->wl;
  bool *mine = calloc((size_t)wl->n_ops + 1, sizeof *mine);
  if (!mine) return false;
  for (int o = 0; o < wl->n_ops; o++)
    mine[o] = !b->may_wait[o] && tf_needs_unit(b->arch, &wl->ops[o], u);
  const double alone = wl->n_ops == 1 && mine[0] ? tf_least_exposed(b->arch, b->d, u, b->ends) : 0;
  const double ends = b->ends && wl->n_ops > 1 ? tf_least_ends(b->arch, b->d, u, mine, *cycles) : 0;
  free(mine);
  *cycles = fmax(*cycles, fmax(alone, ends));
  return ends >= 0;
}

/* Busy time of the machine's units.  The times of ops that can only use one kind of unit add up;
 * the sum over all ops divided by the rate of all units that could run any of them is a bound, and
 * so is the time of any single op. */
static bool compute_bound(const bounded *b, tf_bounds *out) {
  const tf_arch *a = b->arch;
  const tf_workload *wl = b->d->wl;
  double all_rate = 0, all_points = 0, fill = INFINITY;
  for (int u = 0; u < a->n_units; u++) {
    all_rate += tf_bounds_units(a, u) * a->units[u].rate;
    if (!bound_of_unit(b, u, false, &out->cycles)) return false;
  }
  for (int o = 0; o < wl->n_ops; o++) {
    double pj, rate = best_rate(a, wl->ops[o].kinds, &pj), points = tf_demanded_points(b->d, o);
    const tf_least share = least_share(b, o);
    if (b->may_wait[o]) continue;
    all_points += points * share.time;
    if (points > 0) fill = fmin(fill, least_fill(a, wl->ops[o].kinds));
    if (points > 0 && rate > 0)
      out->cycles = fmax(out->cycles, points * share.time / rate + least_fill(a, wl->ops[o].kinds));
    out->energy_pj += isinf(pj) ? 0 : points * share.energy * pj;
  }
  if (all_rate > 0 && all_points > 0) out->cycles = fmax(out->cycles, all_points / all_rate + fill);
  for (int u = 0; u < a->n_units; u++)
    if (!bound_of_unit(b, u, true, &out->cycles)) return false;
  for (int u = 0; u < a->n_units && !b->sparse; u++)
    if (!bound_of_ends(b, u, &out->cycles)) return false;
  return true;
}

/* Compulsory traffic and energy of a memory: of the outermost one for all words in and out of it,
 * of another for inputs and outputs that live there. */
typedef struct {
  double in, back, pj;
} compulsory;

static void add_compulsory(const bounded *b, int z, int level, int64_t words, compulsory *all) {
  const tf_memory *mem = &b->arch->memories[level];
  const tf_tensor *t = &b->d->wl->tensors[z];
  const double scaled = (double)words * t->word_bits / mem->word_bits;
  const tf_least least = b->sparse ? tf_sparse_least_word(b->sparse, z) : (tf_least){1, 0};
  *(t->producer < 0 ? &all->in : &all->back) += scaled * least.time;
  all->pj += b->sparse ? (double)words * least.energy
                       : scaled * (t->producer < 0 ? mem->read_pj : mem->write_pj);
}

/* The busiest of the memory's instances has at least an even share. */
static double port_time(const tf_arch *a, int level, const compulsory *all) {
  const tf_memory *mem = &a->memories[level];
  double n = 1;
  for (int l = 1; l <= level; l++)
    n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
  const double load = isinf(mem->read_bw) ? 0 : all->in / n / mem->read_bw;
  const double store = isinf(mem->write_bw) ? 0 : all->back / n / mem->write_bw;
  return mem->one_port ? load + store : load > store ? load : store;
}

static bool find_bounds(const bounded *b, tf_bounds *out, bool *starved) {
  const tf_workload *wl = b->d->wl;
  enum { LEVELS = 16 };
  compulsory at[LEVELS] = {{0, 0, 0}};
  *out = (tf_bounds){0, 0, 0};
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->producer >= 0 && t->n_consumers > 0) continue;
    const int64_t words = t->producer < 0 ? tf_demand_touched(b->d, z) : tf_demand_made(b->d, z);
    const int home = tf_arch_home(b->arch, t);
    if (words < 0 ||
        (!home && __builtin_add_overflow(out->traffic_words, words, &out->traffic_words)))
      return false;
    if (!home || !b->sparse)
      add_compulsory(b, z, home, words, &at[home]); /* savings of zeros elsewhere are unknown */
  }
  for (int l = 0; l < b->arch->n_memories; l++) {
    out->cycles = fmax(out->cycles, port_time(b->arch, l, &at[l]));
    out->energy_pj += at[l].pj;
  }
  if (!b->sparse) out->cycles = fmax(out->cycles, tf_least_links(b->arch, b->d, b->may_wait));
  *starved = !compute_bound(b, out);
  out->energy_pj += out->cycles * tf_arch_leakage(b->arch);
  return true;
}

/* If the arena failed, sets of coordinates are subsets of what they should be, so no bound is
 * given. */
static bool bounds_of(const tf_arch *arch, const tf_workload *wl, bool ends, tf_bounds *out,
                      bool *starved) {
  tf_demand d;
  bool *may_wait = tf_bounds_may_wait(wl);
  *starved = false;
  tf_sparse *sparse = NULL;
  bool ok = tf_demand_of(wl, &d) && may_wait && tf_sparse_new(d.arena, arch, wl, &sparse);
  const bounded b = {arch, &d, may_wait, sparse, ends};
  ok = ok && find_bounds(&b, out, starved);
  *starved |= tf_arena_failed(d.arena) || !may_wait;
  free(may_wait);
  tf_demand_free(&d);
  return ok && !*starved;
}

bool tf_bounds_of(const tf_arch *arch, const tf_workload *wl, tf_bounds *out) {
  bool starved;
  return bounds_of(arch, wl, false, out, &starved);
}

static bool checked_bounds(const tf_arch *arch, const tf_workload *wl, bool ends, tf_bounds *out,
                           tf_diags *d) {
  bool starved;
  if (bounds_of(arch, wl, ends, out, &starved)) return true;
  return starved ? tf_out_of_memory(d)
                 : tf_fail(d, wl->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
}

bool tf_bounds_find(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  return checked_bounds(arch, wl, false, out, d);
}

bool tf_bounds_with_ends(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  return checked_bounds(arch, wl, true, out, d);
}

bool tf_bounds_input(const tf_workload *wl, int z, int64_t *words) {
  tf_demand d;
  bool ok =
      tf_demand_of(wl, &d) && (*words = tf_demand_touched(&d, z)) >= 0 && !tf_arena_failed(d.arena);
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

bool tf_zeros_matter(const tf_arch *arch, const tf_workload *wl) {
  return tf_sparse_applies(arch, wl);
}
