/* Block products in AMX tiles: up to 2 x 2 tiles of sums, 2 of a, 2 of b. A tile has 16 rows of 64
 * bytes.
 *
 * The kernel has configured the tiles before (tiles_open). A tile of a or b is zeroed right after
 * its last use, which releases its physical register: two threads of a core share few of these. */
#include "codegen/intrin/tile.h"

enum { SIDE = 16, SIDES = 2 * SIDE, A_TILE = 4, B_TILE = 6, LINE_BYTES = 64 };

static const char text[] =
    "#include <string.h>\n"
    "#if !defined(TILES_ALLOWED)\n"
    "extern long syscall(long, ...);\n"
    "/* Linux gives the tiles to a process that asks for them (arch_prctl, ARCH_REQ_XCOMP_PERM), "
    "once. */\n"
    "static inline int tiles_allowed(void) {\n"
    "  static _Atomic int answer; /* 0: not asked yet */\n"
    "  if (!answer) answer = syscall(158L, 0x1023L, 18L) == 0 ? 1 : -1;\n"
    "  return answer > 0;\n"
    "}\n"
    "#define TILES_ALLOWED() tiles_allowed()\n"
    "#endif\n"
    "/* Of `most` rows or columns from i on, how many a block of `all` has. */\n"
    "static inline int64_t tile_end(int64_t i, int64_t all, int64_t most) { return all - i < most "
    "? all - i : most; }\n"
    "/* All eight tiles: 16 rows of 64 bytes. */\n"
    "static inline void tiles_open(void) {\n"
    "  _Alignas(64) unsigned char shape[64];\n"
    "  memset(shape, 0, sizeof shape);\n"
    "  shape[0] = 1;\n"
    "  for (int t = 0; t < 8; t++) shape[16 + 2 * t] = 64, shape[48 + t] = 16;\n"
    "  _tile_loadconfig(shape);\n"
    "}\n"
    "static inline void tiles_release(void) { _tile_release(); }\n";

void tf_amx_text(FILE *out) { fputs(text, out); }

static const char *type(ir_type t) { return tf_micro_type(t); }

/* At a block's last rows and columns, the parts of the tiles that lie in c. */
static void part(FILE *out, const tf_tile *t) {
  const char *sums = t->kernel->sums;
  const int wide = t->across * SIDE;
  fprintf(out, "  %s all[%d * %d] = {0}; /* compilers do not see that tiles are stored */\n",
          type(t->kernel->kernel.c), t->rows * SIDE, wide);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++)
      fprintf(out, "  _tile_stored(%d, all + %d, %d);\n", i * t->across + j, (i * wide + j) * SIDE,
              wide * 4);
  fprintf(out,
          "  for (int64_t i = 0; i < rows; i++)\n"
          "    for (int64_t j = 0; j < columns; j += %d) {\n"
          "      const int n = columns - j < %d ? (int)(columns - j) : %d;\n"
          "      %s v = %s_load(all + i * %d + j);\n"
          "      if (add & ADDS) v = %s_add(%s_load_part(c + i * c_m + j, n), v);\n"
          "      %s_store_part(c + i * c_m + j, v, n);\n    }\n",
          SIDE, SIDE, SIDE, sums, sums, wide, sums, sums, sums);
}

static void for_each_tile(FILE *out, const tf_tile *t, const char *indent, const char *what,
                          const char *rest) {
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++) {
      fprintf(out, "%s%s(%d", indent, what, i * t->across + j);
      if (*rest) fprintf(out, ", c + %d * c_m + %d%s", i * SIDE, j * SIDE, rest);
      fputs(");\n", out);
    }
}

static void load_b(FILE *out, const tf_tile *t, int j) {
  const ir_kernel *k = &t->kernel->kernel;
  fprintf(out, "    _tile_loadd(%d, b + %d, b_k * %d);\n", B_TILE + j, j * SIDE * k->group,
          ir_bytes(k->a));
}

