/* A training step weighed. */
#include "tileflow/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "train/front.h"
#include "train/fusions.h"

typedef struct {
  tf_train out; /* first: what is handed out */
  tf_arena *arena;
} owned;

static void count_ops(const tf_workload *fore, const tf_workload *step, tf_train *out) {
  for (int o = 0; o < step->n_ops; o++) {
    const char *name = step->tensors[step->ops[o].out].name;
    const size_t n = strlen(name);
    const bool forward = tr_find(fore, "", name) >= 0,
               update = n > 5 && !strcmp(name + n - 5, "_next");
    out->n_forward += forward;
    out->n_update += !forward && update;
    out->n_backward += !forward && !update;
  }
}

static bool weigh(tr_weighing *w) {
  tf_spec *s = tr_step(w->fore, &w->o->step, NULL, w->d);
  if (!s) return false;
  tr_graph g;
  bool ok = tr_graph_of(w->a, w->arch, s->workload, &g) &&
            tr_fusions(w->a, w->fore, &g, w->o->launch, w->out);
  if (!ok) tf_out_of_memory(w->d);
  if (ok) {
    w->out->rate = g.rate;
    count_ops(w->fore, s->workload, w->out);
  }
  ok = ok && (!w->o->front || tr_front(w, &g));
  tf_spec_free(s);
  return ok;
}

tf_train *tf_train_of(const tf_arch *arch, const tf_workload *wl, const tf_train_opts *o,
                      tf_diags *d) {
  TF_IN_C_LOCALE;
  owned *all = calloc(1, sizeof *all);
  if (all) all->arena = tf_arena_new();
  tr_weighing w = {arch, wl, o, all ? all->arena : NULL, d, &all->out};
  if (!all || !all->arena)
    tf_out_of_memory(d);
  else if (weigh(&w))
    return &all->out;
  tf_train_free(all ? &all->out : NULL);
  return NULL;
}

void tf_train_free(tf_train *t) {
  owned *all = (owned *)t;
  if (all) tf_arena_free(all->arena);
  free(all);
}
