/* The quick count as a branch-free program: count.c and cells.c, value for value. */
#include "model/cost/quick/lanes.h"
#include "model/cost/zeros.h"
#include "model/tree/infer.h"

static const tf_tape_op A = TF_T_ADD, S = TF_T_SUB, M = TF_T_MUL;

static int turns(tf_lanes *w, const int *loops, int n) {
  int all = tf_l_int(w, 1);
  for (int i = 0; i < n; i++)
    all = tf_l(w, M, all, loops[i]);
  return all;
}

/* ---- whether it applies ---------------------------------------------------------------------- */

static void loops_allow(tf_lanes *w) {
  const tf_even *e = w->m->even;
  int one = tf_l_int(w, 1);
  for (int l = 0; l < w->p->n_loops; l++)
    tf_l_must(w, tf_l(w, TF_T_GT, l, tf_l_int(w, 0)));
  for (int i = 0; i < e->n_fixed; i++)
    tf_l_must(w, tf_l(w, TF_T_EQ, e->fixed[i], one));
  for (int i = 0; i < e->n_pairs; i++)
    tf_l_must(w, tf_l(w, TF_T_OR, tf_l(w, TF_T_EQ, e->pairs[i].one, one),
                      tf_l(w, TF_T_EQ, e->pairs[i].other, one)));
  for (int i = 0; i < e->n_equals; i++)
    tf_l_must(w, tf_l(w, TF_T_OR, tf_l(w, TF_T_EQ, e->equals[i].loop, one),
                      tf_l(w, TF_T_EQ, w->value[e->equals[i].a], w->value[e->equals[i].b])));
}

/* Requires that the loops above every op have fewer than 2^48 steps together, so that no product of
 * them overflows. */
static void paths_small(tf_lanes *w) {
  for (int o = 0; o < w->p->wl->n_ops; o++) {
    const tf_path *path = &w->p->path[w->p->tree->op_node[o]];
    int all = tf_l_real(w, 1);
    for (int i = 0; i < path->n; i++)
      all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, path->loops[i]));
    tf_l_small(w, all);
  }
}

static void read_at(tf_lanes *w, const tf_even_read *r, int *lo, int *end) {
  *lo = tf_l_int(w, r->c);
  *end = tf_l_int(w, r->c + 1);
  for (int t = r->first; t < r->first + r->n; t++) {
    const tf_even_term *term = &w->m->even->terms[t];
    int k = tf_l_int(w, term->coef), near = tf_l(w, M, k, w->lo[term->range]);
    int reach = tf_l(w, M, k, tf_l(w, S, w->len[term->range], tf_l_int(w, 1))),
        far = tf_l(w, A, near, reach);
    *lo = tf_l(w, A, *lo, term->coef < 0 ? far : near);
    *end = tf_l(w, A, *end, term->coef < 0 ? near : far);
  }
}

static void hull(tf_lanes *w, int i) {
  const tf_even_range *r = &w->m->even->ranges[i];
  int lo, end;
  read_at(w, &w->m->even->reads[r->first], &lo, &end);
  for (int k = r->first + 1; k < r->first + r->n; k++) {
    int a, b;
    read_at(w, &w->m->even->reads[k], &a, &b);
    lo = tf_l(w, TF_T_MIN, lo, a);
    end = tf_l(w, TF_T_MAX, end, b);
  }
  w->lo[i] = lo;
  w->len[i] = tf_l(w, S, end, lo);
}

void tf_lanes_range(tf_lanes *w, int i) {
  const tf_even_range *r = &w->m->even->ranges[i];
  if (r->what == TF_HULL) {
    hull(w, i);
    return;
  }
  w->lo[i] = r->what == TF_WHOLE ? tf_l_int(w, 0) : w->lo[r->base];
  w->len[i] = r->what == TF_WHOLE ? tf_l_int(w, r->len) : w->value[r->product];
}

static void ranges(tf_lanes *w) {
  const tf_even *e = w->m->even;
  for (int i = 0; i < e->n_ranges; i++)
    tf_lanes_range(w, i);
  for (int i = 0; i < e->n_covers; i++)
    tf_l_must(w, tf_l(w, TF_T_EQ, w->value[e->covers[i].product], w->len[e->covers[i].range]));
}

static void moments(tf_lanes *w) {
  const tf_plan *p = w->p;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    int up = p->tree->nodes[n].parent;
    int steps = up < 0 ? tf_l_int(w, 1) : w->steps[up],
        width = up < 0 ? tf_l_int(w, 1) : w->width[up];
    bool tile = up >= 0 && p->tree->nodes[up].kind == TF_TILE;
    for (int l = tile ? p->first_loop[up] : 0;
         tile && l < p->first_loop[up] + p->tree->nodes[up].n_loops; l++) {
      w->outer[l] = steps;
      if (p->loops[l].axis == TF_TEMPORAL)
        steps = tf_l(w, M, steps, l);
      else
        width = tf_l(w, M, width, l);
    }
    w->steps[n] = steps;
    w->width[n] = width;
  }
}

