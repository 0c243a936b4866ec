#include "model/cost/sums.h"

#include <string.h>

#include "model/cost/plan_class.h"

/* One sum in progress.  Masks are over path positions of the slice's node. */
typedef struct {
  tf_run *run;
  tf_scratch *w;
  const tf_slice *s, *prev;
  const tf_pclass *c;
  const tf_comp *comp;
  uint64_t zero;   /* at their first setting now (temporal: at their last, before) */
  uint64_t single; /* spatial: counted once, at setting 0 */
  uint64_t each;   /* spatial: every setting by itself, equal boxes counted once */
  int carry;       /* position of the loop that has stepped, -1 */
  int64_t box, kept;
  bool ok;
} tf_walk;

static void add(tf_walk *e, int64_t *sum, int64_t mult, int64_t v) {
  int64_t t;
  if (__builtin_mul_overflow(mult, v, &t) || __builtin_add_overflow(*sum, t, sum))
    e->ok = false;
}

static bool same_chain(const tf_plan *p, int a, int b) {
  return p->loops[a].lead == p->loops[b].lead && p->loops[a].dim == p->loops[b].dim;
}

/* The last setting of temporal loop path->loops[k] that happens, with the spatial loops of its chain
 * further inside (positions in `mask`) where they stand. */
static int64_t last_setting(tf_run *run, const tf_path *path, int k, uint64_t mask,
                            const int64_t *dg) {
  int l = path->loops[k];
  int64_t rest = tf_loop_range(run, l, dg).len - 1;
  for (int j = k + 1; j < path->n; j++)
    if (mask >> j & 1 && run->plan->loops[path->loops[j]].axis != TF_TEMPORAL &&
        same_chain(run->plan, l, path->loops[j]))
      rest -= dg[path->loops[j]] * tf_step(run, path->loops[j]);
  if (rest < 0) {
    run->irregular = true;
    return 0;
  }
  return rest / tf_step(run, l);
}

/* Whether fewer instances of spatial loop l ran at the entry before than now: those left out hold
 * what an older entry left. */
static bool narrower_before(const tf_walk *e, int l) {
  int64_t step = tf_step(e->run, l), trip = e->run->trip[l];
  if (trip <= 1)
    return false;
  int64_t now = (tf_loop_range(e->run, l, e->w->cur).len + step - 1) / step;
  int64_t then = (tf_loop_range(e->run, l, e->w->prv).len + step - 1) / step;
  return then < (now < trip ? now : trip);
}

/* Settings of the loops at the entry before: the carried loop one less, those inside at their last. */
static void set_before(tf_walk *e) {
  const tf_plan *p = e->run->plan;
  const tf_path *path = &p->path[e->s->node];
  const int64_t *cur = e->w->cur;
  int64_t *prv = e->w->prv;
  for (int k = 0; k < path->n; k++)
    if (e->comp->loops >> k & 1)
      prv[path->loops[k]] = cur[path->loops[k]] - (k == e->carry);
  for (int k = 0; k < path->n; k++)
    if ((e->comp->loops & e->zero) >> k & 1 && p->loops[path->loops[k]].axis == TF_TEMPORAL)
      prv[path->loops[k]] = last_setting(e->run, path, k, e->comp->loops, prv);
  for (int k = 0; k < path->n; k++)
    if (e->comp->loops >> k & 1 && p->loops[path->loops[k]].axis != TF_TEMPORAL)
      e->run->irregular |= narrower_before(e, path->loops[k]);
  if (e->prev == e->s || !e->comp->prev_loops)
    return;
  const tf_path *own = &p->path[e->prev->node];
  for (int k = 0; k < own->n; k++)
    if (e->comp->prev_loops >> k & 1 && p->loops[own->loops[k]].axis != TF_TEMPORAL) {
      int64_t twin = e->w->pair[own->loops[k]];
      prv[own->loops[k]] = twin >= 0 ? cur[twin] : 0;
    }
  for (int k = 0; k < own->n; k++)
    if (e->comp->prev_loops >> k & 1 && p->loops[own->loops[k]].axis == TF_TEMPORAL)
      prv[own->loops[k]] = last_setting(e->run, own, k, e->comp->prev_loops, prv);
}

static int64_t overlap(tf_ival a, tf_ival b) {
  int64_t lo = a.lo > b.lo ? a.lo : b.lo;
  int64_t end = a.lo + a.len < b.lo + b.len ? a.lo + a.len : b.lo + b.len;
  return end > lo ? end - lo : 0;
}

