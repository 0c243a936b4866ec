/* The shapes of trees, encoded as a row of genes (thesis 3.5.2, Fig. 3.7 b).  Each op has a column
 * that says into which op it is fused, at which memory, and by which primitive; further genes give
 * the loop orders, the dims spread over instances, and what is kept, streamed or bypassed.  Every
 * row of genes within its sizes decodes to a legal tree with open trip counts. */
#ifndef SEARCH_SPACE_SHAPE_H
#define SEARCH_SPACE_SHAPE_H
#include "base/arena.h"
#include "base/rng.h"
#include "search/common/space.h"
#include "tileflow/model.h"

typedef struct tf_shapes tf_shapes;

/* The space of all shapes for the workload on the architecture; or of the completions of a mapping
 * with open scopes or loop orders, as trees of wl (the tree's own workload, or one with the same
 * ops).  NULL with errors in d.  Borrows its arguments. */
tf_shapes *tf_shapes_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
tf_shapes *tf_shapes_of(const tf_tree *tree, const tf_workload *wl, tf_diags *d);
/* From now on a Tile spreads a dim along one axis at most. */
void tf_shapes_one_side(tf_shapes *s);
void tf_shapes_free(tf_shapes *s);

int tf_shapes_genes(const tf_shapes *s);

/* The genes as a space (search/common/space.h); its domains do not depend on each other.  In the
 * arena; NULL if memory ran out. */
tf_space *tf_shapes_space(tf_arena *a, const tf_shapes *s);

/* A random value of gene i: uniform, but mostly 0 for genes that rarely help. */
int32_t tf_shapes_draw(const tf_shapes *s, int i, tf_rng *rng);
/* Writes the k-th of tf_shapes_seeds starts: fusion of everything in several styles, or none.  Loop
 * orders and spreads are random, the same for ops on one kind of unit. */
void tf_shapes_seed(const tf_shapes *s, int k, tf_rng *rng, int32_t *genes);
int tf_shapes_seeds(const tf_shapes *s);

/* Which genes were read, and in which order.  The gene read k-th depends only on those read
 * before. */
typedef struct {
  uint32_t *order; /* [genes] 1 for the first read, 0: not read */
  int n;
} tf_reads;

/* Changes a row slightly, in genes that were read (order[] > 0; order NULL: all were). */
void tf_shapes_vary(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes);

/* A hash of which ops are fused, where, and by which scopes: the niche of tf_space_kind. */
uint64_t tf_shapes_niche(const tf_shapes *s, const int32_t *genes, const uint32_t *order);

/* The tree with open trip counts.  NULL if memory ran out, or where a completion of a given mapping
 * is illegal. */
tf_tree *tf_shapes_tree(const tf_shapes *s, const int32_t *genes, tf_reads *reads);
#endif
