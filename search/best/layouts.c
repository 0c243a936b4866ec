/* Chooses layouts of tensors in memories with lines, for one mapping: coordinate descent, tensor by
 * tensor, until no change improves. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/locale.h"
#include "model/eval/hooks.h"
#include "search/best/layouts.h"
#include "search/common/objective.h"
#include "tileflow/tree.h"

enum { RANKS = 16, ALL_ORDERS = 4, MOST_EVALS = 4000, MOST_WALKED = 200000, MOST_ROUNDS = 4 };

typedef struct {
  tf_layouts_result r; /* first: the rest is hidden from the caller */
  tf_arena *arena;
  tf_model *model;
  double edp;    /* of the best so far: breaks ties of the objective */
  int64_t spent; /* evaluations; one that walks counts as several */
  tf_layouts_limits most;
} finder;

static bool own_parts(finder *f, tf_laid *l) {
  const tf_laid_part *from = l->parts;
  l->parts = TF_ARRAY(f->arena, tf_laid_part, (size_t)l->n + 1);
  if (l->parts) memcpy(l->parts, from, (size_t)l->n * sizeof *from);
  return l->parts != NULL;
}

/* A copy of the machine whose lists of layouts have room for all tensors. */
static bool own_machine(finder *f, const tf_arch *a, const tf_workload *wl) {
  tf_arch *mine = TF_NEW(f->arena, tf_arch);
  if (!mine) return false;
  *mine = *a;
  mine->memories = TF_ARRAY(f->arena, tf_memory, (size_t)a->n_memories);
  f->r.arch = mine;
  for (int l = 0; l < a->n_memories && mine->memories; l++) {
    tf_memory *m = &mine->memories[l];
    *m = a->memories[l];
    m->laid.list = TF_ARRAY(f->arena, tf_laid, (size_t)wl->n_tensors + 1);
    if (!m->laid.list) return false;
    if (m->laid.n)
      memcpy(m->laid.list, a->memories[l].laid.list, (size_t)m->laid.n * sizeof *m->laid.list);
    for (int i = 0; i < m->laid.n; i++)
      if (!own_parts(f, &m->laid.list[i])) return false;
  }
  return mine->memories != NULL;
}

static bool evaluate(finder *f, double *value, double *edp) {
  tf_result r;
  const bool counted = tf_model_eval(f->model, NULL, &r);
  f->r.evals++;
  f->spent += 1 + tf_model_walked_evals(f->model);
  if (!counted) return false;
  const tf_figures of = tf_figures_of(f->r.arch, f->r.tree->workload, &r);
  *value = tf_objective_value(f->most.objective, &of);
  *edp = of.edp;
  return true;
}

/* By more than rounding. */
static bool less(double a, double b) { return a < b * (1 - 1e-12); }

static bool spent(const finder *f) { return f->r.evals >= MOST_EVALS || f->spent >= f->most.evals; }

/* Takes the layout if it is better. */
static bool try_one(finder *f, tf_laid *at, const tf_laid *l) {
  const tf_laid before = *at;
  double value, edp;
  if (spent(f) || (f->most.clock && tf_clock_over(f->most.clock))) return false;
  *at = *l;
  if (evaluate(f, &value, &edp) &&
      (less(value, f->r.value) || (!less(f->r.value, value) && less(edp, f->edp)))) {
    tf_laid_part *parts = TF_ARRAY(f->arena, tf_laid_part, (size_t)l->n + 1);
    if (parts) {
      memcpy(parts, l->parts, (size_t)l->n * sizeof *parts);
      at->parts = parts;
      f->r.value = value;
      f->edp = edp;
      return true;
    }
  }
  *at = before;
  return false;
}

/* Tries an order of ranks as it is, and with its fastest rank cut by powers of two up to a line,
 * the quotient further out. */
static bool try_order(finder *f, const tf_memory *m, const tf_tensor *z, tf_laid *at,
                      const int *order) {
  const int last = order[z->rank - 1];
  tf_laid_part parts[RANKS + 1];
  tf_laid l = {at->tensor, z->rank, parts};
  for (int r = 0; r < z->rank; r++)
    parts[r] = (tf_laid_part){order[r], TF_LAYOUT_WHOLE, 1};
  bool better = try_one(f, at, &l);
  for (int where = 0; where < z->rank - 1; where++)
    for (int64_t by = 2; by <= m->line && by < z->extent[last]; by *= 2) {
      l.n = 0;
      for (int r = 0; r < z->rank - 1; r++) {
        if (r == where) parts[l.n++] = (tf_laid_part){last, TF_LAYOUT_DIV, by};
        parts[l.n++] = (tf_laid_part){order[r], TF_LAYOUT_WHOLE, 1};
      }
      parts[l.n++] = (tf_laid_part){last, TF_LAYOUT_MOD, by};
      better = try_one(f, at, &l) || better;
    }
  return better;
}

