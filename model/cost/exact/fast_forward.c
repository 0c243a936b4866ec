/* Detects repeating iterations, and counts them without walking. */
#include "model/cost/exact/fast_forward.h"

#include <string.h>

#include "model/cost/exact/line_log.h"
#include "model/cost/peers.h"
#include "model/flow/skip.h"
#include "model/input/dims.h"

enum {
  MIN_TRIP = 3,         /* of a loop whose iterations are skipped */
  MOST_WORDS = 1 << 21, /* most words kept for one loop */
  MOST_ASKED = 100000,  /* most ranges whose shifts are computed */
  WORDS_A_STEP = 64,    /* kept in the time of a step */
  TRIES = 6,
  TRY_EACH = 16 /* after so many failures in a row, only one in 16 iterations is tried */
};

/* A rank of a padded tensor that an op reads, where the loop moves it. */
typedef struct {
  int op, ref, rank;
  int64_t shift;
} border;

/* A node that a mask skips depending on the loop's setting, and how far an iteration moves the
 * distance from its q to its l; alone: no loop further in matters. */
typedef struct {
  int node;
  int64_t shift;
  bool alone;
} masked;

/* A temporal loop. */
typedef struct {
  bool asked, may; /* whether iterations move everything equally, once computed; for these ops: */
  bool *idle;      /* [n_ops] those that have no points left at the loop's settings from now on */
  int64_t *slice, *home; /* shifts, as tf_store_shift has them */
  int n_borders, n_masked;
  border *borders;
  masked *masked;
  /* positions of loops further out: past their first setting, whether something comes for the first
   * time depends on the iteration */
  uint64_t outer;
  int64_t kept_at; /* the state below was kept after this iteration; -1: nothing is kept */
  int64_t since;   /* the store's `iteration` then */
  int64_t mark;    /* of the recorded accesses to lines */
  int fails;       /* since the last success */
  int64_t *held, *ints;
  double *reals;
  uint32_t *met; /* [n_pairs] */
  int n_noted, room;
  tf_counts *noted; /* [room] */
} loop;

typedef struct {
  int64_t *at;
  size_t n;
} ints;

typedef struct {
  double *at;
  size_t n;
} reals;

enum { N_INTS = 3, N_REALS = 8 };

typedef struct tf_fast_forward {
  tf_arena *arena;
  size_t words, n_ints, n_reals;
  ints ints[N_INTS]; /* counters that add up; of ops: points, skipped ones and others */
  reals reals[N_REALS];
  bool unlike; /* some loop moves ops by different steps */
  bool *idle;  /* [n_ops] the current ones */
  /* Pairs of slices in one bank that a loop may move differently.  What met says: along which ranks
   * the first was beyond what it found of the other (bit 2 r: above, 2 r + 1: below), whenever it
   * was entered; in `now`, since that was last added to the loops'. */
  int n_pairs, *pair; /* [slice * n_tile_slices + found] number of the pair; -1: none */
  uint32_t *now;
  loop *loops;    /* [n_loops] */
  int64_t *saved; /* [n_loops * (1 + n_ops)] trip counts and steps, while loops are free */
} tf_fast_forward;

/* Whether some loop moves ops by different steps. */
static bool unlike_steps(const tf_walker *e) {
  const tf_plan *p = e->p;
  bool unlike = false;
  for (int l = 0; l < p->n_loops; l++)
    for (int k = 1; k < p->loops[l].n_leader && e->ev->trip[l] > 1; k++)
      unlike |= e->ev->step[p->loops[l].leaders[k] * p->n_loops + l] !=
                e->ev->step[p->loops[l].leaders[0] * p->n_loops + l];
  return unlike;
}

/* Fills pair; false: out of memory. */
static bool find_pairs(tf_fast_forward *s, const tf_walker *e) {
  const int n = e->p->n_tile_slices, *bank = e->st->bank_of;
  if (!s->unlike) return true;
  s->pair = TF_ARRAY(s->arena, int, (size_t)n *(size_t)n + 1);
  for (int i = 0; i < n && s->pair; i++)
    for (int j = 0; j < n; j++)
      s->pair[i * n + j] = i != j && bank[i] == bank[j] ? s->n_pairs++ : -1;
  s->now = TF_ARRAY(s->arena, uint32_t, (size_t)s->n_pairs + 1);
  if (s->now) memset(s->now, 0xff, (size_t)s->n_pairs * sizeof *s->now);
  return s->pair && s->now;
}

