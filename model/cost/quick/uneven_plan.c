/* Groups the chains of loops above every slice: see uneven_plan.h. */
#include "model/cost/quick/uneven_plan.h"

#include <string.h>

uint32_t tf_uneven_chains(const tf_even *e, const tf_uneven_node *n, int range) {
  const uint64_t on = e->ranges[range].depends;
  uint32_t all = 0;
  for (int c = 0; c < n->n; c++)
    for (int i = 0; i < n->chain[c].n; i++)
      all |= (uint32_t)(on >> n->chain[c].pos[i] & 1) << c;
  return all;
}

/* Limit of ranges visited for one box. */
enum { MOST_VISITS = 64 };

/* The state while the plan is built. */
typedef struct {
  tf_arena *a;
  const tf_plan *p;
  const tf_views *w;
  const tf_even *e;
  tf_uneven *u;
} maker;

static bool add_chains(const maker *k, int id) {
  const tf_path *path = &k->p->path[id];
  tf_uneven_node *n = &k->u->node[id];
  n->number_of = TF_ARRAY(k->a, int, (size_t)k->e->n_chains + 1);
  n->chain = TF_ARRAY(k->a, tf_path_chain, (size_t)path->n + 1);
  n->step = TF_ARRAY(k->a, int64_t, (size_t)path->n + 1);
  if (!n->number_of || !n->chain || !n->step) return false;
  for (int c = 0; c < k->e->n_chains; c++)
    n->number_of[c] = -1;
  for (int pos = 0; pos < path->n; pos++) {
    const int c = k->e->chain_of[path->loops[pos]];
    if (n->number_of[c] < 0) {
      n->number_of[c] = n->n;
      n->chain[n->n] = (tf_path_chain){.chain = c,
                                       .pos = TF_ARRAY(k->a, unsigned char, (size_t)path->n),
                                       .turn = TF_ARRAY(k->a, tf_turn, (size_t)path->n)};
      if (!n->chain[n->n].pos || !n->chain[n->n++].turn) return false;
    }
    tf_path_chain *s = &n->chain[n->number_of[c]];
    s->pos[s->n++] = (unsigned char)pos;
  }
  k->u->applies &= n->n <= TF_PATH_CHAINS;
  for (int i = 0; i < n->n && k->u->applies; i++) {
    k->u->applies = n->chain[i].n <= TF_CHAIN_LOOPS;
    n->chain[i].needs =
        tf_uneven_chains(k->e, n, k->e->chains[n->chain[i].chain].base) & ~(UINT32_C(1) << i);
  }
  return true;
}

/* Adds a group, merged with those that share a chain with it. */
static void join_group(tf_chain_group *list, int *n, tf_chain_group own) {
  int kept = 0;
  for (int i = 0; i < *n; i++) {
    if (!(list[i].now & own.now) && !(list[i].prev & own.prev)) {
      list[kept++] = list[i];
      continue;
    }
    own.now |= list[i].now;
    own.prev |= list[i].prev;
    for (int r = 0; r < list[i].n_rank; r++)
      own.rank[own.n_rank++] = list[i].rank[r];
  }
  list[kept++] = own;
  *n = kept;
}

/* Chains of q's path that may have a digit in common with chain c: by a loop above both, or by two
 * spatial loops that correspond. */
static uint32_t in_common(const tf_path_chain *c, const tf_uneven_node *from, int n_common) {
  uint32_t all = 0;
  for (int j = 0; j < from->n; j++) {
    const tf_path_chain *b = &from->chain[j];
    bool common = c->pos[c->n - 1] >= n_common && b->pos[b->n - 1] >= n_common;
    for (int i = 0; i < c->n && c->pos[i] < n_common; i++)
      for (int k = 0; k < b->n; k++)
        common |= b->pos[k] == c->pos[i];
    if (common) all |= UINT32_C(1) << j | b->needs;
  }
  return all;
}

/* Lists the chains of a group from the outermost on, if each splits exactly what the previous one
 * leaves, and at most one rank is what the last one leaves. */
