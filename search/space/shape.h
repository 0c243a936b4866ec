/* The shapes a tree can take, coded as a row of genes (thesis 3.5.2, Fig. 3.7 b): each op has a
 * column that says into which op it is fused, at which memory, and by which primitive; beside it
 * stand the loop orders, the dims that are spread over instances, what is kept, streamed, bypassed.
 * Every row of genes within its sizes is a legal tree; trip counts are left open. */
#ifndef SEARCH_SPACE_SHAPE_H
#define SEARCH_SPACE_SHAPE_H
#include "base/arena.h"
#include "base/rng.h"
#include "search/common/space.h"
#include "tileflow/tree.h"

typedef struct tf_shapes tf_shapes;

/* All shapes for the workload on the architecture; of a mapping with open scopes or loop orders,
 * its
 * completions, as trees of wl (the tree's own, or one with the same ops).  NULL with errors in d.  Borrow what they are
 * given. */
tf_shapes *tf_shapes_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
tf_shapes *tf_shapes_of(const tf_tree *tree, const tf_workload *wl, tf_diags *d);
void tf_shapes_free(tf_shapes *s);

int tf_shapes_genes(const tf_shapes *s);
/* Gene i is 0 .. size - 1. */
int tf_shapes_size(const tf_shapes *s, int i);
/* Number of shapes, no more than `most`. */
int64_t tf_shapes_count(const tf_shapes *s, int64_t most);

/* The genes as a space (search/common/space.h): its domains depend on nothing.  In the arena; NULL if memory ran out.
 */
tf_space *tf_shapes_space(tf_arena *a, const tf_shapes *s);

/* Even over what gene i may be, but mostly 0 where it rarely helps. */
int32_t tf_shapes_draw(const tf_shapes *s, int i, tf_rng *rng);
/* The k-th of tf_shapes_seeds good starts: ways to fuse everything, or nothing; loops and spreads by lot, ops on one
 * kind of unit alike. */
void tf_shapes_seed(const tf_shapes *s, int k, tf_rng *rng, int32_t *genes);
int tf_shapes_seeds(const tf_shapes *s);

/* Which genes had a say, and in which order: what is read k-th depends on those read before alone. */
typedef struct {
  uint32_t *order; /* [genes] 1 for the first read, 0: not read */
  int n;
} tf_reads;

/* Changes a little of a row of which the genes with order[] > 0 had a say. */
void tf_shapes_vary(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes);

/* One number for what is fused with what, where, and how it is run: rows that differ in it are different kinds. */
uint64_t tf_shapes_species(const tf_shapes *s, const int32_t *genes, const uint32_t *order);

/* The tree, its trip counts open.  NULL if memory ran out, or where a completion of a given mapping
 * is illegal. */
tf_tree *tf_shapes_tree(const tf_shapes *s, const int32_t *genes, tf_reads *reads);

/* Genes of one column are best inherited together; 0 .. tf_shapes_columns - 1. */
int tf_shapes_columns(const tf_shapes *s);
int tf_shapes_column(const tf_shapes *s, int i);
#endif
