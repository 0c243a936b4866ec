/* Gathers the tables for count.c: which loops move which ranks of slices. */
#include "model/cost/quick/make.h"
#include "model/flow/retain.h"

/* The loop at path position pos, with the ranks of slice v that it moves (appended at *pool). */
static tf_even_loop loop_at(const tf_even_maker *k, const tf_path *path, int pos,
                            const tf_even_slice *v, tf_even_shift **pool) {
  tf_even_loop l = {.loop = path->loops[pos], .pos = pos, .shift = *pool};
  for (int r = 0; r < v->n_rank; r++) {
    int64_t by = tf_even_shift_of(&k->e->ranges[v->range[r]], pos);
    if (by) l.shift[l.n++] = (tf_even_shift){r, by};
  }
  *pool += l.n;
  return l;
}

/* Adds pairs of loops in different chains that move one rank: through them, instances may get equal
 * boxes in different ways. `merge`: positions of spatial loops that move the rank and whose
 * instances may share. */
static void merge_pairs(tf_even_maker *k, const tf_path *path, uint64_t merge) {
  const tf_plan *p = k->p;
  for (; merge & (merge - 1); merge &= merge - 1) {
    int one = path->loops[__builtin_ctzll(merge)];
    for (uint64_t left = merge & (merge - 1); left; left &= left - 1) {
      int other = path->loops[__builtin_ctzll(left)];
      if (p->loops[one].chain_node != p->loops[other].chain_node ||
          p->loops[one].dim != p->loops[other].dim)
        TF_EVEN_PUSH(k, pairs, (tf_even_pair){one, other});
    }
  }
}

bool tf_even_only_split(const tf_even *e, int range) {
  const tf_even_range *r = &e->ranges[range];
  while (r->what == TF_PART)
    r = &e->ranges[r->base];
  return r->what == TF_WHOLE;
}

/* Condition: a loop must have one step for slice v to be counted. */
static void fix(tf_even_maker *k, const tf_even_slice *v, int loop) {
  if (v->by_run)
    TF_EVEN_PUSH(k, singles, (tf_even_single){(int)(v - k->e->slices), loop});
  else
    TF_EVEN_PUSH(k, fixed, loop);
}

/* The ranges of the slice's ranks; returns the positions that move any of them. */
static uint64_t add_ranks(tf_even_maker *k, const tf_slice *s, tf_even_slice *v) {
  const tf_path *path = &k->p->path[s->node];
  uint64_t moves = 0;
  v->by_run = tf_retain_matters(k->p, s, NULL);
  for (int c = 0; c < s->n_class; c++)
    v->by_run |= tf_retain_matters(k->p, s, &s->classes[c]);
  v->n_rank = k->p->wl->tensors[s->tensor].rank;
  v->range = TF_ARRAY(k->a, int, (size_t)v->n_rank);
  v->padded = TF_ARRAY(k->a, int, (size_t)v->n_rank);
  k->oom |= !v->range || !v->padded;
  k->ok &= !k->oom;
  for (int r = 0; r < v->n_rank && k->ok; r++) {
    v->range[r] = tf_even_touched(k, s, r);
    if (!k->ok) break;
    const tf_even_range *range = &k->e->ranges[v->range[r]];
    moves |= range->moves;
    if (range->from < range->to) v->padded[v->n_padded++] = r;
    v->by_run |= range->by_run;
    for (uint64_t left = range->mixed; left; left &= left - 1)
      fix(k, v, path->loops[__builtin_ctzll(left)]);
    if (!v->by_run && !tf_even_only_split(k->e, v->range[r]))
      merge_pairs(k, path, range->moves & s->merge);
  }
  return moves;
}

static int list(const tf_path *path, uint64_t positions, int *loops) {
  int n = 0;
  for (; positions; positions &= positions - 1)
    loops[n++] = path->loops[__builtin_ctzll(positions)];
  return n;
}

