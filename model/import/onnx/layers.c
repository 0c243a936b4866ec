/* Layers of integers with scales, composed of others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* ---- integers with scales ------------------------------------------------------------------- */

/* Scale or zero of each element of x: one, one for each element of an axis, or one for each block
 * of it. */
static bool spread_scale(ox_net *g, size_t k, const char *name, const ox_value *x, int axis) {
  const ox_value *v = ox_input(g, k);
  const int64_t block = ox_int(g, "block_size", 0);
  if (!v) return false;
  if (ox_size(v) == 1 && v->rank <= 1) return ox_run(g, "%s = Reshape($%zu, [1])", name, k);
  if (v->rank == 1 && block == 0 && ox_extent(v, 0) == ox_extent(x, axis))
    return ox_run(g, "%s = Reshape($%zu, %s)", name, k, ox_ones(g, x->rank, axis, ox_extent(v, 0)));
  bool fits = v->rank == x->rank && block > 0 && v->rank < OX_RANK &&
              ox_extent(v, axis) * block == ox_extent(x, axis);
  int64_t each[OX_RANK], all[OX_RANK];
  for (int i = 0; i < x->rank && fits; i++) {
    fits = i == axis || ox_extent(v, i) == ox_extent(x, i);
    all[i] = ox_extent(x, i);
    each[i + (i > axis)] = ox_extent(v, i);
  }
  if (!fits)
    return ox_fail(g, TF_E_SHAPE,
                   "input %zu is neither one number, nor one of each element or block", k);
  each[axis + 1] = block;
  return ox_run(g, "%s.1 = Unsqueeze($%zu, [%d])", name, k, axis + 1) &&
         ox_run(g, "%s.2 = Expand(%s.1, %s)", name, name, ox_list(g, x->rank + 1, each)) &&
         ox_run(g, "%s = Reshape(%s.2, %s)", name, name, ox_list(g, x->rank, all));
}

/* Whether the k-th input is left out, or known to be nothing but zeros. */
static bool is_nothing(ox_net *g, size_t k) {
  const ox_value *v = ox_has(g, k) ? ox_known_at(g, k) : NULL;
  bool zeros = v != NULL;
  for (int64_t i = 0; zeros && i < ox_size(v); i++)
    zeros = v->number[i] == 0;
  return zeros || !ox_has(g, k);
}

/* Zeros of the elements of x, as `name`. */
static bool spread_zero(ox_net *g, size_t k, const char *name, const ox_value *x, int axis) {
  return spread_scale(g, k, name, x, axis) &&
         ox_run(g, "%s.f = Cast(%s) to=%d", name, name, OX_T_FLOAT);
}

/* The node's result, of that integer type: the line `from` to the nearest whole number, of two
 * alike the even; then what `zero` names is added, and what the type does not have becomes its
 * nearest end.  A quotient that is known is rounded to float32 first, as it is where it is computed
 * later. */
static bool give_whole(ox_net *g, size_t k, const char *from, const char *zero, int type) {
  const ox_type_kind kind = ox_type_kind_of(type);
  const int bits = ox_type_bits(type);
  if ((kind != OX_SIGNED_KIND && kind != OX_UNSIGNED_KIND) || bits > 16)
    return ox_fail(g, TF_E_TYPE, "to %s is not known: to integers of 2, 4, 8 or 16 bits is",
                   ox_type_name(type));
  const bool sign = kind == OX_SIGNED_KIND;
  const double least = sign ? -ldexp(1, bits - 1) : 0, most = ldexp(1, bits - sign) - 1;
  ox_value *made;
  if (!ox_run(g, "%s.q = Cast(%s) to=%d", from, from, OX_T_FLOAT) ||
      !ox_run(g, "%s.r = Round(%s.q)", from, from) ||
      !ox_run(g, zero ? "%s.z = Add(%s.r, %s)" : "%s.z = Identity(%s.r)", from, from,
              zero ? zero : "") ||
      !ox_run(g, "%s.m = Max(%s.z, %.17e)", from, from, least) ||
      !ox_run(g, "@%zu = Min(%s.m, %.17e)", k, from, most) ||
      !(made = ox_find(g, g->node->output[k])))
    return false;
  made->type = type;
  if (made->tensor >= 0) g->tensor[made->tensor].bits = bits;
  return true;
}

/* The node of the graph before the one at hand that makes the value; NULL: none does. */
static const Onnx__NodeProto *node_before(const ox_net *g, const char *name) {
  const Onnx__NodeProto *n = NULL;
  for (int i = g->at_node - 1; i >= 0 && !n; i--) {
    const Onnx__NodeProto *at = g->graph->node[i];
    for (size_t k = 0; k < at->n_output && !n; k++)
      if (!strcmp(at->output[k], name)) n = at;
  }
  return n;
}

/* The node before the one at hand that makes the value numbers of 8-bit steps, from one scale, or
 * (axis not NULL) one for each element of that axis; NULL: none does. */
static const Onnx__NodeProto *steps_before(ox_net *g, const char *name, const int *axis) {
  const Onnx__NodeProto *n = node_before(g, name);
  if (!n || strcmp(n->op_type, "DequantizeLinear") != 0 || n->n_input < 2) return NULL;
  const ox_value *q = ox_find(g, n->input[0]), *s = ox_find(g, n->input[1]), *y = ox_find(g, name);
  if (!q || !s || !y || q->bad || s->bad || !ox_is_integer(q->type) ||
      (y->type && y->type != OX_T_FLOAT))
    return NULL;
  const bool one = ox_size(s) == 1 && s->rank <= 1;
  if (one) return n;
  int64_t at = 1;
  for (size_t i = 0; i < n->n_attribute; i++) {
    if (!strcmp(n->attribute[i]->name, "axis")) at = n->attribute[i]->i;
    if (!strcmp(n->attribute[i]->name, "block_size") && n->attribute[i]->i) return NULL;
  }
  return axis && s->rank == 1 && (at < 0 ? at + q->rank : at) == *axis ? n : NULL;
}

