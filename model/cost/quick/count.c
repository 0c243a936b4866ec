/* Counts one row of trip counts that divide evenly: see even.h. */
#include <string.h>

#include "model/cost/peers.h"
#include "model/cost/quick/clip.h"
#include "model/cost/quick/uneven.h"

bool tf_even_room(tf_arena *a, struct tf_model *m) {
  const tf_even *e = m->even;
  m->value = TF_ARRAY(a, int64_t, (size_t)e->n_products);
  m->lo = TF_ARRAY(a, int64_t, (size_t)e->n_ranges + 1);
  m->len = TF_ARRAY(a, int64_t, (size_t)e->n_ranges + 1);
  m->outer = TF_ARRAY(a, int64_t, (size_t)m->plan->n_loops + 1);
  return m->value && m->lo && m->len && m->outer;
}

/* ---- whether it applies; values that follow from trip counts alone --------------------------- */

static bool products(struct tf_model *m) {
  const tf_even *e = m->even;
  m->value[0] = 1;
  for (int i = 1; i < e->n_products; i++)
    if (__builtin_mul_overflow(m->value[e->products[i].next], m->ev.trip[e->products[i].loop],
                               &m->value[i]))
      return false;
  return true;
}

/* Whether the trip counts meet the conditions: loops that must have one step do; of pairs at least
 * one does (joined: or shared words are found slice by slice); ops that share a loop advance
 * equally (joined: or m->mixed_steps is set). */
static bool loops_allow(struct tf_model *m, bool joined) {
  const tf_even *e = m->even;
  const int64_t *trip = m->ev.trip;
  bool ok = true;
  m->mixed_steps = false;
  for (int i = 0; i < e->n_fixed; i++)
    ok &= trip[e->fixed[i]] == 1;
  for (int i = 0; i < e->n_pairs; i++)
    ok &= joined || trip[e->pairs[i].one] == 1 || trip[e->pairs[i].other] == 1;
  for (int i = 0; i < e->n_equals; i++)
    m->mixed_steps |=
        trip[e->equals[i].loop] > 1 && m->value[e->equals[i].a] != m->value[e->equals[i].b];
  return ok && (joined || !m->mixed_steps);
}

bool tf_even_together(const struct tf_model *m) {
  const tf_even *e = m->even;
  for (int l = 0; l < m->plan->n_loops; l++)
    if (m->ev.trip[l] > 1 && e->chains[e->chain_of[l]].may_differ) return false;
  return true;
}

/* Sets range i to the hull of its reads. */
static void set_hull(struct tf_model *m, int i) {
  const tf_even_range *r = &m->even->ranges[i];
  int64_t lo, end;
  tf_even_read_at(m, &m->even->reads[r->first], &lo, &end);
  for (int k = r->first + 1; k < r->first + r->n; k++) {
    int64_t a, b;
    tf_even_read_at(m, &m->even->reads[k], &a, &b);
    lo = a < lo ? a : lo;
    end = b > end ? b : end;
  }
  m->lo[i] = lo;
  m->len[i] = end - lo;
}

/* Limits the range that an op computes of a padded tensor. */
static void cut_made(struct tf_model *m, int i) {
  const tf_even_range *r = &m->even->ranges[i];
  if (!tf_clip_range(m, i) && m->len[i] > r->to - r->from) m->len[i] = r->to - r->from;
}

/* cut: a tile is at most as long as the range that it is a part of; reads are not clipped. */
static bool ranges(struct tf_model *m, bool cut) {
  const tf_even *e = m->even;
  bool ok = true;
  for (int i = 0; i < e->n_ranges; i++) {
    const tf_even_range *r = &e->ranges[i];
    if (r->what == TF_HULL) {
      set_hull(m, i);
      if (cut && r->made && r->from < r->to) cut_made(m, i);
      ok = ok && (r->from == r->to || cut || tf_clip_range(m, i));
      continue;
    }
    m->lo[i] = r->what == TF_WHOLE ? 0 : m->lo[r->base];
    m->len[i] = r->what == TF_WHOLE ? r->len : m->value[r->product];
    if (cut && r->what == TF_PART && m->len[r->base] < m->len[i]) m->len[i] = m->len[r->base];
  }
  return ok;
}

