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
  IR_PICK, /* arg[0] < arg[1] ? arg[2] : arg[3] */
  IR_MOD,  /* what arg[0], 0 or more, leaves when divided by arg[1], a number */
  IR_DIV   /* how often arg[1], a number, goes into arg[0], 0 or more */
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

/* How a product is multiplied: pairs of matrices for each setting of the dims outside; or with lanes along channels,
 * all that is reduced being k. */
typedef enum { IR_PAIRS, IR_CHANNELS } ir_way;

/* A nest that is a product of matrices: out[.., m, .., n] += a[.., m, k] * b[.., k, n], all other dims outside.
 * Positions in the op's dims and reads; buffers are -1 where there is none. */
typedef struct {
  int m, n, k, a, b;
  const ir_kernel *kernel;
  int pack;       /* buffer for b (IR_CHANNELS: a), laid out anew; -1: it is read where it stands */
  ir_range *slab; /* [rank of it] the box, borders and all, that `pack` holds once for the whole nest; NULL: a panel for
                     each setting of the dims outside, rows of n side by side */
  bool keep_slab; /* the slab is of an argument: it stays until its box changes */
  int64_t stride; /* of n along b's last rank; above 1, rows of the slab hold one phase after the other */
  ir_way way;
  union {
    struct {
      int64_t wide;    /* pack, of no slab: elements (groups, where the kernel has them) from row to row of it */
      bool far;        /* neighbours of b along k lie a page or more apart, and stay where they are */
      bool keep;       /* b is an argument: what was packed stays true until the box changes */
      int64_t *places; /* [dims of the op] above 1: boxes along the dim of which each has a place, a slot of `pack`;
                          NULL: they follow one another in one */
      int turned; /* buffer with the box of a, m innermost, then k, then its other dims; kept as long as the box is */
      int copy;   /* buffer where rows of a stand as the kernel wants them, for each setting of the dims outside */
      bool keep_copy; /* a is an argument */
      int panels;  /* buffer with all of b in panels, block of n after block; the caller may have laid it out, and else
                      nobody does (b is an argument of which n and k alone are asked); -1: it is not offered */
      bool merged; /* rows of the output's dim before n, and b's, follow each other without gaps (of arguments: if
                      their strides say so): they are one row */
    } pairs;
    /* The nest walks k in the order of the op's dims, n in panels, and what is outside within them.  m is the output's
     * last dim and n another of its dims.  Elements of a are broadcast, wherever they stand: neither windows nor
     * strides ask for a copy, and no lane idles where rows are short.  The tile is turned when it is stored.  b is an
     * argument of which nothing but n and k is asked; its panels are laid out once, in ir_program.packs. */
    struct {
      int64_t row_step; /* of m along a's last rank */
      bool joined;      /* short rows are joined with those of the output's dim before m, of which the nest has few */
      int panel;        /* columns of n that stand side by side ... */
      int last;         /* ... and in the last panel, whole vectors of them */
      ir_next next;     /* which panels the next nest wants */
      int panels;       /* buffer with all of b in panels, in each a row of n for each setting of what is reduced */
      int offsets;      /* buffer for where a's elements stand, one for each setting of what is reduced */
    } channels;
  };
} ir_product;

/* A nest that multiplies a matrix of rows m by one of columns n in what a warp's lanes share, as the target has it; all
 * other dims have one setting.  Positions in the op's dims and reads. */
typedef struct {
  int m, n, k, a, b;
} ir_fragments;

/* A nest that sums over a small window what no product of matrices does: depthwise convolution, pooling.  Lanes run
 * along the output's last dim, and rows of a tile along the one before; maps behind it take its sums while they are in
 * registers.  codegen/ir/window.h says what its reads hang on. */
typedef struct {
  int taps; /* settings of what is reduced, always the same number */
  int n_maps;
  const struct ir_stmt **maps;
} ir_window;

/* The buffer of panels that are laid out before the body, or may be; -1: none. */
static inline int ir_panels_of(const ir_product *p) {
  return p->way == IR_CHANNELS ? p->channels.panels : p->pairs.panels;
}

/* The read that a slab is of. */
static inline int ir_slab_of(const ir_product *p) { return p->way == IR_CHANNELS ? p->a : p->b; }

