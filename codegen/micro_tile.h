/* Tiles of a block product that stay in registers. */
#ifndef CODEGEN_MICRO_TILE_H
#define CODEGEN_MICRO_TILE_H
#include <stdio.h>

#include "codegen/micro.h"

typedef struct {
  int rows, across; /* elements down, vectors across */
  int part;         /* lanes of the last vector; 0: all */
} tf_tile;

#define TF_TILE_NAME "tile_%d_%d_%d" /* rows, across, part */

/* Prints the function of one tile; its arguments are tf_micro_block's. */
void tf_tile_print(FILE *out, const tf_tile *t);
#endif
