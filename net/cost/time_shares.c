/* Divides the time of a plan. Equal groups are planned once, so that time goes to groups of a new
 * kind: a network of equal layers needs nearly all of it for its first layer. While the network is
 * cut, the share of time that may have passed when n ops have run is the share of all kinds of ops
 * that is among these and those of the next group. What is left without time gets the closed-form
 * mappings of single ops. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "net/net.h"

#define CUTTING 0.7 /* of the time; the rest is for longer searches for the chosen groups */

bool net_time_begin(net_costs *c) {
  const tf_workload *wl = c->wl;
  if (isinf(c->deadline)) return true;
  c->new_kinds = calloc((size_t)wl->n_ops + 1, sizeof *c->new_kinds);
  if (!c->new_kinds) return tf_out_of_memory(c->d);
  for (int k = 0; k < wl->n_ops; k++) {
    const int known = c->n;
    int id = -1;
    double least;
    if (!net_meet(c, &wl->topo[k], 1, &id, &least)) return false;
    c->new_kinds[k + 1] = c->new_kinds[k] + (c->n > known);
  }
  net_time_reach(c, 0);
  return true;
}

void net_time_reach(void *costs, int n_run) {
  net_costs *c = costs;
  if (!c->new_kinds) return;
  const int n = c->wl->n_ops, ahead = n_run + (c->o->max_ops ? c->o->max_ops : TF_NET_MAX_OPS);
  const double all = fmax(c->new_kinds[n], 1), seen = c->new_kinds[ahead < n ? ahead : n];
  c->until = c->begun + (c->deadline - c->begun) * CUTTING * seen / all;
}

void net_time_improve(net_costs *c, int n_left) {
  const double now = tf_now();
  if (isinf(c->deadline)) return;
  c->until = now < c->deadline ? now + (c->deadline - now) / fmax(n_left, 1) : c->deadline;
}
