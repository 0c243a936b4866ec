/* tf_solve_closed: enumerates shapes and loop orders, solves each in closed form, and keeps the
 * best by the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "search/closed/canonical.h"
#include "search/closed/fuse.h"
#include "search/closed/quick.h"
#include "search/common/archive.h"
#include "search/common/budget_clock.h"
#include "search/common/complete.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"
#include "search/common/ops.h"

enum { KEPT = 8, SEEN = 4096, MOST_ORDERS = 20000 };

typedef struct {
  double value;
  tf_tree *tree;
  tf_closed_figures figures;
} kept;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl, *real; /* wl: with padding treated as data; real: the caller's */
  const tf_solve_opts *o;
  tf_solve_result *res;
  tf_c_ops ops;
  int n_kept, orders;
  kept best[KEPT]; /* ascending value */
  uint64_t seen[SEEN];
  tf_budget_clock clock;
} closed;

/* ---- one tree -------------------------------------------------------------------------------- */
static bool is_new(closed *c, const tf_tree *t) {
  char *text = tf_tree_text(t);
  uint64_t h = text ? tf_hash(TF_HASH_START, text, strlen(text)) : 0;
  uint64_t *slot = &c->seen[h % SEEN];
  bool fresh = *slot != h;
  *slot = h;
  free(text);
  return fresh;
}

/* Takes ownership of the tree. */
static void keep_sorted(closed *c, tf_tree *t, const tf_closed_figures *f, double value) {
  int at = c->n_kept;
  while (at > 0 && c->best[at - 1].value > value)
    at--;
  if (at == KEPT) {
    tf_tree_free(t);
    return;
  }
  if (c->n_kept == KEPT)
    tf_tree_free(c->best[KEPT - 1].tree);
  else
    c->n_kept++;
  memmove(&c->best[at + 1], &c->best[at], (size_t)(c->n_kept - 1 - at) * sizeof c->best[0]);
  c->best[at] = (kept){value, t, *f};
}

static bool stopped(closed *c) {
  tf_solve_result *r = c->res;
  int64_t most = c->o->budget.max_evals;
  if (tf_clock_over(&c->clock))
    r->stopped_by = tf_clock_why(&c->clock);
  else if ((most && r->evals >= most) || c->orders > MOST_ORDERS)
    r->stopped_by = TF_STOP_BUDGET;
  else
    return false;
  return true;
}

/* Evaluates a tree of the closed form unless it was seen before; false: stop. */
static bool evaluate_found(void *ctx, tf_c_found *f) {
  closed *c = ctx;
  tf_figures figures;
  c->orders += f->figures.orders;
  if (!f->tree || !is_new(c, tf_build_draft(f->tree))) {
    tf_build_free(f->tree);
    return !stopped(c);
  }
  c->res->evals++;
  tf_tree *t = tf_build_tree(f->tree);
  if (tf_can_export(c->o->exportable, t) && tf_figures_of_tree(t, TF_COUNT_ALL, &figures))
    keep_sorted(c, t, &f->figures, tf_objective_value(c->o->objective, &figures));
  else
    tf_tree_free(t);
  tf_clock_report(&c->clock, (tf_progress){.evals = c->res->evals,
                                           .best = c->n_kept ? c->best[0].value : INFINITY,
                                           .bound = c->res->bound});
  return !stopped(c);
}

/* ---- enumeration ---------------------------------------------------------------------------- */
static int outermost_unit_level(const closed *c) {
  int least = c->arch->n_memories - 1;
  for (int o = 0; o < c->wl->n_ops; o++) {
    int f = tf_c_unit_level(c->arch, c->wl, o);
    if (f < least) least = f;
  }
  return least;
}

/* Whether an op reads what another one makes through a window. */
static bool has_windows(const tf_workload *wl) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &wl->ops[o].reads[i];
      for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
        if (wl->tensors[ref->tensor].producer >= 0 && ref->index[r].n_terms > 1) return true;
    }
  return false;
}

/* Fused shapes; false: stop. */
static bool try_fused(closed *c, bool loose) {
  for (int home = 1; home <= outermost_unit_level(c) && home <= TF_C_LEVELS; home++)
    for (int kind = 0; kind < TF_N_SCOPES; kind++)
      for (int stream = 0; stream <= tf_ops_some_streamed(c->wl); stream++)
        for (int own = 0; own < 2; own++) {
          if (tf_scope_at((tf_scope)kind)->at_once || (loose && (stream || own))) continue;
          tf_c_shape s = {home, (tf_scope)kind, stream, own, loose};
          c->res->templates++;
          if (!tf_c_fuse(&c->ops, &s, evaluate_found, c)) return false;
        }
  return true;
}