/* The node at hand with n inputs of these names, to be taken in its place. */
static Onnx__NodeProto *node_of(ox_net *g, int n, const char *const *input) {
  Onnx__NodeProto *made = TF_NEW(g->arena, Onnx__NodeProto);
  char **in = TF_ARRAY(g->arena, char *, (size_t)n);
  if (!made || !in) return g->oom = true, NULL;
  *made = *g->node;
  for (int k = 0; k < n; k++)
    in[k] = (char *)input[k];
  made->input = in, made->n_input = (size_t)n;
  return made;
}

static const char *input_of(const Onnx__NodeProto *n, size_t k) {
  return k < n->n_input ? n->input[k] : "";
}

/* Takes the node in the place of the one at hand. */
static bool in_its_place(ox_net *g, const Onnx__NodeProto *n, bool (*take)(ox_net *g)) {
  const Onnx__NodeProto *const node = g->node;
  g->node = n, g->within = node;
  const bool ok = take(g);
  g->node = node, g->within = NULL;
  return ok;
}

/* What `part` of the node before that makes the value is; NULL: it has no such part. */
static const ox_value *part_before(ox_net *g, const char *name, const char *part) {
  const size_t n = strlen(name) + strlen(part) + 2;
  char *own = TF_ARRAY(g->arena, char, n);
  if (!own) return g->oom = true, NULL;
  snprintf(own, n, "%s.%s", name, part);
  const ox_value *v = ox_find(g, own);
  return v && !v->bad ? v : NULL;
}

static double number_or(const ox_value *v, double otherwise) {
  return v && v->number && ox_size(v) == 1 ? v->number[0] : otherwise;
}

/* Sums of products of integers (`in.sums`), of which each is a step (`in.step`) more, and what is
 * added to it
 * (`in.more`, or nothing), in steps of the node at hand: multiplied by the one step over the other,
 * as onnxruntime does, instead of by the one and divided by the other. */
static bool quantize_sums(ox_net *g) {
  const ox_value *v = ox_input(g, 3), *z = ox_has(g, 2) ? ox_input(g, 2) : NULL;
  const int type = z ? z->type : (int)ox_int(g, "output_dtype", OX_T_UINT8);
  const bool zero = !is_nothing(g, 2), more = ox_has(g, 5);
  return v && ox_run(g, "m.y = Reshape($1, [1])") && ox_run(g, "m.1 = Div($4, m.y)") &&
         ox_run(g, "m = Cast(m.1) to=%d", OX_T_FLOAT) && (!zero || spread_zero(g, 2, "z", v, 0)) &&
         ox_run(g, more ? "f.1 = Mul($3, m)" : "f = Mul($3, m)") &&
         (!more ||
          (ox_run(g, "b.1 = Div($5, m.y)") && ox_run(g, "b = Cast(b.1) to=%d", OX_T_FLOAT) &&
           ox_run(g, "f = Add(f.1, b)"))) &&
         give_whole(g, 0, "f", zero ? "z.f" : NULL, type);
}

/* The sum of integers 3 and 4, of which a step is so many of the node's, and `more`: what their
 * zeros and the node's come to.  As onnxruntime adds. */
static bool add_steps(ox_net *g, const double step[2], double more) {
  const ox_value *z = ox_has(g, 2) ? ox_input(g, 2) : NULL;
  return ox_run(g, "a = Cast($3) to=%d", OX_T_FLOAT) &&
         ox_run(g, "b = Cast($4) to=%d", OX_T_FLOAT) && ox_run(g, "a.s = Mul(a, %.17e)", step[0]) &&
         ox_run(g, "b.s = Mul(b, %.17e)", step[1]) && ox_run(g, "f.1 = Add(b.s, %.17e)", more) &&
         ox_run(g, "f = Add(f.1, a.s)") &&
         give_whole(g, 0, "f", NULL, z ? z->type : (int)ox_int(g, "output_dtype", OX_T_UINT8));
}

/* What it is: zero or one scale of a node of steps, as float32; not known: not a number. */
static float known_step(ox_net *g, const Onnx__NodeProto *n, size_t k) {
  const char *const name = input_of(n, k);
  return (float)(*name ? number_or(ox_find(g, name), NAN) : 0);
}

/* Whether the node at hand quantises the sum of two values that stand for integers of 8 bits; it is
 * made. */
static bool quantize_add(ox_net *g, const Onnx__NodeProto *add, bool *done) {
  const Onnx__NodeProto *const node = g->node, *of[2] = {NULL};
  double step[2], from[2], more = known_step(g, node, 2);
  for (int i = 0; i < 2 && add->n_input == 2; i++) {
    of[i] = steps_before(g, add->input[i], NULL);
    if (!of[i] || ox_type_bits(ox_find(g, of[i]->input[0])->type) > 8) return true;
    step[i] = known_step(g, of[i], 1) / known_step(g, node, 1);
    from[i] = step[i] * known_step(g, of[i], 2);
  }
  if (!of[0]) return true;
  more = (float)(more - (from[0] + (float)from[1])); /* rounded where onnxruntime rounds */
  if (!isfinite(more)) return true;
  const Onnx__NodeProto *n =
      node_of(g, 5,
              (const char *[]){node->input[0], node->input[1], input_of(node, 2), of[0]->input[0],
                               of[1]->input[0]});
  if (!n) return false;
  g->node = n, g->within = node;
  *done = add_steps(g, step, more);
  g->node = node, g->within = NULL;
  return *done;
}

