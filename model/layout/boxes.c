/* A box, less a box, round the end of its room and across parts that a layout cuts off, is a few
 * grids: of each part of the address an interval of digits.  Parts are digits of one number, so
 * that elements are met in the order of their addresses, part by part from the slowest on.  While a
 * digit goes up and what lies below it stays the same, the lines that are new repeat once addresses
 * differ by whole turns of the banks. */
#include "model/layout/boxes.h"

#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

enum { MOST_GRIDS = 64 };

/* Of each part the digits lo .. lo + n - 1. */
typedef struct {
  int64_t lo[TF_PLACE_PARTS], n[TF_PLACE_PARTS];
} grid;

typedef struct {
  int n;
  grid at[MOST_GRIDS];
} grids;

/* ---- the grids of a box
 * ---------------------------------------------------------------------------------- */

/* Of one rank: digits of what lies above a cut, and below it. */
typedef struct {
  int64_t high, n_high, low, n_low;
} rect;

enum { MOST_RECTS = 6 };

/* Coordinates from a to b - 1 in the room. */
static int add_rects(rect *to, int n, int64_t a, int64_t b, int64_t cut) {
  int64_t from = a / cut, end = b / cut;
  if (a >= b) return n;
  if (from == (b - 1) / cut) {
    to[n++] = (rect){from, 1, a % cut, b - a};
    return n;
  }
  if (a % cut) to[n++] = (rect){from++, 1, a % cut, cut - a % cut};
  if (end > from) to[n++] = (rect){from, end - from, 0, cut};
  if (b % cut) to[n++] = (rect){end, 1, 0, b % cut};
  return n;
}

/* len coordinates from y on, round the room. */
static int rects_of(const tf_places *p, int r, int64_t y, int64_t len, rect *to) {
  const int64_t room = p->room[r], from = y % room, end = from + len;
  if (len >= room) return add_rects(to, 0, 0, room, p->cut[r]);
  const int n = add_rects(to, 0, from, end < room ? end : room, p->cut[r]);
  return add_rects(to, n, 0, end - room, p->cut[r]);
}

static void set_digits(const tf_places *p, int r, const rect *of, grid *g) {
  for (int i = 0; i < p->n_parts; i++) {
    if (p->part[i].rank != r) continue;
    g->lo[i] = p->part[i].mod ? of->low : of->high;
    g->n[i] = p->part[i].mod ? of->n_low : of->n_high;
  }
}

/* Adds the grids of a box; false: they are too many. */
static bool add_grids(const tf_places *p, const int64_t *lo, const int64_t *len, grids *to) {
  const int first = to->n;
  if (first == MOST_GRIDS) return false;
  to->n++;
  for (int r = 0; r < p->n_ranks; r++) {
    rect rects[MOST_RECTS];
    const int n = rects_of(p, r, lo[r], len[r], rects), had = to->n - first;
    if (!n) {
      to->n = first;
      return true;
    }
    if (first + had * n > MOST_GRIDS) return false;
    for (int k = had * n - 1; k >= 0; k--) {
      to->at[first + k] = to->at[first + k % had];
      set_digits(p, r, &rects[k / had], &to->at[first + k]);
    }
    to->n = first + had * n;
  }
  return true;
}

/* All of the box but the gap: rank by rank what lies before and behind it. */
static bool grids_of(const tf_places *p, const int64_t *at, const tf_elements *c, grids *to) {
  int64_t lo[TF_PLACE_RANKS], len[TF_PLACE_RANKS];
  bool ok = true;
  to->n = 0;
  for (int r = 0; r < p->n_ranks; r++) {
    lo[r] = at[r], len[r] = c->len[r];
    if (c->len[r] > p->room[r]) return false;
  }
  if (!c->lacks) return add_grids(p, lo, len, to);
  for (int r = 0; r < p->n_ranks && ok; r++) {
    const int64_t before = c->gap_lo[r], behind = before + c->gap_len[r];
    len[r] = before;
    ok = add_grids(p, lo, len, to);
    lo[r] = at[r] + behind, len[r] = c->len[r] - behind;
    ok = ok && add_grids(p, lo, len, to);
    lo[r] = at[r] + before, len[r] = c->gap_len[r];
  }
  return ok;
}

/* ---- their lines
 * ----------------------------------------------------------------------------------- */

/* last: the line that was touched last, -1: none; whole: turns of the banks that are in no row of
 * them; row: where the banks' figures are, and room for what they were at each part. */
typedef struct {
  const tf_places *p;
  const grids *of;
  tf_line_set *s;
  int64_t shift, last, lines, whole, *bank;
} count;

static void add_run(count *k, int64_t element, int64_t n) {
  const tf_places *p = k->p;
  int64_t lo = (element * p->bits + k->shift) / p->line_bits;
  const int64_t hi = ((element + n) * p->bits + k->shift - 1) / p->line_bits;
  k->s->work++;
  lo = lo > k->last ? lo : k->last + 1;
  if (hi < lo) return;
  k->last = hi;
  k->lines += hi - lo + 1;
  if (p->banks == 1) return;
  k->whole += (hi - lo + 1) / p->banks;
  for (int64_t i = 0, b = lo % p->banks; i < (hi - lo + 1) % p->banks; i++) {
    k->bank[b]++;
    b = b + 1 < p->banks ? b + 1 : 0;
  }
}

