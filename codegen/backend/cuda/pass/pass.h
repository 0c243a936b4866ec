/* Passes of CUDA: what a mapping leaves as loops becomes blocks of a grid, tiles in shared memory,
 * and threads. */
#ifndef CODEGEN_BACKEND_CUDA_PASS_PASS_H
#define CODEGEN_BACKEND_CUDA_PASS_PASS_H
#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/note/note.h"
#include "codegen/lower/lower.h"
#include "model/input/masked.h"

/* space.c: the spaces, by their place in it. */
enum { CU_GLOBAL, CU_SHARED, CU_SCRATCH, CU_FRAGMENT };
/* And the queues: pieces of 16 bytes that threads copy; boxes of tensors, which one thread asks for
 * (sm_90a). */
enum { CU_PIECES, CU_BOXES };
/* A block's threads (threadIdx.y is mapped to IR_WARP, threadIdx.x to IR_LANE), and bytes of shared
 * memory that it may have: of a GPU since sm_80; of any OpenCL device (CU_LEAST_BYTES: OpenCL 1.2,
 * CL_DEVICE_LOCAL_MEM_SIZE). */
enum {
  CU_ROWS = 8,
  CU_LANES = 32,
  CU_WARPS = CU_ROWS,
  CU_SHARED_BYTES = 96 * 1024,
  CU_LEAST_BYTES = 32 * 1024
};
/* Of an output: rows and neighbours that a block does point by point; rows and columns that it
 * multiplies on tensor cores. */
enum { CU_PIECE_ROWS = 64, CU_PIECE_LANES = 64, CU_PIECE_MATRIX = 128 };
/* sm_90a: rows that two warpgroups multiply together in a block, 16 a warp, that three do, and that
 * one has by itself where two multiply blocks in turn; warps of each; columns at most; bytes of a
 * row of a tile that boxes fill, and of those that an instruction multiplies at a time; the
 * multiple of bytes that steps of tensors must be of; ranks that a box may have, its length along
 * each, and elements from one that it takes to the next; bytes of shared memory, of which tiles
 * that leave (of each warpgroup) and barriers (two for each of 8 tiles of 8 products, and for those
 * that last) take some. */
enum {
  CU_GROUP_ROWS = 128,
  CU_TURN_ROWS = CU_GROUP_ROWS / 2,
  CU_THREE_ROWS = CU_GROUP_ROWS + CU_TURN_ROWS,
  CU_GROUP_WARPS = 4,
  CU_GROUP_COLUMNS = 256,
  CU_PANEL = 128,
  CU_STEP_BYTES = 32,
  CU_BOX_BYTES = 16,
  CU_BOX_RANKS = 5,
  CU_BOX_SIDE = 256,
  CU_BOX_STEP = 8
};
enum { CU_GROUP_SHARED = 227 * 1024, CU_LEAVING_BYTES = 16 * 1024, CU_BARRIER_BYTES = 1152 };
extern const ir_platform lower_cuda_platform;

/* multiply.c: an instruction of tensor cores.  kernel: its types, what it multiplies at a time
 * (m_round, n_round, k_round), and neighbours along the sum in a register (group). */
typedef struct {
  ir_kernel kernel;
  const char *dtype; /* of the user who asks for it */
  const char *type;  /* what its operations are called by */
  const char *ptx;   /* shape and types */
  const char *sass;  /* what it is in machine code */
  bool turns;        /* ldmatrix loads it with the rows as columns */
  bool wmma;         /* fragments as C++ has them (mma.h): nobody knows which lane has what */
} cu_mma;
/* The i-th; NULL: there are no more. */
const cu_mma *cu_mma_at(int i);
/* The program's; NULL: all is done on the plain units. */
const cu_mma *cu_mma_of(const ir_program *p);
/* matrix.c: that of the op's products.  Of float8 some are of bfloat16, and tiles become that on
 * their way to shared memory: those by what a kernel made, which fits no float8 without a scale,
 * and those of neighbours across the sum, which lanes would gather byte by byte. */
