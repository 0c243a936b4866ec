/* Register tiles of a block product. */
#ifndef CODEGEN_INTRIN_TILE_H
#define CODEGEN_INTRIN_TILE_H
#include <stdio.h>

#include "codegen/intrin/micro.h"

typedef struct {
  const tf_micro_kernel *kernel;
  int lanes;
  int rows, across; /* rows of elements, vectors across */
  int part;         /* lanes of the last, partial vector; 0: it is whole */
  bool rounds; /* its sums are stored rounded to the kernel's `leaves`; they must be complete, as
                * nothing is added later */
  tf_micro_map map; /* they are stored as it makes them, likewise: three more arguments at the end,
                     * `map`, the tile's first row and its first column */
  const char *mm;   /* with a map: prefix of the instruction set's intrinsics */
  int unroll;       /* steps of k written out in the loop; 1: one */
  int prefetches;   /* above 0: it prefetches a line in every so many steps: two more arguments, the
                 address and the bytes to advance each time */
  int lays; /* above 0: in every so many steps it lays a row (or group of rows) of the next panel,
             * whole vectors, side by side: four more arguments, where it stands, from row to row,
             * where to, and how many */
} tf_tile;

/* Rows of c in a register. */
int tf_tile_step(const tf_tile *t);
/* The type of c's elements. */
ir_type tf_tile_stores(const tf_tile *t);
/* Writes its function's name, at most 63 characters. */
void tf_tile_name(const tf_tile *t, char *name);
/* Whether its sums are float32 of float32, which are made in runs of TF_MICRO_RUN steps of k at
 * most: those of bfloat16 are rounded by far more. */
bool tf_tile_in_runs(const tf_tile *t);
/* Prints the function of one tile; its arguments are those of tf_micro_block.  ahead: NULL; or the
 * rows `from` ... `to` - 1 that it also computes, at most `rows` of them: three more arguments (of,
 * from, to). */
void tf_tile_print(FILE *out, const tf_tile *t, const tf_micro_ahead *ahead);

/* prefetch.c: the text that prefetching blocks need. */
void tf_prefetch_text(FILE *out);

/* block.c: the instruction set of u. */
const tf_micro_isa *tf_micro_of(const tf_micro *u);
/* block.c: prints the tile's function, unless it is there already; false: out of memory. */
bool tf_micro_tile(FILE *out, tf_micro *u, tf_tile t);
/* Steps of k that the loops of tiles have written out. */
int tf_micro_unroll(const tf_micro *u);

/* pairs.c: the instruction set's kernel of pairs of bfloat16 in vectors, NULL: none; and the
 * function of micro.h's few rows by short rows of bfloat16, for those that fit. */
const tf_micro_kernel *tf_pairs_of(const tf_micro *u);
bool tf_pairs_fit(const tf_micro_few *f);
void tf_pairs_print(FILE *out, const tf_micro_few *f, const tf_micro_kernel *k, const char *name);

/* amx.c: the text that kernels in tiles need; the function of rows x across AMX tiles (1 or 2
 * each); and the loops of a block product over these. */
void tf_amx_text(FILE *out);
void tf_amx_print(FILE *out, const tf_tile *t);
void tf_amx_block(FILE *out, const tf_micro_kernel *k, const char *name, int64_t m, int64_t n,
                  bool rounds);

/* sme.c: the same for SME: the text that the kernel needs; the function of a row of t->across
 * tiles; how many tiles its rows have in a block of n columns (the full ones, the last one; 0:
 * none); and the loops over them of a block of size[0] rows by size[1]. */
void tf_sme_text(FILE *out, const tf_micro_kernel *k);
void tf_sme_print(FILE *out, const tf_tile *t);
void tf_sme_across(const tf_micro_kernel *k, int64_t n, int across[2]);
void tf_sme_block(FILE *out, const tf_micro_kernel *k, const char *name, const int64_t size[2]);
#endif
