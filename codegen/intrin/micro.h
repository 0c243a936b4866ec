/* Micro-kernels: the innermost products of emitted kernels, as C text for one instruction set.
 *
 * A block product is cut into tiles whose sums stay in registers (Algorithm 2 of the thesis: outer products), and
 * the tiles' shapes come from Eq. 3.4: the most multiply-adds a load within the register file. */
#ifndef CODEGEN_INTRIN_MICRO_H
#define CODEGEN_INTRIN_MICRO_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "codegen/ir/types.h"
#include "tileflow/diag.h"

/* One row of the table of instruction sets. */
typedef struct {
  const char *name;
  int lanes, registers;    /* float32 a vector register; how many registers */
  const char *flags;       /* what gcc and clang need to compile the text */
  const char *machine;     /* the preprocessor's condition that the text can be compiled here */
  const char *data;        /* types that gain by it over the rows above: "f32 bf16 int8" */
  const char *has;         /* condition in C that the computer can run it, over leaf7 and TILES_ALLOWED of
                              target/cpu/print/multi.c; NULL: not asked */
  const char *plain;       /* target attribute of functions that run without it, and ask; NULL: every computer has it */
  const char *text;        /* `vec` and its operations in C */
  const char *shuffle;     /* prefix of Intel's intrinsics on `vec`; NULL: rows are turned element by element */
  const char *bf16, *int8; /* kernels of products of bf16, and of int8 by int8; NULL: float32, and portable */
  bool picks;              /* `vec_pick` is there, and `vec_scale` takes any n, of which it rounds down */
} tf_micro_isa;

/* A key of TF_ISAS; NULL where there is none.  At `i`: the i-th row, NULL past the last. */
const tf_micro_isa *tf_micro_isa_find(const char *name);
const tf_micro_isa *tf_micro_isa_at(int i);

/* named.c: the instruction set of that name (NULL: portable; "multi": several for the type of data, best first) and how
 * many; 0 with the reason in d. */
enum { TF_MICRO_MOST_ISAS = 16 };
int tf_micro_isas(const char *isa, const char *dtype, const tf_micro_isa **isas, tf_diags *d);
/* A key of TF_DTYPES; NULL: f32. */
bool tf_micro_data(const char *dtype, ir_type *type, tf_diags *d);

/* One row of the table of product kernels: c += a b over groups of neighbours along k. */
typedef struct {
  ir_kernel kernel;   /* first, so that a pointer to it is one to the row */
  int lanes;          /* of c a register; 0: those of the instruction set */
  bool tiles;         /* of AMX: codegen/intrin/amx.c prints them */
  const char *prefix; /* of names in the text: PREFIX_splat, PREFIX_load (of b), PREFIX_add, and PREFIX_start where a is
                         IR_U8 */
  const char *sums;   /* prefix of the operations on c; its registers are of type SUMS, those of b of type PREFIX */
  const char *text;
} tf_micro_kernel;

/* The name of a type in C. */
const char *tf_micro_type(ir_type t);
/* How the instruction set multiplies data of that type. */
ir_machine tf_micro_machine(const tf_micro_isa *isa, ir_type data);
const tf_micro_kernel *tf_micro_kernel_find(const char *name); /* NULL: none */
/* The row that the kernel stands in, of the table or any other. */
const tf_micro_kernel *tf_micro_kernel_of(const ir_kernel *kernel);

/* Whether the target's kernels need AMX's tiles: TILES_ALLOWED() asks the system for them, once a process or more
 * often; and each thread calls tiles_open() before its first product, and _tile_release() behind its last. */
bool tf_micro_has_tiles(const ir_machine *target);

/* Eq. 3.4 for long k: rows (an even number, two registers for what is broadcast of A) and registers across of the tile
 * with the most multiply-adds a load; of equals, the one that is narrower. */
void tf_micro_best(int registers, int *rows, int *across);
/* Into how many panels of nearly equal width that many vectors are cut: as wide as tf_micro_best says, or one more
 * where less is loaded then (five vectors: 5 x 5 sums and one of a fill 32 registers). */
int64_t tf_micro_panels(int registers, int64_t vectors);
/* The most rows of a tile `across` registers wide: rows * across + across + 1 <= registers, and no more than 14. */
int tf_micro_rows(int registers, int across);

