/* From a mapping to a program of the NPU: the mapping is executed step by step, and its transfers
 * and computations become instructions. */
#ifndef CODEGEN_BACKEND_NPU_PASS_PASS_H
#define CODEGEN_BACKEND_NPU_PASS_PASS_H
#include "codegen/backend/npu/pass/chain.h"
#include "model/flow/range.h"
#include "tileflow/emit.h"

/* A bank: storage of a tensor in a memory, as rows of a box of at most `ext` elements along each
 * rank, in one slot or several used in turn.  It is a ring buffer in each rank: element x is stored
 * at (x - org) mod ext, so that what two boxes share stays in place. */
typedef struct {
  int memory, tensor, level; /* level: of the architecture; -1: intermediate storage */
  npu_type type;
  bool blocks; /* an operand of the cube, in blocks ... */
  /* ... of that op: role 0: its sums, 1: left, 2: right operand; its ranks are then `dims`, those
   * of the op's dims (positions) that it has, in place of the tensor's, and boxes are ranges of
   * these */
  int op, role;
  int dims[TF_MAX_RANK];
  int rank, slots, slot;
  int64_t ext[TF_MAX_RANK], stride[TF_MAX_RANK], org[TF_MAX_RANK];
  int64_t offset, bytes;    /* offset of slot 0; size of a slot */
  int first, last;          /* live range: children of the outermost Seq */
  tf_ival box[TF_MAX_RANK]; /* including the padding that the vector unit reads there */
  bool held, dirty;         /* it holds `box`; which is not stored further out yet */
  bool doubled;             /* it gets two slots if there is room */
  int values_of; /* 1 + the op whose expression's values it holds, for all of its dims; 0: none */
  bool in_parts; /* it holds a part of these at a time */
  int owner;     /* the Tile's slice that filled it last; -1: none */
  int turn, first_turn; /* the turn that uses it; the bank of turn 0 that it replaces */
} npu_bank;

typedef struct npu_clock npu_clock;

enum { NPU_BANKS = 256, NPU_LEVELS = 16, NPU_SLOTS = 4 };
/* Instructions of a program, without flags. */
enum { NPU_LONGEST = 1 << 19 };

/* The correspondence between the architecture's memories and the machine's. */
typedef struct {
  npu_machine machine;
  int deep;  /* level of the innermost memory with one instance per core */
  bool flat; /* the cube reads that memory; otherwise L0A, L0B and L0C, which are its parts */
  int memory_of[NPU_LEVELS]; /* [level] -1: none; 0: global memory, also for caches that cores
                                share; L0: the memory of sums, followed by those of the left and
                                right operands */
  int vector_level;
  bool doubled; /* transfers overlap with computation */
} npu_target;

typedef struct {
  tf_arena *arena;
  const tf_plan *p;
  tf_eval ev;
  int64_t *cur; /* [n_loops] */
  npu_target t;
  tf_npu *out;
  const npu_place *tensor_places; /* of a link: where its tensors are; else NULL */
  tf_diags *d;
  bool dry, ok; /* dry: only the sizes of banks are determined */
  int n_banks;
  npu_bank bank[NPU_BANKS];
  bool *product; /* [op] it is a product of matrices */
  int *global;   /* [tensor] the program's tensor; -1: never in global memory */
  bool *again;   /* [tensor] it is read in global memory */
  int *transit;  /* [tensor] bank for data on its way out of L0C; -1: none */
  int *temp;     /* [op * NPU_TEMPS + i] banks of intermediate values of an expression; -1: none */
  int *fixing; /* [op] bank in which the result of a streamed op is corrected; of a maximum: bank of
                  the factor; -1: none */
  int64_t steps; /* instructions that may still be emitted */
  /* Turns: iterations of the last loop of Tile `turn_tile` (-1: none) that run interleaved, each
   * with storage of its own, `turn_bytes` after that of the turn before. */
  int turn_tile, turns, turn;
  int64_t turn_bytes;
  bool interleaving; /* instructions of several turns are being made, and will be reordered */
  npu_clock *clock;  /* NULL, or instructions are only timed, and then dropped, */
  npu_limits most;   /* until these limits */
  double length;     /* of the program so far: instructions timed or passed over */
  bool every_step;   /* of those timed: no step of a loop is passed over */
  bool drops_made;   /* instructions are made, and dropped after each step */
  bool counting; /* instructions are only counted: of a loop the first, second and last step; the
                    others are like the second */
} npu_build;

