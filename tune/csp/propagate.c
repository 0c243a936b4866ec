/* Constraint propagation: narrows the bounds of every variable, and removes values of sets that no
 * rule supports.  A rule is evaluated again whenever a variable that it names becomes narrower. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tune/csp/csp.h"

/* ---- domains --------------------------------------------------------------------------------- */
bool csp_state_new(const csp *s, tf_arena *a, csp_state *st) {
  st->left = TF_ARRAY(a, csp_left, (size_t)s->n_vars + 1);
  st->bits = TF_ARRAY(a, uint64_t, (size_t)s->n_words + 1);
  if (!st->left || !st->bits) return false;
  csp_state_whole(s, st);
  return true;
}

void csp_state_whole(const csp *s, csp_state *st) {
  memset(st->bits, 0, ((size_t)s->n_words + 1) * sizeof *st->bits);
  for (int v = 0; v < s->n_vars; v++) {
    const csp_var *x = &s->var[v];
    st->left[v] = (csp_left){x->lo, x->hi};
    for (int i = 0; i < x->n; i++)
      st->bits[x->word + i / 64] |= UINT64_C(1) << i % 64;
  }
}

void csp_state_copy(const csp *s, csp_state *to, const csp_state *from) {
  memcpy(to->left, from->left, (size_t)s->n_vars * sizeof *to->left);
  memcpy(to->bits, from->bits, (size_t)s->n_words * sizeof *to->bits);
}

static bool alive(const csp_var *x, const csp_state *st, int i) {
  return st->bits[x->word + i / 64] >> i % 64 & 1;
}