static bool give_steps(ox_net *g) { return ox_run(g, "@0 = Identity($0)"); }

/* Whether both nodes have one step and one zero, known and the same. */
static bool same_steps(ox_net *g, const Onnx__NodeProto *a, const Onnx__NodeProto *b) {
  const ox_value *s = ox_find(g, a->input[1]), *t = ox_find(g, b->input[1]);
  const char *const y = input_of(a, 2), *const z = input_of(b, 2);
  const double none = *y ? NAN : 0, none_2 = *z ? NAN : 0;
  return number_or(s, NAN) == number_or(t, NAN) &&
         number_or(*y ? ox_find(g, y) : NULL, none) == number_or(*z ? ox_find(g, z) : NULL, none_2);
}

/* What the node at hand quantises; where its type ends at its zero, what a ReLU before it is made
 * of. */
static const char *below_relu(ox_net *g, int type) {
  const char *const x = g->node->input[0];
  const Onnx__NodeProto *of = node_before(g, x);
  const double least =
      ox_type_kind_of(type) == OX_SIGNED_KIND ? -ldexp(1, ox_type_bits(type) - 1) : 0;
  const double zero = ox_has(g, 2) ? number_or(ox_input(g, 2), NAN) : 0;
  return of && !strcmp(of->op_type, "Relu") && zero == least ? of->input[0] : x;
}

/* What the node at hand, with one scale, makes of integers whose steps are known: the same
 * integers, or sums of them. False in *done: of other numbers. */
static bool quantize_steps(ox_net *g, int type, bool *done) {
  const ox_value *s = ox_input(g, 1);
  *done = false;
  if (!s || !s->number || !(s->number[0] > 0) || g->within || g->scope) return true;
  const char *x = g->node->input[0];
  const ox_value *ints = part_before(g, x, "in.ints");
  const Onnx__NodeProto *from = steps_before(g, ints ? node_before(g, x)->input[0] : x, NULL);
  if (from && !ints) ints = ox_find(g, from->input[0]);
  if (from && ints && ints->type == type && same_steps(g, from, g->node)) {
    const Onnx__NodeProto *n = node_of(g, 1, (const char *[]){ints->name});
    return *done = n && in_its_place(g, n, give_steps);
  }
  x = below_relu(g, type);
  const Onnx__NodeProto *of = node_before(g, x);
  if (of && !strcmp(of->op_type, "Add")) return quantize_add(g, of, done);
  const ox_value *sums = part_before(g, x, "in.sums"), *step = part_before(g, x, "in.step"),
                 *more = part_before(g, x, "in.more");
  if (!sums || !step || !step->number || (more && !more->number)) return !g->oom;
  const Onnx__NodeProto *n =
      node_of(g, 6,
              (const char *[]){x, g->node->input[1], input_of(g->node, 2), sums->name, step->name,
                               more ? more->name : ""});
  return *done = n && in_its_place(g, n, quantize_sums);
}

/* x / scale, to the nearest; then zero is added */
static bool quantize(ox_net *g) {
  const ox_value *x = ox_input(g, 0), *s = ox_input(g, 1),
                 *z = ox_has(g, 2) ? ox_input(g, 2) : NULL;
  const int64_t at = ox_int(g, "axis", 1), to = ox_int(g, "output_dtype", 0),
                steps = ox_int(g, "precision", 0);
  int axis = 0;
  if (!x || !s || (ox_has(g, 2) && !z)) return false;
  if (steps && steps != OX_T_FLOAT)
    return ox_fail(g, TF_E_TYPE, "in steps of %s", ox_type_name((int)steps));
  if (z && to && z->type != to)
    return ox_fail(g, TF_E_TYPE, "to %s, with a zero of %s", ox_type_name((int)to),
                   ox_type_name(z->type));
  const bool one = ox_size(s) == 1 && s->rank <= 1, zero = !is_nothing(g, 2);
  if (!one && !ox_axis_at(g, at, x->rank, &axis)) return false;
  const int type = z ? z->type : to ? (int)to : OX_T_UINT8;
  bool done = false;
  if (one && (!quantize_steps(g, type, &done) || done)) return done;
  return ox_run(g, "x = Cast($0) to=%d", OX_T_FLOAT) && spread_zero(g, 1, "s", x, axis) &&
         (!zero || spread_zero(g, 2, "z", x, axis)) && ox_run(g, "y = Div(x, s.f)") &&
         give_whole(g, 0, "y", zero ? "z.f" : NULL, type);
}

/* As uint8, by a scale at which 0 and the least and the greatest of all elements are in its range.
 */
static bool quantize_all(ox_net *g) {
  return ox_run(g, "most = ReduceMax($0) keepdims=0") &&
         ox_run(g, "least = ReduceMin($0) keepdims=0") && ox_run(g, "high = Max(most, 0.0)") &&
         ox_run(g, "low = Min(least, 0.0)") && ox_run(g, "wide = Sub(high, low)") &&
         ox_run(g, "none = Equal(wide, 0.0)") && ox_run(g, "each = Div(wide, 255.0)") &&
         ox_run(g, "@1 = Where(none, 1.0, each)") && ox_run(g, "first = Div(low, @1)") &&
         ox_run(g, "back = Sub(0.0, first)") && give_whole(g, 2, "back", NULL, OX_T_UINT8) &&
         ox_run(g, "z = Cast(@2) to=%d", OX_T_FLOAT) && ox_run(g, "y = Div($0, @1)") &&
         give_whole(g, 0, "y", "z", OX_T_UINT8);
}

