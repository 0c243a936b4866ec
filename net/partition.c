/* Cuts a network into groups by dynamic programming over sets of ops that have run. A state is a
 * set of ops that may have run at some moment: the first p of the order, and some of the next ones
 * within a window. A group is an edge from one state to another, and the least cost of a state is
 * the minimum over the groups that may have run last. Any sequence of groups is a path through
 * these states, so that the result is optimal if the window covers all ops and the costs' `least`
 * are lower bounds. Costs of groups are requested in ascending order of the state's least cost, as
 * long as they may improve it. Sets of ops are enumerated by adding one op at a time; a set that no
 * later op can complete to a group is dropped at once. The window is chosen such that states,
 * groups and sets are few.
 *
 * Where ops may be computed again, a group may hold ops that have not run once it is over: those
 * whose output it reads, and others still have to. Later groups compute them again, or store
 * them. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "net/net.h"

enum {
  WINDOWS = 6,
  EDGES_EACH = 400,
  EDGES_ALWAYS = 20000,
  SETS_EACH_EDGE = 32,
  STATE_BUCKETS = 1 << 14
};
static const int windows[WINDOWS] = {32, 24, 16, 12, 8, 4};

/* A group that may run last. */
typedef struct edge {
  int from, id;
  uint64_t ops; /* bit k: the op at position p + k of state `from`, those made again, too */
  double least;
  bool known; /* `least` is its cost */
  struct edge *next;
} edge;

/* The first p ops of the order have run, and op p + 1 + k if bit k of `ahead` is set. */
typedef struct {
  int p, n_run;
  uint64_t ahead;
  double cost;
  edge *edges, *best;
  int next_bucket, next_size; /* hash chains: numbers + 1 */
} state;

typedef struct {
  tf_arena *a;
  const tf_workload *wl;
  int max_ops, window;
  bool recompute;
  const net_cost_source *costs; /* NULL: edges are only counted */
  tf_diags *d;
  int *place; /* [n_ops] position in the order */
  int n, room;
  state *state;
  int bucket[STATE_BUCKETS];
  int *size; /* [n_ops + 1] states with so many ops: number of the first + 1 */
  int64_t edges, most, sets, most_sets; /* sets of ops that may be enumerated, of which edges are
                                           those that may be groups */
  bool failed;
} search;

static bool no_memory(search *s) {
  if (!s->failed) tf_out_of_memory_at(s->d, s->wl->at);
  s->failed = true;
  return false;
}

/* ---- sets ----------------------------------------------------------------------------------- */
static bool has_run(const state *x, int place) {
  const int k = place - x->p - 1;
  return k < -1 || (k >= 0 && k < 64 && (x->ahead >> k & 1));
}

static bool grow(search *s) {
  if (s->n < s->room) return true;
  const int room = s->room ? 2 * s->room : 256;
  state *at = TF_ARRAY(s->a, state, (size_t)room);
  if (!at) return no_memory(s);
  if (s->n) memcpy(at, s->state, (size_t)s->n * sizeof *at);
  s->state = at;
  s->room = room;
  return true;
}

/* The number of a state, added if new; -1: out of memory. */
static int find_state(search *s, int p, uint64_t ahead) {
  const unsigned b =
      (unsigned)(((uint64_t)p * 0x9e3779b97f4a7c15u ^ ahead * 0xff51afd7ed558ccdu) >> 40) %
      STATE_BUCKETS;
  for (int i = s->bucket[b] - 1; i >= 0; i = s->state[i].next_bucket - 1)
    if (s->state[i].p == p && s->state[i].ahead == ahead) return i;
  if (!grow(s)) return -1;
  const int n_run = p + __builtin_popcountll(ahead), i = s->n++;
  s->state[i] = (state){.p = p, .n_run = n_run, .ahead = ahead, .cost = INFINITY};
  s->state[i].next_bucket = s->bucket[b];
  s->bucket[b] = i + 1;
  s->state[i].next_size = s->size[n_run];
  s->size[n_run] = i + 1;
  return i;
}

/* The state after the group has also run. */
static int state_after(search *s, int from, uint64_t ops) {
  int p = s->state[from].p;
  uint64_t run = ops | s->state[from].ahead << 1; /* bit k: position p + k */
  for (; run & 1; run >>= 1)
    p++;
  return find_state(s, p, run >> 1);
}