struct tf_fast_forward *tf_fast_forward_new(tf_arena *a, const tf_walker *e) {
  const tf_plan *p = e->p;
  struct tf_model *m = e->m;
  tf_fast_forward *s = TF_NEW(a, tf_fast_forward);
  if (!s) return NULL;
  *s = (tf_fast_forward){.arena = a,
                         .words = tf_store_words(e->st),
                         .ints = {{&m->moves->fill, 4 * (size_t)p->n_slices},
                                  {m->steps, (size_t)p->tree->n_nodes},
                                  {m->rescaled, 2 * (size_t)p->wl->n_ops}},
                         .reals = {{&m->flows->fill, 4 * (size_t)p->n_slices},
                                   {&e->entered->fill, 4 * (size_t)m->views->n_entered},
                                   {m->class_steps, (size_t)m->views->n_rows},
                                   {m->rescaled_flow, 2 * (size_t)p->wl->n_ops}},
                         .loops = TF_ARRAY(a, loop, (size_t)p->n_loops + 1)};
  s->reals[4] = s->reals[5] = s->reals[6] = s->reals[7] = (reals){&m->flows->fill, 0};
  if (m->peers) s->reals[7] = (reals){m->peers->came, m->peers->n * TF_N_SOURCES};
  if (m->each) {
    const size_t n = (size_t)m->each->n;
    s->reals[4] = (reals){&m->each->flows->fill, 4 * n * (size_t)p->n_slices};
    s->reals[5] = (reals){&m->each->entered->fill, 4 * n * (size_t)m->views->n_entered};
    s->reals[6] = (reals){m->each->rescaled, 2 * n * (size_t)p->wl->n_ops};
  }
  s->n_ints = 2 * (size_t)p->wl->n_ops;
  for (int i = 0; i < N_INTS; i++)
    s->n_ints += s->ints[i].n;
  for (int i = 0; i < N_REALS; i++)
    s->n_reals += s->reals[i].n;
  s->saved = TF_ARRAY(a, int64_t, (size_t)p->n_loops * (1 + (size_t)p->wl->n_ops) + 1);
  s->idle = TF_ARRAY(a, bool, (size_t)p->wl->n_ops);
  s->unlike = unlike_steps(e);
  if (!find_pairs(s, e)) return NULL;
  return s->loops && s->saved && s->idle && s->words <= MOST_WORDS ? s : NULL;
}

/* ---- shifts --------------------------------------------------------------------------------- */

/* How far an iteration of loop l moves ranges. */
typedef struct {
  const tf_walker *e;
  const bool *idle; /* [op] it reads and makes nothing */
  int l, asked;
  bool agree; /* all parts of a range move equally */
} shift_query;

static int64_t dim_shift(shift_query *q, int o, int d, int n);

static int64_t index_shift(shift_query *q, int o, const tf_index *ix, int n) {
  int64_t shift = 0;
  for (int t = 0; t < ix->n_terms; t++)
    shift += ix->terms[t].coef * dim_shift(q, o, ix->terms[t].dim, n);
  return shift;
}

/* For an op that leads at node n: the range that enters it, and the loop itself. */
static int64_t led_shift(shift_query *q, int o, int d, int n) {
  const tf_plan *p = q->e->p;
  const int up = p->tree->nodes[p->lead[o]].parent;
  int64_t shift = up < 0 ? 0 : dim_shift(q, o, d, up);
  for (int k = p->path[p->lead[o]].n; k < p->path[n].n; k++)
    if (p->path[n].loops[k] == q->l && p->loops[q->l].dim == d)
      shift += q->e->ev->step[o * p->n_loops + q->l];
  return shift;
}

/* For what the readers of op o below node n need of its output rank r. */
static int64_t demand_shift(shift_query *q, int o, int r, int n) {
  const tf_plan *p = q->e->p;
  int64_t shift = 0;
  bool any = false;
  TF_EACH_READ (p->facts, o, n, at) {
    if (q->idle[at.op]) continue;
    const int64_t its = index_shift(q, at.op, &p->wl->ops[at.op].reads[at.ref].index[r], n);
    q->agree &= !any || its == shift;
    shift = its, any = true;
  }
  return shift;
}

