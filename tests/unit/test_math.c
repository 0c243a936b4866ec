/* codegen/micro_math: each function compiled as printed, and held to its stated error against
 * libm's double over floats spread through the whole range of bit patterns. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "codegen/intrin/math.h"
#include "tests/unit/check.h"
#include "tileflow/emit.h"
#include "tileflow/spec.h"

static const struct {
  int kind;
  const char *twin;
} cases[] = {
    {TF_K_EXP, "exp(x)"},
    {TF_K_LOG, "log(x)"},
    {TF_K_TANH, "tanh(x)"},
    {TF_K_ERF, "erf(x)"},
    {TF_K_SIGMOID, "1 / (1 + exp(-x))"},
    {TF_K_SILU, "x / (1 + exp(-x))"},
    {TF_K_GELU, "0.5 * x * (1 + erf(x / sqrt(2)))"},
    {TF_K_RELU, "x > 0 ? x : 0"},
    {TF_K_SQRT, "sqrt(x)"},
    {TF_K_ABS, "fabs(x)"},
    {TF_K_FLOOR, "floor(x)"},
    {TF_K_CEIL, "ceil(x)"},
    {TF_K_ROUND, "rint(x)"},
    {TF_K_TRUNC, "trunc(x)"},
    {TF_K_SIN, "sin(x)"},
    {TF_K_COS, "cos(x)"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* One in 509 of all float32: 8.4 million values.  Of the results below the normal range the
 * absolute error counts, and 0 is right.  No function makes subnormal numbers of what is far from
 * them: time is not to depend on the data. */
static const char head[] =
    "#include <stdio.h>\n#include <string.h>\n"
    "static int hold(const char *name, float (*f)(float), double (*twin)(double), double most, int "
    "relative) {\n"
    "  double worst = 0; float at = 0;\n"
    "  for (unsigned long long i = 0; i <= 0xffffffffULL; i += 509) {\n"
    "    unsigned b = (unsigned)i; float x; memcpy(&x, &b, 4);\n"
    "    double w = twin(x), v = f(x);\n"
    "    if (isnan(w) || isnan(v)) { if (!isnan(w) != !isnan(v)) { worst = 9; at = x; } continue; "
    "}\n"
    "    if (fabs(w) > 3.4028234e38) { if (!(v == (w > 0 ? INFINITY : -INFINITY))) { worst = 9; at "
    "= x; } continue; }\n"
    "    if (relative && v == 0 && fabs(w) < 0x1p-126) continue;\n"
    "    double e = fabs(v - w) / (relative ? fmax(fabs(w), 1.2e-38) : fmax(fabs(w), 1));\n"
    "    if (e > worst) { worst = e; at = x; }\n"
    "    if (fpclassify(v) == FP_SUBNORMAL && fabsf(x) > 0x1p-120f) { worst = 9; at = x; }\n"
    "  }\n"
    "  printf(\"%s %.3g at %.9g\\n\", name, worst, at);\n"
    "  return !(worst <= most);\n}\n";

/* exp around the end of the normal range, every float32 from -86 to -90: 0 below it, normal numbers
 * above.  And of what is 0 or less: 0 below 2^-100. */
static const char lower_end[] =
    "static int hold_low_end(void) {\n"
    "  int bad = 0;\n"
    "  for (unsigned b = 0xc2ac0000U; b < 0xc2b40000U; b++) {\n"
    "    float x; memcpy(&x, &b, 4);\n"
    "    double w = exp(x), v = fast_exp(x);\n"
    "    bad += w < 0x1p-126 ? v != 0 : !(v >= 0x1p-126 && fabs(v - w) <= 1e-7 * w);\n"
    "  }\n"
    "  for (unsigned b = 0x80000000U; b < 0xff900000U; b += b < 0xc28a0000U || b > 0xc28b0000U ? "
    "509 : 1) {\n"
    "    float x; memcpy(&x, &b, 4);\n"
    "    double w = exp(x); float v = fast_exp_low(x);\n"
    "    bad += isnan(x) ? !isnan(v) : v != (w < 0x1p-100 ? 0 : fast_exp(x));\n"
    "  }\n"
    "  bad += fast_exp_low(-INFINITY) != 0 || !isnan(fast_exp_low(NAN)) || fast_exp_low(0) != 1;\n"
    "  printf(\"low end: %d wrong\\n\", bad);\n  return bad != 0;\n}\n";

/* Of the two bfloat16 around x the nearer, of two alike the even: in double, over one in 509 of all
 * float32. */
static const char half[] =
    "static double of(unsigned h) { unsigned u = h << 16; float v; memcpy(&v, &u, 4);\n"
    "  return isinf(v) ? copysign(ldexp(1, 128), v) : v; }\n"
    "static int hold_half(void) {\n"
    "  int bad = 0;\n"
    "  for (unsigned long long i = 0; i <= 0xffffffffULL; i += 509) {\n"
    "    unsigned b = (unsigned)i; float x; memcpy(&x, &b, 4);\n"
    "    unsigned low = b >> 16, up = low + 1, got = narrow(x);\n"
    "    if (isnan(x)) { bad += !isnan(wide((uint16_t)got)); continue; }\n"
    "    if (isinf(x)) { bad += got != low; continue; }\n"
    "    double down = fabs(x - of(low)), rise = fabs(of(up) - x);\n"
    "    bad += got != (down < rise ? low : rise < down ? up : low % 2 ? up : low);\n"
    "    if (b % 65536 == 0 && !isnan(x)) bad += wide((uint16_t)low) != x;\n"
    "  }\n"
    "  printf(\"narrow: %d wrong\\n\", bad);\n  return bad != 0;\n}\n";