/* The loops above an m-tile: temporal ones from the inside, spatial ones from the outside. */
static void add_loops(tf_even_maker *k, const tf_path *path, tf_even_slice *v) {
  v->temporal = TF_ARRAY(k->a, tf_even_loop, (size_t)path->n);
  tf_even_shift *pool = TF_ARRAY(k->a, tf_even_shift, (size_t)(path->n * v->n_rank));
  k->oom |= !v->temporal || !pool;
  k->ok &= !k->oom;
  if (!k->ok) return;
  for (int pos = path->n - 1; pos >= 0 && k->ok; pos--)
    if (path->temporal >> pos & 1) v->temporal[v->n_temporal++] = loop_at(k, path, pos, v, &pool);
  v->spatial = v->temporal + v->n_temporal;
  for (int pos = 0; pos < path->n && k->ok; pos++)
    if (!(path->temporal >> pos & 1)) v->spatial[v->n_spatial++] = loop_at(k, path, pos, v, &pool);
}

static void add_slice(tf_even_maker *k, const tf_slice *s, tf_even_slice *v) {
  const tf_path *path = &k->p->path[s->node];
  uint64_t moves = add_ranks(k, s, v);
  v->again = TF_ARRAY(k->a, int, 2 * (size_t)path->n);
  k->oom |= !v->again;
  k->ok &= !k->oom;
  if (!k->ok) return;
  v->n_again = list(path, s->inside & path->temporal & ~moves, v->again);
  v->same = v->again + v->n_again;
  v->n_same = list(path, s->merge & ~moves, v->same);
  v->server = tf_plan_mtile(k->p, s->node, s->above);
  const uint64_t below =
      tf_path_spatial(k->p, s->node) & ~(v->server < 0 ? 0 : tf_path_spatial(k->p, v->server));
  v->asks = v->same + v->n_same;
  v->n_asks = list(path, below & ~(s->merge & ~moves), v->asks);
  if (s->level >= 0) add_loops(k, path, v);
}

/* Condition: loops above the common scope must move both slices of a class equally, or have one
 * step. */
static void align(tf_even_maker *k, int i) {
  const tf_plan *p = k->p;
  for (int c = 0; c < p->slices[i].n_class && k->ok; c++) {
    const tf_reuse_case *cl = &p->slices[i].classes[c];
    if (cl->prev < 0 || cl->common < 0) continue;
    const tf_even_slice *v = &k->e->slices[i], *q = &k->e->slices[cl->prev];
    const tf_path *path = &p->path[cl->common];
    for (int pos = 0; pos < path->n; pos++) {
      bool outer =
          p->loops[path->loops[pos]].axis != TF_TEMPORAL || cl->stepping < 0 || pos <= cl->stepping;
      for (int r = 0; r < v->n_rank && outer; r++)
        if (tf_even_shift_of(&k->e->ranges[v->range[r]], pos) !=
            tf_even_shift_of(&k->e->ranges[q->range[r]], pos))
          if (v->by_run || !q->by_run) fix(k, v, path->loops[pos]);
    }
  }
}

static void add_cuts(tf_even_maker *k, int z, int d, tf_even_home *h) {
  const tf_plan *p = k->p;
  int leaf = p->tree->op_node[p->wl->tensors[z].producer];
  const tf_path *path = &p->path[leaf];
  h->cut = TF_ARRAY(k->a, int, (size_t)path->n + 1);
  k->oom |= !h->cut;
  k->ok &= !k->oom;
  for (int j = 0; j < path->n && k->ok; j++)
    if (tf_plan_selects(p, z, path->loops[j]) && p->loops[path->loops[j]].dim == d)
      h->cut[h->n++] = path->loops[j];
}

