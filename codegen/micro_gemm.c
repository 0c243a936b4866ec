/* Outer products of registers: C stays in registers, two of A are broadcast at a time. */
#include "codegen/micro_gemm.h"

#include <string.h>

static const tf_micro_isa isas[] = {
  { "portable", 1, 16 }, { "avx2", 8, 16 }, { "avx512", 16, 32 },
};

const tf_micro_isa *tf_micro_isa_find(const char *name) {
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
    if (strcmp(isas[i].name, name) == 0)
      return &isas[i];
  return NULL;
}

tf_micro_shape tf_micro_best(int registers) {
  tf_micro_shape best = { 0, 0, 2 };
  for (int m = 2; m <= registers; m += 2)
    for (int n = 1; m * n + n + 2 <= registers; n++) {
      int gain = m * n * (best.mi + best.ni) - best.mi * best.ni * (m + n);
      if (best.mi == 0 || gain > 0 || (gain == 0 && n < best.ni))
        best = (tf_micro_shape){ m, n, 2 };
    }
  return best;
}

static const char *prefix(const tf_micro_isa *isa) { return isa->lanes == 16 ? "_mm512" : "_mm256"; }

/* The load of register j of a row of n that starts at `from`. */
static void load(FILE *out, const tf_micro_isa *isa, const char *from, int j, int n) {
  bool whole = (j + 1) * isa->lanes <= n;
  if (isa->lanes == 1)
    fprintf(out, "%s[%d]", from, j);
  else if (whole)
    fprintf(out, "%s_loadu_ps(%s + %d)", prefix(isa), from, j * isa->lanes);
  else if (isa->lanes == 16)
    fprintf(out, "_mm512_maskz_loadu_ps(mask, %s + %d)", from, j * 16);
  else
    fprintf(out, "_mm256_maskload_ps(%s + %d, mask)", from, j * 8);
}

static void store(FILE *out, const tf_micro_isa *isa, int i, int j, int n) {
  bool whole = (j + 1) * isa->lanes <= n;
  if (isa->lanes == 1)
    fprintf(out, "  (c + %d * ldc)[%d] = c%d_%d;\n", i, j, i, j);
  else if (whole)
    fprintf(out, "  %s_storeu_ps(c + %d * ldc + %d, c%d_%d);\n", prefix(isa), i, j * isa->lanes, i, j);
  else
    fprintf(out, "  %s_mask%sstore%s_ps(c + %d * ldc + %d, mask, c%d_%d);\n", prefix(isa),
            isa->lanes == 16 ? "_" : "", isa->lanes == 16 ? "u" : "", i, j * isa->lanes, i, j);
}

static void mask(FILE *out, const tf_micro_isa *isa, int rest) {
  if (isa->lanes == 16)
    fprintf(out, "  const __mmask16 mask = (__mmask16)%dU;\n", (1 << rest) - 1);
  else {
    fputs("  const __m256i mask = _mm256_setr_epi32(", out);
    for (int l = 0; l < 8; l++)
      fprintf(out, "%s%d", l ? ", " : "", l < rest ? -1 : 0);
    fputs(");\n", out);
  }
}

static void row(FILE *out, const tf_micro_isa *isa, int i, int nv) {
  if (isa->lanes == 1)
    fprintf(out, "    const float a%d = a[%d];\n", i, i);
  else
    fprintf(out, "    const __m%d a%d = %s_set1_ps(a[%d]);\n", isa->lanes * 32, i, prefix(isa), i);
  for (int j = 0; j < nv; j++)
    if (isa->lanes == 1)
      fprintf(out, "    c%d_%d += a%d * b%d;\n", i, j, i, j);
    else
      fprintf(out, "    c%d_%d = %s_fmadd_ps(a%d, b%d, c%d_%d);\n", i, j, prefix(isa), i, j, i, j);
}

bool tf_micro_gemm(FILE *out, const tf_micro_isa *isa, const char *name, int m, int n) {
  tf_micro_shape s = tf_micro_best(isa->registers);
  char type[16] = "float", from[32];
  int nv = (n + isa->lanes - 1) / isa->lanes;
  if (m < 1 || m > s.mi || n < 1 || nv > s.ni)
    return false;
  if (isa->lanes > 1)
    snprintf(type, sizeof type, "__m%d", isa->lanes * 32);
  fprintf(out, "static void %s(int64_t k, const float *a, const float *b, float *c, int64_t ldc) {\n", name);
  if (n % isa->lanes)
    mask(out, isa, n % isa->lanes);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < nv; j++) {
      snprintf(from, sizeof from, "(c + %d * ldc)", i);
      fprintf(out, "  %s c%d_%d = ", type, i, j), load(out, isa, from, j, n), fputs(";\n", out);
    }
  fprintf(out, "  for (; k > 0; k--, a += %d, b += %d) {\n", m, n);
  for (int j = 0; j < nv; j++)
    fprintf(out, "    const %s b%d = ", type, j), load(out, isa, "b", j, n), fputs(";\n", out);
  for (int i = 0; i < m; i++)
    row(out, isa, i, nv);
  fputs("  }\n", out);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < nv; j++)
      store(out, isa, i, j, n);
  fputs("}\n", out);
  return !ferror(out);
}