/* ---- groups that may run next --------------------------------------------------------------- */
typedef struct {
  int from, n, op[NET_MAX_GROUP], place[NET_MAX_GROUP];
  uint64_t ops;
} growing;

/* again: ops of it that have not run when it is over. */
static bool add_edge(search *s, const growing *g, uint64_t again) {
  edge *e = TF_NEW(s->a, edge);
  if (!e) return no_memory(s);
  *e = (edge){.from = g->from, .ops = g->ops};
  if (s->costs && !s->costs->meet(s->costs->ctx, g->op, g->n, &e->id, &e->least))
    return !(s->failed = true);
  if (isinf(e->least)) return true;
  const int to = state_after(s, g->from, g->ops & ~again);
  if (to < 0) return false;
  e->next = s->state[to].edges;
  s->state[to].edges = e;
  return ++s->edges <= s->most;
}

/* The dependences of ops within the window of a state; bit k is the op at position p + k. */
typedef struct {
  int n;         /* ops there */
  uint64_t left; /* ops that have not run */
  uint64_t need[64], neighbours[64],
      readers[64];             /* [k] producers that have not run; producers and readers; readers */
  bool beyond[64], barred[64]; /* [k] has a reader beyond the window; reads a view of a tensor that
                                  does not exist yet, or an op that has not run outside */
} near_by;

/* Sets what follows from the reads of the op at k. */
static void look_at_reads(const search *s, const state *x, near_by *v, int k) {
  const tf_op *o = &s->wl->ops[s->wl->topo[x->p + k]];
  for (int r = 0; r < o->n_reads; r++) {
    const tf_tensor *z = &s->wl->tensors[o->reads[r].tensor];
    if (z->producer < 0 || has_run(x, s->place[z->producer])) continue;
    const int maker = s->place[z->producer] - x->p;
    v->barred[k] |= z->view_of != 0;
    v->need[k] |= UINT64_C(1) << maker;
    if (!z->view_of)
      v->neighbours[k] |= UINT64_C(1) << maker, v->neighbours[maker] |= UINT64_C(1) << k;
  }
}

static void look_around(const search *s, const state *x, near_by *v) {
  const int left = s->wl->n_ops - x->p;
  *v = (near_by){.n = left < s->window ? left : s->window};
  for (int k = 0; k < v->n; k++) {
    if (has_run(x, x->p + k)) continue;
    v->left |= UINT64_C(1) << k;
    look_at_reads(s, x, v, k);
    const tf_tensor *z = &s->wl->tensors[s->wl->ops[s->wl->topo[x->p + k]].out];
    for (int r = 0; r < z->n_consumers; r++) {
      const int reader = s->place[z->consumers[r]] - x->p;
      if (reader < v->n)
        v->readers[k] |= UINT64_C(1) << reader;
      else
        v->beyond[k] = true;
    }
  }
}

/* The ops from k on that can join the group, at most `more` of them: their producers are in it, or
 * can join before. */
static uint64_t may_join(const near_by *v, uint64_t ops, int from, int more) {
  uint64_t may = 0;
  for (int k = from; k < v->n; k++) {
    const uint64_t lacks = v->need[k] & ~ops;
    if ((v->left >> k & 1) && !v->barred[k] && !(lacks & ~may) &&
        __builtin_popcountll(lacks) < more)
      may |= UINT64_C(1) << k;
  }
  return may;
}

/* Ops of the set that others have to make again, if `join` joins it: it reads their output, and so
 * does an op outside that has not run, or one of the set of which the same is true. */
static uint64_t made_again(const near_by *v, uint64_t ops, uint64_t join) {
  uint64_t again = 0;
  for (uint64_t rest = ops; rest;) {
    const int k = 63 - __builtin_clzll(rest);
    rest &= ~(UINT64_C(1) << k);
    const bool outside = v->beyond[k] || (v->readers[k] & v->left & ~(ops | join));
    if ((v->readers[k] & ops) && (outside || (v->readers[k] & again))) again |= UINT64_C(1) << k;
  }
  return again;
}

/* Whether some of the ops that can join make the set a group: they connect it, and no reader of an
 * output that the set reads stays outside, unless it can be computed again. */
