/* The driver of a search: batches of tasks, asked for in order, run on any thread, told in
 * order. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "model/demand/demand.h"
#include "search/common/archive.h"
#include "search/common/complete.h"
#include "search/common/exportable.h"
#include "search/common/identity.h"
#include "search/common/objective.h"
#include "search/common/ops.h"
#include "search/run/driver.h"
#include "search/run/log.h"
#include "search/run/memory.h"
#include "search/run/retained.h"
#include "search/run/starts.h"
#include "search/run/tree_local_search.h"

enum {
  BATCH = 16, /* tasks; the same for any number of threads, so that results do not depend on it */
  /* batches that must be left for visits of a shape to be longer than in a short search */
  MANY_BATCHES = 32,
  /* the search stops when less than one part in so many of the effort is left */
  EFFORT_LEFT = 256,
  KEEP = 8,
  IDLE_MOST = 400,  /* batches in a row without an evaluation, after which the space is exhausted */
  IDLE_GIVEN = 32,  /* the same where the shape is given: only trip counts are drawn again */
  IDLE_EFFORT = 4,  /* effort of a task without an evaluation: the shape is built, nothing fits */
  IDLE_RANDOM = 64, /* idle batches after which every other row is random, see ask_random */
  /* steps of an exact walk where closed forms cannot count: the given tree retains, or neighbours
   * may hand on parts of boxes */
  WALK_GIVEN = 20000,
  /* evaluations after the goal is met: of several mappings that meet it one is best */
  TIES_LEAST = 32768,
  START_ONE_IN = 32, /* one task in so many searches a start again, after the first visit of each */
  RETAIN_ONE_IN = 8, /* one in so many searches the incumbent with scopes that retain */
  RETAIN_FROM = 1024, /* with a smaller budget of evaluations retention is not tried */
  MOVES_PART = 4,     /* local search gets one part in so many of the budget, see move_best */
  MOVES_FROM = 1024,  /* with a smaller budget of evaluations there is no local search */
  MOVES_EFFORT = 8    /* most effort of its evaluations, on average, if the budget sets no limit */
};

typedef struct {
  const tf_search_opts *o;
  const tf_strategy *strategy;
  tf_shapes *shapes;
  tf_start *starts;   /* [o->n_starts + 1]; the last: the incumbent with scopes that retain */
  double tried;       /* value of the last incumbent of which retention was tried */
  int64_t walk_limit; /* of tasks for rows; growth: likewise (see tf_task) */
  int growth;
  bool retain; /* retention is tried */
  bool moves;  /* the last part of the budget goes to local search */
  int genes;   /* tasks have room for so many */
  tf_arena *arena;
  tf_space *space; /* of shapes */
  void *outer;     /* state of the strategy over shapes */
  tf_task tasks[BATCH];
  tf_memory_of_search memory;
  tf_prepared_list kept;
  tf_log log;
  FILE *file;
  tf_budget_clock clock;
  tf_search_result *res;
  uint64_t *kept_shapes, *kept_texts;
  int room;
  int64_t asked, effort;
  int idle;           /* batches in a row without an evaluation */
  int64_t met;        /* evaluations when the goal was met; -1: not yet */
  double goal_energy; /* as in tf_task */
  tf_rng rng;
  bool failed;
} driver;

/* ---- one batch ----------------------------------------------------------------------------- */
/* The part of a budget that tasks may take; local search has the rest. */
static int64_t tasks_part(const driver *v, int64_t all) {
  return v->moves ? all - all / MOVES_PART : all;
}

static int64_t evals_left(const driver *v) {
  const int64_t most = v->o->budget.max_evals;
  return most > 0 ? tasks_part(v, most) - v->res->evals : INT64_MAX;
}

static bool effort_spent(const driver *v) {
  const int64_t most = tasks_part(v, v->o->budget.max_effort);
  return most > 0 && most - v->effort <= most / EFFORT_LEFT;
}

