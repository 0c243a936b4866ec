/* Fused trees in closed form: a shape, a loop order, tiles. */
#ifndef SEARCH_CLOSED_FUSE_H
#define SEARCH_CLOSED_FUSE_H
#include "search/closed/op.h"

typedef struct {
  int home; /* memory that holds the intermediates; Tiles of memories 0 .. home - 1 are shared */
  tf_scope kind; /* Seq or Shar */
  bool stream;   /* reductions over a dim of the last op are streamed */
  bool own;      /* each op tiles the last op's reduced dims by own loops */
  /* Ops that sum nothing do not say what tiles are multiples of, and a Tile of the home stands
   * above the scope, so that what the next step reads comes while this one runs. */
  bool loose;
} tf_c_shape;

/* A tree, and its figures by the formulas. */
typedef struct {
  tf_build *tree; /* rules not checked yet; NULL: nothing fits */
  tf_closed_figures figures;
} tf_c_found;

/* Calls take(ctx, found) for every loop order of the shape whose tiles fit.  take owns the tree,
 * and returns false to stop. */
typedef bool tf_c_take(void *ctx, tf_c_found *found);
bool tf_c_fuse(tf_c_ops *ops, const tf_c_shape *shape, tf_c_take *take, void *ctx);

/* The tree without fusion: each op below its own Tiles. */
bool tf_c_unfused(tf_c_ops *ops, tf_c_found *out);

#endif
