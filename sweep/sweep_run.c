/* Runs a sweep: workers compute points; the caller owns the store and writes their results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/locale.h"
#include "base/threads.h"
#include "sweep/exchange.h"
#include "sweep/workers.h"

enum { MOST_THREADS = 256, FRONT_FOLLOWED = 4096 };
static const double between_writes = 0.05, between_looks = 0.05; /* seconds */

/* ---- workers -------------------------------------------------------------------------------- */
static bool stopped(void *ctx) {
  const sweep_source *s = ctx;
  return s->opts->stop && s->opts->stop(s->opts->ctx);
}

static bool find_one(sweep_source *s, const sweep_piece *p, int k, sweep_memo *memo) {
  sweep_item *item = calloc(1, sizeof *item);
  const tf_sweep *sweep = s->plan->s;
  sweep_point_opts opts = {sweep_plan_start(s->plan, p->i, p->work[k]), stopped, s, memo};
  bool ok = item != NULL;
  if (ok && p->skip)
    sweep_point_skip(sweep, p->point[k], memo, &item->found);
  else if (ok)
    ok = sweep_point_find(sweep, p->point[k], &opts, &item->found);
  if (!ok && item) {
    sweep_found_free(&item->found);
    free(item);
  }
  sweep_source_give(s, ok ? item : NULL);
  return ok;
}

/* Works on one piece; false: there are no more. */
static bool work_once(sweep_source *s, sweep_memo *memo) {
  sweep_piece p;
  if (!sweep_source_take(s, &p)) return false;
  for (int k = 0; k < p.n; k++)
    if (!find_one(s, &p, k, memo)) return false;
  return true;
}

static void *work(void *ctx) {
  TF_IN_C_LOCALE;
  sweep_memo *memo = calloc(1, sizeof *memo); /* NULL: only slower */
  while (work_once(ctx, memo))
    ;
  free(memo);
  sweep_source_workers(ctx, -1);
  return NULL;
}

/* ---- the owner of the store ----------------------------------------------------------------- */
typedef struct {
  const tf_sweep *s;
  tf_store *store;
  const tf_sweep_opts *o;
  sweep_plan *plan;
  tf_sweep_progress now;
  double began, written;
  sweep_front front; /* the front of all finished machines, for the progress report */
  tf_diags *d;
} owner;

static bool add_known(void *ctx, const tf_sweep_row *r) {
  owner *w = ctx;
  if (w->o->full && r->state == TF_POINT_SKIPPED) return true;
  return sweep_plan_take(w->plan, r) || !tf_out_of_memory(w->d);
}

/* Notes machines whose last point became known, for the progress report. */
static void note_machine(owner *w, int64_t point) {
  int64_t i = sweep_plan_find(w->plan, point / w->s->grid.n_cases);
  if (i < 0 || w->plan->left[i] > 0) return;
  const double *score = w->plan->score[i];
  double first = score[w->s->grid.goals[0]];
  if (first < w->now.best) w->now.best = first;
  sweep_front_add(&w->s->grid, &w->front, score, w->plan->machine[i]);
}

static void show(owner *w) {
  w->now.seconds = tf_now() - w->began;
  w->now.front = w->front.bad ? -1 : w->front.n;
  if (w->o->progress) w->o->progress(w->o->ctx, &w->now);
}

static bool write_items(owner *w, sweep_item *all) {
  bool ok = true;
  while (all) {
    sweep_item *item = all;
    all = item->next;
    ok = ok && sweep_store_begin(w->store, w->d) &&
         sweep_store_put(w->store, &item->found.row, w->d);
    if (ok) {
      w->now.done++;
      w->now.found++;
    }
    sweep_found_free(&item->found);
    free(item);
  }
  if (!ok || tf_now() - w->written < between_writes) return ok;
  w->written = tf_now();
  return sweep_store_commit(w->store, w->d);
}

static bool start_one(sweep_source *s, pthread_t *thread, void *(*as)(void *ctx), void *ctx) {
  sweep_source_workers(s, 1);
  if (pthread_create(thread, NULL, as, ctx) == 0) return true;
  sweep_source_workers(s, -1);
  return false;
}

