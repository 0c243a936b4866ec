/* Loop IR: a mapping as loops over integer variables, nests of points, and buffers.
 *
 * Lowering decides everything (ranges, buffers, what starts and ends a sum, what runs in parallel); printers and the
 * interpreter only say it.  Nothing here knows a language or a machine. */
#ifndef CODEGEN_IR_IR_H
#define CODEGEN_IR_IR_H
#include <stdio.h>

#include "base/arena.h"
#include "codegen/ir/types.h"
#include "tileflow/tree.h"

/* A value: variable + off; the number off where var < 0. */
typedef struct {
  int var;
  int64_t off;
} ir_atom;

static inline ir_atom ir_number(int64_t off) { return (ir_atom){-1, off}; }
static inline bool ir_same(ir_atom a, ir_atom b) { return a.var == b.var && a.off == b.off; }

typedef enum {
  IR_SUM, /* off[0] + sum of coef[i] * arg[i] */
  IR_MIN, /* of the args */
  IR_MAX,
  IR_PICK /* arg[0] < arg[1] ? arg[2] : arg[3] */
} ir_fn;

typedef struct {
  ir_fn fn;
  int n;
  ir_atom *arg;
  int64_t *coef; /* IR_SUM */
} ir_expr;

/* lo <= value < hi. */
typedef struct {
  ir_atom lo, hi;
  int64_t most;    /* it never holds more values than this */
  bool some;       /* it is never empty */
  bool exact;      /* it always holds exactly `most`; implies some */
  int64_t rest;    /* not exact, but never other than most, rest, one of also or nothing; 0: unknown */
  int64_t also[2]; /* where rest is known; 0: no more */
} ir_range;

/* What the nest that comes next reads of the panels, which tiles ask for ahead: they come from afar. */
typedef enum {
  IR_NEXT_UNASKED, /* they are near */
  IR_NEXT_SAME,    /* those of this nest, or nobody knows */
  IR_NEXT_LANES,   /* those behind them along n */
  IR_NEXT_SUMS     /* those behind them along the outermost dim that is reduced */
} ir_next;

/* A nest that is a product of matrices: out[.., m, .., n] += a[.., m, k] * b[.., k, n], all other dims outside.
 * Positions in the op's dims and reads. */
typedef struct {
  int m, n, k, a, b;
  int pack;       /* buffer where rows of b's n stand side by side; -1: they do in b itself */
  int64_t wide;   /* pack, of no slab: elements (groups, where the kernel has them) from row to row of it */
  bool far;       /* neighbours of b along k lie a page or more apart, and stay where they are */
  bool keep;      /* b is an argument: what was packed stays true until the box changes */
  ir_range *slab; /* [rank of b] the box of b, borders and all, that `pack` holds once for the whole nest; NULL: a panel
                     for each setting of the dims outside */
  int turned; /* buffer with the box of a, m innermost, then k, then its other dims; kept as long as the box is; -1: a
                 itself */
  const ir_kernel *kernel;
  int copy; /* buffer where rows of a stand as the kernel wants them, for each setting of the dims outside; -1: a itself
             */
  bool keep_copy;   /* a is an argument */
  int64_t stride;   /* of n along b's last rank; above 1, rows of the slab hold one phase after the other */
  bool channels;    /* m is the output's last dim and n another of its dims, along which lanes run (see below) */
  bool keep_slab;   /* the slab is of an argument: it stays until its box changes */
  int64_t row_step; /* channels: of m along a's last rank */
  bool joined;  /* channels: short rows are joined with those of the output's dim before m, of which the nest has few */
  int panel;    /* channels: columns of n that stand side by side ... */
  int last;     /* ... and in the last panel, whole vectors of them */
  ir_next next; /* channels: which panels the next nest wants */
  int panels;   /* channels: buffer with all of b in panels, in each a row of n for each setting of what is reduced */
  int offsets;  /* channels: buffer for where a's elements stand, one for each setting of what is reduced */
} ir_product;

/* With `channels`, all that is reduced is k: the nest walks it in the order of the op's dims, n in panels, and what is
 * outside within them.  Elements of a are broadcast, wherever they stand: neither windows nor strides ask for a copy,
 * and no lane idles where rows are short.  The tile is turned when it is stored.  b is an argument of which nothing but
 * n and k is asked; its panels are laid out once, in ir_program.packs.  slab and pack are of a; b is in panels. */