static void multiply(FILE *out, const tf_tile *t, int i, int j) {
  char a[12], b[12], c[12];
  snprintf(a, sizeof a, "%d", A_TILE + i);
  snprintf(b, sizeof b, "%d", B_TILE + j);
  snprintf(c, sizeof c, "%d", i * t->across + j);
  fputs("    ", out);
  tf_micro_call(out, t->kernel, (const char *const[3]){a, b, c});
  fputs(";\n", out);
}

/* One group of rows of k: each operand is loaded just before its first use. */
static void step(FILE *out, const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  for (int i = 0; i < t->rows; i++) {
    fprintf(out, "    _tile_loadd(%d, a + %d * a_m, a_m * %d);\n", A_TILE + i, i * SIDE,
            ir_bytes(k->a));
    for (int j = 0; j < t->across; j++) {
      if (i == 0) load_b(out, t, j);
      multiply(out, t, i, j);
      if (i == t->rows - 1) fprintf(out, "    _tile_zero(%d);\n", B_TILE + j);
    }
    fprintf(out, "    _tile_zero(%d);\n", A_TILE + i);
  }
  fprintf(out, "    a += %d;\n    b += %d * b_k;\n", SIDE * k->group, SIDE);
}

/* Sums that leave rounded are stored to a 32 x 32 buffer in cache; the next tile rounds them while
 * it multiplies, so that no tile waits for another's sums. */
static void rounding(FILE *out, const tf_tile *t, const char *name) {
  const ir_kernel *k = &t->kernel->kernel;
  fprintf(
      out,
      "\n"
      "static APART void %s(int64_t k, const %s *a, int64_t a_m, const %s *b, int64_t b_k, %s *c,\n"
      "                        const %s_left *left) {\n  enum { c_m = %d };\n  int64_t row = 0;\n",
      name, type(k->a), type(k->b), type(k->c), t->kernel->prefix, SIDES);
  for_each_tile(out, t, "  ", "_tile_zero", "");
  fprintf(out, "  for (; k > 0; k -= %d) {\n", SIDE);
  step(out, t);
  fprintf(out, "    if (row < %d) %s_leave(left, row, row + %d);\n    row += %d;\n  }\n", SIDES,
          t->kernel->prefix, SIDE, SIDE);
  fprintf(out, "  %s_leave(left, row, %d);\n", t->kernel->prefix, SIDES);
  for_each_tile(out, t, "  ", "_tile_stored", ", c_m * 4");
  for_each_tile(out, t, "  ", "_tile_zero", "");
  fputs("}\n", out);
}

static void ask_c(FILE *out, const tf_tile *t) {
  fprintf(out,
          "  if ((add & (ADDS | FAR_C)) == FAR_C)\n"
          "    for (int64_t i = 0; i < rows; i++)\n"
          "      for (int64_t j = 0; j < columns; j += %d) FETCH(c + i * c_m + j, 1);\n",
          LINE_BYTES / ir_bytes(t->kernel->kernel.c));
}

void tf_amx_print(FILE *out, const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  char name[64];
  tf_tile_name(t, name);
  if (t->rounds) {
    rounding(out, t, name);
    return;
  }
  fprintf(out,
          "\n"
          "static APART void %s(int64_t k, const %s *a, int64_t a_m, const %s *b, int64_t b_k, %s "
          "*c, int64_t c_m,\n"
          "                        int64_t rows, int64_t columns, int add) {\n"
          "  const int whole = rows == %d && columns == %d;\n",
          name, type(k->a), type(k->b), type(k->c), t->rows * SIDE, t->across * SIDE);
  ask_c(out, t);
  fputs("  if (whole && add & ADDS) {\n", out);
  for_each_tile(out, t, "    ", "_tile_loadd", ", c_m * 4");
  fputs("  } else {\n", out);
  for_each_tile(out, t, "    ", "_tile_zero", "");
  fprintf(out, "  }\n  for (; k > 0; k -= %d) {\n", SIDE);
  step(out, t);
  fputs("  }\n  if (whole) {\n", out);
  for_each_tile(out, t, "    ", "_tile_stored", ", c_m * 4");
  for_each_tile(out, t, "    ", "_tile_zero", "");
  fputs("    return;\n  }\n", out);
  part(out, t);
  fputs("}\n", out);
}