/* One row of the table of libraries that have products of float32: a block asks the library first, and multiplies by
 * itself where it has no kernel for the lengths and strides. */
typedef struct {
  const char *name;              /* "own": no library */
  const char *include;           /* what parts.h includes */
  const char *libraries, *cmake; /* what the linker is told; and find_library's name */
  const char *ask; /* C, where n and m are the block's lengths as %lld: returns where the library has multiplied */
} tf_micro_source;
const tf_micro_source *tf_micro_source_find(const char *name); /* NULL: own; NULL where there is none */

/* What has been printed into one file. */
typedef struct tf_micro tf_micro;
tf_micro *tf_micro_new(const tf_micro_isa *isa, const tf_micro_source *source); /* NULL: out of memory */
void tf_micro_free(tf_micro *u);
int tf_micro_lanes(const tf_micro *u); /* float32 a vector register */

/* The operations on vectors; once, before anything else. */
void tf_micro_prologue(FILE *out, const tf_micro_isa *isa);
/* What the kernels of a target are made of, after the prologue. */
void tf_micro_kernel_text(FILE *out, const ir_machine *target);

/* Where kinds (bits 1 << tf_kind) hold exp, after the prologue of an instruction set of more than one lane: `vec
 * vec_exp(vec)`, and `vec vec_exp_low(vec)` of what is 0 or less, or not a number, 0 below 2^-100; and the most that
 * they are off, said as in tf_micro_fn.  `vec vec_exp_brief(vec)` is vec_exp_low off by 2.4e-4 at most, an eighth of
 * what rounding to bfloat16 takes: for what is rounded so at once. */
void tf_micro_vector_math(FILE *out, const tf_micro_isa *isa, uint32_t kinds);
/* `vec vec_choose(vec_truth where, vec yes, vec no)`, where `vec_truth` is what a comparison of two vectors gives, and
 * `vec vec_from(int64_t first)`: first, first + 1, and so on. */
void tf_micro_vector_choices(FILE *out);
double tf_micro_vector_error(const tf_micro_isa *isa);

/* lanes.c: of more than one lane, behind the prologue: `lanes`, which of a vector's lanes are meant; `lanes_between`;
 * `lanes_within`, those of n whose columns are in an image; loads (of lanes not meant: 0), also of every second element
 * (_2) and of those `step` apart (_step), and stores.  bf16: loads of bfloat16, as wide_lanes and so on, behind
 * tf_micro_bf16. */
void tf_micro_lanes_text(FILE *out, const tf_micro_isa *isa, bool bf16);

/* `float row_sum(const float *x, int64_t n)`, and row_max, row_min: of n neighbours; 0 and the infinities of none; `vec
 * vec_keep(vec v, vec other, int n)`: v, but from lane n on the other; and, of more than one lane, `vec
 * vec_whole_part(const int32_t *p, int n)`: the first n as float, then zeros. */
void tf_micro_rows_text(FILE *out, int lanes);

/* `void turn_words(const void *from, int64_t from_row, void *to, int64_t to_row, int64_t rows, int64_t words)`: of 32
 * bits, rows in bytes; needs int64_t least(int64_t, int64_t), and stands behind the prologue. */
void tf_micro_turn_text(FILE *out);

/* Prints, where it is not there yet, and names (owned by u; NULL: out of memory, or m or n below 1)
 *   static void NAME(int64_t k, const A *a, int64_t a_m, int64_t a_k, const B *b, int64_t b_k, C *c, int64_t c_m, int
 * add) c[i * c_m + j] = (add & ADDS ? c[i * c_m + j] : 0) + sum over p < k of a[i * a_m + p * a_k] * b[p * b_k + j], i
 * < m, j < n, sums in C (float or int32_t) in the order of p.  Touches nothing beyond these elements of c.  add &
 * FAR_A: a comes from memory, row by row, neighbours along k; add & FAR_C: so does c; both are then asked for ahead.
 * asks: two more arguments, `const far_rows *far, int64_t boxes`: what will be wanted after it, asked for while it
 * multiplies; not for kernels in AMX's tiles.  rounds: c is of the type that the kernel's sums may leave as
 * (ir_kernel.leaves), and nothing is added; add & FILLS, of kernels in tiles: each row of c is followed by zeros up to
 * a multiple of 32. Where the kernel has groups, k counts groups, a[i * a_m + p * a_k + e] meets b[p * b_k + j * group
 * + e], and a and b are filled up as ir_kernel says. */
