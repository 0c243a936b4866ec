/* Loop IR: a mapping as loops over integer variables, nests of points, and buffers.
 *
 * Lowering decides everything (ranges, buffers, where sums start and end, what runs in parallel);
 * printers and the interpreter take no decisions.  The IR is independent of language and machine.
 */
#ifndef CODEGEN_IR_IR_H
#define CODEGEN_IR_IR_H
#include <stdio.h>

#include "base/arena.h"
#include "codegen/ir/types.h"
#include "tileflow/spec.h"

/* A value: variable + off; the number off if var < 0. */
typedef struct {
  int var;
  int64_t off;
} ir_atom;

static inline ir_atom ir_number(int64_t off) { return (ir_atom){-1, off}; }
static inline bool ir_same(ir_atom a, ir_atom b) { return a.var == b.var && a.off == b.off; }

typedef enum {
  IR_SUM, /* off[0] + sum of coef[i] * arg[i] */
  IR_MIN, /* minimum of the args */
  IR_MAX,
  IR_PICK, /* arg[0] < arg[1] ? arg[2] : arg[3] */
  IR_MOD,  /* arg[0] mod arg[1]; arg[0] >= 0, arg[1] a number */
  IR_DIV,  /* arg[0] / arg[1] rounded down; arg[0] >= 0, arg[1] a number */
  IR_SEEN  /* of an argument, whose buffer is the number arg[0], in the box arg[1] <= x < arg[2]
              along its first rank, and so on: the least end, at least the box's lower one along
              the last rank, beyond which all is -inf */
} ir_fn;

typedef struct {
  ir_fn fn;
  int n;
  ir_atom *arg;
  int64_t *coef; /* IR_SUM */
} ir_expr;

/* The values lo <= value < hi. */
typedef struct {
  ir_atom lo, hi;
  int64_t most; /* upper bound on its length */
  bool never_empty;
  bool exact; /* its length is always `most`; implies never_empty */
  int64_t
      other; /* where not exact: its length is always most, other, one of more, or 0; 0: unknown */
  int64_t more[2]; /* with other; 0: none */
} ir_range;

/* What a loop's steps are mapped to: id; name; parallel: whether steps run concurrently, sharing
 * nothing but what they read or what a barrier separates; meets: whether they can synchronise at a
 * barrier; depth: a loop may be nested only in loops of smaller depth. */
#define IR_MAPS(X)                                                                                 \
  X(SERIAL, "for", false, false, 0)                                                                \
  X(BLOCK, "block", true, false, 1)                                                                \
  X(THREAD, "parallel", true, true, 2)                                                             \
  X(WARP, "warp", true, true, 2)                                                                   \
  X(LANE, "lane", true, true, 3)
typedef enum {
#define X(id, name, parallel, meets, depth) IR_##id,
  IR_MAPS(X)
#undef X
} ir_map;

/* The row of a map. */
typedef struct {
  const char *name;
  bool parallel, meets;
  int depth;
} ir_map_facts;
const ir_map_facts *ir_map_of(ir_map map);

/* A memory space. Each step of a loop mapped to `map` has its own; IR_SERIAL: there is one. */
typedef struct {
  const char *name;
  ir_map map;
  bool filled; /* asynchronous copies (IR_COPY) may fill it */
} ir_space;

/* What a target's passes decide of statements, and of how buffers are laid out, stands in notes of
 * its own, which its printer alone reads (of a CPU: panels and slabs of products; of a GPU:
 * fragments, matrices).  The IR passes them on, and asks of them only what is in ir_notes. */
typedef struct ir_notes ir_notes;
typedef struct {
  const void *owner; /* an address by which the target recognises its notes */
} ir_note;
typedef struct ir_stmt ir_stmt;
typedef struct ir_program ir_program;
typedef struct ir_checker ir_checker; /* check.h */
typedef struct ir_count ir_count;

