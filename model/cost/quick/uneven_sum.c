/* Write the last element of a range in the mixed radix of the loops that split it: its bound.  A
 * setting of these loops occurs if its digits, from the outside, are at most those of the bound;
 * where they are equal, it is the last one, and its tile may be partial.  So the digits of one loop
 * fall into few groups: those below the bound's, after which the loops further inside are free; the
 * bound's own; and those above.
 *
 * In one instance, the previous entry has the same digits except for the loop that steps, which is
 * one back, and the temporal loops inside it, which are at their last: at the greatest number at
 * which that instance was active. Where a digit of the instance is above the bound's, that number
 * is one less than the bound's digits there. */
#include "model/cost/quick/uneven_plan.h"

#include <string.h>

#include "model/tree/infer.h"

static void set_last_loops(tf_uneven_summing *j, tf_path_digits *d, int c, int to);

/* Begins chain c, once the loops that move the range which it splits are set. */
static void begin_chain(tf_uneven_summing *j, tf_path_digits *d, bool prev, int c) {
  tf_chain_digits *t = prev ? &d->prev[c] : &d->now[c];
  const tf_path_chain *of = &(prev ? j->from : j->n)->chain[c];
  if (t->ready) return;
  for (uint32_t left = of->needs; left; left &= left - 1) {
    if (prev)
      set_last_loops(j, d, __builtin_ctz(left), TF_MAX_PATH);
    else
      begin_chain(j, d, false, __builtin_ctz(left));
  }
  int64_t len = tf_uneven_range_at(j, d, prev, j->e->chains[of->chain].base).len;
  if (j->g->cut && !prev) len = tf_uneven_longest_of_all(j, d, c, len);
  const tf_path *path = prev ? j->before : j->path;
  int first = 0; /* a loop of one step may belong to another op, too, whose own loops differ */
  while (first < of->n && tf_trip_at(j, path, of->pos[first]) <= 1)
    first++;
  const bool even =
      first < of->n &&
      tf_trip_at(j, path, of->pos[first]) * tf_step_at(j, path, of->pos[first]) == len;
  t->ready = true, t->lost = false, t->at = 0, t->off = 0;
  t->tight = !even;
  t->rest = len - 1;
  t->full = len;
}

/* ---- the previous entry --------------------------------------------------------------------- */

/* Sets the chain's next loop to the greatest digit at which this instance was active. */
static void set_last(const tf_uneven_summing *j, tf_chain_digits *t, int pos) {
  const int64_t step = tf_step_at(j, j->before, pos);
  int64_t digit = tf_trip_at(j, j->before, pos) - 1;
  if (t->tight) {
    digit = t->rest / step;
    t->rest -= digit * step;
  }
  t->last[t->at++] = digit;
  t->off += digit * step;
  t->full = step;
}

/* Sets those of the chain's loops that are at their last, up to a position. */
static void set_last_loops(tf_uneven_summing *j, tf_path_digits *d, int c, int to) {
  const tf_path_chain *of = &j->from->chain[c];
  begin_chain(j, d, true, c);
  tf_chain_digits *t = &d->prev[c];
  while (t->at < of->n && of->pos[t->at] < to) {
    if (tf_trip_at(j, j->before, of->pos[t->at]) > 1 && j->twin[of->pos[t->at]] < 0)
      set_last(j, t, of->pos[t->at]);
    else
      t->last[t->at++] = -1;
  }
}

/* Subtracts one from the number written by the loops at their last; false: it was 0. */
static bool borrow(const tf_uneven_summing *j, tf_chain_digits *t, const tf_path_chain *of) {
  int k = t->at - 1;
  while (k >= 0 && t->last[k] <= 0)
    k--;
  if (k < 0) return false;
  t->last[k]--;
  t->off -= tf_step_at(j, j->before, of->pos[k]);
  for (k++; k < t->at; k++)
    if (t->last[k] >= 0) {
      const int64_t most = tf_trip_at(j, j->before, of->pos[k]) - 1;
      t->off += (most - t->last[k]) * tf_step_at(j, j->before, of->pos[k]);
      t->last[k] = most;
    }
  return true;
}

/* Sets the chain's next loop, at position pos, to this digit. */
static void set_digit(const tf_uneven_summing *j, tf_path_digits *d, int b, int pos,
                      int64_t digit) {
  tf_chain_digits *t = &d->prev[b];
  const int64_t step = tf_step_at(j, j->before, pos), bound = t->rest / step;
  if (tf_placed(j)) t->off += digit * step;
  if (t->tight && digit == bound) {
    t->rest -= bound * step;
  } else {
    t->lost |= t->tight && digit > bound && !borrow(j, t, &j->from->chain[b]);
    t->tight = false;
  }
  t->full = step;
  t->last[t->at++] = -1;
}

