/* Sums of lines over the settings of loops.
 *
 * Along a rank that no place crosses (it neither wraps round its room nor begins amid a part that a
 * layout cuts off), an element's address is its own plus that of the place: what counts of the
 * place is its address modulo a line, as whole lines turn banks round alike.  Where places begin
 * amid such parts, the coordinate modulo the part counts, too; where they wrap, the coordinate
 * modulo the room does.  The places are gathered by these figures, loop by loop. */
#include "model/layout/sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* Most kinds of places, settings that are looked at, and rows of lines. */
enum { FEW_KINDS = 1 << 6, MOST_KINDS = 1 << 14, MOST_STEPS = 1 << 22 };
#define MOST_RUNS (INT64_C(1) << 26)

/* Places that touch alike: an address modulo a line, coordinates along ranks that are crossed (0
 * along others): in the part that a layout cuts off, or in the room. */
typedef struct {
  int64_t shift, at[TF_PLACE_RANKS], n; /* n: how many there are; 0: the row is free */
} kind;

/* A table by hash, at most half full. */
typedef struct {
  kind *row;
  int room, n;
} kinds;

typedef enum { PLAIN, CUT, ROUND } crossing;

typedef struct {
  const tf_places *p;
  crossing way[TF_PLACE_RANKS];
} ways;

static int64_t floor_mod(int64_t a, int64_t by) { return a % by < 0 ? a % by + by : a % by; }

static bool add_kind(kinds *k, const kind *v, int n_ranks);

/* Twice the room. */
static bool widen(kinds *k, int n_ranks) {
  kinds wide = {calloc(2 * (size_t)k->room, sizeof *wide.row), 2 * k->room, 0};
  bool ok = wide.row != NULL;
  for (int i = 0; i < k->room && ok; i++)
    if (k->row[i].n) ok = add_kind(&wide, &k->row[i], n_ranks);
  if (!ok) {
    free(wide.row);
    return false;
  }
  free(k->row);
  *k = wide;
  return true;
}

/* Adds to what is alike; false: there are too many kinds, or of one. */
static bool add_kind(kinds *k, const kind *v, int n_ranks) {
  uint64_t h = (uint64_t)v->shift * UINT64_C(0x9E3779B97F4A7C15);
  for (int r = 0; r < n_ranks; r++)
    h = (h ^ (uint64_t)v->at[r]) * UINT64_C(0x100000001B3);
  h ^= h >> 29;
  for (;; h++) {
    kind *row = &k->row[h % (uint64_t)k->room];
    if (!row->n) {
      *row = *v;
      return 2 * ++k->n <= k->room || (k->n <= MOST_KINDS && widen(k, n_ranks));
    }
    if (row->shift == v->shift && !memcmp(row->at, v->at, (size_t)n_ranks * sizeof v->at[0]))
      return tf_add(row->n, v->n, &row->n);
  }
}

/* Bits of address from coordinate 0 along a rank to y, where a part begins. */
static int64_t bits_at(const tf_places *p, int rank, int64_t y) {
  int64_t at = 0;
  for (int i = 0; i < p->n_parts; i++)
    if (p->part[i].rank == rank && !p->part[i].mod) at += p->part[i].stride * (y / p->part[i].div);
  return at * p->bits;
}

/* How rank r is crossed; *first: the coordinate of the place where all loops stand at 0, in the
 * room. */
static crossing crosses(const tf_places *p, int r, int64_t at, int64_t span,
                        const tf_place_loop *loops, int n, int64_t *first) {
  int64_t low = floor_mod(at, p->room[r]), high = span;
  bool parts = false;
  *first = low;
  for (int i = 0; i < n; i++) {
    const int64_t by = loops[i].by[r] % p->room[r], last = loops[i].from + loops[i].n - 1;
    if (!by || last <= 0) continue;
    if (by < 0)
      low += by * last, high -= by * last;
    else
      high += by * last;
    parts |= by % p->cut[r] != 0;
  }
  parts |= floor_mod(at, p->room[r]) % p->cut[r] != 0;
  if (floor_mod(low, p->room[r]) + high > p->room[r]) return ROUND;
  return parts ? CUT : PLAIN;
}

static int64_t span_of(const tf_elements *c, int r, int n_ranks) {
  int64_t most = 0;
  for (int i = 0; i < c->n_points; i++)
    most = c->points[i * n_ranks + r] > most ? c->points[i * n_ranks + r] : most;
  return c->n_points ? most + 1 : c->len[r];
}

/* Bits of address by which a setting of the loop moves the set, modulo a line: along ranks that are
 * not crossed. */
static int64_t moved_by(const ways *w, const tf_place_loop *l) {
  int64_t bits = 0;
  for (int r = 0; r < w->p->n_ranks; r++) {
    const int64_t by = l->by[r] % w->p->room[r];
    if (w->way[r] == PLAIN)
      bits += (by < 0 ? -1 : 1) * (bits_at(w->p, r, by < 0 ? -by : by) % w->p->line_bits);
  }
  return floor_mod(bits, w->p->line_bits);
}

static int64_t own_move(const ways *w, const tf_place_loop *l, int r) {
  return l->by[r] % w->p->room[r];
}

