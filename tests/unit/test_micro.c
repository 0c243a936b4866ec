/* codegen/micro: Eq. 3.4, and block products printed for every instruction set: compiled, run where
 * this machine or an emulator can, and compared with sums in double. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/intrin/math.h"
#include "tests/unit/check.h"
#include "tests/unit/micro_channels.h"
#include "tileflow/emit.h"
#include "tileflow/spec.h"

static void test_shape(void) {
  int m, n;
  tf_micro_best(32, &m, &n);
  CHECK(m == 6 && n == 4);
  tf_micro_best(16, &m, &n);
  CHECK(m == 6 && n == 2);
  CHECK_I64(tf_micro_rows(32, 4), 6);
  CHECK_I64(tf_micro_rows(32, 2), 14);
  CHECK_I64(tf_micro_rows(16, 2), 6);
}

/* Slow twin of Eq. 3.4. */
static void test_shape_twin(void) {
  for (int registers = 8; registers <= 64; registers++) {
    double best = 0;
    int m, n;
    for (int i = 2; i <= registers; i += 2)
      for (int j = 1; i * j + j + 2 <= registers; j++)
        best = (double)i * j / (i + j) > best ? (double)i * j / (i + j) : best;
    tf_micro_best(registers, &m, &n);
    CHECK(m * n + n + 2 <= registers);
    CHECK((double)m * n / (m + n) > best - 1e-12);
  }
}

/* Slow twin: loads of every row and step, panel after panel. */
static void test_panels(void) {
  CHECK_I64(tf_micro_panels(32, 5, 0), 1);
  CHECK_I64(tf_micro_panels(32, 4, 0), 1);
  CHECK_I64(tf_micro_panels(32, 32, 0), 8);
  CHECK_I64(tf_micro_panels(16, 3, 0), 1);
  for (int registers = 16; registers <= 32; registers += 16)
    for (int vectors = 1; vectors <= 40; vectors++) {
      double all[2];
      const int most = registers == 32 ? 4 : 2;
      for (int more = 0; more < 2; more++) {
        const int panels = (vectors + most + more - 1) / (most + more);
        all[more] = 0;
        for (int i = 0; i < panels; i++) {
          const int across = vectors / panels + (i < vectors % panels);
          all[more] += 1 + (double)across / tf_micro_rows(registers, across);
        }
      }
      CHECK_I64(tf_micro_panels(registers, vectors, 0),
                (vectors + most - 1) / most -
                    (all[1] < 0.95 * all[0]
                         ? (vectors + most - 1) / most - (vectors + most) / (most + 1)
                         : 0));
    }
}

/* One panel, tile after tile as they are cut, cycle after cycle of two multiply-adds and two loads.
 */
static double panel_twin(int m, int across, int k) {
  const int most = tf_micro_rows(32, across), count = (m + most - 1) / most;
  double all = 0;
  for (int i = 0; i < count; i++) {
    const int rows = m / count + (i < m % count), fma = rows * across, loads = rows + across,
              busy = fma > loads ? fma : loads;
    for (int p = 0; p < k; p++)
      all += 0.5 + (busy > 8 ? busy : 8) /
                       2.0; /* 8: four cycles until a sum can be added to, two units */
    all += 20;
  }
  return all;
}

/* Slow twins: panels as wide as may be, and as products have them, of nearly equal width. */
static void test_cost(void) {
  enum { DEEP = 10 };
  const tf_core core = tf_core_usual();
  for (int m = 1; m <= 60; m++)
    for (int vectors = 1; vectors <= 9; vectors++)
      for (int across = 1; across <= 4; across++) {
        const int panels = (vectors + across - 1) / across;
        double wide = 0, even = 0;
        for (int j = 0; j < panels; j++) {
          wide += panel_twin(m, j < vectors / across ? across : vectors % across, DEEP);
          even += panel_twin(m, vectors / panels + (j < vectors % panels), DEEP);
        }
        CHECK_NEAR(tf_cost_tiles(&core, 32, m, vectors, DEEP, across), wide, 1e-9 * wide);
        CHECK_NEAR(tf_cost_block(&core, 32, m, vectors, DEEP, panels), even, 1e-9 * even);
      }
}

