/* Kinds of settings of one dim, for an instance and its neighbours: see beside.h. */
#include <string.h>

#include "model/cost/general/beside.h"

/* Where an instance stands after some digits: all settings further in are whole; the extent may end
 * there; it sits out. */
typedef enum { WHOLE, ENDS, RESTS } standing;

typedef struct {
  const tf_beside_dim *d;
  const tf_beside_moments *x;
  const int64_t *at; /* [TF_ABOUT] */
  int64_t digit[TF_MAX_PATH];
  tf_beside_kinds *out;
} maker;

/* Whether the instances' places relative to each other follow from each digit of the loop: one that
 * sits out keeps its content while the others move on. */
static bool moves_apart(const maker *k, int pos) {
  bool apart = k->d->alone;
  for (int i = 1; i < TF_ABOUT && k->d->ranked; i++)
    apart |= k->x->rests >> i & 1 && pos >= k->x->since[i];
  return apart;
}

/* The range of instance i with the settings of these digits. */
static tf_ival range_at(const maker *k, int i, int64_t place) {
  const int64_t lo = place + k->at[i], left = k->d->extent - lo;
  return (tf_ival){lo, left < k->d->tile ? left : k->d->tile};
}

/* What instance i holds: that of the last moment at which it worked and the loop at since[i] stood
 * lower, those outside of it as now. */
static tf_ival held_at(const maker *k, int i) {
  const tf_beside_dim *d = k->d;
  int64_t place = 0;
  for (int g = 0; g < d->n; g++) {
    const int64_t last = (d->extent - 1 - place - k->at[i]) / d->step[g],
                  top = last < d->trip[g] - 1 ? last : d->trip[g] - 1;
    int64_t digit = d->pos[g] > k->x->since[i] ? top : k->digit[g];
    if (d->pos[g] == k->x->since[i]) digit = top < digit - 1 ? top : digit - 1;
    place += digit * d->step[g];
  }
  return range_at(k, i, place);
}

static bool add_kind(maker *k, const standing *now, int64_t n, int64_t place) {
  if (k->out->n == TF_BESIDE_KINDS) return false;
  tf_beside_kind *to = &k->out->at[k->out->n++];
  *to = (tf_beside_kind){.n = n};
  for (int i = 0; i < TF_ABOUT; i++) {
    if (!(k->x->there >> i & 1)) continue;
    if (now[i] != RESTS) to->now[i] = range_at(k, i, place);
    if (k->x->finds) to->held[i] = held_at(k, i);
  }
  return true;
}

/* Where instance i stands after a digit, of which `last` is the last one at which it works.  False:
 * it sits out where it should not, or the other way round. */
static bool stand(const maker *k, int i, int pos, int64_t digit, int64_t last, standing *s) {
  const bool rests = k->x->rests >> i & 1;
  if (*s == ENDS && digit != last) *s = digit < last ? WHOLE : RESTS;
  if (*s == RESTS) return rests && pos >= k->x->since[i];
  return !(rests && pos == k->x->since[i]);
}

/* The first digit after `digit` that is of another kind. */
static int64_t next_kind(int64_t digit, int64_t end, const int64_t *last, const standing *s) {
  for (int i = 0; i < TF_ABOUT; i++)
    for (int more = 0; more < 2 && s[i] == ENDS; more++)
      if (last[i] + more > digit && last[i] + more < end) end = last[i] + more;
  return end;
}

static bool digits(maker *k, int g, const standing *now, int64_t n, int64_t place) {
  const tf_beside_dim *d = k->d;
  if (g == d->n) return add_kind(k, now, n, place);
  const int pos = d->pos[g];
  const bool first = pos > k->x->carry || k->x->zero >> pos & 1;
  int64_t last[TF_ABOUT], end = first ? 1 : d->trip[g];
  for (int i = 0; i < TF_ABOUT; i++)
    last[i] = (d->extent - 1 - place - k->at[i]) / d->step[g];
  if (now[TF_SELF] == ENDS && last[TF_SELF] + 1 < end) end = last[TF_SELF] + 1;
  const bool each = moves_apart(k, pos);
  for (int64_t v = pos == k->x->carry, next; v < end; v = next) {
    standing s[TF_ABOUT];
    bool ok = true;
    memcpy(s, now, sizeof s);
    next = each ? v + 1 : next_kind(v, end, last, now);
    for (int i = 0; i < TF_ABOUT && ok; i++)
      if (k->x->there >> i & 1) ok = stand(k, i, pos, v, last[i], &s[i]);
    if (!ok) continue;
    k->digit[g] = v;
    if (!digits(k, g + 1, s, n * (next - v), place + v * d->step[g])) return false;
  }
  return true;
}

bool tf_beside_kinds_of(const tf_beside_dim *d, const tf_beside_moments *x,
                        const int64_t at[TF_ABOUT], tf_beside_kinds *out) {
  maker k = {.d = d, .x = x, .at = at, .out = out};
  standing now[TF_ABOUT];
  out->n = 0;
  for (int i = 0; i < TF_ABOUT; i++)
    now[i] = x->there >> i & 1 ? ENDS : WHOLE;
  return digits(&k, 0, now, 1, 0);
}