enum { NPU_TEMPS = 12 };

/* facts.c: the machine of an architecture.  False with the reason in d. */
bool npu_target_of(const tf_arch *a, npu_target *t, tf_diags *d);

/* program.c: the mapping as a program without loops, with flags. NULL with the reason in d. */
tf_npu *npu_compile(const tf_tree *tree, tf_diags *d);
/* Whether npu_compile succeeds: the scopes are supported, everything fits, and the program is not
 * too long. Otherwise the reason in d. */
bool npu_fits(const tf_tree *tree, tf_diags *d);

/* A build of the mapping with storage assigned, for npu_walk. NULL: as npu_compile, with the reason
 * in d. */
npu_build *npu_build_new(const tf_tree *tree, tf_diags *d);
void npu_build_free(npu_build *b);
/* The same for a link: instructions are appended to `out`, which has the machine and all tensors,
 * and stays the caller's: it must be taken out of the build before that is freed. */
npu_build *npu_build_link(tf_npu *out, const npu_link *l, tf_diags *d);
/* Copies tags, which are names of workloads that the program may outlive. False: out of memory. */
bool npu_keep_tags(tf_npu *p);

/* predicted.c: npu_predict, where the memo has not kept what it would say (that more cycles than
 * the limit are expected; or that it fails, then without the reason).  NULL: no memo. */
bool npu_predict_once(tf_emit_memo *m, const tf_tree *tree, npu_limits most, npu_terms *terms,
                      tf_diags *d);

/* settle.c: the mapping with other tiles: where the numbers of slots suggest it and the program
 * ends sooner, repeatedly until neither changes; the given mapping, if evaluating every step shows
 * no gain. *said: a line for each round. The caller frees both. NULL, and *said NULL: as
 * npu_compile, with the reason in d. */
tf_tree *npu_settle(const tf_tree *tree, tf_emit_memo *memo, char **said, tf_diags *d);

/* clock.c: cycles of the program, if no flag delays an instruction longer than its operands do.
 * Negative: out of memory. */
double npu_clock_program(const tf_npu *p, tf_diags *d);
/* The same, and of what they are made.  False: out of memory. */
bool npu_clock_whole(const tf_npu *p, npu_terms *terms, tf_diags *d);
/* program.c: what is expected of the mapping's program: as npu_predict, but of a short one with
 * every step looked at.  False: as npu_compile, with the reason in d. */
bool npu_expect(const tf_tree *tree, npu_terms *terms, tf_diags *d);
/* program.c: the same for the program that npu_compile would make. Negative: as npu_compile, with
 * the reason in d. */
double npu_whole_cycles(const tf_tree *tree, tf_diags *d);
/* Times the instructions made so far. */
void npu_clock_run(npu_build *b);
double npu_clock_end(const npu_clock *c);
/* At the start of a program. loose: operands' runs are loose (npu_runs). NULL: out of memory. */
npu_clock *npu_clock_new(const tf_npu *p, bool loose);
void npu_clock_free(npu_clock *c);
npu_terms npu_clock_terms(const npu_clock *c);
/* Counts and drops the instructions made so far. */
void npu_count_made(npu_build *b);
/* For a loop of more than NPU_LONG steps: the steps before those that are measured, in which queues
 * run ahead of each other as far as slots allow, and how many are measured. */
enum { NPU_AHEAD = NPU_SLOTS, NPU_MEASURED = NPU_SLOTS, NPU_LONG = NPU_AHEAD + 2 * NPU_MEASURED };
/* The same if a step has so many instructions that slots have been reused many times when it
 * ends. */
enum { NPU_MANY = 4096, NPU_AHEAD_OF_MANY = 2, NPU_MEASURED_OF_MANY = 1 };
/* The state before the measured steps: when the queues were free, the program's length, and which
 * banks held which box. */
