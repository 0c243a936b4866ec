/* The choices of one Tile: spatial loops, trip counts, loop order. */
#include <string.h>

#include "search/exact/exact.h"

static int divisors(int32_t n, int32_t list[TF_X_DIVISORS]) {
  int low = 0, high = 0;
  int32_t large[TF_X_DIVISORS];
  for (int32_t d = 1; (int64_t)d * d <= n; d++)
    if (n % d == 0) {
      list[low++] = d;
      if (d != n / d) large[high++] = n / d;
    }
  while (high > 0)
    list[low++] = large[--high];
  return low;
}

/* ---- filling a mesh -------------------------------------------------------------------------- */
enum { AXIS_MOST = 1024 };

/* The largest product up to `room` of one divisor of each length, at most two of them above 1. */
static int64_t fill_axis(int64_t room, const int32_t *len, int n) {
  int64_t best = 1;
  for (int i = 0; i < n; i++) {
    int32_t a[TF_X_DIVISORS], b[TF_X_DIVISORS];
    int na = divisors(len[i], a);
    for (int j = i; j < n; j++) {
      int nb = j == i ? 1 : divisors(len[j], b);
      b[0] = 1;
      for (int x = 0, y = nb - 1; x < na && a[x] <= room;
           x++) { /* the partner shrinks as a[x] grows */
        while (y > 0 && (int64_t)a[x] * b[y] > room)
          y--;
        if ((int64_t)a[x] * b[y] > best) best = (int64_t)a[x] * b[y];
      }
    }
  }
  return best;
}

double tf_x_fill(const int64_t mesh[2], const int32_t *len, int n) {
  double whole = 1, fill = (double)fill_axis(mesh[0], len, n) * (double)fill_axis(mesh[1], len, n);
  for (int i = 0; i < n; i++)
    whole *= len[i];
  return fill < whole ? fill : whole;
}

/* ---- spatial loops --------------------------------------------------------------------------- */
typedef struct {
  const tf_x_tile *tile;
  const int32_t *len;
  const tf_x_visitor *v;
  tf_x_spread s;
  int32_t left[TF_X_DIMS], t[TF_X_DIMS], inside[TF_X_DIMS];
  int32_t div[TF_X_DIMS][TF_X_DIVISORS];
  int n_div[TF_X_DIMS];
} chooser;

/* Counts depend only on the product of a dim's two spatial trip counts, so one of its layouts on
 * the two axes is enough: the one with most on X, first dims first; of whole dims where none may
 * lie on both. */
static bool is_canonical_layout(const chooser *c) {
  const int64_t *mesh = c->tile->mesh;
  int64_t used = 1;
  int on_x = 0;
  for (int i = 0; i < c->tile->n_dims; i++) {
    used *= c->s.trips[0][i];
    on_x += c->s.trips[0][i] > 1;
  }
  for (int i = 0; i < c->tile->n_dims; i++) {
    int32_t y = c->s.trips[1][i];
    if (y == 1) continue;
    bool room = c->tile->spatial[0][i] >= 0 && (c->s.trips[0][i] > 1 || on_x < 2);
    for (int32_t p = c->tile->one_side ? y : 2; room && p <= y;
         p++) /* part of it would also fit on X */
      if (y % p == 0 && used * p <= mesh[0]) return false;
  }
  return true;
}

static bool orders(chooser *c) {
  bool turns[TF_X_GROUPS] = {false};
  int list[TF_X_GROUPS], n = 0;
  for (int i = 0; i < c->tile->n_dims; i++)
    if (c->tile->group[i] >= 0 && c->t[i] > 1) turns[c->tile->group[i]] = true;
  for (int g = 0; g < c->tile->n_groups; g++)
    if (turns[g]) list[n++] = g;
  if (c->tile->last) n = 0;
  for (;;) { /* permutations in ascending order */
    if (!c->v->take(c->v->ctx, &c->s, c->t, list, n)) return false;
    int i = n - 2, j = n - 1;
    while (i >= 0 && list[i] > list[i + 1])
      i--;
    if (i < 0) return true;
    while (list[j] < list[i])
      j--;
    int swap = list[i];
    list[i] = list[j], list[j] = swap;
    for (int a = i + 1, b = n - 1; a < b; a++, b--)
      swap = list[a], list[a] = list[b], list[b] = swap;
  }
}

