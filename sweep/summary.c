/* All machines of a store, scored; the front, and how much of it is proved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "sweep/point.h"
#include "sweep/score.h"
#include "sweep/store/sweep_store.h"

typedef struct {
  const tf_sweep_grid *g;
  tf_sweep_summary *out;
  int64_t machine; /* the one whose jobs are being gathered; -1: none */
  sweep_jobs jobs;
  int64_t known; /* known jobs */
  bool skipped;  /* some work was skipped */
  bool *solved;  /* [out->n] no work was skipped */
  bool bad;
} gatherer;

static void clear(gatherer *t) {
  for (int64_t i = 0; i < t->g->n_jobs; i++)
    for (int k = 0; k < TF_N_GOALS; k++)
      t->jobs.figures[i][k] = t->jobs.bounds[i][k] = NAN;
  memset(t->jobs.state, 0, (size_t)t->g->n_jobs);
  t->known = 0;
  t->skipped = false;
}

static bool room_for_one(gatherer *t) {
  t->bad |= !TF_GROW(t->out->machines, t->out->n) || !TF_GROW(t->solved, t->out->n);
  return !t->bad;
}

/* The machine whose rows have ended. */
static void finish_machine(gatherer *t) {
  if (t->machine < 0 || !room_for_one(t)) return;
  tf_sweep_machine *m = &t->out->machines[t->out->n];
  *m = (tf_sweep_machine){.machine = t->machine};
  sweep_score(t->g, &t->jobs, m->score, m->bound);
  t->out->n_whole += t->known == t->g->n_jobs;
  t->solved[t->out->n++] = !t->skipped;
}

static int64_t work_at(const tf_sweep_grid *g, int64_t work) {
  int64_t low = 0, high = g->n_jobs - 1;
  while (low < high) {
    int64_t mid = (low + high) / 2;
    if (g->jobs[mid] < work)
      low = mid + 1;
    else
      high = mid;
  }
  return g->jobs[low] == work ? low : -1;
}

static bool add_row(void *ctx, const tf_sweep_row *r) {
  gatherer *t = ctx;
  int64_t machine = r->point / t->g->n_cases, at = work_at(t->g, r->point % t->g->n_cases);
  if (machine != t->machine) {
    finish_machine(t);
    t->machine = machine;
    clear(t);
  }
  t->out->points++;
  t->out->by_state[r->state]++;
  t->out->improved += r->mapping_of >= 0;
  if (at < 0) return !t->bad;
  t->jobs.state[at] = (uint8_t)(1 + (int)r->state);
  memcpy(t->jobs.figures[at], r->figures, sizeof r->figures);
  memcpy(t->jobs.bounds[at], r->bounds, sizeof r->bounds);
  t->known++;
  t->skipped |= r->state == TF_POINT_SKIPPED;
  return !t->bad;
}

/* ---- the front ------------------------------------------------------------------------------ */
static bool find_front(const tf_sweep_grid *g, tf_sweep_summary *s) {
  sweep_front f = {0};
  for (int64_t i = 0; i < s->n; i++)
    sweep_front_add(g, &f, s->machines[i].score, i);
  for (int i = 0; i < f.n; i++)
    s->machines[f.no[i]].front = true;
  s->n_front = f.n;
  bool ok = !f.bad;
  sweep_front_free(&f);
  return ok;
}

/* Raises the gaps of f to what would be left to a mapping on m that attains its bounds: 0 if m
 * cannot be as good in all goals, or not by more than the sweep considers. */
static void raise_gaps(const tf_sweep_grid *g, tf_sweep_machine *f, const tf_sweep_machine *m) {
  for (int i = 0; i < g->n_goals; i++)
    if (!(m->bound[g->goals[i]] * sweep_slack(g, g->goals[i]) <= f->score[g->goals[i]])) return;
  for (int i = 0; i < g->n_goals; i++) {
    int k = (int)g->goals[i];
    double gap = f->score[k] > m->bound[k] ? f->score[k] / m->bound[k] - 1 : 0;
    f->gap[k] = fmax(f->gap[k], gap);
  }
}

static void find_gaps(const tf_sweep_grid *g, tf_sweep_summary *s) {
  for (int64_t i = 0; i < s->n; i++) {
    tf_sweep_machine *f = &s->machines[i];
    if (!f->front) continue;
    bool closed = true;
    for (int64_t k = 0; k < s->n; k++)
      raise_gaps(g, f, &s->machines[k]);
    for (int k = 0; k < g->n_goals; k++)
      closed &= f->gap[g->goals[k]] == 0;
    f->proved = closed && s->n_whole == g->n_passing;
    s->closed += closed;
    s->proved += f->proved;
  }
}

/* Machines whose bounds are dominated by a result can never be on the front. */
static bool sort_out(const tf_sweep_grid *g, const bool *solved, tf_sweep_summary *s) {
  sweep_front f = {0};
  for (int64_t i = 0; i < s->n; i++)
    if (s->machines[i].front) sweep_front_add(g, &f, s->machines[i].score, i);
  for (int64_t i = 0; i < s->n; i++) {
    if (s->machines[i].front) continue;
    const double *bound = s->machines[i].bound;
    bool out = sweep_front_beats(g, &f, bound, i) || sweep_front_covers(g, &f, bound);
    *(!out ? &s->open : solved[i] ? &s->beaten : &s->skipped) += 1;
  }
  bool ok = !f.bad;
  sweep_front_free(&f);
  return ok;
}

static bool summarize(gatherer *t, tf_store *s, tf_diags *d) {
  size_t n = (size_t)t->g->n_jobs;
  t->jobs = (sweep_jobs){calloc(n, sizeof *t->jobs.figures), calloc(n, sizeof *t->jobs.bounds),
                         calloc(n, 1)};
  t->bad = !t->jobs.figures || !t->jobs.bounds || !t->jobs.state;
  bool ok = !t->bad && tf_store_rows(s, add_row, t, d);
  if (ok) finish_machine(t);
  if (ok && !t->bad) t->bad = !find_front(t->g, t->out) || !sort_out(t->g, t->solved, t->out);
  if (ok && !t->bad) find_gaps(t->g, t->out);
  free(t->jobs.figures);
  free(t->jobs.bounds);
  free(t->jobs.state);
  free(t->solved);
  return (ok || t->bad) && (!t->bad || tf_out_of_memory(d));
}

tf_sweep_summary *tf_sweep_summary_of(tf_store *s, tf_diags *d) {
  TF_IN_C_LOCALE;
  gatherer t = {.g = tf_store_grid(s), .out = calloc(1, sizeof *t.out), .machine = -1};
  if (!t.out) {
    tf_out_of_memory(d);
    return NULL;
  }
  if (summarize(&t, s, d)) return t.out;
  tf_sweep_summary_free(t.out);
  return NULL;
}

void tf_sweep_summary_free(tf_sweep_summary *s) {
  if (!s) return;
  free(s->machines);
  free(s);
}
