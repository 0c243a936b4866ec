/* The count with remainders as a branch-free program: uneven.c and uneven_plan.c, value for value.
 * Only for chains each of which splits what the previous one leaves (or a single chain); for other
 * trees there is no such program, and rows in which siblings keep needed content do not count. */
#include "model/cost/quick/lanes.h"
#include "model/cost/quick/uneven_plan.h"

enum { MOST_BRING = 6 }; /* loops that put slices into one home */

static const tf_tape_op A = TF_T_ADD, S = TF_T_SUB, M = TF_T_MUL;

/* The argument of a sum: chains of one path, from the outside.  Positions in `zero` are at their
 * first setting, the loop at `stepping` is not; `back`: loops that went back to their first when it
 * stepped. */
typedef struct {
  tf_lanes *w;
  const tf_path *path;
  const tf_path_chain *chain[TF_PLAIN_CHAINS + 1];
  int n;
  bool ranked; /* boxes are summed, of one rank; else settings are counted */
  uint64_t zero, back;
  int stepping;
} sums;

/* Settings of a chain: the number with a full tile, and `ends` (0 or 1) with the last one. */
typedef struct {
  int below, ends, full, last;
} kinds;

/* Cached settings of a chain that splits a value `len`. */
struct tf_lane_kinds {
  int end; /* 1 + the innermost of its loops, which tells the others; 0: free */
  int len, stepping;
  uint64_t zero;
  kinds k;
};

static int trip_at(const sums *x, int pos) { return x->path->loops[pos]; }
static int step_at(const sums *x, int pos) {
  return x->w->value[x->w->m->even->step[x->path->loops[pos]]];
}

/* Settings whose tile begins before `len`, in the mixed radix of the loops (see uneven_sum.c). */
static kinds write_kinds(const sums *s, const tf_path_chain *of, const tf_lane_kinds *x) {
  tf_lanes *w = s->w;
  const int one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  kinds k = {none, one, x->len, x->len};
  int rest = tf_l(w, S, x->len, one);
  for (int i = 0; i < of->n; i++) {
    const int pos = of->pos[i], trip = trip_at(s, pos), step = step_at(s, pos);
    const int n = x->zero >> pos & 1 ? one : trip, bound = tf_l(w, TF_T_DIV, rest, step);
    int under = tf_l(w, TF_T_MIN, bound, n), most = n;
    k.full = step;
    if (pos == x->stepping) {
      under = tf_l(w, TF_T_MAX, tf_l(w, S, under, one), none);
      most = tf_l(w, S, n, one);
    }
    k.below = tf_l(w, A, tf_l(w, M, k.below, most), tf_l(w, M, k.ends, under));
    k.ends = tf_l(w, TF_T_AND, k.ends, tf_l(w, TF_T_GT, n, bound));
    if (pos == x->stepping) k.ends = tf_l(w, TF_T_AND, k.ends, tf_l(w, TF_T_GT, bound, none));
    rest = tf_l(w, S, rest, tf_l(w, M, bound, step));
  }
  k.last = tf_l(w, A, rest, one);
  return k;
}

static kinds kinds_of(const sums *x, const tf_path_chain *of, int len) {
  tf_lane_kinds k = {1 + trip_at(x, of->pos[of->n - 1]), len, -1, 0, {0, 0, 0, 0}};
  for (int i = 0; i < of->n; i++) {
    k.zero |= x->zero & UINT64_C(1) << of->pos[i];
    if (of->pos[i] == x->stepping) k.stepping = x->stepping;
  }
  uint64_t h = (uint64_t)k.end * 4093 + (uint64_t)len;
  h = ((h ^ k.zero) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)k.stepping) *
          UINT64_C(0x9e3779b97f4a7c15) >>
      32;
  tf_lane_kinds *at = &x->w->kinds[h % TF_LANE_KINDS]; /* a later one replaces an earlier one */
  if (at->end != k.end || at->len != len || at->stepping != k.stepping || at->zero != k.zero) {
    k.k = write_kinds(x, of, &k);
    *at = k;
  }
  return at->k;
}

static int total_words(tf_lanes *w, int below, int full, int ends, int last) {
  return tf_l(w, A, tf_l(w, M, below, full), tf_l(w, M, ends, last));
}

