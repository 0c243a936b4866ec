/* test.c and bench.c: the reference evaluates the workload's expressions over whole tensors, in
 * double, and shares no code with the kernel. */
#include <inttypes.h>
#include <math.h>

#include "codegen/backend/cpu/print/files.h"
#include "model/input/masked.h"

static const tf_workload *workload(const c_package *k) {
  return k->p->asked ? k->p->asked : k->p->tree->workload;
}

static void index_text(FILE *out, const tf_workload *wl, const tf_index *ix) {
  fprintf(out, "(%" PRId64, ix->c);
  for (int t = 0; t < ix->n_terms; t++)
    fprintf(out, " + %" PRId64 " * d_%s", ix->terms[t].coef, wl->dims[ix->terms[t].dim].name);
  fputc(')', out);
}

static bool padded(const tf_tensor *z) {
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return true;
  return false;
}

/* The element, or fetch(array, rank, coordinate, extent, ...) if it may be padding. */
static void read_text(FILE *out, const tf_workload *wl, const tf_ref *ref) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  bool guarded = padded(z);
  fprintf(out, guarded ? "fetch(r_%s, %d" : "r_%s[0", z->name, z->rank);
  int64_t step = tf_tensor_words(z);
  for (int r = 0; r < z->rank; r++) {
    step /= z->extent[r];
    fputs(guarded ? ", (long long)(" : " + (", out);
    index_text(out, wl, &ref->index[r]);
    fprintf(out, guarded ? " - %" PRId64 "), %" PRId64 "LL" : " - %" PRId64 ") * %" PRId64 "LL",
            z->lo[r], guarded ? z->extent[r] : step);
  }
  fputc(guarded ? ')' : ']', out);
}

static const char *const names[TF_N_KINDS] = {
    [TF_K_EXP] = "exp",       [TF_K_LOG] = "log",       [TF_K_SQRT] = "sqrt",
    [TF_K_TANH] = "tanh",     [TF_K_ERF] = "erf",       [TF_K_SIGMOID] = "ref_sigmoid",
    [TF_K_RELU] = "ref_relu", [TF_K_GELU] = "ref_gelu", [TF_K_ABS] = "fabs",
    [TF_K_MAX] = "fmax",      [TF_K_MIN] = "fmin",      [TF_K_SELECT] = "ref_select",
    [TF_K_NEG] = "-",         [TF_K_SILU] = "ref_silu", [TF_K_FLOOR] = "floor",
    [TF_K_CEIL] = "ceil",     [TF_K_ROUND] = "rint",    [TF_K_TRUNC] = "trunc",
    [TF_K_SIN] = "sin",       [TF_K_COS] = "cos",       [TF_K_FMOD] = "fmod",
};

static const char *const signs[TF_N_KINDS] = {
    [TF_K_ADD] = "+", [TF_K_SUB] = "-", [TF_K_MUL] = "*", [TF_K_DIV] = "/",
    [TF_K_LT] = "<",  [TF_K_LE] = "<=", [TF_K_EQ] = "==", [TF_K_NE] = "!=",
};

static void value(FILE *out, const tf_workload *wl, const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_READ) {
    read_text(out, wl, &op->reads[e->ref]);
    return;
  }
  if (e->what == TF_X_NUMBER) {
    isinf(e->number) ? fputs(e->number < 0 ? "(-INFINITY)" : "INFINITY", out)
                     : fprintf(out, "%.17g", e->number);
    return;
  }
  if (e->what == TF_X_DIM) {
    fprintf(out, "(double)d_%s", wl->dims[e->dim].name);
    return;
  }
  const char *sign = signs[e->call];
  if (!sign) fputs(names[e->call] ? names[e->call] : "", out);
  fputc('(', out);
  for (int k = 0; k < e->n_args; k++) {
    if (k && sign)
      fprintf(out, " %s ", sign);
    else if (k)
      fputs(", ", out);
    value(out, wl, op, e->arg[k]);
  }
  fputc(')', out);
}

static void reference_op(FILE *out, const tf_workload *wl, const tf_op *op, bool half) {
  static const char *const identity[] = {[TF_ASSIGN] = "0",
                                         [TF_REDUCE_ADD] = "0",
                                         [TF_REDUCE_MUL] = "1",
                                         [TF_REDUCE_MAX] = "-INFINITY",
                                         [TF_REDUCE_MIN] = "INFINITY"};
  const tf_tensor *z = &wl->tensors[op->out];
  fprintf(out, "  for (long long i = 0; i < %" PRId64 "; i++) r_%s[i] = %s;\n", tf_tensor_words(z),
          z->name, identity[op->reduce]);
  for (int k = 0; k < op->n_dims; k++) {
    const tf_dim *d = &wl->dims[op->dims[k]];
    fprintf(out, "  for (long long d_%s = 0; d_%s < %" PRId64 "; d_%s++)\n", d->name, d->name,
            d->extent, d->name);
  }
  fprintf(out, "  {\n    double *at = &r_%s[0", z->name);
  int64_t step = 1;
  for (int r = z->rank - 1; r >= 0; r--) {
    fprintf(out, " + (d_%s - %" PRId64 ") * %" PRId64, wl->dims[op->dims[r]].name, z->lo[r], step);
    step *= z->extent[r];
  }
  fputs("], v = ", out);
  value(out, wl, op, op->n_expr - 1);
  const char *how[] = {[TF_ASSIGN] = "v",
                       [TF_REDUCE_ADD] = "*at + v",
                       [TF_REDUCE_MUL] = "*at * v",
                       [TF_REDUCE_MAX] = "fmax(*at, v)",
                       [TF_REDUCE_MIN] = "fmin(*at, v)"};
  fprintf(out, ";\n    *at = %s;\n  }\n", how[op->reduce]);
  if (half)
    fprintf(out,
            "  for (long long i = 0; low && i < %" PRId64 "; i++) r_%s[i] = in_half(r_%s[i]);\n",
            tf_tensor_words(z), z->name, z->name);
}

