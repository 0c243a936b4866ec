#include "search/run/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/eval/hooks.h"
#include "search/common/archive.h"
#include "search/common/complete.h"
#include "search/common/exportable.h"
#include "search/common/factors.h"
#include "search/common/objective.h"
#include "search/run/repeat.h"
#include "search/run/variants.h"

enum {
  LOOK_EVERY = 16,    /* evaluations between looks at the clock */
  UNEVEN_ONE_IN = 24, /* see set_offers */
  ROUNDED_ONE_IN = 2,
  ROUNDED_FROM = 64, /* of shorter dims all trip counts are offered anyway */
  REFUSED_MOST = 64,
  SLOW_COUNTS = 32, /* evaluations that one of a partial tile counts as, where that is slow */
  UNKNOWN_STEPS = 1 << 14, /* of the walk that counts one mapping a task with its mask */
  WHOLE_STEPS = 1 << 20,   /* of the walk of each mapping, where the strategy sees a whole space */
  CREDIT = 128,            /* initial credit of a task for counts with masks */
  EARNED = 8,              /* credit that each evaluation adds */
  DEBT = 1024,  /* overdraft for mappings better than the best; all in units of tf_model_effort */
  AT_ONCE = 16, /* rows asked for before a strategy that learns is told, see explore_together */
  LEARNT_A_ROW = 2,    /* one more row may be asked for at once per so many costs told */
  QUICK_LEAST = 2,     /* rows of a batch call */
  QUICK_LEARNING = 40, /* as QUICK_FROM, for a strategy that learns */
  QUICK_FROM = 1000    /* with fewer evaluations left, preparing batch calls does not pay */
};

#define TIES 0.3 /* power of the energy in the guiding cost once the goal is met */
/* The largest share of the guiding cost that comes from nodes off the critical path. */
#define BESIDE 0.05

/* A task while it runs. */
typedef struct {
  tf_task *t;
  tf_arena *arena;
  tf_tree *tree;
  tf_trips *trips;
  tf_model *model;
  tf_model *masked; /* counts with the mask, as `eval` does (model: all points, quickly); NULL: no
                       mask leaves steps out */
  double share; /* of all points' figures: a mask usually leaves at least this share; 1: no mask */
  double ratio; /* of the incumbent: its value with the mask over that with all points */
  double best_all;  /* of the incumbent, with all points */
  int64_t credit;   /* effort that counting masks may take, see count_mask */
  int64_t *unknown; /* [n_loops] the mapping that may be best of those that took too long to count,
                       see count_unknown */
  double unknown_all; /* its value with all points; INFINITY: none */
  const tf_known *known;
  tf_prepared *own;     /* prepared copy of the shape that was kept; NULL: none was */
  double guide;         /* guiding cost of the best by the objective, to break ties */
  tf_tree *leader;      /* the incumbent as a tree; NULL: there is none, or its steps were counted
                           otherwise since */
  int refused;          /* incumbents that a rule refused */
  tf_repeats *repeats;  /* NULL: results change with each evaluation, or all are wanted */
  int64_t look;         /* evaluations at which to look at the clock next */
  int64_t spent, quota; /* evaluations, long ones counted several times; over: the task must stop */
  bool over;
  int64_t *rows; /* trip counts asked for and not evaluated yet, [n_rows][n_loops]; NULL: each is
                    evaluated at once */
  int n_rows;    /* 0 .. TF_QUICK_ROWS */
  bool in_lanes; /* rows asked for together are evaluated in SIMD lanes */
} work;

/* The cost of a mapping that does not fit: grows with the logarithm of need over capacity. */
static double misfit_cost(const tf_result *r) {
  double sum = 1;
  for (int i = 0; i < r->n_violations; i++) {
    double have = r->violations[i].have > 0 ? (double)r->violations[i].have : 0.5;
    sum += log2((double)r->violations[i].need / have);
  }
  return TF_COST_BAD * sum;
}

