/* Block products in the tiles of AMX: up to 2 x 2 of sums, 2 of a, 2 of b.  A tile is 16 rows of 64 bytes. */
#include "codegen/intrin/tile.h"

enum { SIDE = 16 };

static const char text[] = "#include <string.h>\n"
                           "#if !defined(TILES_ALLOWED) /* Linux gives the tiles to a process that asks for them "
                           "(arch_prctl, ARCH_REQ_XCOMP_PERM) */\n"
                           "extern long syscall(long, ...);\n"
                           "#define TILES_ALLOWED() (syscall(158L, 0x1023L, 18L) == 0)\n"
                           "#endif\n"
                           "/* All eight tiles: 16 rows of 64 bytes. */\n"
                           "static inline void tiles_open(void) {\n"
                           "  _Alignas(64) unsigned char shape[64];\n"
                           "  memset(shape, 0, sizeof shape);\n"
                           "  shape[0] = 1;\n"
                           "  for (int t = 0; t < 8; t++) shape[16 + 2 * t] = 64, shape[48 + t] = 16;\n"
                           "  _tile_loadconfig(shape);\n"
                           "}\n";

void tf_amx_text(FILE *out) { fputs(text, out); }

static const char *type(ir_type t) { return tf_micro_type(t); }

/* Sums of a block's last rows and columns: of the tiles only what belongs to c. */
static void part(FILE *out, const tf_tile *t) {
  const char *c = type(t->kernel->kernel.c);
  fprintf(out, "  %s sums[%d * %d] = {0}; /* compilers do not see that tiles are stored */\n", c, t->rows * SIDE,
          t->across * SIDE);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++)
      fprintf(out, "  _tile_stored(%d, sums + %d, %d);\n", i * t->across + j, (i * t->across * SIDE + j) * SIDE,
              t->across * SIDE * 4);
  fprintf(out,
          "  for (int64_t i = 0; i < rows; i++)\n"
          "    for (int64_t j = 0; j < columns; j++)\n"
          "      c[i * c_m + j] = (add & ADDS ? c[i * c_m + j] : 0) + sums[i * %d + j];\n",
          t->across * SIDE);
}

static void each(FILE *out, const tf_tile *t, const char *indent, const char *what, const char *rest) {
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++) {
      fprintf(out, "%s%s(%d", indent, what, i * t->across + j);
      if (*rest) fprintf(out, ", c + %d * c_m + %d%s", i * SIDE, j * SIDE, rest);
      fputs(");\n", out);
    }
}

static void steps(FILE *out, const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  const int bytes = ir_bytes(k->a);
  fprintf(out, "  for (; k > 0; k -= %d) {\n", SIDE);
  for (int i = 0; i < t->rows; i++)
    fprintf(out, "    _tile_loadd(%d, a + %d * a_m, a_m * %d);\n", 4 + i, i * SIDE, bytes);
  for (int j = 0; j < t->across; j++)
    fprintf(out, "    _tile_loadd(%d, b + %d, b_k * %d);\n", 6 + j, j * SIDE * k->group, bytes);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++)
      fprintf(out, "    %s(%d, %d, %d);\n", k->a == IR_BF16 ? "_tile_dpbf16ps" : "_tile_dpbssd", i * t->across + j,
              4 + i, 6 + j);
  fprintf(out, "    a += %d;\n    b += %d * b_k;\n  }\n", SIDE * k->group, SIDE);
}

void tf_amx_print(FILE *out, const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  char name[64];
  tf_tile_name(t, name);
  fprintf(out,
          "\nstatic APART void %s(int64_t k, const %s *a, int64_t a_m, const %s *b, int64_t b_k, %s *c, int64_t c_m,\n"
          "                        int64_t rows, int64_t columns, int add) {\n"
          "  const int whole = rows == %d && columns == %d;\n",
          name, type(k->a), type(k->b), type(k->c), t->rows * SIDE, t->across * SIDE);
  fputs("  if (whole && add & ADDS) {\n", out);
  each(out, t, "    ", "_tile_loadd", ", c_m * 4");
  fputs("  } else {\n", out);
  each(out, t, "    ", "_tile_zero", "");
  fputs("  }\n", out);
  steps(out, t);
  fputs("  if (whole) {\n", out);
  each(out, t, "    ", "_tile_stored", ", c_m * 4");
  fputs("    return;\n  }\n", out);
  part(out, t);
  fputs("}\n", out);
}

static void column(FILE *out, const tf_micro_kernel *k, int64_t m, int across, const char *columns) {
  char name[64];
  int64_t pairs = m > SIDE ? (m + SIDE - 1) / SIDE / 2 : 0;
  for (int rows = 2; rows >= 1; rows--) {
    tf_tile t = {k, 16, rows, across, 0, false, false};
    tf_tile_name(&t, name);
    int64_t from = rows == 2 ? 0 : pairs * 2 * SIDE, to = rows == 2 ? pairs * 2 * SIDE : m;
    if (from >= to) continue;
    fprintf(out,
            "    for (int64_t i = %lld; i < %lld; i += %d)\n"
            "      %s(k, a + i * a_m, a_m, b + j * %d, b_k, c + i * c_m + j, c_m, %lld - i < %d ? %lld - i : %d, %s, "
            "add);\n",
            (long long)from, (long long)to, rows * SIDE, name, k->kernel.group, (long long)m, rows * SIDE, (long long)m,
            rows * SIDE, columns);
  }
}

void tf_amx_block(FILE *out, const tf_micro_kernel *k, const char *name, int64_t m, int64_t n) {
  int64_t pairs = n > SIDE ? (n + SIDE - 1) / SIDE / 2 : 0;
  char columns[96];
  fprintf(out,
          "\n/* c (%lld x %lld) = or += a b */\nstatic void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k,\n"
          "    const %s *b, int64_t b_k, %s *c, int64_t c_m, int add) {\n  (void)a_k;\n  tiles_open();\n",
          (long long)m, (long long)n, name, type(k->kernel.a), type(k->kernel.b), type(k->kernel.c));
  for (int across = 2; across >= 1; across--) {
    int64_t from = across == 2 ? 0 : pairs * 2 * SIDE, to = across == 2 ? pairs * 2 * SIDE : n;
    if (from >= to) continue;
    snprintf(columns, sizeof columns, "%lld - j < %d ? %lld - j : %d", (long long)n, across * SIDE, (long long)n,
             across * SIDE);
    fprintf(out, "  for (int64_t j = %lld; j < %lld; j += %d) {\n", (long long)from, (long long)to, across * SIDE);
    column(out, k, m, across, columns);
    fputs("  }\n", out);
  }
  fputs("  _tile_release();\n}\n", out);
}