/* Whole numbers to the last bit, in loops that compilers make vectors of, over one in 509 of all
 * float32, those around halves and infinities: against the same in integers, from the bits of the
 * number alone. */
static const char whole[] =
    "enum { MANY = 4096 };\n"
    "static void many(int which, float *to, const float *x) {\n"
    "  if (which == 0) for (int i = 0; i < MANY; i++) to[i] = floorf(x[i]);\n"
    "  if (which == 1) for (int i = 0; i < MANY; i++) to[i] = ceilf(x[i]);\n"
    "  if (which == 2) for (int i = 0; i < MANY; i++) to[i] = rintf(x[i]);\n"
    "  if (which == 3) for (int i = 0; i < MANY; i++) to[i] = truncf(x[i]);\n}\n"
    "/* of x = whole + rest, both of its size: the size, and whether it goes up */\n"
    "static unsigned twin_bits(int which, unsigned b) {\n"
    "  const unsigned sign = b & 0x80000000U, size = b & 0x7fffffffU, e = size >> 23;\n"
    "  if (e >= 150) return b;\n"
    "  const unsigned long long m = e ? (size & 0x7fffffU) | 0x800000U : size & 0x7fffffU;\n"
    "  const int shift = 150 - (int)(e ? e : 1), far = shift > 40;\n"
    "  unsigned long long w = far ? 0 : m >> shift, rest = far ? m != 0 : m - (w << shift), half = "
    "far ? 2 : 1ULL << shift >> 1;\n"
    "  const int up = which == 0 ? rest && sign : which == 1 ? rest && !sign\n"
    "                 : which == 2 ? rest > half || (rest == half && w % 2) : 0;\n"
    "  float v = (float)(w + (unsigned)up); unsigned r; memcpy(&r, &v, 4);\n"
    "  return r | sign;\n}\n"
    "static int hold_whole(void) {\n"
    "  static float x[MANY], y[MANY];\n"
    "  int bad = 0; unsigned long long at = 0;\n"
    "  while (at <= 0xffffffffULL) {\n"
    "    for (int i = 0; i < MANY; i++, at += 509) {\n"
    "      unsigned b = i % 8 ? (unsigned)at : (unsigned)i * 0x9e3779b9U;\n"
    "      float v = i % 16 == 8 ? (float)(i - 2048) / 16.0f : 0;\n"
    "      if (v != 0) memcpy(&b, &v, 4);\n"
    "      if (i == 0) b = at & 1 ? 0x7f800000U : 0x80000000U;\n"
    "      memcpy(&x[i], &b, 4);\n    }\n"
    "    for (int which = 0; which < 4; which++) {\n"
    "      many(which, y, x);\n"
    "      for (int i = 0; i < MANY; i++) {\n"
    "        unsigned b, got; memcpy(&b, &x[i], 4), memcpy(&got, &y[i], 4);\n"
    "        bad += x[i] != x[i] ? y[i] == y[i] : got != twin_bits(which, b);\n"
    "      }\n    }\n  }\n"
    "  printf(\"whole numbers: %d wrong\\n\", bad);\n  return bad != 0;\n}\n";

int main(void) {
  char path[] = "/tmp/tf_math_XXXXXX", command[256];
  int fd = mkstemp(path);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  uint32_t kinds = 0;
  if (!CHECK(f)) return check_report();
  for (int i = 0; i < N_CASES; i++)
    kinds |= 1u << cases[i].kind;
  tf_micro_math(f, kinds);
  tf_micro_bf16(f);
  fputs(head, f);
  fputs(half, f);
  fputs(lower_end, f);
  fputs(whole, f);
  for (int i = 0; i < N_CASES; i++)
    fprintf(f,
            "static double twin%d(double x) { return %s; }\n"
            "static float call%d(float x) { return %s(x); }\n",
            i, cases[i].twin, i, tf_micro_math_find(cases[i].kind)->name);
  fputs("int main(void) {\n  int bad = 0;\n", f);
  for (int i = 0; i < N_CASES; i++) {
    const tf_micro_fn *fn = tf_micro_math_find(cases[i].kind);
    fprintf(f, "  bad += hold(\"%s\", call%d, twin%d, %.17g, %d);\n", fn->name, i, i, fn->error,
            fn->relative);
  }
  fputs("  return bad + hold_half() + hold_low_end() + hold_whole();\n}\n", f);
  CHECK_I64(fclose(f), 0);
  CHECK(!tf_micro_math_find(TF_K_ADD));
  /* with products and sums apart, and fused, as emitted kernels are compiled */
  const char *fused = tf_emit_runs("avx2")   ? "-march=x86-64-v3 -ffp-contract=fast"
                      : tf_emit_runs("neon") ? "-ffp-contract=fast"
                                             : NULL;
  for (int i = 0; i < 1 + (fused != NULL); i++) {
    snprintf(command, sizeof command,
             "cc -std=c17 -O3 -Wall -Wextra -Werror %s -x c %s -o %s.out -lm && %s.out",
             i ? fused : "", path, path, path);
    CHECK_I64(system(command), 0);
  }
  snprintf(command, sizeof command, "rm -f %s %s.out", path, path);
  CHECK_I64(system(command), 0);
  return check_report();
}