static void class_steps(tf_lanes *w) {
  for (int n = 0; n < w->p->tree->n_nodes; n++) {
    const tf_view *v = &w->m->views->node[n];
    int all = tf_l_real(w, 1);
    if (!v->n_slices) continue;
    w->class_steps[v->row + v->n_rows - 1] = all;
    for (int j = v->n_rows - 2; j >= 0; j--) {
      int trip = tf_l_to(w, v->row_loop[j]);
      w->class_steps[v->row + j] =
          tf_l(w, TF_T_FMUL, tf_l(w, TF_T_FSUB, trip, tf_l_real(w, 1)), all);
      all = tf_l(w, TF_T_FMUL, all, trip);
    }
  }
}

/* ---- entries --------------------------------------------------------------------------------- */

typedef struct {
  const tf_slice *s;
  const tf_even_slice *v;
  int len[TF_MAX_RANK], box, instances, groups, servers, served, asks;
} piece;

static piece piece_of(tf_lanes *w, const tf_slice *s, const tf_even_slice *v) {
  piece x = {.s = s, .v = v, .box = tf_l_int(w, 1), .instances = w->width[s->node]};
  int all = tf_l(w, TF_T_FMUL, tf_l_to(w, w->steps[s->node]), tf_l_to(w, x.instances));
  for (int r = 0; r < v->n_rank; r++) {
    x.len[r] = w->len[v->range[r]];
    x.box = tf_l(w, M, x.box, x.len[r]);
    all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, x.len[r]));
  }
  tf_l_small(w, all);
  x.servers = v->server >= 0 ? w->width[v->server] : tf_l_int(w, 1);
  x.asks = turns(w, v->asks, v->n_asks);
  x.served = tf_l(w, M, x.asks, turns(w, v->same, v->n_same));
  x.groups = tf_l(w, M, x.asks, x.servers);
  return x;
}

static int overlap(tf_lanes *w, int by, int len, int other) {
  int none = tf_l_int(w, 0);
  if (len == other && tf_tape_is(w->s, by, 0)) return len;
  int lo = tf_l(w, TF_T_MAX, by, none), end = tf_l(w, TF_T_MIN, tf_l(w, A, by, other), len);
  return tf_l(w, TF_T_MAX, tf_l(w, S, end, lo), none);
}

static int step_of(tf_lanes *w, int loop) { return w->value[w->m->even->step[loop]]; }

static void advance(tf_lanes *w, const tf_even_loop *l, int steps, int *by) {
  int step = tf_l(w, M, steps, step_of(w, l->loop));
  for (int i = 0; i < l->n; i++)
    by[l->shift[i].rank] =
        tf_l(w, A, by[l->shift[i].rank], tf_l(w, M, tf_l_int(w, l->shift[i].k), step));
}

static int last_step(tf_lanes *w, int loop) { return tf_l(w, S, loop, tf_l_int(w, 1)); }

/* Words found of what the previous m-tile, of class c, left at its last step. */
static int kept_of(tf_lanes *w, const tf_reuse_case *c, const piece *x) {
  const tf_even_slice *q = &w->m->even->slices[c->prev];
  int from = c->stepping >= 0 ? c->stepping : w->p->path[c->common].n - 1;
  int by[TF_MAX_RANK], words = tf_l_int(w, 1);
  for (int r = 0; r < q->n_rank; r++)
    by[r] = w->lo[q->range[r]];
  for (int i = 0; i < q->n_temporal && q->temporal[i].pos >= from; i++) {
    const tf_even_loop *l = &q->temporal[i];
    if (l->pos > from)
      advance(w, l, last_step(w, l->loop), by);
    else if (c->stepping >= 0)
      advance(w, l, tf_l_int(w, -1), by);
  }
  for (int r = 0; r < q->n_rank; r++)
    words =
        tf_l(w, M, words,
             overlap(w, tf_l(w, S, by[r], w->lo[x->v->range[r]]), x->len[r], w->len[q->range[r]]));
  return words;
}

static int alike(tf_lanes *w, const tf_even_loop *a, const tf_even_loop *b) {
  if (w->p->loops[a->loop].axis != w->p->loops[b->loop].axis || a->n != b->n) return tf_l_int(w, 0);
  int same = tf_l(w, TF_T_EQ, a->loop, b->loop);
  for (int i = 0; i < a->n; i++) {
    if (a->shift[i].rank != b->shift[i].rank) return tf_l_int(w, 0);
    int one = tf_l(w, M, tf_l_int(w, a->shift[i].k), step_of(w, a->loop));
    int other = tf_l(w, M, tf_l_int(w, b->shift[i].k), step_of(w, b->loop));
    same = tf_l(w, TF_T_AND, same, tf_l(w, TF_T_EQ, one, other));
  }
  return same;
}