static const char includes[] =
    "#include <math.h>\n#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n\n";
static const char fetch[] =
    "/* The element at the coordinates (coordinate, extent, ...); zero outside. */\n"
    "static inline double fetch(const double *x, int rank, ...) {\n"
    "  va_list ap;\n  long long i = 0;\n  int in = 1;\n"
    "  va_start(ap, rank);\n"
    "  for (int r = 0; r < rank; r++) {\n"
    "    long long at = va_arg(ap, long long), extent = va_arg(ap, long long);\n"
    "    in &= at >= 0 && at < extent;\n    i = i * extent + at;\n  }\n"
    "  va_end(ap);\n  return in ? x[i] : 0;\n}\n\n";
static const struct {
  tf_kind kind;
  const char *text;
} functions[] = {
    {TF_K_SIGMOID, "static double ref_sigmoid(double x) { return 1 / (1 + exp(-x)); }\n\n"},
    {TF_K_SILU, "static double ref_silu(double x) { return x / (1 + exp(-x)); }\n\n"},
    {TF_K_RELU, "static double ref_relu(double x) { return x > 0 ? x : 0; }\n\n"},
    {TF_K_GELU,
     "static double ref_gelu(double x) { return 0.5 * x * (1 + erf(x / sqrt(2.0))); }\n\n"},
    {TF_K_SELECT,
     "static double ref_select(double c, double yes, double no) { return c != 0 ? yes : no; }\n\n"},
};
static const char common[] = "static void *room(size_t n, size_t size) {\n"
                             "  void *p = calloc(n ? n : 1, size);\n"
                             "  if (!p) exit(2);\n  return p;\n}\n\n";

/* bfloat16 by its definition; the kernel converts otherwise. */
static const char bf16_text[] =
    "static float of_bf16(uint16_t h) {\n"
    "  uint32_t u = (uint32_t)h << 16;\n  float v;\n  memcpy(&v, &u, sizeof v);\n  return v;\n}\n\n"
    "static uint16_t to_bf16(float v) {\n"
    "  uint32_t u, rest;\n  memcpy(&u, &v, sizeof u);\n  rest = u & 0xffff;\n  u >>= 16;\n"
    "  if (rest > 0x8000 || (rest == 0x8000 && u % 2)) u++;\n  return (uint16_t)u;\n}\n\n";

/* float16 by its definition, for numbers that tests use: at most eleven bits, above 2^-14. */
static const char f16_text[] =
    "static float of_f16(uint16_t h) {\n"
    "  int e = h >> 10 & 31;\n"
    "  float v = ldexpf((float)(e ? (h & 1023) + 1024 : h & 1023), (e ? e : 1) - 25);\n"
    "  if (e == 31) v = h & 1023 ? NAN : INFINITY;\n  return h >> 15 ? -v : v;\n}\n\n"
    "static uint16_t to_f16(float v) {\n"
    "  int e;\n  float part = frexpf(fabsf(v), &e);\n  if (v == 0) return 0;\n"
    "  return (uint16_t)((v < 0) << 15 | (((e + 14) << 10) + (int)(part * 2048) - 1024));\n}\n\n";

static const char half_text[] =
    "/* As float16 has it: in steps of 2^-24 below its normal numbers. */\n"
    "static double in_half(double v) {\n"
    "  return fabs(v) < 0x1p-14 ? rint(v * 0x1p24) * 0x1p-24 : v;\n}\n\n";

/* float8 (e4m3) by its definition: to nearest even, at most 448. */
static const char f8_text[] =
    "static float of_f8(uint8_t h) {\n"
    "  int e = h >> 3 & 15;\n"
    "  float v = ldexpf((float)(e ? (h & 7) + 8 : h & 7), (e ? e : 1) - 10);\n"
    "  if ((h & 127) == 127) v = NAN;\n  return h >> 7 ? -v : v;\n}\n\n"
    "static uint8_t to_f8(float v) {\n"
    "  int e;\n  frexpf(fabsf(v), &e);\n  if (v == 0 || e < -5) e = -5;\n"
    "  return (uint8_t)((v < 0) << 7 | (((e + 6) << 3) + (int)rintf(ldexpf(fabsf(v), 4 - e)) - "
    "8));\n"
    "}\n\n";

