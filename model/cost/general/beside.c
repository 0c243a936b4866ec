/* What each instance moves where neighbours hand words on and loops leave a remainder, or windows
 * slide: see beside.h.  Instances whose places, and whose neighbours', lie alike move alike; each
 * such kind is summed over once. */
#include "model/cost/general/beside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum {
  MOST_EACH = 1 << 20,     /* figures, of all instances */
  MOST_SEARCHED = 1 << 13, /* in a search, which counts a thousand others in the time of 2^20 */
  SEARCHES = 1 << 20,      /* a search may walk fewer steps */
  KEY = 2 * TF_BESIDE_DIMS * (TF_BESIDE_TOGETHER * (TF_BESIDE_STAGES + 1) + 1) + 3
};

/* A kind of instance: how it and its neighbours lie, and what enters it, by rows of its Tile, the
 * last of which is the first step; of a leaf there is one row.  Of those that may share: what
 * enters each, in each row. */
typedef struct {
  uint64_t hash;
  int64_t *key;
  tf_beside_words *row, *first; /* first: at moments at which words of a production are new */
} kind;

typedef struct {
  struct tf_model *m;
  int i, n_rows, n, width; /* width: instances of a kind */
  uint64_t zero;           /* positions of loops at whose first step alone entries are made */
  bool shares;
  tf_beside of;
  kind *all;
  int64_t *cur;
} job;

/* ---- kinds ---------------------------------------------------------------------------------- */

/* Whether no moment of these instances comes near the end of the extent. */
static bool far_in(const tf_beside *b, const tf_beside_dim *d, const tf_beside_place *at) {
  int64_t place = 0, most = 0;
  for (int g = 0; g < d->n; g++)
    place += (d->loop[g].trip - 1) * d->loop[g].step;
  for (int who = 0; who < b->n; who++)
    if (b->there >> who & 1 && at->all[who] > most) most = at->all[who];
  return !d->alone && d->n_stages == 1 && place + most + d->tile[0] <= d->extent;
}

/* Writes where the instances lie along a dim; returns the end. */
static int64_t *write_places(const tf_beside *b, const tf_beside_dim *d, const tf_beside_place *at,
                             int64_t *to) {
  *to++ = far_in(b, d, at) ? -1 : at->all[TF_SELF];
  for (int who = 1; who < b->n; who++)
    *to++ = b->there >> who & 1 ? at->all[who] - at->all[TF_SELF] : 0;
  for (int s = 0; s < d->n_stages - 1; s++)
    for (int who = 0; who < b->n; who++)
      *to++ = b->there >> who & 1 ? at->upto[s][who] : 0;
  return to;
}

/* Returns its length. */
static int64_t write_key(const tf_beside *b, int64_t key[KEY]) {
  int64_t *to = key;
  *to++ = (int64_t)b->there;
  *to++ = (int64_t)b->torn << 8 | b->round;
  for (int k = 0; k < b->map.n_dims; k++) {
    to = write_places(b, &b->map.dim[k], &b->at[k], to);
    *to++ = b->apart >> k & 1 ? b->at[k].all[TF_SELF] : 0;
  }
  for (int k = 0; b->from >= 0 && k < b->old.n_dims; k++) {
    to = write_places(b, &b->old.dim[k], &b->old_at[k], to);
    *to++ = b->holder[k] >= 0 ? b->old_at[k].all[TF_SELF] - b->at[b->holder[k]].all[TF_SELF]
                              : b->old_at[k].all[TF_SELF];
  }
  return to - key;
}

/* The class of the entries at which the loop at a position steps; -1: the first entry. */
static int class_of(const tf_slice *s, int stepping) {
  int c = 0;
  for (; c < s->n_class - 1; c++) {
    const int to = s->classes[c].stepping >= 0 ? s->classes[c].stepping : s->classes[c].zero_from;
    if (stepping >= to || s->classes[c].stepping < 0) break;
  }
  return c;
}