static void find_plain(const maker *k, const tf_uneven_node *n, const tf_even_slice *v,
                       tf_chain_group *g) {
  const tf_even_range *ranges = k->e->ranges;
  const int count = __builtin_popcount(g->now);
  uint32_t outer = 0;
  int last = -1; /* number of the chain noted last among all */
  if (!count || count > TF_PLAIN_CHAINS || g->n_rank > 1) return;
  for (int i = 0; i < count; i++) {
    int c = -1;
    for (uint32_t left = g->now & ~outer; left && c < 0; left &= left - 1)
      if (n->chain[__builtin_ctz(left)].needs == outer) c = __builtin_ctz(left);
    if (c < 0) return;
    const tf_even_range *base = &ranges[k->e->chains[n->chain[c].chain].base];
    if (last < 0 ? base->what != TF_WHOLE : base->what != TF_PART || base->chain != last) return;
    last = n->chain[c].chain;
    g->plain[i] = (unsigned char)c;
    outer |= UINT32_C(1) << c;
  }
  if (v && g->n_rank) {
    const tf_even_range *r = &ranges[v->range[g->rank[0]]];
    if (r->what != TF_PART || r->chain != last) return;
  }
  g->n_plain = count;
}

/* Whether borders clip ranks of the group.  Such a group is supported only if it has no other rank,
 * and one read of it; else *left is set. */
static bool clips(const maker *k, const tf_even_slice *v, const tf_chain_group *g, bool *left) {
  bool any = false;
  for (int i = 0; i < g->n_rank; i++) {
    const tf_even_range *r = &k->e->ranges[v->range[g->rank[i]]];
    if (!tf_uneven_reaches(k->e, r)) continue;
    any = true;
    *left |= g->n_rank != 1 || r->n != 1;
  }
  return any;
}

/* Whether ranks of the group are found among what several reads left, any of which may have been
 * wholly in the padding. */
static bool finds_several(const maker *k, const tf_even_slice *q, const tf_chain_group *g) {
  bool any = false;
  for (int i = 0; i < g->n_rank; i++) {
    const tf_even_range *r = &k->e->ranges[q->range[g->rank[i]]];
    any |= r->n > 1 && !r->made && tf_uneven_reaches(k->e, r);
  }
  return any;
}

/* Whether borders cut what the chains of a group split, or its ranks. */
static bool cuts(const maker *k, const tf_even_slice *v, const tf_uneven_node *n,
                 const tf_even_slice *q, const tf_uneven_node *before, const tf_chain_group *g) {
  bool any = false;
  for (uint32_t left = g->now; left; left &= left - 1)
    any |= tf_uneven_cut(k->e, k->e->chains[n->chain[__builtin_ctz(left)].chain].base);
  for (uint32_t left = before ? g->prev : 0; left; left &= left - 1)
    any |= tf_uneven_cut(k->e, k->e->chains[before->chain[__builtin_ctz(left)].chain].base);
  for (int i = 0; i < g->n_rank; i++)
    any |= tf_uneven_cut(k->e, v->range[g->rank[i]]) ||
           (q && tf_uneven_cut(k->e, q->range[g->rank[i]]));
  return any;
}

/* Positions of spatial loops of the group that split ranges cut by borders. */
static uint64_t idle(const maker *k, int node, const tf_chain_group *g) {
  const tf_uneven_node *n = &k->u->node[node];
  uint64_t all = 0;
  for (uint32_t left = g->now; left; left &= left - 1) {
    const tf_path_chain *c = &n->chain[__builtin_ctz(left)];
    for (int i = 0; i < c->n && tf_uneven_cut(k->e, k->e->chains[c->chain].base); i++)
      all |= UINT64_C(1) << c->pos[i];
  }
  return all & ~k->p->path[node].temporal;
}

/* Makes the groups of slice v at a node (NULL: its steps alone).  q, at node `from`: another slice
 * that left the content; NULL: none. */