/* The sum over chain i and those inside it, if chain i splits this length. */
static int sum_from(const sums *x, int i, int len) {
  if (i >= x->n || i >= TF_PLAIN_CHAINS) return x->ranked ? len : tf_l_int(x->w, 1);
  const kinds k = kinds_of(x, x->chain[i], len);
  return total_words(x->w, k.below, sum_from(x, i + 1, k.full), k.ends, sum_from(x, i + 1, k.last));
}

/* The shift by the innermost loop of a chain that went back; 0: none has more than one step. */
static int back_step(const sums *x, const tf_path_chain *of) {
  int step = tf_l_int(x->w, 0);
  for (int i = 0; i < of->n; i++)
    if (x->back >> of->pos[i] & 1)
      step = tf_l_sel(x->w, tf_l(x->w, TF_T_GT, trip_at(x, of->pos[i]), tf_l_int(x->w, 1)),
                      step_at(x, of->pos[i]), step);
  return step;
}

/* Over the innermost chain: settings that exist with the length s, not with r, and of which no
 * other one exists once the loops that went back continue. */
static int only_from(const sums *x, int s, int r) {
  tf_lanes *w = x->w;
  const tf_path_chain *of = x->chain[x->n - 1];
  const int step = back_step(x, of), none = tf_l_int(w, 0);
  const int from =
      tf_l_sel(w, tf_l(w, TF_T_GT, step, none), tf_l(w, TF_T_MAX, r, tf_l(w, S, s, step)), r);
  const kinds all = kinds_of(x, of, s), out = kinds_of(x, of, from);
  const int left = tf_l(w, S, tf_l(w, A, all.below, all.ends), tf_l(w, A, out.below, out.ends));
  const int sum = total_words(w, tf_l(w, S, left, all.ends), all.full, all.ends, all.last);
  return tf_l_sel(w, tf_l(w, TF_T_GT, left, none), sum, none);
}

/* The part of sum_from that was there at the previous entry: the same tile, if the instance was
 * idle since the loops that went back began.  An instance that was not has another, disjoint
 * tile. */
static int stay_from(const sums *x, int i, int len) {
  tf_lanes *w = x->w;
  if (i >= x->n || i >= TF_PLAIN_CHAINS) return x->ranked ? len : tf_l_int(w, 1);
  const int step = back_step(x, x->chain[i]), none = tf_l_int(w, 0), one = tf_l_int(w, 1);
  const int inner = tf_l(w, S, len, step);
  const int goes_on =
      tf_l(w, TF_T_AND, tf_l(w, TF_T_GT, step, none), tf_l(w, TF_T_GT, inner, none));
  const kinds k = kinds_of(x, x->chain[i], len),
              next = kinds_of(x, x->chain[i], tf_l(w, TF_T_MAX, inner, one));
  const int below = tf_l_sel(w, goes_on, next.below, none),
            ends = tf_l_sel(w, goes_on, next.ends, none);
  const int alone = tf_l(w, S, k.below, tf_l(w, A, below, ends));
  int sum = total_words(w, alone, stay_from(x, i + 1, k.full), k.ends, stay_from(x, i + 1, k.last));
  if (i + 2 == x->n) sum = tf_l(w, A, sum, tf_l(w, M, ends, only_from(x, k.full, next.last)));
  if (i + 2 < x->n) tf_l_must(w, tf_l(w, TF_T_EQ, ends, none));
  return sum;
}

/* ---- groups of chains ------------------------------------------------------------------------ */

/* The range of which this range is an alias: its only read is all of that range. */
static int named(const tf_even *e, int range) {
  const tf_even_range *r = &e->ranges[range];
  int other = -1;
  if (r->what != TF_HULL || r->from != r->to) return range;
  for (int i = r->first; i < r->first + r->n; i++) {
    const tf_even_read *k = &e->reads[i];
    if (k->c || k->n != 1 || e->terms[k->first].coef != 1) return range;
    const int own = named(e, e->terms[k->first].range);
    if (other >= 0 && own != other) return range;
    other = own;
  }
  return other;
}

/* Lists the chains of a group from the outermost on; false: some chain does not split exactly what
 * the previous one leaves. */
