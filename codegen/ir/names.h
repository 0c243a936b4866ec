/* Names of the workload in C.
 *
 * Inside a kernel they get identifiers that cannot clash, by their form alone and whatever is included:
 *   - a tensor stands as it is if it begins with a capital, has no second one behind it and no `_` (A, K2, Out); else
 * it is t<number>_NAME.  Keywords, functions and our own helpers begin with small letters, macros have two capitals or
 * a `_`.
 *   - a dim stands behind a prefix that none of our helpers has (d_NAME), or before the number of a variable (NAME_3);
 * it stands as it is if it has no `_`, else it is dim<number>_NAME.  Ops as dims, with op<number>_NAME; they stand
 * before _pack<number>. What is derived from an identifier has `_` and a suffix behind it, or a prefix and `_` before
 * it, so that no two are the same.
 *
 * Fields of the arguments keep their names, which programs write: see c_field.  The name of the kernel itself is the
 * user's, and is refused where C, its library or the kernel has that word already (c_name_fault). */
#ifndef CODEGEN_IR_NAMES_H
#define CODEGEN_IR_NAMES_H
#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

typedef enum { C_TENSOR, C_DIM, C_OP } c_named;

/* The identifier of the i-th of its kind, in the arena; NULL: out of memory. */
const char *c_identifier(tf_arena *a, c_named what, const char *name, int i);

/* Writes the field of a tensor in NAME_args, and that of its strides: NAME and NAME_stride.  Not so where NAME is a
 * keyword of C or C++, may be a macro (c_may_be_macro) or a type (..._t), begins with `_`, `tensor` or `stride`, ends
 * in _stride or is `packed`: then tensor_NAME and stride_NAME. */
void c_field(FILE *out, const char *tensor);
void c_stride_field(FILE *out, const char *tensor);

/* As macros are written: of three characters or more, two capitals first, or two capitals or more and no small letter.
 */
bool c_may_be_macro(const char *s);
/* Keywords of C and C++, and macros in small letters; names of C's and POSIX's library, and what builds reserve. */
bool c_is_word(const char *s);
bool c_is_library(const char *s);

/* In a file's text the kernel's own name stands as C_NAME until all of them are printed, so that it can be told from
 * the same word elsewhere. */
#define C_NAME "\x01"
/* Why `name` cannot be the kernel's; NULL: it can.  text: n files, all the C that is printed but kernel.h, where
 * all else is fields. */
const char *c_name_fault(const char *name, const char *const *text, int n);
/* text with the name in it, to be freed; NULL: out of memory. */
char *c_with_name(const char *text, const char *name);
/* Text for a comment or a page: spaces where it would end the comment or has control characters. */
void c_plain_text(FILE *out, const char *text);
#endif