/* (x - zero) * scale */
static bool dequantize(ox_net *g) {
  const ox_value *x = ox_input(g, 0), *s = ox_input(g, 1);
  int axis = 0;
  const int64_t at = ox_int(g, "axis", 1), to = ox_int(g, "output_dtype", 0);
  if (!x || !s) return false;
  const bool one = ox_size(s) == 1 && s->rank <= 1;
  if (!one && !ox_axis_at(g, at, x->rank, &axis)) return false;
  const int type = to ? (int)to : s->type;
  if (!ox_run(g, "x = Cast($0) to=%d", OX_T_FLOAT) || !spread_scale(g, 1, "scale", x, axis))
    return false;
  const bool zero = !is_nothing(g, 2);
  if (zero && !spread_zero(g, 2, "z", x, axis)) return false;
  return ox_run(g, zero ? "d = Sub(x, z.f)" : "d = Identity(x)") &&
         ox_run(g, "y = Mul(d, scale)") && ox_run(g, "@0 = Cast(y) to=%d", type);
}

/* Weights that are integers of their type still, where they are inputs of the workload. */
static bool keep_bits(ox_net *g, const char *name, size_t k, size_t zero) {
  const ox_value *v = ox_made(g, name), *q = ox_input(g, k);
  if (is_nothing(g, zero) && v && q && v->tensor >= 0 && g->tensor[v->tensor].op < 0)
    g->tensor[v->tensor].bits = ox_type_bits(q->type),
    g->tensor[v->tensor].no_sign = ox_type_kind_of(q->type) == OX_UNSIGNED_KIND;
  return true;
}

/* Integers less their zero, as int32. */
static bool less_zero(ox_net *g, size_t k, size_t zero, const char *name, int type,
                      const char *shape) {
  if (!ox_run(g, "%s.w = Cast($%zu) to=%d", name, k, type)) return false;
  if (is_nothing(g, zero)) return ox_run(g, "%s = Identity(%s.w)", name, name);
  if (!ox_run(g, "%s.0 = Cast($%zu) to=%d", name, zero, type)) return false;
  const ox_value *z = ox_input(g, zero);
  if (!z) return false;
  if (ox_size(z) == 1)
    return ox_run(g, "%s.1 = Reshape(%s.0, [1])", name, name) &&
           ox_run(g, "%s = Sub(%s.w, %s.1)", name, name, name);
  if (!shape || z->rank != 1) return ox_fail(g, TF_E_RANK, "zeros of %d axes", z->rank);
  return ox_run(g, "%s.1 = Reshape(%s.0, %s)", name, name, shape) &&
         ox_run(g, "%s = Sub(%s.w, %s.1)", name, name, name);
}

static bool matmul_integer(ox_net *g) {
  return less_zero(g, 0, 2, "a", OX_T_INT32, "[-1,1]") &&
         less_zero(g, 1, 3, "b", OX_T_INT32, "[1,-1]") && ox_run(g, "@0 = MatMul(a, b)");
}

/* The sums of the node's windows over `x` and `w`, as `y`. */
static bool sum_windows(ox_net *g, const char *bias) {
  const char *how = ox_word(g, "auto_pad", "NOTSET");
  return how &&
         ox_run(g, "y = Conv(x, w%s) auto_pad=%s group=%lld %s %s %s %s", bias, how,
                (long long)ox_int(g, "group", 1), ox_same_list(g, "kernel_shape"),
                ox_same_list(g, "strides"), ox_same_list(g, "dilations"), ox_same_list(g, "pads"));
}

static bool conv_integer(ox_net *g) {
  const ox_value *w = ox_input(g, 1);
  return less_zero(g, 0, 2, "x", OX_T_FLOAT, NULL) && w &&
         less_zero(g, 1, 3, "w", OX_T_FLOAT, ox_ones(g, w->rank, 0, -1)) && sum_windows(g, "") &&
         ox_run(g, "@0 = Cast(y) to=%d", OX_T_INT32);
}

/* Of n products of elements of a and b, less their zeros: reported where float32 may not hold the
 * sums exactly. */
static void remark_sums(ox_net *g, int64_t n, const ox_value *a, const ox_value *b) {
  const double bits = (ox_type_kind_of(a->type) == OX_UNSIGNED_KIND) +
                      (ox_type_kind_of(b->type) == OX_UNSIGNED_KIND) + ox_type_bits(a->type) +
                      ox_type_bits(b->type) - 2;
  if ((double)n * ldexp(1, (int)bits) > 0x1p24) ox_remark(g, OX_WHOLE_SUMS);
}

/* What sums of integers are multiplied by, as `m`: the scales of both operands over the result's,
 * each step rounded to float32.  shape: of the second operand's, if it has several. */
static bool multiplier(ox_net *g, size_t a, size_t b, size_t y, const char *shape) {
  const ox_value *s = ox_input(g, a), *t = ox_input(g, b), *u = ox_input(g, y);
  if (!s || !t || !u) return false;
  if (ox_size(s) != 1) return ox_fail(g, TF_E_SHAPE, "scales of the first operand: one is known");
  if (ox_size(u) != 1) return ox_fail(g, TF_E_SHAPE, "scales of the result: one is known");
  if (t->rank > 1 && ox_size(t) > 1) return ox_fail(g, TF_E_RANK, "scales of %d axes", t->rank);
  return ox_run(g, "m.a = Reshape($%zu, [1])", a) && ox_run(g, "m.y = Reshape($%zu, [1])", y) &&
         ox_run(g, "m.b = Reshape($%zu, %s)", b, ox_size(t) > 1 ? shape : "[1]") &&
         ox_run(g, "m.1 = Mul(m.a, m.b)") && ox_run(g, "m.2 = Cast(m.1) to=%d", OX_T_FLOAT) &&
         ox_run(g, "m.3 = Div(m.2, m.y)") && ox_run(g, "m = Cast(m.3) to=%d", OX_T_FLOAT);
}

