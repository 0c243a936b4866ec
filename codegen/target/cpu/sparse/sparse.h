/* Products of which the mapping skips the zeros of an operand: `a` has at most n elements of every m along the sum that
 * are not zero (docs/SEMANTICS.md section 8).  These alone are multiplied, each by a row of b. */
#ifndef CODEGEN_TARGET_CPU_SPARSE_SPARSE_H
#define CODEGEN_TARGET_CPU_SPARSE_SPARSE_H
#include "codegen/lower/lower.h"
#include "codegen/target/cpu/print/files.h"

/* find.c: makes p such a product, if the nest is one. */
bool low_sparse(lowering *w, const ir_stmt *nest, cpu_product *p);

/* tile.c: prints the function, unless it is there already, and returns its name (owned by u; NULL: out of memory):
 *   static void NAME(int64_t n_m, int64_t n_n, int64_t n_k, const float *v, const uint8_t *at, int64_t part, const
 * float *b, int64_t b_k, float *c, int64_t c_m, int add, float *room) c[i * c_m + j] = (add ? the same : 0) + sum over
 * the values of row i of a, times elements j of rows of b n_k elements of each row of a, whose parts are `part` values
 * from each other; n_k is cut into these parts, whose sums are added up.  room: for `deep` rows of as many columns as a
 * tile has. */
const char *c_sparse_block(FILE *out, tf_micro *u, const cpu_product *p);

/* print.c: the nest; and its panels, in the function that packs, which then says in `broken` whether some block of a
 * has too many elements that are not zero. */
void c_sparse(c_printer *c, const ir_stmt *s);
void c_pack_sparse(c_printer *c, const cpu_pack *pack);

/* misfit.c: whether the program has such products; then NAME_misfit, which finds the element, and its declaration. */
bool c_has_sparse(const ir_program *p);
void c_misfit(FILE *out, const c_package *k);
void c_misfit_h(FILE *out, const c_package *k);
/* For tests: the function `kept`; whether an argument is drawn with zeros, and its call for element i; and statements
 * that hold NAME_misfit against arguments with an element too many. */
void c_kept_text(FILE *out, const c_package *k);
bool c_is_thinned(const c_package *k, const tf_tensor *z);
void c_kept(FILE *out, const tf_tensor *z);
void c_misfit_test(FILE *out, const c_package *k);
#endif