static bool list_chains(sums *x, const tf_uneven_node *n, const tf_chain_group *g, int range) {
  const tf_even *e = x->w->m->even;
  uint32_t outer = 0;
  int last = -1;
  if (__builtin_popcount(g->now) > TF_PLAIN_CHAINS || g->n_rank > 1) return false;
  for (x->n = 0; outer != g->now; x->n++) {
    int c = -1;
    for (uint32_t left = g->now & ~outer; left && c < 0; left &= left - 1)
      if (n->chain[__builtin_ctz(left)].needs == outer) c = __builtin_ctz(left);
    if (c < 0) return false;
    const tf_even_range *base = &e->ranges[named(e, e->chains[n->chain[c].chain].base)];
    if (last < 0 ? base->what != TF_WHOLE : base->what != TF_PART || base->chain != last)
      return false;
    last = n->chain[c].chain;
    x->chain[x->n] = &n->chain[c];
    outer |= UINT32_C(1) << c;
  }
  const tf_even_range *r = g->n_rank ? &e->ranges[named(e, range)] : NULL;
  return !r || (r->what == TF_PART && r->chain == last);
}

/* The argument of a sum, as in tf_uneven_sum. */
typedef struct {
  int node;
  const tf_chain_groups *groups;
  const tf_even_slice *v; /* NULL: settings are counted */
  uint64_t zero;
  int stepping;
  bool finds; /* the slice itself may have left content */
} wanted;

typedef struct {
  int box, kept;
} total;

/* A sum that is compiled already. */
struct tf_lane_sum {
  int node, range, stepping, box, kept; /* kept -1: not needed */
  uint32_t now;
  uint64_t zero, back;
};

/* The cached sum of a group with the key `k`; NULL: there is no room. */
static tf_lane_sum *known_sum(tf_lanes *w, tf_lane_sum k) {
  uint64_t h = k.zero ^ k.back << 13 ^ (uint64_t)k.now << 32;
  h = (h ^ (uint64_t)(k.node * 64 + k.range)) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ (uint64_t)k.stepping) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  for (int i = 0; i < TF_LANE_SUMS; i++, h++) {
    tf_lane_sum *at = &w->sums[h % TF_LANE_SUMS];
    if (at->node == k.node && at->range == k.range && at->stepping == k.stepping &&
        at->now == k.now && at->zero == k.zero && at->back == k.back)
      return at;
    if (at->node) continue;
    *at = k;
    return at;
  }
  return NULL;
}

/* Over chains; only those of a group with a rank may find less than all. */
static total sum_chains(tf_lanes *w, const wanted *k, const tf_chain_group *g) {
  const int range = g->n_rank ? k->v->range[g->rank[0]] : -1;
  const bool carries = k->stepping >= 0 && g->positions >> k->stepping & 1;
  sums x = {.w = w,
            .path = &w->p->path[k->node],
            .ranked = g->n_rank,
            .stepping = carries ? k->stepping : -1};
  x.zero = k->zero & g->positions;
  if (k->stepping >= 0) x.back = g->positions & x.path->temporal & ~UINT64_C(0) << k->stepping << 1;
  tf_lane_sum *known =
      known_sum(w, (tf_lane_sum){k->node + 1, range, x.stepping, -1, -1, g->now, x.zero, x.back});
  const bool stays = k->finds && g->n_rank && !carries && x.back;
  if (!known || known->box < 0 || (stays && known->kept < 0)) {
    if (!known || !list_chains(&x, &w->m->uneven->node[k->node], g, range)) {
      w->failed = true;
      return (total){0, 0};
    }
    const int len = w->len[w->m->even->chains[x.chain[0]->chain].base];
    known->box = sum_from(&x, 0, len);
    if (stays) known->kept = stay_from(&x, 0, len);
  }
  if (!k->finds || !g->n_rank) return (total){known->box, known->box};
  return (total){known->box, carries ? tf_l_int(w, 0) : stays ? known->kept : known->box};
}

static total sum_group(tf_lanes *w, const wanted *k, const tf_chain_group *g) {
  if (g->now) return sum_chains(w, k, g);
  int box = tf_l_int(w, 1);
  for (int r = 0; r < g->n_rank; r++)
    box = tf_l(w, M, box, w->len[k->v->range[g->rank[r]]]);
  return (total){box, box};
}

static total sum_up(tf_lanes *w, const wanted *k) {
  total all = {tf_l_int(w, 1), tf_l_int(w, k->finds)};
  for (int g = 0; g < k->groups->n && !w->failed; g++) {
    const total t = sum_group(w, k, &k->groups->group[g]);
    all.box = tf_l(w, M, all.box, t.box);
    if (k->finds) all.kept = tf_l(w, M, all.kept, t.kept);
  }
  return all;
}