typedef struct {
  int ahead, measured; /* steps: as above, known when the first has ended */
  double queue[NPU_QUEUES], busy[NPU_QUEUES], length;
  int n_banks;
  bool held[NPU_BANKS];
  int64_t lo[NPU_BANKS][TF_MAX_RANK];
} npu_loop_timing;
/* Before a loop. */
void npu_clock_begin(const npu_build *b, npu_loop_timing *pace);
/* After the i-th step of a loop up to step `last`: how many steps may be passed over. */
int64_t npu_clock_step(npu_build *b, npu_loop_timing *pace, int64_t i, int64_t last);
/* Passes over `steps` steps, which take `work` times as long as the measured ones: advances time
 * and banks. */
void npu_clock_pass(npu_build *b, const npu_loop_timing *pace, int64_t steps, double work);

/* The units of global memory from `at` up to `end` that have not been written since the queues were
 * at `since` belong to steps that were passed over: they get times between those of their
 * neighbours. */
void npu_clock_fill(npu_clock *c, int64_t at, int64_t end, const double *since);
/* When each queue is free. */
const double *npu_clock_queues(const npu_clock *c);

/* walk.c: executes the whole mapping. */
bool npu_walk(npu_build *b);
/* facts.c: level of the innermost tile of op o: the cube's or the vector unit's. */
int npu_level_of(const npu_build *b, int o);

/* origin.c: whether the current run of the scope is the first, or the last, of those over which op
 * o is streamed. */
bool npu_stream_begins(const npu_build *b, int o);
bool npu_stream_ends(const npu_build *b, int o);
/* Where sums of op o over its i-th dim begin: at 0, or where the stream does, if a mask skips what
 * is before. */
int64_t npu_origin(const npu_build *b, int o, int i);
/* Whether a sum continues: some reduced dim is not at its beginning. */
bool npu_goes_on(const npu_build *b, int op, const tf_ival *range);

/* stream.c: whether the streams of scope n are supported; else the reason is reported. */
bool npu_stream_check(npu_build *b, int n);
/* Before and after a child of scope n: instructions for its running maximum and sums. */
void npu_stream_before(npu_build *b, int n, int child);
void npu_stream_after(npu_build *b, int n, int child);

/* sides.c: whether every op has the dim in its output: loops over it may be above all ops, and each
 * iteration computes parts of its own. */
bool npu_is_shared(const tf_workload *wl, int dim);

/* software_pipeline.c: finds turn_tile. */
void npu_turns_find(npu_build *b);
/* Interleaves the instructions of n turns, those of turn c being from begin[c] to begin[c + 1]: a
 * step of each in turn. A step is transfers from global memory and what is computed with them. */
void npu_turns_interleave(npu_build *b, const size_t *begin, int n);

/* allocate.c: the bank of a tensor in a memory of the machine, created on first use; -1: too many.
 */
int npu_bank_of(npu_build *b, int tensor, int memory, int level);
/* The bank of the current turn in place of a bank of turn 0; -1: too many. */
int npu_bank_turned(npu_build *b, int bank);
/* Starts a new box in the next slot. */
void npu_bank_open(npu_build *b, npu_bank *k, const tf_ival *box);
/* Resets banks to their state before a program: empty, except tensors in global memory. */
void npu_banks_empty(npu_build *b);
/* Sets the bank's strides and bytes for its extents. */
void npu_bank_lay_out(const npu_build *b, npu_bank *k);
/* The byte offset of element x; of the slot's begin. */
int64_t npu_bank_at(const npu_bank *k, const int64_t *x);
static inline int64_t npu_slot_at(const npu_bank *k) { return k->offset + k->slot * k->bytes; }
/* Whether the range along rank r is contiguous in the bank, without a seam; next: whether a box
 * is. */
bool npu_bank_runs(const npu_bank *k, int r, tf_ival v);
bool npu_bank_whole(const npu_bank *k, const tf_ival *box);
npu_operand npu_operand_at(const npu_build *b, const npu_bank *k, int64_t at);

/* place.c: assigns storage to all banks after a dry run; to values within expressions in parts, if
 * they do not fit at once. False: not even parts fit, which is reported. */
bool npu_banks_place(npu_build *b);

