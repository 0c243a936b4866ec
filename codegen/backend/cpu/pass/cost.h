/* The cost of a program's micro-kernels and their packing. */
#ifndef CODEGEN_BACKEND_CPU_PASS_COST_H
#define CODEGEN_BACKEND_CPU_PASS_COST_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"

/* In cycles; cores that work at once count once.  Negative: out of memory. */
double tf_cost(const ir_program *p, const tf_micro_isa *isa);

/* What a program does in a call, from which its time is expected (expect/expect.h). */
typedef enum {
  TF_COST_F32, /* cycles of products by their cost, by what they multiply */
  TF_COST_BF16,
  TF_COST_BYTES,
  TF_COST_FEW,      /* ... of few rows */
  TF_COST_CHANNELS, /* ... of float32 by channels */
  TF_COST_GONE,     /* cycles in which maps wait for lines from afar */
  TF_COST_WAITS,    /* cycles in which nests wait for intermediates */
  TF_COST_REST,     /* cycles of what is no nest */
  TF_COST_WINDOW,   /* of windows, by their cost */
  TF_COST_SIMPLE,   /* of other nests: vectors of one instruction's operations */
  TF_COST_ACCESS,   /* vectors that are loaded or stored ... */
  TF_COST_NARROW,   /* ... in bfloat16 */
  TF_COST_BYTE,     /* ... of bytes */
  TF_COST_QUOTIENT,
  TF_COST_ROOT,
  TF_COST_EXP,
  TF_COST_ERF,
  TF_COST_TRIG,
  TF_COST_SCATTER,        /* elements that are loaded one by one into vectors ... */
  TF_COST_SCATTER_NARROW, /* ... of narrower types */
  TF_COST_STRIDED,        /* elements that windows take apart from each other */
  TF_COST_ROW,            /* rows begun */
  TF_COST_SUM,            /* vectors that are added up at the end of a row */
  TF_COST_SCALAR, /* elements of loops without vectors, in which each waits for the one before */
  TF_COST_PARTS
} tf_cost_part;
/* False: out of memory. */
bool tf_cost_parts(const ir_program *p, const tf_micro_isa *isa, double *part);

/* Cycles of m rows by that many vectors, k deep, in tiles `across` vectors wide, the last of them
 * as narrow as what is left, with rows shared out evenly among tiles. */
double tf_cost_tiles(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int across);
/* The same in so many panels of nearly equal width, as blocks of products are cut. */
double tf_cost_block(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int64_t panels);
/* Tiles of sums that are transposed as they leave, each of their columns into a row of its own. */
typedef struct {
  int registers, lanes;
  int64_t row;        /* elements of a row ... */
  int64_t m, vectors; /* ... and of those that are joined; rows, in vectors */
  int64_t apart;      /* bytes from row to row; 0: not known */
} tf_transposed;
/* points.c: the share of so many lines, that many bytes apart, that do not stay in the first cache
 * together: it finds a line's place by where the line lies in its page. */
double tf_cost_crowded(const tf_core *core, double lines, int64_t apart);
/* Cycles in which lines of such rows are fetched once more, as one tile stores a part of them and
 * the next another: where rows are so many bytes apart that the lines of a panel share few places
 * of the first cache, they are gone. */
double tf_cost_torn(const tf_core *core, const tf_transposed *t, int across);
/* Cycles of all tiles, k deep, with their transposing and these lines. */
double tf_cost_channels(const tf_core *core, const tf_transposed *t, double k, int across);

/* points.c: cycles of one run of a nest that is no product. */
double tf_cost_points(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                      const ir_stmt *s);
/* Adds so many runs of it to the parts. */
void tf_cost_point_parts(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                         const ir_stmt *s, double runs, double *part);

/* traffic.c: cycles in which nests of the body that are no products wait for intermediates that do
 * not stay in the first cache; together: they pass through the same rows in turn.  Negative: out of
 * memory. */
double tf_cost_traffic(const ir_program *p, const ir_body *b, bool together);

#endif