/* Whether what a grid has from part i on lies side by side: *len elements from *lo on. */
static bool side_by_side(const count *k, int g, int i, int64_t *lo, int64_t *len) {
  const grid *x = &k->of->at[g];
  *lo = 0, *len = 1;
  for (int q = k->p->n_parts - 1; q >= i; q--) {
    const int64_t stride = k->p->part[q].stride;
    if (x->n[q] > 1) {
      if (*lo != 0 || *len != stride) return false;
      *len = x->n[q] * stride;
    }
    *lo += x->lo[q] * stride;
  }
  return true;
}

static void meet(count *k, int i, uint64_t some, int64_t base);

/* What lies below n digits of part i from `digit` on, which all have the same of it. */
static void meet_alike(count *k, int i, uint64_t some, int64_t base, int64_t n) {
  const tf_places *p = k->p;
  const int64_t stride = p->part[i].stride, turn = p->line_bits * p->banks,
                period = turn / tf_gcd(stride * p->bits % turn, turn);
  int64_t at = 0;
  if (n - 1 >= 2 * period) {
    int64_t *was = k->bank + (i + 1) * p->banks;
    meet(k, i + 1, some, base);
    memcpy(was, k->bank, (size_t)p->banks * sizeof *was);
    const int64_t lines = k->lines, whole = k->whole, more = (n - 1) / period - 1;
    for (at = 1; at <= period; at++)
      meet(k, i + 1, some, base + at * stride);
    k->lines += more * (k->lines - lines);
    k->whole += more * (k->whole - whole);
    for (int64_t b = 0; b < p->banks; b++)
      k->bank[b] += more * (k->bank[b] - was[b]);
    k->last += more * (period * stride * p->bits / p->line_bits);
    at += more * period;
  }
  for (; at < n; at++)
    meet(k, i + 1, some, base + at * stride);
}

/* The least digit of part i above `digit` at which other grids begin or end; -1: there is none. */
static int64_t next_edge(const count *k, int i, uint64_t some, int64_t digit) {
  int64_t next = -1;
  for (uint64_t left = some; left; left &= left - 1) {
    const grid *g = &k->of->at[__builtin_ctzll(left)];
    const int64_t edge[2] = {g->lo[i], g->lo[i] + g->n[i]};
    for (int e = 0; e < 2; e++)
      if (edge[e] > digit && (next < 0 || edge[e] < next)) next = edge[e];
  }
  return next;
}

/* The elements of some grids, from part i on. */
static void meet(count *k, int i, uint64_t some, int64_t base) {
  int64_t lo, len;
  if (!(some & (some - 1)) && side_by_side(k, __builtin_ctzll(some), i, &lo, &len)) {
    add_run(k, base + lo, len);
    return;
  }
  for (int64_t digit = next_edge(k, i, some, -1), next; digit >= 0; digit = next) {
    uint64_t here = 0;
    next = next_edge(k, i, some, digit);
    for (uint64_t left = some; left; left &= left - 1) {
      const grid *g = &k->of->at[__builtin_ctzll(left)];
      if (g->lo[i] <= digit && digit < g->lo[i] + g->n[i]) here |= left & -left;
    }
    if (!here) continue;
    if (i == k->p->n_parts - 1)
      add_run(k, base + digit, next - digit);
    else
      meet_alike(k, i, here, base + digit * k->p->part[i].stride, next - digit);
  }
}

/* Room for the banks' figures, and for what they were at each part. */
static bool make_room(const tf_places *p, tf_line_set *s) {
  const int64_t n = (p->n_parts + 1) * p->banks;
  while (s->n_bank < n) {
    if (!TF_GROW(s->bank, s->n_bank)) {
      s->starved = true;
      return false;
    }
    s->n_bank++;
  }
  memset(s->bank, 0, (size_t)p->banks * sizeof *s->bank);
  return true;
}

bool tf_touched_box(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                    tf_line_set *s, tf_touched *t) {
  grids of;
  *t = (tf_touched){0, 0};
  if (!grids_of(p, at, c, &of)) return false;
  if (!of.n || !make_room(p, s)) return true;
  count k = {.p = p, .of = &of, .s = s, .shift = shift, .last = -1, .bank = s->bank};
  meet(&k, 0, of.n == MOST_GRIDS ? ~UINT64_C(0) : (UINT64_C(1) << of.n) - 1, 0);
  int64_t most = 0;
  for (int64_t b = 0; b < p->banks; b++)
    most = k.bank[b] > most ? k.bank[b] : most;
  *t = (tf_touched){k.lines, tf_ceil_div(p->banks == 1 ? k.lines : k.whole + most, p->ports)};
  return true;
}