/* ---- slices --------------------------------------------------------------------------------- */

typedef struct {
  const tf_slice *s;
  const tf_even_slice *v;
  const tf_uneven_slice *u;
} piece;

static piece piece_of(const tf_lanes *w, int i) {
  return (piece){&w->p->slices[i], &w->m->even->slices[i], &w->m->uneven->slice[i]};
}

static int sum_all(tf_lanes *w, const piece *x, uint64_t zero) {
  return sum_up(w, &(wanted){x->s->node, &x->u->self, x->v, zero, -1, false}).box;
}

/* Requires that the sums over the slice's settings are small. */
static void small(tf_lanes *w, const piece *x) {
  const tf_path *path = &w->p->path[x->s->node];
  int most = tf_l_real(w, 1);
  for (int k = 0; k < path->n; k++)
    most = tf_l(w, TF_T_FMUL, most, tf_l_to(w, path->loops[k]));
  for (int r = 0; r < x->v->n_rank; r++)
    most = tf_l(w, TF_T_FMUL, most, tf_l_to(w, w->len[x->v->range[r]]));
  tf_l_small(w, most);
}

/* Words that enter: tf_entry. */
typedef struct {
  int all, groups, first;
} entry;

/* The sums of one class of entries. */
typedef struct {
  wanted of;
  int stays; /* whether the previous content is there; -1: never */
  int n;     /* sums written so far, by the positions that are at their first in addition */
  uint64_t zero[3 * TF_N_SIDES];
  int words[3 * TF_N_SIDES];
} class;

static class class_of(tf_lanes *w, const piece *x, int c) {
  const tf_reuse_case *k = &x->s->classes[c];
  const tf_path *path = &w->p->path[x->s->node];
  const int one = tf_l_int(w, 1);
  class out = {.of = {x->s->node, &x->u->self, x->v, 0, k->stepping, k->prev >= 0 && k->common < 0},
               .stays = -1};
  if (k->zero_from < path->n) out.of.zero = path->temporal & ~UINT64_C(0) << k->zero_from;
  if (k->prev < 0) return out;
  int stays = one;
  for (int i = 0; i < k->n_spread; i++)
    stays = tf_l(w, TF_T_AND, stays, tf_l(w, TF_T_EQ, k->spread[i], one));
  if (k->common < 0) {
    out.stays = stays;
  } else {
    const int same =
        tf_lanes_same_layout(w, x->v, &w->m->even->slices[k->prev], w->p->path[k->common].n);
    tf_l_must(w, tf_l(w, TF_T_EQ, tf_l(w, TF_T_AND, stays, same), tf_l_int(w, 0)));
  }
  return out;
}

static int entered(tf_lanes *w, class *k, uint64_t zero) {
  wanted of = k->of;
  of.zero |= zero;
  for (int i = 0; i < k->n; i++)
    if (k->zero[i] == of.zero) return k->words[i];
  const total t = sum_up(w, &of);
  k->zero[k->n] = of.zero;
  k->words[k->n] =
      k->stays < 0 ? t.box : tf_l(w, S, t.box, tf_l_sel(w, k->stays, t.kept, tf_l_int(w, 0)));
  return k->words[k->n++];
}

/* joins: on the side of the serving memory, instances that share a transfer count once. */
static entry enter(tf_lanes *w, const piece *x, int c, class *k, int side) {
  const tf_memory *mem = &w->p->arch->memories[x->s->level];
  const bool joins = x->s->makes ? mem->reduce : mem->multicast;
  const int stepping = x->s->classes[c].stepping, none = tf_l_int(w, 0);
  const uint64_t still = x->u->still[side], same = x->u->same;
  entry e = {none, none, none};
  if (side != TF_SERVING || !joins) e.all = entered(w, k, still);
  if (x->s->makes || joins) e.groups = entered(w, k, still | same);
  if (x->s->makes && (stepping < 0 || !(x->u->again >> stepping & 1)))
    e.first = entered(w, k, still | same | x->u->again);
  return e;
}