const cu_mma *cu_mma_for(const ir_program *p, const tf_op *op);
/* Bits of ir_machine.own: a group of warps multiplies at a time, from tiles that boxes of tensors
 * fill (sm_90a); nothing is asked of a GPU that OpenCL does not promise of every device. */
enum { CU_MAY_GROUP = 1, CU_IS_LEAST = 2 };
static inline bool cu_may_group(const ir_program *p) { return p->machine.own & CU_MAY_GROUP; }
static inline bool cu_is_least(const ir_program *p) { return p->machine.own & CU_IS_LEAST; }
/* The machine for data of that name (NULL: f32), wmma: by the fragments of C++; false: there is
 * none. */
bool cu_machine(const char *dtype, bool wmma, ir_machine *machine);
/* Whether tensor cores add the program's products up in fewer bits than float32 has (float8:
 * SageAttention2 found 13 behind the point on Ada and Hopper): what they make of a part of the sum
 * is then added to the sums by the plain units. */
bool cu_has_short_sums(const ir_program *p);
/* Whether machine code has products of halves where the op's mma.sync says float8, two for each:
 * Hopper's tensor cores multiply bytes by wgmma alone, and ptxas widens the operands. */
bool cu_is_widened(const ir_program *p, const tf_op *op);
/* Rows and columns of a warp by wmma at most: two by two fragments. */
enum { CU_WMMA_SIDE = 32, CU_WMMA_ROOM = CU_WARPS * 16 * 16 * 4 };
/* Whether the program multiplies so. */
bool cu_is_wmma(const ir_program *p);

/* matrix.c: what tensor cores multiply.  Rows and columns of fragments come in sixteens. */
enum { CU_FRAGMENT_SIDE = 16 };
static inline int64_t cu_sides_up(int64_t n) {
  return (n + CU_FRAGMENT_SIDE - 1) / CU_FRAGMENT_SIDE * CU_FRAGMENT_SIDE;
}
/* A length along the sum as the program's instruction has it, in sixteens at least. */
int64_t cu_sums_up(const ir_program *p, int64_t n);
/* Whether a nest is a product of matrices for the program's instruction and which dims are its; its
 * other dims may have more settings than one. */
bool cu_roles(const ir_program *p, const ir_stmt *s, cu_matrices *t);
/* Whether a convolution has so few channels that a product sums over all of its window and them at
 * once, and enough of both. */
bool cu_has_few_channels(const tf_workload *wl, const tf_op *op);
/* Sets, by position, which of its dims such a convolution goes over in steps all the same: its
 * window and channels are too many for one product. */
void cu_find_stepped(const tf_workload *wl, const tf_op *op, bool *stepped);
/* How many channels of a convolution one product sums over, with all of the window, where an
 * input's pixels are neighbours and the weights have the window behind the channels (NCHW): pieces
 * of a row of weights then stand together; 0: the op is none, or its channels do not divide so. The
 * same of a nest that has all of the window, and some channels of which such chunks are parts, in
 * halves. */
int64_t cu_chunk(const tf_workload *wl, const tf_op *op);
int64_t cu_chunk_of(const ir_program *p, const ir_stmt *s);
/* count.c: the length of the sum of a product of fragments. */
int64_t cu_sum_length(const ir_program *p, const ir_stmt *s);
/* The read of a convolution that moves as a window does, with output and summed dims in one index
 * or in steps, where the other read has columns of its own (not depthwise) and both have eight
 * channels, or few; -1: the op is none. */
int cu_window(const tf_workload *wl, const tf_op *op);
/* The same of a convolution (cu_window) whose pixels are rows, along several dims, whatever the
 * order of the output's, and whose sum goes along channels; m is one of the dims. */
bool cu_roles_of_pixels(const ir_program *p, const ir_stmt *s, cu_matrices *t);
/* How a matrix stands in shared memory: rows of `pitch` pieces of 16 bytes, of which `pieces` are
 * used; piece i of row r is at i ^ (r >> shift & mask), so that eight rows of a column of pieces
 * lie in different banks. */
typedef struct {
  int64_t rows, pieces, pitch;
  int shift, mask;
} cu_tile;
cu_tile cu_tile_of(const ir_buffer *b);
/* count.c: whether each thread copies a piece of some of its rows, in as many turns; else pieces in
 * turn. */
