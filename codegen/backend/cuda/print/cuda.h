/* CUDA C++: what the files of the printer share.  Expressions and addresses of elements are C,
 * printed by what prints them for the CPU. */
#ifndef CODEGEN_BACKEND_CUDA_PRINT_CUDA_H
#define CODEGEN_BACKEND_CUDA_PRINT_CUDA_H
#include "codegen/backend/cpu/print/files.h"
#include "codegen/lower/target.h"

/* Bytes of the workspace: in common, of each block; of shared memory; blocks that are started at
 * most. */
typedef struct {
  int64_t common, each, shared, blocks;
} cu_room;
enum { CU_MOST_BLOCKS = 4096 };
static inline int64_t cu_workspace(const cu_room *r) { return r->common + r->blocks * r->each; }
/* Bytes of a float32, the word in which messages and comments give sizes. */
enum { CU_WORD = 4 };

typedef struct {
  c_package k;
  cu_room room; /* set where the kernel is printed */
} cu_package;

/* A language in which parts of a program are printed, for blocks of threads: how it spells what
 * differs. */
typedef struct cu_language {
  const char *row, *lane, *block; /* of a thread: its warp, place in that, block */
  const char *barrier, *wait; /* statements: of all threads; until %d groups of copies are under way
                                 (NULL: none are) */
  const char *space[4];       /* what stands before the type that pointers to a space point to */
  void (*head)(c_printer *c); /* all before the parts */
  void (*begin)(c_printer *c, const ir_stmt *part, int number,
                const cu_room *room); /* until its body */
  void (*blocks)(c_printer *c, const char *var,
                 int64_t trip); /* opens what a block does for its steps of so many */
  void (*end)(c_printer *c,
              int64_t shared); /* what starts the parts, with so many bytes for each block */
  /* Of the host: what a queue is called; the end of the entry for arrays on the device; and
   * find_device, finish, bring, take and leave, by which the other entry brings arrays there and
   * back, with the codes NO_DEVICE and FAILED. */
  const char *queue, *starting, *arrays;
  bool
      flags; /* barriers stand in no conditions: flags say where what is between them is left out */
  bool emulated; /* the emulation is told what arrays are called */
  bool may_lack; /* a workspace of no bytes may be NULL */
} cu_language;

/* A file of the folder: code must not contain the kernel's name as a word; kernel.h has only
 * fields. */
typedef struct {
  const char *name;
  bool (*print)(FILE *out, cu_package *p);
  bool code;
  bool (*wanted)(const ir_program *p); /* NULL: always */
} cu_file;
/* emit.c: prints the files of a program, in order; NULL with the reason in d. */
tf_emitted *cu_emit(const cu_file *files, int n, const tf_tree *tree, const lower_target *lower,
                    const ir_machine *machine, const tf_emit_options *o, tf_diags *d);

/* kernel.c: kernel.cu; the parts of a program in any language.  False: out of memory. */
bool cu_kernel(FILE *out, cu_package *p);
bool cu_parts(FILE *out, cu_package *p, const cu_language *say);
/* Blocks that a part is started with; each takes every so many of its steps. */
int64_t cu_blocks(const ir_stmt *part);
/* Whether any part is of warpgroups (sm_90a). */
bool cu_has_groups(const ir_program *p);
/* nest.c: what a thread does at points. */
void cu_points(c_printer *c, const ir_stmt *s);
/* window.c: of a depthwise convolution (cu_note.window). */
void cu_window_points(c_printer *c, const ir_stmt *s);
/* fragment.c: what the lanes of a warp do in a region; fragments, declared. */
void cu_fragments(c_printer *c, const ir_stmt *warps);
void cu_fragment_points(c_printer *c, const ir_stmt *s);
bool cu_fragment_element(c_printer *c, const ir_buffer *b);
/* "a + b", "greater(a, b)". */
void cu_combine(c_printer *c, tf_reduce r, const char *a, const char *b);
/* steps.c: the let of the list, if it bounds the steps of a loop: until which of them a mask leaves
 * something.  Whether there is such a loop at or below the list. */
bool cu_steps_open(c_printer *c, const ir_body *b, const ir_stmt *let);
bool cu_steps_are_left_out(const ir_body *b);
/* The statement that masks a step of such a loop: printed so that nothing is compared where it
 * leaves all; false: it is none.  What the mask leaves out of fragments is -inf: where that ends is
 * a number of machine code but for the lane's own place. */
bool cu_steps_masked(c_printer *c, const ir_stmt *s);
void cu_leave_out(c_printer *c, const ir_stmt *s);
/* mma.c: a product of fragments; its sums become zero. */
void cu_fragment_begin(c_printer *c, const ir_stmt *s);
void cu_fragment_product(c_printer *c, const ir_stmt *s);
/* tile.c: a matrix comes to shared memory. */
void cu_tile_copy(c_printer *c, const ir_stmt *s);
/* stacked.c: one whose rows, or whose columns, go along several ranks. */
void cu_stacked_copy(c_printer *c, const ir_stmt *s);
/* device.c: operations of a device, each named once. */
void cu_device(FILE *out, const ir_program *p);
/* text.c: functions on the device; the entries that a program calls. */
void cu_functions(FILE *out, const tf_workload *wl, ir_type data);
void cu_entries(FILE *out, const c_package *k, const cu_language *say, const cu_room *room);
/* The entry for arrays of the host, which calls that for arrays on the device; arrays: of a
 * cu_language. */
void cu_host_entry(FILE *out, const c_package *k, const char *arrays);
extern const char cu_arrays[]; /* kernel.c: CUDA's */
void cu_codes(FILE *out);      /* what CUDA's calls return besides the codes of all kernels */
/* Of a test's package: the code that there is no device, and what is said then. */
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
