/* Cuts a network into groups by dynamic programming over sets of ops that have run.
 *
 * A state is a set of ops that may have run at some moment: the first p of the order, and some of the next ones within
 * a window.  A group is an edge from one state to another, and the least cost of a state is the minimum over the
 * groups that may have run last.  Any sequence of groups is a path through these states, so that with a window over
 * all ops, and where the prices' `least` are lower bounds, the result is optimal.  Costs of groups are requested by
 * ascending least cost of the state, and no longer once that cannot improve it. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "net/net.h"

enum { WINDOWS = 6, EDGES_EACH = 400, EDGES_ALWAYS = 20000, STATE_BUCKETS = 1 << 14 };
static const int windows[WINDOWS] = {32, 24, 16, 12, 8, 4};

/* A group that may run last. */
typedef struct edge {
  int from, id;
  uint64_t ops; /* bit k: the op at position p + k of state `from` */
  double least;
  bool known; /* least is what it costs */
  struct edge *next;
} edge;

/* The first p ops of the order have run, and op p + 1 + k where bit k of `ahead` is set. */
typedef struct {
  int p, n_run;
  uint64_t ahead;
  double cost;
  edge *in, *best;
  int next_bucket, next_size; /* hash chains: numbers + 1 */
} state;

typedef struct {
  tf_arena *a;
  const tf_workload *wl;
  int max_ops, window;
  const net_prices *price; /* NULL: edges are only counted */
  tf_diags *d;
  int *place; /* [n_ops] position in the order */
  int n, room;
  state *at;
  int bucket[STATE_BUCKETS];
  int *size; /* [n_ops + 1] states with so many ops: number of the first + 1 */
  int64_t edges, most;
  bool failed;
} search;

static bool no_memory(search *s) {
  if (!s->failed) tf_out_of_memory_at(s->d, s->wl->at);
  s->failed = true;
  return false;
}

/* ---- sets ------------------------------------------------------------------------------------------------- */
static bool has_run(const state *x, int place) {
  const int k = place - x->p - 1;
  return k < -1 || (k >= 0 && k < 64 && (x->ahead >> k & 1));
}

static bool grow(search *s) {
  if (s->n < s->room) return true;
  const int room = s->room ? 2 * s->room : 256;
  state *at = TF_ARRAY(s->a, state, (size_t)room);
  if (!at) return no_memory(s);
  if (s->n) memcpy(at, s->at, (size_t)s->n * sizeof *at);
  s->at = at;
  s->room = room;
  return true;
}

/* The number of a state, added if new; -1: no memory. */
static int find_state(search *s, int p, uint64_t ahead) {
  const unsigned b =
      (unsigned)(((uint64_t)p * 0x9e3779b97f4a7c15u ^ ahead * 0xff51afd7ed558ccdu) >> 40) % STATE_BUCKETS;
  for (int i = s->bucket[b] - 1; i >= 0; i = s->at[i].next_bucket - 1)
    if (s->at[i].p == p && s->at[i].ahead == ahead) return i;
  if (!grow(s)) return -1;
  const int n_run = p + __builtin_popcountll(ahead), i = s->n++;
  s->at[i] = (state){.p = p, .n_run = n_run, .ahead = ahead, .cost = INFINITY};
  s->at[i].next_bucket = s->bucket[b];
  s->bucket[b] = i + 1;
  s->at[i].next_size = s->size[n_run];
  s->size[n_run] = i + 1;
  return i;
}

/* The state after the group has run, too. */
static int state_after(search *s, int from, uint64_t ops) {
  int p = s->at[from].p;
  uint64_t run = ops | s->at[from].ahead << 1; /* bit k: position p + k */
  for (; run & 1; run >>= 1)
    p++;
  return find_state(s, p, run >> 1);
}

/* ---- groups that may come next --------------------------------------------------------------------------- */
typedef struct {
  int from, n, op[NET_MAX_GROUP], place[NET_MAX_GROUP];
  uint64_t ops;
} growing;

