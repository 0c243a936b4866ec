#include "codegen/intrin/math.h"

#include "codegen/intrin/micro.h"
#include "tileflow/spec.h"

static const char bits[] = "#include <math.h>\n"
                           "#include <stdint.h>\n"
                           "static inline int32_t fast_bits(float x) {\n"
                           "  union { float f; int32_t i; } u = {x};\n"
                           "  return u.i;\n"
                           "}\n"
                           "static inline float fast_float(int32_t i) {\n"
                           "  union { int32_t i; float f; } u = {i};\n"
                           "  return u.f;\n"
                           "}\n";

/* e^x = 2^n e^r, |r| <= ln 2 / 2; 0 where that is below the normal range, as subnormal numbers take
 * some processors a hundred times as long.  2^n in two factors, so that what is too large becomes
 * infinite.  Of an element minus its row maximum (ir_is_low) it is 0 below 2^-100 already, so that
 * its products with numbers of ordinary size, and its shares of a sum, stay normal, too. */
static const char exp_text[] =
    "static inline float fast_exp(float v) {\n"
    "  /* between the least whose result is normal and 89, as integers: compilers make branches of "
    "the same on floats */\n"
    "  uint32_t u = (uint32_t)fast_bits(v), low = u < 0xc2aeac4fU ? u : 0xc2aeac4fU;\n"
    "  float x = fast_float((int32_t)low < 0x42b20000 ? (int32_t)low : 0x42b20000);\n"
    "  float shifted = x * 1.44269504f + 12582912.0f; /* its low bits: n */\n"
    "  float n = shifted - 12582912.0f;\n"
    "  float r = x - n * 0.693145752f - n * 1.42860677e-6f;\n"
    "  float q = 0.49999994f + r * (0.166665196f + r * (0.0416683927f + r * (0.00836878084f + r * "
    "0.00138144672f)));\n"
    "  int32_t whole = fast_bits(shifted) - fast_bits(12582912.0f), half = whole >> 1;\n"
    "  float scale = fast_float((half + 127) * (1 << 23)), rest = fast_float((whole - half + 127) "
    "* (1 << 23));\n"
    "  int32_t all = fast_bits((1.0f + (r + r * r * q)) * scale * rest);\n"
    "  return v != v ? v : fast_float(all & -(int32_t)(u <= 0xc2aeac4fU));\n"
    "}\n"
    "/* of what is 0 or less, or not a number: 0 where the result is below 2^-100 */\n"
    "static inline float fast_exp_low(float v) {\n"
    "  uint32_t u = (uint32_t)fast_bits(v);\n"
    "  float e = fast_exp(v);\n"
    "  return fast_float(fast_bits(e) & -(int32_t)(u - 0xc28aa123U > 0xff800000U - 0xc28aa123U));\n"
    "}\n";

/* The same in vectors. */
static const char vector_exp_text[] =
    "/* e^x = p 2^n, where x is at least the least whose result is normal; *bits: n + 127 in its "
    "low bits */\n"
    "static inline vec vec_exp_of(vec x, vec *bits, vec *n) {\n"
    "  *bits = vec_fma(x, vec_splat(1.44269504f), vec_splat(12583039.0f)), *n = vec_sub(*bits, "
    "vec_splat(12583039.0f));\n"
    "  const vec r = vec_fma(*n, vec_splat(-1.42860677e-6f), vec_fma(*n, vec_splat(-0.693145752f), "
    "x));\n"
    "  vec q = vec_fma(r, vec_splat(0.00138144672f), vec_splat(0.00836878084f));\n"
    "  q = vec_fma(r, q, vec_splat(0.0416683927f));\n"
    "  q = vec_fma(r, q, vec_splat(0.166665196f));\n"
    "  q = vec_fma(r, q, vec_splat(0.49999994f));\n"
    "  q = vec_fma(vec_mul(r, r), q, r);\n"
    "  return vec_add(vec_splat(1.0f), q);\n"
    "}\n"
    "/* e^v where v is 0 or less, or not a number; 0 where it is below 2^-100 */\n"
    "static inline vec vec_exp_low(vec v) {\n"
    "  const vec least = vec_splat(-69.3147125f);\n"
    "  vec bits, n, p = vec_exp_of(vec_floor(v, least), &bits, &n);\n"
    "  return vec_scale_low(p, bits, v, least);\n"
    "}\n"
    "static inline vec vec_exp_brief(vec v) { return vec_exp_low(v); }\n"
    "static inline vec vec_exp(vec v) {\n"
    "  const vec least = vec_splat(-87.3365402f);\n"
    "  vec bits, n, p = vec_exp_of(vec_floor(vec_ceiling(v, vec_splat(89.0f)), least), &bits, "
    "&n);\n"
    "  return vec_scale(p, n, v, least);\n"
    "}\n";