/* The length of op o's range that loop l and the others of its chain split. */
static int64_t split_len(const struct tf_model *m, int l, int o) {
  const tf_even *e = m->even;
  int range = e->chains[e->chain_of[l]].base;
  for (int i = 0; i < e->n_others; i++)
    if (e->others[i].chain == e->chain_of[l] && e->others[i].op == o) range = e->others[i].range;
  return m->len[range];
}

/* Whether all ops that loop l splits have ranges of one length. */
static bool same_lengths(const struct tf_model *m, int l) {
  const tf_ploop *loop = &m->plan->loops[l];
  bool same = true;
  for (int i = 1; i < loop->n_leader && same && m->even->chains[m->even->chain_of[l]].may_differ;
       i++)
    same = split_len(m, l, loop->leaders[i]) == split_len(m, l, loop->leaders[0]);
  return same;
}

bool tf_even_alike(struct tf_model *m) {
  const tf_even *e = m->even;
  const int64_t *trip = m->ev.trip;
  bool ok = products(m) && ranges(m, true);
  for (int i = 0; i < e->n_fixed && ok; i++)
    ok = trip[e->fixed[i]] == 1 || m->plan->loops[e->fixed[i]].axis == TF_TEMPORAL;
  for (int i = 0; i < e->n_equals && ok; i++)
    ok = trip[e->equals[i].loop] == 1 || m->plan->loops[e->equals[i].loop].axis == TF_TEMPORAL ||
         m->value[e->equals[i].a] == m->value[e->equals[i].b];
  for (int l = 0; l < m->plan->n_loops && ok; l++)
    ok = trip[l] == 1 || m->plan->loops[l].axis == TF_TEMPORAL || same_lengths(m, l);
  return ok;
}

/* Whole tiles are only assumed after a check that the trip counts cover the ranges. */
static bool covered(const struct tf_model *m, bool uneven) {
  bool ok = true;
  if (m->whole_tiles) return true;
  for (int i = 0; i < m->even->n_covers; i++) {
    const int64_t all = m->value[m->even->covers[i].product],
                  len = m->len[m->even->covers[i].range];
    ok &= uneven ? all >= len : all == len;
  }
  return ok;
}

bool tf_even_values(struct tf_model *m, bool uneven) {
  return products(m) && loops_allow(m, uneven) && ranges(m, uneven) && covered(m, uneven);
}

/* Moments and instances of every node, and moments outside each temporal loop. */
static bool moments(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool over = false;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    int up = p->tree->nodes[n].parent;
    if (up < 0 || p->tree->nodes[up].kind != TF_TILE) {
      m->steps[n] = up < 0 ? 1 : m->steps[up];
      m->width[n] = up < 0 ? 1 : m->width[up];
      continue;
    }
    int64_t steps = m->steps[up], width = m->width[up];
    for (int l = p->first_loop[up]; l < p->first_loop[up] + p->tree->nodes[up].n_loops; l++) {
      m->outer[l] = steps;
      int64_t *by = p->loops[l].axis == TF_TEMPORAL ? &steps : &width;
      over |= __builtin_mul_overflow(*by, m->ev.trip[l], by);
    }
    m->steps[n] = steps;
    m->width[n] = width;
  }
  return !over;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Extents of slice s in this evaluation, and its number of copies at one step. */