/* Whether a rank of the group depends on chain c of the previous entry's path. */
static bool moves_rank(const tf_uneven_summing *j, int c) {
  for (int i = 0; i < j->g->n_rank; i++)
    if (tf_uneven_chains(j->e, j->from, j->w.q->range[j->g->rank[i]]) >> c & 1) return true;
  return false;
}

/* If the instance was idle in the last run of what chain c splits: whether nothing can be found, as
 * its tile in an earlier run was elsewhere along a rank; otherwise it is left to the general
 * count. */
static bool finds_nothing(tf_uneven_summing *j, int c) {
  bool elsewhere = false, unmoved = !moves_rank(j, c);
  for (int i = 0; i < j->g->n_rank; i++) {
    const tf_even_range *r = &j->e->ranges[j->w.q->range[j->g->rank[i]]];
    elsewhere |= r->what == TF_PART && j->from->number_of[r->chain] == c &&
                 j->e->ranges[r->base].what == TF_PART;
  }
  for (uint32_t left = j->from->chain[c].needs; left; left &= left - 1)
    unmoved &= !moves_rank(j, __builtin_ctz(left));
  j->gave_up |= j->w.sibling || (!elsewhere && !unmoved);
  return elsewhere;
}

/* Sets all loops of a chain again: a chain further out has another tile. */
static void again(tf_uneven_summing *j, tf_path_digits *d, int c) {
  const tf_path_chain *of = &j->from->chain[c];
  tf_chain_digits *t = &d->prev[c];
  t->ready = false;
  begin_chain(j, d, true, c);
  while (t->at < of->n) {
    const int pos = of->pos[t->at];
    const signed char twin = j->twin[pos];
    if (tf_trip_at(j, j->before, pos) <= 1)
      t->last[t->at++] = -1;
    else if (twin < 0)
      set_last(j, t, pos);
    else
      set_digit(j, d, c, pos, j->digit[twin] - (twin == j->w.stepping));
  }
}

/* If the instance was idle in the last run of what chain c splits, and that was the partial tile of
 * a chain further out, it was active in the run before. */
