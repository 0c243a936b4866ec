/* Solutions: by lot, or all of them.  Both choose for one variable after the other, knobs first, and carry on what each
 * choice means; what leads nowhere is taken back. */
#include <stdlib.h>
#include <string.h>

#include "tune/csp/csp.h"

enum { STEPS_MOST = 20000 };

typedef struct {
  const csp *s;
  tf_arena *arena;
  csp_state *at; /* [n_vars + 1] one a choice that stands */
  int depth, room;
  tf_rng *rng; /* NULL: all, in order */
  int64_t steps, told;
  bool (*each)(void *ctx, const int64_t *value);
  void *ctx;
  int64_t *value;
  bool stop, no_memory;
} walk;

/* The variable that is chosen next: the first knob that is open, then the first of the others.  -1: none is. */
static int next_open(const csp *s, const csp_state *st) {
  for (int k = 0; k < s->n_knobs; k++)
    if (st->left[s->knob[k]].lo < st->left[s->knob[k]].hi) return s->knob[k];
  for (int v = 0; v < s->n_vars; v++)
    if (st->left[v].lo < st->left[v].hi) return v;
  return -1;
}

static csp_state *deeper(walk *w) {
  if (w->depth == w->room) { /* what states point to stays where it is until the walk ends */
    csp_state *more = TF_ARRAY(w->arena, csp_state, (size_t)w->room * 2 + 16);
    if (more && w->room) memcpy(more, w->at, (size_t)w->room * sizeof *more);
    w->no_memory |= !more;
    if (!more) return NULL;
    w->at = more;
    w->room = w->room * 2 + 16;
  }
  csp_state *st = &w->at[w->depth];
  if (!st->left && !csp_state_new(w->s, w->arena, st)) {
    w->no_memory = true;
    return NULL;
  }
  w->depth++;
  return st;
}

static bool tell(walk *w, const csp_state *st) {
  for (int v = 0; v < w->s->n_vars; v++)
    w->value[v] = st->left[v].lo;
  if (!csp_holds(w->s, w->value)) return false; /* bounds that met, and rules that see more than these */
  w->told++;
  w->stop = w->each ? !w->each(w->ctx, w->value) : true;
  return true;
}

static void visit(walk *w, const csp_state *st);

/* One of the two parts of a wide range, then the other. */
static void halves(walk *w, const csp_state *st, int v) {
  const int64_t lo = st->left[v].lo, hi = st->left[v].hi, mid = lo + (hi - lo) / 2;
  const int first = w->rng ? (int)tf_rng_below(w->rng, 2) : 0;
  for (int k = 0; k < 2 && !w->stop; k++) {
    const bool low = (first ^ k) == 0;
    const int depth = w->depth;
    csp_state *to = deeper(w);
    if (!to) return;
    csp_state_copy(w->s, to, st);
    if (csp_narrow(w->s, to, v, low ? lo : mid + 1, low ? mid : hi) && csp_settle(w->s, to)) visit(w, to);
    w->depth = depth;
  }
}

static void each_value(walk *w, const csp_state *st, int v) {
  enum { NARROW = CSP_SET_MAX };
  int64_t value[NARROW];
  const int depth = w->depth;
  int n = csp_values(w->s, st, v, NARROW, value);
  if (n < 0) {
    halves(w, st, v);
    return;
  }
  for (int k = 0; k < n && !w->stop && !w->no_memory; k++) {
    const int pick = w->rng ? k + (int)tf_rng_below(w->rng, (uint32_t)(n - k)) : k;
    const int64_t x = value[pick];
    value[pick] = value[k];
    csp_state *to = deeper(w);
    if (!to) return;
    csp_state_copy(w->s, to, st);
    if (csp_fix(w->s, to, v, x)) visit(w, to);
    w->depth = depth;
  }
}

static void visit(walk *w, const csp_state *st) {
  if (w->stop || w->no_memory || (w->rng && ++w->steps > STEPS_MOST)) {
    w->stop = true;
    return;
  }
  const int v = next_open(w->s, st);
  if (v < 0)
    tell(w, st);
  else
    each_value(w, st, v);
}

static void begin(walk *w, const csp_state *from) {
  w->arena = tf_arena_new();
  csp_state *st = w->arena ? deeper(w) : NULL;
  w->no_memory |= !st;
  if (!st) return;
  if (from) csp_state_copy(w->s, st, from);
  if (csp_settle(w->s, st)) visit(w, st);
}

csp_answer csp_sample(const csp *s, const csp_state *from, tf_rng *rng, int64_t *value) {
  walk w = {.s = s, .rng = rng, .value = value};
  begin(&w, from);
  tf_arena_free(w.arena);
  if (w.no_memory) return CSP_NO_MEMORY;
  return w.told ? CSP_FOUND : w.steps > STEPS_MOST ? CSP_GAVE_UP : CSP_NONE;
}

int64_t csp_each(const csp *s, bool (*each)(void *ctx, const int64_t *value), void *ctx) {
  walk w = {.s = s, .each = each, .ctx = ctx, .value = malloc(((size_t)s->n_vars + 1) * sizeof *w.value)};
  w.no_memory = !w.value;
  if (w.value) begin(&w, NULL);
  tf_arena_free(w.arena);
  free(w.value);
  return w.no_memory ? -1 : w.told;
}

/* ---- crossover --------------------------------------------------------------------------------- */
/* The key is one parent's or the other's. */
static bool inherit(const csp *s, csp_state *st, int v, int64_t a, int64_t b) {
  const int64_t lo = a < b ? a : b, hi = a < b ? b : a;
  if (!csp_narrow(s, st, v, lo, hi)) return false;
  int64_t value[CSP_SET_MAX];
  int n = s->var[v].n ? csp_values(s, st, v, CSP_SET_MAX, value) : 0;
  for (int k = 0; k < n; k++)
    if (value[k] != lo && value[k] != hi && !csp_drop(s, st, v, value[k])) return false;
  return true;
}

static bool inherit_all(const csp *s, csp_state *st, const csp_parents *p, int n, const int *keys) {
  csp_state_whole(s, st);
  for (int k = 0; k < n; k++)
    if (!inherit(s, st, keys[k], p->a[keys[k]], p->b[keys[k]])) return false;
  return true;
}

csp_answer csp_cross(const csp *s, tf_rng *rng, const csp_parents *p, bool mutate, int64_t *value) {
  tf_arena *arena = tf_arena_new();
  int *kept = TF_ARRAY(arena, int, (size_t)p->n_keys + 1), n = p->n_keys;
  csp_state st;
  if (!kept || !csp_state_new(s, arena, &st)) {
    tf_arena_free(arena);
    return CSP_NO_MEMORY;
  }
  memcpy(kept, p->keys, (size_t)n * sizeof *kept);
  csp_answer answer = CSP_NONE;
  if (mutate && n) kept[tf_rng_below(rng, (uint32_t)n)] = kept[n - 1], n--;
  while (answer == CSP_NONE || answer == CSP_GAVE_UP) {
    if (inherit_all(s, &st, p, n, kept)) answer = csp_sample(s, &st, rng, value);
    if (n == 0) break;
    const uint32_t out = tf_rng_below(rng, (uint32_t)n--);
    kept[out] = kept[n];
  }
  tf_arena_free(arena);
  return answer;
}