static bool time_spent(const driver *v) {
  const double most = v->o->budget.time_limit;
  return v->moves && most > 0 && tf_clock_seconds(&v->clock) >= most - most / MOVES_PART;
}

/* The most evaluations that one task of the next batch may take: the whole batch must stay within
 * the budget. */
static int64_t most_per_task(const driver *v, int64_t left) {
  int64_t most = v->strategy->evals_per_shape;
  if (most == 0) return INT64_MAX;
  if (v->tasks[0].share < 1) most <<= TF_MASKED_VISITS;
  for (int i = 0;
       i < v->growth && most * 2 * BATCH * (i < TF_GROWTH_FEW ? 1 : MANY_BATCHES) <= left; i++)
    most *= 2;
  return most;
}

/* The start whose space task `no` searches: each in turn at first, then one every START_ONE_IN
 * tasks.  NULL: none. */
static const tf_start *start_of(const driver *v, int64_t no) {
  int64_t n = v->o->n_starts, turn = no / START_ONE_IN;
  if (v->starts[n].shapes && v->strategy->evals_per_shape && no >= n && no % RETAIN_ONE_IN == 0)
    return &v->starts[n];
  if (n == 0 || v->strategy->evals_per_shape == 0 ||
      (no >= n && no % START_ONE_IN != START_ONE_IN - 1))
    return NULL;
  const tf_start *s = &v->starts[no < n ? no : turn % n];
  return s->shapes ? s : NULL;
}

static bool retains(const tf_tree *t) {
  for (int i = 0; t && i < t->n_nodes; i++)
    if (t->nodes[i].kind == TF_SCOPE && t->nodes[i].n_retain > 0) return true;
  return false;
}

static bool ask_start(const driver *v, tf_task *t, const tf_start *s) {
  t->start = true;
  t->untold = false;
  t->shapes = s->shapes;
  t->begin = s->trips;
  t->begin_loops = s->n_loops;
  t->walk_limit = retains(s->open) ? WALK_GIVEN : v->walk_limit;
  t->growth = v->growth;
  t->parent_id = 0;
  memset(t->genes, 0, (size_t)tf_shapes_genes(s->shapes) * sizeof *t->genes);
  return true;
}

/* Asks for a random row, where the strategy finds nothing new; its result is archived, but not
 * told. */
static bool ask_random(driver *v, tf_task *t) {
  t->untold = true;
  t->parent_id = 0;
  if (!tf_space_random(v->space, &v->rng)) return false;
  memcpy(t->genes, v->space->chosen, (size_t)v->space->n * sizeof *t->genes);
  return true;
}

/* Asks for a row; false: none is left. */
static bool ask_row(driver *v, tf_task *t) {
  t->shapes = v->shapes;
  t->walk_limit = v->walk_limit;
  t->growth = v->growth;
  if (v->idle >= IDLE_RANDOM && !v->strategy->outer->ignores_feedback && v->asked % 2)
    return ask_random(v, t);
  t->untold = false;
  if (!v->strategy->outer->ask(v->outer, &t->parent_id)) return false;
  memcpy(t->genes, v->space->chosen, (size_t)v->space->n * sizeof *t->genes);
  return true;
}

/* Variants must not exceed this value: that of the worst one kept, once the list is full. */
static double variants_within(const driver *v) {
  const int n = v->res->n_variants;
  return n > 0 && n == v->o->variants ? v->res->variants[n - 1].value : INFINITY;
}

