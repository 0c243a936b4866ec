/* Branch and bound over boxes of trip counts, least bound first. */
#include "search/exact/single.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "search/common/complete.h"
#include "search/common/objective.h"
#include "search/exact/state.h"

enum { LEAF = 16, LOOK_EVERY = 1024, MODELS = 64 };
#define ALL_TENSORS ((UINT32_C(1) << TF_SINGLE_TENSORS) - 1)
#define ROUNDING 1e-12 /* the relative error of a bound */

/* An open node: a box.  Its orders and bypasses, then the spans of its variables, are in the
 * pool. */
typedef struct {
  double bound;
  int64_t no; /* order of generation, to break ties */
  int32_t at; /* its index in the pool */
} node;

/* The model of the mappings with certain bypasses; NULL: none yet. */
typedef struct {
  uint32_t past[TF_SINGLE_TILES];
  tf_tree *tree;
  tf_model *model;
} bypassed;

typedef struct {
  tf_single_space space;
  tf_x_worker *w;
  tf_x_task *task;
  tf_single_run *run;
  int64_t *trips; /* [n_loops] of a mapping */
  int32_t *pool;
  int64_t n_pool, room;
  int32_t *spare; /* free entries of the pool */
  int64_t n_spare, n_heap, no;
  node *heap;
  bypassed models[MODELS];
} searching;

/* ---- the pool ------------------------------------------------------------------------------- */
static size_t width(const searching *s) {
  return 2 * TF_SINGLE_TILES + 2 * (size_t)s->space.n_vars;
}

static void load(const searching *s, int32_t at, tf_single_part *b) {
  const int32_t *p = &s->pool[(size_t)at * width(s)];
  tf_single_ones(&s->space, b);
  for (int l = 0; l < TF_SINGLE_TILES; l++, p += 2) {
    if (l < s->space.op.n_tiles) tf_single_put_in_order(&s->space, l, p[0], b);
    b->b.held[l] = (uint32_t)p[1] & ALL_TENSORS;
    b->b.past[l] = (uint32_t)p[1] >> TF_SINGLE_TENSORS;
  }
  for (int i = 0; i < s->space.n_vars; i++, p += 2)
    *tf_single_span_of(b, &s->space.var[i]) = (tf_single_span){p[0], p[1]};
}

static void store(const searching *s, tf_single_part *b, int32_t at) {
  int32_t *p = &s->pool[(size_t)at * width(s)];
  for (int l = 0; l < TF_SINGLE_TILES; l++) {
    const bool in = l < s->space.op.n_tiles;
    *p++ = in ? b->order[l] : TF_SINGLE_NO_ORDER;
    *p++ = in ? (int32_t)(b->b.held[l] | b->b.past[l] << TF_SINGLE_TENSORS) : 0;
  }
  for (int i = 0; i < s->space.n_vars; i++) {
    const tf_single_span v = *tf_single_span_of(b, &s->space.var[i]);
    *p++ = v.lo;
    *p++ = v.hi;
  }
}

/* ---- the queue ------------------------------------------------------------------------------ */
static bool before(const node *a, const node *b) {
  return a->bound != b->bound ? a->bound < b->bound
                              : a->no > b->no; /* of equal ones the last: it is the smallest */
}

static void swap(node *a, node *b) {
  const node c = *a;
  *a = *b;
  *b = c;
}