/* How much of a length is covered by pairs of tiles (tiles: 2), or left for one (tiles: 1). */
static int64_t down(int64_t length, int tiles) {
  const int64_t pairs = length > SIDE ? (length + SIDE - 1) / SIDE / 2 * SIDES : 0;
  return tiles == 2 ? pairs < length ? pairs : length : length - pairs;
}

static void call(FILE *out, const tf_micro_kernel *k, bool rounds, int rows, int across, int64_t m,
                 int64_t n) {
  const tf_tile t = {
      .kernel = k, .lanes = SIDE, .rows = rows, .across = across, .rounds = rounds, .unroll = 1};
  char name[64];
  tf_tile_name(&t, name);
  const char *indent = "      ";
  if (!rounds) {
    fprintf(out,
            "%s%s(k, a + i * a_m, a_m, b + j * %d, b_k, c + i * c_m + j, c_m, tile_end(i, %lld, "
            "%d), tile_end(j, %lld, %d), add);\n",
            indent, name, k->kernel.group, (long long)m, rows * SIDE, (long long)n, across * SIDE);
    return;
  }
  fprintf(out,
          "%s%s(k, a + i * a_m, a_m, b + j * %d, b_k, sums[turn], &left);\n"
          "%sleft = (%s_left){sums[turn], c + i * c_m + j, c_m, tile_end(i, %lld, %d), tile_end(j, "
          "%lld, %d), 0};\n"
          "%sleft.writes = add & FILLS ? %d : left.columns;\n%sturn ^= 1;\n",
          indent, name, k->kernel.group, indent, k->prefix, (long long)m, rows * SIDE, (long long)n,
          across * SIDE, indent, SIDES, indent);
}

/* Rows of tiles, and along each all columns, so that rows of c in memory are written in order. */
static void rows_of_tiles(FILE *out, const tf_micro_kernel *k, bool rounds, int rows, int64_t m,
                          int64_t n) {
  const int64_t from = rows == 2 ? 0 : m - down(m, 1), to = from + down(m, rows);
  if (from >= to) return;
  fprintf(out, "  for (int64_t i = %lld; i < %lld; i += %d) {\n", (long long)from, (long long)to,
          rows * SIDE);
  for (int across = 2; across >= 1; across--) {
    const int64_t first = across == 2 ? 0 : n - down(n, 1), end = first + down(n, across);
    if (first >= end) continue;
    fprintf(out, "    for (int64_t j = %lld; j < %lld; j += %d) {\n", (long long)first,
            (long long)end, across * SIDE);
    call(out, k, rounds, rows, across, m, n);
    fputs("    }\n", out);
  }
  fputs("  }\n", out);
}

void tf_amx_block(FILE *out, const tf_micro_kernel *k, const char *name, int64_t m, int64_t n,
                  bool rounds) {
  fprintf(out,
          "\n/* c (%lld x %lld) = %sa b */\n"
          "static void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k,\n"
          "    const %s *b, int64_t b_k, %s *c, int64_t c_m, int add) {\n  (void)a_k;\n",
          (long long)m, (long long)n, rounds ? "" : "or += ", name, type(k->kernel.a),
          type(k->kernel.b), type(rounds ? k->kernel.leaves : k->kernel.c));
  if (rounds)
    fprintf(out,
            "  _Alignas(64) %s sums[2][%d * %d] = {{0}};\n"
            "  %s_left left = {sums[0], c, c_m, 0, 0, 0};\n"
            "  int turn = 0;\n",
            type(k->kernel.c), SIDES, SIDES, k->prefix);
  for (int rows = 2; rows >= 1; rows--)
    rows_of_tiles(out, k, rounds, rows, m, n);
  if (rounds) fprintf(out, "  %s_leave(&left, 0, %d);\n", k->prefix, SIDES);
  fputs("}\n", out);
}