static int ask_batch(driver *v) {
  int64_t left = evals_left(v), most = most_per_task(v, left),
          effort = tasks_part(v, v->o->budget.max_effort);
  int n = 0;
  for (; n < BATCH && left > 0 && !effort_spent(v) && !time_spent(v); n++) {
    tf_task *t = &v->tasks[n];
    const tf_start *s = start_of(v, v->asked);
    if (!(s ? ask_start(v, t, s) : ask_row(v, t))) break;
    t->no = v->asked++;
    t->quota = left < most ? left : most;
    t->effort_quota = effort > 0 ? 1 + (effort - v->effort) / BATCH : 0;
    t->logged = tf_log_find(&v->log, t->no);
    t->variants_within = variants_within(v);
    t->goal_energy = v->goal_energy;
    if (left < INT64_MAX) left -= t->quota;
  }
  return n;
}

static void run_piece(void *ctx, int i, int worker) {
  driver *v = ctx;
  (void)worker;
  tf_task_run(&v->tasks[i]);
}

/* Archives the task's best mappings.  A tree that the archive keeps is no longer the task's. */
static void archive(driver *v, tf_task *t) {
  for (int by = 0; by < TF_N_BY; by++) {
    tf_task_best *b = &t->best[by];
    if (!b->found) continue;
    tf_found f = {
        .text = tf_tree_text(b->tree), .tree = b->tree, .value = b->value, .figures = b->figures};
    bool ok = f.text && tf_keep_pareto(v->res->pareto, &v->res->n_pareto, &f);
    if (ok && by == TF_BY_OBJECTIVE)
      ok = tf_keep_best(v->res->best, v->kept_shapes, &v->res->n_best, v->room, &f, t->shape);
    b->tree = f.tree;
    free(f.text);
    v->failed |= !ok;
  }
}

/* Several shapes may have the same mapping; the text identifies it. */
static void archive_variant(driver *v, const tf_task *t, const tf_variant *x) {
  tf_found f = {.value = x->value, .figures = x->figures};
  f.tree = tf_complete(t->open, x->trips, &v->failed);
  if (!f.tree) return; /* a rule refuses it */
  if (!tf_can_export(v->o->exportable, f.tree)) {
    tf_tree_free(f.tree);
    return;
  }
  f.text = tf_tree_text(f.tree);
  uint64_t name = f.text ? tf_hash(TF_HASH_START, f.text, strlen(f.text)) : 0;
  v->failed |= !f.text || !tf_keep_best(v->res->variants, v->kept_texts, &v->res->n_variants,
                                        v->o->variants, &f, name);
  tf_tree_free(f.tree); /* NULL where it was kept */
  free(f.text);
}

/* Archives each variant once: tasks find the same completions of a shape again and again, and
 * building one takes much longer than evaluating it. */
static void archive_variants(driver *v, const tf_task *t) {
  for (int i = 0; i < t->n_variants && t->variants[i].value <= variants_within(v); i++) {
    bool is_new;
    v->failed |= !tf_memory_try(&v->memory, t, &t->variants[i], &is_new);
    if (is_new) archive_variant(v, t, &t->variants[i]);
  }
}

static void take_task(driver *v, tf_task *t) {
  bool searched = t->legal && !t->failed && t->evals > 0;
  v->failed |= t->failed;
  v->res->evals += t->evals;
  v->effort += t->effort;
  v->res->shapes += searched;
  if (searched) {
    archive(v, t);
    archive_variants(v, t);
    v->failed |= !tf_memory_learn(&v->memory, t);
    if (v->file && !t->logged && !t->stopped) tf_log_write_task(v->file, t);
  }
  if (t->untold || t->start) return;
  v->strategy->outer->tell(v->outer, &(tf_feedback){t->genes, t->reads.order, t->shape, t->cost});
}

static bool check_logged(driver *v, const tf_task *t, tf_diags *d) {
  if (!t->logged || (t->legal && t->logged->shape == t->shape)) return true;
  v->failed = true;
  return tf_fail(
      d, (tf_loc){0}, TF_E_IO,
      "task %lld of the log is not the one this search asks for: resume with the --evals and "
      "--start of the log; else another version wrote it",
      (long long)t->no);
}