/* move.c: moves the box from one bank to another, by one path or two. */
void npu_move(npu_build *b, npu_bank *from, npu_bank *to, const tf_ival *box);
/* The bank that the slice is loaded from and stored to; NULL: too many banks. */
npu_bank *npu_bank_above(npu_build *b, const tf_slice *s);
/* Stores what the turn's banks of the tensor (-1: of all) hold at that level or further in,
 * innermost first. */
void npu_flush(npu_build *b, int tensor, int level);
/* Fills the box with zeros, in the vector unit's memory and for its op. */
void npu_zero(npu_build *b, const npu_bank *k, int op, const tf_ival *box);
/* A copy, to which dims are added later; element by element (as a window without border) if an end
 * is not aligned. NULL: in a dry run, or if the build has failed. */
npu_instr *npu_copy(npu_build *b, npu_operand to, npu_operand from, int tensor);
/* If some of several transfers that differ only in places go element by element because they are
 * not aligned, all do: they take as long, and can form one loop. False: out of memory. */
bool npu_even(tf_npu *p);
/* Whether the operand begins at its memory's alignment. */
bool npu_aligned(const npu_build *b, const npu_operand *o);
/* Appends a dim of more than one element, or merges it with the last one. */
void npu_dim_add(npu_build *b, npu_instr *i, npu_dim d);

/* sides.c: an operand of a product as blocks: `batch` matrices of rows x columns, one after the
 * other. */
typedef struct {
  int64_t batch, rows, columns; /* of the tile */
  int64_t high, wide, line;     /* of a block; elements from one line of blocks to the next */
  int64_t words;                /* of a matrix, with its last blocks whole */
} npu_tile;
npu_tile npu_tile_of(const npu_build *b, const npu_bank *k, const tf_ival *box);
/* Whether the op's read moves with the dim. */
bool npu_read_has(const tf_workload *wl, const tf_op *op, int read, int dim);
/* The role of the op's dim (a position; -1: a constant) in the operand: number of the matrix, row,
 * or column. */
typedef enum { NPU_BATCH, NPU_ROW, NPU_COLUMN } npu_side;
npu_side npu_side_of(const tf_workload *wl, const tf_op *op, int role, int dim);
/* operand_blocks.c: sets rank and dims of the bank from its op and role. */
void npu_operand_dims(const npu_build *b, npu_bank *k);

/* sides.c: whether the op is a product of matrices, convolutions included; product.c: computes it
 * for the ranges of its dims. */
bool npu_is_product(const tf_op *op, const tf_workload *wl);
void npu_product(npu_build *b, int op, const tf_ival *range, npu_bank *const bank[3]);
/* Moves the operand's blocks between the cube's memory and rows elsewhere. */
void npu_move_blocks(npu_build *b, npu_bank *blocks, npu_bank *rows, const tf_ival *box, bool out);

/* parts.c: the fewest bytes with which the bank can hold a part of its op's values. */
int64_t npu_least_part(const npu_build *b, const npu_bank *k);
/* If the bank cannot hold the op's values for these ranges at once: the dim to split, and *first:
 * the length of the first part. -1: it can. */
int npu_part_dim(const npu_build *b, const npu_bank *k, const tf_ival *range, int64_t *first);

/* Strides of the part for these ranges. */
void npu_lay_out_part(const npu_build *b, npu_bank *k, const tf_ival *range);

/* vector.c: any other op, for the ranges of its dims. bank: of its reads, then of its output. */
/* The number of operations for a part of it. */
int npu_vector_calls(const npu_build *b, int op);
void npu_vector_op(npu_build *b, int op, const tf_ival *range, npu_bank *const *bank);
/* A value: a number, or an operand with its stride for each of the op's dims. */
typedef struct {
  npu_operand o;
  int64_t step[TF_MAX_RANK];
} npu_term;
/* One operation, over the first n_dims ranges of op o's dims. */
void npu_vector_add(npu_build *b, int o, npu_op what, const tf_ival *range, int n_dims,
                    const npu_term *to, const npu_term *from);

/* flags.c: inserts sets and waits where they are necessary. False: out of memory. */
bool npu_flags_add(tf_npu *p);

/* begin.c: fails, since the program would exceed NPU_LONGEST. */
void npu_too_long(npu_build *b);
/* Fails with the reason, once. */
void npu_stop(npu_build *b, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);
#endif
