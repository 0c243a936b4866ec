/* What a part of a group has been found to cost tells of the group: fusing more ops into a kernel
 * saves words, and rarely work, so the group is expected to take nearly as long as the kernel of
 * its part and those of its other ops. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "net/net.h"
#include "planner/planner.h"

/* So much of these, as the search for the part's kernel was short, and a map may vanish in another
 * op. */
#define KEPT_WORK 0.99
/* A part tells what its work takes if that is all of its cost: kernels of those that wait for
 * memories are not searched for. */
#define BY_KERNEL 0.999
/* And if the search came that near to its ops apart: beyond, it has found nothing. */
#define FOUND 3
/* Windows that make again what neighbours have made do so the more, the more ops follow each other.
 * If that makes a part take so many times as long as its ops apart, of groups around it no less
 * than so much of it is expected. */
#define LOST 2
#define LOST_KEPT 0.6

/* Where a group was met: bit k is the op at position `first` + k of the order. */
struct net_met {
  uint64_t ops;
  int id, next; /* number of the next that begins there, + 1 */
};

static bool begin(net_costs *c) {
  net_parts *p = &c->parts;
  p->head = calloc((size_t)c->wl->n_ops, sizeof *p->head);
  p->place = calloc((size_t)c->wl->n_ops, sizeof *p->place);
  if (!p->head || !p->place) return tf_out_of_memory(c->d);
  for (int k = 0; k < c->wl->n_ops; k++)
    p->place[c->wl->topo[k]] = k;
  return true;
}

bool net_note_place(net_costs *c, int id, const int *ops, int n) {
  net_parts *p = &c->parts;
  if (!p->head && !begin(c)) return false;
  const int first = p->place[ops[0]];
  uint64_t set = 0;
  for (int i = 0; i < n; i++) {
    const int at = p->place[ops[i]] - first;
    if (at < 0 || at > 63) return true; /* it is told nothing */
    set |= UINT64_C(1) << at;
  }
  for (int i = p->head[first] - 1; i >= 0; i = p->at[i].next - 1)
    if (p->at[i].ops == set) return true;
  if (!TF_GROW(p->at, p->n)) return tf_out_of_memory(c->d);
  p->at[p->n] = (net_met){.ops = set, .id = id, .next = p->head[first]};
  p->head[first] = ++p->n;
  if (!c->at[id].ops) c->at[id].first = first, c->at[id].ops = set;
  return true;
}

/* Whether the group has a kernel, which is what it costs. */
static bool tells(const net_cost *part) {
  return part->known && part->tree && isfinite(part->value) &&
         part->kernel >= BY_KERNEL * part->value && part->value <= FOUND * part->baseline;
}

static bool is_lost(const net_cost *part) {
  return part->known && part->tree && isfinite(part->value) &&
         part->value > LOST * part->baseline && plan_reads_beyond(part->group->workload);
}

void net_raise_least(const net_costs *c, net_cost *x) {
  const net_parts *p = &c->parts;
  for (uint64_t rest = x->ops; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest);
    for (int i = p->head[x->first + k] - 1; i >= 0; i = p->at[i].next - 1) {
      const net_cost *part = &c->at[p->at[i].id];
      const uint64_t ops = p->at[i].ops << k;
      if (ops >> k != p->at[i].ops || ops & ~x->ops || ops == x->ops) continue;
      if (tells(part))
        x->least = fmax(x->least, KEPT_WORK * (part->kernel + x->alone - part->alone));
      if (is_lost(part)) x->least = fmax(x->least, LOST_KEPT * part->value);
    }
  }
}

void net_parts_free(net_parts *p) {
  free(p->head);
  free(p->place);
  free(p->at);
}
