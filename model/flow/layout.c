#include "model/flow/layout.h"

#include <string.h>

#include "model/flow/out_of_bounds.h"
#include "model/flow/plan_class.h"
#include "model/input/dims.h"

enum { TF_MAX_READS = 64 }; /* most reads of one tensor that are considered */

/* Whether borders may cut the range of dim d with which op o enters the node from which it
 * leads. */
static bool may_be_cut(const tf_plan *p, int o, int d) {
  const int rank = tf_out_rank(&p->wl->ops[o], d);
  if (!p->cuts || rank < 0) return false;
  const tf_ends e = p->lost[o * TF_MAX_RANK + rank];
  return e.before > 0 || e.after > 0;
}

/* Whether loop l, and all loops it depends on, split their ranges without remainder. */
static bool even(tf_eval *ev, tf_scratch *w, int l) {
  const tf_plan *p = ev->plan;
  const tf_ploop *pl = &p->loops[l];
  if (pl->op < 0) return true;
  int leafn = p->tree->op_node[pl->op], up = p->tree->nodes[pl->chain_node].parent;
  const tf_path *path = &p->path[leafn];
  int64_t product = 1, len = p->wl->dims[pl->dim].extent;
  for (int k = 0; k < path->n; k++)
    if (tf_plan_same_chain(p, l, path->loops[k]) &&
        __builtin_mul_overflow(product, ev->trip[path->loops[k]], &product))
      return false;
  if (up >= 0) len = tf_dim_range(ev, pl->op, pl->dim, pl->chain_node, w->zero).len;
  uint64_t base = tf_base_mask(p, pl->op, pl->dim);
  for (int k = 0; k < path->n; k++)
    if (base >> k & 1 &&
        ((ev->parts && ev->parted[path->loops[k]]) || !even(ev, w, path->loops[k])))
      return false;
  return product == len && !may_be_cut(p, pl->op, pl->dim);
}

/* The shift, per rank of the slice, that one step of loop l gives its box. */
static void effect(tf_eval *ev, tf_scratch *w, const tf_slice *s, int l, int64_t *shift) {
  tf_ival **made = ev->made;
  ev->noclip = ev->whole = true;
  ev->made = NULL;
  for (int r = 0; r < ev->plan->wl->tensors[s->tensor].rank; r++) {
    w->zero[l] = 0;
    int64_t at = tf_slice_rank(ev, s, r, w->zero).lo;
    w->zero[l] = 1;
    shift[r] = tf_slice_rank(ev, s, r, w->zero).lo - at;
  }
  w->zero[l] = 0;
  ev->noclip = ev->whole = false;
  ev->made = made;
}

/* The next loop at or after i of slice s's path that is spatial, below node `from`, and more than
 * one instance wide; the path's length if there is none. */
static int next_pair(const tf_eval *ev, const tf_slice *s, int from, int i) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[s->node];
  for (; i < path->n; i++)
    if (p->loops[path->loops[i]].axis != TF_TEMPORAL && ev->trip[path->loops[i]] > 1 &&
        tf_plan_above(p, from, p->loops[path->loops[i]].node))
      break;
  return i;
}

/* The shift of rank r of one reference's box by a step of loop l. */
static int64_t touch_shift(tf_eval *ev, tf_scratch *w, const tf_slice *s, int touch, int r, int l) {
  w->zero[l] = 0;
  int64_t at = tf_touch_rank(ev, s->touch[touch], r, s->node, w->zero).lo;
  w->zero[l] = 1;
  int64_t shift = tf_touch_rank(ev, s->touch[touch], r, s->node, w->zero).lo - at;
  w->zero[l] = 0;
  return shift;
}

/* Whether loop l moves some reference of the slice differently from the first. */
static bool parts_by(tf_eval *ev, tf_scratch *w, const tf_slice *s, int l) {
  for (int t = 1; t < s->n_touch && ev->trip[l] > 1; t++)
    for (int r = 0; r < ev->plan->wl->tensors[s->tensor].rank; r++)
      if (touch_shift(ev, w, s, 0, r, l) != touch_shift(ev, w, s, t, r, l)) return true;
  return false;
}

/* Marks the loops that do so. */
static void note_parts(tf_eval *ev, tf_scratch *w, const tf_slice *s) {
  const tf_path *path = &ev->plan->path[s->node];
  for (int k = 0; k < path->n; k++)
    if (parts_by(ev, w, s, path->loops[k])) ev->parts = ev->parted[path->loops[k]] = true;
}

