#include "search/exact/floor.h"

#include <math.h>

#include "model/demand/demand.h"
#include "search/common/ops.h"
#include "search/exact/ilp.h"

enum { DIMS = 64, SLOTS = 32, MEMORIES = 15 };

double tf_x_floor_all(const tf_x_floor *f) { return tf_bounds_value(f->objective, &f->all, f->arch); }
double tf_x_floor_space(const tf_x_floor *f) { return tf_bounds_value(f->objective, &f->space, f->arch); }

/* Whether only units of this kind can do the op's work: ops that divide may defer that. */
static bool needs_unit(const tf_x_floor *f, int o, int u) {
  const tf_op *op = &f->wl->ops[o];
  int able = 0;
  for (int k = 0; k < f->arch->n_units; k++)
    able += !(op->kinds & ~f->arch->units[k].kinds);
  return able == 1 && !(op->kinds & ~f->arch->units[u].kinds) && !(op->kinds & 1u << TF_K_DIV);
}

/* Work per kind of unit: ops that only one kind can run share its units in any mapping. */
static bool raise_by_units(tf_x_floor *f) {
  tf_demand d;
  bool ok = tf_demand_of(f->wl, &d);
  for (int u = 0; u < f->arch->n_units && ok; u++) {
    double points = 0;
    for (int o = 0; o < f->wl->n_ops; o++)
      points += needs_unit(f, o, u) ? tf_demanded_points(&d, o) : 0;
    f->all.cycles = fmax(f->all.cycles, points / (tf_bounds_units(f->arch, u) * f->arch->units[u].rate));
  }
  tf_demand_free(&d);
  return ok;
}

bool tf_x_floor_find(tf_x_floor *f, tf_diags *d) {
  if (!tf_bounds_find(f->arch, f->wl, &f->all, d)) return false;
  if (!raise_by_units(f)) return tf_out_of_memory(d);
  f->space = f->all;
  return true;
}

static bool over(void *watch) { return tf_watch_over(watch); }

int64_t tf_x_floor_by_factors(tf_x_floor *f, int64_t nodes, tf_watch *watch) {
  int64_t len[DIMS], room[SLOTS];
  int u = tf_ops_unit(f->arch, f->wl, 0), n = f->wl->ops[0].n_dims, slots = 0;
  double most, relaxed, points = 1;
  if (f->wl->n_ops > 1 || n > DIMS || f->arch->n_memories > MEMORIES || !needs_unit(f, 0, u)) return 0;
  for (int i = 0; i < n; i++)
    points *= (double)(len[i] = f->wl->dims[f->wl->ops[0].dims[i]].extent);
  for (int a = 0; a < 2; a++) {
    for (int l = 1; l <= f->arch->units[u].below; l++)
      room[slots++] = f->arch->memories[l].mesh[a];
    room[slots++] = f->arch->units[u].mesh[a];
  }
  tf_ilp_limit limit = {.nodes = nodes, .over = over, .ctx = watch};
  if (tf_ilp_most_spread(len, n, room, slots, &limit, &most, &relaxed))
    f->space.cycles = fmax(f->space.cycles, points / (most * f->arch->units[u].rate));
  return limit.spent;
}