static int64_t dim_shift(shift_query *q, int o, int d, int n) {
  const tf_range_from from = tf_range_source(q->e->p->facts, o, d, n);
  if (++q->asked > MOST_ASKED) q->agree = false;
  if (!q->agree) return 0;
  switch (from.rule) {
  case TF_BY_LOOPS: return led_shift(q, o, d, n);
  case TF_BY_READERS: return demand_shift(q, o, from.source, n);
  case TF_BY_LEADER: return dim_shift(q, from.source, d, n);
  case TF_BY_EXTENT: break;
  }
  return 0;
}

static int64_t touch_shift(shift_query *q, tf_touch t, int r, int n) {
  const tf_op *op = &q->e->p->wl->ops[t.op];
  return t.ref < 0 ? dim_shift(q, t.op, op->dims[r], n)
                   : index_shift(q, t.op, &op->reads[t.ref].index[r], n);
}

/* Whether an op below node n that touches the slice has points. */
static bool touched(const shift_query *q, const tf_slice *s, int n) {
  bool any = false;
  for (int t = 0; t < s->n_touch && tf_plan_above(q->e->p, n, s->node); t++)
    any |= !q->idle[s->touch[t].op];
  return any;
}

/* Shifts of slice i; its touches must agree. */
static void slice_shift(shift_query *q, int i, int64_t *of) {
  const tf_slice *s = &q->e->p->slices[i];
  for (int r = 0; r < q->e->p->wl->tensors[s->tensor].rank; r++) {
    bool any = false;
    for (int t = 0; t < s->n_touch; t++) {
      if (q->idle[s->touch[t].op]) continue;
      const int64_t shift = touch_shift(q, s->touch[t], r, s->node);
      q->agree &= !any || shift == of[r];
      of[r] = shift, any = true;
    }
  }
}

/* Shifts of the slices below node n; those of one bank must agree, as each finds what another one
 * left, except for pairs that are checked when they meet. */
static void slice_shifts(shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  const int *bank = q->e->st->bank_of;
  for (int i = 0; i < p->n_tile_slices && q->agree; i++) {
    int64_t *of = f->slice + (size_t)i * TF_MAX_RANK;
    memset(of, 0, TF_MAX_RANK * sizeof *of);
    if (!touched(q, &p->slices[i], n)) continue;
    slice_shift(q, i, of);
    for (int j = 0; j < i && q->agree && !q->e->fast_forward->n_pairs; j++)
      if (bank[j] == bank[i] && touched(q, &p->slices[j], n))
        q->agree = !memcmp(of, f->slice + (size_t)j * TF_MAX_RANK, TF_MAX_RANK * sizeof *of);
  }
}

static bool noting(const tf_walker *e) { return e->m->lines && e->m->lines->noting; }

/* Shifts of what units use, if lines are recorded. */
static void leaf_shifts(shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  for (int i = p->n_tile_slices; i < p->n_slices && noting(q->e) && q->agree; i++) {
    int64_t *of = f->slice + (size_t)i * TF_MAX_RANK;
    memset(of, 0, TF_MAX_RANK * sizeof *of);
    if (touched(q, &p->slices[i], n)) slice_shift(q, i, of);
  }
}

/* Points, and what leaves use, move with the ranges of the ops. */
static void op_shifts(shift_query *q, int n) {
  const tf_plan *p = q->e->p;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int d = 0;
         d < p->wl->ops[o].n_dims && !q->idle[o] && tf_plan_above(p, n, p->tree->op_node[o]); d++)
      dim_shift(q, o, p->wl->ops[o].dims[d], p->tree->op_node[o]);
}

static void home_shifts(shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->retained[z] && tf_plan_above(p, n, p->home_scope[z]))
      for (int r = 0; r < p->wl->tensors[z].rank; r++)
        f->home[(size_t)z * TF_MAX_RANK + (size_t)r] =
            demand_shift(q, p->wl->tensors[z].producer, r, p->home_scope[z]);
}

static void find_borders(shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  f->n_borders = 0;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int k = 0;
         k < p->wl->ops[o].n_reads && !q->idle[o] && tf_plan_above(p, n, p->tree->op_node[o]);
         k++) {
      const tf_ref *ref = &p->wl->ops[o].reads[k];
      for (int r = 0; r < p->wl->tensors[ref->tensor].rank; r++) {
        const border b = {o, k, r,
                          p->wl->tensors[ref->tensor].pad[r]
                              ? index_shift(q, o, &ref->index[r], p->tree->op_node[o])
                              : 0};
        if (b.shift) f->borders[f->n_borders++] = b;
      }
    }
}