/* Enumerates the lengths below the Tile, shortest first: where one is too long for the memory
 * below, longer ones are too long as well. */
static bool insides(chooser *c, int i) {
  if (i == c->tile->n_dims) return orders(c);
  if (c->tile->last) {
    c->t[i] = c->left[i];
    c->inside[i] = 1;
    return insides(c, i + 1);
  }
  int32_t div[TF_X_DIVISORS];
  int n = divisors(c->left[i], div);
  for (int k = 0; k < n; k++) {
    c->inside[i] = div[k];
    for (int j = i + 1; j < c->tile->n_dims; j++)
      c->inside[j] = 1;
    if (!c->v->holds(c->v->ctx, c->inside)) break;
    c->t[i] = c->left[i] / div[k];
    if (!insides(c, i + 1)) return false;
  }
  return true;
}

static bool spread_axis(chooser *c, int axis, int from, int used_dims, int64_t room);

static bool spread_done(chooser *c, int axis) {
  if (axis == 0) return spread_axis(c, 1, 0, 0, c->tile->mesh[1]);
  if (!is_canonical_layout(c) || !c->v->spread(c->v->ctx, &c->s)) return true;
  return insides(c, 0);
}

static bool spread_axis(chooser *c, int axis, int from, int used_dims, int64_t room) {
  if (!spread_done(c, axis)) return false;
  if (used_dims == 2) return true;
  for (int i = from; i < c->tile->n_dims; i++)
    for (int k = 1; k < c->n_div[i] && c->tile->spatial[axis][i] >= 0; k++) {
      if (axis == 1 && c->tile->one_side && c->s.trips[0][i] > 1) break;
      int32_t d = c->div[i][k];
      if (d > room) break;
      if (c->left[i] % d) continue;
      c->s.trips[axis][i] = d;
      c->left[i] /= d;
      bool on = spread_axis(c, axis, i + 1, used_dims + 1, room / d);
      c->left[i] *= d;
      c->s.trips[axis][i] = 1;
      if (!on) return false;
    }
  return true;
}

bool tf_x_choices(const tf_x_tile *tile, const int32_t *len, const tf_x_visitor *v) {
  chooser c = {.tile = tile, .len = len, .v = v};
  for (int i = 0; i < tile->n_dims; i++) {
    c.s.trips[0][i] = c.s.trips[1][i] = 1;
    c.left[i] = len[i];
    c.n_div[i] = divisors(len[i], c.div[i]);
  }
  return spread_axis(&c, 0, 0, 0, tile->mesh[0]);
}

/* ---- writing trip counts --------------------------------------------------------------------- */
static int place_after(const tf_x_tile *tile, int from, int group) {
  while (from < tile->n_places && tile->place[from] != group)
    from++;
  return from;
}

void tf_x_write(const tf_x_tile *tile, const tf_x_spread *s, const int32_t *t, const int *order,
                int n_order, int64_t *trips) {
  int at = 0;
  for (int i = 0; i < tile->n_loops; i++)
    trips[tile->first_loop + i] = 1;
  for (int i = 0; i < tile->n_dims; i++) {
    for (int a = 0; a < 2; a++)
      if (s->trips[a][i] > 1) trips[tile->spatial[a][i]] = s->trips[a][i];
    if (tile->outer[i] >= 0) trips[tile->outer[i]] = t[i];
  }
  for (int k = 0; k < n_order; k++, at++) {
    at = place_after(tile, at, order[k]);
    for (int i = 0; i < tile->n_dims; i++)
      if (tile->group[i] == order[k]) trips[tile->temporal[at][i]] = t[i];
  }
}