static void report(const driver *v) {
  tf_clock_report(&v->clock,
                  (tf_progress){.evals = v->res->evals,
                                .shapes = v->res->shapes,
                                .best = v->res->n_best ? v->res->best[0].value : INFINITY});
}

/* Keeps a mapping, identified by its text: it need not have the shape of any task. */
static void keep_found(driver *v, tf_found *f) {
  tf_search_result *r = v->res;
  f->text = tf_tree_text(f->tree);
  const uint64_t name = f->text ? tf_hash(TF_HASH_START, f->text, strlen(f->text)) : 0;
  v->failed |= !f->text || !tf_keep_pareto(r->pareto, &r->n_pareto, f) ||
               !tf_keep_best(r->best, v->kept_shapes, &r->n_best, v->room, f, name);
  tf_found_clear(f);
}

/* Takes a better mapping whose scopes retain; its space is searched like that of a start. */
static void take_retained(driver *v, tf_found *f) {
  tf_start *own = &v->starts[v->o->n_starts];
  tf_start_clear(own);
  v->failed |= !tf_start_open(own, f->tree);
  if (own->shapes && tf_shapes_genes(own->shapes) > v->genes) tf_start_clear(own);
  keep_found(v, f);
}

/* Tries whether scopes that retain lower the cost of an incumbent which makes a part of an
 * intermediate more than once.  The budget is charged for no more than it has. */
static void retain_best(driver *v) {
  tf_search_result *r = v->res;
  const int64_t left = evals_left(v);
  if (left <= 0 || !r->n_best || r->best[0].value >= v->tried) return;
  tf_evaluator q = {.objective = v->o->objective, .exportable = v->o->exportable};
  tf_found f;
  const bool better = tf_retained(r->best[0].tree, r->best[0].value, &q, &f);
  r->evals += q.evals < left ? q.evals : left;
  v->effort += q.effort;
  v->failed |= q.failed;
  if (better) take_retained(v, &f);
  v->tried = r->best[0].value;
}

/* Leaves out steps beyond every range, as tasks do: moves round up. */
static void trim(driver *v, tf_evaluator *q, tf_found *f) {
  tf_start s;
  tf_figures now;
  bool changed = false;
  tf_tree *t = NULL;
  if (tf_start_open(&s, f->tree) && s.open && tf_trim(s.open, s.trips, &changed) && changed)
    t = tf_complete(s.open, s.trips, &v->failed);
  if (t && tf_can_export(q->exportable, t) && tf_evaluate_tree(t, q, &now, NULL) &&
      tf_objective_value(q->objective, &now) <= f->value) {
    tf_tree_free(f->tree);
    *f = (tf_found){.tree = t, .value = tf_objective_value(q->objective, &now), .figures = now};
    t = NULL;
  }
  tf_tree_free(t);
  tf_start_clear(&s);
}

/* Local search from the incumbent with the rest of the budget, if the tasks used up their part.
 * Tasks sample trip counts; in a larger problem they may miss a mapping that small changes of one
 * or two loops reach. */
static void move_best(driver *v) {
  tf_search_result *r = v->res;
  const tf_budget *all = &v->o->budget;
  const int64_t most =
      all->max_evals > 0 ? all->max_evals - r->evals : INT64_MAX / (2 * MOVES_EFFORT);
  const int64_t effort = all->max_effort > 0 ? all->max_effort - v->effort : MOVES_EFFORT * most;
  const bool ended = r->stopped_by == TF_STOP_BUDGET || r->stopped_by == TF_STOP_TIME;
  if (!v->moves || v->failed || !ended || tf_clock_over(&v->clock) || most <= 0 || effort <= 0 ||
      !r->n_best)
    return;
  const tf_local_search_opts how = {
      .goal = v->o->goal, .evals = most, .effort = effort, .seed = all->seed};
  tf_evaluator q = {.objective = v->o->objective, .exportable = v->o->exportable};
  tf_found f;
  if (tf_tree_local_search(r->best[0].tree, r->best[0].value, &how, &v->clock, &q, &f)) {
    trim(v, &q, &f);
    keep_found(v, &f);
  }
  r->evals += q.evals < most ? q.evals : most;
  v->effort += q.effort;
  v->failed |= q.failed;
  if (tf_clock_over(&v->clock)) r->stopped_by = tf_clock_why(&v->clock);
  report(v);
}