/* tf_move_of. */
static tf_lane_move move_of(tf_lanes *w, const piece *x, entry e) {
  const tf_memory *mem = &w->p->arch->memories[x->s->level];
  const int none = tf_l_int(w, 0);
  if (!x->s->makes) return (tf_lane_move){e.all, none, mem->multicast ? e.groups : e.all, none};
  const int partial = tf_l(w, S, e.groups, e.first);
  return (tf_lane_move){partial, e.all, partial, mem->reduce ? e.groups : e.all};
}

/* tf_flow_of. */
static tf_lane_move flow_of(tf_lanes *w, const piece *x, const entry *e) {
  const tf_lane_move here = move_of(w, x, e[TF_OWN]), there = move_of(w, x, e[TF_SERVING]);
  return (tf_lane_move){tf_l_to(w, here.fill), tf_l_to(w, here.drain), tf_l_to(w, there.read),
                        tf_l_to(w, there.update)};
}

static void count_tile(tf_lanes *w, int i) {
  const piece x = piece_of(w, i);
  const int none = tf_l_int(w, 0);
  entry sum[TF_N_SIDES] = {{none, none, none}, {none, none, none}, {none, none, none}},
        e[TF_N_SIDES];
  small(w, &x);
  for (int c = 0; c < x.s->n_class && !w->failed; c++) {
    class k = class_of(w, &x, c);
    for (int side = 0; side < TF_N_SIDES; side++) {
      e[side] = enter(w, &x, c, &k, side);
      sum[side].all = tf_l(w, A, sum[side].all, e[side].all);
      sum[side].groups = tf_l(w, A, sum[side].groups, e[side].groups);
    }
    const tf_lane_move flow = flow_of(w, &x, e);
    tf_lanes_put(w, i, c, &flow);
  }
  for (int side = 0; side < TF_N_SIDES && x.s->makes; side++)
    sum[side].first = sum_all(w, &x, x.u->still[side] | x.u->same | x.u->again);
  w->moves[i] = move_of(w, &x, sum[TF_ALL]);
  w->flows[i] = flow_of(w, &x, sum);
  w->box[i] = tf_l_int(w, 1);
  for (int r = 0; r < x.v->n_rank; r++) {
    const int len = w->len[x.v->range[r]];
    w->rank_len[w->m->views->rank_at[i] + r] = len;
    w->box[i] = tf_l(w, M, w->box[i], len);
  }
}

