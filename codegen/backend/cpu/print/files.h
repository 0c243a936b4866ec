/* The files of a package around a kernel. */
#ifndef CODEGEN_BACKEND_CPU_PRINT_FILES_H
#define CODEGEN_BACKEND_CPU_PRINT_FILES_H
#include "codegen/backend/cpu/print/print.h"
#include "tileflow/emit.h"
#include "tileflow/tree.h"

typedef struct {
  const ir_program *p;
  const tf_emit_options *o;
  const tf_micro_isa *isa;
  const tf_micro_source *source;
  const char *name;
  const char *entry; /* name of the current function of kernel.c, with the instruction set appended
                        if there are several */
  const char *parts; /* its header */
  int n_isas;        /* several, best first, selected at run time; 0: isa only */
  const tf_micro_isa *const *isas;
  const char *within;  /* of a test: tolerance of outputs, relative to their norm; NULL: 1e-5, or
                          that of their type */
  const char *absent;  /* of a test that cannot run: statements of C that report why; NULL: the
                          instruction set is missing */
  const char *lacking; /* a code besides no_isa that a call returns if there is no device; NULL:
                          there is none */
  bool eights;     /* strides that are multiples of 8 have a path of their own if rows are: the test
                      tries both */
  bool dense;      /* arrays without gaps have a path of their own: the test tries both */
  bool on_threads; /* NAME_on takes the number of threads: the test compares one thread with two,
                      bit for bit */
  bool tiles;      /* a kernel uses AMX tiles */
  bool blocked;    /* the file is of those that take arguments in blocks: laid.c, around a kernel of
                      rows, which is rows.h's */
  int64_t shared, per_thread; /* words of the workspace: common ones, and those of each thread */
  int64_t packed, needed; /* words of panels that may be packed beforehand; those of them that each
                             call needs */
} c_package;

void c_kernel_h(FILE *out, const c_package *k);
void c_kernel_h_begin(FILE *out, const c_package *k); /* its declarations; others may follow */
void c_kernel_h_end(FILE *out);
/* Prints kernel.c; sets shared and per_thread. False: out of memory. */
bool c_kernel_c(FILE *out, c_package *k);
void c_parts_h(FILE *out, const c_package *k);
/* multi.c: the kernel.c that selects one of several instruction sets. */
bool c_chooser_c(FILE *out, c_package *k);
void c_chooser_h(FILE *out, const c_package *k);
void c_test_c(FILE *out, const c_package *k);
/* For tests of other targets: includes and functions, among them number(i, tensor) and room(n,
 * size); next: statements in a function that compute r_TENSOR, arrays of doubles, for each op, and,
 * if the kernel may store intermediates in float16 (halves), l_TENSOR of outputs with that type's
 * loss below its normal range. */
typedef enum { C_NONE_IN_HALF, C_WORDS_IN_HALF, C_ALL_IN_HALF } c_halves;
void c_reference_head(FILE *out, const tf_workload *wl, c_halves halves);
void c_reference_ops(FILE *out, const tf_workload *wl, c_halves halves);
/* Prints the function number(i, tensor), by which tests draw their arrays. */
void c_numbers(FILE *out, const tf_workload *wl, ir_type data);
/* Whether all of them are positive, for floating types, so that sums of products grow with their
 * length. */
bool c_numbers_grow(const tf_workload *wl);
void c_bench_c(FILE *out, const c_package *k);
void c_makefile(FILE *out, const c_package *k);
void c_cmake(FILE *out, const c_package *k);
void c_readme(FILE *out, const c_package *k);
void c_manifest(FILE *out, const c_package *k);
/* Beginning and end of every target's manifest: names (isa NULL: it has neither that nor
 * micro-kernels); tensors, the mapping, predictions and measurements. */
void c_manifest_begin(FILE *out, const c_package *k, const char *target, const char *isa);
void c_manifest_end(FILE *out, const c_package *k);

/* print_sparse.c: whether the program skips zeros of an argument; then it has NAME_misfit, which
 * reports an argument with too many nonzero elements. Next: its function, and its declaration. */