/* The spatial loops above a slice, from position n on. */
typedef struct {
  const tf_even_loop *first;
  tf_lane_loops list;
} layout;

static layout layout_of(const tf_even_slice *v, int n) {
  layout l = {.first = v->spatial};
  while (l.first < v->spatial + v->n_spatial && l.first->pos < n)
    l.first++;
  for (const tf_even_loop *k = l.first; k < v->spatial + v->n_spatial; k++)
    l.list.loop[l.list.n++] = k->loop;
  return l;
}

static int alike_at(tf_lanes *w, const void *of, int i, int j) {
  const layout *both = of;
  return alike(w, &both[0].first[i], &both[1].first[j]);
}

/* Whether the loops with more than one step below the common scope (path length n) are pairwise
 * equal. */
int tf_lanes_same_layout(tf_lanes *w, const tf_even_slice *v, const tf_even_slice *q, int n) {
  const layout both[2] = {layout_of(v, n), layout_of(q, n)};
  return tf_lanes_paired(w, &both[0].list, &both[1].list, alike_at, both);
}

/* Words found when a slice enters in class c; by: the position of the previous step's box. */
static int found(tf_lanes *w, const tf_reuse_case *c, const piece *x, const int *by) {
  int words = tf_l_int(w, 1), stays = tf_l_int(w, 1), none = tf_l_int(w, 0);
  if (c->prev < 0) return none;
  for (int i = 0; i < c->n_spread; i++)
    stays = tf_l(w, TF_T_AND, stays, tf_l(w, TF_T_EQ, c->spread[i], tf_l_int(w, 1)));
  if (c->common >= 0) {
    int same = tf_lanes_same_layout(w, x->v, &w->m->even->slices[c->prev], w->p->path[c->common].n);
    stays = tf_l(w, TF_T_AND, stays, same);
    words = kept_of(w, c, x);
  }
  for (int r = 0; r < x->v->n_rank && c->common < 0; r++)
    words = tf_l(w, M, words, overlap(w, by[r], x->len[r], x->len[r]));
  return tf_l_sel(w, stays, words, none);
}

/* ---- moves ---------------------------------------------------------------------------------- */

typedef struct {
  int words, fresh;
} entered;

/* As in count.c; the first instance's in reals, which are exact. */
static tf_lane_move first_move(tf_lanes *w, const piece *x, entered e) {
  const tf_memory *mem = &w->p->arch->memories[x->s->level];
  const int words = tf_l_to(w, e.words), asks = tf_l_to(w, x->asks), served = tf_l_to(w, x->served);
  if (!x->s->makes)
    return (tf_lane_move){words, w->zero, tf_l(w, TF_T_FMUL, mem->multicast ? asks : served, words),
                          w->zero};
  const int again = tf_l_to(w, tf_l(w, S, e.words, e.fresh));
  return (tf_lane_move){again, words, tf_l(w, TF_T_FMUL, asks, again),
                        tf_l(w, TF_T_FMUL, mem->reduce ? asks : served, words)};
}

static tf_lane_move all_moves(tf_lanes *w, const piece *x, entered e) {
  const tf_memory *mem = &w->p->arch->memories[x->s->level];
  const int none = tf_l_int(w, 0), all = tf_l(w, M, x->instances, e.words);
  if (!x->s->makes)
    return (tf_lane_move){all, none, mem->multicast ? tf_l(w, M, x->groups, e.words) : all, none};
  const int again = tf_l(w, M, x->groups, tf_l(w, S, e.words, e.fresh));
  return (tf_lane_move){again, all, again, mem->reduce ? tf_l(w, M, x->groups, e.words) : all};
}

static void add_product(tf_lanes *w, int *to, int a, int b) {
  *to = tf_l(w, TF_T_FADD, *to, tf_l(w, TF_T_FMUL, a, b));
}

/* The words of slice i in one row of its Tile. */
static tf_lane_ports *cell_of(tf_lanes *w, int i, int row) {
  const tf_view *view = &w->m->views->node[w->p->slices[i].node];
  return &w->cells[view->cell + row * view->n_legs];
}

/* share: of the words; -1: all */
static void add_words(tf_lanes *w, int i, int row, const tf_lane_move *v, int share) {
  tf_lane_ports *cell = cell_of(w, i, row), *leg = &cell[w->m->views->leg[i]];
  int own = tf_l_real(w, w->m->views->own[i]), up = tf_l_real(w, w->m->views->up[i]);
  if (share >= 0) own = tf_l(w, TF_T_FMUL, share, own), up = tf_l(w, TF_T_FMUL, share, up);
  add_product(w, &cell->write, own, v->fill);
  add_product(w, &cell->read, own, v->drain);
  add_product(w, &leg->read, up, v->read);
  add_product(w, &leg->write, up, v->update);
}

