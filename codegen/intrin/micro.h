/* Micro-kernels: the innermost products of emitted kernels, as C text for one instruction set.
 *
 * A block product is cut into tiles whose sums stay in registers (Algorithm 2 of the thesis: outer
 * products), and the tiles' shapes come from Eq. 3.4: the most multiply-adds a load within the
 * register file. */
#ifndef CODEGEN_INTRIN_MICRO_H
#define CODEGEN_INTRIN_MICRO_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "codegen/ir/types.h"
#include "tileflow/spec.h"

typedef struct tf_micro_words tf_micro_words; /* words.h */
typedef struct tf_micro_kernel tf_micro_kernel;

/* How an instruction for products holds its sums.  Rows of a are broadcast to VECTORS of b's
 * columns; a vector register has SQUARES of 2 x 2 sums, of rows and columns of 8 bytes; AMX has
 * TILES; SME has OUTER products of two vectors of words in tiles. */
typedef enum { TF_MICRO_VECTORS, TF_MICRO_SQUARES, TF_MICRO_TILES, TF_MICRO_OUTER } tf_micro_form;

/* How an instruction set multiplies fours of bytes, one of the operands without a sign (kernel.c).
 */
typedef enum {
  TF_FOURS_NONE,
  TF_FOURS_TWICE,
  TF_FOURS_AVX_VNNI,
  TF_FOURS_AVX512_VNNI
} tf_micro_fours_way;

/* One row of the table of instruction sets. */
typedef struct tf_micro_isa {
  const char *name;
  int lanes,
      registers; /* lanes: float32 a vector register, as tiles are planned; number of registers */
  const char *lanes_of; /* C constant of the same, LANES in the text, where the compiler knows it;
                           NULL: `lanes` */
  const char *headers;  /* what the text includes; NULL: nothing */
  const char *flags;    /* options for gcc and clang to compile the text */
  const char *machine;  /* preprocessor condition under which the text can be compiled */
  const char *data;     /* data types for which it is better than the rows above: "f32 bf16 int8" */
  const char *has;      /* C condition that the computer can run it, over leaf7 and TILES_ALLOWED of
                           backend/cpu/print/multi.c; NULL: not tested */
  const char *plain;   /* target attribute for functions that run without it, and test for it; NULL:
                          every computer has it */
  const char *text;    /* `vec` and its operations in C */
  const char *shuffle; /* prefix of Intel's intrinsics on `vec`; NULL: rows are transposed element
                          by element */
  const tf_micro_words
      *words;          /* for instructions of products that are described; NULL: it takes none */
  tf_micro_form tiles; /* which it has: TF_MICRO_TILES, TF_MICRO_OUTER; TF_MICRO_VECTORS: none */
  tf_micro_fours_way fours; /* beside its kernel of bytes */
  bool picks; /* `vec_pick` is there, and `vec_scale` takes any n, of which it rounds down */
  const tf_micro_kernel
      *described; /* described by the caller (described.h), before those of the table; NULL: none */
} tf_micro_isa;

/* A key of TF_ISAS; NULL where there is none.  At `i`: the i-th row, NULL past the last. */
const tf_micro_isa *tf_micro_isa_find(const char *name);
const tf_micro_isa *tf_micro_isa_at(int i);

/* named.c: the instruction sets that a kernel is emitted for (o->isa NULL: portable; "multi":
 * several for the type of data, best first), with o->instrs.  Returns how many; 0 with the reason
 * in d. */
enum { TF_MICRO_MOST_ISAS = 16 };
int tf_micro_isas(const tf_emit_options *o, const tf_micro_isa **isas, tf_diags *d);
/* The type for a key of TF_DTYPES; NULL: f32. */
bool tf_micro_data(const char *dtype, ir_type *type, tf_diags *d);
bool tf_micro_type_of(const char *dtype, ir_type *type); /* the same without a reason */

/* One row of the table of product kernels: c += a b over groups of elements along k. */
struct tf_micro_kernel {
  ir_kernel kernel; /* must be first: a pointer to it is converted to one to the row */
  int lanes;        /* columns of c in a register; 0: those of the instruction set */
  tf_micro_form form;
  const char *prefix; /* NULL: f32.  Prefix of names in the text: PREFIX_splat, PREFIX_load (of b),
                         PREFIX_add, and PREFIX_lift, as splat, of a kernel that lifts; where groups
                         of bfloat16 are broadcast, PREFIX_pairs_of_f32 and _of_bf16 put two rows
                         side by side (zeros where the second is NULL) */
  const char *sums;   /* prefix of the operations on c, in registers of type SUMS; those of b have
                         type PREFIX */
  const char
      *text; /* of all this; NULL: made from what follows, which is the instruction's description */
  const char *call; /* C over the names of its operands: a, b, c; of OUTER the assembler's words */
  const char *operand[3];
  const char *isa[TF_INSTR_ISAS + 1]; /* instruction sets that have it; then NULL */
};
/* The rows that arch-specs/instructions describe, as codegen/intrin/table/main.c prints them when
 * tileflow is built. */