bool cu_is_by_rows(const cu_tile *t);
/* count.c: bytes, at most 16, on which all rows of a tile begin in memory, if arrays have no gaps
 * and begin on 16. */
int64_t cu_row_begins(const ir_program *p, const ir_stmt *s);
/* Whether a copy fills the tile, or some of it, or either. */
enum { CU_FULL = 1, CU_SOME = 2 };
int cu_lengths_of(const ir_program *p, const ir_stmt *s, const cu_tile *t);
/* count.c: elements from one place of a rank to the next in an array without gaps. */
int64_t cu_dense_step(const ir_program *p, const ir_buffer *from, int rank);
/* Whether a copy puts together pieces of elements that stand apart, at distances that are known if
 * the array is dense; whether one of a window and its channels is of rows that stand together then.
 */
bool cu_is_gathered(const ir_program *p, const ir_stmt *s);
bool cu_is_together(const ir_program *p, const ir_stmt *s);
/* Threads that have a row of such a tile together; the pieces that each has at most of all its
 * rows. */
int64_t cu_sharers(const ir_program *p, const ir_stmt *s);
int64_t cu_share_of(const ir_program *p, const ir_stmt *s);
/* Places of the window that may lie outside of the tensor, each tested once for a row: the columns'
 * parts along such ranks, the last fastest. */
ir_stack cu_places(const ir_program *p, const ir_stmt *s);
/* Bytes of all slots of a buffer. */
int64_t cu_bytes(const ir_buffer *b);

/* multiply.c: the memory that each block has for itself; 0: there is none. */
int cu_home(const tf_arch *a);
/* Whether a kernel finds inputs, and leaves outputs, there: what a block has of its own is gone
 * when it ends. */
bool cu_reaches(const tf_arch *a, int level);
/* shape.c: bytes of shared memory that a block may have. */
int64_t cu_shared_bytes(const ir_program *p);
/* Whether one nest may take the rest of op's own loops: what it makes is a few tiles. */
bool lower_cuda_close_by(const lowering *w, int op);
/* Whether an intermediate in global memory may be rounded: products on tensor cores alone read it.
 */
bool lower_cuda_narrow(const lowering *w, int z);
/* Positions of the output's dims that go along lanes and rows; -1: there is none. */
typedef struct {
  int lanes, rows;
} cu_sides;
cu_sides cu_sides_of(const ir_program *p, const ir_stmt *s);
/* The longest dim that a nest sums over, by position; -1: none.  Whether a warp's lanes share each
 * of its sums: they have not enough of its points, and the sum is long. */
int cu_longest_sum(const ir_program *p, const ir_stmt *s);
bool cu_lanes_share(const ir_program *p, const ir_stmt *s);
/* Of a product of bytes, where the machine has an instruction that multiplies a few of them and
 * adds the products to a sum of 32 bits (a dot product: OpenCL): the position of the summed dim
 * along which it takes neighbours, most of which are neighbours in memory; -1: it does not do this
 * one. */
int cu_dot_of(const ir_program *p, const ir_stmt *s);
/* Whether the op is a depthwise convolution whose outputs of a channel are not columns of a product
 * on tensor cores. */
bool cu_is_depthwise(const tf_workload *wl, const tf_op *op, cu_depthwise *t);
/* Whether a nest is all of the window of such a one, of data in halves that are in
 * global memory: lanes have two neighbours of the channels each, rows of the block CU_ROWS pixels.
 */
bool cu_depthwise_of(const ir_program *p, const ir_stmt *s, cu_depthwise *t);
/* How long a block's piece of it is along the output's k-th dim, at most: a row of pixels a warp,
 * or, of those along one dim, as many a lane. */
int64_t cu_window_side(const cu_depthwise *t, int k);
/* Whether products multiply what the op makes: then two points are rounded by one instruction. */
bool cu_is_multiplied(const ir_program *p, const tf_op *op);
/* Instructions beside those of a point (`multiprocessor.point`) for the places of a window that are
 * read from global memory one by one, and to test whether they are padding: of a depthwise 3 x 3 of
 * 144 channels on sm_90a, 16 in all without and 19 with padding, in float32 17 (nvcc 13.0). */