/* With table lookup in a register: e^x = 2^floor(n) 2^(n - floor(n)) e^r, n in eighths, |r| <= ln 2
 * / 16.  Eighths, as the float32 values of these powers are all exact to 3.2e-8.  Values of v below
 * the range are handled by the caller. */
static const char picked_exp_text[] =
    "static const float eighths[] = {\n"
    "    1.0f, 1.09050775f, 1.18920708f, 1.29683959f, 1.41421354f, 1.54221082f, 1.68179286f, "
    "1.83400810f,\n"
    "    1.0f, 1.09050775f, 1.18920708f, 1.29683959f, 1.41421354f, 1.54221082f, 1.68179286f, "
    "1.83400810f};\n"
    "static inline vec vec_exp_from(vec v, vec least) {\n"
    "  const vec shifted = vec_fma(v, vec_splat(1.44269504f), vec_splat(1572864.0f)); /* its low "
    "bits: eighths */\n"
    "  const vec n = vec_sub(shifted, vec_splat(1572864.0f)), p = vec_pick(eighths, shifted);\n"
    "  const vec r = vec_fma(n, vec_splat(-1.42860677e-6f), vec_fma(n, vec_splat(-0.693145752f), "
    "v));\n"
    "  vec q = vec_fma(r, vec_splat(0.166588545f), vec_splat(0.50006634f));\n"
    "  q = vec_fma(r, q, vec_splat(1.00000012f));\n"
    "  return vec_scale(vec_fma(vec_mul(p, r), q, p), n, v, least);\n"
    "}\n"
    "/* e^v where v is 0 or less, or not a number; 0 where it is below 2^-100 */\n"
    "static inline vec vec_exp_low(vec v) { return vec_exp_from(v, vec_splat(-69.3147125f)); }\n"
    "/* The same for what is rounded to bfloat16 at once: n in sixteenths, and e^r = 1 + r. */\n"
    "static const float sixteenths[] = {\n"
    "    1.0f, 1.04427378f, 1.09050773f, 1.13878863f, 1.18920712f, 1.24185781f, 1.29683955f, "
    "1.35425555f,\n"
    "    1.41421356f, 1.47682615f, 1.54221083f, 1.61049033f, 1.68179283f, 1.75625216f, "
    "1.83400809f, 1.91520656f};\n"
    "static inline vec vec_exp_brief(vec v) {\n"
    "  const vec shifted = vec_fma(v, vec_splat(1.44269504f), vec_splat(786432.0f));\n"
    "  const vec n = vec_sub(shifted, vec_splat(786432.0f)), p = vec_pick(sixteenths, shifted);\n"
    "  const vec r = vec_fma(n, vec_splat(-0.693147181f), v);\n"
    "  return vec_scale(vec_fma(p, r, p), n, v, vec_splat(-69.3147125f));\n"
    "}\n"
    "static inline vec vec_exp(vec v) {\n"
    "  return vec_exp_from(vec_ceiling(v, vec_splat(89.0f)), vec_splat(-87.3365402f));\n"
    "}\n";

/* By vec_exp, within 2.4e-7 relative: 0 where e^-x is infinite. */
static const char vector_sigmoid_text[] =
    "static inline vec vec_silu(vec x) {\n"
    "  return vec_div(x, vec_add(vec_splat(1.0f), vec_exp(vec_sub(vec_splat(-0.0f), x))));\n"
    "}\n"
    "static inline vec vec_sigmoid(vec x) {\n"
    "  return vec_div(vec_splat(1.0f), vec_add(vec_splat(1.0f), vec_exp(vec_sub(vec_splat(-0.0f), "
    "x))));\n"
    "}\n";

/* x = m 2^e, m in [1/sqrt 2, sqrt 2); below the normal range, and for 0 and negative numbers, what
 * C's log gives. */
