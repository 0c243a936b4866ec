/* The C printer of the CPU, parts of which other targets use. */
#ifndef CODEGEN_BACKEND_CPU_PRINT_PRINT_H
#define CODEGEN_BACKEND_CPU_PRINT_PRINT_H
#include "codegen/backend/cpu/note/note.h"
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/names.h"

/* An access to rows that are computed ahead: at<i> is the address of the i-th one in the current
 * row. */
typedef struct {
  const tf_op *op;
  int ref;    /* -1: the op's output */
  bool moves; /* it moves with the row; else one element serves the whole row */
  bool lead;  /* it belongs to the sum that is computed one row before the others */
} c_row_at;

/* Which of a loop's steps is printed, where that is known. */
typedef enum { C_STEP_ANY, C_STEP_FIRST, C_STEP_LATER, C_STEP_LAST } c_step_known;

typedef struct c_printer c_printer;
struct c_printer {
  FILE *out;
  const ir_program *p;
  const tf_workload *wl;
  const char *name; /* of the kernel: prefix of all exported names */
  tf_micro *micro;
  FILE *blocks;    /* block products are printed here, in front of the kernel */
  int64_t *offset; /* [buffer] words from the start of the common part of the workspace, or of a
                      thread's part */
  int64_t shared, per_thread; /* sizes of the two parts in words */
  int64_t packed, needed,
      packed_at; /* words of all packed panels; those of them, first in order, that each call needs;
                    and their offset in the common part, used unless the caller provides them */
  bool offers;   /* the caller may provide panels that no call needs: `args->packed` */
  int depth;     /* indentation */
  int inverse;   /* the read of inverse_of whose inverse is in inverse_<output>; -1: none */
  const tf_op *inverse_of;
  uint64_t steady; /* reads of steady_of whose values are in s_<output>_<number of the read> */
  const tf_op *steady_of;
  int vector_dim;            /* the dim along which vectors run */
  const tf_expr *round_last; /* a rounding that is done as the result is stored; NULL: none */
  uint64_t row_tensors;   /* tensors that are in v_<name>, bit by number mod 64 (rows have fewer) */
  int64_t *held;          /* [buffer] of a retained buffer: the offset in words, in its part of the
                             workspace, of the description of its content */
  bool in_parallel;       /* inside a loop over threads */
  bool as_int32;          /* reads are printed as int32_t */
  const c_row_at *row_at; /* [n_row_at] while rows computed ahead are printed, along dim row_dim;
                             otherwise NULL */
  int n_row_at, row_dim, n_ahead;
  int rounded_only; /* a tensor of these rows of which only the rounded values are read; -1: none */
  bool (*own)(c_printer *c,
              const ir_buffer *b); /* prints the current element of a buffer that is not in memory;
                                      false: it is in memory. NULL: all are */
  const tf_op *chosen;             /* the op whose value is selected within its mask; NULL: none */
  c_step_known step;               /* of the surrounding loop, for running sums and maxima */
  int panel; /* above 0: only columns of panel tp of a matrix are printed, so many groups of eight
              */
  bool may_invert;                    /* a quotient by a number may be a product with its inverse */
  bool lanes_share_sums;              /* the lanes of a warp share each sum (CUDA) */
  bool of_groups;                     /* a part of a kernel with warpgroups is printed */
  bool skips_steps;                   /* steps of the loop are skipped (CUDA) */
  const ir_stmt *region_loop;         /* the innermost serial loop of a region (CUDA); NULL: none */
  const struct cu_language *language; /* the dialect of a GPU's language (CUDA, OpenCL) */
  int flag;    /* the number of the innermost flag (CUDA); 0: there is none */
  bool failed; /* out of memory */
};

/* expr.c: the function that an IR_SEEN calls; and the text of those that the body calls, one for
 * each type of masks. */
const char *c_seen_name(ir_type mask);
void c_seen_text(FILE *out, const ir_program *p, const ir_body *b);

/* expr.c */
void c_indent(c_printer *c);
void c_atom(FILE *out, const ir_program *p, ir_atom a);
void c_let(c_printer *c, const ir_stmt *s);
/* The element of a buffer that a reference reads at the point d_<dim>...: its value as float (as
 * int32_t for ops with integer sums); next: its value as another type; and the lvalue; ref < 0: the
 * lvalue of the op's output. */
