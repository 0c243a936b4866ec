/* Block products in SME's tiles: a row of up to four tiles of sums, to each of which a call adds
 * the product of a vector of words of a, one for each row, with one of b.  A word is a float, or a
 * group of four bytes.
 *
 * gcc 12 has no functions for these instructions, so each tile is one statement of assembler text
 * that goes to streaming mode and back: nothing that the compiler makes runs in between, and it
 * saves what its caller keeps in vectors, as all of them are lost.  Columns that are not there are
 * left out by predicates.  Rows of a are interleaved word by word before, some hundred steps
 * at a time, outside of that mode. */
#include "codegen/intrin/tile.h"

enum { MOST_TILES = 4, PART = 256 }; /* PART: steps of a laid side by side */

static const char text[] =
    "#include <string.h>\n"
    "#if defined(__clang__)\n#define SME \".arch armv9-a+sme\\n\\t\"\n"
    "#else\n#define SME \".arch_extension sme\\n\\t\"\n#endif\n"
    "#if !defined(TILES_ALLOWED)\n"
    "#include <sys/prctl.h>\n"
    "/* Whether Linux has SME with vectors of %d bits in streaming mode (PR_SME_GET_VL, in bytes). "
    "*/\n"
    "static inline int tiles_allowed(void) {\n"
    "  const int length = prctl(64, 0L, 0L, 0L, 0L);\n"
    "  return length > 0 && (length & 0xffff) == %d;\n"
    "}\n"
    "#define TILES_ALLOWED() tiles_allowed()\n"
    "#endif\n"
    "/* A caller may have left its tiles to be saved by the first who needs them: a function with "
    "tiles of its own\n"
    " * saves them where TPIDR2_EL0 says, and turns them off. */\n"
    "static inline void tiles_open(void) {\n"
    "  const struct { unsigned char *to; uint16_t rows; } *lazy;\n"
    "  __asm__ volatile(\"mrs %%0, S3_3_C13_C0_5\" : \"=r\"(lazy));\n"
    "  if (!lazy) return;\n"
    "  for (int64_t i = 0; lazy->to && i < lazy->rows; i++)\n"
    "    __asm__ volatile(SME \"mov w12, %%w0\\n\\tstr za[w12, 0], [%%1]\"\n"
    "                     : : \"r\"(i), \"r\"(lazy->to + i * %d) : \"x12\", \"memory\");\n"
    "  __asm__ volatile(SME \"msr S3_3_C13_C0_5, xzr\\n\\tsmstop za\" : : : \"memory\");\n"
    "}\n"
    "static inline void tiles_release(void) {} /* each product has turned them off */\n"
    "/* k words of each of `rows` rows, column by column; where there are fewer than %d rows, "
    "zeros. */\n"
    "static inline void words_of_rows(int64_t k, const unsigned char *a, int64_t a_m, int64_t a_k, "
    "int64_t rows, uint32_t *to) {\n"
    "  for (int64_t i = 0; i < %d; i++)\n"
    "    for (int64_t p = 0; p < k; p++) {\n"
    "      uint32_t word = 0;\n"
    "      if (i < rows) memcpy(&word, a + i * a_m + p * a_k, sizeof word);\n"
    "      to[p * %d + i] = word;\n"
    "    }\n"
    "}\n";

void tf_sme_text(FILE *out, const tf_micro_kernel *k) {
  const int side = k->lanes, bytes = side * (int)sizeof(float);
  fprintf(out, text, bytes * 8, bytes, bytes, side, side, side);
}

static void name_of(const tf_micro_kernel *k, int across, char name[64]) {
  snprintf(name, 64, "tile_%.30s_%d", k->kernel.name, across);
}

/* How the assembler calls registers of elements of a type. */
static char letter(ir_type t) { return ir_bytes(t) == 4 ? 's' : ir_bytes(t) == 2 ? 'h' : 'b'; }

/* Rows of sums from or to memory at `at`, one after the other. */
static void rows_of_sums(FILE *out, int across, const char *what, const char *way, const char *at) {
  fputs("    \"mov w12, #0\\n\"\n    \"1:\\n\\t\"\n", out);
  for (int j = 0; j < across; j++) {
    fprintf(out, "    \"%s {za%dh.s[w12, 0]}, p%d%s, [%s", what, j, j + 1, way, at);
    if (j) fprintf(out, ", x%d, lsl #2", 8 + j);
    fputs("]\\n\\t\"\n", out);
  }
  fprintf(
      out,
      "    \"add %s, %s, %%[c_m]\\n\\tadd w12, w12, #1\\n\\tcmp w12, %%w[rows]\\n\\tb.lt 1b\\n\"\n",
      at, at);
}

/* One word of each row by one of each column. */
static void step(FILE *out, const tf_micro_kernel *k, int across) {
  char c[16], a[32], b[16];
  fputs("    \"ld1w {z0.s}, p0/z, [%[a]]\\n\\t\"\n", out);
  for (int j = 0; j < across; j++)
    fprintf(out, "    \"ld1w {z%d.s}, p%d/z, [%%[b], #%d, mul vl]\\n\\t\"\n", j + 1, j + 1, j);
  snprintf(a, sizeof a, "p0/m, p0/m, z0.%c", letter(k->kernel.a));
  for (int j = 0; j < across; j++) {
    snprintf(c, sizeof c, "za%d.s", j);
    snprintf(b, sizeof b, "z%d.%c", j + 1, letter(k->kernel.b));
    fputs("    \"", out);
    tf_micro_call(out, k, (const char *const[3]){a, b, c});
    fputs("\\n\\t\"\n", out);
  }
}