/* The position of the loop that steps in a row of the Tile; -1: none does. */
static int carry_of(const job *j, int row) {
  const tf_view *v = &j->m->views->node[j->of.s->node];
  int pos = j->of.path->n - 1;
  if (row == v->n_rows - 1) return -1;
  while (j->of.path->loops[pos] != v->row_loop[row])
    pos--;
  return pos;
}

/* What the entries at which the loop at `stepping` steps find. */
static tf_beside_found finds(job *j, int stepping) {
  tf_beside *b = &j->of;
  const tf_reuse_case *c = &b->s->classes[class_of(b->s, stepping)];
  bool there = c->prev >= 0;
  for (int k = 0; k < c->n_spread; k++)
    there &= j->m->ev.trip[c->spread[k]] <= 1;
  if (!there || (c->prev != j->i && b->from < 0)) return TF_FIND_NOTHING;
  if (c->prev == j->i) return stepping >= 0 ? TF_FIND_OWN : TF_FIND_NOTHING;
  for (int k = 0; k < b->map.n_dims; k++)
    b->left[k].since = c->stepping >= 0 ? stepping : TF_MAX_PATH;
  return TF_FIND_OTHER;
}

/* Loops within a production that repeat a box. */
static uint64_t again_of(const job *j) {
  return j->of.s->inside & ~j->of.moving & j->of.path->temporal;
}

static bool sum_kind(job *j, kind *k) {
  const tf_slice *s = j->of.s;
  bool ok = true;
  for (int r = 0; r < j->n_rows && ok; r++) {
    const int stepping = s->leaf ? TF_MAX_PATH : carry_of(j, r);
    const tf_beside_found there = s->leaf ? TF_FIND_NOTHING : finds(j, stepping);
    if (stepping >= 0 && !s->leaf && !(j->of.turning >> stepping & 1)) continue;
    const int to = r * j->width;
    if (!j->shares)
      ok = tf_beside_sum(&j->of, stepping, there, j->zero, &k->row[to]);
    else
      ok = tf_beside_sum_shared(&j->of, stepping, there, 0, &k->row[to]) &&
           (!s->makes || tf_beside_sum_shared(&j->of, stepping, there, again_of(j), &k->first[to]));
  }
  return ok;
}

/* A new kind; NULL: out of memory. */
static kind *add_kind(job *j, const int64_t *key, size_t size, uint64_t hash) {
  kind *to = NULL;
  if (TF_GROW(j->all, j->n)) {
    to = &j->all[j->n++];
    to->hash = hash;
    to->key = malloc(size);
    to->row = calloc(2 * (size_t)(j->n_rows * j->width), sizeof *to->row);
  }
  j->m->starved |= !to || !to->key || !to->row;
  if (!to || !to->key || !to->row) return NULL;
  memcpy(to->key, key, size);
  to->first = to->row + j->n_rows * j->width;
  return to;
}

/* What enters the instance at cur, or those from it on that may share; NULL: left to the walk. */
static const kind *kind_at(job *j) {
  int64_t key[KEY];
  uint64_t hash = UINT64_C(1469598103934665603);
  if (j->shares)
    tf_beside_put_shared(&j->of, j->cur);
  else
    tf_beside_put(&j->of, j->cur);
  const int64_t n = write_key(&j->of, key);
  const size_t size = (size_t)n * sizeof *key;
  for (int64_t k = 0; k < n; k++)
    hash = (hash ^ (uint64_t)key[k]) * UINT64_C(1099511628211);
  for (int k = 0; k < j->n; k++)
    if (j->all[k].hash == hash && !memcmp(j->all[k].key, key, size)) return &j->all[k];
  kind *to = add_kind(j, key, size, hash);
  return to && sum_kind(j, to) ? to : NULL;
}

static bool begin(struct tf_model *m, int i, bool shares, job *j) {
  j->m = m;
  j->i = i;
  j->n = 0;
  j->all = NULL;
  j->cur = m->scratch.cur;
  j->shares = shares;
  j->zero = m->plan->n_retains ? m->still[i] : 0;
  if (!tf_beside_begin(m, i, shares, &j->of)) return false;
  if (!~j->zero) return false;
  j->width = shares ? j->of.n : 1;
  j->n_rows = j->of.s->leaf || i >= m->plan->n_slices ? 1 : m->views->node[j->of.s->node].n_rows;
  memset(j->cur, 0, (size_t)m->plan->n_loops * sizeof *j->cur);
  return true;
}