double cu_places_of(const ir_program *p, const ir_stmt *s);
/* What a thread of such a nest (cu_note.window) does: instructions, and of these its sums and all
 * that plain units do; words that it reads of shared memory. */
typedef struct {
  double issued, summed, plain, read;
} cu_window_work;
cu_window_work cu_window_work_of(const ir_program *p, const ir_stmt *s);
/* How long a piece of the output's k-th dim is that a block works on at a time. */
int64_t cu_piece(const ir_program *p, const ir_stmt *s, int k);
/* The same of what a block of an op alone has: of a convolution of few pixels all. */
int64_t cu_block(const ir_program *p, const ir_stmt *s, int k);
/* The only loop of a body, which may have lets before it; NULL: there is no such loop. */
ir_stmt *cu_only_loop(const ir_body *b);
/* Appends a loop, and opens its body: the step. */
ir_atom cu_open_for(lowering *w, ir_map map, int dim, int64_t trip, lower_mark *mark);
/* Appends the statement with other ranges (NULL: its own). */
ir_stmt *cu_again(lowering *w, const ir_stmt *s, const ir_range *range);
ir_range *cu_ranges(lowering *w, const ir_stmt *s);
/* Room for so many buffers more. */
void cu_grow(lowering *w, int more);
/* Gives every nest at or below the list explicit source buffers, so that these can be replaced. */
void cu_name_reads(lowering *w, const ir_body *b);
/* Says when the sum of `s`, a step of `of`, starts: where all its lower ends are 0, or, of a part
 * (nest.part), where that starts in `of` and the step is 0. */
void cu_set_fresh(lowering *w, const ir_stmt *of, ir_stmt *s, ir_atom step);
/* Appends a let that gives the variable the value. */
void cu_set_var(lowering *w, int var, ir_atom value);
/* Puts in place of each statement of the body that computes at points, wherever it stands, what
 * `make` appends; but not of those that warps do already. */
void cu_replace(lowering *w, ir_body *b, void (*make)(lowering *w, const ir_stmt *s));

/* The dim that an index is, alone; -1. */
static inline int cu_alone(const tf_index *ix) {
  return ix->n_terms == 1 && lower_is_dim(ix, ix->terms[0].dim) ? ix->terms[0].dim : -1;
}
/* What a statement that computes at points reads or writes: a buffer, at the indices of `ref`, or
 * (NULL) at the dims of the op that makes its tensor. */
typedef struct {
  int buffer;
  const tf_ref *ref;
  bool writes;
} cu_access;
enum { CU_MOST_ACCESSES = 16 };
/* -1: more than there is room for. */
int cu_accesses(const ir_program *p, const ir_stmt *s, cu_access *a);
/* Statements at or below the list that touch the buffer. */
int cu_touches(const ir_program *p, ir_stmt *const *s, int n, int buffer);

/* Whether the loop is that over the warps of a region, in which they have fragments. */
bool cu_is_region(const ir_program *p, const ir_stmt *loop);
/* Warps of warpgroups that have a block of so many rows, 16 each. */
int cu_group_warps(int64_t rows);
/* Whether a part of the program is of warpgroups: boxes fill its tiles; whether they multiply its
 * blocks in turn, each one by itself, so that what one does with its sums is beside the other's
 * products; columns that a block of them has at most. */
bool cu_is_groups(const ir_stmt *part);
bool cu_is_in_turns(const ir_stmt *part);
/* Warpgroups of a part that multiply. */
int cu_groups_of(const ir_stmt *part);
int cu_group_columns(const ir_program *p);
/* multistage_smem.c: the rows of a block that one of two warpgroups has, as a box: half of them
 * along the first dim. False: they are none. */
bool cu_half_of_stack(const ir_stack *all, ir_stack *half);
/* cluster.c: whether blocks 2 i and 2 i + 1 of a part of warpgroups are to be a cluster, and which
 * tiles (`same`, of n_buffers) are the same in both, so that each brings half of them for both. */