static bool positive(uint32_t kinds) {
  bool quotient = (kinds >> TF_K_DIV & 1) && !(kinds >> TF_K_EXP & 1);
  return quotient || (kinds & (1u << TF_K_LOG | 1u << TF_K_SQRT));
}

/* Whether an op compares or rounds its reads: sums that differ only by rounding may then give
 * different results in the kernel and in the reference. */
static bool compares(const tf_op *op, int i, bool within) {
  const uint32_t asks = 1u << TF_K_LT | 1u << TF_K_LE | 1u << TF_K_EQ | 1u << TF_K_NE |
                        1u << TF_K_FLOOR | 1u << TF_K_CEIL | 1u << TF_K_ROUND | 1u << TF_K_TRUNC |
                        1u << TF_K_FMOD;
  const tf_expr *e = &op->expr[i];
  if (e->what != TF_X_CALL) return within && e->what == TF_X_READ;
  bool any = false;
  for (int k = 0; k < e->n_args && !any; k++)
    any = compares(op, e->arg[k],
                   within || asks >> e->call & 1 || (e->call == TF_K_SELECT && k == 0));
  return any;
}

/* The expression by which tests draw numbers: positive if there is a logarithm, root or quotient;
 * small and of both signs for exponentials; else mostly of one sign, so that long sums grow.
 * Products and their sums are inexact, unless `exact`. */
static const char *numbers(uint32_t kinds, ir_type data, bool exact) {
  const uint32_t steep = 1u << TF_K_EXP | 1u << TF_K_SIGMOID | 1u << TF_K_TANH | 1u << TF_K_GELU |
                         1u << TF_K_SILU | 1u << TF_K_ERF;
  if (data != IR_I8 && exact) return positive(kinds) ? "(v + 1) / 64" : "(v - 50) / 256";
  if (data != IR_I8)
    return positive(kinds) ? "(v + 1) / 67" : kinds & steep ? "(v - 50) / 253" : "(v - 9) / 101";
  return positive(kinds) ? "1 + fmod(v, 3)"
         : kinds & steep ? "v < 4 ? -1 : v < 8"
                         : "v == 0 ? -128 : v == 100 ? 127 : v - 50";
}

static bool any_ranged(const tf_workload *wl) {
  bool any = false;
  for (int z = 0; z < wl->n_tensors; z++)
    any |= wl->tensors[z].ranged;
  return any;
}

/* Of tensors that the workload declares to be within a range: half of the numbers are its ends. */
static void ranged_text(FILE *out, const tf_workload *wl) {
  fputs("  switch (tensor) {\n", out);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->ranged)
      fprintf(out,
              "  case %d: return v < 25 ? %" PRId64 " : v < 50 ? %" PRId64 " : %" PRId64
              " + fmod(v, %" PRId64 ");\n",
              z, t->least, t->most, t->least, t->most - t->least + 1);
  }
  fputs("  default: break;\n  }\n", out);
}

/* Prints the function number(i, tensor) for the workload's ops; exact: as for `numbers`. */
static void number_text(FILE *out, const tf_workload *wl, ir_type data, bool exact) {
  uint32_t kinds = 0;
  for (int o = 0; o < wl->n_ops; o++)
    kinds |= wl->ops[o].kinds, exact |= compares(&wl->ops[o], wl->ops[o].n_expr - 1, false);
  if (data == IR_F16)
    fputs("/* Numbers are divided by 2^down, so that float16 holds what ops make of them. */\n"
          "static int down;\n\n",
          out);
  fputs("/* Numbers that any machine draws alike, in no order, so that sums of them do not cancel. "
        "*/\n"
        "static double number(unsigned long long i, unsigned tensor) {\n"
        "  unsigned long long u = (i * 61 + tensor) * 0x9e3779b97f4a7c15ULL;\n"
        "  u = (u ^ u >> 31) * 0x9e3779b97f4a7c15ULL;\n"
        "  double v = (double)((u ^ u >> 29) % 101);\n",
        out);
  if (any_ranged(wl)) ranged_text(out, wl);
  const bool down = data == IR_F16;
  fprintf(out, "  return %s%s%s;\n}\n\n", down ? "ldexp(" : "", numbers(kinds, data, exact),
          down ? ", -down)" : "");
}

void c_numbers(FILE *out, const tf_workload *wl, ir_type data) {
  number_text(out, wl, data, false);
}

bool c_numbers_grow(const tf_workload *wl) {
  uint32_t kinds = 0;
  for (int o = 0; o < wl->n_ops; o++)
    kinds |= wl->ops[o].kinds;
  return positive(kinds);
}

/* halves: some arrays are bfloat16 beside those of another type. */
static void head(FILE *out, const tf_workload *wl, ir_type data, bool halves, const char *header,
                 bool half, bool exact) {
  uint32_t kinds = 0;
  bool borders = false;
  for (int z = 0; z < wl->n_tensors; z++)
    borders |= padded(&wl->tensors[z]) && wl->tensors[z].n_consumers > 0;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_expr; i++) /* a comparison counts as a select */
      if (wl->ops[o].expr[i].what == TF_X_CALL) kinds |= 1u << wl->ops[o].expr[i].call;
  fprintf(out, "%s%s", includes, header);
  if (borders) fputs(fetch, out);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (kinds >> functions[i].kind & 1) fputs(functions[i].text, out);
  number_text(out, wl, data, exact);
  if (data == IR_BF16) fputs(bf16_text, out);
  if (data == IR_F16) fputs(f16_text, out);
  if (data == IR_F8) fputs(f8_text, out), fputs(halves ? bf16_text : "", out);
  if (half) fputs(half_text, out);
  fputs(common, out);
}

