/* CUDA C++: shared by the files of its printer. Expressions and addresses of elements are printed
 * by the CPU's printer. */
#ifndef CODEGEN_BACKEND_CUDA_PRINT_CUDA_H
#define CODEGEN_BACKEND_CUDA_PRINT_CUDA_H
#include "codegen/backend/cpu/print/files.h"
#include "codegen/lower/target.h"

/* Bytes of the workspace: common ones, and of each block; bytes of shared memory; blocks that are
 * started at most. */
typedef struct {
  int64_t common, per_block, shared, blocks;
} cu_room;
enum { CU_MOST_BLOCKS = 4096 };
static inline int64_t cu_workspace(const cu_room *r) {
  return r->common + r->blocks * r->per_block;
}
/* Bytes of a float32, the unit in which messages and comments give sizes. */
enum { CU_WORD = 4 };

typedef struct {
  c_package k;
  cu_room room; /* set when the kernel has been printed */
} cu_package;

/* A language in which the parts of a program, functions for blocks of threads, are printed: how it
 * spells what differs between dialects. */
typedef struct cu_language {
  const char *row, *lane, *block; /* of a thread: its warp, its lane in that, its block */
  const char *barrier, *wait;     /* statements: a barrier of all threads; a wait until %d groups of
                                     copies are in flight (NULL: there are none) */
  const char *space[4];           /* qualifiers of types that pointers to each space point to */
  void (*head)(c_printer *c);     /* prints everything before the parts */
  void (*begin)(c_printer *c, const ir_stmt *part, int number,
                const cu_room *room); /* prints the beginning of a part, up to its body */
  void (*blocks)(c_printer *c, const char *var,
                 int64_t trip); /* opens the loop over the block's steps, of `trip` in all */
  void (*end)(c_printer *c, int64_t shared); /* prints the launch of all parts, with so many bytes
                                                of shared memory for each block */
  /* Host code: the type of a queue; the end of the entry for arrays on the device; and find_device,
   * finish, bring, take and leave, by which the other entry copies arrays to the device and back,
   * with the codes NO_DEVICE and FAILED. */
  const char *queue, *starting, *arrays;
  bool flags;    /* no barrier may stand in a condition: flags skip the statements between barriers
                    instead */
  bool emulated; /* the emulation is told the names of arrays */
  bool may_lack; /* a workspace of no bytes may be NULL */
} cu_language;

/* A file of the package: `code` must not contain the kernel's name as a word; of kernel.h only
 * fields count.  of_rows: where arguments lie in blocks, it is of the kernel of rows, as rows.h. */
typedef struct {
  const char *name;
  bool (*print)(FILE *out, cu_package *p);
  bool code, of_rows;
  bool (*wanted)(const ir_program *p); /* whether the program has it; NULL: always */
} cu_file;
bool cu_laid_c(FILE *out, cu_package *p); /* emit.c: laid.c */
/* emit.c: prints the files of a program, in order; NULL with the reason in d. */
tf_emitted *cu_emit(const cu_file *files, int n, const tf_tree *tree, const lower_target *lower,
                    const ir_machine *machine, const tf_emit_options *o, tf_diags *d);

/* kernel.c: kernel.cu; next: the parts of a program in any language. False: out of memory. */
bool cu_kernel(FILE *out, cu_package *p);
bool cu_parts(FILE *out, cu_package *p, const cu_language *say);
/* Blocks with which a part is started; each runs every so many-th of its steps. */
int64_t cu_blocks(const ir_stmt *part);
/* Whether any part has warpgroups (sm_90a). */
bool cu_has_groups(const ir_program *p);
/* nest.c: the code of a thread at its points. */
void cu_points(c_printer *c, const ir_stmt *s);
/* window.c: likewise for a depthwise convolution (cu_note.window). */
void cu_window_points(c_printer *c, const ir_stmt *s);
/* fragment.c: the code of a warp's lanes in a region; next: declarations of fragments. */
void cu_fragments(c_printer *c, const ir_stmt *warps);
void cu_fragment_points(c_printer *c, const ir_stmt *s);
bool cu_fragment_element(c_printer *c, const ir_buffer *b);
/* "a + b", "greater(a, b)". */
void cu_combine(c_printer *c, tf_reduce r, const char *a, const char *b);
/* steps.c: prints the let, if it bounds the steps of a loop in the list: the first or last step in
 * which a mask leaves something. Next: whether there is such a loop at or below the list. */
bool cu_steps_open(c_printer *c, const ir_body *b, const ir_stmt *let);
bool cu_steps_are_left_out(const ir_body *b);
/* The statement that masks a step of such a loop, printed so that nothing is compared in steps that
 * are not masked; false: it is none. Masked elements of fragments are -inf; the bound is a constant
 * in machine code, apart from the lane's own offset. */
bool cu_steps_masked(c_printer *c, const ir_stmt *s);
void cu_leave_out(c_printer *c, const ir_stmt *s);
/* mma.c: a product of fragments; next: sets its sums to zero. */
void cu_fragment_begin(c_printer *c, const ir_stmt *s);
void cu_fragment_product(c_printer *c, const ir_stmt *s);
/* tile.c: copies a matrix to shared memory. */
void cu_tile_copy(c_printer *c, const ir_stmt *s);
/* stacked.c: copies one whose rows, or columns, run along several ranks. */
void cu_stacked_copy(c_printer *c, const ir_stmt *s);
/* device.c: the device functions that the parts call. */
void cu_device(FILE *out, const ir_program *p);
/* text.c: functions on the device; next: the entries that a program calls. */
void cu_functions(FILE *out, const tf_workload *wl, ir_type data);
void cu_entries(FILE *out, const c_package *k, const cu_language *say, const cu_room *room);
/* The entry for arrays of the host, which calls the one for arrays on the device; arrays: that of a
 * cu_language. */
void cu_host_entry(FILE *out, const c_package *k, const char *arrays);
extern const char cu_arrays[]; /* kernel.c: of CUDA */
void cu_codes(FILE *out); /* the codes that CUDA's entries return besides those of all kernels */
/* For tests: the code that means there is no device, and the message. */
#define CU_NO_DEVICE "_no_device"
extern const char cu_absent[];
/* files.c */
void cu_bench(FILE *out, const c_package *k); /* bench.c */
double cu_flops(const tf_workload *wl);
void cu_device_h(FILE *out, const c_package *k);
void cu_makefile(FILE *out, const c_package *k);
void cu_cmake(FILE *out, const c_package *k);
void cu_readme(FILE *out, const cu_package *p);
/* about: what the kernel is and how it is used, in Markdown. */
void cu_readme_of(FILE *out, const cu_package *p, const char *language, const char *about);
void cu_manifest(FILE *out, const cu_package *p, const char *target);
#endif