static bool may_become(const search *s, const near_by *v, uint64_t ops, uint64_t join) {
  uint64_t reached = ops & -ops, done = 0;
  while (reached & ~done) {
    const int k = __builtin_ctzll(reached & ~done);
    done |= UINT64_C(1) << k;
    reached |= v->neighbours[k] & (ops | join);
  }
  if (ops & ~reached) return false;
  if (s->recompute) return __builtin_popcountll(made_again(v, ops, join)) <= NET_MOST_AGAIN;
  for (uint64_t rest = ops; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest);
    if ((v->readers[k] & ops) && (v->beyond[k] || (v->readers[k] & ~(ops | join)))) return false;
  }
  return true;
}

/* Enumerates the groups that consist of g and later ops, from the one at k on. */
static bool extend(search *s, const near_by *v, growing *g, int from) {
  if (++s->sets > s->most_sets) return false;
  const uint64_t again = s->recompute ? made_again(v, g->ops, 0) : 0;
  if (g->n && __builtin_popcountll(again) <= NET_MOST_AGAIN &&
      net_may_group(s->wl, g->op, g->n, s->recompute) && !add_edge(s, g, again))
    return false;
  const uint64_t join = may_join(v, g->ops, from, s->max_ops - g->n);
  if (g->n && !may_become(s, v, g->ops, join)) return true;
  const int p = s->state[g->from].p;
  for (uint64_t rest = join; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest);
    if (v->need[k] & ~g->ops) continue;
    g->op[g->n++] = s->wl->topo[p + k];
    g->ops |= UINT64_C(1) << k;
    if (!extend(s, v, g, k + 1)) return false;
    g->n--;
    g->ops &= ~(UINT64_C(1) << k);
  }
  return true;
}

/* ---- costs ---------------------------------------------------------------------------------- */
/* Removes and returns the edge over which the state costs least; NULL: none is left. */
static edge *take_least(search *s, state *x) {
  edge **best = NULL;
  double least = INFINITY;
  for (edge **e = &x->edges; *e; e = &(*e)->next) {
    const double total = s->state[(*e)->from].cost + (*e)->least;
    if (total < least || !best) {
      least = total;
      best = e;
    }
  }
  if (!best) return NULL;
  edge *taken = *best;
  *best = taken->next;
  return taken;
}

/* An upper bound on the state's cost, from the edges whose costs are known by now. Updates the
 * edges' least costs. */
static double known_cost(const search *s, const state *x) {
  double most = INFINITY;
  for (edge *e = x->edges; e; e = e->next) {
    double cost;
    if (!s->costs->known) continue;
    e->known = s->costs->known(s->costs->ctx, e->id, &cost);
    e->least = e->known ? cost : fmax(e->least, cost);
    if (e->known) most = fmin(most, s->state[e->from].cost + cost);
  }
  return most;
}

/* Announces to the costs the groups by which states with so many ops may become cheaper than by
 * groups of known cost. If a group costs less than expected, announcements of others were in vain,
 * which is rare. */
static void announce(const search *s, int size) {
  int id[NET_MOST_AT_ONCE], n = 0;
  if (s->costs->at_once < 2) return;
  for (int i = s->size[size] - 1; i >= 0; i = s->state[i].next_size - 1) {
    const double most = known_cost(s, &s->state[i]);
    for (const edge *e = s->state[i].edges; e; e = e->next) {
      if (e->known || s->state[e->from].cost + e->least >= most) continue;
      id[n++] = e->id;
      if (n == NET_MOST_AT_ONCE || n == s->costs->at_once)
        s->costs->ahead(s->costs->ctx, id, n), n = 0;
    }
  }
  if (n > 0) s->costs->ahead(s->costs->ctx, id, n);
}

/* The least cost of reaching state i over its incoming edges; edges whose bound cannot improve it
 * are not costed. False if costing failed. */
static bool least_cost_to(search *s, int i) {
  if (s->costs->reach) s->costs->reach(s->costs->ctx, s->state[i].n_run);
  for (edge *e; known_cost(s, &s->state[i]), (e = take_least(s, &s->state[i]));) {
    const double before = s->state[e->from].cost;
    double cost;
    if (before + e->least >= s->state[i].cost) return true;
    if (!s->costs->cost(s->costs->ctx, e->id, &cost)) return !(s->failed = true);
    if (before + cost >= s->state[i].cost) continue;
    s->state[i].cost = before + cost;
    s->state[i].best = e;
  }
  return true;
}

