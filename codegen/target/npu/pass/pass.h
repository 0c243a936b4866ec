/* From a mapping to a program of the NPU: the mapping's execution is walked step by step, and what it moves and
 * computes becomes instructions. */
#ifndef CODEGEN_TARGET_NPU_PASS_PASS_H
#define CODEGEN_TARGET_NPU_PASS_PASS_H
#include "codegen/target/npu/sim/program.h"
#include "model/flow/range.h"

/* Where a tensor is in a memory: rows of its box, `ext` elements at most along each rank, in one slot or in several,
 * which take turns. Element x stands at (x - org) mod ext, so that what two boxes share stays where it is. */
typedef struct {
  int memory, tensor, level; /* level: of the architecture; -1: a place on the way, or of a value */
  npu_type type;
  bool blocks; /* an operand of the cube, in blocks ... */
  int op,
      role; /* ... of that op: 0 what it sums, 1 the left, 2 the right one; its ranks are then not the tensor's, ... */
  int dims[TF_MAX_RANK]; /* ... but those of the op's dims (positions) that it has, and boxes are ranges of those */
  int rank, slots, slot;
  int64_t ext[TF_MAX_RANK], stride[TF_MAX_RANK], org[TF_MAX_RANK];
  int64_t at, bytes; /* of slot 0; of a slot */
  int first, last;   /* children of the outermost Seq between which it lives */
  tf_ival box[TF_MAX_RANK];
  bool held, dirty; /* it holds box; that is not yet written further out */
  bool doubled;     /* two slots where there is room */
  int owner;        /* tile slice that entered it last; -1 */
} npu_bank;

enum { NPU_BANKS = 256, NPU_LEVELS = 16, NPU_SLOTS = 4 };

/* How memories of the architecture are those of the machine. */
typedef struct {
  npu_machine machine;
  int deep;                  /* level of the innermost memory that a core has one of */
  bool flat;                 /* the cube reads that one; else L0A, L0B and L0C, which are its parts */
  int memory_of[NPU_LEVELS]; /* [level] -1: none; L0: that of the sums, and the left and right operands' behind it */
  int vector_level;
  bool doubled; /* transfers overlap with work */
} npu_target;

typedef struct {
  tf_arena *arena;
  const tf_plan *p;
  tf_eval ev;
  int64_t *cur; /* [n_loops] */
  npu_target t;
  tf_npu *out;
  tf_diags *d;
  bool dry, ok; /* dry: only the sizes of banks are found */
  int n_banks;
  npu_bank bank[NPU_BANKS];
  int *global;   /* [tensor] the program's tensor; -1: it never comes to global memory */
  int *transit;  /* [tensor] bank on the way from L0C; -1 */
  int *temp;     /* [op * NPU_TEMPS + i] banks of values within an expression; -1 */
  int64_t steps; /* instructions that may still be made */
} npu_build;

enum { NPU_TEMPS = 12 };

/* Sums and what is between them are float32 inside the cube; tensors are as wide as their words. */
static inline npu_type npu_type_of(const tf_tensor *z) { return z->word_bits == 32 ? NPU_F32 : NPU_F16; }

/* facts.c: the machine of an architecture.  False with the reason in d. */
bool npu_target_of(const tf_arch *a, npu_target *t, tf_diags *d);

/* program.c: the mapping as a program without loops, flags and all.  NULL with the reason in d. */
tf_npu *npu_compile(const tf_tree *tree, tf_diags *d);
/* Whether there will be one: the scopes are the machine's, all places fit, and it is not too long.  Else why not. */
bool npu_fits(const tf_tree *tree, tf_diags *d);

/* walk.c: all of the mapping. */
bool npu_walk(npu_build *b);
/* Level of the innermost tile of op o: the cube's or the vector unit's. */
int npu_level_of(const npu_build *b, int o);

/* bank.c: the bank of a tensor in a memory of the machine, made where there is none; -1: too many. */
int npu_bank_of(npu_build *b, int tensor, int memory, int level);
/* The box comes to a slot of its own. */
void npu_bank_open(npu_build *b, npu_bank *k, const tf_ival *box);
/* Gives all banks their places, behind a dry walk; false: they do not fit, which is told. */
bool npu_banks_place(npu_build *b);
/* Byte of element x; bytes of the slot's begin. */
int64_t npu_bank_at(const npu_bank *k, const int64_t *x);
static inline int64_t npu_slot_at(const npu_bank *k) { return k->at + k->slot * k->bytes; }
/* Whether the box, from its low end on, stands without a seam. */
bool npu_bank_whole(const npu_bank *k, const tf_ival *box);
npu_operand npu_operand_at(const npu_build *b, const npu_bank *k, int64_t at);

/* move.c: the box, from one bank to another, by a path or by two. */
void npu_move(npu_build *b, npu_bank *from, npu_bank *to, const tf_ival *box);
/* A copy whose dims follow, element by element (a window without a border) where an end of it is not aligned; NULL: it
 * is a dry walk, or the build has failed. */
npu_instr *npu_copy(npu_build *b, npu_operand to, npu_operand from, int tensor);
/* Whether the operand begins where its memory lets operands begin. */
bool npu_aligned(const npu_build *b, const npu_operand *o);
/* Appends a dim where it is more than one, or lets the last one grow. */
void npu_dim_add(npu_build *b, npu_instr *i, npu_dim d);

/* blocks.c: a tile of a product's operand as blocks: `batch` matrices of rows x columns, one behind the other. */
typedef struct {
  int64_t batch, rows, columns; /* of the tile */
  int64_t high, wide, line;     /* of a block; elements from one line of blocks to the next */
  int64_t words;                /* of a matrix, its last blocks whole */
} npu_tile;
npu_tile npu_tile_of(const npu_build *b, const npu_bank *k, const tf_ival *box);
/* Whether the op's read moves with the dim. */
bool npu_read_has(const tf_workload *wl, const tf_op *op, int read, int dim);
/* What the op's dim (a position; -1: a constant) is to the operand: one of several matrices, rows, or columns. */
typedef enum { NPU_BATCH, NPU_ROW, NPU_COLUMN } npu_side;
npu_side npu_side_of(const tf_workload *wl, const tf_op *op, int role, int dim);
/* Fills rank and dims of the bank from its op and role. */
void npu_operand_dims(const npu_build *b, npu_bank *k);

/* product.c: whether the op is a product of matrices, those of convolutions among them; it is done for the ranges of
 * its dims. */
bool npu_is_product(const tf_op *op, const tf_workload *wl);
/* Whether a sum goes on: some dim that is reduced is not at its begin. */
bool npu_goes_on(const tf_op *op, const tf_ival *range);
void npu_product(npu_build *b, int op, const tf_ival *range, npu_bank *const bank[3]);
/* The operand's block or blocks, between the cube's memory and rows elsewhere. */
void npu_move_blocks(npu_build *b, npu_bank *blocks, npu_bank *rows, const tf_ival *box, bool out);

/* vector.c: any other op, for the ranges of its dims.  bank: of its reads, then of its output. */
void npu_vector_op(npu_build *b, int op, const tf_ival *range, npu_bank *const *bank);

/* flags.c: sets and waits where they are needed, and nowhere else.  False: out of memory. */
bool npu_flags_add(tf_npu *p);

/* Stops with the reason, once. */
void npu_stop(npu_build *b, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);
#endif
