/* All trip counts of a single op, whether they divide its extents or not: boxes of mappings, halved until they are
 * points, with a bound in real numbers.  A mapping of the space spreads each dim, at each Tile, over some instances and
 * takes it in some steps; the outermost Tile takes as many steps as are left. */
#ifndef SEARCH_EXACT_WHOLE_H
#define SEARCH_EXACT_WHOLE_H
#include "search/exact/walk.h"

enum { TF_WHOLE_DIMS = 6, TF_WHOLE_TILES = 6, TF_WHOLE_TENSORS = 6 };
enum { TF_WHOLE_ON_AN_AXIS = 2 }; /* dims at most */

typedef struct {
  uint32_t dims; /* bit d: the d-th dim moves it */
  double words, bits;
  bool made; /* by the op; else it is an input */
} tf_whole_tensor;

/* The op on the machine; all there is besides a box. */
typedef struct {
  const tf_arch *arch;
  const tf_unit *unit;
  int n_dims, n_tiles, n_tensors; /* one Tile for each memory down to the unit's */
  double extent[TF_WHOLE_DIMS], points;
  int64_t mesh[TF_WHOLE_TILES][2]; /* instances that a Tile can spread over, by axis */
  tf_whole_tensor tensor[TF_WHOLE_TENSORS];
} tf_whole_op;

typedef struct {
  int32_t lo, hi;
} tf_whole_span;

/* The mappings of one order of loops whose numbers lie within spans.  Those whose last step, or instance of an axis,
 * would begin beyond the end are none of it: the same with one less is as good. */
typedef struct {
  tf_whole_span spread[TF_WHOLE_TILES][2][TF_WHOLE_DIMS]; /* by axis */
  tf_whole_span steps[TF_WHOLE_TILES][TF_WHOLE_DIMS];     /* of Tile 0 not used: as many as cover the extent */
  int place[TF_WHOLE_TILES][TF_WHOLE_DIMS];               /* of the dim's loop in the Tile's order, outermost first */
} tf_whole_box;

/* Lower bounds of what any mapping of a box costs. */
typedef struct {
  bool empty; /* it has no mapping that fits */
  double cycles, energy_pj, traffic_words;
} tf_whole_least;

/* Fills op, if the template is of one: a single op that indexes distinct tensors by single dims, without a mask or
 * padding, with a memory below the outermost. */
bool tf_whole_op_of(const tf_x_template *t, tf_whole_op *op);
/* Whether a mapping of that op lies in the space: the template's Tiles without a bypass, loops as its orders and axes
 * have them, any trip counts. */
bool tf_whole_has(const tf_x_template *t, const tf_tree *tree);
tf_whole_least tf_whole_bound(const tf_whole_op *op, const tf_whole_box *b);

typedef struct {
  int64_t most;  /* nodes: boxes bounded, and mappings evaluated for WHOLE_A_LEAF each */
  int64_t nodes; /* result: how many it took */
  bool done;     /* result: all that promised is searched */
  double open;   /* result: no mapping that was not evaluated is below it */
} tf_whole_run;

/* Searches all mappings of the template for one below the task's limit.  False: the template is of no such op, or
 * memory ran out (then the task has failed). */
bool tf_whole_search(tf_x_worker *w, tf_x_task *task, tf_whole_run *run);
#endif
