/* Expects costs of groups from known costs of their parts: fusing more ops into a kernel saves
 * words and rarely work, so a group should take nearly as long as the kernel of its part and those
 * of its other ops. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "net/net.h"
#include "planner/planner.h"

/* The share of these that is expected: the search for the part's kernel is short, and a map may be
 * absorbed by another op. */
#define KEPT_WORK 0.99
/* A part tells the time of its work if that is nearly all of its cost: of memory-bound groups no
 * faster kernels are searched. */
#define BY_KERNEL 0.999
/* And if the search came within this factor of its ops apart: otherwise it has found nothing. */
#define FOUND 3
/* Windows that recompute their neighbours' results do so the more, the more ops follow one another.
 * If a part therefore takes LOST times as long as its ops apart, at least LOST_KEPT of its time is
 * expected of groups that contain it. */
#define LOST 2
#define LOST_KEPT 0.6

/* A group of the network: bit k is the op at position `first` + k of the order. */
struct net_met {
  uint64_t ops;
  int id, next; /* number of the next one that begins there, + 1; 0: none */
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
    if (at < 0 || at > 63) return true; /* such a group is not recorded */
    set |= UINT64_C(1) << at;
  }
  for (int i = p->head[first] - 1; i >= 0; i = p->met[i].next - 1)
    if (p->met[i].ops == set) return true;
  if (!TF_GROW(p->met, p->n)) return tf_out_of_memory(c->d);
  p->met[p->n] = (net_met){.ops = set, .id = id, .next = p->head[first]};
  p->head[first] = ++p->n;
  if (!c->entry[id].ops) c->entry[id].first = first, c->entry[id].ops = set;
  return true;
}

/* Whether the group's cost is that of its kernel. */
static bool cost_is_kernel(const net_cost *part) {
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
    for (int i = p->head[x->first + k] - 1; i >= 0; i = p->met[i].next - 1) {
      const net_cost *part = &c->entry[p->met[i].id];
      const uint64_t ops = p->met[i].ops << k;
      if (ops >> k != p->met[i].ops || ops & ~x->ops || ops == x->ops) continue;
      if (cost_is_kernel(part))
        x->least = fmax(x->least, KEPT_WORK * (part->kernel + x->alone - part->alone));
      if (is_lost(part)) x->least = fmax(x->least, LOST_KEPT * part->value);
    }
  }
}

void net_parts_free(net_parts *p) {
  free(p->head);
  free(p->place);
  free(p->met);
}
