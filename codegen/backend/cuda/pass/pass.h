/* Passes of CUDA: loops of a mapping become blocks of a grid, tiles in shared memory, and
 * threads. */
#ifndef CODEGEN_BACKEND_CUDA_PASS_PASS_H
#define CODEGEN_BACKEND_CUDA_PASS_PASS_H
#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/note/note.h"
#include "codegen/lower/lower.h"
#include "model/input/masked.h"

/* space.c: the memory spaces, in the order of its table. */
enum { CU_GLOBAL, CU_SHARED, CU_SCRATCH, CU_FRAGMENT };
/* The queues: pieces of 16 bytes that threads copy (cp.async); boxes of tensors that one thread
 * requests (sm_90a). */
enum { CU_PIECES, CU_BOXES };
/* A block's threads (threadIdx.y is mapped to IR_WARP, threadIdx.x to IR_LANE), and bytes of its
 * shared memory: of a GPU since sm_80; of any OpenCL device (CU_LEAST_BYTES: OpenCL 1.2,
 * CL_DEVICE_LOCAL_MEM_SIZE). */
enum {
  CU_ROWS = 8,
  CU_LANES = 32,
  CU_WARPS = CU_ROWS,
  CU_SHARED_BYTES = 96 * 1024,
  CU_LEAST_BYTES = 32 * 1024
};
/* The part of an output that a block computes at a time: rows and neighbours point by point; rows
 * and columns on tensor cores. */
enum { CU_PIECE_ROWS = 64, CU_PIECE_LANES = 64, CU_PIECE_MATRIX = 128 };
/* sm_90a: rows that two warpgroups of a block multiply together (16 a warp), that three do, and
 * that each has where two take blocks in turn; warps of each; columns at most; bytes of a row of a
 * tile that boxes fill, and of those that one instruction multiplies; the alignment of tensors'
 * strides in bytes; limits of a box: ranks, length and stride along each; bytes of shared memory,
 * of which tiles that leave (of each warpgroup) and barriers (two for each of 8 tiles of 8
 * products, and for lasting ones) take some. */
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

/* multiply.c: a tensor-core instruction. kernel: its types, its shape (m_round, n_round, k_round),
 * and the elements along the sum in a register (group). */
typedef struct {
  ir_kernel kernel;
  const char *dtype; /* the name of the type that users ask for */
  const char *type;  /* part of the names of its operations */
  const char *ptx;   /* shape and types */
  const char *sass;  /* its opcode in machine code */
  bool turns;        /* ldmatrix can load it transposed */
  bool wmma; /* fragments as C++ has them (mma.h): their distribution over lanes is unknown */
} cu_mma;
/* The i-th row; NULL past the last. */
const cu_mma *cu_mma_at(int i);
/* The program's instruction; NULL: plain units do everything. */
const cu_mma *cu_mma_of(const ir_program *p);
/* matrix.c: the instruction of the op's products. Some products of float8 use bfloat16, and tiles
 * are widened to it in the copy: those that read intermediates, which do not fit in float8 without
 * a scale, and those whose operands are contiguous across the sum, which lanes would have to gather
 * byte by byte. */
const cu_mma *cu_mma_for(const ir_program *p, const tf_op *op);
/* Bits of ir_machine.target_bits: warpgroups multiply, from tiles that boxes of tensors fill
 * (sm_90a); only features that OpenCL guarantees are used. */
enum { CU_MAY_GROUP = 1, CU_IS_LEAST = 2 };
static inline bool cu_may_group(const ir_program *p) {
  return p->machine.target_bits & CU_MAY_GROUP;
}
static inline bool cu_is_least(const ir_program *p) { return p->machine.target_bits & CU_IS_LEAST; }
/* The machine for data of that name (NULL: f32), wmma: with C++'s fragments; false: there is
 * none. */
bool cu_machine(const char *dtype, bool wmma, ir_machine *machine);
/* Whether tensor cores accumulate with fewer bits than float32 has (float8: 13 fraction bits on Ada
 * and Hopper, according to SageAttention2): plain units then add partial sums to the sums. */
