/* One setting of all loops of a component: its box, and what it finds of the previous entry. */
#include <string.h>

#include "model/cost/general/summing.h"

static bool add_product(int64_t *sum, int64_t mult, int64_t v) {
  int64_t t;
  return !__builtin_mul_overflow(mult, v, &t) && !__builtin_add_overflow(*sum, t, sum);
}

void tf_sum_add(tf_summing *e, int64_t mult, tf_words v) {
  e->ok &= add_product(&e->sum.all, mult, v.all) && add_product(&e->sum.some, mult, v.some) &&
           add_product(&e->sum.always, mult, v.always) && add_product(&e->sum.kept, mult, v.kept);
}

static int64_t overlap(tf_ival a, tf_ival b) {
  int64_t lo = a.lo > b.lo ? a.lo : b.lo;
  int64_t end = a.lo + a.len < b.lo + b.len ? a.lo + a.len : b.lo + b.len;
  return end > lo ? end - lo : 0;
}

/* The slot of a row: the one that holds it, or the free slot for it. */
static int64_t *slot_of(tf_boxes *w, const int64_t *row, int n) {
  uint64_t h = UINT64_C(1469598103934665603);
  for (int i = 0; i < n; i++)
    h = (h ^ (uint64_t)row[i]) * UINT64_C(1099511628211);
  uint64_t slots = 2 * (uint64_t)w->room + 1, at = (h ^ h >> 32) % slots;
  for (; w->slot[at] > w->past; at = (at + 1) % slots)
    if (!memcmp(w->row + (size_t)(w->slot[at] - w->past - 1) * TF_LEAF_WORDS, row,
                (size_t)n * sizeof *row))
      break;
  return &w->slot[at];
}

/* Makes room for one more row.  Most models need few or none, so the table starts small. */
static bool more_room(tf_boxes *w, int n) {
  if (w->n < w->room) return true;
  size_t room = w->room ? 4 * (size_t)w->room : TF_LEAF_FEW;
  int64_t *slot = TF_ARRAY(w->arena, int64_t, 2 * room + 1),
          *rows = TF_ARRAY(w->arena, int64_t, room * TF_LEAF_WORDS);
  if (!slot || !rows) return false;
  if (w->n) memcpy(rows, w->row, (size_t)w->n * TF_LEAF_WORDS * sizeof *rows);
  w->slot = slot, w->row = rows, w->room = (int)room;
  for (int i = 0; i < w->n; i++)
    *slot_of(w, rows + (size_t)i * TF_LEAF_WORDS, n) = w->past + i + 1;
  return true;
}

/* Adds a row, the box of one instance and what it found, and returns whether it was there already.
 * Boxes of all steps of differing runs are soon more than the walk has kinds of steps. */
static bool seen_row(tf_summing *e, const int64_t *row, int n) {
  tf_boxes *w = e->w->boxes;
  const int most = e->uneven_runs ? TF_LEAF_UNLIKE : TF_LEAF_MAX;
  if (w->room && *slot_of(w, row, n) > w->past) return true;
  if (w->n >= most) {
    e->ev->irregular = true;
    return false;
  }
  if (!more_room(w, n)) return e->ok = false;
  int64_t *slot = slot_of(w, row, n);
  memcpy(w->row + (size_t)w->n++ * TF_LEAF_WORDS, row, (size_t)n * sizeof *row);
  *slot = w->past + w->n;
  return false;
}

void tf_leaf_forget(tf_boxes *w) {
  w->past += w->n;
  w->n = 0;
}

static int64_t free_key(const tf_summing *e) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  uint64_t key = UINT64_C(1469598103934665603);
  for (int k = 0; k < path->n; k++)
    if ((e->comp->loops & ~e->each) >> k & 1)
      key = (key ^ (uint64_t)e->w->cur[path->loops[k]]) * UINT64_C(1099511628211);
  return (int64_t)key;
}

/* Whether this component has spatial loops, which select instances. */
static bool instances(const tf_summing *e) {
  return e->comp->loops & ~e->ev->plan->path[e->s->node].temporal;
}

/* Counts a box that other instances may share: row[0 .. n) is its position and what was found, rank
 * by rank, with room for one more entry.  A box that was seen before under the same free loops is
 * not counted again.  With another part found, it counts once more under `some`; once it is seen
 * with nothing found, it no longer counts under `always`. */
static void add_once(tf_summing *e, int64_t mult, tf_words v, int64_t *row, int n) {
  for (int i = 0; i < n && !v.kept; i += 4)
    row[i + 2] = row[i + 3] = 0; /* only in a single rank may part of a box be found */
  row[n] = free_key(e);
  row[n + 1] = v.kept ? 2 : 0;
  if (seen_row(e, row, n + 2)) return;
  for (int i = 0; i < n; i += 4)
    row[i + 2] = row[i + 3] = 0;
  row[n + 1] = 1; /* the box, whatever is found of it */
  if (e->prev && seen_row(e, row, n + 2)) {
    v.always = v.kept ? 0 : -v.all;
    v.all = 0;
  }
  tf_sum_add(e, mult, v);
}

void tf_leaf_add(tf_summing *e, int64_t mult) {
  int64_t box = 1, kept = e->prev ? 1 : 0, row[TF_LEAF_WORDS];
  int n = 0;
  if (e->prev && !e->dropped && (e->comp->n_rank || instances(e))) tf_before_set(e);
  for (int i = 0; i < e->comp->n_rank; i++) {
    tf_ival q = {0, 0};
    if (e->prev && !e->dropped) q = tf_slice_rank(e->ev, e->prev, e->comp->rank[i], e->w->prv);
    if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->made);
    tf_ival r = tf_slice_rank(e->ev, e->s, e->comp->rank[i], e->w->cur);
    e->ev->irregular |= tf_slice_partly_outside(e->ev, e->s, e->comp->rank[i], e->w->cur);
    if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->prev_made);
    int64_t both = overlap(r, q);
    box *= r.len;
    kept *= both;
    row[n++] = r.len > 0 ? r.lo : 0;
    row[n++] = r.len;
    row[n++] = both > 0 ? q.lo > r.lo ? q.lo : r.lo : 0;
    row[n++] = both;
  }
  if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->made);
  kept = e->dropped ? 0 : kept;
  const int64_t found = kept > 0 ? box : 0;
  if (e->each)
    add_once(e, mult, (tf_words){box, found, found, kept}, row, n);
  else
    tf_sum_add(e, mult, (tf_words){box, found, found, kept});
}
