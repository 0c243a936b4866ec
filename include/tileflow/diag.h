/* Located diagnostics: all errors of a run are collected; nothing below the CLI prints them. */
#ifndef TILEFLOW_DIAG_H
#define TILEFLOW_DIAG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tileflow/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in an input file.  line and col are 1-based, len is how many columns the
 * caret underlines (at least 1).  line 0: no place (command line, tool failure). */
typedef struct {
  uint16_t file;
  uint32_t line, col, len;
} tf_loc;

/* One row per diagnostic code: id, key as printed in error[KEY].
 * tests/bad holds at least one malformed input per row. */
/* clang-format off */
#define TF_CODES(X)                                                                                    \
  X(IO, "E_IO")             /* a file cannot be read, or is too large */                               \
  X(YAML, "E_YAML")         /* not YAML; binary, too deep, too many aliases */                         \
  X(TYPE, "E_TYPE")         /* a node of the wrong kind (map, list, number, text) */                   \
  X(KEY, "E_KEY")           /* unknown key */                                                          \
  X(MISSING, "E_MISSING")   /* a required key or section is absent */                                  \
  X(DUP, "E_DUP")           /* a name, key or section given twice */                                   \
  X(NAME, "E_NAME")         /* a name that nothing defines */                                          \
  X(UNIT, "E_UNIT")         /* unknown or unsuitable unit */                                           \
  X(SYNTAX, "E_SYNTAX")     /* expression or mapping text does not parse */                            \
  X(RANGE, "E_RANGE")       /* a number outside the allowed range, NaN, or a product above 2^63 - 1 */ \
  X(RANK, "E_RANK")         /* a tensor used with another rank */                                      \
  X(INDEX, "E_INDEX")       /* index not affine, however dims are cut, or outside the tensor */        \
  X(CYCLE, "E_CYCLE")       /* the graph of ops, or of params, is cyclic */                            \
  X(OUTPUT, "E_OUTPUT")     /* left side misses or repeats coordinates, or tensor produced twice */    \
  X(UNITKIND, "E_UNITKIND") /* no compute unit runs this op */                                         \
  X(LEVEL, "E_LEVEL")       /* level rises on the way down, or unit not below it */                    \
  X(SHAPE, "E_SHAPE")       /* tree shape: children missing, op twice or absent */                     \
  X(ORDER, "E_ORDER")       /* a consumer runs before its producer */                                  \
  X(COVER, "E_COVER")       /* trip counts do not cover a range */                                     \
  X(LOOP, "E_LOOP")         /* a loop that is not allowed at its place */                              \
  X(KEEP, "E_KEEP")         /* keep names a level that cannot be the home */                           \
  X(RETAIN, "E_RETAIN")     /* retain names a tensor that is not an intermediate there */              \
  X(STREAM, "E_STREAM")     /* the algebra or the loops do not allow streaming */                      \
  X(BYPASS, "E_BYPASS")     /* bypass where it has no meaning */                                       \
  X(OPEN, "E_OPEN")         /* open trip counts that nothing completes */                              \
  X(STORE, "E_STORE")       /* no store, a damaged or newer one, or one of another sweep */            \
  X(LIMIT, "E_LIMIT")       /* beyond a documented limit */                                            \
  X(OVERFLOW, "E_OVERFLOW") /* a count exceeds 2^63 - 1 */                                             \
  X(USAGE, "E_USAGE")       /* bad command line */                                                     \
  X(CAPACITY, "E_CAPACITY") /* infeasible: a memory overflows */                                       \
  X(FANOUT, "E_FANOUT")     /* infeasible: more instances or units than the machine has */             \
  X(HAZARD, "E_HAZARD")     /* NPU: two accesses that no flag orders */                                \
  X(DEADLOCK, "E_DEADLOCK") /* NPU: queues that wait for each other, or for nothing that comes */      \
  X(UNWRITTEN, "E_UNWRITTEN") /* NPU: an element is read that was never written */
/* clang-format on */
typedef enum {
#define X(id, key) TF_E_##id,
  TF_CODES(X)
#undef X
      TF_N_CODES
} tf_code;

typedef struct {
  tf_code code;
  bool note;    /* a note belongs to the error before it */
  bool warning; /* valid, but something in the input has no effect */
  tf_loc at;
  char msg[240]; /* one line, no newline */
} tf_diag;

typedef struct tf_diags tf_diags;

/* NULL only when memory runs out.  tf_diags_free(NULL) is allowed. */
TF_API tf_diags *tf_diags_new(void);
TF_API void tf_diags_free(tf_diags *d);

/* Registers a source text, so that messages can show its lines; copies name and text.  Control
 * characters in the name are written as \xNN.  Returns the file number for tf_loc.  Texts live as
 * long as d. */
TF_API uint16_t tf_diags_add_file(tf_diags *d, const char *name, const char *text, size_t len);
TF_API const char *tf_diags_file_name(const tf_diags *d, uint16_t file);
/* The text of the file, which ends with a zero; NULL: there is no such file. */
TF_API const char *tf_diags_file_text(const tf_diags *d, uint16_t file);

/* Append an error (tf_fail), or a note to the last error (tf_note); tf_fail returns false.  Beyond
 * TF_DIAGS_MAX errors only the count grows. */
#define TF_DIAGS_MAX 1000
#if defined(__GNUC__)
#define TF_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define TF_PRINTF(a, b)
#endif
TF_API bool tf_fail(tf_diags *d, tf_loc at, tf_code code, const char *fmt, ...) TF_PRINTF(4, 5);
TF_API void tf_note(tf_diags *d, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);
/* The error of an allocation that failed, without a place and with one: every part says it in the
 * same words.  Both return false. */
TF_API bool tf_out_of_memory(tf_diags *d);
TF_API bool tf_out_of_memory_at(tf_diags *d, tf_loc at);
/* Appends a warning about a foreign file; it is no error.  Beyond TF_DIAGS_MAX entries none is
 * kept. */
TF_API void tf_warn(tf_diags *d, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);

TF_API size_t
tf_diags_errors(const tf_diags *d); /* number of errors; notes and warnings not counted */
TF_API size_t tf_diags_count(const tf_diags *d); /* entries stored, notes and warnings included */
TF_API const tf_diag *tf_diags_at(const tf_diags *d, size_t i);
TF_API const char *tf_code_key(tf_code code);

/* The whole list as text (file:line:col: error[E_X]: ..., source line, caret), sorted by place,
 * notes after their error; warnings only if there is no error.  Malloc'd, the caller frees; NULL if
 * memory ran out. */
TF_API char *tf_diags_text(const tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