static bool batch(driver *v, int threads, int n, tf_diags *d) {
  tf_threads_run(threads, n, run_piece, v);
  int64_t before = v->res->evals;
  for (int i = 0; i < n; i++) {
    if (check_logged(v, &v->tasks[i], d)) take_task(v, &v->tasks[i]);
    tf_prepared_keep(&v->kept, v->tasks[i].prepared);
    v->tasks[i].prepared = NULL;
    tf_task_clear(&v->tasks[i]);
  }
  if (v->retain && !v->failed) retain_best(v);
  if (v->file && fflush(v->file) != 0)
    v->failed = !tf_fail(d, (tf_loc){0}, TF_E_IO, "cannot write the log '%.120s': %s", v->o->log,
                         strerror(errno));
  report(v);
  return v->res->evals > before;
}

/* Whether the incumbent meets the goal, and the evaluations for ties are used up. */
static bool goal_is_done(driver *v) {
  const tf_search_result *r = v->res;
  if (v->o->goal <= 0 || !r->n_best || r->best[0].value > v->o->goal * (1 + 1e-12)) return false;
  if (v->met < 0) v->met = r->evals, v->goal_energy = r->best[0].figures.energy_pj;
  return r->evals - v->met >= (v->met > TIES_LEAST ? v->met : TIES_LEAST);
}

static void run(driver *v, bool given, int threads, tf_diags *d) {
  const int idle_most = given ? IDLE_GIVEN : IDLE_MOST;
  v->res->stopped_by = TF_STOP_EXHAUSTED;
  while (!v->failed && v->idle < idle_most) {
    int n = ask_batch(v);
    if (n == 0) {
      if (evals_left(v) <= 0 || effort_spent(v)) v->res->stopped_by = TF_STOP_BUDGET;
      if (time_spent(v)) v->res->stopped_by = TF_STOP_TIME;
      return;
    }
    v->idle = batch(v, threads, n, d) ? 0 : v->idle + 1;
    if (given && v->idle > 0) v->effort += (int64_t)IDLE_EFFORT * n;
    if (goal_is_done(v)) {
      v->res->stopped_by = TF_STOP_PROVED;
      return;
    }
    if (atomic_load(&v->clock.why)) {
      v->res->stopped_by = tf_clock_why(&v->clock);
      return;
    }
  }
}

/* ---- starts -------------------------------------------------------------------------------- */
static bool open_starts(driver *v) {
  v->starts = calloc((size_t)v->o->n_starts + 1, sizeof *v->starts);
  bool ok = v->starts != NULL;
  for (int i = 0; ok && i < v->o->n_starts; i++)
    ok = tf_start_open(&v->starts[i], v->o->starts[i]);
  return ok;
}

/* The largest number of genes of any space that a task may be given. */
static int most_genes(const driver *v) {
  int most = tf_shapes_genes(v->shapes);
  for (int i = 0; i < v->o->n_starts; i++) {
    int n = v->starts[i].shapes ? tf_shapes_genes(v->starts[i].shapes) : 0;
    most = n > most ? n : most;
  }
  return most;
}