/* Bits of address, modulo a line, of so many parts that a layout cuts off rank r. */
static int64_t parts_bits(const ways *w, int r, int64_t parts) {
  const int64_t line = w->p->line_bits, one = bits_at(w->p, r, w->p->cut[r]) % line;
  return floor_mod(parts, line) * one % line;
}

/* Settings of a loop after which the kinds repeat. */
static int64_t period(const ways *w, const tf_place_loop *l, int64_t bits) {
  const int64_t line = w->p->line_bits;
  int64_t all = 1;
  for (int r = 0; r < w->p->n_ranks; r++) {
    const int64_t in = w->way[r] == ROUND ? w->p->room[r] : w->way[r] == CUT ? w->p->cut[r] : 1;
    const int64_t own = in / tf_gcd(floor_mod(own_move(w, l, r), in), in);
    all = tf_sat_mul(all / tf_gcd(all, own), own);
  }
  if (all > l->n) return all; /* none repeats */
  bits = bits * (all % line) % line;
  for (int r = 0; r < w->p->n_ranks; r++)
    if (w->way[r] == CUT) bits += parts_bits(w, r, own_move(w, l, r) * all / w->p->cut[r]);
  return tf_sat_mul(all, line / tf_gcd(bits % line, line));
}

static void move(const ways *w, const tf_place_loop *l, int64_t bits, int64_t i, kind *k) {
  const int64_t line = w->p->line_bits;
  k->shift = (k->shift + bits * (i % line)) % line;
  for (int r = 0; r < w->p->n_ranks; r++) {
    if (w->way[r] == PLAIN) continue;
    const int64_t in = w->way[r] == ROUND ? w->p->room[r] : w->p->cut[r],
                  to = k->at[r] + own_move(w, l, r) * i;
    k->at[r] = floor_mod(to, in);
    if (w->way[r] == CUT) k->shift = (k->shift + parts_bits(w, r, (to - k->at[r]) / in)) % line;
  }
}

/* The kinds of all places of `from`, each at all settings of the loop. */
static bool spread(const ways *w, const tf_place_loop *l, const kinds *from, kinds *to) {
  const int64_t bits = moved_by(w, l), all = period(w, l, bits), looked = l->n < all ? l->n : all;
  bool ok = looked <= MOST_STEPS / (from->n ? from->n : 1);
  memset(to->row, 0, (size_t)to->room * sizeof *to->row);
  to->n = 0;
  for (int i = 0; i < from->room && ok; i++) {
    if (!from->row[i].n) continue;
    for (int64_t k = 0; k < looked && ok; k++) {
      kind v = from->row[i];
      const int64_t times = l->n / all + (k < l->n % all);
      move(w, l, bits, l->from + k, &v);
      ok = tf_mul(v.n, times, &v.n) && add_kind(to, &v, w->p->n_ranks);
    }
  }
  return ok;
}

static bool add_up(const tf_places *p, const tf_elements *c, const kinds *k, tf_line_set *s,
                   tf_touched *sum) {
  bool ok = true;
  for (int i = 0; i < k->room && ok; i++) {
    const kind *v = &k->row[i];
    int64_t lines, cycles;
    if (!v->n) continue;
    const tf_touched t = tf_touched_by(p, v->at, v->shift, c, s);
    ok = !s->starved && s->work < MOST_RUNS && tf_mul(t.lines, v->n, &lines) &&
         tf_mul(t.cycles, v->n, &cycles) && tf_add(sum->lines, lines, &sum->lines) &&
         tf_add(sum->cycles, cycles, &sum->cycles);
  }
  return ok;
}

/* The figures of the place where all loops stand at 0. */
static kind start(ways *w, const int64_t *at, const tf_elements *c, const tf_place_loop *loops,
                  int n) {
  kind k = {.n = 1};
  for (int r = 0; r < w->p->n_ranks; r++) {
    int64_t first;
    w->way[r] = crosses(w->p, r, at[r], span_of(c, r, w->p->n_ranks), loops, n, &first);
    k.at[r] = w->way[r] == ROUND ? first : w->way[r] == CUT ? first % w->p->cut[r] : 0;
    if (w->way[r] != ROUND)
      k.shift = (k.shift + bits_at(w->p, r, first - k.at[r]) % w->p->line_bits) % w->p->line_bits;
  }
  return k;
}

bool tf_touched_sum(const tf_places *p, const int64_t *at, const tf_elements *c,
                    const tf_place_loop *loops, int n_loops, tf_line_set *s, tf_touched *sum) {
  ways w = {.p = p};
  kinds a = {calloc(FEW_KINDS, sizeof *a.row), FEW_KINDS, 0},
        b = {calloc(FEW_KINDS, sizeof *b.row), FEW_KINDS, 0};
  bool ok = a.row && b.row;
  *sum = (tf_touched){0, 0};
  s->work = 0;
  s->starved |= !ok;
  if (ok) {
    const kind first = start(&w, at, c, loops, n_loops);
    ok = add_kind(&a, &first, p->n_ranks);
  }
  for (int i = 0; i < n_loops && ok; i++) {
    ok = spread(&w, &loops[i], &a, &b);
    const kinds swap = a;
    a = b;
    b = swap;
  }
  ok = ok && add_up(p, c, &a, s, sum);
  free(a.row);
  free(b.row);
  return ok;
}
