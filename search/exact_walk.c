#include "search/exact_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/complete.h"

enum { MEMO = 4096, LOOK_EVERY = 256, RULES = 1024 };

/* What a mesh can be filled with, remembered. */
typedef struct {
  int64_t mesh[2];
  int32_t len[TF_X_DIMS];
  int n;
  double fill;
} memo;

/* Whether a tree whose turning loops have this hash is legal, remembered: 0 not known, 1 legal, 2 not. */
typedef struct {
  uint64_t hash;
  int legal;
} rule;

struct tf_x_worker {
  const tf_x_template *t;
  int number;
  tf_arena *arena;
  tf_model *model;
  tf_trips *trips;
  int *loop_op;      /* [n_loops] whose own loop it is, -1: shared */
  bool *loop_rest;   /* [n_loops] takes what is left */
  bool *loop_spread; /* [n_loops] */
  memo *memos;
  rule *rules;
  tf_x_task *task;
};

/* Trip counts with everything that is open in the last Tiles, and the lengths that reach each op's own Tiles. */
typedef struct {
  int64_t *trips; /* [n_loops] */
  int32_t *left;  /* [slots] */
} state;

/* ---- a worker --------------------------------------------------------------------------------- */
static void mark_loops(tf_x_worker *w) {
  const tf_facts *f = w->t->facts;
  for (int n = 0; n < w->t->tree->n_nodes; n++) {
    const tf_node *node = &w->t->tree->nodes[n];
    bool own = f->leaf_end[n] - f->leaf_from[n] == 1;
    for (int k = 0; node->kind == TF_TILE && k < node->n_loops; k++) {
      int l = f->loop_from[n] + k;
      w->loop_op[l] = own ? f->leaf_op[f->leaf_from[n]] : -1;
      w->loop_spread[l] = node->loops[k].axis != TF_TEMPORAL;
      w->loop_rest[l] = own && !w->loop_spread[l] && w->t->tree->nodes[node->children[0]].kind == TF_OP;
    }
  }
}

tf_x_worker *tf_x_worker_new(const tf_x_template *t, int number, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_x_worker *w = a ? TF_NEW(a, tf_x_worker) : NULL;
  size_t loops = (size_t)t->n_loops + 1;
  if (w) {
    *w = (tf_x_worker){.t = t, .number = number, .arena = a, .model = tf_model_new(t->tree, d),
                       .trips = tf_trips_new(t->tree, d)};
    w->loop_op = TF_ARRAY(a, int, loops);
    w->loop_rest = TF_ARRAY(a, bool, loops);
    w->loop_spread = TF_ARRAY(a, bool, loops);
    w->memos = TF_ARRAY(a, memo, MEMO);
    w->rules = TF_ARRAY(a, rule, RULES);
    if (w->model && w->trips && w->loop_op && w->loop_rest && w->loop_spread && w->memos && w->rules) {
      mark_loops(w);
      return w;
    }
    tf_model_free(w->model);
    tf_trips_free(w->trips);
  }
  tf_arena_free(a);
  return NULL;
}

void tf_x_worker_free(tf_x_worker *w) {
  if (!w) return;
  tf_model_free(w->model);
  tf_trips_free(w->trips);
  tf_arena_free(w->arena);
}

static bool new_state(const tf_x_worker *w, state *s) {
  s->trips = malloc(((size_t)w->t->n_loops + 1) * sizeof *s->trips);
  s->left = malloc(((size_t)w->trips->n_slots + 1) * sizeof *s->left);
  return s->trips && s->left;
}

static void free_state(state *s) {
  free(s->trips);
  free(s->left);
}

/* ---- stopping --------------------------------------------------------------------------------- */
static bool passed(const struct timespec *end) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

/* Counts one evaluation; false where the task must stop. */
static bool spend(tf_x_worker *w) {
  tf_x_task *k = w->task;
  k->counts.evals++;
  if (k->most_evals && k->counts.evals >= k->most_evals) k->cut = true;
  if (k->counts.evals % LOOK_EVERY) return !k->cut;
  int why = 0, none = 0;
  if (k->opts->stop && k->opts->stop(k->opts->ctx))
    why = 1 + TF_STOP_INTERRUPT;
  else if (k->opts->time_limit > 0 && passed(k->end))
    why = 1 + TF_STOP_TIME;
  if (why) atomic_compare_exchange_strong(k->halt, &none, why);
  if (atomic_load_explicit(k->halt, memory_order_relaxed)) k->cut = true;
  return !k->cut;
}