/* Whether the op's k-th dim is one of the matrices'. */
static inline bool ir_is_matrix(const ir_product *p, int k) { return k == p->m || k == p->n || k == p->k; }

/* What the steps of a loop are mapped to: id; name; whether they run side by side, touching nothing in common but what
 * they read or what a barrier has come between; whether they can meet at a barrier; depth: a loop stands only in loops
 * of less. */
#define IR_MAPS(X)                                                                                                     \
  X(SERIAL, "for", false, false, 0)                                                                                    \
  X(BLOCK, "block", true, false, 1)                                                                                    \
  X(THREAD, "parallel", true, true, 2)                                                                                 \
  X(WARP, "warp", true, true, 2)                                                                                       \
  X(LANE, "lane", true, true, 3)
typedef enum {
#define X(id, name, aside, meets, depth) IR_##id,
  IR_MAPS(X)
#undef X
} ir_map;

/* The row of a map. */
typedef struct {
  const char *name;
  bool aside, meets;
  int depth;
} ir_map_facts;
const ir_map_facts *ir_map_of(ir_map map);

/* Where buffers are.  Each step of a loop mapped to `of` has a space of its own; IR_SERIAL: there is one for all. */
typedef struct {
  const char *name;
  ir_map of;
  bool filled; /* asynchronous copies may fill it (IR_COPY) */
} ir_space;

/* What programs may use of a machine; data of the target's row. */
typedef struct {
  unsigned maps; /* what loops may be mapped to: bit by ir_map, IR_SERIAL always */
  int n_spaces;
  const ir_space *spaces; /* arguments are in the first */
  int n_queues;
  const char *const *queues; /* each takes copies one after the other, side by side with the others */
  int depth;                 /* groups of copies that may be under way in a queue; 0: it has none */
} ir_platform;

/* The first space of a platform of which each step of such a loop has its own; -1: it has none. */
int ir_space_of(const ir_platform *p, ir_map of);

/* What a buffer is for. */
typedef enum {
  IR_ARGUMENT,
  IR_BOX,     /* of an intermediate, what one run of its scope touches; or of sums, or of a value that was saved */
  IR_LASTING, /* as IR_BOX, but all of the tensor, from run to run: one for all that run side by side */
  IR_KEPT,    /* retained: holds from one run of its scope what the next one needs (IR_KEEP) */
  IR_TILES,   /* of an input, filled by IR_STAGE, which sets the variables of base and slot */
  IR_COPIED,  /* of an input, filled by IR_COPY: base and slot are those of the tile at hand */
  IR_SCRATCH, /* of products: it has no tensor */
  IR_PANELS   /* of an argument, which the caller may have laid out before: it has no tensor */
} ir_role;

/* Where a tensor is kept while nests touch it: an argument of the kernel, or part of the workspace. */
typedef struct {
  ir_role role;
  int tensor; /* -1: none */
  ir_type type;
  int rank;
  int64_t *extent; /* [rank] most elements along the rank */
  ir_atom *base;   /* [rank] coordinate of element 0 */
  int64_t words;   /* product of the extents, with blocks filled up and gaps: elements of the type */
  struct {
    int64_t
        by; /* above 0: along `rank`, so many neighbours stand side by side, innermost; the last block is filled up */
    int rank;
  } block;
  bool matrix;       /* a target's own form: rows and columns along two of the ranks, all other extents being 1 */
  int rows, columns; /* matrix: those ranks; columns -1: it is a column */
  int64_t gap;       /* elements behind each row of the last rank that belong to nobody */
  int level;         /* memory of the architecture it stands for */
  int space;         /* of the platform */
  int shares;        /* buffer whose place it takes when that has been read for the last time; -1: its own */
  int64_t slots; /* IR_KEPT: instances whose runs take turns, each with `words` of its own; IR_TILES, IR_COPIED: tiles;
                    else 1 */
  ir_atom slot;  /* the one at hand */
  const char *name;
  const char *id; /* its identifier in C (codegen/ir/names.h) */
} ir_buffer;

typedef struct ir_stmt ir_stmt;
typedef struct ir_program ir_program;
typedef struct {
  int n;
  ir_stmt **s;
} ir_body;