static void end(job *j) {
  for (int k = 0; k < j->n; k++)
    free(j->all[k].key), free(j->all[k].row);
  free(j->all);
  tf_beside_end(&j->of);
}

/* ---- instances ------------------------------------------------------------------------------ */

/* Advances the spatial loops above node n; false after the last, with the first set again. */
static bool next(const struct tf_model *m, int n, int64_t *cur) {
  const tf_path *path = &m->plan->path[n];
  for (int k = path->n - 1; k >= 0; k--) {
    const int l = path->loops[k];
    if (path->temporal >> k & 1) continue;
    if (++cur[l] < m->ev.trip[l]) return true;
    cur[l] = 0;
  }
  return false;
}

/* The number of the instance above which node n stands; node -1: there is one. */
static int64_t index_of(const struct tf_model *m, int n, const int64_t *cur) {
  int64_t index = 0;
  for (uint64_t left = n < 0 ? 0 : tf_path_spatial(m->plan, n); left; left &= left - 1) {
    const int l = m->plan->path[n].loops[__builtin_ctzll(left)];
    index = index * m->ev.trip[l] + cur[l];
  }
  return index;
}

static int64_t instances(const struct tf_model *m, int n) {
  int64_t all = 1;
  for (uint64_t left = n < 0 ? 0 : tf_path_spatial(m->plan, n); left; left &= left - 1)
    if (__builtin_mul_overflow(all, m->ev.trip[m->plan->path[n].loops[__builtin_ctzll(left)]],
                               &all))
      return INT64_MAX;
  return all;
}

/* The row of all slices to which an entry belongs. */
static int entered_row(const job *j, int row) {
  const tf_slice *s = j->of.s;
  const int c = class_of(s, carry_of(j, row));
  return j->m->views->entered_at[j->i] +
         (tf_after_sibling(&s->classes[c]) ? j->m->views->node[s->node].n_rows : row);
}

/* Adds what an instance moves to its own. */
static void add(const job *j, int64_t instance, int row, tf_flow v) {
  const tf_each *x = j->m->each;
  assert(instance < x->n); /* units have no row */
  tf_flow_add(&x->flows[(size_t)instance * (size_t)j->m->plan->n_slices + (size_t)j->i], &v);
  if (j->of.s->leaf) return;
  tf_flow_add(
      &x->entered[(size_t)instance * (size_t)j->m->views->n_entered + (size_t)entered_row(j, row)],
      &v);
}

/* ---- handed on ------------------------------------------------------------------------------ */

/* Records the sources of the words that come to the instance at cur, and what its neighbours hand
 * on. */
static void add_sources(job *j, const kind *k) {
  struct tf_model *m = j->m;
  const tf_slice *s = j->of.s;
  const int bits = m->plan->wl->tensors[s->tensor].word_bits;
  double *came = &m->peers->came[tf_peers_place(m, s->node, s->level, j->cur) * TF_N_SOURCES];
  int64_t was[TF_MAX_PATH];
  for (int p = 0; p < j->of.path->n; p++)
    was[p] = j->cur[j->of.path->loops[p]];
  for (int r = 0; r < j->n_rows; r++)
    came[TF_FROM_ABOVE] += (double)k->row[r].above * bits;
  for (int w = 0; w < TF_N_BESIDE; w++) {
    bool round;
    if (!tf_peers_beside(m, j->i, (tf_source)w, j->cur, &round)) continue;
    const int64_t beside = index_of(m, s->node, j->cur);
    for (int r = 0; r < j->n_rows; r++) {
      const int64_t words = k->row[r].from[w];
      came[w] += (double)words * bits;
      if (words && m->each) add(j, beside, r, (tf_flow){.drain = (double)words});
    }
    for (int p = 0; p < j->of.path->n; p++)
      j->cur[j->of.path->loops[p]] = was[p];
  }
}