bool c_has_sparse(const ir_program *p);
bool c_has_blocks(const ir_program *p); /* zeros in blocks */
void c_misfit(FILE *out, const c_package *k);
void c_misfit_h(FILE *out, const c_package *k);
/* For tests: the function `kept`; whether an argument is drawn with zeros, and the call for its
 * element i; and statements that call NAME_misfit with arguments that have an element too many. */
void c_kept_text(FILE *out, const c_package *k);
bool c_is_thinned(const c_package *k, const tf_tensor *z);
void c_kept(FILE *out, const tf_tensor *z);
void c_misfit_test(FILE *out, const c_package *k);

/* Whether the caller may pack panels beforehand: not with several instruction sets, as layouts
 * differ. */
static inline bool c_packs(const c_package *k) { return k->packed && !k->n_isas; }

/* The i-th argument with panels to be packed. */
static inline const tf_tensor *c_packed_tensor(const c_package *k, int i) {
  const tf_workload *wl = k->p->tree->workload;
  const cpu_pack *pack = cpu_pack_at(k->p, i);
  return &wl->tensors[wl->ops[pack->op].reads[cpu_packed_read(pack->product)].tensor];
}

/* Whether the kernel's entry checks that the CPU has its instruction set. */
static inline bool c_asks_isa(const c_package *k) { return !k->n_isas && k->isa->plain; }
/* The function `leaf7`, used by the conditions of instruction sets, and its includes. */
void c_leaf7(FILE *out);

/* laid.c: arguments whose layout cuts ranks. Whether there are any. */
bool c_has_blocked(const ir_program *p);
/* How argument z lies if the layout cuts its ranks, and this file's functions take it so; NULL: by
 * rows. */
const tf_laid *c_blocked(const c_package *k, const tf_tensor *z);
/* Of an argument in k's files: how many ranks, or parts of them, and the length of one. */
int c_n_parts(const c_package *k, const tf_tensor *z);
int64_t c_part_length(const c_package *k, const tf_tensor *z, int part);
/* The file: it brings them into rows, calls the kernel, and brings its outputs back. */
void c_laid_c(FILE *out, const c_package *k);
/* The text of a kernel of rows, so that laid.c has its name and header; malloc'd. NULL: no memory.
 */
char *c_text_of_rows(const char *text);
/* Of tests: words of an array with gaps behind its rows; its strides; functions that find elements
 * in arrays in blocks; the place of element i of all in rows; a check of what stands behind the
 * ends of an output's ranks. */
int64_t c_spaced_words(const c_package *k, const tf_tensor *z);
void c_spaced_strides(FILE *out, const c_package *k, const tf_tensor *z);
void c_places_text(FILE *out, const c_package *k);
void c_spaced_at(FILE *out, const c_package *k, const tf_tensor *z);
void c_padding_test(FILE *out, const c_package *k, const tf_tensor *z);

/* The type of an argument's elements. A network has no buffers: all its arguments have one type,
 * or, with bytes, the type that each is held as. */
static inline ir_type c_argument_type(const ir_program *p, int tensor) {
  for (int i = 0; i < p->n_buffers; i++)
    if (p->buffers[i].role == IR_ARGUMENT && p->buffers[i].tensor == tensor)
      return p->buffers[i].type;
  return p->n_buffers               ? IR_F32
         : p->machine.data == IR_I8 ? ir_type_held(p->tree->workload, tensor)
                                    : p->machine.data;
}
/* Whether some argument has the type. */
static inline bool c_has_arrays_of(const ir_program *p, ir_type t) {
  bool any = false;
  for (int i = 0; i < p->n_buffers; i++)
    any |= p->buffers[i].role == IR_ARGUMENT && p->buffers[i].type == t;
  return any;
}
/* The type's name in documentation. */
const char *c_type_name(ir_type t);

/* Whether a tensor is an input. Next: calls visit for each argument, inputs first. */
static inline bool c_is_input(const tf_tensor *z) { return z->producer < 0; }
static inline bool c_is_argument(const tf_tensor *z) {
  return z->producer < 0 || z->n_consumers == 0;
}
#endif
