/* The cost of a program's micro-kernels and their packing. */
#ifndef CODEGEN_BACKEND_CPU_PASS_COST_H
#define CODEGEN_BACKEND_CPU_PASS_COST_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"

/* In cycles; cores that work at once count once.  Negative: out of memory. */
double tf_cost(const ir_program *p, const tf_micro_isa *isa);

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

/* traffic.c: cycles in which nests of the body that are no products wait for intermediates that do
 * not stay in the first cache; together: they pass through the same rows in turn.  Negative: out of
 * memory. */
double tf_cost_traffic(const ir_program *p, const ir_body *b, bool together);

#endif