/* What a statement's range[] spans. */
typedef enum { IR_OVER_NOTHING, IR_OVER_BUFFER, IR_OVER_OUTPUT, IR_OVER_DIMS } ir_over;

/* Kinds of statements: id; name; whether it has a body; whether it computes at points, of the op; what its range[]
 * spans: a buffer's box, the output of the op, or all dims of the op.  What they do stands at their parts of ir_stmt.
 */
/* clang-format off */
#define IR_KINDS(X)                             \
  X(LET, "let", false, false, NOTHING)          \
  X(KEEP, "keep", false, false, OUTPUT)         \
  X(FORGET, "forget", false, false, NOTHING)    \
  X(STAGE, "stage", false, false, BUFFER)       \
  X(COPY, "copy", false, false, BUFFER)         \
  X(WAIT, "wait", false, false, NOTHING)        \
  X(BARRIER, "barrier", false, false, NOTHING)  \
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

/* The head is what every pass asks of any statement, as the row of its kind says (none: 0); the rest is of its kind
 * alone. */
struct ir_stmt {
  ir_kind kind;
  int op;          /* of what ranges over an output or dims: KEEP, NEST, SAVE, CORRECT, DIVIDE */
  ir_range *range; /* [ir_n_ranges] */
  ir_body body;
  union {
    struct { /* var = expr */
      int var;
      ir_expr expr;
    } let;
    /* Of what `buffer` holds of the box range[] a part stays and moves to its place; made[] is left to be made: where
     * one rank of the box reaches beyond what is held, that part of it; all, where several do.  Then it holds range[].
     */
    struct {
      int buffer;
      ir_range *made; /* [rank] variables that are set; as range[] where none is.  Lengths other than those it names are
                         not left */
    } keep;
    /* The buffer of `tensor` is kept no longer: n_slots from `slot` on; 0: all.  `buffer` >= 0: a staged one, of which
     * nothing is left, if a Tile below `node` filled it last. */
    struct {
      int tensor, buffer, node;
      ir_atom slot;
      int64_t n_slots;
    } forget;
    /* `buffer` holds the box range[] of its tensor from here on, for Tile `node`: what it lacks comes from `from`.  Has
     * it two halves, then what the box ahead[] of the next step lacks begins to come into the other half, unless `last`
     * is not 0 or ahead is NULL. */
    struct {
      int buffer, from, node;
      ir_range *ahead; /* [rank] */
      ir_atom last;
    } stage;
    /* Begins to copy the box range[] of its tensor from `from` into slot `slot` of `to`.  Until a WAIT has let its
     * group end nobody may touch what it fills, nor write what it reads.  An empty box ends its group all the same. */
    struct {
      int to, from, queue;
      ir_atom slot;
      bool ends;     /* it is the last of its group */
      int64_t parts; /* above 1: so many steps share the copying; this one does the part `part` of it */
      ir_atom part;
    } copy;
    struct { /* until at most `left` groups that this step has begun in the queue, the latest, are still under way */
      int queue, left;
    } wait;
    struct { /* until all steps of the nearest loop around that is mapped to `map` have come here */
      ir_map map;
    } barrier;
    struct { /* for var, which goes over a part of `dim`, in 0 .. trip - 1: body */
      int var, dim;
      int64_t trip;
      ir_map map;
    } loop;
    struct { /* IF one of the ranges is not empty: body */
      int n;
      ir_range *range;
    } guard;
    /* Nests of the body in turn, for each setting of their first n_common dims: what a row needs stays close. */
    struct {
      int n_common;
      bool ahead; /* its rows are those of `a` of the product behind it, which makes them while it multiplies, a tile
                     ahead */
    } together;
    struct { /* all points of op in range[]: a reduction starts over where all `fresh` are 0 */
      int n_fresh;
      ir_atom *fresh; /* lower ends of the reduced dims */
      bool finite; /* a running maximum that sums are corrected by: it starts at the lowest finite number, so that where
                      all is -inf as yet exp(-inf - maximum) is 0 and exp(old - new) a number */
      int divides; /* read that the expression divides by and that waits (DIVIDE does it); -1: none */
      const int *from;               /* [reads] the buffer that each is read from; NULL: that of the tensor */
      const ir_product *product;     /* NULL: point by point */
      const ir_fragments *fragments; /* a product of fragments; NULL: it is none */
      const ir_window *window;       /* a sum over a small window; NULL: it is none */
      bool done;                     /* a map that the window before makes */
      const ir_stmt *rows;           /* the TOGETHER that makes its product's rows; NULL: they are there */
      const ir_stmt *rounds_for; /* the statement behind it that would copy its sums, rounded, which its product does at
                                    once; NULL */
      bool copied;               /* rows of its product are copied by the product before */
      int n_asks;                /* what its product asks for ahead while it multiplies ... */
      const ir_ask *asks;
      unsigned asked; /* ... and what of its own another asks for: bit 0 what it writes, 1 + i read i */
    } nest;
    struct { /* buffer `to` = copy of `from` (rounded to its type) over range[] */
      int from, to;
      bool done; /* by the product before */
    } save;
    struct { /* where `fresh`, of the loop it streams over, is not 0: the op's output times exp(`before` - `after`) */
      int before, after; /* buffers */
      ir_atom fresh;
    } correct;
    struct {  /* where `last`, upper end of the range that is streamed over, is `at`: the op's output divided by `by` */
      int by; /* buffer */
      ir_atom last;
      int64_t at;
    } divide;
  };
};

