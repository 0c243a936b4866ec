/* Names of the workload as identifiers in C.
 *
 * Inside a kernel they get identifiers that cannot clash with anything that is included, by their
 * form alone:
 *   - a tensor's name is kept if it begins with a capital, the second character is no capital, and
 * it has no `_` (A, K2, Out); otherwise it becomes t<number>_NAME.  Keywords, functions and our own
 * helpers begin with small letters; macros have two capitals or a `_`.
 *   - a dim gets a prefix that none of our helpers has (d_NAME), or the number of a variable as
 * suffix (NAME_3); its name is kept inside these if it has no `_`, otherwise it becomes
 * dim<number>_NAME.  Ops like dims, with op<number>_NAME; they stand before _pack<number>. Derived
 * identifiers add a suffix after `_`, or a prefix before
 *   `_`, so that no two are equal.
 *
 * Fields of the arguments keep the tensor's names, as callers write them: see c_field.  The
 * kernel's own name is chosen by the user, and refused where C, its library or the kernel has the
 * word already (c_name_fault). */
#ifndef CODEGEN_IR_NAMES_H
#define CODEGEN_IR_NAMES_H
#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

typedef enum { C_TENSOR, C_DIM, C_OP } c_named;

/* The identifier of the i-th name of its kind, in the arena; NULL: out of memory. */
const char *c_identifier(tf_arena *a, c_named what, const char *name, int i);

/* Writes the field of a tensor in NAME_args, and of its strides: NAME and NAME_stride.  If NAME is
 * a keyword of C or C++, may be a macro (c_may_be_macro) or a type (..._t), begins with `_`,
 * `tensor` or `stride`, ends in _stride or is `packed`: tensor_NAME and stride_NAME. */
void c_field(FILE *out, const char *tensor);
void c_stride_field(FILE *out, const char *tensor);

/* Whether a name looks like a macro's: three characters or more, and either the first two capitals,
 * or two capitals and no small letter. */
bool c_may_be_macro(const char *s);
/* Whether it is a keyword of C or C++, a macro in small letters, a name of C's or POSIX's library,
 * or a name that builds reserve. */
bool c_is_word(const char *s);
bool c_is_library(const char *s);

/* A placeholder for the kernel's own name in a file's text until all files are printed, so that it
 * * can be distinguished from the same word elsewhere. */
#define C_NAME "\x01"
/* Why `name` cannot be the kernel's; NULL: it can.  text: the n printed files, all but kernel.h, in
 * which other names are fields only. */
const char *c_name_fault(const char *name, const char *const *text, int n);
/* The text with the name filled in, to be freed; NULL: out of memory. */
char *c_with_name(const char *text, const char *name);
/* Prints text inside a comment or a page; what would end the comment, and control characters,
 * become spaces. */
void c_plain_text(FILE *out, const char *text);
#endif
