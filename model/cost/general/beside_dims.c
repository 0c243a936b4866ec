/* Kinds of settings of one dim, for an instance and its neighbours: see beside.h. */
#include <string.h>

#include "model/cost/general/beside.h"

/* Where an instance stands after some digits: all settings further in are whole; its range may end
 * among them, at `end`; it sits out. */
typedef struct {
  enum { WHOLE, ENDS, RESTS } is;
  int64_t end;
} standing;

/* A dim, and where spatial loops place the instances along it. */
typedef struct {
  const tf_beside_dim *d;
  const tf_beside_place *at;
} track;

typedef struct {
  const tf_beside_dim *d;
  const tf_beside_moments *x;
  const tf_beside_left *left;
  track own;
  int64_t digit[TF_BESIDE_LOOPS];
  tf_beside_kinds *out;
} maker;

/* Whether the instances' places relative to each other follow from each digit of the loop: one that
 * sits out keeps its content while the others move on. */
static bool moves_apart(const maker *k, int pos) {
  bool apart = k->d->alone || k->x->each;
  for (int i = 1; i < k->x->n && k->d->ranked && !k->x->shares; i++)
    apart |= k->x->rests >> i & 1 && pos >= k->x->since[i];
  return apart;
}

/* The stage of loop g; of the node below all loops that of the last. */
static int stage_of(const tf_beside_dim *d, int g) {
  return g < 0 ? 0 : g < d->n ? d->loop[g].stage : d->n_stages - 1;
}

/* The end of what loop g splits in instance i, if the loops before it choose a place and the one
 * before it splits a range up to `end`. */
static int64_t end_before(const track *t, int i, int g, int64_t place, int64_t end) {
  for (int s = stage_of(t->d, g - 1); s < stage_of(t->d, g); s++) {
    const int64_t tile = place + t->at->upto[s][i] + t->d->tile[s];
    end = tile < end ? tile : end;
  }
  return end;
}

/* The last digit of loop g at which instance i works. */
static int64_t last_digit(const track *t, int i, int g, int64_t place, int64_t end) {
  const int64_t left = end - 1 - place - t->at->all[i], step = t->d->loop[g].step;
  return left < 0 ? -1 : left / step;
}

/* The range of instance i below all loops. */
static tf_ival range_at(const track *t, int i, int64_t place, int64_t end) {
  const int64_t lo = place + t->at->all[i], tile = t->d->tile[t->d->n_stages - 1];
  return (tf_ival){lo, end - lo < tile ? end - lo : tile};
}

/* The range of instance i at the last moment at which it worked and the loop at `since` stood
 * lower, those outside of it at these digits, but for those from `shared` on. */
static tf_ival held_at(const track *t, int i, const int64_t *digits, int shared, int since) {
  int64_t place = 0, end = t->d->extent;
  for (int g = 0; g < t->d->n; g++) {
    const struct tf_beside_loop *l = &t->d->loop[g];
    end = end_before(t, i, g, place, end);
    const int64_t last = last_digit(t, i, g, place, end),
                  top = last < l->trip - 1 ? last : l->trip - 1;
    int64_t digit = g >= shared || l->pos > since ? top : digits[g];
    if (g < shared && l->pos == since) digit = top < digit - 1 ? top : digit - 1;
    place += digit * l->step;
  }
  return range_at(t, i, place, end_before(t, i, t->d->n, place, end));
}

tf_ival tf_beside_last(const tf_beside_left *left, int who) {
  const track t = {left->d, left->at};
  return held_at(&t, who, NULL, 0, -1);
}

/* What instance i holds, of the dim itself or of the one beside it. */
static tf_ival held_now(const maker *k, int i) {
  const tf_beside_left *l = k->left;
  if (!l) return held_at(&k->own, i, k->digit, k->d->n, k->x->since[i]);
  const track t = {l->d, l->at};
  return held_at(&t, i, k->digit, l->shared, l->since);
}

static bool add_kind(maker *k, const standing *now, int64_t n, int64_t place) {
  if (k->out->n == TF_BESIDE_KINDS) return false;
  tf_ival *room = k->out->room + (size_t)k->out->n * 2 * (size_t)k->x->n;
  tf_beside_kind *to = &k->out->at[k->out->n++];
  *to = (tf_beside_kind){n, room, room + k->x->n};
  memset(room, 0, 2 * (size_t)k->x->n * sizeof *room);
  for (int i = 0; i < k->x->n; i++) {
    if (!(k->x->there >> i & 1) || (k->x->shares && now[i].is == RESTS)) continue;
    if (now[i].is != RESTS) to->now[i] = range_at(&k->own, i, place, now[i].end);
    if (k->x->finds) to->held[i] = held_now(k, i);
  }
  return true;
}