/* Adds what the instance at cur loads, to all that load in these rows. */
static void add_handed(job *j, const kind *k, tf_move *all) {
  const int64_t own = index_of(j->m, j->of.s->node, j->cur),
                server = index_of(j->m, j->m->views->server[j->i], j->cur);
  for (int r = 0; r < j->n_rows; r++) {
    const tf_beside_words *v = &k->row[r];
    all[r].fill += v->load;
    all[r].read += v->above;
    all[r].drain += v->load - v->above;
    if (!j->m->each || !v->load) continue;
    add(j, own, r, (tf_flow){.fill = (double)v->load});
    add(j, server, r, (tf_flow){.read = (double)v->above});
  }
  add_sources(j, k);
}

/* The mean instance counts. */
static void add_means(const job *j, const tf_move *all) {
  for (int r = 0; r < j->n_rows; r++) {
    const tf_flow one = tf_mean_flow(j->m, j->i, &all[r]);
    tf_cells_add(j->m, j->i, class_of(j->of.s, carry_of(j, r)), &one);
  }
  j->m->flows[j->i] = tf_mean_flow(j->m, j->i, &j->m->moves[j->i]);
}

static bool handed(struct tf_model *m, int i) {
  job j;
  bool ok = begin(m, i, false, &j);
  tf_move *all = ok ? calloc((size_t)j.n_rows, sizeof *all) : NULL;
  m->starved |= ok && !all;
  ok = all != NULL;
  while (ok) {
    const kind *k = kind_at(&j);
    ok = k != NULL;
    if (ok) add_handed(&j, k, all);
    if (!next(m, m->plan->slices[i].node, j.cur)) break;
  }
  m->moves[i] = (tf_move){0};
  for (int r = 0; ok && r < j.n_rows; r++) {
    m->moves[i].fill += all[r].fill;
    m->moves[i].read += all[r].read;
    m->moves[i].drain += all[r].drain;
  }
  if (ok && !m->each) add_means(&j, all);
  free(all);
  end(&j);
  return ok;
}

/* ---- the others ----------------------------------------------------------------------------- */

/* Whether the loops that move nothing choose the first of the instances that share transfers. */
static bool first_to_share(const job *j) {
  for (uint64_t left = j->of.s->merge & ~j->of.moving & ~j->of.path->temporal; left;
       left &= left - 1)
    if (j->cur[j->of.path->loops[__builtin_ctzll(left)]]) return false;
  return true;
}

/* Adds what the instance at cur, that of a kind, moves of a slice that no neighbour hands on. */
static void add_own(job *j, const kind *k, int who, tf_move *all) {
  const tf_slice *s = j->of.s;
  const int64_t own = index_of(j->m, s->node, j->cur),
                server = index_of(j->m, j->m->views->server[j->i], j->cur);
  const bool once = first_to_share(j);
  for (int r = 0; r < j->n_rows; r++) {
    const int at = r * j->width + who;
    const tf_entry e = {k->row[at].load, once ? k->row[at].above : 0,
                        once ? k->first[at].above : 0};
    tf_move v;
    if (s->leaf) {
      const tf_unit *unit = &j->m->plan->arch->units[j->m->plan->unit[s->touch[0].op]];
      const int64_t updates = unit->reduce ? e.groups : e.all;
      v = s->makes ? (tf_move){.read = updates - e.first, .update = updates}
                   : (tf_move){.read = unit->multicast ? e.groups : e.all};
    } else {
      v = tf_move_of(s, &j->m->plan->arch->memories[s->level], e);
    }
    if (!s->leaf) add(j, own, r, (tf_flow){.fill = (double)v.fill, .drain = (double)v.drain});
    add(j, server, r, (tf_flow){.read = (double)v.read, .update = (double)v.update});
    all->fill += v.fill;
    all->drain += v.drain;
    all->read += v.read;
    all->update += v.update;
  }
}

/* Whether the instance at cur is the first of those that may share. */
static bool begins_shared(const job *j) {
  bool all = true;
  for (uint64_t left = j->of.shared; left; left &= left - 1)
    all &= !j->cur[j->of.path->loops[__builtin_ctzll(left)]];
  return all;
}

