/* What other sources say of the components of the tables, each with its date:
 *
 * - N. Jouppi et al., "Ten lessons from three generations shaped Google's TPUv4i", ISCA 2021, table
 * 2: 7 nm, beside Horowitz's figures at 45 nm.  Between the two nodes a straight line in log-log;
 * beyond 7 nm as the tables scale.
 * - M. Horowitz, ISSCC 2014, figure 1.1.9: whole numbers at 45 nm; the upper end of its range of
 * DRAM.
 * - timeloop-accelergy-exercises, commit 2d55108, 2024: energies by Accelergy of CACTI's SRAM, and
 * of the registers and units of Aladdin (Y. Shao et al., ISCA 2014); 45 nm, units 40 nm.
 * - Y.-H. Chen et al., "Eyeriss", ISCA 2016, table IV: a register file of 0.5 KB costs as much as a
 * 16-bit multiply-accumulate, a buffer of 100 KB six times that; here of the tables' 1.5 pJ.
 * - M. O'Connor et al., "Fine-grained DRAM", MICRO 2017: HBM2 at 3.97 pJ a bit.
 * - W. Dally, NIPS 2015 tutorial: areas of whole numbers at 45 nm.
 * - Bits of SRAM: 65 nm P. Bai et al., IEDM 2004; 32 nm S. Natarajan et al., IEDM 2008; 22 nm C.
 * Auth et al., VLSI Technology 2012; 16 nm Y.-H. Chen et al., JSSC 50(1), 2015; 7 nm S.-Y. Wu et
 * al., IEDM 2016; 5 nm G. Yeap et al., IEDM 2019; 3 nm S.-Y. Wu et al., IEDM 2022.
 *
 * A source says something of the sizes between its first and its last point alone, straight lines
 * in log-log between them; a register file of fewer bytes than the first is as far from the table
 * as that one.  What is known at one node scales as the tables do. */
#include "model/input/table/spread.h"

#include <math.h>
#include <stddef.h>

#include "model/input/table/area.h"
#include "model/input/table/energy.h"

enum { TABLE_NM = 45, LATER_NM = 7, OTHER_NM = 40 };

typedef struct {
  double at, value;
} point;
typedef struct {
  int n;
  const point *points;
} curve;
#define CURVE(points)                                                                              \
  { (int)(sizeof(points) / sizeof(points)[0]), points }

/* pJ of 64 bits by bytes, at 45 nm; at 7 nm */
static const point cacti_reads[] = {{384, 2.721}, {102400, 28.43}, {131072, 32.38}};
static const point cacti_writes[] = {{384, 6.331}, {102400, 23.50}, {131072, 26.16}};
static const point registers[] = {{24, 1.277}, {48, 2.155}, {448, 13.99}};
static const point eyeriss[] = {{512, 6}, {102400, 36}};
static const curve words[] = {CURVE(cacti_reads), CURVE(cacti_writes), CURVE(registers),
                              CURVE(eyeriss)};
static const point words_later[] = {{8192, 7.5}, {32768, 8.5}, {1048576, 14}};
/* pJ a bit */
static const double DRAM_LEAST = 3.97, DRAM_MOST = 2600.0 / 64;

/* pJ, um2 by bits */
static const point whole_add[] = {{8, 0.03}, {32, 0.1}}, whole_mul[] = {{8, 0.2}, {32, 3.1}};
static const point whole_add_later[] = {{8, 0.007}, {32, 0.03}},
                   whole_mul_later[] = {{8, 0.07}, {32, 1.48}};
static const point add_later[] = {{16, 0.16}, {32, 0.38}}, mul_later[] = {{16, 0.34}, {32, 1.31}};
static const point aladdin_add[] = {{8, 0.0525}, {32, 0.21}},
                   aladdin_mul[] = {{8, 0.794}, {32, 12.7}};
static const double ALADDIN_FLOAT_ADD = 16.7, ALADDIN_FLOAT_MUL = 35.3; /* of 32 bits */
static const point whole_add_um2[] = {{8, 36}, {16, 67}, {32, 137}},
                   whole_mul_um2[] = {{8, 282}, {32, 3495}};
static const double ALADDIN_ADD_UM2 = 4360, ALADDIN_MUL_UM2 = 8970; /* floats of 32 bits */
/* um2 of a bit of SRAM by nm */
static const point cells[] = {{3, 0.0199}, {5, 0.021},  {7, 0.027},  {16, 0.070},
                              {22, 0.092}, {32, 0.171}, {45, 0.346}, {65, 0.57}};

/* The curve at x; beyond its ends the last line is prolonged. */
static double curve_at(const point *p, int n, double x) {
  int i = 0;
  while (i + 2 < n && x > p[i + 1].at)
    i++;
  const double slope = log(p[i + 1].value / p[i].value) / log(p[i + 1].at / p[i].at);
  return p[i].value * pow(x / p[i].at, slope);
}
#define AT(points, x) curve_at(points, (int)(sizeof(points) / sizeof(points)[0]), x)

