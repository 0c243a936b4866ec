/* Mappings for a GPU's blocks, with all trip counts: the planner ranks them where none is given.
 * Ops are fused into groups; each is a loop over blocks of the dims that its outputs share, with
 * intermediates in a block's memory; keys of a softmax are streamed. A form is a way to cut ops
 * into groups, with sizes of blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/pass/pass.h"
#include "model/tree/build.h"

/* Limits of ops, products that may begin a group, dims and memories; of a sum, the pieces that a
 * block and its units process at a time. */
enum { MOST_OPS = 64, MOST_CUTS = 4, MOST_DIMS = 64, MOST_LEVELS = 16, SUM = 64, REG_SUM = 16 };

/* Rows and columns of a block, keys of a step; box: rows are points of several dims together;
 * whole: blocks have exactly these, the last ones the remainder. If evaluating a mapping takes
 * long, only the first few are tried. Rows of three warpgroups (192) suit some (size_suits). */
typedef struct {
  int64_t rows, columns, keys;
  bool box, whole;
} size;
static const size sizes[] = {
    {.rows = 128, .columns = 128, .keys = 128}, {.rows = 192, .columns = 128, .keys = 128},
    {.rows = 128, .columns = 128, .keys = 64},  {.rows = 192, .columns = 128, .keys = 64},
    {.rows = 128, .columns = 256, .keys = 64},  {.rows = 64, .columns = 128, .keys = 64},
    {.rows = 64, .columns = 64, .keys = 64},    {.rows = 128, .columns = 64, .keys = 64},
    {.rows = 32, .columns = 64, .keys = 32},    {.rows = 32, .columns = 128, .keys = 32},
    {.rows = 16, .columns = 64, .keys = 64},    {.rows = 16, .columns = 32, .keys = 32},
    {.rows = 64, .columns = 256, .keys = 64},   {.rows = 64, .columns = 32, .keys = 32},
    {.rows = 128, .columns = 32, .keys = 32},
};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_FORMS = 2 * N_SIZES };
static size size_at(int i, bool whole) {
  size s = sizes[i % N_SIZES];
  s.box = i >= N_SIZES;
  s.whole = whole;
  return s;
}
/* Numbers of blocks that share a sum (split.c), if there would be fewer blocks than
 * multiprocessors; then at most twice as many, each with at least LEAST_PIECES pieces of SUM, or
 * steps of keys. Keys of so few rows that one warp has all of them are shared by up to FEW_SHARES
 * blocks in any case, so that all warps have some (region.c). */
static const int64_t shares[] = {2, 3, 4, 6, 8, 11, 12, 16, 32};
enum {
  N_SHARES = sizeof shares / sizeof *shares,
  LEAST_PIECES = 2,
  MOST_WAVES = 2,
  MANY_WAVES = 16,
  FEW_SHARES = 4
};

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  int smem; /* the outermost memory that each block has for itself */
  size size;
  int64_t shares;         /* blocks that share each sum of the last group; 1: sums are not split */
  int n, group[MOST_OPS]; /* groups; of the i-th op, in the order of execution, its group */
  int64_t *block;         /* [dims] of the current group: elements of the dim in a block; 0: all */
  int row, column, keys;  /* of the current group; -1: none */
  bool windows;           /* some op reads windows */
  tf_build *out;
} former;

static const tf_op *op_at(const former *f, int i) { return &f->wl->ops[f->wl->topo[i]]; }

/* ---- properties of ops ---------------------------------------------------------------------- */

static bool has_output(const tf_op *op, int dim) {
  bool has = false;
  for (int k = 0; k < op->n_out_dims; k++)
    has |= op->dims[k] == dim;
  return has;
}

static bool reads_dim(const former *f, const tf_ref *ref, int dim) {
  return cu_box_moves(f->wl, ref, dim);
}

/* Whether the op reads a window of a tensor; made: of an intermediate only. */
static bool has_window(const former *f, const tf_op *op, bool made) {
  bool any = false;
  for (int i = 0; i < op->n_reads; i++)
    any |= (!made || f->wl->tensors[op->reads[i].tensor].producer >= 0) &&
           cu_box_is_window(f->wl, &op->reads[i]);
  return any;
}

/* The longest of the op's output dims that only the one operand has; -1: none. */
static int longest_of(const former *f, const tf_op *op, int read) {
  int best = -1;
  for (int k = 0; op->n_reads == 2 && k < op->n_out_dims; k++) {
    const int64_t n = f->wl->dims[op->dims[k]].extent;
    const bool is = reads_dim(f, &op->reads[read], op->dims[k]) &&
                    !reads_dim(f, &op->reads[1 - read], op->dims[k]);
    if (is && n > 1 && (best < 0 || n > f->wl->dims[op->dims[best]].extent)) best = k;
  }
  return best < 0 ? -1 : op->dims[best];
}

