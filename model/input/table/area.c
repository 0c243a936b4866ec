/* The default areas.
 *
 * Sources of the measured numbers, all of 45 nm:
 *   floating add 16 bits 1360 um2, 32 bits 4184; floating multiply 1640, 7700: the areas that W.
 * Dally
 * ("High-performance hardware for machine learning", NIPS 2015 tutorial) sets beside Horowitz's
 * energies, from synthesis in TSMC's process a bit of SRAM 0.346 um2: K. Mistry et al., IEDM 2007
 * with a port for reading and one for writing a cell has 8 transistors and takes 1.3 times that: L.
 * Chang et al., VLSI Technology 2005 a flip-flop 4.522 um2, a multiplexer of two 1.862: NanGate's
 * open cell library, DFF_X1 and MUX2_X1
 *
 * What we add to it, each an assumption and no measurement:
 *   cells take 70 % of their array; rows and columns beside it cost, for each bit of width, as much
 * as 512 cells a memory is as wide as one of its ports passes in a cycle, a word at least a memory
 * that is smaller as flip-flops, each with a multiplexer, is made of these the outermost memory is
 * off chip; another that is unbounded counts as 1 MB a unit has as many adders and multipliers as
 * its dearest kind needs for its rate (energy.c) networks take nothing; all shrinks with the square
 * of the feature size */
#include "model/input/table/area.h"

#include <math.h>

#include "model/input/table/energy.h"

static const double TABLE_NM = 45;
static const double CELL = 0.346, TWO_PORTS = 1.3, FLIP_FLOP = 4.522, MULTIPLEXER = 1.862;
static const double CELLS_OF_ARRAY = 0.7, CELLS_A_COLUMN = 512, UNBOUNDED_BITS = 8.0 * 1048576;

static double scaled(const tf_arch *a, double um2) {
  double shrink = a->technology_nm / TABLE_NM;
  return um2 * shrink * shrink;
}

double tf_table_memory_um2(const tf_arch *a, int l) {
  return tf_table_memory_of_cells_um2(a, l, CELL);
}

double tf_table_memory_of_cells_um2(const tf_arch *a, int l, double um2) {
  const tf_memory *m = &a->memories[l];
  if (l == 0) return 0;
  double bits = m->capacity_words < 0 ? UNBOUNDED_BITS : (double)m->capacity_words * m->word_bits;
  double words = fmin(m->read_bw, m->write_bw);
  double width = m->word_bits * (isinf(words) ? 1 : fmax(1, words));
  double cell = um2 * (m->one_port ? 1 : TWO_PORTS) / CELLS_OF_ARRAY;
  double sram = (bits + width * CELLS_A_COLUMN) * cell,
         registers = bits * (FLIP_FLOP + MULTIPLEXER);
  return scaled(a, fmin(sram, registers));
}

static double add_um2(double bits) { return 1360 * pow(bits / 16, log2(4184.0 / 1360)); }
static double mul_um2(double bits) { return 1640 * pow(bits / 16, log2(7700.0 / 1640)); }

double tf_table_unit_um2(const tf_arch *a, const tf_unit *u) {
  double most = 0, adds, muls;
  for (int k = 0; k < TF_N_KINDS; k++) {
    if (!(u->kinds & (1u << k))) continue;
    tf_table_work(k, &adds, &muls);
    most = fmax(most, adds * add_um2(a->word_bits) + muls * mul_um2(a->word_bits));
  }
  return scaled(a, most * u->rate);
}
