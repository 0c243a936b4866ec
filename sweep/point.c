/* One point: read, mapped, evaluated. */
#include "sweep/point.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tileflow/solve.h"
#include "tileflow/tree.h"

/* Evaluations for a point of closed, solve and search, if the sweep gives no budget. */
enum { EVALS_UNLESS_SAID = 20000, SOLVED_UNLESS_SAID = 1000000 };

tf_goal sweep_mapped_goal(const tf_sweep_grid *g) {
  return g->goals[0] == TF_GOAL_AREA && g->n_goals > 1 ? g->goals[1] : g->goals[0];
}

static tf_objective objective_of(const tf_sweep_grid *g) {
  static const tf_objective of[TF_N_GOALS] = {[TF_GOAL_CYCLES] = TF_LATENCY,
                                              [TF_GOAL_SECONDS] = TF_LATENCY,
                                              [TF_GOAL_ENERGY] = TF_ENERGY,
                                              [TF_GOAL_EDP] = TF_EDP,
                                              [TF_GOAL_TRAFFIC] = TF_TRAFFIC};
  return of[sweep_mapped_goal(g)];
}

void sweep_found_free(sweep_found *f) {
  tf_arena_free(f->arena);
  *f = (sweep_found){0};
}

typedef struct {
  const tf_sweep *s;
  const tf_spec *spec;
  const sweep_point_opts *opts;
  sweep_found *out;
  tf_diags *d;
  tf_tree *tree; /* of the given or found mapping */
} work;

static const char *copy_text(work *w, const char *text) {
  return text ? tf_arena_strndup(w->out->arena, text, strlen(text)) : NULL;
}

/* ---- figures --------------------------------------------------------------------------------- */
static void keep_counts(work *w, const tf_result *r) {
  const tf_arch *a = w->spec->arch;
  const tf_workload *wl = w->spec->workload;
  int n = a->n_memories * wl->n_tensors;
  tf_sweep_count *all = TF_ARRAY(w->out->arena, tf_sweep_count, (size_t)n);
  tf_sweep_row *row = &w->out->row;
  for (int i = 0; all && i < n; i++) {
    const tf_counts *c = &r->counts[i];
    if (!c->fill && !c->read && !c->update && !c->drain && !c->peak) continue;
    all[row->n_counts++] = (tf_sweep_count){copy_text(w, a->memories[i / wl->n_tensors].name),
                                            copy_text(w, wl->tensors[i % wl->n_tensors].name), *c};
  }
  row->counts = all;
}

/* What a mask left out, for the row's message. */
static const char *skipped_of(work *w, const tf_result *r) {
  char text[80];
  snprintf(text, sizeof text,
           "%" PRId64 " points skipped, in steps that the mask leaves nothing of", r->skipped);
  return r->skipped ? copy_text(w, text) : NULL;
}

static void keep_figures(work *w, const tf_result *r) {
  const tf_spec *p = w->spec;
  tf_sweep_row *row = &w->out->row;
  double traffic = 0, held = 0;
  for (int z = 0; z < p->workload->n_tensors; z++)
    traffic += (double)r->counts[z].read + (double)r->counts[z].update;
  for (int l = 1; l < p->arch->n_memories; l++)
    held += (double)r->levels[l].peak * (double)r->levels[l].instances;
  row->figures[TF_GOAL_CYCLES] = r->cycles;
  row->figures[TF_GOAL_SECONDS] = r->seconds;
  row->figures[TF_GOAL_ENERGY] = r->energy_pj;
  row->figures[TF_GOAL_EDP] = r->energy_pj * r->seconds;
  row->figures[TF_GOAL_TRAFFIC] = traffic;
  row->held_words = held;
  row->bottleneck = copy_text(w, r->bottleneck);
  row->message = skipped_of(w, r);
  row->state = TF_POINT_FOUND;
  if (w->s->section.counts) keep_counts(w, r);
}

/* Keeps the first error as the row's message. */
static void keep_error(work *w) {
  const char *msg = "no mapping can be made";
  for (size_t i = 0; i < tf_diags_count(w->d); i++) {
    if (tf_diags_at(w->d, i)->warning) continue;
    msg = tf_diags_at(w->d, i)->msg;
    break;
  }
  w->out->row.state = TF_POINT_INVALID;
  w->out->row.message = copy_text(w, msg);
}

enum {
  OTHERS_WALK = 20000
}; /* steps that an exact walk may take of another machine's mapping: there are many */

/* Evaluates w->tree.  `own`: the mapping was found here, or on another machine, and is stored. */
static void evaluate(work *w, const char *own, bool other) {
  tf_sweep_row *row = &w->out->row;
  tf_model *m = tf_model_new(w->tree, w->d);
  tf_result r;
  if (m && other) tf_model_walk_limit(m, OTHERS_WALK);
  bool counted = m && tf_model_eval(m, NULL, &r);
  if (!m) {
    keep_error(w);
  } else if (!counted) {
    row->state = TF_POINT_INVALID;
    row->message = tf_model_gave_up(m) ? "it takes too many steps to walk"
                   : r.overflow        ? "a count passes 2^63 - 1"
                                       : "the trip counts do not reach the extents";
  } else if (!r.feasible) {
    row->state = TF_POINT_NONE;
    row->message = "the mapping does not fit";
  } else {
    keep_figures(w, &r);
    row->mapping = copy_text(w, own);
  }
  tf_model_free(m);
}