/* A product with rows or columns; of windows: with both. */
static bool is_matrix(const former *f, const tf_op *op) {
  const bool row = longest_of(f, op, 0) >= 0, column = longest_of(f, op, 1) >= 0;
  return ir_is_product(op) && (has_window(f, op, false) ? row && column : row || column);
}

/* Whether the tensor's producer is in the group. */
static bool is_made_in(const former *f, int z, int group) {
  bool made = false;
  for (int i = 0; i < f->n; i++)
    made |= f->group[i] == group && op_at(f, i)->out == z;
  return made;
}

static bool is_inside(const former *f, int z, int group) {
  const tf_tensor *t = &f->wl->tensors[z];
  bool inside = is_made_in(f, z, group) && t->n_consumers > 0;
  for (int i = 0; i < f->n; i++)
    for (int k = 0; k < t->n_consumers; k++)
      inside &= f->wl->topo[i] != t->consumers[k] || f->group[i] == group;
  return inside;
}

static int ops_of(const former *f, int group) {
  int n = 0;
  for (int i = 0; i < f->n; i++)
    n += f->group[i] == group;
  return n;
}

/* Whether all dims spread over blocks move the read: no two blocks read the same elements. */
static bool is_private(const former *f, const tf_ref *ref) {
  bool apart = f->wl->tensors[ref->tensor].producer < 0 && !cu_box_is_window(f->wl, ref);
  for (int d = 0; d < f->wl->n_dims; d++)
    apart &= !f->block[d] || f->block[d] >= f->wl->dims[d].extent || reads_dim(f, ref, d);
  return apart;
}

/* Words that an op writes or (ref) reads in a box with count[d] elements along each dim. */
static double words_of(const former *f, const tf_op *op, const tf_ref *ref, const int64_t *count) {
  int64_t length[MOST_DIMS];
  double words = 1;
  for (int d = 0; d < f->wl->n_dims; d++)
    length[d] = (f->wl->dims[d].extent + count[d] - 1) / count[d];
  if (ref && cu_box_is_window(f->wl, ref)) {
    for (int r = 0; r < f->wl->tensors[ref->tensor].rank; r++)
      words *= (double)cu_box_span(&ref->index[r], f->wl->tensors[ref->tensor].extent[r], length);
    return words;
  }
  for (int d = 0; d < f->wl->n_dims; d++)
    if (ref ? reads_dim(f, ref, d) : has_output(op, d))
      words *= (double)f->wl->dims[d].extent / (double)count[d];
  return words;
}

/* Whether some memory outside of blocks holds what all concurrent blocks access, while these have
 * count[d] steps of dim d in turn. */
static bool fits_in(const former *f, int group, const int64_t *count) {
  bool *done = calloc((size_t)f->wl->n_tensors + 1, sizeof *done);
  double words = 0;
  for (int i = 0; i < f->n && done; i++)
    for (int k = -1; k < op_at(f, i)->n_reads && f->group[i] == group; k++) {
      const tf_op *op = op_at(f, i);
      const int z = k < 0 ? op->out : op->reads[k].tensor;
      if (!done[z] && !is_inside(f, z, group))
        words += words_of(f, op, k < 0 ? NULL : &op->reads[k], count);
      done[z] = true;
    }
  free(done);
  const int64_t room = f->arch->memories[f->smem - 1].capacity_words;
  return room <= 0 || words <= (double)room;
}

/* What only one block reads bypasses the memories outside of blocks. `all`: every argument does, as
 * concurrent blocks read the same elements at about the same time, so that no memory has to hold
 * the whole. */
static void bypass(const former *f, int group, bool all) {
  bool *done = calloc((size_t)f->wl->n_tensors + 1, sizeof *done);
  for (int i = 0; i < f->n && done && f->smem > 1; i++)
    for (int k = 0; k < op_at(f, i)->n_reads && f->group[i] == group; k++) {
      const tf_ref *ref = &op_at(f, i)->reads[k];
      const bool given = f->wl->tensors[ref->tensor].producer < 0;
      if (!done[ref->tensor] && (all ? given : is_private(f, ref)))
        tf_build_bypass(f->out, (tf_named){.tensor = ref->tensor});
      done[ref->tensor] = true;
    }
  free(done);
}

/* ---- a group of ops ------------------------------------------------------------------------- */

/* How the ops of a group use a dim. */
typedef struct {
  bool has_max; /* a maximum reduces it, and stays in the group */
  int sums;     /* number of sums that reduce it */
  bool leaves;  /* it is a dim of an output that leaves the group */
  bool missing; /* some output, not a sum over it that leaves, lacks it */
} along;

static along along_of(const former *f, int group, int d) {
  along is = {0};
  for (int i = 0; i < f->n; i++) {
    const tf_op *op = op_at(f, i);
    if (f->group[i] != group) continue;
    const bool stays = is_inside(f, op->out, group), has = has_output(op, d);
    const bool reduced = !has && lower_find_dim(op, d) >= 0;
    is.has_max |= reduced && op->reduce == TF_REDUCE_MAX && stays;
    is.sums += reduced && op->reduce == TF_REDUCE_ADD;
    is.leaves |= has && !stays;
    is.missing |= !has && (stays || !reduced || op->reduce != TF_REDUCE_ADD);
  }
  return is;
}

