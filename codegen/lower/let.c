/* Values during lowering: constants are folded, and equal expressions share one variable. */
#include <stdarg.h>
#include <string.h>

#include "codegen/lower/lower.h"

enum { MAX_LETS = 4096 };

static void *room(lowering *w, size_t n, size_t size) {
  return tf_arena_array(w->p->arena, n, size);
}

/* Arrays of the program grow by powers of two; the arena keeps the old ones. */
static void *grown(lowering *w, void *from, int n, size_t size) {
  if (n && (n & (n - 1))) return from;
  void *to = room(w, n ? 2 * (size_t)n : 1, size);
  if (to && n) memcpy(to, from, (size_t)n * size);
  return to;
}

int lower_var(lowering *w, const char *fmt, ...) {
  ir_program *p = w->p;
  char text[80];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  n = n < 60 ? n : 60;
  n += snprintf(text + n, sizeof text - (size_t)n, "%d", p->n_vars);
  const char **names = grown(w, p->var_name, p->n_vars, sizeof *names);
  lower_span *span = w->span || p->n_vars == 0 ? grown(w, w->span, p->n_vars, sizeof *span) : NULL;
  char *name = tf_arena_strndup(p->arena, text, (size_t)n);
  if (lower_failed(w)) return 0;
  p->var_name = names;
  p->var_name[p->n_vars] = name;
  w->span = span;
  lower_span_unbounded(w, p->n_vars);
  return p->n_vars++;
}

ir_stmt *lower_add(lowering *w, ir_kind kind) {
  ir_body *b = w->into;
  ir_stmt *s = room(w, 1, sizeof *s), **list = grown(w, b->s, b->n, sizeof *list);
  if (lower_failed(w)) return NULL;
  s->kind = kind;
  b->s = list;
  b->s[b->n++] = s;
  return s;
}

lower_mark lower_open(lowering *w, ir_body *body) {
  lower_mark mark = {w->into, w->n_lets};
  w->into = body;
  return mark;
}

void lower_close(lowering *w, lower_mark mark) {
  w->into = mark.into;
  w->n_lets = mark.n_lets;
}

static bool same_expr(const ir_expr *a, const ir_expr *b) {
  bool equal = a->fn == b->fn && a->n == b->n;
  for (int i = 0; equal && i < a->n; i++)
    equal = ir_same(a->arg[i], b->arg[i]) && (!a->coef || !b->coef || a->coef[i] == b->coef[i]);
  return equal;
}

static ir_atom let(lowering *w, const char *name, ir_fn fn, int n, const ir_atom *arg,
                   const int64_t *coef) {
  ir_expr e = {fn, n, room(w, (size_t)n, sizeof *arg), NULL};
  if (coef) e.coef = room(w, (size_t)n, sizeof *coef);
  if (lower_failed(w)) return ir_number(0);
  memcpy(e.arg, arg, (size_t)n * sizeof *arg);
  if (coef) memcpy(e.coef, coef, (size_t)n * sizeof *coef);
  for (int i = w->n_lets - 1; i >= 0; i--)
    if (same_expr(&w->lets[i].expr, &e)) return (ir_atom){w->lets[i].var, 0};
  if (!w->lets) w->lets = room(w, MAX_LETS, sizeof *w->lets);
  ir_stmt *s = lower_add(w, IR_LET);
  int var = lower_var(w, "%s_", name);
  if (lower_failed(w)) return ir_number(0);
  s->let.var = var;
  s->let.expr = e;
  lower_span_let(w, var, &e);
  if (w->n_lets < MAX_LETS) w->lets[w->n_lets++] = (lower_let){e, var};
  return (ir_atom){var, 0};
}

ir_atom lower_sum(lowering *w, const char *name, ir_atom a, int64_t coef, ir_atom b) {
  if (b.var < 0 || coef == 0) return (ir_atom){a.var, a.off + coef * b.off};
  if (a.var < 0 && coef == 1) return (ir_atom){b.var, a.off + b.off};
  ir_atom arg[2] = {a, b};
  int64_t c[2] = {1, coef};
  /* constants are kept outside, so that sums that differ by a constant share a variable */
  int64_t off = a.off + coef * b.off;
  arg[0].off = arg[1].off = 0;
  ir_atom v = a.var < 0 ? let(w, name, IR_SUM, 1, arg + 1, c + 1) : let(w, name, IR_SUM, 2, arg, c);
  v.off += off;
  return v;
}

static ir_atom min_or_max(lowering *w, const char *name, ir_fn fn, ir_atom a, ir_atom b) {
  ir_atom arg[2] = {a, b};
  if (a.var == b.var) return (a.off < b.off) == (fn == IR_MIN) ? a : b;
  return let(w, name, fn, 2, arg, NULL);
}

ir_atom lower_min(lowering *w, const char *name, ir_atom a, ir_atom b) {
  return min_or_max(w, name, IR_MIN, a, b);
}
ir_atom lower_max(lowering *w, const char *name, ir_atom a, ir_atom b) {
  return min_or_max(w, name, IR_MAX, a, b);
}

ir_atom lower_select(lowering *w, const char *name, ir_range r, ir_atom yes, ir_atom no) {
  ir_atom arg[4] = {r.lo, r.hi, yes, no};
  if (r.never_empty) return yes;
  return let(w, name, IR_PICK, 4, arg, NULL);
}

ir_atom lower_divmod(lowering *w, const char *name, ir_fn fn, ir_atom a, int64_t by) {
  ir_atom arg[2] = {a, ir_number(by)};
  if (a.var < 0) return ir_number(fn == IR_DIV ? a.off / by : a.off % by);
  return let(w, name, fn, 2, arg, NULL);
}

ir_atom lower_seen(lowering *w, int buffer, const ir_range *box) {
  const int rank = w->p->buffers[buffer].rank;
  ir_atom *arg = room(w, 1 + 2 * (size_t)rank, sizeof *arg);
  if (lower_failed(w)) return ir_number(0);
  arg[0] = ir_number(buffer);
  for (int r = 0; r < rank; r++)
    arg[1 + 2 * r] = box[r].lo, arg[2 + 2 * r] = box[r].hi;
  return let(w, "seen", IR_SEEN, 1 + 2 * rank, arg, NULL);
}