/* Finds what node n loads again at other settings of the loops in `again`: an iteration that
 * follows another one loads again what the loop itself does not move; if only loops further out
 * repeat it, the mask decides at which iterations. */
static void find_outer(const shift_query *q, loop *f, int n, uint64_t again) {
  const tf_plan *p = q->e->p;
  const int at = p->path[p->loops[q->l].node].n + p->loops[q->l].slot;
  const uint64_t skips = tf_skip_loops(p, n);
  if (skips >> at & 1 && !(again >> at & 1)) f->outer |= again & skips & ((UINT64_C(1) << at) - 1);
}

static void find_outers(const shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    if (s->makes && tf_plan_above(p, n, s->node)) find_outer(q, f, s->node, s->inside & ~s->moving);
  }
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_slice *out = &p->slices[p->op_slice[o] + p->wl->ops[o].n_reads],
                   *stream = &p->stream[o];
    const int home = p->home_scope[p->wl->ops[o].out];
    if (home >= 0 && tf_plan_above(p, n, home)) find_outer(q, f, home, out->inside);
    if (stream->node >= 0 && tf_plan_above(p, n, stream->node))
      find_outer(q, f, stream->node, stream->inside);
  }
}

/* Fills f->masked; all ops of a node's box must move equally. */
static void find_masked(shift_query *q, loop *f, int n) {
  const tf_plan *p = q->e->p;
  const int at = p->path[p->loops[q->l].node].n + p->loops[q->l].slot;
  if (!p->skips) return;
  for (int x = n; x < p->tree->nodes[n].end; x++) {
    const tf_mask *m = &p->skips->mask;
    int64_t by_l = 0, by_q = 0;
    bool any = false;
    if (!(tf_skip_loops(p, x) >> at & 1) || p->skips->node[x].decided_at != x) continue;
    uint64_t inner = at + 1 < TF_MAX_PATH ? tf_skip_loops(p, x) >> (at + 1) << (at + 1) : 0;
    while (inner && q->e->ev->trip[p->path[x].loops[__builtin_ctzll(inner)]] <= 1)
      inner &= inner - 1;
    for (int o = 0; o < p->wl->n_ops; o++) {
      if (!m->fully_masked[o] || !tf_plan_above(p, x, p->tree->op_node[o])) continue;
      const int64_t l = dim_shift(q, o, m->l, x), r = dim_shift(q, o, m->q, x);
      q->agree &= !any || (l == by_l && r == by_q);
      by_l = l, by_q = r, any = true;
    }
    f->masked[f->n_masked++] = (masked){x, by_l - by_q, !inner};
  }
}

/* Ranks that ops read of padded tensors. */
static size_t most_borders(const tf_workload *wl) {
  size_t n = 0;
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < wl->ops[o].n_reads; k++)
      for (int r = 0; r < wl->tensors[wl->ops[o].reads[k].tensor].rank; r++)
        n += wl->tensors[wl->ops[o].reads[k].tensor].pad[r] > 0;
  return n;
}

/* Allocates the state of a loop. */
static bool alloc_loop(const tf_walker *e, loop *f) {
  const tf_plan *p = e->p;
  tf_arena *a = e->fast_forward->arena;
  f->idle = TF_ARRAY(a, bool, (size_t)p->wl->n_ops);
  f->slice = TF_ARRAY(a, int64_t, (size_t)(p->n_slices + 1) * TF_MAX_RANK);
  f->home = TF_ARRAY(a, int64_t, (size_t)p->wl->n_tensors * TF_MAX_RANK);
  f->held = TF_ARRAY(a, int64_t, e->fast_forward->words);
  f->ints = TF_ARRAY(a, int64_t, e->fast_forward->n_ints);
  f->reals = TF_ARRAY(a, double, e->fast_forward->n_reals);
  f->met = TF_ARRAY(a, uint32_t, (size_t)e->fast_forward->n_pairs + 1);
  f->borders = TF_ARRAY(a, border, most_borders(p->wl) + 1);
  f->masked = TF_ARRAY(a, masked, (size_t)p->tree->n_nodes);
  return f->idle && f->slice && f->home && f->held && f->ints && f->reals && f->met && f->borders &&
         f->masked;
}