/* Whether a dim that no output leaving the group has can be temporal: a maximum reduces it
 * (attention streams it), or only the group's last sum does (a chain of products). */
static bool is_in_steps(const former *f, int group, int d) {
  const along is = along_of(f, group, d);
  return is.sums && !is.leaves &&
         (is.has_max || (is.sums == 1 && !is.missing && ops_of(f, group) > 1));
}

/* The first such dim; -1: none. */
static int keys_of(const former *f, int group) {
  for (int d = 0; d < f->wl->n_dims; d++)
    if (is_in_steps(f, group, d)) return d;
  return -1;
}

/* The length of a block of rows or columns, of the current size. */
static int64_t block_of(const former *f, int64_t extent, int64_t most) {
  return f->size.whole && most < extent ? most : cu_box_even(extent, most);
}

/* Words of a block's row that the op writes or (ref) reads: split dims have one element. */
static double row_words(const former *f, const tf_op *op, const tf_ref *ref) {
  double words = 1;
  for (int d = 0; d < f->wl->n_dims; d++)
    if (d != f->row && !f->block[d] && (ref ? reads_dim(f, ref, d) : has_output(op, d)))
      words *= (double)f->wl->dims[d].extent;
  return words;
}

/* Rows for which a block's memory can hold the intermediates of the group (as float32, if space.c
 * places them there) and, beside these, what any single op accesses; at least one. */
static int64_t rows_that_fit(const former *f, int group) {
  double stays = 0, beside = 0;
  for (int i = 0; i < f->n; i++) {
    const tf_op *op = op_at(f, i);
    const bool inside = is_inside(f, op->out, group);
    double here = inside ? 0 : row_words(f, op, NULL);
    for (int k = 0; k < op->n_reads; k++)
      if (!is_inside(f, op->reads[k].tensor, group)) here += row_words(f, op, &op->reads[k]);
    if (f->group[i] != group) continue;
    if (inside) stays += row_words(f, op, NULL);
    if (here > beside) beside = here;
  }
  const double room = (double)f->arch->memories[f->smem].capacity_words,
               own = CU_SHARED_BYTES / sizeof(float);
  const double all = room / (stays + beside), rows = own / stays < all ? own / stays : all;
  return room <= 0 ? INT64_MAX : rows < 1 ? 1 : rows > 1e9 ? INT64_MAX : (int64_t)rows;
}

/* The group's only product, if its rows can be a box: all ops have their dims, and nothing is
 * streamed; NULL otherwise. */
static const tf_op *boxed_of(const former *f, int group, cu_box *b) {
  const tf_op *op = NULL;
  for (int i = 0; i < f->n; i++)
    if (f->group[i] == group && is_matrix(f, op_at(f, i))) {
      if (op) return NULL;
      op = op_at(f, i);
    }
  if (!op || !cu_box_find(f->wl, op, b) || keys_of(f, group) >= 0) return NULL;
  bool all = b->n > 1 || has_window(f, op, false);
  for (int i = 0; i < f->n && all; i++)
    for (int k = 0; f->group[i] == group && k < b->n; k++)
      all &= has_output(op_at(f, i), b->dim[k]);
  return all ? op : NULL;
}

static void find_box(former *f, const tf_op *op, cu_box *b) {
  int longest = 0;
  cu_box_fit(f->wl, op, f->size.rows, b);
  for (int i = 0; i < b->n; i++) {
    f->block[b->dim[i]] = b->side[i];
    if (b->side[i] > b->side[longest]) longest = i;
  }
  f->row = b->dim[longest], f->column = b->column;
  if (f->block[f->column])
    f->block[f->column] = block_of(f, f->wl->dims[f->column].extent, f->size.columns);
  f->keys = -1;
}

/* Distributes the rows of a group without a product over all output dims but the last, inner ones
 * first, as maps of images have a short first dim. Returns the length of the longest, the row. */
static int64_t fill_rows(former *f, const tf_op *op, int64_t rows) {
  int64_t longest = 1;
  for (int k = op->n_out_dims - 2; k >= 0; k--) {
    const int d = op->dims[k];
    if (!f->block[d]) continue;
    f->block[d] = cu_box_even(f->wl->dims[d].extent, rows);
    rows /= f->block[d];
    if (f->block[d] > longest) longest = f->block[d], f->row = d;
  }
  return longest;
}

/* The group's depthwise convolution; NULL: none. */
static const tf_op *depthwise_of(const former *f, int group, cu_depthwise *t) {
  for (int i = 0; i < f->n; i++)
    if (f->group[i] == group && cu_is_depthwise(f->wl, op_at(f, i), t)) return op_at(f, i);
  return NULL;
}