static void fill_piece(const struct tf_model *m, const tf_slice *s, const tf_even_slice *v,
                       tf_piece *x) {
  x->v = v;
  x->box = 1;
  for (int r = 0; r < v->n_rank; r++) {
    x->len[r] = m->len[v->range[r]];
    x->box *= x->len[r];
  }
  x->instances = m->width[s->node];
  x->servers = v->server >= 0 ? m->width[v->server] : 1;
  x->asks = tf_even_turns(m, v->asks, v->n_asks);
  x->served = x->asks * tf_even_turns(m, v->same, v->n_same);
  x->groups = x->asks * x->servers;
  x->small = (double)m->steps[s->node] * (double)x->instances * (double)x->box < 0x1p57;
}

/* ---- moves --------------------------------------------------------------------------------- */

/* Words entered so far in one instance: all, and those that enter for the first time. */
typedef struct {
  int64_t words, fresh;
} entered;

/* Words that the first instance of the slice's memory moves, and of the serving one. */
static tf_move first_move(const tf_slice *s, const tf_memory *mem, const tf_piece *x, entered e) {
  const int64_t again = e.words - e.fresh;
  if (!s->makes)
    return (tf_move){.fill = e.words, .read = (mem->multicast ? x->asks : x->served) * e.words};
  return (tf_move){again, e.words, x->asks * again, (mem->reduce ? x->asks : x->served) * e.words};
}

/* Words that all instances move.  Of instances that share a transfer one fetches partial
 * results. */
static tf_move all_moves(const tf_slice *s, const tf_piece *x, const tf_move *first) {
  return (tf_move){first->fill * (s->makes ? x->groups : x->instances), first->drain * x->instances,
                   first->read * x->servers, first->update * x->servers};
}

static tf_flow flow_of(const struct tf_model *m, int i, const tf_piece *x, const tf_move *first) {
  if (m->first_busiest)
    return (tf_flow){(double)first->fill, (double)first->drain, (double)first->read,
                     (double)first->update};
  const tf_move all = all_moves(&m->plan->slices[i], x, first);
  return tf_mean_flow(m, i, &all);
}

/* Neighbours that hand on words of a slice. */
typedef struct {
  bool any;
  tf_peer_pattern of;
} handed;

/* Whether the closed form for neighbours (peers_even.c) applies to slice i: a loop over neighbours
 * that moves its box moves a rank whose places differ only by loops, and no other slice leaves the
 * tensor in the memory. */
static bool find_handed(const struct tf_model *m, int i, handed *h) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  const tf_even_slice *v = &m->even->slices[i];
  uint64_t moving = 0;
  *h = (handed){.any = m->each && tf_hands(m, i)};
  if (!h->any) return true;
  for (int j = 0; j < p->n_tile_slices; j++)
    if (j != i && p->slices[j].tensor == s->tensor && p->slices[j].level == s->level) return false;
  for (int k = 0; k < v->n_spatial; k++) {
    const tf_even_loop *l = &v->spatial[k];
    bool plain = l->n == 0 || m->ev.trip[l->loop] == 1;
    for (int r = 0; r < l->n; r++)
      plain |= tf_even_only_split(m->even, v->range[l->shift[r].rank]);
    if (!plain && p->tree->nodes[p->loops[l->loop].node].level == s->level - 1) return false;
    moving |= l->n ? UINT64_C(1) << l->pos : 0;
  }
  h->of = tf_peer_pattern_of(m, i, moving);
  return true;
}

/* Words that the first instance and its server move, if neighbours hand words on. */
static tf_flow with_handed(const tf_piece *x, const handed *h, tf_flow v) {
  if (h->any) v.read = v.fill * (double)(x->served / h->of.all * h->of.distinct);
  return v;
}

/* Counts class c: `once` words enter in each of its steps. */
static void count_class(struct tf_model *m, int i, int c, const tf_piece *x, const handed *h,
                        entered e) {
  const tf_slice *s = &m->plan->slices[i];
  if (!m->by_steps) return;
  const tf_move first = first_move(s, &m->plan->arch->memories[s->level], x, e);
  const tf_flow v = with_handed(x, h, flow_of(m, i, x, &first));
  const tf_view *view = &m->views->node[s->node];
  if (m->each)
    tf_peers_even_cells(m, i, c, h->any ? &h->of : NULL, &v);
  else if (s->classes[c].stepping >= 0)
    tf_cell_add(m->views, i, &m->cells[view->cell + c * view->n_legs], &v, 1);
  else
    tf_cells_add(m, i, c, &v);
}