static void put_outer(tf_lanes *w, int i, int from, const tf_lane_move *v) {
  const tf_view *view = &w->m->views->node[w->p->slices[i].node];
  const int *steps = &w->class_steps[view->row];
  int all = w->zero;
  for (int j = from; j < view->n_rows; j++)
    all = tf_l(w, TF_T_FADD, all, steps[j]);
  for (int j = from; j < view->n_rows; j++)
    add_words(w, i, j, v, tf_l(w, TF_T_FDIV, steps[j], all));
}

void tf_lanes_put(tf_lanes *w, int i, int c, const tf_lane_move *v) {
  const tf_reuse_case *class = &w->p->slices[i].classes[c];
  if (!w->m->by_steps) return;
  if (tf_after_sibling(class))
    put_outer(w, i, c, v);
  else
    add_words(w, i, class->stepping < 0 ? w->m->views->node[w->p->slices[i].node].n_rows - 1 : c, v,
              -1);
}

static void count_class(tf_lanes *w, int i, int c, const piece *x, entered e) {
  const tf_lane_move v = first_move(w, x, e);
  tf_lanes_put(w, i, c, &v);
}

static void count_tile(tf_lanes *w, int i) {
  const tf_slice *s = &w->p->slices[i];
  piece x = piece_of(w, s, &w->m->even->slices[i]);
  int by[TF_MAX_RANK], none = tf_l_int(w, 0),
                       again = s->makes ? turns(w, x.v->again, x.v->n_again) : tf_l_int(w, 1);
  entered sum = {none, none};
  int c = 0;
  for (int r = 0; r < x.v->n_rank; r++)
    by[r] = none;
  for (; c < s->n_class && s->classes[c].stepping >= 0; c++) {
    const tf_even_loop *l = &x.v->temporal[c];
    /* a loop that moves nothing only repeats: it is one of `again`, whose product is 1 only if it
     * has one step */
    bool repeats = s->makes && !l->n && s->inside >> l->pos & 1;
    if (repeats) again = tf_l(w, TF_T_DIV, again, l->loop);
    advance(w, l, tf_l_int(w, -1), by);
    int words = tf_l(w, S, x.box, found(w, &s->classes[c], &x, by));
    words = tf_l(w, M, tf_l(w, M, words, last_step(w, l->loop)), w->outer[l->loop]);
    advance(w, l, l->loop, by);
    entered e = {words, repeats ? none : tf_l(w, TF_T_DIV, words, again)};
    count_class(w, i, c, &x, e);
    sum = (entered){tf_l(w, A, sum.words, e.words), tf_l(w, A, sum.fresh, e.fresh)};
  }
  int times = s->classes[c].zero_from == 0 ? tf_l_int(w, 1) : w->steps[s->classes[c].top];
  int words = tf_l(w, M, tf_l(w, S, x.box, found(w, &s->classes[c], &x, by)), times);
  entered e = {words, tf_l(w, TF_T_DIV, words, again)};
  count_class(w, i, c, &x, e);
  sum = (entered){tf_l(w, A, sum.words, e.words), tf_l(w, A, sum.fresh, e.fresh)};
  w->flows[i] = first_move(w, &x, sum);
  w->moves[i] = all_moves(w, &x, sum);
  w->box[i] = x.box;
  for (int r = 0; r < x.v->n_rank; r++)
    w->rank_len[w->m->views->rank_at[i] + r] = x.len[r];
}

static void count_leaf(tf_lanes *w, int i, const tf_unit *unit) {
  const tf_slice *s = &w->p->slices[i];
  piece x = piece_of(w, s, &w->m->even->slices[i]);
  const bool joins = s->makes ? unit->reduce : unit->multicast;
  const int none = tf_l_int(w, 0), steps = w->steps[s->node],
            words = tf_l(w, M, steps, joins ? x.groups : x.instances);
  const int one = tf_l(w, TF_T_FMUL, tf_l_to(w, steps), tf_l_to(w, joins ? x.asks : x.served));
  w->moves[i] = (tf_lane_move){none, none, words, none};
  w->flows[i] = (tf_lane_move){w->zero, w->zero, one, w->zero};
  if (!s->makes) return;
  const int runs = tf_l(w, TF_T_DIV, steps, turns(w, x.v->again, x.v->n_again));
  const int fresh = tf_l(w, TF_T_FMUL, tf_l_to(w, runs), tf_l_to(w, x.asks));
  w->moves[i] = (tf_lane_move){none, none, tf_l(w, S, words, tf_l(w, M, runs, x.groups)), words};
  w->flows[i] = (tf_lane_move){w->zero, w->zero, tf_l(w, TF_T_FSUB, one, fresh), one};
}

int tf_lanes_cut(tf_lanes *w, int len, int trip) {
  const int step = step_of(w, trip);
  int one = tf_l_int(w, 1), all = tf_l(w, M, trip, step);
  int before = tf_l(w, M, tf_l(w, M, tf_l(w, TF_T_DIV, tf_l(w, S, len, one), all), trip), step);
  int part = tf_l(w, A, before, tf_l(w, TF_T_MIN, step, tf_l(w, S, len, before)));
  return tf_l_sel(w, tf_l(w, TF_T_GT, trip, one), part, len);
}