static void step_back(tf_uneven_summing *j, tf_path_digits *d, int c) {
  int outer = -1, tight = 0;
  uint32_t inner = 0;
  for (uint32_t left = j->from->chain[c].needs; left; left &= left - 1)
    if (d->prev[__builtin_ctz(left)].tight) outer = __builtin_ctz(left), tight++;
  if (tight == 1 && borrow(j, &d->prev[outer], &j->from->chain[outer])) {
    d->prev[outer].tight = false;
    for (uint32_t left = j->g->prev; left; left &= left - 1)
      inner += j->from->chain[__builtin_ctz(left)].needs >> outer & 1;
    again(j, d, c);
  }
  j->gave_up |= tight > 1 ||
                inner > 1; /* which of them stepped last, or steps back, too, is not decided here */
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Whether no chain of the group is at a partial tile. */
static bool all_whole(const tf_uneven_summing *j, const tf_path_digits *d) {
  bool whole = true;
  for (uint32_t left = j->g->now; left; left &= left - 1)
    whole &= tf_tile_of(&d->now[__builtin_ctz(left)]) == d->now[__builtin_ctz(left)].full;
  return whole;
}

/* The places of sharing instances: with a whole tile, those that no earlier instance has; a partial
 * tile belongs to one instance only. */
static const tf_join *join_of(const tf_uneven_summing *j, const tf_path_digits *d) {
  if (j->rest < 0 || !j->digit[j->rest]) return &j->join;
  const tf_chain_digits *t = &d->now[j->n->number_of[j->e->chain_of[j->path->loops[j->rest]]]];
  return tf_tile_of(t) == t->full ? &j->more : &j->join;
}

/* Adds the box of the group's only rank, which borders clip, and the part of it that was there
 * before. */
static void add_clipped(tf_uneven_summing *j, const tf_path_digits *d, tf_ival now,
                        tf_ival before) {
  const tf_even_range *r = &j->e->ranges[j->w.v->range[j->g->rank[0]]];
  const tf_alike a = {
      j->n, j->g->positions & j->n->turning, j->w.stepping, j->digit, j->equivalent, join_of(j, d)};
  const tf_ival both = tf_common_part(now, before);
  tf_clip_places p = {.grid = {0}};
  if (!tf_uneven_places(r, &a, now.len, &p)) {
    j->gave_up = true;
  } else if (j->longest) {
    const int64_t most = tf_grid_longest(&p.grid, p.at + now.lo, now.len, p.extent);
    j->all = most > j->all ? most : j->all;
    if (most > j->kept && all_whole(j, d)) j->kept = most;
  } else {
    j->all += p.each * tf_grid_clipped(&p.grid, p.at + now.lo, now.len, p.extent);
    j->kept += p.each * tf_grid_clipped(&p.grid, p.at + both.lo, both.len, p.extent);
  }
}

/* Records whether all ranks are as long as possible. */
static void add_fullest(tf_uneven_summing *j, const tf_path_digits *d) {
  bool full = true;
  for (int i = 0; i < j->g->n_rank && full; i++) {
    const int range = j->w.v->range[j->g->rank[i]];
    full = tf_uneven_range_at(j, d, false, range).len == tf_uneven_most(j->m, range);
  }
  j->all |= full;
}

/* The box, and what is found of it, are visited. */
static void visit_box(tf_uneven_summing *j, const tf_path_digits *d, bool finds) {
  tf_uneven_setting s = {.digit = j->digit, .alike = j->equivalent, .finds = finds};
  for (int i = 0; i < j->g->n_rank; i++) {
    const int r = j->g->rank[i];
    s.box[r] = tf_uneven_range_at(j, d, false, j->w.v->range[r]);
    if (finds)
      s.found[r] = tf_common_part(s.box[r], tf_uneven_range_at(j, d, true, j->w.q->range[r]));
  }
  j->gave_up = j->gave_up || !j->visit->add(j->visit->to, &s);
}

/* All digits are set: adds the box, and the part found of it. */
static void add_box(tf_uneven_summing *j, tf_path_digits *d, int64_t ways) {
  int64_t box = 1, kept = j->finds;
  j->chosen++;
  for (uint32_t left = j->g->now; left; left &= left - 1)
    begin_chain(j, d, false, __builtin_ctz(left));
  if (j->fullest) {
    add_fullest(j, d);
    return;
  }
  for (uint32_t left = j->finds ? j->g->prev : 0; left; left &= left - 1) {
    const int c = __builtin_ctz(left);
    set_last_loops(j, d, c, TF_MAX_PATH);
    if (j->sure >> c & 1) continue;
    j->gave_up |= j->g->cut && d->prev[c].lost;
    if (d->prev[c].lost) step_back(j, d, c);
    if (d->prev[c].lost && finds_nothing(j, c)) kept = 0;
  }
  if (j->visit) {
    visit_box(j, d, kept);
    return;
  }
  for (int i = 0; i < j->g->n_rank; i++) {
    const int r = j->g->rank[i];
    const tf_ival now = tf_uneven_range_at(j, d, false, j->w.v->range[r]);
    if (j->g->clipped) {
      add_clipped(j, d, now,
                  kept ? tf_uneven_range_at(j, d, true, j->w.q->range[r]) : (tf_ival){0, 0});
      return;
    }
    box *= now.len;
    if (kept) kept *= tf_common_part(now, tf_uneven_range_at(j, d, true, j->w.q->range[r])).len;
  }
  if (j->rest >= 0) ways *= join_of(j, d)->count;
  j->all += ways * box;
  j->kept += ways * kept;
}

/* Copies the chains of the group. */
static void copy_digits(const tf_uneven_summing *j, tf_path_digits *to,
                        const tf_path_digits *from) {
  for (uint32_t left = j->g->now; left; left &= left - 1)
    to->now[__builtin_ctz(left)] = from->now[__builtin_ctz(left)];
  for (uint32_t left = j->finds ? j->g->prev : 0; left; left &= left - 1)
    to->prev[__builtin_ctz(left)] = from->prev[__builtin_ctz(left)];
}

/* Gives the loop a digit. */
static void set(tf_uneven_summing *j, tf_path_digits *d, const tf_digit_of *at, int64_t digit) {
  j->digit[at->k] = digit;
  tf_chain_digits *t = &d->now[at->c];
  const int64_t step = tf_step_at(j, j->path, at->k);
  if (t->tight) {
    t->tight = digit == t->rest / step;
    t->rest -= digit * step;
  }
  t->full = step;
  t->off += (tf_placed(j) ? digit : at->less) * step;
  if (at->b >= 0) set_digit(j, d, at->b, j->pair[at->k], digit - at->less);
}

/* The first digit that is not equivalent to `first`: one of `cut`, or any if a border affects
 * it. */
static int64_t next_cut(const tf_uneven_summing *j, int64_t first, int64_t most,
                        const int64_t cut[4], const tf_digits *ok) {
  int64_t next = most + 1;
  for (int i = 0; i < 4; i++)
    if (cut[i] > first && cut[i] < next) next = cut[i];
  if (tf_near_borders(j)) {
    const int64_t end = first < ok->first || first > ok->last ? first + 1 : ok->last + 1;
    next = end < next ? end : next;
  }
  return next;
}

/* Enumerates digits of the loops at the remaining positions, the outermost first; d is changed. */
static void enumerate_digits(tf_uneven_summing *j, tf_path_digits *d, uint64_t left, int64_t ways) {
  for (; left && !j->gave_up; left &= left - 1) {
    tf_digit_of at = {.k = __builtin_ctzll(left), .b = -1};
    const int64_t trip = tf_trip_at(j, j->path, at.k);
    at.c = j->n->number_of[j->e->chain_of[j->path->loops[at.k]]];
    at.less = at.k == j->w.stepping;
    int64_t first = at.less, most = j->w.zero >> at.k & 1 ? 0 : trip - 1,
            cut[4] = {-1, -1, -1, at.k == j->rest ? 1 : -1};
    begin_chain(j, d, false, at.c);
    if (d->now[at.c].tight) {
      cut[0] = d->now[at.c].rest / tf_step_at(j, j->path, at.k);
      most = cut[0] < most ? cut[0] : most;
    }
    if (j->finds && j->pair[at.k] >= 0) {
      at.b = j->from->number_of[j->e->chain_of[j->before->loops[j->pair[at.k]]]];
      set_last_loops(j, d, at.b, j->pair[at.k]);
      const tf_chain_digits *t = &d->prev[at.b];
      j->gave_up |=
          at.k == j->rest && t->tight; /* parts found in instances with equal boxes may differ */
      if (t->tight)
        cut[1] = t->rest / tf_step_at(j, j->before, j->pair[at.k]) + at.less, cut[2] = cut[1] + 1;
    }
    if (first > most) return;
    const tf_digits ok =
        tf_near_borders(j) ? tf_uneven_inside(j, d, &at, first, most) : (tf_digits){first, most};
    while (!(j->fullest && j->all) &&
           !j->gave_up) { /* equivalent digits are counted at once; the last ones continue here */
      const int64_t next = next_cut(j, first, most, cut, &ok);
      if (next > most) break;
      tf_path_digits own;
      copy_digits(j, &own, d);
      j->equivalent[at.k] = next - first;
      set(j, &own, &at, first);
      enumerate_digits(j, &own, left & (left - 1), ways * (next - first));
      first = next;
    }
    if (j->fullest && j->all) return;
    set(j, d, &at, first);
    j->equivalent[at.k] = most + 1 - first;
    ways *= most + 1 - first;
  }
  if (!j->gave_up) add_box(j, d, ways);
}

/* The same for a single chain whose previous digits do not matter: settings with digits below the
 * bound's, and the one with the bound's digits.  False: the group has other chains, or places
 * matter. */
static bool count_single_chain(tf_uneven_summing *j) {
  if (j->g->now & (j->g->now - 1) || j->g->clipped || j->g->cut) return false;
  tf_path_digits d;
  int64_t below = 0, equal = 1, box[2] = {1, 1};
  const int c = j->g->now ? __builtin_ctz(j->g->now) : -1;
  tf_chain_digits *t = &d.now[c < 0 ? 0 : c];
  t->ready = false;
  if (c >= 0) begin_chain(j, &d, false, c);
  if (c >= 0 && !t->tight) below = 1, equal = 0;
  for (uint64_t left = j->g->positions & j->n->turning; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    const int64_t trip = tf_trip_at(j, j->path, k), step = tf_step_at(j, j->path, k),
                  first = k == j->w.stepping;
    const int64_t most = j->w.zero >> k & 1 ? 0 : trip - 1, bound = equal ? t->rest / step : 0;
    below *= most + 1 - first;
    if (equal)
      below += (bound < most + 1 ? bound : most + 1) - first > 0
                   ? (bound < most + 1 ? bound : most + 1) - first
                   : 0;
    equal &= bound >= first && bound <= most;
    t->rest -= bound * step;
    t->full = step;
  }
  for (int tight = 0; tight < 2; tight++) {
    t->tight = tight;
    for (int i = 0; i < j->g->n_rank; i++)
      box[tight] *= tf_uneven_range_at(j, &d, false, j->w.v->range[j->g->rank[i]]).len;
  }
  j->all = below * box[0] + equal * box[1];
  return true;
}

/* Finds the digits that are equal now and at the previous entry. */
static void find_equal_digits(tf_uneven_summing *j) {
  const tf_uneven_sum *w = &j->w;
  for (int k = 0; k < j->before->n; k++)
    j->twin[k] = -1;
  for (int k = 0; k < j->path->n; k++) {
    const bool again = j->path->temporal >> k & 1 && w->stepping >= 0 && k > w->stepping;
    j->pair[k] = (w->sibling && k >= w->n_common) || again ? -1 : (signed char)k;
    if (j->pair[k] >= 0) j->twin[k] = (signed char)k;
  }
  for (int a = w->n_common, b = w->n_common; w->sibling;
       a++, b++) { /* layouts agree, instance by instance */
    while (a < j->path->n && (j->path->temporal >> a & 1 || tf_trip_at(j, j->path, a) <= 1))
      a++;
    while (b < j->before->n && (j->before->temporal >> b & 1 || tf_trip_at(j, j->before, b) <= 1))
      b++;
    if (a >= j->path->n || b >= j->before->n) break;
    j->pair[a] = (signed char)b;
    j->twin[b] = (signed char)a;
  }
}

/* Writes the trip counts and steps of the loops at these positions; returns the end. */
static int64_t *write_loops(const tf_uneven_summing *j, const tf_path *path, uint64_t positions,
                            int64_t *to) {
  for (; positions; positions &= positions - 1) {
    const int k = __builtin_ctzll(positions);
    const int64_t trip = tf_trip_at(j, path, k);
    *to++ = trip;
    *to++ = trip > 1 ? tf_step_at(j, path, k) : 0;
  }
  return to;
}

static uint64_t first_positions(int n) { return n ? ~UINT64_C(0) >> (TF_MAX_PATH - n) : 0; }

/* The number of the current setting of the group's loops. */
static int64_t setting_of(const tf_uneven_summing *j) {
  tf_sums_kept *k = j->g->kept;
  int64_t now[4 * TF_MAX_PATH];
  if (k->evaluation == j->m->uneven->evaluation) return k->setting;
  k->evaluation = j->m->uneven->evaluation;
  if (j->w.sibling)
    write_loops(j, j->before, first_positions(j->before->n),
                write_loops(j, j->path, first_positions(j->path->n), now));
  else
    write_loops(j, j->path, j->g->positions, now);
  const size_t size = (size_t)k->n_values * sizeof *now;
  for (int i = 0; i < TF_SETTINGS_KEPT; i++)
    if (k->known[i].setting && !memcmp(k->known[i].values, now, size))
      return k->setting = k->known[i].setting;
  tf_setting_kept *s = &k->known[k->next];
  k->next = (k->next + 1) % TF_SETTINGS_KEPT;
  memcpy(s->values, now, size);
  return k->setting = s->setting = ++k->settings;
}

/* The cache entry of the current group; *known: it is filled in. */
static tf_sum_kept *memo_of(const tf_uneven_summing *j, bool *known) {
  const tf_uneven_sum *w = &j->w;
  const uint64_t at = j->g->positions, zero = w->zero & at & j->n->turning;
  const uint64_t last =
      w->stepping >= 0 ? at & j->path->temporal & ~UINT64_C(0) << w->stepping << 1 : 0;
  const int stepping = w->stepping >= 0 && at >> w->stepping & 1 ? w->stepping : -1;
  const int64_t setting = setting_of(j);
  const uint64_t hash =
      ((uint64_t)setting * 31 + (zero ^ last << 1) * 2 + (uint64_t)(stepping + 1) * 5 + j->finds) *
      UINT64_C(0x9e3779b97f4a7c15);
  tf_sum_kept *k = &j->g->kept->entries[hash >> 32 & (uint64_t)(j->g->kept->n_entries - 1)];
  *known = k->setting == setting && k->zero == zero && k->last == last && k->stepping == stepping &&
           k->found == j->finds;
  if (!*known) *k = (tf_sum_kept){setting, zero, last, stepping, j->finds, 0, 0, 0};
  return k;
}

/* Enumerates the digits of the current group from the beginning. */
static void enumerate_group(tf_uneven_summing *j) {
  tf_path_digits d;
  j->all = j->kept = j->chosen = 0;
  j->looks = 0;
  for (uint32_t left = j->g->now; left; left &= left - 1)
    d.now[__builtin_ctz(left)].ready = false;
  for (uint32_t left = j->finds ? j->g->prev : 0; left; left &= left - 1)
    d.prev[__builtin_ctz(left)].ready = false;
  enumerate_digits(j, &d, j->g->positions & j->n->turning, 1);
  j->m->chosen += j->chosen;
}

/* ---- plain groups --------------------------------------------------------------------------- */

/* Sums over chains each of which splits exactly what the previous one leaves, so that tiles are
 * disjoint: the settings of a chain with digits below the bound's (uneven_sum.c) all have a full
 * tile, and the one with the bound's digits has the rest. */

/* A sum over a plain group, with fields as in tf_uneven_sum. */
typedef struct {
  struct tf_model *m;
  const tf_uneven_node *n;
  const tf_path *path;
  const tf_chain_group *g;
  uint64_t zero;
  int stepping;
} plain_sum;

/* A chain's settings: the number with a full tile, and `ends` (0 or 1) with the last. */
typedef struct {
  int64_t below, ends, full, last;
} kinds;

/* The settings of a chain that splits a range of this length. */
static kinds kinds_of(const plain_sum *x, const tf_path_chain *of, int64_t len) {
  const tf_turn *t = of->turn, *const end = t + of->n_turn;
  if (t == end) return (kinds){0, 1, len, len};
  const uint64_t stepping = x->stepping < 0 ? 0 : UINT64_C(1) << x->stepping;
  const bool even = t->trip * t->step == len, longest = len == of->len;
  kinds k = {even, !even, len, 0};
  int64_t rest = len - 1;
  for (; t < end; t++) {
    const int64_t n = x->zero & t->bit ? 1 : t->trip, first = t->bit == stepping;
    k.below *= n - first;
    k.full = t->step;
    if (!k.ends) continue;
    const int64_t bound = longest ? t->bound : rest / t->step, most = bound < n ? bound : n;
    if (most > first) k.below += most - first;
    k.ends = bound >= first && bound < n;
    rest -= bound * t->step;
  }
  k.last = rest + 1;
  return k;
}

/* The sum over chain i and those inside it, if this length enters chain i. */
static int64_t sum_from(const plain_sum *x, int i, int64_t len) {
  if (i == x->g->n_plain) return x->g->n_rank ? len : 1;
  const kinds k = kinds_of(x, &x->n->chain[x->g->plain[i]], len);
  int64_t sum = k.below ? k.below * sum_from(x, i + 1, k.full) : 0;
  if (k.ends) sum += sum_from(x, i + 1, k.last);
  return sum;
}

/* Whether every chain divides what it splits. */
static bool divides(const plain_sum *x, int64_t len) {
  for (int i = 0; i < x->g->n_plain; i++) {
    const tf_path_chain *of = &x->n->chain[x->g->plain[i]];
    if (!of->n_turn) continue;
    if (of->turn[0].trip * of->turn[0].step != len) return false;
    len = of->turn[of->n_turn - 1].step;
  }
  return true;
}

/* The sum of the boxes of such a group, and with `finds` of the parts of them that the slice itself
 * left at the previous entry. False: its digits must be enumerated. */
static bool sum_plain(const plain_sum *x, bool finds, int64_t *all, int64_t *kept) {
  const tf_path_chain *first = &x->n->chain[x->g->plain[0]];
  const int64_t len = first->len;
  if (!(x->g->positions & x->n->turning)) { /* one setting */
    *all = *kept = x->g->n_rank ? len : 1;
    return true;
  }
  const uint64_t on = x->stepping < 0 ? 0 : x->g->positions & x->n->turning;
  const bool steps =
      x->stepping >= 0 && on >> x->stepping & 1; /* one of its loops steps: the tile is another */
  const bool back =
      on & x->path->temporal & ~UINT64_C(0) << (x->stepping < 0 ? 0 : x->stepping) << 1;
  if (finds && !steps && back && !divides(x, len))
    return false; /* some were at the same tile before */
  *all = sum_from(x, 0, len);
  *kept = steps || back ? 0 : *all;
  return true;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The sum over the current group. */
static void sum_group(tf_uneven_summing *j) {
  bool known;
  const plain_sum plain = {.m = j->m,
                           .n = j->n,
                           .path = j->path,
                           .g = j->g,
                           .zero = j->w.zero,
                           .stepping = j->w.stepping};
  if (j->g->n_plain && sum_plain(&plain, j->finds, &j->all, &j->kept)) return;
  if (!tf_sums_room(j->m->arena, j->g->kept)) {
    j->gave_up = true;
    return;
  }
  if (j->w.q && !j->paired) find_equal_digits(j);
  j->paired = true;
  tf_sum_kept *memo = memo_of(j, &known);
  j->all = memo->all;
  j->kept = memo->kept;
  if (known) {
    j->m->chosen += memo->chosen;
    return;
  }
  j->kept = j->chosen = 0;
  if (j->finds || !count_single_chain(j)) enumerate_group(j);
  memo->all = j->all;
  memo->kept = j->kept;
  memo->chosen = j->chosen;
  if (j->gave_up) memo->setting = 0;
}

/* Whether all chains of the group divide what they split, so that instances differ only in
 * place. */
static bool all_even(const tf_uneven_summing *j) {
  bool even = true;
  for (int prev = 0; prev < 1 + j->finds; prev++) {
    const tf_uneven_node *n = prev ? j->from : j->n;
    const tf_path *path = prev ? j->before : j->path;
    for (uint32_t left = prev ? j->g->prev : j->g->now; left; left &= left - 1) {
      const tf_path_chain *of = &n->chain[__builtin_ctz(left)];
      int i = 0;
      while (i < of->n && tf_trip_at(j, path, of->pos[i]) <= 1)
        i++;
      even &= i == of->n || tf_trip_at(j, path, of->pos[i]) * tf_step_at(j, path, of->pos[i]) ==
                                j->m->len[j->e->chains[of->chain].base];
    }
  }
  return even;
}

/* Whether loops of several chains are at these positions. */
static bool several(const tf_uneven_summing *j, uint64_t positions) {
  int chain = -1;
  bool many = false;
  for (; positions; positions &= positions - 1) {
    const int c = j->e->chain_of[j->path->loops[__builtin_ctzll(positions)]];
    many |= chain >= 0 && c != chain;
    chain = c;
  }
  return many;
}

/* Whether the chain of the loop at a position divides what it splits. */
static bool even_at(const tf_uneven_summing *j, int pos) {
  const tf_path_chain *of = &j->n->chain[j->n->number_of[j->e->chain_of[j->path->loops[pos]]]];
  return !of->n_turn || of->turn[0].trip * of->turn[0].step == of->len;
}

/* Whether partial tiles are clipped at the upper border, where one may become as long as a whole
 * tile beside it. */
static bool may_equal_whole(const tf_uneven_summing *j, const tf_even_range *r, int pos) {
  const tf_path_chain *of = &j->n->chain[j->n->number_of[j->e->chain_of[j->path->loops[pos]]]];
  return j->g->clipped && of->turn[of->n_turn - 1].step > 1 && !tf_uneven_within(j->e, r);
}

/* Prepares a sum for which one of the loops at `join` is of a chain with a remainder, over whole
 * extents: the boxes of its digits overlap those of the previous digit.  False: it does not
 * apply. */
static bool join_rest(tf_uneven_summing *j, const tf_even_range *r, uint64_t join) {
  uint64_t rest = 0;
  for (uint64_t left = join; left; left &= left - 1)
    if (!even_at(j, __builtin_ctzll(left))) rest |= left & -left;
  if (!rest || rest & (rest - 1) || join & ~r->moves || r->n != 1 || j->w.sibling) return false;
  const int pos = j->rest = __builtin_ctzll(rest);
  const int64_t by = r->shift[pos] * tf_step_at(j, j->path, pos);
  for (uint64_t left = j->g->now; left; left &= left - 1)
    if (j->e->ranges[j->e->chains[j->n->chain[__builtin_ctzll(left)].chain].base].what != TF_WHOLE)
      return false;
  j->w.zero |= join & ~rest;
  return by > 0 && !may_equal_whole(j, r, pos) &&
         tf_uneven_join(j->m, j->w.node, r, join & ~rest, &j->join) &&
         tf_uneven_more(&j->join, by, &j->more);
}

/* The sum over the group, in which boxes loaded by several of the loops at `join` count once. */
static void sum_joined(tf_uneven_summing *j, uint64_t join) {
  if (!several(j, join)) {
    sum_group(j);
    return;
  }
  const tf_even_range *r = &j->e->ranges[j->w.v->range[j->g->rank[0]]];
  if (j->g->n_rank == 1 && !j->g->cut && join_rest(j, r, join)) {
    if (j->w.q && !j->paired) find_equal_digits(j);
    j->paired = true;
    enumerate_group(j);
    j->rest = -1;
    j->join.n = 0;
    return;
  }
  j->rest = -1;
  if (j->g->n_rank != 1 || j->g->cut || !all_even(j) ||
      !tf_uneven_join(j->m, j->w.node, r, join & r->moves, &j->join)) {
    j->gave_up = true;
    return;
  }
  j->w.zero |= join;
  if (j->g->clipped) {
    if (j->w.q && !j->paired) find_equal_digits(j);
    j->paired = true;
    enumerate_group(j);
  } else {
    sum_group(j);
    j->gave_up |= __builtin_mul_overflow(j->all, j->join.count, &j->all);
    j->gave_up |= __builtin_mul_overflow(j->kept, j->join.count, &j->kept);
  }
  j->join.n = 0;
}

/* The sums over the group, one for each requested sum: those that have the same of its positions at
 * their first setting are equal. */
static void sum_requested(tf_uneven_summing *j, tf_uneven_sums *sums) {
  const uint64_t at = j->g->positions & j->n->turning, zero = j->w.zero;
  const bool there = j->w.q && !j->w.sibling && !j->g->n_rank;
  uint64_t known[TF_UNEVEN_SUMS], joined[TF_UNEVEN_SUMS];
  int64_t all[TF_UNEVEN_SUMS], kept[TF_UNEVEN_SUMS];
  int n = 0;
  for (int k = 0; k < sums->n && !j->gave_up; k++) {
    const uint64_t own = sums->total[k].zero & at, join = sums->total[k].join & at & ~own;
    int i = 0;
    while (i < n && (known[i] != own || joined[i] != join))
      i++;
    if (i == n) {
      const bool sure =
          there && !(j->g->idle & at &
                     ~(zero | own)); /* whatever its digits, the instance was there before */
      j->finds = j->w.q && !sure;
      j->w.zero = zero | own;
      sum_joined(j, join);
      known[n] = own, joined[n] = join, all[n] = j->all, kept[n++] = sure ? j->all : j->kept;
    }
    j->gave_up |= __builtin_mul_overflow(sums->total[k].box, all[i], &sums->total[k].box);
    j->gave_up |= __builtin_mul_overflow(sums->total[k].kept, kept[i], &sums->total[k].kept);
  }
  j->w.zero = zero;
}

/* Initialises the arrays as far as they are used. */
static void start(tf_uneven_summing *j, struct tf_model *m, const tf_uneven_sum *w) {
  j->m = m;
  j->w = *w;
  j->e = m->even;
  j->n = &m->uneven->node[w->node], j->from = &m->uneven->node[w->from];
  j->path = &m->plan->path[w->node], j->before = &m->plan->path[w->from];
  j->all = j->kept = 0;
  j->join.n = 0;
  j->longest = j->fullest = j->gave_up = j->paired = false;
  j->rest = -1;
  j->visit = NULL;
  j->sure = 0;
}

bool tf_uneven_visit_all(struct tf_model *m, const tf_uneven_sum *w, const tf_uneven_visit *visit) {
  tf_uneven_summing j;
  tf_chain_group all = {.now = 0};
  start(&j, m, w);
  j.visit = visit;
  j.finds = w->q != NULL;
  j.g = &all;
  for (int g = 0; g < w->groups->n; g++) {
    const tf_chain_group *of = &w->groups->group[g];
    const bool idle = of->idle & of->positions & j.n->turning & ~w->zero;
    all.now |= of->now;
    all.prev |= of->prev;
    all.positions |= of->positions;
    all.cut |= of->cut;
    if (!w->sibling && !of->n_rank && !idle) j.sure |= of->prev;
    for (int r = 0; r < of->n_rank; r++)
      all.rank[all.n_rank++] = of->rank[r];
  }
  if (w->q) find_equal_digits(&j);
  enumerate_group(&j);
  return !j.gave_up;
}

bool tf_uneven_fullest(struct tf_model *m, const tf_uneven_sum *w) {
  tf_uneven_summing j;
  start(&j, m, w);
  j.finds = false;
  j.fullest = true;
  for (int g = 0; g < w->groups->n; g++) {
    j.g = &w->groups->group[g];
    if (!j.g->n_rank) continue;
    enumerate_group(&j);
    if (!j.all || j.gave_up) return false;
  }
  return true;
}

bool tf_uneven_longest(struct tf_model *m, const tf_uneven_sum *w, const tf_chain_group *g,
                       int64_t *len) {
  tf_uneven_summing j;
  start(&j, m, w);
  j.g = g;
  j.finds = false;
  j.longest = true;
  enumerate_group(&j);
  *len = j.all;
  return !j.gave_up &&
         j.kept == j.all; /* at a partial tile, boxes of other tensors are not largest */
}

bool tf_uneven_sum_up(struct tf_model *m, const tf_uneven_sum *w, tf_uneven_sums *sums) {
  tf_uneven_summing j;
  start(&j, m, w);
  for (int k = 0; k < sums->n; k++)
    sums->total[k].box = 1, sums->total[k].kept = w->q ? 1 : 0;
  for (int i = 0; i < w->groups->n && !j.gave_up; i++) {
    j.g = &w->groups->group[i];
    sum_requested(&j, sums);
  }
  return !j.gave_up;
}
