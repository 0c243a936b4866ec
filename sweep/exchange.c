/* Mappings exchanged between machines. */
#include "sweep/exchange.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/threads.h"
#include "sweep/point.h"

/* A point tries the mappings of so many machines, the nearest ones: with more, the exchange would
 * take longer than the searches. */
enum { MOST_TRIED = 4096 };

typedef struct {
  int64_t point;
  double figures[TF_N_GOALS], bounds[TF_N_GOALS];
  int64_t evals;
  double took;
  char *mapping; /* owned; NULL: none was found */
  int64_t best;  /* index in `rows` of the one whose mapping is best here; -1: none */
} candidate;

typedef struct {
  const tf_sweep *s;
  const sweep_exchange_opts *opts;
  tf_goal goal;
  candidate *rows; /* [n] by point */
  int64_t n;
  int64_t **pool; /* [n_cases] indices of rows with different mappings, ascending; n_pool of them */
  int64_t *n_pool;
  pthread_mutex_t lock; /* of what follows */
  int64_t tried;
  bool bad, stopped;
} exchange;

/* ---- reading -------------------------------------------------------------------------------- */
static bool add_row(void *ctx, const tf_sweep_row *r) {
  exchange *x = ctx;
  if (r->state != TF_POINT_FOUND && r->state != TF_POINT_NONE) return true;
  x->bad |= !TF_GROW(x->rows, x->n);
  if (x->bad) return false;
  candidate *c = &x->rows[x->n];
  *c = (candidate){.point = r->point, .evals = r->evals, .took = r->took, .best = -1};
  memcpy(c->figures, r->figures, sizeof c->figures);
  memcpy(c->bounds, r->bounds, sizeof c->bounds);
  if (r->mapping) c->mapping = strdup(r->mapping);
  x->bad |= r->mapping && !c->mapping;
  x->n++;
  return !x->bad;
}

typedef struct {
  const char *text;
  int64_t row; /* index in `rows` */
  int64_t work;
} entry;

static int by_text(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->work != y->work) return x->work < y->work ? -1 : 1;
  const int order = strcmp(x->text, y->text);
  return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Of rows with one mapping, the first stands for all. */
static bool make_pools(exchange *x) {
  const int64_t cases = x->s->grid.n_cases;
  entry *e = calloc((size_t)x->n + 1, sizeof *e);
  int64_t n = 0;
  x->pool = calloc((size_t)cases, sizeof *x->pool);
  x->n_pool = calloc((size_t)cases, sizeof *x->n_pool);
  if (e && x->pool && x->n_pool) {
    for (int64_t i = 0; i < x->n; i++)
      if (x->rows[i].mapping) e[n++] = (entry){x->rows[i].mapping, i, x->rows[i].point % cases};
    qsort(e, (size_t)n, sizeof *e, by_text);
    for (int64_t i = 0; i < n && !x->bad; i++) {
      const int64_t w = e[i].work;
      if (i > 0 && e[i - 1].work == w && !strcmp(e[i - 1].text, e[i].text)) continue;
      x->bad |= !TF_GROW(x->pool[w], x->n_pool[w]);
      if (!x->bad) x->pool[w][x->n_pool[w]++] = e[i].row;
    }
    for (int64_t w = 0; w < cases; w++)
      if (x->n_pool[w]) qsort(x->pool[w], (size_t)x->n_pool[w], sizeof **x->pool, by_number);
  } else {
    x->bad = true;
  }
  free(e);
  return !x->bad;
}

/* ---- which ---------------------------------------------------------------------------------- */
typedef struct {
  int64_t distance, row;
} neighbour;