/* ---- completing ------------------------------------------------------------------------------- */
/* Gives the ops' own loops one step each but the last, which take all that reaches them; notes what that is. */
static void complete(tf_x_worker *w, state *s) {
  tf_trips *t = w->trips;
  const tf_facts *f = w->t->facts;
  bool met[TF_X_OPS] = {false};
  tf_trips_begin(t);
  memcpy(s->left, t->len, (size_t)t->n_slots * sizeof *s->left);
  for (int i = 0; i < t->n; i++) {
    const tf_decision *d = &t->at[i];
    int op = w->loop_op[d->loop];
    if (op >= 0) {
      tf_trips_enter(t, i);
      size_t from = (size_t)f->dim_from[op];
      if (!met[op])
        memcpy(&s->left[from], &t->len[from], (size_t)f->wl->ops[op].n_dims * sizeof *s->left);
      met[op] = true;
      s->trips[d->loop] = w->loop_rest[d->loop] ? t->len[d->slots[0]] : 1;
    }
    tf_trips_take(t, i, (int32_t)s->trips[d->loop]);
  }
}

/* ---- bounds ----------------------------------------------------------------------------------- */
static double fill(tf_x_worker *w, const int64_t mesh[2], const int32_t *len, int n) {
  uint64_t h = TF_HASH_START;
  h = tf_hash(h, mesh, 2 * sizeof *mesh);
  h = tf_hash(h, len, (size_t)n * sizeof *len);
  memo *m = &w->memos[h % MEMO];
  if (m->n != n + 1 || m->mesh[0] != mesh[0] || m->mesh[1] != mesh[1] ||
      memcmp(m->len, len, (size_t)n * sizeof *len) != 0) {
    m->n = n + 1;
    m->mesh[0] = mesh[0], m->mesh[1] = mesh[1];
    memcpy(m->len, len, (size_t)n * sizeof *len);
    m->fill = tf_x_fill(mesh, len, n);
  }
  return m->fill;
}

/* The most units that op o gets once Tiles 0 .. stage are chosen: those it has, and what the other Tiles on its path
 * can fill with the lengths that are left. */
static double most_units(tf_x_worker *w, int o, int stage, const state *s) {
  const tf_x_template *t = w->t;
  const tf_facts *f = t->facts;
  int32_t len[TF_X_DIMS];
  double units = 1;
  int n = 0;
  for (int p = t->tree->op_node[o]; p >= 0; p = t->tree->nodes[p].parent)
    for (int k = 0; t->tree->nodes[p].kind == TF_TILE && k < t->tree->nodes[p].n_loops; k++)
      if (t->tree->nodes[p].loops[k].axis != TF_TEMPORAL) units *= (double)s->trips[f->loop_from[p] + k];
  for (int i = 0; i < f->wl->ops[o].n_dims; i++)
    if (t->rest[o][i] >= 0 && n < TF_X_DIMS) len[n++] = (int32_t)s->trips[t->rest[o][i]];
  for (int k = 0; k < t->n_paths[o]; k++) {
    const tf_x_tile *x = &t->tiles[t->path[o][k]];
    if (t->path[o][k] > stage && (x->mesh[0] > 1 || x->mesh[1] > 1)) units *= fill(w, x->mesh, len, n);
  }
  return units;
}

static tf_figures figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r) {
  tf_figures f = {.cycles = r->cycles, .energy_pj = r->energy_pj, .edp = r->energy_pj * r->seconds};
  for (int z = 0; z < wl->n_tensors; z++)
    f.traffic_words += (double)(r->counts[z].read + r->counts[z].update);
  for (int l = 1; l < arch->n_memories; l++)
    f.held_words += (double)r->levels[l].peak * (double)r->levels[l].instances;
  return f;
}