extern const tf_micro_kernel tf_micro_described[];
extern const int tf_micro_n_described;
/* Whether its sums are in tiles, of AMX or SME. */
static inline bool tf_micro_in_tiles(const tf_micro_kernel *k) {
  return k->form == TF_MICRO_TILES || k->form == TF_MICRO_OUTER;
}
/* Type of data of products that the kernel computes. */
ir_type tf_micro_data_of(const tf_micro_kernel *k);
/* Prints the call, with these in the place of its operands. */
void tf_micro_call(FILE *out, const tf_micro_kernel *k, const char *const with[3]);

/* The name of a type in C. */
const char *tf_micro_type(ir_type t);
/* The machine for kernels of that type of data with that instruction set. */
ir_machine tf_micro_machine(const tf_micro_isa *isa, ir_type data);
/* Its products of integers take bytes without a sign, too (NULL: by no kernel). */
void tf_micro_no_sign(const tf_micro_isa *isa, ir_machine *machine);
/* Its products of bytes, by pairs of int16 else, may be by fours, where these are exact; ranged:
 * numbers of some tensors are within ranges. */
void tf_micro_in_fours(const tf_micro_isa *isa, bool ranged, ir_machine *machine);
/* The kernel of fours that is exact for such operands a and b; NULL: there is none. */
const ir_kernel *tf_micro_fours(const ir_machine *machine, const ir_operand *a,
                                const ir_operand *b);
/* The time of a group of the kernel's k, relative to the kernels for which the costs of a core are
 * given. */
double tf_micro_group_time(const ir_kernel *kernel);
/* The function of the kernel's that puts rows of bytes of that type side by side. */
const char *tf_micro_beside(const ir_kernel *kernel, ir_type from);
const tf_micro_kernel *tf_micro_kernel_find(const char *name); /* NULL: none */
/* The row that contains the kernel, in the table or elsewhere. */
const tf_micro_kernel *tf_micro_kernel_of(const ir_kernel *kernel);

/* Whether the target's kernels need tiles.  Then TILES_ALLOWED() must ask the system for them, at
 * least once a process; and each thread must call tiles_open() before its first product, and
 * tiles_release() after its last. */
bool tf_micro_has_tiles(const ir_machine *target);

/* Eq. 3.4 for long k: the tile with the most multiply-adds per load: rows (an even number, two
 * registers hold broadcast elements of A) and registers across.  Ties go to the narrower one. */
void tf_micro_best(int registers, int *rows, int *across);
/* Number of panels of nearly equal width for that many vectors: `across` wide at most; or (0) as
 * wide as tf_micro_best says, or one wider where that loads less (five vectors: 5 x 5 sums and one
 * of a fill 32 registers). */
int64_t tf_micro_panels(int registers, int64_t vectors, int across);
/* Vectors across a register tile that were chosen; 0: none. */
int tf_micro_across(const tf_choices *c);
/* The most rows of a tile `across` registers wide: rows * across + across + 1 <= registers, at
 * most 14. */
int tf_micro_rows(int registers, int across);

/* One row of the table of libraries with float32 products: a block asks the library first, and uses
 * its own code where that has no kernel for the lengths and strides. */
typedef struct {
  const char *name;              /* "own": no library */
  const char *include;           /* what parts.h includes */
  const char *libraries, *cmake; /* linker options; and the name for CMake's find_library */
  const char *ask; /* C with the block's lengths n and m as %lld, which returns if the library has
                      multiplied */
} tf_micro_source;
const tf_micro_source *
tf_micro_source_find(const char *name); /* NULL: own; NULL where there is none */

/* The micro-kernels that have been printed into one file. */
typedef struct tf_micro tf_micro;
/* choices: NULL: none was made.  NULL: out of memory. */
tf_micro *tf_micro_new(const tf_micro_isa *isa, const tf_micro_source *source,
                       const tf_choices *choices);
void tf_micro_free(tf_micro *u);
int tf_micro_lanes(const tf_micro *u); /* float32 a vector register */