/* ---- the incumbent ------------------------------------------------------------------------ */
static void keep_best(work *w, int by, double value, const tf_figures *f, const int64_t *trips) {
  tf_task_best *b = &w->t->best[by];
  b->found = true;
  b->value = value;
  b->figures = *f;
  memcpy(b->trips, trips, (size_t)w->t->n_loops * sizeof *b->trips);
}

/* The mapping as a tree; NULL: the rules refuse it. */
static tf_tree *complete(const work *w, const int64_t *trips) {
  tf_tree *t = tf_complete(w->tree, trips, &w->t->failed);
  if (t && tf_can_export(w->t->opts->exportable, t)) return t;
  tf_tree_free(t);
  return NULL;
}

/* Keeps the mapping if it improves on the incumbent; the rules that depend on ranges are checked
 * first. */
static bool offer(work *w, const int64_t *trips, const tf_figures *f, double cost, double guide) {
  const double by[TF_N_BY] = {cost, f->cycles, f->energy_pj, f->traffic_words, f->held_words};
  const tf_task_best *best = w->t->best;
  int order = best[0].found ? tf_figures_order(cost, f, best[0].value, &best[0].figures) : -1;
  bool leads = order < 0 || (order == 0 && guide < w->guide);
  tf_tree *tree = leads ? complete(w, trips) : NULL;
  if (leads && !tree) {
    w->refused++;
    return false;
  }
  if (leads) {
    tf_tree_free(w->leader);
    w->leader = tree;
    keep_best(w, TF_BY_OBJECTIVE, cost, f, trips);
    w->guide = guide;
  }
  for (int i = 1; i < TF_N_BY; i++)
    if (!best[i].found || by[i] < best[i].value) keep_best(w, i, by[i], f, trips);
  tf_variants_offer(w->t, cost, f, trips);
  return true;
}

/* The guiding cost, which strategies are told.  For latency it is the objective plus a small share
 * for the times of all nodes (nodes: their sum, none longer than the whole): where one part of the
 * tree dominates the time, improvements of the others still show.  Once the goal is met, and only
 * ties can be won, energy counts, too, but less than the objective. */
static double guide_of(const work *w, double nodes, const tf_figures *f) {
  double cost = tf_objective_value(w->t->opts->objective, f);
  if (w->t->goal_energy > 0) cost *= pow(f->energy_pj / w->t->goal_energy, TIES);
  if (w->t->opts->objective != TF_LATENCY || f->cycles <= 0) return cost;
  return cost * (1 + BESIDE * nodes / (w->tree->n_nodes * f->cycles));
}

static double nodes_of(const work *w, const tf_result *r) {
  double sum = 0;
  for (int n = 0; n < w->tree->n_nodes; n++)
    sum += r->nodes[n].cycles < r->cycles ? r->nodes[n].cycles : r->cycles;
  return sum;
}

/* Whether a mapping with these figures of all points may be kept, or told, after its mask is
 * counted. */
static bool may_lead(const work *w, const tf_figures *f) {
  const tf_task *t = w->t;
  const double cost = tf_objective_value(t->opts->objective, f);
  const double by[TF_N_BY] = {cost * w->share, f->cycles, f->energy_pj, f->traffic_words,
                              f->held_words};
  if (by[0] <= t->best[TF_BY_OBJECTIVE].value || cost < t->cost || tf_variants_want(t, by[0]))
    return true;
  for (int i = 0; i < TF_N_BY; i++)
    if (!t->best[i].found || by[i] < t->best[i].value) return true;
  return false;
}

/* Remembers a mapping that took too long to count, if it may be best of all. */
static void remember_unknown(work *w, double all, const int64_t *trips) {
  const double best =
      w->t->best[TF_BY_OBJECTIVE].found ? w->t->best[TF_BY_OBJECTIVE].value : INFINITY;
  const double least = w->t->memory->n_hints ? w->t->memory->best : INFINITY;
  if (all >= w->unknown_all || all * w->ratio >= best || all * w->ratio >= least) return;
  w->unknown_all = all;
  memcpy(w->unknown, trips, (size_t)w->t->n_loops * sizeof *trips);
}

static void charge_walk(work *w, const tf_model *m) {
  w->t->evals += tf_model_walked_evals(m);
  w->spent += tf_model_walked_evals(m);
}