bool cu_has_short_sums(const ir_program *p);
/* Whether the op's mma.sync of float8 becomes two multiplications of 16-bit floats in machine code:
 * Hopper's tensor cores multiply bytes by wgmma only, and the assembler widens the operands. */
bool cu_is_widened(const ir_program *p, const tf_op *op);
/* The most rows and columns of a warp with wmma: two by two fragments. */
enum { CU_WMMA_SIDE = 32, CU_WMMA_ROOM = CU_WARPS * 16 * 16 * 4 };
/* Whether the program uses wmma. */
bool cu_is_wmma(const ir_program *p);

/* matrix.c: products for tensor cores. Rows and columns of fragments are multiples of sixteen. */
enum { CU_FRAGMENT_SIDE = 16 };
static inline int64_t cu_sides_up(int64_t n) {
  return (n + CU_FRAGMENT_SIDE - 1) / CU_FRAGMENT_SIDE * CU_FRAGMENT_SIDE;
}
/* A length along the sum, rounded up to the instruction's, and to a multiple of sixteen. */
int64_t cu_padded_sum(const ir_program *p, int64_t n);
/* Whether a nest is a product of matrices for the program's instruction; finds its dims, while
 * others may have several settings. */
bool cu_roles(const ir_program *p, const ir_stmt *s, cu_matrices *t);
/* Whether a convolution has so few channels that one product sums over its whole window and them,
 * and enough of both for tensor cores. */
bool cu_has_few_channels(const tf_workload *wl, const tf_op *op);
/* Marks, by position, the dims over which such a convolution has to step, as window and channels
 * are too long for one product. */
void cu_find_stepped(const tf_workload *wl, const tf_op *op, bool *stepped);
/* The channels of a convolution that one product sums over, together with the whole window, where
 * pixels are contiguous in the input and the window follows the channels in the weights (NCHW), so
 * that pieces of a row of weights are contiguous; 0: the op is none, or its channels do not divide
 * evenly. Next: the same of a nest of 16-bit data that has the whole window, and channels in
 * multiples of such chunks. */
int64_t cu_chunk(const tf_workload *wl, const tf_op *op);
int64_t cu_chunk_of(const ir_program *p, const ir_stmt *s);
/* cuda_count.c: for a point that a warp saves from fragments: lines of memory, each a cycle of the
 * port to it; 0: it leaves by boxes, or is no result. */
double cu_store_lines(const ir_program *p, const ir_stmt *s);
/* cuda_count.c: the length of the sum of a product of fragments. */
int64_t cu_sum_length(const ir_program *p, const ir_stmt *s);
/* The read of a convolution that has the window (output and reduced dims in one index, or steps),
 * where the other read has columns of its own (not depthwise) and both have eight channels, or few;
 * -1: the op is none. */
int cu_window(const tf_workload *wl, const tf_op *op);
/* The weights of a convolution in phases, each of too few columns for a product (cu_window), if all
 * phases and their channels together are the rows of one, whose columns are the innermost pixels;
 * -1: the op is none. */
int cu_stacked_phases(const tf_workload *wl, const tf_op *op);
/* The same as cu_roles for a convolution (cu_window) whose rows are pixels along several dims, in
 * any order of the output's, and whose sum runs along channels; m is one of the dims. */
bool cu_roles_of_pixels(const ir_program *p, const ir_stmt *s, cu_matrices *t);
/* The layout of a matrix in shared memory: rows of `pitch` pieces of 16 bytes, of which `pieces`
 * are used; piece i of row r is at i ^ (r >> shift & mask) (a swizzle), so that eight rows of a
 * column of pieces lie in different banks. */
typedef struct {
  int64_t rows, pieces, pitch;
  int shift, mask;
} cu_tile;
cu_tile cu_tile_of(const ir_buffer *b);
/* cuda_count.c: whether each thread copies a piece of several rows, a fixed number of times; else
 * pieces are dealt in turn. */
bool cu_is_by_rows(const cu_tile *t);
/* cuda_count.c: the alignment in bytes, at most 16, of all rows of a tile in memory, if arrays are
 * dense and aligned to 16. */
