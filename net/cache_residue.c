/* What each group finds in the cache below the outermost memory because earlier groups of the same
 * call left it there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "tileflow/tree.h"

/* Tensors in order of their last use, the latest first, each with the group that produced it. */
typedef struct {
  const tf_workload *wl;
  double room;             /* words of the cache */
  int n, *order;           /* [n] */
  int *maker;              /* [n_tensors] number of the group + 1; 0: none before */
  double *words, *residue; /* [n_groups] words of the group's inputs and outputs, and those of them
                         that need no outer memory */
} cache;

static double words_of(const tf_tensor *z) {
  double n = 1;
  for (int r = 0; r < z->rank; r++)
    n *= (double)z->extent[r];
  return n;
}

/* Moves the tensor to the front. Returns whether the cache still held it: it fits together with all
 * that was used since. */
static bool move_to_front(cache *c, int z) {
  double held = words_of(&c->wl->tensors[z]);
  int at = 0;
  while (at < c->n && c->order[at] != z)
    held += words_of(&c->wl->tensors[c->order[at++]]);
  const bool there = at < c->n && held <= c->room;
  c->n += at == c->n;
  memmove(c->order + 1, c->order, sizeof *c->order * (size_t)at);
  c->order[0] = z;
  return there;
}

/* A tensor that an earlier group produced and the cache still holds is neither written to the outer
 * memory nor read from it: its words are credited to both groups. */
static void use_tensors(cache *c, int i, const tf_group *g) {
  for (int k = 0; k < g->workload->n_tensors; k++) {
    const tf_tensor *t = &g->workload->tensors[k];
    const bool made = t->producer >= 0;
    if (made && t->n_consumers > 0) continue; /* it stays inside the group */
    const int of = c->wl->tensors[g->tensor[k]].view_of, z = of ? of - 1 : g->tensor[k];
    const double words = words_of(&c->wl->tensors[z]);
    const bool there = move_to_front(c, z);
    c->words[i] += words;
    if (made) c->maker[z] = i + 1;
    if (made) continue;
    if (there) c->residue[i] += words;
    if (there && c->maker[z]) c->residue[c->maker[z] - 1] += words;
    c->maker[z] = 0; /* written once, even if other readers find it in the cache */
  }
}

/* Cycles that memories take for a group: those of the busiest one; cycles of units are in the
 * kernel's. warm_cache: all its words stay in the cache, so that the outermost memory moves only
 * what the cache does, and nothing is written to the cache. */
static bool cycles_of_memories(tf_arena *a, const tf_arch *arch, const tf_net_group *g,
                               bool warm_cache, double *cycles, tf_diags *d) {
  tf_arch warm = *arch;
  warm.overlap = TF_OVERLAP_PERFECT;
  warm.memories = TF_ARRAY(a, tf_memory, (size_t)arch->n_memories);
  warm.units = TF_ARRAY(a, tf_unit, (size_t)arch->n_units);
  if (!warm.memories || !warm.units) return tf_out_of_memory(d);
  memcpy(warm.memories, arch->memories, sizeof *warm.memories * (size_t)arch->n_memories);
  memcpy(warm.units, arch->units, sizeof *warm.units * (size_t)arch->n_units);
  if (warm_cache) {
    warm.memories[0].read_bw = fmax(arch->memories[0].read_bw, arch->memories[1].read_bw);
    warm.memories[0].write_bw = fmax(arch->memories[0].write_bw, arch->memories[1].write_bw);
    warm.memories[1].read_bw = warm.memories[1].write_bw = INFINITY;
  }
  for (int u = 0; u < arch->n_units; u++)
    warm.units[u].rate = INFINITY;
  tf_tree *t = tf_tree_copy(g->tree, &warm, g->group->workload, d);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r = {0};
  const bool ok = m && tf_model_eval(m, NULL, &r);
  if (ok) *cycles = r.cycles;
  tf_model_free(m);
  tf_tree_free(t);
  return ok || (m && tf_fail(d, g->group->workload->at, TF_E_OVERFLOW,
                             "a count of this mapping passes 2^63 - 1"));
}

bool net_residue_shares(tf_arena *a, const tf_workload *wl, const tf_net_plan *p, double room,
                        double *part) {
  cache c = {.wl = wl,
             .room = room,
             .order = TF_ARRAY(a, int, (size_t)wl->n_tensors),
             .maker = TF_ARRAY(a, int, (size_t)wl->n_tensors),
             .words = TF_ARRAY(a, double, (size_t)p->n),
             .residue = TF_ARRAY(a, double, (size_t)p->n)};
  if (!c.order || !c.maker || !c.words || !c.residue) return false;
  for (int i = 0; i < p->n; i++)
    use_tensors(&c, i, p->groups[i].group);
  for (int i = 0; i < p->n; i++)
    part[i] = c.words[i] > 0 ? c.residue[i] / c.words[i] : 0;
  return true;
}

bool net_cache_residue(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_net_plan *p,
                       bool narrow, tf_diags *d) {
  const tf_memory *inner = arch->n_memories > 1 ? &arch->memories[1] : NULL;
  const bool one = inner && inner->mesh[0] * inner->mesh[1] ==
                                1; /* of several caches, each holds only what its core used */
  const double room = !one                        ? 0
                      : inner->capacity_words < 0 ? INFINITY
                                                  : (double)inner->capacity_words;
  double *part = TF_ARRAY(a, double, (size_t)p->n), *warm = TF_ARRAY(a, double, (size_t)p->n),
         *cold = TF_ARRAY(a, double, (size_t)p->n);
  if (!part || !warm || !cold || !net_residue_shares(a, wl, p, room, part))
    return tf_out_of_memory(d);
  for (int i = 0; i < p->n; i++) {
    tf_net_group *g = &p->groups[i];
    double *const all = &cold[g->like], *const least = &warm[g->like];
    g->memory_cycles = g->figures.cycles;
    if (g->expected.busy > 0) g->expected_cycles = tf_expected_cycles(&g->expected, part[i]);
    if (g->kernel_cycles <= 0) continue;
    if (*all <= 0 && narrow && !cycles_of_memories(a, arch, g, false, all, d)) return false;
    if (narrow) g->memory_cycles = fmin(*all, g->figures.cycles);
    if (part[i] <= 0) continue;
    if (*least <= 0 && !cycles_of_memories(a, arch, g, true, least, d)) return false;
    g->memory_cycles -= part[i] * fmax(0, g->memory_cycles - *least);
  }
  return true;
}