/* Counts a mapping with its mask, where it matters and there is credit for it.  That takes some
 * hundred times as long, so each evaluation earns a little credit, and mappings better than the
 * incumbent by all points come first.  What is not counted keeps the figures of all points, an
 * upper bound.  The strategy is always told the figures of all points: two ways of counting would
 * mislead it.  all: the value of *f, all points' figures; returns the value of *f afterwards. */
static double count_mask(work *w, const int64_t *trips, double all, tf_figures *f) {
  tf_result own;
  w->credit += EARNED;
  if (!may_lead(w, f) || w->credit < (all < w->best_all ? -DEBT : 0)) return all;
  const bool counted = tf_model_eval(w->masked, trips, &own) && own.feasible;
  charge_walk(w, w->masked);
  w->t->effort += tf_model_effort(w->masked);
  w->credit -= tf_model_effort(w->masked);
  if (!counted) {
    remember_unknown(w, all, trips);
    return all;
  }
  *f = tf_figures_of(w->tree->arch, w->tree->workload, &own);
  const double value = tf_objective_value(w->t->opts->objective, f);
  if (!w->t->best[TF_BY_OBJECTIVE].found || value < w->t->best[TF_BY_OBJECTIVE].value) {
    w->best_all = all;
    w->ratio = all > 0 ? value / all : 1;
  }
  return value;
}

/* The guiding cost of a mapping that fits, with these figures. */
static double judge(work *w, const int64_t *trips, tf_figures f, double nodes) {
  double cost = tf_objective_value(w->t->opts->objective, &f);
  double guide = guide_of(w, nodes, &f);
  if (w->masked) cost = count_mask(w, trips, cost, &f);
  if (!offer(w, trips, &f, cost, guide)) return TF_COST_BAD * 1e9;
  if (guide < w->t->cost) w->t->cost = guide;
  return guide;
}

static double evaluate(work *w, const int64_t *trips) {
  tf_result r;
  if (!tf_model_eval(w->model, trips, &r)) return TF_COST_BAD * 1e9;
  if (!r.feasible) return misfit_cost(&r);
  return judge(w, trips, tf_figures_of(w->tree->arch, w->tree->workload, &r), nodes_of(w, &r));
}

static tf_figures figures_of(const work *w, const tf_brief *b) {
  return (tf_figures){b->cycles, b->energy_pj, b->energy_pj * (b->cycles / w->tree->arch->clock_hz),
                      b->traffic_words, b->held_words};
}

/* ---- hints ----------------------------------------------------------------------------------- */
/* The hint for a decision, by its key; TF_ANY: none. */
static int32_t hint_of(const tf_hint *hints, int n, uint64_t key) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (hints[mid].key < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < n && hints[lo].key == key ? hints[lo].trip : TF_ANY;
}

static bool has_start(const work *w) {
  return w->t->begin && w->t->begin_loops == w->trips->n_loops;
}

/* Hints for trip counts: the best known of this shape, or those the task begins with; else those of
 * corresponding loops of the parent shape, or of the best mapping. */
static int32_t *hints_for(const work *w) {
  int32_t *hint = TF_ARRAY(w->arena, int32_t, (size_t)w->trips->space.n + 1);
  const tf_memory_of_search *m = w->t->memory;
  const tf_known *like = w->t->parent_id ? tf_memory_find(m, w->t->parent_id) : NULL;
  bool own = like && like->n_hints;
  const tf_hint *hints = own ? like->hints : m->hints;
  int n = own ? like->n_hints : m->n_hints;
  for (int i = 0; hint && i < w->trips->space.n; i++) {
    const tf_decision *d = &w->trips->decision[i];
    if (w->known && w->known->trips && w->known->n_loops == w->trips->n_loops)
      hint[i] = (int32_t)w->known->trips[d->loop];
    else if (has_start(w))
      hint[i] = (int32_t)(w->t->begin[d->loop] > INT32_MAX ? TF_ANY : w->t->begin[d->loop]);
    else
      hint[i] = hint_of(hints, n, d->key);
  }
  return hint;
}

