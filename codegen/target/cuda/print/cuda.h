/* CUDA C++: what the files of the printer share.  Expressions and addresses of elements are C, printed by
 * what prints them for the CPU. */
#ifndef CODEGEN_TARGET_CUDA_PRINT_CUDA_H
#define CODEGEN_TARGET_CUDA_PRINT_CUDA_H
#include "codegen/target/cpu/print/files.h"

/* Bytes of the workspace: in common, of each block; of shared memory; blocks that are started at most. */
typedef struct {
  int64_t common, each, shared, blocks;
} cu_room;
enum { CU_MOST_BLOCKS = 4096 };
/* Bytes of a float32, the word in which messages and comments give sizes. */
enum { CU_WORD = 4 };

/* kernel.c: kernel.cu.  False: out of memory. */
bool cu_kernel(FILE *out, const c_package *k, cu_room *room);
/* Whether any part is of warpgroups (sm_90a). */
bool cu_has_groups(const ir_program *p);
/* nest.c: what a thread does at points. */
void cu_points(c_printer *c, const ir_stmt *s);
/* fragment.c: what the lanes of a warp do in a region; fragments, declared. */
void cu_fragments(c_printer *c, const ir_stmt *warps);
void cu_fragment_points(c_printer *c, const ir_stmt *s);
bool cu_fragment_element(c_printer *c, const ir_buffer *b);
/* "a + b", "greater(a, b)". */
void cu_combine(c_printer *c, tf_reduce r, const char *a, const char *b);
/* mma.c: a product of fragments. */
void cu_fragment_product(c_printer *c, const ir_stmt *s);
/* tile.c: a matrix comes to shared memory. */
void cu_tile_copy(c_printer *c, const ir_stmt *s);
/* device.c: operations of a device, each named once. */
void cu_device(FILE *out, const ir_program *p);
/* text.c: functions on the device; the entries that a program calls. */
void cu_functions(FILE *out, const tf_workload *wl, ir_type data);
void cu_entries(FILE *out, const c_package *k, const cu_room *room);
/* files.c */
void cu_bench(FILE *out, const c_package *k); /* bench.c */
void cu_device_h(FILE *out, const c_package *k);
void cu_makefile(FILE *out, const c_package *k);
void cu_cmake(FILE *out, const c_package *k);
void cu_readme(FILE *out, const c_package *k, const cu_room *room);
void cu_manifest(FILE *out, const c_package *k, const cu_room *room);
#endif
