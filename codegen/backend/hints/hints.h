/* The CUDA kernels of a mapping as values of other frameworks' parameters: what a block computes,
 * and in which order blocks run. */
#ifndef CODEGEN_BACKEND_HINTS_HINTS_H
#define CODEGEN_BACKEND_HINTS_HINTS_H
#include "codegen/backend/cuda/pass/pass.h"

/* Kinds of kernels as frameworks see them: id, word, meaning. */
/* clang-format off */
#define HINT_KINDS(X)                                                                           \
  X(PRODUCT, "product", "one product of matrices, with what is done to its results")            \
  X(CONVOLUTION, "convolution", "a product whose rows are pixels (implicit GEMM)")              \
  X(SIDE_BY_SIDE, "products", "several products of one block's rows, apart from each other")    \
  X(CHAIN, "chain", "a product whose rows are made by another one")                             \
  X(ATTENTION, "attention", "a chain with a running maximum in between (softmax)")              \
  X(POINTS, "points", "no product on tensor cores")                                             \
  X(MERGE, "merge", "the parts of split sums, put together")
/* clang-format on */
typedef enum {
#define X(id, word, what) HINT_##id,
  HINT_KINDS(X)
#undef X
      HINT_N_KINDS
} hint_kind;

enum { HINT_MOST_PRODUCTS = 4, HINT_MOST_DIGITS = 12, HINT_MOST_WARPS = 16 };

/* A product of a block: the rows, columns and step of its sum that the block has at a time, and
 * those of a warp. */
typedef struct {
  const ir_stmt *nest;
  int64_t rows, columns, depth, warp_rows, warp_columns;
} hint_product;

/* A digit of a block's number, fastest first: the settings of a dim, and the distance between
 * them. */
typedef struct {
  int dim; /* of the workload; -1: blocks with the same part of each dim (parts of a sum over a dim
              of no product) */
  int64_t count, step;
} hint_digit;

typedef struct {
  const ir_stmt *part;
  hint_kind kind;
  int op; /* of the first product, or of the first statement */
  int n_products;
  hint_product product[HINT_MOST_PRODUCTS];
  int64_t blocks, warps; /* warps that multiply */
  int groups; /* warpgroups that multiply (sm_90a); one more fetches tiles; 0: mma.sync */
  bool in_turns, cluster, skips;
  int64_t stages;           /* stages of a ring, or pieces of a sum in flight */
  int64_t split, key_warps; /* blocks, and warps, among which each sum is split */
  int n_digits;
  hint_digit digit[HINT_MOST_DIGITS];
  double cycles, registers;
  int64_t shared; /* bytes */
  tf_time bound;
} hint_kernel;

/* hints_find.c: describes part `number` of a lowered program. */
void hint_find(const ir_program *p, const ir_stmt *part, int number, hint_kernel *k);
/* Whether blocks along rows or columns run first, how many (group) before the other side advances,
 * and of how many in all: Triton's GROUP_M, if rows run first and there are more. */
typedef struct {
  bool columns_first;
  int64_t group, total;
} hint_order;
hint_order hint_order_of(const ir_program *p, const hint_kernel *k);
/* The workload's dims of a product's rows (the last of several) and columns. */
int hint_row_dim(const ir_program *p, const hint_product *h);
int hint_column_dim(const ir_program *p, const hint_product *h);

/* hints_words.c: a framework's parameters: JSON text, in the order in which they are printed. */
enum { HINT_MOST_WORDS = 12, HINT_TEXT = 96 };
typedef struct {
  const char *name;
  char value[HINT_TEXT]; /* JSON */
} hint_word;
typedef struct {
  int n;
  hint_word word[HINT_MOST_WORDS];
  const char *form; /* the framework's kernel that takes them; NULL: there is none */
  char remark[640]; /* what the parameters cannot express, and why; "" */
} hint_words;
typedef struct {
  const char *name, *source; /* the documentation of the names */
  void (*say)(const ir_program *p, const hint_kernel *k, hint_words *w);
} hint_framework;
extern const hint_framework hint_frameworks[];
enum { HINT_N_FRAMEWORKS = 4 };

/* hints_page.c: README.md and hints.json. */
void hint_table(FILE *out, const ir_program *p, const tf_emit_options *o);
void hint_json(FILE *out, const ir_program *p, const tf_emit_options *o);
#endif
