/* Addresses, lines and banks of elements (docs/SEMANTICS.md section 9). */
#include "model/layout/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "model/layout/boxes.h"

void tf_line_set_free(tf_line_set *s) {
  free(s->runs);
  free(s->bank);
  *s = (tf_line_set){.n = 0};
}

/* ---- layouts --------------------------------------------------------------------------------- */

static const tf_laid *laid_of(const tf_memory *mem, const tf_tensor *z) {
  for (int i = 0; i < mem->laid.n; i++)
    if (!strcmp(mem->laid.list[i].tensor.name, z->known_as ? z->known_as : z->name))
      return &mem->laid.list[i];
  return NULL;
}

static void list_parts(const tf_laid *l, tf_places *p) {
  p->n_parts = l ? l->n : p->n_ranks;
  for (int i = 0; i < p->n_parts; i++) {
    if (!l) {
      p->part[i] = (tf_place_part){i, 1, 0, 0};
      continue;
    }
    const tf_laid_part *k = &l->parts[i];
    p->part[i] = (tf_place_part){.rank = k->rank,
                                 .div = k->part == TF_LAYOUT_DIV ? k->by : 1,
                                 .mod = k->part == TF_LAYOUT_MOD ? k->by : 0};
    if (k->part != TF_LAYOUT_WHOLE) p->cut[k->rank] = k->by;
  }
}