static const char head[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    "typedef void kernel(int64_t, const float *, int64_t, int64_t, const float *, int64_t, float "
    "*, int64_t, int);\n";
static const char tail[] =
    "static int bad(kernel *f, int m, int n, int k, int a_m, int a_k, int add) {\n"
    "  static float a[4096], b[40 * 200], c[40 * 203];\n"
    "  int wrong = 0, b_k = n + 3, c_m = n + 5;\n"
    "  for (int i = 0; i < 4096; i++) a[i] = (float)(i * 37 % 101 - 50) / 64;\n"
    "  for (int i = 0; i < 40 * 200; i++) b[i] = (float)(i * 53 % 97 - 48) / 64;\n"
    "  for (int i = 0; i < 40 * 203; i++) c[i] = 3;\n"
    "  f(k, a, a_m, a_k, b, b_k, c, c_m, add);\n"
    "  for (int i = 0; i < 40; i++) for (int j = 0; j < c_m; j++) {\n"
    "    int in = i < m && j < n;\n"
    "    double w = in && !add ? 0 : 3;\n"
    "    for (int p = 0; in && p < k; p++) w += (double)a[i * a_m + p * a_k] * b[p * b_k + j];\n"
    "    wrong += !(fabs(c[i * c_m + j] - w) <= 1e-5 * (1 + fabs(w)));\n"
    "  }\n"
    "  return wrong;\n}\n";

/* Rows of every length up to some registers' worth, the greatest and the least element at every
 * place. */
static const char row_head[] =
    "static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "static inline float greater(float a, float b) { return a > b ? a : b; }\n"
    "static inline float smaller(float a, float b) { return a < b ? a : b; }\n";
static const char rows[] =
    "static int bad_rows(void) {\n"
    "  float x[150];\n"
    "  int wrong = 0;\n"
    "  for (int n = 0; n < 150; n++) {\n"
    "    int sum = 0;\n"
    "    for (int i = 0; i < n; i++) x[i] = (float)(i * 37 % 101 - 50), sum += i * 37 % 101 - 50;\n"
    "    wrong += row_sum(x, n) != (float)sum;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "      float kept = x[i];\n"
    "      x[i] = 1000, wrong += row_max(x, n) != 1000;\n"
    "      x[i] = -1000, wrong += row_min(x, n) != -1000;\n"
    "      float most = -INFINITY, least_one = INFINITY; /* NaN counts as if it were not there */\n"
    "      for (int j = 0; j < n; j++)\n"
    "        if (j != i) most = x[j] > most ? x[j] : most, least_one = x[j] < least_one ? x[j] : "
    "least_one;\n"
    "      x[i] = NAN, wrong += row_max(x, n) != most || row_min(x, n) != least_one, x[i] = kept;\n"
    "    }\n"
    "  }\n"
    "  return wrong + (row_max(x, 0) != -INFINITY) + (row_min(x, 0) != INFINITY);\n}\n";

/* vec_exp in every lane against libm, over floats spread through the whole range of bit patterns
 * and close together where results leave the normal range: they are 0 below it; vec_exp_low is the
 * same up to 0, and 0 below 2^-100; vec_exp_brief stays within 2.4e-4 of it; vec_sigmoid and
 * vec_silu, which are made of it, within 2.4e-7; what vec_keep keeps. */
static const char exponents[] =
    "static int bad_exponents(double most) {\n"
    "  int wrong = 0;\n"
    "  for (uint64_t i = 0; i <= 0xffffffffU; i += 8191 * LANES) {\n"
    "    float x[LANES], got[LANES], low[LANES], brief[LANES], kept[LANES], share[LANES], "
    "silu[LANES];\n"
    "    for (int l = 0; l < LANES; l++) {\n"
    "      uint32_t u = (uint32_t)i + 8191U * (uint32_t)l;\n"
    "      if (i / 8191 / LANES % 3 == 0) u = (i / 8191 / LANES % 2 ? 0xc2aeac00U : 0xc28aa0b0U) + "
    "u / 8191U % 256U;\n"
    "      memcpy(&x[l], &u, 4);\n"
    "    }\n"
    "    vec_store(got, vec_exp(vec_load(x)));\n"
    "    vec_store(low, vec_exp_low(vec_load(x)));\n"
    "    vec_store(brief, vec_exp_brief(vec_load(x)));\n"
    "    vec_store(share, vec_sigmoid(vec_load(x)));\n"
    "    vec_store(silu, vec_silu(vec_load(x)));\n"
    "    const int32_t n[] = {-5, -4, 3};\n"
    "    float whole[LANES];\n"
    "    vec_store(whole, vec_whole_part(n, 2));\n"
    "    vec_store(kept, vec_keep(vec_load(x), vec_splat(7), (int)(i / 8191 / LANES % (LANES + "
    "1))));\n"
    "    for (int l = 0; l < LANES; l++) {\n"
    "      double w = exp((double)x[l]), v = got[l];\n"
    "      if (isnan(w)) wrong += !isnan(v);\n"
    "      else if (w > 3.4028235e38) wrong += !isinf(v);\n"
    "      else wrong += w < 0x1p-126 ? v != 0 : !(fabs(v - w) <= most * w);\n"
    "      if (!(x[l] > 0)) wrong += isnan(w) ? !isnan(low[l]) : low[l] != (w < 0x1p-100 ? 0 : "
    "got[l]);\n"
    "      if (!(x[l] > 0)) wrong += isnan(w) ? !isnan(brief[l]) : !(fabs(brief[l] - w) <= 2.4e-4 "
    "* w) && brief[l] + low[l] != 0;\n"
    "      const double s = 1 / (1 + exp(-(double)x[l])), xs = x[l] * s;\n"
    "      wrong += isnan(s) ? !isnan(share[l]) : !(fabs(share[l] - s) <= 2.4e-7 * s + 1.2e-38);\n"
    "      wrong += isnan(xs) ? !isnan(silu[l]) : fabs(silu[l]) != fabs(xs) && !(fabs(silu[l] - "
    "xs) <= 2.4e-7 * fabs(xs) + 1.2e-36);\n"
    "      wrong += i < 8191 * LANES && whole[l] != (l < 2 ? (float)l - 5 : 0);\n"
    "      if (!isnan(w)) wrong += kept[l] != (l < (int)(i / 8191 / LANES % (LANES + 1)) ? x[l] : "
    "7);\n"
    "    }\n"
    "  }\n"
    "  if (wrong) printf(\"exp: %d wrong\\n\", wrong);\n"
    "  return wrong;\n}\n";

/* Words turned, of every number of rows and words up to two squares and a rest; nothing beyond is
 * touched. */
static const char turned[] =
    "static int bad_turns(void) {\n"
    "  static int32_t from[40 * 43], to[43 * 47];\n"
    "  int wrong = 0;\n"
    "  for (int i = 0; i < 40 * 43; i++) from[i] = i + 1;\n"
    "  for (int rows = 0; rows <= 37; rows++) for (int words = 0; words <= 37; words += 1 + (rows "
    "% 16 != 0)) {\n"
    "    memset(to, 0, sizeof to);\n"
    "    transpose_words(from, 43 * 4, to, 47 * 4, rows, words);\n"
    "    for (int p = 0; p < 43; p++) for (int q = 0; q < 47; q++) wrong += to[p * 47 + q] != (p < "
    "words && q < rows ? from[q * 43 + p] : 0);\n"
    "  }\n"
    "  if (wrong) printf(\"turned: %d wrong\\n\", wrong);\n"
    "  return wrong;\n}\n";

/* Blocks that prefetch: what they compute is the same, and the lines of the boxes are prefetched,
 * little else, where there are tiles enough: a line a step; short rows of which there are more than
 * tiles before these, some at a time. */
static const char prefetches[] =
    "static char far_away[64 * 1024];\n"
    "static int fetched_lines[1024], steps;\n"
    "static void prefetched(uintptr_t p) {\n"
    "  const uintptr_t at = p - (uintptr_t)far_away;\n"
    "  steps++;\n"
    "  if (at < sizeof far_away) fetched_lines[at / 64]++;\n"
    "}\n"
    "static far_rows boxes[3];\n"
    "static int lines_missing(const far_rows *f) {\n"
    "  int missing = 0;\n"
    "  for (int64_t r = 0; r < f->rows; r++)\n"
    "    for (int64_t at = 0; at < f->bytes; at += 64) missing += !fetched_lines[(f->from - "
    "(uintptr_t)far_away + (uintptr_t)(r * f->step + at)) / 64];\n"
    "  return missing;\n}\n"
    "static int bad_prefetches(kernel *f, int m, int n, int k) {\n"
    "  int wrong = 0;\n"
    "  const uintptr_t from = ((uintptr_t)far_away + 63) / 64 * 64;\n"
    "  boxes[0] = far_box(from, 3, 128, 128), boxes[1] = far_box(from, 0, 64, 64), boxes[2] = "
    "far_box(from + 4096, 2, 200, 1024);\n"
    "  memset(fetched_lines, 0, sizeof fetched_lines), steps = 0;\n"
    "  wrong += bad(f, m, n, k, k, 1, 0) + (boxes[0].rows != 1) + (boxes[2].rows != 2);\n"
    "  int all = 0;\n"
    "  for (int i = 0; i < 1024; i++) all += fetched_lines[i] > 0;\n"
    "  if (steps >= 3 * k) wrong += lines_missing(&boxes[0]) + lines_missing(&boxes[2]);\n"
    "  const int brief = steps % k && (steps - 7 - 2 * 5) % k == 0;\n"
    "  if (brief) wrong += lines_missing(&boxes[0]) + lines_missing(&boxes[2]);\n"
    "  wrong += steps < k || (steps % k && !brief) || all < 1 || all > 24;\n"
    "  boxes[1] = far_box(from + 8192, 40, 128, 1024);\n"
    "  memset(fetched_lines, 0, sizeof fetched_lines), steps = 0;\n"
    "  wrong += bad(f, m, n, k, k, 1, 0);\n"
    "  const int missing = lines_missing(&boxes[1]);\n"
    "  wrong += missing > 2 * (40 - 160 / 8 + 1) || (steps >= 3 * k + 7 + 40 * 3 + 2 * 5 && "
    "(missing || lines_missing(&boxes[2])));\n"
    "  if (wrong) printf(\"%d x %d, %d steps: %d lines prefetched, %d missing\\n\", m, n, steps, "
    "all, missing);\n"
    "  return wrong;\n}\n";

static const int shapes[][2] = {{1, 1},   {2, 3},   {6, 64},  {7, 65},  {13, 16},
                                {14, 32}, {15, 31}, {29, 17}, {12, 80}, {5, 100},
                                {37, 48}, {9, 7},   {8, 128}, {31, 198}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* A third of the shapes, each in another instruction set: the tiles are those of the blocks that do
 * not prefetch, with one line more. */
static bool prefetches_ahead(int i, const tf_micro_isa *isa) {
  return i % 3 == (int)strlen(isa->name) % 3;
}

static void print_prefetching(FILE *f, tf_micro *u, const tf_micro_isa *isa) {
  fputs(prefetches, f);
  for (int i = 0; i < N_SHAPES; i++) {
    if (!prefetches_ahead(i, isa)) continue;
    const char *name = tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, shapes[i][0],
                                      shapes[i][1], true, false);
    if (!CHECK(name)) return;
    fprintf(f,
            "static void prefetching_%d(int64_t k, const float *a, int64_t a_m, int64_t a_k, const "
            "float *b, int64_t b_k, float *c, int64_t c_m, int add) {\n"
            "  %s(k, a, a_m, a_k, b, b_k, c, c_m, add, boxes, 3);\n}\n",
            i, name);
  }
}

/* The product kernel of float32. */
static void print_plain(FILE *f, const tf_micro_isa *isa) {
  const char *name[N_SHAPES];
  tf_micro *u = tf_micro_new(isa, tf_micro_source_find(NULL), NULL);
  if (!CHECK(u)) return;
  fputs(head, f);
  fputs("static void prefetched(uintptr_t p);\n#define PREFETCH(p) prefetched(p)\n", f);
  fputs(row_head, f);
  tf_micro_prologue(f, isa);
  tf_micro_rows_text(f, isa->lanes);
  fputs(rows, f);
  tf_micro_transpose_text(f);
  fputs(turned, f);
  if (isa->lanes > 1) {
    tf_micro_vector_math(f, isa, 1u << TF_K_EXP | 1u << TF_K_SILU);
    fputs(exponents, f);
  }
  for (int i = 0; i < N_SHAPES; i++)
    CHECK((name[i] = tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, shapes[i][0],
                                    shapes[i][1], false, false)) != NULL);
  CHECK(tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, 6, 64, false, false) ==
        name[2]); /* once */
  CHECK(!tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, 0, 4, false, false));
  fputs(tail, f);
  print_channels(f, u, isa);
  print_windows(f, u, isa);
  print_prefetching(f, u, isa);
  fputs("int main(void) {\n  int w = bad_rows() + bad_turns() + all_channels() + all_windows();\n",
        f);
  if (isa->lanes > 1) fprintf(f, "  w += bad_exponents(%.17g);\n", isa->picks ? 1.1e-7 : 1e-7);
  for (int i = 0; i < N_SHAPES; i++)
    for (int add = 0; add < 2; add++)
      fprintf(f, "  w += bad(%s, %d, %d, %d, %d, %d, %d);\n", name[i], shapes[i][0], shapes[i][1],
              add ? 37 : 1 + i, add ? 40 : 1, add ? 1 : 41, add);
  for (int i = 0; i < N_SHAPES; i++)
    if (prefetches_ahead(i, isa))
      fprintf(f, "  w += bad_prefetches(prefetching_%d, %d, %d, %d);\n", i, shapes[i][0],
              shapes[i][1], 6 + 5 * i % 34);
  fputs("  printf(\"%d wrong\\n\", w);\n  return w != 0;\n}\n", f);
  tf_micro_free(u);
}

