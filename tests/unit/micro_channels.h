/* What test_micro.c knows of tiles whose lanes run along channels: programs that print them beside
 * the definition. */
#ifndef TESTS_UNIT_MICRO_CHANNELS_H
#define TESTS_UNIT_MICRO_CHANNELS_H
#include <stdio.h>

#include "codegen/intrin/micro.h"
#include "tests/unit/check.h"

/* Rows whose lanes run along channels: places of a in no order, fewer channels than the panel is
 * wide, nothing touched beyond. */
static const char channels[] =
    "typedef void channels(int64_t, const float *, const int64_t *, const float *, float *, "
    "int64_t, int64_t, int64_t, int);\n"
    "typedef struct { int rows, columns; int64_t column[4], row[4]; int from, to; } window;\n"
    "static int within(const int64_t *b, int i, int w) {\n"
    "  const int64_t x = b[0] + i * b[1] + w * b[2];\n"
    "  return !b[3] || (x >= 0 && x < b[3]);\n}\n"
    "static int inside(const window *s, int joined, int row, int column, int p) {\n"
    "  const int r = p / s->columns % s->rows;\n"
    "  if (!within(s->column, column, p % s->columns)) return 0;\n"
    "  return joined > 1 ? within(s->row, row, r) : r >= s->from && r < s->to;\n}\n"
    "static int bad_channels(channels *f, int of, int joined, int n, int panel, int step, int k, "
    "int add, const window *s) {\n"
    "  static float a[1024], b[50 * 64], c[64 * 100];\n"
    "  static int64_t at[50];\n"
    "  int wrong = 0, c_p = of + n % 2 * 2, c_n = joined * c_p + 5;\n"
    "  for (int i = 0; i < 1024; i++) a[i] = (float)(i * 37 % 101 - 50) / 64;\n"
    "  for (int i = 0; i < k * panel; i++) b[i] = (float)(i * 53 % 97 - 48) / 64;\n"
    "  for (int i = 0; i < k; i++) at[i] = i * 29 % 500;\n"
    "  for (int i = 0; i < 64 * 100; i++) c[i] = 3;\n"
    "  f(k, a, at, b, c, c_n, c_p, n, add);\n"
    "  for (int j = 0; j < 64; j++) for (int i = 0; i < c_n; i++) {\n"
    "    int in = i / c_p < joined && i % c_p < of && j < n;\n"
    "    double w = in && !add ? 0 : 3;\n"
    "    for (int p = 0; in && p < k; p++)\n"
    "      w += inside(s, joined, i / c_p, i % c_p, p) * (double)a[at[p] + i / c_p * 50 + i % c_p "
    "* step] * b[p * panel + j];\n"
    "    wrong += !(fabs(c[j * c_n + i] - w) <= 1e-5 * (1 + fabs(w)));\n"
    "  }\n"
    "  if (wrong) printf(\"%d x %d rows by %d of %d, step %d, k %d, add %d, window %d x %d: %d "
    "wrong\\n\", joined, of, n, panel, step, k, add, s->rows, s->columns, wrong);\n"
    "  return wrong;\n}\n"
    "static int bad_blocks(channels *f, int of, int joined, int panel, int block, int step, int k, "
    "int add) {\n"
    "  static float a[1024], b[50 * 64], c[64 * 100];\n"
    "  static int64_t at[50];\n"
    "  int wrong = 0, c_p = of * block + 3;\n"
    "  for (int i = 0; i < 1024; i++) a[i] = (float)(i * 37 % 101 - 50) / 64;\n"
    "  for (int i = 0; i < k * panel; i++) b[i] = (float)(i * 53 % 97 - 48) / 64;\n"
    "  for (int i = 0; i < k; i++) at[i] = i * 29 % 500;\n"
    "  for (int i = 0; i < 64 * 100; i++) c[i] = 3;\n"
    "  f(k, a, at, b, c, 0, c_p, 1, add);\n"
    "  for (int i = 0; i < joined * c_p + 4; i++) {\n"
    "    int row = i / c_p, e = i % c_p / block, j = i % c_p % block, in = row < joined && e < of "
    "&& j < panel;\n"
    "    double w = in && !add ? 0 : 3;\n"
    "    for (int p = 0; in && p < k; p++) w += (double)a[at[p] + row * 50 + e * step] * b[p * "
    "panel + j];\n"
    "    wrong += !(fabs(c[i] - w) <= 1e-5 * (1 + fabs(w)));\n"
    "  }\n"
    "  if (wrong) printf(\"%d x %d rows in blocks of %d, step %d, k %d, add %d: %d wrong\\n\", "
    "joined, of, block, step, k, add, wrong);\n"
    "  return wrong;\n}\n";