static bool add_edge(search *s, const growing *g) {
  edge *e = TF_NEW(s->a, edge);
  if (!e) return no_memory(s);
  *e = (edge){.from = g->from, .ops = g->ops};
  if (s->price && !s->price->meet(s->price->ctx, g->op, g->n, &e->id, &e->least)) return !(s->failed = true);
  if (isinf(e->least)) return true;
  const int to = state_after(s, g->from, g->ops);
  if (to < 0) return false;
  e->next = s->at[to].in;
  s->at[to].in = e;
  return ++s->edges <= s->most;
}

/* Whether all that the op reads has been produced once the group has run. */
static bool ready(const search *s, const growing *g, int op) {
  const tf_op *o = &s->wl->ops[op];
  const state *x = &s->at[g->from];
  for (int k = 0; k < o->n_reads; k++) {
    const int maker = s->wl->tensors[o->reads[k].tensor].producer;
    if (maker < 0) continue;
    const int at = s->place[maker], ahead = at - x->p;
    if (!has_run(x, at) && !(!s->wl->tensors[o->reads[k].tensor].view_of && ahead < 64 && (g->ops >> ahead & 1)))
      return false;
  }
  return true;
}

/* Enumerates the groups that consist of g and later ops. */
static bool extend(search *s, growing *g, int next) {
  const int p = s->at[g->from].p;
  if (g->n && net_may_group(s->wl, g->op, g->n) && !add_edge(s, g)) return false;
  for (int at = next; g->n < s->max_ops && at < p + s->window && at < s->wl->n_ops; at++) {
    const int op = s->wl->topo[at];
    if (has_run(&s->at[g->from], at) || !ready(s, g, op)) continue;
    g->op[g->n++] = op;
    g->ops |= UINT64_C(1) << (at - p);
    if (!extend(s, g, at + 1)) return false;
    g->n--;
    g->ops &= ~(UINT64_C(1) << (at - p));
  }
  return true;
}