/* Which shapes a program takes: compilers take long over tiles, and where there are two each gets
 * half of them, first and last among both. */
typedef struct {
  int of, among;
} turn;

static const turn all_shapes = {0, 1};

static bool takes(turn t, int i) { return i % t.among == t.of || i == 0 || i == N_SHAPES - 1; }

/* What a program returns that may not use the tiles: Linux refuses them where it does not know
 * them, or under a filter. */
enum { REFUSED = 77 };

/* Kernels of groups: operands laid out as ir_kernel says, small whole numbers, so that every sum is
 * exact. */
static const char groups[] =
    "static int bad(kernel *f, int m, int n, int k, int add) {\n"
    "  enum { M = 48, N = 208, KK = 192 };\n"
    "  static A a[M * KK];\n"
    "  static union { B b[KK * N + 4 * N]; int32_t i; } u;\n"
    "  static C c[M * (N + 5)];\n"
    "  int k_wide = (k + K_ROUND - 1) / K_ROUND * K_ROUND, n_wide = (n + N_ROUND - 1) / N_ROUND * "
    "N_ROUND, wrong = 0, c_m = n + 5;\n"
    "  memset(a, 0, sizeof a); memset(&u, 0, sizeof u);\n"
    "  for (int i = 0; i < m; i++) for (int p = 0; p < k; p++) a[i * k_wide + p] = "
    "a_of(number_a(i, p));\n"
    "  for (int p = 0; p < k; p++) for (int j = 0; j < n; j++)\n"
    "    u.b[(p / GROUP * n_wide + j) * GROUP + p % GROUP] = b_of(number_b(p, j));\n"
    "  for (int j = 0; EXCESS && j < n; j++) {\n"
    "    int32_t sum = 0;\n"
    "    for (int p = 0; p < k; p++) sum -= 128 * number_b(p, j);\n"
    "    memcpy((char *)&u.b[k_wide * n_wide] + 4 * j, &sum, 4);\n"
    "  }\n"
    "  for (int i = 0; i < M * (N + 5); i++) c[i] = 3;\n"
    "  f(k_wide / GROUP, a, k_wide, GROUP, u.b, n_wide * GROUP, c, c_m, add);\n"
    "  for (int i = 0; i < M; i++) for (int j = 0; j < c_m; j++) {\n"
    "    int in = i < m && j < n, w = in && !add ? 0 : 3;\n"
    "    for (int p = 0; in && p < k; p++) w += number_a(i, p) * number_b(p, j);\n"
    "    wrong += c[i * c_m + j] != (rounding && in ? nearest((C)w) : (C)w);\n"
    "  }\n"
    "  if (wrong) printf(\"%d x %d x %d, add %d: %d wrong\\n\", m, n, k, add, wrong);\n"
    "  return wrong;\n}\n";

