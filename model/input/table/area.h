/* Areas for what an architecture leaves out (docs/FORMATS.md, "architecture"). */
#ifndef MODEL_INPUT_TABLE_AREA_H
#define MODEL_INPUT_TABLE_AREA_H
#include "tileflow/spec.h"

/* um2 of one instance of memory l; 0 for one that is off chip. */
double tf_table_memory_um2(const tf_arch *a, int l);
/* The same if a bit of SRAM had so many um2 at 45 nm. */
double tf_table_memory_of_cells_um2(const tf_arch *a, int l, double um2);
/* um2 of one unit. */
double tf_table_unit_um2(const tf_arch *a, const tf_unit *u);
#endif