/* What the IR asks of notes; any function may be NULL, `begin` and `enter` both. */
struct ir_notes {
  /* Prints what is noted of the statement, at the end of its line, or on one of its own, indented
   * by `in`. */
  void (*dump)(FILE *out, const ir_program *p, const ir_stmt *s, int in);
  /* Checks what is noted of the statement, of the program (check.h). */
  void (*check)(ir_checker *c, const ir_stmt *s);
  void (*check_all)(ir_checker *c);
  /* Names the values that what is noted of the statement uses. */
  void (*uses)(const ir_program *p, const ir_stmt *s, void (*use)(void *ctx, ir_atom a), void *ctx);
  /* A run that counts: counts what is copied before the body, and returns what it remembers
   * (malloc'd; NULL: no memory); counts what is copied as the nest is entered, `var` being the
   * values of the variables. */
  void *(*begin)(const ir_program *p, ir_count *count);
  void (*enter)(void *run, const ir_program *p, const int64_t *var, ir_count *count,
                const ir_stmt *nest);
};

/* What programs may use of a machine; part of the target's row. */
typedef struct {
  unsigned maps; /* allowed mappings of loops: bit by ir_map; IR_SERIAL always */
  int n_spaces;
  const ir_space *spaces; /* arguments are in the first one */
  int n_queues;
  const char *const *queues; /* each processes its copies in order; queues are concurrent */
  int depth;             /* groups of copies that may be pending in a queue; 0: it has no queues */
  const ir_notes *notes; /* of its statements; NULL: there are none */
} ir_platform;

/* The first space of a platform that each step of such a loop has its own of; -1: none. */
int ir_space_of(const ir_platform *p, ir_map of);

/* Rows of a box: its points along some of a statement's ranges (by position) or of a buffer's
 * ranks, the last one fastest. */
enum { IR_MOST_STACKED = 4 };
typedef struct {
  int n, axis[IR_MOST_STACKED]; /* positions or ranks, outermost first ... */
  int64_t length[IR_MOST_STACKED],
      step[IR_MOST_STACKED]; /* ... rows along each; coordinates from one to the next */
  int64_t count; /* a buffer: rows that there is room for, those of the box or more; a statement: it
                    does the points of so many rows alone ... */
  ir_atom first; /* ... from this one on */
} ir_stack;

/* What a buffer is for. */
typedef enum {
  IR_ARGUMENT,
  IR_BOX, /* of an intermediate: what one run of its scope touches; also of sums and of saved values
           */
  IR_LASTING, /* as IR_BOX, but the whole tensor, kept from run to run; shared by concurrent steps
               */
  IR_KEPT,    /* retained: keeps from one run of its scope to the next what that needs (IR_KEEP) */
  IR_TILES,   /* of an input: filled by IR_STAGE, which sets the variables of base and slot */
  IR_COPIED,  /* of an input: filled by IR_COPY; base and slot are those of the current tile */
  IR_SCRATCH, /* packed operands of products; it has no tensor */
  IR_PANELS   /* of an argument, which the caller may have packed beforehand; it has no tensor */
} ir_role;

/* Storage of a tensor while nests access it: an argument of the kernel, or part of the workspace.
 */
typedef struct {
  ir_role role;
  int tensor; /* -1: none */
  ir_type type;
  int rank;
  int64_t *extent; /* [rank] the most elements along the rank */
  ir_atom *base;   /* [rank] coordinate of its first element */
  int64_t words;   /* size in elements of its type: the product of the extents, with blocks padded,
                      and gaps */
  struct {
    int64_t length; /* above 0: blocked layout, so many elements along `rank` are innermost; the
                   last block is padded */
    int rank;
  } block;
  int64_t gap;   /* unused elements after each row of the last rank */
  int level;     /* memory of the architecture that it models */
  int space;     /* memory space of the platform */
  int shares;    /* buffer whose memory it reuses after that was read for the last time; -1: its own
                    memory */
  int64_t slots; /* IR_KEPT: instances whose runs alternate, each with `words` of its own; IR_TILES,
                    IR_COPIED: tiles; else 1 */
  ir_atom slot;  /* the current slot */
  const char *name;
  const char *id; /* its identifier in C (codegen/ir/names.h) */
  const ir_note
      *note; /* how the target's passes lay it out; NULL: by its extents, the last rank fastest */
} ir_buffer;