/* Finds whether iterations of loop l may be skipped while these ops are idle. */
static void find_shifts(const tf_walker *e, int l, loop *f) {
  const int child = e->p->tree->nodes[e->p->loops[l].node].children[0];
  shift_query q = {e, f->idle, l, 0, true};
  f->n_masked = 0;
  f->outer = 0;
  slice_shifts(&q, f, child);
  leaf_shifts(&q, f, child);
  home_shifts(&q, f, child);
  op_shifts(&q, child);
  find_borders(&q, f, child);
  find_masked(&q, f, child);
  find_outers(&q, f, child);
  f->may = q.agree;
}

/* Whether all readers of op o's output below node n are idle, and there are some. */
static bool unread(const tf_walker *e, int o, int n, const bool *idle) {
  bool any = false;
  TF_EACH_READ (e->p->facts, o, n, at) {
    if (!idle[at.op]) return false;
    any = true;
  }
  return any;
}

/* Fills e->fast_forward->idle: ops that loop l splits of which all instances are past their end,
 * and ops that only these need.  With masks or retention, which also leave out points, no op is
 * taken to be idle. */
static void find_idle(const tf_walker *e, int l, const loop *f) {
  const tf_plan *p = e->p;
  const tf_ploop *pl = &p->loops[l];
  const int child = p->tree->nodes[pl->node].children[0], n_ops = p->wl->n_ops;
  const int64_t *before = f->ints + e->fast_forward->n_ints - 2 * (size_t)n_ops;
  bool *idle = e->fast_forward->idle;
  memset(idle, 0, (size_t)n_ops * sizeof *idle);
  if (p->skips || p->n_retains) return;
  for (int k = 0; k < pl->n_leader; k++)
    idle[pl->leaders[k]] = e->m->res.ops[pl->leaders[k]].points == before[2 * pl->leaders[k]];
  for (int i = n_ops - 1; i >= 0; i--)
    idle[p->wl->topo[i]] |= unread(e, p->wl->topo[i], child, idle);
}

/* Whether iterations of loop l may be skipped after the one walked since counters were kept. */
static bool may_repeat(const tf_walker *e, int l, loop *f) {
  const size_t bytes = (size_t)e->p->wl->n_ops * sizeof *f->idle;
  find_idle(e, l, f);
  if (f->asked && !memcmp(f->idle, e->fast_forward->idle, bytes)) return f->may;
  memcpy(f->idle, e->fast_forward->idle, bytes);
  f->asked = true;
  find_shifts(e, l, f);
  return f->may;
}

/* ---- limits by borders ---------------------------------------------------------------------- */

/* The last iteration up to which the range that loop l splits of op o, in the current instance, is
 * cut off no more than in iteration i. */
static int64_t same_range(const tf_walker *e, int l, int o, int64_t i) {
  const tf_plan *p = e->p;
  const int64_t step = e->ev->step[o * p->n_loops + l],
                len = tf_split_range(e->ev, o, l, e->cur).len;
  const int64_t full = len > 0 ? len / step : 0, any = len > 0 ? (len - 1) / step + 1 : 0;
  return i < full ? full - 1 : i >= any ? e->ev->trip[l] - 1 : i;
}

/* Frees the loops further in than loop l: gives each a single step, so long that it splits
 * nothing. */
static void free_inner(const tf_walker *e, int l, bool free) {
  const tf_plan *p = e->p;
  const int n = p->loops[l].node;
  int64_t *saved = e->fast_forward->saved;
  for (int x = 0; x < p->n_loops; x++) {
    const tf_ploop *in = &p->loops[x];
    const bool inner = in->node == n ? in->slot > p->loops[l].slot : tf_plan_above(p, n, in->node);
    if (!inner) continue;
    if (free) *saved = e->ev->trip[x];
    e->ev->trip[x] = free ? 1 : *saved;
    saved++;
    for (int o = 0; o < p->wl->n_ops; o++, saved++) {
      int64_t *step = &e->ev->step[o * p->n_loops + x];
      if (free) *saved = *step;
      *step = free ? INT64_MAX : *saved;
    }
  }
}

/* The same for the borders of padded tensors: until then the boxes that loop l moves are inside and
 * do not touch them (a box that was cut ends there), with all loops further in free. */