static void print_values(FILE *f, const ir_kernel *k) {
  bool half = k->a == IR_BF16;
  fprintf(f, "typedef %s A;\ntypedef %s B;\ntypedef %s C;\n", tf_micro_type(k->a),
          tf_micro_type(k->b), tf_micro_type(k->c));
  fprintf(f, "enum { GROUP = %d, K_ROUND = %d, N_ROUND = %d, EXCESS = %d };\n", k->group,
          k->k_round, k->n_round, k->lifts);
  fputs("typedef void kernel(int64_t, const A *, int64_t, int64_t, const B *, int64_t, C *, "
        "int64_t, int);\n",
        f);
  /* int8: both ends of the range, too */
  fprintf(
      f,
      "static int number_a(int i, int p) { int v = (i * 37 + p * 11) %% 101 - 50; return %s; }\n",
      half ? "v % 9" : "v == 50 ? 127 : v == -50 ? -128 : v");
  fprintf(f,
          "static int number_b(int p, int j) { int v = (p * 53 + j * 7) %% 97 - 48; return %s; }\n",
          half ? "v % 7" : "v == 48 ? 127 : v == -48 ? -128 : v");
  if (half)
    fputs("static uint16_t a_of(int v) { float x = (float)v; uint32_t u; memcpy(&u, &x, 4); return "
          "(uint16_t)(u >> 16); }\n"
          "#define b_of a_of\n",
          f);
  else
    fputs("#define a_of(v) ((A)(v))\n#define b_of(v) ((B)(v))\n", f);
  fprintf(f,
          "enum { LIFT = %d }; /* of what stands in a slab */\n"
          "#define slab_of(v) ((A)(a_of(v) ^ LIFT))\n",
          k->lifts ? -128 : 0);
}

/* Whether what a block rounds may be filled up with zeros. */
static bool fills_up(const ir_kernel *k) { return k->leaves == IR_BF16 && k->m_round > 1; }

