/* Tensors that are whole numbers of 8 bits, as kernels of integers hold them. */
#include <math.h>
#include <stdlib.h>

#include "codegen/ir/ir.h"

/* Numbers between two ends, whole or not. */
typedef struct {
  double least, most;
  bool whole;
} span;

typedef struct {
  bool known;
  tf_held_as as;
  span range; /* its elements */
} held_fact;

/* How tensors are held is asked of what makes them, and so on: of each once. */
typedef struct {
  const tf_workload *wl;
  held_fact *fact; /* [n_tensors]; NULL: nothing was asked for */
} asking;

static held_fact fact_of(asking *a, int z);
static tf_held_as held_as(asking *a, int z) { return fact_of(a, z).as; }
static ir_type type_held(asking *a, int z);

static const span any = {-INFINITY, INFINITY, false}, of_signed = {-128, 127, true},
                  of_unsigned = {0, 255, true};

static span of_held(tf_held_as h) {
  return h == TF_HELD_SIGNED ? of_signed : h == TF_HELD_UNSIGNED ? of_unsigned : any;
}

static span span_product(span a, span b) {
  const double p[4] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  span s = {INFINITY, -INFINITY, a.whole && b.whole};
  for (int i = 0; i < 4; i++) {
    if (isnan(p[i])) return (span){-INFINITY, INFINITY, s.whole};
    s.least = fmin(s.least, p[i]), s.most = fmax(s.most, p[i]);
  }
  return s;
}

static span called(tf_kind call, span a, span b) {
  const bool whole = a.whole && b.whole;
  switch (call) {
  case TF_K_ADD: return (span){a.least + b.least, a.most + b.most, whole};
  case TF_K_SUB: return (span){a.least - b.most, a.most - b.least, whole};
  case TF_K_MUL: return span_product(a, b);
  case TF_K_NEG: return (span){-a.most, -a.least, a.whole};
  case TF_K_MAX: return (span){fmax(a.least, b.least), fmax(a.most, b.most), whole};
  case TF_K_MIN: return (span){fmin(a.least, b.least), fmin(a.most, b.most), whole};
  case TF_K_RELU: return (span){fmax(a.least, 0), fmax(a.most, 0), a.whole};
  case TF_K_FLOOR: return (span){floor(a.least), floor(a.most), true};
  case TF_K_CEIL: return (span){ceil(a.least), ceil(a.most), true};
  case TF_K_ROUND: return (span){rint(a.least), rint(a.most), true};
  case TF_K_TRUNC: return (span){trunc(a.least), trunc(a.most), true};
  default: return any;
  }
}

/* Whether node i is a number that no maximum (minimum) takes, as it is met by others. */
static bool is_none(const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  return e->what == TF_X_NUMBER && isinf(e->number) &&
         (e->number < 0 ? op->reduce == TF_REDUCE_MAX : op->reduce == TF_REDUCE_MIN);
}

/* Node i of what an op assigns, or reduces. */
static span span_of(asking *a, const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_NUMBER)
    return (span){e->number, e->number, isfinite(e->number) && e->number == rint(e->number)};
  if (e->what == TF_X_READ) {
    const tf_tensor *t = &a->wl->tensors[op->reads[e->ref].tensor];
    span s = fact_of(a, op->reads[e->ref].tensor).range;
    for (int r = 0; r < t->rank; r++) /* zeros stand beyond its borders */
      if (t->pad[r] > 0) s.least = fmin(s.least, 0), s.most = fmax(s.most, 0);
    return s;
  }
  if (e->what != TF_X_CALL) return any;
  if (e->call == TF_K_SELECT) {
    const int yes = e->arg[1], no = e->arg[2];
    if (is_none(op, yes) != is_none(op, no)) return span_of(a, op, is_none(op, yes) ? no : yes);
    const span x = span_of(a, op, yes), y = span_of(a, op, no);
    return (span){fmin(x.least, y.least), fmax(x.most, y.most), x.whole && y.whole};
  }
  if (e->n_args > 2) return any;
  const span x = span_of(a, op, e->arg[0]);
  return called(e->call, x, e->n_args > 1 ? span_of(a, op, e->arg[1]) : x);
}

bool ir_is_product(const tf_op *op) {
  return op->reduce == TF_REDUCE_ADD && op->n_reads == 2 && op->n_out_dims > 0 && op->n_expr == 3 &&
         op->expr[2].what == TF_X_CALL && op->expr[2].call == TF_K_MUL &&
         op->expr[0].what == TF_X_READ && op->expr[1].what == TF_X_READ;
}

bool ir_sums_within(const tf_workload *wl, const tf_op *op, ir_type a, ir_type b, int64_t most) {
  int64_t points = 1;
  if (!ir_is_byte(a) || !ir_is_byte(b)) return false;
  most /= a == IR_U8 ? UINT8_MAX : -INT8_MIN;
  most /= b == IR_U8 ? UINT8_MAX : -INT8_MIN;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(points, wl->dims[op->dims[k]].extent, &points) || points > most)
      return false;
  return true;
}

bool ir_fits_whole(const tf_workload *wl, const tf_op *op, ir_type a, ir_type b) {
  return ir_sums_within(wl, op, a, b, INT32_MAX);
}