void tf_lanes_home(tf_lanes *w, int z) {
  const tf_even_home *h = &w->m->even->home[w->m->even->home_at[z]];
  int words = tf_l_int(w, 1), all = tf_l_real(w, 1);
  for (int r = 0; r < w->p->wl->tensors[z].rank; r++) {
    int len = w->len[h[r].range];
    for (int i = 0; i < h[r].n; i++)
      len = tf_lanes_cut(w, len, h[r].cut[i]);
    for (int i = 0; i < h[r].n_more; i++) {
      int more = tf_l(w, M, last_step(w, h[r].more[i]), step_of(w, h[r].more[i]));
      len = tf_l(w, A, len, tf_l(w, M, more, tf_l_int(w, h[r].distance[i])));
    }
    words = tf_l(w, M, words, len);
    all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, len));
  }
  tf_l_small(w, all);
  w->home_words[z] = words;
}

static void values(tf_lanes *w) {
  const tf_even *e = w->m->even;
  w->value[0] = tf_l_int(w, 1);
  for (int i = 1; i < e->n_products; i++)
    w->value[i] = tf_l(w, M, w->value[e->products[i].next], e->products[i].loop);
  loops_allow(w);
  paths_small(w);
}

static void count(tf_lanes *w) {
  const tf_plan *p = w->p;
  ranges(w);
  moments(w);
  if (w->m->by_steps) class_steps(w);
  for (int i = 0; i < p->n_tile_slices; i++)
    count_tile(w, i);
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int i = 0; i <= p->wl->ops[o].n_reads; i++)
      count_leaf(w, p->op_slice[o] + i, &p->arch->units[p->unit[o]]);
  for (int o = 0; o < p->wl->n_ops; o++)
    w->points[o] = tf_l(w, M, w->steps[p->tree->op_node[o]], w->width[p->tree->op_node[o]]);
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0)
      tf_lanes_home(w, z);
    else if (p->home_level[z] > 0)
      w->home_words[z] = tf_lanes_at_home(w, z);
    else
      w->home_words[z] = tf_l_int(w, tf_tensor_words(&p->wl->tensors[z]));
}

/* ---- room for inputs and outputs that live in an inner memory -----------------------------------
 * home.c, value for value.  Where chains divide evenly, a loop's steps shift what is met alike, and
 * all instances meet as much. */

/* Compares two lists of loops, ignoring those with one step. */
int tf_lanes_paired(tf_lanes *w, const tf_lane_loops *a, const tf_lane_loops *b,
                    tf_lane_alike *same, const void *of) {
  int row[TF_MAX_PATH + 1] = {0}, one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  for (int i = a->n; i >= 0; i--) {
    bool end = i == a->n;
    int turns_i = end ? none : tf_l(w, TF_T_GT, a->loop[i], one), corner = none;
    for (int j = b->n; j >= 0; j--) {
      bool end_j = j == b->n;
      int turns_j = end_j ? none : tf_l(w, TF_T_GT, b->loop[j], one);
      int below = end ? none : row[j], beside = end_j ? none : row[j + 1], both = none;
      if (!end && !end_j) both = tf_l(w, TF_T_AND, same(w, of, i, j), corner);
      int rest = end_j ? none : tf_l_sel(w, turns_j, end ? none : both, beside);
      corner = below;
      row[j] = end && end_j ? one : end ? rest : tf_l_sel(w, turns_i, rest, below);
    }
  }
  return row[0];
}

enum { MOST_CORNERS = 8 }; /* as in home.c: spatial loops of which all corners are examined */

typedef tf_lane_met met;

static met met_new(tf_lanes *w, int lo, int len) {
  met v = {lo, len, TF_ARRAY(w->arena, int, (size_t)w->p->n_loops + 1)};
  w->failed |= !v.shift;
  for (int l = 0; l < w->p->n_loops && v.shift; l++)
    v.shift[l] = tf_l_int(w, 0);
  return v;
}

static met met_of(tf_lanes *w, int o, int d, int n);

/* An index of op o on entry to node n. */
static met index_of(tf_lanes *w, int o, const tf_index *ix, int n) {
  const int one = tf_l_int(w, 1);
  met v = met_new(w, tf_l_int(w, ix->c), one);
  for (int i = 0; i < ix->n_terms && !w->failed; i++) {
    const int64_t coef = ix->terms[i].coef;
    const met d = met_of(w, o, ix->terms[i].dim, n);
    if (w->failed) break;
    const int k = tf_l_int(w, coef),
              reach = tf_l(w, M, tf_l_int(w, coef < 0 ? -coef : coef), tf_l(w, S, d.len, one));
    v.lo = tf_l(w, A, v.lo, tf_l(w, M, k, d.lo));
    if (coef < 0) v.lo = tf_l(w, S, v.lo, reach);
    v.len = tf_l(w, A, v.len, reach);
    for (int l = 0; l < w->p->n_loops; l++)
      v.shift[l] = tf_l(w, A, v.shift[l], tf_l(w, M, k, d.shift[l]));
  }
  return v;
}

