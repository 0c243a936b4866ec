/* Finds the components of a slice: sets of loops that interact, through a chain, a rank or a
 * retaining scope. */
#include "model/cost/general/comps.h"

#include <string.h>

#include "model/flow/retain.h"
#include "model/flow/skip.h"
#include "model/input/dims.h"

/* Adds `c` to the list, merged with every entry that shares a loop with it. */
static int join_component(tf_comp *list, int n, tf_comp c) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    if (!(list[i].loops & c.loops)) {
      list[kept++] = list[i];
      continue;
    }
    c.loops |= list[i].loops;
    c.prev_loops |= list[i].prev_loops;
    c.retain = c.retain > list[i].retain ? c.retain : list[i].retain;
    for (int k = 0; k < list[i].n_rank; k++)
      c.rank[c.n_rank++] = list[i].rank[k];
  }
  list[kept++] = c;
  return kept;
}

/* The loops in the chain of path position k, and those on which the range that enters the chain
 * depends. */
static uint64_t chain_mask(const tf_plan *p, const tf_path *path, int k) {
  const tf_ploop *l = &p->loops[path->loops[k]];
  uint64_t mask = UINT64_C(1) << k;
  for (int j = 0; j < path->n; j++)
    if (p->loops[path->loops[j]].chain_node == l->chain_node &&
        p->loops[path->loops[j]].dim == l->dim && p->loops[path->loops[j]].op >= 0)
      mask |= UINT64_C(1) << j;
  for (int i = 0; i < l->n_leader; i++)
    mask |= tf_base_mask(p, l->leaders[i], l->dim);
  return mask;
}

/* The loops on which rank r of the previous m-tile depends: those common to both paths, and (in
 * *own) its own.  (Its own spatial loops have counterparts on s's path, which move the same rank:
 * tf_layouts_agree.) */
static uint64_t prev_mask(const tf_plan *p, const tf_reuse_case *c, int r, uint64_t *own) {
  if (c->prev < 0 || c->common < 0) return 0;
  const tf_slice *q = &p->slices[c->prev];
  uint64_t mask = tf_slice_mask(p, q, r), shared = 0;
  int n_shared = p->path[c->common].n;
  for (int k = 0; k < n_shared; k++)
    shared |= UINT64_C(1) << k;
  *own = mask & ~shared;
  return mask & shared;
}

/* If runs of a retaining scope matter, all loops above it form one component. */
static int join_retain(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c, tf_comp *list,
                       int n) {
  if (!tf_retain_matters(p, s, c)) return n;
  const int h = p->retain_at[s->node];
  const tf_retain *r = &p->retains[h];
  return join_component(list, n,
                        (tf_comp){.loops = r->moves | p->path[r->scope].temporal, .retain = h});
}

/* The loops that decide which steps of s, and of the previous m-tile, are skipped: one
 * component. */
static tf_comp skip_comp(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  tf_comp k = {.loops = tf_skip_loops(p, s->node), .retain = -1};
  if (!c || c->prev < 0 || c->common < 0) return k;
  const uint64_t before = tf_skip_loops(p, p->slices[c->prev].node);
  const uint64_t shared = ~(~UINT64_C(0) << p->path[c->common].n);
  k.loops |= before & shared;
  k.prev_loops = before & ~shared;
  return k;
}

/* The components; skips: if steps are skipped. */
static int gather(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c, bool skips,
                  tf_comp *list) {
  const tf_path *path = &p->path[s->node];
  const tf_comp skip = skips ? skip_comp(p, s, c) : (tf_comp){.retain = -1};
  int n = skip.loops ? join_component(list, 0, skip) : 0;
  for (int k = 0; k < path->n; k++)
    if (p->loops[path->loops[k]].op >= 0)
      n = join_component(list, n, (tf_comp){.loops = chain_mask(p, path, k), .retain = -1});
  for (int r = 0; s->tensor >= 0 && r < p->wl->tensors[s->tensor].rank; r++) {
    tf_comp own = {
        .loops = tf_slice_mask(p, s, r), .n_rank = 1, .rank = {(unsigned char)r}, .retain = -1};
    if (c) own.loops |= prev_mask(p, c, r, &own.prev_loops);
    if (own.prev_loops & skip.prev_loops) { /* where they end depends on the others */
      own.loops |= skip.loops;
      own.prev_loops |= skip.prev_loops;
    }
    n = join_component(list, n, own);
  }
  return n;
}