/* A row of trip counts; quick: its figures by the batch call, NULL: none. */
typedef struct {
  const int64_t *trips;
  const tf_quick_row *quick;
} row;

/* Evaluates trip counts; the outcome has what the evaluation is charged, without steps that are
 * walked. */
static tf_outcome outcome_at(work *w, row at) {
  const int refused = w->refused;
  tf_outcome o = {.filled = true, .spent = 1};
  if (at.quick && at.quick->brief.feasible) {
    o.cost = judge(w, at.trips, figures_of(w, &at.quick->brief), at.quick->nodes);
    o.effort = at.quick->effort;
  } else {
    o.cost = evaluate(w, at.trips);
    charge_walk(w, w->model);
    o.filled = !tf_model_walked(w->model);
    o.effort = tf_model_effort(w->model);
    o.spent = tf_model_quick(w->model) || !w->t->strategy->evals_per_shape ? 1 : SLOW_COUNTS;
  }
  o.refused = w->refused > refused;
  return o;
}

/* The same, from the cache where they were evaluated before. */
static tf_outcome cached_outcome(work *w, row at) {
  tf_outcome *o = tf_repeats_find(w->repeats, at.trips);
  if (o->filled)
    w->refused += o->refused;
  else
    *o = outcome_at(w, at);
  return *o;
}

/* The cost of trip counts; charges the quota for it. */
static double cost_at(work *w, row at) {
  tf_task *t = w->t;
  t->evals++;
  const tf_outcome o = w->repeats ? cached_outcome(w, at) : outcome_at(w, at);
  t->effort += o.effort;
  w->spent += o.spent;
  w->over = t->effort_quota && t->effort >= t->effort_quota;
  return o.cost;
}

/* Whether another evaluation is allowed. */
static bool may_evaluate(const work *w) {
  return !w->over && w->spent < w->quota && w->refused < REFUSED_MOST;
}

/* ---- batches of evaluations ------------------------------------------------------------------ */
/* Whether evaluate() would only count a row with these figures, and keep nothing of it. */
static bool changes_nothing(const work *w, const tf_brief *b) {
  const tf_figures f = figures_of(w, b);
  return !b->feasible || !may_lead(w, &f);
}

/* Evaluates the rows asked for, in order, while the budget lasts.  One batch call finds the figures
 * of all; rows whose figures change nothing need no more, the others are evaluated one by one. */
static void evaluate_rows(work *w) {
  tf_quick_row quick[TF_QUICK_ROWS];
  int n_loops = w->trips->n_loops;
  uint32_t known = w->n_rows ? tf_model_quick_rows(w->model, w->rows, w->n_rows, quick) : 0;
  for (int i = 0; i < w->n_rows && may_evaluate(w); i++) {
    const bool sees = known >> i & 1;
    if (!sees || !changes_nothing(w, &quick[i].brief)) {
      cost_at(w, (row){&w->rows[i * n_loops], sees ? &quick[i] : NULL});
      continue;
    }
    w->t->evals++;
    w->t->effort += quick[i].effort;
    w->spent++;
    w->over = w->t->effort_quota && w->t->effort >= w->t->effort_quota;
  }
  w->n_rows = 0;
}

/* ---- the loop ------------------------------------------------------------------------------- */
/* The cost of the trip counts chosen; 0 where the strategy ignores costs and they are evaluated in
 * a batch later. */
static double cost_of(void *ctx) {
  work *w = ctx;
  int n_loops = w->trips->n_loops;
  if (!w->rows) return cost_at(w, (row){w->trips->trips, NULL});
  memcpy(&w->rows[w->n_rows++ * n_loops], w->trips->trips, (size_t)n_loops * sizeof *w->rows);
  if (w->n_rows == TF_QUICK_ROWS) evaluate_rows(w);
  return 0;
}

static bool may_go_on(void *ctx) {
  work *w = ctx;
  tf_task *t = w->t;
  if (w->n_rows && w->spent + w->n_rows >= w->quota) evaluate_rows(w);
  if (!may_evaluate(w)) return false;
  const bool due = t->evals + w->n_rows >= w->look;
  const bool ask = due || tf_clock_asked(t->clock);
  if (due) w->look = t->evals + w->n_rows + LOOK_EVERY;
  t->stopped = ask && tf_clock_over(t->clock);
  return !t->stopped;
}