/* Remembers the box of one instance; a box met before under the same free loops counts nothing. */
static bool seen_box(tf_walk *e, const int64_t *row, int n) {
  for (int i = 0; i < e->w->n_leaf; i++)
    if (!memcmp(e->w->leaf + (size_t)i * TF_LEAF_WORDS, row, (size_t)n * sizeof *row))
      return true;
  if (e->w->n_leaf == TF_LEAF_MAX) {
    e->run->irregular = true;
    return false;
  }
  memcpy(e->w->leaf + (size_t)e->w->n_leaf++ * TF_LEAF_WORDS, row, (size_t)n * sizeof *row);
  return false;
}

static int64_t free_key(const tf_walk *e) {
  const tf_path *path = &e->run->plan->path[e->s->node];
  uint64_t key = UINT64_C(1469598103934665603);
  for (int k = 0; k < path->n; k++)
    if ((e->comp->loops & ~e->each) >> k & 1)
      key = (key ^ (uint64_t)e->w->cur[path->loops[k]]) * UINT64_C(1099511628211);
  return (int64_t)key;
}

static void leaf(tf_walk *e, int64_t mult) {
  int64_t box = 1, kept = e->prev ? 1 : 0, row[TF_LEAF_WORDS];
  int n = 0;
  if (e->comp->n_rank && e->prev)
    set_before(e);
  for (int i = 0; i < e->comp->n_rank; i++) {
    tf_ival r = tf_slice_rank(e->run, e->s, e->comp->rank[i], e->w->cur), q = {0, 0};
    if (e->prev)
      q = tf_slice_rank(e->run, e->prev, e->comp->rank[i], e->w->prv);
    int64_t both = overlap(r, q);
    box *= r.len;
    kept *= both;
    row[n++] = r.len > 0 ? r.lo : 0;
    row[n++] = r.len;
    row[n++] = both > 0 ? q.lo > r.lo ? q.lo : r.lo : 0;
    row[n++] = both;
  }
  if (e->each) {
    row[n++] = free_key(e);
    if (seen_box(e, row, n))
      return;
  }
  add(e, &e->box, mult, box);
  add(e, &e->kept, mult, kept);
}

/* Whether the spatial loop at position k sees an entry before whose last settings differ from one
 * of its own settings to the next: a partial tile split by a temporal loop that starts anew. */
static bool uneven_before(const tf_walk *e, int k) {
  const tf_plan *p = e->run->plan;
  const tf_path *path = &p->path[e->s->node];
  for (int j = 0; e->prev && j < k; j++)
    if ((e->zero & e->comp->loops) >> j & 1 && same_chain(p, path->loops[j], path->loops[k]) &&
        p->loops[path->loops[j]].axis == TF_TEMPORAL && e->run->trip[path->loops[j]] > 1 &&
        tf_loop_range(e->run, path->loops[j], e->w->cur).len % tf_step(e->run, path->loops[j]))
      return true;
  return false;
}

/* Whether boxes counted one by one find the range that reaches position k cut into unequal parts, by
 * its own chain or by one that the chain starts from. */
static bool uneven_each(const tf_walk *e, int k) {
  const tf_plan *p = e->run->plan;
  const tf_path *path = &p->path[e->s->node];
  for (int j = 0; j < k; j++)
    if (e->each >> j & 1 &&
        tf_loop_range(e->run, path->loops[j], e->w->cur).len % tf_step(e->run, path->loops[j]))
      return true;
  return false;
}

static void settle(tf_walk *e, int k, int64_t mult, bool border);

static void one(tf_walk *e, int k, int64_t digit, int64_t mult, bool border) {
  e->w->cur[e->run->plan->path[e->s->node].loops[k]] = digit;
  settle(e, k + 1, mult, border);
}

/* Every setting that happens of a range of len, equal ones together.  border: boxes may still be clipped. */
static void spread(tf_walk *e, int k, int64_t len, int64_t mult, bool border) {
  const tf_plan *p = e->run->plan;
  int l = p->path[e->s->node].loops[k];
  int64_t step = tf_step(e->run, l);
  int64_t n = (len + step - 1) / step, full = len / step, from = k == e->carry;
  int64_t edge = border ? 2 + p->reach / step : 0, m;
  n = n < e->run->trip[l] ? n : e->run->trip[l];
  full = full < n ? full : n;
  bool each = e->each >> k & 1 ||
              (p->loops[l].axis != TF_TEMPORAL ? uneven_before(e, k) : uneven_each(e, k));
  if (each || (border && n <= 2 * edge + 1)) {
    for (int64_t i = from; i < n; i++)
      one(e, k, i, mult, border);
    return;
  }
  for (int64_t i = from; i < edge; i++)
    one(e, k, i, mult, true);
  int64_t low = edge > from ? edge : from, high = border ? n - edge : full;
  if (high > low) {
    if (__builtin_mul_overflow(mult, high - low, &m))
      e->ok = false;
    else
      one(e, k, low, m, false);
  }
  for (int64_t i = high > low ? high : low; i < n; i++)
    one(e, k, i, mult, border);
}