static double value_of(const tf_figures *f, tf_objective o) {
  const double values[] = {[TF_LATENCY] = f->cycles, [TF_ENERGY] = f->energy_pj, [TF_EDP] = f->edp,
                           [TF_TRAFFIC] = f->traffic_words};
  return values[o];
}

static double bound_of(const tf_x_worker *w, const tf_result *r) {
  const tf_arch *arch = w->t->facts->arch;
  const tf_bounds *b = w->task->floor;
  tf_figures f = figures_of(arch, w->t->facts->wl, r);
  f.cycles = fmax(f.cycles, b->cycles);
  f.energy_pj = fmax(f.energy_pj, b->energy_pj);
  f.traffic_words = fmax(f.traffic_words, (double)b->traffic_words);
  f.edp = f.energy_pj * f.cycles / arch->clock_hz;
  return value_of(&f, w->task->opts->objective);
}

/* Below the limit by more than rounding. */
static bool promises(const tf_x_worker *w, double bound) {
  return bound < w->task->limit * (1 - 1e-12);
}

static void note_level(tf_x_worker *w, int level, int64_t need) {
  tf_solve_level *l = &w->task->counts.level[level];
  l->pruned++;
  if (need < l->least) l->least = need;
}

/* Whether what is decided fits: the peaks of settled memories are those of every completion, and a closed m-tile's
 * words are part of its memory's. */
static bool fits_so_far(tf_x_worker *w, const tf_x_tile *x, const tf_result *r) {
  const tf_arch *arch = w->t->facts->arch;
  for (int l = 0; l < arch->n_memories; l++) {
    int64_t have = arch->memories[l].capacity_words;
    if (have < 0 || !x->settled[l] || r->levels[l].peak <= have) continue;
    note_level(w, l, r->levels[l].peak);
    return false;
  }
  return true;
}

/* ---- leaves ----------------------------------------------------------------------------------- */
static bool is_legal(tf_x_worker *w, const int64_t *trips, char **text) {
  *text = tf_complete_text(w->t->tree, trips);
  if (!*text) w->task->failed = true;
  return *text && tf_complete_legal(w->t->tree, *text);
}

/* The same, remembered by which loops turn. */
static bool turns_legally(tf_x_worker *w, const int64_t *trips) {
  uint64_t h = TF_HASH_START;
  for (int l = 0; l < w->t->n_loops; l++) {
    unsigned char turns = trips[l] > 1;
    h = tf_hash(h, &turns, 1);
  }
  rule *r = &w->rules[h % RULES];
  if (r->hash != h || !r->legal) {
    char *text;
    *r = (rule){h, is_legal(w, trips, &text) ? 1 : 2};
    free(text);
  }
  return r->legal == 1;
}

static void offer(tf_x_worker *w, const int64_t *trips, const tf_result *r) {
  tf_x_task *k = w->task;
  tf_figures f = figures_of(w->t->facts->arch, w->t->facts->wl, r);
  double value = value_of(&f, k->opts->objective);
  char *text;
  if (!promises(w, value)) {
    k->counts.by_bound++;
    return;
  }
  if (!is_legal(w, trips, &text)) {
    k->counts.by_rules++;
    free(text);
    return;
  }
  free(k->best.text);
  k->best = (tf_x_best){true, value, f, text};
  k->limit = value;
}

static void note_violations(tf_x_worker *w, const tf_result *r) {
  const tf_violation *v = &r->violations[0];
  if (v->code == TF_E_CAPACITY)
    note_level(w, v->level, v->need);
  else
    w->task->counts.by_mesh++;
}

static void leaf(tf_x_worker *w, const int64_t *trips) {
  tf_result r;
  if (!tf_model_eval(w->model, trips, &r)) {
    w->task->counts.by_rules++; /* a count passes 2^63, or the trip counts do not cover */
    return;
  }
  if (r.feasible)
    offer(w, trips, &r);
  else
    note_violations(w, &r);
}

/* ---- choices of a Tile -------------------------------------------------------------------------- */
typedef struct {
  double bound;
  int64_t no;
  int32_t *trips; /* of the Tile's loops; lies in the list's pool */
} choice;

typedef struct {
  choice *list;
  int64_t n, room;
  tf_arena *pool;
} choices;