/* Records a function name, owned by u (NULL: out of memory); anew: it is still to be printed. */
const char *tf_micro_name(tf_micro *u, const char *name, bool *anew);

/* Prints the vector operations; once, before anything else. */
void tf_micro_prologue(FILE *out, const tf_micro_isa *isa);
/* Prints what the kernels of a target need, after the prologue of the instruction set. */
void tf_micro_kernel_text(FILE *out, const tf_micro_isa *isa, const ir_machine *target);

/* Prints, if exp is among the kinds (bits 1 << tf_kind), after the prologue of an instruction set
 * with more than one lane: `vec vec_exp(vec)`; `vec vec_exp_low(vec)` for arguments <= 0 or NaN,
 * with 0 below 2^-100; their errors are stated as in tf_micro_fn.  `vec vec_exp_brief(vec)` is
 * vec_exp_low with an error of at most 2.4e-4, an eighth of bfloat16's rounding error, for results
 * that are rounded so at once. */
void tf_micro_vector_math(FILE *out, const tf_micro_isa *isa, uint32_t kinds);
/* `vec vec_choose(vec_truth where, vec yes, vec no)`, where `vec_truth` is the result of comparing
 * two vectors, and `vec vec_from(int64_t first)`: first, first + 1, and so on. */
void tf_micro_vector_choices(FILE *out);
/* `vec vec_round(vec)`: to whole numbers, ties to even. */
void tf_micro_vector_round(FILE *out, const tf_micro_isa *isa);
/* Whether its vectors take in bytes, as those of so many lanes do; and where they do, `vec
 * vec_of_u8(const uint8_t *)`, `void vec_to_u8(uint8_t *, vec)` of whole numbers that uint8 holds,
 * `void vec_near_u8(uint8_t *, vec)` of the nearest ones to numbers within its limits, the first
 * two with _part, which touch n bytes alone; loads of selected lanes as u8_lanes and so on
 * (lanes.c); the same of int8; whole_lanes and store_whole_lanes of int32 that float32 holds. */
enum { TF_MICRO_BYTES_LANES = 8 };
bool tf_micro_takes_bytes(const tf_micro *u);
void tf_micro_vector_bytes(FILE *out, const tf_micro_isa *isa);

/* lanes.c: with more than one lane, after the prologue: type `lanes`, a selection of a vector's
 * lanes; `lanes_between`; `lanes_within`, those of n whose columns are in an image; loads (0 in
 * lanes not selected), also of every second element (_2) and of those `step` apart (_step), and
 * stores; `lanes_or(v, lanes, other)`, v in the lanes selected, else other.  bf16: also loads of
 * bfloat16, as wide_lanes and so on, after tf_micro_bf16. */
void tf_micro_lanes_text(FILE *out, const tf_micro_isa *isa, bool bf16);

/* `float row_sum(const float *x, int64_t n)`, and row_max, row_min: over n neighbours; 0 and the
 * infinities for n = 0. `vec vec_keep(vec v, vec other, int n)`: v in the first n lanes, other in
 * the rest; and with more than one lane `vec vec_whole_part(const int32_t *p, int n)`: the first n
 * as float, then zeros. */
void tf_micro_rows_text(FILE *out, int lanes);

/* `void transpose_words(const void *from, int64_t from_row, void *to, int64_t to_row, int64_t rows,
 * int64_t words)`: transposes 32-bit words; row pitches in bytes.  Needs int64_t least(int64_t,
 * int64_t), and comes after the prologue. */
void tf_micro_transpose_text(FILE *out);

/* Prints the function, unless it is there already, and returns its name (owned by u; NULL: out of
 * memory, or m or n below 1): static void NAME(int64_t k, const A *a, int64_t a_m, int64_t a_k,
 * const B *b, int64_t b_k, C *c, int64_t c_m, int add) c[i * c_m + j] = (add & ADDS ? c[i * c_m +
 * j] : 0) + sum over p < k of a[i * a_m + p * a_k] * b[p * b_k + j], i < m, j < n; sums in C (float
 * or int32_t), in the order of p.  Accesses no other elements of c. add & FAR_A: a comes from
 * memory row by row, contiguous along k; add & FAR_C: so does c; both are then prefetched.
 * prefetches: two more arguments, `const far_rows *far, int64_t boxes`: what later products need,
 * prefetched while it multiplies; not for AMX kernels.  rounds: c has the type to which the
 * kernel's sums can be rounded (ir_kernel.leaves), and nothing is added; add & FILLS, of AMX
 * kernels: each row of c is followed by zeros up to a multiple of 32.  For kernels with groups, k
 * counts groups, a[i * a_m + p * a_k + e] is multiplied by b[p * b_k + j * group + e], and a and b
 * are padded as ir_kernel says. */