/* Archives the starts that fit, as they are. */
static void take_starts(driver *v, const tf_workload *wl) {
  const tf_counting how = v->o->all_points && tf_workload_masked(wl) ? TF_COUNT_ALL : TF_COUNT_LONG;
  for (int i = 0; i < v->o->n_starts && !v->failed; i++) {
    const tf_tree *given = v->o->starts[i];
    tf_found f = {0};
    v->res->evals++;
    if (given->open || !tf_can_export(v->o->exportable, given)) continue;
    if (!tf_figures_of_tree(given, how, &f.figures)) continue;
    f.value = tf_objective_value(v->o->objective, &f.figures);
    f.text = tf_tree_text(given);
    f.tree = tf_tree_copy(given, given->arch, given->workload, NULL);
    uint64_t name = f.text ? tf_hash(TF_HASH_START, f.text, strlen(f.text)) : 0;
    v->failed |= !f.text || !f.tree || !tf_keep_pareto(v->res->pareto, &v->res->n_pareto, &f) ||
                 !tf_keep_best(v->res->best, v->kept_shapes, &v->res->n_best, v->room, &f, name);
    tf_found_clear(&f);
  }
}

/* ---- running a search ----------------------------------------------------------------------- */
static bool alloc(driver *v) {
  size_t genes = (size_t)(v->genes = most_genes(v));
  v->room = v->o->keep > 0 ? v->o->keep : KEEP;
  v->res = calloc(1, sizeof *v->res);
  if (!v->res) return false;
  v->kept_shapes = TF_ARRAY(v->arena, uint64_t, (size_t)v->room);
  v->kept_texts = TF_ARRAY(v->arena, uint64_t, (size_t)v->o->variants + 1);
  v->res->variants = calloc((size_t)v->o->variants + 1, sizeof *v->res->variants);
  v->res->best = calloc((size_t)v->room, sizeof *v->res->best);
  v->res->pareto = calloc(TF_PARETO_MAX, sizeof *v->res->pareto);
  v->space = tf_shapes_space(v->arena, v->shapes);
  v->outer = v->space ? v->strategy->outer->make(v->arena, v->space, NULL, 0,
                                                 tf_rng_new(v->o->budget.seed, 1))
                      : NULL;
  v->rng = tf_rng_new(v->o->budget.seed, 2);
  bool ok = v->kept_shapes && v->kept_texts && v->res->variants && v->res->best && v->res->pareto &&
            v->outer;
  for (int i = 0; i < BATCH; i++) {
    tf_task *t = &v->tasks[i];
    *t = (tf_task){.strategy = v->strategy,
                   .shapes = v->shapes,
                   .opts = v->o,
                   .memory = &v->memory,
                   .kept = &v->kept,
                   .sofar = v->res,
                   .clock = &v->clock};
    t->genes = TF_ARRAY(v->arena, int32_t, genes);
    t->reads.order = TF_ARRAY(v->arena, uint32_t, genes);
    ok = ok && t->genes && t->reads.order;
  }
  return ok;
}

/* Whether lines are walked: where tensors are padded, or a tree is given. */
static bool walks_lines(const tf_arch *arch, const tf_workload *wl, bool given) {
  bool walks = given;
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      walks |= wl->tensors[z].pad[r] > 0;
  return walks && tf_arch_lines(arch);
}

static void set_limits(driver *v, const tf_arch *arch, const tf_workload *wl,
                       const tf_tree *given) {
  const bool masked = tf_workload_masked(wl);
  const double share = !v->o->all_points && masked ? tf_demand_share(wl) : 1;
  const bool walks =
      retains(given) || (given && tf_has_peers(arch)) || walks_lines(arch, wl, given);
  v->walk_limit = walks ? WALK_GIVEN : 0;
  v->growth = given ? TF_GROWTH_GIVEN : TF_GROWTH;
  v->retain = !given && !masked && !v->o->whole_tiles && evals_left(v) >= RETAIN_FROM;
  v->moves &= !given && !masked && !v->o->whole_tiles && !v->o->variants &&
              evals_left(v) >= MOVES_FROM && v->strategy->evals_per_shape &&
              !v->strategy->outer->ignores_feedback;
  for (int i = 0; i < BATCH; i++)
    v->tasks[i].share = share;
}