/* ---- costs ------------------------------------------------------------------------------------------------ */
/* The edge by which the set would cost the least, taken out of the list; NULL: none is left. */
static edge *take_least(search *s, state *x) {
  edge **best = NULL;
  double least = INFINITY;
  for (edge **e = &x->in; *e; e = &(*e)->next) {
    const double total = s->at[(*e)->from].cost + (*e)->least;
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

/* What the set costs at most: by the edges whose costs are known by now, which they note. */
static double known_cost(const search *s, const state *x) {
  double most = INFINITY;
  for (edge *e = x->in; e; e = e->next) {
    double cost;
    e->known = s->price->known && s->price->known(s->price->ctx, e->id, &cost);
    if (!e->known) continue;
    e->least = cost;
    most = fmin(most, s->at[e->from].cost + cost);
  }
  return most;
}

/* Tells the prices of the groups by which sets of so many ops may cost less than by those of known cost.  One that
 * costs less than expected makes it in vain to have told of others, which few do. */
static void tell_ahead(const search *s, int size) {
  int id[NET_MOST_AT_ONCE], n = 0;
  if (s->price->at_once < 2) return;
  for (int i = s->size[size] - 1; i >= 0; i = s->at[i].next_size - 1) {
    const double most = known_cost(s, &s->at[i]);
    for (const edge *e = s->at[i].in; e; e = e->next) {
      if (e->known || s->at[e->from].cost + e->least >= most) continue;
      id[n++] = e->id;
      if (n == NET_MOST_AT_ONCE || n == s->price->at_once) s->price->ahead(s->price->ctx, id, n), n = 0;
    }
  }
  if (n > 0) s->price->ahead(s->price->ctx, id, n);
}

/* The least cost of reaching place i, over the edges that end there: those whose bound cannot beat it are not priced.
 * False if pricing failed. */
static bool least_cost_to(search *s, int i) {
  if (s->price->reach) s->price->reach(s->price->ctx, s->at[i].n_run);
  known_cost(s, &s->at[i]);
  for (edge *e; (e = take_least(s, &s->at[i]));) {
    const double before = s->at[e->from].cost;
    double cost;
    if (before + e->least >= s->at[i].cost) return true;
    if (!s->price->cost(s->price->ctx, e->id, &cost)) return !(s->failed = true);
    if (before + cost >= s->at[i].cost) continue;
    s->at[i].cost = before + cost;
    s->at[i].best = e;
  }
  return true;
}

/* Visits states by size.  False if there are too many edges, or it failed. */
static bool walk(search *s) {
  s->n = 0;
  s->room = 0;
  s->edges = 0;
  memset(s->bucket, 0, sizeof s->bucket);
  memset(s->size, 0, ((size_t)s->wl->n_ops + 1) * sizeof *s->size);
  if (find_state(s, 0, 0) < 0) return false;
  s->at[0].cost = 0;
  for (int size = 0; size < s->wl->n_ops; size++) {
    if (s->price) tell_ahead(s, size);
    for (int i = s->size[size] - 1; i >= 0; i = s->at[i].next_size - 1) {
      if (s->price && !least_cost_to(s, i)) return false;
      growing g = {.from = i};
      if (!extend(s, &g, s->at[i].p)) return false;
    }
  }
  return true;
}

/* ---- the result ------------------------------------------------------------------------------------------- */
static bool read_back(search *s, net_cuts *out) {
  const int n_ops = s->wl->n_ops, last = find_state(s, n_ops, 0);
  if (last < 0) return false;
  tell_ahead(s, n_ops);
  if (!least_cost_to(s, last)) return false;
  out->cost = s->at[last].cost;
  out->n = 0;
  for (int i = last; s->at[i].best; i = s->at[i].best->from)
    out->n++;
  out->first = TF_ARRAY(s->a, int, (size_t)out->n + 1);
  out->op = TF_ARRAY(s->a, int, (size_t)n_ops);
  out->id = TF_ARRAY(s->a, int, (size_t)out->n);
  if (!out->first || !out->op || !out->id) return no_memory(s);
  out->first[out->n] = n_ops;
  int k = out->n, at = n_ops;
  for (int i = last; s->at[i].best; i = s->at[i].best->from) {
    const edge *e = s->at[i].best;
    for (int bit = 63; bit >= 0; bit--)
      if (e->ops >> bit & 1) out->op[--at] = s->wl->topo[s->at[e->from].p + bit];
    out->first[--k] = at;
    out->id[k] = e->id;
  }
  assert(!isfinite(out->cost) || (k == 0 && at == 0)); /* the groups hold every op, once */
  return true;
}

/* The largest window whose states have few enough groups. */
static bool choose_window(search *s) {
  tf_arena *kept = s->a;
  const net_prices *price = s->price;
  s->price = NULL;
  s->most = EDGES_ALWAYS + (int64_t)EDGES_EACH * s->wl->n_ops;
  bool fits = false;
  for (int k = 0; k < WINDOWS && !fits && !s->failed; k++) {
    s->a = tf_arena_new();
    s->window = windows[k] > s->max_ops ? windows[k] : s->max_ops;
    fits = s->a && walk(s);
    if (!s->a) no_memory(s);
    tf_arena_free(s->a);
  }
  s->a = kept;
  s->price = price;
  s->most = INT64_MAX;
  return !s->failed;
}

bool net_partition(tf_arena *a, const tf_workload *wl, int max_ops, const net_prices *p, net_cuts *out, tf_diags *d) {
  search *s = TF_NEW(a, search);
  if (!s) return tf_out_of_memory_at(d, wl->at);
  *s = (search){.a = a, .wl = wl, .max_ops = max_ops, .price = p, .d = d};
  s->place = TF_ARRAY(a, int, (size_t)wl->n_ops);
  s->size = TF_ARRAY(a, int, (size_t)wl->n_ops + 1);
  if (!s->place || !s->size) return no_memory(s);
  for (int k = 0; k < wl->n_ops; k++)
    s->place[wl->topo[k]] = k;
  if (!choose_window(s) || !walk(s) || !read_back(s, out)) return false;
  out->window = s->window;
  out->exact = s->window >= wl->n_ops;
  return true;
}