/* The opening of a conversion from or to a type that C does not have, which is "" otherwise. */
static const char *widening(ir_type t) {
  return t == IR_BF16 ? "of_bf16(" : t == IR_F16 ? "of_f16(" : t == IR_F8 ? "of_f8(" : "";
}

static const char *narrowing(ir_type t) {
  return t == IR_BF16  ? "to_bf16("
         : t == IR_F16 ? "to_f16("
         : t == IR_F8  ? "to_f8("
         : t == IR_F32 ? ""
         : t == IR_U8  ? "(uint8_t)(int8_t)"
                       : "(int8_t)";
}

static const char *conversion_end(ir_type t) { return ir_is_coded(t) ? ")" : ""; }

/* Whether all readers add the tensor as a mask, which is -inf where elements are excluded; its type
 * has -inf. */
static bool is_mask(const c_package *k, int z) {
  const tf_workload *wl = workload(k);
  const tf_tensor *t = &wl->tensors[z];
  const ir_type type = c_argument_type(k->p, z);
  bool all = t->n_consumers > 0 && (type == IR_F32 || type == IR_BF16);
  for (int i = 0; i < t->n_consumers && all; i++) {
    const int o = t->consumers[i];
    tf_mask m;
    all = tf_mask_added(wl, o, k->p->arena, &m) && wl->ops[o].reads[m.mask_read].tensor == z;
  }
  return all;
}

/* Fills an argument with numbers. */
static void fill(FILE *out, const c_package *k, int z) {
  const tf_tensor *t = &workload(k)->tensors[z];
  if (t->view_of || !c_is_argument(t) || !c_is_input(t)) return;
  const ir_type type = c_argument_type(k->p, z);
  int64_t last = t->rank > 1 ? t->extent[t->rank - 1] : tf_tensor_words(t);
  char hidden[96] = "";
  if (is_mask(k, z)) /* each row has an element more than the one before */
    snprintf(hidden, sizeof hidden,
             "i %% %" PRId64 " > i / %" PRId64 " %% %" PRId64 " ? -INFINITY : ", last, last, last);
  fprintf(out, "  for (long long i = 0; i < %" PRId64 "; i++) {\n    %s v = %s%s",
          tf_tensor_words(t), c_type(type),
          t->ranged && type == IR_U8 ? "(uint8_t)" : narrowing(type), hidden);
  if (c_is_thinned(k, t)) c_kept(out, t), fputs(" ? ", out);
  fprintf(out,
          "(float)number((unsigned long long)i, %d)%s%s;\n"
          "    r_%s[i] = %sv%s;\n    k_%s[",
          z, c_is_thinned(k, t) ? " : 0" : "", conversion_end(type), t->name, widening(type),
          conversion_end(type), t->name);
  c_spaced_at(out, k, t), fputs("] = v;\n  }\n", out);
}

static c_halves halves_of(const c_package *k) {
  return k->p->machine.data == IR_F16 ? C_ALL_IN_HALF : C_NONE_IN_HALF;
}

static void declare(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->view_of) continue;
    fprintf(out, "  double *r_%s = room(%" PRId64 ", sizeof(double));\n", t->name,
            tf_tensor_words(t));
    if (!c_is_argument(t)) continue;
    ir_type type = c_argument_type(k->p, z);
    fprintf(out, "  %s *k_%s = room(%" PRId64 ", sizeof(%s));\n  args.", c_type(type), t->name,
            c_spaced_words(k, t), c_type(type));
    c_field(out, t->name), fprintf(out, " = k_%s;\n", t->name);
    c_spaced_strides(out, k, t);
    if (c_blocked(k, t))
      fprintf(out, "  memset(k_%s, 0xff, %" PRId64 " * sizeof *k_%s);\n", t->name,
              c_spaced_words(k, t), t->name);
    if (halves_of(k) == C_NONE_IN_HALF) fill(out, k, z);
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of)
      fprintf(out, "  double *r_%s = r_%s;\n", wl->tensors[z].name,
              wl->tensors[wl->tensors[z].view_of - 1].name);
}

static bool is_output(const tf_tensor *z) { return c_is_argument(z) && !c_is_input(z); }

/* The absolute tolerance of an element: of float16 its loss below the normal range, and half a unit
 * in the last place of the result; below the normal range of other types an element may be 0. */
static const char *absolute_tolerance(ir_type type) {
  return type == IR_I32 ? "0" : type == IR_F8 ? "0x1p-10" : type == IR_F16 ? "0x1p-25" : "0x1p-126";
}

/* The largest number of the type; greater ones become infinite. */
static const char *type_maximum(ir_type type) {
  return type == IR_F16 ? "65504." : type == IR_F32 || type == IR_BF16 ? "3.4e38" : "1e300";
}

