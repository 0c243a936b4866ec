/* Ranges as products of trip counts, and how far each loop moves them: see even.h; the rules are in
 * infer.h. */
#include <string.h>

#include "model/cost/quick/make.h"
#include "model/input/dims.h"
#include "model/tree/infer.h"

void *tf_even_grow(tf_even_maker *k, void *list, int n, int *cap, size_t size) {
  if (n < *cap) return list;
  int more = *cap ? 2 * *cap : 16;
  void *bigger = tf_arena_array(k->a, (size_t)more, size);
  if (!bigger) {
    k->ok = false;
    k->oom = true;
    return NULL;
  }
  if (n) memcpy(bigger, list, (size_t)n * size);
  *cap = more;
  return bigger;
}

/* ---- products ------------------------------------------------------------------------------ */

static int product_after(tf_even_maker *k, int next, int loop) {
  for (int i = 1; i < k->e->n_products; i++)
    if (k->e->products[i].next == next && k->e->products[i].loop == loop) return i;
  return TF_EVEN_PUSH(k, products, (tf_product){next, loop});
}

static int whole(tf_even_maker *k, int d) {
  if (!k->whole[d])
    k->whole[d] =
        1 + TF_EVEN_PUSH(k, ranges, (tf_even_range){.len = k->p->wl->dims[d].extent, .visits = 1});
  return k->whole[d] - 1;
}

/* Whether two ranges are the same by construction. */
static bool same_range(const tf_even *e, int a, int b) {
  const tf_even_range *x = &e->ranges[a], *y = &e->ranges[b];
  if (a == b) return true;
  if (x->by_run || y->by_run) return false;
  if (x->what != y->what || x->what == TF_HULL) return false;
  if (x->what == TF_WHOLE) return x->len == y->len;
  return x->product == y->product && x->chain == y->chain && x->moves == y->moves &&
         same_range(e, x->base, y->base);
}

/* The chain of the loops on dim d that begin where op o leads, and split the range `base`. */
static int chain(tf_even_maker *k, int o, int d, int base) {
  tf_even *e = k->e;
  for (int i = 0; i < e->n_chains; i++)
    if (e->chains[i].lead == k->p->lead[o] && e->chains[i].dim == d) {
      if (same_range(e, e->chains[i].base, base)) return i;
      e->chains[i].may_differ = true;
      TF_EVEN_PUSH(k, others, (tf_even_other){i, base, o});
      return i;
    }
  return TF_EVEN_PUSH(k, chains, (tf_even_chain){.lead = k->p->lead[o], .dim = d, .base = base});
}

/* The product of dim d's loops on op o's chain; also notes the product below each of them. */
static int chain_product(tf_even_maker *k, int o, int d) {
  const tf_plan *p = k->p;
  const tf_path *path = &p->path[p->tree->op_node[o]];
  int below = 0;
  for (int j = path->n - 1; j >= p->path[p->lead[o]].n && k->ok; j--) {
    int l = path->loops[j];
    if (p->loops[l].dim != d) continue;
    k->chain[o * p->n_loops + l] = below;
    below = product_after(k, below, l);
  }
  return below;
}

/* Adds the condition that every chain covers the range that enters it. */
static void add_covers(tf_even_maker *k) {
  const tf_plan *p = k->p;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int i = 0; i < p->wl->ops[o].n_dims && k->ok; i++)
      TF_EVEN_PUSH(k, covers, (tf_even_cover){chain_product(k, o, p->wl->ops[o].dims[i]), 0});
  for (int o = 0, c = 0; o < p->wl->n_ops; o++) {
    int up = p->tree->nodes[p->lead[o]].parent;
    for (int i = 0; i < p->wl->ops[o].n_dims && k->ok; i++, c++) {
      int d = p->wl->ops[o].dims[i], range = up < 0 ? whole(k, d) : tf_even_range_at(k, o, d, up);
      k->e->covers[c].range = range;
      chain(k, o, d, range);
    }
  }
}

static void loop_steps(tf_even_maker *k) {
  const tf_plan *p = k->p;
  for (int l = 0; l < p->n_loops && k->ok; l++) {
    const tf_ploop *pl = &p->loops[l];
    if (pl->op < 0) {
      k->ok = false;
      return;
    }
    k->e->step[l] = k->chain[pl->op * p->n_loops + l];
    if (pl->clash) TF_EVEN_PUSH(k, fixed, l);
    for (int i = 0; i < pl->n_leader; i++) {
      int other = k->chain[pl->leaders[i] * p->n_loops + l];
      if (other != k->e->step[l]) TF_EVEN_PUSH(k, equals, (tf_even_equal){l, k->e->step[l], other});
    }
  }
}

/* ---- ranges --------------------------------------------------------------------------------- */