/* Where a tensor is kept while nests touch it: an argument of the kernel, or part of the workspace. */
typedef struct {
  int tensor; /* -1: scratch of products */
  bool argument;
  int rank;
  int64_t *extent; /* [rank] most elements along the rank */
  ir_atom *base;   /* [rank] coordinate of element 0 */
  ir_type type;
  int64_t words; /* product of the extents: elements of the type */
  int64_t block; /* above 0: along rank block_rank, so many neighbours stand side by side, innermost; the last block is
                    filled up */
  int block_rank;
  int level; /* memory of the architecture it stands for */
  bool
      lasting; /* keeps its content from run to run of its scope: covers the tensor, one for all that run in parallel */
  bool each;   /* each thread has its own */
  bool packed; /* panels of an argument, which the caller may have laid out before */
  int shares;  /* buffer whose place it takes when that has been read for the last time; -1: its own */
  bool kept;   /* retained: holds from one run of its scope what the next one needs (IR_KEEP) */
  bool staged; /* tiles of an input, filled by IR_STAGE, which sets the variables of base and slot */
  int64_t slots; /* kept: instances whose runs take turns, each with `words` of its own; staged: halves; else 1 */
  ir_atom slot;  /* the one at hand */
  const char *name;
  const char *id; /* its identifier in C (codegen/ir/names.h) */
} ir_buffer;

typedef struct ir_stmt ir_stmt;
typedef struct {
  int n;
  ir_stmt **s;
} ir_body;

/* What a statement's range[] spans. */
typedef enum { IR_OVER_NOTHING, IR_OVER_BUFFER, IR_OVER_OUTPUT, IR_OVER_DIMS } ir_over;

/* Kinds of statements: id; name; whether it has a body; whether it computes at points, of the op; what its range[]
 * spans. LET       var = expr KEEP      of what `buffer` holds of the box range[], a part stays and moves to its place;
 * made[] is left to be made: where one rank of the box reaches beyond what is held, that part of it; all, where several
 * do.  Then it holds range[] FORGET    the buffer of `tensor` is kept no longer: n_slots from `slot` on; 0: all.
 * `buffer` >= 0: a staged one, of which nothing is left, if a Tile below `node` filled it last STAGE     `buffer` holds
 * the box range[] of `tensor` from here on: what it lacks comes from `other`.  Has it two halves, then what the box
 * made[] of the next step lacks begins to come into the other half, unless `last` is not 0 or made is NULL FOR for var
 * in 0 .. trip - 1: body IF        body where one of the ranges `guard` is not empty TOGETHER  nests of the body in
 * turn, for each setting of their first n_common dims: what a row needs stays close NEST      all points of op in
 * range[]: a reduction starts over where all `fresh` are 0 SAVE      buffer `other` = copy of `buffer` (rounded to its
 * type) over range[] (dims of the op that makes it) CORRECT   where `fresh` is not 0: the op's output times exp(`other`
 * - `buffer`) over range[] DIVIDE    where `last` is reached: the op's output divided by `buffer` over range[] */
/* clang-format off */
#define IR_KINDS(X)                             \
  X(LET, "let", false, false, NOTHING)          \
  X(KEEP, "keep", false, false, OUTPUT)         \
  X(FORGET, "forget", false, false, NOTHING)    \
  X(STAGE, "stage", false, false, BUFFER)       \
  X(FOR, "for", true, false, NOTHING)           \
  X(IF, "if", true, false, NOTHING)             \
  X(TOGETHER, "together", true, false, NOTHING) \
  X(NEST, "nest", false, true, DIMS)            \
  X(SAVE, "save", false, true, OUTPUT)          \
  X(CORRECT, "correct", false, true, OUTPUT)    \
  X(DIVIDE, "divide", false, true, OUTPUT)
/* clang-format on */
typedef enum {
#define X(id, name, body, points, over) IR_##id,
  IR_KINDS(X)
#undef X
} ir_kind;

typedef struct {
  const char *name;
  bool body, points;
  ir_over over;
} ir_facts;

/* Rows of neighbours in an argument that a product of one pair of matrices will read or write: its box where its range
 * stands now, or further by shift[dim of its op]. */
typedef struct {
  const ir_stmt *nest;
  int read; /* a or b of the product; -1: what it writes */
  const int64_t *shift;
} ir_ask;

