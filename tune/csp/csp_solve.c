/* Random solutions by backtracking.  Variables are assigned one after the other, knobs first, with
 * propagation after each choice. */
#include <stdlib.h>
#include <string.h>

#include "tune/csp/csp.h"

enum { STEPS_MOST = 20000 };

/* One level of the search: the state before the choice, and the alternatives of its variable. */
typedef struct {
  csp_state state;
  int v, n, tried;
  int64_t *value; /* [n] of v; in random order, the untried ones are after the tried ones */
  int room;
  bool wide; /* v has too many values to list: its range is split in two, and n = 2 */
  int upper; /* wide: which half comes first; 1: the upper one */
} level;

typedef struct {
  const csp *s;
  tf_arena *arena;
  level
      *stack; /* [room] a stack on the heap, as a user's system may be thousands of choices deep */
  int depth, room;
  tf_rng *rng;
  int64_t steps;
  int64_t *value; /* of the solution, once one is found */
  bool found, stop, no_memory;
} walk;

/* The next variable to assign: the first open knob, then the first other open one.  -1: none. */
static int next_open(const csp *s, const csp_state *st) {
  for (int k = 0; k < s->n_knobs; k++)
    if (st->left[s->knob[k]].lo < st->left[s->knob[k]].hi) return s->knob[k];
  for (int v = 0; v < s->n_vars; v++)
    if (st->left[v].lo < st->left[v].hi) return v;
  return -1;
}

/* Pushes a level, reusing its memory; NULL: out of memory.  May move the other levels. */
static level *push(walk *w) {
  if (w->depth == w->room) {
    level *more = TF_ARRAY(w->arena, level, (size_t)w->room * 2 + 16);
    w->no_memory |= !more;
    if (!more) return NULL;
    if (w->room) memcpy(more, w->stack, (size_t)w->room * sizeof *more);
    w->stack = more;
    w->room = w->room * 2 + 16;
  }
  level *l = &w->stack[w->depth];
  if (!l->state.left && !csp_state_new(w->s, w->arena, &l->state)) {
    w->no_memory = true;
    return NULL;
  }
  w->depth++;
  return l;
}

static void note_solution(walk *w, const csp_state *st) {
  for (int v = 0; v < w->s->n_vars; v++)
    w->value[v] = st->left[v].lo;
  if (!csp_holds(w->s, w->value)) return; /* bounds have met, but rules see more than these */
  w->found = w->stop = true;
}

/* Lists the alternatives of the level's variable. */
static void list_values(walk *w, level *l) {
  int64_t value[CSP_SET_MAX];
  const int n = csp_values(w->s, &l->state, l->v, CSP_SET_MAX, value);
  l->wide = n < 0;
  l->n = l->wide ? 2 : n;
  if (l->wide) {
    l->upper = (int)tf_rng_below(w->rng, 2);
    return;
  }
  if (n > l->room) {
    l->value = TF_ARRAY(w->arena, int64_t, (size_t)n);
    l->room = l->value ? n : 0;
    w->no_memory |= !l->value;
  }
  if (!w->no_memory) memcpy(l->value, value, (size_t)n * sizeof *value);
}

/* Selects the variable of the top level; if none is open, a solution is found. */
static void enter(walk *w, level *l) {
  l->n = l->tried = 0;
  if (++w->steps > STEPS_MOST) {
    w->stop = true;
    return;
  }
  l->v = next_open(w->s, &l->state);
  if (l->v < 0)
    note_solution(w, &l->state);
  else
    list_values(w, l);
}

/* The state after the next alternative, into `to`; false: inconsistent. */
static bool choose(walk *w, level *l, csp_state *to) {
  const int k = l->tried++;
  csp_state_copy(w->s, to, &l->state);
  if (l->wide) {
    const int64_t lo = l->state.left[l->v].lo, hi = l->state.left[l->v].hi,
                  mid = lo + (hi - lo) / 2;
    const bool low = (l->upper ^ k) == 0;
    return csp_narrow(w->s, to, l->v, low ? lo : mid + 1, low ? mid : hi) &&
           csp_propagate_all(w->s, to);
  }
  const int pick = k + (int)tf_rng_below(w->rng, (uint32_t)(l->n - k));
  const int64_t x = l->value[pick];
  l->value[pick] = l->value[k];
  return csp_fix(w->s, to, l->v, x);
}

static void begin_walk(walk *w, const csp_state *from) {
  w->arena = tf_arena_new();
  level *root = w->arena ? push(w) : NULL;
  w->no_memory |= !root;
  if (!root) return;
  if (from) csp_state_copy(w->s, &root->state, from);
  if (!csp_propagate_all(w->s, &root->state)) return;
  enter(w, root);
  while (w->depth && !w->stop && !w->no_memory) {
    if (w->stack[w->depth - 1].tried == w->stack[w->depth - 1].n) {
      w->depth--;
      continue;
    }
    level *to = push(w);
    if (to && choose(w, to - 1, &to->state))
      enter(w, to);
    else
      w->depth--;
  }
}

csp_answer csp_sample(const csp *s, const csp_state *from, tf_rng *rng, int64_t *value) {
  walk w = {.s = s, .rng = rng, .value = value};
  begin_walk(&w, from);
  tf_arena_free(w.arena);
  if (w.no_memory) return CSP_NO_MEMORY;
  return w.found ? CSP_FOUND : w.steps > STEPS_MOST ? CSP_GAVE_UP : CSP_NONE;
}

/* ---- crossover ------------------------------------------------------------------------------- */
/* Restricts the key to one parent's value. */
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