static bool push(searching *s, node k) {
  if (!TF_GROW(s->heap, s->n_heap)) return false;
  int64_t i = s->n_heap++;
  s->heap[i] = k;
  for (; i > 0 && before(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    swap(&s->heap[i], &s->heap[(i - 1) / 2]);
  return true;
}

static node pop(searching *s) {
  const node top = s->heap[0];
  s->heap[0] = s->heap[--s->n_heap];
  for (int64_t i = 0, k; (k = 2 * i + 1) < s->n_heap; i = k) {
    if (k + 1 < s->n_heap && before(&s->heap[k + 1], &s->heap[k])) k++;
    if (!before(&s->heap[k], &s->heap[i])) break;
    swap(&s->heap[i], &s->heap[k]);
  }
  return top;
}

/* A free entry of the pool; -1: out of memory. */
static int32_t take_slot(searching *s) {
  if (s->n_spare) return s->spare[--s->n_spare];
  if (s->n_pool == s->room) {
    const int64_t room = s->room ? 2 * s->room : 1024;
    int32_t *pool =
        room < INT32_MAX ? realloc(s->pool, (size_t)room * width(s) * sizeof *pool) : NULL;
    int32_t *spare = pool ? realloc(s->spare, (size_t)room * sizeof *spare) : NULL;
    if (pool) s->pool = pool;
    if (!spare) return -1;
    s->spare = spare;
    s->room = room;
  }
  return (int32_t)s->n_pool++;
}

static double value_of(const searching *s, const tf_single_cost *l) {
  const tf_bounds *floor = s->task->floor;
  tf_figures f = {
      .cycles = fmax(l->cycles, floor->cycles),
      .energy_pj = fmax(l->energy_pj, floor->energy_pj), /* which has the leakage of its cycles */
      .traffic_words = fmax(l->traffic_words, (double)floor->traffic_words)};
  f.edp = f.energy_pj * f.cycles / s->space.op.arch->clock_hz;
  return tf_objective_value(s->task->opts->objective, &f) * (1 - ROUNDING);
}

/* Bounds a box and keeps it if it is below the limit; parent: the bound of the box it is a part
 * of. */
static bool offer(searching *s, tf_single_part *b, double parent) {
  s->run->nodes++;
  if (tf_single_symmetric_tile(&s->space, b) >= 0) return true;
  const tf_single_cost least = tf_single_bound(&s->space.op, &b->b);
  if (least.empty) return true;
  const double bound = fmax(parent, value_of(s, &least));
  if (!tf_x_below_limit(s->w, bound)) {
    s->task->counts.by_bound++;
    return true;
  }
  const int32_t at = take_slot(s);
  if (at < 0) return false;
  store(s, b, at);
  return push(s, (node){bound, s->no++, at});
}

/* ---- mappings ------------------------------------------------------------------------------- */
static void forget(bypassed *k) {
  tf_model_free(k->model);
  tf_tree_free(k->tree);
  *k = (bypassed){.model = NULL};
}

/* The model of a mapping's bypasses; NULL: out of memory. */
static const bypassed *model_of(searching *s, const tf_single_part *b) {
  bypassed *k = &s->models[tf_hash(TF_HASH_START, b->b.past, sizeof b->b.past) % MODELS];
  if (k->model && memcmp(k->past, b->b.past, sizeof k->past) == 0) return k;
  forget(k);
  tf_diags *d = tf_diags_new();
  k->tree = d ? tf_single_tree(&s->space, b) : NULL;
  k->model = k->tree ? tf_model_new(k->tree, d) : NULL;
  tf_diags_free(d);
  memcpy(k->past, b->b.past, sizeof k->past);
  return k->model ? k : NULL;
}

/* Evaluates the mapping: the worker gets the model with the mapping's bypasses for a while. */
static bool evaluate(searching *s, const tf_single_part *b) {
  s->run->nodes += LEAF;
  const bypassed *k = model_of(s, b);
  if (!k) return false;
  tf_single_trips(&s->space, b, s->trips);
  const tf_tree *tree = s->w->tree;
  tf_model *model = s->w->model;
  s->w->tree = k->tree;
  s->w->model = k->model;
  if (tf_x_spend(s->w)) tf_x_leaf(s->w, s->trips);
  s->w->tree = tree;
  s->w->model = model;
  return !s->task->failed;
}

/* Splits a box. */
static bool split(searching *s, const node *k) {
  tf_single_part b;
  load(s, k->at, &b);
  const tf_single_split cut = tf_single_split_of(&s->space, &b);
  for (int i = 0; i < cut.n; i++) {
    tf_single_part piece = b;
    if (tf_single_piece(&s->space, &cut, i, &piece) == TF_SINGLE_KEPT &&
        !offer(s, &piece, k->bound))
      return false;
  }
  return cut.n > 0 || evaluate(s, &b);
}

/* ---- the search ----------------------------------------------------------------------------- */
static bool add_root(searching *s) {
  tf_single_part b;
  tf_single_all(&s->space, &b);
  if (!s->run->bypasses) tf_single_hold_all(&s->space, &b);
  return offer(s, &b, 0);
}

static void go_on(searching *s) {
  tf_single_run *run = s->run;
  while (s->n_heap && !s->task->failed && !s->task->stopped &&
         tf_x_below_limit(s->w, s->heap[0].bound)) {
    const int64_t looked = run->nodes / LOOK_EVERY;
    run->open = s->heap[0].bound;
    if (run->nodes >= run->max_nodes) return;
    const node k = pop(s);
    if (!split(s, &k)) s->task->failed = true;
    s->spare[s->n_spare++] = k.at;
    if (run->nodes / LOOK_EVERY > looked && tf_clock_over(s->task->clock)) s->task->stopped = true;
  }
  run->done = !s->task->failed && !s->task->stopped && !s->task->unknown;
}

bool tf_single_search(tf_x_worker *w, tf_x_task *task, tf_single_run *run) {
  searching *s = calloc(1, sizeof *s);
  bool ok = s && tf_single_space_of(w->t, task->opts->objective, &s->space);
  if (ok) {
    w->task = task;
    s->w = w, s->task = task, s->run = run;
    s->trips = calloc((size_t)w->t->n_loops + 1, sizeof *s->trips);
    task->failed |= !s->trips;
    ok = s->trips && add_root(s);
  }
  if (ok) go_on(s);
  task->failed |= !s;
  if (s) {
    free(s->trips);
    free(s->pool);
    free(s->spare);
    free(s->heap);
    for (int i = 0; i < MODELS; i++)
      forget(&s->models[i]);
  }
  free(s);
  return ok && !task->failed;
}