struct ir_stmt {
  ir_kind kind;
  int var;                   /* LET, FOR */
  ir_expr expr;              /* LET */
  int64_t trip;              /* FOR */
  int dim, node;             /* FOR, NEST, STAGE, FORGET: of the tree */
  bool parallel;             /* FOR: its steps touch nothing in common but what they read */
  ir_body body;              /* FOR, IF, TOGETHER */
  int n_common;              /* TOGETHER */
  const ir_stmt *rounds_for; /* NEST: the statement behind it that would copy its sums, rounded, which its product does
                                at once; NULL */
  bool done;                 /* SAVE, and the copy of a product's rows: by the product before */
  bool ahead; /* TOGETHER: its rows are those of `a` of the product behind it, which makes them while it multiplies, a
                 tile ahead */
  const ir_stmt *rows; /* NEST: that TOGETHER; NULL: what its product reads is there */
  const int *from;     /* NEST: [reads] the buffer that each is read from; NULL: that of the tensor */
  ir_range *made; /* KEEP: [rank] variables that are set; as range[] where none is.  Lengths other than those it names
                     are not left */
  int tensor;     /* FORGET, STAGE */
  ir_atom slot;
  int64_t n_slots;
  int n_guard; /* IF */
  ir_range *guard;
  int op;          /* KEEP: that makes it; NEST ... DIVIDE */
  ir_range *range; /* [dims of op]; KEEP, SAVE, CORRECT, DIVIDE: the first n_out_dims of them */
  int n_fresh;     /* NEST: lower ends of the reduced dims; CORRECT: of the loop it streams over */
  ir_atom *fresh;
  bool finite;     /* NEST: a running maximum that sums are corrected by: it starts at the lowest finite number, so that
                      where all is -inf as yet     exp(-inf - maximum) is 0 and exp(old - new) a number */
  ir_atom last;    /* STAGE; DIVIDE: upper end of the range that is streamed over ... */
  int64_t last_at; /* ... and its value in the last step */
  int divides;     /* NEST: read that the expression divides by and that waits (DIVIDE does it); -1: none */
  int buffer, other;
  const ir_product *product; /* NEST; NULL: point by point */
  int n_asks;                /* products: what it asks for ahead while it multiplies ... */
  const ir_ask *asks;
  unsigned asked; /* ... and what of its own another asks for: bit 0 what it writes, 1 + i read i */
};

/* The facts of a statement's kind. */
const ir_facts *ir_facts_of(const ir_stmt *s);
/* How many entries its range[] has. */
int ir_n_ranges(const tf_workload *wl, const ir_stmt *s);

/* All panels of the argument that a product reads as b. */
typedef struct {
  int op;
  const ir_product *product;
} ir_pack;

typedef struct ir_program {
  tf_arena *arena;
  const tf_tree *tree; /* borrowed */
  int n_vars;
  const char **var_name; /* [n_vars] as in C */
  int n_buffers;
  ir_buffer *buffers;
  const char **tensor_id, **dim_id, **op_id; /* of all of the workload: their identifiers in C */
  int *buffer_of;                            /* [n_tensors] where nests find the tensor */
  ir_machine machine;
  int n_packs; /* panels to be laid out before the body; they hang on arguments alone, and may be kept for many runs */
  ir_pack *packs; /* [n_packs] */
  ir_body body;
} ir_program;

void ir_free(ir_program *p);

/* The program as text, a statement a line. */
void ir_dump(FILE *out, const ir_program *p);

/* What a run does with one buffer, in elements. */
typedef struct {
  int64_t read, written; /* by points; what lies in the padding is not read, and a sum that starts is not */
  int64_t copied;      /* scratch of products: laid out anew from the operand, borders not counted; IR_STAGE: taken from
                          outside */
  int64_t ahead;       /* of what IR_STAGE copied, for the next step */
  int64_t kept, moved; /* what IR_KEEP left in place, or moved: not made again; of these, moved */
} ir_count;

typedef struct {
  ir_count *buffer; /* [n_buffers] */
  int64_t *points;  /* [n_ops] how often each op's expression is evaluated */
} ir_counts;

/* Whether the program is what lowering must leave: variables set once and before use, boxes within buffers, statements
 * where they can stand, products whose operands and scratch fit their boxes, sums that start.  False: why[size] says
 * what is not, in a line. */
bool ir_check(const ir_program *p, char *why, size_t size);

/* Runs it in double.  data[tensor]: row-major over the tensor's extents, inputs filled, outputs written.  counts: added
 * to what is there; NULL: nothing is counted.  False: out of memory, or an access outside a buffer (a fault of the
 * lowering). */
bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts);

/* The value of op's expression; read[i] is its i-th operand.  skip: the read to be taken as 1; -1: none. */
double ir_value(const tf_op *op, const double *read, int skip);
double ir_identity(tf_reduce r);
/* Maxima and minima, of expressions too, are C's fmax and fmin: an operand that is not a number counts as if it were
 * not there. */
double ir_combine(tf_reduce r, double a, double b);
/* Whether the op's i-th expression is an element less the maximum of its row: 0 or less, or not a number. */
bool ir_is_low(const tf_workload *wl, const tf_op *op, int i);
/* Whether tensor z is the sum over rows of exponentials of such differences: of numbers from 0 to 1 of which the
 * greatest is 1, it is at least 1 and at most the length of a row, or not a number. */
bool ir_is_share_sum(const tf_workload *wl, int z);
#endif