/* The part that a block's threads process at a time (shape.c): a row of pixels for each warp. */
static void find_window(former *f, const tf_op *op, const cu_depthwise *t) {
  for (int k = 0; k < op->n_out_dims; k++) {
    const int d = op->dims[k];
    const int64_t side = cu_window_side(t, k), most = k == t->channels ? f->size.columns
                                                      : k == t->pixel  ? side * f->size.rows / 64
                                                                       : side;
    const int64_t block = cu_box_least(f->wl->dims[d].extent, most);
    if (f->block[d]) f->block[d] = k == t->channels ? (block + 7) / 8 * 8 : block;
  }
  f->row = op->dims[t->pixel_row >= 0 ? t->pixel_row : t->pixel], f->column = op->dims[t->channels];
  f->keys = -1;
}

/* If the group has a product of stacked phases: all of these and their channels are a block's rows,
 * neighbours along the innermost dim its columns. */
static bool find_phases(former *f, int group) {
  const tf_op *op = NULL;
  int weights = -1;
  for (int i = 0; i < f->n && weights < 0; i++)
    if (f->group[i] == group) op = op_at(f, i), weights = cu_stacked_phases(f->wl, op);
  if (weights < 0) return false;
  for (int k = 0; k < op->n_out_dims; k++)
    if (reads_dim(f, &op->reads[weights], op->dims[k])) f->block[op->dims[k]] = 0;
  f->row = longest_of(f, op, weights), f->column = op->dims[op->n_out_dims - 1], f->keys = -1;
  if (f->block[f->column])
    f->block[f->column] = block_of(f, f->wl->dims[f->column].extent, f->size.columns);
  return true;
}

/* Sets the length of each dim in a block; false: the ops have no dim in common. */
static bool find_blocks(former *f, int group) {
  bool any = false;
  cu_box box;
  f->row = f->column = -1;
  for (int d = 0; d < f->wl->n_dims; d++) {
    bool all = true;
    for (int i = 0; i < f->n; i++)
      all &= f->group[i] != group || has_output(op_at(f, i), d);
    f->block[d] = all;
    any |= all;
  }
  cu_depthwise window;
  const tf_op *of_window = depthwise_of(f, group, &window);
  if (of_window) {
    find_window(f, of_window, &window);
    return any;
  }
  if (find_phases(f, group)) return any;
  const tf_op *boxed = boxed_of(f, group, &box);
  if (boxed && f->size.box) {
    find_box(f, boxed, &box);
    return any;
  }
  for (int i = f->n - 1; i >= 0; i--) /* the first product determines the rows */
    if (f->group[i] == group && is_matrix(f, op_at(f, i))) {
      const int b = longest_of(f, op_at(f, i), 1), a = longest_of(f, op_at(f, i), 0);
      const bool turned = a >= 0 && a == op_at(f, i)->dims[op_at(f, i)->n_out_dims - 1];
      f->row = turned ? b : a, f->column = turned ? a : b;
    }
  int64_t rows = f->size.rows;
  for (int i = 0; i < f->n && f->row < 0 && f->column < 0; i++)
    if (f->group[i] == group && op_at(f, i)->n_out_dims) {
      const tf_op *op = op_at(f, i);
      f->row = op->dims[0], f->column = op->dims[op->n_out_dims - 1];
      const int64_t most = rows_that_fit(f, group);
      if (most < rows) rows = most;
      if (f->windows) rows = fill_rows(f, op, rows);
    }
  if (f->row >= 0 && f->block[f->row])
    f->block[f->row] = rows > CU_GROUP_ROWS ? rows : block_of(f, f->wl->dims[f->row].extent, rows);
  if (f->column >= 0 && f->column != f->row && f->block[f->column])
    f->block[f->column] = block_of(f, f->wl->dims[f->column].extent, f->size.columns);
  f->keys = keys_of(f, group);
  if (f->keys >= 0 && f->wl->dims[f->keys].extent > f->size.keys)
    f->block[f->keys] = cu_box_even(f->wl->dims[f->keys].extent, f->size.keys);
  return any;
}

static int64_t length_of(const former *f, int d) {
  const int64_t all = f->wl->dims[d].extent;
  return f->block[d] && f->block[d] < all ? f->block[d] : all;
}

static void put_loop(const former *f, int dim, tf_axis axis, int64_t trip) {
  if (trip > 1) tf_build_loop(f->out, (tf_loop){.dim = dim, .axis = axis, .trip = trip});
}

static int64_t divisor(int64_t n, int64_t most) {
  int64_t best = most < n ? most : n;
  while (n % best)
    best--;
  return best;
}

/* Blocks of the group along a dim, without splitting sums. */
static int64_t count_of(const former *f, int d) {
  return f->block[d] && d != f->keys ? tf_ceil_div(f->wl->dims[d].extent, length_of(f, d)) : 1;
}

static bool has_streams(const former *f) { return f->keys >= 0 && f->block[f->keys]; }

