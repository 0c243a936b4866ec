/* The machines of a run, their order, and what is known about each. */
#include "sweep/sweep_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/threads.h"
#include "sweep/point.h"

/* Machines in progress at once, whatever the number of threads: at least a few, later a quarter of
 * those begun. */
enum { AT_ONCE_LEAST = 16, AT_ONCE_PART = 4 };

int64_t sweep_plan_horizon(const sweep_plan *p, int64_t i) {
  int64_t part = i / AT_ONCE_PART, at_once = part > AT_ONCE_LEAST ? part : AT_ONCE_LEAST;
  return !p->prune || i < at_once ? 0 : i - at_once;
}

/* ---- bounds --------------------------------------------------------------------------------- */
typedef struct {
  sweep_plan *p;
  double (*bound)[TF_N_GOALS];
  sweep_memo **memo; /* one for each worker */
  bool (*stop)(void *ctx);
  void *ctx;
} bounder;

enum { PIECE = 16 };

/* The bounds of one machine over all works, as if each had a mapping that attains its own. */
static void bound_one(const tf_sweep *s, int64_t machine, sweep_memo *memo,
                      double out[TF_N_GOALS]) {
  const tf_sweep_grid *g = &s->grid;
  size_t n = (size_t)g->n_jobs;
  sweep_jobs w = {calloc(n, sizeof *w.figures), calloc(n, sizeof *w.bounds), calloc(n, 1)};
  double score[TF_N_GOALS];
  bool sound = w.figures && w.bounds && w.state;
  for (int64_t i = 0; sound && i < g->n_jobs; i++) {
    sound = sweep_point_bounds(s, machine * g->n_cases + g->jobs[i], memo, w.bounds[i]);
    memcpy(w.figures[i], w.bounds[i], sizeof w.bounds[i]);
  }
  if (sound) sweep_score(g, &w, score, out);
  for (int k = 0; !sound && k < TF_N_GOALS; k++)
    out[k] = NAN;
  free(w.figures);
  free(w.bounds);
  free(w.state);
}

static void bound_piece(void *ctx, int piece, int worker) {
  const bounder *b = ctx;
  int64_t from = (int64_t)piece * PIECE, to = from + PIECE < b->p->n ? from + PIECE : b->p->n;
  if (!b->memo[worker]) b->memo[worker] = calloc(1, sizeof *b->memo[worker]);
  for (int64_t i = from; i < to; i++)
    if (!b->stop || !b->stop(b->ctx))
      bound_one(b->p->s, b->p->sorted[i], b->memo[worker], b->bound[i]);
}

typedef struct {
  double key;
  int64_t machine, index; /* index: in `sorted` */
} ranked;

static int by_key(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->machine < y->machine ? -1 : x->machine > y->machine;
}

/* The product of a machine's bounds: a machine that dominates another comes before it. */
static double promise(const tf_sweep_grid *g, const double *bound) {
  double sum = 0;
  for (int i = 0; i < g->n_goals; i++) {
    double v = bound[g->goals[i]];
    if (isnan(v)) return INFINITY;
    sum += log(fmax(v, 1e-300));
  }
  return sum;
}

static bool rank(sweep_plan *p, double (*bound)[TF_N_GOALS]) {
  ranked *r = malloc((size_t)p->n * sizeof *r + 1);
  if (!r) return false;
  for (int64_t i = 0; i < p->n; i++)
    r[i] = (ranked){promise(&p->s->grid, bound[i]), p->sorted[i], i};
  qsort(r, (size_t)p->n, sizeof *r, by_key);
  for (int64_t i = 0; i < p->n; i++) {
    p->machine[i] = r[i].machine;
    p->place[r[i].index] = (int32_t)i;
    memcpy(p->bound[i], bound[r[i].index], sizeof p->bound[i]);
  }
  free(r);
  return true;
}

static bool order_by_bounds(sweep_plan *p, const tf_sweep_opts *o) {
  size_t n = (size_t)p->n + 1;
  int threads = o->threads ? o->threads : tf_threads_there();
  bounder b = {p, calloc(n, sizeof *b.bound), calloc((size_t)threads, sizeof *b.memo), o->stop,
               o->ctx};
  p->bound = calloc(n, sizeof *p->bound);
  p->ruled_out = calloc(n, sizeof *p->ruled_out);
  bool ok = b.bound && b.memo && p->bound && p->ruled_out;
  if (ok) tf_threads_run(threads, (int)((p->n + PIECE - 1) / PIECE), bound_piece, &b);
  ok = ok && rank(p, b.bound);
  for (int i = 0; b.memo && i < threads; i++)
    free(b.memo[i]);
  free(b.memo);
  free(b.bound);
  return ok;
}

/* ---- the list ------------------------------------------------------------------------------- */
static bool list_machines(sweep_plan *p, const tf_sweep_opts *o) {
  const tf_sweep_grid *g = &p->s->grid;
  int64_t passing = 0;
  for (int64_t m = 0; m < g->n_machines; m++) {
    if (!sweep_machine_holds(p->s, m)) continue;
    if (o->shards && passing++ % o->shards != o->shard - 1) continue;
    if (!TF_GROW(p->sorted, p->n)) return false;
    p->sorted[p->n++] = m;
  }
  return true;
}