int64_t cu_row_alignment(const ir_program *p, const ir_stmt *s);
/* Whether a copy fills the tile, or a part of it, or either. */
enum { CU_FULL = 1, CU_SOME = 2 };
int cu_lengths_of(const ir_program *p, const ir_stmt *s, const cu_tile *t);
/* cuda_count.c: the stride of a rank, in elements, in a dense array. */
int64_t cu_dense_step(const ir_program *p, const ir_buffer *from, int rank);
/* Whether a copy gathers pieces from elements at known distances, if the array is dense; next:
 * whether a copy of a window and its channels has contiguous rows then. */
bool cu_is_gathered(const ir_program *p, const ir_stmt *s);
bool cu_has_contiguous_rows(const ir_program *p, const ir_stmt *s);
/* Threads that copy a row of such a tile together; next: the most pieces of each over all rows. */
int64_t cu_sharers(const ir_program *p, const ir_stmt *s);
int64_t cu_share_of(const ir_program *p, const ir_stmt *s);
/* Positions of the window that may be outside the tensor, each tested once for a row: the columns'
 * parts along such ranks, the last fastest. */
ir_stack cu_places(const ir_program *p, const ir_stmt *s);
/* Bytes of all slots of a buffer. */
int64_t cu_bytes(const ir_buffer *b);

/* multiply.c: the memory that each block has for itself; 0: none. */
int cu_home(const tf_arch *a);
/* Whether a kernel can read inputs from that memory and leave outputs in it: a block's own memory
 * ends with the block. */
bool cu_reaches(const tf_arch *a, int level);
/* shape.c: bytes of shared memory of a block. */
int64_t cu_shared_bytes(const ir_program *p);
/* Whether the rest of op's own loops may be left to one nest: its output is a few tiles. */
bool lower_cuda_close_by(const lowering *w, int op);
/* Whether an intermediate in global memory may be rounded: only products on tensor cores read
 * it. */
bool lower_cuda_narrow(const lowering *w, int z);
/* Positions of the output's dims that are mapped to lanes and rows of threads; -1: none. */
typedef struct {
  int lanes, rows;
} cu_sides;
cu_sides cu_sides_of(const ir_program *p, const ir_stmt *s);
/* The longest dim that a nest sums over, by position; -1: none. Next: whether a warp's lanes share
 * each sum: there are too few points for the lanes, and the sum is long. */
int cu_longest_sum(const ir_program *p, const ir_stmt *s);
bool cu_lanes_share(const ir_program *p, const ir_stmt *s);
/* If the machine has a dot product, an instruction that multiplies a few bytes and adds the
 * products to a sum of 32 bits (OpenCL): the position of the reduced dim along which the nest's
 * product of bytes can use it, with most operands contiguous; -1: it cannot. */
int cu_dot_of(const ir_program *p, const ir_stmt *s);
/* Whether the op is a depthwise convolution whose outputs of a channel are not columns of a product
 * on tensor cores. */
bool cu_is_depthwise(const tf_workload *wl, const tf_op *op, cu_depthwise *t);
/* Whether a nest covers the window of such a convolution on 16-bit data in global memory: each lane
 * has two neighbouring channels, and a block's rows have CU_ROWS pixels. */
bool cu_depthwise_of(const ir_program *p, const ir_stmt *s, cu_depthwise *t);
/* The longest piece of it along the output's k-th dim in a block: a row of pixels for each warp or,
 * of pixels along one dim, as many for each lane. */
int64_t cu_window_side(const cu_depthwise *t, int k);
/* Whether products read what the op computes: one instruction then rounds two points. */
bool cu_is_multiplied(const ir_program *p, const tf_op *op);
/* Instructions of a point, beyond `multiprocessor.point`, for positions of a window that are read
 * one by one from global memory, and to test them for padding. */
double cu_places_of(const ir_program *p, const ir_stmt *s);
/* Work of a thread of such a nest (cu_note.window): instructions, of these its sums and all that
 * plain units do, and words read from shared memory. */