/* The mapping of the input's file. */
static bool read_mapping(work *w) {
  const tf_spec *p = w->spec;
  w->tree = tf_tree_parse(p->mapping_text, p->mapping_at, p->arch, p->workload, w->d);
  return w->tree != NULL;
}

/* Evaluates the found tree, of w->spec, and takes it over. */
static void adopt(work *w, tf_tree **found) {
  if (!found || !*found) {
    w->out->row.state = TF_POINT_NONE;
    w->out->row.message = "no mapping that fits was found";
    return;
  }
  tf_tree_free(w->tree);
  w->tree = *found;
  *found = NULL;
  char *text = tf_tree_text(w->tree);
  evaluate(w, text, false);
  free(text);
}

/* ---- methods -------------------------------------------------------------------------------- */
static void by_bound(work *w) {
  tf_sweep_row *row = &w->out->row;
  memcpy(row->figures, row->bounds, sizeof row->figures);
  row->state = TF_POINT_FOUND;
}

static void by_eval(work *w) {
  if (!read_mapping(w)) {
    keep_error(w);
  } else if (w->tree->open) {
    w->out->row.state = TF_POINT_INVALID;
    w->out->row.message = "some of the mapping is open: eval needs all of it";
  } else {
    w->out->row.evals = 1;
    evaluate(w, NULL, false);
  }
}

/* A proof for all mappings raises the bound of the objective. */
static void raise_bound(work *w, const tf_solve_result *r) {
  tf_sweep_row *row = &w->out->row;
  double *b = row->bounds, clock = w->spec->arch->clock_hz;
  tf_goal goal = sweep_mapped_goal(&w->s->grid);
  if (!isfinite(r->bound)) return;
  if (goal == TF_GOAL_SECONDS) goal = TF_GOAL_CYCLES;
  b[goal] = fmax(b[goal], r->bound);
  b[TF_GOAL_SECONDS] = b[TF_GOAL_CYCLES] / clock;
  b[TF_GOAL_EDP] = fmax(b[TF_GOAL_EDP], b[TF_GOAL_ENERGY] * b[TF_GOAL_SECONDS]);
}

static bool by_solver(work *w, bool exact) {
  const sweep_section *c = &w->s->section;
  tf_solve_opts o = {.objective = objective_of(&w->s->grid),
                     .budget.threads = 1,
                     .budget.max_evals = c->evals ? c->evals
                                         : exact  ? SOLVED_UNLESS_SAID
                                                  : EVALS_UNLESS_SAID,
                     .budget.stop = w->opts->stop,
                     .budget.ctx = w->opts->ctx};
  tf_solve_result *r =
      (exact ? tf_solve_exact : tf_solve_closed)(w->spec->arch, w->spec->workload, &o, w->d);
  bool ok = !r || r->stopped_by != TF_STOP_INTERRUPT || r->proved;
  if (ok && r) {
    w->out->row.evals = r->evals;
    w->out->row.proved = r->proved;
    raise_bound(w, r);
    adopt(w, &r->tree);
  } else if (ok) {
    keep_error(w);
  }
  tf_solve_free(r);
  return ok;
}

/* The mapping of another machine, which a store or another process has as text; NULL: none, or it
 * is not valid on this machine.  Then the search begins without. */
static tf_tree *read_start(const work *w) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = d && w->opts->start
                   ? tf_tree_parse(w->opts->start, (tf_loc){0}, w->spec->arch, w->spec->workload, d)
                   : NULL;
  tf_diags_free(d);
  return t;
}

/* The closed form's mapping as a start for the search, found with a part of the budget; NULL: none,
 * or stopped. */
static tf_solve_result *by_formulas(const work *w, int64_t evals) {
  enum { MOST = 2000, PART = 8 };
  tf_solve_opts o = {.objective = objective_of(&w->s->grid),
                     .budget.threads = 1,
                     .budget.max_evals = evals / PART < MOST ? 1 + evals / PART : MOST,
                     .budget.stop = w->opts->stop,
                     .budget.ctx = w->opts->ctx};
  tf_diags *d = tf_diags_new(); /* what has no closed form can still be searched */
  tf_solve_result *r = d ? tf_solve_closed(w->spec->arch, w->spec->workload, &o, d) : NULL;
  tf_diags_free(d);
  return r;
}

