/* How far published sources differ about what the tables of energies and areas say
 * (docs/FORMATS.md, "architecture"). */
#ifndef MODEL_INPUT_TABLE_SPREAD_H
#define MODEL_INPUT_TABLE_SPREAD_H
#include "tileflow/spec.h"

/* The least and the most that a source says, as factors of the table's value: low <= 1 <= high. */
typedef struct {
  double low, high;
} tf_spread;

/* Of tf_table_word_pj, tf_table_point_pj, tf_table_memory_um2 and tf_table_unit_um2. */
tf_spread tf_spread_word(double capacity_bytes, int technology_nm, bool dram);
tf_spread tf_spread_point(uint32_t kinds, int word_bits, int technology_nm);
tf_spread tf_spread_memory_area(const tf_arch *a, int l);
tf_spread tf_spread_unit_area(const tf_arch *a, const tf_unit *u);
#endif