/* Where instance i stands after a digit, of which `last` is the last one at which it works.  False:
 * it sits out where it should not, or the other way round. */
static bool stand(const maker *k, int i, int pos, int64_t digit, int64_t last, standing *s) {
  const bool rests = k->x->rests >> i & 1;
  if (s->is == ENDS && digit != last) s->is = digit < last ? WHOLE : RESTS;
  if (k->x->shares) return true;
  if (s->is == RESTS) return rests && pos >= k->x->since[i];
  return !(rests && pos == k->x->since[i]);
}

/* The first digit after `digit` that is of another kind. */
static int64_t next_kind(const maker *k, int64_t digit, int64_t end, const int64_t *last,
                         const standing *s) {
  for (int i = 0; i < k->x->n; i++)
    for (int more = 0; more < 2 && s[i].is == ENDS; more++)
      if (last[i] + more > digit && last[i] + more < end) end = last[i] + more;
  return end;
}

/* Where the instances stand before loop g. */
static void stand_before(const maker *k, int g, int64_t place, const standing *now, standing *s) {
  memcpy(s, now, (size_t)k->x->n * sizeof *s);
  for (int i = 0; i < k->x->n && stage_of(k->d, g) > stage_of(k->d, g - 1); i++) {
    if (s[i].is == RESTS || !(k->x->there >> i & 1)) continue;
    s[i] = (standing){ENDS, end_before(&k->own, i, g, place, s[i].end)};
  }
}

/* The same by the ends of what the other slice has left; *out: bits of instances that sit out the
 * digit there. */
static int64_t next_left(const maker *k, int g, int64_t place, int64_t digit, int64_t end,
                         uint64_t *out) {
  const tf_beside_left *l = k->left;
  if (!l || g >= l->shared) return end;
  const track t = {l->d, l->at};
  for (int i = 0; i < k->x->n; i++) {
    if (!(k->x->there >> i & 1)) continue;
    const int64_t last = last_digit(&t, i, g, place, l->d->extent);
    *out |= (uint64_t)(digit > last) << i;
    for (int more = 0; more < 2; more++)
      if (last + more > digit && last + more < end) end = last + more;
  }
  return end;
}

/* Bits of the instances that work. */
static uint64_t working(const maker *k, const standing *s) {
  uint64_t all = k->x->there;
  for (int i = 0; i < k->x->n; i++)
    if (s[i].is == RESTS) all &= ~(UINT64_C(1) << i);
  return all;
}

static bool digits(maker *k, int g, const standing *before, int64_t n, int64_t place) {
  const tf_beside_dim *d = k->d;
  standing now[TF_BESIDE_TOGETHER];
  stand_before(k, g, place, before, now);
  if (g == d->n) return add_kind(k, now, n, place);
  const int pos = d->loop[g].pos;
  const bool first = pos > k->x->stepping || k->x->zero >> pos & 1, each = moves_apart(k, pos);
  int64_t last[TF_BESIDE_TOGETHER], end = first ? 1 : d->loop[g].trip;
  for (int i = 0; i < k->x->n; i++)
    last[i] = k->x->there >> i & 1 ? last_digit(&k->own, i, g, place, now[i].end) : -1;
  if (!k->x->shares && now[TF_SELF].is == ENDS && last[TF_SELF] + 1 < end) end = last[TF_SELF] + 1;
  for (int64_t v = pos == k->x->stepping, next; v < end; v = next) {
    standing s[TF_BESIDE_TOGETHER];
    bool ok = true;
    uint64_t out = 0;
    memcpy(s, now, (size_t)k->x->n * sizeof *s);
    next = next_left(k, g, place, v, each ? v + 1 : next_kind(k, v, end, last, now), &out);
    for (int i = 0; i < k->x->n && ok; i++)
      if (k->x->there >> i & 1) ok = stand(k, i, pos, v, last[i], &s[i]);
    const uint64_t works = k->x->shares ? working(k, s) : ~UINT64_C(0);
    if (!works) break;
    if (out & works) return false;
    if (!ok) continue;
    k->digit[g] = v;
    if (!digits(k, g + 1, s, n * (next - v), place + v * d->loop[g].step)) return false;
  }
  return true;
}

bool tf_beside_kinds_of(const tf_beside_dim *d, const tf_beside_moments *x,
                        const tf_beside_place *at, const tf_beside_left *left,
                        tf_beside_kinds *out) {
  maker k = {.d = d, .x = x, .left = left, .own = {d, at}, .out = out};
  standing now[TF_BESIDE_TOGETHER];
  out->n = 0;
  for (int i = 0; i < x->n; i++)
    now[i] = (standing){x->there >> i & 1 ? ENDS : WHOLE, d->extent};
  return digits(&k, 0, now, 1, 0);
}