/* Joins b to a, which has `n` parts so far.  Parts that a loop moves differently are left to the
 * count row by row. */
static met join(tf_lanes *w, met a, met b, int n) {
  if (!n || w->failed) return b;
  const int end = tf_l(w, TF_T_MAX, tf_l(w, A, a.lo, a.len), tf_l(w, A, b.lo, b.len));
  for (int l = 0; l < w->p->n_loops; l++)
    tf_l_must(w, tf_l(w, TF_T_OR, tf_l(w, TF_T_EQ, a.shift[l], b.shift[l]),
                      tf_l(w, TF_T_EQ, l, tf_l_int(w, 1))));
  a.lo = tf_l(w, TF_T_MIN, a.lo, b.lo);
  a.len = tf_l(w, S, end, a.lo);
  return a;
}

/* The range of op o, which leads at n.  If the incoming range moves from run to run, any instance
 * may get any part. */
static met led(tf_lanes *w, int o, int d, int n) {
  const tf_plan *p = w->p;
  const tf_path *path = &p->path[n], *enters = &p->path[p->lead[o]];
  const int up = p->tree->nodes[p->lead[o]].parent, one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  int wanders = none;
  for (uint64_t at = p->base[o * p->wl->n_dims + d] & enters->temporal; at; at &= at - 1)
    wanders = tf_l(w, TF_T_OR, wanders, tf_l(w, TF_T_GT, enters->loops[__builtin_ctzll(at)], one));
  met v = met_new(w, none, tf_l_int(w, p->wl->dims[d].extent));
  const met base = up < 0 || w->failed ? v : met_of(w, o, d, up);
  if (w->failed) return v;
  v.lo = base.lo;
  v.len = base.len;
  for (int l = 0; l < p->n_loops; l++)
    v.shift[l] = base.shift[l];
  for (int k = enters->n; k < path->n; k++) {
    const int l = path->loops[k];
    if (p->loops[l].dim != d || p->loops[l].axis == TF_TEMPORAL) continue;
    v.shift[l] = tf_l_sel(w, wanders, none, w->value[w->m->even->step[l]]);
    v.len = tf_l(w, S, v.len, tf_l(w, M, tf_l(w, S, l, one), v.shift[l]));
  }
  return v;
}

/* What the readers of op o below node n read of its output rank r. */
static met demanded(tf_lanes *w, int o, int r, int n) {
  met v = {0};
  int parts = 0;
  TF_EACH_READ (w->p->facts, o, n, at)
    v = join(w, v, index_of(w, at.op, &w->p->wl->ops[at.op].reads[at.ref].index[r], n), parts++);
  return parts ? v : met_new(w, tf_l_int(w, 0), tf_l_int(w, 0));
}

static met met_found(tf_lanes *w, int o, int d, int n) {
  const tf_range_from from = tf_range_source(w->p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led(w, o, d, n);
  case TF_BY_READERS: return demanded(w, o, from.source, n);
  case TF_BY_LEADER: return met_of(w, from.source, d, n);
  case TF_BY_EXTENT: break;
  }
  return met_new(w, tf_l_int(w, 0), tf_l_int(w, w->p->wl->dims[d].extent));
}

/* The range of dim d of op o on entry to node n. */
static met met_of(tf_lanes *w, int o, int d, int n) {
  met *at = &w->met[(o * w->p->wl->n_dims + d) * w->p->tree->n_nodes + n];
  if (!at->shift) *at = met_found(w, o, d, n);
  return *at;
}

static met slice_of(tf_lanes *w, const tf_slice *s, int r) {
  met v = {0};
  for (int i = 0; i < s->n_touch && !w->failed; i++) {
    const tf_touch t = s->touch[i];
    const tf_op *op = &w->p->wl->ops[t.op];
    v = join(w, v,
             t.ref < 0 ? met_of(w, t.op, op->dims[r], s->node)
                       : index_of(w, t.op, &op->reads[t.ref].index[r], s->node),
             i);
  }
  return v;
}

/* ---- capacity ------------------------------------------------------------------------------- */

/* The range touched at an m-tile along one rank, and the spatial loops above it. */
typedef struct {
  met met;
  tf_lane_loops loops;
} touched_range;

static tf_lane_loops spatial_above(const tf_plan *p, int n) {
  tf_lane_loops all = {0};
  for (int i = 0; i < p->path[n].n; i++)
    if (!(p->path[n].temporal >> i & 1)) all.loop[all.n++] = p->path[n].loops[i];
  return all;
}