typedef struct {
  int n;
  ir_stmt **s;
} ir_body;

/* What a statement's range[] covers. */
typedef enum { IR_OVER_NOTHING, IR_OVER_BUFFER, IR_OVER_OUTPUT, IR_OVER_DIMS } ir_over;

/* Kinds of statements: id; name; whether it has a body; whether it evaluates its op at points; what
 * its range[] covers: a buffer's box, the output of the op, or all dims of the op.  Their meaning
 * is given at their parts of ir_stmt. */
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
  X(CARRY, "carry", false, true, OUTPUT)        \
  X(CORRECT, "correct", false, true, OUTPUT)    \
  X(DIVIDE, "divide", false, true, OUTPUT)      \
  X(MERGE, "merge", false, true, OUTPUT)
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

/* The common part holds what every pass may ask of any statement, as the row of its kind says (0
 * where it has none); the union holds what is specific to the kind. */
struct ir_stmt {
  const ir_note *note; /* what the target's passes decided of it; NULL: nothing.  A nest without one
                          is evaluated point by point */
  ir_kind kind;
  int op; /* for kinds that range over an output or dims: KEEP, NEST, SAVE, CARRY, CORRECT, DIVIDE
           */
  ir_range *range;       /* [ir_n_ranges] */
  const ir_stack *stack; /* points: it does some rows of its ranges alone; NULL: all */
  ir_body body;
  union {
    struct { /* var = expr */
      int var;
      ir_expr expr;
    } let;
    /* Retention: of what `buffer` holds, the part inside the box range[] stays and is moved to its
     * place; missing[] becomes what is left to compute: if one rank of the box reaches beyond what
     * is held, that part; if several do, the whole box. Afterwards the buffer holds range[]. */
    struct {
      int buffer;
      ir_range *missing; /* [rank] variables that are set; equal to range[] where nothing is set.
                         Only lengths that it names are left to compute */
    } keep;
    /* Drops what the buffer of `tensor` retains: n_slots from `slot` on; 0: all.  `buffer` >= 0: a
     * staged buffer, whose contents are dropped if a Tile below `node` filled it last. */
    struct {
      int tensor, buffer, node;
      ir_atom slot;
      int64_t n_slots;
    } forget;
    /* From here on `buffer` holds the box range[] of its tensor, for Tile `node`; what it lacks is
     * copied from `from`. If it has two halves, what the next step's box ahead[] lacks begins to be
     * copied into the other half, unless `last` is not 0 or ahead is NULL. */
    struct {
      int buffer, from, node;
      ir_range *ahead; /* [rank] */
      ir_atom last;
    } stage;
    /* Begins an asynchronous copy of the box range[] of its tensor from `from` into slot `slot` of
     * `to`.  Until a WAIT has seen its group end, its destination must not be accessed and its
     * source not be written.  An empty box also ends its group. */
    struct {
      int to, from, queue;
      ir_atom slot;
      bool ends;     /* it is the last copy of its group */
      int64_t parts; /* above 1: so many steps share the copy; this one does part number `part` */
      ir_atom part;
    } copy;
    struct { /* waits until at most `left` of the groups that this step began in the queue, the
              * latest ones, are pending */
      int queue, left;
    } wait;
    struct { /* waits until all steps of the innermost loop around that is mapped to `map` have
                arrived */
      ir_map map;
    } barrier;
    struct { /* for var = 0 .. trip - 1, stepping through `dim`: body */
      int var, dim;
      int64_t trip;
      ir_map map;
      const char *note; /* for whoever reads the program: why it is not what was asked for; NULL:
                           nothing to say */
    } loop;
    struct { /* if at least one of the ranges is not empty: body */
      int n;
      ir_range *range;
    } guard;
    /* Fuses the nests of the body: runs them in turn for each setting of their first n_common dims,
     * so that what a row needs stays in cache. */
    struct {
      int n_common;
    } together;
    struct { /* evaluates op at all points of range[]; a reduction starts over where all `resets`
                are 0 */
      int n_resets;
      ir_atom *resets; /* lower ends of the reduced dims */
      bool part;   /* concurrent steps have parts of its sum: `resets` counts their own steps, or is
                      empty, whatever the lower ends */
      bool finite; /* a running maximum by which sums are corrected: it starts at the lowest finite
                      number instead of -inf, so that rows that are all -inf so far give exp(-inf -
                      maximum) = 0 and exp(old - new) is a number */
      int divides; /* the read by which the expression divides, deferred to a DIVIDE; -1: none */
      const int *from; /* [reads] the buffer of each operand; NULL: that of its tensor */
    } nest;
    struct { /* buffer `to` = copy of `from` (rounded to its type) over range[] */
      int from, to;
    } save;
    struct { /* buffer `to` takes in `from`, both sums of the op over range[]; then `from` is 0 if
                it `clears`.  from -1: `to` is 0 */
      int from, to;
      bool clears;
    } carry;
    struct { /* where `resets`, the lower end of the streamed range, is not 0: the op's output, and
                the buffers that carry its sums, times exp(rate * (`before` - `after`)) */
      int before, after; /* buffers */
      double rate;       /* above 0 */
      int n_carries;
      const int *carries;
      ir_atom resets;
    } correct;
    struct { /* where `last`, the upper end of the streamed range, is `end`: the op's output divided
                by `divisor` */
      int divisor; /* buffer */
      ir_atom last;
      int64_t end;
    } divide;
    /* Over range[], buffer `to` = what the op's reduction makes of all `parts` slots of `from`,
     * whose slot is variable `part`: each times exp(rate * (that slot of `before` - `after`)), and
     * in the end divided by `divisor`, where these are buffers and not -1. */
    struct {
      int from, to, part;
      int64_t parts;
      int before, after, divisor;
      double rate;
    } merge;
  };
};