static void add_more(tf_even_maker *k, int z, tf_even_home *h) {
  const tf_path *path = &k->p->path[k->p->home_scope[z]];
  h->more = TF_ARRAY(k->a, int, (size_t)path->n + 1);
  h->distance = TF_ARRAY(k->a, int64_t, (size_t)path->n + 1);
  k->oom |= !h->more || !h->distance;
  k->ok &= !k->oom;
  for (int pos = 0; pos < path->n && k->ok; pos++) {
    int64_t by = tf_even_shift_of(&k->e->ranges[h->range], pos);
    if (!by || !tf_plan_brings(k->p, z, path->loops[pos])) continue;
    h->more[h->n_more] = path->loops[pos];
    h->distance[h->n_more++] = by < 0 ? -by : by;
  }
}

static void add_homes(tf_even_maker *k) {
  const tf_workload *wl = k->p->wl;
  int n = 0;
  for (int z = 0; z < wl->n_tensors && k->ok; z++) {
    k->e->home_at[z] = k->p->home_scope[z] < 0 ? -1 : n;
    for (int r = 0; k->p->home_scope[z] >= 0 && r < wl->tensors[z].rank; r++) {
      int d = wl->ops[wl->tensors[z].producer].dims[r];
      k->e->home[n].range = tf_even_range_at(k, wl->tensors[z].producer, d, k->p->home_scope[z]);
      add_cuts(k, z, d, &k->e->home[n]);
      add_more(k, z, &k->e->home[n++]);
    }
  }
}

static bool add_room(tf_even_maker *k) {
  const tf_plan *p = k->p;
  size_t ops = (size_t)p->wl->n_ops, dims = (size_t)p->wl->n_dims, ranks = 0;
  for (int z = 0; z < p->wl->n_tensors; z++)
    ranks += (size_t)p->wl->tensors[z].rank;
  k->range_of = TF_ARRAY(k->a, int, ops *dims *(size_t)p->tree->n_nodes);
  k->whole = TF_ARRAY(k->a, int, dims);
  k->chain = TF_ARRAY(k->a, int, ops *(size_t)p->n_loops + 1);
  k->e->step = TF_ARRAY(k->a, int, (size_t)p->n_loops + 1);
  k->e->slices = TF_ARRAY(k->a, tf_even_slice, (size_t)p->n_slices + 1);
  k->e->stream = TF_ARRAY(k->a, tf_even_slice, ops);
  k->e->home = TF_ARRAY(k->a, tf_even_home, ranks + 1);
  k->e->home_at = TF_ARRAY(k->a, int, (size_t)p->wl->n_tensors);
  k->e->op_step = k->chain;
  return k->range_of && k->whole && k->chain && k->e->step && k->e->slices && k->e->stream &&
         k->e->home && k->e->home_at;
}

static void gather(tf_even_maker *k) {
  const tf_plan *p = k->p;
  tf_even_chains(k);
  for (int i = 0; i < p->n_slices && k->ok; i++)
    add_slice(k, &p->slices[i], &k->e->slices[i]);
  for (int o = 0; o < p->wl->n_ops && k->ok; o++) {
    k->e->stream[o].n_rank = -1;
    if (p->stream[o].node >= 0) add_slice(k, &p->stream[o], &k->e->stream[o]);
  }
  for (int i = 0; i < p->n_tile_slices && k->ok; i++)
    align(k, i);
  add_homes(k);
}

tf_even *tf_even_new(tf_arena *a, const tf_plan *p, bool *oom) {
  tf_even_maker k = {.a = a, .p = p, .e = TF_NEW(a, tf_even), .ok = true};
  *oom = !k.e || !add_room(&k);
  if (*oom || p->irregular) return NULL;
  gather(&k);
  k.e->chain_of = TF_ARRAY(a, int, (size_t)p->n_loops + 1);
  k.oom |= !k.e->chain_of;
  for (int l = 0; l < p->n_loops && k.ok && !k.oom; l++)
    while (k.e->chains[k.e->chain_of[l]].lead != p->loops[l].chain_node ||
           k.e->chains[k.e->chain_of[l]].dim != p->loops[l].dim)
      k.e->chain_of[l]++;
  *oom = k.oom;
  return k.ok ? k.e : NULL;
}