bool cu_cluster(const ir_program *p, const ir_stmt *part, bool *same);
/* The statement behind the i-th that copies what that, a product, makes, if nobody else touches it;
 * else NULL. */
const ir_stmt *cu_saved_by(const ir_program *p, const ir_body *b, int i);
/* Writes the body anew, outside of the loops that warps share: `instead` writes a statement, and
 * the one that saves what it makes (NULL: none), or returns false, and both stay as they were. */
void cu_each_with_save(lowering *w, ir_body *b,
                       bool (*instead)(lowering *w, const ir_stmt *s, const ir_stmt *save));
/* What it copies holds but these ranges of its op's output. */
void cu_narrow(lowering *w, const ir_stmt *save, const ir_range *r);

/* block.c: what variables are in one block; those that nobody has set are 0, as in the first step
 * of every loop. */
enum { CU_MOST_VALUES = 256 };
typedef struct {
  int n, var[CU_MOST_VALUES];
  int64_t value[CU_MOST_VALUES];
} cu_values;
int64_t cu_value(const cu_values *v, ir_atom a);
/* False: there is no room. */
bool cu_set(cu_values *v, int var, int64_t value);
bool cu_let(cu_values *v, const ir_stmt *let);
/* Of each copy of a part, in the order of its text: how many blocks' tiles come from outside of L2,
 * if `wave` blocks run at a time, those of one wave that bring the same do so at about the same
 * time, and nothing else stays there. */
void cu_shared_tiles(const ir_program *p, const ir_stmt *part, int64_t wave, int copies,
                     double *of);
/* Elements that a copy brings, and how many of these differ; and (words), of each copy of a part
 * into stacked rows, those that a block's steps have in all, each once: steps of a window bring
 * most of them again; of others INFINITY. share: of each buffer, how much of it such copies read at
 * all. */
int64_t cu_copied(const ir_program *p, const ir_stmt *s);
double cu_distinct(const ir_program *p, const ir_stmt *s);
/* Bytes that a copy asks L2 for: of a window each element once, as what is read again is near; of
 * elements of which neighbouring threads read none that are neighbours, what comes with each. */
double cu_delivered(const ir_program *p, const ir_stmt *s);
void cu_spanned(const ir_program *p, const ir_stmt *part, int copies, double *words, double *share);

/* skip.c: the statement that masks the scores of a loop over keys, if nothing is needed of steps in
 * which it leaves none (warps: the loop around over warps, of a part of warpgroups); else NULL.
 * What share of the steps is left: of all blocks in the mean, and of the one with most; and of
 * those left what share the mask leaves some of. */
const ir_stmt *cu_mask_of(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop,
                          tf_mask *m);
typedef struct {
  double mean, most, cut;
} cu_left;
cu_left cu_steps_left(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop);

/* mapping_templates.c: as tf_emit_form. */
tf_tree *cu_form(const tf_arch *arch, const tf_workload *wl, int k);
/* cost.c: what the kernels take, unit by unit; and, of a mapping lowered for a
 * target, in all (as tf_emit_cycles). */
tf_times cu_times(const ir_program *p);
tf_times cu_times_of(const ir_program *p, const ir_stmt *part); /* of one of them */
double cu_cycles(const tf_tree *tree, const lower_target *target, const ir_machine *machine,
                 tf_diags *d);
/* warp_specialize.c: a part of warpgroups as a pipe: one of them brings tiles, the others take
 * them, and a ring of `depth` tiles is between; cycles, of one multiprocessor.  A step is a tile of
 * the ring. */
typedef struct {
  double steps, depth; /* of a block; 0 steps: it is no such part */
  double brings;       /* a step, of who brings; latency: until what has been asked for is there */
  double takes, latency;
  double behind; /* a block, of who takes: what is done behind its last step */
  double blocks; /* one after the other */
  bool in_turns; /* what is behind a block is beside the next one's steps (cu_is_in_turns) */
} cu_pipe;
/* From a step to the next when the ring is full; all blocks. */
double cu_pipe_each(const cu_pipe *p);
double cu_pipe_all(const cu_pipe *p);
/* cost.c: that of a part of the program. */
cu_pipe cu_pipe_of(const ir_program *p, const ir_stmt *part);
/* Instructions that a warp of it issues in a step of its innermost loop with most products, and
 * those of tensor cores and multiply-adds of depthwise convolutions among them; in all of a block
 * where no loop has any. */
