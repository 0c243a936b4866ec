/* All trip counts and bypasses of a single op, whether counts divide its extents or not: boxes of
 * mappings, halved until they are points, with a bound in real numbers.  A mapping of the space
 * spreads each dim, at each Tile, over some instances and takes it in some steps; the outermost
 * Tile takes as many steps as are left; each tensor is held by any of the memories. */
#ifndef SEARCH_EXACT_WHOLE_H
#define SEARCH_EXACT_WHOLE_H
#include "search/exact/walk.h"

enum { TF_WHOLE_DIMS = 6, TF_WHOLE_TILES = 6, TF_WHOLE_TENSORS = 6 };
enum { TF_WHOLE_ON_AN_AXIS = 2 }; /* dims at most */

typedef struct {
  uint32_t dims; /* bit d: the d-th dim moves it */
  double words, bits;
  bool made; /* by the op; else it is an input */
  int home;  /* the memory in which it lives */
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

/* The mappings of one order of loops whose numbers lie within spans.  Those whose last step, or
 * instance of an axis, would begin beyond the end are none of it: the same with one less is as
 * good. */
typedef struct {
  tf_whole_span spread[TF_WHOLE_TILES][2][TF_WHOLE_DIMS]; /* by axis */
  tf_whole_span steps[TF_WHOLE_TILES]
                     [TF_WHOLE_DIMS]; /* of Tile 0 not used: as many as cover the extent */
  tf_whole_span block[TF_WHOLE_TILES]
                     [TF_WHOLE_DIMS]; /* length that enters the Tile, no more than the extent */
  int place[TF_WHOLE_TILES]
           [TF_WHOLE_DIMS]; /* of the dim's loop in the Tile's order, outermost first */
  /* Bit z: the Tile's memory holds the tensor; it bypasses it; neither: either of these.  Its home
   * holds it, and nothing further out. */
  uint32_t held[TF_WHOLE_TILES], past[TF_WHOLE_TILES];
} tf_whole_box;

/* Lower bounds of what any mapping of a box costs. */
typedef struct {
  bool empty; /* it has no mapping that fits, or in which all steps and instances begin before the
                 end */
  int full;   /* the first of the two: the memory that none fits */
  double cycles, energy_pj, traffic_words;
} tf_whole_least;

/* Fills op, if the template is of one: a single op that indexes distinct tensors by single dims,
 * without a mask or padding, with a memory below the outermost. */
bool tf_whole_op_of(const tf_x_template *t, tf_whole_op *op);
/* Whether a mapping of that op lies in the space: the template's Tiles, loops as its orders and
 * axes have them, any trip counts, and (bypasses) any bypass; else none. */
bool tf_whole_has(const tf_x_template *t, const tf_tree *tree, bool bypasses);
tf_whole_least tf_whole_bound(const tf_whole_op *op, const tf_whole_box *b);

/* ---- boxes, taken apart --------------------------------------------------------------------- */
enum { TF_WHOLE_VARS = 4 * TF_WHOLE_TILES * TF_WHOLE_DIMS, TF_WHOLE_ORDERS = 24 };
/* Of a Tile: no order yet; or none that matters. */
enum { TF_WHOLE_NO_ORDER = -1, TF_WHOLE_ANY_ORDER = -2 };

/* One number of a mapping: over how many instances of an axis a Tile spreads a dim, in how many
 * steps it takes it, or the length of it that enters. */
enum { TF_WHOLE_STEPS = -1, TF_WHOLE_BLOCK = -2 };
typedef struct {
  int axis, tile, dim; /* axis: 0, 1, or one of these */
} tf_whole_var;

typedef struct {
  tf_whole_op op;
  const tf_x_template *t;
  tf_objective objective;
  int n_vars;
  tf_whole_var var[TF_WHOLE_VARS];
  int n_groups, n_orders;
  int order[TF_WHOLE_ORDERS][TF_X_GROUPS]; /* groups, outermost first */
} tf_whole_space;

/* A box, and the number of each Tile's order. */
typedef struct {
  int32_t order[TF_WHOLE_TILES];
  tf_whole_box b;
} tf_whole_part;

/* False if the template is of no such op. */
bool tf_whole_space_of(const tf_x_template *t, tf_objective objective, tf_whole_space *s);
/* The box in which every number is 1, and that of the whole space. */
void tf_whole_ones(const tf_whole_space *s, tf_whole_part *p);
void tf_whole_all(const tf_whole_space *s, tf_whole_part *p);
/* Leaves of it the mappings without a bypass. */
void tf_whole_hold_all(const tf_whole_space *s, tf_whole_part *p);
tf_whole_span *tf_whole_span_of(tf_whole_part *p, const tf_whole_var *v);
void tf_whole_put_in_order(const tf_whole_space *s, int tile, int32_t order, tf_whole_part *p);
/* The steps of a dim at a Tile; of the outermost, as many as cover the extent. */
tf_whole_span tf_whole_steps(const tf_whole_space *s, const tf_whole_box *b, int tile, int d);
/* The fewest and most steps of any dim of a group. */
tf_whole_span tf_whole_turns(const tf_whole_space *s, const tf_whole_box *b, int tile, int group);
/* Of orders that differ by loops of one step alone, one is enough: these stand inside, in the order
 * of the groups.  A Tile by whose order each mapping of the box has such a twin in another one; -1:
 * none. */
int tf_whole_twin(const tf_whole_space *s, const tf_whole_part *p);

/* How a box is taken apart: first its spreads, of which few fill a mesh; then Tile by Tile from the
 * outermost, what it holds, the order of the loops above it, and what enters it, but for a few
 * percent; last its steps. */
typedef struct {
  int n;   /* pieces; 0: it is one mapping */
  int var; /* halved between mid and mid + 1; -1: of `tile` */
  int32_t mid;
  int tile;
  int tensor; /* the Tile holds it, or bypasses it; -1: the Tile is put in each order */
} tf_whole_cut;
tf_whole_cut tf_whole_cut_of(const tf_whole_space *s, tf_whole_part *p);

/* Makes the box its k-th piece.  What is left out of it: it has no mapping that the mesh holds; or
 * each has a twin that is laid out otherwise. */
typedef enum { TF_WHOLE_KEPT, TF_WHOLE_OFF_MESH, TF_WHOLE_LAID_OUT_ELSE } tf_whole_kept;
tf_whole_kept tf_whole_piece(const tf_whole_space *s, const tf_whole_cut *c, int k,
                             tf_whole_part *p);
/* The trip counts, [n_loops] of the template, of a box's only mapping. */
void tf_whole_trips(const tf_whole_space *s, const tf_whole_part *p, int64_t *trips);
/* The template's tree with that mapping's bypasses; NULL: memory ran out. */
tf_tree *tf_whole_tree(const tf_whole_space *s, const tf_whole_part *p);

typedef struct {
  bool bypasses; /* else no memory is bypassed */
  int64_t most;  /* nodes: boxes bounded, and mappings evaluated for WHOLE_A_LEAF each */
  int64_t nodes; /* result: how many it took */
  bool done;     /* result: all that promised is searched */
  double open;   /* result: no mapping that was not evaluated is below it */
} tf_whole_run;

/* Searches all mappings of the template for one below the task's limit.  False: the template is of
 * no such op, or memory ran out (then the task has failed). */
bool tf_whole_search(tf_x_worker *w, tf_x_task *task, tf_whole_run *run);
#endif