int64_t tf_even_shift_of(const tf_even_range *r, int pos) {
  return r->moves >> pos & 1 ? r->shift[pos] : 0;
}

static int visits(int a, int b) { return a + b < TF_EVEN_VISITS ? a + b : TF_EVEN_VISITS; }

/* Allocates the shifts of range r, whose `moves` is known. */
static bool shift_room(tf_even_maker *k, tf_even_range *r) {
  if (!r->moves) return true;
  r->shift = TF_ARRAY(k->a, int64_t, (size_t)(64 - __builtin_clzll(r->moves)));
  k->oom |= !r->shift;
  k->ok &= !k->oom;
  return k->ok;
}

/* The part of `base` after loop `last` of op o's chain has split it; `loops`: positions of the
 * chain. */
static int part(tf_even_maker *k, int base, int prod, int of, uint64_t loops) {
  const tf_even_range *b = &k->e->ranges[base];
  tf_even_range r = {.what = TF_PART,
                     .product = prod,
                     .base = base,
                     .chain = of,
                     .moves = b->moves | loops,
                     .mixed = b->mixed,
                     .depends = b->depends | loops,
                     .by_run = b->by_run,
                     .visits = visits(b->visits, 1)};
  if (!shift_room(k, &r)) return 0;
  for (uint64_t left = r.moves; left; left &= left - 1) {
    int pos = __builtin_ctzll(left);
    r.shift[pos] = loops >> pos & 1 ? 1 : tf_even_shift_of(b, pos);
  }
  return TF_EVEN_PUSH(k, ranges, r);
}

static void add_terms(tf_even_maker *k, int o, const tf_index *ix, int n, tf_even_read *read) {
  int ranges[16];
  for (int i = 0; i < ix->n_terms && i < 16; i++)
    ranges[i] = tf_even_range_at(k, o, ix->terms[i].dim, n);
  read->c = ix->c;
  read->first = k->e->n_terms;
  read->n = ix->n_terms;
  k->ok &= ix->n_terms <= 16;
  for (int i = 0; i < ix->n_terms && k->ok; i++)
    TF_EVEN_PUSH(k, terms, (tf_even_term){ranges[i], ix->terms[i].coef});
}

/* How far position pos moves a read. */
static int64_t read_shift(const tf_even_maker *k, const tf_even_read *read, int pos) {
  int64_t by = 0;
  for (int t = read->first; t < read->first + read->n; t++)
    by += k->e->terms[t].coef * tf_even_shift_of(&k->e->ranges[k->e->terms[t].range], pos);
  return by;
}

/* The shifts of a hull of n reads: those of the first; mixed where another read differs. */
static void hull_shifts(tf_even_maker *k, const tf_even_read *reads, int n, tf_even_range *r) {
  for (int i = 0; i < n; i++)
    for (int t = reads[i].first; t < reads[i].first + reads[i].n; t++) {
      const tf_even_range *of = &k->e->ranges[k->e->terms[t].range];
      r->moves |= of->moves;
      r->mixed |= of->mixed;
      r->depends |= of->depends;
      r->by_run |= of->by_run;
      r->visits = visits(r->visits, of->visits);
    }
  if (!shift_room(k, r)) return;
  for (uint64_t left = r->moves; left; left &= left - 1) {
    int pos = __builtin_ctzll(left);
    r->shift[pos] = read_shift(k, &reads[0], pos);
    for (int i = 1; i < n; i++)
      if (read_shift(k, &reads[i], pos) != r->shift[pos]) r->mixed |= left & -left;
    if (!r->shift[pos]) r->moves &= ~(left & -left);
  }
}

/* The rank of tensor z, below a node, to which the reads refer. */
typedef struct {
  const tf_tensor *z;
  int rank, node;
  bool made; /* what the producer of z has to compute */
  bool own;  /* no read: what an op writes of z */
} rank_of;

/* Whether all reads are of plain dims whose ranges are the same. */
static bool all_same(const tf_even *e, const tf_even_read *reads, int n) {
  bool same = n > 0;
  for (int i = 0; i < n && same; i++)
    same = reads[i].n == 1 && reads[i].c == 0 && e->terms[reads[i].first].coef == 1 &&
           same_range(e, e->terms[reads[0].first].range, e->terms[reads[i].first].range);
  return same;
}

/* The hull of n reads below one node; of plain dims of one range it is that range, if nothing is
 * padded. */
static int hull(tf_even_maker *k, const tf_even_read *reads, int n, const rank_of *of) {
  const tf_tensor *z = of->z;
  bool pads = z->pad[of->rank] > 0 && !of->own;
  if (!pads && all_same(k->e, reads, n)) return k->e->terms[reads[0].first].range;
  tf_even_range r = {.what = TF_HULL,
                     .visits = 1,
                     .first = k->e->n_reads,
                     .n = n,
                     .path = &k->p->path[of->node],
                     .made = of->made,
                     .from = pads ? z->lo[of->rank] : 0,
                     .to = pads ? z->lo[of->rank] + z->extent[of->rank] : 0};
  hull_shifts(k, reads, n, &r);
  for (int i = 0; i < n && k->ok; i++)
    TF_EVEN_PUSH(k, reads, reads[i]);
  return TF_EVEN_PUSH(k, ranges, r);
}