static bool make_groups(const maker *k, int node, const tf_even_slice *v, int from,
                        const tf_even_slice *q, int n_common, tf_chain_groups *out) {
  const tf_uneven_node *n = &k->u->node[node], *before = q ? &k->u->node[from] : NULL;
  tf_chain_group list[2 * TF_PATH_CHAINS + TF_MAX_RANK];
  int count = 0;
  for (int i = 0; i < n->n; i++)
    join_group(list, &count,
               (tf_chain_group){.now = n->chain[i].needs | UINT32_C(1) << i,
                                .prev = q ? in_common(&n->chain[i], before, n_common) : 0});
  for (int j = 0; q && j < before->n; j++)
    join_group(list, &count, (tf_chain_group){.prev = before->chain[j].needs | UINT32_C(1) << j});
  for (int r = 0; v && r < v->n_rank; r++)
    join_group(list, &count,
               (tf_chain_group){.now = tf_uneven_chains(k->e, n, v->range[r]),
                                .prev = q ? tf_uneven_chains(k->e, before, q->range[r]) : 0,
                                .n_rank = 1,
                                .rank = {(unsigned char)r}});
  out->n = count;
  out->group = TF_ARRAY(k->a, tf_chain_group, (size_t)count + 1);
  if (!out->group) return false;
  memcpy(out->group, list, (size_t)count * sizeof list[0]);
  for (int g = 0; g < count; g++) {
    if (!q) out->group[g].prev = out->group[g].now; /* the slice itself left it */
    for (uint32_t left = out->group[g].now; left; left &= left - 1)
      for (int i = 0; i < n->chain[__builtin_ctz(left)].n; i++)
        out->group[g].positions |= UINT64_C(1) << n->chain[__builtin_ctz(left)].pos[i];
    out->group[g].cut = k->p->cuts && cuts(k, v, n, q, before, &out->group[g]);
    if (out->group[g].cut) out->group[g].idle = idle(k, node, &out->group[g]);
    out->group[g].clipped = !out->group[g].cut && clips(k, v, &out->group[g], &out->unsupported);
    if (q) out->unsupported |= !out->group[g].cut && finds_several(k, q, &out->group[g]);
    if (!q) find_plain(k, n, v, &out->group[g]);
  }
  return true;
}

/* Whether sums over two groups of slices v and w of one node are the same. */
static bool alike(const tf_chain_group *a, const tf_even_slice *v, const tf_chain_group *b,
                  const tf_even_slice *w) {
  if (a->now != b->now || a->n_rank != b->n_rank) return false;
  for (int i = 0; i < a->n_rank; i++)
    if (v->range[a->rank[i]] != w->range[b->rank[i]]) return false;
  return true;
}

/* A cache for n sums that depend on so many loops. */
static tf_sums_kept *kept_new(const maker *k, int loops, int n) {
  tf_sums_kept *s = TF_NEW(k->a, tf_sums_kept);
  if (!s) return NULL;
  s->n_values = 2 * loops;
  s->n_entries = n;
  return s;
}

bool tf_sums_room(tf_arena *a, tf_sums_kept *k) {
  if (k->entries) return true;
  bool ok = true;
  for (int i = 0; i < TF_SETTINGS_KEPT && ok; i++)
    ok = (k->known[i].values = TF_ARRAY(a, int64_t, (size_t)k->n_values + 1)) != NULL;
  if (ok) k->entries = TF_ARRAY(a, tf_sum_kept, (size_t)k->n_entries);
  return k->entries != NULL;
}

/* The tables of slice i, made once per tree; i as for tf_slice_at. */
static const tf_even_slice *even_slice(const maker *k, int i) {
  return i < k->p->n_slices ? &k->e->slices[i] : &k->e->stream[i - k->p->n_slices];
}

/* The cache of group g of a slice: that of an earlier slice of the node with equal sums, or its
 * own. */
static bool share_sums(const maker *k, int slice, tf_chain_group *g) {
  static const tf_even_slice none;
  const tf_even_slice *v = even_slice(k, slice);
  const int node = tf_slice_at(k->p, slice)->node;
  const tf_chain_groups *steps = &k->u->node[node].steps;
  for (int i = 0; i < steps->n && !g->kept; i++)
    if (alike(g, v, &steps->group[i], &none)) g->kept = steps->group[i].kept;
  for (int s = 0; s < slice && !g->kept; s++) {
    const tf_chain_groups *other = &k->u->slice[s].self;
    for (int i = 0; tf_slice_at(k->p, s)->node == node && i < other->n && !g->kept; i++)
      if (alike(g, v, &other->group[i], even_slice(k, s))) g->kept = other->group[i].kept;
  }
  if (!g->kept) g->kept = kept_new(k, __builtin_popcountll(g->positions), TF_SUMS_OWN);
  return g->kept != NULL;
}

