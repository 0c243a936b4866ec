/* Branch and bound over boxes of trip counts, least bound first. */
#include "search/exact/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "search/common/objective.h"
#include "search/exact/state.h"

enum { VARS = 3 * TF_WHOLE_TILES * TF_WHOLE_DIMS, ORDERS = 24, GROUPS = TF_X_GROUPS };
enum { LEAF = 16, LOOK_EVERY = 1024, NEARLY = 1 };
#define ROUNDING 1e-12 /* by how much a bound may be too large */

/* One number of a mapping: over how many instances of an axis a Tile spreads a dim, or in how many steps (axis -1) it
 * takes it. */
typedef struct {
  int axis, tile, dim;
} variable;

/* A box that waits.  Its order, then the spans of the variables, stand in the pool. */
typedef struct {
  double bound;
  int64_t no; /* order of generation, to break ties */
  int32_t at; /* its place in the pool */
} node;

typedef struct {
  tf_whole_op op;
  const tf_x_template *t;
  tf_x_worker *w;
  tf_x_task *task;
  tf_whole_run *run;
  /* The objective is traffic: of the Tiles further in only what reaches the first of them matters, and whatever does
   * can be taken in its temporal loops alone. */
  bool outermost;
  int n_vars;
  variable var[VARS];
  int n_groups, n_orders;
  int order[ORDERS][GROUPS]; /* groups, outermost first */
  int64_t *trips;            /* [n_loops] of a mapping */
  int32_t *pool;
  int64_t n_pool, room;
  int32_t *spare; /* places of the pool that are free again */
  int64_t n_spare, n_heap, no;
  node *heap;
} searching;

/* ---- boxes ---------------------------------------------------------------------------------------- */
enum { NO_ORDER = -1 };

/* A box, and the number of each Tile's order. */
typedef struct {
  int32_t order[TF_WHOLE_TILES];
  tf_whole_box b;
} box;

static size_t width(const searching *s) { return TF_WHOLE_TILES + 2 * (size_t)s->n_vars; }

static tf_whole_span *span_of(tf_whole_box *b, const variable *v) {
  return v->axis >= 0 ? &b->spread[v->tile][v->axis][v->dim] : &b->steps[v->tile][v->dim];
}

/* Puts the loops of a Tile in one of the orders; without one they stand at one place, and none counts as outside of
 * another. */
static void put_in_order(const searching *s, int tile, int32_t order, box *b) {
  b->order[tile] = order;
  for (int d = 0; d < s->op.n_dims; d++) {
    b->b.place[tile][d] = 0;
    for (int k = 0; k < s->n_groups && order >= 0; k++)
      if (s->order[order][k] == s->t->tiles[0].group[d]) b->b.place[tile][d] = k + 1;
  }
}

/* The box in which every number is 1. */
static void begin_box(const searching *s, box *b) {
  for (int l = 0; l < s->op.n_tiles; l++) {
    put_in_order(s, l, l > 0 && s->outermost ? 0 : NO_ORDER, b);
    for (int d = 0; d < s->op.n_dims; d++)
      b->b.spread[l][0][d] = b->b.spread[l][1][d] = b->b.steps[l][d] = (tf_whole_span){1, 1};
  }
}

static void load(const searching *s, int32_t at, box *b) {
  const int32_t *p = &s->pool[(size_t)at * width(s)];
  begin_box(s, b);
  for (int l = 0; l < s->op.n_tiles; l++)
    put_in_order(s, l, *p++, b);
  for (int i = 0; i < s->n_vars; i++, p += 2)
    *span_of(&b->b, &s->var[i]) = (tf_whole_span){p[0], p[1]};
}

static void store(const searching *s, box *b, int32_t at) {
  int32_t *p = &s->pool[(size_t)at * width(s)];
  for (int l = 0; l < s->op.n_tiles; l++)
    *p++ = b->order[l];
  for (int i = 0; i < s->n_vars; i++) {
    const tf_whole_span v = *span_of(&b->b, &s->var[i]);
    *p++ = v.lo;
    *p++ = v.hi;
  }
}

/* The steps of a dim at a Tile; of the outermost, as many as cover the extent. */
static tf_whole_span steps_of(const searching *s, const tf_whole_box *b, int tile, int d) {
  double lo = 1, hi = 1;
  if (tile > 0) return b->steps[tile][d];
  for (int l = 0; l < s->op.n_tiles; l++) {
    const tf_whole_span x = b->spread[l][0][d], y = b->spread[l][1][d];
    lo *= (double)x.lo * y.lo * (l ? b->steps[l][d].lo : 1);
    hi *= (double)x.hi * y.hi * (l ? b->steps[l][d].hi : 1);
  }
  return (tf_whole_span){(int32_t)fmax(1, ceil(s->op.extent[d] / hi)), (int32_t)fmax(1, ceil(s->op.extent[d] / lo))};
}