/* What the visitor of a Tile's choices works with. */
typedef struct {
  tf_x_worker *w;
  int stage;
  const state *base;
  state now;
  bool *open_before;      /* of the stage before */
  double units[TF_X_OPS], before[TF_X_OPS];
  int32_t len[TF_X_DIMS];
  double parent;          /* bound of what is chosen before */
  choices *out;
  int64_t no;
} scene;

static bool keep_choice(scene *c, double bound) {
  const tf_x_tile *x = &c->w->t->tiles[c->stage];
  choices *out = c->out;
  if (out->n == out->room) {
    int64_t room = out->room ? 2 * out->room : 64;
    choice *list = realloc(out->list, (size_t)room * sizeof *list);
    if (!list) return false;
    out->list = list;
    out->room = room;
  }
  int32_t *trips = TF_ARRAY(out->pool, int32_t, (size_t)x->n_loops + 1);
  if (!trips) return false;
  for (int i = 0; i < x->n_loops; i++)
    trips[i] = (int32_t)c->now.trips[x->first_loop + i];
  out->list[out->n++] = (choice){bound, c->no++, trips};
  return true;
}

/* The loops that take what is left of op o's dims. */
static void set_rest(const tf_x_worker *w, const tf_x_tile *x, const state *base, const tf_x_spread *s,
                     const int32_t *t, state *now) {
  for (int i = 0; i < w->t->facts->wl->ops[x->op].n_dims; i++)
    if (w->t->rest[x->op][i] >= 0) now->trips[w->t->rest[x->op][i]] = base->left[w->t->facts->dim_from[x->op] + i];
  for (int i = 0; i < x->n_dims; i++) {
    int slot = x->slot[i] - w->t->facts->dim_from[x->op];
    int32_t inside = base->left[x->slot[i]] / (s->on[0][i] * s->on[1][i]);
    if (w->t->rest[x->op][slot] >= 0) now->trips[w->t->rest[x->op][slot]] = x->last ? inside : inside / t[i];
  }
}

static bool take(void *ctx, const tf_x_spread *s, const int32_t *t, const int *order, int n_order) {
  scene *c = ctx;
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  tf_result r;
  memcpy(c->now.trips, c->base->trips, (size_t)w->t->n_loops * sizeof *c->now.trips);
  tf_x_write(x, s, t, order, n_order, c->now.trips);
  if (x->op >= 0)
    set_rest(w, x, c->base, s, t, &c->now);
  else
    complete(w, &c->now);
  if (x->op < 0 && !turns_legally(w, c->now.trips)) {
    w->task->counts.by_rules++;
    return true;
  }
  if (!spend(w)) return false;
  if (x->complete) {
    leaf(w, c->now.trips);
    return !w->task->failed;
  }
  double bound = c->parent;
  for (int o = 0; o < w->t->facts->wl->n_ops; o++)
    c->units[o] = x->op < 0 || x->op == o ? most_units(w, o, c->stage, &c->now) : c->before[o];
  tf_open open = {x->open, c->units};
  if (!tf_model_partial(w->model, c->now.trips, &open, &r)) {
    w->task->counts.by_rules++;
    return true;
  }
  if (!fits_so_far(w, x, &r)) return true;
  if (x->bounds) bound = fmax(bound, bound_of(w, &r));
  if (!promises(w, bound)) {
    w->task->counts.by_bound++;
    return true;
  }
  if (!keep_choice(c, bound)) w->task->failed = true;
  return !w->task->failed;
}

/* With the units that a spread gives the op, and nothing else of the Tile decided. */
static bool spread(void *ctx, const tf_x_spread *s) {
  scene *c = ctx;
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  tf_objective goal = w->task->opts->objective;
  if (x->op < 0 || (goal != TF_LATENCY && goal != TF_EDP) || !c->open_before) return true;
  int32_t ones[TF_X_DIMS];
  tf_result r;
  for (int i = 0; i < TF_X_DIMS; i++)
    ones[i] = 1;
  memcpy(c->now.trips, c->base->trips, (size_t)w->t->n_loops * sizeof *c->now.trips);
  tf_x_write(x, s, ones, NULL, 0, c->now.trips);
  set_rest(w, x, c->base, s, ones, &c->now);
  memcpy(c->units, c->before, sizeof c->units);
  c->units[x->op] = most_units(w, x->op, c->stage, &c->now);
  tf_open open = {c->open_before, c->units};
  if (!spend(w)) return false;
  if (!tf_model_partial(w->model, c->base->trips, &open, &r)) return true;
  if (promises(w, bound_of(w, &r))) return true;
  w->task->counts.by_bound++;
  return false;
}