void c_element(c_printer *c, const tf_op *op, int ref);
void c_element_as(c_printer *c, const tf_op *op, int ref, ir_type type);
void c_place(c_printer *c, const tf_op *op, int ref);
/* Neighbours of what a reference reads along a dim, as `call(&element, step)`; `none` if it is
 * padding. */
void c_elements(c_printer *c, const tf_op *op, int ref, int dim, const char *call,
                const char *none);
const ir_buffer *c_buffer(const c_printer *c, const tf_op *op, int ref);
/* The name of a type in C; the opening of a conversion of a float to it, which c_rounded closes:
 * nothing, or a call. */
const char *c_type(ir_type t);
/* The suffix of functions for vectors of selected lanes of the type: `load` in `load_lanes`. */
const char *c_lanes_of(ir_type t);
void c_round(c_printer *c, ir_type t);
void c_rounded(c_printer *c, ir_type t);
/* The index at the point; next: the element of a buffer at x0, x1, ... and, along rank `last`,
 * x. */
void c_index(c_printer *c, const tf_index *ix);
void c_at(c_printer *c, const ir_buffer *b, int last, ir_type type);
/* The element of buffer `buffer` at the point of `op`, of a tensor produced by an op with the same
 * dims. */
void c_element_of(c_printer *c, int buffer);
/* The expression of op as float; reads are printed by c_element, the one at `skip` as 1. */
void c_value(c_printer *c, const tf_op *op, int skip);
/* The factor by which a result changes when its maximum rises from one buffer's element to the
 * other's: a call of the exponential with that rate. */
void c_correction(c_printer *c, const char *exp, double rate, int before, int after);
/* A number in C; the op's i-th expression; the operator of a comparison, NULL if it is none. */
void c_number(c_printer *c, double v);
void c_part(c_printer *c, const tf_op *op, int i);
const char *c_comparison(tf_kind kind);
/* Which argument of a call is a number; -1: none. */
int c_number_of(const tf_op *op, const tf_expr *e);
/* The step of a reference along a dim, in elements: a number, or a sum of strides of arguments. */
void c_step(c_printer *c, const tf_op *op, int ref, int dim);
void c_step_of(c_printer *c, int buffer, int dim); /* for c_element_of */
/* The same for rank r of a buffer in the workspace; of a blocked rank from one block to the
 * next. */
int64_t c_rank_step(const ir_buffer *b, int r);
void c_stride(c_printer *c, const ir_buffer *b, int r); /* the same as text, of arguments, too */
/* The name of the op's k-th dim; next: of scratch. */
const char *c_dim_name(const c_printer *c, const tf_op *op, int k);
void c_pack_name(c_printer *c, int buffer);
const char *c_combine(tf_reduce r); /* "+", or a function of two arguments */

/* nest_parts.c: a line at the current depth; the loop over the k-th dim of a nest; the end of n
 * loops. */
void c_line(c_printer *c, const char *text);
void c_loop(c_printer *c, const tf_op *op, const ir_stmt *s, int k);
void c_loop_by(c_printer *c, const tf_op *op, const ir_stmt *s, int k, int by); /* in steps */
void c_close(c_printer *c, int n);
/* The first `open` dims have their loops already. */
void c_nest(c_printer *c, const ir_stmt *s, int open);
/* Whether neighbours along dim are neighbours in every operand that it moves. */
bool c_runs_along(const c_printer *c, const tf_op *op, int dim, bool in_output);
/* "acc = combine(acc, value);"; acc NULL: the output. */
void c_accumulate(c_printer *c, const tf_op *op, const char *acc, int skip);
void c_fresh_flag(c_printer *c, const ir_stmt *s);
/* A value that is 0 where the reduction over the op's k-th dim starts: its lower end, or that minus
 * the first block's. */
ir_atom c_fresh_of(const tf_op *op, const ir_stmt *s, int k);
/* Whether the sum starts over, as an expression at the current place in the loops; requires n_fresh
 * > 0. */
