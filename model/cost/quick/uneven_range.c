/* Ranges while digits are enumerated (uneven_sum.c).  If borders cut ranges that chains split,
 * places are absolute, and digits near a border are enumerated one by one, as long as remaining
 * choices may move a range across it.  Elsewhere borders have no effect, and digits are
 * equivalent. */
#include "model/cost/quick/uneven_plan.h"
#include "model/tree/infer.h"

enum { MOST_LOOKS = 4096 };

/* The range of a read. */
static tf_ival read_at(tf_uneven_summing *j, const tf_path_digits *d, bool prev,
                       const tf_even_read *read) {
  tf_ival one = {read->c, 1};
  for (int t = read->first; t < read->first + read->n; t++)
    one = tf_index_plus(one, j->e->terms[t].coef,
                        tf_uneven_range_at(j, d, prev, j->e->terms[t].range));
  return one;
}

tf_ival tf_uneven_range_at(tf_uneven_summing *j, const tf_path_digits *d, bool prev, int range) {
  const tf_even_range *r = &j->e->ranges[range];
  if (r->what == TF_WHOLE) return (tf_ival){0, r->len};
  if (r->what == TF_PART) {
    const int c = (prev ? j->from : j->n)->number_of[r->chain];
    tf_ival v = tf_uneven_range_at(j, d, prev, r->base);
    if (c < 0) return v;
    const tf_chain_digits *t = prev ? &d->prev[c] : &d->now[c];
    return (tf_ival){v.lo + t->off, tf_tile_of(t)};
  }
  if (tf_uneven_fixed(r)) return (tf_ival){j->m->lo[range], j->m->len[range]};
  tf_ival all = {0, 0};
  for (int i = r->first; i < r->first + r->n; i++) {
    tf_ival one = read_at(j, d, prev, &j->e->reads[i]);
    if (tf_near_borders(j) && r->from < r->to) {
      one = r->made ? tf_clamped(one, r->from, r->to)
                    : tf_common_part(one, (tf_ival){r->from, r->to - r->from});
      j->gave_up |= one.len <= 0 && r->n > 1; /* wholly in the padding */
    }
    all = tf_hull(all, one);
  }
  return all;
}

/* ---- near borders --------------------------------------------------------------------------- */

/* One side (now or the previous entry), and the tile that the current loop gives its chain c, in
 * the range that the chain splits. */
typedef struct {
  bool prev;
  int c;
  tf_ival tile;
} chosen;

static const tf_chain_digits *digits_of(const tf_uneven_summing *j, const tf_path_digits *d,
                                        const chosen *s, int range, int *c) {
  *c = (s->prev ? j->from : j->n)->number_of[j->e->ranges[range].chain];
  return *c < 0 ? NULL : s->prev ? &d->prev[*c] : &d->now[*c];
}

/* What the range still depends on: nothing, digits not chosen yet, or the current tile. */
typedef enum { SETTLED, OPEN, CURRENT } dependence;

static dependence dependence_of(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s,
                                int range) {
  const tf_even_range *r = &j->e->ranges[range];
  dependence all = SETTLED;
  int c;
  if (r->what == TF_PART) {
    const tf_chain_digits *t = digits_of(j, d, s, range, &c);
    if (c >= 0 && c == s->c) return CURRENT;
    all = dependence_of(j, d, s, r->base);
    return all == SETTLED && t && !t->ready ? OPEN : all;
  }
  for (int i = r->first; r->what == TF_HULL && !tf_uneven_fixed(r) && i < r->first + r->n; i++)
    for (int t = j->e->reads[i].first; t < j->e->reads[i].first + j->e->reads[i].n; t++) {
      const dependence one = dependence_of(j, d, s, j->e->terms[t].range);
      all = one > all ? one : all;
    }
  return all;
}

/* The hull of the range over all choices further inside.  Ranges move with the current tile as
 * without borders: where a border has an effect, digits are not equivalent. */
static tf_ival reach(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s, int range);