/* Elements of a row, vectors across, step, rows joined. */
static const int channel_shapes[][4] = {{1, 1, 1, 1},  {14, 2, 1, 1}, {7, 3, 2, 1},  {56, 2, 1, 1},
                                        {15, 2, 3, 1}, {28, 1, 2, 1}, {13, 4, 1, 1}, {61, 2, 1, 1},
                                        {5, 1, 7, 1},  {7, 2, 1, 7},  {1, 3, 1, 9},  {5, 2, 2, 4},
                                        {3, 1, 1, 8}};
enum { N_CHANNELS = sizeof channel_shapes / sizeof *channel_shapes };

static const ir_kernel *plain(void) { return &tf_micro_kernel_find("f32")->kernel; }

/* Rows of the i-th shape. */
static tf_micro_rows_of rows_of(int i, const ir_kernel *kernel) {
  const int *s = channel_shapes[i];
  return (tf_micro_rows_of){.m = s[0],
                            .step = s[2],
                            .joined = s[3],
                            .row_pitch = (int64_t)50 * kernel->group,
                            .kernel = kernel};
}

static const char *channels_of(FILE *f, tf_micro *u, int i, int lanes) {
  const int *s = channel_shapes[i];
  tf_micro_rows_of of = rows_of(i, plain());
  of.in_memory = i % 3 == 1 && s[3] == 1;
  return tf_micro_channels(f, u, &of, s[1] * lanes);
}

/* The same, elements of c apart by a block that their channels fill, or nearly. */
static const char *blocks_of(FILE *f, tf_micro *u, int i, int lanes, int gap) {
  const int *s = channel_shapes[i];
  tf_micro_rows_of of = rows_of(i, plain());
  of.block = s[1] * lanes + gap;
  return tf_micro_channels(f, u, &of, s[1] * lanes);
}

/* The same, prefetching what follows: prefetches go anywhere. */
static const char *prefetching_of(FILE *f, tf_micro *u, int i, int lanes) {
  const int *s = channel_shapes[i];
  tf_micro_rows_of of = rows_of(i, plain());
  of.prefetches = true;
  const char *name = tf_micro_channels(f, u, &of, s[1] * lanes);
  if (name)
    fprintf(f,
            "static void prefetching%d(int64_t k, const float *a, const int64_t *at, const float "
            "*b, float *c, int64_t c_n, int64_t c_p, int64_t n,\n"
            "    int add) {\n  %s(k, a, at, b, c, c_n, c_p, n, add, (uintptr_t)b, 24);\n}\n",
            i, name);
  return name;
}

/* Windows of which borders leave out a part: of the i-th shape, rows and columns; border along the
 * column, and along the row; the rows of a call, where they are not joined. */
static const struct {
  int shape, window[2];
  ir_border column, row;
  int from, to;
} windows[] = {{1, {3, 3}, {-1, 1, 1, 14}, {-1, 1, 1, 14}, 1, 3},
               {2, {2, 3}, {-2, 2, 1, 12}, {0}, 0, 2},
               {4, {1, 5}, {-4, 3, 2, 40}, {0}, 0, 1},
               {5, {5, 1}, {0}, {-2, 1, 1, 9}, 0, 3},
               {9, {3, 3}, {-1, 1, 1, 7}, {-1, 1, 1, 7}, 0, 3},
               {11, {3, 2}, {1, 2, 3, 11}, {-4, 2, 2, 5}, 0, 3},
               {10, {1, 3}, {-1, 1, 1, 1}, {0}, 0, 1},
               {3, {3, 3}, {-3, 1, 1, 53}, {-1, 1, 1, 2}, 2, 2}};
enum { N_WINDOWS = sizeof windows / sizeof *windows };

static void say_border(FILE *f, const ir_border *b) {
  fprintf(f, ", {%lld, %lld, %lld, %lld}", (long long)b->start, (long long)b->stride,
          (long long)b->dilation, (long long)b->size);
}