void c_is_fresh(c_printer *c, const ir_stmt *s);
/* The read by which the whole is divided and which the innermost loop does not move; -1: none. */
int c_steady_divisor(const c_printer *c, const tf_op *op, const ir_stmt *s, int dim);
/* Prints `inverse_OUT` before the loop and, if needed, `power_OUT`, by which a product with the
 * inverse is multiplied. */
void c_take_divisor(c_printer *c, const tf_op *op, int divisor, bool vectors);
bool c_has_power(const c_printer *c, const tf_op *op, int divisor);
const char *c_identity(tf_reduce r);
/* The same for the nest, whose maximum may have to be finite. */
const char *c_start(const ir_stmt *s, tf_reduce r);
void c_over(c_printer *c, const ir_stmt *s); /* SAVE, CORRECT, DIVIDE */
void c_carry(c_printer *c, const ir_stmt *s);
/* Opens the condition under which CORRECT or DIVIDE applies its factor; false: there is none. */
bool c_open_when(c_printer *c, const ir_stmt *s);

/* rows.c: ops over contiguous rows. Whether the op sums elements unchanged; and the loops around
 * such a sum. */
bool c_is_row_sum(const c_printer *c, const tf_op *op);
void c_row_sum(c_printer *c, const tf_op *op, const ir_stmt *s, int open);
/* sums.c: sums along a row of the values of an expression, in vectors. */
bool c_is_value_sum(const c_printer *c, const ir_stmt *s);
void c_value_sum(c_printer *c, const ir_stmt *s, int open);
/* Whether the map over a row, with its first `open` dims set, is printed in vectors; and n ops of
 * one row, maps and sums of them. */
bool c_is_vector_row(const c_printer *c, const ir_stmt *s, int open);
void c_row_vectors(c_printer *c, const ir_stmt *const *all, int n, int open);
void c_together(c_printer *c, const ir_stmt *s);

/* A map of a product's sums that its tiles compute: prints its type and functions in front of the
 * kernel, unless they are there already; returns their names, and prints `map`, the map's operands
 * at the point, with their steps along the dim of a tile's rows (or channels). */
tf_micro_map c_map_of_sums(c_printer *c, const ir_stmt *map, char as[16]);
void c_map_places(c_printer *c, const ir_stmt *product, int rows);

/* window.c: sums and maxima over small windows (nest.window), and their maps. */
void c_window_nest(c_printer *c, const ir_stmt *s);

/* pack.c: packs an operand in the layout that the kernel wants; next: the address of the result. */
void c_pack_panel(c_printer *c, const tf_op *op, const ir_stmt *s);
/* The function that computes the correction of a panel's sums, for a kernel that lifts. */
const char *c_excess(c_printer *c, const cpu_product *p);
/* Packs all of b in panels, as a caller may provide them; next: whether it may; and "PANELS +
 * offset" of the nest, moved by shift[dim of the op] (NULL: not moved). */
void c_pack_offered(c_printer *c, const cpu_pack *pack);
bool c_offers(const c_printer *c, const cpu_product *p);
void c_offered_at(c_printer *c, const tf_op *op, const cpu_product *p, const int64_t *shift);
void c_fill_slab(c_printer *c, const tf_op *op, const cpu_product *p);
void c_transpose_rows(c_printer *c, const tf_op *op, const ir_stmt *s);
/* Whether the copied rows of a stay valid until the next call. */
bool c_keeps_copy(const cpu_product *p);
void c_copy_rows(c_printer *c, const tf_op *op, const ir_stmt *s);
void c_slab_argument(c_printer *c, const tf_op *op, const cpu_product *p);
/* The slab's address at the point d_<dim>..., and its step along a dim. */
void c_slab_at(c_printer *c, const tf_op *op, const cpu_product *p);
int64_t c_slab_step(const c_printer *c, const tf_op *op, const cpu_product *p, int dim);
void c_transposed_at(c_printer *c, const tf_op *op, const ir_stmt *s, bool with);
int64_t c_transposed_rows(const ir_stmt *s); /* its rows, with padding */

/* keep.c: retention: its functions for parts.h; and the number of int64_t that describe what the
 * buffer holds. */
