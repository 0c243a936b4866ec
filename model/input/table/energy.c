/* The default energies.
 *
 * Source of every measured number: M. Horowitz, "Computing's energy problem (and what we can
 * do about it)", ISSCC 2014, figure 1.1.9, a 45 nm process at 0.9 V:
 *   cache read, 64 bits: 8 KB 10 pJ, 32 KB 20 pJ, 1 MB 100 pJ; DRAM 1.3 to 2.6 nJ
 *   floating add 16 bits 0.4 pJ, 32 bits 0.9 pJ; floating multiply 1.1 pJ, 3.7 pJ
 *
 * What we add to it, each an assumption and no measurement:
 *   between and beyond the sizes, straight lines in log-log; below 16 bytes flat; a
 *     memory that is unbounded but not outermost counts as 1 MB
 *   a word costs its share of 64 bits; writing costs what reading costs
 *   DRAM is the middle of its range, 1.95 nJ per 64 bits, whatever the technology
 *   all else scales with the feature size (switched capacitance, supply held)
 *   div and sqrt are 4 multiply-accumulates (Newton), exp log tanh erf sigmoid gelu silu sin cos
 * are 5 (a polynomial), fmod is 5 (a quotient, and what is left), floor ceil round trunc are an
 * add, copies cost nothing beyond their words */
#include "model/input/table/energy.h"

#include <math.h>
#include <stddef.h>

static const double TABLE_NM = 45;
static const double DRAM_PJ_PER_64_BITS = 1950;
static const double SMALLEST_BYTES = 16;

static const struct {
  double bytes, pj; /* per 64 bits read */
} sram[] = {{8192, 10}, {32768, 20}, {1048576, 100}};

/* Energy of 64 bits from an on-chip memory at 45 nm. */
static double sram_pj(double bytes) {
  size_t i = bytes < sram[1].bytes ? 0 : 1; /* the segment, or the end that is prolonged */
  double slope = log(sram[i + 1].pj / sram[i].pj) / log(sram[i + 1].bytes / sram[i].bytes);
  return sram[i].pj * pow(bytes / sram[i].bytes, slope);
}

double tf_table_word_pj(double capacity_bytes, int word_bits, int technology_nm, bool dram) {
  double share = word_bits / 64.0;
  if (dram) return DRAM_PJ_PER_64_BITS * share;
  double bytes = capacity_bytes > 0 ? capacity_bytes : sram[2].bytes;
  if (bytes < SMALLEST_BYTES) bytes = SMALLEST_BYTES;
  return sram_pj(bytes) * share * technology_nm / TABLE_NM;
}

bool tf_table_off_chip(const tf_arch *a, int l) {
  return l == 0 && a->memories[0].capacity_words < 0;
}

double tf_table_bytes(const tf_memory *m) {
  return m->capacity_words < 0 ? 0 : (double)m->capacity_words * m->word_bits / 8;
}

static double add_pj(double bits) { return 0.4 * pow(bits / 16, log2(0.9 / 0.4)); }
static double mul_pj(double bits) { return 1.1 * pow(bits / 16, log2(3.7 / 1.1)); }

/* Adds and multiplies that one point of a kind amounts to. */
static const struct {
  double adds, muls;
} work[TF_N_KINDS] = {
    [TF_K_MAC] = {1, 1},   [TF_K_ADD] = {1, 0},     [TF_K_SUB] = {1, 0},    [TF_K_MUL] = {0, 1},
    [TF_K_DIV] = {4, 4},   [TF_K_MAX] = {1, 0},     [TF_K_MIN] = {1, 0},    [TF_K_NEG] = {1, 0},
    [TF_K_EXP] = {5, 5},   [TF_K_LOG] = {5, 5},     [TF_K_SQRT] = {4, 4},   [TF_K_TANH] = {5, 5},
    [TF_K_ERF] = {5, 5},   [TF_K_SIGMOID] = {5, 5}, [TF_K_RELU] = {1, 0},   [TF_K_GELU] = {5, 5},
    [TF_K_SILU] = {5, 5},  [TF_K_ABS] = {1, 0},     [TF_K_SELECT] = {1, 0}, [TF_K_COPY] = {0, 0},
    [TF_K_FLOOR] = {1, 0}, [TF_K_CEIL] = {1, 0},    [TF_K_ROUND] = {1, 0},  [TF_K_TRUNC] = {1, 0},
    [TF_K_SIN] = {5, 5},   [TF_K_COS] = {5, 5},     [TF_K_FMOD] = {5, 5},   [TF_K_LT] = {1, 0},
    [TF_K_LE] = {1, 0},    [TF_K_EQ] = {1, 0},      [TF_K_NE] = {1, 0}};

void tf_table_work(int kind, double *adds, double *muls) {
  *adds = work[kind].adds;
  *muls = work[kind].muls;
}

static double kind_pj(int kind, int bits) {
  return work[kind].adds * add_pj(bits) + work[kind].muls * mul_pj(bits);
}

double tf_table_point_pj(uint32_t kinds, int word_bits, int technology_nm) {
  double dearest = 0;
  for (int k = 0; k < TF_N_KINDS; k++)
    if (kinds & (1u << k)) dearest = fmax(dearest, kind_pj(k, word_bits));
  if (kinds & (1u << TF_K_MAC)) dearest = kind_pj(TF_K_MAC, word_bits);
  return dearest * technology_nm / TABLE_NM;
}