typedef struct {
  double issued, multiplied, summed;
} cu_step;
cu_step cu_step_of(const ir_program *p, const ir_stmt *part);
/* Multiply-adds a cycle of one multiprocessor in the program's type: the fastest unit's, of twice
 * the bytes half. */
double cu_rate(const ir_program *p);
/* The registers that a thread of a part needs by how that is printed; of warpgroups those that it
 * has when it begins.
 */
double cu_registers(const ir_program *p, const ir_stmt *part);
/* cost.c: how many multiprocessors the architecture has. */
int64_t cu_multiprocessors(const ir_program *p);
/* cost.c: blocks that a part's registers are limited for, so that these are on a multiprocessor at
 * a time: 1 to 3. */
int cu_blocks_at_once(const ir_program *p, const ir_stmt *part);
/* count.c: instructions in a part's machine code, if nvcc unrolls what it is asked to, and nothing
 * else. */
typedef struct {
  int64_t multiplied, loaded, copied;
} cu_counts;
cu_counts cu_count(const ir_program *p, const ir_stmt *part);
/* Whether ldmatrix brings an operand of a product: the sum along neighbours, or what can be turned.
 */
bool cu_is_loaded(const ir_program *p, const ir_stmt *s, int read);
/* Steps of a product's sum that machine code has one behind the other, in a loop over the rest: one
 * of operands that are widened, or whose bytes are put together one by one; some of many, as ptxas
 * would load more ahead than there are registers; all of rows that are fragments, which no loop can
 * number. */
int64_t cu_steps_at_a_time(const ir_program *p, const ir_stmt *s);
/* Blocks, of so many registers a thread and bytes of shared memory, that a multiprocessor has at a
 * time; at least 1. */
double cu_resident(const tf_multiprocessor *m, double registers, double shared);
/* Whether a product on tensor instructions is among them; a depthwise convolution from a tile. */
bool cu_multiplies(const ir_body *b);
bool cu_has_window(const ir_body *b);
/* Whether a loop's steps are two products, of which the second's rows are what became of the first,
 * and warpgroups do the work in between in turn. */
bool cu_has_turns(const ir_program *p, const ir_body *b);

/* grid.c: every statement of the program becomes a loop over blocks: those that write nothing in
 * common, or pieces of an output. */
void lower_cuda_grid(lowering *w);
/* Pieces of what a statement goes over become blocks, with the statement that copies it (NULL:
 * none). */
void cu_spread_points(lowering *w, const ir_stmt *s, const ir_stmt *save);
/* split.c: of few blocks each has a part of a sum; a kernel behind puts the parts together. */
void lower_cuda_split(lowering *w);
/* tile.c: what a block does at a time is a piece of the output. */
void lower_cuda_tile(lowering *w);
/* tensor.c: products go to tensor cores.  First where all that a block does can stay in the
 * registers of warps, each of which has rows of it; then, when it is in pieces, product by product.
 */
void lower_cuda_tensor_rows(lowering *w);
void lower_cuda_tensor(lowering *w);
/* skip.c: whether the sums of a product of fragments begin in the first step of the loop alone, so
 * that they can be zero before it. */
bool cu_begins_before(const ir_program *p, const ir_stmt *loop, const ir_stmt *s);
/* stage.c: arguments that sums read again and again come to shared memory, a piece of the sum after
 * the other, the next one while one is worked on. */
void lower_cuda_stage(lowering *w);
/* thread.c: points go to threads. */
void lower_cuda_threads(lowering *w);
/* share.c: the bytes of shared memory that a block of a part needs, and (NULL: not asked for) where
 * each buffer stands in them; 0 for warpgroups, whose tiles are placed with their barriers. */
int64_t cu_share(const ir_program *p, const ir_stmt *part, int64_t *offset);
/* space.c: what a block alone touches moves to its shared memory, as far as there is room. */
void lower_cuda_spaces(lowering *w);
#endif