static tf_ival read_reach(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s,
                          const tf_even_read *read) {
  tf_ival one = {read->c, 1};
  for (int t = read->first; t < read->first + read->n; t++)
    one = tf_index_plus(one, j->e->terms[t].coef, reach(j, d, s, j->e->terms[t].range));
  return one;
}

static tf_ival reach(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s, int range) {
  const tf_even_range *r = &j->e->ranges[range];
  tf_ival all = {0, 0};
  int c;
  if (r->what == TF_WHOLE) return (tf_ival){0, r->len};
  if (r->what == TF_PART) {
    const tf_chain_digits *t = digits_of(j, d, s, range, &c);
    if (c >= 0 && c == s->c)
      return (tf_ival){tf_uneven_range_at(j, d, s->prev, r->base).lo + s->tile.lo, s->tile.len};
    return t && t->ready ? tf_uneven_range_at(j, d, s->prev, range) : reach(j, d, s, r->base);
  }
  const dependence on = dependence_of(j, d, s, range);
  if (on == SETTLED) return tf_uneven_range_at(j, d, s->prev, range);
  for (int i = r->first; i < r->first + r->n; i++)
    all = tf_hull(all, read_reach(j, d, s, &j->e->reads[i]));
  return on == OPEN && r->made && r->from < r->to ? tf_hull(all, tf_clamped(all, r->from, r->to))
                                                  : all;
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Keeps the digits, of those from `first` on, at which a read that moves by `by` per digit stays
 * inside.  A read that does not move is the same at all of them, even if a border cuts it. */
static void keep_inside(const tf_even_range *r, tf_ival at, int64_t by, int64_t first,
                        tf_digits *ok) {
  int64_t low = r->from - at.lo,
          high = r->to - at.lo - at.len; /* low <= by (digit - first) <= high */
  if (by == 0) return;
  const int64_t a = by > 0 ? -floor_div(-low, by) : -floor_div(-high, by);
  const int64_t b = by > 0 ? floor_div(high, by) : floor_div(low, by);
  if (first + a > ok->first) ok->first = first + a;
  if (first + b < ok->last) ok->last = first + b;
}

/* Keeps the digits from `first` on at which no border affects the range: each moves the tile by its
 * length. */
static void limit(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s, int range,
                  int64_t first, tf_digits *ok) {
  const tf_even_range *r = &j->e->ranges[range];
  int c;
  if (r->what == TF_PART) {
    const tf_chain_digits *t = digits_of(j, d, s, range, &c);
    if (!(t && t->ready)) limit(j, d, s, r->base, first, ok);
    return;
  }
  for (int i = r->first; r->what == TF_HULL && !tf_uneven_fixed(r) && i < r->first + r->n; i++) {
    const tf_even_read *read = &j->e->reads[i];
    for (int t = read->first; t < read->first + read->n; t++)
      limit(j, d, s, j->e->terms[t].range, first, ok);
    if (r->from == r->to) continue;
    chosen next = *s;
    next.tile.lo += s->tile.len;
    const tf_ival at = read_reach(j, d, s, read);
    keep_inside(r, at, read_reach(j, d, &next, read).lo - at.lo, first, ok);
  }
}

/* The same for all ranges of one side. */
static void limit_all(tf_uneven_summing *j, const tf_path_digits *d, const chosen *s, int64_t first,
                      tf_digits *ok) {
  const tf_uneven_node *n = s->prev ? j->from : j->n;
  const tf_even_slice *v = s->prev ? j->w.q : j->w.v;
  for (int i = 0; i < j->g->n_rank; i++)
    limit(j, d, s, v->range[j->g->rank[i]], first, ok);
  for (uint32_t left = s->prev ? j->g->prev : j->g->now; left; left &= left - 1) {
    const int c = __builtin_ctz(left);
    if (!(s->prev ? d->prev[c].ready : d->now[c].ready))
      limit(j, d, s, j->e->chains[n->chain[c].chain].base, first, ok);
  }
}

/* The number of instances of the spatial loop at position k with a whole tile, for the chosen
 * digits of its chain's other loops; *more: another may have a part of one. */
static int64_t whole_instances(tf_uneven_summing *j, int k, bool *more) {
  const tf_path_chain *of = &j->n->chain[j->n->number_of[j->e->chain_of[j->path->loops[k]]]];
  const tf_even_range *base = &j->e->ranges[j->e->chains[of->chain].base];
  int64_t rest = base->len - 1;
  bool tight = true, first = true;
  *more = false;
  j->gave_up |= base->what != TF_WHOLE;
  for (int i = 0; i < of->n && !j->gave_up; i++) {
    const int pos = of->pos[i];
    const int64_t trip = tf_trip_at(j, j->path, pos), step = tf_step_at(j, j->path, pos),
                  bound = rest / step;
    if (trip <= 1) continue;
    if (first) tight = trip * step != base->len;
    first = false;
    if (pos == k) {
      *more = tight;
      return tight && bound < trip ? bound : trip;
    }
    if (!tight) continue;
    tight = j->digit[pos] == bound;
    rest -= bound * step;
  }
  return 0;
}

/* The part of the read within its range, if the tile is shifted by `by`. */
static int64_t left_at(const tf_even_range *r, tf_ival at, int64_t by) {
  return tf_common_part((tf_ival){at.lo + by, at.len}, (tf_ival){r->from, r->to - r->from}).len;
}

int64_t tf_uneven_longest_of_all(tf_uneven_summing *j, const tf_path_digits *d, int c,
                                 int64_t len) {
  const int range = j->e->chains[j->n->chain[c].chain].base;
  const tf_even_range *r = &j->e->ranges[range];
  const uint64_t on = j->w.zero & ~j->path->temporal & j->n->turning & j->g->positions & r->depends;
  if (!on || len == tf_uneven_most(j->m, range)) return len;
  const int k = __builtin_ctzll(on);
  const int64_t by = r->moves >> k & 1 ? r->shift[k] * tf_step_at(j, j->path, k) : 0;
  bool more;
  bool other =
      r->what != TF_HULL || r->n != 1 || r->from == r->to; /* cut by other borders than its own */
  for (int t = 0; !other && t < j->e->reads[r->first].n; t++)
    other = tf_uneven_cut(j->e, j->e->terms[j->e->reads[r->first].first + t].range);
  if (on & (on - 1) || other || by <= 0 || j->g->n_rank) {
    j->gave_up = true;
    return len;
  }
  const int64_t n = whole_instances(j, k, &more);
  const tf_ival at = read_at(j, d, false, &j->e->reads[r->first]);
  const int64_t near[2] = {floor_div(r->from - at.lo, by), floor_div(r->to - at.lo - at.len, by)};
  for (int i = 0; i < 2; i++)
    for (int64_t x = near[i] > 1 ? near[i] - 1 : 0; x <= near[i] + 1; x++) {
      const int64_t now = left_at(r, at, (x < n - 1 ? x : n > 0 ? n - 1 : 0) * by);
      len = now > len ? now : len;
    }
  if (more && n > 0 && left_at(r, at, n * by) > len)
    j->gave_up = true; /* more than any whole tile has */
  return len;
}

tf_digits tf_uneven_inside(tf_uneven_summing *j, const tf_path_digits *d, const tf_digit_of *at,
                           int64_t first, int64_t most) {
  tf_digits ok = {first, most};
  const int64_t step = tf_step_at(j, j->path, at->k);
  const chosen now = {false, at->c, {d->now[at->c].off + first * step, step}};
  limit_all(j, d, &now, first, &ok);
  if (at->b >= 0) {
    const int64_t by = tf_step_at(j, j->before, j->pair[at->k]);
    const chosen prev = {true, at->b, {d->prev[at->b].off + (first - at->less) * by, by}};
    limit_all(j, d, &prev, first, &ok);
  }
  j->gave_up |= ++j->looks > MOST_LOOKS;
  return ok;
}