/* The longest reduced dim of a group that is a single product; -1: the group is not. */
static int sum_of(const former *f, int group) {
  int best = -1;
  for (int i = 0; i < f->n; i++) {
    const tf_op *op = op_at(f, i);
    for (int k = op->n_out_dims; f->group[i] == group && ir_is_product(op) && k < op->n_dims; k++)
      if (best < 0 || f->wl->dims[op->dims[k]].extent > f->wl->dims[best].extent)
        best = op->dims[k];
  }
  return ops_of(f, group) == 1 ? best : -1;
}

/* Steps of the group's only product over its other reduced dims; at least 1, and no more than
 * matter. */
static int64_t steps_beside(const former *f, int group, int sum) {
  int64_t steps = 1;
  for (int i = 0; i < f->n; i++)
    for (int k = op_at(f, i)->n_out_dims; f->group[i] == group && k < op_at(f, i)->n_dims; k++)
      if (op_at(f, i)->dims[k] != sum && steps < LEAST_PIECES)
        steps *= f->wl->dims[op_at(f, i)->dims[k]].extent;
  return steps;
}

/* Whether n blocks may share each sum of the group: they divide its keys, or the reduced dim,
 * evenly. */
static bool may_share(former *f, int group, size of, int64_t n) {
  const tf_memory *home = &f->arch->memories[f->smem];
  int64_t blocks = 1, all = home->mesh[0] * home->mesh[1];
  f->size = of;
  if (!find_blocks(f, group)) return false;
  for (int d = 0; d < f->wl->n_dims; d++)
    if (__builtin_mul_overflow(blocks, count_of(f, d), &blocks)) return false;
  const bool few = has_streams(f) &&
                   (f->row < 0 || length_of(f, f->row) <= CU_FRAGMENT_SIDE); /* those of one warp */
  if (few ? n > FEW_SHARES && blocks >= all : blocks >= all) return false;
  if (blocks * n > (few ? MANY_WAVES : MOST_WAVES) * all) return false;
  const int64_t steps =
      has_streams(f) ? tf_ceil_div(f->wl->dims[f->keys].extent, f->block[f->keys]) : 0;
  /* prefers twice as many blocks, if each still finds a multiprocessor: their loads hide each
   * other's latency */
  const bool more = steps % (2 * n) == 0 && steps / (2 * n) >= LEAST_PIECES &&
                    2 * n <= shares[N_SHARES - 1] && blocks * 2 * n <= all;
  if (steps) return steps % n == 0 && steps / n >= LEAST_PIECES && !more;
  const int sum = sum_of(f, group);
  if (sum < 0 || f->wl->dims[sum].extent % n != 0) return false;
  const int64_t piece = f->wl->dims[sum].extent / n;
  return piece >= SUM && piece * steps_beside(f, group, sum) >= LEAST_PIECES * SUM &&
         (n <= home->mesh[0] || n <= home->mesh[1]);
}

/* The axis of the memory's mesh along which the parts of a sum lie: the shorter one that is long
 * enough; -1: the parts are of keys. */
static int axis_of_shares(const former *f) {
  const int64_t *mesh = f->arch->memories[f->smem].mesh;
  if (f->shares == 1 || has_streams(f)) return -1;
  return f->shares <= mesh[1] && (mesh[1] <= mesh[0] || f->shares > mesh[0]);
}

/* Blocks of a dim along an axis that has `room` instances. If the last block is shorter, all blocks
 * of the dim are spatial or none are, as the loop inside might be empty otherwise; with rows of
 * three warpgroups none are. */
static int64_t spread_of(const former *f, int d, const int64_t *count, int64_t room) {
  if (!f->block[d] || f->wl->dims[d].extent % f->block[d] == 0) return divisor(count[d], room);
  const bool three = d == f->row && f->size.rows > CU_GROUP_ROWS;
  return !three && count[d] <= room ? count[d] : 1;
}

/* The dim with most blocks, at most `room`, along an axis; of two alike the one that the other axis
 * does not have, so that concurrent blocks share both rows and columns. -1: none. */
static int longest_to_spread(const former *f, const int64_t *count, int64_t room,
                             const int64_t *other) {
  int best = -1;
  for (int d = 0; d < f->wl->n_dims; d++) {
    const int64_t n = spread_of(f, d, count, room),
                  most = best < 0 ? 0 : spread_of(f, best, count, room);
    if (n > most || (n == most && other[d] <= 1 && other[best] > 1)) best = d;
  }
  return best;
}

/* Loops over blocks: spatial ones as far as counts divide, the longest dims first; the rest is
 * temporal. */
