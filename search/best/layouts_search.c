/* Chooses mapping and layouts together, by alternation: a search on the machine without lines gives
 * mappings, each gets its best layouts, and the best of these starts a search on the machine with
 * its layouts; repeated while that improves. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/locale.h"
#include "search/best/layouts.h"
#include "search/common/budget_clock.h"
#include "tileflow/tree.h"

enum {
  KEEP = 8,   /* mappings of one search that get layouts */
  PART = 2,   /* each search gets one part in so many of the remaining evaluations */
  ROUNDS = 6, /* most searches with layouts, each with those of the best so far */
  LEAST = 64  /* with fewer evaluations a search finds nothing */
};

typedef struct {
  const tf_layouts_opts *o;
  tf_layouts_result *best;
  tf_budget_clock clock;
  int64_t evals;
  double before;      /* value of the first mapping with its own layouts */
  const char *method; /* that found the best; NULL: the best is the first mapping */
  tf_stop ended;      /* why the last search ended */
  tf_diags *d;
} finder;

static int64_t left_of(const finder *f) {
  const int64_t most = f->o->budget.max_evals;
  return most > 0 ? most - f->evals : INT64_MAX;
}

static bool over(finder *f) { return left_of(f) < LEAST || tf_clock_over(&f->clock); }

/* Chooses layouts for a mapping that `method` found, from those of `arch`; keeps it if it is
 * better. */
static bool lay_out(finder *f, const tf_tree *t, const tf_arch *arch, const char *method) {
  /* the first mapping found gets layouts even if no evaluations are left */
  const tf_layouts_limits most = {f->o->objective, f->best ? left_of(f) : INT64_MAX, &f->clock};
  tf_layouts_result *r = tf_layouts_within(t, arch, &most, f->d);
  if (!r) return false;
  f->evals += tf_layouts_spent(r);
  if (f->best && !tf_layouts_better(r, f->best)) {
    tf_layouts_free(r);
    return true;
  }
  if (!f->best) f->before = r->before;
  tf_layouts_free(f->best);
  f->best = r;
  f->method = method;
  return true;
}

/* Searches on the machine: completions of the given open tree, or from the best so far. */
static tf_search_result *search(finder *f, const tf_arch *arch, int round) {
  const tf_tree *of = f->best->tree;
  const tf_budget *all = &f->o->budget;
  const double limit = all->time_limit > 0 ? all->time_limit - tf_clock_seconds(&f->clock) : 0;
  tf_tree *start = tf_tree_copy(of, arch, of->workload, f->d);
  tf_tree *given = f->o->given ? tf_tree_copy(f->o->given, arch, of->workload, f->d) : NULL;
  tf_search_result *r = NULL;
  const tf_tree *const starts[] = {start};
  tf_search_opts o = {.objective = f->o->objective,
                      .exportable = f->o->exportable,
                      .budget = *all,
                      .keep = KEEP,
                      .starts = starts,
                      .n_starts =
                          f->o->given ? 0 : 1}; /* the space of a start is not that of `given` */
  o.budget.max_evals = all->max_evals > 0 ? left_of(f) / PART : 0;
  o.budget.max_effort = all->max_effort / PART;
  o.budget.time_limit = limit / PART;
  o.budget.seed = all->seed + (uint64_t)round;
  o.budget.progress = NULL;
  if (start && (given || !f->o->given)) r = tf_search_run(arch, of->workload, given, &o, f->d);
  tf_tree_free(start);
  tf_tree_free(given);
  if (r) f->evals += r->evals, f->ended = r->stopped_by;
  return r;
}

/* One search, and layouts for what it finds.  *better: one is better than the best before.  False:
 * out of memory. */
static bool round_of(finder *f, const tf_arch *arch, const tf_arch *laid, int round, bool *better) {
  tf_search_result *r = search(f, arch, round);
  const double before = f->best->value;
  bool ok = r != NULL;
  for (int i = 0; ok && i < r->n_best && left_of(f) > 0; i++)
    ok = lay_out(f, r->best[i].tree, laid, r->strategy);
  *better = ok && f->best->value < before * (1 - 1e-9);
  tf_search_free(r);
  return ok;
}

/* A copy of the machine without lines: there all layouts cost the same. */
static tf_arch *without_lines(tf_arena *a, const tf_arch *from) {
  tf_arch *to = TF_NEW(a, tf_arch);
  if (!to) return NULL;
  *to = *from;
  to->memories = TF_ARRAY(a, tf_memory, (size_t)from->n_memories);
  for (int l = 0; to->memories && l < from->n_memories; l++) {
    to->memories[l] = from->memories[l];
    to->memories[l].line = 0;
    to->memories[l].laid.n = 0;
  }
  return to->memories ? to : NULL;
}

/* Searches on the machine without lines, then on the one with the best layouts so far; the layouts
 * of a search stay allocated while its mappings get theirs. */
static bool find(finder *f, const tf_tree *tree, tf_arena *a) {
  bool better = true;
  const tf_arch *bare = without_lines(a, tree->arch);
  if (!bare || !lay_out(f, tree, tree->arch, NULL)) return false;
  if (f->best->value <= 0) return true;
  if (!over(f) && !round_of(f, bare, tree->arch, 1, &better)) return false;
  better = true;
  for (int k = 0; k < ROUNDS && better && !over(f); k++) {
    const tf_layouts_limits one = {f->o->objective, 1, NULL};
    tf_layouts_result *on = tf_layouts_within(f->best->tree, f->best->arch, &one, f->d);
    if (!on) return false;
    const bool ok = round_of(f, on->arch, on->arch, 2 + k, &better);
    tf_layouts_free(on);
    if (!ok) return false;
  }
  return true;
}

/* The result: the best, with the bounds of the space. */
static tf_layouts_result *result(finder *f) {
  tf_layouts_result *r = f->best;
  r->before = f->before;
  r->method = f->method;
  r->evals = f->evals;
  r->seconds = tf_clock_seconds(&f->clock);
  r->stopped_by = tf_clock_over(&f->clock) ? tf_clock_why(&f->clock)
                  : left_of(f) < LEAST     ? TF_STOP_BUDGET
                                           : f->ended;
  return r;
}

tf_layouts_result *tf_layouts_search(const tf_tree *tree, const tf_layouts_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  finder f = {.o = o, .ended = TF_STOP_EXHAUSTED, .d = d};
  tf_arena *a = tf_arena_new();
  tf_clock_begin(&f.clock, &o->budget);
  const bool ok =
      a ? find(&f, tree, a) : tf_fail(d, tree->nodes[0].at, TF_E_LIMIT, "out of memory");
  tf_arena_free(a);
  if (ok) return result(&f);
  tf_layouts_free(f.best);
  return NULL;
}