static int64_t inside_borders(const tf_walker *e, const loop *f, int64_t i, int64_t last) {
  const tf_plan *p = e->p;
  for (int k = 0; k < f->n_borders && last > i; k++) {
    const border *b = &f->borders[k];
    const tf_tensor *z = &p->wl->tensors[p->wl->ops[b->op].reads[b->ref].tensor];
    const int n = p->tree->op_node[b->op];
    if (tf_op_idle(e->ev, b->op, n, e->cur)) continue;
    const tf_ival v = tf_touch_rank(e->ev, (tf_touch){b->op, b->ref}, b->rank, n, e->cur);
    const tf_ival all = tf_clip(z, b->rank, (tf_ival){INT64_MIN / 2, INT64_MAX});
    const int64_t before = v.lo - all.lo - 1, after = all.lo + all.len - v.lo - v.len - 1;
    if (v.len <= 0 || before < 0 || after < 0) return i;
    const int64_t more = b->shift > 0 ? after / b->shift : before / -b->shift;
    last = more < last - i ? i + more : last;
  }
  return last;
}

/* For how many further iterations `slack` stays at least 0, if each adds `by`; -1: it was negative
 * in the previous iteration. */
static int64_t stays(int64_t slack, int64_t by) {
  if (slack < 0 || slack - by < 0) return -1;
  return by < 0 ? slack / -by : INT64_MAX;
}

/* The same for a mask: until then, and in the previous iteration, it skips no step or all of them,
 * whatever the loops further in; for a node on which they have no effect, it is enough that the
 * node meets the band. */
static int64_t inside_band(const tf_walker *e, const loop *f, int64_t i, int64_t last) {
  const tf_mask *m = f->n_masked ? &e->p->skips->mask : NULL;
  for (int k = 0; k < f->n_masked && last > i; k++) {
    const int64_t by = f->masked[k].shift;
    int64_t least, most;
    bool cut;
    if (!tf_skip_span(e->ev, f->masked[k].node, e->cur, &least, &most, &cut)) continue;
    if (cut) return i;
    const bool alone = f->masked[k].alone;
    const int64_t above = stays((alone ? most : least) - m->lo, by),
                  below = stays(m->hi - (alone ? least : most), -by),
                  out = stays(least - m->hi - 1, by), under = stays(m->lo - most - 1, -by);
    const int64_t kept = above < below ? above : below, left = out > under ? out : under,
                  more = kept > left ? kept : left;
    last = more < last - i ? i + (more > 0 ? more : 0) : last;
  }
  return last;
}

/* The last iteration of loop l, from iteration i on, that is cut off in the same way as i in all
 * instances. */
static int64_t alike_until(tf_walker *e, int l, const loop *f, int64_t i) {
  const tf_ploop *pl = &e->p->loops[l];
  int64_t last = e->ev->trip[l] - 1;
  tf_walker_first(e, pl->node);
  if (f->n_masked && !e->left_out && !e->ev->masked_too) {
    for (uint64_t rest = f->outer; rest; rest &= rest - 1)
      if (e->cur[e->p->path[e->p->tree->nodes[pl->node].children[0]].loops[__builtin_ctzll(rest)]])
        return i;
    free_inner(e, l, true);
    last = inside_band(e, f, i, last);
    free_inner(e, l, false);
  }
  do {
    tf_walker_force_made(e);
    for (int k = 0; k < pl->n_leader && last > i; k++) {
      const int64_t its = same_range(e, l, pl->leaders[k], i);
      last = its < last ? its : last;
    }
    if (!f->n_borders || last <= i) continue;
    free_inner(e, l, true);
    last = inside_borders(e, f, i, last);
    free_inner(e, l, false);
  } while (tf_walker_next(e, pl->node));
  return last;
}

/* ---- counters ------------------------------------------------------------------------------- */

static tf_counts *noted(const tf_walker *e, int row) {
  return e->m->noted ? e->m->noted(e->m, row) : NULL;
}

/* Keeps the counters that the walk has reported. */
static void keep_noted(tf_walker *e, loop *f) {
  int n = 0;
  while (noted(e, n))
    n++;
  if (n > f->room) {
    f->room = 2 * n;
    f->noted = TF_ARRAY(e->fast_forward->arena, tf_counts, (size_t)f->room);
  }
  f->n_noted = f->noted || !n ? n : -1;
  for (int k = 0; k < f->n_noted; k++)
    f->noted[k] = *noted(e, k);
}

