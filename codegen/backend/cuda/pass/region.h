/* A region: statements of a block that its warps execute together, each warp for its own rows (and
 * columns), so that results stay in registers as fragments. */
#ifndef CODEGEN_BACKEND_CUDA_PASS_REGION_H
#define CODEGEN_BACKEND_CUDA_PASS_REGION_H
#include "codegen/backend/cuda/pass/pass.h"

enum { CU_MOST_WORK = 64, CU_MOST_PRODUCTS = 8 };

/* An operand of a product: whether it is copied to shared memory, once for all steps of the
 * surrounding loops or for each. */
typedef struct {
  bool tile, lasting;
  int rows,
      columns; /* the tensor's ranks along the rows of a tile and along its contiguous elements: the
                  last rank, except for stacked rows whose channels are not innermost */
  const ir_stack *stack;  /* its rows run along several ranks, or with steps; NULL: they do not */
  const ir_stack *across; /* likewise its columns, the window and channels of a sum; NULL */
  int buffer;
  int64_t bytes; /* of one slot */
} cu_operand;

typedef struct {
  const ir_stmt *s;
  cu_matrices roles;
  const ir_stmt *loop; /* the region's loop in whose body it stands; NULL: none */
  bool
      prefetches; /* tiles of the loop's next step are copied while the current one is multiplied */
  int64_t step, trip; /* the sum consists of `trip` pieces of `step` */
  const ir_stmt
      *steps; /* with stacked rows, without warpgroups: the outermost of nested loops that only step
                 through its sum, which become a single loop over steps and pieces; NULL: none */
  int slots;  /* warpgroups: stages of the ring, in flight or in use */
  bool shares_rows;   /* its rows are the tile of the product right before it, in the same pieces:
                    both multiply each piece */
  cu_operand side[2]; /* a, b */
} cu_work;

typedef struct {
  const ir_program *p;
  const lowering *w; /* tells the factors of values */
  int n;
  ir_stmt *const *s; /* its statements ... */
  int n_points;
  const ir_stmt *point[CU_MOST_WORK]; /* ... and those at or below them that compute */
  int n_work;
  cu_work work[CU_MOST_PRODUCTS];
  int dim_m, dim_n; /* the workload's dims that are divided among warps; dim_n -1: each warp has all
                       columns */
  ir_range m, n_all; /* of the block */
  bool stacked; /* rows are points of a box along several dims, or along one with steps (pixels of a
                   convolution): then dim_m is the last of these, and m numbers them from 0 */
  int n_stack, stack_dim[IR_MOST_STACKED]; /* outermost first */
  ir_range stack[IR_MOST_STACKED];         /* of the block */
  int warps_m,
      warps_n; /* warps among which rows and columns are divided: all, or the first warps_m */
  int64_t rows, columns; /* of a warp; columns: dim_n alone */
  /* few rows: the loop over keys, of whose steps each of `sharers` warps has `each`; NULL: warps
   * divide rows */
  const ir_stmt *keys;
  int64_t keys_each;
  int sharers;
  bool *inside;      /* [n_vars] set inside the region */
  bool groups;       /* warpgroups multiply, with tiles that boxes fill */
  int warps;         /* warps that run it: a block's, or those of the warpgroup whose turn it is */
  const char *why;   /* of warpgroups: why the region cannot have them; NULL: it can */
  int n_buffers;     /* when it was found; tiles are appended after them */
  bool *is_fragment; /* [n_buffers] fragments */
} cu_region;

/* matrix.c: whether rows run along the dim, alone or with others. */
bool cu_is_row(const cu_region *g, int dim);
/* The stack of rows of a statement or a buffer (at: its positions or ranks of the stack's dims),
 * with `count` rows. */
ir_stack *cu_stack_of(const cu_region *g, const int *at, int64_t count, ir_atom first);
/* region.c: whether the n statements can be a region. Its arrays are in the arena; sets the layout
 * of its fragments. */
bool cu_region_of(lowering *w, ir_stmt *const *s, int n, cu_region *g);
/* The same for warpgroups; otherwise g->why has the reason. */
bool cu_region_of_groups(lowering *w, ir_stmt *const *s, int n, cu_region *g);
/* Whether an operand of a product has a tile of its own. */
static inline bool cu_has_own_tile(const cu_work *t, int i) {
  return t->side[i].tile && (i || !t->shares_rows);
}
/* multistage_smem.c: as cu_plan_tiles, for warpgroups. */
bool cu_plan_rings(cu_region *g);
/* Whether a SAVE of the region can go by boxes; lets: the body that sets the values of its
 * ranges. */
bool cu_leaves_by_boxes(const cu_region *g, const ir_body *lets, const ir_stmt *s);
/* staged.c: whether an operand (0: a, 1: b) is a matrix in global memory with contiguous rows;
 * next: whether its box is the same in all steps of the region's loops. */
bool cu_find_tile(const cu_region *g, const cu_work *t, int i, cu_operand *side);
/* matrix.c: whether the product sums over all dims at once (cu_has_few_channels). */
bool cu_is_across(const cu_region *g, const cu_work *t);
/* Like cu_find_tile for stacked rows: each rank of the operand except that of the sum is moved by
 * at most one of their dims. */
bool cu_find_stack(const cu_region *g, const cu_work *t, cu_operand *side);
bool cu_is_lasting(const cu_region *g, const cu_work *t, int i);
/* staged.c: plans what is copied to shared memory, and how; false: there is no room. */
bool cu_plan_tiles(cu_region *g);
/* skip.c: whether steps of the region's loop in which a mask leaves nothing can be skipped: then
 * variables hold the first step and the end, and the distance of a step to both. */
typedef struct {
  ir_atom first, end, since, left;
} cu_ends;
bool cu_may_skip(const cu_region *g, const ir_stmt *loop);
/* Appends the lets of these variables, before the loop and in its step after the step's own; next:
 * notes them on the new loop. */
void cu_skip_begin(lowering *w, const ir_stmt *loop, cu_ends *ends);
void cu_skip_step(const cu_region *g, lowering *w, const ir_stmt *loop, cu_ends *ends);
void cu_skip_steps(const cu_region *g, lowering *w, const ir_stmt *loop, ir_stmt *again,
                   const cu_ends *ends);
/* region.c: the range of keys in a step of the loop whose warps share them. */
const ir_range *cu_keys_of(const cu_region *g);
/* matrix.c: the buffer from which a product reads an operand. */
int cu_source_of(const ir_program *p, const ir_stmt *s, int read);
/* Finds the products that stand beside others, when pieces and tiles are planned. */
void cu_find_adjacent(cu_region *g);
/* spmd.c: appends the region. */
void cu_region_make(lowering *w, cu_region *g);
#endif