/* `y` times `m`, as the node's result with the zero that is input z. */
static bool requantize(ox_net *g, size_t z) {
  const ox_value *v = ox_input(g, z);
  if (!v) return false;
  if (ox_size(v) != 1) return ox_fail(g, TF_E_SHAPE, "zeros of the result: one is known");
  return ox_run(g, "z.1 = Reshape($%zu, [1])", z) && ox_run(g, "z = Cast(z.1) to=%d", OX_T_FLOAT) &&
         ox_run(g, "f = Mul(y, m)") &&
         give_whole(g, 0, "f", is_nothing(g, z) ? NULL : "z", v->type);
}

/* a, its scale and zero, b, its scale and zero, the result's scale and zero */
static bool qlinear_matmul(ox_net *g) {
  const ox_value *a = ox_input(g, 0), *b = ox_input(g, 3);
  if (!a || !b) return false;
  if (a->rank > 0) remark_sums(g, ox_extent(a, a->rank - 1), a, b);
  return less_zero(g, 0, 2, "a", OX_T_FLOAT, "[-1,1]") &&
         less_zero(g, 3, 5, "b", OX_T_FLOAT, "[1,-1]") && ox_run(g, "y = MatMul(a, b)") &&
         multiplier(g, 1, 4, 6, "[-1]") && requantize(g, 7) && keep_bits(g, "b", 3, 5);
}

/* The same for x and w, with a bias of int32 */
static bool qlinear_conv(ox_net *g) {
  const ox_value *x = ox_input(g, 0), *w = ox_input(g, 3);
  if (!x || !w) return false;
  if (w->rank < 3) return ox_fail(g, TF_E_RANK, "weights of %d axes", w->rank);
  remark_sums(g, ox_size(w) / ox_extent(w, 0), x, w);
  if (ox_has(g, 8) && !ox_run(g, "bias = Cast($8) to=%d", OX_T_FLOAT)) return false;
  return less_zero(g, 0, 2, "x", OX_T_FLOAT, NULL) &&
         less_zero(g, 3, 5, "w", OX_T_FLOAT, ox_ones(g, w->rank, 0, -1)) &&
         sum_windows(g, ox_has(g, 8) ? ", bias" : "") &&
         multiplier(g, 1, 4, 6, ox_ones(g, w->rank, 1, -1)) && requantize(g, 7) &&
         keep_bits(g, "w", 3, 5);
}

/* ---- what onnxruntime's quantiser writes besides (com.microsoft) ---------------------------- */

/* Inputs q, q + 1 and q + 2, of which the last may be left out: integers, their scale and zero, as
 * the numbers `name`.
 */
static bool steps_of(ox_net *g, const char *name, size_t q) {
  return ox_has(g, q + 2)
             ? ox_run(g, "%s = DequantizeLinear($%zu, $%zu, $%zu)", name, q, q + 1, q + 2)
             : ox_run(g, "%s = DequantizeLinear($%zu, $%zu)", name, q, q + 1);
}

/* `made` as the node's result, in steps of input s, from the zero that is the one after it, on. */
static bool in_steps(ox_net *g, size_t s) {
  return ox_has(g, s + 1) ? ox_run(g, "@0 = QuantizeLinear(made, $%zu, $%zu)", s, s + 1)
                          : ox_run(g, "@0 = QuantizeLinear(made, $%zu)", s);
}

static bool qlinear_add(ox_net *g) {
  return steps_of(g, "a", 0) && steps_of(g, "b", 3) && ox_run(g, "made = Add(a, b)") &&
         in_steps(g, 6);
}

static bool qlinear_mul(ox_net *g) {
  return steps_of(g, "a", 0) && steps_of(g, "b", 3) && ox_run(g, "made = Mul(a, b)") &&
         in_steps(g, 6);
}

static bool qlinear_sigmoid(ox_net *g) {
  return steps_of(g, "a", 0) && ox_run(g, "made = Sigmoid(a)") && in_steps(g, 3);
}

static bool qlinear_leaky_relu(ox_net *g) {
  return steps_of(g, "a", 0) &&
         ox_run(g, "made = LeakyRelu(a) alpha=%.17e", ox_float(g, "alpha", 0.01)) && in_steps(g, 3);
}

static bool qlinear_softmax(ox_net *g) {
  const int64_t axis = ox_int(g, "axis", -1);
  if (ox_int(g, "opset", 13) < 13)
    return ox_fail(g, TF_E_NAME, "a softmax over all axes from one on is not known");
  return steps_of(g, "a", 0) && ox_run(g, "made = Softmax(a) axis=%lld", (long long)axis) &&
         in_steps(g, 3);
}

static bool first_channels(ox_net *g) {
  return !ox_int(g, "channels_last", 0) ||
         ox_fail(g, TF_E_NAME, "channels along the last axis are not known");
}

static bool qlinear_mean(ox_net *g) {
  return first_channels(g) && steps_of(g, "a", 0) && ox_run(g, "made = GlobalAveragePool(a)") &&
         in_steps(g, 3);
}