/* Adds the meetings since the last call to those of all loops. */
static void add_met(const tf_walker *e) {
  tf_fast_forward *s = e->fast_forward;
  if (!s->n_pairs) return;
  for (int l = 0; l < e->p->n_loops; l++)
    for (int k = 0; k < s->n_pairs && s->loops[l].met; k++)
      s->loops[l].met[k] &= s->now[k];
  memset(s->now, 0xff, (size_t)s->n_pairs * sizeof *s->now);
}

/* For a pair that has met: the ranks and sides along which it stays apart while loop f moves one by
 * `a`, and what it found by `b`. */
static uint32_t stays_apart(uint32_t met, const int64_t *a, const int64_t *b) {
  uint32_t apart = 0;
  for (int r = 0; r < TF_MAX_RANK; r++)
    apart |= (a[r] >= b[r] ? UINT32_C(1) : 0) << 2 * r | (a[r] <= b[r] ? UINT32_C(2) : 0) << 2 * r;
  return met & apart;
}

/* Whether all pairs that have met since counters were kept move equally, or stay apart. */
static bool none_meet(const tf_walker *e, const loop *f) {
  const tf_fast_forward *s = e->fast_forward;
  const int n = e->p->n_tile_slices;
  bool ok = true;
  for (int i = 0; i < n && s->n_pairs; i++)
    for (int j = 0; j < n && ok; j++) {
      const int64_t *a = f->slice + (size_t)i * TF_MAX_RANK,
                    *b = f->slice + (size_t)j * TF_MAX_RANK;
      const int k = s->pair[i * n + j];
      if (k >= 0 && f->met[k] != UINT32_MAX && memcmp(a, b, TF_MAX_RANK * sizeof *a) != 0)
        ok = stays_apart(f->met[k], a, b) != 0;
    }
  return ok;
}

/* After loop f was advanced: pairs that have met in it have met in the skipped iterations, too. */
static void repeat_meetings(const tf_walker *e, const loop *f) {
  const tf_fast_forward *s = e->fast_forward;
  const int n = e->p->n_tile_slices;
  for (int i = 0; i < n && s->n_pairs; i++)
    for (int j = 0; j < n; j++) {
      const int k = s->pair[i * n + j];
      if (k >= 0 && f->met[k] != UINT32_MAX)
        s->now[k] &= stays_apart(f->met[k], f->slice + (size_t)i * TF_MAX_RANK,
                                 f->slice + (size_t)j * TF_MAX_RANK);
    }
}

void tf_fast_forward_met(tf_walker *e, int i, const tf_held *found, const tf_ival *box) {
  tf_fast_forward *s = e->fast_forward;
  uint32_t apart = 0;
  if (!s || !s->n_pairs || found->owner < 0 || found->owner == i) return;
  for (int r = 0; r < e->p->wl->tensors[e->p->slices[i].tensor].rank; r++) {
    const tf_ival *old = &found->box[r];
    if (box[r].lo >= old->lo + old->len) apart |= UINT32_C(1) << 2 * r;
    if (box[r].lo + box[r].len <= old->lo) apart |= UINT32_C(2) << 2 * r;
  }
  s->now[s->pair[i * e->p->n_tile_slices + found->owner]] &= apart;
}

static void keep_state(tf_walker *e, loop *f, int64_t i) {
  const tf_fast_forward *s = e->fast_forward;
  int64_t *to = f->ints;
  double *real = f->reals;
  tf_store_keep(e->st, f->held);
  for (int k = 0; k < N_INTS; to += s->ints[k++].n)
    memcpy(to, s->ints[k].at, s->ints[k].n * sizeof *to);
  for (int k = 0; k < N_REALS; real += s->reals[k++].n)
    memcpy(real, s->reals[k].at, s->reals[k].n * sizeof *real);
  for (int o = 0; o < e->p->wl->n_ops; o++)
    *to++ = e->m->res.ops[o].points, *to++ = e->m->res.ops[o].skipped;
  keep_noted(e, f);
  add_met(e);
  memset(f->met, 0xff, (size_t)s->n_pairs * sizeof *f->met);
  f->kept_at = i;
  f->since = ++e->st->iteration;
  f->mark = noting(e) ? tf_line_log_mark(e->m) : 0;
  e->budget -= (int64_t)(s->words / WORDS_A_STEP);
}