static const char log_text[] =
    "static inline float fast_log(float x) {\n"
    "  int tiny = x < 1.17549435e-38f;\n"
    "  float y = tiny ? x * 8388608.0f : x;\n"
    "  int32_t i = fast_bits(y) - 0x3f3504f3;\n"
    "  float e = (float)(i >> 23) - (tiny ? 23.0f : 0.0f), f = fast_float((i & 0x7fffff) + "
    "0x3f3504f3) - 1.0f;\n"
    "  float q = 0.333333164f + f * (-0.250008106f + f * (0.200022861f + f * (-0.16624555f + f * "
    "(0.141811922f\n"
    "      + f * (-0.131287515f + f * (0.128816456f + f * -0.0785961747f))))));\n"
    "  float v = e * 1.42860677e-6f + (f * f * (f * q - 0.5f) + f) + e * 0.693145752f;\n"
    "  v = x > 3.40282347e38f ? x : v;\n"
    "  v = x == 0.0f ? -INFINITY : v;\n"
    "  return x < 0.0f || x != x ? NAN : v;\n"
    "}\n";

/* tanh and erf are x p(x^2) / q(x^2), fitted to the least relative error; 1 from where float32 has
 * no other value. */
static const char tanh_text[] = "static inline float fast_tanh(float x) {\n"
                                "  float a = x < 0.0f ? -x : x, s = x * x;\n"
                                "  float p = 1.0f + s * (0.136799139f + s * (0.00386832625f + s * "
                                "(2.80074301e-05f + s * (3.05849585e-08f\n"
                                "      + s * -1.22034229e-11f))));\n"
                                "  float q = 1.0f + s * (0.470132459f + s * (0.0272458332f + s * "
                                "(0.000393862853f + s * 1.28736466e-06f)));\n"
                                "  float v = a * p / q;\n"
                                "  v = v > 1.0f || s > 81.3f ? 1.0f : v;\n"
                                "  return x < 0.0f ? -v : v;\n"
                                "}\n";

static const char erf_text[] = "static inline float fast_erf(float x) {\n"
                               "  float a = x < 0.0f ? -x : x, s = x * x;\n"
                               "  float p = 1.12837914f + s * (0.193545678f + s * (0.0531018329f + "
                               "s * (0.00388337289f + s * (0.000284566987f\n"
                               "      + s * 1.98678284e-06f))));\n"
                               "  float q = 1.0f + s * (0.504857947f + s * (0.11535026f + s * "
                               "(0.0152073073f + s * (0.00118557904f\n"
                               "      + s * 3.74202378e-05f))));\n"
                               "  float v = a * p / q;\n"
                               "  v = v > 1.0f || s > 16.0f ? 1.0f : v;\n"
                               "  return x < 0.0f ? -v : v;\n"
                               "}\n";

static const char sigmoid_text[] = "static inline float fast_sigmoid(float x) {\n"
                                   "  float e = fast_exp(x < 0.0f ? x : -x);\n"
                                   "  return (x < 0.0f ? e : 1.0f) / (1.0f + e);\n"
                                   "}\n";

static const char gelu_text[] = "static inline float fast_gelu(float x) {\n"
                                "  return 0.5f * x * (1.0f + fast_erf(x * 0.707106781f));\n"
                                "}\n";

static const char silu_text[] = "static inline float fast_silu(float x) {\n"
                                "  return x * fast_sigmoid(x);\n"
                                "}\n";

static const char relu_text[] = "static inline float fast_relu(float x) {\n"
                                "  return x > 0.0f ? x : 0.0f;\n"
                                "}\n";