/* The longest range that reaches position k in any instance that is counted once with others: at borders
 * they differ.  First, middle and last instance of each loop suffice. */
static int64_t longest(tf_walk *e, int k, int from) {
  const tf_path *path = &e->run->plan->path[e->s->node];
  while (from < path->n && !((e->single & e->comp->loops) >> from & 1 && e->run->trip[path->loops[from]] > 1))
    from++;
  if (from >= path->n)
    return tf_loop_range(e->run, path->loops[k], e->w->cur).len;
  int64_t *digit = &e->w->cur[path->loops[from]], most = 0;
  *digit = 0;
  int64_t n = tf_turns(e->run, path->loops[from], e->w->cur);
  const int64_t tries[] = {0, n / 2, n - 1};
  for (int i = 0; i < 3; i++) {
    *digit = tries[i];
    int64_t len = longest(e, k, from + 1);
    most = len > most ? len : most;
  }
  *digit = 0;
  return most;
}

static void settle(tf_walk *e, int k, int64_t mult, bool border) {
  const tf_plan *p = e->run->plan;
  const tf_path *path = &p->path[e->s->node];
  bool any = p->clips && e->single & e->comp->loops;
  while (k < path->n && (!(e->comp->loops >> k & 1) || (any && e->single >> k & 1)))
    k++;
  if (!e->ok || e->run->irregular)
    return;
  if (k == path->n) {
    leaf(e, mult);
    return;
  }
  if (p->loops[path->loops[k]].op < 0) {
    one(e, k, 0, mult, border);
    return;
  }
  int64_t len = any ? longest(e, k, 0) : tf_loop_range(e->run, path->loops[k], e->w->cur).len;
  if (len <= 0) {
    e->run->irregular = true;
    return;
  }
  int64_t at = e->w->fixed[path->loops[k]];
  if (!((e->zero | e->single) >> k & 1) || k == e->carry)
    spread(e, k, len, mult, border);
  else if (at * tf_step(e->run, path->loops[k]) < len)
    one(e, k, at, mult, border);
}

static uint64_t spatial_mask(const tf_plan *p, const tf_path *path) {
  uint64_t mask = 0;
  for (int k = 0; k < path->n; k++)
    if (p->loops[path->loops[k]].axis != TF_TEMPORAL)
      mask |= UINT64_C(1) << k;
  return mask;
}

/* Whether equal boxes may come from different settings of the spatial loops in `merge`. */
static bool may_coincide(const tf_walk *e, uint64_t merge) {
  const tf_plan *p = e->run->plan;
  const tf_path *path = &p->path[e->s->node];
  int first = -1, chains = 0;
  for (int k = 0; k < path->n; k++) {
    if (!((merge & e->comp->loops) >> k & 1) || e->run->trip[path->loops[k]] <= 1)
      continue;
    if (first < 0 || !same_chain(p, first, path->loops[k]))
      chains++;
    if (first < 0)
      first = path->loops[k];
  }
  return chains > 1 || (chains == 1 && !e->s->plain);
}

static void set_masks(tf_walk *e, enum tf_over over) {
  const tf_plan *p = e->run->plan;
  uint64_t spatial = spatial_mask(p, &p->path[e->s->node]);
  uint64_t group = over == TF_OVER_GROUPS || over == TF_OVER_FIRST ? e->s->merge : 0;
  int from = e->c ? e->c->zero_from : TF_MAX_PATH;
  e->zero = from >= TF_MAX_PATH ? 0 : ~UINT64_C(0) << from & ~spatial;
  e->carry = e->c ? e->c->carry : -1;
  e->single = over == TF_OVER_STEPS ? spatial : 0;
  if (over == TF_OVER_WIDTH)
    e->zero = ~spatial;
  e->each = 0;
  if (e->comp->n_rank == 0) {
    e->single |= group;
    if (over == TF_OVER_FIRST)
      e->zero |= e->s->inside & ~spatial;
  } else if (group && may_coincide(e, group)) {
    e->each = group & e->comp->loops;
  }
}

