/* Passes of the CPU: products of matrices on its micro-kernels, and what stands around them. */
#ifndef CODEGEN_TARGET_CPU_PASS_PASS_H
#define CODEGEN_TARGET_CPU_PASS_PASS_H
#include "codegen/lower/lower.h"

/* platform.c */
extern const ir_platform low_cpu_platform;

/* product.c: words of float32 that stay close to a core: half of the memory of tf_arch_close, the other half being for
 * what streams past; all, where no memory is bounded. */
int64_t low_close_words(const tf_arch *a);
int64_t low_line_bytes(const tf_arch *a); /* of the caches: 1 or more */
/* Whether the rest of op's own loops may be left to one nest: what it touches fits close to the core. */
bool low_close_by(const lowering *w, int op);
/* Makes the nest a product where it is one. */
void low_product(lowering *w, ir_stmt *nest);
/* Scratch of products; of each thread where the lowering is below a loop that runs in parallel. */
int low_scratch(lowering *w, ir_type type, int64_t words, const char *name, const char *id);
/* The box of what the nest reads there, borders and all, as slab and pack of p. */
void low_add_slab(lowering *w, const ir_stmt *nest, const tf_ref *ref, ir_product *p);
bool low_padded(const tf_tensor *z);
bool low_reads_dim(const tf_ref *ref, int rank, int dim);

/* few.c: makes p, whose sides are known, a product of few rows where b is large and hardly used again. */
bool low_few(const lowering *w, const ir_stmt *nest, ir_product *p);
/* Whether op o is one, b being its panel, and no loop that is still to come spreads it over cores. */
bool low_few_streams(const lowering *w, int o, int b);

/* channels.c: makes p a product with lanes along channels where the mapping spreads them over the units. */
bool low_channels(lowering *w, const ir_stmt *nest, ir_product *p);

/* window.c: sums over small windows, and maps of them; before rows are joined or made ahead. */
void low_windows(lowering *w);
/* round.c: sums that leave their product rounded; after rows are joined. */
void low_round_early(lowering *w);
/* again.c: panels that the loops around come back to are kept, each in a place of its own. */
void low_panels_again(lowering *w);
/* ask.c: what products ask for ahead; after what is written over is known. */
void low_ask_ahead(lowering *w);
/* merge.c: rows of a product that are one; after what is asked ahead is known. */
void low_merge_rows(lowering *w);
/* blocks.c: what stands between products with lanes along channels, in blocks of these; after buffers are shared. */
void low_block_channels(lowering *w);
/* around.c: of products with lanes along channels: slabs that are kept and filled again and again become wide enough to
 * be filled once; panels that come from afar are asked for.  Before unused values are dropped. */
void low_around_channels(lowering *w);
/* apart.c: rows of sums that tiles of several rows are stored to, an odd number of lines apart; after buffers are
 * shared and what is rounded is known. */
void low_space_rows(lowering *w);
/* once.c: rows that are copied once for the loops around; after all that decides who copies rows. */
void low_copy_once(lowering *w);
/* ahead.c: rows that the product behind them makes while it multiplies; after low_share. */
void low_rows_ahead(lowering *w);
#endif