static int tiles_above(former *f, int group, int parent) {
  int64_t count[MOST_DIMS], spread[2][MOST_DIMS] = {{0}};
  const tf_memory *home = &f->arch->memories[f->smem];
  const int axis_of = axis_of_shares(f), sum = axis_of < 0 ? -1 : sum_of(f, group);
  for (int d = 0; d < f->wl->n_dims; d++)
    count[d] = count_of(f, d);
  for (int axis = 0; axis < 2; axis++) {
    const int64_t room = home->mesh[axis] / (axis == axis_of ? f->shares : 1);
    for (int d = 0; d < f->wl->n_dims; d++)
      spread[axis][d] = 1;
    const int best = longest_to_spread(f, count, room, axis ? spread[0] : spread[1]);
    if (best >= 0)
      spread[axis][best] = spread_of(f, best, count, room), count[best] /= spread[axis][best];
    if (axis == axis_of)
      spread[axis][sum] = f->shares, f->block[sum] = f->wl->dims[sum].extent / f->shares;
  }
  parent = tf_build_tile(f->out, parent, 0);
  for (int d = 0; d < f->wl->n_dims; d++)
    put_loop(f, d, TF_TEMPORAL, count[d]);
  if (f->smem > 1)
    parent = tf_build_tile(f->out, parent, f->smem - 1),
    bypass(f, group, !fits_in(f, group, count));
  for (int axis = 0; axis < 2; axis++)
    for (int d = 0; d < f->wl->n_dims; d++)
      put_loop(f, d, axis ? TF_SPATIAL_Y : TF_SPATIAL_X, spread[axis][d]);
  if (!has_streams(f)) return parent;
  parent = tf_build_tile(f->out, parent, f->smem - 1);
  put_loop(f, f->keys, TF_TEMPORAL, f->shares);
  if (f->shares > 1) parent = tf_build_tile(f->out, parent, f->smem - 1);
  put_loop(f, f->keys, TF_TEMPORAL,
           tf_ceil_div(f->wl->dims[f->keys].extent, f->block[f->keys]) / f->shares);
  return parent;
}

/* ---- an op ---------------------------------------------------------------------------------- */

static void mesh_of(const former *f, int level, const tf_op *op, int64_t mesh[2]) {
  mesh[0] = mesh[1] = 1;
  if (level + 1 < f->arch->n_memories)
    mesh[0] = f->arch->memories[level + 1].mesh[0], mesh[1] = f->arch->memories[level + 1].mesh[1];
  for (int u = f->arch->n_units - 1; level + 1 == f->arch->n_memories && u >= 0; u--)
    if (!(op->kinds & ~f->arch->units[u].kinds))
      mesh[0] = f->arch->units[u].mesh[0], mesh[1] = f->arch->units[u].mesh[1];
}

/* Loops over instances (of rows) or units (of rows and columns) at a level; divides `left`. */
static void units_at(const former *f, const tf_op *op, int level, int64_t *left, tf_loop unit[2]) {
  const int last = op->n_out_dims ? op->dims[op->n_out_dims - 1] : -1;
  const int row = f->row >= 0 && has_output(op, f->row) ? f->row : last;
  const bool inmost = level + 1 == f->arch->n_memories;
  int64_t mesh[2];
  mesh_of(f, level, op, mesh);
  for (int axis = 0; axis < 2; axis++) {
    const int dim = inmost && axis == 0 ? last : row;
    unit[axis] = (tf_loop){.dim = dim, .axis = axis ? TF_SPATIAL_Y : TF_SPATIAL_X, .trip = 1};
    if (dim < 0 || (inmost && axis == 1 && row == last)) continue;
    unit[axis].trip = divisor(left[dim], mesh[axis]);
    left[dim] = tf_ceil_div(left[dim], unit[axis].trip);
  }
}

/* The piece of n elements of a dim that units process at a time. Pieces of keys are equal: a ragged
 * last one would reach into the next step's. */
static int64_t piece_of(const former *f, int d, int64_t n) {
  if (f->block[d] && d == f->keys) return divisor(n, REG_SUM);
  return n < REG_SUM ? n : REG_SUM;
}

/* What remains at a level of the op's k-th dim: a product's sum goes in pieces, its output lies
 * next to the units. */
static int64_t rest_at(const former *f, const tf_op *op, int k, int level, const int64_t *left) {
  const int inmost = f->arch->n_memories - 1;
  const int64_t n = left[op->dims[k]], piece = f->smem == inmost ? 1 : piece_of(f, op->dims[k], n);
  if (!ir_is_product(op)) return level == f->smem ? n : 1;
  if (k < op->n_out_dims) return level == inmost ? n : 1;
  return level == f->smem ? tf_ceil_div(n, piece) : level == inmost ? piece : 1;
}

/* The reduced dim along which a product multiplies: keys; else the longest, preferably one along
 * which an operand is contiguous; -1: the op is no product. */
static int multiplied_dim(const former *f, const tf_op *op) {
  int best = -1;
  int64_t most = 0;
  for (int k = op->n_out_dims; ir_is_product(op) && k < op->n_dims; k++) {
    const int d = op->dims[k];
    bool stands = false;
    for (int i = 0; i < op->n_reads; i++) {
      const int rank = f->wl->tensors[op->reads[i].tensor].rank;
      stands |= rank && cu_single_dim(&op->reads[i].index[rank - 1]) == d;
    }
    const int64_t n = f->wl->dims[d].extent, value = d == f->keys             ? INT64_MAX
                                                     : stands && n >= REG_SUM ? INT64_MAX / 2
                                                                              : n;
    if (value > most) best = d, most = value;
  }
  return best;
}