/* Marks the loops that move the reads from which the range of op o's output is inferred by
 * different amounts. */
static void note_demands(tf_eval *ev, tf_scratch *w, int o) {
  const tf_plan *p = ev->plan;
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  int up = p->tree->nodes[p->lead[o]].parent;
  tf_touch touch[TF_MAX_READS];
  tf_slice s = {.node = up, .tensor = p->wl->ops[o].out, .touch = touch};
  for (int i = 0; i < z->n_consumers && up >= 0; i++) {
    const tf_op *reader = &p->wl->ops[z->consumers[i]];
    for (int k = 0; k < reader->n_reads && tf_plan_above(p, up, p->tree->op_node[z->consumers[i]]);
         k++) {
      if (reader->reads[k].tensor != s.tensor) continue;
      ev->irregular |= s.n_touch == TF_MAX_READS; /* more than the limit */
      if (s.n_touch < TF_MAX_READS) touch[s.n_touch++] = (tf_touch){z->consumers[i], k};
    }
  }
  if (s.n_touch > 1) note_parts(ev, w, &s);
}

void tf_find_parted(tf_eval *ev, tf_scratch *w) {
  const tf_plan *p = ev->plan;
  tf_ival **made = ev->made;
  ev->noclip = ev->whole = true;
  ev->made = NULL;
  ev->parts = false;
  memset(ev->parted, 0, (size_t)p->n_loops * sizeof *ev->parted);
  for (int i = 0; i < p->n_tile_slices; i++)
    if (p->slices[i].n_touch > 1) note_parts(ev, w, &p->slices[i]);
  for (int o = 0; o < p->wl->n_ops; o++)
    note_demands(ev, w, o);
  ev->noclip = ev->whole = false;
  ev->made = made;
  ev->irregular |= ev->parts && (p->skips || ev->mixed);
}

bool tf_terms_cancel(tf_eval *ev, tf_scratch *w) {
  int64_t shift[TF_MAX_RANK];
  for (int i = 0; i < ev->plan->n_slices; i++) {
    const tf_slice *s = &ev->plan->slices[i];
    const tf_path *path = &ev->plan->path[s->node];
    for (int k = 0; k < path->n; k++) {
      if (ev->trip[path->loops[k]] <= 1) continue;
      effect(ev, w, s, path->loops[k], shift);
      for (int r = 0; r < ev->plan->wl->tensors[s->tensor].rank; r++)
        if (!shift[r] && tf_slice_mask(ev->plan, s, r) >> k & 1) return true;
    }
  }
  return false;
}

/* Whether the ranges of dim d of two ops that lead from the same node are equally long at this
 * setting when they enter it. */
static bool same_length(const tf_eval *ev, int one, int other, int d, int up, const int64_t *dg) {
  return tf_dim_range(ev, one, d, up, dg).len == tf_dim_range(ev, other, d, up, dg).len;
}

/* Whether a loop above node n is parted: then ranges there may differ between its settings. */
static bool parted_above(const tf_eval *ev, int n) {
  const tf_path *path = &ev->plan->path[n];
  bool any = false;
  for (int k = 0; k < path->n && ev->parts; k++)
    any |= ev->parted[path->loops[k]];
  return any;
}

/* Whether the ranges that loop l splits have different lengths: at the first settings of all loops,
 * at the last, or with one loop at its last. */
static bool lengths_differ(tf_eval *ev, tf_scratch *w, int l) {
  const tf_plan *p = ev->plan;
  const tf_ploop *pl = &p->loops[l];
  const int up = p->tree->nodes[pl->chain_node].parent;
  bool alike = up < 0 || !parted_above(ev, up);
  for (int i = 1; i < pl->n_leader && alike && up >= 0; i++) {
    const int one = pl->leaders[0], other = pl->leaders[i];
    alike = same_length(ev, one, other, pl->dim, up, w->zero);
    tf_last_steps(ev, up, w->cur);
    alike &= same_length(ev, one, other, pl->dim, up, w->cur);
    memset(w->cur, 0, (size_t)p->n_loops * sizeof *w->cur);
    for (int k = 0; k < p->path[up].n && alike; k++) {
      const int outer = p->path[up].loops[k];
      if (p->loops[outer].op < 0) continue;
      w->cur[outer] = tf_nonempty_steps(ev, up, outer, w->zero) - 1;
      alike = same_length(ev, one, other, pl->dim, up, w->cur);
      w->cur[outer] = 0;
    }
  }
  return !alike;
}

