/* Intervals of variables: loops run from 0 to their trip count, expressions are bounded by their
 * arguments. */
#include "base/checked.h"
#include "codegen/lower/lower.h"

static const lower_span anywhere = {-LOWER_UNBOUNDED, LOWER_UNBOUNDED, 1};

static int64_t clamp(int64_t x) {
  return x < -LOWER_UNBOUNDED ? -LOWER_UNBOUNDED : x > LOWER_UNBOUNDED ? LOWER_UNBOUNDED : x;
}

/* a + coef * b; what is unknown stays unknown. */
static int64_t plus(int64_t a, int64_t coef, int64_t b) {
  int64_t c;
  const bool unknown = b == LOWER_UNBOUNDED || b == -LOWER_UNBOUNDED;
  if (unknown || __builtin_mul_overflow(coef, b, &c))
    c = (coef < 0) == (b < 0) ? LOWER_UNBOUNDED : -LOWER_UNBOUNDED;
  if (a == LOWER_UNBOUNDED || a == -LOWER_UNBOUNDED) return a;
  return clamp(clamp(c) + a);
}

lower_span lower_span_of(const lowering *w, ir_atom a) {
  if (a.var < 0) return (lower_span){clamp(a.off), clamp(a.off), tf_gcd(a.off, 0)};
  const lower_span v = w->span ? w->span[a.var] : anywhere;
  return (lower_span){plus(v.first, 1, a.off), plus(v.last, 1, a.off), tf_gcd(v.multiple, a.off)};
}

static void know(lowering *w, int var, lower_span s) {
  if (w->span && !lower_failed(w)) w->span[var] = s;
}

void lower_span_unbounded(lowering *w, int var) { know(w, var, anywhere); }

void lower_span_loop(lowering *w, int var, int64_t trip) {
  know(w, var, (lower_span){0, clamp(trip - 1), trip > 1});
}

static lower_span sum_of(const lowering *w, const ir_expr *e) {
  lower_span all = {0, 0, 0};
  for (int i = 0; i < e->n; i++) {
    const lower_span v = lower_span_of(w, e->arg[i]);
    const int64_t c = e->coef[i];
    all.first = plus(all.first, c, c < 0 ? v.last : v.first);
    all.last = plus(all.last, c, c < 0 ? v.first : v.last);
    int64_t of;
    all.multiple = tf_gcd(all.multiple, __builtin_mul_overflow(c, v.multiple, &of) ? 1 : of);
  }
  return all;
}

/* Of the least or the most of the arguments; of a pick, of either. */
static lower_span of_several(const lowering *w, ir_fn fn, const ir_atom *arg, int n) {
  lower_span all = lower_span_of(w, arg[0]);
  for (int i = 1; i < n; i++) {
    const lower_span v = lower_span_of(w, arg[i]);
    if (fn == IR_MAX ? v.first > all.first : v.first < all.first) all.first = v.first;
    if (fn == IR_MIN ? v.last < all.last : v.last > all.last) all.last = v.last;
    all.multiple = tf_gcd(all.multiple, v.multiple);
  }
  return all;
}

static lower_span divmod_span(const lowering *w, const ir_expr *e) {
  const lower_span v = lower_span_of(w, e->arg[0]);
  const int64_t n = e->arg[1].off;
  if (e->fn == IR_MOD) return (lower_span){0, v.last < n - 1 ? v.last : n - 1, 1};
  return (lower_span){v.first < 0 ? 0 : v.first / n,
                      v.last == LOWER_UNBOUNDED ? LOWER_UNBOUNDED : v.last / n, 1};
}

void lower_span_let(lowering *w, int var, const ir_expr *e) {
  switch (e->fn) {
  case IR_SUM: know(w, var, sum_of(w, e)); break;
  case IR_MIN:
  case IR_MAX: know(w, var, of_several(w, e->fn, e->arg, e->n)); break;
  case IR_PICK: know(w, var, of_several(w, e->fn, e->arg + 2, 2)); break;
  case IR_MOD:
  case IR_DIV: know(w, var, divmod_span(w, e)); break;
  case IR_SEEN:
    know(w, var,
         (lower_span){lower_span_of(w, e->arg[e->n - 2]).first,
                      lower_span_of(w, e->arg[e->n - 1]).last, 1});
    break;
  }
}