/* The lexicographically next order; false after the last. */
static bool next_order(int *order, int n) {
  int i = n - 2, k = n - 1;
  while (i >= 0 && order[i] > order[i + 1])
    i--;
  if (i < 0) return false;
  while (order[k] < order[i])
    k--;
  const int swap = order[i];
  order[i] = order[k];
  order[k] = swap;
  for (int a = i + 1, b = n - 1; a < b; a++, b--) {
    const int s = order[a];
    order[a] = order[b];
    order[b] = s;
  }
  return true;
}

/* Tries all orders of few ranks; of many ranks, each as the fastest. */
static bool try_tensor(finder *f, const tf_memory *m, const tf_tensor *z, tf_laid *at) {
  int order[RANKS];
  bool better = false;
  for (int r = 0; r < z->rank; r++)
    order[r] = r;
  if (z->rank <= ALL_ORDERS) {
    do
      better = try_order(f, m, z, at, order) || better;
    while (next_order(order, z->rank));
    return better;
  }
  for (int fast = z->rank - 1; fast >= 0; fast--) {
    int n = 0;
    for (int r = 0; r < z->rank; r++)
      if (r != fast) order[n++] = r;
    order[n] = fast;
    better = try_order(f, m, z, at, order) || better;
  }
  return better;
}

static tf_laid *laid_at(tf_memory *m, const tf_tensor *z) {
  const char *name = z->known_as ? z->known_as : z->name;
  for (int i = 0; i < m->laid.n; i++)
    if (!strcmp(m->laid.list[i].tensor.name, name)) return &m->laid.list[i];
  return NULL;
}

/* Tries the tensor.  If it has no layout yet, one is added, and removed again if nothing is
 * better. */
static bool try_in(finder *f, tf_memory *m, const tf_tensor *z) {
  tf_laid *at = laid_at(m, z);
  if (at) return try_tensor(f, m, z, at);
  at = &m->laid.list[m->laid.n++];
  *at = (tf_laid){.tensor = {z->known_as ? z->known_as : z->name, z->at},
                  .n = z->rank,
                  .parts = TF_ARRAY(f->arena, tf_laid_part, (size_t)z->rank + 1)};
  for (int r = 0; r < z->rank && at->parts; r++)
    at->parts[r] = (tf_laid_part){r, TF_LAYOUT_WHOLE, 1};
  const bool better = at->parts && try_tensor(f, m, z, at);
  if (!better) m->laid.n--;
  return better;
}

static void improve(finder *f) {
  const tf_workload *wl = f->r.tree->workload;
  tf_arch *a = f->r.arch;
  bool better = true;
  for (int round = 0; better && round < MOST_ROUNDS; round++) {
    better = false;
    for (int l = 0; l < a->n_memories; l++)
      for (int z = 0; a->memories[l].line && z < wl->n_tensors; z++)
        if (wl->tensors[z].rank > 1) better = try_in(f, &a->memories[l], &wl->tensors[z]) || better;
  }
}

tf_layouts_result *tf_layouts_within(const tf_tree *tree, const tf_arch *arch,
                                     const tf_layouts_limits *limits, tf_diags *d) {
  tf_arena *arena = tf_arena_new();
  finder *f = arena ? TF_NEW(arena, finder) : NULL;
  if (f) f->arena = arena, f->most = *limits;
  bool ok = f && own_machine(f, arch, tree->workload);
  if (ok) ok = (f->r.tree = tf_tree_copy(tree, f->r.arch, tree->workload, d)) != NULL;
  if (ok) ok = (f->model = tf_model_new(f->r.tree, d)) != NULL;
  if (!ok) {
    if (!tf_diags_errors(d)) tf_fail(d, tree->nodes[0].at, TF_E_LIMIT, "out of memory");
    if (f) tf_layouts_free(&f->r);
    if (!f) tf_arena_free(arena);
    return NULL;
  }
  tf_model_walk_limit(f->model, MOST_WALKED);
  const double start = tf_now();
  if (evaluate(f, &f->r.value, &f->edp)) {
    f->r.before = f->r.value;
    improve(f);
  }
  f->r.stopped_by = spent(f) ? TF_STOP_BUDGET : TF_STOP_EXHAUSTED;
  f->r.seconds = tf_now() - start;
  return &f->r;
}

tf_layouts_result *tf_layouts_best(const tf_tree *tree, tf_objective objective, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_layouts_limits all = {objective, INT64_MAX, NULL};
  return tf_layouts_within(tree, tree->arch, &all, d);
}

bool tf_layouts_better(const tf_layouts_result *a, const tf_layouts_result *b) {
  const finder *x = (const finder *)a, *y = (const finder *)b;
  if (a->value <= 0 || b->value <= 0) return a->value > 0;
  return less(a->value, b->value) || (!less(b->value, a->value) && less(x->edp, y->edp));
}

int64_t tf_layouts_spent(const tf_layouts_result *r) { return ((const finder *)r)->spent; }

void tf_layouts_free(tf_layouts_result *r) {
  finder *f = (finder *)r;
  if (!f) return;
  tf_model_free(f->model);
  tf_tree_free(f->r.tree);
  tf_arena_free(f->arena);
}