/* The facts of a statement's kind. */
const ir_facts *ir_facts_of(const ir_stmt *s);
/* How many entries its range[] has. */
int ir_n_ranges(const ir_program *p, const ir_stmt *s);
/* The product of a nest; NULL for all else, too. */
static inline const ir_product *ir_product_of(const ir_stmt *s) { return s->kind == IR_NEST ? s->nest.product : NULL; }
/* Whether the statement is a loop whose steps run side by side. */
bool ir_is_aside(const ir_stmt *s);
/* Whether there is such a loop in the body, at any depth. */
bool ir_has_aside(const ir_body *b);
/* Whether the statement reads or writes the buffer itself, not through the operands of an op. */
bool ir_names(const ir_stmt *s, int buffer);

/* All panels of the argument that a product reads as b. */
typedef struct {
  int op;
  const ir_product *product;
} ir_pack;

struct ir_program {
  tf_arena *arena;
  const tf_tree *tree; /* borrowed, as the platform is */
  const ir_platform *platform;
  int n_vars;
  const char **var_name; /* [n_vars] as in C */
  int n_buffers;
  ir_buffer *buffers;
  const char **tensor_id, **dim_id, **op_id; /* of all of the workload: their identifiers in C */
  int *buffer_of;                            /* [n_tensors] where nests find the tensor */
  ir_machine machine;
  int n_packs; /* panels to be laid out before the body (IR_CHANNELS), or that may be (IR_PAIRS); they hang on arguments
                  alone, and may be kept for many runs */
  ir_pack *packs; /* [n_packs] */
  ir_body body;
};

void ir_free(ir_program *p);

/* Whether each step of some mapped loop has a buffer of its own. */
static inline bool ir_is_own(const ir_program *p, int buffer) {
  return p->platform->spaces[p->buffers[buffer].space].of != IR_SERIAL;
}

/* The program as text, a statement a line. */
void ir_dump(FILE *out, const ir_program *p);

/* What a run does with one buffer, in elements. */
typedef struct {
  int64_t read, written; /* by points; what lies in the padding is not read, and a sum that starts is not */
  int64_t copied;        /* scratch of products: laid out anew from the operand, borders not counted; IR_STAGE, IR_COPY:
                            taken from outside */
  int64_t ahead;         /* of what IR_STAGE copied, for the next step */
  int64_t kept, moved;   /* what IR_KEEP left in place, or moved: not made again; of these, moved */
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
 * to what is there; NULL: nothing is counted.  False: out of memory, or what no program may do: an access outside a
 * buffer, of what an asynchronous copy has not been waited for, or of what another step touches side by side; a barrier
 * that not all reach.  why[size] says which, in a line. */
bool ir_run_told(const ir_program *p, double *const *data, const ir_counts *counts, char *why, size_t size);
bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts);

/* The value of op's expression; read[i] is its i-th operand, point[dim] where it stands along the dims of the workload.
 * skip: the read to be taken as 1; -1: none. */
double ir_value(const tf_op *op, const double *read, const int64_t *point, int skip);
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
