/* Compiles branch-free programs for lanes: see tape.h. */
#include "model/cost/quick/tape.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST = 1 << 15,
  FIRST = 1 << 10,
  PLACES = 4
}; /* values: the most, and room for these to begin with; places of
      the hash table for each */

typedef struct {
  tf_tape_op op;
  int a, b, c;
  int64_t bits; /* of a constant */
} value;

struct tf_scribe {
  int n, n_inputs, room; /* room: a power of two */
  bool full;             /* there are too many values, or memory has run out */
  value *v;              /* [room] */
  int *at; /* [PLACES * room] hash table for finding equal ones: value + 1; 0: empty */
};

static uint64_t hash_of(const value *v) {
  uint64_t h = (uint64_t)v->bits;
  const int part[] = {(int)v->op, v->a, v->b, v->c};
  for (int i = 0; i < 4; i++)
    h = (h ^ (uint64_t)(uint32_t)part[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
  return h >> 40;
}

/* Doubles the room for values; false: there would be too many, or memory has run out. */
static bool grow(tf_scribe *s) {
  const int room = s->room ? 2 * s->room : FIRST;
  value *v = room <= MOST ? realloc(s->v, (size_t)room * sizeof *v) : NULL;
  if (!v) return false;
  s->v = v;
  int *at = calloc((size_t)room * PLACES, sizeof *at);
  if (!at) return false;
  for (int i = s->n_inputs; i < s->n; i++) {
    uint64_t k = hash_of(&v[i]);
    while (at[k & (uint64_t)(room * PLACES - 1)])
      k++;
    at[k & (uint64_t)(room * PLACES - 1)] = i + 1;
  }
  free(s->at);
  s->at = at;
  s->room = room;
  return true;
}

void tf_scribe_free(tf_scribe *s) {
  if (!s) return;
  free(s->v);
  free(s->at);
  free(s);
}

tf_scribe *tf_scribe_new(int n_inputs) {
  tf_scribe *s = n_inputs < MOST / 2 ? calloc(1, sizeof *s) : NULL;
  bool ok = s && grow(s);
  while (ok && s->room <= n_inputs)
    ok = grow(s);
  if (!ok) {
    tf_scribe_free(s);
    return NULL;
  }
  for (s->n = 0; s->n < n_inputs; s->n++)
    s->v[s->n] = (value){.op = TF_T_INPUT};
  s->n_inputs = n_inputs;
  return s;
}

static int put(tf_scribe *s, value v) {
  for (uint64_t k = hash_of(&v);; k++) {
    int *at = &s->at[k & (uint64_t)(s->room * PLACES - 1)];
    if (*at) {
      const value *w = &s->v[*at - 1];
      if (w->op == v.op && w->a == v.a && w->b == v.b && w->c == v.c && w->bits == v.bits)
        return *at - 1;
      continue;
    }
    if (s->n == s->room) {
      if (!s->full && grow(s)) return put(s, v);
      s->full = true;
      return 0;
    }
    s->v[s->n] = v;
    *at = ++s->n;
    return s->n - 1;
  }
}

int tf_tape_int(tf_scribe *s, int64_t x) { return put(s, (value){.op = TF_T_CONST, .bits = x}); }

int tf_tape_real(tf_scribe *s, double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return put(s, (value){.op = TF_T_REAL, .bits = bits});
}

bool tf_tape_is(const tf_scribe *s, int i, int64_t x) {
  return s->v[i].op == TF_T_CONST && s->v[i].bits == x;
}

static bool real_is(const tf_scribe *s, int i, double x) {
  double d;
  memcpy(&d, &s->v[i].bits, sizeof d);
  return s->v[i].op == TF_T_REAL && !(d < x) && !(d > x);
}

/* Simplifies operations with neutral operands to one of them.  Negative zeros do not occur, as no
 * count or time is negative.  -1: it cannot be simplified. */
static int simplify(tf_scribe *s, tf_tape_op op, int a, int b) {
  switch (op) {
  case TF_T_ADD: return tf_tape_is(s, a, 0) ? b : tf_tape_is(s, b, 0) ? a : -1;
  case TF_T_SUB: return a == b ? tf_tape_int(s, 0) : tf_tape_is(s, b, 0) ? a : -1;
  case TF_T_MUL:
    if (tf_tape_is(s, a, 0) || tf_tape_is(s, b, 1)) return a;
    return tf_tape_is(s, b, 0) || tf_tape_is(s, a, 1) ? b : -1;
  case TF_T_DIV: return tf_tape_is(s, b, 1) || tf_tape_is(s, a, 0) ? a : -1;
  case TF_T_AND: return a == b || tf_tape_is(s, b, 1) ? a : tf_tape_is(s, a, 1) ? b : -1;
  case TF_T_OR: return a == b || tf_tape_is(s, b, 0) ? a : tf_tape_is(s, a, 0) ? b : -1;
  case TF_T_MIN:
  case TF_T_MAX:
  case TF_T_FMAX: return a == b ? a : -1;
  case TF_T_EQ: return a == b ? tf_tape_int(s, 1) : -1;
  case TF_T_FADD: return real_is(s, a, 0) ? b : real_is(s, b, 0) ? a : -1;
  case TF_T_FSUB: return real_is(s, b, 0) ? a : -1;
  case TF_T_FMUL:
    if (real_is(s, a, 0) || real_is(s, b, 1)) return a;
    return real_is(s, b, 0) || real_is(s, a, 1) ? b : -1;
  case TF_T_FDIV: return real_is(s, b, 1) || real_is(s, a, 0) ? a : -1;
  default: return -1;
  }
}

static bool commutes(tf_tape_op op) {
  return op == TF_T_ADD || op == TF_T_MUL || op == TF_T_MIN || op == TF_T_MAX || op == TF_T_EQ ||
         op == TF_T_AND || op == TF_T_OR || op == TF_T_FADD || op == TF_T_FMUL;
}

static bool is_constant(const tf_scribe *s, int i) { return s->v[i].op <= TF_T_REAL; }

static bool has(tf_tape_op op, int which) {
  return which == 0 || (which == 1 && op != TF_T_TO) || (which == 2 && op == TF_T_SEL);
}

/* Executes one step on the first lanes of its operands. */
static inline __attribute__((always_inline)) void step(tf_lane *slots, const tf_tape_step *t,
                                                       const int lanes) {
  tf_lane *restrict d = &slots[t->d];
  const tf_lane *a = &slots[t->a], *b = &slots[t->b], *c = &slots[t->c];
#define EACH(at, ...)                                                                              \
  for (int i = 0; i < lanes; i++)                                                                  \
    d->at[i] = __VA_ARGS__;                                                                        \
  break
  switch (t->op) {
  case TF_T_ADD: EACH(i, (int64_t)((uint64_t)a->i[i] + (uint64_t)b->i[i]));
  case TF_T_SUB: EACH(i, (int64_t)((uint64_t)a->i[i] - (uint64_t)b->i[i]));
  case TF_T_MUL: EACH(i, (int64_t)((uint64_t)a->i[i] * (uint64_t)b->i[i]));
  case TF_T_DIV:
    for (int i = 0; i < lanes; i++) {
      double q = (double)a->i[i] / (double)b->i[i];
      d->i[i] = (int64_t)(q < 0x1p62 && q > -0x1p62 ? q : 0);
    }
    break;
  case TF_T_MIN: EACH(i, a->i[i] < b->i[i] ? a->i[i] : b->i[i]);
  case TF_T_MAX: EACH(i, a->i[i] > b->i[i] ? a->i[i] : b->i[i]);
  case TF_T_EQ: EACH(i, a->i[i] == b->i[i]);
  case TF_T_GT: EACH(i, a->i[i] > b->i[i]);
  case TF_T_AND: EACH(i, a->i[i] & b->i[i]);
  case TF_T_OR: EACH(i, a->i[i] | b->i[i]);
  case TF_T_SEL: EACH(i, (a->i[i] & -c->i[i]) | (b->i[i] & (c->i[i] - 1)));
  case TF_T_TO: EACH(d, (double)a->i[i]);
  case TF_T_BELOW: EACH(i, a->d[i] < b->d[i]);
  case TF_T_FADD: EACH(d, a->d[i] + b->d[i]);
  case TF_T_FSUB: EACH(d, a->d[i] - b->d[i]);
  case TF_T_FMUL: EACH(d, a->d[i] * b->d[i]);
  case TF_T_FDIV: EACH(d, a->d[i] / b->d[i]);
  case TF_T_FMAX: EACH(d, a->d[i] > b->d[i] ? a->d[i] : b->d[i]);
  default: break;
  }
#undef EACH
}

/* Constant folding: the value of a step whose operands are all constants. */
static int fold(tf_scribe *s, tf_tape_op op, const int *of) {
  tf_lane at[4];
  at[3].i[0] = 0;
  for (int k = 0; k < 3; k++)
    at[k].i[0] = has(op, k) ? s->v[of[k]].bits : 0;
  step(at, &(tf_tape_step){op, 3, 0, 1, 2}, 1);
  bool real = op >= TF_T_FADD || op == TF_T_TO || (op == TF_T_SEL && s->v[of[0]].op == TF_T_REAL);
  return real ? tf_tape_real(s, at[3].d[0]) : tf_tape_int(s, at[3].i[0]);
}

int tf_tape_make(tf_scribe *s, tf_tape_op op, int a, int b, int c) {
  if (commutes(op) && a > b) {
    int was = a;
    a = b;
    b = was;
  }
  const int of[3] = {a, has(op, 1) ? b : 0, has(op, 2) ? c : 0};
  bool constant = true;
  for (int k = 0; k < 3; k++)
    constant &= !has(op, k) || is_constant(s, of[k]);
  if (constant) return fold(s, op, of);
  if (op == TF_T_SEL && (a == b || is_constant(s, c))) return a == b || tf_tape_is(s, c, 1) ? a : b;
  int same = simplify(s, op, a, b);
  return same >= 0 ? same : put(s, (value){.op = op, .a = of[0], .b = of[1], .c = of[2]});
}

/* ---- the program --------------------------------------------------------------------------- */

/* Allocates slots to values by their live ranges. */
typedef struct {
  int *last; /* [value] the last value that uses it, -1: none; MOST: live to the end */
  int *slot;
  int *spare; /* free slots */
  int n_spare;
} slots_of_values;

static void last_uses(const tf_scribe *s, const int *values, int n, slots_of_values *p) {
  for (int i = 0; i < s->n; i++)
    p->last[i] = i < s->n_inputs ? MOST : -1;
  for (int i = 0; i < n; i++)
    p->last[values[i]] = MOST;
  for (int i = s->n - 1; i >= s->n_inputs; i--) {
    const value *v = &s->v[i];
    const int of[3] = {v->a, v->b, v->c};
    for (int k = 0; k < 3 && p->last[i] >= 0 && v->op > TF_T_INPUT; k++)
      if (has(v->op, k) && p->last[of[k]] < i) p->last[of[k]] = is_constant(s, of[k]) ? MOST : i;
  }
}

static void add_step(const tf_scribe *s, tf_tape *t, slots_of_values *p, int i) {
  const value *v = &s->v[i];
  const int of[3] = {v->a, v->b, v->c};
  p->slot[i] = p->n_spare ? p->spare[--p->n_spare] : t->n_slots++;
  t->steps[t->n_steps++] =
      (tf_tape_step){v->op, p->slot[i], p->slot[v->a], p->slot[v->b], p->slot[v->c]};
  for (int k = 0; k < 3; k++)
    if (has(v->op, k) && p->last[of[k]] == i) {
      p->spare[p->n_spare++] = p->slot[of[k]];
      p->last[of[k]] = -1; /* an operand used twice is freed once */
    }
}

static bool fill_constants(const tf_scribe *s, tf_arena *a, tf_tape *t, const slots_of_values *p) {
  char *room = tf_arena_array(a, (size_t)t->n_slots + 1, sizeof *t->slots);
  if (!room) return false;
  t->slots = (tf_lane *)(void *)(room + (64 - (uintptr_t)room % 64) % 64);
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < TF_LANES && is_constant(s, i) && p->last[i] >= 0; k++)
      t->slots[p->slot[i]].i[k] = s->v[i].bits;
  return true;
}

tf_tape *tf_tape_new(tf_arena *a, tf_scribe *s, const int *values, int n) {
  tf_tape *t = TF_NEW(a, tf_tape);
  const size_t most = (size_t)s->n + 1;
  int *room = calloc(3 * most, sizeof *room);
  bool ok = t && room && !s->full;
  if (ok) {
    slots_of_values p = {room, room + most, room + 2 * most, 0};
    last_uses(s, values, n, &p);
    t->n_slots = s->n_inputs;
    t->steps = TF_ARRAY(a, tf_tape_step, (size_t)s->n);
    t->out = TF_ARRAY(a, int, (size_t)n);
    ok = t->steps && t->out;
    for (int i = 0; i < s->n && ok; i++)
      if (i < s->n_inputs || (is_constant(s, i) && p.last[i] >= 0))
        p.slot[i] = i < s->n_inputs ? i : t->n_slots++;
    for (int i = s->n_inputs; i < s->n && ok; i++)
      if (!is_constant(s, i) && p.last[i] >= 0) add_step(s, t, &p, i);
    for (int i = 0; i < n && ok; i++)
      t->out[i] = p.slot[values[i]];
    ok = ok && fill_constants(s, a, t, &p);
  }
  free(room);
  return ok ? t : NULL;
}

/* The same loops, compiled for each vector length of the processor, and for only as many lanes as
 * needed. */
static inline __attribute__((always_inline)) void run(const tf_tape *t, const int lanes) {
  for (int i = 0; i < t->n_steps; i++)
    step(t->slots, &t->steps[i], lanes);
}

static inline __attribute__((always_inline)) void run_for(const tf_tape *t, int rows) {
  if (rows <= TF_LANES / 4)
    run(t, TF_LANES / 4);
  else if (rows <= TF_LANES / 2)
    run(t, TF_LANES / 2);
  else
    run(t, TF_LANES);
}

static void run_any(const tf_tape *t, int rows) { run_for(t, rows); }

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))) static void run_512(const tf_tape *t,
                                                                                  int rows) {
  run_for(t, rows);
}

__attribute__((target("avx2"))) static void run_256(const tf_tape *t, int rows) {
  run_for(t, rows);
}
#endif

void tf_tape_run(const tf_tape *t, int rows) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    run_512(t, rows);
    return;
  }
  if (__builtin_cpu_supports("avx2")) {
    run_256(t, rows);
    return;
  }
#endif
  run_any(t, rows);
}