/* Totals over the run: of all instances, and of the busiest. */
static void count_run(struct tf_model *m, int i, const tf_piece *x, const handed *h, entered sum) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_move first = first_move(s, &m->plan->arch->memories[s->level], x, sum);
  m->moves[i] = all_moves(s, x, &first);
  m->flows[i] = with_handed(x, h, flow_of(m, i, x, &first));
  if (h->any) {
    m->moves[i].read = x->servers * (x->served / h->of.all * h->of.distinct) * sum.words;
    m->moves[i].drain = m->moves[i].fill - m->moves[i].read;
    tf_peers_even_sources(m, i, &h->of, sum.words);
  }
  if (m->each) tf_peers_even_flows(m, i, h->any ? &h->of : NULL);
}

static bool count_tile(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  tf_piece x;
  handed h;
  fill_piece(m, s, &m->even->slices[i], &x);
  if (!x.small || !find_handed(m, i, &h)) return false;
  tf_clipped how = x.v->n_padded ? tf_clip_tile(m, i, &x) : TF_UNCLIPPED;
  if (how != TF_UNCLIPPED) return how == TF_COUNTED;
  int64_t by[TF_MAX_RANK], again = s->makes ? tf_even_turns(m, x.v->again, x.v->n_again) : 1;
  entered sum = {0, 0};
  int c = 0;
  memset(by, 0, (size_t)x.v->n_rank * sizeof by[0]);
  for (; c < s->n_class && s->classes[c].stepping >= 0; c++) {
    const tf_even_loop *l = &x.v->temporal[c];
    int64_t trip = m->ev.trip[l->loop];
    if (trip <= 1) continue;
    bool repeats = again > 1 && !l->n && s->inside >> l->pos & 1;
    if (repeats) again /= trip;
    tf_even_advance(m, l, -1, by);
    int64_t words =
        (x.box - tf_even_found(m, &s->classes[c], &x, by)) * (trip - 1) * m->outer[l->loop];
    tf_even_advance(m, l, trip, by);
    if (!words) continue;
    entered e = {words, repeats ? 0 : again > 1 ? words / again : words};
    count_class(m, i, c, &x, &h, e);
    sum.words += e.words;
    sum.fresh += e.fresh;
  }
  int64_t times = s->classes[c].zero_from == 0 ? 1 : m->steps[s->classes[c].top];
  int64_t words = (x.box - tf_even_found(m, &s->classes[c], &x, by)) * times;
  entered e = {words, words / again};
  count_class(m, i, c, &x, &h, e);
  sum.words += e.words;
  sum.fresh += e.fresh;
  count_run(m, i, &x, &h, sum);
  m->box[i] = x.box;
  memcpy(&m->rank_len[m->views->rank_at[i]], x.len, (size_t)x.v->n_rank * sizeof x.len[0]);
  return true;
}

/* Runs of a slice that load a box for the first time in its production. */
static int64_t fresh_runs(const struct tf_model *m, const tf_slice *s, const tf_even_slice *v) {
  int64_t again = tf_even_turns(m, v->again, v->n_again);
  return again > 1 ? m->steps[s->node] / again : m->steps[s->node];
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const tf_slice *s = &m->plan->slices[i];
  tf_piece x;
  fill_piece(m, s, &m->even->slices[i], &x);
  if (!x.small) return false;
  tf_clipped how = x.v->n_padded ? tf_clip_leaf(m, i, &x, unit->multicast) : TF_UNCLIPPED;
  if (how != TF_UNCLIPPED) return how == TF_COUNTED;
  const int64_t words =
      m->steps[s->node] * ((s->makes ? unit->reduce : unit->multicast) ? x.asks : x.served);
  const int64_t fresh = s->makes ? fresh_runs(m, s, x.v) * x.asks : 0;
  const tf_move one = {.read = words - fresh, .update = s->makes ? words : 0};
  m->moves[i] = (tf_move){.read = one.read * x.servers, .update = one.update * x.servers};
  m->flows[i] = (tf_flow){.read = (double)one.read,
                          .update = (double)one.update}; /* all instances move equally many */
  if (m->each) tf_peers_even_flows(m, i, NULL);
  return true;
}