const char *tf_micro_block(FILE *out, tf_micro *u, const ir_kernel *kernel, int64_t m, int64_t n,
                           bool prefetches, bool rounds);

/* A map of sums of int32 that tiles of vectors compute before they store, as C that the caller has
 * printed: type NAME, what it takes beside the sums; `void NAME_store(const NAME *of, T *c, vec
 * sum, int64_t i, int64_t j)`, of the vector that begins at column j of row i, and
 * NAME_store_part(.., int n) of its first n. */
typedef struct {
  const char *name; /* at most 16 characters; NULL: none */
  ir_type type;     /* T */
} tf_micro_map;

/* As tf_micro_block, of size[0] rows by size[1], of sums that leave it as the map makes them: c has
 * the type that it makes, and `const NAME *map` is the last argument. */
const char *tf_micro_block_map(FILE *out, tf_micro *u, const ir_kernel *kernel,
                               const int64_t size[2], bool prefetches, tf_micro_map map);

/* Prints the function, unless it is there already, and returns its name (owned by u; NULL: out of
 * memory): static void NAME(int64_t k, const B *b, int64_t n, int32_t *excess), of a kernel that
 * lifts, for k groups in rows of n columns, a multiple of a register's. */
const char *tf_micro_excess(FILE *out, tf_micro *u, const ir_kernel *kernel);

/* Rows of a that are computed while the product multiplies, as C over `const NAME *of`, which says
 * where they are, and row `i`; TYPE is NAME.  `void NAME_rows(const NAME *of, int64_t from, int64_t
 * to)` computes rows from ... to - 1, and has been printed. */
typedef struct {
  const char *name;
  const char *place; /* the variable of `vector` along the row, from 0 in steps of LANES */
  int64_t words;     /* of a row: k of the product */
  const char *begin; /* before row `from`, the first of a group */
  const char *open, *vector,
      *close; /* of row i (the last is to - 1): before, at each whole vector, after */
} tf_micro_ahead;

/* As tf_micro_block, of size[0] rows by size[1], with float32 rows of a that have not been computed
 * yet; `const NAME *of` is its last argument, after those of `prefetches`.  For instruction sets
 * whose vectors have more lanes than tiles have rows. */
const char *tf_micro_block_ahead(FILE *out, tf_micro *u, const ir_kernel *kernel,
                                 const int64_t size[2], bool prefetches, bool rounds,
                                 const tf_micro_ahead *ahead);

/* Operands of a product with few rows: float32 or bfloat16, read in place. */
typedef struct {
  int rows;
  ir_type a, b;
  bool along_k;     /* both are contiguous along k; else b is contiguous along n */
  int strip, block; /* columns, where rows are in tiles and b is contiguous along n: of some rows of
                       b that stay close while all tiles use them, and of c that stay close for all
                       of b's rows; at least 1 */
  int64_t columns;  /* n where it is always the same; 0: several */
  const ir_kernel *held; /* NULL; or the instruction set's kernel of float32, of whose tiles sums
                          * stay in registers, as b, contiguous along n, comes from a cache: needs
                          * `columns`, and float32 operands */
} tf_micro_few;

/* micro_skinny.c: the most rows whose sums are all in registers; more of them are cut into tiles.
 * Prints the function, unless it is there already, and returns its name (owned by u; NULL: out of
 * memory): static void NAME(int64_t k, const A *a, int64_t a_m, int64_t a_k, const B *b, int64_t
 * b_step, float *c, int64_t c_m, int64_t n, int add) c[i * c_m + j] = (add ? the same : 0) + sum
 * over p < k of a[i * a_m + p * a_k] * b(p, j), i < rows, j < n, k > 0 Contiguous along k: b(p, j)
 * is b[j * b_step + p], a_k is 1, and the sum is kept in lanes that are added at the end. Else it
 * is b[p * b_step + j], summed in the order of p.  For more than one lane.  Where the instruction
 * set multiplies pairs of bfloat16 and b has short rows of that, a of float32 is rounded to it. */
enum { TF_MICRO_FEW_STEPS = 8 }; /* the most rows of b that are used at once */
int tf_micro_few_rows(int registers);
/* Whether tiles of so many rows are faster than sums of some rows of b in turn. */
bool tf_micro_few_hold(const ir_machine *t, int64_t rows);
const char *tf_micro_few_product(FILE *out, tf_micro *u, const tf_micro_few *f);