bool tf_leaders_part(tf_eval *ev, tf_scratch *w) {
  bool any = false;
  for (int l = 0; l < ev->plan->n_loops && !any; l++)
    any = ev->trip[l] > 1 && ev->plan->loops[l].n_leader > 1 && lengths_differ(ev, w, l);
  return any;
}

/* Whether a step of loop l, which is above both, shifts the boxes of s and q equally. */
static bool same_shift(tf_eval *ev, tf_scratch *w, const tf_slice *s, const tf_slice *q, int l) {
  int64_t a[TF_MAX_RANK], b[TF_MAX_RANK];
  effect(ev, w, s, l, a);
  effect(ev, w, q, l, b);
  return memcmp(a, b, (size_t)ev->plan->wl->tensors[s->tensor].rank * sizeof a[0]) == 0;
}

bool tf_layouts_agree(tf_eval *ev, tf_scratch *w, int one, int other) {
  const tf_plan *p = ev->plan;
  const tf_slice *s = &p->slices[one], *q = &p->slices[other];
  int64_t a[TF_MAX_RANK], b[TF_MAX_RANK];
  size_t bytes = (size_t)p->wl->tensors[s->tensor].rank * sizeof a[0];
  int from = tf_tree_common(p->tree, s->node, q->node);
  bool uneven = false;
  int i = next_pair(ev, s, from, 0), j = next_pair(ev, q, from, 0);
  for (int k = 0; k < p->path[q->node].n; k++)
    w->pair[p->path[q->node].loops[k]] = -1;
  while (i < p->path[s->node].n && j < p->path[q->node].n) {
    int l = p->path[s->node].loops[i], m = p->path[q->node].loops[j];
    effect(ev, w, s, l, a);
    effect(ev, w, q, m, b);
    if (p->loops[l].axis != p->loops[m].axis || ev->trip[l] != ev->trip[m] ||
        memcmp(a, b, bytes) != 0)
      return false;
    w->pair[m] = l;
    uneven |= !even(ev, w, l) || !even(ev, w, m) || (ev->parts && (ev->parted[l] || ev->parted[m]));
    i = next_pair(ev, s, from, i + 1);
    j = next_pair(ev, q, from, j + 1);
  }
  bool agree = i == p->path[s->node].n && j == p->path[q->node].n;
  ev->irregular |= agree && uneven;
  return agree;
}

/* Whether prev holds what a retaining scope computed in a run that s is not part of. */
static bool in_other_run(const tf_plan *p, const tf_slice *s, const tf_slice *prev) {
  for (int i = 0; i < prev->n_touch; i++)
    if (p->made_in[prev->touch[i].op] >= 0 &&
        p->made_in[prev->touch[i].op] == p->retain_at[prev->node] &&
        p->retain_at[prev->node] != p->retain_at[s->node])
      return true;
  return false;
}

/* Positions of the loops above the common scope that move what one m-tile reads and not what the
 * other reads: reuse differs between their settings, and between instances with equal boxes. */
static uint64_t unlike_loops(tf_eval *ev, tf_scratch *w, const tf_slice *s,
                             const tf_reuse_case *c) {
  const tf_path *path = &ev->plan->path[c->common];
  uint64_t unlike = 0;
  for (int k = 0; k < path->n; k++)
    if (ev->trip[path->loops[k]] > 1 &&
        ((ev->parts && ev->parted[path->loops[k]]) ||
         !same_shift(ev, w, s, &ev->plan->slices[c->prev], path->loops[k])))
      unlike |= UINT64_C(1) << k;
  return unlike;
}

bool tf_class_survives(tf_eval *ev, tf_scratch *w, const tf_slice *s, const tf_reuse_case *c) {
  w->unlike = 0;
  ev->irregular |= c->prev < 0 && c->if_idle[1];
  if (c->prev < 0) return false;
  ev->irregular |= in_other_run(ev->plan, s, &ev->plan->slices[c->prev]);
  for (int i = 0; i < c->n_spread; i++)
    if (ev->trip[c->spread[i]] > 1) return false;
  if (c->common >= 0) w->unlike = unlike_loops(ev, w, s, c);
  ev->irregular |= w->unlike && (ev->plan->skips || ev->plan->n_retains || ev->mixed);
  return c->common < 0 || tf_layouts_agree(ev, w, (int)(s - ev->plan->slices), c->prev);
}