/* Words that the op's operands and output take below the Tile, in the memory of the next Tile. */
static bool holds(void *ctx, const int32_t *inside) {
  scene *c = ctx;
  const tf_x_tile *x = &c->w->t->tiles[c->stage];
  const tf_facts *f = c->w->t->facts;
  int o = x->op < 0 ? f->wl->topo[f->wl->n_ops - 1] : x->op, level = x->level + 1;
  int child = f->tree->nodes[x->node].children[0];
  while (f->tree->nodes[child].kind == TF_SCOPE)
    child = f->tree->nodes[child].children[f->tree->nodes[child].n_children - 1];
  if (x->last || f->tree->nodes[child].kind != TF_TILE || f->tree->nodes[child].level != level) return true;
  const tf_memory *mem = &f->arch->memories[level];
  if (mem->capacity_words < 0) return true;
  int32_t len[256];
  for (int i = 0; i < f->wl->ops[o].n_dims; i++)
    len[f->wl->ops[o].dims[i]] = c->base->left[f->dim_from[o] + i];
  for (int i = 0; i < x->n_dims; i++)
    len[x->dims[i]] = inside[i];
  double bits = 0;
  bool met[64] = {false};
  for (int k = -1; k < f->wl->ops[o].n_reads; k++) {
    int z = k < 0 ? f->wl->ops[o].out : f->wl->ops[o].reads[k].tensor;
    const tf_tensor *tensor = &f->wl->tensors[z];
    double box = tensor->word_bits;
    if (met[z] || tf_tree_home(f->tree, z) >= level) continue;
    met[z] = true;
    for (int r = 0; r < tensor->rank; r++) {
      double n = 1;
      if (k < 0)
        n = len[f->wl->ops[o].dims[r]];
      else
        for (int j = 0; j < f->wl->ops[o].reads[k].index[r].n_terms; j++) {
          const tf_term *term = &f->wl->ops[o].reads[k].index[r].terms[j];
          n += (double)(term->coef < 0 ? -term->coef : term->coef) * (len[term->dim] - 1);
        }
      box *= fmin(n, (double)tensor->extent[r]);
    }
    bits += box;
  }
  int64_t words = (int64_t)ceil(bits * (mem->double_buffered ? 2 : 1) / mem->word_bits);
  if (words <= mem->capacity_words) return true;
  note_level(c->w, level, words);
  return false;
}

static int by_bound(const void *a, const void *b) {
  const choice *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  return x->no < y->no ? -1 : x->no > y->no;
}

static bool list_choices(tf_x_worker *w, int stage, const state *base, double parent, choices *out) {
  const tf_x_tile *x = &w->t->tiles[stage];
  scene c = {.w = w, .stage = stage, .base = base, .parent = parent, .out = out};
  *out = (choices){.pool = tf_arena_new()};
  if (!out->pool || !new_state(w, &c.now)) {
    w->task->failed = true;
    return false;
  }
  memcpy(c.now.left, base->left, (size_t)w->trips->n_slots * sizeof *base->left);
  if (stage > 0 && w->t->tiles[stage - 1].bounds) c.open_before = w->t->tiles[stage - 1].open;
  for (int o = 0; o < w->t->facts->wl->n_ops; o++)
    c.before[o] = most_units(w, o, stage - 1, base);
  for (int i = 0; i < x->n_dims; i++)
    c.len[i] = base->left[x->slot[i]];
  const tf_x_visitor v = {&c, spread, holds, take};
  tf_x_choices(x, c.len, &v);
  free_state(&c.now);
  if (out->n) qsort(out->list, (size_t)out->n, sizeof *out->list, by_bound);
  return !w->task->failed && !w->task->cut;
}

static void free_choices(choices *c) {
  free(c->list);
  tf_arena_free(c->pool);
}