static int same_step(tf_lanes *w, const void *of, int i, int j) {
  const touched_range *both = of;
  const int k = both[0].loops.loop[i], l = both[1].loops.loop[j];
  const tf_ploop *x = &w->p->loops[k], *y = &w->p->loops[l];
  if (x->axis != y->axis || w->p->tree->nodes[x->node].level != w->p->tree->nodes[y->node].level)
    return tf_l_int(w, 0);
  return tf_l(w, TF_T_AND, tf_l(w, TF_T_EQ, k, l),
              tf_l(w, TF_T_EQ, both[0].met.shift[k], both[1].met.shift[l]));
}

/* Whether all instances touch the same range. */
static int same_for_all(tf_lanes *w, const touched_range *a) {
  int still = tf_l_int(w, 1);
  for (int i = 0; i < a->loops.n; i++) {
    const int l = a->loops.loop[i], one = tf_l(w, TF_T_EQ, l, tf_l_int(w, 1));
    still = tf_l(w, TF_T_AND, still,
                 tf_l(w, TF_T_OR, one, tf_l(w, TF_T_EQ, a->met.shift[l], tf_l_int(w, 0))));
  }
  return still;
}

/* Whether each instance touches the same range at both of two m-tiles. */
static int same_at_both(tf_lanes *w, const touched_range *both) {
  const int first = tf_l(w, TF_T_AND, tf_l(w, TF_T_EQ, both[0].met.lo, both[1].met.lo),
                         tf_l(w, TF_T_EQ, both[0].met.len, both[1].met.len));
  const int each = tf_lanes_paired(w, &both[0].loops, &both[1].loops, same_step, both);
  const int still = tf_l(w, TF_T_AND, same_for_all(w, &both[0]), same_for_all(w, &both[1]));
  return tf_l(w, TF_T_AND, first, tf_l(w, TF_T_OR, each, still));
}

/* Requires that at most as many loops as home.c examines have steps. */
static void few_corners(tf_lanes *w, const tf_lane_loops *loops) {
  int n = tf_l_int(w, 0);
  for (int i = 0; i < loops->n; i++)
    n = tf_l(w, A, n, tf_l(w, TF_T_GT, loops->loop[i], tf_l_int(w, 1)));
  if (loops->n > MOST_CORNERS) tf_l_must(w, tf_l(w, TF_T_GT, tf_l_int(w, MOST_CORNERS + 1), n));
}

/* The hull of what all m-tiles touch: the same for all trip counts. */
static int64_t hull_of_all(tf_lanes *w, int z, int r) {
  const tf_plan *p = w->p;
  tf_eval ev = w->m->ev;
  tf_ival all = {0, 0};
  int64_t *digit = TF_ARRAY(w->arena, int64_t, (size_t)p->n_loops + 1);
  w->failed |= !digit;
  ev.over = TF_UNION_ALL;
  ev.noclip = true;
  ev.exact = ev.whole = ev.demand = false;
  ev.made = NULL;
  for (int i = 0; i < p->n_at_home && digit; i++)
    if (p->at_home[i].tensor == z) all = tf_hull(all, tf_slice_rank(&ev, &p->at_home[i], r, digit));
  return all.len;
}

/* The length along rank r that each instance reserves. */
static int side_of(tf_lanes *w, int z, int r) {
  const tf_plan *p = w->p;
  touched_range both[2]; /* the first m-tile, and the current one */
  int most = tf_l_int(w, 0), all_alike = tf_l_int(w, 1), n = 0;
  for (int i = 0; i < p->n_at_home && !w->failed; i++) {
    const tf_slice *s = &p->at_home[i];
    if (s->tensor != z) continue;
    both[n > 0] = (touched_range){slice_of(w, s, r), spatial_above(p, s->node)};
    w->failed |= !both[n > 0].met.shift;
    if (w->failed) break;
    few_corners(w, &both[n > 0].loops);
    most = tf_l(w, TF_T_MAX, most, both[n > 0].met.len);
    if (n++) all_alike = tf_l(w, TF_T_AND, all_alike, same_at_both(w, both));
  }
  return tf_l_sel(w, all_alike, most, tf_l_int(w, hull_of_all(w, z, r)));
}

int tf_lanes_at_home(tf_lanes *w, int z) {
  const tf_tensor *t = &w->p->wl->tensors[z];
  int words = tf_l_int(w, 1), all = tf_l_real(w, 1);
  for (int r = 0; r < t->rank && !w->failed; r++) {
    const int side = tf_l(w, TF_T_MIN, side_of(w, z, r), tf_l_int(w, t->extent[r]));
    words = tf_l(w, M, words, side);
    all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, side));
  }
  tf_l_small(w, all);
  return words;
}

/* ---- conditions and results ------------------------------------------------------------------ */