static bool lay_out(sweep_plan *p, const tf_sweep_opts *o) {
  const tf_sweep_grid *g = &p->s->grid;
  if (!list_machines(p, o)) return false;
  size_t n = (size_t)p->n + 1;
  p->machine = calloc(n, sizeof *p->machine);
  p->place = calloc(n, sizeof *p->place);
  p->score = calloc(n, sizeof *p->score);
  p->jobs = calloc(n, sizeof *p->jobs);
  p->left = calloc(n, sizeof *p->left);
  bool searches = g->method == TF_SWEEP_SEARCH;
  if (searches) p->mapping = calloc(n * (size_t)g->n_jobs, sizeof *p->mapping);
  if (!p->machine || !p->place || !p->score || !p->jobs || !p->left || (searches && !p->mapping))
    return false;
  for (int64_t i = 0; i < p->n; i++) {
    p->machine[i] = p->sorted[i];
    p->place[i] = (int32_t)i;
    p->left[i] = (int32_t)g->n_jobs;
  }
  return !p->prune || order_by_bounds(p, o);
}

bool sweep_plan_make(sweep_plan *p, const tf_sweep *s, const tf_sweep_opts *o, tf_diags *d) {
  *p = (sweep_plan){.s = s,
                    .prune = s->grid.method != TF_SWEEP_BOUND && s->grid.method != TF_SWEEP_EVAL};
  return lay_out(p, o) || tf_out_of_memory(d);
}

static void free_jobs(sweep_jobs *w) {
  free(w->figures);
  free(w->bounds);
  free(w->state);
  *w = (sweep_jobs){0};
}

void sweep_plan_free(sweep_plan *p) {
  for (int64_t i = 0; p->jobs && i < p->n; i++)
    free_jobs(&p->jobs[i]);
  for (int64_t i = 0; p->mapping && i < p->n * p->s->grid.n_jobs; i++)
    free(p->mapping[i]);
  free(p->machine);
  free(p->sorted);
  free(p->place);
  free(p->bound);
  free(p->score);
  free(p->jobs);
  free(p->left);
  free(p->ruled_out);
  free(p->mapping);
  *p = (sweep_plan){0};
}

/* ---- what is known -------------------------------------------------------------------------- */
/* The index of v in ascending numbers; -1: not there. */
static int64_t find_sorted(const int64_t *in, int64_t n, int64_t v) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (in[mid] < v)
      low = mid + 1;
    else
      high = mid;
  }
  return low < n && in[low] == v ? low : -1;
}

int64_t sweep_plan_find(const sweep_plan *p, int64_t machine) {
  int64_t at = find_sorted(p->sorted, p->n, machine);
  return at < 0 ? -1 : p->place[at];
}

static bool make_works(const tf_sweep_grid *g, sweep_jobs *w) {
  size_t n = (size_t)g->n_jobs;
  if (w->state) return true;
  *w = (sweep_jobs){calloc(n, sizeof *w->figures), calloc(n, sizeof *w->bounds), calloc(n, 1)};
  return w->figures && w->bounds && w->state;
}

static bool keep_mapping(sweep_plan *p, int64_t i, int64_t work, const char *text) {
  char **to = p->mapping ? &p->mapping[i * p->s->grid.n_jobs + work] : NULL;
  if (!to || !text) return true;
  size_t n = strlen(text) + 1;
  free(*to);
  *to = malloc(n);
  if (*to) memcpy(*to, text, n);
  return *to != NULL;
}

bool sweep_plan_take(sweep_plan *p, const tf_sweep_row *r) {
  const tf_sweep_grid *g = &p->s->grid;
  int64_t i = sweep_plan_find(p, r->point / g->n_cases),
          work = find_sorted(g->jobs, g->n_jobs, r->point % g->n_cases);
  if (i < 0 || work < 0 || p->left[i] == 0) return true;
  sweep_jobs *w = &p->jobs[i];
  if (!make_works(g, w) || !keep_mapping(p, i, work, r->mapping)) return false;
  if (!w->state[work]) {
    p->left[i]--;
    p->done++;
  }
  w->state[work] = (uint8_t)(1 + (int)r->state);
  memcpy(w->figures[work], r->figures, sizeof r->figures);
  memcpy(w->bounds[work], r->bounds, sizeof r->bounds);
  if (p->left[i] > 0) return true;
  double bound[TF_N_GOALS];
  sweep_score(g, w, p->score[i], bound);
  free_jobs(w);
  return true;
}

/* ---- neighbours ----------------------------------------------------------------------------- */
const char *sweep_plan_start(const sweep_plan *p, int64_t i, int64_t work) {
  const tf_sweep_grid *g = &p->s->grid;
  int64_t before = sweep_plan_horizon(p, i), stride = 1, best = -1;
  if (!p->mapping || before == 0) return NULL;
  for (int a = g->n_axes - 1; a >= 0; a--) {
    if (g->axes[a].of_workload) continue;
    int64_t at = p->machine[i] / stride % g->axes[a].n;
    for (int step = -1; step <= 1; step += 2) {
      if (at + step < 0 || at + step >= g->axes[a].n) continue;
      int64_t k = sweep_plan_find(p, p->machine[i] + step * stride);
      bool has = k >= 0 && k < before && !p->ruled_out[k] && p->mapping[k * g->n_jobs + work];
      if (has && (best < 0 || k < best)) best = k;
    }
    stride *= g->axes[a].n;
  }
  return best < 0 ? NULL : p->mapping[best * g->n_jobs + work];
}
