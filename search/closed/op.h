/* Tiles with integer trip counts: those of one op below a memory, and as nodes of a tree. */
#ifndef SEARCH_CLOSED_OP_H
#define SEARCH_CLOSED_OP_H
#include "model/tree/build.h"
#include "search/closed/closed.h"

enum { TF_C_TILE_LOOPS = 32, TF_C_MEMO = 256 };

/* The loops of one Tile. */
typedef struct {
  int n, dim[TF_C_TILE_LOOPS];
  int64_t trip[TF_C_TILE_LOOPS];
  tf_axis axis[TF_C_TILE_LOOPS];
} tf_c_tile;

/* The Tiles of an op, from memory `top` down to the one above its unit. */
typedef struct {
  int op, top, unit_level;
  int64_t len[TF_C_DIMS]; /* of its dims, in one run of the first Tile */
  bool found;
  tf_c_tile tile[TF_C_LEVELS + 1]; /* [memory] */
  int orders;                      /* loop orders that were tried */
  /* words into the first level: by Algorithm 1, of the tree, in real numbers; limit: Eq. 3.19 */
  double formula, tree, real, limit;
  int64_t lanes[2]; /* lengths that the innermost mesh in use takes at once, by axis */
} tf_c_op;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_objective objective;
  bool one_side; /* a dim is spread along one side of a mesh at most */
  int n, orders;
  tf_c_op *list; /* [TF_C_MEMO] cached results */
} tf_c_ops;

/* The k-th permutation of n things, n <= 5; false past the last. */
bool tf_c_permutation(int n, int k, int *out);

/* Groups loops that move the same uses; group -1: loops that move all.  Returns the number of
 * groups. */
int tf_c_groups(const tf_chain *c, const int *loops, int n, int *group);

/* Describes memory `level` as level d of p, as seen from the Tile above it: capacity, words a cycle
 * per instance above. */
void tf_c_describe(const tf_arch *a, int level, double fraction, double instances, int d,
                   tf_c_problem *p);

int tf_c_unit_level(const tf_arch *a, const tf_workload *wl, int op);

/* The op's Tiles for these lengths; its `found` is false where nothing fits. */
const tf_c_op *tf_c_op_tiles(tf_c_ops *s, int op, int top, const int64_t *len);

/* The lengths that the meshes from memory `top` inwards take of each dim of an op at once. */
void tf_c_lanes(const tf_c_ops *s, int op, int top, const int64_t *len, int64_t *lanes);

void tf_c_add(tf_c_tile *t, int dim, int64_t trip, tf_axis axis);
/* Adds the Tile as a node below `parent`; returns its number. */
int tf_c_put(tf_build *b, int parent, int level, const tf_c_tile *t);
/* Adds the op with its Tiles from o->top to o->unit_level. */
void tf_c_put_op(tf_build *b, int parent, const tf_c_op *o);
#endif