/* stream.c: a product whose b, with neighbours along n, passes by in panels.  How many vectors wide
 * these are; and whether the kernel has such products of so many rows: more than few, in several
 * tiles. */
typedef struct {
  const ir_kernel *kernel;
  int64_t m, n;
  int across; /* vectors of a panel */
  int64_t steps,
      strip; /* groups of k in a panel; columns whose sums stay close, a multiple of the panel's */
} tf_micro_streamed;
int tf_micro_streamed_across(const ir_machine *t);
bool tf_micro_streams(const ir_machine *t, const ir_kernel *k, int64_t m);
/* Prints the function, unless it is there already, and returns its name (owned by u; NULL: out of
 * memory): static void NAME(int64_t k, const A *a, int64_t a_m, int64_t a_k, const B *b, int64_t
 * b_k, const B *panels, int64_t rows, B *room, float *c, int64_t c_m, int add), a and c as of
 * tf_micro_block.  b's row of k is b_k from the next, in groups or not; panels: all of b, panel by
 * panel, each with `rows` groups of k, or NULL; room: for two panels. */
const char *tf_micro_stream(FILE *out, tf_micro *u, const tf_micro_streamed *s);

/* Length of a panel's rows that are used at once: they stay in a core's second-level cache for all
 * rows of the output. */
enum { TF_MICRO_PART = 2048 };

/* Rounding does not grow with the length of a sum: at most so many terms are added to a float32 one
 * after the other, then their sum is added to another, of so many at most (codegen/lower/carry.c).
 * n equal terms, added in turn, are off by 1.5e-8 n of their sum at most: 512, and two levels of
 * 64, are off by 9.6e-6, whatever the length up to 2^21.
 */
enum { TF_MICRO_RUN = 512, TF_MICRO_RUNS = 64 };

/* Rows of the output: m elements, whose elements of a are `step` apart; `joined` rows (1: a single
 * one) together, a's rows being `row_pitch` elements apart. */
typedef struct {
  int64_t m, step, joined, row_pitch;
  int64_t k;      /* the most steps of k of a call */
  bool in_memory; /* a is in memory, and prefetched (rows that are not joined) */
  int64_t block;  /* above 0: c is blocked: the stride of its elements; panels of their channels are
                     adjacent */
  bool prefetches; /* prefetches what the next panels hold: two more arguments */
  bool rounds; /* c is of the type that the kernel leaves, and the sums are stored, never added */
  tf_micro_map map; /* of sums of rows of channels: `const NAME *map` is then the last argument; i
                     * is the channel, and j is 0 */
  const ir_kernel *kernel; /* that broadcasts a, or groups of it: see below */
  /* k ends in a window of so many rows and columns (0: it has none), of which tiles leave out the
   * positions beyond the borders of an element's column and, joined, of its row; rows that are not
   * joined say from which row of the window to which they go: two more arguments, if row.size > 0.
   */
  int window[2];
  ir_border column, row;
} tf_micro_rows_of;

/* channels.c: rows whose lanes run along channels.  Prints the function, unless it is there
 * already, and returns its name (owned by u; NULL: out of memory): static void NAME(int64_t k,
 * const A *a, const int64_t *at, const B *b, C *c, int64_t c_n, int64_t c_p, int64_t n, int add)
 *   c[j * c_n + r * c_p + i] = (add ? the same : 0)
 *     + sum over p < k of a[at[p] + r * row_pitch + i * step] * b[p * panel + j]
 *   with i < m, r < joined, j < n <= panel; sums in the order of p
 * panel: a multiple of the lanes.  For kernels with groups, whose elements are adjacent, k
 * and `step` count groups, at and `row_pitch` elements, and b[(p * panel + j) * group] begins one.
 * add & FAR_C: as above.  Accesses no other elements of c; reads whole rows of b.  Blocked: c[r *
 * c_p + i * block + j] for all j < panel <= block.  Where the kernel lifts: (.., int add, const
 * int32_t *excess), begins with these sums.  If it prefetches: (.., uintptr_t ahead, int64_t by):
 * each tile prefetches the k * by bytes from `ahead` on, the next tile those after them.  With a
 * window: (.., int64_t from, int64_t to), and k is a multiple of its positions; those left out are
 * taken to be zeros of a. */
const char *tf_micro_channels(FILE *out, tf_micro *u, const tf_micro_rows_of *r, int panel);
#endif