static void kill(const csp_var *x, csp_state *st, int i) {
  st->bits[x->word + i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The bounds of a set are its first and last value left. */
static bool tighten(const csp *s, csp_state *st, int v) {
  const csp_var *x = &s->var[v];
  int first = 0, last = x->n - 1;
  while (first < x->n && !alive(x, st, first))
    first++;
  while (last > first && !alive(x, st, last))
    last--;
  if (first >= x->n) return false;
  st->left[v] = (csp_left){x->set[first], x->set[last]};
  return true;
}

bool csp_narrow(const csp *s, csp_state *st, int v, int64_t lo, int64_t hi) {
  const csp_var *x = &s->var[v];
  csp_left *l = &st->left[v];
  assert(v >= 0 && v < s->n_vars &&
         l->lo <= l->hi); /* a state without a value left is not gone on with */
  if (lo <= l->lo && hi >= l->hi) return true;
  if (lo > l->lo) l->lo = lo;
  if (hi < l->hi) l->hi = hi;
  if (l->lo > l->hi) return false;
  if (x->n == 0) return true;
  for (int i = 0; i < x->n; i++)
    if (x->set[i] < l->lo || x->set[i] > l->hi) kill(x, st, i);
  return tighten(s, st, v);
}

static int index_of_value(const csp_var *x, int64_t value) {
  for (int i = 0; i < x->n; i++)
    if (x->set[i] == value) return i;
  return -1;
}

bool csp_has(const csp *s, const csp_state *st, int v, int64_t value) {
  const csp_var *x = &s->var[v];
  if (value < st->left[v].lo || value > st->left[v].hi) return false;
  if (x->n == 0) return true;
  int i = index_of_value(x, value);
  return i >= 0 && alive(x, st, i);
}

bool csp_drop(const csp *s, csp_state *st, int v, int64_t value) {
  int i = index_of_value(&s->var[v], value);
  if (i >= 0) kill(&s->var[v], st, i);
  return tighten(s, st, v);
}

int csp_values(const csp *s, const csp_state *st, int v, int most, int64_t *out) {
  const csp_var *x = &s->var[v];
  int n = 0;
  if (x->n == 0) {
    if (st->left[v].hi - st->left[v].lo >= most) return -1;
    for (int64_t i = st->left[v].lo; i <= st->left[v].hi; i++)
      out[n++] = i;
    return n;
  }
  for (int i = 0; i < x->n && n < most; i++)
    if (alive(x, st, i)) out[n++] = x->set[i];
  return n;
}

/* ---- rules ----------------------------------------------------------------------------------- */
static int64_t times(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) || out > CSP_MOST ? CSP_MOST : out;
}

static int64_t plus(int64_t a, int64_t b) { return a > CSP_MOST - b ? CSP_MOST : a + b; }
static bool fixed(const csp_state *st, int v) { return st->left[v].lo == st->left[v].hi; }

/* Whether v may be x times some value of lo .. hi.  cofactor >= 0: that value is the product of
 * `rest` and this variable. */
typedef struct {
  int64_t lo, hi, rest;
  int cofactor;
} factor;

static bool wants(const csp *s, const csp_state *st, int64_t w, int64_t x, const factor *f) {
  if (w % x != 0 || w / x < f->lo || w / x > f->hi) return false;
  if (f->cofactor < 0) return true;
  return w / x % f->rest == 0 && csp_has(s, st, f->cofactor, w / x / f->rest);
}

static bool can_be(const csp *s, const csp_state *st, int v, int64_t x, const factor *f) {
  const csp_var *y = &s->var[v];
  if (fixed(st, v)) return wants(s, st, st->left[v].lo, x, f);
  for (int i = 0; i < y->n; i++)
    if (alive(y, st, i) && wants(s, st, y->set[i], x, f)) return true;
  if (y->n) return false;
  int64_t from = times(x, f->lo), to = times(x, f->hi);
  if (from < st->left[v].lo) from = st->left[v].lo;
  if (to > st->left[v].hi) to = st->left[v].hi;
  return from <= to && to / x * x >= from;
}

/* The product of the factors other than the k-th; k = -1: of all factors. */
static factor other_factors(const csp_state *st, const csp_rule *r, int k) {
  factor f = {1, 1, 1, -1};
  int open = 0;
  for (int i = 0; i < r->n; i++) {
    if (i == k) continue;
    const csp_left *l = &st->left[r->list[i]];
    f.lo = times(f.lo, l->lo);
    f.hi = times(f.hi, l->hi);
    if (l->lo == l->hi)
      f.rest = times(f.rest, l->lo);
    else
      f.cofactor = r->list[i], open++;
  }
  if (open != 1) f.cofactor = -1;
  return f;
}

static bool filter_set(const csp *s, csp_state *st, const csp_rule *r, int u, const factor *f) {
  const csp_var *x = &s->var[u];
  for (int i = 0; i < x->n; i++)
    if (alive(x, st, i) && !can_be(s, st, r->v, x->set[i], f)) kill(x, st, i);
  return tighten(s, st, u);
}

static bool filter_product(const csp *s, csp_state *st, const csp_rule *r, const factor *all) {
  const csp_var *y = &s->var[r->v];
  for (int i = 0; i < y->n; i++)
    if (alive(y, st, i) &&
        (y->set[i] < 1 || !wants(s, st, y->set[i], 1, all) || y->set[i] % all->rest != 0))
      kill(y, st, i);
  return tighten(s, st, r->v);
}

static bool prod(const csp *s, csp_state *st, const csp_rule *r) {
  for (int k = 0; k < r->n; k++)
    if (!csp_narrow(s, st, r->list[k], 1, CSP_MOST)) return false;
  const factor all = other_factors(st, r, -1);
  if (!csp_narrow(s, st, r->v, all.lo, all.hi)) return false;
  if (s->var[r->v].n && !filter_product(s, st, r, &all)) return false;
  for (int k = 0; k < r->n; k++) {
    const int u = r->list[k];
    const factor f = other_factors(st, r, k);
    const int64_t lo = st->left[r->v].lo, hi = st->left[r->v].hi;
    if (lo >= 1 && !csp_narrow(s, st, u, lo / f.hi + (lo % f.hi != 0), f.lo ? hi / f.lo : CSP_MOST))
      return false;
    if (fixed(st, u) ? !can_be(s, st, r->v, st->left[u].lo, &f)
                     : s->var[u].n && !filter_set(s, st, r, u, &f))
      return false;
  }
  return true;
}

static bool sum(const csp *s, csp_state *st, const csp_rule *r) {
  int64_t lo = 0, hi = 0;
  for (int k = 0; k < r->n; k++) {
    lo = plus(lo, st->left[r->list[k]].lo);
    hi = plus(hi, st->left[r->list[k]].hi);
  }
  if (!csp_narrow(s, st, r->v, lo, hi)) return false;
  for (int k = 0; k < r->n; k++) {
    const csp_left *u = &st->left[r->list[k]], *v = &st->left[r->v];
    const int64_t least = hi >= CSP_MOST ? u->lo : v->lo - (hi - u->hi);
    if (!csp_narrow(s, st, r->list[k], least, v->hi - (lo - u->lo))) return false;
  }
  return true;
}

/* Intersects the domains of both. */
static bool equal(const csp *s, csp_state *st, int a, int b) {
  if (!csp_narrow(s, st, a, st->left[b].lo, st->left[b].hi) ||
      !csp_narrow(s, st, b, st->left[a].lo, st->left[a].hi))
    return false;
  for (int side = 0; side < 2; side++) {
    const int u = side ? a : b, w = side ? b : a;
    const csp_var *x = &s->var[u];
    for (int i = 0; i < x->n; i++)
      if (alive(x, st, i) && !csp_has(s, st, w, x->set[i])) kill(x, st, i);
    if (x->n && !tighten(s, st, u)) return false;
  }
  return true;
}

static bool meets(const csp_left *a, const csp_left *b) { return a->lo <= b->hi && b->lo <= a->hi; }

static bool chosen(const csp *s, csp_state *st, const csp_rule *r) {
  const int u = r->list[0];
  if (!csp_narrow(s, st, u, 0, r->n - 2)) return false;
  int64_t lo = CSP_MOST, hi = -1, first = -1, last = -1;
  for (int64_t i = st->left[u].lo; i <= st->left[u].hi; i++) {
    const csp_left *w = &st->left[r->list[1 + i]];
    if (!csp_has(s, st, u, i)) continue;
    if (!meets(w, &st->left[r->v])) {
      if (s->var[u].n && !csp_drop(s, st, u, i)) return false;
      continue;
    }
    if (first < 0) first = i;
    last = i;
    if (w->lo < lo) lo = w->lo;
    if (w->hi > hi) hi = w->hi;
  }
  if (first < 0 || !csp_narrow(s, st, u, first, last) || !csp_narrow(s, st, r->v, lo, hi))
    return false;
  return !fixed(st, u) || equal(s, st, r->v, r->list[1 + st->left[u].lo]);
}

/* Leaves the variables of a rule what it allows; false: nothing. */
static bool narrow_by_rule(const csp *s, csp_state *st, const csp_rule *r) {
  const int v = r->v, u = r->list[0];
  switch (r->kind) {
  case CSP_PROD: return prod(s, st, r);
  case CSP_SUM: return sum(s, st, r);
  case CSP_EQ: return equal(s, st, v, u);
  case CSP_LE:
    return csp_narrow(s, st, v, 0, st->left[u].hi) &&
           csp_narrow(s, st, u, st->left[v].lo, CSP_MOST);
  case CSP_SELECT: return chosen(s, st, r);
  case CSP_N_KINDS: break;
  }
  return false;
}

/* ---- the fixed point ------------------------------------------------------------------------- */
/* The total width of the variables that the rule names: it decreases whenever one becomes narrower.
 */
static uint64_t width(const csp *s, const csp_state *st, const csp_rule *r) {
  uint64_t all = 0;
  for (int k = -1; k < r->n; k++) {
    const csp_var *x = &s->var[k < 0 ? r->v : r->list[k]];
    const csp_left *l = &st->left[k < 0 ? r->v : r->list[k]];
    all += x->n ? 0 : (uint64_t)(l->hi - l->lo);
    for (int w = 0; w < (x->n + 63) / 64; w++)
      all += (uint64_t)__builtin_popcountll(st->bits[x->word + w]);
  }
  return all;
}

static void wake(const csp *s, const csp_rule *r, bool *waits) {
  for (int k = -1; k < r->n; k++) {
    const int v = k < 0 ? r->v : r->list[k];
    for (int i = 0; i < s->n_watchers[v]; i++)
      waits[s->watchers[v][i]] = true;
  }
}

/* Propagates to a fixed point, or a limited number of steps: "v is v and 1" would take one off a
 * wide range 2^58 times. Stopping early leaves too many values, never too few, and solutions are
 * checked against every rule. */
static bool carry_on(const csp *s, csp_state *st, bool *waits) {
  int64_t looks = 2000 + 200 * (int64_t)s->n_rules;
  bool any = true;
  while (any && looks > 0) {
    any = false;
    for (int r = 0; r < s->n_rules; r++) {
      if (!waits[r]) continue;
      waits[r] = false;
      looks--;
      const uint64_t before = width(s, st, &s->rule[r]);
      if (!narrow_by_rule(s, st, &s->rule[r])) return false;
      if (width(s, st, &s->rule[r]) == before) continue;
      wake(s, &s->rule[r], waits);
      any = true;
    }
  }
  return true;
}

static bool from(const csp *s, csp_state *st, int v) {
  enum { NEAR = 1024 };
  bool near[NEAR];
  bool *waits = s->n_rules <= NEAR ? near : malloc((size_t)s->n_rules * sizeof *waits);
  if (!waits) return false;
  memset(waits, v < 0, (size_t)s->n_rules * sizeof *waits);
  for (int i = 0; v >= 0 && i < s->n_watchers[v]; i++)
    waits[s->watchers[v][i]] = true;
  const bool ok = carry_on(s, st, waits);
  if (waits != near) free(waits);
  return ok;
}

bool csp_propagate_all(const csp *s, csp_state *st) { return from(s, st, -1); }

bool csp_fix(const csp *s, csp_state *st, int v, int64_t value) {
  return csp_has(s, st, v, value) && csp_narrow(s, st, v, value, value) && from(s, st, v);
}
