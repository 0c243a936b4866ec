/* Energies for what an architecture leaves out (docs/FORMATS.md, "architecture"). */
#ifndef MODEL_INPUT_TABLE_ENERGY_H
#define MODEL_INPUT_TABLE_ENERGY_H
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/spec.h"

/* pJ to read or write one word of a memory.  capacity_bytes <= 0: unbounded.  dram: the
 * memory is off chip, its capacity and the technology do not matter. */
double tf_table_word_pj(double capacity_bytes, int word_bits, int technology_nm, bool dram);

/* What tf_table_word_pj asks of memory l, a machine's. */
bool tf_table_off_chip(const tf_arch *a, int l);
double tf_table_bytes(const tf_memory *m);

/* pJ per point of a unit that lists `kinds` (bits 1u << tf_kind): a multiply-accumulate
 * if it lists that, else the dearest kind it lists. */
double tf_table_point_pj(uint32_t kinds, int word_bits, int technology_nm);

/* Adds and multiplies that one point of a kind amounts to. */
void tf_table_work(int kind, double *adds, double *muls);
#endif