const char *tf_micro_block(FILE *out, tf_micro *u, const ir_kernel *kernel, int64_t m, int64_t n, bool asks,
                           bool rounds);

/* Rows of a that are made while the product multiplies, as C over `const NAME *of`, which says where they stand, and
 * row `i`; TYPE is NAME. `void NAME_rows(const NAME *of, int64_t from, int64_t to)` makes rows from ... to - 1, and has
 * been printed. */
typedef struct {
  const char *name;
  const char *place;                 /* the variable of `vector` that goes along the row, from 0 by LANES */
  int64_t words;                     /* of a row: k of the product */
  const char *begin;                 /* before row `from`, the first of some */
  const char *open, *vector, *close; /* of row i (the last is to - 1): before, at each whole vector, behind */
} tf_micro_ahead;

/* As tf_micro_block, of size[0] rows by size[1], and of rows of float32 that are not there yet; `const NAME *of` is its
 * last argument, behind those of `asks`.  Instruction sets whose vectors have more lanes than tiles have rows. */
const char *tf_micro_block_ahead(FILE *out, tf_micro *u, const ir_kernel *kernel, const int64_t size[2], bool asks,
                                 bool rounds, const tf_micro_ahead *ahead);

/* Operands of a product of few rows: of float32 or bfloat16 where they stand. */
typedef struct {
  int rows;
  ir_type a, b;
  bool along_k; /* neighbours of both are along k; else b's are along n */
} tf_micro_few;

/* few.c: the most rows that are few.  Prints, where it is not there yet, and names (owned by u; NULL: out of memory)
 *   static void NAME(int64_t k, const A *a, int64_t a_m, int64_t a_k, const B *b, int64_t b_step, float *c, int64_t
 * c_m, int64_t n, int add) c[i * c_m + j] = (add ? the same : 0) + sum over p < k of a[i * a_m + p * a_k] * b(p, j), i
 * < rows, j < n, k > 0, b(p, j) being b[j * b_step + p], a_k 1, and the sum in lanes that are put together at the end,
 * where neighbours are along k; else b[p * b_step + j], and the sum in the order of p.  Of more than one lane. */
int tf_micro_few_rows(int registers);
const char *tf_micro_few_product(FILE *out, tf_micro *u, const tf_micro_few *f);

/* Rows of a panel in one go: they stay in a core's second cache while all rows of the output pass. */
enum { TF_MICRO_PART = 2048 };

/* Rows of the output: m elements, whose elements of a stand `step` apart; `joined` (1: one alone) go together, a's
 * `apart`. */
typedef struct {
  int64_t m, step, joined, apart;
  bool far;      /* a is in memory, and asked for ahead (rows that are not joined) */
  int64_t block; /* above 0: elements of c stand so far apart, and panels of their channels side by side */
  bool asks;     /* for what the next panels hold: has two more arguments */
} tf_micro_rows_of;

/* channels.c: rows whose lanes run along channels.  Prints, where it is not there yet, and names (owned by u; NULL: out
 * of memory) static void NAME(int64_t k, const float *a, const int64_t *at, const float *b, float *c, int64_t c_n,
 * int64_t c_p, int64_t n, int add) c[j * c_n + r * c_p + i] = (add ? the same : 0) + sum over p < k of a[at[p] + r *
 * apart + i * step] * b[p * panel + j], i < m, r < joined, j < n <= panel, sums in the order of p.  panel: a multiple
 * of the lanes.  add & FAR_C: as above.  Touches nothing beyond these elements of c; reads whole rows of b.  With a
 * block: c[r * c_p + i * block + j] for all j < panel <= block. That asks: (.., int add, uintptr_t ahead, int64_t by):
 * each tile asks for the k * by bytes from `ahead` on, the next one for those behind. */
const char *tf_micro_channels(FILE *out, tf_micro *u, const tf_micro_rows_of *r, int panel);
#endif
