#include "search/exact/root_bound.h"

#include <math.h>

#include "model/demand/demand.h"
#include "search/common/ops.h"
#include "search/exact/ilp.h"
#include "tileflow/bound.h"

enum { DIMS = 64, SLOTS = 32, MEMORIES = 15 };

double tf_x_root_all(const tf_x_root_bound *f) {
  return tf_bounds_value(f->objective, &f->all, f->arch);
}
double tf_x_root_space(const tf_x_root_bound *f) {
  return tf_bounds_value(f->objective, &f->space, f->arch);
}

bool tf_x_root_find(tf_x_root_bound *f, tf_diags *d) {
  if (!tf_bounds_on_chip(f->arch, f->wl, &f->all, d)) return false;
  f->space = f->all;
  return true;
}

static bool over(void *clock) { return tf_clock_over(clock); }

int64_t tf_x_root_by_factors(tf_x_root_bound *f, int64_t nodes, tf_budget_clock *clock) {
  int64_t len[DIMS], room[SLOTS];
  int u = tf_ops_unit(f->arch, f->wl, 0), n = f->wl->ops[0].n_dims, slots = 0;
  double most, relaxed, points = 1;
  if (f->wl->n_ops > 1 || n > DIMS || f->arch->n_memories > MEMORIES ||
      !tf_needs_unit(f->arch, &f->wl->ops[0], u))
    return 0;
  for (int i = 0; i < n; i++)
    points *= (double)(len[i] = f->wl->dims[f->wl->ops[0].dims[i]].extent);
  for (int a = 0; a < 2; a++) {
    for (int l = 1; l <= f->arch->units[u].below; l++)
      room[slots++] = f->arch->memories[l].mesh[a];
    room[slots++] = f->arch->units[u].mesh[a];
  }
  tf_ilp_limit limit = {.nodes = nodes, .over = over, .ctx = clock};
  if (tf_ilp_most_spread(len, n, room, slots, &limit, &most, &relaxed))
    f->space.cycles = fmax(f->space.cycles, points / (most * f->arch->units[u].rate));
  return limit.spent;
}