static const struct {
  tf_kind kind;
  uint32_t needs; /* kinds to be printed before it */
  const char *text;
  tf_micro_fn fn;
} rows[] = {
    {TF_K_EXP, 0, exp_text, {"fast_exp", 1e-7, 1}},
    {TF_K_LOG, 0, log_text, {"fast_log", 1e-7, 1}},
    {TF_K_TANH, 0, tanh_text, {"fast_tanh", 3.5e-7, 1}},
    {TF_K_ERF, 0, erf_text, {"fast_erf", 3.5e-7, 1}},
    {TF_K_SIGMOID, 1u << TF_K_EXP, sigmoid_text, {"fast_sigmoid", 2e-7, 1}},
    {TF_K_GELU, 1u << TF_K_ERF, gelu_text, {"fast_gelu", 9e-7, 0}},
    {TF_K_SILU, 1u << TF_K_SIGMOID | 1u << TF_K_EXP, silu_text, {"fast_silu", 3e-7, 0}},
    {TF_K_RELU, 0, relu_text, {"fast_relu", 0, 1}},
    {TF_K_SQRT, 0, "", {"sqrtf", 6e-8, 1}},
    {TF_K_ABS, 0, "", {"fabsf", 0, 1}},
    {TF_K_FLOOR, 0, "", {"floorf", 0, 1}},
    {TF_K_CEIL, 0, "", {"ceilf", 0, 1}},
    {TF_K_ROUND, 0, "", {"rintf", 0, 1}},
    {TF_K_TRUNC, 0, "", {"truncf", 0, 1}},
    {TF_K_SIN, 0, "", {"sinf", 1.2e-7, 1}},
    {TF_K_COS, 0, "", {"cosf", 1.2e-7, 1}},
    {TF_K_FMOD, 0, "", {"fmodf", 0, 1}},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Without a jump, which would take longer the less the data let it be foreseen. */
static const char narrow_text[] =
    "/* bfloat16: the upper half of a float32; to the nearest, of two equally near the even. */\n"
    "static inline float wide(uint16_t x) { return fast_float((int32_t)((uint32_t)x << 16)); }\n"
    "static inline uint16_t narrow(float v) {\n"
    "  const uint32_t u = (uint32_t)fast_bits(v), no_number = 0U - (uint32_t)((u & 0x7fffffffU) > "
    "0x7f800000U);\n"
    "  const uint32_t up = (u + 0x7fffU + (u >> 16 & 1U)) >> 16;\n"
    "  return (uint16_t)((up & ~no_number) | (0x7fc0U & no_number));\n"
    "}\n";

void tf_micro_bf16(FILE *out) { fputs(narrow_text, out); }

void tf_micro_math(FILE *out, uint32_t kinds) {
  uint32_t all = kinds;
  for (int i = 0; i < N_ROWS; i++)
    if (kinds >> rows[i].kind & 1) all |= rows[i].needs;
  fputs(bits, out);
  for (int i = 0; i < N_ROWS; i++)
    if (all >> rows[i].kind & 1) fputs(rows[i].text, out);
}

void tf_micro_vector_math(FILE *out, const tf_micro_isa *isa, uint32_t kinds) {
  const uint32_t sigmoids = kinds & (1u << TF_K_SIGMOID | 1u << TF_K_SILU);
  if (!(kinds >> TF_K_EXP & 1) && !sigmoids) return;
  fputs(isa->picks ? picked_exp_text : vector_exp_text, out);
  if (sigmoids) fputs(vector_sigmoid_text, out);
}

/* gcc and clang treat machine vectors as C vectors, so that one text serves all. */
void tf_micro_vector_choices(FILE *out) {
  fputs("typedef int32_t vec_truth __attribute__((vector_size(4 * LANES)));\n"
        "static inline vec vec_choose(vec_truth where, vec yes, vec no) {\n"
        "  return (vec)((where & (vec_truth)yes) | (~where & (vec_truth)no));\n"
        "}\n"
        "static const float lane_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
        "15};\n"
        "static inline vec vec_from(int64_t first) { return vec_add(vec_splat((float)first), "
        "vec_load(lane_numbers)); }\n",
        out);
}

const tf_micro_fn *tf_micro_math_find(int kind) {
  for (int i = 0; i < N_ROWS; i++)
    if ((int)rows[i].kind == kind) return &rows[i].fn;
  return NULL;
}

const char *tf_micro_vector_name(int kind) {
  switch ((tf_kind)kind) {
  case TF_K_ADD: return "vec_add";
  case TF_K_SUB: return "vec_sub";
  case TF_K_MUL: return "vec_mul";
  case TF_K_DIV: return "vec_div";
  case TF_K_MAX: return "vec_max";
  case TF_K_MIN: return "vec_min";
  case TF_K_EXP: return "vec_exp";
  case TF_K_SIGMOID: return "vec_sigmoid";
  case TF_K_SILU: return "vec_silu";
  case TF_K_NEG: return "vec_sub";
  case TF_K_RELU: return "vec_max";
  case TF_K_ROUND: return "vec_round";
  case TF_K_SELECT:
  case TF_K_LT:
  case TF_K_LE:
  case TF_K_EQ:
  case TF_K_NE: return "vec_choose";
  case TF_K_LOG:
  case TF_K_SQRT:
  case TF_K_TANH:
  case TF_K_ERF:
  case TF_K_GELU:
  case TF_K_ABS:
  case TF_K_FLOOR:
  case TF_K_CEIL:
  case TF_K_TRUNC:
  case TF_K_SIN:
  case TF_K_COS:
  case TF_K_FMOD:
  case TF_K_COPY:
  case TF_K_MAC:
  case TF_N_KINDS: break; /* no vector function */
  }
  return NULL;
}