static void count_leaf(tf_lanes *w, int i, const tf_unit *unit) {
  const piece x = piece_of(w, i);
  const uint64_t same = (x.s->makes ? unit->reduce : unit->multicast) ? x.u->same : 0;
  const uint64_t still = x.u->still[TF_SERVING], once = x.u->same | x.u->again;
  const int none = tf_l_int(w, 0), words = sum_all(w, &x, same), one = sum_all(w, &x, same | still);
  small(w, &x);
  w->moves[i] = (tf_lane_move){none, none, words, none};
  w->flows[i] = (tf_lane_move){w->zero, w->zero, tf_l_to(w, one), w->zero};
  if (!x.s->makes) return;
  const int again = tf_l(w, S, words, sum_all(w, &x, once)),
            again_one = tf_l(w, S, one, sum_all(w, &x, once | still));
  w->moves[i] = (tf_lane_move){none, none, again, words};
  w->flows[i] = (tf_lane_move){w->zero, w->zero, tf_l_to(w, again_one), tf_l_to(w, one)};
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Moments at a node, as count_steps in uneven.c. */
static int count_steps(tf_lanes *w, int n, bool width, int stepping) {
  static const tf_even_slice none;
  const tf_path *path = &w->p->path[n];
  wanted k = {.v = &none, .node = n, .groups = &w->m->uneven->node[n].steps, .stepping = stepping};
  k.zero = width ? path->temporal : ~path->temporal;
  if (stepping >= 0) k.zero |= ~UINT64_C(0) << stepping << 1;
  return sum_up(w, &k).box;
}

static void count_nodes(tf_lanes *w) {
  for (int n = 0; n < w->p->tree->n_nodes; n++) {
    const tf_view *v = &w->m->views->node[n];
    const tf_path *path = &w->p->path[n];
    w->steps[n] = count_steps(w, n, false, -1);
    w->width[n] = count_steps(w, n, true, -1);
    if (!v->n_slices || !w->m->by_steps) continue;
    for (int k = path->n - 1, j = 0; k >= 0; k--)
      if (path->temporal >> k & 1)
        w->class_steps[v->row + j++] = tf_l_to(w, count_steps(w, n, false, k));
    w->class_steps[v->row + v->n_rows - 1] = tf_l_real(w, 1);
  }
}

/* Ranges, with tiles at most as long as what they are a part of; and the conditions that trip
 * counts must meet. */
static void ranges(tf_lanes *w) {
  const tf_even *e = w->m->even;
  const int one = tf_l_int(w, 1);
  for (int i = 0; i < e->n_ranges; i++) {
    tf_lanes_range(w, i);
    if (e->ranges[i].what == TF_PART)
      w->len[i] = tf_l(w, TF_T_MIN, w->len[i], w->len[e->ranges[i].base]);
  }
  for (int i = 0; i < e->n_covers; i++) {
    const int more = tf_l(w, A, w->value[e->covers[i].product], one);
    tf_l_must(w, tf_l(w, TF_T_GT, more, w->len[e->covers[i].range]));
  }
  for (int l = 0; l < w->p->n_loops; l++)
    if (e->chains[e->chain_of[l]].may_differ) tf_l_must(w, tf_l(w, TF_T_EQ, l, one));
}

/* ---- homes: uneven_home.c ------------------------------------------------------------------- */

typedef struct {
  int lo, len;
} span;

/* The slices that loops put into one instance of intermediate z's home. */
typedef struct {
  tf_lanes *w;
  const tf_path *path;    /* of the home scope */
  int digit[TF_MAX_PATH]; /* 0 for all loops but those that put slices there */
  int n_rank, range[TF_MAX_RANK];
  span all[TF_MAX_RANK]; /* hull so far */
  bool any;
} home_hull;

/* The range after the loops of a chain at these positions; length 0: nothing is left. */
static span split(const home_hull *g, span v, int chain, uint64_t positions) {
  tf_lanes *w = g->w;
  for (; positions; positions &= positions - 1) {
    const int pos = __builtin_ctzll(positions), loop = g->path->loops[pos];
    if (w->m->even->chain_of[loop] != chain) continue;
    const int step = w->value[w->m->even->step[loop]], off = tf_l(w, M, g->digit[pos], step);
    const int rest = tf_l(w, TF_T_MAX, tf_l(w, S, v.len, off), tf_l_int(w, 0));
    v = (span){tf_l(w, A, v.lo, off), tf_l(w, TF_T_MIN, rest, step)};
  }
  return v;
}

static span span_of(const home_hull *g, int range) {
  const tf_even_range *r = &g->w->m->even->ranges[named(g->w->m->even, range)];
  if (r->what == TF_WHOLE) return (span){tf_l_int(g->w, 0), tf_l_int(g->w, r->len)};
  if (r->what == TF_PART) return split(g, span_of(g, r->base), r->chain, r->moves);
  g->w->failed = true;
  return (span){0, 0};
}

/* The last step of the loop at a position, given the digits of those outside it. */
static int last_of(const home_hull *g, int pos) {
  tf_lanes *w = g->w;
  const int loop = g->path->loops[pos], chain = w->m->even->chain_of[loop];
  const int step = w->value[w->m->even->step[loop]], one = tf_l_int(w, 1);
  const span v =
      split(g, span_of(g, w->m->even->chains[chain].base), chain, (UINT64_C(1) << pos) - 1);
  const int n = tf_l(w, TF_T_DIV, tf_l(w, A, v.len, tf_l(w, S, step, one)), step);
  return tf_l(w, S, tf_l(w, TF_T_MIN, tf_l(w, TF_T_MAX, n, one), loop), one);
}

static void add_left(home_hull *g) {
  tf_lanes *w = g->w;
  span box[TF_MAX_RANK];
  int there = tf_l_int(w, 1);
  for (int r = 0; r < g->n_rank; r++) {
    box[r] = span_of(g, g->range[r]);
    there = tf_l(w, TF_T_AND, there, tf_l(w, TF_T_GT, box[r].len, tf_l_int(w, 0)));
  }
  if (!g->any) tf_l_must(w, there);
  for (int r = 0; r < g->n_rank; r++) {
    const span was = g->any ? g->all[r] : box[r];
    const int lo = tf_l(w, TF_T_MIN, was.lo, box[r].lo);
    const int end =
        tf_l(w, TF_T_MAX, tf_l(w, A, was.lo, was.len), tf_l(w, A, box[r].lo, box[r].len));
    g->all[r] =
        (span){tf_l_sel(w, there, lo, was.lo), tf_l_sel(w, there, tf_l(w, S, end, lo), was.len)};
  }
  g->any = true;
}

/* Joins what the first and the last instance of each of the loops at these positions leave. */
static void add_slices(home_hull *g, uint64_t left) {
  if (!left) {
    add_left(g);
    return;
  }
  const int pos = __builtin_ctzll(left), last = last_of(g, pos);
  add_slices(g, left & (left - 1));
  g->digit[pos] = last;
  add_slices(g, left & (left - 1));
  g->digit[pos] = tf_l_int(g->w, 0);
}

/* Words of z at home if loops put several slices there. */
static int home_words(tf_lanes *w, int z) {
  const tf_tensor *t = &w->p->wl->tensors[z];
  const tf_even_home *h = &w->m->even->home[w->m->even->home_at[z]];
  home_hull g = {.w = w, .path = &w->p->path[w->p->home_scope[z]], .n_rank = t->rank};
  uint64_t brings = 0;
  for (int pos = 0; pos < g.path->n; pos++) {
    g.digit[pos] = tf_l_int(w, 0);
    if (tf_plan_brings(w->p, z, g.path->loops[pos])) brings |= UINT64_C(1) << pos;
  }
  for (int r = 0; r < t->rank; r++)
    g.range[r] = h[r].range;
  if (__builtin_popcountll(brings) > MOST_BRING) {
    w->failed = true;
    return 0;
  }
  add_slices(&g, brings);
  int words = tf_l_int(w, 1), all = tf_l_real(w, 1);
  for (int r = 0; r < t->rank && !w->failed; r++) {
    int len = g.all[r].len;
    for (int i = 0; i < h[r].n; i++)
      len = tf_lanes_cut(w, len, h[r].cut[i]);
    len = tf_l(w, TF_T_MIN, len, tf_l_int(w, t->extent[r]));
    words = tf_l(w, M, words, len);
    all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, len));
  }
  tf_l_small(w, all);
  return words;
}