/* Cuts a long sum of a product; reduced dims other than the one along which it multiplies become
 * steps. */
static void put_op(const former *f, int o, int parent) {
  const tf_op *op = &f->wl->ops[o];
  int64_t left[MOST_DIMS];
  tf_loop unit[MOST_LEVELS][2];
  const int sum = multiplied_dim(f, op);
  for (int k = 0; k < op->n_dims; k++)
    left[op->dims[k]] = length_of(f, op->dims[k]);
  parent = tf_build_tile(f->out, parent, f->smem - 1);
  if (sum >= 0 && f->row >= 0 &&
      left[f->row] > CU_GROUP_ROWS) /* only one warpgroup's rows at a time have to be present */
    put_loop(f, f->row, TF_TEMPORAL, 3), left[f->row] = tf_ceil_div(left[f->row], 3);
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int d = op->dims[k];
    if (sum >= 0 && d != sum) put_loop(f, d, TF_TEMPORAL, left[d]), left[d] = 1;
    if (sum < 0 || (f->block[d] && d == f->keys) || left[d] <= 4 * SUM) continue;
    put_loop(f, d, TF_TEMPORAL, tf_ceil_div(left[d], SUM));
    left[d] = SUM;
  }
  for (int l = f->smem; l < f->arch->n_memories; l++)
    units_at(f, op, l, left, unit[l]);
  for (int l = f->smem; l < f->arch->n_memories; l++) {
    parent = tf_build_tile(f->out, parent, l);
    for (int k = 0; k < op->n_dims; k++)
      put_loop(f, op->dims[k], TF_TEMPORAL, rest_at(f, op, k, l, left));
    for (int axis = 0; axis < 2; axis++)
      put_loop(f, unit[l][axis].dim, unit[l][axis].axis, unit[l][axis].trip);
  }
  tf_build_op(f->out, parent, o);
}

/* ---- trees ---------------------------------------------------------------------------------- */

static bool put_group(former *f, int group, int parent) {
  if (!find_blocks(f, group)) return false;
  parent = tiles_above(f, group, parent);
  if (ops_of(f, group) > 1) {
    parent = tf_build_scope(f->out, parent, TF_SEQ);
    for (int i = 0; i < f->n; i++)
      if (is_inside(f, op_at(f, i)->out, group))
        tf_build_keep(f->out, (tf_keep){.tensor = op_at(f, i)->out, .level = f->smem});
    for (int i = 0; i < f->n && has_streams(f) && along_of(f, group, f->keys).has_max; i++)
      if (f->group[i] == group && lower_find_dim(op_at(f, i), f->keys) >= op_at(f, i)->n_out_dims)
        tf_build_stream(f->out, (tf_named){.tensor = op_at(f, i)->out});
  }
  for (int i = 0; i < f->n; i++)
    if (f->group[i] == group) put_op(f, f->wl->topo[i], parent);
  return true;
}

/* The first op after the last product that reduces, in a group of its own: it normalises rows of
 * the product, of which a block may have a part only. The number of ops: none. */
static int first_after(const former *f) {
  int first = f->n;
  for (int i = f->n - 1; i >= 0 && !is_matrix(f, op_at(f, i)); i--)
    if (op_at(f, i)->reduce != TF_ASSIGN) first = i;
  return first;
}

/* Cuts the ops into groups: each product after the first op begins a group if its bit is set, and
 * so does a reduction after the last product; a reader of a window of an intermediate always does.
 * Returns the number of bits. */
static int cut_into_groups(former *f, unsigned cuts) {
  const int behind = first_after(f);
  int n = 0, group = 0;
  for (int i = 0; i < f->n; i++) {
    if (i && has_window(f, op_at(f, i), true))
      group++;
    else if (i && n < MOST_CUTS && (i == behind || is_matrix(f, op_at(f, i))))
      group += (cuts >> n++ & 1) != 0;
    f->group[i] = group;
  }
  return n;
}

/* The tree, or NULL, if it violates a rule or a block is empty. Sizes of the first group's blocks,
 * and of all others'; the number of blocks that share a sum of the last group. */
static tf_tree *build(former *f, size first, size other, int64_t n_shares) {
  const int groups = f->group[f->n - 1] + 1;
  f->out = tf_build_new(f->arch, f->wl, NULL);
  if (!f->out) return NULL;
  int parent = -1;
  if (groups > 1) parent = tf_build_scope(f->out, tf_build_tile(f->out, -1, 0), TF_SEQ);
  bool ok = true;
  for (int g = 0; g < groups && ok; g++) {
    f->size = g ? other : first;
    f->shares = g == groups - 1 ? n_shares : 1;
    ok = put_group(f, g, parent);
  }
  if (ok) return tf_build_tree(f->out);
  tf_build_free(f->out);
  return NULL;
}

/* ---- choice of sizes ------------------------------------------------------------------------ */

/* Whether blocks of the group may have the current size. Those of three warpgroups are for steps of
 * keys whose exponentials take as long as the products: up to 64 columns. */
