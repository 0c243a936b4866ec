/* The passes of the CPU: matrix products on its micro-kernels, and what surrounds them. */
#ifndef CODEGEN_BACKEND_CPU_PASS_PASS_H
#define CODEGEN_BACKEND_CPU_PASS_PASS_H
#include "codegen/backend/cpu/note/note.h"
#include "codegen/lower/lower.h"

/* Values of choices (TF_CHOICES). */
enum { LOW_PACK_NEVER = 1, LOW_PACK_ALWAYS };
enum { LOW_LANES_LAST = 1, LOW_LANES_CHANNELS };
enum { LOW_ROWS_THERE = 1, LOW_ROWS_COPIED };
enum { LOW_AT_APART = 1, LOW_AT_ROWS };

/* platform.c */
extern const ir_platform lower_cpu_platform;

/* operands.c: words of float32 that stay close to a core: half of the memory of tf_arch_near_cache,
 * as streamed data take the other half; without limit if memories are unbounded. */
int64_t lower_close_words(const tf_arch *a);
int64_t lower_line_bytes(const tf_arch *a); /* of the caches; at least 1 */
/* Whether the rest of op's own loops may be left to one nest: what it touches fits in the core's
 * close memory. */
bool lower_fits_near_cache(const lowering *w, int op);
/* Makes the nest a product if it is one. */
void lower_product(lowering *w, ir_stmt *nest);
/* The kernel for the op's product, whose read `a` is broadcast: the given one, or one that is exact
 * for the ranges of its bytes. */
const ir_kernel *lower_exact_kernel(const lowering *w, const tf_op *op, int a,
                                    const ir_kernel *kernel);
/* Adds a scratch buffer of products, private to each thread inside a parallel loop. */
int lower_scratch(lowering *w, ir_type type, int64_t words, const char *name, const char *id);
/* Makes the box that the nest reads, borders included, the slab of p, and its buffer p->pack. */
void lower_add_slab(lowering *w, const ir_stmt *nest, const tf_ref *ref, cpu_product *p);
/* Elements of such a box, with its padding to whole groups. */
int64_t lower_slab_words(const cpu_product *p, const ir_range *slab, int rank);
bool lower_padded(const tf_tensor *z);
bool lower_reads_dim(const tf_ref *ref, int rank, int dim);
/* Whether several dims of more than one element move one rank. */
bool lower_has_windows(const tf_workload *wl, const tf_ref *ref);

/* terms.c: how a sum's nest adds up its terms. */
void lower_terms_of(const lowering *w, const ir_stmt *nest, lower_terms *t);

/* skinny_gemm.c: makes p, whose m, n, k are known, a product of few rows, if b is rarely reused. */
bool lower_skinny(const lowering *w, const ir_stmt *nest, cpu_product *p);
/* Whether op o, with some tens of rows, streams a large b in panels; range: [dims of the op]. Next:
 * sets the steps and strips of p. */
bool lower_streams(const lowering *w, int o, int b, const ir_range *range);
void lower_stream(const lowering *w, const ir_stmt *nest, cpu_product *p);
/* Whether op o is a product of few rows, or one that streams b, and no loop still to be lowered
 * spreads it over cores. *tiles: its rows are cut into tiles, so that any number of them may be
 * left to one nest. */
bool lower_skinny_or_streamed(const lowering *w, int o, int b, bool *tiles);
/* Whether loops around op o spread it over cores. */
bool lower_spreads(const lowering *w, int o);

/* channels.c: puts p's lanes along channels, if the mapping spreads these over the units. */
bool lower_channels(lowering *w, const ir_stmt *nest, cpu_product *p);

/* cpu_sparse.c: makes p a product of the nonzero elements of a, if the mapping skips zeros and
 * these have a known structure (docs/SEMANTICS.md section 8). */
bool lower_sparse(lowering *w, const ir_stmt *nest, cpu_product *p);

/* peel_padding.c: of a product with lanes along channels, whose slab is known: which positions of
 * the window tiles skip because they are beyond a border. Next: the share of all positions that is
 * multiplied. */
void lower_skip_padding(const lowering *w, const ir_stmt *nest, cpu_product *p);
double lower_inside_share(const tf_workload *wl, const ir_stmt *nest);

/* window.c: sums over small windows, and maps of them; before rows are fused or computed ahead. */
void lower_windows(lowering *w);
/* fuse_downcast.c: sums that their product stores rounded; runs after rows are fused. */
void lower_fuse_rounding(lowering *w);
/* pack_cache.c: a slot for each panel that surrounding loops use again. */
void lower_cache_panels(lowering *w);
/* prefetch.c: software prefetching; after buffers share memory, as these are overwritten. */
void lower_prefetch(lowering *w);
/* collapse_rows.c: merges contiguous rows of a product; runs after prefetching is decided. */
void lower_merge_rows(lowering *w);
/* blocked_layout.c: blocked layouts of intermediates between products with lanes along channels;
 * runs after buffers share memory. */
void lower_block_channels(lowering *w);
/* widen_pack.c: for products with lanes along channels: widens slabs that are filled repeatedly, so
 * that they are filled once; prefetches panels from outer memories. Before unused values go. */
void lower_widen_slabs(lowering *w);
/* Whether so many words of panels exceed the part of the close memory in which they would stay for
 * a whole run: then products prefetch them, unless choices forbid it. */
bool lower_panels_leave_cache(const tf_arch *a, int64_t words);
/* pad_pitch.c: an odd number of cache lines as row pitch of sums that tiles of several rows store;
 * runs after buffers share memory and rounding is decided. */
void lower_pad_pitch(lowering *w);
/* hoist_copy.c: rows that are copied once for the surrounding loops; runs after all passes that
 * decide who copies rows. */
void lower_hoist_copies(lowering *w);
/* overlap_producer.c: rows that the following product computes while it multiplies; runs after
 * lower_share. */
void lower_overlap_producers(lowering *w);
#endif