typedef struct {
  double issued, summed, plain, read;
} cu_window_work;
cu_window_work cu_window_work_of(const ir_program *p, const ir_stmt *s);
/* The piece of the output's k-th dim that a block works on at a time. */
int64_t cu_piece(const ir_program *p, const ir_stmt *s, int k);
/* The piece of an op that a block has alone: for a convolution of few pixels all of it. */
int64_t cu_block(const ir_program *p, const ir_stmt *s, int k);
/* The only loop of a body, apart from lets before it; NULL: there is none. */
ir_stmt *cu_only_loop(const ir_body *b);
/* Appends a loop and opens its body; returns the step. */
ir_atom cu_open_for(lowering *w, ir_map map, int dim, int64_t trip, lower_mark *mark);
/* Appends a copy of the statement with other ranges (NULL: its own). */
ir_stmt *cu_copy_with_ranges(lowering *w, const ir_stmt *s, const ir_range *range);
ir_range *cu_ranges(lowering *w, const ir_stmt *s);
/* Makes room for so many more buffers. */
void cu_grow(lowering *w, int more);
/* Gives all nests at or below the list explicit source buffers, so that these can be replaced. */
void cu_name_reads(lowering *w, const ir_body *b);
/* Sets when the sum of `s`, a step of `of`, starts: where all its lower ends are 0, or, of a
 * partial sum (nest.part), where that starts in `of` and the step is 0. */
void cu_set_resets(lowering *w, const ir_stmt *of, ir_stmt *s, ir_atom step);
/* Appends a let of the variable. */
void cu_set_var(lowering *w, int var, ir_atom value);
/* Replaces each statement in the body that computes at points, at any depth, by what `make`
 * appends; those that warps do already stay. */
void cu_replace(lowering *w, ir_body *b, void (*make)(lowering *w, const ir_stmt *s));

/* The dim, if the index is one dim alone; else -1. */
static inline int cu_single_dim(const tf_index *ix) {
  return ix->n_terms == 1 && lower_is_dim(ix, ix->terms[0].dim) ? ix->terms[0].dim : -1;
}
/* An access of a statement that computes at points: a buffer, at the indices of `ref`, or (NULL) at
 * the dims of the op that produces its tensor. */
typedef struct {
  int buffer;
  const tf_ref *ref;
  bool writes;
} cu_access;
enum { CU_MOST_ACCESSES = 16 };
/* -1: there are more than fit. */
int cu_accesses(const ir_program *p, const ir_stmt *s, cu_access *a);
/* Statements at or below the list that access the buffer. */
int cu_touches(const ir_program *p, ir_stmt *const *s, int n, int buffer);

/* Whether the loop is over the warps of a region, in which they hold fragments. */
bool cu_is_region(const ir_program *p, const ir_stmt *loop);
/* Warps of warpgroups that multiply a block of so many rows, 16 each. */
int cu_group_warps(int64_t rows);
/* Whether a part of the program has warpgroups, with tiles that boxes fill; next: whether they take
 * its blocks in turn, each one multiplying alone, so that one's epilogue overlaps with the other's
 * products; and the most columns of a block. */
bool cu_is_groups(const ir_stmt *part);
bool cu_is_in_turns(const ir_stmt *part);
/* Warpgroups of a part that multiply. */
int cu_groups_of(const ir_stmt *part);
int cu_group_columns(const ir_program *p);
/* multistage_smem.c: a box with the rows of a block that one of two warpgroups has: half of them
 * along the first dim. False: there is none. */
bool cu_half_of_stack(const ir_stack *all, ir_stack *half);
/* cluster.c: whether blocks 2 i and 2 i + 1 of a part of warpgroups form a cluster, and which tiles
 * (`same`, of n_buffers) are the same in both, so that each block fetches half of these for
 * both. */
bool cu_cluster(const ir_program *p, const ir_stmt *part, bool *same);
/* The statement after the i-th, a product, that copies its result, if nothing else accesses it;
 * else NULL. */
const ir_stmt *cu_saved_by(const ir_program *p, const ir_body *b, int i);
/* Rewrites the body, except inside loops over warps: `instead` writes a statement together with the
 * one that saves its result (NULL: none), or returns false, and both stay. */