/* Spatial loops that share and move the range of a rank together with one of another chain. */
static uint64_t joining(const maker *k, const tf_slice *s, int range) {
  const tf_path *path = &k->p->path[s->node];
  uint64_t all = 0;
  for (uint64_t left = k->e->ranges[range].moves & s->merge; left; left &= left - 1)
    for (uint64_t more = left & (left - 1); more; more &= more - 1) {
      const int a = __builtin_ctzll(left), b = __builtin_ctzll(more);
      if (k->e->chain_of[path->loops[a]] != k->e->chain_of[path->loops[b]])
        all |= UINT64_C(1) << a | UINT64_C(1) << b;
    }
  return all;
}

static bool add_slice(const maker *k, int i, const tf_even_slice *v) {
  const tf_plan *p = k->p;
  const tf_slice *s = tf_slice_at(p, i);
  tf_uneven_slice *out = &k->u->slice[i];
  uint64_t moves = 0,
           lengths =
               0; /* lengths: loops that leave a box in place, although its ranges depend on them */
  out->to_general = !tf_run_tells(p, k->e, i, out) || k->u->node[s->node].to_general;
  out->sibling = TF_ARRAY(k->a, tf_chain_groups, (size_t)s->n_class + 1);
  if (out->to_general) return out->sibling != NULL;
  for (int r = 0; r < v->n_rank; r++) {
    moves |= k->e->ranges[v->range[r]].moves;
    lengths |= k->e->ranges[v->range[r]].depends & ~k->e->ranges[v->range[r]].moves;
    if (!tf_even_only_split(k->e, v->range[r])) out->join |= joining(k, s, v->range[r]);
  }
  out->same = s->merge & ~moves;
  out->again = s->inside & p->path[s->node].temporal & ~moves;
  for (int side = 0; side < TF_N_SIDES; side++)
    out->still[side] = tf_still_of(p, k->w, i, side);
  if (!out->sibling || !make_groups(k, s->node, v, 0, NULL, 0, &out->self)) return false;
  out->cancels = (lengths & s->merge) != 0;
  out->to_general = out->self.unsupported || out->cancels;
  for (int c = 0; c < s->n_class; c++) {
    const int prev = s->classes[c].prev, common = s->classes[c].common;
    if (prev < 0 || common < 0) continue;
    const int from = p->slices[prev].node;
    if (!make_groups(k, s->node, v, from, &k->e->slices[prev], p->path[common].n, &out->sibling[c]))
      return false;
    out->to_general |= out->sibling[c].unsupported || k->u->node[from].to_general;
    for (int g = 0; g < out->sibling[c].n; g++) /* which loops correspond depends on all of them */
      if (!(out->sibling[c].group[g].kept =
                kept_new(k, p->path[s->node].n + p->path[from].n, TF_SUMS_SIBLING)))
        return false;
  }
  return true;
}

/* Adds the groups of such ranges, with all digits near borders enumerated. */
static bool add_most(const maker *k, int node, const tf_even_slice *v, tf_chain_groups *out) {
  if (!make_groups(k, node, v, 0, NULL, 0, out)) return false;
  for (int g = 0; g < out->n; g++)
    out->group[g].cut = true, out->group[g].clipped = false;
  return true;
}

/* Adds a range to v's unless it is there, or constant.  False: there is no room. */
static bool add_held(const maker *k, int range, tf_even_slice *v) {
  if (k->e->ranges[range].what == TF_WHOLE) return true;
  for (int i = 0; i < v->n_rank; i++)
    if (v->range[i] == range) return true;
  if (v->n_rank == TF_MAX_RANK) return false;
  v->range[v->n_rank++] = range;
  return true;
}

static tf_even_slice *held_new(const maker *k) {
  tf_even_slice *v = TF_NEW(k->a, tf_even_slice);
  if (v) v->range = TF_ARRAY(k->a, int, TF_MAX_RANK);
  return v && v->range ? v : NULL;
}

