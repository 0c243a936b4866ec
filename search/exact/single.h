/* All trip counts and bypasses of a single op, whether the counts divide its extents or not: boxes
 * of mappings, halved until they are points, with a bound by real relaxation.  A mapping of the
 * space spreads each dim, at each Tile, over some instances and takes it in some steps; the
 * outermost Tile takes as many steps as are left; each tensor is held by any of the memories. */
#ifndef SEARCH_EXACT_SINGLE_H
#define SEARCH_EXACT_SINGLE_H
#include "search/exact/walk.h"

enum { TF_SINGLE_DIMS = 6, TF_SINGLE_TILES = 6, TF_SINGLE_TENSORS = 6 };
enum { TF_SINGLE_ON_AN_AXIS = 2 }; /* most dims on an axis */

typedef struct {
  uint32_t dims; /* bit d: the d-th dim moves it */
  double words, bits;
  bool made; /* by the op; else it is an input */
  int home;  /* the memory in which it lives (its home) */
} tf_single_tensor;

/* The op on the machine: everything that is the same for all boxes. */
typedef struct {
  const tf_arch *arch;
  const tf_unit *unit;
  int n_dims, n_tiles, n_tensors; /* one Tile for each memory down to the unit's */
  double extent[TF_SINGLE_DIMS], points;
  int64_t mesh[TF_SINGLE_TILES][2]; /* instances that a Tile can spread over, by axis */
  tf_single_tensor tensor[TF_SINGLE_TENSORS];
} tf_single_op;

typedef struct {
  int32_t lo, hi;
} tf_single_span;

/* A box: the mappings of one order of loops whose numbers lie within spans.  Mappings whose last
 * step, or last instance of an axis, would begin beyond the end are excluded: one less is as
 * good. */