void cu_each_with_save(lowering *w, ir_body *b,
                       bool (*instead)(lowering *w, const ir_stmt *s, const ir_stmt *save));
/* Restricts what it copies to these ranges of its op's output. */
void cu_restrict_save(lowering *w, const ir_stmt *save, const ir_range *r);

/* block.c: values of variables in one block; variables that are not set are 0, as in the first step
 * of every loop. */
enum { CU_MOST_VALUES = 256 };
typedef struct {
  int n, var[CU_MOST_VALUES];
  int64_t value[CU_MOST_VALUES];
} cu_values;
int64_t cu_value(const cu_values *v, ir_atom a);
/* False: no room. */
bool cu_set(cu_values *v, int var, int64_t value);
bool cu_let(cu_values *v, const ir_stmt *let);
/* For each copy of a part, in program order: the number of tiles that come from beyond L2, if
 * `wave` blocks run at a time, equal tiles of a wave are fetched about once, and L2 keeps nothing
 * else. */
void cu_shared_tiles(const ir_program *p, const ir_stmt *part, int64_t wave, int copies,
                     double *of);
/* Elements that a copy reads; next: different ones among them; and (words) of each copy of a part
 * into stacked rows, the different elements of all steps of a block, as a window's steps repeat
 * most; of other copies INFINITY. share: the share of each buffer that such copies read at all. */
int64_t cu_copied(const ir_program *p, const ir_stmt *s);
double cu_distinct(const ir_program *p, const ir_stmt *s);
/* Bytes that a copy requests from L2: each element of a window once, as repeated reads hit a nearer
 * cache; whole sectors for elements without neighbours in neighbouring threads. */
double cu_delivered(const ir_program *p, const ir_stmt *s);
void cu_spanned(const ir_program *p, const ir_stmt *part, int copies, double *words, double *share);

/* skip.c: the statement that masks the scores of a loop over keys, if steps in which it leaves none
 * can be skipped (warps: the surrounding loop over warps, of a part of warpgroups); else NULL.
 * Next: the share of the steps that is left, in the mean of all blocks and in the longest one; and
 * the share of these in which the mask leaves a part. */
const ir_stmt *cu_mask_of(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop,
                          tf_mask *m);
typedef struct {
  double mean, most, cut;
} cu_left;
cu_left cu_steps_left(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop);

/* mapping_templates.c: as tf_emit_form. */
tf_tree *cu_form(const tf_arch *arch, const tf_workload *wl, int k);
/* cost.c: the time of the kernels, unit by unit; next: of a mapping lowered for a target, in all
 * (as tf_emit_cycles). */
tf_times cu_times(const ir_program *p);
tf_times cu_times_of(const ir_program *p, const ir_stmt *part); /* of one of them */
double cu_cycles(const tf_tree *tree, const lower_target *target, const ir_machine *machine,
                 tf_diags *d);
/* warp_specialize.c: a part of warpgroups as a pipe: a producer fetches tiles into a ring of
 * `depth` stages, consumers multiply them; cycles of one multiprocessor. A step is a tile of the
 * ring. */
typedef struct {
  double steps, depth; /* of a block; 0 steps: the part has no warpgroups */
  double producer;     /* of the producer, for a step; latency: from a request to its data */
  double consumer, latency;
  double epilogue; /* of a consumer, for a block: work after its last step */
  double blocks;   /* in turn */
  bool in_turns;   /* work after a block overlaps with the next one's steps (cu_is_in_turns) */
} cu_pipe;
/* Cycles of a step while the ring is full; next: of all blocks. */
double cu_pipe_step(const cu_pipe *p);
double cu_pipe_all(const cu_pipe *p);
/* cost.c: the pipe of a part of the program. */
cu_pipe cu_pipe_of(const ir_program *p, const ir_stmt *part);
/* Instructions of a warp in a step of the innermost loop with most products, and among them those
 * of tensor cores and multiply-adds of depthwise convolutions; without such a loop, in the whole
 * block. */
