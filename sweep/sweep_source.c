#include "sweep/sweep_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum { QUEUE_MOST = 8192 };

bool sweep_source_make(sweep_source *s, sweep_plan *p, const tf_sweep_opts *o) {
  *s = (sweep_source){.plan = p, .opts = o, .piece = p->prune ? 1 : SWEEP_PIECE};
  if (o->time_limit > 0) s->end = tf_now() + o->time_limit;
  if (pthread_mutex_init(&s->lock, NULL) != 0) return false;
  if (pthread_cond_init(&s->changed, NULL) == 0) return true;
  pthread_mutex_destroy(&s->lock);
  return false;
}

void sweep_source_free(sweep_source *s) {
  while (s->first) {
    sweep_item *item = s->first;
    s->first = item->next;
    sweep_found_free(&item->found);
    free(item);
  }
  sweep_front_free(&s->front);
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
}

/* ---- what is next --------------------------------------------------------------------------- */
static bool may_go_on(sweep_source *s) {
  bool stopped = s->opts->stop && s->opts->stop(s->opts->ctx);
  s->ended |= stopped || (s->end > 0 && tf_now() >= s->end);
  return !s->ended;
}

/* Waits until the machines on which the next one depends are done. */
static bool wait_for(sweep_source *s, int64_t machines) {
  const sweep_plan *p = s->plan;
  for (;;) {
    while (s->first_open < p->n && p->left[s->first_open] == 0)
      s->first_open++;
    if (s->first_open >= machines) return true;
    if (!may_go_on(s)) return false;
    pthread_cond_wait(&s->changed, &s->lock);
  }
}

/* Whether a result among the horizon's machines dominates the bounds of the next machine. */
static void decide(sweep_source *s, int64_t horizon) {
  sweep_plan *p = s->plan;
  const tf_sweep_grid *g = &p->s->grid;
  for (; s->in_front < horizon; s->in_front++)
    if (!p->ruled_out[s->in_front])
      sweep_front_add(g, &s->front, p->score[s->in_front], p->machine[s->in_front]);
  const double *bound = p->bound[s->next];
  p->ruled_out[s->next] = sweep_front_beats(g, &s->front, bound, p->machine[s->next]) ||
                          sweep_front_covers(g, &s->front, bound);
  s->broken |= s->front.bad;
  s->ended |= s->broken;
}

/* Moves to the next machine; false: there is none. */
static bool step(sweep_source *s) {
  s->next++;
  s->next_work = 0;
  s->decided = false;
  return s->next < s->plan->n;
}

/* Fills the piece with jobs of the next machine whose results are missing; false: none is. */
static bool fill(sweep_source *s, sweep_piece *out) {
  const sweep_plan *p = s->plan;
  const tf_sweep_grid *g = &p->s->grid;
  const uint8_t *state = p->jobs[s->next].state;
  bool skip = p->prune && p->ruled_out[s->next] && !s->opts->full;
  int most = skip ? SWEEP_PIECE : s->piece;
  out->i = s->next;
  out->n = 0;
  out->skip = skip;
  for (; s->next_work < g->n_jobs && out->n < most; s->next_work++) {
    if (state && state[s->next_work]) continue;
    out->work[out->n] = s->next_work;
    out->point[out->n++] = p->machine[s->next] * g->n_cases + g->jobs[s->next_work];
  }
  return out->n > 0;
}

bool sweep_source_take(sweep_source *s, sweep_piece *out) {
  sweep_plan *p = s->plan;
  bool got = false;
  pthread_mutex_lock(&s->lock);
  while (s->queued >= QUEUE_MOST && may_go_on(s))
    pthread_cond_wait(&s->changed, &s->lock);
  while (!got && s->next < p->n && may_go_on(s)) {
    if (p->prune && !s->decided) {
      int64_t here = s->next, horizon = sweep_plan_horizon(p, here);
      if (!wait_for(s, horizon)) break;
      if (s->next != here || s->decided) continue; /* another worker was faster */
      decide(s, horizon);
      s->decided = true;
      if (s->ended) break;
    }
    got = p->left[s->next] > 0 && fill(s, out);
    if (!got || s->next_work >= p->s->grid.n_jobs) step(s);
  }
  pthread_mutex_unlock(&s->lock);
  return got;
}

/* ---- results -------------------------------------------------------------------------------- */
void sweep_source_give(sweep_source *s, sweep_item *item) {
  pthread_mutex_lock(&s->lock);
  if (item) {
    item->next = NULL;
    *(s->last ? &s->last->next : &s->first) = item;
    s->last = item;
    s->queued++;
    s->broken |= !sweep_plan_take(s->plan, &item->found.row);
  } else {
    s->ended = true;
  }
  s->ended |= s->broken;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

sweep_item *sweep_source_results(sweep_source *s, double seconds, bool *over) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  double end = (double)until.tv_nsec * 1e-9 + seconds;
  until.tv_sec += (time_t)end;
  until.tv_nsec = (long)((end - floor(end)) * 1e9);
  pthread_mutex_lock(&s->lock);
  int waited = 0;
  while (!s->first && s->workers > 0 && waited == 0)
    waited = pthread_cond_timedwait(&s->changed, &s->lock, &until);
  may_go_on(s);
  if (s->ended) pthread_cond_broadcast(&s->changed); /* wakes those who wait */
  sweep_item *all = s->first;
  s->first = s->last = NULL;
  *over = s->workers == 0;
  bool full = s->queued >= QUEUE_MOST;
  s->queued = 0;
  if (full) pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return all;
}

void sweep_source_end(sweep_source *s) {
  pthread_mutex_lock(&s->lock);
  s->ended = true;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

void sweep_source_workers(sweep_source *s, int more) {
  pthread_mutex_lock(&s->lock);
  s->workers += more;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}