typedef struct {
  tf_single_span spread[TF_SINGLE_TILES][2][TF_SINGLE_DIMS]; /* by axis */
  /* of Tile 0 not used: as many as cover the extent */
  tf_single_span steps[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* length that enters the Tile, no more than the extent */
  tf_single_span block[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* of the dim's loop in the Tile's order, outermost first */
  int place[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* Bit z of held: the Tile's memory holds the tensor; of past: it is bypassed; of neither: open.
   * Its home holds it, and nothing further out does. */
  uint32_t held[TF_SINGLE_TILES], past[TF_SINGLE_TILES];
} tf_single_box;

/* Lower bounds on the cost of any mapping of a box. */
typedef struct {
  /* it has no mapping that fits, or none in which all steps and instances begin before the end */
  bool empty;
  int full; /* if none fits: the first memory that is too small */
  double cycles, energy_pj, traffic_words;
} tf_single_cost;

/* Fills op, if the template is of a suitable one: a single op that indexes distinct tensors by
 * single dims, without a mask or padding, with a memory below the outermost. */
bool tf_single_op_of(const tf_x_template *t, tf_single_op *op);
/* Whether a mapping of that op is in the space: the template's Tiles, loops with its orders and
 * axes, any trip counts, and (bypasses) any bypass; else none. */
bool tf_single_has(const tf_x_template *t, const tf_tree *tree, bool bypasses);
tf_single_cost tf_single_bound(const tf_single_op *op, const tf_single_box *b);

/* ---- splitting boxes ------------------------------------------------------------------------ */
enum { TF_SINGLE_VARS = 4 * TF_SINGLE_TILES * TF_SINGLE_DIMS, TF_SINGLE_ORDERS = 24 };
/* Of a Tile: no order yet; or the order does not matter. */
enum { TF_SINGLE_NO_ORDER = -1, TF_SINGLE_ANY_ORDER = -2 };

/* A variable of a mapping: the number of instances of an axis over which a Tile spreads a dim, its
 * number of steps, or the length of it that enters. */
enum { TF_SINGLE_STEPS = -1, TF_SINGLE_BLOCK = -2 };
typedef struct {
  int axis, tile, dim; /* axis: 0, 1, or one of these */
} tf_single_var;

typedef struct {
  tf_single_op op;
  const tf_x_template *t;
  tf_objective objective;
  int n_vars;
  tf_single_var var[TF_SINGLE_VARS];
  int n_groups, n_orders;
  int order[TF_SINGLE_ORDERS][TF_X_GROUPS]; /* groups, outermost first */
} tf_single_space;

/* A box, and the number of each Tile's order. */
typedef struct {
  int32_t order[TF_SINGLE_TILES];
  tf_single_box b;
} tf_single_part;

/* False if the template's op is not suitable. */
bool tf_single_space_of(const tf_x_template *t, tf_objective objective, tf_single_space *s);
/* The box in which every variable is 1, and that of the whole space. */
void tf_single_ones(const tf_single_space *s, tf_single_part *p);
void tf_single_all(const tf_single_space *s, tf_single_part *p);
/* Keeps only the mappings without a bypass. */
void tf_single_hold_all(const tf_single_space *s, tf_single_part *p);
tf_single_span *tf_single_span_of(tf_single_part *p, const tf_single_var *v);
void tf_single_put_in_order(const tf_single_space *s, int tile, int32_t order, tf_single_part *p);
/* The steps of a dim at a Tile; of the outermost, as many as cover the extent. */
tf_single_span tf_single_steps(const tf_single_space *s, const tf_single_box *b, int tile, int d);
/* The fewest and most steps of any dim of a group. */
tf_single_span tf_single_group_steps(const tf_single_space *s, const tf_single_box *b, int tile,
                                     int group);
/* A symmetry: orders that differ only in loops of one step are equivalent, and one of them is
 * enough, with these loops innermost, in the order of the groups.  Returns a Tile in whose order
 * each mapping of the box has an equivalent in another box; -1: none. */
int tf_single_symmetric_tile(const tf_single_space *s, const tf_single_part *p);

/* How a box is split: first its spreads, of which few fill a mesh; then Tile by Tile from the
 * outermost, what it holds, the order of the loops above it, and the lengths that enter it, up to a
 * few percent; last its steps. */
typedef struct {
  int n;   /* parts; 0: it is one mapping */
  int var; /* halved between mid and mid + 1; -1: the split is of `tile` */
  int32_t mid;
  int tile;
  int tensor; /* held or bypassed by the Tile; -1: the Tile gets each order */
} tf_single_split;
tf_single_split tf_single_split_of(const tf_single_space *s, tf_single_part *p);

/* Makes the box its k-th part.  A part is dropped if the mesh holds none of its mappings, or if
 * each has an equivalent with another layout on the mesh. */
typedef enum { TF_SINGLE_KEPT, TF_SINGLE_OFF_MESH, TF_SINGLE_EQUIVALENT } tf_single_kept;
tf_single_kept tf_single_piece(const tf_single_space *s, const tf_single_split *c, int k,
                               tf_single_part *p);
/* The trip counts, [n_loops] of the template, of a box's only mapping. */
void tf_single_trips(const tf_single_space *s, const tf_single_part *p, int64_t *trips);
/* The template's tree with that mapping's bypasses; NULL: memory ran out. */
tf_tree *tf_single_tree(const tf_single_space *s, const tf_single_part *p);

typedef struct {
  bool bypasses; /* else no memory is bypassed */
  int64_t
      max_nodes; /* nodes: boxes bounded, and mappings evaluated, which count SINGLE_A_LEAF each */
  int64_t nodes; /* result: how many it took */
  bool done;     /* result: everything with a bound below the limit was searched */
  double open;   /* result: lower bound of all mappings that were not evaluated */
} tf_single_run;

/* Searches all mappings of the template for one below the task's limit.  False: the op is not
 * suitable, or memory ran out (then the task has failed). */
bool tf_single_search(tf_x_worker *w, tf_x_task *task, tf_single_run *run);
#endif