/* The state behind a choice. */
static void enter(tf_x_worker *w, int stage, const state *base, const int32_t *trips, state *out) {
  const tf_x_tile *x = &w->t->tiles[stage];
  memcpy(out->trips, base->trips, (size_t)w->t->n_loops * sizeof *out->trips);
  memcpy(out->left, base->left, (size_t)w->trips->n_slots * sizeof *out->left);
  for (int i = 0; i < x->n_loops; i++)
    out->trips[x->first_loop + i] = trips[i];
  if (x->op < 0) {
    complete(w, out);
    return;
  }
  for (int k = 0; k < x->n_loops; k++) {
    int slot = w->t->facts->dim_from[x->op] + tf_dim_slot(w->t->facts, x->op, w->t->tree->nodes[x->node].loops[k].dim);
    if (!x->last || w->loop_spread[x->first_loop + k]) out->left[slot] /= trips[k];
  }
  for (int i = 0; i < w->t->facts->wl->ops[x->op].n_dims; i++)
    if (w->t->rest[x->op][i] >= 0) out->trips[w->t->rest[x->op][i]] = out->left[w->t->facts->dim_from[x->op] + i];
}

static void walk(tf_x_worker *w, int stage, const state *base, double parent) {
  choices list;
  state next;
  if (!list_choices(w, stage, base, parent, &list) || !new_state(w, &next)) {
    free_choices(&list);
    return;
  }
  for (int64_t i = 0; i < list.n && !w->task->cut && !w->task->failed; i++) {
    if (!promises(w, list.list[i].bound)) {
      w->task->counts.by_bound += list.n - i;
      break;
    }
    enter(w, stage, base, list.list[i].trips, &next);
    walk(w, stage + 1, &next, list.list[i].bound);
  }
  free_state(&next);
  free_choices(&list);
}

/* ---- from outside ----------------------------------------------------------------------------- */
static void begin(tf_x_worker *w, tf_x_task *task, state *s) {
  w->task = task;
  for (int l = 0; l < w->t->n_loops; l++)
    s->trips[l] = 1;
  complete(w, s);
}

static bool add_head(tf_x_heads *h, int template, int32_t *trips, double bound, int64_t no) {
  if (h->n == h->room) {
    int64_t room = h->room ? 2 * h->room : 256;
    tf_x_head *list = realloc(h->list, (size_t)room * sizeof *list);
    if (!list) return false;
    h->list = list;
    h->room = room;
  }
  h->list[h->n++] = (tf_x_head){bound, template, no, trips};
  return true;
}

static void copy_heads(tf_x_worker *w, const choices *from, tf_x_heads *out) {
  size_t bytes = ((size_t)w->t->tiles[0].n_loops + 1) * sizeof(int32_t);
  for (int64_t i = 0; i < from->n && !w->task->failed; i++) {
    int32_t *trips = malloc(bytes);
    if (trips) memcpy(trips, from->list[i].trips, bytes);
    if (trips && add_head(out, w->number, trips, from->list[i].bound, from->list[i].no)) continue;
    free(trips);
    w->task->failed = true;
  }
}

void tf_x_heads_of(tf_x_worker *w, tf_x_task *task, tf_x_heads *out) {
  state s;
  choices list;
  if (!new_state(w, &s)) {
    task->failed = true;
    return;
  }
  begin(w, task, &s);
  if (w->t->n_tiles == 0) {
    if (spend(w)) leaf(w, s.trips);
  } else {
    list_choices(w, 0, &s, 0, &list);
    copy_heads(w, &list, out);
    free_choices(&list);
  }
  free_state(&s);
}

void tf_x_heads_free(tf_x_heads *h) {
  for (int64_t i = 0; i < h->n; i++)
    free(h->list[i].trips);
  free(h->list);
  *h = (tf_x_heads){0};
}

void tf_x_below(tf_x_worker *w, tf_x_task *task, const tf_x_head *head) {
  state s, next;
  bool ok = new_state(w, &s);
  ok = new_state(w, &next) && ok;
  if (ok) {
    begin(w, task, &s);
    enter(w, 0, &s, head->trips, &next);
    walk(w, 1, &next, head->bound);
  }
  task->failed |= !ok;
  free_state(&s);
  free_state(&next);
}