/* What a block does whose sums leave it rounded, widened again for `bad`. */
static void print_rounding(FILE *f, tf_micro *u, const ir_kernel *kernel, turn t) {
  for (int i = 0; kernel->leaves != kernel->c && i < N_SHAPES; i++) {
    if (!takes(t, i)) continue;
    const char *name = tf_micro_block(f, u, kernel, shapes[i][0], shapes[i][1], false, true);
    if (!CHECK(name)) return;
    fprintf(f,
            "static void rounding_%d(int64_t k, const A *a, int64_t a_m, int64_t a_k, const B *b, "
            "int64_t b_k, C *c, int64_t c_m, int add) {\n"
            "  static %s to[48 * 213];\n"
            "  for (int i = 0; i < 48 * 213; i++) to[i] = narrower((int)c[i]);\n"
            "  %s(k, a, a_m, a_k, b, b_k, to, c_m, add);\n"
            "  for (int i = 0; i < 48 * 213; i++) c[i] = wider(to[i]);\n}\n",
            i, tf_micro_type(kernel->leaves), name);
  }
}

/* Rounded rows for the next product: behind a row's last sum zeros up to a multiple of 32, whatever
 * is in a; rows behind the last are left alone. */
static const char fills[] =
    "typedef void filling(int64_t, const uint16_t *, int64_t, int64_t, const uint16_t *, int64_t, "
    "uint16_t *, int64_t, int);\n"
    "static int bad_fill(filling *f, int m, int n) {\n"
    "  enum { K = 32, W = 256, ONE = 0x3f80, INF = 0x7f80 };\n"
    "  static uint16_t a[64 * K], b[K * W], c[64 * W];\n"
    "  const int n_wide = (n + 15) / 16 * 16, wide = (n + 31) / 32 * 32;\n"
    "  int wrong = 0;\n"
    "  memset(a, 0, sizeof a), memset(b, 0, sizeof b);\n"
    "  for (int i = 0; i < m; i++) a[i * K] = i % 3 ? INF : ONE;\n"
    "  for (int j = 0; j < n; j++) b[2 * j] = ONE;\n"
    "  for (int i = 0; i < 64 * W; i++) c[i] = 3;\n"
    "  f(K / 2, a, K, 2, b, n_wide * 2, c, wide, FILLS);\n"
    "  for (int i = 0; i < 64; i++)\n"
    "    for (int j = 0; j < wide; j++) wrong += c[i * wide + j] != (i >= m ? 3 : j < n ? a[i * K] "
    ": 0);\n"
    "  if (wrong) printf(\"%d x %d, filled up: %d wrong\\n\", m, n, wrong);\n"
    "  return wrong;\n}\n";

/* Rows whose lanes run along channels, of groups. */
static const char paired[] =
    "typedef void paired(int64_t, const A *, const int64_t *, const B *, C *, int64_t, int64_t, "
    "int64_t, int);\n"
    "static int bad_paired(paired *f, int of, int joined, int n, int panel, int step, int k, int "
    "add) {\n"
    "  static A a[1024 * GROUP];\n"
    "  static B b[50 * 64 * GROUP];\n"
    "  static C c[64 * 100];\n"
    "  static int64_t at[50];\n"
    "  int wrong = 0, c_p = of + 2, c_n = joined * c_p + 5;\n"
    "  for (int i = 0; i < 1024 * GROUP; i++) a[i] = slab_of(number_a(i, 0));\n"
    "  for (int i = 0; i < k * panel * GROUP; i++) b[i] = b_of(number_b(i, 0));\n"
    "  for (int i = 0; i < k; i++) at[i] = i * 29 % 500 * GROUP;\n"
    "  for (int i = 0; i < 64 * 100; i++) c[i] = 3;\n"
    "  f(k, a, at, b, c, c_n, c_p, n, add);\n"
    "  for (int j = 0; j < 64; j++) for (int i = 0; i < c_n; i++) {\n"
    "    int in = i / c_p < joined && i % c_p < of && j < n, w = in && !add ? 0 : 3;\n"
    "    for (int p = 0; in && p < k; p++) for (int e = 0; e < GROUP; e++)\n"
    "      w += number_a((int)at[p] + (i / c_p * 50 + i % c_p * step) * GROUP + e, 0) *\n"
    "           number_b((p * panel + j) * GROUP + e, 0);\n"
    "    wrong += c[j * c_n + i] != (C)w;\n"
    "  }\n"
    "  if (wrong) printf(\"%d x %d rows by %d of %d, step %d, k %d, add %d: %d wrong\\n\", joined, "
    "of, n, panel, step, k, add, wrong);\n"
    "  return wrong;\n}\n";

/* Rows laid out as pairs of bfloat16 for them. */
static const char pairs_of_rows[] =
    "static int bad_pairs(int n, int both) {\n"
    "  enum { MOST = 40 };\n"
    "  float x[2][MOST];\n"
    "  uint16_t y[2][MOST], of[2][2 * MOST + 1];\n"
    "  int wrong = 0;\n"
    "  for (int i = 0; i < 2 * MOST; i++)\n"
    "    x[i / MOST][i % MOST] = (float)(i - MOST), y[i / MOST][i % MOST] = a_of(i - MOST);\n"
    "  for (int i = 0; i <= 2 * MOST; i++) of[0][i] = of[1][i] = 7;\n"
    "  bf16_pairs_of_f32(of[0], x[0], both ? x[1] : NULL, n);\n"
    "  bf16_pairs_of_bf16(of[1], y[0], both ? y[1] : NULL, n);\n"
    "  for (int i = 0; i <= 2 * MOST; i++) {\n"
    "    const uint16_t want = i >= 2 * n ? 7 : i % 2 && !both ? 0 : y[i % 2][i / 2];\n"
    "    wrong += (of[0][i] != want) + (of[1][i] != want);\n"
    "  }\n"
    "  if (wrong) printf(\"pairs of %d, %d: %d wrong\\n\", n, both, wrong);\n"
    "  return wrong;\n}\n";