/* Whether the loops and ranks of the part are in the component. */
static bool belongs(const tf_comp *part, const tf_comp *comp) {
  for (int i = 0; i < part->n_rank; i++)
    for (int k = 0; k < comp->n_rank; k++)
      if (part->rank[i] == comp->rank[k]) return true;
  return part->loops & comp->loops;
}

/* Adds the parts: the components without retention and skipping. */
static bool add_parts(tf_arena *a, const tf_plan *p, const tf_slice *s, const tf_reuse_case *c,
                      tf_comp *comp) {
  tf_comp list[TF_MAX_PATH + TF_MAX_RANK + 1];
  tf_plan bare = *p;
  bare.made_mask = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  if (!bare.made_mask) return false;
  int n = gather(&bare, s, c, false, list);
  comp->part = TF_ARRAY(a, tf_comp, (size_t)n + 1);
  if (!comp->part) return false;
  for (int i = 0; i < n; i++)
    if (belongs(&list[i], comp)) comp->part[comp->n_part++] = list[i];
  for (int i = 0; i < comp->n_rank; i++)
    comp->moving |= tf_slice_mask(&bare, s, comp->rank[i]);
  return true;
}

typedef struct {
  tf_comp *list; /* NULL: out of memory */
  int n;
} comps;

/* All components of slice s for class c (NULL: for the box alone). */
static comps build(tf_arena *a, const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  const comps none = {NULL, 0};
  tf_comp list[TF_MAX_PATH + TF_MAX_RANK + 1];
  int n = join_retain(p, s, c, list, gather(p, s, c, true, list));
  const uint64_t skips = skip_comp(p, s, c).loops;
  comps out = {TF_ARRAY(a, tf_comp, (size_t)n + 1), n};
  if (!out.list) return none;
  memcpy(out.list, list, (size_t)n * sizeof list[0]);
  for (int i = 0; i < n; i++)
    if ((out.list[i].retain >= 0 || out.list[i].loops & skips) &&
        !add_parts(a, p, s, c, &out.list[i]))
      return none;
  return out;
}

/* Whether a loop moves two terms of one index, whose shifts may cancel. */
static bool moves_two_terms(const tf_plan *p, int o, const tf_index *ix) {
  uint64_t moved = 0;
  for (int t = 0; t < ix->n_terms; t++) {
    const uint64_t mask = tf_dim_mask(p, o, ix->terms[t].dim, p->tree->op_node[o]);
    if (moved & mask) return true;
    moved |= mask;
  }
  return false;
}

static bool some_move_two_terms(const tf_plan *p) {
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int i = 0; i < p->wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &p->wl->ops[o].reads[i];
      for (int r = 0; r < p->wl->tensors[ref->tensor].rank; r++)
        if (moves_two_terms(p, o, &ref->index[r])) return true;
    }
  return false;
}

enum { MOST_LOOKS = 4096 }; /* readers of readers; more, and a range counts as split by nobody */

/* The dim that loops split to give the range of dim d of op o at node n, handed on by plain reads
 * alone; -1: none, or several. */
static int split_dim(const tf_plan *p, int o, int d, int n, int *looks) {
  const tf_range_from from = tf_range_source(p->facts, o, d, n);
  if (from.rule == TF_BY_LOOPS) return d;
  if (++*looks > MOST_LOOKS || from.rule == TF_BY_EXTENT) return -1;
  if (from.rule == TF_BY_LEADER) return split_dim(p, from.source, d, n, looks);
  int all = -1;
  bool any = false;
  TF_EACH_READ (p->facts, o, n, at) {
    const tf_index *ix = &p->wl->ops[at.op].reads[at.ref].index[from.source];
    if (ix->n_terms != 1 || ix->terms[0].coef != 1 || ix->c ||
        p->wl->tensors[at.tensor].pad[from.source])
      return -1;
    const int one = split_dim(p, at.op, ix->terms[0].dim, n, looks);
    if (one < 0 || (any && one != all)) return -1;
    all = one, any = true;
  }
  return all;
}

/* Whether loops above node n move dim d of op a and of op b alike: one may be what readers ask for,
 * the other be reduced, and whole. */