void c_keep_text(FILE *out);
void c_keep(c_printer *c, const ir_stmt *s);
void c_forget(c_printer *c, const ir_stmt *s);
int64_t c_held_words(const ir_buffer *b);

/* product.c: the lengths that a range can have, `most` and others if it can be shorter; returns how
 * many. */
enum { C_MOST_LENGTHS = 2 + sizeof((ir_range *)0)->more / sizeof(int64_t) };
int c_lengths(const ir_range *r, int64_t *v);
void c_length(c_printer *c, const ir_range *r);
void c_origin(c_printer *c, const tf_op *op, const ir_stmt *s, int k);
/* The argument `add`: whether the product's sums have begun. */
void c_add_flag(c_printer *c, const tf_op *op, const ir_stmt *s);
void c_product(c_printer *c, const ir_stmt *s);
/* The offset of a panel among the slots of its pack, at the point moved by shift[dim of the op]
 * (NULL: not moved). */
void c_place_of_panel(c_printer *c, const ir_stmt *s, const int64_t *shift);

/* prefetch.c: `far`, what the product prefetches; next: its number of boxes of rows. */
void c_prefetch(c_printer *c, const ir_stmt *s);
int c_far_boxes(const c_printer *c, const ir_stmt *s);
/* print_overlap.c: rows that the product's kernel computes. Prints the functions that compute them,
 * in front of the kernel, and `of`, which holds the rows' addresses, inside the loops of the outer
 * dims; NULL: out of memory. */
typedef struct c_ahead c_ahead;
c_ahead *c_ahead_begin(c_printer *c, const ir_stmt *s);
const tf_micro_ahead *c_ahead_micro(const c_ahead *h); /* NULL for NULL */
void c_ahead_free(c_ahead *h);

/* print_skinny.c: a product of few rows. */
void c_skinny(c_printer *c, const ir_stmt *s);
/* channels.c: a product with lanes along channels; and its panels. */
void c_channels(c_printer *c, const ir_stmt *s);
void c_pack_panels(c_printer *c, const cpu_pack *pack);

/* print_sparse.c: a product of the nonzero elements of a; and its panels, packed by the function
 * that sets `broken` if some block has too many nonzero elements. */
void c_sparse(c_printer *c, const ir_stmt *s);
void c_pack_sparse(c_printer *c, const cpu_pack *pack);

/* kernel.c */
void c_body(c_printer *c, const ir_body *b);

/* Rows as vectors, in pieces (rows.c): n ops that go over one row together, the first `open` of
 * their dims being set. */
/* The code before the loop over the row's dim, for each vector (part: for its first `rest` lanes),
 * and after the loop. */
void c_rows_open(c_printer *c, const ir_stmt *const *all, int n, int dim);
void c_rows_vector(c_printer *c, const ir_stmt *const *all, int n, int dim, bool part);
void c_rows_close(c_printer *c, const ir_stmt *const *all, int n);
/* n ops of one row, maps or one sum down columns, element by element. Values that the row does not
 * move are hoisted: if a condition selects them, compilers would not vectorise the row. */
void c_row_maps(c_printer *c, const ir_stmt *const *all, int n, int open);
/* How many of the n ops, from the first on, are printed as one row; 0: the first is no map of a
 * row. Next: prints them, as vectors where that is faster. */
int c_joined(const c_printer *c, const ir_stmt *const *all, int n, int open);
void c_row(c_printer *c, const ir_stmt *const *all, int n, int open);
/* Values that the row does not move, before its loop; next: the value of a vector; and the sum in
 * `all` combined with the output. */
void c_hoist_steady(c_printer *c, const tf_op *op, const ir_stmt *s, int dim, bool vectors);
void c_rows_value(c_printer *c, const ir_stmt *s, int dim, bool part);
void c_store_sum(c_printer *c, const tf_op *op, const ir_stmt *s);
/* Whether vectors of float32 can be stored as the type. */
bool c_takes_vectors(const c_printer *c, ir_type t);
/* Whether the reference moves with dim. */
bool c_moves_with(const c_printer *c, const tf_ref *ref, int dim);
/* Whether the map is a deferred quotient that is stored in place of its operand. */
bool c_is_deferred_quotient(const c_printer *c, const ir_stmt *s);
#endif
