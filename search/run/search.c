/* tf_search_run: brings the problem into canonical form, searches it, and translates results into
 * the caller's names. */
#include <math.h>
#include <stdlib.h>

#include "base/locale.h"
#include "search/common/archive.h"
#include "search/common/canon.h"
#include "search/common/exportable.h"
#include "search/common/ops.h"
#include "search/run/composed.h"
#include "search/run/driver.h"

/* Mappings of single ops get one part in so many evaluations: of a long graph, and of a short one
 * on linked memories, where the search sees the whole by itself. */
enum { COMPOSED_PART = 4, COMPOSED_SHORT = 16 };
#define LEAST_SECONDS 1e-3 /* that are left to the rest */

/* ---- to canonical form ---------------------------------------------------------------------- */
/* The canonical problem. */
typedef struct {
  tf_canon *canon;
  tf_tree *given;
  tf_tree **starts; /* [n_starts]; the last may be composed */
  int n_starts;
} problem;

static void clear(problem *p) {
  tf_tree_free(p->given);
  for (int i = 0; i < p->n_starts; i++)
    tf_tree_free(p->starts[i]);
  free(p->starts);
  tf_canon_free(p->canon);
}

static bool make_problem(problem *p, const tf_arch *arch, const tf_workload *wl,
                         const tf_tree *given, const tf_search_opts *o, tf_diags *d) {
  size_t errors = tf_diags_errors(d);
  p->canon = tf_canon_new(arch, wl, d);
  p->starts = calloc((size_t)o->n_starts + 2, sizeof *p->starts);
  bool ok = p->canon && p->starts;
  if (ok && given) ok = (p->given = tf_canon_tree(p->canon, given, d)) != NULL;
  for (int i = 0; ok && i < o->n_starts; i++) {
    ok = (p->starts[i] = tf_canon_tree(p->canon, o->starts[i], d)) != NULL;
    p->n_starts += ok;
  }
  return ok || (tf_diags_errors(d) == errors && tf_out_of_memory(d));
}

/* ---- back to the caller's names ------------------------------------------------------------- */
/* The mapping in the caller's names.  False if memory ran out. */
static bool name_found(const tf_canon *c, tf_found *f) {
  tf_tree *mine = tf_canon_back(c, f->tree, NULL);
  char *text = mine ? tf_tree_text(mine) : NULL;
  tf_tree_free(f->tree);
  free(f->text);
  f->tree = mine;
  f->text = text;
  return text != NULL;
}

static bool name_all(const tf_canon *c, tf_found *list, int n) {
  bool ok = true;
  for (int i = 0; i < n; i++)
    ok = name_found(c, &list[i]) && ok;
  return ok;
}

/* ---- the search ----------------------------------------------------------------------------- */
static tf_search_result *search(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                const tf_search_opts *o, bool moves, tf_diags *d);

static tf_search_result *search_op(const tf_arch *arch, const tf_workload *wl,
                                   const tf_search_opts *o, tf_diags *d) {
  return search(arch, wl, NULL, o, true, d);
}

typedef struct {
  int64_t evals;
  double seconds;
  bool failed; /* memory ran out */
} spent;

/* Adds a mapping of a long graph to the starts: tasks and local search see the whole graph at once,
 * too much of it for their budgets.  With a log there is none: how far it gets depends on the
 * clock.  o: for the rest of the search.  Returns what was spent. */
static spent compose(problem *p, tf_search_opts *o) {
  const tf_arch *arch = tf_canon_arch(p->canon);
  const tf_workload *wl = tf_canon_workload(p->canon);
  tf_search_opts part = *o;
  tf_evaluator q = {.objective = o->objective, .exportable = o->exportable};
  tf_budget_clock clock;
  tf_found f;
  part.budget.max_evals /= wl->n_ops < TF_COMPOSED_FROM ? COMPOSED_SHORT : COMPOSED_PART;
  if (wl->n_ops < (tf_composed_linked(arch) ? 2 : TF_COMPOSED_FROM) || p->given || o->log ||
      o->whole_tiles || o->variants || tf_workload_masked(wl) ||
      (o->budget.max_evals > 0 && !part.budget.max_evals))
    return (spent){0};
  tf_clock_begin(&clock, &o->budget);
  if (tf_composed(arch, wl, &part, search_op, &clock, &q, &f)) p->starts[p->n_starts++] = f.tree;
  if (o->budget.max_evals > 0) {
    q.evals = q.evals < o->budget.max_evals ? q.evals : o->budget.max_evals - 1;
    o->budget.max_evals -= q.evals;
  }
  if (o->budget.time_limit > 0)
    o->budget.time_limit = fmax(o->budget.time_limit - tf_clock_seconds(&clock), LEAST_SECONDS);
  o->starts = (const tf_tree *const *)p->starts;
  o->n_starts = p->n_starts;
  return (spent){q.evals, tf_clock_seconds(&clock), q.failed};
}

static tf_search_result *search(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                const tf_search_opts *o, bool moves, tf_diags *d) {
  problem p = {0};
  tf_search_result *r = NULL;
  if (!tf_no_views(wl, d) || !tf_ops_can_run(arch, wl, d) ||
      !tf_may_export(o->exportable, arch, wl, d))
    return NULL;
  if (make_problem(&p, arch, wl, given, o, d)) {
    tf_search_opts own = *o;
    own.starts = (const tf_tree *const *)p.starts;
    const spent before = moves ? compose(&p, &own) : (spent){0};
    if (before.failed)
      tf_out_of_memory(d);
    else
      r = tf_search_drive(tf_canon_arch(p.canon), tf_canon_workload(p.canon), p.given, &own, moves,
                          d);
    if (r) r->evals += before.evals, r->seconds += before.seconds;
  }
  bool ok = !r || (name_all(p.canon, r->best, r->n_best) &&
                   name_all(p.canon, r->variants, r->n_variants) &&
                   name_all(p.canon, r->pareto, r->n_pareto));
  if (!ok) {
    tf_out_of_memory(d);
    tf_search_free(r);
    r = NULL;
  }
  clear(&p);
  return r;
}

tf_search_result *tf_search_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                const tf_search_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  return search(arch, wl, given, o, true, d);
}

tf_search_result *tf_search_without_moves(const tf_arch *arch, const tf_workload *wl,
                                          const tf_tree *given, const tf_search_opts *o,
                                          tf_diags *d) {
  return search(arch, wl, given, o, false, d);
}