static bool sums_bytes(asking *a, const tf_op *op) {
  return ir_is_product(op) && ir_fits_whole(a->wl, op, type_held(a, op->reads[0].tensor),
                                            type_held(a, op->reads[1].tensor));
}

/* Of a tensor that an op makes. */
static tf_held_as made_as(asking *a, int z, span *of) {
  const tf_tensor *t = &a->wl->tensors[z];
  const tf_op *op = &a->wl->ops[t->producer];
  if (sums_bytes(a, op)) return TF_HELD_SUMS;
  if (t->word_bits > 8 || op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MUL)
    return TF_HELD_WIDE;
  const span s = span_of(a, op, op->n_expr - 1);
  if (!s.whole) return TF_HELD_WIDE;
  *of = s;
  return s.least >= -128 && s.most <= 127 ? TF_HELD_SIGNED
         : s.least >= 0 && s.most <= 255  ? TF_HELD_UNSIGNED
                                          : TF_HELD_WIDE;
}

static held_fact held_within(const tf_tensor *t, tf_held_as as, span of) {
  const span all = of_held(as);
  of.whole = all.whole;
  of.least = fmax(of.least, fmax(all.least, t->ranged ? (double)t->least : -INFINITY));
  of.most = fmin(of.most, fmin(all.most, t->ranged ? (double)t->most : INFINITY));
  return (held_fact){true, as, of};
}

/* Whether the tensor is wide, or sums, by its words and its op alone. */
static bool is_no_byte(const tf_workload *wl, int z, bool or_sums) {
  const tf_tensor *t = &wl->tensors[z];
  return !t->held && t->word_bits > 8 &&
         (or_sums || t->producer < 0 || !ir_is_product(&wl->ops[t->producer]));
}

/* Whether it is wide, as can be told without asking what makes what it is made of: a network's cut
 * asks of each set of ops. */
static bool is_plainly_wide(const tf_workload *wl, int z) {
  if (is_no_byte(wl, z, false)) return true;
  if (!is_no_byte(wl, z, true)) return false;
  const tf_op *op = &wl->ops[wl->tensors[z].producer];
  return is_no_byte(wl, op->reads[0].tensor, true) || is_no_byte(wl, op->reads[1].tensor, true);
}

static held_fact fact_of(asking *a, int z) {
  const tf_tensor *t = &a->wl->tensors[z];
  if (t->held) return held_within(t, t->held, any);
  if (t->producer < 0)
    return held_within(t,
                       t->word_bits > 8 ? TF_HELD_WIDE
                       : t->no_sign     ? TF_HELD_UNSIGNED
                                        : TF_HELD_SIGNED,
                       any);
  if (is_plainly_wide(a->wl, z)) return held_within(t, TF_HELD_WIDE, any);
  if (!a->fact && !(a->fact = calloc((size_t)a->wl->n_tensors, sizeof *a->fact)))
    return held_within(t, TF_HELD_WIDE, any);
  if (!a->fact[z].known) {
    span of = any;
    const tf_held_as as = made_as(a, z, &of);
    a->fact[z] = held_within(t, as, as == TF_HELD_WIDE ? any : of);
  }
  return a->fact[z];
}

static ir_type type_held(asking *a, int z) {
  static const ir_type types[] = {[TF_HELD_WIDE] = IR_F32,
                                  [TF_HELD_SIGNED] = IR_I8,
                                  [TF_HELD_UNSIGNED] = IR_U8,
                                  [TF_HELD_SUMS] = IR_I32};
  return types[held_as(a, z)];
}

tf_held_as ir_held_as(const tf_workload *wl, int z) {
  asking a = {wl, NULL};
  const tf_held_as h = held_as(&a, z);
  free(a.fact);
  return h;
}

ir_type ir_type_held(const tf_workload *wl, int z) {
  asking a = {wl, NULL};
  const ir_type t = type_held(&a, z);
  free(a.fact);
  return t;
}

bool ir_reads_unsigned(const tf_workload *wl) {
  bool some = false;
  for (int z = 0; z < wl->n_tensors && !some; z++)
    some = wl->tensors[z].producer < 0 && ir_held_as(wl, z) == TF_HELD_UNSIGNED;
  return some;
}

void ir_say_range(const tf_workload *wl, int z, tf_tensor *said) {
  asking a = {wl, NULL};
  const held_fact f = fact_of(&a, z);
  const span all = of_held(f.as);
  free(a.fact);
  if ((f.as != TF_HELD_SIGNED && f.as != TF_HELD_UNSIGNED) ||
      (f.range.least <= all.least && f.range.most >= all.most))
    return;
  said->ranged = true;
  said->least = (int64_t)ceil(f.range.least), said->most = (int64_t)floor(f.range.most);
}

ir_operand ir_operand_of(const tf_workload *wl, int z, ir_type type) {
  const tf_tensor *t = &wl->tensors[z];
  ir_operand o = {type, type == IR_U8 ? 0 : INT8_MIN, type == IR_U8 ? UINT8_MAX : INT8_MAX};
  if (t->ranged && t->least > o.least) o.least = t->least < 0 ? t->least : 0;
  if (t->ranged && t->most < o.most) o.most = t->most > 0 ? t->most : 0;
  return o;
}