static bool open_log(driver *v, const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                     tf_diags *d) {
  tf_log_head head = {v->strategy->name, tf_objective_key((int)v->o->objective), v->o->budget.seed,
                      tf_identity(arch, wl, given, v->o->starts, v->o->n_starts)};
  if (v->o->exportable)
    head.space = tf_hash(head.space, v->o->exportable, strlen(v->o->exportable));
  if (!v->o->log) return true;
  v->file = tf_log_open(v->o->log, v->o->resume, &head, &v->log, d);
  return v->file != NULL;
}

static int by_value(const void *a, const void *b) { return tf_found_order(a, b); }

/* Counts the best mappings of a masked workload as `eval` does: those that took too long in the
 * search have the figures of all points. */
static void count_best(driver *v) {
  tf_search_result *r = v->res;
  tf_figures f;
  for (int i = 0; i < r->n_best; i++) {
    if (!tf_figures_of_tree(r->best[i].tree, TF_COUNT_LONG, &f)) continue;
    r->best[i].figures = f;
    r->best[i].value = tf_objective_value(v->o->objective, &f);
  }
  if (r->n_best) qsort(r->best, (size_t)r->n_best, sizeof *r->best, by_value);
}

static void sum_up(driver *v, int threads) {
  v->res->seconds = tf_clock_seconds(&v->clock);
  v->res->strategy = v->strategy->name;
  v->res->threads = threads;
  v->res->seed = v->o->budget.seed;
}

static tf_search_result *search(driver *v, const tf_arch *arch, const tf_workload *wl,
                                const tf_tree *given, tf_diags *d) {
  int threads = tf_budget_threads(&v->o->budget);
  v->arena = tf_arena_new();
  if (v->arena) v->shapes = given ? tf_shapes_of(given, wl, d) : tf_shapes_new(arch, wl, d);
  if (v->shapes && v->o->exportable) tf_shapes_one_side(v->shapes);
  bool opened = v->shapes && open_starts(v);
  if (v->shapes && !opened) tf_out_of_memory(d);
  if (!opened || !open_log(v, arch, wl, given, d)) return NULL;
  if (!alloc(v)) {
    tf_out_of_memory(d);
    return NULL;
  }
  set_limits(v, arch, wl, given);
  take_starts(v, wl);
  run(v, given != NULL, threads, d);
  move_best(v);
  if (v->tasks[0].share < 1) count_best(v);
  sum_up(v, threads);
  if (v->failed && tf_diags_errors(d) == 0) tf_out_of_memory(d);
  return v->failed ? NULL : v->res;
}

tf_search_result *tf_search_drive(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                  const tf_search_opts *o, bool moves, tf_diags *d) {
  driver *v = calloc(1, sizeof *v);
  if (!v) {
    tf_out_of_memory(d);
    return NULL;
  }
  v->o = o;
  v->moves = moves;
  v->met = -1;
  v->tried = INFINITY;
  v->strategy = o->strategy ? tf_strategy_named(o->strategy) : tf_strategy_at(0);
  tf_clock_begin(&v->clock, &o->budget);
  tf_search_result *out = NULL;
  if (v->strategy)
    out = search(v, arch, wl, given, d);
  else
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no strategy '%.60s'", o->strategy);
  if (v->file && fclose(v->file) != 0 && out) {
    tf_fail(d, (tf_loc){0}, TF_E_IO, "cannot write the log '%.120s': %s", o->log, strerror(errno));
    out = NULL;
  }
  if (!out) tf_search_free(v->res);
  tf_log_free(&v->log);
  tf_memory_clear(&v->memory);
  tf_prepared_clear(&v->kept);
  for (int i = 0; v->starts && i <= o->n_starts; i++)
    tf_start_clear(&v->starts[i]);
  free(v->starts);
  tf_shapes_free(v->shapes);
  tf_arena_free(v->arena);
  free(v);
  return out;
}