/* Rows that a strategy is asked for before it is told their costs, in order. */
typedef struct {
  int n;
  int64_t *trips;  /* [TF_ASKS_MOST][n_loops] */
  int32_t *chosen; /* [TF_ASKS_MOST][n] */
} asked;

/* Asks for at most `most` rows.  False: the space is exhausted. */
static bool ask_rows(work *w, const tf_strategy_ops *in, void *state, int most, asked *rows) {
  const tf_trips *s = w->trips;
  uint64_t like;
  for (rows->n = 0; rows->n < most; rows->n++) {
    if (!in->ask(state, &like)) return false;
    memcpy(&rows->trips[rows->n * s->n_loops], s->trips, (size_t)s->n_loops * sizeof *rows->trips);
    memcpy(&rows->chosen[rows->n * s->space.n], s->space.chosen,
           (size_t)s->space.n * sizeof *rows->chosen);
  }
  return true;
}

/* Evaluates them while the budget lasts, and tells. */
static void tell_rows(work *w, const tf_strategy_ops *in, void *state, const asked *rows) {
  tf_quick_row quick[TF_QUICK_ROWS];
  const bool in_lanes = w->in_lanes && rows->n >= QUICK_LEAST;
  const uint32_t known = in_lanes ? tf_model_quick_rows(w->model, rows->trips, rows->n, quick) : 0;
  for (int i = 0; i < rows->n && may_evaluate(w); i++) {
    const row at = {&rows->trips[i * w->trips->n_loops], known >> i & 1 ? &quick[i] : NULL};
    in->tell(state,
             &(tf_feedback){.row = &rows->chosen[i * w->trips->space.n], .cost = cost_at(w, at)});
  }
}

/* As tf_explore, but where rows are evaluated in lanes it asks for several before it tells: the
 * more, the more the strategy has learnt, so that few choices are blind. */
static bool explore_together(work *w, const tf_strategy_ops *in, void *state) {
  const size_t n_loops = (size_t)w->trips->n_loops, n = (size_t)w->trips->space.n;
  asked rows = {0, TF_ARRAY(w->arena, int64_t, TF_ASKS_MOST * n_loops + 1),
                TF_ARRAY(w->arena, int32_t, TF_ASKS_MOST * n + 1)};
  bool left = rows.trips && rows.chosen;
  w->t->failed |= !left;
  w->in_lanes = w->quota - w->spent >= QUICK_LEARNING;
  for (int64_t from = w->t->evals; left && may_go_on(w);) {
    const int64_t learnt = 1 + (w->t->evals - from) / LEARNT_A_ROW, quota = w->quota - w->spent;
    int64_t most = !w->in_lanes ? 1 : learnt < AT_ONCE ? learnt : AT_ONCE;
    if (most > quota) most = quota;
    left = ask_rows(w, in, state, (int)most, &rows);
    tell_rows(w, in, state, &rows);
  }
  return !left;
}

/* Tries the mapping that the task begins with, then what the strategy asks for.  True: the space is
 * exhausted. */
static bool explore(work *w, const tf_strategy_ops *in, void *state) {
  if (has_start(w) && !w->known) cost_at(w, (row){w->t->begin, NULL});
  if (in->ignores_feedback && w->quota - w->spent >= QUICK_FROM)
    w->rows = TF_ARRAY(w->arena, int64_t, TF_QUICK_ROWS * (size_t)w->trips->n_loops);
  const bool learns = in->batches && !in->ignores_feedback;
  bool all =
      learns ? explore_together(w, in, state) : tf_explore(in, state, &w->trips->space, may_go_on);
  if (!w->t->stopped) evaluate_rows(w);
  return all && !w->t->stopped && may_evaluate(w);
}