static const char *share_of(const c_package *k, ir_type type) {
  if (type == IR_I32 || type == IR_F8) return type == IR_F8 ? "5e-2" : "0";
  return k->within ? k->within : type == IR_BF16 ? "1e-2" : type == IR_F16 ? "2e-3" : "1e-5";
}

/* A result within rounding error of the middle between two numbers may be either. */
static void compare(FILE *out, const c_package *k, const tf_tensor *t, ir_type type) {
  char near[80];
  snprintf(near, sizeof near, "    if (near > 1 + %" PRId64 ") bad = 1;\n",
           tf_tensor_words(t) / 500);
  const bool half = halves_of(k) != C_NONE_IN_HALF;
  fprintf(out,
          "  {\n    double off = 0, norm = 0, spare = 0;\n%s    for (long long i = 0; i < %" PRId64
          "; i++) {\n"
          "      double want = %sr_%s[i]%s, got = %sk_%s[",
          ir_is_byte(type) ? "    long long near = 0;\n" : "", tf_tensor_words(t),
          type == IR_F8 ? "fmax(-448, fmin(448, " : "", t->name, type == IR_F8 ? "))" : "",
          widening(type), t->name);
  c_spaced_at(out, k, t);
  fprintf(out,
          "]%s;\n"
          "      if (isnan(want) && isnan(got)) continue; /* 0 / 0 in both */\n"
          "      if (fabs(want) > %s && isinf(got) && got * want > 0) continue; /* too large for "
          "the type */\n"
          "%s      const double least = %s%s%s%s;\n"
          "      off += (got - want) * (got - want);\n      norm += want * want;\n"
          "      if (isfinite(least)) spare += least * least;\n    }\n"
          "    double error = norm > 0 ? sqrt(off / norm) : sqrt(off);\n"
          "%s    const int alike = error <= %s, small = !alike && sqrt(off) <= %s * sqrt(norm) + "
          "sqrt(spare);\n"
          "    printf(\"%s: error %%.2g of the norm%%s\\n\", error, small ? \", too small for its "
          "type\" : \"\");\n"
          "    if (!alike && !small) bad = 1;\n  }\n",
          conversion_end(type), type_maximum(type),
          ir_is_byte(type)
              ? "      if (fabs(got - want) == 1 && ++near) continue; /* rounded the other way */\n"
              : "",
          half ? "fabs(l_" : "", half ? t->name : "", half ? "[i] - want) + " : "",
          absolute_tolerance(type), ir_is_byte(type) ? near : "", share_of(k, type),
          share_of(k, type), t->name);
  if (c_blocked(k, t)) c_padding_test(out, k, t);
}

/* Opens a loop over the instruction sets that the CPU has: outputs are overwritten with garbage,
 * then computed by each. */
static void each_isa(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  fprintf(out,
          "  if (%s_with(\"none\", &args, workspace, bytes) != %s_bad_argument) return 2;\n"
          "  for (int isa = 0; %s_isa(isa); isa++) {\n    printf(\"%%s: \", %s_isa(isa));\n",
          k->name, k->name, k->name, k->name);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (c_is_argument(t) && !c_is_input(t))
      fprintf(out, "    memset(k_%s, 0xff, %" PRId64 " * sizeof *k_%s);\n", t->name,
              c_spaced_words(k, t), t->name);
  }
  fprintf(out, "    if (%s_with(%s_isa(isa), &args, workspace, bytes) != %s_done) return 2;\n",
          k->name, k->name, k->name);
}

/* Saves the outputs, and overwrites them with garbage. */
static void keep_outputs(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t)) continue;
    fprintf(out,
            "  %s *once_%s = room(%" PRId64 ", sizeof *once_%s);\n  memcpy(once_%s, k_%s, %" PRId64
            " * sizeof *once_%s);\n",
            c_type(c_argument_type(k->p, z)), t->name, c_spaced_words(k, t), t->name, t->name,
            t->name, c_spaced_words(k, t), t->name);
    fprintf(out, "  memset(k_%s, %s, %" PRId64 " * sizeof *k_%s);\n", t->name,
            c_blocked(k, t) ? "0xff" : "0", c_spaced_words(k, t), t->name);
  }
}

/* Compares the outputs with the saved ones, but for rounding. */
static void compare_rounded(FILE *out, const c_package *k, const char *how) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!is_output(t)) continue;
    const ir_type type = c_argument_type(k->p, z);
    fprintf(out,
            "  {\n    double off = 0, norm = 0;\n    for (long long i = 0; i < %" PRId64
            "; i++) {\n"
            "      const double a = %sonce_%s[i]%s, b = %sk_%s[i]%s;\n"
            "      if ((isnan(a) && isnan(b)) || (isinf(a) && a == b)) continue;\n"
            "      off += (a - b) * (a - b), norm += a * a;\n    }\n"
            "    if (!(sqrt(off) <= 2 * %s * sqrt(norm))) puts(\"%s differs %s\"), bad = 1;\n"
            "  }\n  free(once_%s);\n",
            c_spaced_words(k, t), widening(type), t->name, conversion_end(type), widening(type),
            t->name, conversion_end(type), share_of(k, type), t->name, how, t->name);
  }
}