/* Loose shapes only where the others leave something to gain in windows. */
static void try_all(closed *c) {
  const double near = 1.05;
  tf_c_found apart;
  c->ops.orders = 0;
  if (tf_c_unfused(&c->ops, &apart) && !evaluate_found(c, &apart)) return;
  if (c->wl->n_ops < 2 || !tf_ops_one_end(c->wl) || !try_fused(c, false)) return;
  if (has_windows(c->wl) && !(c->n_kept && c->best[0].value <= near * c->res->bound))
    try_fused(c, true);
}

/* ---- the result ----------------------------------------------------------------------------- */
static double bound_of(const closed *c) {
  tf_bounds b;
  if (!tf_bounds_of(c->arch, c->real, &b)) return 0;
  return tf_bounds_value(c->o->objective, &b, c->arch);
}

/* Words that the model counts into and out of the first memory below the outermost. */
static double model_words(const closed *c, const tf_tree *tree) {
  tf_diags *d = tf_diags_new();
  tf_model *m = d ? tf_model_new(tree, d) : NULL;
  tf_result r;
  double words = 0;
  if (m) tf_model_all_points(m);
  if (m && c->arch->n_memories > 1 && tf_model_eval(m, NULL, &r))
    for (int z = 0; z < c->real->n_tensors; z++)
      words += (double)(c->real->tensors[z].producer < 0 ? r.counts[z].read : r.counts[z].update);
  tf_model_free(m);
  tf_diags_free(d);
  return words;
}

static void finish(closed *c) {
  tf_solve_result *r = c->res;
  const bool masked = tf_workload_masked(c->real);
  for (int i = 0; i < c->n_kept && (masked || !r->tree); i++) {
    tf_tree *t = tf_tree_copy(c->best[i].tree, c->arch, c->real, NULL);
    tf_figures f;
    bool better = tf_figures_of_tree(t, TF_COUNT_SHORT, &f);
    const double value = better ? tf_objective_value(c->o->objective, &f) : INFINITY;
    better = better && (!r->tree || tf_figures_order(value, &f, r->value, &r->figures) < 0);
    if (better) {
      tf_tree_free(r->tree);
      r->tree = t;
      r->value = value;
      r->figures = f;
      r->closed = c->best[i].figures;
      r->closed.model_words = model_words(c, t);
    } else {
      tf_tree_free(t);
    }
  }
  if (masked && r->tree && tf_figures_of_tree(r->tree, TF_COUNT_LONG, &r->figures))
    r->value = tf_objective_value(c->o->objective, &r->figures);
  r->closed.orders = c->orders + c->ops.orders;
  if (!r->tree) r->value = INFINITY;
  r->proved = r->space_proved = r->tree && r->value <= r->bound * (1 + 1e-12);
  r->space_bound = r->trips_bound = r->bound;
  r->seconds = tf_clock_seconds(&c->clock);
  r->threads = 1;
}

static bool prepare(closed *c, tf_diags *d) {
  tf_solve_result *r = c->res = calloc(1, sizeof *r);
  c->ops = (tf_c_ops){.arch = c->arch,
                      .wl = c->wl,
                      .objective = c->o->objective,
                      .list = calloc(TF_C_MEMO, sizeof *c->ops.list)};
  c->ops.one_side = c->o->exportable != NULL;
  if (r) r->levels = calloc((size_t)c->arch->n_memories, sizeof *r->levels);
  if (!r || !c->ops.list || !r->levels) return tf_out_of_memory(d);
  r->n_levels = c->arch->n_memories;
  for (int l = 0; l < r->n_levels; l++)
    r->levels[l].least = INT64_MAX;
  r->bound = bound_of(c);
  r->stopped_by = TF_STOP_EXHAUSTED;
  return true;
}

static tf_solve_result *try_shapes(closed *c, tf_diags *d) {
  tf_solve_result *r = NULL;
  tf_clock_begin(&c->clock, &c->o->budget);
  if (prepare(c, d)) {
    try_all(c);
    finish(c);
    r = c->res;
  } else {
    tf_solve_free(c->res);
  }
  for (int i = 0; i < c->n_kept; i++)
    tf_tree_free(c->best[i].tree);
  free(c->ops.list);
  return r;
}

static tf_solve_result *solve(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                              tf_diags *d) {
  tf_arena *a = tf_arena_new();
  const tf_workload *quick = a ? tf_quick_workload(a, wl) : NULL;
  closed *c = calloc(1, sizeof *c);
  tf_solve_result *r = NULL;
  if (!quick || !c) {
    tf_out_of_memory(d);
  } else {
    c->arch = arch, c->wl = quick, c->real = wl, c->o = o;
    r = try_shapes(c, d);
  }
  free(c);
  tf_arena_free(a);
  return r;
}

tf_solve_result *tf_solve_closed(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                                 tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_bounds bounds;
  if (!tf_bounds_find(arch, wl, &bounds, d)) return NULL;
  return tf_solve_as_canon(solve, arch, wl, o, d);
}