/* Adds the sizes of m-tiles and of homes in their memories, if borders cut ranges. */
static bool add_sizes(const maker *k) {
  const tf_plan *p = k->p;
  k->u->home = TF_ARRAY(k->a, tf_even_slice, (size_t)p->wl->n_tensors);
  k->u->homes = TF_ARRAY(k->a, tf_chain_groups, (size_t)p->wl->n_tensors);
  if (!k->u->home || !k->u->homes) return false;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    tf_even_slice *v = held_new(k);
    bool room = true;
    if (!v) return false;
    for (int i = k->w->node[n].first; i < k->w->node[n].first + k->w->node[n].n_slices; i++)
      for (int r = 0; r < k->e->slices[i].n_rank; r++)
        room &= add_held(k, k->e->slices[i].range[r], v);
    if (room && !add_most(k, n, v, &k->u->node[n].most)) return false;
    k->u->node[n].held = room ? v : NULL;
  }
  for (int z = 0; z < p->wl->n_tensors; z++) {
    tf_even_slice *v = held_new(k);
    if (!v) return false;
    for (int r = 0; p->home_scope[z] >= 0 && r < p->wl->tensors[z].rank; r++)
      add_held(k, k->e->home[k->e->home_at[z] + r].range,
               v); /* has no more ranks than there is room for */
    k->u->home[z] = *v;
    if (p->home_scope[z] >= 0 && !add_most(k, p->home_scope[z], v, &k->u->homes[z])) return false;
  }
  return true;
}

/* Whether a range that is split above node n depends on what runs of a retaining scope compute. */
static bool by_run(const maker *k, int n) {
  bool any = false;
  for (int c = 0; c < k->u->node[n].n; c++)
    any |= k->e->ranges[k->e->chains[k->u->node[n].chain[c].chain].base].by_run;
  return any;
}

static bool add_all(const maker *k) {
  const tf_plan *p = k->p;
  for (int i = 0; i < p->tree->n_nodes && k->u->applies; i++) {
    tf_chain_groups *steps = &k->u->node[i].steps;
    k->u->node[i].run = tf_run_of_node(p, i);
    k->u->node[i].to_general = k->u->node[i].run < 0 && by_run(k, i);
    if (k->u->node[i].to_general) continue;
    if (!make_groups(k, i, NULL, 0, NULL, 0, steps)) return false;
    for (int g = 0; g < steps->n; g++)
      if (!(steps->group[g].kept =
                kept_new(k, __builtin_popcountll(steps->group[g].positions), TF_SUMS_OWN)))
        return false;
  }
  for (int i = 0; i < p->n_slices + p->wl->n_ops && k->u->applies; i++) {
    if (tf_slice_at(p, i)->node < 0) continue;
    if (!add_slice(k, i, even_slice(k, i))) return false;
    for (int g = 0; g < k->u->slice[i].self.n; g++)
      if (!share_sums(k, i, &k->u->slice[i].self.group[g])) return false;
  }
  return true;
}

tf_uneven *tf_uneven_new(tf_arena *a, const tf_plan *p, const tf_views *w, const tf_even *e) {
  tf_uneven *u = TF_NEW(a, tf_uneven);
  if (!u) return NULL;
  u->node = TF_ARRAY(a, tf_uneven_node, (size_t)p->tree->n_nodes);
  u->slice = TF_ARRAY(a, tf_uneven_slice, (size_t)(p->n_slices + p->wl->n_ops));
  int most = 0;
  for (int i = 0; i < p->n_tile_slices; i++)
    most = p->slices[i].n_class > most ? p->slices[i].n_class : most;
  u->flows = TF_ARRAY(a, tf_flow, (size_t)most + 1);
  u->tells = TF_ARRAY(a, bool, (size_t)p->n_retains + 1);
  u->still = TF_ARRAY(a, uint64_t, (size_t)p->n_retains + 1);
  if (!u->node || !u->slice || !u->flows || !u->tells || !u->still) return NULL;
  const maker k = {a, p, w, e, u};
  u->applies = !(p->cuts && p->n_retains);
  for (int i = 0; i < e->n_ranges;
       i++) /* terms that cancel unless a border cuts one of them: left to the walk */
    u->applies &= e->ranges[i].visits <= MOST_VISITS &&
                  !(p->cuts && e->ranges[i].depends & ~e->ranges[i].moves && tf_uneven_cut(e, i));
  for (int i = 0; i < p->tree->n_nodes; i++)
    if (!add_chains(&k, i)) return NULL;
  return add_all(&k) && (!p->cuts || !u->applies || add_sizes(&k)) ? u : NULL;
}