void tf_sme_print(FILE *out, const tf_tile *t) {
  const int side = t->kernel->lanes;
  char name[64];
  name_of(t->kernel, t->across, name);
  fprintf(
      out,
      "\n"
      "static APART void %s(int64_t k, const uint32_t *a, const void *b, int64_t b_k, void *c, "
      "int64_t c_m,\n"
      "                        int64_t rows, int64_t columns, int adds) {\n  __asm__ volatile(\n"
      "    SME \"smstart\\n\\tptrue p0.b\\n\\twhilelt p1.s, xzr, %%[columns]\\n\\t\"\n",
      name);
  for (int j = 1; j < t->across; j++)
    fprintf(out, "    \"mov x%d, #%d\\n\\twhilelt p%d.s, x%d, %%[columns]\\n\\t\"\n", 8 + j,
            j * side, j + 1, 8 + j);
  fputs("    \"cbz %w[adds], 2f\\n\\tmov x13, %[c]\\n\\t\"\n", out);
  rows_of_sums(out, t->across, "ld1w", "/z", "x13");
  fputs("    \"2:\\n\\tcbz %[k], 4f\\n\"\n    \"3:\\n\\t\"\n", out);
  step(out, t->kernel, t->across);
  fprintf(out,
          "    \"add %%[a], %%[a], #%d\\n\\tadd %%[b], %%[b], %%[b_k]\\n\\tsubs %%[k], %%[k], "
          "#1\\n\\tb.ne 3b\\n\"\n"
          "    \"4:\\n\\t\"\n",
          side * (int)sizeof(float));
  rows_of_sums(out, t->across, "st1w", "", "%[c]");
  fputs("    \"smstop\"\n"
        "    : [k] \"+&r\"(k), [a] \"+&r\"(a), [b] \"+&r\"(b), [c] \"+&r\"(c)\n"
        "    : [b_k] \"r\"(b_k), [c_m] \"r\"(c_m), [rows] \"r\"(rows), [columns] \"r\"(columns), "
        "[adds] \"r\"(adds)\n"
        "    : \"memory\", \"cc\", \"x9\", \"x10\", \"x11\", \"x12\", \"x13\"",
        out);
  for (int v = 0; v < 32; v++)
    fprintf(out, ",%s\"v%d\"", v % 8 ? " " : "\n      ", v);
  for (int p = 0; p < 16; p++)
    fprintf(out, ",%s\"p%d\"", p % 8 ? " " : "\n      ", p);
  fputs(");\n}\n", out);
}

/* Columns of the block that rows of `across` tiles cover: all that fill four, or what is left. */
static void columns(FILE *out, const tf_micro_kernel *k, int across, int64_t from, int64_t to) {
  const int side = k->lanes;
  char name[64];
  name_of(k, across, name);
  fprintf(out,
          "      for (int64_t j = %lld; j < %lld; j += %d)\n"
          "        %s(steps, words, b + p * b_k + j * %d, b_k * %d, c + i * c_m + j, c_m * 4, "
          "rows, %lld - j,\n"
          "            p > 0 || add & ADDS);\n",
          (long long)from, (long long)to, across * side, name, k->kernel.group,
          ir_bytes(k->kernel.b), (long long)to);
}

void tf_sme_across(const tf_micro_kernel *k, int64_t n, int across[2]) {
  const int64_t wide = n / (MOST_TILES * k->lanes) * (MOST_TILES * k->lanes);
  across[0] = wide ? MOST_TILES : 0;
  across[1] = (int)((n - wide + k->lanes - 1) / k->lanes);
}

void tf_sme_block(FILE *out, const tf_micro_kernel *k, const char *name, const int64_t size[2]) {
  const ir_kernel *i = &k->kernel;
  const int side = k->lanes, bytes = ir_bytes(i->a);
  const int64_t m = size[0], n = size[1], wide = n / (MOST_TILES * side) * (MOST_TILES * side);
  int across[2];
  tf_sme_across(k, n, across);
  fprintf(
      out,
      "\n/* c (%lld x %lld) = or += a b */\n"
      "static void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k,\n"
      "    const %s *b, int64_t b_k, %s *c, int64_t c_m, int add) {\n  uint32_t words[%d * %d];\n"
      "  for (int64_t i = 0; i < %lld; i += %d) {\n"
      "    const int64_t rows = %lld - i < %d ? %lld - i : %d;\n"
      "    for (int64_t p = 0; p == 0 || p < k; p += %d) {\n"
      "      const int64_t steps = k - p < %d ? k - p : %d;\n"
      "      words_of_rows(steps, (const unsigned char *)(a + i * a_m + p * a_k), a_m * %d, a_k * "
      "%d, rows, words);\n",
      (long long)m, (long long)n, name, tf_micro_type(i->a), tf_micro_type(i->b),
      tf_micro_type(i->c), PART, side, (long long)m, side, (long long)m, side, (long long)m, side,
      PART, PART, PART, bytes, bytes);
  if (across[0]) columns(out, k, across[0], 0, wide);
  if (across[1]) columns(out, k, across[1], wide, n);
  fputs("    }\n  }\n}\n", out);
}