typedef struct {
  double issued, multiplied, summed;
} cu_step;
cu_step cu_step_of(const ir_program *p, const ir_stmt *part);
/* The same of a product alone, in a step of the loop; begun: its sums are set before
 * it; some_warps: others have no rows. */
cu_step cu_product_step(const ir_program *p, const ir_stmt *s, const ir_stmt *loop, bool begun,
                        bool groups, bool some_warps);
/* Multiply-adds per cycle of one multiprocessor in the program's type: the fastest unit's, half as
 * many for twice the bytes. */
double cu_rate(const ir_program *p);
/* Registers that a thread of a part needs, as it is printed; of warpgroups those at the start. */
double cu_registers(const ir_program *p, const ir_stmt *part);
/* cost.c: multiprocessors of the architecture. */
int64_t cu_multiprocessors(const ir_program *p);
/* cost.c: the number of resident blocks for which a part's registers are limited: 1 to 3. */
int cu_blocks_at_once(const ir_program *p, const ir_stmt *part);
/* cuda_count.c: instructions in a part's machine code, if the compiler unrolls exactly what it is
 * asked to. */
typedef struct {
  int64_t multiplied, loaded, copied;
} cu_counts;
cu_counts cu_count(const ir_program *p, const ir_stmt *part);
/* Whether ldmatrix loads an operand of a product: contiguous along the sum, or transposable. */
bool cu_is_loaded(const ir_program *p, const ir_stmt *s, int read);
/* Steps of a product's sum that are unrolled, inside a loop over the rest: one for operands that
 * are widened or gathered byte by byte; some of many, as the assembler would load more ahead than
 * registers hold; all if rows are fragments, whose registers a loop cannot index. */
int64_t cu_steps_at_a_time(const ir_program *p, const ir_stmt *s);
/* Resident blocks of a multiprocessor, with so many registers a thread and bytes of shared memory;
 * at least 1. */
double cu_resident(const tf_multiprocessor *m, double registers, double shared);
/* Whether the body has a product on tensor cores; next: a depthwise convolution from a tile. */
bool cu_multiplies(const ir_body *b);
bool cu_has_window(const ir_body *b);
/* Whether a loop's steps are two products, the second of which has as rows what was made of the
 * first's result, so that warpgroups take turns. */
bool cu_has_turns(const ir_program *p, const ir_body *b);

/* grid.c: every statement of the program becomes a loop over blocks, whose steps write disjoint
 * data or pieces of an output. */
void lower_cuda_grid(lowering *w);
/* Distributes pieces of a statement, with the one that copies its result (NULL: none), over
 * blocks. */
void cu_spread_points(lowering *w, const ir_stmt *s, const ir_stmt *save);
/* split.c: if there are few blocks, each computes a part of a sum (split-K), and another kernel
 * combines the parts. */
void lower_cuda_split(lowering *w);
/* tile.c: a block computes a piece of the output at a time. */
void lower_cuda_tile(lowering *w);
/* tensor.c: maps products to tensor cores. First where all work of a block can stay in registers of
 * warps that have rows of their own; then, when outputs are in pieces, product by product. */
void lower_cuda_tensor_rows(lowering *w);
void lower_cuda_tensor(lowering *w);
/* skip.c: whether the sums of a product of fragments start in the first step of the loop only, so
 * that they can be set to zero before it. */
bool cu_begins_before(const ir_program *p, const ir_stmt *loop, const ir_stmt *s);
/* stage.c: arguments that sums read repeatedly are copied to shared memory, a piece of the sum at a
 * time, the next one during the current one's work (double buffering). */
void lower_cuda_stage(lowering *w);
/* thread.c: points are distributed over threads. */
void lower_cuda_threads(lowering *w);
/* share.c: bytes of shared memory of a part's block, and (NULL: not asked for) the offset of each
 * buffer; 0 for warpgroups, whose tiles are placed with their barriers. */
int64_t cu_share(const ir_program *p, const ir_stmt *part, int64_t *offset);
/* space.c: moves what only one block accesses to its shared memory, as far as there is room. */
void lower_cuda_spaces(lowering *w);
#endif