static void count_home(tf_lanes *w, int z) {
  const tf_even_home *h = &w->m->even->home[w->m->even->home_at[z]];
  int brings = tf_l_int(w, 0);
  bool may = false;
  for (int r = 0; r < w->p->wl->tensors[z].rank; r++)
    for (int i = 0; i < h[r].n_more; i++, may = true)
      brings = tf_l(w, TF_T_OR, brings, tf_l(w, TF_T_GT, h[r].more[i], tf_l_int(w, 1)));
  tf_lanes_home(w, z);
  if (may) w->home_words[z] = tf_l_sel(w, brings, home_words(w, z), w->home_words[z]);
}

bool tf_lanes_uneven_apply(const struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool ok = m->uneven && m->uneven->applies && !p->clips && !p->cuts && !p->irregular &&
            !p->n_at_home && !m->zeros;
  for (int i = 0; ok && i < p->n_slices; i++)
    ok = !m->uneven->slice[i].join && !m->uneven->slice[i].cancels;
  return ok;
}

void tf_lanes_uneven(tf_lanes *w) {
  const tf_plan *p = w->p;
  w->sums = TF_ARRAY(w->arena, tf_lane_sum, TF_LANE_SUMS);
  w->kinds = TF_ARRAY(w->arena, tf_lane_kinds, TF_LANE_KINDS);
  w->failed = !w->sums || !w->kinds;
  if (w->failed) return;
  ranges(w);
  count_nodes(w);
  for (int i = 0; i < p->n_tile_slices && !w->failed; i++)
    count_tile(w, i);
  for (int o = 0; o < p->wl->n_ops && !w->failed; o++) {
    const piece out = piece_of(w, p->op_slice[o] + p->wl->ops[o].n_reads);
    for (int i = 0; i <= p->wl->ops[o].n_reads && !w->failed; i++)
      count_leaf(w, p->op_slice[o] + i, &p->arch->units[p->unit[o]]);
    w->points[o] = sum_all(w, &out, 0);
  }
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0)
      count_home(w, z);
    else
      w->home_words[z] = tf_l_int(w, tf_tensor_words(&p->wl->tensors[z]));
}
