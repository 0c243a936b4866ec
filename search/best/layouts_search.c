/* Mapping and layouts found together: mappings that are good whatever tensors lie like are laid
 * out, and the best is the start of a search on the machine with its layouts; and so on while that
 * finds a better one. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/locale.h"
#include "search/best/layouts.h"
#include "search/common/budget_clock.h"
#include "tileflow/tree.h"

enum {
  KEEP = 8,   /* mappings of one search that are laid out */
  PART = 2,   /* of what is left one part in so many goes to each search */
  ROUNDS = 6, /* searches with layouts, each with those of the best before */
  LEAST = 64  /* evaluations below which a search finds nothing */
};

typedef struct {
  const tf_layouts_opts *o;
  tf_layouts_result *best;
  tf_budget_clock watch;
  int64_t evals;
  double before;      /* of the mapping begun with, as tensors lay */
  const char *method; /* by which the best was found; NULL: it is that mapping */
  tf_stop ended;      /* the last search */
  tf_diags *d;
} finder;

static int64_t left_of(const finder *f) {
  const int64_t most = f->o->budget.max_evals;
  return most > 0 ? most - f->evals : INT64_MAX;
}

static bool over(finder *f) { return left_of(f) < LEAST || tf_clock_over(&f->watch); }

/* Lays out a mapping, found by this method, on a machine with the layouts of `arch`; keeps it where
 * it is better. */
static bool lay_out(finder *f, const tf_tree *t, const tf_arch *arch, const char *by) {
  /* what is found first is always laid out, of the evaluations */
  const tf_layouts_limits most = {f->o->objective, f->best ? left_of(f) : INT64_MAX, &f->watch};
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
  f->method = by;
  return true;
}

/* Searches on the machine: completions of what is given, or from the best so far. */
static tf_search_result *search(finder *f, const tf_arch *arch, int round) {
  const tf_tree *of = f->best->tree;
  const tf_budget *all = &f->o->budget;
  const double limit = all->time_limit > 0 ? all->time_limit - tf_clock_seconds(&f->watch) : 0;
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

/* One search, and layouts of what it finds.  *better: one is better than the best before.  False:
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

/* The machine without lines: there all layouts are alike. */
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

/* On the machine without lines, then on the one with the best layouts so far; these must stay while
 * what is searched on them is laid out. */
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

/* The best, with what is known of the whole. */
static tf_layouts_result *told(finder *f) {
  tf_layouts_result *r = f->best;
  r->before = f->before;
  r->method = f->method;
  r->evals = f->evals;
  r->seconds = tf_clock_seconds(&f->watch);
  r->stopped_by = tf_clock_over(&f->watch) ? tf_clock_why(&f->watch)
                  : left_of(f) < LEAST     ? TF_STOP_BUDGET
                                           : f->ended;
  return r;
}

tf_layouts_result *tf_layouts_search(const tf_tree *tree, const tf_layouts_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  finder f = {.o = o, .ended = TF_STOP_EXHAUSTED, .d = d};
  tf_arena *a = tf_arena_new();
  tf_clock_begin(&f.watch, &o->budget);
  const bool ok =
      a ? find(&f, tree, a) : tf_fail(d, tree->nodes[0].at, TF_E_LIMIT, "out of memory");
  tf_arena_free(a);
  if (ok) return told(&f);
  tf_layouts_free(f.best);
  return NULL;
}