static void say(tf_spread *s, double factor) {
  s->low = fmin(s->low, factor);
  s->high = fmax(s->high, factor);
}

/* A figure that is known at 45 nm and at 7 nm, over what the table makes of the former. */
static double by_node(double table, double before, double later, int nm) {
  if (nm >= TABLE_NM) return before / table;
  const double done = fmin(1, log((double)TABLE_NM / nm) / log((double)TABLE_NM / LATER_NM));
  const double there = fmax(nm, LATER_NM);
  return pow(before, 1 - done) * pow(later, done) / (table * there / TABLE_NM);
}

/* ---- energy ------------------------------------------------------------------------- */
tf_spread tf_spread_word(double capacity_bytes, int technology_nm, bool dram) {
  tf_spread s = {1, 1};
  const double whole = tf_table_word_pj(capacity_bytes, 64, TABLE_NM, dram);
  if (dram) {
    say(&s, DRAM_LEAST * 64 / whole);
    say(&s, DRAM_MOST * 64 / whole);
    return s;
  }
  const double bytes = capacity_bytes > 0 ? capacity_bytes : 1048576;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const point *p = words[i].points;
    const int n = words[i].n;
    if (bytes >= p[0].at && bytes <= p[n - 1].at)
      say(&s, curve_at(p, n, bytes) / whole);
    else if (p == registers && bytes < p[0].at)
      say(&s, p[0].value / tf_table_word_pj(p[0].at, 64, TABLE_NM, false));
  }
  if (bytes >= words_later[0].at && bytes <= words_later[2].at)
    say(&s, by_node(whole, whole, AT(words_later, bytes), technology_nm));
  return s;
}

/* Adds and multiplies of the point that tf_table_point_pj takes. */
static void dearest(uint32_t kinds, int bits, double *adds, double *muls) {
  double most = -1, a, m;
  *adds = *muls = 0;
  for (int k = 0; k < TF_N_KINDS; k++) {
    if (!(kinds & (1u << k)) || ((kinds & (1u << TF_K_MAC)) && k != TF_K_MAC)) continue;
    tf_table_work(k, &a, &m);
    const double pj = tf_table_point_pj(1u << k, bits, TABLE_NM);
    if (pj > most) most = pj, *adds = a, *muls = m;
  }
}

tf_spread tf_spread_point(uint32_t kinds, int word_bits, int technology_nm) {
  tf_spread s = {1, 1};
  const double bits = word_bits, table = tf_table_point_pj(kinds, word_bits, TABLE_NM);
  double adds, muls;
  dearest(kinds, word_bits, &adds, &muls);
  if (!(table > 0)) return s;
  const double whole = adds * AT(whole_add, bits) + muls * AT(whole_mul, bits);
  if (bits >= 16 && bits <= 32)
    say(&s, by_node(table, table, adds * AT(add_later, bits) + muls * AT(mul_later, bits),
                    technology_nm));
  if (bits < 8 || bits > 32) return s;
  const double other = (double)TABLE_NM / OTHER_NM / table;
  say(&s, whole / table);
  say(&s, by_node(table, whole, adds * AT(whole_add_later, bits) + muls * AT(whole_mul_later, bits),
                  technology_nm));
  say(&s, (adds * AT(aladdin_add, bits) + muls * AT(aladdin_mul, bits)) * other);
  if (word_bits == 32) say(&s, (adds * ALADDIN_FLOAT_ADD + muls * ALADDIN_FLOAT_MUL) * other);
  return s;
}

/* ---- area --------------------------------------------------------------------------- */
tf_spread tf_spread_memory_area(const tf_arch *a, int l) {
  tf_spread s = {1, 1};
  const double nm = a->technology_nm, table = tf_table_memory_um2(a, l);
  if (!(table > 0) || nm < cells[0].at || nm > cells[sizeof cells / sizeof *cells - 1].at) return s;
  say(&s, tf_table_memory_of_cells_um2(a, l, AT(cells, nm) * (TABLE_NM / nm) * (TABLE_NM / nm)) /
              table);
  return s;
}

tf_spread tf_spread_unit_area(const tf_arch *a, const tf_unit *u) {
  tf_spread s = {1, 1};
  const double table = tf_table_unit_um2(a, u), shrink = (double)a->technology_nm / TABLE_NM;
  double whole = 0, other = 0, adds, muls;
  for (int k = 0; k < TF_N_KINDS; k++) {
    if (!(u->kinds & (1u << k))) continue;
    tf_table_work(k, &adds, &muls);
    whole = fmax(whole,
                 adds * AT(whole_add_um2, a->word_bits) + muls * AT(whole_mul_um2, a->word_bits));
    other = fmax(other, adds * ALADDIN_ADD_UM2 + muls * ALADDIN_MUL_UM2);
  }
  if (!(table > 0)) return s;
  if (a->word_bits >= 8 && a->word_bits <= 32) say(&s, whole * u->rate * shrink * shrink / table);
  if (a->word_bits == 32)
    say(&s, other * TABLE_NM / OTHER_NM * TABLE_NM / OTHER_NM * u->rate * shrink * shrink / table);
  return s;
}