static bool moved_alike(const tf_plan *p, int a, int b, int d, int n) {
  int looks = 0;
  if (a == b || n < 0) return true;
  const uint64_t mask = tf_dim_mask(p, a, d, n);
  if (mask != tf_dim_mask(p, b, d, n)) return false;
  const int by = mask ? split_dim(p, a, d, n, &looks) : 0;
  return !mask || (by >= 0 && by == split_dim(p, b, d, n, &looks));
}

/* Whether op o's output is the hull of reads that need not move equally: a loop that moves one of
 * them may leave the hull in place. */
static bool read_unlike(const tf_plan *p, int o) {
  const tf_ref *first = NULL;
  int by = -1;
  const int scope = p->home_scope[p->wl->ops[o].out];
  TF_EACH_READ (p->facts, o, 0, at) {
    const tf_ref *ref = &p->wl->ops[at.op].reads[at.ref];
    for (int r = 0; first && r < p->wl->tensors[at.tensor].rank; r++) {
      if (!tf_index_moves_as(&first->index[r], &ref->index[r])) return true;
      for (int t = 0; t < ref->index[r].n_terms; t++)
        if (!moved_alike(p, by, at.op, ref->index[r].terms[t].dim, scope)) return true;
    }
    first = ref;
    by = at.op;
  }
  return false;
}

static bool some_read_unlike(const tf_plan *p) {
  bool any = false;
  for (int o = 0; o < p->wl->n_ops && !any; o++)
    any = read_unlike(p, o);
  return any;
}

/* cancel: steps of a loop may leave a box in place, although its ranges depend on the loop. */
static bool fill(tf_arena *a, tf_plan *p, tf_slice *s, bool cancel) {
  comps k = build(a, p, s, NULL);
  s->comp = k.list;
  s->n_comp = k.n;
  s->plain = s->n_touch == 1 && !p->cuts && !cancel;
  for (int r = 0; s->tensor >= 0 && r < p->wl->tensors[s->tensor].rank; r++) {
    s->plain &= p->wl->tensors[s->tensor].pad[r] == 0;
    s->moving |= tf_slice_mask(p, s, r);
  }
  for (int i = 0; i < s->n_class && k.list; i++) {
    k = build(a, p, s, &s->classes[i]);
    s->classes[i].comp = k.list;
    s->classes[i].n_comp = k.n;
  }
  return k.list != NULL;
}

/* Spatial loops above node n on which the ranges of two chains of temporal loops there depend: if
 * borders clip both, or differently moving reads stretch both, one instance may take more steps of
 * one chain, and another more of the other. */
static uint64_t tied_loops(const tf_plan *p, int n) {
  const tf_path *path = &p->path[n];
  uint64_t common_spatial = 0;
  for (int k = 0; k < path->n; k++)
    for (int j = 0; j < k; j++) {
      const tf_ploop *one = &p->loops[path->loops[j]], *other = &p->loops[path->loops[k]];
      if (!(path->temporal >> j & path->temporal >> k & 1) || one->op < 0 || other->op < 0 ||
          tf_plan_same_chain(p, path->loops[j], path->loops[k]))
        continue;
      common_spatial |= tf_base_mask(p, one->op, one->dim) &
                        tf_base_mask(p, other->op, other->dim) & ~path->temporal;
    }
  return common_spatial;
}

bool tf_comps_fill(tf_arena *a, tf_plan *p) {
  p->unlike_reads = some_read_unlike(p);
  const bool cancel = some_move_two_terms(p) || p->unlike_reads;
  for (int i = 0; i < p->n_slices; i++)
    if (!fill(a, p, &p->slices[i], cancel)) return false;
  for (int o = 0; o < p->wl->n_ops; o++)
    if (p->stream[o].node >= 0 && !fill(a, p, &p->stream[o], cancel)) return false;
  tf_plan bare = *p; /* without retention: then every run's ranges depend on all loops above */
  bare.made_mask = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  p->node_slice = bare.made_mask ? TF_ARRAY(a, tf_slice, (size_t)p->tree->n_nodes) : NULL;
  for (int i = 0; p->node_slice && i < p->tree->n_nodes; i++) {
    p->node_slice[i] = (tf_slice){.node = i, .level = -1, .tensor = -1};
    if (!fill(a, p, &p->node_slice[i], cancel)) return false;
    if (p->cuts || p->unlike_reads) p->node_slice[i].tied = tied_loops(&bare, i);
  }
  return p->node_slice != NULL;
}