/* Adds up what each instance moves of a slice.  False: it is not what closed sums have counted; or
 * left to the walk. */
static bool apart(struct tf_model *m, int i) {
  job j;
  tf_move all = {0};
  bool ok = begin(m, i, true, &j);
  do {
    if (!ok || !begins_shared(&j)) continue;
    const kind *k = kind_at(&j);
    int who = 0;
    ok = k != NULL;
    do
      if (ok) add_own(&j, k, who++, &all);
    while (ok && tf_beside_next_shared(&j.of, j.cur));
  } while (ok && next(m, m->plan->slices[i].node, j.cur));
  ok = ok && !memcmp(&all, &m->moves[i], sizeof all);
  end(&j);
  return ok;
}

/* ---- a mapping ------------------------------------------------------------------------------ */

static bool make_rows(struct tf_model *m) {
  const int64_t row = m->plan->n_slices + m->views->n_cells;
  int64_t rows = 1;
  for (int i = 0; i < m->plan->n_slices; i++) {
    const int64_t n =
        instances(m, m->plan->slices[i].leaf ? m->views->server[i] : m->plan->slices[i].node);
    rows = n > rows ? n : rows;
  }
  if (rows > (m->walk_max < SEARCHES ? MOST_SEARCHED : MOST_EACH) / row) return false;
  m->peers = tf_peers_new(m, &m->starved);
  if (!m->peers || !m->first_busiest) return m->peers != NULL;
  m->each = tf_each_new(m, (int)rows);
  m->starved |= !m->each;
  return m->each != NULL;
}

/* Adds up what each instance corrects of streamed output o.  False: as above. */
static bool corrected(struct tf_model *m, int o) {
  const int i = m->plan->n_slices + o;
  int64_t sum[2] = {0, 0};
  job j;
  bool ok = begin(m, i, true, &j);
  while (ok) {
    double *row =
        m->each->rescaled + 2 * (index_of(m, m->views->server[i], j.cur) * m->plan->wl->n_ops + o);
    const uint64_t zero[2] = {0, j.of.s->inside & j.of.path->temporal};
    tf_beside_put_shared(&j.of, j.cur);
    for (int once = 0; once < 2 && ok; once++) {
      tf_beside_words v = {0};
      ok = tf_beside_sum_shared(&j.of, TF_MAX_PATH, TF_FIND_NOTHING, zero[once], &v);
      row[once] += (double)v.load;
      sum[once] += v.load;
    }
    if (!next(m, j.of.s->node, j.cur)) break;
  }
  ok = ok && !memcmp(sum, &m->rescaled[2 * o], sizeof sum);
  for (int once = 0; once < 2 && ok; once++)
    m->rescaled_flow[2 * o + once] = m->each->rescaled[2 * o + once];
  end(&j);
  return ok;
}

bool tf_beside_may(const struct tf_model *m) { return !m->plan->skips && !m->lines; }

/* Adds the entered words to the ports, of each instance; then the busiest are known. */
static void finish(struct tf_model *m) {
  for (int k = 0; k < m->each->n; k++) {
    struct tf_model one = tf_each_model(m, k);
    tf_cells_add_all(&one, m->each->entered + (size_t)k * (size_t)m->views->n_entered);
  }
  for (int i = 0; i < m->plan->n_slices; i++)
    m->flows[i] = m->each->flows[i];
  tf_each_cells(m);
}

bool tf_beside_count(struct tf_model *m) {
  bool ok = tf_beside_may(m) && (!m->plan->n_retains || (m->partly_counted && !m->first_busiest)) &&
            tf_eval_steps(&m->ev) && !m->ev.irregular && !m->ev.mixed && make_rows(m);
  for (int i = 0; i < m->plan->n_slices && ok; i++)
    if (tf_hands(m, i))
      ok = handed(m, i);
    else if (m->each)
      ok = apart(m, i);
  for (int o = 0; o < m->plan->wl->n_ops && ok && m->each; o++)
    if (m->plan->stream[o].node >= 0) ok = corrected(m, o);
  if (ok && m->each) finish(m);
  if (!ok) tf_peers_even_drop(m);
  return ok;
}