/* Visits states by size. False: there are too many edges, or it failed. */
static bool walk(search *s) {
  s->n = 0;
  s->room = 0;
  s->edges = s->sets = 0;
  memset(s->bucket, 0, sizeof s->bucket);
  memset(s->size, 0, ((size_t)s->wl->n_ops + 1) * sizeof *s->size);
  if (find_state(s, 0, 0) < 0) return false;
  s->state[0].cost = 0;
  for (int size = 0; size < s->wl->n_ops; size++) {
    if (s->costs) announce(s, size);
    for (int i = s->size[size] - 1; i >= 0; i = s->state[i].next_size - 1) {
      if (s->costs && !least_cost_to(s, i)) return false;
      growing g = {.from = i};
      near_by v;
      look_around(s, &s->state[i], &v);
      if (!extend(s, &v, &g, 0)) return false;
    }
  }
  return true;
}

/* ---- the result ----------------------------------------------------------------------------- */
static bool read_back(search *s, net_cuts *out) {
  const int n_ops = s->wl->n_ops, last = find_state(s, n_ops, 0);
  if (last < 0) return false;
  announce(s, n_ops);
  if (!least_cost_to(s, last)) return false;
  out->cost = s->state[last].cost;
  out->n = 0;
  int all = 0;
  for (int i = last; s->state[i].best; i = s->state[i].best->from)
    out->n++, all += __builtin_popcountll(s->state[i].best->ops);
  out->first = TF_ARRAY(s->a, int, (size_t)out->n + 1);
  out->op = TF_ARRAY(s->a, int, (size_t)all);
  out->id = TF_ARRAY(s->a, int, (size_t)out->n);
  if (!out->first || !out->op || !out->id) return no_memory(s);
  out->first[out->n] = all;
  int k = out->n, at = all;
  for (int i = last; s->state[i].best; i = s->state[i].best->from) {
    const edge *e = s->state[i].best;
    for (int bit = 63; bit >= 0; bit--)
      if (e->ops >> bit & 1) out->op[--at] = s->wl->topo[s->state[e->from].p + bit];
    out->first[--k] = at;
    out->id[k] = e->id;
  }
  assert(!isfinite(out->cost) || (k == 0 && at == 0 && (all == n_ops || s->recompute)));
  return true;
}

/* Whether the window's groups are few enough to be enumerated. */
static bool fits(search *s, int window) {
  tf_arena *kept = s->a;
  s->a = tf_arena_new();
  s->window = window;
  const bool ok = s->a ? walk(s) : no_memory(s);
  tf_arena_free(s->a);
  s->a = kept;
  return ok;
}

/* Chooses the largest window that can hold a group of any size and whose states have few enough
 * groups; if there is none, because sets of that window are too many, the largest smaller one. */
static void choose_window(search *s) {
  const net_cost_source *costs = s->costs;
  bool found = false;
  s->costs = NULL;
  s->most = EDGES_ALWAYS + (int64_t)EDGES_EACH * s->wl->n_ops;
  s->most_sets = SETS_EACH_EDGE * s->most;
  for (int k = 0; k < WINDOWS && !found && !s->failed && s->window != s->max_ops; k++)
    found = fits(s, windows[k] > s->max_ops ? windows[k] : s->max_ops);
  s->most = INT64_MAX;
  if (!found && !s->failed) found = fits(s, s->window);
  for (int k = 0; k < WINDOWS && !found && !s->failed; k++)
    if (windows[k] < s->max_ops) found = fits(s, windows[k]);
  s->most_sets = INT64_MAX;
  s->costs = costs;
}

bool net_partition(tf_arena *a, const tf_workload *wl, int max_ops, const net_cost_source *p,
                   net_cuts *out, tf_diags *d) {
  search *s = TF_NEW(a, search);
  if (!s) return tf_out_of_memory_at(d, wl->at);
  *s =
      (search){.a = a, .wl = wl, .max_ops = max_ops, .recompute = p->recompute, .costs = p, .d = d};
  s->place = TF_ARRAY(a, int, (size_t)wl->n_ops);
  s->size = TF_ARRAY(a, int, (size_t)wl->n_ops + 1);
  if (!s->place || !s->size) return no_memory(s);
  for (int k = 0; k < wl->n_ops; k++)
    s->place[wl->topo[k]] = k;
  choose_window(s);
  if (s->failed || !walk(s) || !read_back(s, out)) return false;
  out->window = s->window;
  out->exact = s->window >= wl->n_ops;
  return true;
}