/* Whether the tree is of a kind that can be counted in lanes. */
static bool applies(const struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (!m->even || m->lines || p->n_retains || m->views->networks || p->n_slices > 64) return false;
  if (m->zeros && m->zeros->any_turns) return false;
  if (p->pulls || (m->views->splits && p->n_at_home)) return false;
  for (int i = 0; i < m->even->n_ranges; i++)
    if (m->even->ranges[i].what == TF_HULL && m->even->ranges[i].from != m->even->ranges[i].to)
      return false;
  for (int o = 0; o < p->wl->n_ops; o++)
    if (p->stream_scope[o] >= 0 || p->stream[o].node >= 0) return false;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->wl->tensors[z].word_bits > 64 ||
        (double)tf_tensor_words(&p->wl->tensors[z]) >= TF_LANE_MOST)
      return false;
  return true;
}

static bool room(tf_lanes *w, tf_arena *a) {
  const struct tf_model *m = w->m;
  size_t loops = (size_t)w->p->n_loops + 1, nodes = (size_t)w->p->tree->n_nodes;
  w->value = TF_ARRAY(a, int, (size_t)m->even->n_products);
  w->lo = TF_ARRAY(a, int, (size_t)m->even->n_ranges + 1);
  w->len = TF_ARRAY(a, int, (size_t)m->even->n_ranges + 1);
  w->outer = TF_ARRAY(a, int, loops);
  w->steps = TF_ARRAY(a, int, nodes);
  w->cycles = TF_ARRAY(a, int, nodes);
  w->points = TF_ARRAY(a, int, (size_t)w->p->wl->n_ops);
  w->width = TF_ARRAY(a, int, nodes);
  w->class_steps = TF_ARRAY(a, int, (size_t)m->views->n_rows + 1);
  w->box = TF_ARRAY(a, int, (size_t)w->p->n_tile_slices + 1);
  w->rank_len = TF_ARRAY(a, int, (size_t)m->views->n_ranks + 1);
  w->home_words = TF_ARRAY(a, int, (size_t)w->p->wl->n_tensors);
  w->need = TF_ARRAY(a, int, (size_t)w->p->arch->n_memories);
  w->in_use = TF_ARRAY(a, int, (size_t)m->views->n_passes + 1);
  w->moves = TF_ARRAY(a, tf_lane_move, (size_t)w->p->n_slices + 1);
  w->flows = TF_ARRAY(a, tf_lane_move, (size_t)w->p->n_slices + 1);
  w->cells = TF_ARRAY(a, tf_lane_ports, (size_t)m->views->n_cells + 1);
  w->below = TF_ARRAY(a, tf_lane_ports, (size_t)m->views->n_passes + 1);
  w->concurrent = TF_ARRAY(a, tf_lane_ports, (size_t)m->views->n_passes + 1);
  w->hidden = TF_ARRAY(a, tf_lane_ports, (size_t)m->views->n_legs + 1);
  w->overlaps = TF_ARRAY(a, tf_lane_overlapping, nodes);
  w->met = TF_ARRAY(a, tf_lane_met,
                    w->p->n_at_home ? (size_t)(w->p->wl->n_ops * w->p->wl->n_dims) * nodes : 1);
  return w->value && w->lo && w->len && w->outer && w->steps && w->cycles && w->points &&
         w->width && w->class_steps && w->box && w->rank_len && w->home_words && w->need &&
         w->in_use && w->moves && w->flows && w->cells && w->below && w->concurrent && w->hidden &&
         w->overlaps && w->met;
}

static tf_tape *write_out(tf_lanes *w, void (*uneven)(tf_lanes *w)) {
  int out[TF_LANE_OUT];
  w->zero = tf_l_real(w, 0);
  w->counts = w->fits = tf_l_int(w, 1);
  for (int i = 0; i < w->m->views->n_cells; i++)
    w->cells[i] = (tf_lane_ports){w->zero, w->zero};
  values(w);
  if (uneven)
    uneven(w);
  else
    count(w);
  if (w->failed) return NULL;
  tf_lanes_fits(w);
  out[TF_LANE_CYCLES] = tf_lanes_cycles(w);
  out[TF_LANE_ENERGY] = tf_lanes_energy(w, out[TF_LANE_CYCLES]);
  out[TF_LANE_TRAFFIC] = tf_lanes_traffic(w);
  out[TF_LANE_HELD] = tf_lanes_held(w);
  out[TF_LANE_NODES] = tf_lanes_nodes(w, out[TF_LANE_CYCLES]);
  out[TF_LANE_COUNTS] = w->counts; /* last, as each of the others may exclude a row */
  out[TF_LANE_FITS] = w->fits;
  return w->failed ? NULL : tf_tape_new(w->m->arena, w->s, out, TF_LANE_OUT);
}

tf_tape *tf_lanes_new(const struct tf_model *m, void (*uneven)(tf_lanes *w)) {
  if (!applies(m)) return NULL;
  tf_lanes w = {
      .m = m, .p = m->plan, .s = tf_scribe_new(m->plan->n_loops), .arena = tf_arena_new()};
  tf_arena *a = w.arena;
  tf_tape *t = w.s && a && room(&w, a) ? write_out(&w, uneven) : NULL;
  tf_arena_free(a);
  tf_scribe_free(w.s);
  return t;
}
