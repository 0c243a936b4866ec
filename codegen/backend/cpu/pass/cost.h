/* Cost of a program's micro-kernels and of packing for them. */
#ifndef CODEGEN_BACKEND_CPU_PASS_COST_H
#define CODEGEN_BACKEND_CPU_PASS_COST_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"

/* Cycles; of cores that work concurrently those of one. Negative: out of memory. */
double tf_cost(const ir_program *p, const tf_micro_isa *isa);

/* What a call of a program does, by kinds whose times differ; expect/expect.h adds up a call's time
 * from these. */
typedef enum {
  TF_COST_F32, /* products by their type, in cycles of their cost */
  TF_COST_BF16,
  TF_COST_BYTES,
  TF_COST_FEW,      /* ... of few rows */
  TF_COST_CHANNELS, /* ... of float32 with lanes along channels */
  TF_COST_GONE,     /* cycles in which maps wait for lines from outer memories */
  TF_COST_WAITS,    /* cycles in which nests wait for intermediates */
  TF_COST_REST,     /* cycles of all that is no nest */
  TF_COST_WINDOW,   /* windows, in cycles of their cost */
  TF_COST_SIMPLE,   /* of other nests: vector operations that are one instruction */
  TF_COST_ACCESS,   /* vectors that are loaded or stored ... */
  TF_COST_NARROW,   /* ... in bfloat16 */
  TF_COST_BYTE,     /* ... of bytes */
  TF_COST_QUOTIENT,
  TF_COST_ROOT,
  TF_COST_EXP,
  TF_COST_ERF,
  TF_COST_TRIG,
  TF_COST_SCATTER,        /* elements gathered one by one into vectors ... */
  TF_COST_SCATTER_NARROW, /* ... of narrower types */
  TF_COST_STRIDED,        /* elements that windows gather with a stride */
  TF_COST_ROW,            /* rows begun */
  TF_COST_SUM,            /* horizontal sums of vectors at the end of a row */
  TF_COST_SCALAR, /* elements of loops without vectors, whose additions depend on each other */
  TF_COST_PARTS
} tf_cost_part;
/* False: out of memory. */
bool tf_cost_parts(const ir_program *p, const tf_micro_isa *isa, double *part);

/* Cycles of m rows by that many vectors, k deep, in tiles `across` vectors wide, the last of them
 * as narrow as the remainder, with rows divided evenly among tiles. */
double tf_cost_tiles(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int across);
/* The same in `panels` panels of nearly equal width, as block products are cut. */
double tf_cost_block(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int64_t panels);
/* Tiles of sums that are transposed when they are stored: each column of a tile becomes part of a
 * row of the output. */
typedef struct {
  int registers, lanes;
  int64_t row;        /* elements of a row ... */
  int64_t m, vectors; /* ... and of the rows that are joined; channels, in vectors */
  int64_t row_pitch;  /* bytes from row to row; 0: not known */
} tf_transposed;
/* points.c: the share of so many lines, `apart` bytes from each other, that conflict in the first
 * cache, whose sets are chosen by a line's place in its page. */
double tf_cost_conflicts(const tf_core *core, double lines, int64_t apart);
/* Cycles to fetch lines of the output again, of which one tile stores a part and the next tile the
 * rest: where rows are so far apart that the lines of a panel conflict in the first cache, they are
 * evicted in between. */
double tf_cost_split_lines(const tf_core *core, const tf_transposed *t, int across);
/* Cycles of all tiles, k deep, with transposition and these fetches. */
double tf_cost_channels(const tf_core *core, const tf_transposed *t, double k, int across);

/* points.c: cycles of one run of a nest that is no product. */
double tf_cost_points(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                      const ir_stmt *s);
/* Adds `runs` runs of it to the parts. */
void tf_cost_point_parts(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                         const ir_stmt *s, double runs, double *part);

/* traffic.c: cycles in which nests of the body that are no products wait for intermediates that do
 * not stay in the first cache; together: the nests go over the same rows in turn. Negative: out of
 * memory. */
double tf_cost_traffic(const ir_program *p, const ir_body *b, bool together);
/* traffic.c: whether sums pass from tiles of a product or window to the map that alone reads them
 * in registers. */
bool tf_cost_in_registers(const ir_program *p, int tensor);

#endif