/* Rows of the box that the stack is of. */
int64_t ir_stack_rows(const ir_stack *t);
/* Whether the statement's points along its k-th range are rows of a stack. */
bool ir_is_stacked(const ir_stmt *s, int k);

/* The facts of a statement's kind. */
const ir_facts *ir_facts_of(const ir_stmt *s);
/* How many entries its range[] has. */
int ir_n_ranges(const ir_program *p, const ir_stmt *s);
/* Whether the statement is a loop whose steps run concurrently. */
bool ir_is_parallel(const ir_stmt *s);
/* Whether there is such a loop in the body, or a statement of that kind, at any depth. */
bool ir_has_parallel(const ir_body *b);
bool ir_has(const ir_body *b, ir_kind kind);
/* Whether the statement itself reads or writes the buffer, other than through the operands of an
 * op. */
bool ir_names(const ir_stmt *s, int buffer);

struct ir_program {
  tf_arena *arena;
  const tf_tree *tree; /* borrowed, as the platform is; but its workload has ops as the steps of
                          streams compute them (model/flow/online.h) */
  const tf_workload *asked; /* the workload as it was given; NULL: that of the tree */
  const ir_platform *platform;
  int n_vars;
  const char **var_name; /* [n_vars] names in C */
  int n_buffers;
  ir_buffer *buffers;
  const char **tensor_id, **dim_id,
      **op_id;    /* identifiers in C of all tensors, dims and ops of the workload */
  int *buffer_of; /* [n_tensors] where nests access the tensor */
  ir_machine machine;
  int n_notes; /* what the target's passes decided of it as a whole, in the order of the nests that
                  made them ... */
  const ir_note **notes; /* ... [n_notes] */
  ir_body body;
};

