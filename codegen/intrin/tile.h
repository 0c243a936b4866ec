/* Tiles of a block product that stay in registers. */
#ifndef CODEGEN_INTRIN_TILE_H
#define CODEGEN_INTRIN_TILE_H
#include <stdio.h>

#include "codegen/intrin/micro.h"

typedef struct {
  const tf_micro_kernel *kernel;
  int lanes;
  int rows, across; /* elements down, vectors across */
  int part;         /* lanes of the last vector; 0: all */
  bool rounds;      /* its sums leave as what the kernel says they may: all of them, for nothing is added */
  bool asks; /* it asks for lines that others will want: one more argument says from where on, another how far it gets
                in a step */
} tf_tile;

/* Its function's name; of 64 characters. */
void tf_tile_name(const tf_tile *t, char *name);
/* Prints the function of one tile; its arguments are tf_micro_block's.  ahead: NULL; or what it makes of rows `from`
 * ... `to` - 1 beside it, no more than `rows`; these are three more arguments (of, from, to). */
void tf_tile_print(FILE *out, const tf_tile *t, const tf_micro_ahead *ahead);

/* ask.c: what blocks that ask ahead are made of. */
void tf_ask_text(FILE *out);

/* block.c: the function of that name, kept by u (NULL: out of memory); anew: it is still to be printed.  And whose text
 * it is. */
const char *tf_micro_name(tf_micro *u, const char *name, bool *anew);
const tf_micro_isa *tf_micro_of(const tf_micro *u);

/* amx.c: what the kernels in tiles are made of; the function of rows x across of AMX's tiles (1 or 2 each); and the
 * loops of a block product over them. */
void tf_amx_text(FILE *out);
void tf_amx_print(FILE *out, const tf_tile *t);
void tf_amx_block(FILE *out, const tf_micro_kernel *k, const char *name, int64_t m, int64_t n, bool rounds);
#endif