static bool size_suits(former *f, int group) {
  if (f->size.rows <= CU_GROUP_ROWS) return true;
  bool narrow = has_streams(f) && along_of(f, group, f->keys).has_max;
  for (int i = 0; i < f->n && narrow; i++) {
    const tf_op *op = op_at(f, i);
    if (f->group[i] != group || !ir_is_product(op) || has_output(op, f->keys)) continue;
    const int n = longest_of(f, op, 1);
    narrow = n >= 0 && f->wl->dims[n].extent <= CU_TURN_ROWS;
  }
  return narrow;
}

/* The different sizes for a group, whose dims may be shorter than these; returns how many. anew:
 * whether the size differs from the one without `whole`. */
static int sizes_of(former *f, int group, bool whole, size which[N_FORMS], bool anew[N_FORMS]) {
  int64_t seen[N_FORMS][MOST_DIMS] = {{0}}, plain[MOST_DIMS] = {0};
  cu_box box;
  const bool boxed = boxed_of(f, group, &box) != NULL;
  int n = 0;
  for (int i = 0; i < (boxed ? N_FORMS : N_SIZES); i++) {
    for (int k = 0; k <= whole; k++) {
      f->size = size_at(i, k);
      if (!find_blocks(f, group)) return 0;
      for (int d = 0; d < f->wl->n_dims; d++)
        (k == whole ? seen[n] : plain)[d] = length_of(f, d);
    }
    bool new = size_suits(f, group);
    for (int k = 0; k < n; k++)
      new &= memcmp(seen[k], seen[n], sizeof *seen) != 0;
    anew[n] = whole && memcmp(plain, seen[n], sizeof plain) != 0;
    if (new) which[n++] = f->size;
  }
  return n;
}

/* The first group with a product; 0 if there is none. */
static int first_product(const former *f) {
  for (int i = 0; i < f->n; i++)
    if (is_matrix(f, op_at(f, i))) return f->group[i];
  return 0;
}

/* The k-th tree of the cut with such blocks, or the next that can be built; NULL: there are fewer,
 * and *k decreases by their number. With two groups all pairs of sizes are tried, with more the
 * first product's for all; whole sums come first. */
static tf_tree *tree_of_blocks(former *f, bool whole, int *k) {
  const int groups = f->group[f->n - 1] + 1;
  size first[N_FORMS], other[N_FORMS];
  bool anew[N_FORMS], other_anew[N_FORMS] = {false};
  const int n = sizes_of(f, groups > 2 ? first_product(f) : 0, whole, first, anew),
            m = groups == 2 ? sizes_of(f, 1, whole, other, other_anew) : 1;
  for (int i = 0; i < n * m * (1 + N_SHARES); i++) {
    const int at = i % (n * m), share = i / (n * m);
    const size one = first[at / m], two = groups == 2 ? other[at % m] : one;
    if (whole && !anew[at / m] && !other_anew[at % m]) continue;
    if (share && !may_share(f, groups - 1, two, shares[share - 1])) continue;
    if (*k > 0) {
      --*k;
      continue;
    }
    tf_tree *t = build(f, one, two, share ? shares[share - 1] : 1);
    if (t) return t;
  }
  return NULL;
}

static tf_tree *tree_of_cut(former *f, int *k) {
  tf_tree *t = tree_of_blocks(f, false, k);
  return t ? t : tree_of_blocks(f, true, k);
}

/* Whether tensor cores multiply all windows, if there are any, or a depthwise convolution reads
 * from tiles; other workloads are left to the search. */
static bool may_propose(const former *f) {
  cu_depthwise t;
  bool may = !f->windows;
  for (int i = 0; i < f->n; i++)
    may |= cu_window(f->wl, op_at(f, i)) >= 0 || cu_is_depthwise(f->wl, op_at(f, i), &t) ||
           cu_stacked_phases(f->wl, op_at(f, i)) >= 0;
  return may;
}

tf_tree *cu_form(const tf_arch *arch, const tf_workload *wl, int k) {
  former f = {.arch = arch, .wl = wl, .smem = cu_home(arch), .n = wl->n_ops};
  int64_t block[MOST_DIMS] = {0};
  f.block = block;
  if (!f.smem || wl->n_ops > MOST_OPS || wl->n_dims > MOST_DIMS || arch->n_memories > MOST_LEVELS)
    return NULL;
  cu_depthwise t0;
  bool any = false;
  for (int i = 0; i < f.n; i++) {
    any |= is_matrix(&f, op_at(&f, i)) || cu_is_depthwise(wl, op_at(&f, i), &t0);
    f.windows |= has_window(&f, op_at(&f, i), false);
  }
  any &= may_propose(&f);
  const int n = cut_into_groups(&f, 0);
  tf_tree *t = NULL;
  for (unsigned cuts = 0; any && !t && cuts < 1u << n; cuts++) {
    cut_into_groups(&f, cuts);
    t = tree_of_cut(&f, &k);
  }
  return t;
}