static bool qlinear_pool(ox_net *g) {
  const char *how = ox_word(g, "auto_pad", "NOTSET");
  return how && first_channels(g) && steps_of(g, "a", 0) &&
         ox_run(g,
                "made = AveragePool(a) auto_pad=%s %s %s %s ceil_mode=%lld count_include_pad=%lld",
                how, ox_same_list(g, "kernel_shape"), ox_same_list(g, "strides"),
                ox_same_list(g, "pads"), (long long)ox_int(g, "ceil_mode", 0),
                (long long)ox_int(g, "count_include_pad", 0)) &&
         in_steps(g, 3);
}

/* The result's scale and zero, then each part with its own. */
static bool qlinear_concat(ox_net *g) {
  enum { MOST = 16 };
  const size_t n = (g->node->n_input - 2) / 3;
  char list[8 * MOST] = "", name[8];
  if (g->node->n_input != 2 + 3 * n || n < 1 || n > MOST)
    return ox_fail(g, TF_E_RANK, "%zu inputs: scale, zero, and 1 to %d parts with theirs are known",
                   g->node->n_input, MOST);
  for (size_t k = 0; k < n; k++) {
    snprintf(name, sizeof name, "p%zu", k % MOST);
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", name);
    if (!steps_of(g, name, 2 + 3 * k)) return false;
  }
  return ox_run(g, "made = Concat(%s) axis=%lld", list, (long long)ox_int(g, "axis", 0)) &&
         in_steps(g, 0);
}

static bool qlinear_where(ox_net *g) {
  return steps_of(g, "a", 1) && steps_of(g, "b", 4) && ox_run(g, "made = Where($0, a, b)") &&
         in_steps(g, 7);
}

/* a, its scale and zero, b, its scale and zero, a bias of int32, the result's scale and zero;
 * without these a float */
static bool qgemm(ox_net *g) {
  const ox_value *a = ox_input(g, 0), *b = ox_input(g, 3);
  const int64_t transposed = ox_int(g, "transB", 0);
  if (!a || !b) return false;
  if (ox_float(g, "alpha", 1) != 1 || ox_int(g, "transA", 0))
    return ox_fail(g, TF_E_RANGE, "a factor, or a first operand that is turned, is not known");
  if (a->rank > 0) remark_sums(g, ox_extent(a, a->rank - 1), a, b);
  if (!less_zero(g, 0, 2, "a", OX_T_FLOAT, NULL) ||
      !less_zero(g, 3, 5, "b", OX_T_FLOAT, transposed ? "[-1,1]" : "[1,-1]") ||
      !ox_run(g, "%s = Gemm(a, b) transB=%lld", ox_has(g, 6) ? "y.0" : "y",
              (long long)transposed) ||
      (ox_has(g, 6) &&
       (!ox_run(g, "c = Cast($6) to=%d", OX_T_FLOAT) || !ox_run(g, "y = Add(y.0, c)"))))
    return false;
  keep_bits(g, "b", 3, 5);
  if (ox_has(g, 7)) return multiplier(g, 1, 4, 7, "[-1]") && requantize(g, 8);
  return ox_run(g, "m.1 = Mul($1, $4)") && ox_run(g, "m = Cast(m.1) to=%d", OX_T_FLOAT) &&
         ox_run(g, "@0 = Mul(y, m)");
}

/* ---- products of what stands for integers --------------------------------------------------- */

/* Whether a bias, in steps of its own, has those of the sums: scale[i] of it are those of x times
 * those of w. */
static bool has_steps_of_sums(const ox_net *g, const Onnx__NodeProto *bias,
                              const Onnx__NodeProto *x, const Onnx__NodeProto *w) {
  ox_net *of = (ox_net *)g;
  const ox_value *s = ox_find(of, bias->input[1]), *a = ox_find(of, x->input[1]),
                 *b = ox_find(of, w->input[1]);
  const ox_value *zero = *input_of(bias, 2) ? ox_find(of, bias->input[2]) : NULL;
  bool same = s->number && a->number && b->number && (!zero || zero->number) &&
              ox_find(of, bias->input[0])->rank == 1 &&
              (ox_size(s) == ox_size(b) || ox_size(b) == 1);
  for (int64_t i = 0; same && zero && i < ox_size(zero); i++)
    same = zero->number[i] == 0;
  for (int64_t i = 0; same && i < ox_size(s); i++)
    same = (float)s->number[i] == (float)a->number[0] * (float)b->number[ox_size(b) > 1 ? i : 0];
  return same;
}

/* Of the convolution: pads of all axes, as Pad has them; false: there are none. */
static bool borders_of(ox_net *g, int rank, int64_t all[2 * OX_RANK]) {
  size_t n = 0;
  const int64_t *pads = ox_ints(g, "pads", &n);
  const int axes = rank - 2;
  bool some = false;
  memset(all, 0, 2 * OX_RANK * sizeof *all);
  for (int k = 0; pads && k < axes && n == 2 * (size_t)axes; k++)
    all[2 + k] = pads[k], all[rank + 2 + k] = pads[axes + k], some |= pads[k] || pads[axes + k];
  return some;
}

/* Whether each element of x meets so many weights that a copy of it with a border of zeros is worth
 * while. */
static bool meets_many(ox_net *g, const ox_value *w) {
  enum { MANY = 64 };
  size_t n = 0;
  const int64_t *by = ox_ints(g, "strides", &n);
  double meets = (double)ox_size(w) / (double)ox_extent(w, 1);
  for (size_t k = 0; by && k < n; k++)
    meets /= (double)by[k];
  return meets >= MANY;
}

/* What the zero of x comes to in the sums of a convolution, for each of its channels, as `zero`:
 * the zero times the sum of the channel's weights.  False in *can, where these are not whole
 * numbers in the file, or sums of the integers as they are might pass 2^24, beyond which float32
 * does not hold all. */
