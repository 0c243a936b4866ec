/* Words on the links through which all instances of memory 1 but the first are reached.
 *
 * An input that lives in the outermost memory is read from there at least once, and an output
 * written; a mesh or torus takes words to the instance at (0, 0) alone without a link.  Of W words
 * for U instances in use that one is counted with W / U (network.c), and an op with U instances
 * takes T >= alone / U, where `alone` is its time on one.  So T >= W (1 - T / alone) / (links x
 * width), summed over the tensors that pass in one direction, and solved for T. */
#include "model/demand/links.h"

#include <math.h>

/* Links that leave (0, 0), or the root of a tree, one of which each of these words takes. */
static double links_of(const tf_memory *mem) {
  double n = 0;
  if (mem->topology == TF_BUS || mem->topology == TF_CROSSBAR) return 1;
  if (mem->topology == TF_TREE) return 2;
  for (int a = 0; a < 2; a++) {
    const bool both = mem->topology == TF_TORUS && mem->mesh[a] > 2;
    n += mem->mesh[a] < 2 ? 0 : both ? 2 : 1;
  }
  return n;
}

/* The least time of an op with one instance of memory 1; 0: unknown, or it may pass no link. */
static double alone(const tf_arch *a, const tf_demand *d, int o) {
  double rate = 0;
  for (int u = 0; u < a->n_units; u++) {
    const tf_unit *unit = &a->units[u];
    double own = (double)unit->mesh[0] * (double)unit->mesh[1] * unit->rate;
    if (d->wl->ops[o].kinds & ~unit->kinds) continue;
    if (unit->below < 1) return 0;
    for (int l = 2; l <= unit->below; l++)
      own *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
    rate = fmax(rate, own);
  }
  return rate > 0 ? tf_demanded_points(d, o) / rate : 0;
}

/* Words that pass in one direction, in cycles of all links; and the same over the time alone. */
typedef struct {
  double cycles, over;
} passing;

/* Whether, and in what time, every op that may carry the tensor runs alone. */
static double least_alone(const tf_arch *a, const tf_demand *d, const bool *may_wait,
                          const tf_tensor *t) {
  double least = INFINITY;
  for (int k = t->producer < 0 ? 0 : -1; k < (t->producer < 0 ? t->n_consumers : 0); k++) {
    const int o = k < 0 ? t->producer : t->consumers[k];
    least = fmin(least, may_wait[o] ? 0 : alone(a, d, o));
  }
  return isinf(least) ? 0 : least;
}

static void add_tensor(const tf_arch *a, const tf_demand *d, const bool *may_wait, int z,
                       passing *to) {
  const tf_memory *mem = &a->memories[1];
  const tf_tensor *t = &d->wl->tensors[z];
  const int64_t words = t->producer < 0 ? tf_demand_touched(d, z) : tf_demand_made(d, z);
  const double all = least_alone(a, d, may_wait, t);
  if (all <= 0 || words <= 0) return;
  const double cycles =
      (double)words * t->word_bits / mem->word_bits / mem->link_bw / links_of(mem);
  const bool none_free = mem->topology == TF_BUS || mem->topology == TF_CROSSBAR;
  to->cycles += cycles;
  to->over += none_free ? 0 : cycles / all;
}

double tf_least_links(const tf_arch *a, const tf_demand *d, const bool *may_wait) {
  passing way[2] = {{0, 0}, {0, 0}}; /* outwards, back */
  if (a->n_memories < 2) return 0;
  const tf_memory *mem = &a->memories[1];
  if (mem->topology == TF_NO_TOPOLOGY || mem->peers || isinf(mem->link_bw) ||
      mem->mesh[0] * mem->mesh[1] < 2)
    return 0;
  for (int z = 0; z < d->wl->n_tensors; z++) {
    const tf_tensor *t = &d->wl->tensors[z];
    if ((t->producer >= 0 && t->n_consumers > 0) || tf_arch_home(a, t) > 0) continue;
    add_tensor(a, d, may_wait, z, &way[t->producer >= 0 && mem->topology != TF_BUS]);
  }
  return fmax(way[0].cycles / (1 + way[0].over), way[1].cycles / (1 + way[1].over)) * (1 - 1e-9);
}