/* Whether a product streams b in panels, which are deeper if the caller has packed them, so that
 * sums are split otherwise. */
static bool streams(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const cpu_product *p = cpu_product_of(b->s[i]);
    any = streams(&b->s[i]->body) || (p && p->kind == CPU_PAIRS && p->pairs.steps);
  }
  return any;
}

/* Compares the outputs with the saved ones, bit by bit. */
static void compare_bits(FILE *out, const c_package *k, const char *how) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t)) continue;
    fprintf(out,
            "  if (memcmp(once_%s, k_%s, %" PRId64
            " * sizeof *once_%s)) puts(\"%s differs %s\"), bad = 1;\n  free(once_%s);\n",
            t->name, t->name, c_spaced_words(k, t), t->name, t->name, how, t->name);
  }
}

/* Computes the outputs again with panels packed beforehand. */
static void compare_packed(FILE *out, const c_package *k) {
  fprintf(out,
          "  void *packed = room(%s_packed(), 1);\n"
          "  if (%s_pack(&args, packed, %s_packed()) != %s_done) return 2;\n"
          "  if (%s_pack(&args, packed, %s_packed() - 1) != %s_small_workspace) return 2;\n"
          "  args.packed = packed;\n",
          k->name, k->name, k->name, k->name, k->name, k->name, k->name);
  keep_outputs(out, k);
  fprintf(out,
          "  memset(workspace, 0xff, bytes);\n"
          "  if (%s(&args, workspace, bytes) != %s_done) return 2;\n",
          k->name, k->name);
  (streams(&k->p->body) ? compare_rounded : compare_bits)(out, k, "with packed arguments");
  fputs("  free(packed);\n  args.packed = NULL;\n", out);
}

/* Computes the outputs with one thread, and again with two. */
static void compare_threads(FILE *out, const c_package *k) {
  fputs("  {\n", out);
  for (int n = 1; n <= 2; n++) {
    if (n == 2) keep_outputs(out, k);
    fprintf(out,
            "  bytes = %s_workspace_on(%d);\n  free(workspace);\n  workspace = room(bytes, 1);\n"
            "  memset(workspace, 0xff, bytes);\n"
            "  if (%s_on(&args, workspace, bytes, %d) != %s_done) return 2;\n"
            "  if (%s_on(&args, workspace, bytes - 1, %d) != %s_small_workspace) return 2;\n",
            k->name, n, k->name, n, k->name, k->name, n, k->name);
  }
  compare_bits(out, k, "on two threads");
  fputs("  }\n", out);
}

void c_reference_head(FILE *out, const tf_workload *wl, c_halves halves) {
  head(out, wl, IR_F32, false, "", halves != C_NONE_IN_HALF, true);
}

static bool is_half(c_halves h, const tf_tensor *z) {
  return h == C_ALL_IN_HALF || (h == C_WORDS_IN_HALF && z->word_bits == 16);
}

/* Declares l_TENSOR, if intermediates are stored in float16: the results with that type's loss
 * below its normal range. */
static void declare_losses(FILE *out, const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (is_output(&wl->tensors[z]))
      fprintf(out, "  double *l_%s = room(%" PRId64 ", sizeof(double));\n", wl->tensors[z].name,
              tf_tensor_words(&wl->tensors[z]));
}

/* Computes the reference twice, if a kernel may store intermediates in float16: with that type's
 * loss below its normal range, which is not relative but up to 2^-25; then exactly. */
static void reference_ops(FILE *out, const tf_workload *wl, c_halves halves) {
  if (halves)
    fputs("  for (int low = 1; low >= 0; low--) { /* what float16 loses below its normal numbers; "
          "exactly */\n",
          out);
  for (int i = 0; i < wl->n_ops; i++)
    reference_op(out, wl, &wl->ops[wl->topo[i]],
                 is_half(halves, &wl->tensors[wl->ops[wl->topo[i]].out]));
  if (!halves) return;
  for (int z = 0; z < wl->n_tensors; z++)
    if (is_output(&wl->tensors[z]))
      fprintf(out, "  if (low) memcpy(l_%s, r_%s, %" PRId64 " * sizeof(double));\n",
              wl->tensors[z].name, wl->tensors[z].name, tf_tensor_words(&wl->tensors[z]));
  fputs("  }\n", out);
}

void c_reference_ops(FILE *out, const tf_workload *wl, c_halves halves) {
  if (halves) declare_losses(out, wl);
  reference_ops(out, wl, halves);
}

/* Scales the numbers of a network that passes intermediates in float16 between its kernels: they
 * are halved, at most six times, until all intermediates are in that type's range. If that is not
 * enough they stay as they were, as smaller numbers would leave its normal range. */
static void scale_to_float16(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  declare_losses(out, wl);
  fputs("  for (int halved = 0; halved <= 7; halved++) {\n  double most = 0;\n"
        "  down = halved % 7;\n",
        out);
  for (int z = 0; z < wl->n_tensors; z++)
    fill(out, k, z);
  reference_ops(out, wl, C_ALL_IN_HALF);
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_tensor *t = &wl->tensors[wl->ops[o].out];
    fprintf(out,
            "  for (long long i = 0; i < %" PRId64
            "; i++) if (isfinite(r_%s[i])) most = fmax(most, fabs(r_%s[i]));\n",
            tf_tensor_words(t), t->name, t->name);
  }
  fputs("  if (most <= 32768) break;\n  }\n"
        "  if (down) printf(\"numbers are divided by 2^%d, so that float16 holds what ops make of "
        "them\\n\", down);\n",
        out);
}