static int by_distance(const void *a, const void *b) {
  const neighbour *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Steps along the axes of machines; another architecture is further than any of them. */
static int64_t distance(const tf_sweep_grid *g, int64_t p, int64_t q) {
  const tf_sweep_place a = tf_sweep_place_of(g, p), b = tf_sweep_place_of(g, q);
  int64_t far = 0, longest = 1;
  for (int i = 0; i < g->n_axes; i++) {
    if (g->axes[i].of_workload) continue;
    far += a.at[i] < b.at[i] ? b.at[i] - a.at[i] : a.at[i] - b.at[i];
    longest += g->axes[i].n;
  }
  return a.arch == b.arch ? far : far + longest;
}

/* The rows whose mappings are tried at a point: the pool, or its nearest part.  Malloc'd. */
static neighbour *tried_at(const exchange *x, const candidate *c, int64_t *n) {
  const tf_sweep_grid *g = &x->s->grid;
  const int64_t w = c->point % g->n_cases, all = x->n_pool[w];
  neighbour *out = calloc((size_t)all + 1, sizeof *out);
  *n = all < MOST_TRIED ? all : MOST_TRIED;
  for (int64_t i = 0; out && i < all; i++)
    out[i] = (neighbour){all > MOST_TRIED ? distance(g, c->point, x->rows[x->pool[w][i]].point) : 0,
                         x->pool[w][i]};
  if (out && all > MOST_TRIED) qsort(out, (size_t)all, sizeof *out, by_distance);
  return out;
}

/* ---- trying --------------------------------------------------------------------------------- */
/* Whether there is something to gain. */
static bool is_open(const exchange *x, const candidate *c) {
  const double have = c->figures[x->goal];
  return isnan(have) || have > c->bounds[x->goal];
}

/* Less in the objective of the searches; among equals, in the others, in the order of the sweep. */
static bool is_better(const exchange *x, const double *a, const double *b) {
  const tf_sweep_grid *g = &x->s->grid;
  if (a[x->goal] != b[x->goal]) return a[x->goal] < b[x->goal];
  for (int i = 0; i < g->n_goals; i++)
    if (a[g->goals[i]] != b[g->goals[i]]) return a[g->goals[i]] < b[g->goals[i]];
  return false;
}

static tf_sweep_row row_of(const candidate *c) {
  tf_sweep_row r = {.point = c->point, .evals = c->evals, .took = c->took};
  memcpy(r.figures, c->figures, sizeof r.figures);
  memcpy(r.bounds, c->bounds, sizeof r.bounds);
  return r;
}

static bool stopped(const exchange *x) { return x->opts->stop && x->opts->stop(x->opts->ctx); }

/* The best of the mappings at a point, and how good it is there. */
static void try_all(const exchange *x, const tf_spec *spec, const neighbour *of, int64_t n,
                    candidate *c) {
  const tf_sweep_row base = row_of(c);
  double best[TF_N_GOALS];
  sweep_found found = {0};
  memcpy(best, c->figures, sizeof best);
  if (isnan(best[x->goal])) best[x->goal] = INFINITY;
  for (int64_t i = 0; i < n && !stopped(x); i++) {
    const candidate *other = &x->rows[of[i].row];
    if (other == c || (c->mapping && !strcmp(c->mapping, other->mapping))) continue;
    if (!sweep_point_other(x->s, spec, &base, other->mapping, &found)) continue;
    if (!is_better(x, found.row.figures, best)) continue;
    memcpy(best, found.row.figures, sizeof best);
    c->best = of[i].row;
  }
  sweep_found_free(&found);
}

static void note(exchange *x, bool bad) {
  pthread_mutex_lock(&x->lock);
  x->tried++;
  x->bad |= bad;
  x->stopped |= stopped(x);
  if (x->opts->progress) x->opts->progress(x->opts->ctx, x->tried, x->n);
  pthread_mutex_unlock(&x->lock);
}

static void try_at(void *ctx, int piece, int worker) {
  exchange *x = ctx;
  candidate *c = &x->rows[piece];
  (void)worker;
  bool bad = false;
  if (is_open(x, c) && !stopped(x)) {
    int64_t n = 0;
    tf_diags *d = tf_diags_new();
    neighbour *of = tried_at(x, c, &n);
    tf_spec *spec = d && of && n ? sweep_point_spec(x->s, c->point, d) : NULL;
    bad = !d || !of;
    if (spec) try_all(x, spec, of, n, c);
    tf_spec_free(spec);
    tf_diags_free(d);
    free(of);
  }
  note(x, bad);
}

/* ---- writing -------------------------------------------------------------------------------- */
/* The row of a point with the mapping of another; counted once more, for all of its figures. */
static bool put_better(const exchange *x, tf_store *store, const candidate *c, tf_diags *d) {
  const candidate *other = &x->rows[c->best];
  const tf_sweep_row base = row_of(c);
  sweep_found found = {0};
  tf_diags *quiet = tf_diags_new();
  tf_spec *spec = quiet ? sweep_point_spec(x->s, c->point, quiet) : NULL;
  bool ok = spec && sweep_point_other(x->s, spec, &base, other->mapping, &found);
  found.row.mapping_of = other->point;
  ok = ok ? sweep_store_replace(store, &found.row, d) : tf_out_of_memory(d);
  tf_spec_free(spec);
  tf_diags_free(quiet);
  sweep_found_free(&found);
  return ok;
}

static bool write_store(const exchange *x, tf_store *store, tf_diags *d) {
  int64_t improved = 0;
  bool ok = sweep_store_begin(store, d) && sweep_store_restore(store, d);
  for (int64_t i = 0; ok && i < x->n; i++) {
    if (x->rows[i].best < 0) continue;
    ok = put_better(x, store, &x->rows[i], d);
    improved++;
  }
  ok = ok && sweep_store_note_exchange(store, x->n, improved, d) && sweep_store_commit(store, d);
  if (!ok) sweep_store_undo(store);
  return ok;
}

static void free_all(exchange *x) {
  for (int64_t i = 0; i < x->n; i++)
    free(x->rows[i].mapping);
  for (int64_t w = 0; x->pool && w < x->s->grid.n_cases; w++)
    free(x->pool[w]);
  free(x->rows);
  free(x->pool);
  free(x->n_pool);
  pthread_mutex_destroy(&x->lock);
}

bool sweep_exchange(const tf_sweep *s, tf_store *store, const sweep_exchange_opts *opts,
                    tf_diags *d) {
  bool done = false;
  exchange x = {.s = s, .opts = opts, .goal = sweep_mapped_goal(&s->grid)};
  if (!sweep_store_exchanged(store, &done, d) || done) return done;
  if (pthread_mutex_init(&x.lock, NULL) != 0) return tf_out_of_memory(d);
  bool ok = sweep_store_searched(store, add_row, &x, d);
  if (ok && !x.bad && make_pools(&x)) tf_threads_run(opts->threads, (int)x.n, try_at, &x);
  if (x.bad) ok = tf_out_of_memory(d);
  if (ok && !x.stopped) ok = write_store(&x, store, d);
  free_all(&x);
  return ok;
}