bool tf_sum_over(tf_run *run, tf_scratch *w, const tf_slice *s, const tf_pclass *c, bool keeps,
                 enum tf_over over, tf_sum *out) {
  const tf_comp *comp = c ? c->comp : s->comp;
  int n = c ? c->n_comp : s->n_comp;
  const tf_slice *prev = c && keeps ? &run->plan->slices[c->prev] : NULL;
  tf_sum sum = {1, prev ? 1 : 0};
  for (int i = 0; i < n; i++) {
    tf_walk e = {.run = run, .w = w, .s = s, .prev = prev, .c = c, .comp = &comp[i], .ok = true};
    set_masks(&e, over);
    w->n_leaf = 0;
    for (int k = 0; k < run->plan->path[s->node].n; k++)
      if (e.single >> k & 1)
        w->cur[run->plan->path[s->node].loops[k]] = 0;
    settle(&e, 0, 1, run->plan->clips);
    if (!e.ok || __builtin_mul_overflow(sum.box, e.box, &sum.box))
      return false;
    if (prev && __builtin_mul_overflow(sum.kept, e.kept, &sum.kept))
      return false;
  }
  /* Where nothing is kept, instances with equal boxes load the same words, whatever they held. */
  if (prev && sum.kept == 0)
    return tf_sum_over(run, w, s, c, false, over, out);
  *out = sum;
  return true;
}

/* Whether loop l and all it depends on split their ranges without remainder. */
static bool even(tf_run *run, tf_scratch *w, int l) {
  const tf_plan *p = run->plan;
  const tf_ploop *pl = &p->loops[l];
  if (pl->op < 0)
    return true;
  int leafn = p->tree->op_node[pl->op], up = p->tree->nodes[pl->lead].parent;
  const tf_path *path = &p->path[leafn];
  int64_t product = 1, len = p->wl->dims[pl->dim].extent;
  for (int k = 0; k < path->n; k++)
    if (same_chain(p, l, path->loops[k]) &&
        __builtin_mul_overflow(product, run->trip[path->loops[k]], &product))
      return false;
  if (up >= 0)
    len = tf_dim_range(run, pl->op, pl->dim, pl->lead, w->zero).len;
  uint64_t base = tf_base_mask(p, pl->op, pl->dim);
  for (int k = 0; k < path->n; k++)
    if (base >> k & 1 && !even(run, w, path->loops[k]))
      return false;
  return product == len && !p->clips;
}

/* The shift, per rank of the slice, that one step of loop l gives its box. */
static void effect(tf_run *run, tf_scratch *w, const tf_slice *s, int l, int64_t *shift) {
  tf_ival **made = run->made;
  run->noclip = true;
  run->made = NULL;
  for (int r = 0; r < run->plan->wl->tensors[s->tensor].rank; r++) {
    w->zero[l] = 0;
    int64_t at = tf_slice_rank(run, s, r, w->zero).lo;
    w->zero[l] = 1;
    shift[r] = tf_slice_rank(run, s, r, w->zero).lo - at;
  }
  w->zero[l] = 0;
  run->noclip = false;
  run->made = made;
}

/* The next loop at or after i of slice s's path that is spatial, below node `from`, and more than one
 * instance wide; the path's length if there is none. */
static int next_pair(const tf_run *run, const tf_slice *s, int from, int i) {
  const tf_plan *p = run->plan;
  const tf_path *path = &p->path[s->node];
  for (; i < path->n; i++)
    if (p->loops[path->loops[i]].axis != TF_TEMPORAL && run->trip[path->loops[i]] > 1 &&
        tf_plan_above(p, from, p->loops[path->loops[i]].node))
      break;
  return i;
}

bool tf_layouts_agree(tf_run *run, tf_scratch *w, int one, int other) {
  const tf_plan *p = run->plan;
  const tf_slice *s = &p->slices[one], *q = &p->slices[other];
  int64_t a[TF_MAX_RANK], b[TF_MAX_RANK];
  size_t bytes = (size_t)p->wl->tensors[s->tensor].rank * sizeof a[0];
  int from = tf_plan_common(p, s->node, q->node);
  int i = next_pair(run, s, from, 0), j = next_pair(run, q, from, 0);
  for (int k = 0; k < p->path[q->node].n; k++)
    w->pair[p->path[q->node].loops[k]] = -1;
  while (i < p->path[s->node].n && j < p->path[q->node].n) {
    int l = p->path[s->node].loops[i], m = p->path[q->node].loops[j];
    effect(run, w, s, l, a);
    effect(run, w, q, m, b);
    if (p->loops[l].axis != p->loops[m].axis || run->trip[l] != run->trip[m] ||
        memcmp(a, b, bytes) != 0)
      return false;
    w->pair[m] = l;
    run->irregular |= !even(run, w, l) || !even(run, w, m);
    i = next_pair(run, s, from, i + 1);
    j = next_pair(run, q, from, j + 1);
  }
  return i == p->path[s->node].n && j == p->path[q->node].n;
}

bool tf_class_survives(tf_run *run, tf_scratch *w, const tf_slice *s, const tf_pclass *c) {
  if (c->prev < 0)
    return false;
  for (int i = 0; i < c->n_spread; i++)
    if (run->trip[c->spread[i]] > 1)
      return false;
  return c->common < 0 || tf_layouts_agree(run, w, (int)(s - run->plan->slices), c->prev);
}