static const char no_isa[] = "    puts(\"not run: this computer has not the instruction set, or "
                             "gives no leave to use its tiles\");\n"
                             "    return 2;\n";

/* Checks the ranges that the workload declares of intermediates, for these numbers. */
static void check_ranges(FILE *out, const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!t->ranged || c_is_input(t) || t->view_of) continue;
    fprintf(out,
            "  for (long long i = 0; i < %" PRId64 "; i++)\n    if (r_%s[i] < %" PRId64
            " || r_%s[i] > %" PRId64 ") {\n      printf(\"%s is promised to be %" PRId64
            " to %" PRId64 ", and is %%g at %%lld\\n\", r_%s[i], i);\n      return 1;\n    }\n",
            tf_tensor_words(t), t->name, t->least, t->name, t->most, t->name, t->least, t->most,
            t->name);
  }
}

void c_test_c(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  fputs("/* Holds the kernel against ", out), c_plain_text(out, wl->name),
      fputs(" evaluated plainly in double. */\n", out);
  head(out, wl, k->p->machine.data, c_has_arrays_of(k->p, IR_BF16),
       !k->absent || k->lacking ? "#include \"kernel.h\"\n\n"
       : k->blocked             ? "#include \"kernel.h\"\n#include \"kernel_device.h\"\n\n"
                                : "#include \"kernel_device.h\"\n\n",
       halves_of(k) != C_NONE_IN_HALF, false);
  c_kept_text(out, k);
  c_places_text(out, k);
  fprintf(out,
          "int main(void) {\n  %s_args args;\n  int bad = 0;\n  memset(&args, 0, sizeof args);\n",
          k->name);
  declare(out, k);
  if (halves_of(k))
    scale_to_float16(out, k);
  else
    reference_ops(out, wl, C_NONE_IN_HALF);
  check_ranges(out, wl);
  fprintf(out,
          "  size_t bytes = %s_workspace();\n  void *workspace = room(bytes, 1);\n"
          "  memset(workspace, 0xff, bytes);\n"
          "  bad = %s(&args, workspace, bytes);\n"
          "  if (bad == %s_no_isa || bad == %s%s) {\n%s  }\n"
          "  if (bad != %s_done) return 2;\n"
          "  if (%s(&args, workspace, bytes - 1) != %s_small_workspace || %s(NULL, NULL, 0) != "
          "%s_bad_argument) return 2;\n",
          k->name, k->name, k->name, k->name, k->lacking ? k->lacking : "_no_tiles",
          k->absent ? k->absent : no_isa, k->name, k->name, k->name, k->name, k->name);
  if (c_packs(k)) compare_packed(out, k);
  if (k->on_threads) compare_threads(out, k);
  if (k->n_isas) each_isa(out, k);
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_is_argument(&wl->tensors[z]) && !c_is_input(&wl->tensors[z]))
      compare(out, k, &wl->tensors[z], c_argument_type(k->p, z));
  if (k->n_isas) fputs("  }\n", out);
  if (!k->blocked) c_misfit_test(out, k);
  for (int z = 0; z < wl->n_tensors; z++) {
    if (halves_of(k) && is_output(&wl->tensors[z]))
      fprintf(out, "  free(l_%s);\n", wl->tensors[z].name);
    if (wl->tensors[z].view_of) continue;
    fprintf(out, "  free(r_%s);\n", wl->tensors[z].name);
    if (c_is_argument(&wl->tensors[z])) fprintf(out, "  free(k_%s);\n", wl->tensors[z].name);
  }
  fputs("  free(workspace);\n  return bad;\n}\n", out);
}

/* Operations: two for each term of a product, one for each of others, without the points that masks
 * skip. */
static double flops(const tf_workload *wl, const tf_result *counted) {
  double sum = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    double points = 1;
    for (int d = 0; d < wl->ops[o].n_dims; d++)
      points *= (double)wl->dims[wl->ops[o].dims[d]].extent;
    if (counted && (double)counted->ops[o].skipped < points)
      points -= (double)counted->ops[o].skipped;
    sum += points * (wl->ops[o].reduce == TF_REDUCE_ADD && wl->ops[o].n_reads == 2 ? 2 : 1);
  }
  return sum;
}

/* A kernel of one thread is pinned to its current core, which other processes leave if they can. */
static const char pinned_head[] =
    "#if defined(__linux__)\n#define _GNU_SOURCE\n#include <sched.h>\n#else\n"
    "#define _POSIX_C_SOURCE 200809L\n#endif\n";
static const char pinned[] =
    "static int begin(void) {\n#if defined(__linux__)\n  cpu_set_t here;\n"
    "  const int core = sched_getcpu();\n  CPU_ZERO(&here);\n"
    "  if (core >= 0 && core < CPU_SETSIZE) {\n    CPU_SET((size_t)core, &here);\n"
    "    sched_setaffinity(0, sizeof here, &here);\n  }\n#endif\n"
    "  return 1; /* the kernel has no parallel loop */\n}\n\n";