static bool sum_of_zeros(ox_net *g, bool *can) {
  const ox_value *x = ox_input(g, 0), *w = ox_input(g, 3),
                 *z = is_nothing(g, 2) ? NULL : ox_input(g, 2);
  ox_reading from;
  *can = false;
  if (!x || !w || !z || !z->number || ox_size(z) != 1 || !is_nothing(g, 5)) return true;
  const Onnx__TensorProto *data = w->tensor < 0       ? w->data
                                  : ox_is_whole(g, w) ? g->tensor[w->tensor].source.data
                                                      : NULL;
  const int64_t channels = ox_extent(w, 0), each = ox_size(w) / channels,
                shape[OX_RANK] = {1, channels, 1, 1, 1};
  const int bits =
      ox_type_bits(x->type) + ox_type_bits(w->type) - (ox_type_kind_of(w->type) == OX_SIGNED_KIND);
  int64_t pads[2 * OX_RANK];
  if (w->rank > 5 || w->rank < 3 || (borders_of(g, w->rank, pads) && !meets_many(g, w)))
    return true;
  if (ox_int(g, "group", 1) != 1 || (double)each * ldexp(1, bits) > 0x1p24 || !data ||
      data->data_location == 1 || !ox_has_numbers(g, data) ||
      !ox_open_numbers(g, data, ox_size(w), &from))
    return true;
  double *sum = ox_numbers_room(g, channels);
  if (!sum) return true;
  for (int64_t k = 0; k < channels; k++) {
    sum[k] = 0;
    for (int64_t i = 0; i < each; i++)
      sum[k] += ox_next_number(&from);
    sum[k] *= z->number[0];
  }
  *can = true;
  return ox_let(g, "zero", w->rank, shape, sum, OX_T_FLOAT);
}

/* It is integers of x's type. */
static void keep_type(ox_tensor *t, const ox_value *x) {
  t->bits = ox_type_bits(x->type);
  t->no_sign = ox_type_kind_of(x->type) == OX_UNSIGNED_KIND;
}

/* x.w with a border of its zeros. */
static bool border_of_zeros(ox_net *g, int rank, const int64_t *pads) {
  const ox_value *x = ox_input(g, 0);
  const int from = g->n_tensors;
  if (!x || !ox_run(g, "x.0 = Reshape($2, [1])") ||
      !ox_run(g, "x.z = Cast(x.0) to=%d", OX_T_FLOAT) ||
      !ox_run(g, "x = Pad(x.w, %s, x.z) mode=constant", ox_list(g, 2 * rank, pads)))
    return false;
  for (int t = from; t < g->n_tensors; t++)
    if (g->tensor[t].op >= 0) keep_type(&g->tensor[t], x);
  return true;
}

/* Sums of x as it stands in the file, so that it stays bytes: its border is as many of its zeros,
 * and what these come to is taken off. */
static bool sum_with_zeros(ox_net *g, int rank, bool bias) {
  int64_t pads[2 * OX_RANK];
  const bool bordered = borders_of(g, rank, pads);
  return ox_run(g, "x.w = Cast($0) to=%d", OX_T_FLOAT) &&
         ox_run(g, "w = Cast($3) to=%d", OX_T_FLOAT) &&
         (bordered ? border_of_zeros(g, rank, pads) : ox_run(g, "x = Identity(x.w)")) &&
         ox_run(g, "y.q = Conv(x, w) auto_pad=NOTSET %s %s %s", ox_same_list(g, "kernel_shape"),
                ox_same_list(g, "strides"), ox_same_list(g, "dilations")) &&
         (bias ? ox_run(g, "b.w = Reshape(bias, %s)", ox_ones(g, rank, 1, -1)) &&
                     ox_run(g, "c = Sub(b.w, zero)") && ox_run(g, "y = Add(y.q, c)")
               : ox_run(g, "y = Sub(y.q, zero)"));
}

/* The node at hand as one of integers: x, its scale and zero, w, its scale and zero, a bias or
 * none; its attributes stay. */
static bool run_in_steps(ox_net *g, bool windows, int rank, bool bias) {
  const char *shape = windows ? ox_ones(g, rank, 1, -1) : "[-1]";
  const int64_t transposed = ox_int(g, "transB", 0);
  const char *how = ox_word(g, "auto_pad", "NOTSET");
  bool zeros = false;
  if (windows && how && !strcmp(how, "NOTSET") && rank > 2 && !sum_of_zeros(g, &zeros))
    return false;
  if (!zeros &&
      (!less_zero(g, 0, 2, "x", OX_T_FLOAT, NULL) || !less_zero(g, 3, 5, "w", OX_T_FLOAT, NULL)))
    return false;
  if (bias && !ox_run(g, "bias = Cast($6) to=%d", OX_T_FLOAT)) return false;
  if (zeros ? !sum_with_zeros(g, rank, bias)
      : windows
          ? !sum_windows(g, bias ? ", bias" : "")
          : !ox_run(g, "%s = Gemm(x, w) transB=%lld", bias ? "y.0" : "y", (long long)transposed) ||
                (bias && !ox_run(g, "y = Add(y.0, bias)")))
    return false;
  keep_bits(g, "w", 3, 5);
  const ox_value *s = ox_input(g, 4);
  return s && ox_run(g, "m.x = Reshape($1, [1])") &&
         ox_run(g, "m.w = Reshape($4, %s)", ox_size(s) > 1 ? shape : "[1]") &&
         ox_run(g, "m.1 = Mul(m.x, m.w)") && ox_run(g, "m = Cast(m.1) to=%d", OX_T_FLOAT) &&
         ox_run(g, "%s = Mul(y, m)", ox_has(g, 7) ? "f" : "@0") &&
         ox_run(g, "in.sums = Identity(y)") && ox_run(g, "in.step = Identity(m)") &&
         (!ox_has(g, 7) ||
          (ox_run(g, "in.more = Reshape($7, %s)", shape) && ox_run(g, "@0 = Add(f, in.more)")));
}