/* The i-th window's rows, and calls of them as of rows without one; every other prefetches, too. */
static void print_window(FILE *f, tf_micro *u, int i, int lanes) {
  const int *s = channel_shapes[windows[i].shape];
  tf_micro_rows_of of = rows_of(windows[i].shape, plain());
  of.window[0] = windows[i].window[0], of.window[1] = windows[i].window[1];
  of.column = windows[i].column, of.row = windows[i].row, of.prefetches = i % 2;
  const char *name = tf_micro_channels(f, u, &of, s[1] * lanes);
  if (!CHECK(name)) return;
  fprintf(f, "static const window window%d = {%d, %d", i, of.window[0], of.window[1]);
  say_border(f, &of.column), say_border(f, &of.row);
  fprintf(f, ", %d, %d};\n", windows[i].from, windows[i].to);
  fprintf(f,
          "static void windowed%d(int64_t k, const float *a, const int64_t *at, const float *b, "
          "float *c, int64_t c_n, int64_t c_p, int64_t n,\n"
          "    int add) {\n  %s(k, a, at, b, c, c_n, c_p, n, add%s",
          i, name, of.prefetches ? ", (uintptr_t)b, 24" : "");
  if (of.row.size && s[3] == 1) fprintf(f, ", %d, %d", windows[i].from, windows[i].to);
  fputs(");\n}\n", f);
}

static void print_windows(FILE *f, tf_micro *u, const tf_micro_isa *isa) {
  for (int i = 0; i < N_WINDOWS; i++)
    print_window(f, u, i, isa->lanes);
  fputs("static int all_windows(void) {\n  int w = 0;\n", f);
  for (int i = 0; i < N_WINDOWS; i++) {
    const int *s = channel_shapes[windows[i].shape], panel = s[1] * isa->lanes;
    const int size = windows[i].window[0] * windows[i].window[1];
    for (int add = 0; add < 2; add++)
      fprintf(f, "  w += bad_channels(windowed%d, %d, %d, %d, %d, %d, %d, %d, &window%d);\n", i,
              s[0], s[3], panel - add * panel / 3, panel, s[2], 50 / size * size, add, i);
  }
  fputs("  return w;\n}\n", f);
}

/* Every fourth shape in blocks, others prefetching: compilers take long over tiles. */
static bool stands_in_blocks(int i) { return i % 4 == 1; }
static bool wants_more(int i) { return i % 5 == 1; }

static void print_channels(FILE *f, tf_micro *u, const tf_micro_isa *isa) {
  const char *name[N_CHANNELS], *block[N_CHANNELS] = {NULL};
  for (int i = 0; i < N_CHANNELS; i++) {
    CHECK((name[i] = channels_of(f, u, i, isa->lanes)) != NULL);
    CHECK(!stands_in_blocks(i) || (block[i] = blocks_of(f, u, i, isa->lanes, i % 2)) != NULL);
    CHECK(!wants_more(i) || prefetching_of(f, u, i, isa->lanes) != NULL);
  }
  CHECK(channels_of(f, u, 1, isa->lanes) == name[1]); /* once */
  CHECK(!tf_micro_channels(f, u, &(tf_micro_rows_of){.step = 1, .joined = 1, .kernel = plain()},
                           isa->lanes));
  fputs(channels, f);
  fputs("static int all_channels(void) {\n  const window all = {1, 1, {0}, {0}, 0, 1};\n"
        "  int w = 0;\n",
        f);
  for (int i = 0; i < N_CHANNELS; i++) {
    const int *s = channel_shapes[i];
    for (int panel = s[1] * isa->lanes, n = panel, k = 1; n > 0; n -= 1 + panel / 5, k = k * 7 % 50)
      fprintf(f, "  w += bad_channels(%s, %d, %d, %d, %d, %d, %d, %d, &all);\n", name[i], s[0],
              s[3], n, panel, s[2], k, n % 2);
    if (wants_more(i))
      fprintf(f, "  w += bad_channels(prefetching%d, %d, %d, %d, %d, %d, %d, %d, &all);\n", i, s[0],
              s[3], s[1] * isa->lanes, s[1] * isa->lanes, s[2], 31, i % 2);
    if (block[i])
      fprintf(f, "  w += bad_blocks(%s, %d, %d, %d, %d, %d, %d, %d);\n", block[i], s[0], s[3],
              s[1] * isa->lanes, s[1] * isa->lanes + i % 2, s[2], 17 + i, i % 2);
  }
  fputs("  return w;\n}\n", f);
}

#endif