void ir_free(ir_program *p);

/* Whether each step of some mapped loop has its own copy of the buffer. */
static inline bool ir_is_own(const ir_program *p, int buffer) {
  return p->platform->spaces[p->buffers[buffer].space].map != IR_SERIAL;
}

/* Prints the program as text, a statement per line. */
void ir_dump(FILE *out, const ir_program *p);

/* What a run does with one buffer, in elements. */
struct ir_count {
  int64_t read, written; /* by points; padding is not read, nor is a sum that starts */
  int64_t copied; /* scratch of products: elements packed, padding not counted; IR_STAGE, IR_COPY:
                     copied from the outer memory */
  int64_t ahead;  /* of what IR_STAGE copied: for the next step */
  int64_t kept, moved; /* kept: what IR_KEEP left in place or moved, so that it is not computed
                          again; moved: the part that moved */
};

typedef struct {
  ir_count *buffer; /* [n_buffers] */
  int64_t *points;  /* [n_ops] evaluations of each op's expression */
} ir_counts;

/* The verifier: variables are defined once and before use, boxes lie within buffers, statements are
 * where they may be, operands and scratch of products fit, sums start.  False: why[size] names the
 * first fault, in one line. */
bool ir_check(const ir_program *p, char *why, size_t size);

/* Interprets the program in double precision.  data[tensor]: row-major over the tensor's extents;
 * inputs are read, outputs written.  counts: incremented; NULL: nothing is counted.  False: out of
 * memory, or an illegal access: outside a buffer, to what an asynchronous copy is still filling, or
 * to what a concurrent step accesses; or a barrier that not all steps reach.  why[size] says which,
 * in one line. */
bool ir_run_why(const ir_program *p, double *const *data, const ir_counts *counts, char *why,
                size_t size);
bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts);

/* held.c: what kernels of integers hold the tensor as: whole numbers of 8 bits as bytes; as the
 * network has it, where it is one's, else by its width and by what makes it.  Whether some input is
 * bytes without a sign. */
tf_held_as ir_held_as(const tf_workload *wl, int z);
ir_type ir_type_held(const tf_workload *wl, int z);
bool ir_reads_unsigned(const tf_workload *wl);
/* Says of a tensor of bytes, where they are known to be of fewer numbers than their type has,
 * which. */
void ir_say_range(const tf_workload *wl, int z, tf_tensor *said);
/* The tensor as an operand, held as that type: what the type has, within what the workload
 * promises. */
ir_operand ir_operand_of(const tf_workload *wl, int z, ir_type type);
/* Whether the op sums products of two tensors; and whether sums of such bytes stay within -most and
 * most, or within an int32. */
bool ir_is_product(const tf_op *op);
bool ir_sums_within(const tf_workload *wl, const tf_op *op, ir_type a, ir_type b, int64_t most);
bool ir_fits_whole(const tf_workload *wl, const tf_op *op, ir_type a, ir_type b);

/* The value of op's expression; read[i] is its i-th operand, point[dim] the coordinate along each
 * dim of the workload. skip: a read that counts as 1 (a deferred divisor); -1: none. */
double ir_value(const tf_op *op, const double *read, const int64_t *point, int skip);
double ir_identity(tf_reduce r);
/* Combines two values of a reduction.  Maxima and minima, in expressions too, are C's fmax and
 * fmin: a NaN operand is ignored. */
double ir_combine(tf_reduce r, double a, double b);
/* Whether the op's i-th expression is an element minus the maximum of its row, hence at most 0, or
 * NaN. */
bool ir_is_low(const tf_workload *wl, const tf_op *op, int i);
/* Whether tensor z is a row sum of exponentials of such differences.  Its terms are in 0 .. 1 and
 * the greatest is 1, so that it is at least 1 and at most the row length, or NaN. */
bool ir_is_share_sum(const tf_workload *wl, int z);
#endif