bool tf_places_make(const tf_memory *mem, const tf_tensor *z, const int64_t *room, tf_places *p) {
  int64_t all = 1, bits;
  *p = (tf_places){.bits = z->word_bits,
                   .line_bits = mem->line * mem->word_bits,
                   .banks = mem->banks,
                   .ports = mem->bank_ports};
  p->n_ranks = z->rank ? z->rank : 1; /* a scalar is a row of one */
  p->room[0] = p->cut[0] = 1;
  for (int r = 0; r < z->rank; r++) {
    p->room[r] = room[r] > 0 ? room[r] : 1;
    p->cut[r] = 1;
  }
  list_parts(laid_of(mem, z), p);
  for (int i = p->n_parts - 1; i >= 0; i--) {
    tf_place_part *k = &p->part[i];
    const int64_t len = p->room[k->rank];
    k->stride = all;
    if (!tf_mul(all, k->mod && k->mod < len ? k->mod : k->mod ? len : (len - 1) / k->div + 1, &all))
      return false;
  }
  return tf_mul(all, 2 * p->bits, &bits);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int64_t offset(const tf_places *p, int rank, int64_t y) {
  int64_t at = 0;
  for (int i = 0; i < p->n_parts; i++) {
    const tf_place_part *k = &p->part[i];
    if (k->rank != rank) continue;
    const int64_t digit = y / k->div;
    at += k->stride * (k->mod ? digit % k->mod : digit);
  }
  return at;
}

static void add_run(const tf_places *p, int64_t element, int64_t n, int64_t shift, tf_line_set *s) {
  const int64_t first = element * p->bits + shift, last = first + n * p->bits - 1;
  const tf_line_run run = {first / p->line_bits, last / p->line_bits};
  s->work++;
  if (s->n && s->runs[s->n - 1].hi == run.lo) {
    s->runs[s->n - 1].hi = run.hi;
    return;
  }
  if (!TF_GROW(s->runs, s->n)) {
    s->starved = true;
    return;
  }
  s->runs[s->n++] = run;
}

/* Elements from y on of the rank that is the fastest, which lie side by side. */
static int64_t side_by_side(const tf_places *p, int64_t y) {
  const tf_place_part *k = &p->part[p->n_parts - 1];
  if (k->div > 1) return 1;
  return k->mod ? k->mod - y % k->mod : INT64_MAX;
}

/* n elements along the rank that is the fastest, from coordinate y of its room on; the others have
 * `base`. */
static void add_row(const tf_places *p, int64_t base, int64_t y, int64_t n, int64_t shift,
                    tf_line_set *s) {
  const int q = p->part[p->n_parts - 1].rank;
  y %= p->room[q];
  while (n > 0 && !s->starved) {
    const int64_t whole = side_by_side(p, y), left = p->room[q] - y;
    int64_t k = n < whole ? n : whole;
    k = k < left ? k : left;
    add_run(p, base + offset(p, q, y), k, shift, s);
    n -= k;
    y = (y + k) % p->room[q];
  }
}

static void add_box(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                    tf_line_set *s) {
  const int q = p->part[p->n_parts - 1].rank;
  int64_t e[TF_PLACE_RANKS] = {0};
  for (bool more = true; more && !s->starved;) {
    int64_t base = 0;
    bool in_gap = c->lacks;
    for (int r = 0; r < p->n_ranks; r++) {
      if (r == q) continue;
      base += offset(p, r, (at[r] + e[r]) % p->room[r]);
      in_gap = in_gap && e[r] >= c->gap_lo[r] && e[r] < c->gap_lo[r] + c->gap_len[r];
    }
    const int64_t before = in_gap ? c->gap_lo[q] : c->len[q],
                  after = in_gap ? c->gap_lo[q] + c->gap_len[q] : c->len[q];
    add_row(p, base, at[q], before, shift, s);
    add_row(p, base, at[q] + after, c->len[q] - after, shift, s);
    more = false;
    for (int r = p->n_ranks - 1; r >= 0 && !more; r--) {
      if (r == q) continue;
      more = ++e[r] < c->len[r];
      if (!more) e[r] = 0;
    }
  }
}

static void add_points(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                       tf_line_set *s) {
  for (int i = 0; i < c->n_points && !s->starved; i++) {
    int64_t base = 0;
    for (int r = 0; r < p->n_ranks; r++)
      base += offset(p, r, (at[r] + c->points[i * p->n_ranks + r]) % p->room[r]);
    add_run(p, base, 1, shift, s);
  }
}

static int by_line(const void *a, const void *b) {
  const tf_line_run *x = a, *y = b;
  return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Sorted, none twice. */
static void merge(tf_line_set *s) {
  bool sorted = true;
  int64_t n = 0;
  for (int64_t i = 1; i < s->n; i++)
    sorted = sorted && s->runs[i - 1].lo <= s->runs[i].lo;
  if (!sorted) qsort(s->runs, (size_t)s->n, sizeof *s->runs, by_line);
  for (int64_t i = 0; i < s->n; i++) {
    tf_line_run *last = &s->runs[n ? n - 1 : 0];
    if (!n || s->runs[i].lo > last->hi)
      s->runs[n++] = s->runs[i];
    else if (s->runs[i].hi > last->hi)
      last->hi = s->runs[i].hi;
  }
  s->n = n;
}

/* Most lines of one bank. */
static int64_t busiest_bank(const tf_places *p, tf_line_set *s, int64_t lines) {
  int64_t full = 0, most = 0;
  if (p->banks == 1) return lines;
  while (s->n_bank < p->banks) {
    if (!TF_GROW(s->bank, s->n_bank)) {
      s->starved = true;
      return 0;
    }
    s->n_bank++;
  }
  memset(s->bank, 0, (size_t)p->banks * sizeof *s->bank);
  for (int64_t i = 0; i < s->n; i++) {
    const int64_t n = s->runs[i].hi - s->runs[i].lo + 1;
    full += n / p->banks;
    for (int64_t k = 0; k < n % p->banks; k++)
      s->bank[(s->runs[i].lo + k) % p->banks]++;
  }
  for (int64_t b = 0; b < p->banks; b++)
    most = s->bank[b] > most ? s->bank[b] : most;
  return full + most;
}

tf_touched tf_touched_by(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                         tf_line_set *s) {
  tf_touched t = {0, 0};
  if (!c->n_points && tf_touched_box(p, at, shift, c, s, &t)) return t;
  s->n = 0;
  if (c->n_points)
    add_points(p, at, shift, c, s);
  else
    add_box(p, at, shift, c, s);
  merge(s);
  for (int64_t i = 0; i < s->n; i++)
    t.lines += s->runs[i].hi - s->runs[i].lo + 1;
  t.cycles = tf_ceil_div(busiest_bank(p, s, t.lines), p->ports);
  return t;
}
