/* Words by cause (tileflow/why.h).  A slice's entries of one class are attributed to the loops that
 * do not move its box: with all of these at their first setting there is one pass; releasing them
 * one after another, from the inside, adds what each repeats.  The differences telescope, so their
 * sum is the count. */
#include "tileflow/why.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/names.h"
#include "model/cost/general/general.h"
#include "model/flow/layout.h"
#include "model/flow/skip.h"

typedef struct tf_why_log {
  struct tf_model *m;
  int n;
  tf_why_row *rows;
  int *slice;     /* [n] slice of each row */
  int from;       /* first row of the current slice */
  tf_cause *base; /* [n_tile_slices] cause of words that no loop repeats */
  int64_t *trips; /* of the evaluation, if a walk has replaced it; NULL: it has not */
  bool ok;
} why_log;

const char *tf_cause_key(tf_cause c) {
  static const char *const key[] = {TF_CAUSES(TF_NAME_ROW)};
  return key[c];
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool row_room(why_log *w) {
  const bool room = TF_GROW(w->rows, w->n) && TF_GROW(w->slice, w->n);
  w->m->starved |= !room;
  w->ok &= room;
  return room;
}

static void add_row(why_log *w, int i, tf_why_row row, const tf_move *v) {
  const tf_slice *s = &w->m->plan->slices[i];
  if (!v->fill && !v->drain && !v->read && !v->update) return;
  int k = w->from;
  while (k < w->n && (w->slice[k] != i || w->rows[k].cause != row.cause ||
                      w->rows[k].at != row.at || w->rows[k].slot != row.slot))
    k++;
  if (k == w->n) {
    if (!row_room(w)) return;
    w->slice[w->n] = i;
    row.tensor = s->tensor;
    row.above = s->above;
    row.level = s->leaf ? -1 : s->level;
    row.node = s->node;
    row.size = tf_tensor_words(&w->m->plan->wl->tensors[s->tensor]);
    w->rows[w->n++] = row;
  }
  tf_counts *c = &w->rows[k].words;
  w->ok &= !__builtin_add_overflow(c->fill, v->fill, &c->fill) &&
           !__builtin_add_overflow(c->drain, v->drain, &c->drain) &&
           !__builtin_add_overflow(c->read, v->read, &c->read) &&
           !__builtin_add_overflow(c->update, v->update, &c->update);
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool turns_at(const struct tf_model *m, const tf_slice *s, int k) {
  return m->ev.trip[m->plan->path[s->node].loops[k]] > 1;
}

/* Whether a loop inside position k moves the box: then the next step of k has another box,
 * whichever memory kept it. */
static bool moves_inside(const why_log *w, const tf_slice *s, int k) {
  const tf_path *path = &w->m->plan->path[s->node];
  for (int j = k + 1; j < path->n; j++)
    if ((s->moving & path->temporal) >> j & 1 && turns_at(w->m, s, j)) return true;
  return false;
}

static tf_why_row loop_row(const why_log *w, const tf_slice *s, tf_cause cause, int k) {
  const tf_ploop *l = &w->m->plan->loops[w->m->plan->path[s->node].loops[k]];
  return (tf_why_row){.cause = cause, .at = l->node, .slot = l->slot};
}

/* Content that class c lost although a memory of the same size could have kept it: to a Seq, or to
 * another layout. */
static bool lost(why_log *w, const tf_slice *s, const tf_reuse_case *c, tf_why_row *row) {
  bool again = c->stepping >= 0 ? !(s->moving >> c->stepping & 1) : c->prev >= 0 || c->seq >= 0;
  if (!again || moves_inside(w, s, c->stepping >= 0 ? c->stepping : c->zero_from - 1)) return false;
  *row = (tf_why_row){.cause = TF_WHY_SEQ, .at = c->seq, .slot = -1};
  if (c->seq >= 0) return true;
  *row = (tf_why_row){.cause = TF_WHY_LAYOUT, .at = -1, .slot = -1};
  return c->prev >= 0 && !tf_class_survives(&w->m->ev, &w->m->scratch, s, c);
}

/* The cause of entries of class c that the loop at position k repeats (-1: no loop). */
static tf_why_row cause_of(why_log *w, int i, const tf_reuse_case *c, int k) {
  const tf_slice *s = &w->m->plan->slices[i];
  const tf_path *path = &w->m->plan->path[s->node];
  bool spatial = k >= 0 && !(path->temporal >> k & 1);
  tf_why_row row;
  if (k >= 0 && !spatial && s->makes && s->inside >> k & 1)
    return loop_row(w, s, TF_WHY_PARTIAL, k);
  if (k >= 0 && !spatial && !(s->inside >> k & 1)) return loop_row(w, s, TF_WHY_PRODUCTION, k);
  if (!spatial && lost(w, s, c, &row)) return row;
  if (k >= 0) return loop_row(w, s, spatial ? TF_WHY_COPIES : TF_WHY_LOOP, k);
  return (tf_why_row){.cause = w->base[i], .at = -1, .slot = -1};
}

static bool shared_split(const tf_plan *p, int a, int b) {
  while (!tf_plan_above(p, a, b))
    a = p->tree->nodes[a].parent;
  return tf_plan_at_once(&p->tree->nodes[a]);
}

/* The cause of the first entry.  Of several Tiles that read a tensor into one memory, the first
 * needs it, and the others load it again. */
static tf_cause base_cause(const tf_plan *p, int i) {
  const tf_slice *s = &p->slices[i];
  tf_cause cause = TF_WHY_FIRST;
  for (int j = 0; j < p->n_tile_slices && !s->makes; j++) {
    const tf_slice *q = &p->slices[j];
    if (q->tensor == s->tensor && q->level == s->level && !q->makes && q->node < s->node)
      cause =
          shared_split(p, q->node, s->node) && cause != TF_WHY_AGAIN ? TF_WHY_SPLIT : TF_WHY_AGAIN;
  }
  return cause;
}

/* ---- by sums -------------------------------------------------------------------------------- */

static tf_move minus(tf_move a, tf_move b) {
  return (tf_move){a.fill - b.fill, a.drain - b.drain, a.read - b.read, a.update - b.update};
}

static bool same_moves(tf_move a, tf_move b) {
  return a.fill == b.fill && a.drain == b.drain && a.read == b.read && a.update == b.update;
}

/* Loops with more than one step that only repeat what enters in class c. */
static uint64_t repeats(const why_log *w, const tf_slice *s, const tf_reuse_case *c) {
  const tf_path *path = &w->m->plan->path[s->node];
  uint64_t mask = 0;
  int end = c->stepping >= 0 ? c->stepping + 1 : c->zero_from;
  for (int k = 0; k < path->n; k++)
    if (!(s->moving >> k & 1) && (k < end || !(path->temporal >> k & 1)) && turns_at(w->m, s, k))
      mask |= UINT64_C(1) << k;
  return mask;
}

/* Counts what enters in class c with the loops in `frozen` at their first setting.  False: only a
 * walk could count that. */
static bool with_frozen(why_log *w, int i, const tf_reuse_case *c, uint64_t frozen, tf_move *v) {
  struct tf_model *m = w->m;
  const tf_slice *s = &m->plan->slices[i];
  tf_entry e = {0, 0, 0};
  m->ev.frozen = frozen;
  bool stands = c->stepping >= 0 && (frozen & ~tf_skip_loops(m->plan, s->node)) >> c->stepping & 1;
  bool ok = stands || tf_count_class(m, s, c, tf_count_shares(&m->ev, s), &e);
  m->ev.frozen = 0;
  *v = tf_move_of(s, &m->plan->arch->memories[s->level], e);
  return ok && !m->ev.irregular;
}

/* Attributes one class: what each loop adds, the outermost frozen first, temporal before spatial.
 * If a part cannot be counted, the rest is attributed to the loop that was to be frozen. Adds all
 * of it to *sum. */
static bool by_class(why_log *w, int i, const tf_reuse_case *c, tf_move *sum) {
  const tf_path *path = &w->m->plan->path[w->m->plan->slices[i].node];
  uint64_t left = repeats(w, &w->m->plan->slices[i], c), frozen = 0;
  tf_move all, less;
  if (!with_frozen(w, i, c, 0, &all)) return false;
  *sum = minus(*sum, minus((tf_move){0}, all));
  while (left && (all.fill || all.drain || all.read || all.update)) {
    uint64_t time = left & path->temporal;
    int k = __builtin_ctzll(time ? time : left);
    left &= ~(UINT64_C(1) << k);
    frozen |= UINT64_C(1) << k;
    if (!with_frozen(w, i, c, frozen, &less)) {
      w->m->ev.irregular = false;
      less = (tf_move){0};
    }
    tf_move v = minus(all, less);
    add_row(w, i, cause_of(w, i, c, k), &v);
    all = less;
  }
  add_row(w, i, cause_of(w, i, c, -1), &all);
  return true;
}

static bool by_sums(why_log *w) {
  struct tf_model *m = w->m;
  for (int i = 0; i < m->plan->n_tile_slices; i++) {
    const tf_slice *s = &m->plan->slices[i];
    tf_move sum = {0};
    w->from = w->n;
    for (int c = 0; c < s->n_class; c++)
      if (!by_class(w, i, &s->classes[c], &sum)) return false;
    /* where a mask leaves out steps, an element may come first in a step of several classes */
    m->ev.irregular |= !same_moves(sum, m->moves[i]);
    if (m->ev.irregular) return false;
  }
  return true;
}

/* ---- by the walk ----------------------------------------------------------------------------- */

/* Whether temporal loop k repeats a box that an earlier setting of it, and of such loops outside
 * it, has loaded. */
static bool reloads(struct tf_model *m, const tf_slice *s, uint64_t still, int k) {
  const uint64_t skips = tf_skip_loops(m->plan, s->node);
  if (!(skips >> k & 1)) return m->scratch.cur[m->plan->path[s->node].loops[k]] > 0;
  return !tf_skip_first(&m->ev, s->node, still & skips, NULL, m->scratch.cur);
}

static void note(struct tf_model *m, int i, const tf_move *v) {
  why_log *w = m->log;
  const tf_slice *s = &m->plan->slices[i];
  const tf_path *path = &m->plan->path[s->node];
  const tf_reuse_case *c = &s->classes[m->entry_class];
  const int end = c->stepping >= 0 ? c->stepping + 1 : c->zero_from;
  int time = -1, space = -1;
  uint64_t still = 0;
  for (int k = 0; k < path->n; k++) {
    if (s->moving >> k & 1) continue;
    if (!(path->temporal >> k & 1)) {
      if (space < 0 && m->scratch.cur[path->loops[k]]) space = k;
      continue;
    }
    still |= UINT64_C(1) << k;
    if (time < 0 && k < end && reloads(m, s, still, k)) time = k;
  }
  add_row(w, i, cause_of(w, i, c, time >= 0 ? time : space), v);
}

static tf_counts *noted(struct tf_model *m, int row) {
  return row < m->log->n ? &m->log->rows[row].words : NULL;
}

/* ---- adjustments ----------------------------------------------------------------------------- */

/* Moves words from one cause to another. */
static void shift(why_log *w, int i, tf_why_row from, tf_cause to, tf_move v) {
  add_row(w, i, (tf_why_row){.cause = to, .at = -1, .slot = -1}, &v);
  v = minus((tf_move){0}, v);
  add_row(w, i, from, &v);
}

static int64_t beyond(int64_t n, int64_t size) { return n > size ? n - size : 0; }

/* In one pass, words beyond the size of the tensor are overlap of boxes: halos. */
static void split_halos(why_log *w) {
  w->from = 0;
  for (int k = 0, n = w->n; k < n && w->ok; k++) {
    const tf_why_row *r = &w->rows[k];
    if (r->at >= 0 || r->cause != w->base[w->slice[k]]) continue;
    tf_move v = {beyond(r->words.fill, r->size), beyond(r->words.drain, r->size),
                 beyond(r->words.read, r->size), beyond(r->words.update, r->size)};
    shift(w, w->slice[k], *r, TF_WHY_HALO, v);
  }
}

static void add_leaves(why_log *w) {
  const tf_plan *p = w->m->plan;
  for (int i = p->n_tile_slices; i < p->n_slices; i++) {
    w->from = w->n;
    add_row(w, i, (tf_why_row){.cause = TF_WHY_UNITS, .at = -1, .slot = -1}, &w->m->moves[i]);
  }
}

/* Adds the rescaling of streamed reductions: counts that no Tile or op moves. */
static void add_streams(why_log *w) {
  const tf_plan *p = w->m->plan;
  int n = w->n;
  for (int o = 0; o < p->wl->n_ops && w->ok; o++) {
    int above = p->stream[o].above, z = p->wl->ops[o].out;
    if (p->stream_scope[o] < 0) continue;
    tf_counts c = w->m->res.counts[above * p->wl->n_tensors + z];
    for (int k = 0; k < n; k++)
      if (w->rows[k].above == above && w->rows[k].tensor == z) {
        c.read -= w->rows[k].words.read;
        c.update -= w->rows[k].words.update;
      }
    tf_why_row row = {z,
                      above,
                      -1,
                      p->stream_scope[o],
                      TF_WHY_STREAM,
                      -1,
                      -1,
                      tf_tensor_words(&p->wl->tensors[z]),
                      {.read = c.read, .update = c.update}};
    if ((c.read || c.update) && row_room(w)) w->rows[w->n++] = row;
  }
}

static int by_place(const void *pa, const void *pb) {
  const tf_why_row *a = pa, *b = pb;
  if (a->tensor != b->tensor) return a->tensor - b->tensor;
  if (a->above != b->above) return a->above - b->above;
  if (a->node != b->node) return a->node - b->node;
  if (a->cause != b->cause) return (int)a->cause - (int)b->cause;
  return a->at != b->at ? a->at - b->at : a->slot - b->slot;
}

static bool begin_log(why_log *w, struct tf_model *m) {
  const tf_plan *p = m->plan;
  size_t n = (size_t)p->n_tile_slices + 1;
  *w = (why_log){.m = m, .ok = tf_general_ready(m) && tf_eval_steps(&m->ev)};
  w->base = calloc(n, sizeof *w->base);
  if (!w->base) w->m->starved = true;
  if (!w->base) return false;
  for (int i = 0; i < p->n_tile_slices; i++)
    w->base[i] = base_cause(p, i);
  return w->ok;
}

/* Evaluates again by the walk, with the same counts, so that it logs every entry.  Times may differ
 * (the walk knows the busiest instance), so that the caller restores the result. */
static bool by_walk(why_log *w) {
  struct tf_model *m = w->m;
  tf_result again;
  size_t bytes = ((size_t)m->plan->n_loops + 1) * sizeof *m->ev.trip;
  w->trips = malloc(bytes);
  if (!w->trips) m->starved = true;
  if (!w->trips) return false;
  memcpy(w->trips, m->ev.trip, bytes);
  const int64_t walk_max = m->walk_max;
  w->n = w->from = 0;
  m->log = w;
  m->note = note;
  m->noted = noted;
  m->to_walk = true;
  m->walk_max = TF_WHY_WALK;
  const bool ok = tf_model_eval(m, w->trips, &again);
  m->note = NULL;
  m->noted = NULL;
  m->to_walk = false;
  m->walk_max = walk_max;
  return ok;
}

/* Single classes may need the walk where the evaluation did not: quick counts need not separate
 * them. */
static bool by_either(why_log *w) {
  struct tf_model *m = w->m;
  const tf_eval ev = m->ev;
  const bool quick = m->quick;
  const int64_t walked = m->walked;
  m->ev.irregular |= m->views->peers; /* of what neighbours hand on a walk tells */
  bool ok = !m->ev.irregular && by_sums(w);
  if (!ok && m->ev.irregular) ok = by_walk(w);
  m->ev.irregular = ev.irregular;
  m->ev.work = ev.work;
  m->quick = quick;
  m->walked = walked;
  return ok;
}

static bool collect(why_log *w) {
  if (w->m->ev.irregular && w->m->ev.work > TF_WHY_WALK) return false;
  if (!by_either(w) || !w->ok) return false;
  split_halos(w);
  add_leaves(w);
  add_streams(w);
  return w->ok;
}

/* Removes rows that are empty after halos were split off. */
static void drop_empty(why_log *w) {
  int n = 0;
  for (int k = 0; k < w->n; k++) {
    const tf_counts *c = &w->rows[k].words;
    if (c->fill || c->read || c->update || c->drain) w->rows[n++] = w->rows[k];
  }
  w->n = n;
}

/* The result as it was before the walk. */
static void restore(why_log *w) {
  tf_result again;
  if (w->trips && !w->m->starved) tf_model_eval(w->m, w->trips, &again);
  free(w->trips);
}

bool tf_why_of(tf_model *m, tf_why *out) {
  why_log w;
  bool ok = begin_log(&w, m->as_bare ? m->bare : m) && collect(&w);
  drop_empty(&w);
  restore(&w);
  if (w.n) qsort(w.rows, (size_t)w.n, sizeof *w.rows, by_place);
  free(w.slice);
  free(w.base);
  *out = (tf_why){w.n, w.rows, w.rows};
  if (!ok) tf_why_free(out);
  return ok;
}

void tf_why_free(tf_why *w) {
  if (!w) return;
  free(w->memory);
  *w = (tf_why){0};
}