static const char spread_head[] =
    "#define _POSIX_C_SOURCE 200809L\n#if defined(_OPENMP)\n#include <omp.h>\n#endif\n";
static const char spread[] =
    "static int begin(void) {\n#if defined(_OPENMP)\n  return omp_get_max_threads();\n#else\n"
    "  return 1;\n#endif\n}\n\n";

static void bench_arguments(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    int64_t words = 1;
    for (int i = 0; i < c_n_parts(k, t); i++)
      words *= c_part_length(k, t, i);
    if (c_is_thinned(k, t)) {
      fprintf(out,
              "  float *thin_%s = numbers(%" PRId64 ");\n  for (long long i = 0; i < %" PRId64
              "; i++)\n    if (!",
              t->name, words, tf_tensor_words(t));
      c_kept(out, t), fprintf(out, ") thin_%s[", t->name);
      c_blocked(k, t) ? c_spaced_at(out, k, t) : (void)fputc('i', out);
      fputs("] = 0;\n", out);
    }
    fputs("  args.", out), c_field(out, t->name);
    if (c_is_thinned(k, t))
      fprintf(out, " = thin_%s;\n", t->name);
    else
      fprintf(out, " = numbers(%" PRId64 ");\n", words);
  }
}

void c_bench_c(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  char packs[640] = "";
  if (c_packs(k))
    snprintf(
        packs, sizeof packs,
        "    void *packed = packs ? aligned_alloc(64, (%.120s_packed() + 63) / 64 * 64) : NULL;\n"
        "    if (packs && (!packed || %.120s_pack(&args, packed, %.120s_packed()))) return 2;\n"
        "    args.packed = packed;\n",
        k->name, k->name, k->name);
  fputs("/* Times ", out), c_plain_text(out, wl->name);
  fprintf(out,
          ": what a caller waits for, by the clock, and beside it the processor time of all "
          "threads; medians of the rounds, after one\n"
          " * that warms up; where arguments can be packed, both ways.  ./bench [ROUNDS] */\n"
          "%s#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
          "#include <time.h>\n\n#include \"kernel.h\"\n\n"
          "enum { ROUNDS = 31 };\n\nstatic double now(void) {\n  struct timespec t;\n"
          "  clock_gettime(CLOCK_MONOTONIC, &t);\n"
          "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
          "static double busy(void) {\n  struct timespec t;\n"
          "  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);\n"
          "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
          "%sstatic int later(const void *a, const void *b) {\n"
          "  double x = *(const double *)a, y = *(const double *)b;\n"
          "  return (x > y) - (x < y);\n}\n\n"
          "static void *numbers(size_t n) {\n  %s *p = malloc(n * 4);\n  if (!p) exit(2);\n"
          "  for (size_t i = 0; i < n; i++) p[i] = (%s)(%s);\n  return p;\n}\n\n",
          ir_has_parallel(&k->p->body) ? spread_head : pinned_head,
          ir_has_parallel(&k->p->body) ? spread : pinned, c_type(k->p->machine.data),
          c_type(k->p->machine.data),
          k->p->machine.data == IR_F32  ? "(float)(i * 37 % 101 + 1) / 64"
          : k->p->machine.data == IR_I8 ? "i * 37 % 101"
                                        : "0x3c00 + i * 37 % 101");
  c_kept_text(out, k);
  c_places_text(out, k);
  fprintf(out,
          "int main(int argc, char **argv) {\n  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;\n"
          "  if (rounds < 1 || rounds > ROUNDS) rounds = ROUNDS;\n  %s_args args;\n"
          "  double took[ROUNDS], worked[ROUNDS];\n  const int threads = begin();\n"
          "  memset(&args, 0, sizeof args);\n  %s_dense(&args);\n",
          k->name, k->name);
  bench_arguments(out, k);
  fprintf(out,
          "  size_t bytes = %s_workspace();\n  void *workspace = malloc(bytes);\n"
          "  if (!workspace || %s(&args, workspace, bytes)) return 2;\n"
          "  for (int packs = 0; packs <= %d; packs++) {\n"
          "%s    for (int r = 0; r < rounds; r++) {\n"
          "      double from = now(), begun = busy();\n"
          "      %s(&args, workspace, bytes);\n"
          "      worked[r] = busy() - begun;\n      took[r] = now() - from;\n    }\n"
          "    qsort(took, (size_t)rounds, sizeof *took, later);\n"
          "    qsort(worked, (size_t)rounds, sizeof *worked, later);\n"
          "    printf(\"%s%%s %%.6g s, %%.4g GFLOP/s, %%d thread%%s, %%.6g s of processor "
          "time\\n\", packs ? \", packed beforehand,\" : \"\", took[rounds / 2], %.9g / "
          "took[rounds / 2] / 1e9, threads, threads > 1 ? \"s\" : \"\", worked[rounds / 2]);\n"
          "  }\n  free(workspace);\n  return 0;\n}\n",
          k->name, k->name, c_packs(k), packs, k->name, k->name, flops(wl, k->o->result));
}