/* Starts threads that work, and one for each worker elsewhere.  Returns their number. */
static int start_workers(sweep_source *s, int threads, sweep_mate *mates, pthread_t *thread) {
  int n = 0;
  for (int i = 0; i < s->opts->workers.n; i++) {
    mates[i] = (sweep_mate){s, i};
    if (!start_one(s, &thread[n], sweep_mate_work, &mates[i])) return n;
    n++;
  }
  for (int i = 0; i < threads && start_one(s, &thread[n], work, s); i++)
    n++;
  return n;
}

/* Writes results until no worker is left.  If no thread could be started, the owner works, too. */
static bool write_results(owner *w, sweep_source *s, int started) {
  bool ok = true, over = false;
  while (!over) {
    if (started == 0) over = !work_once(s, NULL);
    bool left = false;
    sweep_item *all = sweep_source_results(s, started ? between_looks : 0, &left);
    if (started) over = left;
    pthread_mutex_lock(&s->lock);
    for (const sweep_item *item = all; item; item = item->next)
      note_machine(w, item->found.row.point);
    pthread_mutex_unlock(&s->lock);
    if (!ok) {
      while (all) {
        sweep_item *item = all;
        all = item->next;
        sweep_found_free(&item->found);
        free(item);
      }
      continue;
    }
    ok = write_items(w, all);
    if (!ok) sweep_source_end(s);
    show(w);
  }
  return ok;
}

static bool run_workers(owner *w) {
  sweep_source s;
  pthread_t *thread = NULL;
  sweep_mate *mates = NULL;
  int threads = w->o->threads ? w->o->threads : tf_threads_there();
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  if (!sweep_source_make(&s, w->plan, w->o)) return tf_out_of_memory(w->d);
  thread = calloc((size_t)(threads + w->o->workers.n), sizeof *thread);
  mates = calloc((size_t)w->o->workers.n + 1, sizeof *mates);
  int started = thread && mates ? start_workers(&s, threads, mates, thread) : 0;
  bool ok = write_results(w, &s, started);
  for (int i = 0; i < started; i++)
    pthread_join(thread[i], NULL);
  free(thread);
  free(mates);
  ok = sweep_store_commit(w->store, w->d) && ok;
  if (s.broken) ok = tf_out_of_memory(w->d);
  sweep_source_free(&s);
  return ok;
}

/* ---- exchange ------------------------------------------------------------------------------- */
static void show_tried(void *ctx, int64_t tried, int64_t to_try) {
  owner *w = ctx;
  w->now.tried = tried;
  w->now.to_try = to_try;
  show(w);
}

static bool exchange_stopped(void *ctx) {
  const owner *w = ctx;
  return w->o->stop && w->o->stop(w->o->ctx);
}

/* Once all points are found. */
static bool exchange(owner *w) {
  const tf_sweep_method m = w->s->grid.method;
  const bool mapped = m == TF_SWEEP_CLOSED || m == TF_SWEEP_SOLVE || m == TF_SWEEP_SEARCH;
  const bool late = w->o->time_limit > 0 && tf_now() - w->began >= w->o->time_limit;
  const sweep_exchange_opts opts = {w->o->threads ? w->o->threads : tf_threads_there(),
                                    exchange_stopped, show_tried, w};
  return !mapped || late || w->now.done < w->now.total ||
         sweep_exchange(w->s, w->store, &opts, w->d);
}

bool tf_sweep_run(const tf_sweep *s, tf_store *store, const tf_sweep_opts *o,
                  tf_sweep_progress *last, tf_diags *d) {
  TF_IN_C_LOCALE;
  sweep_plan plan;
  size_t errors = tf_diags_errors(d);
  owner w = {.s = s, .store = store, .o = o, .plan = &plan, .d = d, .began = tf_now()};
  w.front.most = FRONT_FOLLOWED;
  w.now.best = INFINITY;
  bool ok = sweep_plan_make(&plan, s, o, d);
  if (ok) ok = sweep_store_searched(store, add_known, &w, d) && tf_diags_errors(d) == errors;
  if (ok) {
    w.now.done = plan.done;
    w.now.total = plan.n * s->grid.n_jobs;
    for (int64_t i = 0; i < plan.n; i++)
      note_machine(&w, plan.machine[i] * s->grid.n_cases);
    show(&w);
    ok = run_workers(&w) && exchange(&w);
    show(&w);
  }
  if (last) *last = w.now;
  sweep_front_free(&w.front);
  sweep_plan_free(&plan);
  return ok;
}
