/* A region: statements of a block that its warps do side by side, each for rows (and columns) of
 * its own, so that what they make stays in registers as fragments. */
#ifndef CODEGEN_BACKEND_CUDA_PASS_REGION_H
#define CODEGEN_BACKEND_CUDA_PASS_REGION_H
#include "codegen/backend/cuda/pass/pass.h"

enum { CU_MOST_WORK = 64, CU_MOST_PRODUCTS = 8 };

/* An operand of a product: whether it comes to shared memory, once for all steps of the loops
 * around or for each. */
typedef struct {
  bool tile, lasting;
  int rows,
      columns; /* ranks of the tensor that go along the rows of a tile and along their neighbours:
                  its last one, but for stacked rows whose channels are not innermost */
  const ir_stack *stack;  /* its rows go along several ranks, or in steps; NULL: they do not */
  const ir_stack *across; /* the same of its columns, the window and channels of a sum */
  int buffer;
  int64_t bytes; /* of one slot */
} cu_operand;

typedef struct {
  const ir_stmt *s;
  cu_matrices roles;
  const ir_stmt *loop; /* the loop of the region in whose body it stands; NULL: none */
  bool next;           /* tiles of the loop's next step come while one is multiplied */
  int64_t step, trip;  /* the sum is in `trip` pieces of `step` */
  const ir_stmt
      *steps; /* of stacked rows without groups: the outermost of loops in each other that only step
                 through its sum, which become one, over pieces, too; NULL: none */
  int slots;  /* groups: as many as can be on their way or be read */
  bool beside; /* its rows are the tile of the product right before it, in the same pieces: both
                  multiply each */
  cu_operand side[2]; /* a, b */
} cu_work;

typedef struct {
  const ir_program *p;
  const lowering *w; /* knows what values are multiples of */
  int n;
  ir_stmt *const *s; /* its statements ... */
  int n_points;
  const ir_stmt *point[CU_MOST_WORK]; /* ... and those among and below them that compute */
  int n_work;
  cu_work work[CU_MOST_PRODUCTS];
  int dim_m, dim_n;  /* dims of the workload that warps share out; dim_n -1: each has all columns */
  ir_range m, n_all; /* of the block */
  bool stacked; /* rows are points of a box along several dims, or along one in steps (pixels of a
                   convolution): then dim_m is the last of these, and m their numbers from 0 on */
  int n_stack, stack_dim[IR_MOST_STACKED]; /* outermost first */
  ir_range stack[IR_MOST_STACKED];         /* of the block */
  int warps_m, warps_n;  /* among whom rows and columns are shared out: all, or the first warps_m */
  int64_t rows, columns; /* of a warp; columns: dim_n alone */
  /* few rows: the loop over keys, of whose steps each of `sharers` warps has `each`; NULL: warps
   * share rows */
  const ir_stmt *keys;
  int64_t each;
  int sharers;
  bool *inside;    /* [n_vars] set in the region */
  bool groups;     /* products are of warpgroups, whose tiles boxes fill */
  int warps;       /* that go through it: a block's, or those of the warpgroup whose turn it is */
  const char *why; /* groups: what stands against it, if it cannot be one */
  int n_buffers;   /* when it was found: tiles come behind them */
  bool *own;       /* [n_buffers] fragments */
} cu_region;

/* matrix.c: whether rows go along the dim, or along others, too. */
bool cu_is_row(const cu_region *g, int dim);
/* Rows of a statement or a buffer (at: its positions or ranks of the stack's dims), of which it has
 * `count`. */
ir_stack *cu_stack_of(const cu_region *g, const int *at, int64_t count, ir_atom first);
/* region.c: whether the n statements can be a region.  Its arrays are in the arena; sets the form
 * of its fragments. */
bool cu_region_of(lowering *w, ir_stmt *const *s, int n, cu_region *g);
/* The same for warpgroups; else g->why says why not. */
bool cu_region_of_groups(lowering *w, ir_stmt *const *s, int n, cu_region *g);
/* Whether an operand of a product has a tile of its own. */
static inline bool cu_has_own_tile(const cu_work *t, int i) {
  return t->side[i].tile && (i || !t->beside);
}
/* multistage_smem.c: as cu_plan_tiles, for warpgroups. */
bool cu_plan_rings(cu_region *g);
/* Whether a save of the region can go by boxes; lets: where values of its ranges are set. */
bool cu_leaves_by_boxes(const cu_region *g, const ir_body *lets, const ir_stmt *s);
/* staged.c: whether an operand (0: a, 1: b) is a matrix in global memory, whose rows are neighbours
 * there; whether its box is the same in all steps of the region's loops. */
bool cu_find_tile(const cu_region *g, const cu_work *t, int i, cu_operand *side);
/* matrix.c: whether the product sums over all dims at once (cu_has_few_channels). */
bool cu_is_across(const cu_region *g, const cu_work *t);
/* The same of rows that are stacked: along each of its ranks but that of the sum goes one dim of
 * them, or none. */
bool cu_find_stack(const cu_region *g, const cu_work *t, cu_operand *side);
bool cu_is_lasting(const cu_region *g, const cu_work *t, int i);
/* staged.c: what comes to shared memory, and how; false: there is no room. */
bool cu_plan_tiles(cu_region *g);
/* skip.c: whether steps of a loop of the region that a mask leaves nothing of may be left out: then
 * where its steps begin and end, and how far it is to either from a step, are values. */
typedef struct {
  ir_atom first, end, since, left;
} cu_ends;
bool cu_may_skip(const cu_region *g, const ir_stmt *loop);
/* Appends, before the loop and in its step behind its own lets, the lets of these; notes them of
 * the loop as it became.
 */
void cu_skip_begin(lowering *w, const ir_stmt *loop, cu_ends *ends);
void cu_skip_step(const cu_region *g, lowering *w, const ir_stmt *loop, cu_ends *ends);
void cu_skip_steps(const cu_region *g, lowering *w, const ir_stmt *loop, ir_stmt *again,
                   const cu_ends *ends);
/* region.c: the range of keys in a step of the loop whose warps share them. */
const ir_range *cu_keys_of(const cu_region *g);
/* matrix.c: the buffer that a product reads an operand from. */
int cu_from(const ir_program *p, const ir_stmt *s, int read);
/* Finds, when pieces and tiles are planned, the products that stand beside others. */
void cu_set_beside(cu_region *g);
/* spmd.c: appends the region. */
void cu_region_make(lowering *w, cu_region *g);
#endif