static bool search_from(work *w, int64_t evals, const tf_tree *const *starts, int n) {
  tf_search_opts o = {.objective = objective_of(&w->s->grid),
                      .budget.seed = w->s->section.seed,
                      .budget.threads = 1,
                      .budget.max_evals = evals,
                      .keep = 1,
                      .starts = starts,
                      .n_starts = n,
                      .budget.stop = w->opts->stop,
                      .budget.ctx = w->opts->ctx};
  tf_search_result *r = tf_search_run(w->spec->arch, w->spec->workload, w->tree, &o, w->d);
  bool ok = !r || r->stopped_by != TF_STOP_INTERRUPT;
  if (ok && r) {
    w->out->row.evals += r->evals;
    adopt(w, r->n_best ? &r->best[0].tree : NULL);
  } else if (ok) {
    keep_error(w);
  }
  tf_search_free(r);
  return ok;
}

static bool by_search(work *w) {
  const tf_spec *p = w->spec;
  int64_t evals = w->s->section.evals ? w->s->section.evals : EVALS_UNLESS_SAID;
  const tf_tree *starts[2];
  int n = 0;
  if (p->mapping_text) {
    if (read_mapping(w)) return search_from(w, evals, NULL, 0);
    keep_error(w);
    return true;
  }
  tf_solve_result *first = by_formulas(w, evals);
  bool stopped = first && first->stopped_by == TF_STOP_INTERRUPT;
  if (first) w->out->row.evals = first->evals;
  tf_tree *known = read_start(w);
  if (first && first->tree) starts[n++] = first->tree;
  if (known) starts[n++] = known;
  int64_t left = evals > w->out->row.evals ? evals - w->out->row.evals : 1;
  bool ok = !stopped && search_from(w, left, starts, n);
  tf_solve_free(first);
  tf_tree_free(known);
  return ok;
}

static bool evaluate_point(work *w) {
  tf_sweep_row *row = &w->out->row;
  if (!sweep_bounds_of(w->spec->arch, w->spec->workload, w->opts->memo, row->bounds)) {
    row->state = TF_POINT_INVALID;
    row->message = "a bound passes 2^63 - 1";
    return true;
  }
  row->figures[TF_GOAL_AREA] = row->bounds[TF_GOAL_AREA];
  switch (w->s->grid.method) {
  case TF_SWEEP_BOUND: by_bound(w); return true;
  case TF_SWEEP_EVAL: by_eval(w); return true;
  case TF_SWEEP_CLOSED: return by_solver(w, false);
  case TF_SWEEP_SOLVE: return by_solver(w, true);
  default: return by_search(w);
  }
}

static void begin_row(sweep_found *out, int64_t point) {
  tf_arena_free(out->arena);
  out->arena = tf_arena_new();
  out->row =
      (tf_sweep_row){.point = point, .state = TF_POINT_NONE, .held_words = NAN, .mapping_of = -1};
  for (int g = 0; g < TF_N_GOALS; g++)
    out->row.figures[g] = out->row.bounds[g] = NAN;
}

bool sweep_point_find(const tf_sweep *s, int64_t point, const sweep_point_opts *opts,
                      sweep_found *out) {
  double began = tf_now();
  begin_row(out, point);
  work w = {.s = s, .opts = opts, .out = out, .d = tf_diags_new()};
  bool ok = out->arena && w.d;
  tf_spec *spec = ok ? sweep_point_spec(s, point, w.d) : NULL;
  w.spec = spec;
  if (ok && !spec)
    keep_error(&w);
  else if (ok)
    ok = evaluate_point(&w);
  tf_tree_free(w.tree);
  tf_spec_free(spec);
  tf_diags_free(w.d);
  out->row.took = tf_now() - began;
  return ok;
}

bool sweep_point_other(const tf_sweep *s, const tf_spec *spec, const tf_sweep_row *r,
                       const char *mapping, sweep_found *out) {
  const sweep_point_opts opts = {0};
  work w = {.s = s, .spec = spec, .opts = &opts, .out = out, .d = tf_diags_new()};
  begin_row(out, r->point);
  if (out->arena && w.d)
    w.tree = tf_tree_parse(mapping, (tf_loc){0}, spec->arch, spec->workload, w.d);
  if (w.tree && !w.tree->open) {
    memcpy(out->row.figures, r->figures, sizeof r->figures);
    memcpy(out->row.bounds, r->bounds, sizeof r->bounds);
    out->row.evals = r->evals;
    out->row.took = r->took;
    evaluate(&w, mapping, true);
  }
  const bool found = w.tree && out->row.state == TF_POINT_FOUND;
  tf_tree_free(w.tree);
  tf_diags_free(w.d);
  return found;
}

void sweep_point_skip(const tf_sweep *s, int64_t point, sweep_memo *memo, sweep_found *out) {
  out->row = (tf_sweep_row){
      .point = point, .state = TF_POINT_SKIPPED, .held_words = NAN, .mapping_of = -1};
  for (int g = 0; g < TF_N_GOALS; g++)
    out->row.figures[g] = out->row.bounds[g] = NAN;
  sweep_point_bounds(s, point, memo, out->row.bounds);
  out->row.figures[TF_GOAL_AREA] = out->row.bounds[TF_GOAL_AREA];
}