/* Rows of bytes laid out as groups of integers for them. */
static const char groups_of_rows[] =
    "static int bad_beside(int n) {\n"
    "  enum { MOST = 150 };\n"
    "  int8_t x[GROUP][MOST];\n"
    "  A to[GROUP * MOST + 1];\n"
    "  int wrong = 0;\n"
    "  for (int i = 0; i < GROUP * MOST; i++) x[i / MOST][i % MOST] = (int8_t)(i * 37);\n"
    "  for (int i = 0; i <= GROUP * MOST; i++) to[i] = 7;\n"
    "#if defined(FOURS)\n"
    "  int8_beside(to, x[0], x[1], x[2], x[3], n, LIFT);\n"
    "#else\n"
    "  int8_beside(to, x[0], x[1], n, LIFT);\n"
    "#endif\n"
    "  for (int i = 0; i <= GROUP * MOST; i++)\n"
    "    wrong += to[i] != (i < GROUP * n ? slab_of(x[i % GROUP][i / GROUP]) : 7);\n"
    "  if (wrong) printf(\"rows of %d side by side: %d wrong\\n\", n, wrong);\n"
    "  return wrong;\n}\n";

/* "all_of_NAME": calls the function as those without corrections are called. */
static void with_excess(FILE *f, const char *name, int panel) {
  fprintf(f,
          "static void all_of_%s(int64_t k, const A *a, const int64_t *at, const B *b, C *c, "
          "int64_t c_n, int64_t c_p, int64_t n, int add) {\n"
          "  int32_t excess[%d];\n  int8_excess(k, b, %d, excess);\n"
          "  %s(k, a, at, b, c, c_n, c_p, n, add, excess);\n}\n",
          name, panel, panel, name);
}

/* Every third shape: compilers take long over tiles. */
static void print_paired(FILE *f, tf_micro *u, const tf_micro_isa *isa, const ir_kernel *kernel) {
  const char *name[N_CHANNELS];
  CHECK(!kernel->lifts || tf_micro_excess(f, u, kernel) != NULL);
  for (int i = 0; i < N_CHANNELS; i += 3) {
    const int *s = channel_shapes[i];
    const tf_micro_rows_of of = rows_of(i, kernel);
    CHECK((name[i] = tf_micro_channels(f, u, &of, s[1] * isa->lanes)) != NULL);
    if (kernel->lifts) with_excess(f, name[i], s[1] * isa->lanes);
  }
  const bool pairs = kernel->a == IR_BF16;
  fputs(paired, f);
  if (kernel->group == 4) fputs("#define FOURS\n", f);
  fputs(pairs ? pairs_of_rows : groups_of_rows, f);
  fputs("static int all_paired(void) {\n  int w = 0;\n", f);
  fprintf(f, "  for (int n = 0; n <= %d; n++) w += %s;\n", pairs ? 40 : 150,
          pairs ? "bad_pairs(n, 0) + bad_pairs(n, 1)" : "bad_beside(n)");
  for (int i = 0; i < N_CHANNELS; i += 3) {
    const int *s = channel_shapes[i];
    for (int panel = s[1] * isa->lanes, n = panel, k = 1; n > 0; n -= 1 + panel / 5, k = k * 7 % 50)
      fprintf(f, "  w += bad_paired(%s%s, %d, %d, %d, %d, %d, %d, %d);\n",
              kernel->lifts ? "all_of_" : "", name[i], s[0], s[3], n, panel, s[2], k, n % 2);
  }
  fputs("  return w;\n}\n", f);
}

static void print_groups(FILE *f, const tf_micro_isa *isa, const ir_machine *target,
                         const ir_kernel *kernel, turn t) {
  tf_micro *u = tf_micro_new(isa, tf_micro_source_find(NULL), NULL);
  const char *name[N_SHAPES];
  if (!CHECK(u)) return;
  fputs("#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n", f);
  print_values(f, kernel);
  tf_micro_prologue(f, isa);
  tf_micro_kernel_text(f, isa, target);
  for (int i = 0; i < N_SHAPES; i++)
    CHECK(!takes(t, i) || (name[i] = tf_micro_block(f, u, kernel, shapes[i][0], shapes[i][1], false,
                                                    false)) != NULL);
  fputs(
      kernel->leaves == IR_BF16
          ? "static float nearest(float x) {\n  uint32_t u;\n  memcpy(&u, &x, 4);\n"
            "  u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000U;\n"
            "  memcpy(&x, &u, 4);\n  return x;\n}\n"
            "static float wider(uint16_t h) {\n  uint32_t u = (uint32_t)h << 16;\n"
            "  float x;\n  memcpy(&x, &u, 4);\n  return x;\n}\n#define narrower a_of\n"
          : "#define nearest(x) (x)\n#define narrower(x) ((float)(x))\n#define wider(x) ((C)(x))\n",
      f);
  fputs("static int rounding;\n", f);
  fputs(groups, f);
  print_rounding(f, u, kernel, t);
  const bool broadcast = kernel->group > 1 && kernel->m_round == 1 && kernel->n_round == isa->lanes;
  if (broadcast) print_paired(f, u, isa, kernel);
  if (fills_up(kernel)) fputs(fills, f);
  fprintf(f, "int main(void) {\n  int w = %s;\n", broadcast ? "all_paired()" : "0");
  if (tf_micro_has_tiles(target))
    fprintf(f, "  if (!TILES_ALLOWED()) return %d;\n  tiles_open();\n",
            REFUSED); /* as emitted kernels do */
  for (int i = 0; i < N_SHAPES; i++)
    for (int add = 0; takes(t, i) && add < 2; add++)
      fprintf(f, "  w += bad(%s, %d, %d, %d, %d);\n", name[i], shapes[i][0], shapes[i][1],
              add ? 131 : 1 + 7 * i, add);
  for (int i = 0; fills_up(kernel) && i < N_SHAPES; i++)
    if (takes(t, i))
      fprintf(f, "  w += bad_fill(%s, %d, %d);\n",
              tf_micro_block(f, u, kernel, shapes[i][0], shapes[i][1], false, true), shapes[i][0],
              shapes[i][1]);
  fputs("  rounding = 1;\n", f);
  for (int i = 0; kernel->leaves != kernel->c && i < N_SHAPES; i++)
    if (takes(t, i))
      fprintf(f, "  w += bad(rounding_%d, %d, %d, %d, 0);\n", i, shapes[i][0], shapes[i][1],
              1 + 13 * i);
  fputs("  return w != 0;\n}\n", f);
  tf_micro_free(u);
}