/* The fewest and most steps of any dim of a group. */
static tf_whole_span turns_of(const searching *s, const tf_whole_box *b, int tile, int group) {
  tf_whole_span most = {1, 1};
  for (int d = 0; d < s->op.n_dims; d++) {
    if (s->t->tiles[0].group[d] != group) continue;
    const tf_whole_span t = steps_of(s, b, tile, d);
    if (t.lo > most.lo) most.lo = t.lo;
    if (t.hi > most.hi) most.hi = t.hi;
  }
  return most;
}

/* Of orders that differ by loops of one step alone, one is enough: these stand inside, in the order of the groups. */
static bool first_order(const searching *s, const box *b) {
  for (int l = 0; l + 1 < s->op.n_tiles && !(l > 0 && s->outermost); l++) {
    const int *g = s->order[b->order[l] < 0 ? 0 : b->order[l]];
    for (int i = 0; i < s->n_groups && b->order[l] >= 0; i++)
      for (int j = i + 1; j < s->n_groups && turns_of(s, &b->b, l, g[i]).hi == 1; j++) {
        const tf_whole_span inner = turns_of(s, &b->b, l, g[j]);
        if (inner.lo > 1 || (inner.hi == 1 && g[i] > g[j])) return false;
      }
  }
  return true;
}

/* ---- spreads -------------------------------------------------------------------------------------- */
/* Takes what the mesh does not hold off the spans of an axis; false if nothing is left.  Where a dim is spread along
 * one side at most, what lies on this axis leaves the other. */
static bool tighten(const searching *s, int tile, int axis, tf_whole_box *b) {
  tf_whole_span *p = b->spread[tile][axis], *other = b->spread[tile][1 - axis];
  int64_t least = 1;
  int on = 0;
  for (int d = 0; d < s->op.n_dims; d++) {
    least *= p[d].lo;
    on += p[d].lo > 1;
    if (least > s->op.mesh[tile][axis] || on > TF_WHOLE_ON_AN_AXIS) return false;
    if (p[d].lo == 1 || !s->t->tiles[tile].one_side) continue;
    if (other[d].lo > 1) return false;
    other[d].hi = 1;
  }
  for (int d = 0; d < s->op.n_dims; d++) {
    const int64_t most = on == TF_WHOLE_ON_AN_AXIS && p[d].lo == 1 ? 1 : s->op.mesh[tile][axis] / (least / p[d].lo);
    if (p[d].hi > most) p[d].hi = (int32_t)most;
  }
  return true;
}

typedef struct {
  const searching *s;
  int tile, on[2];
  int64_t used[2];
  int64_t all[TF_WHOLE_DIMS], x[TF_WHOLE_DIMS]; /* instances of each dim, and those of them on X */
} layout;

/* Lays dims d .. out, with as much on X as there may be, first dims first. */
static bool lay_out(layout *y, int d) {
  if (d == y->s->op.n_dims) return true;
  const int64_t *mesh = y->s->op.mesh[y->tile];
  const int64_t room = mesh[0] / y->used[0];
  for (int64_t x = y->all[d] < room ? y->all[d] : room; x > 0; x--) {
    const int64_t on[2] = {x, y->all[d] / x};
    if (y->all[d] % x || on[1] > mesh[1] / y->used[1]) continue;
    if (y->on[0] + (on[0] > 1) > TF_WHOLE_ON_AN_AXIS || y->on[1] + (on[1] > 1) > TF_WHOLE_ON_AN_AXIS) continue;
    if (y->s->t->tiles[y->tile].one_side && on[0] > 1 && on[1] > 1) continue;
    layout next = *y;
    next.x[d] = x;
    for (int a = 0; a < 2; a++) {
      next.used[a] *= on[a];
      next.on[a] += on[a] > 1;
    }
    if (lay_out(&next, d + 1)) {
      *y = next;
      return true;
    }
  }
  return false;
}

/* Counts depend on the product of what a dim has on both axes: of the ways to lay that out one is enough.  Known once
 * the Tile's spread is. */
static bool laid_out_first(const searching *s, int tile, const tf_whole_box *b) {
  layout y = {.s = s, .tile = tile, .used = {1, 1}};
  for (int d = 0; d < s->op.n_dims; d++) {
    const tf_whole_span on_x = b->spread[tile][0][d], on_y = b->spread[tile][1][d];
    if (on_x.lo < on_x.hi || on_y.lo < on_y.hi) return true;
    y.all[d] = (int64_t)on_x.lo * on_y.lo;
  }
  bool first = lay_out(&y, 0);
  for (int d = 0; d < s->op.n_dims; d++)
    first &= y.x[d] == b->spread[tile][0][d].lo;
  return first;
}