/* Counts the mapping that took too long, by a walk, once per task. */
static void count_unknown(work *w) {
  tf_result r;
  if (isinf(w->unknown_all)) return;
  w->t->stopped = w->t->stopped || tf_clock_over(w->t->clock);
  if (w->t->stopped) return;
  tf_model_walk_limit(w->masked, UNKNOWN_STEPS);
  tf_model_sum_limit(w->masked,
                     UNKNOWN_STEPS); /* no more than TF_COUNT_LONG, which counts the best again */
  const bool counted = tf_model_eval(w->masked, w->unknown, &r) && r.feasible;
  charge_walk(w, w->masked);
  w->t->effort += tf_model_effort(w->masked);
  if (!counted) return;
  const tf_figures f = tf_figures_of(w->tree->arch, w->tree->workload, &r);
  offer(w, w->unknown, &f, tf_objective_value(w->t->opts->objective, &f), w->unknown_all);
}

static void search(work *w) {
  tf_task *t = w->t;
  const tf_strategy_ops *in = t->strategy->inner;
  tf_space *space = &w->trips->space;
  tf_rng rng = tf_rng_new(t->opts->budget.seed, (uint64_t)t->no + 1000);
  const int32_t *hint = hints_for(w);
  w->quota = t->quota;
  space->cost = cost_of;
  space->ctx = w;
  int visits = (w->known ? w->known->visits : 0) + (w->masked ? TF_MASKED_VISITS : 0);
  if (t->strategy->evals_per_shape) {
    int64_t most = (int64_t)t->strategy->evals_per_shape
                   << (visits < t->growth ? visits : t->growth);
    if (most < w->quota) w->quota = most;
  }
  if (!w->masked && !t->opts->variants && !in->ignores_feedback)
    w->repeats = tf_repeats_new(w->arena, t->n_loops, w->quota);
  int asks = w->quota > 1 << 24 ? 1 << 24 : (int)w->quota;
  void *state = hint ? in->make(w->arena, space, hint, asks, rng) : NULL;
  t->failed = !state;
  if (!state) return;
  t->exhausted = explore(w, in, state);
  if (w->masked) count_unknown(w);
}

/* ---- running a task -------------------------------------------------------------------------- */
static void from_log(work *w) {
  tf_task *t = w->t;
  const tf_logged *l = t->logged;
  t->evals = l->evals;
  t->exhausted = l->exhausted;
  t->cost = l->cost;
  for (int by = 0; by < TF_N_BY; by++) {
    if (!l->best[by].there || l->best[by].n_trips != t->n_loops) continue;
    t->best[by].found = true;
    t->best[by].value = l->best[by].value;
    t->best[by].figures = l->best[by].figures;
    memcpy(t->best[by].trips, l->best[by].trips, (size_t)t->n_loops * sizeof(int64_t));
  }
}