/* The product kernel of float32 in tiles, rows of a along k, along m and neither; and what a caller
 * had in them, to be saved by the first who needs them, is where it said. */
static void print_outer(FILE *f, const tf_micro_isa *isa, const ir_machine *target, turn t) {
  static const char lazy[] =
      "static int bad_lazy(void) {\n"
      "  static unsigned char from[64 * 64], to[64 * 64];\n"
      "  struct { unsigned char *to; uint16_t rows; unsigned char zero[6]; } block = {to, 64, "
      "{0}};\n"
      "  const void *left;\n"
      "  for (int i = 0; i < 64 * 64; i++) from[i] = (unsigned char)(i * 37 % 251);\n"
      "  __asm__ volatile(SME \"smstart za\" : : : \"memory\");\n"
      "  for (int64_t i = 0; i < 64; i++)\n"
      "    __asm__ volatile(SME \"mov w12, %w0\\n\\tldr za[w12, 0], [%1]\" : : \"r\"(i), "
      "\"r\"(from + 64 * i) : \"x12\", \"memory\");\n"
      "  __asm__ volatile(\"msr S3_3_C13_C0_5, %0\" : : \"r\"(&block) : \"memory\");\n"
      "  tiles_open();\n"
      "  __asm__ volatile(\"mrs %0, S3_3_C13_C0_5\" : \"=r\"(left));\n"
      "  return left != NULL || memcmp(from, to, sizeof to) != 0;\n}\n";
  tf_micro *u = tf_micro_new(isa, tf_micro_source_find(NULL), NULL);
  const char *name[N_SHAPES];
  if (!CHECK(u)) return;
  fputs(head, f);
  tf_micro_prologue(f, isa);
  tf_micro_kernel_text(f, isa, target);
  for (int i = 0; i < N_SHAPES; i++)
    if (takes(t, i))
      CHECK((name[i] = tf_micro_block(f, u, target->real, shapes[i][0], shapes[i][1], false,
                                      false)) != NULL);
  fputs(tail, f);
  fputs(lazy, f);
  fprintf(f, "int main(void) {\n  if (!TILES_ALLOWED()) return %d;\n  int w = bad_lazy();\n",
          REFUSED);
  for (int i = 0; i < N_SHAPES; i++)
    for (int way = 0; takes(t, i) && way < 3; way++)
      fprintf(f, "  w += bad(%s, %d, %d, %d, %d, %d, %d);\n", name[i], shapes[i][0], shapes[i][1],
              way ? 37 : 1 + i, way == 1 ? 1 : 40 + way,
              way == 1   ? 41
              : way == 2 ? 2
                         : 1,
              way != 1);
  fputs("  printf(\"%d wrong\\n\", w);\n  return w != 0;\n}\n", f);
  tf_micro_free(u);
}

static void print_program(FILE *f, const tf_micro_isa *isa, const char *type, turn half) {
  ir_machine t = tf_micro_machine(isa, !strcmp(type, "bf16")   ? IR_BF16
                                       : !strcmp(type, "int8") ? IR_I8
                                                               : IR_F32);
  const ir_kernel *kernel = t.whole ? t.whole : t.real;
  if (kernel->a == IR_F32 && tf_micro_has_tiles(&t))
    print_outer(f, isa, &t, half);
  else if (kernel->a == IR_F32)
    print_plain(f, isa);
  else
    print_groups(f, isa, &t, kernel, half);
}

static void run_program(const char *dir, const char *runner, const char *name, const char *type) {
  char command[300];
  snprintf(command, sizeof command, "%s %s/k >%s/said || { s=$?; cat %s/said; exit $s; }", runner,
           dir, dir, dir);
  const int status = system(command);
  if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
    printf("SKIP: %s, %s: the system gives no leave to use the tiles\n", name, type);
  else
    CHECK_I64(status, 0);
}

/* Compiles with `compiler` and runs behind `runner` (NULL: does not run). */
static void try_isa(const char *name, const char *type, const char *compiler, const char *runner,
                    turn half) {
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  char dir[] = "/tmp/tf_micro_XXXXXX", path[64], command[800];
  if (!CHECK(isa) || !CHECK(mkdtemp(dir))) return;
  snprintf(path, sizeof path, "%s/k.c", dir);
  FILE *f = fopen(path, "w");
  if (!CHECK(f)) return;
  print_program(f, isa, type, half);
  CHECK_I64(fclose(f), 0);
  snprintf(command, sizeof command,
           "%s -std=c17 -Og -Wall -Wextra -Wno-unused-function -Werror %s -o %s/k %s -lm", compiler,
           isa->flags, dir, path);
  CHECK_I64(system(command), 0);
  if (runner) run_program(dir, runner, name, type);
  snprintf(command, sizeof command, "rm -r %s", dir);
  CHECK_I64(system(command), 0);
}