/* ---- the queue ------------------------------------------------------------------------------------ */
static bool before(const node *a, const node *b) {
  return a->bound != b->bound ? a->bound < b->bound : a->no > b->no; /* of equal ones the last: it is the smallest */
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

/* A free place of the pool; -1: out of memory. */
static int32_t place(searching *s) {
  if (s->n_spare) return s->spare[--s->n_spare];
  if (s->n_pool == s->room) {
    const int64_t room = s->room ? 2 * s->room : 1024;
    int32_t *pool = room < INT32_MAX ? realloc(s->pool, (size_t)room * width(s) * sizeof *pool) : NULL;
    int32_t *spare = pool ? realloc(s->spare, (size_t)room * sizeof *spare) : NULL;
    if (pool) s->pool = pool;
    if (!spare) return -1;
    s->spare = spare;
    s->room = room;
  }
  return (int32_t)s->n_pool++;
}

static double value_of(const searching *s, const tf_whole_least *l) {
  const tf_bounds *floor = s->task->floor;
  tf_figures f = {.cycles = fmax(l->cycles, floor->cycles),
                  .energy_pj = fmax(l->energy_pj, floor->energy_pj), /* which has the leakage of its cycles */
                  .traffic_words = fmax(l->traffic_words, (double)floor->traffic_words)};
  f.edp = f.energy_pj * f.cycles / s->op.arch->clock_hz;
  return tf_objective_value(s->task->opts->objective, &f) * (1 - ROUNDING);
}

/* Bounds a box and keeps it if it promises; parent: a bound of what it is a part of. */
static bool offer(searching *s, box *b, double parent) {
  s->run->nodes++;
  if (!first_order(s, b)) return true;
  const tf_whole_least least = tf_whole_bound(&s->op, &b->b);
  if (least.empty) return true;
  const double bound = fmax(parent, value_of(s, &least));
  if (!tf_x_promises(s->w, bound)) {
    s->task->counts.by_bound++;
    return true;
  }
  const int32_t at = place(s);
  if (at < 0) return false;
  store(s, b, at);
  return push(s, (node){bound, s->no++, at});
}

/* ---- mappings ------------------------------------------------------------------------------------- */
/* Writes one Tile of the only mapping of a box. */
static void write_tile(searching *s, const box *b, int l) {
  const tf_x_template *t = s->t;
  const tf_op *op = &t->facts->wl->ops[0];
  const bool last = l == s->op.n_tiles - 1;
  int32_t steps[TF_X_DIMS] = {1};
  int turning[GROUPS], n = 0;
  tf_x_spread spread;
  for (int d = 0; d < s->op.n_dims; d++) {
    steps[d] = steps_of(s, &b->b, l, d).lo;
    for (int a = 0; a < 2; a++)
      spread.on[a][d] = b->b.spread[l][a][d].lo;
  }
  for (int k = 0; k < s->n_groups && !last; k++)
    if (turns_of(s, &b->b, l, s->order[b->order[l]][k]).lo > 1) turning[n++] = s->order[b->order[l]][k];
  if (l < t->n_tiles) tf_x_write(&t->tiles[l], &spread, steps, turning, n, s->trips);
  for (int i = 0; i < op->n_dims && last; i++)
    for (int d = 0; d < s->op.n_dims; d++)
      if (t->tiles[0].dims[d] == op->dims[i]) s->trips[t->rest[0][i]] = steps[d];
}

static bool evaluate(searching *s, const box *b) {
  s->run->nodes += LEAF;
  for (int l = 0; l < s->t->n_loops; l++)
    s->trips[l] = 1;
  for (int l = 0; l < s->op.n_tiles; l++)
    write_tile(s, b, l);
  if (tf_x_spend(s->w)) tf_x_leaf(s->w, s->trips);
  return !s->task->failed;
}

/* ---- parts of a box ------------------------------------------------------------------------------- */
/* The variable that is known least; -1: all are single numbers.  *ratio: of its largest to its least number. */
static int widest(const searching *s, box *b, bool spread, double *ratio) {
  int best = -1;
  *ratio = 1;
  for (int i = 0; i < s->n_vars; i++) {
    const tf_whole_span p = *span_of(&b->b, &s->var[i]);
    if ((s->var[i].axis >= 0) == spread && (double)p.hi / p.lo > *ratio) *ratio = (double)p.hi / p.lo, best = i;
  }
  return best;
}

static bool halve(searching *s, const box *b, const variable *v, double bound) {
  box part = *b;
  const tf_whole_span all = *span_of(&part.b, v);
  const int32_t mid = (int32_t)fmin(all.hi - 1, fmax(all.lo, floor(sqrt((double)all.lo * all.hi))));
  for (int half = 0; half < 2; half++) {
    part = *b;
    *span_of(&part.b, v) = half ? (tf_whole_span){mid + 1, all.hi} : (tf_whole_span){all.lo, mid};
    if (v->axis >= 0 && !(tighten(s, v->tile, v->axis, &part.b) && laid_out_first(s, v->tile, &part.b))) continue;
    if (!offer(s, &part, bound)) return false;
  }
  return true;
}

static bool put_in_orders(searching *s, box *b, int tile, double bound) {
  for (int32_t order = 0; order < s->n_orders; order++) {
    put_in_order(s, tile, order, b);
    if (!offer(s, b, bound)) return false;
  }
  return true;
}

/* The outermost Tile whose loops are in no order; -1: none. */
static int without_order(const searching *s, const box *b) {
  for (int l = 0; l + 1 < s->op.n_tiles; l++)
    if (b->order[l] < 0) return l;
  return -1;
}

/* Takes a box apart: first its spreads, then the outermost order, then its steps; the other orders, which mostly matter
 * less, once these are nearly known. */
static bool take_apart(searching *s, const node *k) {
  double ratio;
  box b;
  load(s, k->at, &b);
  int i = widest(s, &b, true, &ratio);
  const int l = without_order(s, &b);
  if (i >= 0) return halve(s, &b, &s->var[i], k->bound);
  i = widest(s, &b, false, &ratio);
  if (l == 0 || (l > 0 && ratio <= NEARLY)) return put_in_orders(s, &b, l, k->bound);
  return i < 0 ? evaluate(s, &b) : halve(s, &b, &s->var[i], k->bound);
}

/* ---- the search ----------------------------------------------------------------------------------- */
/* All orders of the groups. */
static void list_orders(searching *s, int *order, int n, unsigned used) {
  if (n == s->n_groups) {
    memcpy(s->order[s->n_orders++], order, (size_t)n * sizeof *order);
    return;
  }
  for (int g = 0; g < s->n_groups && n < GROUPS; g++)
    if (!(used >> g & 1)) {
      order[n] = g;
      list_orders(s, order, n + 1, used | 1u << g);
    }
}

static void list_variables(searching *s) {
  for (int l = 0; l < s->op.n_tiles; l++)
    for (int d = 0; d < s->op.n_dims; d++) {
      for (int a = 0; a < 2; a++)
        if (s->op.mesh[l][a] > 1 && !(l > 0 && s->outermost)) s->var[s->n_vars++] = (variable){a, l, d};
      if (l == 1 || (l > 1 && !s->outermost)) s->var[s->n_vars++] = (variable){-1, l, d};
    }
}

static bool add_root(searching *s) {
  box b;
  begin_box(s, &b);
  for (int i = 0; i < s->n_vars; i++) {
    const variable *v = &s->var[i];
    const double extent = s->op.extent[v->dim];
    span_of(&b.b, v)->hi = (int32_t)(v->axis < 0 ? extent : fmin((double)s->op.mesh[v->tile][v->axis], extent));
  }
  return offer(s, &b, 0);
}

static void go_on(searching *s) {
  tf_whole_run *run = s->run;
  while (s->n_heap && !s->task->failed && !s->task->cut && tf_x_promises(s->w, s->heap[0].bound)) {
    const int64_t looked = run->nodes / LOOK_EVERY;
    run->open = s->heap[0].bound;
    if (run->nodes >= run->most) return;
    const node k = pop(s);
    if (!take_apart(s, &k)) s->task->failed = true;
    s->spare[s->n_spare++] = k.at;
    if (run->nodes / LOOK_EVERY > looked && tf_watch_over(s->task->watch)) s->task->cut = true;
  }
  run->done = !s->task->failed && !s->task->cut && !s->task->unknown;
}

bool tf_whole_search(tf_x_worker *w, tf_x_task *task, tf_whole_run *run) {
  searching *s = calloc(1, sizeof *s);
  int order[GROUPS] = {0};
  bool ok = s && tf_whole_op_of(w->t, &s->op);
  if (ok) {
    w->task = task;
    s->w = w, s->t = w->t, s->task = task, s->run = run;
    s->outermost = task->opts->objective == TF_TRAFFIC;
    s->n_groups = w->t->tiles[0].n_groups;
    list_orders(s, order, 0, 0);
    list_variables(s);
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
  }
  free(s);
  return ok && !task->failed;
}