/* The range that a run of a retaining scope needs, and computes if nothing of it is held. */
static int run_range(tf_even_maker *k, int range) {
  if (!k->ok) return 0;
  tf_even_range r = k->e->ranges[range];
  r.by_run = true;
  return TF_EVEN_PUSH(k, ranges, r);
}

static int demanded(tf_even_maker *k, int o, int rank, int n) {
  const tf_workload *wl = k->p->wl;
  tf_even_read reads[TF_EVEN_READS];
  int n_reads = 0;
  TF_EACH_READ (k->p->facts, o, n, at) {
    k->ok &= n_reads < TF_EVEN_READS;
    if (!k->ok) return 0;
    add_terms(k, at.op, &wl->ops[at.op].reads[at.ref].index[rank], n, &reads[n_reads++]);
  }
  k->ok &= n_reads > 0;
  rank_of of = {.z = &wl->tensors[wl->ops[o].out], .rank = rank, .node = n, .made = true};
  const int range = k->ok ? hull(k, reads, n_reads, &of) : 0;
  return k->p->retained[wl->ops[o].out] && n == k->p->home_scope[wl->ops[o].out]
             ? run_range(k, range)
             : range;
}

/* The range of dim d of op o, which leads at n. */
static int led(tf_even_maker *k, int o, int d, int n) {
  const tf_plan *p = k->p;
  const tf_path *path = &p->path[n];
  int up = p->tree->nodes[p->lead[o]].parent, last = -1;
  int base = up < 0 ? whole(k, d) : tf_even_range_at(k, o, d, up);
  uint64_t loops = 0;
  for (int j = p->path[p->lead[o]].n; j < path->n; j++)
    if (p->loops[path->loops[j]].dim == d) {
      loops |= UINT64_C(1) << j;
      last = path->loops[j];
    }
  return last >= 0 ? part(k, base, k->chain[o * p->n_loops + last], chain(k, o, d, base), loops)
                   : base;
}

static int found_range(tf_even_maker *k, int o, int d, int n) {
  const tf_range_from from = tf_range_source(k->p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led(k, o, d, n);
  case TF_BY_READERS: return demanded(k, o, from.source, n);
  case TF_BY_LEADER: return tf_even_range_at(k, from.source, d, n);
  case TF_BY_EXTENT: break;
  }
  return whole(k, d);
}

int tf_even_range_at(tf_even_maker *k, int o, int d, int n) {
  const tf_plan *p = k->p;
  if (!k->ok) return 0;
  if (tf_op_slot(&p->wl->ops[o], d) < 0) {
    k->ok = false;
    return 0;
  }
  int *memo = &k->range_of[(o * p->wl->n_dims + d) * p->tree->n_nodes + n];
  if (!*memo) *memo = 1 + found_range(k, o, d, n);
  return *memo - 1;
}

int tf_even_touched(tf_even_maker *k, const tf_slice *s, int rank) {
  const tf_plan *p = k->p;
  tf_even_read reads[TF_EVEN_READS];
  if (s->n_touch > TF_EVEN_READS) {
    k->ok = false;
    return 0;
  }
  for (int i = 0; i < s->n_touch && s->n_touch > 1 && p->wl->tensors[s->tensor].pad[rank]; i++)
    if (s->touch[i].ref < 0) /* the producer makes all that the others read */
      return tf_even_range_at(k, s->touch[i].op, p->wl->ops[s->touch[i].op].dims[rank], s->node);
  for (int i = 0; i < s->n_touch && k->ok; i++) {
    const tf_touch *t = &s->touch[i];
    const tf_op *op = &p->wl->ops[t->op];
    tf_term own = {t->ref < 0 ? op->dims[rank] : 0, 1};
    tf_index plain = {.n_terms = 1, .terms = &own};
    add_terms(k, t->op, t->ref < 0 ? &plain : &op->reads[t->ref].index[rank], s->node, &reads[i]);
  }
  rank_of of = {.z = &p->wl->tensors[s->tensor],
                .rank = rank,
                .node = s->node,
                .own = s->n_touch == 1 && s->touch[0].ref < 0};
  return k->ok ? hull(k, reads, s->n_touch, &of) : 0;
}

void tf_even_chains(tf_even_maker *k) {
  TF_EVEN_PUSH(k, products, (tf_product){0, 0});
  add_covers(k);
  loop_steps(k);
}