static bool windows_in_steps(ox_net *g) {
  const ox_value *w = ox_input(g, 3);
  return w && run_in_steps(g, true, w->rank, ox_has(g, 6));
}

static bool gemm_in_steps(ox_net *g) { return run_in_steps(g, false, 2, ox_has(g, 6)); }

/* The greatest of integers, in the steps of these. */
static bool most_in_steps(ox_net *g) {
  const char *how = ox_word(g, "auto_pad", "NOTSET");
  const ox_value *q = ox_input(g, 0);
  if (!how || !q ||
      !ox_run(g, "in.ints = MaxPool($0) auto_pad=%s %s %s %s %s ceil_mode=%lld", how,
              ox_same_list(g, "kernel_shape"), ox_same_list(g, "strides"),
              ox_same_list(g, "dilations"), ox_same_list(g, "pads"),
              (long long)ox_int(g, "ceil_mode", 0)))
    return false;
  const ox_value *ints = ox_made(g, "in.ints");
  if (ints && ints->tensor >= 0) keep_type(&g->tensor[ints->tensor], q);
  return ox_run(g, ox_has(g, 2) ? "@0 = DequantizeLinear(in.ints, $1, $2)"
                                : "@0 = DequantizeLinear(in.ints, $1)");
}

/* The greatest of numbers in steps of more than 0 is that of the integers that they stand for. */
static bool most_of_steps(ox_net *g, bool *done) {
  const Onnx__NodeProto *x = steps_before(g, g->node->input[0], NULL);
  if (!x || ox_type_bits(ox_find(g, x->input[0])->type) > 8 ||
      !(number_or(ox_find(g, x->input[1]), 0) > 0) ||
      (g->node->n_output > 1 && *g->node->output[1]))
    return true;
  const Onnx__NodeProto *n =
      node_of(g, 3, (const char *[]){x->input[0], x->input[1], input_of(x, 2)});
  return *done = n && in_its_place(g, n, most_in_steps);
}

bool ox_in_steps(ox_net *g, bool *done) {
  const Onnx__NodeProto *const node = g->node;
  const bool windows = !strcmp(node->op_type, "Conv"), gemm = !strcmp(node->op_type, "Gemm"),
             most = !strcmp(node->op_type, "MaxPool");
  const int axis = windows || ox_int(g, "transB", 0) ? 0 : 1;
  *done = false;
  if (g->within || g->scope || !(windows || gemm || most) || node->n_input < 1) return true;
  if (most) return most_of_steps(g, done);
  if (node->n_input < 2) return true;
  if (gemm &&
      (ox_float(g, "alpha", 1) != 1 || ox_float(g, "beta", 1) != 1 || ox_int(g, "transA", 0)))
    return true;
  const Onnx__NodeProto *x = steps_before(g, node->input[0], NULL),
                        *w = steps_before(g, node->input[1], &axis);
  if (!x || !w) return true;
  const ox_value *q = ox_find(g, x->input[0]), *v = ox_find(g, w->input[0]);
  if (ox_type_bits(q->type) > 8 || ox_type_bits(v->type) > 8) return true;
  const ox_value *zero = *input_of(w, 2) ? ox_find(g, w->input[2]) : NULL;
  if (zero &&
      ox_size(zero) > 1) { /* zeros of channels that are no zeros are left to numbers of steps */
    for (int64_t i = 0; i < ox_size(zero); i++)
      if (!zero->number || zero->number[i] != 0) return true;
    zero = NULL;
  }
  const int first = 0;
  const bool added = ox_has(g, 2);
  const ox_value *c = added ? ox_input(g, 2) : NULL;
  if (added && (!c || c->rank != 1)) return c != NULL;
  const Onnx__NodeProto *b = added ? steps_before(g, node->input[2], &first) : NULL;
  const bool whole = b && has_steps_of_sums(g, b, x, w);
  const Onnx__NodeProto *n =
      node_of(g, 8,
              (const char *[]){x->input[0], x->input[1], input_of(x, 2), w->input[0], w->input[1],
                               zero ? w->input[2] : "", whole ? b->input[0] : "",
                               added && !whole ? node->input[2] : ""});
  return *done = n && in_its_place(g, n, windows ? windows_in_steps : gemm_in_steps);
}

const ox_kind ox_layers[] = {
    {"QuantizeLinear", quantize, NULL},
    {"DynamicQuantizeLinear", quantize_all, NULL},
    {"DequantizeLinear", dequantize, NULL},
    {"QLinearMatMul", qlinear_matmul, NULL},
    {"QLinearConv", qlinear_conv, NULL},
    {"MatMulInteger", matmul_integer, NULL},
    {"ConvInteger", conv_integer, NULL},
    {"QGemm", qgemm, NULL},
    {"QLinearAdd", qlinear_add, NULL},
    {"QLinearAveragePool", qlinear_pool, NULL},
    {"QLinearConcat", qlinear_concat, NULL},
    {"QLinearGlobalAveragePool", qlinear_mean, NULL},
    {"QLinearLeakyRelu", qlinear_leaky_relu, NULL},
    {"QLinearMul", qlinear_mul, NULL},
    {"QLinearSigmoid", qlinear_sigmoid, NULL},
    {"QLinearSoftmax", qlinear_softmax, NULL},
    {"QLinearWhere", qlinear_where, NULL},
    {NULL, NULL, NULL},
};