static int by_key(const void *a, const void *b) {
  const tf_hint *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

/* Leaves out steps beyond every range.  Siblings may then be distributed over instances alike, so
 * that one reuses what the other left in memory.  Returns whether the trip counts have changed. */
static bool trim(work *w, int by) {
  tf_task *t = w->t;
  tf_task_best *b = &t->best[by];
  tf_model *m = w->masked ? w->masked : w->model;
  tf_result r;
  bool changed;
  int64_t *trips = TF_ARRAY(w->arena, int64_t, (size_t)t->n_loops + 1);
  if (!trips) return false;
  memcpy(trips, b->trips, (size_t)t->n_loops * sizeof *trips);
  if (!tf_trim(w->tree, trips, &changed) || !changed || !tf_model_eval(m, trips, &r) || !r.feasible)
    return false;
  const tf_figures f = tf_figures_of(w->tree->arch, w->tree->workload, &r);
  const double value[TF_N_BY] = {tf_objective_value(t->opts->objective, &f), f.cycles, f.energy_pj,
                                 f.traffic_words, f.held_words};
  if (value[by] > b->value) return false;
  b->value = value[by];
  b->figures = f;
  memcpy(b->trips, trips, (size_t)t->n_loops * sizeof *trips);
  return true;
}

/* Whether the archive has the task's best mapping by a figure, or a better one: another best of the
 * task is the same mapping, or an earlier one is as good in every figure. */
static bool is_known(const tf_task *t, int by) {
  const tf_task_best *b = &t->best[by];
  bool known = by != TF_BY_OBJECTIVE && b->found &&
               tf_front_has(t->sofar->pareto, t->sofar->n_pareto, &b->figures);
  for (int k = 0; k < by && b->found && !known; k++)
    known = t->best[k].found &&
            memcmp(t->best[k].trips, b->trips, (size_t)t->n_loops * sizeof *b->trips) == 0;
  return known;
}

static void finish(work *w) {
  tf_task *t = w->t;
  bool known[TF_N_BY];
  for (int by = 0; by < TF_N_BY; by++)
    known[by] = is_known(t, by);
  for (int by = 0; by < TF_N_BY; by++) {
    tf_task_best *b = &t->best[by];
    b->found = b->found && !known[by];
    const bool trimmed = b->found && w->model && trim(w, by);
    if (b->found && by == TF_BY_OBJECTIVE && !trimmed) b->tree = w->leader, w->leader = NULL;
    if (b->found && !b->tree) b->tree = complete(w, b->trips);
    b->found = b->tree != NULL;
  }
  if (t->n_variants) {
    t->open = w->tree;
    w->tree = NULL;
  }
  if (!t->best[0].found) return;
  t->hints = malloc(((size_t)w->trips->space.n + 1) * sizeof *t->hints);
  t->failed |= !t->hints;
  for (int i = 0; t->hints && i < w->trips->space.n; i++)
    t->hints[t->n_hints++] =
        (tf_hint){w->trips->decision[i].key, (int32_t)t->best[0].trips[w->trips->decision[i].loop]};
  if (t->hints) qsort(t->hints, (size_t)t->n_hints, sizeof *t->hints, by_key);
}

static bool prepare_mask(work *w, tf_diags *d) {
  w->share = w->t->share;
  if (w->share >= 1) return true;
  const bool all =
      !w->t->strategy->evals_per_shape; /* exhaustive search has to know every mapping */
  w->masked = tf_model_new(w->tree, d);
  w->share = all ? 0 : w->share;
  w->ratio = 1;
  w->best_all = INFINITY;
  w->credit = all ? INT64_MAX / 2 : CREDIT;
  w->unknown_all = INFINITY;
  w->unknown = TF_ARRAY(w->arena, int64_t, (size_t)w->trips->n_loops + 1);
  if (!w->masked) return false;
  tf_model_walk_limit(w->masked, all ? WHOLE_STEPS : 0);
  tf_model_sum_limit(w->masked, all ? WHOLE_STEPS : TF_COUNT_SETTINGS);
  return w->unknown != NULL;
}

/* Whether counting partial tiles of the tree is slow: something is padded or retained. */
static bool slow_where_partial(const tf_tree *t) {
  bool slow = false;
  for (int z = 0; z < t->workload->n_tensors; z++)
    for (int r = 0; r < t->workload->tensors[z].rank; r++)
      slow |= t->workload->tensors[z].pad[r] > 0;
  for (int n = 0; n < t->n_nodes; n++)
    slow |= t->nodes[n].kind == TF_SCOPE && t->nodes[n].n_retain > 0;
  return slow;
}

static bool has_rounded(const tf_workload *wl) {
  bool has = false;
  for (int d = 0; d < wl->n_dims; d++) {
    const int64_t e = wl->dims[d].extent;
    has |= e > ROUNDED_FROM && e < INT32_MAX && tf_rounded((int32_t)e) != e;
  }
  return has;
}

/* Chooses which trip counts the task is offered.  Of trees where partial tiles are slow, most tasks
 * get only counts that divide.  Of lengths with few divisors, every other task gets those of
 * lengths rounded up: a mapping of the larger problem is one of this, and there are few of them.
 * The choice depends on the task and on what is known, not on whether the task is replayed from a
 * log. */
static void set_offers(work *w) {
  tf_task *t = w->t;
  const bool most = t->no % UNEVEN_ONE_IN != UNEVEN_ONE_IN - 1,
             done = w->known && w->known->even_done;
  const bool slow = slow_where_partial(w->tree), may = !done && t->strategy->evals_per_shape;
  w->trips->even = most && may && slow;
  w->trips->rounded = may && !slow && t->no % ROUNDED_ONE_IN == 0 && !t->opts->whole_tiles &&
                      has_rounded(w->tree->workload);
  t->even = w->trips->even || w->trips->rounded;
}

/* Takes the prepared copy of the shape that an earlier task left. */
static void take_prepared(work *w) {
  w->own = tf_prepared_take(w->t->kept, w->t->shape);
  if (!w->own) return;
  tf_tree_free(w->tree);
  w->tree = w->own->tree;
  w->trips = w->own->trips;
  w->model = w->own->model;
}

/* Leaves it for later tasks if the shape may be asked for again; else frees it. */
static void leave_prepared(work *w) {
  tf_task *t = w->t;
  tf_prepared *p = w->own;
  const bool whole = w->tree && w->trips && w->model && !t->failed;
  if (whole && !p && w->known) p = calloc(1, sizeof *p);
  if (p) *p = (tf_prepared){t->shape, p->uses + 1, w->tree, w->trips, w->model};
  if (p && whole) {
    t->prepared = p;
    return;
  }
  free(p);
  tf_model_free(w->model);
  tf_trips_free(w->trips);
  tf_tree_free(w->tree);
}

static bool prepare(work *w) {
  tf_task *t = w->t;
  w->tree = tf_shapes_tree(t->shapes, t->genes, &t->reads);
  t->legal = w->tree != NULL;
  if (!w->tree) return false;
  char *text = tf_tree_text(w->tree);
  t->shape = text ? tf_hash(TF_HASH_START, text, strlen(text)) : 0;
  free(text);
  w->known = tf_memory_find(t->memory, t->shape);
  if (w->known && w->known->exhausted && !t->logged) {
    t->exhausted = true;
    t->cost = w->known->cost;
    return false;
  }
  tf_diags *d = tf_diags_new();
  w->arena = tf_arena_new();
  if (w->known && !t->logged) take_prepared(w);
  if (!w->trips && d) w->trips = tf_trips_new(w->tree, d);
  if (!w->model && w->trips && !t->logged) w->model = tf_model_new(w->tree, d);
  if (w->model) tf_model_all_points(w->model);
  if (w->model && t->opts->whole_tiles) tf_model_whole_tiles(w->model);
  if (w->model) tf_model_fits_first(w->model);
  bool ok = w->arena && w->trips && (w->model || t->logged) && (t->logged || prepare_mask(w, d));
  tf_diags_free(d);
  t->legal = ok;
  t->n_loops = ok ? w->trips->n_loops : 0;
  for (int by = 0; ok && by < TF_N_BY; by++)
    ok = (t->best[by].trips = calloc((size_t)t->n_loops + 1, sizeof(int64_t))) != NULL;
  t->failed = !ok && t->legal;
  if (ok) set_offers(w);
  if (!ok || !w->model) return ok;
  tf_model_walk_limit(w->model, t->walk_limit);
  return ok;
}

void tf_task_run(tf_task *t) {
  work w = {.t = t};
  t->cost = TF_COST_BAD * 1e9;
  if (prepare(&w)) {
    if (t->logged)
      from_log(&w);
    else
      search(&w);
    finish(&w);
  }
  leave_prepared(&w);
  tf_model_free(w.masked);
  tf_tree_free(w.leader);
  tf_arena_free(w.arena);
}

void tf_task_clear(tf_task *t) {
  for (int by = 0; by < TF_N_BY; by++) {
    free(t->best[by].trips);
    tf_tree_free(t->best[by].tree);
    t->best[by] = (tf_task_best){0};
  }
  tf_variants_clear(t);
  tf_prepared_free(t->prepared);
  t->prepared = NULL;
  free(t->hints);
  t->hints = NULL;
  t->n_hints = 0;
  t->evals = t->effort = 0;
  t->exhausted = t->stopped = t->failed = t->start = false;
  t->begin = NULL;
  t->logged = NULL;
}