static bool there(const char *program) {
  char command[128];
  snprintf(command, sizeof command, "command -v %s >/dev/null", program);
  return system(command) == 0;
}

#if defined __x86_64__
static const char *here(const char *isa) { return tf_emit_runs(isa) ? "" : NULL; }

/* With gcc and, if it is there, clang, which need not see twice what differs by one instruction;
 * AMX as it is, or, where the computer has none, in an emulation.  Without tiles the program as it
 * is has to end with REFUSED, not of SIGILL: it asks before it uses them. */
static void try_narrow(void) {
  const int n = there("clang") ? 2 : 1;
  for (int i = 0; i < n; i++) {
    const char *cc = i ? "clang" : "cc";
    const turn t = {i, n};
    char emulated[300], dir[200];
    try_isa("sse2", "int8", cc, "", t);
    if (!i) try_isa("avx2", "int8", cc, here("avx2"), t);
    try_isa("avxvnni", "int8", cc, here("avxvnni"), t);
    if (!i) try_isa("avx512", "int8", cc, here("avx512"), t);
    try_isa("avx512_vnni", "int8", cc, here("avx512_vnni"), t);
    try_isa("avx512_bf16", "bf16", cc, here("avx512_bf16"), t);
    for (int k = 0; k < 2; k++) {
      const char *type = k ? "int8" : "bf16";
      try_isa("amx", type, cc, here("avx512_bf16"), all_shapes);
      if (here("amx") || !getcwd(dir, sizeof dir) || !tf_emit_runs("avx512_bf16")) continue;
      snprintf(emulated, sizeof emulated, "%s -include %s/tests/kernels/amx_emulation.h", cc, dir);
      try_isa("amx", type, emulated, "", all_shapes);
    }
  }
}
#endif

/* Under qemu with vectors of 512 bits. */
static void try_sme(const char *runner) {
  char with[80], emulated[300], dir[200];
  snprintf(with, sizeof with, "%s -cpu max,sme512=on", runner ? runner : "");
  try_isa("sme", "f32", "aarch64-linux-gnu-gcc -static", runner ? with : NULL, all_shapes);
  try_isa("sme", "bf16", "aarch64-linux-gnu-gcc -static", runner ? with : NULL, all_shapes);
  if (!getcwd(dir, sizeof dir)) return;
  snprintf(emulated, sizeof emulated,
           "aarch64-linux-gnu-gcc -static -include %s/tests/kernels/sme_emulation.h", dir);
  try_isa("sme", "int8", emulated, runner ? with : NULL, all_shapes);
}

/* ---- lines that share places of the first cache --------------------------------------------- */
/* Bytes that stay, where each place has room for as many lines as the page goes into what stays: so
 * many of the lines that begin there, one place after the other. */
static double gone(const tf_core *core, int lines, int64_t apart) {
  enum { LINE = 64, PLACES = 64 };
  const double room = core->l1_resident / core->page;
  bool taken[PLACES] = {false};
  int places = 0;
  for (int64_t i = 0; i < PLACES * LINE; i++) { /* until they come round */
    const int64_t place = i * apart % (int64_t)core->page / LINE;
    places += !taken[place];
    taken[place] = true;
  }
  return lines > places * room ? 1 - places * room / lines : 0;
}

static void test_torn(void) {
  const tf_core core = {.page = 4096, .l1_resident = 32768, .page_crossing = 60};
  for (int64_t apart = 4; apart < 3 * 4096; apart += 4)
    for (int across = 1; across <= 4; across++) {
      const tf_transposed t = {
          .registers = 32, .lanes = 16, .row = 128, .m = 128, .vectors = 12, .row_pitch = apart};
      const double tiles =
          (double)((t.m + tf_micro_rows(32, across) - 1) / tf_micro_rows(32, across));
      CHECK_NEAR(tf_cost_split_lines(&core, &t, across),
                 30 * gone(&core, 16 * across, apart) * (tiles - 8) * 12 * 16, 1e-6);
    }
  CHECK(tf_cost_split_lines(&core, &(tf_transposed){32, 16, 128, 128, 12, 0}, 3) == 0);
  CHECK(tf_cost_split_lines(&core, &(tf_transposed){32, 16, 128, 128, 12, 8192}, 3) >
        tf_cost_split_lines(&core, &(tf_transposed){32, 16, 128, 128, 12, 8192}, 2));
}

int main(void) {
  test_torn();
  test_shape();
  test_shape_twin();
  test_panels();
  test_cost();
  try_isa("portable", "f32", "cc", "", all_shapes);
  try_isa("portable", "int8", "cc", "", all_shapes);
#if defined __x86_64__
  try_isa("sse2", "f32", "cc", "", all_shapes);
  try_isa("avx2", "f32", "cc", here("avx2"), all_shapes);
  try_isa("avx512", "f32", "cc", here("avx512"), all_shapes);
  try_narrow();
#endif
  const char *runner = there("qemu-aarch64") ? "qemu-aarch64" : NULL;
  if (there("aarch64-linux-gnu-gcc")) {
    try_isa("neon", "f32", "aarch64-linux-gnu-gcc -static", runner, all_shapes);
    try_isa("neon", "int8", "aarch64-linux-gnu-gcc -static", runner, all_shapes);
    try_isa("neon_dot", "int8", "aarch64-linux-gnu-gcc -static", runner, all_shapes);
    try_isa("neon_i8mm", "int8", "aarch64-linux-gnu-gcc -static", runner, all_shapes);
    try_sme(runner);
  }
  CHECK(!tf_micro_isa_find("avx"));
  CHECK(!tf_emit_runs("avx"));
  return check_report();
}
