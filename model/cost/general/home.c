/* The box that the runs of a scope leave of an intermediate in one memory. */
#include <string.h>

#include "model/cost/general/general.h"
#include "model/flow/retain.h"

/* The box that the runs of a scope sharing a memory leave of an intermediate there. */
typedef struct {
  struct tf_model *m;
  int z;
  const tf_retain *h; /* the scope whose runs determine what is computed; NULL: none */
  uint64_t ranks;     /* the ranks asked for */
  bool every;         /* visit all instances */
  tf_ival *all;       /* [TF_MAX_RANK] */
} home_hull;

/* Joins what the instance at scratch.cur leaves (of a retained tensor, all of it).  False:
 * nothing. */
static bool add_left(home_hull *g) {
  tf_eval *ev = &g->m->ev;
  const tf_tensor *t = &g->m->plan->wl->tensors[g->z];
  tf_ival box[TF_MAX_RANK];
  tf_made made;
  bool any = true;
  if (g->h) tf_retain_at(ev, &g->m->scratch, g->h, g->m->scratch.cur, &made);
  if (g->h && g->m->plan->retained[g->z]) ev->made[t->producer] = NULL;
  for (int r = 0; r < t->rank && any; r++) {
    if (!(g->ranks >> r & 1)) continue;
    int d = g->m->plan->wl->ops[t->producer].dims[r];
    box[r] = tf_dim_range(ev, t->producer, d, g->m->plan->home_scope[g->z], g->m->scratch.cur);
    any = box[r].len > 0;
  }
  ev->made = NULL;
  for (int r = 0; r < t->rank && any; r++)
    if (g->ranks >> r & 1) g->all[r] = tf_hull(g->all[r], box[r]);
  return any;
}

/* Joins what all instances of the loops from path position k on leave in one memory; without
 * borders the first and the last step of each loop are enough. */
static bool add_instances(home_hull *g, int k) {
  const tf_plan *p = g->m->plan;
  const tf_path *path = &p->path[p->home_scope[g->z]];
  while (k < path->n && (!tf_plan_brings(p, g->z, path->loops[k]) ||
                         p->loops[path->loops[k]].op < 0 || g->m->ev.trip[path->loops[k]] <= 1))
    k++;
  if (k >= path->n) return add_left(g);
  int64_t *digit = &g->m->scratch.cur[path->loops[k]];
  *digit = 0;
  const int64_t n =
      tf_nonempty_steps(&g->m->ev, p->home_scope[g->z], path->loops[k], g->m->scratch.cur);
  bool any = false;
  for (int64_t t = 0; t < n; t += g->every || n < 2 ? 1 : n - 1) {
    *digit = t;
    any |= add_instances(g, k + 1);
  }
  *digit = 0;
  return any;
}

/* The number of instances that loops bring into one memory at z's home. */
double tf_home_runs(const struct tf_model *m, int z) {
  const tf_path *path = &m->plan->path[m->plan->home_scope[z]];
  double n = 1;
  for (int k = 0; k < path->n; k++)
    if (tf_plan_brings(m->plan, z, path->loops[k])) n *= (double)m->ev.trip[path->loops[k]];
  return n;
}

void tf_home_box(struct tf_model *m, int z, const tf_retain *h, uint64_t ranks,
                 const int64_t *digits, tf_ival *box) {
  home_hull g = {
      .m = m, .z = z, .h = h, .ranks = ranks, .every = m->plan->cuts || m->ev.parts, .all = box};
  memset(box, 0, TF_MAX_RANK * sizeof *box);
  memcpy(m->scratch.cur, digits, (size_t)m->plan->n_loops * sizeof *digits);
  add_instances(&g, 0);
}