/* Whether the nodes entered by the last iteration had been entered before, as a first step counts
 * separately; and all that it reported is in existing rows. */
static bool all_begun(const tf_walker *e, const loop *f) {
  const int64_t *before = f->ints + e->fast_forward->ints[0].n;
  if (f->n_noted < 0 || noted(e, f->n_noted)) return false;
  for (int n = 0; n < e->p->tree->n_nodes; n++)
    if (before[n] == 0 && e->m->steps[n] > 0) return false;
  return true;
}

/* Adds the increments since the counters were kept `times` more times. */
static bool again(int64_t *now, int64_t kept, int64_t times) {
  int64_t more;
  return *now == kept || (!__builtin_mul_overflow(*now - kept, times, &more) &&
                          !__builtin_add_overflow(*now, more, now));
}

static bool note_again(const tf_walker *e, const loop *f, int64_t times) {
  bool ok = true;
  for (int k = 0; k < f->n_noted; k++) {
    tf_counts *now = noted(e, k);
    ok &= again(&now->fill, f->noted[k].fill, times) &&
          again(&now->drain, f->noted[k].drain, times) &&
          again(&now->read, f->noted[k].read, times) &&
          again(&now->update, f->noted[k].update, times);
  }
  return ok;
}

#define WHOLE 0x1p53

/* False: too large, or beyond what a double holds exactly, so that the increment of one iteration
 * is lost. */
static bool count_again(tf_walker *e, const loop *f, int64_t times) {
  const tf_fast_forward *s = e->fast_forward;
  const int64_t *kept = f->ints;
  const double *real = f->reals;
  bool ok = true;
  for (int k = 0; k < N_INTS; k++)
    for (size_t j = 0; j < s->ints[k].n; j++)
      ok &= again(&s->ints[k].at[j], *kept++, times);
  for (int k = 0; k < N_REALS; k++)
    for (size_t j = 0; j < s->reals[k].n; j++, real++) {
      s->reals[k].at[j] += (s->reals[k].at[j] - *real) * (double)times;
      ok &= s->reals[k].at[j] <= WHOLE;
    }
  for (int o = 0; o < e->p->wl->n_ops; o++, kept += 2)
    ok &= again(&e->m->res.ops[o].points, kept[0], times) &&
          again(&e->m->res.ops[o].skipped, kept[1], times);
  return note_again(e, f, times) && ok;
}

/* Sets the previous steps of nodes below loop l to those of the last iteration. */
static void set_previous(const tf_walker *e, int l, int64_t i, int64_t last) {
  const tf_plan *p = e->p;
  const int n = p->loops[l].node, at = p->path[n].n + p->loops[l].slot;
  for (int x = n + 1; e->was && x < p->tree->nodes[n].end; x++) {
    int64_t *was = &e->was[(size_t)x * TF_MAX_PATH + (size_t)at];
    *was = *was == i ? last : *was;
  }
}

int64_t tf_fast_forward_after(tf_walker *e, int l, int64_t i) {
  if (!e->fast_forward || !e->ok || e->ev->trip[l] < MIN_TRIP) return i;
  loop *f = &e->fast_forward->loops[l];
  if (!f->masked && !alloc_loop(e, f)) return i;
  if (i == 0) f->fails = 0, f->kept_at = -1;
  if (i + 1 == e->ev->trip[l] || (f->asked && !f->may && !e->fast_forward->unlike)) return i;
  if (f->kept_at == i - 1 && i > 0) {
    const tf_store_shift by = {f->slice, f->home};
    const int64_t last = may_repeat(e, l, f) ? alike_until(e, l, f, i) : i;
    add_met(e);
    if (last > i && (!noting(e) || tf_line_log_holds(e->m, f->mark)) && none_meet(e, f) &&
        all_begun(e, f) && tf_store_moved(e->st, f->held, f->since, by)) {
      e->ok = count_again(e, f, last - i);
      if (noting(e)) tf_line_log_again(e->m, f->mark, f->slice, last - i);
      tf_store_move(e->st, f->since, by, last - i);
      set_previous(e, l, i, last);
      repeat_meetings(e, f);
      f->fails = 0;
      return last;
    }
    f->fails++;
  }
  if (f->fails < TRIES || i % TRY_EACH >= TRY_EACH - 2) keep_state(e, f, i);
  return i;
}