static bool count_op(struct tf_model *m, int o) {
  const tf_op *op = &m->plan->wl->ops[o];
  tf_op_result *r = &m->res.ops[o];
  int n = m->plan->tree->op_node[o];
  for (int i = 0; i <= op->n_reads; i++)
    if (!count_leaf(m, m->plan->op_slice[o] + i, &m->plan->arch->units[m->plan->unit[o]]))
      return false;
  *r = (tf_op_result){
      .unit = m->plan->unit[o], .units = m->width[n], .points = m->steps[n] * m->width[n]};
  int64_t space = m->plan->space[o];
  r->recomputed = r->points > space ? r->points - space : 0;
  return true;
}

static bool count_rescaled(struct tf_model *m, int o) {
  const tf_slice *s = &m->plan->stream[o];
  tf_piece x;
  fill_piece(m, s, &m->even->stream[o], &x);
  if (!x.small) return false;
  m->rescaled[2 * o] = m->steps[s->node] * x.instances * x.box;
  m->rescaled[2 * o + 1] = fresh_runs(m, s, x.v) * x.groups * x.box;
  tf_rescaled_share(m, o);
  return true;
}

static void count_home(struct tf_model *m, int z) {
  const tf_even_home *h = &m->even->home[m->even->home_at[z]];
  m->home_words[z] = 1;
  for (int r = 0; r < m->plan->wl->tensors[z].rank; r++) {
    int64_t len = m->len[h[r].range];
    for (int i = 0; i < h[r].n; i++)
      len = tf_instance_part(len, m->ev.trip[h[r].cut[i]], tf_even_cut_step(m, z, h[r].cut[i]));
    for (int i = 0; i < h[r].n_more; i++)
      len +=
          (m->ev.trip[h[r].more[i]] - 1) * m->value[m->even->step[h[r].more[i]]] * h[r].distance[i];
    m->home_words[z] *= len;
  }
}

bool tf_even_home_brings(const struct tf_model *m, int z) {
  const tf_even_home *h = &m->even->home[m->even->home_at[z]];
  bool brings = false;
  for (int r = 0; r < m->plan->wl->tensors[z].rank; r++)
    for (int i = 0; i < h[r].n_more; i++)
      brings |= m->ev.trip[h[r].more[i]] > 1;
  return brings;
}

void tf_even_home_uneven(struct tf_model *m, int z) {
  if (tf_even_home_brings(m, z))
    tf_uneven_home(m, z); /* the last run may leave less */
  else
    count_home(m, z);
}

bool tf_even_count(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (!tf_even_values(m, false) || !moments(m)) return false;
  bool ok = !m->views->peers || (m->first_busiest && tf_peers_even_new(m));
  m->clipped = -1;
  m->partial = false;
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  if (m->by_steps)
    tf_class_steps(m); /* nothing is idle, so multiplying is correct and cannot fail */
  for (int i = 0; i < p->n_tile_slices && ok; i++)
    ok = count_tile(m, i);
  for (int o = 0; o < p->wl->n_ops && ok; o++)
    ok = count_op(m, o) && (p->stream[o].node < 0 || count_rescaled(m, o));
  for (int z = 0; z < p->wl->n_tensors && ok; z++)
    if (p->home_scope[z] >= 0) count_home(m, z);
  if (m->each && ok) tf_peers_even_end(m);
  if (m->each && !ok) tf_peers_even_drop(m);
  return ok;
}
